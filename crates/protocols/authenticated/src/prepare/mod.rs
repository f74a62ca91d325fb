//! Steps P1 to P6: triples and masks before the function is known, batch by batch.

mod correlated;
mod equality;
mod leaky;
mod rotate;

use garblet_protocol::{conduct::Conduct, error::ProtocolError, session::Session};

use crate::{Step, ground::Ground, parameters::Batch, shares::Made};

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
