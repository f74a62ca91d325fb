//! Set padding bits are refused in every message, and the sender is named.

use garblet_net::{
    NetError,
    testing::{Direction, Frame, flips_before_ends},
};
use garblet_protocol::run_id::RUN_ID_BYTES;

use super::{
    deviations::{adder, values},
    *,
};
use crate::partialgc::oot::{DIGESTS_BYTES, Given};

const CIRCUITS: usize = 16;

/// A message of bits in a frame, where the second input belongs to party `second`: sender, receiver, the bytes of the frame (any if `None`), its bits, and the
/// bytes that follow them.
struct Message {
    second: u16,
    from: u16,
    to: u16,
    frame: Option<usize>,
    bits: usize,
    followed_by: usize,
}

impl Message {
    fn direction(&self) -> Direction {
        if self.from < self.to { Direction::Forth } else { Direction::Back }
    }

    /// The faults that set the highest bit of the last byte of such messages.
    fn faults(&self, frames: &[Frame]) -> Vec<PairFault> {
        let sent: Vec<&Frame> = frames.iter().filter(|frame| frame.direction == self.direction()).collect();
        let faults = flips_before_ends(frames, self.direction(), self.followed_by).into_iter();
        let due = faults.filter(|fault| self.frame.is_none_or(|due| due == sent[fault.frame].payload.len()));
        due.map(|fault| PairFault { low: self.from.min(self.to), high: self.from.max(self.to), fault }).collect()
    }

    /// Tells whether the receiver has refused it as expected.
    fn is_refused(&self, results: &[Result<Outputs, ProtocolError>]) -> bool {
        let Err(ProtocolError::Peer { party, source }) = &results[usize::from(self.to)] else { return false };
        let ProtocolError::Net(NetError::Malformed { what, .. }) = &**source else { return false };
        *party == Party(self.from) && *what == format!("{} bits", self.bits)
    }
}

/// All messages of bits, with a client's input or with the cloud's.
fn messages() -> Vec<Message> {
    let plan =
        |second| Plan::new(adder(second), 3, small(Reuse::Labels), SavedValues::default()).expect("it can be run");
    let [with_client, with_cloud] = [1, 2].map(plan);
    let client = with_client.giver(Party(1));
    let (choices, wires, own) = (client.bit_count(), client.wire_count(), with_cloud.giver(Party(2)).bit_count());
    assert!([choices, wires, own].iter().all(|bits| bits % 8 > 0), "{choices}, {wires}, {own}: all have spare bits");
    let given = RUN_ID_BYTES + Given::bytes(client, CIRCUITS);
    let digests = CIRCUITS * DIGESTS_BYTES;
    let message = |(from, to), frame, bits, followed_by| Message { second: 1, from, to, frame, bits, followed_by };
    vec![
        message((1, 0), Some(RUN_ID_BYTES + choices.div_ceil(8)), choices, 0),
        Message { second: 2, ..message((2, 0), Some(RUN_ID_BYTES + own.div_ceil(8)), own, 0) },
        // The places in the last circuit and in the first.
        message((1, 2), Some(given), wires, digests),
        message((1, 2), Some(given), wires, digests + (CIRCUITS - 1) * wires.div_ceil(8)),
        message((2, 0), None, with_client.message_bits(GENERATOR), 0),
        message((2, 1), None, with_client.message_bits(Party(1)), 0),
    ]
}

#[test]
fn set_padding_bits_are_refused_in_every_message_and_the_sender_is_named() {
    for (number, message) in messages().iter().enumerate().filter(|(_, message)| message.bits % 8 > 0) {
        let (program, config) = (adder(message.second), small(Reuse::Labels));
        let values = values();
        let record = Arc::new(Mutex::new(Vec::new()));
        let scene = Scene { record: Some(record.clone()), ..Scene::new(&program, 3, config) };
        let (honest, _) = scene.run(&values, None);
        assert!(honest.iter().all(Result::is_ok), "all are honest");
        let pair = (message.from.min(message.to), message.from.max(message.to));
        let record = record.lock().unwrap();
        let frames = record.iter().find(|(of, _)| *of == pair).expect("every pair has one").1.frames();
        // The last ones first, as outputs are at the end.
        let refused = message.faults(&frames).into_iter().rev().any(|fault| {
            let scene = Scene { fault: Some(fault), ..Scene::new(&program, 3, config) };
            message.is_refused(&scene.run(&values, None).0)
        });
        assert!(refused, "message {number}");
    }
}

/// Of all bytes that a client may send the cloud, those with another length or with padding bits set after a circuit's places are refused.
#[test]
fn any_bytes_from_a_client_to_the_cloud_are_read_or_refused() {
    let plan = Plan::new(adder(1), 3, small(Reuse::Labels), SavedValues::default()).expect("it can be run");
    let client = plan.giver(Party(1));
    let (length, wires) = (Given::bytes(client, CIRCUITS), client.wire_count());
    let mut rng = Prg::new(Block::ONES);
    for bytes in [0, 1, length - 1, length + 1, 2 * length] {
        assert!(Given::decode(&vec![0; bytes], client, CIRCUITS).is_err(), "{bytes} bytes");
    }
    for spoilt in 0..=CIRCUITS {
        let mut bytes = vec![0; length];
        rng.fill_bytes(&mut bytes);
        let places = &mut bytes[16 * wires..length - CIRCUITS * DIGESTS_BYTES];
        for last in places.chunks_mut(wires.div_ceil(8)).filter_map(<[u8]>::last_mut) {
            *last &= (1 << (wires % 8)) - 1;
        }
        let read = Given::decode(&bytes, client, CIRCUITS).unwrap_or_else(|error| panic!("{error}"));
        assert!(*read.encode() == bytes);
        if spoilt < CIRCUITS {
            bytes[16 * wires + (spoilt + 1) * wires.div_ceil(8) - 1] |= 1 << (wires % 8);
            assert!(Given::decode(&bytes, client, CIRCUITS).is_err(), "circuit {spoilt}");
        }
    }
}
