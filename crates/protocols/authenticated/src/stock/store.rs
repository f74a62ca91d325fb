//! Prepared pieces in a store: what both parties have of them, each taken once.

use garblet_circuit::Party;
use garblet_protocol::{
    error::{Missing, NotPrepared, ProtocolError},
    session::Session,
};
use garblet_store::{Batch, Binding, IdSet, Kind, State, Store, StoreError, Taken};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    messages::Has,
    pieces::{GROUP, KINDS, VERSION, append, unreadable},
    saved,
    unsettled::LastCheck,
};
use crate::{GARBLER, NAME, amounts::Amounts, config::Config, place::Place, secrets::Secrets, shares::Made};
use garblet_protocol::domain::SessionId;

/// The name of the protocol's state in a store. Empty once the peer has cheated.
const STATE: &str = "authenticated";

/// The state that a party keeps as long as its store.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Kept {
    /// The name of the secrets, which both parties know.
    pub(crate) name: [u8; 32],
    pub(crate) secrets: Secrets,
    /// The probability of an insecure triple.
    pub(crate) insecure: f64,
}

/// A party's store.
pub(crate) struct Stock {
    pub(crate) store: Store,
    pub(crate) kept: Option<Kept>,
    /// The name of the meeting.
    pub(crate) meeting: SessionId,
    /// Set if the secrets of both are the same; otherwise new ones are made.
    pub(crate) same: bool,
    /// Pieces that were given up.
    pub(crate) lost: u64,
}

impl Stock {
    /// Both say what their stores have, settle what is left open, and give up what only one has.
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
            protocol: format!("{NAME} {VERSION}, {} bits, k = {}", config.statistical.bits(), config.ot_width.bits()),
            library: String::new(),
        })?;
        let kept = kept(&store)?;
        let last = LastCheck::of(&store)?;
        let judged = last.judge();
        revoke_if_cheated(&mut store, judged)?;
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
        revoke_if_cheated(&mut store, settled)?;
        let lost: u64 = store.reconcile(&theirs.summary)?.dropped.iter().map(|(_, count)| count).sum();
        let nonces = if party == GARBLER { [nonce, theirs.nonce] } else { [theirs.nonce, nonce] };
        let meeting = SessionId::new(NAME, name.filter(|_| same).unwrap_or_default(), nonces);
        Ok(Stock { store, kept, meeting, same, lost })
    }

    /// Keeps new secrets in place of others, once both parties have them: a peer's word alone, that it has none, costs no secrets.
    ///
    /// *Errors*: the store's.
    pub(crate) fn replace(&mut self, secrets: Secrets) -> Result<(), ProtocolError> {
        saved::forget(&mut self.store)?;
        self.lost += self.store.clear()?;
        LastCheck::Settled.keep(&mut self.store)?;
        self.kept = Some(Kept {
            name: self.meeting.domain(GARBLER, Place::SecretsName as u8).digest(b""),
            secrets,
            insecure: 0.0,
        });
        self.keep()
    }

    /// Counts a batch, durably, before anything of it is made.
    ///
    /// *Errors*: the store's; one that was given up.
    pub(crate) fn count(&mut self, insecure: f64) -> Result<(), ProtocolError> {
        let kept = self.kept.as_mut().ok_or_else(given_up)?;
        if kept.insecure >= insecure {
            return Ok(());
        }
        kept.insecure = insecure;
        self.keep()
    }

    fn keep(&mut self) -> Result<(), ProtocolError> {
        match &self.kept {
            Some(kept) => Ok(self.store.set_state(STATE, State::encoded(VERSION, kept))?),
            None => Ok(()),
        }
    }

    /// The amounts that the store has.
    pub(crate) fn has(&self) -> Amounts {
        let [triples, masks] = kinds().map(|kind| self.store.count(&kind) * GROUP as u64);
        Amounts { triples, masks }
    }

    /// Puts pieces into the store, all or none.
    ///
    /// *Errors*: the store's.
    pub(crate) fn put(&mut self, made: &Made) -> Result<(), ProtocolError> {
        self.kept.as_ref().ok_or_else(given_up)?;
        let [of_triples, of_masks] = kinds();
        let mut batch = self.store.batch();
        let mut bytes = Zeroizing::new(Vec::with_capacity(96 * GROUP));
        for piece in 0..made.triples / GROUP {
            bytes.clear();
            for factor in made.factors() {
                let start = factor.start + piece * GROUP;
                append(&made.shares, start..start + GROUP, &mut bytes);
            }
            push(&mut batch, &of_triples, &bytes)?;
        }
        let masks = made.masks();
        for piece in 0..masks.len() / GROUP {
            bytes.clear();
            let start = masks.start + piece * GROUP;
            append(&made.shares, start..start + GROUP, &mut bytes);
            push(&mut batch, &of_masks, &bytes)?;
        }
        Ok(batch.commit()?)
    }

    /// Takes the triples and masks that a run needs. When it returns, it is durable that this is used.
    ///
    /// *Errors*: [`NotPrepared`] if there is less; pieces that were changed.
    pub(crate) fn take(&mut self, amounts: Amounts) -> Result<[Taken; 2], ProtocolError> {
        self.kept.as_ref().ok_or_else(given_up)?;
        let lacks = self.lacks(amounts);
        let all = [(amounts.triples, lacks.triples), (amounts.masks, lacks.masks)];
        let missing = KINDS.into_iter().zip(all).filter(|(_, (_, missing))| *missing > 0);
        let missing: Vec<Missing> =
            missing.map(|(name, (needed, missing))| Missing { name: name.into(), needed, missing }).collect();
        if !missing.is_empty() {
            return Err(NotPrepared::Missing(missing).into());
        }
        let request = |(kind, amount): (Kind, u64)| {
            let ids: IdSet = self.store.stock_of(&kind).available.first(amount.div_ceil(GROUP as u64));
            (kind, ids)
        };
        let request: Vec<(Kind, IdSet)> =
            kinds().into_iter().zip([amounts.triples, amounts.masks]).map(request).collect();
        Ok(self.store.take_all(&request)?.try_into().map_err(|_| StoreError::Broken)?)
    }

    /// The part of these amounts that the store lacks.
    pub(crate) fn lacks(&self, amounts: Amounts) -> Amounts {
        let has = self.has();
        Amounts { triples: amounts.triples.saturating_sub(has.triples), masks: amounts.masks.saturating_sub(has.masks) }
    }
}

/// Passes on the result of a step; if a check of the peer failed in it, all that the store has is given up. A peer that closes or sends malformed
/// bytes loses nothing: somebody on the way could make it seem to.
pub(crate) fn revoke_if_cheated<T>(store: &mut Store, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
    match result {
        Err(error) if error.is_evidence() => match revoke(store) {
            Ok(()) => Err(error),
            Err(failed) => Err(ProtocolError::NotGivenUp { source: Box::new(error), failed }),
        },
        result => result,
    }
}

/// Gives up everything, for good: a peer that was found out has risked it once, and must not get another chance with the same secrets.
fn revoke(store: &mut Store) -> Result<(), StoreError> {
    // First of all the secrets, so that nothing is left to go on with if this process ends in between.
    store.set_state(STATE, State { version: VERSION, bytes: Vec::new() })?;
    saved::forget(store)?;
    store.clear().map(drop)
}

fn push(batch: &mut Batch<'_>, kind: &Kind, bytes: &[u8]) -> Result<(), ProtocolError> {
    Ok(batch.push(kind, batch.next_id(kind), bytes)?)
}

/// The kinds as stores know them: a piece has [`GROUP`] of each.
fn kinds() -> [Kind; 2] {
    KINDS.map(|name| Kind::in_groups(name, GROUP as u32, format!("{NAME} {VERSION}").as_bytes()))
}

/// The secrets of a store, if it has any.
///
/// *Errors*: a store that was given up.
pub(crate) fn kept(store: &Store) -> Result<Option<Kept>, ProtocolError> {
    let Some(state) = store.state(STATE) else { return Ok(None) };
    if state.version != VERSION {
        let [expected, got] = [VERSION, state.version].map(|version| version.to_string());
        return Err(ProtocolError::Material { what: "version of the store's state", expected, got });
    }
    if state.bytes.is_empty() {
        return Err(given_up());
    }
    Ok(Some(postcard::from_bytes(&state.bytes).map_err(|_| unreadable("secrets"))?))
}

/// A store that is of no use any more.
fn given_up() -> ProtocolError {
    let expected = "a store whose peer has not cheated".into();
    let got = "one that was given up when the peer was found to cheat; remove it to begin anew".into();
    ProtocolError::Material { what: "store", expected, got }
}

/// A role that was set up without a store has nothing to keep anything in.
pub(crate) fn no_store() -> ProtocolError {
    ProtocolError::Material { what: "store", expected: "one, to keep values in".into(), got: "none".into() }
}
