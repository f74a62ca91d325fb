//! The receipts of a service's runs.

use std::sync::{Mutex, PoisonError};

use garblet::{Class, SavedValues, net::Tls};
use garblet_console::{
    failure::Failure,
    receipts::{Receipt, Receipts, Run},
    session::Watched,
};

use super::{
    config::{Config, Offer},
    session::{Done, Stopped},
};

/// The session that a receipt is of.
#[derive(Clone, Copy)]
pub(super) struct Session<'a> {
    pub(super) offer: &'a Offer,
    /// The rule's place.
    pub(super) rule: usize,
    pub(super) watched: &'a Mutex<Watched>,
    pub(super) config: &'a Config,
    /// The number of the session; none of a caller for whom none began.
    pub(super) id: Option<&'a str>,
}

impl Session<'_> {
    fn run(&self) -> Run<'_> {
        let offer = self.offer;
        Run {
            program: &offer.program,
            settings: &offer.settings,
            party: offer.rules[self.rule].party,
            parties: offer.plan.parties(),
            identity: self.config.tls.as_ref().map(Tls::fingerprint),
            saved: SavedValues::default(),
            session: self.id,
        }
    }

    /// The receipt that is kept with the count of a run, for the case that the service is killed.
    ///
    /// *Errors*: settings that are wrong.
    pub(super) fn begun(&self) -> Result<Receipt, Failure> {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        Receipts::begun(&self.run(), &watched, &self.config.names)
    }

    /// Keeps the receipt of a run that has ended so.
    ///
    /// *Errors*: a log that cannot be written.
    pub(super) fn keep(&self, receipts: &Receipts, result: &Result<Done, Stopped>) -> Result<(), Failure> {
        let without = match result {
            Ok(Done::Computed(outcome)) => {
                let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
                return receipts.add(&self.run(), &watched, &self.config.names, Ok(outcome));
            }
            Ok(Done::Filled(_)) => return Ok(()),
            Err(Stopped::Refused(refusal)) => {
                Failure::no_result(format!("the caller was refused: {}", refusal.name())).of_class(Class::Disagreement)
            }
            Err(Stopped::Failed(failure) | Stopped::NotMet(failure)) => failure.clone(),
            Err(Stopped::Died) => Failure::no_result("its thread has died"),
            Err(Stopped::GivenUp(why)) => Failure::no_result(format!("{why}, and it was given up")),
        };
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        receipts.add(&self.run(), &watched, &self.config.names, Err(&without))
    }
}
