//! Step P1: correlated OTs in both directions.

use garblet_ot::BitVec;
use garblet_primitives::{Bit, Block};
use garblet_protocol::{conduct::Conduct, error::ProtocolError, session::Session};
use zeroize::Zeroizing;

use crate::{GARBLER, Step, ground::Ground, ots::Drawn, place::Place, shares::Shares};

/// OTs in both directions, checked by both parties. Nothing that depends on unchecked OTs is sent.
pub(super) struct CotChecked {
    /// This party's bits.
    pub(super) bits: BitVec,
    /// The keys of the peer's bits.
    pub(super) keys: Zeroizing<Vec<Block>>,
    /// The MACs of this party's bits.
    pub(super) macs: Zeroizing<Vec<Block>>,
    /// The key of the hash of this batch, which nobody knew before all OTs were fixed.
    pub(super) hash_key: Block,
}

impl CotChecked {
    /// The shares of all bits.
    pub(super) fn into_shares(self, delta: Block) -> Shares {
        let CotChecked { bits, mut keys, mut macs, .. } = self;
        share(&mut keys, &mut macs, |at| bits.get(at), delta);
        Shares { own: std::mem::take(&mut *keys), peer: std::mem::take(&mut *macs) }
    }
}

/// Turns keys and MACs into shares, which have this party's bits.
pub(super) fn share(keys: &mut [Block], macs: &mut [Block], bit: impl Fn(usize) -> Bit, delta: Block) {
    for (at, (key, mac)) in keys.iter_mut().zip(macs).enumerate() {
        let bit = bit(at);
        *key = (*key ^ (Block::mask(bit) & delta)).with_lsb(bit);
        *mac = mac.with_lsb(bit);
    }
}

impl<C: Conduct<Step>> Ground<C> {
    /// Step P1: makes `count` authenticated bits of each party.
    ///
    /// *Errors*: those of checked OTs.
    pub(super) async fn correlate(
        &mut self,
        session: &mut Session,
        count: usize,
        number: u64,
    ) -> Result<CotChecked, ProtocolError> {
        let Ground { ots, room, .. } = self;
        let (Drawn { bits, keys, macs }, [own, theirs]) = ots.make(session, count, room).await?;
        let points = if self.party == GARBLER { [own, theirs] } else { [theirs, own] };
        let hash_key =
            Block::from_digest(&self.domain(GARBLER, Place::LeakyHash, number).digest(bytemuck::cast_slice(&points)));
        Ok(CotChecked { bits, keys, macs, hash_key })
    }
}
