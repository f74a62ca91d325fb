//! A service's metrics in Prometheus text format.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use garblet::{Phase, PhaseCosts, circuit::diagnostic::one_line};
use garblet_console::{output::escaped, report::rss_bytes};
use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

type Labels = Vec<(&'static str, String)>;

/// The metrics; clones share them.
#[derive(Clone)]
pub(super) struct Metrics {
    registry: Arc<Registry>,
    sessions: Family<Labels, Counter>,
    refusals: Family<Labels, Counter>,
    bytes: Family<Labels, Counter>,
    gates: Counter,
    seconds: Family<Labels, Counter<f64, AtomicU64>>,
    running: Gauge,
    hanging: Gauge,
    waiting: Gauge,
    gathering: Gauge,
    results: Gauge,
    strangers: Gauge,
    memory: Gauge,
    stock: Family<Labels, Gauge>,
    misbehaviours: Family<Labels, Counter>,
    lost_lines: Counter,
    is_ready: Arc<AtomicBool>,
    lacks_room: Arc<AtomicBool>,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("garblet");
        let sessions = Family::default();
        registry.register("sessions", "Sessions that have ended, by job, outcome and work", sessions.clone());
        let refusals = Family::default();
        registry.register("refusals", "Callers that were refused, by reason", refusals.clone());
        let bytes = Family::default();
        registry.register("payload_bytes", "Payload of sessions with a result, by direction and work", bytes.clone());
        let gates = Counter::default();
        registry.register("and_gates", "AND gates of sessions with a result", gates.clone());
        let seconds: Family<Labels, Counter<f64, AtomicU64>> = Family::default();
        registry.register("phase_seconds", "Time of sessions with a result, by phase and work", seconds.clone());
        let [running, hanging, waiting, gathering, results, strangers, memory] =
            std::array::from_fn(|_| Gauge::default());
        registry.register("sessions_running", "Sessions that are running", running.clone());
        registry.register("sessions_hanging", "Those of them that were aborted and still run", hanging.clone());
        registry.register("sessions_waiting", "Callers waiting for a session to end", waiting.clone());
        registry.register("sessions_gathering", "Sessions waiting for some of their parties", gathering.clone());
        registry.register("results_waiting", "Results that were not accepted and are offered again", results.clone());
        registry.register("strangers", "Connections since the start that were not callers", strangers.clone());
        registry.register("resident_memory_bytes", "Memory of the process", memory.clone());
        let stock = Family::default();
        registry.register("stock_pieces", "Pieces in a store when it was last counted, by job and peer", stock.clone());
        let misbehaviours = Family::default();
        registry.register(
            "misbehaviours",
            "Sessions in which a peer was found to cheat, by peer",
            misbehaviours.clone(),
        );
        let lost_lines = Counter::default();
        registry.register("log_lines_lost", "Lines of the log that could not be written", lost_lines.clone());
        let [is_ready, lacks_room] = std::array::from_fn(|_| Arc::default());
        let registry = Arc::new(registry);
        Metrics {
            registry,
            sessions,
            refusals,
            bytes,
            gates,
            seconds,
            running,
            hanging,
            waiting,
            gathering,
            results,
            strangers,
            memory,
            stock,
            misbehaviours,
            lost_lines,
            is_ready,
            lacks_room,
        }
    }

    /// The counter of lost log lines.
    pub(super) fn lost_lines(&self) -> Counter {
        self.lost_lines.clone()
    }

    /// Counts a session that has ended, of this work.
    pub(super) fn ended(&self, job: &str, outcome: &str, work: &str) {
        self.sessions
            .get_or_create(&vec![("job", shown(job)), ("outcome", outcome.into()), ("work", work.into())])
            .inc();
    }

    /// Counts the cost of a session with a result, of this work.
    pub(super) fn computed(&self, gates: u64, phases: &PhaseCosts, work: &str) {
        self.gates.inc_by(gates);
        for phase in Phase::ALL {
            let cost = phases.of(phase);
            self.seconds
                .get_or_create(&vec![("phase", phase.name().into()), ("work", work.into())])
                .inc_by(cost.seconds);
            for (direction, bytes) in
                [("sent", cost.communication.bytes_sent), ("received", cost.communication.bytes_received)]
            {
                self.bytes.get_or_create(&vec![("direction", direction.into()), ("work", work.into())]).inc_by(bytes);
            }
        }
    }

    pub(super) fn refused(&self, reason: &str) {
        self.refusals.get_or_create(&vec![("reason", reason.into())]).inc();
    }

    /// Counts a peer that was found to cheat.
    pub(super) fn misbehaved(&self, peer: &str) {
        self.misbehaviours.get_or_create(&vec![("peer", shown(peer))]).inc();
    }

    pub(super) fn stocked(&self, job: &str, peer: &str, pieces: u64) {
        let gauge = self.stock.get_or_create(&vec![("job", shown(job)), ("peer", shown(peer))]).clone();
        gauge.set(pieces.try_into().unwrap_or(i64::MAX));
    }

    /// Sets the number of results that were not accepted and wait.
    pub(super) fn set_waiting_results(&self, results: usize) {
        self.results.set(results as i64);
    }

    /// Sets the numbers of running sessions, of those among them that hang, of waiting and gathering ones, and of strangers so far.
    pub(super) fn see(&self, [running, hanging, waiting, gathering]: [usize; 4], strangers: u64) {
        self.running.set(running as i64);
        self.hanging.set(hanging as i64);
        self.waiting.set(waiting as i64);
        self.gathering.set(gathering as i64);
        self.strangers.set(strangers.try_into().unwrap_or(i64::MAX));
    }

    pub(super) fn set_ready(&self, is_ready: bool) {
        self.is_ready.store(is_ready, Ordering::Relaxed);
    }

    /// Tells whether there was room for the last receipt, or none: then the service is not ready until there is some again.
    pub(super) fn set_room(&self, is_there: bool) {
        self.lacks_room.store(!is_there, Ordering::Relaxed);
    }

    /// Returns whether there was no room for the last receipt.
    pub(super) fn lacks_room(&self) -> bool {
        self.lacks_room.load(Ordering::Relaxed)
    }

    pub(super) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed) && !self.lacks_room() && self.results.get() == 0
    }

    /// All metrics as text.
    pub(super) fn text(&self) -> String {
        self.memory.set(rss_bytes().and_then(|bytes| bytes.try_into().ok()).unwrap_or(0));
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// A name, escaped for the page because a terminal may show it.
fn shown(name: &str) -> String {
    escaped(&one_line(name)).into_owned()
}

/// The time since the start of 1970.
pub(super) fn clock() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillings_are_told_from_runs() {
        let metrics = Metrics::new();
        for work in ["run", "filling"] {
            metrics.ended("job", "done", work);
            metrics.computed(0, &PhaseCosts::default(), work);
        }
        let text = metrics.text();
        for labels in [
            "sessions_total{job=\"job\",outcome=\"done\"",
            "payload_bytes_total{direction=\"sent\"",
            "phase_seconds_total{phase=\"online\"",
        ] {
            for work in ["run", "filling"] {
                let line = format!("garblet_{labels},work=\"{work}\"}} ");
                assert!(text.contains(&line), "{line}{text}");
            }
        }
    }

    #[test]
    fn names_of_jobs_and_peers_are_escaped_on_the_page() {
        let metrics = Metrics::new();
        let name = "a\"} 7\n\\garblet_sessions 8\u{1b}[2J\u{202e}\u{200b}";
        metrics.ended(name, "done", "run");
        metrics.stocked(name, name, 3);
        metrics.misbehaved(name);
        let text = metrics.text();
        let shown = "a\\\"} 7\\\\u{a}\\\\garblet_sessions 8\\\\u{1b}[2J\\\\u{202e}\\\\u{200b}";
        for line in [
            format!("garblet_sessions_total{{job=\"{shown}\",outcome=\"done\",work=\"run\"}} 1\n"),
            format!("garblet_stock_pieces{{job=\"{shown}\",peer=\"{shown}\"}} 3\n"),
            format!("garblet_misbehaviours_total{{peer=\"{shown}\"}} 1\n"),
        ] {
            assert!(text.contains(&line), "{line}{text}");
        }
    }
}
