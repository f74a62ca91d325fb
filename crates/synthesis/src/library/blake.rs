//! BLAKE2b (RFC 7693) and BLAKE3 (O'Connor, Aumasson, Neves and Wilcox-O'Hearn 2020).

use garblet_circuit::{CircuitError, Component, ComponentId, Party, Program, Recipients, Type};

use super::{
    member::{Build, Member, Parameter},
    sha2::INITIAL,
};
use crate::builder::{Bytes, CircuitBuilder, Integer, ProgramBuilder, Unsigned, Wires};

/// - `blake2b-message(n, k)`: the first k bytes of the digest of n bytes; k is part of what is hashed.
/// - `blake3-message(n)`: the digest of n bytes, as a tree of chunks of 1,024 bytes.
///
/// *Source*: RFC 7693, section 3; sections 2.1 to 2.5 of the specification of BLAKE3.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "blake2b-message",
        summary: "BLAKE2b of a message of party 0",
        parameters: &[Parameter::new("bytes", 200, 0, 1 << 27), Parameter::new("output", 64, 1, 64)],
        ands: "36089 max(ceil(bytes / 128), 1)",
        and_count: |p| BLAKE2B_ANDS * p[0].div_ceil(128).max(1),
        build: Build::Program { size: |p| 400_000 + p[0], build: |program, p| blake2b(program, p[0], p[1]) },
    },
    Member {
        name: "blake3-message",
        summary: "BLAKE3 of a message of party 0",
        parameters: &[Parameter::new("bytes", 1100, 0, 1 << 26)],
        ands: "10298 (max(ceil(bytes / 64), 1) + max(ceil(bytes / 1024), 1) - 1)",
        and_count: |p| BLAKE3_ANDS * (p[0].div_ceil(64).max(1) + p[0].div_ceil(CHUNK.into()).max(1) - 1),
        build: Build::Program { size: |p| 200_000 + p[0], build: |program, p| blake3(program, p[0]) },
    },
];

/// AND gates of a compression.
const BLAKE2B_ANDS: u64 = 36_089;
const BLAKE3_ANDS: u64 = 10_298;

/// The order of the words of a message in ten rounds of BLAKE2b.
const ORDERS: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
/// The order in which each round of BLAKE3 takes the words of the one before.
const NEXT: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];

/// The rotations of the function G.
const TURNS_64: [usize; 4] = [32, 24, 16, 63];
const TURNS_32: [usize; 4] = [16, 12, 8, 7];

/// Columns and diagonals of the state of four rows of four words.
const QUARTERS: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// A round: the function G on columns and diagonals, each with two words of the message.
fn round(c: &mut CircuitBuilder, state: &mut [Unsigned], message: &[Unsigned], turns: [usize; 4]) {
    let width = message[0].width();
    for ([a, b, cc, d], words) in QUARTERS.into_iter().zip(message.chunks(2)) {
        for (word, [first, second]) in words.iter().zip([[turns[0], turns[1]], [turns[2], turns[3]]]) {
            state[a] = c.sum(&[state[a].clone(), state[b].clone(), word.clone()], width);
            let mixed = c.xor_words(&state[d], &state[a]);
            state[d] = c.rotate_right(&mixed, first);
            state[cc] = c.add(&state[cc], &state[d]);
            let mixed = c.xor_words(&state[b], &state[cc]);
            state[b] = c.rotate_right(&mixed, second);
        }
    }
}

/// Words of this many bits, the least significant byte first.
fn words(bytes: &Bytes, width: usize) -> Vec<Unsigned> {
    bytes.0.chunks(width).map(|bits| Unsigned::new(bits.to_vec())).collect()
}

/// RFC 7693, section 3.2. The count of bytes so far has 64 bits, and `last` is all ones for the last block.
fn compression_of_blake2b(mut c: CircuitBuilder) -> Result<Component, CircuitError> {
    c.reserve(200_000);
    let state: Bytes = c.input("state", Type::Bytes(64));
    let block: Bytes = c.input("block", Type::Bytes(128));
    let count: Unsigned = c.input("count", Type::Unsigned(64));
    let last: Unsigned = c.input("last", Type::Unsigned(64));
    let before = words(&state, 64);
    let message = words(&block, 64);
    let mut v = before.clone();
    v.extend(INITIAL.map(|word| Unsigned::constant(word.into(), 64)));
    v[12] = c.xor_words(&v[12], &count);
    v[14] = c.xor_words(&v[14], &last);
    for k in 0..12 {
        let message: Vec<Unsigned> = ORDERS[k % 10].iter().map(|&at| message[at].clone()).collect();
        round(&mut c, &mut v, &message, TURNS_64);
    }
    let mut bits = Vec::new();
    for (k, before) in before.iter().enumerate() {
        let both = c.xor_words(&v[k], &v[k + 8]);
        bits.extend_from_slice(c.xor_words(before, &both).bits());
    }
    c.output("state", &Bytes(bits));
    c.finish()
}

/// RFC 7693, section 3.3, without a key.
fn blake2b(mut p: ProgramBuilder, bytes: u32, output: u32) -> Result<Program, CircuitError> {
    let compression = p.component(compression_of_blake2b(p.circuit("blake2b"))?);
    let message = p.input("message", Type::Bytes(bytes), Party(0))?;
    let blocks = bytes.div_ceil(128).max(1);
    let padded = padded(&message, bytes, 128 * blocks);
    let mut initial = INITIAL;
    initial[0] ^= 0x0101_0000 ^ u64::from(output);
    let mut state = Wires::constant_bytes(&initial.map(u64::to_le_bytes).concat());
    for k in 0..blocks {
        let block = padded.slice(1024 * u64::from(k), Type::Bytes(128));
        let count = number(64, u64::from(bytes.min(128 * (k + 1))));
        let last = number(64, if k + 1 == blocks { u64::MAX } else { 0 });
        state = p.instance(compression, &[&state, &block, &count, &last])?.remove(0);
    }
    p.output("digest", &state.slice(0, Type::Bytes(output)), Recipients::All)?;
    Ok(p.finish())
}

/// The message with zeros after it.
fn padded(message: &Wires, bytes: u32, whole: u32) -> Wires {
    Wires::concat(Type::Bytes(whole), [message, &Wires::constant_bytes(&vec![0; (whole - bytes) as usize])])
}

fn number(width: u32, value: u64) -> Wires {
    Wires::constant(Type::Unsigned(width), |bit| value >> bit & 1 == 1)
}

/// Bytes of a chunk of BLAKE3.
const CHUNK: u32 = 1024;
/// Flags of BLAKE3.
const CHUNK_START: u64 = 1;
const CHUNK_END: u64 = 2;
const PARENT: u64 = 4;
const ROOT: u64 = 8;

/// Section 2.2: the first eight words.
fn compression_of_blake3(mut c: CircuitBuilder) -> Result<Component, CircuitError> {
    c.reserve(60_000);
    let state: Bytes = c.input("state", Type::Bytes(32));
    let block: Bytes = c.input("block", Type::Bytes(64));
    let counter: Bytes = c.input("counter", Type::Bytes(8));
    let length: Unsigned = c.input("length", Type::Unsigned(32));
    let flags: Unsigned = c.input("flags", Type::Unsigned(32));
    let mut message = words(&block, 32);
    let mut v = words(&state, 32);
    v.extend(INITIAL[..4].iter().map(|word| Unsigned::constant((word >> 32).into(), 32)));
    v.extend(words(&counter, 32));
    v.extend([length, flags]);
    for k in 0..7 {
        if k > 0 {
            message = NEXT.iter().map(|&at| message[at].clone()).collect();
        }
        round(&mut c, &mut v, &message, TURNS_32);
    }
    let mut bits = Vec::new();
    for k in 0..8 {
        bits.extend_from_slice(c.xor_words(&v[k], &v[k + 8]).bits());
    }
    c.output("state", &Bytes(bits));
    c.finish()
}

/// A tree of BLAKE3 in a program.
struct Tree {
    compression: ComponentId,
    message: Wires,
    bytes: u32,
}

impl Tree {
    /// Section 2.5: the chaining value of the chunks from one number to another; `root` is set for all of them.
    fn node(&self, p: &mut ProgramBuilder, [from, to]: [u32; 2], root: u64) -> Result<Wires, CircuitError> {
        if to - from == 1 {
            return self.chunk(p, from, root);
        }
        // The left half is the largest power of two that leaves some to the right.
        let middle = from + (to - from).next_power_of_two() / 2;
        let (left, right) = (self.node(p, [from, middle], 0)?, self.node(p, [middle, to], 0)?);
        let block = Wires::concat(Type::Bytes(64), [&left, &right]);
        self.compress(p, &initial(), &block, [0, 64, PARENT | root])
    }

    /// Section 2.4.
    fn chunk(&self, p: &mut ProgramBuilder, number: u32, root: u64) -> Result<Wires, CircuitError> {
        let begin = CHUNK * number;
        let end = self.bytes.min(begin + CHUNK);
        let blocks = (end - begin).div_ceil(64).max(1);
        let mut state = initial();
        for k in 0..blocks {
            let from = begin + 64 * k;
            let length = (end - from).min(64);
            let block = padded(&self.message.slice(8 * u64::from(from), Type::Bytes(length)), length, 64);
            let first = if k == 0 { CHUNK_START } else { 0 };
            let last = if k + 1 == blocks { CHUNK_END | root } else { 0 };
            state = self.compress(p, &state, &block, [number.into(), length.into(), first | last])?;
        }
        Ok(state)
    }

    fn compress(
        &self,
        p: &mut ProgramBuilder,
        state: &Wires,
        block: &Wires,
        [counter, length, flags]: [u64; 3],
    ) -> Result<Wires, CircuitError> {
        let counter = Wires::constant_bytes(&counter.to_le_bytes());
        let inputs = [state, block, &counter, &number(32, length), &number(32, flags)];
        Ok(p.instance(self.compression, &inputs)?.remove(0))
    }
}

fn initial() -> Wires {
    Wires::constant_bytes(&INITIAL.map(|word| ((word >> 32) as u32).to_le_bytes()).concat())
}

fn blake3(mut p: ProgramBuilder, bytes: u32) -> Result<Program, CircuitError> {
    let compression = p.component(compression_of_blake3(p.circuit("blake3"))?);
    let message = p.input("message", Type::Bytes(bytes), Party(0))?;
    let tree = Tree { compression, message, bytes };
    let digest = tree.node(&mut p, [0, bytes.div_ceil(CHUNK).max(1)], ROOT)?;
    p.output("digest", &digest, Recipients::All)?;
    Ok(p.finish())
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{hex, outputs};

    #[test]
    fn rfc_7693_digest() {
        // Appendix A.
        let expected = concat!(
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1",
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
        );
        assert_eq!(outputs("blake2b-message(3, 64)", &[b"abc"]), [hex(expected)]);
    }

    #[test]
    fn blake2b_at_the_borders_of_blocks() {
        // The digests of 0, 1, 2 and so on that the module `hashlib` of Python computes, the first 16 bytes.
        for (bytes, output, expected) in BLAKE2B {
            let message: Vec<u8> = (0..bytes).map(|byte| byte as u8).collect();
            let digest = outputs(&format!("blake2b-message({bytes}, {output})"), &[&message]).remove(0);
            assert_eq!((digest.len(), &digest[..16]), (output, &hex(expected)[..]), "{bytes} bytes");
        }
    }

    const BLAKE2B: [(usize, usize, &str); 5] = [
        (0, 64, "786a02f742015903c6c6fd852552d272"),
        (1, 64, "2fa3f686df876995167e7c2e5d74c4c7"),
        (128, 64, "2319e3789c47e2daa5fe807f61bec2a1"),
        (129, 32, "f7f3c46ba2564ff4c4c162da1f5b605f"),
        (256, 20, "2433af65183f411941345962733a8860"),
    ];

    #[test]
    fn test_vectors_of_blake3() {
        // The file `test_vectors.json` of the authors' code: bytes 0 to 250, again and again.
        for (bytes, expected) in [
            (0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
            (1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"),
            (1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"),
            (1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"),
            (1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"),
            (2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"),
        ] {
            let message: Vec<u8> = (0..bytes).map(|byte| (byte % 251) as u8).collect();
            assert_eq!(outputs(&format!("blake3-message({bytes})"), &[&message]), [hex(expected)], "{bytes} bytes");
        }
    }
}
