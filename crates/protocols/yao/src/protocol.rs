//! `yao` as a [`Protocol`].

use std::ops::RangeInclusive;

use garblet_circuit::ScheduleDigest;
use garblet_net::{Channel, Hello};

use super::{Build, Config, Evaluator, GARBLER, Garbler, NAME, Plan, communication, cost};
use garblet_protocol::{
    Adversary, Protocol, ProtocolError, Session,
    choice::{self, Loads},
    parameters::{Parameter, any_hash, any_scheme, named, ot_width},
    protocol::{BoxedRole, Job, PhaseFormulas, Request, Sample, Step, Terms, tabulate},
};

/// Streamed garbled circuits, two parties, semi-honest.
pub struct Yao;

const BUILDS: [(&str, Build); 2] = [("stream", Build::Stream), ("ahead", Build::Ahead)];

impl Protocol for Yao {
    type Link = Channel;
    type Config = Config;
    type Plan = Plan;
    type Order = ();

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::SemiHonest;
    const PARTIES: RangeInclusive<u16> = 2..=2;
    const READS_GATES: bool = true;
    const PARAMETERS: &'static [Parameter<Config>] =
        &[any_scheme!(), any_hash!(), named!("build", "stream or ahead", build, BUILDS), ot_width!()];
    const LINK_DECIDES: &'static [(&'static str, &'static [&'static str])] =
        &[("scheme", &["half-gates", "three-halves"])];
    const SAMPLES: &'static [Sample] = &[&[], &[("build", "ahead")], &[("scheme", "three-halves"), ("ot-k", "8")]];

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Plan::new(request.program.clone(), request.config)
    }

    fn plan_otherwise(job: &Job<Self>, request: &Request<Self>) -> Result<Plan, ProtocolError> {
        job.plan.otherwise(request.config)
    }

    fn loads(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<Loads>, ProtocolError> {
        let work = |party, phase| cost::work(&job.plan, party, phase).into_iter().collect();
        Ok(choice::loads(Self::costs(job, hellos)?, work))
    }

    fn schedule(plan: &Plan) -> Option<ScheduleDigest> {
        Some(plan.schedules().digest())
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        Ok(tabulate(2, |party, phase| Some(communication(&job.plan, party, phase, hellos))))
    }

    fn set_up<'a>(session: &'a mut Session, terms: Terms<Self>) -> Step<'a, BoxedRole<Channel>> {
        Box::pin(async move {
            let plan = terms.job.plan.clone();
            let role: BoxedRole<Channel> = match terms.party == GARBLER {
                true => Box::new(Garbler::setup(session, plan).await?),
                false => Box::new(Evaluator::setup(session, plan).await?),
            };
            Ok(role)
        })
    }
}
