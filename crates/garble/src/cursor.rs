//! The position of a walk through a program's gates, shared by garbler and evaluator.

use garblet_circuit::{InstanceId, Program, StoredParts, Walk, diagnostic::Diagnostic};
use garblet_primitives::{Block, Cursor, GateList, Labels};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    config::CHUNK_ANDS,
    run::Piece,
    schedules::{ScheduledComponent, Schedules, TabledComponent},
};

/// Instances of one component that run side by side: the first, and those that follow it in the program.
#[derive(Clone, Copy)]
struct Running<'p> {
    first: InstanceId,
    copies: usize,
    component: &'p ScheduledComponent,
    /// The table that the only copy is garbled as.
    table: Option<&'p TabledComponent>,
}

/// The next part of the work.
pub(crate) enum Work<'a> {
    /// Gates.
    Gates(Piece<'a>),
    /// A part of a table.
    Table(TablePart<'a>),
}

/// A part of a table that takes the place of at most `limit` gates.
pub(crate) struct TablePart<'a> {
    pub(crate) table: &'a TabledComponent,
    /// The table's bytes: all of them on the garbler's side, those so far on the evaluator's.
    pub(crate) bytes: &'a mut Vec<u8>,
    /// Gates whose place was taken before.
    pub(crate) done: usize,
    pub(crate) limit: usize,
    /// The labels of the inputs, in whose place those of the outputs come.
    pub(crate) ports: &'a mut Vec<Block>,
    pub(crate) hash_seed: Block,
    /// The number of the table's first gate within the garbling.
    pub(crate) first_gate: u64,
}

/// Gates that are read part by part.
struct Reading {
    gates: GateList,
    rest: StoredParts,
}

impl Reading {
    /// The first part, or the next one; `None` if there is none.
    ///
    /// *Errors*: gates that cannot be read again.
    fn next(mut rest: StoredParts) -> Result<Option<Self>, Diagnostic> {
        Ok(rest.next_part()?.map(|part| Reading { gates: ScheduledComponent::new(&part).gates, rest }))
    }
}

/// Memory for the labels of a program while it is garbled or evaluated, reusable for the next one.
///
/// *Secret*: the labels left in it; they are wiped on drop.
#[derive(Default)]
pub struct Workspace {
    slots: Labels,
    /// Labels on their way into or out of tables.
    ports: Zeroizing<Vec<Block>>,
    /// A table on its way.
    table: Vec<u8>,
}

impl Workspace {
    /// Makes room for this many labels in transit, initially none.
    fn make_ports(&mut self, most: usize) {
        self.ports.clear();
        if self.ports.capacity() < most {
            // Never grows, since growing would leave a copy behind.
            self.ports = Zeroizing::new(Vec::with_capacity(most));
        }
    }
}

/// The position of a walk through a program's gates.
pub(crate) struct ProgramCursor<'p> {
    program: &'p Program,
    schedules: &'p Schedules,
    walk: Walk<'p, Block>,
    hash_seed: Block,
    next_gate: u64,
    remaining: u64,
    /// The running instances.
    running: Option<Running<'p>>,
    /// The part of their gates that is in memory, if not all are.
    part: Option<Box<Reading>>,
    /// The reason why gates could not be read, after which nothing runs.
    failed: Option<Box<Diagnostic>>,
    cursor: Cursor,
    /// Gates whose place the running table has taken.
    table_done: usize,
    workspace: Workspace,
    /// The most instances that run as one.
    most_copies: usize,
    most_ports: usize,
    negation: Block,
}

impl<'p> ProgramCursor<'p> {
    /// The position before the first gate. `negation` turns a wire's label into the label of its negation; the label of false is
    /// zero and the label of true `negation`.
    pub(crate) fn new(
        program: &'p Program,
        schedules: &'p Schedules,
        inputs: Vec<Box<[Block]>>,
        hash_seed: Block,
        first_gate: u64,
        negation: Block,
        most_copies: usize,
    ) -> Self {
        let widths = program.components().iter().flat_map(|c| [c.input_width(), c.output_width()]);
        let most_ports = widths.max().unwrap_or(0) as usize;
        ProgramCursor {
            program,
            schedules,
            walk: Walk::new(program, inputs, [Block::ZERO, negation]),
            hash_seed,
            next_gate: first_gate,
            remaining: schedules.and_count(),
            running: None,
            part: None,
            failed: None,
            cursor: Cursor::default(),
            table_done: 0,
            workspace: Workspace::default(),
            most_copies,
            most_ports,
            negation,
        }
    }

    /// Uses this memory; call it before the first gate.
    pub(crate) fn use_workspace(&mut self, workspace: Workspace) {
        self.workspace = workspace;
    }

    /// The number of AND gates left.
    pub(crate) fn remaining(&self) -> u64 {
        self.remaining
    }

    /// The number of AND gates of the next chunk.
    pub(crate) fn chunk_ands(&self) -> usize {
        self.remaining.min(CHUNK_ANDS as u64) as usize
    }

    /// The reason why gates of the program could not be read, if they could not.
    pub(crate) fn check(&self) -> Result<(), Diagnostic> {
        self.failed.as_deref().map_or(Ok(()), |failed| Err(failed.clone()))
    }

    /// Advances by `ands` AND gates, as [`ProgramCursor::advance`], in a program without tables.
    ///
    /// # Panics
    /// If there is a table.
    pub(crate) fn advance_gates(&mut self, ands: usize, mut run: impl FnMut(usize, Piece<'_>) -> usize) {
        self.advance(ands, |done, work| match work {
            Work::Gates(piece) => run(done, piece),
            Work::Table(_) => panic!("these gates are not garbled as tables"),
        });
    }

    /// Advances by `ands` AND gates and everything that does not need more. `run` does work that begins at the given number of
    /// AND gates from here, and returns how many AND gates it did. Stops at gates that cannot be read.
    pub(crate) fn advance(&mut self, ands: usize, mut run: impl FnMut(usize, Work<'_>) -> usize) {
        let mut done = 0;
        while self.failed.is_none()
            && let Some(running) = self.running.or_else(|| self.begin())
        {
            self.running = Some(running);
            if let Some(table) = running.table {
                // A table is made with its first gate.
                if done == ands {
                    break;
                }
                done += self.run_table(table, done, ands - done, &mut run);
                if (self.table_done as u64) < table.gates {
                    break;
                }
                self.finish_table(running);
                continue;
            }
            let gates = self.part.as_ref().map_or(&running.component.gates, |part| &part.gates);
            let piece = Piece {
                gates,
                cursor: &mut self.cursor,
                slots: &mut self.workspace.slots,
                limit: ands - done,
                hash_seed: self.hash_seed,
                first_gate: self.next_gate + done as u64,
            };
            done += run(done, Work::Gates(piece));
            if !gates.is_done(&self.cursor) {
                break;
            }
            match self.part.take().map(|part| part.rest) {
                Some(rest) => self.read(rest),
                None => self.finish(running),
            }
        }
        self.next_gate += done as u64;
        // Chunks keep their lengths even if nothing runs any more.
        self.remaining -= if self.failed.is_some() { ands } else { done } as u64;
    }

    /// Reads the next part of the running instances' gates; at the end of them the list of the component, which has none, follows.
    fn read(&mut self, rest: StoredParts) {
        self.cursor = Cursor::default();
        match Reading::next(rest) {
            Ok(part) => self.part = part.map(Box::new),
            Err(error) => self.failed = Some(error.into()),
        }
    }

    /// Runs the next part of a table, whose gates are numbered from the first of them on.
    fn run_table(
        &mut self,
        table: &TabledComponent,
        done: usize,
        limit: usize,
        run: &mut impl FnMut(usize, Work<'_>) -> usize,
    ) -> usize {
        let Workspace { ports, table: bytes, .. } = &mut self.workspace;
        let part = TablePart {
            table,
            bytes,
            done: self.table_done,
            limit: limit.min(table.gates as usize - self.table_done),
            ports,
            hash_seed: self.hash_seed,
            first_gate: self.next_gate + done as u64 - self.table_done as u64,
        };
        let taken = run(done, Work::Table(part));
        self.table_done += taken;
        taken
    }

    fn finish_table(&mut self, running: Running<'p>) {
        self.running = None;
        self.workspace.table.clear();
        self.walk.finish(running.first, &self.workspace.ports);
        self.workspace.ports.iter_mut().zeroize();
    }

    fn begin(&mut self) -> Option<Running<'p>> {
        let first = self.walk.next_id()?;
        let component = self.schedules.of(self.program, first);
        if let Some(table) = self.schedules.table_of(self.program, first) {
            self.workspace.make_ports(self.most_ports);
            self.walk.next_instance(&mut self.workspace.ports)?;
            self.table_done = 0;
            return Some(Running { first, copies: 1, component, table: Some(table) });
        }
        let copies = if self.walk.side_by_side(self.most_copies as u32) { self.most_copies } else { 1 };
        let slots = &mut self.workspace.slots;
        slots.begin_copies(&component.gates, copies);
        for copy in 0..copies {
            let mut slot = 0;
            self.walk.read_next(|labels| {
                slots.put(copy, slot, labels);
                slot += labels.len();
            })?;
        }
        self.cursor = Cursor::default();
        if let Some(parts) = component.parts() {
            self.read(parts);
        }
        Some(Running { first, copies, component, table: None })
    }

    fn finish(&mut self, Running { first, copies, component, .. }: Running<'p>) {
        self.running = None;
        for copy in 0..copies {
            let labels = self.workspace.slots.of_copy(copy);
            let outputs = || component.output_labels(self.negation, labels).collect();
            self.walk.finish_with(InstanceId(first.0 + copy as u32), outputs);
        }
    }

    /// The labels of the program's outputs, and the used memory.
    ///
    /// # Panics
    /// If chunks are missing, or gates could not be read.
    pub(crate) fn into_outputs(self) -> (Vec<Box<[Block]>>, Workspace) {
        assert!(self.remaining == 0, "{} AND gates are not done", self.remaining);
        assert!(self.failed.is_none(), "gates could not be read");
        (self.walk.into_outputs(), self.workspace)
    }
}

#[cfg(test)]
mod tests {
    use garblet_primitives::{Block, Delta, Prg};

    use crate::{
        config::GarblingConfig,
        evaluator::Evaluator,
        garbler::{Garbler, Seeds},
        schedules::tests::with_a_table,
    };

    #[test]
    fn no_label_of_the_last_table_stays_in_the_memory() {
        let ((program, schedules), config) = (with_a_table(), GarblingConfig::default());
        let mut rng = Prg::new(Block::from_u128(9));
        let (delta, seeds) = (Delta::random(&mut rng), Seeds::random(&mut rng));
        // All inputs are false.
        let labels: Vec<Box<[Block]>> = vec![(0..8).map(|_| config.zero_label(rng.next_block())).collect()];
        let (hash_seed, mut tables) = (seeds.hash, Vec::new());
        let mut garbler = Garbler::new(&program, &schedules, config, &delta, seeds, 0, labels.clone());
        assert!(!garbler.garble_chunk(&mut tables), "one chunk has the table");
        let mut evaluator = Evaluator::new(&program, &schedules, config, hash_seed, 0, labels);
        evaluator.evaluate_chunk(&tables).unwrap();
        for (outputs, workspace) in [garbler.into_outputs_and_workspace(), evaluator.into_outputs_and_workspace()] {
            assert!(outputs[0].iter().all(|label| *label != Block::ZERO));
            assert_eq!(workspace.ports.len(), outputs[0].len());
            assert!(workspace.ports.iter().all(|label| *label == Block::ZERO));
        }
    }
}
