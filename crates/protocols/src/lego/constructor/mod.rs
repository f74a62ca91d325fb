//! Party 0: makes gates and commits to every wire of them.

mod prepare;

use std::{collections::BTreeMap, sync::Arc};

use garblet_circuit::Bits;
use garblet_commit::{CommitSender, Committed};
use garblet_primitives::Block;
use garblet_store::{IdSet, Store};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    CONSTRUCTOR, EVALUATOR, Step,
    behind::Behind,
    delta_ot,
    gates::Components,
    kept::{self, ConstructorKept, Kept},
    orders::Orders,
    pieces::{InMemory, Storable, Wires},
    plan::{Amounts, Config, Order, Plan},
    pool::{Drawn, Meeting, Names, Pool, Unread, judge, no_store},
    secrets::{Fresh, Secrets},
    wiring::{Wiring, sought, sought_solderings},
};
use crate::{
    bulk::{receive_bits, receive_blocks, send_blocks},
    checks::{Cheating, Check},
    conduct::{Conduct, Honest},
    error::ProtocolError,
    interface,
    phase::Phase,
    security::Security,
    session::Session,
};

/// The constructor of a session.
pub struct Constructor<C = Honest> {
    conduct: C,
    config: Config,
    secrets: Secrets,
    orders: Orders,
    commitments: CommitSender,
    delta_ot: delta_ot::Constructor,
    delta: Zeroizing<Committed>,
    components: Components,
    /// Numbers of the next gate and the next authenticator.
    next_numbers: [u64; 2],
    /// Runs in this meeting.
    runs: u64,
    pool: Option<Pool>,
}

/// What the constructor has for one run; a run consumes it, so it is used at most once.
pub struct ConstructorPrepared {
    plan: Arc<Plan>,
    wires: Wires<Committed>,
    /// The wires of inputs that are read, by the input's number.
    kept: BTreeMap<usize, Zeroizing<Vec<Committed>>>,
    /// The wires of all inputs, once the function is known.
    inputs: Zeroizing<Vec<Committed>>,
    /// The gates that are to be taken from the store lot by lot.
    unread: Option<Unread>,
    /// The pieces that were taken from a store.
    taken: Names,
    /// The zero keys of all outputs, once the function is known.
    outputs: Zeroizing<Vec<Committed>>,
}

impl ConstructorPrepared {
    /// Reads an input, by its number, from an output that was kept.
    ///
    /// *Errors*: no such output.
    pub fn read(&mut self, input: usize, kept: &ConstructorKept, output: Option<&str>) -> Result<(), ProtocolError> {
        self.kept.insert(input, Zeroizing::new(kept.output(output)?.to_vec()));
        Ok(())
    }

    /// The pieces that were taken from a store, by kind.
    pub fn pieces(&self) -> &[(&'static str, IdSet)] {
        &self.taken
    }
}

impl Constructor {
    /// Sets up OTs both ways, commitments from one and the difference from the other. What is prepared stays in memory.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn setup(session: &mut Session, config: Config) -> Result<Self, ProtocolError> {
        Constructor::setup_with(session, config, Honest).await
    }

    /// Meets the peer with a store, in which all that is prepared is kept; only the first time there is something to set up.
    ///
    /// *Errors*: also stores that were not filled together, or for something else.
    pub async fn meet(session: &mut Session, config: Config, store: Store, peer: &str) -> Result<Self, ProtocolError> {
        Constructor::meet_with(session, config, store, peer, Honest).await
    }
}

impl<C: Conduct<Step>> Constructor<C> {
    /// [`Constructor::setup`] with a conduct, for tests.
    ///
    /// *Errors*: as [`Constructor::setup`].
    pub async fn setup_with(session: &mut Session, config: Config, conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let secrets = Secrets::of_constructor(session, config).await?;
        let mut role = Constructor::begin(secrets, config, conduct)?;
        role.commit_to_delta(session).await?;
        Ok(role)
    }

    /// [`Constructor::meet`] with a conduct, for tests.
    ///
    /// *Errors*: as [`Constructor::meet`].
    pub async fn meet_with(
        session: &mut Session,
        config: Config,
        store: Store,
        peer: &str,
        conduct: C,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (mut pool, meeting) = Pool::meet(session, store, config, CONSTRUCTOR, peer).await?;
        let mut role = match meeting {
            Meeting::Again(secrets) => Constructor::begin(secrets, config, conduct)?,
            Meeting::New(number, fresh) => {
                let role = Constructor::begin_anew(session, config, conduct, (number, fresh)).await;
                let role = pool.judge(role)?;
                pool.keep(&role.secrets)?;
                role
            }
        };
        role.orders = pool.orders()?;
        role.pool = Some(pool);
        Ok(role)
    }

    /// Begins with secrets that are made now, for a meeting.
    async fn begin_anew(
        session: &mut Session,
        config: Config,
        conduct: C,
        (number, fresh): (u64, Fresh),
    ) -> Result<Self, ProtocolError> {
        let mut secrets = Secrets::of_constructor(session, config).await?;
        secrets.meet(number, fresh);
        let mut role = Constructor::begin(secrets, config, conduct)?;
        role.commit_to_delta(session).await?;
        Ok(role)
    }

    fn begin(secrets: Secrets, config: Config, conduct: C) -> Result<Self, ProtocolError> {
        let (commitments, delta_ot) = secrets.constructor(config)?;
        let delta = Zeroizing::new(Committed::read(&secrets.delta));
        let (components, next_numbers) = (Components::new(secrets.hashes()), [secrets.first_number(); 2]);
        Ok(Constructor {
            conduct,
            config,
            secrets,
            orders: Orders::default(),
            commitments,
            delta_ot,
            delta,
            components,
            next_numbers,
            runs: 0,
            pool: None,
        })
    }

    async fn commit_to_delta(&mut self, session: &mut Session) -> Result<(), ProtocolError> {
        let mut delta = Zeroizing::new([self.delta_ot.delta().block()]);
        self.conduct.touch(Step::Delta, 0, bytemuck::cast_slice_mut(&mut delta[..]));
        self.delta = Zeroizing::new(self.commitments.commit_to(session.channel(), &delta[..]).await?[0]);
        Storable::append(&*self.delta, self.config.code, &mut self.secrets.delta);
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    #[cfg(test)]
    pub(super) fn delta(&self) -> Block {
        self.delta.message()
    }

    /// Has as much for one run as its plan says: makes it, or takes it from the store.
    ///
    /// *Errors*: a peer that cheats; a store that has too little; the connection's.
    pub async fn prepare(
        &mut self,
        session: &mut Session,
        plan: Arc<Plan>,
    ) -> Result<ConstructorPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        if let Some(lacking) = self.pool.as_ref().and_then(|pool| pool.to_make(&plan)) {
            self.fill(session, &Order::new(lacking, self.config)?).await?;
        }
        let Drawn { pieces: wires, gates, names } = match &mut self.pool {
            Some(pool) => pool.take(&plan)?,
            None => {
                let order = plan.order()?;
                Drawn::in_memory(self.make(session, &order, &mut InMemory).await?)
            }
        };
        let (kept, inputs, outputs) = (BTreeMap::new(), Zeroizing::default(), Zeroizing::default());
        Ok(ConstructorPrepared { plan, wires, kept, inputs, unread: gates, taken: names, outputs })
    }

    /// Makes what an order says and puts it into the store.
    ///
    /// *Errors*: a peer that cheats, and the store is given up; the connection's and the store's.
    pub async fn fill(&mut self, session: &mut Session, order: &Order) -> Result<(), ProtocolError> {
        session.enter(Phase::Prepare);
        let mut pool = self.pool.take();
        let filled = self.fill_pool(session, order, &mut pool).await;
        self.pool = pool;
        judge(&mut self.pool, filled)
    }

    async fn fill_pool(
        &mut self,
        session: &mut Session,
        order: &Order,
        pool: &mut Option<Pool>,
    ) -> Result<(), ProtocolError> {
        let mut filling = pool.as_mut().ok_or_else(no_store)?.filling()?;
        self.make(session, order, &mut filling).await?;
        filling.finish(&self.orders)
    }

    /// Joins buckets to the function: the left and right input of every AND gate, and the input buckets.
    ///
    /// *Errors*: the connection's.
    pub async fn build(
        &mut self,
        session: &mut Session,
        prepared: &mut ConstructorPrepared,
    ) -> Result<(), ProtocolError> {
        session.enter(Phase::Build);
        let plan = prepared.plan.clone();
        let inputs = plan.all_inputs(&prepared.wires.inputs, &prepared.kept)?;
        let mut wiring = Some(Wiring::new(&plan, &inputs, *self.delta));
        let mut behind: Behind<Vec<Committed>> = Behind::new();
        let last = plan.lots().len() - 1;
        for (index, lot) in plan.lots().enumerate() {
            let mut read = Wires::default();
            let heads = match &mut prepared.unread {
                None => &prepared.wires.gates[lot.clone()],
                Some(unread) => {
                    unread.read(lot.len() as u64, &mut read)?;
                    &read.gates
                }
            };
            let mut solderings = wiring.as_mut().map(|wiring| wiring.solderings(heads)).unwrap_or_default();
            if let Some(wiring) = wiring.take_if(|_| index == last) {
                prepared.outputs = wiring.into_outputs();
                let sought = sought(&plan, &inputs, &prepared.outputs);
                solderings.extend(sought_solderings(&sought, &prepared.wires.input_gates));
            }
            if solderings.is_empty() {
                continue;
            }
            self.conduct.touch(Step::Links, index, bytemuck::cast_slice_mut(&mut solderings));
            self.commitments.show(session.channel(), &solderings).await?;
            if let Some(before) = behind.push(solderings) {
                self.commitments.prove(session.channel(), &before).await?;
            }
            session.advance(lot.end as u64, plan.and_count());
        }
        while let Some(last) = behind.pop() {
            self.commitments.prove(session.channel(), &last).await?;
        }
        prepared.wires.joined();
        prepared.inputs = inputs;
        Ok(())
    }

    /// Gives both parties' input keys and what decodes outputs; the evaluator hands back keys of this party's outputs.
    ///
    /// *Errors*: inputs that do not fit; a peer that cheats; the connection's.
    pub async fn online(
        &mut self,
        session: &mut Session,
        prepared: ConstructorPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        Ok(self.online_keeping(session, prepared, values).await?.0)
    }

    /// The same, and keeps the wires of all outputs.
    ///
    /// *Errors*: as [`Constructor::online`].
    pub async fn online_keeping(
        &mut self,
        session: &mut Session,
        prepared: ConstructorPrepared,
        values: &[Bits],
    ) -> Result<(Vec<Option<Bits>>, ConstructorKept), ProtocolError> {
        let kept = Kept::new(prepared.plan.named_outputs(&prepared.outputs));
        let result = self.compute(session, prepared, values).await;
        self.runs += 1;
        Ok((judge(&mut self.pool, result)?, kept))
    }

    async fn compute(
        &mut self,
        session: &mut Session,
        prepared: ConstructorPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let plan = prepared.plan.clone();
        let own = interface::own_input(plan.program(), CONSTRUCTOR, values)?;
        session.enter(Phase::Online);
        // All but what depends on the peer's choices is ready when these come.
        let owners = plan.owners();
        let of = |party| {
            let keys = prepared.inputs.iter().zip(&owners);
            keys.filter(move |(_, owner)| **owner == party).map(|(&key, _)| key)
        };
        let delta = self.delta.message();
        let mut keys: Vec<Block> =
            of(CONSTRUCTOR).zip(own.iter()).map(|(key, bit)| key.message() ^ (Block::mask(bit) & delta)).collect();
        self.conduct.touch(Step::InputKeys, 0, bytemuck::cast_slice_mut(&mut keys));
        let differences = of(EVALUATOR).zip(&prepared.wires.strings).map(|(key, &string)| key ^ string);
        let told = plan.learned(EVALUATOR);
        let decoding = prepared.outputs.iter().zip(&prepared.wires.masks).zip(told);
        let decoding = decoding.filter(|(_, told)| *told).map(|((&output, &mask), _)| output ^ mask);
        let mut opened: Vec<Committed> = differences.chain(decoding).collect();
        let masked = receive_bits(session, interface::input_bits(plan.program(), EVALUATOR)).await?;
        send_blocks(session, &keys).await?;
        let chosen = opened.iter_mut().zip(masked.iter()).filter(|(_, e)| *e);
        chosen.for_each(|(difference, _)| *difference = *difference ^ *self.delta);
        self.conduct.touch(Step::Openings, 0, bytemuck::cast_slice_mut(&mut opened));
        self.commitments.open(session.channel(), &opened).await?;
        self.receive_outputs(session, &plan, &prepared.outputs).await
    }

    /// The keys of this party's outputs, and what they stand for.
    async fn receive_outputs(
        &mut self,
        session: &mut Session,
        plan: &Plan,
        outputs: &[Committed],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let learned = plan.learned(CONSTRUCTOR);
        let mut keys = vec![Block::ZERO; learned.iter().filter(|learned| **learned).count()];
        receive_blocks(session, &mut keys).await?;
        let delta = self.delta.message();
        let mut keys = keys.into_iter();
        let mut bits = Vec::with_capacity(outputs.len());
        for (index, (output, learned)) in outputs.iter().zip(learned).enumerate() {
            let Some(key) = learned.then(|| keys.next()).flatten() else {
                bits.push(false);
                continue;
            };
            let zero = key.ct_eq(&output.message());
            let one = key.ct_eq(&(output.message() ^ delta));
            if !bool::from(zero | one) {
                return Err(Cheating::new(Check::OutputKey, format!("output bit {index}")).into());
            }
            bits.push(one.into());
        }
        Ok(plan.outputs_for(CONSTRUCTOR, bits.into_iter()))
    }

    /// What this party's runs promise.
    pub fn security(&self) -> Security {
        self.orders.security()
    }

    /// What the store has; nothing without a store.
    pub fn stock(&self) -> Amounts {
        self.pool.as_ref().map(Pool::has).unwrap_or_default()
    }

    /// Keeps what a run left in the store under a name, in place of what was there.
    ///
    /// *Errors*: the store's; also if there is none.
    pub fn keep(&mut self, name: &str, kept: &ConstructorKept) -> Result<(), ProtocolError> {
        let (run, code) = (self.runs, self.config.code);
        kept::store(self.pool.as_mut().ok_or_else(no_store)?, &self.secrets, (name, run, code), kept)
    }

    /// What was kept in the store under a name.
    ///
    /// *Errors*: nothing of that name, or of an earlier store of the peer.
    pub fn kept(&self, name: &str) -> Result<ConstructorKept, ProtocolError> {
        kept::load(self.pool.as_ref().ok_or_else(no_store)?, &self.secrets, name, self.config.code)
    }

    /// Pieces that were given up at the meeting because only one store had them.
    pub fn lost(&self) -> u64 {
        self.pool.as_ref().map_or(0, Pool::lost)
    }

    /// Ends the role and gives the store back, if it has one.
    pub fn into_store(self) -> Option<Store> {
        self.pool.map(Pool::into_store)
    }
}
