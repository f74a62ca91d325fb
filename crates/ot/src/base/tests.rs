use garblet_net::Channel;
use garblet_primitives::{Block, Prg};

use super::cost::FIRST_POINTS;
use super::*;
use crate::bit_vec::BitVec;
use crate::error::OtError;
use crate::group;
use crate::testing::{block_on, channels};

/// Plays the peer's part, listens until the connection ends or times out, and leaves.
async fn misbehave(peer: impl AsyncFnOnce(&mut Channel), mut channel: Channel) {
    peer(&mut channel).await;
    channel.flush().await.ok();
    while channel.receive_bytes(&mut [0]).await.is_ok() {}
}

/// The honest party's result, while the other party keeps running.
async fn first_of<T>(honest: impl Future<Output = T>, dishonest: impl Future<Output = ()>) -> T {
    tokio::select! {
        result = honest => result,
        () = async { dishonest.await; std::future::pending().await } => unreachable!("it is pending forever"),
    }
}

/// Runs an honest sender against a peer that receives the other end of the channel.
fn against_receiver(peer: impl AsyncFnOnce(&mut Channel)) -> OtError {
    let (mut ours, theirs) = channels();
    block_on(async {
        let honest = async {
            let challenged = send(&mut ours, &mut Prg::new(Block::ONES)).await?;
            challenged.check_answer(&mut ours).await.map(|_| ())
        };
        first_of(honest, misbehave(peer, theirs)).await
    })
    .expect_err("the sender notices")
}

/// Runs an honest receiver against a peer.
fn against_sender(peer: impl AsyncFnOnce(&mut Channel)) -> OtError {
    let (mut ours, theirs) = channels();
    block_on(async {
        let choices = BitVec::zeros(BASE_OTS);
        let mut rng = Prg::new(Block::ONES);
        let honest = receive(&mut ours, &choices, &mut rng);
        first_of(honest, misbehave(peer, theirs)).await.map(|_| ())
    })
    .expect_err("the receiver notices")
}

fn honest_run(choices: &BitVec, seed: u128) -> (Vec<[Block; 2]>, Vec<Block>, [garblet_net::Traffic; 2]) {
    let (mut ours, mut theirs) = channels();
    block_on(async {
        let sender = async {
            let mut rng = Prg::new(Block::from_u128(seed));
            let challenged = send(&mut ours, &mut rng).await?;
            let pads = challenged.pads().to_vec();
            let session = challenged.session();
            challenged.check_answer(&mut ours).await?;
            Ok::<_, OtError>((pads, session))
        };
        let receiver = async {
            let mut rng = Prg::new(Block::from_u128(!seed));
            let chosen = receive(&mut theirs, choices, &mut rng).await?;
            theirs.flush().await?;
            Ok::<_, OtError>(chosen)
        };
        let (sent, chosen) = tokio::join!(sender, receiver);
        let ((pads, session), chosen) = (sent.unwrap(), chosen.unwrap());
        assert!(session == chosen.session());
        (pads, chosen.pads().to_vec(), [ours.traffic(), theirs.traffic()])
    })
}

#[test]
fn the_receiver_gets_the_chosen_pad_and_not_the_other() {
    for seed in 0..3 {
        let choices = BitVec::random(BASE_OTS, &mut Prg::new(Block::from_u128(100 + seed)));
        let (pads, chosen, _) = honest_run(&choices, seed);
        for (i, choice) in choices.iter().enumerate() {
            assert!(chosen[i] == pads[i][usize::from(choice.number())]);
            assert!(chosen[i] != pads[i][usize::from((!choice).number())]);
        }
    }
}

#[test]
fn measured_cost_matches_the_formula_for_all_choices() {
    for byte in [0, 0xff, 0x5a] {
        let choices = BitVec::from_bytes(vec![byte; BASE_OTS / 8], BASE_OTS).unwrap();
        let (_, _, [sender, receiver]) = honest_run(&choices, 7);
        assert_eq!((sender.bytes_sent, sender.bytes_received, sender.rounds), (SENDER_BYTES, RECEIVER_BYTES, 1));
        assert_eq!((receiver.bytes_sent, receiver.bytes_received, receiver.rounds), (RECEIVER_BYTES, SENDER_BYTES, 1));
    }
}

#[test]
fn a_seed_gives_a_known_transcript() {
    let choices = BitVec::from_bytes((0..16).map(|i| i * 17).collect(), BASE_OTS).unwrap();
    let (pads, _, _) = honest_run(&choices, 1);
    let mut hash = blake3::Hasher::new();
    pads.as_flattened().iter().for_each(|pad| _ = hash.update(&pad.to_bytes()));
    assert_eq!(hash.finalize().to_hex().as_str(), GOLDEN_PADS);
}

const GOLDEN_PADS: &str = "086c4a0a669334cd104e7db73fb6c5eebd46392b95752325f57391e217c42644";

#[test]
fn a_wrong_number_of_choices_is_refused() {
    let (mut ours, _theirs) = channels();
    let choices = BitVec::zeros(BASE_OTS - 1);
    let error = block_on(receive(&mut ours, &choices, &mut Prg::new(Block::ZERO))).err();
    assert!(matches!(error, Some(OtError::WrongLength { expected: BASE_OTS, got: 127, .. })));
}

#[test]
fn invalid_points_are_refused_by_the_sender() {
    for index in [0, FIRST_POINTS - 1, FIRST_POINTS, BASE_OTS - 1] {
        let error = against_receiver(async |channel| {
            let mut points = [group::BASEPOINT.to_bytes(); BASE_OTS];
            points[index] = [0xff; 32];
            channel.send_bytes(&[1; 32]).await.unwrap();
            channel.send_bytes(points.as_flattened()).await.unwrap();
        });
        assert!(matches!(error, OtError::InvalidPoint { index: at, .. } if at == index), "{error}");
        assert_eq!(error.check(), Some(crate::OtCheck::PointEncoding));
    }
}

#[test]
fn the_identity_is_refused_by_the_sender() {
    for index in [0, BASE_OTS - 1] {
        let error = against_receiver(async |channel| {
            let mut points = [group::BASEPOINT.to_bytes(); BASE_OTS];
            points[index] = [0; 32];
            channel.send_bytes(&[1; 32]).await.unwrap();
            channel.send_bytes(points.as_flattened()).await.unwrap();
        });
        assert!(matches!(error, OtError::IdentityPoint { index: at, .. } if at == index), "{error}");
    }
}

#[test]
fn a_message_that_ends_early_is_an_error_for_the_sender() {
    for bytes in [0, 31, 32, 32 + 32 * FIRST_POINTS - 1, 32 + 32 * BASE_OTS - 1] {
        let error = against_receiver(async |channel| {
            let valid = [[1; 32], group::BASEPOINT.to_bytes()];
            let message = [&valid[..1], &[valid[1]; BASE_OTS]].concat();
            channel.send_bytes(&message.as_flattened()[..bytes]).await.unwrap();
            channel.set_timeout(std::time::Duration::from_millis(1));
        });
        assert!(matches!(error, OtError::Net(_)), "{error}");
    }
}

#[test]
fn a_wrong_answer_is_refused_by_the_sender() {
    let error = against_receiver(async |channel| {
        channel.send_bytes(&[1; 32]).await.unwrap();
        channel.send_bytes([group::BASEPOINT.to_bytes(); BASE_OTS].as_flattened()).await.unwrap();
        let mut reply = vec![0; SENDER_BYTES as usize];
        channel.receive_bytes(&mut reply).await.unwrap();
        channel.send_bytes(&[0; 32]).await.unwrap();
    });
    assert!(matches!(error, OtError::WrongAnswer), "{error}");
}

/// An otherwise honest receiver whose answer is changed in one byte on its way.
#[test]
fn every_byte_of_the_answer_is_compared() {
    for at in [None, Some(0), Some(15), Some(16), Some(31)] {
        let (mut sender, mut middle_s) = channels();
        let (mut receiver, mut middle_r) = channels();
        let choices = BitVec::from_bytes(vec![0xa5; BASE_OTS / 8], BASE_OTS).unwrap();
        let result = block_on(async {
            let send = async {
                let mut rng = Prg::new(Block::ZERO);
                send(&mut sender, &mut rng).await?.check_answer(&mut sender).await
            };
            let receive = async {
                let mut rng = Prg::new(Block::ONES);
                receive(&mut receiver, &choices, &mut rng).await.unwrap();
                receiver.flush().await.unwrap();
            };
            let forward = async {
                let mut offer = vec![0; 32 + 32 * BASE_OTS];
                middle_r.receive_bytes(&mut offer).await.unwrap();
                middle_s.send_bytes(&offer).await.unwrap();
                let mut reply = vec![0; SENDER_BYTES as usize];
                middle_s.receive_bytes(&mut reply).await.unwrap();
                middle_r.send_bytes(&reply).await.unwrap();
                middle_r.flush().await.unwrap();
                let mut answer = [0; 32];
                middle_r.receive_bytes(&mut answer).await.unwrap();
                at.into_iter().for_each(|at: usize| answer[at] ^= 1);
                middle_s.send_bytes(&answer).await.unwrap();
                middle_s.flush().await.unwrap();
            };
            tokio::join!(send, receive, forward).0
        });
        match at {
            None => assert!(result.is_ok()),
            Some(at) => assert!(matches!(result.err(), Some(OtError::WrongAnswer)), "byte {at}"),
        }
    }
}

#[test]
fn a_bad_group_element_is_refused_by_the_receiver() {
    for (bytes, identity) in [([0; 32], true), ([0xff; 32], false), ([1; 32], false)] {
        let error = against_sender(async |channel| {
            let mut offer = vec![0; 32 + 32 * BASE_OTS];
            channel.receive_bytes(&mut offer).await.unwrap();
            channel.send_bytes(&bytes).await.unwrap();
            channel.send_bytes(&vec![0; SENDER_BYTES as usize - 32]).await.unwrap();
        });
        match error {
            OtError::IdentityPoint { .. } => assert!(identity),
            OtError::InvalidPoint { .. } => assert!(!identity),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn challenges_that_do_not_fit_the_proof_are_refused_by_the_receiver() {
    let error = against_sender(async |channel| {
        let mut offer = vec![0; 32 + 32 * BASE_OTS];
        channel.receive_bytes(&mut offer).await.unwrap();
        channel.send_bytes(group::BASEPOINT.as_bytes()).await.unwrap();
        channel.send_bytes(&vec![3; SENDER_BYTES as usize - 32]).await.unwrap();
    });
    assert!(matches!(error, OtError::InconsistentChallenges), "{error}");
}

/// An otherwise honest sender that flips one bit of challenge `at` fails for some choices and not for others. The paper
/// allows this leak. With choice one everywhere, the receiver uses every challenge.
#[test]
fn one_flipped_challenge_is_refused_by_the_receiver() {
    for at in [0, BASE_OTS - 1] {
        let (mut sender, mut middle_s) = channels();
        let (mut receiver, mut middle_r) = channels();
        let choices = BitVec::from_bytes(vec![0xff; BASE_OTS / 8], BASE_OTS).unwrap();
        let error = block_on(async {
            let send = async {
                let mut rng = Prg::new(Block::ZERO);
                _ = send(&mut sender, &mut rng).await;
                sender.flush().await.ok();
            };
            let forward = async {
                let mut offer = vec![0; 32 + 32 * BASE_OTS];
                middle_r.receive_bytes(&mut offer).await.unwrap();
                middle_s.send_bytes(&offer).await.unwrap();
                let mut reply = vec![0; SENDER_BYTES as usize];
                middle_s.receive_bytes(&mut reply).await.unwrap();
                reply[32 + 16 * at] ^= 1;
                middle_r.send_bytes(&reply).await.unwrap();
                middle_r.flush().await.unwrap();
            };
            let mut rng = Prg::new(Block::ONES);
            tokio::join!(receive(&mut receiver, &choices, &mut rng), send, forward).0.err()
        });
        assert!(matches!(error, Some(OtError::InconsistentChallenges)));
    }
}
