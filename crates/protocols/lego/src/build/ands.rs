//! The buckets of a run's AND gates, from taking to evaluating them.

use std::{collections::VecDeque, ops::Range, sync::mpsc};

use garblet_primitives::Block;
use garblet_store::Scratch;

use crate::{generate::buckets::Buckets, plan::Plan};
use garblet_protocol::error::ProtocolError;

/// Bytes of joined buckets in lots that stay in memory until they are evaluated. Tests have few.
const MEMORY_BYTES: usize = if cfg!(test) { 100_000 } else { 96 << 20 };

/// The buckets of all AND gates in the order of the plan.
pub(crate) enum AndBuckets {
    /// The buckets of all lots.
    Whole(Buckets),
    /// The buckets of one lot after another.
    Lots(Box<Lots>),
}

pub(crate) struct Lots {
    /// Lots that are taken and not joined yet, the oldest first.
    waiting: VecDeque<Buckets>,
    joined: Vec<Joined>,
    /// Memory of lots that are on disk, for lots that are read next.
    spare: Vec<Buckets>,
    /// Bytes that may still stay in memory.
    memory: usize,
    /// Encrypted room beside the store for the rest, two streams for each lot: its gates, and its authenticators. Both are always read, so the time
    /// does not reveal whether gates of a bucket differ.
    scratch: Scratch,
}

/// A joined lot.
enum Joined {
    InMemory(Buckets),
    OnDisk(OnDisk),
}

impl AndBuckets {
    /// No lot yet. `room` provides streams on disk for the lots that memory cannot hold.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn lots(
        lots: usize,
        room: impl FnOnce(usize) -> Result<Scratch, ProtocolError>,
    ) -> Result<Self, ProtocolError> {
        let (waiting, joined, scratch) = (VecDeque::new(), Vec::with_capacity(lots), room(2 * lots)?);
        Ok(AndBuckets::Lots(Box::new(Lots { waiting, joined, spare: Vec::new(), memory: MEMORY_BYTES, scratch })))
    }

    /// Memory for the next lot, reused from another lot if possible.
    pub(crate) fn room(&mut self) -> Buckets {
        match self {
            AndBuckets::Whole(_) => Buckets::default(),
            AndBuckets::Lots(lots) => lots.spare.pop().unwrap_or_default(),
        }
    }

    /// Takes the buckets of the next lot, unless all are there.
    pub(crate) fn put(&mut self, buckets: Buckets) {
        if let AndBuckets::Lots(lots) = self {
            lots.waiting.push_back(buckets);
        }
    }

    /// Joins the next lot, which has these gates, to the function: the openings lead from the left and right input of each gate to the first gate of its
    /// bucket. Returns the remaining openings.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn join(&mut self, gates: Range<usize>, opened: Vec<Block>) -> Result<Vec<Block>, ProtocolError> {
        let mut opened = opened;
        let others = opened.split_off(2 * gates.len());
        let solderings = opened.as_chunks::<2>().0;
        match self {
            AndBuckets::Whole(buckets) => buckets.join(gates.start, solderings),
            AndBuckets::Lots(lots) => {
                let mut buckets = lots.waiting.pop_front().unwrap_or_default();
                buckets.join(0, solderings);
                lots.keep(buckets)?;
            }
        }
        Ok(others)
    }

    /// Frees data that only joining needs.
    pub(crate) fn joined(&mut self) {
        if let AndBuckets::Lots(lots) = self {
            lots.spare = Vec::new();
        }
    }

    /// The buckets of the first lot, or of all, once they are joined.
    #[cfg(test)]
    pub(crate) fn first(&mut self) -> &mut Buckets {
        match self {
            AndBuckets::Whole(buckets) => buckets,
            AndBuckets::Lots(lots) => match &mut lots.joined[0] {
                Joined::InMemory(buckets) => buckets,
                Joined::OnDisk(_) => panic!("the first lot is in memory"),
            },
        }
    }

    /// Visits all buckets in order, in groups that are in memory together, with their numbers. `threads` threads read lots.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn visit(
        &self,
        plan: &Plan,
        threads: usize,
        mut visit: impl FnMut(Range<usize>, &Buckets),
    ) -> Result<(), ProtocolError> {
        match self {
            AndBuckets::Whole(buckets) => visit(0..plan.and_count() as usize, buckets),
            AndBuckets::Lots(lots) => {
                let ranges: Vec<Range<usize>> = plan.lots().collect();
                lots.read_all(threads, |number, buckets| visit(ranges[number].clone(), buckets))?;
            }
        }
        Ok(())
    }
}

/// The most threads that read lots. Each has one lot in memory.
const READERS: usize = 4;

impl Lots {
    /// Keeps a joined lot.
    fn keep(&mut self, mut buckets: Buckets) -> Result<(), ProtocolError> {
        let bytes = buckets.bytes().into_iter().map(<[u8]>::len).sum();
        let joined = match self.memory.checked_sub(bytes) {
            Some(left) => {
                self.memory = left;
                Joined::InMemory(buckets)
            }
            None => {
                let on_disk = OnDisk::put(&buckets, &mut self.scratch, 2 * self.joined.len())?;
                buckets.clear();
                self.spare.push(buckets);
                Joined::OnDisk(on_disk)
            }
        };
        self.joined.push(joined);
        Ok(())
    }

    /// The buckets of one lot after another.
    fn read_all(&self, threads: usize, mut give: impl FnMut(usize, &Buckets)) -> Result<(), ProtocolError> {
        let on_disk: Vec<usize> =
            (0..self.joined.len()).filter(|&number| matches!(self.joined[number], Joined::OnDisk(_))).collect();
        let readers = threads.min(READERS).min(on_disk.len());
        std::thread::scope(|scope| {
            let mut lines = VecDeque::with_capacity(readers);
            for reader in 0..readers {
                let (give, take) = mpsc::sync_channel(0);
                let (give_back, take_back) = mpsc::channel();
                let on_disk = &on_disk;
                scope.spawn(move || {
                    for &number in on_disk.iter().skip(reader).step_by(readers) {
                        let room = take_back.try_recv().unwrap_or_default();
                        if give.send(self.read(number, room)).is_err() {
                            return;
                        }
                    }
                });
                lines.push_back((take, give_back));
            }
            for (number, joined) in self.joined.iter().enumerate() {
                if let Joined::InMemory(buckets) = joined {
                    give(number, buckets);
                    continue;
                }
                let (take, give_back) = &lines[0];
                let buckets = take.recv().map_err(|_| ProtocolError::WorkerLost)??;
                give(number, &buckets);
                // Its thread has ended if that was its last one.
                _ = give_back.send(buckets);
                lines.rotate_left(1);
            }
            Ok(())
        })
    }

    /// The buckets of a lot, in reused memory.
    fn read(&self, number: usize, room: Buckets) -> Result<Buckets, ProtocolError> {
        let mut buckets = room;
        if let Joined::OnDisk(on_disk) = &self.joined[number] {
            on_disk.read(&self.scratch, &mut buckets)?;
        }
        Ok(buckets)
    }
}

/// Buckets on disk beside a store, in two streams: their gates, and their authenticators.
struct OnDisk {
    /// The numbers of gates and authenticators of each bucket.
    sizes: Vec<[u8; 2]>,
    /// The number of the first stream.
    stream: usize,
}

impl OnDisk {
    /// Writes buckets.
    fn put(buckets: &Buckets, room: &mut Scratch, stream: usize) -> Result<Self, ProtocolError> {
        for (part, bytes) in buckets.bytes().into_iter().enumerate() {
            room.append(stream + part, bytes)?;
        }
        Ok(OnDisk { sizes: buckets.sizes(), stream })
    }

    /// Reads the buckets in place of others.
    fn read(&self, room: &Scratch, buckets: &mut Buckets) -> Result<(), ProtocolError> {
        Ok(buckets.lay_out(&self.sizes, |part, into| room.fill(self.stream + part, into))?)
    }
}

/// Buckets of inputs, which are not needed while AND gates are joined.
pub(crate) struct SpilledBuckets {
    in_memory: Buckets,
    on_disk: Option<(OnDisk, Box<Scratch>)>,
}

impl SpilledBuckets {
    /// Keeps them in memory.
    pub(crate) fn in_memory(buckets: Buckets) -> Self {
        SpilledBuckets { in_memory: buckets, on_disk: None }
    }

    /// Writes them to disk, to a number of streams.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn on_disk(
        buckets: Buckets,
        room: impl FnOnce(usize) -> Result<Scratch, ProtocolError>,
    ) -> Result<Self, ProtocolError> {
        let mut room = Box::new(room(2)?);
        let on_disk = OnDisk::put(&buckets, &mut room, 0)?;
        Ok(SpilledBuckets { in_memory: Buckets::default(), on_disk: Some((on_disk, room)) })
    }

    /// The buckets, which are in memory from now on.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn get(&mut self) -> Result<&Buckets, ProtocolError> {
        if let Some((on_disk, room)) = self.on_disk.take() {
            on_disk.read(&room, &mut self.in_memory)?;
        }
        Ok(&self.in_memory)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use garblet_synthesis::library;

    use super::*;
    use crate::{
        Config,
        generate::buckets::{BucketAuthenticator, BucketGate},
    };

    /// A number of buckets, with different sizes and numbers.
    fn buckets(numbers: Range<usize>) -> Buckets {
        let mut buckets = Buckets::default();
        for number in numbers {
            let block = |part: usize| Block::from_u128((10 * number + part) as u128);
            let gate = |part| BucketGate::new(number as u64, [block(part), block(part + 1)]);
            let authenticator = |part| BucketAuthenticator { wire: block(part), ..BucketAuthenticator::default() };
            buckets.push((0..2 + number % 3).map(gate), (0..1 + number % 2).map(authenticator));
        }
        buckets
    }

    fn bytes(buckets: &Buckets, bucket: usize) -> Vec<u8> {
        let [gates, authenticators] =
            [bytemuck::cast_slice(buckets.gates(bucket)), bytemuck::cast_slice(buckets.authenticators(bucket))];
        [gates, authenticators].concat()
    }

    #[test]
    fn lots_are_the_same_in_memory_and_beside_the_store() {
        // As many gates as make lots of the plan's sizes.
        let plan = Plan::new(Arc::new(library::find("add(800)").expect("in the library")), Config::default());
        let plan = plan.expect("can be run");
        let count = plan.lots().map(|lot| lot.len()).sum();
        let mut whole = AndBuckets::Whole(buckets(0..count));
        let mut lots = AndBuckets::lots(plan.lots().len(), |streams| Ok(Scratch::in_memory(streams))).expect("memory");
        plan.lots().for_each(|lot| lots.put(buckets(lot)));
        for lot in plan.lots() {
            let opened: Vec<Block> =
                (0..2 * lot.len() + 3).map(|i| Block::from_u128((lot.start + i) as u128)).collect();
            let others = whole.join(lot.clone(), opened.clone()).expect("memory");
            assert!(others == opened[2 * lot.len()..]);
            assert!(lots.join(lot.clone(), opened).expect("memory") == others);
        }
        let AndBuckets::Lots(inner) = &lots else { panic!("lots") };
        let here = inner.joined.iter().filter(|joined| matches!(joined, Joined::InMemory(_))).count();
        assert!(here > 0 && inner.joined.len() - here > 2, "{here} of {} lots in memory", inner.joined.len());
        let AndBuckets::Whole(all) = &whole else { panic!("all of them") };
        for threads in [1, 2, 3, 9] {
            let mut done = 0;
            lots.visit(&plan, threads, |range, visited| {
                assert_eq!((range.start, range.len()), (done, visited.len()));
                for (bucket, expected) in range.clone().enumerate() {
                    assert_eq!(bytes(visited, bucket), bytes(all, expected));
                }
                done = range.end;
            })
            .expect("memory");
            assert_eq!(done, count);
        }
    }

    #[test]
    fn buckets_come_back_when_they_are_needed() {
        let mut spilled =
            SpilledBuckets::on_disk(buckets(0..5), |streams| Ok(Scratch::in_memory(streams))).expect("memory");
        for _ in 0..2 {
            let back = spilled.get().expect("memory");
            assert_eq!(back.len(), 5);
            assert!((0..5).all(|bucket| bytes(back, bucket) == bytes(&buckets(0..5), bucket)));
        }
    }
}
