//! Progress of long work on a terminal.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use garblet::{Phase, Progress, net::Traffic};
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::bytes;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAWS_PER_SECOND: u8 = 10;
const STEP_TEMPLATE: &str = "{bar:32} {pos} of {len}  {elapsed}  {msg}";
const TEMPLATE: &str = "{bar:32} {percent:>3} %  {msg}";

/// A bar with the work done, its rate and the remaining time. Silent if standard error is not a terminal.
pub(crate) struct Bar {
    enabled: bool,
    /// The start of the counted work.
    begin: Option<Instant>,
    bar: Option<ProgressBar>,
    phase: Phase,
}

impl Bar {
    /// Creates a bar that appears once the work takes a while, if wanted.
    pub(crate) fn new(wanted: bool) -> Self {
        Bar { enabled: wanted && std::io::stderr().is_terminal(), begin: None, bar: None, phase: Phase::Setup }
    }

    /// Shows this progress; `message` receives the rate per second.
    fn draw(&mut self, done: u64, total: u64, message: impl FnOnce(f64) -> String) {
        if !self.enabled {
            return;
        }
        let elapsed = self.begin.get_or_insert_with(Instant::now).elapsed();
        if elapsed < PATIENCE {
            return;
        }
        let rate = done as f64 / elapsed.as_secs_f64();
        let bar = self.bar.get_or_insert_with(|| draw(total));
        bar.set_message(format!("{}{}", message(rate), left(done, total, rate)));
        bar.set_position(done);
        if done >= total {
            bar.finish_and_clear();
            // The next stage is counted separately.
            (self.bar, self.begin) = (None, None);
        }
    }
}

impl Progress for Bar {
    fn advance(&mut self, gates_done: u64, gates_total: u64, traffic: Traffic) {
        let phase = self.phase;
        self.draw(gates_done, gates_total, |rate| message(phase, gates_done, gates_total, rate, traffic));
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar for bytes. Silent if standard error is not a terminal.
pub struct ByteBar {
    what: &'static str,
    bar: Bar,
}

impl ByteBar {
    /// Creates a bar that appears once the work takes a while, if wanted.
    pub fn new(wanted: bool, what: &'static str) -> Self {
        ByteBar { what, bar: Bar::new(wanted) }
    }

    /// Shows this number of bytes as done.
    pub fn advance(&mut self, done: u64, total: u64) {
        let what = self.what;
        self.bar.draw(done, total, |_| format!("{} of {} {what}", bytes(done), bytes(total)));
    }
}

/// A bar over steps of different length, with the name of the current one and the total time so far. Silent if standard error is not a
/// terminal.
pub struct StepBar {
    bar: ProgressBar,
}

impl StepBar {
    /// A bar with this number of steps.
    pub fn new(steps: u64) -> Self {
        let target = match std::io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        let bar = match ProgressStyle::with_template(STEP_TEMPLATE) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        bar.enable_steady_tick(Duration::from_millis(500));
        StepBar { bar }
    }

    /// Shows that a step starts after this number of finished ones.
    pub fn begin(&mut self, done: u64, name: &'static str) {
        self.bar.set_position(done);
        self.bar.set_message(name);
    }

    /// Writes text above the bar.
    pub fn pause(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }
}

impl Drop for StepBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn message(phase: Phase, gates_done: u64, gates_total: u64, rate: f64, traffic: Traffic) -> String {
    format!(
        "{}: {} of {} AND gates, {} AND/s, {}",
        phase.name(),
        HumanCount(gates_done),
        HumanCount(gates_total),
        crate::output::rate(rate),
        bytes(traffic.bytes_sent + traffic.bytes_received)
    )
}

/// The remaining time at the rate so far; empty before there is a rate.
fn left(done: u64, total: u64, rate: f64) -> String {
    let time = Duration::try_from_secs_f64(total.saturating_sub(done) as f64 / rate);
    time.map_or(String::new(), |time| format!("  {:#} left", HumanDuration(time)))
}

fn draw(gates_total: u64) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND);
    let bar = ProgressBar::with_draw_target(Some(gates_total), target);
    match ProgressStyle::with_template(TEMPLATE) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_has_phase_gates_rate_and_bytes() {
        let traffic = Traffic { bytes_sent: 64_000_000, ..Traffic::default() };
        let text = message(Phase::Build, 2_000_000, 12_800_000, 20e6, traffic);
        assert_eq!(text, "build: 2,000,000 of 12,800,000 AND gates, 20.0 M AND/s, 64.0 MB");
    }

    #[test]
    fn the_remaining_time_follows_the_rate_so_far() {
        assert_eq!(left(8, 100, 4.0), "  23s left");
        assert_eq!(left(0, 100, 0.0), "");
        assert_eq!(left(100, 100, 50.0), "  0s left");
    }

    #[test]
    fn the_template_is_well_formed() {
        assert!([TEMPLATE, STEP_TEMPLATE].iter().all(|template| ProgressStyle::with_template(template).is_ok()));
    }

    #[test]
    fn without_a_terminal_nothing_is_drawn() {
        let mut bar = Bar { enabled: false, begin: None, bar: None, phase: Phase::Setup };
        bar.advance(1, 2, Traffic::default());
        assert!(bar.bar.is_none() && bar.begin.is_none());
    }
}
