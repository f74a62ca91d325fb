//! The secrets behind a store's pieces, as they are stored.

use garblet_protocol::{
    error::ProtocolError,
    secrets::{SecretsState, given_up, unreadable},
};
use garblet_store::{State, Store};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The state that a party keeps as long as its store.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Kept<S: Zeroize> {
    /// The name of the secrets, which all parties know.
    pub(crate) name: [u8; 32],
    pub(crate) secrets: S,
    /// The probability of an insecure triple among all that were made with these secrets.
    pub(crate) insecure: f64,
}

impl<S: Zeroize + Serialize + DeserializeOwned> Kept<S> {
    /// The secrets of a store, if it has any.
    ///
    /// *Errors*: a store that was given up.
    pub(crate) fn read(place: SecretsState, store: &Store) -> Result<Option<Self>, ProtocolError> {
        let Some(bytes) = place.read(store)? else { return Ok(None) };
        Ok(Some(postcard::from_bytes(bytes).map_err(|_| unreadable("secrets"))?))
    }

    /// Writes them, durably.
    ///
    /// *Errors*: the store's.
    pub(crate) fn write(&self, place: SecretsState, store: &mut Store) -> Result<(), ProtocolError> {
        Ok(store.set_state(place.name, State::encoded(place.version, self))?)
    }

    /// Counts a batch, durably, before anything of it is made.
    ///
    /// *Errors*: the store's; one that was given up.
    pub(crate) fn count(
        kept: &mut Option<Self>,
        (place, store): (SecretsState, &mut Store),
        insecure: f64,
    ) -> Result<(), ProtocolError> {
        let kept = kept.as_mut().ok_or_else(given_up)?;
        if kept.insecure >= insecure {
            return Ok(());
        }
        kept.insecure = insecure;
        kept.write(place, store)
    }

    /// Passes on the result of a step. If a check failed in it, the store is given up.
    pub(crate) fn revoked<T>(
        kept: &mut Option<Self>,
        (place, store): (SecretsState, &mut Store),
        result: Result<T, ProtocolError>,
    ) -> Result<T, ProtocolError> {
        let result = place.revoke_if_cheated(store, result);
        kept.take_if(|_| result.as_ref().is_err_and(ProtocolError::is_evidence));
        result
    }
}
