//! Memory that is used again and again: fresh memory would cost more than what is written into it.

use std::sync::{Mutex, PoisonError};

use garblet_primitives::Block;

/// Values that are not in use.
#[derive(Default)]
pub struct Pool<T>(Mutex<Vec<T>>);

/// Buffers for parts of circuits. What is in them is public: it was sent, or is about to be.
pub type Buffers = Pool<Vec<Block>>;

impl<T: Default> Pool<T> {
    /// The one given back last, which is likely to be near the processor, with whatever is in it, or a new one.
    pub fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Gives one back. There are never more than were in use at one time.
    pub fn give_back(&self, used: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(used);
    }
}
