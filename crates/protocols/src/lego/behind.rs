//! What waits for the peer's word while further parts are on their way.

use std::collections::VecDeque;

/// So many parts are on their way before the first must be answered. A slow link needs many to be full, and each is in memory.
const AHEAD: usize = 4;

/// Parts that wait, in the order in which they were sent.
pub(super) struct Behind<T>(VecDeque<T>);

impl<T> Behind<T> {
    pub(super) fn new() -> Self {
        Behind(VecDeque::with_capacity(AHEAD + 1))
    }

    /// Has a part wait; gives the one whose turn it now is, if there are enough.
    pub(super) fn push(&mut self, part: T) -> Option<T> {
        self.0.push_back(part);
        if self.0.len() > AHEAD { self.0.pop_front() } else { None }
    }

    /// The next, when there are no more to push.
    pub(super) fn pop(&mut self) -> Option<T> {
        self.0.pop_front()
    }
}
