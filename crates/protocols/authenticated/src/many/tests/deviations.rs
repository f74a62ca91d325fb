//! Every deviation in set-up and preparation ends in its check, and those that may pass do so at the rates of the formulas.

use std::collections::BTreeSet;

use garblet_protocol::checks::Unattributed;

use super::{
    lies::{Found, Lie, Once, found},
    *,
};
use crate::{many::checks, tests::is_far};

/// The results of a batch in which party 0 lies.
fn lied(parties: u16, seed: u64, batch: Batch, lie: Lie) -> Vec<Result<Made<Once>, ProtocolError>> {
    let conduct = |party: Party| Once::new((party.0 == 0).then_some(lie));
    make(parties, seed, (Some(batch), 3), conduct)
}

#[test]
fn every_deviation_ends_in_its_check() {
    use Found::{Named, Ots, Somebody};
    let lie = |step, to, byte| Lie { step, to, byte, after: 0 };
    let later = |step, to, byte, after| Lie { step, to, byte, after };
    let deviations = [
        (lie(Step::Nonce, Some(2), 3), Somebody(checks::ECHO)),
        (lie(Step::Name, Some(1), 3), Somebody(checks::ECHO)),
        (lie(Step::Difference, Some(2), 9), Somebody(checks::DIFFERENCES)),
        (lie(Step::DifferenceSums, Some(1), 9), Somebody(checks::DIFFERENCES)),
        (lie(Step::DifferenceCommitment, Some(2), 9), Named(checks::DIFFERENCES_OPENING)),
        (lie(Step::OwnDifferenceProofs, None, 20), Somebody(checks::DIFFERENCES)),
        (lie(Step::DifferenceProofs, Some(1), 20), Named(checks::DIFFERENCES_OPENING)),
        (lie(Step::CoinCommitments, Some(1), 0), Named(checks::COIN_TOSS_OPENING)),
        (lie(Step::Coins, Some(2), 0), Named(checks::COIN_TOSS_OPENING)),
        (later(Step::Coins, Some(2), 40, 1), Named(checks::COIN_TOSS_OPENING)),
        (later(Step::Coins, None, 0, 2), Named(checks::COIN_TOSS_OPENING)),
        (lie(Step::Bits, Some(1), 2), Somebody(checks::ECHO)),
        // The hiding square is bits as all others.
        (lie(Step::Bits, Some(1), 16 * 2 + 2), Somebody(checks::ECHO)),
        (lie(Step::Answers, Some(2), 500), Ots),
        (lie(Step::Answers, Some(2), 2_070), Somebody(checks::ECHO)),
        (lie(Step::LeakyBlocks, Some(1), 5), Somebody(checks::ECHO)),
        (lie(Step::LeakyBlocks, Some(1), 40), Named(checks::COIN_TOSS_OPENING)),
        (lie(Step::OwnProductBits, None, 0), Somebody(checks::ZERO)),
        (lie(Step::ProductBitsCommitment, Some(2), 0), Named(checks::PRODUCT_BITS)),
        (lie(Step::ProductBits, Some(1), 0), Named(checks::PRODUCT_BITS)),
        (lie(Step::ZeroBlocks, Some(1), 7), Somebody(checks::ZERO)),
        (lie(Step::ZeroBlocks, None, 7), Somebody(checks::ZERO)),
        (lie(Step::OwnProduct, None, 7), Somebody(checks::ZERO)),
        (lie(Step::ProductCommitment, Some(1), 7), Named(checks::ZERO_OPENING)),
        (lie(Step::Product, Some(2), 7), Named(checks::ZERO_OPENING)),
        (lie(Step::BucketBits, Some(1), 0), Somebody(checks::BUCKET_BITS)),
        (lie(Step::BucketBits, None, 0), Somebody(checks::BUCKET_BITS)),
        (lie(Step::BucketProof, Some(2), 0), Somebody(checks::BUCKET_BITS)),
    ];
    let batch = Batch { triples: 8, bucket: 2 };
    for (number, (lie, expected)) in deviations.into_iter().enumerate() {
        for parties in [3, 4] {
            let results = lied(parties, 7 + number as u64, batch, lie);
            let what = format!("{:?} to {:?}, {parties} parties", lie.step, lie.to);
            let errors: Vec<&ProtocolError> = results.iter().skip(1).filter_map(|made| made.as_ref().err()).collect();
            // After the last message of a batch those that got a right one hear of it when they go on.
            let unaware = if lie.step == Step::BucketProof { usize::from(parties) - 2 } else { 0 };
            assert!(errors.len() + unaware >= usize::from(parties) - 1, "{what}: {errors:?}");
            let evidence: Vec<Found> = errors.iter().filter_map(|error| found(error, Party(0))).collect();
            assert!(!evidence.is_empty() && evidence.iter().all(|found| *found == expected), "{what}: {errors:?}");
        }
    }
}

/// Parties that compare their errors see who heard the same.
#[test]
fn a_failed_echo_says_what_differs_and_how() {
    let lie = |step, to, byte| Lie { step, to: Some(to), byte, after: 0 };
    for (lie, what) in [
        (lie(Step::Nonce, 2, 3), "the nonces, the program and the parameters"),
        (lie(Step::Answers, 2, 2_070), "the shares of the point of the checks of OTs"),
        (lie(Step::Bits, 1, 2), "the hashes of all parties' bits in the checks of OTs"),
    ] {
        let results = lied(4, 3, Batch { triples: 8, bucket: 2 }, lie);
        let details = results.iter().skip(1).filter_map(|made| match made {
            Err(ProtocolError::Unattributed(Unattributed { detail, .. })) => Some(detail),
            _ => None,
        });
        let mut digests = BTreeSet::new();
        for detail in details {
            let begin = format!("the digests of {what} differ: expected ");
            let pair = detail.strip_prefix(&begin).and_then(|rest| rest.split_once(", got "));
            let (expected, got) = pair.unwrap_or_else(|| panic!("{what}: {detail}"));
            digests.extend([expected, got]);
        }
        assert_eq!(digests.len(), 2, "{what}: {digests:?}");
    }
}

/// The evaluator hands a garbler another value of an output, whatever wire it is.
#[test]
fn a_false_output_of_any_kind_is_found() {
    for check in [ResultCheck::Tags, ResultCheck::Reveal] {
        let config = Config { check, evaluator: 0, ..Config::default() };
        let plan = Arc::new(Plan::new(odd_outputs(), 3, config).expect("it can be run"));
        let inputs = [1, 0].map(|value| Bits::from_u128(value, 1));
        for bit in 0..7 {
            let conduct = |party: Party| FalseOutput((party.0 == 0).then_some(bit));
            let results = run(&plan, bit, &inputs, conduct);
            let Err(error) = &results[1] else { panic!("{check:?}, bit {bit}: it took a false output") };
            assert_eq!(
                found(error, Party(0)),
                Some(Found::Somebody(checks::OUTPUT_LABELS)),
                "{check:?}, bit {bit}: {error}"
            );
            assert!(results[2].is_ok(), "{check:?}, bit {bit}");
        }
    }
}

/// The conduct of an evaluator that hands party 1 another value of an output bit, or is honest.
struct FalseOutput(Option<u64>);

impl Conduct<Step> for FalseOutput {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        if let (Some(bit), Step::HandedOver, 1) = (self.0, step, index) {
            bytes[0] ^= 1 << bit;
        }
    }
}

/// A wrong block `u`, or a wrong block of the test, shows only if a bit of the receiver is one.
#[test]
fn a_wrong_block_passes_half_the_time() {
    const TRIALS: u64 = 120;
    // The last byte of a block: bit 0 of sums would be found always.
    for (step, byte) in [(Step::LeakyBlocks, 96 + 16 * 3 + 15), (Step::ZeroBlocks, 16 + 16 * 9 + 15)] {
        let batch = Batch { triples: 4, bucket: 2 };
        let mut passed = 0;
        for seed in 0..TRIALS {
            let results = lied(3, 1_000 + seed, batch, Lie { step, to: Some(1), byte, after: 0 });
            let is_fine = results.iter().all(Result::is_ok);
            passed += usize::from(is_fine);
            let evidence = results.iter().filter_map(|made| made.as_ref().err());
            let evidence = evidence.filter_map(|error| found(error, Party(0)));
            assert!(evidence.into_iter().all(|found| found == Found::Somebody(checks::ZERO)));
            assert!(is_fine || results.iter().skip(1).all(Result::is_err), "all honest parties agree");
        }
        assert!(!is_far(passed, TRIALS as usize, 0.5), "{step:?}: {passed} of {TRIALS} passed");
    }
}
