//! Limits for a client: on connections that wait for its submission, and on the rate of new submissions.

use std::collections::VecDeque;

use tokio::{sync::oneshot, time::Instant};

/// The most connections on which a client waits for its submission; another one replaces the oldest.
pub(super) const CONNECTIONS_MAX: usize = 4;
/// The burst of new submissions that a client may send, and the number that it may send each second.
pub(super) const ALLOWANCE: (f64, f64) = (64.0, 8.0);

/// The connections of a client, and its remaining allowance.
pub(super) struct Manners {
    /// Each connection ends when its sender is dropped; the oldest comes first.
    connections: VecDeque<oneshot::Sender<()>>,
    pub(super) allowance: f64,
    since: Instant,
}

impl Manners {
    pub(super) fn new() -> Self {
        Manners { connections: VecDeque::new(), allowance: ALLOWANCE.0, since: Instant::now() }
    }

    /// Accepts a new submission, unless there were too many recently.
    pub(super) fn allow(&mut self) -> bool {
        let (most, each_second) = ALLOWANCE;
        self.allowance = most.min(self.allowance + each_second * self.since.elapsed().as_secs_f64());
        self.since = Instant::now();
        let allowed = self.allowance >= 1.0;
        self.allowance -= if allowed { 1.0 } else { 0.0 };
        allowed
    }

    /// Adds a connection, which may replace the oldest one.
    pub(super) fn connection(&mut self) -> oneshot::Receiver<()> {
        let (own, gone) = oneshot::channel();
        self.connections.retain(|connection| !connection.is_closed());
        self.connections.push_back(own);
        if self.connections.len() > CONNECTIONS_MAX {
            self.connections.pop_front();
        }
        gone
    }
}
