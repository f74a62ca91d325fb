//! Step B2 of the garbler: gates whose select bits are masked values, and tags.

use std::ops::Range;

use garblet_garble::masked::{GateMasks, MaskedGarbler, TagsMut};
use garblet_primitives::Block;
use garblet_protocol::{conduct::Conduct, domain::Hasher, error::ProtocolError, session::Session};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{GateShares, InputMasks, Wiring};
use crate::{
    GARBLER, Step,
    config::ResultCheck,
    ground::Ground,
    place::Place,
    plan::Plan,
    shares::{Shares, Triples},
    tags::Tag,
    wires::Shared,
};

/// The garbler's secrets for a lot until it receives the masked values, or sends the sum of tags.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct LotSecrets {
    /// With tags: their sum.
    pub(crate) sums: Vec<Block>,
    /// With revealed masked values: the zero labels of results, and the shares of the evaluator's multiples.
    pub(crate) labels: Vec<Block>,
    pub(crate) left: Vec<Block>,
    pub(crate) right: Vec<Block>,
    pub(crate) result: Vec<Block>,
}

/// A circuit being garbled.
pub(crate) struct Garbling<'p> {
    plan: &'p Plan,
    wiring: Wiring<'p>,
    garbler: MaskedGarbler<'p>,
    /// Sampled once everything that it is used on is prepared, and sent with the first gates.
    hash_seed: Option<Block>,
    done: u64,
    /// The hash of everything sent and of its context.
    pub(crate) transcript: Hasher,
}

/// The end of a garbling: labels and shares of all outputs.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Garbled {
    pub(crate) labels: Vec<Box<[Block]>>,
    pub(crate) masks: Shared,
}

impl<'p> Garbling<'p> {
    /// Begins a run with zero labels of all inputs, and the shares of their masks.
    pub(crate) fn new<C: Conduct<Step>>(
        ground: &Ground<C>,
        session: &mut Session,
        (plan, run, marks): (&'p Plan, u64, &[u8]),
        labels: Vec<Box<[Block]>>,
        masks: Shared,
    ) -> Self {
        let hash_seed = Block::random(session.rng());
        let with_tags = plan.config().check == ResultCheck::Tags;
        let (program, schedules) = (plan.program(), plan.schedules());
        let garbler = MaskedGarbler::new(program, schedules, &ground.delta, hash_seed, with_tags, labels);
        let (wiring, transcript) = (Wiring::new(plan, masks), ground.transcript(plan, run, marks));
        let hash_seed = (plan.and_count() > 0).then_some(hash_seed);
        Garbling { plan, wiring, garbler, hash_seed, done: 0, transcript }
    }

    /// Opens the masks at a lot, and garbles and sends its gates. Also returns the masks of this party's inputs, if those of all inputs are given.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub(crate) async fn lot<C: Conduct<Step>>(
        &mut self,
        ground: &mut Ground<C>,
        session: &mut Session,
        material: (Triples, Shares),
        lot: Range<usize>,
        inputs: Option<&InputMasks>,
    ) -> Result<(LotSecrets, Zeroizing<Vec<bool>>), ProtocolError> {
        let Garbling { plan, wiring, garbler, transcript, .. } = self;
        let (mut gates, own_masks) = ground.open_lot(session, wiring, material, inputs, transcript).await?;
        if let Some(mut seed) = self.hash_seed.take().map(Block::to_bytes) {
            ground.send(session, Step::HashSeed, &mut seed).await?;
            transcript.add(&seed);
        }
        let tag = Tag::of(plan);
        let mut secrets = LotSecrets::default();
        let keeps_labels = plan.config().check == ResultCheck::Reveal;
        secrets.labels.resize(if keeps_labels { lot.len() } else { 0 }, Block::ZERO);
        let (mut message, mut selects) = (Vec::new(), Vec::new());
        for piece in Plan::pieces(&lot) {
            let ands = piece.len();
            message.resize(plan.piece_bytes(ands), 0);
            selects.resize(ands, 0);
            let (tables, rest) = message.split_at_mut(32 * ands);
            let GateShares { left, right, result } = &mut gates;
            let masks = GateMasks {
                left: &left.own[piece.clone()],
                right: &right.own[piece.clone()],
                result: &result.own[piece.clone()],
            };
            let labels = secrets.labels.get_mut(piece.clone()).filter(|_| keeps_labels);
            // Tags are made in place of the shares: the left operand's covers the right operand's mask.
            let tags = tag.map(|_| TagsMut {
                left: &mut right.peer[piece.clone()],
                right: &mut left.peer[piece.clone()],
                sum: &mut result.peer[piece.clone()],
            });
            garbler.garble(masks, tables, &mut selects, labels, tags);
            if let Some(tag) = tag {
                let (of_tags, _) = rest.split_at_mut(2 * tag.bytes * ands);
                let pairs = right.peer[piece.clone()].iter().zip(&left.peer[piece.clone()]);
                for (bytes, (left, right)) in of_tags.chunks_exact_mut(2 * tag.bytes).zip(pairs) {
                    let (first, second) = bytes.split_at_mut(tag.bytes);
                    tag.write(*left, first);
                    tag.write(*right, second);
                }
                result.peer[piece.clone()].iter_mut().for_each(|sum| *sum = tag.truncated(*sum));
            }
            let packed = &mut rest[2 * plan.tag_bytes() * ands..];
            packed.fill(0);
            selects.iter().enumerate().for_each(|(at, select)| packed[at / 8] |= select << (at % 8));
            ground.conduct.touch(Step::Tables, lot.start + piece.start, &mut message);
            session.channel().send_bytes(&message).await?;
            transcript.add(&message);
            self.done += ands as u64;
            session.advance(self.done, plan.and_count());
        }
        match tag {
            Some(_) => secrets.sums = std::mem::take(&mut gates.result.peer),
            None => {
                [secrets.left, secrets.right, secrets.result] = [&mut gates.left, &mut gates.right, &mut gates.result]
                    .map(|shares| std::mem::take(&mut shares.peer));
            }
        }
        Ok((secrets, own_masks))
    }

    /// Labels and shares of all outputs, and all that was sent.
    pub(crate) fn finish(self) -> (Garbled, Hasher) {
        let garbled = Garbled { labels: self.garbler.into_outputs(), masks: self.wiring.into_outputs() };
        (garbled, self.transcript)
    }
}

impl<C: Conduct<Step>> Ground<C> {
    /// The transcript of a run, before its first lot; `marks` identify the values that it reads.
    pub(crate) fn transcript(&self, plan: &Plan, run: u64, marks: &[u8]) -> Hasher {
        let mut transcript = self.domain(GARBLER, Place::Transcript, run).hasher();
        transcript.add(&plan.program().digest());
        transcript.add(marks);
        transcript
    }
}
