//! Parts that wait for the peer's word while further ones are on their way.

use std::collections::VecDeque;

/// So many parts are on their way before the first must be answered. A slow link needs many to be full, and each is in memory.
const IN_FLIGHT: usize = 4;

/// Parts that wait, in the order in which they were sent.
pub(crate) struct Pipeline<T>(VecDeque<T>);

impl<T> Pipeline<T> {
    pub(crate) fn new() -> Self {
        Pipeline(VecDeque::with_capacity(IN_FLIGHT + 1))
    }

    /// Has a part wait; gives the one whose turn it now is, if there are enough.
    pub(crate) fn push(&mut self, part: T) -> Option<T> {
        self.0.push_back(part);
        if self.0.len() > IN_FLIGHT { self.0.pop_front() } else { None }
    }

    /// The next, when there are no more to push.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.0.pop_front()
    }
}
