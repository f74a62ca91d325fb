//! `lego` as a [`Protocol`].

use crate::checks;
use std::{ops::RangeInclusive, sync::Arc};

use garblet_circuit::Bits;
use garblet_net::{Channel, Hello};
use garblet_store::Store;

use super::{
    Amounts, CONSTRUCTOR, Checks, Code, Config, NAME, Order, Participant, Plan, Prepared, allow_unfinished,
    communication,
    constructor::ConstructorSide,
    evaluator::EvaluatorSide,
    side::Side,
    stock::{
        saved::{saved_mark, saved_names},
        store::no_store,
    },
    unfinished,
};
use garblet_protocol::{
    Adversary, Protocol, ProtocolError, Role, Security, Session,
    checks::Check,
    conduct::Honest,
    parameters::{Parameter, named, ot_width, put},
    protocol::{BoxedRole, Filling, Job, OrderRequest, PhaseFormulas, Precision, Request, Sample, Terms, tabulate},
    stock::{Filled, ReadInput, SavedNames, SavedValues, StockKinds, yes_or_no},
};

/// Gates made one by one before the function is known, two parties, malicious.
pub struct Lego;

const CODES: [(&str, Code); 2] = [("short", Code::Short), ("bch312", Code::Bch312)];

/// The kinds that can be ordered.
const KINDS: [&str; 3] = ["gates", "inputs", "outputs"];

/// The largest amount that can be ordered.
const AMOUNT_MAX: u64 = 1 << 32;

impl Protocol for Lego {
    type Link = Channel;
    type Config = Config;
    type Plan = Plan;
    type Order = Amounts;

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::Malicious;
    const PARTIES: RangeInclusive<u16> = 2..=2;
    const PARAMETERS: &'static [Parameter<Config>] = &[
        named!("code", "short or bch312", code, CODES),
        Parameter {
            name: "buckets",
            values: "least, or gates/checks/checks as 7/4/3",
            get: |config| config.sizing.to_string(),
            set: |config, value| put(&mut config.sizing, value.parse().ok()),
        },
        ot_width!(),
    ];
    const SAMPLES: &'static [Sample] = &[&[], &[("code", "bch312")]];
    const CHECKS: &'static [Check] = checks::ALL;
    const PRECISION: Precision = Precision::Mean("in the mean, since coins say how many gates are checked");
    const STOCK: Option<StockKinds> = Some(StockKinds::Pieces(&KINDS));
    const SAVES_VALUES: bool = true;

    fn plan(request: &Request<Self>) -> Result<Plan, ProtocolError> {
        let read = request.saved.inputs(&request.program)?;
        Plan::reading(request.program.clone(), request.config, &read)
    }

    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        let order = job.plan.order()?;
        let checks = Checks::expected(&order);
        Ok(tabulate(2, |party, phase| Some(communication(&job.plan, &order, party, phase, hellos, checks))))
    }

    fn greet(terms: &Terms<Self>, hello: Hello) -> Hello {
        let Some(stock) = &terms.stock else { return hello };
        let saved = &terms.job.request.saved;
        let hello = hello.with("gates", "from a store").with("top-up", yes_or_no(stock.top_up));
        let hello = hello.with("keep", saved.keep.as_deref().unwrap_or_default());
        saved.read.iter().fold(hello, |hello, ReadInput { port, name, output }| {
            let output = output.as_ref().map_or(String::new(), |output| format!(".{output}"));
            let kept = saved_mark(&stock.store, name).map_or("never kept".into(), |mark| format!("kept as {mark}"));
            hello.with(&format!("read {port}"), format!("{name}{output}, {kept}"))
        })
    }

    async fn set_up(session: &mut Session, terms: Terms<Self>) -> Result<BoxedRole<Channel>, ProtocolError> {
        match terms.party == CONSTRUCTOR {
            true => Gatewise::<ConstructorSide<Honest>>::set_up(session, terms).await,
            false => Gatewise::<EvaluatorSide<Honest>>::set_up(session, terms).await,
        }
    }

    fn order(request: &OrderRequest, _: &Config, _: u16) -> Result<Amounts, ProtocolError> {
        let refuse = |expected: String, got: String| Err(ProtocolError::Order { expected, got });
        let [mut gates, mut inputs, mut outputs] = [0; 3];
        for (kind, amount) in &request.amounts {
            let place = match &kind[..] {
                "gates" => &mut gates,
                "inputs" => &mut inputs,
                "outputs" => &mut outputs,
                _ => return refuse(KINDS.join(", "), format!("`{kind}`")),
            };
            if *amount > AMOUNT_MAX {
                return refuse(format!("at most {AMOUNT_MAX}"), format!("{kind}={amount}"));
            }
            *place = *amount;
        }
        Ok(Amounts { gates, inputs, input_pairs: (inputs + outputs).div_ceil(2), outputs })
    }

    fn greet_filling(filling: &Filling<Self>) -> Hello {
        let Amounts { gates, inputs, input_pairs, outputs } = filling.stock.order;
        filling.hello().with("amounts", format!("{gates}, {inputs}, {input_pairs}, {outputs}"))
    }

    async fn fill(session: &mut Session, filling: Filling<Self>) -> Result<Filled, ProtocolError> {
        match filling.party == CONSTRUCTOR {
            true => fill::<ConstructorSide<Honest>>(session, filling).await,
            false => fill::<EvaluatorSide<Honest>>(session, filling).await,
        }
    }

    fn saved(store: &Store) -> Vec<SavedNames> {
        saved_names(store)
    }

    fn unfinished(store: &Store) -> u32 {
        unfinished(store)
    }

    fn forgive(store: &mut Store) -> Result<u32, ProtocolError> {
        allow_unfinished(store)
    }
}

/// Fills the store of a side, as [`Protocol::fill`].
async fn fill<S: Side<Conduct = Honest>>(
    session: &mut Session,
    filling: Filling<Lego>,
) -> Result<Filled, ProtocolError> {
    let Filling { config, stock, below, .. } = filling;
    let mut role = Participant::<S>::meet(session, config, stock.store, &stock.peer).await?;
    if let Some(short) = stock.order.short_of(&role.stock(), below) {
        role.fill(session, &Order::new(short, config)?).await?;
    }
    let lost = role.lost();
    Ok(Filled { store: role.into_store().ok_or_else(no_store)?, lost, phases: session.costs() })
}

/// A role of `lego`, which serves any program, with the one of this run.
struct Gatewise<S> {
    role: Participant<S>,
    job: Arc<Job<Lego>>,
    unsaved: Option<ProtocolError>,
}

impl<S: Side<Conduct = Honest> + 'static> Gatewise<S> {
    async fn set_up(session: &mut Session, terms: Terms<Lego>) -> Result<BoxedRole<Channel>, ProtocolError> {
        let Terms { job, stock, .. } = terms;
        let config = Config { top_up: stock.as_ref().is_some_and(|stock| stock.top_up), ..job.request.config };
        let role = match stock {
            Some(stock) => Participant::<S>::meet(session, config, stock.store, &stock.peer).await?,
            None if job.request.saved != SavedValues::default() => return Err(no_store()),
            None => Participant::<S>::setup(session, config).await?,
        };
        Ok(Box::new(Gatewise { role, job, unsaved: None }))
    }
}

impl<S: Side<Conduct = Honest> + 'static> Role for Gatewise<S> {
    type Prepared = Prepared<S::Wire>;
    const NAME: &'static str = S::NAME;

    fn security(&self) -> Security {
        self.role.security()
    }

    async fn prepare(&mut self, session: &mut Session) -> Result<Self::Prepared, ProtocolError> {
        let Request { program, saved, .. } = &self.job.request;
        let mut prepared = self.role.prepare(session, self.job.plan.clone()).await?;
        for (input, read) in saved.inputs(program)?.into_iter().zip(&saved.read) {
            prepared.read(input, &self.role.saved(&read.name)?, read.output.as_deref())?;
        }
        self.role.build(session, &mut prepared).await?;
        Ok(prepared)
    }

    async fn online(
        &mut self,
        session: &mut Session,
        prepared: Self::Prepared,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let (outputs, saved) = self.role.online_saving(session, prepared, inputs).await?;
        // The run is over: its outputs are this party's, whether they can be saved or not.
        if let Some(name) = &self.job.request.saved.keep {
            self.unsaved = self.role.save(name, &saved).err();
        }
        Ok(outputs)
    }

    fn unsaved(&mut self) -> Option<ProtocolError> {
        self.unsaved.take()
    }
}
