//! Random OT: correlated OTs, hashed.
//!
//! *Source*: Ishai, Kilian, Nissim and Petrank 2003, with the tweakable correlation-robust hash of Guo, Katz, Wang and Yu
//! 2020 ([`PadHash`]): the sender's blocks are `H(q, i)` and `H(q ^ delta, i)`, the receiver's is `H(t, i)`.
//!
//! *Cost*: two hash calls per OT for the sender, one for the receiver; no bytes beyond the correlated OTs'.

use garblet_net::Channel;
use garblet_primitives::{Block, Delta};
use zeroize::Zeroizing;

use crate::bit_vec::BitVec;
use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::error::OtError;
use crate::pad_hash::PadHash;
use crate::room::emptied;

/// The blocks of correlated OTs, linear in the receiver's choices. *Secret*.
pub type Rows = Zeroizing<Vec<Block>>;

/// The sender of random OTs, which gets two uniform blocks per OT.
///
/// *Unique*: the tweak `i` counts all OTs of the session, so no two share one.
pub struct RotSender<S> {
    correlated: S,
    hash: PadHash,
    made: u64,
}

impl<S: CorrelatedSender> RotSender<S> {
    /// Makes random OTs from the source's correlated ones.
    pub fn new(correlated: S) -> Self {
        let hash = PadHash::new(correlated.session_key());
        RotSender { correlated, hash, made: 0 }
    }

    /// The difference of the two blocks of each correlated OT, before hashing.
    pub fn delta(&self) -> &Delta {
        self.correlated.delta()
    }

    /// Announces the next `n` OTs to the source.
    ///
    /// *Errors*: as the source.
    pub async fn prepare(&mut self, channel: &mut Channel, n: usize) -> Result<(), OtError> {
        self.correlated.prepare(channel, n).await
    }

    /// Makes `n` more OTs: returns both blocks of each.
    ///
    /// *Errors*: as the source.
    pub async fn extend(&mut self, channel: &mut Channel, n: usize) -> Result<Zeroizing<Vec<[Block; 2]>>, OtError> {
        self.extend_into(channel, n, Zeroizing::default()).await
    }

    /// The same in the allocation of `room` if it is large enough; its contents are lost.
    ///
    /// *Errors*: as the source.
    pub async fn extend_into(
        &mut self,
        channel: &mut Channel,
        n: usize,
        room: Zeroizing<Vec<[Block; 2]>>,
    ) -> Result<Zeroizing<Vec<[Block; 2]>>, OtError> {
        let mut pads = emptied(room, n);
        let RotSender { correlated, hash, made } = self;
        let delta = correlated.delta().clone();
        let see = |q: &[Block]| {
            hash.pads_onto(*made, &delta, q, &mut pads);
            *made += q.len() as u64;
        };
        correlated.extend_in_parts(channel, n, see).await?;
        Ok(pads)
    }

    /// The same, with the rows: the correlated OTs' blocks `q` before hashing.
    ///
    /// *Errors*: as the source.
    pub async fn extend_with_rows(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> Result<(Zeroizing<Vec<[Block; 2]>>, Rows), OtError> {
        let rows = self.correlated.extend(channel, n).await?;
        let mut pads = Zeroizing::new(Vec::with_capacity(n));
        self.hash.pads_onto(self.made, self.correlated.delta(), &rows, &mut pads);
        self.made += n as u64;
        Ok((pads, rows))
    }
}

/// The receiver of random OTs, which gets a uniform choice and the chosen block per OT.
///
/// *Unique*: as for [`RotSender`].
pub struct RotReceiver<R> {
    correlated: R,
    hash: PadHash,
    made: u64,
}

impl<R: CorrelatedReceiver> RotReceiver<R> {
    /// Makes random OTs from the source's correlated ones.
    pub fn new(correlated: R) -> Self {
        let hash = PadHash::new(correlated.session_key());
        RotReceiver { correlated, hash, made: 0 }
    }

    /// Announces the next `n` OTs to the source.
    ///
    /// *Errors*: as the source.
    pub async fn prepare(&mut self, channel: &mut Channel, n: usize) -> Result<(), OtError> {
        self.correlated.prepare(channel, n).await
    }

    /// Makes `n` more OTs: returns the choices and the chosen blocks.
    ///
    /// *Errors*: as the source.
    pub async fn extend(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        self.extend_into(channel, n, Zeroizing::default()).await
    }

    /// The same with the blocks in the allocation of `room` if it is large enough; its contents are lost.
    ///
    /// *Errors*: as the source.
    pub async fn extend_into(
        &mut self,
        channel: &mut Channel,
        n: usize,
        room: Zeroizing<Vec<Block>>,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        let RotReceiver { correlated, hash, made } = self;
        let change = |t: &mut [Block]| {
            hash.hash_batch(*made, t);
            *made += t.len() as u64;
        };
        correlated.extend_random_in_parts(channel, n, room, change).await
    }

    /// The same, with the rows: the correlated OTs' blocks `t` before hashing.
    ///
    /// *Errors*: as the source.
    pub async fn extend_with_rows(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>, Rows), OtError> {
        let (choices, rows) = self.correlated.extend_random(channel, n).await?;
        let mut pads = rows.clone();
        self.hash.hash_batch(self.made, &mut pads);
        self.made += n as u64;
        Ok((choices, pads, rows))
    }
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;
    use crate::testing::{block_on, channels, ideal};

    #[test]
    fn the_receiver_has_the_chosen_block_and_tweaks_go_on() {
        let delta = Delta::random(&mut Prg::new(Block::ZERO));
        let (sender, receiver) = ideal::pair(Block::ONES, &delta);
        let hash = PadHash::new(sender.session_key());
        let hashed = |tweak, block| {
            let mut blocks = [block];
            hash.hash_batch(tweak, &mut blocks);
            blocks[0]
        };
        let (mut plain, _) = ideal::pair(Block::ONES, &delta);
        let (mut sender, mut receiver) = (RotSender::new(sender), RotReceiver::new(receiver));
        let without_rows = ideal::pair(Block::ONES, &delta);
        let (mut lone_sender, mut lone_receiver) = (RotSender::new(without_rows.0), RotReceiver::new(without_rows.1));
        let (mut of_sender, mut of_receiver) = (Zeroizing::default(), Zeroizing::default());
        let (mut ours, mut theirs) = channels();
        let mut tweak = 0;
        for n in [0, 1, 2, 1023, 1024, 1025, 3077] {
            let (pads, zero) = block_on(sender.extend_with_rows(&mut ours, n)).unwrap();
            let (choices, chosen, rows) = block_on(receiver.extend_with_rows(&mut theirs, n)).unwrap();
            let q = block_on(plain.extend(&mut ours, n)).unwrap();
            assert!(zero == q);
            of_sender = block_on(lone_sender.extend_into(&mut ours, n, of_sender)).unwrap();
            let same_choices;
            (same_choices, of_receiver) = block_on(lone_receiver.extend_into(&mut theirs, n, of_receiver)).unwrap();
            assert!(of_sender == pads && of_receiver == chosen && same_choices.as_bytes() == choices.as_bytes());
            assert_eq!((pads.len(), choices.len(), chosen.len()), (n, n, n));
            for (i, choice) in choices.iter().enumerate() {
                assert!(chosen[i] == pads[i][usize::from(choice.number())]);
                assert!(pads[i][0] == hashed(tweak, q[i]));
                assert!(pads[i][1] == hashed(tweak, q[i] ^ delta.block()));
                assert!(rows[i] == q[i] ^ (Block::mask(choice) & delta.block()));
                tweak += 1;
            }
        }
    }
}
