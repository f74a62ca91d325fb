//! SHA-256 (FIPS 180-4).
//!
//! Sums of several words are computed column by column, which takes fewer AND gates than a chain of adders; round
//! constants with zeros at the low end save more.

use garblet_circuit::{CircuitError, Component, Party, Program, Recipients, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{Bit, Bytes, CircuitBuilder, Integer, ProgramBuilder, Unsigned, Wires};

/// AND gates of one compression, by count.
const COMPRESSION_ANDS: u64 = 22_271;

/// - `sha256`: the compression function, 22,271 AND gates. State, block and digest are byte strings as in the standard:
///   words with the first byte most significant.
/// - `sha256-message(n)`: the digest of a message of n bytes: one compression per block of 64 bytes of the padded
///   message.
///
/// *Source*: FIPS 180-4, sections 5.1.1, 5.3.3 and 6.2.2.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "sha256",
        summary: "the compression function of SHA-256 on party 0's state and party 1's block",
        parameters: &[],
        ands: "22271",
        and_count: |_| COMPRESSION_ANDS,
        build: Build::Component { owners: &[Party(0), Party(1)], build: |name, _| compression(name) },
    },
    Member {
        name: "sha256-message",
        summary: "SHA-256 of a message of party 0",
        parameters: &[Parameter::new("bytes", 64, 0, 1 << 27)],
        ands: "22271 ceil((bytes + 9) / 64)",
        and_count: |p| COMPRESSION_ANDS * blocks(p[0]),
        build: Build::Program { size: |p| 200_000 + 8 * blocks(p[0]), build: |name, p| message(name, p[0]) },
    },
];

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
const INITIAL: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
#[rustfmt::skip]
const ROUND: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// The number of compressions for a message: its bytes, one byte 0x80, and 8 bytes of length, in blocks of 64.
fn blocks(bytes: u64) -> u64 {
    (bytes + 9).div_ceil(64)
}

fn compression(name: String) -> Result<Component, CircuitError> {
    let mut c = CircuitBuilder::new(name);
    c.reserve(130_000);
    let state: Bytes = c.input("state", Type::Bytes(32));
    let block: Bytes = c.input("block", Type::Bytes(64));
    let before: [Unsigned; 8] = to_words(&state).try_into().expect("eight words");
    let schedule = schedule(&mut c, to_words(&block));
    let mut working = before.clone();
    for (word, constant) in schedule.iter().zip(ROUND) {
        working = round(&mut c, &working, word, constant);
    }
    let after: Vec<Unsigned> = before.iter().zip(&working).map(|(a, b)| c.add(a, b)).collect();
    c.output("digest", &to_bytes(&after));
    c.finish()
}

/// Section 6.2.2, step 1.
fn schedule(c: &mut CircuitBuilder, block: Vec<Unsigned>) -> Vec<Unsigned> {
    let mut w = block;
    for t in 16..64 {
        let s0 = small_sigma(c, &w[t - 15], [7, 18], 3);
        let s1 = small_sigma(c, &w[t - 2], [17, 19], 10);
        let next = c.sum(&[s1, w[t - 7].clone(), s0, w[t - 16].clone()], 32);
        w.push(next);
    }
    w
}

/// Section 6.2.2, step 3; working variables a to h.
fn round(c: &mut CircuitBuilder, working: &[Unsigned; 8], word: &Unsigned, constant: u32) -> [Unsigned; 8] {
    let [a, b, cc, d, e, f, g, h] = working;
    let sum1 = big_sigma(c, e, [6, 11, 25]);
    let choice = choice(c, e, f, g);
    let constant = Unsigned::constant(constant.into(), 32);
    let t1 = c.sum(&[h.clone(), sum1, choice, word.clone(), constant], 32);
    let next_e = c.add(d, &t1);
    let sum0 = big_sigma(c, a, [2, 13, 22]);
    let majority = majority(c, a, b, cc);
    let next_a = c.sum(&[t1, sum0, majority], 32);
    [&next_a, a, b, cc, &next_e, e, f, g].map(Unsigned::clone)
}

fn big_sigma(c: &mut CircuitBuilder, x: &Unsigned, rotations: [usize; 3]) -> Unsigned {
    let [p, q, r] = rotations.map(|amount| c.rotate_right(x, amount));
    let sum = c.xor_words(&p, &q);
    c.xor_words(&sum, &r)
}

fn small_sigma(c: &mut CircuitBuilder, x: &Unsigned, rotations: [usize; 2], shift: usize) -> Unsigned {
    let [p, q] = rotations.map(|amount| c.rotate_right(x, amount));
    let sum = c.xor_words(&p, &q);
    let shifted = c.shift_right(x, shift);
    c.xor_words(&sum, &shifted)
}

/// Bits of `y` where `x` is one, of `z` where it is zero; one AND each.
fn choice(c: &mut CircuitBuilder, x: &Unsigned, y: &Unsigned, z: &Unsigned) -> Unsigned {
    let differ = c.xor_words(y, z);
    let taken = c.and_words(x, &differ);
    c.xor_words(&taken, z)
}

/// The majority bit of three words; one AND each.
fn majority(c: &mut CircuitBuilder, x: &Unsigned, y: &Unsigned, z: &Unsigned) -> Unsigned {
    // In the next round x is y and y is z, so the builder finds `y ^ z` there already.
    let (xy, yz) = (c.xor_words(x, y), c.xor_words(y, z));
    let both = c.and_words(&xy, &yz);
    c.xor_words(&both, y)
}

fn message(name: String, bytes: u32) -> Result<Program, CircuitError> {
    let mut p = ProgramBuilder::new(name);
    let compression = p.component(compression("sha256".into())?);
    let message = p.input("message", Type::Bytes(bytes), Party(0))?;
    let blocks = blocks(bytes.into()) as u32;
    let mut padding = vec![0; (64 * blocks - bytes) as usize];
    padding[0] = 0x80;
    let length = padding.len() - 8;
    padding[length..].copy_from_slice(&(8 * u64::from(bytes)).to_be_bytes());
    let padded = [message, Wires::constant_bytes(&padding)];

    let initial: Vec<u8> = INITIAL.iter().flat_map(|word| word.to_be_bytes()).collect();
    let mut state = Wires::constant_bytes(&initial);
    for k in 0..blocks {
        let block = block(&padded, bytes, k);
        state = p.instance(compression, &[&state, &block])?.remove(0);
    }
    p.output("digest", &state, Recipients::All)?;
    Ok(p.finish())
}

/// Block `k` of a message of this many bytes and its padding.
fn block([message, padding]: &[Wires; 2], bytes: u32, k: u32) -> Wires {
    let (start, end) = (64 * k, 64 * (k + 1));
    let of_message = message.slice(8 * u64::from(start.min(bytes)), Type::Bytes(end.min(bytes) - start.min(bytes)));
    let (first, last) = (start.max(bytes) - bytes, end.max(bytes) - bytes);
    let of_padding = padding.slice(8 * u64::from(first), Type::Bytes(last - first));
    Wires::concat(Type::Bytes(64), [&of_message, &of_padding])
}

/// Words of four bytes, most significant first.
fn to_words(bytes: &Bytes) -> Vec<Unsigned> {
    let word = |bits: &[Bit]| Unsigned::new(bits.rchunks(8).flatten().copied().collect());
    bytes.0.chunks(32).map(word).collect()
}

fn to_bytes(words: &[Unsigned]) -> Bytes {
    Bytes(words.iter().flat_map(|word| word.bits().rchunks(8).flatten().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        builder::simulate::{self, bits_to_bytes, bytes_to_bits},
        library,
    };

    fn digest(message: &[u8]) -> String {
        let program = library::find(&format!("sha256-message({})", message.len())).unwrap();
        let out = simulate::program(&program, &[bytes_to_bits(message)]);
        bits_to_bytes(&out[0]).iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn fips_180_examples() {
        assert_eq!(digest(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(digest(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            digest(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
    }

    #[test]
    fn padding_at_the_block_boundaries() {
        // SHA-256 of this many letters `a`, computed with another program.
        for (n, expected) in DIGESTS_OF_A {
            assert_eq!(digest(&vec![b'a'; n]), expected, "{n} bytes");
            let instances = library::find(&format!("sha256-message({n})")).unwrap().instance_count();
            assert_eq!(instances as u64, blocks(n as u64));
        }
    }

    #[test]
    fn a_compression_by_itself() {
        let program = library::find("sha256").unwrap();
        let mut block = [0; 64];
        block[..4].copy_from_slice(b"abc\x80");
        block[63] = 24;
        let state: Vec<u8> = INITIAL.iter().flat_map(|word| word.to_be_bytes()).collect();
        let out = simulate::program(&program, &[bytes_to_bits(&state), bytes_to_bits(&block)]);
        assert_eq!(bits_to_bytes(&out[0])[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    const DIGESTS_OF_A: [(usize, &str); 8] = [
        (54, "a3f01b6939256127582ac8ae9fb47a382a244680806a3f613a118851c1ca1d47"),
        (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
        (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"),
        (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
        (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
    ];
}
