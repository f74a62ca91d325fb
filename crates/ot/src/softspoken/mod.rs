//! SoftSpoken OT extension: any number of correlated OTs from 128 base OTs.
//!
//! *Source*: Roy, "SoftSpokenOT: Quieter OT extension from small-field silent VOLE in the Minicrypt model" (CRYPTO 2022),
//! section 3 (small-field VOLE), section 4 (its efficient form), section 5 with the repetition code.
//!
//! # Steps
//!
//! | step | who | what | where |
//! |---|---|---|---|
//! | 1 | both | 128 base OTs; the sender of correlated OTs is their receiver, with the bits of delta as choices | [`crate::base`] |
//! | 2 | both | `128 / k` seed trees of `2^k` leaves; the receiver knows all leaves, the sender all but one per tree | `tree` |
//! | 3 | both | leaves stretch to `n` bits and fold to columns: receiver `u`, `v`; sender `w = v + u * delta` | `columns` |
//! | 4 | receiver | sends `u_j + u_0` for every tree `j` but the first, so that all have the choices `u_0` | `receiver` |
//! | 5 | both | the sender adds them where delta has ones; both transpose 128 columns to `n` blocks | `sender`, `receiver` |
//!
//! # Symbols
//!
//! Tree `j` is one element of GF(2^k) of delta: its bits `k j .. k (j + 1)`. `r_x` is the stream of leaf `x`; `u = sum r_x`;
//! `v = sum x r_x`, `k` columns of bits. The sender counts its leaves by their distance `y = x + delta_j` from the one
//! that it misses: `w = sum y r`, where the missing leaf has `y = 0` and drops out.
//!
//! # Cost
//!
//! Set-up as [`Width::sender_setup_bytes`] and [`Width::receiver_setup_bytes`] say, two rounds for the sender and one for the receiver. An extension by `n` is one message
//! of the receiver, of [`Width::extension_bytes`] bytes: `(128 / k - 1) / 8` per OT, rounded up to whole squares of 128 OTs. That is `2 / k` bytes
//! less than the paper's `16 / k`, because the choices are the protocol's own: correcting them to chosen ones (see
//! [`crate::precomputed`]) costs the missing bit. Computation: `2^k * 128 / k` bits of AES-128 per OT.
//!
//! # Adversary and assumptions
//!
//! [`CotSender`] and [`CotReceiver`]: semi-honest; AES-128 is a pseudo-random function. The base OTs are secure against malicious
//! parties already. [`CheckedCotSender`] and [`CheckedCotReceiver`] are the same with the consistency checks of the paper, which find a
//! receiver that plants trees that are not, or uses different choices in different trees: secure against malicious parties.

mod checked;
mod columns;
mod consistency;
#[cfg(test)]
pub(crate) use checked::deviations;

mod receiver;
mod sender;
mod tree;

pub use checked::{CheckedCotReceiver, CheckedCotSender};
pub use consistency::Sigma;
pub use receiver::CotReceiver;
pub use sender::CotSender;

use std::fmt;

use garblet_net::Message;
use serde::{Deserialize, Serialize};

use crate::base::{self, BASE_OTS};

/// OTs in a square, the unit of extension.
const SQUARE: usize = 128;

/// Squares in a batch. Odd multiples of 64 bytes between columns spread them over the sets of the cache.
const BATCH_SQUARES: usize = 60;

/// OTs in a batch: extensions by whole batches, one after another, say the same as one by all.
pub const BATCH_OTS: usize = BATCH_SQUARES * SQUARE;

/// The width `k` of the field GF(2^k): more work and fewer bytes per OT the wider it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// 64 trees of 4 leaves; 63 bits per OT.
    Two,
    /// 32 trees of 16 leaves; 31 bits per OT.
    #[default]
    Four,
    /// 16 trees of 256 leaves; 15 bits per OT.
    Eight,
}

impl Width {
    /// Every width.
    pub const ALL: [Width; 3] = [Width::Two, Width::Four, Width::Eight];

    /// The width as a number `k`.
    pub const fn bits(self) -> usize {
        match self {
            Width::Two => 2,
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// The number of seed trees.
    pub const fn trees(self) -> usize {
        BASE_OTS / self.bits()
    }

    /// The leaves of a tree.
    pub const fn leaves(self) -> usize {
        1 << self.bits()
    }

    /// Payload bytes that the party with delta sends in set-up.
    pub const fn sender_setup_bytes(self) -> u64 {
        1 + base::RECEIVER_BYTES
    }

    /// Payload bytes that the party with the choices sends in set-up: its part of the base OTs, and two blocks for every
    /// level of every tree but the first.
    pub const fn receiver_setup_bytes(self) -> u64 {
        base::SENDER_BYTES + self.corrections() as u64 * 16
    }

    /// Payload bytes that the receiver sends for an extension by `n`; the sender sends none.
    pub const fn extension_bytes(self, n: u64) -> u64 {
        n.div_ceil(SQUARE as u64) * 16 * (self.trees() as u64 - 1)
    }

    /// Payload bytes that the receiver sends in set-up with checks, beside [`Width::receiver_setup_bytes`].
    pub const fn checked_setup_bytes(self) -> u64 {
        checked::tag_bytes(self) as u64
    }

    /// Payload bytes of a checked extension by `n`: the sender's, and the receiver's.
    pub const fn checked_extension_bytes(self, n: u64, sigma: Sigma) -> [u64; 2] {
        match n {
            0 => [0, 0],
            _ => {
                let corrections = self.extension_bytes(checked::with_hiding(n as usize) as u64);
                [16, corrections + sigma.digest_bytes() as u64]
            }
        }
    }

    /// Payload bytes per OT of a long extension.
    pub fn bytes_per_ot(self) -> f64 {
        (self.trees() - 1) as f64 / 8.0
    }

    /// Blocks that correct the trees.
    const fn corrections(self) -> usize {
        self.trees() * 2 * (self.bits() - 1)
    }
}

impl TryFrom<u8> for Width {
    type Error = String;

    fn try_from(bits: u8) -> Result<Self, String> {
        let width = Width::ALL.into_iter().find(|width| width.bits() == usize::from(bits));
        width.ok_or_else(|| format!("field width k: expected 2, 4 or 8, got {bits}"))
    }
}

/// The first message: the party with delta says what it is about to do.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct SetupHello {
    /// The width, and 16 or 32 more for checks with 40 or 80 bits.
    form: u8,
}

impl SetupHello {
    fn new(width: Width, sigma: Option<Sigma>) -> Self {
        SetupHello { form: width.bits() as u8 | sigma.map_or(0, |sigma| (sigma.bits() / 40) as u8) << 4 }
    }
}

impl fmt::Display for SetupHello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k = {}", self.form & 15)?;
        match self.form >> 4 {
            0 => f.write_str(" without checks"),
            sigma => write!(f, " with checks of {} bits", 40 * u32::from(sigma)),
        }
    }
}

impl Message for SetupHello {
    const NAME: &'static str = "OT extension set-up";
    const KIND: u8 = 0x40;
    const MAX_BYTES: usize = 1;

    fn check(&self) -> Result<(), String> {
        match self.form >> 4 {
            0..=2 => Width::try_from(self.form & 15).map(|_| ()),
            form => Err(format!("form of checks: expected 0, 1 or 2, got {form}")),
        }
    }
}

/// The sizes of the batches, in squares, of an extension by `n`.
fn batches(n: usize) -> impl Iterator<Item = usize> {
    let squares = n.div_ceil(SQUARE);
    (0..squares).step_by(BATCH_SQUARES).map(move |done| (squares - done).min(BATCH_SQUARES))
}

#[cfg(test)]
mod tests;
