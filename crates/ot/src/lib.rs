//! Base OT, OT extension, correlated, random and precomputed OT.
//!
//! ```text
//! base          128 OTs with public-key cryptography            once per session
//! pvw           any number of OTs with public-key cryptography  for comparison
//! softspoken    any number of correlated OTs from them          CotSender, CotReceiver; with checks CheckedCotSender, ...
//! random        correlated OTs hashed to random ones            RandomOtSender, RandomOtReceiver
//! precomputed   OTs prepared early and corrected once inputs are known
//! ideal         a dealer with the interface of `softspoken`, for tests
//! ```
//!
//! A correlated OT gives the sender a block `q` and the receiver a bit `c` and the block `t = q ^ c * delta`, where
//! `delta` is the sender's and the same in every OT. With the garbling's delta, `q` and `q ^ delta` are the two labels of
//! a wire and `t` is the one of the receiver's bit.
//!
//! [`CorrelatedSender`] and [`CorrelatedReceiver`] stand for the real extension and the ideal one alike.

pub mod base;
mod choices;
mod correlated;
#[cfg(test)]
mod deviations;
mod error;
pub mod ideal;
pub mod precomputed;
pub mod pvw;
mod random;
pub mod softspoken;
#[cfg(test)]
mod test_run;

pub use choices::Choices;
pub use correlated::{CorrelatedReceiver, CorrelatedSender};
pub use error::{OtCheck, OtError};
pub use precomputed::{PreparedCotReceiver, PreparedCotSender, PreparedReceiver, PreparedSender};
pub use random::{RandomOtReceiver, RandomOtSender};
pub use softspoken::{CheckedCotReceiver, CheckedCotSender, CotReceiver, CotSender, Sigma, Width};
