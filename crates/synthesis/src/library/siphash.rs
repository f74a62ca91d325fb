//! SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012).

use garblet_circuit::{CircuitError, Component, Party, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{Bit, Bytes, CircuitBuilder, Integer, Unsigned};

/// - `siphash(n)`: the tag of n bytes of party 1 under party 0's key.
///
/// *Source*: section 2 of the paper.
pub(super) const MEMBERS: &[Member] = &[Member {
    name: "siphash",
    summary: "SipHash-2-4 of party 1's message under party 0's key",
    parameters: &[Parameter::new("bytes", 16, 0, 1 << 12)],
    ands: "504 floor(bytes / 8) + 1512",
    and_count: |p| 2 * ROUND_ANDS * (p[0] / 8 + 1) + 4 * ROUND_ANDS,
    build: Build::Component { owners: &[Party(0), Party(1)], build: |c, p| siphash(c, p[0]) },
}];

/// AND gates of a round: four additions.
const ROUND_ANDS: u64 = 4 * 63;

/// The text `somepseudorandomlygeneratedbytes`.
const CONSTANTS: [u64; 4] =
    [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573];

fn siphash(mut c: CircuitBuilder, bytes: u32) -> Result<Component, CircuitError> {
    let key: Bytes = c.input("key", Type::Bytes(16));
    let message: Bytes = c.input("message", Type::Bytes(bytes));
    let key: Vec<Unsigned> = key.0.chunks(64).map(|bits| Unsigned::new(bits.to_vec())).collect();
    let mut v: [Unsigned; 4] = std::array::from_fn(|i| {
        let constant = Unsigned::constant(CONSTANTS[i].into(), 64);
        c.xor_words(&key[i % 2], &constant)
    });
    let mut bits = message.0;
    bits.resize(64 * (bytes as usize / 8) + 56, Bit::FALSE);
    bits.extend((0..8).map(|bit| Bit::from(bytes >> bit & 1 == 1)));
    for word in bits.chunks(64) {
        let word = Unsigned::new(word.to_vec());
        v[3] = c.xor_words(&v[3], &word);
        (0..2).for_each(|_| round(&mut c, &mut v));
        v[0] = c.xor_words(&v[0], &word);
    }
    v[2] = c.xor_words(&v[2], &Unsigned::constant(0xff, 64));
    (0..4).for_each(|_| round(&mut c, &mut v));
    let [a, b, cc, d] = v;
    let (left, right) = (c.xor_words(&a, &b), c.xor_words(&cc, &d));
    let tag = c.xor_words(&left, &right);
    c.output("tag", &Bytes(tag.bits().to_vec()));
    c.finish()
}

/// The function SipRound: each step adds the second word to the first, turns the second and adds them without carries.
fn round(c: &mut CircuitBuilder, v: &mut [Unsigned; 4]) {
    for (a, b, amount, turns) in [(0, 1, 13, true), (2, 3, 16, false), (0, 3, 21, false), (2, 1, 17, true)] {
        v[a] = c.add(&v[a], &v[b]);
        let turned = c.rotate_left(&v[b], amount);
        v[b] = c.xor_words(&turned, &v[a]);
        if turns {
            v[a] = c.rotate_left(&v[a], 32);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        builder::simulate::{self, bits_to_bytes, bytes_to_bits},
        library,
    };

    #[test]
    fn vectors_of_the_reference() {
        // Messages 00 01 02 … of some lengths under the key 00 … 0f: the table `vectors_sip64` of the authors' code; 15 bytes are appendix A of the paper.
        for (bytes, expected) in [
            (0u8, [0x31, 0x0e, 0x0e, 0xdd, 0x47, 0xdb, 0x6f, 0x72]),
            (1, [0xfd, 0x67, 0xdc, 0x93, 0xc5, 0x39, 0xf8, 0x74]),
            (8, [0x62, 0x24, 0x93, 0x9a, 0x79, 0xf5, 0xf5, 0x93]),
            (15, [0xe5, 0x45, 0xbe, 0x49, 0x61, 0xca, 0x29, 0xa1]),
        ] {
            let program = library::find(&format!("siphash({bytes})")).unwrap();
            let (key, message): (Vec<u8>, Vec<u8>) = ((0..16).collect(), (0..bytes).collect());
            let out = simulate::program(&program, &[bytes_to_bits(&key), bytes_to_bits(&message)]);
            assert_eq!(bits_to_bytes(&out[0]), expected, "{bytes} bytes");
        }
    }
}
