//! Agreements of two servers, their runs that panic, and outputs of visits whose receipts cannot be written.

use std::{io::Read, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    invocation::{Ran, command, finish, garblet},
    visits::{World, stranded},
};

/// A balance of 100 from which 101 are withdrawn.
#[test]
fn a_state_survives_a_run_that_panics_and_no_server_prints_its_output() {
    let world = World::new("panics");
    let servers = world.both();
    let visit = |program: &str, input: Value| {
        world.visit(&servers, "anna", &[program, "--input", &world.input(input), "--json"])
    };
    let panicked = |ran: &Ran| {
        ran.stderr.contains("error: panicked at ")
            && ran.stderr.contains("nothing was kept, and what was kept before is unchanged")
    };
    // The first one saves nothing and is visited again.
    let ran = visit("open", json!({"old": 100, "amount": 101}));
    assert!(panicked(&ran) && ran.status == Some(1) && !ran.stdout.contains("left"), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(visit("open", json!({"old": 100, "amount": 0})).json()["version"], 1);
    let ran = visit("withdraw", json!({"amount": 101}));
    assert!(panicked(&ran) && !ran.stdout.contains("left"), "{} {}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.starts_with(
            "the generator learns no output, only whether it panics; the cloud learns no output, only whether it panics\n"
        ),
        "{}",
        ran.stderr
    );
    for server in &servers {
        server.says("ran `withdraw` for anna in ");
        let told = server.told.lock().expect("no panic");
        let ran = told.iter().find(|line| line.starts_with("ran `withdraw`")).expect("it was reported");
        assert!(ran.ends_with("; the program panicked, and no output was kept"), "{ran}");
    }
    let shown = visit("balance", json!({"amount": 0})).json();
    assert_eq!(
        (&shown["outputs"]["left"]["value"], &shown["servers_learn"]),
        (&json!(100), &json!({"generator": ["left"], "cloud": [], "panics": {"generator": "where", "cloud": null}}))
    );
    assert_eq!(visit("withdraw", json!({"amount": 100})).json()["version"], 2);
    // Nor does a server print a meaningless output.
    let ran = visit("balance", json!({"amount": 1}));
    assert!(ran.stderr.contains("error: panicked at "), "{}", ran.stderr);
    let [mut generator, _cloud] = servers;
    generator.kill();
    let mut printed = String::new();
    generator.child.stdout.take().expect("piped").read_to_string(&mut printed).expect("text");
    assert_eq!(
        printed.lines().filter(|line| line.starts_with("left = ")).collect::<Vec<_>>(),
        ["left = 100"],
        "{printed}"
    );
}

#[test]
fn an_agreement_that_others_may_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new("agreement-writable");
    let store = world.folder.path("store");
    let serve =
        ["serve", "--agreement", &world.agreement, "--party", "0", "--store", &store, "--listen", "127.0.0.1:0"];
    std::fs::set_permissions(&world.agreement, std::fs::Permissions::from_mode(0o646)).expect("it is ours");
    let ran = garblet(&serve);
    assert!(ran.status == Some(2) && ran.stderr.contains("has mode 646, expected 644"), "{}", ran.stderr);
}

#[test]
fn an_agreement_names_owners_recipients_and_states() {
    let world = World::new("agreed");
    let text = std::fs::read_to_string(&world.agreement).expect("text");
    let refused = |from: &str, to: &str, place: &str, message: &str| {
        assert!(text.contains(from), "{from}");
        let wrong = text.replacen(from, to, 1);
        let line = 1 + wrong[..wrong.find(place).expect("it exists")].matches('\n').count();
        let file = world.folder.file("wrong.toml", &wrong);
        let ran = garblet(&stranded(&file, "show"));
        let (first, rest) = ran.stderr.split_once('\n').expect("an error and a hint");
        assert_eq!((ran.status, first), (Some(2), &format!("error: {file}:{line}: {message}")[..]), "{}", ran.stderr);
        rest.to_string()
    };
    let both = "[[program]]\nname = \"both\"";
    let hint = refused(
        "to = { sum = [1, 2] }\n",
        "",
        both,
        "program `both`: to: `sum`: expected the recipients of this output, got nothing",
    );
    assert!(hint.starts_with("hint: write `to = { sum = \"nobody\" }`"), "{hint}");
    let expected = "expected a client from 1 to 2, `generator` or `cloud`";
    for (to, got) in [("3", "3"), ("0", "0"), ("\"all\"", "\"all\""), ("\"1\"", "\"1\"")] {
        let to = format!("to = {{ sum = {to} }}");
        let message = format!("program `both`: to: `sum`: {expected}, a list of these, or `nobody`, got {got}");
        refused("to = { sum = [1, 2] }", &to, &to, &message);
    }
    // Without `clients`, the second client would have been the cloud.
    let message = "program `both`: owner: `b`: expected 1, the client, `generator` or `cloud`, got 2";
    refused(
        "clients = [\"anna\", \"bo\"]\n\n[[program]]\nname = \"ours\"",
        "\n[[program]]\nname = \"ours\"",
        "owner = { a = 1, b = 2 }",
        message,
    );
    let hint = refused(
        "owner = { a = 1, b = 2 }",
        "owner = { a = 1 }",
        both,
        "program `both`: owner: `b`: expected the owner of this input, got nothing",
    );
    assert!(hint.starts_with("hint: write `owner = { b = 1 }`"), "{hint}");
}

#[test]
fn an_agreement_only_reads_states_that_a_program_saves() {
    let world = World::new("unread");
    let text = std::fs::read_to_string(&world.agreement).expect("text");
    let file = world.folder.file(
        "wrong.toml",
        &text.replacen("to = { sum = 1 }\nread = [\"a=sum\"]", "to = { sum = 1 }\nread = [\"a=total\"]", 1),
    );
    let ran = garblet(&stranded(&file, "show"));
    let message = format!(
        "error: {file}: input of program `show`, which reads `total`: expected a program that keeps that state, got none\n"
    );
    assert!(ran.status == Some(2) && ran.stderr.starts_with(&message), "{}", ran.stderr);
}

/// A new store does not know which submissions were used, so old ones could be run again.
#[test]
fn a_service_value_is_refused_with_another_store() {
    let world = World::new("reused");
    let mut servers = world.both();
    for server in &mut servers {
        server.says("connected to the other server");
        server.kill();
    }
    std::fs::remove_dir_all(world.folder.path("generator.store")).expect("it exists");
    let generator = world.serve(0, "127.0.0.1:0");
    let told = generator.says("error: ");
    assert!(
        told.contains("agreement.toml: service: expected a value that no other store has used, got one that store"),
        "{told}"
    );
    assert!(generator.says("hint: ").contains("draw a new value"));
}

/// The run has happened, so a full disk must not hold its output back.
#[cfg(unix)]
#[test]
fn an_output_is_printed_even_if_the_receipt_cannot_be_written() {
    use rustix::process::{Pid, Signal, kill_process};
    let world = World::new("unkept");
    let servers = world.both();
    let input = world.input(json!({"b": 5}));
    let folder = world.folder.path("receipts");
    std::fs::create_dir(&folder).expect("a new folder");
    let receipts = format!("{folder}/anna.json");
    let mut call = world.call(&servers, "anna", &["ours", "--input", &input]);
    *call.last_mut().expect("the receipts") = receipts.clone();
    // No answer comes before the folder is gone.
    let pause = |signal| kill_process(Pid::from_child(&servers[1].child), signal).expect("it runs");
    pause(Signal::STOP);
    let child = command(&call.iter().map(String::as_str).collect::<Vec<_>>()).spawn().expect("the command starts");
    while !std::fs::exists(&receipts).expect("a folder that can be read") {
        thread::sleep(Duration::from_millis(1));
    }
    // Once the file is there, its folder is written to the disk as well.
    thread::sleep(Duration::from_secs(1));
    std::fs::rename(&folder, world.folder.path("elsewhere")).expect("it is ours");
    pause(Signal::CONT);
    let ran = finish(child);
    assert_eq!(ran.stdout, "sum = 45\n", "{}", ran.stderr);
    assert!(ran.status == Some(1) && ran.stderr.contains("anna.json"), "{}", ran.stderr);
}
