//! The checks of a peer that may cheat, and what a party may do when a check fails.
//!
//! There are two classes of failed checks, which are never mixed, and the types keep them apart:
//!
//! - *Input-independent, loud*: whether the check fails says nothing of this party's input that the peer does not know. The
//!   party stops at once with a [`Cheating`] error, which names the [`Check`].
//! - *Input-dependent, silent*: an evaluated circuit may give wrong results for some inputs only. To stop, or to do anything
//!   else that shows, would tell the peer a bit of the input. So what comes out of such a circuit is [`Unverified`], from
//!   which no error can be made: only the [`Majority`] of several can be had, and it says whether there was one after the
//!   last message only.

use std::fmt;

use garblet_circuit::Party;
use garblet_net::NetError;

use crate::domain::SessionId;

/// A check of what the peer did, whose failure is loud.
///
/// *Unique*: every check has a name and an accusation of its own; [`checks!`](crate::checks!) states those of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Check {
    name: &'static str,
    accusation: &'static str,
}

impl Check {
    /// A check, with what the peer did if it fails.
    pub const fn new(name: &'static str, accusation: &'static str) -> Self {
        Check { name, accusation }
    }

    /// The name of the check in the code.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The deed that the peer is accused of if the check fails.
    pub fn accusation(self) -> &'static str {
        self.accusation
    }
}

/// States checks: a constant for each, with what the peer did if it fails; with `all and [SHARED, ...]:` before them, also a list `ALL`
/// of these and of those that are stated elsewhere.
#[macro_export]
macro_rules! checks {
    (all and [$($shared:ident),*]: $($(#[$doc:meta])* $name:ident = $accusation:literal),+ $(,)?) => {
        $crate::checks! { $($(#[$doc])* $name = $accusation),+ }

        /// All checks of the protocol.
        pub const ALL: &[$crate::checks::Check] = &[$($name,)+ $($shared),*];
    };
    ($($(#[$doc:meta])* $name:ident = $accusation:literal),+ $(,)?) => {
        $($(#[$doc])* pub const $name: $crate::checks::Check = $crate::checks::Check::new(stringify!($name), $accusation);)+
    };
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.accusation())
    }
}

/// The peer cheats: a check failed whose failure says nothing of this party's input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the peer cheats: {check}: {detail}")]
pub struct Cheating {
    /// The check that failed.
    pub check: Check,
    /// The place where it failed.
    pub detail: String,
}

impl Cheating {
    /// The failure of a check.
    pub fn new(check: Check, detail: impl Into<String>) -> Self {
        Cheating { check, detail: detail.into() }
    }

    /// The failure of a check of circuit number `circuit`.
    pub fn in_circuit(check: Check, circuit: usize) -> Self {
        Cheating::new(check, format!("circuit {circuit}"))
    }
}

/// The garbler has cheated and was found out: a check failed that deterrence is about.
///
/// No failure of a connection gives this. The evaluator that has found it takes part in no further run of the session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the peer is corrupted: {check}: {evidence}")]
pub struct Corrupted {
    /// The check that failed.
    pub check: Check,
    /// The evidence, for anyone who believes this party's record of the messages.
    pub evidence: Evidence,
}

/// The digests of a message that came and of the one that a seed gives. Of a circuit that nobody evaluates, so public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The run.
    pub run: SessionId,
    /// The circuit, from 0.
    pub circuit: usize,
    /// The seed of the garbler's coins for the circuit.
    pub seed: [u8; 16],
    /// The digest of the garbler's message.
    pub said: [u8; 32],
    /// The digest of the message that was due.
    pub due: [u8; 32],
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [seed, said, due] = [&self.seed[..], &self.said[..], &self.due[..]].map(hex);
        write!(f, "circuit {}, seed {seed}: what it said has the digest {said}, expected {due}", self.circuit)
    }
}

/// The bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Two parties said what does not fit, and nobody can tell which of them lies. If it is about inputs that were dealt, nothing was computed that depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused: {what}; {}", liars(parties))]
pub struct Refused {
    /// The words that do not fit.
    pub what: &'static str,
    /// The parties of whom one lies; twice the same if it is known.
    pub parties: [Party; 2],
}

/// A party's results from several others do not fit. They may have results of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no result: {what}; {}", liars(parties))]
pub struct Rejected {
    /// The results.
    pub what: &'static str,
    /// The parties of whom one lies.
    pub parties: [Party; 2],
}

fn liars([one, other]: &[Party; 2]) -> String {
    if one == other { format!("party {one} lies") } else { format!("party {one} or party {other} lies") }
}

/// The garbler did not open the circuits when it heard which are checked: it may have cheated, or the connection was lost, and this party
/// cannot tell which.
///
/// Only in the published forms `al07` of `covert` and `lp07` of `cut-and-choose`: in
/// the others this party has the evidence before it tells what it checks.
#[derive(Debug, thiserror::Error)]
#[error("the peer did not open the circuits that we chose to check, which it also does if it has cheated: {source}")]
pub struct Suspected {
    /// The error with which the connection ended.
    pub source: NetError,
}

/// The result of a circuit that may be wrong, perhaps for this party's input only.
///
/// *Secret*: whether it is right. Nothing can be done with it but to take the majority of several.
pub struct Unverified<T>(T);

impl<T> Unverified<T> {
    /// Marks a value.
    pub fn new(value: T) -> Self {
        Unverified(value)
    }
}

/// The value that most circuits agree on.
pub struct Majority<T> {
    value: T,
    votes: usize,
    of: usize,
}

/// All that this party will send has been sent, so that what it does from now on does not show.
pub struct LastMessageSent(());

impl LastMessageSent {
    /// States that nothing more will be sent in this run.
    pub fn stated() -> Self {
        LastMessageSent(())
    }
}

/// No value was given by more than half of the circuits, which needs a peer that cheated and was lucky.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the circuits do not agree: {votes} of {of} gave the most frequent result, expected more than half")]
pub struct NoMajority {
    votes: usize,
    of: usize,
}

impl<T: PartialEq> Majority<T> {
    /// The value that occurs most often, the first of several such; none if there are no values.
    ///
    /// *Cost*: quadratic in the number of different values.
    pub fn of(values: impl IntoIterator<Item = Unverified<T>>) -> Option<Self> {
        let mut counted: Vec<(T, usize)> = Vec::new();
        let mut of = 0;
        for Unverified(value) in values {
            of += 1;
            match counted.iter_mut().find(|(known, _)| *known == value) {
                Some((_, votes)) => *votes += 1,
                None => counted.push((value, 1)),
            }
        }
        // `max_by_key` gives the last of several.
        let (value, votes) = counted.into_iter().rev().max_by_key(|(_, votes)| *votes)?;
        Some(Majority { value, votes, of })
    }
}

impl<T> Majority<T> {
    /// The value, to be used in what this party still has to send, whether or not more than half agree on it.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The value if more than half of the circuits gave it, and otherwise `noise`, to be used in what this party still has to send to several
    /// parties, of whom some may know what the garbler made: none gets what a minority of circuits gave.
    pub fn value_or<'m>(&'m self, noise: &'m T) -> &'m T {
        if self.is_majority() { &self.value } else { noise }
    }

    fn is_majority(&self) -> bool {
        2 * self.votes > self.of
    }

    /// The value, if more than half of the circuits gave it.
    ///
    /// *Errors*: [`NoMajority`], with the probability of undetected cheating at most.
    pub fn settle(self, _after: LastMessageSent) -> Result<T, NoMajority> {
        if self.is_majority() { Ok(self.value) } else { Err(NoMajority { votes: self.votes, of: self.of }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(values: &[u8]) -> Option<Result<u8, NoMajority>> {
        let majority = Majority::of(values.iter().copied().map(Unverified::new))?;
        assert!(values.contains(majority.value()));
        Some(majority.settle(LastMessageSent::stated()))
    }

    #[test]
    fn more_than_half_win() {
        assert_eq!(settled(&[1]), Some(Ok(1)));
        assert_eq!(settled(&[2, 1, 1]), Some(Ok(1)));
        assert_eq!(settled(&[2, 1, 3, 1, 1]), Some(Ok(1)));
        assert_eq!(settled(&[]), None);
    }

    #[test]
    fn half_or_less_is_an_error_at_the_end_only() {
        assert_eq!(settled(&[1, 2]), Some(Err(NoMajority { votes: 1, of: 2 })));
        assert_eq!(settled(&[1, 2, 2, 3]), Some(Err(NoMajority { votes: 2, of: 4 })));
        let tie = Majority::of([4, 5].map(Unverified::new)).unwrap();
        assert_eq!((*tie.value(), *tie.value_or(&6)), (4, 6));
        assert_eq!(*Majority::of([4, 5, 5].map(Unverified::new)).unwrap().value_or(&6), 5);
        let error = NoMajority { votes: 2, of: 5 }.to_string();
        assert_eq!(error, "the circuits do not agree: 2 of 5 gave the most frequent result, expected more than half");
    }
}
