//! The party that holds the choices.

use std::marker::PhantomData;

use garblet_net::Channel;
use garblet_primitives::{Block, Prg};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::base::BaseReceiver;
use super::check::{ANSWER_BYTES, Query};
use super::coins::{Coin, Direction, Domain};
use super::parameters::LpnSet;
use super::round::{self, Masks, Round, Stock};
use super::supply::Supply;
use super::tree::ReceivedTrees;
use crate::bit_vec::BitVec;
use crate::correlated::CorrelatedReceiver;
use crate::error::OtError;
use crate::room::emptied;

/// The receiver of silent OTs that began with OTs of `B`: gets `c` and `t = q ^ c * delta`, while the sender has `q` and delta.
///
/// *Secret*: all of it. *Unique*: one per session and peer.
pub struct SilentCotReceiver<B> {
    pub(super) set: LpnSet,
    domain: Domain,
    /// The generator of points and shares of coins.
    rng: Prg,
    /// The next round's stock; `None` after a batch that failed.
    pub(super) stock: Option<Stock>,
    supply: Supply<ReceivedTrees>,
    base: PhantomData<fn() -> B>,
}

/// A batch whose corrections have arrived.
pub(super) struct Batch {
    coin: Coin,
    pub(super) rounds: Vec<Round<ReceivedTrees>>,
    masks: Masks,
    next: Stock,
}

impl<B: BaseReceiver> SilentCotReceiver<B> {
    /// Step 0, with a peer that calls [`SilentCotSender::setup`](super::SilentCotSender::setup) with the same parameters and direction.
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
        let (choices, mut stock) = base.extend_random(channel, set.stock()).await?;
        stock.iter_mut().zip(choices.iter()).for_each(|(block, choice)| *block = block.with_lsb(choice));
        let domain = Domain { session: base.session_key(), direction };
        let (rng, supply) = (Prg::random(rng), Supply::empty());
        Ok(SilentCotReceiver { set, domain, rng, stock: Some(stock), supply, base: PhantomData })
    }

    /// Step 5, up to the message.
    pub(super) fn query(&mut self, batch: &Batch) -> Query {
        Query::new(self.set, self.rng.next_block(), &batch.rounds, &batch.masks)
    }

    /// Steps 5 to 7.
    pub(super) async fn ask(channel: &mut Channel, batch: &Batch, query: Query) -> Result<(), OtError> {
        channel.send_bytes(bytemuck::cast_slice(&[query.point, query.masked])).await?;
        let mut answer = [0; ANSWER_BYTES];
        channel.receive_bytes(&mut answer).await?;
        query.check(&batch.coin, &answer)
    }

    pub(super) fn finish(&mut self, batch: Batch, n: usize) {
        self.stock = Some(batch.next);
        self.supply = Supply::new(batch.rounds, n);
    }

    /// Steps 1 and 3.
    pub(super) async fn receive(&mut self, channel: &mut Channel, n: usize) -> Result<Batch, OtError> {
        let mut stock = self.stock.take().ok_or(OtError::Ended)?;
        let coin = Coin::toss_second(channel, self.domain, &mut self.rng).await?;
        let (mut rounds, mut masks) = (Vec::with_capacity(self.set.rounds(n).count()), Masks::default());
        for (number, trees) in (0..).zip(self.set.rounds(n)) {
            let mut corrections = vec![Block::ZERO; trees * self.set.depth];
            channel.receive_bytes(bytemuck::cast_slice_mut(&mut corrections)).await?;
            let (round, of_round) = round::received(self.set, &coin.keys(number), &corrections, stock);
            stock = round.next_stock();
            if number == 0 {
                masks = of_round;
            }
            rounds.push(round);
        }
        Ok(Batch { coin, rounds, masks, next: stock })
    }
}

impl<B: BaseReceiver> CorrelatedReceiver for SilentCotReceiver<B> {
    fn session_key(&self) -> Block {
        self.domain.session
    }

    /// Makes a batch of `n` OTs, which later calls of `extend_random` draw without traffic; the sender does the same. OTs that are left of an earlier batch are
    /// dropped.
    ///
    /// *Errors*: [`OtError::CoinOpening`]; in the checked form [`OtError::InconsistentLeaves`], which may have told the sender something about this receiver's
    /// choices; [`OtError::Ended`] after a batch that failed; connection errors.
    async fn prepare(&mut self, channel: &mut Channel, n: usize) -> Result<(), OtError> {
        self.supply = Supply::empty();
        if n == 0 {
            return Ok(());
        }
        let batch = self.receive(channel, n).await?;
        if B::CHECKED {
            let query = self.query(&batch);
            Self::ask(channel, &batch, query).await?;
        }
        self.finish(batch, n);
        Ok(())
    }

    /// Draws from the batch, or makes one of `n` OTs if less are left.
    async fn extend_random(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        self.extend_random_in_parts(channel, n, Zeroizing::default(), |_| ()).await
    }

    async fn extend_random_in_parts(
        &mut self,
        channel: &mut Channel,
        n: usize,
        room: Zeroizing<Vec<Block>>,
        mut change: impl FnMut(&mut [Block]) + Send,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        if n > self.supply.left() {
            self.prepare(channel, n).await?;
        }
        let mut blocks = emptied(room, n);
        self.supply.draw_onto(n, &mut blocks);
        let choices = BitVec::of_lowest_bits(&blocks);
        change(&mut blocks);
        Ok((choices, blocks))
    }
}
