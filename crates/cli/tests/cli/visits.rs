//! Two servers that answer clients: `serve --agreement`, `keygen --client`, `visit`.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::Child,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use garblet_primitives::{Block, Prg};
use rand::Rng;
use serde_json::{Value, json};

use crate::{
    identities::keygen,
    invocation::{Folder, Ran, command, finish, garblet},
};

const SERVERS: [&str; 2] = ["generator", "cloud"];
/// The longest wait for a line of a server.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server's process and its output lines.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) told: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(arguments: &[String]) -> Self {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut child = command(&arguments).spawn().expect("the command starts");
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let lines = told.clone();
        thread::spawn(move || {
            stderr.lines().map_while(Result::ok).for_each(|line| lines.lock().expect("no panic").push(line))
        });
        Server { child, told }
    }

    /// The rest of the first line with this beginning.
    pub(crate) fn says(&self, begin: &str) -> String {
        let begun = Instant::now();
        loop {
            let told = self.told.lock().expect("no panic");
            if let Some(rest) = told.iter().find_map(|line| line.strip_prefix(begin)) {
                return rest.into();
            }
            assert!(begun.elapsed() < PATIENCE, "`{begin}` was not told: {told:#?}");
            drop(told);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Kills it, like a crash.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Memory in bytes, and the number of open files.
    #[cfg(target_os = "linux")]
    fn takes(&self) -> (u64, usize) {
        let process = format!("/proc/{}", self.child.id());
        let status = std::fs::read_to_string(format!("{process}/status")).expect("it runs");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        let kilobytes: u64 = resident.trim().trim_end_matches(" kB").parse().expect("a number");
        (kilobytes << 10, std::fs::read_dir(format!("{process}/fd")).expect("it runs").count())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two organisations and two clients, each with its own files.
pub(crate) struct World {
    pub(crate) folder: Folder,
    pub(crate) agreement: String,
}

const PROGRAMS: &str = r#"
[state.sum]
retries = 50

[[program]]
name = "start"
source = "lib:add(8)"
owner = { a = 1, b = 1 }
to = { sum = "nobody" }
keep = "sum"
first = true

[[program]]
name = "add"
source = "lib:add(8)"
owner = { a = 1, b = 1 }
to = { sum = "nobody" }
read = ["a=sum"]
keep = "sum"

[[program]]
name = "show"
source = "lib:add(8)"
owner = { a = 1, b = 1 }
to = { sum = 1 }
read = ["a=sum"]

[[program]]
name = "both"
source = "lib:add(8)"
owner = { a = 1, b = 2 }
to = { sum = [1, 2] }
clients = ["anna", "bo"]

[[program]]
name = "ours"
source = "lib:add(8)"
owner = { a = "generator", b = 1 }
to = { sum = [1, "cloud"] }
clients = ["anna"]

[[program]]
name = "open"
source = "bank.garble.rs"
owner = { old = 1, amount = 1 }
to = { left = "nobody" }
keep = "balance"
first = true

[[program]]
name = "withdraw"
source = "bank.garble.rs"
owner = { amount = 1 }
to = { left = "nobody" }
read = ["old=balance"]
keep = "balance"

[[program]]
name = "balance"
source = "bank.garble.rs"
owner = { amount = 1 }
to = { left = [1, "generator"] }
read = ["old=balance"]
"#;

const BANK: &str =
    "pub struct Left { left: u16 }\n\npub fn main(old: u16, amount: u16) -> Left { Left { left: old - amount } }\n";

/// The call of a visit without invitations or servers, which gets no further than its agreement.
pub(crate) fn stranded<'a>(agreement: &'a str, program: &'a str) -> Vec<&'a str> {
    let servers = ["--invitation", "a", "--invitation", "b", "--generator", "a:1", "--cloud", "b:1"];
    [&["visit", agreement, program][..], &servers].concat()
}

impl World {
    pub(crate) fn new(name: &str) -> Self {
        World::with(name, &["anna", "bo"])
    }

    /// The same with these clients.
    fn with(name: &str, clients: &[&str]) -> Self {
        let folder = Folder::new(name);
        // The list of clients comes before the tables.
        let mut text = format!("service = \"000102030405060708090a0b0c0d0e0f\"\nclients = {clients:?}\n\n");
        for server in SERVERS {
            let (path, _) = keygen(&folder, &format!("{server}.pem"));
            let key = garblet(&["id", &path, "--json"]).json()["public_key"].as_str().expect("a key").to_string();
            text += &format!("[{server}]\nkey = \"{key}\"\n\n");
            for client in clients {
                let ran = garblet(&["keygen", &path, "--client", client, "--server-name", server]);
                assert_eq!(ran.status, Some(0), "{}", ran.stderr);
                folder.file(&format!("{client}.{server}"), &ran.stdout);
            }
        }
        folder.file("bank.garble.rs", BANK);
        let agreement = folder.file("agreement.toml", &(text + PROGRAMS));
        folder.file("own.json", r#"{"a": 40}"#);
        World { folder, agreement }
    }

    /// Starts a server; the cloud connects to the generator.
    pub(crate) fn serve(&self, party: usize, meeting: &str) -> Server {
        let (of, name) = (|text: &str| self.folder.path(text), SERVERS[party]);
        let mut arguments = vec![
            "serve".into(),
            "--protocol".into(),
            "outsourced".into(),
            "--agreement".into(),
            self.agreement.clone(),
            "--party".into(),
            party.to_string(),
            "--store".into(),
            of(&format!("{name}.store")),
            "--store-key".into(),
            of(&format!("{name}.key")),
            "--identity".into(),
            of(&format!("{name}.pem")),
            "--visitors".into(),
            "127.0.0.1:0".into(),
            if party == 0 { "--listen".into() } else { "--connect".into() },
            meeting.into(),
        ];
        if party == 0 {
            arguments.extend(["--own-input".into(), format!("ours={}", of("own.json"))]);
        }
        Server::start(&arguments)
    }

    pub(crate) fn both(&self) -> [Server; 2] {
        let generator = self.serve(0, "127.0.0.1:0");
        let meeting = generator.says("listening on ");
        let cloud = self.serve(1, &meeting);
        [generator, cloud]
    }

    /// A client's arguments.
    pub(crate) fn call(&self, servers: &[Server; 2], client: &str, arguments: &[&str]) -> Vec<String> {
        let [generator, cloud] = servers.each_ref().map(|server| server.says("accepting clients at "));
        let [first, second] = SERVERS.map(|server| self.folder.path(&format!("{client}.{server}")));
        let receipts = self.folder.path(&format!("{client}.json"));
        let own = ["visit", &self.agreement].into_iter().chain(arguments.iter().copied()).chain([
            "--invitation",
            &first,
            "--invitation",
            &second,
            "--generator",
            &generator,
            "--cloud",
            &cloud,
            "--receipts",
            &receipts,
        ]);
        own.map(String::from).collect()
    }

    fn begin(&self, servers: &[Server; 2], client: &str, arguments: &[&str]) -> Child {
        let call = self.call(servers, client, arguments);
        command(&call.iter().map(String::as_str).collect::<Vec<_>>()).spawn().expect("the command starts")
    }

    pub(crate) fn visit(&self, servers: &[Server; 2], client: &str, arguments: &[&str]) -> Ran {
        finish(self.begin(servers, client, arguments))
    }

    /// A file with an input.
    pub(crate) fn input(&self, value: Value) -> String {
        self.folder.file("input.json", &value.to_string())
    }
}

#[test]
fn clients_come_and_go_and_a_state_survives_crashes() {
    let world = World::new("visits");
    let mut servers = world.both();
    let input = world.input(json!({"a": 3, "b": 4}));
    let started = world.visit(&servers, "anna", &["start", "--input", &input, "--json"]).json();
    assert_eq!((&started["state"], &started["version"], &started["outputs"]), (&json!("sum"), &json!(1), &json!({})));
    let five = world.input(json!({"b": 5}));
    for server in &mut servers {
        server.kill();
    }
    // Both servers restart with the same stores, at other addresses.
    let mut servers = world.both();
    let added = world.visit(&servers, "bo", &["add", "--input", &five, "--json"]).json();
    assert_eq!((&added["version"], &added["attempts"]), (&json!(2), &json!(1)));
    servers[1].kill();
    servers[1] = world.serve(1, &servers[0].says("listening on "));
    let shown = world.visit(&servers, "anna", &["show", "--input", &five]);
    assert_eq!((shown.status, &shown.stdout[..]), (Some(0), "sum = 17\n"), "{}", shown.stderr);
    servers[0].says("ran `show` for anna in ");

    let ours = world.visit(&servers, "anna", &["ours", "--input", &five]);
    assert_eq!(ours.stdout, "sum = 45\n", "{}", ours.stderr);
}

#[test]
fn a_client_that_was_cut_off_gets_its_answer_later() {
    let world = World::new("resumed");
    let servers = world.both();
    let [three, four] =
        [("three.json", r#"{"a": 3}"#), ("four.json", r#"{"b": 4}"#)].map(|(name, text)| world.folder.file(name, text));
    let both = |input| ["both", "--with", "anna,bo", "--label", "lunch", "--input", input];
    let anna = world.folder.path("anna.json");
    let mut cut_off = world.begin(&servers, "anna", &both(&three));
    while !std::fs::exists(&anna).expect("a folder that can be read") {
        assert!(cut_off.try_wait().expect("a child").is_none(), "she waits for the other client");
        thread::sleep(Duration::from_millis(5));
    }
    cut_off.kill().expect("it runs");
    cut_off.wait().expect("it ends");
    // It does not matter if the servers received her submission: she asks with the same frames, and there is one run.
    let bo = world.begin(&servers, "bo", &both(&four));
    world
        .visit(&servers, "anna", &["add", "--resume"])
        .fails(2, "error: --resume: the last visit is for `both`, got `add`\nhint: ask for the answers of `both`\n");
    // Outputs of another program would be read from the answers.
    let agreed = std::fs::read_to_string(&world.agreement).expect("the agreement");
    let of_both = "name = \"both\"\nsource = \"lib:add(8)\"";
    let changed = agreed
        .replace(of_both, &of_both.replace("add(8)", "sub(8)"))
        .replace("to = { sum = [1, 2] }", "to = { difference = [1, 2] }");
    std::fs::write(&world.agreement, changed).expect("written");
    world.visit(&servers, "anna", &["both", "--resume"]).fails(
        2,
        "error: --resume: the last visit, for `both`, was of another program than the agreement has now\nhint: ask with the agreement and the program files of that visit\n",
    );
    std::fs::write(&world.agreement, agreed).expect("written");
    let resumed = world.visit(&servers, "anna", &["both", "--resume", "--json"]);
    let bo = finish(bo);
    assert_eq!(bo.stdout, "sum = 7\n", "{}", bo.stderr);
    assert_eq!(resumed.json()["outputs"]["sum"]["value"], 7);
    world.visit(&servers, "anna", &["both", "--resume"]).fails(2, "error: --resume: no visit is waiting for answers\n");
    for server in &servers {
        let told = server.told.lock().expect("no panic");
        assert_eq!(told.iter().filter(|line| line.starts_with("ran `both` for anna, bo in ")).count(), 1, "{told:?}");
    }
}

/// A shell creates its output file readable by all.
#[cfg(unix)]
#[test]
fn only_its_owner_can_read_an_invitation_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("own-invitation");
    let (path, _) = keygen(&folder, "one.pem");
    let kept = folder.file("anna.one", "");
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
    let file = std::fs::OpenOptions::new().write(true).open(&kept).expect("it exists");
    let mut keygen = command(&["keygen", &path, "--client", "anna", "--server-name", "One"]);
    assert!(keygen.stdout(file).status().expect("the command starts").success());
    assert_eq!(std::fs::metadata(&kept).expect("it exists").permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&kept).expect("text").starts_with("garblet-invitation:"));
}

#[test]
fn impossible_visits_are_refused() {
    let world = World::new("unvisited");
    let servers = world.both();
    let input = world.input(json!({"b": 4}));
    // There is no state yet.
    let early = world.visit(&servers, "anna", &["add", "--input", &input]);
    assert_eq!(early.status, Some(1), "{}", early.stderr);
    assert!(early.stderr.contains("\nerror: no output: the generator refuses: "), "{}", early.stderr);
    world.visit(&servers, "bo", &["ours", "--input", &input]).fails(
        1,
        "the generator learns no output; the cloud learns sum\n\
         error: no output: the generator refuses: the policy does not allow it; the cloud refuses: the policy does not allow it\n\
         hint: ask the servers' operators which programs and clients they allow\n",
    );
    world
        .visit(&servers, "bo", &["ours", "--input", &input, "--with", "anna"])
        .fails(2, "error: --with: the invited client `bo` is not among anna\n");
    world
        .visit(&servers, "bo", &["theirs"])
        .fails(2, "error: the agreement has no program `theirs` for `bo`\nhint: it has start, add, show, both, ours, open, withdraw, balance\n");
    world
        .visit(&servers, "bo", &["show"])
        .fails(2, "error: the inputs of party 1 are missing: `b` (u8)\nhint: give --input FILE.json\n");
    // The invitations in the wrong order.
    let mut call = world.call(&servers, "bo", &["show", "--input", &input]);
    let at = call.iter().position(|argument| argument == "--invitation").expect("the first");
    call.swap(at + 1, at + 3);
    let swapped = garblet(&call.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(swapped.status, Some(2), "{}", swapped.stderr);
    assert!(
        swapped.stderr.contains("hint: use the invitations of the two servers that the job names"),
        "{}",
        swapped.stderr
    );
    // A server with another agreement.
    let mut stranger = World::new("unvisited-2");
    stranger.agreement = world.agreement.clone();
    let mut other = stranger.serve(0, "127.0.0.1:0");
    other.says("error: ");
    assert_eq!(other.child.wait().expect("it ends").code(), Some(2));
    // The same agreement without its first client, whose number the second now has.
    drop(servers);
    let text = std::fs::read_to_string(&world.agreement).expect("it exists").replace("\"anna\", ", "");
    let text = text.replace("[\"anna\"]", "[\"bo\"]").replace("b = 2", "b = 1").replace("[1, 2]", "[1]");
    std::fs::write(&world.agreement, text).expect("it is written");
    let mut renumbered = world.serve(0, "127.0.0.1:0");
    renumbered.says("error: input clients of the agreement: expected `anna` at place 1 of the list");
    assert_eq!(renumbered.child.wait().expect("it ends").code(), Some(2));
}

#[test]
fn the_demonstration_of_friends_serves_a_page_and_invites() {
    let folder = Folder::new("friends-demo");
    garblet(&["demo", "friends", "--client", &folder.path("nothing")]).fails(
        2,
        &format!(
            "error: {}: cannot be read: no such file or directory\n\
             hint: build the client for pages with `cargo xtask web`, or name its folder with --client\n",
            folder.path("nothing/garblet-client.js")
        ),
    );
    let client = ["garblet-client.js", "garblet-talk.js", "garblet.js", "garblet_bg.wasm"];
    client.iter().for_each(|name| drop(folder.file(name, &format!("this is {name}"))));
    let own = folder.path("");
    let call = ["demo", "friends", "--client", &own, "--listen", "127.0.0.1:0", "--friend", "Zoë", "--friend", "Bo"];
    let mut child = command(&[&call[..], &["--map", "5x4", "--json"]].concat()).spawn().expect("the command starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let friends = serde_json::from_str::<Value>(&line).expect("JSON")["friends"].clone();
    let names: Vec<&str> = friends.as_array().expect("a list").iter().filter_map(|f| f["name"].as_str()).collect();
    assert_eq!(names, ["Zoë", "Bo"]);
    let link = friends[0]["link"].as_str().expect("a link");
    let (address, invitations) = link.trim_start_matches("http://").split_once("/#generator=").expect("a link");
    assert!(invitations.contains("&cloud=garblet-invitation%3A"), "{link}");
    let page = |path: &str| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("text");
        text
    };
    let described = page("/friends.json");
    let (head, body) = described.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("content-type: application/json\r\n"), "{head}");
    assert!(head.contains("content-security-policy: frame-ancestors 'none'\r\n"), "{head}");
    let body: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!((&body["width"], &body["height"], &body["friends"]), (&json!(5), &json!(4), &json!(["Zoë", "Bo"])));
    assert_eq!(["place", "look"].map(|program| body["jobs"][program].as_array().map(Vec::len)), [Some(2); 2]);
    assert!(page("/").contains("<title>Friend finder</title>"));
    assert!(page("/garblet.js").ends_with("\r\n\r\nthis is garblet.js"));
    assert!(page("/../friends.toml").starts_with("HTTP/1.1 404 "));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").arg(&id).status().expect("kill exists").success());
    let ended = finish(child);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("generator: ran `start` for Zoë in "), "{}", ended.stderr);
}

fn is_full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}

/// One or both servers are killed at random times, mostly during a run, and restarted. Each visit counts once or not at all, and both
/// servers hold one version.
#[test]
fn each_visit_counts_at_most_once_whichever_server_is_killed() {
    let kills = if is_full() { 1000 } else { 8 };
    let world = World::new("killed");
    let mut servers = world.both();
    let input = world.input(json!({"a": 0, "b": 0}));
    assert_eq!(world.visit(&servers, "anna", &["start", "--input", &input]).status, Some(0));
    let one = world.folder.file("one.json", r#"{"b": 1}"#);
    let zero = world.folder.file("zero.json", r#"{"b": 0}"#);
    let (mut sum, mut version, mut unanswered) = (0u8, 1, 0);
    let mut draw = Prg::new(Block::from_u128(kills));
    for _ in 0..kills {
        // One, the other, or both.
        let whom = [0b01, 0b10, 0b11][(draw.next_u32() % 3) as usize];
        let pause = Duration::from_micros(u64::from(draw.next_u32() % 60_000));
        let visit = world.begin(&servers, "bo", &["add", "--input", &one, "--timeout", "5s", "--give-up"]);
        thread::sleep(pause);
        (0..2).filter(|server| whom >> server & 1 == 1).for_each(|server| servers[server].kill());
        let visited = finish(visit);
        if whom & 1 == 1 {
            // The generator keeps its port for a surviving cloud.
            let meeting = servers[0].says("listening on ");
            servers[0] = world.serve(0, &meeting);
        }
        if whom & 2 == 2 {
            let meeting = servers[0].says("listening on ");
            servers[1] = world.serve(1, &meeting);
        }
        if visited.status != Some(0) {
            unanswered += 1;
            // The answer may exist; if not, the servers say so.
            world.visit(&servers, "bo", &["add", "--resume"]);
        }
        // A visit whose answers agree between both servers.
        let shown = world.visit(&servers, "anna", &["show", "--input", &zero, "--json"]).json();
        let shown_sum = shown["outputs"]["sum"]["value"].as_u64().expect("a number") as u8;
        let counted = u64::from(shown_sum.wrapping_sub(sum));
        assert!(counted == 1 || counted == 0 && visited.status != Some(0), "{sum}, then {shown}: {}", visited.stderr);
        assert_eq!(shown["version"], json!(version + counted), "a version for each visit that counts");
        (sum, version) = (shown_sum, version + counted);
    }
    println!("{kills} kills, {unanswered} visits without an answer at once, version {version} of the state");
    assert!(unanswered > 0, "every visit was over before anybody was killed");
    servers.iter_mut().for_each(Server::kill);
    for server in SERVERS {
        let [store, key] = ["store", "key"].map(|file| world.folder.path(&format!("{server}.{file}")));
        let listed = garblet(&["store", "list", &store, "--store-key", &key]);
        assert!(listed.stdout.contains(&format!("state sum, version {version}")), "{}{}", listed.stdout, listed.stderr);
    }
}

/// Clients that come only once cost the servers neither memory nor files.
#[cfg(target_os = "linux")]
#[test]
fn servers_do_not_grow_with_the_number_of_past_clients() {
    let visitors = if is_full() { 1000 } else { 30 };
    let names: Vec<String> = (0..visitors).map(|number| format!("client{number}")).collect();
    let names: Vec<&str> = ["anna", "bo"].into_iter().chain(names.iter().map(|name| &name[..])).collect();
    let world = World::with("visitors", &names);
    let servers = world.both();
    let input = world.input(json!({"a": 0, "b": 0}));
    assert_eq!(world.visit(&servers, "anna", &["start", "--input", &input]).status, Some(0));
    let one = world.folder.file("one.json", r#"{"b": 1}"#);
    let come = |names: &[&str]| {
        for name in names {
            let ran = world.visit(&servers, name, &["add", "--input", &one]);
            assert_eq!(ran.status, Some(0), "{name}: {}", ran.stderr);
        }
        servers.each_ref().map(Server::takes)
    };
    let (first, others) = names[2..].split_at(visitors / 3);
    let before = come(first);
    let after = come(others);
    println!("after {} visitors {before:?}, after {visitors} {after:?}: bytes of memory and open files", first.len());
    for ((memory, files), (memory_after, files_after)) in before.into_iter().zip(after) {
        // The allocator's reserve varies by some pages.
        assert!(memory_after < memory + (4 << 20), "{memory} bytes, then {memory_after}");
        assert!(files_after <= files, "{files} files, then {files_after}");
    }
    let zero = world.folder.file("zero.json", r#"{"b": 0}"#);
    let shown = world.visit(&servers, "bo", &["show", "--input", &zero, "--json"]).json();
    assert_eq!(shown["outputs"]["sum"]["value"], json!(visitors % 256));
}
