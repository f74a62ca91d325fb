//! Looks in an optimised program for intrinsics that stayed calls.
//!
//! A kernel is one function with its processor's features. What is not inlined into it is compiled without them: each intrinsic is a call then, and its
//! vectors pass through memory.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::programs::is_there;

/// Crates with kernels of their own.
const OTHERS: [&str; 1] = ["poly1305"];

/// The module of the standard library that has the intrinsics.
const INTRINSICS: &str = "core_arch";
/// The intrinsic that asks for features, in no kernel.
const DETECTION: &str = "_xgetbv";

/// Checks that a program calls no intrinsic. Without `objdump` nothing is examined, which is reported and is not a finding.
///
/// *Errors*: the calls, one line each.
pub(crate) fn check(program: &Path) -> Result<(), String> {
    if !is_there("objdump") {
        eprintln!("objdump is missing\nCALLS OF INTRINSICS WERE NOT LOOKED FOR");
        return Ok(());
    }
    let mut objdump = Command::new("objdump");
    objdump.args(["--disassemble", "--no-show-raw-insn", "--demangle"]).arg(program).stdout(Stdio::piped());
    let failed = |error| format!("objdump {}: {error}", program.display());
    let mut running = objdump.spawn().map_err(failed)?;
    let text = running.stdout.take().map(BufReader::new);
    let found = text.map_or_else(Vec::new, calls);
    match running.wait().map_err(failed)?.success() {
        true if found.is_empty() => Ok(()),
        true => Err(format!("these calls of intrinsics are not inlined:\n{}", found.join("\n"))),
        false => Err(format!("objdump {} failed", program.display())),
    }
}

/// The calls of intrinsics in a disassembly, one line each.
fn calls(text: impl BufRead) -> Vec<String> {
    let mut function = String::new();
    let mut found = Vec::new();
    for line in text.split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        match line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            Some((_, name)) => function = name.into(),
            None => {
                let called = line.split_once('<').map(|(_, name)| name.trim_end_matches('>'));
                let is_ours = !OTHERS.iter().any(|other| function.contains(other));
                if let Some(name) = called
                    && is_ours
                    && (line.contains("\tcall") || line.contains("\tjmp"))
                    && name.contains(INTRINSICS)
                    && !name.contains(DETECTION)
                    && !function.contains(INTRINSICS)
                {
                    found.push(format!("{function} calls {name}"));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_intrinsics_in_our_own_code_are_found() {
        let of = |function: &str, called: &str| {
            format!(
                "0000000000f21ce0 <{function}>:\n  f21ce5:\tvpxor  (%rsi),%ymm0,%ymm0\n  f21ce9:\tcall   212 <{called}>\n\n"
            )
        };
        let xor = "core::core_arch::x86::avx2::_mm256_xor_si256";
        let text = [
            of("core::array::try_map", xor),
            of("core::array::try_map", xor),
            of("poly1305::backend::avx2::State::new", xor),
            of("std::detect", "core::core_arch::x86::xsave::_xgetbv"),
            of("garblet_garble::run", "core::panicking::panic"),
        ];
        assert_eq!(calls(text.concat().as_bytes()), [format!("core::array::try_map calls {xor}")]);
    }
}
