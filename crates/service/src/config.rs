//! A service's loaded configuration: jobs with their programs, and the rules for who may run them.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use garblet::{
    OrderRequest, Party, Plan, Program, SavedValues, StockKinds,
    circuit::InputId,
    formats::value::{Arrange, KeyHash, has_use},
    meet::{mark_of_others, mark_of_peer, mark_without_identities},
    net::{
        Fingerprint, Identity, OnRefused, Options, Tls, check_is_file, check_stated_format, read_small_file, toml_words,
    },
};
use garblet_console::{
    configuration::{check_unwritable_with_folders, in_configuration},
    failure::Failure,
    hints::{identity_failure, refusal_hint},
    identity::checked_trust,
    job::Job,
    settings::Settings,
    stock::{Folder, library_file, no_store},
    trusting::{self, Decides},
    way::{open_peers, require_loopback},
    written::line_at,
};

use super::{
    LOOK,
    counters::real,
    data::{InputSource, ResultSink},
    operator::OperatorProgram,
    rule::Rule,
    written::{Inputs, Limits, Log, Refill, Results, Written, WrittenRule},
};

/// The newest format of configurations.
const FORMAT: u32 = 1;

/// The largest accepted file.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The default time limit of the operator's commands.
const COMMAND_TIME: Duration = Duration::from_secs(10);

/// A configuration.
pub(super) struct Config {
    pub(super) listen: String,
    /// `None` for plain TCP.
    pub(super) tls: Option<Tls>,
    /// The trusted peers.
    pub(super) names: Vec<(String, Fingerprint)>,
    /// Their file, if it is not the one in the configuration folder.
    trust: Option<PathBuf>,
    pub(super) state: PathBuf,
    pub(super) key: Option<PathBuf>,
    pub(super) metrics: Option<SocketAddr>,
    /// The receipt log.
    pub(super) receipts: PathBuf,
    pub(super) log: Log,
    pub(super) limits: Limits,
    pub(super) offers: Vec<Arc<Offer>>,
}

/// A job that the service runs.
pub(super) struct Offer {
    pub(super) name: String,
    /// The job's digest in hexadecimal.
    pub(super) digest: String,
    pub(super) program: Program,
    /// Its AND gates.
    pub(super) gates: u64,
    pub(super) plan: Plan,
    pub(super) settings: Settings,
    /// The hash of text keys, if there are any.
    pub(super) keys: Option<KeyHash>,
    pub(super) is_mesh: bool,
    /// The identities of all parties; `None` with plain TCP.
    pub(super) identities: Vec<Option<Fingerprint>>,
    /// The rules for who may run it; the first match applies.
    pub(super) rules: Vec<Rule>,
}

impl Config {
    /// The options for connections from callers.
    pub(super) fn options(&self) -> Options {
        let on_refused: OnRefused = Arc::new(|line: &str| tracing::warn!("{line}"));
        Options {
            patience: self.limits.wait.0,
            timeout: self.limits.timeout.0,
            tls: self.tls.clone(),
            on_refused: Some(on_refused),
            advice: Some(refusal_hint),
            ..Options::default()
        }
    }

    /// Puts it in force for what is logged: hints name its file of trusted peers. Logs settings that are legal but suspicious.
    pub(super) fn tell(&self) {
        trusting::read_file(self.trust.as_deref());
        trusting::decided_by(Decides::ServiceFile);
        self.odd().iter().for_each(|note| tracing::warn!("{note}"));
    }

    /// Settings that are legal but suspicious.
    pub(super) fn odd(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for Offer { name, .. } in self.offers.iter().map(|offer| &**offer).filter(|offer| offer.rules.is_empty()) {
            notes.push(format!("{name}: no rule names this job, so nobody may run it"));
        }
        let limit = self.limits.timeout.0;
        for (offer, rule) in self.offers.iter().flat_map(|offer| offer.rules.iter().map(move |rule| (offer, rule))) {
            if let Some(InputSource::Command(program)) = &rule.inputs
                && program.time + rule.beat >= limit
            {
                notes.push(format!(
                    "{}: inputs.time is not below limits.timeout: callers may leave before the run starts",
                    offer.name
                ));
            }
        }
        notes
    }
}

/// A file being read.
struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Reading<'_> {
    fn wrong(&self, at: Option<usize>, what: impl std::fmt::Display) -> Failure {
        let line = at.map_or(String::new(), |at| format!(":{}", line_at(self.text, at)));
        Failure::call(format!("{}{line}: {what}", self.path.display()))
    }

    /// A path from the file, relative to its folder.
    fn path(&self, named: &Path) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(named)
    }
}

/// Reads a configuration and loads all its jobs.
///
/// *Errors*: any mistake in it or in the files that it names, with its place.
pub(super) fn load(path: &Path) -> Result<Config, Failure> {
    let unreadable = |error| Failure::unreadable(path, &error);
    let text = read_small_file(path, FILE_BYTES_MAX).map_err(unreadable)?;
    check_unwritable_with_folders(path)?;
    check_stated_format(&text, FORMAT).map_err(|other| Failure::other_format(path, other))?;
    let reading = Reading { path, text: &text };
    let written: Written = toml::from_str(&text).map_err(|error| {
        reading
            .wrong(error.span().map(|span| span.start), toml_words(&error))
            .hint("the book's chapter on the service and examples/service/serve.toml have every field")
    })?;
    check_limits(&reading, written.limits)?;
    let (tls, own, names) = identities(&reading, &written)?;
    let metrics = written.metrics.as_ref().map(|address| {
        address.parse().map_err(|_| {
            reading.wrong(None, format!("metrics: expected an address such as 127.0.0.1:9700, got `{address}`"))
        })
    });
    let key = written.key.as_deref().map(|key| reading.path(key));
    let mut offers = jobs(&reading, &written)?;
    for rule in &written.rules {
        let (at, rule) = (Some(rule.span().start), rule.as_ref());
        add_rule(rule, &mut offers, (own, &names, &key), &|what: String| reading.wrong(at, what), &reading)?;
    }
    Ok(Config {
        listen: written.listen.clone(),
        tls,
        names,
        trust: written.trust.as_deref().map(|trust| reading.path(trust)),
        state: reading.path(&written.state),
        key,
        receipts: reading.path(&written.receipts.unwrap_or_else(|| written.state.join("receipts.jsonl"))),
        metrics: metrics.transpose()?,
        log: written.log,
        limits: written.limits,
        offers: offers.into_iter().map(Arc::new).collect(),
    })
}

fn check_limits(reading: &Reading<'_>, limits: Limits) -> Result<(), Failure> {
    let least_one = [
        ("sessions", limits.sessions),
        ("per_peer", limits.per_peer),
        ("unproven", limits.unproven),
        ("gathering", limits.gathering),
    ];
    match least_one.iter().find(|(_, limit)| *limit == 0) {
        Some((name, _)) => Err(reading.wrong(None, format!("limits: {name}: expected 1 or more, got 0"))),
        None => Ok(()),
    }
}

type Known = (Option<Tls>, Option<Fingerprint>, Vec<(String, Fingerprint)>);

/// The service's identity and the peers it trusts; `None` with plain TCP, which is for this machine only.
fn identities(reading: &Reading<'_>, written: &Written) -> Result<Known, Failure> {
    if written.insecure_plain_tcp {
        if written.identity.is_some() || written.trust.is_some() {
            return Err(reading
                .wrong(None, "insecure_plain_tcp: identity and trust have no effect with it")
                .hint("leave them out, or leave out insecure_plain_tcp"));
        }
        require_loopback(&written.listen).map_err(|failure| {
            reading
                .wrong(None, format!("listen: {}", failure.message))
                .hint("leave insecure_plain_tcp out, and give identity and trust")
        })?;
        return Ok((None, None, Vec::new()));
    }
    let file = |named: &Option<PathBuf>, name| match named {
        Some(named) => Ok(reading.path(named)),
        None => in_configuration(None, name),
    };
    let (own, path) = (file(&written.identity, "identity.pem")?, file(&written.trust, "trust.toml")?);
    // Refuse pipes, which could block. A missing file is reported when it is read.
    for file in [&own, &path].into_iter().filter(|file| file.exists()) {
        check_is_file(file).map_err(|error| Failure::unreadable(file, &error))?;
    }
    let identity = Identity::load(&own).map_err(|e| identity_failure(&e))?;
    let named = written.trust.as_ref().map(|_| path.as_path());
    let trust = checked_trust(&path, named)?;
    let names: Vec<_> = trust.peers().iter().map(|(name, fingerprint)| (name.clone(), *fingerprint)).collect();
    let own = identity.fingerprint();
    Ok((Some(Tls::new(identity, names.clone())), Some(own), names))
}

/// All jobs in the folder.
fn jobs(reading: &Reading<'_>, written: &Written) -> Result<Vec<Offer>, Failure> {
    let folder = reading.path(&written.jobs);
    let unreadable = |error| Failure::unreadable(&folder, &error);
    let mut files = BTreeSet::new();
    check_unwritable_with_folders(&folder)?;
    for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        // Skip hidden files, which editors create.
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !is_hidden && path.extension().is_some_and(|extension| extension == "toml") {
            files.insert(path);
        }
    }
    let mut offers: Vec<Offer> = Vec::new();
    for file in files {
        let offer = offer(&file, written.limits.timeout.0)?;
        match offers.iter().find(|other| other.digest == offer.digest) {
            Some(other) => {
                let what = format!("{}: same job as {}", file.display(), other.name);
                return Err(Failure::call(what).hint("remove one of the two"));
            }
            None => offers.push(offer),
        }
    }
    match offers.is_empty() {
        true => Err(reading
            .wrong(None, format!("jobs: {} has no job files (*.toml)", folder.display()))
            .hint("write one with `garblet job new`")),
        false => Ok(offers),
    }
}

fn offer(file: &Path, timeout: Duration) -> Result<Offer, Failure> {
    let job = Job::load(file)?;
    job.check_unwritable()?;
    let (settings, program) = (job.settings(timeout), job.program()?);
    let parties = settings.parties(&program, Some(job.counted_parties()))?;
    let plan = settings.plan(program.clone(), parties, SavedValues::default())?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let is_mesh = settings.config()?.protocol().is_mesh();
    let identities = job.parties.iter().map(|party| party.fingerprint).collect();
    Ok(Offer {
        name,
        digest: job.digest().to_string(),
        gates: program.counts().and,
        program,
        plan,
        settings,
        keys: job.key_hash(),
        is_mesh,
        identities,
        rules: Vec::new(),
    })
}

/// Adds a rule to its job.
fn add_rule(
    rule: &WrittenRule,
    offers: &mut [Offer],
    (own, names, key): (Option<Fingerprint>, &[(String, Fingerprint)], &Option<PathBuf>),
    wrong: &dyn Fn(String) -> Failure,
    reading: &Reading<'_>,
) -> Result<(), Failure> {
    let known: Vec<String> = offers.iter().map(|offer| offer.name.clone()).collect();
    let stores: Vec<Folder> = offers.iter().flat_map(|o| &o.rules).filter_map(|rule| rule.store.clone()).collect();
    let Some(offer) = offers.iter_mut().find(|offer| offer.name == rule.job || offer.digest == rule.job) else {
        return Err(wrong(format!("job: no job `{}`; the jobs are {}", rule.job, known.join(", "))));
    };
    let party = own_party(rule, offer, own).map_err(wrong)?;
    let peers = peers(rule, own, names).map_err(|(what, hint)| wrong(what).hint(hint))?;
    check_peers(&peers, offer, party)
        .map_err(|what| wrong(what).hint("`garblet job show` lists the job's parties; a rule names all others"))?;
    let often = rule.often;
    if [often.per_day, often.total, often.peer_per_day, often.peer_total].iter().all(Option::is_none) {
        return Err(wrong("often: expected a limit: per_day, total, peer_per_day or peer_total".into()).hint(
            "every run reveals its result, and many results together reveal inputs; to allow many runs, write a large number",
        ));
    }
    let addresses = match (&rule.addresses, offer.is_mesh) {
        (Some(file), true) => Some(addresses(&reading.path(file), offer, (party, rule.refill.is_some()))?),
        (None, false) => None,
        (None, true) => {
            return Err(wrong(format!(
                "addresses: {} has several parties: expected a file with their addresses",
                offer.settings.protocol
            )));
        }
        (Some(_), false) => {
            return Err(wrong(format!("addresses: {} has one peer, which calls the service", offer.settings.protocol)));
        }
    };
    let inputs = rule.inputs.as_ref().map(|inputs| source(inputs, reading)).transpose().map_err(wrong)?;
    let needed = offer.program.inputs().iter().any(|input| input.owner == party);
    if needed && inputs.is_none() {
        return Err(wrong("inputs: expected a file, a folder or a command: in this job, this party has inputs".into()));
    }
    let beat = rule.inputs.as_ref().map_or(Duration::ZERO, |inputs| inputs.beat.0);
    if inputs.is_some() && beat.is_zero() {
        return Err(wrong("inputs: beat: expected more than 0".into()));
    }
    let arrange = arrange(rule, offer, party).map_err(wrong)?;
    let results = rule.results.as_ref().map(|results| sink(results, reading)).transpose().map_err(wrong)?;
    let of_inputs = inputs.as_ref().and_then(InputSource::program);
    for program in of_inputs.into_iter().chain(results.as_ref().and_then(ResultSink::program)) {
        program.check()?;
    }
    let store = rule
        .store
        .as_ref()
        .map(|store| folder(rule, (&reading.path(store), key.clone()), (offer, party), &peers, reading));
    let budget = rule.budget.clone().unwrap_or_else(|| offer.digest.clone());
    let store = store
        .transpose()
        .map_err(|failure| Failure { hint: failure.hint.clone(), ..wrong(format!("store: {}", failure.message)) })?;
    if let Some(store) = &store {
        check_one_peer(store, &stores).map_err(|(what, hint)| wrong(what).hint(hint))?;
    }
    let refill = refill(rule, (offer, party), wrong)?;
    offer.rules.push(Rule { party, peers, often, budget, addresses, inputs, arrange, beat, results, store, refill });
    Ok(())
}

/// The party that the service plays in a job.
fn own_party(rule: &WrittenRule, offer: &Offer, own: Option<Fingerprint>) -> Result<Party, String> {
    let parties = offer.identities.len();
    if own.is_none() && offer.identities.iter().any(Option::is_some) {
        return Err(format!("job: {} names identities, which plain TCP cannot verify", offer.name));
    }
    match (own, rule.party) {
        (None, Some(party)) if usize::from(party) < parties => Ok(Party(party)),
        (None, Some(party)) => Err(format!("party: expected 0 to {}, got {party}", parties - 1)),
        (None, None) => Err("party: expected this service's party number: plain TCP has no identities".into()),
        (Some(own), given) => {
            let party = offer.identities.iter().position(|identity| *identity == Some(own));
            let party = party.ok_or_else(|| format!("job: our identity {own} is not one of the job's parties"))? as u16;
            match given {
                Some(given) if given != party => {
                    Err(format!("party: expected {party}, the party with our identity, got {given}"))
                }
                _ => Ok(Party(party)),
            }
        }
    }
}

/// The way to refill the store of a rule.
fn refill(
    rule: &WrittenRule,
    (offer, party): (&Offer, Party),
    wrong: &dyn Fn(String) -> Failure,
) -> Result<Option<Refill>, Failure> {
    let Some(refill) = &rule.refill else { return Ok(None) };
    let (every, last, protocol) = (refill.every.0, offer.last(), &offer.settings.protocol);
    match (&refill.at, offer.is_mesh) {
        (Some(_), true) => {
            let what = format!("refill: at: {protocol} has several parties, whose addresses are in another file");
            return Err(wrong(what).hint("leave `at` out: `addresses` names the file"));
        }
        (None, false) => return Err(wrong("refill: at: expected the address of the peer's service".into())),
        _ => {}
    }
    match (&rule.store, refill.below) {
        (None, _) => Err(wrong("refill: this rule has no store".into())),
        (Some(_), _) if offer.is_mesh && party != last => {
            let what = format!("refill: expected it at party {last}, which calls all others; this is party {party}");
            Err(wrong(what).hint("leave refill out, and give it to the last party's service: this one takes part"))
        }
        (Some(_), 1..=100) if every < LOOK => {
            let (least, got) = (LOOK.as_millis(), every.as_millis());
            Err(wrong(format!("refill: every: expected {least}ms or more, got {got}ms"))
                .hint("each check of a low store calls the peer; once a minute is the default"))
        }
        (Some(_), 1..=100) => Ok(Some(refill.clone())),
        (Some(_), other) => Err(wrong(format!("refill: below: expected 1 to 100 percent, got {other}"))),
    }
}

/// The peers of a rule, by name.
///
/// *Errors*: what is wrong, and a hint.
fn peers(
    rule: &WrittenRule,
    own: Option<Fingerprint>,
    names: &[(String, Fingerprint)],
) -> Result<Vec<(String, Fingerprint)>, (String, &'static str)> {
    if own.is_none() {
        return match rule.peers.is_empty() {
            true => Ok(Vec::new()),
            false => {
                Err(("peers: plain TCP has no named peers".into(), "leave peers out, or leave out insecure_plain_tcp"))
            }
        };
    }
    if rule.peers.is_empty() {
        let hint = "the names are those of the file of trusted peers; `garblet trust list` shows them";
        return Err(("peers: expected the names of the peers that may run the job".into(), hint));
    }
    let known = || names.iter().map(|(name, _)| &name[..]).collect::<Vec<_>>().join(", ");
    let find = |peer: &String| {
        let found = names.iter().find(|(name, _)| name == peer).cloned();
        found.ok_or_else(|| {
            let hint = "write a name as it is there, or add it: garblet trust add NAME FINGERPRINT, with --trust FILE if the service reads another file";
            (format!("peers: `{peer}` is not trusted; trusted peers: {}", known()), hint)
        })
    };
    rule.peers.iter().map(find).collect()
}

/// Checks that a rule's peers are parties of its job. A job for several parties has one rule, which names all others: whatever one of them may do
/// gives all of them a result.
fn check_peers(peers: &[(String, Fingerprint)], offer: &Offer, own: Party) -> Result<(), String> {
    let numbered = offer.identities.iter().enumerate().filter(|(party, _)| *party != usize::from(own.0));
    let others: Vec<Fingerprint> = numbered.filter_map(|(_, identity)| *identity).collect();
    if let Some((name, print)) = peers.iter().find(|(_, print)| !others.contains(print)) {
        return Err(format!("peers: {name}, {print}, is not one of the other parties of {}", offer.name));
    }
    if !offer.is_mesh {
        return Ok(());
    }
    if !offer.rules.is_empty() {
        return Err(format!(
            "{} has several parties and a rule already: expected a single rule for all of them",
            offer.name
        ));
    }
    match others.iter().find(|print| peers.iter().all(|(_, named)| named != *print)) {
        Some(missing) => Err(format!("peers: {} has several parties: {missing} is missing", offer.name)),
        None => Ok(()),
    }
}

/// The file of addresses, checked against the job's parties.
fn addresses(file: &Path, offer: &Offer, (own, refills): (Party, bool)) -> Result<garblet::net::PeersFile, Failure> {
    let peers = open_peers(file)?;
    check_unwritable_with_folders(file)?;
    let same = peers.parties().iter().map(|party| party.fingerprint).eq(offer.identities.iter().copied());
    let wrong = |what: String| Failure::call(format!("{}: {what}", file.display()));
    match same {
        false => Err(wrong(format!("the parties differ from those of the job {}", offer.name))
            .hint("give every party its address and its fingerprint from the job")),
        true if own == offer.last() && !refills => {
            Err(wrong(format!("this is party {own}, the last, which only calls others: a service must be called"))
                .hint("give the service a smaller number in the job, or a store and `refill` to the rule"))
        }
        true => Ok(peers),
    }
}

fn program(command: &[String], time: Option<Duration>, reading: &Reading<'_>) -> Result<OperatorProgram, String> {
    let [name, arguments @ ..] = command else {
        return Err("exec: expected a program and its arguments, got none".into());
    };
    // The system searches for a name without a folder.
    let name = if name.contains('/') { reading.path(Path::new(name)).display().to_string() } else { name.clone() };
    let command = std::iter::once(name).chain(arguments.iter().cloned()).collect();
    Ok(OperatorProgram { command, time: time.unwrap_or(COMMAND_TIME) })
}

fn source(inputs: &Inputs, reading: &Reading<'_>) -> Result<InputSource, String> {
    let time = inputs.time.map(|time| time.0);
    match (&inputs.file, &inputs.folder, &inputs.exec) {
        (Some(file), None, None) => Ok(InputSource::File(reading.path(file))),
        (None, Some(folder), None) => Ok(InputSource::Folder(reading.path(folder), inputs.named_by)),
        (None, None, Some(command)) => {
            program(command, time, reading).map(InputSource::Command).map_err(|what| format!("inputs: {what}"))
        }
        _ => Err("inputs: expected one of file, folder and exec".into()),
    }
}

/// The arrangement of the service's lists whose order the program relies on.
fn arrange(rule: &WrittenRule, offer: &Offer, party: Party) -> Result<Arrange, String> {
    let (how, name) = match rule.inputs.as_ref().map(|inputs| (inputs.sort, inputs.sum_by_key)) {
        Some((true, true)) => return Err("inputs: expected sort or sum_by_key, not both: sum_by_key sorts too".into()),
        Some((true, false)) => (Arrange::Sort, "sort"),
        Some((false, true)) => (Arrange::SumByKey, "sum_by_key"),
        Some((false, false)) | None => return Ok(Arrange::Check),
    };
    let own = offer.program.inputs().iter().enumerate().filter(|(_, input)| input.owner == party);
    match has_use(how, &offer.program, own.map(|(at, _)| InputId(at as u32))) {
        true => Ok(how),
        false => Err(format!("inputs: {name}: the program does not rely on the order of this party's lists")),
    }
}

fn sink(results: &Results, reading: &Reading<'_>) -> Result<ResultSink, String> {
    match (&results.folder, &results.exec) {
        (Some(folder), None) => Ok(ResultSink::Folder(reading.path(folder))),
        (None, Some(command)) => {
            let time = results.time.map(|time| time.0);
            program(command, time, reading).map(ResultSink::Command).map_err(|what| format!("results: {what}"))
        }
        _ => Err("results: expected one of folder and exec".into()),
    }
}

/// Checks that no rule for another peer uses a store. Several jobs with one peer may share it under one path, by which the service knows it.
///
/// *Errors*: the reason, and advice.
fn check_one_peer(store: &Folder, others: &[Folder]) -> Result<(), (String, &'static str)> {
    let place = |folder: &Folder| real(&folder.path).unwrap_or_else(|_| folder.path.clone());
    let here = store.path.display();
    match others.iter().find(|other| place(other) == place(store)) {
        Some(other) if other.peer != store.peer => {
            let what = format!("store: {here}: another rule uses it for the peer {}", other.peer);
            Err((what, "give each peer its own store"))
        }
        Some(other) if other.path != store.path => {
            let what = format!("store: {here}: another rule calls it {}", other.path.display());
            Err((what, "write the same path in both rules"))
        }
        _ => Ok(()),
    }
}

/// The store of a rule; each store belongs to one peer, or to all others of several parties.
fn folder(
    rule: &WrittenRule,
    (path, key): (&Path, Option<PathBuf>),
    (offer, party): (&Offer, Party),
    peers: &[(String, Fingerprint)],
    reading: &Reading<'_>,
) -> Result<Folder, Failure> {
    let (config, parties) = (offer.settings.config()?, offer.identities.len() as u16);
    let Some(kinds) = config.stock() else { return Err(no_store(&config)) };
    let peer = match peers {
        [] => mark_without_identities(parties),
        _ if offer.is_mesh => mark_of_others(party, offer.identities.iter().copied()),
        [(_, fingerprint)] => mark_of_peer(*fingerprint),
        _ => {
            return Err(Failure::call("a store belongs to one peer, and this rule names several")
                .hint("write a rule for each peer, each with its own store"));
        }
    };
    let library = rule.library.as_ref().map(|library| library_file(reading.path(library)));
    let amounts = rule.stock.iter().map(|(kind, count)| (kind.clone(), *count)).collect();
    let program = (kinds == StockKinds::Runs).then(|| Arc::new(offer.program.clone()));
    let order = OrderRequest { library, amounts, program };
    let folder = Folder { order, path: path.into(), key, peer, recorded: true, again: None };
    // Report a mistake in the order before a peer connects.
    folder.order(&config, parties)?;
    Ok(folder)
}
