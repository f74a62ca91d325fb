//! The door of a service: admits callers to a session, or refuses them.

use std::{
    collections::HashSet,
    net::IpAddr,
    sync::{Arc, Mutex},
};

use garblet::{
    meeting_to_fill,
    net::{Caller, Fingerprint, Mesh, Options, Refusal},
    wants_to_fill,
};
use garblet_console::{failure::Failure, hex::to_hex, hints::mesh_failure, report::rss_bytes, session::Watched};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

use super::{
    super::{
        config::Offer,
        counting::Counting,
        data::RequestWords,
        farewells::Refused,
        metrics::clock,
        rule::Rule,
        session::{Admitted, Work},
    },
    Gathered, Hall, Named, Stay, Ticket, Waiting,
};

/// The key under which peers without an identity are counted.
const NOBODY: &str = "nobody";

/// The meeting point where each party of a session arrives once.
pub(super) struct Arrivals {
    takes_in: mpsc::Sender<Caller>,
    here: HashSet<u16>,
}

/// The address by which callers over plain TCP are told apart: that of IPv4, and the network of 64 bits of IPv6, of which one caller has all addresses.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

impl Hall {
    /// Receives a caller: starts its session, queues it, or refuses it.
    pub(in super::super) fn receive(&mut self, caller: Caller) {
        let (identity, config) = (caller.channel.peer(), self.config());
        let below = wants_to_fill(&caller.hello);
        let decided = match below {
            Some(_) => config.decide_filling(&caller.hello, identity),
            None => config.decide(&caller.hello, identity),
        };
        let (offer, rule) = match decided {
            Ok((offer, rule)) => (config.offers[offer].clone(), rule),
            Err(reason) => {
                let asked = Some(config.asked_for(&caller.hello));
                let refused = Refused { reason, asked, ..self.refused(&caller, Refusal::UnknownJob, None) };
                let told = caller.channel.refuse(Refusal::UnknownJob);
                return self.shared.farewells.refuse(told, Refusal::UnknownJob, refused);
            }
        };
        let named = caller.channel.session().map(|name| (offer.digest.clone(), name.to_string()));
        if let Some(running) = named.as_ref().and_then(|named| self.named.get_mut(named)) {
            let in_use = match running {
                Some(arrivals) => arrivals.take_in(caller, &offer).err(),
                None => Some(Box::new(caller)),
            };
            return in_use.map_or((), |caller| self.refuse(*caller, Refusal::SessionInUse, (offer, rule)));
        }
        let ticket = self.ticket(&offer, identity, named);
        let request = self.request(&ticket, &offer, rule, (identity, Some(caller.from.ip())));
        let room = match offer.is_mesh {
            true => self.has_room_to_gather(&ticket),
            false => self.has_room_for(&ticket, &offer.rules[rule]),
        };
        if let Err(refusal) =
            room.and_then(|()| if below.is_none() { self.may_run(&offer.rules[rule], &request) } else { Ok(()) })
        {
            return self.refuse(caller, refusal, (offer, rule));
        }
        let others = offer.others(rule, identity);
        let mut options = config.options();
        (options.session, options.job) = (caller.channel.session().cloned(), Some(offer.digest.clone()));
        let (mut watched, mut arrivals, mut gathers) = (Watched::default(), None, None);
        let work = match (below, offer.is_mesh) {
            (Some(below), false) => Work::Fill(Box::new(caller.channel), below),
            (None, false) => {
                watched = Watched::of_watch(caller.watch, offer.rules[rule].party);
                Work::Compute(Box::new(caller.channel))
            }
            (fills, true) => {
                if let Some(below) = fills {
                    options = meeting_to_fill(options, below);
                }
                let (takes_in, come) = mpsc::channel(offer.identities.len());
                let first = arrivals.insert(Arrivals { takes_in, here: HashSet::new() });
                // The channel has room for every party.
                let _ = first.take_in(caller, &offer);
                gathers = Some(come);
                Work::Mesh { met: None, fills }
            }
        };
        let stay = self.let_in(ticket);
        if let Some(named) = stay.named.clone() {
            self.named.insert(named, arrivals);
        }
        let admitted = Admitted {
            request,
            offer,
            rule,
            config,
            others,
            work,
            alone: None,
            counting: Counting::default(),
            options,
            watched: Arc::new(Mutex::new(watched)),
        };
        match gathers {
            Some(come) => self.gather(come, admitted, stay),
            None => {
                self.waiting.push_back(Waiting { since: Instant::now(), admitted, stay });
                self.begin_waiting();
            }
        }
    }

    /// Waits, without a place, until all parties of a session have come.
    fn gather(&mut self, come: mpsc::Receiver<Caller>, admitted: Admitted, stay: Arc<Stay>) {
        let stopping = self.stopping.subscribe();
        self.gathering.spawn(async move {
            let begin = Instant::now();
            let rule = &admitted.offer.rules[admitted.rule];
            let met = Some(meet_all((rule, &admitted.options), &stay, (come, stopping)).await);
            Gathered { admitted, stay, met, time: begin.elapsed() }
        });
    }

    /// A session with a peer that is not in the hall yet.
    pub(super) fn ticket(&self, offer: &Offer, identity: Option<Fingerprint>, named: Option<Named>) -> Ticket {
        Ticket {
            caller: counted(identity),
            peer: self.config().name(identity),
            named,
            id: to_hex(&rand::random::<[u8; 8]>()),
            job: offer.name.clone(),
            digest: offer.digest.clone(),
            protocol: offer.settings.protocol.clone(),
            gates: offer.gates,
            refills: None,
        }
    }

    pub(super) fn request(
        &self,
        ticket: &Ticket,
        offer: &Offer,
        rule: usize,
        (identity, from): (Option<Fingerprint>, Option<IpAddr>),
    ) -> RequestWords {
        let (identities, config) = (offer.others(rule, identity), self.config());
        let peers: Vec<String> = identities.iter().map(|identity| config.name(*identity)).collect();
        let paused = match (identity, from) {
            (None, Some(from)) => vec![network(from)],
            _ => peers.clone(),
        };
        RequestWords {
            id: ticket.id.clone(),
            session: ticket.named.as_ref().map(|(_, name)| name.clone()),
            peers,
            paused,
            counted: identities.into_iter().map(counted).collect(),
        }
    }

    /// Checks that a caller may have a session, now or after another ends.
    pub(super) fn has_room_for(&self, ticket: &Ticket, rule: &Rule) -> Result<(), Refusal> {
        self.may_have_one_more(ticket)?;
        match self.is_full(rule) || !self.has_memory() {
            true => Err(Refusal::Busy),
            false => Ok(()),
        }
    }

    /// Returns whether there is neither a place for a rule's session nor room to wait for one.
    pub(super) fn is_full(&self, rule: &Rule) -> bool {
        let limits = self.config().limits;
        let waits = self.running >= limits.sessions || self.shared.stores.alone(rule).is_err();
        waits && self.waiting.len() >= limits.waiting
    }

    /// Checks that another session of several parties may gather.
    pub(super) fn has_room_to_gather(&self, ticket: &Ticket) -> Result<(), Refusal> {
        self.may_have_one_more(ticket)?;
        match () {
            () if ticket.named.is_none() => Err(Refusal::Nameless),
            () if self.gathering.len() >= self.config().limits.gathering => Err(Refusal::Busy),
            () => Ok(()),
        }
    }

    /// Checks that the service is not stopping and that the caller does not have too many sessions.
    fn may_have_one_more(&self, ticket: &Ticket) -> Result<(), Refusal> {
        let most = self.config().limits.per_peer;
        match () {
            () if self.shared.farewells.is_closed() => Err(Refusal::Closed),
            () if self.is_stopping => Err(Refusal::Stopping),
            () if self.of_peer.get(&ticket.caller).is_some_and(|count| *count >= most) => Err(Refusal::TooManyOfCaller),
            () => Ok(()),
        }
    }

    /// Checks that there is memory for another session. If no session runs, apart from those that hang, there is: waiting would not free any.
    pub(super) fn has_memory(&self) -> bool {
        let most = self.config().limits.memory_mb.filter(|_| self.is_at_work());
        most.is_none_or(|most| rss_bytes().is_none_or(|held| held / 1_000_000 < most))
    }

    /// Checks that a rule allows another run, so that no work is done for a peer out of runs. The session itself counts the run.
    fn may_run(&self, rule: &Rule, request: &RequestWords) -> Result<(), Refusal> {
        if self.shared.outbox.blocks(rule) {
            return Err(Refusal::Closed);
        }
        self.shared.counters.may_begin(&rule.budget, &request.counted, rule.often, clock().as_secs())
    }

    /// Sends a caller the refusal.
    fn refuse(&self, caller: Caller, refusal: Refusal, job: (Arc<Offer>, usize)) {
        let refused = self.refused(&caller, refusal, Some(job));
        self.shared.farewells.refuse(caller.channel.refuse(refusal), refusal, refused);
    }

    fn refused(&self, caller: &Caller, refusal: Refusal, job: Option<(Arc<Offer>, usize)>) -> Refused {
        let of_job =
            |(offer, rule): &(Arc<Offer>, usize)| Watched::of_watch(caller.watch.clone(), offer.rules[*rule].party);
        // In a session of several parties, none has been met yet.
        let two = job.as_ref().filter(|(offer, _)| !offer.is_mesh);
        Refused {
            peer: self.config().name(caller.channel.peer()),
            watched: Arc::new(Mutex::new(two.map(of_job).unwrap_or_default())),
            job,
            reason: refusal.name(),
            asked: None,
            config: self.config(),
            session: None,
        }
    }
}

/// Meets all other parties of a session, unless the service stops before they come.
pub(super) async fn meet_all(
    (rule, options): (&Rule, &Options),
    stay: &Stay,
    (come, mut stopping): (mpsc::Receiver<Caller>, watch::Receiver<bool>),
) -> Result<Mesh, Failure> {
    tracing::debug!(session = stay.id, peer = stay.peer, job = stay.job, "gathering its parties");
    let Some(peers) = &rule.addresses else { return Err(Failure::no_result("no addresses of the other parties")) };
    tokio::select! {
        met = Mesh::join_callers(rule.party.0, peers, come, options) => met.map_err(|error| mesh_failure(&error)),
        _ = stopping.wait_for(|stopping| *stopping) => Err(Failure::no_result("the service is stopping")),
    }
}

impl Arrivals {
    /// Admits a party, unless it is already there or the session has started.
    fn take_in(&mut self, caller: Caller, offer: &Offer) -> Result<(), Box<Caller>> {
        let identity = caller.channel.peer();
        let place = identity.and_then(|_| offer.identities.iter().position(|party| *party == identity));
        let party = place.map_or(caller.hello.party, |place| place as u16);
        if !self.here.insert(party) {
            return Err(Box::new(caller));
        }
        self.takes_in.try_send(caller).map_err(|error| match error {
            mpsc::error::TrySendError::Full(caller) | mpsc::error::TrySendError::Closed(caller) => Box::new(caller),
        })
    }
}

/// A peer's key for counting: its identity, not its name.
fn counted(identity: Option<Fingerprint>) -> String {
    identity.map_or(NOBODY.into(), |print| print.to_string())
}
