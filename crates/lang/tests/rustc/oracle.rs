//! The answers of rustc to programs: it compiles them in batches, each a module in a file of its own.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
    process::Command,
};

use crate::tree::Program;

/// The answer of rustc to a program.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// The codes of its errors, or their lints, and the first one's message.
    Refused(BTreeSet<String>, String),
    /// The result of each run, and whether rustc has seen by itself that something panics.
    Runs(Vec<Run>, bool),
    /// It has not ended after some seconds: a mistake has put a great number where a loop ends.
    Endless,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// A value as `{:?}` prints it.
    Value(String),
    /// The line, and why.
    Panic(u64, String),
}

/// Lints that do not matter here, and two that are errors, which the programs are to live to see as panics.
const LINTS: &[&str] =
    &["unused", "nonstandard_style", "private_interfaces", "arithmetic_overflow", "unconditional_panic"];

/// The main module of a batch: it says for each run what it gave.
const MAIN: &str = r#"
use std::{cell::RefCell, fmt::Debug, panic::{AssertUnwindSafe, catch_unwind}, sync::mpsc, thread, time::Duration};
thread_local!(static LAST: RefCell<String> = RefCell::default());
pub fn run<T: Debug>(program: usize, main: impl FnOnce() -> T) {
    match catch_unwind(AssertUnwindSafe(main)) {
        Ok(value) => println!("{program} value {value:?}"),
        Err(_) => LAST.with(|last| println!("{program} panic {}", last.borrow())),
    }
}
fn within_seconds(program: usize, drive: fn()) {
    let (ended, wait) = mpsc::channel();
    thread::Builder::new().stack_size(8 << 20).spawn(move || { drive(); let _ = ended.send(()); }).unwrap();
    if wait.recv_timeout(Duration::from_secs(20)).is_err() { println!("{program} endless -"); }
}
fn hook(info: &std::panic::PanicHookInfo<'_>) {
    let why = info.payload();
    let why = why.downcast_ref::<String>().map(String::as_str).or(why.downcast_ref::<&str>().copied());
    let line = info.location().map_or(0, |place| place.line());
    LAST.with(|last| *last.borrow_mut() = format!("{line} {}", why.unwrap_or_default()));
}
"#;

/// Begins the lines that give a program its arguments.
pub(crate) const ARGUMENTS: &str = "crate::run(";

/// Lists as rustc knows them.
const LISTS: &str = r#"
pub mod lists {
    #[derive(Clone, Copy)]
    pub struct List<T, const N: usize> { items: [Option<T>; N], count: usize }
    impl<T: Copy, const N: usize> List<T, N> {
        pub fn of<const M: usize>(from: [T; M]) -> Self {
            let mut items = [None; N];
            for (item, value) in items.iter_mut().zip(from) { *item = Some(value); }
            List { items, count: M }
        }
        pub fn len(&self) -> usize { self.count }
        #[track_caller]
        pub fn push(&mut self, value: T) {
            if self.count == N { panic!("no room in a list"); }
            self.items[self.count] = Some(value);
            self.count += 1;
        }
        fn all(&self) -> Vec<T> { self.items.iter().copied().flatten().collect() }
    }
    impl<T, const N: usize> std::ops::Index<usize> for List<T, N> {
        type Output = T;
        #[track_caller]
        fn index(&self, at: usize) -> &T {
            if at >= self.count { panic!("index out of bounds"); }
            self.items[at].as_ref().unwrap()
        }
    }
    impl<T, const N: usize> std::ops::IndexMut<usize> for List<T, N> {
        #[track_caller]
        fn index_mut(&mut self, at: usize) -> &mut T {
            if at >= self.count { panic!("index out of bounds"); }
            self.items[at].as_mut().unwrap()
        }
    }
    impl<T: Copy, const N: usize> IntoIterator for List<T, N> {
        type Item = T;
        type IntoIter = std::vec::IntoIter<T>;
        fn into_iter(self) -> Self::IntoIter { self.all().into_iter() }
    }
    impl<T: Copy + PartialEq, const N: usize> PartialEq for List<T, N> {
        fn eq(&self, other: &Self) -> bool { self.all() == other.all() }
    }
    impl<T: Copy + std::fmt::Debug, const N: usize> std::fmt::Debug for List<T, N> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { self.all().fmt(f) }
    }
}
"#;

/// The text with rustc's form of the types of lists.
fn with_lists(mut text: String) -> String {
    while let Some(at) = text.find("; ..") {
        let (mut depth, mut begin) = (0, at);
        while depth >= 0 {
            begin -= 1;
            depth += match text.as_bytes()[begin] {
                b']' => 1,
                b'[' => -1,
                _ => 0,
            };
        }
        let end = at + text[at..].find(']').expect("the end of a type");
        let list = format!("List<{}, {}>", &text[begin + 1..at], &text[at + 4..end]);
        text.replace_range(begin..=end, &list);
    }
    text
}

/// The module of a program. Its lines are those of the source.
fn module(number: usize, program: &Source) -> String {
    let mut text = String::from("use crate::lists::List; ");
    for line in program.text.lines() {
        // Values are copied and compared.
        if line.starts_with("struct ") || line.starts_with("enum ") {
            text += "#[derive(Clone, Copy, Debug, PartialEq)] ";
        }
        text += line;
        text.push('\n');
    }
    for (name, value) in &program.given {
        text = text.replace(name, value);
    }
    // The language's `usize` has 32 bits: what a conversion drops there, it drops here.
    text = with_lists(text).replace(" as usize", " as u32 as usize");
    text += "pub mod drive_ { use super::*; pub fn drive_() {\n";
    for arguments in &program.inputs {
        writeln!(text, "{ARGUMENTS}{number}, || super::main({}));", arguments.join(", ")).unwrap();
    }
    text + "} }\n"
}

/// A source as rustc takes it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The text, in which lists are marked.
    pub(crate) text: String,
    /// Constants of parties and their values.
    pub(crate) given: Vec<(String, String)>,
    /// The arguments of `main` in each run.
    pub(crate) inputs: Vec<Vec<String>>,
}

impl Source {
    pub(crate) fn of(program: &Program) -> Self {
        Source {
            text: program.marked(),
            given: program.given(),
            inputs: program.inputs.iter().map(|run| run.iter().map(crate::text::input).collect()).collect(),
        }
    }
}

/// The answer of rustc to each program.
pub(crate) fn verdicts(sources: &[Source]) -> Vec<Verdict> {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, source) in sources.iter().enumerate() {
        std::fs::write(folder.path().join(format!("p{number}.rs")), module(number, source)).expect("a file");
    }
    let mut refused: BTreeMap<usize, (BTreeSet<String>, String)> = BTreeMap::new();
    let mut certain = BTreeSet::new();
    loop {
        let kept: Vec<usize> = (0..sources.len()).filter(|number| !refused.contains_key(number)).collect();
        let found = compile(folder.path(), &kept);
        certain.extend(found.certain);
        if found.done {
            break;
        }
        assert!(!found.refused.is_empty(), "rustc refuses a batch for no program:\n{}", found.other);
        for (number, code, message) in found.refused {
            refused.entry(number).or_insert_with(|| (BTreeSet::new(), message)).0.insert(code);
        }
    }
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); sources.len()];
    let mut endless = BTreeSet::new();
    let ran = Command::new(folder.path().join("batch")).output().expect("a batch that runs");
    assert!(ran.status.success(), "a batch ended with {}: {}", ran.status, String::from_utf8_lossy(&ran.stderr));
    for line in String::from_utf8(ran.stdout).expect("text").lines() {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().expect("three words");
        let (number, kind, rest) = (word().parse::<usize>().expect("a number"), word(), word());
        match kind {
            "endless" => drop(endless.insert(number)),
            "value" => runs[number].push(Run::Value(rest.into())),
            _ => {
                let (line, why) = rest.split_once(' ').expect("a line");
                runs[number].push(Run::Panic(line.parse().expect("a line"), reason(why).into()));
            }
        }
    }
    let verdict = |(number, runs): (usize, Vec<Run>)| match refused.remove(&number) {
        Some((codes, message)) => Verdict::Refused(codes, message),
        None if endless.contains(&number) => Verdict::Endless,
        None => Verdict::Runs(runs, certain.contains(&number)),
    };
    runs.into_iter().enumerate().map(verdict).collect()
}

/// Rustc's words for why a program panics, in ours.
fn reason(why: &str) -> &str {
    match why {
        _ if why.contains("overflow") => "arithmetic overflow",
        _ if why.contains("by zero") || why.contains("divisor of zero") => "division by zero",
        _ if why.contains("out of bounds") => "index out of bounds",
        other => other,
    }
}

#[derive(Default)]
struct Found {
    done: bool,
    /// Programs with errors: the code and the message of each.
    refused: Vec<(usize, String, String)>,
    /// Programs in which something is seen to panic.
    certain: Vec<usize>,
    other: String,
}

fn compile(folder: &Path, kept: &[usize]) -> Found {
    let mut main = [MAIN, LISTS].concat();
    let mut calls = String::new();
    for number in kept {
        writeln!(main, "mod p{number};").unwrap();
        writeln!(calls, "within_seconds({number}, p{number}::drive_::drive_);").unwrap();
    }
    write!(main, "fn main() {{ std::panic::set_hook(Box::new(hook));\n{calls}}}\n").unwrap();
    std::fs::write(folder.join("main.rs"), main).expect("a file");
    // The toolchain of the repository.
    let mut rustc = Command::new("rustc");
    rustc.current_dir(env!("CARGO_MANIFEST_DIR")).arg(folder.join("main.rs")).arg("-o").arg(folder.join("batch"));
    rustc.args(["--edition", "2021", "--error-format", "json"]);
    rustc.args(["-C", "opt-level=0", "-C", "overflow-checks=on", "-C", "debuginfo=0", "-C", "codegen-units=1"]);
    for (at, lint) in LINTS.iter().enumerate() {
        rustc.args([if at < 3 { "--allow" } else { "--warn" }, lint]);
    }
    let output = rustc.output().expect("rustc, which these tests compare with");
    let mut found = Found { done: output.status.success(), ..Found::default() };
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else {
            found.other += line;
            continue;
        };
        let code = message["code"]["code"].as_str().unwrap_or("syntax");
        let is_error = message["level"] == "error";
        let spans = message["spans"].as_array().into_iter().flatten();
        for span in spans.filter(|span| span["is_primary"] == true) {
            let file = Path::new(span["file_name"].as_str().unwrap_or_default());
            let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let number = stem.strip_prefix('p').and_then(|number| number.parse::<usize>().ok());
            match number {
                Some(number) if is_error => {
                    let text = message["message"].as_str().unwrap_or_default();
                    let line = span["text"][0]["text"].as_str().unwrap_or_default().trim();
                    found.refused.push((number, code.into(), format!("{}: {text}: {line}", span["line_start"])));
                }
                Some(number) if matches!(code, "arithmetic_overflow" | "unconditional_panic") => {
                    found.certain.push(number);
                }
                _ => {}
            }
        }
        if is_error {
            found.other += message["rendered"].as_str().unwrap_or_default();
        }
    }
    found
}
