//! Files that others wrote or could write: their text is escaped, they cannot block a command, and files that others may write are refused.

use std::{
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use rustix::process::Signal;

use super::{Company, PLANTED, is_sum, rule};
use crate::{
    invocation::{Ran, command, finish, garblet, start},
    visits::stranded,
};

/// Waits for a command that must not block.
fn ends(mut child: Child, what: &str) -> Ran {
    let begin = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begin.elapsed() > Duration::from_secs(30) {
            child.kill().expect("it runs");
            panic!("{what}: it waits");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    finish(child)
}

/// Runs a command whose output must escape all foreign text.
fn is_shown(call: &[&str], what: &str) -> Ran {
    let ran = ends(start(call), what);
    for text in [&ran.stdout, &ran.stderr] {
        let control = text
            .chars()
            .find(|c| (c.is_control() && !matches!(c, '\n' | '\t')) || ('\u{202a}'..='\u{202e}').contains(c));
        assert_eq!(control, None, "{what}: {text:?}");
    }
    ran
}

const ESCAPE: &str = "\u{1b}[2J\u{202e}\u{9b}";

#[test]
fn a_foreign_file_cannot_control_the_terminal() {
    let company = Company::new("foreign-escapes");
    company.trust("bob");
    let file = |name: &str, text: &str| company.folder.file(name, text);
    let job = std::fs::read_to_string(company.job("bob")).expect("a job");
    for (at, text) in [
        format!("na{ESCAPE}me = 3\n"),
        format!("\"na{ESCAPE}me\" = 3\n"),
        job.replacen("name = \"", &format!("name = \"{ESCAPE}"), 1),
        job.replacen("protocol = \"", &format!("protocol = \"{ESCAPE}"), 1),
        job.replacen("program = \"", &format!("program = \"{ESCAPE}"), 1),
        job.replacen("digest = \"", &format!("digest = \"{ESCAPE}"), 1),
        format!("{job}\n[to]\n\"{ESCAPE}\" = \"{ESCAPE}\"\n"),
    ]
    .iter()
    .enumerate()
    {
        let path = file(&format!("jobs/x{at}.toml"), text);
        for call in [["job", "check", &path], ["job", "show", &path], ["job", "verify", &path]] {
            assert_ne!(is_shown(&call, text).status, Some(0), "{text:?}");
        }
        std::fs::remove_file(path).expect("there");
    }
}

#[test]
fn other_foreign_files_cannot_control_the_terminal() {
    let company = Company::new("foreign-escapes-too");
    company.trust("bob");
    let file = |name: &str, text: &str| company.folder.file(name, text);
    let identity = company.folder.path("service.pem");
    let escaped = format!("\"a{ESCAPE}b\" = 1\n[[party]]\naddress = \"{ESCAPE}\"\n");
    let [peers, agreement, trust, config] =
        ["peers", "agreement", "trusted", "serve"].map(|name| file(&format!("{name}.toml"), &escaped));
    let circuit = file("circuit.txt", &format!("3 {ESCAPE}7\n2 {ESCAPE}\n"));
    let source = file("source.garble.rs", &format!("pub fn main(a: u8) -> u8 {{ {ESCAPE} a }} // {ESCAPE}\n"));
    let (receipts, input) = (
        file("receipts.jsonl", &format!("{{\"{ESCAPE}\"}}\n")),
        file("input.json", &format!("{{\"{ESCAPE}\": \"{ESCAPE}\"}}")),
    );
    let input = format!("0={input}");
    file("jobs/sum-bob.toml.signatures", &escaped);
    let invitation = file("invitation", &escaped);
    for call in [
        vec!["run", "lib:aes128", "--protocol", "gmw", "--party", "0", "--peers", &peers, "--identity", &identity],
        vec![
            "visit",
            &agreement,
            "x",
            "--invitation",
            &invitation,
            "--generator",
            "127.0.0.1:1",
            "--cloud",
            "127.0.0.1:2",
        ],
        vec![
            "serve",
            "--agreement",
            &agreement,
            "--protocol",
            "outsourced",
            "--store",
            "s",
            "--party",
            "0",
            "--listen",
            "127.0.0.1:0",
            "--visitors",
            "127.0.0.1:0",
        ],
        vec!["trust", "list", "--trust", &trust],
        vec!["serve", "--config", &config],
        vec!["inspect", &circuit],
        vec!["inspect", &source],
        vec!["receipts", "show", &receipts],
        vec!["receipts", "verify", &receipts, "--json"],
        vec!["eval", "lib:aes128", "--input", &input],
        vec!["job", "check", &company.job("bob")],
    ] {
        let ran = is_shown(&call, call[0]);
        assert_ne!(ran.status, Some(0), "{call:?}: {}", ran.stdout);
    }
}

#[test]
fn a_pipe_folder_or_device_in_place_of_a_file_does_not_block() {
    let company = Company::new("foreign-pipes");
    company.trust("bob");
    company.configure("", &rule("bob", ""));
    let pipe = company.folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    std::fs::create_dir(company.folder.path("folder")).expect("a folder");
    let job = std::fs::read_to_string(company.job("bob")).expect("a job");
    let serve = std::fs::read_to_string(company.folder.path("serve.toml")).expect("written");
    std::fs::set_permissions(&pipe, std::fs::Permissions::from_mode(0o600)).expect("ours");
    for other in [&pipe, &company.folder.path("folder"), "/dev/zero", "/dev/null"] {
        let program = job.lines().map(|line| match line.starts_with("program = ") {
            true => format!("program = \"{other}\"\n"),
            false => format!("{line}\n"),
        });
        let names = company.folder.file("names.toml", &program.collect::<String>());
        let graph = company
            .folder
            .file("graph.json", &format!("{{\"components\": {{\"c\": \"{other}\"}}, \"instances\": []}}"));
        let log =
            company.folder.file("serve-log.toml", &serve.replace("key = ", &format!("receipts = \"{other}\"\nkey = ")));
        let identity = company.folder.file("serve-identity.toml", &serve.replace("service.pem", other));
        for call in [
            stranded(other, "x"),
            vec!["serve", "--config", &log],
            vec!["serve", "--config", &identity],
            vec!["job", "check", other],
            vec!["job", "check", &names],
            vec!["inspect", &graph],
            vec!["serve", "--config", other],
            vec!["trust", "list", "--trust", other],
            vec!["run", "lib:aes128", "--protocol", "gmw", "--party", "0", "--peers", other],
        ] {
            let ran = is_shown(&call, &format!("{call:?}"));
            assert!(!matches!(ran.status, Some(0) | None), "{call:?}: {}", ran.stdout);
        }
    }
    // A service does not block on one either, when it rereads its configuration or its inputs.
    let mut service = company.start();
    let late = company.folder.path("jobs/late.toml");
    std::fs::rename(&pipe, &late).expect("moved");
    service.signal(Signal::HUP);
    let line = service.wait_for("THE NEW CONFIGURATION IS WRONG");
    assert!(line.contains("expected a file, got a pipe"), "{line}");
    std::fs::rename(&late, &pipe).expect("moved");
    company.configure("", &rule("bob", "often = { total = 9 }\ninputs = { file = \"pipe\" }\n"));
    service.signal(Signal::HUP);
    service.wait_for("the new configuration is in force");
    company.is_refused(
        "bob",
        &service,
        "it lacks inputs or prepared material for this run",
        "its operator's log says what is missing",
    );
    company.configure("", &rule("bob", ""));
    service.signal(Signal::HUP);
    service.wait_for_all("the new configuration is in force", 2);
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
}

#[test]
fn files_that_others_may_write_are_refused() {
    let company = Company::new("foreign-writable");
    company.trust("bob");
    let file = company.configure("", &rule("bob", ""));
    let (jobs, trust, folder) =
        (company.folder.path("jobs"), company.folder.path("trust.toml"), company.folder.path("."));
    let job = company.job("bob");
    for (path, mode) in [(&file, 0o646), (&trust, 0o646), (&job, 0o666), (&jobs, 0o777), (&folder, 0o757)] {
        let set = |mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
        let before = std::fs::metadata(path).expect("there").permissions().mode() & 0o7777;
        set(mode);
        let ran = finish(company.begin(&["serve", "--config", &file, "--check"]));
        assert_eq!(ran.status, Some(2), "{path}: {}", ran.stderr);
        assert!(
            ran.stderr.contains(&format!("has mode {mode:03o}, expected")) && ran.stderr.contains("chmod go-w "),
            "{}",
            ran.stderr
        );
        set(before);
    }
    std::fs::set_permissions(&trust, std::fs::Permissions::from_mode(0o622)).expect("it is ours");
    let identity = company.folder.path("bob.pem");
    let ran = garblet(&[
        "run",
        "lib:aes128",
        "--party",
        "0",
        "--input",
        "0=examples/aes/key.json",
        "--listen",
        "127.0.0.1:0",
        "--identity",
        &identity,
        "--trust",
        &trust,
    ]);
    assert!(ran.status == Some(2) && ran.stderr.contains("has mode 622"), "{}", ran.stderr);
    assert_eq!(garblet(&["trust", "list", "--trust", &trust]).status, Some(0), "it can be looked at");
    std::fs::set_permissions(&trust, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
    // Files that the service creates are private, whatever the umask.
    let mut serve = company.serve("serve.toml");
    let script = ["-c", "umask 000; exec \"$@\"", "sh"];
    let words: Vec<_> =
        std::iter::once(serve.get_program()).chain(serve.get_args()).map(|word| word.to_owned()).collect();
    let mut shell = std::process::Command::new("sh");
    shell.args(script).args(words).env("XDG_CONFIG_HOME", company.folder.path("config"));
    let log = std::fs::File::create(company.folder.path("log")).expect("a log");
    let mut child = shell.stdout(Stdio::null()).stderr(log).spawn().expect("it starts");
    let begin = Instant::now();
    while !std::fs::read_to_string(company.folder.path("log")).expect("a log").contains("listening") {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("ends");
    for made in ["state", "state/counters", "state/receipts.jsonl", "config/garblet"] {
        let mode = std::fs::metadata(company.folder.path(made)).expect("made").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{made}: {mode:o}");
    }
    let _ = serve.stdin(Stdio::null());
}

/// Every file that a command trusts, with that command: the file decides with whom it computes, or what.
fn trusting_calls(company: &Company) -> Vec<(&'static str, Vec<String>)> {
    let path = |name: &str| company.folder.path(name);
    let (job, identity, trust) = (path("jobs/sum-bob.toml"), path("bob.pem"), path("trust.toml"));
    let (peers, agreement) = (path("peers.toml"), path("agreement.toml"));
    let meet = format!("--connect 127.0.0.1:1 --identity {identity} --trust {trust} --timeout 1s");
    let mesh = format!("--protocol gmw --party 1 --peers {peers} --identity {identity} --timeout 1s");
    let input = format!("--input 1={}", company.folder.file("b.json", "{\"b\": 1}"));
    let store = format!("--store {} --store-key {}", path("store"), path("store.key"));
    let servers = "--generator 127.0.0.1:1 --cloud 127.0.0.1:2";
    let invitations = ["first", "second"].map(|name| format!("--invitation {}", path(name))).join(" ");
    let doors = "--listen 127.0.0.1:0 --visitors 127.0.0.1:0";
    let calls = [
        ("jobs/sum-bob.toml", format!("run --job {job} {input} {meet}")),
        ("trust.toml", format!("run lib:aes128 --party 0 --input 0=examples/aes/key.json {meet}")),
        ("peers.toml", format!("run lib:aes128 {input} {mesh}")),
        ("jobs/sum-bob.toml", format!("prepare --job {job} --party 1 --stock triples=16 {store} {meet}")),
        ("peers.toml", format!("prepare lib:aes128 --stock runs=1 {store} {mesh}")),
        ("jobs/sum-bob.toml", format!("job sign {job} --identity {identity}")),
        ("agreement.toml", format!("visit {agreement} x {invitations} {servers}")),
        ("first", format!("visit {agreement} x {invitations} {servers}")),
        ("second", format!("visit {agreement} x {invitations} {servers}")),
        ("agreement.toml", format!("serve --agreement {agreement} --protocol outsourced --party 0 {store} {doors}")),
    ];
    calls.map(|(file, call)| (file, call.split(' ').map(String::from).collect())).into()
}

#[test]
fn a_trusted_file_that_others_may_write_is_refused() {
    let company = Company::new("foreign-trusted");
    company.trust("bob");
    let two = [("service", 1), ("bob", 2)].map(|(name, port)| {
        let fingerprint = garblet(&["id", &company.folder.path(&format!("{name}.pem"))]).stdout;
        format!("[[party]]\naddress = \"127.0.0.1:{port}\"\nfingerprint = \"{}\"\n", fingerprint.trim())
    });
    company.folder.file("peers.toml", &two.concat());
    ["agreement.toml", "first", "second"].iter().for_each(|name| drop(company.folder.file(name, "")));
    for (file, call) in trusting_calls(&company) {
        let call: Vec<&str> = call.iter().map(|word| &word[..]).collect();
        let path = company.folder.path(file);
        let folder = Path::new(&path).parent().expect("it has one").display().to_string();
        let of_file = format!("{path} has mode 646, expected 644: other users of this machine can write it");
        let of_folder = format!(": other users of this machine can replace it: {folder} has mode 757, expected 755");
        for (place, wrong, usual, expected) in [(&path, 0o646, 0o644, of_file), (&folder, 0o757, 0o755, of_folder)] {
            let set = |mode| std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode)).expect("ours");
            set(wrong);
            let ran = ends(company.begin(&call), file);
            set(usual);
            assert!(ran.status == Some(2) && ran.stderr.contains(&expected), "{call:?}: {}", ran.stderr);
        }
        let ran = ends(company.begin(&call), file);
        assert!(!ran.stderr.contains("has mode"), "{call:?}: {}", ran.stderr);
    }
    // A job that is only displayed may be writable by anyone.
    let job = company.job("bob");
    std::fs::set_permissions(&job, std::fs::Permissions::from_mode(0o666)).expect("ours");
    for look in ["show", "check"] {
        assert_eq!(garblet(&["job", look, &job]).status, Some(0));
    }
}

#[test]
fn a_program_that_others_may_write_is_not_started() {
    let company = Company::new("foreign-programs");
    company.trust("bob");
    std::fs::create_dir(company.folder.path("bin")).expect("a folder");
    std::fs::create_dir(company.folder.path("real")).expect("a folder");
    let mode = |name: &str, mode| {
        std::fs::set_permissions(company.folder.path(name), std::fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    for name in ["real/give", "bin/take"] {
        company.folder.file(name, "#!/bin/sh\ncat own.json\n");
        mode(name, 0o755);
    }
    std::os::unix::fs::symlink(company.folder.path("real/give"), company.folder.path("bin/give")).expect("a link");
    let fields = "often = { total = 9 }\ninputs = { exec = [\"bin/give\"] }\nresults = { exec = [\"bin/take\"] }\n";
    let file = company.configure("", &rule("bob", fields));
    let check = || finish(company.begin(&["serve", "--config", &file, "--check"]));
    assert_eq!(check().status, Some(0), "{}", check().stderr);
    // Programs, their folders, and targets of links.
    for (name, usual, wrong) in
        [("real/give", 0o755, 0o777), ("bin/take", 0o755, 0o757), ("bin", 0o755, 0o777), ("real", 0o755, 0o757)]
    {
        mode(name, wrong);
        let ran = check();
        let expected = format!("{name} has mode {wrong:03o}, expected 755");
        assert!(ran.status == Some(2) && ran.stderr.contains(&expected), "{name}: {}", ran.stderr);
        mode(name, usual);
    }
    // Also one whose permissions changed since.
    let mut service = company.start();
    mode("bin/take", 0o777);
    mode("real/give", 0o777);
    company.is_refused(
        "bob",
        &service,
        "it lacks inputs or prepared material for this run",
        "its operator's log says what is missing",
    );
    assert!(service.wait_for(" no inputs session=").contains("has mode 777, expected 755"), "{}", service.log());
}

#[test]
fn a_trust_file_in_a_folder_that_others_may_write_is_refused() {
    let company = Company::new("foreign-trust");
    company.trust("bob");
    let (folder, trust) = (company.folder.path("shared"), company.folder.path("shared/trust.toml"));
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::copy(company.folder.path("trust.toml"), &trust).expect("copied");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
    let identity = company.folder.path("bob.pem");
    let call = ["run", "lib:aes128", "--party", "0", "--input", "0=examples/aes/key.json", "--listen", "127.0.0.1:0"];
    let ran = garblet(&[&call[..], &["--identity", &identity, "--trust", &trust, "--timeout", "1s"]].concat());
    assert!(ran.status == Some(2) && ran.stderr.contains("has mode 777, expected 755"), "{}", ran.stderr);
}

#[test]
fn checking_a_configuration_finds_unusable_inputs() {
    let company = Company::new("serve-check-inputs");
    company.trust("bob");
    let check = |inputs: &str| {
        let file = company.configure("", &rule("bob", &format!("often = {{ total = 9 }}\ninputs = {{ {inputs} }}\n")));
        finish(company.begin(&["serve", "--config", &file, "--check"]))
    };
    let wrong = company.folder.file("wrong.json", "{\"a\": \"many\"}");
    let (ran, expected) = (check("file = \"wrong.json\""), format!("error: {wrong}: not the inputs of party 0\n"));
    assert!(ran.status == Some(2) && ran.stderr.contains(&expected) && ran.stdout.is_empty(), "{}", ran.stderr);
    let ran = check("file = \"none.json\"");
    assert!(ran.status == Some(2) && ran.stderr.contains("none.json: cannot be read: "), "{}", ran.stderr);
    let ran = check("exec = [\"no-such-program\"]");
    assert!(ran.status == Some(2) && ran.stderr.contains("no-such-program: no such program"), "{}", ran.stderr);
    // Missing files are reported, and existing ones are read.
    std::fs::create_dir(company.folder.path("inputs")).expect("a folder");
    let ran = check("folder = \"inputs\"");
    assert!(ran.status == Some(0) && ran.stderr.contains("no bob.json or bob.csv"), "{}", ran.stderr);
    company.folder.file("inputs/bob.json", "{\"b\": 1}");
    assert_eq!(check("folder = \"inputs\"").status, Some(2));
}

#[test]
fn checking_a_configuration_finds_two_files_of_one_peer_even_if_they_are_links() {
    let company = Company::new("serve-check-two-files");
    company.trust("bob");
    std::fs::create_dir(company.folder.path("inputs")).expect("a folder");
    let [json, csv] = ["inputs/bob.json", "inputs/bob.csv"].map(|name| company.folder.path(name));
    std::fs::write(&json, format!("{{\"a\": {PLANTED}}}")).expect("written");
    let check = |inputs: &str| {
        let inputs = format!("often = {{ total = 9 }}\ninputs = {{ folder = \"{inputs}\" }}\n");
        finish(company.begin(&["serve", "--config", &company.configure("", &rule("bob", &inputs)), "--check"]))
    };
    let is_wrong = |what: &str| {
        for folder in ["inputs", "./inputs"] {
            let ran = check(folder);
            let expected = "found both bob.json and bob.csv, expected one\nhint: remove one of them\n";
            assert!(ran.status == Some(2) && ran.stderr.contains(expected), "{what}: {}{}", ran.stdout, ran.stderr);
        }
    };
    assert_eq!(check("./inputs").status, Some(0));
    std::fs::write(&csv, "a\n1\n").expect("written");
    is_wrong("two files");
    std::fs::remove_file(&csv).expect("there");
    std::fs::hard_link(&json, &csv).expect("a link");
    is_wrong("a hard link");
    std::fs::remove_file(&csv).expect("there");
    std::os::unix::fs::symlink("bob.json", &csv).expect("a link");
    is_wrong("a link");
    // The other way round: a link's name decides the format of its target.
    std::fs::rename(&json, company.folder.path("own.table")).expect("moved");
    std::fs::remove_file(&csv).expect("there");
    std::os::unix::fs::symlink("../own.table", &json).expect("a link");
    assert_eq!(check("inputs").status, Some(0));
}

#[test]
fn checking_a_configuration_finds_peers_whose_names_cannot_be_file_names() {
    let company = Company::new("serve-check-no-name");
    company.trust("bob");
    let trust = company.folder.path("trust.toml");
    let named = std::fs::read_to_string(&trust).expect("a file").replace("bob", "\"./bob\"");
    std::fs::write(&trust, named).expect("written");
    let rule = rule("bob", "often = { total = 9 }\ninputs = { folder = \"inputs\" }\n");
    let file = company.configure("", &rule.replace("peers = [\"bob\"]", "peers = [\"./bob\"]"));
    let ran = finish(company.begin(&["serve", "--config", &file, "--check"]));
    let expected = "`./bob` cannot be a file name\nhint: ";
    assert!(ran.status == Some(2) && ran.stderr.contains(expected), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_job_file_with_a_line_end_in_its_name_is_shown_in_one_line() {
    let company = Company::new("serve-two-lines");
    company.trust("bob");
    let named = company.folder.path("jobs/x\n2026-01-01T00:00:00Z  INFO done\u{200b}.toml");
    std::fs::rename(company.job("bob"), named).expect("renamed");
    let file = company.configure("", "");
    let ran = finish(company.begin(&["serve", "--config", &file, "--check"]));
    assert_eq!((ran.status, ran.stdout.lines().count()), (Some(0), 2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("  x\\u{a}2026-01-01T00:00:00Z  INFO done\\u{200b}  0 rules\n"), "{}", ran.stdout);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let mut service = company.start();
    service.wait_for("no rule names this job");
    assert!(!service.log().lines().any(|line| line.starts_with("2026-01-01")), "{}", service.log());
}

#[test]
fn checking_a_configuration_starts_nothing() {
    let company = Company::new("serve-check");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    let file = company.configure("", &rule("bob", ""));
    let ran = finish(company.begin(&["serve", "--config", &file, "--check"]));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("  sum-bob  1 rule\n") && ran.stdout.ends_with("serve.toml: good\n"), "{}", ran.stdout);
    assert!(ran.stderr.contains("warning: sum-carol: no rule names this job"), "{}", ran.stderr);
    assert!(
        !Path::new(&company.folder.path("state")).exists() && !Path::new(&company.folder.path("state.key")).exists()
    );
    company.configure("", &rule("bob", "").replace("[\"bob\"]", "[\"eve\"]"));
    let ran = finish(company.begin(&["serve", "--config", &file, "--check"]));
    assert!(ran.status == Some(2) && ran.stderr.contains("peers: `eve` is not trusted"), "{}", ran.stderr);
    assert!(ran.stderr.contains("add it: garblet trust add NAME FINGERPRINT"), "{}", ran.stderr);
    let text = std::fs::read_to_string(company.configure("", &rule("bob", ""))).expect("written");
    let listen = text.lines().find(|line| line.starts_with("listen")).expect("it has an address");
    std::fs::write(&file, text.replace(listen, "listen = \"17745\"")).expect("written");
    let ran = finish(company.begin(&["serve", "--config", &file, "--check"]));
    assert!(ran.status != Some(0) && ran.stderr.contains("`17745` is not an address"), "{}", ran.stderr);
    for wrong in [&["serve", "--check"][..], &["serve", "--config", &file, "--listen", "127.0.0.1:0"]] {
        assert_eq!(garblet(wrong).status, Some(2), "{wrong:?}");
    }
}

#[test]
fn checking_a_configuration_finds_a_log_of_receipts_that_cannot_be_continued() {
    let company = Company::new("serve-check-receipts");
    company.trust("bob");
    let file = company.configure("", &rule("bob", ""));
    let check = || finish(company.begin(&["serve", "--config", &file, "--check"]));
    std::fs::create_dir(company.folder.path("state")).expect("a folder");
    let log = company.folder.path("state/receipts.jsonl");
    std::fs::write(&log, "").expect("written");
    assert_eq!(check().status, Some(0));
    std::fs::write(&log, "{\"format\":1}\n").expect("written");
    let ran = check();
    let expected = "receipts.jsonl: the last line: not a receipt";
    assert!(ran.status != Some(0) && ran.stderr.contains(expected), "{:?} {}", ran.status, ran.stderr);
    assert!(!ran.stdout.contains("good"), "{}", ran.stdout);
}

#[test]
fn an_identity_with_two_names_is_refused() {
    let company = Company::new("two-names");
    company.trust("bob");
    let (file, trust) = (company.configure("", &rule("bob", "")), company.folder.path("trust.toml"));
    let bob = garblet(&["id", &company.folder.path("bob.pem")]).stdout;
    let added = garblet(&["trust", "add", "carol", bob.trim(), "--trust", &trust]);
    added.fails(2, &format!("error: {} is trusted already, as `bob`: expected one name for each identity, got `carol` too\nhint: call it bob; to rename it, first `garblet trust remove bob --trust {trust}`\n", bob.trim()));
    let text = std::fs::read_to_string(&trust).expect("a file");
    std::fs::write(&trust, format!("{text}carol = \"{}\"\n", bob.trim())).expect("written");
    let ran = finish(company.begin(&["serve", "--config", &file, "--check"]));
    assert!(ran.status == Some(2) && ran.stderr.contains("expected one name for each identity"), "{}", ran.stderr);
    let identity = company.folder.path("service.pem");
    for peer in [&["--peer", "carol"][..], &[]] {
        let call = [
            "run",
            "lib:aes128",
            "--party",
            "0",
            "--input",
            "0=examples/aes/key.json",
            "--listen",
            "127.0.0.1:0",
            "--identity",
            &identity,
            "--trust",
            &trust,
        ];
        let ran = garblet(&[&call[..], peer].concat());
        assert!(ran.status == Some(2) && ran.stderr.contains("expected one name for each identity"), "{}", ran.stderr);
    }
    assert_eq!(garblet(&["trust", "remove", "carol", "--trust", &trust]).status, Some(0), "this fixes it");
    assert_eq!(finish(company.begin(&["serve", "--config", &file, "--check"])).status, Some(0));
}

#[test]
fn a_name_that_looks_like_another_is_reported() {
    let company = Company::new("homoglyphs");
    company.trust("bob");
    let job = std::fs::read_to_string(company.job("bob")).expect("a job");
    let (like, trust) =
        (company.folder.file("like.toml", &job.replace("\"bob\"", "\"b\u{43e}b\"")), company.folder.path("trust.toml"));
    let ran = garblet(&["job", "check", &like, "--trust", &trust]);
    assert!(ran.stderr.contains("of party 1 is b\\u{43e}b: its letters may look like others"), "{}", ran.stderr);
    let shown = garblet(&["job", "show", &like, "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert!(shown["odd_names"][0].as_str().is_some_and(|note| note.contains("b\\u{43e}b")), "{shown}");
    let plain = garblet(&["job", "check", &company.job("bob"), "--trust", &trust]);
    assert!(plain.status == Some(0) && !plain.stderr.contains("look like"), "{}", plain.stderr);
}

#[test]
fn an_option_of_another_command_is_not_a_value() {
    let ran = finish(
        command(&["keygen", "--receipts", "x"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts"),
    );
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("unexpected argument '--receipts'") && !ran.stderr.contains("-- --receipts"),
        "{}",
        ran.stderr
    );
    let _ = PLANTED;
}
