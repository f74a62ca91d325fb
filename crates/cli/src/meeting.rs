//! The meeting of the parties: where they meet, and the connections that come of it.

use std::net::SocketAddr;

use garblet::{Ends, Party};
use garblet_net::{Channel, Listener, Mesh, Options, PeersFile, SessionName, Tls, connect};

use crate::{
    failure::Failure,
    hints::{mesh_failure, net_failure},
    settings::Settings,
};

/// The place where the parties meet.
pub(crate) enum Meeting<'a> {
    /// This party waits there.
    Listen(String),
    /// This party goes there.
    Connect(String),
    /// Several parties: this one listens there, unless it is the last, and the others are where the file says.
    Mesh { listen: Option<String>, peers: Box<dyn Fn() -> Result<PeersFile, Failure> + 'a> },
}

/// The way from a party to the others.
pub(crate) struct Route<'a> {
    pub(crate) meeting: &'a Meeting<'a>,
    /// None is plain TCP.
    pub(crate) tls: Option<Tls>,
    /// The name of the session.
    pub(crate) session: Option<SessionName>,
    /// Hears where this party listens, with the port that the system chose.
    pub(crate) listening: &'a dyn Fn(SocketAddr) -> Result<(), Failure>,
}

/// Meets all others.
///
/// *Errors*: an address that cannot be used; others that do not come, or are not as they should be.
pub(crate) async fn connect_all(settings: &Settings, party: Party, route: Route<'_>) -> Result<Ends, Failure> {
    match route.meeting {
        Meeting::Mesh { .. } => Ok(join(settings, party, route).await?.into()),
        _ => Ok(meet(settings, route).await?.into()),
    }
}

/// Joins the mesh of several parties.
async fn join(settings: &Settings, party: Party, route: Route<'_>) -> Result<Mesh, Failure> {
    let Meeting::Mesh { listen, peers } = route.meeting else {
        return Err(Failure::call("--peers is missing: where all parties are"));
    };
    let options = Options { session: route.session, ..settings.options(route.tls)? };
    let listener = match listen {
        Some(address) => {
            let listener = Listener::bind(address).await.map_err(|e| net_failure(&e))?;
            (route.listening)(listener.address())?;
            Some(listener)
        }
        None => None,
    };
    Mesh::join(party.0, &peers()?, listener, &options).await.map_err(|e| mesh_failure(&e))
}

/// Meets the peer.
async fn meet(settings: &Settings, route: Route<'_>) -> Result<Channel, Failure> {
    let options = Options { session: route.session, ..settings.options(route.tls)? };
    match route.meeting {
        Meeting::Listen(address) => {
            let listener = Listener::bind(address).await.map_err(|e| net_failure(&e))?;
            (route.listening)(listener.address())?;
            listener.accept(&options).await
        }
        Meeting::Connect(address) => connect(address, &options).await,
        Meeting::Mesh { .. } => return Err(Failure::call("--peers: this is between two parties")),
    }
    .map_err(|e| net_failure(&e))
}
