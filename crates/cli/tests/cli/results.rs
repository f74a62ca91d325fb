//! The JSON contract, output formats, and conversions.

use serde_json::json;

use crate::{
    identities::pair,
    invocation::{Folder, command, finish, garblet},
};

const AES: [&str; 5] = ["lib:aes128", "--input", "0=examples/aes/key.json", "--input", "1=examples/aes/block.json"];

fn local(more: &[&str]) -> serde_json::Value {
    garblet(&[&["local"], &AES[..], more, &["--json"]].concat()).json()
}

#[test]
fn the_json_object_follows_the_contract() {
    let run = local(&[]);
    assert_eq!(run["protocol"], "yao");
    assert_eq!(run["adversary"], "semi-honest");
    assert_eq!(run["parties"], 2);
    assert_eq!(run["program"]["and"], 6400);
    assert_eq!((&run["program"]["inputs"], &run["program"]["outputs"]), (&json!(256), &json!(128)));
    assert_eq!(run["security"]["computational_bits"], 116);
    assert_eq!(run["security"]["statistical_bits"], json!(null));
    assert_eq!(run["outputs"]["ciphertext"]["hex"], "69c4e0d86a7b0430d8cdb78070b4c55a");
    assert_eq!(run["outputs"]["ciphertext"]["bits"].as_str().map(str::len), Some(128));
    for (party, role) in ["garbler", "evaluator"].into_iter().enumerate() {
        let part = &run["per_party"][party];
        assert_eq!((&part["party"], &part["role"]), (&json!(party), &json!(role)));
        assert!(part["peak_rss_bytes"].as_u64().is_some_and(|b| b > 1 << 20), "{part}");
        // Building the program before the hello takes time.
        assert!(part["load_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{part}");
        for phase in ["setup", "prepare", "build", "online"] {
            let phase = &part["phases"][phase];
            assert!(phase["seconds"].as_f64().is_some_and(|s| s >= 0.0), "{phase}");
            for field in ["bytes_sent", "bytes_received", "rounds"] {
                assert!(phase[field].is_u64(), "{phase}");
            }
        }
    }
}

#[test]
fn integers_beyond_53_bits_are_strings_and_inputs_accept_both() {
    let folder = Folder::new("wide-integers");
    let source = folder.file("wide.garble.rs", "pub fn main(a: u64, b: i64) -> (u64, i64, u32) { (a, b, 7u32) }");
    let results =
        [["18446744073709551615", "-9223372036854775808"], ["\"18446744073709551615\"", "\"-9223372036854775808\""]];
    for [a, b] in results {
        let inputs = [("a", a), ("b", b)].map(|(name, value)| folder.file(name, &format!("{{\"{name}\": {value}}}")));
        let inputs = [format!("0={}", inputs[0]), format!("1={}", inputs[1])];
        let eval = garblet(&["eval", &source, "--input", &inputs[0], "--input", &inputs[1], "--json"]).json();
        let value = |output: &str| eval["outputs"][output]["value"].clone();
        assert_eq!(value("out0"), "18446744073709551615");
        assert_eq!((value("out1"), value("out2")), ("-9223372036854775808".into(), 7.into()));
    }
}

#[test]
fn the_chosen_protocol_is_secure_against_the_adversary() {
    let run = |options: &[&str]| {
        let run = local(options);
        [&run["protocol"], &run["adversary"]].map(|name| name.as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(run(&["--adversary", "malicious"]), ["authenticated", "malicious"]);
    assert_eq!(run(&["--adversary", "malicious", "--parties", "3"]), ["authenticated-bmr", "malicious"]);
    assert_eq!(run(&["--adversary", "semi-honest", "--parties", "3"]), ["gmw", "semi-honest"]);
    assert_eq!(run(&["--adversary", "semi-honest", "--protocol", "covert"]), ["covert", "covert"]);
}

#[test]
fn a_plan_shows_the_cost_of_a_run() {
    let plan = |more: &[&str]| garblet(&[&["plan", "lib:aes128"], more, &["--json"]].concat()).json();
    let all = plan(&["--link", "33ms,50mbit"]);
    let protocols = all["protocols"].as_array().unwrap();
    assert_eq!((protocols.len(), &all["left_out"]), (14, &json!([])));
    for protocol in ["yao", "gmw", "authenticated-bmr"] {
        let planned = protocols.iter().find(|planned| planned["protocol"] == protocol).unwrap();
        let measured = local(&["--protocol", protocol, "--link", "33ms,50mbit"]);
        for party in [0, 1] {
            for phase in ["setup", "prepare", "build", "online"] {
                let [planned, measured] = [planned, &measured].map(|run| &run["per_party"][party]["phases"][phase]);
                for field in ["bytes_sent", "bytes_received", "rounds"] {
                    assert_eq!(planned[field], measured[field], "{protocol}, {phase}: {field}");
                }
            }
        }
        assert!(planned["link_seconds"]["online"].as_f64().is_some_and(|s| s > 0.066), "{planned}");
    }
    let malicious = plan(&["--adversary", "malicious", "--parties", "3"]);
    let names = malicious["protocols"].as_array().unwrap().iter().map(|planned| &planned["protocol"]);
    assert!(names.eq(["authenticated-bmr", "outsourced", "two-garblers"]), "{malicious}");
    assert_eq!(malicious["left_out"][2], json!({ "protocol": "lego", "reason": "2 parties only" }));
}

#[test]
fn a_plan_is_shown_by_protocol_or_by_phase() {
    let all = garblet(&["plan", "lib:millionaires(32)", "--parties", "3"]).stdout;
    assert!(all.contains("bmr-bgw3           semi-honest        3"), "{all}");
    assert!(
        all.contains("\nleft out: yao, components, covert, authenticated, cut-and-choose, lego: 2 parties only\n"),
        "{all}"
    );
    let one = garblet(&["plan", "lib:millionaires(32)", "--protocol", "yao", "--param", "build=ahead"]).stdout;
    assert!(one.contains("\nbuild        0  1.0 KB       0 B       0\n"), "{one}");
}

#[test]
fn a_plan_without_a_suitable_protocol_says_so() {
    let ran = garblet(&["plan", "lib:aes128", "--parties", "300"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("\n\nno protocol can run this\nleft out: "), "{}", ran.stdout);
}

#[test]
fn the_report_says_that_checks_were_off() {
    let folder = Folder::new("checks-off");
    let source = folder.file("sum.garble.rs", "pub fn main(a: u8, b: u8) -> u8 { a + b }");
    let inputs = ["a", "b"].map(|name| folder.file(name, &format!("{{\"{name}\": 200}}")));
    let inputs = [format!("0={}", inputs[0]), format!("1={}", inputs[1])];
    let ran = garblet(&["local", &source, "--panics", "off", "--input", &inputs[0], "--input", &inputs[1]]);
    assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "out0 = 144\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("checks were off: overflows wrapped around"), "{}", ran.stderr);
}

#[test]
fn one_party_receives_what_the_other_sends() {
    for build in ["build=stream", "build=ahead"] {
        let run = local(&["--param", build]);
        for phase in ["setup", "prepare", "build", "online"] {
            let of = |party: usize| run["per_party"][party]["phases"][phase].clone();
            assert_eq!(of(0)["bytes_sent"], of(1)["bytes_received"], "{build} {phase}");
            assert_eq!(of(1)["bytes_sent"], of(0)["bytes_received"], "{build} {phase}");
        }
    }
}

#[test]
fn only_recipients_learn_an_output() {
    let run = local(&["--to", "ciphertext=1"]);
    assert_eq!(run["outputs"]["ciphertext"]["hex"], "69c4e0d86a7b0430d8cdb78070b4c55a");
    assert_eq!(run["per_party"][1]["phases"]["online"]["rounds"], 1);
}

#[test]
fn an_input_may_belong_to_the_other_party() {
    let folder = Folder::new("owner");
    let both = folder.file(
        "both.json",
        r#"{"key": {"hex": "000102030405060708090a0b0c0d0e0f"}, "block": {"hex": "00112233445566778899aabbccddeeff"}}"#,
    );
    let ran = garblet(&["local", "lib:aes128", "--owner", "block=0", "--input", &format!("0={both}")]);
    assert_eq!(ran.stdout, "ciphertext = 69c4e0d86a7b0430d8cdb78070b4c55a\n", "{}", ran.stderr);
}

#[test]
fn repeated_runs_report_their_spread() {
    let run = local(&["--repeat", "3"]);
    assert_eq!(run["repeat"]["runs"], 3);
    let [least, median, most] = ["seconds_min", "seconds_median", "seconds_max"].map(|f| run["repeat"][f].as_f64());
    assert!(least <= median && median <= most && least > Some(0.0), "{}", run["repeat"]);
    assert_eq!(local(&[])["repeat"], json!(null));
}

#[test]
fn a_simulated_link_costs_its_latency() {
    let run = local(&["--link", "20ms,inf", "--param", "build=ahead"]);
    let online = run["per_party"][1]["phases"]["online"]["seconds"].as_f64().expect("a time");
    assert!((0.04..0.2).contains(&online), "{online}");
}

#[test]
fn inspect_counts() {
    let run = garblet(&["inspect", "lib:aes128-chain(3)", "--json"]).json();
    assert_eq!(run["program"]["and"], 3 * 6400);
    assert_eq!(run["components"].as_array().map(Vec::len), Some(1));
    assert_eq!(run["components"][0]["instances"], 3);
    assert_eq!(run["inputs"][1]["owner"], 1);
    assert_eq!(run["outputs"][0]["recipients"], json!([0, 1]));
    let text = garblet(&["inspect", "lib:aes128"]).stdout;
    assert!(text.starts_with("aes128: 6,400 AND, "), "{text}");
}

#[test]
fn inspect_draws() {
    let program = "examples/aes-cbc/aes-cbc.json";
    let dot = garblet(&["inspect", program, "--dot"]);
    assert!(dot.status == Some(0) && dot.stdout.starts_with("digraph \"AES-128-CBC"), "{}", dot.stdout);
    let svg = garblet(&["inspect", program, "--svg"]);
    assert!(svg.status == Some(0) && svg.stdout.starts_with("<svg "), "{}", svg.stdout);
    assert_eq!(garblet(&["inspect", program, "--svg", "--dot"]).status, Some(2));
}

#[test]
fn converted_programs_compute_the_same() {
    let folder = Folder::new("convert");
    for name in ["aes.txt", "aes.json", "aes.gbc", "aes.bristol"] {
        let path = folder.path(name);
        let ran = garblet(&["convert", "lib:aes128", &path, "--optimise"]);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        assert!(ran.stderr.starts_with(&format!("wrote {path}: 6,400 AND")), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
        let names = if ["aes.json", "aes.gbc"].contains(&name) { ["key", "block"] } else { ["in0", "in1"] };
        let values = ["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff"];
        let file =
            |k: usize| folder.file(&format!("{k}.json"), &format!(r#"{{"{}": {{"hex": "{}"}}}}"#, names[k], values[k]));
        let inputs = [format!("0={}", file(0)), format!("1={}", file(1))];
        let run = garblet(&["eval", &path, "--input", &inputs[0], "--input", &inputs[1], "--json"]).json();
        let output = run["outputs"].as_object().and_then(|o| o.values().next()).expect("an output").clone();
        let bits = local(&[])["outputs"]["ciphertext"]["bits"].clone();
        assert_eq!(output["bits"], bits, "{name}");
    }
}

#[test]
fn parties_with_a_program_in_different_forms_meet() {
    let folder = Folder::new("forms");
    let path = folder.path("cbc.gbc");
    let text = "examples/aes-cbc/aes-cbc.json";
    assert_eq!(garblet(&["convert", text, &path]).status, Some(0));
    let digest = |program: &str| garblet(&["inspect", program, "--json"]).json()["program_digest"].clone();
    assert_eq!(digest(&path), digest(text));
    let plain = "--insecure-plain-tcp";
    let (one, other) = pair(
        &[text, "--party", "0", "--input", "0=examples/aes-cbc/key.json", plain],
        &[&path, "--party", "1", "--input", "1=examples/aes-cbc/message.json", plain],
    );
    assert_eq!([one.status, other.status], [Some(0); 2], "{} {}", one.stderr, other.stderr);
    // Party 1 alone learns it.
    assert!(one.stdout.is_empty() && other.stdout.starts_with("ciphertext = 7649abac8119b246"), "{}", other.stdout);
}

#[test]
fn results_that_cannot_be_written_are_failures() {
    let arguments = [&["eval"], &AES[..]].concat();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let ran = finish(command(&arguments).stdout(full).spawn().expect("the command starts"));
    ran.fails(1, "error: standard output: cannot be written: no space left on device\n");

    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let ran = finish(command(&arguments).stdout(writer).spawn().expect("the command starts"));
    ran.fails(1, "error: standard output: cannot be written: broken pipe\n");

    let ran = garblet(&["convert", "lib:aes128", "/dev/full", "--format", "json"]);
    ran.fails(1, "error: /dev/full: cannot be written: no space left on device\n");
}

/// The signal of the system would end the process without a word.
#[cfg(unix)]
#[test]
fn a_file_that_is_longer_than_the_limit_is_a_failure() {
    let folder = Folder::new("results-limit");
    let file = folder.path("aes.json");
    let call = ["-c", "ulimit -f 1 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_garblet")];
    let mut limited = std::process::Command::new("sh");
    limited.args(call).args(["convert", "lib:aes128", &file, "--format", "json"]);
    let ran = limited.current_dir(crate::invocation::root()).output().expect("the command starts");
    let says = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(
        (ran.status.code(), &says[..]),
        (Some(1), &format!("error: {file}: cannot be written: file too large\n")[..])
    );
}
