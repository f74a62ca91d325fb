//! Every check finds its deviation.

use garblet_circuit::{Component, InputId, Recipients, Type, evaluate};
use garblet_protocol::checks::Check;
use garblet_synthesis::library;

use super::*;
use crate::partialgc::checks;

/// The end of a run with a caught deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The check of a server.
    Check(Check),
    /// The words of a refusal that names the generator and the first client.
    Refused(&'static str),
    /// The words with which a client rejects and blames both servers.
    Rejected(&'static str),
}

/// The finding in a party's error, if it has one.
pub(super) fn found(result: &Result<Outputs, ProtocolError>) -> Option<Found> {
    let error = match result {
        Err(ProtocolError::Peer { source, .. }) => &**source,
        Err(error) => error,
        Ok(_) => return None,
    };
    match error {
        ProtocolError::Cheating(cheating) => Some(Found::Check(cheating.check)),
        ProtocolError::Refused(refused) if refused.parties == [Party(1), Party(0)] => {
            Some(Found::Refused(refused.what))
        }
        ProtocolError::Rejected(rejected) if rejected.parties == [Party(0), Party(2)] => {
            Some(Found::Rejected(rejected.what))
        }
        _ => None,
    }
}

/// Party 0's and party 1's values are added, and the cloud's in the second program; all learn the sum.
pub(super) fn adder(second: u16) -> Arc<Program> {
    let mut program = library::find("lib:add(9)").unwrap();
    program.set_owner(InputId(1), Party(second));
    program.set_recipients(0, Recipients::Only(vec![Party(0), Party(second)]));
    Arc::new(program)
}

fn flip(bytes: &mut [u8]) {
    bytes[0] ^= 1;
}

fn flip_every(bytes: &mut [u8]) {
    bytes.iter_mut().step_by(16).for_each(|byte| *byte ^= 1);
}

fn flip_last(bytes: &mut [u8]) {
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
}

fn flip_seventeenth(bytes: &mut [u8]) {
    bytes[16] ^= 1;
}

/// Swaps the commitments to both labels of the first wire.
pub(super) fn exchange_commitments(bytes: &mut [u8]) {
    let (first, second) = bytes[..64].split_at_mut(32);
    first.swap_with_slice(second);
}

/// Swaps both labels of the first wire.
pub(super) fn exchange_labels(bytes: &mut [u8]) {
    let (first, second) = bytes[..32].split_at_mut(16);
    first.swap_with_slice(second);
}

/// In the first circuits.
fn deviation(party: u16, step: Step, below: usize, change: fn(&mut [u8])) -> Deviation {
    Deviation { party, step, circuits: (1 << below) - 1, change }
}

pub(super) fn values() -> Vec<Option<Bits>> {
    vec![Some(Bits::from_u128(77, 9)), Some(Bits::from_u128(311, 9))]
}

#[test]
fn a_deviation_in_all_circuits_is_caught_by_its_check() {
    use Found::{Check, Refused, Rejected};
    let config = small(Reuse::Labels);
    let all = 16;
    let cases = [
        // The generator against a client's input.
        (1, deviation(0, Step::Tables, all, flip), 2, Check(checks::CIRCUIT_OF_SEED)),
        (1, deviation(0, Step::Head, all, flip_seventeenth), 2, Check(checks::CIRCUIT_OF_SEED)),
        (1, deviation(0, Step::Tail, all, flip), 2, Check(checks::CIRCUIT_OF_SEED)),
        (1, deviation(0, Step::Commitments, all, exchange_commitments), 2, Check(checks::ORDER_OF_SEED)),
        (1, deviation(0, Step::Commitments, all, flip), 2, Check(checks::ORDER_OF_SEED)),
        (1, deviation(0, Step::Labels, all, flip_every), 2, Refused(checks::CLIENTS_LABEL)),
        (1, deviation(0, Step::Labels, all, exchange_labels), 2, Refused(checks::CLIENTS_LABEL)),
        (1, deviation(0, Step::Order, all, flip), 2, Refused(checks::CLIENTS_KEY)),
        (1, deviation(0, Step::Blind, all, flip), 2, Refused(checks::CLIENTS_KEY)),
        (1, deviation(0, Step::ClientHashes, all, flip_last), 2, Check(checks::HASH_OF_SEED)),
        (1, deviation(0, Step::GeneratorLabels, all, flip), 2, Check(checks::GENERATOR_INPUT)),
        (1, deviation(0, Step::InputHash, all, flip), 2, Check(checks::GENERATOR_INPUT)),
        // And against the cloud's.
        (2, deviation(0, Step::Labels, all, flip_every), 2, Check(checks::LABEL_OF_CLOUD)),
        (2, deviation(0, Step::Labels, all, exchange_labels), 2, Check(checks::LABEL_OF_CLOUD)),
        (2, deviation(0, Step::Order, all, flip_last), 2, Check(checks::KEY_OF_CLOUD)),
        (2, deviation(0, Step::Blind, all, flip_last), 2, Check(checks::KEY_OF_CLOUD)),
        // A client.
        (1, deviation(1, Step::Ciphers, 1, flip_every), 2, Refused(checks::CLIENTS_LABEL)),
        (1, deviation(1, Step::MaskedPlaces, all, flip), 2, Refused(checks::CLIENTS_LABEL)),
        (1, deviation(1, Step::KeyDigests, all, flip_every), 2, Refused(checks::CLIENTS_KEY)),
        (1, deviation(1, Step::EncodingSeed, 1, flip), 2, Refused(checks::CLIENTS_ENCODING)),
        // The cloud: other outputs, other tags.
        (1, deviation(2, Step::Answer, 2, flip_last), 1, Rejected(checks::CLIENTS_TAG)),
        (1, deviation(2, Step::Answer, 2, |bytes| bytes[1] ^= 1), 1, Rejected(checks::CLIENTS_TAG)),
        (1, deviation(2, Step::Answer, 1, |bytes| bytes[1] ^= 1), 0, Check(checks::OUTPUT_TAG)),
    ];
    for (number, (second, deviation, finder, expected)) in cases.into_iter().enumerate() {
        let program = adder(second);
        let scene = Scene { deviation: Some(deviation), seed: 50 + number as u64, ..Scene::new(&program, 3, config) };
        let (results, _) = scene.run(&values(), None);
        assert_eq!(found(&results[finder]), Some(expected), "case {number}");
        assert!(results.iter().all(|result| result.is_err()) || deviation.step == Step::Answer, "case {number}");
    }
}

#[test]
fn swapped_values_of_the_clouds_input_do_not_pass_a_check() {
    let (program, config) = (adder(2), small(Reuse::Labels));
    let may = |evaluated: [usize; 5]| {
        let coalition = Some(Coalition::exchanging(0));
        Scene { coalition, ..Scene::new(&program, 3, config) }.run(&values(), states_of(config, evaluated)).0
    };
    // The generator swaps both values of the first wire in the first circuit, including commitments.
    assert_eq!(found(&may([1, 2, 3, 4, 5])[2]), Some(Found::Check(checks::ORDER_OF_SEED)));
    assert_eq!(may([0, 1, 2, 3, 4])[2].as_ref().unwrap(), &[Some(Bits::from_u128(388, 9))]);
}

#[test]
fn another_input_in_some_circuits_is_caught() {
    let program = adder(1);
    // These include a circuit of each branch, whatever the split is.
    let deviation = Some(deviation(0, Step::Seed, 12, flip));
    let (results, states) = Scene { deviation, ..Scene::new(&program, 3, small(Reuse::Labels)) }.run(&values(), None);
    assert_eq!(found(&results[2]), Some(Found::Check(checks::GENERATOR_INPUT)));
    // The state serves no further runs.
    let (results, _) = Scene { seed: 9, ..Scene::new(&program, 3, small(Reuse::Labels)) }.run(&values(), states);
    assert!(results.iter().all(|result| result.is_err()));
    assert!(matches!(results[2], Err(ProtocolError::Peer { .. } | ProtocolError::State { .. })));
}

#[test]
fn a_wrong_partial_gate_is_caught() {
    let config = small(Reuse::PartialGates);
    let mut first = (*adder(1)).clone();
    first.set_recipients(0, Recipients::Only(vec![]));
    let port = first.inputs()[0].port.name.clone();
    let saved = SavedValues { keep: Some("sum".into()), read: vec![] };
    let first = Arc::new(first);
    for (below, change) in [(16, flip as fn(&mut [u8])), (16, flip_seventeenth), (12, flip_last)] {
        let scene = Scene { saved: saved.clone(), ..Scene::new(&first, 3, config) };
        let (_, states) = scene.run(&values(), None);
        let reader = adder(1);
        let saved = SavedValues { keep: None, read: vec![read(&port, "sum", None)] };
        let deviation = Some(deviation(0, Step::PartialGates, below, change));
        let scene = Scene { saved, deviation, seed: 5, ..Scene::new(&reader, 3, config) };
        let (results, _) = scene.run(&[None, Some(Bits::from_u128(3, 9))], states);
        assert_eq!(found(&results[2]), Some(Found::Check(checks::PARTIAL_GATE)));
    }
}

/// The number of caught runs, out of `runs` with a deviation and these values.
fn rate(runs: u64, deviation: Deviation, values: &[Option<Bits>]) -> (u64, Vec<Found>) {
    let mut c = garblet_synthesis::builder::CircuitBuilder::new("and");
    let a: garblet_synthesis::builder::BitString = c.input("a", Type::Bits(1));
    let b: garblet_synthesis::builder::BitString = c.input("b", Type::Bits(1));
    let and = c.and(a.0[0], b.0[0]);
    c.output("and", &garblet_synthesis::builder::BitString(vec![and]));
    let component: Component = c.finish().unwrap();
    let mut program = Program::from_component(component, &[Party(0), Party(1)]).unwrap();
    program.set_recipients(0, Recipients::Only(vec![Party(2)]));
    let program = Arc::new(program);
    let inputs: Vec<Bits> = values.iter().flatten().cloned().collect();
    let expected = evaluate(&program, &inputs);
    let mut kinds = Vec::new();
    for seed in 0..runs {
        let scene =
            Scene { deviation: Some(deviation), seed: 1000 + seed, ..Scene::new(&program, 3, small(Reuse::Labels)) };
        let (results, _) = scene.run(values, None);
        match found(&results[2]) {
            Some(found) => kinds.push(found),
            None => assert!(results[2].as_ref().is_ok_and(|got| *got == learned(&program, 2, &expected))),
        }
    }
    (kinds.len() as u64, kinds)
}

#[test]
fn a_spoiled_label_is_noticed_as_often_for_every_input() {
    let runs = 48;
    for bit in [0, 1] {
        let values = [Some(Bits::from_u128(1, 1)), Some(Bits::from_u128(bit, 1))];
        // The zero label of the first wire, in all circuits: noticed with probability 1/2, standard deviation 3.5.
        let (times, kinds) = rate(runs, deviation(0, Step::Labels, 16, flip), &values);
        assert!(times.abs_diff(runs / 2) <= 14, "bit {bit}: {times} of {runs}");
        assert!(kinds.iter().all(|&found| found == Found::Refused(checks::CLIENTS_LABEL)));
        // In one circuit: 5/16 of that, 7.5 of 48.
        let (times, _) = rate(runs, deviation(0, Step::Labels, 1, flip), &values);
        assert!((1..=18).contains(&times), "bit {bit}: {times} of {runs}");
    }
}

#[test]
fn a_wrong_circuit_is_caught_when_checked_and_outvoted_otherwise() {
    let runs = 48;
    let values = [Some(Bits::from_u128(1, 1)), Some(Bits::from_u128(1, 1))];
    // 11 of 16 are checked: 33 of 48, standard deviation 3.2.
    let (times, kinds) = rate(runs, deviation(0, Step::Tail, 1, flip), &values);
    assert!(times.abs_diff(33) <= 13, "{times} of {runs}");
    assert!(kinds.iter().all(|&found| found == Found::Check(checks::CIRCUIT_OF_SEED)));
}

#[test]
fn no_bytes_make_a_party_panic() {
    let config = small(Reuse::PartialGates);
    let steps = [
        Step::Labels,
        Step::Commitments,
        Step::Ciphertexts,
        Step::Order,
        Step::Blind,
        Step::KeyDigests,
        Step::Ciphers,
        Step::MaskedPlaces,
        Step::EncodingSeed,
        Step::PartialGates,
        Step::GeneratorLabels,
        Step::Challenge,
        Step::InputHash,
        Step::ClientHashes,
        Step::Head,
        Step::Tables,
        Step::Tail,
        Step::Answer,
    ];
    let mut first = (*adder(1)).clone();
    first.set_recipients(0, Recipients::Only(vec![]));
    let port = first.inputs()[0].port.name.clone();
    let (first, reader) = (Arc::new(first), adder(1));
    let fills: [fn(&mut [u8]); 2] = [
        |bytes| bytes.fill(255),
        |bytes| bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte ^= (at as u8).wrapping_mul(73) | 1),
    ];
    for (party, step, fill) in (0..3)
        .flat_map(|party| steps.into_iter().map(move |step| (party, step)))
        .zip(fills.into_iter().cycle())
        .map(|((party, step), fill)| (party, step, fill))
    {
        let saved = SavedValues { keep: Some("sum".into()), read: vec![] };
        let (_, states) = Scene { saved, ..Scene::new(&first, 3, config) }.run(&values(), None);
        let saved = SavedValues { keep: None, read: vec![read(&port, "sum", None)] };
        let scene = Scene {
            saved,
            deviation: Some(deviation(party, step, 16, fill)),
            seed: 5,
            ..Scene::new(&reader, 3, config)
        };
        // Panics of a party surface here.
        scene.run(&[None, Some(Bits::from_u128(3, 9))], states);
    }
}
