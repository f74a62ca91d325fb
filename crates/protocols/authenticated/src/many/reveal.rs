//! The published check of gates, `check=reveal`: the evaluator tells the garblers the masked values of all gates, and they answer with sums of their shares.
//!
//! | flow | who | what | bytes |
//! |---|---|---|---|
//! | O4, 1 | evaluator to every garbler | the masked values of all wires that are read and of all gates; a digest of that garbler's labels of them; a point | 1/8 each; 32; 16 |
//! | O4, 2 | garbler to the evaluator | the sum of its shares | 16 |
//! | | garbler to every recipient | shares of the masks of its outputs, with tags | 1/8 and a tag a bit |
//!
//! *Symbols*: `t` of a gate is one if its masked value is wrong: `(v_a + lambda_a) (v_b + lambda_b) + v_c + lambda_c`, for masked values `v`. All parties have shares of
//! `t D_E`, whose sum, weighed with powers of the point, must be zero. Another value for one garbler takes a label that the evaluator lacks.

use garblet_circuit::Party;
use garblet_garble::joint::{AndGates, Gate, Quad, Seen, walk};
use garblet_net::PerPeer;
use garblet_primitives::{Backend, Block, Engine, QUAD_LANES, secrets};
use garblet_protocol::{MeshSession, conduct::Conduct, error::ProtocolError};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    Step,
    build::Built,
    checks::{REVEALED_GATES, REVEALED_LABELS, Verified, somebody_cheats},
    ground::{DIGEST_BYTES, Ground},
    online::Told,
    open::{told, told_bytes},
    place::Place,
    plan::Plan,
    shares::block_of,
};
use crate::{opening::Packed, shares::PowerSum};

/// Bytes of the evaluator's message to a garbler.
pub(super) fn message_bytes(plan: &Plan) -> usize {
    revealed_count(plan).div_ceil(8) + DIGEST_BYTES + 16
}

/// The number of masked values that are revealed: of wires that are read, and of gates.
fn revealed_count(plan: &Plan) -> usize {
    plan.input_count() - plan.given_count() + plan.and_count()
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

impl<K: Conduct<Step>> Ground<K> {
    /// The evaluator's part, from what it has seen at all gates. Returns the rest of the garblers' answers, with the proof that all gates are right.
    ///
    /// *Errors*: [`REVEALED_GATES`]; the connections'.
    pub(super) async fn reveal(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        (built, parts): (&Built, &Parts),
        seen: &Seen,
    ) -> Result<(PerPeer<Vec<u8>>, Verified), ProtocolError> {
        let garblers = plan.garbler_count();
        let masked: Vec<bool> = seen.labels.chunks_exact(garblers).map(|labels| labels[0].lsb()).collect();
        let read = built.read.labels.first().into_iter().flatten().map(|label| label.lsb());
        let all: Vec<bool> = read.chain(masked.iter().copied()).collect();
        let packed = Packed::collect(all.len(), |at| all[at]);
        let point = Block::random(session.rng());
        let outgoing = session.mesh().per_peer(|peer| {
            let slot = plan.slot(Party(peer)).unwrap_or_default();
            let of_read = built.read.labels.get(slot).into_iter().flatten();
            let labels = of_read.chain(seen.labels.iter().skip(slot).step_by(garblers)).copied();
            let digest = self.digest_of_labels(Place::RevealedLabels, Party(peer), built.run, labels);
            [&packed.0[..], &digest, &point.to_bytes()].concat()
        });
        let expected = ANSWER_BYTES + told_bytes(plan.tag(), plan.output_bits(self.party));
        let mut answers = self.exchange(session, Step::RevealedGates, outgoing, |_| expected).await?;
        let delta = self.delta.block();
        let own = parts.sum(point, &seen.operands, |gate| {
            let [a, b] = seen.operands[gate];
            Block::mask(a & b ^ masked[gate]) & delta
        });
        let mut sum = own;
        for (_, answer) in answers.iter_mut() {
            sum ^= block_of(answer);
            answer.drain(..ANSWER_BYTES);
        }
        let detail = "the sums of shares do not add up to zero";
        Ok((answers, Verified::of(sum.ct_eq(&Block::ZERO), REVEALED_GATES, detail)?))
    }

    /// A garbler's part: waits for the masked values, and answers. Its shares of all others' outputs leave with the answer. Returns the others' messages.
    ///
    /// *Errors*: [`REVEALED_LABELS`]; malformed bits; the connections'.
    pub(super) async fn answer(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        (built, parts): (&Built, &Parts),
        inputs: &Told,
        learned: impl Fn(Party) -> usize,
    ) -> Result<PerPeer<Vec<u8>>, ProtocolError> {
        let (evaluator, count) = (plan.evaluator(), revealed_count(plan));
        let nothing = session.mesh().per_peer(|_| Vec::new());
        let expected = |peer: Party| if peer == evaluator { message_bytes(plan) } else { 0 };
        let revealed = self.exchange(session, Step::RevealedGates, nothing, expected).await?;
        let message = revealed.get(evaluator.0).map_or(&[][..], |message| message);
        let (packed, rest) = message.split_at(count.div_ceil(8));
        let packed = Packed::received_of(evaluator, packed, count)?;
        let (digest, point) = rest.split_at(DIGEST_BYTES);
        let delta = self.delta.block();
        let zero = plan.read().chain(plan.input_count()..built.labels.len()).map(|at| built.labels[at]);
        let labels = zero.enumerate().map(|(at, zero)| zero ^ Block::mask(packed.get(at)) & delta);
        let own = self.digest_of_labels(Place::RevealedLabels, self.party, built.run, labels);
        if !secrets::verdict(own.ct_eq(digest), "authenticated-bmr: whether the labels of revealed values fit") {
            return Err(somebody_cheats(REVEALED_LABELS, "the digest is of other labels"));
        }
        let mut of_inputs = inputs.masked.clone();
        plan.read().enumerate().for_each(|(bit, at)| of_inputs[at] = packed.get(bit));
        let masked: Vec<bool> = (count - plan.and_count()..count).map(|at| packed.get(at)).collect();
        let values = operands(plan, &of_inputs, &masked);
        let sum = parts.sum(block_of(point), &values, |_| Block::ZERO);
        let outgoing = session.mesh().per_peer(|peer| {
            let masks = told(plan.tag(), built.masks.of_outputs(Party(peer)));
            if Party(peer) == evaluator { [&sum.to_bytes()[..], &masks].concat() } else { masks }
        });
        self.exchange(session, Step::RevealedSums, outgoing, learned).await
    }
}

/// The masked values of the operands of all gates, inversions included, from those of inputs and of gates.
fn operands(plan: &Plan, inputs: &[bool], masked: &[bool]) -> Vec<[bool; 2]> {
    let inputs = inputs.iter().map(|&bit| [Block::mask(bit); QUAD_LANES]).collect();
    let mut values = Values { masked, operands: Vec::with_capacity(masked.len()) };
    walk(Backend::detect(), plan.schedule(), 1, inputs, &mut values);
    values.operands
}

struct Values<'a> {
    masked: &'a [bool],
    operands: Vec<[bool; 2]>,
}

impl AndGates for Values<'_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    #[inline(always)]
    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        let value = |wire: &[Quad], inverted: bool| wire[0][0].lsb() ^ inverted;
        self.operands.push([value(gate.a, gate.inverted[0]), value(gate.b, gate.inverted[1])]);
        out[0] = [Block::mask(self.masked[gate.index]); QUAD_LANES];
    }
}
