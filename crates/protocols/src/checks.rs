//! What is checked of a peer that may cheat, and what a party may do when a check fails.
//!
//! There are two classes of failed checks, which are never mixed, and the types keep them apart:
//!
//! - *Input-independent, loud*: whether the check fails says nothing of this party's input that the peer does not know. The
//!   party stops at once with a [`Cheating`] error; [`Check::ALL`] lists these checks.
//! - *Input-dependent, silent*: an evaluated circuit may give wrong results for some inputs only. To stop, or to do anything
//!   else that shows, would tell the peer a bit of the input. So what comes out of such a circuit is [`Unverified`], from
//!   which no error can be made: only the [`Majority`] of several can be had, and it says whether there was one after the
//!   last message only.

use std::fmt;

use garblet_net::NetError;

use crate::domain::SessionId;

macro_rules! checks {
    ($($(#[$doc:meta])* $name:ident = $text:literal),+ $(,)?) => {
        /// A check of what the peer did, whose failure is loud. *Unique*: every check in the code has its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Check {
            $($(#[$doc])* $name),+
        }

        impl Check {
            /// All checks.
            pub const ALL: &[Check] = &[$(Check::$name),+];

            /// What the peer did if the check fails.
            pub fn accusation(self) -> &'static str {
                match self {
                    $(Check::$name => $text),+
                }
            }
        }
    };
}

checks! {
    /// The opening of a coin toss fits the commitment.
    CoinTossOpening = "it opened its coins to others than it committed to",
    /// A checked circuit is what its seed gives, commitments and decoding bits included.
    CircuitOfSeed = "a circuit is not what its seed gives",
    /// The label that the evaluator got by OT for its choice is that of the checked circuit.
    ///
    /// Whether this fails depends on the evaluator's choice, but the choice is a bit of an encoding (see [`crate::encoding`]), and
    /// says nothing of the input.
    LabelOfSeed = "a label that it sent by oblivious transfer is not that of the checked circuit",
    /// The garbler's messages in the oblivious transfers of a checked circuit are what its seed gives.
    OtOfSeed = "what it said in the oblivious transfers of a circuit is not what its seed gives",
    /// The evaluator tells as many circuits to evaluate as agreed.
    ///
    /// More or fewer would be of no use to it, see [`crate::cut_and_choose`], but then a run would cost otherwise than its formulas say.
    ToldSplit = "it tells another number of circuits to evaluate than agreed",
    /// The evaluator can show that it does not know the seed of the circuit that it evaluates.
    Witness = "it cannot show that it did not take the seed of the circuit that it evaluates",
    /// The evaluated circuit is the one that was committed to.
    CommittedCircuit = "the circuit that it sent is not the one that it committed to",
    /// The garbler's labels for an evaluated circuit are among those that it committed to.
    GarblerLabel = "a label for its own input is not one that it committed to",
    /// The garbler's labels for every evaluated circuit are labels, and for an input with the hash that it told.
    GarblerInput = "its labels for its own input are not those of the input whose hash it told",
    /// What is opened of a superset fits its commitments.
    SupersetOpening = "what it opened of a superset of commitments does not fit them",
    /// The two sets of a wire are for the two values.
    SupersetIndicators = "both sets of a wire in a superset of commitments are for one value",
    /// A superset holds the labels of the checked circuits.
    SupersetLabel = "a superset of commitments holds another label than the checked circuit has",
    /// All supersets give the same label for the garbler's input.
    SupersetInput = "its own input is not the same in every superset of commitments",
    /// The evaluator's choices are the same for every bit of the constructor's difference.
    DeltaChoices = "its choices differ from row to row of the oblivious transfers",
    /// The evaluator has the block that it claims to have got by OT.
    DeltaClaim = "it claims a block that it did not get by oblivious transfer",
    /// The difference that is committed to is that of the OTs.
    CommittedDelta = "it committed to another difference than it used in the oblivious transfers",
    /// The select bits that are told are those of what is committed to.
    ToldBits = "the select bits that it told are not those of its commitments",
    /// A checked gate gives the committed key of its output.
    LegoGate = "a checked gate does not compute AND",
    /// A checked wire authenticator accepts the committed key.
    Authenticator = "a checked wire authenticator refuses the key of its wire",
    /// The evaluator's input key has the select bit of its input.
    InputKeyBit = "an input key of the evaluator stands for the other bit",
    /// The authenticators of an input accept its key.
    InputKey = "an input key is refused by its authenticators",
    /// The key that the evaluator hands over for an output is one of its wire.
    OutputKey = "it handed over a key that is none of the output's",
    /// The evaluator hands over what the circuits gave for the garbler.
    OutputTag = "it handed over another output than the circuits gave",
    /// The evaluator has the labels of what it hands over for the garbler.
    OutputLabels = "it handed over an output whose labels it does not have",
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
    /// Where.
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The garbler did not open the circuits when it heard which are checked: it may have cheated, or the connection was lost, and this party
/// cannot tell which.
///
/// Only in the published forms [`covert::Form::Al07`](crate::covert::Form) and [`cut_and_choose::Form::Lp07`](crate::cut_and_choose::Form): in
/// the others this party has the evidence before it tells what it checks.
#[derive(Debug, thiserror::Error)]
#[error("the peer did not open the circuits that we chose to check, which it also does if it has cheated: {source}")]
pub struct Suspected {
    /// How the connection ended.
    pub source: NetError,
}

/// What came out of a circuit that may be wrong, perhaps for this party's input only.
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

    /// The value, if more than half of the circuits gave it.
    ///
    /// *Errors*: [`NoMajority`], with the probability of undetected cheating at most.
    pub fn settle(self, _after: LastMessageSent) -> Result<T, NoMajority> {
        let Majority { value, votes, of } = self;
        if 2 * votes > of { Ok(value) } else { Err(NoMajority { votes, of }) }
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
        assert_eq!(*tie.value(), 4);
        let error = NoMajority { votes: 2, of: 5 }.to_string();
        assert_eq!(error, "the circuits do not agree: 2 of 5 gave the most frequent result, expected more than half");
    }

    #[test]
    fn every_check_has_its_own_accusation() {
        let mut texts: Vec<&str> = Check::ALL.iter().map(|check| check.accusation()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Check::ALL.len());
        let error = Cheating::new(Check::CoinTossOpening, "toss 3").to_string();
        assert_eq!(error, "the peer cheats: it opened its coins to others than it committed to: toss 3");
    }
}
