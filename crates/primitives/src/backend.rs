//! Backends: the instruction sets of the batch kernels, chosen once per batch and never inside a loop.

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::engine::Simd128;
#[cfg(target_arch = "x86_64")]
use crate::engine::{AesNi, Vaes, Vaes256};
use crate::{engine::Portable, kernel::Kernel};

/// A way to run the batch kernels that this processor is known to support. All backends give the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    AesNi,
    #[cfg(target_arch = "x86_64")]
    Vaes256,
    #[cfg(target_arch = "x86_64")]
    Vaes,
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
}

#[cfg(feature = "secrets")]
static PORTABLE_ALONE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

impl Backend {
    /// The backend that runs everywhere.
    pub const PORTABLE: Backend = Backend(Kind::Portable);

    /// Restricts [`Backend::detect`] to the portable backend, or lifts the restriction, so that checks can cover this backend.
    #[cfg(feature = "secrets")]
    pub fn portable_alone(alone: bool) {
        PORTABLE_ALONE.store(alone, std::sync::atomic::Ordering::Relaxed);
    }

    /// The fastest backend of this processor.
    pub fn detect() -> Self {
        #[cfg(feature = "secrets")]
        if PORTABLE_ALONE.load(std::sync::atomic::Ordering::Relaxed) {
            return Self::PORTABLE;
        }
        Self::vaes().or(Self::vaes256()).or(Self::aes_ni()).or(Self::simd128()).unwrap_or(Self::PORTABLE)
    }

    /// Four blocks in four 128-bit registers, AES instructions; needs AES-NI and AVX2.
    pub(crate) fn aes_ni() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if AesNi::detect().is_some() {
            return Some(Backend(Kind::AesNi));
        }
        None
    }

    /// Four blocks in two 256-bit registers; needs VAES, AES-NI and AVX2.
    pub(crate) fn vaes256() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if Vaes256::detect().is_some() {
            return Some(Backend(Kind::Vaes256));
        }
        None
    }

    /// Four blocks in one 512-bit register; needs VAES, AVX-512 (F, BW, DQ, VL, VBMI) and GFNI.
    pub(crate) fn vaes() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if Vaes::detect().is_some() {
            return Some(Backend(Kind::Vaes));
        }
        None
    }

    /// Four blocks in four vectors of WebAssembly; available if the module was compiled for them.
    pub(crate) fn simd128() -> Option<Self> {
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        return Some(Backend(Kind::Simd128));
        #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
        None
    }

    /// Every backend of this processor, slowest first.
    pub fn available() -> Vec<Self> {
        [Some(Self::PORTABLE), Self::simd128(), Self::aes_ni(), Self::vaes256(), Self::vaes()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The backend's name: `portable`, `aes-ni`, `vaes256`, `vaes` or `simd128`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi => "aes-ni",
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes256 => "vaes256",
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes => "vaes",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kind::Simd128 => "simd128",
        }
    }

    /// Runs a kernel compiled for this backend.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Kind::Portable => kernel.run(Portable),
            // SAFETY: only `aes_ni` makes a value of this kind, after it has found the features.
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi => unsafe { AesNi::run(kernel) },
            // SAFETY: only `vaes256` makes a value of this kind, after it has found the features.
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes256 => unsafe { Vaes256::run(kernel) },
            // SAFETY: only `vaes` makes a value of this kind, after it has found the features.
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes => unsafe { Vaes::run(kernel) },
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kind::Simd128 => kernel.run(Simd128),
        }
    }
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detection_names_an_available_backend() {
        let all = Backend::available();
        assert_eq!(all[0], Backend::PORTABLE);
        assert_eq!(all.last(), Some(&Backend::detect()));
        assert!(all.iter().all(|b| ["portable", "aes-ni", "vaes256", "vaes", "simd128"].contains(&b.name())));
        assert_eq!(Backend::PORTABLE.to_string(), "portable");
    }
}
