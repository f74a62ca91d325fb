//! The processor time of this process: with several parties on one machine, the time that each would take alone. Also the time
//! before the hello, which no phase contains.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use garblet::{Declined, Phase, Progress, net::Traffic, run_report::CpuSeconds};

use crate::progress::Bar;

fn of(seconds: &mut CpuSeconds, phase: Phase) -> &mut f64 {
    match phase {
        Phase::Setup => &mut seconds.setup,
        Phase::Prepare => &mut seconds.prepare,
        Phase::Build => &mut seconds.build,
        Phase::Online => &mut seconds.online,
    }
}

/// Measures processor time by phase; clones share one measurement.
#[derive(Clone)]
pub(crate) struct CpuClock(Arc<Mutex<Laps>>);

struct Laps {
    begun: Instant,
    /// `None` before the hello.
    before_hello: Option<Duration>,
    /// `None` if the system does not report it.
    since: Option<f64>,
    phase: Phase,
    done: CpuSeconds,
}

impl CpuClock {
    /// Starts with set-up.
    pub(crate) fn start() -> Self {
        let (begun, done) = (Instant::now(), CpuSeconds::default());
        let laps = Laps { begun, before_hello: None, since: used(), phase: Phase::Setup, done };
        CpuClock(Arc::new(Mutex::new(laps)))
    }

    /// Counts the time from now on towards this phase.
    fn enter(&self, phase: Phase) {
        let mut laps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, before) = (used(), laps.phase);
        laps.before_hello = laps.before_hello.or_else(|| Some(laps.begun.elapsed()));
        if let (Some(now), Some(since)) = (now, laps.since) {
            *of(&mut laps.done, before) += now - since;
        }
        (laps.since, laps.phase) = (now, phase);
    }

    /// The time from the start of this clock to the hello, with which set-up begins.
    pub(crate) fn before_hello(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).before_hello.unwrap_or_default()
    }

    /// The processor time of the phases so far, if the system reports it.
    pub(crate) fn seconds(&self) -> Option<CpuSeconds> {
        let phase = self.0.lock().unwrap_or_else(PoisonError::into_inner).phase;
        self.enter(phase);
        let laps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        laps.since.map(|_| laps.done)
    }
}

/// A progress bar that reports phases to a clock.
pub(crate) struct CpuBar {
    bar: Bar,
    clock: CpuClock,
    begins: Option<Begins>,
}

impl CpuBar {
    pub(crate) fn new(bar: Bar, clock: CpuClock, begins: Option<Begins>) -> Self {
        CpuBar { bar, clock, begins }
    }
}

/// The step of a party after all others have said hello and agreed, before it starts.
pub(crate) type Begins = Box<dyn FnOnce() -> Result<(), Declined> + Send>;

impl Progress for CpuBar {
    fn advance(&mut self, gates_done: u64, gates_total: u64, traffic: Traffic) {
        self.bar.advance(gates_done, gates_total, traffic);
    }

    fn enter(&mut self, phase: Phase) {
        self.clock.enter(phase);
        self.bar.enter(phase);
    }

    fn agreed(&mut self) -> Result<(), Declined> {
        self.begins.take().map_or(Ok(()), |begins| begins())
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
    fn the_time_before_the_hello_ends_with_the_first_phase() {
        let clock = CpuClock::start();
        assert_eq!(clock.before_hello(), Duration::ZERO);
        std::thread::sleep(Duration::from_millis(2));
        clock.enter(Phase::Setup);
        let before = clock.before_hello();
        assert!(before >= Duration::from_millis(2));
        clock.enter(Phase::Online);
        assert_eq!(clock.before_hello(), before);
    }

    #[test]
    fn work_counts_towards_its_phase() {
        let clock = CpuClock::start();
        clock.enter(Phase::Build);
        let before = clock.seconds().expect("this system tells");
        let begin = std::time::Instant::now();
        let mut sum = 0u64;
        while begin.elapsed().as_millis() < 50 {
            sum = (0..10_000u64).fold(sum, |sum, i| sum.wrapping_mul(31) ^ i);
        }
        std::hint::black_box(sum);
        clock.enter(Phase::Online);
        let after = clock.seconds().expect("this system tells");
        assert!(after.build > before.build && after.online >= 0.0);
        assert_eq!((after.setup, after.prepare), (before.setup, before.prepare));
    }
}
