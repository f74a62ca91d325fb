//! Equality checks whose outcome one party does not know: no party can escape one.
//!
//! A garbler could learn from the evaluator's digest that it is caught, and hang up: a free try. So the evaluator is *unsettled* from the moment it sends its
//! digest until the garbler's matches, durably if there is a store: at the next meeting the garbler opens its commitment, or nothing else is done. The garbler
//! stores its digest before it sends the commitment, and the evaluator's digest before it opens.
//!
//! The order on disk: the evaluator's digest leaves after the store says that the check is open; the garbler's commitment and its opening leave after they are
//! stored. At a meeting nothing is compared, taken or made before every open check is settled, and a participant makes nothing after a batch that did not end
//! well.

use garblet_primitives::{Opening, secrets};
use garblet_protocol::{
    checks::Cheating,
    domain::{Domain, SessionId},
    error::ProtocolError,
    secrets::unreadable,
    session::Session,
};
use garblet_store::{State, Store};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::pieces::VERSION;
use crate::{
    GARBLER, NAME, checks,
    coins::{OPENING_BYTES, opened},
    place::Place,
};

/// The name of the state in a store.
const STATE: &str = "authenticated check";

/// A party's side of the last equality check.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum LastCheck {
    /// The garbler's: the name of the batch, its digest, the opening of the commitment, and the evaluator's digest if it has arrived.
    Committed { name: [u8; 32], digest: [u8; 32], opening: [u8; 32], heard: Option<[u8; 32]> },
    /// The evaluator's, until the garbler's digest matches: the name of the batch, its digest, and the garbler's commitment.
    Unsettled { name: [u8; 32], digest: [u8; 32], commitment: [u8; 32] },
    /// No check is open.
    Settled,
}

/// The domain of the commitment of the batch with this name, regardless of the session in which it is opened.
pub(crate) fn commitment_domain(name: [u8; 32]) -> Domain {
    SessionId::new(NAME, name, [[0; 32]; 2]).domain(GARBLER, Place::Equality as u8)
}

/// The message that opens a digest.
pub(crate) fn opening_message(digest: &[u8; 32], opening: &Opening) -> [u8; OPENING_BYTES] {
    let mut message = [0; OPENING_BYTES];
    message[..32].copy_from_slice(digest);
    message[32..].copy_from_slice(&opening.to_bytes());
    message
}

/// Checks the message that opens the garbler's digest against the evaluator's.
///
/// *Errors*: [`checks::EQUALITY_OPENING`], [`checks::EQUALITY`].
pub(crate) fn check_opening(
    name: [u8; 32],
    digest: &[u8; 32],
    commitment: [u8; 32],
    message: &[u8; OPENING_BYTES],
) -> Result<(), Cheating> {
    let theirs = opened(&commitment_domain(name), commitment, message)
        .ok_or_else(|| Cheating::new(checks::EQUALITY_OPENING, "it does not open the commitment"))?;
    let fits = digest.ct_eq(&theirs);
    match secrets::verdict(fits, "authenticated: whether the digests of a batch are equal") {
        true => Ok(()),
        false => Err(differs()),
    }
}

/// The failure of the check.
pub(crate) fn differs() -> Cheating {
    Cheating::new(checks::EQUALITY, "the digests of a batch differ")
}

impl LastCheck {
    /// Reads it from a store.
    ///
    /// *Errors*: a state of another version.
    pub(crate) fn of(store: &Store) -> Result<Self, ProtocolError> {
        let Some(bytes) = store.state_of(STATE, VERSION)? else { return Ok(LastCheck::Settled) };
        postcard::from_bytes(bytes).map_err(|_| unreadable("the last check"))
    }

    /// Tells whether this party, the evaluator, does not know how a check of the peer ended.
    pub(crate) fn is_unsettled(&self) -> bool {
        matches!(self, LastCheck::Unsettled { .. })
    }

    /// Refuses to do anything else while this party, the evaluator, does not know how a check of the peer ended.
    ///
    /// *Errors*: [`ProtocolError::Unsettled`].
    pub(crate) fn must_be_settled(&self, store: &Store) -> Result<(), ProtocolError> {
        let reason = "the peer must open it when the stores meet again";
        match self.is_unsettled() {
            true => Err(ProtocolError::Unsettled { folder: store.folder().into(), reason }),
            false => Ok(()),
        }
    }

    /// Writes it, durably.
    ///
    /// *Errors*: the store's.
    pub(crate) fn keep(&self, store: &mut Store) -> Result<(), ProtocolError> {
        Ok(store.set_state(STATE, State::encoded(VERSION, self))?)
    }

    /// The evaluator's open check, for the peer.
    pub(crate) fn told(&self) -> Option<[[u8; 32]; 2]> {
        match self {
            LastCheck::Unsettled { name, digest, .. } => Some([*name, *digest]),
            _ => None,
        }
    }

    /// Fails again if the peer's digest is known to differ, since this party may have been cut off while it gave the store up.
    ///
    /// *Errors*: [`checks::EQUALITY`]; give the store up.
    pub(crate) fn judge(&self) -> Result<(), ProtocolError> {
        match self {
            LastCheck::Committed { digest, heard: Some(theirs), .. } if !bool::from(digest.ct_eq(theirs)) => {
                Err(differs().into())
            }
            _ => Ok(()),
        }
    }

    /// Settles an open check at a meeting, before anything else: the garbler opens its digest to an evaluator that does not know it, and the
    /// evaluator checks it.
    ///
    /// *Errors*: digests that differ: give the store up; a peer that does not settle.
    pub(crate) async fn settle(
        self,
        session: &mut Session,
        store: &mut Store,
        peer: Option<[[u8; 32]; 2]>,
    ) -> Result<(), ProtocolError> {
        if let Some([name, theirs]) = peer {
            return self.answer(session, store, name, theirs).await;
        }
        if let LastCheck::Unsettled { name, digest, commitment } = self {
            let mut message = [0; OPENING_BYTES];
            session.channel().receive_bytes(&mut message).await?;
            check_opening(name, &digest, commitment, &message)?;
            LastCheck::Settled.keep(store)?;
        }
        Ok(())
    }

    /// The garbler's answer to an evaluator that does not know the outcome of a batch.
    async fn answer(
        self,
        session: &mut Session,
        store: &mut Store,
        name: [u8; 32],
        theirs: [u8; 32],
    ) -> Result<(), ProtocolError> {
        let unsettled = |reason| Err(ProtocolError::Unsettled { folder: store.folder().into(), reason });
        let LastCheck::Committed { name: own_name, digest, mut opening, heard } = self else {
            return unsettled("the peer asks for a batch that this store does not know");
        };
        if own_name != name {
            return unsettled("the peer asks for another batch than the last one of this store");
        }
        if heard.is_some_and(|heard| heard != theirs) {
            return unsettled("the peer says another digest of it than before");
        }
        LastCheck::Committed { name, digest, opening, heard: Some(theirs) }.keep(store)?;
        if !secrets::verdict(digest.ct_eq(&theirs), "authenticated: whether the digests of a batch are equal") {
            return Err(differs().into());
        }
        let message = opening_message(&digest, &Opening::from_bytes(opening));
        opening.zeroize();
        session.channel().send_bytes(&message).await?;
        Ok(session.channel().flush().await?)
    }
}
