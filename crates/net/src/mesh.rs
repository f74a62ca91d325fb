//! The mesh: a channel between this party and every other, and steps with all of them at once.
//!
//! A step ([`Mesh::each`], and the collectives built on it) runs with all peers concurrently. Rounds count for the
//! mesh as a whole: each pair counts the rounds of a step, and the step has as many as the pair with the most.
//!
//! After a step fails with one peer, the steps with the others get a moment to end, so that the returned error takes
//! their errors into account; [`Mesh::abort`] then tells everybody whom it blames.

mod collective;
#[cfg(feature = "tcp")]
mod join;
mod pair;
mod peers_file;
mod per_peer;

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::sync::{Mutex, MutexGuard, OwnedMutexGuard};

pub use collective::share_of;
#[cfg(feature = "tcp")]
pub use join::MeshError;
pub use peers_file::{PeerEntry, PeersFile, PeersFileError, PeersFileFault};
pub use per_peer::PerPeer;

use crate::blame::{Accuses, Blame, Cause};
use crate::channel::{Channel, Traffic};
use crate::clock::{Instant, timeout_at};
use crate::error::NetError;
use crate::fingerprint::Fingerprint;
use crate::memory_pair;
use crate::watch::ChannelWatch;

/// The protocol name in the hello by which parties find their places in a mesh.
pub const MESH: &str = "mesh";

/// The time that steps with other peers may continue after one has failed, unless the time-out is shorter.
const GRACE: Duration = Duration::from_secs(1);

/// A failed step with one peer.
#[derive(Debug, thiserror::Error)]
#[error("party {party}: {source}")]
pub struct PartyError<E: std::error::Error + 'static = NetError> {
    /// The peer.
    pub party: u16,
    /// The error of the step with it.
    pub source: E,
}

impl<E: Accuses> PartyError<E> {
    /// The blame for it; `None` if this party itself is at fault.
    pub fn blame(&self) -> Option<Blame> {
        self.source.accuses(self.party)
    }

    /// Smaller for errors closer to the cause: own evidence first, then claims about others, then a peer that gave up or is
    /// gone, perhaps for good reasons.
    fn distance(&self) -> u8 {
        match self.blame() {
            None => 0,
            Some(Blame { heard_from: Some(_), .. }) => 1,
            Some(Blame { cause: Cause::GaveUp, .. }) => 2,
            Some(Blame { cause: Cause::Gone, .. }) => 3,
            Some(_) => 0,
        }
    }
}

/// One party's channels to all others.
///
/// After an error it can only be [aborted](Mesh::abort).
pub struct Mesh {
    /// Locked while a step runs with the peer, only by [`Line`]s, which end with the step. So nothing ever waits for it.
    channels: PerPeer<Arc<Mutex<Channel>>>,
    rounds: u64,
    sent_since_wait: bool,
    grace: Duration,
}

/// The channel to one peer, for the time of a step with it. It is a value of its own, rather than a reference, so that the futures of steps
/// can move to other threads.
pub type Line = OwnedMutexGuard<Channel>;

/// A channel while no step runs.
fn at_rest(channel: &Mutex<Channel>) -> MutexGuard<'_, Channel> {
    channel.try_lock().expect("no step runs")
}

impl Mesh {
    /// Creates a mesh over existing channels.
    pub fn new(mut channels: PerPeer<Channel>) -> Self {
        let (own, count) = (channels.own(), channels.party_count());
        channels.iter_mut().for_each(|(_, channel)| channel.set_seat(own, count));
        let channels = channels.map(|_, channel| Arc::new(Mutex::new(channel)));
        Mesh { channels, rounds: 0, sent_since_wait: false, grace: GRACE }
    }

    /// The meshes of `count` parties in this process, by party.
    ///
    /// Every pair is a [`memory_pair`], so the parties have to run concurrently.
    pub fn memory(count: u16) -> Vec<Mesh> {
        Mesh::of_pairs(count, |_, _| memory_pair())
    }

    /// The meshes of `count` parties in this process, by party. `pair` creates the two ends of a pair, for the lower and the
    /// higher number.
    pub fn of_pairs(count: u16, mut pair: impl FnMut(u16, u16) -> (Channel, Channel)) -> Vec<Mesh> {
        let mut ends: Vec<Vec<Channel>> = (0..count).map(|_| Vec::new()).collect();
        for high in 0..count {
            for low in 0..high {
                let (one, two) = pair(low, high);
                ends[usize::from(low)].push(one);
                ends[usize::from(high)].push(two);
            }
        }
        // A party's channels to lower parties are all added before those to higher ones, so they are in order.
        let parties = (0..count).zip(ends);
        parties.map(|(party, channels)| Mesh::new(PerPeer::from_ends(party, channels))).collect()
    }

    /// This party's number.
    pub fn party(&self) -> u16 {
        self.channels.own()
    }

    /// The number of parties, this one included.
    pub fn party_count(&self) -> u16 {
        self.channels.party_count()
    }

    /// One value for every peer.
    pub fn per_peer<T>(&self, value: impl FnMut(u16) -> T) -> PerPeer<T> {
        PerPeer::new(self.party(), self.party_count(), value)
    }

    /// Sets how long to wait without a byte moving before giving up on a peer.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.grace = GRACE.min(timeout);
        self.channels.iter().for_each(|(_, channel)| at_rest(channel).set_timeout(timeout));
    }

    /// The traffic of all connections. Rounds count for the mesh as a whole.
    pub fn traffic(&self) -> Traffic {
        let mut sum = Traffic { rounds: self.rounds, ..Traffic::default() };
        for (_, channel) in self.channels.iter() {
            let one = at_rest(channel).traffic();
            sum.bytes_sent += one.bytes_sent;
            sum.bytes_received += one.bytes_received;
            sum.framing_bytes += one.framing_bytes;
        }
        sum
    }

    /// The traffic between this party and each peer.
    pub fn traffic_by_peer(&self) -> PerPeer<Traffic> {
        self.channels.map_ref(|_, channel| at_rest(channel).traffic())
    }

    /// Watches the channels to all others, as [`Channel::watch`].
    pub fn watch(&mut self) -> PerPeer<ChannelWatch> {
        self.channels.map_ref(|_, channel| at_rest(channel).watch())
    }

    /// Each peer's authenticated identity; `None` without TLS.
    pub fn identities(&self) -> PerPeer<Option<Fingerprint>> {
        self.channels.map_ref(|_, channel| at_rest(channel).peer())
    }

    /// Runs a step with every peer concurrently, each with its own value, and returns their results.
    ///
    /// The step must not need another pair's step to end: it may still be running.
    ///
    /// *Errors:* if a step fails, after the others have ended or a moment has passed: the most informative error.
    pub async fn each<S, T, E: Accuses, F: Future<Output = Result<T, E>>>(
        &mut self,
        values: PerPeer<S>,
        step: impl Fn(u16, Line, S) -> F,
    ) -> Result<PerPeer<T>, PartyError<E>> {
        let before = self.begin();
        let (party, count, grace) = (self.party(), self.party_count(), self.grace);
        let run = |peer, channel: &Arc<Mutex<Channel>>, value| {
            let line = channel.clone().try_lock_owned().expect("no step runs");
            let step = step(peer, line, value);
            async move { (peer, step.await) }
        };
        let channels = self.channels.iter().zip(values);
        let running = channels.map(|((peer, channel), (_, value))| run(peer, channel, value));
        let result = all(running.collect(), grace).await?;
        self.end(before);
        let mut result = result.into_iter();
        Ok(PerPeer::from_ends(party, (1..count).filter_map(|_| result.next()).collect()))
    }

    /// Lends the channel to a peer by value, for a step with this peer only; `None` if there is no such peer. No other step may run until [`Mesh::give_back`]
    /// ends it.
    pub fn lend(&mut self, peer: u16) -> Option<(Channel, Lent)> {
        let lent = Lent { peer, before: self.begin() };
        let channel = std::mem::replace(&mut *at_rest(self.channels.get(peer)?), memory_pair().0);
        Some((channel, lent))
    }

    /// Takes back a lent channel.
    pub fn give_back(&mut self, channel: Channel, lent: Lent) {
        let Lent { peer, before } = lent;
        if let Some(place) = self.channels.get(peer) {
            *at_rest(place) = channel;
        }
        self.end(before);
    }

    /// Ends the conversation: all parties call it when they are done.
    ///
    /// *Errors:* a peer sends more or is gone.
    pub async fn close(self) -> Result<(), PartyError> {
        let grace = self.grace;
        let close = async |peer, channel: Channel| (peer, channel.close().await.map(|_| ()));
        all(self.into_channels().map(|(peer, channel)| close(peer, channel)).collect(), grace).await?;
        Ok(())
    }

    /// Tells all parties that this party gives up, and which party it blames, and ends all connections.
    pub async fn abort(self, blame: Option<Blame>) {
        let channels = self.into_channels();
        let mut aborts: FuturesUnordered<_> = channels.map(|(_, channel)| channel.abort_over(blame)).collect();
        while aborts.next().await.is_some() {}
    }

    fn into_channels(self) -> impl Iterator<Item = (u16, Channel)> {
        let alone = |channel| Arc::into_inner(channel).map(Mutex::into_inner);
        self.channels.into_iter().filter_map(move |(peer, channel)| Some((peer, alone(channel)?)))
    }

    /// Prepares a step: data sent to anybody counts for every pair. Returns each pair's counters.
    fn begin(&mut self) -> Vec<Before> {
        let before = |(_, channel): (u16, &Arc<Mutex<Channel>>)| {
            let mut channel = at_rest(channel);
            channel.sent_since_wait = self.sent_since_wait;
            Before { rounds: channel.rounds, waits: channel.waits, bytes_sent: channel.bytes_sent }
        };
        self.channels.iter().map(before).collect()
    }

    /// Counts a step: it has as many rounds as the pair with the most, and bytes sent before the last wait are answered.
    fn end(&mut self, before: Vec<Before>) {
        let after = || self.channels.iter().map(|(_, channel)| at_rest(channel)).zip(&before);
        let any_waited = after().any(|(channel, before)| channel.waits > before.waits);
        let sent = |channel: &Channel, before: &Before| {
            let in_step = channel.waits > before.waits || channel.bytes_sent > before.bytes_sent;
            channel.sent_since_wait && (in_step || !any_waited)
        };
        let rounds = after().map(|(channel, before)| channel.rounds - before.rounds).max();
        let sent_since_wait = after().any(|(channel, before)| sent(&channel, before));
        self.rounds += rounds.unwrap_or(0);
        self.sent_since_wait = sent_since_wait;
    }
}

/// A lent channel, and all counters before that.
pub struct Lent {
    peer: u16,
    before: Vec<Before>,
}

/// A channel's counters before a step.
struct Before {
    rounds: u64,
    waits: u64,
    bytes_sent: u64,
}

/// Waits for all steps and returns their results, by peer.
async fn all<F, T, E: Accuses>(mut running: FuturesUnordered<F>, grace: Duration) -> Result<Vec<T>, PartyError<E>>
where
    F: Future<Output = (u16, Result<T, E>)>,
{
    let mut done = Vec::with_capacity(running.len());
    let mut failed: Vec<PartyError<E>> = Vec::new();
    let mut deadline = None;
    loop {
        let next = match deadline {
            None => running.next().await,
            Some(deadline) => timeout_at(deadline, running.next()).await.ok().flatten(),
        };
        match next {
            Some((peer, Ok(value))) => done.push((peer, value)),
            Some((party, Err(source))) => {
                failed.push(PartyError { party, source });
                deadline.get_or_insert(Instant::now() + grace);
            }
            None => break,
        }
    }
    if let Some(error) = failed.into_iter().min_by_key(|error| (error.distance(), error.party)) {
        return Err(error);
    }
    done.sort_unstable_by_key(|(peer, _)| *peer);
    Ok(done.into_iter().map(|(_, value)| value).collect())
}
