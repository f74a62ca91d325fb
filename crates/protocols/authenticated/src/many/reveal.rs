//! The published check of gates, `check=reveal`: the evaluator tells the garblers the masked values of all gates, and they answer with sums of their shares.
//!
//! | flow | who | what | bytes |
//! |---|---|---|---|
//! | O4, 1 | evaluator to every garbler | the masked values of all wires that are read and of all gates; a digest of that garbler's labels of them; a point | 1/8 each; 32; 16 |
//! | O4, 2 | garbler to the evaluator | the sum of its shares | 16 |
//! | | garbler to every recipient | shares of the masks of its outputs, with tags | 1/8 and a tag a bit |
//!
//! Streamed circuits are revealed lot by lot: masked values and a point for each, those of wires that are read with the first; the digest after the last.
//!
//! *Symbols*: `t` of a gate is one if its masked value is wrong: `(v_a + lambda_a) (v_b + lambda_b) + v_c + lambda_c`, for masked values `v`. All parties have shares of
//! `t D_E`, whose sum, weighed with powers of the point, must be zero. Another value for one garbler takes a label that the evaluator lacks.

use garblet_circuit::Party;
use garblet_garble::joint::{AndGates, Gate, Quad, Seen, Walk};
use garblet_net::PerPeer;
use garblet_primitives::{Block, Engine, QUAD_LANES, secrets};
use garblet_protocol::{MeshSession, conduct::Conduct, domain::Hasher, error::ProtocolError};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    Step,
    build::Lot,
    checks::{REVEALED_GATES, REVEALED_LABELS, Verified, somebody_cheats},
    ground::{DIGEST_BYTES, Ground},
    online::Told,
    open::{told, told_bytes},
    place::Place,
    plan::Plan,
    shares::block_of,
    wires::{KeptWires, Labels, Masks},
};
use crate::{config::Build, opening::Packed, shares::PowerSum};

/// Bytes of the evaluator's message to a garbler about a lot, by its first gate and its number of gates.
pub(super) fn message_bytes(plan: &Plan, first: usize, gates: usize) -> usize {
    let digest = if plan.config().build == Build::Ahead { DIGEST_BYTES } else { 0 };
    revealed_count(plan, first, gates).div_ceil(8) + digest + 16
}

/// The number of masked values that are revealed with a lot: of wires that are read, before the first gate, and of its gates.
fn revealed_count(plan: &Plan, first: usize, gates: usize) -> usize {
    gates + if first == 0 { plan.input_count() - plan.given_count() } else { 0 }
}

/// Bytes of a garbler's answer, besides its shares of the evaluator's outputs.
pub(super) const ANSWER_BYTES: usize = 16;

/// A party's shares of every gate for the check: for the evaluator's difference, of the masks of both operands and of the product's with the result's.
pub(super) struct Parts {
    pub(super) left: Zeroizing<Vec<Block>>,
    pub(super) right: Zeroizing<Vec<Block>>,
    pub(super) rest: Zeroizing<Vec<Block>>,
}

impl Parts {
    /// The sum of the shares of `t D_E` of all gates, weighed with powers of a point, without what only the evaluator adds.
    fn sum(&self, point: Block, values: &[[bool; 2]], more: impl Fn(usize) -> Block) -> Block {
        let mut sum = PowerSum::new(point);
        let mut terms = Zeroizing::new(Vec::with_capacity(values.len()));
        for (gate, [a, b]) in values.iter().enumerate() {
            let operands = Block::mask(*a) & self.right[gate] ^ Block::mask(*b) & self.left[gate];
            terms.push(operands ^ self.rest[gate] ^ more(gate));
        }
        sum.add_all(&terms);
        sum.finish()
    }
}

/// The gates that the evaluator has revealed so far.
pub(super) struct Revealed {
    /// The hashes of the labels of every garbler.
    labels: Vec<Hasher>,
    /// The sum of its own shares.
    sum: Block,
}

/// The masked values that a garbler has heard so far.
pub(super) struct Heard<'p> {
    plan: &'p Plan,
    /// The wires, which carry masked values; once those of all inputs are known.
    values: Option<Walk<'p>>,
    /// The hash of the labels of everything that was revealed.
    labels: Hasher,
    sum: Block,
    /// The digest of the evaluator's labels, if it came with the gates.
    digest: Vec<u8>,
}

impl<K: Conduct<Step>> Ground<K> {
    /// Nothing is revealed yet.
    pub(super) fn reveal_nothing(&self, plan: &Plan, run: u64) -> Revealed {
        let labels = plan.garblers().map(|party| self.domain(party, Place::RevealedLabels, run).hasher());
        Revealed { labels: labels.collect(), sum: Block::ZERO }
    }

    /// The evaluator's messages, from what it has seen at the gates of a lot.
    pub(super) fn reveal(
        &self,
        session: &mut MeshSession,
        plan: &Plan,
        revealed: &mut Revealed,
        (parts, lot, read, seen): (&Parts, &Lot, &KeptWires, &Seen),
    ) -> PerPeer<Vec<u8>> {
        let garblers = plan.garbler_count();
        let masked: Vec<bool> = seen.labels.chunks_exact(garblers).map(|labels| labels[0].lsb()).collect();
        let read: &[Vec<Block>] = if lot.gates.start == 0 { &read.labels } else { &[] };
        let of_read = read.first().into_iter().flatten().map(|label| label.lsb());
        let all: Vec<bool> = of_read.chain(masked.iter().copied()).collect();
        let packed = Packed::collect(all.len(), |at| all[at]);
        let point = Block::random(session.rng());
        for (slot, hasher) in revealed.labels.iter_mut().enumerate() {
            let of_read = read.get(slot).into_iter().flatten();
            let labels = of_read.chain(seen.labels.iter().skip(slot).step_by(garblers));
            labels.for_each(|label| hasher.add(&label.to_bytes()));
        }
        let digests = match plan.config().build {
            Build::Ahead => revealed.digests(),
            Build::Stream => Vec::new(),
        };
        let delta = self.delta.block();
        revealed.sum ^= parts.sum(point, &seen.operands, |gate| {
            let [a, b] = seen.operands[gate];
            Block::mask(a & b ^ masked[gate]) & delta
        });
        session.mesh().per_peer(|peer| {
            let digest = plan.slot(Party(peer)).and_then(|slot| digests.get(slot));
            [&packed.0[..], digest.map_or(&[][..], |digest| digest), &point.to_bytes()].concat()
        })
    }

    /// The end of the evaluator's part. Returns the rest of the garblers' answers, with the proof that all gates are right.
    ///
    /// *Errors*: [`REVEALED_GATES`]; the connections'.
    pub(super) async fn judge(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        mut revealed: Revealed,
    ) -> Result<(PerPeer<Vec<u8>>, Verified), ProtocolError> {
        let digests = match plan.config().build {
            Build::Ahead => Vec::new(),
            Build::Stream => revealed.digests(),
        };
        let outgoing = session.mesh().per_peer(|peer| {
            let digest = plan.slot(Party(peer)).and_then(|slot| digests.get(slot));
            digest.map_or_else(Vec::new, |digest| digest.to_vec())
        });
        let expected = ANSWER_BYTES + told_bytes(plan.tag(), plan.output_bits(self.party));
        let mut answers = self.exchange(session, Step::RevealedLabels, outgoing, |_| expected).await?;
        let mut sum = revealed.sum;
        for (_, answer) in answers.iter_mut() {
            sum ^= block_of(answer);
            answer.drain(..ANSWER_BYTES);
        }
        let detail = "the sums of shares do not add up to zero";
        Ok((answers, Verified::of(sum.ct_eq(&Block::ZERO), REVEALED_GATES, detail)?))
    }

    /// A garbler's part, from the messages with the masked values of a lot.
    ///
    /// *Errors*: malformed bits.
    pub(super) fn hear(
        &self,
        heard: &mut Heard<'_>,
        lot: &Lot,
        (inputs, zero): (&Told, &Labels),
        messages: &PerPeer<Vec<u8>>,
    ) -> Result<(), ProtocolError> {
        let (plan, Some(parts)) = (heard.plan, &lot.parts) else { return Ok(()) };
        let (evaluator, gates) = (plan.evaluator(), lot.gates.len());
        let count = revealed_count(plan, lot.gates.start, gates);
        let message = messages.get(evaluator.0).map_or(&[][..], |message| message);
        let (packed, rest) = message.split_at(count.div_ceil(8));
        let packed = Packed::received_of(evaluator, packed, count)?;
        let (digest, point) = rest.split_at(rest.len() - 16);
        heard.digest = digest.to_vec();
        let delta = self.delta.block();
        let of_read = plan.read().take(count - gates).map(|at| zero[at]);
        let labels = of_read.chain(lot.labels.iter().copied()).enumerate();
        let labels = labels.map(|(at, zero)| zero ^ Block::mask(packed.get(at)) & delta);
        labels.for_each(|label| heard.labels.add(&label.to_bytes()));
        let values = heard.values.get_or_insert_with(|| {
            let mut of_inputs = inputs.masked.clone();
            plan.read().enumerate().for_each(|(bit, at)| of_inputs[at] = packed.get(bit));
            masked_values(plan, &of_inputs)
        });
        let masked: Vec<bool> = (count - gates..count).map(|at| packed.get(at)).collect();
        let operands = operands(values, &masked);
        heard.sum ^= parts.sum(block_of(point), &operands, |_| Block::ZERO);
        Ok(())
    }

    /// A garbler has heard nothing yet.
    pub(super) fn hear_nothing<'p>(&self, plan: &'p Plan, run: u64) -> Heard<'p> {
        let labels = self.domain(self.party, Place::RevealedLabels, run).hasher();
        Heard { plan, values: None, labels, sum: Block::ZERO, digest: Vec::new() }
    }

    /// The end of a garbler's part: answers. Its shares of all others' outputs leave with the answer. Returns the others' messages.
    ///
    /// *Errors*: [`REVEALED_LABELS`]; the connections'.
    pub(super) async fn answer(
        &mut self,
        session: &mut MeshSession,
        heard: Heard<'_>,
        masks: &Masks,
        learned: impl Fn(Party) -> usize,
    ) -> Result<PerPeer<Vec<u8>>, ProtocolError> {
        let Heard { plan, labels, sum, mut digest, .. } = heard;
        let evaluator = plan.evaluator();
        if plan.config().build == Build::Stream {
            let nothing = session.mesh().per_peer(|_| Vec::new());
            let expected = |peer: Party| if peer == evaluator { DIGEST_BYTES } else { 0 };
            let mut told = self.exchange(session, Step::RevealedLabels, nothing, expected).await?;
            digest = told.get_mut(evaluator.0).map(std::mem::take).unwrap_or_default();
        }
        if !secrets::verdict(
            labels.finish().ct_eq(&digest[..]),
            "authenticated-bmr: whether the labels of revealed values fit",
        ) {
            return Err(somebody_cheats(REVEALED_LABELS, "the digest is of other labels"));
        }
        let outgoing = session.mesh().per_peer(|peer| {
            let masks = told(plan.tag(), masks.of_outputs(Party(peer)));
            if Party(peer) == evaluator { [&sum.to_bytes()[..], &masks].concat() } else { masks }
        });
        self.exchange(session, Step::RevealedSums, outgoing, learned).await
    }
}

impl Revealed {
    /// The digests of the labels of all garblers, after the last lot.
    fn digests(&mut self) -> Vec<[u8; DIGEST_BYTES]> {
        std::mem::take(&mut self.labels).into_iter().map(Hasher::finish).collect()
    }
}

/// The wires before the first gate, which carry these masked values of inputs.
fn masked_values<'p>(plan: &'p Plan, inputs: &[bool]) -> Walk<'p> {
    let inputs = inputs.iter().map(|&bit| [Block::mask(bit); QUAD_LANES]).collect();
    plan.walk(inputs, &[Block::ONES])
}

/// The masked values of the operands of the next gates, inversions included, from those of their results.
fn operands(values: &mut Walk<'_>, masked: &[bool]) -> Vec<[bool; 2]> {
    let mut gates = Values { masked, first: values.done(), operands: Vec::with_capacity(masked.len()) };
    values.advance(masked.len(), &mut gates);
    gates.operands
}

struct Values<'a> {
    masked: &'a [bool],
    /// The first of these gates.
    first: usize,
    operands: Vec<[bool; 2]>,
}

impl AndGates for Values<'_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    #[inline(always)]
    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        let value = |wire: &[Quad], inverted: bool| wire[0][0].lsb() ^ inverted;
        self.operands.push([value(gate.a, gate.inverted[0]), value(gate.b, gate.inverted[1])]);
        out[0] = [Block::mask(self.masked[gate.index - self.first]); QUAD_LANES];
    }
}
