//! Lies where gates are streamed: the same checks find them. The protocol's own tests lie in the first of several lots, and in the last.

use super::{
    after_the_inputs::{of_evaluator, of_revealed_sums},
    *,
};

/// Lies where gates have tags: masks of inputs are opened in the build, with a digest in place of a proof; then come the bits of both gates.
pub(super) fn with_tags(seats: Seats) -> Vec<Case> {
    let [zero, one, evaluator] = seats.roles();
    let (tag, tags) = (seats.tag, || somebody(checks::TAGS, [evaluator]));
    let found = |check| somebody(check, [evaluator]);
    let of_gates = |party, step, byte| to(party, step, byte).after(1);
    let mut cases = vec![
        case(zero, to(one, Step::GateBits, 0), somebody(checks::INPUT_MASKS, [one])),
        case(zero, to(evaluator, Step::GateBits, 1), found(checks::INPUT_MASKS)),
        case(zero, to(one, Step::GateProof, 3), somebody(checks::GATE_BITS, [one])),
        case(evaluator, to_all(Step::GateProof, 3), somebody(checks::GATE_BITS, seats.garblers())),
        case(zero, of_gates(one, Step::GateBits, 0), somebody(checks::GATE_BITS, seats.all_but(&[zero]))),
        case(zero, of_gates(one, Step::GateBits, 0).with(0x10), at([one], End::Malformed(zero))),
        case(evaluator, of_gates(zero, Step::GateBits, 0), somebody(checks::GATE_BITS, seats.garblers())),
        case(zero, of_gates(evaluator, Step::GateProof, 3), found(checks::GATE_BITS)),
        case(zero, to(one, Step::TableParts, block(0, 2) + LAST), tags()),
        case(zero, to(one, Step::TableParts, block(1, 2) + LAST), somebody(checks::OUTPUT_LABELS, [one])),
        case(one, to(zero, Step::TableParts, TABLES + 2 * tag), tags()),
        case(zero, to(evaluator, Step::Tables, 0), tags()),
        case(one, to(evaluator, Step::Tables, 16 + block(0, 2) + LAST), tags()),
        case(zero, to(evaluator, Step::Tables, 16 + TABLES + 5 * tag), tags()),
        case(zero, to(one, Step::MaskedInputs, 0), found(checks::ECHO)),
        case(zero, to(evaluator, Step::InputLabels, 0), found(checks::INPUT_LABELS)),
        case(zero, to(evaluator, Step::InputLabels, LAST), tags()),
        case(zero, to(evaluator, Step::InputLabels, seats.digest()), found(checks::ECHO)),
        case(zero, to(evaluator, Step::InputLabels, seats.keys()), found(checks::INPUT_LABELS)),
        case(zero, to(evaluator, Step::OutputMasks, 0), found(checks::OUTPUT_MASKS)),
        case(zero, to(evaluator, Step::OutputMasks, 0).with(2), at([evaluator], End::Malformed(zero))),
        case(zero, to(evaluator, Step::OutputMasks, 1), found(checks::OUTPUT_MASKS)),
        case(zero, to(one, Step::OutputMasks, tag), somebody(checks::OUTPUT_MASKS, [one])),
    ];
    cases.extend(of_evaluator(seats));
    cases
}

/// Lies where masked values are revealed: those of both gates in a byte, and the point; later a digest.
pub(super) fn with_revealed_values(seats: Seats) -> Vec<Case> {
    let [zero, one, evaluator] = seats.roles();
    let but = |party: u16| seats.all_but(&[party, evaluator]);
    let mut cases = vec![
        case(evaluator, to(zero, Step::RevealedGates, 0), somebody(checks::REVEALED_LABELS, [zero])),
        case(evaluator, to_all(Step::RevealedGates, 0), somebody(checks::REVEALED_LABELS, seats.garblers())),
        case(evaluator, to(zero, Step::RevealedGates, 0).with(4), at([zero], End::Malformed(evaluator))),
        case(evaluator, to(zero, Step::RevealedGates, 1), Expected::Ended),
        case(evaluator, to(one, Step::RevealedLabels, 0), somebody(checks::REVEALED_LABELS, [one])),
        case(evaluator, to_all(Step::RevealedLabels, 31), somebody(checks::REVEALED_LABELS, seats.garblers())),
        case(zero, to(evaluator, Step::Tables, 16 + block(0, 2)), somebody(checks::REVEALED_LABELS, but(zero))),
        case(one, to(zero, Step::TableParts, block(0, 2) + LAST), somebody(checks::REVEALED_LABELS, but(one))),
    ];
    cases.extend(of_revealed_sums(seats));
    cases
}

#[test]
fn whoever_lies_where_gates_are_streamed_is_found_or_has_nothing_of_it() {
    for seats in SEATS {
        for (check, cases) in
            [(ResultCheck::Tags, with_tags(seats)), (ResultCheck::Reveal, with_revealed_values(seats))]
        {
            let config = Config { build: Build::Stream, ..seats.config(check) };
            check_all(&seats.product(), config, (seats, &cases));
        }
    }
}
