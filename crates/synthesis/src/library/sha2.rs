//! SHA-2 (FIPS 180-4).
//!
//! Sums of several words are computed column by column, which takes fewer AND gates than a chain of adders; round
//! constants with zeros at the low end save more.

pub(super) mod hkdf;
pub(super) mod tls12;
pub(super) mod tls13;

use garblet_circuit::{CircuitError, Component, ComponentId, Party, Program, Recipients, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{Aim, Bit, Bytes, CircuitBuilder, Integer, ProgramBuilder, Unsigned, Wires};

/// - `sha256`, `sha512`: the compression functions, 22,271 and 57,572 AND gates. State, block and digest are byte strings as in the
///   standard: words with the first byte most significant.
/// - `sha256-message(n)`, `sha384-message(n)`, `sha512-message(n)`, `sha512-256-message(n)`: the digest of a message of n bytes: one compression per block
///   of 64 or 128 bytes of the padded message.
/// - `hmac-sha256(k, n)`: the tag of n bytes under a key of k bytes.
///
/// *Source*: FIPS 180-4, sections 5.1, 5.3 and 6.2 to 6.7; RFC 2104.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "sha256",
        summary: "the compression function of SHA-256 on party 0's state and party 1's block",
        parameters: &[],
        ands: "22271",
        and_count: |_| SHA256.ands,
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, _| SHA256.compression(c) },
    },
    Member {
        name: "sha256-message",
        summary: "SHA-256 of a message of party 0",
        parameters: &[MESSAGE],
        ands: "22271 ceil((bytes + 9) / 64)",
        and_count: |p| SHA256.message_ands(p[0]),
        build: Build::Program {
            size: |p| SHA256.size(p[0]),
            build: |program, p| SHA256.message(program, &INITIAL, 32, p[0]),
        },
    },
    Member {
        name: "sha512",
        summary: "the compression function of SHA-512 on party 0's state and party 1's block",
        parameters: &[],
        ands: "57572",
        and_count: |_| SHA512.ands,
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, _| SHA512.compression(c) },
    },
    Member {
        name: "sha512-message",
        summary: "SHA-512 of a message of party 0",
        parameters: &[LONG_MESSAGE],
        ands: "57572 ceil((bytes + 17) / 128)",
        and_count: |p| SHA512.message_ands(p[0]),
        build: Build::Program {
            size: |p| SHA512.size(p[0]),
            build: |program, p| SHA512.message(program, &INITIAL, 64, p[0]),
        },
    },
    Member {
        name: "sha384-message",
        summary: "SHA-384 of a message of party 0",
        parameters: &[LONG_MESSAGE],
        ands: "57572 ceil((bytes + 17) / 128)",
        and_count: |p| SHA512.message_ands(p[0]),
        build: Build::Program {
            size: |p| SHA512.size(p[0]),
            build: |program, p| SHA512.message(program, &INITIAL_384, 48, p[0]),
        },
    },
    Member {
        name: "sha512-256-message",
        summary: "SHA-512/256 of a message of party 0",
        parameters: &[LONG_MESSAGE],
        ands: "57572 ceil((bytes + 17) / 128)",
        and_count: |p| SHA512.message_ands(p[0]),
        build: Build::Program {
            size: |p| SHA512.size(p[0]),
            build: |name, p| SHA512.message(name, &INITIAL_512_256, 32, p[0]),
        },
    },
    Member {
        name: "hmac-sha256",
        summary: "HMAC-SHA256 of party 1's message under party 0's key",
        parameters: &[Parameter::new("key_bytes", 32, 1, 64), MESSAGE],
        ands: "22271 (ceil((bytes + 73) / 64) + 2)",
        and_count: |p| SHA256.message_ands(64 + p[1]) + SHA256.message_ands(64 + 32),
        build: Build::Program { size: |p| SHA256.size(p[1]), build: |program, p| SHA256.hmac(program, p[0], p[1]) },
    },
];

/// Two blocks by default.
const MESSAGE: Parameter = Parameter::new("bytes", 64, 0, 1 << 27);
const LONG_MESSAGE: Parameter = Parameter::new("bytes", 112, 0, 1 << 27);

/// The hash functions with words of one size.
struct Family {
    /// The name of the compression function.
    name: &'static str,
    /// Bits of a word.
    width: usize,
    rounds: usize,
    /// Rotations of a and of e.
    big: [[usize; 3]; 2],
    /// Rotations and shifts of the words of the schedule.
    small: [([usize; 2], usize); 2],
    /// AND gates of a compression, by count.
    ands: u64,
}

const SHA256: Family = Family {
    name: "sha256",
    width: 32,
    rounds: 64,
    big: [[2, 13, 22], [6, 11, 25]],
    small: [([7, 18], 3), ([17, 19], 10)],
    ands: 22_271,
};

const SHA512: Family = Family {
    name: "sha512",
    width: 64,
    rounds: 80,
    big: [[28, 34, 39], [14, 18, 41]],
    small: [([1, 8], 7), ([19, 61], 6)],
    ands: 57_572,
};

/// The first 64 bits of the fractional parts of the square roots of the first 8 primes. The standard's words of 32 bits are the first halves.
#[rustfmt::skip]
pub(super) const INITIAL: [u64; 8] = [
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
];

/// The same of the ninth to sixteenth primes.
#[rustfmt::skip]
const INITIAL_384: [u64; 8] = [
    0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
    0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4,
];

/// Those of SHA-512/256, section 5.3.6.2.
#[rustfmt::skip]
const INITIAL_512_256: [u64; 8] = [
    0x22312194fc2bf72c, 0x9f555fa3c84c64c2, 0x2393b86b6f53b151, 0x963877195940eabd,
    0x96283ee2a88effe3, 0xbe5e1e2553863992, 0x2b0199fc2c85b8aa, 0x0eb72ddc81c52ca2,
];

/// The first 64 bits of the fractional parts of the cube roots of the first 80 primes. The standard's words of 32 bits are the first halves.
#[rustfmt::skip]
const ROUND: [u64; 80] = [
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
];

impl Family {
    /// Bytes of a block: sixteen words.
    fn block_bytes(&self) -> u64 {
        2 * self.width as u64
    }

    /// The number of compressions for a message: its bytes, one byte 0x80, and its length in two words.
    fn blocks(&self, bytes: u64) -> u64 {
        (bytes + 1 + self.width as u64 / 4).div_ceil(self.block_bytes())
    }

    fn message_ands(&self, bytes: u64) -> u64 {
        self.ands * self.blocks(bytes)
    }

    /// About the number of gates and instances.
    fn size(&self, bytes: u64) -> u64 {
        10 * self.ands + 8 * self.blocks(bytes)
    }

    /// A constant, of which the standard has the first bits.
    fn word(&self, constant: u64) -> Unsigned {
        Unsigned::constant((constant >> (64 - self.width)).into(), self.width)
    }

    fn compression(&self, mut c: CircuitBuilder) -> Result<Component, CircuitError> {
        c.reserve(6 * self.ands as usize);
        let state: Bytes = c.input("state", Type::Bytes(self.width as u32));
        let block: Bytes = c.input("block", Type::Bytes(self.block_bytes() as u32));
        let before: [Unsigned; 8] = to_words(&state, self.width).try_into().expect("eight words");
        let schedule = self.schedule(&mut c, to_words(&block, self.width));
        let mut working = before.clone();
        for (word, constant) in schedule.iter().zip(ROUND) {
            working = self.round(&mut c, &working, word, self.word(constant));
        }
        let after: Vec<Unsigned> = before.iter().zip(&working).map(|(a, b)| c.add(a, b)).collect();
        c.output("digest", &to_bytes(&after));
        c.finish()
    }

    /// Section 6.2.2, step 1.
    fn schedule(&self, c: &mut CircuitBuilder, block: Vec<Unsigned>) -> Vec<Unsigned> {
        let mut w = block;
        for t in 16..self.rounds {
            let s0 = small_sigma(c, &w[t - 15], self.small[0]);
            let s1 = small_sigma(c, &w[t - 2], self.small[1]);
            let next = c.sum(&[s1, w[t - 7].clone(), s0, w[t - 16].clone()], self.width);
            w.push(next);
        }
        w
    }

    /// Section 6.2.2, step 3; working variables a to h.
    fn round(
        &self,
        c: &mut CircuitBuilder,
        working: &[Unsigned; 8],
        word: &Unsigned,
        constant: Unsigned,
    ) -> [Unsigned; 8] {
        let [a, b, cc, d, e, f, g, h] = working;
        let sum1 = big_sigma(c, e, self.big[1]);
        let choice = choice(c, e, f, g);
        let terms = [h, &sum1, &choice, word, &constant].map(Unsigned::clone);
        let (next_e, t1) = match c.aim() {
            Aim::Size => {
                let t1 = c.sum(&terms, self.width);
                (c.add(d, &t1), vec![t1])
            }
            // Both sums take the terms of t1, so that neither waits for it.
            Aim::Depth => (c.sum(&[&terms[..], std::slice::from_ref(d)].concat(), self.width), terms.into()),
        };
        let sum0 = big_sigma(c, a, self.big[0]);
        let majority = majority(c, a, b, cc);
        let next_a = c.sum(&[&t1[..], &[sum0, majority]].concat(), self.width);
        [&next_a, a, b, cc, &next_e, e, f, g].map(Unsigned::clone)
    }

    /// The first bytes of the digest of a message.
    fn message(
        &self,
        mut p: ProgramBuilder,
        initial: &[u64; 8],
        digest: u32,
        bytes: u32,
    ) -> Result<Program, CircuitError> {
        let compression = p.component(self.compression(p.circuit(self.name))?);
        let message = p.input("message", Type::Bytes(bytes), Party(0))?;
        let state = self.digest(&mut p, compression, initial, message, bytes)?;
        p.output("digest", &state.slice(0, Type::Bytes(digest)), Recipients::All)?;
        Ok(p.finish())
    }

    /// RFC 2104: the digest of the key's outer block and the digest of its inner block and the message.
    fn hmac(&self, mut p: ProgramBuilder, key_bytes: u32, bytes: u32) -> Result<Program, CircuitError> {
        let (block, digest) = (self.block_bytes() as u32, self.width as u32);
        let compression = p.component(self.compression(p.circuit(self.name))?);
        let blocks = p.component(key_blocks(&p, key_bytes, block)?);
        let key = p.input("key", Type::Bytes(key_bytes), Party(0))?;
        let message = p.input("message", Type::Bytes(bytes), Party(1))?;
        let [inner, outer] = p.instance(blocks, &[&key])?.try_into().expect("two blocks");
        let inner = Wires::concat(Type::Bytes(block + bytes), [&inner, &message]);
        let inner = self.digest(&mut p, compression, &INITIAL, inner, block + bytes)?;
        let outer = Wires::concat(Type::Bytes(block + digest), [&outer, &inner]);
        let tag = self.digest(&mut p, compression, &INITIAL, outer, block + digest)?;
        p.output("tag", &tag, Recipients::All)?;
        Ok(p.finish())
    }

    /// The state after a whole message, which is padded here.
    fn digest(
        &self,
        p: &mut ProgramBuilder,
        compression: ComponentId,
        initial: &[u64; 8],
        message: Wires,
        bytes: u32,
    ) -> Result<Wires, CircuitError> {
        self.digest_from(p, compression, (self.initial(initial), 0), message, bytes)
    }

    /// The state that a hash begins with.
    fn initial(&self, words: &[u64; 8]) -> Wires {
        let word_bytes = self.width / 8;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes().into_iter().take(word_bytes)).collect();
        Wires::constant_bytes(&bytes)
    }

    /// The same from a state on, after whole blocks of so many bytes.
    fn digest_from(
        &self,
        p: &mut ProgramBuilder,
        compression: ComponentId,
        (mut state, before): (Wires, u32),
        message: Wires,
        bytes: u32,
    ) -> Result<Wires, CircuitError> {
        let block_bytes = self.block_bytes() as u32;
        let blocks = self.blocks((before + bytes).into()) as u32 - before / block_bytes;
        let mut padding = vec![0; (block_bytes * blocks - bytes) as usize];
        padding[0] = 0x80;
        let length = padding.len() - 8;
        padding[length..].copy_from_slice(&(8 * u64::from(before + bytes)).to_be_bytes());
        let padded = [message, Wires::constant_bytes(&padding)];
        for k in 0..blocks {
            let block = slice(&padded, bytes, [block_bytes * k, block_bytes * (k + 1)]);
            state = p.instance(compression, &[&state, &block])?.remove(0);
        }
        Ok(state)
    }
}

/// The inner and the outer block of a key.
fn key_blocks(p: &ProgramBuilder, key_bytes: u32, block_bytes: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit("hmac-key");
    let Bytes(mut key) = c.input("key", Type::Bytes(key_bytes));
    key.resize(8 * block_bytes as usize, Bit::FALSE);
    for (name, byte) in [("inner", 0x36), ("outer", 0x5c)] {
        let with = c.xor_words(&Bytes(key.clone()), &Bytes::constant(&vec![byte; block_bytes as usize]));
        c.output(name, &with);
    }
    c.finish()
}

fn big_sigma(c: &mut CircuitBuilder, x: &Unsigned, rotations: [usize; 3]) -> Unsigned {
    let [p, q, r] = rotations.map(|amount| c.rotate_right(x, amount));
    let sum = c.xor_words(&p, &q);
    c.xor_words(&sum, &r)
}

fn small_sigma(c: &mut CircuitBuilder, x: &Unsigned, (rotations, shift): ([usize; 2], usize)) -> Unsigned {
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

/// Bytes from one place to another of a message of this many bytes and its padding.
pub(super) fn slice([message, padding]: &[Wires; 2], bytes: u32, [start, end]: [u32; 2]) -> Wires {
    let of_message = message.slice(8 * u64::from(start.min(bytes)), Type::Bytes(end.min(bytes) - start.min(bytes)));
    let (first, last) = (start.max(bytes) - bytes, end.max(bytes) - bytes);
    let of_padding = padding.slice(8 * u64::from(first), Type::Bytes(last - first));
    Wires::concat(Type::Bytes(end - start), [&of_message, &of_padding])
}

/// Words of this many bits, the most significant byte first.
fn to_words(bytes: &Bytes, width: usize) -> Vec<Unsigned> {
    let word = |bits: &[Bit]| Unsigned::new(bits.rchunks(8).flatten().copied().collect());
    bytes.0.chunks(width).map(word).collect()
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

    fn digest(name: &str, message: &[u8]) -> String {
        let program = library::find(&format!("{name}-message({})", message.len())).unwrap();
        let out = simulate::program(&program, &[bytes_to_bits(message)]);
        bits_to_bytes(&out[0]).iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn fips_180_examples() {
        assert_eq!(digest("sha256", b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(digest("sha256", b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            digest("sha256", b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
    }

    #[test]
    fn padding_at_the_block_boundaries() {
        // SHA-256 of this many letters `a`, computed with another program.
        for (n, expected) in DIGESTS_OF_A {
            assert_eq!(digest("sha256", &vec![b'a'; n]), expected, "{n} bytes");
            let instances = library::find(&format!("sha256-message({n})")).unwrap().instance_count();
            assert_eq!(instances as u64, SHA256.blocks(n as u64));
        }
    }

    #[test]
    fn a_compression_by_itself() {
        let program = library::find("sha256").unwrap();
        let mut block = [0; 64];
        block[..4].copy_from_slice(b"abc\x80");
        block[63] = 24;
        let state: Vec<u8> = INITIAL.iter().flat_map(|word| word.to_be_bytes().into_iter().take(4)).collect();
        let out = simulate::program(&program, &[bytes_to_bits(&state), bytes_to_bits(&block)]);
        assert_eq!(bits_to_bytes(&out[0])[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    #[test]
    fn fips_180_examples_with_long_words() {
        let two_blocks = b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
        for (name, message, expected) in [
            (
                "sha384",
                &b"abc"[..],
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
            ),
            (
                "sha512",
                &b"abc"[..],
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            (
                "sha384",
                two_blocks,
                "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039",
            ),
            (
                "sha512",
                two_blocks,
                "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
            ),
        ] {
            assert_eq!(digest(name, message), expected);
        }
    }

    #[test]
    fn rfc_4231_tags() {
        // Test cases 1, 2 and 4.
        let fourth: Vec<u8> = (1..=25).collect();
        for (key, message, expected) in [
            (&[0x0b; 20][..], &b"Hi There"[..], "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (&fourth, &[0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        ] {
            let program = library::find(&format!("hmac-sha256({}, {})", key.len(), message.len())).unwrap();
            let out = simulate::program(&program, &[bytes_to_bits(key), bytes_to_bits(message)]);
            let tag: String = bits_to_bytes(&out[0]).iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(tag, expected);
        }
    }

    #[test]
    fn sha_512_256_at_the_borders_of_blocks() {
        // Of `abc` in the examples of FIPS 180-4; the others are of the module `hashlib` of Python.
        for (message, expected) in [
            (&b"abc"[..], "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
            (b"", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
            (&[b'a'; 111], "0239e429f98d0ed61ee8e2a7c30afe98c1c3a80ce5dff62a107e9c538f7632ce"),
            (&[b'a'; 112], "9216b5303edb66504570bee90e48ea5beaa5e9fe9f760bbd3e0460559fc005f6"),
        ] {
            assert_eq!(digest("sha512-256", message), expected, "{} bytes", message.len());
        }
    }

    #[test]
    fn padding_at_the_boundaries_of_long_blocks() {
        // The first 16 bytes of SHA-384 and SHA-512 of this many letters `a`, computed with another program.
        for (n, short, long) in [
            (111, "3c37955051cb5c3026f94d551d5b5e2a", "fa9121c7b32b9e01733d034cfc78cbf6"),
            (112, "187d4e07cb306103c69967bf544d0dfb", "c01d080efd492776a1c43bd23dd99d0a"),
            (127, "9bd06b1763c2cf7aef40e795dc65bc96", "828613968b501dc00a97e08c73b118aa"),
            (128, "edb12730a366098b3b2beac75a3bef1b", "b73d1929aa615934e61a871596b3f3b3"),
            (129, "39b6f5a7b0e781dbc419f72e49b30eaa", "4f681e0bd53cda4b5a2041cc8a06f2ea"),
            (239, "e247c35f4bc1aa38026f8880c8c97305", "52c853cb8d907f3d4d6b889beb027985"),
            (240, "4d86957beab348a29180f02d02564ac1", "4c296d90c61052a62ffb1dd196f1b7b0"),
        ] {
            let message = vec![b'a'; n];
            assert!(
                digest("sha384", &message).starts_with(short) && digest("sha512", &message).starts_with(long),
                "{n}"
            );
        }
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
