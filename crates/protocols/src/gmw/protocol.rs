//! `gmw` as a [`Protocol`].

use std::{ops::RangeInclusive, sync::Arc};

use garblet_circuit::Bits;
use garblet_net::{Hello, Mesh};

use super::{Config, Form, GmwParty, NAME, PARTIES_MAX, Plan, Prepared, communication};
use crate::{
    Adversary, MeshSession, Protocol, ProtocolError, Security,
    parameters::{Parameter, named, ot_width},
    protocol::{Job, PhaseFormulas, Request, Sample, tabulate},
    runs::joint::{Joint, RunOrder},
};

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
    const PARAMETERS: &'static [Parameter<Config>] = &[named!("form", "triples or 2012", form, FORMS), ot_width!()];
    const SAMPLES: &'static [Sample] = &[&[], &[("form", "2012")]];

    fn standard() -> Config {
        Config::default()
    }

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Plan::new(request.program.clone(), request.parties, request.config)
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        let parties = job.request.parties;
        Ok(tabulate(parties, |party, phase| Some(communication(&job.plan, party, phase, hellos))))
    }

    crate::runs::joint::runs_in_stores!();
}

impl Joint for Gmw {
    type Party = GmwParty;
    type Prepared = Prepared;

    fn security(plan: &Plan) -> Security {
        plan.security()
    }

    async fn party(session: &mut MeshSession, plan: Arc<Plan>) -> Result<GmwParty, ProtocolError> {
        GmwParty::setup(session, plan).await
    }

    async fn prepare(party: &mut GmwParty, session: &mut MeshSession) -> Result<Prepared, ProtocolError> {
        party.prepare(session).await
    }

    async fn online(
        prepared: Prepared,
        plan: &Plan,
        session: &mut MeshSession,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        prepared.online(plan, session, inputs).await
    }
}
