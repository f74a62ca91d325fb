//! The group: ristretto255, with canonical decoding and batches of encodings.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::traits::IsIdentity;

use crate::error::OtError;

/// The encoding of the generator.
#[cfg(test)]
pub(crate) const BASEPOINT: CompressedRistretto = curve25519_dalek::constants::RISTRETTO_BASEPOINT_COMPRESSED;

/// Decodes a point of the peer.
///
/// *Errors*: [`OtError::InvalidPoint`] for anything but a canonical encoding, [`OtError::IdentityPoint`] for the identity.
pub(crate) fn decode(bytes: [u8; 32], what: &'static str, index: usize) -> Result<RistrettoPoint, OtError> {
    let point = CompressedRistretto(bytes).decompress().ok_or(OtError::InvalidPoint { what, index })?;
    if point.is_identity() { Err(OtError::IdentityPoint { what, index }) } else { Ok(point) }
}

/// The encodings of the doubled points, with one inversion for all.
pub(crate) fn encode_doubled(points: &[RistrettoPoint]) -> Vec<[u8; 32]> {
    RistrettoPoint::double_and_compress_batch(points).into_iter().map(|point| point.to_bytes()).collect()
}

/// The point of a seed; nobody knows its logarithm.
pub(crate) fn point_of_seed(seed: &[u8; 32]) -> RistrettoPoint {
    let mut uniform = [0; 64];
    let mut hash = blake3::Hasher::new_derive_key("garblet base OT: offset point of a seed, v1");
    hash.update(seed).finalize_xof().fill(&mut uniform);
    RistrettoPoint::from_uniform_bytes(&uniform)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_takes_canonical_encodings_only() {
        assert!(decode(BASEPOINT.to_bytes(), "point", 0).is_ok());
        assert!(matches!(decode([0; 32], "point", 3), Err(OtError::IdentityPoint { index: 3, .. })));
        // RFC 9496, appendix A.3: non-canonical and negative field elements.
        let mut not_canonical = [0xff; 32];
        not_canonical[0] = 0xed;
        not_canonical[31] = 0x7f;
        let mut negative = [0; 32];
        negative[0] = 1;
        for bytes in [not_canonical, negative, [0xff; 32]] {
            assert!(matches!(decode(bytes, "point", 1), Err(OtError::InvalidPoint { index: 1, .. })));
        }
    }

    #[test]
    fn doubling_while_encoding_equals_doubling_then_encoding() {
        let points: Vec<_> = (0..5).map(|i| point_of_seed(&[i; 32])).collect();
        let encoded = encode_doubled(&points);
        assert!(points.iter().zip(encoded).all(|(point, bytes)| (point + point).compress().to_bytes() == bytes));
    }
}
