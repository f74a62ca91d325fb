//! Steps 2 to 12: makes the components of an order, has them checked and joined to buckets.
//!
//! All components are sent before the evaluator says which it checks, and nothing of them is kept: the wires are made again from the seeds
//! of the commitments afterwards. In every loop over parts, the evaluator's challenge to a part is answered after further parts are
//! sent, so neither party waits for the other.

use garblet_circuit::Bits;
use garblet_homcommit::SenderShare;
use garblet_primitives::{Block, Prg};
use rand_core::Rng;
use zeroize::Zeroizing;

use super::{
    challenge::Challenge,
    delta::DeltaClaimed,
    layout::{GateWires, gate_keys, key, solderings},
    leak::{self, select_bit},
    unchecked::Unchecked,
};
use crate::{
    Step,
    amounts::Kind,
    constructor::ConstructorSide,
    order::{CHECK_BITS, Order, Part},
    pipeline::Pipeline,
    stock::{
        orders::Orders,
        pieces::{Wires, Workshop},
    },
};
use garblet_protocol::{
    bulk::{receive_bits, receive_blocks, send_blocks},
    conduct::Conduct,
    error::ProtocolError,
    session::Session,
};

/// The wires of components that are not checked.
type UncheckedWires = Unchecked<GateWires<SenderShare>, SenderShare>;

impl<C: Conduct<Step>> ConstructorSide<C> {
    /// Makes gates and authenticators, has them checked, and joins them to buckets. Nothing here depends on a function except
    /// the order's size. Returns the pieces that the workshop has not taken.
    pub(crate) async fn generate(
        &mut self,
        session: &mut Session,
        order: &Order,
        orders: &mut Orders,
        workshop: &mut impl Workshop,
    ) -> Result<Wires<SenderShare>, ProtocolError> {
        let (channel, rng) = session.parts();
        let inputs = order.inputs();
        let blocks = self.delta_ot.extend(channel, rng, inputs + CHECK_BITS as usize).await?;
        let masks = self.commitments.commit(channel, order.outputs() + CHECK_BITS as usize).await?;
        let mut masks = Zeroizing::new(masks);
        let mut committed_blocks = blocks.clone();
        self.conduct.touch(Step::Strings, 0, bytemuck::cast_slice_mut(&mut committed_blocks[..inputs]));
        let strings = Zeroizing::new(self.commitments.commit_to(channel, &committed_blocks).await?);
        // The evaluator has sent its part, and no component has left.
        orders.count(order);
        workshop.order(orders)?;
        let (strings, checked) = strings.split_at(inputs);
        let places = self.send_parts(session, order).await?;
        self.leak(session, strings, &masks).await?;
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        self.open_delta(session, &blocks[inputs..], checked).await?;
        let unchecked = self.open_checked(session, order, seed[0], &places, workshop).await?;
        masks.truncate(order.outputs());
        self.solder_buckets(session, order, unchecked, (strings, &masks), workshop).await
    }

    /// Commits to the wires of all components, and sends these. Returns the beginning of each part's commitments.
    async fn send_parts(&mut self, session: &mut Session, order: &Order) -> Result<Vec<u64>, ProtocolError> {
        let (mut places, mut pipeline) = (Vec::new(), Pipeline::new());
        for (index, part) in order.parts().enumerate() {
            places.push(self.commitments.position());
            let touch = |bytes: &mut [u8]| self.conduct.touch(Step::Corrections, index, bytes);
            let (committed, pending) = self.commitments.begin_with(session.channel(), part.wires(), touch).await?;
            self.send_components(session, index, part, &Zeroizing::new(committed)).await?;
            if let Some(before) = pipeline.push(pending) {
                self.commitments.prove(session.channel(), before).await?;
            }
            order.tell(session, index + 1);
        }
        while let Some(last) = pipeline.pop() {
            self.commitments.prove(session.channel(), last).await?;
        }
        Ok(places)
    }

    /// Sends gates with the shifts to their committed outputs, and authenticators.
    async fn send_components(
        &mut self,
        session: &mut Session,
        index: usize,
        part: Part,
        committed: &[SenderShare],
    ) -> Result<(), ProtocolError> {
        let rng = session.rng();
        let secret = Zeroizing::new(Block::random(rng));
        let mut order = Prg::random(rng);
        let [first_gate, first_authenticator] = self.next_numbers;
        self.next_numbers = [first_gate + part.gates as u64, first_authenticator + part.authenticators as u64];
        let (gates, authenticated) = split(part, committed);
        let inputs: Zeroizing<Vec<Block>> =
            Zeroizing::new(gates.iter().flat_map(|[left, right, _]| [left.message(), right.message()]).collect());
        let delta = self.delta_ot.delta();
        let (mut tables, outputs) = self.components.garble(delta, *secret, first_gate, &inputs);
        let mut shifts: Vec<Block> =
            outputs.iter().zip(gates).map(|(&given, gate)| given ^ gate[2].message()).collect();
        let zeros: Zeroizing<Vec<Block>> = Zeroizing::new(authenticated.iter().map(SenderShare::message).collect());
        let swaps = std::iter::repeat_with(|| order.next_u32() & 1 == 1);
        let mut pairs = self.components.authenticate(delta, first_authenticator, &zeros, swaps);
        self.conduct.touch(Step::Tables, index, &mut tables);
        self.conduct.touch(Step::Shifts, index, bytemuck::cast_slice_mut(&mut shifts));
        self.conduct.touch(Step::Authenticators, index, bytemuck::cast_slice_mut(&mut pairs));
        session.channel().send_bytes(&tables).await?;
        send_blocks(session, &shifts).await?;
        send_blocks(session, pairs.as_flattened()).await?;
        Ok(session.channel().flush().await?)
    }

    /// Sends the select bits of the OTs' blocks and of the output masks, and opens blinded combinations of them.
    async fn leak(
        &mut self,
        session: &mut Session,
        strings: &[SenderShare],
        masks: &[SenderShare],
    ) -> Result<(), ProtocolError> {
        let claimed: Bits = strings.iter().chain(masks).map(|committed| select_bit(committed.message())).collect();
        let mut claimed = claimed.to_bytes();
        self.conduct.touch(Step::ClaimedBits, 0, &mut claimed);
        session.channel().send_bytes(&claimed).await?;
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        let mut combinations = leak::combinations(seed[0], *self.delta, strings, masks);
        self.conduct.touch(Step::LeakCombinations, 0, bytemuck::cast_slice_mut(&mut combinations));
        Ok(self.commitments.open(session.channel(), &combinations).await?)
    }

    /// Opens blocks of OTs, after the evaluator has proved that it knows them. So both have the same difference.
    async fn open_delta(
        &mut self,
        session: &mut Session,
        blocks: &[Block],
        strings: &[SenderShare],
    ) -> Result<(), ProtocolError> {
        let bits = receive_bits(session, strings.len()).await?;
        let mut claimed = vec![Block::ZERO; strings.len()];
        receive_blocks(session, &mut claimed).await?;
        let proven = DeltaClaimed::verify(self.delta_ot.delta().block(), blocks, bits, &claimed)?;
        let opened = strings.iter().zip(proven.choices().iter()).map(|(&string, bit)| key(*self.delta, string, bit));
        Ok(self.commitments.open_batch(session.channel(), &opened.collect::<Vec<_>>()).await?)
    }

    /// Opens the keys of the gates and authenticators that the evaluator checks. Returns the others.
    async fn open_checked(
        &mut self,
        session: &mut Session,
        order: &Order,
        seed: Block,
        places: &[u64],
        workshop: &mut impl Workshop,
    ) -> Result<UncheckedWires, ProtocolError> {
        let mut challenge = Challenge::of(seed, &order.parameters());
        let mut unchecked = Unchecked::new(self.code, order, challenge.permutations, workshop)?;
        let mut pipeline: Pipeline<Vec<SenderShare>> = Pipeline::new();
        for (index, (part, &place)) in order.parts().zip(places).enumerate() {
            let committed = Zeroizing::new(self.commitments.recall(place, part.wires()));
            let (gates, authenticators) = split(part, &committed);
            let mut opened = Vec::new();
            for &gate in gates {
                match challenge.gates.toss() {
                    Some(bits) => opened.extend(gate_keys(*self.delta, gate, bits)),
                    None => unchecked.gates.put(&gate)?,
                }
            }
            for &authenticator in authenticators {
                match challenge.authenticators.toss() {
                    Some([bit]) => opened.push(key(*self.delta, authenticator, bit)),
                    None => unchecked.authenticators.put(&authenticator)?,
                }
            }
            self.conduct.touch(Step::Checked, index, bytemuck::cast_slice_mut(&mut opened));
            self.commitments.claim_openings(session.channel(), &opened).await?;
            if let Some(before) = pipeline.push(opened) {
                self.commitments.prove_openings(session.channel(), &before).await?;
            }
            order.tell(session, places.len() + index + 1);
        }
        while let Some(last) = pipeline.pop() {
            self.commitments.prove_openings(session.channel(), &last).await?;
        }
        Ok(unchecked)
    }

    /// Opens the solderings within every bucket.
    async fn solder_buckets(
        &mut self,
        session: &mut Session,
        order: &Order,
        mut unchecked: UncheckedWires,
        (strings, masks): (&[SenderShare], &[SenderShare]),
        workshop: &mut impl Workshop,
    ) -> Result<Wires<SenderShare>, ProtocolError> {
        unchecked.suffice_for(order)?;
        let (mut wires, mut strings) = (Wires::default(), strings.iter());
        let mut pipeline: Pipeline<Vec<SenderShare>> = Pipeline::new();
        for (index, span) in order.spans().enumerate() {
            let (gates, authenticators) = unchecked.take(span)?;
            let mut sums = Vec::with_capacity(span.buckets * span.openings());
            for bucket in 0..span.buckets {
                let (gates, authenticators) = span.bucket(bucket, &gates, &authenticators);
                solderings(gates.iter().copied(), authenticators.iter().copied(), &mut sums);
                wires.push_head(span.kind, gates, authenticators);
            }
            self.conduct.touch(Step::Solderings, index, bytemuck::cast_slice_mut(&mut sums));
            self.commitments.claim_openings(session.channel(), &sums).await?;
            if let Some(before) = pipeline.push(sums) {
                self.commitments.prove_openings(session.channel(), &before).await?;
            }
            if span.kind == Kind::Input {
                wires.strings.extend(strings.by_ref().take(span.buckets));
            }
            workshop.pass(&mut wires)?;
            order.tell(session, 2 * order.parts().count() + index + 1);
        }
        while let Some(last) = pipeline.pop() {
            self.commitments.prove_openings(session.channel(), &last).await?;
        }
        wires.masks.extend_from_slice(masks);
        workshop.pass(&mut wires)?;
        Ok(wires)
    }
}

/// The wires of a part's gates and of its authenticators.
fn split(part: Part, committed: &[SenderShare]) -> (&[GateWires<SenderShare>], &[SenderShare]) {
    let (gates, authenticators) = committed.split_at(3 * part.gates);
    (gates.as_chunks().0, authenticators)
}
