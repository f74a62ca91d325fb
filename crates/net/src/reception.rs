//! New connections that have not proved yet that they are a peer: concurrently, few at a time, and none for long.
//!
//! Anybody can connect, so no connection may delay the others. All are heard at once, and [`PLACES`] bounds their cost. One connection
//! more evicts the oldest one from the network address with the most. So a flood from one address evicts itself, and a peer from
//! another address keeps its place until it has proved its identity. Only a flood from as many addresses as there are places, each new
//! within the peer's handshake, could evict the peer, and only for that attempt.

use std::collections::HashMap;
use std::future::poll_fn;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

use crate::error::NetError;
use crate::over::{Advice, OnRefused};

/// The number of guests handled at once.
pub(crate) const PLACES: usize = 64;

/// The number of refusals that are reported at once. After them, one is reported every [`PAUSE`].
const BURST: u32 = 10;

const PAUSE: Duration = Duration::from_secs(10);

/// The most refusals that an error names.
const NAMED: usize = 8;

/// A new connection, with the future that handles it.
struct Guest<'a, T> {
    from: SocketAddr,
    hearing: Pin<Box<dyn Future<Output = Result<T, NetError>> + Send + 'a>>,
}

/// New connections, the oldest first.
pub(crate) struct Reception<'a, T> {
    guests: Vec<Guest<'a, T>>,
    places: usize,
    refusals: Refusals,
    advice: Option<Advice>,
}

impl<'a, T> Reception<'a, T> {
    /// Creates an empty reception. `on_refused` receives the refused connections, as often as `log` allows.
    pub(crate) fn new(on_refused: Option<OnRefused>, advice: Option<Advice>, log: SharedLog) -> Self {
        log.lock().unwrap_or_else(PoisonError::into_inner).on_refused = on_refused;
        let refusals = Refusals { log, count: 0, named: Vec::new() };
        Reception { guests: Vec::new(), places: PLACES, refusals, advice }
    }

    /// The same with another number of places.
    pub(crate) fn with_places(self, places: usize) -> Self {
        Reception { places, ..self }
    }

    /// The number of guests that were refused so far.
    pub(crate) fn refused_count(&self) -> u64 {
        self.refusals.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.guests.is_empty()
    }

    /// Adds a connection, and evicts one if there are too many.
    pub(crate) fn admit(&mut self, from: SocketAddr, hearing: impl Future<Output = Result<T, NetError>> + Send + 'a) {
        self.guests.push(Guest { from, hearing: Box::pin(hearing) });
        if self.guests.len() > self.places {
            let places = self.places;
            let out = self.guests.remove(most_of_one(self.guests.iter().map(|guest| origin(guest.from.ip()))));
            self.refusals.note(
                out.from,
                &format!("{places} other connections are waiting, most of them from there"),
                false,
            );
        }
    }

    /// The next connection that is not a stranger; `None` if there are no more. Refuses strangers meanwhile.
    pub(crate) async fn next(&mut self) -> Option<(SocketAddr, T)> {
        poll_fn(|context| {
            let mut at = 0;
            while let Some(guest) = self.guests.get_mut(at) {
                match guest.hearing.as_mut().poll(context) {
                    Poll::Pending => at += 1,
                    Poll::Ready(heard) => {
                        let from = self.guests.remove(at).from;
                        match heard {
                            Ok(heard) => return Poll::Ready(Some((from, heard))),
                            Err(error) => self.refuse(from, &error),
                        }
                    }
                }
            }
            if self.guests.is_empty() { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }

    /// Refuses the remaining connections, which have sent nothing useful for this long.
    pub(crate) fn refuse_all(&mut self, after: Duration) {
        for guest in std::mem::take(&mut self.guests) {
            self.refuse(guest.from, &NetError::Timeout { doing: "for it to say who it is".into(), after });
        }
    }

    /// Records a refused connection.
    pub(crate) fn refuse(&mut self, from: SocketAddr, error: &NetError) {
        let text = match self.advice.and_then(|advice| advice(error)) {
            Some(advice) => format!("{error} ({advice})"),
            None => error.to_string(),
        };
        let has_identity = matches!(error, NetError::UnknownIdentity { .. } | NetError::IdentityRejected { .. });
        self.refusals.note(from, &text, has_identity);
    }

    /// The refused guests with reasons: the first ones, preferring those with an identity, and the number of others.
    pub(crate) fn refused(&self) -> Vec<String> {
        let Refusals { count, named, .. } = &self.refusals;
        let more = count - named.len() as u64;
        named.iter().map(|(_, text)| text.clone()).chain((more > 0).then(|| format!("and {more} more"))).collect()
    }
}

/// The index of the oldest connection from the address with the most.
pub(crate) fn most_of_one(origins: impl Iterator<Item = IpAddr> + Clone) -> usize {
    let mut counts = HashMap::new();
    origins.clone().for_each(|origin| *counts.entry(origin).or_insert(0) += 1);
    let most = counts.values().max();
    origins.clone().position(|origin| counts.get(&origin) == most).unwrap_or(0)
}

/// The network of an address, as large as one sender typically controls.
pub(crate) fn origin(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

/// The guests that were refused in one wait.
struct Refusals {
    log: SharedLog,
    count: u64,
    /// Up to [`NAMED`] of them, each with a flag for an identity: one with an identity replaces one without.
    named: Vec<(bool, String)>,
}

impl Refusals {
    fn note(&mut self, from: SocketAddr, why: &str, has_identity: bool) {
        let text = format!("{from}: {why}");
        self.log.lock().unwrap_or_else(PoisonError::into_inner).note(&text);
        self.count += 1;
        if self.named.len() == NAMED
            && has_identity
            && let Some(at) = self.named.iter().rposition(|(has_identity, _)| !has_identity)
        {
            self.named.remove(at);
        }
        if self.named.len() < NAMED {
            self.named.push((has_identity, text));
        }
    }
}

/// The log of an address where connections are awaited repeatedly.
pub(crate) type SharedLog = Arc<Mutex<Log>>;

/// The lines that strangers may cause in a log: some at once, then one at intervals.
pub(crate) struct Allowance {
    /// Lines that are allowed now.
    lines: u32,
    /// The time at which the last line became allowed.
    since: Instant,
    /// The number of suppressed lines.
    untold: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Allowance { lines: BURST, since: Instant::now(), untold: 0 }
    }
}

impl Allowance {
    /// Returns, if another line is allowed, the number of lines suppressed since the last.
    pub(crate) fn one_more(&mut self) -> Option<u64> {
        while self.lines < BURST && self.since.elapsed() >= PAUSE {
            self.lines += 1;
            self.since += PAUSE;
        }
        if self.lines == 0 {
            self.untold += 1;
            return None;
        }
        if self.lines == BURST {
            self.since = Instant::now();
        }
        self.lines -= 1;
        Some(std::mem::take(&mut self.untold))
    }
}

/// The log of refusals, which decides when they are reported.
#[derive(Default)]
pub(crate) struct Log {
    on_refused: Option<OnRefused>,
    allowance: Allowance,
    /// The system's failures to accept a connection.
    failures: Allowance,
}

impl Log {
    fn note(&mut self, text: &str) {
        if let Some(untold) = self.allowance.one_more() {
            self.tell_untold(untold);
            self.tell(&format!("refused {text}"));
        }
    }

    /// Records that the system cannot accept a connection now; this is tried ten times a second until it has room.
    pub(crate) fn note_failure(&mut self, error: &std::io::Error) {
        match self.failures.one_more() {
            None => {}
            Some(0) => tracing::warn!("cannot accept a connection now: {error}"),
            Some(more) => tracing::warn!(more, "cannot accept a connection now: {error}"),
        }
    }

    fn tell(&self, line: &str) {
        if let Some(on_refused) = &self.on_refused {
            on_refused(line);
        }
    }

    fn tell_untold(&self, untold: u64) {
        if untold > 0 {
            self.tell(&format!("refused {untold} more"));
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.tell_untold(self.allowance.untold);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    fn address(last: u8, port: u16) -> SocketAddr {
        ([10, 0, 0, last], port).into()
    }

    /// A reception and the lines that it logs.
    fn reception<'a>() -> (Reception<'a, u32>, Arc<Mutex<Vec<String>>>) {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let tell: OnRefused = Arc::new({
            let lines = lines.clone();
            move |line: &str| lines.lock().expect("one thread").push(line.to_string())
        });
        (Reception::new(Some(tell), None, SharedLog::default()), lines)
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_from_one_address_evicts_only_itself() {
        let (mut reception, _) = reception();
        let peer = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(7)
        };
        reception.admit(address(1, 1), peer);
        for port in 0..10_000 {
            reception.admit(address(2, port), pending());
            assert!(reception.guests.len() <= PLACES);
        }
        assert_eq!(reception.next().await, Some((address(1, 1), 7)));
    }

    #[tokio::test(start_paused = true)]
    async fn the_right_peer_comes_in_behind_silent_ones() {
        let (mut reception, _) = reception();
        for port in 0..10_000 {
            reception.admit(address(2, port), pending());
        }
        // Even from the flood's own address.
        reception.admit(address(2, 60_000), async { Ok(7) });
        assert_eq!(reception.next().await, Some((address(2, 60_000), 7)));
        assert_eq!(reception.refused().last().expect("refused"), "and 9929 more");
    }

    #[tokio::test]
    async fn a_wait_ends_with_the_last_refusal() {
        let (mut reception, _) = reception();
        let gone = async {
            tokio::task::yield_now().await;
            Err(NetError::PeerClosed { doing: "for the TLS handshake".into() })
        };
        reception.admit(address(2, 1), gone);
        assert_eq!(reception.next().await, None);
    }

    #[tokio::test]
    async fn one_network_counts_as_one_origin() {
        let (mut reception, _) = reception();
        let host = |host: u16| SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, host], 1));
        let other: SocketAddr = ([0x2001, 0xdb8, 0, 1, 0, 0, 0, 1], 1).into();
        reception.admit(other, pending());
        (0..2 * PLACES as u16).for_each(|n| reception.admit(host(n), pending()));
        assert_eq!(reception.guests[0].from, other);
        let mapped: IpAddr = "::ffff:10.0.0.1".parse().expect("an address");
        assert_eq!(origin(mapped), address(1, 1).ip());
    }

    #[tokio::test(start_paused = true)]
    async fn consecutive_waits_share_one_limit() {
        let (_, lines) = reception();
        let log = SharedLog::default();
        for wait in 0..50 {
            let tell: OnRefused = Arc::new({
                let lines = lines.clone();
                move |line: &str| lines.lock().expect("one thread").push(line.to_string())
            });
            let mut reception = Reception::<u32>::new(Some(tell), None, log.clone());
            reception.refuse(address(3, wait), &NetError::PeerClosed { doing: "for the TLS handshake".into() });
        }
        assert_eq!(lines.lock().expect("one thread").len(), BURST as usize);
        drop(log);
        assert_eq!(lines.lock().expect("one thread").last().expect("told"), "refused 40 more");
    }

    #[tokio::test(start_paused = true)]
    async fn a_system_without_room_for_connections_does_not_flood_the_log() {
        let mut failures = Allowance::default();
        let told = |failures: &mut Allowance| (0..100).filter_map(|_| failures.one_more()).collect::<Vec<_>>();
        assert_eq!(told(&mut failures), [0; BURST as usize]);
        tokio::time::sleep(PAUSE).await;
        assert_eq!(told(&mut failures), [90]);
        tokio::time::sleep(PAUSE).await;
        assert_eq!(told(&mut failures), [99]);
    }

    #[tokio::test]
    async fn refused_identities_are_named_first() {
        let (mut reception, _) = reception();
        for port in 0..20 {
            reception.refuse(address(3, port), &NetError::PeerClosed { doing: "for the TLS handshake".into() });
        }
        let got = crate::Fingerprint::of(&[7]);
        reception.refuse(address(1, 1), &NetError::UnknownIdentity { expected: "bob".into(), got });
        let refused = reception.refused();
        assert_eq!(refused.len(), NAMED + 1);
        assert!(refused.iter().any(|text| text.starts_with("10.0.0.1:1: the peer is unknown")), "{refused:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_port_scan_does_not_flood_the_log() {
        let (mut reception, lines) = reception();
        let gone = NetError::PeerClosed { doing: "for the TLS handshake".into() };
        for port in 0..1000 {
            reception.refuse(address(3, port), &gone);
        }
        let told = || lines.lock().expect("one thread").clone();
        assert_eq!(told().len(), BURST as usize);
        assert_eq!(
            told()[0],
            "refused 10.0.0.3:0: the peer closed the connection while we waited for the TLS handshake"
        );
        tokio::time::sleep(PAUSE).await;
        reception.refuse(address(3, 1000), &gone);
        reception.refuse(address(3, 1001), &gone);
        assert_eq!(told().len(), BURST as usize + 2);
        assert_eq!(told()[BURST as usize], "refused 990 more");
        drop(reception);
        assert_eq!(told().last().expect("told"), "refused 1 more");
    }
}
