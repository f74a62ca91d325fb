//! Memory for parts of circuits that is used again and again: fresh memory would cost more than what is written into it.

use std::sync::{Mutex, PoisonError};

use garblet_primitives::Block;

/// Buffers that nobody uses at the moment. What is in them is public: it was sent, or is about to be.
#[derive(Default)]
pub(crate) struct Buffers(Mutex<Vec<Vec<Block>>>);

impl Buffers {
    /// A buffer with whatever is in it: the one given back last, which is likely to be near the processor, or a new one.
    pub(crate) fn take(&self) -> Vec<Block> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Gives a buffer back. There are never more than were in use at one time.
    pub(crate) fn give_back(&self, buffer: Vec<Block>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}
