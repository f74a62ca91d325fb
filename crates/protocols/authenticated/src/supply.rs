//! What a run has of what was prepared.

use garblet_protocol::error::ProtocolError;
use garblet_store::Taken;

use crate::{
    plan::Plan,
    prepare::Made,
    shares::{Shares, Triples},
    stock::store::{GROUP, KINDS, read, unreadable},
};

/// The triples and masks of a run, each handed out once.
#[derive(Default)]
pub struct Supply {
    triples: Triples,
    /// Of the inputs that somebody gives, and then of all gates.
    masks: Shares,
    /// Triples and masks among these that were handed out.
    used: [usize; 2],
    /// Pieces of a store, which are read when they are needed.
    stored: Option<[Taken; 2]>,
}

impl Supply {
    /// The pieces that were taken from a store.
    pub(crate) fn stored(pieces: [Taken; 2]) -> Self {
        Supply { stored: Some(pieces), ..Supply::default() }
    }

    /// Room for so much, of which there is nothing yet: nothing moves when it is added, which would leave it behind.
    pub(crate) fn with_room(triples: usize, masks: usize) -> Self {
        let room = || Shares::with_room(triples);
        let triples = Triples { a: room(), b: room(), c: room() };
        Supply { triples, masks: Shares::with_room(masks), ..Supply::default() }
    }

    /// Adds a batch.
    pub(crate) fn add(&mut self, made: &Made) {
        let Made { triples, masks } = made;
        let all = 0..triples.len();
        self.triples.a.extend(&triples.a, all.clone());
        self.triples.b.extend(&triples.b, all.clone());
        self.triples.c.extend(&triples.c, all);
        self.masks.extend(masks, 0..masks.len());
    }

    /// The masks of inputs, which are the first.
    ///
    /// *Errors*: pieces that were changed.
    pub(crate) fn inputs(&mut self, plan: &Plan) -> Result<Shares, ProtocolError> {
        self.next_masks(plan.given_bits())
    }

    /// Triples and masks of the next gates.
    ///
    /// *Errors*: pieces that were changed.
    pub(crate) fn next(&mut self, ands: usize) -> Result<(Triples, Shares), ProtocolError> {
        self.read_triples(ands)?;
        let range = self.used[0]..self.used[0] + ands;
        self.used[0] += ands;
        let part = |shares: &Shares| shares.part(range.clone());
        let Triples { a, b, c } = &self.triples;
        let triples = Triples { a: part(a), b: part(b), c: part(c) };
        Ok((triples, self.next_masks(ands)?))
    }

    fn next_masks(&mut self, count: usize) -> Result<Shares, ProtocolError> {
        if let Some([_, pieces]) = &mut self.stored {
            let left = self.masks.len() - self.used[1];
            self.masks = self.masks.part_with_room(self.used[1]..self.masks.len(), count + GROUP);
            self.used[1] = 0;
            let all = &mut self.masks;
            read_pieces(pieces, count.saturating_sub(left), KINDS[1], |bytes| read(bytes, &mut [all]))?;
        }
        self.used[1] += count;
        Ok(self.masks.part(self.used[1] - count..self.used[1]))
    }

    fn read_triples(&mut self, count: usize) -> Result<(), ProtocolError> {
        let Some([pieces, _]) = &mut self.stored else { return Ok(()) };
        let rest = self.used[0]..self.triples.len();
        let left = rest.len();
        let Triples { a, b, c } = &self.triples;
        let part = |shares: &Shares| shares.part_with_room(rest.clone(), count + GROUP);
        self.triples = Triples { a: part(a), b: part(b), c: part(c) };
        self.used[0] = 0;
        let Triples { a, b, c } = &mut self.triples;
        read_pieces(pieces, count.saturating_sub(left), KINDS[0], |bytes| read(bytes, &mut [a, b, c]))
    }
}

/// Reads as many pieces as have so many triples or masks.
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
