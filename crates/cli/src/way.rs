//! The way to the peer: where, and as whom.

use std::{net::SocketAddr, path::Path};

use garblet_circuit::Party;
use garblet_net::{Fingerprint, Identity, NetError, PeerEntry, PeersFile, SessionName, Tls, exposure};

use crate::{
    failure::Failure,
    hints::{net_failure, peers_file_failure},
    identity,
    meeting::Meeting,
    output::tell,
};

/// The place and the identity of the peer.
#[derive(clap::Args)]
pub(crate) struct WayArgs {
    #[command(flatten)]
    meeting: MeetingArgs,
    #[command(flatten)]
    peer: identity::PeerArgs,
    /// Speak plain TCP, without identities or encryption, to a peer on this machine
    #[arg(long, conflicts_with_all = ["identity", "peer"])]
    insecure_plain_tcp: bool,
    /// The name of this session, the same for all its parties and new each time: who has another does not meet us. It goes in the clear, as the server name of TLS
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
    /// Go to the peer at this address, `ws://HOST:PORT` if it waits so
    #[arg(long, value_name = "HOST:PORT")]
    connect: Option<String>,
}

/// The options of which two parties need one: to be named in a group of the command.
pub(crate) const MEETING: [&str; 2] = ["listen", "connect"];

/// A way to the peer.
pub(crate) struct Way<'a> {
    pub(crate) meeting: Meeting<'a>,
    /// None is plain TCP.
    pub(crate) tls: Option<Tls>,
    /// The peer as a store is marked with it, or why there is none.
    pub(crate) peer: Result<String, Failure>,
    /// Names of peers.
    pub(crate) names: Vec<(String, Fingerprint)>,
    /// The name of the session.
    pub(crate) session: Option<SessionName>,
}

impl WayArgs {
    /// The place where the peer is met.
    ///
    /// *Errors*: no address.
    pub(crate) fn meeting(&self) -> Result<Meeting<'static>, Failure> {
        let listen = self.meeting.listen.clone().map(Meeting::Listen);
        let meeting = listen.or_else(|| self.meeting.connect.clone().map(Meeting::Connect));
        meeting.ok_or_else(|| Failure::call("--listen or --connect is missing"))
    }

    /// This party's identity.
    ///
    /// *Errors*: one that cannot be loaded.
    pub(crate) fn identity(&self) -> Result<Identity, Failure> {
        self.peer.identity()
    }

    /// The way.
    ///
    /// *Errors*: no address, plain TCP to another machine, an identity that cannot be loaded, nobody to trust, several to wait for.
    pub(crate) fn way(&self) -> Result<Way<'static>, Failure> {
        let meeting = self.meeting()?;
        if self.insecure_plain_tcp {
            let (Meeting::Listen(address) | Meeting::Connect(address)) = &meeting else {
                return Err(Failure::call("--peers: this is between two parties"));
            };
            require_loopback(address)?;
            let peer = Ok("a peer without identity".into());
            let session = self.session.clone();
            return Ok(Way { meeting, tls: None, peer, names: Vec::new(), session });
        }
        let tls = Some(self.peer.tls()?);
        if matches!(meeting, Meeting::Listen(_)) {
            self.peer.check_one_awaited()?;
        }
        let (peer, names, session) = (self.peer.only_peer(), self.peer.names(), self.session.clone());
        Ok(Way { meeting, tls, peer, names, session })
    }

    /// Tells whether it is plain TCP, without identities.
    pub(crate) fn is_plain(&self) -> bool {
        self.insecure_plain_tcp
    }

    /// The way to the one peer with this identity, who is trusted under this name.
    ///
    /// *Errors*: as [`WayArgs::way`]; another peer in the options.
    pub(crate) fn to_known(&self, name: &str, fingerprint: Fingerprint) -> Result<Way<'static>, Failure> {
        self.peer.check_only(name, fingerprint)?;
        let tls = Some(Tls::new(self.peer.identity()?, [(name.to_string(), fingerprint)]));
        let (meeting, peer) = (self.meeting()?, Ok(fingerprint.to_string()));
        Ok(Way { meeting, tls, peer, names: self.peer.names(), session: self.session.clone() })
    }

    /// The way of `party` to the others of `peers`.
    ///
    /// *Errors*: plain TCP to other machines, an identity that cannot be loaded, or is not the one in the file.
    pub(crate) fn to_all<'a>(&self, party: Party, peers: &'a PeersFile) -> Result<Way<'a>, Failure> {
        let Some(own) = peers.parties().get(usize::from(party.0)) else {
            return Err(Failure::call(format!("--party {party}: the peers file has {} parties", peers.party_count())));
        };
        let tls = self.tls_among(party, own, peers)?;
        let address = self.meeting.listen.clone().unwrap_or_else(|| own.address.clone());
        let listen = (party.0 + 1 < peers.party_count()).then_some(address);
        let meeting = Meeting::Mesh { listen, peers: Box::new(|| Ok(peers.clone())) };
        let (peer, names) = match &tls {
            Some(_) => (others(party, peers), self.peer.names()),
            None => (without_identities(peers.party_count()), Vec::new()),
        };
        Ok(Way { meeting, tls, peer: Ok(peer), names, session: self.session.clone() })
    }

    fn tls_among(&self, party: Party, own: &PeerEntry, peers: &PeersFile) -> Result<Option<Tls>, Failure> {
        if self.insecure_plain_tcp {
            let named = peers.parties().iter().map(|entry| &entry.address);
            named.chain(&self.meeting.listen).try_for_each(|address| require_loopback(address))?;
            return Ok(None);
        }
        let identity = self.peer.identity()?;
        match own.fingerprint {
            Some(expected) if expected != identity.fingerprint() => {
                let got = identity.fingerprint();
                Err(Failure::call(format!("party {party} of the peers file is {expected}, our identity is {got}"))
                    .hint("check --party and --identity, or correct the peers file"))
            }
            Some(_) => Ok(Some(Tls::new(identity, []))),
            None => Err(Failure::call("the peers file has no fingerprints, so nobody would know who the others are")
                .hint("give every party its fingerprint; on one machine, --insecure-plain-tcp does without")),
        }
    }
}

/// The identities of all but `party`, as a store is marked with them.
fn others(party: Party, peers: &PeersFile) -> String {
    let numbered = peers.parties().iter().enumerate().filter(|(other, _)| *other != usize::from(party.0));
    let name = |(other, entry): (usize, &PeerEntry)| match entry.fingerprint {
        Some(fingerprint) => format!("party {other} {fingerprint}"),
        None => format!("party {other} without identity"),
    };
    numbered.map(name).collect::<Vec<_>>().join(", ")
}

/// The peers of a party of `count` that speak plain TCP, as a store is marked with them.
pub(crate) fn without_identities(count: u16) -> String {
    match count {
        2 => "a peer without identity".into(),
        _ => format!("{} peers without identity", count - 1),
    }
}

/// The peers file of a protocol of several parties.
///
/// *Errors*: what is no such file.
pub(crate) fn open_peers(path: &Path) -> Result<PeersFile, Failure> {
    PeersFile::open(path).map_err(|e| peers_file_failure(&e))
}

/// Says where this party listens.
pub(crate) fn announce(address: SocketAddr) -> Result<(), Failure> {
    tell(&format!("listening on {address}"));
    Ok(())
}

/// Looks whether an address is on this machine.
pub(crate) fn require_loopback(address: &str) -> Result<(), Failure> {
    if address.rsplit_once(':').is_none_or(|(host, _)| host.is_empty()) {
        return Err(net_failure(&NetError::NotAnAddress { address: address.into() }));
    }
    let refused = |exposure| Failure::call(format!("--insecure-plain-tcp: {address} {exposure}"));
    let hint = "leave the option out and give --identity and --peer";
    exposure(address).map_or(Ok(()), |exposure| Err(refused(exposure).hint(hint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_tcp_is_for_this_machine() {
        assert_eq!(require_loopback("127.0.0.1:1"), Ok(()));
        assert!(require_loopback("0.0.0.0:1").is_err_and(|e| e.message.contains("not on this machine")));
        assert!(require_loopback("ws://127.0.0.1:1").is_err_and(|e| e.message.contains("every page")));
        for address in [":1", "1", ""] {
            assert!(require_loopback(address).is_err_and(|e| e.message.contains("expected HOST:PORT")), "{address}");
        }
    }
}
