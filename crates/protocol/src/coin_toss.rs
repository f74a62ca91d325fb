//! Coin tossing: random coins that neither party can choose.
//!
//! *Source*: Blum 1981, with a hash commitment that is hiding and extractable in the random-oracle model, so that three
//! messages are enough where Lindell and Pinkas (EUROCRYPT 2007) take four.
//!
//! | message | from | what |
//! |---|---|---|
//! | 1 | committer | commitment to `a` |
//! | 2 | responder | `b` |
//! | 3 | committer | opening of `a` |
//!
//! The coins are `PRG(H(a + b))`. The committer knows them one message before the responder and may stop there, so use the coins to protect the responder.

use garblet_primitives::{Block, Commitment, Opening, Prg};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::{
    checks::Cheating,
    conduct::{Common, Conduct},
    domain::Domain,
    error::ProtocolError,
    session::Session,
};

crate::checks! {
    /// The opening of a coin toss matches the commitment.
    COIN_TOSS_OPENING = "it opened other coins than it committed to",
}

/// Bytes of the commitment, the first message.
pub const COMMITMENT_BYTES: usize = 32;
/// Bytes of the responder's share, the second message.
pub const SHARE_BYTES: usize = 32;
/// Bytes of the opening, the third message: the committer's share and the commitment's randomness.
pub const OPENING_BYTES: usize = 64;

/// Coins that both parties have tossed.
pub struct Coins(Prg);

impl Coins {
    /// The coins as a stream.
    pub fn into_stream(self) -> Prg {
        self.0
    }

    fn of(domain: &Domain, a: &[u8; SHARE_BYTES], b: &[u8; SHARE_BYTES]) -> Coins {
        let sum: [u8; SHARE_BYTES] = std::array::from_fn(|i| a[i] ^ b[i]);
        Coins(Prg::new(Block::from_digest(&domain.digest(&sum))))
    }
}

/// The party that commits. *Unique*: one per domain.
pub struct Committer {
    domain: Domain,
    share: Zeroizing<[u8; SHARE_BYTES]>,
    opening: Opening,
}

impl Committer {
    /// Draws a share; returns the first message too.
    pub fn commit(domain: Domain, rng: &mut (impl CryptoRng + ?Sized)) -> (Committer, [u8; COMMITMENT_BYTES]) {
        let mut share = Zeroizing::new([0; SHARE_BYTES]);
        rng.fill_bytes(&mut *share);
        let (commitment, opening) = domain.commit(&*share, rng);
        (Committer { domain, share, opening }, commitment.to_bytes())
    }

    /// Takes the second message; returns the coins and the third.
    pub fn open(self, theirs: &[u8; SHARE_BYTES]) -> (Coins, [u8; OPENING_BYTES]) {
        let mut message = [0; OPENING_BYTES];
        message[..SHARE_BYTES].copy_from_slice(&*self.share);
        message[SHARE_BYTES..].copy_from_slice(&self.opening.to_bytes());
        (Coins::of(&self.domain, &self.share, theirs), message)
    }
}

impl Committer {
    /// Tosses coins with the peer. `conduct` sees the commitment and the opening at these steps.
    ///
    /// *Errors*: the connection's.
    pub async fn toss<S>(
        session: &mut Session,
        domain: Domain,
        [committing, opening]: [S; 2],
        conduct: &mut impl Conduct<S>,
    ) -> Result<Coins, ProtocolError> {
        let (committer, mut commitment) = Committer::commit(domain, session.rng());
        conduct.touch(committing, 0, &mut commitment);
        session.channel().send_bytes(&commitment).await?;
        let mut share = [0; SHARE_BYTES];
        session.channel().receive_bytes(&mut share).await?;
        let (coins, mut message) = committer.open(&share);
        conduct.touch(opening, 0, &mut message);
        session.channel().send_bytes(&message).await?;
        session.channel().flush().await?;
        Ok(coins)
    }
}

/// The party that answers. *Unique*: one per domain.
pub struct Responder {
    domain: Domain,
    commitment: Commitment,
    share: [u8; SHARE_BYTES],
}

impl Responder {
    /// Takes the first message and draws a share, the second message.
    pub fn answer(
        domain: Domain,
        commitment: [u8; COMMITMENT_BYTES],
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> (Responder, [u8; SHARE_BYTES]) {
        let mut share = [0; SHARE_BYTES];
        rng.fill_bytes(&mut share);
        (Responder { domain, commitment: Commitment::from_bytes(commitment), share }, share)
    }

    /// Takes the third message and returns the coins.
    ///
    /// *Errors*: [`COIN_TOSS_OPENING`].
    pub fn finish(self, message: &[u8; OPENING_BYTES]) -> Result<Coins, Cheating> {
        let refuse = || Cheating::new(COIN_TOSS_OPENING, "the share does not open the commitment");
        let (theirs, opening) = message.split_at(SHARE_BYTES);
        let (Ok(theirs), Ok(opening)) = (theirs.try_into(), opening.try_into()) else { return Err(refuse()) };
        let theirs: [u8; SHARE_BYTES] = theirs;
        self.domain.open(&self.commitment, &theirs, &Opening::from_bytes(opening)).map_err(|_| refuse())?;
        Ok(Coins::of(&self.domain, &theirs, &self.share))
    }
}

impl Responder {
    /// Tosses coins with the peer. `conduct` sees the share at this step.
    ///
    /// *Errors*: as [`Responder::finish`]; the connection's.
    pub async fn toss<S>(
        session: &mut Session,
        domain: Domain,
        answering: S,
        conduct: &Common<impl Conduct<S>>,
    ) -> Result<Coins, ProtocolError> {
        let mut commitment = [0; COMMITMENT_BYTES];
        session.channel().receive_bytes(&mut commitment).await?;
        let (responder, mut share) = Responder::answer(domain, commitment, session.rng());
        conduct.touch(answering, 0, &mut share);
        session.channel().send_bytes(&share).await?;
        let mut opening = [0; OPENING_BYTES];
        session.channel().receive_bytes(&mut opening).await?;
        Ok(responder.finish(&opening)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SessionId;
    use garblet_circuit::Party;

    fn domain() -> Domain {
        SessionId::new("test", [0; 32], [[0; 32]; 2]).domain(Party(0), 1)
    }

    fn toss(seeds: [u128; 2], alter: impl FnOnce(&mut [u8; OPENING_BYTES])) -> (Block, Result<Block, Cheating>) {
        let [mut a, mut b] = seeds.map(|seed| Prg::new(Block::from_u128(seed)));
        let (committer, commitment) = Committer::commit(domain(), &mut a);
        let (responder, share) = Responder::answer(domain(), commitment, &mut b);
        let (coins, mut opening) = committer.open(&share);
        alter(&mut opening);
        (coins.into_stream().next_block(), responder.finish(&opening).map(|coins| coins.into_stream().next_block()))
    }

    #[test]
    fn both_have_the_same_coins_and_either_share_changes_them() {
        let coins = |seeds| {
            let (committer, responder) = toss(seeds, |_| {});
            assert!(responder.is_ok_and(|responder| responder == committer));
            committer
        };
        let [both, other_first, other_second] = [coins([1, 2]), coins([3, 2]), coins([1, 4])];
        assert!(both != other_first && both != other_second);
    }

    #[test]
    fn another_share_or_opening_than_committed_is_refused() {
        for byte in [0, SHARE_BYTES - 1, SHARE_BYTES, OPENING_BYTES - 1] {
            let (_, responder) = toss([1, 2], |opening| opening[byte] ^= 1);
            assert_eq!(responder.err().map(|error| error.check), Some(COIN_TOSS_OPENING));
        }
    }
}
