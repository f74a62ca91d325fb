//! The key derivation of TLS 1.2 with SHA-256.

use garblet_circuit::{CircuitError, ComponentId, Party, Program, Recipients, Type};

use super::{Family, SHA256};
use crate::{
    builder::{ProgramBuilder, Wires},
    library::member::{Build, Member, Parameter},
};

/// The bytes of a master secret, and of each party's random number.
const MASTER: u32 = 48;
const RANDOM: u32 = 32;

/// - `tls12-prf(k, s, n)`: n bytes of the pseudo-random function. The seed begins with the label. `verify_data` of a finished message is
///   12 bytes under the master secret, with the seed `client finished` or `server finished` and the hash of the handshake.
/// - `tls12-master-secret(k)`: the master secret from a premaster secret of k bytes and the random numbers of client and server.
/// - `tls12-extended-master-secret(k)`: the same from a premaster secret and the hash of the handshake.
/// - `tls12-key-block(n)`: n bytes of key material: keys for MACs if the cipher needs them, keys, initial values, first those of the client.
///
/// A secret has at most 64 bytes: of a longer one, give its SHA-256 digest, which has the same results.
///
/// *Source*: RFC 5246, sections 5, 6.3 and 8.1; RFC 7627, section 4.
pub(in crate::library) const MEMBERS: &[Member] = &[
    Member {
        name: "tls12-prf",
        summary: "the pseudo-random function of TLS 1.2 with SHA-256, of party 0's secret and party 1's label and seed",
        parameters: &[
            Parameter::new("secret_bytes", 48, 1, 64),
            Parameter::new("seed_bytes", 47, 1, 1 << 12),
            Parameter::new("output", 12, 1, 1 << 12),
        ],
        ands: "22271 (ceil((seed_bytes + 73) / 64) + ceil(output / 32) (ceil((seed_bytes + 105) / 64) + 2))",
        and_count: |p| prf_ands(p[1], p[2]),
        build: Build::Program {
            size: |p| SHA256.size((p[1] + 128) * p[2].div_ceil(32)),
            build: |program, p| {
                let inputs = [("secret", p[0], 0), ("seed", p[1], 1)];
                SHA256.derived(program, "", &inputs, ("output", p[2]))
            },
        },
    },
    Member {
        name: "tls12-master-secret",
        summary: "the master secret of TLS 1.2 from party 0's premaster secret and the random numbers of client and server",
        parameters: &[PREMASTER],
        ands: "289523",
        and_count: |_| prf_ands(13 + 2 * u64::from(RANDOM), MASTER.into()),
        build: Build::Program {
            size: |_| SHA256.size(512),
            build: |program, p| {
                let inputs = [("premaster", p[0], 0), ("client_random", RANDOM, 1), ("server_random", RANDOM, 1)];
                SHA256.derived(program, "master secret", &inputs, ("master_secret", MASTER))
            },
        },
    },
    Member {
        name: "tls12-extended-master-secret",
        summary: "the extended master secret of TLS 1.2 from party 0's premaster secret and the hash of the handshake",
        parameters: &[PREMASTER],
        ands: "267252",
        and_count: |_| prf_ands(22 + 32, MASTER.into()),
        build: Build::Program {
            size: |_| SHA256.size(512),
            build: |program, p| {
                let inputs = [("premaster", p[0], 0), ("session_hash", 32, 1)];
                SHA256.derived(program, "extended master secret", &inputs, ("master_secret", MASTER))
            },
        },
    },
    Member {
        name: "tls12-key-block",
        summary: "the key material of TLS 1.2 from party 0's master secret and the random numbers of server and client",
        // Keys of 16 bytes and initial values of 4, as for AES-128-GCM.
        parameters: &[Parameter::new("output", 40, 1, 1 << 12)],
        ands: "22271 (5 ceil(output / 32) + 3)",
        and_count: |p| prf_ands(13 + 2 * u64::from(RANDOM), p[0]),
        build: Build::Program {
            size: |p| SHA256.size(256 * p[0].div_ceil(32)),
            build: |program, p| {
                let inputs = [("master_secret", MASTER, 0), ("server_random", RANDOM, 1), ("client_random", RANDOM, 1)];
                SHA256.derived(program, "key expansion", &inputs, ("key_block", p[0]))
            },
        },
    },
];

const PREMASTER: Parameter = Parameter::new("premaster_bytes", 32, 1, 64);

/// The AND gates of the pseudo-random function, of a seed with its label and an output of so many bytes.
fn prf_ands(seed_bytes: u64, output: u64) -> u64 {
    let parts = output.div_ceil(32);
    let of_tag = |bytes: u64| SHA256.message_ands(64 + bytes);
    2 * SHA256.ands + of_tag(seed_bytes) + (parts - 1) * of_tag(32) + parts * of_tag(32 + seed_bytes)
}

impl Family {
    /// A program of the pseudo-random function. The first input is the secret. The seed is the label and the other inputs. Each has a name,
    /// its bytes, and a party.
    fn derived(
        &self,
        mut p: ProgramBuilder,
        label: &str,
        inputs: &[(&str, u32, u16)],
        (name, output): (&str, u32),
    ) -> Result<Program, CircuitError> {
        let compression = p.component(self.compression(p.circuit(self.name))?);
        let mut wires = Vec::new();
        for (name, bytes, party) in inputs {
            wires.push(p.input(*name, Type::Bytes(*bytes), Party(*party))?);
        }
        let label_wires = Wires::constant_bytes(label.as_bytes());
        let seed_bytes = label.len() as u32 + inputs[1..].iter().map(|(_, bytes, _)| bytes).sum::<u32>();
        let seed = Wires::concat(Type::Bytes(seed_bytes), [&label_wires].into_iter().chain(&wires[1..]));
        let keyed = self.keyed(&mut p, compression, &wires[0], inputs[0].1)?;
        let material = self.prf(&mut p, compression, &keyed, (&seed, seed_bytes), output)?;
        p.output(name, &material, Recipients::All)?;
        Ok(p.finish())
    }

    /// RFC 5246, section 5: P_hash, of a secret whose blocks have been hashed.
    fn prf(
        &self,
        p: &mut ProgramBuilder,
        compression: ComponentId,
        keyed: &[Wires; 2],
        (seed, seed_bytes): (&Wires, u32),
        output: u32,
    ) -> Result<Wires, CircuitError> {
        let digest = self.width as u32;
        let mut parts: Vec<Wires> = Vec::new();
        // A(1), A(2) and so on.
        let mut a = self.tag(p, compression, keyed, (seed, seed_bytes))?;
        for number in 0..output.div_ceil(digest) {
            if number > 0 {
                a = self.tag(p, compression, keyed, (&a, digest))?;
            }
            let text = Wires::concat(Type::Bytes(digest + seed_bytes), [&a, seed]);
            parts.push(self.tag(p, compression, keyed, (&text, digest + seed_bytes))?);
        }
        let all = Wires::concat(Type::Bytes(digest * parts.len() as u32), &parts);
        Ok(all.slice(0, Type::Bytes(output)))
    }
}

#[cfg(test)]
mod tests {
    use crate::library::tests::{hex, outputs, steps};

    /// The vector for SHA-256 in the message "TLS 1.2 PRF test vectors" to the TLS working group's list.
    #[test]
    fn published_output_of_the_function() {
        let secret = hex("9bbe436ba940f017b17652849a71db35");
        let seed = [b"test label".to_vec(), hex("a0ba9f936cda311827a6f796ffd5198c")].concat();
        let expected = "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff70187347b66";
        assert_eq!(outputs("tls12-prf(16, 26, 100)", &[&secret, &seed]), [hex(expected)]);
    }

    /// Expected values are those of `hmac` of Python.
    #[test]
    fn secrets_and_keys() {
        let (first, second, master) = (steps(2, 32), steps(3, 32), steps(5, 48));
        let finished = [b"client finished".to_vec(), steps(6, 32)].concat();
        let cases: [(&str, &[&[u8]], &str); 7] = [
            (
                "tls12-master-secret(48)",
                &[&steps(1, 48), &first, &second],
                "51288b16b9984a34735cd50db8737e3b44845ce93541042fe732a6bbe988e7630e5b5cd80169fedb3f1b6ef9d62f6328",
            ),
            (
                "tls12-master-secret",
                &[&steps(1, 32), &first, &second],
                "12f9d20717a11bade9cdb59a932d1c720ccbf2b0b188d7b00c38f6b6fb291d9b3ff2353711da626e14e8f34f4274dc5e",
            ),
            (
                "tls12-extended-master-secret(48)",
                &[&steps(1, 48), &steps(4, 32)],
                "c8daf5fb62faef336dd8b33a12c28d6e10a7da005b59427cfa0618a757ead828377fdeb1d24a534e7a8dfae8817af3b2",
            ),
            (
                "tls12-extended-master-secret",
                &[&steps(1, 32), &steps(4, 32)],
                "936138c95a7ef20c785d326ffa050a2ee6ee6ec4f017b09574c2b1a6b348e4f852af6287322e06309f853f883dbd2db9",
            ),
            (
                "tls12-key-block",
                &[&master, &first, &second],
                "a23d778ac3f0820b6136d86a2d67591552cef8b8de53952d38d75296f2602489d129ab67c36ecdc2",
            ),
            (
                "tls12-key-block(72)",
                &[&master, &first, &second],
                "a23d778ac3f0820b6136d86a2d67591552cef8b8de53952d38d75296f2602489d129ab67c36ecdc226334a168cf2210696822d22283e3e406bb0b19b016de8805f71ec83f248e0af",
            ),
            ("tls12-prf", &[&master, &finished], "eeb1d011ec63915270809679"),
        ];
        for (name, inputs, expected) in cases {
            assert_eq!(outputs(name, inputs), [hex(expected)], "{name}");
        }
    }
}
