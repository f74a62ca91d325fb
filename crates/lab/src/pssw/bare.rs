//! The work that a run against malicious parties cannot do without: gates hashed on one core, with neither sockets, OT, commitments nor
//! digests.

use std::sync::Arc;

use garblet::cut_and_choose;
use garblet_cli::bench::garbling;
use garblet_console::{failure::Failure, program};

use super::{Example, Measured, cheating};

/// Passes of garbling and evaluating; the fastest one counts.
const PASSES: u32 = 20;

/// The ratios of the default run to its bare work.
#[derive(Clone, Copy, serde::Serialize)]
pub(super) struct TimesBare {
    /// The time from the start of a run to its result.
    pub(super) wall: f64,
    /// Processor time of both parties together; none where the system does not tell.
    pub(super) processor: Option<f64>,
}

impl TimesBare {
    /// A run against its bare work.
    pub(super) fn of(run: &Measured, bare: &Measured) -> Self {
        let processor = run.processor_seconds.map(|seconds| seconds / bare.total_seconds);
        TimesBare { wall: run.total_seconds / bare.total_seconds, processor }
    }
}

/// Each circuit of the default run is garbled once, and then evaluated or garbled again to check it: *precompute* is the garbler's part, *calculate*
/// the evaluator's. That the garbler of a run garbles the evaluated ones twice, so as to keep none, is not counted.
///
/// *Errors*: none that these programs could meet.
pub(super) fn measure(example: &Example) -> Result<Measured, Failure> {
    let program = program::load(&cheating::arguments(example))?;
    let config = cut_and_choose::Config::default();
    let plan = cut_and_choose::Plan::new(Arc::new(program), config).map_err(Failure::no_result)?;
    let [garble, evaluate] = garbling::fastest(plan.program(), plan.schedules(), config.garbling, PASSES);
    let [circuits, evaluated, checked] = [config.circuits(), config.evaluated(), config.checked()].map(|n| n as f64);
    let stats = plan.program().stats();
    let precompute = circuits * garble;
    let calculate = evaluated * evaluate + checked * garble;
    Ok(Measured {
        as_what: Some(format!(
            "{circuits} circuits garbled, {evaluated} evaluated, {checked} garbled again, on one core"
        )),
        precompute_seconds: Some(precompute),
        calculate_seconds: Some(calculate),
        processor_seconds: Some(precompute + calculate),
        ..Measured::of_counts(stats.and, stats.xor, precompute + calculate)
    })
}
