//! Work that is compiled for every engine.

use crate::engine::Engine;

/// Work on blocks, written once and compiled for every backend.
///
/// `run` and all that it calls in its loops must be `#[inline(always)]`, or it is compiled without the instructions
/// that the engine stands for.
pub trait Kernel {
    /// The result of the work.
    type Output;

    /// Does the work with the instructions of `engine`.
    fn run<E: Engine>(self, engine: E) -> Self::Output;
}
