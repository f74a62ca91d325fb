use garblet_primitives::Prg;
use proptest::prelude::*;

use super::*;
use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::testing::{block_on, channels, ideal};

fn delta() -> Delta {
    Delta::random(&mut Prg::new(Block::from_u128(9)))
}

fn correlated(n: usize) -> (PrecomputedCotSender, PrecomputedCotReceiver) {
    let (mut sender, mut receiver) = ideal::pair(Block::from_u128(n as u128), &delta());
    let (mut ours, mut theirs) = channels();
    let q = block_on(sender.extend(&mut ours, n)).unwrap();
    let (choices, t) = block_on(receiver.extend_random(&mut theirs, n)).unwrap();
    (PrecomputedCotSender::new(&delta(), q), PrecomputedCotReceiver::new(choices, t).unwrap())
}

fn blocks(n: usize, seed: u128) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; n];
    Prg::new(Block::from_u128(seed)).fill_blocks(&mut blocks);
    blocks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_choice_gets_its_block(bits in proptest::collection::vec(any::<bool>(), 0..140)) {
        let (n, choices) = (bits.len(), bits.iter().copied().collect::<BitVec>());
        let (mut ours, mut theirs) = channels();

        let (sender, receiver) = correlated(n);
        let (zeros, got) = block_on(async { tokio::join!(sender.correct(&mut ours), receiver.correct(&mut theirs, &choices)) });
        let (zeros, got) = (zeros.unwrap(), got.unwrap());
        prop_assert!((0..n).all(|i| got[i] == zeros[i] ^ masked(bits[i], delta().block())));

        let (sender, receiver) = correlated(n);
        let zeros = blocks(n, 3);
        let (sent, got) = block_on(async { tokio::join!(sender.transfer(&mut ours, &zeros), receiver.transfer(&mut theirs, &choices)) });
        sent.unwrap();
        let got = got.unwrap();
        prop_assert!((0..n).all(|i| got[i] == zeros[i] ^ masked(bits[i], delta().block())));
    }
}

#[test]
fn measured_cost_matches_the_formula_for_all_choices() {
    for n in [1usize, 7, 8, 9, 128] {
        for byte in [0, 0xff, 0x3c] {
            let choices = BitVec::from_bytes(vec![byte; n.div_ceil(8)], n).unwrap();
            let (mut ours, mut theirs) = channels();
            let (sender, receiver) = correlated(n);
            let zeros = blocks(n, 3);
            let (sent, got) = block_on(async {
                tokio::join!(sender.transfer(&mut ours, &zeros), receiver.transfer(&mut theirs, &choices))
            });
            sent.and(got.map(|_| ())).unwrap();
            assert_eq!(theirs.traffic().bytes_sent, n.div_ceil(8) as u64);
            assert_eq!(theirs.traffic().bytes_received, 16 * n as u64);
            assert_eq!((theirs.traffic().rounds, ours.traffic().rounds), (1, 0));
        }
    }
}

#[test]
fn lengths_that_do_not_fit_are_refused_before_anything_is_sent() {
    let (mut ours, mut theirs) = channels();
    let wrong = |error| matches!(error, Some(OtError::WrongLength { expected: 4, got: 5, .. }));
    let (sender, receiver) = correlated(4);
    assert!(wrong(block_on(sender.transfer(&mut ours, &blocks(5, 0))).err()));
    assert!(wrong(block_on(receiver.transfer(&mut theirs, &BitVec::zeros(5))).err()));
    assert!(wrong(correlated(4).0.correct_by(&BitVec::zeros(5)).err()));
    assert!(PrecomputedCotReceiver::new(BitVec::zeros(2), Zeroizing::new(blocks(3, 0))).is_err());
    assert_eq!((ours.traffic(), theirs.traffic()), Default::default());
}

#[test]
fn corrections_with_padding_that_is_not_zero_are_refused() {
    let (mut ours, mut theirs) = channels();
    let error = block_on(async {
        theirs.send_bytes(&[0xf0]).await.unwrap();
        theirs.flush().await.unwrap();
        correlated_error(&mut ours).await
    });
    assert!(matches!(error, OtError::NonZeroPadding { bits: 4, .. }), "{error}");
    assert_eq!(error.check(), Some(crate::OtCheck::Padding));
}

async fn correlated_error(channel: &mut Channel) -> OtError {
    let sender = PrecomputedCotSender::new(&delta(), Zeroizing::new(blocks(4, 0)));
    sender.correct(channel).await.expect_err("refused")
}

#[test]
fn a_peer_that_ends_early_is_an_error() {
    for bytes in [0, 1] {
        let (mut ours, mut theirs) = channels();
        let (sender, _) = correlated(16);
        let error = block_on(async {
            theirs.send_bytes(&[0; 2][..bytes]).await.unwrap();
            theirs.flush().await.unwrap();
            drop(theirs);
            sender.transfer(&mut ours, &blocks(16, 0)).await.err()
        });
        assert!(matches!(error, Some(OtError::Net(_))));
    }
    let (mut ours, mut theirs) = channels();
    let (_, receiver) = correlated(16);
    let error = block_on(async {
        theirs.send_bytes(&[0; 255]).await.unwrap();
        theirs.flush().await.unwrap();
        drop(theirs);
        receiver.transfer(&mut ours, &BitVec::zeros(16)).await.err()
    });
    assert!(matches!(error, Some(OtError::Net(_))));
}
