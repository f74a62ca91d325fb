//! The service of `outsourced`: clients that come and go, and two servers that answer them.
#![cfg(feature = "outsourced")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use garblet::{
    Bits, OrderRequest, Party, Program, ReadInput, SavedValues,
    circuit::{InputId, Recipients},
    library,
    net::{Call, Entrance, Identity, Listener, Options, Visitors},
    outsourced::{
        Limits,
        service::{Agreement, Event, Offer, Place, Service, ServiceId, Unanswered, WayTo, call},
    },
    store::{Store, StoreKey},
};
use garblet_client::{
    self as client, Begun, Invitation, Job, Reason, Receipt, Rejected, Said, Secret, Server, Submit, Visit,
};
use garblet_primitives::{Block, Prg};
use tokio::sync::watch;

const CLIENTS: [&str; 3] = ["anna", "bo", "cleo"];

/// `lib:add(8)` with these owners of its inputs, shown to these parties.
fn add(owners: [u16; 2], shown_to: &[u16]) -> Arc<Program> {
    let mut program = library::find("lib:add(8)").expect("in the library");
    (0..2).for_each(|input| program.set_owner(InputId(input), Party(owners[input as usize])));
    program.set_recipients(0, Recipients::Only(shown_to.iter().copied().map(Party).collect()));
    Arc::new(program)
}

fn offer(name: &str, program: Arc<Program>, clients: &[&[&str]], keep: bool, read: bool) -> Offer {
    let port = program.inputs()[0].port.name.clone();
    let of_state = ReadInput { port, name: "sum".into(), output: None };
    let saved = SavedValues { keep: keep.then(|| "sum".into()), read: read.then_some(of_state).into_iter().collect() };
    let clients = clients.iter().map(|may| may.iter().map(|name| name.to_string()).collect()).collect();
    Offer { name: name.into(), program, clients, saved, first: false }
}

/// The programs of the tests. Of `lib:add(8)`, the first input is read where a state is.
fn offers() -> Vec<Offer> {
    let all: &[&str] = &CLIENTS;
    vec![
        Offer { first: true, ..offer("start", add([1, 1], &[]), &[all], true, false) },
        offer("add", add([1, 1], &[]), &[all], true, true),
        offer("show", add([1, 1], &[1]), &[all], false, true),
        offer("both", add([1, 2], &[1, 2]), &[&["anna"], &["bo", "cleo"]], false, false),
        offer("ours", add([0, 1], &[0, 1, 2]), &[all], false, false),
    ]
}

/// Two servers that can be started and stopped, and those who know them.
struct World {
    agreement: Arc<Agreement>,
    folder: tempfile::TempDir,
    keys: [StoreKey; 2],
    secrets: [Vec<[u8; 32]>; 2],
    /// Lines of both logs.
    log: Arc<Mutex<Vec<String>>>,
}

impl World {
    fn new(limits: Limits) -> Self {
        World::of(offers(), limits)
    }

    fn of(offers: Vec<Offer>, limits: Limits) -> Self {
        let mut rng = Prg::new(Block::from_u128(5));
        let servers = [(); 2].map(|()| client::Identity(Identity::generate(&mut rng).public_key()));
        let clients = CLIENTS.map(String::from).to_vec();
        let limits = BTreeMap::from([("sum".to_string(), limits)]);
        let service = ServiceId([3; 16]);
        let agreement = Agreement::new(service, servers, clients, offers, limits, Default::default()).expect("it fits");
        let keys = [(); 2].map(|()| StoreKey::generate(&mut rand::rng()));
        let secrets =
            [1, 2].map(|server: u8| (0..CLIENTS.len() as u8).map(|client| [16 * server + client; 32]).collect());
        let folder = tempfile::tempdir().expect("a folder");
        World { agreement: Arc::new(agreement), folder, keys, secrets, log: Arc::default() }
    }

    fn service(&self, server: Server) -> Service {
        let at = server as usize;
        let secrets = self.secrets[at].iter().map(|bytes| Secret::from_bytes(*bytes)).collect();
        let (path, key) = (self.folder.path().join(server.to_string()), self.keys[at].clone());
        let open = Box::new(move || Ok(Store::open_or_create(&path, &key, &mut rand::rng())?));
        let log = self.log.clone();
        let hear = move |event: Event<'_>| {
            let line = match event {
                Event::Met => "met".into(),
                Event::Parted(error) => format!("parted: {error}"),
                Event::Closed(error) => format!("closed: {error}"),
                Event::Ran { offer, clients, outputs, .. } => {
                    let own =
                        outputs.iter().flatten().map(|bits| bits.to_u128().expect("few bits")).collect::<Vec<_>>();
                    format!("ran {offer} for {}: {own:?}", clients.join(", "))
                }
                Event::Refused { offer, clients, reason, accused } => {
                    format!("refused {offer} for {}: {reason} {accused:?}", clients.join(", "))
                }
                Event::Unended(count, _) => format!("{count} unended"),
                Event::Filling(_) => "filling".into(),
            };
            log.lock().expect("no panic").push(format!("{server}: {line}"));
        };
        let inputs =
            if server == Server::Generator { vec![("ours".into(), vec![Bits::from_u128(40, 8)])] } else { Vec::new() };
        let ready = (self.agreement.clone(), server);
        Service::new(ready, secrets, inputs, (&OrderRequest::default(), open), hear).expect("a service")
    }

    fn start(&self) -> Running {
        let meeting = on_runtime(async { Listener::bind("127.0.0.1:0").await.expect("a port").address().to_string() });
        let (stop, stopped) = watch::channel(false);
        let mut threads = Vec::new();
        let mut addresses = Vec::new();
        for server in Server::BOTH {
            let service = Arc::new(self.service(server));
            let (jobs, meeting) = (service.clone(), meeting.clone());
            let mut over = stopped.clone();
            threads.push(thread::spawn(move || {
                on_runtime(async {
                    let options = Options { timeout: Duration::from_secs(20), ..Options::default() };
                    let place = match server {
                        Server::Generator => Place::Listen(Listener::bind(&meeting).await.expect("it is free")),
                        Server::Cloud => Place::Connect(meeting),
                    };
                    let mut rng = Prg::random(&mut rand::rng());
                    tokio::select! {
                        error = jobs.run_jobs(&place, &options, &mut rng) => {
                            panic!("{}", error.expect_err("it ends with an error"))
                        }
                        _ = over.wait_for(|over| *over) => {}
                    }
                });
            }));
            let (address, told) = std::sync::mpsc::channel();
            let mut over = stopped.clone();
            threads.push(thread::spawn(move || {
                on_runtime(async {
                    let most = service.agreement().frame_bytes_max();
                    let entrance = Entrance {
                        tls: None,
                        plain: true,
                        origins: None,
                        message_bytes_max: most,
                        timeout: Duration::from_secs(20),
                    };
                    let visitors = Visitors::bind("127.0.0.1:0", entrance, None).await.expect("a free port");
                    address.send(visitors.address().to_string()).expect("it is waited for");
                    tokio::select! {
                        error = service.welcome(visitors, Prg::random(&mut rand::rng())) => {
                            panic!("{}", error.expect_err("it ends with an error"))
                        }
                        _ = over.wait_for(|over| *over) => {}
                    }
                });
            }));
            addresses.push(told.recv().expect("it listens"));
        }
        let addresses = addresses.try_into().expect("two");
        Running { stop, threads, addresses }
    }

    fn client(&self, name: &str) -> Client<'_> {
        let at = CLIENTS.iter().position(|client| *client == name).expect("a client");
        let invitations = Server::BOTH.map(|server| {
            let secret = Secret::from_bytes(self.secrets[server as usize][at]);
            Invitation::with_secret(self.agreement.server(server), &server.to_string(), name, secret).expect("a name")
        });
        Client { world: self, name: name.into(), invitations, receipt: Receipt::first("sum") }
    }

    /// The lines of a server's log that say this.
    fn told(&self, words: &str) -> usize {
        self.log.lock().expect("no panic").iter().filter(|line| line.contains(words)).count()
    }
}

/// Servers that run until they are dropped.
struct Running {
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
    addresses: [String; 2],
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "a server has panicked");
        }
    }
}

/// A client with its receipt.
struct Client<'a> {
    world: &'a World,
    name: String,
    invitations: [Invitation; 2],
    receipt: Receipt,
}

impl Client<'_> {
    /// The job of an offer for the version of the state that this client knows.
    fn job(&self, offer: &str) -> Job {
        self.job_at(offer, &[&self.name], self.receipt.version())
    }

    fn job_at(&self, offer: &str, clients: &[&str], version: u64) -> Job {
        let clients: Vec<String> = clients.iter().map(|name| name.to_string()).collect();
        let job = self.world.agreement.job(offer, &clients, "", 1).expect("an offer");
        // What is read has been kept at least once.
        let version = if offer == "start" { version } else { version.max(1) };
        Job::new(job.terms().clone().at_version("sum", version)).expect("a job")
    }

    fn receipt_for(&self, job: &Job) -> Receipt {
        match job.state() {
            Some(_) => self.receipt.clone(),
            None => Receipt::first("").with_counter(self.receipt.counter()),
        }
    }

    /// Deals inputs, and notes that the counter is used.
    fn begin(&mut self, job: &Job, values: &[u128]) -> Begun {
        let party = job.client(&self.invitations[0].identity()).expect("a client");
        let values: Vec<Bits> = values.iter().map(|value| Bits::from_u128(*value, 8)).collect();
        let input = job.join_inputs(party, &values).expect("they fit");
        let [generator, cloud] = &self.invitations;
        let begun = Visit::begin(job, [generator, cloud], &self.receipt_for(job), &input, &mut rand::rng());
        let begun = begun.expect("they go together");
        self.receipt = self.receipt.clone().with_counter(begun.receipt.counter());
        begun
    }

    fn hear(&mut self, running: &Running, visit: Visit, frames: [&[u8]; 2]) -> Result<Option<u128>, Unanswered> {
        let way =
            Call { server: None, patience: Duration::from_secs(20), timeout: Duration::from_secs(20), ..call_of() };
        let ways = [0, 1].map(|at| WayTo { call: &way, address: &running.addresses[at], frame: frames[at] });
        let opened = on_runtime(call(visit, ways))?;
        if opened.receipt().state() == "sum" {
            self.receipt = opened.receipt().clone();
        }
        self.receipt = self.receipt.clone().with_counter(opened.receipt().counter());
        Ok(opened.output.to_u128().filter(|_| !opened.output.is_empty()))
    }

    fn visit_as(&mut self, running: &Running, job: &Job, values: &[u128]) -> Result<Option<u128>, Unanswered> {
        let Begun { visit, to_generator, to_cloud, .. } = self.begin(job, values);
        self.hear(running, visit, [&to_generator, &to_cloud])
    }

    /// Visits both servers, again if the state has another version now.
    fn visit(&mut self, running: &Running, offer: &str, values: &[u128]) -> Result<Option<u128>, Unanswered> {
        let mut job = self.job(offer);
        for _ in 0..8 {
            match self.visit_as(running, &job, values) {
                Err(unanswered) => match unanswered.rejected.state_now() {
                    Some((version, _)) if version != self.receipt.version().max(1) || job.state().is_some() => {
                        job = self.job_at(offer, &[&self.name.clone()], version);
                    }
                    _ => return Err(unanswered),
                },
                ended => return ended,
            }
        }
        panic!("others are always faster");
    }
}

fn call_of() -> Call {
    Call::new(Identity::generate(&mut Prg::new(Block::from_u128(5))).fingerprint())
}

fn on_runtime<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// The reason that both servers give.
fn reason(ended: Result<Option<u128>, Unanswered>) -> [Option<Reason>; 2] {
    let unanswered = ended.expect_err("there is no output");
    let Rejected::Unanswered { generator, cloud } = unanswered.rejected else { panic!("{unanswered}") };
    [generator, cloud].map(|said| match *said {
        Said::Refusal(refusal) => Some(refusal.reason),
        Said::Unproven(reason) => Some(reason),
        _ => None,
    })
}

#[test]
fn clients_come_one_after_another_and_have_what_the_plain_sums_are() {
    let world = World::new(Limits::default());
    let running = world.start();
    let [mut anna, mut bo] = ["anna", "bo"].map(|name| world.client(name));
    assert_eq!(anna.visit(&running, "start", &[5, 1]).expect("answered"), None);
    assert_eq!(bo.visit(&running, "show", &[0]).expect("answered"), Some(6));
    for value in 1..5 {
        // Bo does not know what anna has made meanwhile: the servers tell both of them.
        assert_eq!(anna.visit(&running, "add", &[value]).expect("answered"), None);
        assert_eq!(bo.visit(&running, "add", &[10 * value]).expect("answered"), None);
    }
    assert_eq!(anna.visit(&running, "show", &[0]).expect("answered"), Some(6 + 11 * 10));
    assert_eq!((anna.receipt.version(), bo.receipt.version()), (9, 9));
    // The servers stop, and go on where they were.
    drop(running);
    let running = world.start();
    assert_eq!(anna.visit(&running, "add", &[1]).expect("answered"), None);
    assert_eq!(bo.visit(&running, "show", &[100]).expect("answered"), Some(217));
}

#[test]
fn several_clients_have_one_run_and_servers_have_inputs_and_outputs() {
    let world = World::new(Limits::default());
    let running = world.start();
    let [mut anna, mut bo] = ["anna", "bo"].map(|name| world.client(name));
    let job = anna.job_at("both", &["anna", "bo"], 1);
    let begun = [anna.begin(&job, &[70]), bo.begin(&job, &[7])];
    let sums: Vec<Option<u128>> = thread::scope(|scope| {
        let visits = [&mut anna, &mut bo].into_iter().zip(begun).map(|(client, begun)| {
            let running = &running;
            scope.spawn(move || {
                client.hear(running, begun.visit, [&begun.to_generator, &begun.to_cloud]).expect("answered")
            })
        });
        let visits: Vec<_> = visits.collect();
        visits.into_iter().map(|visit| visit.join().expect("no panic")).collect()
    });
    assert_eq!(sums, [Some(77), Some(77)]);
    assert_eq!(anna.visit(&running, "ours", &[2]).expect("answered"), Some(42));
    drop(running);
    assert_eq!((world.told("ran ours for anna: [42]"), world.told("ran both for anna, bo: []")), (2, 2));
}

/// Both servers keep the answers, so that a client which was cut off, or died, has them later.
#[test]
fn an_answer_is_given_again_also_by_servers_that_were_started_again() {
    let world = World::new(Limits::default());
    let running = world.start();
    let mut anna = world.client("anna");
    anna.visit(&running, "start", &[5, 1]).expect("answered");
    let job = anna.job("show");
    let Begun { visit, to_generator, to_cloud, .. } = anna.begin(&job, &[3]);
    let (pending, frames) = (visit.pending().encode(), [&to_generator[..], &to_cloud]);
    assert_eq!(anna.hear(&running, visit, frames).expect("answered"), Some(9));
    let again = |anna: &mut Client<'_>, running: &Running| {
        let pending = client::Pending::decode(&pending).expect("it was saved");
        let [generator, cloud] = &anna.invitations;
        let secrets = [&generator.secret, &cloud.secret];
        let visit = Visit::resume(pending, anna.receipt.clone(), frames, secrets).expect("it is of this visit");
        anna.hear(running, visit, frames)
    };
    assert_eq!(again(&mut anna, &running).expect("answered"), Some(9));
    drop(running);
    let running = world.start();
    assert_eq!(again(&mut anna, &running).expect("answered"), Some(9));
    // It was not run again.
    assert_eq!(world.told("ran show for anna"), 2);
    anna.visit(&running, "add", &[1]).expect("answered");
    assert_eq!(reason(again(&mut anna, &running)), [Some(Reason::OldCounter); 2]);
}

#[test]
fn what_is_not_agreed_is_refused() {
    let world = World::new(Limits::default());
    let running = world.start();
    let [mut anna, mut bo] = ["anna", "bo"].map(|name| world.client(name));
    anna.visit(&running, "start", &[5, 1]).expect("answered");
    // A state is begun once.
    let again = bo.job_at("start", &["bo"], 0);
    assert_eq!(reason(bo.visit_as(&running, &again, &[0, 0])), [Some(Reason::Policy); 2]);
    let later = bo.job_at("start", &["bo"], 1);
    assert_eq!(reason(bo.visit_as(&running, &later, &[0, 0])), [Some(Reason::Policy); 2]);
    // Another client in the place of one.
    let swapped = bo.job_at("both", &["bo", "anna"], 1);
    assert_eq!(reason(bo.visit_as(&running, &swapped, &[1])), [Some(Reason::Policy); 2]);
    // Another program, and another output of the same.
    for terms in [
        client::Terms { program: [7; 32], ..anna.job("show").terms().clone() },
        client::Terms { statistical: client::Statistical::Eighty, ..anna.job("show").terms().clone() },
    ] {
        let job = Job::new(terms).expect("a job");
        assert_eq!(reason(anna.visit_as(&running, &job, &[1])), [Some(Reason::OtherJob); 2]);
    }
    // A counter that was used, with other bytes.
    let before = anna.receipt.clone();
    anna.visit(&running, "show", &[1]).expect("answered");
    anna.receipt = before;
    let job = anna.job("show");
    assert_eq!(reason(anna.visit_as(&running, &job, &[1])), [Some(Reason::OldCounter); 2]);
    // Nobody the servers know, and what cannot be read.
    let begun = anna.begin(&job, &[1]);
    let strange = [&begun.to_generator, &begun.to_cloud].map(|frame| {
        let submit = Submit::decode(frame).expect("a frame");
        Submit { client: client::Identity::of_client("nobody"), ..submit }.encode()
    });
    let [generator, cloud] = &strange;
    assert_eq!(reason(anna.hear(&running, begun.visit, [generator, cloud])), [Some(Reason::Unreadable); 2]);
    let begun = anna.begin(&job, &[1]);
    let swapped = [&begun.to_cloud[..], &begun.to_generator];
    assert_eq!(reason(anna.hear(&running, begun.visit, swapped)), [Some(Reason::Unreadable); 2]);
    assert_eq!(anna.visit(&running, "show", &[0]).expect("answered"), Some(6));
}

/// A client whose shares do not have the hashes that it dealt is found out; it is named and others go on.
#[test]
fn who_deals_what_does_not_fit_is_refused_and_shut_out_in_the_end() {
    let world = World::new(Limits::default());
    let running = world.start();
    let [mut anna, mut bo] = ["anna", "bo"].map(|name| world.client(name));
    anna.visit(&running, "start", &[5, 1]).expect("answered");
    // Halves of two dealings, each with the counter of the other.
    let lie = |anna: &mut Client<'_>| {
        let job = anna.job("show");
        let before = anna.receipt.clone();
        let one = anna.begin(&job, &[1]);
        anna.receipt = before;
        let other = anna.begin(&job, &[2]);
        let frames = [&one.to_generator[..], &other.to_cloud];
        anna.hear(&running, other.visit, frames)
    };
    let [of_generator, of_cloud] = reason(lie(&mut anna));
    assert!([of_generator, of_cloud].contains(&Some(Reason::WrongChallenge)), "{of_generator:?} {of_cloud:?}");
    assert_eq!(bo.visit(&running, "show", &[0]).expect("answered"), Some(6));
    for _ in 1..16 {
        lie(&mut anna).expect_err("it is refused");
    }
    let shut_out = reason(anna.visit(&running, "show", &[0]));
    assert!(shut_out.contains(&Some(Reason::Policy)), "{shut_out:?}");
    assert_eq!(bo.visit(&running, "show", &[0]).expect("answered"), Some(6));
}

#[test]
fn a_version_is_read_as_often_as_is_agreed() {
    let world = World::new(Limits { reads: Some(2), ..Limits::default() });
    let running = world.start();
    let mut anna = world.client("anna");
    anna.visit(&running, "start", &[5, 1]).expect("answered");
    for _ in 0..2 {
        for _ in 0..2 {
            anna.visit(&running, "show", &[0]).expect("answered");
        }
        assert_eq!(reason(anna.visit(&running, "show", &[0])), [Some(Reason::Policy); 2]);
        anna.visit(&running, "add", &[0]).expect("answered");
    }
}

/// Many clients in turn, whose records and replies do not make the stores grow.
#[test]
fn many_visits_leave_stores_as_large_as_few() {
    let world = World::new(Limits::default());
    let running = world.start();
    let mut anna = world.client("anna");
    anna.visit(&running, "start", &[0, 0]).expect("answered");
    let rounds = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 1000 } else { 40 };
    let size = |server: Server| {
        let files = std::fs::read_dir(world.folder.path().join(server.to_string())).expect("a store");
        files.map(|file| file.and_then(|file| file.metadata()).map_or(0, |meta| meta.len())).sum::<u64>()
    };
    let mut after_some = [0; 2];
    for round in 0..rounds {
        let mut client = world.client(CLIENTS[round % CLIENTS.len()]);
        client.receipt = anna.receipt.clone();
        client.visit(&running, "add", &[1]).expect("answered");
        anna.receipt = client.receipt.clone();
        if round == rounds / 2 {
            after_some = Server::BOTH.map(size);
        }
    }
    assert_eq!(anna.visit(&running, "show", &[0]).expect("answered"), Some(rounds as u128 % 256));
    for (before, after) in after_some.into_iter().zip(Server::BOTH.map(size)) {
        assert!(after < before + (1 << 20), "{before} bytes, then {after}");
    }
}
