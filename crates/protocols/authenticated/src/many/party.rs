//! A party: the phases of a run.

use std::sync::Arc;

use garblet_circuit::{Bits, Party};
use garblet_net::Mesh;
use garblet_protocol::{
    MeshSession, Phase, ProtocolError, Role, Security,
    conduct::{Conduct, Honest},
    kept::{self, Part},
    party_io,
    stock::SavedValues,
};
use garblet_store::{IdSet, Store};

use super::{
    Step, build::Built, ground::Ground, plan::Plan, prepare::ots, saved::Read, stock::Stock, supply::Supply,
    wires::KeptWires,
};
use crate::{amounts::Amounts, config::Build};

/// A party of a session.
pub struct Member<K = Honest> {
    plan: Arc<Plan>,
    pub(super) ground: Ground<K>,
    /// Set if a run makes what the store lacks.
    top_up: bool,
    saved: SavedValues,
    /// The most runs that were to keep outputs and did not end.
    retries: u32,
    /// The number of runs that were to keep outputs and have begun.
    keeps: u64,
    /// The reason why outputs were not kept.
    unsaved: Option<ProtocolError>,
}

/// A store, and the use that runs make of it.
pub struct Drawing<'a> {
    /// The store.
    pub store: Store,
    /// The names of the other parties in order.
    pub peers: &'a str,
    /// Set if a run makes what the store lacks. All parties must set it.
    pub top_up: bool,
    /// The values that runs read and keep.
    pub saved: SavedValues,
    /// The most runs that were to keep outputs and did not end.
    pub retries: u32,
}

/// The material of one run, before it is joined to the function. A run consumes it.
pub struct Drawn {
    supply: Supply,
    read: Read,
    /// The number of runs of the session that were to keep outputs and had begun.
    keeps: u64,
}

impl Drawn {
    /// The pieces taken from a store, by kind; empty if everything was made for the run.
    pub fn pieces(&self) -> Vec<(&'static str, IdSet)> {
        self.supply.pieces()
    }
}

/// A party's preparation of one run, which consumes it.
pub struct Prepared {
    built: Built,
    /// The number of runs that were to keep outputs and had begun when it was made.
    keeps: u64,
}

impl<K: Conduct<Step>> Member<K> {
    /// Sets a party up. Prepared material stays in memory.
    ///
    /// *Errors*: a party that misbehaves; the connections'.
    pub async fn set_up(
        session: &mut MeshSession,
        plan: Arc<Plan>,
        party: Party,
        conduct: K,
    ) -> Result<Self, ProtocolError> {
        plan.check_saved(&SavedValues::default())?;
        let ground = Ground::set_up(session, &plan, party, conduct).await?;
        Ok(Member::new(plan, ground))
    }

    fn new(plan: Arc<Plan>, ground: Ground<K>) -> Self {
        let saved = SavedValues::default();
        Member { plan, ground, top_up: false, saved, retries: kept::RETRIES, keeps: 0, unsaved: None }
    }

    /// Sets a party up with a store, from which runs draw their triples and masks, and in which they may keep outputs.
    ///
    /// *Errors*: also stores that were not filled together, or for something else, or whose last test is not settled; a name that cannot be used; a plan that
    /// keeps outputs where the values do not, or the reverse; outputs of different runs under a name that is read.
    pub async fn meet(
        session: &mut MeshSession,
        plan: Arc<Plan>,
        party: Party,
        Drawing { store, peers, top_up, saved, retries }: Drawing<'_>,
        conduct: K,
    ) -> Result<Self, ProtocolError> {
        plan.check_saved(&saved)?;
        let agreed = (plan.setting(), plan.digest());
        let mut ground = Ground::meet(session, agreed, party, (store, peers), conduct).await?;
        if saved != SavedValues::default() {
            ground.meet_kept(session, &saved).await?;
        }
        Ok(Member { top_up, saved, retries, ..Member::new(plan, ground) })
    }

    /// The end of a run that keeps outputs, with its wires.
    ///
    /// *Errors*: why they are not kept. This party has its outputs even so.
    async fn keep(
        &mut self,
        session: &mut MeshSession,
        (name, run): (&str, u64),
        outputs: &[Option<Bits>],
        wires: KeptWires,
    ) -> Result<(), ProtocolError> {
        let written = match self.plan.has_panicked(outputs) {
            true => Ok(Part::Nothing),
            false => self.put_pending(name, run, wires).map(|()| Part::Written),
        };
        let has = *written.as_ref().unwrap_or(&Part::Failed);
        let stock = self.ground.stock.as_mut().ok_or_else(kept::no_store)?;
        let conduct = &mut self.ground.conduct;
        let touch = |peer: u16, word: &mut [u8]| conduct.touch(Step::Kept, peer.into(), word);
        let concluded = kept::among::conclude(session, &mut stock.store, (name, has), touch).await;
        // The disk's error is more informative than that of a party that left because of it.
        written.and(concluded)
    }

    fn put_pending(&mut self, name: &str, run: u64, wires: KeptWires) -> Result<(), ProtocolError> {
        let state = self.ground.kept_state(&self.plan, run, wires)?;
        let stock = self.ground.stock.as_mut().ok_or_else(kept::no_store)?;
        Ok(stock.store.set_state(&kept::pending_place(name), state)?)
    }

    /// The amounts in the store; nothing without a store.
    pub fn stock(&self) -> Amounts {
        self.ground.stock.as_ref().map(Stock::has).unwrap_or_default()
    }

    /// Ends the role and returns its store, if it has one.
    pub fn into_store(self) -> Option<Store> {
        self.ground.stock.map(|stock| stock.store)
    }

    /// Makes these amounts and adds them to the store, batch by batch.
    ///
    /// *Errors*: somebody who cheats, and the store is given up; the connections' and the store's. Complete batches stay.
    pub async fn fill(&mut self, session: &mut MeshSession, amounts: Amounts) -> Result<(), ProtocolError> {
        self.ground.fill(session, self.plan.setting(), amounts).await
    }

    /// The first part of [`Role::prepare`]: makes the material of one run, or takes it from the store. Sends nothing that depends on it.
    ///
    /// *Errors*: as [`Role::prepare`].
    pub async fn draw(&mut self, session: &mut MeshSession) -> Result<Drawn, ProtocolError> {
        // The outputs were not kept, and the value under their name is older.
        if let Some(error) = self.unsaved.take() {
            return Err(error);
        }
        if let (Some(name), Some(stock)) = (&self.saved.keep, &self.ground.stock) {
            kept::check(&stock.store, name, self.retries)?;
        }
        self.ground.check_sound()?;
        let read = self.ground.read_kept(&self.plan, &self.saved)?;
        let supply = self.supply(session).await?;
        Ok(Drawn { supply, read, keeps: self.keeps })
    }

    /// The second part: does all work that can be done before the inputs are known.
    ///
    /// *Errors*: somebody who cheats, and the store is given up; the connections'.
    pub async fn build(&mut self, session: &mut MeshSession, drawn: Drawn) -> Result<Prepared, ProtocolError> {
        let Drawn { supply, read, keeps } = drawn;
        let built = self.ground.build(session, &self.plan, (supply, read)).await;
        Ok(Prepared { built: self.ground.revoked(built)?, keeps })
    }

    /// Makes the triples and masks of a run, or takes them from the store.
    async fn supply(&mut self, session: &mut MeshSession) -> Result<Supply, ProtocolError> {
        session.enter(Phase::Prepare);
        let amounts = self.plan.amounts();
        if let Some(stock) = &self.ground.stock {
            let lacks = stock.lacks(amounts);
            if self.top_up && lacks != Amounts::default() {
                self.fill(session, lacks).await?;
            }
        }
        if let Some(stock) = &mut self.ground.stock {
            return stock.take(self.plan.parties(), amounts);
        }
        let ands = amounts.triples as usize;
        let mut supply = match self.plan.config().build {
            Build::Stream => Supply::in_lots(session, &self.plan)?,
            Build::Ahead => Supply::with_room(self.plan.parties(), ands, amounts.masks as usize),
        };
        let batches = self.plan.batches();
        self.ground.begin_ots(session, self.plan.setting(), ots(&batches)).await?;
        session.enter(Phase::Prepare);
        let mut done = 0;
        for (batch, masks) in batches {
            // Batches may have some more than is needed.
            let triples = batch.map_or(0, |batch| (batch.triples as usize).min(ands - done));
            self.ground.make(session, (batch, triples, masks as usize), &mut supply).await?;
            done += triples;
            session.advance(done as u64, ands as u64);
        }
        self.ground.rooms.clear();
        Ok(supply)
    }
}

impl<K: Conduct<Step>> Role<Mesh> for Member<K> {
    type Prepared = Prepared;
    const NAME: &'static str = "party";

    fn security(&self) -> Security {
        match &self.ground.stock {
            Some(stock) => self.plan.security(stock.insecure()),
            None => self.plan.stated_security(),
        }
    }

    async fn prepare(&mut self, session: &mut MeshSession) -> Result<Prepared, ProtocolError> {
        let drawn = self.draw(session).await?;
        self.build(session, drawn).await
    }

    async fn online(
        &mut self,
        session: &mut MeshSession,
        prepared: Prepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        if let Some(error) = self.unsaved.take() {
            return Err(error);
        }
        let Prepared { built, keeps } = prepared;
        kept::check_fresh(&self.saved, keeps, self.keeps)?;
        let name = self.saved.keep.clone();
        if let Some(name) = &name {
            // A run whose input does not fit is not counted.
            party_io::own_input(self.plan.program(), self.ground.party, values)?;
            let stock = self.ground.stock.as_mut().ok_or_else(kept::no_store)?;
            kept::begin(&mut stock.store, name, self.retries)?;
            self.keeps += 1;
        }
        let run = built.run;
        let computed = self.ground.compute_and_keep(session, &self.plan, built, values).await;
        let (outputs, wires) = self.ground.revoked(computed)?;
        if let Some(name) = &name {
            self.unsaved = self.keep(session, (name, run), &outputs, wires).await.err();
        }
        Ok(outputs)
    }

    fn late_error(&mut self) -> Option<ProtocolError> {
        self.unsaved.take()
    }
}
