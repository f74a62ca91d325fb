//! File 12: names of hashes, a commitment, a power sum, and a gate with masks.

use garblet::{
    Party, Program,
    circuit::{Circuit, Component, Gate, Port, Type, Wire},
};
use garblet_garble::{
    Schedules,
    masked::{CheckMut, GateMasks, MaskedEvaluator, MaskedGarbler, TagsMut},
};
use garblet_primitives::{Block, Delta, Prg, gf128};
use garblet_protocol::domain::SessionId;
use serde_json::{Value, json};

use super::{block, blocks, hex, hold};

fn names() -> Value {
    let id = SessionId::new("authenticated", [0; 32], [[1; 32], [2; 32]]);
    let domain = id.domain(Party(1), 3).at(7).branch(1);
    let (commitment, opening) = domain.commit(b"a message", &mut Prg::new(Block::from_u128(3)));
    // The identifier itself is the key of every digest, and the crate does not give it: the text's formula does.
    let mut hash = blake3::Hasher::new_derive_key("garblet 2026 session identifier");
    hash.update(&13u64.to_le_bytes()).update(b"authenticated").update(&[0; 32]).update(&[1; 32]).update(&[2; 32]);
    let key: [u8; 32] = hash.finalize().into();
    let place = [&1u16.to_le_bytes()[..], &[3, 1], &7u64.to_le_bytes()].concat();
    let digest = blake3::keyed_hash(&key, &[&place[..], b"a message"].concat());
    assert_eq!(*digest.as_bytes(), domain.digest(b"a message"));
    json!({
        "digest": hex([0; 32]), "nonces": [hex([1; 32]), hex([2; 32])], "id": hex(key),
        "place": hex(&place), "message": hex(b"a message"), "digest_of_message": hex(digest.as_bytes()),
        "commitment": hex(commitment.to_bytes()), "opening": hex(opening.to_bytes()),
    })
}

fn power_sum() -> Value {
    let mut stream = Prg::new(Block::from_u128(4));
    let point = stream.next_block();
    let values: Vec<Block> = (0..5).map(|_| stream.next_block()).collect();
    let mut power = gf128::ONE;
    let sum = values.iter().fold(Block::ZERO, |sum, &value| {
        power = gf128::mul(power, point);
        sum ^ gf128::mul(power, value)
    });
    json!({ "point": block(point), "blocks": blocks(&values), "sum": block(sum) })
}

/// The bytes of a tag at `statistical` = 40.
const TAG_BYTES: usize = 6;

/// The last bytes of a block alone, of which a tag consists; the others are zero.
fn of_a_tag(value: Block) -> Block {
    let mut bytes = value.to_bytes();
    bytes[..16 - TAG_BYTES].fill(0);
    Block::from_bytes(bytes)
}

/// One AND gate whose left operand is negated.
fn program() -> Program {
    let gates = vec![Gate::Not(Wire(0)), Gate::And(Wire(2), Wire(1))];
    let port = |name: &str| Port::new(name, Type::Bool);
    let circuit = Circuit::new(2, gates, vec![Wire(3)]).expect("a circuit");
    let component = Component::new("gate", vec![port("a"), port("b")], vec![port("c")], circuit).expect("a component");
    Program::from_component(component, &[Party(0), Party(1)]).expect("a program")
}

fn gate(with_tags: bool, mask_bits: [bool; 3], values: [bool; 2]) -> Value {
    let program = program();
    let schedules = Schedules::new(&program);
    let mut stream = Prg::new(Block::from_u128(5));
    let [delta, other] = [0, 1].map(|_| Delta::new(stream.next_block()));
    let seed = stream.next_block();
    let zero = [stream.next_block(), stream.next_block()].map(|label| label.with_lsb(false));
    // Of the product and the result together.
    let bits = [mask_bits[0], mask_bits[1], (mask_bits[0] & mask_bits[1]) ^ mask_bits[2]];
    let mut share = |delta: &Delta| {
        let first = [0, 1, 2].map(|_| stream.next_block());
        let second = [0, 1, 2].map(|at: usize| first[at] ^ (Block::mask(bits[at]) & delta.block()));
        (first, second)
    };
    let ((own_0, peer_1), (own_1, peer_0)) = (share(&delta), share(&other));
    let masks = |blocks: &[Block; 3]| blocks.map(|block| [block]);
    let inputs = |labels: [Block; 2]| labels.map(|label| vec![label].into_boxed_slice()).to_vec();
    let mut garbler = MaskedGarbler::new(&program, &schedules, &delta, seed, with_tags, inputs(zero));
    let (mut table, mut select) = ([0; 32], [0]);
    let [left, right, result] = masks(&own_0);
    let gate_masks = GateMasks { left: &left, right: &right, result: &result };
    let [mut left_tag, mut right_tag, mut sum] = [peer_0[1], peer_0[0], peer_0[2]].map(|share| [share]);
    let tags = TagsMut { left: &mut left_tag, right: &mut right_tag, sum: &mut sum };
    garbler.garble(gate_masks, &mut table, &mut select, None, with_tags.then_some(tags));
    let result_zero = garbler.into_outputs()[0][0];

    let active = [0, 1].map(|at: usize| zero[at] ^ (Block::mask(values[at]) & delta.block()));
    let mut evaluator = MaskedEvaluator::new(&program, &schedules, seed, other.block(), with_tags, inputs(active));
    let [left, right, result] = masks(&peer_1);
    let gate_masks = GateMasks { left: &left, right: &right, result: &result };
    let tag = |tag: Block| if with_tags { of_a_tag(tag) } else { Block::ZERO };
    let (of_left, of_right) = ([own_1[1] ^ tag(left_tag[0])], [own_1[0] ^ tag(right_tag[0])]);
    let mut check = [own_1[2]];
    evaluator.evaluate(
        gate_masks,
        &table,
        &select,
        None,
        CheckMut { left: &of_left, right: &of_right, values: &mut check },
    );
    let result_active = evaluator.into_outputs()[0][0];
    // The masked value of the result: that of the AND of the operands without their masks.
    let plain = (!values[0] ^ mask_bits[0]) & (values[1] ^ mask_bits[1]);
    assert_eq!(result_active.lsb(), plain ^ mask_bits[2]);
    // Only these bytes of a check value count with tags.
    let checked = |value: Block| if with_tags { of_a_tag(value) } else { value };
    assert!(!with_tags || checked(check[0]) == checked(sum[0]), "the check values fit");
    let tags = [left_tag[0], right_tag[0]].map(|tag| hex(&tag.to_bytes()[16 - TAG_BYTES..]));
    json!({
        "gate": 0, "with_tags": with_tags, "tag_bytes": if with_tags { TAG_BYTES } else { 0 }, "delta_0": block(delta.block()), "delta_1": block(other.block()), "hash_seed": block(seed),
        "zero_labels": blocks(&zero), "own_0": blocks(&own_0), "peer_1": blocks(&peer_1), "own_1": blocks(&own_1),
        "peer_0": blocks(&peer_0), "table": hex(table), "select": select[0], "result_zero_label": block(result_zero),
        "tags": if with_tags { json!(tags) } else { Value::Null },
        "check_value_0": if with_tags { json!(block(checked(sum[0]))) } else { Value::Null },
        "masked_values": values.map(u8::from), "active_labels": blocks(&active), "result_active": block(result_active),
        "check_value_1": block(checked(check[0])),
    })
}

#[test]
fn gates_with_masks_and_names_are_held() {
    let gates: Vec<Value> = [(true, [true, false, true], [true, true]), (false, [true, true, false], [false, true])]
        .map(|(tags, masks, values)| gate(tags, masks, values))
        .into();
    hold(
        "authenticated.json",
        &json!({ "names": names(), "power_sum": power_sum(), "circuit": "c = !a & b", "gates": gates }),
    );
}
