//! Room for blocks that is used again.

use zeroize::{Zeroize, Zeroizing};

/// Clears an allocation for `n` values, or makes a new one if it is too small.
pub(crate) fn emptied<T: Zeroize>(mut room: Zeroizing<Vec<T>>, n: usize) -> Zeroizing<Vec<T>> {
    room.clear();
    if room.capacity() < n {
        return Zeroizing::new(Vec::with_capacity(n));
    }
    room
}
