//! Stores of prepared material, for [`Protocol::Components`](crate::Protocol), [`Protocol::Lego`](crate::Protocol) and the
//! protocols of several parties.

use std::sync::Arc;

use garblet_circuit::{Party, Program};
use garblet_net::{Channel, Hello, STEP};
use garblet_primitives::Prg;
use garblet_protocols::{PhaseCosts, Progress, Session, components, lego};
use garblet_store::Store;
use rand::CryptoRng;

use crate::{
    config::{Config, Protocol},
    peer::{Error, not_for_two},
};

/// A store, what it holds, and for whom.
pub struct Supply {
    /// What is prepared.
    pub contents: Contents,
    /// Where it is kept.
    pub store: Store,
    /// The peer: its fingerprint, or what stands for it where peers have no identities. Of several, all in order.
    pub peer: String,
    /// Whether the store is filled before a run, for instance because it is new. With runs: whether one is prepared if
    /// there is none.
    pub fill_first: bool,
    /// With gates: what a run reads from the store beside them, and what it leaves there.
    pub values: Values,
}

/// Values on wires that stay in the stores of both parties, known to neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// The name under which all outputs are kept, if they are.
    pub keep: Option<String>,
    /// Inputs that nobody gives.
    pub read: Vec<ReadInput>,
}

/// An input that is read from an output that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadInput {
    /// The input's port.
    pub port: String,
    /// The name under which outputs were kept.
    pub name: String,
    /// Which of them; if there is one only, it needs no name.
    pub output: Option<String>,
}

impl Values {
    /// The numbers of the inputs that are read.
    ///
    /// *Errors*: a port that the program does not have.
    pub(crate) fn inputs(&self, program: &Program) -> Result<Vec<usize>, Error> {
        let number = |read: &ReadInput| {
            program.inputs().iter().position(|input| input.port.name == read.port).ok_or_else(|| {
                let names: Vec<&str> = program.inputs().iter().map(|input| &input.port.name[..]).collect();
                let (what, expected) = ("that is read".into(), names.join(" or "));
                Error::Input { what, expected, got: format!("`{}`", read.port) }
            })
        };
        self.read.iter().map(number).collect()
    }

    /// What both parties must agree on: names, and that both mean the same values by them.
    pub(crate) fn greet(&self, hello: Hello, store: &Store) -> Hello {
        let hello = hello.with("keep", self.keep.as_deref().unwrap_or_default());
        self.read.iter().fold(hello, |hello, ReadInput { port, name, output }| {
            let output = output.as_ref().map_or(String::new(), |output| format!(".{output}"));
            let kept = lego::kept_mark(store, name).map_or("never kept".into(), |mark| format!("kept as {mark}"));
            hello.with(&format!("read {port}"), format!("{name}{output}, {kept}"))
        })
    }
}

/// What is prepared.
pub enum Contents {
    /// Components of a library.
    Components(components::Library),
    /// So many gates, inputs and outputs of any function. To run one, there is no need to say how many there are.
    Gates(lego::Amounts),
    /// Whole runs of programs, for the protocols of several parties.
    Runs,
}

impl Contents {
    /// The protocols that it is for.
    fn protocols(&self) -> &'static str {
        match self {
            Contents::Components(_) => components::NAME,
            Contents::Gates(_) => lego::NAME,
            Contents::Runs => "one of several parties",
        }
    }

    /// Refuses another protocol.
    pub(crate) fn check(&self, config: &Config) -> Result<(), Error> {
        let fits = match self {
            Contents::Components(_) => config.protocol == Protocol::Components,
            Contents::Gates(_) => config.protocol == Protocol::Lego,
            Contents::Runs => config.protocol.is_mesh(),
        };
        match fits {
            true => Ok(()),
            false => {
                let (expected, got) = (self.protocols().into(), config.protocol.to_string());
                Err(Error::Input { what: "protocol of a store".into(), expected, got })
            }
        }
    }
}

/// A supply with its components made ready.
pub(crate) struct Stocked {
    pub(crate) material: Arc<components::Material>,
    pub(crate) store: Store,
    pub(crate) peer: String,
    pub(crate) fill_first: bool,
}

/// What filling a store has come to.
pub struct Filled {
    /// The store.
    pub store: Store,
    /// Pieces that were given up because only one of the stores had them.
    pub lost: u64,
    /// What each phase cost.
    pub phases: PhaseCosts,
}

impl Stocked {
    pub(crate) fn new(
        library: components::Library,
        store: Store,
        peer: String,
        fill_first: bool,
        config: &Config,
    ) -> Self {
        let material = Arc::new(components::Material::new(library, config.components.garbling));
        Stocked { material, store, peer, fill_first }
    }

    /// An empty store for what one run of a program needs.
    pub(crate) fn for_run(program: &Program, config: &Config, store: Store) -> Self {
        Stocked::new(components::Library::of_program(program), store, String::new(), true, config)
    }

    pub(crate) fn digest(&self) -> String {
        self.material.digest().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What a hello says that begins a [`fill`]: below how much is filled, in percent.
const LOW_WATER: &str = "low-water";

/// Whether a peer that greets like this wants to [`fill`], and below how many percent.
pub fn wants_to_fill(hello: &Hello) -> Option<u8> {
    hello.parameter(LOW_WATER)?.parse().ok().filter(|below| (1..=100).contains(below))
}

/// Fills a store, together with the peer's: of what there is less than `below` percent of what its contents say, until there
/// is all. No program is needed: none is known.
///
/// *Errors*: a peer that fills its store with other contents, misbehaves or is gone; a store that was filled for something
/// else. What was done until then is kept.
pub fn fill(
    supply: Supply,
    party: Party,
    channel: Channel,
    config: Config,
    below: u8,
    mut rng: impl CryptoRng,
    progress: Box<dyn Progress>,
) -> impl Future<Output = Result<Filled, Error>> + Send {
    fill_seeded(supply, party, channel, config, below, Prg::random(&mut rng), progress)
}

async fn fill_seeded(
    supply: Supply,
    party: Party,
    channel: Channel,
    config: Config,
    below: u8,
    rng: Prg,
    progress: Box<dyn Progress>,
) -> Result<Filled, Error> {
    supply.contents.check(&config)?;
    let hello = Hello::new(config.protocol.name(), party.0, 2, [0; 32]).with(STEP, "prepare");
    let hello = config.parameters().iter().fold(hello, |hello, (name, value)| hello.with(name, value));
    let Supply { contents, store, peer, .. } = supply;
    let filling = match contents {
        Contents::Components(library) => Filling::Components(Stocked::new(library, store, peer, false, &config)),
        Contents::Gates(amounts) => Filling::Gates(amounts, store, peer),
        Contents::Runs => return Err(not_for_two(&config)),
    };
    let hello = match &filling {
        Filling::Components(stocked) => {
            hello.with("library", stocked.digest()).with("counts", stocked.material.counts())
        }
        Filling::Gates(lego::Amounts { gates, inputs, input_pairs, outputs }, ..) => {
            hello.with("amounts", format!("{gates}, {inputs}, {input_pairs}, {outputs}"))
        }
    };
    let hello = hello.with(LOW_WATER, below);
    let mut session = Session::open(channel, rng, &hello, progress).await?;
    let filled = match filling {
        Filling::Components(stocked) => fill_components(&mut session, stocked, party, config, below).await,
        Filling::Gates(amounts, store, peer) => {
            fill_gates(&mut session, (store, &peer), party, config.lego, amounts, below).await
        }
    };
    match filled {
        Ok((store, lost)) => {
            let phases = session.costs();
            session.close().await?;
            Ok(Filled { store, lost, phases })
        }
        Err(error) => {
            session.abort().await;
            Err(error)
        }
    }
}

/// A store that is about to be filled.
enum Filling {
    Components(Stocked),
    Gates(lego::Amounts, Store, String),
}

async fn fill_components(
    session: &mut Session,
    stocked: Stocked,
    party: Party,
    config: Config,
    below: u8,
) -> Result<(Store, u64), Error> {
    let Stocked { material, store, peer, .. } = stocked;
    if party == components::GARBLER {
        let mut role = components::Garbler::setup(session, material, config.components, store, &peer).await?;
        role.prepare(session, below).await?;
        let lost = role.lost();
        Ok((role.into_store(), lost))
    } else {
        let mut role = components::Evaluator::setup(session, material, config.components, store, &peer).await?;
        role.prepare(session, below).await?;
        let lost = role.lost();
        Ok((role.into_store(), lost))
    }
}

async fn fill_gates(
    session: &mut Session,
    (store, peer): (Store, &str),
    party: Party,
    config: lego::Config,
    amounts: lego::Amounts,
    below: u8,
) -> Result<(Store, u64), Error> {
    if party == lego::CONSTRUCTOR {
        let mut role = lego::Constructor::meet(session, config, store, peer).await?;
        if let Some(short) = amounts.short_of(&role.stock(), below) {
            role.fill(session, &lego::Order::new(short, config)?).await?;
        }
        let lost = role.lost();
        Ok((role.into_store().ok_or_else(no_store)?, lost))
    } else {
        let mut role = lego::Evaluator::meet(session, config, store, peer).await?;
        if let Some(short) = amounts.short_of(&role.stock(), below) {
            role.fill(session, &lego::Order::new(short, config)?).await?;
        }
        let lost = role.lost();
        Ok((role.into_store().ok_or_else(no_store)?, lost))
    }
}

/// A role that has met its peer with a store has it.
fn no_store() -> Error {
    Error::Material { what: "store", expected: "the one that was given".into(), got: "none".into() }
}
