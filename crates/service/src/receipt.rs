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

/// The session that a receipt describes.
#[derive(Clone, Copy)]
pub(super) struct Session<'a> {
    pub(super) offer: &'a Offer,
    /// The rule's index.
    pub(super) rule: usize,
    pub(super) watched: &'a Mutex<Watched>,
    pub(super) config: &'a Config,
    /// The session's number; `None` for a caller that was refused before one started.
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

    /// The start receipt, stored with the count of a run in case the service is killed.
    ///
    /// *Errors*: wrong settings.
    pub(super) fn begun(&self) -> Result<Receipt, Failure> {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        Receipts::begun(&self.run(), &watched, &self.config.names)
    }

    /// Writes the receipt of a run with this result.
    ///
    /// *Errors*: the log cannot be written.
    pub(super) fn keep(&self, receipts: &Receipts, result: &Result<Done, Stopped>) -> Result<(), Failure> {
        let without = match result {
            Ok(Done::Computed(outcome)) => {
                let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
                return receipts.add(&self.run(), &watched, &self.config.names, Ok(outcome)).map(drop);
            }
            Ok(Done::Filled(_)) => return Ok(()),
            Err(Stopped::Refused(refusal)) => {
                Failure::no_result(format!("the caller was refused: {}", refusal.name())).of_class(Class::Disagreement)
            }
            Err(Stopped::Failed(failure) | Stopped::NotMet(failure)) => failure.clone(),
            Err(Stopped::Died) => Failure::no_result("its thread ended without a result"),
            Err(Stopped::GivenUp(why)) => Failure::no_result(format!("{why}, so the session was aborted")),
        };
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        receipts.add(&self.run(), &watched, &self.config.names, Err(&without)).map(drop)
    }
}
