//! The generator and the first client collude, so that the client's input might differ between circuits.

use garblet_circuit::{InputId, Recipients};
use garblet_net::testing::Direction;
use garblet_protocol::checks::NoMajority;
use garblet_seeded::wires::Pads;
use garblet_synthesis::library;

use super::{
    deviations::{Found, adder, exchange_commitments, exchange_labels, found, values},
    *,
};
use crate::partialgc::{checks, oot};

const CIRCUITS: usize = 16;
/// Wires whose values the client chooses separately in each circuit.
const FREE: usize = 4;

/// The generator and a client that gives different bits in different circuits, with matching commitments and labels.
///
/// The client sends the cloud a key that the generator knows, under which it sends both labels; so the client may select either.
#[derive(Clone)]
pub(super) struct Coalition {
    /// The first wire, and the number of wires.
    wire: usize,
    free: usize,
    /// For each circuit, the wires whose value is flipped there.
    flips: [u8; CIRCUITS],
    /// The circuit in which the generator swaps both values of the second giver's first wire.
    exchanged: Option<usize>,
    /// For each circuit, the number of first decoding bits that are wrong.
    tails: [u8; CIRCUITS],
    /// The generator's memory of its current circuit.
    blinds: Vec<Block>,
    labels: Vec<Block>,
    giver: usize,
}

impl Coalition {
    fn new(wire: usize, flips: [u8; CIRCUITS]) -> Self {
        Coalition {
            wire,
            free: FREE,
            flips,
            exchanged: None,
            tails: [0; CIRCUITS],
            blinds: Vec::new(),
            labels: Vec::new(),
            giver: 0,
        }
    }

    /// Only the generator cheats, in one circuit.
    pub(super) fn exchanging(circuit: usize) -> Self {
        Coalition { free: 0, exchanged: Some(circuit), ..Coalition::new(0, [0; CIRCUITS]) }
    }

    pub(super) fn touch(&mut self, step: Step, circuit: usize, bytes: &mut [u8]) {
        let blocks = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|&block| Block::from_bytes(block)).collect();
        let is_exchanged = self.giver == 1 && self.exchanged == Some(circuit);
        match step {
            // The client's.
            Step::Ciphers => bytes[16 * self.wire..16 * (self.wire + self.free)].fill(0),
            Step::MaskedPlaces => (0..self.free).filter(|free| self.flips[circuit] >> free & 1 == 1).for_each(|free| {
                let wire = self.wire + free;
                bytes[wire / 8] ^= 1 << (wire % 8);
            }),
            // The generator's.
            Step::Blind => (self.blinds, self.giver) = (blocks(bytes), 0),
            Step::Labels => {
                self.labels = blocks(bytes);
                if is_exchanged {
                    exchange_labels(bytes);
                }
            }
            Step::Commitments if is_exchanged => exchange_commitments(bytes),
            Step::Ciphertexts => {
                if self.giver == 0 {
                    self.encrypt_both(circuit, bytes);
                }
                self.giver += 1;
            }
            Step::Tail => bytes[0] ^= self.tails[circuit],
            _ => {}
        }
    }

    /// Encrypts both labels of each free wire under the key that the client sends.
    fn encrypt_both(&mut self, circuit: usize, ciphertexts: &mut [u8]) {
        oot::blind(&mut self.labels, self.blinds[0]);
        let mut pads = Pads::of_keys(&[Block::ZERO]);
        for place in 2 * self.wire..2 * (self.wire + self.free) {
            pads.encrypt(&mut self.labels[place..=place], circuit);
            ciphertexts[16 * place..16 * (place + 1)].copy_from_slice(&self.labels[place].to_bytes());
        }
    }
}

/// Flips that apply in some circuits and not in others.
fn in_circuits(set: impl Fn(usize) -> bool) -> [u8; CIRCUITS] {
    std::array::from_fn(|circuit| u8::from(set(circuit)))
}

/// The finding that the first client's input differs between circuits.
const REFUSED: Option<Found> = Some(Found::Refused(checks::CLIENTS_INPUT));

/// Runs three parties with fixed states; also returns the bytes that the cloud sent the client.
fn recorded(
    program: &Arc<Program>,
    coalition: Coalition,
    evaluated: [usize; 5],
) -> (Vec<Result<Outputs, ProtocolError>>, Vec<u8>) {
    let (record, config) = (Arc::new(Mutex::new(Vec::new())), small(Reuse::Labels));
    let scene = Scene { record: Some(record.clone()), coalition: Some(coalition), ..Scene::new(program, 3, config) };
    let (results, _) = scene.run(&values(), states_of(config, evaluated));
    let record = record.lock().unwrap();
    let (_, transcript) = record.iter().find(|(pair, _)| *pair == (1, 2)).unwrap();
    let frames = transcript.frames().into_iter().filter(|frame| frame.direction == Direction::Back);
    (results, frames.flat_map(|frame| frame.payload).collect())
}

/// The first bits of the input, of the key and of the pad of the client of the adder, and the last of the pad.
const BITS: [usize; 4] = [0, 9, 9 + 128, 9 + 128 + 9 + 128 - FREE];

#[test]
fn a_client_that_flips_any_bit_in_some_circuits_is_caught() {
    let (program, config) = (adder(1), small(Reuse::Labels));
    let plan = Plan::new(program.clone(), 3, config, SavedValues::default()).unwrap();
    let client = plan.giver(Party(1));
    // Wires of the encoding, and wires that hide the hash.
    let further = [client.bit_count(), client.wire_count() - FREE];
    let splits =
        [[0, 1, 2, 8, 9], [7, 8, 9, 10, 11], [1, 3, 5, 7, 15], [2, 4, 6, 8, 10], [0, 2, 3, 4, 8], [6, 11, 12, 13, 15]];
    for (wire, evaluated) in BITS.into_iter().chain(further).zip(splits) {
        let coalition = Some(Coalition::new(wire, in_circuits(|circuit| circuit < 8)));
        let scene = Scene { coalition, seed: wire as u64, ..Scene::new(&program, 3, config) };
        let (results, _) = scene.run(&values(), states_of(config, evaluated));
        assert_eq!(found(&results[2]), REFUSED, "wire {wire}");
        assert!(results.iter().all(|result| result.is_err()), "wire {wire}");
    }
}

#[test]
fn a_client_that_gives_the_same_bits_in_all_circuits_is_accepted() {
    let (program, config) = (adder(1), small(Reuse::Labels));
    for (flips, second) in [(0, 311), (1, 310)] {
        let coalition = Some(Coalition::new(0, [flips; CIRCUITS]));
        let values = [Some(Bits::from_u128(77, 9)), Some(Bits::from_u128(second, 9))];
        let (results, _) = Scene { coalition, ..Scene::new(&program, 3, config) }.run(&values, None);
        for result in &results[..2] {
            assert_eq!(result.as_ref().unwrap(), &[Some(Bits::from_u128(388, 9))]);
        }
    }
}

#[test]
fn a_generator_that_is_a_client_does_not_learn_the_split_from_the_pad_that_fits() {
    let coalition = Coalition::new(BITS[2], in_circuits(|circuit| circuit < 8));
    // Either most evaluated circuits have another pad, or most do not.
    let splits = [[0, 1, 2, 3, 9], [0, 1, 9, 10, 11]];
    let [one, other] = splits.map(|evaluated| recorded(&adder(1), coalition.clone(), evaluated));
    assert!(one.1 == other.1, "the cloud's messages to the client");
    for (results, _) in [one, other] {
        assert_eq!(found(&results[2]), REFUSED);
        assert!(results.iter().all(|result| result.is_err()));
    }
}

#[test]
fn a_wrong_circuit_does_not_win_as_the_first_of_many_that_differ() {
    let mut program = library::find("lib:add(9)").unwrap();
    program.set_owner(InputId(1), Party(2));
    program.set_recipients(0, Recipients::Only(vec![Party(1), Party(2)]));
    let (program, config) = (Arc::new(program), small(Reuse::Labels));
    // The first client's pad differs in every circuit, and the first circuit has another input of the second client.
    let flips = std::array::from_fn(|circuit| circuit as u8);
    let coalition = Some(Coalition { exchanged: Some(0), ..Coalition::new(128, flips) });
    let scene = Scene { coalition, ..Scene::new(&program, 4, config) };
    let (results, _) = scene.run(&values(), states_of(config, [0, 3, 5, 9, 14]));
    assert!(results[2].is_err(), "a false sum");
    assert_eq!(found(&results[3]), REFUSED);
}

#[test]
fn nobody_gets_the_result_of_fewer_than_half_of_the_circuits() {
    let mut program = (*adder(1)).clone();
    program.set_recipients(0, Recipients::Only(vec![Party(1)]));
    let program = Arc::new(program);
    let evaluated = [0, 1, 2, 3, 4];
    let with = |tails: [u8; 5]| {
        let tails = std::array::from_fn(|circuit| tails.get(circuit).copied().unwrap_or(0));
        recorded(&program, Coalition { tails, ..Coalition::new(0, [0; CIRCUITS]) }, evaluated)
    };
    let (results, honest) = with([0; 5]);
    let sum = [Some(Bits::from_u128(388, 9))];
    assert_eq!(results[1].as_ref().unwrap(), &sum);
    let message_bytes = (9 + 128usize).div_ceil(8);
    let start = honest.len() - message_bytes;
    let (results, outvoted) = with([1, 2, 0, 0, 0]);
    assert_eq!((results[1].as_ref().unwrap(), &outvoted), (&sum.to_vec(), &honest));
    let (results, divided) = with([1, 1, 2, 2, 0]);
    assert_eq!(divided[..start], honest[..start]);
    let mut given = honest[start..].to_vec();
    for tail in [0, 1, 3] {
        given[0] ^= tail;
        assert!(divided[start..start + message_bytes] != given[..], "what circuits with {tail} gave");
    }
    assert_eq!(found(&results[1]), Some(Found::Rejected(checks::CLIENTS_TAG)));
    assert!(matches!(results[2], Err(ProtocolError::NoMajority(NoMajority { .. }))));
}
