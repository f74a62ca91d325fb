//! SHA-3 and SHAKE (FIPS 202).

use garblet_circuit::{CircuitError, Component, Party, Program, Recipients, Type};

use super::{
    member::{Build, Member, Parameter},
    sha2::slice,
};
use crate::builder::{Bit, Bytes, CircuitBuilder, ProgramBuilder, Wires};

/// AND gates of the permutation: one for each bit of the state and round.
const ANDS: u64 = 1600 * 24;

/// - `keccak-f`: the permutation `Keccak-f[1600]`, 38,400 AND gates in 24 layers.
/// - `sha3-256-message(n)`, `sha3-512-message(n)`: the digest of a message of n bytes, of which each block takes a permutation.
/// - `shake128(n, m)`, `shake256(n, m)`: m bytes of output for a message of n bytes.
///
/// *Source*: FIPS 202, sections 3.2, 3.3, 4 and 6.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "keccak-f",
        summary: "the permutation Keccak-f[1600] of party 0's state",
        parameters: &[],
        ands: "38400",
        and_count: |_| ANDS,
        build: Build::Component { owners: &[Party(0)], build: |c, _| permutation(c, 0) },
    },
    Member {
        name: "sha3-256-message",
        summary: "SHA3-256 of a message of party 0",
        parameters: &[message(136)],
        ands: "38400 ceil((bytes + 1) / 136)",
        and_count: |p| SHA3_256.ands(p[0], 32),
        build: Build::Program {
            size: |p| SHA3_256.size(p[0], 32),
            build: |program, p| SHA3_256.program(program, p[0], 32),
        },
    },
    Member {
        name: "sha3-512-message",
        summary: "SHA3-512 of a message of party 0",
        parameters: &[message(72)],
        ands: "38400 ceil((bytes + 1) / 72)",
        and_count: |p| SHA3_512.ands(p[0], 64),
        build: Build::Program {
            size: |p| SHA3_512.size(p[0], 64),
            build: |program, p| SHA3_512.program(program, p[0], 64),
        },
    },
    Member {
        name: "shake128",
        summary: "output of SHAKE128 for a message of party 0",
        parameters: &[MESSAGE, OUTPUT],
        ands: "38400 (ceil((bytes + 1) / 168) + ceil(output / 168) - 1)",
        and_count: |p| SHAKE128.ands(p[0], p[1]),
        build: Build::Program {
            size: |p| SHAKE128.size(p[0], p[1]),
            build: |program, p| SHAKE128.program(program, p[0], p[1]),
        },
    },
    Member {
        name: "shake256",
        summary: "output of SHAKE256 for a message of party 0",
        parameters: &[MESSAGE, OUTPUT],
        ands: "38400 (ceil((bytes + 1) / 136) + ceil(output / 136) - 1)",
        and_count: |p| SHAKE256.ands(p[0], p[1]),
        build: Build::Program {
            size: |p| SHAKE256.size(p[0], p[1]),
            build: |program, p| SHAKE256.program(program, p[0], p[1]),
        },
    },
];

/// A message of up to 64 MiB, by default with two blocks.
const fn message(bytes: u32) -> Parameter {
    Parameter::new("bytes", bytes, 0, 1 << 26)
}

const MESSAGE: Parameter = message(64);
const OUTPUT: Parameter = Parameter::new("output", 200, 1, 1 << 26);

/// Bytes of the state.
const STATE: u32 = 200;

/// A function of the family.
struct Sponge {
    /// Bytes of a block.
    rate: u32,
    /// The bits that follow the message, with the first one of the padding.
    suffix: u8,
}

const SHA3_256: Sponge = Sponge { rate: 136, suffix: 0x06 };
const SHA3_512: Sponge = Sponge { rate: 72, suffix: 0x06 };
const SHAKE128: Sponge = Sponge { rate: 168, suffix: 0x1f };
const SHAKE256: Sponge = Sponge { rate: 136, suffix: 0x1f };

/// A lane: 64 bits of the state, bit 0 first.
type Lane = [Bit; 64];

/// The amounts by which lanes turn, in the order in which `pi` meets them: the triangular numbers.
fn rotations() -> impl Iterator<Item = usize> {
    (1..=24).map(|t| t * (t + 1) / 2 % 64)
}

/// The constants of `iota`, by the register of section 3.2.5: bit 2^j - 1 of round i is its bit j + 7 i.
fn round_constants() -> Vec<u64> {
    let mut register = 1u16;
    let mut bits = std::iter::repeat_with(move || {
        let bit = register & 1;
        register <<= 1;
        // x^8 + x^6 + x^5 + x^4 + 1, with the newest bit at place 0.
        register = (register & 0xff) ^ ((register >> 8) * 0x71);
        bit
    });
    (0..24)
        .map(|_| (0..7).fold(0, |constant, j| constant | u64::from(bits.next() == Some(1)) << ((1 << j) - 1)))
        .collect()
}

/// The permutation of a state, with a block of this many bytes added to its beginning first.
fn permutation(mut c: CircuitBuilder, rate: u32) -> Result<Component, CircuitError> {
    c.reserve(200_000);
    let Bytes(mut state) = c.input("state", Type::Bytes(STATE));
    if rate > 0 {
        let Bytes(block) = c.input("block", Type::Bytes(rate));
        for (bit, added) in state.iter_mut().zip(block) {
            *bit = c.xor(*bit, added);
        }
    }
    // Lane (x, y) is number x + 5 y.
    let mut lanes: [Lane; 25] = std::array::from_fn(|lane| std::array::from_fn(|z| state[64 * lane + z]));
    for constant in round_constants() {
        lanes = round(&mut c, &lanes, constant);
    }
    c.output("state", &Bytes(lanes.as_flattened().to_vec()));
    c.finish()
}

/// Section 3.2: theta, rho with pi, chi, iota.
fn round(c: &mut CircuitBuilder, lanes: &[Lane; 25], constant: u64) -> [Lane; 25] {
    let columns: [Lane; 5] =
        std::array::from_fn(|x| std::array::from_fn(|z| c.parity(&[0, 1, 2, 3, 4].map(|y| lanes[x + 5 * y][z]))));
    let effect: [Lane; 5] = std::array::from_fn(|x| {
        std::array::from_fn(|z| c.xor(columns[(x + 4) % 5][z], columns[(x + 1) % 5][(z + 63) % 64]))
    });
    let mixed: [Lane; 25] =
        std::array::from_fn(|lane| std::array::from_fn(|z| c.xor(lanes[lane][z], effect[lane % 5][z])));
    let mut moved = mixed;
    let (mut x, mut y) = (1, 0);
    for amount in rotations() {
        let turned: Lane = std::array::from_fn(|z| mixed[x + 5 * y][(z + 64 - amount) % 64]);
        (x, y) = (y, (2 * x + 3 * y) % 5);
        moved[x + 5 * y] = turned;
    }
    std::array::from_fn(|lane| {
        let (x, row) = (lane % 5, lane - lane % 5);
        std::array::from_fn(|z| {
            let both = c.and(!moved[row + (x + 1) % 5][z], moved[row + (x + 2) % 5][z]);
            let bit = c.xor(moved[lane][z], both);
            bit.invert_if(lane == 0 && constant >> z & 1 == 1)
        })
    })
}

impl Sponge {
    /// Blocks of a message with its padding.
    fn blocks(&self, bytes: u64) -> u64 {
        (bytes + 1).div_ceil(self.rate.into())
    }

    /// Permutations after the last block of the message.
    fn more(&self, output: u64) -> u64 {
        output.div_ceil(self.rate.into()) - 1
    }

    fn ands(&self, bytes: u64, output: u64) -> u64 {
        ANDS * (self.blocks(bytes) + self.more(output))
    }

    /// About the number of gates and instances.
    fn size(&self, bytes: u64, output: u64) -> u64 {
        400_000 + 8 * (self.blocks(bytes) + self.more(output))
    }

    fn program(&self, mut p: ProgramBuilder, bytes: u32, output: u32) -> Result<Program, CircuitError> {
        let absorb = p.component(permutation(p.circuit("keccak-absorb"), self.rate)?);
        let message = p.input("message", Type::Bytes(bytes), Party(0))?;
        let blocks = self.blocks(bytes.into()) as u32;
        let mut padding = vec![0; (self.rate * blocks - bytes) as usize];
        padding[0] = self.suffix;
        let last = padding.len() - 1;
        padding[last] |= 0x80;
        let padded = [message, Wires::constant_bytes(&padding)];
        let mut state = Wires::constant_bytes(&[0; STATE as usize]);
        for k in 0..blocks {
            let block = slice(&padded, bytes, [self.rate * k, self.rate * (k + 1)]);
            state = p.instance(absorb, &[&state, &block])?.remove(0);
        }
        let mut told = vec![state.slice(0, Type::Bytes(output.min(self.rate)))];
        let more = self.more(output.into()) as u32;
        let squeeze =
            (more > 0).then(|| permutation(p.circuit("keccak-f"), 0)).transpose()?.map(|squeeze| p.component(squeeze));
        for (k, squeeze) in (1..=more).zip(squeeze.iter().cycle()) {
            state = p.instance(*squeeze, &[&state])?.remove(0);
            told.push(state.slice(0, Type::Bytes((output - self.rate * k).min(self.rate))));
        }
        p.output("digest", &Wires::concat(Type::Bytes(output), &told), Recipients::All)?;
        Ok(p.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        builder::simulate::{self, bits_to_bytes, bytes_to_bits},
        library,
    };

    fn run(call: &str, input: &[u8]) -> String {
        let program = library::find(call).unwrap();
        let out = simulate::program(&program, &[bytes_to_bits(input)]);
        bits_to_bytes(&out[0]).iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn constants_are_those_of_the_standard() {
        // FIPS 202, table 2, and the first two and the last constant of the reference of the Keccak team.
        let first: Vec<usize> = rotations().take(6).collect();
        assert_eq!(first, [1, 3, 6, 10, 15, 21]);
        let constants = round_constants();
        assert_eq!([constants[0], constants[1], constants[23]], [1, 0x8082, 0x8000_0000_8000_8008]);
    }

    #[test]
    fn the_permutation_of_zeros() {
        // The first lanes in the test vectors of the Keccak team.
        let state = run("keccak-f", &[0; 200]);
        assert!(state.starts_with("e7dde140798f25f18a47c033f9ccd584"), "{state}");
        let stats = library::component("keccak-f").unwrap().stats();
        assert_eq!((stats.and, stats.and_depth), (38_400, 24));
    }

    #[test]
    fn digests_at_the_boundaries_of_blocks() {
        // The first and the last 8 bytes for this many letters `a`, computed with another program.
        for (call, bytes, first, last) in DIGESTS_OF_A {
            let digest = run(&call.replace('n', &bytes.to_string()), &vec![b'a'; *bytes]);
            assert!(digest.starts_with(first) && digest.ends_with(last), "{call}, {bytes} bytes: {digest}");
        }
    }

    #[rustfmt::skip]
    const DIGESTS_OF_A: &[(&str, usize, &str, &str)] = &[
        ("sha3-256-message(n)", 0, "a7ffc6f8bf1ed766", "82d80a4b80f8434a"),
        ("sha3-256-message(n)", 134, "58b970c37ac2d65b", "59d39a942f41dcee"),
        ("sha3-256-message(n)", 135, "8094bb53c44cfb1e", "92538913392843c9"),
        ("sha3-256-message(n)", 136, "3fc5559f14db8e45", "70a4efdcc2695ee1"),
        ("sha3-256-message(n)", 275, "b681d6aeb10bfd34", "a2ef21362d84f684"),
        ("sha3-512-message(n)", 0, "a69f73cca23a9ac5", "01758586281dcd26"),
        ("sha3-512-message(n)", 70, "c2fe788baed79cbf", "c8dd87d74475a20d"),
        ("sha3-512-message(n)", 71, "070faf98d2a8fddf", "619af9f0e486e28c"),
        ("sha3-512-message(n)", 72, "a8ae722a78e10cbb", "87adac21adebe952"),
        ("sha3-512-message(n)", 147, "49ca516bbb849804", "45213ca9b482a88d"),
        ("shake128(n, 400)", 0, "7f9c2ba4e88f827d", "62b8d654db53d09b"),
        ("shake128(n, 400)", 166, "d415754a0ef19811", "e94c89f86214f37d"),
        ("shake128(n, 400)", 167, "4f5c6c53ae8190a8", "0f52960ccb00dbbd"),
        ("shake128(n, 400)", 168, "c22e11586c22b713", "210094f47908786e"),
        ("shake128(n, 400)", 339, "ea90b2d53dc1f10c", "51c21c7d6e6d2469"),
        ("shake256(n, 300)", 0, "46b9dd2b0ba88d13", "68b208e21f7c10d0"),
        ("shake256(n, 300)", 134, "f1e03f378eb77904", "e3e7985c82cd7a1b"),
        ("shake256(n, 300)", 135, "55b991ece1e567b6", "5097063c290fa1d6"),
        ("shake256(n, 300)", 136, "8fcc5a08f0a1f682", "e20fd6f006f1857f"),
        ("shake256(n, 300)", 275, "6743649466990547", "85d9605dea073f67"),
    ];
}
