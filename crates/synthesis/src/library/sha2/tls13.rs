//! The key schedule of TLS 1.3 with SHA-256.

use garblet_circuit::{CircuitError, Component, ComponentId, Party, Program, Recipients, Type, evaluate_circuit};

use super::{INITIAL, SHA256};
use crate::{
    builder::{ProgramBuilder, Wires},
    library::member::{Build, Member, Parameter},
};

/// The bytes of a secret and of a hash, and those of an initial value.
const SECRET: u32 = 32;
const IV: u32 = 12;

/// SHA-256 of nothing.
const EMPTY_HASH: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41,
    0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// The salt of the handshake secret without a pre-shared key, which everybody knows (RFC 8448, section 3).
const SALT_WITHOUT_PSK: [u8; 32] = [
    0x6f, 0x26, 0x15, 0xa1, 0x08, 0xc7, 0x02, 0xc5, 0x67, 0x8f, 0x54, 0xfc, 0x9d, 0xba, 0xb6, 0x97, 0x16, 0xc0, 0x76,
    0x18, 0x9c, 0x48, 0x25, 0x0c, 0xeb, 0xea, 0xc3, 0x57, 0x6c, 0x36, 0x11, 0xba,
];

/// - `tls13-expand-label(l, c, n)`: HKDF-Expand-Label, n bytes for a label of l bytes, without its prefix `tls13 `, and a context of c bytes. With
///   a hash as its context and 32 bytes it is Derive-Secret. It has the members for all that the others lack: keys of finished messages,
///   exporters, secrets for resumption, updates.
/// - `tls13-early-secret(k)`: the early secret from a pre-shared key of k bytes.
/// - `tls13-handshake-secrets(k)`: the handshake secret without a pre-shared key, from a shared secret of k bytes, and the traffic secrets of client and
///   server with the hash of the messages up to the server's hello.
/// - `tls13-psk-handshake-secrets(k, s)`: the same with a pre-shared key of k bytes and a shared secret of s bytes.
/// - `tls13-master-secrets`: the master secret, the traffic secrets of client and server, and the exporter's, with the hash of the messages up to
///   the server's finished one.
/// - `tls13-traffic-keys(n)`: the key of n bytes and the initial value of a traffic secret.
///
/// *Source*: RFC 8446, sections 7.1 and 7.3.
pub(in crate::library) const MEMBERS: &[Member] = &[
    Member {
        name: "tls13-expand-label",
        summary: "HKDF-Expand-Label of TLS 1.3 with SHA-256, of party 0's secret and party 1's label and context",
        parameters: &[
            Parameter::new("label_bytes", 8, 1, 249),
            Parameter::new("context_bytes", 0, 0, 255),
            Parameter::new("output", 32, 1, 255 * 32),
        ],
        ands: "22271 (ceil((label_bytes + context_bytes + 84) / 64) + 2 + (ceil(output / 32) - 1) ceil((label_bytes + context_bytes + 116) / 64))",
        and_count: |p| 2 * SHA256.ands + label_ands(p[0] + p[1], p[2]),
        build: Build::Program {
            size: |p| SHA256.size((p[0] + p[1] + 128) * p[2].div_ceil(32)),
            build: |program, p| Schedule::new(program)?.label(p[0], p[1], p[2]),
        },
    },
    Member {
        name: "tls13-early-secret",
        summary: "the early secret of TLS 1.3 from party 0's pre-shared key",
        parameters: &[PSK],
        ands: "22271 ceil((psk_bytes + 73) / 64)",
        and_count: |p| extract_ands(p[0]),
        build: Build::Program { size: |p| SHA256.size(p[0]), build: |program, p| Schedule::new(program)?.early(p[0]) },
    },
    Member {
        name: "tls13-handshake-secrets",
        summary: "the handshake secrets of TLS 1.3 from party 0's shared secret and the hash of the hellos",
        parameters: &[SHARED],
        ands: "22271 (ceil((shared_bytes + 73) / 64) + 6)",
        and_count: |p| extract_ands(p[0]) + handshake_ands(),
        build: Build::Program {
            size: |p| SHA256.size(512 + p[0]),
            build: |program, p| Schedule::new(program)?.handshake(None, p[0]),
        },
    },
    Member {
        name: "tls13-psk-handshake-secrets",
        summary: "the handshake secrets of TLS 1.3 from party 0's pre-shared key and shared secret and the hash of the hellos",
        parameters: &[PSK, SHARED],
        ands: "22271 (ceil((psk_bytes + 73) / 64) + ceil((shared_bytes + 73) / 64) + 12)",
        and_count: |p| extract_ands(p[0]) + next_ands() + extract_ands(p[1]) + handshake_ands(),
        build: Build::Program {
            size: |p| SHA256.size(1024 + p[0] + p[1]),
            build: |program, p| Schedule::new(program)?.handshake(Some(p[0]), p[1]),
        },
    },
    Member {
        name: "tls13-master-secrets",
        summary: "the master secrets of TLS 1.3 from party 0's handshake secret and the hash of the handshake",
        parameters: &[],
        ands: "356336",
        and_count: |_| {
            let secrets = ["c ap traffic", "s ap traffic", "exp master"].map(|label| secret_ands(label.len()));
            next_ands() + extract_ands(SECRET.into()) + 2 * SHA256.ands + secrets.iter().sum::<u64>()
        },
        build: Build::Program { size: |_| SHA256.size(1024), build: |program, _| Schedule::new(program)?.master() },
    },
    Member {
        name: "tls13-traffic-keys",
        summary: "the key and the initial value of TLS 1.3 from party 0's traffic secret",
        parameters: &[Parameter::new("key_bytes", 16, 1, 32)],
        ands: "133626",
        and_count: |p| 2 * SHA256.ands + label_ands(3, p[0]) + label_ands(2, IV.into()),
        build: Build::Program { size: |_| SHA256.size(256), build: |program, p| Schedule::new(program)?.keys(p[0]) },
    },
];

const PSK: Parameter = Parameter::new("psk_bytes", 32, 1, 1 << 12);
const SHARED: Parameter = Parameter::new("shared_bytes", 32, 1, 1 << 12);

/// The AND gates of HKDF-Extract with a salt whose blocks have been hashed.
fn extract_ands(bytes: u64) -> u64 {
    SHA256.message_ands(64 + bytes)
}

/// The AND gates of HKDF-Expand-Label under a secret whose blocks have been hashed.
fn label_ands(label_and_context: u64, output: u64) -> u64 {
    let [first, other] = [75, 107].map(|more| SHA256.message_ands(more + label_and_context));
    first + (output.div_ceil(32) - 1) * other
}

/// The AND gates of Derive-Secret under a secret whose blocks have been hashed.
fn secret_ands(label: usize) -> u64 {
    label_ands(label as u64 + 32, 32)
}

/// The AND gates from a secret to the salt of the next one, with its blocks hashed.
fn next_ands() -> u64 {
    4 * SHA256.ands + secret_ands("derived".len())
}

/// The AND gates from the handshake secret to the traffic secrets.
fn handshake_ands() -> u64 {
    2 * SHA256.ands + secret_ands("c hs traffic".len()) + secret_ands("s hs traffic".len())
}

/// A secret, or a salt, whose inner and outer block have been hashed.
type Keyed = [Wires; 2];

/// A program with the key schedule.
struct Schedule {
    program: ProgramBuilder,
    compression: ComponentId,
    /// The same, to hash what everybody knows.
    known: Component,
}

impl Schedule {
    fn new(mut program: ProgramBuilder) -> Result<Self, CircuitError> {
        let known = SHA256.compression(program.circuit(SHA256.name))?;
        Ok(Schedule { compression: program.component(known.clone()), program, known })
    }

    fn input(&mut self, name: &str, bytes: u32, party: u16) -> Result<Wires, CircuitError> {
        self.program.input(name, Type::Bytes(bytes), Party(party))
    }

    fn output(&mut self, name: &str, wires: &Wires) -> Result<(), CircuitError> {
        self.program.output(name, wires, Recipients::All)
    }

    fn keyed(&mut self, secret: &Wires) -> Result<Keyed, CircuitError> {
        SHA256.keyed(&mut self.program, self.compression, secret, SECRET)
    }

    /// The same of a salt that everybody knows, without gates.
    fn known_salt(&self, salt: &[u8; 32]) -> Keyed {
        [0x36, 0x5c].map(|pad| {
            let block = (0..64).map(|k| salt.get(k).copied().unwrap_or(0) ^ pad);
            let state = INITIAL.iter().flat_map(|word| word.to_be_bytes().into_iter().take(4));
            let bits = state.chain(block).flat_map(|byte| (0..8).map(move |i| u64::from(byte >> i & 1)));
            let hashed = evaluate_circuit(self.known.circuit(), &bits.collect::<Vec<u64>>());
            let byte = |bits: &[u64]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | (bit & 1) as u8);
            Wires::constant_bytes(&hashed.chunks(8).map(byte).collect::<Vec<u8>>())
        })
    }

    /// HKDF-Extract.
    fn extract(&mut self, salt: &Keyed, material: (&Wires, u32)) -> Result<Wires, CircuitError> {
        SHA256.tag(&mut self.program, self.compression, salt, material)
    }

    /// HKDF-Expand-Label: the label without its prefix and the context, each with its bytes.
    fn expand_label(
        &mut self,
        secret: &Keyed,
        (label, label_bytes): (&Wires, u32),
        (context, context_bytes): (&Wires, u32),
        output: u32,
    ) -> Result<Wires, CircuitError> {
        let [high, low] = (output as u16).to_be_bytes();
        let begin = [&[high, low, 6 + label_bytes as u8], &b"tls13 "[..]].concat();
        let [begin, middle] = [&begin[..], &[context_bytes as u8]].map(Wires::constant_bytes);
        let bytes = 10 + label_bytes + context_bytes;
        let info = Wires::concat(Type::Bytes(bytes), [&begin, label, &middle, context]);
        SHA256.expanded(&mut self.program, self.compression, secret, (&info, bytes), output)
    }

    /// Derive-Secret, with the hash of the messages.
    fn derive(&mut self, secret: &Keyed, label: &str, hash: &Wires) -> Result<Wires, CircuitError> {
        let label = (&Wires::constant_bytes(label.as_bytes()), label.len() as u32);
        self.expand_label(secret, label, (hash, SECRET), SECRET)
    }

    /// The salt that a secret gives to the next one.
    fn next_salt(&mut self, secret: &Wires) -> Result<Keyed, CircuitError> {
        let keyed = self.keyed(secret)?;
        let salt = self.derive(&keyed, "derived", &Wires::constant_bytes(&EMPTY_HASH))?;
        self.keyed(&salt)
    }

    fn label(mut self, label_bytes: u32, context_bytes: u32, output: u32) -> Result<Program, CircuitError> {
        let secret = self.input("secret", SECRET, 0)?;
        let label = self.input("label", label_bytes, 1)?;
        let context = self.input("context", context_bytes, 1)?;
        let keyed = self.keyed(&secret)?;
        let expanded = self.expand_label(&keyed, (&label, label_bytes), (&context, context_bytes), output)?;
        self.output("output", &expanded)?;
        Ok(self.program.finish())
    }

    fn early(mut self, psk_bytes: u32) -> Result<Program, CircuitError> {
        let psk = self.input("psk", psk_bytes, 0)?;
        let secret = self.extract(&self.known_salt(&[0; 32]), (&psk, psk_bytes))?;
        self.output("early_secret", &secret)?;
        Ok(self.program.finish())
    }

    fn handshake(mut self, psk_bytes: Option<u32>, shared_bytes: u32) -> Result<Program, CircuitError> {
        let psk = psk_bytes.map(|bytes| Ok((self.input("psk", bytes, 0)?, bytes))).transpose()?;
        let shared = self.input("shared_secret", shared_bytes, 0)?;
        let hash = self.input("hash", SECRET, 1)?;
        let salt = match psk {
            None => self.known_salt(&SALT_WITHOUT_PSK),
            Some((psk, bytes)) => {
                let early = self.extract(&self.known_salt(&[0; 32]), (&psk, bytes))?;
                self.next_salt(&early)?
            }
        };
        let secret = self.extract(&salt, (&shared, shared_bytes))?;
        self.output("handshake_secret", &secret)?;
        let keyed = self.keyed(&secret)?;
        self.secrets(&keyed, &hash, &[("client_traffic", "c hs traffic"), ("server_traffic", "s hs traffic")])
    }

    fn master(mut self) -> Result<Program, CircuitError> {
        let handshake = self.input("handshake_secret", SECRET, 0)?;
        let hash = self.input("hash", SECRET, 1)?;
        let salt = self.next_salt(&handshake)?;
        let secret = self.extract(&salt, (&Wires::constant_bytes(&[0; 32]), SECRET))?;
        self.output("master_secret", &secret)?;
        let keyed = self.keyed(&secret)?;
        let names =
            [("client_traffic", "c ap traffic"), ("server_traffic", "s ap traffic"), ("exporter", "exp master")];
        self.secrets(&keyed, &hash, &names)
    }

    /// Ends with secrets by name and label.
    fn secrets(mut self, keyed: &Keyed, hash: &Wires, names: &[(&str, &str)]) -> Result<Program, CircuitError> {
        for (name, label) in names {
            let secret = self.derive(keyed, label, hash)?;
            self.output(name, &secret)?;
        }
        Ok(self.program.finish())
    }

    fn keys(mut self, key_bytes: u32) -> Result<Program, CircuitError> {
        let secret = self.input("secret", SECRET, 0)?;
        let keyed = self.keyed(&secret)?;
        for (name, bytes) in [("key", key_bytes), ("iv", IV)] {
            let label = (&Wires::constant_bytes(name.as_bytes()), name.len() as u32);
            let derived = self.expand_label(&keyed, label, (&Wires::constant_bytes(&[]), 0), bytes)?;
            self.output(name, &derived)?;
        }
        Ok(self.program.finish())
    }
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{hex, outputs, steps};

    fn check(name: &str, inputs: &[&[u8]], expected: &[&str]) {
        let expected: Vec<Vec<u8>> = expected.iter().map(|text| hex(text)).collect();
        assert_eq!(outputs(name, inputs), expected, "{name}");
    }

    #[test]
    fn the_handshake_of_rfc_8448() {
        // Section 3.
        let handshake = "1dc826e93606aa6fdc0aadc12f741b01046aa6b99f691ed221a9f0ca043fbeac";
        let client = "b3eddb126e067f35a780b3abf45e2d8f3b1a950738f52e9600746a0e27a55a21";
        let server = "b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38";
        let shared = hex("8bd4054fb55b9d63fdfbacf9f04b9f0d35e6d63f537563efd46272900f89492d");
        let hellos = hex("860c06edc07858ee8e78f0e7428c58edd6b43f2ca3e6e95f02ed063cf0e1cad8");
        check("tls13-handshake-secrets", &[&shared, &hellos], &[handshake, client, server]);
        // A key of zeros stands for none.
        check("tls13-psk-handshake-secrets", &[&[0; 32], &shared, &hellos], &[handshake, client, server]);
        check("tls13-early-secret", &[&[0; 32]], &["33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a"]);
        check("tls13-traffic-keys", &[&hex(client)], &["dbfaa693d1762c5b666af5d950258d01", "5bd3c71b836e0b76bb73265f"]);
        check("tls13-traffic-keys", &[&hex(server)], &["3fce516009c21727d0f2e4e86ee403bc", "5d313eb2671276ee13000b30"]);
        check(
            "tls13-expand-label",
            &[&hex(server), b"finished", b""],
            &["008d3b66f816ea559f96b537e885c31fc068bf492c652f01f288a1d8cdc19fc8"],
        );
        let finished = hex("9608102a0f1ccc6db6250b7b7e417b1a000eaada3daae4777a7686c9ff83df13");
        check(
            "tls13-master-secrets",
            &[&hex(handshake), &finished],
            &[
                "18df06843d13a08bf2a449844c5f8a478001bc4d4c627984d5a41da8d0402919",
                "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5",
                "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643",
                "fe22f881176eda18eb8f44529e6792c50c9a3f89452f68d8ae311b4309d3cf50",
            ],
        );
    }

    /// Expected values are those of `hmac` of Python.
    #[test]
    fn other_lengths() {
        check(
            "tls13-early-secret(48)",
            &[&steps(9, 48)],
            &["9102a436d4ea7d2fb94aa8310a4cd0222a57e0ea8bc8ba5dac20d0ebf357f0bc"],
        );
        check(
            "tls13-psk-handshake-secrets(32, 48)",
            &[&steps(9, 32), &steps(8, 48), &steps(10, 32)],
            &[
                "394f8f622395f5fc01e8a05c03307b52ea23eee5a1190fc95b68062c25ccb9ba",
                "9bbd0af5e9465fb4128896b3aa080b1390ea1e8e679ef451e611f86738105079",
                "a8a3d9d81c199b13b5ffa2f87935cebc5c26708baa2e1a3473659e82865d94ff",
            ],
        );
        check(
            "tls13-handshake-secrets(48)",
            &[&steps(8, 48), &steps(10, 32)],
            &[
                "0ac7ad46b64331f75f3711faa8ef529c27235cb6c3c2271a8e47ed663371cd85",
                "139d64b138e2f89f3a20887d94dae812880f8c0d2654d4e9b9aea19417b9f211",
                "d8b7ee2871015265c22d1de11258ec705b30818ee2fb21255857ca8751c8eb56",
            ],
        );
        check(
            "tls13-traffic-keys(32)",
            &[&steps(11, 32)],
            &["24034052eb93b61b70c03b49435e578db2a36738e4eea727ce8a3c2a80c58528", "dc445e8894ccc2bd51217ecd"],
        );
        check(
            "tls13-expand-label(8, 32, 80)",
            &[&steps(12, 32), b"exporter", &steps(13, 32)],
            &[
                "ccfc329b6f4be43b03c55d65f362a8027c6b9f6851dc2cec7ba513ff079bc9ce870237b6eb162aff4344900919c0e541d8082c486cad711889c9ea657b1588c1d00c6a6b532d8aaac42baf0f54e1e56e",
            ],
        );
    }
}
