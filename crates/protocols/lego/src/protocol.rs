//! `lego` as a [`Protocol`].

use crate::checks;
use std::{ops::RangeInclusive, sync::Arc};

use garblet_circuit::{Bits, ScheduleDigest};
use garblet_net::{AMOUNTS, Channel, Hello};
use garblet_store::Store;

use super::{
    Amounts, CONSTRUCTOR, Checks, Code, Config, NAME, Order, Participant, Plan, Prepared, allow_unfinished,
    communication,
    constructor::ConstructorSide,
    evaluator::EvaluatorSide,
    side::{Computed, Side, Wire},
    stock::{
        saved::{self, SavedOutputs, saved_names},
        store::check_amounts,
    },
    unfinished,
};
use garblet_protocol::{
    Adversary, Protocol, ProtocolError, Role, Security, Session,
    checks::Check,
    conduct::Honest,
    kept::{self, Part, WORD_BYTES, has_kept, not_kept},
    parameters::{Parameter, named, ot_width, put},
    party_io,
    protocol::{
        BoxedRole, Filling, Job, OrderRequest, PhaseFormulas, Precision, Request, Sample, Step, Terms, tabulate,
    },
    stock::{Filled, Notice, ReadInput, SavedValues, StockKinds, has_panicked, yes_or_no},
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
            tacit: None,
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
        Plan::reading(request.program.clone(), request.config, &read)?.keeping(request.saved.keep.is_some())
    }

    fn schedule(plan: &Plan) -> Option<ScheduleDigest> {
        Some(ScheduleDigest::of_all(plan.schedules(), &[]))
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
            hello.with(&format!("read {port}"), format!("{name}{output}"))
        })
    }

    fn set_up<'a>(session: &'a mut Session, terms: Terms<Self>) -> Step<'a, BoxedRole<Channel>> {
        Box::pin(async move {
            match terms.party == CONSTRUCTOR {
                true => Gatewise::<ConstructorSide<Honest>>::set_up(session, terms).await,
                false => Gatewise::<EvaluatorSide<Honest>>::set_up(session, terms).await,
            }
        })
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

    fn check_stock(job: &Job<Self>, store: &Store, _: &Amounts) -> Result<(), ProtocolError> {
        check_amounts(store, job.plan.config().code, &job.plan.amounts())
    }

    fn greet_filling(filling: &Filling<Self>) -> Hello {
        let Amounts { gates, inputs, input_pairs, outputs } = filling.stock.order;
        let units = &["gates", "inputs", "pairs of inputs", "outputs"];
        filling.hello().with_amounts((AMOUNTS, units), &[gates, inputs, input_pairs, outputs])
    }

    fn fill<'a>(session: &'a mut Session, filling: Filling<Self>) -> Step<'a, Filled> {
        Box::pin(async move {
            match filling.party == CONSTRUCTOR {
                true => fill::<ConstructorSide<Honest>>(session, filling).await,
                false => fill::<EvaluatorSide<Honest>>(session, filling).await,
            }
        })
    }

    fn notices(store: &Store) -> Vec<Notice> {
        let mut notices = kept::notices(store, Self::NAME, saved_names(store));
        if let orders @ 1.. = unfinished(store) {
            notices.push(Notice::UnfinishedOrders(orders));
        }
        notices
    }

    fn settle(store: &mut Store, notice: &Notice) -> Result<(), ProtocolError> {
        match notice {
            Notice::UnendedRuns(_) => kept::allow(store),
            Notice::UnfinishedOrders(_) => allow_unfinished(store),
            Notice::Kept(_) | Notice::UnsettledCheck => Ok(()),
        }
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
    Ok(Filled::new(role.into_store().ok_or_else(kept::no_store)?, lost, session.costs()))
}

/// The wires of a run's outputs, on one side.
type Saved<S> = SavedOutputs<<<S as Side>::Wire as Wire>::Saved>;

/// A role of `lego`, which serves any program, with the program of this run.
struct Gatewise<S> {
    role: Participant<S>,
    job: Arc<Job<Lego>>,
    /// The most runs that were to keep outputs and did not end.
    retries: u32,
    /// The number of runs that were to keep outputs and have begun.
    keeps: u64,
    unsaved: Option<ProtocolError>,
}

impl<S: Side<Conduct = Honest> + 'static> Gatewise<S> {
    async fn set_up(session: &mut Session, terms: Terms<Lego>) -> Result<BoxedRole<Channel>, ProtocolError> {
        let Terms { job, stock, .. } = terms;
        let config = Config { top_up: stock.as_ref().is_some_and(|stock| stock.top_up), ..job.request.config };
        let retries = stock.as_ref().and_then(|stock| stock.retries).unwrap_or(kept::RETRIES);
        let saved = &job.request.saved;
        let role = match stock {
            Some(stock) => {
                let mut role = Participant::<S>::meet(session, config, stock.store, &stock.peer).await?;
                if *saved != SavedValues::default() {
                    saved::meet(session, role.store().ok_or_else(kept::no_store)?, (S::PARTY, saved)).await?;
                }
                role
            }
            None if *saved != SavedValues::default() => return Err(kept::no_store()),
            None => Participant::<S>::setup(session, config).await?,
        };
        Ok(Box::new(Gatewise { role, job, retries, keeps: 0, unsaved: None }))
    }

    /// Counts a run that is to keep outputs, before its first message. A run whose input does not fit is not counted.
    ///
    /// *Errors*: too many that did not end; an input that does not fit; the store's.
    fn begin(&mut self, name: &str, inputs: &[Bits]) -> Result<(), ProtocolError> {
        party_io::own_input(self.job.plan.program(), S::PARTY, inputs)?;
        kept::begin(self.role.store().ok_or_else(kept::no_store)?, name, self.retries)?;
        self.keeps += 1;
        Ok(())
    }

    /// Keeps the outputs of a run, unless it has panicked, and makes sure that both parties do: the evaluator's are pending until the constructor has its own
    /// and says so.
    ///
    /// *Errors*: the store's; a peer that could not keep its part; the connection's, after which the next meeting settles it.
    async fn keep(
        &mut self,
        session: &mut Session,
        name: &str,
        computed: &Computed<S::Wire>,
    ) -> Result<(), ProtocolError> {
        let (outputs, wires) = computed;
        let has_panicked = has_panicked(&self.job.request.program, outputs);
        if S::PARTY == CONSTRUCTOR {
            let mut word = [0; WORD_BYTES];
            session.channel().receive_bytes(&mut word).await?;
            let (part, failed) = match has_kept(word)? {
                true => self.write(name, wires, has_panicked),
                false => (Part::Failed, Some(not_kept(name))),
            };
            let store = self.role.store().ok_or_else(kept::no_store)?;
            let concluded = kept::conclude(session, store, name, part).await;
            return failed.map_or(concluded, Err);
        }
        let (part, failed) = self.write(name, wires, has_panicked);
        kept::tell(session, failed.is_none()).await;
        let heard = kept::hear(session, self.role.store().ok_or_else(kept::no_store)?, name, part).await;
        failed.map_or(heard, Err)
    }

    /// Writes this party's part of a run, unless it has panicked.
    fn write(&mut self, name: &str, wires: &Saved<S>, has_panicked: bool) -> (Part, Option<ProtocolError>) {
        if has_panicked {
            return (Part::Nothing, None);
        }
        match self.role.save(name, wires) {
            Ok(()) => (Part::Written, None),
            Err(error) => (Part::Failed, Some(error)),
        }
    }
}

impl<S: Side<Conduct = Honest> + 'static> Role for Gatewise<S> {
    /// With the number of runs of the session that were to keep outputs and had begun when it was prepared.
    type Prepared = (Prepared<S::Wire>, u64);
    const NAME: &'static str = S::NAME;

    fn security(&self) -> Security {
        self.role.security()
    }

    async fn prepare(&mut self, session: &mut Session) -> Result<Self::Prepared, ProtocolError> {
        let Request { program, saved, .. } = &self.job.request;
        // The outputs were not kept, and the value under their name is older.
        if let Some(error) = self.unsaved.take() {
            return Err(error);
        }
        if let (Some(name), Some(store)) = (&saved.keep, self.role.store()) {
            kept::check(store, name, self.retries)?;
        }
        let mut prepared = self.role.prepare(session, self.job.plan.clone()).await?;
        for (input, read) in saved.inputs(program)?.into_iter().zip(&saved.read) {
            prepared.read(input, &self.role.saved(&read.name)?, read.output.as_deref())?;
        }
        self.role.build(session, &mut prepared).await?;
        Ok((prepared, self.keeps))
    }

    async fn online(
        &mut self,
        session: &mut Session,
        (prepared, keeps): Self::Prepared,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        if let Some(error) = self.unsaved.take() {
            return Err(error);
        }
        let job = self.job.clone();
        kept::check_fresh(&job.request.saved, keeps, self.keeps)?;
        let name = job.request.saved.keep.as_deref();
        name.map_or(Ok(()), |name| self.begin(name, inputs))?;
        let computed = self.role.online_saving(session, prepared, inputs).await?;
        if let Some(name) = name {
            // The outputs are this party's, whether they can be kept or not.
            self.unsaved = self.keep(session, name, &computed).await.err();
        }
        Ok(computed.0)
    }

    fn late_error(&mut self) -> Option<ProtocolError> {
        self.unsaved.take()
    }
}
