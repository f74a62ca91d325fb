//! AES in modes of operation: counter mode, CMAC and GCM. The key is expanded once for all blocks.

use garblet_circuit::{CircuitError, Component, ComponentId, Party, Program, Recipients, Type};

use super::{Block, add_round_key, block_input, encrypt, expand_key, to_block, to_bytes};
use crate::{
    builder::{Bit, Bytes, CircuitBuilder, ProgramBuilder, Wires},
    library::{
        binary::{PRODUCT_128, product, remainder},
        member::{Build, Member, Parameter},
    },
};

/// - `aes128-ctr(n)`, `aes256-ctr(n)`: n bytes of party 1, encrypted or decrypted.
/// - `aes128-cmac(n)`: the tag of n bytes.
/// - `ghash(n)`: the hash of n blocks of 16 bytes.
/// - `aes128-gcm(m, n)`, `aes256-gcm(m, n)`: n bytes encrypted and authenticated, with m bytes beside them.
///
/// *Source*: NIST SP 800-38A and RFC 3686; RFC 4493; NIST SP 800-38D.
pub(in crate::library) const MEMBERS: &[Member] = &[
    Member {
        name: "aes128-ctr",
        summary: "party 1's text encrypted or decrypted by AES-128 in counter mode, from block 1 on, under party 0's key",
        parameters: &[TEXT],
        ands: "5120 ceil(bytes / 16) + 1280",
        and_count: |p| AES128.ands(p[0].div_ceil(16)),
        build: Build::Program { size: |p| size(p[0]), build: |program, p| AES128.counter_mode(program, p[0]) },
    },
    Member {
        name: "aes256-ctr",
        summary: "party 1's text encrypted or decrypted by AES-256 in counter mode, from block 1 on, under party 0's key",
        parameters: &[TEXT],
        ands: "7168 ceil(bytes / 16) + 1664",
        and_count: |p| AES256.ands(p[0].div_ceil(16)),
        build: Build::Program { size: |p| size(p[0]), build: |program, p| AES256.counter_mode(program, p[0]) },
    },
    Member {
        name: "aes128-cmac",
        summary: "AES-CMAC of party 1's message under party 0's key",
        parameters: &[Parameter::new("bytes", 40, 0, 1 << 26)],
        ands: "5120 max(ceil(bytes / 16), 1) + 6400",
        and_count: |p| AES128.ands(p[0].div_ceil(16).max(1) + 1),
        build: Build::Program { size: |p| size(p[0]), build: |program, p| AES128.cmac(program, p[0]) },
    },
    Member {
        name: "ghash",
        summary: "GHASH of party 1's blocks under party 0's hash key",
        parameters: &[Parameter::new("blocks", 2, 1, 1 << 22)],
        ands: "751 blocks",
        and_count: |p| PRODUCT_128 * p[0],
        build: Build::Program { size: |p| GHASH_GATES + 8 * p[0], build: |program, p| ghash(program, p[0]) },
    },
    Member {
        name: "aes128-gcm",
        summary: "party 1's text encrypted by AES-128-GCM under party 0's key, and the tag of it and of data beside it",
        parameters: &[BESIDE, GCM_TEXT],
        ands: "5871 ceil(bytes / 16) + 751 ceil(data_bytes / 16) + 12271",
        and_count: |p| AES128.gcm_ands(p),
        build: Build::Program {
            size: |p| GHASH_GATES + size(p[0] + p[1]),
            build: |program, p| AES128.gcm(program, [p[0], p[1]]),
        },
    },
    Member {
        name: "aes256-gcm",
        summary: "party 1's text encrypted by AES-256-GCM under party 0's key, and the tag of it and of data beside it",
        parameters: &[BESIDE, GCM_TEXT],
        ands: "7919 ceil(bytes / 16) + 751 ceil(data_bytes / 16) + 16751",
        and_count: |p| AES256.gcm_ands(p),
        build: Build::Program {
            size: |p| GHASH_GATES + size(p[0] + p[1]),
            build: |program, p| AES256.gcm(program, [p[0], p[1]]),
        },
    },
];

const TEXT: Parameter = Parameter::new("bytes", 36, 1, 1 << 26);
/// By default the sizes of test case 4 of the specification of GCM.
const BESIDE: Parameter = Parameter::new("data_bytes", 20, 0, 1 << 24);
const GCM_TEXT: Parameter = Parameter::new("bytes", 60, 1, 1 << 24);

/// About the gates of a block of GHASH.
const GHASH_GATES: u64 = 100_000;

/// About the gates and instances for so many bytes.
fn size(bytes: u64) -> u64 {
    100_000 + bytes
}

/// AES with keys of one size.
struct Cipher {
    key_bytes: u32,
    schedule_ands: u64,
    block_ands: u64,
}

const AES128: Cipher = Cipher { key_bytes: 16, schedule_ands: 1280, block_ands: 5120 };
const AES256: Cipher = Cipher { key_bytes: 32, schedule_ands: 1664, block_ands: 7168 };

/// An expanded key, and the component that encrypts a block under it.
struct Expanded {
    block: ComponentId,
    keys: Wires,
}

impl Expanded {
    /// The encryption of a block, to which a text is added before it, as CBC does, or after it, as counter mode does.
    fn encrypt(&self, p: &mut ProgramBuilder, block: &Wires, text: &Wires) -> Result<Wires, CircuitError> {
        Ok(p.instance(self.block, &[&self.keys, block, text])?.remove(0))
    }
}

/// The place where a text is added to a block.
#[derive(Clone, Copy)]
enum Added {
    Before,
    After,
}

impl Cipher {
    /// AND gates of so many blocks and the expansion of the key.
    const fn ands(&self, blocks: u64) -> u64 {
        self.schedule_ands + self.block_ands * blocks
    }

    fn gcm_ands(&self, sizes: &[u64]) -> u64 {
        let [beside, text] = [0, 1].map(|k| sizes[k].div_ceil(16));
        self.ands(text + 2) + PRODUCT_128 * (beside + text + 1)
    }

    /// Expands the key of party 0.
    fn expanded(&self, p: &mut ProgramBuilder, added: Added) -> Result<Expanded, CircuitError> {
        let schedule = p.component(self.schedule(p.circuit("aes-key-schedule"))?);
        let block = p.component(self.block(p.circuit("aes-block"), added)?);
        let key = p.input("key", Type::Bytes(self.key_bytes), Party(0))?;
        Ok(Expanded { block, keys: p.instance(schedule, &[&key])?.remove(0) })
    }

    fn schedule(&self, mut c: CircuitBuilder) -> Result<Component, CircuitError> {
        let key: Bytes = c.input("key", Type::Bytes(self.key_bytes));
        let keys = expand_key(&mut c, &key);
        c.output("round_keys", &to_bytes(&keys));
        c.finish()
    }

    fn block(&self, mut c: CircuitBuilder, added: Added) -> Result<Component, CircuitError> {
        let keys: Bytes = c.input("round_keys", Type::Bytes(4 * self.key_bytes + 112));
        let (block, text) = (block_input(&mut c, "block"), block_input(&mut c, "text"));
        let keys: Vec<Block> = keys.0.chunks(128).map(to_block).collect();
        let result = match added {
            Added::Before => {
                let block = add_round_key(&mut c, &block, &text);
                encrypt(&mut c, &keys, block)
            }
            Added::After => {
                let stream = encrypt(&mut c, &keys, block);
                add_round_key(&mut c, &stream, &text)
            }
        };
        c.output("block", &to_bytes(&[result]));
        c.finish()
    }

    /// NIST SP 800-38A, section 6.5, with the counter blocks of RFC 3686: twelve bytes of party 1, then a number from 1 on.
    fn counter_mode(&self, mut p: ProgramBuilder, bytes: u32) -> Result<Program, CircuitError> {
        let key = self.expanded(&mut p, Added::After)?;
        let nonce = p.input("nonce", Type::Bytes(12), Party(1))?;
        let text = p.input("text", Type::Bytes(bytes), Party(1))?;
        let text = key_stream(&mut p, &key, (&nonce, 1), &text, bytes)?;
        p.output("text", &text, Recipients::All)?;
        Ok(p.finish())
    }

    /// RFC 4493, section 2.4.
    fn cmac(&self, mut p: ProgramBuilder, bytes: u32) -> Result<Program, CircuitError> {
        let key = self.expanded(&mut p, Added::Before)?;
        let message = p.input("message", Type::Bytes(bytes), Party(1))?;
        let blocks = bytes.div_ceil(16).max(1);
        let is_whole = bytes == 16 * blocks;
        let last = p.component(last_block(p.circuit("cmac-last-block"), if is_whole { 1 } else { 2 })?);
        let mut padding = vec![0; (16 * blocks - bytes) as usize];
        padding.iter_mut().take(1).for_each(|byte| *byte = 0x80);
        let padded = Wires::concat(Type::Bytes(16 * blocks), [&message, &Wires::constant_bytes(&padding)]);
        let zero = Wires::constant_bytes(&[0; 16]);
        let of_zero = key.encrypt(&mut p, &zero, &zero)?;
        let mut state = zero;
        for k in 0..blocks {
            let mut block = padded.slice(128 * u64::from(k), Type::Bytes(16));
            if k + 1 == blocks {
                block = p.instance(last, &[&of_zero, &block])?.remove(0);
            }
            state = key.encrypt(&mut p, &state, &block)?;
        }
        p.output("tag", &state, Recipients::All)?;
        Ok(p.finish())
    }

    /// NIST SP 800-38D, section 7.1, with nonces of twelve bytes.
    fn gcm(&self, mut p: ProgramBuilder, [beside, bytes]: [u32; 2]) -> Result<Program, CircuitError> {
        let key = self.expanded(&mut p, Added::After)?;
        let hash = p.component(hash_block(p.circuit("ghash-block"))?);
        let nonce = p.input("nonce", Type::Bytes(12), Party(1))?;
        let data = p.input("data", Type::Bytes(beside), Party(1))?;
        let text = p.input("text", Type::Bytes(bytes), Party(1))?;
        let ciphertext = key_stream(&mut p, &key, (&nonce, 2), &text, bytes)?;
        let lengths = [beside, bytes].map(|bytes| (8 * u64::from(bytes)).to_be_bytes()).concat();
        let hashed = [padded(&data, beside), padded(&ciphertext, bytes), Wires::constant_bytes(&lengths)];
        let zero = Wires::constant_bytes(&[0; 16]);
        let hash_key = key.encrypt(&mut p, &zero, &zero)?;
        let state = hash_of(&mut p, hash, &hash_key, &hashed)?;
        let first = counter_block(&nonce, 1);
        let tag = key.encrypt(&mut p, &first, &state)?;
        p.output("ciphertext", &ciphertext, Recipients::All)?;
        p.output("tag", &tag, Recipients::All)?;
        Ok(p.finish())
    }
}

/// Twelve bytes and a number of four, the most significant first.
fn counter_block(nonce: &Wires, counter: u32) -> Wires {
    Wires::concat(Type::Bytes(16), [nonce, &Wires::constant_bytes(&counter.to_be_bytes())])
}

/// A text with the key stream added that begins with this counter.
fn key_stream(
    p: &mut ProgramBuilder,
    key: &Expanded,
    (nonce, first): (&Wires, u32),
    text: &Wires,
    bytes: u32,
) -> Result<Wires, CircuitError> {
    let text = padded(text, bytes);
    let blocks = bytes.div_ceil(16);
    let mut made = Vec::new();
    for k in 0..blocks {
        let block = text.slice(128 * u64::from(k), Type::Bytes(16));
        made.push(key.encrypt(p, &counter_block(nonce, first + k), &block)?);
    }
    Ok(Wires::concat(Type::Bytes(16 * blocks), &made).slice(0, Type::Bytes(bytes)))
}

/// Bytes, and zeros up to whole blocks.
fn padded(text: &Wires, bytes: u32) -> Wires {
    let whole = bytes.next_multiple_of(16);
    Wires::concat(Type::Bytes(whole), [text, &Wires::constant_bytes(&vec![0; (whole - bytes) as usize])])
}

/// RFC 4493, section 2.3: a block with a subkey added, which is the encryption of zero, doubled once or twice.
fn last_block(mut c: CircuitBuilder, doublings: usize) -> Result<Component, CircuitError> {
    let zero: Bytes = c.input("zero", Type::Bytes(16));
    let block: Bytes = c.input("block", Type::Bytes(16));
    // The most significant bit of the first byte is that of x^127.
    let mut key: Vec<Bit> = zero.0.rchunks(8).flatten().copied().collect();
    for _ in 0..doublings {
        key.insert(0, Bit::FALSE);
        key = remainder(&mut c, &key, &FIELD);
    }
    let key = Bytes(key.rchunks(8).flatten().copied().collect());
    let block = c.xor_words(&block, &key);
    c.output("block", &block);
    c.finish()
}

/// x^128 + x^7 + x^2 + x + 1.
const FIELD: [bool; 129] = {
    let mut terms = [false; 129];
    terms[0] = true;
    terms[1] = true;
    terms[2] = true;
    terms[7] = true;
    terms[128] = true;
    terms
};

fn ghash(mut p: ProgramBuilder, blocks: u32) -> Result<Program, CircuitError> {
    let hash = p.component(hash_block(p.circuit("ghash-block"))?);
    let key = p.input("key", Type::Bytes(16), Party(0))?;
    let data = p.input("data", Type::Bytes(16 * blocks), Party(1))?;
    let state = hash_of(&mut p, hash, &key, &[data])?;
    p.output("hash", &state, Recipients::All)?;
    Ok(p.finish())
}

/// NIST SP 800-38D, section 6.4: the hash of parts of whole blocks.
fn hash_of(p: &mut ProgramBuilder, hash: ComponentId, key: &Wires, parts: &[Wires]) -> Result<Wires, CircuitError> {
    let mut state = Wires::constant_bytes(&[0; 16]);
    for part in parts {
        for k in 0..part.ty().width() / 128 {
            let block = part.slice(128 * k, Type::Bytes(16));
            state = p.instance(hash, &[&state, key, &block])?.remove(0);
        }
    }
    Ok(state)
}

/// A step of GHASH: (state + block) key in the field, whose elements have the term of 1 in the most significant bit of their first byte.
fn hash_block(mut c: CircuitBuilder) -> Result<Component, CircuitError> {
    c.reserve(GHASH_GATES as usize);
    let [state, key, block] = ["state", "key", "block"].map(|name| c.input::<Bytes>(name, Type::Bytes(16)));
    let state = c.xor_words(&state, &block);
    let terms = |bytes: &Bytes| -> Vec<Bit> { bytes.0.chunks(8).flat_map(|byte| byte.iter().rev()).copied().collect() };
    let product = product(&mut c, &terms(&state), &terms(&key));
    let state = remainder(&mut c, &product, &FIELD);
    c.output("state", &Bytes(state.chunks(8).flat_map(|byte| byte.iter().rev()).copied().collect()));
    c.finish()
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{hex, outputs};

    #[test]
    fn rfc_3686_counter_mode() {
        // Test vectors 1, 3 and 9. The nonce of four bytes and the initialisation vector of eight are one input here.
        for (name, key, nonce, text, expected) in [
            (
                "aes128-ctr(16)",
                "ae6852f8121067cc4bf7a5765577f39e",
                "000000300000000000000000",
                "53696e676c6520626c6f636b206d7367",
                "e4095d4fb7a7b3792d6175a3261311b8",
            ),
            (
                "aes128-ctr(36)",
                "7691be035e5020a8ac6e618529f9a0dc",
                "00e0017b27777f3f4a1786f0",
                "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223",
                "c1cf48a89f2ffdd9cf4652e9efdb72d74540a42bde6d7836d59a5ceaaef3105325b2072f",
            ),
            (
                "aes256-ctr(36)",
                "ff7a617ce69148e4f1726e2f43581de2aa62d9f805532edff1eed687fb54153d",
                "001cc5b751a51d70a1c11148",
                "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223",
                "eb6c52821d0bbbf7ce7594462aca4faab407df866569fd07f48cc0b583d6071f1ec0e6b8",
            ),
        ] {
            assert_eq!(outputs(name, &[&hex(key), &hex(nonce), &hex(text)]), [hex(expected)], "{name}");
        }
    }

    #[test]
    fn rfc_4493_tags() {
        // Section 4, examples 1 to 4.
        let message = hex(concat!(
            "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51",
            "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
        ));
        for (bytes, tag) in [
            (0, "bb1d6929e95937287fa37d129b756746"),
            (16, "070a16b46b4d4144f79bdd9dd04a287c"),
            (40, "dfa66747de9ae63030ca32611497c827"),
            (64, "51f0bebf7e3b9d92fc49741779363cfe"),
        ] {
            let key = hex("2b7e151628aed2a6abf7158809cf4f3c");
            assert_eq!(
                outputs(&format!("aes128-cmac({bytes})"), &[&key, &message[..bytes]]),
                [hex(tag)],
                "{bytes} bytes"
            );
        }
    }

    /// The texts of McGrew and Viega, *The Galois/Counter Mode of Operation*, appendix B, test cases 3, 4 and 16.
    const TEXT: &str = concat!(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72",
        "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255"
    );

    #[test]
    fn test_cases_of_gcm() {
        let key = "feffe9928665731c6d6a8f9467308308";
        let nonce = hex("cafebabefacedbaddecaf888");
        let beside = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let ciphertext = concat!(
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e",
            "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985"
        );
        let long = concat!(
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa",
            "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"
        );
        // Cases 3, 4 and 16.
        for (name, key, beside, bytes, ciphertext, tag) in [
            ("aes128-gcm(0, 64)", key.to_string(), &beside[..0], 64, ciphertext, "4d5c2af327cd64a62cf35abd2ba6fab4"),
            ("aes128-gcm(20, 60)", key.to_string(), &beside[..], 60, ciphertext, "5bc94fbc3221a5db94fae95ae7121a47"),
            ("aes256-gcm(20, 60)", key.repeat(2), &beside[..], 60, long, "76fc6ece0f4e1768cddf8853bb2d551b"),
        ] {
            let made = outputs(name, &[&hex(&key), &nonce, beside, &hex(TEXT)[..bytes]]);
            assert_eq!(made, [hex(ciphertext)[..bytes].to_vec(), hex(tag)], "{name}");
        }
    }

    #[test]
    fn ghash_of_test_case_2() {
        // Appendix B, test case 2: the hash of a block of ciphertext and of the lengths.
        let data = hex("0388dace60b6a392f328c2b971b2fe7800000000000000000000000000000080");
        let hash = outputs("ghash(2)", &[&hex("66e94bd4ef8a2c3b884cfa59ca342b2e"), &data]);
        assert_eq!(hash, [hex("f38cbb1ad69223dcc3457ae5b6b0f885")]);
    }
}
