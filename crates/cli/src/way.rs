//! How to get to the peer: where, and as whom.

use std::net::SocketAddr;

use garblet_net::Tls;

use crate::{failure::Failure, identity, session::Meeting};

/// Where the peer is and who it is.
#[derive(clap::Args)]
pub(crate) struct WayArgs {
    #[command(flatten)]
    meeting: MeetingArgs,
    #[command(flatten)]
    peer: identity::PeerArgs,
    /// Speak plain TCP, without identities or encryption, to a peer on this machine
    #[arg(long, conflicts_with_all = ["identity", "peer"])]
    insecure_plain_tcp: bool,
}

/// Where to meet the peer.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct MeetingArgs {
    /// Wait for the peer at this address
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Go to the peer at this address
    #[arg(long, value_name = "HOST:PORT")]
    connect: Option<String>,
}

/// A way to the peer.
pub(crate) struct Way {
    pub(crate) meeting: Meeting,
    /// None is plain TCP.
    pub(crate) tls: Option<Tls>,
    /// The peer as a store is marked with it, or why there is none.
    pub(crate) peer: Result<String, Failure>,
}

impl WayArgs {
    /// The way.
    ///
    /// *Errors*: no address, plain TCP to another machine, an identity that cannot be loaded, nobody to trust.
    pub(crate) fn way(&self) -> Result<Way, Failure> {
        let listen = self.meeting.listen.clone().map(Meeting::Listen);
        let meeting = listen.or_else(|| self.meeting.connect.clone().map(Meeting::Connect));
        let meeting = meeting.ok_or_else(|| Failure::call("--listen or --connect is missing"))?;
        if self.insecure_plain_tcp {
            require_loopback(&meeting)?;
            return Ok(Way { meeting, tls: None, peer: Ok("a peer without identity".into()) });
        }
        Ok(Way { meeting, tls: Some(self.peer.tls()?), peer: self.peer.only_peer() })
    }
}

/// Says where this party listens.
pub(crate) fn announce(address: SocketAddr) -> Result<(), Failure> {
    eprintln!("listening on {address}");
    Ok(())
}

fn require_loopback(meeting: &Meeting) -> Result<(), Failure> {
    let (Meeting::Listen(address) | Meeting::Connect(address)) = meeting;
    let host = address.rsplit_once(':').map_or(&address[..], |(host, _)| host);
    let loopback = host == "localhost"
        || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    match loopback {
        true => Ok(()),
        false => Err(Failure::call(format!("--insecure-plain-tcp: {address} is not on this machine"))
            .hint("leave the option out and give --identity and --peer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_tcp_is_for_this_machine() {
        for address in ["127.0.0.1:1", "localhost:1", "[::1]:1", "127.8.8.8:0"] {
            assert_eq!(require_loopback(&Meeting::Listen(address.into())), Ok(()), "{address}");
        }
        for address in ["0.0.0.0:1", "192.168.0.1:1", "example.org:1", ":1", ""] {
            assert!(require_loopback(&Meeting::Connect(address.into())).is_err(), "{address}");
        }
    }
}
