//! 128-bit blocks, tweakable hashes, PRG, GF(2^128), bit-matrix transposition, commitments.
//!
//! The only crate with `unsafe`: processor intrinsics behind [`Engine`], whose values prove that the processor has them.
//! Batch functions pick a [`Backend`] once per call; every backend gives the same results, and `_with_backend` forms
//! let tests compare them.

#[cfg(target_endian = "big")]
compile_error!("blocks are little-endian in memory and on the wire, so a little-endian processor is needed");

mod aes;
mod backend;
mod block;
mod bound;
mod commit;
mod delta;
mod engine;
mod gate_hash;
mod gates;
pub mod gf128;
pub mod gf256;
mod joint_hash;
mod ot_hash;
mod prg;
mod transpose;

pub use aes::{
    Aes128, MaskedRun, add_keystreams, add_keystreams_with_backend, encrypt_each, encrypt_each_with_backend,
};
pub use backend::{Backend, Kernel};
pub use block::Block;
pub use bound::{BARE_BLOCKS, bare_hash_calls, bare_xors};
pub use commit::{Commitment, Opened, Opening, OpeningMismatch};
pub use delta::Delta;
pub use engine::{Engine, LANES};
pub use gate_hash::{FixedKey, GateHash, Mitccrh, Rekeyed, RekeyedKeys, Sha256Hash, Tmmo, double_key};
pub use gates::{
    AndGates, Cursor, Feed, GateList, MOST_IN_TURN, MOST_SIDE_BY_SIDE, Op, Slots, Sources, WideGates, WideSlots,
};
pub use joint_hash::{
    FourRows, JointAes256, JointFixedKey, JointHash, JointRekeyed, MOST_OF_FOUR, MOST_PARTIES, bare_double_keys,
};
pub use ot_hash::OtHash;
pub use prg::Prg;
pub use transpose::{ROWS, transpose, transpose_with_backend};
