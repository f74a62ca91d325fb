//! For tests: programs of which some outputs are sums of inputs, for recipients that look at all they see.

use garblet_circuit::{
    Bits, Party, Program, Recipients, Type,
    builder::{Bit, BitString, CircuitBuilder},
    evaluate, random,
};
use rand::{SeedableRng, rngs::StdRng};

/// Bits of every party's input.
const WIDTH: u32 = 2;

/// A function of the inputs of all parties. Its first output is for all recipients, any other for one of them.
pub(crate) type Function = fn(&mut CircuitBuilder, &[BitString]);

/// Functions whose outputs, or sums of them, are sums of inputs, by name.
pub(crate) const FUNCTIONS: [(&str, Function); 4] = [
    ("the sum of all", |c, inputs| {
        let all = sum(c, inputs);
        c.output("all", &all);
    }),
    ("a count of votes", |c, inputs| {
        let votes: Vec<Bit> = inputs.iter().map(|input| input.0[1]).collect();
        let count = c.count_ones(&votes);
        c.output("count", &count);
    }),
    ("two sums with one AND in both", |c, inputs| {
        let product = c.and(inputs[0].0[0], inputs[1].0[0]);
        let sums = BitString([0, 1].map(|party: usize| c.xor(product, inputs[party].0[1])).to_vec());
        c.output("sums", &sums);
    }),
    ("sums of some and of all, to each its own", |c, inputs| {
        let (all, some) = (sum(c, inputs), sum(c, &inputs[..2]));
        c.output("all", &all);
        c.output("some", &some);
        c.output("again", &all);
    }),
];

fn sum(c: &mut CircuitBuilder, words: &[BitString]) -> BitString {
    words[1..].iter().fold(words[0].clone(), |sum, word| c.xor_words(&sum, word))
}

/// The function for so many parties, of which those from `first` on learn outputs.
pub(crate) fn program(function: Function, parties: u16, first: u16) -> Program {
    let mut c = CircuitBuilder::new("of-all");
    let inputs: Vec<BitString> = (0..parties).map(|k| c.input(format!("x{k}"), Type::Bits(WIDTH))).collect();
    function(&mut c, &inputs);
    let owners: Vec<Party> = (0..parties).map(Party).collect();
    let mut program = Program::from_component(c.finish().expect("well formed"), &owners).expect("well formed");
    for output in 0..program.outputs().len() as u16 {
        let one = first + output % (parties - first);
        let members = if output == 0 { first..parties } else { one..one + 1 };
        program.set_recipients(output.into(), Recipients::Only(members.map(Party).collect()));
    }
    program
}

/// Two inputs that differ in bit 1 of the first, with which the recipients have the same inputs and outputs; none if they
/// are not found.
pub(crate) fn twins(program: &Program, first: u16) -> Option<[Vec<Bits>; 2]> {
    let mut rng = StdRng::seed_from_u64(3);
    let mut pairs = (0..10_000).map(|_| {
        let [one, mut other] = [(); 2].map(|()| random::inputs(&mut rng, program));
        other[first.into()..].clone_from_slice(&one[first.into()..]);
        [one, other]
    });
    pairs.find(|[one, other]| other[0].get(1) != one[0].get(1) && evaluate(program, other) == evaluate(program, one))
}
