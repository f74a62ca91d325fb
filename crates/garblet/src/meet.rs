//! The meeting of the parties: the place, the trusted peers, and the text that binds a store to its peers.
//!
//! A [`Way`] is checked when it is made, before any connection: plain TCP stays on this machine, one of several parties has the identity that the
//! peers file gives it, and a listener waits for one peer. [`Way::listen`] takes the place, and [`Listening::meet`] meets all others.

use std::net::SocketAddr;

use garblet_circuit::Party;
use garblet_net::{
    Fingerprint, Identity, Listener, Mesh, MeshError, NetError, Options, PeerEntry, PeersFile, SessionName, Tls,
    connect, exposure,
};
use garblet_protocol::Class;

use crate::{Advice, Ends, Explain};

/// The place where the parties meet.
#[derive(Clone, Debug)]
pub enum Meeting {
    /// This party waits for its one peer there.
    Listen(String),
    /// This party calls its one peer there.
    Connect(String),
    /// Several parties meet, each at its own place.
    Peers(Peers),
}

/// The places and identities of several parties, and which of them this one is.
#[derive(Clone, Debug)]
pub struct Peers {
    party: Party,
    file: PeersFile,
    listen: Option<String>,
}

impl Peers {
    /// The parties of a peers file, with another address for this party if it listens elsewhere.
    ///
    /// *Errors*: a party that the file does not have.
    pub fn new(party: Party, file: PeersFile, listen: Option<String>) -> Result<Self, MeetError> {
        let count = file.party_count();
        match party.0 < count {
            true => Ok(Peers { party, file, listen }),
            false => Err(MeetError::NoSuchParty { party, count }),
        }
    }

    fn own(&self) -> &PeerEntry {
        &self.file.parties()[usize::from(self.party.0)]
    }

    /// The address where this party listens; none for the last party, which calls all others.
    fn address(&self) -> Option<&str> {
        let address = self.listen.as_deref().unwrap_or(&self.own().address);
        (self.party.0 + 1 < self.file.party_count()).then_some(address)
    }

    /// The identities of all others, as a store is marked with them.
    fn mark(&self) -> String {
        mark_of_others(self.party, self.file.parties().iter().map(|entry| entry.fingerprint))
    }
}

/// The reason why a way to the others is invalid. Every reason is in the caller's arguments.
#[derive(Debug, thiserror::Error)]
pub enum MeetError {
    /// An invalid address.
    #[error(transparent)]
    Address(NetError),
    /// Plain TCP, at an address that other machines can reach.
    #[error("{address} {exposure}")]
    Exposed {
        /// The address.
        address: String,
        /// The rest of the sentence.
        exposure: &'static str,
    },
    /// A party that the peers file does not have.
    #[error("party {party}: the peers file has {count} parties")]
    NoSuchParty {
        /// The party.
        party: Party,
        /// The number of parties.
        count: u16,
    },
    /// The peers file gives this party another identity.
    #[error("party {party} of the peers file is {expected}, our identity is {got}")]
    OtherIdentity {
        /// This party.
        party: Party,
        /// Its fingerprint in the peers file.
        expected: Fingerprint,
        /// Its own.
        got: Fingerprint,
    },
    /// The peers file has no identities.
    #[error("the peers file has no fingerprints, so nobody would know who the others are")]
    NoFingerprints,
    /// Nobody would be let in.
    #[error("nobody is trusted")]
    NobodyTrusted,
    /// This party listens, and each of several could come.
    #[error("no peer to wait for was chosen; trusted are {}", names.join(", "))]
    SeveralAwaited {
        /// The names of those that are trusted.
        names: Vec<String>,
    },
    /// A store is for one peer, and several may come.
    #[error("a store is for one peer, and several are trusted")]
    SeveralTrusted,
}

impl Explain for MeetError {
    fn class(&self) -> Class {
        Class::Call
    }

    fn is_wrong_call(&self) -> bool {
        true
    }

    fn advice(&self) -> Option<Advice> {
        match self {
            MeetError::Address(error) => error.advice(),
            MeetError::Exposed { .. } => Some(Advice::UseIdentities),
            MeetError::NoSuchParty { .. } => None,
            MeetError::OtherIdentity { .. } => Some(Advice::RightIdentity),
            MeetError::NoFingerprints => Some(Advice::PinParties),
            MeetError::NobodyTrusted => Some(Advice::TrustSomebody),
            MeetError::SeveralAwaited { .. } => Some(Advice::AwaitOne),
            MeetError::SeveralTrusted => Some(Advice::ChoosePeer),
        }
    }
}

/// A party's way to the others, which was checked.
#[derive(Clone)]
pub struct Way {
    /// The place.
    pub meeting: Meeting,
    /// The identities; none with plain TCP.
    pub tls: Option<Tls>,
    /// The name of the session.
    pub session: Option<SessionName>,
    /// The names that this party has for identities.
    pub names: Vec<(String, Fingerprint)>,
    mark: Option<String>,
}

impl Way {
    /// The way by plain TCP, without identities or encryption.
    ///
    /// *Errors*: an invalid address, or one that other machines can reach.
    pub fn plain(meeting: Meeting, session: Option<SessionName>) -> Result<Self, MeetError> {
        let count = match &meeting {
            Meeting::Listen(address) | Meeting::Connect(address) => {
                check_loopback(address)?;
                2
            }
            // The address that replaces ours in the file must pass the same check.
            Meeting::Peers(Peers { file, listen, .. }) => {
                let named = file.parties().iter().map(|entry| &entry.address);
                named.chain(listen).try_for_each(|address| check_loopback(address))?;
                file.party_count()
            }
        };
        Ok(Way { meeting, tls: None, session, names: Vec::new(), mark: Some(mark_without_identities(count)) })
    }

    /// The way over TLS with this identity, to trusted peers; with several parties, only to those of the peers file.
    ///
    /// *Errors*: nobody to trust; several to wait for, if no session tells which of them is meant; another identity than the peers file has.
    pub fn pinned(
        meeting: Meeting,
        identity: Identity,
        trusted: Vec<(String, Fingerprint)>,
        session: Option<SessionName>,
    ) -> Result<Self, MeetError> {
        let names = trusted.clone();
        let (trusted, mark) = match &meeting {
            Meeting::Peers(peers) => {
                let (party, got) = (peers.party, identity.fingerprint());
                match peers.own().fingerprint {
                    Some(expected) if expected != got => {
                        return Err(MeetError::OtherIdentity { party, expected, got });
                    }
                    Some(_) => (Vec::new(), Some(peers.mark())),
                    None => return Err(MeetError::NoFingerprints),
                }
            }
            _ if trusted.is_empty() => return Err(MeetError::NobodyTrusted),
            Meeting::Listen(_) if session.is_none() => {
                check_one_awaited(&trusted)?;
                (trusted.clone(), mark_of(&trusted))
            }
            Meeting::Listen(_) | Meeting::Connect(_) => (trusted.clone(), mark_of(&trusted)),
        };
        Ok(Way { tls: Some(Tls::new(identity, trusted)), meeting, session, names, mark })
    }

    /// The text that binds a store to the peers of this way. Stores with another one are refused.
    ///
    /// *Errors*: several peers, each of which could come.
    pub fn mark(&self) -> Result<&str, MeetError> {
        self.mark.as_deref().ok_or(MeetError::SeveralTrusted)
    }

    /// Listens, if others are to call this party.
    ///
    /// *Errors*: an address that cannot be used.
    pub async fn listen(&self) -> Result<Listening, NetError> {
        let address = match &self.meeting {
            Meeting::Listen(address) => Some(&address[..]),
            Meeting::Connect(_) => None,
            Meeting::Peers(peers) => peers.address(),
        };
        Listening::at(address).await
    }
}

/// A party that has taken its place, where the others can call it.
pub struct Listening(Option<Listener>);

impl Listening {
    /// Listens at an address; at none if this party calls all others.
    ///
    /// *Errors*: an address that cannot be used.
    pub async fn at(address: Option<&str>) -> Result<Self, NetError> {
        match address {
            Some(address) => Ok(Listening(Some(Listener::bind(address).await?))),
            None => Ok(Listening(None)),
        }
    }

    /// The address, with the port that the system chose; none if this party calls all others.
    pub fn address(&self) -> Option<SocketAddr> {
        self.0.as_ref().map(Listener::address)
    }

    /// Meets all others. The identities and the session of the options are those of the way.
    ///
    /// *Errors*: others that do not connect, or do not pass a check.
    pub async fn meet(self, way: &Way, options: Options) -> Result<Ends, MeshError> {
        let options = Options { tls: way.tls.clone(), session: way.session.clone(), ..options };
        match (&way.meeting, self.0) {
            (Meeting::Peers(peers), listener) => {
                Ok(Mesh::join(peers.party.0, &peers.file, listener, &options).await?.into())
            }
            (Meeting::Connect(address), _) => Ok(connect(address, &options).await?.into()),
            (Meeting::Listen(_), Some(listener)) => Ok(listener.accept(&options).await?.into()),
            (Meeting::Listen(address), None) => Ok(Listener::bind(address).await?.accept(&options).await?.into()),
        }
    }
}

/// Refuses to wait for whichever of several peers comes first.
///
/// *Errors*: several peers.
pub fn check_one_awaited(trusted: &[(String, Fingerprint)]) -> Result<(), MeetError> {
    match trusted {
        [] | [_] => Ok(()),
        several => Err(MeetError::SeveralAwaited { names: several.iter().map(|(name, _)| name.clone()).collect() }),
    }
}

/// The text that binds a store to the peers of one of `count` parties that speak plain TCP.
pub fn mark_without_identities(count: u16) -> String {
    match count {
        2 => "a peer without identity".into(),
        _ => format!("{} peers without identity", count.saturating_sub(1)),
    }
}

/// The text that binds a store of one of several parties to all others, from the identities of all parties in order.
pub fn mark_of_others(party: Party, identities: impl IntoIterator<Item = Option<Fingerprint>>) -> String {
    let numbered = identities.into_iter().enumerate().filter(|(other, _)| *other != usize::from(party.0));
    let name = |(other, identity): (usize, Option<Fingerprint>)| match identity {
        Some(fingerprint) => format!("party {other} {fingerprint}"),
        None => format!("party {other} without identity"),
    };
    numbered.map(name).collect::<Vec<_>>().join(", ")
}

/// The text that binds a store to one peer with this identity.
pub fn mark_of_peer(fingerprint: Fingerprint) -> String {
    fingerprint.to_string()
}

fn mark_of(trusted: &[(String, Fingerprint)]) -> Option<String> {
    match trusted {
        [(_, fingerprint)] => Some(mark_of_peer(*fingerprint)),
        _ => None,
    }
}

/// Checks that an address is for programs of this machine alone.
///
/// *Errors*: any other address, or an invalid one.
pub fn check_loopback(address: &str) -> Result<(), MeetError> {
    if address.rsplit_once(':').is_none_or(|(host, _)| host.is_empty()) {
        return Err(MeetError::Address(NetError::NotAnAddress { address: address.into() }));
    }
    match exposure(address) {
        None => Ok(()),
        Some(exposure) => Err(MeetError::Exposed { address: address.into(), exposure }),
    }
}
