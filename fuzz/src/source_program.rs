//! Random well-typed programs of the function language: they are compiled, and compute what a plain interpreter computes.

#[allow(dead_code)]
#[path = "../../crates/lang/tests/language/random.rs"]
mod random;

use garblet_circuit::{Bits, evaluate, notes::Panics};
use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Language, Options};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;

pub fn run(bytes: &[u8]) {
    // The generator's random numbers are the bytes, then zeros.
    let mut rng = TestRng::from_seed(RngAlgorithm::PassThrough, bytes);
    let program = random::Program::random(&mut rng);
    let text = program.text();
    let compile = |panics: bool| {
        let options = Options { effort: 1 << 22, panics, ..Options::default() };
        FrontEnds::standard().with(Language { options }).read("main.garble.rs", &mut text.as_bytes())
    };
    let wrapping = compile(false).unwrap_or_else(|error| panic!("{}\n{text}", error.render()));
    let checked = match compile(true) {
        Ok(checked) => checked,
        Err(error) if error.to_string().contains("this always panics") => return,
        Err(error) => panic!("{}\n{text}", error.render()),
    };
    let values: Vec<Vec<i128>> =
        program.params().iter().map(|scalars| scalars.iter().map(|ty| number(ty, &mut rng)).collect()).collect();
    let inputs: Vec<Bits> =
        program.params().iter().zip(&values).map(|(scalars, values)| bits(scalars, values)).collect();
    let mut outputs = evaluate(&checked, &inputs);
    let panicked = match &checked.notes().panics {
        Some(Panics::On { output: Some(at), .. }) => outputs.remove(*at).to_u128() != Some(0),
        _ => false,
    };
    match program.run(&values) {
        Err(_) => assert!(panicked, "{text}"),
        Ok(results) => {
            let expected: Vec<Bits> = results.iter().map(|(ty, value)| bits(&[*ty], &[*value])).collect();
            assert!(!panicked && outputs == expected, "{text}");
            // What does not panic computes the same without panics.
            assert_eq!(evaluate(&wrapping, &inputs), expected, "{text}");
        }
    }
}

fn number(ty: &random::Ty, rng: &mut TestRng) -> i128 {
    let low = i128::from(rng.next_u64()) & ((1 << ty.bits()) - 1);
    match ty {
        random::Ty::Int(bits, true) if low >> (bits - 1) == 1 => low - (1 << bits),
        _ => low,
    }
}

fn bits(scalars: &[random::Ty], values: &[i128]) -> Bits {
    let pairs = scalars.iter().zip(values);
    pairs.flat_map(|(ty, value)| (0..ty.bits()).map(move |k| value >> k & 1 == 1)).collect()
}
