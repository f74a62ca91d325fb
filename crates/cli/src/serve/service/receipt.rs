//! The receipts of a service's runs.

use std::sync::{Mutex, PoisonError};

use garblet_net::Fingerprint;

use super::{
    config::Offer,
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
    names: &[(String, Fingerprint)],
    result: &Result<Done, Stopped>,
) -> Result<(), Failure> {
    let run = Run {
        program: &offer.program,
        settings: &offer.settings,
        party: offer.rules[rule].party,
        parties: offer.plan.parties(),
    };
    let without = match result {
        Ok(Done::Computed { outcome, .. }) => {
            let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            return receipts.add(&run, &watched, names, Ok(outcome));
        }
        Ok(Done::Filled(_)) => return Ok(()),
        Err(Stopped::Refused(refusal)) => {
            Failure::no_result(format!("the caller was refused: {}", refusal.name())).of_class(Class::Disagreement)
        }
        Err(Stopped::Failed(failure)) => failure.clone(),
        Err(Stopped::Died) => Failure::no_result("its thread has died"),
        Err(Stopped::GivenUp(why)) => Failure::no_result(format!("{why}, and it was given up")),
    };
    let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
    receipts.add(&run, &watched, names, Err(&without))
}
