//! Party 1: checks, and evaluates.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_commit::{CommitReceiver, Watched};
use garblet_ot::{CheckedCotReceiver, CheckedCotSender, Choices, RandomOtReceiver, RandomOtSender, Sigma};
use garblet_primitives::{Block, Delta};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    CONSTRUCTOR, Checks, EVALUATOR, Step,
    bucket::Material,
    delta_ot::{self, SEEDS},
    extract::extract,
    gates::{Components, TABLE_BYTES},
    layout::{Challenge, Heads, Layout, Soldering},
    leak,
    plan::{Plan, STATISTICAL, select_bit},
    wiring::{input_solderings, walk},
};
use crate::{
    bulk::{receive_bits, receive_blocks, send_bits, send_blocks},
    checks::{Cheating, Check},
    conduct::{Conduct, Honest},
    error::ProtocolError,
    interface,
    phase::Phase,
    session::Session,
};

/// The evaluator of a session.
pub struct Evaluator<C = Honest> {
    conduct: C,
    plan: Arc<Plan>,
    commitments: CommitReceiver,
    delta_ot: delta_ot::Evaluator,
    delta: Watched,
}

/// What the evaluator has prepared for one run; a run consumes it, so it is used at most once.
pub struct EvaluatorPrepared {
    pub(super) material: Material,
    heads: Heads<Watched>,
    /// Bits `b_i` of the OTs, and `r_i + b_i delta`.
    choices: Choices,
    blocks: Zeroizing<Vec<Block>>,
    strings: Vec<Watched>,
    masks: Vec<Watched>,
    /// Select bits of the `r_i`, then of the masks.
    told: Bits,
    checks: Checks,
    built: Built,
}

impl EvaluatorPrepared {
    /// How many components were checked.
    pub fn checks(&self) -> Checks {
        self.checks
    }
}

/// What is known once the function is.
#[derive(Default)]
struct Built {
    /// What joins left and right input of every AND gate to its bucket.
    solderings: Vec<[Block; 2]>,
    /// What joins the constructor's inputs to the input buckets.
    joins: Vec<Block>,
    outputs: Vec<Watched>,
}

/// Gates and authenticators as they came.
struct Received {
    components: Components,
    tables: Vec<u8>,
    shifts: Vec<Block>,
    authenticators: Vec<[Block; 2]>,
}

impl Evaluator {
    /// Sets up OTs both ways, commitments from one and the difference from the other.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn setup(session: &mut Session, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        Evaluator::setup_with(session, plan, Honest).await
    }
}

impl<C: Conduct<Step>> Evaluator<C> {
    /// The same with a conduct, for tests.
    ///
    /// *Errors*: as [`Evaluator::setup`].
    pub async fn setup_with(session: &mut Session, plan: Arc<Plan>, conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let config = plan.config();
        let (channel, rng) = session.parts();
        let receiver = CheckedCotReceiver::setup(channel, rng, config.ot_width, Sigma::Forty).await?;
        let (watch, seeds) = RandomOtReceiver::new(receiver).extend(channel, config.code.length()).await?;
        let mut commitments = CommitReceiver::new(config.code, &watch, &Zeroizing::new(seeds))?;
        let unused = Delta::random(rng);
        let sender = CheckedCotSender::setup(channel, rng, &unused, config.ot_width, Sigma::Forty).await?;
        let pairs = RandomOtSender::new(sender).extend(channel, SEEDS).await?;
        let delta_ot = delta_ot::Evaluator::setup(channel, &Zeroizing::new(pairs)).await?;
        let delta = commitments.commit_to(channel, rng, 1).await?;
        Ok(Evaluator { conduct, plan, commitments, delta_ot, delta: delta[0] })
    }

    /// Takes gates and authenticators, checks some, and has the others joined to buckets.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn prepare(&mut self, session: &mut Session) -> Result<EvaluatorPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let plan = self.plan.clone();
        let (channel, rng) = session.parts();
        let inputs = plan.pool_inputs();
        let wanted = inputs + STATISTICAL as usize;
        let (choices, blocks) = self.delta_ot.extend(channel, rng, wanted, &mut self.conduct).await?;
        let (gates, authenticators) = (plan.gates_made(), plan.authenticators_made());
        let random = 3 * gates + authenticators + plan.outputs() + STATISTICAL as usize;
        let mut watched = self.commitments.commit(channel, rng, random).await?;
        let mut strings = self.commitments.commit_to(channel, rng, wanted).await?;
        let masks = watched.split_off(3 * gates + authenticators);
        let authenticated = watched.split_off(3 * gates);
        let gates: Vec<Soldering<Watched>> = watched.as_chunks::<3>().0.to_vec();
        let received = receive_components(session, gates.len(), authenticated.len()).await?;
        let checked = strings.split_off(inputs);
        let told = self.check_told(session, &strings, &masks).await?;
        let tail = (&choices.slice(inputs..wanted), &blocks[inputs..], &checked[..]);
        let challenge = self.check_components(session, &received, &gates, &authenticated, tail).await?;
        let checks =
            Checks { gates: challenge.gates.len() as u64, authenticators: challenge.authenticators.len() as u64 };
        let unchecked = challenge.unchecked(gates.len(), authenticated.len());
        let (material, heads) = self.join_buckets(session, received, unchecked, &gates, &authenticated).await?;
        let masks = masks[..plan.outputs()].to_vec();
        let choices = choices.slice(0..inputs);
        Ok(EvaluatorPrepared {
            material,
            heads,
            choices,
            blocks,
            strings,
            masks,
            told,
            checks,
            built: Built::default(),
        })
    }

    /// Has buckets joined to the function.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn build(
        &mut self,
        session: &mut Session,
        prepared: &mut EvaluatorPrepared,
    ) -> Result<(), ProtocolError> {
        session.enter(Phase::Build);
        let plan = self.plan.clone();
        let heads = &prepared.heads;
        let mut watched = Vec::new();
        let mut next = heads.gates.iter();
        let inputs = plan.by_port(&heads.inputs);
        let outputs = walk(plan.program(), inputs, self.delta, |left, right| {
            let [head_left, head_right, output] = next.next().copied().unwrap_or_default();
            watched.extend([left ^ head_left, right ^ head_right]);
            output
        });
        let of_gates = watched.len();
        watched.extend(input_solderings(&plan, &heads.inputs, &heads.input_gates));
        let (channel, rng) = session.parts();
        let mut opened = self.commitments.open_batch(channel, rng, &watched).await?;
        let joins = opened.split_off(of_gates);
        let outputs = outputs.iter().flatten().copied().collect();
        prepared.built = Built { solderings: opened.as_chunks::<2>().0.to_vec(), joins, outputs };
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
        let plan = self.plan.clone();
        let own = interface::own_input(plan.program(), EVALUATOR, values)?;
        session.enter(Phase::Online);
        let masked: Bits = own.iter().zip(prepared.choices.iter()).map(|(y, b)| y ^ b).collect();
        send_bits(session, &masked).await?;
        let mut theirs = vec![Block::ZERO; interface::input_bits(plan.program(), CONSTRUCTOR)];
        receive_blocks(session, &mut theirs).await?;
        let (keys, decoding) = self.receive_keys(session, &prepared, &masked, &own, theirs).await?;
        let (outputs, bits) = evaluate(&plan, &prepared, &keys, &own, decoding);
        let mut handed: Vec<Block> = outputs
            .iter()
            .zip(plan.learned(CONSTRUCTOR))
            .filter(|(_, learned)| *learned)
            .map(|(&key, _)| key)
            .collect();
        self.conduct.touch(Step::OutputKeys, 0, bytemuck::cast_slice_mut(&mut handed));
        send_blocks(session, &handed).await?;
        session.channel().flush().await?;
        Ok(plan.outputs_for(EVALUATOR, bits.into_iter()))
    }

    /// The keys of all inputs, checked, and what decodes this party's outputs.
    async fn receive_keys(
        &self,
        session: &mut Session,
        prepared: &EvaluatorPrepared,
        masked: &Bits,
        own: &Bits,
        theirs: Vec<Block>,
    ) -> Result<(Zeroizing<Vec<Block>>, Vec<bool>), ProtocolError> {
        let plan = &self.plan;
        let (owners, told) = (plan.owners(), plan.learned(EVALUATOR));
        let own_inputs = prepared.heads.inputs.iter().zip(&owners).filter(|(_, owner)| **owner == EVALUATOR);
        let differences = own_inputs.zip(&prepared.strings).zip(masked.iter());
        let differences =
            differences.map(|(((&key, _), &string), e)| key ^ string ^ if e { self.delta } else { Watched::default() });
        let decoding = prepared.built.outputs.iter().zip(&prepared.masks).zip(&told);
        let decoding = decoding.filter(|(_, told)| **told).map(|((&output, &mask), _)| output ^ mask);
        let watched: Vec<Watched> = differences.chain(decoding).collect();
        let mut opened = self.commitments.open(session.channel(), &watched).await?;
        let decoding = opened.split_off(own.len());
        let mut ours = Vec::with_capacity(own.len());
        for (i, ((difference, &block), y)) in opened.into_iter().zip(prepared.blocks.iter()).zip(own.iter()).enumerate()
        {
            let key = block ^ difference;
            let zero = select_bit(difference) ^ prepared.told.get(i) ^ masked.get(i);
            if select_bit(key) ^ zero != y {
                return Err(Cheating::new(Check::InputKeyBit, format!("input bit {i}")).into());
            }
            ours.push(key);
        }
        let keys = deal(&owners, theirs, ours);
        if let Some(i) = (0..owners.len()).find(|&i| !prepared.material.input_is_valid(i, keys[i])) {
            return Err(Cheating::new(Check::InputKey, format!("input bit {i} of party {}", owners[i])).into());
        }
        let first_mask = plan.pool_inputs();
        let masks = (0..told.len()).filter(|&j| told[j]).map(|j| prepared.told.get(first_mask + j));
        let zeros = decoding.into_iter().zip(masks).map(|(block, mask)| select_bit(block) ^ mask).collect();
        Ok((keys, zeros))
    }

    /// The told select bits, if random combinations of what is committed to have the same.
    async fn check_told(
        &self,
        session: &mut Session,
        strings: &[Watched],
        masks: &[Watched],
    ) -> Result<Bits, ProtocolError> {
        let told = receive_bits(session, strings.len() + masks.len()).await?;
        let seed = Block::random(session.rng());
        send_blocks(session, &[seed]).await?;
        let combinations = leak::combinations(seed, self.delta, strings, masks);
        let opened = self.commitments.open(session.channel(), &combinations).await?;
        let bits: Vec<bool> = told.iter().collect();
        let (of_strings, of_masks) = bits.split_at(strings.len());
        let expected = leak::combinations(seed, true, of_strings, of_masks);
        match opened.iter().zip(expected).position(|(&opened, expected)| select_bit(opened) != expected) {
            None => Ok(told),
            Some(index) => Err(Cheating::new(Check::ToldBits, format!("combination {index}")).into()),
        }
    }

    /// Checks gates and authenticators by coins, and that the committed difference is that of the OTs.
    async fn check_components(
        &mut self,
        session: &mut Session,
        received: &Received,
        gates: &[Soldering<Watched>],
        authenticated: &[Watched],
        (choices, blocks, strings): (&Choices, &[Block], &[Watched]),
    ) -> Result<Challenge, ProtocolError> {
        let seed = Block::random(session.rng());
        let challenge = Challenge::of(seed, &self.plan.parameters(), gates.len(), authenticated.len());
        send_blocks(session, &[seed]).await?;
        session.channel().send_bytes(choices.as_bytes()).await?;
        let mut claims = blocks.to_vec();
        self.conduct.touch(Step::Claims, 0, bytemuck::cast_slice_mut(&mut claims));
        send_blocks(session, &claims).await?;
        let mut watched = challenge.keys(self.delta, gates, authenticated);
        let strings = strings.iter().zip(choices.iter());
        watched.extend(strings.map(|(&string, bit)| string ^ if bit { self.delta } else { Watched::default() }));
        let (channel, rng) = session.parts();
        let mut opened = self.commitments.open_batch(channel, rng, &watched).await?;
        let of_ots = opened.split_off(opened.len() - blocks.len());
        if let Some(index) = of_ots.iter().zip(blocks).position(|(a, b)| !bool::from(a.ct_eq(b))) {
            return Err(Cheating::new(Check::CommittedDelta, format!("OT {index}")).into());
        }
        received.check(&challenge, &opened)?;
        Ok(challenge)
    }

    /// Sends the permutation, and takes what joins the components of every bucket.
    async fn join_buckets(
        &self,
        session: &mut Session,
        received: Received,
        unchecked: [Vec<u64>; 2],
        gates: &[Soldering<Watched>],
        authenticated: &[Watched],
    ) -> Result<(Material, Heads<Watched>), ProtocolError> {
        let seed = Block::random(session.rng());
        send_blocks(session, &[seed]).await?;
        let parameters = self.plan.parameters();
        let layout = Layout::new(parameters, unchecked, seed).ok_or_else(super::too_few_left)?;
        let (channel, rng) = session.parts();
        let opened = self.commitments.open_batch(channel, rng, &layout.solderings(gates, authenticated)).await?;
        let heads = layout.heads(gates, authenticated);
        let Received { components, tables, shifts, authenticators } = received;
        let solderings = layout.sort(opened);
        let buckets = parameters.buckets;
        Ok((Material { components, tables, shifts, authenticators, layout, solderings, buckets }, heads))
    }
}

impl Received {
    /// Whether the checked gates and authenticators do what they should with the opened keys.
    fn check(&self, challenge: &Challenge, opened: &[Block]) -> Result<(), ProtocolError> {
        let numbers: Vec<u64> = challenge.gates.iter().map(|checked| checked.number).collect();
        let (of_gates, of_authenticators) = opened.split_at(3 * numbers.len());
        let triples = of_gates.as_chunks::<3>().0;
        let inputs: Vec<Block> = triples.iter().flat_map(|[left, right, _]| [*left, *right]).collect();
        let mut given = vec![Block::ZERO; numbers.len()];
        self.components.evaluate(&numbers, &inputs, &self.tables, &mut given);
        for ((&number, given), [_, _, output]) in numbers.iter().zip(given).zip(triples) {
            if !bool::from((given ^ self.shifts[number as usize]).ct_eq(output)) {
                return Err(Cheating::new(Check::LegoGate, format!("gate {number}")).into());
            }
        }
        for (checked, &key) in challenge.authenticators.iter().zip(of_authenticators) {
            let pair = &self.authenticators[checked.number as usize];
            if !self.components.accepts(checked.number, pair, key) {
                return Err(Cheating::new(Check::Authenticator, format!("authenticator {}", checked.number)).into());
            }
        }
        Ok(())
    }
}

async fn receive_components(
    session: &mut Session,
    gates: usize,
    authenticators: usize,
) -> Result<Received, ProtocolError> {
    let mut seeds = [Block::ZERO; 2];
    receive_blocks(session, &mut seeds).await?;
    let mut tables = vec![0; TABLE_BYTES * gates];
    session.channel().receive_bytes(&mut tables).await?;
    let mut shifts = vec![Block::ZERO; gates];
    receive_blocks(session, &mut shifts).await?;
    let mut pairs = vec![[Block::ZERO; 2]; authenticators];
    receive_blocks(session, pairs.as_flattened_mut()).await?;
    Ok(Received { components: Components::new(seeds), tables, shifts, authenticators: pairs })
}

/// The keys of both parties' inputs in program order.
fn deal(owners: &[garblet_circuit::Party], theirs: Vec<Block>, ours: Vec<Block>) -> Zeroizing<Vec<Block>> {
    let (mut theirs, mut ours) = (theirs.into_iter(), ours.into_iter());
    let next = |owner: &garblet_circuit::Party| if *owner == CONSTRUCTOR { theirs.next() } else { ours.next() };
    Zeroizing::new(owners.iter().map(next).map(Option::unwrap_or_default).collect())
}

/// The keys of all outputs, and the bits of those that this party learns, in place of the others zero.
///
/// What a cheating constructor may have made of it does not show: there is no error here.
fn evaluate(
    plan: &Plan,
    prepared: &EvaluatorPrepared,
    keys: &[Block],
    own: &Bits,
    decoding: Vec<bool>,
) -> (Vec<Block>, Vec<bool>) {
    let Built { solderings, joins, .. } = &prepared.built;
    let (mut bucket, mut shown) = (0, None);
    let outputs = walk(plan.program(), plan.by_port(keys), Block::ZERO, |left, right| {
        let [l, r] = solderings[bucket];
        let given = prepared.material.and(bucket, left ^ l, right ^ r);
        shown = shown.or(given.delta);
        bucket += 1;
        given.key
    });
    let outputs: Vec<Block> = outputs.iter().flatten().copied().collect();
    match shown {
        None => {
            let mut zeros = decoding.into_iter();
            let learned = outputs.iter().zip(plan.learned(EVALUATOR));
            let bit =
                |(&key, learned): (&Block, bool)| learned && zeros.next().is_some_and(|zero| zero ^ select_bit(key));
            let bits = learned.map(bit).collect();
            (outputs, bits)
        }
        Some(delta) => {
            let extracted = extract(plan, &prepared.material, delta, keys, own, joins, solderings);
            (extracted.keys, extracted.outputs.iter().flat_map(Bits::iter).collect())
        }
    }
}
