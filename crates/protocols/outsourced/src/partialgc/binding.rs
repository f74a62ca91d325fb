//! Hashes of clients' wires, which must be the same in every circuit that counts.
//!
//! The transfer by itself binds a client's input while client or generator is honest: together they choose the cipher key and both ciphertexts, so
//! the client can select either label of a wire, separately in each circuit. So once the cloud has the labels of all circuits, it samples a
//! matrix `T`, and reads `T c + r` off the labels of each circuit: `c` are the values of a client's encoded wires, `r` those of one more wire per row. The
//! generator sends the select bits of the zero labels, which are checked.
//!
//! - *Binding.* Labels open commitments, so in a circuit that would pass a check the value is exact. Values that differed between two of these
//!   before `T` was sampled have the same hash with probability `2^-rows`.
//! - *Hiding.* `r` is uniform for every `T`.
//! - *Selective failure.* In an unchecked circuit a generator may give both labels of some wires the same select bit, and send other select bits for the hash:
//!   then it passes if it guesses `T` times these wires. With fewer wires than the distance of the encoding, this reveals nothing about the input. With more,
//!   at least `distance - 1` bits are uniform for every input, so a guess is right with probability at most `2^-rows` and `2^(1 - distance)`, in all circuits
//!   together. This is why wires are hashed and not input bits, which `r` does not hide part by part: a generator that spoils all wires of one part of the
//!   encoding would learn whether it guessed the bits there.
//!
//! The cloud's own input needs no hash: it selects the same value in each circuit itself, and checked orders ensure that it gets it.

use garblet_circuit::Bits;
use garblet_primitives::{Block, UniversalHash};
use garblet_protocol::domain::SessionId;
use zeroize::Zeroizing;

use super::{Step, plan::Plan};

/// The hashes of all clients' wires in a run.
pub(crate) struct ClientHashes(Vec<UniversalHash>);

impl ClientHashes {
    /// The hashes for a challenge, a different one for each client.
    ///
    /// *Unique*: the cloud samples the challenge after it has the labels of all circuits.
    pub(crate) fn new(plan: &Plan, run: &SessionId, challenge: Block) -> Self {
        let seed = |party| run.domain(party, Step::ClientHashes as u8).key(challenge);
        ClientHashes(plan.clients().iter().map(|client| client.hash(seed(client.party))).collect())
    }

    /// The select bits of the sums, client by client, of labels of all of the evaluator's wires.
    pub(crate) fn select_bits(&self, plan: &Plan, labels: &[Block]) -> Bits {
        let mut bits = Bits::with_capacity(plan.client_hash_bits());
        for (client, hash) in plan.clients().iter().zip(&self.0) {
            let mut own = Zeroizing::new(Vec::with_capacity(client.wire_count()));
            own.extend(client.wires().map(|wire| labels[wire]));
            hash.sums(&own).iter().for_each(|sum| bits.push(sum.lsb()));
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use garblet_primitives::Prg;
    use garblet_seeded::encoding::Encoding;

    use super::*;

    const ROWS: usize = 4;
    const DISTANCE: usize = 5;
    const MATRICES: u128 = 200;

    /// All choices that encode an input.
    fn encoded(encoding: &Encoding, input: u128) -> Vec<Bits> {
        let further = encoding.wires() - encoding.bits();
        let choices = |others: u128| {
            let mut random = Bits::zeros(encoding.bits());
            random.append(&Bits::from_u128(others, further));
            let (choices, _) = encoding.choose(&Bits::from_u128(input, encoding.bits()), &random.iter().collect());
            choices.public("a test").collect()
        };
        (0..1 << further).map(choices).collect()
    }

    /// The probability of each sum of the columns of these wires, over all encodings of an input.
    fn sums(matrix: &UniversalHash, wires: &[bool], choices: &[Bits]) -> HashMap<Vec<u8>, f64> {
        let mut sums = HashMap::new();
        for bits in choices {
            let mut bits: Bits = bits.iter().zip(wires).map(|(choice, &is_of)| choice & is_of).collect();
            bits.append(&Bits::zeros(ROWS));
            *sums.entry(matrix.of(&bits.to_bytes())).or_default() += 1.0 / choices.len() as f64;
        }
        sums
    }

    fn best(sums: &HashMap<Vec<u8>, f64>) -> f64 {
        sums.values().copied().fold(0.0, f64::max)
    }

    /// A generator that spoils wires passes only if it guesses the sum of their columns.
    #[test]
    fn a_generators_guess_reveals_nothing_about_the_input() {
        let encoding = Encoding::independent(2, DISTANCE);
        let all = encoding.wires();
        let of_inputs: Vec<Vec<Bits>> = (0..4).map(|input| encoded(&encoding, input)).collect();
        let mut rng = Prg::new(Block::ONES);
        for size in (1..DISTANCE).chain([DISTANCE + 1, all]) {
            let mut mean = 0.0;
            for seed in 0..MATRICES {
                let matrix = UniversalHash::new(ROWS, all, Block::from_u128(seed));
                let mut wires = vec![true; size];
                wires.resize(all, false);
                // Any order works.
                wires.sort_by_cached_key(|_| rng.next_block().to_bytes());
                let of_inputs: Vec<_> = of_inputs.iter().map(|choices| sums(&matrix, &wires, choices)).collect();
                if size < DISTANCE {
                    assert!(of_inputs.iter().all(|sums| *sums == of_inputs[0]), "{size} wires");
                }
                mean += of_inputs.iter().map(best).fold(0.0, f64::max) / MATRICES as f64;
            }
            let uniform = if size < DISTANCE { size } else { DISTANCE - 1 };
            let bound = (-(ROWS as f64)).exp2() + (-(uniform as f64)).exp2();
            assert!(mean < 1.3 * bound, "{size} wires: {mean}, {bound}");
        }
    }

    /// The reason for hashing wires: a hash of bits does not hide the bits of a single part.
    #[test]
    fn a_hash_of_bits_would_confirm_a_guess_of_a_part() {
        let part = Encoding::independent(1, DISTANCE);
        let bits = UniversalHash::new(ROWS, 1, Block::from_u128(6));
        let of_bits = [0, 1].map(|input| bits.of(&[input]));
        assert_ne!(of_bits[0], of_bits[1], "for every encoding of the input");
        let wires = UniversalHash::new(ROWS, part.wires(), Block::from_u128(6));
        for input in [0, 1] {
            let of_wires = sums(&wires, &vec![true; part.wires()], &encoded(&part, input));
            assert!(best(&of_wires) < 0.3, "{}", best(&of_wires));
        }
    }
}
