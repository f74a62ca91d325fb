//! Circuit files and netlists of other tools: their ports, owners, and the order of their bits.

use crate::{
    identities::pair,
    invocation::{Folder, garblet},
};

/// Outputs are the eight bits of the only input, and the AND of its first and last.
fn eight(folder: &Folder) -> String {
    let copies: String = (0..8).map(|k| format!("1 1 {k} {} EQW\n", k + 8)).collect();
    folder.file("eight.txt", &format!("9 17\n1 8\n2 8 1\n\n{copies}2 1 0 7 16 AND\n"))
}

#[test]
fn ports_of_the_file_are_cut_for_the_parties() {
    let folder = Folder::new("ports");
    let file = eight(&folder);
    let inputs = [folder.file("x.json", "{\"x\": 1}"), folder.file("y.json", "{\"y\": 8}")];
    let inputs = [format!("0={}", inputs[0]), format!("1={}", inputs[1])];
    for command in ["eval", "local"] {
        let cut = [command, &file, "--ports", "x:4=0,y:4=1", "--input", &inputs[0], "--input", &inputs[1]];
        let ran = garblet(&cut);
        assert!(ran.stdout.starts_with("out0 = 129\nout1 = 1\n"), "{} {}", ran.stdout, ran.stderr);
        let turned = garblet(&[&cut[..], &["--reverse", "y", "--reverse", "out0"]].concat());
        assert!(turned.stdout.starts_with("out0 = 136\nout1 = 0\n"), "{} {}", turned.stdout, turned.stderr);
    }
    let wrong = |options: &[&str], message: &str| {
        let ran = garblet(&[&["inspect", &file], options].concat());
        assert_eq!(ran.status, Some(2), "{}", ran.stdout);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    };
    wrong(&["--ports", "x:4=0"], "--ports: eight: the ports have 4 wires, expected 8, all of the inputs");
    wrong(&["--ports", "x=0"], "hint: give its width: NAME:WIDTH=K");
    wrong(&["--reverse", "in1"], "--reverse: eight: has no port `in1`; did you mean `in0`?");
    let many = garblet(&["inspect", "examples/components/highest.json", "--reverse", "a"]);
    assert!(many.stderr.contains("is not one circuit, whose ports could be changed"), "{}", many.stderr);
}

#[test]
fn inspect_says_which_bit_is_first() {
    let folder = Folder::new("first-bit");
    let file = eight(&folder);
    let line = "bits: wire 0 is taken as the least significant; if the file begins a port with the most significant, give --reverse PORT\n";
    assert!(garblet(&["inspect", &file]).stdout.contains(line));
    assert!(!garblet(&["inspect", "lib:add(8)"]).stdout.contains("bits: wire 0"));
    // The older format is the one whose circuits begin with the most significant bit.
    let old = folder.file("old.txt", "1 17\n8 8 1\n\n2 1 0 8 16 AND\n");
    let ran = garblet(&["inspect", &old]);
    assert!(
        ran.stderr.contains("warning: the older Bristol format does not say which bit of a port is first"),
        "{}",
        ran.stderr
    );
    assert_eq!(garblet(&["inspect", &old, "--reverse", "in0"]).stderr, "");
}

#[test]
fn a_job_has_the_ports_that_its_program_was_given() {
    let folder = Folder::new("ports-job");
    let (file, out) = (eight(&folder), folder.path("e.toml"));
    let new = garblet(&[
        "job",
        "new",
        &file,
        "--ports",
        "x:4=0,y:4=1",
        "--reverse",
        "y",
        "--party",
        "alice",
        "--party",
        "bob",
        "--out",
        &out,
    ]);
    assert_eq!(new.status, Some(0), "{}", new.stderr);
    let text = std::fs::read_to_string(&out).expect("the job");
    assert!(text.contains("ports = \"x:4=0,y:4=1\"\nreverse = [\"y\"]\n"), "{text}");
    let checked = garblet(&["job", "check", &out]);
    assert_eq!(checked.status, Some(0), "{}", checked.stderr);
    let strange = folder.file("strange.toml", &text.replace("y:4=1", "y:4=2"));
    let refused = garblet(&["job", "check", &strange]);
    assert!(refused.stderr.contains("ports: y: no party 2; the job has 2, 0 to 1"), "{}", refused.stderr);
}

#[test]
fn counts_are_those_that_are_garbled_beside_those_of_the_file() {
    let folder = Folder::new("counts");
    // Of four products, one is dead and one has a constant factor.
    let text = "4 8\n2 1 1\n1 1\n\n1 1 0 2 EQ\n2 1 0 1 3 AND\n2 1 0 2 4 AND\n4 2 0 1 1 3 5 7 MAND\n";
    let file = folder.file("g.txt", text);
    let converted = garblet(&["convert", &file, &folder.path("g.json")]);
    assert!(converted.stderr.contains("4 AND, 0 XOR, 0 NOT; garbled: 2 AND\n"), "{}", converted.stderr);
    let inputs = [folder.file("a.json", "{\"in0\": 1}"), folder.file("b.json", "{\"in1\": 1}")];
    let inputs = [format!("0={}", inputs[0]), format!("1={}", inputs[1])];
    let ran = garblet(&["local", &file, "--as-it-is", "--input", &inputs[0], "--input", &inputs[1]]);
    let shown = ran.stdout + &ran.stderr;
    assert!(shown.contains("yao (semi-honest): 2 AND gates (4 in the program), AND depth 2"), "{shown}");
}

/// The example that Yosys has made.
const AUCTION: &str = "examples/verilog/auction.blif";

#[test]
fn a_circuit_file_loses_gates_unless_it_is_to_run_as_it_is() {
    let folder = Folder::new("as-it-is");
    let counts = |options: &[&str]| {
        let program = garblet(&[&["inspect", AUCTION, "--json"], options].concat()).json()["program"].clone();
        (program["and"].as_u64(), program["and_depth"].as_u64(), program["file"]["and"].as_u64())
    };
    assert_eq!(counts(&[]), (Some(31), Some(8), Some(64)));
    assert_eq!(counts(&["--as-it-is"]), (Some(64), Some(14), None));
    let told = garblet(&["plan", AUCTION]).stdout;
    assert!(told.contains("file: 64 AND, 11 XOR, 60 NOT, AND depth 14; run its gates with --as-it-is\n"), "{told}");
    let inputs = ["--input", "0=examples/verilog/bid.json", "--input", "1=examples/verilog/reserve.json"];
    for (options, gates) in [(&[][..], "31 AND gates (64 in the file), AND depth 8"), (&["--as-it-is"], "64 AND gates")]
    {
        let ran = garblet(&[&["local", AUCTION], &inputs[..], options].concat());
        assert!(ran.stdout.starts_with("sold = 1\nabove = 20\n"), "{} {}", ran.stdout, ran.stderr);
        assert!((ran.stdout + &ran.stderr).contains(gates), "{options:?}");
    }
    // Converting writes the file's gates, or as few as that effort leaves.
    for (options, told) in
        [(&[][..], "64 AND, 11 XOR, 60 NOT"), (&["--optimise=quick", "--keep-layers"], "38 AND (before: 64)")]
    {
        let ran = garblet(&[&["convert", AUCTION, &folder.path("a.json"), "--force"], options].concat());
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    let refused = garblet(&["convert", AUCTION, &folder.path("b.json"), "--keep-layers"]);
    assert!(refused.stderr.contains("--optimise"), "{}", refused.stderr);
}

#[test]
fn parties_with_other_gates_of_one_file_are_told_how_to_agree() {
    let party = |number, input, more: &[&'static str]| {
        [&[AUCTION, "--party", number, "--input", input, "--insecure-plain-tcp"], more].concat()
    };
    let one = party("0", "0=examples/verilog/bid.json", &["--as-it-is"]);
    let (listened, connected) = pair(&one, &party("1", "1=examples/verilog/reserve.json", &[]));
    assert!(listened.stderr.contains("gates: ours as in the file, theirs optimised"), "{}", listened.stderr);
    assert!(connected.stderr.contains("hint: give --as-it-is on both sides, or on neither"), "{}", connected.stderr);
    let (listened, connected) = pair(&one, &party("1", "1=examples/verilog/reserve.json", &["--as-it-is"]));
    assert!(listened.stdout.starts_with("sold = 1\nabove = 20\n"), "{}", listened.stderr);
    assert_eq!(listened.stdout.lines().next(), connected.stdout.lines().next());
}

#[test]
fn a_job_says_whether_the_gates_are_those_of_the_file() {
    let folder = Folder::new("as-it-is-job");
    let out = folder.path("a.toml");
    let new = |more: &[&str]| {
        let call = ["job", "new", AUCTION, "--party", "alice", "--party", "bob", "--out", &out];
        let _ = std::fs::remove_file(&out);
        let ran = garblet(&[&call[..], more].concat());
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        std::fs::read_to_string(&out).expect("the job")
    };
    assert!(!new(&[]).contains("as_it_is"));
    let text = new(&["--as-it-is"]);
    assert!(text.contains("as_it_is = true\n"), "{text}");
    assert_eq!(garblet(&["job", "check", &out]).status, Some(0));
    let other = folder.file("b.toml", &text.replace("as_it_is = true\n", ""));
    let refused = garblet(&["job", "check", &other]);
    assert!(refused.stderr.contains("digest: that of the program"), "{}", refused.stderr);
}
