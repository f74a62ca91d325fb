//! The prepared material of a run.

use garblet_protocol::{error::ProtocolError, secrets::unreadable, session::Session};
use garblet_store::{IdSet, Scratch, Taken};

use crate::{
    amounts::KINDS,
    plan::Plan,
    shares::{Made, Shares, Triples},
    stock::pieces::{GROUP, append, read},
};

/// Bytes of a triple with a mask.
const GATE_BYTES: usize = 128;

/// The triples and masks of a run, each handed out once.
#[derive(Default)]
pub struct Supply {
    /// Triples in memory that are not handed out yet.
    triples: Triples,
    masks: Shares,
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
    ands: Vec<usize>,
    /// The masks of inputs, which stay in memory.
    inputs: Shares,
    input_masks: usize,
    /// The numbers of lots written and read so far.
    put: usize,
    read: usize,
}

impl Supply {
    /// The pieces that were taken from a store.
    pub(crate) fn stored(pieces: [Taken; 2]) -> Self {
        Supply { away: Away::Stored(Box::new(pieces)), ..Supply::default() }
    }

    /// Empty, with room for these numbers, so that nothing moves when it is added.
    pub(crate) fn with_room(triples: usize, masks: usize) -> Self {
        let room = || Shares::with_room(triples);
        let triples = Triples { a: room(), b: room(), c: room() };
        Supply { triples, masks: Shares::with_room(masks), away: Away::Nothing }
    }

    /// Empty, with room for the lots of a streamed circuit.
    ///
    /// *Errors*: a file that cannot be made.
    pub(crate) fn in_lots(session: &mut Session, plan: &Plan) -> Result<Self, ProtocolError> {
        let ands: Vec<usize> = plan.lots().iter().map(|lot| lot.len()).collect();
        let bytes = plan.and_count() as usize * GATE_BYTES;
        let room = session.scratch(ands.len(), bytes)?;
        let (inputs, input_masks) = (Shares::default(), plan.input_masks());
        let lots = Lots { room, ands, inputs, input_masks, put: 0, read: 0 };
        Ok(Supply { away: Away::Lots(Box::new(lots)), ..Supply::default() })
    }

    /// The pieces taken from a store, by kind; empty if everything was made for the run.
    pub(crate) fn pieces(&self) -> Vec<(&'static str, IdSet)> {
        let Away::Stored(pieces) = &self.away else { return Vec::new() };
        KINDS.into_iter().zip(pieces.iter().map(|pieces| pieces.ids().clone())).collect()
    }

    /// Adds a batch.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn add(&mut self, made: &Made) -> Result<(), ProtocolError> {
        let Triples { a, b, c } = &mut self.triples;
        for (shares, range) in [a, b, c].into_iter().zip(made.factors()) {
            shares.reserve(range.len());
            shares.extend(&made.shares, range);
        }
        self.masks.reserve(made.masks().len());
        self.masks.extend(&made.shares, made.masks());
        self.put_away()
    }

    /// Writes the lots that are complete.
    fn put_away(&mut self) -> Result<(), ProtocolError> {
        let Supply { triples, masks, away: Away::Lots(lots), .. } = self else { return Ok(()) };
        let Triples { a, b, c } = &*triples;
        let (mut triple, mut mask) = (0, 0);
        if lots.inputs.len() < lots.input_masks && masks.len() >= lots.input_masks {
            mask = lots.input_masks;
            lots.inputs = masks.part(0..mask);
        }
        while let Some(&ands) = lots.ands.get(lots.put)
            && lots.inputs.len() == lots.input_masks
            && triple + ands <= a.len()
            && mask + ands <= masks.len()
        {
            let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(ands * GATE_BYTES));
            for (shares, start) in [(a, triple), (b, triple), (c, triple), (&*masks, mask)] {
                append(shares, start..start + ands, &mut bytes);
            }
            lots.room.append(lots.put, &bytes)?;
            (triple, mask, lots.put) = (triple + ands, mask + ands, lots.put + 1);
        }
        let rest = |shares: &Shares, from| shares.part(from..shares.len());
        let kept = Triples { a: rest(a, triple), b: rest(b, triple), c: rest(c, triple) };
        (*triples, *masks) = (kept, rest(masks, mask));
        Ok(())
    }

    /// The masks of inputs. Take them before those of gates.
    ///
    /// *Errors*: pieces that were changed.
    pub(crate) fn inputs(&mut self, plan: &Plan) -> Result<Shares, ProtocolError> {
        if let Away::Lots(lots) = &mut self.away {
            return Ok(std::mem::take(&mut lots.inputs));
        }
        let count = plan.input_masks();
        self.read_masks(count)?;
        let rest = self.masks.len() - count;
        let inputs = self.masks.part(rest..rest + count);
        self.masks.truncate(rest);
        Ok(inputs)
    }

    /// Triples and masks of the next gates.
    ///
    /// *Errors*: pieces that were changed.
    pub(crate) fn next(&mut self, ands: usize) -> Result<(Triples, Shares), ProtocolError> {
        if let Away::Lots(lots) = &mut self.away {
            return lots.next(ands);
        }
        self.read_triples(ands)?;
        self.read_masks(ands)?;
        let Triples { a, b, c } = &mut self.triples;
        let triples = Triples { a: a.take_first(ands), b: b.take_first(ands), c: c.take_first(ands) };
        Ok((triples, self.masks.take_first(ands)))
    }

    /// Reads the required number of masks.
    fn read_masks(&mut self, count: usize) -> Result<(), ProtocolError> {
        let Away::Stored(stored) = &mut self.away else { return Ok(()) };
        let [_, pieces] = &mut **stored;
        let missing = count.saturating_sub(self.masks.len());
        self.masks = self.masks.part_with_room(0..self.masks.len(), count + GROUP);
        let masks = &mut self.masks;
        read_pieces(pieces, missing, KINDS[1], |bytes| read(bytes, GROUP, &mut [masks]))
    }

    /// Reads the required number of triples.
    fn read_triples(&mut self, count: usize) -> Result<(), ProtocolError> {
        let Away::Stored(stored) = &mut self.away else { return Ok(()) };
        let [pieces, _] = &mut **stored;
        let missing = count.saturating_sub(self.triples.len());
        let Triples { a, b, c } = &mut self.triples;
        for shares in [&mut *a, b, c] {
            *shares = shares.part_with_room(0..shares.len(), count + GROUP);
        }
        read_pieces(pieces, missing, KINDS[0], |bytes| read(bytes, GROUP, &mut [a, b, c]))
    }
}

impl Lots {
    /// The material of the next lot.
    fn next(&mut self, ands: usize) -> Result<(Triples, Shares), ProtocolError> {
        let bytes = if ands > 0 { self.room.take(self.read)? } else { Default::default() };
        self.read += 1;
        let room = || Shares::with_room(ands);
        let (mut triples, mut masks) = (Triples { a: room(), b: room(), c: room() }, room());
        let Triples { a, b, c } = &mut triples;
        read(&bytes, ands, &mut [a, b, c, &mut masks]).ok_or_else(|| unreadable("a lot"))?;
        Ok((triples, masks))
    }
}

/// Reads the pieces that hold `count` triples or masks.
fn read_pieces(
    pieces: &mut Taken,
    count: usize,
    kind: &'static str,
    mut read: impl FnMut(&[u8]) -> Option<()>,
) -> Result<(), ProtocolError> {
    let mut sound = Some(());
    let mut visit = |_, bytes: &[u8]| sound = sound.and_then(|()| read(bytes));
    pieces.show(count.div_ceil(GROUP) as u64, &mut visit)?;
    sound.ok_or_else(|| unreadable(kind))
}
