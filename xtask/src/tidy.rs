//! House rules that a machine can check: lengths, banned words, where randomness and `unsafe` may be named.

use std::path::{Path, PathBuf};

/// The longest a source file may be, in lines.
const FILE_LINES_MAX: usize = 600;
/// The longest a function may be, in lines.
const FUNCTION_LINES_MAX: usize = 70;
/// Functions that may be longer, as `file: name`, each for a reason given there. Only remove names from this list.
const LONG_FUNCTIONS: &[&str] = &[];

/// The largest file that belongs in the repository, in bytes.
const FILE_BYTES_MAX: u64 = 512 << 10;

/// The places that may name the operating system's randomness: the top, which passes generators down.
const RANDOMNESS_ALLOWED: &[&str] = &[
    "crates/cli/",
    "crates/console/",
    "crates/garblet/",
    "crates/lab/",
    "crates/party/",
    "crates/python/",
    "crates/service/",
    "examples/",
    "xtask/",
];
const RANDOMNESS: &[&str] = &["SysRng", "OsRng", "ThreadRng", "thread_rng", "rand::rng(", "getrandom", "make_rng"];

/// The places where `unsafe` may be written.
const UNSAFE_ALLOWED: &[&str] = &["crates/primitives/", "xtask/"];

/// Words that begin a clause.
const CLAUSES: &[&str] = &["What", "Who", "Whom", "Whose", "How", "Whether", "Where", "When", "Which", "Why"];

/// The page that warns of the registries, and so may name them.
const REGISTRIES_EXPLAINED: &str = "docs/src/install.md";

/// The decisions, a page for each part of the project, and their index.
const DECISIONS: &str = "docs/decisions";

/// Module names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "util", "common", "helpers", "misc"];

/// Lists what is wrong in the tree, one line per finding.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let (mut findings, mut rules) = (Vec::new(), Vec::new());
    let index = std::fs::read_to_string(root.join(DECISIONS).join("README.md")).unwrap_or_default();
    for path in files(root) {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if std::fs::metadata(&path).is_ok_and(|m| m.len() > FILE_BYTES_MAX) && !name.ends_with("Cargo.lock") {
            findings.push(format!("{name}: over {} KiB", FILE_BYTES_MAX >> 10));
        }
        // Files that are not text are not checked.
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        findings.extend(check_file(&name, &text));
        findings.extend(unverified_installs(&name, &text));
        rules.extend(rule_of_texts(&text).map(|rule| (name.clone(), rule.to_string())));
        if name.ends_with(".md") && !name.contains("CHANGELOG") {
            findings.extend(lost_paths(&name, &text, |path| root.join(path).exists()));
        }
        if name.starts_with(DECISIONS) {
            findings.extend(unlisted(&name, &text, &index));
        }
    }
    findings.extend(differing(&rules));
    findings
}

/// Sections of a page of decisions that their index does not name.
fn unlisted(name: &str, text: &str, index: &str) -> Vec<String> {
    let sections = text.lines().filter_map(|line| line.strip_prefix("## "));
    let lost = sections.filter(|section| !index.contains(&format!("[{section}](")) && !section.starts_with('['));
    lost.map(|section| format!("{name}: the index does not name `{section}`")).collect()
}

/// The rule for which characters of other people's texts are shown, if a file has it. `circuit`, `net` and `store` each have a copy, since no
/// crate is below all three.
fn rule_of_texts(text: &str) -> Option<&str> {
    let at = text.find(&["fn controls_", "terminal(c: char) -> bool {\n"].concat())?;
    let body = &text[at..];
    body.find("\n}\n").map(|end| &body[..end])
}

/// Copies of a rule that differ from the first.
fn differing(rules: &[(String, String)]) -> Vec<String> {
    let Some(((first, rule), others)) = rules.split_first() else { return Vec::new() };
    let differ = others.iter().filter(|(_, other)| other != rule);
    differ.map(|(name, _)| format!("{name}: it shows different characters of texts than {first}")).collect()
}

/// Paths of missing sources that a page names; they begin in the root or in `crates`.
fn lost_paths(name: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let quoted =
        text.lines().enumerate().flat_map(|(at, line)| line.split('`').skip(1).step_by(2).map(move |p| (at, p)));
    let source = |path: &str| {
        let plain = path.chars().all(|c| c.is_alphanumeric() || "/-_.".contains(c));
        plain && ["/src/", "/tests/", "crates/"].iter().any(|part| path.contains(part))
    };
    let lost = quoted.filter(|(_, path)| source(path) && !exists(path) && !exists(&format!("crates/{path}")));
    lost.map(|(at, path)| format!("{name}:{}: there is no `{path}`", at + 1)).collect()
}

/// Calls that install Garblet by its name in a registry, where the package may be somebody else's.
fn unverified_installs(name: &str, text: &str) -> Vec<String> {
    if name == REGISTRIES_EXPLAINED {
        return Vec::new();
    }
    let named = |line: &str| {
        ["pip install ", "pip3 install ", "pip download ", "npm install ", "npm i "].iter().any(|call| {
            line.split(*call).skip(1).any(|rest| arguments(rest).iter().any(|argument| is_of_registry(argument)))
        })
    };
    let lines = text.lines().enumerate().filter(|(_, line)| named(line));
    lines.map(|(at, _)| format!("{name}:{}: install the file of a release, not a name of a registry", at + 1)).collect()
}

/// The arguments of a call in a text, which ends with a quote, a backtick, or a sign of the shell.
fn arguments(rest: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for word in rest.split_whitespace() {
        let inner = word.trim_start_matches(['"', '\'']);
        let end = inner.find(['`', '"', '\'', ';', '&', '|', '\\', ')']).unwrap_or(inner.len());
        found.push(&inner[..end]);
        if end < inner.len() {
            break;
        }
    }
    found
}

fn is_of_registry(argument: &str) -> bool {
    let is_file = argument.contains('/') || [".whl", ".tgz", ".tar.gz"].iter().any(|end| argument.ends_with(end));
    argument.to_lowercase().starts_with("garblet") && !is_file
}

fn check_file(name: &str, text: &str) -> Vec<String> {
    let mut findings = banned_words(name, text);
    if !name.ends_with(".rs") {
        return findings;
    }
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        findings.push(format!("{name}: {lines} lines, at most {FILE_LINES_MAX}"));
    }
    if let Some(module) = name.strip_suffix("/mod.rs") {
        findings.push(format!("{name}: a module is in {module}.rs, beside the folder of its own modules"));
    }
    let module = name.trim_end_matches(".rs").rsplit('/').next().unwrap_or(name);
    if EMPTY_NAMES.contains(&module) {
        findings.push(format!("{name}: a module's name says what is inside, `{module}` does not"));
    }
    for function in functions(text) {
        let key = format!("{name}: {}", function.name);
        if function.lines > FUNCTION_LINES_MAX && !LONG_FUNCTIONS.contains(&key.as_str()) {
            findings.push(format!("{key} has {} lines, at most {FUNCTION_LINES_MAX}", function.lines));
        }
    }
    findings.extend(misplaced(name, text));
    findings.extend(vague_openings(name, text));
    findings
}

/// Doc comments that begin with a clause where a noun or a verb would say at once what is described.
fn vague_openings(name: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let mut before = "";
    for (at, line) in text.lines().map(str::trim_start).enumerate() {
        let doc = |line: &str| line.starts_with("///") || line.starts_with("//!");
        let opening = line.get(4..).and_then(|words| words.split(|c: char| !c.is_alphanumeric()).next());
        if let Some(word) = opening.filter(|word| doc(line) && !doc(before) && CLAUSES.contains(word)) {
            findings.push(format!("{name}:{}: a doc comment begins with a noun or a verb, not with `{word}`", at + 1));
        }
        before = line;
    }
    findings
}

/// Words that must not be in a file. They are put together here, so that this file does not hold them.
fn banned_words(name: &str, text: &str) -> Vec<String> {
    let words = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["todo", "!("], ["unimplemented", "!("], ["dbg", "!("]];
    let mut words: Vec<String> = words.iter().map(|halves| halves.concat()).collect();
    words.push(["#[ig", "nore"].concat());
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for word in words.iter().filter(|w| contains_word(line, w)) {
            findings.push(format!("{name}:{}: `{word}` is not left in the tree", at + 1));
        }
    }
    findings
}

fn contains_word(line: &str, word: &str) -> bool {
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        !letter(line[..at].chars().next_back())
            && (!word.ends_with(char::is_alphanumeric) || !letter(line[at + word.len()..].chars().next()))
    })
}

/// Names that are allowed in some crates only.
fn misplaced(name: &str, text: &str) -> Vec<String> {
    let allowed = |places: &[&str]| places.iter().any(|p| name.starts_with(p));
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or(line);
        if !allowed(RANDOMNESS_ALLOWED)
            && let Some(word) = RANDOMNESS.iter().find(|w| contains_word(code, w))
        {
            findings.push(format!("{name}:{}: `{word}` below the top: take a generator as an argument", at + 1));
        }
        if !allowed(UNSAFE_ALLOWED) && contains_word(code, "unsafe") {
            findings.push(format!("{name}:{}: `unsafe` outside crates/primitives", at + 1));
        }
        if code.contains(&["Zeroizing::new(Vec", "::new())"].concat()) {
            findings.push(format!("{name}:{}: give it its capacity: what a vector outgrows is not wiped", at + 1));
        }
    }
    findings
}

/// A function in formatted source.
struct Function {
    name: String,
    lines: usize,
}

/// The functions of a formatted file: from the line with `fn` to the closing brace of the same indentation.
fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (begin, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let closing = format!("{indent}}}");
        let body = lines[begin..].iter().position(|l| *l == closing || l.trim_end().ends_with(';') && same(l, indent));
        if let Some(length) = body {
            found.push(Function { name, lines: length + 1 });
        }
    }
    found
}

/// Returns whether a line has exactly that indentation (a declaration without body ends at its own level).
fn same(line: &str, indent: &str) -> bool {
    line.starts_with(indent) && !line[indent.len()..].starts_with(' ')
}

fn function_name(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let qualifiers = ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe", "extern", "\"C\""];
    let word = words.find(|w| !qualifiers.contains(w))?;
    if word != "fn" {
        return None;
    }
    let rest = words.next()?;
    Some(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

/// The files of the tree that people write.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|e| e.path()) {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let made = ["target", "corpus", "artifacts", ".git", "book", "__pycache__"].contains(&name.as_str());
            if path.is_dir() && !made {
                folders.push(path);
            } else if path.is_file() && path.extension().is_none_or(|extension| extension != "so") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        assert_eq!(check(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn a_decision_that_the_index_does_not_name_is_found() {
        let page = "# A\n\n## One `x`\n\n### Part\n\n## Two\n";
        let index = "# Decisions\n\n## [A](a.md)\n\n- [One `x`](a.md#one-x)\n";
        assert_eq!(unlisted("a.md", page, index), ["a.md: the index does not name `Two`"]);
        assert_eq!(unlisted("README.md", index, index), Vec::<String>::new());
    }

    #[test]
    fn long_files_and_functions_are_found() {
        let body = "    let x = 1;\n".repeat(FUNCTION_LINES_MAX - 1);
        let finding = check_file("crates/a/src/b.rs", &format!("pub(crate) async fn long(\n) {{\n{body}}}\n"));
        assert_eq!(finding, ["crates/a/src/b.rs: long has 72 lines, at most 70"]);
        let finding = check_file("crates/a/src/b.rs", &"\n".repeat(601));
        assert_eq!(finding, ["crates/a/src/b.rs: 601 lines, at most 600"]);
    }

    #[test]
    fn a_function_of_the_limit_and_a_declaration_pass() {
        let body = "    let x = 1;\n".repeat(FUNCTION_LINES_MAX - 2);
        let text = format!("trait T {{\n    fn declared(&self);\n}}\nfn fits() {{\n{body}}}\n");
        assert_eq!(check_file("crates/a/src/b.rs", &text), Vec::<String>::new());
    }

    #[test]
    fn ambient_randomness_is_found_below_the_top_only() {
        let text = "use rand::rngs::SysRng;\n";
        assert_eq!(check_file("crates/ot/src/a.rs", text).len(), 1);
        assert_eq!(check_file("crates/cli/src/a.rs", text), Vec::<String>::new());
    }

    #[test]
    fn unsafe_is_found_in_code_and_not_in_comments() {
        assert_eq!(check_file("crates/ot/src/a.rs", "unsafe { f() }\n").len(), 1);
        assert_eq!(check_file("crates/ot/src/a.rs", "// unsafe\n#![deny(unsafe_code)]\n"), Vec::<String>::new());
        assert_eq!(check_file("crates/primitives/src/a.rs", "unsafe { f() }\n"), Vec::<String>::new());
    }

    #[test]
    fn secrets_that_would_outgrow_their_place_are_found() {
        let growing = ["let mut keys = Zeroizing::new(Vec", "::new());\n"].concat();
        assert_eq!(check_file("crates/ot/src/a.rs", &growing).len(), 1);
        let fixed = "let mut keys = Zeroizing::new(Vec::with_capacity(n));\n";
        assert_eq!(check_file("crates/ot/src/a.rs", fixed), Vec::<String>::new());
    }

    #[test]
    fn a_doc_comment_that_begins_with_a_clause_is_found() {
        let of = |text: &str| check_file("crates/a/src/b.rs", text).len();
        assert_eq!(of("/// What it does.\nfn f() {}\n"), 1);
        assert_eq!(of("    //! Why: so.\n"), 1);
        assert_eq!(of("/// The deed.\n/// Whatever it is.\n/// How.\n// What?\n/// Whatever.\n"), 0);
    }

    #[test]
    fn calls_that_install_from_a_registry_are_found() {
        let of = |call: &str, what: &str| unverified_installs("a.py", &format!("{call} install {what}")).len();
        for what in ["garblet", "garblet-ray\")", "--quiet garblet==1.0`", "'garblet[ray]'", "ray garblet_ray"] {
            assert_eq!([of("pip", what), of("npm", what)], [1, 1], "{what}");
        }
        for what in ["./python", "./garblet-1.whl", "garblet_ray-1-py3-none-any.whl", "ray` for garblet", "` garblet"] {
            assert_eq!([of("pip", what), of("npm", what)], [0, 0], "{what}");
        }
        assert_eq!(unverified_installs(REGISTRIES_EXPLAINED, &["pip inst", "all garblet"].concat()), [""; 0]);
    }

    #[test]
    fn a_page_that_names_a_source_which_is_not_there_is_found() {
        let of = |text: &str| lost_paths("a.md", text, |path| path == "crates/net/src/tls.rs");
        assert_eq!(of("`crates/net/src/tls.rs` and `net/src/tls.rs`, `src` and `a b/src/`\n"), Vec::<String>::new());
        assert_eq!(of("see\n`net/src/ssl.rs`\n"), ["a.md:2: there is no `net/src/ssl.rs`"]);
    }

    #[test]
    fn leftovers_and_empty_names_are_found() {
        let text = ["// TO", "DO: later\n"].concat();
        assert_eq!(check_file("README.md", &text).len(), 1);
        assert_eq!(check_file("crates/a/src/helpers.rs", "").len(), 1);
    }

    #[test]
    fn a_module_has_its_file_beside_its_folder() {
        let finding = check_file("crates/a/src/b/mod.rs", "");
        assert_eq!(
            finding,
            ["crates/a/src/b/mod.rs: a module is in crates/a/src/b.rs, beside the folder of its own modules"]
        );
    }

    #[test]
    fn the_rule_for_texts_of_others_is_the_same_wherever_it_is_written() {
        let rule = |more: &str| {
            format!("/// Ours.\npub {}terminal(c: char) -> bool {{\n    c.is_control(){more}\n}}\n", "fn controls_")
        };
        let of = |name: &str, text: &str| rule_of_texts(text).map(|rule| (name.to_string(), rule.to_string()));
        let rules = |texts: [&str; 3]| texts.iter().filter_map(|text| of("a.rs", text)).collect::<Vec<_>>();
        assert_eq!(differing(&rules([&rule(""), "nothing", &rule("")])), [""; 0]);
        let found = differing(&rules([&rule(""), &rule(" || c == 'x'"), &rule("")]));
        assert_eq!(found, ["a.rs: it shows different characters of texts than a.rs"]);
    }
}
