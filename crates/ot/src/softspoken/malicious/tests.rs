use garblet_net::Traffic;

use super::*;
use crate::bit_vec::masked;
use crate::testing::{block_on, channels};

const FORMS: [(Width, StatisticalSecurity); 4] = [
    (Width::Two, StatisticalSecurity::Forty),
    (Width::Four, StatisticalSecurity::Forty),
    (Width::Four, StatisticalSecurity::Eighty),
    (Width::Eight, StatisticalSecurity::Eighty),
];

struct Session {
    sender: MaliciousCotSender,
    receiver: MaliciousCotReceiver,
    ours: Channel,
    theirs: Channel,
}

fn session(width: Width, sigma: StatisticalSecurity) -> Session {
    let (mut ours, mut theirs) = channels();
    let delta = Delta::random(&mut Prg::new(Block::from_u128(1)));
    let (sender, receiver) = block_on(async {
        let (mut a, mut b) = (Prg::new(Block::from_u128(2)), Prg::new(Block::from_u128(3)));
        tokio::join!(
            MaliciousCotSender::setup(&mut ours, &mut a, &delta, width, sigma),
            MaliciousCotReceiver::setup(&mut theirs, &mut b, width, sigma)
        )
    });
    Session { sender: sender.unwrap(), receiver: receiver.unwrap(), ours, theirs }
}

type Extended = (Result<Zeroizing<Vec<Block>>, OtError>, Result<(BitVec, Zeroizing<Vec<Block>>), OtError>);

impl Session {
    fn extend(&mut self, n: usize) -> Extended {
        block_on(async {
            tokio::join!(self.sender.extend(&mut self.ours, n), self.receiver.extend_random(&mut self.theirs, n))
        })
    }

    fn traffic(&self) -> (Traffic, Traffic) {
        (self.ours.traffic(), self.theirs.traffic())
    }

    /// Extends by `n` while a third party changes the receiver's corrections and digest.
    fn extend_altered(
        &mut self,
        n: usize,
        corrections: impl FnOnce(&mut [u8]),
        digest: impl FnOnce(&mut [u8]),
    ) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let (mut relay_in, mut relay_out) = channels();
        let Session { sender, receiver, ours, theirs } = self;
        let (width, sigma) = (receiver.inner.width, receiver.sigma);
        block_on(async {
            let relay = async {
                let mut bytes = vec![0; width.extension_bytes(with_hiding(n) as u64) as usize];
                relay_out.receive_bytes(&mut bytes).await?;
                corrections(&mut bytes);
                theirs.send_bytes(&bytes).await?;
                let mut point = [0; 16];
                theirs.receive_bytes(&mut point).await?;
                relay_out.send_bytes(&point).await?;
                let mut bytes = vec![0; sigma.digest_bytes()];
                relay_out.receive_bytes(&mut bytes).await?;
                digest(&mut bytes);
                theirs.send_bytes(&bytes).await?;
                theirs.flush().await
            };
            let (sent, _, relayed) =
                tokio::join!(sender.extend(ours, n), receiver.extend_random(&mut relay_in, n), relay);
            relayed.unwrap();
            sent
        })
    }
}

#[test]
fn the_correlation_holds_and_the_cost_is_the_formula() {
    for (width, sigma) in FORMS {
        let mut session = session(width, sigma);
        let (ours, theirs) = session.traffic();
        assert_eq!(ours.bytes_sent, width.sender_setup_bytes());
        assert_eq!(theirs.bytes_sent, width.receiver_setup_bytes() + width.malicious_setup_bytes());
        let delta = session.sender.delta().block();
        for n in [0, 1, 127, 128, 129, 60 * SQUARE, 60 * SQUARE + 1] {
            let (ours, theirs) = session.traffic();
            let (q, received) = session.extend(n);
            let (q, (choices, t)) = (q.unwrap(), received.unwrap());
            assert_eq!((q.len(), choices.len(), t.len()), (n, n, n));
            assert!((0..n).all(|i| t[i] == q[i] ^ masked(choices.get(i), delta)), "{width:?}, n = {n}");
            let (after_ours, after_theirs) = session.traffic();
            let sent = [(after_ours - ours).bytes_sent, (after_theirs - theirs).bytes_sent];
            assert_eq!(sent, width.malicious_extension_bytes(n as u64, sigma), "{width:?}, {sigma:?}, n = {n}");
        }
    }
}

/// The choices, the sender's blocks, and the receiver's answer with its choices and blocks.
type Given = (Vec<Block>, Result<Zeroizing<Vec<Block>>, OtError>, (Vec<u8>, BitVec, Zeroizing<Vec<Block>>));

/// Extends to given choices while a third party changes the corrections.
fn extend_given(session: &mut Session, squares: usize, change: impl FnOnce(&mut [u8])) -> Given {
    let mut rng = Prg::new(Block::from_u128(squares as u128));
    let choices: Vec<Block> = (0..squares).map(|_| rng.next_block()).collect();
    let (mut relay_in, mut relay_out) = channels();
    let Session { sender, receiver, ours, theirs } = session;
    let bytes = receiver.inner.width.given_extension_bytes(squares as u64) as usize;
    let (unchecked, corrected) = block_on(async {
        let relay = async {
            let mut corrections = vec![0; bytes];
            relay_out.receive_bytes(&mut corrections).await.unwrap();
            change(&mut corrections);
            theirs.send_bytes(&corrections).await.unwrap();
            theirs.flush().await.unwrap();
        };
        let (unchecked, corrected, ()) = tokio::join!(
            sender.receive_given(ours, SQUARE * (squares - 1), Zeroizing::default()),
            receiver.correct_to(&mut relay_in, &choices, Zeroizing::default()),
            relay
        );
        (unchecked.unwrap(), corrected.unwrap())
    });
    let point = sender.point();
    let answered = receiver.answer(corrected, point);
    (choices, sender.check(unchecked, point, &answered.0), answered)
}

#[test]
fn given_choices_are_those_of_all_trees() {
    for (width, sigma) in FORMS {
        let mut session = session(width, sigma);
        let delta = session.sender.delta().block();
        // OTs with drawn choices come between, from the same streams.
        for squares in [2, 3, 62] {
            let (given, q, (_, choices, t)) = extend_given(&mut session, squares, |_| {});
            let (q, n) = (q.unwrap(), SQUARE * (squares - 1));
            assert_eq!((q.len(), choices.len(), t.len()), (n, n, n));
            assert!(choices.as_bytes() == &bytemuck::cast_slice::<Block, u8>(&given)[..n / 8]);
            assert!((0..n).all(|i| t[i] == q[i] ^ masked(choices.get(i), delta)), "{width:?}, {squares} squares");
            let (q, received) = session.extend(130);
            let (q, (choices, t)) = (q.unwrap(), received.unwrap());
            assert!((0..130).all(|i| t[i] == q[i] ^ masked(choices.get(i), delta)));
        }
    }
}

/// The same choices give the same hash at the same point, whoever the sender is.
#[test]
fn the_hash_of_given_choices_depends_on_nothing_else() {
    let digest = |width| {
        let mut session = session(width, StatisticalSecurity::Eighty);
        extend_given(&mut session, 3, |_| {}).2.0
    };
    let [first, second] = [Width::Four, Width::Eight].map(digest);
    assert!(first[..16] == second[..16] && first[16..] != second[16..]);
}

#[test]
fn one_wrong_correction_to_given_choices_is_found_in_any_tree() {
    for tree in 0..Width::Eight.trees() {
        let mut session = session(Width::Eight, StatisticalSecurity::Eighty);
        let (_, result, _) = extend_given(&mut session, 3, |bytes| bytes[48 * tree + tree] ^= 4);
        let delta = session.sender.delta.as_bytes()[tree];
        assert_eq!(matches!(result, Err(OtError::InconsistentChoices)), delta != 0, "tree {tree}");
    }
}

#[test]
fn one_wrong_correction_in_any_tree_is_found() {
    for tree in 0..Width::Four.trees() - 1 {
        let mut session = session(Width::Four, StatisticalSecurity::Forty);
        // Three squares of 16 bytes per tree; the last one only hides the others.
        let at = tree * 48 + tree % 48;
        let result = session.extend_altered(200, |bytes| bytes[at] ^= 1 << (tree % 8), |_| {});
        let number = tree + 1;
        let delta = session.sender.delta.as_bytes()[number / 2] >> (4 * (number % 2)) & 15;
        // If delta is all zeros in a tree, the correction is not used, and there is nothing to detect.
        assert_eq!(matches!(result, Err(OtError::InconsistentChoices)), delta != 0, "tree {number}");
    }
}

#[test]
fn a_wrong_hash_of_any_column_is_found() {
    for sigma in StatisticalSecurity::ALL {
        for at in [0, sigma.digest_bytes() / 2, sigma.digest_bytes() - 1] {
            let mut session = session(Width::Four, sigma);
            let result = session.extend_altered(1, |_| {}, |digest| digest[at] ^= 0x80);
            assert!(matches!(result, Err(OtError::InconsistentChoices)), "byte {at}");
        }
    }
}

/// A receiver that guesses the four bits of delta of one tree can make its digest fit. The protocol allows this: for fifteen of
/// sixteen deltas the receiver is caught.
#[test]
fn a_receiver_that_guesses_delta_of_a_tree_passes_only_if_it_guesses_right() {
    let mut passed = 0;
    for guess in 0..16u8 {
        let mut session = session(Width::Four, StatisticalSecurity::Eighty);
        // The error is in the hiding square of the second tree, whose factor is one.
        let corrections = |bytes: &mut [u8]| bytes[16..32].iter_mut().for_each(|byte| *byte ^= 0xff);
        let digest = |digest: &mut [u8]| {
            for bit in (0..4).filter(|bit| guess >> bit & 1 == 1) {
                digest[(1 + 4 + bit) * 16..][..16].iter_mut().for_each(|byte| *byte ^= 0xff);
            }
        };
        let result = session.extend_altered(128, corrections, digest);
        let delta = session.sender.delta.as_bytes()[0] >> 4;
        passed += u32::from(result.is_ok());
        assert_eq!(result.is_ok(), guess == delta, "guess {guess}: {:?}", result.err());
    }
    assert_eq!(passed, 1);
}

/// Sets up while a third party changes the receiver's corrections of trees and tags.
fn setup_altered(alter: impl FnOnce(&mut [u8])) -> Result<MaliciousCotSender, OtError> {
    sender_altered(
        async |channel, rng, delta| {
            MaliciousCotSender::setup(channel, rng, delta, Width::Four, StatisticalSecurity::Forty).await
        },
        alter,
    )
}

/// The same with any sender whose set-up has these messages.
fn sender_altered<T>(
    setup: impl AsyncFnOnce(&mut Channel, &mut Prg, &Delta) -> Result<T, OtError>,
    alter: impl FnOnce(&mut [u8]),
) -> Result<T, OtError> {
    let width = Width::Four;
    let (mut ours, mut to_sender) = channels();
    let (mut theirs, mut to_receiver) = channels();
    let delta = Delta::random(&mut Prg::new(Block::from_u128(1)));
    block_on(async {
        let (mut a, mut b) = (Prg::new(Block::from_u128(2)), Prg::new(Block::from_u128(3)));
        let relay = async {
            let hello = to_sender.receive::<super::super::hello::SetupHello>().await.unwrap();
            to_receiver.send(&hello).await.unwrap();
            let mut offer = vec![0; crate::base::RECEIVER_BYTES as usize - 32];
            to_sender.receive_bytes(&mut offer).await.unwrap();
            to_receiver.send_bytes(&offer).await.unwrap();
            let mut reply = vec![0; crate::base::SENDER_BYTES as usize];
            to_receiver.receive_bytes(&mut reply).await.unwrap();
            to_sender.send_bytes(&reply).await.unwrap();
            let mut trees = vec![0; width.corrections() * 16 + tags::bytes(width)];
            to_receiver.receive_bytes(&mut trees).await.unwrap();
            alter(&mut trees);
            to_sender.send_bytes(&trees).await.unwrap();
            to_sender.flush().await.unwrap();
        };
        let sender = setup(&mut ours, &mut a, &delta);
        let receiver = async {
            theirs.set_timeout(std::time::Duration::from_millis(200));
            _ = MaliciousCotReceiver::setup(&mut theirs, &mut b, width, StatisticalSecurity::Forty).await;
        };
        tokio::join!(sender, receiver, relay).0
    })
}

#[test]
fn trees_that_depend_on_delta_are_found() {
    assert!(setup_altered(|_| {}).is_ok());
    let corrections = Width::Four.corrections() * 16;
    // The sender uses one of the two corrections of a level; changing both always makes an invalid tree.
    let error = setup_altered(|trees| (0..32).for_each(|at| trees[at] ^= 1)).err();
    assert!(matches!(error, Some(OtError::InconsistentTrees)));
    for at in [0, 31, 32 * 31, 32 * 32, 32 * 33 - 1] {
        let error = setup_altered(|trees| trees[corrections + at] ^= 4).err();
        assert!(matches!(error, Some(OtError::InconsistentTrees)), "byte {at} of the tags");
    }
}

#[test]
fn seeds_that_depend_on_delta_are_found() {
    let setup = |alter: fn(&mut [u8])| {
        let sender = async |channel: &mut Channel, rng: &mut Prg, delta: &Delta| {
            SenderSeeds::setup(channel, rng, delta, Width::Four, StatisticalSecurity::Forty).await
        };
        sender_altered(sender, alter).err()
    };
    assert!(setup(|_| {}).is_none());
    let alterations: [fn(&mut [u8]); 2] =
        [|trees| (0..32).for_each(|at| trees[at] ^= 1), |trees| *trees.last_mut().unwrap() ^= 1];
    for alter in alterations {
        assert!(matches!(setup(alter), Some(OtError::InconsistentTrees)));
    }
}

#[test]
fn a_peer_without_checks_is_refused() {
    let (mut ours, mut theirs) = channels();
    let error = block_on(async {
        let delta = Delta::new(Block::ONES);
        let mut rng = Prg::new(Block::ZERO);
        let sender = async {
            ours.set_timeout(std::time::Duration::from_millis(100));
            CotSender::setup(&mut ours, &mut rng, &delta, Width::Four).await.err()
        };
        let mut other = Prg::new(Block::ONES);
        let receiver = MaliciousCotReceiver::setup(&mut theirs, &mut other, Width::Four, StatisticalSecurity::Forty);
        tokio::join!(sender, receiver).1.err()
    });
    let text = error.expect("the forms differ").to_string();
    assert!(text.ends_with("expected k = 4 with checks of 40 bits, got k = 4 without checks"), "{text}");
}

/// Deviating receivers, for the list of all checks.
pub(crate) mod deviations {
    use super::*;

    /// A receiver whose trees depend on delta.
    pub(crate) fn wrong_trees() -> Option<OtError> {
        setup_altered(|trees| (0..32).for_each(|at| trees[at] ^= 1)).err()
    }

    /// A receiver that uses different choices in every tree except the first.
    pub(crate) fn other_choices() -> Option<OtError> {
        session(Width::Four, StatisticalSecurity::Forty)
            .extend_altered(200, |corrections| corrections.iter_mut().for_each(|byte| *byte ^= 1), |_| {})
            .err()
    }
}
