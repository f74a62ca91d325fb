//! Step 7: the decoding bits of the evaluator's outputs, which it cannot read before both garblers have their shares of its input.
//!
//! A garbler does not know whether the other one has its share yet. If an evaluator that has dealt one share could read decoding bits, it would learn
//! outputs in which the input of that garbler is masked by its own, and could then choose the other share. So the bits are masked by a hash of two
//! keys, and each garbler opens one of them. The message has, in this order:
//!
//! | part | bytes |
//! |---|---|
//! | this garbler's key | 16 |
//! | a digest of the other garbler's key | 32 |
//! | the bits under their mask, packed | 1/8 |
//!
//! An evaluator that learns nothing gets no message.

use garblet_circuit::Bits;
use garblet_primitives::{Block, Prg, secrets};
use garblet_protocol::{ProtocolError, bulk::check_padding_of, checks::Digests, domain::SessionId};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    checks::{DECODING, refused},
    meeting::WORD_BYTES,
    plan::{Place, Plan},
    secrets::{OutputLabels, Secrets},
};

/// Bytes of a key.
const KEY_BYTES: usize = size_of::<Block>();
/// Bytes before the bits.
const HEAD_BYTES: usize = KEY_BYTES + WORD_BYTES;

/// Bytes of the message of each garbler.
pub(super) fn message_bytes(plan: &Plan) -> usize {
    match plan.output_bits(plan.evaluator()) {
        0 => 0,
        bits => HEAD_BYTES + bits.div_ceil(8),
    }
}

/// A garbler's message.
pub(super) fn message(plan: &Plan, run: &SessionId, seat: usize, secrets: &Secrets, zero: &OutputLabels) -> Vec<u8> {
    let bits = zero.select_bits(plan, plan.evaluator());
    if bits.is_empty() {
        return Vec::new();
    }
    let mut message = Vec::with_capacity(message_bytes(plan));
    message.extend_from_slice(&secrets.keys[seat].to_bytes());
    message.extend_from_slice(&digest(plan, run, 1 - seat, *secrets.keys[1 - seat]));
    message.extend_from_slice(&masked(plan, run, [&secrets.keys[0], &secrets.keys[1]], &bits).to_bytes());
    message
}

/// The decoding bits of two messages, once they agree.
///
/// *Errors*: [`Refused`](garblet_protocol::checks::Refused), which names both garblers, if they differ; malformed bytes.
pub(super) fn open(plan: &Plan, run: &SessionId, messages: [&[u8]; 2]) -> Result<Bits, ProtocolError> {
    let count = plan.output_bits(plan.evaluator());
    if count == 0 {
        return Ok(Bits::default());
    }
    let [first, second] = messages.map(|message| message.split_at(HEAD_BYTES));
    for (garbler, (_, bits)) in plan.garblers().into_iter().zip([first, second]) {
        check_padding_of(garbler, bits, count)?;
    }
    let keys = [first, second]
        .map(|(head, _)| Zeroizing::new(head.first_chunk().map_or(Block::ZERO, |key| Block::from_bytes(*key))));
    let digests = [1, 0].map(|seat| digest(plan, run, seat, *keys[seat]));
    let sent = [first, second].map(|(head, _)| &head[KEY_BYTES..]);
    let same: Choice = first.1.ct_eq(second.1) & digests[0].ct_eq(sent[0]) & digests[1].ct_eq(sent[1]);
    match secrets::verdict(same, "two-garblers: whether the garblers agree about decoding bits") {
        true => Ok(masked(plan, run, [&keys[0], &keys[1]], &Bits::from_bytes(first.1).slice(0, count))),
        false => {
            let differing = sent.iter().zip(&digests).find_map(|(sent, digest)| Digests::of(sent, digest));
            Err(refused(DECODING, plan.garblers(), differing))
        }
    }
}

/// The digest of a garbler's key.
fn digest(plan: &Plan, run: &SessionId, seat: usize, key: Block) -> [u8; WORD_BYTES] {
    run.domain(plan.garblers()[seat], Place::Key as u8).digest(&key.to_bytes())
}

/// Bits with the mask that both keys give added.
fn masked(plan: &Plan, run: &SessionId, keys: [&Block; 2], bits: &Bits) -> Bits {
    let keys = Zeroizing::new(keys.map(|key| key.to_bytes()));
    let seed = Zeroizing::new(run.domain(plan.evaluator(), Place::Decoding as u8).digest(keys.as_flattened()));
    let mut prg = Prg::new(Block::from_digest(&seed));
    let mask = Bits::filled(bits.len(), |bytes| prg.fill_bytes(bytes));
    bits.iter().zip(mask.iter()).map(|(bit, mask)| bit ^ mask).collect()
}
