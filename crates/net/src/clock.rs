//! The clock: tokio's, or in WebAssembly that of JavaScript in pages, workers and Node.

#[cfg(target_family = "wasm")]
pub(crate) use javascript::{Instant, timeout, timeout_at};
#[cfg(not(target_family = "wasm"))]
pub(crate) use tokio::time::{Instant, timeout, timeout_at};

#[cfg(target_family = "wasm")]
mod javascript {
    use std::time::Duration;

    use gloo_timers::future::TimeoutFuture;
    use send_wrapper::SendWrapper;
    pub(crate) use web_time::Instant;

    /// The longest wait that JavaScript supports.
    const LONGEST: u128 = i32::MAX as u128;

    /// The time has passed.
    pub(crate) struct Elapsed;

    /// Waits for a future, but not longer than that.
    pub(crate) async fn timeout<T>(after: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
        let millis = after.as_nanos().div_ceil(1_000_000).min(LONGEST) as u32;
        tokio::select! {
            biased;
            done = future => Ok(done),
            // There is only one thread, so nothing is ever sent to another.
            () = SendWrapper::new(TimeoutFuture::new(millis)) => Err(Elapsed),
        }
    }

    /// Waits for a future, but not beyond this moment.
    pub(crate) async fn timeout_at<T>(moment: Instant, future: impl Future<Output = T>) -> Result<T, Elapsed> {
        timeout(moment.saturating_duration_since(Instant::now()), future).await
    }
}
