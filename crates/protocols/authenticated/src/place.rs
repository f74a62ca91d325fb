//! Names for everything that is hashed, committed to or keyed.

/// The places that hashes, commitments and keys belong to.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Streams,
    LeakyHash,
    ProductBits,
    EqualityCoins,
    ShiftCoins,
    Equality,
    EqualityDigest,
    BucketBits,
    MaskBits,
    Transcript,
    RevealedLabels,
    OutputMasks,
    OutputLabels,
    SecretsName,
    KeptMark,
}
