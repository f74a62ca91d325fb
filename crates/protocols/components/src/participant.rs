//! A party of a session, with its store: the same for both sides except for what they keep about each other.

use std::{collections::BTreeMap, sync::Arc};

use garblet_circuit::{Bits, Program};
use garblet_protocol::{error::ProtocolError, phase::Phase, session::Session};
use garblet_store::Store;

use crate::{
    config::{Config, Linking},
    linking::plan::Plan,
    pieces::material::Material,
    pieces::meeting,
    pieces::stock::Kind,
    run,
};

/// The material of a party and the store that it takes from.
pub struct Supplies {
    pub(crate) material: Arc<Material>,
    pub(crate) config: Config,
    pub(crate) store: Store,
}

/// The pieces that were taken for a run, by kind and identifier.
pub(crate) type Taken = BTreeMap<Kind, Vec<u64>>;

/// A party's side of the protocol: the steps in which the two differ.
pub trait Side: Sized + Send + 'static {
    /// The name of its role.
    const NAME: &'static str;
    /// The material that it has taken from its store for one run.
    type Prepared: Send + 'static;

    /// The secrets of the store, which are made at the first meeting.
    fn meet(session: &mut Session, store: &mut Store) -> impl Future<Output = Result<Self, ProtocolError>> + Send;

    /// Makes pieces together with the peer.
    fn fill(
        &mut self,
        session: &mut Session,
        supplies: &mut Supplies,
        shortage: &[(Kind, u64)],
    ) -> impl Future<Output = Result<(), ProtocolError>> + Send;

    /// Takes all pieces of a plan.
    fn take(
        &mut self,
        session: &mut Session,
        supplies: &mut Supplies,
        plan: Plan,
    ) -> Result<Self::Prepared, ProtocolError>;

    /// Steps 4 to 6.
    fn compute(
        &mut self,
        session: &mut Session,
        material: &Material,
        prepared: Self::Prepared,
        values: &[Bits],
    ) -> impl Future<Output = Result<Vec<Option<Bits>>, ProtocolError>> + Send;

    /// Steps 3 to 6 at once, in another order where that is faster; `None` to run them as usual.
    fn compute_at_once(
        &mut self,
        session: &mut Session,
        supplies: &mut Supplies,
        program: &Arc<Program>,
        values: &[Bits],
    ) -> impl Future<Output = Result<Option<Vec<Option<Bits>>>, ProtocolError>> + Send {
        let _ = (session, supplies, program, values);
        async { Ok(None) }
    }
}

/// A party of a session, with its store.
pub struct Participant<S> {
    pub(crate) side: S,
    supplies: Supplies,
    lost: u64,
}

impl<S: Side> Participant<S> {
    /// Step 1: the two stores agree on what both have.
    ///
    /// *Errors*: stores that were not filled together, or for something else; the connection's.
    pub async fn setup(
        session: &mut Session,
        material: Arc<Material>,
        config: Config,
        mut store: Store,
        peer: &str,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        meeting::bind(&mut store, &material, S::NAME, peer)?;
        let lost = meeting::reconcile(session, &mut store, &material).await?;
        let side = S::meet(session, &mut store).await?;
        let lost = lost.dropped.iter().map(|(_, count)| count).sum();
        Ok(Participant { side, supplies: Supplies { material, config, store }, lost })
    }

    /// Step 2: fills the stores: every kind below `below` percent of what the library says, up to all of it.
    ///
    /// *Errors*: the store's and the connection's.
    pub async fn prepare(&mut self, session: &mut Session, below: u8) -> Result<(), ProtocolError> {
        session.enter(Phase::Prepare);
        let shortage = meeting::shortage(&self.supplies.store, &self.supplies.material, below);
        self.side.fill(session, &mut self.supplies, &shortage).await
    }

    /// Step 3: chooses components for a program and takes them.
    ///
    /// *Errors*: [`NotPrepared`](garblet_protocol::error::NotPrepared) where something is missing and may not be made now.
    pub async fn build(&mut self, session: &mut Session, program: &Arc<Program>) -> Result<S::Prepared, ProtocolError> {
        run::check(program, self.supplies.material.garbling())?;
        session.enter(Phase::Build);
        let plan = |supplies: &Supplies| run::plan(&supplies.store, &supplies.material, supplies.config, program);
        let plan = match plan(&self.supplies)? {
            Ok(plan) => plan,
            Err(lacking) if self.supplies.config.top_up => {
                self.side.fill(session, &mut self.supplies, &run::top_up(&lacking)).await?;
                plan(&self.supplies)?.map_err(run::not_prepared)?
            }
            Err(lacking) => return Err(run::not_prepared(lacking)),
        };
        self.side.take(session, &mut self.supplies, plan)
    }

    /// Steps 4 to 6.
    ///
    /// *Shape*: `values` are this party's inputs in program order. Returns one entry per program output, `None` where it is not a recipient.
    ///
    /// *Errors*: inputs that do not fit; the connection's.
    pub async fn online(
        &mut self,
        session: &mut Session,
        prepared: S::Prepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        self.side.compute(session, &self.supplies.material, prepared, values).await
    }

    /// Steps 3 to 6, where the inputs are known with the program; the messages are the same.
    ///
    /// *Shape* and *errors*: as of [`build`](Participant::build) and [`online`](Participant::online).
    pub async fn run(
        &mut self,
        session: &mut Session,
        program: &Arc<Program>,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        if let Some(outputs) = self.side.compute_at_once(session, &mut self.supplies, program, values).await? {
            return Ok(outputs);
        }
        let prepared = self.build(session, program).await?;
        self.online(session, prepared, values).await
    }

    /// Says which links the next runs may use; the peer must say the same.
    pub fn set_linking(&mut self, linking: Linking) {
        self.supplies.config.linking = linking;
    }

    /// Pieces that were given up at the meeting because only one store had them.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The library with its components made ready.
    pub fn material(&self) -> &Material {
        &self.supplies.material
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.supplies.store
    }

    /// Ends the role and gives the store back.
    pub fn into_store(self) -> Store {
        self.supplies.store
    }
}
