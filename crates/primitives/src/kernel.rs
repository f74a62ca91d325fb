//! Work that is compiled for every engine.

use crate::engine::Engine;

/// Work on blocks, written once and compiled for every backend.
///
/// `run` and everything that its loops call must be `#[inline(always)]`; otherwise it is compiled without the instructions
/// of the engine.
pub trait Kernel {
    /// The result of the work.
    type Output;

    /// Does the work with the instructions of `engine`.
    fn run<E: Engine>(self, engine: E) -> Self::Output;
}
