//! Stores of prepared material for [`Protocol::Components`](crate::Protocol).

use std::sync::Arc;

use garblet_circuit::{Party, Program};
use garblet_net::{Channel, Hello};
use garblet_primitives::Prg;
use garblet_protocols::{PhaseCosts, Progress, Session, components};
use garblet_store::Store;
use rand::CryptoRng;

use crate::{config::Config, peer::Error};

/// A store, what it holds, and for whom.
pub struct Supply {
    /// What is prepared.
    pub library: components::Library,
    /// Where it is kept.
    pub store: Store,
    /// The peer: its fingerprint, or what stands for it where peers have no identities.
    pub peer: String,
    /// Whether the store is filled before a run, for instance because it is new.
    pub fill_first: bool,
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
    pub(crate) fn new(supply: Supply, config: &Config) -> Self {
        let Supply { library, store, peer, fill_first } = supply;
        let material = Arc::new(components::Material::new(library, config.components.garbling));
        Stocked { material, store, peer, fill_first }
    }

    /// A store in memory with what one run of a program needs.
    pub(crate) fn for_run(program: &Program, config: &Config, rng: &mut impl CryptoRng) -> Result<Self, Error> {
        let library = components::Library::of_program(program);
        let supply = Supply { library, store: Store::in_memory(rng)?, peer: String::new(), fill_first: true };
        Ok(Stocked::new(supply, config))
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

/// Fills a store, together with the peer's: of what there is less than `below` percent of what the library says, until there
/// is all. No program is needed: none is known.
///
/// *Errors*: a peer that has another library, misbehaves or is gone; a store that was filled for something else. What
/// was done until then is kept.
pub async fn fill(
    supply: Supply,
    party: Party,
    channel: Channel,
    config: Config,
    below: u8,
    rng: &mut impl CryptoRng,
    progress: Box<dyn Progress>,
) -> Result<Filled, Error> {
    let stocked = Stocked::new(supply, &config);
    let hello = Hello::new(config.protocol.name(), party.0, 2, [0; 32]).with("step", "prepare");
    let hello = config.parameters().iter().fold(hello, |hello, (name, value)| hello.with(name, value));
    let hello = hello.with("library", stocked.digest()).with("counts", stocked.material.counts());
    let hello = hello.with(LOW_WATER, below);
    let mut session = Session::open(channel, Prg::random(rng), &hello, progress).await?;
    match fill_session(&mut session, stocked, party, config, below).await {
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

async fn fill_session(
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
