//! `components` as a [`Protocol`].

use std::{ops::RangeInclusive, sync::Arc};

use garblet_circuit::{Bits, Party, ScheduleDigest};
use garblet_garble::order_of_gates;
use garblet_net::{COUNTS, Channel, Hello, SCHEDULE};
use garblet_store::Store;
use rand_core::CryptoRng;

use crate::{
    Config, Evaluator, EvaluatorSide, GARBLER, Garbler, GarblerSide, Library, Linking, Material, NAME, Participant,
    communication, cost, participant::Side, pieces::meeting::bound_as, run,
};
use garblet_protocol::{
    Adversary, Phase, Protocol, ProtocolError, Role, Security, Session,
    checks::hex,
    choice::{self, Loads},
    parameters::{Parameter, any_hash, any_scheme, named, ot_width},
    protocol::{
        BoxedRole, Filling, Job, OrderRequest, PhaseFormulas, Precision, Request, Sample, Step, Terms, tabulate,
    },
    stock::{Filled, Stock, StockKinds, yes_or_no},
};

/// Components garbled before the function is known and linked when it is, two parties, semi-honest.
pub struct Components;

const LINKINGS: [(&str, Linking); 3] =
    [("cheapest", Linking::Cheapest), ("keyed", Linking::Keyed), ("standard", Linking::Standard)];

impl Protocol for Components {
    type Link = Channel;
    type Config = Config;
    /// No plan yet: the components that serve a program are known when the stores are.
    type Plan = ();
    type Order = Library;

    const NAME: &'static str = NAME;
    const ADVERSARY: Adversary = Adversary::SemiHonest;
    const PARTIES: RangeInclusive<u16> = 2..=2;
    const PARAMETERS: &'static [Parameter<Config>] =
        &[any_scheme!(), any_hash!(), named!("links", "cheapest, keyed or standard", linking, LINKINGS), ot_width!()];
    const LINK_DECIDES: &'static [(&'static str, &'static [&'static str])] =
        &[("scheme", &["half-gates", "three-halves"])];
    const SAMPLES: &'static [Sample] = &[&[], &[("links", "keyed")]];
    const PRECISION: Precision = Precision::Mean(
        "drawing on stores, which say what there is to do ahead; templates in them save bytes, and party 0 may wait once more",
    );
    const STOCK: Option<StockKinds> = Some(StockKinds::Library);

    fn plan(_: &Request<Self>) -> Result<(), ProtocolError> {
        Ok(())
    }

    fn schedule((): &()) -> Option<ScheduleDigest> {
        Some(order_of_gates())
    }

    fn costs(job: &Job<Self>, _: &[Hello]) -> Result<Vec<PhaseFormulas>, ProtocolError> {
        let Request { program, config, .. } = &job.request;
        let material = Material::new(Library::of_program(program), config.garbling);
        let online = |party| communication(&material, *config, program, party);
        let online = [online(Party(0))?, online(Party(1))?];
        Ok(tabulate(2, |party, phase| (phase == Phase::Online).then(|| online[usize::from(party.0)])))
    }

    fn loads(job: &Job<Self>, hellos: &[Hello]) -> Result<Vec<Loads>, ProtocolError> {
        let Request { program, config, .. } = &job.request;
        let mut costs = Self::costs(job, hellos)?;
        let ands = Library::of_program(program).and_count();
        for (party, costs) in (0..).zip(&mut costs) {
            costs[Phase::Prepare as usize] = Some(cost::tables(config.garbling, ands, Party(party)));
        }
        Ok(choice::loads(costs, |party, phase| cost::work(config.garbling, ands, party, phase)))
    }

    fn order_loads(config: &Config, order: &Library, _: &[Hello]) -> Result<Vec<Loads>, ProtocolError> {
        let (garbling, ands) = (config.garbling, order.and_count());
        let tables = |party, phase| (phase == Phase::Prepare).then(|| cost::tables(garbling, ands, party));
        Ok(choice::loads(tabulate(2, tables), |party, phase| cost::work(garbling, ands, party, phase)))
    }

    fn bound_as(config: &Config) -> Option<String> {
        Some(bound_as(config.garbling))
    }

    fn own_stock(job: &Job<Self>, rng: &mut dyn CryptoRng) -> Result<Option<Stock<Library>>, ProtocolError> {
        let order = Library::of_program(&job.request.program);
        let store = Store::in_memory(&mut { rng })?;
        Ok(Some(Stock { store, peer: String::new(), order, top_up: false, fill_first: true, retries: None }))
    }

    fn greet(terms: &Terms<Self>, hello: Hello) -> Hello {
        let Some(stock) = &terms.stock else { return hello };
        hello.with("library", hex(&stock.order.digest())).with("top-up", yes_or_no(stock.top_up))
    }

    fn set_up<'a>(session: &'a mut Session, terms: Terms<Self>) -> Step<'a, BoxedRole<Channel>> {
        Box::pin(async move {
            let Terms { job, party, stock } = terms;
            let Some(Stock { store, peer, order, top_up, fill_first, .. }) = stock else {
                let (expected, got) = ("a store of components".into(), "none".into());
                return Err(ProtocolError::Stored { what: "components", expected, got });
            };
            let config = Config { top_up, ..job.request.config };
            let material = Arc::new(Material::new(order, config.garbling));
            let role: BoxedRole<Channel> = match party == GARBLER {
                true => {
                    let role = Garbler::setup(session, material, config, store, &peer).await?;
                    Box::new(Componentwise { role, job, fill_first })
                }
                false => {
                    let role = Evaluator::setup(session, material, config, store, &peer).await?;
                    Box::new(Componentwise { role, job, fill_first })
                }
            };
            Ok(role)
        })
    }

    fn order(request: &OrderRequest, _: &Config, _: u16) -> Result<Library, ProtocolError> {
        let mut library = match &request.library {
            Some(file) => Library::load(file)?,
            None => Library::new(),
        };
        for (name, count) in &request.amounts {
            if !library.set_count(name, *count) {
                let mut known: Vec<&str> = library.types().iter().map(|ty| &ty.name[..]).collect();
                known.push(crate::INPUTS);
                return Err(ProtocolError::Order { expected: known.join(", "), got: format!("`{name}`") });
            }
        }
        Ok(library)
    }

    fn check_stock(job: &Job<Self>, store: &Store, order: &Library) -> Result<(), ProtocolError> {
        let Request { program, config, .. } = &job.request;
        let material = Material::new(order.clone(), config.garbling);
        run::plan(store, &material, *config, program)?.map(drop).map_err(run::not_prepared)
    }

    fn greet_filling(filling: &Filling<Self>) -> Hello {
        let library = &filling.stock.order;
        let hello = filling.hello().with(SCHEDULE, order_of_gates());
        hello
            .with("library", hex(&library.digest()))
            .with_amounts((COUNTS, &["(digest of all amounts)"]), &[library.counts()])
    }

    fn fill<'a>(session: &'a mut Session, filling: Filling<Self>) -> Step<'a, Filled> {
        Box::pin(async move {
            match filling.party == GARBLER {
                true => fill::<GarblerSide>(session, filling).await,
                false => fill::<EvaluatorSide>(session, filling).await,
            }
        })
    }
}

/// Fills the store of a side, as [`Protocol::fill`].
async fn fill<S: Side>(session: &mut Session, filling: Filling<Components>) -> Result<Filled, ProtocolError> {
    let Filling { config, stock: Stock { store, peer, order, .. }, below, .. } = filling;
    let material = Arc::new(Material::new(order, config.garbling));
    let mut role = Participant::<S>::setup(session, material, config, store, &peer).await?;
    role.prepare(session, below).await?;
    let lost = role.lost();
    Ok(Filled::new(role.into_store(), lost, session.costs()))
}

/// A role of `components`, which serves any program, with the one of this run.
struct Componentwise<S> {
    role: Participant<S>,
    job: Arc<Job<Components>>,
    /// Set if the stores are filled before a run.
    fill_first: bool,
}

impl<S: Side> Componentwise<S> {
    async fn fill_first(&mut self, session: &mut Session) -> Result<(), ProtocolError> {
        if self.fill_first { self.role.prepare(session, 100).await } else { Ok(()) }
    }
}

impl<S: Side> Role for Componentwise<S> {
    type Prepared = S::Prepared;
    const NAME: &'static str = S::NAME;

    fn security(&self) -> Security {
        self.role.material().security()
    }

    async fn prepare(&mut self, session: &mut Session) -> Result<Self::Prepared, ProtocolError> {
        self.fill_first(session).await?;
        self.role.build(session, &self.job.request.program).await
    }

    async fn online(
        &mut self,
        session: &mut Session,
        prepared: Self::Prepared,
        inputs: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        self.role.online(session, prepared, inputs).await
    }

    async fn run(&mut self, session: &mut Session, inputs: &[Bits]) -> Result<Vec<Option<Bits>>, ProtocolError> {
        self.fill_first(session).await?;
        self.role.run(session, &self.job.request.program, inputs).await
    }
}
