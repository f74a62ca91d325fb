//! AES (FIPS 197).
//!
//! Only the S-box has AND gates: 32 of them. A block takes 160 S-boxes with a key of 128 bits, the key schedule 40.

/// One gate per assignment, in the notation of published circuits: `+` is XOR, `*` is AND.
macro_rules! straight_line {
    ($c:ident: $($out:ident = $a:ident $op:tt $b:ident;)*) => { $(let $out = straight_line!(@ $c $a $op $b);)* };
    (@ $c:ident $a:ident + $b:ident) => { $c.xor($a, $b) };
    (@ $c:ident $a:ident * $b:ident) => { $c.and($a, $b) };
}

mod mix_columns;
pub(super) mod modes;
mod sbox;

use garblet_circuit::{CircuitError, Component, Party, Program, Recipients, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{Bit, Bytes, CircuitBuilder, ProgramBuilder, Wires};
use mix_columns::mix_column;
use sbox::sub_byte;

/// - `aes128`: 6,400 AND gates and 22,164 XOR gates, as one component: 200 S-boxes of 32 AND and 81 XOR gates, 36 columns of
///   91 XOR gates, 1,408 XOR gates for adding round keys and 1,280 in the key schedule.
/// - `aes128-expanded`: the same with the key schedule outside, 5,120.
/// - `aes192`, `aes256`: 7,168 and 8,832 AND gates.
/// - `aes-round`, `aes-last-round`: 512 each. `aes-key-schedule`: 1,280.
/// - `aes128-chain(n)`: n instances of `aes128`, each encrypting the ciphertext of the one before.
/// - `aes128-chains(n, w)`: w such chains side by side, each of its own block, under one key.
///
/// *Source*: FIPS 197; the S-box of Boyar and Peralta 2012 with a shorter last layer.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "aes128",
        summary: "AES-128 of party 1's block under party 0's key",
        parameters: &[],
        ands: "6400",
        and_count: |_| 6400,
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, _| aes(c, 16) },
    },
    Member {
        name: "aes128-expanded",
        summary: "AES-128 of party 1's block under the 11 round keys that party 0 computed from its key",
        parameters: &[],
        ands: "5120",
        and_count: |_| 5120,
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, _| expanded(c) },
    },
    Member {
        name: "aes192",
        summary: "AES-192 of party 1's block under party 0's key",
        parameters: &[],
        ands: "7168",
        and_count: |_| 7168,
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, _| aes(c, 24) },
    },
    Member {
        name: "aes256",
        summary: "AES-256 of party 1's block under party 0's key",
        parameters: &[],
        ands: "8832",
        and_count: |_| 8832,
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, _| aes(c, 32) },
    },
    Member {
        name: "aes-round",
        summary: "one round of AES: SubBytes, ShiftRows, MixColumns, AddRoundKey",
        parameters: &[],
        ands: "512",
        and_count: |_| 512,
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, _| one_round(c, round) },
    },
    Member {
        name: "aes-last-round",
        summary: "the last round of AES: SubBytes, ShiftRows, AddRoundKey",
        parameters: &[],
        ands: "512",
        and_count: |_| 512,
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, _| one_round(c, last_round) },
    },
    Member {
        name: "aes-key-schedule",
        summary: "the 11 round keys of an AES-128 key",
        parameters: &[],
        ands: "1280",
        and_count: |_| 1280,
        build: Build::Component { owners: &[Party(0)], build: |c, _| key_schedule(c) },
    },
    Member {
        name: "aes128-chain",
        summary: "repeated AES-128: each block is the previous ciphertext",
        parameters: &[Parameter::new("blocks", 10, 1, 1 << 24)],
        ands: "6400 blocks",
        and_count: |p| 6400 * p[0],
        build: Build::Program { size: |p| p[0] * 2 + 40_000, build: |program, p| chains(program, p[0], 1) },
    },
    Member {
        name: "aes128-chains",
        summary: "parallel chains of AES-128 under one key, each from its own block",
        parameters: &[Parameter::new("blocks", 10, 1, 1 << 24), Parameter::new("chains", 4, 1, 1 << 10)],
        ands: "6400 blocks chains",
        and_count: |p| 6400 * p[0] * p[1],
        build: Build::Program { size: |p| p[0] * p[1] * 2 + 40_000, build: |program, p| chains(program, p[0], p[1]) },
    },
];

/// Bit 0 is the least significant.
type Byte = [Bit; 8];

/// 16 bytes in the order of FIPS 197: column after column.
type Block = [Byte; 16];

/// The approximate number of gates of one AES-128, so that tables grow only once.
const GATES: usize = 32_000;

/// With a key of 16, 24 or 32 bytes.
fn aes(mut c: CircuitBuilder, key_bytes: u32) -> Result<Component, CircuitError> {
    c.reserve(GATES);
    let key: Bytes = c.input("key", Type::Bytes(key_bytes));
    let block = block_input(&mut c, "block");
    let keys = expand_key(&mut c, &key);
    let ciphertext = encrypt(&mut c, &keys, block);
    c.output("ciphertext", &to_bytes(&[ciphertext]));
    c.finish()
}

fn expanded(mut c: CircuitBuilder) -> Result<Component, CircuitError> {
    c.reserve(GATES);
    let round_keys: Bytes = c.input("round_keys", Type::Bytes(176));
    let block = block_input(&mut c, "block");
    let keys: Vec<Block> = round_keys.0.chunks(128).map(to_block).collect();
    let ciphertext = encrypt(&mut c, &keys, block);
    c.output("ciphertext", &to_bytes(&[ciphertext]));
    c.finish()
}

fn one_round(
    mut c: CircuitBuilder,
    round: fn(&mut CircuitBuilder, &Block, &Block) -> Block,
) -> Result<Component, CircuitError> {
    let state = block_input(&mut c, "state");
    let key = block_input(&mut c, "round_key");
    let state = round(&mut c, &state, &key);
    c.output("state", &to_bytes(&[state]));
    c.finish()
}

fn key_schedule(mut c: CircuitBuilder) -> Result<Component, CircuitError> {
    let key: Bytes = c.input("key", Type::Bytes(16));
    let keys = expand_key(&mut c, &key);
    c.output("round_keys", &to_bytes(&keys));
    c.finish()
}

fn chains(mut p: ProgramBuilder, blocks: u32, chains: u32) -> Result<Program, CircuitError> {
    let aes = p.component(aes(p.circuit("aes128"), 16)?);
    let key = p.input("key", Type::Bytes(16), Party(0))?;
    let block = p.input("block", Type::Bytes(16 * chains), Party(1))?;
    let slice = |k| block.slice(128 * u64::from(k), Type::Bytes(16));
    let mut state: Vec<Wires> = (0..chains).map(slice).collect();
    for _ in 0..blocks {
        for block in &mut state {
            *block = p.instance(aes, &[&key, block])?.remove(0);
        }
    }
    p.output("ciphertext", &Wires::concat(Type::Bytes(16 * chains), &state), Recipients::All)?;
    Ok(p.finish())
}

/// FIPS 197, section 5.1.
fn encrypt(c: &mut CircuitBuilder, keys: &[Block], block: Block) -> Block {
    let mut state = add_round_key(c, &block, &keys[0]);
    let last = keys.len() - 1;
    for key in &keys[1..last] {
        state = round(c, &state, key);
    }
    last_round(c, &state, &keys[last])
}

fn round(c: &mut CircuitBuilder, state: &Block, key: &Block) -> Block {
    let state = shift_rows(&sub_bytes(c, state));
    let state = mix_columns(c, &state);
    add_round_key(c, &state, key)
}

fn last_round(c: &mut CircuitBuilder, state: &Block, key: &Block) -> Block {
    let state = shift_rows(&sub_bytes(c, state));
    add_round_key(c, &state, key)
}

fn sub_bytes(c: &mut CircuitBuilder, state: &Block) -> Block {
    state.map(|byte| sub_byte(c, byte))
}

/// Section 5.1.2: row r, which has bytes r, r + 4, r + 8 and r + 12, moves r columns to the left.
fn shift_rows(state: &Block) -> Block {
    std::array::from_fn(|i| state[(i + 4 * (i % 4)) % 16])
}

/// Section 5.1.3.
fn mix_columns(c: &mut CircuitBuilder, state: &Block) -> Block {
    let mut mixed = *state;
    for column in mixed.as_chunks_mut().0 {
        *column = mix_column(c, column);
    }
    mixed
}

fn add_round_key(c: &mut CircuitBuilder, state: &Block, key: &Block) -> Block {
    std::array::from_fn(|i| xor(c, state[i], key[i]))
}

/// Section 5.2: each word is the word one key before it, plus the word before it. At the start of each key, the latter is
/// rotated, passes through the S-box, and gets a round constant; a key of 32 bytes has an S-box in its middle, too.
fn expand_key(c: &mut CircuitBuilder, key: &Bytes) -> Vec<Block> {
    let bytes: Vec<Byte> = key.0.chunks(8).map(|bits| std::array::from_fn(|bit| bits[bit])).collect();
    let mut words: Vec<[Byte; 4]> = bytes.as_chunks().0.to_vec();
    let (key_words, mut constant) = (words.len(), 1u16);
    for at in key_words..4 * (key_words + 7) {
        let mut before = words[at - 1];
        match at % key_words {
            0 => {
                before = [1, 2, 3, 0].map(|i| sub_byte(c, before[i]));
                for (i, bit) in before[0].iter_mut().enumerate() {
                    *bit = bit.invert_if(constant >> i & 1 == 1);
                }
                constant = if constant < 0x80 { constant << 1 } else { 0x1b };
            }
            4 if key_words > 6 => before = before.map(|byte| sub_byte(c, byte)),
            _ => {}
        }
        let word = words[at - key_words];
        words.push(std::array::from_fn(|i| xor(c, word[i], before[i])));
    }
    words.as_flattened().as_chunks().0.to_vec()
}

fn xor(c: &mut CircuitBuilder, a: Byte, b: Byte) -> Byte {
    std::array::from_fn(|i| c.xor(a[i], b[i]))
}

fn block_input(c: &mut CircuitBuilder, name: &str) -> Block {
    let bytes: Bytes = c.input(name, Type::Bytes(16));
    to_block(&bytes.0)
}

fn to_block(bits: &[Bit]) -> Block {
    std::array::from_fn(|i| std::array::from_fn(|j| bits[8 * i + j]))
}

fn to_bytes(blocks: &[Block]) -> Bytes {
    Bytes(blocks.as_flattened().as_flattened().to_vec())
}

#[cfg(test)]
mod tests {
    use crate::{
        builder::simulate::{self, bits_to_bytes, bytes_to_bits},
        library,
    };

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
    }

    fn run(name: &str, inputs: &[&[u8]]) -> Vec<u8> {
        let program = library::find(name).unwrap();
        let inputs: Vec<Vec<bool>> = inputs.iter().map(|bytes| bytes_to_bits(bytes)).collect();
        bits_to_bytes(&simulate::program(&program, &inputs)[0])
    }

    #[test]
    fn fips_197_examples() {
        // Appendix B and appendix C.1.
        for (key, block, ciphertext) in [
            (
                "2b7e151628aed2a6abf7158809cf4f3c",
                "3243f6a8885a308d313198a2e0370734",
                "3925841d02dc09fbdc118597196a0b32",
            ),
            (
                "000102030405060708090a0b0c0d0e0f",
                "00112233445566778899aabbccddeeff",
                "69c4e0d86a7b0430d8cdb78070b4c55a",
            ),
        ] {
            let (key, block) = (hex(key), hex(block));
            assert_eq!(run("aes128", &[&key, &block]), hex(ciphertext));
            let keys = run("aes-key-schedule", &[&key]);
            assert_eq!(run("aes128-expanded", &[&keys, &block]), hex(ciphertext));
        }
    }

    #[test]
    fn longer_keys() {
        // Appendices C.2 and C.3.
        let (key, block): (Vec<u8>, _) = ((0..32).collect(), hex("00112233445566778899aabbccddeeff"));
        assert_eq!(run("aes192", &[&key[..24], &block]), hex("dda97ca4864cdfe06eaf70a0ec0d7191"));
        assert_eq!(run("aes256", &[&key, &block]), hex("8ea2b7ca516745bfeafc49904b496089"));
    }

    #[test]
    fn fips_197_key_schedule() {
        // Appendix A.1: words 4 and 43.
        let keys = run("aes-key-schedule", &[&hex("2b7e151628aed2a6abf7158809cf4f3c")]);
        assert_eq!(keys[16..20], hex("a0fafe17"));
        assert_eq!(keys[172..], hex("b6630ca6"));
    }

    #[test]
    fn fips_197_rounds() {
        // Appendix B: rounds 1 and 10.
        let first =
            run("aes-round", &[&hex("193de3bea0f4e22b9ac68d2ae9f84808"), &hex("a0fafe1788542cb123a339392a6c7605")]);
        assert_eq!(first, hex("a49c7ff2689f352b6b5bea43026a5049"));
        let last = run(
            "aes-last-round",
            &[&hex("eb40f21e592e38848ba113e71bc342d2"), &hex("d014f9a8c9ee2589e13f0cc8b6630ca6")],
        );
        assert_eq!(last, hex("3925841d02dc09fbdc118597196a0b32"));
    }

    #[test]
    fn counts_are_as_low_as_stated() {
        let stats = library::component("aes128").unwrap().stats();
        assert_eq!((stats.and, stats.xor), (6400, 22_164));
        assert_eq!(stats.and_depth, 60);
    }

    #[test]
    fn chains_feed_ciphertexts_back() {
        let (key, block) = ([7u8; 16], [9u8; 16]);
        let twice = run("aes128", &[&key, &run("aes128", &[&key, &block])]);
        assert_eq!(run("aes128-chain(2)", &[&key, &block]), twice);
        let other = [1u8; 16];
        let both = run("aes128-chains(2, 2)", &[&key, &[block, other].concat()]);
        assert_eq!(both, [twice, run("aes128-chain(2)", &[&key, &other])].concat());
        let program = library::find("aes128-chain(100)").unwrap();
        assert_eq!((program.components().len(), program.instance_count()), (1, 100));
        assert_eq!(program.stats().and, 640_000);
    }
}
