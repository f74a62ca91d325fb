//! Lies in set-up and preparation.

use super::*;

/// Lies of a party before the function is known.
pub(super) fn batch(seats: Seats, liar: u16) -> Vec<Case> {
    let others = seats.all_but(&[liar]);
    let (first, last) = (others[0], others[others.len() - 1]);
    let all = |check| somebody(check, others.clone());
    let (at_first, at_last) = (|check| somebody(check, [first]), |check| somebody(check, [last]));
    let caught_by = |finder: u16, check| at([finder], End::Caught(liar, check));
    let lies = [
        (to(last, Step::Nonce, 3), all(checks::ECHO)),
        (to(first, Step::Name, 3), at_first(checks::ECHO)),
        (to(last, Step::Difference, 9), all(checks::DIFFERENCES)),
        (to(first, Step::Difference, 0), all(checks::DIFFERENCES)),
        // Its difference itself, towards all: the sum of those of all parties is even.
        (to(liar, Step::Difference, 0), all(checks::ZERO)),
        (to(first, Step::DifferenceSums, 9), all(checks::DIFFERENCES)),
        (to(last, Step::DifferenceCommitment, 9), caught_by(last, checks::DIFFERENCES_OPENING)),
        (to_all(Step::OwnDifferenceProofs, 20), all(checks::DIFFERENCES)),
        (to(first, Step::DifferenceProofs, 20), caught_by(first, checks::DIFFERENCES_OPENING)),
        (to(first, Step::CoinCommitments, 0), caught_by(first, checks::COIN_TOSS_OPENING)),
        (to(last, Step::Coins, 0), caught_by(last, checks::COIN_TOSS_OPENING)),
        (to(last, Step::Coins, 40).after(1), caught_by(last, checks::COIN_TOSS_OPENING)),
        (to_all(Step::Coins, 0).after(2), at(others.clone(), End::Caught(liar, checks::COIN_TOSS_OPENING))),
        (to(first, Step::Bits, 2), all(checks::ECHO)),
        // The square that hides them is bits as all others.
        (to(first, Step::Bits, -1), all(checks::ECHO)),
        (to(last, Step::Answers, 500), at([last], End::CaughtInOt(liar))),
        (to(last, Step::Answers, -20), at_last(checks::ECHO)),
        (to(first, Step::LeakyBlocks, 5), at_first(checks::ECHO)),
        (to(first, Step::LeakyBlocks, 40), caught_by(first, checks::COIN_TOSS_OPENING)),
        (to(last, Step::LeakyBlocks, 70), caught_by(last, checks::COIN_TOSS_OPENING)),
        (to_all(Step::OwnProductBits, 0), all(checks::ZERO)),
        (to(last, Step::ProductBitsCommitment, 0), caught_by(last, checks::PRODUCT_BITS)),
        (to(first, Step::ProductBits, 0), caught_by(first, checks::PRODUCT_BITS)),
        (to(first, Step::ZeroBlocks, 7), all(checks::ZERO)),
        (to_all(Step::ZeroBlocks, 7), all(checks::ZERO)),
        (to_all(Step::OwnProduct, 7), all(checks::ZERO)),
        (to(first, Step::ProductCommitment, 7), caught_by(first, checks::ZERO_OPENING)),
        (to(last, Step::Product, 7), caught_by(last, checks::ZERO_OPENING)),
        (to(first, Step::BucketBits, 0), all(checks::BUCKET_BITS)),
        (to_all(Step::BucketBits, 0), all(checks::BUCKET_BITS)),
        (to(last, Step::BucketProof, 0), at_last(checks::BUCKET_BITS)),
        (to_all(Step::BucketProof, 15), all(checks::BUCKET_BITS)),
    ];
    let mut cases: Vec<Case> = lies.into_iter().map(|(lie, expected)| case(liar, lie, expected)).collect();
    // One wrong block passes with probability one half, so many are wrong.
    let blocks = (0..40).map(|block| (liar, to(first, Step::LeakyBlocks, 96 + 16 * block + LAST)));
    cases.push(Case { lies: blocks.collect(), expected: all(checks::ZERO) });
    let blocks = (0..40).map(|block| (liar, to_all(Step::LeakyBlocks, 96 + 16 * block + LAST)));
    cases.push(Case { lies: blocks.collect(), expected: all(checks::ZERO) });
    cases
}

/// Lies of a party in a batch of masks alone, of a program without AND gates.
pub(super) fn masks_alone(seats: Seats, liar: u16) -> Vec<Case> {
    let others = seats.all_but(&[liar]);
    let (first, last) = (others[0], others[others.len() - 1]);
    let all = || somebody(checks::ECHO, others.clone());
    let caught_by = |finder: u16, check| at([finder], End::Caught(liar, check));
    let lies = [
        (to(first, Step::BitsEcho, 3), somebody(checks::ECHO, [first])),
        (to(last, Step::BitsEcho, 31), somebody(checks::ECHO, [last])),
        (to_all(Step::BitsEcho, 0), all()),
        (to(last, Step::Bits, 2), all()),
        (to(first, Step::Bits, -1), all()),
        (to(first, Step::CoinCommitments, 0), caught_by(first, checks::COIN_TOSS_OPENING)),
        (to(last, Step::Coins, 0), caught_by(last, checks::COIN_TOSS_OPENING)),
        (to(first, Step::Answers, 500), at([first], End::CaughtInOt(liar))),
        (to(last, Step::Answers, -20), somebody(checks::ECHO, [last])),
    ];
    lies.into_iter().map(|(lie, expected)| case(liar, lie, expected)).collect()
}

/// The seats, each with a garbler and the evaluator as liars.
fn liars() -> impl Iterator<Item = (Seats, u16)> {
    [(SEATS[0], 0), (SEATS[0], 1), (SEATS[1], 1), (SEATS[1], 3)].into_iter()
}

#[test]
fn whoever_lies_in_a_batch_is_found() {
    for (seats, liar) in liars() {
        let program = seats.product();
        for (number, case) in batch(seats, liar).iter().enumerate() {
            check(&program, seats.config(ResultCheck::Tags), (seats, case), (0, number as u64));
        }
    }
}

#[test]
fn whoever_lies_in_a_batch_of_masks_alone_is_found() {
    for (seats, liar) in liars() {
        let program = seats.sum();
        for (number, case) in masks_alone(seats, liar).iter().enumerate() {
            check(&program, seats.config(ResultCheck::Tags), (seats, case), (0, number as u64));
        }
    }
}
