//! The troubles of a meeting.

use std::fmt;

use garblet_circuit::Party;
use garblet_primitives::Prg;
use rand::RngExt;

use crate::{
    conduct::{LIES, Price, of_several, of_two},
    disk::Failure,
    line::Cut,
    options::Options,
    seat::Deed,
    task::Job,
};

/// A trouble of a meeting.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// The line between two parties is cut.
    Cut { low: u16, high: u16, cut: Cut },
    /// A party is gone at a write to its lines.
    Leaves { party: u16, write: u64 },
    /// A party panics at a message.
    Panics { party: u16, message: u64 },
    /// A party tells a lie of the cheat kit.
    Lies { party: u16, number: usize },
    /// A party's disk fails, or its process dies at a write to it.
    Disk { party: u16, failure: Failure },
}

impl Trouble {
    /// Draws a trouble.
    pub(crate) fn drawn(rng: &mut Prg, options: &Options) -> Self {
        let party = rng.random_range(0..options.parties);
        // Several parties have more messages for each step.
        let peers = u64::from(options.parties) - 1;
        match rng.random_range(0..12) {
            0..2 => {
                let other = (party + rng.random_range(1..options.parties)) % options.parties;
                let (low, high) = (party.min(other), party.max(other));
                let (end, loses) = (rng.random_range(0..2), rng.random());
                Trouble::Cut { low, high, cut: Cut { end, write: rng.random_range(0..24), loses } }
            }
            2..4 => Trouble::Leaves { party, write: rng.random_range(0..24 * peers) },
            4..6 => Trouble::Panics { party, message: rng.random_range(0..24 * peers) },
            6..8 => Trouble::Lies { party, number: rng.random_range(0..LIES) },
            8..11 => Trouble::Disk { party, failure: Failure::Dies(rng.random_range(0..48)) },
            _ => Trouble::Disk { party, failure: Failure::Fails(rng.random_range(0..48)) },
        }
    }

    /// A party's deed in a meeting with these troubles, and the write to lines at which it is gone.
    pub(crate) fn of_party(all: &[Trouble], party: u16) -> (Deed, Option<u64>) {
        let (mut deed, mut leaves_at) = (Deed::default(), None);
        for trouble in all {
            match *trouble {
                Trouble::Leaves { party: who, write } if who == party => leaves_at = Some(write),
                Trouble::Panics { party: who, message } if who == party => deed.panics_at = Some(message),
                Trouble::Lies { party: who, number } if who == party => deed.lie = Some(number),
                Trouble::Disk { party: who, failure } if who == party => deed.failure = Some(failure),
                _ => {}
            }
        }
        (deed, leaves_at)
    }

    /// The price of the lie that a party tells, if it tells one.
    pub(crate) fn price(all: &[Trouble], party: u16, options: &Options, job: &Job) -> Option<Price> {
        let number = Trouble::of_party(all, party).0.lie?;
        Some(match options.parties {
            2 => of_two(number, Party(party), &job.program).price,
            parties => of_several(number, party, parties).price,
        })
    }

    /// The words for it.
    pub(crate) fn told<'a>(&'a self, options: &'a Options, job: &'a Job) -> impl fmt::Display + 'a {
        Told { trouble: self, options, job }
    }
}

struct Told<'a> {
    trouble: &'a Trouble,
    options: &'a Options,
    job: &'a Job,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.trouble {
            Trouble::Cut { low, high, cut: Cut { end, write, loses } } => {
                let lost = if loses { ", with all in flight" } else { "" };
                write!(
                    f,
                    "the line of parties {low} and {high} is cut at write {write} of party {}{lost}",
                    [low, high][end]
                )
            }
            Trouble::Leaves { party, write } => write!(f, "party {party} leaves at write {write}"),
            Trouble::Panics { party, message } => write!(f, "party {party} panics at message {message}"),
            Trouble::Lies { party, number } => {
                let name = match self.options.parties {
                    2 => of_two(number, Party(party), &self.job.program).name,
                    parties => of_several(number, party, parties).name,
                };
                write!(f, "party {party} lies: {name}")
            }
            Trouble::Disk { party, failure: Failure::Dies(write) } => {
                write!(f, "the process of party {party} dies at write {write} of its store")
            }
            Trouble::Disk { party, failure: Failure::Fails(write) } => {
                write!(f, "the disk of party {party} fails from write {write} on")
            }
        }
    }
}
