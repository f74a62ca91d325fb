//! `cut-and-choose` as a [`Protocol`].

use crate::checks;
use std::ops::RangeInclusive;

use garblet_circuit::ScheduleDigest;
use garblet_net::{Channel, Hello};

use super::{
    Config, Evaluator, Form, GARBLER, Garbler, InputEncoding, MAX_CIRCUITS, MIN_CIRCUITS, NAME, Plan, Statistical,
    communication,
};
use garblet_protocol::{
    Adversary, Protocol, ProtocolError, Session,
    checks::Check,
    parameters::{Parameter, name_of, named, number, ot_width, put, value_of},
    protocol::{BoxedRole, Job, PhaseFormulas, Request, Sample, Step, Terms, tabulate},
};
use garblet_seeded::parameters::{checked_hash, checked_scheme};

/// Two-party malicious security from many garbled circuits, some of which are checked.
pub struct CutAndChoose;

const FORMS: [(&str, Form); 2] = [("oblivious", Form::Oblivious), ("lp07", Form::Lp07)];
const STATISTICALS: [(&str, Statistical); 2] = [("40", Statistical::Forty), ("80", Statistical::Eighty)];
const ENCODINGS: [(&str, InputEncoding); 3] = [
    ("systematic", InputEncoding::Systematic),
    ("random", InputEncoding::RandomCombinations),
    ("independent", InputEncoding::Independent),
];
const CIRCUITS: &str = "a number from 2 to 4096";
const CIRCUITS_RANGE: RangeInclusive<usize> = MIN_CIRCUITS..=MAX_CIRCUITS;

impl Protocol for CutAndChoose {
    type Link = Channel;
    type Config = Config;
    type Plan = Plan;
    type Order = ();

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Malicious;
    const PARTIES: RangeInclusive<u16> = 2..=2;
    const PARAMETERS: &'static [Parameter<Config>] = &[
        named!("form", "oblivious or lp07", form, FORMS),
        named!("statistical", "40 or 80", statistical, STATISTICALS),
        Parameter {
            name: "circuits",
            values: CIRCUITS,
            tacit: None,
            get: |config| config.circuits().to_string(),
            set: |config, value| put(&mut config.circuits, number(value, CIRCUITS_RANGE).map(Some)),
        },
        Parameter {
            name: "supersets",
            values: CIRCUITS,
            tacit: None,
            get: |config| config.supersets().to_string(),
            set: |config, value| put(&mut config.supersets, number(value, CIRCUITS_RANGE).map(Some)),
        },
        Parameter {
            name: "encoding",
            values: "systematic, random or independent",
            tacit: None,
            get: |config| name_of(config.input_encoding(), &ENCODINGS),
            set: |config, value| put(&mut config.encoding, value_of(value, &ENCODINGS).map(Some)),
        },
        checked_scheme!(
            "half-gates, three-halves, grr3 or four-row; with form=lp07 also base, prf-ss, cor-grr, rom-grr or glnp"
        ),
        checked_hash!(),
        ot_width!(),
    ];
    const SAMPLES: &'static [Sample] = &[&[("circuits", "5")], &[("form", "lp07"), ("circuits", "4")]];
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
            session.set_scratch(std::env::temp_dir());
            let plan = terms.job.plan.clone();
            let role: BoxedRole<Channel> = match terms.party == GARBLER {
                true => Box::new(Garbler::setup(session, plan).await?),
                false => Box::new(Evaluator::setup(session, plan).await?),
            };
            Ok(role)
        })
    }
}
