//! 128-bit blocks, tweakable hashes, PRG, GF(2^128), bit-matrix transposition, commitments.
