//! `authenticated-bmr` as a [`Protocol`].

use std::ops::RangeInclusive;

use garblet_circuit::ScheduleDigest;
use garblet_net::{Hello, Mesh};
use garblet_protocol::{
    Adversary, MeshSession, Protocol, ProtocolError,
    checks::Check,
    conduct::Honest,
    parameters::{self, Parameter, named, ot_width},
    protocol::{BoxedRole, Job, PhaseFormulas, Request, Sample, Step, Terms, tabulate},
};

use super::{Config, Member, NAME, Plan, checks, communication, plan::PARTIES};
use crate::protocol::{CHECKS, STATISTICAL};

/// Garbled circuits whose masks all parties share, three parties and more, malicious.
pub struct AuthenticatedBmr;

const EVALUATOR: Parameter<Config> = Parameter {
    name: "evaluator",
    values: "the number of a party",
    get: |config| config.evaluator.to_string(),
    set: |config, value| parameters::put(&mut config.evaluator, parameters::number(value, 0..=15)),
};

impl Protocol for AuthenticatedBmr {
    type Link = Mesh;
    type Config = Config;
    type Plan = Plan;
    type Order = ();

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Malicious;
    const PARTIES: RangeInclusive<u16> = PARTIES;
    const PARAMETERS: &'static [Parameter<Config>] = &[
        named!("check", "tags or reveal", check, CHECKS),
        EVALUATOR,
        named!("statistical", "40, 64 or 80", statistical, STATISTICAL),
        ot_width!(),
    ];
    const SAMPLES: &'static [Sample] = &[&[], &[("check", "reveal"), ("evaluator", "0"), ("ot-k", "4")]];
    const CHECKS: &'static [Check] = checks::ALL;

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Plan::new(request.program.clone(), request.parties, request.config)
    }

    fn schedule(plan: &Plan) -> Option<ScheduleDigest> {
        Some(plan.schedule().digest())
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        let parties = job.request.parties;
        Ok(tabulate(parties, |party, phase| Some(communication(&job.plan, party, phase, hellos))))
    }

    fn set_up<'a>(session: &'a mut MeshSession, terms: Terms<Self>) -> Step<'a, BoxedRole<Mesh>> {
        Box::pin(async move {
            let plan = terms.job.plan.clone();
            Ok::<BoxedRole<Mesh>, ProtocolError>(Box::new(Member::set_up(session, plan, terms.party, Honest).await?))
        })
    }
}
