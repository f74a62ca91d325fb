//! Programs whose AND gates are buckets, see [`GateBuckets`]: instances that do not read one another are evaluated at the same time.

use std::ops::Range;

use garblet_circuit::{InstanceId, Program, Walk};
use garblet_primitives::{Block, Cursor, Labels};
use zeroize::Zeroizing;

use crate::{
    run::Piece,
    schedules::{ScheduledComponent, Schedules},
    singles::{GateBuckets, ResolveConflict, RunBuckets, SolderedGates},
};

/// The number of inputs at which a batch of instances stops growing. Small in tests.
const MAX_INPUTS: usize = if cfg!(test) { 1 << 6 } else { 1 << 14 };

/// The fewest AND gates for a thread: with fewer, starting it takes longer than evaluating them. Small in tests.
const MIN_THREAD_ANDS: usize = if cfg!(test) { 1 << 3 } else { 1 << 12 };

/// Evaluates a program whose AND gates are buckets, a batch of buckets at a time.
///
/// *Secret*: the labels; they are wiped on drop.
pub struct BucketEvaluator<'p> {
    gates: SolderedGates,
    program: &'p Program,
    schedules: &'p Schedules,
    walk: Walk<'p, Block>,
    /// The number of AND gates left.
    remaining: u64,
    /// The unfinished instance; the first worker has its labels.
    paused: Option<Paused>,
    /// The workers, at least one.
    workers: Vec<Worker>,
    /// The labels of the inputs of a batch of instances; wiped at the end.
    inputs: Zeroizing<Vec<Block>>,
}

#[derive(Clone, Copy)]
struct Paused {
    instance: InstanceId,
    cursor: Cursor,
    /// The number of AND gates it has left.
    ands: usize,
}

/// The labels of a thread.
#[derive(Default)]
struct Worker {
    slots: Labels,
    /// The labels of the outputs of its finished instances, one after another.
    outputs: Zeroizing<Vec<Block>>,
}

/// An instance, and the extent to which to evaluate it.
struct Turn<'p> {
    instance: InstanceId,
    component: &'p ScheduledComponent,
    cursor: Cursor,
    /// The place of its inputs, if it begins now.
    inputs: Option<Range<usize>>,
    /// The buckets of its AND gates.
    buckets: Range<usize>,
    /// The number of AND gates it has left afterwards.
    left: usize,
}

impl<'p> BucketEvaluator<'p> {
    /// Begins to evaluate the program from which `schedules` were made.
    ///
    /// *Shape*: `inputs[k]` are the active labels of program input `k`.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn new(
        gates: SolderedGates,
        program: &'p Program,
        schedules: &'p Schedules,
        inputs: Vec<Box<[Block]>>,
    ) -> Self {
        let widest = program.components().iter().map(|component| component.input_width()).max().unwrap_or(0) as usize;
        let inputs_at_once = program.instance_count().saturating_mul(widest).min(MAX_INPUTS + widest);
        BucketEvaluator {
            gates,
            program,
            schedules,
            // Active labels of a wire and of its negation are the same.
            walk: Walk::new(program, inputs, [Block::ZERO; 2]),
            remaining: schedules.and_count(),
            paused: None,
            workers: vec![Worker::default()],
            // Never grows, since growing would leave a copy behind.
            inputs: Zeroizing::new(Vec::with_capacity(inputs_at_once)),
        }
    }

    /// Evaluates on this many threads.
    pub fn on(mut self, threads: usize) -> Self {
        self.workers.resize_with(threads.max(1), Worker::default);
        self
    }

    /// Evaluates `ands` AND gates, and everything that needs no more, with the buckets from number `first` on; calls `resolve` where
    /// the gates of a bucket differ.
    ///
    /// # Panics
    /// If there are fewer buckets, or fewer AND gates left.
    pub fn run(&mut self, ands: usize, (first, buckets): (usize, GateBuckets<'_>), resolve: ResolveConflict<'_>) {
        assert!(first + ands <= buckets.ends.len(), "a bucket for each AND gate");
        self.remaining = self.remaining.checked_sub(ands as u64).expect("AND gates that are not done");
        let mut next = first;
        loop {
            let turns = self.turns(next..first + ands);
            let Some(last) = turns.last() else { break };
            next = last.buckets.end;
            self.take(turns, buckets, resolve);
        }
    }

    /// The next instances that do not read one another, as far as they get with these buckets.
    fn turns(&mut self, buckets: Range<usize>) -> Vec<Turn<'p>> {
        let (mut turns, mut rest) = (Vec::new(), buckets);
        self.inputs.clear();
        while self.inputs.len() < MAX_INPUTS && turns.last().is_none_or(|last: &Turn<'_>| last.left == 0) {
            let first = turns.first().map(|turn| turn.instance);
            let Some(mut turn) = self.next(first, rest.is_empty()) else { break };
            turn.buckets = rest.start..rest.end.min(rest.start + turn.left);
            turn.left -= turn.buckets.len();
            rest.start = turn.buckets.end;
            turns.push(turn);
        }
        turns
    }

    /// The next instance, if it does not read those from `first` on, and, once the buckets are used up, needs none.
    fn next(&mut self, first: Option<InstanceId>, at_end: bool) -> Option<Turn<'p>> {
        let begin = self.inputs.len();
        let (instance, cursor, left, inputs) = match self.paused {
            Some(Paused { instance, cursor, ands }) => (instance, cursor, ands, None),
            None => {
                let instance = self.walk.next_beside(first)?;
                let ands = self.schedules.of(self.program, instance).gates.and_count();
                (instance, Cursor::default(), ands, Some(begin))
            }
        };
        if at_end && left > 0 {
            return None;
        }
        let inputs = inputs.map(|begin| {
            self.walk.next_instance(&mut self.inputs);
            begin..self.inputs.len()
        });
        self.paused = None;
        let component = self.schedules.of(self.program, instance);
        Some(Turn { instance, component, cursor, inputs, buckets: 0..0, left })
    }

    /// Evaluates instances, on as many threads as have enough work.
    fn take(&mut self, turns: Vec<Turn<'p>>, buckets: GateBuckets<'_>, resolve: ResolveConflict<'_>) {
        let ands: usize = turns.iter().map(|turn| turn.buckets.len()).sum();
        let threads = (ands / MIN_THREAD_ANDS).clamp(1, self.workers.len());
        let mut shares: Vec<Vec<Turn<'_>>> = Vec::new();
        shares.resize_with(threads, Vec::new);
        let mut before = 0;
        for turn in turns {
            let share = before * threads / ands.max(1);
            before += turn.buckets.len();
            shares[share.min(threads - 1)].push(turn);
        }
        let (gates, inputs) = (self.gates, &self.inputs[..]);
        std::thread::scope(|scope| {
            let mut all = self.workers.iter_mut().zip(&mut shares);
            let own = all.next();
            for (worker, share) in all.filter(|(_, share)| !share.is_empty()) {
                scope.spawn(move || worker.run(gates, share, inputs, buckets, resolve));
            }
            own.into_iter().for_each(|(worker, share)| worker.run(gates, share, inputs, buckets, resolve));
        });
        for (number, share) in shares.into_iter().enumerate() {
            self.finish(number, share);
        }
    }

    /// Passes the results of a worker's instances to the walk.
    fn finish(&mut self, worker: usize, turns: Vec<Turn<'p>>) {
        let mut paused = None;
        let mut outputs = &self.workers[worker].outputs[..];
        for Turn { instance, component, cursor, left, .. } in turns {
            if component.gates.is_done(&cursor) {
                let (own, others) = outputs.split_at(component.output_count());
                outputs = others;
                self.walk.finish(instance, own);
            } else {
                paused = Some(Paused { instance, cursor, ands: left });
            }
        }
        if paused.is_some() {
            self.paused = paused;
            self.workers.swap(0, worker);
        }
    }

    /// The active labels of the program's outputs.
    ///
    /// # Panics
    /// If AND gates are missing.
    pub fn into_outputs(self) -> Vec<Box<[Block]>> {
        assert!(self.remaining == 0, "{} AND gates are not done", self.remaining);
        self.walk.into_outputs()
    }
}

impl Worker {
    /// Evaluates instances one after another as far as requested.
    fn run(
        &mut self,
        gates: SolderedGates,
        turns: &mut [Turn<'_>],
        inputs: &[Block],
        buckets: GateBuckets<'_>,
        resolve: ResolveConflict<'_>,
    ) {
        let outputs = turns.iter().map(|turn| turn.component.output_count()).sum();
        self.outputs.clear();
        if self.outputs.capacity() < outputs {
            // Not grown, since growing would leave a copy behind.
            self.outputs = Zeroizing::new(Vec::with_capacity(outputs));
        }
        for Turn { component, cursor, inputs: own, buckets: of, .. } in turns {
            let list = &component.gates;
            if let Some(own) = own {
                self.slots.begin(list, 1, &inputs[own.clone()]);
            }
            let (slots, limit) = (&mut self.slots, of.len());
            let piece = Piece { gates: list, cursor, slots, limit, hash_seed: gates.seed, first_gate: 0 };
            gates.backend.run(RunBuckets { piece, first: of.start, buckets, resolve });
            if list.is_done(cursor) {
                component.outputs(&self.slots, 0, Block::ZERO, &mut self.outputs);
            }
        }
    }
}

#[cfg(test)]
mod tests;
