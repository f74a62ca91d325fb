//! The party that holds delta.

use std::marker::PhantomData;

use garblet_net::Channel;
use garblet_primitives::{Block, Delta, Prg};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::base::BaseSender;
use super::check::{self, QUERY_BYTES, Weights};
use super::coins::{Coin, Direction, Domain};
use super::parameters::LpnSet;
use super::round::{self, Masks, Round, Stock};
use super::supply::Supply;
use super::tree::SentTrees;
use crate::correlated::CorrelatedSender;
use crate::error::OtError;
use crate::room::emptied;

/// The sender of silent OTs that began with OTs of `B`: gets `q`, while the receiver gets `q ^ c * delta`.
///
/// *Secret*: all of it. *Unique*: one per session and peer.
pub struct SilentCotSender<B> {
    set: LpnSet,
    delta: Delta,
    domain: Domain,
    /// The generator of seeds and shares of coins.
    rng: Prg,
    /// The next round's stock; `None` after a batch that failed.
    pub(super) stock: Option<Stock>,
    supply: Supply<SentTrees>,
    base: PhantomData<fn() -> B>,
}

/// A batch whose corrections are sent.
pub(super) struct Batch {
    pub(super) coin: Coin,
    rounds: Vec<Round<SentTrees>>,
    masks: Masks,
    next: Stock,
}

impl<B: BaseSender> SilentCotSender<B> {
    /// Step 0, with a peer that calls [`SilentCotReceiver::setup`](super::SilentCotReceiver::setup) with the same parameters and direction. The OTs' difference is that of `base`,
    /// with bit 0 set. The one check of a checked base carries all later OTs, so it must be one of 80 bits.
    ///
    /// *Errors*: [`OtError::WeakBase`]; as `base`.
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        mut base: B,
        set: LpnSet,
        direction: Direction,
    ) -> Result<Self, OtError> {
        base.check_strength()?;
        let mut stock = base.extend(channel, set.stock()).await?;
        stock.iter_mut().for_each(|block| *block = block.with_lsb(false));
        let (delta, domain) = (Delta::new(base.delta().block()), Domain { session: base.session_key(), direction });
        let (rng, supply) = (Prg::random(rng), Supply::empty());
        Ok(SilentCotSender { set, delta, domain, rng, stock: Some(stock), supply, base: PhantomData })
    }

    /// Steps 1 and 2.
    pub(super) async fn correct(&mut self, channel: &mut Channel, n: usize) -> Result<Batch, OtError> {
        let mut stock = self.stock.take().ok_or(OtError::Ended)?;
        let coin = Coin::toss_first(channel, self.domain, &mut self.rng).await?;
        // With room for all, so that none moves: they have delta.
        let (mut rounds, mut masks) = (Vec::with_capacity(self.set.rounds(n).count()), Masks::default());
        for (number, trees) in (0..).zip(self.set.rounds(n)) {
            let mut seeds = vec![Block::ZERO; trees];
            self.rng.fill_blocks(&mut seeds);
            let delta = self.delta.block();
            let (round, corrections, of_round) = round::sent(self.set, &coin.keys(number), delta, seeds, stock);
            channel.send_bytes(bytemuck::cast_slice(&corrections)).await?;
            stock = round.next_stock();
            if number == 0 {
                masks = of_round;
            }
            rounds.push(round);
        }
        channel.flush().await?;
        Ok(Batch { coin, rounds, masks, next: stock })
    }

    /// Step 6, up to the hash.
    pub(super) fn sum(&self, batch: &Batch, [point, masked]: [Block; 2]) -> Block {
        let weights = Weights::new(self.set, point);
        check::sum(&weights, masked, self.delta.block(), &batch.rounds, &batch.masks)
    }

    pub(super) fn finish(&mut self, batch: Batch, n: usize) {
        self.stock = Some(batch.next);
        self.supply = Supply::new(batch.rounds, n);
    }

    /// As [`CorrelatedSender::extend`]. The blocks may take the allocation of `room`, whose contents are lost.
    ///
    /// *Errors*: as [`CorrelatedSender::prepare`].
    pub async fn extend_into(
        &mut self,
        channel: &mut Channel,
        n: usize,
        room: Zeroizing<Vec<Block>>,
    ) -> Result<Zeroizing<Vec<Block>>, OtError> {
        if n > self.supply.left() {
            self.prepare(channel, n).await?;
        }
        let mut blocks = emptied(room, n);
        self.supply.draw_onto(n, &mut blocks);
        Ok(blocks)
    }
}

impl<B: BaseSender> CorrelatedSender for SilentCotSender<B> {
    fn delta(&self) -> &Delta {
        &self.delta
    }

    fn session_key(&self) -> Block {
        self.domain.session
    }

    /// Makes a batch of `n` OTs, which later calls of `extend` draw without traffic; the receiver does the same. OTs that are left of an earlier batch are dropped.
    ///
    /// *Errors*: [`OtError::Ended`] after a batch that failed; connection errors.
    async fn prepare(&mut self, channel: &mut Channel, n: usize) -> Result<(), OtError> {
        self.supply = Supply::empty();
        if n == 0 {
            return Ok(());
        }
        let batch = self.correct(channel, n).await?;
        if B::CHECKED {
            let mut query = [Block::ZERO; QUERY_BYTES / 16];
            channel.receive_bytes(bytemuck::cast_slice_mut(&mut query)).await?;
            let sum = self.sum(&batch, query);
            channel.send_bytes(&check::hash(&batch.coin, query, sum)).await?;
            channel.flush().await?;
        }
        self.finish(batch, n);
        Ok(())
    }

    /// Draws from the batch, or makes one of `n` OTs if less are left.
    async fn extend(&mut self, channel: &mut Channel, n: usize) -> Result<Zeroizing<Vec<Block>>, OtError> {
        self.extend_into(channel, n, Zeroizing::default()).await
    }
}
