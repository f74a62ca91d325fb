//! The connection to the peer: its address, and the identities on both sides.

use std::{net::SocketAddr, path::Path};

use garblet::{
    Party,
    meet::{Meeting, Peers, Way, check_loopback, check_one_awaited},
    net::{Fingerprint, Identity, NetError, PeersFile, SessionName},
};

use crate::{
    failure::Failure,
    hints::{meet_failure, net_failure, peers_file_failure},
    identity,
    output::tell,
    trusting::{self, Decides},
};

/// The place and the identity of the peer.
#[derive(clap::Args)]
pub struct WayArgs {
    #[command(flatten)]
    meeting: MeetingArgs,
    #[command(flatten)]
    peer: identity::PeerArgs,
    /// Speak plain TCP, without identities or encryption, to a peer on this machine
    #[arg(long, conflicts_with_all = ["identity", "peer"])]
    insecure_plain_tcp: bool,
    /// The name of this session, the same for all its parties and new each time: parties with another do not meet us. It is sent in the clear, as the TLS server name
    #[arg(long, value_name = "NAME")]
    session: Option<SessionName>,
}

/// The place to meet the peer.
#[derive(clap::Args)]
#[group(multiple = false)]
struct MeetingArgs {
    /// Wait for the peer at this address; at `ws://HOST:PORT` through a WebSocket, so that a page can be the peer
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Go to the peer at this address; at `ws://HOST:PORT` by WebSocket
    #[arg(long, value_name = "HOST:PORT")]
    connect: Option<String>,
}

/// The options for meeting one peer, of which a party gives one; for an argument group of a command.
pub const MEETING: [&str; 2] = ["listen", "connect"];

impl WayArgs {
    /// The place where the parties meet.
    ///
    /// *Errors*: no address.
    pub fn meeting(&self) -> Result<Meeting, Failure> {
        let listen = self.meeting.listen.clone().map(Meeting::Listen);
        let meeting = listen.or_else(|| self.meeting.connect.clone().map(Meeting::Connect));
        meeting.ok_or_else(|| Failure::call("--listen or --connect is missing"))
    }

    /// This party's identity.
    ///
    /// *Errors*: it cannot be loaded.
    pub fn identity(&self) -> Result<Identity, Failure> {
        self.peer.identity()
    }

    /// The connection settings.
    ///
    /// *Errors*: no address; plain TCP to another machine; the identity cannot be loaded; no trusted peer, or several to wait for.
    pub fn way(&self) -> Result<Way, Failure> {
        let (meeting, session) = (self.meeting()?, self.session.clone());
        if self.insecure_plain_tcp {
            return Way::plain(meeting, session).map_err(|e| meet_failure(&e));
        }
        let (identity, trusted) = (self.peer.identity()?, self.peer.trusted()?);
        if matches!(meeting, Meeting::Listen(_)) {
            check_one_awaited(&trusted).map_err(|e| meet_failure(&e))?;
        }
        self.pinned(meeting, identity, trusted)
    }

    /// The connection settings over TLS, with the names of trusted peers.
    fn pinned(
        &self,
        meeting: Meeting,
        identity: Identity,
        trusted: Vec<(String, Fingerprint)>,
    ) -> Result<Way, Failure> {
        let way = Way::pinned(meeting, identity, trusted, self.session.clone());
        let mut way = way.map_err(|e| meet_failure(&e))?;
        way.names = self.peer.names();
        Ok(way)
    }

    /// The names that peers have here, for a check of the names in a job.
    ///
    /// *Errors*: the file of trusted peers cannot be read, or others may write it.
    pub(crate) fn checked_names(&self) -> Result<Vec<(String, Fingerprint)>, Failure> {
        self.peer.checked_names()
    }

    /// Returns whether it is plain TCP, without identities.
    pub(crate) fn is_plain(&self) -> bool {
        self.insecure_plain_tcp
    }

    /// The connection settings to the only peer, with this identity and name.
    ///
    /// *Errors*: as [`WayArgs::way`]; the options name another peer.
    pub(crate) fn to_known(&self, name: &str, fingerprint: Fingerprint) -> Result<Way, Failure> {
        self.peer.check_only(name, fingerprint)?;
        trusting::decided_by(Decides::Job);
        let identity = self.peer.identity()?;
        self.pinned(self.meeting()?, identity, vec![(name.to_string(), fingerprint)])
    }

    /// The connection settings from `party` to the others of `peers`.
    ///
    /// *Errors*: plain TCP to other machines; the identity cannot be loaded, or differs from the one in the file.
    pub fn to_all(&self, party: Party, peers: &PeersFile) -> Result<Way, Failure> {
        let peers = Peers::new(party, peers.clone(), self.meeting.listen.clone()).map_err(|e| meet_failure(&e))?;
        let meeting = Meeting::Peers(peers);
        match self.insecure_plain_tcp {
            true => Way::plain(meeting, self.session.clone()).map_err(|e| meet_failure(&e)),
            false => self.pinned(meeting, self.peer.identity()?, Vec::new()),
        }
    }
}

/// The peers file of a protocol of several parties.
///
/// *Errors*: the file is not a peers file.
pub fn open_peers(path: &Path) -> Result<PeersFile, Failure> {
    PeersFile::open(path).map_err(|e| peers_file_failure(&e))
}

/// Checks that an address has a host and a port. Only a connection shows whether somebody is there.
///
/// *Errors*: a text without one of these.
pub fn check_address(address: &str) -> Result<(), Failure> {
    // A WebSocket's address may have a path.
    let of_socket = match address.strip_prefix("ws://") {
        Some(rest) => rest.split_once('/').map_or(rest, |(place, _)| place),
        None => address,
    };
    match of_socket.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(()),
        _ => Err(net_failure(&NetError::NotAnAddress { address: address.into() })),
    }
}

/// Prints the address where this party listens.
pub fn announce(address: SocketAddr) {
    tell(&format!("listening on {address}"));
}

/// Checks that only programs on this machine can reach an address.
pub fn require_loopback(address: &str) -> Result<(), Failure> {
    check_loopback(address).map_err(|e| meet_failure(&e))
}
