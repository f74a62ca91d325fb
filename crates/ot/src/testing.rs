//! Test support: two parties in one thread, an ideal OT, and a deviation for every check.

mod deviations;
pub(crate) mod ideal;

use std::future::Future;
use std::time::Duration;

use garblet_net::{Channel, memory_pair};

/// Runs a future to completion.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

/// In-memory channels with a short time-out.
pub(crate) fn channels() -> (Channel, Channel) {
    let (mut ours, mut theirs) = memory_pair();
    ours.set_timeout(Duration::from_secs(5));
    theirs.set_timeout(Duration::from_secs(5));
    (ours, theirs)
}
