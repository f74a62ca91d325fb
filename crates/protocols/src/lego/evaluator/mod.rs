//! Party 1: checks, and evaluates.

mod prepare;
mod received;

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use garblet_circuit::{Bits, Party};
use garblet_commit::{CommitReceiver, Shown, Watched};
use garblet_garble::Schedules;
use garblet_primitives::Block;
use garblet_store::{IdSet, Store};
use zeroize::Zeroizing;

use super::{
    CONSTRUCTOR, Checks, EVALUATOR, Step,
    ands::{Ands, Aside},
    behind::Behind,
    bucket::{Buckets, Material},
    delta_ot,
    extract::{Extracted, extract},
    gates::Components,
    kept::{self, EvaluatorKept, Held, Kept},
    orders::Orders,
    pieces::{EvaluatorPieces, InMemory, Storable, Transfer, Wires},
    plan::{Amounts, Config, Order, Plan, select_bit},
    pool::{Drawn, Meeting, Names, Pool, Unread, judge, no_store},
    secrets::{Fresh, Secrets},
    wiring::{Wiring, sought, sought_solderings},
};
use crate::{
    bulk::{receive_blocks, send_bits, send_blocks},
    checks::{Cheating, Check},
    conduct::{Conduct, Honest},
    error::ProtocolError,
    interface,
    phase::Phase,
    security::Security,
    session::Session,
    workers::Finishing,
};

/// The evaluator of a session.
pub struct Evaluator<C = Honest> {
    conduct: C,
    config: Config,
    secrets: Secrets,
    orders: Orders,
    commitments: CommitReceiver,
    delta_ot: delta_ot::Evaluator,
    delta: Zeroizing<Watched>,
    components: Arc<Components>,
    /// Numbers of the next gate and the next authenticator.
    next_numbers: [u64; 2],
    /// Runs in this meeting.
    runs: u64,
    pool: Option<Pool>,
    /// Whether gates have shown the constructor's difference in the last run.
    exposed: bool,
    /// What the last run had, on its way out.
    freeing: Option<Finishing>,
}

/// What the evaluator has for one run; a run consumes it, so it is used at most once.
pub struct EvaluatorPrepared {
    plan: Arc<Plan>,
    wires: Wires<Watched>,
    /// The wires of inputs that are read, by the input's number.
    kept: BTreeMap<usize, Zeroizing<Vec<Held>>>,
    pub(super) material: Material,
    transfers: Zeroizing<Vec<Transfer>>,
    /// Select bits of the masks.
    told: Vec<bool>,
    checks: Checks,
    /// The gates that are to be taken from the store lot by lot.
    unread: Option<Unread>,
    /// The pieces that were taken from a store.
    taken: Names,
    built: Built,
}

impl EvaluatorPrepared {
    /// How many components were checked when this was made; none if it comes from a store.
    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// Reads an input, by its number, from an output that was kept.
    ///
    /// *Errors*: no such output.
    pub fn read(&mut self, input: usize, kept: &EvaluatorKept, output: Option<&str>) -> Result<(), ProtocolError> {
        self.kept.insert(input, Zeroizing::new(kept.output(output)?.to_vec()));
        Ok(())
    }

    /// The pieces that were taken from a store, by kind.
    pub fn pieces(&self) -> &[(&'static str, IdSet)] {
        &self.taken
    }

    /// Frees it after a run. For a large function that takes as long as to evaluate it, so that a thread of its own does it if
    /// there may be several.
    fn free(self, threads: usize) -> Option<Finishing> {
        let large = threads > 1 && self.plan.lots().len() > 1;
        large.then(|| Finishing::begin(move || drop(self)))
    }
}

/// What is known once the function is.
#[derive(Default)]
struct Built {
    schedules: Schedules,
    /// Solderings of the wires whose bits may have to be found to the input buckets.
    joins: Vec<Block>,
    /// All input bits; those that are read have their keys.
    inputs: Zeroizing<Vec<Held>>,
    outputs: Zeroizing<Vec<Watched>>,
}

impl Evaluator {
    /// Sets up OTs both ways, commitments from one and the difference from the other. What is prepared stays in memory.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn setup(session: &mut Session, config: Config) -> Result<Self, ProtocolError> {
        Evaluator::setup_with(session, config, Honest).await
    }

    /// Meets the peer with a store, in which all that is prepared is kept; only the first time there is something to set up.
    ///
    /// *Errors*: also stores that were not filled together, or for something else.
    pub async fn meet(session: &mut Session, config: Config, store: Store, peer: &str) -> Result<Self, ProtocolError> {
        Evaluator::meet_with(session, config, store, peer, Honest).await
    }
}

impl<C: Conduct<Step>> Evaluator<C> {
    /// [`Evaluator::setup`] with a conduct, for tests.
    ///
    /// *Errors*: as [`Evaluator::setup`].
    pub async fn setup_with(session: &mut Session, config: Config, conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let secrets = Secrets::of_evaluator(session, config).await?;
        let mut role = Evaluator::begin(secrets, config, conduct)?;
        role.receive_delta(session).await?;
        Ok(role)
    }

    /// [`Evaluator::meet`] with a conduct, for tests.
    ///
    /// *Errors*: as [`Evaluator::meet`].
    pub async fn meet_with(
        session: &mut Session,
        config: Config,
        store: Store,
        peer: &str,
        conduct: C,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let (mut pool, meeting) = Pool::meet(session, store, config, EVALUATOR, peer).await?;
        let mut role = match meeting {
            Meeting::Again(secrets) => Evaluator::begin(secrets, config, conduct)?,
            Meeting::New(number, fresh) => {
                pool.begin_setup()?;
                let role = Evaluator::begin_anew(session, config, conduct, (number, fresh)).await;
                let role = pool.judge(role)?;
                pool.keep_new(&role.secrets)?;
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
        let mut secrets = Secrets::of_evaluator(session, config).await?;
        secrets.meet(number, fresh);
        let mut role = Evaluator::begin(secrets, config, conduct)?;
        role.receive_delta(session).await?;
        Ok(role)
    }

    fn begin(secrets: Secrets, config: Config, conduct: C) -> Result<Self, ProtocolError> {
        let (commitments, delta_ot) = secrets.evaluator(config)?;
        let delta = Zeroizing::new(Watched::read(&secrets.delta));
        let (components, next_numbers) = (Arc::new(Components::new(secrets.hashes())), [secrets.first_number(); 2]);
        Ok(Evaluator {
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
            exposed: false,
            freeing: None,
        })
    }

    async fn receive_delta(&mut self, session: &mut Session) -> Result<(), ProtocolError> {
        let (channel, rng) = session.parts();
        self.delta = Zeroizing::new(self.commitments.commit_to(channel, rng, 1).await?[0]);
        Storable::append(&*self.delta, self.config.code, &mut self.secrets.delta);
        Ok(())
    }

    /// Has as much for one run as its plan says: has it made, or takes it from the store.
    ///
    /// *Errors*: a peer that cheats; a store that has too little; the connection's.
    pub async fn prepare(
        &mut self,
        session: &mut Session,
        plan: Arc<Plan>,
    ) -> Result<EvaluatorPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        if let Some(lacking) = self.pool.as_ref().and_then(|pool| pool.to_make(&plan)) {
            self.fill(session, &Order::new(lacking, self.config)?).await?;
        }
        let mut checks = Checks::default();
        let Drawn { pieces, gates, names } = match &mut self.pool {
            Some(pool) => pool.take(&plan)?,
            None => {
                let order = plan.order()?;
                let (pieces, checked) = self.make(session, &order, &mut InMemory).await?;
                checks = checked;
                Drawn::in_memory(pieces)
            }
        };
        let EvaluatorPieces { wires, buckets: [ands, input_gates, inputs], transfers, told } = pieces;
        let (ands, [input_gates, inputs]) = match (&gates, &mut self.pool) {
            (Some(_), Some(pool)) => {
                let mut aside = |buckets: Buckets| Aside::away(buckets, |streams| pool.room(streams));
                let asides = [aside(input_gates)?, aside(inputs)?];
                (Ands::lots(plan.lots().len(), |streams| pool.room(streams))?, asides)
            }
            _ => (Ands::Whole(ands), [input_gates, inputs].map(Aside::here)),
        };
        let material = Material { components: self.components.clone(), ands, input_gates, inputs };
        let (kept, built) = (BTreeMap::new(), Built::default());
        let (unread, taken) = (gates, names);
        Ok(EvaluatorPrepared { plan, wires, kept, material, transfers, told, checks, unread, taken, built })
    }

    /// Has made what an order says and puts it into the store.
    ///
    /// *Errors*: a peer that cheats, and the store is given up; the connection's and the store's.
    pub async fn fill(&mut self, session: &mut Session, order: &Order) -> Result<Checks, ProtocolError> {
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
    ) -> Result<Checks, ProtocolError> {
        let mut filling = pool.as_mut().ok_or_else(no_store)?.filling()?;
        let (_, checks) = self.make(session, order, &mut filling).await?;
        filling.finish(&self.orders)?;
        Ok(checks)
    }

    /// Has buckets joined to the function.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn build(
        &mut self,
        session: &mut Session,
        prepared: &mut EvaluatorPrepared,
    ) -> Result<(), ProtocolError> {
        let result = self.solder(session, prepared).await;
        judge(&mut self.pool, result)
    }

    async fn solder(&mut self, session: &mut Session, prepared: &mut EvaluatorPrepared) -> Result<(), ProtocolError> {
        session.enter(Phase::Build);
        let plan = prepared.plan.clone();
        let held = prepared.wires.inputs.iter().map(|&watched| Held { watched, key: Block::ZERO });
        let held: Zeroizing<Vec<Held>> = Zeroizing::new(held.collect());
        let held = plan.all_inputs(&held, &prepared.kept)?;
        let inputs: Zeroizing<Vec<Watched>> = Zeroizing::new(held.iter().map(|held| held.watched).collect());
        let mut wiring = Some(Wiring::new(&plan, &inputs, *self.delta));
        let mut outputs = Zeroizing::default();
        let mut behind: Behind<(Range<usize>, Shown)> = Behind::new();
        let last = plan.lots().len() - 1;
        let mut joins = Vec::new();
        for (index, lot) in plan.lots().enumerate() {
            let mut read = EvaluatorPieces::default();
            let heads = match &mut prepared.unread {
                None => &prepared.wires.gates[lot.clone()],
                Some(unread) => {
                    read.buckets[0] = prepared.material.ands.room();
                    unread.read(lot.len() as u64, &mut read)?;
                    prepared.material.ands.put(std::mem::take(&mut read.buckets[0]));
                    &read.wires.gates
                }
            };
            let mut watched = wiring.as_mut().map(|wiring| wiring.solderings(heads)).unwrap_or_default();
            if let Some(wiring) = wiring.take_if(|_| index == last) {
                outputs = wiring.into_outputs();
                let sought = sought(&plan, &inputs, &outputs);
                watched.extend(sought_solderings(&sought, &prepared.wires.input_gates));
            }
            if watched.is_empty() {
                continue;
            }
            let (channel, rng) = session.parts();
            let shown = self.commitments.receive_shown(channel, rng, &watched).await?;
            let done = lot.end as u64;
            if let Some((gates, shown)) = behind.push((lot, shown)) {
                joins = prepared.material.ands.join(gates, self.commitments.verify_shown(channel, shown).await?)?;
            }
            session.advance(done, plan.and_count());
        }
        while let Some((gates, shown)) = behind.pop() {
            let opened = self.commitments.verify_shown(session.channel(), shown).await?;
            joins = prepared.material.ands.join(gates, opened)?;
        }
        let schedules = Schedules::ready(plan.program(), plan.schedules());
        prepared.wires.joined();
        prepared.material.ands.joined();
        prepared.built = Built { schedules, joins, inputs: held, outputs };
        Ok(())
    }

    /// Gets input keys, evaluates, decodes, and hands the constructor the keys of its outputs.
    ///
    /// *Errors*: inputs that do not fit; a peer that cheats; the connection's.
    pub async fn online(
        &mut self,
        session: &mut Session,
        prepared: EvaluatorPrepared,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        Ok(self.online_keeping(session, prepared, values).await?.0)
    }

    /// The same, and keeps the wires of all outputs.
    ///
    /// *Errors*: as [`Evaluator::online`].
    pub async fn online_keeping(
        &mut self,
        session: &mut Session,
        prepared: EvaluatorPrepared,
        values: &[Bits],
    ) -> Result<(Vec<Option<Bits>>, EvaluatorKept), ProtocolError> {
        let result = self.compute(session, prepared, values).await;
        self.runs += 1;
        judge(&mut self.pool, result)
    }

    async fn compute(
        &mut self,
        session: &mut Session,
        mut prepared: EvaluatorPrepared,
        values: &[Bits],
    ) -> Result<(Vec<Option<Bits>>, EvaluatorKept), ProtocolError> {
        let plan = prepared.plan.clone();
        let own = interface::own_input(plan.program(), EVALUATOR, values)?;
        session.enter(Phase::Online);
        let masked: Bits = own.iter().zip(prepared.transfers.iter()).map(|(y, transfer)| y ^ transfer.choice).collect();
        send_bits(session, &masked).await?;
        session.channel().flush().await?;
        let (keys, decoding) = self.receive_keys(session, &mut prepared, &masked, &own).await?;
        let given = Given { keys: &keys, own: &own, decoding };
        let (votes, threads) = (self.orders.escaping(), session.workers());
        let Evaluated { exposed, keys: outputs, bits } = evaluate(&plan, &mut prepared, given, votes, threads)?;
        self.exposed = exposed;
        let mut handed: Vec<Block> = outputs
            .iter()
            .zip(plan.learned(CONSTRUCTOR))
            .filter(|(_, learned)| *learned)
            .map(|(&key, _)| key)
            .collect();
        self.conduct.touch(Step::OutputKeys, 0, bytemuck::cast_slice_mut(&mut handed));
        send_blocks(session, &handed).await?;
        session.channel().flush().await?;
        let held = prepared.built.outputs.iter().zip(outputs.iter()).map(|(&watched, &key)| Held { watched, key });
        let held = Zeroizing::new(held.collect::<Vec<_>>());
        let kept = Kept::new(plan.named_outputs(&held));
        self.freeing = prepared.free(session.workers());
        Ok((plan.outputs_for(EVALUATOR, bits.into_iter()), kept))
    }

    /// The keys of all inputs, checked, and what decodes this party's outputs.
    async fn receive_keys(
        &mut self,
        session: &mut Session,
        prepared: &mut EvaluatorPrepared,
        masked: &Bits,
        own: &Bits,
    ) -> Result<(Zeroizing<Vec<Block>>, Vec<bool>), ProtocolError> {
        let plan = prepared.plan.clone();
        let (owners, told) = (plan.owners(), plan.learned(EVALUATOR));
        let own_inputs = prepared.built.inputs.iter().zip(&owners).filter(|(_, owner)| **owner == EVALUATOR);
        let differences = own_inputs.zip(&prepared.wires.strings).zip(masked.iter());
        let differences = differences
            .map(|(((held, _), &string), e)| held.watched ^ string ^ if e { *self.delta } else { Watched::default() });
        let decoding = prepared.built.outputs.iter().zip(&prepared.wires.masks).zip(&told);
        let decoding = decoding.filter(|(_, told)| **told).map(|((&output, &mask), _)| output ^ mask);
        let watched: Vec<Watched> = differences.chain(decoding).collect();
        let mut theirs = Zeroizing::new(vec![Block::ZERO; interface::input_bits(plan.program(), CONSTRUCTOR)]);
        receive_blocks(session, &mut theirs).await?;
        prepared.material.check_keys(&owners, CONSTRUCTOR, &theirs)?;
        let mut opened = self.commitments.open(session.channel(), &watched).await?;
        let decoding = opened.split_off(own.len());
        let mut ours = Zeroizing::new(Vec::with_capacity(own.len()));
        for (i, ((difference, transfer), y)) in
            opened.into_iter().zip(prepared.transfers.iter()).zip(own.iter()).enumerate()
        {
            let key = transfer.block ^ difference;
            let zero = select_bit(difference) ^ transfer.told ^ masked.get(i);
            if select_bit(key) ^ zero != y {
                return Err(Cheating::new(Check::InputKeyBit, format!("input bit {i}")).into());
            }
            ours.push(key);
        }
        prepared.material.check_keys(&owners, EVALUATOR, &ours)?;
        let keys = deal(&owners, &theirs, &ours, &prepared.built.inputs);
        let masks = prepared.told.iter().zip(&told).filter(|(_, told)| **told).map(|(&mask, _)| mask);
        let zeros = decoding.into_iter().zip(masks).map(|(block, mask)| select_bit(block) ^ mask).collect();
        Ok((keys, zeros))
    }

    #[cfg(test)]
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    #[cfg(test)]
    pub(super) fn work(&self) -> [u64; 2] {
        self.components.work()
    }

    /// The security of this party's runs, and whether the constructor has given its secret away in the last one.
    pub fn security(&self) -> Security {
        Security { peer_exposed: self.exposed, ..self.orders.security() }
    }

    /// What the store has; nothing without a store.
    pub fn stock(&self) -> Amounts {
        self.pool.as_ref().map(Pool::has).unwrap_or_default()
    }

    /// Keeps what a run left in the store under a name, in place of what was there.
    ///
    /// *Errors*: the store's; also if there is none.
    pub fn keep(&mut self, name: &str, kept: &EvaluatorKept) -> Result<(), ProtocolError> {
        let (run, code) = (self.runs, self.config.code);
        kept::store(self.pool.as_mut().ok_or_else(no_store)?, &self.secrets, (name, run, code), kept)
    }

    /// What was kept in the store under a name.
    ///
    /// *Errors*: nothing of that name, or of an earlier store of the peer.
    pub fn kept(&self, name: &str) -> Result<EvaluatorKept, ProtocolError> {
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

/// The keys of all inputs in program order: the constructor's, the evaluator's, and those that are read.
fn deal(owners: &[Party], theirs: &[Block], ours: &[Block], held: &[Held]) -> Zeroizing<Vec<Block>> {
    let (mut theirs, mut ours) = (theirs.iter().copied(), ours.iter().copied());
    let next = |(&owner, held): (&Party, &Held)| match owner {
        CONSTRUCTOR => theirs.next(),
        EVALUATOR => ours.next(),
        _ => Some(held.key),
    };
    Zeroizing::new(owners.iter().zip(held).map(next).map(Option::unwrap_or_default).collect())
}

/// The inputs of an evaluation.
struct Given<'a> {
    /// Of all inputs.
    keys: &'a [Block],
    own: &'a Bits,
    /// Whether the select bits of the outputs that this party learns are negated.
    decoding: Vec<bool>,
}

/// The results of an evaluation.
struct Evaluated {
    /// Whether gates have shown the difference.
    exposed: bool,
    /// Of all outputs.
    keys: Zeroizing<Vec<Block>>,
    /// Of all outputs, though only right for those that this party learns.
    bits: Vec<bool>,
}

/// Evaluates; and does what finds the right result if gates show the difference whether or not they do, so that nobody sees by the time
/// that they did: with a difference that is none. `escaping` bad gates are provided for.
///
/// All errors are the disk's.
fn evaluate(
    plan: &Plan,
    prepared: &mut EvaluatorPrepared,
    given: Given<'_>,
    escaping: u64,
    threads: usize,
) -> Result<Evaluated, ProtocolError> {
    let Built { schedules, joins, .. } = &prepared.built;
    let (mut labels, shown) = prepared.material.evaluate(plan, schedules, given.keys, escaping, threads)?;
    let mut zeros = given.decoding.into_iter();
    let decoded = labels.iter().zip(plan.learned(EVALUATOR));
    let decoded: Vec<bool> =
        decoded.map(|(&key, learned)| learned && zeros.next().is_some_and(|zero| zero ^ select_bit(key))).collect();
    let (exposed, delta) = (shown.is_some(), Zeroizing::new(shown.unwrap_or(Block::ONES)));
    let Extracted { outputs, held } =
        extract(plan, &mut prepared.material, *delta, (given.keys, &labels), given.own, joins, &decoded)?;
    let mut bits = Vec::with_capacity(decoded.len());
    for (((label, right), held), decoded) in labels.iter_mut().zip(outputs.iter()).zip(held.iter()).zip(decoded) {
        *label ^= Block::mask(exposed & (right ^ held)) & *delta;
        bits.push(decoded ^ (exposed & (right ^ decoded)));
    }
    Ok(Evaluated { exposed, keys: labels, bits })
}
