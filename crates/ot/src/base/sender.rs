//! The sender of base OTs.

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use garblet_net::Channel;
use garblet_primitives::{Block, secrets};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::cost::{BASE_OTS, FIRST_POINTS};
use super::transcript::Transcript;
use crate::error::OtError;
use crate::group;

/// Runs the sender up to step 3: computes both pads of every OT and sends the challenges. Does not wait for the receiver's answer.
///
/// *Errors*: [`OtError::InvalidPoint`] and [`OtError::IdentityPoint`] for the receiver's points; connection errors.
pub async fn send(channel: &mut Channel, rng: &mut (impl CryptoRng + ?Sized)) -> Result<Challenged, OtError> {
    let (mut keys, element) = Keys::new(rng);
    let mut seed = [0; 32];
    channel.receive_bytes(&mut seed).await?;
    keys.set_offset(&group::point_of_seed(&seed));
    let mut points = [[0; 32]; BASE_OTS];
    let (first, rest) = points.split_at_mut(FIRST_POINTS);
    channel.receive_bytes(first.as_flattened_mut()).await?;
    keys.add(first)?;
    channel.receive_bytes(rest.as_flattened_mut()).await?;
    channel.send_bytes(&element).await?;
    channel.flush().await?;
    keys.add(rest)?;

    let transcript = Transcript::new(&seed, &points, &element);
    let pads = keys.pads(&transcript);
    let (challenges, answer) = challenges(&transcript, &pads);
    channel.send_bytes(bytemuck::cast_slice(&challenges)).await?;
    channel.send_bytes(&transcript.proof(&answer)).await?;
    Ok(Challenged { pads, session: transcript.session(), answer })
}

/// The pads of a sender that is waiting for the receiver's answer.
pub struct Challenged {
    pads: Zeroizing<Vec<[Block; 2]>>,
    session: Block,
    answer: Zeroizing<[u8; 32]>,
}

/// Proof that the receiver knows the pads that it chose; only [`Challenged::check_answer`] makes it.
pub struct ReceiverAnswered(());

impl Challenged {
    /// Both pads of every OT.
    ///
    /// *Secret*. Before the answer is checked, use them only to mask data for the receiver.
    pub fn pads(&self) -> &[[Block; 2]] {
        &self.pads
    }

    /// A public block that identifies the run; the receiver has the same.
    pub fn session(&self) -> Block {
        self.session
    }

    /// Step 5: receives the answer and checks it.
    ///
    /// *Errors*: [`OtError::WrongAnswer`]; connection errors.
    pub async fn check_answer(self, channel: &mut Channel) -> Result<ReceiverAnswered, OtError> {
        let mut answer = [0; 32];
        channel.receive_bytes(&mut answer).await?;
        let fits = answer.ct_eq(&*self.answer);
        match secrets::verdict(fits, "base OT: whether the receiver knows the pads that it chose") {
            true => Ok(ReceiverAnswered(())),
            false => Err(OtError::WrongAnswer),
        }
    }
}

/// The sender's secret, and the encoded keys of both branches so far.
struct Keys {
    secret: Zeroizing<Scalar>,
    offset_key: Zeroizing<RistrettoPoint>,
    encoded: Zeroizing<Vec<[u8; 32]>>,
}

impl Keys {
    /// A fresh secret `r`, and the encoding of `2 r G`.
    fn new(rng: &mut (impl CryptoRng + ?Sized)) -> (Self, [u8; 32]) {
        let secret = Zeroizing::new(Scalar::random(rng));
        let element = RistrettoPoint::mul_base(&(*secret + *secret)).compress().to_bytes();
        let encoded = Zeroizing::new(Vec::with_capacity(2 * BASE_OTS));
        (Keys { secret, offset_key: Zeroizing::default(), encoded }, element)
    }

    /// Stores half of the point `T` that separates the two branches.
    fn set_offset(&mut self, half: &RistrettoPoint) {
        *self.offset_key = (half + half) * *self.secret;
    }

    /// Adds the keys `2 r B` and `2 r (B - T)` of these points.
    fn add(&mut self, points: &[[u8; 32]]) -> Result<(), OtError> {
        let before = self.encoded.len() / 2;
        let mut halves = Zeroizing::new(Vec::with_capacity(2 * points.len()));
        for (i, &bytes) in points.iter().enumerate() {
            let key = group::decode(bytes, "base OT point", before + i)? * *self.secret;
            halves.extend([key, key - *self.offset_key]);
        }
        self.encoded.extend_from_slice(&Zeroizing::new(group::encode_doubled(&halves)));
        Ok(())
    }

    fn pads(&self, transcript: &Transcript) -> Zeroizing<Vec<[Block; 2]>> {
        let pairs = self.encoded.as_chunks::<2>().0.iter().enumerate();
        let pads = pairs.map(|(i, [zero, one])| [transcript.pad(i, false, zero), transcript.pad(i, true, one)]);
        Zeroizing::new(pads.collect())
    }
}

/// Step 3: the challenges, and the answer that the receiver should give.
fn challenges(transcript: &Transcript, pads: &[[Block; 2]]) -> ([Block; BASE_OTS], Zeroizing<[u8; 32]>) {
    let mut challenges = [Block::ZERO; BASE_OTS];
    let mut responses = Zeroizing::new([Block::ZERO; BASE_OTS]);
    for (i, pads) in pads.iter().enumerate() {
        responses[i] = transcript.response(i, false, pads[0]);
        challenges[i] = responses[i] ^ transcript.response(i, true, pads[1]);
    }
    (challenges, Zeroizing::new(transcript.answer(&responses)))
}
