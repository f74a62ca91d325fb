//! A service under load: 200 callers at once, half of them strangers, a tenth of them dying at random moments. Twenty seconds, or ten minutes with
//! `GARBLET_TEST_FULL=1` (`cargo xtask soak`).

#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use garblet::{
    Config, Ends, Error, Party, Peer, Plan,
    circuit::Bits,
    formats::front_end::FrontEnds,
    lang::Language,
    net::{Fingerprint, Identity, JobTerms, NetError, Options, Refusal, Tls, TrustStore, connect},
};
use rand::RngExt;
use tokio::{io::AsyncWriteExt, net::TcpStream, task::JoinSet, time::Instant};

/// Concurrent callers: half of them with a job; the rest strangers with an unknown identity, with garbage, or with another job.
const KINDS: [(Kind, usize); 5] =
    [(Kind::Honest, 80), (Kind::Dying, 20), (Kind::Unknown, 40), (Kind::Garbage, 30), (Kind::OtherJob, 30)];

/// Trusted identities, each with a job.
const IDENTITIES: usize = 5;

/// The service's input, which must not appear in its log.
const PLANTED: u32 = 271_828_182;

const SUM: &str = "pub fn main(a: u32, b: u32) -> u32 {\n    a + b\n}\n";
const OTHER: &str = "pub fn main(a: u32, b: u32) -> u32 {\n    a ^ b\n}\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Honest,
    Dying,
    Unknown,
    Garbage,
    OtherJob,
}

/// The data shared by all callers.
struct World {
    address: String,
    service: Fingerprint,
    /// Identities in files: a key is not copied.
    keys: Vec<String>,
    unknown: String,
    /// The job of each of them.
    sums: Vec<Plan>,
    other: Plan,
    tally: Mutex<BTreeMap<String, u64>>,
}

struct Service {
    child: Child,
    log: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Service {
    fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("a log")
    }

    fn rss_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the service runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells");
        line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") << 10
    }
}

fn plan(folder: &Path, name: &str, source: &str) -> Plan {
    let file = folder.join(name);
    fs::write(&file, source).expect("written");
    let front_ends = FrontEnds::standard().with(Language::default());
    let program = front_ends.load(&file.display().to_string()).expect("a program");
    Plan::new(program, 2, &Config::default()).expect("two parties")
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let command = Command::new(env!("CARGO_BIN_EXE_garblet")).args(arguments).current_dir(folder).output();
    let output = command.expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn key(folder: &Path, name: &str) -> (String, Fingerprint) {
    let identity = Identity::generate(&mut rand::rng());
    let path = folder.join(name);
    identity.save(&path).expect("written");
    (path.display().to_string(), identity.fingerprint())
}

/// A caller's plan, under the job that its hello names.
fn under(plan: &Plan, job: &str) -> Plan {
    plan.clone().under(JobTerms { digest: job.into(), fields: Vec::new() })
}

/// Writes all files that a service needs, and starts it.
fn start(folder: &Path) -> (Service, World) {
    let (_, service) = key(folder, "service.pem");
    let (unknown, _) = key(folder, "unknown.pem");
    let sum = plan(folder, "sum.garble.rs", SUM);
    let other = under(&plan(folder, "other.garble.rs", OTHER), "another");
    fs::create_dir(folder.join("jobs")).expect("a folder");
    fs::write(folder.join("own.json"), format!("{{\"a\": {PLANTED}}}")).expect("written");
    let mut trust = TrustStore::open(&folder.join("trust.toml")).expect("empty");
    let mut text = String::from(
        "listen = \"127.0.0.1:0\"\nidentity = \"service.pem\"\ntrust = \"trust.toml\"\njobs = \"jobs\"\nstate = \"state\"\nkey = \"state.key\"\n\
         [limits]\nsessions = 8\nwaiting = 40\nper_peer = 1000\nwait = \"20s\"\n",
    );
    let (mut keys, mut sums) = (Vec::new(), Vec::new());
    for n in 0..IDENTITIES {
        let name = format!("caller{n}");
        let (path, fingerprint) = key(folder, &format!("{name}.pem"));
        trust.add(&name, fingerprint).expect("written");
        keys.push(path);
        let parties = [format!("--party=service={service}"), format!("--party={name}={fingerprint}")];
        let job = format!("jobs/{name}.toml");
        run(folder, &["job", "new", "sum.garble.rs", "--out", &job, &parties[0], &parties[1]]);
        let digest = run(folder, &["job", "show", &job, "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&digest).expect("JSON");
        sums.push(under(&sum, shown["job"].as_str().expect("a digest")));
        text += &format!(
            "[[rule]]\njob = \"{name}\"\npeers = [\"{name}\"]\noften = {{ total = 1000000000 }}\ninputs = {{ file = \"own.json\" }}\n"
        );
    }
    fs::write(folder.join("serve.toml"), text).expect("written");
    let log = folder.join("log").display().to_string();
    let child = Command::new(env!("CARGO_BIN_EXE_garblet"))
        .args(["serve", "--config", "serve.toml"])
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .stdout(Stdio::null())
        .stderr(File::create(&log).expect("a log"))
        .spawn();
    let started = Service { child: child.expect("the command starts"), log };
    let begin = std::time::Instant::now();
    let address = loop {
        let log = started.log();
        if let Some((_, rest)) = log.split_once("listening address=") {
            break rest.split_whitespace().next().expect("an address").to_string();
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{log}");
        std::thread::sleep(Duration::from_millis(50));
    };
    (started, World { address, service, keys, unknown, sums, other, tally: Mutex::default() })
}

impl World {
    fn note(&self, kind: Kind, what: &str) {
        *self.tally.lock().expect("one thread").entry(format!("{kind:?}: {what}")).or_default() += 1;
    }

    fn options(&self, key: &str) -> Options {
        let identity = Identity::load(Path::new(key)).expect("an identity");
        let tls = Tls::new(identity, [("service".to_string(), self.service)]);
        let patience = Duration::from_secs(60);
        Options { tls: Some(tls), patience, timeout: patience, ..Options::default() }
    }

    /// Makes one call, with the number `b`, and returns its result.
    async fn compute(&self, plan: &Plan, key: &str, b: u32) -> Result<Option<Bits>, Error> {
        let channel = connect(&self.address, &self.options(key)).await?;
        let peer = Peer::open(plan, Party(1), Ends::from(channel), rand::rng(), Box::new(())).await?;
        let outcome = peer.finish(&[Bits::from_u128(b.into(), 32)]).await?;
        Ok(outcome.report.outputs.into_iter().next().flatten())
    }

    async fn call(&self, kind: Kind) {
        let (b, caller) = (rand::rng().random_range(0..1 << 30), rand::rng().random_range(0..IDENTITIES));
        let (key, sum) = (&self.keys[caller], &self.sums[caller]);
        match kind {
            Kind::Honest => match self.compute(sum, key, b).await {
                Ok(sum) => {
                    assert_eq!(sum.and_then(|sum| sum.to_u128()), Some(u128::from(PLANTED + b)), "a wrong result");
                    self.note(kind, "right result");
                }
                Err(error) => match error.net() {
                    Some(NetError::Refused { refusal: Refusal::Busy }) => self.note(kind, "refused: busy"),
                    _ => panic!("an honest caller hears: {error}"),
                },
            },
            Kind::Dying => {
                let life = Duration::from_millis(rand::rng().random_range(0..400));
                let _ = tokio::time::timeout(life, self.compute(sum, key, b)).await;
                self.note(kind, "gone");
            }
            Kind::OtherJob => match self.compute(&self.other, key, b).await.expect_err("no such job").net() {
                Some(NetError::Refused { refusal: Refusal::UnknownJob }) => self.note(kind, "refused: unknown job"),
                other => panic!("expected a refusal, got {other:?}"),
            },
            Kind::Unknown => {
                let unknown = Options { patience: Duration::from_secs(1), ..self.options(&self.unknown) };
                assert!(connect(&self.address, &unknown).await.is_err(), "a stranger came in");
                self.note(kind, "refused in the handshake");
            }
            Kind::Garbage => {
                if let Ok(mut stream) = TcpStream::connect(&self.address).await {
                    let mut garbage = [0; 600];
                    rand::rng().fill(&mut garbage[..]);
                    let _ = stream.write_all(&garbage).await;
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                self.note(kind, "gone");
            }
        }
    }
}

#[test]
fn a_service_under_load_computes_correctly_and_does_not_grow() {
    let is_full = std::env::var_os("GARBLET_TEST_FULL").is_some();
    let length = Duration::from_secs(if is_full { 600 } else { 20 });
    let folder = tempfile::tempdir().expect("a folder");
    let (service, world) = start(folder.path());
    let (service, world) = (Arc::new(service), Arc::new(world));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let memory = runtime.expect("a runtime").block_on(async {
        let end = Instant::now() + length;
        let mut callers = JoinSet::new();
        for kind in KINDS.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count)) {
            let world = world.clone();
            callers.spawn(async move {
                while Instant::now() < end {
                    world.call(kind).await;
                    if kind == Kind::Honest {
                        // A refused caller pauses before it calls again.
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    } else {
                        tokio::time::sleep(Duration::from_millis(1_000)).await;
                    }
                }
            });
        }
        let mut memory = Vec::new();
        while Instant::now() < end {
            tokio::time::sleep(length / 80).await;
            memory.push(service.rss_bytes());
        }
        while let Some(ended) = callers.join_next().await {
            ended.expect("a caller");
        }
        memory
    });
    let quarter = memory.len() / 4;
    let most = |part: &[u64]| part.iter().max().copied().unwrap_or(0) as f64 / 1e6;
    let (first, last) = (most(&memory[quarter..2 * quarter]), most(&memory[3 * quarter..]));
    let tally = world.tally.lock().expect("one thread").clone();
    let right = tally.get("Honest: right result").copied().unwrap_or(0);
    println!(
        "{:.1} sessions/s; resident memory {first:.1} MB after warm-up, {last:.1} MB at the end",
        right as f64 / length.as_secs_f64()
    );
    tally.iter().for_each(|(what, count)| println!("{what}: {count}"));
    let log = service.log();
    assert!(right > 20, "only {right} results: {tally:?}");
    assert!(last <= 1.1 * first, "memory grows from {first} MB to {last} MB");
    assert!(!log.contains(&PLANTED.to_string()), "the service's number is in its log");
    assert!(!log.contains("panicked") && !log.contains("died"), "{log}");
}
