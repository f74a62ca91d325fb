//! One party's end of a session.

use std::{
    path::PathBuf,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use garblet::{
    Collusion, Config, Error, Party, Plan, ReadInput, SavedValues,
    formats::value::Arrange,
    meet::{Meeting, Peers, Way},
    net::{Fingerprint, JobTerms, Options, PeersFile, SessionName},
};
use garblet_console::{
    args::Param,
    configuration::check_unwritable_with_folders,
    job,
    output::heard,
    receipts::{ReceiptArgs, Receipts},
    settings::Settings,
    way::check_address,
};
use pyo3::{prelude::*, types::PyDict};
use tokio::sync::mpsc;

use crate::{
    fault::{Fault, advice},
    identity::Identity,
    job::{Job, fingerprints},
    leaving::Call,
    party::{Answer, Command, Seat, closed, live},
    program::Program,
    receipt::Recorder,
    store::Place,
    subject, value,
    value::How,
    waiting::{GRACE, Left, Waiting, beside, waiting},
};

/// The longest time to wait, as in the command.
const TIME_MAX: Duration = Duration::from_secs(24 * 3600);

/// The settings of a session, which `python/garblet/session.py` has checked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Arguments<'py> {
    pub(crate) party: Option<u16>,
    pub(crate) job: Option<Bound<'py, Job>>,
    /// The rows of a batch under a job.
    pub(crate) rows: Option<u32>,
    /// The order of lists: `check`, `sort` or `sum-by-key`.
    arrange: String,
    receipts: Option<PathBuf>,
    receipt_outputs: bool,
    listen: Option<String>,
    connect: Option<String>,
    peers: Option<PathBuf>,
    identity: Option<Bound<'py, Identity>>,
    pub(crate) trust: Vec<(String, String)>,
    pub(crate) insecure_plain_tcp: bool,
    session: Option<String>,
    protocol: String,
    params: Vec<(String, String)>,
    store: Option<Place>,
    /// The name under which the store keeps the outputs.
    keep: Option<String>,
    /// The inputs that are read from the store, each with `NAME` or `NAME.OUTPUT`.
    read: Vec<(String, String)>,
    timeout: f64,
    patience: Option<f64>,
}

/// The protocol of that name with these parameters.
pub(crate) fn config(protocol: &str, params: &[(String, String)]) -> Result<Config, Fault> {
    let mut config = Config::of(protocol.parse().map_err(Fault::usage)?);
    for (name, value) in params {
        config.set(name, value).map_err(|error| Fault::usage(format!("params: {error}")))?;
    }
    Ok(config)
}

/// The same for a run. It refuses protocols of servers and clients, whose roles this package does not know.
pub(crate) fn config_of_run(protocol: &str, params: &[(String, String)]) -> Result<Config, Fault> {
    let config = config(protocol, params)?;
    own_protocol(&config).map(|()| config)
}

/// Refuses protocols of servers and clients.
pub(crate) fn own_protocol(config: &Config) -> Result<(), Fault> {
    match config.protocol().collusion() {
        None | Some(Collusion::AnyTwo) => Ok(()),
        Some(Collusion::BothServers) => {
            let what = format!("protocol: no session of Python runs {}", config.protocol());
            Err(Fault::usage(what)
                .hint("be a client of two servers with visit(); the command is a server: garblet serve"))
        }
    }
}

impl Arguments<'_> {
    /// The meeting place of the parties, and their number.
    pub(crate) fn meeting(
        &self,
        config: &Config,
        party: Party,
        job: Option<&job::Job>,
    ) -> Result<(Meeting, u16), Fault> {
        let protocol = config.protocol();
        self.listen.iter().chain(&self.connect).try_for_each(|address| check_address(address))?;
        match (protocol.is_mesh(), &self.peers, &self.listen, &self.connect) {
            (false, None, Some(address), None) => Ok((Meeting::Listen(address.clone()), 2)),
            (false, None, None, Some(address)) => Ok((Meeting::Connect(address.clone()), 2)),
            (false, ..) => {
                Err(Fault::usage(format!("{protocol} has one peer: expected exactly one of listen= and connect=")))
            }
            (true, Some(file), listen, None) => {
                let peers = PeersFile::open(file).map_err(|error| Fault::from(&error))?;
                check_unwritable_with_folders(file)?;
                let peers = job.map_or(Ok(peers.clone()), |job| job.pin(peers))?;
                let count = peers.party_count();
                let peers = Peers::new(party, peers, listen.clone()).map_err(|error| Fault::from(&error))?;
                Ok((Meeting::Peers(peers), count))
            }
            (true, ..) => Err(Fault::usage(format!("{protocol} needs a peers file with the addresses of all parties"))
                .hint("give peers=, a TOML file with a table [[party]] for each party")),
        }
    }

    /// The way to the others: with identities, unless it is plain TCP on this machine.
    fn way(&self, meeting: Meeting) -> Result<Way, Fault> {
        let session = self.session_name()?;
        if self.insecure_plain_tcp {
            return Way::plain(meeting, session).map_err(|error| Fault::from(&error));
        }
        Way::pinned(meeting, self.own_identity()?, self.trusted()?, session).map_err(|error| Fault::from(&error))
    }

    /// This party's identity.
    ///
    /// *Errors*: none is given, or its file has changed.
    pub(crate) fn own_identity(&self) -> Result<garblet::net::Identity, Fault> {
        let identity = self.identity.as_ref().ok_or_else(|| {
            Fault::usage("there is no identity")
                .hint("give identity= and trust=, or insecure_plain_tcp=True on one machine")
        })?;
        identity.get().again()
    }

    /// The name of the session, if it has one.
    pub(crate) fn session_name(&self) -> Result<Option<SessionName>, Fault> {
        let session = self.session.as_ref().map(|name| name.parse()).transpose();
        session.map_err(|error| Fault::usage(format!("session: {error}")))
    }

    /// The peers by name.
    pub(crate) fn trusted(&self) -> Result<Vec<(String, Fingerprint)>, Fault> {
        fingerprints(&self.trust)
    }

    /// The store, and the peer to which it belongs.
    ///
    /// *Errors*: a protocol without stores.
    pub(crate) fn place(&self, config: &Config, way: &Way) -> Result<Option<(Place, String)>, Fault> {
        match self.store.clone() {
            Some(_) if config.stock().is_none() => {
                Err(Fault::usage(format!("store: {} uses no store", config.protocol())))
            }
            Some(place) => Ok(Some((place, way.mark().map_err(|error| Fault::from(&error))?.to_string()))),
            None => Ok(None),
        }
    }

    /// The log of receipts, if the run has one.
    ///
    /// *Errors*: a log that cannot be written.
    pub(crate) fn receipt_log(&self, job: Option<&JobTerms>) -> Result<Option<Receipts>, Fault> {
        Ok(ReceiptArgs::new(self.receipts.clone(), self.receipt_outputs).open(job)?)
    }

    fn arrange(&self) -> Arrange {
        match &self.arrange[..] {
            "sort" => Arrange::Sort,
            "sum-by-key" => Arrange::SumByKey,
            _ => Arrange::Check,
        }
    }

    /// The values that runs take from the store and leave there.
    fn saved(&self) -> Result<SavedValues, Fault> {
        let read = self.read.iter().map(|(port, kept)| ReadInput::parse(port, kept));
        let read: Result<Vec<ReadInput>, Error> = read.collect();
        Ok(SavedValues { keep: self.keep.clone(), read: read.map_err(|error| Fault::usage(format!("read: {error}")))? })
    }

    pub(crate) fn options(&self) -> Result<Options, Fault> {
        let timeout = seconds("timeout", self.timeout)?;
        let patience = self.patience.map_or(Ok(timeout), |patience| seconds("patience", patience))?;
        let advice: Option<garblet::net::Advice> = Some(advice);
        Ok(Options { patience, timeout, advice, ..Options::default() })
    }
}

pub(crate) fn seconds(name: &str, given: f64) -> Result<Duration, Fault> {
    let time = Duration::try_from_secs_f64(given).ok().filter(|time| !time.is_zero() && *time <= TIME_MAX);
    time.ok_or_else(|| {
        Fault::usage(format!("{name}: expected seconds, more than 0 and at most {}, got {given}", TIME_MAX.as_secs()))
    })
}

/// The native part of a session. One thread at a time may call it; `cancel` is an exception.
#[pyclass(frozen, module = "garblet._garblet")]
pub(crate) struct Session {
    commands: mpsc::UnboundedSender<Command>,
    waiting: Waiting<Answer>,
    /// The program as it runs.
    program: Arc<garblet::Program>,
    /// The same without the inputs that are read from the store.
    asked: garblet::Program,
    how: How,
    party: Party,
    address: Option<String>,
    thread: JoinHandle<()>,
    /// The process that owns the thread.
    process: u32,
}

#[pymethods]
impl Session {
    /// Prepares the program and binds the address. No peer is connected yet.
    #[new]
    fn new(
        py: Python<'_>,
        program: &Bound<'_, Program>,
        arguments: Arguments<'_>,
        hear: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let program = program.get().0.clone();
        let saved = arguments.saved().map_err(|fault| fault.raise(py))?;
        let (seat, keys) = match &arguments.job {
            Some(job) => subject::seat(py, &job.get().0, &program, &arguments)?,
            None => (seat(py, &program, &arguments, saved.clone())?, None),
        };
        let how = How { keys, arrange: arguments.arrange() };
        let (party, program) = (seat.party, seat.plan.program().clone());
        let asked = saved.asked(&program).map_err(|error| Fault::from(&error).raise(py))?;
        let (commands, told) = mpsc::unbounded_channel();
        let (waiting, working) = waiting();
        let begun = std::thread::Builder::new().name("garblet party".into()).spawn(move || {
            // Without a runtime the other end hears that nobody is there.
            if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
                runtime.block_on(live(seat, told, working));
            }
        });
        let thread = begun.map_err(|error| Fault::usage(format!("a thread cannot be started: {error}")).raise(py))?;
        let process = std::process::id();
        let mut session = Session { commands, waiting, program, asked, how, party, address: None, thread, process };
        if let Answer::Bound(address) = session.ask(py, Command::Bind, hear)? {
            session.address = address;
        }
        Ok(session)
    }

    /// The address where it listens, with the port that the system chose.
    #[getter]
    fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    /// The program whose inputs have the types that this party gives.
    #[getter]
    fn given(&self, py: Python<'_>) -> PyResult<Program> {
        let given = self.how.given(&self.asked).map_err(|fault| fault.raise(py))?;
        Ok(Program(Arc::new(given.into_owned())))
    }

    /// Prepares runs before the inputs are known.
    fn prepare(&self, py: Python<'_>, runs: u32, hear: &Bound<'_, PyAny>) -> PyResult<()> {
        self.ask(py, Command::Prepare(runs), hear).map(drop)
    }

    /// Executes one run.
    fn run<'py>(&self, py: Python<'py>, inputs: &str, hear: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let read = || heard(|| value::of_party(&self.asked, self.party, inputs, &self.how));
        let (inputs, told) = Call::new().detach(py, read);
        for words in told {
            hear.call1(("told", words))?;
        }
        let inputs = inputs.map_err(|fault| fault.raise(py))?;
        let (answer, left) = match self.ask_or_leave(py, Command::Run(inputs), hear) {
            Ok(answer) => (answer, None),
            Err(Left { error, answer: Some(answer) }) => (*answer, Some(error)),
            Err(Left { error, answer: None }) => return Err(error),
        };
        let Answer::Ran(ran, unrecorded) = answer else {
            return Err(Fault::usage("a party gave another answer: this is a bug").raise(py));
        };
        let said = ran.say(py, &self.program);
        let unrecorded = unrecorded.map(|fault| fault.raise(py));
        let wrong = match (left, unrecorded) {
            (Some(left), Some(unrecorded)) => {
                left.set_cause(py, Some(unrecorded));
                Some(left)
            }
            (left, unrecorded) => left.or(unrecorded),
        };
        // An error after the outcome has the results, or the panic as its cause.
        match (wrong, said) {
            (None, said) => said,
            (Some(error), Ok(said)) => error.value(py).setattr("_said", said).and(Err(error)),
            (Some(error), Err(panicked)) => {
                error.set_cause(py, Some(panicked));
                Err(error)
            }
        }
    }

    /// Fills the store together with the others' stores. Returns the number of discarded pieces.
    fn fill(&self, py: Python<'_>, amounts: Vec<(String, u64)>, hear: &Bound<'_, PyAny>) -> PyResult<u64> {
        match self.ask(py, Command::Fill(amounts), hear)? {
            Answer::Filled(lost) => Ok(lost),
            _ => Ok(0),
        }
    }

    /// Closes the session in order. Returns the error that came after the result, if any.
    fn close<'py>(&self, py: Python<'py>, hear: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.ask(py, Command::Close, hear)? {
            Answer::Closed(Some(closing)) => closing.exception(py).map(Some),
            _ => Ok(None),
        }
    }

    /// Aborts, including the task of another thread, and tells the others unless this party computes for too long.
    fn abort(&self, py: Python<'_>) {
        if self.is_elsewhere() {
            return;
        }
        self.waiting.cancel();
        // It may have ended by itself.
        let _ = self.commands.send(Command::Abort);
        Call::new().detach(py, || {
            let begin = Instant::now();
            while !self.thread.is_finished() && begin.elapsed() < GRACE {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
    }

    /// True once it was aborted.
    #[getter]
    fn given_up(&self) -> bool {
        self.waiting.is_cancelled()
    }

    /// Aborts the task of another thread.
    fn cancel(&self) {
        if !self.is_elsewhere() {
            self.waiting.cancel();
        }
    }
}

impl Session {
    /// True in a fork of the process that owns the session, where no call would ever return.
    fn is_elsewhere(&self) -> bool {
        std::process::id() != self.process
    }

    fn ask(&self, py: Python<'_>, command: Command, hear: &Bound<'_, PyAny>) -> PyResult<Answer> {
        self.ask_or_leave(py, command, hear).map_err(|left| left.error)
    }

    /// The same. An interrupted call may still have its answer.
    fn ask_or_leave(&self, py: Python<'_>, command: Command, hear: &Bound<'_, PyAny>) -> Result<Answer, Left<Answer>> {
        if self.is_elsewhere() {
            let fault = Fault::usage(format!("the session is one of process {}, which was forked", self.process));
            return Err(fault.hint("begin a session in the process that uses it").raise(py).into());
        }
        if self.commands.send(command).is_err() {
            return Err(closed().raise(py).into());
        }
        self.waiting.wait_or_leave(py, hear)
    }
}

fn seat(
    py: Python<'_>,
    program: &Arc<garblet::Program>,
    arguments: &Arguments<'_>,
    saved: SavedValues,
) -> PyResult<Seat> {
    let raise = |fault: Fault| fault.raise(py);
    let config = config_of_run(&arguments.protocol, &arguments.params).map_err(raise)?;
    let party = Party(arguments.party.ok_or_else(|| raise(Fault::usage("party: there is none")))?);
    let (meeting, parties) = arguments.meeting(&config, party, None).map_err(raise)?;
    if party.0 >= parties {
        let wrong = format!("party: there are {parties} parties, 0 to {}, got {party}", parties - 1);
        return Err(raise(Fault::usage(wrong)));
    }
    let way = arguments.way(meeting).map_err(raise)?;
    let options = arguments.options().map_err(raise)?;
    let store = arguments.place(&config, &way).map_err(raise)?;
    let param = |(name, value): &(String, String)| Param { name: name.clone(), value: value.clone() };
    let settings = Settings::of(config.protocol(), arguments.params.iter().map(param).collect(), options.timeout);
    let receipts = arguments.receipt_log(None).map_err(raise)?;
    let identity = way.tls.as_ref().map(garblet::net::Tls::fingerprint);
    let recorder = receipts.map(|receipts| Recorder::new(receipts, settings, identity, saved.clone()));
    let (of, how) = (program.clone(), config.clone());
    let plan =
        beside(py, move || Plan::saving(of, parties, &how, saved))?.map_err(|error| raise(Fault::from(&error)))?;
    Ok(Seat { plan, party, config, way, options, store, recorder, job: None })
}
