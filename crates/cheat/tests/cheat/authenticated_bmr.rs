//! Every deviation from `authenticated-bmr` ends in exactly its check, at exactly the honest parties that can see it, and names nobody honest.

mod after_the_inputs;
mod build;
mod coalitions;
mod prepare;
mod streams;

use std::{collections::BTreeSet, sync::Arc};

use garblet_authenticated::{
    Build, ResultCheck, Statistical,
    many::{Config, Step, checks},
};
use garblet_cheat::{
    Outputs,
    authenticated_bmr::{Cheat, End, Lie, end, run},
};
use garblet_circuit::{Bits, Circuit, Component, Gate, Party, Port, Program, Type, Wire, evaluate};
use garblet_net::Cause;
use garblet_ot::Width;
use garblet_protocol::checks::Check;

/// Bits of every input, of which only the first one goes through gates.
const WIDTH: u32 = 7;

/// Gates, one after the other: only the first one's result is an operand.
const GATES: isize = 2;

/// The first byte of a block of the tables of all gates.
fn block(gate: isize, block: isize) -> isize {
    16 * (3 * gate + block)
}

/// The first byte after them.
const TABLES: isize = 16 * 3 * GATES;

/// The last byte of a block: a change there leaves bit 0.
const LAST: isize = 15;

/// The parties of a run. The first two garblers have inputs, and the evaluator. All learn the output.
#[derive(Clone, Copy, Debug)]
struct Seats {
    parties: u16,
    evaluator: u16,
    /// Bytes of a tag.
    tag: isize,
}

/// Three parties of which one in the middle evaluates, and four of which the last does.
const SEATS: [Seats; 2] = [Seats { parties: 3, evaluator: 1, tag: 6 }, Seats { parties: 4, evaluator: 3, tag: 6 }];

impl Seats {
    fn garblers(self) -> Vec<u16> {
        self.all_but(&[self.evaluator])
    }

    /// The first garbler, which collects tags; the second; and the evaluator.
    fn roles(self) -> [u16; 3] {
        let garblers = self.garblers();
        [garblers[0], garblers[1], self.evaluator]
    }

    fn all_but(self, parties: &[u16]) -> Vec<u16> {
        (0..self.parties).filter(|party| !parties.contains(party)).collect()
    }

    /// A program of the inputs' bits with these gates.
    fn program(self, gates: Vec<Gate>, outputs: Vec<Wire>) -> Arc<Program> {
        let port = |name: &str, width: u32| Port::new(name, Type::Bits(width));
        let out = port("out", outputs.len() as u32);
        let circuit = Circuit::new(3 * WIDTH, gates, outputs).expect("wires that exist");
        let inputs = ["x", "y", "z"].map(|name| port(name, WIDTH)).to_vec();
        let component = Component::new("gates", inputs, vec![out], circuit).expect("ports that fit");
        Arc::new(Program::from_component(component, &self.roles().map(Party)).expect("owners"))
    }

    /// The product of bit 0 of all inputs.
    fn product(self) -> Arc<Program> {
        let gates = vec![Gate::And(Wire(0), Wire(WIDTH)), Gate::And(Wire(3 * WIDTH), Wire(2 * WIDTH))];
        assert_eq!(gates.len() as isize, GATES);
        self.program(gates, vec![Wire(3 * WIDTH + 1)])
    }

    /// The sum of all inputs, without AND gates.
    fn sum(self) -> Arc<Program> {
        let first = (0..WIDTH).map(|bit| Gate::Xor(Wire(bit), Wire(WIDTH + bit)));
        let second = (0..WIDTH).map(|bit| Gate::Xor(Wire(3 * WIDTH + bit), Wire(2 * WIDTH + bit)));
        self.program(first.chain(second).collect(), (4 * WIDTH..5 * WIDTH).map(Wire).collect())
    }

    fn config(self, check: ResultCheck) -> Config {
        Config { check, evaluator: self.evaluator, ..Config::default() }
    }

    /// In a garbler's message to the evaluator, the first byte after the labels of all inputs: of the digest.
    fn digest(self) -> isize {
        16 * 3 * WIDTH as isize
    }

    /// Then, of the keys of locks.
    fn keys(self) -> isize {
        self.digest() + 32
    }

    /// Then, of shares of masks.
    fn masks(self) -> isize {
        self.keys() + 16 * (self.parties as isize - 2)
    }
}

/// The outcome of lies for honest parties.
#[derive(Clone, Debug)]
enum Expected {
    /// All have the right outputs.
    Right,
    /// Nobody has any, and nobody knows who lies or what.
    Ended,
    /// These parties end so. All others have the right outputs, or heard that the run is over.
    Found(Vec<(u16, End)>),
}

/// Lies, each with the party that tells it, and their outcome.
#[derive(Clone, Debug)]
struct Case {
    lies: Vec<(u16, Lie)>,
    expected: Expected,
}

impl Case {
    fn liars(&self) -> Vec<u16> {
        let liars: BTreeSet<u16> = self.lies.iter().map(|(liar, _)| *liar).collect();
        liars.into_iter().collect()
    }
}

/// A case with one lie.
fn case(liar: u16, lie: Lie, expected: Expected) -> Case {
    Case { lies: vec![(liar, lie)], expected }
}

fn to(party: u16, step: Step, byte: isize) -> Lie {
    Lie::new(step, Some(party), byte)
}

fn to_all(step: Step, byte: isize) -> Lie {
    Lie::new(step, None, byte)
}

/// A failed check that names nobody.
fn somebody(check: Check, finders: impl IntoIterator<Item = u16>) -> Expected {
    at(finders, End::Somebody(check))
}

fn at(finders: impl IntoIterator<Item = u16>, end: End) -> Expected {
    Expected::Found(finders.into_iter().map(|finder| (finder, end)).collect())
}

/// Three inputs whose first bits are those of a number.
fn inputs(value: usize) -> Vec<Bits> {
    (0..3).map(|at| Bits::from_u128(0x24 ^ (value as u128 >> at & 1), WIDTH as usize)).collect()
}

fn right(program: &Program, inputs: &[Bits]) -> Outputs {
    evaluate(program, inputs).into_iter().map(Some).collect()
}

/// Runs a case, and judges the honest parties.
fn check(program: &Arc<Program>, config: Config, (seats, case): (Seats, &Case), (value, seed): (usize, u64)) {
    let inputs = inputs(value);
    let right = right(program, &inputs);
    let of = |party| case.lies.iter().filter(|(liar, _)| *liar == party).map(|(_, lie)| *lie).collect();
    let cheats: Vec<Cheat> = (0..seats.parties).map(|party| Cheat::new(of(party))).collect();
    let results = run(program, &inputs, config, cheats.clone(), seed);
    let untold: Vec<Lie> = cheats.iter().flat_map(Cheat::untold).collect();
    assert!(untold.is_empty(), "{case:?}, {seats:?}: never told: {untold:?}");
    let liars = case.liars();
    let mut found = Vec::new();
    for party in seats.all_but(&liars) {
        let result = &results[usize::from(party)];
        let end = end(result, &right);
        assert_ne!(end, End::Wrong, "{case:?}, {seats:?}: party {party} has a wrong output");
        match (&case.expected, end) {
            (Expected::Right, end) => assert_eq!(end, End::Right, "{case:?}, {seats:?}: party {party}"),
            (Expected::Ended, end) => assert_eq!(end, End::Heard, "{case:?}, {seats:?}: party {party}"),
            (Expected::Found(_), End::Right | End::Heard) => {}
            (Expected::Found(_), end) => found.push((party, end)),
        }
        let blame = result.as_ref().err().and_then(garblet_protocol::ProtocolError::blame);
        if let Some(blame) = blame.filter(|blame| blame.cause == Cause::Misbehaved) {
            let teller = blame.heard_from.unwrap_or(blame.party);
            let is_of_liar = liars.contains(&blame.party) || liars.contains(&teller);
            assert!(is_of_liar, "{case:?}, {seats:?}: party {party} blames {blame:?}");
        }
    }
    let expected = if let Expected::Found(found) = &case.expected { &found[..] } else { &[] };
    assert_eq!(found, expected, "{case:?}, {seats:?}");
}

/// Runs cases with two inputs that differ in every bit that goes through a gate.
fn check_all(program: &Arc<Program>, config: Config, (seats, cases): (Seats, &[Case])) {
    for (number, case) in cases.iter().enumerate() {
        for value in [number, !number] {
            check(program, config, (seats, case), (value, number as u64));
        }
    }
}

#[test]
fn honest_parties_get_the_right_result() {
    for (seats, of_gates) in
        SEATS.into_iter().flat_map(|seats| [(seats, ResultCheck::Tags), (seats, ResultCheck::Reveal)])
    {
        for (program, build) in [seats.product(), seats.sum()]
            .into_iter()
            .flat_map(|program| [Build::Ahead, Build::Stream].map(|build| (program.clone(), build)))
        {
            let none = Case { lies: Vec::new(), expected: Expected::Right };
            check_all(&program, Config { build, ..seats.config(of_gates) }, (seats, &[none]));
        }
    }
}

/// A corrupted party may choose its own input, and nothing else.
#[test]
fn another_input_is_another_input() {
    for seats in SEATS {
        let program = seats.sum();
        for (number, cheat) in seats.roles().into_iter().enumerate() {
            let (given, mut used) = (inputs(5), inputs(5));
            used[number] = used[number].iter().map(|bit| !bit).collect();
            let conduct = |party| if party == cheat { Cheat::with_other_input() } else { Cheat::default() };
            let cheats = (0..seats.parties).map(conduct).collect();
            let right = right(&program, &used);
            for result in run(&program, &given, seats.config(ResultCheck::Tags), cheats, 4) {
                assert_eq!(end(&result, &right), End::Right, "party {cheat}, {seats:?}");
            }
        }
    }
}

/// All cases of three parties, and of coalitions.
fn all_cases() -> Vec<Case> {
    let seats = SEATS[0];
    let of_liar = seats.all_but(&[]).into_iter().flat_map(|liar| {
        [prepare::batch(seats, liar), prepare::masks_alone(seats, liar)].into_iter().flatten().collect::<Vec<_>>()
    });
    of_liar
        .chain(build::of_garblers(seats))
        .chain(build::of_evaluator(seats))
        .chain(build::without_gates(seats))
        .chain(after_the_inputs::of_garblers(seats))
        .chain(after_the_inputs::of_evaluator(seats))
        .chain(after_the_inputs::of_revealed_values(seats))
        .chain(streams::with_tags(seats))
        .chain(streams::with_revealed_values(seats))
        .chain(coalitions::with_tags())
        .chain(coalitions::with_revealed_values())
        .collect()
}

#[test]
fn no_check_is_without_a_deviation() {
    let ends = all_cases().into_iter().flat_map(|case| match case.expected {
        Expected::Found(found) => found,
        _ => Vec::new(),
    });
    let tripped: Vec<Check> = ends
        .filter_map(|(_, end)| match end {
            End::Caught(_, check) | End::Somebody(check) => Some(check),
            _ => None,
        })
        .collect();
    let missing: Vec<&Check> = checks::ALL.iter().filter(|check| !tripped.contains(check)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// But for those of stores, which the protocol's own tests lie at.
#[test]
fn no_step_is_without_a_deviation() {
    let lied: BTreeSet<usize> =
        all_cases().iter().flat_map(|case| &case.lies).map(|(_, lie)| lie.step as usize).collect();
    let missing: Vec<usize> = (0..=Step::HandedOver as usize).filter(|step| !lied.contains(step)).collect();
    assert!(missing.is_empty(), "steps by their places in the list: {missing:?}");
}

/// A wrong label, tag or share is as wrong with longer tags, and with other OTs.
#[test]
fn every_strength_and_width_finds_every_deviation() {
    for (statistical, ot_width) in [(Statistical::SixtyFour, Width::Two), (Statistical::Eighty, Width::Eight)] {
        let seats = Seats { tag: statistical.tag_bytes() as isize, ..SEATS[0] };
        for (of_gates, cases) in tables(seats) {
            let config = Config { statistical, ot_width, ..seats.config(of_gates) };
            for (number, case) in cases.iter().enumerate() {
                check(&seats.product(), config, (seats, case), (number, number as u64));
            }
        }
    }
}

/// The cases of the build and after it, on the program with gates.
fn tables(seats: Seats) -> [(ResultCheck, Vec<Case>); 5] {
    [
        (ResultCheck::Tags, build::of_garblers(seats)),
        (ResultCheck::Tags, build::of_evaluator(seats)),
        (ResultCheck::Tags, after_the_inputs::of_garblers(seats)),
        (ResultCheck::Tags, after_the_inputs::of_evaluator(seats)),
        (ResultCheck::Reveal, after_the_inputs::of_revealed_values(seats)),
    ]
}
