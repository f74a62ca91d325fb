//! The shape of every protocol: one type implements [`Protocol`], and roles implement [`Role`].
//!
//! The crate `garblet` and the command use protocols only through these two traits, so a new protocol is one crate and one line of a registry.

use std::{fmt, ops::RangeInclusive, pin::Pin, sync::Arc};

use garblet_circuit::{Bits, Party, Program, ScheduleDigest, diagnostic::Diagnostics};
use garblet_net::{Hello, SCHEDULE, STEP};
use rand_core::CryptoRng;

use crate::{
    Adversary, Collusion, Communication, Phase, ProtocolError, Role, Security,
    checks::Check,
    choice::{self, Loads},
    parameters::{self, Parameter},
    session::{Link, Session},
    stock::{Filled, Notice, SavedValues, Stock, StockKinds},
};

/// A protocol: names, parameters, formulas, and how a party is set up.
///
/// [`Protocol::plan`] makes a program ready, once for all sessions; [`Protocol::set_up`] gives a party's [`Role`].
pub trait Protocol: Sized + Send + Sync + 'static {
    /// The link between the parties: a channel for two, a mesh for several.
    type Link: Link;
    /// The parameters, on which all parties must agree.
    type Config: Clone + Default + PartialEq + fmt::Debug + Send + Sync + 'static;
    /// A program made ready for the parameters.
    type Plan: Send + Sync + 'static;
    /// An order for a store: how much of each kind to prepare.
    type Order: Send + Sync + 'static;

    /// The name on the command line and in results.
    const NAME: &'static str;
    /// The strongest adversary that it is secure against.
    const ADVERSARY: Adversary;
    /// The parties that must not collude, if the protocol promises nothing against them.
    const COLLUSION: Option<Collusion> = None;
    /// The possible numbers of parties.
    const PARTIES: RangeInclusive<u16>;
    /// The parameters by name, in the order in which they are printed and compared.
    const PARAMETERS: &'static [Parameter<Self::Config>];
    /// The parameters that the link may decide, each with its values, all equally secure; the standard value is the first.
    const LINK_DECIDES: &'static [(&'static str, &'static [&'static str])] = &[];
    /// Settings for tests, small and of every form. The protocol keeps its contract under each of them.
    const SAMPLES: &'static [Sample];
    /// The checks of a peer's behaviour.
    const CHECKS: &'static [Check] = &[];
    /// The precision with which [`Protocol::costs`] predict a run.
    const PRECISION: Precision = Precision::Exact;
    /// The kinds of prepared material that a store may hold, if it uses stores.
    const STOCK: Option<StockKinds> = None;
    /// Set if values can stay in stores between runs, known to nobody.
    const SAVES_VALUES: bool = false;
    /// Set if it can run a program whose gates are read while it runs. Otherwise all gates are read into memory before.
    const READS_GATES: bool = false;

    /// The default parameters.
    fn standard() -> Self::Config {
        Self::Config::default()
    }

    /// The strongest adversary that it is secure against under these parameters, if they change [`Protocol::ADVERSARY`].
    fn adversary(config: &Self::Config) -> Adversary {
        let _ = config;
        Self::ADVERSARY
    }

    /// The kinds of prepared material that a store may hold under these parameters, if they change [`Protocol::STOCK`].
    fn stock(config: &Self::Config) -> Option<StockKinds> {
        let _ = config;
        Self::STOCK
    }

    /// Makes a program ready.
    ///
    /// *Errors*: a program that the protocol cannot run.
    fn plan(request: &Request<Self>) -> Result<Self::Plan, ProtocolError>;

    /// The digest of the order in which gates are computed, which all parties must share; `None` if no message depends on it.
    fn schedule(plan: &Self::Plan) -> Option<ScheduleDigest>;

    /// The cost of each phase for each party, indexed by [`Phase`]; none where it depends on the contents of stores. `hellos` are those of all parties.
    ///
    /// *Errors*: a program that needs more than stores can hold.
    fn costs(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError>;

    /// Makes a program ready under other values of [`Protocol::LINK_DECIDES`].
    ///
    /// *Errors*: as [`Protocol::plan`].
    fn plan_otherwise(job: &Job<Self>, request: &Request<Self>) -> Result<Self::Plan, ProtocolError> {
        let _ = job;
        Self::plan(request)
    }

    /// The cost of a run to each party, as far as it depends on [`Protocol::LINK_DECIDES`]. `hellos` are those of all parties.
    ///
    /// *Errors*: as [`Protocol::costs`].
    fn loads(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<Loads>, ProtocolError> {
        Ok(choice::loads(Self::costs(job, hellos)?, |_, _| Vec::new()))
    }

    /// The same of an order for new stores, and of using them up.
    ///
    /// *Errors*: as [`Protocol::plan_otherwise`].
    fn order_loads(config: &Self::Config, order: &Self::Order, hellos: &[Hello]) -> Result<Vec<Loads>, ProtocolError> {
        let _ = (config, order, hellos);
        Ok(Vec::new())
    }

    /// Makes an order one under other values of [`Protocol::LINK_DECIDES`].
    ///
    /// *Errors*: as [`Protocol::plan_otherwise`].
    fn reorder(order: &mut Self::Order, config: &Self::Config) -> Result<(), ProtocolError> {
        let _ = (order, config);
        Ok(())
    }

    /// The name under which stores are bound that are filled with these parameters ([`Binding::protocol`](garblet_store::Binding)), if it says
    /// what the link has decided. It is decided when a store is filled first; `None` if stores always have the standard values.
    fn bound_as(config: &Self::Config) -> Option<String> {
        let _ = config;
        None
    }

    /// Makes a stock in memory for a run without a store, if the protocol needs one.
    ///
    /// *Errors*: a store that cannot be made.
    fn own_stock(job: &Job<Self>, rng: &mut dyn CryptoRng) -> Result<Option<Stock<Self::Order>>, ProtocolError> {
        let _ = (job, rng);
        Ok(None)
    }

    /// Adds everything to a hello that must agree besides program and parameters.
    fn greet(terms: &Terms<Self>, hello: Hello) -> Hello {
        let _ = terms;
        hello
    }

    /// Sets a party up (phase `setup`).
    ///
    /// *Errors*: a peer that misbehaves or is gone; stores that were not filled together, or for something else.
    fn set_up<'a>(session: &'a mut Session<Self::Link>, terms: Terms<Self>) -> Step<'a, BoxedRole<Self::Link>>;

    /// Parses an order for the store of one of `parties` parties.
    ///
    /// *Errors*: kinds that the protocol does not have; a file or a program that it cannot use.
    fn order(request: &OrderRequest, config: &Self::Config, parties: u16) -> Result<Self::Order, ProtocolError> {
        let _ = (request, config, parties);
        Err(no_stock::<Self>())
    }

    /// Checks that a store holds enough for a run, as far as one party can know: two stores are compared only when their owners meet.
    ///
    /// *Errors*: [`NotPrepared`](crate::error::NotPrepared); a store that was given up.
    fn check_stock(job: &Job<Self>, store: &garblet_store::Store, order: &Self::Order) -> Result<(), ProtocolError> {
        let _ = (job, store, order);
        Ok(())
    }

    /// Tells whether a store holds less of some kind than this percentage of an order, as far as one party can know without the others.
    fn is_low(store: &garblet_store::Store, order: &Self::Order, below: u8) -> bool {
        let _ = (store, order, below);
        true
    }

    /// The hello before a store is filled.
    fn greet_filling(filling: &Filling<Self>) -> Hello {
        filling.hello()
    }

    /// Fills a store, together with the stores of all other parties.
    ///
    /// *Errors*: as [`Protocol::set_up`]. Completed batches are kept.
    fn fill<'a>(session: &'a mut Session<Self::Link>, filling: Filling<Self>) -> Step<'a, Filled> {
        let _ = (session, filling);
        Box::pin(async { Err(no_stock::<Self>()) })
    }

    /// Lists the notices that a store has for its owner.
    fn notices(store: &garblet_store::Store) -> Vec<Notice> {
        let _ = store;
        Vec::new()
    }

    /// Settles one of the [`Protocol::notices`], at the owner's word. Does nothing for a notice of another protocol.
    ///
    /// *Errors*: a store that cannot be written.
    fn settle(store: &mut garblet_store::Store, notice: &Notice) -> Result<(), ProtocolError> {
        let _ = (store, notice);
        Ok(())
    }
}

fn no_stock<P: Protocol>() -> ProtocolError {
    refused_stock(P::NAME)
}

/// The refusal of a store by a protocol, or a form of one, that uses none.
pub fn refused_stock(got: impl Into<String>) -> ProtocolError {
    let (what, expected) = ("protocol of a store".into(), "one that prepares for stores".into());
    ProtocolError::Input { what, expected, got: got.into() }
}

/// Parameters by name that differ from the defaults.
pub type Sample = &'static [(&'static str, &'static str)];

/// The cost of each [`Phase`], as a number, of one party.
pub type PhaseFormulas = [Option<Communication>; 4];

/// The precision with which a protocol's formulas predict a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Every run costs exactly that.
    Exact,
    /// The cost of runs varies, as this text says.
    Mean(&'static str),
}

/// A request to make a program ready.
pub struct Request<P: Protocol> {
    /// The program.
    pub program: Arc<Program>,
    /// The number of parties.
    pub parties: u16,
    /// The parameters.
    pub config: P::Config,
    /// The values that a run takes from stores and leaves there.
    pub saved: SavedValues,
}

/// A program made ready, with the request.
pub struct Job<P: Protocol> {
    /// The request, with the program as it is run ([`SavedValues::program`]).
    pub request: Request<P>,
    /// The plan.
    pub plan: Arc<P::Plan>,
}

impl<P: Protocol> Job<P> {
    /// Makes a program ready.
    ///
    /// *Errors*: a program or a number of parties that the protocol cannot run; values that it cannot save.
    pub fn new(request: Request<P>) -> Result<Self, ProtocolError> {
        let parties = request.parties;
        let unsupported = |reason: String| {
            let program = request.program.name().into();
            Err(ProtocolError::Unsupported { protocol: P::NAME, program, reason })
        };
        if !P::PARTIES.contains(&parties) {
            return unsupported(format!("there are {parties} parties"));
        }
        if !P::SAVES_VALUES && request.saved != SavedValues::default() {
            return unsupported("it keeps no values in stores".into());
        }
        let program = in_memory::<P>(&request.program)?;
        let program = request.saved.program(P::NAME, &program)?;
        let request = Request { program, ..request };
        let plan = Arc::new(P::plan(&request)?);
        Ok(Job { request, plan })
    }

    /// The same program under other values of [`Protocol::LINK_DECIDES`].
    ///
    /// *Errors*: as [`Protocol::plan`].
    pub fn otherwise(&self, config: P::Config) -> Result<Self, ProtocolError> {
        let Request { program, parties, saved, .. } = &self.request;
        let request = Request { program: program.clone(), parties: *parties, config, saved: saved.clone() };
        let plan = Arc::new(P::plan_otherwise(self, &request)?);
        Ok(Job { request, plan })
    }

    /// The hello of a party: protocol, program, parameters, and the order of gates.
    pub fn hello(&self, party: Party) -> Hello {
        let Request { program, parties, config, .. } = &self.request;
        let hello = with_parameters::<P>(Hello::new(P::NAME, party.0, *parties, program.digest()), config);
        P::schedule(&self.plan).iter().fold(hello, |hello, schedule| hello.with(SCHEDULE, schedule))
    }
}

/// A program with all its gates in memory, unless the protocol reads them while it runs.
///
/// *Errors*: gates that cannot be read again.
pub fn in_memory<P: Protocol>(program: &Arc<Program>) -> Result<Arc<Program>, ProtocolError> {
    match P::READS_GATES {
        true => Ok(program.clone()),
        false => program.whole().map_err(|error| ProtocolError::Library(error.into())),
    }
}

/// The terms on which a party is set up.
pub struct Terms<P: Protocol> {
    /// The program.
    pub job: Arc<Job<P>>,
    /// The party.
    pub party: Party,
    /// The store that it draws on.
    pub stock: Option<Stock<P::Order>>,
}

/// A store to fill.
pub struct Filling<P: Protocol> {
    /// The parameters.
    pub config: P::Config,
    /// The party.
    pub party: Party,
    /// The number of parties.
    pub parties: u16,
    /// The store, with the order.
    pub stock: Stock<P::Order>,
    /// The share of the order, in percent, below which a kind is refilled.
    pub below: u8,
}

impl<P: Protocol> Filling<P> {
    /// The hello of a party that fills its store before the function is known.
    pub fn hello(&self) -> Hello {
        let hello = Hello::new(P::NAME, self.party.0, self.parties, [0; 32]).with(STEP, "prepare");
        with_parameters::<P>(hello, &self.config)
    }
}

/// An order for a store, as users write it.
#[derive(Clone, Default)]
pub struct OrderRequest {
    /// The program to prepare runs of, for a protocol with [`StockKinds::Runs`].
    pub program: Option<Arc<Program>>,
    /// The library file, for a protocol with [`StockKinds::Library`].
    pub library: Option<LibraryFile>,
    /// Kinds by name, and the number of each.
    pub amounts: Vec<(String, u64)>,
}

/// A library file: it lists the components to prepare.
#[derive(Clone)]
pub struct LibraryFile {
    /// The path of the file.
    pub path: std::path::PathBuf,
    /// Loads the circuit files that it names.
    pub load: LoadProgram,
}

/// Loads a program from the file of that name.
pub type LoadProgram = fn(&str) -> Result<Program, Diagnostics>;

/// Adds the parameters of a protocol to a hello.
pub(crate) fn with_parameters<P: Protocol>(hello: Hello, config: &P::Config) -> Hello {
    let given = parameters::compared(P::PARAMETERS, config);
    given.iter().fold(hello, |hello, (name, value)| hello.with(name, value))
}

/// Tabulates a formula over all parties and phases.
pub fn tabulate(parties: u16, cost: impl Fn(Party, Phase) -> Option<Communication>) -> Vec<PhaseFormulas> {
    (0..parties).map(|party| Phase::ALL.map(|phase| cost(Party(party), phase))).collect()
}

/// A step of a protocol or a role.
///
/// It is boxed where it is written: the compiler translates an asynchronous function where somebody polls it. Were it not boxed, that would be a crate which uses all
/// protocols, and whoever changes one would wait for all.
pub type Step<'a, T> = Pin<Box<dyn Future<Output = Result<T, ProtocolError>> + Send + 'a>>;

/// The prepared material of a role.
pub type BoxedMaterial = Box<dyn std::any::Any + Send>;

/// A role of any protocol over a link.
pub type BoxedRole<L> = Box<dyn AnyRole<L>>;

/// A [`Role`] whose prepared material has no type of its own.
pub trait AnyRole<L: Link>: Send {
    /// As [`Role::NAME`].
    fn name(&self) -> &'static str;

    /// As [`Role::security`].
    fn security(&self) -> Security;

    /// As [`Role::prepare`].
    fn prepare<'a>(&'a mut self, session: &'a mut Session<L>) -> Step<'a, BoxedMaterial>;

    /// As [`Role::online`].
    fn online<'a>(
        &'a mut self,
        session: &'a mut Session<L>,
        material: BoxedMaterial,
        inputs: &'a [Bits],
    ) -> Step<'a, Vec<Option<Bits>>>;

    /// As [`Role::run`].
    fn run<'a>(&'a mut self, session: &'a mut Session<L>, inputs: &'a [Bits]) -> Step<'a, Vec<Option<Bits>>>;

    /// As [`Role::late_error`].
    fn late_error(&mut self) -> Option<ProtocolError>;
}

impl<L: Link, R: Role<L>> AnyRole<L> for R {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn security(&self) -> Security {
        Role::security(self)
    }

    fn prepare<'a>(&'a mut self, session: &'a mut Session<L>) -> Step<'a, BoxedMaterial> {
        Box::pin(async { Ok(Box::new(Role::prepare(self, session).await?) as BoxedMaterial) })
    }

    fn online<'a>(
        &'a mut self,
        session: &'a mut Session<L>,
        material: BoxedMaterial,
        inputs: &'a [Bits],
    ) -> Step<'a, Vec<Option<Bits>>> {
        Box::pin(async {
            let prepared = material.downcast().map_err(|_| foreign_material())?;
            Role::online(self, session, *prepared, inputs).await
        })
    }

    fn run<'a>(&'a mut self, session: &'a mut Session<L>, inputs: &'a [Bits]) -> Step<'a, Vec<Option<Bits>>> {
        Box::pin(Role::run(self, session, inputs))
    }

    fn late_error(&mut self) -> Option<ProtocolError> {
        Role::late_error(self)
    }
}

/// The refusal of material that was prepared in another session: labels of one session under the secrets of another would reveal inputs.
pub fn foreign_material() -> ProtocolError {
    let [what, expected, got] = ["prepared material", "this session's", "another session's"].map(Into::into);
    ProtocolError::Input { what, expected, got }
}
