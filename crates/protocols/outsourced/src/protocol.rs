//! `outsourced` as a [`Protocol`].

use std::{ops::RangeInclusive, sync::Arc};

use garblet_authenticated::{Authenticated, Config, Side};
use garblet_client::Server;
use garblet_net::{Hello, Mesh};
use garblet_protocol::{
    Adversary, MeshSession, Protocol, ProtocolError,
    checks::Check,
    conduct::Honest,
    parameters::Parameter,
    protocol::{BoxedRole, Job, PhaseFormulas, Request, Sample, Terms, tabulate},
};

use crate::{NAME, PARTIES_MAX, client::Client, cost::communication, plan::Plan, server::ServerRole};

/// Clients that deal shares to two servers, malicious unless both servers are.
pub struct Outsourced;

impl Protocol for Outsourced {
    type Link = Mesh;
    type Config = Config;
    type Plan = Plan;
    type Order = ();

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Malicious;
    const PARTIES: RangeInclusive<u16> = 3..=PARTIES_MAX;
    const PARAMETERS: &'static [Parameter<Config>] = Authenticated::PARAMETERS;
    const SAMPLES: &'static [Sample] = Authenticated::SAMPLES;
    const CHECKS: &'static [Check] = Authenticated::CHECKS;

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Plan::new(request.program.clone(), request.parties, request.config)
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        let parties = job.request.parties;
        Ok(tabulate(parties, |party, phase| Some(communication(&job.plan, party, phase, hellos))))
    }

    async fn set_up(session: &mut MeshSession, terms: Terms<Self>) -> Result<BoxedRole<Mesh>, ProtocolError> {
        let (plan, party) = (terms.job.plan.clone(), terms.party);
        match plan.server(party) {
            Some(Server::Generator) => {
                server::<garblet_authenticated::GarblerSide>(session, plan, Server::Generator).await
            }
            Some(Server::Cloud) => server::<garblet_authenticated::EvaluatorSide>(session, plan, Server::Cloud).await,
            None => Ok(Box::new(Client::new(plan, party, Honest))),
        }
    }
}

async fn server<S: Side>(
    session: &mut MeshSession,
    plan: Arc<Plan>,
    server: Server,
) -> Result<BoxedRole<Mesh>, ProtocolError> {
    Ok(Box::new(ServerRole::<S>::set_up(session, plan, server, Honest).await?))
}
