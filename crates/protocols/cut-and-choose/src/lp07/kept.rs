//! Storage for all circuits and supersets until the coins are tossed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use garblet_primitives::Block;
use garblet_store::Scratch;
use zeroize::Zeroizing;

use super::{super::plan::Plan, supersets::Shape};
use garblet_protocol::{error::ProtocolError, session::Session};
use garblet_seeded::Blueprint;

/// Circuits and supersets, in memory up to a bound; each is written part by part and taken once.
pub(super) struct Kept {
    room: Mutex<Scratch>,
    circuits: usize,
}

impl Kept {
    /// Storage for the circuits and supersets of a run.
    ///
    /// *Errors*: the disk's.
    pub(super) fn new(session: &mut Session, plan: &Plan, shape: &Shape) -> Result<Self, ProtocolError> {
        let (circuits, supersets) = (plan.circuits(), plan.config().supersets());
        let bytes = 16 * circuits * plan.blueprint().circuit_blocks() + supersets * shape.commitment_bytes();
        Ok(Kept::in_room(session.scratch(circuits + supersets, bytes)?, circuits))
    }

    fn in_room(room: Scratch, circuits: usize) -> Self {
        Kept { room: Mutex::new(room), circuits }
    }

    /// Adds the next part of a circuit.
    pub(super) fn add_part(&self, circuit: usize, blocks: &[Block]) -> Result<(), ProtocolError> {
        Ok(self.room().append(circuit, bytemuck::cast_slice(blocks))?)
    }

    /// Adds a superset.
    pub(super) fn add_superset(&self, superset: usize, commitments: &[u8]) -> Result<(), ProtocolError> {
        Ok(self.room().append(self.circuits + superset, commitments)?)
    }

    /// Takes a circuit: its parts one after another.
    pub(super) fn circuit(&self, circuit: usize, blueprint: &Blueprint) -> Result<Vec<Block>, ProtocolError> {
        let bytes = self.room().take(circuit)?;
        let mut blocks = vec![Block::ZERO; blueprint.circuit_blocks()];
        let into: &mut [u8] = bytemuck::cast_slice_mut(&mut blocks);
        let count = bytes.len().min(into.len());
        into[..count].copy_from_slice(&bytes[..count]);
        Ok(blocks)
    }

    /// Takes a superset.
    pub(super) fn superset(&self, superset: usize) -> Result<Zeroizing<Vec<u8>>, ProtocolError> {
        Ok(self.room().take(self.circuits + superset)?)
    }

    fn room(&self) -> MutexGuard<'_, Scratch> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use garblet_primitives::Prg;
    use garblet_synthesis::library;

    use super::{
        super::super::config::{Config, Form},
        *,
    };

    #[test]
    fn circuits_and_supersets_come_back_from_memory_and_from_disk() {
        let config = Config { form: Form::Lp07, ..Config::default() };
        let plan = Plan::new(Arc::new(library::find("lib:aes128").unwrap()), config).unwrap();
        let blueprint = plan.blueprint();
        let mut rng = Prg::new(Block::ONES);
        // File names, which must differ between tests that run at the same time.
        let mut names = Prg::new(Block::from_u128(std::process::id().into()));
        for memory in [usize::MAX, 1 << 20, 0] {
            let room = Scratch::in_folder(&std::env::temp_dir(), 7, memory, &mut names).unwrap();
            let kept = Kept::in_room(room, 4);
            let mut circuits = vec![Vec::new(); 4];
            for part in 0..blueprint.part_count() {
                for (circuit, all) in circuits.iter_mut().enumerate() {
                    let mut blocks = vec![Block::ZERO; blueprint.part_blocks(part)];
                    rng.fill_blocks(&mut blocks);
                    kept.add_part(circuit, &blocks).unwrap();
                    all.extend(blocks);
                }
            }
            let supersets = [vec![1; 100_000], vec![2; 5], vec![3; 70_000]];
            supersets.iter().enumerate().for_each(|(number, bytes)| kept.add_superset(number, bytes).unwrap());
            for (number, bytes) in supersets.iter().enumerate().rev() {
                assert!(*kept.superset(number).unwrap() == *bytes, "superset {number}, {memory} bytes in memory");
            }
            for (circuit, blocks) in circuits.iter().enumerate() {
                assert!(
                    kept.circuit(circuit, blueprint).unwrap() == *blocks,
                    "circuit {circuit}, {memory} bytes in memory"
                );
            }
        }
    }
}
