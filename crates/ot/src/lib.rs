//! Base OT, OT extension, correlated, random and precomputed OT.
