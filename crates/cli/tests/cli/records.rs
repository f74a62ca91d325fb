//! The record in a result, and messages to parties whose programs differ or who learn nothing.

use serde_json::{Value, json};

use crate::{
    identities::{keygen, listen, pair},
    invocation::{Folder, Ran, command, finish, garblet},
    many_parties::peers_file,
};

const PLAIN: &str = "--insecure-plain-tcp";

fn digest(arguments: &[&str]) -> String {
    let inspected = garblet(&[&["inspect"], arguments, &["--json"]].concat()).json();
    let digest = inspected["program_digest"].as_str().expect("a text").to_string();
    assert_eq!(digest.len(), 64, "{digest}");
    let text = garblet(&[&["inspect"], arguments].concat()).stdout;
    assert!(text.contains(&format!("\ndigest {digest}\n")), "{text}");
    digest
}

fn assert_recorded(run: &Value, digest: &str) {
    assert_eq!((&run["program_digest"], &run["version"]), (&json!(digest), &json!(env!("CARGO_PKG_VERSION"))));
    let time = run["time"].as_str().expect("a text");
    assert!(time.len() == 20 && time.starts_with("20") && time.ends_with('Z'), "{time}");
}

#[test]
fn results_name_peers_program_version_and_time() {
    let folder = Folder::new("record");
    let [(alice, alice_print), (bob, bob_print)] = ["alice.pem", "bob.pem"].map(|name| keygen(&folder, name));
    let trust = folder.path("trust.toml");
    assert_eq!(garblet(&["trust", "add", "bob", &bob_print, "--trust", &trust]).status, Some(0));
    let [a, b] = [("alice", 5), ("bob", 3)].map(|(name, value)| folder.file(name, &format!("{{\"{name}\": {value}}}")));
    let (a, b, program) = (format!("0={a}"), format!("1={b}"), "lib:millionaires(8)");
    let no_names = folder.path("none.toml");
    let first = [program, "--party", "0", "--input", &a, "--identity", &alice, "--trust", &trust, "--json"];
    let second = [program, "--party", "1", "--input", &b, "--identity", &bob, "--trust", &no_names];
    let (first, second) = pair(&first, &[&second[..], &["--peer", &alice_print]].concat());
    let (run, digest) = (first.json(), digest(&[program]));
    assert_eq!(run["peers"], json!([{ "party": 1, "name": "bob", "fingerprint": bob_print }]));
    assert_recorded(&run, &digest);
    let text = format!("\n\nparty 0: {alice_print}, not named here\nprogram {digest}\ngarblet ");
    assert!(second.stderr.contains(&text), "{}", second.stderr);

    let local = garblet(&["local", program, "--input", &a, "--input", &b, "--json"]).json();
    assert_recorded(&local, &digest);
    let here = |party: u16| json!({ "party": party, "name": "this machine", "fingerprint": null });
    assert_eq!(local["peers"], json!([here(0), here(1)]));
    let eval = garblet(&["eval", program, "--input", &a, "--input", &b, "--json"]).json();
    assert_eq!(eval["program_digest"], digest);
}

#[test]
fn a_listener_with_several_trusted_peers_must_choose_one() {
    let folder = Folder::new("for-whom");
    let [(alice, _), (_, bob), (_, carol)] = ["alice.pem", "bob.pem", "carol.pem"].map(|name| keygen(&folder, name));
    let trust = folder.path("trust.toml");
    for (name, print) in [("bob", &bob), ("carol", &carol)] {
        assert_eq!(garblet(&["trust", "add", name, print, "--trust", &trust]).status, Some(0));
    }
    let input = format!("0={}", folder.file("alice", r#"{"alice": 5}"#));
    let listen = ["run", "lib:millionaires(8)", "--party", "0", "--input", &input, "--listen", "127.0.0.1:0"];
    garblet(&[&listen[..], &["--identity", &alice, "--trust", &trust]].concat())
        .fails(2, "error: --listen: no peer to wait for was chosen; trusted are bob, carol\nhint: give --peer NAME\n");
}

#[test]
fn an_identity_is_shown() {
    let folder = Folder::new("own-identity");
    let (path, print) = keygen(&folder, "me.pem");
    assert_eq!(garblet(&["id", &path]).stdout, format!("{print}\n"));
    let mut shown = garblet(&["id", &path, "--json"]).json();
    let key = shown.as_object_mut().and_then(|shown| shown.remove("public_key"));
    assert!(key.is_some_and(|key| key.as_str().is_some_and(|digits| digits.len() == 64)));
    assert_eq!(shown, json!({ "fingerprint": print, "file": path }));
    assert_eq!(garblet(&["id", &folder.path("nobody.pem")]).status, Some(2));
}

/// Both ends of a run whose calls differ.
pub(crate) fn differing(left: &[&str], right: &[&str]) -> [Ran; 2] {
    let (left, right) = pair(&[left, &["--party", "0", PLAIN]].concat(), &[right, &["--party", "1", PLAIN]].concat());
    assert_eq!([left.status, right.status], [Some(1); 2], "{} {}", left.stderr, right.stderr);
    [left, right]
}

#[test]
fn both_sides_name_the_difference_between_their_programs() {
    let folder = Folder::new("differences");
    let text = "const N: usize = PARTY_0::N;\npub fn main(a: [u8; N], b: u8) -> u8 { a[0] + b }\n";
    let [source, other] = [text.to_string(), text.replace("a[0] +", "a[0] -")].map(|text| {
        let name = format!("sum{}.garble.rs", text.contains("] -"));
        folder.file(&name, &text)
    });
    let [two, three] =
        ["[1, 2]", "[1, 2, 3]"].map(|a| format!("0={}", folder.file(&a.replace(' ', ""), &format!("{{\"a\": {a}}}"))));
    let b = format!("1={}", folder.file("b.json", "{\"b\": 1}"));
    let both = format!("0={}", folder.file("both.json", "{\"a\": [1, 2], \"b\": 1}"));
    let n = "--const=PARTY_0::N=2";
    let (left, right) = ([&source[..], n, "--input", &two], [&source[..], n, "--input", &b]);
    let with =
        |call: &[&str; 4], more: &str| [&call[..], &[more]].concat().iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let right_with = |more: &str| with(&right, more);
    let cases: [(Vec<String>, Vec<String>, &str, &str); 5] = [
        (
            left.map(String::from).into(),
            [&other[..], n, "--input", &b].map(String::from).into(),
            "; source: ours ",
            "; source: ours ",
        ),
        (
            [&source[..], "--const=PARTY_0::N=3", "--input", &three].map(String::from).into(),
            right.map(String::from).into(),
            "; constants: ours PARTY_0::N=3, theirs PARTY_0::N=2\n",
            "; constants: ours PARTY_0::N=2, theirs PARTY_0::N=3\n",
        ),
        (
            left.map(String::from).into(),
            right_with("--panics=off"),
            "; panics: ours on, theirs off",
            "; panics: ours off, theirs on",
        ),
        (
            left.map(String::from).into(),
            right_with("--to=out0=1"),
            "; recipients: ours out0 to all, ",
            ", theirs out0 to all, ",
        ),
        (
            [&source[..], n, "--input", &both, "--owner=b=0"].map(String::from).into(),
            right.map(String::from).into(),
            "; owners: ours a of 0, b of 0, theirs a of 0, b of 1\n",
            "; owners: ours a of 0, b of 1, theirs a of 0, b of 0\n",
        ),
    ];
    for (left, right, first, second) in &cases {
        let [left, right] = [left, right].map(|call| call.iter().map(|s| &s[..]).collect::<Vec<_>>());
        let told = differing(&left, &right);
        for (ran, expected) in told.iter().zip([first, second]) {
            assert!(ran.stderr.contains("the peer does not agree with us: program digest: ours "), "{}", ran.stderr);
            assert!(ran.stderr.contains(*expected), "{expected}: {}", ran.stderr);
        }
    }
}

#[test]
fn several_parties_also_name_the_party_that_differs() {
    let folder = Folder::new("mesh-differences");
    let peers = peers_file(&folder, None);
    let party = |k: usize, program: &'static str| {
        let (number, input) = (k.to_string(), ["alice", "bob", ""][k]);
        let file = format!("{k}={}", folder.file(&number, &format!("{{\"{input}\": 1}}")));
        let call = ["run", program, "--protocol", "gmw", "--party", &number, "--peers", &peers, PLAIN];
        let inputs = if k < 2 { vec!["--input", &file] } else { Vec::new() };
        command(&[&call[..], &inputs].concat()).spawn().expect("the command starts")
    };
    let children = [party(2, "lib:millionaires(8)"), party(1, "lib:millionaires(9)"), party(0, "lib:millionaires(8)")];
    let [two, one, zero] = children.map(finish);
    for ran in [&zero, &two] {
        assert!(ran.stderr.contains("party 1: the peer does not agree with us: program digest: "), "{}", ran.stderr);
        assert!(ran.stderr.contains("; ports: ours (alice: u8, bob: u8) to (alice_richer: bool), theirs (alice: u9, "));
    }
    assert!(one.stderr.contains("; ports: ours (alice: u9, bob: u9) to (alice_richer: bool), theirs (alice: u8, "));
}

#[test]
fn a_party_that_learns_nothing_sees_who_does() {
    let folder = Folder::new("nothing-learned");
    let [a, b] = [("alice", 5), ("bob", 3)].map(|(name, value)| folder.file(name, &format!("{{\"{name}\": {value}}}")));
    let (a, b, to) = (format!("0={a}"), format!("1={b}"), "--to=alice_richer=0");
    let call = ["lib:millionaires(8)", to, PLAIN];
    let (zero, one) = pair(
        &[&call[..], &["--party", "0", "--input", &a, "--json"]].concat(),
        &[&call[..], &["--party", "1", "--input", &b]].concat(),
    );
    assert_eq!(zero.json()["recipients"], json!({ "alice_richer": [0] }));
    assert_eq!((one.status, &one.stdout[..]), (Some(0), ""));
    let told = "\nonly party 0 learned alice_richer\n";
    assert!(one.stderr.contains(told), "{}", one.stderr);
    let (child, address) = listen(&[&call[..], &["--party", "0", "--input", &a]].concat());
    let one =
        garblet(&[&["run"], &call[..], &["--party", "1", "--input", &b, "--json", "--connect", &address]].concat());
    assert_eq!((&one.json()["outputs"], &one.json()["recipients"]), (&json!({}), &json!({ "alice_richer": [0] })));
    assert!(!finish(child).stderr.contains("learned"));
}

#[test]
fn protocols_that_depend_on_who_colludes_are_named_and_never_chosen_unasked() {
    let several = "gmw, bmr, bmr-bgw4, bmr-bgw3, bmr-bgw2 are for semi-honest parties\n";
    let conditions = format!(
        "with three or more parties --protocol authenticated-bmr is secure against malicious parties; \
         --protocol outsourced is, but only if its two servers do not collude; \
         --protocol two-garblers is, but only if no two of its three parties collude; {several}"
    );
    let local = |call: &[&str]| garblet(&[&["local", "lib:millionaires(8)"], call].concat());
    for call in [
        &["--protocol", "gmw", "--adversary", "malicious", "--parties", "3"][..],
        &["--protocol", "authenticated", "--owner", "alice=2"],
    ] {
        let ran = local(call);
        assert_eq!(ran.status, Some(2));
        assert!(ran.stderr.ends_with(&conditions), "{call:?}: {}", ran.stderr);
    }
    // The one for most parties says how many it may have.
    local(&["--adversary", "malicious", "--parties", "17"])
        .fails(2, "error: --parties 17: expected 3 to 16, the number for authenticated-bmr\n");
}

#[test]
fn a_missing_store_is_reported_before_a_key_is_created() {
    let folder = Folder::new("no-store");
    let home = folder.path("home");
    let call = |arguments: &[&str]| {
        let ran = finish(command(arguments).env("XDG_CONFIG_HOME", &home).spawn().expect("the command starts"));
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("no store in "), "{}", ran.stderr);
        assert!(!std::path::Path::new(&home).join("garblet/store.key").exists());
    };
    let (nosuch, empty) = (folder.path("nosuch"), folder.path("empty"));
    std::fs::create_dir(&empty).expect("a folder");
    let input = format!("0={}", folder.file("a.json", r#"{"a": 1}"#));
    for store in [&nosuch, &empty] {
        call(&["store", "list", store]);
        let run = ["run", "lib:add(8)", "--party", "0", "--input", &input, PLAIN, "--listen", "127.0.0.1:0"];
        call(&[&run[..], &["--protocol", "lego", "--store", store]].concat());
        let both = format!("1={}", folder.file("b.json", r#"{"b": 1}"#));
        let local = ["local", "lib:add(8)", "--input", &input, "--input", &both, "--protocol", "bmr", "--store", store];
        call(&local);
    }
}
