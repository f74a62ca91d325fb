//! The slowest allowed pace of a peer: it may not be silent for a time-out, nor below the least rate for longer than one.
//!
//! A *step* is one wait in this party's code: for a message, a piece of the bulk stream, or room for sending. Before its
//! first byte moves, the peer may have to compute, for as long as the time-out. From then on it may fall behind
//! [`LEAST_BYTES_PER_SECOND`] by at most a time-out; faster bytes make up for earlier waits, but buy no later ones. So a
//! step of `n` bytes ends within two time-outs and `n / LEAST_BYTES_PER_SECOND` seconds of waiting, whatever the peer
//! does, and an honest peer that is no slower on average is never cut off.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::clock::{Instant, timeout};
use crate::error::NetError;

/// The bytes per second that must move after the first byte: 1 KiB, an eighth of an old telephone modem's rate.
pub const LEAST_BYTES_PER_SECOND: u32 = 1024;

/// The longest wait that counts between two readings of the clock. A computing party does not read it, so that its own
/// work is not taken for the peer's.
const TICK: Duration = Duration::from_secs(1);

/// The waits of one direction of a channel.
pub(crate) struct Pace {
    pub(crate) timeout: Duration,
    /// The time by which the step is behind the least rate; `None` before its first byte.
    behind: Option<Duration>,
    /// Bytes that have moved in this step.
    bytes: u64,
    /// The time that this party has waited in this step.
    waited: Duration,
}

/// A peer that is silent or too slow.
pub(crate) enum Late {
    /// Nothing has moved for this time.
    Silent(Duration),
    /// This number of bytes has moved in this time.
    Slow(u64, Duration),
}

impl Late {
    /// The error of a step that this party was `doing`.
    pub(crate) fn error(self, doing: String) -> NetError {
        match self {
            Late::Silent(after) => NetError::Timeout { doing, after },
            Late::Slow(bytes, after) => NetError::TooSlow { doing, bytes, after },
        }
    }
}

impl Pace {
    pub(crate) fn new(timeout: Duration) -> Self {
        Pace { timeout, behind: None, bytes: 0, waited: Duration::ZERO }
    }

    /// Begins a step.
    pub(crate) fn begin(&mut self) {
        *self = Pace::new(self.timeout);
    }

    /// Waits for an operation that moves bytes, counted in `moved`.
    pub(crate) async fn wait<T>(
        &mut self,
        operation: impl Future<Output = T>,
        moved: impl Fn(&T) -> usize,
    ) -> Result<T, Late> {
        let mut operation = pin!(operation);
        let left = self.timeout.saturating_sub(self.behind.unwrap_or_default());
        let mut waited = Duration::ZERO;
        let done = poll_fn(|context| Poll::Ready(operation.as_mut().poll(context))).await;
        let done = match done {
            Poll::Ready(done) => done,
            Poll::Pending => loop {
                let (start, tick) = (Instant::now(), TICK.min(left.saturating_sub(waited)));
                let result = timeout(tick, operation.as_mut()).await;
                waited += start.elapsed().min(tick);
                match result {
                    Ok(done) => break done,
                    Err(_) if waited < left => {}
                    Err(_) => return Err(self.late(waited)),
                }
            },
        };
        let bytes = moved(&done);
        self.waited += waited;
        self.bytes += bytes as u64;
        let made_up = Duration::from_secs_f64(bytes as f64 / f64::from(LEAST_BYTES_PER_SECOND));
        self.behind = Some(self.behind.map_or(Duration::ZERO, |behind| (behind + waited).saturating_sub(made_up)));
        Ok(done)
    }

    fn late(&self, waited: Duration) -> Late {
        match waited >= self.timeout {
            true => Late::Silent(self.timeout),
            false => Late::Slow(self.bytes, self.waited + waited),
        }
    }
}
