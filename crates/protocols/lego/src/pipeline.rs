//! Parts that wait for the peer's answer while further parts are sent.

use std::collections::VecDeque;

/// The number of parts that are sent before the first must be answered. A link with high latency needs many, and each takes memory.
const IN_FLIGHT: usize = 4;

/// Waiting parts, in the order in which they were sent.
pub(crate) struct Pipeline<T>(VecDeque<T>);

impl<T> Pipeline<T> {
    pub(crate) fn new() -> Self {
        Pipeline(VecDeque::with_capacity(IN_FLIGHT + 1))
    }

    /// Adds a part. Returns the oldest one if enough parts wait.
    pub(crate) fn push(&mut self, part: T) -> Option<T> {
        self.0.push_back(part);
        if self.0.len() > IN_FLIGHT { self.0.pop_front() } else { None }
    }

    /// The oldest part, once there are no more to push.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.0.pop_front()
    }
}
