//! `authenticated` as a [`Protocol`].

use std::ops::RangeInclusive;

use garblet_circuit::ScheduleDigest;
use garblet_net::{AMOUNTS, Channel, Hello};
use garblet_protocol::{
    Adversary, Protocol, ProtocolError, Session,
    checks::Check,
    choice::{self, Loads},
    conduct::Honest,
    kept,
    parameters::{Parameter, named, ot_kind, ot_width},
    protocol::{BoxedRole, Filling, Job, OrderRequest, PhaseFormulas, Request, Sample, Step, Terms, tabulate},
    stock::{Filled, Notice, ReadInput, SavedValues, StockKinds, yes_or_no},
};
use garblet_store::Store;

use crate::{
    Amounts, Build, Config, GARBLER, NAME, Participant, Plan, ResultCheck, Run, Statistical,
    amounts::KINDS,
    checks, communication, cost,
    online::{evaluator::EvaluatorSide, garbler::GarblerSide},
    plan::{ordered_batches, ots},
    side::Side,
    stock::{
        saved,
        store::{bound_as, kinds, secrets},
        unsettled::LastCheck,
    },
};

/// Garbled circuits whose masks both parties share, two parties, malicious.
pub struct Authenticated;

pub(crate) const CHECKS: [(&str, ResultCheck); 2] = [("tags", ResultCheck::Tags), ("reveal", ResultCheck::Reveal)];
pub(crate) const BUILDS: [(&str, Build); 2] = [("ahead", Build::Ahead), ("stream", Build::Stream)];
pub(crate) const STATISTICAL: [(&str, Statistical); 3] =
    [("40", Statistical::Forty), ("64", Statistical::SixtyFour), ("80", Statistical::Eighty)];

impl Protocol for Authenticated {
    type Link = Channel;
    type Config = Config;
    type Plan = Plan;
    type Order = Amounts;

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Malicious;
    const PARTIES: RangeInclusive<u16> = 2..=2;
    const PARAMETERS: &'static [Parameter<Config>] = &[
        named!("check", "tags or reveal", check, CHECKS),
        named!("build", "ahead or stream", build, BUILDS),
        named!("statistical", "40, 64 or 80", statistical, STATISTICAL),
        ot_width!(),
        ot_kind!(Some("extension")),
    ];
    const LINK_DECIDES: &'static [(&'static str, &'static [&'static str])] =
        &[("ot", &["extension", "silent"]), ("ot-k", &["4", "2", "8"])];
    const SAMPLES: &'static [Sample] = &[
        &[],
        &[("build", "stream")],
        &[("check", "reveal"), ("ot-k", "8")],
        &[("check", "reveal"), ("build", "stream"), ("statistical", "64")],
        &[("ot", "silent")],
    ];
    const CHECKS: &'static [Check] = checks::ALL;
    const STOCK: Option<StockKinds> = Some(StockKinds::Pieces(&KINDS));
    const SAVES_VALUES: bool = true;

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        saved::check_names(&request.saved)?;
        let read = request.saved.inputs(&request.program)?;
        Plan::new(request.program.clone(), request.config, &read, request.saved.keep.is_some())
    }

    fn plan_otherwise(job: &Job<Self>, request: &Request<Self>) -> Result<Plan, ProtocolError> {
        Ok(job.plan.otherwise(request.config))
    }

    fn loads(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<Loads>, ProtocolError> {
        let work = |_, phase| cost::work(job.plan.config(), job.plan.ots(), phase);
        Ok(choice::loads(Self::costs(job, hellos)?, work))
    }

    fn order_loads(config: &Config, order: &Amounts, _: &[Hello]) -> Result<Vec<Loads>, ProtocolError> {
        let costs = tabulate(2, |party, phase| Some(cost::communication_of_order(*config, *order, party, phase)));
        let ots = ots(&ordered_batches(*config, *order));
        Ok(choice::loads(costs, |_, phase| cost::work(*config, ots, phase)))
    }

    fn bound_as(config: &Config) -> Option<String> {
        Some(bound_as(*config))
    }

    fn schedule(plan: &Plan) -> Option<ScheduleDigest> {
        Some(plan.schedules().digest())
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        Ok(tabulate(2, |party, phase| Some(communication(&job.plan, party, phase, hellos))))
    }

    fn greet(terms: &Terms<Self>, hello: Hello) -> Hello {
        let saved = &terms.job.request.saved;
        terms.stock.iter().fold(hello, |hello, stock| with_store(hello, stock.top_up, saved))
    }

    fn set_up<'a>(session: &'a mut Session, terms: Terms<Self>) -> Step<'a, BoxedRole<Channel>> {
        Box::pin(async move {
            match terms.party == GARBLER {
                true => set_up::<GarblerSide>(session, terms).await,
                false => set_up::<EvaluatorSide>(session, terms).await,
            }
        })
    }

    fn order(request: &OrderRequest, _: &Config, _: u16) -> Result<Amounts, ProtocolError> {
        Amounts::ordered(request)
    }

    fn check_stock(job: &Job<Self>, store: &Store, _: &Amounts) -> Result<(), ProtocolError> {
        secrets(store)?;
        kinds().check(store, job.plan.amounts())
    }

    fn greet_filling(filling: &Filling<Self>) -> Hello {
        with_order(filling.hello(), filling.stock.order)
    }

    fn fill<'a>(session: &'a mut Session, filling: Filling<Self>) -> Step<'a, Filled> {
        Box::pin(async move {
            match filling.party == GARBLER {
                true => fill::<GarblerSide>(session, filling).await,
                false => fill::<EvaluatorSide>(session, filling).await,
            }
        })
    }

    fn notices(store: &Store) -> Vec<Notice> {
        let mut notices = kept::notices(store, Self::NAME, saved::names(store));
        // A store that was given up is not used again, even with an unsettled check.
        if secrets(store).is_ok() && LastCheck::of(store).is_ok_and(|last| last.is_unsettled()) {
            notices.push(Notice::UnsettledCheck);
        }
        notices
    }

    fn settle(store: &mut Store, notice: &Notice) -> Result<(), ProtocolError> {
        settle_notice(store, notice)
    }
}

/// Adds to a hello that the run draws on a store, and the values that it reads and keeps.
pub(crate) fn with_store(hello: Hello, top_up: bool, saved: &SavedValues) -> Hello {
    let hello = hello.with("triples", "from a store").with("top-up", yes_or_no(top_up));
    let hello = hello.with("keep", saved.keep.as_deref().unwrap_or_default());
    saved.read.iter().fold(hello, |hello, ReadInput { port, name, output }| {
        let output = output.as_ref().map_or(String::new(), |output| format!(".{output}"));
        hello.with(&format!("read {port}"), format!("{name}{output}"))
    })
}

/// Settles a notice at the owner's word.
pub(crate) fn settle_notice(store: &mut Store, notice: &Notice) -> Result<(), ProtocolError> {
    match notice {
        Notice::UnendedRuns(_) => kept::allow(store),
        Notice::Kept(_) | Notice::UnfinishedOrders(_) | Notice::UnsettledCheck => Ok(()),
    }
}

/// Adds an order to the hello before a store is filled.
pub(crate) fn with_order(hello: Hello, Amounts { triples, masks }: Amounts) -> Hello {
    hello.with_amounts((AMOUNTS, &["triples", "masks"]), &[triples, masks])
}

async fn set_up<S: Side>(
    session: &mut Session,
    terms: Terms<Authenticated>,
) -> Result<BoxedRole<Channel>, ProtocolError> {
    session.set_scratch(std::env::temp_dir());
    let Terms { job, stock, .. } = terms;
    let (config, saved, plan) = (job.request.config, job.request.saved.clone(), job.plan.clone());
    let top_up = stock.as_ref().is_some_and(|stock| stock.top_up);
    let retries = stock.as_ref().and_then(|stock| stock.retries).unwrap_or(kept::RETRIES);
    let participant = match stock {
        Some(stock) => Participant::<S, Honest>::meet(session, config, (stock.store, &stock.peer), Honest).await?,
        None if saved != SavedValues::default() => return Err(kept::no_store()),
        None => Participant::<S, Honest>::setup(session, config, Honest).await?,
    };
    Ok(Box::new(Run::saving(session, participant, plan, saved, top_up).await?.with_retries(retries)))
}

/// Fills the store of a side, as [`Protocol::fill`].
async fn fill<S: Side>(session: &mut Session, filling: Filling<Authenticated>) -> Result<Filled, ProtocolError> {
    let Filling { config, stock, below, .. } = filling;
    let mut role = Participant::<S, Honest>::meet(session, config, (stock.store, &stock.peer), Honest).await?;
    if let Some(short) = stock.order.short_of(role.stock(), below) {
        role.fill(session, short).await?;
    }
    let lost = role.lost();
    Ok(Filled::new(role.into_store().ok_or_else(kept::no_store)?, lost, session.costs()))
}
