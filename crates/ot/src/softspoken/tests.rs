use garblet_net::{Channel, Message, NetError, Traffic};
use garblet_primitives::{Block, Delta, Prg};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::hello::SetupHello;
use super::*;
use crate::base;
use crate::bit_vec::masked;
use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::error::OtError;
use crate::testing::{block_on, channels};

struct Session {
    sender: CotSender,
    receiver: CotReceiver,
    ours: Channel,
    theirs: Channel,
}

fn session(width: Width) -> Session {
    let (mut ours, mut theirs) = channels();
    let delta = Delta::random(&mut Prg::new(Block::from_u128(1)));
    let (sender, receiver) = block_on(async {
        let (mut a, mut b) = (Prg::new(Block::from_u128(2)), Prg::new(Block::from_u128(3)));
        tokio::join!(CotSender::setup(&mut ours, &mut a, &delta, width), CotReceiver::setup(&mut theirs, &mut b, width))
    });
    Session { sender: sender.unwrap(), receiver: receiver.unwrap(), ours, theirs }
}

impl Session {
    fn extend(&mut self, n: usize) -> (Zeroizing<Vec<Block>>, crate::BitVec, Zeroizing<Vec<Block>>) {
        let (q, received) = block_on(async {
            tokio::join!(self.sender.extend(&mut self.ours, n), self.receiver.extend_random(&mut self.theirs, n))
        });
        let (choices, t) = received.unwrap();
        (q.unwrap(), choices, t)
    }

    fn traffic(&self) -> (Traffic, Traffic) {
        (self.ours.traffic(), self.theirs.traffic())
    }
}

#[test]
fn the_correlation_holds_at_every_boundary() {
    for width in Width::ALL {
        let mut session = session(width);
        let delta = session.sender.delta().block();
        for n in [0, 1, 127, 128, 129, BATCH_OTS - 1, BATCH_OTS, BATCH_OTS + 1, 2 * BATCH_OTS + 129] {
            let (q, choices, t) = session.extend(n);
            assert_eq!((q.len(), choices.len(), t.len()), (n, n, n));
            assert!((0..n).all(|i| t[i] == q[i] ^ masked(choices.get(i), delta)), "k = {}, n = {n}", width.bits());
            let ones = choices.public("a test").filter(|&choice| choice).count();
            assert!(n < 1000 || ones.abs_diff(n / 2) < n / 10, "{ones} of {n} choices are one");
        }
    }
}

#[test]
fn ots_in_parts_are_the_same_ots_at_every_boundary() {
    let (mut whole, mut parts) = (session(Width::Four), session(Width::Four));
    for n in [0, 1, 129, BATCH_OTS - 1, BATCH_OTS, 2 * BATCH_OTS + 129] {
        let (q, choices, t) = whole.extend(n);
        let (mut seen, mut changed) = (Vec::new(), 0);
        let (sent, received) = block_on(async {
            let see = |q: &[Block]| seen.extend_from_slice(q);
            let change = |t: &mut [Block]| {
                t.iter_mut().for_each(|t| *t ^= Block::ONES);
                changed += t.len();
            };
            let Session { sender, receiver, ours, theirs } = &mut parts;
            let room = Zeroizing::new(vec![Block::ONES; BATCH_OTS]);
            tokio::join!(sender.extend_in_parts(ours, n, see), receiver.extend_random_in_parts(theirs, n, room, change))
        });
        sent.unwrap();
        let (same_choices, blocks) = received.unwrap();
        assert!(seen == *q && changed == n, "{n} OTs");
        assert_eq!(same_choices.as_bytes(), choices.as_bytes());
        assert!(blocks.iter().zip(&*t).all(|(&block, &t)| block == t ^ Block::ONES) && blocks.len() == n, "{n} OTs");
        assert_eq!(parts.traffic(), whole.traffic());
    }
}

#[test]
fn extensions_by_whole_batches_agree_with_one_extension() {
    let Session { mut sender, mut receiver, mut ours, mut theirs } = session(Width::Four);
    let (all, parts) = block_on(async {
        let parts = async {
            let first = receiver.extend_random(&mut theirs, 2 * BATCH_OTS).await.unwrap();
            [first, receiver.extend_random(&mut theirs, 129).await.unwrap()]
        };
        tokio::join!(sender.extend(&mut ours, 2 * BATCH_OTS + 129), parts)
    });
    let received = parts.iter().flat_map(|(choices, t)| choices.iter().zip(t.iter()));
    let delta = sender.delta().block();
    assert!(received.map(|(choice, t)| *t ^ masked(choice, delta)).eq(all.unwrap().iter().copied()));
}

#[test]
fn no_two_extensions_are_equal() {
    let mut session = session(Width::Four);
    let (q0, c0, _) = session.extend(200);
    let (q1, c1, _) = session.extend(200);
    assert!(q0.iter().all(|q| !q1.contains(q)));
    assert!(c0.as_bytes() != c1.as_bytes());
}

#[test]
fn measured_cost_is_the_formula() {
    for width in Width::ALL {
        let mut session = session(width);
        let (ours, theirs) = session.traffic();
        assert_eq!(ours.bytes_sent, width.sender_setup_bytes());
        assert_eq!(theirs.bytes_sent, width.receiver_setup_bytes());
        assert_eq!((ours.bytes_received, theirs.bytes_received), (theirs.bytes_sent, ours.bytes_sent));
        assert_eq!((ours.rounds, theirs.rounds), (2, 1));
        for n in [0, 1, 128, 129, BATCH_OTS + 1] {
            let (ours, theirs) = session.traffic();
            session.extend(n);
            let (after_ours, after_theirs) = session.traffic();
            assert_eq!((after_ours - ours).bytes_sent, 0);
            assert_eq!((after_theirs - theirs).bytes_sent, width.extension_bytes(n as u64));
            assert_eq!((after_ours - ours).bytes_received, width.extension_bytes(n as u64));
            // One-way traffic: the sender sends nothing, so its wait starts no round, and the receiver never waits.
            assert_eq!(((after_ours - ours).rounds, (after_theirs - theirs).rounds), (0, 0));
        }
    }
}

#[test]
fn a_seed_gives_known_blocks() {
    for (width, golden) in Width::ALL.into_iter().zip(GOLDEN) {
        let mut session = session(width);
        let mut hash = blake3::Hasher::new();
        for n in [5, 300] {
            let (q, choices, t) = session.extend(n);
            hash.update(choices.as_bytes());
            q.iter().chain(t.iter()).for_each(|block| _ = hash.update(&block.to_bytes()));
        }
        assert_eq!(hash.finalize().to_hex().as_str(), golden, "k = {}", width.bits());
    }
}

const GOLDEN: [&str; 3] = [
    "356441161ed69342fd1e5e2b5b0a5a33613abffe28b92021d6cf1af8ca220c37",
    "585080e153597a56b9ee9c81590b55ed292f0677acc3828f2ab69e0667fe722d",
    "ea0d58464be4eb1cf182d7e4a8a6c6e966aa195b25b3f6a1960e96141c16689f",
];

#[test]
fn widths_are_two_four_and_eight() {
    for width in Width::ALL {
        assert_eq!(Width::try_from(width.bits() as u8), Ok(width));
    }
    for bits in [0, 1, 3, 5, 16, 255] {
        assert!(Width::try_from(bits).unwrap_err().contains(&format!("got {bits}")));
    }
}

#[test]
fn another_width_of_the_peer_is_refused() {
    let (mut ours, mut theirs) = channels();
    let error = block_on(async {
        ours.send(&SetupHello::new(Width::Eight, None)).await.unwrap();
        ours.flush().await.unwrap();
        CotReceiver::setup(&mut theirs, &mut Prg::new(Block::ZERO), Width::Four).await.err()
    });
    let text = error.expect("the widths differ").to_string();
    assert_eq!(text, "the peer extends OTs in another form: expected k = 4 without checks, got k = 8 without checks");
}

/// A hello of a width that does not exist, encoded like an honest one.
#[derive(Serialize, Deserialize)]
struct LyingHello(u8);

impl Message for LyingHello {
    const NAME: &'static str = "lie";
    const KIND: u8 = SetupHello::KIND;
    const MAX_BYTES: usize = 1;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn a_form_that_does_not_exist_is_malformed() {
    for lie in [3, 0, 0x34, 0xf2] {
        let (mut ours, mut theirs) = channels();
        let error = block_on(async {
            ours.send(&LyingHello(lie)).await.unwrap();
            ours.flush().await.unwrap();
            CotReceiver::setup(&mut theirs, &mut Prg::new(Block::ZERO), Width::Four).await.err()
        });
        assert!(matches!(error, Some(OtError::Net(NetError::Malformed { .. }))), "{lie}");
    }
}

#[test]
fn a_receiver_that_sends_points_instead_of_a_hello_is_refused() {
    let (mut ours, mut theirs) = channels();
    let error = block_on(async {
        ours.send_bytes(&[0; 64]).await.unwrap();
        ours.flush().await.unwrap();
        CotReceiver::setup(&mut theirs, &mut Prg::new(Block::ZERO), Width::Four).await.err()
    });
    assert!(matches!(error, Some(OtError::Net(NetError::Unexpected { .. }))));
}

#[test]
fn a_setup_that_ends_early_is_an_error_for_both() {
    let (mut ours, mut theirs) = channels();
    let error = block_on(async {
        let delta = Delta::new(Block::ONES);
        let mut rng = Prg::new(Block::ZERO);
        let honest = CotSender::setup(&mut ours, &mut rng, &delta, Width::Four);
        let peer = async {
            // Run the base OTs correctly; make the tree corrections one byte short.
            theirs.receive::<SetupHello>().await.unwrap();
            let challenged = base::send(&mut theirs, &mut Prg::new(Block::ONES)).await.unwrap();
            theirs.send_bytes(&vec![0; 16 * Width::Four.corrections() - 1]).await.unwrap();
            theirs.flush().await.unwrap();
            drop((challenged, theirs));
        };
        tokio::join!(honest, peer).0.err()
    });
    assert!(matches!(error, Some(OtError::Net(_))));
}

#[test]
fn corrections_that_end_early_are_an_error() {
    for short in [0, 1, 31 * 16 - 1] {
        let Session { mut sender, mut ours, mut theirs, .. } = session(Width::Four);
        let error = block_on(async {
            theirs.send_bytes(&vec![0; short]).await.unwrap();
            theirs.flush().await.unwrap();
            drop(theirs);
            sender.extend(&mut ours, 128).await.err()
        });
        assert!(matches!(error, Some(OtError::Net(_))));
    }
}

/// Without the consistency check, wrong corrections pass and corrupt exactly the OTs of their rows, so this protocol must not
/// be called secure against malicious receivers.
#[test]
fn wrong_corrections_spoil_their_rows_only() {
    let Session { mut sender, mut receiver, mut ours, mut theirs } = session(Width::Four);
    let delta = sender.delta().block();
    let (mut relay_in, mut relay_out) = channels();
    let (q, received) = block_on(async {
        let receive = receiver.extend_random(&mut relay_in, 128);
        let relay = async {
            let mut bytes = vec![0; Width::Four.extension_bytes(128) as usize];
            relay_out.receive_bytes(&mut bytes).await.unwrap();
            bytes[..16].iter_mut().for_each(|byte| *byte ^= 1);
            theirs.send_bytes(&bytes).await.unwrap();
            theirs.flush().await.unwrap();
        };
        let (received, ()) = tokio::join!(receive, relay);
        (sender.extend(&mut ours, 128).await.unwrap(), received.unwrap())
    });
    let (choices, t) = received;
    // Columns 4 to 7 of delta belong to the second tree.
    let spoiled = delta & Block::from_u128(0xf0);
    for i in 0..128 {
        let expected = t[i] ^ masked(choices.get(i), delta) ^ masked(i % 8 == 0, spoiled);
        assert!(q[i] == expected);
    }
}
