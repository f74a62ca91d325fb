//! Golden files: what each released version wrote, which every later one reads; and files of later formats, which are refused by name.
//!
//! `vectors/golden` has a folder for each version, which never changes. Before a version is released, its folder is made by
//! `GARBLET_MAKE_GOLDEN=1 cargo test -p garblet-cli --test cli golden`.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    identities::{keygen, pair},
    invocation::{Folder, Ran, command, finish, garblet, root},
};

/// The bits that two bytes have in common.
const PROGRAM: &str = r#"{
  "format": 1,
  "name": "common",
  "components": {"both": {"inputs": {"a": "bool", "b": "bool"}, "outputs": {"y": "bool"}, "gates": ["y = a & b"]}},
  "inputs": {"a": {"type": "u8", "owner": 0}, "b": {"type": "u8", "owner": 1}},
  "instances": {"bit": {"of": "both", "repeat": 8, "in": {"a": "a[i]", "b": "b[i]"}}},
  "outputs": {"y": {"type": "u8", "from": "bit.y"}}
}
"#;

/// The stores among the files, each with a kept value; the first two also have prepared pieces.
const STORES: [&str; 5] = [
    "authenticated/party-0",
    "authenticated/party-1",
    "outsourced/party-0",
    "outsourced/party-1",
    "outsourced/party-2",
];

/// The options of a visit besides the agreement, which it reads first.
const NOBODY: [&str; 8] =
    ["--invitation", "one", "--invitation", "other", "--generator", "127.0.0.1:1", "--cloud", "127.0.0.1:1"];

/// The two bytes, of which the stores keep what they have in common.
const BYTES: [u8; 2] = [0xac, 0x6a];

fn golden() -> PathBuf {
    root().join("vectors/golden")
}

/// Runs the command with records of stores in a folder of the files.
fn with_records(folder: &Path, arguments: &[&str]) -> Ran {
    finish(command(arguments).env("XDG_CONFIG_HOME", folder.join("config")).spawn().expect("the command starts"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    // Keys and stores are refused if others may read them, which git does not keep.
    fs::set_permissions(to, PermissionsExt::from_mode(0o700)).expect("set");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), &place).expect("copied");
            fs::set_permissions(&place, PermissionsExt::from_mode(0o600)).expect("set");
        }
    }
    if from.join("index.sqlite").exists() {
        // Git keeps no empty folders.
        fs::create_dir_all(to.join("segments")).expect("a folder");
    }
}

/// The files of a version, in a folder where they can be used.
struct Files(Folder);

impl Files {
    /// The files of this version.
    fn own(name: &str) -> Files {
        Files::of(name, &golden().join(env!("CARGO_PKG_VERSION")))
    }

    fn of(name: &str, version: &Path) -> Files {
        let files = Files(Folder::new(name));
        copy(version, Path::new(&files.path("")));
        files
    }

    fn path(&self, name: &str) -> String {
        self.0.path(name)
    }

    /// The values that the version knew.
    fn expected(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path("expected.json")).expect("values")).expect("JSON")
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        with_records(Path::new(&self.path("")), arguments)
    }

    /// Runs the program on this machine, with inputs of the parties and with stores.
    fn local(&self, protocol: &str, inputs: &[(u8, Value)], more: &[&str]) -> Ran {
        let inputs: Vec<String> = inputs
            .iter()
            .map(|(party, values)| {
                format!("{party}={}", self.0.file(&format!("{party}-of-{protocol}.json"), &values.to_string()))
            })
            .collect();
        let inputs: Vec<&str> = inputs.iter().flat_map(|input| ["--input", input]).collect();
        let [program, store, key] = ["program.gbc", protocol, "store.key"].map(|name| self.path(name));
        let run = ["local", &program, "--protocol", protocol, "--store", &store, "--store-key", &key];
        self.run(&[&run[..], more, &inputs].concat())
    }

    /// The servers and the client of `outsourced`, which has these inputs.
    fn outsourced(&self, inputs: Value, more: &[&str]) -> Ran {
        let owners = ["--parties", "3", "--owner", "b=1", "--top-up"];
        self.local("outsourced", &[(1, inputs)], &[&owners[..], more].concat())
    }
}

/// The clients of an agreement, and its programs.
fn agreement(path: &str) -> [Vec<String>; 2] {
    let agreement = garblet_console::agreement::load(Path::new(path)).expect("an agreement");
    [agreement.clients().map(String::from).collect(), agreement.offers().map(String::from).collect()]
}

/// The values of the files that do not depend on how they are read.
fn values(files: &Files) -> Value {
    let program = |name: &str| files.run(&["inspect", &files.path(name), "--json"]).json()["program_digest"].clone();
    let last = |log: &str| {
        let shown = files.run(&["receipts", "show", &files.path(log), "--json"]).json();
        shown["receipts"].as_array().and_then(|all| all.last()).expect("a receipt")["digest"].clone()
    };
    let id = |name: &str| files.run(&["id", &files.path(name)]).stdout.trim().to_string();
    json!({
        "program": [program("program.json"), program("program.gbc")],
        "job": files.run(&["job", "show", &files.path("job.toml"), "--json"]).json()["job"],
        "agreement": agreement(&files.path("agreement.toml")),
        "receipts": [last("alice.jsonl"), last("bob.jsonl")],
        "identities": [id("alice.pem"), id("bob.pem")],
    })
}

#[test]
fn every_version_reads_what_the_versions_before_it_wrote() {
    let versions: Vec<PathBuf> =
        fs::read_dir(golden()).expect("versions").flatten().map(|entry| entry.path()).collect();
    assert!(!versions.is_empty());
    for version in versions {
        let name = version.file_name().and_then(|name| name.to_str()).expect("a version");
        let files = Files::of(&format!("golden-{name}"), &version);
        let expected = files.expected();
        assert_eq!(values(&files), expected, "{name}");
        let says = |arguments: &[&str], what: &str| {
            let ran = files.run(arguments);
            assert_eq!(ran.status, Some(0), "{name}: {arguments:?}: {}", ran.stderr);
            assert!(ran.stdout.contains(what), "{name}: {arguments:?}: {}", ran.stdout);
        };
        says(&["job", "verify", &files.path("job.toml")], "all 2 parties have signed");
        for (log, head) in ["alice.jsonl", "bob.jsonl"].iter().zip(expected["receipts"].as_array().expect("two")) {
            says(&["receipts", "verify", &files.path(log), "--holds", head.as_str().expect("a digest")], "2 receipts");
        }
        says(
            &["receipts", "compare", &files.path("alice.jsonl"), &files.path("bob.jsonl")],
            "ours 1 and theirs 1: the same run",
        );
        says(&["trust", "list", "--trust", &files.path("trust.toml")], "bob");
        says(&["serve", "--config", &files.path("serve.toml"), "--check"], "");
        for store in STORES {
            let (ran, at) =
                (files.run(&["store", "list", &files.path(store), "--store-key", &files.path("store.key")]), store);
            assert_eq!(
                (ran.status, ran.stderr.contains("no record")),
                (Some(0), false),
                "{name}: {at}: {}",
                ran.stderr
            );
        }
        let mask = json!({"b": 9});
        // Of prepared pieces alone.
        let ran = files.local("authenticated", &[(0, json!({})), (1, mask.clone())], &["--read", "a=common"]);
        let other = files.outsourced(mask, &["--to", "y=1", "--read", "a=common"]);
        for ran in [ran, other] {
            let expected = format!("y = {}\n", BYTES[0] & BYTES[1] & 9);
            assert_eq!((ran.status, ran.stdout), (Some(0), expected), "{name}: {}", ran.stderr);
        }
    }
}

/// Asserts that a call is refused for a file of a later format, with these words.
fn refuses(files: &Files, file: &str, arguments: &[&str]) {
    let ran = files.run(arguments);
    assert!(ran.stderr.contains("is of format 2, this Garblet reads format 1\n"), "{file}: {}", ran.stderr);
    assert!(ran.stderr.contains("hint: a later version wrote it: update Garblet"), "{file}: {}", ran.stderr);
    assert!(ran.status.is_some_and(|status| status > 0), "{file}");
}

#[test]
fn every_file_of_a_later_format_is_refused_by_name() {
    let files = Files::own("golden-later");
    let later = |file: &str, from: &str, to: &str| {
        let path = files.path(file);
        let text = fs::read_to_string(&path).expect("it is there");
        assert!(text.contains(from), "{file}: {text}");
        fs::write(&path, text.replacen(from, to, 1)).expect("written");
    };
    // Each has something besides that this version does not know.
    for (file, arguments) in [
        ("job.toml.signatures", &["job", "verify", &files.path("job.toml")][..]),
        ("job.toml", &["job", "show", &files.path("job.toml")]),
        ("trust.toml", &["trust", "list", "--trust", &files.path("trust.toml")]),
        ("serve.toml", &["serve", "--config", &files.path("serve.toml"), "--check"]),
        ("agreement.toml", &[&["visit", &files.path("agreement.toml"), "common"][..], &NOBODY].concat()),
    ] {
        later(file, "format = 1\n", "format = 2\nnew = 3\n");
        refuses(&files, file, arguments);
    }
    later("alice.jsonl", "{\"format\":1,", "{\"format\":2,\"new\":3,");
    let [alice, bob] = ["alice.jsonl", "bob.jsonl"].map(|name| files.path(name));
    for arguments in [&["verify", &alice][..], &["show", &alice], &["compare", &bob, &alice]] {
        refuses(&files, "alice.jsonl", &[&["receipts"][..], arguments].concat());
    }
    later("program.json", "\"format\": 1,", "\"format\": 2, \"new\": 3,");
    refuses(&files, "program.json", &["inspect", &files.path("program.json")]);
    let mut bytes = fs::read(files.path("program.gbc")).expect("it is there");
    bytes[7] = 2;
    fs::write(files.path("program.gbc"), bytes).expect("written");
    refuses(&files, "program.gbc", &["inspect", &files.path("program.gbc")]);
}

/// Makes the files of this version, once.
#[test]
fn golden_files_are_made_before_a_release() {
    let made = golden().join(env!("CARGO_PKG_VERSION"));
    if std::env::var_os("GARBLET_MAKE_GOLDEN").is_none() || made.exists() {
        assert!(made.is_dir(), "{}: make it: GARBLET_MAKE_GOLDEN=1", made.display());
        return;
    }
    let files = Files(Folder::new("golden-make"));
    files.0.file("program.json", PROGRAM);
    let ok = |ran: Ran| assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    ok(garblet(&["convert", &files.path("program.json"), &files.path("program.gbc")]));
    make_runs(&files);
    make_stores(&files);
    make_texts(&files);
    files.0.file("expected.json", &format!("{:#}\n", values(&files)));
    copy(Path::new(&files.path("")), &made);
}

/// Two identities, a signed job, and two runs of it with receipts, the second one refused.
fn make_runs(files: &Files) {
    let ok = |ran: Ran| assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let names = ["alice", "bob"];
    let keys = names.map(|name| keygen(&files.0, &format!("{name}.pem")));
    let [job, other] = ["job.toml", "other.toml"].map(|name| files.path(name));
    for (path, name) in [(&job, "common"), (&other, "other")] {
        let parties = [0, 1].map(|party| format!("{}={}", names[party], keys[party].1));
        let new = ["job", "new", &files.path("program.gbc"), "--protocol", "yao", "--out", path, "--name", name];
        ok(garblet(&[&new[..], &["--party", &parties[0], "--party", &parties[1]]].concat()));
    }
    for (pem, _) in &keys {
        ok(garblet(&["job", "sign", &job, "--identity", pem]));
    }
    let inputs = [("a", 0xac), ("b", 0x6a)]
        .map(|(port, value)| files.0.file(&format!("{port}.json"), &format!("{{\"{port}\": {value}}}\n")));
    for theirs in [&job, &other] {
        let call = |party: usize, job: &str| {
            let input = format!("{party}={}", inputs[party]);
            let log = files.path(&format!("{}.jsonl", names[party]));
            ["--job", job, "--identity", &keys[party].0, "--input", &input, "--receipts", &log].map(String::from)
        };
        let calls = [call(0, &job), call(1, theirs)];
        let calls = calls.each_ref().map(|call| call.each_ref().map(String::as_str));
        let (one, two) = pair(&calls[0], &calls[1]);
        let expected = if theirs == &job { Some(0) } else { Some(1) };
        assert_eq!([one.status, two.status], [expected; 2], "{}{}", one.stderr, two.stderr);
    }
    fs::remove_file(&other).expect("removed");
    ok(garblet(&["trust", "add", "bob", &keys[1].1, "--trust", &files.path("trust.toml")]));
}

/// Stores with a kept value and a record, two of them with pieces.
fn make_stores(files: &Files) {
    let ok = |ran: Ran| assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let [a, b] = BYTES;
    ok(files.local("authenticated", &[(0, json!({"a": a})), (1, json!({"b": b}))], &["--keep", "common", "--top-up"]));
    ok(files.outsourced(json!({"a": a, "b": b}), &["--owner", "a=1", "--to", "y=nobody", "--keep", "common"]));
    let (stores, key) = (STORES.map(|store| files.path(store)), files.path("store.key"));
    let prepare = |party: usize, way: &[&str]| {
        let stock = [
            "prepare",
            "--protocol",
            "authenticated",
            "--stock",
            "triples=32",
            "--stock",
            "masks=64",
            "--insecure-plain-tcp",
        ];
        let party = ["--store", &stores[party], "--store-key", &key, "--party", ["0", "1"][party]];
        command(&[&stock[..], &party, way].concat())
            .env("XDG_CONFIG_HOME", files.path("config"))
            .spawn()
            .expect("it starts")
    };
    let waits = prepare(0, &["--listen", "127.0.0.1:7951"]);
    ok(finish(prepare(1, &["--connect", "127.0.0.1:7951"])));
    ok(finish(waits));
    for store in &stores {
        ok(files.run(&["store", "list", store, "--store-key", &key]));
        fs::remove_file(Path::new(store).join("lock")).expect("removed");
    }
}

/// The files that people write.
fn make_texts(files: &Files) {
    fs::create_dir(files.path("jobs")).expect("a folder");
    for (name, copied) in
        [("job.toml", "common.toml"), ("job.toml.signatures", "common.toml.signatures"), ("program.gbc", "program.gbc")]
    {
        fs::copy(files.path(name), files.path(&format!("jobs/{copied}"))).expect("copied");
    }
    files.0.file(
        "serve.toml",
        "format = 1\nlisten = \"127.0.0.1:0\"\nidentity = \"alice.pem\"\ntrust = \"trust.toml\"\njobs = \"jobs\"\nstate = \"state\"\nkey = \"store.key\"\n\n[[rule]]\njob = \"common\"\n\
         peers = [\"bob\"]\noften = { total = 3 }\ninputs = { file = \"a.json\" }\n",
    );
    let key = |name: &str| {
        let said = garblet(&["id", &files.path(name), "--json"]).json();
        said["public_key"].as_str().expect("a key").to_string()
    };
    files.0.file(
        "agreement.toml",
        &format!(
            "format = 1\nservice = \"{}\"\nclients = [\"anna\"]\n\n[generator]\nkey = \"{}\"\n\n[cloud]\nkey = \"{}\"\n\n[[program]]\nname = \"common\"\n\
             source = \"program.gbc\"\nowner = {{ a = 1, b = 1 }}\nto = {{ y = \"nobody\" }}\nkeep = \"common\"\n",
            "07".repeat(16),
            key("alice.pem"),
            key("bob.pem")
        ),
    );
}
