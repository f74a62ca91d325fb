//! A party's stock on disk: triples and masks, each taken once, with the secrets that they were made with.
//!
//! A store is bound to the identities of all other parties, to this party's number among them, to the evaluator and to the parameters of preparation.
//!
//! | on disk | bytes |
//! |---|---|
//! | secrets | 128 KiB for each other party |
//! | a triple | 48 n |
//! | a mask | 16 n |

use garblet_circuit::Party;
use garblet_protocol::{
    domain::SessionId,
    error::ProtocolError,
    secrets::{SecretsState, given_up},
};
use garblet_store::Store;
use zeroize::Zeroizing;

use super::{
    NAME,
    place::Place,
    secrets::{Secrets, VERSION},
    settle::LastTest,
    shares::Triples,
    supply::Supply,
};
use crate::{
    amounts::Amounts,
    stock::{
        kept::Kept,
        pieces::{GROUP, Kinds},
        store::push,
    },
};

/// The protocol's state in a store.
pub(super) const STATE: SecretsState = SecretsState { name: NAME, version: VERSION };

/// A party's store.
pub(super) struct Stock {
    pub(super) store: Store,
    /// None once the store was given up.
    pub(super) kept: Option<Kept<Secrets>>,
    /// Pieces that were discarded.
    pub(super) lost: u64,
}

/// The kinds of the protocol's stores.
pub(super) fn kinds() -> Kinds {
    Kinds::of(NAME)
}

/// Checks that a store is not given up, and has these amounts.
///
/// *Errors*: [`NotPrepared`](garblet_protocol::error::NotPrepared) if there is less.
pub(super) fn check(store: &Store, amounts: Amounts) -> Result<(), ProtocolError> {
    STATE.read(store)?;
    kinds().check(store, amounts)
}

/// Tells whether a party does not know how its last test ended. A store that was given up is not used again.
pub(super) fn is_unsettled(store: &Store) -> bool {
    STATE.read(store).is_ok() && LastTest::of(store).is_ok_and(|last| last.is_some_and(|last| last.is_open()))
}

impl Stock {
    /// As [`Kept::revoked`].
    pub(super) fn revoked<T>(&mut self, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
        Kept::revoked(&mut self.kept, (STATE, &mut self.store), result)
    }

    /// Replaces the secrets by new ones, once all parties have them. Nothing waits that was made with the old ones.
    ///
    /// *Errors*: the store's.
    pub(super) fn replace(&mut self, meeting: SessionId, secrets: Secrets) -> Result<(), ProtocolError> {
        LastTest::forget(&mut self.store)?;
        let name = meeting.domain(Party(0), Place::SecretsName as u8).digest(b"");
        self.kept.insert(Kept { name, secrets, insecure: 0.0 }).write(STATE, &mut self.store)
    }

    /// The name of the secrets; none once the store was given up.
    pub(super) fn name(&self) -> Option<[u8; 32]> {
        self.kept.as_ref().map(|kept| kept.name)
    }

    /// The probability of an insecure triple among all that were made with these secrets.
    pub(super) fn insecure(&self) -> f64 {
        self.kept.as_ref().map_or(0.0, |kept| kept.insecure)
    }

    /// As [`Kept::count`].
    ///
    /// *Errors*: the store's; one that was given up.
    pub(super) fn count(&mut self, insecure: f64) -> Result<(), ProtocolError> {
        Kept::count(&mut self.kept, (STATE, &mut self.store), insecure)
    }

    /// The amounts that the store has.
    pub(super) fn has(&self) -> Amounts {
        kinds().amounts_in(&self.store)
    }

    /// The part of these amounts that the store lacks.
    pub(super) fn lacks(&self, amounts: Amounts) -> Amounts {
        kinds().lacks(&self.store, amounts)
    }

    /// Puts all whole pieces of a supply into the store, all or none.
    ///
    /// *Errors*: the store's; one that was given up.
    pub(super) fn put(&mut self, made: &Supply) -> Result<(), ProtocolError> {
        self.kept.as_ref().ok_or_else(given_up)?;
        let (kinds, mut batch) = (kinds(), self.store.batch());
        let Supply { triples: Triples { a, b, c }, masks, .. } = made;
        let room = 3 * 16 * GROUP * a.columns().len().max(masks.columns().len());
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        for (kind, shares) in [(&kinds.triples, &[a, b, c][..]), (&kinds.masks, &[masks])] {
            for piece in 0..shares[0].len() / GROUP {
                bytes.clear();
                for column in shares.iter().flat_map(|shares| shares.columns()) {
                    bytes.extend_from_slice(bytemuck::cast_slice(&column[piece * GROUP..(piece + 1) * GROUP]));
                }
                push(&mut batch, kind, &bytes)?;
            }
        }
        Ok(batch.commit()?)
    }

    /// Takes what a run needs. When it returns, it is marked as used, durably.
    ///
    /// *Errors*: [`NotPrepared`](garblet_protocol::error::NotPrepared) if there is less.
    pub(super) fn take(&mut self, parties: u16, amounts: Amounts) -> Result<Supply, ProtocolError> {
        self.kept.as_ref().ok_or_else(given_up)?;
        Ok(Supply::stored(parties, kinds().take(&mut self.store, amounts)?))
    }
}
