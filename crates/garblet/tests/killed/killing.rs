//! Parties that are processes of a test's own program, killed at any point of preparing and computing.
//!
//! A test calls [`child`], which is the entry of a party's process, and another calls [`kill_whenever`] with the name of the first.
//! Each party writes the pieces that a run takes to a log, durably, before anything that depends on them leaves.

use std::{
    collections::HashMap,
    fs::OpenOptions,
    io::Write,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use garblet::{
    MeshSession, Session,
    net::{Hello, Listener, Mesh, Options, PeersFile, connect},
    store::{Past, Store, StoreKey},
};
use garblet_primitives::Prg;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// The result that a party ends with.
pub(crate) type Ended = Result<(), Box<dyn std::error::Error>>;

/// A session that parties begin who know where each of them listens.
pub(crate) trait Begin: Sized {
    /// Meets the others.
    async fn begin(party: u16, addresses: Vec<String>, rng: Prg) -> Result<Self, Box<dyn std::error::Error>>;
}

fn options() -> Options {
    let limit = Duration::from_secs(5);
    Options { timeout: limit, patience: limit, ..Options::default() }
}

impl Begin for Session {
    async fn begin(party: u16, addresses: Vec<String>, rng: Prg) -> Result<Self, Box<dyn std::error::Error>> {
        let channel = match party {
            0 => Listener::bind(&addresses[0]).await?.accept(&options()).await?,
            _ => connect(&addresses[0], &options()).await?,
        };
        Ok(Session::open(channel, rng, &Hello::new("kill", party, 2, [0; 32]), Box::new(())).await?)
    }
}

impl Begin for MeshSession {
    async fn begin(party: u16, addresses: Vec<String>, rng: Prg) -> Result<Self, Box<dyn std::error::Error>> {
        let hello = Hello::new("kill", party, addresses.len() as u16, [0; 32]);
        let listener = Listener::bind(&addresses[usize::from(party)]).await?;
        let mesh = Mesh::join(party, &PeersFile::plain(addresses), Some(listener), &options()).await?;
        Ok(MeshSession::join(mesh, rng, &hello, Box::new(())).await?)
    }
}

/// Opens a party's store, which its record must fit, wherever the last process was killed.
fn open(party: u16, folder: &Path) -> Result<Store, Box<dyn std::error::Error>> {
    let rng = &mut rand::rng();
    let key = StoreKey::load_or_create(&folder.join(format!("key{party}")), rng)?;
    let mut store = Store::open_or_create(&folder.join(format!("store{party}")), &key, rng)?;
    match store.record_in(&folder.join(format!("records{party}")))? {
        Past::Known => Ok(store),
        Past::Unknown => Err("the record of the store is gone".into()),
    }
}

/// Writes down pieces by kind and identifier.
pub(crate) struct Log(PathBuf, String);

impl Log {
    pub(crate) fn write(&self, pieces: &[(String, u64)]) -> std::io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0)?;
        let lines: String = pieces.iter().map(|(kind, id)| format!("{} {id} {kind}\n", self.1)).collect();
        file.write_all(lines.as_bytes())?;
        file.sync_all()
    }
}

/// The entry of a party's process, which lives as `live` says; in a normal run there is nothing to do.
pub(crate) fn child<S: Begin>(live: impl AsyncFnOnce(u16, Store, S, Log) -> Ended) {
    let Some(folder) = std::env::var_os("GARBLET_KILL_FOLDER").map(PathBuf::from) else { return };
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is set"));
    let number: u16 = variable("GARBLET_KILL_PARTY").parse().expect("a party");
    let run = variable("GARBLET_KILL_RUN");
    let addresses = variable("GARBLET_KILL_ADDRESSES").split(' ').map(String::from).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let whole = async {
        let store = open(number, &folder)?;
        let session = S::begin(number, addresses, Prg::random(&mut rand::rng())).await?;
        live(number, store, session, Log(folder.join(format!("log{number}")), run)).await
    };
    if let Err(error) = runtime.block_on(whole) {
        println!("failed {error}");
        std::process::exit(3);
    }
}

/// A host of this machine that is this process's own: callers get ports of 127.0.0.1. A Mac has no other hosts of loopback.
fn own_host() -> Ipv4Addr {
    let [a, b, c, d] = std::process::id().to_be_bytes();
    if cfg!(target_os = "macos") {
        Ipv4Addr::LOCALHOST
    } else {
        Ipv4Addr::new(127, 64 + (a ^ b) % 128, c, d.clamp(1, 254))
    }
}

/// Addresses that nobody listens on now, and that nobody else is given.
fn free_addresses(count: u16) -> Vec<String> {
    let sockets: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind((own_host(), 0)).expect("a port")).collect();
    sockets.iter().map(|socket| socket.local_addr().expect("its address").to_string()).collect()
}

fn start(entry: &str, folder: &Path, party: u16, run: usize, addresses: &[String]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", entry, "--nocapture", "--test-threads", "1"]);
    command.env("GARBLET_KILL_FOLDER", folder).env("GARBLET_KILL_PARTY", party.to_string());
    command.env("GARBLET_KILL_RUN", run.to_string()).env("GARBLET_KILL_ADDRESSES", addresses.join(" "));
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs all parties; kills those of the set `whom` after a while, if that is wanted. Returns whether all came to the result.
fn run(entry: &str, folder: &Path, parties: u16, number: usize, kill: Option<(u64, u32)>) -> Result<(), String> {
    let addresses = free_addresses(parties);
    let mut children: Vec<Child> = (0..parties).map(|party| start(entry, folder, party, number, &addresses)).collect();
    if let Some((micros, whom)) = kill {
        std::thread::sleep(Duration::from_micros(micros));
        for (at, child) in children.iter_mut().enumerate() {
            if whom >> at & 1 == 1 {
                let _ = child.kill();
            }
        }
    }
    let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    match ended.iter().all(|ended| ended.status.success()) {
        true => Ok(()),
        false => Err(ended.iter().map(|ended| String::from_utf8_lossy(&ended.stdout).into_owned()).collect()),
    }
}

/// Every piece of all logs was taken for one run only, and once by each party.
fn check(folder: &Path, parties: u16) -> usize {
    let mut runs: HashMap<String, String> = HashMap::new();
    let mut taken = 0;
    for party in 0..parties {
        let text = std::fs::read_to_string(folder.join(format!("log{party}"))).unwrap_or_default();
        let mut own = HashMap::new();
        for line in text.lines() {
            let (run, piece) = line.split_once(' ').unwrap();
            assert_eq!(own.insert(piece.to_string(), run.to_string()), None, "{piece} twice by party {party}");
            let known = runs.entry(piece.to_string()).or_insert_with(|| run.to_string());
            assert_eq!(known, run, "{piece} in two runs");
            taken += 1;
        }
    }
    taken
}

/// Runs all parties again and again and kills some or all: no piece is used twice, and the last run succeeds.
pub(crate) fn kill_whenever(entry: &str, parties: u16, kills: usize, least_taken: usize) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let begin = std::time::Instant::now();
    run(entry, folder, parties, 0, None).expect("a run that nobody disturbs");
    let whole = begin.elapsed().as_micros() as u64;
    let mut rng = StdRng::seed_from_u64(1);
    let (mut number, mut finished) = (0, 0);
    // The first run may have taken longer than any later one: if all were over before they were killed, it is done again, sooner each time.
    while number < kills || finished == number && number < kills + 10 {
        number += 1;
        let within = whole >> number.saturating_sub(kills);
        let kill = (rng.random_range(0..within.max(1)), rng.random_range(1..1u32 << parties));
        finished += usize::from(run(entry, folder, parties, number, Some(kill)).is_ok());
        check(folder, parties);
    }
    run(entry, folder, parties, number + 1, None).expect("a run after all");
    let taken = check(folder, parties);
    assert!(finished < number, "every run was over before it was killed");
    assert!(taken >= least_taken, "{taken} pieces were taken");
}
