//! Arm of 64 bits in QEMU: tests of the engines for it, and a party there with a party here.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::portable::without_target;
use crate::programs::{ask, run, target, with_debian};
use crate::steps::{Step, cargo};

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// The emulator of programs and the compiler that links them, the Debian packages of these and of the C library, and its folder.
const PROGRAMS: [&str; 2] = ["qemu-aarch64", "aarch64-linux-gnu-gcc"];
const PACKAGES: [&str; 3] = ["qemu-user", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"];
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// The crates whose code is compiled for engines.
const TESTED: [&str; 2] = ["garblet-primitives", "garblet-garble"];

/// AES-128 of party 1's block under party 0's key, and the result (FIPS 197, appendix C.1).
const PROGRAM: &str = "examples/aes/aes.garble.rs";
const INPUTS: [&str; 2] = ["0=examples/aes/key.json", "1=examples/aes/block.json"];
const RESULT: &str = "69c4e0d86a7b0430d8cdb78070b4c55a";

/// The protocols of the parties: semi-honest and malicious.
const PROTOCOLS: [&str; 2] = ["yao", "authenticated"];

/// Everything, with the command as it is built without optimisation.
pub(crate) fn steps() -> Vec<Step> {
    let command = Step::cargo("command", &["test", "--workspace", "--test", "cli", "--no-run", "--quiet"]);
    vec![engines_step("256"), command, parties_step("debug")]
}

/// Tests the engines, each property with so many cases.
pub(crate) fn engines_step(cases: &'static str) -> Step {
    let tests = move |root: &Path| engines(root, cases);
    Step::check("engines for Arm", move || if_possible("ENGINES FOR ARM WERE NOT TESTED", tests))
}

/// Runs the command for Arm with the one that the tests of this profile, a folder of `target`, built.
pub(crate) fn parties_step(profile: &'static str) -> Step {
    let tests = move |root: &Path| parties(root, profile);
    Step::check("parties on Arm", move || if_possible("PARTIES ON ARM WERE NOT TESTED", tests))
}

/// Findings, one line each. Missing tools are reported loudly and are not findings.
fn if_possible(otherwise: &str, tests: impl Fn(&Path) -> Result<(), String>) -> Vec<String> {
    let root = crate::root();
    match missing(&root) {
        None => tests(&root).err().into_iter().collect(),
        Some(reason) => {
            eprintln!("{reason}\n{otherwise}");
            Vec::new()
        }
    }
}

/// The reason why programs for Arm cannot be linked or run.
pub(crate) fn missing(root: &Path) -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("programs for Arm are linked and emulated only on x86-64 under Linux".into());
    }
    with_debian(&PROGRAMS, &PACKAGES).err().or_else(|| without_target(root, TARGET))
}

/// The emulator.
fn emulator() -> Vec<&'static str> {
    vec![PROGRAMS[0], "-L", LIBRARIES]
}

/// Cargo, for Arm.
pub(crate) fn cargo_for_arm(root: &Path, task: &str) -> Command {
    let mut cargo = cargo();
    cargo.args([task, "--quiet", "--target", TARGET]).current_dir(root);
    cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", PROGRAMS[1]);
    cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", emulator().join(" "));
    cargo
}

/// All tests of the crates with kernels, but those of the schemes of 2009, which take long and use no engine. QEMU's processor has all instructions
/// that an engine needs.
fn engines(root: &Path, cases: &str) -> Result<(), String> {
    let packages = TESTED.iter().flat_map(|package| ["--package", package]);
    let mut test = cargo_for_arm(root, "test");
    test.env("PROPTEST_CASES", cases);
    run(test.args(["--lib", "--tests"]).args(packages).args(["--", "--skip", "published::"])).map(drop)
}

/// A run of each protocol with Arm as party 0, and one with Arm as party 1.
fn parties(root: &Path, profile: &str) -> Result<(), String> {
    run(cargo_for_arm(root, "build").args(["--package", "garblet-cli"]))?;
    let here = vec![target(root).join(profile).join("garblet").display().to_string()];
    let there = target(root).join(TARGET).join("debug/garblet").display().to_string();
    let there: Vec<String> = emulator().into_iter().map(String::from).chain([there]).collect();
    for protocol in PROTOCOLS {
        for pair in [[&here, &there], [&there, &here]] {
            meet(root, protocol, pair).map_err(|error| format!("{protocol}, {}: {error}", pair[0].join(" ")))?;
        }
    }
    Ok(())
}

/// A party that is killed unless it has ended.
struct Party(Child);

impl Drop for Party {
    fn drop(&mut self) {
        // It has usually ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the program by two commands, of which the first waits for the second, and checks the result of both.
fn meet(root: &Path, protocol: &str, commands: [&Vec<String>; 2]) -> Result<(), String> {
    let party = |number: usize| {
        let mut party = Command::new(&commands[number][0]);
        party.args(&commands[number][1..]).args(["run", PROGRAM, "--protocol", protocol, "--insecure-plain-tcp"]);
        party.args(["--party", &number.to_string(), "--input", INPUTS[number]]).current_dir(root);
        party
    };
    let mut waiting = party(0);
    waiting.args(["--listen", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut waiting = Party(waiting.spawn().map_err(|error| format!("{}: {error}", commands[0][0]))?);
    let mut said = BufReader::new(waiting.0.stderr.take().ok_or("its messages are not read")?);
    let mut line = String::new();
    said.read_line(&mut line).map_err(|error| error.to_string())?;
    let address = line.trim().strip_prefix("listening on ").ok_or_else(|| format!("it said {line}"))?;
    let second = ask(party(1).args(["--connect", address]))?;
    let first = std::io::read_to_string(waiting.0.stdout.take().ok_or("its result is not read")?);
    let first = first.map_err(|error| error.to_string())?;
    match [&first, &second].iter().all(|result| result.contains(RESULT)) {
        true => Ok(()),
        false => Err(format!("expected {RESULT} twice, got\n{first}\n{second}")),
    }
}
