//! Parties that are processes of a test's own program, killed at any point of preparing and computing.
//!
//! A test calls [`child`] in a test of the name `child`, which is the entry of a party's process, and [`kill_whenever`] in another.
//! Each party writes the pieces that a run takes to a log, durably, before anything that depends on them leaves.

use std::{
    collections::HashMap,
    fs::OpenOptions,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use garblet::{
    Session,
    net::{Hello, Listener, Options, connect},
    store::{Store, StoreKey},
};
use garblet_primitives::Prg;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// What a party ends with.
pub(crate) type Ended = Result<(), Box<dyn std::error::Error>>;

/// Opens the store and meets the peer; says where it listens.
async fn meet(
    party: u16,
    folder: &Path,
    address: Option<String>,
) -> Result<(Store, Session), Box<dyn std::error::Error>> {
    let rng = &mut rand::rng();
    let key = StoreKey::load_or_create(&folder.join(format!("key{party}")), rng)?;
    let store = Store::open_or_create(&folder.join(format!("store{party}")), &key, rng)?;
    let options = Options { timeout: Duration::from_secs(10), ..Options::default() };
    let channel = match address {
        Some(address) => connect(&address, &options).await?,
        None => {
            let listener = Listener::bind("127.0.0.1:0").await?;
            println!("listening {}", listener.address());
            listener.accept(&options).await?
        }
    };
    let hello = Hello::new("kill", party, 2, [0; 32]);
    let session = Session::open(channel, Prg::random(rng), &hello, Box::new(())).await?;
    Ok((store, session))
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
pub(crate) fn child(live: impl AsyncFnOnce(u16, Store, Session, Log) -> Ended) {
    let Some(folder) = std::env::var_os("GARBLET_KILL_FOLDER").map(PathBuf::from) else { return };
    let variable = |name: &str| std::env::var(name).ok();
    let number: u16 = variable("GARBLET_KILL_PARTY").and_then(|text| text.parse().ok()).expect("a party");
    let run = variable("GARBLET_KILL_RUN").expect("a run");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let whole = async {
        let (store, session) = meet(number, &folder, variable("GARBLET_KILL_ADDRESS")).await?;
        live(number, store, session, Log(folder.join(format!("log{number}")), run)).await
    };
    if let Err(error) = runtime.block_on(whole) {
        println!("failed {error}");
        std::process::exit(3);
    }
}

fn start(folder: &Path, party: u16, run: usize, address: Option<&str>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture", "--test-threads", "1"]);
    command.env("GARBLET_KILL_FOLDER", folder).env("GARBLET_KILL_PARTY", party.to_string());
    command.env("GARBLET_KILL_RUN", run.to_string());
    address.map(|address| command.env("GARBLET_KILL_ADDRESS", address));
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs both parties; kills one or both after a while, if that is wanted. Returns whether both came to the result.
fn run(folder: &Path, number: usize, kill: Option<(u64, u8)>) -> Result<(), String> {
    let mut first = start(folder, 0, number, None);
    let mut lines = BufReader::new(first.stdout.take().unwrap());
    let address = loop {
        let mut line = String::new();
        if lines.read_line(&mut line).unwrap() == 0 {
            break Err("party 0 ended before it listened".to_string());
        }
        if let Some(address) = line.trim().split("listening ").nth(1) {
            break Ok(address.to_string());
        }
        if let Some((_, why)) = line.split_once("failed ") {
            break Err(why.trim().to_string());
        }
    };
    let address = match address {
        Ok(address) => address,
        Err(why) => {
            let _ = first.wait();
            return Err(why);
        }
    };
    let second = start(folder, 1, number, Some(&address));
    let mut children = [first, second];
    if let Some((micros, whom)) = kill {
        std::thread::sleep(Duration::from_micros(micros));
        for (at, child) in children.iter_mut().enumerate() {
            if whom >> at & 1 == 1 {
                let _ = child.kill();
            }
        }
    }
    let ended = children.map(|mut child| child.wait().unwrap().success());
    if ended == [true; 2] { Ok(()) } else { Err(format!("{ended:?}")) }
}

/// Every piece of both logs was taken for one run only, and once by each party.
fn check(folder: &Path) -> usize {
    let mut runs: HashMap<String, String> = HashMap::new();
    let mut taken = 0;
    for party in 0..2 {
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

/// Runs both parties again and again and kills one or both: no piece is used twice, and the last run succeeds.
pub(crate) fn kill_whenever(kills: usize, least_taken: usize) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let begin = std::time::Instant::now();
    run(folder, 0, None).expect("a run that nobody disturbs");
    let whole = begin.elapsed().as_micros() as u64;
    let mut rng = StdRng::seed_from_u64(1);
    let mut finished = 0;
    for number in 1..=kills {
        let kill = (rng.random_range(0..whole), rng.random_range(1..=3));
        finished += usize::from(run(folder, number, Some(kill)).is_ok());
        check(folder);
    }
    run(folder, kills + 1, None).expect("a run after all");
    let taken = check(folder);
    assert!(finished < kills, "every run was over before it was killed");
    assert!(taken >= least_taken, "{taken} pieces were taken");
}
