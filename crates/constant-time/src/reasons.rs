//! Every place that declares a value public, with its reason.

use std::{collections::BTreeMap, fs, path::Path};

/// All reasons, each with the files that use it.
const REASONS: &[(&str, &[&str])] = &[
    ("OT extension: whether the choices are the same in all columns", &["ot/src/softspoken/consistency.rs"]),
    ("OT extension: whether the trees match the tags", &["ot/src/softspoken/tags.rs"]),
    (
        "authenticated: the garbler's masked input, which its next labels reveal",
        &["protocols/authenticated/src/online/garbler.rs"],
    ),
    (
        "authenticated: whether a label encodes the sent masked input",
        &["protocols/authenticated/src/online/evaluator.rs"],
    ),
    ("authenticated: whether all gates are right", &["protocols/authenticated/src/online/evaluator.rs"]),
    (
        "authenticated: whether the digest matches the labels of outputs",
        &["protocols/authenticated/src/online/garbler.rs"],
    ),
    (
        "authenticated: whether the digest matches the labels of revealed values",
        &["protocols/authenticated/src/online/garbler.rs"],
    ),
    (
        "authenticated: whether the digests of a batch are equal",
        &["protocols/authenticated/src/prepare/equality.rs", "protocols/authenticated/src/stock/unsettled.rs"],
    ),
    ("authenticated: whether the proof of opened bits is right", &["protocols/authenticated/src/opening.rs"]),
    ("authenticated-bmr: the nonce, which was sent", &["protocols/authenticated/src/many/setup.rs"]),
    ("authenticated-bmr: whether all gates are right", &["protocols/authenticated/src/many/checks.rs"]),
    ("authenticated-bmr: whether all leaky triples are products", &["protocols/authenticated/src/many/settle.rs"]),
    ("authenticated-bmr: whether all parties heard the same", &["protocols/authenticated/src/many/ground.rs"]),
    ("authenticated-bmr: whether every party has one difference", &["protocols/authenticated/src/many/setup.rs"]),
    ("authenticated-bmr: whether labels of inputs fit", &["protocols/authenticated/src/many/online.rs"]),
    ("authenticated-bmr: whether opened masks are right", &["protocols/authenticated/src/many/open.rs"]),
    (
        "authenticated-bmr: whether silent OTs have the bits that were told",
        &["protocols/authenticated/src/many/ots.rs"],
    ),
    ("authenticated-bmr: whether the labels of outputs fit", &["protocols/authenticated/src/many/online.rs"]),
    ("authenticated-bmr: whether the labels of revealed values fit", &["protocols/authenticated/src/many/reveal.rs"]),
    ("authenticated-bmr: whether the proofs of opened bits are right", &["protocols/authenticated/src/many/open.rs"]),
    ("base OT: whether the receiver knows the pads that it chose", &["ot/src/base/sender.rs"]),
    ("base OT: whether the sender knew the answer", &["ot/src/base/transcript.rs"]),
    ("bmr: masked inputs, which all parties learn", &["protocols/bmr/src/party.rs"]),
    ("circuits: which are checked, hidden until the evaluator announces it", &["protocols/seeded/src/split.rs"]),
    ("coins: all parties know them once all shares are opened", &["protocols/authenticated/src/many/ground.rs"]),
    (
        "coins: both parties know them once both shares are opened",
        &["ot/src/silent/coins.rs", "protocols/authenticated/src/coins.rs"],
    ),
    ("commitments: whether an opening fits", &["homcommit/src/receiver.rs", "primitives/src/commit.rs"]),
    ("commitments: whether combinations match the watched bits", &["homcommit/src/combination.rs"]),
    ("lego: choices of OTs that serve no input, which are sent", &["protocols/lego/src/generate/evaluator.rs"]),
    ("lego: masked inputs, which are sent", &["protocols/lego/src/eval/evaluator.rs"]),
    (
        "lego: the challenge, sent once everything that it concerns has arrived",
        &["protocols/lego/src/generate/challenge.rs"],
    ),
    ("lego: the matrix of OTs, which is sent", &["protocols/lego/src/setup/delta_ot.rs"]),
    ("lego: whether a checked gate is right", &["protocols/lego/src/generate/made.rs"]),
    ("lego: whether authenticators accept the key of an input", &["protocols/lego/src/eval/bucket.rs"]),
    ("lego: whether choices are the same in every row", &["protocols/lego/src/setup/delta_ot.rs"]),
    ("lego: whether the committed delta matches the OTs", &["protocols/lego/src/generate/delta.rs"]),
    ("lego: whether the evaluator knows the blocks of its OTs", &["protocols/lego/src/generate/delta.rs"]),
    ("lego: whether the gates of a bucket agree, as those of an honest party do", &["garble/src/singles.rs"]),
    ("lego: whether the key of an output is one of its two", &["protocols/lego/src/eval/constructor.rs"]),
    ("lego: whether the key of an own input bit encodes the bit", &["protocols/lego/src/eval/evaluator.rs"]),
    ("lego: whether the lowest bit of delta is flipped, which is sent", &["protocols/lego/src/setup/delta_ot.rs"]),
    ("lego: whether sent bits match the commitments", &["protocols/lego/src/generate/leak.rs"]),
    ("lego: which bits are combined, from a seed that both parties know", &["protocols/lego/src/generate/leak.rs"]),
    ("silent OT: whether the sender's answer fits all leaves", &["ot/src/silent/check.rs"]),
    (
        "two-garblers: whether a garbler opens labels that the garblers committed to",
        &["protocols/two-garblers/src/commitments.rs"],
    ),
    ("two-garblers: whether all have the same name of the session", &["protocols/two-garblers/src/meeting.rs"]),
    ("two-garblers: whether the evaluator has the labels of outputs", &["protocols/two-garblers/src/outputs.rs"]),
    ("two-garblers: whether the garblers agree about commitments", &["protocols/two-garblers/src/evaluator.rs"]),
    ("two-garblers: whether the garblers agree about decoding bits", &["protocols/two-garblers/src/decoding.rs"]),
    ("two-garblers: whether the garblers agree about the tables", &["protocols/two-garblers/src/tables.rs"]),
];

/// The calls that declare a value public.
const CALLS: &[&str] = &[".public(", "secrets::public(", "secrets::publish(", "secrets::verdict("];

/// Methods that declare for their caller and pass on its reason: file and call.
const HANDED_ON: &[(&str, &str)] =
    &[("primitives/src/bit.rs", "secrets::public(self.0, reason)"), ("ot/src/bit_vec.rs", "bit.public(reason)")];

/// The reason in tests, whose results anybody may see. Only test code may give it.
const TEST: &str = "a test";

/// Tells whether a position in a file is in a test: the file or its folder is for tests, or the file's own tests begin before it.
fn is_in_test(name: &str, text: &str, at: usize) -> bool {
    let of_tests = name.split('/').any(|part| part == "tests" || part == "tests.rs");
    of_tests || text[..at].contains("\n#[cfg(test)]\nmod tests {\n")
}

#[test]
fn all_reasons_are_listed_with_their_places() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut files = Vec::new();
    collect(&crates, &mut files);
    assert!(files.len() > 100, "the sources are there");
    for path in files {
        let name = path.strip_prefix(&crates).expect("it is in there").display().to_string();
        // This crate is the check itself: it looks at results.
        if name.starts_with("constant-time/") {
            continue;
        }
        for reason in reasons(&name, &fs::read_to_string(&path).expect("text")) {
            let places = found.entry(reason).or_default();
            if !places.contains(&name) {
                places.push(name.clone());
            }
        }
    }
    found.values_mut().for_each(|places| places.sort());
    let listed: BTreeMap<String, Vec<String>> = REASONS
        .iter()
        .map(|(reason, files)| (reason.to_string(), files.iter().map(ToString::to_string).collect()))
        .collect();
    assert_eq!(found, listed, "the list in {} must match the code", file!());
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true if path.file_name().is_some_and(|name| name == "target") => {}
            true => collect(&path, files),
            false if path.extension().is_some_and(|kind| kind == "rs") => files.push(path),
            false => {}
        }
    }
}

/// The reasons that a file gives outside of tests: the first string after each call.
fn reasons(name: &str, text: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    for (at, call) in CALLS.iter().flat_map(|call| text.match_indices(call)) {
        let rest = &text[at + call.len()..];
        // A method with this name and without a reason is another method.
        if rest.starts_with(')') {
            continue;
        }
        let is_handed_on = |(file, whole): &(&str, &str)| {
            whole.find(call).is_some_and(|skip| *file == name && text[at.saturating_sub(skip)..].starts_with(whole))
        };
        if HANDED_ON.iter().any(is_handed_on) {
            continue;
        }
        let end = rest.find(';').unwrap_or(rest.len());
        let reason = rest[..end].split('"').nth(1);
        let line = text[..at].lines().count();
        let reason = reason.unwrap_or_else(|| panic!("{name}:{line}: no reason is given"));
        assert!(reason.len() > 3, "{name}:{line}: {reason:?} is not a reason");
        match reason == TEST {
            true => assert!(is_in_test(name, text, at), "{name}:{line}: this is not a test"),
            false => reasons.push(reason.to_string()),
        }
    }
    reasons
}

#[test]
fn a_call_without_a_reason_is_found() {
    let text = "a.public(\"told\");\n#[cfg(test)]\nmod tests {\n b.public(\n \"a test\");";
    assert_eq!(reasons("x", text), ["told"]);
    let of_test = "b.public(\"a test\");";
    assert!(reasons("x/src/tests.rs", of_test).is_empty() && reasons("x/src/tests/y.rs", of_test).is_empty());
    assert!(std::panic::catch_unwind(|| reasons("x/src/y.rs", of_test)).is_err(), "this is not a test");
    assert!(std::panic::catch_unwind(|| reasons("x", "a.public(reason);\n let b = \"no reason\";")).is_err());
    // Only the listed methods pass on a reason.
    let (file, call) = HANDED_ON[0];
    let text = format!("{call}; b.public(\"told\");");
    assert_eq!(reasons(file, &text), ["told"]);
    assert!(std::panic::catch_unwind(|| reasons("x", &text)).is_err());
    assert!(std::panic::catch_unwind(|| reasons(file, "secrets::public(other, reason);")).is_err());
}

#[test]
fn each_method_that_passes_on_reasons_occurs_once() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (file, call) in HANDED_ON {
        let text = fs::read_to_string(crates.join(file)).expect("text");
        assert_eq!(text.matches(call).count(), 1, "{file}: {call}");
    }
}

/// The functions that declare values public are called with their module's name, so that none is overlooked.
#[test]
fn declaring_functions_are_not_imported_by_name() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    collect(&crates, &mut files);
    for path in files.iter().filter(|path| !path.ends_with("constant-time/src/reasons.rs")) {
        let text = fs::read_to_string(path).expect("text");
        let own = if path.starts_with(crates.join("primitives")) { "use crate::" } else { "use garblet_primitives::" };
        assert_eq!(imported(&text, own), None, "{}", path.display());
    }
    let of = |text| imported(text, "use garblet_primitives::");
    assert_eq!(of("use garblet_primitives::{Block, secrets};"), None);
    for text in [
        "use garblet_primitives::secrets::public;",
        "use garblet_primitives::{\n    Block,\n    secrets::{leaves, public},\n};",
        "use garblet_primitives::secrets::public as told;",
        "use garblet_primitives::secrets::*;",
    ] {
        assert!(of(text).is_some(), "{text}");
    }
}

/// A declaring function that a text imports by name.
fn imported<'t>(text: &'t str, begin: &str) -> Option<&'t str> {
    let imports = text.match_indices(begin).map(|(at, _)| text[at..].split(';').next().unwrap_or_default());
    let of_secrets = imports.filter_map(|import| import.find("secrets::").map(|at| &import[at..]));
    let mut words = of_secrets.flat_map(|import| import.split(|c: char| !c.is_alphanumeric() && c != '*'));
    words.find(|word| ["public", "publish", "verdict", "*"].contains(word))
}
