//! `outsourced` as a [`Protocol`].

use std::{ops::RangeInclusive, sync::Arc};

use garblet_authenticated::{Amounts, Authenticated, EvaluatorSide, GarblerSide, Side};
use garblet_circuit::{Party, ScheduleDigest};
use garblet_client::Server;
use garblet_cut_and_choose::{self as circuits, CutAndChoose, MAX_CIRCUITS, MIN_CIRCUITS};
use garblet_net::{Hello, LOW_WATER, Mesh};
use garblet_protocol::{
    Adversary, Collusion, MeshSession, Protocol, ProtocolError, Session,
    checks::Check,
    conduct::Honest,
    parameters::{Parameter, name_of, named, number, put},
    party_io::{EVALUATOR, GARBLER},
    protocol::{
        BoxedRole, Filling, Job, OrderRequest, PhaseFormulas, Request, Sample, Step, Terms, refused_stock, tabulate,
    },
    stock::{Filled, Notice, ReadInput, SavedNames, SavedValues, Stock, StockKinds},
};

use garblet_store::Store;
use garblet_yao::{self as yao, Yao};

use crate::{
    GENERATOR, NAME, PARTIES_MAX, SERVERS,
    changed::{ChangedServer, Seat},
    client::Client,
    config::{Base, Config, Form},
    cost::{self, communication},
    partialgc::{self, Reuse},
    plan::Plan,
    receipts::Receipts,
    server::{ServerRole, with},
    state,
};

/// Clients that deal shares to two servers: malicious security, as long as the two servers do not collude.
pub struct Outsourced;

/// A program made ready for one of the forms and its base.
pub enum FormPlan {
    /// [`Form::Shares`] over [`Base::Authenticated`].
    Shares(Arc<Plan>),
    /// The same over [`Base::CutAndChoose`].
    OverCircuits(Arc<Plan<circuits::Plan>>),
    /// The same over [`Base::Yao`].
    OverYao(Arc<Plan<yao::Plan>>),
    /// [`Form::PartialGc`].
    PartialGc(Arc<partialgc::Plan>),
}

const FORMS: [(&str, Form); 2] = [("shares", Form::Shares), ("partialgc", Form::PartialGc)];
const CIRCUITS: &str = "a number from 2 to 4096; with form=partialgc 16, 64 or 256";
const REUSES: [(&str, Reuse); 2] = [("labels", Reuse::Labels), ("partial-gates", Reuse::PartialGates)];

/// The checks of the bases and of the other form.
const ALL_CHECKS: [&[Check]; 3] = [Authenticated::CHECKS, CutAndChoose::CHECKS, partialgc::checks::ALL];

const CHECK_COUNT: usize = ALL_CHECKS[0].len() + ALL_CHECKS[1].len() + ALL_CHECKS[2].len();

/// The same as one list.
const CHECKS: [Check; CHECK_COUNT] = {
    let mut all = [partialgc::checks::OUTPUT_TAG; CHECK_COUNT];
    let (mut list, mut done) = (0, 0);
    while list < ALL_CHECKS.len() {
        let mut at = 0;
        while at < ALL_CHECKS[list].len() {
            all[done] = ALL_CHECKS[list][at];
            (at, done) = (at + 1, done + 1);
        }
        list += 1;
    }
    all
};

/// A parameter of the base, by its number.
macro_rules! of_base {
    ($number:literal) => {
        Parameter {
            name: Authenticated::PARAMETERS[$number].name,
            values: Authenticated::PARAMETERS[$number].values,
            tacit: Authenticated::PARAMETERS[$number].tacit,
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
        named!("base", "authenticated, cut-and-choose or yao", base, Base::NAMES),
        of_base!(0),
        of_base!(1),
        of_base!(2),
        of_base!(3),
        of_base!(4),
        Parameter {
            name: "circuits",
            values: CIRCUITS,
            tacit: None,
            get: |config| config.circuits().to_string(),
            set: |config, value| put(&mut config.circuits, number(value, MIN_CIRCUITS..=MAX_CIRCUITS).map(Some)),
        },
        named!("reuse", "labels or partial-gates", reuse, REUSES),
    ];
    // Without the published form, which has its own tests of the contract.
    const SAMPLES: &'static [Sample] = &[
        Authenticated::SAMPLES[0],
        Authenticated::SAMPLES[1],
        Authenticated::SAMPLES[2],
        Authenticated::SAMPLES[3],
        &[("base", "cut-and-choose"), ("circuits", "5")],
        &[("base", "yao")],
        &[("base", "yao"), ("build", "stream")],
    ];
    const CHECKS: &'static [Check] = &CHECKS;
    const STOCK: Option<StockKinds> = Authenticated::STOCK;
    const SAVES_VALUES: bool = true;

    fn adversary(config: &Config) -> Adversary {
        match (config.form, config.base) {
            (Form::Shares, Base::Yao) => Yao::ADVERSARY,
            _ => Self::ADVERSARY,
        }
    }

    fn stock(config: &Config) -> Option<StockKinds> {
        match (config.form, config.base) {
            (Form::Shares, Base::CutAndChoose | Base::Yao) => None,
            _ => Self::STOCK,
        }
    }

    fn plan(request: &Request<Self>) -> Result<FormPlan, ProtocolError> {
        let Request { program, parties, config, saved } = request;
        let refuse = |reason| ProtocolError::Unsupported { protocol: NAME, program: program.name().into(), reason };
        let (program, parties) = (program.clone(), *parties);
        Ok(match (config.form, config.base) {
            (Form::Shares, Base::Authenticated) => {
                FormPlan::Shares(Arc::new(Plan::new(program, parties, config.shares, saved.clone())?))
            }
            (Form::Shares, _) if *saved != SavedValues::default() => {
                return Err(refuse(format!(
                    "with base={} it keeps no values in stores",
                    name_of(config.base, &Base::NAMES)
                )));
            }
            (Form::Shares, Base::CutAndChoose) => {
                let of_base = config.cut_and_choose();
                let of_base = of_base.ok_or_else(|| refuse("base=cut-and-choose takes statistical=40 or 80".into()))?;
                FormPlan::OverCircuits(Arc::new(Plan::over_circuits(program, parties, of_base)?))
            }
            (Form::Shares, Base::Yao) => FormPlan::OverYao(Arc::new(Plan::over_yao(program, parties, config.yao())?)),
            (Form::PartialGc, _) if *saved != SavedValues::default() => return Err(no_stores()),
            (Form::PartialGc, _) => {
                let of_form = config.partialgc();
                let of_form = of_form.ok_or_else(|| refuse("form=partialgc takes circuits=16, 64 or 256".into()))?;
                FormPlan::PartialGc(Arc::new(partialgc::Plan::new(program, parties, of_form, saved.clone())?))
            }
        })
    }

    fn greet(terms: &Terms<Self>, hello: Hello) -> Hello {
        let SavedValues { keep, read } = &terms.job.request.saved;
        let hello = keep.iter().fold(hello, |hello, name| hello.with("keep", name));
        read.iter().fold(hello, |hello, ReadInput { port, name, output }| {
            let output = output.as_ref().map_or(String::new(), |output| format!(".{output}"));
            hello.with(&format!("read {port}"), format!("{name}{output}"))
        })
    }

    fn schedule(plan: &FormPlan) -> Option<ScheduleDigest> {
        Some(match plan {
            FormPlan::Shares(plan) => plan.schedule(),
            FormPlan::OverCircuits(plan) => plan.schedule(),
            FormPlan::OverYao(plan) => plan.schedule(),
            FormPlan::PartialGc(plan) => plan.schedule(),
        })
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        let parties = job.request.parties;
        Ok(tabulate(parties, |party, phase| {
            Some(match &*job.plan {
                FormPlan::Shares(plan) => communication(plan, party, phase, hellos),
                FormPlan::OverCircuits(plan) => cost::over_circuits(plan, party, phase, hellos),
                FormPlan::OverYao(plan) => cost::over_yao(plan, party, phase, hellos),
                FormPlan::PartialGc(plan) => partialgc::communication(plan, party, phase, hellos),
            })
        }))
    }

    fn set_up<'a>(session: &'a mut MeshSession, terms: Terms<Self>) -> Step<'a, BoxedRole<Mesh>> {
        Box::pin(async move {
            let (party, stock) = (terms.party, terms.stock);
            if stock.is_some() && Self::stock(&terms.job.request.config).is_none() {
                return Err(refused_stock(with_base(&terms.job.request.config)));
            }
            let plan = match &*terms.job.plan {
                FormPlan::Shares(plan) => plan.clone(),
                FormPlan::OverCircuits(plan) => {
                    return set_up_changed::<circuits::Garbler, circuits::Evaluator>(session, plan.clone(), party)
                        .await;
                }
                FormPlan::OverYao(plan) => {
                    return set_up_changed::<yao::Garbler, yao::Evaluator>(session, plan.clone(), party).await;
                }
                FormPlan::PartialGc(_) if stock.is_some() => return Err(no_stores()),
                FormPlan::PartialGc(plan) => return set_up_partialgc(session, plan.clone(), party).await,
            };
            match plan.server(party) {
                Some(server @ Server::Generator) => serve::<GarblerSide>(session, plan, server, stock).await,
                Some(server @ Server::Cloud) => serve::<EvaluatorSide>(session, plan, server, stock).await,
                None => {
                    let servers = Server::BOTH.map(|server| plan.party(server).0);
                    let identities = servers.map(|server| session.mesh().identities().get(server).copied().flatten());
                    // The store does not depend on the other clients.
                    let servers = match identities {
                        [Some(generator), Some(cloud)] => format!("{generator}, {cloud}"),
                        _ => "2 servers without identity".into(),
                    };
                    let receipts = stock.map(|stock| Receipts::new(stock.store, &servers)).transpose()?;
                    Ok(Box::new(Client::new(plan, party, receipts, Honest)))
                }
            }
        })
    }

    fn order(request: &OrderRequest, config: &Config, _: u16) -> Result<Amounts, ProtocolError> {
        match config.form {
            Form::PartialGc => Err(no_stores()),
            Form::Shares if Self::stock(config).is_none() => Err(refused_stock(with_base(config))),
            Form::Shares => Authenticated::order(request, &config.shares, SERVERS),
        }
    }

    fn notices(store: &Store) -> Vec<Notice> {
        state::notices(store)
    }

    fn settle(store: &mut Store, notice: &Notice) -> Result<(), ProtocolError> {
        match notice {
            Notice::Kept(SavedNames { name, state: Some(_), .. }) => state::close(store, name),
            Notice::UnendedRuns(_) => state::allow(store),
            Notice::Kept(_) | Notice::UnfinishedOrders(_) | Notice::UnsettledCheck => Ok(()),
        }
    }

    fn fill<'a>(session: &'a mut MeshSession, filling: Filling<Self>) -> Step<'a, Filled> {
        Box::pin(async move {
            let Filling { config, party, parties, stock, below } = filling;
            let cloud = Party(parties - 1);
            let (seat, other) = match party {
                GENERATOR => (GARBLER, cloud),
                party if party == cloud => (EVALUATOR, GENERATOR),
                _ => return Ok(Filled::new(stock.store, 0, session.costs())),
            };
            let stock = with_server(session, stock, other);
            let (mut pair, lent) = session.lend(other)?;
            let filling = Filling { config: config.shares, party: seat, parties: SERVERS, stock, below };
            let filled = fill_pair(&mut pair, filling).await;
            session.give_back(pair, lent);
            Ok(Filled { phases: session.costs(), ..filled.map_err(|error| with(other, error))? })
        })
    }
}

/// The refusal of `form=partialgc` to use stores.
fn no_stores() -> ProtocolError {
    let (what, expected) = ("store".into(), "none: with form=partialgc, states live in memory".into());
    ProtocolError::Input { what, expected, got: "one".into() }
}

/// The protocol over a base, in words.
fn with_base(config: &Config) -> String {
    format!("{NAME} with base={}", name_of(config.base, &Base::NAMES))
}

/// A party over a base whose servers run a changed program, as `G` and `C`.
async fn set_up_changed<G: Seat, C: Seat<Plan = G::Plan>>(
    session: &mut MeshSession,
    plan: Arc<Plan<G::Plan>>,
    party: Party,
) -> Result<BoxedRole<Mesh>, ProtocolError> {
    match plan.server(party) {
        Some(Server::Generator) => Ok(Box::new(ChangedServer::<G>::set_up(session, plan, Honest).await?)),
        Some(Server::Cloud) => Ok(Box::new(ChangedServer::<C>::set_up(session, plan, Honest).await?)),
        None => Ok(Box::new(Client::new(plan, party, None, Honest))),
    }
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

/// Fills a server's store, once both servers want the same; clients do not take part.
async fn fill_pair(pair: &mut Session, filling: Filling<Authenticated>) -> Result<Filled, ProtocolError> {
    let hello = Authenticated::greet_filling(&filling).with_amounts((LOW_WATER, &["percent"]), &[filling.below]);
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

/// A store for use with the other server and any clients: two servers may fill it as parties of the base.
fn with_server(session: &mut MeshSession, stock: Stock<Amounts>, other: Party) -> Stock<Amounts> {
    let identity = session.mesh().identities().get(other.0).copied().flatten();
    let peer = identity.map_or(stock.peer, |identity| identity.to_string());
    Stock { peer, ..stock }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parameters_of_the_base_are_offered() {
        let of_base: Vec<&str> = Authenticated::PARAMETERS.iter().map(|parameter| parameter.name).collect();
        let own: Vec<&str> = Outsourced::PARAMETERS.iter().map(|parameter| parameter.name).collect();
        assert_eq!(own[2..own.len() - 2], of_base);
    }

    /// The hello of a party that wants this base.
    fn hello(base: Base, party: u16) -> Hello {
        let mut program = garblet_circuit::Program::new("nothing");
        let port = garblet_circuit::Port::new("x", garblet_circuit::Type::Bits(1));
        program.add_input(port, Party(1)).expect("it is the first");
        let config = Config { base, ..Config::default() };
        let request = Request { program: Arc::new(program), parties: 3, config, saved: SavedValues::default() };
        Job::<Outsourced>::new(request).expect("it can be run").hello(Party(party))
    }

    #[test]
    fn parties_that_want_different_bases_are_told() {
        assert_eq!(hello(Base::Authenticated, 0).parameter("base"), Some("authenticated"));
        let differences = garblet_net::agree(&hello(Base::Authenticated, 0), &hello(Base::Yao, 1));
        let named: Vec<_> = differences.iter().map(|difference| (&*difference.field, &*difference.theirs)).collect();
        assert!(named.contains(&("base", "yao")), "{named:?}");
    }
}
