//! Steps 2 to 12: receives the constructor's components, checks some of them, and has the rest joined to buckets.
//!
//! The evaluator decides which components to check and how to permute the rest before anything arrives, so each component goes directly to its
//! place. The constructor learns the decision when everything has arrived. In every loop over parts, further parts arrive before the answer to this
//! party's challenge ([`Pipeline`]), so neither party waits for the other.

use garblet_homcommit::{Challenged, ClaimedOpenings, ReceiverShare};
use garblet_ot::BitVec;
use garblet_primitives::Block;

use super::{
    cut_and_choose::{CutAndChoosePassed, Received, Sorted},
    delta::DeltaConsistent,
    gates::TABLE_BYTES,
    layout::{key, solderings},
    leak::{self, LsbLeakVerified},
    made::{MadeAuthenticator, MadeGate},
    unchecked::Components,
};
use crate::{
    Checks, Step,
    amounts::Kind,
    evaluator::EvaluatorSide,
    order::{CHECK_BITS, Order, Part, Span},
    pipeline::Pipeline,
    stock::{
        orders::Orders,
        pieces::{EvaluatorPieces, Transfer, Workshop, bucket_of, put},
    },
};
use garblet_protocol::{
    bulk::{receive_bits, receive_blocks, send_blocks},
    conduct::Conduct,
    error::ProtocolError,
    session::Session,
};

/// Components of buckets whose sums are being opened.
type Joining = (Span, Components<MadeGate, MadeAuthenticator>);

impl<C: Conduct<Step>> EvaluatorSide<C> {
    /// Receives gates and authenticators, checks some, and has the others joined to buckets. Returns the pieces that the workshop has not taken.
    pub(crate) async fn generate(
        &mut self,
        session: &mut Session,
        order: &Order,
        orders: &mut Orders,
        workshop: &mut impl Workshop,
    ) -> Result<(EvaluatorPieces, Checks), ProtocolError> {
        let (channel, rng) = session.parts();
        let inputs = order.inputs();
        let wanted = inputs + CHECK_BITS as usize;
        let (choices, blocks) = self.delta_ot.extend(channel, rng, wanted, &mut self.conduct).await?;
        let mut masks = self.commitments.commit(channel, rng, order.outputs() + CHECK_BITS as usize).await?;
        let mut strings = self.commitments.commit_to(channel, rng, wanted).await?;
        let checked = strings.split_off(inputs);
        let seed = Block::random(rng);
        let sorted = self.receive_parts(session, order, seed, workshop).await?;
        // From here on the constructor learns what is checked.
        orders.begin(order);
        workshop.order(orders)?;
        let leak = self.verify_leak(session, &strings, &masks).await?;
        send_blocks(session, &[seed]).await?;
        let delta = self.verify_delta(session, &choices.slice(inputs..wanted), &blocks[inputs..], &checked).await?;
        let passed = sorted.check(session, order, &mut self.commitments, *self.delta, &self.components).await?;
        let checks = passed.checks;
        let transfers = transfers((&choices, &blocks), &leak, delta).zip(strings);
        let mut pieces = self.solder_buckets(session, order, passed, transfers, workshop).await?;
        masks.truncate(order.outputs());
        pieces.claimed = leak.masks;
        pieces.wires.masks = masks;
        workshop.pass(&mut pieces)?;
        orders.done();
        Ok((pieces, checks))
    }

    /// Receives all components, and puts each where the challenge of a seed says.
    async fn receive_parts(
        &mut self,
        session: &mut Session,
        order: &Order,
        seed: Block,
        workshop: &mut impl Workshop,
    ) -> Result<Sorted, ProtocolError> {
        let mut sorted = Sorted::new(self.code, order, seed, workshop)?;
        let mut pipeline: Pipeline<(Received, Challenged)> = Pipeline::new();
        for (index, part) in order.parts().enumerate() {
            let received = self.commitments.receive(session.channel(), part.wires()).await?;
            let components = self.receive_components(session, part).await?;
            let (channel, rng) = session.parts();
            let challenged = self.commitments.challenge(channel, rng, received).await?;
            if let Some((components, challenged)) = pipeline.push((components, challenged)) {
                sorted.put(&components, &self.commitments.verify(channel, challenged).await?)?;
            }
            order.tell(session, index + 1);
        }
        while let Some((components, challenged)) = pipeline.pop() {
            sorted.put(&components, &self.commitments.verify(session.channel(), challenged).await?)?;
        }
        Ok(sorted)
    }

    async fn receive_components(&mut self, session: &mut Session, part: Part) -> Result<Received, ProtocolError> {
        let mut tables = vec![[Block::ZERO; TABLE_BYTES / 16]; part.gates];
        receive_blocks(session, tables.as_flattened_mut()).await?;
        let mut shifts = vec![Block::ZERO; part.gates];
        receive_blocks(session, &mut shifts).await?;
        let mut authenticators = vec![[Block::ZERO; 2]; part.authenticators];
        receive_blocks(session, authenticators.as_flattened_mut()).await?;
        let first = self.next_numbers;
        self.next_numbers = [first[0] + part.gates as u64, first[1] + part.authenticators as u64];
        Ok(Received { first, tables, shifts, authenticators })
    }

    /// Steps 5 to 7: receives the claimed select bits, and checks them by random combinations.
    async fn verify_leak(
        &mut self,
        session: &mut Session,
        strings: &[ReceiverShare],
        masks: &[ReceiverShare],
    ) -> Result<LsbLeakVerified, ProtocolError> {
        let claimed = receive_bits(session, strings.len() + masks.len()).await?;
        let seed = Block::random(session.rng());
        send_blocks(session, &[seed]).await?;
        let combinations = leak::combinations(seed, *self.delta, strings, masks);
        let opened = self.commitments.open(session.channel(), &combinations).await?;
        LsbLeakVerified::verify(seed, &claimed, strings.len(), &opened)
    }

    /// Step 10: proves that it knows the blocks of some OTs, and has them opened.
    async fn verify_delta(
        &mut self,
        session: &mut Session,
        choices: &BitVec,
        blocks: &[Block],
        strings: &[ReceiverShare],
    ) -> Result<DeltaConsistent, ProtocolError> {
        session.channel().send_bytes(choices.as_bytes()).await?;
        let mut claims = blocks.to_vec();
        self.conduct.touch(Step::Claims, 0, bytemuck::cast_slice_mut(&mut claims));
        send_blocks(session, &claims).await?;
        let told = choices.public("lego: choices of OTs that serve no input, which are sent");
        let watched = strings.iter().zip(told).map(|(&string, bit)| key(*self.delta, string, bit));
        let (channel, rng) = session.parts();
        let opened = self.commitments.open_batch(channel, rng, &watched.collect::<Vec<_>>()).await?;
        DeltaConsistent::verify(&opened, blocks)
    }

    /// Step 12: checks the solderings within every bucket, and applies them.
    async fn solder_buckets(
        &mut self,
        session: &mut Session,
        order: &Order,
        CutAndChoosePassed { mut unchecked, .. }: CutAndChoosePassed,
        mut transfers: impl Iterator<Item = (Transfer, ReceiverShare)>,
        workshop: &mut impl Workshop,
    ) -> Result<EvaluatorPieces, ProtocolError> {
        unchecked.suffice_for(order)?;
        let mut pieces = EvaluatorPieces::default();
        let mut pipeline: Pipeline<(Joining, ClaimedOpenings)> = Pipeline::new();
        for (index, span) in order.spans().enumerate() {
            let joining = (span, unchecked.take(span)?);
            let (channel, rng) = session.parts();
            let shown = self.commitments.receive_openings(channel, rng, &sums(&joining)).await?;
            if let Some((joining, shown)) = pipeline.push((joining, shown)) {
                join(&mut pieces, joining, &self.commitments.verify_openings(channel, shown).await?, &mut transfers);
                workshop.pass(&mut pieces)?;
            }
            order.tell(session, 2 * order.parts().count() + index + 1);
        }
        while let Some((joining, shown)) = pipeline.pop() {
            let opened = self.commitments.verify_openings(session.channel(), shown).await?;
            join(&mut pieces, joining, &opened, &mut transfers);
        }
        Ok(pieces)
    }
}

/// The OTs of input bits, once their choices, blocks and claimed bits are bound to one delta.
fn transfers<'a>(
    (choices, blocks): (&'a BitVec, &'a [Block]),
    leak: &'a LsbLeakVerified,
    _: DeltaConsistent,
) -> impl Iterator<Item = Transfer> + use<'a> {
    let ots = choices.iter().zip(blocks).zip(&leak.strings);
    ots.map(|((choice, &block), &claimed)| Transfer { choice, block, claimed })
}

/// The solderings within buckets, as the evaluator watches them.
fn sums((span, (gates, authenticators)): &Joining) -> Vec<ReceiverShare> {
    let mut sums = Vec::with_capacity(span.buckets * span.openings());
    for bucket in 0..span.buckets {
        let (gates, authenticators) = span.bucket(bucket, gates, authenticators);
        let authenticators = authenticators.iter().map(|authenticator| authenticator.wire);
        solderings(gates.iter().map(|gate| gate.wires), authenticators, &mut sums);
    }
    sums
}

/// Joins the components of buckets by the opened sums.
fn join(
    pieces: &mut EvaluatorPieces,
    (span, (gates, authenticators)): Joining,
    opened: &[Block],
    transfers: &mut impl Iterator<Item = (Transfer, ReceiverShare)>,
) {
    let Some(buckets) = bucket_of(span.kind).map(|bucket| &mut pieces.buckets[bucket]) else { return };
    buckets.reserve(span.buckets, span.components());
    for bucket in 0..span.buckets {
        let (gates, authenticators) = span.bucket(bucket, &gates, &authenticators);
        let opened = &opened[bucket * span.openings()..][..span.openings()];
        let (of_gates, of_authenticators) = opened.split_at(3 * gates.len().saturating_sub(1));
        buckets.push(MadeGate::joined(gates, of_gates), MadeAuthenticator::joined(authenticators, of_authenticators));
        let wires = gates.first().map(|gate| gate.wires);
        pieces.wires.push_head(span.kind, wires.as_slice(), authenticators.first().map(|a| a.wire).as_slice());
        if span.kind == Kind::Input
            && let Some((transfer, string)) = transfers.next()
        {
            put(&mut pieces.transfers, transfer);
            put(&mut pieces.wires.strings, string);
        }
    }
}
