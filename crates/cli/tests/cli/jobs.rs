//! Jobs: written, checked, signed, verified, and run by parties that agree on everything.

use std::fs;

use serde_json::Value;

use crate::{
    identities::{keygen, listen, pair},
    invocation::{Folder, Ran, finish, garblet},
};

const AES: [&str; 2] = ["0=examples/aes/key.json", "1=examples/aes/block.json"];
const CIPHERTEXT: &str = "ciphertext = 69c4e0d86a7b0430d8cdb78070b4c55a\n";

/// Two parties with identities, and their job for a library circuit.
struct World {
    folder: Folder,
    identities: [String; 2],
    fingerprints: [String; 2],
    job: String,
}

impl World {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let (alice, bob) = (keygen(&folder, "alice.pem"), keygen(&folder, "bob.pem"));
        let job = folder.path("aes.job.toml");
        let world = World { folder, identities: [alice.0, bob.0], fingerprints: [alice.1, bob.1], job };
        let ran = world.write(&world.job, &["lib:aes128"]);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        world
    }

    /// Writes a job for the two.
    fn write(&self, path: &str, more: &[&str]) -> Ran {
        let parties = ["alice", "bob"].iter().zip(&self.fingerprints);
        let parties: Vec<String> = parties.map(|(name, print)| format!("{name}={print}")).collect();
        garblet(&[&["job", "new", "--out", path, "--party", &parties[0], "--party", &parties[1]], more].concat())
    }

    /// Writes the job with a changed text to another file.
    fn changed(&self, name: &str, from: &str, to: &str) -> String {
        let text = fs::read_to_string(&self.job).expect("the job");
        assert!(text.contains(from), "{text}");
        self.folder.file(name, &text.replace(from, to))
    }

    fn sign(&self, job: &str, party: usize) -> Ran {
        garblet(&["job", "sign", job, "--identity", &self.identities[party]])
    }

    /// The arguments of a party's run.
    fn run<'a>(&'a self, job: &'a str, party: usize) -> Vec<&'a str> {
        vec!["--job", job, "--input", AES[party], "--identity", &self.identities[party]]
    }
}

#[test]
fn a_job_contains_everything_that_a_run_needs() {
    let world = World::new("job-run");
    let ran = pair(&world.run(&world.job, 0), &world.run(&world.job, 1));
    for ran in [ran.0, ran.1] {
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), CIPHERTEXT), "{}", ran.stderr);
    }
    let local = garblet(&["local", "--job", &world.job, "--input", AES[0], "--input", AES[1]]);
    assert_eq!((local.status, &local.stdout[..]), (Some(0), CIPHERTEXT), "{}", local.stderr);
    let check = garblet(&["job", "check", &world.job]);
    let plan = garblet(&["plan", "--job", &world.job]);
    let costs = plan.stdout.split_once("\n\n").expect("a head").1;
    assert!(check.stdout.contains(costs.trim_end()) && costs.contains("online"), "{}{}", check.stdout, plan.stdout);
    for shown in ["ciphertext", "out", "party 0: alice ", "program: ", "bob has not signed"] {
        assert!(check.stdout.contains(shown), "{shown}: {}", check.stdout);
    }
}

#[test]
fn a_run_under_a_job_sends_the_planned_bytes() {
    let world = World::new("job-bytes");
    let planned: Value = garblet(&["plan", "--job", &world.job, "--json"]).json();
    let ran: Value = garblet(&["local", "--job", &world.job, "--input", AES[0], "--input", AES[1], "--json"]).json();
    for party in 0..2 {
        for phase in ["setup", "prepare", "build", "online"] {
            let planned = &planned["protocols"][0]["per_party"][party]["phases"][phase];
            let cost = &ran["per_party"][party]["phases"][phase];
            assert_eq!(cost["bytes_sent"], planned["bytes_sent"], "{phase} of {party}");
            assert_eq!(cost["bytes_received"], planned["bytes_received"], "{phase} of {party}");
        }
    }
}

#[test]
fn parties_with_different_jobs_see_the_differing_fields() {
    let world = World::new("job-differs");
    let other = world.changed("other.toml", "name = \"aes128\"", "name = \"another\"");
    let parameter = world.folder.path("parameter.toml");
    assert_eq!(world.write(&parameter, &["lib:aes128", "--param", "scheme=grr3", "--name", "aes128"]).status, Some(0));
    for (theirs, told) in
        [(&other, "job name: ours another, theirs aes128"), (&parameter, "scheme: ours grr3, theirs half-gates")]
    {
        let (listened, connected) = pair(&world.run(&world.job, 0), &world.run(theirs, 1));
        assert!(connected.stderr.contains(told), "{}", connected.stderr);
        assert!(
            connected.stderr.contains("hint: run under the same job, both with --job FILE"),
            "{}",
            connected.stderr
        );
        for ran in [listened, connected] {
            assert!(ran.stderr.contains("job: ours "), "{}", ran.stderr);
            assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        }
    }
    let without = [
        "lib:aes128",
        "--party",
        "1",
        "--input",
        AES[1],
        "--identity",
        &world.identities[1],
        "--peer",
        &world.fingerprints[0],
    ];
    let (listened, connected) = pair(&world.run(&world.job, 0), &without);
    assert!(connected.stderr.contains("job: ours nothing, theirs "), "{}", connected.stderr);
    assert!(listened.stderr.contains(", theirs nothing\n"), "{}", listened.stderr);
}

#[test]
fn anyone_but_the_jobs_parties_is_refused() {
    let world = World::new("job-strangers");
    let (mallory, mallory_print) = keygen(&world.folder, "mallory.pem");
    let place = &world.job;
    let call = |more: &[&str]| garblet(&[&["run", "--job", place, "--connect", "127.0.0.1:1"], more].concat());
    let ran = call(&["--identity", &mallory]);
    let expected =
        format!("{place}: our identity {mallory_print} is not one of its parties: alice {}", world.fingerprints[0]);
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    let [alice, bob] = &world.identities;
    let ran = call(&["--identity", alice, "--party", "1"]);
    let expected = format!("--party 1: our identity {} is party 0 of {place}, alice\n", world.fingerprints[0]);
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    let ran = call(&["--identity", alice, "--input", AES[0], "--peer", &mallory_print]);
    assert!(ran.stderr.contains("the job has bob "), "{}", ran.stderr);
    let ran = call(&["--insecure-plain-tcp"]);
    assert!(ran.stderr.contains("names identities, which plain TCP cannot verify"), "{}", ran.stderr);
    for ran in [call(&["--identity", &mallory]), call(&["--insecure-plain-tcp"])] {
        assert_eq!(ran.status, Some(2));
    }
    // A stranger that connects in place of the job's peer is refused.
    let (waiting, address) = listen(&[&world.run(place, 0)[..], &["--timeout", "10s"]].concat());
    let stranger = [
        "run",
        "lib:aes128",
        "--party",
        "1",
        "--input",
        AES[1],
        "--identity",
        &mallory,
        "--peer",
        &world.fingerprints[0],
        "--connect",
        &address,
    ];
    assert_eq!(garblet(&stranger).status, Some(1));
    let waiting = finish(waiting);
    assert!(waiting.stderr.contains("the peer is unknown: expected bob "), "{}", waiting.stderr);
    assert!(!bob.is_empty());
}

#[test]
fn a_job_cannot_give_a_party_the_name_of_another_trusted_peer() {
    let world = World::new("job-names");
    let [trusted, other] = ["trusted.toml", "other.toml"].map(|name| world.folder.path(name));
    let add = |name: &str, print: &str, trust: &str| {
        assert_eq!(garblet(&["trust", "add", name, print, "--trust", trust]).status, Some(0));
    };
    let stranger = keygen(&world.folder, "stranger.pem").1;
    add("bob", &stranger, &trusted);
    let identity = ["--identity", &world.identities[0]];
    let prepare = ["prepare", "--job", &world.job, "--store", "x", "--connect", "127.0.0.1:1"];
    let run = ["run", "--job", &world.job, "--input", AES[0], "--connect", "127.0.0.1:1"];
    for call in [
        ["job", "check", &world.job].to_vec(),
        [&["job", "sign", &world.job], &identity[..]].concat(),
        [&run[..], &identity].concat(),
        [&prepare[..], &identity].concat(),
    ] {
        let ran = garblet(&[&call[..], &["--trust", &trusted]].concat());
        let bob = &world.fingerprints[1];
        let expected = format!(
            "error: {}: party 1: bob is trusted here as {stranger}, but the job has {bob}\nhint: ask bob",
            world.job
        );
        assert!(ran.stderr.starts_with(&expected), "{call:?}: {}", ran.stderr);
        assert_eq!(ran.status, Some(2));
    }
    assert!(!fs::exists(format!("{}.signatures", world.job)).expect("the folder exists"));
    // A peer with another name here appears under it, also in receipts.
    add("robert", &world.fingerprints[1], &other);
    for call in [["job", "check", &world.job].to_vec(), [&["job", "sign", &world.job], &identity[..]].concat()] {
        let ran = garblet(&[&call[..], &["--trust", &other]].concat());
        assert!(ran.stderr.contains("bob of the job is trusted here as robert\n"), "{}", ran.stderr);
        assert_eq!(ran.status, Some(0));
    }
    let ran = pair(&[&world.run(&world.job, 0)[..], &["--trust", &other]].concat(), &world.run(&world.job, 1));
    assert!(ran.0.stderr.contains("party 1: robert "), "{}", ran.0.stderr);
    assert!(ran.1.stderr.contains("party 0: alice "), "{}", ran.1.stderr);
}

#[cfg(unix)]
#[test]
fn signing_does_not_write_through_a_link() {
    let world = World::new("job-link");
    let target = world.folder.path("target");
    std::os::unix::fs::symlink(&target, format!("{}.signatures", world.job)).expect("a link");
    let ran = world.sign(&world.job, 0);
    assert!(ran.stderr.contains(".signatures: expected a regular file, got a link or the like\n"), "{}", ran.stderr);
    assert_eq!(ran.status, Some(2));
    assert!(!fs::exists(target).expect("the folder exists"));
}

#[test]
fn options_that_a_job_decides_are_refused_beside_it() {
    let world = World::new("job-options");
    for option in [
        &["--owner", "key=1"][..],
        &["--to", "ciphertext=0"],
        &["--const", "N=1"],
        &["--panics", "on"],
        &["--as-it-is"],
        &["--reverse", "key"],
        &["--protocol", "yao"],
        &["--adversary", "malicious"],
        &["--param", "hash=tmmo"],
        &["lib:aes128"],
    ] {
        for command in [&["local"][..], &["run", "--connect", "127.0.0.1:1"], &["plan"]] {
            let ran = garblet(&[command, &["--job", &world.job], option].concat());
            assert!(ran.stderr.contains("cannot be used with"), "{command:?} {option:?}: {}", ran.stderr);
            assert_eq!(ran.status, Some(2));
        }
    }
    let ran = garblet(&["local", "--job", &world.job, "--parties", "2"]);
    assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    // Nor does a job cover values that come from stores or stay there.
    for option in [["--keep", "a"], ["--read", "key=a"]] {
        for command in [&["local"][..], &["run", "--connect", "127.0.0.1:1"]] {
            let ran = garblet(&[command, &["--job", &world.job, "--store", "x"], &option].concat());
            assert!(ran.stderr.contains("cannot be used with"), "{command:?}: {}", ran.stderr);
            assert!(ran.stderr.contains("--job <FILE>") && ran.stderr.contains(option[0]), "{}", ran.stderr);
            assert_eq!(ran.status, Some(2));
        }
    }
    let ran = garblet(&[
        "prepare",
        "--job",
        &world.job,
        "--party",
        "0",
        "--store",
        "x",
        "--protocol",
        "lego",
        "--connect",
        "a:1",
    ]);
    assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
}

#[test]
fn a_program_other_than_the_agreed_one_is_refused() {
    let world = World::new("job-program");
    let source =
        |body: &str| world.folder.file("add.garble.rs", &format!("pub fn main(x: u8, y: u8) -> u8 {{ {body} }}\n"));
    let program = source("x + y");
    let job = world.folder.path("add.job.toml");
    let ran = world.write(&job, &[&program]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(fs::read_to_string(&job).expect("written").contains("program = \"add.garble.rs\"\n"));
    source("x ^ y");
    for command in [
        &["job", "check", &job][..],
        &["job", "sign", &job, "--identity", &world.identities[0]],
        &["local", "--job", &job],
    ] {
        let ran = garblet(command);
        assert!(
            ran.stderr.contains(&format!(
                "{job}: digest: that of the program {program}, with the changes that the job names, is "
            )),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("hint: the program is not the agreed one"), "{}", ran.stderr);
        assert_eq!(ran.status, Some(2));
    }
    assert_eq!(garblet(&["job", "show", &job]).status, Some(0), "what was agreed is shown all the same");
    assert!(!fs::exists(format!("{job}.signatures")).expect("the folder exists"));
    let ran = world.write(&job, &[&program]);
    assert!(ran.stderr.contains("file exists"), "an agreement is not overwritten: {}", ran.stderr);
}

#[test]
fn missing_signatures_are_named() {
    let world = World::new("job-signatures");
    let job = &world.job;
    let verify = || garblet(&["job", "verify", job]);
    let ran = verify();
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains(".signatures: alice has not signed; bob has not signed\n"), "{}", ran.stderr);
    // Signing twice is no error and leaves the file unchanged.
    let signed = |party| {
        let ran = world.sign(job, party);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        fs::read_to_string(format!("{job}.signatures")).expect("written")
    };
    assert_eq!(signed(0), signed(0));
    assert!(verify().stderr.contains(".signatures: bob has not signed\n"));
    let both = signed(1);
    let digest = garblet(&["job", "show", job, "--json"]).json()["job"].as_str().expect("a digest").to_string();
    let ran = verify();
    assert_eq!(
        (ran.status, &ran.stdout[..]),
        (Some(0), &format!("{digest}\nall 2 parties have signed\n")[..]),
        "{}",
        ran.stderr
    );
    let stranger = keygen(&world.folder, "mallory.pem").0;
    let ran = garblet(&["job", "sign", job, "--identity", &stranger]);
    assert!(ran.stderr.contains("is not one of its parties"), "{}", ran.stderr);

    // Signatures do not match a job that was changed afterwards.
    let other = world.changed("other.toml", "name = \"aes128\"", "name = \"another\"");
    fs::copy(format!("{job}.signatures"), format!("{other}.signatures")).expect("copied");
    let ran = garblet(&["job", "verify", &other]);
    assert!(ran.stderr.contains("the signature of alice is wrong: it signs job "), "{}", ran.stderr);
    let lying =
        both.replace(&digest, garblet(&["job", "show", &other, "--json"]).json()["job"].as_str().expect("a digest"));
    fs::write(format!("{other}.signatures"), lying).expect("written");
    let ran = garblet(&["job", "verify", &other]);
    assert!(ran.stderr.contains("is wrong: it was made with another key or for another job"), "{}", ran.stderr);

    // Signatures by others, by nobody, duplicates, or none at all.
    let parts: Vec<&str> = both.split("[[signature]]").collect();
    for (text, expected) in [
        (both.replace("party = \"alice\"", "party = \"carol\""), "alice has not signed"),
        (
            both.replace("party = \"alice\"", "party = \"x\"").replace("party = \"bob\"", "party = \"alice\""),
            "the signature of alice is wrong: the key belongs to ",
        ),
        (format!("{both}[[signature]]{}", parts[1]), "the signature of alice is wrong: it appears twice"),
        (both.replace("signature = \"", "signature = \"0"), "is wrong: signature: expected 128 hexadecimal digits"),
        (both.replace("key = \"", "key = \"0"), "is wrong: key: expected 64 hexadecimal digits"),
        (both.replace("key = ", "kee = "), "unknown field `kee`"),
    ] {
        fs::write(format!("{job}.signatures"), text).expect("written");
        let ran = verify();
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
        assert_eq!(ran.status, Some(2));
    }
}

#[test]
fn constants_from_files_are_written_into_the_job() {
    let world = World::new("job-constants");
    let program = world.folder.file(
        "rows.garble.rs",
        "const ROWS: usize = PARTY_0::ROWS;\npub fn main(x: [u8; ROWS], y: u8) -> u8 { x[0] ^ y }\n",
    );
    let constants = world.folder.file("constants.json", "{\"PARTY_0\": {\"ROWS\": 3}}");
    let job = world.folder.path("rows.job.toml");
    let ran =
        world.write(&job, &[&program, "--const", &constants, "--to", "out0=0", "--owner", "y=1", "--protocol", "lego"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let shown = garblet(&["job", "show", &job]).stdout;
    for field in ["const PARTY_0::ROWS: 3\n", "owner y: 1\n", "to out0: 0\n", "protocol: lego\n", "panics: on\n"] {
        assert!(shown.contains(field), "{field}{shown}");
    }
    let with_table =
        fs::read_to_string(&job).expect("written").replace("\"PARTY_0::ROWS\" = 3", "PARTY_0 = { ROWS = 3 }");
    let alike = world.folder.file("alike.job.toml", &with_table);
    assert_eq!(garblet(&["job", "show", &alike]).stdout, shown);
}

#[test]
fn a_job_without_identities_is_for_plain_tcp() {
    let folder = Folder::new("job-plain");
    let job = folder.path("plain.job.toml");
    let ran = garblet(&["job", "new", "lib:aes128", "--party", "alice", "--party", "bob", "--out", &job]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let run = |party, input| vec!["--job", &job, "--party", party, "--input", input, "--insecure-plain-tcp"];
    let ran = pair(&run("0", AES[0]), &run("1", AES[1]));
    for ran in [ran.0, ran.1] {
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), CIPHERTEXT), "{}", ran.stderr);
    }
    let ran = garblet(&["run", "--job", &job, "--insecure-plain-tcp", "--connect", "127.0.0.1:1"]);
    assert!(
        ran.stderr.contains(&format!("error: --party is missing: {job} has no identities to tell which party this is")),
        "{}",
        ran.stderr
    );
    let ran = garblet(&["job", "new", "lib:aes128", "--party", "alice", "--out", &job]);
    assert!(ran.stderr.starts_with("error: --party given 1 times: expected 2, the number for yao\n"), "{}", ran.stderr);
}

#[test]
fn several_parties_meet_with_the_jobs_identities() {
    let folder = Folder::new("job-mesh");
    let keys: Vec<_> = ["a.pem", "b.pem", "c.pem"].iter().map(|name| keygen(&folder, name)).collect();
    let parties: Vec<String> =
        keys.iter().zip(["ann", "ben", "cy"]).map(|(key, name)| format!("{name}={}", key.1)).collect();
    let job = folder.path("sum.job.toml");
    let named: Vec<&str> = parties.iter().flat_map(|party| ["--party", &party[..]]).collect();
    let ran = garblet(&[&["job", "new", "lib:aes128", "--protocol", "gmw", "--out", &job][..], &named].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    // Fingerprints in the peers file must match those in the job.
    let peers = |last: &str| {
        let entry = |port: usize, print: &str| {
            format!("[[party]]\naddress = \"127.0.0.1:{port}\"\nfingerprint = \"{print}\"\n")
        };
        folder.file("peers.toml", &[entry(1, &keys[0].1), entry(2, &keys[1].1), entry(3, last)].concat())
    };
    let stranger = keygen(&folder, "d.pem").1;
    let run = |peers: &str| garblet(&["run", "--job", &job, "--identity", &keys[0].0, "--peers", peers]);
    let ran = run(&peers(&stranger));
    assert!(ran.stderr.contains("--peers: the fingerprint of party 2 differs from that of cy in "), "{}", ran.stderr);
    let two = folder.file("two.toml", "[[party]]\naddress = \"a:1\"\n[[party]]\naddress = \"a:2\"\n");
    assert!(run(&two).stderr.contains("the peers file has 2 parties, "), "{}", run(&two).stderr);
}

#[test]
fn a_batch_is_as_large_as_the_job_allows() {
    let world = World::new("job-batch");
    let job = world.folder.path("batch.job.toml");
    let ran = world.write(&job, &["lib:millionaires(8)", "--batch", "3"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(garblet(&["job", "show", &job]).stdout.contains("\nbatch: 3\n"));
    let table = |name: &str, column: &str, rows: &[u8]| {
        let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
        world.folder.file(name, &format!("{column}\n{rows}"))
    };
    let files = [table("a.csv", "alice", &[3, 200, 7]), table("b.csv", "bob", &[4, 100, 7])];
    let [zero, one] = [0, 1].map(|party| format!("{party}={}", files[party]));
    let run = |party: usize, input| {
        let way = ["--job", &job, "--identity", &world.identities[party], "--input", input, "--batch", "rows"];
        way.map(String::from).to_vec()
    };
    let [first, second] = [run(0, &zero), run(1, &one)];
    let [first, second] = [&first, &second].map(|words| words.iter().map(|word| &word[..]).collect::<Vec<_>>());
    let ran = pair(&first, &second);
    let local = garblet(&["local", "--job", &job, "--input", &zero, "--input", &one, "--batch", "rows"]);
    for ran in [&ran.0, &ran.1, &local] {
        assert_eq!((ran.status, &ran.stdout), (Some(0), &local.stdout), "{}", ran.stderr);
    }
    let more = [table("c.csv", "alice", &[1; 4]), table("d.csv", "bob", &[2; 4])];
    let [zero, one] = [0, 1].map(|party| format!("{party}={}", more[party]));
    let ran = garblet(&["local", "--job", &job, "--input", &zero, "--input", &one, "--batch", "rows"]);
    ran.fails(
        2,
        &format!(
            "error: --batch: {job} allows 3 rows per run, got 4\n\
             hint: split it into several runs, or agree on another job: `garblet job new --batch N`\n"
        ),
    );
    let ran = garblet(&["plan", "--job", &world.job, "--batch", "2"]);
    ran.fails(
        2,
        &format!(
            "error: --batch: {} allows one evaluation per run\n\
             hint: every row reveals a result, so all parties must agree on a limit: `garblet job new --batch N`\n",
            world.job
        ),
    );
}

#[test]
fn every_protocol_can_run_under_a_job() {
    let world = World::new("job-protocols");
    for protocol in garblet::Protocol::ALL {
        let (least, _) = protocol.parties().into_inner();
        let parties: Vec<String> = (0..least).map(|party| format!("--party=p{party}")).collect();
        let parties: Vec<&str> = parties.iter().map(|party| &party[..]).collect();
        let job = world.folder.path(&format!("{protocol}.job.toml"));
        let new = ["job", "new", "lib:millionaires(8)", "--protocol", protocol.name(), "--out", &job];
        for call in [&[&new[..], &parties].concat(), &["job", "check", &job][..]] {
            let ran = garblet(call);
            assert_eq!(ran.status, Some(0), "{protocol}: {}", ran.stderr);
        }
    }
}
