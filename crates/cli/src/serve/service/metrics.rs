//! The metrics of a service, in the text format of Prometheus.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use garblet::{Phase, PhaseCosts};
use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

use crate::report::rss_bytes;

type Labels = Vec<(&'static str, String)>;

/// The metrics; clones are the same.
#[derive(Clone)]
pub(super) struct Metrics {
    registry: Arc<Registry>,
    sessions: Family<Labels, Counter>,
    refusals: Family<Labels, Counter>,
    bytes: Family<Labels, Counter>,
    gates: Counter,
    seconds: Family<Labels, Counter<f64, AtomicU64>>,
    running: Gauge,
    waiting: Gauge,
    strangers: Gauge,
    memory: Gauge,
    stock: Family<Labels, Gauge>,
    misbehaviours: Family<Labels, Counter>,
    is_ready: Arc<AtomicBool>,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("garblet");
        let sessions = Family::default();
        registry.register("sessions", "Sessions that have ended, by job and outcome", sessions.clone());
        let refusals = Family::default();
        registry.register("refusals", "Callers that were refused, by reason", refusals.clone());
        let bytes = Family::default();
        registry.register("payload_bytes", "Payload of sessions with a result, by direction", bytes.clone());
        let gates = Counter::default();
        registry.register("and_gates", "AND gates of sessions with a result", gates.clone());
        let seconds: Family<Labels, Counter<f64, AtomicU64>> = Family::default();
        registry.register("phase_seconds", "Time of sessions with a result, by phase", seconds.clone());
        let [running, waiting, strangers, memory] = std::array::from_fn(|_| Gauge::default());
        registry.register("sessions_running", "Sessions that are running", running.clone());
        registry.register("sessions_waiting", "Callers that wait for a session to end", waiting.clone());
        registry.register("strangers", "Connections since the start that were no callers", strangers.clone());
        registry.register("resident_memory_bytes", "Memory of the process", memory.clone());
        let stock = Family::default();
        registry.register("stock_pieces", "Pieces in a store when it was last counted, by job and peer", stock.clone());
        let misbehaviours = Family::default();
        registry.register(
            "misbehaviours",
            "Sessions in which a peer was found to cheat, by peer",
            misbehaviours.clone(),
        );
        let is_ready = Arc::default();
        let registry = Arc::new(registry);
        Metrics {
            registry,
            sessions,
            refusals,
            bytes,
            gates,
            seconds,
            running,
            waiting,
            strangers,
            memory,
            stock,
            misbehaviours,
            is_ready,
        }
    }

    /// A session has ended.
    pub(super) fn ended(&self, job: &str, outcome: &str) {
        self.sessions.get_or_create(&vec![("job", job.into()), ("outcome", outcome.into())]).inc();
    }

    /// A session had a result, which cost so much.
    pub(super) fn computed(&self, gates: u64, phases: &PhaseCosts) {
        self.gates.inc_by(gates);
        for phase in Phase::ALL {
            let cost = phases.of(phase);
            self.seconds.get_or_create(&vec![("phase", phase.name().into())]).inc_by(cost.seconds);
            for (direction, bytes) in
                [("sent", cost.communication.bytes_sent), ("received", cost.communication.bytes_received)]
            {
                self.bytes.get_or_create(&vec![("direction", direction.into())]).inc_by(bytes);
            }
        }
    }

    pub(super) fn refused(&self, reason: &str) {
        self.refusals.get_or_create(&vec![("reason", reason.into())]).inc();
    }

    /// A peer was found to cheat.
    pub(super) fn misbehaved(&self, peer: &str) {
        self.misbehaviours.get_or_create(&vec![("peer", peer.into())]).inc();
    }

    pub(super) fn stocked(&self, job: &str, peer: &str, pieces: u64) {
        let gauge = self.stock.get_or_create(&vec![("job", job.into()), ("peer", peer.into())]).clone();
        gauge.set(pieces.try_into().unwrap_or(i64::MAX));
    }

    /// So many run, wait, and were strangers.
    pub(super) fn see(&self, running: usize, waiting: usize, strangers: u64) {
        self.running.set(running as i64);
        self.waiting.set(waiting as i64);
        self.strangers.set(strangers.try_into().unwrap_or(i64::MAX));
    }

    pub(super) fn set_ready(&self, is_ready: bool) {
        self.is_ready.store(is_ready, Ordering::Relaxed);
    }

    pub(super) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }

    /// All of them as text.
    pub(super) fn text(&self) -> String {
        self.memory.set(rss_bytes().and_then(|bytes| bytes.try_into().ok()).unwrap_or(0));
        let mut text = String::new();
        // A string takes everything.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// The time since the beginning of 1970.
pub(super) fn clock() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}
