//! Memory for reuse: fresh memory would cost more than writing into it.

use std::sync::{Mutex, PoisonError};

use garblet_primitives::Block;

/// Values that are not in use.
#[derive(Default)]
pub struct Pool<T>(Mutex<Vec<T>>);

/// Buffers for parts of circuits. Their contents are public: they were sent, or are about to be.
pub type Buffers = Pool<Vec<Block>>;

impl<T: Default> Pool<T> {
    /// The buffer given back last, which is likely to be in the cache, with its old contents, or a new one.
    pub fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Gives one back. There are never more buffers than were in use at one time.
    pub fn give_back(&self, used: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(used);
    }
}
