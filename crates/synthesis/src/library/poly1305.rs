//! Poly1305 and ChaCha20-Poly1305 (RFC 8439).

use garblet_circuit::{CircuitError, Component, ComponentId, Party, Program, Recipients, Type};

use super::{
    chacha::{BLOCK_ANDS, block, encrypted, encryption},
    member::{Build, Member, Parameter},
};
use crate::builder::{Bit, Bytes, CircuitBuilder, Integer, ProgramBuilder, Unsigned, Wires};

/// - `poly1305(n)`: the tag of n bytes of party 1 under party 0's key for this one message.
/// - `chacha20-poly1305(m, n)`: n bytes encrypted and authenticated, with m bytes beside them.
///
/// *Source*: RFC 8439, sections 2.5, 2.6 and 2.8.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "poly1305",
        summary: "Poly1305 of party 1's message under party 0's key, which is for one message",
        parameters: &[Parameter::new("bytes", 34, 0, 1 << 26)],
        ands: "16900 ceil(bytes / 16) + 513",
        and_count: |p| STEP_ANDS * p[0].div_ceil(16) + LAST_ANDS,
        build: Build::Program { size: |p| 100_000 + 8 * p[0], build: |program, p| poly1305(program, p[0]) },
    },
    Member {
        name: "chacha20-poly1305",
        summary: "party 1's text encrypted by ChaCha20-Poly1305 under party 0's key, and the tag of it and of data beside it",
        parameters: &[Parameter::new("data_bytes", 12, 0, 1 << 24), Parameter::new("bytes", 114, 1, 1 << 24)],
        ands: "10400 ceil(bytes / 64) + 16900 (ceil(data_bytes / 16) + ceil(bytes / 16)) + 27813",
        and_count: |p| {
            let [data, text] = [0, 1].map(|k| p[k].div_ceil(16));
            BLOCK_ANDS * (p[1].div_ceil(64) + 1) + STEP_ANDS * (data + text + 1) + LAST_ANDS
        },
        build: Build::Program {
            size: |p| 200_000 + 8 * (p[0] + p[1]),
            build: |program, p| authenticated(program, [p[0], p[1]]),
        },
    },
];

/// AND gates of a block: a sum, a product of 132 bits, and a sum that reduces it.
const STEP_ANDS: u64 = 16_900;
/// AND gates of the last reduction and of adding the second half of the key.
const LAST_ANDS: u64 = 513;

/// Bits of the number that is kept between blocks; it is below 2^131, congruent to the one of the RFC.
const STATE: usize = 131;
/// The modulus is 2^130 - 5.
const MODULUS_BITS: usize = 130;

/// The components of Poly1305.
struct Authenticator {
    step: ComponentId,
    last: ComponentId,
}

impl Authenticator {
    fn of(p: &mut ProgramBuilder) -> Result<Self, CircuitError> {
        Ok(Authenticator {
            step: p.component(step(p.circuit("poly1305-block"))?),
            last: p.component(last(p.circuit("poly1305-last"))?),
        })
    }

    /// The tag of parts, each of which ends a block.
    fn tag(&self, p: &mut ProgramBuilder, key: &Wires, parts: &[(&Wires, u32)]) -> Result<Wires, CircuitError> {
        let [r, s] = [0, 128].map(|start| key.slice(start, Type::Bytes(16)));
        let mut state = Wires::constant(Type::Unsigned(STATE as u32), |_| false);
        for (part, bytes) in parts {
            for start in (0..*bytes).step_by(16) {
                let own = (bytes - start).min(16);
                let block = part.slice(8 * u64::from(start), Type::Bytes(own));
                // A byte of one follows, and zeros.
                let mut end = vec![0; 17 - own as usize];
                end[0] = 1;
                let block = Wires::concat(Type::Bytes(17), [&block, &Wires::constant_bytes(&end)]);
                state = p.instance(self.step, &[&state, &r, &block])?.remove(0);
            }
        }
        Ok(p.instance(self.last, &[&state, &s])?.remove(0))
    }
}

/// Section 2.5.1: the state plus a block, times r.
fn step(mut c: CircuitBuilder) -> Result<Component, CircuitError> {
    let state: Unsigned = c.input("state", Type::Unsigned(STATE as u32));
    let r: Bytes = c.input("r", Type::Bytes(16));
    let block: Bytes = c.input("block", Type::Bytes(17));
    let block = Unsigned::new(block.0[..129].to_vec());
    let sum = c.sum(&[state, block], STATE + 1);
    // Of equal widths, for which a product is split.
    let product = c.mul_full(&sum, &clamped(&r).resize(STATE + 1));
    // 2^130 is 5.
    let (low, high) = product.bits()[..256].split_at(MODULUS_BITS);
    let (low, high) = (Unsigned::new(low.to_vec()), Unsigned::new(high.to_vec()));
    let four = Unsigned::new([&[Bit::FALSE; 2], high.bits()].concat());
    let state = c.sum(&[low, high, four], STATE);
    c.output("state", &state);
    c.finish()
}

/// Bits of r that are zero: the highest four of bytes 3, 7, 11 and 15, and the lowest two of bytes 4, 8 and 12.
fn clamped(r: &Bytes) -> Unsigned {
    let is_zero =
        |at: usize| matches!((at / 8 % 4, at % 8), (3, 4..)) || at >= 32 && matches!((at / 8 % 4, at % 8), (0, 0..2));
    let bits = r.0.iter().enumerate().map(|(at, &bit)| if is_zero(at) { Bit::FALSE } else { bit });
    // The highest four are left out.
    Unsigned::new(bits.take(124).collect())
}

/// The state modulo 2^130 - 5, plus s modulo 2^128.
fn last(mut c: CircuitBuilder) -> Result<Component, CircuitError> {
    let state: Unsigned = c.input("state", Type::Unsigned(STATE as u32));
    let s: Bytes = c.input("s", Type::Bytes(16));
    // Below 2^130 + 5.
    let (low, high) = (Unsigned::new(state.bits()[..MODULUS_BITS].to_vec()), state.bits()[MODULUS_BITS]);
    let five = Unsigned::new(vec![high, Bit::FALSE, high]);
    let folded = c.sum(&[low, five], STATE);
    // The sum with 5 has bit 130 if there is a modulus to take off, and is then what is left.
    let more = c.sum(&[folded.clone(), Unsigned::constant(5, 3)], STATE);
    let is_beyond = more.bits()[MODULUS_BITS];
    let [folded, more] = [folded, more].map(|sum| Unsigned::new(sum.bits()[..128].to_vec()));
    let rest = c.select(is_beyond, &more, &folded);
    let tag = c.add(&rest, &Unsigned::new(s.0));
    c.output("tag", &Bytes(tag.bits().to_vec()));
    c.finish()
}

fn poly1305(mut p: ProgramBuilder, bytes: u32) -> Result<Program, CircuitError> {
    let authenticator = Authenticator::of(&mut p)?;
    let key = p.input("key", Type::Bytes(32), Party(0))?;
    let message = p.input("message", Type::Bytes(bytes), Party(1))?;
    let tag = authenticator.tag(&mut p, &key, &[(&message, bytes)])?;
    p.output("tag", &tag, Recipients::All)?;
    Ok(p.finish())
}

/// Section 2.8.
fn authenticated(mut p: ProgramBuilder, [beside, bytes]: [u32; 2]) -> Result<Program, CircuitError> {
    let stream = p.component(block(p.circuit("chacha20-block"))?);
    let whole = p.component(encryption(p.circuit("chacha20-encrypt"))?);
    let authenticator = Authenticator::of(&mut p)?;
    let key = p.input("key", Type::Bytes(32), Party(0))?;
    let nonce = p.input("nonce", Type::Bytes(12), Party(1))?;
    let data = p.input("data", Type::Bytes(beside), Party(1))?;
    let text = p.input("text", Type::Bytes(bytes), Party(1))?;
    // Section 2.6: the first half of block 0.
    let first = Wires::constant(Type::Unsigned(32), |_| false);
    let once = p.instance(stream, &[&key, &first, &nonce])?.remove(0);
    let ciphertext = encrypted(&mut p, whole, [&key, &nonce, &text], bytes)?;
    let [data, padded] = [(&data, beside), (&ciphertext, bytes)].map(|(part, bytes)| {
        let whole = bytes.next_multiple_of(16);
        (Wires::concat(Type::Bytes(whole), [part, &Wires::constant_bytes(&vec![0; (whole - bytes) as usize])]), whole)
    });
    let lengths = Wires::constant_bytes(&[beside, bytes].map(|bytes| u64::from(bytes).to_le_bytes()).concat());
    let parts = [(&data.0, data.1), (&padded.0, padded.1), (&lengths, 16)];
    let tag = authenticator.tag(&mut p, &once, &parts)?;
    p.output("ciphertext", &ciphertext, Recipients::All)?;
    p.output("tag", &tag, Recipients::All)?;
    Ok(p.finish())
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{hex, outputs};

    #[test]
    fn rfc_8439_tags() {
        // Section 2.5.2; appendix A.3, vectors 1, 7, 8, 9, 10 and 11, in which sums come near the modulus.
        for (key, message, tag) in [
            (
                "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b",
                "43727970746f6772617068696320466f72756d2052657365617263682047726f7570",
                "a8061dc1305136c6c22b8baf0c0127a9",
            ),
            (&"00".repeat(32), &"00".repeat(64), "00000000000000000000000000000000"),
            (
                &["01", &"00".repeat(31)].concat(),
                &["ff".repeat(16), ["f0", &"ff".repeat(15)].concat(), ["11", &"00".repeat(15)].concat()].concat(),
                "05000000000000000000000000000000",
            ),
            (
                &["01", &"00".repeat(31)].concat(),
                &["ff".repeat(16), ["fb", &"fe".repeat(15)].concat(), "01".repeat(16)].concat(),
                "00000000000000000000000000000000",
            ),
            (
                &["02", &"00".repeat(31)].concat(),
                &["fd", &"ff".repeat(15)].concat(),
                "faffffffffffffffffffffffffffffff",
            ),
            (
                "0100000000000000040000000000000000000000000000000000000000000000",
                &[
                    "e33594d7505e43b900000000000000003394d7505e4379cd0100000000000000",
                    &"00".repeat(16),
                    "01",
                    &"00".repeat(15),
                ]
                .concat(),
                "14000000000000005500000000000000",
            ),
            (
                "0100000000000000040000000000000000000000000000000000000000000000",
                &["e33594d7505e43b900000000000000003394d7505e4379cd0100000000000000", &"00".repeat(16)].concat(),
                "13000000000000000000000000000000",
            ),
        ] {
            let message = hex(message);
            assert_eq!(outputs(&format!("poly1305({})", message.len()), &[&hex(key), &message]), [hex(tag)], "{tag}");
        }
        // Of nothing: the second half of the key.
        let key: Vec<u8> = (0..32).collect();
        assert_eq!(outputs("poly1305(0)", &[&key, &[]]), [key[16..].to_vec()]);
    }

    #[test]
    fn rfc_8439_authenticated_encryption() {
        // Section 2.8.2.
        let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
        let key: Vec<u8> = (0x80..0xa0).collect();
        let (nonce, data) = (hex("070000004041424344454647"), hex("50515253c0c1c2c3c4c5c6c7"));
        let expected = concat!(
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b",
            "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc",
            "3ff4def08e4b7a9de576d26586cec64b6116"
        );
        let made = outputs("chacha20-poly1305(12, 114)", &[&key, &nonce, &data, text]);
        assert_eq!(made, [hex(expected), hex("1ae10b594f09e26a7e902ecbd0600691")]);
    }
}
