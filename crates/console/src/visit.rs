//! A visit of two servers of `outsourced`: a client sends them shares of its inputs, and combines their answers into the result.
//!
//! `memory` is what the client keeps between visits.

mod memory;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use garblet::{
    Bits, Class, Explain, Party, Program,
    net::{Call, Fingerprint},
    outsourced::service::{Agreement, Unanswered, WayTo, call},
    run_report::outputs_json,
};
use garblet_client::{Begun, Invitation, Job, Opened, Rejected, Server, Visit};
use serde::Serialize;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use self::memory::{Memory, Unfinished};
use crate::{
    agreement, configuration::check_unwritable_with_folders, failure::Failure, hints::explain, output::tell,
    session::block_on, surface::Setting, way::check_address,
};

/// The most times that an input is shared again because other clients changed the state.
const ATTEMPTS: usize = 8;

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
struct ServersLearn {
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
pub struct Visitor {
    agreement: Agreement,
    /// From the generator and the cloud.
    invitations: [Invitation; 2],
    /// The program's name in the agreement; for a program per client, without the client's name.
    pub program: String,
    /// The addresses of the generator and the cloud.
    pub addresses: [String; 2],
    /// The names of all clients of the run, in the program's order; empty for this client alone.
    pub clients: Vec<String>,
    /// A label that distinguishes this run from the clients' other runs.
    pub label: String,
    /// The longest wait for a server's answer.
    pub timeout: Duration,
    /// The file where the client keeps its receipts; `None` for one in the configuration folder.
    pub receipts: Option<PathBuf>,
    /// Set to forget the last visit if it is unanswered.
    pub give_up: bool,
}

/// An answered visit, which the client's memory still has as unanswered.
pub struct Answered {
    offer: String,
    job: Job,
    /// The output, with the receipt.
    opened: Opened,
    /// The number of attempts.
    attempts: usize,
    memory: Memory,
}

impl Answered {
    /// Records that the visit was answered. Until then, its answers can be asked for again: so first give them to whoever asked.
    ///
    /// *Errors*: the client's memory cannot be written.
    pub fn keep(&mut self) -> Result<(), Failure> {
        let kept = self.memory.end(Some(self.opened.receipt()));
        kept.map_err(|failure| failure.hint(format!("once it can be written, ask again with {}", Setting::Resume)))
    }
}

impl Visitor {
    /// A client with these invitations, the generator's first, of the servers of this agreement. It asks for `program` at these addresses.
    ///
    /// *Errors*: an address without host and port; the agreement or an invitation cannot be read, or others may write it.
    pub fn new(
        agreement: &Path,
        invitations: [&Path; 2],
        (program, addresses, timeout): (String, [String; 2], Duration),
    ) -> Result<Self, Failure> {
        addresses.iter().try_for_each(|address| check_address(address))?;
        // An invitation may come through a pipe from a password manager.
        let files = invitations.into_iter().filter(|path| path.is_file());
        for trusted in std::iter::once(agreement).chain(files) {
            check_unwritable_with_folders(trusted)?;
        }
        let agreement = agreement::load(agreement)?;
        let [generator, cloud] = invitations;
        let invitations = [read_invitation(generator)?, read_invitation(cloud)?];
        let (clients, label, receipts, give_up) = (Vec::new(), String::new(), None, false);
        Ok(Visitor { agreement, invitations, program, addresses, clients, label, timeout, receipts, give_up })
    }

    fn memory(&self) -> Result<Memory, Failure> {
        Memory::open(self.receipts.as_deref(), &self.agreement, &self.invitations[0].client_name)
    }

    /// Shares the input, of which `values` has what this party owns, and returns the output; tries again if other clients were faster.
    ///
    /// *Errors*: any end without a result. What may have had an effect, the client remembers.
    pub fn visit(
        &self,
        values: impl FnOnce(&Program, Party) -> Result<Vec<Bits>, Failure>,
    ) -> Result<Answered, Failure> {
        let mut memory = self.memory()?;
        self.check_answered(&memory)?;
        let client = &self.invitations[0].client_name;
        let offer = self.offer(client)?;
        let clients = match &self.clients[..] {
            [] => vec![client.clone()],
            clients => clients.to_vec(),
        };
        let job = self.agreement.job(&offer, &clients, &self.label, 1).map_err(|error| explain(&error))?;
        let party = job.client(&self.invitations[0].identity()).ok_or_else(|| {
            let with = Setting::Clients.place();
            Failure::call(format!("{with}: the invited client `{client}` is not among {}", clients.join(", ")))
        })?;
        let values = values(self.program(&offer)?, party)?;
        let input = job.join_inputs(party, &values).map_err(|error| Failure::call(&error).hint(error.hint()))?;
        let state = job.state().map(|(name, _)| name.to_string()).unwrap_or_default();
        let mut job = self.at(&job, &state, memory.receipt(&state)?.version())?;
        self.say_what_servers_learn(&offer)?;
        let [generator, cloud] = &self.invitations;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let receipt = memory.receipt(&state)?;
            let begun = Visit::begin(&job, [generator, cloud], &receipt, &input, &mut rand::rng());
            let Begun { visit, receipt, to_generator, to_cloud } =
                begun.map_err(|error| Failure::call(&error).hint(error.hint()))?;
            memory.begin(Unfinished::new(&offer, &job, visit.pending(), [&to_generator, &to_cloud]), &receipt)?;
            match self.call(visit, [&to_generator, &to_cloud])? {
                Ok(opened) => return Ok(Answered { offer, job, opened, attempts, memory }),
                Err(unanswered) => {
                    let now = unanswered.rejected.state_now().filter(|_| attempts < ATTEMPTS);
                    match now.map(|(version, _)| self.at(&job, &state, version)) {
                        Some(Ok(next)) if next.digest() != job.digest() => job = next,
                        _ => return Err(unanswered_in(&mut memory, &unanswered)?),
                    }
                }
            }
        }
    }

    /// Asks again for the answers to the last visit.
    ///
    /// *Errors*: no visit is unanswered, or one of another program; as [`Visitor::visit`].
    pub fn resume(&self) -> Result<Answered, Failure> {
        let mut memory = self.memory()?;
        let Some(unfinished) = memory.unfinished() else {
            return Err(Failure::call(format!("{}: no visit is waiting for answers", Setting::Resume.place())));
        };
        let memory::Begun { offer, job, pending, frames: [to_generator, to_cloud] } = unfinished.read()?;
        if !self.names(&self.invitations[0].client_name).contains(&offer) {
            let (resume, asked) = (Setting::Resume.place(), &self.program);
            return Err(Failure::call(format!("{resume}: the last visit is for `{offer}`, got `{asked}`"))
                .hint(format!("ask for the answers of `{offer}`")));
        }
        let state = job.state().map(|(name, _)| name.to_string()).unwrap_or_default();
        let receipt = memory.receipt(&state)?;
        let [generator, cloud] = &self.invitations;
        let secrets = [&generator.secret, &cloud.secret];
        let visit = Visit::resume(pending, receipt, [&to_generator, &to_cloud], secrets)
            .map_err(|error| Failure::call(&error).hint(error.hint()))?;
        let opened = match self.call(visit, [&to_generator, &to_cloud])? {
            Ok(opened) => opened,
            Err(unanswered) => return Err(unanswered_in(&mut memory, &unanswered)?),
        };
        Ok(Answered { offer, job, opened, attempts: 1, memory })
    }

    /// Checks that no visit with an effect is unanswered: it may have run, or may still run.
    fn check_answered(&self, memory: &Memory) -> Result<(), Failure> {
        let Some(unfinished) = memory.unfinished().filter(|_| !self.give_up) else { return Ok(()) };
        let memory::Begun { offer, job, .. } = unfinished.read()?;
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

    fn call(&self, visit: Visit, frames: [&[u8]; 2]) -> Result<Result<Opened, Unanswered>, Failure> {
        let calls = Server::BOTH.map(|server| {
            let fingerprint = Fingerprint::of_ed25519(&self.agreement.server(server).0);
            Call { timeout: self.timeout, patience: self.timeout, ..Call::new(fingerprint) }
        });
        let [generator, cloud] = &calls;
        let [to_generator, to_cloud] = frames;
        let ways = [
            WayTo { call: generator, address: &self.addresses[0], frame: to_generator },
            WayTo { call: cloud, address: &self.addresses[1], frame: to_cloud },
        ];
        block_on(async { Ok(call(visit, ways).await) })
    }

    /// The job for the current version of a state.
    fn at(&self, job: &Job, state: &str, version: u64) -> Result<Job, Failure> {
        // A state that is read has been saved at least once.
        let reads = job.terms().inputs.iter().any(|input| matches!(input.origin, garblet_client::Origin::State { .. }));
        let version = if reads { version.max(1) } else { version };
        Job::new(job.terms().clone().at_version(state, version))
            .map_err(|error| Failure::call(&error).hint(error.hint()))
    }

    /// The names that the chosen offer may have.
    fn names(&self, client: &str) -> [String; 2] {
        [self.program.clone(), format!("{}.{client}", self.program)]
    }

    /// The name of the chosen offer.
    fn offer(&self, client: &str) -> Result<String, Failure> {
        let known: Vec<&str> = self.agreement.offers().collect();
        self.names(client).into_iter().find(|name| known.contains(&&name[..])).ok_or_else(|| {
            Failure::call(format!("the agreement has no program `{}` for `{client}`", self.program))
                .hint(format!("it has {}", known.join(", ")))
        })
    }

    /// The program that this client asks for.
    ///
    /// *Errors*: the agreement has none of that name for it.
    pub fn asked(&self) -> Result<&Program, Failure> {
        self.program(&self.offer(&self.invitations[0].client_name)?)
    }

    fn program(&self, offer: &str) -> Result<&Program, Failure> {
        self.agreement.program(offer).ok_or_else(|| Failure::call(format!("the agreement has no program `{offer}`")))
    }

    /// The program of a visit.
    ///
    /// *Errors*: the agreement no longer has it.
    pub fn program_of(&self, answered: &Answered) -> Result<&Program, Failure> {
        self.program(&answered.offer)
    }

    /// The outputs of a visit; `None` where this client is not a recipient. The computation may have panicked.
    ///
    /// *Errors*: the visit was another client's.
    pub fn outputs(&self, Answered { offer, job, opened, .. }: &Answered) -> Result<Vec<Option<Bits>>, Failure> {
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
    pub fn report(&self, answered: &Answered, outputs: &[Option<Bits>]) -> Result<Report, Failure> {
        let Answered { offer, job, attempts, .. } = answered;
        let (state, version) = job.state().map(|(name, version)| (name.to_string(), version)).unzip();
        let outputs = outputs_json(self.program(offer)?, outputs);
        let [generator, cloud] = self.servers_learn(offer)?;
        let [of_generator, of_cloud] = self.servers_learn_of_panics(offer)?;
        let servers_learn =
            ServersLearn { generator, cloud, panics: Panics { generator: of_generator, cloud: of_cloud } };
        Ok(Report { program: offer.clone(), outputs, servers_learn, state, version, attempts: *attempts })
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

/// The error of a visit without an output. Forgets the visit if it cannot have had an effect.
fn unanswered_in(memory: &mut Memory, unanswered: &Unanswered) -> Result<Failure, Failure> {
    let is_over = unanswered.rejected.is_never_run();
    if is_over {
        memory.end(None)?;
    }
    let hint = match unanswered.rejected {
        Rejected::Unanswered { .. } if !is_over => format!("ask for its answers with {}", Setting::Resume),
        _ => unanswered.rejected.hint().to_string(),
    };
    let ways = unanswered.ways.iter().map(|(server, error)| format!("; connection to the {server}: {error}"));
    let message = format!("{}{}", unanswered.rejected, ways.collect::<String>());
    Ok(Failure::no_result(message).of_class(class_of(unanswered)).hint(hint))
}

/// The class of a visit without an output: by the connection that failed, if one did.
fn class_of(unanswered: &Unanswered) -> Class {
    match (&unanswered.rejected, &unanswered.ways[..]) {
        (_, [(_, error), ..]) => error.class(),
        (Rejected::Unanswered { .. }, []) => Class::Disagreement,
        (Rejected::Differ { .. } | Rejected::OtherVersion { .. } | Rejected::Stale(_), []) => Class::Misbehaviour,
    }
}

/// The largest accepted invitation file.
const INVITATION_BYTES_MAX: u64 = 16 << 10;

fn read_invitation(path: &Path) -> Result<Invitation, Failure> {
    let mut text = Zeroizing::new(String::with_capacity(INVITATION_BYTES_MAX as usize + 1));
    let read = File::open(path).and_then(|file| file.take(INVITATION_BYTES_MAX + 1).read_to_string(&mut text));
    read.map_err(|error| Failure::unreadable(path, &error))?;
    Invitation::from_text(&text)
        .map_err(|error| Failure::call(format!("{}: {error}", path.display())).hint(error.hint()))
}
