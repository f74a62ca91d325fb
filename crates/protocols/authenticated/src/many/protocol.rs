//! `authenticated-bmr` as a [`Protocol`].

use std::ops::RangeInclusive;

use garblet_circuit::ScheduleDigest;
use garblet_net::{Hello, Mesh};
use garblet_protocol::{
    Adversary, MeshSession, Protocol, ProtocolError,
    checks::Check,
    conduct::Honest,
    kept,
    parameters::{self, Parameter, named, ot_kind, ot_width},
    protocol::{BoxedRole, Filling, Job, OrderRequest, PhaseFormulas, Request, Sample, Step, Terms, tabulate},
    stock::{Filled, Notice, SavedValues, Stock, StockKinds},
};
use garblet_store::Store;

use super::{
    Config, Drawing, Member, NAME, Plan, checks, communication,
    ground::Ground,
    plan::{PARTIES, Setting},
    saved, stock,
};
use crate::{
    amounts::{Amounts, KINDS},
    protocol::{BUILDS, CHECKS, STATISTICAL, settle_notice, with_order, with_store},
};

/// Garbled circuits whose masks all parties share, three parties and more, malicious.
pub struct AuthenticatedBmr;

const EVALUATOR: Parameter<Config> = Parameter {
    name: "evaluator",
    values: "the number of a party",
    tacit: None,
    get: |config| config.evaluator.to_string(),
    set: |config, value| parameters::put(&mut config.evaluator, parameters::number(value, 0..=15)),
};

impl Protocol for AuthenticatedBmr {
    type Link = Mesh;
    type Config = Config;
    type Plan = Plan;
    type Order = Amounts;

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Malicious;
    const PARTIES: RangeInclusive<u16> = PARTIES;
    const PARAMETERS: &'static [Parameter<Config>] = &[
        named!("check", "tags or reveal", check, CHECKS),
        named!("build", "ahead or stream", build, BUILDS),
        EVALUATOR,
        named!("statistical", "40, 64 or 80", statistical, STATISTICAL),
        ot_width!(),
        ot_kind!(Some("extension")),
    ];
    const SAMPLES: &'static [Sample] = &[
        &[],
        &[("check", "reveal"), ("evaluator", "0"), ("ot-k", "4")],
        &[("build", "stream")],
        &[("check", "reveal"), ("build", "stream"), ("evaluator", "0")],
        &[("ot", "silent")],
    ];
    const CHECKS: &'static [Check] = checks::ALL;
    const STOCK: Option<StockKinds> = Some(StockKinds::Pieces(&KINDS));
    const SAVES_VALUES: bool = true;

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        request.saved.check_names()?;
        let read = request.saved.inputs(&request.program)?;
        let saved = (&read[..], request.saved.keep.is_some());
        Plan::saving(request.program.clone(), request.parties, request.config, saved)
    }

    fn schedule(plan: &Plan) -> Option<ScheduleDigest> {
        Some(plan.schedule())
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        let parties = job.request.parties;
        Ok(tabulate(parties, |party, phase| Some(communication(&job.plan, party, phase, hellos))))
    }

    fn greet(terms: &Terms<Self>, hello: Hello) -> Hello {
        let saved = &terms.job.request.saved;
        terms.stock.iter().fold(hello, |hello, stock| with_store(hello, stock.top_up, saved))
    }

    fn set_up<'a>(session: &'a mut MeshSession, terms: Terms<Self>) -> Step<'a, BoxedRole<Mesh>> {
        Box::pin(async move {
            session.set_scratch(std::env::temp_dir());
            let (plan, party) = (terms.job.plan.clone(), terms.party);
            let member = match terms.stock {
                Some(Stock { store, peer, top_up, retries, .. }) => {
                    let (saved, retries) = (terms.job.request.saved.clone(), retries.unwrap_or(kept::RETRIES));
                    let drawing = Drawing { store, peers: &peer, top_up, saved, retries };
                    Member::meet(session, plan, party, drawing, Honest).await?
                }
                None if terms.job.request.saved != SavedValues::default() => return Err(kept::no_store()),
                None => Member::set_up(session, plan, party, Honest).await?,
            };
            Ok::<BoxedRole<Mesh>, ProtocolError>(Box::new(member))
        })
    }

    fn order(request: &OrderRequest, config: &Config, parties: u16) -> Result<Amounts, ProtocolError> {
        Setting::new(parties, *config)?;
        Amounts::ordered(request)
    }

    fn check_stock(job: &Job<Self>, store: &Store, _: &Amounts) -> Result<(), ProtocolError> {
        stock::check(store, job.plan.amounts())
    }

    fn is_low(store: &Store, order: &Amounts, below: u8) -> bool {
        order.short_of(stock::kinds().amounts_in(store), below).is_some()
    }

    fn greet_filling(filling: &Filling<Self>) -> Hello {
        with_order(filling.hello(), filling.stock.order)
    }

    fn fill<'a>(session: &'a mut MeshSession, filling: Filling<Self>) -> Step<'a, Filled> {
        Box::pin(async move {
            let Filling { config, party, parties, stock, below } = filling;
            let setting = Setting::new(parties, config)?;
            let order = [stock.order.triples, stock.order.masks].map(u64::to_le_bytes);
            let mut agreed = [0; 32];
            agreed[..16].copy_from_slice(order.as_flattened());
            let agreed = (setting, setting.digest((agreed, [0; 32])));
            let mut ground = Ground::meet(session, agreed, party, (stock.store, &stock.peer), Honest).await?;
            let has = ground.stock.as_ref().map(stock::Stock::has).unwrap_or_default();
            if let Some(short) = stock.order.short_of(has, below) {
                ground.fill(session, setting, short).await?;
            }
            let stock::Stock { store, lost, .. } = ground.stock.ok_or_else(kept::no_store)?;
            Ok(Filled::new(store, lost, session.costs()))
        })
    }

    fn notices(store: &Store) -> Vec<Notice> {
        let mut notices = kept::notices(store, Self::NAME, saved::names(store));
        notices.extend(stock::is_unsettled(store).then_some(Notice::UnsettledCheck));
        notices
    }

    fn settle(store: &mut Store, notice: &Notice) -> Result<(), ProtocolError> {
        settle_notice(store, notice)
    }
}
