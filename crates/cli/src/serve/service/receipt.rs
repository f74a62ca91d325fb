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

/// Keeps the receipt of a run that has ended so; none if it took too long.
pub(super) fn keep(
    receipts: &Receipts,
    (offer, rule): (&Offer, usize),
    watched: &Mutex<Watched>,
    names: &[(String, Fingerprint)],
    result: Option<&Result<Done, Stopped>>,
) -> Result<(), Failure> {
    let run = Run {
        program: &offer.program,
        settings: &offer.settings,
        party: offer.rules[rule].party,
        parties: offer.plan.parties(),
    };
    let without = match result {
        Some(Ok(Done::Computed { outcome, .. })) => {
            let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            return receipts.add(&run, &watched, names, Ok(outcome));
        }
        Some(Ok(Done::Filled(_))) => return Ok(()),
        Some(Err(Stopped::Refused(refusal))) => {
            Failure::no_result(format!("the caller was refused: {}", refusal.name())).of_class(Class::Disagreement)
        }
        Some(Err(Stopped::Failed(failure))) => failure.clone(),
        Some(Err(Stopped::Died)) => Failure::no_result("its thread has died"),
        None => Failure::no_result("it took too long, and was given up"),
    };
    let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
    receipts.add(&run, &watched, names, Err(&without))
}
