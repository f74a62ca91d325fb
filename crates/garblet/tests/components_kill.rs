//! Parties that are killed at any point of preparing and computing: what a store offers is never used twice, and the next
//! run succeeds.
//!
//! The parties are processes of this test's own program, which [`child`] is the entry of. Each writes the pieces that a
//! run takes to a log, durably, before anything that depends on them leaves.

use std::{
    collections::HashMap,
    fs::OpenOptions,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use garblet::{
    Bits, Party, Session,
    circuit::{Link, Port, Program, Recipients, Source, Type, evaluate},
    components::{
        Chain, Config, Connection, Evaluator, Garbler, KeyedLink, Library, Material, Shape, Side, Template, Wires,
    },
    library,
    net::{Hello, Listener, Options, connect},
    store::{Store, StoreKey},
};
use garblet_primitives::Prg;
use rand::{RngExt, SeedableRng, rngs::StdRng};

const TERMS: usize = 6;

/// Sums: singles, keyed links and chains.
fn sums() -> Library {
    let mut all = Library::new();
    let add = all.add_type("add", Arc::new(library::find("add(8)").unwrap().components()[0].as_ref().clone()), 9);
    let wires = |start| Wires { start, len: 8 };
    let next = vec![Connection { from: (add, wires(0)), to: (add, wires(8)) }];
    all.add_keyed(KeyedLink {
        from: add,
        side: Side::Output,
        source: wires(0),
        to: add,
        target: wires(8),
        window: 1,
        every: [1, 1],
        offset: 1,
    });
    let chain = Chain { pattern: vec![add], length: 4, next, shared: Vec::new() };
    all.add_template(Template::new("sum", 2, Shape::Chain(chain)));
    all.set_input_bits(256);
    all
}

/// The sum of six numbers, of which each party gives three.
fn sum() -> Arc<Program> {
    let mut p = Program::new("sum");
    let add = p.add_component(library::find("add(8)").unwrap().components()[0].clone());
    let inputs: Vec<_> = (0..TERMS)
        .map(|k| p.add_input(Port::new(format!("x{k}"), Type::Unsigned(8)), Party(k as u16 % 2)).unwrap())
        .collect();
    let mut sum = p.input_link(inputs[0]);
    for input in &inputs[1..] {
        let instance = p.add_instance(add, &[p.input_link(*input), sum]).unwrap();
        sum = Link { source: Source::Instance(instance), start: 0, len: 8 };
    }
    p.add_output(Port::new("sum", Type::Unsigned(8)), Recipients::All, vec![sum]).unwrap();
    Arc::new(p)
}

/// One party's whole life: opens its store, meets the peer, fills up, computes. Says where it listens.
async fn party(
    party: u16,
    folder: &Path,
    run: &str,
    address: Option<String>,
) -> Result<(), Box<dyn std::error::Error>> {
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
    let mut session = Session::open(channel, Prg::random(rng), &hello, Box::new(())).await?;
    let (program, config) = (sum(), Config::default());
    let material = Arc::new(Material::new(sums(), config.garbling));
    let values: Vec<Bits> = (0..TERMS).map(|k| Bits::from_u128(37 * k as u128 + 11, 8)).collect();
    let own: Vec<Bits> = values.iter().skip(party.into()).step_by(2).cloned().collect();
    let log = |pieces: Vec<(String, u64)>| -> std::io::Result<()> {
        let path = folder.join(format!("log{party}"));
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        let lines: String = pieces.iter().map(|(kind, id)| format!("{run} {id} {kind}\n")).collect();
        file.write_all(lines.as_bytes())?;
        file.sync_all()
    };
    let outputs = if party == 0 {
        let mut role = Garbler::setup(&mut session, material, config, store, "test").await?;
        role.prepare(&mut session, 100).await?;
        let prepared = role.build(&mut session, &program).await?;
        log(prepared.pieces(role.material()))?;
        role.online(&mut session, prepared, &own).await?
    } else {
        let mut role = Evaluator::setup(&mut session, material, config, store, "test").await?;
        role.prepare(&mut session, 100).await?;
        let prepared = role.build(&mut session, &program).await?;
        log(prepared.pieces(role.material()))?;
        role.online(&mut session, prepared, &own).await?
    };
    session.close().await?;
    let expected: Vec<Option<Bits>> = evaluate(&program, &values).into_iter().map(Some).collect();
    if outputs == expected { Ok(()) } else { Err("a wrong sum".into()) }
}

/// The entry of a party's process; in a normal run there is nothing to do.
#[test]
fn child() {
    let Some(folder) = std::env::var_os("GARBLET_KILL_FOLDER").map(PathBuf::from) else { return };
    let variable = |name: &str| std::env::var(name).ok();
    let number: u16 = variable("GARBLET_KILL_PARTY").and_then(|text| text.parse().ok()).expect("a party");
    let run = variable("GARBLET_KILL_RUN").expect("a run");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    if let Err(error) = runtime.block_on(party(number, &folder, &run, variable("GARBLET_KILL_ADDRESS"))) {
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
    let mut garbler = start(folder, 0, number, None);
    let mut lines = BufReader::new(garbler.stdout.take().unwrap());
    let address = loop {
        let mut line = String::new();
        if lines.read_line(&mut line).unwrap() == 0 {
            break Err("the garbler ended before it listened".to_string());
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
            let _ = garbler.wait();
            return Err(why);
        }
    };
    let evaluator = start(folder, 1, number, Some(&address));
    let mut children = [garbler, evaluator];
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

#[test]
fn no_piece_is_used_twice_whoever_is_killed_whenever() {
    let kills = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 240 } else { 12 };
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
    assert!(taken >= 2 * 2 * 5, "{taken} pieces were taken");
}
