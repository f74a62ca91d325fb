//! The evaluator's steps: masks its input, checks input keys, evaluates and decodes.

use crate::checks;
use garblet_circuit::Bits;
use garblet_homcommit::ReceiverShare;
use garblet_ot::BitVec;
use garblet_primitives::{Block, secrets};
use zeroize::Zeroizing;

use super::{
    bucket::{AcceptedKeys, Material},
    extract::{Extracted, extract},
};
use crate::{
    CONSTRUCTOR, EVALUATOR, Step,
    evaluator::{EvaluatorPrepared, EvaluatorSide},
    generate::{layout::key, leak::select_bit},
    plan::{Owner, Plan},
    side::Computed,
    stock::saved::{SavedOutputs, SavedWire},
};
use garblet_protocol::{
    bulk::{receive_blocks, send_blocks},
    checks::Cheating,
    conduct::Conduct,
    error::ProtocolError,
    party_io,
    phase::Phase,
    session::Session,
    workers::Finishing,
};

impl<C: Conduct<Step>> EvaluatorSide<C> {
    /// Steps 1, 4 and 5: gets input keys, evaluates, decodes, and sends the constructor the keys of its outputs. There are dummy votes for all bad gates
    /// that may have escaped the checks.
    pub(crate) async fn eval(
        &mut self,
        session: &mut Session,
        mut prepared: EvaluatorPrepared,
        values: &[Bits],
        escaping: u64,
    ) -> Result<Computed<ReceiverShare>, ProtocolError> {
        let plan = prepared.plan.clone();
        let own = party_io::own_input(plan.program(), EVALUATOR, values)?;
        session.enter(Phase::Online);
        let choices = prepared.material.transfers.iter().map(|transfer| transfer.choice);
        let masked: BitVec = own.iter().zip(choices).map(|(y, choice)| choice ^ y).collect();
        masked.send(session.channel()).await?;
        let masked: Bits = masked.public("lego: masked inputs, which are sent").collect();
        session.channel().flush().await?;
        let (keys, decoding) = self.receive_keys(session, &mut prepared, &masked, &own).await?;
        let given = Given { keys: &keys, own: &own, decoding };
        let threads = session.workers();
        let Evaluated { exposed, keys: outputs, bits } =
            evaluate(&plan, &mut prepared.material, given, escaping, threads)?;
        self.exposed = exposed;
        let learned = outputs.iter().zip(plan.learned(CONSTRUCTOR)).filter(|(_, learned)| *learned);
        let mut handed: Vec<Block> = learned.map(|(&key, _)| key).collect();
        self.conduct.touch(Step::OutputKeys, 0, bytemuck::cast_slice_mut(&mut handed));
        send_blocks(session, &handed).await?;
        session.channel().flush().await?;
        let wires = prepared.outputs.iter().zip(outputs.iter()).map(|(&watched, &key)| SavedWire { watched, key });
        let wires = Zeroizing::new(wires.collect::<Vec<_>>());
        let saved = SavedOutputs::new(plan.named_outputs(&wires));
        self.free(prepared, threads);
        Ok((plan.outputs_for(EVALUATOR, bits.iter().copied()), saved))
    }

    /// Receives and checks the keys of all inputs and the openings that decode this party's outputs.
    async fn receive_keys(
        &mut self,
        session: &mut Session,
        prepared: &mut EvaluatorPrepared,
        masked: &Bits,
        own: &Bits,
    ) -> Result<(Zeroizing<Vec<Block>>, Zeroizing<Vec<bool>>), ProtocolError> {
        let plan = prepared.plan.clone();
        let (owners, learned) = (plan.owners(), plan.learned(EVALUATOR));
        let own_inputs = prepared.inputs.iter().zip(&owners).filter(|(_, owner)| **owner == Owner::Evaluator);
        let masked_keys = own_inputs.zip(&prepared.wires.strings).zip(masked.iter());
        let masked_keys = masked_keys.map(|(((wire, _), &string), e)| key(*self.delta, wire.watched ^ string, e));
        let decoding = prepared.outputs.iter().zip(&prepared.wires.masks).zip(&learned);
        let decoding = decoding.filter(|(_, learned)| **learned).map(|((&output, &mask), _)| output ^ mask);
        let watched: Vec<ReceiverShare> = masked_keys.chain(decoding).collect();
        let mut theirs = Zeroizing::new(vec![Block::ZERO; party_io::input_bits(plan.program(), CONSTRUCTOR)]);
        receive_blocks(session, &mut theirs).await?;
        let theirs = prepared.material.check_keys(&owners, Owner::Constructor, theirs)?;
        let mut opened = self.commitments.open(session.channel(), &watched).await?;
        let decoding = opened.split_off(own.len());
        let mut ours = Zeroizing::new(Vec::with_capacity(own.len()));
        for (i, ((masked_key, transfer), y)) in
            opened.into_iter().zip(prepared.material.transfers.iter()).zip(own.iter()).enumerate()
        {
            let key = transfer.block ^ masked_key;
            let zero = select_bit(masked_key) ^ transfer.claimed ^ masked.get(i);
            let wrong = select_bit(key) ^ zero ^ y;
            if secrets::public(wrong, "lego: whether the key of an own input bit encodes the bit") {
                return Err(Cheating::new(checks::INPUT_KEY_BIT, format!("input bit {i}")).into());
            }
            ours.push(key);
        }
        let ours = prepared.material.check_keys(&owners, Owner::Evaluator, ours)?;
        let keys = deal(&owners, &theirs, &ours, &prepared.inputs);
        let masks = prepared.material.claimed.iter().zip(&learned).filter(|(_, learned)| **learned);
        let zeros = decoding.into_iter().zip(masks).map(|(block, (&mask, _))| select_bit(block) ^ mask);
        Ok((keys, Zeroizing::new(zeros.collect())))
    }

    /// Frees the material of a run. For a large function that takes as long as evaluating it, so a separate thread does it if
    /// there may be several.
    fn free(&mut self, prepared: EvaluatorPrepared, threads: usize) {
        let large = threads > 1 && prepared.plan.lots().len() > 1;
        self.freeing = large.then(|| Finishing::begin(move || drop(prepared)));
    }
}

/// The keys of all inputs in program order: the constructor's, the evaluator's, and those that are read.
fn deal(owners: &[Owner], theirs: &AcceptedKeys, ours: &AcceptedKeys, inputs: &[SavedWire]) -> Zeroizing<Vec<Block>> {
    let (mut theirs, mut ours) = (theirs.iter().copied(), ours.iter().copied());
    let next = |(&owner, wire): (&Owner, &SavedWire)| match owner {
        Owner::Constructor => theirs.next(),
        Owner::Evaluator => ours.next(),
        Owner::Saved => Some(wire.key),
    };
    Zeroizing::new(owners.iter().zip(inputs).map(next).map(Option::unwrap_or_default).collect())
}

/// The inputs of an evaluation.
struct Given<'a> {
    /// The keys of all inputs.
    keys: &'a [Block],
    own: &'a Bits,
    /// True where the select bits of the outputs that this party learns are negated.
    decoding: Zeroizing<Vec<bool>>,
}

/// The results of an evaluation.
struct Evaluated {
    /// Set if gates have revealed delta.
    exposed: bool,
    /// The keys of all outputs.
    keys: Zeroizing<Vec<Block>>,
    /// The bits of all outputs. Only those that this party learns are right.
    bits: Zeroizing<Vec<bool>>,
}

/// Evaluates, and always extracts the constructor's input, so the time does not reveal whether gates revealed delta: if they did not, another block takes its
/// place. There are dummy votes for `escaping` bad gates.
///
/// *Errors*: the disk's.
fn evaluate(
    plan: &Plan,
    material: &mut Material,
    given: Given<'_>,
    escaping: u64,
    threads: usize,
) -> Result<Evaluated, ProtocolError> {
    let (mut labels, shown) = material.evaluate(plan, given.keys, escaping, threads)?;
    let mut zeros = given.decoding.iter();
    let decoded = labels.iter().zip(plan.learned(EVALUATOR));
    let decode = |(&key, learned)| learned && zeros.next().is_some_and(|zero| *zero ^ select_bit(key));
    let decoded: Zeroizing<Vec<bool>> = Zeroizing::new(decoded.map(decode).collect());
    let (exposed, delta) = (shown.is_some(), Zeroizing::new(shown.unwrap_or(Block::ONES)));
    let Extracted { outputs, held } = extract(plan, material, *delta, (given.keys, &labels), given.own, &decoded)?;
    let mut bits = Zeroizing::new(Vec::with_capacity(decoded.len()));
    for (((label, right), held), decoded) in labels.iter_mut().zip(outputs.iter()).zip(held.iter()).zip(decoded.iter())
    {
        *label ^= Block::mask(exposed & (right ^ held)) & *delta;
        bits.push(decoded ^ (exposed & (right ^ *decoded)));
    }
    Ok(Evaluated { exposed, keys: labels, bits })
}
