//! Coins that both parties toss at once: each commits to a share, and opens it when everything that depends on the coins is fixed.

use garblet_circuit::Party;
use garblet_primitives::{Block, Commitment, Opening, Prg, secrets};
use garblet_protocol::{checks::Cheating, domain::Domain};
use rand_core::CryptoRng;

use crate::checks;

/// Bytes of a share and its opening.
pub(crate) const SHARE_BYTES: usize = 32;
pub(crate) const OPENING_BYTES: usize = SHARE_BYTES + 32;
/// Bytes of a commitment.
pub(crate) const COMMITMENT_BYTES: usize = 32;

/// A party's share, committed to.
pub(crate) struct Coin {
    share: [u8; SHARE_BYTES],
    opening: Opening,
}

impl Coin {
    /// Draws a share; returns the commitment to it too.
    pub(crate) fn commit(domain: &Domain, rng: &mut (impl CryptoRng + ?Sized)) -> (Self, [u8; COMMITMENT_BYTES]) {
        let mut share = [0; SHARE_BYTES];
        rng.fill_bytes(&mut share);
        let (commitment, opening) = domain.commit(&share, rng);
        (Coin { share, opening }, commitment.to_bytes())
    }

    /// The share.
    pub(crate) fn share(&self) -> [u8; SHARE_BYTES] {
        self.share
    }

    /// The message that opens it.
    pub(crate) fn message(&self) -> [u8; OPENING_BYTES] {
        let mut message = [0; OPENING_BYTES];
        message[..SHARE_BYTES].copy_from_slice(&self.share);
        message[SHARE_BYTES..].copy_from_slice(&self.opening.to_bytes());
        message
    }

    /// The coins of both, from the peer's commitment and opening, each in the domain of its own party.
    ///
    /// *Errors*: [`checks::COIN_TOSS_OPENING`].
    pub(crate) fn toss(
        &self,
        domain: impl Fn(Party) -> Domain,
        [own, peer]: [Party; 2],
        commitment: [u8; COMMITMENT_BYTES],
        message: &[u8; OPENING_BYTES],
    ) -> Result<Prg, Cheating> {
        let theirs = opened(&domain(peer), commitment, message)
            .ok_or_else(|| Cheating::new(checks::COIN_TOSS_OPENING, "its share"))?;
        let sum: [u8; SHARE_BYTES] = std::array::from_fn(|at| self.share[at] ^ theirs[at]);
        let first = if own.0 < peer.0 { own } else { peer };
        let coins = Block::from_digest(&domain(first).branch(1).digest(&sum));
        Ok(Prg::new(secrets::public(coins, "coins: both parties know them once both shares are opened")))
    }
}

/// The 32 bytes to which a message opens a commitment, if it does.
pub(crate) fn opened(domain: &Domain, commitment: [u8; 32], message: &[u8; OPENING_BYTES]) -> Option<[u8; 32]> {
    let (value, opening) = message.split_at(SHARE_BYTES);
    let (value, opening): ([u8; 32], [u8; 32]) = (value.try_into().ok()?, opening.try_into().ok()?);
    let commitment = Commitment::from_bytes(commitment);
    domain.open(&commitment, &value, &Opening::from_bytes(opening)).is_ok().then_some(value)
}
