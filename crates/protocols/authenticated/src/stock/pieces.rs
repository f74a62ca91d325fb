//! Kinds of pieces in a store, and shares as they are stored.

use std::ops::Range;

use garblet_primitives::Block;
use garblet_protocol::error::{Missing, NotPrepared, ProtocolError};
use garblet_store::{IdSet, Kind, Store, StoreError, Taken};

use crate::{
    amounts::{Amounts, KINDS},
    shares::Shares,
};

/// The version of the stored data.
pub(crate) const VERSION: u32 = 1;

/// The number of triples in a piece, and of masks: enough to make a store's overhead per piece negligible.
pub(crate) const GROUP: usize = 16;

/// The kinds of a protocol's store: triples, and masks. A piece has [`GROUP`] of either.
pub(crate) struct Kinds {
    pub(crate) triples: Kind,
    pub(crate) masks: Kind,
}

impl Kinds {
    /// The kinds of the protocol with this name.
    pub(crate) fn of(protocol: &str) -> Self {
        let [triples, masks] =
            KINDS.map(|name| Kind::in_groups(name, GROUP as u32, format!("{protocol} {VERSION}").as_bytes()));
        Kinds { triples, masks }
    }

    /// The amounts in a store.
    pub(crate) fn amounts_in(&self, store: &Store) -> Amounts {
        let [triples, masks] = [&self.triples, &self.masks].map(|kind| store.count(kind) * GROUP as u64);
        Amounts { triples, masks }
    }

    /// The part of these amounts that a store lacks.
    pub(crate) fn lacks(&self, store: &Store, amounts: Amounts) -> Amounts {
        let has = self.amounts_in(store);
        Amounts { triples: amounts.triples.saturating_sub(has.triples), masks: amounts.masks.saturating_sub(has.masks) }
    }

    /// Checks that a store has these amounts.
    ///
    /// *Errors*: [`NotPrepared`].
    pub(crate) fn check(&self, store: &Store, amounts: Amounts) -> Result<(), ProtocolError> {
        let lacks = self.lacks(store, amounts);
        let all = [(amounts.triples, lacks.triples), (amounts.masks, lacks.masks)];
        let missing = KINDS.into_iter().zip(all).filter(|(_, (_, missing))| *missing > 0);
        let missing: Vec<Missing> =
            missing.map(|(name, (needed, missing))| Missing { name: name.into(), needed, missing }).collect();
        if missing.is_empty() { Ok(()) } else { Err(NotPrepared::Missing(missing).into()) }
    }

    /// Takes triples and masks. When it returns, they are marked as used, durably.
    ///
    /// *Errors*: [`NotPrepared`] if there is less; the store's.
    pub(crate) fn take(&self, store: &mut Store, amounts: Amounts) -> Result<[Taken; 2], ProtocolError> {
        self.check(store, amounts)?;
        let request = |(kind, amount): (&Kind, u64)| {
            let ids: IdSet = store.stock_of(kind).available.first(amount.div_ceil(GROUP as u64));
            (kind.clone(), ids)
        };
        let request: Vec<(Kind, IdSet)> =
            [&self.triples, &self.masks].into_iter().zip([amounts.triples, amounts.masks]).map(request).collect();
        Ok(store.take_all(&request)?.try_into().map_err(|_| StoreError::Broken)?)
    }
}

/// Reads stored shares, `count` of each kind, one kind after another.
pub(crate) fn read(bytes: &[u8], count: usize, into: &mut [&mut Shares]) -> Option<()> {
    let blocks = bytes.as_chunks::<16>().0;
    if bytes.len() != 32 * count * into.len() {
        return None;
    }
    for (shares, blocks) in into.iter_mut().zip(blocks.chunks_exact((2 * count).max(1))) {
        let (own, peer) = blocks.split_at(count);
        shares.own.extend(own.iter().map(|&block| Block::from_bytes(block)));
        shares.peer.extend(peer.iter().map(|&block| Block::from_bytes(block)));
    }
    Some(())
}

/// Appends a range of shares as they are stored.
pub(crate) fn append(shares: &Shares, range: Range<usize>, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(bytemuck::cast_slice(&shares.own[range.clone()]));
    bytes.extend_from_slice(bytemuck::cast_slice(&shares.peer[range]));
}
