//! Joining a mesh over TCP or TLS. The parties may start in any order.
//!
//! Every party listens for those above it and connects to those below it. The first message each way identifies the party, so
//! that connections find their places; [`Hello`] then states the plan.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::{MESH, Mesh, PartyError, PeersFile, PerPeer};
use crate::blame::{Blame, Cause};
use crate::callers::Caller;
use crate::channel::Channel;
use crate::connect::{Calls, Carrier, Listener, channel, connect};
use crate::difference::Difference;
use crate::error::{NetError, refused_text};
use crate::hello::{Hello, JOB, agree};
use crate::over::{HANDSHAKE, Options};
use crate::reception::{Reception, SharedLog};
use crate::tls::{Meant, Side};

/// The time that a party that gives up waits for missing parties, to tell them the reason.
const FAREWELL: Duration = Duration::from_secs(1);

/// The reason that a mesh could not be formed.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// A party that came is not acceptable.
    #[error(transparent)]
    Party(#[from] PartyError),
    /// Parties that did not come.
    #[error("{}{}", missing_text(missing), refused_text(refused))]
    Missing {
        /// The missing parties, each with the error of the last attempt.
        missing: Vec<(u16, NetError)>,
        /// The time that this party waited.
        after: Duration,
        /// Connections from strangers: their origin, and the reason for refusing them.
        refused: Vec<String>,
    },
    /// This party's own number or network.
    #[error(transparent)]
    Own(#[from] NetError),
}

impl MeshError {
    fn blame(&self) -> Option<Blame> {
        match self {
            MeshError::Party(error) => error.blame(),
            MeshError::Missing { missing, .. } => missing.first().map(|(party, _)| Blame::seen(*party, Cause::Missing)),
            MeshError::Own(_) => None,
        }
    }
}

fn missing_text(missing: &[(u16, NetError)]) -> String {
    let who: Vec<String> = missing.iter().map(|(party, error)| format!("party {party}: {error}")).collect();
    who.join("; ")
}

impl Mesh {
    /// Joins party `party` of `peers` to all others: listens for those above it and connects to those below it.
    ///
    /// `listener` must already be bound to this party's address; the last party needs none. With `options.tls`, a peer must
    /// have its identity from the peers file; the identities that `tls` itself trusts do not matter.
    ///
    /// Joining counts in the mesh's traffic: for a step, take the difference of the counters.
    ///
    /// *Errors:* those of [`MeshError`]; parties that have joined, or come within a second, are told who is to blame.
    pub async fn join(
        party: u16,
        peers: &PeersFile,
        listener: Option<Listener>,
        options: &Options,
    ) -> Result<Mesh, MeshError> {
        Mesh::join_at(party, peers, listener.map_or(Door::Closed, Door::Listener), options).await
    }

    /// The same for a service, which accepts callers of many sessions at one address: this session's arrive through `callers`.
    ///
    /// *Errors:* as [`Mesh::join`].
    pub async fn join_callers(
        party: u16,
        peers: &PeersFile,
        callers: mpsc::Receiver<Caller>,
        options: &Options,
    ) -> Result<Mesh, MeshError> {
        Mesh::join_at(party, peers, Door::Callers(callers), options).await
    }

    async fn join_at(party: u16, peers: &PeersFile, mut door: Door, options: &Options) -> Result<Mesh, MeshError> {
        let meeting = Meeting { party, peers, options, deadline: Instant::now() + options.patience };
        let mut arrivals = Arrivals::new(party, peers.party_count());
        meeting.gather(&mut door, &mut arrivals).await?;
        let channels = arrivals.joined.into_iter().filter_map(|(_, arrival)| Some(arrival?.channel));
        let mut mesh = Mesh::new(PerPeer::from_ends(party, channels.collect()));
        mesh.set_timeout(options.timeout);
        Ok(mesh)
    }
}

/// The entry for other parties.
enum Door {
    /// No party connects to this one.
    Closed,
    Listener(Listener),
    Callers(mpsc::Receiver<Caller>),
}

/// An incoming connection.
enum Came {
    Stream(TcpStream, Carrier),
    /// With its hello received ahead.
    Channel(Box<Channel>),
}

impl Door {
    fn listener(&self) -> Option<&Listener> {
        match self {
            Door::Listener(listener) => Some(listener),
            Door::Closed | Door::Callers(_) => None,
        }
    }

    /// The next incoming connection. A party that does not listen waits forever.
    async fn next(&mut self) -> Result<(Came, SocketAddr), NetError> {
        match self {
            Door::Listener(listener) => {
                let (stream, from) = listener.accept_stream().await?;
                Ok((Came::Stream(stream, listener.carrier.clone()), from))
            }
            Door::Callers(callers) => match callers.recv().await {
                Some(Caller { channel, from, .. }) => Ok((Came::Channel(Box::new(channel)), from)),
                None => std::future::pending().await,
            },
            Door::Closed => std::future::pending().await,
        }
    }
}

/// A party that has come.
struct Arrival {
    channel: Channel,
    /// The address from which it came.
    from: String,
}

/// The parties that have come.
struct Arrivals {
    joined: PerPeer<Option<Arrival>>,
    /// Connections of parties that already had a place.
    doubles: Vec<Channel>,
}

impl Arrivals {
    fn new(party: u16, party_count: u16) -> Self {
        Arrivals { joined: PerPeer::new(party, party_count, |_| None), doubles: Vec::new() }
    }

    /// All incoming connections.
    fn take(&mut self) -> Vec<Channel> {
        let placed = self.joined.iter_mut().filter_map(|(_, arrival)| Some(arrival.take()?.channel));
        placed.chain(std::mem::take(&mut self.doubles)).collect()
    }

    /// Gives a party its place.
    ///
    /// *Errors:* [`NetError::DuplicateParty`] if it has one.
    fn place(&mut self, party: u16, arrival: Arrival) -> Result<(), PartyError> {
        match self.joined.get_mut(party) {
            Some(place @ None) => {
                *place = Some(arrival);
                Ok(())
            }
            Some(Some(first)) => {
                self.doubles.push(arrival.channel);
                let source = NetError::DuplicateParty { first: first.from.clone(), second: arrival.from };
                Err(PartyError { party, source })
            }
            None => Ok(()),
        }
    }
}

/// A guest: an incoming connection from a party of this run, with everything known about it.
enum Guest {
    /// A party that takes its place.
    Party(u16, Box<Arrival>),
    /// A party of this run that cannot take part.
    Unfit(PartyError),
    /// A party of this run that claims to be another one, which is still expected.
    Pretender(PartyError),
}

struct Meeting<'a> {
    party: u16,
    peers: &'a PeersFile,
    options: &'a Options,
    deadline: Instant,
}

impl Meeting<'_> {
    /// Lets all parties find their places.
    async fn gather(&self, door: &mut Door, arrivals: &mut Arrivals) -> Result<(), MeshError> {
        let mut calls: FuturesUnordered<_> = (0..self.party).map(|peer| self.call(peer)).collect();
        let log = door.listener().map_or_else(SharedLog::default, |listener| listener.log.clone());
        let mut reception = Reception::new(self.options.on_refused.clone(), self.options.advice, log);
        // The default error for parties that never come.
        let mut absent = Vec::new();
        let result = async {
            while arrivals.joined.iter().any(|(_, arrival)| arrival.is_none()) {
                tokio::select! {
                    Some((peer, called)) = calls.next(), if !calls.is_empty() => match called {
                        Ok(arrival) => arrivals.place(peer, arrival)?,
                        Err(error @ (NetError::CannotConnect { .. } | NetError::PeerClosed { .. })) => {
                            absent.push((peer, error));
                        }
                        Err(source) => return Err(PartyError { party: peer, source }.into()),
                    },
                    came = door.next() => {
                        let (came, from) = came?;
                        reception.admit(from, self.greet(came, from));
                    }
                    Some((from, guest)) = reception.next() => match guest {
                        Guest::Party(peer, arrival) => arrivals.place(peer, *arrival)?,
                        Guest::Unfit(error) => return Err(error.into()),
                        Guest::Pretender(PartyError { party, source }) => {
                            reception.refuse(from, &source);
                            absent.retain(|(other, _)| *other != party);
                            absent.push((party, source));
                        }
                    },
                    () = sleep_until(self.deadline) => {
                        return Err(self.missing(&arrivals.joined, absent, reception.refused(), door.listener()));
                    }
                }
            }
            Ok(())
        };
        let result = result.await;
        if let Err(error) = &result {
            self.farewell(error.blame(), arrivals, reception, door).await;
        }
        result
    }

    /// Tells all parties that came whom this party blames; also, for a moment, those that come only now and would
    /// otherwise see no more than a closed connection.
    async fn farewell<'a>(
        &'a self,
        blame: Option<Blame>,
        arrivals: &mut Arrivals,
        mut reception: Reception<'a, Guest>,
        door: &mut Door,
    ) {
        let late = arrivals.joined.iter().filter(|(peer, arrival)| *peer > self.party && arrival.is_none());
        let mut late: Vec<u16> = late.map(|(peer, _)| peer).collect();
        let end = Instant::now() + FAREWELL;
        let mut aborts: FuturesUnordered<_> =
            arrivals.take().into_iter().map(|channel| channel.abort_over(blame)).collect();
        while !late.is_empty() {
            tokio::select! {
                Some(()) = aborts.next(), if !aborts.is_empty() => {}
                Ok((came, from)) = door.next() => reception.admit(from, self.greet(came, from)),
                Some((_, guest)) = reception.next() => if let Guest::Party(peer, arrival) = guest {
                    late.retain(|other| *other != peer);
                    aborts.push(arrival.channel.abort_over(blame));
                },
                () = sleep_until(end) => break,
            }
        }
        while aborts.next().await.is_some() {}
    }

    /// Connects to a lower party. If it closes the connection before identifying itself, it may have had no room for us, so it is called
    /// again.
    async fn call(&self, peer: u16) -> (u16, Result<Arrival, NetError>) {
        let address = self.peers.parties()[usize::from(peer)].address.clone();
        let options = self.options_for(peer..peer + 1);
        let mut calls = Calls::until(self.deadline);
        let mut patience = self.deadline.saturating_duration_since(Instant::now());
        loop {
            let options = Options { patience, ..options.clone() };
            let met = async {
                let mut channel = connect(&address, &options).await?;
                let theirs = self.introduce(&mut channel).await?;
                let differences = self.differences((&channel, &theirs), Some(peer));
                if differences.is_empty() { Ok(channel) } else { Err(NetError::Incompatible { differences }) }
            };
            match met.await {
                Ok(channel) => return (peer, Ok(Arrival { channel, from: address })),
                Err(error) => match calls.again(error).await {
                    Ok(left) => patience = left,
                    Err(error) => return (peer, Err(error)),
                },
            }
        }
    }

    /// Identifies an incoming connection.
    ///
    /// *Errors:* a stranger, or a connection that takes too long.
    async fn greet(&self, came: Came, from: SocketAddr) -> Result<Guest, NetError> {
        let patience = HANDSHAKE.min(self.options.timeout);
        match timeout(patience, self.identify(came, from)).await {
            Ok(identified) => identified,
            Err(_) => Err(NetError::Timeout { doing: "for it to say who it is".into(), after: patience }),
        }
    }

    /// Identifies the guest by its authenticated identity, whatever it claims; without identities, by its claim.
    async fn identify(&self, came: Came, from: SocketAddr) -> Result<Guest, NetError> {
        let mut channel = match came {
            Came::Channel(channel) => *channel,
            Came::Stream(stream, carrier) => {
                let options = self.options_for(self.party + 1..self.peers.party_count());
                let session = Meant::of(options.session.as_ref());
                channel((stream, &carrier), (Side::Accepting, session), &options).await?
            }
        };
        let theirs = self.introduce(&mut channel).await?;
        let party = channel.peer().map_or(Some(theirs.party), |proven| self.peers.party_of(proven));
        let others = self.party + 1..self.peers.party_count();
        let Some(party) = party.filter(|party| others.contains(party)) else {
            return Err(NetError::Incompatible { differences: self.differences((&channel, &theirs), None) });
        };
        if theirs.party != party {
            channel.abort_over(Some(Blame::seen(party, Cause::Disagrees))).await;
            let (field, ours, theirs) = ("party of this identity".into(), party.to_string(), theirs.party.to_string());
            let source = NetError::Incompatible { differences: vec![Difference { field, ours, theirs }] };
            return Ok(Guest::Pretender(PartyError { party, source }));
        }
        let differences = self.differences((&channel, &theirs), None);
        Ok(match differences.is_empty() {
            true => Guest::Party(party, Box::new(Arrival { channel, from: from.to_string() })),
            false => Guest::Unfit(PartyError { party, source: NetError::Incompatible { differences } }),
        })
    }

    /// The options for a connection with one of `peers`.
    fn options_for(&self, peers: std::ops::Range<u16>) -> Options {
        let entries = peers.filter_map(|peer| {
            let fingerprint = self.peers.parties()[usize::from(peer)].fingerprint?;
            Some((format!("party {peer}"), fingerprint))
        });
        Options { tls: self.options.tls.as_ref().map(|tls| tls.trusting(entries)), ..self.options.clone() }
    }

    fn ours(&self) -> Hello {
        let hello = Hello::new(MESH, self.party, self.peers.party_count(), [0; 32]);
        let hello = self.options.job.iter().fold(hello, |hello, job| hello.with(JOB, job));
        self.options.asks.iter().fold(hello, |hello, (name, value)| hello.with(name, value))
    }

    async fn introduce(&self, channel: &mut Channel) -> Result<Hello, NetError> {
        channel.set_seat(self.party, self.peers.party_count());
        self.ours().greet(channel).await
    }

    fn differences(&self, (channel, theirs): (&Channel, &Hello), expected: Option<u16>) -> Vec<Difference> {
        let mut differences = agree(&self.ours().on(channel), theirs);
        // A service recognises requests by their job. If jobs differ, the hello of the run reports all differences.
        differences.retain(|difference| difference.field != JOB);
        if let Some(expected) = expected.filter(|expected| *expected != theirs.party) {
            let field = "party at this address".into();
            differences.push(Difference { field, ours: expected.to_string(), theirs: theirs.party.to_string() });
        }
        differences
    }

    fn missing(
        &self,
        joined: &PerPeer<Option<Arrival>>,
        absent: Vec<(u16, NetError)>,
        refused: Vec<String>,
        listener: Option<&Listener>,
    ) -> MeshError {
        let after = self.options.patience;
        let mut missing = absent;
        let silent = |party| missing.iter().all(|(other, _)| *other != party);
        let rest = joined.iter().filter(|(party, arrival)| arrival.is_none() && silent(*party)).map(|(party, _)| party);
        let error = |party| match listener.filter(|_| party > self.party) {
            Some(listener) => {
                let address = listener.address().to_string();
                NetError::AcceptTimeout { address, after, refused: Vec::new() }
            }
            None => NetError::Timeout { doing: "for the party to say who it is".into(), after },
        };
        let rest: Vec<_> = rest.map(|party| (party, error(party))).collect();
        missing.extend(rest);
        missing.sort_unstable_by_key(|(party, _)| *party);
        MeshError::Missing { missing, after, refused }
    }
}
