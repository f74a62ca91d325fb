//! One party's end of a session.

use std::{
    path::PathBuf,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use garblet::{
    Config, Party, Plan,
    net::{Fingerprint, Options, PeersFile, SessionName, Tls, exposure},
};
use pyo3::{prelude::*, types::PyDict};
use tokio::sync::mpsc;

use crate::{
    fault::{Fault, advice},
    identity::Identity,
    leaving::Call,
    party::{Answer, Command, Meeting, Seat, closed, live},
    program::Program,
    store::Place,
    value,
    waiting::{GRACE, Waiting, beside, waiting},
};

/// The longest time to wait, as the command has it.
const TIME_MAX: Duration = Duration::from_secs(24 * 3600);

/// All that a session is opened with, as `python/garblet/session.py` has checked it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Arguments<'py> {
    party: u16,
    listen: Option<String>,
    connect: Option<String>,
    peers: Option<PathBuf>,
    identity: Option<Bound<'py, Identity>>,
    trust: Vec<(String, String)>,
    insecure_plain_tcp: bool,
    session: Option<String>,
    protocol: String,
    params: Vec<(String, String)>,
    store: Option<Place>,
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

/// The same for a run. Servers and clients have not the same part in one, and this package knows none of theirs.
pub(crate) fn config_of_run(protocol: &str, params: &[(String, String)]) -> Result<Config, Fault> {
    let config = config(protocol, params)?;
    match config.protocol().collusion() {
        None => Ok(config),
        Some(_) => Err(Fault::usage(format!("protocol: {protocol} does not run from Python")).hint(
            "use the command for servers and clients: garblet run --protocol outsourced; or gmw, which has several parties, too",
        )),
    }
}

impl Arguments<'_> {
    /// The place where the parties meet, and how many these are.
    fn meeting(&self, config: &Config) -> Result<(Meeting, u16), Fault> {
        let protocol = config.protocol();
        match (protocol.is_mesh(), &self.peers, &self.listen, &self.connect) {
            (false, None, Some(address), None) => Ok((Meeting::Listen(address.clone()), 2)),
            (false, None, None, Some(address)) => Ok((Meeting::Connect(address.clone()), 2)),
            (false, ..) => {
                Err(Fault::usage(format!("{protocol} has one peer: expected listen= or connect=, and one of them")))
            }
            (true, Some(file), listen, None) => {
                let peers = PeersFile::open(file).map_err(|error| Fault::from(&error))?;
                let count = peers.party_count();
                let Some(own) = peers.parties().get(usize::from(self.party)) else {
                    return Err(Fault::usage(format!("party {}: the peers file has {count} parties", self.party)));
                };
                let address = listen.clone().unwrap_or_else(|| own.address.clone());
                Ok((Meeting::Mesh((self.party + 1 < count).then_some(address), peers), count))
            }
            (true, ..) => Err(Fault::usage(format!("{protocol} needs a peers file, which says where all parties are"))
                .hint("give peers=, a TOML file with a table [[party]] for each party")),
        }
    }

    /// Identities, unless it is plain TCP on this machine; and the peer as a store is marked with it.
    fn tls(&self, meeting: &Meeting) -> Result<(Option<Tls>, String), Fault> {
        if self.insecure_plain_tcp {
            let addresses: Vec<&String> = match meeting {
                Meeting::Listen(address) | Meeting::Connect(address) => vec![address],
                // The address that takes the place of ours in the file is held to the same.
                Meeting::Mesh(_, peers) => {
                    let named = peers.parties().iter().map(|entry| &entry.address);
                    named.chain(&self.listen).collect()
                }
            };
            if let Some((address, exposure)) = addresses.iter().find_map(|address| Some((address, exposure(address)?)))
            {
                let fault = Fault::usage(format!("insecure_plain_tcp: {address} {exposure}"));
                return Err(fault.hint("leave it out, and give identity= and trust="));
            }
            // As the command marks stores of such peers.
            return Ok((
                None,
                match meeting {
                    Meeting::Mesh(_, peers) if peers.party_count() > 2 => {
                        format!("{} peers without identity", peers.party_count() - 1)
                    }
                    _ => "a peer without identity".into(),
                },
            ));
        }
        let identity = self.identity.as_ref().ok_or_else(|| {
            Fault::usage("there is no identity")
                .hint("give identity= and trust=, or insecure_plain_tcp=True on one machine")
        })?;
        let identity = identity.get().again()?;
        if let Meeting::Mesh(_, peers) = meeting {
            let prints: Option<Vec<String>> =
                peers.parties().iter().map(|entry| Some(entry.fingerprint?.to_string())).collect();
            let prints = prints.ok_or_else(|| Fault::usage("the peers file has no fingerprints"))?;
            let own = identity.fingerprint().to_string();
            if prints.get(usize::from(self.party)) != Some(&own) {
                return Err(Fault::usage(format!(
                    "party {} of the peers file has not our fingerprint, {own}",
                    self.party
                )));
            }
            let numbered = prints.iter().enumerate().filter(|(other, _)| *other != usize::from(self.party));
            let names: Vec<String> = numbered.map(|(other, print)| format!("party {other} {print}")).collect();
            return Ok((Some(Tls::new(identity, [])), names.join(", ")));
        }
        let trusted = self.trusted()?;
        let peer = match &trusted[..] {
            [(_, fingerprint)] => fingerprint.to_string(),
            several if matches!(meeting, Meeting::Listen(_)) && !several.is_empty() && self.session.is_none() => {
                let wrong = format!("trust: expected one peer to wait for, got {}", several.len());
                return Err(
                    Fault::usage(wrong).hint("with session= whoever of them comes for that session is the peer")
                );
            }
            [] => return Err(Fault::usage("trust: nobody is trusted").hint("give trust={\"name\": \"fingerprint\"}")),
            _ if self.store.is_some() => {
                return Err(Fault::usage("trust: a store is for one peer, and several are trusted"));
            }
            _ => String::new(),
        };
        Ok((Some(Tls::new(identity, trusted)), peer))
    }

    fn trusted(&self) -> Result<Vec<(String, Fingerprint)>, Fault> {
        let read = |(name, text): &(String, String)| match text.parse() {
            Ok(fingerprint) => Ok((name.clone(), fingerprint)),
            Err(error) => Err(Fault::usage(format!("trust: {name}: {error}"))),
        };
        self.trust.iter().map(read).collect()
    }

    fn options(&self, tls: Option<Tls>) -> Result<Options, Fault> {
        let timeout = seconds("timeout", self.timeout)?;
        let patience = self.patience.map_or(Ok(timeout), |patience| seconds("patience", patience))?;
        let session: Option<Result<SessionName, String>> = self.session.as_ref().map(|name| name.parse());
        let session = session.transpose().map_err(|error| Fault::usage(format!("session: {error}")))?;
        let advice: Option<garblet::net::Advice> = Some(|error| advice(error).map(String::from));
        Ok(Options { patience, timeout, tls, session, advice, ..Options::default() })
    }
}

fn seconds(name: &str, given: f64) -> Result<Duration, Fault> {
    let time = Duration::try_from_secs_f64(given).ok().filter(|time| *time <= TIME_MAX);
    time.ok_or_else(|| Fault::usage(format!("{name}: expected seconds, at most {}, got {given}", TIME_MAX.as_secs())))
}

/// The native part of a session. Its calls are for one thread at a time, but for `cancel`.
#[pyclass(frozen, module = "garblet._garblet")]
pub(crate) struct Session {
    commands: mpsc::UnboundedSender<Command>,
    waiting: Waiting<Answer>,
    program: Arc<garblet::Program>,
    party: Party,
    address: Option<String>,
    thread: JoinHandle<()>,
    /// The process that has the thread.
    process: u32,
}

#[pymethods]
impl Session {
    /// Makes the program ready and takes its place; nobody is met yet.
    #[new]
    fn new(
        py: Python<'_>,
        program: &Bound<'_, Program>,
        arguments: Arguments<'_>,
        hear: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let program = program.get().0.clone();
        let seat = seat(py, &program, &arguments)?;
        let party = seat.party;
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
        let mut session = Session { commands, waiting, program, party, address: None, thread, process };
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

    /// Prepares runs, ahead of inputs.
    fn prepare(&self, py: Python<'_>, runs: u32, hear: &Bound<'_, PyAny>) -> PyResult<()> {
        self.ask(py, Command::Prepare(runs), hear).map(drop)
    }

    /// Runs once.
    fn run<'py>(&self, py: Python<'py>, inputs: &str, hear: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let inputs = Call::new().detach(py, || value::of_party(&self.program, self.party, inputs));
        let inputs = inputs.map_err(|fault| fault.raise(py))?;
        match self.ask(py, Command::Run(inputs), hear)? {
            Answer::Ran(ran) => ran.say(py, &self.program),
            _ => Err(Fault::usage("a party gave another answer: this is a bug").raise(py)),
        }
    }

    /// Fills the store together with the others', and says how many pieces were given up.
    fn fill(&self, py: Python<'_>, amounts: Vec<(String, u64)>, hear: &Bound<'_, PyAny>) -> PyResult<u64> {
        match self.ask(py, Command::Fill(amounts), hear)? {
            Answer::Filled(lost) => Ok(lost),
            _ => Ok(0),
        }
    }

    /// Parts in order. Returns what went wrong after the result.
    fn close<'py>(&self, py: Python<'py>, hear: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.ask(py, Command::Close, hear)? {
            Answer::Closed(Some(closing)) => closing.exception(py).map(Some),
            _ => Ok(None),
        }
    }

    /// Gives up, also what is under way in another thread, and lets the others hear so unless this party computes for too long.
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

    /// Gives up what is under way in another thread.
    fn cancel(&self) {
        if !self.is_elsewhere() {
            self.waiting.cancel();
        }
    }
}

impl Session {
    /// True in a process that was forked of the one that has the session. Nobody would ever answer there.
    fn is_elsewhere(&self) -> bool {
        std::process::id() != self.process
    }

    fn ask(&self, py: Python<'_>, command: Command, hear: &Bound<'_, PyAny>) -> PyResult<Answer> {
        if self.is_elsewhere() {
            let fault = Fault::usage(format!("the session is one of process {}, which was forked", self.process));
            return Err(fault.hint("begin a session in the process that uses it").raise(py));
        }
        if self.commands.send(command).is_err() {
            return Err(closed().raise(py));
        }
        self.waiting.wait(py, hear)
    }
}

fn seat(py: Python<'_>, program: &Arc<garblet::Program>, arguments: &Arguments<'_>) -> PyResult<Seat> {
    let raise = |fault: Fault| fault.raise(py);
    let config = config_of_run(&arguments.protocol, &arguments.params).map_err(raise)?;
    if arguments.store.is_some() && config.stock().is_none() {
        return Err(raise(Fault::usage(format!("store: {} takes nothing from a store", config.protocol()))));
    }
    let (meeting, parties) = arguments.meeting(&config).map_err(raise)?;
    let party = Party(arguments.party);
    if party.0 >= parties {
        let wrong = format!("party: there are {parties} parties, 0 to {}, got {party}", parties - 1);
        return Err(raise(Fault::usage(wrong)));
    }
    let (tls, peer) = arguments.tls(&meeting).map_err(raise)?;
    let options = arguments.options(tls).map_err(raise)?;
    let names = arguments.trusted().map_err(raise)?;
    let (of, how) = (program.clone(), config.clone());
    let plan = beside(py, move || Plan::new(of, parties, &how))?.map_err(|error| raise(Fault::from(&error)))?;
    let store = arguments.store.clone().map(|place| (place, peer));
    Ok(Seat { plan, program: program.clone(), party, config, meeting, options, names, store })
}
