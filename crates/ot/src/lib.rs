//! Base OT, OT extension, correlated, random and precomputed OT.
//!
//! ```text
//! base          128 OTs with public-key cryptography            once per session
//! pvw           any number of OTs with public-key cryptography  for comparison
//! softspoken    any number of correlated OTs from base OTs      CotSender, CotReceiver; MaliciousCotSender, ...
//! silent        many correlated OTs for a tenth of a byte each  SilentCotSender, SilentCotReceiver
//! rot           correlated OTs hashed to random ones            RotSender, RotReceiver
//! precomputed   correlated OTs corrected once inputs are known  PrecomputedCotSender, PrecomputedCotReceiver
//! ```
//!
//! A correlated OT gives the sender a block `q` and the receiver a bit `c` and the block `t = q ^ c * delta`. The sender holds
//! `delta`, which is the same in every OT. With the garbling's delta, `q` and `q ^ delta` are the two labels of
//! a wire, and `t` is the label of the receiver's bit.
//!
//! Every extension implements [`CorrelatedSender`] and [`CorrelatedReceiver`].

pub mod base;
mod bit_vec;
mod correlated;
mod error;
mod group;
mod pad_hash;
pub mod precomputed;
pub mod pvw;
mod room;
mod rot;
pub mod silent;
pub mod softspoken;
#[cfg(test)]
mod testing;

pub use bit_vec::BitVec;
pub use correlated::{CorrelatedReceiver, CorrelatedSender};
pub use error::{OtCheck, OtError};
pub use pad_hash::{OTS_PER_KEY, PAD_BITS, PadHash};
pub use precomputed::{PrecomputedCotReceiver, PrecomputedCotSender};
pub use rot::{RotReceiver, RotSender, Rows};
pub use silent::{Direction, LpnSet, SilentCotReceiver, SilentCotSender};
pub use softspoken::{
    Corrected, CotReceiver, CotSender, MaliciousCotReceiver, MaliciousCotSender, ReceiverSeeds, SenderSeeds,
    StatisticalSecurity, Unchecked, Width,
};
