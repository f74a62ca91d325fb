//! Channels: memory, TCP, TLS; byte and round counters; simulated links.
//!
//! A [`Channel`] joins this party to one peer. Control messages are typed and checked ([`Message`]), bulk data is a
//! stream of bytes in the same channel, and every payload byte and round is counted ([`Traffic`]). What comes from the
//! peer never panics, never sizes an allocation beyond the limit of the expected message, and never blocks a step
//! beyond two time-outs and what its bytes take at [`LEAST_BYTES_PER_SECOND`].
//!
//! A server's visitors, who have no identity and may be browsers, come through an [`Entrance`] ([`Visitors`]), and call by a [`Call`]: these carry whole
//! [`Messages`] and nothing else.
//!
//! All transports need a tokio runtime with its time driver. In WebAssembly it is the clock of JavaScript instead; there are no sockets (feature `tcp`), and a
//! channel is made [over](connect_over) what the page has opened.

mod blame;
#[cfg(feature = "tcp")]
mod callers;
mod channel;
mod clock;
#[cfg(feature = "tcp")]
mod connect;
mod difference;
mod duplex;
mod error;
mod fingerprint;
mod frame;
mod hello;
mod identity;
mod lanes;
mod link;
mod memory;
mod mesh;
mod message;
#[cfg(feature = "tcp")]
mod messages;
mod over;
mod pace;
mod parts;
mod reader;
#[cfg(feature = "tcp")]
mod reception;
mod refusal;
mod refusing;
#[cfg(feature = "tcp")]
mod relay;
mod session_name;
mod small_file;
#[cfg(feature = "tcp")]
mod tcp;
pub mod testing;
mod tls;
mod transcript;
mod trust;
mod watch;
#[cfg(feature = "websocket")]
mod websocket;
mod writer;

pub use blame::{Accuses, Blame, Cause};
#[cfg(feature = "tcp")]
pub use callers::{Caller, Callers};
pub use channel::{Channel, DEFAULT_TIMEOUT, Traffic};
#[cfg(feature = "tcp")]
pub use connect::{Listener, connect};
pub use difference::Difference;
pub use error::NetError;
pub use fingerprint::{Fingerprint, FingerprintError};
pub use hello::{Hello, JOB, JobTerms, SCHEDULE, STEP, WIRE_VERSION, agree};
pub use identity::{Identity, IdentityError, SIGNATURE_BYTES, is_signed_by};
pub use link::{LinkError, SimulatedLink};
pub use memory::memory_pair;
#[cfg(feature = "tcp")]
pub use mesh::MeshError;
pub use mesh::{
    Lent, Line, MESH, Mesh, PartyError, PeerEntry, PeersFile, PeersFileError, PeersFileFault, PerPeer, share_of,
};
pub use message::Message;
#[cfg(feature = "tcp")]
pub use messages::{Call, Carrier, Entrance, Messages, Place, Places, Visitor, Visitors};
pub use over::{Advice, OnRefused, Options, connect_over};
pub use pace::LEAST_BYTES_PER_SECOND;
pub use refusal::Refusal;
#[cfg(feature = "tcp")]
pub use relay::relay;
pub use session_name::SessionName;
pub use small_file::{check_is_file, read_small_file};
#[cfg(feature = "tcp")]
pub use tcp::exposure;
pub use tls::Tls;
#[cfg(feature = "tcp")]
pub use tls::{CertificateError, ServerTls, WebCertificate};
pub use trust::{TrustError, TrustStore};
pub use watch::{ChannelWatch, Passed};
