//! Party 0: makes gates and commits to every wire of them.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_commit::{CommitSender, Committed};
use garblet_ot::{CheckedCotReceiver, CheckedCotSender, RandomOtReceiver, RandomOtSender, Sigma};
use garblet_primitives::{Block, Delta, Prg};
use rand_core::Rng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    CONSTRUCTOR, EVALUATOR, Step,
    delta_ot::{self, SEEDS},
    gates::Components,
    layout::{Challenge, Heads, Layout, Soldering},
    leak,
    plan::{Plan, STATISTICAL, select_bit},
    wiring::{input_solderings, walk},
};
use crate::{
    bulk::{receive_bits, receive_blocks, send_blocks},
    checks::{Cheating, Check},
    conduct::{Conduct, Honest},
    error::ProtocolError,
    interface,
    phase::Phase,
    session::Session,
};

/// The constructor of a session.
pub struct Constructor<C = Honest> {
    conduct: C,
    plan: Arc<Plan>,
    commitments: CommitSender,
    delta_ot: delta_ot::Constructor,
    delta: Committed,
}

/// What the constructor has prepared for one run; a run consumes it, so it is used at most once.
pub struct ConstructorPrepared {
    heads: Heads<Committed>,
    /// The constructor's blocks `r_i` of the OTs, one per input bit.
    strings: Vec<Committed>,
    /// What masks the select bits of outputs.
    masks: Vec<Committed>,
    /// The zero keys of all outputs, once the function is known.
    outputs: Vec<Committed>,
}

impl Constructor {
    /// Sets up OTs both ways, commitments from one and the difference from the other.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn setup(session: &mut Session, plan: Arc<Plan>) -> Result<Self, ProtocolError> {
        Constructor::setup_with(session, plan, Honest).await
    }
}

impl<C: Conduct<Step>> Constructor<C> {
    /// The same with a conduct, for tests.
    ///
    /// *Errors*: as [`Constructor::setup`].
    pub async fn setup_with(session: &mut Session, plan: Arc<Plan>, mut conduct: C) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        let config = plan.config();
        let (channel, rng) = session.parts();
        let unused = Delta::random(rng);
        let sender = CheckedCotSender::setup(channel, rng, &unused, config.ot_width, Sigma::Forty).await?;
        let pairs = RandomOtSender::new(sender).extend(channel, config.code.length()).await?;
        let mut commitments = CommitSender::new(config.code, &Zeroizing::new(pairs))?;
        let receiver = CheckedCotReceiver::setup(channel, rng, config.ot_width, Sigma::Forty).await?;
        let (bits, seeds) = RandomOtReceiver::new(receiver).extend(channel, SEEDS).await?;
        let delta_ot = delta_ot::Constructor::setup(channel, rng, bits, &Zeroizing::new(seeds)).await?;
        let mut delta = [delta_ot.delta().block()];
        conduct.touch(Step::Delta, 0, bytemuck::cast_slice_mut(&mut delta));
        let delta = commitments.commit_to(channel, &delta).await?;
        Ok(Constructor { conduct, plan, commitments, delta_ot, delta: delta[0] })
    }

    #[cfg(test)]
    pub(super) fn delta(&self) -> Block {
        self.delta.message()
    }

    /// Makes gates and authenticators, has them checked, and joins them to buckets; nothing here depends on the function but
    /// its size.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub async fn prepare(&mut self, session: &mut Session) -> Result<ConstructorPrepared, ProtocolError> {
        session.enter(Phase::Prepare);
        let plan = self.plan.clone();
        let (channel, rng) = session.parts();
        let inputs = plan.pool_inputs();
        let blocks = self.delta_ot.extend(channel, rng, inputs + STATISTICAL as usize).await?;
        let (gates, authenticators) = (plan.gates_made(), plan.authenticators_made());
        let random = 3 * gates + authenticators + plan.outputs() + STATISTICAL as usize;
        let mut committed = self.commitments.commit(channel, random).await?;
        let mut committed_blocks = blocks.clone();
        self.conduct.touch(Step::Strings, 0, bytemuck::cast_slice_mut(&mut committed_blocks[..inputs]));
        let mut strings = self.commitments.commit_to(channel, &committed_blocks).await?;
        let masks = committed.split_off(3 * gates + authenticators);
        let authenticated = committed.split_off(3 * gates);
        let gates: Vec<Soldering<Committed>> = committed.as_chunks::<3>().0.to_vec();
        self.send_components(session, &gates, &authenticated).await?;
        let checked = strings.split_off(inputs);
        self.leak(session, &strings, &masks).await?;
        let challenge = self.open_checked(session, &gates, &authenticated, (&blocks[inputs..], &checked)).await?;
        let unchecked = challenge.unchecked(gates.len(), authenticated.len());
        let heads = self.solder_buckets(session, unchecked, &gates, &authenticated).await?;
        let masks = masks[..plan.outputs()].to_vec();
        Ok(ConstructorPrepared { heads, strings, masks, outputs: Vec::new() })
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
        let plan = self.plan.clone();
        let heads = &prepared.heads;
        let mut solderings = Vec::new();
        let mut next = heads.gates.iter();
        let inputs = plan.by_port(&heads.inputs);
        let outputs = walk(plan.program(), inputs, self.delta, |left, right| {
            let [head_left, head_right, output] = next.next().copied().unwrap_or_default();
            solderings.extend([left ^ head_left, right ^ head_right]);
            output
        });
        solderings.extend(input_solderings(&plan, &heads.inputs, &heads.input_gates));
        self.commitments.open_batch(session.channel(), &solderings).await?;
        prepared.outputs = outputs.iter().flatten().copied().collect();
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
        let plan = self.plan.clone();
        let own = interface::own_input(plan.program(), CONSTRUCTOR, values)?;
        session.enter(Phase::Online);
        let theirs = interface::input_bits(plan.program(), EVALUATOR);
        let masked = receive_bits(session, theirs).await?;
        let owners = plan.owners();
        let of = |party| {
            let keys = prepared.heads.inputs.iter().zip(&owners);
            keys.filter(move |(_, owner)| **owner == party).map(|(&key, _)| key)
        };
        let delta = self.delta.message();
        let mut keys: Vec<Block> =
            of(CONSTRUCTOR).zip(own.iter()).map(|(key, bit)| key.message() ^ (Block::mask(bit) & delta)).collect();
        self.conduct.touch(Step::InputKeys, 0, bytemuck::cast_slice_mut(&mut keys));
        send_blocks(session, &keys).await?;
        let differences = of(EVALUATOR).zip(&prepared.strings).zip(masked.iter());
        let differences =
            differences.map(|((key, &string), e)| key ^ string ^ if e { self.delta } else { Committed::default() });
        let told = plan.learned(EVALUATOR);
        let decoding = prepared.outputs.iter().zip(&prepared.masks).zip(told);
        let decoding = decoding.filter(|(_, told)| *told).map(|((&output, &mask), _)| output ^ mask);
        let opened: Vec<Committed> = differences.chain(decoding).collect();
        self.commitments.open(session.channel(), &opened).await?;
        self.receive_outputs(session, &prepared.outputs).await
    }

    /// The keys of this party's outputs, and what they stand for.
    async fn receive_outputs(
        &self,
        session: &mut Session,
        outputs: &[Committed],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let learned = self.plan.learned(CONSTRUCTOR);
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
        Ok(self.plan.outputs_for(CONSTRUCTOR, bits.into_iter()))
    }

    /// Sends the seeds of the hashes, gates with the shifts to their committed outputs, and authenticators.
    async fn send_components(
        &mut self,
        session: &mut Session,
        gates: &[Soldering<Committed>],
        authenticated: &[Committed],
    ) -> Result<(), ProtocolError> {
        let rng = session.rng();
        let seeds = [Block::random(rng), Block::random(rng)];
        let secret = Zeroizing::new(Block::random(rng));
        let mut order = Prg::random(rng);
        let components = Components::new(seeds);
        let inputs: Zeroizing<Vec<Block>> =
            Zeroizing::new(gates.iter().flat_map(|[left, right, _]| [left.message(), right.message()]).collect());
        let delta = self.delta_ot.delta();
        let (mut tables, outputs) = components.garble(delta, *secret, &inputs);
        let mut shifts: Vec<Block> =
            outputs.iter().zip(gates).map(|(&given, gate)| given ^ gate[2].message()).collect();
        let zeros: Zeroizing<Vec<Block>> = Zeroizing::new(authenticated.iter().map(Committed::message).collect());
        let swaps = std::iter::repeat_with(|| order.next_u32() & 1 == 1);
        let mut pairs = components.authenticate(delta, &zeros, swaps);
        self.conduct.touch(Step::Tables, 0, &mut tables);
        self.conduct.touch(Step::Shifts, 0, bytemuck::cast_slice_mut(&mut shifts));
        self.conduct.touch(Step::Authenticators, 0, bytemuck::cast_slice_mut(&mut pairs));
        send_blocks(session, &seeds).await?;
        session.channel().send_bytes(&tables).await?;
        send_blocks(session, &shifts).await?;
        send_blocks(session, pairs.as_flattened()).await
    }

    /// Tells the select bits of the OTs' blocks and of the output masks, and opens blinded combinations of them.
    async fn leak(
        &mut self,
        session: &mut Session,
        strings: &[Committed],
        masks: &[Committed],
    ) -> Result<(), ProtocolError> {
        let told: Bits = strings.iter().chain(masks).map(|committed| select_bit(committed.message())).collect();
        let mut told = told.to_bytes();
        self.conduct.touch(Step::Told, 0, &mut told);
        session.channel().send_bytes(&told).await?;
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        let combinations = leak::combinations(seed[0], self.delta, strings, masks);
        Ok(self.commitments.open(session.channel(), &combinations).await?)
    }

    /// Opens what the evaluator checks: keys of gates and authenticators, and the OTs of which it shows to know its block.
    async fn open_checked(
        &self,
        session: &mut Session,
        gates: &[Soldering<Committed>],
        authenticated: &[Committed],
        (blocks, strings): (&[Block], &[Committed]),
    ) -> Result<Challenge, ProtocolError> {
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        let challenge = Challenge::of(seed[0], &self.plan.parameters(), gates.len(), authenticated.len());
        let bits = receive_bits(session, strings.len()).await?;
        let mut claimed = vec![Block::ZERO; strings.len()];
        receive_blocks(session, &mut claimed).await?;
        let delta = self.delta_ot.delta().block();
        let right = blocks.iter().zip(bits.iter()).map(|(&block, bit)| block ^ (Block::mask(bit) & delta));
        if let Some(index) = right.zip(claimed).position(|(right, claimed)| !bool::from(right.ct_eq(&claimed))) {
            return Err(Cheating::new(Check::DeltaClaim, format!("OT {index}")).into());
        }
        let mut opened = challenge.keys(self.delta, gates, authenticated);
        let strings = strings.iter().zip(bits.iter());
        opened.extend(strings.map(|(&string, bit)| string ^ if bit { self.delta } else { Committed::default() }));
        self.commitments.open_batch(session.channel(), &opened).await?;
        Ok(challenge)
    }

    /// Opens what joins the components of every bucket, as the evaluator's permutation says.
    async fn solder_buckets(
        &self,
        session: &mut Session,
        unchecked: [Vec<u64>; 2],
        gates: &[Soldering<Committed>],
        authenticated: &[Committed],
    ) -> Result<Heads<Committed>, ProtocolError> {
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        let layout = Layout::new(self.plan.parameters(), unchecked, seed[0]).ok_or_else(super::too_few_left)?;
        let solderings = layout.solderings(gates, authenticated);
        self.commitments.open_batch(session.channel(), &solderings).await?;
        Ok(layout.heads(gates, authenticated))
    }
}
