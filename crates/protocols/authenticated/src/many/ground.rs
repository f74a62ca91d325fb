//! The state of a party of a session: its difference, the OTs with every other party, and the names of everything.

use garblet_circuit::Party;
use garblet_net::PerPeer;
use garblet_primitives::{Block, Commitment, Delta, Opening, Prg, secrets};
use garblet_protocol::{
    MeshSession,
    checks::{Check, Digests},
    conduct::Conduct,
    domain::{Domain, SessionId},
    error::ProtocolError,
};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Step,
    bits::Room,
    checks::{COIN_TOSS_OPENING, ECHO, somebody_cheats},
    messages,
    place::Place,
    stock::Stock,
};
use crate::{
    coins::{self, COMMITMENT_BYTES, Coin, OPENING_BYTES, SHARE_BYTES},
    ots::Ots,
};

/// Bytes of a digest.
pub(super) const DIGEST_BYTES: usize = 32;

/// The OTs of two parties in both directions, and a secret that they have in common.
pub(super) struct Pair {
    pub(super) ots: Ots,
    /// *Secret*: from everybody outside the pair.
    pub(super) seed: Zeroizing<Block>,
}

/// A message that all parties commit to and then open.
pub(super) struct Opened {
    /// The place and the number of the commitment.
    pub(super) place: Place,
    pub(super) number: u64,
    /// The message before the commitment, the commitment, and the opening.
    pub(super) steps: [Step; 3],
    /// The check that fails if the opening is of something else.
    pub(super) check: Check,
}

/// The state of a party of a session.
pub(super) struct Ground<K> {
    pub(super) party: Party,
    /// This party's difference in OTs.
    pub(super) in_ots: Delta,
    /// The same with bit 0 set, from which shares are made.
    pub(super) delta: Delta,
    pub(super) pairs: PerPeer<Pair>,
    pub(super) id: SessionId,
    /// Memory for the next batch, until all are made.
    pub(super) rooms: Vec<Room>,
    /// Batches and runs so far.
    pub(super) batches: u64,
    pub(super) runs: u64,
    /// The material and secrets on disk, if there is a store.
    pub(super) stock: Option<Stock>,
    /// Set during every step, and forever once one failed: these differences are never used again, since others may have guessed bits of them.
    pub(super) over: bool,
    pub(super) conduct: K,
}

impl<K: Conduct<Step>> Ground<K> {
    /// The number of parties.
    pub(super) fn parties(&self) -> u16 {
        self.pairs.party_count()
    }

    /// All parties in order.
    pub(super) fn everybody(&self) -> impl Iterator<Item = Party> + use<K> {
        (0..self.parties()).map(Party)
    }

    /// Refuses to continue after a step failed.
    ///
    /// *Errors*: [`ProtocolError::Over`].
    pub(super) fn check_sound(&self) -> Result<(), ProtocolError> {
        if self.over { Err(ProtocolError::Over) } else { Ok(()) }
    }

    /// Passes on the result of a step. If a check failed in it, these differences are never used again, and the store is given up.
    pub(super) fn revoked<T>(&mut self, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
        self.over |= result.as_ref().is_err_and(ProtocolError::is_evidence);
        match &mut self.stock {
            Some(stock) => stock.revoked(result),
            None => result,
        }
    }

    /// The domain of a party's values at a place, with a number.
    pub(super) fn domain(&self, party: Party, place: Place, number: u64) -> Domain {
        self.id.domain(party, place as u8).at(number)
    }

    /// The domain of values that all parties have in common.
    pub(super) fn common(&self, place: Place, number: u64) -> Domain {
        self.domain(Party(0), place, number)
    }

    /// A stream of shares of zero: those of all parties add up to nothing.
    pub(super) fn zeros(&self, place: Place, number: u64) -> Zeros {
        let domain = self.common(place, number);
        Zeros(self.pairs.iter().map(|(_, pair)| domain.stream(*pair.seed)).collect())
    }

    /// As [`messages::exchange`].
    ///
    /// *Errors*: the connections'.
    pub(super) async fn exchange(
        &mut self,
        session: &mut MeshSession,
        step: Step,
        outgoing: PerPeer<Vec<u8>>,
        expected: impl Fn(Party) -> usize,
    ) -> Result<PerPeer<Vec<u8>>, ProtocolError> {
        messages::exchange(session, (step, &mut self.conduct), outgoing, expected).await
    }

    /// As [`messages::broadcast`].
    ///
    /// *Errors*: the connections'.
    pub(super) async fn broadcast(
        &mut self,
        session: &mut MeshSession,
        step: Step,
        message: &[u8],
    ) -> Result<PerPeer<Vec<u8>>, ProtocolError> {
        messages::broadcast(session, (step, &mut self.conduct), message).await
    }

    /// The messages of all parties, in order.
    pub(super) fn in_order<'a>(&self, own: &'a [u8], theirs: &'a PerPeer<Vec<u8>>) -> Vec<&'a [u8]> {
        self.everybody().map(|party| theirs.get(party.0).map_or(own, |message| &message[..])).collect()
    }

    /// Commits to a message, and opens the commitment once those of all have come. Returns the others' messages, which have the same length.
    ///
    /// *Errors*: the check, of the party that opens something else; the connections'.
    pub(super) async fn commit_and_open(
        &mut self,
        session: &mut MeshSession,
        Opened { place, number, steps: [own, commits, opens], check }: Opened,
        message: &mut [u8],
    ) -> Result<PerPeer<Vec<u8>>, ProtocolError> {
        self.conduct.touch(own, 0, message);
        let (commitment, opening) = self.domain(self.party, place, number).commit(message, session.rng());
        let commitments = self.broadcast(session, commits, &commitment.to_bytes()).await?;
        let opened = [message, &opening.to_bytes()[..]].concat();
        let mut all = self.broadcast(session, opens, &opened).await?;
        for ((peer, theirs), (_, commitment)) in all.iter_mut().zip(commitments.iter()) {
            let opening = theirs.split_off(message.len());
            let [commitment, opening] = [commitment, &opening].map(|bytes| *bytes.first_chunk().unwrap_or(&[0; 32]));
            let domain = self.domain(Party(peer), place, number);
            let opens = domain.open(&Commitment::from_bytes(commitment), theirs, &Opening::from_bytes(opening));
            opens.map_err(|_| ProtocolError::cheats(Party(peer), check, "the message does not open the commitment"))?;
        }
        Ok(all)
    }

    /// Commits to a share of coins; returns the commitment, too.
    pub(super) fn commit_coin(
        &self,
        session: &mut MeshSession,
        place: Place,
        number: u64,
    ) -> (Coin, [u8; COMMITMENT_BYTES]) {
        Coin::commit(&self.domain(self.party, place, number), session.rng())
    }

    /// Coins to which every party has contributed a share: a hash of all shares in order.
    ///
    /// *Shape*: `commitments` and `messages` of all others. *Errors*: [`COIN_TOSS_OPENING`].
    pub(super) fn coin(
        &self,
        (place, number): (Place, u64),
        own: &Coin,
        commitments: &PerPeer<Vec<u8>>,
        messages: &PerPeer<Vec<u8>>,
    ) -> Result<Block, ProtocolError> {
        let mut shares = Vec::with_capacity(SHARE_BYTES * usize::from(self.parties()));
        for party in self.everybody() {
            let share = match (commitments.get(party.0), messages.get(party.0)) {
                (Some(commitment), Some(message)) => {
                    let domain = self.domain(party, place, number);
                    opened(&domain, commitment, message).ok_or_else(|| {
                        ProtocolError::cheats(party, COIN_TOSS_OPENING, "the share does not open the commitment")
                    })?
                }
                _ => own.share(),
            };
            shares.extend_from_slice(&share);
        }
        let coin = Block::from_digest(&self.common(place, number).branch(1).digest(&shares));
        Ok(secrets::public(coin, "coins: all parties know them once all shares are opened"))
    }
}

/// Checks that all parties sent the same digest of `what`.
///
/// *Errors*: [`ECHO`], with where this party's digest and the first other one differ: parties that compare their errors see who heard the same.
pub(super) fn check_echo<'a>(
    own: &[u8; DIGEST_BYTES],
    theirs: impl Iterator<Item = &'a [u8]>,
    what: &str,
) -> Result<(), ProtocolError> {
    let theirs: Vec<&[u8]> = theirs.collect();
    let same = theirs.iter().fold(Choice::from(1), |same, theirs| same & own.ct_eq(theirs));
    if secrets::verdict(same, "authenticated-bmr: whether all parties heard the same") {
        return Ok(());
    }
    let differing = theirs.iter().find_map(|theirs| Digests::of(own, theirs));
    let differing = differing.map_or_else(String::new, |digests| format!(": {digests}"));
    Err(somebody_cheats(ECHO, &format!("the digests of {what} differ{differing}")))
}

/// The share to which a message opens a commitment, if it does.
fn opened(domain: &Domain, commitment: &[u8], message: &[u8]) -> Option<[u8; SHARE_BYTES]> {
    let message: &[u8; OPENING_BYTES] = message.try_into().ok()?;
    coins::opened(domain, commitment.try_into().ok()?, message)
}

/// A party's shares of zero, from streams that it has in common with each other party.
pub(super) struct Zeros(Vec<Prg>);

impl Zeros {
    /// The next share.
    pub(super) fn next(&mut self) -> Block {
        self.0.iter_mut().fold(Block::ZERO, |sum, stream| sum ^ stream.next_block())
    }

    /// Adds the next shares to blocks.
    pub(super) fn add_to(&mut self, blocks: &mut [Block]) {
        let mut room = Zeroizing::new(vec![Block::ZERO; blocks.len()]);
        for stream in &mut self.0 {
            stream.fill_blocks(&mut room);
            blocks.iter_mut().zip(room.iter()).for_each(|(block, zero)| *block ^= *zero);
        }
    }
}
