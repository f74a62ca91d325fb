//! Names for everything that is hashed, committed to or keyed.

/// The places that hashes, commitments and keys belong to.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Nonces,
    Name,
    Streams,
    DifferenceZeros,
    Differences,
    Point,
    PointEcho,
    ChoicesEcho,
    ProductZeros,
    ProductBits,
    SumCoins,
    ShiftCoins,
    SumZeros,
    ZeroHash,
    Zero,
    BucketBits,
    GateBits,
    Told,
    Lock,
    RevealedLabels,
    OutputLabels,
    SecretsName,
    KeptEcho,
    KeptMark,
    LotBits,
}
