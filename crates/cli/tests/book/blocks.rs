//! Blocks of the texts, run with the tested program, [`crate::PROGRAM`].

use std::{
    fs::{self, File},
    io::{Read, Seek},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use crate::{NAME, PROGRAM};

/// The time for a background command to end after its block has ended.
const PARTING: Duration = Duration::from_secs(5);

/// A fenced block.
struct Block {
    /// The text after the backticks.
    info: String,
    /// Number of its first line of content, from 1.
    line: usize,
    text: Vec<String>,
}

/// A command and its expected output.
struct Step {
    line: usize,
    command: String,
    expected: Vec<String>,
}

/// Asserts that the commands of all texts print what the texts say.
pub(crate) fn assert_texts_hold() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    copy(&root().join("examples"), &scratch.path().join("examples"));
    let wrong: Vec<String> = texts().iter().flat_map(|path| check(path, scratch.path())).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Asserts that a page contains the help of every command.
pub(crate) fn assert_in_reference(page: &str) {
    let reference = fs::read_to_string(root().join(page)).expect("a page of the book");
    let mut paths = vec![String::new()];
    while let Some(path) = paths.pop() {
        assert!(reference.contains(&format!("$ {NAME}{path} --help\n")), "`{NAME}{path}` is not in {page}");
        let help = help(&path);
        let commands = help.split_once("Commands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap_or(rest));
        let names = commands.lines().filter(|l| !l.starts_with("   ")).filter_map(|l| l.split_whitespace().next());
        paths.extend(names.map(|name| format!("{path} {name}")));
    }
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// The READMEs, the page about clusters, and the chapters of the book, sorted by name.
pub(crate) fn texts() -> Vec<PathBuf> {
    let chapters = fs::read_dir(root().join("docs/src")).expect("the book").flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = chapters.filter(|p| p.extension().is_some_and(|e| e == "md")).collect();
    paths.sort();
    paths.insert(0, root().join("examples/friends/README.md"));
    paths.insert(0, root().join("examples/README.md"));
    paths.insert(0, root().join("python-ray/clusters/README.md"));
    paths.insert(0, root().join("README.md"));
    paths
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder for the test");
    for entry in fs::read_dir(from).expect("a folder of the repository").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a copy for the test");
        }
    }
}

/// Runs the blocks of a text and returns the mistakes.
fn check(path: &Path, scratch: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a text of the repository");
    if std::env::var_os("UPDATE_BOOK").is_some() {
        fs::write(path, updated(&text)).expect("a text of the repository");
        return Vec::new();
    }
    let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let mut wrong = Vec::new();
    for block in blocks(&text) {
        if let Some((_, file)) = block.info.split_once(" file=") {
            let file = scratch.join(file);
            // Commands of another program may have created its folder.
            fs::create_dir_all(file.parent().unwrap_or(scratch)).expect("a folder for the test");
            fs::write(file, block.text.join("\n") + "\n").expect("a file for the test");
        }
        if block.info == "console" && block.is_ours() {
            wrong.extend(run(&block, scratch).into_iter().map(|what| format!("{name}:{what}")));
        }
    }
    wrong
}

impl Block {
    /// Returns whether its commands belong to the tested program; those of the laboratory have separate blocks.
    fn is_ours(&self) -> bool {
        let of_lab = |line: &String| line.starts_with("$ ") && line.contains("garblet-lab");
        self.text.iter().any(of_lab) == (NAME == "garblet-lab")
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(info), false) => found.push(Block { info: info.into(), line: at + 2, text: Vec::new() }),
            (None, true) => found.last_mut().expect("open").text.push(line.into()),
            (None, false) => continue,
            (Some(_), true) => (),
        }
        open = open != line.starts_with("```");
    }
    found
}

fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, line) in block.text.iter().enumerate() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => {
                steps.push(Step { line: block.line + at, command: command.into(), expected: Vec::new() });
            }
            (None, Some(step)) if step.command.ends_with('\\') => step.command.push_str(&format!("\n{line}")),
            (None, Some(step)) => step.expected.push(line.clone()),
            (None, None) => panic!("a console block begins with a command, got {line}"),
        }
    }
    steps
}

/// Runs the commands of a block and returns the mistakes, each with its line.
fn run(block: &Block, scratch: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut background = Vec::new();
    if block.text.iter().any(|line| line.starts_with("$ yosys")) && !has_yosys(scratch) {
        eprintln!("line {}: Yosys is not installed: COMMANDS OF YOSYS WERE NOT RUN", block.line);
        return wrong;
    }
    for step in steps(block) {
        if step.command.starts_with("cargo ") {
            assert!(cargo_knows(&step.command), "{}: there is no `{}`", step.line, step.command);
            continue;
        }
        let (mut child, output) = start(&step.command, scratch);
        match step.command.ends_with('&') {
            true => background.push((step, child, output)),
            false => wrong.extend(judge(&step, child.wait().expect("the command ends"), output)),
        }
    }
    for (step, child, output) in background {
        wrong.extend(judge(&step, end(child), output));
    }
    wrong
}

fn shell(command: &str, scratch: &Path) -> Command {
    let folder = Path::new(PROGRAM).parent().expect("a folder").to_path_buf();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&others)));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(scratch).stdin(Stdio::null());
    shell.env("PATH", path.expect("folders")).env("XDG_CONFIG_HOME", scratch.join("config"));
    shell
}

/// Returns whether Yosys is installed.
fn has_yosys(scratch: &Path) -> bool {
    shell("yosys --version", scratch).output().is_ok_and(|said| said.status.success())
}

/// Starts a command with both output streams in one file, so that no reader has to drain them.
fn start(command: &str, scratch: &Path) -> (Child, File) {
    let output = tempfile::tempfile_in(scratch).expect("a file for the test");
    let streams = [&output, &output].map(|file| Stdio::from(file.try_clone().expect("a handle")));
    let [stdout, stderr] = streams;
    let command = match command.strip_suffix('&') {
        // `exec` replaces the shell by the command, so that it can be killed.
        Some(command) => format!("exec {command}"),
        None => command.into(),
    };
    let child = shell(&command, scratch).stdout(stdout).stderr(stderr).spawn().expect("the shell starts");
    (child, output)
}

/// Waits for a background command, and kills it if it does not end by itself.
fn end(mut child: Child) -> ExitStatus {
    let begin = Instant::now();
    while begin.elapsed() < PARTING {
        if let Some(status) = child.try_wait().expect("a child") {
            return status;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("a child");
    child.wait().expect("a child")
}

/// The mistake in how a command ended, if any.
fn judge(step: &Step, status: ExitStatus, mut output: File) -> Option<String> {
    let mut text = String::new();
    output.rewind().and_then(|()| output.read_to_string(&mut text)).expect("output in UTF-8");
    let got: Vec<&str> = text.lines().collect();
    let fails = step.expected.iter().any(|l| l.starts_with("error: "));
    // Killed by us, since it serves until it is stopped.
    let ended = status.signal().is_some() && step.command.ends_with('&');
    let right = ended || status.success() != fails;
    if right && (step.expected.is_empty() || agree(&step.expected, &got)) {
        return None;
    }
    let (command, expected) = (&step.command, step.expected.join("\n"));
    Some(format!("{}: `{command}`, {status}\n--- expected\n{expected}\n--- got\n{text}", step.line))
}

/// Returns whether the lines match the expected ones.
fn agree(expected: &[String], got: &[&str]) -> bool {
    match expected.split_first() {
        None => got.is_empty(),
        Some((first, rest)) if first == "..." => (0..=got.len()).any(|skip| agree(rest, &got[skip..])),
        Some((first, rest)) => got.first().is_some_and(|line| like(first, line)) && agree(rest, &got[1..]),
    }
}

/// Returns whether a line matches the expected one, in which `...` stands for any text.
fn like(expected: &str, line: &str) -> bool {
    match expected.split_once("...") {
        None => expected == line,
        Some((head, tail)) => line.strip_prefix(head).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| like(tail, &rest[at..]))
        }),
    }
}

/// Returns whether the target of a cargo command exists.
fn cargo_knows(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[1..] {
        ["run", "--release", "--", subcommand, ..]
        | ["run", "--release", "-p", "garblet-lab", "--", subcommand, ..] => {
            help("").contains(&format!("\n  {subcommand} "))
        }
        ["run", "--release", "--example", example] => root().join(format!("examples/{example}.rs")).exists(),
        ["xtask", task, ..] => {
            let tasks = fs::read_to_string(root().join("xtask/src/main.rs")).expect("the tasks");
            tasks.contains(&format!("[\"{task}\"]"))
        }
        ["install", "--path", path] => root().join(path).join("Cargo.toml").exists(),
        _ => false,
    }
}

fn help(path: &str) -> String {
    let output = shell(&format!("{NAME}{path} --help"), &root()).output().expect("the command runs");
    String::from_utf8(output.stdout).expect("help in UTF-8")
}

/// The text with the current output after every `$ NAME .. --help` of the tested program.
fn updated(text: &str) -> String {
    let mut lines = Vec::new();
    let mut skip = false;
    for line in text.lines() {
        skip &= !line.starts_with("```") && !line.starts_with("$ ");
        if skip {
            continue;
        }
        lines.push(line.to_string());
        let call = line.strip_prefix("$ ").and_then(|call| call.strip_prefix(NAME)?.strip_suffix(" --help"));
        if let Some(path) = call.filter(|path| path.is_empty() || path.starts_with(' ')) {
            lines.extend(help(path).lines().map(String::from));
            skip = true;
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn differences_are_found() {
    let matches = |expected: &[&str], got: &str| agree(&expected.map_strings(), &got.lines().collect::<Vec<_>>());
    assert!(matches(&["a", "...", "d"], "a\nb\nc\nd"));
    assert!(matches(&["..."], ""));
    assert!(matches(&["a ... c ... e"], "a b c d e"));
    assert!(!matches(&["a ... c"], "a b d"));
    assert!(!matches(&["a"], "a\nb"));
    assert!(!matches(&["a", "b"], "a"));
    assert!(!matches(&["a", "...", "b"], "b\na"));
    assert!(!matches(&["aa...aa"], "aaa"));
}

trait MapStrings {
    fn map_strings(&self) -> Vec<String>;
}

impl MapStrings for [&str] {
    fn map_strings(&self) -> Vec<String> {
        self.iter().map(|s| (*s).into()).collect()
    }
}
