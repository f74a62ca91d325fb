//! Step B2 of the evaluator: it receives gates, and evaluates them when it has labels.

use std::ops::Range;

use garblet_garble::masked::{CheckMut, GateMasks, MaskedEvaluator};
use garblet_primitives::Block;
use garblet_protocol::{
    bulk::{check_padding, receive_blocks},
    conduct::Conduct,
    domain::Hasher,
    error::ProtocolError,
    session::Session,
};

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{GateShares, InputMasks, Wiring};
use crate::{
    Step,
    config::ResultCheck,
    ground::Ground,
    plan::Plan,
    shares::{Shares, Triples},
    tags::Tag,
    wires::Shared,
};

/// A circuit that arrives lot by lot.
pub(crate) struct Receiving<'p> {
    plan: &'p Plan,
    wiring: Wiring<'p>,
    done: u64,
    /// The hash of everything received and of its context.
    pub(crate) transcript: Hasher,
    /// The seed of the hash, which arrives with the first gates.
    pub(crate) hash_seed: Block,
}

/// A received lot: its pieces as sent, one after another.
pub(crate) struct LotReceived {
    lot: Range<usize>,
    gates: GateShares,
    pieces: Vec<u8>,
}

impl<'p> Receiving<'p> {
    /// Begins a run with the shares of the masks of all inputs.
    pub(crate) fn new<C: Conduct<Step>>(
        ground: &Ground<C>,
        (plan, run, marks): (&'p Plan, u64, &[u8]),
        masks: Shared,
    ) -> Self {
        let (wiring, transcript) = (Wiring::new(plan, masks), ground.transcript(plan, run, marks));
        Receiving { plan, wiring, done: 0, transcript, hash_seed: Block::ZERO }
    }

    /// Opens the masks at a lot, and receives its gates. Also returns the masks of this party's inputs, if those of all inputs are given.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub(crate) async fn lot<C: Conduct<Step>>(
        &mut self,
        ground: &mut Ground<C>,
        session: &mut Session,
        material: (Triples, Shares),
        lot: Range<usize>,
        inputs: Option<&InputMasks>,
    ) -> Result<(LotReceived, Zeroizing<Vec<bool>>), ProtocolError> {
        let Receiving { plan, wiring, transcript, .. } = self;
        let (gates, own_masks) = ground.open_lot(session, wiring, material, inputs, transcript).await?;
        if lot.start == 0 && plan.and_count() > 0 {
            let mut seed = [Block::ZERO];
            receive_blocks(session, &mut seed).await?;
            self.hash_seed = seed[0];
            transcript.add(&seed[0].to_bytes());
        }
        let mut pieces = Vec::with_capacity(Plan::pieces(&lot).map(|piece| plan.piece_bytes(piece.len())).sum());
        for piece in Plan::pieces(&lot) {
            let begin = pieces.len();
            pieces.resize(begin + plan.piece_bytes(piece.len()), 0);
            session.channel().receive_bytes(&mut pieces[begin..]).await?;
            let selects = pieces.len() - piece.len().div_ceil(8);
            check_padding(&pieces[selects..], piece.len())?;
            transcript.add(&pieces[begin..]);
            self.done += piece.len() as u64;
            session.advance(self.done, plan.and_count());
        }
        Ok((LotReceived { lot, gates, pieces }, own_masks))
    }

    /// Shares of all outputs, and all that came.
    pub(crate) fn finish(self) -> (Shared, Hasher) {
        (self.wiring.into_outputs(), self.transcript)
    }
}

/// The outcome of a lot beside labels on wires.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct LotEvaluated {
    /// Set for the first lot of a run.
    pub(crate) first: bool,
    /// For each gate the evaluator's share of `t` times its difference, see [`crate::tags`].
    pub(crate) values: Vec<Block>,
    /// The active labels of all results, if these are revealed.
    pub(crate) labels: Vec<Block>,
}

impl LotReceived {
    /// Evaluates all gates of the lot.
    pub(crate) fn evaluate(self, plan: &Plan, evaluator: &mut MaskedEvaluator<'_>) -> LotEvaluated {
        let LotReceived { lot, mut gates, pieces } = self;
        let tag = Tag::of(plan);
        let reveals = plan.config().check == ResultCheck::Reveal;
        let mut labels = vec![Block::ZERO; if reveals { lot.len() } else { 0 }];
        let (mut rest, mut selects) = (&pieces[..], Vec::new());
        for piece in Plan::pieces(&lot) {
            let ands = piece.len();
            let (now, later) = rest.split_at(plan.piece_bytes(ands));
            rest = later;
            let (tables, now) = now.split_at(32 * ands);
            let (tags, packed) = now.split_at(2 * plan.tag_bytes() * ands);
            selects.clear();
            selects.extend((0..ands).map(|at| packed[at / 8] >> (at % 8) & 1));
            let GateShares { left, right, result } = &mut gates;
            if let Some(tag) = tag {
                let shares = right.own[piece.clone()].iter_mut().zip(&mut left.own[piece.clone()]);
                for (bytes, (first, second)) in tags.chunks_exact(2 * tag.bytes).zip(shares) {
                    let (of_left, of_right) = bytes.split_at(tag.bytes);
                    *first ^= tag.read(of_left);
                    *second ^= tag.read(of_right);
                }
            }
            let masks = GateMasks {
                left: &left.peer[piece.clone()],
                right: &right.peer[piece.clone()],
                result: &result.peer[piece.clone()],
            };
            let check = CheckMut {
                left: &right.own[piece.clone()],
                right: &left.own[piece.clone()],
                values: &mut result.own[piece.clone()],
            };
            let labels = labels.get_mut(piece.clone()).filter(|_| reveals);
            evaluator.evaluate(masks, tables, &selects, labels, check);
            if let Some(tag) = tag {
                result.own[piece].iter_mut().for_each(|value| *value = tag.truncated(*value));
            }
        }
        LotEvaluated { first: lot.start == 0, values: std::mem::take(&mut gates.result.own), labels }
    }
}
