//! A history: its steps, drawn from a seed, and the log of what became of them.

use std::{
    collections::BTreeSet,
    io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::future::join_all;
use garblet::Notice;
use garblet_authenticated::Amounts;
use garblet_net::{Channel, Mesh};
use garblet_primitives::{Block, Prg};
use garblet_store::{Store, StoreError};
use rand::RngExt;
use tempfile::TempDir;
use tokio::runtime::Builder;

use crate::{
    bug::Bug,
    disk::{Disk, is_given_up},
    founded::{Founded, founded},
    line::{Presence, line},
    model::{Finding, Model, Visit},
    of_several, of_two,
    options::Options,
    remedy::{self, Remedy},
    seat::{Diary, End, Page, Seat, until_gone},
    task::{Function, Job, Plan, Runs, Task},
    trouble::Trouble,
};

#[cfg(test)]
mod tests;

/// The steps of a history before all trouble ends.
const STEPS: std::ops::Range<usize> = 4..12;

/// The share of histories that begin with stores that are set up.
const FOUNDED: f64 = 0.75;

/// The meetings after the last trouble, with the remedies between them, until all parties work again.
const MEETINGS_TO_HEAL: usize = 6;

/// A history that was lived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The seed.
    pub seed: u64,
    /// The options, the steps, and what became of them: a function of the seed.
    pub log: String,
    /// Something that must not be, if anything was found.
    pub finding: Option<Finding>,
}

/// Lives the history of a seed, with an old fault put back if one is named.
///
/// # Panics
/// If the folder for the stores cannot be made or written.
pub fn live(seed: u64, bug: Option<Bug>) -> History {
    let mut world = World::new(seed, bug).expect("a folder for the stores");
    let finding = world.live().expect("the disk").err();
    if let Some(Finding { check, text }) = &finding {
        world.say(format!("FOUND, {check}: {text}"));
    }
    History { seed, log: world.log.join("\n") + "\n", finding }
}

/// The outcome of a step: an error of this machine, or a finding.
pub(crate) type Step<T = ()> = io::Result<Result<T, Finding>>;

struct World {
    options: Options,
    bug: Option<Bug>,
    folder: TempDir,
    disks: Vec<Disk>,
    model: Model,
    rng: Prg,
    /// The copies of each party that are of stores before the last new ones.
    former_copies: Vec<usize>,
    meetings: u64,
    seed: u64,
    log: Vec<String>,
}

/// A folder in memory, if the system has one.
pub(crate) fn scratch() -> io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("garblet-sim");
    if memory.is_dir() { builder.tempdir_in(memory).or_else(|_| builder.tempdir()) } else { builder.tempdir() }
}

impl World {
    fn new(seed: u64, bug: Option<Bug>) -> io::Result<Self> {
        let mut rng = Prg::new(Block::from_halves(seed, u64::MAX));
        let options = Options::drawn(&mut rng);
        let founded = if rng.random_bool(FOUNDED) { Some(World::set_up(&options)?) } else { None };
        World::with(options, (seed, rng), bug, founded.as_deref())
    }

    /// Parties without stores, or with those that were set up before.
    fn with(
        options: Options,
        (seed, mut rng): (u64, Prg),
        bug: Option<Bug>,
        founded: Option<&Founded>,
    ) -> io::Result<Self> {
        let folder = scratch()?;
        let disk = |party: u16| {
            let place = folder.path().join(party.to_string());
            match founded {
                Some(founded) => Disk::founded(place, &founded[usize::from(party)]),
                None => Disk::new(place, &mut rng),
            }
        };
        let disks = (0..options.parties).map(disk).collect::<io::Result<Vec<_>>>()?;
        let model = Model::new(options.parties, options.retries);
        let begins = if founded.is_some() { "stores that are set up" } else { "no stores" };
        let log = vec![format!("seed {seed}: {options}, begins with {begins}")];
        let former_copies = vec![0; disks.len()];
        Ok(World { options, bug, folder, disks, model, rng, former_copies, meetings: 0, seed, log })
    }

    /// The stores of parties with these options, which have met once without trouble and without an order.
    fn set_up(options: &Options) -> io::Result<Arc<Founded>> {
        let Options { parties, config, evaluator, .. } = options;
        founded(format!("{parties} {evaluator} {config:?}"), || {
            let options = Options { order: Amounts::default(), ..options.clone() };
            let mut world = World::with(options, (u64::MAX, Prg::new(Block::ONES)), None, None)?;
            world.meet(Task::Fill, &[])?.map_err(|finding| io::Error::other(finding.text))?;
            world.disks.iter().map(Disk::contents).collect()
        })
    }

    fn say(&mut self, line: String) {
        let folder = self.folder.path().display().to_string();
        self.log.push(line.replace(&folder, "$"));
    }

    /// All steps, then the way back to work.
    fn live(&mut self) -> Step {
        for _ in 0..self.rng.random_range(STEPS) {
            if let Err(finding) = self.step()? {
                return Ok(Err(finding));
            }
        }
        match self.heal()? {
            Ok(()) => self.check_stores(true),
            found => Ok(found),
        }
    }

    fn step(&mut self) -> Step {
        let done = match self.rng.random_range(0..20) {
            0..4 => self.meet_in_trouble(Task::Fill),
            4..14 => {
                let runs = self.runs();
                self.meet_in_trouble(Task::Run(runs))
            }
            14..17 => self.copy(),
            17..19 => self.put_back(),
            _ => self.allow(),
        };
        match done? {
            Ok(()) => self.check_stores(false),
            found => Ok(found),
        }
    }

    /// Draws runs that fit what may be kept.
    fn runs(&mut self) -> Runs {
        let values = self.model.values();
        let may_be_none = values.contains(&None);
        let function = match self.rng.random_range(0..10) {
            0..4 => Function::Deposit,
            4..7 => Function::Withdraw,
            7..9 => Function::Show,
            _ => Function::And,
        };
        let begins = function == Function::And || (may_be_none && (values.len() == 1 || self.rng.random()));
        let (first, amount) = (self.rng.random(), self.rng.random_range(0..128));
        Runs { function, amount, first: begins.then_some(first), times: self.rng.random_range(1..3) }
    }

    fn copy(&mut self) -> Step {
        let parties = self.some_parties();
        self.say(format!("copies of the stores of {parties:?}"));
        parties.iter().try_for_each(|party| self.disks[usize::from(*party)].copy())?;
        Ok(Ok(()))
    }

    fn put_back(&mut self) -> Step {
        for party in self.some_parties() {
            let copies = self.disks[usize::from(party)].copies();
            if copies > 0 {
                let number = self.rng.random_range(0..copies);
                self.say(format!("copy {number} of the store of party {party} is put back"));
                self.disks[usize::from(party)].put_back(number)?;
                self.model.put_back(number < self.former_copies[usize::from(party)]);
            }
        }
        Ok(Ok(()))
    }

    /// One party, or all.
    fn some_parties(&mut self) -> Vec<u16> {
        let parties = self.options.parties;
        if self.rng.random() { (0..parties).collect() } else { vec![self.rng.random_range(0..parties)] }
    }

    /// All owners look at the notices of their stores and attribute the runs that have not ended to failures.
    fn allow(&mut self) -> Step {
        self.say("all owners allow more runs".into());
        let mut stores = Vec::new();
        for party in 0..self.options.parties {
            match self.open(party) {
                Ok(store) => stores.push(store),
                // Whoever cannot open its store keeps its count, and so all do.
                Err(error) => {
                    self.say(format!("  party {party} cannot open its store: {error}"));
                    return Ok(Ok(()));
                }
            }
        }
        for (party, store) in stores.iter_mut().enumerate() {
            let of_runs = |notice: &Notice| matches!(notice, Notice::UnendedRuns(_));
            for notice in garblet::notices(store).into_iter().filter(of_runs) {
                if let Err(error) = garblet::settle(store, &notice) {
                    return Ok(Err(Finding::new("settle", format!("party {party}: {error}"))));
                }
            }
        }
        self.model.allow();
        Ok(Ok(()))
    }

    /// Opens a party's store, as its owner does between meetings.
    fn open(&mut self, party: u16) -> Result<Store, StoreError> {
        let (mut rng, bug) = (self.owners_rng(party), self.owners_bug());
        self.disks[usize::from(party)].open(&mut rng, (None, &Presence::new(None)), bug)
    }

    fn owners_rng(&mut self, party: u16) -> Prg {
        self.meetings += 1;
        Prg::new(Block::from_halves(self.seed, self.meetings << 16 | u64::from(party)))
    }

    /// The owner has the same version as its party; but it looks before anything else happens.
    fn owners_bug(&self) -> Option<Bug> {
        self.bug.filter(|bug| *bug == Bug::NoRecord)
    }

    fn meet_in_trouble(&mut self, task: Task) -> Step {
        let count = [0, 1, 1, 1, 2][self.rng.random_range(0..5)];
        let troubles: Vec<Trouble> = (0..count).map(|_| Trouble::drawn(&mut self.rng, &self.options)).collect();
        match self.meet(task, &troubles)? {
            Ok(visits) if troubles.is_empty() => self.follow_hints(task, &visits).map(|healed| healed.map(drop)),
            met => Ok(met.map(drop)),
        }
    }

    /// Lets all parties meet.
    fn meet(&mut self, task: Task, troubles: &[Trouble]) -> Step<Vec<Visit>> {
        let job = match Job::new(task, &self.options, self.bug) {
            Ok(job) => job,
            Err(error) => return Ok(Err(Finding::new("plan", error.to_string()))),
        };
        self.say(format!("{task}"));
        for trouble in troubles {
            self.say(format!("  {}", trouble.told(&self.options, &job)));
        }
        if self.bug.is_some() {
            self.disks.iter().try_for_each(Disk::remember)?;
        }
        self.meetings += 1;
        let visits = self.visits(&job, troubles);
        for (party, visit) in visits.iter().enumerate() {
            self.tell(party, visit);
        }
        for (disk, visit) in self.disks.iter().zip(&visits) {
            let is_lost = match (self.bug, &visit.end) {
                (Some(Bug::LosesWrites), End::Gone | End::Panicked { .. }) => true,
                (Some(Bug::GivesNothingUp), End::Refused(error)) => error.is_evidence(),
                _ => false,
            };
            if is_lost {
                disk.forget_since()?;
            }
        }
        Ok(self.model.hear(&job, &visits).map(|()| visits))
    }

    /// All visits of a meeting, on one thread.
    fn visits(&self, job: &Job, troubles: &[Trouble]) -> Vec<Visit> {
        let parties = 0..self.options.parties;
        let deeds: Vec<_> = parties.clone().map(|party| Trouble::of_party(troubles, party)).collect();
        let present: Vec<Arc<Presence>> = deeds.iter().map(|(_, leaves_at)| Presence::new(*leaves_at)).collect();
        let diaries: Vec<Arc<Mutex<Diary>>> = parties.clone().map(|_| Arc::default()).collect();
        let liars: Vec<Arc<AtomicBool>> = parties.clone().map(|_| Arc::default()).collect();
        let seat = |party: u16| {
            let at = usize::from(party);
            let seed = Block::from_halves(self.seed, self.meetings << 16 | u64::from(party));
            let (options, disk) = (&self.options, &self.disks[at]);
            let (presence, diary, has_lied) = (present[at].clone(), diaries[at].clone(), liars[at].clone());
            Seat { party, options, job, disk, deed: deeds[at].0, bug: self.bug, seed, presence, diary, has_lied }
        };
        let cut = |low: u16, high: u16| {
            troubles.iter().find_map(|trouble| match trouble {
                Trouble::Cut { low: one, high: other, cut } if (*one, *other) == (low, high) => Some(*cut),
                _ => None,
            })
        };
        let pair = |low: u16, high: u16| line([low, high].map(|party| &present[usize::from(party)]), cut(low, high));
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime without threads needs nothing that could be missing");
        let ends = runtime.block_on(async {
            match &job.plan {
                Plan::OfTwo(plan) => {
                    let visit = |(party, channel): (u16, Channel)| {
                        let (seat, plan) = (seat(party), plan.clone());
                        async move { until_gone(&seat.presence, of_two::visit(&seat, plan, channel)).await }
                    };
                    join_all((0..).zip(pair(0, 1)).map(visit)).await
                }
                Plan::OfSeveral(plan) => {
                    let visit = |(party, mesh): (u16, Mesh)| {
                        let (seat, plan) = (seat(party), plan.clone());
                        async move { until_gone(&seat.presence, of_several::visit(&seat, plan, mesh)).await }
                    };
                    let meshes = Mesh::of_pairs(self.options.parties, |low, high| pair(low, high).into());
                    join_all((0..).zip(meshes).map(visit)).await
                }
            }
        });
        let visit = |(party, end): (u16, End)| {
            let at = usize::from(party);
            let diary = std::mem::take(&mut *diaries[at].lock().expect("nobody panics with it"));
            let price = Trouble::price(troubles, party, &self.options, job);
            let lie = price.filter(|_| liars[at].load(Ordering::Relaxed));
            Visit { end, diary, writes: present[at].writes(), lie }
        };
        (0..).zip(ends).map(visit).collect()
    }

    /// Writes down what became of a visit.
    fn tell(&mut self, party: usize, Visit { end, diary, writes, lie }: &Visit) {
        let mut line = format!("  party {party}, {writes} writes");
        if lie.is_some() {
            line += ", has lied";
        }
        if let Some(filled) = diary.filled {
            line += &format!(", has {} triples {} masks", filled.triples, filled.masks);
        }
        for page in &diary.runs {
            let pieces = page.pieces.iter().map(|(kind, pieces)| format!("{kind} {pieces:?}"));
            line += &format!(", uses {}", pieces.collect::<Vec<_>>().join(" "));
            if let Some(outputs) = &page.outputs {
                let told =
                    |output: &Option<_>| output.as_ref().map_or("-".into(), |bits: &garblet::Bits| bits.to_string());
                line += &format!(", learns {}", outputs.iter().map(told).collect::<Vec<_>>().join(" "));
            }
            if let Some(late) = page.late() {
                line += &format!(", keeps nothing: {late}");
            }
        }
        line += &match end {
            End::Well => ": done".into(),
            End::Refused(error) => format!(": {error}"),
            End::Gone => ": gone".into(),
            End::Panicked { .. } => ": panicked".into(),
        };
        self.say(line);
    }

    /// Meets without trouble until all parties work, following the hints of errors in between.
    fn heal(&mut self) -> Step {
        self.say("all trouble ends".into());
        for _ in 0..MEETINGS_TO_HEAL {
            let first = self.model.values().iter().all(Option::is_none).then_some(100);
            let function = if first.is_some() { Function::Deposit } else { Function::Show };
            let task = Task::Run(Runs { function, amount: 1, first, times: 1 });
            let visits = match self.meet(task, &[])? {
                Ok(visits) => visits,
                Err(finding) => return Ok(Err(finding)),
            };
            match self.follow_hints(task, &visits)? {
                Ok(true) => return Ok(Ok(())),
                Ok(false) => {}
                Err(finding) => return Ok(Err(finding)),
            }
        }
        let text =
            format!("the parties do not work again within {MEETINGS_TO_HEAL} meetings, whatever hints they follow");
        Ok(Err(Finding::new("liveness", text)))
    }

    /// After a meeting without trouble: returns whether it did its work. If not, the owners follow its hints.
    fn follow_hints(&mut self, task: Task, visits: &[Visit]) -> Step<bool> {
        let errors =
            visits.iter().filter_map(|visit| if let End::Refused(error) = &visit.end { Some(error) } else { None });
        let errors: Vec<_> =
            errors.chain(visits.iter().flat_map(|visit| &visit.diary.runs).filter_map(Page::late)).collect();
        if errors.is_empty() {
            return Ok(did_all(task, visits).map(|()| true));
        }
        let remedy = match remedy::of_all(&errors) {
            Ok(remedy) => remedy,
            Err(finding) => return Ok(Err(finding)),
        };
        self.say(format!("  the owners follow the hint: {remedy:?}"));
        match remedy {
            Remedy::NewStores | Remedy::Again if !self.model.excused => {
                return Ok(Err(Finding::new("loss", "stores are lost though nobody lied and none was put back")));
            }
            Remedy::KeepAnew if !self.model.excused => {
                return Ok(Err(Finding::new("loss", "the parties have balances of different runs")));
            }
            Remedy::KeepFirst if !self.model.values().contains(&None) => {
                let text = format!("the balance is gone, expected one of {:?}", self.model.values());
                return Ok(Err(Finding::new("loss", text)));
            }
            Remedy::NewStores => {
                self.disks.iter().try_for_each(Disk::remove)?;
                self.former_copies = self.disks.iter().map(Disk::copies).collect();
                self.model.begin_anew();
            }
            Remedy::Allow => return self.allow().map(|allowed| allowed.map(|()| false)),
            Remedy::Fill => return self.meet(Task::Fill, &[]).map(|met| met.map(|_| false)),
            Remedy::KeepFirst | Remedy::KeepAnew => self.model.nothing_is_kept(),
            Remedy::Again | Remedy::SeeOthers => {}
        }
        Ok(Ok(false))
    }

    /// Looks at all stores, and compares their counts with the model's. `all_open` is set where none may refuse.
    fn check_stores(&mut self, all_open: bool) -> Step {
        let mut told = Vec::new();
        for party in 0..self.options.parties {
            let (mut rng, bug) = (self.owners_rng(party), self.owners_bug());
            let Some(store) = self.disks[usize::from(party)].look(&mut rng, bug)? else { continue };
            let id = store.as_ref().ok().map(Store::id);
            let is_gone = is_given_up(&store);
            if let Err(finding) = self.model.check_store(party, id.as_deref(), is_gone) {
                return Ok(Err(finding));
            }
            let store = match store {
                Ok(store) => store,
                Err(error) if all_open => return Ok(Err(Finding::new("counts", format!("party {party}: {error}")))),
                Err(_) => continue,
            };
            let runs = |notice: &Notice| if let Notice::UnendedRuns(runs) = notice { Some(*runs) } else { None };
            let count = garblet::notices(&store).iter().find_map(runs).unwrap_or(0);
            told.push(format!("party {party} {count}"));
            // Whoever gives a store up forgets its counts with all else.
            let checked = if is_gone { Ok(()) } else { self.model.check_count(party, count) };
            if let Err(finding) = checked {
                return Ok(Err(finding));
            }
        }
        self.say(format!("  runs that have not ended: {}", told.join(", ")));
        Ok(Ok(()))
    }
}

/// Checks that a meeting in which nobody failed has done its work, in all stores alike.
fn did_all(task: Task, visits: &[Visit]) -> Result<(), Finding> {
    let is_done = |diary: &Diary| match task {
        Task::Fill => diary.filled.is_some(),
        Task::Run(runs) => diary.runs.iter().filter(|page| page.outputs.is_some()).count() == runs.times,
    };
    let amounts: BTreeSet<_> =
        visits.iter().map(|visit| visit.diary.filled.map(|filled| (filled.triples, filled.masks))).collect();
    match visits.iter().all(|visit| is_done(&visit.diary)) && amounts.len() == 1 {
        true => Ok(()),
        false => Err(Finding::new("silence", "a meeting ends well, and its work is not done")),
    }
}
