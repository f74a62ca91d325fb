//! `authenticated` as a [`Protocol`].

use std::ops::RangeInclusive;

use garblet_net::{Channel, Hello};
use garblet_protocol::{
    Adversary, Protocol, ProtocolError, Session,
    checks::Check,
    conduct::Honest,
    parameters::{Parameter, named, ot_width},
    protocol::{BoxedRole, Job, PhaseFormulas, Request, Sample, Terms, tabulate},
};

use crate::{
    Build, Config, Evaluator, GARBLER, Garbler, NAME, Plan, ResultCheck, Statistical, checks, communication,
};

/// Garbled circuits whose masks both parties share, two parties, malicious.
pub struct Authenticated;

const CHECKS: [(&str, ResultCheck); 2] = [("tags", ResultCheck::Tags), ("reveal", ResultCheck::Reveal)];
const BUILDS: [(&str, Build); 2] = [("ahead", Build::Ahead), ("stream", Build::Stream)];
const STATISTICAL: [(&str, Statistical); 3] =
    [("40", Statistical::Forty), ("64", Statistical::SixtyFour), ("80", Statistical::Eighty)];

impl Protocol for Authenticated {
    type Link = Channel;
    type Config = Config;
    type Plan = Plan;
    type Order = ();

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Malicious;
    const PARTIES: RangeInclusive<u16> = 2..=2;
    const PARAMETERS: &'static [Parameter<Config>] = &[
        named!("check", "tags or reveal", check, CHECKS),
        named!("build", "ahead or stream", build, BUILDS),
        named!("statistical", "40, 64 or 80", statistical, STATISTICAL),
        ot_width!(),
    ];
    const SAMPLES: &'static [Sample] = &[
        &[],
        &[("build", "stream")],
        &[("check", "reveal"), ("ot-k", "8")],
        &[("check", "reveal"), ("build", "stream"), ("statistical", "64")],
    ];
    const CHECKS: &'static [Check] = checks::ALL;

    fn standard() -> Config {
        Config::default()
    }

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Plan::new(request.program.clone(), request.config, &[])
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        Ok(tabulate(2, |party, phase| Some(communication(&job.plan, party, phase, hellos))))
    }

    async fn set_up(session: &mut Session, terms: Terms<Self>) -> Result<BoxedRole<Channel>, ProtocolError> {
        let plan = terms.job.plan.clone();
        match terms.party == GARBLER {
            true => Ok(Box::new(Garbler::setup(session, plan, Honest).await?)),
            false => Ok(Box::new(Evaluator::setup(session, plan, Honest).await?)),
        }
    }
}
