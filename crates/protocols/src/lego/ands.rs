//! The buckets of a run's AND gates from the time they are taken until they are evaluated.

use std::{collections::VecDeque, ops::Range};

use garblet_primitives::Block;
use garblet_store::Scratch;

use super::{bucket::Buckets, pool::unreadable};
use crate::error::ProtocolError;

/// Bytes of joined buckets in lots that stay in memory until they are evaluated. Tests have few.
const MEMORY_BYTES: usize = if cfg!(test) { 200_000 } else { 96 << 20 };

/// The buckets of all AND gates in the order of the plan.
pub(super) enum Ands {
    /// Those of all lots.
    Whole(Buckets),
    /// Those of one lot after another.
    Lots(Box<Lots>),
}

pub(super) struct Lots {
    /// Lots that were taken and are not joined yet, the oldest first.
    waiting: VecDeque<Buckets>,
    /// The others, as long as there is memory for them.
    joined: Vec<Buckets>,
    memory: usize,
    /// Those behind them, sealed beside the store in a stream for each lot.
    away: Scratch,
    away_count: usize,
    /// The one of them that is being evaluated.
    loaded: Buckets,
}

impl Ands {
    /// No lot yet; `away` is for lots that are too many for memory.
    pub(super) fn lots(away: Scratch) -> Self {
        Ands::Lots(Box::new(Lots {
            waiting: VecDeque::new(),
            joined: Vec::new(),
            memory: MEMORY_BYTES,
            away,
            away_count: 0,
            loaded: Buckets::default(),
        }))
    }

    /// Takes the buckets of the next lot, if there are not those of all.
    pub(super) fn put(&mut self, buckets: Buckets) {
        if let Ands::Lots(lots) = self {
            lots.waiting.push_back(buckets);
        }
    }

    /// Joins the next lot, which are these gates of all, to the function: what was opened leads from the left and right input
    /// of each gate to the first gate of its bucket. Gives what else was opened.
    ///
    /// *Errors*: the disk's.
    pub(super) fn join(&mut self, gates: Range<usize>, opened: Vec<Block>) -> Result<Vec<Block>, ProtocolError> {
        let mut opened = opened;
        let others = opened.split_off(2 * gates.len());
        let solderings = opened.as_chunks::<2>().0;
        match self {
            Ands::Whole(buckets) => buckets.join(gates.start, solderings),
            Ands::Lots(lots) => {
                let mut buckets = lots.waiting.pop_front().unwrap_or_default();
                buckets.join(0, solderings);
                lots.keep(buckets)?;
            }
        }
        Ok(others)
    }

    /// The buckets of the first lot, or of all, once they are joined.
    #[cfg(test)]
    pub(super) fn first(&mut self) -> &mut Buckets {
        match self {
            Ands::Whole(buckets) => buckets,
            Ands::Lots(lots) => &mut lots.joined[0],
        }
    }

    /// Where the buckets of a lot begin, of which `first` is the first of all, and among which.
    ///
    /// *Errors*: the disk's.
    pub(super) fn lot(&mut self, number: usize, first: usize) -> Result<(usize, &Buckets), ProtocolError> {
        match self {
            Ands::Whole(buckets) => Ok((first, buckets)),
            Ands::Lots(lots) => Ok((0, lots.get(number)?)),
        }
    }
}

impl Lots {
    /// Keeps a lot that is joined: in memory, if it still has room and has had it for all before.
    fn keep(&mut self, buckets: Buckets) -> Result<(), ProtocolError> {
        let parts = buckets.parts(0..buckets.len());
        let bytes = parts.iter().map(|part| part.len()).sum();
        match self.memory.checked_sub(bytes).filter(|_| self.away_count == 0) {
            Some(left) => {
                self.memory = left;
                drop(parts);
                self.joined.push(buckets);
            }
            None => {
                for part in &parts {
                    self.away.append(self.away_count, part)?;
                }
                self.away_count += 1;
            }
        }
        Ok(())
    }

    fn get(&mut self, number: usize) -> Result<&Buckets, ProtocolError> {
        if let Some(away) = number.checked_sub(self.joined.len()) {
            self.loaded = Buckets::default();
            self.loaded = Buckets::of_parts(&self.away.read(away)?).ok_or_else(|| unreadable("AND gates"))?;
            return Ok(&self.loaded);
        }
        Ok(&self.joined[number])
    }
}

/// So many buckets of inputs are put aside in one stream. Tests have few.
const ASIDE: usize = if cfg!(test) { 2 } else { 1 << 13 };

/// Buckets of inputs, which nothing needs while AND gates are joined.
pub(super) struct Aside {
    here: Buckets,
    /// Those that lie beside a store, in so many streams.
    away: Option<(Box<Scratch>, usize)>,
}

impl Aside {
    /// Leaves them in memory.
    pub(super) fn here(buckets: Buckets) -> Self {
        Aside { here: buckets, away: None }
    }

    /// Puts them into room for so many streams.
    ///
    /// *Errors*: the disk's.
    pub(super) fn away(
        buckets: Buckets,
        room: impl FnOnce(usize) -> Result<Scratch, ProtocolError>,
    ) -> Result<Self, ProtocolError> {
        let count = buckets.len().div_ceil(ASIDE);
        let mut room = room(count)?;
        for stream in 0..count {
            let range = stream * ASIDE..((stream + 1) * ASIDE).min(buckets.len());
            for part in &buckets.parts(range) {
                room.append(stream, part)?;
            }
        }
        Ok(Aside { here: Buckets::default(), away: Some((Box::new(room), count)) })
    }

    /// The buckets, in memory from now on.
    ///
    /// *Errors*: the disk's.
    pub(super) fn get(&mut self) -> Result<&Buckets, ProtocolError> {
        if let Some((mut room, count)) = self.away.take() {
            for stream in 0..count {
                let buckets = Buckets::of_parts(&room.take(stream)?).ok_or_else(|| unreadable("input buckets"))?;
                self.here.append(buckets);
            }
        }
        Ok(&self.here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lego::bucket::{BucketAuthenticator, BucketGate};

    /// So many buckets, of sizes and with numbers that differ.
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
    fn lots_in_memory_and_beside_the_store_are_what_they_are_together() {
        let ranges = [0..300, 300..300, 300..700, 700..710];
        let mut whole = Ands::Whole(buckets(0..710));
        let mut lots = Ands::lots(Scratch::in_memory(ranges.len()));
        ranges.iter().for_each(|lot| lots.put(buckets(lot.clone())));
        for lot in &ranges {
            let opened: Vec<Block> =
                (0..2 * lot.len() + 3).map(|i| Block::from_u128((lot.start + i) as u128)).collect();
            let others = whole.join(lot.clone(), opened.clone()).expect("memory");
            assert!(others == opened[2 * lot.len()..]);
            assert!(lots.join(lot.clone(), opened).expect("memory") == others);
        }
        assert!(matches!(&lots, Ands::Lots(lots) if [lots.joined.len(), lots.away_count] == [2, 2]));
        for _ in 0..2 {
            for (number, lot) in ranges.iter().enumerate() {
                let (expected_at, expected) = whole.lot(number, lot.start).expect("memory");
                let (at, got) = lots.lot(number, lot.start).expect("memory");
                assert_eq!(got.len(), lot.len());
                for bucket in 0..lot.len() {
                    assert_eq!(bytes(got, at + bucket), bytes(expected, expected_at + bucket));
                }
            }
        }
    }

    #[test]
    fn buckets_come_back_when_they_are_needed() {
        let mut aside = Aside::away(buckets(0..5), |streams| Ok(Scratch::in_memory(streams))).expect("memory");
        for _ in 0..2 {
            let back = aside.get().expect("memory");
            assert_eq!(back.len(), 5);
            assert!((0..5).all(|bucket| bytes(back, bucket) == bytes(&buckets(0..5), bucket)));
        }
    }

    #[test]
    fn other_bytes_are_no_buckets() {
        let bytes: Vec<u8> = buckets(0..5).parts(0..5).concat();
        assert!(Buckets::of_parts(&bytes).is_some());
        for wrong in [&bytes[..7], &bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat(), &[255; 40]] {
            assert!(Buckets::of_parts(wrong).is_none());
        }
    }
}
