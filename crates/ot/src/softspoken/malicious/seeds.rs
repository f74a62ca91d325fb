//! Set-ups that serve many sessions: the leaves of all trees, from which each session derives its own streams.
//!
//! New base OTs would let the party with delta choose another one. Stored leaves bind it: everything stretched from them has the
//! same delta.

use garblet_net::Channel;
use garblet_primitives::{Block, Delta, Prg, encrypt_each};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    BitVec, MaliciousCotReceiver, MaliciousCotSender, OtError, ReceiverSetup, SenderSetup, StatisticalSecurity, Width,
    check_length, tags,
};
use crate::softspoken::{receiver::CotReceiver, sender::CotSender, tags::TreesConsistent};

/// The sender's checked leaves of a set-up, which serve any number of sessions.
///
/// *Secret*: all of it. *Unique*: one per peer.
#[derive(Clone, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub struct SenderSeeds {
    leaves: Vec<Block>,
}

/// The receiver's leaves of a set-up, which serve any number of sessions.
///
/// *Secret*: all of it. *Unique*: one per peer.
#[derive(Clone, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub struct ReceiverSeeds {
    leaves: Vec<Block>,
}

impl SenderSeeds {
    /// Sets up with a peer that calls [`ReceiverSeeds::setup`] with the same width and security.
    ///
    /// *Errors*: as [`MaliciousCotSender::setup`].
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        delta: &Delta,
        width: Width,
        sigma: StatisticalSecurity,
    ) -> Result<Self, OtError> {
        let setup = SenderSetup::run(channel, rng, delta, width, Some(sigma)).await?;
        let mut message = vec![0; tags::bytes(width)];
        channel.receive_bytes(&mut message).await?;
        tags::check(width, setup.session(), &BitVec::of_delta(delta), setup.leaves(), &message)?;
        Ok(SenderSeeds { leaves: setup.leaves().to_vec() })
    }

    /// The sender of a session; both parties use the same session name.
    ///
    /// *Unique*: `session` is fresh, with randomness from both parties. `delta` is the set-up's delta.
    ///
    /// *Errors*: [`OtError::WrongLength`] for leaves of another width.
    pub fn session(
        &self,
        session: Block,
        rng: &mut (impl CryptoRng + ?Sized),
        delta: &Delta,
        width: Width,
        sigma: StatisticalSecurity,
    ) -> Result<MaliciousCotSender, OtError> {
        let inner = CotSender::of_leaves(width, delta.clone(), session, &stretched(&self.leaves, session, width)?);
        let (delta, points) = (BitVec::of_delta(delta), Prg::random(rng));
        Ok(MaliciousCotSender { inner, sigma, delta, points, _trees: TreesConsistent::when_set_up() })
    }
}

impl ReceiverSeeds {
    /// Sets up with a peer that calls [`SenderSeeds::setup`] with the same width and security.
    ///
    /// *Errors*: as [`MaliciousCotReceiver::setup`].
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        width: Width,
        sigma: StatisticalSecurity,
    ) -> Result<Self, OtError> {
        let setup = ReceiverSetup::run(channel, rng, width, Some(sigma)).await?;
        channel.send_bytes(&tags::message(width, setup.session(), setup.leaves())).await?;
        let leaves = setup.leaves().to_vec();
        setup.finish(channel).await?;
        Ok(ReceiverSeeds { leaves })
    }

    /// The receiver of a session, as [`SenderSeeds::session`].
    ///
    /// *Errors*: [`OtError::WrongLength`] for leaves of another width.
    pub fn session(
        &self,
        session: Block,
        width: Width,
        sigma: StatisticalSecurity,
    ) -> Result<MaliciousCotReceiver, OtError> {
        let inner = CotReceiver::of_leaves(width, session, &stretched(&self.leaves, session, width)?);
        Ok(MaliciousCotReceiver { inner, sigma })
    }
}

/// The leaves of a session.
fn stretched(leaves: &[Block], session: Block, width: Width) -> Result<Zeroizing<Vec<Block>>, OtError> {
    check_length("leaves", width.trees() * width.leaves(), leaves.len())?;
    let mut blocks = Zeroizing::new(vec![session; leaves.len()]);
    encrypt_each(leaves, &mut blocks);
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bit_vec::masked;
    use crate::testing::{block_on, channels};

    #[test]
    fn sessions_of_one_setup_share_delta_but_not_streams() {
        let (mut ours, mut theirs) = channels();
        for (width, delta) in
            [(Width::Four, Delta::new(Block::ONES)), (Width::Eight, Delta::even(Block::from_u128(77 << 90)))]
        {
            let sigma = StatisticalSecurity::Eighty;
            let [mut a, mut b] = [2, 3].map(|seed| Prg::new(Block::from_u128(seed)));
            let (sender, receiver) = block_on(async {
                tokio::join!(
                    SenderSeeds::setup(&mut ours, &mut a, &delta, width, sigma),
                    ReceiverSeeds::setup(&mut theirs, &mut b, width, sigma)
                )
            });
            let (sender, receiver) = (sender.unwrap(), receiver.unwrap());
            let mut seen = Vec::new();
            for name in [5, 6] {
                let session = Block::from_u128(name);
                let mut sender = sender.session(session, &mut a, &delta, width, sigma).unwrap();
                let mut receiver = receiver.session(session, width, sigma).unwrap();
                let (unchecked, corrected) = block_on(async {
                    tokio::join!(
                        sender.receive(&mut ours, 300, Zeroizing::default()),
                        receiver.correct(&mut theirs, 300, Zeroizing::default())
                    )
                });
                let point = sender.point();
                let (answer, choices, t) = receiver.answer(corrected.unwrap(), point);
                assert_eq!(answer.len(), sender.answer_bytes());
                let q = sender.check(unchecked.unwrap(), point, &answer).unwrap();
                assert_eq!((q.len(), t.len(), choices.len()), (300, 300, 300));
                let correlated = |i: usize| t[i] == q[i] ^ masked(choices.get(i), delta.block());
                assert!((0..300).all(correlated));
                seen.push(q[0].to_u128());
            }
            assert_ne!(seen[0], seen[1]);
            assert!(receiver.session(Block::ZERO, Width::Two, sigma).is_err(), "leaves of another width");
        }
    }
}
