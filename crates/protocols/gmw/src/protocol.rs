//! `gmw` as a [`Protocol`].

use std::ops::RangeInclusive;

use garblet_net::{Hello, Mesh};

use super::{Config, Form, GmwParty, NAME, OtKind, PARTIES_MAX, Plan};
use garblet_protocol::{
    Adversary, MeshSession, Protocol, ProtocolError,
    parameters::{Parameter, named, ot_width},
    protocol::{Request, Sample},
};
use garblet_runs::joint::{Joint, RunOrder};

/// Shared bits, several parties, semi-honest; as many rounds as layers of AND gates.
pub struct Gmw;

const FORMS: [(&str, Form); 2] = [("triples", Form::Triples), ("2012", Form::Choi2012)];

const OTS: [(&str, OtKind); 2] = [("extension", OtKind::Extension), ("silent", OtKind::Silent)];

impl Protocol for Gmw {
    type Link = Mesh;
    type Config = Config;
    type Plan = Plan;
    type Order = RunOrder<Self>;

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::SemiHonest;
    const PARTIES: RangeInclusive<u16> = 2..=PARTIES_MAX;
    const PARAMETERS: &'static [Parameter<Config>] =
        &[named!("form", "triples or 2012", form, FORMS), ot_width!(), named!("ot", "extension or silent", ot, OTS)];
    const SAMPLES: &'static [Sample] = &[&[], &[("form", "2012"), ("ot", "silent")]];

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Plan::new(request.program.clone(), request.parties, request.config)
    }

    garblet_runs::runs_in_stores!();
}

impl Joint for Gmw {
    type Party = GmwParty;
}
