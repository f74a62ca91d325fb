//! The preparation of a run, as bytes for a store.
//!
//! ```text
//! seed of hash keys, number of the first gate     16 + 8 bytes
//! delta                                           16
//! permutation bits of base wires                  packed, in whole bytes
//! zero labels of base wires                       16 each
//!                            or, with half gates, the seed of both, 16 bytes
//! seeds of shares of zero                         16 for every other party
//! the joint garbled circuit                       64 n for every AND gate, if the party evaluates;
//!                                                 with half gates 48 (n - 1), and 16 (n - 1) for all
//! ```

use garblet_circuit::Party;
use garblet_ot::BitVec;
use garblet_primitives::Delta;

use super::{
    config::Form,
    half_gates,
    party::Prepared,
    plan::Plan,
    rows::Numbered,
    secrets::{Labels, Secrets},
    zeros::ZeroSeeds,
};
use garblet_protocol::run_id::RunId;
use garblet_runs::{Reader, StoredRun};

/// The seed, the first gate, and the delta.
const HEAD_BYTES: usize = 16 + 8 + 16;

impl StoredRun for Prepared {
    type Plan = Plan;

    fn byte_len(plan: &Plan, party: Party) -> usize {
        let base = plan.base_count();
        let secrets = if plan.form() == Form::HalfGates { 16 } else { base.div_ceil(8) + 16 * base };
        HEAD_BYTES + secrets + 16 * (peers(plan) + circuit_blocks(plan, party))
    }

    fn write(&self, plan: &Plan, bytes: &mut Vec<u8>) {
        let Secrets { party, delta, permutation, labels, seed } = &self.secrets;
        bytes.extend_from_slice(&self.numbered.seed.to_bytes());
        bytes.extend_from_slice(&self.numbered.first.to_le_bytes());
        bytes.extend_from_slice(&delta.block().to_bytes());
        match seed {
            Some(seed) => bytes.extend_from_slice(&seed.to_bytes()),
            None => {
                bytes.extend_from_slice(permutation.as_bytes());
                bytes.extend_from_slice(bytemuck::cast_slice(&labels.0));
            }
        }
        bytes.extend_from_slice(bytemuck::cast_slice(&self.zeros.0));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.circuit[..circuit_blocks(plan, *party)]));
    }

    fn read(plan: &Plan, party: Party, run: RunId, mut bytes: Reader<'_>) -> Option<Self> {
        let base = plan.base_count();
        let seed = bytes.block()?;
        let first = u64::from_le_bytes(bytes.take(8)?.try_into().ok()?);
        let delta = Delta::new(bytes.block()?);
        let secrets = if plan.form() == Form::HalfGates {
            Secrets::of_seed(plan, party, &delta, bytes.block()?)
        } else {
            let permutation = BitVec::from_bytes(bytes.take(base.div_ceil(8))?.to_vec(), base).ok()?;
            let labels = Labels(bytes.blocks(base)?);
            Secrets { party, delta, permutation, labels, seed: None }
        };
        let zeros = ZeroSeeds(bytes.blocks(peers(plan))?);
        let circuit = bytes.blocks(circuit_blocks(plan, party))?;
        Some(Prepared { run, secrets, numbered: Numbered { seed, first }, circuit, zeros })
    }
}

/// The number of blocks of the circuit that a party has to keep.
fn circuit_blocks(plan: &Plan, party: Party) -> usize {
    match plan.form() {
        Form::HalfGates if plan.slot(party).is_none() => half_gates::circuit_blocks(plan),
        Form::Linear | Form::Published(_) if plan.evaluates(party) => plan.row_blocks(),
        _ => 0,
    }
}

fn peers(plan: &Plan) -> usize {
    usize::from(plan.parties()) - 1
}
