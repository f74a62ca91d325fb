use garblet_primitives::Prg;
use proptest::prelude::*;

use super::*;
use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::ideal;
use crate::random::{RandomOtReceiver, RandomOtSender};
use crate::test_run::{block_on, channels};

fn delta() -> Delta {
    Delta::random(&mut Prg::new(Block::from_u128(9)))
}

fn correlated(n: usize) -> (PreparedCotSender, PreparedCotReceiver) {
    let (mut sender, mut receiver) = ideal::pair(Block::from_u128(n as u128), &delta());
    let (mut ours, mut theirs) = channels();
    let q = block_on(sender.extend(&mut ours, n)).unwrap();
    let (choices, t) = block_on(receiver.extend_random(&mut theirs, n)).unwrap();
    (PreparedCotSender::new(&delta(), q), PreparedCotReceiver::new(choices, t).unwrap())
}

fn random(n: usize) -> (PreparedSender, PreparedReceiver) {
    let (sender, receiver) = ideal::pair(Block::from_u128(n as u128), &delta());
    let (mut ours, mut theirs) = channels();
    let pads = block_on(RandomOtSender::new(sender).extend(&mut ours, n)).unwrap();
    let (choices, blocks) = block_on(RandomOtReceiver::new(receiver).extend(&mut theirs, n)).unwrap();
    (PreparedSender::new(pads), PreparedReceiver::new(choices, blocks).unwrap())
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
        let (n, choices) = (bits.len(), bits.iter().copied().collect::<Choices>());
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

        let (sender, receiver) = random(n);
        let messages: Vec<[Block; 2]> = blocks(n, 4).into_iter().zip(blocks(n, 5)).map(<[Block; 2]>::from).collect();
        let (sent, got) = block_on(async { tokio::join!(sender.transfer(&mut ours, &messages), receiver.transfer(&mut theirs, &choices)) });
        sent.unwrap();
        let got = got.unwrap();
        prop_assert!((0..n).all(|i| got[i] == messages[i][usize::from(bits[i])]));
    }
}

#[test]
fn measured_cost_is_the_formula_whatever_the_choices() {
    for n in [1usize, 7, 8, 9, 128] {
        for byte in [0, 0xff, 0x3c] {
            let choices = Choices::from_bytes(vec![byte; n.div_ceil(8)], n).unwrap();
            let (mut ours, mut theirs) = channels();
            let (sender, receiver) = correlated(n);
            let zeros = blocks(n, 3);
            let (sent, got) = block_on(async {
                tokio::join!(sender.transfer(&mut ours, &zeros), receiver.transfer(&mut theirs, &choices))
            });
            sent.and(got.map(|_| ())).unwrap();
            assert_eq!(theirs.traffic().bytes_sent, correction_bytes(n as u64));
            assert_eq!(theirs.traffic().bytes_received, 16 * n as u64);
            assert_eq!((theirs.traffic().rounds, ours.traffic().rounds), (1, 0));
        }
    }
}

#[test]
fn what_was_taken_is_gone() {
    let (mut sender, mut receiver) = correlated(20);
    let (whole, _) = correlated(20);
    for n in [3, 0, 8, 9] {
        assert_eq!((sender.take(n).unwrap().len(), receiver.take(n).unwrap().len()), (n, n));
    }
    assert!(sender.is_empty() && receiver.is_empty() && whole.len() == 20);
    assert!(matches!(sender.take(1), Err(OtError::UsedUp { wanted: 1, left: 0 })));
    assert!(matches!(receiver.take(1), Err(OtError::UsedUp { wanted: 1, left: 0 })));
}

#[test]
fn parts_keep_choices_and_blocks_together() {
    let (mut sender, mut receiver) = random(20);
    for n in [3, 8, 9] {
        let (sender, receiver) = (sender.take(n).unwrap(), receiver.take(n).unwrap());
        for i in 0..n {
            assert!(receiver.blocks[i] == sender.pads[i][usize::from(receiver.choices.get(i))]);
        }
    }
    assert!(sender.take(1).is_err() && receiver.take(1).is_err());
}

#[test]
fn lengths_that_do_not_fit_are_refused_before_anything_is_sent() {
    let (mut ours, mut theirs) = channels();
    let wrong = |error| matches!(error, Some(OtError::WrongLength { expected: 4, got: 5, .. }));
    let (sender, receiver) = correlated(4);
    assert!(wrong(block_on(sender.transfer(&mut ours, &blocks(5, 0))).err()));
    assert!(wrong(block_on(receiver.transfer(&mut theirs, &Choices::zeros(5))).err()));
    let (sender, receiver) = random(4);
    assert!(wrong(block_on(sender.transfer(&mut ours, &[[Block::ZERO; 2]; 5])).err()));
    assert!(wrong(block_on(receiver.transfer(&mut theirs, &Choices::zeros(5))).err()));
    assert!(wrong(correlated(4).0.correct_by(&Choices::zeros(5)).err()));
    assert!(PreparedCotReceiver::new(Choices::zeros(2), Zeroizing::new(blocks(3, 0))).is_err());
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
    assert!(error.is_cheating());
}

async fn correlated_error(channel: &mut Channel) -> OtError {
    let sender = PreparedCotSender::new(&delta(), Zeroizing::new(blocks(4, 0)));
    sender.correct(channel).await.expect_err("refused")
}

#[test]
fn a_peer_that_ends_early_is_an_error() {
    for bytes in [0, 1] {
        let (mut ours, mut theirs) = channels();
        let (sender, _) = random(16);
        let error = block_on(async {
            theirs.send_bytes(&[0; 2][..bytes]).await.unwrap();
            theirs.flush().await.unwrap();
            drop(theirs);
            sender.transfer(&mut ours, &[[Block::ZERO; 2]; 16]).await.err()
        });
        assert!(matches!(error, Some(OtError::Net(_))));
    }
    let (mut ours, mut theirs) = channels();
    let (_, receiver) = correlated(16);
    let error = block_on(async {
        theirs.send_bytes(&[0; 255]).await.unwrap();
        theirs.flush().await.unwrap();
        drop(theirs);
        receiver.transfer(&mut ours, &Choices::zeros(16)).await.err()
    });
    assert!(matches!(error, Some(OtError::Net(_))));
}
