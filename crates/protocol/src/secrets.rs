//! The state in which a protocol keeps the secrets of a store: emptied once the peer is caught cheating, since a peer that may try again with the same secrets
//! learns a bit each time.

use garblet_store::{State, Store};

use crate::{error::ProtocolError, kept};

/// A protocol's state: its name in the store, and the version of its contents.
#[derive(Clone, Copy)]
pub struct SecretsState {
    /// The name.
    pub name: &'static str,
    /// The version.
    pub version: u32,
}

impl SecretsState {
    /// The secrets as they are stored, if the store has any yet.
    ///
    /// *Errors*: the store's, for secrets of another version; [`ProtocolError::Stored`] for a store that was given up.
    pub fn read(self, store: &Store) -> Result<Option<&[u8]>, ProtocolError> {
        match store.state_of(self.name, self.version)? {
            Some([]) => Err(given_up()),
            bytes => Ok(bytes),
        }
    }

    /// Passes on the result of a step. If a check of the peer failed in it, the store is given up. A peer that closes or sends malformed bytes loses nothing:
    /// somebody between the two could make it seem to.
    ///
    /// *Errors*: the step's; [`ProtocolError::NotGivenUp`].
    pub fn revoke_if_cheated<T>(self, store: &mut Store, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
        match result {
            Err(error) if error.is_evidence() => {
                let nothing = State { version: self.version, bytes: Vec::new() };
                match store.give_up(self.name, nothing, kept::is_place) {
                    Ok(()) => Err(error),
                    Err(failed) => Err(ProtocolError::NotGivenUp { source: Box::new(error), failed }),
                }
            }
            result => result,
        }
    }
}

/// The error for a store that was given up.
pub fn given_up() -> ProtocolError {
    let expected = "one that has not cheated".into();
    let got = "one that was found to cheat, so the store was given up; remove it to begin anew".into();
    ProtocolError::Stored { what: "the peer", expected, got }
}

/// The error for a store that returned something other than was put into it.
pub fn unreadable(what: &'static str) -> ProtocolError {
    ProtocolError::Stored { what, expected: "what was stored".into(), got: "other bytes".into() }
}

#[cfg(test)]
mod tests {
    use garblet_net::NetError;
    use garblet_primitives::{Block, Prg};
    use garblet_store::StoreError;

    use super::*;
    use crate::checks::{Cheating, Check};

    const STATE: SecretsState = SecretsState { name: "secrets", version: 3 };

    #[test]
    fn the_secrets_of_a_store_are_erased_once_the_peer_has_cheated_and_not_before() {
        let mut store = Store::in_memory(&mut Prg::new(Block::ZERO)).expect("memory");
        assert_eq!(STATE.read(&store).expect("it is new"), None);
        store.set_state(STATE.name, State { version: 3, bytes: vec![7] }).expect("memory");
        store.set_state(&kept::place("x"), State { version: 1, bytes: vec![8] }).expect("memory");
        let closed = || NetError::PeerClosed { doing: "for bits".into() };
        let error = STATE.revoke_if_cheated::<()>(&mut store, Err(closed().into())).expect_err("it is passed on");
        assert!(matches!(error, ProtocolError::Net(NetError::PeerClosed { .. })), "{error}");
        assert_eq!(STATE.read(&store).expect("they are there"), Some(&[7][..]));
        let other = SecretsState { version: 4, ..STATE };
        let refused = other.read(&store).expect_err("it is of another version");
        assert!(
            matches!(refused, ProtocolError::Store(StoreError::OtherFormat { expected: 4, got: 3, .. })),
            "{refused}"
        );
        let cheating = Cheating::new(Check::new("CHECK", "it did something"), "here");
        let error = STATE.revoke_if_cheated::<()>(&mut store, Err(cheating.into())).expect_err("it is passed on");
        assert!(matches!(error, ProtocolError::Cheating(_)), "{error}");
        assert!(matches!(STATE.read(&store), Err(ProtocolError::Stored { what: "the peer", .. })));
        assert!(store.state(&kept::place("x")).is_none());
    }
}
