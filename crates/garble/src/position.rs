//! Where a walk through a program's gates stands: what garbler and evaluator have in common.

use garblet_circuit::{InstanceId, Program, Walk};
use garblet_primitives::{Block, Cursor, Slots};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    config::CHUNK_ANDS,
    run::Piece,
    schedules::{Component, Schedules},
};

/// Where a walk through a program's gates stands.
pub(crate) struct Position<'p> {
    program: &'p Program,
    schedules: &'p Schedules,
    walk: Walk<'p, Block>,
    hash_seed: Block,
    next_gate: u64,
    remaining: u64,
    /// The instance that is being run.
    instance: Option<(InstanceId, &'p Component)>,
    cursor: Cursor,
    slots: Slots,
    /// Labels on their way into or out of an instance.
    ports: Zeroizing<Vec<Block>>,
    flip: Block,
}

impl<'p> Position<'p> {
    /// The position before the first gate. `flip` turns a wire's label into that of its negation; the label of false is
    /// zero and that of true `flip`.
    pub(crate) fn new(
        program: &'p Program,
        schedules: &'p Schedules,
        inputs: Vec<Box<[Block]>>,
        hash_seed: Block,
        first_gate: u64,
        flip: Block,
    ) -> Self {
        Position {
            program,
            schedules,
            walk: Walk::new(program, inputs, [Block::ZERO, flip]),
            hash_seed,
            next_gate: first_gate,
            remaining: schedules.and_count(),
            instance: None,
            cursor: Cursor::default(),
            slots: Slots::default(),
            ports: Zeroizing::default(),
            flip,
        }
    }

    /// AND gates of the next chunk.
    pub(crate) fn chunk_ands(&self) -> usize {
        self.remaining.min(CHUNK_ANDS as u64) as usize
    }

    /// Goes on through so many AND gates and everything that does not need more. `run` runs a piece that begins so many
    /// AND gates after here, and returns how many AND gates it ran.
    pub(crate) fn advance(&mut self, ands: usize, mut run: impl FnMut(usize, Piece<'_>) -> usize) {
        let mut done = 0;
        while let Some((id, component)) = self.instance.or_else(|| self.begin_instance()) {
            done += run(
                done,
                Piece {
                    gates: &component.gates,
                    cursor: &mut self.cursor,
                    slots: &mut self.slots,
                    limit: ands - done,
                    hash_seed: self.hash_seed,
                    first_gate: self.next_gate + done as u64,
                },
            );
            if !component.gates.is_done(&self.cursor) {
                self.instance = Some((id, component));
                break;
            }
            self.instance = None;
            self.ports.zeroize();
            component.outputs(&self.slots, self.flip, &mut self.ports);
            self.walk.finish(id, &self.ports);
        }
        self.next_gate += done as u64;
        self.remaining -= done as u64;
    }

    fn begin_instance(&mut self) -> Option<(InstanceId, &'p Component)> {
        self.ports.zeroize();
        let id = self.walk.next_instance(&mut self.ports)?;
        let component = self.schedules.of(self.program, id);
        self.slots.begin(&component.gates, &self.ports);
        self.cursor = Cursor::default();
        Some((id, component))
    }

    /// The labels of the program's outputs.
    ///
    /// # Panics
    /// If chunks are missing.
    pub(crate) fn into_outputs(self) -> Vec<Box<[Block]>> {
        assert!(self.remaining == 0, "{} AND gates are not done", self.remaining);
        self.walk.into_outputs()
    }
}
