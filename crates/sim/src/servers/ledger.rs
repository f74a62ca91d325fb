//! The plain model beside two servers: the balances that may be kept, and the deals that may have led to them. It knows nothing of stores.

use std::collections::BTreeSet;

use crate::model::Finding;

use super::{agreed::Function, client::Deal};

/// A history of the balance that may have been.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// The balance of each version, from the first.
    values: Vec<u8>,
    /// The deals that made them.
    ran: Vec<usize>,
}

impl Candidate {
    /// The balance that a deal computes with; `None` if there is no such version.
    fn before(&self, deal: Deal) -> Option<u8> {
        match deal.function {
            Function::Start => Some(deal.first),
            _ => self.values.get(usize::try_from(deal.version).ok()?.checked_sub(1)?).copied(),
        }
    }

    /// The balance that a deal gives; `None` if it panics.
    fn of(&self, deal: Deal) -> Option<u8> {
        deal.function.of(self.before(deal)?, deal.amount)
    }

    /// The same after a deal that keeps the next version; `None` if it cannot.
    fn after(&self, number: usize, deal: Deal) -> Option<Candidate> {
        let fits = deal.function.keeps() && deal.version == self.values.len() as u64 && !self.ran.contains(&number);
        let value = self.of(deal).filter(|_| fits)?;
        let mut after = self.clone();
        after.values.push(value);
        after.ran.push(number);
        Some(after)
    }
}

/// An answer that a client has opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// The output of a deal that keeps nothing.
    pub(crate) output: Option<u8>,
    pub(crate) has_panicked: bool,
    /// The version of the state after it.
    pub(crate) version: u64,
}

/// The model.
pub(crate) struct Ledger {
    retries: u32,
    deals: Vec<Deal>,
    /// The deals that may still run, or have run without anybody's knowing.
    open: BTreeSet<usize>,
    candidates: BTreeSet<Candidate>,
    /// The deals of which each server has said that its run began and did not end, since their operators last allowed more.
    unended: [BTreeSet<usize>; 2],
    /// The deals that may be on a server's count.
    counted: BTreeSet<usize>,
    /// Set if a store was put back since the service began: then its state may be lost.
    pub(crate) excused: bool,
}

impl Ledger {
    /// The model of a new service.
    pub(crate) fn new(retries: u32) -> Self {
        Ledger {
            retries,
            deals: Vec::new(),
            open: BTreeSet::new(),
            candidates: BTreeSet::from([Candidate::default()]),
            unended: Default::default(),
            counted: BTreeSet::new(),
            excused: false,
        }
    }

    /// The number of a new deal.
    pub(crate) fn deal(&mut self, deal: Deal) -> usize {
        let number = self.deals.len();
        self.deals.push(deal);
        self.open.insert(number);
        self.counted.insert(number);
        number
    }

    pub(crate) fn deal_of(&self, number: usize) -> Deal {
        self.deals[number]
    }

    /// The balances that may be kept, with their versions.
    pub(crate) fn balances(&self) -> Vec<(usize, Option<u8>)> {
        self.candidates.iter().map(|candidate| (candidate.values.len(), candidate.values.last().copied())).collect()
    }

    /// A meeting of the servers begins, in which open deals may run.
    pub(crate) fn may_run(&mut self) {
        let mut new: Vec<Candidate> = self.candidates.iter().cloned().collect();
        while let Some(candidate) = new.pop() {
            let after = self.open.iter().filter_map(|number| candidate.after(*number, self.deals[*number]));
            let after: Vec<Candidate> = after.filter(|after| !self.candidates.contains(after)).collect();
            self.candidates.extend(after.iter().cloned());
            new.extend(after);
        }
    }

    /// Keeps the candidates that fit.
    ///
    /// *Errors*: none does.
    fn keep(
        &mut self,
        check: &'static str,
        text: impl Fn() -> String,
        fits: impl Fn(&Candidate) -> bool,
    ) -> Result<(), Finding> {
        let before = self.balances();
        self.candidates.retain(|candidate| fits(candidate));
        match self.candidates.is_empty() {
            true => Err(Finding::new(check, format!("{}, and the balances that may be are {before:?}", text()))),
            false => Ok(()),
        }
    }

    /// A client has opened an answer.
    ///
    /// *Errors*: it is wrong for all that may be.
    pub(crate) fn answered(&mut self, number: usize, answer: Answer) -> Result<(), Finding> {
        let deal = self.deals[number];
        self.open.remove(&number);
        self.counted.remove(&number);
        let fits = |candidate: &Candidate| {
            let ran_at = candidate.ran.iter().position(|ran| *ran == number).map(|at| at as u64 + 1);
            match (deal.function.keeps(), answer.has_panicked) {
                (false, _) => candidate.before(deal).is_some() && candidate.of(deal) == answer.output,
                (true, false) => ran_at == Some(answer.version),
                (true, true) => ran_at.is_none() && candidate.of(deal).is_none() && deal.version == answer.version,
            }
        };
        self.keep("value", || format!("deal {number} is answered by {answer:?}"), fits)
    }

    /// A server has said that a deal is never run.
    ///
    /// *Errors*: it surely was.
    pub(crate) fn never_runs(&mut self, number: usize) -> Result<(), Finding> {
        self.open.remove(&number);
        let text = || format!("a server says that deal {number} is never run, but it was");
        self.keep("never run", text, |candidate| !candidate.ran.contains(&number))
    }

    /// A server has an answer to a deal: it has run, whether anybody opens it or not.
    ///
    /// *Errors*: it surely has not.
    pub(crate) fn has_run(&mut self, number: usize) -> Result<(), Finding> {
        let deal = self.deals[number];
        let text = || format!("a server has an answer to deal {number}, but it was not run");
        let ran = |candidate: &Candidate| candidate.ran.contains(&number) || candidate.of(deal).is_none();
        if deal.function.keeps() { self.keep("answer", text, ran) } else { Ok(()) }
    }

    /// Both servers have said that a deal was used: it does not run any more, but may have.
    pub(crate) fn is_over(&mut self, number: usize) {
        self.open.remove(&number);
    }

    /// A server says that the run of this deal began, and did not end there.
    pub(crate) fn unended(&mut self, server: usize, number: usize) {
        if self.deals[number].function.keeps() {
            self.unended[server].insert(number);
        }
    }

    /// The operators of both servers attribute the runs that have not ended to failures.
    pub(crate) fn allow(&mut self) {
        self.unended = Default::default();
        self.counted = self.open.clone();
    }

    /// The runs that are to keep the state and have surely not ended at a server.
    fn least_unended(&self, server: usize) -> u32 {
        let of = |candidate: &Candidate| {
            self.unended[server].iter().filter(|number| !candidate.ran.contains(number)).count() as u32
        };
        self.candidates.iter().map(of).min().unwrap_or(0)
    }

    /// Checks that a server may run, or refuse, one more deal that is to keep the state: it has said so.
    ///
    /// *Errors*: it runs one although more runs than may have not ended, or refuses one although they surely have.
    pub(crate) fn check_limit(&self, server: usize, runs: bool) -> Result<(), Finding> {
        let (least, most) = (self.least_unended(server), self.counted.len() as u32);
        match (runs, self.retries) {
            (true, retries) if least > retries => {
                let text = format!("server {server} runs after {least} runs that have not ended, and {retries} may");
                Err(Finding::new("limit", text))
            }
            (false, retries) if most <= retries => {
                let text = format!("server {server} refuses although at most {most} runs have not ended");
                Err(Finding::new("limit", text))
            }
            _ => Ok(()),
        }
    }

    /// Checks a server's count of runs that have not ended.
    ///
    /// *Errors*: fewer than surely have not, or more than may have begun.
    pub(crate) fn check_count(&self, server: usize, count: u32) -> Result<(), Finding> {
        let expected = self.least_unended(server)..=self.counted.len() as u32;
        match expected.contains(&count) {
            true => Ok(()),
            false => {
                let text = format!("server {server} counts {count} runs that have not ended, expected {expected:?}");
                Err(Finding::new("counts", text))
            }
        }
    }

    /// Checks the versions of the state at both servers: the generator's is the one that counts, and the cloud may be one behind until they meet.
    ///
    /// *Errors*: versions that cannot be.
    pub(crate) fn check_versions(&mut self, [generator, cloud]: [u64; 2]) -> Result<(), Finding> {
        if ![Some(0), Some(1)].contains(&generator.checked_sub(cloud)) {
            let text = format!("the generator has version {generator}, the cloud version {cloud}");
            return Err(Finding::new("apart", text));
        }
        let text = || format!("the generator has version {generator}");
        self.keep("versions", text, |candidate| candidate.values.len() as u64 == generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Deal = Deal { function: Function::Start, first: 100, amount: 1, version: 0 };

    /// A withdrawal from the first balance.
    fn withdraw(amount: u8) -> Deal {
        Deal { function: Function::Withdraw, first: 0, amount, version: 1 }
    }

    fn kept(version: u64) -> Answer {
        Answer { output: None, has_panicked: false, version }
    }

    /// A ledger with a balance of 101, the answered deal 0.
    fn ledger(retries: u32) -> Ledger {
        let mut ledger = Ledger::new(retries);
        let number = ledger.deal(START);
        ledger.may_run();
        ledger.answered(number, kept(1)).expect("it may have run");
        ledger
    }

    #[test]
    fn of_two_deals_for_one_version_at_most_one_runs() {
        let mut ledger = ledger(0);
        let [one, other] = [10, 20].map(|amount| ledger.deal(withdraw(amount)));
        ledger.may_run();
        assert_eq!(ledger.balances(), [(1, Some(101)), (2, Some(81)), (2, Some(91))]);
        ledger.answered(one, kept(2)).expect("it may have run");
        assert_eq!(ledger.balances(), [(2, Some(91))]);
        assert_eq!(ledger.answered(other, kept(2)).expect_err("the other one has").check, "value");
    }

    #[test]
    fn a_deal_that_panics_leaves_the_balance() {
        let mut ledger = ledger(0);
        let number = ledger.deal(withdraw(102));
        ledger.may_run();
        ledger.answered(number, Answer { has_panicked: true, ..kept(1) }).expect("it panics");
        let show = |ledger: &mut Ledger, output| {
            let number = ledger.deal(Deal { function: Function::Show, ..withdraw(1) });
            ledger.answered(number, Answer { output: Some(output), ..kept(1) })
        };
        show(&mut ledger, 101 ^ 1).expect("it is masked");
        assert_eq!(show(&mut ledger, 101).expect_err("it is masked").check, "value");
    }

    #[test]
    fn a_deal_that_was_answered_was_not_refused_and_one_that_was_refused_is_not_run() {
        let mut ledger = ledger(0);
        assert_eq!(ledger.never_runs(0).expect_err("it ran").check, "never run");
        let mut ledger = self::ledger(0);
        let number = ledger.deal(withdraw(1));
        ledger.never_runs(number).expect("it has not run");
        ledger.may_run();
        assert_eq!(ledger.balances(), [(1, Some(101))]);
        assert_eq!(ledger.has_run(number).expect_err("it was refused").check, "answer");
    }

    #[test]
    fn runs_that_did_not_end_are_counted_until_they_are_allowed_or_turn_out_to_have_ended() {
        let mut ledger = ledger(0);
        let number = ledger.deal(withdraw(1));
        ledger.may_run();
        ledger.unended(1, number);
        ledger.check_versions([1, 1]).expect("it has not run");
        assert!(
            ledger.check_count(1, 0).is_err() && ledger.check_count(1, 1).is_ok() && ledger.check_count(1, 2).is_err()
        );
        assert!(ledger.check_limit(1, true).is_err() && ledger.check_limit(0, true).is_ok());
        ledger.is_over(number);
        ledger.allow();
        assert!(ledger.check_count(1, 0).is_ok() && ledger.check_count(1, 1).is_err());
        assert!(ledger.check_limit(1, true).is_ok() && ledger.check_limit(1, false).is_err());
    }

    #[test]
    fn the_cloud_is_at_most_one_version_behind() {
        for (versions, may_be) in [([1, 1], true), ([1, 0], true), ([1, 2], false), ([2, 2], false)] {
            assert_eq!(ledger(0).check_versions(versions).is_ok(), may_be, "{versions:?}");
        }
    }
}
