//! Hash commitments.

use rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::secrets;

/// Separates commitments from all other uses of BLAKE3.
const CONTEXT: &str = "garblet 2026 hash commitment";

/// A commitment to a message: binding, and hiding while the opening is secret.
///
/// *Source*: `BLAKE3(r || length of context || context || message)` with a random `r` of 32 bytes, in the random-oracle
/// model.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Commitment([u8; 32]);

/// The opening of a commitment: its randomness.
///
/// *Secret* until the commitment is opened; wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop, serde::Serialize, serde::Deserialize)]
pub struct Opening([u8; 32]);

/// The proof that a message matches its commitment: only [`Commitment::open`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct Opened(());

/// The message or the opening does not match the commitment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the opening does not fit the commitment")]
pub struct OpeningMismatch;

impl Commitment {
    /// Commits to a message. `context` states the purpose (session, role, step), so that no commitment is valid elsewhere.
    pub fn new(context: &[u8], message: &[u8], rng: &mut (impl CryptoRng + ?Sized)) -> (Commitment, Opening) {
        let mut randomness = [0; 32];
        rng.fill_bytes(&mut randomness);
        let opening = Opening(randomness);
        (Commitment(digest(context, message, &opening)), opening)
    }

    /// Checks, in constant time, that this is a commitment to `message`.
    ///
    /// *Errors*: it is not.
    pub fn open(&self, context: &[u8], message: &[u8], opening: &Opening) -> Result<Opened, OpeningMismatch> {
        let fits = self.ct_eq(&Commitment(digest(context, message, opening)));
        match secrets::verdict(fits, "commitments: whether an opening fits") {
            true => Ok(Opened(())),
            false => Err(OpeningMismatch),
        }
    }

    /// The commitment as bytes, for sending.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0
    }

    /// The commitment from received bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Commitment(bytes)
    }
}

impl ConstantTimeEq for Commitment {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl Opening {
    /// The opening as bytes, for sending.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0
    }

    /// The opening from received bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Opening(bytes)
    }
}

fn digest(context: &[u8], message: &[u8], opening: &Opening) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(&opening.0);
    hasher.update(&(context.len() as u64).to_le_bytes());
    hasher.update(context);
    hasher.update(message);
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{block::Block, prg::Prg};

    fn committed() -> (Commitment, Opening) {
        Commitment::new(b"test", b"message", &mut Prg::new(Block::ZERO))
    }

    #[test]
    fn opens_after_a_round_trip_as_bytes() {
        let (commitment, opening) = committed();
        let commitment = Commitment::from_bytes(commitment.to_bytes());
        assert!(commitment.open(b"test", b"message", &Opening::from_bytes(opening.to_bytes())).is_ok());
    }

    #[test]
    fn refuses_every_other_message_context_and_opening() {
        let (commitment, opening) = committed();
        assert_eq!(commitment.open(b"test", b"massage", &opening).err(), Some(OpeningMismatch));
        assert_eq!(commitment.open(b"best", b"message", &opening).err(), Some(OpeningMismatch));
        // The same bytes, split differently.
        assert_eq!(commitment.open(b"testm", b"essage", &opening).err(), Some(OpeningMismatch));
        for byte in 0..32 {
            let mut bytes = opening.to_bytes();
            bytes[byte] ^= 1;
            assert!(commitment.open(b"test", b"message", &Opening::from_bytes(bytes)).is_err());
            let mut bytes = commitment.to_bytes();
            bytes[byte] ^= 0x80;
            assert!(Commitment::from_bytes(bytes).open(b"test", b"message", &opening).is_err());
        }
    }

    #[test]
    fn equal_messages_have_different_commitments() {
        let mut rng = Prg::new(Block::ONES);
        let [a, b] = [(); 2].map(|()| Commitment::new(b"", b"m", &mut rng).0.to_bytes());
        assert_ne!(a, b);
    }
}
