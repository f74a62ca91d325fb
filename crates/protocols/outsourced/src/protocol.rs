//! `outsourced` as a [`Protocol`].

use std::{ops::RangeInclusive, sync::Arc};

use garblet_authenticated::{Amounts, Authenticated, Config, EvaluatorSide, GarblerSide, Side};
use garblet_circuit::Party;
use garblet_client::Server;
use garblet_net::{Hello, Mesh};
use garblet_protocol::{
    Adversary, Collusion, MeshSession, Protocol, ProtocolError, Session,
    checks::Check,
    conduct::Honest,
    parameters::Parameter,
    party_io::{EVALUATOR, GARBLER},
    protocol::{BoxedRole, Filling, Job, OrderRequest, PhaseFormulas, Request, Sample, Terms, tabulate},
    stock::{Filled, ReadInput, SavedNames, SavedValues, Stock, StockKinds},
};

use garblet_store::Store;

use crate::{
    GENERATOR, NAME, PARTIES_MAX, SERVERS,
    client::Client,
    cost::communication,
    plan::Plan,
    receipts::Receipts,
    server::{ServerRole, with},
    state,
};

/// Clients that deal shares to two servers, malicious unless both servers are.
pub struct Outsourced;

impl Protocol for Outsourced {
    type Link = Mesh;
    type Config = Config;
    type Plan = Plan;
    type Order = Amounts;

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Malicious;
    const COLLUSION: Option<Collusion> = Some(Collusion::BothServers);
    const PARTIES: RangeInclusive<u16> = 3..=PARTIES_MAX;
    const PARAMETERS: &'static [Parameter<Config>] = Authenticated::PARAMETERS;
    const SAMPLES: &'static [Sample] = Authenticated::SAMPLES;
    const CHECKS: &'static [Check] = Authenticated::CHECKS;
    const STOCK: Option<StockKinds> = Authenticated::STOCK;
    const SAVES_VALUES: bool = true;

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Plan::new(request.program.clone(), request.parties, request.config, request.saved.clone())
    }

    fn greet(terms: &Terms<Self>, hello: Hello) -> Hello {
        let SavedValues { keep, read } = &terms.job.request.saved;
        let hello = keep.iter().fold(hello, |hello, name| hello.with("keep", name));
        read.iter().fold(hello, |hello, ReadInput { port, name, output }| {
            let output = output.as_ref().map_or(String::new(), |output| format!(".{output}"));
            hello.with(&format!("read {port}"), format!("{name}{output}"))
        })
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        let parties = job.request.parties;
        Ok(tabulate(parties, |party, phase| Some(communication(&job.plan, party, phase, hellos))))
    }

    async fn set_up(session: &mut MeshSession, terms: Terms<Self>) -> Result<BoxedRole<Mesh>, ProtocolError> {
        let (plan, party, stock) = (terms.job.plan.clone(), terms.party, terms.stock);
        match plan.server(party) {
            Some(server @ Server::Generator) => serve::<GarblerSide>(session, plan, server, stock).await,
            Some(server @ Server::Cloud) => serve::<EvaluatorSide>(session, plan, server, stock).await,
            None => {
                let servers = Server::BOTH.map(|server| plan.party(server).0);
                let identities = servers.map(|server| session.mesh().identities().get(server).copied().flatten());
                // Whoever the other clients are.
                let servers = match identities {
                    [Some(generator), Some(cloud)] => format!("{generator}, {cloud}"),
                    _ => "2 servers without identity".into(),
                };
                let receipts = stock.map(|stock| Receipts::new(stock.store, &servers)).transpose()?;
                Ok(Box::new(Client::new(plan, party, receipts, Honest)))
            }
        }
    }

    fn order(request: &OrderRequest, config: &Config, _: u16) -> Result<Amounts, ProtocolError> {
        Authenticated::order(request, config, SERVERS)
    }

    fn saved(store: &Store) -> Vec<SavedNames> {
        state::names(store)
    }

    fn close_state(store: &mut Store, name: &str) -> Result<bool, ProtocolError> {
        let known = state::names(store).iter().any(|state| state.name == name);
        if known {
            state::close(store, name)?;
        }
        Ok(known)
    }

    async fn fill(session: &mut MeshSession, filling: Filling<Self>) -> Result<Filled, ProtocolError> {
        let Filling { config, party, parties, stock, below } = filling;
        let cloud = Party(parties - 1);
        let (seat, other) = match party {
            GENERATOR => (GARBLER, cloud),
            party if party == cloud => (EVALUATOR, GENERATOR),
            _ => return Ok(Filled { store: stock.store, lost: 0, phases: session.costs() }),
        };
        let stock = with_server(session, stock, other);
        let (mut pair, lent) = session.lend(other)?;
        let filling = Filling { config, party: seat, parties: SERVERS, stock, below };
        let filled = fill_pair(&mut pair, filling).await;
        session.give_back(pair, lent);
        Ok(Filled { phases: session.costs(), ..filled.map_err(|error| with(other, error))? })
    }
}

/// Fills a server's store, once both servers want the same: clients know nothing of that.
async fn fill_pair(pair: &mut Session, filling: Filling<Authenticated>) -> Result<Filled, ProtocolError> {
    let hello = Authenticated::greet_filling(&filling).with("low-water", filling.below);
    hello.exchange(pair.channel()).await?;
    Authenticated::fill(pair, filling).await
}

async fn serve<S: Side>(
    session: &mut MeshSession,
    plan: Arc<Plan>,
    server: Server,
    stock: Option<Stock<Amounts>>,
) -> Result<BoxedRole<Mesh>, ProtocolError> {
    let stock = stock.map(|stock| with_server(session, stock, plan.party(server.other())));
    Ok(Box::new(ServerRole::<S>::set_up(session, plan, server, stock, Honest).await?))
}

/// A store that is for the other server alone, whoever the clients are: two servers may fill it as parties of the base.
fn with_server(session: &mut MeshSession, stock: Stock<Amounts>, other: Party) -> Stock<Amounts> {
    let identity = session.mesh().identities().get(other.0).copied().flatten();
    let peer = identity.map_or(stock.peer, |identity| identity.to_string());
    Stock { peer, ..stock }
}
