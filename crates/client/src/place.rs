//! The place of a message among all messages: job, server, client, counter.

use std::fmt;

use garblet_circuit::Party;

/// One of the two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Server {
    /// Party 0, which garbles.
    Generator,
    /// The last party, which evaluates.
    Cloud,
}

impl Server {
    /// Both servers.
    pub const BOTH: [Server; 2] = [Server::Generator, Server::Cloud];

    /// The other one.
    pub fn other(self) -> Server {
        match self {
            Server::Generator => Server::Cloud,
            Server::Cloud => Server::Generator,
        }
    }

    /// The byte that stands for the server in hashes.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Server::Generator => 0,
            Server::Cloud => 1,
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Server::Generator => "generator",
            Server::Cloud => "cloud",
        })
    }
}

/// Separates digests of runs from all other uses of BLAKE3.
const RUN_CONTEXT: &str = "garblet 2026 outsourced run v1";

/// The place of one exchange between a client and a server.
///
/// *Unique*: a client deals only once with each counter, whatever the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The digest of the job.
    pub job: [u8; 32],
    /// The server at one end.
    pub server: Server,
    /// The client at the other, by its number in the job.
    pub client: Party,
    /// The client's number for this submission.
    pub counter: u64,
}

impl Place {
    /// The digest of job, client and counter, which answers carry: of the same submission at both servers.
    pub fn run(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key(RUN_CONTEXT);
        hash.update(&self.job).update(&self.client.0.to_le_bytes()).update(&self.counter.to_le_bytes());
        hash.finalize().into()
    }
}
