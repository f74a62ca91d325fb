//! The receiver of base OTs.

use curve25519_dalek::ristretto::{RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use garblet_net::Channel;
use garblet_primitives::Block;
use rand_core::CryptoRng;
use subtle::ConditionallySelectable;
use zeroize::Zeroizing;

use super::cost::{BASE_OTS, FIRST_POINTS};
use super::transcript::{ChallengesConsistent, Transcript};
use crate::bit_vec::{BitVec, masked};
use crate::error::{OtError, check_length};
use crate::group;

/// Runs the receiver: offers points, computes the chosen pads, checks the sender's proof and answers its challenges.
/// The answer leaves with the next flush.
///
/// *Errors*: [`OtError::InvalidPoint`], [`OtError::IdentityPoint`] and [`OtError::InconsistentChallenges`] for the sender's
/// message; [`OtError::WrongLength`] unless there are 128 choices; connection errors.
pub async fn receive(
    channel: &mut Channel,
    choices: &BitVec,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<Chosen, OtError> {
    check_length("choices of the base OTs", BASE_OTS, choices.len())?;
    let mut offer = Offer::new(rng);
    channel.send_bytes(&offer.seed).await?;
    for range in [0..FIRST_POINTS, FIRST_POINTS..BASE_OTS] {
        let start = range.start;
        offer.add(choices, range, rng);
        channel.send_bytes(offer.points[start..].as_flattened()).await?;
        channel.flush().await?;
    }

    let mut element = [0; 32];
    channel.receive_bytes(&mut element).await?;
    let transcript = Transcript::new(&offer.seed, &offer.points, &element);
    let pads = offer.pads(&group::decode(element, "base OT element", 0)?, choices, &transcript);
    let mut challenges = [Block::ZERO; BASE_OTS];
    channel.receive_bytes(bytemuck::cast_slice_mut(&mut challenges)).await?;
    let mut proof = [0; 32];
    channel.receive_bytes(&mut proof).await?;
    let answer = answer(&transcript, choices, &pads, &challenges);
    let consistent = transcript.check_proof(&answer, &proof)?;
    channel.send_bytes(&answer).await?;
    Ok(Chosen { pads, session: transcript.session(), _consistent: consistent })
}

/// The pads that the receiver chose, after the check of the sender's challenges.
pub struct Chosen {
    pads: Zeroizing<Vec<Block>>,
    session: Block,
    _consistent: ChallengesConsistent,
}

impl Chosen {
    /// The chosen pad of every OT. *Secret*.
    pub fn pads(&self) -> &[Block] {
        &self.pads
    }

    /// A public block that identifies the run; the sender has the same.
    pub fn session(&self) -> Block {
        self.session
    }
}

/// Step 1: the receiver's points and the secrets behind them.
struct Offer {
    seed: [u8; 32],
    half_offset: RistrettoPoint,
    secrets: Zeroizing<Vec<Scalar>>,
    points: Vec<[u8; 32]>,
}

impl Offer {
    fn new(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let secrets = Zeroizing::new(Vec::with_capacity(BASE_OTS));
        Offer { seed, half_offset: group::point_of_seed(&seed), secrets, points: Vec::with_capacity(BASE_OTS) }
    }

    /// Adds the points `2 (a G + b T / 2)` of these OTs.
    fn add(&mut self, choices: &BitVec, range: std::ops::Range<usize>, rng: &mut (impl CryptoRng + ?Sized)) {
        let identity = RistrettoPoint::identity();
        let halves: Vec<_> = range
            .map(|i| {
                let secret = Scalar::random(rng);
                self.secrets.push(secret);
                let choice = choices.get(i).into();
                let offset = RistrettoPoint::conditional_select(&identity, &self.half_offset, choice);
                RistrettoPoint::mul_base(&secret) + offset
            })
            .collect();
        self.points.extend(group::encode_doubled(&halves));
    }

    /// Step 4: the chosen pads, from the keys `2 a z`.
    fn pads(&self, element: &RistrettoPoint, choices: &BitVec, transcript: &Transcript) -> Zeroizing<Vec<Block>> {
        let table = RistrettoBasepointTable::create(element);
        let halves = Zeroizing::new(self.secrets.iter().map(|secret| &table * secret).collect::<Vec<_>>());
        let keys = Zeroizing::new(group::encode_doubled(&halves));
        let pads = keys.iter().zip(choices.iter()).enumerate();
        Zeroizing::new(pads.map(|(i, (key, choice))| transcript.pad(i, choice, key)).collect())
    }
}

/// Step 4: the answer to the challenges. Check it against the proof before sending it.
fn answer(transcript: &Transcript, choices: &BitVec, pads: &[Block], challenges: &[Block; BASE_OTS]) -> [u8; 32] {
    let mut responses = Zeroizing::new([Block::ZERO; BASE_OTS]);
    for (i, choice) in choices.iter().enumerate() {
        responses[i] = transcript.response(i, choice, pads[i]) ^ masked(choice, challenges[i]);
    }
    transcript.answer(&responses)
}
