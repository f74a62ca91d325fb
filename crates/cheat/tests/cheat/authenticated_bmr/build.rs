//! Lies in the build.

use super::*;

/// Lies of a garbler.
pub(super) fn of_garblers(seats: Seats) -> Vec<Case> {
    let [zero, one, evaluator] = seats.roles();
    let all = || seats.all_but(&[zero]);
    let (tag, tags) = (seats.tag, || somebody(checks::TAGS, [evaluator]));
    vec![
        // Sums of four bits for two gates, then masks.
        case(zero, to_all(Step::GateBits, 0), somebody(checks::GATE_BITS, all())),
        // Those that heard other bits take other points, so each finds the proof of the other wrong.
        case(zero, to(one, Step::GateBits, 0), somebody(checks::GATE_BITS, all())),
        case(zero, to(one, Step::GateBits, 0).with(0x10), at([one], End::Malformed(zero))),
        case(zero, to(one, Step::GateBits, 1), somebody(checks::INPUT_MASKS, [one])),
        case(zero, to(one, Step::GateBits, 1).with(0x80), at([one], End::Malformed(zero))),
        case(zero, to(one, Step::GateBits, 2), somebody(checks::INPUT_MASKS, [one])),
        case(zero, to(evaluator, Step::GateBits, 1), somebody(checks::INPUT_MASKS, [evaluator])),
        case(zero, to(one, Step::GateProof, 3), somebody(checks::GATE_BITS, [one])),
        case(zero, to(evaluator, Step::GateProof, 3), somebody(checks::GATE_BITS, [evaluator])),
        case(zero, to_all(Step::GateProof, 3), somebody(checks::GATE_BITS, all())),
        case(zero, to(one, Step::TableParts, block(0, 2) + LAST), tags()),
        // Nothing hangs on these labels but outputs: the garbler whose they are refuses its own, and accuses nobody.
        case(zero, to(one, Step::TableParts, block(1, 2) + LAST), somebody(checks::OUTPUT_LABELS, [one])),
        // The first garbler collects the tags, so others send it their own.
        case(one, to(zero, Step::TableParts, TABLES + 2 * tag), tags()),
        case(zero, to(evaluator, Step::Tables, 0), tags()),
        case(zero, to(evaluator, Step::Tables, 16 + block(0, 2) + LAST), tags()),
        case(one, to(evaluator, Step::Tables, 16 + block(0, 2) + LAST), tags()),
        // Bit 0 of the first garbler's label is the public value.
        case(zero, to(evaluator, Step::Tables, 16 + block(1, 2)), tags()),
        case(zero, to(evaluator, Step::Tables, 16 + block(1, 2) + LAST), Expected::Right),
        case(one, to(evaluator, Step::Tables, 16 + block(1, 2)), Expected::Right),
        case(zero, to(evaluator, Step::Tables, 16 + TABLES + 2 * tag), tags()),
        case(zero, to(evaluator, Step::Tables, 16 + TABLES + 5 * tag), tags()),
    ]
}

/// Lies of the evaluator.
pub(super) fn of_evaluator(seats: Seats) -> Vec<Case> {
    let [zero, one, evaluator] = seats.roles();
    vec![
        case(evaluator, to_all(Step::GateBits, 0), somebody(checks::GATE_BITS, seats.garblers())),
        case(evaluator, to(zero, Step::GateBits, 0), somebody(checks::GATE_BITS, seats.garblers())),
        case(evaluator, to(zero, Step::GateBits, 0).with(0x80), at([zero], End::Malformed(evaluator))),
        case(evaluator, to(zero, Step::GateBits, 1), somebody(checks::INPUT_MASKS, [zero])),
        case(evaluator, to(one, Step::GateBits, 1 + seats.tag), somebody(checks::INPUT_MASKS, [one])),
        case(evaluator, to(zero, Step::GateProof, 3), somebody(checks::GATE_BITS, [zero])),
        case(evaluator, to_all(Step::GateProof, 0), somebody(checks::GATE_BITS, seats.garblers())),
    ]
}

/// Lies where there are no AND gates, so that no bits are opened to all: a digest goes in place of a proof.
pub(super) fn without_gates(seats: Seats) -> Vec<Case> {
    let [zero, one, evaluator] = seats.roles();
    let key = seats.keys();
    vec![
        case(zero, to(one, Step::GateProof, 3), somebody(checks::GATE_BITS, [one])),
        case(zero, to(evaluator, Step::GateProof, 15), somebody(checks::GATE_BITS, [evaluator])),
        case(one, to_all(Step::GateProof, 0), somebody(checks::GATE_BITS, seats.all_but(&[one]))),
        case(evaluator, to(one, Step::GateProof, 3), somebody(checks::GATE_BITS, [one])),
        case(evaluator, to_all(Step::GateProof, 3), somebody(checks::GATE_BITS, seats.garblers())),
        case(zero, to(evaluator, Step::GateBits, 0), somebody(checks::INPUT_MASKS, [evaluator])),
        case(evaluator, to(zero, Step::GateBits, 1), somebody(checks::INPUT_MASKS, [zero])),
        // The seed of its hash key, with which nothing is hashed.
        case(zero, to(evaluator, Step::Tables, 0), Expected::Right),
        // Only it has a use for its labels of outputs.
        case(zero, to(evaluator, Step::InputLabels, LAST), Expected::Right),
        case(zero, to(evaluator, Step::InputLabels, 0), somebody(checks::INPUT_LABELS, [evaluator])),
        case(zero, to(evaluator, Step::InputLabels, key), somebody(checks::INPUT_LABELS, [evaluator])),
        case(evaluator, to(zero, Step::HandedOver, 0), somebody(checks::OUTPUT_LABELS, [zero])),
    ]
}

#[test]
fn whoever_lies_in_the_build_is_found_or_changes_nothing() {
    for seats in SEATS {
        let cases = [of_garblers(seats), of_evaluator(seats)].concat();
        check_all(&seats.product(), seats.config(ResultCheck::Tags), (seats, &cases));
    }
}

#[test]
fn whoever_lies_where_no_bits_are_opened_to_all_is_found_or_changes_nothing() {
    for (seats, of_gates) in SEATS.into_iter().zip([ResultCheck::Tags, ResultCheck::Reveal]) {
        check_all(&seats.sum(), seats.config(of_gates), (seats, &without_gates(seats)));
    }
}
