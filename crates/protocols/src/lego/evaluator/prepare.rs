//! Steps 2 to 12: takes what the constructor makes, checks some of it, and has the rest joined to buckets.
//!
//! What is checked and how the rest is permuted is decided before anything arrives, so that each component is at once put where it
//! belongs; the constructor is told when everything has arrived. In every loop over parts the answer to this party's challenge comes
//! behind some more parts ([`Behind`]), so that neither party waits for the other.

use garblet_circuit::Bits;
use garblet_commit::{Challenged, Code, Shown, Watched};
use garblet_ot::Choices;
use garblet_primitives::Block;
use garblet_store::Scratch;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    Evaluator,
    received::{Checked, MadeAuthenticator, MadeGate},
};
use crate::{
    bulk::{receive_bits, receive_blocks, send_blocks},
    checks::{Cheating, Check},
    conduct::Conduct,
    error::ProtocolError,
    lego::{
        Checks, Step,
        behind::Behind,
        gates::TABLE_BYTES,
        layout::{Challenge, gate_keys, key, solderings},
        leak,
        pieces::{EvaluatorPieces, Kind, Storable, Transfer, Workshop, bucket_of, put},
        plan::{Order, Part, STATISTICAL, Span, select_bit},
        shuffle::{self, Shuffle},
        too_few_left,
    },
    session::Session,
};

/// All components, where the challenge has put them.
struct Sorted {
    challenge: Challenge,
    gates: Shuffle<MadeGate>,
    authenticators: Shuffle<MadeAuthenticator>,
    /// Those that are checked, part by part: how many, and what they are.
    counts: Vec<[usize; 2]>,
    checked: Scratch,
}

/// Components of a part as they came.
struct Received {
    /// Numbers of the first gate and the first authenticator.
    first: [u64; 2],
    tables: Vec<[Block; 2]>,
    /// What moves each gate's key to the one that is committed to.
    shifts: Vec<Block>,
    authenticators: Vec<[Block; 2]>,
}

/// Checked components of a part, the keys of which are being opened.
type Opening = (Vec<Checked<MadeGate, 2>>, Vec<Checked<MadeAuthenticator, 1>>);

/// Components of buckets, the sums of which are being opened.
type Joining = (Span, Zeroizing<Vec<MadeGate>>, Zeroizing<Vec<MadeAuthenticator>>);

impl<C: Conduct<Step>> Evaluator<C> {
    /// Takes gates and authenticators, checks some, and has the others joined to buckets. Gives the pieces that the workshop has left.
    pub(super) async fn make(
        &mut self,
        session: &mut Session,
        order: &Order,
        workshop: &mut impl Workshop,
    ) -> Result<(EvaluatorPieces, Checks), ProtocolError> {
        let (channel, rng) = session.parts();
        let inputs = order.inputs();
        let wanted = inputs + STATISTICAL as usize;
        let (choices, blocks) = self.delta_ot.extend(channel, rng, wanted, &mut self.conduct).await?;
        let mut masks = self.commitments.commit(channel, rng, order.outputs() + STATISTICAL as usize).await?;
        let mut strings = self.commitments.commit_to(channel, rng, wanted).await?;
        let checked = strings.split_off(inputs);
        let seed = Block::random(rng);
        let mut sorted = self.receive_parts(session, order, seed, workshop).await?;
        // From here on the constructor is told what is checked.
        self.orders.begin(order);
        workshop.order(&self.orders)?;
        let told = self.check_told(session, &strings, &masks).await?;
        send_blocks(session, &[seed]).await?;
        self.check_difference(session, &choices.slice(inputs..wanted), &blocks[inputs..], &checked).await?;
        let checks = self.check_components(session, order, &mut sorted).await?;
        masks.truncate(order.outputs());
        let transfers = choices.iter().zip(blocks.iter()).zip(told.iter()).take(inputs);
        let transfers = transfers.map(|((choice, &block), told)| Transfer { choice, block, told }).zip(strings);
        let mut pieces = self.join_buckets(session, order, sorted, transfers, workshop).await?;
        pieces.told = told.iter().skip(inputs).take(masks.len()).collect();
        pieces.wires.masks = masks;
        workshop.pass(&mut pieces)?;
        self.orders.done();
        Ok((pieces, checks))
    }

    /// Takes all components, and puts each where the challenge of a seed says.
    async fn receive_parts(
        &mut self,
        session: &mut Session,
        order: &Order,
        seed: Block,
        workshop: &mut impl Workshop,
    ) -> Result<Sorted, ProtocolError> {
        let mut sorted = self.room(order, seed, workshop)?;
        let mut behind: Behind<(Received, Challenged)> = Behind::new();
        for (index, part) in order.parts().enumerate() {
            let received = self.commitments.receive(session.channel(), part.wires()).await?;
            let components = self.receive_components(session, part).await?;
            let (channel, rng) = session.parts();
            let challenged = self.commitments.challenge(channel, rng, received).await?;
            if let Some((components, challenged)) = behind.push((components, challenged)) {
                sorted.put(&components, &self.commitments.verify(channel, challenged).await?)?;
            }
            order.tell(session, index + 1);
        }
        while let Some((components, challenged)) = behind.pop() {
            sorted.put(&components, &self.commitments.verify(session.channel(), challenged).await?)?;
        }
        Ok(sorted)
    }

    fn room(&self, order: &Order, seed: Block, workshop: &mut impl Workshop) -> Result<Sorted, ProtocolError> {
        let [gates, authenticators] = [order.gates_made(), order.authenticators_made()].map(shuffle::bins);
        let (code, challenge) = (self.config.code, Challenge::of(seed, &order.parameters()));
        let [of_gates, of_authenticators] = challenge.permutations;
        Ok(Sorted {
            challenge,
            gates: Shuffle::new(code, workshop.room(gates)?, gates, of_gates),
            authenticators: Shuffle::new(code, workshop.room(authenticators)?, authenticators, of_authenticators),
            counts: Vec::new(),
            checked: workshop.room(order.parts().count())?,
        })
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

    /// The told select bits, if random combinations of what is committed to have the same.
    async fn check_told(
        &mut self,
        session: &mut Session,
        strings: &[Watched],
        masks: &[Watched],
    ) -> Result<Bits, ProtocolError> {
        let told = receive_bits(session, strings.len() + masks.len()).await?;
        let seed = Block::random(session.rng());
        send_blocks(session, &[seed]).await?;
        let combinations = leak::combinations(seed, *self.delta, strings, masks);
        let opened = self.commitments.open(session.channel(), &combinations).await?;
        let bits: Vec<bool> = told.iter().collect();
        let (of_strings, of_masks) = bits.split_at(strings.len());
        let expected = leak::combinations(seed, true, of_strings, of_masks);
        match opened.iter().zip(expected).position(|(&opened, expected)| select_bit(opened) != expected) {
            None => Ok(told),
            Some(index) => Err(Cheating::new(Check::ToldBits, format!("combination {index}")).into()),
        }
    }

    /// Checks that the committed difference is that of the OTs: shows to know the blocks of some, and has them opened.
    async fn check_difference(
        &mut self,
        session: &mut Session,
        choices: &Choices,
        blocks: &[Block],
        strings: &[Watched],
    ) -> Result<(), ProtocolError> {
        session.channel().send_bytes(choices.as_bytes()).await?;
        let mut claims = blocks.to_vec();
        self.conduct.touch(Step::Claims, 0, bytemuck::cast_slice_mut(&mut claims));
        send_blocks(session, &claims).await?;
        let watched = strings.iter().zip(choices.iter()).map(|(&string, bit)| key(*self.delta, string, bit));
        let (channel, rng) = session.parts();
        let opened = self.commitments.open_batch(channel, rng, &watched.collect::<Vec<_>>()).await?;
        match opened.iter().zip(blocks).position(|(a, b)| !bool::from(a.ct_eq(b))) {
            None => Ok(()),
            Some(index) => Err(Cheating::new(Check::CommittedDelta, format!("OT {index}")).into()),
        }
    }

    /// Checks gates and authenticators by coins.
    async fn check_components(
        &mut self,
        session: &mut Session,
        order: &Order,
        sorted: &mut Sorted,
    ) -> Result<Checks, ProtocolError> {
        let mut checks = Checks::default();
        let mut behind: Behind<(Opening, Shown)> = Behind::new();
        for part in 0..order.parts().count() {
            let opening = sorted.checked_of(part)?;
            checks.gates += opening.0.len() as u64;
            checks.authenticators += opening.1.len() as u64;
            let of_gates = opening.0.iter().flat_map(|gate| gate_keys(*self.delta, gate.component.wires, gate.bits));
            let of_authenticators = opening.1.iter().map(|c| key(*self.delta, c.component.wire, c.bits[0]));
            let watched: Vec<Watched> = of_gates.chain(of_authenticators).collect();
            let (channel, rng) = session.parts();
            let shown = self.commitments.receive_shown(channel, rng, &watched).await?;
            if let Some((opening, shown)) = behind.push((opening, shown)) {
                let opened = self.commitments.verify_shown(channel, shown).await?;
                self.check_opened(opening, &opened)?;
            }
            order.tell(session, order.parts().count() + part + 1);
        }
        while let Some((opening, shown)) = behind.pop() {
            let opened = self.commitments.verify_shown(session.channel(), shown).await?;
            self.check_opened(opening, &opened)?;
        }
        Ok(checks)
    }

    fn check_opened(&self, (gates, authenticators): Opening, opened: &[Block]) -> Result<(), ProtocolError> {
        let (of_gates, of_authenticators) = opened.split_at(3 * gates.len());
        MadeGate::check(&self.components, &gates, of_gates)?;
        MadeAuthenticator::check(&self.components, &authenticators, of_authenticators)
    }

    /// Takes what joins the components of every bucket.
    async fn join_buckets(
        &mut self,
        session: &mut Session,
        order: &Order,
        mut sorted: Sorted,
        mut transfers: impl Iterator<Item = (Transfer, Watched)>,
        workshop: &mut impl Workshop,
    ) -> Result<EvaluatorPieces, ProtocolError> {
        let needed = order.parameters();
        if sorted.gates.len() < needed.bucketed_gates()
            || sorted.authenticators.len() < needed.bucketed_authenticators()
        {
            return Err(too_few_left());
        }
        let mut pieces = EvaluatorPieces::default();
        let mut behind: Behind<(Joining, Shown)> = Behind::new();
        for (index, span) in order.spans().enumerate() {
            let joining = sorted.components_of(span)?;
            let (channel, rng) = session.parts();
            let shown = self.commitments.receive_shown(channel, rng, &sums(&joining)).await?;
            if let Some((joining, shown)) = behind.push((joining, shown)) {
                join(&mut pieces, joining, &self.commitments.verify_shown(channel, shown).await?, &mut transfers);
                workshop.pass(&mut pieces)?;
            }
            order.tell(session, 2 * order.parts().count() + index + 1);
        }
        while let Some((joining, shown)) = behind.pop() {
            let opened = self.commitments.verify_shown(session.channel(), shown).await?;
            join(&mut pieces, joining, &opened, &mut transfers);
        }
        Ok(pieces)
    }
}

impl Sorted {
    /// Puts a part's components, whose commitments were verified, where they belong.
    fn put(&mut self, received: &Received, watched: &[Watched]) -> Result<(), ProtocolError> {
        let (part, [first_gate, first_authenticator]) = (self.counts.len(), received.first);
        let (of_gates, of_authenticators) = watched.split_at(3 * received.tables.len());
        let (code, mut counts) = (self.gates.code(), [0; 2]);
        let gates = received.tables.iter().zip(&received.shifts).zip(of_gates.as_chunks().0);
        for (number, ((&table, &shift), &wires)) in (first_gate..).zip(gates) {
            let component = MadeGate { number, table, shift, wires };
            match self.challenge.gates.toss() {
                Some(bits) => {
                    self.put_checked(part, &Checked { component, bits }, code)?;
                    counts[0] += 1;
                }
                None => self.gates.put(&component)?,
            }
        }
        let authenticators = received.authenticators.iter().zip(of_authenticators);
        for (number, (&pair, &wire)) in (first_authenticator..).zip(authenticators) {
            let component = MadeAuthenticator { number, pair, wire };
            match self.challenge.authenticators.toss() {
                Some(bits) => {
                    self.put_checked(part, &Checked { component, bits }, code)?;
                    counts[1] += 1;
                }
                None => self.authenticators.put(&component)?,
            }
        }
        self.counts.push(counts);
        Ok(())
    }

    /// Puts a component with those of a part that are checked.
    fn put_checked<T: Storable>(&mut self, part: usize, checked: &T, code: Code) -> Result<(), ProtocolError> {
        Ok(self.checked.append_with(part, T::bytes(code), |into| checked.write(into))?)
    }

    /// The components of a part that are checked.
    fn checked_of(&mut self, part: usize) -> Result<Opening, ProtocolError> {
        let bytes = self.checked.take(part)?;
        let [gates, _] = self.counts[part];
        let [of_gate, of_authenticator] = [Checked::<MadeGate, 2>::bytes, Checked::<MadeAuthenticator, 1>::bytes]
            .map(|bytes| bytes(self.gates.code()));
        let (gates, authenticators) = bytes.split_at(gates * of_gate);
        Ok((
            gates.chunks_exact(of_gate).map(Storable::read).collect(),
            authenticators.chunks_exact(of_authenticator).map(Storable::read).collect(),
        ))
    }

    /// The components of buckets.
    fn components_of(&mut self, span: Span) -> Result<Joining, ProtocolError> {
        let [gate_count, authenticator_count] = span.components();
        let mut gates = Zeroizing::new(Vec::with_capacity(gate_count));
        let mut authenticators = Zeroizing::new(Vec::with_capacity(authenticator_count));
        self.gates.take(gate_count, &mut gates)?;
        self.authenticators.take(authenticator_count, &mut authenticators)?;
        Ok((span, gates, authenticators))
    }
}

/// What is watched of the sums that join the components of buckets.
fn sums((span, gates, authenticators): &Joining) -> Vec<Watched> {
    let mut sums = Vec::with_capacity(span.buckets * span.openings());
    for bucket in 0..span.buckets {
        let (gates, authenticators) = span.bucket(bucket, gates, authenticators);
        let authenticators = authenticators.iter().map(|authenticator| authenticator.wire);
        solderings(gates.iter().map(|gate| gate.wires), authenticators, &mut sums);
    }
    sums
}

/// Joins the components of buckets by the sums that were opened.
fn join(
    pieces: &mut EvaluatorPieces,
    (span, gates, authenticators): Joining,
    opened: &[Block],
    transfers: &mut impl Iterator<Item = (Transfer, Watched)>,
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
