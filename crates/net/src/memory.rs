//! Channels inside one process.

use crate::channel::Channel;

/// Bytes in flight in each direction before the sender waits.
const PIPE_BYTES: usize = 1 << 20;

/// Two connected channels in memory: what one sends, the other receives.
///
/// A sender waits when 1 MiB are in flight, so the two parties have to run concurrently (`tokio::join!`, or two tasks).
pub fn memory_pair() -> (Channel, Channel) {
    let (left, right) = tokio::io::duplex(PIPE_BYTES);
    let (left_reader, left_writer) = tokio::io::split(left);
    let (right_reader, right_writer) = tokio::io::split(right);
    (Channel::new(left_reader, left_writer), Channel::new(right_reader, right_writer))
}
