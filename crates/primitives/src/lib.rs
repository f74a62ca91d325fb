//! 128-bit blocks, tweakable hashes, PRG, GF(2^128), bit-matrix transposition, commitments.
//!
//! The only crate with `unsafe`: processor intrinsics behind [`Engine`], whose values prove that the processor supports them.
//! Batch functions pick a [`Backend`] once per call; every backend gives the same results, and `_with_backend` variants
//! let tests compare them.

#[cfg(target_endian = "big")]
compile_error!("blocks are little-endian in memory and on the wire, so a little-endian processor is needed");

mod aes;
mod backend;
mod bit;
mod block;
mod commit;
mod delta;
mod engine;
mod gate_hash;
mod gate_number;
mod gates;
pub mod gf128;
pub mod gf256;
mod half_tree;
mod joint_hash;
mod kernel;
mod mmo;
mod ot_hash;
mod prg;
mod product;
mod roofline;
mod room;
pub mod secrets;
mod sparse_code;
mod squares;
mod transpose;
mod universal_hash;

pub use aes::{Aes128, MaskedRun, add_keystreams, encrypt_each};
pub use backend::{Backend, UnknownBackend};
pub use bit::Bit;
pub use block::{BLOCK_BITS, Block};
pub use commit::{Commitment, Opened, Opening, OpeningMismatch};
pub use delta::Delta;
pub use engine::{Engine, QUAD_LANES, each, numbered};
pub use gate_hash::{GateHash, Mitccrh, RekeyedKeys, Sha256Hash, Tmmo, combine_keys};
pub use gate_number::{GateNumber, KeyPeriod};
pub use gates::{
    AndGates, BatchGates, BatchLabels, Cursor, GateList, Gather, Labels, MAX_BATCH, MAX_INTERLEAVED, Op, Sources,
};
pub use half_tree::{HalfTreeHash, add_at};
pub use joint_hash::{JointAes256, JointHash, JointRows, MAX_PARTIES, MAX_QUAD_PARTIES, raw_joint_hashes};
pub use kernel::Kernel;
pub use mmo::{Constant, FixedKey, KeyRule, Mmo, PerPeriod, Rekeyed};
pub use ot_hash::OtHash;
pub use prg::Prg;
pub use roofline::{RAW_BLOCKS, raw_hash_calls, raw_xors};
pub use room::HugePages;
pub use sparse_code::SparseCode;
pub use transpose::{transpose, transpose_part, transpose_squares};
pub use universal_hash::{UniversalHash, subset_sums};
