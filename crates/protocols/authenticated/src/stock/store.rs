//! Prepared pieces in a store, each taken once.

use garblet_circuit::Party;
use garblet_protocol::{
    error::ProtocolError,
    kept,
    parameters::OtKind,
    secrets::{SecretsState, given_up},
    session::Session,
};
use garblet_store::{AHEAD_MAX, Batch, Binding, Kind, Store, Taken};
use zeroize::Zeroizing;

use super::{
    kept::Kept,
    messages::Has,
    pieces::{GROUP, Kinds, VERSION, append},
    unsettled::LastCheck,
};
use crate::{GARBLER, NAME, amounts::Amounts, config::Config, place::Place, secrets::Secrets, shares::Made};
use garblet_protocol::domain::SessionId;

/// The protocol's state in a store.
pub(crate) const STATE: SecretsState = SecretsState { name: "authenticated", version: VERSION };

/// A party's store.
pub(crate) struct Stock {
    pub(crate) store: Store,
    pub(crate) kept: Option<Kept<Secrets>>,
    /// The name of the meeting.
    pub(crate) meeting: SessionId,
    /// Set if both parties have the same secrets. Otherwise new ones are made.
    pub(crate) same: bool,
    /// Pieces that were discarded.
    pub(crate) lost: u64,
}

impl Stock {
    /// Compares the stores of both parties, settles the last check if it is open, and discards pieces that only one has.
    ///
    /// *Errors*: stores that do not belong together; a peer that has cheated before, or that does not settle.
    pub(crate) async fn meet(
        session: &mut Session,
        mut store: Store,
        config: Config,
        party: Party,
        peer: &str,
    ) -> Result<Self, ProtocolError> {
        store.bind(&Binding {
            peer: peer.into(),
            role: if party == GARBLER { "garbler" } else { "evaluator" }.into(),
            protocol: bound_as(config),
            library: String::new(),
        })?;
        let kept = secrets(&store)?;
        let last = LastCheck::of(&store)?;
        let judged = last.judge();
        STATE.revoke_if_cheated(&mut store, judged)?;
        let (channel, rng) = session.parts();
        let mut nonce = [0; 32];
        rng.fill_bytes(&mut nonce);
        let name = kept.as_ref().map(|kept| kept.name);
        channel.send(&Has { summary: store.summary(), secrets: name, nonce, unsettled: last.told() }).await?;
        let theirs: Has = channel.receive().await?;
        let same = name.is_some() && name == theirs.secrets;
        if !same && (last.told().is_some() || theirs.unsettled.is_some()) {
            let reason = "the peer has another store than the one that made them";
            return Err(ProtocolError::Unsettled { folder: store.folder().into(), reason });
        }
        let settled = last.settle(session, &mut store, theirs.unsettled).await;
        STATE.revoke_if_cheated(&mut store, settled)?;
        let lost: u64 = store.reconcile(&theirs.summary, AHEAD_MAX)?.dropped.iter().map(|(_, count)| count).sum();
        let nonces = if party == GARBLER { [nonce, theirs.nonce] } else { [theirs.nonce, nonce] };
        let meeting = SessionId::new(NAME, name.filter(|_| same).unwrap_or_default(), nonces);
        Ok(Stock { store, kept, meeting, same, lost })
    }

    /// Replaces the secrets by new ones, once both parties have them. A peer's mere claim that it has none costs nothing.
    /// Everything that was made with the old ones goes before they do: a process that is killed in between has less of it and the old secrets, never the
    /// new secrets with any of it, and the next meeting replaces them again.
    ///
    /// *Errors*: the store's.
    pub(crate) fn replace(&mut self, secrets: Secrets) -> Result<(), ProtocolError> {
        kept::forget(&mut self.store, |_| true)?;
        self.lost += self.store.clear()?;
        LastCheck::Settled.keep(&mut self.store)?;
        let name = self.meeting.domain(GARBLER, Place::SecretsName as u8).digest(b"");
        self.kept.insert(Kept { name, secrets, insecure: 0.0 }).write(STATE, &mut self.store)
    }

    /// As [`Kept::count`].
    ///
    /// *Errors*: the store's; one that was given up.
    pub(crate) fn count(&mut self, insecure: f64) -> Result<(), ProtocolError> {
        Kept::count(&mut self.kept, (STATE, &mut self.store), insecure)
    }

    /// As [`Kept::revoked`].
    pub(crate) fn revoked<T>(&mut self, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
        Kept::revoked(&mut self.kept, (STATE, &mut self.store), result)
    }

    /// The amounts that the store has.
    pub(crate) fn has(&self) -> Amounts {
        kinds().amounts_in(&self.store)
    }

    /// Puts pieces into the store, all or none.
    ///
    /// *Errors*: the store's.
    pub(crate) fn put(&mut self, made: &Made) -> Result<(), ProtocolError> {
        self.kept.as_ref().ok_or_else(given_up)?;
        let kinds = kinds();
        let mut batch = self.store.batch();
        let mut bytes = Zeroizing::new(Vec::with_capacity(96 * GROUP));
        for piece in 0..made.triples / GROUP {
            bytes.clear();
            for factor in made.factors() {
                let start = factor.start + piece * GROUP;
                append(&made.shares, start..start + GROUP, &mut bytes);
            }
            push(&mut batch, &kinds.triples, &bytes)?;
        }
        let masks = made.masks();
        for piece in 0..masks.len() / GROUP {
            bytes.clear();
            let start = masks.start + piece * GROUP;
            append(&made.shares, start..start + GROUP, &mut bytes);
            push(&mut batch, &kinds.masks, &bytes)?;
        }
        Ok(batch.commit()?)
    }

    /// Takes the triples and masks that a run needs. When it returns, they are marked as used, durably.
    ///
    /// *Errors*: [`NotPrepared`](garblet_protocol::error::NotPrepared) if there is less; pieces that were changed.
    pub(crate) fn take(&mut self, amounts: Amounts) -> Result<[Taken; 2], ProtocolError> {
        self.kept.as_ref().ok_or_else(given_up)?;
        kinds().take(&mut self.store, amounts)
    }

    /// The part of these amounts that the store lacks.
    pub(crate) fn lacks(&self, amounts: Amounts) -> Amounts {
        kinds().lacks(&self.store, amounts)
    }
}

/// The name of the protocol, with everything that must be the same as long as a store lasts.
pub(crate) fn bound_as(config: Config) -> String {
    let ots = if config.ot == OtKind::Silent { ", silent OT" } else { "" };
    let (bits, k) = (config.statistical.bits(), config.width().bits());
    format!("{NAME} {VERSION}, {bits} bits, k = {k}{ots}")
}

/// Appends a piece to a batch.
pub(crate) fn push(batch: &mut Batch<'_>, kind: &Kind, bytes: &[u8]) -> Result<(), ProtocolError> {
    Ok(batch.push(kind, batch.next_id(kind), bytes)?)
}

/// The kinds of the protocol's stores.
pub(crate) fn kinds() -> Kinds {
    Kinds::of(NAME)
}

/// The secrets of a store, if it has any.
///
/// *Errors*: a store that was given up.
pub(crate) fn secrets(store: &Store) -> Result<Option<Kept<Secrets>>, ProtocolError> {
    Kept::read(STATE, store)
}
