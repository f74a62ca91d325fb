//! A visit of two servers of `outsourced`: a client sends them shares of its inputs, and combines their answers into the result.
//!
//! Here is what a client asks and what it learns, without a file and without a connection. `kept` is what it keeps between visits. `calling` calls the servers,
//! with the agreement, the invitations and `memory`, what is kept, in files.

#[cfg(feature = "system")]
mod calling;
mod kept;
#[cfg(feature = "system")]
mod memory;

use std::time::UNIX_EPOCH;

use garblet::{Bits, Party, Program, outsourced::agreement::Agreement, run_report::outputs_json};
use garblet_client::{Begun, Invitation, Job, Opened, Reason, Rejected, Said, Server, Visit};
use rand::CryptoRng;
use serde::Serialize;
use serde_json::{Map, Value};

#[cfg(feature = "system")]
use crate::output::tell;
use crate::{failure::Failure, hints::explain, record::clock, surface::Setting};

#[cfg(feature = "system")]
pub use calling::{Answered, Visitor};
pub use kept::Kept;
use kept::Unfinished;

/// The most times that an input is shared again because other clients changed the state.
pub const ATTEMPTS: usize = 8;

/// The report of a visit.
#[derive(Serialize)]
pub struct Report {
    program: String,
    outputs: Map<String, Value>,
    servers_learn: ServersLearn,
    /// The name and version of the state after the run, if it has one.
    state: Option<String>,
    version: Option<u64>,
    /// The number of attempts.
    attempts: usize,
}

/// The outputs that the servers learn, and their knowledge of a panic.
#[derive(Serialize)]
pub struct ServersLearn {
    generator: Vec<String>,
    cloud: Vec<String>,
    panics: Panics,
}

/// Each server's knowledge of a panic; `None` if it learns nothing.
#[derive(Serialize)]
struct Panics {
    generator: Option<Panic>,
    cloud: Option<Panic>,
}

/// A server's knowledge of a panic.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Panic {
    /// Only that it happened.
    Whether,
    /// Also its place and reason.
    Where,
}

/// A client of two servers, with what it asks them.
pub struct Client {
    agreement: Agreement,
    /// From the generator and the cloud.
    invitations: [Invitation; 2],
    /// The program's name in the agreement; for a program per client, without the client's name.
    pub program: String,
    /// The names of all clients of the run, in the program's order; empty for this client alone.
    pub clients: Vec<String>,
    /// A label that distinguishes this run from the clients' other runs.
    pub label: String,
    /// Set to forget the last visit if it is unanswered, and to count from the clock on: the servers may know a higher counter than this client.
    pub give_up: bool,
}

/// A program that a client asks for, with its input.
pub struct Question {
    offer: String,
    job: Job,
    state: String,
    input: Bits,
}

/// A visit that both servers are to answer.
pub struct Asked {
    offer: String,
    job: Job,
    /// For the generator and the cloud.
    pub frames: [Vec<u8>; 2],
    /// The visit, until it is opened.
    pub visit: Visit,
}

/// A visit with its output.
pub struct Answer {
    offer: String,
    job: Job,
    /// The output, with the receipt.
    pub opened: Opened,
}

impl Client {
    /// A client with these invitations, the generator's first, which asks for a program of this agreement.
    pub fn new(agreement: Agreement, invitations: [Invitation; 2], program: String) -> Self {
        let (clients, label, give_up) = (Vec::new(), String::new(), false);
        Client { agreement, invitations, program, clients, label, give_up }
    }

    /// The client's name.
    pub fn name(&self) -> &str {
        &self.invitations[0].client_name
    }

    /// The question of the client, with the input that `values` has for its party.
    ///
    /// *Errors*: an earlier visit is unanswered and may have changed a state; no such program; another client; wrong values.
    pub fn question(
        &self,
        kept: &Kept,
        values: impl FnOnce(&Program, Party) -> Result<Vec<Bits>, Failure>,
    ) -> Result<Question, Failure> {
        self.check_answered(kept)?;
        let offer = self.offer()?;
        let clients = match &self.clients[..] {
            [] => vec![self.name().to_string()],
            clients => clients.to_vec(),
        };
        let job = self.agreement.job(&offer, &clients, &self.label, 1).map_err(|error| explain(&error))?;
        let party = job.client(&self.invitations[0].identity()).ok_or_else(|| {
            let (with, client) = (Setting::Clients.place(), self.name());
            Failure::call(format!("{with}: the invited client `{client}` is not among {}", clients.join(", ")))
        })?;
        let values = values(self.program(&offer)?, party)?;
        let input = job.join_inputs(party, &values).map_err(|error| Failure::call(&error).hint(error.hint()))?;
        let state = state_of(&job);
        let job = Self::at(&job, &state, kept.receipt(&state)?.version())?;
        Ok(Question { offer, job, state, input })
    }

    /// Shares the input anew between both servers. Store what is kept before anything is sent.
    ///
    /// *Errors*: invitations that do not belong to the agreement; a receipt that was changed.
    pub fn ask(
        &self,
        Question { offer, job, state, input }: &Question,
        kept: &mut Kept,
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Result<Asked, Failure> {
        if self.give_up {
            let time = clock().duration_since(UNIX_EPOCH).unwrap_or_default();
            kept.count_from(time.as_millis() as u64);
        }
        let [generator, cloud] = &self.invitations;
        let begun = Visit::begin(job, [generator, cloud], &kept.receipt(state)?, input, random);
        let Begun { visit, receipt, to_generator, to_cloud } =
            begun.map_err(|error| Failure::call(&error).hint(error.hint()))?;
        kept.begin(Unfinished::new(offer, job, visit.pending(), [&to_generator, &to_cloud]), &receipt);
        Ok(Asked { offer: offer.clone(), job: job.clone(), frames: [to_generator, to_cloud], visit })
    }

    /// The same question for the version of the state that both servers report, if they do and it is another one.
    pub fn moved(question: Question, rejected: &Rejected) -> Option<Question> {
        let (version, _) = rejected.state_now()?;
        let job = Self::at(&question.job, &question.state, version).ok()?;
        (job.digest() != question.job.digest()).then_some(Question { job, ..question })
    }

    /// The last visit, to ask again for its answers.
    ///
    /// *Errors*: no visit is unanswered, or one of another program; the agreement has another program of that name now, whose outputs would be read
    /// from the answers.
    pub fn again(&self, kept: &Kept) -> Result<Asked, Failure> {
        let Some(unfinished) = kept.unfinished() else {
            return Err(Failure::call(format!("{}: no visit is waiting for answers", Setting::Resume.place())));
        };
        let kept::Begun { offer, job, pending, frames } = unfinished.read()?;
        if !self.names().contains(&offer) {
            let (resume, asked) = (Setting::Resume.place(), &self.program);
            return Err(Failure::call(format!("{resume}: the last visit is for `{offer}`, got `{asked}`"))
                .hint(format!("ask for the answers of `{offer}`")));
        }
        if self.program(&offer)?.digest() != job.terms().program {
            let resume = Setting::Resume.place();
            return Err(Failure::call(format!(
                "{resume}: the last visit, for `{offer}`, was of another program than the agreement has now"
            ))
            .hint("ask with the agreement and the program files of that visit"));
        }
        let receipt = kept.receipt(&state_of(&job))?;
        let [generator, cloud] = &self.invitations;
        let [to_generator, to_cloud] = &frames;
        let visit = Visit::resume(pending, receipt, [to_generator, to_cloud], [&generator.secret, &cloud.secret]);
        let visit = visit.map_err(|error| Failure::call(&error).hint(error.hint()))?;
        Ok(Asked { offer, job, frames, visit })
    }

    /// Checks that no visit with an effect is unanswered: it may have run, or may still run.
    fn check_answered(&self, kept: &Kept) -> Result<(), Failure> {
        let Some(unfinished) = kept.unfinished().filter(|_| !self.give_up) else { return Ok(()) };
        let kept::Begun { offer, job, .. } = unfinished.read()?;
        if job.terms().keeps.is_none() {
            return Ok(());
        }
        Err(Failure::call(format!("the last visit, for `{offer}`, was not answered, and may have changed the state"))
            .hint(format!(
                "ask for its answers with {}; {} forgets it, but if it ran after all and you give the input again, it counts twice",
                Setting::Resume,
                Setting::Forget
            )))
    }

    /// The job for the current version of a state.
    fn at(job: &Job, state: &str, version: u64) -> Result<Job, Failure> {
        // A state that is read has been saved at least once.
        let reads = job.terms().inputs.iter().any(|input| matches!(input.origin, garblet_client::Origin::State { .. }));
        let version = if reads { version.max(1) } else { version };
        Job::new(job.terms().clone().at_version(state, version))
            .map_err(|error| Failure::call(&error).hint(error.hint()))
    }

    /// The names that the chosen offer may have.
    fn names(&self) -> [String; 2] {
        [self.program.clone(), format!("{}.{}", self.program, self.name())]
    }

    /// The name of the chosen offer.
    fn offer(&self) -> Result<String, Failure> {
        let (known, client): (Vec<&str>, _) = (self.agreement.offers().collect(), self.name());
        self.names().into_iter().find(|name| known.contains(&&name[..])).ok_or_else(|| {
            Failure::call(format!("the agreement has no program `{}` for `{client}`", self.program))
                .hint(format!("it has {}", known.join(", ")))
        })
    }

    /// The program that this client asks for.
    ///
    /// *Errors*: the agreement has none of that name for it.
    pub fn asked(&self) -> Result<&Program, Failure> {
        self.program(&self.offer()?)
    }

    fn program(&self, offer: &str) -> Result<&Program, Failure> {
        self.agreement.program(offer).ok_or_else(|| Failure::call(format!("the agreement has no program `{offer}`")))
    }

    /// The program of a visit.
    ///
    /// *Errors*: the agreement no longer has it.
    pub fn program_of(&self, answer: &Answer) -> Result<&Program, Failure> {
        self.program(&answer.offer)
    }

    /// The outputs of a visit; `None` where this client is not a recipient. The computation may have panicked.
    ///
    /// *Errors*: the visit was another client's.
    pub fn outputs(&self, Answer { offer, job, opened }: &Answer) -> Result<Vec<Option<Bits>>, Failure> {
        let client = &self.invitations[0];
        let Some(party) = job.client(&client.identity()) else {
            return Err(Failure::call(format!("`{}` is not a client of `{offer}`", client.client_name)));
        };
        let values = job.split_outputs(party, &opened.output).map_err(|error| Failure::no_result(&error))?;
        let mut values = values.into_iter().map(|(_, value)| value);
        let recipients = self.program(offer)?.outputs().iter().map(|output| output.recipients.contains(party));
        Ok(recipients.map(|own| if own { values.next() } else { None }).collect())
    }

    /// The report of a visit with these outputs.
    ///
    /// *Errors*: the agreement no longer has the program.
    pub fn report(&self, answer: &Answer, outputs: &[Option<Bits>], attempts: usize) -> Result<Report, Failure> {
        let Answer { offer, job, .. } = answer;
        let (state, version) = job.state().map(|(name, version)| (name.to_string(), version)).unzip();
        let outputs = outputs_json(self.program(offer)?, outputs);
        let servers_learn = self.all_that_servers_learn(offer)?;
        Ok(Report { program: offer.clone(), outputs, servers_learn, state, version, attempts })
    }

    /// The knowledge that a visit gives the servers, for programs.
    ///
    /// *Errors*: the agreement has no such program for this client.
    pub fn told(&self) -> Result<ServersLearn, Failure> {
        self.all_that_servers_learn(&self.offer()?)
    }

    fn all_that_servers_learn(&self, offer: &str) -> Result<ServersLearn, Failure> {
        let [generator, cloud] = self.servers_learn(offer)?;
        let [of_generator, of_cloud] = self.servers_learn_of_panics(offer)?;
        Ok(ServersLearn { generator, cloud, panics: Panics { generator: of_generator, cloud: of_cloud } })
    }

    /// The outputs that the generator and the cloud learn.
    fn servers_learn(&self, offer: &str) -> Result<[Vec<String>; 2], Failure> {
        let program = self.program(offer)?;
        Ok(self.servers(offer).map(|server| {
            let learned = garblet::results(program).filter(|(_, output)| output.recipients.contains(server));
            learned.map(|(_, output)| output.port.name.clone()).collect()
        }))
    }

    /// The generator's and the cloud's knowledge of a panic.
    fn servers_learn_of_panics(&self, offer: &str) -> Result<[Option<Panic>; 2], Failure> {
        let program = self.program(offer)?;
        let notes = program.notes();
        let learns = |output: Option<usize>, server| {
            output.is_some_and(|output| program.outputs()[output].recipients.contains(server))
        };
        Ok(self.servers(offer).map(|server| match () {
            () if learns(notes.panic_output(), server) => Some(Panic::Where),
            () if learns(notes.panicked, server) => Some(Panic::Whether),
            () => None,
        }))
    }

    /// The generator and the cloud of a program's runs.
    fn servers(&self, offer: &str) -> [Party; 2] {
        let clients = self.agreement.clients_of(offer).unwrap_or_default() as u16;
        [Party(0), Party(clients + 1)]
    }

    /// Prints what the servers learn from a visit, before any share is sent.
    #[cfg(feature = "system")]
    fn say_what_servers_learn(&self, offer: &str) -> Result<(), Failure> {
        let of = |((server, learned), panic): ((Server, Vec<String>), Option<Panic>)| {
            let panic = panic.map(|panic| match panic {
                Panic::Whether => "whether it panics",
                Panic::Where => "whether and where it panics",
            });
            let learned = match (learned.is_empty(), panic) {
                (true, None) => "no output".into(),
                (true, Some(panic)) => format!("no output, only {panic}"),
                (false, panic) => learned.into_iter().chain(panic.map(String::from)).collect::<Vec<_>>().join(", "),
            };
            format!("the {server} learns {learned}")
        };
        let learned = Server::BOTH.into_iter().zip(self.servers_learn(offer)?);
        let said: Vec<String> = learned.zip(self.servers_learn_of_panics(offer)?).map(of).collect();
        tell(&said.join("; "));
        Ok(())
    }
}

impl Asked {
    /// Opens the output.
    ///
    /// *Errors*: the replies of both servers.
    pub fn open(self) -> Result<Answer, Rejected> {
        let Asked { offer, job, visit, .. } = self;
        Ok(Answer { opened: visit.open()?, offer, job })
    }
}

/// The name of a job's state, which is empty if it has none.
fn state_of(job: &Job) -> String {
    job.state().map(|(name, _)| name.to_string()).unwrap_or_default()
}

/// The failure of a visit without an output, whose connections failed for these reasons. Forgets the visit if it cannot have had an effect.
pub fn unanswered(kept: &mut Kept, rejected: &Rejected, ways: &[(Server, String)]) -> Failure {
    let is_over = rejected.is_never_run();
    if is_over {
        kept.end(None);
    }
    let hint = match rejected {
        Rejected::Unanswered { generator, cloud } if is_behind([generator, cloud]) => {
            format!(
                "if this client has lost what it kept, or has it in several places, {} counts from the clock on, behind which all their counters should be; if the visit ran \
             after all and you give the input again, it counts twice",
                Setting::Forget
            )
        }
        Rejected::Unanswered { .. } if !is_over => format!("ask for its answers with {}", Setting::Resume),
        _ => rejected.hint().to_string(),
    };
    let ways = ways.iter().map(|(server, error)| format!("; connection to the {server}: {error}"));
    Failure::no_result(format!("{rejected}{}", ways.collect::<String>())).hint(hint)
}

/// Returns whether a server proves that it has had a higher counter, and none has an answer.
fn is_behind(said: [&Said; 2]) -> bool {
    let is_old = |said: &&Said| matches!(said, Said::Refusal(refusal) if refusal.reason == Reason::OldCounter);
    said.iter().any(is_old) && !said.contains(&&Said::Answer)
}
