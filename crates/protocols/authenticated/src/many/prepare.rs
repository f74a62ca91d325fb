//! Steps P1 to P6: triples and masks before the function is known, batch by batch.

use garblet_circuit::Party;
use garblet_net::Line;
use garblet_ot::LpnSet;
use garblet_primitives::Prg;
use garblet_protocol::{MeshSession, Phase, conduct::Conduct, error::ProtocolError};

use super::{
    Step,
    bits::{AllBitsChecked, CotChecked, check_bits},
    checks::{BUCKET_BITS, FailedCheck},
    ground::{Ground, Pair},
    leaky::Leaky,
    open::point,
    place::Place,
    plan::Setting,
    shares::Shares,
    supply::Supply,
    zero,
};
use crate::{
    config::LPN,
    opening::Sums,
    parameters::Batch,
    prepare::rotate::{Products, Rows, join},
    shares::of_public,
};

impl<K: Conduct<Step>> Ground<K> {
    /// Makes the first silent OTs with all others, if so many OTs in each direction are to be silent and there are none yet (phase `setup`). They come from
    /// the extension of the session: from the leaves of the set-up and fresh nonces of all, under the difference that was proved.
    ///
    /// *Errors*: as [`Ground::make`].
    pub(super) async fn begin_ots(
        &mut self,
        session: &mut MeshSession,
        setting: Setting,
        ots: u64,
    ) -> Result<(), ProtocolError> {
        let are_silent = self.pairs.iter().any(|(_, pair)| pair.ots.are_silent());
        if are_silent || !setting.config.is_silent(ots) {
            return Ok(());
        }
        self.begin_silent(session, setting, LPN).await
    }

    /// The same with these parameters, whatever the setting says.
    ///
    /// *Errors*: as [`Ground::make`].
    pub(super) async fn begin_silent(
        &mut self,
        session: &mut MeshSession,
        setting: Setting,
        set: LpnSet,
    ) -> Result<(), ProtocolError> {
        self.check_sound()?;
        session.enter(Phase::Setup);
        self.over = true;
        let rngs = session.rng_per_peer();
        let is_even = |peer: u16| Party(peer) == setting.evaluator() && setting.parties.is_multiple_of(2);
        let failed = FailedCheck::default();
        let step = async |peer: u16, mut line: Line, (pair, mut rng): (&mut Pair, Prg)| {
            failed.kept(peer, pair.ots.begin_silent(&mut line, &mut rng, is_even(peer), set).await)
        };
        let begun = session.mesh().each(self.pairs.as_mut().zip(rngs), step).await;
        failed.judged(begun)?;
        self.over = false;
        Ok(())
    }

    /// Makes a batch of triples, if there is one, and `masks` masks, and adds the first `triples` of them to a supply.
    ///
    /// A batch that fails, or whose future is dropped, is the last.
    ///
    /// *Errors*: somebody who cheats; the connections' and the disk's; an earlier batch that failed.
    pub(super) async fn make(
        &mut self,
        session: &mut MeshSession,
        (batch, triples, masks): (Option<Batch>, usize, usize),
        supply: &mut Supply,
    ) -> Result<(), ProtocolError> {
        self.check_sound()?;
        self.over = true;
        let number = self.batches;
        self.batches += 1;
        if let (Some(stock), Some(batch)) = (&mut self.stock, batch) {
            stock.count(batch.insecure())?;
        }
        let Some(batch) = batch else {
            if masks > 0 {
                let shares = self.masks(session, masks, number).await?;
                supply.add(&shares, 0, 0, masks)?;
            }
            self.over = false;
            return Ok(());
        };
        let leaky = batch.leaky() as usize;
        let checked = self.correlate(session, bits(leaky, masks), number).await?;
        let made = self.leaky_triples(session, checked, (leaky, masks), number).await?;
        let shares = self.join_buckets(session, made, batch, number).await?;
        supply.add(&shares, leaky, triples, masks)?;
        self.rooms.extend(shares.into_rooms());
        self.over = false;
        Ok(())
    }

    /// Masks alone: authenticated bits.
    async fn masks(&mut self, session: &mut MeshSession, count: usize, number: u64) -> Result<Shares, ProtocolError> {
        let checked = self.correlate(session, count, number).await?;
        let echo = checked.echo;
        let theirs = self.broadcast(session, Step::BitsEcho, &echo).await?;
        let all = check_bits(&checked, theirs.iter().map(|(_, echo)| &echo[..]))?;
        Ok(self.release(checked, all, count))
    }

    /// The shares of the first `count` bits, once all parties' bits are the same towards all.
    pub(super) fn release(&mut self, checked: CotChecked, all: AllBitsChecked, count: usize) -> Shares {
        let own = (self.party, self.in_ots.block());
        let (shares, free) = checked.into_shares(all, own, count, self.rooms.pop().unwrap_or_default());
        self.rooms.extend(free);
        shares
    }

    /// Step P6: tosses the shifts and joins each row to the first. A triple is as secure as the best leaky one of its bucket.
    ///
    /// *Errors*: [`COIN_TOSS_OPENING`](super::checks::COIN_TOSS_OPENING), of a party; [`BUCKET_BITS`]; the connections'.
    async fn join_buckets(
        &mut self,
        session: &mut MeshSession,
        leaky: Leaky,
        batch: Batch,
        number: u64,
    ) -> Result<Shares, ProtocolError> {
        let Leaky { mut shares, product_bits, shift_coin, shift_commitments } = leaky;
        let coins = self.broadcast(session, Step::Coins, &shift_coin.message()).await?;
        let coin = self.coin((Place::ShiftCoins, number), &shift_coin, &shift_commitments, &coins)?;
        let rows = Rows::of(batch);
        let shifts = rows.shifts(&mut Prg::new(coin));
        let differences = {
            let sums: Vec<Sums<'_>> =
                shares.columns().iter().map(|blocks| rows.sums(&blocks[rows.all..], &shifts)).collect();
            let own = sums[0].bits();
            let nothing = session.mesh().per_peer(|_| Vec::new());
            let opened = (sums[0].len(), nothing, 0);
            let (total, _) = self.open_bits(session, Step::BucketBits, &own, opened).await?;
            let digest = point(self.common(Place::BucketBits, number), &coin.to_bytes(), &total);
            self.prove_bits(session, (Step::BucketProof, BUCKET_BITS), &sums, &total, digest).await?;
            total
        };
        let delta = self.delta.block();
        for (number, blocks) in shares.columns_mut().iter_mut().enumerate() {
            let own = (number == usize::from(self.party.0)).then_some(delta);
            let products = Products { bits: &product_bits, change: of_public(own, self.party.0 == 0) };
            for (row, &shift) in (1..).zip(&shifts) {
                join(blocks, rows, (row, shift), &differences, products);
            }
        }
        Ok(shares)
    }
}

/// The OTs of these batches between two parties in each direction, without those that hide others.
pub(super) fn ots(batches: &[(Option<Batch>, u64)]) -> u64 {
    let of_batch = |(batch, masks): &(Option<Batch>, u64)| {
        bits(batch.map_or(0, |batch| batch.leaky() as usize), *masks as usize) as u64
    };
    batches.iter().map(of_batch).sum()
}

/// The bits that a party draws for leaky triples and masks.
pub(super) fn bits(leaky: usize, masks: usize) -> usize {
    match leaky {
        0 => masks,
        _ => 3 * leaky + masks + zero::BITS,
    }
}
