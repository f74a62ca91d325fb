//! The constructor's step 1: opens solderings.

use garblet_homcommit::SenderShare;

use super::wiring::FunctionSoldering;
use crate::{
    Step,
    constructor::{ConstructorPrepared, ConstructorSide},
    pipeline::Pipeline,
    stock::pieces::Wires,
};
use garblet_protocol::{conduct::Conduct, error::ProtocolError, session::Session};

impl<C: Conduct<Step>> ConstructorSide<C> {
    /// Opens the solderings of each lot.
    pub(crate) async fn build(
        &mut self,
        session: &mut Session,
        prepared: &mut ConstructorPrepared,
    ) -> Result<(), ProtocolError> {
        let plan = prepared.plan.clone();
        let inputs = plan.all_inputs(&prepared.wires.inputs, &prepared.read)?;
        let mut soldering = FunctionSoldering::new(&plan, &inputs, &prepared.wires.input_gates, *self.delta);
        let mut pipeline: Pipeline<Vec<SenderShare>> = Pipeline::new();
        for (index, lot) in plan.lots().enumerate() {
            let mut read = Wires::default();
            let heads = match &mut prepared.unread {
                None => &prepared.wires.gates[lot.clone()],
                Some(unread) => {
                    unread.read(lot.len() as u64, &mut read)?;
                    &read.gates
                }
            };
            let mut solderings = soldering.next_lot(heads);
            if solderings.is_empty() {
                continue;
            }
            self.conduct.touch(Step::Links, index, bytemuck::cast_slice_mut(&mut solderings));
            self.commitments.claim_openings(session.channel(), &solderings).await?;
            if let Some(before) = pipeline.push(solderings) {
                self.commitments.prove_openings(session.channel(), &before).await?;
            }
            session.advance(lot.end as u64, plan.and_count());
        }
        while let Some(last) = pipeline.pop() {
            self.commitments.prove_openings(session.channel(), &last).await?;
        }
        prepared.outputs = soldering.into_outputs();
        prepared.wires.joined();
        prepared.inputs = inputs;
        Ok(())
    }
}
