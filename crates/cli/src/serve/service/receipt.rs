//! The receipts of a service's runs.

use std::sync::{Mutex, PoisonError};

use garblet::SavedValues;
use garblet_net::Tls;

use super::{
    config::{Config, Offer},
    session::{Done, Stopped},
};
use crate::{
    failure::{Class, Failure},
    receipts::{Receipts, Run},
    session::Watched,
};

/// Keeps the receipt of a run that has ended so.
pub(super) fn keep(
    receipts: &Receipts,
    (offer, rule): (&Offer, usize),
    watched: &Mutex<Watched>,
    config: &Config,
    result: &Result<Done, Stopped>,
) -> Result<(), Failure> {
    let run = Run {
        program: &offer.program,
        settings: &offer.settings,
        party: offer.rules[rule].party,
        parties: offer.plan.parties(),
        identity: config.tls.as_ref().map(Tls::fingerprint),
        saved: SavedValues::default(),
    };
    let without = match result {
        Ok(Done::Computed { outcome, .. }) => {
            let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            return receipts.add(&run, &watched, &config.names, Ok(outcome));
        }
        Ok(Done::Filled(_)) => return Ok(()),
        Err(Stopped::Refused(refusal)) => {
            Failure::no_result(format!("the caller was refused: {}", refusal.name())).of_class(Class::Disagreement)
        }
        Err(Stopped::Failed(failure) | Stopped::NotMet(failure)) => failure.clone(),
        Err(Stopped::Died) => Failure::no_result("its thread has died"),
        Err(Stopped::GivenUp(why)) => Failure::no_result(format!("{why}, and it was given up")),
    };
    let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
    receipts.add(&run, &watched, &config.names, Err(&without))
}
