//! The door of a service: who comes in, to which session, and who is refused.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, TryLockError},
};

use garblet::wants_to_fill;
use garblet_net::{Caller, Fingerprint, Refusal};
use tokio::{sync::mpsc, time::Instant};

use super::{
    super::{
        config::Offer,
        data::RequestWords,
        farewells::Refused,
        metrics::clock,
        rule::Rule,
        session::{Admitted, Work},
    },
    Hall, Named, Ticket, Waiting,
};
use crate::{hex::to_hex, report::rss_bytes, session::Watched};

/// The peer without an identity, as it is counted.
const NOBODY: &str = "nobody";

/// The place where parties of a session come in, each once.
pub(super) struct Arrivals {
    takes_in: mpsc::Sender<Caller>,
    here: HashSet<u16>,
}

impl Hall {
    /// Receives a caller: begins its session, lets it wait, or refuses it.
    pub(in super::super) fn receive(&mut self, caller: Caller) {
        let identity = caller.channel.peer();
        let below = wants_to_fill(&caller.hello);
        let decided = match below {
            Some(_) => self.config.decide_filling(&caller.hello, identity),
            None => self.config.decide(&caller.hello, identity),
        };
        let (offer, rule) = match decided {
            Ok((offer, rule)) => (self.config.offers[offer].clone(), rule),
            Err(reason) => {
                let refused = Refused { reason, ..self.refused(&caller, Refusal::UnknownJob, None) };
                return self.shared.farewells.refuse(caller.channel, Refusal::UnknownJob, refused);
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
        let request = self.request(&ticket, &offer, rule, identity);
        let room = self.has_room_for(&ticket, offer.is_mesh);
        if let Err(refusal) =
            room.and_then(|()| if below.is_none() { self.may_run(&offer.rules[rule], &request) } else { Ok(()) })
        {
            return self.refuse(caller, refusal, (offer, rule));
        }
        let mut options = self.config.options();
        (options.session, options.job) = (caller.channel.session().cloned(), Some(offer.digest.clone()));
        let (mut watched, mut arrivals) = (Watched::default(), None);
        let work = match (below, offer.is_mesh) {
            (Some(below), _) => Work::Fill(Box::new(caller.channel), below),
            (None, false) => {
                watched = Watched::of_watch(caller.watch, offer.rules[rule].party);
                Work::Compute(Box::new(caller.channel))
            }
            (None, true) => {
                let (takes_in, come) = mpsc::channel(offer.identities.len());
                let first = arrivals.insert(Arrivals { takes_in, here: HashSet::new() });
                // There is a place for every party.
                let _ = first.take_in(caller, &offer);
                Work::Mesh(come)
            }
        };
        *self.of_peer.entry(ticket.caller.clone()).or_default() += 1;
        if let Some(named) = ticket.named.clone() {
            self.named.insert(named, arrivals);
        }
        let admitted = Admitted { request, offer, rule, work, options, watched: Arc::new(Mutex::new(watched)) };
        match self.running < self.config.limits.sessions && self.waiting.is_empty() {
            true => self.start(admitted, ticket),
            false => self.waiting.push_back(Waiting { since: Instant::now(), admitted, ticket }),
        }
    }

    /// The things that a session with a peer holds.
    pub(super) fn ticket(&self, offer: &Offer, identity: Option<Fingerprint>, named: Option<Named>) -> Ticket {
        Ticket {
            caller: counted(identity),
            peer: self.config.name(identity),
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
        identity: Option<Fingerprint>,
    ) -> RequestWords {
        let identities = offer.others(rule, identity);
        RequestWords {
            id: ticket.id.clone(),
            session: ticket.named.as_ref().map(|(_, name)| name.clone()),
            peers: identities.iter().map(|identity| self.config.name(*identity)).collect(),
            counted: identities.into_iter().map(counted).collect(),
        }
    }

    /// Looks whether a caller may have a session, now or when one has ended.
    pub(super) fn has_room_for(&self, ticket: &Ticket, is_mesh: bool) -> Result<(), Refusal> {
        let limits = &self.config.limits;
        let is_full = self.running >= limits.sessions && self.waiting.len() >= limits.waiting;
        match () {
            () if self.shared.farewells.is_closed() => Err(Refusal::Closed),
            () if self.is_stopping => Err(Refusal::Stopping),
            () if is_mesh && ticket.named.is_none() => Err(Refusal::Nameless),
            () if self.of_peer.get(&ticket.caller).is_some_and(|count| *count >= limits.per_peer) => {
                Err(Refusal::TooManyOfCaller)
            }
            () if is_full || !self.has_memory() => Err(Refusal::Busy),
            () => Ok(()),
        }
    }

    /// Looks whether there is memory for one more session. Where none runs there is: what is held then is not given back by waiting.
    pub(super) fn has_memory(&self) -> bool {
        let most = self.config.limits.memory_mb.filter(|_| self.running > 0);
        most.is_none_or(|most| rss_bytes().is_none_or(|held| held / 1_000_000 < most))
    }

    /// Looks whether a rule allows one more run, so that nothing is done for who has used up its runs. The session counts.
    fn may_run(&self, rule: &Rule, request: &RequestWords) -> Result<(), Refusal> {
        // While a count is being written, the session finds out.
        let counters = match self.shared.counters.try_lock() {
            Ok(counters) => counters,
            Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        counters.look(&rule.budget, &request.counted, rule.often, clock().as_secs()).map(drop)
    }

    /// Tells a caller why nothing begins.
    fn refuse(&self, caller: Caller, refusal: Refusal, job: (Arc<Offer>, usize)) {
        let refused = self.refused(&caller, refusal, Some(job));
        self.shared.farewells.refuse(caller.channel, refusal, refused);
    }

    fn refused(&self, caller: &Caller, refusal: Refusal, job: Option<(Arc<Offer>, usize)>) -> Refused {
        let of_job =
            |(offer, rule): &(Arc<Offer>, usize)| Watched::of_watch(caller.watch.clone(), offer.rules[*rule].party);
        // Of several parties, none was met.
        let two = job.as_ref().filter(|(offer, _)| !offer.is_mesh);
        Refused {
            peer: self.config.name(caller.channel.peer()),
            watched: Arc::new(Mutex::new(two.map(of_job).unwrap_or_default())),
            job,
            reason: refusal.name(),
            config: self.config.clone(),
        }
    }
}

impl Arrivals {
    /// Takes a party in, unless it is there already or the session has begun.
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

/// A peer as it is counted: by its identity, whatever it is called.
fn counted(identity: Option<Fingerprint>) -> String {
    identity.map_or(NOBODY.into(), |print| print.to_string())
}
