//! Runs that keep outputs and panic, in every protocol that keeps some: what was kept before stays, nothing is kept the first time, and every party knows.
#![cfg(all(feature = "authenticated", feature = "lego", feature = "outsourced"))]

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use garblet::{
    Bits, Class, Config, Error, Order, OrderRequest, Outcome, Panicked, Party, Peer, Plan, Program, Protocol,
    ReadInput, Report, SavedValues, StateProblem, Stock, check_panics,
    circuit::{InputId, Recipients, evaluate},
    compile,
    lang::Options,
    net::testing::{Fault, FaultKind, Frame, every_fault, intercepted_mesh, intercepted_pair},
    net::{Accuses, Cause},
    results,
    store::{Store, StoreKey, testing::open_hooked},
    tell_panics,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::notices::{allow, kept};

const SET: &str = "pub fn main(old: u8, amount: u8) -> u8 { old + amount }";
const TAKE: &str = "pub fn main(old: u8, amount: u8) -> u8 { old - amount }";

/// The trouble that a run has.
#[derive(Default)]
struct Trouble {
    /// On the line of two parties.
    fault: Option<Fault>,
    /// The disks of the parties.
    disks: Vec<Disk>,
}

/// A disk that fails after so many writes, once the store is open.
#[derive(Clone)]
struct Disk {
    good: usize,
    writes: Arc<AtomicUsize>,
    is_open: Arc<AtomicBool>,
}

impl Default for Disk {
    fn default() -> Self {
        Disk { good: usize::MAX, writes: Arc::default(), is_open: Arc::default() }
    }
}

impl Disk {
    fn hook(&self) -> impl Fn(&'static str) -> io::Result<()> + Send + Sync + 'static {
        let disk = self.clone();
        move |step| {
            let is_good =
                !disk.is_open.load(Ordering::Relaxed) || disk.writes.fetch_add(1, Ordering::Relaxed) < disk.good;
            if is_good { Ok(()) } else { Err(io::Error::other(format!("failed at {step}"))) }
        }
    }

    fn opened(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }
}

/// A protocol with its parties, and their stores.
struct Bank {
    config: Config,
    parties: u16,
    folder: tempfile::TempDir,
    key: StoreKey,
    /// Those who learn the balance.
    learn: Vec<Party>,
    /// The most runs that may fail to end, at each party.
    retries: [Option<u32>; 2],
}

impl Bank {
    fn new(protocol: &str, parameters: &[(&str, &str)], learn: &[u16]) -> Self {
        let mut config = Config::of(protocol.parse::<Protocol>().expect("there is such a protocol"));
        parameters.iter().for_each(|(name, value)| config.set(name, value).expect("it has that parameter"));
        let parties = if protocol == "outsourced" { 3 } else { 2 };
        let (folder, key) = (tempfile::tempdir().expect("a folder"), StoreKey::generate(&mut rand::rng()));
        let learn = learn.iter().copied().map(Party).collect();
        Bank { config, parties, folder, key, learn, retries: [None; 2] }
    }

    /// All protocols and forms that keep values in stores, each with a balance that nobody learns, and with one that is shown while it is kept if that is possible.
    fn all() -> Vec<Bank> {
        vec![
            Bank::new("authenticated", &[], &[]),
            Bank::new("authenticated", &[("check", "reveal"), ("build", "stream")], &[0, 1]),
            Bank::new("authenticated", &[("build", "stream")], &[1]),
            Bank::new("authenticated", &[("check", "reveal")], &[0]),
            Bank::new("lego", &[], &[]),
            Bank::new("lego", &[], &[0, 1]),
            Bank::new("outsourced", &[], &[]),
            Bank::new("outsourced", &[("check", "reveal"), ("build", "stream")], &[]),
        ]
    }

    /// The second party has the amount, and the old balance where it is not read.
    fn program(&self, source: &str) -> Program {
        let mut program = compile("bank", source, Options::default()).expect("it compiles");
        (0..2).for_each(|input| program.set_owner(InputId(input), Party(1)));
        program.set_recipients(0, Recipients::Only(self.learn.clone()));
        tell_panics(&mut program);
        program
    }

    fn store(&self, party: u16, disk: &Disk) -> Store {
        let place = self.folder.path().join(party.to_string());
        let store = open_hooked(&place, &self.key, &mut rand::rng(), disk.hook()).expect("it opens");
        disk.opened();
        store
    }

    async fn party(
        &self,
        plan: &Plan,
        party: u16,
        ends: impl Into<garblet::Ends>,
        (own, disk): (&[Bits], Disk),
    ) -> Result<Outcome, Error> {
        let store = self.store(party, &disk);
        let order = Order::new(&OrderRequest::default(), self.parties, &self.config)?;
        let mut stock = Stock::new(order, store, "all");
        stock.top_up = true;
        stock.retries = self.retries.get(usize::from(party)).copied().flatten();
        let peer = Peer::open_with(plan, Party(party), ends, stock, rand::rng(), Box::new(())).await?;
        peer.finish(own).await
    }

    fn run(&self, program: Program, saved: SavedValues, own: &[u128]) -> (Plan, Vec<Result<Report, Error>>) {
        let (plan, results, _) = self.run_with(program, saved, own, Trouble::default());
        (plan, results.into_iter().map(|result| result.map(|outcome| outcome.report)).collect())
    }

    fn run_with(
        &self,
        program: Program,
        saved: SavedValues,
        own: &[u128],
        Trouble { fault, disks }: Trouble,
    ) -> (Plan, Vec<Result<Outcome, Error>>, Vec<Frame>) {
        let plan = Plan::saving(Arc::new(program), self.parties, &self.config, saved).expect("it can be run");
        let own: Vec<Bits> = own.iter().map(|&value| Bits::from_u128(value, 8)).collect();
        let of = |party: u16| {
            let disk = disks.get(usize::from(party)).cloned().unwrap_or_default();
            (if party == 1 { &own[..] } else { &[] }, disk)
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (results, frames) = runtime.block_on(async {
            if self.parties == 2 {
                let (ours, theirs, transcript) = intercepted_pair(fault);
                let both = tokio::join!(self.party(&plan, 0, ours, of(0)), self.party(&plan, 1, theirs, of(1)));
                return (vec![both.0, both.1], transcript.frames());
            }
            let (meshes, _) = intercepted_mesh(self.parties, None);
            let [first, second, third] = <[_; 3]>::try_from(meshes).ok().expect("three parties");
            let all = tokio::join!(
                self.party(&plan, 0, first, of(0)),
                self.party(&plan, 1, second, of(1)),
                self.party(&plan, 2, third, of(2))
            );
            (vec![all.0, all.1, all.2], Vec::new())
        });
        (plan, results, frames)
    }

    /// Takes one, in trouble.
    fn take_one(&self, trouble: Trouble) -> Vec<Frame> {
        self.take_one_with(trouble).1
    }

    fn take_one_with(&self, trouble: Trouble) -> (Vec<Result<Outcome, Error>>, Vec<Frame>) {
        let read = ReadInput { port: "old".into(), name: "balance".into(), output: None };
        let saved = SavedValues { keep: Some("balance".into()), read: vec![read] };
        let (_, results, frames) = self.run_with(self.program(TAKE), saved, &[1], trouble);
        (results, frames)
    }

    /// Changes the balance, or makes the first one; what each party hears of panics.
    fn change(&self, source: &str, first: Option<u8>, amount: u8) -> Vec<Result<(), Panicked>> {
        let read = ReadInput { port: "old".into(), name: "balance".into(), output: None };
        let read = if first.is_none() { vec![read] } else { Vec::new() };
        let saved = SavedValues { keep: Some("balance".into()), read };
        let own: Vec<u128> = first.into_iter().chain([amount]).map(u128::from).collect();
        let (plan, results) = self.run(self.program(source), saved, &own);
        let told = (0..).map(Party).zip(results).map(|(party, result)| {
            let report = result.unwrap_or_else(|error| panic!("{}, {party}: {error}", self.config.protocol()));
            let panicked = check_panics(plan.program(), &report.outputs);
            let result = report.outputs[0].as_ref().map(|bits| bits.to_u128().expect("eight bits"));
            assert_eq!(result.is_some(), self.learn.contains(&party));
            assert!(panicked.is_ok() || result.unwrap_or(0) == 0, "a result of a run that panicked");
            panicked
        });
        told.collect()
    }

    /// The balance, which is shown to the second party; none if there is none.
    fn balance(&self) -> Option<u8> {
        let mut program = self.program("pub fn main(old: u8, amount: u8) -> u8 { old ^ amount }");
        program.set_recipients(0, Recipients::Only(vec![Party(1)]));
        let read = vec![ReadInput { port: "old".into(), name: "balance".into(), output: None }];
        let (_, results) = self.run(program, SavedValues { keep: None, read }, &[0]);
        if results.iter().all(Result::is_err) {
            return None;
        }
        let report = results.into_iter().nth(1)?.expect("both have it or none");
        report.outputs[0].as_ref()?.to_u128()?.try_into().ok()
    }
}

/// A balance of 100 of which 101 are taken.
#[test]
fn what_was_kept_stays_after_a_run_that_panics_and_all_parties_know() {
    for bank in Bank::all() {
        let told = bank.change(SET, Some(250), 6);
        assert!(told.iter().all(Result::is_err), "{}: the first one", bank.config.protocol());
        assert_eq!(bank.balance(), None, "{}: nothing is kept of it", bank.config.protocol());
        assert!(bank.change(SET, Some(60), 40).iter().all(Result::is_ok));
        assert_eq!(bank.balance(), Some(100));
        for (party, told) in (0..).map(Party).zip(bank.change(TAKE, None, 101)) {
            let panicked = told.expect_err("more than there is");
            assert!(panicked.keeps);
            assert_eq!(panicked.place.is_some(), bank.learn.contains(&party), "{party} learns where");
        }
        assert_eq!(bank.balance(), Some(100), "{}", bank.config.protocol());
        assert!(bank.change(TAKE, None, 100).iter().all(Result::is_ok));
        assert_eq!(bank.balance(), Some(0));
    }
}

/// Deposits and payments of any size, held against a balance in the clear.
#[test]
fn any_row_of_runs_keeps_what_a_balance_in_the_clear_has() {
    for (seed, bank) in (0..).zip(Bank::all().into_iter().step_by(2)) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (mut model, mut panics) = (None, 0);
        for run in 0..if is_full() { 60 } else { 8 } {
            let (source, amount) = (if rng.random() { SET } else { TAKE }, rng.random::<u8>());
            let first = model.is_none().then(|| rng.random::<u8>());
            let old = first.or(model).expect("one of the two");
            let new = if source == SET { old.checked_add(amount) } else { old.checked_sub(amount) };
            let told = bank.change(source, first, amount);
            assert!(told.iter().all(|told| told.is_err() == new.is_none()), "{}, run {run}", bank.config.protocol());
            model = new.or(model);
            panics += usize::from(new.is_none());
        }
        assert_eq!(bank.balance(), model, "{}", bank.config.protocol());
        assert!(panics > 0, "seed {seed}");
    }
}

#[test]
fn a_run_that_keeps_costs_a_gate_for_each_bit_that_is_learned() {
    for learn in [&[][..], &[0], &[0, 1]] {
        let bank = Bank::new("authenticated", &[], learn);
        let program = bank.program(TAKE);
        let saved = SavedValues { keep: Some("balance".into()), ..SavedValues::default() };
        let plan = Plan::saving(program.clone(), 2, &bank.config, saved).expect("it can be run");
        let code = program.outputs()[program.notes().panic_output().expect("it may panic")].port.width();
        let result = if learn.is_empty() { 0 } else { 8 };
        assert_eq!(plan.program().counts().and, program.counts().and + result + u64::from(code) - 1);
        assert_eq!(results(plan.program()).count(), 1);
        let inputs = [5, 6].map(|value| Bits::from_u128(value, 8));
        assert_eq!(evaluate(plan.program(), &inputs)[2], Bits::from_u128(1, 1));
        let quiet = Plan::saving(program.clone(), 2, &bank.config, SavedValues::default()).expect("it can be run");
        assert_eq!(quiet.program().digest(), program.digest());
    }
}

fn is_full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}

/// Two parties that are cut off at each message of the end: after that both have the old balance or both the new one, and go on.
#[test]
fn both_parties_have_one_value_wherever_a_run_is_cut_off() {
    let revealed = [("check", "reveal"), ("build", "stream")];
    for (protocol, learn, parameters) in [
        ("authenticated", &[][..], &[][..]),
        ("authenticated", &[0, 1], &revealed),
        ("lego", &[], &[]),
        ("lego", &[0, 1], &[]),
    ] {
        let mut bank = Bank::new(protocol, parameters, learn);
        bank.retries = [Some(u32::MAX); 2];
        assert!(bank.change(SET, Some(200), 1).iter().all(Result::is_ok));
        let frames = bank.take_one(Trouble::default());
        let mut balance = 200;
        assert_eq!(bank.balance(), Some(balance));
        let cuts: Vec<Fault> =
            every_fault(&frames).into_iter().filter(|fault| matches!(fault.kind, FaultKind::Cut)).collect();
        // The farewells are the last.
        let last = if is_full() { cuts.len() } else { 9 };
        let (mut stayed, mut advanced) = (0, 0);
        for cut in cuts.into_iter().rev().take(last) {
            bank.take_one(Trouble { fault: Some(cut), ..Trouble::default() });
            // Orders of `lego` that are cut off count, too, and no more are made after three.
            for party in 0..2 {
                allow(&mut bank.store(party, &Disk::default()));
            }
            let now = bank.balance().unwrap_or_else(|| panic!("{protocol}: it is lost after {cut:?}"));
            assert!([balance, balance - 1].contains(&now), "{protocol}: {now} after {balance}, {cut:?}");
            if now == balance {
                stayed += 1;
            } else {
                advanced += 1;
            }
            balance = now;
        }
        assert!(stayed > 1 && advanced > 1, "{protocol}: {stayed} stayed, {advanced} advanced");
    }
}

/// A party whose disk fails at a write, any of them. Where the other one hears so, it takes it for what it is: an honest party may say that it has no room.
#[test]
fn both_parties_have_one_value_whichever_write_is_the_last() {
    for (protocol, party) in [("authenticated", 0), ("authenticated", 1), ("lego", 0), ("lego", 1)] {
        let mut bank = Bank::new(protocol, &[], &[0, 1]);
        bank.retries = [Some(u32::MAX); 2];
        assert!(bank.change(SET, Some(200), 1).iter().all(Result::is_ok));
        let (mut balance, mut good, mut heard) = (201, 0, 0);
        loop {
            let mut disks: Vec<Disk> = (0..2).map(|_| Disk::default()).collect();
            disks[party].good = good;
            let writes = disks[party].writes.clone();
            let (mut results, _) = bank.take_one_with(Trouble { disks, ..Trouble::default() });
            let now = bank.balance();
            let now = now.unwrap_or_else(|| panic!("{protocol}: {good} writes of party {party}: it is lost"));
            let place = format!("{protocol}: {now} after {balance}, {good} writes of party {party}");
            assert!([balance, balance - 1].contains(&now), "{place}");
            for party in 0..2 {
                let mut store = bank.store(party, &Disk::default());
                let unended = kept(&store)[0].unended;
                assert!(unended == 0 || now == balance, "{place}: party {party} counts a run that has ended");
                assert!(unended <= 1, "{place}: party {party} counts {unended} runs");
                // Orders of `lego` that were left unfinished have a limit of their own.
                allow(&mut store);
            }
            let is_whole = writes.load(Ordering::Relaxed) <= good;
            assert!(!is_whole || now == balance - 1, "nothing failed");
            let other = results.swap_remove(1 - party).map(|outcome| outcome.closing);
            if let Err(error) | Ok(Some(error)) = other {
                assert_ne!(Class::from(&error), Class::Misbehaviour, "{place}: {error}");
                let blame = error.accuses(party as u16);
                assert!(blame.is_none_or(|blame| blame.cause != Cause::Misbehaved), "{place}: {error}");
                if matches!(error, Error::NotKept { .. }) {
                    assert_eq!(Class::from(&error), Class::Store);
                    heard += 1;
                }
            }
            balance = now;
            if is_whole {
                break;
            }
            good += 1;
        }
        assert!(heard > 0, "{protocol}: party {} has not heard that the other one could not keep its part", 1 - party);
    }
}

/// The evaluator's last message before the other party keeps its part: whoever cuts it off, both parties stay at the old value. A party that has learned its output by then, or says
/// at the next meeting that it has kept nothing, has had a guess.
fn last_message(bank: &Bank) -> Fault {
    let frames = bank.take_one(Trouble::default());
    let is_last = |fault: &Fault| {
        let mut stays = Bank::new(&bank.config.protocol().to_string(), &[], &[0, 1]);
        stays.retries = [Some(u32::MAX); 2];
        assert!(stays.change(SET, Some(9), 0).iter().all(Result::is_ok));
        stays.take_one(Trouble { fault: Some(*fault), ..Trouble::default() });
        stays.balance() == Some(9)
    };
    let cuts = every_fault(&frames).into_iter().filter(|fault| matches!(fault.kind, FaultKind::Cut));
    cuts.rev().find(is_last).expect("one of them")
}

#[test]
fn a_value_of_which_too_many_runs_did_not_end_is_refused_until_more_are_allowed() {
    for protocol in ["authenticated", "lego"] {
        let mut bank = Bank::new(protocol, &[], &[0, 1]);
        assert!(bank.change(SET, Some(200), 1).iter().all(Result::is_ok));
        let fault = last_message(&bank);
        assert_eq!(bank.balance(), Some(200));
        for (limited, retries) in [(0, 2), (1, 2), (0, 0), (1, 0)] {
            // The other party is the one that lets runs fail, and has no limit of its own.
            bank.retries = [Some(u32::MAX); 2];
            bank.retries[limited] = Some(retries);
            for _ in 0..=retries {
                bank.take_one(Trouble { fault: Some(fault), ..Trouble::default() });
                assert_eq!(bank.balance(), Some(200), "{protocol}");
            }
            let (results, _) = bank.take_one_with(Trouble::default());
            let problem = StateProblem::Failures { most: retries };
            let error = results[limited].as_ref().expect_err("too many have failed");
            assert!(matches!(error, Error::State { problem: is, .. } if *is == problem), "{protocol}: {error}");
            assert!(results[1 - limited].is_err());
            assert_eq!(bank.balance(), Some(200), "{protocol}: reading alone is not refused");
            for party in 0..2 {
                let mut store = bank.store(party, &Disk::default());
                let names = kept(&store);
                assert_eq!((names.len(), names[0].unended), (1, retries + 1), "{protocol}");
                assert_eq!(allow(&mut store), retries + 1);
                assert_eq!(kept(&store)[0].unended, 0);
            }
        }
        assert!(bank.change(TAKE, None, 1).iter().all(Result::is_ok));
        assert!(bank.change(TAKE, None, 255).iter().all(Result::is_err));
        for party in 0..2 {
            assert_eq!(kept(&bank.store(party, &Disk::default()))[0].unended, 0, "both ended, one in a panic");
        }
        assert_eq!(bank.balance(), Some(199));
    }
}

const STALE: &str = "state `balance`: a run of this session that was to replace it began after this run was prepared, so this run could read an old value";

/// Runs that both parties prepared ahead, each of which reads and keeps the balance: only the first reads the balance of today.
#[test]
fn a_run_that_was_prepared_before_the_value_changed_is_refused() {
    for protocol in ["authenticated", "lego"] {
        let bank = Bank::new(protocol, &[], &[0, 1]);
        assert!(bank.change(SET, Some(200), 1).iter().all(Result::is_ok));
        let before = bank.balance().expect("a value");
        let read = ReadInput { port: "old".into(), name: "balance".into(), output: None };
        let both = SavedValues { keep: Some("balance".into()), read: vec![read] };
        let plan = Plan::saving(Arc::new(bank.program(TAKE)), 2, &bank.config, both).expect("it keeps values");
        let party = async |party: u16, ends: garblet::Ends| {
            let order = Order::new(&OrderRequest::default(), 2, &bank.config).expect("an order");
            let mut stock = Stock::new(order, bank.store(party, &Disk::default()), "all");
            stock.top_up = true;
            let mut peer = Peer::open_with(&plan, Party(party), ends, stock, rand::rng(), Box::new(())).await?;
            let own = if party == 1 { vec![Bits::from_u128(1, 8)] } else { vec![] };
            let (first, second) = (peer.prepare().await?, peer.prepare().await?);
            peer.online(first, &own).await?;
            let refused = peer.online(second, &own).await.err().map(|error| error.to_string());
            Ok::<_, Error>(refused)
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let refused = runtime.block_on(async {
            let (left, right, _) = intercepted_pair(None);
            let (one, other) = tokio::join!(party(0, left.into()), party(1, right.into()));
            [one, other].map(|ended| ended.expect("the first run ends"))
        });
        for error in refused {
            assert_eq!(error.as_deref(), Some(STALE), "{protocol}");
        }
        assert_eq!(bank.balance(), Some(before - 1), "{protocol}");
    }
}
