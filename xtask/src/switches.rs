//! A copy of the workspace in which single places can be switched off, with one build for all of them, and the tests that judge each place.
//!
//! A program of the copy that runs with the variable `GARBLET_LOST` does without the place of that name. Each test runs once with all places, in a process of its own, and writes down which of
//! them it reaches and which of them decide something in it. For each place these tests run without it, the shortest first, until one fails.

mod accepted;
mod checks;
mod copy;
mod expressions;
mod judge;
mod operators;
mod options;
mod places;
mod reach;
mod switch;
mod tests_run;

use std::{path::Path, time::Duration};

use crate::programs::target;
pub(crate) use accepted::{Accepted, accepted};
pub(crate) use copy::MUTATED;
pub(crate) use judge::Verdict;
pub(crate) use options::Options;
pub(crate) use places::Place;

/// Tests that run at a time: many wait more than they compute.
const SIDE_BY_SIDE: usize = 2;

/// Places with their verdicts, and the number of those that are no Rust.
pub(crate) struct Judged {
    pub(crate) places: Vec<(Place, Verdict)>,
    pub(crate) unviable: usize,
}

impl Judged {
    /// A finding for each listed place that is gone.
    pub(crate) fn gone(&self, listed: &[Accepted]) -> Vec<String> {
        let is_gone = |listed: &&Accepted| !self.places.iter().any(|(place, _)| listed.is_of(place));
        listed.iter().filter(is_gone).map(|listed| format!("{listed}: it is listed, and is gone")).collect()
    }
}

/// Builds the copy, and judges the places that are wanted, within a time.
pub(crate) fn judged(root: &Path, is_wanted: impl Fn(&Place) -> bool, time: Duration) -> Result<Judged, String> {
    let copy = copy::built(root, &target(root).join("lost-checks"))?;
    let wanted: Vec<&Place> = copy.places.iter().filter(|place| is_wanted(place)).collect();
    let verdicts = judge::verdicts(&copy, &wanted, time)?;
    let places = wanted.into_iter().cloned().zip(verdicts).collect();
    let unviable = copy.unviable.iter().filter(|place| is_wanted(place)).count();
    Ok(Judged { places, unviable })
}
