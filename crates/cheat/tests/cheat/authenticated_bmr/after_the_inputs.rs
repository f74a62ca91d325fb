//! Lies online.

use super::*;

/// Lies of a garbler.
pub(super) fn of_garblers(seats: Seats) -> Vec<Case> {
    let [zero, one, evaluator] = seats.roles();
    let (digest, keys, masks) = (seats.digest(), seats.keys(), seats.masks());
    let found = |check| somebody(check, [evaluator]);
    let to_evaluator = |byte| to(evaluator, Step::InputLabels, byte);
    vec![
        // The evaluator has no usable label then: it lacks keys of locks.
        case(zero, to(one, Step::MaskedInputs, 0), found(checks::ECHO)),
        case(zero, to(evaluator, Step::MaskedInputs, 0), found(checks::ECHO)),
        case(zero, to_all(Step::MaskedInputs, 0), found(checks::ECHO)),
        case(zero, to(one, Step::MaskedInputs, 0).with(0x80), at([one], End::Malformed(zero))),
        case(zero, to_evaluator(0), found(checks::INPUT_LABELS)),
        case(one, to_evaluator(0), found(checks::INPUT_LABELS)),
        case(zero, to_evaluator(LAST), found(checks::TAGS)),
        case(one, to_evaluator(LAST), found(checks::TAGS)),
        // No gate reads this input.
        case(zero, to_evaluator(16 + LAST), Expected::Right),
        case(zero, to_evaluator(digest), found(checks::ECHO)),
        // The labels of another garbler, which is not to blame, are unlocked wrongly.
        case(zero, to_evaluator(keys), found(checks::INPUT_LABELS)),
        case(zero, to_evaluator(masks), found(checks::OUTPUT_MASKS)),
        case(zero, to_evaluator(masks).with(2), at([evaluator], End::Malformed(zero))),
        case(zero, to_evaluator(masks + 1), found(checks::OUTPUT_MASKS)),
        case(zero, to(one, Step::InputLabels, 0), somebody(checks::OUTPUT_MASKS, [one])),
        case(zero, to(one, Step::InputLabels, 0).with(0x80), at([one], End::Malformed(zero))),
        case(zero, to(one, Step::InputLabels, seats.tag), somebody(checks::OUTPUT_MASKS, [one])),
    ]
}

/// Lies of the evaluator. It hands an output over in a byte, then come a digest and its share of the mask.
pub(super) fn of_evaluator(seats: Seats) -> Vec<Case> {
    let [zero, one, evaluator] = seats.roles();
    vec![
        case(evaluator, to(zero, Step::MaskedInputs, 0), Expected::Ended),
        case(evaluator, to_all(Step::MaskedInputs, 0), Expected::Ended),
        case(evaluator, to(zero, Step::MaskedInputs, 0).with(0x80), at([zero], End::Malformed(evaluator))),
        case(evaluator, to(zero, Step::HandedOver, 0), somebody(checks::OUTPUT_LABELS, [zero])),
        case(evaluator, to(zero, Step::HandedOver, 0).with(2), at([zero], End::Malformed(evaluator))),
        case(evaluator, to(one, Step::HandedOver, 1), somebody(checks::OUTPUT_LABELS, [one])),
        case(evaluator, to(one, Step::HandedOver, 32), somebody(checks::OUTPUT_LABELS, [one])),
        case(evaluator, to(zero, Step::HandedOver, 33), somebody(checks::OUTPUT_MASKS, [zero])),
        case(evaluator, to(zero, Step::HandedOver, 33).with(0x40), at([zero], End::Malformed(evaluator))),
        case(evaluator, to(one, Step::HandedOver, 34), somebody(checks::OUTPUT_MASKS, [one])),
        case(evaluator, to_all(Step::HandedOver, 0), somebody(checks::OUTPUT_LABELS, seats.garblers())),
    ]
}

/// Lies in the answers to revealed values, and after them.
pub(super) fn of_revealed_sums(seats: Seats) -> Vec<Case> {
    let [zero, one, evaluator] = seats.roles();
    let to_evaluator = |step, byte| to(evaluator, step, byte);
    vec![
        case(evaluator, to(zero, Step::HandedOver, 0), somebody(checks::OUTPUT_LABELS, [zero])),
        case(zero, to_evaluator(Step::RevealedSums, 3), somebody(checks::REVEALED_GATES, [evaluator])),
        case(one, to_evaluator(Step::RevealedSums, LAST), somebody(checks::REVEALED_GATES, [evaluator])),
        case(zero, to_evaluator(Step::RevealedSums, 16), somebody(checks::OUTPUT_MASKS, [evaluator])),
        case(zero, to_evaluator(Step::RevealedSums, 16).with(2), at([evaluator], End::Malformed(zero))),
        case(zero, to_evaluator(Step::RevealedSums, 17), somebody(checks::OUTPUT_MASKS, [evaluator])),
        case(zero, to(one, Step::RevealedSums, 0), somebody(checks::OUTPUT_MASKS, [one])),
    ]
}

/// Lies where all masked values are revealed: those of both gates in a byte, a digest, and the point.
pub(super) fn of_revealed_values(seats: Seats) -> Vec<Case> {
    let [zero, one, evaluator] = seats.roles();
    let (digest, point) = (1, 33);
    let but = |party: u16| seats.all_but(&[party, evaluator]);
    let to_evaluator = |step, byte| to(evaluator, step, byte);
    let mut cases = vec![
        case(evaluator, to(zero, Step::RevealedGates, 0), somebody(checks::REVEALED_LABELS, [zero])),
        case(evaluator, to(one, Step::RevealedGates, digest), somebody(checks::REVEALED_LABELS, [one])),
        case(evaluator, to_all(Step::RevealedGates, 0), somebody(checks::REVEALED_LABELS, seats.garblers())),
        case(evaluator, to(zero, Step::RevealedGates, 0).with(4), at([zero], End::Malformed(evaluator))),
        case(evaluator, to_all(Step::RevealedGates, 0).with(0x80), at(seats.garblers(), End::Malformed(evaluator))),
        // Its own check of the sum fails.
        case(evaluator, to(zero, Step::RevealedGates, point), Expected::Ended),
        case(zero, to_evaluator(Step::InputLabels, 0), somebody(checks::INPUT_LABELS, [evaluator])),
        // A label that is wrong spoils those of the next gate for all garblers. What is wrong at the liar it finds itself.
        case(zero, to_evaluator(Step::Tables, 16 + block(0, 2)), somebody(checks::REVEALED_LABELS, but(zero))),
        case(one, to(zero, Step::TableParts, block(0, 2) + LAST), somebody(checks::REVEALED_LABELS, but(one))),
        case(one, to_evaluator(Step::Tables, 16 + block(0, 2) + LAST), somebody(checks::REVEALED_LABELS, but(one))),
    ];
    cases.extend(of_revealed_sums(seats));
    cases
}

#[test]
fn whoever_lies_online_is_found_or_has_nothing_of_it() {
    for seats in SEATS {
        let cases = [of_garblers(seats), of_evaluator(seats)].concat();
        check_all(&seats.product(), seats.config(ResultCheck::Tags), (seats, &cases));
    }
}

#[test]
fn whoever_lies_about_revealed_values_is_found_or_has_nothing_of_it() {
    for seats in SEATS {
        check_all(&seats.product(), seats.config(ResultCheck::Reveal), (seats, &of_revealed_values(seats)));
    }
}

/// The evaluator hands a garbler another value of an output, whatever wire it is: a constant, an input, a negation, a sum, a product, or the same once more.
#[test]
fn a_false_output_of_any_kind_is_found() {
    let seats = Seats { evaluator: 0, ..SEATS[0] };
    let first = 3 * WIDTH;
    let gates = vec![
        Gate::Constant(false),
        Gate::Constant(true),
        Gate::And(Wire(0), Wire(WIDTH)),
        Gate::Not(Wire(WIDTH)),
        Gate::Xor(Wire(0), Wire(WIDTH)),
    ];
    let outputs = [first, first + 1, 0, first + 3, first + 4, first + 2, first + 2].map(Wire);
    let program = seats.program(gates, outputs.to_vec());
    let cases: Vec<Case> = (0..outputs.len())
        .map(|bit| case(0, to(1, Step::HandedOver, 0).with(1 << bit), somebody(checks::OUTPUT_LABELS, [1])))
        .collect();
    for (of_gates, build) in
        [(ResultCheck::Tags, Build::Ahead), (ResultCheck::Reveal, Build::Ahead), (ResultCheck::Tags, Build::Stream)]
    {
        check_all(&program, Config { build, ..seats.config(of_gates) }, (seats, &cases));
    }
}
