//! The plain model of a history: the pieces that were ever used, the balances that may be kept, the runs that have not ended. It knows nothing of stores,
//! only what parties say that they did.

use std::collections::{BTreeMap, BTreeSet};

use garblet_net::{Accuses, Cause};
use garblet_protocol::{Class, ProtocolError};

use crate::{
    conduct::Price,
    seat::{Diary, End, Page},
    task::{Function, Job, Runs, Task},
};

#[cfg(test)]
mod tests;

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check that found it.
    pub check: &'static str,
    /// The expectation, and what was seen.
    pub text: String,
}

impl Finding {
    pub(crate) fn new(check: &'static str, text: impl Into<String>) -> Self {
        Finding { check, text: text.into() }
    }
}

/// A party's visit, as the model hears of it.
pub(crate) struct Visit {
    pub(crate) end: End,
    pub(crate) diary: Diary,
    /// Its writes to lines.
    pub(crate) writes: u64,
    /// The price of the lie that it has told; none for one that it only planned.
    pub(crate) lie: Option<Price>,
}

impl Visit {
    /// Its writes to lines before it told the others that it gave up.
    fn sent(&self) -> u64 {
        self.diary.gave_up.unwrap_or(self.writes)
    }

    /// Tells whether it has caught somebody, and could write that down. A malformed message is none of a cheat's guesses.
    pub(crate) fn has_caught(&self) -> bool {
        let End::Refused(error) = &self.end else { return false };
        let error = if let ProtocolError::Peer { source, .. } = error { source } else { error };
        let is_caught = Class::from(error) == Class::Misbehaviour && error.net().is_none();
        is_caught && !matches!(error, ProtocolError::NotGivenUp { .. })
    }
}

/// A balance that may be kept, with the runs of each party that have surely not ended if it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    value: Option<u8>,
    unended: Vec<u32>,
}

/// Numbers of pieces, by the store and the kind.
type Pieces = BTreeMap<(String, &'static str), BTreeSet<u64>>;

/// The model.
pub(crate) struct Model {
    parties: u16,
    /// The most runs that do not end.
    retries: u32,
    /// By party.
    used: Vec<Pieces>,
    given_up: Vec<BTreeSet<String>>,
    /// The most runs of each party that can be on its count.
    most_unended: Vec<u32>,
    candidates: Vec<Candidate>,
    /// The parties that have lied since the stores were made.
    liars: BTreeSet<u16>,
    /// The parties that had lied before that.
    former_liars: BTreeSet<u16>,
    /// The stores of all parties that somebody told a lie that must cost them.
    cheated: BTreeSet<String>,
    /// Set if somebody lied or a store was put back since the stores were made: then they may be of no more use.
    pub(crate) excused: bool,
    /// The balances and counts of the stores before these: one of them may be put back.
    former: Vec<Candidate>,
    former_most_unended: Vec<u32>,
}

impl Model {
    pub(crate) fn new(parties: u16, retries: u32) -> Self {
        let count = usize::from(parties);
        let candidates = vec![Candidate { value: None, unended: vec![0; count] }];
        Model {
            parties,
            retries,
            used: vec![Pieces::new(); count],
            given_up: vec![BTreeSet::new(); count],
            most_unended: vec![0; count],
            candidates,
            liars: BTreeSet::new(),
            former_liars: BTreeSet::new(),
            cheated: BTreeSet::new(),
            excused: false,
            former: Vec::new(),
            former_most_unended: vec![0; count],
        }
    }

    /// All parties have removed their stores.
    pub(crate) fn begin_anew(&mut self) {
        let new = Model::new(self.parties, self.retries);
        self.former = merged([&self.former[..], &self.candidates].concat());
        raise(&mut self.former_most_unended, &self.most_unended);
        self.former_liars.append(&mut self.liars);
        (self.candidates, self.most_unended, self.excused) = (new.candidates, new.most_unended, false);
    }

    /// A store was put back; `former` is set if it is one from before the stores were made.
    pub(crate) fn put_back(&mut self, former: bool) {
        self.excused = true;
        if former {
            self.candidates = merged([&self.candidates[..], &self.former].concat());
            raise(&mut self.most_unended, &self.former_most_unended);
            self.liars.extend(&self.former_liars);
        }
    }

    /// All owners attribute the runs that have not ended to failures.
    pub(crate) fn allow(&mut self) {
        self.most_unended.fill(0);
        self.candidates.iter_mut().for_each(|candidate| candidate.unended.fill(0));
    }

    /// The balances that may be kept.
    pub(crate) fn values(&self) -> Vec<Option<u8>> {
        self.candidates.iter().map(|candidate| candidate.value).collect()
    }

    /// The stores have said that they keep no balance, or none that all have, which may be.
    pub(crate) fn nothing_is_kept(&mut self) {
        let unended = (0..self.parties).map(|party| self.least_unended(party)).collect();
        self.candidates = vec![Candidate { value: None, unended }];
    }

    /// The runs of a party that have surely not ended.
    fn least_unended(&self, party: u16) -> u32 {
        self.candidates.iter().map(|candidate| candidate.unended[usize::from(party)]).min().unwrap_or(0)
    }

    /// Checks whether a party's store may be given up or not. It has no name if it cannot be opened.
    ///
    /// *Errors*: one that must have been given up and was not; one that was although nobody told a lie that costs it.
    pub(crate) fn check_store(&self, party: u16, store: Option<&str>, is_given_up: bool) -> Result<(), Finding> {
        let must_go = store.is_some_and(|store| self.given_up[usize::from(party)].contains(store));
        let may_go = store.map_or(!self.cheated.is_empty(), |store| self.cheated.contains(store));
        let store = store.unwrap_or("that cannot be opened");
        let text = match is_given_up {
            false if must_go => format!("party {party} was cheated, and has not given up store {store}"),
            true if !may_go => format!("party {party} has given up store {store}, and nobody told a lie that costs it"),
            _ => return Ok(()),
        };
        Err(Finding::new("given up", text))
    }

    /// Checks the number of runs on a party's count.
    ///
    /// *Errors*: fewer than have not ended, or more than have begun.
    pub(crate) fn check_count(&self, party: u16, count: u32) -> Result<(), Finding> {
        let (least, most) = (self.least_unended(party), self.most_unended[usize::from(party)]);
        match (least..=most).contains(&count) {
            true => Ok(()),
            false => {
                let text = format!("party {party} counts {count} runs that have not ended, expected {least} to {most}");
                Err(Finding::new("counts", text))
            }
        }
    }

    /// Hears of a meeting.
    ///
    /// *Errors*: anything that must not be.
    pub(crate) fn hear(&mut self, job: &Job, visits: &[Visit]) -> Result<(), Finding> {
        let told = || (0..).zip(visits).filter_map(|(party, visit)| Some((party, visit.lie?)));
        let lies: BTreeSet<u16> = told().map(|(party, _)| party).collect();
        self.liars.extend(&lies);
        self.excused |= !lies.is_empty();
        if told().any(|(_, price)| price == Price::Store) {
            self.cheated.extend(visits.iter().filter_map(|visit| visit.diary.store.clone()));
        }
        for (party, visit) in (0..).zip(visits) {
            // Whoever has ever lied has told lies to its own store, too.
            if !self.liars.contains(&party) {
                self.check_end(party, &visit.end)?;
            }
            self.use_pieces(party, &visit.diary)?;
        }
        if let Task::Run(runs) = job.task {
            for run in 0..runs.times {
                self.run(job, runs, (run, visits), &lies)?;
            }
        }
        // A lie of an earlier meeting may only come out now.
        let costs = told().all(|(_, price)| price == Price::Store);
        for (party, visit) in (0..).zip(visits) {
            if costs && visit.has_caught() && !self.liars.contains(&party) {
                self.given_up[usize::from(party)].extend(visit.diary.store.clone());
            }
        }
        Ok(())
    }

    /// Checks that an honest party panics only as planned, names nobody who is honest, and finds no bug of its own.
    fn check_end(&self, party: u16, end: &End) -> Result<(), Finding> {
        let error = match end {
            End::Panicked { planned: false } => {
                return Err(Finding::new("panic", format!("party {party} is honest and panics")));
            }
            End::Refused(error) => error,
            _ => return Ok(()),
        };
        let blame = if self.parties == 2 { error.accuses(1 - party) } else { error.blame() };
        let named = blame.filter(|blame| blame.cause == Cause::Misbehaved).map(|blame| blame.party);
        if let Some(named) = named.filter(|named| !self.liars.contains(named)) {
            return Err(Finding::new("blame", format!("party {party} names party {named}, which is honest: {error}")));
        }
        let is_judgement = error.is_evidence() || Class::from(error) == Class::Misbehaviour;
        if is_judgement && self.liars.is_empty() {
            return Err(Finding::new(
                "blame",
                format!("party {party} says that somebody cheats, and all are honest: {error}"),
            ));
        }
        match error {
            ProtocolError::WorkerLost | ProtocolError::Internal { .. } => {
                Err(Finding::new("bug", format!("party {party}: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Notes the pieces that a party has used.
    ///
    /// *Errors*: one that it has used before, or one of a store that was given up.
    fn use_pieces(&mut self, party: u16, diary: &Diary) -> Result<(), Finding> {
        let at = usize::from(party);
        let Some(store) = &diary.store else { return Ok(()) };
        let is_used = !diary.runs.is_empty() || diary.filled.is_some();
        if is_used && self.given_up[at].contains(store) {
            let text = format!("party {party} uses store {store}, which it has given up because it was cheated");
            return Err(Finding::new("given up", text));
        }
        for (kind, pieces) in diary.runs.iter().flat_map(|page| &page.pieces) {
            let used = self.used[at].entry((store.clone(), kind)).or_default();
            if let Some(twice) = pieces.intersection(used).next() {
                let text = format!("party {party} uses piece {twice} of {kind} of store {store} again");
                return Err(Finding::new("twice", text));
            }
            used.extend(pieces);
        }
        Ok(())
    }

    /// A run of a meeting.
    ///
    /// *Errors*: parties that use different pieces; an output that is wrong for each balance that may be kept.
    fn run(
        &mut self,
        job: &Job,
        runs: Runs,
        (run, visits): (usize, &[Visit]),
        lies: &BTreeSet<u16>,
    ) -> Result<(), Finding> {
        let pages: Vec<Option<&Page>> = visits.iter().map(|visit| visit.diary.runs.get(run)).collect();
        if runs.function.keeps() {
            self.check_limit(&pages)?;
        }
        let mut drawn = pages.iter().flatten().map(|page| &page.pieces);
        if let Some(first) = drawn.next()
            && drawn.any(|other| other != first)
        {
            return Err(Finding::new("pairs", "the parties of a run use different pieces"));
        }
        let reads = runs.first.is_none() && runs.function != Function::And;
        let is_drawn = pages.iter().any(Option::is_some);
        let before: Vec<Option<u8>> = self.values();
        let fits = |candidate: &Candidate| {
            if reads && is_drawn && candidate.value.is_none() {
                return false;
            }
            let right = |party: u16, page: &Page| {
                page.outputs.as_ref().is_none_or(|got| *got == job.expected(party, candidate.value.unwrap_or(0)))
            };
            let honest = (0..).zip(&pages).filter(|(party, _)| !lies.contains(party));
            honest.into_iter().all(|(party, page)| page.is_none_or(|page| right(party, page)))
        };
        self.candidates.retain(fits);
        if self.candidates.is_empty() {
            let check = if reads { "value" } else { "result" };
            let text = format!("a party has outputs that the evaluator gives for none of the balances {before:?}");
            return Err(Finding::new(check, text));
        }
        if runs.function.keeps() {
            self.keep(runs, &pages, visits, lies);
        }
        Ok(())
    }

    /// Checks that nobody takes pieces for one more run that is to keep a balance after too many that did not end.
    fn check_limit(&self, pages: &[Option<&Page>]) -> Result<(), Finding> {
        let drawn = (0..self.parties).zip(pages).filter(|(_, page)| page.is_some());
        match drawn.map(|(party, _)| (party, self.least_unended(party))).find(|(_, runs)| *runs > self.retries) {
            Some((party, runs)) => {
                let text = format!(
                    "party {party} takes pieces after {runs} runs that have not ended, and {} may",
                    self.retries
                );
                Err(Finding::new("limit", text))
            }
            None => Ok(()),
        }
    }

    /// The balances after a run that was to keep one.
    fn keep(&mut self, runs: Runs, pages: &[Option<&Page>], visits: &[Visit], lies: &BTreeSet<u16>) {
        let has_ended = |page: &Page| matches!(page.kept, Some(Ok(())));
        let is_open = |page: &Page| page.outputs.is_none() || page.late().is_some();
        let all_began = pages.iter().all(|page| page.is_some_and(|page| page.began.is_some()));
        let honest = (0..).zip(pages).filter(|(party, _)| !lies.contains(party));
        let any_ended = honest.into_iter().any(|(_, page)| page.is_some_and(has_ended));
        // A party that has sent anything has counted the run before.
        let unended = |party: usize| {
            let Some(page) = pages[party] else { return 0 };
            let has_sent = page.began.is_some_and(|writes| visits[party].sent() > writes);
            u32::from(has_sent && is_open(page) && !lies.contains(&(party as u16)))
        };
        let unended: Vec<u32> = (0..pages.len()).map(unended).collect();
        for (most, page) in self.most_unended.iter_mut().zip(pages) {
            let began = page.is_some_and(|page| page.began.is_some());
            *most = (*most + u32::from(began)).saturating_sub(u32::from(page.is_some_and(has_ended)));
        }
        let mut after: Vec<Candidate> = Vec::new();
        for candidate in &self.candidates {
            let old = runs.first.or(candidate.value).unwrap_or(0);
            let new = runs.function.of(old, runs.amount);
            if all_began && let Some(new) = new {
                after.push(Candidate { value: Some(new), unended: candidate.unended.clone() });
            }
            // One that panics may be known to have ended by some parties only.
            if !any_ended || new.is_none() {
                let counted = candidate.unended.iter().zip(&unended);
                let counted = counted.map(|(before, run)| before + if new.is_none() { 0 } else { *run });
                after.push(Candidate { value: candidate.value, unended: counted.collect() });
            }
        }
        self.candidates = merged(after);
    }
}

/// One candidate for each value.
fn merged(all: Vec<Candidate>) -> Vec<Candidate> {
    let mut by_value: BTreeMap<Option<u8>, Vec<u32>> = BTreeMap::new();
    for Candidate { value, unended } in all {
        let least = by_value.entry(value).or_insert_with(|| unended.clone());
        least.iter_mut().zip(unended).for_each(|(least, other)| *least = (*least).min(other));
    }
    by_value.into_iter().map(|(value, unended)| Candidate { value, unended }).collect()
}

/// Raises each number to the other one, if that is greater.
fn raise(all: &mut [u32], others: &[u32]) {
    all.iter_mut().zip(others).for_each(|(one, other)| *one = (*one).max(*other));
}
