//! The coin of a batch, which gives each of its rounds a code and a key: step 1.

use garblet_net::Channel;
use garblet_primitives::{Block, Commitment, Opening, secrets};
use rand_core::CryptoRng;

use crate::error::OtError;

/// Payload bytes of the share of the party that does not commit.
pub(super) const SHARE_BYTES: usize = 32;
/// Payload bytes of the other's commitment.
pub(super) const COMMITMENT_BYTES: usize = 32;
/// Payload bytes of its share, with the opening.
pub(super) const OPENING_BYTES: usize = SHARE_BYTES + 32;

/// The parties of OTs by number, the sender and the receiver. OTs both ways have two directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// The party that has delta.
    pub sender: u16,
    /// The party that has choices.
    pub receiver: u16,
}

/// The domain of coins: a session, which may be one of many parties, and a direction in it. Public.
#[derive(Clone, Copy)]
pub(super) struct Domain {
    pub(super) session: Block,
    pub(super) direction: Direction,
}

impl Domain {
    fn bytes(self) -> Vec<u8> {
        let Domain { session, direction: Direction { sender, receiver } } = self;
        [&session.to_bytes()[..], &sender.to_le_bytes(), &receiver.to_le_bytes()].concat()
    }

    /// The context of the commitment to a share.
    fn context(self) -> Vec<u8> {
        [b"silent OT: share of a coin, v1".as_slice(), &self.bytes()].concat()
    }
}

/// A coin that neither party chose. Public.
pub(super) struct Coin([u8; 32]);

/// The public choices of a round.
pub(super) struct RoundKeys {
    /// The key of the trees' hash.
    pub(super) hash: Block,
    /// The seed of the code.
    pub(super) code: Block,
}

#[cfg(test)]
impl Coin {
    /// A coin that nobody tossed.
    pub(super) fn fixed(bytes: [u8; 32]) -> Self {
        Coin(bytes)
    }
}

impl Coin {
    /// Tosses as the party that commits.
    ///
    /// *Errors*: connection errors.
    pub(super) async fn toss_first(
        channel: &mut Channel,
        domain: Domain,
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> Result<Self, OtError> {
        let mut share = [0; SHARE_BYTES];
        rng.fill_bytes(&mut share);
        let (commitment, opening) = Commitment::new(&domain.context(), &share, rng);
        channel.send_bytes(&commitment.to_bytes()).await?;
        let mut theirs = [0; SHARE_BYTES];
        channel.receive_bytes(&mut theirs).await?;
        channel.send_bytes(&share).await?;
        channel.send_bytes(&opening.to_bytes()).await?;
        Ok(Coin::of(domain, share, theirs))
    }

    /// Tosses as the other party.
    ///
    /// *Errors*: [`OtError::CoinOpening`]; connection errors.
    pub(super) async fn toss_second(
        channel: &mut Channel,
        domain: Domain,
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> Result<Self, OtError> {
        let mut commitment = [0; COMMITMENT_BYTES];
        channel.receive_bytes(&mut commitment).await?;
        let mut share = [0; SHARE_BYTES];
        rng.fill_bytes(&mut share);
        channel.send_bytes(&share).await?;
        let (mut theirs, mut opening) = ([0; SHARE_BYTES], [0; OPENING_BYTES - SHARE_BYTES]);
        channel.receive_bytes(&mut theirs).await?;
        channel.receive_bytes(&mut opening).await?;
        let commitment = Commitment::from_bytes(commitment);
        let opened = commitment.open(&domain.context(), &theirs, &Opening::from_bytes(opening));
        opened.map_err(|_| OtError::CoinOpening)?;
        Ok(Coin::of(domain, theirs, share))
    }

    /// The coin from the share of the party that commits, and that of the other.
    fn of(domain: Domain, first: [u8; SHARE_BYTES], second: [u8; SHARE_BYTES]) -> Self {
        let mut hash = blake3::Hasher::new_derive_key("garblet silent OT: coin of a batch, v1");
        hash.update(&domain.bytes()).update(&first).update(&second);
        Coin(secrets::public(*hash.finalize().as_bytes(), "coins: both parties know them once both shares are opened"))
    }

    /// The coin, which no other batch has.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The keys of a round of the batch.
    pub(super) fn keys(&self, round: u32) -> RoundKeys {
        let mut hash = blake3::Hasher::new_derive_key("garblet silent OT: keys of a round, v1");
        hash.update(&self.0).update(&round.to_le_bytes());
        let [hash, code] = bytemuck::cast(*hash.finalize().as_bytes());
        RoundKeys { hash: Block::from_bytes(hash), code: Block::from_bytes(code) }
    }
}
