//! Backends: the instruction sets of the batch kernels, chosen once per batch and never inside a loop.

use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::engine::Simd128;
#[cfg(target_arch = "x86_64")]
use crate::engine::{AesNi, Vaes, Vaes256};
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
use crate::engine::{Neon, Nibbles};
use crate::{engine::Portable, kernel::Kernel};

/// A way to run the batch kernels that this processor is known to support. All backends give the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    /// Four blocks in four vectors of WebAssembly; the module was compiled for them.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
    /// Four blocks in four 128-bit registers, AES by look-ups; every Arm of 64 bits has NEON.
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    Nibbles,
    /// Four blocks in four 128-bit registers, AES instructions; needs AES and PMULL.
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    Neon,
    /// Four blocks in four 128-bit registers, AES instructions; needs AES-NI, PCLMULQDQ and AVX2.
    #[cfg(target_arch = "x86_64")]
    AesNi,
    /// Four blocks in two 256-bit registers; needs VAES, VPCLMULQDQ and the same.
    #[cfg(target_arch = "x86_64")]
    Vaes256,
    /// Four blocks in one 512-bit register; needs AVX-512 (F, BW, DQ, VL, VBMI), GFNI and the same.
    #[cfg(target_arch = "x86_64")]
    Vaes,
}

/// All kinds of this platform, the fastest last.
const KINDS: &[Kind] = &[
    Kind::Portable,
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Kind::Simd128,
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    Kind::Nibbles,
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    Kind::Neon,
    #[cfg(target_arch = "x86_64")]
    Kind::AesNi,
    #[cfg(target_arch = "x86_64")]
    Kind::Vaes256,
    #[cfg(target_arch = "x86_64")]
    Kind::Vaes,
];

/// The place in [`KINDS`] of the kind that [`Backend::detect`] gives; it is written from backends alone, so the processor supports it.
static SELECTED: AtomicUsize = AtomicUsize::new(NONE);

/// Beyond all places.
const NONE: usize = usize::MAX;

/// A name that no backend of this processor has.
#[derive(Debug, thiserror::Error)]
#[error("expected an engine of this processor: {available}")]
pub struct UnknownBackend {
    available: String,
}

impl Kind {
    /// Tells whether the processor has the instructions.
    fn is_supported(self) -> bool {
        match self {
            Kind::Portable => true,
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kind::Simd128 => true,
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Kind::Nibbles => true,
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Kind::Neon => Neon::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi => AesNi::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes256 => Vaes256::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes => Vaes::detect().is_some(),
        }
    }
}

impl Backend {
    /// The backend that runs everywhere.
    pub const PORTABLE: Backend = Backend(Kind::Portable);

    /// The selected backend, or else the fastest one of this processor.
    #[inline]
    pub fn detect() -> Self {
        match KINDS.get(SELECTED.load(Ordering::Relaxed)) {
            Some(&kind) => Backend(kind),
            None => {
                let fastest = Self::fastest();
                // Another thread may have selected one in the meantime, which stays.
                let _ = SELECTED.compare_exchange(NONE, fastest.place(), Ordering::Relaxed, Ordering::Relaxed);
                fastest
            }
        }
    }

    /// The fastest backend of this processor.
    pub fn fastest() -> Self {
        Self::supported().next_back().unwrap_or(Self::PORTABLE)
    }

    /// Makes [`Backend::detect`] give this backend from now on in this process, for measurements and checks. Values that have a backend keep it.
    pub fn select(self) {
        SELECTED.store(self.place(), Ordering::Relaxed);
    }

    fn place(self) -> usize {
        KINDS.iter().position(|&kind| kind == self.0).unwrap_or(NONE)
    }

    /// Every backend of this processor, the fastest last.
    pub fn available() -> Vec<Self> {
        Self::supported().collect()
    }

    fn supported() -> impl DoubleEndedIterator<Item = Self> {
        KINDS.iter().filter(|kind| kind.is_supported()).map(|&kind| Backend(kind))
    }

    /// The backend's name: `portable`, `simd128`, `nibbles`, `neon`, `aes-ni`, `vaes256` or `vaes`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kind::Simd128 => "simd128",
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Kind::Nibbles => "nibbles",
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Kind::Neon => "neon",
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi => "aes-ni",
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes256 => "vaes256",
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes => "vaes",
        }
    }

    /// Runs a kernel compiled for this backend.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Kind::Portable => kernel.run(Portable),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kind::Simd128 => kernel.run(Simd128),
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Kind::Nibbles => kernel.run(Nibbles::EVERYWHERE),
            // SAFETY: a value of this kind is made only after `is_supported` has found the features.
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Kind::Neon => unsafe { Neon::run(kernel) },
            // SAFETY: a value of this kind is made only after `is_supported` has found the features.
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi => unsafe { AesNi::run(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes256 => unsafe { Vaes256::run(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes => unsafe { Vaes::run(kernel) },
        }
    }
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Backend {
    type Err = UnknownBackend;

    /// The backend of this name.
    ///
    /// *Errors*: this processor has none.
    fn from_str(name: &str) -> Result<Self, UnknownBackend> {
        Self::supported().find(|backend| backend.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::supported().map(Self::name).collect();
            UnknownBackend { available: names.join(", ") }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detection_gives_the_fastest_backend_or_the_selected_one() {
        let all = Backend::available();
        assert_eq!((all[0], all.last()), (Backend::PORTABLE, Some(&Backend::fastest())));
        assert_eq!(Backend::detect(), Backend::fastest());
        // Other tests see the selection, and get the same results.
        for backend in all.into_iter().rev() {
            backend.select();
            assert_eq!(Backend::detect(), backend);
        }
        Backend::fastest().select();
    }

    #[test]
    fn a_backend_has_one_name_and_no_other_is_accepted() {
        for backend in Backend::available() {
            assert_eq!(backend.name().parse::<Backend>().ok(), Some(backend));
            assert_eq!(backend.to_string(), backend.name());
        }
        let refused = "sse".parse::<Backend>().expect_err("there is none").to_string();
        assert!(refused.starts_with("expected an engine of this processor: portable"), "{refused}");
    }
}
