//! Garbling of circuits on several threads, part by part in the order of sending.

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
use garblet_protocol::{
    bulk::send_blocks,
    error::ProtocolError,
    session::Session,
    workers::{self, Work},
};

/// A part of a circuit.
pub struct Part {
    /// The circuit's number, from 0.
    pub circuit: usize,
    /// The part's number, from 0.
    pub part: usize,
    /// A buffer that begins with the blocks to send.
    buffer: Vec<Block>,
    length: usize,
}

impl Part {
    /// Part `part` of a circuit, from its space in a buffer, see [`Blueprint::room_for`].
    pub fn new(blueprint: &Blueprint, circuit: usize, part: usize, buffer: Vec<Block>) -> Self {
        Part { circuit, part, buffer, length: blueprint.part_blocks(part) }
    }

    /// The blocks to send.
    pub fn blocks(&self) -> &[Block] {
        &self.buffer[..self.length]
    }

    /// The same as mutable bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.buffer[..self.length])
    }

    /// The buffer, for another part.
    pub fn into_buffer(self) -> Vec<Block> {
        self.buffer
    }
}

/// A circuit to garble.
#[derive(Clone)]
pub struct ToGarble {
    /// Its number, from 0.
    pub circuit: usize,
    /// Its blueprint.
    pub blueprint: Arc<Blueprint>,
    /// Its seed.
    pub seed: Zeroizing<Block>,
}

impl ToGarble {
    /// All circuits, with these seeds; `blueprint_of` returns the blueprint of each.
    ///
    /// *Errors*: those of `blueprint_of`.
    pub fn all(
        seeds: &[Block],
        mut blueprint_of: impl FnMut(usize) -> Result<Arc<Blueprint>, ProtocolError>,
    ) -> Result<Vec<Self>, ProtocolError> {
        let of = |(circuit, &seed): (usize, &Block)| {
            Ok(ToGarble { circuit, blueprint: blueprint_of(circuit)?, seed: Zeroizing::new(seed) })
        };
        seeds.iter().enumerate().map(of).collect()
    }

    /// The maker of the circuit, at its head.
    pub fn stream<'p>(&'p self, shared: &'p Shared) -> Stream<'p> {
        let secrets = Secrets::of_seed(&self.blueprint, *self.seed);
        Stream::new(&self.blueprint, shared, self.circuit, &secrets)
    }
}

/// Circuits being garbled. Memory does not grow with their number or size.
pub struct Garbling {
    order: Box<dyn Iterator<Item = (usize, usize)> + Send>,
    workers: usize,
    parts: Vec<mpsc::Receiver<Part>>,
    making: Arc<Making>,
    work: Vec<Work<()>>,
}

impl Garbling {
    /// Begins to garble circuits, which must all have equally many parts.
    pub fn begin(circuits: Vec<ToGarble>, shared: Arc<Shared>, workers: usize) -> Self {
        let making = Arc::new(Making { circuits, shared, buffers: Buffers::default() });
        let order = Box::new(lanes::order(making.circuits.len(), making.part_count()));
        let (mut parts, mut work) = (Vec::with_capacity(workers), Vec::with_capacity(workers));
        for worker in 0..workers {
            let (give, take) = workers::channel();
            let making = making.clone();
            work.push(Work::begin(move || making.garble(worker, workers, &give)));
            parts.push(take);
        }
        Garbling { order, workers, parts, making, work }
    }

    /// Sends all parts. `see` sees each before it is sent and may change it; `advance` gets the number of circuits sent.
    ///
    /// *Errors*: a worker that panicked; the connection's.
    pub async fn send(
        mut self,
        session: &mut Session,
        see: impl Fn(&mut Part),
        mut advance: impl FnMut(&mut Session, usize),
    ) -> Result<(), ProtocolError> {
        let (part_count, mut done) = (self.making.part_count(), 0);
        for (at, _) in self.order {
            let made = self.parts[lanes::worker_of(at, self.workers)].recv().await;
            let mut part = made.ok_or(ProtocolError::WorkerLost)?;
            see(&mut part);
            send_blocks(session, part.blocks()).await?;
            if part.part + 1 == part_count {
                done += 1;
                advance(session, done);
            }
            self.making.buffers.give_back(part.into_buffer());
        }
        session.channel().flush().await?;
        for work in self.work {
            work.result().await?;
        }
        Ok(())
    }
}

/// The circuits that the workers garble./// The circuits that the workers garble.
struct Making {
    circuits: Vec<ToGarble>,
    shared: Arc<Shared>,
    buffers: Buffers,
}

impl Making {
    /// The number of parts of every circuit.
    fn part_count(&self) -> usize {
        self.circuits.first().map_or(0, |circuit| circuit.blueprint.part_count())
    }

    /// Garbles the circuits of one worker, group by group, and gives their parts in the order in which they are sent.
    fn garble(&self, worker: usize, workers: usize, give: &mpsc::Sender<Part>) {
        for group in lanes::groups(self.circuits.len()) {
            let own = lanes::of_worker(group, worker, workers);
            let mut streams: Vec<(&ToGarble, Stream<'_>)> =
                own.map(|at| (&self.circuits[at], self.circuits[at].stream(&self.shared))).collect();
            for part in 0..self.part_count() {
                for (of, stream) in &mut streams {
                    let mut buffer = self.buffers.take();
                    stream.next_part(&mut buffer);
                    if give.blocking_send(Part::new(&of.blueprint, of.circuit, part, buffer)).is_err() {
                        return;
                    }
                }
            }
        }
    }
}
