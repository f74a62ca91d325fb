//! The prepared material of a run, or of a batch that is stored.

use garblet_primitives::Block;
use garblet_protocol::{MeshSession, error::ProtocolError, secrets::unreadable};
use garblet_store::{IdSet, Scratch, Taken};
use zeroize::Zeroizing;

use super::{
    plan::Plan,
    shares::{Shares, Triples},
};
use crate::{amounts::KINDS, stock::pieces::GROUP};

/// Triples and masks, each handed out once.
#[derive(Default)]
pub(crate) struct Supply {
    /// Triples in memory that are not handed out yet.
    pub(super) triples: Triples,
    pub(super) masks: Shares,
    away: Away,
}

/// The part that is not in memory.
#[derive(Default)]
enum Away {
    #[default]
    Nothing,
    /// Pieces of a store, read when they are needed.
    Stored(Box<[Taken; 2]>),
    /// Lots of a streamed circuit.
    Lots(Box<Lots>),
}

/// The material of lots, one stream for each: in memory, or in an encrypted file if it is too much.
struct Lots {
    room: Scratch,
    /// Gates of each lot.
    gates: Vec<usize>,
    /// The masks of inputs, which stay in memory.
    inputs: Option<Shares>,
    input_count: usize,
    /// The numbers of lots written and read so far.
    put: usize,
    read: usize,
}

impl Supply {
    /// Empty, with room.
    pub(super) fn with_room(parties: u16, triples: usize, masks: usize) -> Self {
        let masks = Shares::with_room(parties, masks);
        Supply { triples: Triples::with_room(parties, triples), masks, away: Away::Nothing }
    }

    /// The pieces that were taken from a store.
    pub(super) fn stored(parties: u16, pieces: [Taken; 2]) -> Self {
        Supply { away: Away::Stored(Box::new(pieces)), ..Supply::with_room(parties, 0, 0) }
    }

    /// Empty, with room for the lots of a streamed circuit.
    ///
    /// *Errors*: a file that cannot be made.
    pub(super) fn in_lots(session: &mut MeshSession, plan: &Plan) -> Result<Self, ProtocolError> {
        let gates: Vec<usize> = plan.lots().iter().map(|lot| lot.len()).collect();
        let room = session.scratch(gates.len(), plan.and_count() * gate_bytes(plan.parties()))?;
        let lots = Lots { room, gates, inputs: None, input_count: plan.given_count(), put: 0, read: 0 };
        Ok(Supply { away: Away::Lots(Box::new(lots)), ..Supply::with_room(plan.parties(), 0, 0) })
    }

    /// The pieces taken from a store, by kind; empty if everything was made for the run.
    pub(super) fn pieces(&self) -> Vec<(&'static str, IdSet)> {
        let Away::Stored(pieces) = &self.away else { return Vec::new() };
        KINDS.into_iter().zip(pieces.iter().map(|pieces| pieces.ids().clone())).collect()
    }

    /// The names of the pieces, of which all parties must have taken the same.
    pub(super) fn names(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (_, ids) in self.pieces() {
            bytes.extend_from_slice(&(ids.ranges().len() as u64).to_le_bytes());
            let ends = ids.ranges().iter().flat_map(|range| [range.start, range.end]);
            ends.for_each(|end| bytes.extend_from_slice(&end.to_le_bytes()));
        }
        bytes
    }

    /// Appends the first `triples` triples and all masks of a batch: `a`, `b` and `c` of all its leaky triples, then the masks.
    ///
    /// *Errors*: the disk's.
    pub(super) fn add(
        &mut self,
        batch: &Shares,
        leaky: usize,
        triples: usize,
        masks: usize,
    ) -> Result<(), ProtocolError> {
        for (factor, to) in self.triples.factors_mut().into_iter().enumerate() {
            to.reserve(triples);
            to.extend(batch, factor * leaky..factor * leaky + triples);
        }
        self.masks.reserve(masks);
        self.masks.extend(batch, 3 * leaky..3 * leaky + masks);
        self.put_away()
    }

    /// Writes the lots that are complete.
    fn put_away(&mut self) -> Result<(), ProtocolError> {
        let Supply { triples, masks, away: Away::Lots(lots) } = self else { return Ok(()) };
        if lots.inputs.is_none() && masks.len() >= lots.input_count {
            lots.inputs = Some(masks.take_first(lots.input_count));
        }
        let mut done = 0;
        while let Some(&gates) = lots.gates.get(lots.put)
            && lots.inputs.is_some()
            && done + gates <= triples.a.len().min(masks.len())
        {
            let Triples { a, b, c } = &*triples;
            let columns = [a, b, c, &*masks].into_iter().flat_map(|shares| shares.columns());
            let mut bytes = Zeroizing::new(Vec::with_capacity(gates * 64 * masks.columns().len()));
            columns.for_each(|column| bytes.extend_from_slice(bytemuck::cast_slice(&column[done..done + gates])));
            lots.room.append(lots.put, &bytes)?;
            (done, lots.put) = (done + gates, lots.put + 1);
        }
        triples.factors_mut().into_iter().for_each(|factor| drop(factor.take_first(done)));
        drop(masks.take_first(done));
        Ok(())
    }

    /// The masks of inputs. Take them before those of gates.
    ///
    /// *Errors*: pieces that were changed.
    pub(super) fn inputs(&mut self, count: usize) -> Result<Shares, ProtocolError> {
        if let Away::Lots(lots) = &mut self.away {
            // A program without inputs and gates has no batch.
            return Ok(lots.inputs.take().unwrap_or_else(|| self.masks.take_first(0)));
        }
        self.read_masks(count)?;
        Ok(self.masks.take_first(count))
    }

    /// Triples and masks of the next gates.
    ///
    /// *Errors*: pieces that were changed; the disk's.
    pub(super) fn next(&mut self, gates: usize) -> Result<(Triples, Shares), ProtocolError> {
        if let Away::Lots(lots) = &mut self.away {
            return lots.next(gates, self.masks.columns().len() as u16);
        }
        self.read_triples(gates)?;
        self.read_masks(gates)?;
        let Triples { a, b, c } = &mut self.triples;
        let triples = Triples { a: a.take_first(gates), b: b.take_first(gates), c: c.take_first(gates) };
        Ok((triples, self.masks.take_first(gates)))
    }

    /// Reads the required number of masks.
    fn read_masks(&mut self, count: usize) -> Result<(), ProtocolError> {
        let Away::Stored(stored) = &mut self.away else { return Ok(()) };
        read_pieces(&mut stored[1], (count, KINDS[1]), &mut [&mut self.masks])
    }

    /// Reads the required number of triples.
    fn read_triples(&mut self, count: usize) -> Result<(), ProtocolError> {
        let Away::Stored(stored) = &mut self.away else { return Ok(()) };
        read_pieces(&mut stored[0], (count, KINDS[0]), &mut self.triples.factors_mut())
    }
}

impl Lots {
    /// The material of the next lot.
    fn next(&mut self, gates: usize, parties: u16) -> Result<(Triples, Shares), ProtocolError> {
        let bytes = if gates > 0 { self.room.take(self.read)? } else { Default::default() };
        self.read += 1;
        let (mut triples, mut masks) = (Triples::with_room(parties, gates), Shares::with_room(parties, gates));
        let [a, b, c] = triples.factors_mut();
        read(&bytes, gates, &mut [a, b, c, &mut masks]).ok_or_else(|| unreadable("a lot"))?;
        Ok((triples, masks))
    }
}

/// Bytes of a triple and a mask.
fn gate_bytes(parties: u16) -> usize {
    64 * usize::from(parties)
}

/// Reads pieces until there are `count` shares.
///
/// *Errors*: pieces that were changed.
fn read_pieces(
    pieces: &mut Taken,
    (count, kind): (usize, &'static str),
    into: &mut [&mut Shares],
) -> Result<(), ProtocolError> {
    let missing = count.saturating_sub(into[0].len()).div_ceil(GROUP);
    into.iter_mut().for_each(|shares| shares.reserve(missing * GROUP));
    let mut is_sound = true;
    pieces.show(missing as u64, |_, bytes| is_sound &= read(bytes, GROUP, into).is_some())?;
    if is_sound { Ok(()) } else { Err(unreadable(kind)) }
}

/// Reads stored shares, `count` of each kind, one kind after another.
fn read(bytes: &[u8], count: usize, into: &mut [&mut Shares]) -> Option<()> {
    let columns: usize = into.iter().map(|shares| shares.columns().len()).sum();
    if bytes.len() != 16 * count * columns {
        return None;
    }
    let mut blocks = bytes.as_chunks::<16>().0.chunks_exact(count.max(1));
    for column in into.iter_mut().flat_map(|shares| shares.columns_mut()) {
        column.extend(blocks.next().unwrap_or_default().iter().map(|block| Block::from_bytes(*block)));
    }
    Some(())
}
