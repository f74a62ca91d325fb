//! The secrets that a party keeps as long as there are prepared gates, and the values derived from them for each meeting.
//!
//! A store does not remember the progress of a meeting, and a crash reuses nothing: each meeting has its own streams and gate numbers,
//! and is recorded durably before any of them is used. Both follow from fresh randomness of both parties in addition to the
//! number of the meeting, so they do not repeat even if a restored store repeats the number.

use garblet_homcommit::{CommitReceiver, CommitSender};
use garblet_ot::{BitVec, MaliciousCotReceiver, MaliciousCotSender, RotReceiver, RotSender, StatisticalSecurity};
use garblet_primitives::{Block, Delta, encrypt_each};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::delta_ot::{self, Public, SEEDS};
use crate::{CONSTRUCTOR, NAME, config::Config};
use garblet_protocol::{
    bulk::{receive_blocks, send_blocks},
    domain::SessionId,
    error::ProtocolError,
    session::Session,
};

/// The number of times that the two parties can meet with the same secrets.
pub(crate) const MEETINGS_MAX: u64 = 1 << 22;

/// Numbers of gates, and of authenticators, in one meeting. The used ones begin at a random multiple of the second number in the first half. If two
/// meetings have the same number, theirs overlap with a probability of `2 n / 2^39` for `n` gates each, some millionths for a million gates.
/// A peer that sends its nonce last can try several places. But an overlap is only possible with a meeting of the same number, after a store was
/// restored from a backup, and then only a hash key serves twice as many gates: their streams, and so their keys, still differ.
const NUMBERS_PER_MEETING: u64 = 1 << 40;
const NUMBERS_APART: u64 = 1 << 12;

/// A party's secrets. OTs go in both directions: the constructor is the sender of those for commitments and the receiver of those for
/// the difference, and the evaluator the other way round.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub struct Secrets {
    /// Both blocks of the OTs in which this party was the sender.
    sent: Vec<[Block; 2]>,
    /// Choices and blocks of the OTs in which it was the receiver.
    choices: Vec<u8>,
    received: Vec<Block>,
    /// Public: the seed of the matrix, which identifies the secrets, the flip, and the seeds of the hashes.
    pub(crate) matrix: Block,
    flip: bool,
    hashes: [Block; 2],
    /// The committed difference.
    pub(crate) delta: Vec<u8>,
    /// The number of times that the parties have met.
    pub(crate) meetings: u64,
    /// Randomness for this meeting only.
    #[serde(skip)]
    meeting: Fresh,
}

/// The values that follow from fresh randomness of both parties. Public.
#[derive(Clone, Copy, Default, Zeroize)]
pub(crate) struct Fresh {
    /// Makes streams of seeds.
    stream: Block,
    /// The first number of the meeting.
    first: u64,
}

impl Fresh {
    /// The values of a meeting with these nonces of constructor and evaluator.
    pub(crate) fn new(meeting: u64, nonces: [[u8; 32]; 2]) -> Self {
        let mut number = [0; 32];
        number[..8].copy_from_slice(&meeting.to_le_bytes());
        let digest = SessionId::new(NAME, number, nonces).domain(CONSTRUCTOR, 0).digest(b"meeting");
        let (blocks, _) = digest.as_chunks::<16>();
        let [stream, first] = [0, 1].map(|i| Block::from_bytes(blocks[i]));
        let starts = NUMBERS_PER_MEETING / 2 / NUMBERS_APART;
        Fresh { stream, first: first.halves()[0] % starts * NUMBERS_APART }
    }
}

impl Secrets {
    /// The secrets of a new constructor, which has not committed to the difference yet.
    pub(crate) async fn of_constructor(session: &mut Session, config: Config) -> Result<Self, ProtocolError> {
        let (channel, rng) = session.parts();
        let unused = Delta::random(rng);
        let sender =
            MaliciousCotSender::setup(channel, rng, &unused, config.ot_width, StatisticalSecurity::Eighty).await?;
        let sent = RotSender::new(sender).extend(channel, config.code.length()).await?;
        let receiver = MaliciousCotReceiver::setup(channel, rng, config.ot_width, StatisticalSecurity::Eighty).await?;
        let (choices, received) = RotReceiver::new(receiver).extend(channel, SEEDS).await?;
        let Public { matrix, flip } = Public::send(channel, rng, &choices).await?;
        let hashes = [Block::random(rng), Block::random(rng)];
        send_blocks(session, &hashes).await?;
        Ok(Secrets::new(sent, &choices, received, Public { matrix, flip }, hashes))
    }

    /// The secrets of a new evaluator.
    pub(crate) async fn of_evaluator(session: &mut Session, config: Config) -> Result<Self, ProtocolError> {
        let (channel, rng) = session.parts();
        let receiver = MaliciousCotReceiver::setup(channel, rng, config.ot_width, StatisticalSecurity::Eighty).await?;
        let (choices, received) = RotReceiver::new(receiver).extend(channel, config.code.length()).await?;
        let unused = Delta::random(rng);
        let sender =
            MaliciousCotSender::setup(channel, rng, &unused, config.ot_width, StatisticalSecurity::Eighty).await?;
        let sent = RotSender::new(sender).extend(channel, SEEDS).await?;
        let public = Public::receive(channel).await?;
        let mut hashes = [Block::ZERO; 2];
        receive_blocks(session, &mut hashes).await?;
        Ok(Secrets::new(sent, &choices, received, public, hashes))
    }

    fn new(
        mut sent: Zeroizing<Vec<[Block; 2]>>,
        choices: &BitVec,
        mut received: Zeroizing<Vec<Block>>,
        public: Public,
        hashes: [Block; 2],
    ) -> Self {
        let (sent, received) = (std::mem::take(&mut *sent), std::mem::take(&mut *received));
        let (choices, Public { matrix, flip }) = (choices.as_bytes().to_vec(), public);
        Secrets {
            sent,
            choices,
            received,
            matrix,
            flip,
            hashes,
            delta: Vec::new(),
            meetings: 0,
            meeting: Fresh::default(),
        }
    }

    /// The constructor's streams of this meeting.
    ///
    /// *Errors*: secrets of another code.
    pub(crate) fn constructor(&self, config: Config) -> Result<(CommitSender, delta_ot::Constructor), ProtocolError> {
        let commitments = CommitSender::new(config.code, &self.sent_seeds())?;
        let bits = BitVec::from_bytes(self.choices.clone(), SEEDS)?;
        Ok((commitments, delta_ot::Constructor::new(bits, &self.received_seeds(), self.public())))
    }

    /// The evaluator's streams of this meeting.
    ///
    /// *Errors*: secrets of another code.
    pub(crate) fn evaluator(&self, config: Config) -> Result<(CommitReceiver, delta_ot::Evaluator), ProtocolError> {
        let watch = BitVec::from_bytes(self.choices.clone(), config.code.length())?;
        let commitments = CommitReceiver::new(config.code, &watch, &self.received_seeds())?;
        Ok((commitments, delta_ot::Evaluator::new(&self.sent_seeds(), self.public())))
    }

    /// The seeds of the hashes of gates and of authenticators.
    pub(crate) fn hashes(&self) -> [Block; 2] {
        self.hashes
    }

    /// The first number of this meeting's gates and authenticators.
    pub(crate) fn first_number(&self) -> u64 {
        self.meetings * NUMBERS_PER_MEETING + self.meeting.first
    }

    /// Begins a meeting.
    pub(crate) fn meet(&mut self, meetings: u64, fresh: Fresh) {
        (self.meetings, self.meeting) = (meetings, fresh);
    }

    /// The values that follow from the meeting.
    #[cfg(test)]
    pub(crate) fn of_meeting(&self) -> (Vec<[u64; 2]>, u64) {
        let sent = self.sent_seeds();
        let received = self.received_seeds();
        let seeds = sent.as_flattened().iter().chain(received.iter()).map(|seed| seed.halves()).collect();
        (seeds, self.first_number())
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
        let mut blocks = Zeroizing::new(vec![self.meeting.stream; seeds.len()]);
        encrypt_each(seeds, &mut blocks);
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_streams_of_a_meeting_follow_from_both_nonces_and_its_number() {
        let of = |meeting, nonces: [u8; 2]| Fresh::new(meeting, nonces.map(|nonce| [nonce; 32]));
        let all = [of(1, [1, 2]), of(1, [3, 2]), of(1, [1, 3]), of(1, [2, 1]), of(2, [1, 2])];
        for (at, one) in all.iter().enumerate() {
            assert!(one.first < NUMBERS_PER_MEETING / 2 && one.first.is_multiple_of(NUMBERS_APART));
            let differs = |other: &Fresh| other.stream.halves() != one.stream.halves() && other.first != one.first;
            assert!(all[..at].iter().all(differs), "the {at}th");
        }
        assert!(of(1, [1, 2]).stream.halves() == all[0].stream.halves());
    }
}
