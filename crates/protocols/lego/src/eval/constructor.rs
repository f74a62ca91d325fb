//! The constructor's steps: sends input keys and decoding, receives keys of outputs.

use crate::checks;
use garblet_circuit::Bits;
use garblet_homcommit::SenderShare;
use garblet_primitives::{Block, secrets};
use subtle::ConstantTimeEq;

use crate::{
    CONSTRUCTOR, EVALUATOR, Step,
    constructor::{ConstructorPrepared, ConstructorSide},
    plan::{Owner, Plan},
    side::Computed,
    stock::saved::SavedOutputs,
};
use garblet_protocol::{
    bulk::{receive_bits, receive_blocks, send_blocks},
    checks::Cheating,
    conduct::Conduct,
    error::ProtocolError,
    party_io,
    phase::Phase,
    session::Session,
};

impl<C: Conduct<Step>> ConstructorSide<C> {
    /// Steps 2 and 3: sends both parties' input keys and the openings that decode outputs. The evaluator returns keys of this party's outputs.
    pub(crate) async fn eval(
        &mut self,
        session: &mut Session,
        prepared: ConstructorPrepared,
        values: &[Bits],
    ) -> Result<Computed<SenderShare>, ProtocolError> {
        let plan = prepared.plan.clone();
        let own = party_io::own_input(plan.program(), CONSTRUCTOR, values)?;
        session.enter(Phase::Online);
        // Everything that does not depend on the peer's choices is ready when they arrive.
        let owners = plan.owners();
        let of = |party| {
            let keys = prepared.inputs.iter().zip(&owners);
            keys.filter(move |(_, owner)| **owner == party).map(|(&key, _)| key)
        };
        let delta = self.delta.message();
        let mut keys: Vec<Block> = of(Owner::Constructor)
            .zip(own.iter())
            .map(|(key, bit)| key.message() ^ (Block::mask(bit) & delta))
            .collect();
        self.conduct.touch(Step::InputKeys, 0, bytemuck::cast_slice_mut(&mut keys));
        let masked_keys = of(Owner::Evaluator).zip(&prepared.wires.strings).map(|(key, &string)| key ^ string);
        let learned = plan.learned(EVALUATOR);
        let decoding = prepared.outputs.iter().zip(&prepared.wires.masks).zip(learned);
        let decoding = decoding.filter(|(_, learned)| *learned).map(|((&output, &mask), _)| output ^ mask);
        let mut opened: Vec<SenderShare> = masked_keys.chain(decoding).collect();
        let masked = receive_bits(session, party_io::input_bits(plan.program(), EVALUATOR)).await?;
        send_blocks(session, &keys).await?;
        let chosen = opened.iter_mut().zip(masked.iter()).filter(|(_, e)| *e);
        chosen.for_each(|(masked_key, _)| *masked_key = *masked_key ^ *self.delta);
        self.conduct.touch(Step::Openings, 0, bytemuck::cast_slice_mut(&mut opened));
        self.commitments.open(session.channel(), &opened).await?;
        let saved = SavedOutputs::new(plan.named_outputs(&prepared.outputs));
        Ok((self.receive_outputs(session, &plan, &prepared.outputs).await?, saved))
    }

    /// Receives the keys of this party's outputs, and decodes them.
    async fn receive_outputs(
        &mut self,
        session: &mut Session,
        plan: &Plan,
        outputs: &[SenderShare],
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
            if !secrets::verdict(zero | one, "lego: whether the key of an output is one of its two") {
                return Err(Cheating::new(checks::OUTPUT_KEY, format!("output bit {index}")).into());
            }
            bits.push(one.into());
        }
        Ok(plan.outputs_for(CONSTRUCTOR, bits.into_iter()))
    }
}
