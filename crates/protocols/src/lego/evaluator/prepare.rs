//! Steps 2 to 12: takes what the constructor makes, checks some of it, and has the rest joined to buckets.

use garblet_circuit::Bits;
use garblet_commit::Watched;
use garblet_ot::Choices;
use garblet_primitives::Block;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::Evaluator;
use crate::{
    bulk::{receive_bits, receive_blocks, send_blocks},
    checks::{Cheating, Check},
    conduct::Conduct,
    error::ProtocolError,
    lego::{
        Checks, Step,
        bucket::{BucketAuthenticator, BucketGate},
        gates::{Components, TABLE_BYTES},
        layout::{Challenge, Heads, Layout, Soldering},
        leak,
        pieces::{EvaluatorPieces, Transfer, Wires},
        plan::{Order, STATISTICAL, select_bit},
        too_few_left,
    },
    session::Session,
};

/// Gates and authenticators as they came.
struct Received {
    /// Numbers of the first gate and the first authenticator.
    first: [u64; 2],
    tables: Vec<u8>,
    /// What moves each gate's key to the one that is committed to.
    shifts: Vec<Block>,
    authenticators: Vec<[Block; 2]>,
}

impl<C: Conduct<Step>> Evaluator<C> {
    /// Takes gates and authenticators, checks some, and has the others joined to buckets.
    pub(super) async fn make(
        &mut self,
        session: &mut Session,
        order: &Order,
    ) -> Result<(EvaluatorPieces, Checks), ProtocolError> {
        let (channel, rng) = session.parts();
        let inputs = order.inputs();
        let wanted = inputs + STATISTICAL as usize;
        let (choices, blocks) = self.delta_ot.extend(channel, rng, wanted, &mut self.conduct).await?;
        let (gates, authenticators) = (order.gates_made(), order.authenticators_made());
        let random = 3 * gates + authenticators + order.outputs() + STATISTICAL as usize;
        let mut watched = self.commitments.commit(channel, rng, random).await?;
        let mut strings = self.commitments.commit_to(channel, rng, wanted).await?;
        let mut masks = watched.split_off(3 * gates + authenticators);
        let authenticated = watched.split_off(3 * gates);
        let gates: Vec<Soldering<Watched>> = watched.as_chunks::<3>().0.to_vec();
        let received = self.receive_components(session, gates.len(), authenticated.len()).await?;
        let checked = strings.split_off(inputs);
        let told = self.check_told(session, &strings, &masks).await?;
        let tail = (&choices.slice(inputs..wanted), &blocks[inputs..], &checked[..]);
        let challenge = self.check_components(session, order, &received, &gates, &authenticated, tail).await?;
        let checks =
            Checks { gates: challenge.gates.len() as u64, authenticators: challenge.authenticators.len() as u64 };
        let unchecked = challenge.unchecked(gates.len(), authenticated.len());
        let mut pieces = self.join_buckets(session, order, received, unchecked, &gates, &authenticated).await?;
        masks.truncate(order.outputs());
        pieces.told = told.iter().skip(inputs).take(masks.len()).collect();
        let transfers = choices.iter().zip(blocks.iter()).zip(told.iter()).take(inputs);
        let transfers = transfers.map(|((choice, &block), told)| Transfer { choice, block, told });
        pieces.transfers = Zeroizing::new(transfers.collect());
        [pieces.wires.strings, pieces.wires.masks] = [strings, masks];
        Ok((pieces, checks))
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
        let combinations = leak::combinations(seed, self.delta, strings, masks);
        let opened = self.commitments.open(session.channel(), &combinations).await?;
        let bits: Vec<bool> = told.iter().collect();
        let (of_strings, of_masks) = bits.split_at(strings.len());
        let expected = leak::combinations(seed, true, of_strings, of_masks);
        match opened.iter().zip(expected).position(|(&opened, expected)| select_bit(opened) != expected) {
            None => Ok(told),
            Some(index) => Err(Cheating::new(Check::ToldBits, format!("combination {index}")).into()),
        }
    }

    /// Checks gates and authenticators by coins, and that the committed difference is that of the OTs.
    async fn check_components(
        &mut self,
        session: &mut Session,
        order: &Order,
        received: &Received,
        gates: &[Soldering<Watched>],
        authenticated: &[Watched],
        (choices, blocks, strings): (&Choices, &[Block], &[Watched]),
    ) -> Result<Challenge, ProtocolError> {
        let seed = Block::random(session.rng());
        let challenge = Challenge::of(seed, &order.parameters(), gates.len(), authenticated.len());
        send_blocks(session, &[seed]).await?;
        session.channel().send_bytes(choices.as_bytes()).await?;
        let mut claims = blocks.to_vec();
        self.conduct.touch(Step::Claims, 0, bytemuck::cast_slice_mut(&mut claims));
        send_blocks(session, &claims).await?;
        let mut watched = challenge.keys(self.delta, gates, authenticated);
        let strings = strings.iter().zip(choices.iter());
        watched.extend(strings.map(|(&string, bit)| string ^ if bit { self.delta } else { Watched::default() }));
        let (channel, rng) = session.parts();
        let mut opened = self.commitments.open_batch(channel, rng, &watched).await?;
        let of_ots = opened.split_off(opened.len() - blocks.len());
        if let Some(index) = of_ots.iter().zip(blocks).position(|(a, b)| !bool::from(a.ct_eq(b))) {
            return Err(Cheating::new(Check::CommittedDelta, format!("OT {index}")).into());
        }
        received.check(&self.components, &challenge, &opened)?;
        Ok(challenge)
    }

    /// Sends the permutation, and takes what joins the components of every bucket.
    async fn join_buckets(
        &mut self,
        session: &mut Session,
        order: &Order,
        received: Received,
        unchecked: [Vec<u64>; 2],
        gates: &[Soldering<Watched>],
        authenticated: &[Watched],
    ) -> Result<EvaluatorPieces, ProtocolError> {
        let seed = Block::random(session.rng());
        send_blocks(session, &[seed]).await?;
        let layout = Layout::new(order.parameters(), unchecked, seed).ok_or_else(too_few_left)?;
        let (channel, rng) = session.parts();
        let opened = self.commitments.open_batch(channel, rng, &layout.solderings(gates, authenticated)).await?;
        let Heads { gates, input_gates, inputs } = layout.heads(gates, authenticated);
        let buckets = layout.fill(|index| received.gate(index), |index| received.authenticator(index), opened);
        let (strings, masks) = (Vec::new(), Vec::new());
        let wires = Wires { gates, inputs, strings, input_gates, masks };
        Ok(EvaluatorPieces { wires, buckets, ..EvaluatorPieces::default() })
    }

    async fn receive_components(
        &mut self,
        session: &mut Session,
        gates: usize,
        authenticators: usize,
    ) -> Result<Received, ProtocolError> {
        let mut tables = vec![0; TABLE_BYTES * gates];
        session.channel().receive_bytes(&mut tables).await?;
        let mut shifts = vec![Block::ZERO; gates];
        receive_blocks(session, &mut shifts).await?;
        let mut pairs = vec![[Block::ZERO; 2]; authenticators];
        receive_blocks(session, pairs.as_flattened_mut()).await?;
        let first = self.next_numbers;
        self.next_numbers = [first[0] + gates as u64, first[1] + authenticators as u64];
        Ok(Received { first, tables, shifts, authenticators: pairs })
    }
}

impl Received {
    /// A gate that is not joined to others yet.
    fn gate(&self, index: u64) -> BucketGate {
        let table = bytemuck::pod_read_unaligned(self.table(index));
        BucketGate {
            number: self.first[0] + index,
            table,
            output: self.shifts[index as usize],
            ..BucketGate::default()
        }
    }

    fn table(&self, index: u64) -> &[u8] {
        &self.tables[TABLE_BYTES * index as usize..][..TABLE_BYTES]
    }

    /// An authenticator that is not joined to others yet.
    fn authenticator(&self, index: u64) -> BucketAuthenticator {
        let pair = self.authenticators[index as usize];
        BucketAuthenticator { number: self.first[1] + index, pair, ..BucketAuthenticator::default() }
    }

    /// Whether the checked gates and authenticators do what they should with the opened keys.
    fn check(&self, components: &Components, challenge: &Challenge, opened: &[Block]) -> Result<(), ProtocolError> {
        let numbers: Vec<u64> = challenge.gates.iter().map(|checked| self.first[0] + checked.number).collect();
        let tables: Vec<&[u8]> = challenge.gates.iter().map(|checked| self.table(checked.number)).collect();
        let (of_gates, of_authenticators) = opened.split_at(3 * numbers.len());
        let triples = of_gates.as_chunks::<3>().0;
        let inputs: Vec<Block> = triples.iter().flat_map(|[left, right, _]| [*left, *right]).collect();
        let mut given = vec![Block::ZERO; numbers.len()];
        components.evaluate(&numbers, &inputs, &tables, &mut given);
        for ((checked, given), [_, _, output]) in challenge.gates.iter().zip(given).zip(triples) {
            if !bool::from((given ^ self.shifts[checked.number as usize]).ct_eq(output)) {
                return Err(Cheating::new(Check::LegoGate, format!("gate {}", checked.number)).into());
            }
        }
        for (checked, &key) in challenge.authenticators.iter().zip(of_authenticators) {
            let pair = &self.authenticators[checked.number as usize];
            if !components.accepts(self.first[1] + checked.number, pair, key) {
                return Err(Cheating::new(Check::Authenticator, format!("authenticator {}", checked.number)).into());
            }
        }
        Ok(())
    }
}
