//! Opening: both answers give the output, or a reason why there is none.

mod saved;

use std::fmt;

use garblet_circuit::{Bits, Party};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::answer::{Answer, Reason, Refusal, Reply};
use crate::cursor::sum;
use crate::job::Job;
use crate::malformed::Malformed;
use crate::place::{Place, Server};
use crate::receipt::{Receipt, Stale};
use crate::unopened::SealError;

/// The secret that opens the answers to a submission. Wiped on drop, without `Debug`.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Pending {
    #[zeroize(skip)]
    place: Place,
    /// The sum of both pads.
    pad: Bits,
    /// The job's state after the run.
    #[zeroize(skip)]
    state: Option<After>,
    #[zeroize(skip)]
    receipt: Option<Receipt>,
}

/// A state after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct After {
    name: String,
    version: u64,
    /// Set if the run makes that version. One that panics leaves the version before.
    is_new: bool,
}

/// The output of a run. *Secret*: wiped on drop, without `Debug`.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Opened {
    /// The bits of all output ports of the client ([`Job::split_outputs`]).
    pub output: Bits,
    #[zeroize(skip)]
    receipt: Receipt,
    has_panicked: bool,
}

impl Opened {
    /// Returns whether a run that was to keep a state panicked: it has no result, and the state is unchanged.
    pub fn has_panicked(&self) -> bool {
        self.has_panicked
    }

    /// The receipt of the run, to be kept for the next one with the same state.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

/// A server's reply that gives no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It has an answer to this submission.
    Answer,
    /// It refuses.
    Refusal(Refusal),
    /// It answers another submission.
    OtherRun,
    /// It sent something else.
    Malformed(Malformed),
    /// It sent something that does not open.
    Unopened(SealError),
    /// It, or somebody in between, says that it refuses: an unsealed message proves nothing.
    Unproven(Reason),
    /// It did not send its whole reply.
    Nothing,
}

/// Answers that give no output, with what each server said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// A server did not answer the submission, or both did not.
    #[error("no output: the generator {generator}; the cloud {cloud}")]
    Unanswered {
        /// The generator's reply.
        generator: Box<Said>,
        /// The cloud's reply.
        cloud: Box<Said>,
    },
    /// The answers are not the same, so a server lies.
    #[error("no output: generator and cloud differ in the {what}, so one of them lies")]
    Differ {
        /// The field in which they differ.
        what: &'static str,
    },
    /// Both answer for another version of the state than the job names.
    #[error("no output: both servers answer for version {got} of the state, the job is for version {expected}")]
    OtherVersion {
        /// The version after the job.
        expected: u64,
        /// The version of the answers.
        got: u64,
    },
    /// The state contradicts what the client knows of it.
    #[error("no output: {0}")]
    Stale(#[from] Stale),
}

impl Rejected {
    /// Advice for a person. It says to deal again only if both servers prove that the submission has had no effect: after dealing again on the
    /// word of one, the client's input could count twice.
    pub fn hint(&self) -> &'static str {
        match self {
            Rejected::Unanswered { generator, cloud } => hint_of(generator, cloud),
            Rejected::Differ { .. } => {
                "tell the operators of both servers, and send nothing more until they know which one lied"
            }
            Rejected::OtherVersion { .. } => {
                "get the job again from its author; if it is the same, tell the servers' operators"
            }
            Rejected::Stale(stale) => stale.hint(),
        }
    }
}

impl Rejected {
    /// Returns whether both servers prove that the submission has had no effect and never will. If not, keep what was saved: the
    /// answers may still come.
    pub fn is_never_run(&self) -> bool {
        let Rejected::Unanswered { generator, cloud } = self else { return false };
        [generator, cloud].iter().all(|said| said.refusal().is_some_and(Reason::is_never_run))
    }

    /// The current version of the job's state, and the digest of its history, if both servers refuse and agree on them. The word of one does not
    /// count: the run may have ended, and after dealing again the client's input would count twice. The receipt of the client
    /// decides whether the state is older than it was.
    pub fn state_now(&self) -> Option<(u64, [u8; 32])> {
        let Rejected::Unanswered { generator, cloud } = self else { return None };
        let told = |said: &Said| match said {
            Said::Refusal(refusal) if refusal.reason == Reason::StateVersion => Some((refusal.version, refusal.chain)),
            _ => None,
        };
        let (of_generator, of_cloud) = (told(generator)?, told(cloud)?);
        (of_generator == of_cloud).then_some(of_cloud)
    }
}

/// Advice on the replies of generator and cloud.
fn hint_of(generator: &Said, cloud: &Said) -> &'static str {
    let both = [generator, cloud];
    let is = |reason: Reason| both.iter().any(|said| said.refusal() == Some(reason));
    if let [Some(generator), Some(cloud)] = both.map(Said::refusal)
        && [generator, cloud].into_iter().all(Reason::is_never_run)
    {
        // The other reasons say more.
        return if generator == Reason::Interrupted { cloud.hint() } else { generator.hint() };
    }
    let doubtful = [Reason::Used, Reason::OldCounter].into_iter().find(|reason| is(*reason));
    if let Some(reason) = doubtful {
        return reason.hint();
    }
    let of = |said: &Said| match said {
        Said::OtherRun => Some("wait for the answer to your last message; an old one was sent again"),
        Said::Malformed(malformed) => Some(malformed.hint()),
        Said::Unopened(error) => Some(error.hint()),
        Said::Unproven(Reason::StateBusy) => {
            Some("send the same messages again later: a server is busy, and has not used them")
        }
        Said::Unproven(_) => Some(
            "ask that server: its refusal is not sealed, so somebody in between may have sent it; compare the invitations",
        ),
        Said::Answer | Said::Refusal(_) | Said::Nothing => None,
    };
    of(generator).or(of(cloud)).unwrap_or(
        "send the same messages again, as answers are kept for a while; do not deal again: the run may have taken place",
    )
}

impl Said {
    /// The code of the reply for programs, as `old-counter`.
    pub fn code(&self) -> String {
        match self {
            Said::Answer => "answer".into(),
            Said::Refusal(refusal) => refusal.reason.name(),
            Said::Unproven(reason) => reason.name(),
            Said::OtherRun | Said::Malformed(_) | Said::Unopened(_) => "invalid".into(),
            Said::Nothing => "silent".into(),
        }
    }

    /// Returns whether the server proves that it said so.
    pub fn is_proven(&self) -> bool {
        matches!(self, Said::Answer | Said::Refusal(_))
    }

    /// The reason of a refusal that is proven.
    fn refusal(&self) -> Option<Reason> {
        match self {
            Said::Refusal(refusal) => Some(refusal.reason),
            _ => None,
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Said::Answer => write!(f, "has an answer"),
            Said::Refusal(refusal) => write!(f, "refuses: {refusal}"),
            Said::OtherRun => write!(f, "answers another submission"),
            Said::Malformed(malformed) => write!(f, "sent no answer: {malformed}"),
            Said::Unopened(error) => write!(f, "sent no answer: {error}"),
            Said::Unproven(reason) => write!(f, "refuses, unless somebody in between sent this: {reason}"),
            Said::Nothing => write!(f, "has not answered"),
        }
    }
}

impl Pending {
    pub(crate) fn new(job: &Job, place: Place, pad: Bits) -> Self {
        let is_new = job.terms().keeps.is_some();
        let state = job.state().map(|(name, version)| After { name: name.into(), version, is_new });
        Pending { place, pad, state, receipt: None }
    }

    /// The place of the message from or to a server.
    pub fn place(&self, server: Server) -> Place {
        Place { server, ..self.place }
    }

    /// The client.
    pub fn client(&self) -> Party {
        self.place.client
    }

    /// Checks the job, and later the answers, against what the client knows from earlier runs. Call it before you send anything.
    ///
    /// *Errors*: the job is older than the receipt or for another state, or the counter was used.
    pub fn after(mut self, receipt: Receipt) -> Result<Self, Stale> {
        let (name, version) = self.state.as_ref().map_or(("", 0), |after| (&after.name, after.version));
        receipt.check_job(name, version, self.place.counter)?;
        self.receipt = Some(receipt);
        Ok(self)
    }

    /// Checks the answers to an earlier submission against what the client knows by now. The receipt may be newer than the submission.
    ///
    /// *Errors*: the receipt of another state.
    pub(crate) fn resumed(mut self, receipt: Receipt) -> Result<Self, Stale> {
        receipt.check_state(self.state.as_ref().map_or("", |after| &after.name))?;
        self.receipt = Some(receipt);
        Ok(self)
    }

    /// Opens the output from the answers of generator and cloud.
    ///
    /// *Source*: section 2 of the design of outsourced runs, step 9: accepted if and only if both are equal and of this run;
    /// `output = copy + pad_G + pad_C`. *Errors*: anything else, with the replies of both servers.
    pub fn open(self, of_generator: &[u8], of_cloud: &[u8]) -> Result<Opened, Rejected> {
        let words = (self.read(of_generator), self.read(of_cloud));
        self.open_words(words)
    }

    /// Opens the output from the replies of both servers.
    pub(crate) fn open_words(self, words: (Result<Answer, Said>, Result<Answer, Said>)) -> Result<Opened, Rejected> {
        let answer = match words {
            (Ok(generator), Ok(cloud)) => equal(generator, cloud)?,
            (generator, cloud) => {
                let said = |read: Result<Answer, Said>| Box::new(read.err().unwrap_or(Said::Answer));
                return Err(Rejected::Unanswered { generator: said(generator), cloud: said(cloud) });
            }
        };
        let (state, expected) = self.state.as_ref().map_or(("", 0), |after| (&after.name, after.version));
        let has_panicked =
            self.state.as_ref().is_some_and(|after| after.is_new) && answer.version.checked_add(1) == Some(expected);
        if answer.version != expected && !has_panicked {
            return Err(Rejected::OtherVersion { expected, got: answer.version });
        }
        let before = self.receipt.clone().unwrap_or_else(|| Receipt::first(state));
        // The receipt is newer where a later visit has ended before: the answers are to their submission all the same.
        if answer.version >= before.version() {
            before.check(answer.version, &answer.chain)?;
        }
        let receipt = before.next(answer.version, answer.chain, self.place.counter);
        Ok(Opened { output: sum(&answer.masked, &self.pad), receipt, has_panicked })
    }

    /// The bits of the output.
    pub(crate) fn outputs(&self) -> usize {
        self.pad.len()
    }

    /// The answer to this submission in the bytes of a server.
    pub(crate) fn read(&self, bytes: &[u8]) -> Result<Answer, Said> {
        match Reply::decode(bytes, self.pad.len()) {
            Err(malformed) => Err(Said::Malformed(malformed)),
            Ok(reply) if *reply.run() != self.place.run() => Err(Said::OtherRun),
            Ok(Reply::Refusal(refusal)) => Err(Said::Refusal(refusal)),
            Ok(Reply::Answer(answer)) => Ok(answer),
        }
    }
}

/// The answer, if both are the same.
fn equal(generator: Answer, cloud: Answer) -> Result<Answer, Rejected> {
    let differ = |what| Err(Rejected::Differ { what });
    if generator.version != cloud.version {
        return differ("version of the state");
    }
    if generator.chain != cloud.chain {
        return differ("history of the state");
    }
    match generator.masked.to_bytes().ct_eq(&cloud.masked.to_bytes()).into() {
        true => Ok(generator),
        false => differ("output"),
    }
}

#[cfg(test)]
mod tests;
