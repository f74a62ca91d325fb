//! What a party keeps for as long as there are prepared gates, and what it derives from that for each meeting.
//!
//! Nothing is remembered of how far a meeting came, and a crash takes nothing back: each meeting has streams and gate numbers
//! of its own, and it is durable that it took place before anything of it is used.

use garblet_commit::{CommitReceiver, CommitSender};
use garblet_ot::{CheckedCotReceiver, CheckedCotSender, Choices, RandomOtReceiver, RandomOtSender, Sigma};
use garblet_primitives::{Block, Delta, encrypt_each};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    delta_ot::{self, Public, SEEDS},
    gates::GARBLING,
    plan::{Config, Order, STATISTICAL},
};
use crate::{
    bulk::{receive_blocks, send_blocks},
    error::ProtocolError,
    security::Security,
    session::Session,
};

/// How often the two parties can meet with the same secrets.
pub(super) const MEETINGS_MAX: u64 = 1 << 22;

/// Numbers of gates, and of authenticators, in one meeting.
const NUMBERS_PER_MEETING: u64 = 1 << 40;

/// A party's secrets. OTs go both ways: the constructor has sent those of the commitments and received those of the
/// difference, the evaluator the other way round.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(super) struct Secrets {
    /// Both blocks of the OTs that this party has sent.
    sent: Vec<[Block; 2]>,
    /// Choices and blocks of those that it has received.
    choices: Vec<u8>,
    received: Vec<Block>,
    /// Public: the seed of the matrix, by which the secrets are known, the flip, and the seeds of the hashes.
    pub(super) matrix: Block,
    flip: bool,
    hashes: [Block; 2],
    /// The committed difference.
    pub(super) delta: Vec<u8>,
    /// How often the parties have met.
    pub(super) meetings: u64,
    /// The chance that something bad is among all that was prepared.
    cheating: f64,
    /// Wire authenticators that were made, all hashed under one key.
    authenticators: u64,
}

impl Secrets {
    /// Those of a new constructor; the difference is not committed to yet.
    pub(super) async fn of_constructor(session: &mut Session, config: Config) -> Result<Self, ProtocolError> {
        let (channel, rng) = session.parts();
        let unused = Delta::random(rng);
        let sender = CheckedCotSender::setup(channel, rng, &unused, config.ot_width, Sigma::Forty).await?;
        let sent = RandomOtSender::new(sender).extend(channel, config.code.length()).await?;
        let receiver = CheckedCotReceiver::setup(channel, rng, config.ot_width, Sigma::Forty).await?;
        let (choices, received) = RandomOtReceiver::new(receiver).extend(channel, SEEDS).await?;
        let Public { matrix, flip } = Public::send(channel, rng, &choices).await?;
        let hashes = [Block::random(rng), Block::random(rng)];
        send_blocks(session, &hashes).await?;
        Ok(Secrets::new(sent, &choices, received, Public { matrix, flip }, hashes))
    }

    /// Those of a new evaluator.
    pub(super) async fn of_evaluator(session: &mut Session, config: Config) -> Result<Self, ProtocolError> {
        let (channel, rng) = session.parts();
        let receiver = CheckedCotReceiver::setup(channel, rng, config.ot_width, Sigma::Forty).await?;
        let (choices, received) = RandomOtReceiver::new(receiver).extend(channel, config.code.length()).await?;
        let unused = Delta::random(rng);
        let sender = CheckedCotSender::setup(channel, rng, &unused, config.ot_width, Sigma::Forty).await?;
        let sent = RandomOtSender::new(sender).extend(channel, SEEDS).await?;
        let public = Public::receive(channel).await?;
        let mut hashes = [Block::ZERO; 2];
        receive_blocks(session, &mut hashes).await?;
        Ok(Secrets::new(sent, &choices, received, public, hashes))
    }

    fn new(sent: Vec<[Block; 2]>, choices: &Choices, received: Vec<Block>, public: Public, hashes: [Block; 2]) -> Self {
        let (choices, Public { matrix, flip }) = (choices.as_bytes().to_vec(), public);
        let (delta, meetings, cheating, authenticators) = (Vec::new(), 0, 0.0, 0);
        Secrets { sent, choices, received, matrix, flip, hashes, delta, meetings, cheating, authenticators }
    }

    /// The constructor's streams of this meeting.
    ///
    /// *Errors*: secrets of another code.
    pub(super) fn constructor(&self, config: Config) -> Result<(CommitSender, delta_ot::Constructor), ProtocolError> {
        let commitments = CommitSender::new(config.code, &self.sent_seeds())?;
        let bits = Choices::from_bytes(self.choices.clone(), SEEDS)?;
        Ok((commitments, delta_ot::Constructor::new(bits, &self.received_seeds(), self.public())))
    }

    /// The evaluator's streams of this meeting.
    ///
    /// *Errors*: secrets of another code.
    pub(super) fn evaluator(&self, config: Config) -> Result<(CommitReceiver, delta_ot::Evaluator), ProtocolError> {
        let watch = Choices::from_bytes(self.choices.clone(), config.code.length())?;
        let commitments = CommitReceiver::new(config.code, &watch, &self.received_seeds())?;
        Ok((commitments, delta_ot::Evaluator::new(&self.sent_seeds(), self.public())))
    }

    /// The seeds of the hashes of gates and of authenticators.
    pub(super) fn hashes(&self) -> [Block; 2] {
        self.hashes
    }

    /// The first number of this meeting's gates and authenticators.
    pub(super) fn first_number(&self) -> u64 {
        self.meetings * NUMBERS_PER_MEETING
    }

    /// Counts what was made for an order.
    pub(super) fn count(&mut self, order: &Order) {
        self.cheating += order.parameters().bounds().any().exp2();
        self.authenticators += order.authenticators_made() as u64;
    }

    /// What runs with these secrets promise. The hash of gates changes its key, that of authenticators does not; it hashes two keys for each.
    pub(super) fn security(&self) -> Security {
        let calls = self.authenticators.max(1).saturating_mul(2);
        let of_authenticators = 128 - calls.next_power_of_two().ilog2();
        Security {
            computational_bits: GARBLING.security_bits(u64::MAX).min(of_authenticators),
            statistical_bits: Some(f64::from(STATISTICAL)),
            cheating_log2: Some(self.cheating.log2()),
            deterrence: None,
        }
    }

    fn public(&self) -> Public {
        Public { matrix: self.matrix, flip: self.flip }
    }

    fn sent_seeds(&self) -> Zeroizing<Vec<[Block; 2]>> {
        let flat = self.derived(self.sent.as_flattened());
        Zeroizing::new(flat.as_chunks::<2>().0.to_vec())
    }

    fn received_seeds(&self) -> Zeroizing<Vec<Block>> {
        self.derived(&self.received)
    }

    /// Seeds for this meeting.
    fn derived(&self, seeds: &[Block]) -> Zeroizing<Vec<Block>> {
        let mut blocks = Zeroizing::new(vec![Block::from_u128(self.meetings.into()); seeds.len()]);
        encrypt_each(seeds, &mut blocks);
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::{super::plan::Amounts, *};

    #[test]
    fn all_that_was_made_counts_against_what_is_promised() {
        let public = Public { matrix: Block::ZERO, flip: false };
        let mut secrets = Secrets::new(Vec::new(), &Choices::zeros(SEEDS), Vec::new(), public, [Block::ZERO; 2]);
        assert_eq!(secrets.security().computational_bits, 116, "gates have as many hashes under one key as that");
        let amounts = Amounts { gates: 6_400, inputs: 256, input_pairs: 64, outputs: 128 };
        let order = Order::new(amounts, Config::default()).expect("it is small");
        secrets.count(&order);
        let made = order.authenticators_made();
        assert!((1 << 15..1 << 16).contains(&made), "{made}");
        let once = secrets.security();
        assert_eq!(once.computational_bits, 128 - 17);
        (0..3).for_each(|_| secrets.count(&order));
        let more = secrets.security();
        assert_eq!(more.computational_bits, 128 - 19);
        assert!((more.cheating_log2.unwrap_or_default() - once.cheating_log2.unwrap_or_default() - 2.0).abs() < 1e-9);
    }
}
