//! The role of a party whose protocol can keep runs in stores: it prepares each run itself, or takes it from the store.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program, ScheduleDigest};
use garblet_net::{COUNT, Hello, Mesh, STEP};
use garblet_store::Store;

use super::{Purpose, RunStore, StoredRun, check_size, kind_of, no_run};
use garblet_protocol::{
    Communication, MeshSession, Phase, Protocol, ProtocolError, Role, Security,
    choice::Loads,
    parameters,
    protocol::{BoxedRole, Filling, Job, OrderRequest, PhaseFormulas, Request, Terms, tabulate},
    stock::{Filled, SavedValues, Stock, yes_or_no},
};

/// One of several parties that prepare runs.
pub trait JointParty: Sized + Send {
    /// A program made ready for all parties.
    type Plan: Send + Sync + 'static;
    /// The material of one party for one run, which consumes it.
    type Prepared: StoredRun<Plan = Self::Plan> + Send + 'static;

    /// The program of a plan.
    fn program(plan: &Self::Plan) -> &Program;

    /// The number of parties of a plan.
    fn parties(plan: &Self::Plan) -> u16;

    /// The order of gates, on which all parties must agree.
    fn schedule(plan: &Self::Plan) -> ScheduleDigest;

    /// The security of a run.
    fn security(plan: &Self::Plan) -> Security;

    /// The cost of a phase to a party; `hellos` are those of all parties.
    fn cost(plan: &Self::Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication;

    /// Sets a party up (phase `setup`).
    ///
    /// *Errors*: a peer that misbehaves or is gone.
    fn setup(
        session: &mut MeshSession,
        plan: Arc<Self::Plan>,
    ) -> impl Future<Output = Result<Self, ProtocolError>> + Send;

    /// Prepares one run.
    ///
    /// *Errors*: a peer that misbehaves or is gone.
    fn prepare(
        &mut self,
        session: &mut MeshSession,
    ) -> impl Future<Output = Result<Self::Prepared, ProtocolError>> + Send;

    /// Runs once (phase `online`); needs nothing from the session in which the run was prepared.
    ///
    /// *Shape*: `inputs` are this party's in program order. Returns one entry per program output, `None` where this party is not a recipient.
    ///
    /// *Errors*: inputs that do not fit; [`ProtocolError::OtherRun`] of a peer, before sending anything that depends on all having the same
    /// run; a peer that misbehaves or is gone.
    fn online(
        prepared: Self::Prepared,
        plan: &Self::Plan,
        session: &mut MeshSession,
        inputs: &[Bits],
    ) -> impl Future<Output = Result<Vec<Option<Bits>>, ProtocolError>> + Send;
}

/// A protocol of several parties whose runs can be kept in stores.
pub trait Joint: Protocol<Link = Mesh, Order = RunOrder<Self>, Plan = <Self::Party as JointParty>::Plan> {
    /// A party that is set up to prepare runs.
    type Party: JointParty;
}

/// The material of a protocol's party for one run.
type PreparedOf<P> = <<P as Joint>::Party as JointParty>::Prepared;

/// An order of runs of a program.
pub struct RunOrder<P: Protocol> {
    /// The program; `None` where a store serves the program of a run.
    pub job: Option<Arc<Job<P>>>,
    /// The number of runs.
    pub count: u64,
}

/// The name for ordering runs.
pub const RUNS: &str = "runs";

impl<P: Joint> RunOrder<P> {
    /// Reads an order: one run, unless it gives a number.
    ///
    /// *Errors*: an unknown kind; a program that the protocol cannot run.
    pub fn new(request: &OrderRequest, config: &P::Config, parties: u16) -> Result<Self, ProtocolError> {
        let mut count = 1;
        for (kind, amount) in &request.amounts {
            if kind != RUNS {
                return Err(ProtocolError::Order { expected: RUNS.into(), got: format!("`{kind}`") });
            }
            count = *amount;
        }
        let job = |program: &Arc<Program>| {
            let request =
                Request { program: program.clone(), parties, config: config.clone(), saved: SavedValues::default() };
            Job::<P>::new(request).map(Arc::new)
        };
        Ok(RunOrder { job: request.program.as_ref().map(job).transpose()?, count })
    }
}

/// One party; all parties do the same.
struct RunTaker<P: Joint> {
    plan: Arc<P::Plan>,
    party: Party,
    /// `None` as long as nothing has to be prepared.
    preparing: Option<P::Party>,
    /// The store, and whether to prepare a run if it has none.
    stored: Option<(RunStore, bool)>,
}

impl<P: Joint> Role<Mesh> for RunTaker<P> {
    type Prepared = PreparedOf<P>;
    const NAME: &'static str = "party";

    fn security(&self) -> Security {
        P::Party::security(&self.plan)
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<PreparedOf<P>, ProtocolError> {
        if let Some((runs, top_up)) = &mut self.stored
            && (runs.ready() > 0 || !*top_up)
        {
            session.enter(Phase::Prepare);
            return Ok(runs.take::<PreparedOf<P>>(&self.plan, self.party)?.1);
        }
        let party = match &mut self.preparing {
            Some(party) => party,
            none => none.insert(P::Party::setup(session, self.plan.clone()).await?),
        };
        party.prepare(session).await
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        prepared: PreparedOf<P>,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        P::Party::online(prepared, &self.plan, session, inputs).await
    }
}

/// The [`Protocol`] items about stores for a [`Joint`] protocol.
#[macro_export]
macro_rules! runs_in_stores {
    () => {
        const STOCK: Option<$crate::protocol::stock::StockKinds> = Some($crate::protocol::stock::StockKinds::Runs);

        fn schedule(plan: &Self::Plan) -> Option<$crate::circuit::ScheduleDigest> {
            Some($crate::joint::schedule::<Self>(plan))
        }

        fn costs(
            job: &$crate::protocol::protocol::Job<Self>,
            hellos: &[Hello],
        ) -> Result<Vec<$crate::protocol::protocol::PhaseFormulas>, ProtocolError> {
            $crate::joint::costs(job, hellos)
        }

        fn greet(terms: &$crate::protocol::protocol::Terms<Self>, hello: Hello) -> Hello {
            $crate::joint::greet(terms, hello)
        }

        fn set_up<'a>(
            session: &'a mut MeshSession,
            terms: $crate::protocol::protocol::Terms<Self>,
        ) -> $crate::protocol::protocol::Step<'a, $crate::protocol::protocol::BoxedRole<Mesh>> {
            Box::pin($crate::joint::set_up(session, terms))
        }

        fn order(
            request: &$crate::protocol::protocol::OrderRequest,
            config: &Config,
            parties: u16,
        ) -> Result<RunOrder<Self>, ProtocolError> {
            RunOrder::new(request, config, parties)
        }

        fn check_stock(
            job: &$crate::protocol::protocol::Job<Self>,
            store: &$crate::store::Store,
            _: &RunOrder<Self>,
        ) -> Result<(), ProtocolError> {
            $crate::joint::check_stock(job, store)
        }

        fn bound_as(config: &Config) -> Option<String> {
            Some($crate::joint::bound_as::<Self>(config))
        }

        fn order_loads(
            config: &Config,
            order: &RunOrder<Self>,
            hellos: &[Hello],
        ) -> Result<Vec<$crate::protocol::choice::Loads>, ProtocolError> {
            $crate::joint::order_loads(config, order, hellos)
        }

        fn reorder(order: &mut RunOrder<Self>, config: &Config) -> Result<(), ProtocolError> {
            $crate::joint::reorder(order, config)
        }

        fn is_low(store: &$crate::store::Store, order: &RunOrder<Self>, below: u8) -> bool {
            $crate::joint::is_low(store, order, below)
        }

        fn greet_filling(filling: &$crate::protocol::protocol::Filling<Self>) -> Hello {
            $crate::joint::greet_filling(filling)
        }

        fn fill<'a>(
            session: &'a mut MeshSession,
            filling: $crate::protocol::protocol::Filling<Self>,
        ) -> $crate::protocol::protocol::Step<'a, $crate::protocol::stock::Filled> {
            Box::pin($crate::joint::fill(session, filling))
        }
    };
}

pub use crate::runs_in_stores;

/// As [`Protocol::schedule`].
pub fn schedule<P: Joint>(plan: &P::Plan) -> ScheduleDigest {
    P::Party::schedule(plan)
}

/// As [`Protocol::costs`].
///
/// *Errors*: none.
pub fn costs<P: Joint>(job: &Job<P>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
    Ok(tabulate(job.request.parties, |party, phase| Some(P::Party::cost(&job.plan, party, phase, hellos))))
}

/// As [`Protocol::greet`].
pub fn greet<P: Joint>(terms: &Terms<P>, hello: Hello) -> Hello {
    let Some(stock) = &terms.stock else { return hello };
    hello.with("runs", "from a store").with("top-up", yes_or_no(stock.top_up))
}

/// As [`Protocol::set_up`].
///
/// *Errors*: as there.
pub async fn set_up<P: Joint>(session: &mut MeshSession, terms: Terms<P>) -> Result<BoxedRole<Mesh>, ProtocolError> {
    let Terms { job, party, stock } = terms;
    let plan = job.plan.clone();
    let (preparing, stored) = match stock {
        Some(Stock { store, peer, top_up, .. }) => (None, Some((meet(session, &job, store, &peer).await?, top_up))),
        None => (Some(P::Party::setup(session, plan.clone()).await?), None),
    };
    Ok(Box::new(RunTaker::<P> { plan, party, preparing, stored }))
}

/// As [`Protocol::check_stock`].
///
/// *Errors*: a store without a run of the program.
pub fn check_stock<P: Joint>(job: &Job<P>, store: &Store) -> Result<(), ProtocolError> {
    let program = &job.request.program;
    match store.count(&kind_of(program, P::Party::schedule(&job.plan))) {
        0 => Err(no_run(store, program.name()).into()),
        _ => Ok(()),
    }
}

/// As [`Protocol::bound_as`].
pub fn bound_as<P: Joint>(config: &P::Config) -> String {
    super::bound_as(&with_parameters::<P>(config))
}

/// As [`Protocol::order_loads`]: a set-up, and as many runs as are ordered. Without a program there are none.
///
/// *Errors*: as there.
pub fn order_loads<P: Joint>(
    config: &P::Config,
    RunOrder { job, count }: &RunOrder<P>,
    hellos: &[Hello],
) -> Result<Vec<Loads>, ProtocolError> {
    // An order for other parties is refused when it is filled.
    let fits = |job: &&Arc<Job<P>>| usize::from(job.request.parties) == hellos.len();
    let Some(job) = job.as_ref().filter(fits) else { return Ok(Vec::new()) };
    let mut loads = P::loads(&job.otherwise(config.clone())?, hellos)?;
    for load in loads.iter_mut().flat_map(|loads| &mut loads[Phase::Setup as usize + 1..]) {
        let Communication { bytes_sent, bytes_received, rounds } = &mut load.cost;
        let amounts = load.work.iter_mut().map(|(_, amount)| amount);
        for number in [bytes_sent, bytes_received, rounds].into_iter().chain(amounts) {
            *number = number.saturating_mul(*count);
        }
    }
    Ok(loads)
}

/// As [`Protocol::reorder`].
///
/// *Errors*: as there.
pub fn reorder<P: Joint>(order: &mut RunOrder<P>, config: &P::Config) -> Result<(), ProtocolError> {
    if let Some(job) = &mut order.job {
        *job = Arc::new(job.otherwise(config.clone())?);
    }
    Ok(())
}

/// As [`Protocol::is_low`].
pub fn is_low<P: Joint>(store: &Store, order: &RunOrder<P>, below: u8) -> bool {
    let Some(job) = &order.job else { return true };
    let ready = store.count(&kind_of(&job.request.program, P::Party::schedule(&job.plan)));
    u128::from(ready) * 100 < u128::from(order.count) * u128::from(below)
}

/// As [`Protocol::greet_filling`].
pub fn greet_filling<P: Joint>(filling: &Filling<P>) -> Hello {
    let RunOrder { job, count } = &filling.stock.order;
    let Some(job) = job else { return filling.hello() };
    let program = job.request.program.clone();
    let hello = job.hello(filling.party).describing(move || program.parts());
    hello.with(STEP, "prepare").with_amounts((COUNT, &["runs"]), &[*count])
}

/// As [`Protocol::fill`].
///
/// *Errors*: as there; an order without a program, or for other parameters or parties; a run that is too large to keep.
pub async fn fill<P: Joint>(session: &mut MeshSession, filling: Filling<P>) -> Result<Filled, ProtocolError> {
    let Filling { config, party, parties, stock: Stock { store, peer, order: RunOrder { job, count }, .. }, .. } =
        filling;
    let job = job.ok_or_else(|| {
        let [expected, got] = ["runs of a program", "no program"].map(Into::into);
        ProtocolError::Order { expected, got }
    })?;
    let of = |config, parties| format!("{} for {parties} parties", with_parameters::<P>(config));
    let [expected, got] = [of(&config, parties), of(&job.request.config, job.request.parties)];
    if expected != got {
        return Err(ProtocolError::Order { expected, got });
    }
    check_size::<PreparedOf<P>>(&job.plan, party, P::NAME, &job.request.program)?;
    let mut runs = meet(session, &job, store, &peer).await?;
    if runs.ready() < count {
        let mut preparing = P::Party::setup(session, job.plan.clone()).await?;
        while runs.ready() < count {
            let run = preparing.prepare(session).await?;
            runs.keep::<PreparedOf<P>>(&job.plan, party, &run)?;
        }
    }
    let lost = runs.lost();
    Ok(Filled::new(runs.into_store(), lost, session.costs()))
}

/// All stores keep the runs that all have.
async fn meet<P: Joint>(
    session: &mut MeshSession,
    job: &Job<P>,
    store: Store,
    peers: &str,
) -> Result<RunStore, ProtocolError> {
    let Request { program, config, .. } = &job.request;
    let (schedule, protocol) = (P::Party::schedule(&job.plan), with_parameters::<P>(config));
    RunStore::meet(session, store, &Purpose { program, schedule, protocol, peers }).await
}

/// The name of the protocol with all parameters.
fn with_parameters<P: Joint>(config: &P::Config) -> String {
    let parameters = parameters::compared(P::PARAMETERS, config);
    let parameters = parameters.iter().map(|(name, value)| format!(", {name} {value}"));
    format!("{}{}", P::NAME, parameters.collect::<String>())
}
