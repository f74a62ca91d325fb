//! The evaluator's step 1: solders its buckets.

use std::ops::Range;

use garblet_garble::Schedules;
use garblet_homcommit::{ClaimedOpenings, ReceiverShare};
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::wiring::FunctionSoldering;
use crate::{
    Step,
    evaluator::{EvaluatorPrepared, EvaluatorSide},
    pipeline::Pipeline,
    stock::{pieces::EvaluatorPieces, saved::SavedWire},
};
use garblet_protocol::{conduct::Conduct, error::ProtocolError, session::Session};

impl<C: Conduct<Step>> EvaluatorSide<C> {
    /// Checks the solderings of each lot, and applies them.
    pub(crate) async fn build(
        &mut self,
        session: &mut Session,
        prepared: &mut EvaluatorPrepared,
    ) -> Result<(), ProtocolError> {
        let plan = prepared.plan.clone();
        let own = prepared.wires.inputs.iter().map(|&watched| SavedWire { watched, key: Block::ZERO });
        let own: Zeroizing<Vec<SavedWire>> = Zeroizing::new(own.collect());
        let inputs = plan.all_inputs(&own, &prepared.read)?;
        let watched: Zeroizing<Vec<ReceiverShare>> = Zeroizing::new(inputs.iter().map(|wire| wire.watched).collect());
        let mut soldering = FunctionSoldering::new(&plan, &watched, &prepared.wires.input_gates, *self.delta);
        let ands = &mut prepared.material.ands;
        let mut pipeline: Pipeline<(Range<usize>, ClaimedOpenings)> = Pipeline::new();
        let mut joins = Vec::new();
        for lot in plan.lots() {
            let mut read = EvaluatorPieces::default();
            let heads = match &mut prepared.unread {
                None => &prepared.wires.gates[lot.clone()],
                Some(unread) => {
                    read.buckets[0] = ands.room();
                    unread.read(lot.len() as u64, &mut read)?;
                    ands.put(std::mem::take(&mut read.buckets[0]));
                    &read.wires.gates
                }
            };
            let solderings = soldering.next_lot(heads);
            if solderings.is_empty() {
                continue;
            }
            let (channel, rng) = session.parts();
            let shown = self.commitments.receive_openings(channel, rng, &solderings).await?;
            let done = lot.end as u64;
            if let Some((gates, shown)) = pipeline.push((lot, shown)) {
                joins = ands.join(gates, self.commitments.verify_openings(channel, shown).await?)?;
            }
            session.advance(done, plan.and_count());
        }
        while let Some((gates, shown)) = pipeline.pop() {
            joins = ands.join(gates, self.commitments.verify_openings(session.channel(), shown).await?)?;
        }
        ands.joined();
        prepared.material.schedules = Schedules::ready(plan.program(), plan.schedules());
        prepared.material.joins = joins;
        prepared.outputs = soldering.into_outputs();
        prepared.wires.joined();
        prepared.inputs = inputs;
        Ok(())
    }
}
