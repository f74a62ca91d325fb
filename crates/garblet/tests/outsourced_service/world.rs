//! Two servers that can be started and stopped, and those who visit them.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::TcpStream,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
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
    store::{StoreKey, testing::open_hooked},
};
use garblet_client::{self as client, Begun, Invitation, Job, Receipt, Secret, Server, Visit};
use garblet_primitives::{Block, Prg};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
    sync::watch,
};

pub(crate) const CLIENTS: [&str; 3] = ["anna", "bo", "cleo"];

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
pub(crate) struct World {
    pub(crate) agreement: Arc<Agreement>,
    /// The folder of both stores.
    pub(crate) folder: PathBuf,
    secrets: [Vec<[u8; 32]>; 2],
    /// Lines of both logs.
    log: Arc<Mutex<Vec<String>>>,
    /// Hears of each write of a store before it.
    hook: Hook,
    /// Set if the folder is gone with the world.
    _temporary: Option<tempfile::TempDir>,
}

/// Hears of a write before it.
pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

impl World {
    pub(crate) fn new(limits: Limits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let world = World::at(folder.path().into(), limits, Arc::new(|| ()));
        World { _temporary: Some(folder), ..world }
    }

    /// The same in a folder that stays, and in which a world may have been.
    pub(crate) fn at(folder: PathBuf, limits: Limits, hook: Hook) -> Self {
        let mut rng = Prg::new(Block::from_u128(5));
        let servers = [(); 2].map(|()| client::Identity(Identity::generate(&mut rng).public_key()));
        let clients = CLIENTS.map(String::from).to_vec();
        let limits = BTreeMap::from([("sum".to_string(), limits)]);
        let service = ServiceId([3; 16]);
        let agreement =
            Agreement::new(service, servers, clients, offers(), limits, Default::default()).expect("it fits");
        let secrets =
            [1, 2].map(|server: u8| (0..CLIENTS.len() as u8).map(|client| [16 * server + client; 32]).collect());
        World { agreement: Arc::new(agreement), folder, secrets, log: Arc::default(), hook, _temporary: None }
    }

    fn service(&self, server: Server) -> Service {
        let at = server as usize;
        let secrets = self.secrets[at].iter().map(|bytes| Secret::from_bytes(*bytes)).collect();
        // The same whenever a server comes again.
        let key = StoreKey::generate(&mut Prg::new(Block::from_u128(at as u128)));
        let (path, hook) = (self.folder.join(server.to_string()), self.hook.clone());
        let open = Box::new(move || {
            let hook = hook.clone();
            let heard = move |_: &'static str| {
                hook();
                Ok(())
            };
            Ok(open_hooked(&path, &key, &mut rand::rng(), heard)?)
        });
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
        Service::new(ready, secrets, inputs, (&OrderRequest::default(), open), hear, &mut rand::rng())
            .expect("a service")
    }

    /// Starts both servers.
    pub(crate) fn start(&self) -> Running {
        let meeting = free_address();
        let (stop, stopped) = watch::channel(false);
        let mut threads = Vec::new();
        let addresses = Server::BOTH.map(|server| {
            let (of_server, address) = self.serve(server, meeting.clone(), &stopped);
            threads.extend(of_server);
            address
        });
        Running { stop, threads, addresses }
    }

    /// Starts a server, which ends when it is told to; the address where clients are let in.
    pub(crate) fn serve(
        &self,
        server: Server,
        meeting: String,
        stopped: &watch::Receiver<bool>,
    ) -> ([JoinHandle<()>; 2], String) {
        let service = Arc::new(self.service(server));
        let (jobs, mut over) = (service.clone(), stopped.clone());
        let jobs = thread::spawn(move || {
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
        });
        let (address, told) = std::sync::mpsc::channel();
        let (entry, mut over) = (free_address(), stopped.clone());
        let visitors = thread::spawn(move || {
            on_runtime(async {
                let most = service.agreement().frame_bytes_max();
                let entrance = Entrance {
                    tls: None,
                    plain: true,
                    origins: None,
                    message_bytes_max: most,
                    timeout: Duration::from_secs(20),
                };
                let visitors = Visitors::bind(&entry, entrance, None).await.expect("a free port");
                address.send(visitors.address().to_string()).expect("it is waited for");
                tokio::select! {
                    error = service.welcome(visitors, Prg::random(&mut rand::rng())) => {
                        panic!("{}", error.expect_err("it ends with an error"))
                    }
                    _ = over.wait_for(|over| *over) => {}
                }
            });
        });
        ([jobs, visitors], told.recv().expect("it listens"))
    }

    pub(crate) fn client(&self, name: &str) -> Client<'_> {
        let at = CLIENTS.iter().position(|client| *client == name).expect("a client");
        let invitations = Server::BOTH.map(|server| {
            let secret = Secret::from_bytes(self.secrets[server as usize][at]);
            Invitation::with_secret(self.agreement.server(server), &server.to_string(), name, secret).expect("a name")
        });
        Client { world: self, name: name.into(), invitations, receipt: Receipt::first("sum") }
    }

    /// The lines of a server's log that say this.
    pub(crate) fn told(&self, words: &str) -> usize {
        self.log.lock().expect("no panic").iter().filter(|line| line.contains(words)).count()
    }
}

/// Servers that run until they are dropped.
pub(crate) struct Running {
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) threads: Vec<JoinHandle<()>>,
    pub(crate) addresses: [String; 2],
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
pub(crate) struct Client<'a> {
    pub(crate) world: &'a World,
    name: String,
    pub(crate) invitations: [Invitation; 2],
    pub(crate) receipt: Receipt,
}

impl Client<'_> {
    /// The job of an offer for the version of the state that this client knows.
    pub(crate) fn job(&self, offer: &str) -> Job {
        self.job_at(offer, &[&self.name], self.receipt.version())
    }

    pub(crate) fn job_at(&self, offer: &str, clients: &[&str], version: u64) -> Job {
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
    pub(crate) fn begin(&mut self, job: &Job, values: &[u128]) -> Begun {
        let party = job.client(&self.invitations[0].identity()).expect("a client");
        let values: Vec<Bits> = values.iter().map(|value| Bits::from_u128(*value, 8)).collect();
        let input = job.join_inputs(party, &values).expect("they fit");
        let [generator, cloud] = &self.invitations;
        let begun = Visit::begin(job, [generator, cloud], &self.receipt_for(job), &input, &mut rand::rng());
        let begun = begun.expect("they go together");
        self.receipt = self.receipt.clone().with_counter(begun.receipt.counter());
        begun
    }

    pub(crate) fn hear(
        &mut self,
        running: &Running,
        visit: Visit,
        frames: [&[u8]; 2],
    ) -> Result<Option<u128>, Unanswered> {
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

    /// Goes on with a visit that was saved.
    pub(crate) fn resume(
        &mut self,
        running: &Running,
        pending: &[u8],
        frames: [&[u8]; 2],
    ) -> Result<Option<u128>, Unanswered> {
        let pending = client::Pending::decode(pending).expect("it was saved");
        let [generator, cloud] = &self.invitations;
        let secrets = [&generator.secret, &cloud.secret];
        let visit = Visit::resume(pending, self.receipt.clone(), frames, secrets).expect("it is of this visit");
        self.hear(running, visit, frames)
    }

    pub(crate) fn visit_as(
        &mut self,
        running: &Running,
        job: &Job,
        values: &[u128],
    ) -> Result<Option<u128>, Unanswered> {
        let Begun { visit, to_generator, to_cloud, .. } = self.begin(job, values);
        self.hear(running, visit, [&to_generator, &to_cloud])
    }

    /// Visits both servers, again if the state has another version now.
    pub(crate) fn visit(
        &mut self,
        running: &Running,
        offer: &str,
        values: &[u128],
    ) -> Result<Option<u128>, Unanswered> {
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

/// Connections of strangers from another address, each of whom has said something that is no client's.
pub(crate) fn strangers(address: &str, count: usize) -> Vec<TcpStream> {
    let to = address.parse().expect("an address");
    let come = || async move {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind("127.0.0.2:0".parse().expect("an address")).expect("it is this machine's");
        let mut stream = socket.connect(to).await.expect("it listens");
        // What a program says before its messages, and one of three bytes.
        stream.write_all(b"\xc8gv\x01\x03\0\0\0bad").await.expect("it is taken");
        // It has been heard, or put out.
        let _ = stream.read(&mut [0]).await;
        stream.into_std().expect("a socket")
    };
    on_runtime(async {
        let mut here = Vec::with_capacity(count);
        while here.len() < count {
            // As many as are heard side by side.
            let few: Vec<_> = (0..50).map(|_| tokio::spawn(come())).collect();
            for stranger in few {
                here.push(stranger.await.expect("no panic"));
            }
        }
        here
    })
}

/// An address that nobody listens at now, and that nobody else in this process got: servers that are killed come back to theirs, and lives go on side by side. All
/// listeners have theirs from here: one at any free port could take an address that was given and is not yet listened at.
pub(crate) fn free_address() -> String {
    static GIVEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    loop {
        let address = on_runtime(async { Listener::bind("127.0.0.1:0").await.expect("a port").address().to_string() });
        if GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(address.clone()) {
            return address;
        }
    }
}

pub(crate) fn on_runtime<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}
