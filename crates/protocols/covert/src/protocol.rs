//! `covert` as a [`Protocol`].

use crate::checks;
use std::ops::RangeInclusive;

use garblet_circuit::ScheduleDigest;
use garblet_net::{Channel, Hello};

use super::config::{MAX_SHARES, MIN_SHARES};
use super::{
    Config, Evaluator, Form, GARBLER, Garbler, InputEncoding, MAX_CIRCUITS, MIN_CIRCUITS, NAME, Ot, Plan, communication,
};
use garblet_protocol::{
    Adversary, Protocol, ProtocolError, Session,
    checks::Check,
    parameters::{Parameter, named, number, ot_width, put},
    protocol::{BoxedRole, Job, PhaseFormulas, Request, Sample, Step, Terms, tabulate},
};
use garblet_seeded::parameters::{checked_hash, checked_scheme};

/// Two-party covert security from a few garbled circuits, all but one of which are checked.
pub struct Covert;

const FORMS: [(&str, Form); 2] = [("seeds", Form::Seeds), ("al07", Form::Al07)];
const ENCODINGS: [(&str, InputEncoding); 2] =
    [("independent", InputEncoding::Independent), ("random", InputEncoding::RandomCombinations)];
const OTS: [(&str, Ot); 2] = [("extension", Ot::Extension), ("pvw", Ot::Pvw)];

impl Protocol for Covert {
    type Link = Channel;
    type Config = Config;
    type Plan = Plan;
    type Order = ();

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Covert;
    const PARTIES: RangeInclusive<u16> = 2..=2;
    const PARAMETERS: &'static [Parameter<Config>] = &[
        named!("form", "seeds or al07", form, FORMS),
        Parameter {
            name: "circuits",
            values: "a number from 2 to 256",
            tacit: None,
            get: |config| config.circuits().to_string(),
            set: |config, value| put(&mut config.circuits, number(value, MIN_CIRCUITS..=MAX_CIRCUITS).map(Some)),
        },
        Parameter {
            name: "shares",
            values: "a number from 2 to 64",
            tacit: None,
            get: |config| config.shares().to_string(),
            set: |config, value| put(&mut config.shares, number(value, MIN_SHARES..=MAX_SHARES).map(Some)),
        },
        named!("encoding", "independent or random", encoding, ENCODINGS),
        named!("ot", "extension or pvw", ot, OTS),
        checked_scheme!(
            "half-gates, three-halves, grr3 or four-row; with form=al07 also base, prf-ss, cor-grr, rom-grr or glnp"
        ),
        checked_hash!(),
        ot_width!(),
    ];
    const SAMPLES: &'static [Sample] =
        &[&[], &[("form", "al07"), ("circuits", "2")], &[("form", "al07"), ("circuits", "2"), ("ot", "pvw")]];
    const CHECKS: &'static [Check] = checks::ALL;

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Plan::new(request.program.clone(), request.config)
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
