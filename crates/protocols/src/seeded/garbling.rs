//! Circuits that several threads garble, part by part in the order in which they are sent.

use std::sync::Arc;

use garblet_primitives::Block;
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::{
    blueprint::Blueprint,
    buffers::Buffers,
    circuit::{Secrets, Shared, Stream},
    lanes,
};
use crate::{
    error::ProtocolError,
    workers::{self, Work},
};

/// A part of a circuit.
pub(crate) struct Part {
    /// Which circuit, from 0.
    pub(crate) circuit: usize,
    /// Which of its parts, from 0.
    pub(crate) part: usize,
    /// What is sent.
    pub(crate) blocks: Vec<Block>,
}

/// Circuits that are being garbled. Memory does not grow with their number or size.
pub(crate) struct Garbling {
    order: Box<dyn Iterator<Item = (usize, usize)> + Send>,
    workers: usize,
    parts: Vec<mpsc::Receiver<Vec<Block>>>,
    making: Arc<Making>,
    work: Vec<Work<()>>,
}

impl Garbling {
    /// Begins to garble one circuit for each seed, all of as many parts.
    ///
    /// *Shape*: a blueprint for each seed.
    pub(crate) fn begin(
        blueprints: Vec<Arc<Blueprint>>,
        shared: Shared,
        seeds: Zeroizing<Vec<Block>>,
        workers: usize,
    ) -> Self {
        let part_count = blueprints.first().map_or(0, |blueprint| blueprint.part_count());
        let order = Box::new(lanes::order(seeds.len(), part_count));
        let making = Arc::new(Making { blueprints, shared, seeds, buffers: Buffers::default() });
        let (mut parts, mut work) = (Vec::with_capacity(workers), Vec::with_capacity(workers));
        for worker in 0..workers {
            let (give, take) = workers::channel();
            let making = making.clone();
            work.push(Work::begin(move || making.garble(worker, workers, &give)));
            parts.push(take);
        }
        Garbling { order, workers, parts, making, work }
    }

    /// The next part, none after the last.
    ///
    /// *Errors*: a worker that panicked.
    pub(crate) async fn next(&mut self) -> Result<Option<Part>, ProtocolError> {
        let Some((circuit, part)) = self.order.next() else { return Ok(None) };
        let made = self.parts[lanes::worker_of(circuit, self.workers)].recv().await;
        Ok(Some(Part { circuit, part, blocks: made.ok_or(ProtocolError::WorkerLost)? }))
    }

    /// Gives back the blocks of a part that has been sent.
    pub(crate) fn sent(&self, blocks: Vec<Block>) {
        self.making.buffers.give_back(blocks);
    }

    /// Waits for the threads, after the last part.
    ///
    /// *Errors*: a worker that panicked.
    pub(crate) async fn end(self) -> Result<(), ProtocolError> {
        for work in self.work {
            work.result().await?;
        }
        Ok(())
    }
}

/// What the workers garble.
struct Making {
    blueprints: Vec<Arc<Blueprint>>,
    shared: Shared,
    seeds: Zeroizing<Vec<Block>>,
    buffers: Buffers,
}

impl Making {
    /// Garbles the circuits of one worker, group by group, and gives their parts in the order in which they are sent.
    fn garble(&self, worker: usize, workers: usize, give: &mpsc::Sender<Vec<Block>>) {
        for group in lanes::groups(self.seeds.len()) {
            let own = lanes::of_worker(group, worker, workers);
            let mut streams: Vec<Stream<'_>> = own.map(|circuit| self.stream(circuit)).collect();
            let part_count = self.blueprints.first().map_or(0, |blueprint| blueprint.part_count());
            for _ in 0..part_count {
                for stream in &mut streams {
                    let mut blocks = self.buffers.take();
                    stream.next_part(&mut blocks);
                    if give.blocking_send(blocks).is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn stream(&self, circuit: usize) -> Stream<'_> {
        let blueprint = &self.blueprints[circuit];
        Stream::new(blueprint, &self.shared, circuit, &Secrets::of_seed(blueprint, self.seeds[circuit]))
    }
}
