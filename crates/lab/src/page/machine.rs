//! The machine on which something was measured, and the version that did it.

use garblet_console::output::{bytes, count};
use garblet_primitives::Backend;
use serde::{Deserialize, Serialize};

const OPTIMISED: &str = "optimised";

/// The words for a curve whose code for AVX-512 was left out: `.cargo/config.toml` asks for it, which only a build in the project has.
const CURVE_WITHOUT: &str = "; the curve without AVX-512";
/// Tells whether it was.
const CURVE_IS_WITHOUT: bool = cfg!(all(target_arch = "x86_64", not(curve25519_dalek_backend = "avx512")));

/// A machine and what ran on it, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    /// None where the system does not tell.
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) system: String,
    /// The kernels for AES and vectors, and what the curve lacks.
    pub(crate) kernels: String,
    pub(crate) version: String,
    /// The commit that was built.
    pub(crate) commit: String,
    pub(crate) built: String,
}

impl Machine {
    /// This machine, and this program.
    pub(crate) fn here() -> Self {
        let line = |path: &str, name: &str| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.split_once(':').map(|(_, value)| value.trim().to_string()))
        };
        let memory =
            line("/proc/meminfo", "MemTotal").and_then(|text| text.strip_suffix(" kB")?.trim().parse::<u64>().ok());
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Machine {
            processor: line("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory.map(|kibibytes| kibibytes << 10),
            system: format!("{} {}", std::env::consts::OS, kernel.trim()).trim().into(),
            kernels: format!("{}{}", Backend::detect(), if CURVE_IS_WITHOUT { CURVE_WITHOUT } else { "" }),
            version: format!("garblet {}", env!("CARGO_PKG_VERSION")),
            commit: env!("GARBLET_COMMIT").into(),
            built: if cfg!(debug_assertions) { "for debugging, which is slower".into() } else { OPTIMISED.into() },
        }
    }

    /// Names and values, for people.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        vec![
            ("processor", self.processor.clone()),
            ("cores", count(self.cores as u64)),
            ("memory", self.memory_bytes.map_or("not told".into(), bytes)),
            ("system", self.system.clone()),
            ("kernels", self.kernels.clone()),
            ("version", format!("{}, commit {}, built {}", self.version, self.commit, self.built)),
        ]
    }

    /// The reasons why figures of this machine say less than they could.
    pub(crate) fn reservations(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.kernels.trim_end_matches(CURVE_WITHOUT) == Backend::PORTABLE.to_string() {
            said.push("This processor has no instructions for AES, or they are not used: garbling is many times slower than with them, and all \
                       times here with it.".into());
        }
        if self.kernels.ends_with(CURVE_WITHOUT) {
            said.push("The program was built without the project's .cargo/config.toml, by which the curve has its code for AVX-512: setups take longer where \
                       the processor has it. Build in the project, or by `cargo install --path`, and without RUSTFLAGS.".into());
        }
        if self.cores == 1 {
            said.push("This machine has one core, on which all parties take turns: times are up to as many times longer as there are parties.".into());
        }
        if self.built != OPTIMISED {
            said.push("The program was built for debugging: times mean nothing. Build with --release.".into());
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_lacks_is_told() {
        let here = Machine::here();
        let told = |machine: &Machine| machine.reservations().iter().any(|said| said.contains(".cargo/config.toml"));
        assert_eq!(told(&here), CURVE_IS_WITHOUT);
        let kernels = Backend::PORTABLE.to_string() + CURVE_WITHOUT;
        let without = Machine { kernels, ..here };
        assert!(told(&without) && without.reservations()[0].contains("no instructions for AES"));
    }
}
