//! Type-erased protocols, parameters and plans, so that one [`Peer`](crate::Peer) serves all.

use std::{any::Any, collections::BTreeMap, ops::RangeInclusive, pin::Pin, sync::Arc};

use garblet_circuit::{Bits, Party, Program};
use garblet_net::{Channel, Fingerprint, Hello, JobTerms, LOW_WATER, Mesh};
use garblet_primitives::Prg;
use garblet_protocol::{
    Adversary, Collusion, Link, Phase, Progress, Protocol, ProtocolError, Session,
    checks::Check,
    parameters::{self, UnknownParameter},
    protocol::{
        BoxedMaterial, BoxedRole, Filling, Job, OrderRequest, PhaseFormulas, Precision, Request, Sample, Step, Terms,
        in_memory,
    },
    stock::{self, Filled, Notice, SavedValues, StockKinds},
};
use garblet_store::Store;
use rand::CryptoRng;

use crate::{
    choice::{Alternative, Open, OpenJob, Wish, job_loads, may_be_open, values_of},
    report::Report,
    stock::{Order, Stock},
};

/// The link to all other parties.
pub enum Ends {
    /// To one.
    Channel(Box<Channel>),
    /// To several.
    Mesh(Mesh),
}

impl Ends {
    /// All others, as they are known to `party`: with the identities that they have proved.
    pub fn others(&self, party: Party) -> Vec<(u16, Option<Fingerprint>)> {
        match self {
            // The other of two.
            Ends::Channel(channel) => vec![(1 - party.0.min(1), channel.peer())],
            Ends::Mesh(mesh) => mesh.identities().iter().map(|(party, identity)| (party, *identity)).collect(),
        }
    }
}

impl From<Channel> for Ends {
    fn from(channel: Channel) -> Self {
        Ends::Channel(Box::new(channel))
    }
}

impl From<Mesh> for Ends {
    fn from(mesh: Mesh) -> Self {
        Ends::Mesh(mesh)
    }
}

/// A link that is one of the [`Ends`].
pub trait OneOfEnds: Link {
    /// Its name in messages.
    const NAME: &'static str;
    /// Set if it is a mesh.
    const IS_MESH: bool;

    /// Takes the link out, for `party` of `parties`.
    ///
    /// *Errors*: ends of another kind or of another party; returns them and a description.
    fn of(ends: Ends, party: Party, parties: u16) -> Result<Self, (Ends, String)>;
}

impl OneOfEnds for Channel {
    const NAME: &'static str = "a channel to one";
    const IS_MESH: bool = false;

    fn of(ends: Ends, _: Party, _: u16) -> Result<Self, (Ends, String)> {
        match ends {
            Ends::Channel(channel) => Ok(*channel),
            mesh @ Ends::Mesh(_) => Err((mesh, "a mesh".into())),
        }
    }
}

impl OneOfEnds for Mesh {
    const NAME: &'static str = "a mesh";
    const IS_MESH: bool = true;

    fn of(ends: Ends, party: Party, parties: u16) -> Result<Self, (Ends, String)> {
        match ends {
            Ends::Mesh(mesh) if mesh.party() == party.0 && mesh.party_count() == parties => Ok(mesh),
            Ends::Mesh(mesh) => {
                let got = format!("a mesh of party {} of {}", mesh.party(), mesh.party_count());
                Err((Ends::Mesh(mesh), got))
            }
            channel @ Ends::Channel(_) => Err((channel, "a channel to one".into())),
        }
    }
}

impl Ends {
    /// Tells all others that the session ends before it begins.
    async fn abort(self) {
        if let Ends::Mesh(mesh) = self {
            mesh.abort(None).await;
        }
    }

    /// Returns these ends with what the session needs, if that is valid; if not, tells all others that the session ends.
    async fn with<T>(self, needed: Result<T, ProtocolError>) -> Result<(Self, T), ProtocolError> {
        match needed {
            Ok(needed) => Ok((self, needed)),
            Err(error) => {
                self.abort().await;
                Err(error)
            }
        }
    }

    async fn into_link<P: Protocol<Link: OneOfEnds>>(
        self,
        party: Party,
        parties: u16,
    ) -> Result<P::Link, ProtocolError> {
        match P::Link::of(self, party, parties) {
            Ok(link) => Ok(link),
            Err((ends, got)) => {
                ends.abort().await;
                let expected = match P::Link::IS_MESH && got.starts_with(P::Link::NAME) {
                    true => format!("a mesh of party {party} of {parties}"),
                    false => format!("{}, which {} runs over", P::Link::NAME, P::NAME),
                };
                Err(ProtocolError::Input { what: "peers".into(), expected, got })
            }
        }
    }
}

/// A future of any type.
pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

type MakePlan = fn(Arc<Program>, u16, &dyn Any, SavedValues, &Wish) -> Result<Arc<dyn AnyPlan>, ProtocolError>;

type Fill =
    fn((Stock, u8), (&dyn Any, &Wish), Party, Ends, Prg, Box<dyn Progress>) -> Boxed<Result<Filled, ProtocolError>>;

/// A type-erased [`Protocol`]: its properties and its functions.
pub struct AnyProtocol {
    pub(crate) name: &'static str,
    pub(crate) adversary: Adversary,
    pub(crate) collusion: Option<Collusion>,
    pub(crate) parties: RangeInclusive<u16>,
    pub(crate) is_mesh: bool,
    pub(crate) reads_gates: bool,
    pub(crate) checks: &'static [Check],
    pub(crate) precision: Precision,
    pub(crate) stock: Option<StockKinds>,
    pub(crate) samples: &'static [Sample],
    pub(crate) link_decides: &'static [(&'static str, &'static [&'static str])],
    pub(crate) standard: fn() -> Box<dyn AnyConfig>,
    pub(crate) plan: MakePlan,
    pub(crate) order: fn(&OrderRequest, &dyn Any, u16) -> Result<Order, ProtocolError>,
    pub(crate) fill: Fill,
    pub(crate) is_low: fn(&Stock, u8) -> bool,
    pub(crate) notices: fn(&Store) -> Vec<Notice>,
    pub(crate) settle: fn(&mut Store, &Notice) -> Result<(), ProtocolError>,
}

/// Type-erased parameters.
pub(crate) trait AnyConfig: Send + Sync {
    fn set(&mut self, name: &str, value: &str) -> Result<(), UnknownParameter>;
    fn get(&self) -> Vec<(String, String)>;
    fn boxed(&self) -> Box<dyn AnyConfig>;
    fn equals(&self, other: &dyn Any) -> bool;
    fn adversary(&self) -> Adversary;
    fn stock(&self) -> Option<StockKinds>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// A program made ready for a type-erased protocol.
pub(crate) trait AnyPlan: Send + Sync {
    fn program(&self) -> &Arc<Program>;
    fn under(&self, job: JobTerms) -> Arc<dyn AnyPlan>;
    fn costs(&self) -> Result<Vec<PhaseFormulas>, ProtocolError>;
    fn most_received(&self, party: Party, phase: Phase) -> Option<u64>;
    fn alternatives(&self) -> Vec<Alternative>;
    fn own_stock(&self, rng: &mut dyn CryptoRng) -> Result<Option<Stock>, ProtocolError>;
    fn check_stock(&self, stock: &Stock) -> Result<(), ProtocolError>;
    fn open(
        &self,
        party: Party,
        ends: Ends,
        stock: Option<Stock>,
        rng: Prg,
        progress: Box<dyn Progress>,
    ) -> Boxed<Result<Box<dyn Seat>, ProtocolError>>;
}

/// One party's end of a session, over any link.
pub(crate) trait Seat: Send {
    fn prepare(&mut self) -> Step<'_, BoxedMaterial>;
    fn online<'a>(&'a mut self, material: BoxedMaterial, inputs: &'a [Bits]) -> Step<'a, Vec<Option<Bits>>>;
    fn run<'a>(&'a mut self, inputs: &'a [Bits]) -> Step<'a, Vec<Option<Bits>>>;
    fn report(&mut self, outputs: Vec<Option<Bits>>) -> Report;
    fn close(self: Box<Self>) -> Boxed<Result<(), ProtocolError>>;
    fn abort<'a>(self: Box<Self>, over: &'a ProtocolError) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

pub(crate) struct ConfigOf<P: Protocol>(pub(crate) P::Config);

struct PlanOf<P: Protocol> {
    job: Arc<Job<P>>,
    terms: Option<Arc<JobTerms>>,
    /// The names of the parameters that are `auto`.
    names: Vec<&'static str>,
    open: Option<Arc<OpenJob<P>>>,
}

struct SeatOf<L: Link> {
    session: Session<L>,
    role: BoxedRole<L>,
    party: Party,
    decided: BTreeMap<String, String>,
}

/// The parameters of a protocol. Those of another protocol are a caller's mistake.
fn typed<P: Protocol>(config: &dyn Any) -> Result<&P::Config, ProtocolError> {
    config.downcast_ref().ok_or_else(|| other_protocol::<P>("parameters"))
}

fn no_such_party<P: Protocol>(party: Party, parties: u16) -> ProtocolError {
    let range = if parties == 2 { "0 and 1".into() } else { format!("0 to {}", parties - 1) };
    ProtocolError::NoSuchParty { party, reason: format!("{} has parties {range}", P::NAME) }
}

fn other_protocol<P: Protocol>(what: &str) -> ProtocolError {
    let (expected, got) = (format!("those of {}", P::NAME), "another protocol's".into());
    ProtocolError::Input { what: what.into(), expected, got }
}

/// The hellos of all parties, in order.
fn in_order<L: Link>(session: &Session<L>, party: Party, own: Hello) -> Vec<Hello> {
    let mut hellos = session.hellos().to_vec();
    hellos.insert(hellos.len().min(party.0.into()), own);
    hellos
}

fn typed_stock<P: Protocol>(stock: Stock) -> Result<stock::Stock<P::Order>, ProtocolError> {
    let Stock { store, peer, order, top_up, fill_first, retries, job: _ } = stock;
    let order = *order.0.downcast().map_err(|_| {
        let (expected, got) = (P::NAME.into(), "another protocol".into());
        ProtocolError::Input { what: "protocol of a store".into(), expected, got }
    })?;
    Ok(stock::Stock { store, peer, order, top_up, fill_first, retries })
}

/// A [`Protocol`] over one of the [`Ends`], as all are.
pub trait Erased: Protocol<Link: OneOfEnds> {
    #[doc(hidden)]
    const ERASED: &'static AnyProtocol = &AnyProtocol {
        name: Self::NAME,
        adversary: Self::ADVERSARY,
        collusion: Self::COLLUSION,
        parties: Self::PARTIES,
        is_mesh: Self::Link::IS_MESH,
        reads_gates: Self::READS_GATES,
        checks: Self::CHECKS,
        precision: Self::PRECISION,
        stock: Self::STOCK,
        samples: Self::SAMPLES,
        link_decides: Self::LINK_DECIDES,
        standard: || Box::new(ConfigOf::<Self>(Self::standard())),
        plan: plan::<Self>,
        order: order::<Self>,
        fill: fill::<Self>,
        is_low: |stock, below| {
            stock.order.0.downcast_ref().is_none_or(|order| Self::is_low(&stock.store, order, below))
        },
        notices: Self::notices,
        settle: Self::settle,
    };
}

impl<P: Protocol<Link: OneOfEnds>> Erased for P {}

fn plan<P: Erased>(
    program: Arc<Program>,
    parties: u16,
    config: &dyn Any,
    saved: SavedValues,
    wish: &Wish,
) -> Result<Arc<dyn AnyPlan>, ProtocolError> {
    let config = typed::<P>(config)?.clone();
    let job = Job::new(Request { program, parties, config, saved })?;
    let job = Arc::new(job);
    let open = OpenJob::of_job(wish, &job)?.map(Arc::new);
    Ok(Arc::new(PlanOf::<P> { job, terms: None, names: wish.open.clone(), open }))
}

fn order<P: Erased>(request: &OrderRequest, config: &dyn Any, parties: u16) -> Result<Order, ProtocolError> {
    let config = typed::<P>(config)?;
    let program = request.program.as_ref().map(in_memory::<P>).transpose()?;
    let request = OrderRequest { program, ..request.clone() };
    Ok(Order(Box::new(P::order(&request, config, parties)?)))
}

fn fill<P: Erased>(
    (stock, below): (Stock, u8),
    (config, wish): (&dyn Any, &Wish),
    party: Party,
    ends: Ends,
    rng: Prg,
    progress: Box<dyn Progress>,
) -> Boxed<Result<Filled, ProtocolError>> {
    let config = typed::<P>(config).cloned();
    let (job, wish) = (stock.job.clone(), wish.clone());
    Box::pin(async move {
        let parties = if let Ends::Mesh(mesh) = &ends { mesh.party_count() } else { 2 };
        let filling =
            typed_stock::<P>(stock).and_then(|stock| Ok(Filling { config: config?, party, parties, stock, below }));
        let filling = filling.and_then(|filling| {
            let open = Open::<P, _>::new(&wish, parties, &filling.config, |config| Ok(config.clone()))?;
            let open = open.and_then(|open| open.with_store(&filling.stock.store));
            Ok((filling, open))
        });
        let (ends, (mut filling, open)) = ends.with(filling).await?;
        let link = ends.into_link::<P>(party, parties).await?;
        let hello = P::greet_filling(&filling).open_to(may_be_open::<P>(parties));
        let hello = if P::Link::IS_MESH { hello } else { hello.with_amounts((LOW_WATER, &["percent"]), &[below]) };
        let hello = job.iter().fold(hello, |hello, job| hello.under(job));
        let hello = open.iter().fold(hello, |hello, open| open.greet(hello));
        let mut session = link.open(rng, &hello, progress).await?;
        if let Some(open) = open {
            let order = &filling.stock.order;
            let loads = |config: &P::Config, hellos: &[Hello]| P::order_loads(config, order, hellos).ok();
            let chosen = open.choose(&in_order(&session, party, hello), loads).cloned();
            let reordered = chosen.and_then(|config| {
                P::reorder(&mut filling.stock.order, &config)?;
                filling.config = config;
                Ok(())
            });
            if let Err(error) = reordered {
                P::Link::abort(session, &error).await;
                return Err(error);
            }
        }
        let decided = values_of::<P>(&filling.config, &wish.open);
        match P::fill(&mut session, filling).await {
            Ok(filled) => {
                P::Link::close(session).await?;
                Ok(Filled { decided, ..filled })
            }
            Err(error) => {
                P::Link::abort(session, &error).await;
                Err(error)
            }
        }
    })
}

impl<P: Protocol> AnyConfig for ConfigOf<P> {
    fn set(&mut self, name: &str, value: &str) -> Result<(), UnknownParameter> {
        parameters::set(P::PARAMETERS, &mut self.0, name, value)
    }

    fn get(&self) -> Vec<(String, String)> {
        parameters::get(P::PARAMETERS, &self.0)
    }

    fn boxed(&self) -> Box<dyn AnyConfig> {
        Box::new(ConfigOf::<P>(self.0.clone()))
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(&self.0)
    }

    fn adversary(&self) -> Adversary {
        P::adversary(&self.0)
    }

    fn stock(&self) -> Option<StockKinds> {
        P::stock(&self.0)
    }

    fn as_any(&self) -> &dyn Any {
        &self.0
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        &mut self.0
    }
}

impl<P: Protocol> PlanOf<P> {
    fn hello(&self, party: Party) -> Hello {
        let hello = self.job.hello(party).open_to(may_be_open::<P>(self.job.request.parties));
        self.terms.iter().fold(hello, |hello, terms| hello.under(terms))
    }
}

impl<P: Protocol<Link: OneOfEnds>> AnyPlan for PlanOf<P> {
    fn program(&self) -> &Arc<Program> {
        &self.job.request.program
    }

    fn under(&self, job: JobTerms) -> Arc<dyn AnyPlan> {
        let (names, open) = (self.names.clone(), self.open.clone());
        Arc::new(PlanOf::<P> { job: self.job.clone(), terms: Some(Arc::new(job)), names, open })
    }

    fn costs(&self) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        let greeted = |hello| self.open.iter().fold(hello, |hello, open| open.greet(hello));
        let parties = 0..self.job.request.parties;
        let hellos: Vec<Hello> = parties.map(|party| greeted(self.hello(Party(party)))).collect();
        let job = self.open.as_ref().map_or_else(|| self.job.clone(), |open| open.expected());
        P::costs(&job, &hellos)
    }

    fn most_received(&self, party: Party, phase: Phase) -> Option<u64> {
        let hellos: Vec<Hello> = (0..self.job.request.parties).map(|party| self.hello(Party(party))).collect();
        let jobs = self.open.as_ref().map_or_else(|| vec![&self.job], |open| open.jobs().collect());
        let received = |job: &Arc<Job<P>>| {
            Some(P::costs(job, &hellos).ok()?[usize::from(party.0)][phase as usize]?.bytes_received)
        };
        jobs.into_iter().map(received).try_fold(0, |most, received| Some(most.max(received?)))
    }

    fn alternatives(&self) -> Vec<Alternative> {
        self.open.iter().flat_map(|open| open.alternatives()).collect()
    }

    fn own_stock(&self, rng: &mut dyn CryptoRng) -> Result<Option<Stock>, ProtocolError> {
        let own = P::own_stock(&self.job, rng)?;
        Ok(own.map(|stock::Stock { store, peer, order, top_up, fill_first, retries }| Stock {
            store,
            peer,
            order: Order(Box::new(order)),
            top_up,
            fill_first,
            retries,
            job: None,
        }))
    }

    fn check_stock(&self, stock: &Stock) -> Result<(), ProtocolError> {
        let order = stock.order.0.downcast_ref().ok_or_else(|| other_protocol::<P>("order of a store"))?;
        let stored = self.open.as_ref().and_then(|open| open.stored(&stock.store));
        P::check_stock(stored.as_ref().unwrap_or(&self.job), &stock.store, order)
    }

    fn open(
        &self,
        party: Party,
        ends: Ends,
        stock: Option<Stock>,
        rng: Prg,
        progress: Box<dyn Progress>,
    ) -> Boxed<Result<Box<dyn Seat>, ProtocolError>> {
        let (job, hello) = (self.job.clone(), self.hello(party));
        let names = self.names.clone();
        let open = match (&self.open, &stock) {
            (Some(open), Some(stock)) => open.with_store(&stock.store).map(Arc::new),
            (open, _) => open.clone(),
        };
        Box::pin(async move {
            let Request { program, parties, .. } = &job.request;
            let stock = match party.0 < *parties {
                true => stock.map(typed_stock::<P>).transpose(),
                false => Err(no_such_party::<P>(party, *parties)),
            };
            let (ends, stock) = ends.with(stock).await?;
            let (program, link) = (program.clone(), ends.into_link::<P>(party, *parties).await?);
            let terms = Terms { job, party, stock };
            let hello = P::greet(&terms, hello.describing(move || program.parts()));
            let hello = open.iter().fold(hello, |hello, open| open.greet(hello));
            let mut session = link.open(rng, &hello, progress).await?;
            let chosen = open.map(|open| open.choose(&in_order(&session, party, hello), job_loads).cloned());
            let terms = match chosen.transpose() {
                Ok(chosen) => Terms { job: chosen.unwrap_or_else(|| terms.job.clone()), ..terms },
                Err(error) => {
                    P::Link::abort(session, &error).await;
                    return Err(error);
                }
            };
            let decided = values_of::<P>(&terms.job.request.config, &names);
            match P::set_up(&mut session, terms).await {
                Ok(role) => Ok(Box::new(SeatOf { session, role, party, decided }) as Box<dyn Seat>),
                Err(error) => {
                    P::Link::abort(session, &error).await;
                    Err(error)
                }
            }
        })
    }
}

impl<L: Link> Seat for SeatOf<L> {
    fn prepare(&mut self) -> Step<'_, BoxedMaterial> {
        self.role.prepare(&mut self.session)
    }

    fn online<'a>(&'a mut self, material: BoxedMaterial, inputs: &'a [Bits]) -> Step<'a, Vec<Option<Bits>>> {
        self.role.online(&mut self.session, material, inputs)
    }

    fn run<'a>(&'a mut self, inputs: &'a [Bits]) -> Step<'a, Vec<Option<Bits>>> {
        self.role.run(&mut self.session, inputs)
    }

    fn report(&mut self, outputs: Vec<Option<Bits>>) -> Report {
        let (party, role, security) = (self.party, self.role.name(), self.role.security());
        let decided = self.decided.clone();
        Report { party, role, decided, outputs, phases: self.session.costs(), security }
    }

    fn close(self: Box<Self>) -> Boxed<Result<(), ProtocolError>> {
        let SeatOf { session, mut role, .. } = *self;
        Box::pin(async move {
            let closed = L::close(session).await;
            role.late_error().map_or(closed, Err)
        })
    }

    fn abort<'a>(self: Box<Self>, over: &'a ProtocolError) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(L::abort(self.session, over))
    }
}
