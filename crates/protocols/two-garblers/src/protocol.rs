//! `two-garblers` as a [`Protocol`].

use std::ops::RangeInclusive;

use garblet_circuit::ScheduleDigest;
use garblet_net::{Hello, Mesh};

use super::{Build, Config, Evaluator, Garbler, NAME, Plan, checks, communication, plan::PARTIES};
use garblet_protocol::{
    Adversary, Collusion, MeshSession, Protocol, ProtocolError,
    checks::Check,
    conduct::Honest,
    parameters::{Parameter, named},
    protocol::{BoxedRole, Job, PhaseFormulas, Request, Sample, Step, Terms, tabulate},
};

/// Garbled circuits of three parties of which at most one is corrupted.
pub struct TwoGarblers;

const BUILDS: [(&str, Build); 2] = [("stream", Build::Stream), ("ahead", Build::Ahead)];

impl Protocol for TwoGarblers {
    type Link = Mesh;
    type Config = Config;
    type Plan = Plan;
    type Order = ();

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Malicious;
    const COLLUSION: Option<Collusion> = Some(Collusion::AnyTwo);
    const PARTIES: RangeInclusive<u16> = PARTIES;
    const PARAMETERS: &'static [Parameter<Config>] = &[named!("build", "stream or ahead", build, BUILDS)];
    const SAMPLES: &'static [Sample] = &[&[], &[("build", "ahead")]];
    const CHECKS: &'static [Check] = checks::ALL;

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Plan::new(request.program.clone(), request.parties, request.config)
    }

    fn schedule(plan: &Plan) -> Option<ScheduleDigest> {
        Some(plan.schedules().digest())
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        Ok(tabulate(3, |party, phase| Some(communication(&job.plan, party, phase, hellos))))
    }

    fn set_up<'a>(session: &'a mut MeshSession, terms: Terms<Self>) -> Step<'a, BoxedRole<Mesh>> {
        Box::pin(async move {
            let (plan, party) = (terms.job.plan.clone(), terms.party);
            let role: BoxedRole<Mesh> = match plan.seat(party) {
                Some(_) => Box::new(Garbler::set_up(session, plan, party, Honest).await?),
                None => Box::new(Evaluator::set_up(session, plan, party, Honest).await?),
            };
            Ok(role)
        })
    }
}
