//! Every deviation in build and online ends in its check or changes nothing, and never in a wrong output.

use garblet_protocol::checks::Check;

use super::{
    lies::{Found, Lie, Once, found},
    *,
};
use crate::many::checks;

/// Bits of every input, of which the first one matters.
const WIDTH: u32 = 8;

/// Bytes of a tag.
const TAG: usize = 6;

/// Gates, one after the other: only the first one's result is an operand.
const GATES: usize = 2;

/// The first byte of a block of a table, by gate.
fn block(gate: usize, block: usize) -> usize {
    16 * (3 * gate + block)
}

/// The first byte after the tables of all gates.
const TABLES: usize = 16 * 3 * GATES;

/// Bytes of the labels of all inputs.
const LABELS: usize = 16 * 3 * WIDTH as usize;

/// The last byte of a block: a change there leaves bit 0.
const LAST: usize = 15;

/// The outcome of a deviation at honest parties.
#[derive(Debug)]
enum Outcome {
    /// All have the right outputs.
    Right,
    /// Nobody has any, and nobody has evidence.
    Ended,
    /// These parties have this evidence. All others have the right outputs, or were told that the run is over.
    Found(Found, Vec<u16>),
}

/// The product of bit 0 of the bytes of two garblers and the evaluator, for all.
fn product_of_three(parties: u16, of_gates: ResultCheck) -> Arc<Plan> {
    let gates = vec![Gate::And(Wire(0), Wire(WIDTH)), Gate::And(Wire(3 * WIDTH), Wire(2 * WIDTH))];
    assert_eq!(gates.len(), GATES);
    plan(circuit(&[0, 1, parties - 1], WIDTH, gates, vec![Wire(3 * WIDTH + 1)]), parties, of_gates)
}

/// Runs with a lie of one party, and judges the honest ones.
fn check((parties, of_gates): (u16, ResultCheck), (lies, lie): (u16, Lie), expected: &Outcome, seed: u64) {
    let plan = product_of_three(parties, of_gates);
    let inputs: Vec<Bits> =
        (0..3).map(|at| Bits::from_u128(0xa5 ^ u128::from(seed >> at & 1), WIDTH as usize)).collect();
    let results = all(parties, seed, async |session, party| {
        let conduct = Once::new((party.0 == lies).then_some(lie));
        let mut ground = Ground::set_up(session, &plan, party, conduct).await?;
        let (built, _) = build(&mut ground, session, &plan).await?;
        ground.compute(session, &plan, built, &own_inputs(&plan, party, &inputs)).await
    });
    let what = format!("party {lies} of {parties}: {:?} to {:?}, byte {}", lie.step, lie.to, lie.byte);
    let mut evidence = Vec::new();
    for (party, result) in (0..).zip(&results).filter(|(party, _)| *party != lies) {
        match result {
            Ok(outputs) => {
                assert_eq!(*outputs, learned(&plan, Party(party), &inputs), "{what}: wrong at {party}");
                assert!(!matches!(expected, Outcome::Ended), "{what}: party {party} has outputs");
            }
            Err(error) => {
                assert!(!matches!(expected, Outcome::Right), "{what}: party {party}: {error}");
                evidence.extend(found(error, Party(lies)).map(|found| (found, party)));
            }
        }
    }
    let expected: Vec<(Found, u16)> = match expected {
        Outcome::Right | Outcome::Ended => Vec::new(),
        Outcome::Found(found, parties) => parties.iter().map(|party| (*found, *party)).collect(),
    };
    assert_eq!(evidence, expected, "{what}: {results:?}");
}

/// Checks deviations for three parties and four, given the last party's number.
fn check_all(of_gates: ResultCheck, deviations: impl Fn(u16) -> Vec<(u16, Lie, Outcome)>) {
    for parties in [3, 4] {
        for (number, (lies, lie, outcome)) in (0..).zip(deviations(parties - 1)) {
            check((parties, of_gates), (lies, lie), &outcome, number);
        }
    }
}

fn lie(step: Step, to: Option<u16>, byte: usize) -> Lie {
    Lie { step, to: to.map(usize::from), byte, after: 0 }
}

/// A failed check that names nobody.
fn somebody(check: Check, finders: impl IntoIterator<Item = u16>) -> Outcome {
    Outcome::Found(Found::Somebody(check), finders.into_iter().collect())
}

#[test]
fn a_garbler_that_lies_in_the_build_is_found_or_changes_nothing() {
    check_all(ResultCheck::Tags, |last| {
        let all = || 1..=last;
        vec![
            (0, lie(Step::GateBits, None, 0), somebody(checks::GATE_BITS, all())),
            // Those that heard other bits take other points, so each finds the proof of the other wrong.
            (0, lie(Step::GateBits, Some(1), 0), somebody(checks::GATE_BITS, all())),
            (0, lie(Step::GateBits, Some(1), 1), somebody(checks::INPUT_MASKS, [1])),
            (0, lie(Step::GateBits, Some(1), 2), somebody(checks::INPUT_MASKS, [1])),
            (0, lie(Step::GateBits, Some(last), 1), somebody(checks::INPUT_MASKS, [last])),
            (0, lie(Step::GateProof, Some(1), 3), somebody(checks::GATE_BITS, [1])),
            (0, lie(Step::GateProof, Some(last), 3), somebody(checks::GATE_BITS, [last])),
            (0, lie(Step::GateProof, None, 3), somebody(checks::GATE_BITS, all())),
            (0, lie(Step::TableParts, Some(1), block(0, 2) + LAST), somebody(checks::TAGS, [last])),
            // Nothing hangs on these labels but outputs: the garbler whose they are refuses its own, and accuses nobody.
            (0, lie(Step::TableParts, Some(1), block(1, 2) + LAST), somebody(checks::OUTPUT_LABELS, [1])),
            // Garbler 0 collects the tags, so other garblers send it their own.
            (1, lie(Step::TableParts, Some(0), TABLES + 2 * TAG), somebody(checks::TAGS, [last])),
            (0, lie(Step::Tables, Some(last), 0), somebody(checks::TAGS, [last])),
            (0, lie(Step::Tables, Some(last), 16 + block(0, 2) + LAST), somebody(checks::TAGS, [last])),
            (1, lie(Step::Tables, Some(last), 16 + block(0, 2) + LAST), somebody(checks::TAGS, [last])),
            // Bit 0 of garbler 0's label is the public value.
            (0, lie(Step::Tables, Some(last), 16 + block(1, 2)), somebody(checks::TAGS, [last])),
            (0, lie(Step::Tables, Some(last), 16 + block(1, 2) + LAST), Outcome::Right),
            (1, lie(Step::Tables, Some(last), 16 + block(1, 2)), Outcome::Right),
            (0, lie(Step::Tables, Some(last), 16 + TABLES + 2 * TAG), somebody(checks::TAGS, [last])),
            (0, lie(Step::Tables, Some(last), 16 + TABLES + 5 * TAG), somebody(checks::TAGS, [last])),
        ]
    });
}

#[test]
fn a_garbler_that_lies_online_is_found_or_changes_nothing() {
    check_all(ResultCheck::Tags, |last| {
        let (digest, keys) = (LABELS, LABELS + 32);
        let masks = keys + 16 * (usize::from(last) - 1);
        vec![
            // The evaluator has no usable label then: it lacks keys of locks.
            (0, lie(Step::MaskedInputs, Some(1), 0), somebody(checks::ECHO, [last])),
            (0, lie(Step::MaskedInputs, Some(last), 0), somebody(checks::ECHO, [last])),
            (0, lie(Step::MaskedInputs, None, 0), somebody(checks::ECHO, [last])),
            (0, lie(Step::InputLabels, Some(last), 0), somebody(checks::INPUT_LABELS, [last])),
            (1, lie(Step::InputLabels, Some(last), 0), somebody(checks::INPUT_LABELS, [last])),
            (0, lie(Step::InputLabels, Some(last), LAST), somebody(checks::TAGS, [last])),
            (1, lie(Step::InputLabels, Some(last), LAST), somebody(checks::TAGS, [last])),
            // No gate reads this input.
            (0, lie(Step::InputLabels, Some(last), 16 + LAST), Outcome::Right),
            (0, lie(Step::InputLabels, Some(last), digest), somebody(checks::ECHO, [last])),
            // The labels of another garbler, which is not to blame, are unlocked wrongly.
            (0, lie(Step::InputLabels, Some(last), keys), somebody(checks::INPUT_LABELS, [last])),
            (0, lie(Step::InputLabels, Some(last), masks), somebody(checks::OUTPUT_MASKS, [last])),
            (0, lie(Step::InputLabels, Some(last), masks + 1), somebody(checks::OUTPUT_MASKS, [last])),
            (0, lie(Step::InputLabels, Some(1), 0), somebody(checks::OUTPUT_MASKS, [1])),
            (0, lie(Step::InputLabels, Some(1), TAG), somebody(checks::OUTPUT_MASKS, [1])),
        ]
    });
}

#[test]
fn an_evaluator_that_lies_is_found_or_has_nothing_of_it() {
    check_all(ResultCheck::Tags, |last| {
        let garblers = || 0..last;
        vec![
            (last, lie(Step::GateBits, None, 0), somebody(checks::GATE_BITS, garblers())),
            (last, lie(Step::GateBits, Some(0), 0), somebody(checks::GATE_BITS, garblers())),
            (last, lie(Step::GateBits, Some(0), 1), somebody(checks::INPUT_MASKS, [0])),
            (last, lie(Step::GateBits, Some(1), 1 + TAG), somebody(checks::INPUT_MASKS, [1])),
            (last, lie(Step::GateProof, Some(0), 3), somebody(checks::GATE_BITS, [0])),
            (last, lie(Step::MaskedInputs, Some(0), 0), Outcome::Ended),
            (last, lie(Step::MaskedInputs, None, 0), Outcome::Ended),
            (last, lie(Step::HandedOver, Some(0), 0), somebody(checks::OUTPUT_LABELS, [0])),
            (last, lie(Step::HandedOver, Some(1), 1), somebody(checks::OUTPUT_LABELS, [1])),
            (last, lie(Step::HandedOver, Some(1), 32), somebody(checks::OUTPUT_LABELS, [1])),
            (last, lie(Step::HandedOver, Some(0), 33), somebody(checks::OUTPUT_MASKS, [0])),
            (last, lie(Step::HandedOver, Some(1), 34), somebody(checks::OUTPUT_MASKS, [1])),
            (last, lie(Step::HandedOver, None, 0), somebody(checks::OUTPUT_LABELS, garblers())),
        ]
    });
}

/// With `check=reveal` the masked values of both gates fit a byte. The digest comes after them, and then the point.
#[test]
fn whoever_lies_about_revealed_values_is_found_or_has_nothing_of_it() {
    check_all(ResultCheck::Reveal, |last| {
        let (digest, point) = (1, 33);
        let (to_all, to) = (None, Some(last));
        let but_1 = || (0..last).filter(|garbler| *garbler != 1);
        vec![
            (last, lie(Step::RevealedGates, Some(0), 0), somebody(checks::REVEALED_LABELS, [0])),
            (last, lie(Step::RevealedGates, Some(1), digest), somebody(checks::REVEALED_LABELS, [1])),
            (last, lie(Step::RevealedGates, to_all, 0), somebody(checks::REVEALED_LABELS, 0..last)),
            // Its own check of the sum fails.
            (last, lie(Step::RevealedGates, Some(0), point), Outcome::Ended),
            (last, lie(Step::HandedOver, Some(0), 0), somebody(checks::OUTPUT_LABELS, [0])),
            (0, lie(Step::RevealedSums, to, 3), somebody(checks::REVEALED_GATES, [last])),
            (1, lie(Step::RevealedSums, to, LAST), somebody(checks::REVEALED_GATES, [last])),
            (0, lie(Step::RevealedSums, to, 16), somebody(checks::OUTPUT_MASKS, [last])),
            (0, lie(Step::RevealedSums, to, 17), somebody(checks::OUTPUT_MASKS, [last])),
            (0, lie(Step::RevealedSums, Some(1), 0), somebody(checks::OUTPUT_MASKS, [1])),
            (0, lie(Step::InputLabels, to, 0), somebody(checks::INPUT_LABELS, [last])),
            // A label that is wrong spoils those of the next gate for all garblers. What is wrong at the liar it finds itself.
            (0, lie(Step::Tables, to, 16 + block(0, 2)), somebody(checks::REVEALED_LABELS, 1..last)),
            (1, lie(Step::TableParts, Some(0), block(0, 2) + LAST), somebody(checks::REVEALED_LABELS, but_1())),
            (1, lie(Step::Tables, to, 16 + block(0, 2) + LAST), somebody(checks::REVEALED_LABELS, but_1())),
        ]
    });
}
