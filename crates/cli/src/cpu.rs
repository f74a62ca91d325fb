//! Processor time of this process: with several parties on one machine, what each would take on its own.

use serde::{Deserialize, Serialize};

/// Seconds of processor time of one party, all threads together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CpuSeconds {
    /// Of set-up.
    pub(crate) setup: f64,
    /// Of preparing and building.
    pub(crate) prepare: f64,
    /// Of the rest.
    pub(crate) online: f64,
}

impl CpuSeconds {
    /// The three laps; none if one is unknown.
    pub(crate) fn of([setup, prepare, online]: [Option<f64>; 3]) -> Option<Self> {
        Some(CpuSeconds { setup: setup?, prepare: prepare?, online: online? })
    }
}

/// Measures laps of processor time.
pub(crate) struct CpuClock(Option<f64>);

impl CpuClock {
    /// Begins the first lap.
    pub(crate) fn start() -> Self {
        CpuClock(used())
    }

    /// Seconds since the last lap, where the system tells.
    pub(crate) fn lap(&mut self) -> Option<f64> {
        let now = used();
        let before = std::mem::replace(&mut self.0, now);
        Some(now? - before?)
    }
}

/// Seconds that this process has used so far.
#[cfg(unix)]
fn used() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn used() -> Option<f64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn sleeping_is_free_and_work_is_not() {
        let mut clock = CpuClock::start();
        let begin = std::time::Instant::now();
        let mut sum = 0u64;
        while begin.elapsed().as_millis() < 50 {
            sum = (0..10_000u64).fold(sum, |sum, i| sum.wrapping_mul(31) ^ i);
        }
        std::hint::black_box(sum);
        assert!(clock.lap().expect("this system tells") > 0.0);
    }
}
