//! The answers of servers: an output under both pads, or a refusal.
//!
//! ```text
//! answer    1 | run 32 | version 8 | chain 32 | masked output ceil(m/8)
//! refusal   2 | run 32 | version 8 | chain 32 | reason 1 | number of accused 1 | party 2 for each
//! ```
//!
//! Integers are little-endian; version and chain are zero where the job has no state, and in refusals that do not state them.

use std::fmt;

use garblet_circuit::{Bits, Party};

use crate::cursor::{Reader, Writer};
use crate::malformed::Malformed;

const ANSWER: u8 = 1;
const REFUSAL: u8 = 2;

/// The most parties that a refusal accuses.
pub const ACCUSED_MAX: usize = 16;

/// The answer of a server after a run. It looks uniform to everyone who does not know both pads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The submission that is answered ([`Place::run`](crate::Place::run)).
    pub run: [u8; 32],
    /// The version of the job's state after the run.
    pub version: u64,
    /// The digest of the state's history.
    pub chain: [u8; 32],
    /// The client's output with both pads.
    pub masked: Bits,
}

/// The answer of a server that has no output for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The submission that is refused ([`Place::run`](crate::Place::run)).
    pub run: [u8; 32],
    /// The version that the job's state has now, zero where there is none.
    pub version: u64,
    /// The digest of the state's history.
    pub chain: [u8; 32],
    /// The reason.
    pub reason: Reason,
    /// Parties of the job of which at least one is to blame, in ascending order.
    pub accused: Vec<Party>,
}

/// Defines the reasons with their codes, texts and hints.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal, $hint:literal;)*) => {
        /// The reason of a refusal.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// All reasons.
            pub const ALL: &[Reason] = &[$(Reason::$name),*];

            /// The byte that stands for it.
            pub fn code(self) -> u8 {
                match self {
                    $(Reason::$name => $code,)*
                }
            }

            /// Advice for a person.
            pub fn hint(self) -> &'static str {
                match self {
                    $(Reason::$name => $hint,)*
                }
            }
        }

        impl fmt::Display for Reason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Reason::$name => $text,)*
                })
            }
        }
    };
}

reasons! {
    /// The message cannot be read.
    Unreadable = 1, "the client's message cannot be read",
        "compare the versions of Garblet and the job with the servers'";
    /// The job is not the one that the server knows.
    OtherJob = 2, "the job is a different one", "get the job again from its author";
    /// The counter is not higher than the last one.
    OldCounter = 3, "the counter was used before",
        "if you sent this for the first time, deal again with a higher counter, and keep the receipt between runs; otherwise first find out what happened to it";
    /// The server's policy does not allow the run.
    Policy = 4, "the policy does not allow it", "ask the servers' operators which programs and clients they allow";
    /// A hash does not fit a share.
    WrongHash = 5, "a hash does not fit a share", "one of the accused lied; deal again, and if it happens again change the servers";
    /// A challenge is not the one that was committed to.
    WrongChallenge = 6, "a challenge does not match its commitment", "one of the accused lied; deal again, and if it happens again change the servers";
    /// The state has another version.
    StateVersion = 7, "the state has another version", "deal again for a job that names the version that both servers report";
    /// Another run works with the state.
    StateBusy = 8, "another run is using the state", "try again later with a new counter";
    /// The state is closed forever.
    StateClosed = 9, "the state is closed", "it cannot be used any more; make a new state";
    /// Other parties did not connect, or left before the submission was used; it never will be.
    Interrupted = 10, "parties did not connect, or left before the run", "deal again with a higher counter when all parties are connected";
    /// The servers stopped without a further message.
    Stopped = 11, "the servers stopped the run", "ask the servers' operators; deal again only when they have explained why";
    /// The submission was used, and the server has no answer to it, or no longer has one.
    Used = 12, "the submission was used, and there is no answer",
        "do not deal again before you know what happened: the run may have taken place, and your input would count twice";
    /// Too many runs of the state began and did not end.
    Unended = 13, "too many runs of this state did not end; both operators must allow more",
        "ask the servers' operators to find out why; each of them must then stop the service, allow more with `garblet store allow DIR`, and start it again";
}

impl Reason {
    /// The name for programs, as `old-counter`.
    pub fn name(self) -> String {
        let name = format!("{self:?}");
        let word = |(at, letter): (usize, char)| {
            let dash = (at > 0 && letter.is_ascii_uppercase()).then_some('-');
            dash.into_iter().chain([letter.to_ascii_lowercase()])
        };
        name.char_indices().flat_map(word).collect()
    }

    /// Returns whether, at a server that gives this reason, the submission has had no effect and never will.
    pub fn is_never_run(self) -> bool {
        !matches!(self, Reason::OldCounter | Reason::Used)
    }
}

/// An answer of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// With an output.
    Answer(Answer),
    /// Without one.
    Refusal(Refusal),
}

impl Answer {
    /// The bytes, to be sealed for the client.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::with_capacity(73 + self.masked.len().div_ceil(8));
        to.u8(ANSWER).bytes(&self.run).u64(self.version).bytes(&self.chain).bits(&self.masked);
        to.finish().to_vec()
    }
}

impl Refusal {
    /// A refusal that accuses these parties, at most [`ACCUSED_MAX`] of them and each once, and says nothing about a state.
    pub fn new(run: [u8; 32], reason: Reason, accused: &[Party]) -> Self {
        let mut accused = accused.to_vec();
        accused.sort_unstable();
        accused.dedup();
        accused.truncate(ACCUSED_MAX);
        Refusal { run, version: 0, chain: [0; 32], reason, accused }
    }

    /// The same, with the version that the job's state has now and the digest of its history.
    pub fn with_state(self, version: u64, chain: [u8; 32]) -> Self {
        Refusal { version, chain, ..self }
    }

    /// The bytes, to be sealed for the client.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::with_capacity(75 + 2 * self.accused.len());
        to.u8(REFUSAL).bytes(&self.run).u64(self.version).bytes(&self.chain);
        to.u8(self.reason.code()).u8(self.accused.len() as u8);
        self.accused.iter().for_each(|party| {
            to.u16(party.0);
        });
        to.finish().to_vec()
    }
}

impl Reply {
    /// Reads an answer with this many output bits, or a refusal, of any run.
    ///
    /// *Errors*: anything else.
    pub fn decode(bytes: &[u8], outputs: usize) -> Result<Self, Malformed> {
        let mut from = Reader::new("answer", bytes);
        let reply = match from.u8("kind")? {
            ANSWER => Reply::Answer(Answer {
                run: from.array("run")?,
                version: from.u64("version")?,
                chain: from.array("chain")?,
                masked: from.bits("masked output", outputs)?,
            }),
            REFUSAL => Reply::Refusal(refusal(&mut from)?),
            other => return Err(from.fault("kind", 1, "1 or 2", other.to_string())),
        };
        from.end()?;
        Ok(reply)
    }

    /// The run that it concerns.
    pub fn run(&self) -> &[u8; 32] {
        match self {
            Reply::Answer(answer) => &answer.run,
            Reply::Refusal(refusal) => &refusal.run,
        }
    }
}

/// The reason that a byte stands for.
pub(crate) fn reason(from: &mut Reader<'_>) -> Result<Reason, Malformed> {
    let code = from.u8("reason")?;
    let reason = Reason::ALL.iter().copied().find(|reason| reason.code() == code);
    reason.ok_or_else(|| from.fault("reason", 1, "a reason's code", code.to_string()))
}

fn refusal(from: &mut Reader<'_>) -> Result<Refusal, Malformed> {
    let (run, version, chain) = (from.array("run")?, from.u64("version")?, from.array("chain")?);
    let reason = reason(from)?;
    let count = usize::from(from.u8("number of accused")?);
    if count > ACCUSED_MAX {
        return Err(from.fault("number of accused", 1, format!("at most {ACCUSED_MAX}"), count.to_string()));
    }
    let accused: Vec<Party> = (0..count).map(|_| from.u16("accused").map(Party)).collect::<Result<_, _>>()?;
    match accused.is_sorted_by(|a, b| a < b) {
        true => Ok(Refusal { run, version, chain, reason, accused }),
        false => Err(from.fault("accused", 2 * count, "parties in ascending order, each once", "another order")),
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        if self.reason == Reason::StateVersion {
            write!(f, ", {}", self.version)?;
        }
        let parties: Vec<String> = self.accused.iter().map(Party::to_string).collect();
        match &parties[..] {
            [] => Ok(()),
            [party] => write!(f, " (to blame: party {party})"),
            _ => write!(f, " (to blame: one of the parties {})", parties.join(", ")),
        }
    }
}
