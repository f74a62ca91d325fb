//! The job: everything that the parties of an outsourced run agree on.

mod encoding;
mod terms;

use garblet_circuit::{Bits, Party, Port};

use crate::malformed::Malformed;

pub use terms::{Destination, Identity, JobInput, JobOutput, Kept, Origin, Statistical, Terms};

/// The most bytes of a job.
pub const JOB_BYTES_MAX: usize = 1 << 20;
/// The most clients of a job.
pub const CLIENTS_MAX: usize = 1 << 14;
/// The most input bits, and the most output bits, of a client.
pub const CLIENT_BITS_MAX: u64 = 1 << 28;

/// Separates digests of jobs from all other uses of BLAKE3.
const CONTEXT: &str = "garblet 2026 outsourced job v1";

/// Valid terms, with their only encoding and its digest.
#[derive(Clone, Debug)]
pub struct Job {
    terms: Terms,
    encoded: Vec<u8>,
    digest: [u8; 32],
}

/// Invalid terms, or bytes that do not encode terms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// Bytes that do not encode a job.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Terms that contradict one another or a limit.
    #[error("job, {what}: expected {expected}, got {got}")]
    Terms {
        /// The term.
        what: String,
        /// The values that it may have.
        expected: String,
        /// The value that it has.
        got: String,
    },
    /// There is no such client.
    #[error("job, client: expected a number from 1 to {clients}, got {got}")]
    NoSuchClient {
        /// Clients of the job.
        clients: usize,
        /// The number.
        got: Party,
    },
    /// Values of a client that do not fit its ports.
    #[error("{what}: expected {expected}, got {got}")]
    Values {
        /// The port, or the ports.
        what: String,
        /// Bits or values that are needed.
        expected: usize,
        /// Bits or values that were given.
        got: usize,
    },
}

impl JobError {
    /// Advice for a person.
    pub fn hint(&self) -> &'static str {
        match self {
            JobError::Malformed(malformed) => malformed.hint(),
            JobError::Terms { .. } => "the job's author must change it, and everybody must get it again",
            JobError::NoSuchClient { .. } => {
                "use the number that the job gives your identity; party 0 and the last party are servers"
            }
            JobError::Values { .. } => {
                "give a value for each of your inputs, in the program's order, as wide as its type"
            }
        }
    }
}

/// Bits of a client's messages.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// The input.
    pub(crate) inputs: usize,
    /// The output.
    pub(crate) outputs: usize,
    /// The hash.
    pub(crate) hash: usize,
}

/// The digest of a job's bytes, which need not be a job.
pub(crate) fn digest_of(encoded: &[u8]) -> [u8; 32] {
    blake3::derive_key(CONTEXT, encoded)
}

impl Job {
    /// Checks terms.
    ///
    /// *Errors*: [`JobError::Terms`].
    pub fn new(terms: Terms) -> Result<Self, JobError> {
        terms.check()?;
        let encoded = encoding::encode(&terms);
        match encoded.len() <= JOB_BYTES_MAX {
            true => Ok(Job { terms, digest: digest_of(&encoded), encoded }),
            false => Err(JobError::Terms {
                what: "size".into(),
                expected: format!("at most {JOB_BYTES_MAX} bytes"),
                got: encoded.len().to_string(),
            }),
        }
    }

    /// Reads a job from an untrusted sender.
    ///
    /// *Errors*: [`JobError::Malformed`], [`JobError::Terms`].
    pub fn decode(bytes: &[u8]) -> Result<Self, JobError> {
        Job::new(encoding::decode(bytes)?)
    }

    /// The job as bytes, always the same.
    pub fn encode(&self) -> &[u8] {
        &self.encoded
    }

    /// The digest that parties compare to check that they run the same job.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The terms.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The client with that identity.
    pub fn client(&self, identity: &Identity) -> Option<Party> {
        self.terms.clients.iter().position(|client| client == identity).map(|at| Party(at as u16 + 1))
    }

    /// The state that answers refer to, with its version after the run: the state that is kept, or else the first that is read.
    pub fn state(&self) -> Option<(&str, u64)> {
        let read = || {
            self.terms.inputs.iter().find_map(|input| match &input.origin {
                Origin::State { state, version, .. } => Some((&state[..], *version)),
                Origin::Party(_) => None,
            })
        };
        self.terms.keeps.as_ref().map(|kept| (&kept.state[..], kept.version)).or_else(read)
    }

    /// The input ports of a party, in the program's order.
    pub fn inputs_of(&self, party: Party) -> impl Iterator<Item = &Port> {
        self.terms.inputs.iter().filter(move |i| i.origin == Origin::Party(party)).map(|i| &i.port)
    }

    /// The output ports that a party learns, in the program's order.
    pub fn outputs_of(&self, party: Party) -> impl Iterator<Item = &Port> {
        self.terms.outputs.iter().filter(move |o| o.to.contains(party)).map(|o| &o.port)
    }

    /// The input of a party from the values of its ports, in the program's order.
    ///
    /// *Errors*: [`JobError::Values`].
    pub fn join_inputs(&self, party: Party, values: &[Bits]) -> Result<Bits, JobError> {
        let ports: Vec<&Port> = self.inputs_of(party).collect();
        if ports.len() != values.len() {
            let what = format!("values of party {party}");
            return Err(JobError::Values { what, expected: ports.len(), got: values.len() });
        }
        let mut joined = Bits::with_capacity(values.iter().map(Bits::len).sum());
        for (port, value) in ports.into_iter().zip(values) {
            let (expected, got) = (port.width() as usize, value.len());
            if expected != got {
                return Err(JobError::Values { what: format!("bits of input `{}`", port.name), expected, got });
            }
            joined.append(value);
        }
        Ok(joined)
    }

    /// The values of the ports that a party learns, from its output.
    ///
    /// *Errors*: [`JobError::Values`].
    pub fn split_outputs(&self, party: Party, output: &Bits) -> Result<Vec<(&Port, Bits)>, JobError> {
        let (expected, got) = (bits_of(self.outputs_of(party)), output.len());
        if expected != got {
            return Err(JobError::Values { what: format!("output bits of party {party}"), expected, got });
        }
        let mut at = 0;
        let split = self.outputs_of(party).map(|port| {
            let start = at;
            at += port.width() as usize;
            (port, output.slice(start, port.width() as usize))
        });
        Ok(split.collect())
    }

    /// The sizes of a client's messages.
    ///
    /// *Errors*: [`JobError::NoSuchClient`].
    pub(crate) fn shape(&self, client: Party) -> Result<Shape, JobError> {
        let clients = self.terms.clients.len();
        if !(1..=clients).contains(&usize::from(client.0)) {
            return Err(JobError::NoSuchClient { clients, got: client });
        }
        let (inputs, outputs) = (bits_of(self.inputs_of(client)), bits_of(self.outputs_of(client)));
        Ok(Shape { inputs, outputs, hash: self.terms.statistical.hash_bits() })
    }
}

/// Bits of ports.
fn bits_of<'a>(ports: impl Iterator<Item = &'a Port>) -> usize {
    ports.map(|port| port.width() as usize).sum()
}

#[cfg(test)]
mod tests;
