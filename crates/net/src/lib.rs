//! Channels over memory, TCP and TLS, with byte and round counters and simulated links.
//!
//! A [`Channel`] joins this party to one peer. Control messages are typed and checked ([`Message`]), bulk data is a
//! stream of bytes in the same channel, and every payload byte and round is counted ([`Traffic`]). Data from the peer
//! never causes a panic, an allocation beyond the limit of the expected message, or a step that blocks for longer than two
//! time-outs and the time of its bytes at [`LEAST_BYTES_PER_SECOND`].
//!
//! A server's visitors, who have no identity and may be browsers, connect with a [`Call`] and enter through an [`Entrance`] ([`Visitors`]). These
//! connections carry only whole [`Messages`].
//!
//! All transports need a tokio runtime with its time driver. WebAssembly uses the clock of JavaScript instead and has no sockets (feature `tcp`): a
//! channel is created [over](connect_over) a stream that the page has opened.

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
mod toml_words;
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
pub use garblet_text::OtherFormat;
pub use hello::{
    AMOUNTS, Amounts, COUNT, COUNTS, Hello, JOB, JobTerms, LOW_WATER, MayBeOpen, SCHEDULE, STEP, WIRE, WIRE_VERSION,
    agree, open_value, told,
};
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
pub use small_file::{check_is_file, check_stated_format, read_small_file};
#[cfg(feature = "tcp")]
pub use tcp::exposure;
pub use tls::Tls;
#[cfg(feature = "tcp")]
pub use tls::{CertificateError, ServerTls, WebCertificate};
pub use toml_words::toml_words;
pub use trust::{TrustError, TrustStore};
pub use watch::{ChannelWatch, Passed};
