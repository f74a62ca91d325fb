//! Steps P1 to P6: triples and masks before the function is known, batch by batch.

mod correlated;
mod equality;
mod leaky;
mod rotate;

use std::ops::Range;

use garblet_protocol::{conduct::Conduct, error::ProtocolError, session::Session};

use crate::{Step, ground::Ground, parameters::Batch, shares::Shares};

/// The outcome of a batch, in the room of what it was made from.
#[derive(Default)]
pub(crate) struct Made {
    /// The factors of leaky triples, of which the first are those of triples, and masks.
    pub(crate) shares: Shares,
    pub(crate) triples: usize,
    leaky: usize,
}

impl Made {
    /// The places of all `a`, `b` and `c`.
    pub(crate) fn factors(&self) -> [Range<usize>; 3] {
        [0, 1, 2].map(|factor| factor * self.leaky..factor * self.leaky + self.triples)
    }

    /// The places of masks.
    pub(crate) fn masks(&self) -> Range<usize> {
        3 * self.leaky..self.shares.len()
    }
}

impl<C: Conduct<Step>> Ground<C> {
    /// Makes the triples of a batch, if there is one, and so many masks.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub(crate) async fn make(
        &mut self,
        session: &mut Session,
        batch: Option<Batch>,
        masks: usize,
    ) -> Result<Made, ProtocolError> {
        let leaky = batch.map_or(0, |batch| batch.leaky() as usize);
        let count = 3 * leaky + masks;
        if count == 0 {
            return Ok(Made::default());
        }
        let number = self.batches;
        self.batches += 1;
        if let (Some(stock), Some(batch)) = (&mut self.stock, batch) {
            stock.count(batch.insecure())?;
        }
        let checked = self.correlate(session, count, number).await?;
        let Some(batch) = batch else {
            return Ok(Made { shares: checked.into_shares(self.in_ots.block()), ..Made::default() });
        };
        // One failure ends everything, so that all batches together are no worse than the worst.
        self.insecure = self.insecure.max(batch.insecure());
        let leaky = self.leaky_triples(session, checked, leaky, number).await?;
        self.join_buckets(session, leaky, batch, number).await
    }
}
