//! What a run has of what was prepared.

use garblet_protocol::error::ProtocolError;

use crate::{
    plan::Plan,
    prepare::Made,
    shares::{Shares, Triples},
};

/// The triples and masks of a run, each handed out once.
#[derive(Default)]
pub struct Supply {
    triples: Triples,
    /// Of the inputs that somebody gives, and then of all gates.
    masks: Shares,
    /// Triples and masks that were handed out.
    used: [usize; 2],
}

impl Supply {
    /// Adds a batch.
    pub(crate) fn add(&mut self, made: Made) {
        if self.triples.len() + self.masks.len() == 0 {
            let Made { triples, masks } = made;
            (self.triples, self.masks) = (triples, masks);
            return;
        }
        let Made { triples, masks } = &made;
        let all = 0..triples.len();
        self.triples.a.extend(&triples.a, all.clone());
        self.triples.b.extend(&triples.b, all.clone());
        self.triples.c.extend(&triples.c, all);
        self.masks.extend(masks, 0..masks.len());
    }

    /// The masks of inputs, which are the first.
    pub(crate) fn inputs(&mut self, plan: &Plan) -> Shares {
        self.next_masks(plan.given_bits())
    }

    /// Triples and masks of the next gates.
    ///
    /// *Errors*: none where all are in memory.
    pub(crate) fn next(&mut self, ands: usize) -> Result<(Triples, Shares), ProtocolError> {
        let range = self.used[0]..self.used[0] + ands;
        self.used[0] += ands;
        let part = |shares: &Shares| {
            let mut part = Shares::with_room(ands);
            part.extend(shares, range.clone());
            part
        };
        let Triples { a, b, c } = &self.triples;
        let triples = Triples { a: part(a), b: part(b), c: part(c) };
        Ok((triples, self.next_masks(ands)))
    }

    fn next_masks(&mut self, count: usize) -> Shares {
        let mut masks = Shares::with_room(count);
        masks.extend(&self.masks, self.used[1]..self.used[1] + count);
        self.used[1] += count;
        masks
    }
}
