//! Wrong calls and files: exit status 2, and messages with what, where, expected and got.

use crate::invocation::{Folder, garblet};

/// Runs the command on a file with this text and asserts the failure; `FILE` in it stands for the file's path.
fn file_fails(command: &[&str], name: &str, text: &str, stderr: &str) {
    let folder = Folder::new(&format!("bad-{}", name.replace('.', "-")));
    let path = folder.file(name, text);
    let arguments: Vec<String> = command.iter().map(|a| a.replace("FILE", &path)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    garblet(&arguments).fails(2, &stderr.replace("FILE", &path));
}

#[test]
fn circuit_files_with_wrong_counts() {
    file_fails(
        &["eval", "FILE"],
        "unset.txt",
        "2 4\n2 1 1\n1 1\n\n2 1 0 9 3 AND\n2 1 0 1 2 XOR\n",
        "error: a wire is 9, expected less than 4\n --> FILE:5:7\n  |\n5 | 2 1 0 9 3 AND\n  |       ^\n",
    );
    file_fails(
        &["eval", "FILE"],
        "count.txt",
        "99999999999 4\n1 1\n1 1\n\n",
        "error: the number of gates is 99999999999, expected less than 2147483648\n --> FILE:1:1\n  |\n\
         1 | 99999999999 4\n  | ^^^^^^^^^^^\n",
    );
    file_fails(
        &["inspect", "FILE"],
        "short.txt",
        "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AN",
        "error: unknown gate `AN`, expected one of XOR, AND, INV, NOT, EQ, EQW, MAND, OR, LOR, NOR, NAND, XNOR\n --> FILE:5:11\n  |\n\
         5 | 2 1 0 1 2 AN\n  |           ^^\n",
    );
}

#[test]
fn warnings_and_toml_errors_keep_their_lines() {
    let folder = Folder::new("bad-lines");
    let source =
        "pub fn main(a: bool) -> bool {\n    match a {\n        _ => false,\n        true => true,\n    }\n}\n";
    let source = folder.file("arm.garble.rs", source);
    let ran = garblet(&["inspect", &source]);
    let expected = "warning: this arm is never reached";
    assert!(ran.stderr.starts_with(expected) && !ran.stderr.contains("u{a}"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("\n --> {source}:4:9\n  |\n4 |")), "{}", ran.stderr);
    let agreement = folder.file("agreement.toml", "service = \"00\"\nclients = [\n");
    let visit = garblet(&[
        "visit",
        &agreement,
        "sum",
        "--invitation",
        &source,
        "--invitation",
        &source,
        "--generator",
        "127.0.0.1:1",
        "--cloud",
        "127.0.0.1:2",
    ]);
    let trust = folder.file("trust.toml", "[peers]\nanna = 3\n");
    let list = garblet(&["trust", "list", "--trust", &trust]);
    for (ran, expected) in
        [(visit, format!("error: {agreement}:2: ")), (list, format!("{trust} is not a trust store: line 2: "))]
    {
        assert!(
            ran.status == Some(2) && ran.stderr.contains(&expected) && !ran.stderr.contains("u{a}"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn inputs_that_do_not_fit() {
    let eval = ["eval", "lib:aes128", "--input", "0=FILE", "--input", "1=examples/aes/block.json"];
    file_fails(
        &eval,
        "type.json",
        r#"{"key": "zz"}"#,
        "error: input `key`: expected bytes16, got a string\n --> FILE:1:9\n  |\n1 | {\"key\": \"zz\"}\n  |         ^^^^\n\
         hint: write byte strings as {\"hex\": \"00ff..\"} or {\"text\": \"..\"}\n",
    );
    file_fails(
        &eval,
        "wide.json",
        r#"{"key": {"hex": "00112233445566778899aabbccddeeff00"}}"#,
        "error: input `key`: expected bytes16, that is 32 hex digits, got more\n --> FILE:1:17\n  |\n\
         1 | {\"key\": {\"hex\": \"00112233445566778899aabbccddeeff00\"}}\n  \
         |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n",
    );
}

#[test]
fn inputs_of_another_or_an_unknown_party() {
    for (name, text, words) in [
        ("owner.json", r#"{"block": 3}"#, "input `block` belongs to party 1, this file is party 0's"),
        ("extra.json", r#"{"kee": 3}"#, "the program has no input `kee`"),
        ("missing.json", "{}", "input `key` (bytes16) is missing"),
        ("broken.json", "{", "not JSON"),
    ] {
        let folder = Folder::new(&format!("bad-{name}"));
        let path = folder.file(name, text);
        let own = format!("0={path}");
        let ran = garblet(&["eval", "lib:aes128", "--input", &own, "--input", "1=examples/aes/block.json"]);
        assert_eq!((ran.status, &ran.stdout[..]), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("--> {path}:1:")), "{}", ran.stderr);
    }
}

#[test]
fn unknown_names() {
    garblet(&["eval", "nosuch.txt"]).fails(2, "error: cannot be read: No such file or directory\n --> nosuch.txt\n");
    garblet(&["eval", "millionaires(8)"]).fails(
        2,
        "error: cannot be read: No such file or directory\n --> millionaires(8)\n\
         hint: circuits of the library begin like this: lib:millionaires(8)\n",
    );
    garblet(&["eval", "lib:aes12"]).fails(
        2,
        "error: no library circuit `aes12`, did you mean `aes128` or `aes128-expanded` or `aes192` or `aes128-chain`?\n --> lib:aes12\n",
    );
    let local = |option: &[&str]| garblet(&[&["local", "lib:aes128"], option].concat());
    local(&["--param", "sheme=x"])
        .fails(2, "error: --param sheme=x: unknown parameter `sheme`, expected scheme, hash, build, ot-k\n");
    local(&["--param", "ot-k=3"]).fails(2, "error: --param ot-k=3: unknown ot-k `3`, expected 2, 4 or 8\n");
    local(&["--protocol", "bgw"]).fails(
        2,
        "error: --protocol: unknown protocol `bgw`, expected yao, components, covert, authenticated, cut-and-choose, \
             lego, gmw, bmr, bmr-bgw4, bmr-bgw3, bmr-bgw2, authenticated-bmr, outsourced or two-garblers\n",
    );
    local(&["--adversary", "byzantine"]).fails(
        2,
        "error: invalid value 'byzantine' for '--adversary <ADVERSARY>': unknown adversary `byzantine`, \
             expected semi-honest, covert or malicious\n\nFor more information, try '--help'.\n",
    );
    local(&["--protocol", "gmw", "--adversary", "covert"]).fails(
        2,
        "error: --adversary covert: gmw is only secure against semi-honest parties\nhint: --protocol covert is, for two parties; with three or more parties --protocol authenticated-bmr \
             is secure against covert parties; --protocol outsourced is, but only if its two servers do not collude; --protocol two-garblers is, but only if no two of its three parties collude; gmw, bmr, bmr-bgw4, bmr-bgw3, bmr-bgw2 are for semi-honest parties\n",
    );
    local(&["--owner", "in1=7"]).fails(2, "error: --owner: the program has no input `in1`\nhint: it has key, block\n");
    local(&["--input", "5=a.json"]).fails(2, "error: --input 5=a.json: there are 2 parties, 0 to 1\n");
    local(&["--input", "0=missing.json"]).fails(2, "error: missing.json: cannot be read: no such file or directory\n");
}

/// The object of a failure with `--json`, in addition to its message on standard error.
fn json_failure(arguments: &[&str], status: i32) -> serde_json::Value {
    let ran = garblet(&[arguments, &["--json"]].concat());
    assert_eq!(ran.status, Some(status), "{}", ran.stderr);
    let mut object: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one JSON object");
    let error = object["error"].take();
    assert_eq!(error["status"], status);
    let message = error["message"].as_str().expect("a message");
    assert!(ran.stderr.starts_with(&format!("error: {message}\n")), "{}", ran.stderr);
    error
}

#[test]
fn a_failure_with_json_is_one_object_too() {
    let error = json_failure(&["local", "lib:aes128", "--owner", "in1=7"], 2);
    assert_eq!(error["message"], "--owner: the program has no input `in1`");
    assert_eq!(error["hint"], "it has key, block");
    assert!(json_failure(&["local", "lib:aes128", "--param", "ot-k=3"], 2)["hint"].is_null());
    let ran = garblet(&["keygen", "a", "b", "--json"]);
    assert!(ran.stdout.contains("unexpected argument 'b' found"), "{}", ran.stdout);
    let ran = garblet(&["eval", "--json"]);
    assert!(ran.stdout.contains("the following required arguments were not provided: <PROGRAM>"), "{}", ran.stdout);
    let folder = Folder::new("json-failure");
    let source = folder.file("div.garble.rs", "pub fn main(a: u8, b: u8) -> u8 { a / b }");
    let inputs = [("a", "{\"a\": 1}"), ("b", "{\"b\": 0}")].map(|(name, text)| folder.file(name, text));
    let inputs = [format!("0={}", inputs[0]), format!("1={}", inputs[1])];
    let error = json_failure(&["local", &source, "--input", &inputs[0], "--input", &inputs[1]], 1);
    assert!(error["message"].as_str().is_some_and(|text| text.ends_with("division by zero")), "{error}");
}

#[test]
fn a_refused_conversion_leaves_the_file_unchanged() {
    let folder = Folder::new("refused-conversion");
    let text = "2 5\n3 1 1 1\n1 1\n\n2 1 0 1 3 AND\n2 1 3 2 4 AND\n";
    let path = folder.file("and3.txt", text);
    let ran = garblet(&["convert", &path, &path, "--force", "--format", "bristol"]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), text);
    garblet(&["convert", "lib:add(2)", &path])
        .fails(2, &format!("error: {path}: already exists\nhint: replace it with --force\n"));
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), text);
    let converted = garblet(&["convert", &path, &path, "--force"]);
    assert_eq!(converted.status, Some(0), "{}", converted.stderr);
    assert_eq!(std::fs::read_to_string(&path).expect("written"), text);
    let files: Vec<_> = std::fs::read_dir(folder.path("")).expect("a folder").collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let printed = garblet(&["convert", &path, "/dev/stdout", "--format", "bristol-fashion"]);
    assert_eq!((printed.status, &printed.stdout[..]), (Some(0), text), "{}", printed.stderr);
}

#[test]
fn a_conversion_touches_no_other_file_and_keeps_permissions() {
    let folder = Folder::new("conversion-beside");
    let out = folder.path("aes.txt");
    let beside = folder.file("aes.txt.partial", "the user's own");
    for _ in 0..2 {
        let ran = garblet(&["convert", "lib:aes128", &out]);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        assert_eq!(std::fs::read_to_string(&beside).expect("still there"), "the user's own");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &str| std::fs::metadata(path).expect("it exists").permissions().mode();
            assert_eq!(mode(&out), mode(&beside), "as of any file that is made");
        }
        std::fs::remove_file(&out).expect("it exists");
    }
    let files: Vec<_> = std::fs::read_dir(folder.path("")).expect("a folder").collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[test]
fn numbers_that_must_be_at_least_one() {
    for arguments in [&["local", "lib:aes128", "--repeat", "0"][..], &["bench", "yao", "--cold-starts", "x"]] {
        let ran = garblet(arguments);
        assert_eq!(ran.status, Some(2));
        assert!(ran.stderr.contains("': expected a number of at least 1\n"), "{}", ran.stderr);
    }
}

#[test]
fn an_unknown_parameter_of_a_benchmark_is_named() {
    let ran = garblet(&["bench", "authenticated", "--param", "check=zzz"]);
    assert_eq!((ran.status, &ran.stdout[..]), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("tags or reveal"), "{}", ran.stderr);
}

#[test]
fn mistakes_are_reported_before_waiting_for_a_peer() {
    let folder = Folder::new("before-the-peer");
    let store = ["--store", &folder.path("store"), "--store-key", &folder.path("key")];
    let way = ["--party", "0", "--insecure-plain-tcp", "--listen", "127.0.0.1:0", "--timeout", "1s"];
    let no_library = folder.file("library.toml", "component = 3\n");
    for command in [&["prepare", &no_library][..], &["serve", &no_library]] {
        let ran = garblet(&[command, &store, &way].concat());
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("library.toml:1") && !ran.stderr.contains("listening"), "{}", ran.stderr);
    }
    garblet(&[&["serve", "lib:aes128", "--protocol", "bmr"], &store[..], &way].concat()).fails(
        2,
        "error: --protocol bmr: only protocols for two parties can be served\n\
         hint: with several parties, fill the stores with garblet prepare PROGRAM --peers FILE\n",
    );
    let third = ["--party", "2", "--insecure-plain-tcp", "--listen", "127.0.0.1:0"];
    garblet(&[&["prepare", "lib:aes128", "--protocol", "gmw"], &store[..], &third].concat()).fails(
        2,
        "error: --party 2: with --listen or --connect there are parties 0 and 1\nhint: give --peers FILE for more\n",
    );
    let read = ["run", "lib:add(4)", "--protocol", "lego", "--read", "c=kept"];
    garblet(&[&read, &store[..], &way].concat())
        .fails(2, "error: --read: the program has no input `c`\nhint: it has a, b\n");
}

#[test]
fn a_scheme_that_would_reveal_an_input_is_refused() {
    let inputs = ["--input", "0=examples/aes/key.json", "--input", "1=examples/aes/block.json"];
    let ran = garblet(&[&["local", "lib:aes128", "--param", "scheme=privacy-free"], &inputs[..]].concat());
    assert_eq!((ran.status, &ran.stdout[..]), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("the privacy-free scheme would show the garbler's input `key`"), "{}", ran.stderr);
}

#[test]
fn lines_are_shown_for_sources_only() {
    garblet(&["inspect", "lib:add(4)", "--lines"]).fails(
        2,
        "error: lib:add(4): --lines: the program was not compiled from a function source\n\
         hint: give a .garble.rs file\n",
    );
}

#[test]
fn tables_in_csv_are_for_one_array() {
    let folder = Folder::new("csv");
    let file = folder.file("a.csv", "a\n1\n");
    let ran = garblet(&["eval", "lib:add(4)", "--input", &format!("0={file}")]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("a table is for an array, input `a` is u4"), "{}", ran.stderr);
}
