//! Stores that the service fills itself, at intervals: with the peer that it calls, or with all other parties.

use std::sync::Arc;

use garblet::{
    meeting_to_fill,
    net::{Options, SessionName},
};
use garblet_console::{failure::Failure, hex::to_hex};
use tokio::{sync::mpsc, task::spawn_blocking, time::Instant};

use super::{
    super::{
        config::{Config, Offer},
        counting::Counting,
        rule::Rule,
        session::{Admitted, Work},
        written::Refill,
    },
    Gathered, Hall, Ticket,
    door::meet_all,
};

impl Hall {
    /// Starts to refill stores that are due, if nobody waits.
    pub(super) fn refill(&mut self) {
        let config = self.config();
        let rules = |offer: &Arc<Offer>| (0..offer.rules.len()).map(|rule| (offer.clone(), rule)).collect::<Vec<_>>();
        for (offer, rule) in config.offers.iter().flat_map(rules) {
            let Rule { store: Some(store), refill: Some(refill), peers, .. } = &offer.rules[rule] else { continue };
            let refiller = (store.path.clone(), offer.digest.clone(), rule);
            let is_due = match self.refills.get(&refiller) {
                None => true,
                Some(None) => false,
                Some(Some(next)) => *next <= Instant::now(),
            } && self.shared.stores.may_be_filled(&store.path);
            let under_way = self.refills.values().filter(|next| next.is_none()).count();
            if !is_due || !self.waiting.is_empty() || under_way >= config.limits.per_peer {
                continue;
            }
            let identity = peers.first().map(|(_, fingerprint)| *fingerprint);
            let refills = Some((refiller.clone(), refill.every.0));
            let ticket = Ticket { refills, ..self.ticket(&offer, identity, None) };
            let has_begun = match &refill.at {
                Some(at) => self.refill_with_one(&config, (&offer, rule), ticket, (at, refill.below)),
                None => self.refill_with_all(&config, (&offer, rule), ticket, refill),
            };
            if has_begun {
                self.refills.insert(refiller, None);
            }
        }
    }

    /// Starts to refill the store for one peer, if there is still room for a caller and nobody uses the store. Returns whether it has started.
    fn refill_with_one(
        &mut self,
        config: &Arc<Config>,
        (offer, rule): (&Arc<Offer>, usize),
        ticket: Ticket,
        (at, below): (&str, u8),
    ) -> bool {
        // The last place is a caller's, unless nothing that will end has another one.
        let places = config.limits.sessions.saturating_sub(self.running);
        let has_room = places > 1 || (places == 1 && !self.is_at_work());
        if !has_room || self.has_room_for(&ticket, &offer.rules[rule]).is_err() {
            return false;
        }
        let Ok(alone) = self.shared.stores.alone(&offer.rules[rule]) else { return false };
        let work = Work::Refill { at: at.into(), below };
        let admitted = Admitted { alone, ..self.refiller(config, (offer, rule), &ticket, (work, config.options())) };
        let stay = self.let_in(ticket);
        self.start(admitted, stay);
        true
    }

    /// Starts to call all other parties if the store is low, without a place and without the store, which it takes when all have come. Returns whether it has
    /// started.
    fn refill_with_all(
        &mut self,
        config: &Arc<Config>,
        (offer, rule): (&Arc<Offer>, usize),
        ticket: Ticket,
        refill: &Refill,
    ) -> bool {
        // No other session has this name.
        let Ok(name) = format!("refill-{}", to_hex(&rand::random::<[u8; 16]>())).parse::<SessionName>() else {
            return false;
        };
        let ticket = Ticket { named: Some((offer.digest.clone(), name.to_string())), ..ticket };
        let Ok(alone) = self.shared.stores.alone(&offer.rules[rule]) else { return false };
        if self.has_room_to_gather(&ticket).is_err() {
            return false;
        }
        let options = Options { session: Some(name), job: Some(offer.digest.clone()), ..config.options() };
        let (work, options) =
            (Work::Mesh { met: None, fills: Some(refill.below) }, meeting_to_fill(options, refill.below));
        let admitted = self.refiller(config, (offer, rule), &ticket, (work, options));
        let stay = self.let_in(ticket);
        let (stopping, below) = (self.stopping.subscribe(), refill.below);
        self.gathering.spawn(async move {
            let begin = Instant::now();
            let offer = admitted.offer.clone();
            let looked = spawn_blocking(move || {
                let _alone = alone;
                is_low(&offer, rule, below)
            });
            let met = match looked.await.unwrap_or_else(|error| Err(Failure::no_result(error))) {
                Ok(false) => None,
                // This is the last party, which nobody calls.
                Ok(true) => {
                    let meeting = (&admitted.offer.rules[rule], &admitted.options);
                    Some(meet_all(meeting, &stay, (mpsc::channel(1).1, stopping)).await)
                }
                Err(failure) => Some(Err(failure)),
            };
            Gathered { admitted, stay, met, time: begin.elapsed() }
        });
        true
    }

    /// A session that this service begins.
    fn refiller(
        &self,
        config: &Arc<Config>,
        (offer, rule): (&Arc<Offer>, usize),
        ticket: &Ticket,
        (work, options): (Work, Options),
    ) -> Admitted {
        let identity = offer.rules[rule].peers.first().map(|(_, fingerprint)| *fingerprint);
        Admitted {
            request: self.request(ticket, offer, rule, (identity, None)),
            offer: offer.clone(),
            rule,
            config: config.clone(),
            others: offer.others(rule, identity),
            work,
            alone: None,
            counting: Counting::default(),
            options,
            watched: Arc::default(),
        }
    }
}

/// Tells whether the store of a rule is to be filled.
///
/// *Errors*: a store that cannot be used.
fn is_low(offer: &Offer, rule: usize, below: u8) -> Result<bool, Failure> {
    let Some(folder) = &offer.rules[rule].store else { return Ok(false) };
    folder.is_low(&offer.settings.config()?, offer.plan.parties(), below)
}
