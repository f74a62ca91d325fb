//! Steps 2 to 12: makes what an order says, has it checked and joined to buckets.
//!
//! All of it is sent before the evaluator says what it checks, and nothing is kept of it: the wires are made anew from the seeds
//! of the commitments when it has said so. In every loop over parts the evaluator's challenge to a part is answered when some more are
//! on its way, so that neither party waits for the other.

use garblet_circuit::Bits;
use garblet_commit::Committed;
use garblet_primitives::{Block, Prg};
use rand_core::Rng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::Constructor;
use crate::{
    bulk::{receive_bits, receive_blocks, send_blocks},
    checks::{Cheating, Check},
    conduct::Conduct,
    error::ProtocolError,
    lego::{
        Step,
        behind::Behind,
        layout::{Challenge, Soldering, gate_keys, key, solderings},
        leak,
        pieces::{Kind, Wires, Workshop},
        plan::{Order, Part, STATISTICAL, select_bit},
        shuffle::{self, Shuffle},
        too_few_left,
    },
    session::Session,
};

/// The wires of what was not checked, in the order of the permutation.
struct Unchecked {
    gates: Shuffle<Soldering<Committed>>,
    authenticators: Shuffle<[Committed; 1]>,
}

impl<C: Conduct<Step>> Constructor<C> {
    /// Makes gates and authenticators, has them checked, and joins them to buckets; nothing here depends on a function but
    /// the order's size. Gives the pieces that the workshop has left.
    pub(super) async fn make(
        &mut self,
        session: &mut Session,
        order: &Order,
        workshop: &mut impl Workshop,
    ) -> Result<Wires<Committed>, ProtocolError> {
        let (channel, rng) = session.parts();
        let inputs = order.inputs();
        let blocks = self.delta_ot.extend(channel, rng, inputs + STATISTICAL as usize).await?;
        let masks = self.commitments.commit(channel, order.outputs() + STATISTICAL as usize).await?;
        let mut masks = Zeroizing::new(masks);
        let mut committed_blocks = blocks.clone();
        self.conduct.touch(Step::Strings, 0, bytemuck::cast_slice_mut(&mut committed_blocks[..inputs]));
        let strings = Zeroizing::new(self.commitments.commit_to(channel, &committed_blocks).await?);
        // The evaluator has sent its part, and no component has left.
        self.orders.count(order);
        workshop.order(&self.orders)?;
        let (strings, checked) = strings.split_at(inputs);
        let places = self.send_parts(session, order).await?;
        self.leak(session, strings, &masks).await?;
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        self.open_difference(session, &blocks[inputs..], checked).await?;
        let unchecked = self.open_checked(session, order, seed[0], &places, workshop).await?;
        masks.truncate(order.outputs());
        self.solder_buckets(session, order, unchecked, (strings, &masks), workshop).await
    }

    /// Commits to the wires of all components, and sends these; where the commitments of each part begin.
    async fn send_parts(&mut self, session: &mut Session, order: &Order) -> Result<Vec<u64>, ProtocolError> {
        let (mut places, mut behind) = (Vec::new(), Behind::new());
        for (index, part) in order.parts().enumerate() {
            places.push(self.commitments.position());
            let touch = |bytes: &mut [u8]| self.conduct.touch(Step::Corrections, index, bytes);
            let (committed, unanswered) = self.commitments.begin_with(session.channel(), part.wires(), touch).await?;
            self.send_components(session, index, part, &Zeroizing::new(committed)).await?;
            if let Some(before) = behind.push(unanswered) {
                self.commitments.answer(session.channel(), before).await?;
            }
            order.tell(session, index + 1);
        }
        while let Some(last) = behind.pop() {
            self.commitments.answer(session.channel(), last).await?;
        }
        Ok(places)
    }

    /// Sends gates with the shifts to their committed outputs, and authenticators.
    async fn send_components(
        &mut self,
        session: &mut Session,
        index: usize,
        part: Part,
        committed: &[Committed],
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
        let zeros: Zeroizing<Vec<Block>> = Zeroizing::new(authenticated.iter().map(Committed::message).collect());
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

    /// Tells the select bits of the OTs' blocks and of the output masks, and opens blinded combinations of them.
    async fn leak(
        &mut self,
        session: &mut Session,
        strings: &[Committed],
        masks: &[Committed],
    ) -> Result<(), ProtocolError> {
        let told: Bits = strings.iter().chain(masks).map(|committed| select_bit(committed.message())).collect();
        let mut told = told.to_bytes();
        self.conduct.touch(Step::Told, 0, &mut told);
        session.channel().send_bytes(&told).await?;
        let mut seed = [Block::ZERO];
        receive_blocks(session, &mut seed).await?;
        let mut combinations = leak::combinations(seed[0], *self.delta, strings, masks);
        self.conduct.touch(Step::Combined, 0, bytemuck::cast_slice_mut(&mut combinations));
        Ok(self.commitments.open(session.channel(), &combinations).await?)
    }

    /// Opens, of OTs of which the evaluator shows to know its block, this block: so both have the same difference.
    async fn open_difference(
        &mut self,
        session: &mut Session,
        blocks: &[Block],
        strings: &[Committed],
    ) -> Result<(), ProtocolError> {
        let bits = receive_bits(session, strings.len()).await?;
        let mut claimed = vec![Block::ZERO; strings.len()];
        receive_blocks(session, &mut claimed).await?;
        let delta = self.delta_ot.delta().block();
        let right = blocks.iter().zip(bits.iter()).map(|(&block, bit)| block ^ (Block::mask(bit) & delta));
        if let Some(index) = right.zip(claimed).position(|(right, claimed)| !bool::from(right.ct_eq(&claimed))) {
            return Err(Cheating::new(Check::DeltaClaim, format!("OT {index}")).into());
        }
        let opened = strings.iter().zip(bits.iter()).map(|(&string, bit)| key(*self.delta, string, bit));
        Ok(self.commitments.open_batch(session.channel(), &opened.collect::<Vec<_>>()).await?)
    }

    /// Opens the keys of the gates and authenticators that the evaluator checks; the others are to be joined.
    async fn open_checked(
        &mut self,
        session: &mut Session,
        order: &Order,
        seed: Block,
        places: &[u64],
        workshop: &mut impl Workshop,
    ) -> Result<Unchecked, ProtocolError> {
        let mut challenge = Challenge::of(seed, &order.parameters());
        let mut unchecked = self.room(order, challenge.permutations, workshop)?;
        let mut behind: Behind<Vec<Committed>> = Behind::new();
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
                    None => unchecked.authenticators.put(&[authenticator])?,
                }
            }
            self.conduct.touch(Step::Checked, index, bytemuck::cast_slice_mut(&mut opened));
            self.commitments.show(session.channel(), &opened).await?;
            if let Some(before) = behind.push(opened) {
                self.commitments.prove(session.channel(), &before).await?;
            }
            order.tell(session, places.len() + index + 1);
        }
        while let Some(last) = behind.pop() {
            self.commitments.prove(session.channel(), &last).await?;
        }
        Ok(unchecked)
    }

    fn room(
        &self,
        order: &Order,
        permutations: [Block; 2],
        workshop: &mut impl Workshop,
    ) -> Result<Unchecked, ProtocolError> {
        let [gates, authenticators] = [order.gates_made(), order.authenticators_made()].map(shuffle::bins);
        let (code, [of_gates, of_authenticators]) = (self.config.code, permutations);
        Ok(Unchecked {
            gates: Shuffle::new(code, workshop.room(gates)?, gates, of_gates),
            authenticators: Shuffle::new(code, workshop.room(authenticators)?, authenticators, of_authenticators),
        })
    }

    /// Opens what joins the components of every bucket.
    async fn solder_buckets(
        &mut self,
        session: &mut Session,
        order: &Order,
        unchecked: Unchecked,
        (strings, masks): (&[Committed], &[Committed]),
        workshop: &mut impl Workshop,
    ) -> Result<Wires<Committed>, ProtocolError> {
        let Unchecked { gates: mut all_gates, authenticators: mut all_authenticators } = unchecked;
        let needed = order.parameters();
        if all_gates.len() < needed.bucketed_gates() || all_authenticators.len() < needed.bucketed_authenticators() {
            return Err(too_few_left());
        }
        let (mut wires, mut strings) = (Wires::default(), strings.iter());
        let mut behind: Behind<Vec<Committed>> = Behind::new();
        for (index, span) in order.spans().enumerate() {
            let [gate_count, authenticator_count] = span.components();
            let mut gates = Zeroizing::new(Vec::with_capacity(gate_count));
            let mut authenticators = Zeroizing::new(Vec::with_capacity(authenticator_count));
            all_gates.take(gate_count, &mut gates)?;
            all_authenticators.take(authenticator_count, &mut authenticators)?;
            let mut sums = Vec::with_capacity(span.buckets * span.openings());
            for bucket in 0..span.buckets {
                let (gates, authenticators) = span.bucket(bucket, &gates, authenticators.as_flattened());
                solderings(gates.iter().copied(), authenticators.iter().copied(), &mut sums);
                wires.push_head(span.kind, gates, authenticators);
            }
            self.conduct.touch(Step::Solderings, index, bytemuck::cast_slice_mut(&mut sums));
            self.commitments.show(session.channel(), &sums).await?;
            if let Some(before) = behind.push(sums) {
                self.commitments.prove(session.channel(), &before).await?;
            }
            if span.kind == Kind::Input {
                wires.strings.extend(strings.by_ref().take(span.buckets));
            }
            workshop.pass(&mut wires)?;
            order.tell(session, 2 * order.parts().count() + index + 1);
        }
        while let Some(last) = behind.pop() {
            self.commitments.prove(session.channel(), &last).await?;
        }
        wires.masks.extend_from_slice(masks);
        workshop.pass(&mut wires)?;
        Ok(wires)
    }
}

/// The wires of a part's gates and of its authenticators.
fn split(part: Part, committed: &[Committed]) -> (&[Soldering<Committed>], &[Committed]) {
    let (gates, authenticators) = committed.split_at(3 * part.gates);
    (gates.as_chunks().0, authenticators)
}
