//! The checks of a peer that may cheat, and what a party does when a check fails.
//!
//! There are two classes of failed checks, and the types keep them apart:
//!
//! - *Input-independent, loud*: the failure reveals nothing about this party's input that the peer does not know. The party stops at once with a
//!   [`Cheating`] error, which names the [`Check`].
//! - *Input-dependent, silent*: a circuit may give wrong results for some inputs only. If the evaluator stopped, or reacted visibly in any other way,
//!   it would reveal a bit of its input to the peer. So the result of such a circuit is [`Unverified`], and cannot become an error. A party can only
//!   take the [`Majority`] of several results, and learns only after the last message whether there was one.

use std::fmt;

use garblet_circuit::{Bits, Party};
use garblet_net::NetError;
use garblet_ot::BitVec;
use garblet_primitives::{Block, Opening};
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater};
use zeroize::Zeroizing;

use crate::domain::SessionId;

/// A check of the peer's behaviour, whose failure is loud.
///
/// *Unique*: every check has its own name and accusation. [`checks!`](crate::checks!) states those of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Check {
    name: &'static str,
    accusation: &'static str,
}

impl Check {
    /// A check, with the accusation against the peer if it fails.
    pub const fn new(name: &'static str, accusation: &'static str) -> Self {
        Check { name, accusation }
    }

    /// The name of the check in the code.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The accusation against the peer if the check fails.
    pub fn accusation(self) -> &'static str {
        self.accusation
    }
}

/// Defines checks: a constant for each, with the accusation if it fails; with `all and [SHARED, ...]:` before them, also a list `ALL`
/// of these and of checks defined elsewhere.
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

/// The peer cheats: a check failed, and its failure reveals nothing about this party's input.
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

/// One of several others cheats: a check failed that does not tell which of them. Nobody is accused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one of the other parties cheats: {check}: {detail}")]
pub struct Unattributed {
    /// The check that failed.
    pub check: Check,
    /// The place where it failed.
    pub detail: String,
}

impl Unattributed {
    /// The failure of a check.
    pub fn new(check: Check, detail: impl Into<String>) -> Self {
        Unattributed { check, detail: detail.into() }
    }
}

/// The garbler was caught cheating by a check that counts for deterrence.
///
/// No failure of a connection causes this. The evaluator then refuses all further runs of the session.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the peer is corrupted: {check}: {evidence}")]
pub struct Corrupted {
    /// The check that failed.
    pub check: Check,
    /// The evidence, for anyone who trusts this party's record of the messages.
    pub evidence: Evidence,
    /// Further proof, if the check is about this party's choices, which the evidence does not reveal.
    pub disclosure: Option<Disclosure>,
}

/// The opening of the evidence of a check that is about this party's choices. With it, anyone who trusts this party's record can compare what the seed gives
/// for these choices with what this party got.
///
/// *Secret*: with the evidence, it reveals this party's input. It is never printed; this party may hand it to a judge.
#[derive(Clone)]
pub struct Disclosure {
    /// This party's choices.
    pub choices: BitVec,
    /// The labels that it got for them.
    pub labels: Zeroizing<Vec<Block>>,
    /// The opening of [`Evidence::said`] to these labels, and [`Evidence::due`] to those that the seed gives.
    pub openings: [Opening; 2],
}

impl fmt::Debug for Disclosure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Disclosure")
    }
}

/// The digests of the message that arrived and of the message that the seed gives, for a circuit that nobody evaluates, so they are public. If the message
/// depends on this party's choices, they are commitments, which its [`Disclosure`] opens.
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

/// The messages of two parties contradict each other, and nobody can tell which of the two lies. No honest party has learned an output, or will tell one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused: {what}{}; {}", differing(digests), liars(parties))]
pub struct Refused {
    /// The messages that contradict each other.
    pub what: &'static str,
    /// The two parties, one of which lies; twice the same party if it is known to lie.
    pub parties: [Party; 2],
    /// The digests that differ, if that is the contradiction and this party has both.
    pub digests: Option<Digests>,
}

impl Refused {
    /// A contradiction without digests.
    pub fn new(what: &'static str, parties: [Party; 2]) -> Self {
        Refused { what, parties, digests: None }
    }
}

/// Two public digests that differ, in short: the first eight bytes that do, counted in steps of eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digests {
    /// Those of the digest that was due.
    pub expected: [u8; 8],
    /// Those of the digest that there was.
    pub got: [u8; 8],
}

impl Digests {
    /// Two digests, which have the same length; `None` if they are equal.
    pub fn of(expected: &[u8], got: &[u8]) -> Option<Self> {
        let mut steps = expected.as_chunks().0.iter().zip(got.as_chunks().0);
        steps.find(|(expected, got)| expected != got).map(|(expected, got)| Digests { expected: *expected, got: *got })
    }
}

impl fmt::Display for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, got {}", hex(&self.expected), hex(&self.got))
    }
}

fn differing(digests: &Option<Digests>) -> String {
    digests.as_ref().map_or_else(String::new, |digests| format!(": {digests}"))
}

/// The results that a party got from several others contradict each other. The others may have results of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no result: {what}; {}", liars(parties))]
pub struct Rejected {
    /// The results.
    pub what: &'static str,
    /// The two parties, one of which lies.
    pub parties: [Party; 2],
}

fn liars([one, other]: &[Party; 2]) -> String {
    if one == other { format!("party {one} lies") } else { format!("party {one} or party {other} lies") }
}

/// The garbler did not open the circuits after it learned which are checked. It may have cheated, or the connection was lost, and this party cannot tell
/// which.
///
/// Only in the published forms `al07` of `covert` and `lp07` of `cut-and-choose`: in
/// the other forms, this party has the evidence before it reveals what it checks.
#[derive(Debug, thiserror::Error)]
#[error("the peer did not open the circuits that we chose to check, as a peer that has cheated would: {source}")]
pub struct Suspected {
    /// The error with which the connection ended.
    pub source: NetError,
}

/// The result of a circuit that may be wrong, perhaps only for this party's input.
///
/// *Secret*: whether it is right. It can only go into the majority of several.
pub struct Unverified<T>(T);

impl<T> Unverified<T> {
    /// Marks a value.
    pub fn new(value: T) -> Self {
        Unverified(value)
    }
}

/// The result that most circuits agree on.
///
/// *Secret*: which circuits agree, and whether more than half do, until the last message is sent. The work is the same for all results.
pub struct Majority {
    value: Bits,
    votes: u32,
    of: u32,
}

/// Proof that this party has sent its last message, so the peer does not see what it does from now on.
pub struct LastMessageSent(());

impl LastMessageSent {
    /// States that nothing more will be sent in this run.
    pub fn stated() -> Self {
        LastMessageSent(())
    }
}

/// No value came from more than half of the circuits: the peer cheated and was not caught before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the circuits do not agree: {votes} of {of} gave the most frequent result, expected more than half")]
pub struct NoMajority {
    votes: u32,
    of: u32,
}

impl Majority {
    /// The result that occurs most often, the first of several such; `None` if there are no results.
    ///
    /// *Shape*: all results have the same length. *Cost*: a digest of each under a fresh key, comparisons of the digests of all pairs, and a pass over all
    /// results, whatever they are.
    pub fn of(
        results: impl IntoIterator<Item = Unverified<Bits>>,
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> Option<Majority> {
        let results: Vec<Bits> = results.into_iter().map(|Unverified(result)| result).collect();
        let len = results.first()?.len();
        let mut key = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *key);
        let packed: Vec<Zeroizing<Vec<u8>>> = results.iter().map(packed).collect();
        let digests: Vec<Digest> = packed.iter().map(|result| *blake3::keyed_hash(&key, result).as_bytes()).collect();
        let (votes, elected) = vote(&digests, |one, other| one.ct_eq(other));
        let value = Bits::filled(len, |value| {
            packed.iter().zip(elected).for_each(|(result, is_elected)| add_if(value, result, is_elected));
        });
        Some(Majority { value, votes, of: results.len() as u32 })
    }

    /// The value, for use in messages that this party still has to send, whether or not more than half agree on it.
    pub fn value(&self) -> &Bits {
        &self.value
    }

    /// The value if more than half of the circuits gave it, and otherwise `noise` of the same length, for use in messages to several parties, some of which may
    /// know what the garbler made: none of them gets the result of a minority. The work is the same in both cases.
    pub fn value_or(&self, noise: &Bits) -> Bits {
        let is_majority = self.is_majority();
        Bits::filled(self.value.len(), |chosen| {
            add_if(chosen, &packed(&self.value), is_majority);
            add_if(chosen, &packed(noise), !is_majority);
        })
    }

    fn is_majority(&self) -> Choice {
        (2 * self.votes).ct_gt(&self.of)
    }

    /// The value, if more than half of the circuits gave it.
    ///
    /// *Errors*: [`NoMajority`], at most with the probability of undetected cheating.
    pub fn settle(self, _after: LastMessageSent) -> Result<Bits, NoMajority> {
        let is_majority = bool::from(self.is_majority());
        if is_majority { Ok(self.value) } else { Err(NoMajority { votes: self.votes, of: self.of }) }
    }
}

type Digest = [u8; 32];

/// The most votes that any of these ballots has, and for each ballot whether it is the first one with that number. Every ballot is compared with every other.
fn vote(ballots: &[Digest], mut same: impl FnMut(&Digest, &Digest) -> Choice) -> (u32, Vec<Choice>) {
    let mut votes_of = |own| ballots.iter().map(|other| u32::from(same(own, other).unwrap_u8())).sum();
    let votes: Vec<u32> = ballots.iter().map(&mut votes_of).collect();
    let most = votes.iter().fold(0, |most, votes| u32::conditional_select(&most, votes, votes.ct_gt(&most)));
    let mut is_open = Choice::from(1);
    let elect = |votes: &u32| {
        let is_elected = votes.ct_eq(&most) & is_open;
        is_open &= !is_elected;
        is_elected
    };
    (most, votes.iter().map(elect).collect())
}

fn packed(bits: &Bits) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(bits.to_bytes())
}

/// Adds bytes to a sum, or zeros.
fn add_if(sum: &mut [u8], bytes: &[u8], wanted: Choice) {
    for (sum, byte) in sum.iter_mut().zip(bytes) {
        *sum ^= u8::conditional_select(&0, byte, wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use garblet_primitives::Prg;

    fn result(value: u128) -> Unverified<Bits> {
        Unverified::new(Bits::from_u128(value, 19))
    }

    fn majority(values: &[u128]) -> Option<Majority> {
        Majority::of(values.iter().copied().map(result), &mut Prg::new(Block::ZERO))
    }

    fn settled(values: &[u128]) -> Option<Result<u128, NoMajority>> {
        let majority = majority(values)?;
        let value = |bits: &Bits| bits.to_u128().expect("it is short");
        assert!(values.contains(&value(majority.value())));
        Some(majority.settle(LastMessageSent::stated()).map(|bits| value(&bits)))
    }

    #[test]
    fn more_than_half_win() {
        assert_eq!(settled(&[1]), Some(Ok(1)));
        assert_eq!(settled(&[2, 1, 1]), Some(Ok(1)));
        assert_eq!(settled(&[2, 1, 3, 1, 1]), Some(Ok(1)));
        assert_eq!(settled(&[0x40001, 0x00001, 0x40001]), Some(Ok(0x40001)));
        assert_eq!(settled(&[]), None);
    }

    #[test]
    fn a_refusal_shows_where_digests_differ() {
        let one: [u8; 32] = std::array::from_fn(|at| at as u8);
        let mut other = one;
        assert_eq!(Digests::of(&one, &other), None);
        for (at, values) in
            [(0, ["0001020304050607", "8001020304050607"]), (31, ["18191a1b1c1d1e1f", "18191a1b1c1d1e9f"])]
        {
            other = one;
            other[at] ^= 0x80;
            let refused =
                Refused { digests: Digests::of(&one, &other), ..Refused::new("they differ", [Party(1), Party(2)]) };
            let [expected, got] = values;
            let text = format!("refused: they differ: expected {expected}, got {got}; party 1 or party 2 lies");
            assert_eq!(refused.to_string(), text);
        }
        let refused = Refused::new("it does not fit", [Party(1); 2]);
        assert_eq!(refused.to_string(), "refused: it does not fit; party 1 lies");
    }

    #[test]
    fn half_or_less_is_an_error_at_the_end_only() {
        assert_eq!(settled(&[1, 2]), Some(Err(NoMajority { votes: 1, of: 2 })));
        assert_eq!(settled(&[1, 2, 2, 3]), Some(Err(NoMajority { votes: 2, of: 4 })));
        let bits = |value| Bits::from_u128(value, 19);
        let tie = majority(&[4, 5]).unwrap();
        assert_eq!((tie.value(), tie.value_or(&bits(6))), (&bits(4), bits(6)));
        assert_eq!(majority(&[4, 5, 5]).unwrap().value_or(&bits(6)), bits(5));
        let error = NoMajority { votes: 2, of: 5 }.to_string();
        assert_eq!(error, "the circuits do not agree: 2 of 5 gave the most frequent result, expected more than half");
    }

    /// Compares with the definition, the first of the values that occur most often, for all sequences of five votes on three values.
    #[test]
    fn the_vote_follows_its_definition() {
        for course in 0..3u32.pow(5) {
            let values: Vec<u128> = (0..5).map(|at| u128::from(course / 3u32.pow(at) % 3)).collect();
            let count = |value: &u128| values.iter().filter(|other| *other == value).count();
            let most = values.iter().map(count).max().expect("there are five");
            let first = *values.iter().find(|value| count(value) == most).expect("one has the most");
            let got = majority(&values).expect("there are five");
            assert_eq!((got.value().to_u128(), got.votes as usize), (Some(first), most), "{values:?}");
        }
    }

    /// The garbler of a bad circuit may know for which inputs it differs, so the time of the vote must not reveal it.
    #[test]
    fn a_vote_compares_all_pairs_for_any_results() {
        for results in [[7; 6], [1, 2, 3, 4, 5, 6], [9, 7, 7, 7, 7, 7], [7, 7, 7, 7, 7, 9], [7, 9, 7, 9, 7, 9]] {
            let ballots = results.map(|result: u8| [result; 32]);
            let mut compared = Vec::new();
            let (most, elected) = vote(&ballots, |one, other| {
                compared.push((one.as_ptr(), other.as_ptr()));
                one.ct_eq(other)
            });
            let all = ballots.iter().flat_map(|one| ballots.iter().map(|other| (one.as_ptr(), other.as_ptr())));
            assert_eq!(compared, all.collect::<Vec<_>>(), "{results:?}");
            assert_eq!(elected.iter().filter(|elected| bool::from(**elected)).count(), 1, "{results:?}: {most} votes");
        }
    }
}
