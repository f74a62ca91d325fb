//! A peer that deviates, for every check in the crate.

use garblet_net::Channel;
use garblet_primitives::{Block, Prg};

use crate::base::{self, BASE_OTS, RECEIVER_BYTES, SENDER_BYTES};
use crate::bit_vec::BitVec;
use crate::error::{OtCheck, OtError};
use crate::group;
use crate::silent;
use crate::softspoken;
use crate::testing::{block_on, channels};

/// The error of an honest party whose peer deviates.
type Run = fn() -> Option<OtError>;

/// Each check, and a run against a peer that trips it.
const DEVIATIONS: [(OtCheck, Run); 9] = [
    (OtCheck::PointEncoding, || base_sender_meets([0xff; 32])),
    (OtCheck::PointIdentity, || base_sender_meets([0; 32])),
    (OtCheck::Challenges, base_receiver_meets_wrong_challenges),
    (OtCheck::Answer, || base_sender_meets(group::BASEPOINT.to_bytes())),
    (OtCheck::Padding, receiver_of_bits_meets_padding),
    (OtCheck::Trees, softspoken::deviations::wrong_trees),
    (OtCheck::Choices, softspoken::deviations::other_choices),
    (OtCheck::Coin, silent::deviations::another_share),
    (OtCheck::Leaves, silent::deviations::wrong_correction),
];

/// Runs an honest base OT sender against a receiver that sends this value for every point, and zeros for its answer.
fn base_sender_meets(point: [u8; 32]) -> Option<OtError> {
    let (mut ours, mut theirs) = channels();
    block_on(async {
        let mut message = vec![1; 32];
        (0..BASE_OTS).for_each(|_| message.extend(point));
        message.extend([0; 32]);
        assert_eq!(message.len() as u64, RECEIVER_BYTES);
        send(&mut theirs, &message).await;
        match base::send(&mut ours, &mut Prg::new(Block::ONES)).await {
            Ok(challenged) => challenged.check_answer(&mut ours).await.err(),
            Err(error) => Some(error),
        }
    })
}

fn base_receiver_meets_wrong_challenges() -> Option<OtError> {
    let (mut ours, mut theirs) = channels();
    block_on(async {
        let mut message = group::BASEPOINT.to_bytes().to_vec();
        message.resize(SENDER_BYTES as usize, 3);
        send(&mut theirs, &message).await;
        base::receive(&mut ours, &BitVec::zeros(BASE_OTS), &mut Prg::new(Block::ONES)).await.err()
    })
}

fn receiver_of_bits_meets_padding() -> Option<OtError> {
    let (mut ours, mut theirs) = channels();
    block_on(async {
        send(&mut theirs, &[0b1000]).await;
        BitVec::receive(&mut ours, 3, "corrections").await.err()
    })
}

async fn send(channel: &mut Channel, bytes: &[u8]) {
    channel.send_bytes(bytes).await.unwrap();
    channel.flush().await.unwrap();
}

#[test]
fn every_deviation_trips_exactly_its_check() {
    let listed: Vec<OtCheck> = DEVIATIONS.iter().map(|(check, _)| *check).collect();
    assert_eq!(listed, OtCheck::ALL);
    for (check, deviate) in DEVIATIONS {
        let error = deviate().expect("the deviation is found");
        assert_eq!(error.check(), Some(check), "{error}");
    }
}
