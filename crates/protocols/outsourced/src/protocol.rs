//! `outsourced` as a [`Protocol`].

use std::{ops::RangeInclusive, sync::Arc};

use garblet_authenticated::{Amounts, Authenticated, EvaluatorSide, GarblerSide, Side};
use garblet_circuit::Party;
use garblet_client::Server;
use garblet_net::{Hello, Mesh};
use garblet_protocol::{
    Adversary, Collusion, MeshSession, Protocol, ProtocolError, Session,
    checks::Check,
    conduct::Honest,
    parameters::{Parameter, named},
    party_io::{EVALUATOR, GARBLER},
    protocol::{BoxedRole, Filling, Job, OrderRequest, PhaseFormulas, Request, Sample, Terms, tabulate},
    stock::{Filled, ReadInput, SavedNames, SavedValues, Stock, StockKinds},
};

use garblet_store::Store;

use crate::{
    GENERATOR, NAME, PARTIES_MAX, SERVERS,
    client::Client,
    config::{Config, Form},
    cost::communication,
    partialgc::{self, Circuits, Reuse},
    plan::Plan,
    receipts::Receipts,
    server::{ServerRole, with},
    state,
};

/// Clients that deal shares to two servers, malicious unless both servers are.
pub struct Outsourced;

/// A program made ready for one of the forms.
pub enum FormPlan {
    /// [`Form::Shares`].
    Shares(Arc<Plan>),
    /// [`Form::PartialGc`].
    PartialGc(Arc<partialgc::Plan>),
}

const FORMS: [(&str, Form); 2] = [("shares", Form::Shares), ("partialgc", Form::PartialGc)];
const CIRCUITS: [(&str, Circuits); 3] =
    [("16", Circuits::Sixteen), ("64", Circuits::SixtyFour), ("256", Circuits::All)];
const REUSES: [(&str, Reuse); 2] = [("labels", Reuse::Labels), ("partial-gates", Reuse::PartialGates)];

/// Checks of both forms.
const CHECKS: [Check; Authenticated::CHECKS.len() + partialgc::checks::ALL.len()] = {
    let mut all = [partialgc::checks::OUTPUT_TAG; Authenticated::CHECKS.len() + partialgc::checks::ALL.len()];
    let (of_shares, mut at) = (Authenticated::CHECKS, 0);
    while at < all.len() {
        all[at] = if at < of_shares.len() { of_shares[at] } else { partialgc::checks::ALL[at - of_shares.len()] };
        at += 1;
    }
    all
};

/// A parameter of the base, by its number.
macro_rules! of_base {
    ($number:literal) => {
        Parameter {
            name: Authenticated::PARAMETERS[$number].name,
            values: Authenticated::PARAMETERS[$number].values,
            get: |config| (Authenticated::PARAMETERS[$number].get)(&config.shares),
            set: |config, value| (Authenticated::PARAMETERS[$number].set)(&mut config.shares, value),
        }
    };
}

impl Protocol for Outsourced {
    type Link = Mesh;
    type Config = Config;
    type Plan = FormPlan;
    type Order = Amounts;

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Malicious;
    const COLLUSION: Option<Collusion> = Some(Collusion::BothServers);
    const PARTIES: RangeInclusive<u16> = 3..=PARTIES_MAX;
    const PARAMETERS: &'static [Parameter<Config>] = &[
        named!("form", "shares or partialgc", form, FORMS),
        of_base!(0),
        of_base!(1),
        of_base!(2),
        of_base!(3),
        named!("circuits", "16, 64 or 256", circuits, CIRCUITS),
        named!("reuse", "labels or partial-gates", reuse, REUSES),
    ];
    // The published form uses no stores, which samples of this protocol are tested with; its own tests hold it to the rest.
    const SAMPLES: &'static [Sample] = Authenticated::SAMPLES;
    const CHECKS: &'static [Check] = &CHECKS;
    const STOCK: Option<StockKinds> = Authenticated::STOCK;
    const SAVES_VALUES: bool = true;

    fn plan(request: &Request<Self>) -> Result<FormPlan, ProtocolError> {
        let Request { program, parties, config, saved } = request;
        match config.form {
            Form::Shares => {
                Ok(FormPlan::Shares(Arc::new(Plan::new(program.clone(), *parties, config.shares, saved.clone())?)))
            }
            Form::PartialGc if *saved != SavedValues::default() => Err(no_stores()),
            Form::PartialGc => {
                let plan = partialgc::Plan::new(program.clone(), *parties, config.partialgc(), saved.clone())?;
                Ok(FormPlan::PartialGc(Arc::new(plan)))
            }
        }
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
        Ok(tabulate(parties, |party, phase| {
            Some(match &*job.plan {
                FormPlan::Shares(plan) => communication(plan, party, phase, hellos),
                FormPlan::PartialGc(plan) => partialgc::communication(plan, party, phase, hellos),
            })
        }))
    }

    async fn set_up(session: &mut MeshSession, terms: Terms<Self>) -> Result<BoxedRole<Mesh>, ProtocolError> {
        let (party, stock) = (terms.party, terms.stock);
        let plan = match &*terms.job.plan {
            FormPlan::Shares(plan) => plan.clone(),
            FormPlan::PartialGc(_) if stock.is_some() => return Err(no_stores()),
            FormPlan::PartialGc(plan) => return set_up_partialgc(session, plan.clone(), party).await,
        };
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
        match config.form {
            Form::Shares => Authenticated::order(request, &config.shares, SERVERS),
            Form::PartialGc => Err(no_stores()),
        }
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
        let filling = Filling { config: config.shares, party: seat, parties: SERVERS, stock, below };
        let filled = fill_pair(&mut pair, filling).await;
        session.give_back(pair, lent);
        Ok(Filled { phases: session.costs(), ..filled.map_err(|error| with(other, error))? })
    }
}

/// The refusal of `form=partialgc` to use stores.
fn no_stores() -> ProtocolError {
    let (what, expected) = ("store".into(), "none: with form=partialgc, states live in memory".into());
    ProtocolError::Input { what, expected, got: "one".into() }
}

/// A party of `form=partialgc`, with a new state.
async fn set_up_partialgc(
    session: &mut MeshSession,
    plan: Arc<partialgc::Plan>,
    party: Party,
) -> Result<BoxedRole<Mesh>, ProtocolError> {
    match party {
        GENERATOR => Ok(Box::new(partialgc::Generator::set_up(session, plan, &mut None, Honest).await?)),
        party if party == plan.cloud() => {
            Ok(Box::new(partialgc::Cloud::set_up(session, plan, &mut None, Honest).await?))
        }
        _ => Ok(Box::new(partialgc::Client::set_up(session, plan, Honest).await?)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_the_base_are_all_there() {
        let of_base: Vec<&str> = Authenticated::PARAMETERS.iter().map(|parameter| parameter.name).collect();
        let own: Vec<&str> = Outsourced::PARAMETERS.iter().map(|parameter| parameter.name).collect();
        assert_eq!(own[1..own.len() - 2], of_base);
    }
}
