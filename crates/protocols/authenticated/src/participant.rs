//! A party of a session: its side of the protocol, the plan that it runs, and its stock.

use std::{marker::PhantomData, sync::Arc};

use garblet_circuit::Bits;
use garblet_protocol::{
    Phase, Role, Security, Session,
    conduct::{Conduct, Honest},
    error::ProtocolError,
    kept::{self, Part},
    party_io,
    stock::{ReadInput, SavedValues},
};
use garblet_store::{IdSet, Store};

use crate::{
    GARBLER, Step,
    amounts::Amounts,
    build::{GateShares, InputMasks},
    config::{Build, Config},
    ground::Ground,
    online::{evaluator::EvaluatorSide, garbler::GarblerSide},
    others::{Dealing, FOR_OTHERS, Nothing},
    plan::{Plan, ordered_batches, ots},
    secrets::Secrets,
    shares::{Shares, Triples},
    side::{Computed, Read, Side, Waiting, Work},
    stock::{pieces::GROUP, saved, store::Stock},
    supply::Supply,
};

/// Party 0: garbles.
pub type Garbler<C = Honest> = Participant<GarblerSide, C>;
/// Party 1: evaluates.
pub type Evaluator<C = Honest> = Participant<EvaluatorSide, C>;

/// A party that is connected with its peer, for any program.
pub struct Participant<S, C> {
    pub(crate) ground: Ground<C>,
    pub(crate) config: Config,
    pub(crate) side: PhantomData<S>,
}

impl<S: Side, C: Conduct<Step>> Participant<S, C> {
    /// Sets up OTs in both directions. Prepared material stays in memory.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn setup(session: &mut Session, config: Config, mut conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let secrets = Secrets::set_up(session, S::PARTY, config, &mut conduct).await?;
        let ground = Ground::agree(session, &secrets, S::PARTY, config, conduct).await?;
        Ok(Participant { ground, config, side: PhantomData })
    }

    /// Meets the peer with a store, which keeps all prepared material. Only the first meeting has something to set up.
    ///
    /// *Errors*: also stores that were not filled together, or for something else, or whose last check is not settled.
    pub async fn meet(
        session: &mut Session,
        config: Config,
        (store, peer): (Store, &str),
        mut conduct: C,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let mut stock = Stock::meet(session, store, config, S::PARTY, peer).await?;
        if !stock.same {
            let secrets = Secrets::set_up(session, S::PARTY, config, &mut conduct).await;
            let secrets = stock.revoked(secrets)?;
            stock.replace(secrets)?;
        }
        let kept = stock.kept.as_ref().ok_or_else(kept::no_store)?;
        let mut ground = Ground::new(session, &kept.secrets, S::PARTY, config, stock.meeting, conduct)?;
        ground.insecure = kept.insecure;
        ground.stock = Some(stock);
        Ok(Participant { ground, config, side: PhantomData })
    }

    /// The amounts in the store; nothing without a store.
    pub fn stock(&self) -> Amounts {
        self.ground.stock.as_ref().map(Stock::has).unwrap_or_default()
    }

    /// Pieces, of sixteen triples or masks each, that were discarded at the meeting because only one store had them.
    pub fn lost(&self) -> u64 {
        self.ground.stock.as_ref().map_or(0, |stock| stock.lost)
    }

    /// Ends the role and returns its store, if it has one.
    pub fn into_store(self) -> Option<Store> {
        self.ground.stock.map(|stock| stock.store)
    }

    /// The store, if it has one.
    pub fn store(&mut self) -> Option<&mut Store> {
        self.ground.stock.as_mut().map(|stock| &mut stock.store)
    }

    /// Makes these amounts and adds them to the store, batch by batch.
    ///
    /// *Errors*: a peer that cheats, and the store is given up; the connection's and the store's. Complete batches stay.
    pub async fn fill(&mut self, session: &mut Session, amounts: Amounts) -> Result<(), ProtocolError> {
        let batches = ordered_batches(self.config, amounts);
        let triples = amounts.triples.next_multiple_of(GROUP as u64);
        let begun = self.ground.begin_ots(session, self.config, ots(&batches)).await;
        self.ground.revoked(begun)?;
        session.enter(Phase::Prepare);
        let mut done = 0;
        for (batch, masks) in batches {
            let made = self.ground.make(session, batch, masks as usize).await;
            let made = self.ground.revoked(made)?;
            self.ground.stock.as_mut().ok_or_else(kept::no_store)?.put(&made)?;
            self.ground.room = made.shares;
            done += batch.map_or(0, |batch| batch.triples);
            session.advance(done.min(triples), triples);
        }
        self.ground.room = Shares::default();
        Ok(())
    }

    /// Makes the material of one run, or takes it from the store.
    async fn draw(&mut self, session: &mut Session, plan: &Plan, top_up: bool) -> Result<Supply, ProtocolError> {
        self.ground.check_sound()?;
        if let Some(stock) = &mut self.ground.stock {
            let lacks = stock.lacks(plan.amounts());
            if top_up && lacks != Amounts::default() {
                self.fill(session, lacks).await?;
            }
            session.enter(Phase::Prepare);
            let pieces = self.ground.stock.as_mut().ok_or_else(kept::no_store)?.take(plan.amounts())?;
            return Ok(Supply::stored(pieces));
        }
        let (ands, mut done, batches) = (plan.and_count(), 0, plan.batches());
        self.ground.begin_ots(session, self.config, ots(&batches)).await?;
        session.enter(Phase::Prepare);
        let triples: u64 = batches.iter().filter_map(|(batch, _)| batch.map(|batch| batch.triples)).sum();
        let mut supply = match plan.config().build {
            Build::Stream if triples > 0 => Supply::in_lots(session, plan)?,
            _ => Supply::with_room(ands.min(triples) as usize, plan.amounts().masks as usize),
        };
        for (batch, masks) in batches {
            let mut made = self.ground.make(session, batch, masks as usize).await?;
            // Batches may have some more than is needed.
            made.triples = made.triples.min((ands - done) as usize);
            supply.add(&made)?;
            done += made.triples as u64;
            self.ground.room = made.shares;
            session.advance(done, ands);
        }
        self.ground.room = Shares::default();
        Ok(supply)
    }

    /// Does all work that can be done before the inputs are known.
    pub(crate) async fn build(
        &mut self,
        session: &mut Session,
        plan: &Plan,
        mut supply: Supply,
        read: Read,
    ) -> Result<Prepared<S::Built>, ProtocolError> {
        self.ground.check_sound()?;
        session.enter(Phase::Build);
        let ground = &mut self.ground;
        if plan.config().build == Build::Ahead {
            let work = Work::Built(S::build(ground, session, plan, supply, &read).await?);
            return Ok(Prepared { work, keeps: 0 });
        }
        let inputs = InputMasks::new(plan, supply.inputs(plan)?);
        let (gates, triples) = (GateShares::default(), Triples::default());
        let (_, own_masks) = ground.open_masks(session, &gates, &triples, Some(&inputs)).await?;
        let run = ground.next_run();
        let work = Work::Waiting(Box::new(Waiting { supply, inputs, own_masks, read, run }));
        Ok(Prepared { work, keeps: 0 })
    }
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
///
/// One preparation gives one answer:
///
/// ```
/// use garblet_authenticated::{Prepared, Run, Side};
/// use garblet_circuit::Bits;
/// use garblet_protocol::{ProtocolError, Role, Session, conduct::Honest};
///
/// type Answer = Result<Vec<Option<Bits>>, ProtocolError>;
///
/// async fn once<S: Side>(run: &mut Run<S, Honest>, session: &mut Session, built: Prepared<S::Built>, x: &[Bits]) -> Answer {
///     run.online(session, built, x).await
/// }
/// ```
///
/// A second answer would open labels of a second input, and does not compile:
///
/// ```compile_fail,E0382
/// use garblet_authenticated::{Prepared, Run, Side};
/// use garblet_circuit::Bits;
/// use garblet_protocol::{ProtocolError, Role, Session, conduct::Honest};
///
/// type Answer = Result<Vec<Option<Bits>>, ProtocolError>;
///
/// async fn twice<S: Side>(run: &mut Run<S, Honest>, session: &mut Session, built: Prepared<S::Built>, x: &[Bits]) -> Answer {
///     run.online(session, built, x).await?;
///     run.online(session, built, x).await
/// }
/// ```
///
/// A preparation cannot be copied either:
///
/// ```compile_fail,E0277
/// use garblet_authenticated::{Prepared, Side};
///
/// fn copied<S: Side>(built: &Prepared<S::Built>) -> Prepared<S::Built> {
///     Clone::clone(built)
/// }
/// ```
pub struct Prepared<B> {
    pub(crate) work: Work<B>,
    /// The number of runs of the session that were to keep outputs and had begun when it was drawn.
    keeps: u64,
}

/// A party with a program of the session. If the program reads or keeps values, the party has compared them with the peer's: see [`Run::saving`].
pub struct Run<S, C> {
    participant: Participant<S, C>,
    plan: Arc<Plan>,
    saved: SavedValues,
    top_up: bool,
    /// The most runs that were to keep outputs and did not end.
    retries: u32,
    /// The number of runs that were to keep outputs and have begun.
    keeps: u64,
    unsaved: Option<ProtocolError>,
}

impl<S: Side, C: Conduct<Step>> Run<S, C> {
    /// A party with a plan whose runs neither read nor keep values of these two parties. With `top_up`, a run makes what the store lacks.
    pub fn new(participant: Participant<S, C>, plan: Arc<Plan>, top_up: bool) -> Self {
        let saved = SavedValues::default();
        Run { participant, plan, saved, top_up, retries: kept::RETRIES, keeps: 0, unsaved: None }
    }

    /// The same for runs that read or keep values: `saved` has their names. The peer must call this at the same time, with the same names. Both parties first
    /// compare their values under these names, and settle values left pending by an interrupted run.
    ///
    /// *Errors*: a party without a store; a name that cannot be used; a plan that keeps outputs where the values do not, or the reverse; outputs of different
    /// runs under a name that is read; the connection's and the store's.
    pub async fn saving(
        session: &mut Session,
        participant: Participant<S, C>,
        plan: Arc<Plan>,
        saved: SavedValues,
        top_up: bool,
    ) -> Result<Self, ProtocolError> {
        let mut run = Run::new(participant, plan, top_up);
        run.plan.check_keeps(saved.keep.is_some())?;
        if saved != SavedValues::default() {
            saved::check_names(&saved)?;
            let store = run.store().ok_or_else(kept::no_store)?;
            saved::meet(session, store, (S::PARTY, &saved)).await?;
        }
        run.saved = saved;
        Ok(run)
    }

    /// The same with another limit of runs that were to keep outputs and did not end.
    pub fn with_retries(self, retries: u32) -> Self {
        Run { retries, ..self }
    }

    /// Ends the role and returns its store, if it has one.
    pub fn into_store(self) -> Option<Store> {
        self.participant.into_store()
    }

    /// The store, if it has one.
    pub fn store(&mut self) -> Option<&mut Store> {
        self.participant.store()
    }

    /// Ends the program. The party can run another one in the same session.
    pub fn into_participant(self) -> Participant<S, C> {
        self.participant
    }

    /// Changes the inputs that runs for others read, from the next preparation on. The caller has settled these values with the peer, so only names for others
    /// are allowed; for names of the two parties use [`Run::saving`].
    ///
    /// *Errors*: a name that does not begin with [`FOR_OTHERS`].
    pub fn read_for_others(&mut self, read: Vec<ReadInput>) -> Result<(), ProtocolError> {
        if let Some(ReadInput { name, .. }) = read.iter().find(|read| !read.name.starts_with(FOR_OTHERS)) {
            let expected = format!("one that begins with `{FOR_OTHERS}`");
            return Err(ProtocolError::KeptName { expected, got: name.clone() });
        }
        self.saved.read = read;
        Ok(())
    }

    /// The first part of [`Role::prepare`]: makes the material of one run, or takes it from the store. Sends nothing that depends on it.
    ///
    /// *Errors*: as [`Role::prepare`].
    pub async fn draw(&mut self, session: &mut Session) -> Result<Drawn, ProtocolError> {
        // The outputs were not kept, and the value under their name is older.
        if let Some(error) = self.unsaved.take() {
            return Err(error);
        }
        if let (Some(name), Some(stock)) = (&self.saved.keep, &self.participant.ground.stock) {
            kept::check(&stock.store, name, self.retries)?;
        }
        let read = self.read()?;
        let supply = self.participant.draw(session, &self.plan, self.top_up).await?;
        Ok(Drawn { supply, read, keeps: self.keeps })
    }

    /// The second part: does all work that can be done before the inputs are known.
    ///
    /// *Errors*: a peer that cheats, and the store is given up; the connection's.
    pub async fn build(&mut self, session: &mut Session, drawn: Drawn) -> Result<Prepared<S::Built>, ProtocolError> {
        let Drawn { supply, read, keeps } = drawn;
        let built = self.participant.build(session, &self.plan, supply, read).await;
        Ok(Prepared { keeps, ..self.participant.ground.revoked(built)? })
    }

    /// [`Role::online`] for others, who dealt inputs and pads to both parties. Also returns the outputs that they learn
    /// ([`Dealt::outputs`](crate::others::Dealt::outputs), one after another), to which the sum of both parties' masked pads is still to be added.
    ///
    /// *Errors*: as [`Role::online`]; those of [`Dealing::settle`].
    pub async fn online_for_others<D: Dealing>(
        &mut self,
        session: &mut Session,
        Prepared { work, .. }: Prepared<S::Built>,
        values: &[Bits],
        dealing: &mut D,
    ) -> Result<(Vec<Option<Bits>>, Bits), ProtocolError> {
        let (plan, ground) = (self.plan.clone(), &mut self.participant.ground);
        let own = party_io::own_input(plan.program(), S::PARTY, values)?;
        ground.check_sound()?;
        session.enter(Phase::Online);
        let computed = S::compute(ground, session, &plan, work, (&own, dealing)).await;
        let Computed { outputs, padded } = ground.revoked(computed)?;
        Ok((outputs, padded))
    }

    /// The wires of all inputs that are read.
    fn read(&self) -> Result<Read, ProtocolError> {
        // In the order of the program, regardless of the order in which this party was given the names.
        let mut names: Vec<_> = self.saved.inputs(self.plan.program())?.into_iter().zip(&self.saved.read).collect();
        names.sort_by_key(|(number, _)| *number);
        let mut read = Read::default();
        for (number, name) in names {
            let stock = self.participant.ground.stock.as_ref().ok_or_else(kept::no_store)?;
            let (wires, mark) = saved::read(stock, &name.name, name.output.as_deref())?;
            read.inputs.push((number as u64, wires));
            read.marks.extend(mark);
        }
        Ok(read)
    }
}

impl<S: Side, C: Conduct<Step>> Run<S, C> {
    /// Counts a run that is to keep outputs, before its first message. A run whose input does not fit is not counted.
    ///
    /// *Errors*: too many that did not end; an input that does not fit; the store's.
    fn begin(&mut self, name: &str, values: &[Bits]) -> Result<(), ProtocolError> {
        party_io::own_input(self.plan.program(), S::PARTY, values)?;
        let retries = self.retries;
        kept::begin(self.participant.store().ok_or_else(kept::no_store)?, name, retries)?;
        self.keeps += 1;
        Ok(())
    }

    /// The last message of a run that keeps outputs: the garbler says that it has them. Then the evaluator keeps its pending ones, and the run has ended.
    ///
    /// *Errors*: a peer that could not keep them; the connection's, after which the next meeting settles it; the store's.
    async fn settle(&mut self, session: &mut Session, name: &str, has: Part) -> Result<(), ProtocolError> {
        let store = self.participant.store().ok_or_else(kept::no_store)?;
        match S::PARTY == GARBLER {
            true => kept::conclude(session, store, name, has).await,
            false => kept::hear(session, store, name, has).await,
        }
    }
}

impl<S: Side, C: Conduct<Step>> Role for Run<S, C> {
    type Prepared = Prepared<S::Built>;

    const NAME: &'static str = S::NAME;

    fn security(&self) -> Security {
        self.plan.security(self.participant.ground.insecure)
    }

    async fn prepare(&mut self, session: &mut Session) -> Result<Prepared<S::Built>, ProtocolError> {
        let drawn = self.draw(session).await?;
        self.build(session, drawn).await
    }

    async fn online(
        &mut self,
        session: &mut Session,
        prepared: Prepared<S::Built>,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        if let Some(error) = self.unsaved.take() {
            return Err(error);
        }
        kept::check_fresh(&self.saved, prepared.keeps, self.keeps)?;
        let keep = self.saved.keep.clone();
        keep.as_deref().map_or(Ok(()), |name| self.begin(name, values))?;
        let mut nothing = Nothing::new(S::PARTY, keep.as_deref());
        let ran = self.online_for_others(session, prepared, values, &mut nothing).await;
        let Nothing { has_kept, unsaved, .. } = nothing;
        self.unsaved = unsaved;
        let (outputs, _) = ran?;
        if let Some(name) = &keep {
            let has = match (has_kept, &self.unsaved) {
                (true, _) => Part::Written,
                (false, None) => Part::Nothing,
                (false, Some(_)) => Part::Failed,
            };
            // This party gets its outputs even if the kept ones are lost.
            let settled = self.settle(session, name, has).await.err();
            // The disk's error is more informative than that of a peer that left because of it.
            self.unsaved = self.unsaved.take().or(settled);
        }
        Ok(outputs)
    }

    fn late_error(&mut self) -> Option<ProtocolError> {
        self.unsaved.take()
    }
}

impl<C> Ground<C> {
    /// Passes on the result of a step. If a check of the peer failed in it, these differences are never used again, and the store is
    /// given up.
    pub(crate) fn revoked<T>(&mut self, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
        self.over |= result.as_ref().is_err_and(ProtocolError::is_evidence);
        match &mut self.stock {
            Some(stock) => stock.revoked(result),
            None => result,
        }
    }
}
