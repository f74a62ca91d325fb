//! `gmw` as a [`Protocol`].

use std::ops::RangeInclusive;

use garblet_net::{Hello, Mesh};

use super::{Config, Form, GmwParty, NAME, PARTIES_MAX, Plan, cost};
use garblet_protocol::{
    Adversary, MeshSession, Protocol, ProtocolError,
    choice::{self, Loads},
    parameters::{Parameter, named, ot_kind, ot_width},
    protocol::{Job, Request, Sample},
};
use garblet_runs::joint::{Joint, RunOrder};

/// Shared bits, several parties, semi-honest; as many rounds as layers of AND gates.
pub struct Gmw;

const FORMS: [(&str, Form); 2] = [("triples", Form::Triples), ("2012", Form::Choi2012)];

impl Protocol for Gmw {
    type Link = Mesh;
    type Config = Config;
    type Plan = Plan;
    type Order = RunOrder<Self>;

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::SemiHonest;
    const PARTIES: RangeInclusive<u16> = 2..=PARTIES_MAX;
    const PARAMETERS: &'static [Parameter<Config>] =
        &[named!("form", "triples or 2012", form, FORMS), ot_width!(), ot_kind!(None)];
    const LINK_DECIDES: &'static [(&'static str, &'static [&'static str])] =
        &[("ot", &["extension", "silent"]), ("ot-k", &["4", "2", "8"])];
    const SAMPLES: &'static [Sample] = &[&[], &[("form", "2012"), ("ot", "silent")]];

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Plan::new(request.program.clone(), request.parties, request.config)
    }

    fn plan_otherwise(job: &Job<Self>, request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Ok(job.plan.otherwise(request.config))
    }

    fn loads(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<Loads>, ProtocolError> {
        Ok(choice::loads(Self::costs(job, hellos)?, |_, phase| cost::work(&job.plan, phase)))
    }

    garblet_runs::runs_in_stores!();
}

impl Joint for Gmw {
    type Party = GmwParty;
}
