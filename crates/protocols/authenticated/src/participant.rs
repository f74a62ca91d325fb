//! A party of a session: its side of the protocol, the plan that it runs, and its stock.

use std::{marker::PhantomData, sync::Arc};

use garblet_circuit::Bits;
use garblet_protocol::{
    Phase, Role, Security, Session,
    conduct::{Conduct, Honest},
    error::ProtocolError,
    party_io,
    stock::{ReadInput, SavedValues},
};
use garblet_store::{IdSet, Store};

use crate::{
    Step,
    amounts::Amounts,
    build::{GateShares, InputMasks},
    config::{Build, Config},
    ground::Ground,
    online::{evaluator::EvaluatorSide, garbler::GarblerSide},
    others::{Dealing, Nothing},
    parameters::batches,
    plan::{Plan, with_masks},
    secrets::Secrets,
    shares::{Shares, Triples},
    side::{Computed, Read, Side, Waiting, Work},
    stock::{
        pieces::GROUP,
        saved,
        store::{Stock, no_store, revoke_if_cheated},
    },
    supply::Supply,
};

/// Party 0: garbles.
pub type Garbler<C = Honest> = Participant<GarblerSide, C>;
/// Party 1: evaluates.
pub type Evaluator<C = Honest> = Participant<EvaluatorSide, C>;

/// A party that is joined to its peer, whatever they will compute.
pub struct Participant<S, C> {
    pub(crate) ground: Ground<C>,
    pub(crate) config: Config,
    pub(crate) side: PhantomData<S>,
}

impl<S: Side, C: Conduct<Step>> Participant<S, C> {
    /// Sets up OTs in both directions. What is prepared stays in memory.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn setup(session: &mut Session, config: Config, mut conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let secrets = Secrets::set_up(session, S::PARTY, config, &mut conduct).await?;
        let ground = Ground::agree(session, &secrets, S::PARTY, config, conduct).await?;
        Ok(Participant { ground, config, side: PhantomData })
    }

    /// Meets the peer with a store, in which all that is prepared is kept; only the first time there is something to set up.
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
            let secrets = revoke_if_cheated(&mut stock.store, secrets)?;
            stock.replace(secrets)?;
        }
        let kept = stock.kept.as_ref().ok_or_else(no_store)?;
        let mut ground = Ground::new(session, &kept.secrets, S::PARTY, config, stock.meeting, conduct)?;
        ground.insecure = kept.insecure;
        ground.stock = Some(stock);
        Ok(Participant { ground, config, side: PhantomData })
    }

    /// The amounts that the store has; nothing without a store.
    pub fn stock(&self) -> Amounts {
        self.ground.stock.as_ref().map(Stock::has).unwrap_or_default()
    }

    /// Pieces, of sixteen triples or masks each, that were given up at the meeting because only one store had them.
    pub fn lost(&self) -> u64 {
        self.ground.stock.as_ref().map_or(0, |stock| stock.lost)
    }

    /// Ends the role and gives the store back, if it has one.
    pub fn into_store(self) -> Option<Store> {
        self.ground.stock.map(|stock| stock.store)
    }

    /// The store, if it has one.
    pub fn store(&mut self) -> Option<&mut Store> {
        self.ground.stock.as_mut().map(|stock| &mut stock.store)
    }

    /// Makes so much and puts it into the store, batch by batch.
    ///
    /// *Errors*: a peer that cheats, and the store is given up; the connection's and the store's. The batches that were made stay.
    pub async fn fill(&mut self, session: &mut Session, amounts: Amounts) -> Result<(), ProtocolError> {
        session.enter(Phase::Prepare);
        let [triples, masks] = [amounts.triples, amounts.masks].map(|amount| amount.next_multiple_of(GROUP as u64));
        let mut done = 0;
        for (batch, masks) in with_masks(batches(triples, self.config.statistical), masks) {
            let masks = masks.next_multiple_of(GROUP as u64) as usize;
            let made = self.ground.make(session, batch, masks).await;
            let made = self.ground.revoked(made)?;
            self.ground.stock.as_mut().ok_or_else(no_store)?.put(&made)?;
            self.ground.room = made.shares;
            done += batch.map_or(0, |batch| batch.triples);
            session.advance(done.min(triples), triples);
        }
        self.ground.room = Shares::default();
        Ok(())
    }

    /// Makes what one run takes, or takes it from the store.
    async fn draw(&mut self, session: &mut Session, plan: &Plan, top_up: bool) -> Result<Supply, ProtocolError> {
        session.enter(Phase::Prepare);
        if let Some(stock) = &mut self.ground.stock {
            let lacks = stock.lacks(plan.amounts());
            if top_up && lacks != Amounts::default() {
                self.fill(session, lacks).await?;
            }
            let pieces = self.ground.stock.as_mut().ok_or_else(no_store)?.take(plan.amounts())?;
            return Ok(Supply::stored(pieces));
        }
        let (ands, mut done, batches) = (plan.and_count(), 0, plan.batches());
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

    /// Does whatever can be done before the inputs are known.
    pub(crate) async fn build(
        &mut self,
        session: &mut Session,
        plan: &Plan,
        mut supply: Supply,
        read: Read,
    ) -> Result<Prepared<S::Built>, ProtocolError> {
        session.enter(Phase::Build);
        let ground = &mut self.ground;
        if plan.config().build == Build::Ahead {
            return Ok(Prepared(Work::Built(S::build(ground, session, plan, supply, &read).await?)));
        }
        let inputs = InputMasks::new(plan, supply.inputs(plan)?);
        let (gates, triples) = (GateShares::default(), Triples::default());
        let (_, own_masks) = ground.open_masks(session, &gates, &triples, Some(&inputs)).await?;
        let run = ground.next_run();
        Ok(Prepared(Work::Waiting(Box::new(Waiting { supply, inputs, own_masks, read, run }))))
    }
}

/// The material of one run, before it is joined to the function; a run consumes it.
pub struct Drawn {
    supply: Supply,
    read: Read,
}

impl Drawn {
    /// The pieces that were taken from a store, by kind; none if all was made for the run.
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
/// A second one would open labels of a second input, and does not compile:
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
/// Nor is there a second copy of it:
///
/// ```compile_fail,E0277
/// use garblet_authenticated::{Prepared, Side};
///
/// fn copied<S: Side>(built: &Prepared<S::Built>) -> Prepared<S::Built> {
///     Clone::clone(built)
/// }
/// ```
pub struct Prepared<B>(pub(crate) Work<B>);

/// A party with the program of this session.
pub struct Run<S, C> {
    participant: Participant<S, C>,
    plan: Arc<Plan>,
    saved: SavedValues,
    top_up: bool,
    unsaved: Option<ProtocolError>,
}

impl<S: Side, C: Conduct<Step>> Run<S, C> {
    /// A party with a plan: `saved` are the values that its runs take from stores and leave there, and if it is to `top_up`, a run makes what the store
    /// lacks.
    pub fn new(participant: Participant<S, C>, plan: Arc<Plan>, saved: SavedValues, top_up: bool) -> Self {
        Run { participant, plan, saved, top_up, unsaved: None }
    }

    /// Ends the role and gives the store back, if it has one.
    pub fn into_store(self) -> Option<Store> {
        self.participant.into_store()
    }

    /// The store, if it has one.
    pub fn store(&mut self) -> Option<&mut Store> {
        self.participant.store()
    }

    /// Ends the program; the party can run another one in the same session.
    pub fn into_participant(self) -> Participant<S, C> {
        self.participant
    }

    /// Changes the inputs that runs read which are prepared from now on.
    pub fn read_from(&mut self, read: Vec<ReadInput>) {
        self.saved.read = read;
    }

    /// The first part of [`Role::prepare`]: makes what one run takes, or takes it from the store, and sends nothing that depends on it.
    ///
    /// *Errors*: as [`Role::prepare`].
    pub async fn draw(&mut self, session: &mut Session) -> Result<Drawn, ProtocolError> {
        let read = self.read()?;
        let supply = self.participant.draw(session, &self.plan, self.top_up).await?;
        Ok(Drawn { supply, read })
    }

    /// The second part: does whatever can be done before the inputs are known.
    ///
    /// *Errors*: a peer that cheats, and the store is given up; the connection's.
    pub async fn build(&mut self, session: &mut Session, drawn: Drawn) -> Result<Prepared<S::Built>, ProtocolError> {
        let Drawn { supply, read } = drawn;
        let built = self.participant.build(session, &self.plan, supply, read).await;
        self.participant.ground.revoked(built)
    }

    /// [`Role::online`] for others, who dealt inputs and pads to both parties. Returns also the outputs that they learn, with the sum of what both parties have told of the
    /// pads still to be added: those of [`Dealt::outputs`](crate::others::Dealt::outputs), one after another.
    ///
    /// *Errors*: as [`Role::online`]; those of [`Dealing::settle`].
    pub async fn online_for_others<D: Dealing>(
        &mut self,
        session: &mut Session,
        Prepared(work): Prepared<S::Built>,
        values: &[Bits],
        dealing: &mut D,
    ) -> Result<(Vec<Option<Bits>>, Bits), ProtocolError> {
        let (plan, ground) = (self.plan.clone(), &mut self.participant.ground);
        let own = party_io::own_input(plan.program(), S::PARTY, values)?;
        session.enter(Phase::Online);
        let computed = S::compute(ground, session, &plan, work, (&own, dealing)).await;
        let Computed { outputs, padded } = ground.revoked(computed)?;
        Ok((outputs, padded))
    }

    /// The wires of all inputs that are read.
    fn read(&self) -> Result<Read, ProtocolError> {
        // In the order of the program, whatever that of the names is that this party was given.
        let mut names: Vec<_> = self.saved.inputs(self.plan.program())?.into_iter().zip(&self.saved.read).collect();
        names.sort_by_key(|(number, _)| *number);
        let mut read = Read::default();
        for (number, name) in names {
            let stock = self.participant.ground.stock.as_ref().ok_or_else(no_store)?;
            let (wires, mark) = saved::read(stock, &name.name, name.output.as_deref())?;
            read.inputs.push((number as u64, wires));
            read.marks.extend(mark);
        }
        Ok(read)
    }
}

impl<S: Side, C: Conduct<Step>> Role for Run<S, C> {
    type Prepared = Prepared<S::Built>;

    const NAME: &'static str = S::NAME;

    fn security(&self) -> Security {
        self.plan.security(self.participant.ground.insecure)
    }

    async fn prepare(&mut self, session: &mut Session) -> Result<Prepared<S::Built>, ProtocolError> {
        // What was to be kept is not there, and what is there under its name is older.
        if let Some(error) = self.unsaved.take() {
            return Err(error);
        }
        let drawn = self.draw(session).await?;
        self.build(session, drawn).await
    }

    async fn online(
        &mut self,
        session: &mut Session,
        prepared: Prepared<S::Built>,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let keep = self.saved.keep.clone();
        let mut nothing = Nothing { keep: keep.as_deref(), ..Nothing::default() };
        let ran = self.online_for_others(session, prepared, values, &mut nothing).await;
        self.unsaved = nothing.unsaved;
        Ok(ran?.0)
    }

    fn unsaved(&mut self) -> Option<ProtocolError> {
        self.unsaved.take()
    }
}

impl<C> Ground<C> {
    /// Passes on the result of a step; if a check of the peer failed in it, all that the store has is given up.
    pub(crate) fn revoked<T>(&mut self, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
        match &mut self.stock {
            Some(stock) => {
                let result = revoke_if_cheated(&mut stock.store, result);
                stock.kept.take_if(|_| result.as_ref().is_err_and(ProtocolError::is_evidence));
                result
            }
            None => result,
        }
    }
}
