//! Steps P1 to P6: triples and masks before the function is known, batch by batch.

mod correlated;
mod equality;
mod leaky;
pub(crate) mod rotate;

use garblet_protocol::{conduct::Conduct, error::ProtocolError, phase::Phase, session::Session};

use crate::{
    GARBLER, Step,
    config::{Config, LPN},
    ground::Ground,
    parameters::Batch,
    shares::Made,
    stock::unsettled::LastCheck,
};

impl<C: Conduct<Step>> Ground<C> {
    /// Makes the first silent OTs, if so many OTs in each direction are to be silent and there are none yet (phase `setup`).
    ///
    /// *Errors*: as [`Ground::make`].
    pub(crate) async fn begin_ots(
        &mut self,
        session: &mut Session,
        config: Config,
        ots: u64,
    ) -> Result<(), ProtocolError> {
        if self.ots.are_silent() || !config.is_silent(ots) {
            return Ok(());
        }
        self.check_settled()?;
        session.enter(Phase::Setup);
        self.over = true;
        let (channel, rng) = session.parts();
        // Bit 0 of the evaluator's difference is not set.
        self.ots.begin_silent(channel, rng, self.party == GARBLER, LPN).await?;
        self.over = false;
        Ok(())
    }

    /// Makes the triples of a batch, if there is one, and `masks` masks.
    ///
    /// A batch that fails, or whose future is dropped, is the last: the garbler may know the outcome of its check when the evaluator does not.
    ///
    /// *Errors*: a peer that cheats; the connection's; an earlier batch that failed, or whose check is not settled.
    pub(crate) async fn make(
        &mut self,
        session: &mut Session,
        batch: Option<Batch>,
        masks: usize,
    ) -> Result<Made, ProtocolError> {
        self.check_settled()?;
        self.over = true;
        let made = self.make_batch(session, batch, masks).await?;
        self.over = false;
        Ok(made)
    }

    /// Refuses to make anything after a step that failed, or while a check is not settled.
    fn check_settled(&self) -> Result<(), ProtocolError> {
        self.check_sound()?;
        match &self.stock {
            Some(stock) => LastCheck::of(&stock.store)?.must_be_settled(&stock.store),
            None => Ok(()),
        }
    }

    async fn make_batch(
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
        // One failure ends everything, so all batches together are no worse than the worst one.
        self.insecure = self.insecure.max(batch.insecure());
        let leaky = self.leaky_triples(session, checked, leaky, number).await?;
        self.join_buckets(session, leaky, batch, number).await
    }
}
