//! `garblet serve`: runs a service, keeps a store filled at low priority, answers a peer that connects, or answers clients together with another server.

pub mod both;
pub(crate) mod clients;

use std::{path::PathBuf, sync::Arc, thread::sleep, time::Duration};

use garblet::{
    Filled, Party, Plan, Program, SavedValues,
    circuit::diagnostic::one_line,
    meet::Way,
    net::{self, Channel, Hello, Listener, NetError, Refusal, Tls},
    run_report::PeerPart,
    wants_to_fill,
};
use garblet_console::{
    args::{ProgramArgs, Time},
    failure::{Failure, Status, first_failure},
    hints::net_failure,
    inputs::{self, InputArgs, InputFile, PartyInputs},
    output::{count, print, tell, tell_text},
    program,
    receipts::{ReceiptArgs, Receipts, Run},
    record::{self, record_now},
    report::{PEER_EXPOSED, check_panics, outputs_text},
    session::{self, Outcome, Task, Watched, block_on},
    settings::Settings,
    stock::{Folder, Source},
    unfinished::{pause, unfinished},
    way::{self, WayArgs, announce},
};

use clients::ClientArgs;
use tokio::task::spawn_blocking;

use crate::{meeting::Meeting, prepare::FillArgs, store::orders_text};

/// The arguments of `garblet serve`: a configuration file, or options.
pub(crate) enum Call {
    Config {
        file: PathBuf,
        /// Only check the file.
        check: bool,
    },
    Options(Box<Options>),
}

/// The option that allows no other option except [`CHECK`].
const CONFIG: &str = "config";

/// The option that only checks a configuration.
const CHECK: &str = "check";

/// The help of `--receipts`, which here has no default as it has in `garblet run --job`.
const RECEIPTS: &str = "Add the receipt of each run to this log [default: none]";

/// The two forms of the command.
const USAGE: &str = "garblet serve --config <FILE> [--check]
       garblet serve [OPTIONS] --store <DIR> --party <K> <--listen <HOST:PORT>|--connect <HOST:PORT>> [LIBRARY|PROGRAM]";

impl clap::Args for Call {
    fn augment_args(command: clap::Command) -> clap::Command {
        let of_options = Options::augment_args(clap::Command::new("serve"));
        let others = of_options.get_arguments().map(|argument| argument.get_id().clone());
        let config = clap::Arg::new(CONFIG).long(CONFIG).value_name("FILE").conflicts_with_all(others);
        let config = config.value_parser(clap::value_parser!(PathBuf)).help(
            "Run a service by this configuration (TOML): many sessions at once, of all jobs in a folder, for the peers that its rules allow. Takes no other option but --check",
        );
        let check = clap::Arg::new(CHECK).long(CHECK).requires(CONFIG).action(clap::ArgAction::SetTrue);
        let check = check.help("Only check the configuration, with all jobs and files that it names");
        let all = Options::augment_args(command.arg(config).arg(check));
        all.mut_arg("receipts", |receipts| receipts.help(RECEIPTS)).override_usage(USAGE)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Call::augment_args(command)
    }
}

impl clap::FromArgMatches for Call {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        match matches.get_one::<PathBuf>(CONFIG) {
            Some(file) => Ok(Call::Config { file: file.clone(), check: matches.get_flag(CHECK) }),
            None => Ok(Call::Options(Box::new(Options::from_arg_matches(matches)?))),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Call::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The options of `garblet serve`.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("meeting").args(way::MEETING).arg(CONFIG).required(true)))]
pub(crate) struct Options {
    #[command(flatten)]
    stock: FillArgs,
    /// The number of this party; of two, 0 garbles and 1 evaluates
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(..=1))]
    party: u16,
    #[command(flatten)]
    peer: WayArgs,
    /// Refill a kind when less than this percentage of its wanted amount is left
    #[arg(long, value_name = "PERCENT", default_value = "50", value_parser = clap::value_parser!(u8).range(1..=100))]
    low_water: u8,
    /// Check at this interval
    #[arg(long, value_name = "TIME", default_value = "10s")]
    every: Time,
    /// End after N checks or answers [default: continue until stopped]
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// Answer the peer whenever it connects: run this program with it, or fill the stores, as it asks
    #[arg(long, value_name = "PROGRAM", requires = "listen", conflicts_with_all = ["low_water", "every"])]
    answer: Option<String>,
    /// Read this party's inputs for every run from this file
    #[arg(long = "input", value_name = "K=FILE", requires = "answer", conflicts_with = "agreement")]
    inputs: Vec<InputFile>,
    /// Prepare during a run what the store lacks; the peer must give this option too
    #[arg(long, requires = "answer")]
    top_up: bool,
    #[command(flatten)]
    receipts: ReceiptArgs,
    #[command(flatten)]
    clients: ClientArgs,
}

/// Runs the command.
pub(crate) fn run(call: &Call) -> Result<(), Failure> {
    let options = match call {
        Call::Config { file, check: false } => return garblet_service::run(file),
        Call::Config { file, check: true } => return garblet_service::check(file),
        Call::Options(options) => options,
    };
    if options.answer.is_none() || options.clients.agreement().is_some() {
        options.receipts.check_none("only runs with one peer under --answer have receipts")?;
    }
    if let Some(agreement) = options.clients.agreement() {
        return clients::serve(options, agreement);
    }
    let protocol = options.stock.settings().config()?.protocol();
    if protocol.is_mesh() {
        return Err(Failure::call(format!("--protocol {protocol}: only protocols for two parties can be served"))
            .hint("with several parties, fill the stores with garblet prepare PROGRAM --peers FILE"));
    }
    match &options.answer {
        None => look(options),
        Some(program) => Service::new(options, program)?.answer_all(),
    }
}

/// Checks the store at intervals and refills kinds that have run low.
fn look(options: &Options) -> Result<(), Failure> {
    lower_priority();
    let (mut round, mut known) = (0, None);
    while options.rounds.is_none_or(|rounds| round < rounds) {
        if round > 0 {
            sleep(options.every.0);
        }
        round += 1;
        let way = options.peer.way()?;
        let (settings, folder) = (options.stock.settings(), options.stock.folder(&way)?);
        known = block_on(async { Ok(wait_if_more(known, known_unfinished(&settings, &folder)).await) })?;
        // Close the store between checks, so that runs can use it.
        match options.stock.fill((&settings, Party(options.party)), &way, options.low_water, false) {
            Ok(filled) => tell_ready(&filled),
            Err(failure) if failure.status == Status::WrongCall || failure.forbids_more_runs => return Err(failure),
            // The peer may reconnect.
            Err(failure) => {
                failure.report();
                known = block_on(async { Ok(wait_if_more(known, known_unfinished(&settings, &folder)).await) })?;
            }
        }
    }
    Ok(())
}

/// As [`unfinished`], but reports an error and returns `None`.
fn known_unfinished(settings: &Settings, folder: &Folder) -> Option<u32> {
    unfinished(settings, 2, folder).inspect_err(Failure::report).ok()
}

/// Waits if the peer has abandoned another order, longer each time: a constructor that leaves once it learns which gates are checked may be cheating.
/// Returns the number of abandoned orders if it is known; the user may have forgiven some.
async fn wait_if_more(known: Option<u32>, unfinished: Option<u32>) -> Option<u32> {
    if let (Some(known), Some(unfinished)) = (known, unfinished)
        && unfinished > known
    {
        let pause = pause(unfinished);
        let minutes = pause.as_secs() / 60;
        tell(&format!("the peer has left {}: waiting for {minutes} min", orders_text(unfinished)));
        tokio::time::sleep(pause).await;
    }
    unfinished.or(known)
}

fn tell_ready(filled: &Filled) {
    let pieces: u64 = filled.store.stock().iter().map(|kind| kind.available.len()).sum();
    tell(&format!("{} pieces are ready", count(pieces)));
}

/// Gives every other process on this machine priority.
fn lower_priority() {
    #[cfg(unix)]
    let _ = rustix::process::nice(10);
}

/// A party that answers.
struct Service<'a> {
    options: &'a Options,
    party: Party,
    program: Program,
    plan: Plan,
    inputs: PartyInputs,
    settings: Settings,
    way: Way,
    folder: Folder,
    receipts: Option<Arc<Receipts>>,
}

impl<'a> Service<'a> {
    fn new(options: &'a Options, program: &str) -> Result<Self, Failure> {
        let program = program::load(&ProgramArgs::plain(program))?;
        let (settings, party) = (options.stock.settings(), Party(options.party));
        let parties = settings.parties(&program, None)?;
        let plan = settings.plan(program.clone(), parties, SavedValues::default())?;
        let inputs = InputArgs { inputs: options.inputs.clone(), ..InputArgs::default() };
        let (inputs, _) = inputs::of_this_party(&program, &inputs, party)?;
        let way = options.peer.way()?;
        let folder = options.stock.folder(&way)?;
        // Report a mistake in the order before waiting for a peer.
        folder.order(&settings.config()?, parties)?;
        let receipts = options.receipts.open(None)?.map(Arc::new);
        Ok(Service { options, party, program, plan, inputs, settings, way, folder, receipts })
    }

    /// Answers one peer after another. Reports an error with one peer, then answers the next.
    fn answer_all(&self) -> Result<(), Failure> {
        let Meeting::Listen(address) = &self.way.meeting else {
            return Err(Failure::call("--answer needs --listen"));
        };
        let session = self.way.session.clone();
        let options = net::Options { session, ..self.settings.options(self.way.tls.clone())? };
        block_on(async {
            let listener = Listener::bind(address).await.map_err(|e| net_failure(&e))?;
            announce(listener.address());
            let (mut answered, mut known) = (0, None);
            while self.options.rounds.is_none_or(|rounds| answered < rounds) {
                let channel = match listener.accept(&options).await {
                    Ok(channel) => channel,
                    Err(NetError::AcceptTimeout { .. }) => continue,
                    // A socket that fails would fail again at once.
                    Err(error) => return Err(net_failure(&error)),
                };
                match self.greeted(channel).await {
                    Ok((channel, hello, watched)) => {
                        // Without room for its receipt, this caller is refused; it may call again, and others too.
                        if let Err(failure) = self.take_room(&hello).await {
                            failure.report();
                            channel
                                .refuse(if failure.forbids_more_runs { Refusal::Closed } else { Refusal::Busy })
                                .await;
                            continue;
                        }
                        answered += 1;
                        known = wait_if_more(known, known_unfinished(&self.settings, &self.folder)).await;
                        if let Err(failure) = self.answer(channel, &hello, watched).await {
                            if failure.forbids_more_runs {
                                return Err(failure);
                            }
                            failure.report();
                            known = wait_if_more(known, known_unfinished(&self.settings, &self.folder)).await;
                        }
                    }
                    Err(error) => net_failure(&error).report(),
                }
            }
            Ok(())
        })
    }

    /// Receives the hello of a peer that has connected.
    async fn greeted(&self, mut channel: Channel) -> Result<(Channel, Hello, Watched), NetError> {
        let watched = match self.receipts {
            Some(_) => Watched::of_channel(&mut channel, self.party),
            None => Watched::default(),
        };
        let hello = Hello::ahead(&mut channel).await?;
        Ok((channel, hello, watched))
    }

    /// Takes room for the receipt of the run that a peer asks for, if it gets one.
    ///
    /// *Errors*: the log cannot be written, or has no room.
    async fn take_room(&self, hello: &Hello) -> Result<(), Failure> {
        let Some(receipts) = self.receipts.clone().filter(|_| wants_to_fill(hello).is_none()) else { return Ok(()) };
        // It may wait for another program that holds the log's lock.
        let taken = spawn_blocking(move || receipts.take_room()).await;
        taken.unwrap_or_else(|died| Err(Failure::no_result(died)))
    }

    async fn answer(&self, channel: Channel, hello: &Hello, watched: Watched) -> Result<(), Failure> {
        if let Some(below) = wants_to_fill(hello) {
            let as_party = (&self.settings, self.party);
            tell_ready(&self.options.stock.fill_with(as_party, channel, &self.folder, below).await?);
            return Ok(());
        }
        let task = Task {
            plan: self.plan.clone(),
            party: self.party,
            inputs: self.inputs.clone(),
            settings: &self.settings,
            progress: false,
            // The program was loaded before the peer connected.
            loaded: Duration::ZERO,
            source: Some(Source::Store {
                folder: self.folder.clone(),
                top_up: self.options.top_up,
                make: false,
                retries: None,
            }),
            begins: None,
        };
        let (program, settings, names) = (&self.program, &self.settings, &self.way.names);
        let (identity, saved) = (self.way.tls.as_ref().map(Tls::fingerprint), SavedValues::default());
        let run =
            Run { program, settings, party: task.party, parties: self.plan.parties(), identity, saved, session: None };
        let ended = session::compute_with(task, channel.into()).await;
        let kept = self
            .receipts
            .as_ref()
            .map_or(Ok(()), |receipts| receipts.add(&run, &watched, names, ended.as_ref()).map(drop));
        // If a receipt could not be written, give the result, and answer nobody else.
        let kept = kept.map_err(|failure| Failure { forbids_more_runs: true, ..failure });
        first_failure(kept, ended.and_then(|outcome| self.tell(&outcome)))
    }

    /// Gives the results of a run, and reports it.
    ///
    /// *Errors*: the computation panicked; standard output cannot be written.
    fn tell(&self, outcome: &Outcome) -> Result<(), Failure> {
        outcome.warn_of_closing();
        check_panics(&self.program, &outcome.outputs)?;
        let peers = outcome.met.iter().map(|(party, identity)| PeerPart::met(*party, *identity, &self.way.names));
        let record = record_now(&self.program, peers.collect());
        tell_text(&format!("ran `{}`\n{}\n", one_line(self.program.name()), record::text(&record).trim_end()));
        if outcome.security.peer_exposed {
            tell(PEER_EXPOSED.trim_end());
        }
        print(&outputs_text(&self.program, &outcome.outputs))
    }
}

#[cfg(test)]
mod tests {
    use garblet::store::Store;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_abandoned_order_causes_a_longer_wait() {
        let (mut known, mut waited) = (None, Vec::new());
        for unfinished in [None, Some(1), Some(2), Some(2), None, Some(3), Some(4), Some(0), None, Some(1)] {
            let begin = tokio::time::Instant::now();
            known = wait_if_more(known, unfinished).await;
            waited.push(begin.elapsed().as_secs() / 60);
        }
        assert_eq!(waited, [0, 0, 10, 0, 0, 60, 60, 0, 0, 1], "in minutes; other failures cause no wait");
    }

    #[test]
    fn an_unreadable_store_reports_an_error_instead_of_a_count() {
        let scratch = tempfile::tempdir().expect("a folder");
        let [path, key] = ["store", "key"].map(|name| scratch.path().join(name));
        let settings = Settings::of("lego".parse().expect("registered"), Vec::new(), Duration::from_secs(1));
        let (order, peer) = (garblet::OrderRequest::default(), String::new());
        let folder = Folder { order, path, key: Some(key.clone()), peer, recorded: false, again: None };
        let unfinished = || unfinished(&settings, 2, &folder).map_err(|failure| failure.message);
        assert_eq!(unfinished(), Ok(0), "no store exists yet");
        let made = settings
            .config()
            .and_then(|config| folder.open(folder.order(&config, 2)?, (&config, 2), Store::open_or_create));
        drop(made.map_err(|failure| failure.message).expect("made"));
        assert_eq!(unfinished(), Ok(0));
        std::fs::write(&key, [7; 32]).expect("another key");
        assert!(unfinished().is_err_and(|message| message.contains("store")));
    }
}
