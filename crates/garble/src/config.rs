//! The scheme and the hash of a garbling, and its size in bytes.

use garblet_primitives::{Backend, Block, FixedKey, Mitccrh, RAW_BLOCKS, Rekeyed, Sha256Hash, Tmmo, raw_hash_calls};

use crate::scheme::{FourRow, Grr3, HalfGates, PrivacyFree, Scheme, ThreeHalves};

/// AND gates per chunk, the unit in which tables are made, sent and used.
pub const CHUNK_ANDS: usize = 4096;

/// A garbling scheme. All have free XOR and free negation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SchemeKind {
    /// Half gates (Zahur, Rosulek and Evans 2015): 32 bytes per AND, the default.
    #[default]
    HalfGates,
    /// Three rows (Pinkas, Schneider, Smart and Williams 2009, with free XOR): 48 bytes, one hash call to evaluate.
    Grr3,
    /// Four rows with point and permute (Beaver, Micali and Rogaway 1990, with free XOR): 64 bytes, the plain reference.
    FourRow,
    /// Privacy-free half gates (Zahur, Rosulek and Evans 2015, section 5): 16 bytes. The evaluator learns every wire, so this
    /// is for statements about values that only the evaluator knows.
    PrivacyFree,
    /// Three halves (Rosulek and Roy 2021): 24 bytes and 5 bits, for links slower than the processor.
    ThreeHalves,
}

/// A hash for garbled gates, see [`garblet_primitives::GateHash`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HashKind {
    /// AES under a key that changes every 4,096 calls, the default.
    #[default]
    Rekeyed,
    /// Two AES calls under one key per garbling.
    Tmmo,
    /// AES under a key per half gate.
    Mitccrh,
    /// AES under one fixed key: only for reproducing measurements.
    FixedKey,
    /// SHA-256: the plain reference.
    Sha256,
}

/// The parameters that both parties must agree on to garble and evaluate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GarblingConfig {
    /// The scheme.
    pub scheme: SchemeKind,
    /// The hash.
    pub hash: HashKind,
}

/// An unknown name of a scheme or hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {kind} `{name}`, expected one of: {expected}")]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    expected: String,
}

macro_rules! names {
    ($type:ident, $kind:literal, $($variant:ident = $name:literal),+) => {
        impl $type {
            /// All of them, the default first.
            pub const ALL: &[$type] = &[$($type::$variant),+];

            /// The name on the command line and in results.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                match name {
                    $($name => Ok($type::$variant),)+
                    _ => Err(UnknownName { kind: $kind, name: name.into(), expected: [$($name),+].join(", ") }),
                }
            }
        }
    };
}

names!(
    SchemeKind,
    "garbling scheme",
    HalfGates = "half-gates",
    Grr3 = "grr3",
    FourRow = "four-row",
    PrivacyFree = "privacy-free",
    ThreeHalves = "three-halves"
);
names!(
    HashKind,
    "garbling hash",
    Rekeyed = "rekeyed",
    Tmmo = "tmmo",
    Mitccrh = "mitccrh",
    FixedKey = "fixed-key",
    Sha256 = "sha256"
);

impl SchemeKind {
    /// Whole bytes and further bits per AND gate.
    pub(crate) fn sizes(self) -> (usize, usize) {
        fn of<S: Scheme>() -> (usize, usize) {
            (S::TABLE_BYTES, S::CONTROL_BITS as usize)
        }
        match self {
            SchemeKind::HalfGates => of::<HalfGates>(),
            SchemeKind::Grr3 => of::<Grr3>(),
            SchemeKind::FourRow => of::<FourRow>(),
            SchemeKind::PrivacyFree => of::<PrivacyFree>(),
            SchemeKind::ThreeHalves => of::<ThreeHalves>(),
        }
    }

    /// Hash calls per AND gate of garbler and evaluator.
    pub fn hash_calls(self) -> [u64; 2] {
        match self {
            SchemeKind::HalfGates => [HalfGates::CALLS, 2],
            SchemeKind::Grr3 => [Grr3::CALLS, 1],
            SchemeKind::FourRow => [FourRow::CALLS, 1],
            SchemeKind::PrivacyFree => [PrivacyFree::CALLS, 1],
            SchemeKind::ThreeHalves => [ThreeHalves::CALLS, 3],
        }
    }

    /// Tells whether the evaluator learns the value of every wire.
    pub fn is_privacy_free(self) -> bool {
        self == SchemeKind::PrivacyFree
    }
}

impl HashKind {
    /// Only hashes blocks, see [`raw_hash_calls`].
    pub fn raw_calls(self, backend: Backend, blocks: &mut [Block; RAW_BLOCKS], rounds: usize) {
        match self {
            HashKind::Rekeyed => raw_hash_calls::<Rekeyed>(backend, blocks, rounds),
            HashKind::Tmmo => raw_hash_calls::<Tmmo>(backend, blocks, rounds),
            HashKind::Mitccrh => raw_hash_calls::<Mitccrh>(backend, blocks, rounds),
            HashKind::FixedKey => raw_hash_calls::<FixedKey>(backend, blocks, rounds),
            HashKind::Sha256 => raw_hash_calls::<Sha256Hash>(backend, blocks, rounds),
        }
    }
}

impl GarblingConfig {
    /// Bytes of a chunk of this many AND gates: the gates' bytes in order, then their further bits packed, with the last byte
    /// padded with zeros.
    pub fn chunk_bytes(&self, ands: usize) -> usize {
        let (bytes, bits) = self.scheme.sizes();
        ands * bytes + (ands * bits).div_ceil(8)
    }

    /// Bytes of all chunks of a garbling of this many AND gates.
    pub fn table_bytes(&self, and_count: u64) -> u64 {
        let chunk = CHUNK_ANDS as u64;
        and_count / chunk * self.chunk_bytes(CHUNK_ANDS) as u64 + self.chunk_bytes((and_count % chunk) as usize) as u64
    }

    /// Tells whether components may be garbled as tables: with the schemes and hashes that do not only serve comparisons.
    pub fn garbles_tables(self) -> bool {
        matches!(self.scheme, SchemeKind::HalfGates | SchemeKind::ThreeHalves) && self.hash != HashKind::FixedKey
    }

    /// Bytes per AND gate on average.
    pub fn bytes_per_and(&self) -> f64 {
        let (bytes, bits) = self.scheme.sizes();
        bytes as f64 + bits as f64 / 8.0
    }

    /// The select bit of a label: it differs between the two labels of a wire and reveals nothing about the value, except in
    /// the privacy-free scheme, where the zero label has select bit 0 and so the select bit is the value.
    ///
    /// An output's value is the select bit of its active label XOR that of its zero label.
    pub fn select_bit(&self, label: Block) -> bool {
        label.lsb()
    }

    /// The backend of a garbling if `wanted` is requested: the reference implementations, four rows and SHA-256,
    /// always run on the portable backend.
    pub fn backend(&self, wanted: Backend) -> Backend {
        match self.scheme == SchemeKind::FourRow || self.hash == HashKind::Sha256 {
            true => Backend::PORTABLE,
            false => wanted,
        }
    }

    /// log2 of the work to break a garbling of this many AND gates by the best known attack on its hash: with `q` calls
    /// under one key, 2^128 / q (Guo, Katz, Wang, Weng and Yu, CRYPTO 2020).
    pub fn security_bits(&self, and_count: u64) -> u32 {
        // A gate takes at most six calls in any scheme here.
        let calls = and_count.max(1).saturating_mul(6);
        let calls_per_key = match self.hash {
            HashKind::Rekeyed => calls.min(4096),
            HashKind::Mitccrh => 2,
            HashKind::Tmmo | HashKind::FixedKey => calls,
            HashKind::Sha256 => 1,
        };
        128 - calls_per_key.next_power_of_two().ilog2()
    }

    /// The zero label for an input wire, made from a uniform block.
    pub fn zero_label(&self, uniform: Block) -> Block {
        match self.scheme {
            SchemeKind::PrivacyFree => uniform.with_lsb(false),
            _ => uniform,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for &scheme in SchemeKind::ALL {
            assert_eq!(scheme.to_string().parse(), Ok(scheme));
        }
        for &hash in HashKind::ALL {
            assert_eq!(hash.to_string().parse(), Ok(hash));
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let error = "half-gate".parse::<SchemeKind>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown garbling scheme `half-gate`, expected one of: half-gates, grr3, four-row, privacy-free, three-halves"
        );
        assert!("".parse::<HashKind>().is_err());
    }

    #[test]
    fn sizes_are_the_published_ones() {
        let bytes = |scheme| GarblingConfig { scheme, ..Default::default() };
        for (scheme, each) in [
            (SchemeKind::HalfGates, 32),
            (SchemeKind::Grr3, 48),
            (SchemeKind::FourRow, 64),
            (SchemeKind::PrivacyFree, 16),
        ] {
            assert_eq!(bytes(scheme).chunk_bytes(7), 7 * each);
            assert_eq!(bytes(scheme).table_bytes(1 << 40), (each as u64) << 40);
        }
        let config = bytes(SchemeKind::ThreeHalves);
        assert_eq!([0, 1, 2, 8].map(|n| config.chunk_bytes(n)), [0, 25, 50, 197]);
        assert_eq!(config.table_bytes(CHUNK_ANDS as u64 + 1), (CHUNK_ANDS * 197 / 8 + 25) as u64);
        assert_eq!(config.bytes_per_and(), 24.625);
    }

    #[test]
    fn only_reference_implementations_are_always_portable() {
        for &scheme in SchemeKind::ALL {
            for &hash in HashKind::ALL {
                let wanted = Backend::detect();
                let reference = scheme == SchemeKind::FourRow || hash == HashKind::Sha256;
                let expected = if reference { Backend::PORTABLE } else { wanted };
                assert_eq!(GarblingConfig { scheme, hash }.backend(wanted), expected);
            }
        }
    }
}
