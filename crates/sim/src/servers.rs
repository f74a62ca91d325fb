//! Two servers with a state, of `outsourced`, and clients that come, leave and come again.

mod agreed;
mod client;
mod healing;
mod keeper;
mod ledger;
mod meeting;
mod troubles;

use std::{io, sync::Arc, time::Duration};

use garblet::{Notice, outsourced::service::Agreement};
use garblet_client::{Reason, Rejected, Said, Server};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{ProtocolError, protocol::OrderRequest};
use garblet_store::Store;
use rand::RngExt;
use tempfile::TempDir;
use tokio::runtime::Builder;

use crate::{
    bug::Bug,
    disk::Disk,
    line::Presence,
    model::Finding,
    options::Options,
    remedy::{self, Remedy},
    seat::End,
    world::{History, Step, scratch},
};

use agreed::{CLIENTS, Function, STATE, Terms, agreement};
use client::{Client, Deal};
use keeper::{Keeper, What};
use ledger::{Answer, Ledger};
use meeting::{Comer, Met, PATIENCE, Present, meet};
use troubles::Troubles;

/// The steps of a history before all trouble ends.
const STEPS: std::ops::Range<usize> = 6..16;

/// Lives the history of a seed: two servers with a state, and clients that visit them. An old fault is put back if one is named.
///
/// # Panics
/// If the folder for the stores cannot be made or written.
pub fn live_with_clients(seed: u64, bug: Option<Bug>) -> History {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime without threads needs nothing that could be missing");
    runtime.block_on(async {
        let mut world = World::new(seed, bug).expect("a folder for the stores");
        let finding = world.live().await.expect("the disk").err();
        if let Some(Finding { check, text }) = &finding {
            world.say(format!("FOUND, {check}: {text}"));
        }
        History { seed, log: world.log.join("\n") + "\n", finding }
    })
}

/// Returns a finding, if there is one.
macro_rules! found {
    ($checked:expr) => {
        if let Err(finding) = $checked {
            return Ok(Err(finding));
        }
    };
}
use found;

/// The outcome of a meeting.
struct Past {
    /// The errors of servers.
    errors: Vec<ProtocolError>,
    /// Set if a server has closed the state.
    is_closed: bool,
    /// The reasons that clients were given.
    reasons: Vec<Reason>,
    /// The clients that were answered.
    answered: Vec<usize>,
    /// Set for each server whose process has ended.
    gone: [bool; 2],
    /// Set if a client that waited at both servers heard nothing from one.
    is_silent: bool,
}

struct World {
    seed: u64,
    terms: Terms,
    stock: OrderRequest,
    bug: Option<Bug>,
    folder: TempDir,
    /// The generator and the cloud.
    keepers: [Keeper; 2],
    /// The copies of each server's store that are of earlier services.
    former_copies: [usize; 2],
    agreement: Arc<Agreement>,
    services: u8,
    clients: Vec<Client>,
    ledger: Ledger,
    /// Set from the moment a store is put back until both servers have met: only then must one of them notice.
    is_put_back: bool,
    rng: Prg,
    meetings: u64,
    log: Vec<String>,
}

impl World {
    fn new(seed: u64, bug: Option<Bug>) -> io::Result<Self> {
        let mut rng = Prg::new(Block::from_halves(seed, u64::MAX - 1));
        let options = Options::drawn(&mut rng);
        let panics = bug != Some(Bug::PanicKeeps);
        let terms = Terms { config: options.config, retries: options.retries, panics };
        let amounts = if rng.random() { Vec::new() } else { vec![("triples".into(), 64), ("masks".into(), 128)] };
        let (folder, stock) = (scratch()?, OrderRequest { amounts, ..OrderRequest::default() });
        let disk = |server: Server| Disk::new(folder.path().join(server.to_string()), &mut rng);
        let [generator, cloud] = Server::BOTH.map(disk);
        let keepers = [Keeper::new(Server::Generator, generator?, bug), Keeper::new(Server::Cloud, cloud?, bug)];
        let agreement = agreement(0, terms).expect("programs that can be run");
        let clients = (0..CLIENTS.len()).map(|client| Client::new(&agreement, client)).collect();
        let log = vec![format!("seed {seed}: {terms:?}, fills {:?}", stock.amounts)];
        Ok(World {
            seed,
            terms,
            stock,
            bug,
            folder,
            keepers,
            former_copies: [0; 2],
            agreement,
            services: 0,
            clients,
            ledger: Ledger::new(terms.retries),
            is_put_back: false,
            rng,
            meetings: 0,
            log,
        })
    }

    fn say(&mut self, line: String) {
        let folder = self.folder.path().display().to_string();
        self.log.push(line.replace(&folder, "$"));
    }

    /// All steps, then the way back to work.
    async fn live(&mut self) -> Step {
        for _ in 0..self.rng.random_range(STEPS) {
            found!(self.step().await?);
        }
        self.heal().await
    }

    async fn step(&mut self) -> Step {
        match self.rng.random_range(0..20) {
            0..14 => {
                let comers = self.some_comers();
                let count = [0, 1, 1, 1, 2][self.rng.random_range(0..5)];
                let troubles = Troubles::drawn(&mut self.rng, count);
                let past = match self.meet(&comers, &troubles).await? {
                    Ok(past) => past,
                    Err(finding) => return Ok(Err(finding)),
                };
                if count == 0 {
                    found!(self.follow_hints(&past)?);
                }
            }
            14 => {
                let server = self.rng.random_range(0..2);
                self.say(format!("server {server} starts again"));
                self.keepers[server].stop();
            }
            15..17 => self.copy()?,
            17..19 => self.put_back()?,
            _ => return self.allow(),
        }
        self.check_stores()
    }

    /// Draws clients that come, with a submission that they have or a new one.
    fn some_comers(&mut self) -> Vec<Comer> {
        let mut comers = Vec::new();
        for client in 0..CLIENTS.len() {
            if self.rng.random_bool(0.3) && client + comers.len() > 0 {
                continue;
            }
            if self.clients[client].submission.is_none() {
                let deal = self.some_deal(client);
                self.deal(client, deal);
            }
            let reaches = match self.rng.random_range(0..8) {
                0 => [true, false],
                1 => [false, true],
                _ => [true; 2],
            };
            let [most, all] = PATIENCE;
            let patience = [None, Some(most), Some(most), Some(most), Some(all)][self.rng.random_range(0..5)];
            let after = [0, 0, 10][self.rng.random_range(0..3)];
            comers.push(self.comer(client, reaches, patience, after));
        }
        comers
    }

    /// Draws a deal that fits what its client knows.
    fn some_deal(&mut self, client: usize) -> Deal {
        let known = self.clients[client].version;
        let function = match self.rng.random_range(0..10) {
            _ if known == 0 && self.rng.random() => Function::Start,
            0..4 => Function::Deposit,
            4..8 => Function::Withdraw,
            _ => Function::Show,
        };
        let version = if function == Function::Start { 0 } else { known.max(1) };
        Deal { function, first: self.rng.random(), amount: self.rng.random_range(0..128), version }
    }

    fn deal(&mut self, client: usize, deal: Deal) {
        let number = self.ledger.deal(deal);
        let mut rng = self.seeded(1 << 8 | client as u64);
        self.clients[client].deal(&self.agreement, deal, number, &mut rng);
        let Deal { function, first, amount, version } = deal;
        let of = if function == Function::Start { format!("of {first}") } else { format!("of version {version}") };
        let name = self.clients[client].name();
        self.say(format!("{name} deals {number}: {function:?} {amount}, {of}"));
    }

    fn comer(&self, client: usize, reaches: [bool; 2], patience: Option<Duration>, after: u64) -> Comer {
        let frames = self.clients[client].submission.as_ref().map(|submission| &submission.frames);
        let frame = |at: usize| frames.filter(|_| reaches[at]).map(|frames| frames[at].clone());
        Comer { client, frames: [0, 1].map(frame), patience, after }
    }

    /// A generator of its own for each number and meeting.
    fn seeded(&mut self, number: u64) -> Prg {
        self.meetings += 1;
        Prg::new(Block::from_halves(self.seed, self.meetings << 16 | number))
    }

    fn some_servers(&mut self) -> Vec<usize> {
        if self.rng.random() { vec![0, 1] } else { vec![self.rng.random_range(0..2)] }
    }

    fn copy(&mut self) -> io::Result<()> {
        let servers = self.some_servers();
        self.say(format!("copies of the stores of servers {servers:?}"));
        servers.into_iter().try_for_each(|server| self.keepers[server].disk().copy())
    }

    fn put_back(&mut self) -> io::Result<()> {
        for server in self.some_servers() {
            let copies = self.former_copies[server]..self.keepers[server].disk().copies();
            if copies.is_empty() {
                continue;
            }
            let number = self.rng.random_range(copies);
            self.say(format!("copy {number} of the store of server {server} is put back"));
            self.keepers[server].stop();
            self.keepers[server].disk().put_back(number)?;
            (self.ledger.excused, self.is_put_back) = (true, true);
        }
        Ok(())
    }

    /// Both operators stop their servers and attribute the runs that have not ended to failures.
    fn allow(&mut self) -> Step {
        self.say("both operators allow more runs".into());
        for server in 0..2 {
            self.keepers[server].stop();
            match self.open(server) {
                Ok(mut store) => found!(settle(&mut store, server)),
                // Whoever cannot open its store keeps its count, so none is known.
                Err(error) => self.say(format!("  server {server} cannot open its store: {error}")),
            }
        }
        self.ledger.allow();
        self.check_stores()
    }

    /// Opens a server's store, as its operator does while the server does not run.
    fn open(&mut self, server: usize) -> Result<Store, garblet_store::StoreError> {
        let mut rng = self.seeded(1 << 9 | server as u64);
        let bug = self.owners_bug();
        self.keepers[server].disk().open(&mut rng, (None, &Presence::new(None)), bug)
    }

    fn owners_bug(&self) -> Option<Bug> {
        self.bug.filter(|bug| *bug == Bug::NoRecord)
    }

    /// Lets the servers meet and clients come.
    async fn meet(&mut self, comers: &[Comer], troubles: &Troubles) -> Step<Past> {
        self.tell_comers(comers, troubles);
        let before = self.versions()?;
        if self.bug.is_some() {
            self.keepers.iter().try_for_each(|keeper| keeper.disk().remember())?;
        }
        self.ledger.may_run();
        let (mut errors, mut both) = (Vec::new(), Vec::new());
        for server in 0..2 {
            let (failure, presence) = (troubles.failures[server], Presence::new(troubles.leaves[server]));
            let rng = self.seeded(1 << 10 | server as u64);
            self.keepers[server].enter(failure, presence.clone(), rng);
            let service = self.keepers[server].service(&self.agreement, &self.stock);
            let service = service.map_err(|error| {
                self.say(format!("  server {server} does not start: {error}"));
                errors.push(error);
            });
            both.push(Present { service: service.ok(), presence });
        }
        let both = both.try_into().unwrap_or_else(|_| unreachable!("there are two"));
        self.meetings += 1;
        let met = meet(&both, troubles.cut, comers, Block::from_halves(self.seed, self.meetings << 16)).await;
        let mut past = Past {
            errors,
            is_closed: false,
            reasons: Vec::new(),
            answered: Vec::new(),
            gone: [false; 2],
            is_silent: false,
        };
        found!(self.hear_servers(&both, &met, troubles, &mut past));
        drop(both);
        found!(self.hear_clients(comers, met, &mut past));
        self.put_faults_back(before, past.gone)?;
        Ok(Ok(past))
    }

    fn tell_comers(&mut self, comers: &[Comer], troubles: &Troubles) {
        self.say("the servers meet".into());
        troubles.told().into_iter().for_each(|trouble| self.say(format!("  {trouble}")));
        for Comer { client, frames, patience, after } in comers {
            let name = self.clients[*client].name();
            let number = self.clients[*client].submission.as_ref().map(|submission| submission.number);
            let reached: Vec<usize> = (0..2).filter(|at| frames[*at].is_some()).collect();
            let stays = patience.map_or("leaves at once".into(), |patience| format!("waits {} s", patience.as_secs()));
            self.say(format!("  {name} brings deal {number:?} to servers {reached:?} after {after} ms, and {stays}"));
        }
    }

    /// Hears what the servers said and how their work ended.
    fn hear_servers(
        &mut self,
        both: &[Present; 2],
        met: &Met,
        troubles: &Troubles,
        past: &mut Past,
    ) -> Result<(), Finding> {
        for (server, present) in both.iter().enumerate() {
            let words = self.keepers[server].words();
            for word in &words {
                self.say(format!("  server {server} {}", word.text));
                past.is_closed |= matches!(word.what, What::Closed);
                self.is_put_back &= !matches!(word.what, What::Met);
                self.hear_word(server, word.what)?;
            }
            // A disk that fails may have failed to count.
            let has_counted = troubles.failures[server].is_none();
            for word in words.iter().filter(|_| has_counted) {
                if let What::Refused { client, reason: Reason::Used, .. } = word.what
                    && let Some(submission) = &self.clients[client].submission
                {
                    self.ledger.unended(server, submission.number);
                }
            }
            let end = match &met.ends[server] {
                None => "is there".into(),
                Some(End::Well) => "is done".into(),
                Some(End::Refused(error)) => error.to_string(),
                Some(End::Gone) => "is gone".into(),
                Some(End::Panicked { .. }) => {
                    return Err(Finding::new("panic", format!("server {server} panics")));
                }
            };
            self.say(format!("  server {server}: {end}, after {} writes", present.presence.writes()));
            if present.presence.is_gone() {
                self.keepers[server].stop();
                past.gone[server] = true;
            }
        }
        Ok(())
    }

    fn hear_word(&mut self, server: usize, word: What) -> Result<(), Finding> {
        match word {
            What::Ran(function) if function.keeps() => self.ledger.check_limit(server, true),
            What::Refused { reason: Reason::Unended, .. } => self.ledger.check_limit(server, false),
            What::Refused { client, reason, accuses: true } => {
                let text = format!("server {server} accuses client {client}, which is honest: {reason}");
                Err(Finding::new("blame", text))
            }
            _ => Ok(()),
        }
    }

    /// Lets clients open the replies that they got.
    fn hear_clients(&mut self, comers: &[Comer], mut met: Met, past: &mut Past) -> Result<(), Finding> {
        past.errors.extend(met.ends.iter_mut().filter_map(|end| match end.take() {
            Some(End::Refused(error)) => Some(error),
            _ => None,
        }));
        for (comer, replies) in comers.iter().zip(&met.replies) {
            let waits = comer.patience == Some(PATIENCE[1]) && comer.frames.iter().all(Option::is_some);
            past.is_silent |= waits && replies.contains(&None);
            let client = &mut self.clients[comer.client];
            let (name, number) = (client.name(), client.submission.as_ref().map(|submission| submission.number));
            let (Some(opened), Some(number)) = (client.open(replies), number) else { continue };
            match opened {
                Ok(opened) => {
                    let output = opened.output.slice(0, if opened.output.len() < 8 { 0 } else { 8 }).to_u128();
                    let output = output.and_then(|output| u8::try_from(output).ok());
                    let output = output.filter(|_| !self.ledger.deal_of(number).function.keeps());
                    let (has_panicked, version) = (opened.has_panicked(), opened.receipt().version());
                    let answer = Answer { output, has_panicked, version };
                    client.submission = None;
                    self.say(format!("  {name} opens: {answer:?}"));
                    past.answered.push(comer.client);
                    self.ledger.answered(number, answer)?;
                }
                Err(rejected) => {
                    self.say(format!("  {name}: {rejected}"));
                    self.hear_rejected(comer.client, number, &rejected, past)?;
                }
            }
        }
        Ok(())
    }

    fn hear_rejected(
        &mut self,
        client: usize,
        number: usize,
        rejected: &Rejected,
        past: &mut Past,
    ) -> Result<(), Finding> {
        let Rejected::Unanswered { generator, cloud } = rejected else {
            return Err(Finding::new("blame", format!("client {client}: {rejected}")));
        };
        let mut final_words = 0;
        for said in [generator, cloud] {
            match &**said {
                Said::Refusal(refusal) => {
                    past.reasons.push(refusal.reason);
                    final_words += 1;
                    if refusal.reason.is_never_run() {
                        self.ledger.never_runs(number)?;
                    }
                    if refusal.reason == Reason::Policy {
                        self.check_policy(number)?;
                    }
                }
                Said::OtherRun | Said::Malformed(_) | Said::Unopened(_) => {
                    return Err(Finding::new("bug", format!("client {client}: {rejected}")));
                }
                Said::Answer => {
                    final_words += 1;
                    self.ledger.has_run(number)?;
                }
                Said::Unproven(_) | Said::Nothing => {}
            }
        }
        if let Some((version, _)) = rejected.state_now() {
            self.clients[client].version = version;
        }
        if final_words == 2 {
            self.ledger.is_over(number);
            self.clients[client].submission = None;
        }
        Ok(())
    }

    /// Checks a refusal by the servers' policy: only a second first balance is against it.
    fn check_policy(&mut self, number: usize) -> Result<(), Finding> {
        let is_second = self.ledger.balances().into_iter().any(|(version, _)| version > 0);
        match self.ledger.deal_of(number).function == Function::Start && is_second {
            true => {
                // There is one: whoever asks next names it.
                let client = self
                    .clients
                    .iter_mut()
                    .find(|client| client.submission.as_ref().is_some_and(|submission| submission.number == number));
                client.into_iter().for_each(|client| client.version = client.version.max(1));
                Ok(())
            }
            false => Err(Finding::new("policy", format!("deal {number} is refused though all may deal so"))),
        }
    }

    /// The versions of the state at both servers; none where the store cannot be opened, or the state is closed.
    fn versions(&mut self) -> io::Result<[Option<u64>; 2]> {
        let mut versions = [None; 2];
        for (server, version) in versions.iter_mut().enumerate() {
            if let Some(Ok(store)) = self.look(server)? {
                *version = state_of(&store);
            }
        }
        Ok(versions)
    }

    fn look(&mut self, server: usize) -> io::Result<Option<Result<Store, garblet_store::StoreError>>> {
        let mut rng = self.seeded(1 << 11 | server as u64);
        let bug = self.owners_bug();
        self.keepers[server].disk().look(&mut rng, bug)
    }

    /// Looks at both stores, and compares them with the model.
    fn check_stores(&mut self) -> Step {
        let (mut versions, mut told) = (Vec::new(), Vec::new());
        for server in 0..2 {
            let store = match self.look(server)? {
                // Without a store there is no version.
                None => {
                    versions.push(0);
                    continue;
                }
                Some(Err(_)) => continue,
                Some(Ok(store)) => store,
            };
            versions.extend(state_of(&store));
            let count = unended(&store);
            told.push(format!("server {server} {:?}, {count}", state_of(&store)));
            if !self.is_put_back {
                found!(self.ledger.check_count(server, count));
            }
        }
        self.say(format!("  versions, and runs that have not ended: {}", told.join("; ")));
        match versions.try_into() {
            Ok(versions) if !self.is_put_back => Ok(self.ledger.check_versions(versions)),
            // Some store cannot be opened, or its state is closed.
            _ => Ok(Ok(())),
        }
    }
}

/// The version of the state in a store; none if it is closed.
fn state_of(store: &Store) -> Option<u64> {
    let kept = garblet::notices(store).into_iter().find_map(|notice| match notice {
        Notice::Kept(saved) if saved.name == STATE => Some(saved.state),
        _ => None,
    });
    match kept.flatten() {
        Some(state) => Some(state.version).filter(|_| !state.closed),
        None => Some(0),
    }
}

/// The runs that have not ended, as a store counts them.
fn unended(store: &Store) -> u32 {
    let runs = |notice: Notice| if let Notice::UnendedRuns(runs) = notice { Some(runs) } else { None };
    garblet::notices(store).into_iter().find_map(runs).unwrap_or(0)
}

/// Forgets the runs that have not ended.
///
/// *Errors*: the store's.
fn settle(store: &mut Store, server: usize) -> Result<(), Finding> {
    let is_of_runs = |notice: &Notice| matches!(notice, Notice::UnendedRuns(_));
    for notice in garblet::notices(store).into_iter().filter(is_of_runs) {
        garblet::settle(store, &notice).map_err(|error| Finding::new("settle", format!("server {server}: {error}")))?;
    }
    Ok(())
}
