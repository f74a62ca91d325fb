//! States of `outsourced`: outputs that stay with both servers, known to nobody, for other clients and other programs; one version at both
//! servers, whatever is cut off.
#![cfg(feature = "outsourced")]

use std::{
    fs, io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use garblet::{
    Bits, Config, Error, Notice, OrderRequest, Party, Peer, Plan, Program, ReadInput, Report, SavedValues,
    StateProblem, Stock,
    circuit::{Circuit, Component, Gate, InputId, Port, Recipients, Type, Wire, evaluate, random},
    library,
    net::{
        Mesh,
        testing::{Direction, Fault, FaultKind, Frame, FrameKind, PairFault, every_fault, intercepted_mesh},
    },
    outsourced::Outsourced,
    store::{Store, StoreKey, testing::open_hooked},
};
use rand::{SeedableRng, rngs::StdRng};

use crate::notices::{allow, kept};

/// The generator, two clients, the cloud.
const PARTIES: u16 = 4;
const CLOUD: u16 = PARTIES - 1;
const CLIENTS: [u16; 2] = [1, 2];
/// Runs of a state that may fail.
const RETRIES: u32 = 3;

/// The folders and keys of all parties.
struct Stores {
    folder: tempfile::TempDir,
    keys: Vec<StoreKey>,
}

impl Stores {
    fn new() -> Self {
        let keys = (0..PARTIES).map(|_| StoreKey::generate(&mut rand::rng())).collect();
        Stores { folder: tempfile::tempdir().expect("a folder"), keys }
    }

    fn place(&self, party: u16) -> std::path::PathBuf {
        self.folder.path().join(party.to_string())
    }

    fn open(&self, party: u16) -> Store {
        Store::open_or_create(&self.place(party), &self.keys[usize::from(party)], &mut rand::rng()).expect("it opens")
    }

    /// The version of the state at a server, and runs that have not ended.
    fn state(&self, party: u16) -> Option<(u64, u32, bool)> {
        let sum = kept(&self.open(party)).into_iter().find(|names| names.name == "sum")?;
        sum.state.map(|state| (state.version, sum.unended, state.closed))
    }
}

/// One run of all parties: a program, the values that are not read, each with its owner, and the state that it reads or keeps.
#[derive(Clone)]
struct Task {
    program: Arc<Program>,
    saved: SavedValues,
    inputs: Vec<(u16, Bits)>,
    config: Config,
    /// The runs of a state that may fail, if it is another number than the standard.
    retries: Option<u32>,
}

impl Task {
    /// The sum of two numbers: both of a client, or one of them the state; the sum is shown to a client, or kept.
    fn add(values: &[u128], client: u16, shown_to: Option<u16>, config: &Config) -> Self {
        let mut program = library::find("lib:add(8)").expect("in the library");
        (0..2).for_each(|input| program.set_owner(InputId(input), Party(client)));
        let recipients = shown_to.map(Party).into_iter().collect();
        program.set_recipients(0, Recipients::Only(recipients));
        let port = program.inputs()[0].port.name.clone();
        let read = ReadInput { port, name: "sum".into(), output: None };
        let read = if values.len() == 2 { Vec::new() } else { vec![read] };
        let keep = shown_to.is_none().then(|| "sum".into());
        let inputs = values.iter().map(|&value| (client, Bits::from_u128(value, 8))).collect();
        let saved = SavedValues { keep, read };
        Task { program: Arc::new(program), saved, inputs, config: config.clone(), retries: None }
    }

    fn set(value: u128, config: &Config) -> Self {
        Task::add(&[value, 0], CLIENTS[0], None, config)
    }

    fn advance(value: u128, client: u16, config: &Config) -> Self {
        Task::add(&[value], client, None, config)
    }

    fn show(client: u16, config: &Config) -> Self {
        Task::add(&[0], client, Some(client), config)
    }

    /// The same where so many runs may fail.
    fn with_retries(self, retries: u32) -> Self {
        Task { retries: Some(retries), ..self }
    }

    fn client(&self) -> u16 {
        self.program.inputs()[1].owner.0
    }

    async fn party(&self, party: u16, store: Store, mesh: Mesh) -> Result<Report, Error> {
        let plan = Plan::saving(self.program.clone(), PARTIES, &self.config, self.saved.clone())?;
        let order = garblet::Order::new(&OrderRequest::default(), PARTIES, &self.config)?;
        let mut stock = Stock::new(order, store, "all");
        (stock.top_up, stock.retries) = (true, self.retries);
        let own = self.inputs.iter().filter(|(owner, _)| *owner == party);
        let own: Vec<Bits> = own.map(|(_, bits)| bits.clone()).collect();
        let peer = Peer::open_with(&plan, Party(party), mesh, stock, rand::rng(), Box::new(())).await?;
        peer.finish(&own).await.map(|outcome| outcome.report)
    }

    /// Runs, perhaps with a fault between the servers; what each party came to, and what went between them.
    fn run_with(&self, stores: &Stores, fault: Option<Fault>) -> (Vec<Result<Report, Error>>, Vec<Frame>) {
        self.run_from((0..PARTIES).map(|party| stores.open(party)).collect(), fault)
    }

    /// The same with stores that are open.
    fn run_from(&self, stores: Vec<Store>, fault: Option<Fault>) -> (Vec<Result<Report, Error>>, Vec<Frame>) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let fault = fault.map(|fault| PairFault { low: 0, high: CLOUD, fault });
            let (meshes, transcripts) = intercepted_mesh(PARTIES, fault);
            let mut lives = Vec::new();
            for ((party, mut mesh), store) in (0..PARTIES).zip(meshes).zip(stores) {
                mesh.set_timeout(Duration::from_secs(if fault.is_some() { 5 } else { 20 }));
                let task = self.clone();
                lives.push(tokio::spawn(async move { task.party(party, store, mesh).await }));
            }
            let mut results = Vec::new();
            for life in lives {
                results.push(life.await.expect("no panic"));
            }
            let of_servers = transcripts.into_iter().find(|(pair, _)| *pair == (0, CLOUD));
            (results, of_servers.expect("the servers' link").1.frames())
        })
    }

    fn run(&self, stores: &Stores) -> Vec<Result<Report, Error>> {
        self.run_with(stores, None).0
    }

    /// The output that its client learns, of a run in which nothing goes wrong.
    fn shown(&self, stores: &Stores) -> Option<u128> {
        let results = self.run(stores);
        let reports: Vec<&Report> = results.iter().map(|result| result.as_ref().expect("nothing is wrong")).collect();
        let of_client = &reports[usize::from(self.client())].outputs[0];
        of_client.as_ref().map(|bits| bits.to_u128().expect("eight bits"))
    }
}

fn config(parameters: &[(&str, &str)]) -> Config {
    let mut config = Config::of(garblet::Protocol::of::<Outsourced>());
    parameters.iter().for_each(|(name, value)| config.set(name, value).expect("it has that parameter"));
    config
}

fn problem(result: &Result<Report, Error>) -> Option<StateProblem> {
    let mut error = result.as_ref().err()?;
    while let Error::Peer { source, .. } = error {
        error = source;
    }
    match error {
        Error::State { problem, .. } => Some(*problem),
        _ => None,
    }
}

fn is_full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}

#[test]
fn a_state_is_read_and_kept_again_by_other_clients_in_every_form() {
    let samples = garblet::Protocol::of::<Outsourced>().samples();
    let configs: Vec<Config> = samples.into_iter().filter(|config| config.stock().is_some()).collect();
    assert!(configs.len() >= 4);
    for config in configs {
        let stores = Stores::new();
        assert_eq!(Task::set(5, &config).shown(&stores), None);
        assert_eq!(Task::show(CLIENTS[1], &config).shown(&stores), Some(5));
        assert_eq!(Task::advance(30, CLIENTS[1], &config).shown(&stores), None);
        assert_eq!(Task::advance(7, CLIENTS[0], &config).shown(&stores), None);
        for client in CLIENTS {
            assert_eq!(Task::show(client, &config).shown(&stores), Some(42));
        }
        assert_eq!([0, CLOUD].map(|server| stores.state(server)), [Some((3, 0, false)); 2]);
    }
}

/// Chains of ten runs: other functions, with inputs and outputs of other clients and of servers, that read what earlier ones have kept.
#[test]
fn chains_of_ten_random_programs_equal_the_plain_evaluator() {
    let config = config(&[]);
    let (chains, mut read_count) = (if is_full() { 20 } else { 2 }, 0);
    for seed in 0..chains {
        let (mut rng, stores) = (StdRng::seed_from_u64(seed), Stores::new());
        // Values that stay, in the clear: of the state and of the output.
        let mut kept: Vec<([String; 2], Bits)> = Vec::new();
        for run in 0..10 {
            let mut program = random::program(&mut rng, 40, PARTIES);
            let mut values = random::inputs(&mut rng, &program);
            let (mut read, mut inputs) = (Vec::new(), Vec::new());
            for (input, value) in program.inputs().iter().zip(&mut values) {
                match kept.iter().rfind(|(_, bits)| bits.len() == value.len()) {
                    Some(([name, output], bits)) => {
                        *value = bits.clone();
                        let (port, name, output) = (input.port.name.clone(), name.clone(), Some(output.clone()));
                        read.push(ReadInput { port, name, output });
                    }
                    None => inputs.push((input.owner.0, value.clone())),
                }
            }
            read_count += read.len();
            // Of the outputs every other one stays, the first of all at least.
            let stays = |at: usize| at.is_multiple_of(2);
            let count = program.outputs().len();
            (0..count).filter(|at| stays(*at)).for_each(|at| program.set_recipients(at, Recipients::Only(Vec::new())));
            let expected = evaluate(&program, &values);
            let name = format!("state {run}");
            let staying = program.outputs().iter().zip(&expected).enumerate().filter(|(at, _)| stays(*at));
            for (_, (output, bits)) in staying {
                kept.push(([name.clone(), output.port.name.clone()], bits.clone()));
            }
            let saved = SavedValues { keep: Some(name), read };
            let task = Task { program: Arc::new(program), saved, inputs, config: config.clone(), retries: None };
            for (party, result) in task.run(&stores).into_iter().enumerate() {
                let report = result.unwrap_or_else(|error| panic!("{seed}, run {run}, party {party}: {error}"));
                let learns = |at: usize| task.program.outputs()[at].recipients.contains(Party(party as u16));
                let own = expected.iter().enumerate().map(|(at, bits)| learns(at).then(|| bits.clone()));
                assert!(report.outputs == own.collect::<Vec<_>>(), "{seed}, run {run}, party {party}");
            }
        }
    }
    assert!(read_count as u64 >= 3 * chains, "{read_count} inputs were read");
}

/// Bytes and rounds of a run with states are those that the formulas say.
#[test]
fn runs_with_states_cost_what_the_plan_says() {
    let config = config(&[]);
    let stores = Stores::new();
    for task in [Task::set(1, &config), Task::advance(2, CLIENTS[0], &config), Task::show(CLIENTS[0], &config)] {
        let plan = Plan::saving(task.program.clone(), PARTIES, &config, task.saved.clone()).expect("a plan");
        let predicted = plan.predict().expect("formulas");
        for (party, result) in task.run(&stores).into_iter().enumerate() {
            let report = result.expect("nothing is wrong");
            // What is made, and how stores meet, depends on the stores.
            for phase in [garblet::Phase::Build, garblet::Phase::Online] {
                let measured = report.phases.of(phase).communication;
                assert_eq!(Some(measured), predicted.parties[party][phase as usize], "party {party}, {phase:?}");
            }
        }
    }
}

/// Whatever message between the servers is the last, at their next meeting they have one version, the old or the new one, and whoever was
/// told a result was told that of the version which stays.
#[test]
fn servers_have_one_version_wherever_they_are_cut_off() {
    let config = config(&[]);
    let whole = Stores::new();
    Task::set(5, &config).shown(&whole);
    let (_, frames) = Task::advance(1, CLIENTS[0], &config).run_with(&whole, None);
    let cuts = every_fault(&frames).into_iter().filter(|fault| matches!(fault.kind, FaultKind::Cut));
    let cuts: Vec<Fault> = cuts.collect();
    assert!(cuts.len() > 12, "{} frames", cuts.len());
    let stores = Stores::new();
    Task::set(0, &config).shown(&stores);
    let (mut sum, mut advanced, mut stayed) = (0, 0, 0);
    let step = if is_full() { 1 } else { 2 };
    for fault in cuts.into_iter().step_by(step) {
        let (results, _) = Task::advance(1, CLIENTS[0], &config).with_retries(1000).run_with(&stores, Some(fault));
        let shown = Task::show(CLIENTS[1], &config).with_retries(1000).shown(&stores).expect("it is shown");
        assert!(shown == sum || shown == sum + 1, "{shown} after {sum}, {fault:?}");
        match shown == sum {
            true => stayed += 1,
            false => advanced += 1,
        }
        // A client accepts only if both servers have the next version.
        let accepted = results[usize::from(CLIENTS[0])].is_ok();
        assert!(!accepted || shown == sum + 1, "{fault:?}");
        sum = shown;
        let versions = [0, CLOUD].map(|server| stores.state(server).map(|(version, _, closed)| (version, closed)));
        assert_eq!(versions[0], versions[1], "{fault:?}");
        assert_eq!(versions[0].map(|(_, closed)| closed), Some(false), "{fault:?}");
    }
    assert!(stayed > 3 && advanced > 0, "{stayed} stayed, {advanced} advanced");
}

/// A server whose disk fails at a write, any of them, and that is then started anew.
#[test]
fn servers_have_one_version_whichever_write_is_the_last() {
    let config = config(&[]);
    for server in [0, CLOUD] {
        let (mut at, mut is_whole) = (0, false);
        while !is_whole {
            let stores = Stores::new();
            let writes = Arc::new(AtomicUsize::new(0));
            let (count, limit) = (writes.clone(), Arc::new(AtomicUsize::new(usize::MAX)));
            let last = limit.clone();
            let hook =
                move |step: &'static str| match count.fetch_add(1, Ordering::Relaxed) < last.load(Ordering::Relaxed) {
                    true => Ok(()),
                    false => Err(io::Error::other(format!("killed at {step}"))),
                };
            let key = &stores.keys[usize::from(server)];
            let hooked = open_hooked(&stores.place(server), key, &mut rand::rng(), hook).expect("a new folder");
            limit.store(writes.load(Ordering::Relaxed) + at, Ordering::Relaxed);
            let mut hooked = Some(hooked);
            let open = |party| if party == server { hooked.take().expect("once") } else { stores.open(party) };
            let (results, _) = Task::set(5, &config).run_from((0..PARTIES).map(open).collect(), None);
            is_whole = writes.load(Ordering::Relaxed) <= limit.load(Ordering::Relaxed);
            assert!(!is_whole || results.iter().all(Result::is_ok), "a run in which nothing fails");
            // The next meeting mends it, with a program that needs no state.
            assert_eq!(Task::set(9, &config).shown(&stores), None, "server {server}, write {at}");
            let states = [0, CLOUD].map(|server| stores.state(server).expect("it is there"));
            let [own, others] = states.map(|(version, _, closed)| (version, closed));
            assert!(own == others && (1..=2).contains(&own.0), "{states:?}, write {at}");
            // Each server has counted the run that did not end, unless it ended there, or labels did not leave.
            assert!(states.iter().all(|(_, unended, _)| *unended <= 1), "{states:?}, write {at}");
            assert_eq!(Task::show(CLIENTS[1], &config).shown(&stores), Some(9));
            at += if is_full() { 1 } else { 3 };
        }
        assert!(at > 10, "{at} writes");
    }
}

/// A cut before the last data from the cloud, without which the generator has no outputs.
fn without_outputs(frames: &[Frame]) -> Fault {
    let from_cloud = frames.iter().filter(|frame| frame.direction == Direction::Back).collect::<Vec<_>>();
    let frame = from_cloud.iter().rposition(|frame| frame.kind == FrameKind::Bulk).expect("it sends data");
    Fault { direction: Direction::Back, frame, kind: FaultKind::Cut }
}

/// Nine guesses at a state of which three may fail: a server that lets runs fail has no more of them because others succeed, those that keep the state
/// included. More are allowed by the operators of both, each at its own store.
#[test]
fn runs_that_do_not_end_are_counted_in_all_the_life_of_a_state() {
    let config = config(&[]);
    let stores = Stores::new();
    Task::set(5, &config).shown(&stores);
    let guess = Task::advance(1, CLIENTS[0], &config).with_retries(RETRIES);
    let fault = without_outputs(&guess.run_with(&stores, None).1);
    let (mut version, mut sum, mut guesses, mut refused) = (2, 6, 0, 0);
    for _ in 0..9 {
        let (results, _) = guess.run_with(&stores, Some(fault));
        assert!(results[usize::from(CLIENTS[0])].is_err(), "the generator has no outputs");
        guesses = stores.state(0).expect("it is there").1;
        // Another program that keeps the state, and one that reads it.
        let results = Task::advance(1, CLIENTS[1], &config).with_retries(RETRIES).run(&stores);
        if results.iter().any(Result::is_err) {
            assert_eq!(problem(&results[0]), Some(StateProblem::Failures { most: RETRIES }));
            refused += 1;
            continue;
        }
        (version, sum) = (version + 1, sum + 1);
        assert_eq!(Task::show(CLIENTS[0], &config).with_retries(RETRIES).shown(&stores), Some(sum));
        assert_eq!(stores.state(0), Some((version, guesses, false)));
    }
    assert_eq!((guesses, refused), (RETRIES + 1, 9 - RETRIES));
    // Allowed by one of both, it is refused by the other.
    assert_eq!(allow(&mut stores.open(0)), RETRIES + 1);
    assert!(Task::show(CLIENTS[0], &config).with_retries(RETRIES).run(&stores).iter().any(Result::is_err));
    assert!(allow(&mut stores.open(CLOUD)) > RETRIES);
    assert_eq!(Task::show(CLIENTS[0], &config).with_retries(RETRIES).shown(&stores), Some(sum));
    assert_eq!(stores.state(0), Some((version, 0, false)));
}

/// A state that counts guesses: not one run may fail, and runs that end use up nothing.
#[test]
fn with_no_retries_the_first_run_that_does_not_end_is_the_last() {
    let config = config(&[]);
    let stores = Stores::new();
    Task::set(5, &config).shown(&stores);
    let guess = Task::advance(1, CLIENTS[0], &config).with_retries(0);
    let fault = without_outputs(&guess.run_with(&stores, None).1);
    assert_eq!(guess.shown(&stores), None);
    assert_eq!(stores.state(0), Some((3, 0, false)), "two have ended");
    guess.run_with(&stores, Some(fault));
    assert_eq!(stores.state(0), Some((3, 1, false)));
    let results = guess.run(&stores);
    assert_eq!(problem(&results[0]), Some(StateProblem::Failures { most: 0 }));
    for server in [0, CLOUD] {
        assert!(allow(&mut stores.open(server)) > 0);
    }
    assert_eq!(Task::show(CLIENTS[0], &config).with_retries(0).shown(&stores), Some(7));
}

#[test]
fn runs_that_only_read_and_do_not_end_are_counted_in_a_row() {
    let config = config(&[]);
    let stores = Stores::new();
    Task::set(5, &config).shown(&stores);
    let show = Task::show(CLIENTS[0], &config).with_retries(RETRIES);
    let fault = without_outputs(&show.run_with(&stores, None).1);
    for _ in 0..2 {
        for failed in 1..=RETRIES {
            show.run_with(&stores, Some(fault));
            assert_eq!(stores.state(0), Some((1, failed, false)), "the generator has no outputs");
        }
        assert_eq!(show.shown(&stores), Some(5));
    }
    for _ in 0..=RETRIES {
        show.run_with(&stores, Some(fault));
    }
    let results = show.run(&stores);
    assert_eq!(problem(&results[0]), Some(StateProblem::Failures { most: RETRIES }));
    // A state that was closed by hand is closed at both.
    let mut store = stores.open(0);
    let sum = kept(&store).into_iter().find(|names| names.name == "sum").expect("it is there");
    garblet::settle(&mut store, &Notice::Kept(sum)).expect("it is written");
    drop(store);
    let results = show.run(&stores);
    assert_eq!([0, CLOUD].map(|server| problem(&results[usize::from(server)])), [Some(StateProblem::Closed); 2]);
    let closed = [0, CLOUD].map(|server| stores.state(server).map(|(version, _, closed)| (version, closed)));
    assert_eq!(closed, [Some((1, true)); 2]);
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("a folder");
    fs::set_permissions(to, fs::metadata(from).expect("a folder").permissions()).expect("its own");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).expect("copied")),
        }
    }
}

#[test]
fn a_client_does_not_go_back_with_both_servers() {
    let config = config(&[]);
    let stores = Stores::new();
    Task::set(5, &config).shown(&stores);
    let copies = tempfile::tempdir().expect("a folder");
    let of = |server: u16| copies.path().join(server.to_string());
    [0, CLOUD].iter().for_each(|&server| copy(&stores.place(server), &of(server)));
    Task::advance(1, CLIENTS[0], &config).shown(&stores);
    [0, CLOUD].iter().for_each(|&server| copy(&of(server), &stores.place(server)));
    let results = Task::show(CLIENTS[0], &config).run(&stores);
    let expected = StateProblem::Behind { seen: 2, got: 1 };
    assert_eq!(problem(&results[usize::from(CLIENTS[0])]), Some(expected));
    // Nor one of the two alone.
    let stores = Stores::new();
    Task::set(5, &config).shown(&stores);
    copy(&stores.place(0), &of(0));
    Task::advance(1, CLIENTS[0], &config).shown(&stores);
    copy(&of(0), &stores.place(0));
    let results = Task::show(CLIENTS[0], &config).run(&stores);
    assert!(results.iter().all(Result::is_err));
}

/// Bytes of all files in a folder.
fn bytes_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let of = |entry: fs::DirEntry| match entry.metadata().expect("a file") {
        metadata if metadata.is_dir() => bytes_of(&entry.path()),
        metadata => metadata.len(),
    };
    entries.map(of).sum()
}

/// As many bits as can be kept, and one more.
#[test]
fn a_state_has_a_million_bits_and_is_refused_beyond_before_anything_is_made() {
    let config = config(&[]);
    let bits = 1 << 20;
    let wide = |bits: u32| {
        let gates = (0..bits).map(|bit| Gate::Xor(Wire(bit), Wire(bits))).collect();
        let circuit = Circuit::new(bits + 1, gates, (bits + 1..2 * bits + 1).map(Wire).collect()).expect("a circuit");
        let ports = vec![Port::new("all", Type::Bits(bits)), Port::new("flip", Type::Bits(1))];
        let component = Component::new("flip", ports, vec![Port::new("flipped", Type::Bits(bits))], circuit);
        let owners = [Party(CLIENTS[0]); 2];
        let mut program = Program::from_component(component.expect("it fits"), &owners).expect("a program");
        program.set_recipients(0, Recipients::Only(Vec::new()));
        program
    };
    let saved = SavedValues { keep: Some("sum".into()), read: Vec::new() };
    let all: Bits = (0..bits).map(|bit: u32| bit.is_multiple_of(3)).collect();
    let inputs = vec![(CLIENTS[0], all.clone()), (CLIENTS[0], Bits::from_u128(1, 1))];
    let set =
        Task { program: Arc::new(wide(bits)), saved: saved.clone(), inputs, config: config.clone(), retries: None };
    let stores = Stores::new();
    assert!(set.run(&stores).iter().all(Result::is_ok));
    let taken = || [0, CLOUD].map(|server| bytes_of(&stores.place(server)));
    let after_it_was_kept = taken();

    let mut show = wide(bits);
    show.set_recipients(0, Recipients::Only(vec![Party(CLIENTS[0])]));
    let read = ReadInput { port: "all".into(), name: "sum".into(), output: Some("flipped".into()) };
    let saved_there = SavedValues { keep: None, read: vec![read] };
    let inputs = vec![(CLIENTS[0], Bits::from_u128(1, 1))];
    let show = Task { program: Arc::new(show), saved: saved_there, inputs, config: config.clone(), retries: None };
    let results = show.run(&stores);
    let shown = results[usize::from(CLIENTS[0])].as_ref().expect("it is shown").outputs[0].as_ref();
    assert!(shown == Some(&all), "flipped twice");
    // What the run before has taken of masks is gone when the store is next used.
    println!("a state of {bits} bits: {:?} bytes, with the masks of its run {after_it_was_kept:?}", taken());
    assert!(taken().iter().all(|bytes| *bytes < 64_000_000), "{:?} bytes", taken());

    let more = Plan::saving(wide(bits + 1), PARTIES, &config, saved).err().expect("too many");
    assert!(more.to_string().contains("at most 1048576 bits, got 1048577 bits"), "{more}");
}

#[test]
fn what_is_not_there_or_fits_nothing_is_told() {
    let config = config(&[]);
    let stores = Stores::new();
    let results = Task::show(CLIENTS[0], &config).run(&stores);
    assert_eq!([0, CLOUD].map(|server| problem(&results[usize::from(server)])), [Some(StateProblem::Missing); 2]);
    let all = Task::add(&[1, 2], CLIENTS[0], Some(1), &config);
    let keeps = SavedValues { keep: Some("sum".into()), read: Vec::new() };
    let error = Plan::saving(all.program, PARTIES, &config, keeps).err().expect("nothing is to be kept");
    assert!(error.to_string().contains("an output that nobody learns"), "{error}");
}
