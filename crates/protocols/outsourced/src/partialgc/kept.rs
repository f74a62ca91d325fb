//! State that a server keeps between runs: the split or both keys of each circuit, and the labels of values that nobody learned.
//!
//! It lives in memory. A run consumes it: unless the run succeeds, nothing of the state is used again.

use std::{collections::BTreeMap, ops::Range};

use garblet_circuit::Bits;
use garblet_primitives::Block;
use garblet_protocol::{
    domain::SessionId,
    error::{ProtocolError, StateProblem},
    stock::has_panicked,
};
use zeroize::Zeroizing;

use super::{
    config::Config,
    plan::{Plan, Read},
    split::{CloudKeys, GeneratorKeys},
};
use crate::NAME;

/// The most runs of one split.
///
/// A generator that spoils one circuit per run and is not caught knows that the circuit is evaluated. Its gain is bounded for all
/// runs together by the same figure, as it must never be caught: this holds because a successful run reveals nothing else about the split, not even to a
/// generator that is a client, see `binding`. The limit bounds the sum of errors of labels, hashes and tags.
pub const RUNS_MAX: u64 = 1000;

/// Separates names of lives from all other uses of BLAKE3.
const LIFE_CONTEXT: &str = "garblet 2026 partialgc life v1";

/// Bytes of a server's nonce, from which both name a new life.
pub(crate) const NONCE_BYTES: usize = 32;

/// A server's state, with keys `K`.
///
/// *Secret*: all of it.
pub struct State<K> {
    pub(crate) keys: K,
    name: [u8; 32],
    config: Config,
    /// The number of prepared runs.
    runs: u64,
    /// Set while a run is under way, and for good if it failed.
    broken: bool,
    /// Set once a run has begun online.
    has_served: bool,
    values: BTreeMap<String, Value>,
}

/// The generator's state.
pub type GeneratorState = State<GeneratorKeys>;
/// The cloud's state.
pub type CloudState = State<CloudKeys>;

/// A kept value.
struct Value {
    outputs: Vec<(String, Range<usize>)>,
    bits: usize,
    labels: Labels,
}

/// Two labels for each bit, circuit after circuit: for both values, or the evaluated one and nothing.
pub(crate) type Labels = Zeroizing<Vec<[Block; 2]>>;

impl<K> State<K> {
    /// A new life to which both servers contributed.
    pub(crate) fn new(keys: K, config: Config, [generator, cloud]: [[u8; NONCE_BYTES]; 2]) -> Self {
        let name = blake3::derive_key(LIFE_CONTEXT, &[generator, cloud].concat());
        State { keys, name, config, runs: 0, broken: false, has_served: false, values: BTreeMap::new() }
    }

    /// The name, as sent to clients.
    pub(crate) fn name(&self) -> &[u8; 32] {
        &self.name
    }

    pub(crate) fn config(&self) -> Config {
        self.config
    }

    /// The identifier of all runs together.
    pub(crate) fn life(&self) -> SessionId {
        SessionId::new(NAME, self.name, [[0; 32]; 2])
    }

    /// The number of prepared runs.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// Skips the run numbers that the other server has used.
    pub(crate) fn leave_out(&mut self, runs: u64) {
        self.runs = self.runs.max(runs);
    }

    /// A digest of what both servers must agree on when they meet again.
    pub(crate) fn standing(&self) -> [u8; 32] {
        let mut text = format!("{:?} {}", self.config, self.broken);
        for (name, value) in &self.values {
            text.push_str(&format!("\n{name:?} {:?}", value.outputs));
        }
        *blake3::keyed_hash(&self.name, text.as_bytes()).as_bytes()
    }

    /// Counts another run, and returns its number.
    ///
    /// *Errors*: more runs than a split may serve; a closed state.
    pub(crate) fn begin(&mut self) -> Result<u64, ProtocolError> {
        self.check()?;
        if self.runs >= RUNS_MAX {
            let (expected, got) = (format!("at most {RUNS_MAX} runs"), "one more".into());
            return Err(ProtocolError::Stored { what: "the hidden split of the circuits", expected, got });
        }
        self.runs += 1;
        Ok(self.runs - 1)
    }

    /// *Errors*: a closed state.
    pub(crate) fn check(&self) -> Result<(), ProtocolError> {
        match self.broken {
            false => Ok(()),
            true => Err(ProtocolError::State { name: "partialgc".into(), problem: StateProblem::Closed }),
        }
    }

    /// Tells whether a run has begun online. Until then, nothing would be lost.
    pub(crate) fn has_served(&self) -> bool {
        self.has_served
    }

    /// Marks the state as in use: from here on it is usable only if the run succeeds.
    pub(crate) fn risk(&mut self) {
        self.broken = true;
        self.has_served = true;
    }

    /// Ends a successful run; its kept values are available from now on, unless the outputs say that it panicked.
    pub(crate) fn end(&mut self, plan: &Plan, results: &[Option<Bits>], labels: Labels) {
        self.broken = false;
        let Some((name, outputs)) = plan.keeps().filter(|_| !has_panicked(plan.program(), results)) else { return };
        let mut bits = 0;
        let outputs = outputs.iter().map(|&output| {
            let port = &plan.program().outputs()[output].port;
            bits += port.width() as usize;
            (port.name.clone(), bits - port.width() as usize..bits)
        });
        let outputs = outputs.collect();
        self.values.insert(name.into(), Value { outputs, bits, labels });
    }

    /// The labels of all inputs to read, circuit after circuit.
    ///
    /// *Errors*: a value that does not exist or has another width.
    pub(crate) fn read(&self, plan: &Plan) -> Result<Labels, ProtocolError> {
        let places = plan.reads().iter().map(|read| self.place(read)).collect::<Result<Vec<_>, _>>()?;
        let mut labels = Zeroizing::new(Vec::with_capacity(plan.circuits() * plan.read_bits()));
        for circuit in 0..plan.circuits() {
            for (value, range) in &places {
                let start = circuit * value.bits;
                labels.extend_from_slice(&value.labels[start + range.start..start + range.end]);
            }
        }
        Ok(labels)
    }

    fn place(&self, read: &Read) -> Result<(&Value, Range<usize>), ProtocolError> {
        let name = &read.from.name;
        let missing = || ProtocolError::State { name: name.clone(), problem: StateProblem::Missing };
        let value = self.values.get(name).ok_or_else(missing)?;
        let (_, range) = match &read.from.output {
            None if value.outputs.len() == 1 => value.outputs.first(),
            None => None,
            Some(output) => value.outputs.iter().find(|(name, _)| name == output),
        }
        .ok_or_else(missing)?;
        let (expected, got) = (read.wires.len(), range.len());
        match expected == got {
            true => Ok((value, range.clone())),
            false => {
                let [expected, got] = [expected, got].map(|bits| format!("{bits} bits"));
                Err(ProtocolError::Input { what: format!("`{}`, which is read", read.from.port), expected, got })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_serves_a_limited_number_of_runs_and_a_broken_state_none() {
        let new = || State::new((), Config::default(), [[1; NONCE_BYTES], [2; NONCE_BYTES]]);
        let mut state = new();
        for run in 0..RUNS_MAX {
            assert_eq!(state.begin().expect("it may serve that many"), run);
        }
        assert!(matches!(state.begin(), Err(ProtocolError::Stored { .. })));
        let mut state = new();
        state.leave_out(u64::MAX);
        assert!(matches!(state.begin(), Err(ProtocolError::Stored { .. })));
        let mut state = new();
        let before = state.standing();
        state.risk();
        assert!(matches!(state.begin(), Err(ProtocolError::State { problem: StateProblem::Closed, .. })));
        assert!(state.standing() != before);
    }
}
