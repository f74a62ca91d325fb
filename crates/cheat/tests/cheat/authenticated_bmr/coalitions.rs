//! Two of four parties lie, in ways that differ, or cancel towards everybody or towards one party only.

use super::*;

/// The seats of all coalitions: the last of four evaluates, and the third has no input.
const SEATS: Seats = super::SEATS[1];

const ZERO: u16 = 0;
const ONE: u16 = 1;
const TWO: u16 = 2;
const EVALUATOR: u16 = 3;

/// The same lie of two parties.
fn both(liars: [u16; 2], lie: Lie) -> Vec<(u16, Lie)> {
    liars.map(|liar| (liar, lie)).into()
}

/// Forty wrong blocks of leaky triples, as one passes half of the time.
fn leaky(liar: u16, receiver: u16, first: isize) -> impl Iterator<Item = (u16, Lie)> {
    (first..first + 40).map(move |block| (liar, to(receiver, Step::LeakyBlocks, 96 + 16 * block + LAST)))
}

fn coalition(lies: impl Into<Vec<(u16, Lie)>>, expected: Expected) -> Case {
    Case { lies: lies.into(), expected }
}

const GARBLERS: [u16; 2] = [ZERO, ONE];

/// Two garblers lie, each to another honest party.
fn apart(step: Step, byte: isize) -> [(u16, Lie); 2] {
    [(ZERO, to(TWO, step, byte)), (ONE, to(EVALUATOR, step, byte))]
}

/// To the third party both garblers lie alike, to the evaluator only one.
fn cancelled_at_one(step: Step, byte: isize) -> Vec<(u16, Lie)> {
    [both(GARBLERS, to(TWO, step, byte)), vec![(ZERO, to(EVALUATOR, step, byte))]].concat()
}

/// Both garblers lie alike to all.
fn cancelled(step: Step, byte: isize) -> Vec<(u16, Lie)> {
    [TWO, EVALUATOR].map(|honest| both(GARBLERS, to(honest, step, byte))).concat()
}

/// Both garblers lie to one party, at different places.
fn differ(receiver: u16, step: Step, byte: isize) -> [(u16, Lie); 2] {
    [(ZERO, to(receiver, step, byte)), (ONE, to(receiver, step, byte + 1))]
}

/// Lies of two garblers in set-up and preparation.
fn of_garblers_before_the_function() -> Vec<Case> {
    let garblers = GARBLERS;
    let honest = |check| somebody(check, [TWO, EVALUATOR]);
    let at_two = |check| somebody(check, [TWO]);
    let each_by_one =
        |check| Expected::Found(vec![(TWO, End::Caught(ZERO, check)), (EVALUATOR, End::Caught(ONE, check))]);
    vec![
        coalition(apart(Step::Nonce, 3), honest(checks::ECHO)),
        coalition(both(garblers, to(TWO, Step::Nonce, 3)), honest(checks::ECHO)),
        coalition(both(garblers, to(TWO, Step::Difference, 9)), honest(checks::DIFFERENCES)),
        coalition(both(garblers, to(TWO, Step::DifferenceSums, 9)), Expected::Right),
        coalition(differ(TWO, Step::DifferenceSums, 9), honest(checks::DIFFERENCES)),
        coalition(cancelled_at_one(Step::DifferenceSums, 9), honest(checks::DIFFERENCES)),
        coalition(apart(Step::DifferenceProofs, 9), each_by_one(checks::DIFFERENCES_OPENING)),
        coalition(apart(Step::Coins, 0), each_by_one(checks::COIN_TOSS_OPENING)),
        coalition(both(garblers, to(TWO, Step::Coins, 0)), at([TWO], End::Caught(ZERO, checks::COIN_TOSS_OPENING))),
        coalition(apart(Step::Bits, 2), honest(checks::ECHO)),
        coalition(both(garblers, to(TWO, Step::Bits, 2)), honest(checks::ECHO)),
        coalition(
            [(ONE, to(TWO, Step::Answers, -20)), (ZERO, to(EVALUATOR, Step::Answers, 500))],
            Expected::Found(vec![(TWO, End::Somebody(checks::ECHO)), (EVALUATOR, End::CaughtInOt(ZERO))]),
        ),
        coalition(leaky(ZERO, TWO, 0).chain(leaky(ONE, TWO, 0)).collect::<Vec<_>>(), Expected::Right),
        coalition(leaky(ZERO, TWO, 0).chain(leaky(ONE, TWO, 20)).collect::<Vec<_>>(), honest(checks::ZERO)),
        coalition(
            leaky(ZERO, TWO, 0).chain(leaky(ONE, TWO, 0)).chain(leaky(ZERO, EVALUATOR, 0)).collect::<Vec<_>>(),
            honest(checks::ZERO),
        ),
        coalition(both(garblers, to_all(Step::OwnProductBits, 0)), Expected::Right),
        coalition(
            [(ZERO, to_all(Step::OwnProductBits, 0)), (ONE, to_all(Step::OwnProductBits, 1))],
            honest(checks::ZERO),
        ),
        coalition(apart(Step::ProductBits, 0), each_by_one(checks::PRODUCT_BITS)),
        // The bits that they correct cancel, and not what they have made of them.
        coalition(both(garblers, to(TWO, Step::ZeroBlocks, 7)), honest(checks::ZERO)),
        coalition(both(garblers, to(TWO, Step::ZeroBlocks, 16 + LAST)), Expected::Right),
        coalition(both(garblers, to_all(Step::OwnProduct, 7)), Expected::Right),
        coalition([(ZERO, to_all(Step::OwnProduct, 7)), (ONE, to_all(Step::OwnProduct, 8))], honest(checks::ZERO)),
        coalition(apart(Step::Product, 7), each_by_one(checks::ZERO_OPENING)),
        coalition(cancelled(Step::BucketBits, 0), Expected::Right),
        coalition(cancelled_at_one(Step::BucketBits, 0), honest(checks::BUCKET_BITS)),
        coalition(both(garblers, to_all(Step::BucketBits, 0)), honest(checks::BUCKET_BITS)),
        coalition(both(garblers, to(TWO, Step::BucketProof, 0)), Expected::Right),
        coalition(differ(TWO, Step::BucketProof, 0), at_two(checks::BUCKET_BITS)),
    ]
}

/// Lies of two garblers in the build and online.
fn of_garblers() -> Vec<Case> {
    let garblers = GARBLERS;
    let honest = |check| somebody(check, [TWO, EVALUATOR]);
    let at_two = |check| somebody(check, [TWO]);
    let at_evaluator = |check| somebody(check, [EVALUATOR]);
    let (tables, tag) = (16 + TABLES + 2 * SEATS.tag, TABLES + 2 * SEATS.tag);
    // Both have another garbler's key before that of the third.
    let key = SEATS.keys() + 16;
    vec![
        coalition(cancelled(Step::GateBits, 0), Expected::Right),
        coalition(cancelled_at_one(Step::GateBits, 0), honest(checks::GATE_BITS)),
        coalition(both(garblers, to_all(Step::GateBits, 0)), honest(checks::GATE_BITS)),
        coalition(both(garblers, to(EVALUATOR, Step::GateBits, 1)), Expected::Right),
        coalition(differ(EVALUATOR, Step::GateBits, 1), at_evaluator(checks::INPUT_MASKS)),
        coalition(both(garblers, to(TWO, Step::GateProof, 0)), Expected::Right),
        coalition(differ(TWO, Step::GateProof, 0), at_two(checks::GATE_BITS)),
        coalition(both(garblers, to(TWO, Step::TableParts, block(0, 2) + LAST)), Expected::Right),
        coalition(differ(TWO, Step::TableParts, block(0, 2) + LAST - 1), at_evaluator(checks::TAGS)),
        // One spoils a part of the tags, and the other the sum.
        coalition(
            [(ONE, to(ZERO, Step::TableParts, tag)), (ZERO, to(EVALUATOR, Step::Tables, tables))],
            Expected::Right,
        ),
        coalition(
            [(ONE, to(ZERO, Step::TableParts, tag)), (ZERO, to(EVALUATOR, Step::Tables, tables + 1))],
            at_evaluator(checks::TAGS),
        ),
        coalition(both(garblers, to(EVALUATOR, Step::Tables, 16 + block(0, 2))), at_evaluator(checks::TAGS)),
        // Of outputs alone, and their own.
        coalition(both(garblers, to(EVALUATOR, Step::Tables, 16 + block(1, 2) + LAST)), Expected::Right),
        coalition(apart(Step::MaskedInputs, 0), at_evaluator(checks::ECHO)),
        coalition(both(garblers, to(TWO, Step::MaskedInputs, 0)), at_evaluator(checks::ECHO)),
        coalition(both(garblers, to(EVALUATOR, Step::InputLabels, SEATS.digest())), at_evaluator(checks::ECHO)),
        coalition(both(garblers, to(EVALUATOR, Step::InputLabels, LAST)), at_evaluator(checks::TAGS)),
        coalition(both(garblers, to(EVALUATOR, Step::InputLabels, key)), Expected::Right),
        coalition(differ(EVALUATOR, Step::InputLabels, key), at_evaluator(checks::INPUT_LABELS)),
        coalition(both(garblers, to(EVALUATOR, Step::InputLabels, SEATS.masks())), Expected::Right),
        coalition(differ(EVALUATOR, Step::InputLabels, SEATS.masks()), at_evaluator(checks::OUTPUT_MASKS)),
        coalition(both(garblers, to(TWO, Step::InputLabels, 0)), Expected::Right),
        coalition(differ(TWO, Step::InputLabels, 0), at_two(checks::OUTPUT_MASKS)),
    ]
}

/// Lies of the evaluator and a garbler.
fn of_evaluator() -> Vec<Case> {
    let liars = [ZERO, EVALUATOR];
    let at_one = |check| somebody(check, [ONE]);
    let of_output = |byte, of_garbler| {
        [(EVALUATOR, to(ONE, Step::HandedOver, byte)), (ZERO, to(ONE, Step::InputLabels, of_garbler))]
    };
    vec![
        // The other value of an output, with a share of the mask that makes it the right one.
        coalition(of_output(0, 0), at_one(checks::OUTPUT_LABELS)),
        coalition(of_output(33, 0), Expected::Right),
        coalition(of_output(33, 1), at_one(checks::OUTPUT_MASKS)),
        coalition(of_output(34, 1), Expected::Right),
        coalition(both(liars, to(ONE, Step::GateBits, 0)), Expected::Right),
        coalition(both(liars, to(ONE, Step::GateBits, 1)), Expected::Right),
        coalition(
            [(ZERO, to(ONE, Step::GateBits, 0)), (EVALUATOR, to(TWO, Step::GateBits, 0))],
            somebody(checks::GATE_BITS, [ONE, TWO]),
        ),
        coalition(both(liars, to(ONE, Step::MaskedInputs, 0)), Expected::Ended),
        coalition(
            [(ZERO, to(ONE, Step::MaskedInputs, 0)), (EVALUATOR, to(TWO, Step::MaskedInputs, 0))],
            Expected::Ended,
        ),
    ]
}

pub(super) fn with_tags() -> Vec<Case> {
    [of_garblers_before_the_function(), of_garblers(), of_evaluator()].concat()
}

pub(super) fn with_revealed_values() -> Vec<Case> {
    let (garblers, sums, gates) = ([ZERO, ONE], Step::RevealedSums, Step::RevealedGates);
    let labels = |finders: &[u16]| somebody(checks::REVEALED_LABELS, finders.iter().copied());
    vec![
        coalition(both(garblers, to(EVALUATOR, sums, 3)), Expected::Right),
        coalition(
            [(ZERO, to(EVALUATOR, sums, 3)), (ONE, to(EVALUATOR, sums, 4))],
            somebody(checks::REVEALED_GATES, [EVALUATOR]),
        ),
        coalition(both(garblers, to(TWO, sums, 0)), Expected::Right),
        coalition([(ZERO, to(TWO, sums, 0)), (ONE, to(TWO, sums, 1))], somebody(checks::OUTPUT_MASKS, [TWO])),
        coalition(both(garblers, to(EVALUATOR, Step::Tables, 16 + block(0, 2) + LAST)), labels(&[TWO])),
        coalition([(EVALUATOR, to(ONE, gates, 0)), (EVALUATOR, to(TWO, gates, 1))], labels(&[ONE, TWO])),
        coalition([(EVALUATOR, to(ONE, gates, 0)), (ZERO, to(ONE, sums, 0))], labels(&[ONE])),
        coalition([(EVALUATOR, to(ONE, Step::HandedOver, 33)), (ZERO, to(ONE, sums, 0))], Expected::Right),
    ]
}

#[test]
fn two_that_lie_are_found_where_their_lies_do_not_cancel() {
    for (of_gates, cases) in [(ResultCheck::Tags, with_tags()), (ResultCheck::Reveal, with_revealed_values())] {
        check_all(&SEATS.product(), SEATS.config(of_gates), (SEATS, &cases));
    }
}
