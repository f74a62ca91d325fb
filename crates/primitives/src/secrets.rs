//! Marks secret data, for the check that no branch and no address depends on it (`cargo xtask constant-time`).
//!
//! Under valgrind with the feature `secrets`, secret memory is *undefined*: memcheck follows it bit by bit through every computation and
//! reports every branch and every memory access that depends on it. Without the feature, these functions only return their argument.
//!
//! The code declares data public where it becomes public, with the reason. A test lists all reasons (`crates/constant-time`).

use subtle::Choice;

/// Marks memory as secret: evaluation, garbling and transfers must not branch on it.
pub fn secret<T: bytemuck::Pod>(values: &mut [T]) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
    mark(MAKE_UNDEFINED, bytes.as_mut_ptr(), bytes.len());
}

/// Declares a value public, with a reason.
#[inline]
pub fn public<T: Copy>(value: T, reason: &'static str) -> T {
    let _ = reason;
    let mut value = value;
    mark(MAKE_DEFINED, (&raw mut value).cast(), size_of::<T>());
    value
}

/// Declares values public, with a reason.
#[inline]
pub fn publish<T: bytemuck::Pod>(values: &mut [T], reason: &'static str) {
    let _ = reason;
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
    mark(MAKE_DEFINED, bytes.as_mut_ptr(), bytes.len());
}

/// Declares the outcome of a check of secrets public, with a reason, because its party acts on it.
#[inline]
pub fn verdict(choice: Choice, reason: &'static str) -> bool {
    public(choice.unwrap_u8(), reason) == 1
}

/// Declares bytes public because they are on their way to another party.
#[inline]
pub fn leaves(bytes: &[u8]) {
    mark(MAKE_DEFINED, bytes.as_ptr().cast_mut(), bytes.len());
}

/// The number of times so far that the program branched on a secret or used one as an address; none outside valgrind.
pub fn reports() -> Option<u64> {
    (request([RUNNING_ON_VALGRIND, 0, 0]) > 0).then(|| request([COUNT_ERRORS, 0, 0]))
}

const RUNNING_ON_VALGRIND: u64 = 0x1001;
const COUNT_ERRORS: u64 = 0x1201;
/// The first of memcheck's request numbers, made from its letters.
const MEMCHECK: u64 = (b'M' as u64) << 24 | (b'C' as u64) << 16;
const MAKE_UNDEFINED: u64 = MEMCHECK + 1;
const MAKE_DEFINED: u64 = MEMCHECK + 2;

#[inline]
fn mark(how: u64, begin: *mut u8, len: usize) {
    request([how, begin as u64, len as u64]);
}

/// Sends a request to valgrind; zero if the program runs without it.
#[cfg(all(feature = "secrets", target_arch = "x86_64"))]
#[inline]
fn request([what, first, second]: [u64; 3]) -> u64 {
    let arguments = [what, first, second, 0, 0, 0];
    let mut answer = 0u64;
    // SAFETY: the rotations of `rdi` cancel out and the exchange changes nothing, so a processor does nothing here. Valgrind recognises
    // the sequence, reads the six words at `rax`, and leaves its answer in `rdx`. It marks the memory that they name without changing it.
    // The compiler must assume that the memory changed, and reads it again.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

#[cfg(not(all(feature = "secrets", target_arch = "x86_64")))]
#[inline(always)]
fn request(_: [u64; 3]) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_change_no_value() {
        let mut values = [1u64, 2, 3];
        secret(&mut values);
        publish(&mut values, "a test");
        leaves(bytemuck::bytes_of(&values));
        assert_eq!((values, public(7u8, "a test")), ([1, 2, 3], 7));
        assert!(verdict(Choice::from(1), "a test") && !verdict(Choice::from(0), "a test"));
        assert_eq!(reports(), None);
    }
}
