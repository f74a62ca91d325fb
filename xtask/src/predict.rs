//! Predictions of the speed on Arm, for want of machines: the inner loops of hashing and of half gates as they are compiled, by the models of
//! processors in LLVM. The result is the table of `docs/decisions/garbling.md`.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::arm::{cargo_for_arm, missing};
use crate::programs::{ask, run, target, with_debian};
use crate::steps::Step;

/// The program that applies a model, and its Debian package.
const ANALYSER: &str = "llvm-mca-19";
const PACKAGE: &str = "llvm-19";

const PROCESSORS: [&str; 3] = ["apple-m1", "neoverse-v1", "neoverse-n1"];

/// Repetitions of a loop in a model.
const ITERATIONS: u32 = 200;

/// An inner loop: four instances of a gate side by side, or bare hash calls.
struct Inner {
    /// Parts of the mangled name of its function.
    names: &'static [&'static str],
    calls: usize,
}

const HASH: Inner = Inner { names: &["14ByInstructions", "7RawHash", "9PerPeriod"], calls: 16 };
const GARBLE: Inner = Inner { names: &["14ByInstructions", "6Garble", "9HalfGates", "9PerPeriod", "Kj4_"], calls: 16 };
const EVALUATE: Inner =
    Inner { names: &["14ByInstructions", "8Evaluate", "9HalfGates", "9PerPeriod", "Kj4_"], calls: 8 };

/// The gates of one round of a loop.
const GATES: f64 = 4.0;

/// AES instructions of a hash call that begin a round.
const ROUNDS: usize = 10;

/// Prints the table.
pub(crate) fn step() -> Step {
    Step::check("predictions for Arm", || match table(&crate::root()) {
        Ok(table) => {
            println!("{table}");
            Vec::new()
        }
        Err(reason) => vec![reason],
    })
}

fn table(root: &Path) -> Result<String, String> {
    with_debian(&[ANALYSER], &[PACKAGE])?;
    missing(root).map_or(Ok(()), Err)?;
    let assembly = assembly(root)?;
    let loops = [HASH, GARBLE, EVALUATE].map(|inner| region(&assembly, &inner));
    let mut table = String::from(
        "| processor | a hash call | garbling a gate | four hash calls | of bound | evaluating a gate | two hash calls | of bound |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for processor in PROCESSORS {
        let mut cycles = [0.0; 3];
        for (cycles, region) in cycles.iter_mut().zip(&loops) {
            *cycles = predicted(root, processor, region.as_ref().map_err(Clone::clone)?)?;
        }
        let [hash, garble, evaluate] = [cycles[0] / HASH.calls as f64, cycles[1] / GATES, cycles[2] / GATES];
        let bounds = [GARBLE, EVALUATE].map(|inner| hash * inner.calls as f64 / GATES);
        let part = |bound: f64, cycles: f64| format!("{:.0} %", 100.0 * bound / cycles);
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "| `{processor}` | {hash:.1} | {garble:.1} | {:.1} | {} | {evaluate:.1} | {:.1} | {} |",
            bounds[0],
            part(bounds[0], garble),
            bounds[1],
            part(bounds[1], evaluate),
        );
    }
    Ok(table)
}

/// The crate of garbling as it is compiled for release, but as one unit and with the full names of types.
fn assembly(root: &Path) -> Result<String, String> {
    let file = target(root).join("garble-for-arm.s");
    let mut rustc = cargo_for_arm(root, "rustc");
    rustc.args(["--release", "--package", "garblet-garble", "--lib", "--", "--emit"]);
    rustc.arg(format!("asm={}", file.display()));
    run(rustc.args(["-C", "codegen-units=1", "-C", "symbol-mangling-version=v0"]))?;
    fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))
}

/// The shortest run of instructions without a label that makes the calls of a loop: longer ones are for the rest, fewer than four gates.
///
/// AESMC is left out: these processors run it as one with the AESE before it, which LLVM's models do not know.
fn region(assembly: &str, inner: &Inner) -> Result<String, String> {
    let mut found: Option<Vec<&str>> = None;
    let (mut inside, mut block) = (false, Vec::new());
    for line in assembly.lines() {
        let is_label = line.ends_with(':') && !line.starts_with(char::is_whitespace);
        let instruction = line.trim();
        if !is_label && !instruction.starts_with(['.', '/']) && !instruction.is_empty() {
            block.push(instruction);
            continue;
        }
        if !is_label && !instruction.starts_with(".cfi_endproc") {
            continue;
        }
        let rounds = block.iter().filter(|line| line.starts_with("aese")).count();
        let shortest = found.as_ref().is_none_or(|found| block.len() < found.len());
        if inside && rounds == ROUNDS * inner.calls && shortest {
            found = Some(block.clone());
        }
        block.clear();
        if !line.starts_with('.') && is_label {
            inside = inner.names.iter().all(|name| line.contains(name));
        }
    }
    let found = found.ok_or_else(|| format!("no loop of {} hash calls in {}", inner.calls, inner.names.join(" ")))?;
    Ok(found.into_iter().filter(|line| !line.starts_with("aesmc")).map(|line| format!("{line}\n")).collect())
}

/// The cycles of a round of a loop.
fn predicted(root: &Path, processor: &str, region: &str) -> Result<f64, String> {
    let file = target(root).join("loop-for-arm.s");
    fs::write(&file, region).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut analyser = Command::new(ANALYSER);
    analyser.args(["-mtriple=aarch64", "-mattr=+aes", &format!("-mcpu={processor}")]);
    let said = ask(analyser.arg(format!("-iterations={ITERATIONS}")).arg(&file))?;
    let cycles = said.lines().find_map(|line| line.strip_prefix("Total Cycles:")?.trim().parse::<f64>().ok());
    cycles.map(|cycles| cycles / f64::from(ITERATIONS)).ok_or_else(|| format!("{ANALYSER}: it names no cycles\n{said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_loop_of_a_function_is_taken_without_aesmc() {
        let inner = Inner { names: &["4hash", "4neon"], calls: 1 };
        let rounds = "\taese\tv0.16b, v1.16b\n\taesmc\tv0.16b, v0.16b\n".repeat(ROUNDS);
        let longer = format!(".LBB0_1:\n\tadd\tx0, x0, #1\n\tadd\tx0, x0, #1\n{rounds}\tb.ne\t.LBB0_1\n");
        let shorter = format!(".LBB0_2:\n\t// a note\n{rounds}\tb.ne\t.LBB0_2\n.LBB0_3:\n\tret\n");
        let function = |name: &str, body: &str| format!("{name}:\n\t.cfi_startproc\n{body}\t.cfi_endproc\n");
        let other = function("_R4hash", &rounds);
        let all = format!("{other}{}{other}", function("_R4hash4neon", &format!("{longer}{shorter}")));
        let expected = format!("{}b.ne\t.LBB0_2\n", "aese\tv0.16b, v1.16b\n".repeat(ROUNDS));
        assert_eq!(region(&all, &inner), Ok(expected));
        assert!(region(&other, &inner).is_err());
    }
}
