//! ChaCha20 (RFC 8439).

use garblet_circuit::{CircuitError, Component, ComponentId, Party, Program, Recipients, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{Bytes, CircuitBuilder, Integer, ProgramBuilder, Unsigned, Wires};

/// AND gates of a block: four additions in each of 80 quarter rounds, of which some begin with constants, and sixteen at the end.
pub(super) const BLOCK_ANDS: u64 = 10400;

/// - `chacha20-block`: 64 bytes of key stream.
/// - `chacha20(n)`: n bytes of party 1, encrypted or decrypted.
///
/// *Source*: RFC 8439, sections 2.1 to 2.4.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "chacha20-block",
        summary: "a block of the key stream of ChaCha20 for party 0's key and party 1's counter and nonce",
        parameters: &[],
        ands: "10400",
        and_count: |_| BLOCK_ANDS,
        build: Build::Component { owners: &[Party(0), Party(1), Party(1)], build: |c, _| block(c) },
    },
    Member {
        name: "chacha20",
        summary: "party 1's text encrypted or decrypted by ChaCha20 under party 0's key, from block 1 on",
        parameters: &[Parameter::new("bytes", 128, 1, 1 << 26)],
        ands: "10400 ceil(bytes / 64)",
        and_count: |p| BLOCK_ANDS * p[0].div_ceil(64),
        build: Build::Program { size: |p| 100_000 + 8 * p[0], build: |program, p| cipher(program, p[0]) },
    },
];

/// The first four words: the text `expand 32-byte k`.
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

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

pub(super) fn block(mut c: CircuitBuilder) -> Result<Component, CircuitError> {
    c.reserve(40_000);
    let key: Bytes = c.input("key", Type::Bytes(32));
    let counter: Unsigned = c.input("counter", Type::Unsigned(32));
    let nonce: Bytes = c.input("nonce", Type::Bytes(12));
    let stream = key_stream(&mut c, &key, counter, &nonce);
    c.output("stream", &stream);
    c.finish()
}

/// Section 2.3.
fn key_stream(c: &mut CircuitBuilder, key: &Bytes, counter: Unsigned, nonce: &Bytes) -> Bytes {
    let constants = CONSTANTS.map(|word| Unsigned::constant(word.into(), 32));
    let before: Vec<Unsigned> = constants.into_iter().chain(words(key)).chain([counter]).chain(words(nonce)).collect();
    let mut state = before.clone();
    for quarter in (0..10).flat_map(|_| QUARTERS) {
        quarter_round(c, &mut state, quarter);
    }
    let after = before.iter().zip(&state).map(|(before, after)| c.add(before, after)).collect::<Vec<_>>();
    Bytes(after.iter().flat_map(|word| word.bits().to_vec()).collect())
}

/// Section 2.1.
fn quarter_round(c: &mut CircuitBuilder, state: &mut [Unsigned], [a, b, cc, d]: [usize; 4]) {
    for (sum, added, turned, amount) in [(a, b, d, 16), (cc, d, b, 12), (a, b, d, 8), (cc, d, b, 7)] {
        state[sum] = c.add(&state[sum], &state[added]);
        let mixed = c.xor_words(&state[turned], &state[sum]);
        state[turned] = c.rotate_left(&mixed, amount);
    }
}

/// Words of four bytes, the least significant first.
fn words(bytes: &Bytes) -> Vec<Unsigned> {
    bytes.0.chunks(32).map(|bits| Unsigned::new(bits.to_vec())).collect()
}

fn cipher(mut p: ProgramBuilder, bytes: u32) -> Result<Program, CircuitError> {
    let whole = p.component(encryption(p.circuit("chacha20-encrypt"))?);
    let key = p.input("key", Type::Bytes(32), Party(0))?;
    let nonce = p.input("nonce", Type::Bytes(12), Party(1))?;
    let text = p.input("text", Type::Bytes(bytes), Party(1))?;
    let text = encrypted(&mut p, whole, [&key, &nonce, &text], bytes)?;
    p.output("text", &text, Recipients::All)?;
    Ok(p.finish())
}

/// Section 2.4, with 1 as the first counter; `whole` encrypts a block.
pub(super) fn encrypted(
    p: &mut ProgramBuilder,
    whole: ComponentId,
    [key, nonce, text]: [&Wires; 3],
    bytes: u32,
) -> Result<Wires, CircuitError> {
    let blocks = bytes.div_ceil(64);
    let rest = 64 * blocks - bytes;
    let padded = Wires::concat(Type::Bytes(64 * blocks), [text, &Wires::constant_bytes(&vec![0; rest as usize])]);
    let mut made = Vec::new();
    for k in 0..blocks {
        let counter = Wires::constant(Type::Unsigned(32), |bit| (k + 1) >> bit & 1 == 1);
        let block = padded.slice(512 * u64::from(k), Type::Bytes(64));
        made.push(p.instance(whole, &[key, &counter, nonce, &block])?.remove(0));
    }
    Ok(Wires::concat(Type::Bytes(64 * blocks), &made).slice(0, Type::Bytes(bytes)))
}

/// A block of text with the key stream added.
pub(super) fn encryption(mut c: CircuitBuilder) -> Result<Component, CircuitError> {
    c.reserve(40_000);
    let key: Bytes = c.input("key", Type::Bytes(32));
    let counter: Unsigned = c.input("counter", Type::Unsigned(32));
    let nonce: Bytes = c.input("nonce", Type::Bytes(12));
    let text: Bytes = c.input("text", Type::Bytes(64));
    let stream = key_stream(&mut c, &key, counter, &nonce);
    let text = c.xor_words(&text, &stream);
    c.output("text", &text);
    c.finish()
}

#[cfg(test)]
mod tests {
    use crate::{
        builder::simulate::{self, bits_to_bytes, bytes_to_bits, to_bits},
        library,
    };

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
    }

    #[test]
    fn rfc_8439_block() {
        // Section 2.3.2.
        let program = library::find("chacha20-block").unwrap();
        let key: Vec<u8> = (0..32).collect();
        let inputs = [bytes_to_bits(&key), to_bits(1, 32), bytes_to_bits(&hex("000000090000004a00000000"))];
        let stream = bits_to_bytes(&simulate::program(&program, &inputs)[0]);
        let expected = "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e";
        assert_eq!(stream, hex(expected));
    }

    #[test]
    fn rfc_8439_cipher() {
        // Section 2.4.2.
        let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
        let program = library::find("chacha20(114)").unwrap();
        let key: Vec<u8> = (0..32).collect();
        let inputs = [bytes_to_bits(&key), bytes_to_bits(&hex("000000000000004a00000000")), bytes_to_bits(text)];
        let cipher = bits_to_bytes(&simulate::program(&program, &inputs)[0]);
        let expected = "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b3571639d624e65152ab8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab77937365af90bbf74a35be6b40b8eedf2785e42874d";
        assert_eq!(cipher, hex(expected));
        assert_eq!(program.instance_count(), 2);
    }
}
