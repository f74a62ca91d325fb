//! Tests of leaky triples whose outcome some parties do not know: nobody can escape one.
//!
//! A cheat that sees the products of all honest parties knows whether its guess was right, and could hang up if it was not: a free try at the next meeting. So
//! a party keeps where its last test stands, durably if there is a store:
//!
//! | stage | written before | |
//! |---|---|---|
//! | committed | its commitment leaves | its product, with the opening |
//! | open | its product leaves | the commitments of all |
//! | passed | anything else is made | the products add up to zero |
//!
//! A party that is at the second stage when the parties meet again does nothing else before all have opened the very same products. Whoever was at the first
//! goes through the second first. A party that has no record of the test, or another one, leaves the stores unusable; a false sum gives them up. The batch is
//! not resumed. The record of a test stays until that of the next.
//!
//! Before a party has opened its product, nobody knows anything of the outcome, since pads between honest parties hide all of them.

use garblet_circuit::Party;
use garblet_net::PerPeer;
use garblet_primitives::{Block, Commitment, Opening, secrets};
use garblet_protocol::{
    MeshSession,
    conduct::Conduct,
    domain::{Domain, SessionId},
    error::ProtocolError,
    secrets::unreadable,
};
use garblet_store::{State, Store};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{
    NAME, Step,
    checks::{ZERO, ZERO_OPENING, somebody_cheats},
    messages::broadcast,
    place::Place,
    secrets::VERSION,
    shares::block_of,
};
use crate::coins::COMMITMENT_BYTES;

/// The name of the state in a store.
const STATE: &str = "authenticated-bmr test";

/// The stage of a test at a party.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    Committed,
    Open,
    Passed,
}

/// A party's side of the last test.
///
/// *Secret* until it is open; wiped on drop.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(super) struct LastTest {
    /// The name of the batch.
    name: [u8; 32],
    product: [u8; 16],
    opening: [u8; 32],
    commitment: [u8; COMMITMENT_BYTES],
    /// Those of the others in order, once they have come.
    commitments: Vec<[u8; COMMITMENT_BYTES]>,
    #[zeroize(skip)]
    stage: Stage,
}

/// A party's word on its last test when all meet.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Told {
    name: [u8; 32],
    is_open: bool,
}

impl Told {
    /// The name of the batch.
    #[cfg(test)]
    pub(super) fn name(self) -> [u8; 32] {
        self.name
    }

    /// Tells whether the party does not know the outcome.
    pub(super) fn is_open(self) -> bool {
        self.is_open
    }
}

/// The domain of a party's commitment in the batch with this name, regardless of the session in which it is opened.
pub(super) fn domain(name: [u8; 32], party: u16) -> Domain {
    SessionId::new(NAME, name, [[0; 32]; 2]).domain(Party(party), Place::Zero as u8)
}

impl LastTest {
    /// Commits to a product.
    pub(super) fn commit(name: [u8; 32], party: Party, product: [u8; 16], rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        let (commitment, opening) = domain(name, party.0).commit(&product, rng);
        let (commitment, opening) = (commitment.to_bytes(), opening.to_bytes());
        LastTest { name, product, opening, commitment, commitments: Vec::new(), stage: Stage::Committed }
    }

    /// The first message.
    pub(super) fn commitment(&self) -> &[u8] {
        &self.commitment
    }

    /// The second message, once the commitments of all have come.
    pub(super) fn opening(&self) -> Vec<u8> {
        [&self.product[..], &self.opening].concat()
    }

    /// Takes the commitments of all others.
    pub(super) fn hear(&mut self, commitments: &PerPeer<Vec<u8>>) {
        self.commitments = commitments.iter().map(|(_, commitment)| read(commitment)).collect();
        self.stage = Stage::Open;
    }

    /// Tells whether the products of all, opened, add up to zero: then the test has passed.
    ///
    /// *Errors*: [`ZERO_OPENING`], of the party that opens something else; [`ZERO`].
    pub(super) fn judge(&mut self, openings: &PerPeer<Vec<u8>>) -> Result<(), ProtocolError> {
        assert_eq!(self.commitments.len(), openings.iter().len(), "a commitment of every other party");
        let mut sum = Block::from_bytes(self.product);
        for ((peer, message), commitment) in openings.iter().zip(&self.commitments) {
            let (product, opening) = message.split_at(self.product.len());
            let (commitment, opening) = (Commitment::from_bytes(*commitment), Opening::from_bytes(read(opening)));
            let opens = domain(self.name, peer).open(&commitment, product, &opening);
            opens.map_err(|_| {
                ProtocolError::cheats(Party(peer), ZERO_OPENING, "the message does not open the commitment")
            })?;
            sum ^= block_of(product);
        }
        match secrets::verdict(sum.ct_eq(&Block::ZERO), "authenticated-bmr: whether all leaky triples are products") {
            true => {
                self.stage = Stage::Passed;
                Ok(())
            }
            false => Err(somebody_cheats(ZERO, "the products do not add up to zero")),
        }
    }

    /// Reads it from a store.
    ///
    /// *Errors*: a state of another version.
    pub(super) fn of(store: &Store) -> Result<Option<Self>, ProtocolError> {
        let Some(bytes) = store.state_of(STATE, VERSION)? else { return Ok(None) };
        postcard::from_bytes(bytes).map(Some).map_err(|_| unreadable("the last test"))
    }

    /// Writes it, durably.
    ///
    /// *Errors*: the store's.
    pub(super) fn keep(&self, store: &mut Store) -> Result<(), ProtocolError> {
        Ok(store.set_state(STATE, State::encoded(VERSION, self))?)
    }

    /// Forgets the last test, with the secrets that it was made with.
    ///
    /// *Errors*: the store's.
    pub(super) fn forget(store: &mut Store) -> Result<(), ProtocolError> {
        Ok(store.remove_states(|place| place == STATE)?)
    }

    /// Tells whether this party has opened its product and does not know the outcome.
    pub(super) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// The word for the others.
    pub(super) fn told(&self) -> Told {
        Told { name: self.name, is_open: self.is_open() }
    }
}

/// Settles the last test at a meeting, before anything else, if somebody does not know its outcome: all open the same products once more.
///
/// *Shape*: `told` by all others; `same` if all have the same secrets, as they do if this party's test is open. *Errors*: [`ProtocolError::Unsettled`], if somebody has no record of the test or another one, of the party if it is one; those
/// of [`LastTest::judge`]: give the store up; the connections'.
pub(super) async fn settle<K: Conduct<Step>>(
    session: &mut MeshSession,
    store: &mut Store,
    own: Option<LastTest>,
    (told, same): (&PerPeer<Option<Told>>, bool),
    conduct: &mut K,
) -> Result<(), ProtocolError> {
    let folder = store.folder().to_path_buf();
    let unsettled = |reason| ProtocolError::Unsettled { folder: folder.clone(), reason };
    let of_party = |peer, reason| ProtocolError::Peer { party: Party(peer), source: Box::new(unsettled(reason)) };
    let fits = |told: Option<Told>, name| told.is_some_and(|told| told.name == name);
    let asks = || told.iter().find(|(_, told)| told.is_some_and(Told::is_open));
    let mut test = match own {
        // All had written their commitments down before they told them.
        Some(test) if test.is_open() => match told.iter().find(|(_, told)| !fits(**told, test.name)) {
            None => test,
            Some((peer, _)) => {
                return Err(of_party(peer, "this party has no record of it, as its store is another or was restored"));
            }
        },
        own => {
            let Some((peer, asked)) = asks() else { return Ok(()) };
            let reason = "this party asks for triples of which this store has no record";
            match own.filter(|test| fits(*asked, test.name)) {
                None => return Err(of_party(peer, reason)),
                // Whoever lacks the record, or has renewed its secrets since, may be honest if the one that asks lies.
                Some(test) if !same || told.iter().any(|(_, told)| !fits(*told, test.name)) => {
                    return Err(unsettled("not all parties have a record of it"));
                }
                Some(test) => test,
            }
        }
    };
    let commitments = broadcast(session, (Step::ProductCommitment, conduct), test.commitment()).await?;
    match test.stage {
        Stage::Committed => {
            test.hear(&commitments);
            test.keep(store)?;
        }
        Stage::Open | Stage::Passed => {
            let mut both = commitments.iter().zip(&test.commitments);
            if let Some(((peer, _), _)) = both.find(|((_, said), heard)| said[..] != heard[..]) {
                return Err(of_party(peer, "this party says another commitment than before"));
            }
        }
    }
    let openings = broadcast(session, (Step::Product, conduct), &test.opening()).await?;
    test.judge(&openings)?;
    test.keep(store)
}

/// An array at the start of a message that is long enough.
fn read(message: &[u8]) -> [u8; 32] {
    *message.first_chunk().unwrap_or(&[0; 32])
}
