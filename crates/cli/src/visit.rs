//! `garblet visit`: a client that sends shares of its inputs to two servers and combines their answers into the result.

mod memory;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use garblet::{
    Bits, Party, Program,
    net::{Call, Fingerprint},
    outsourced::service::{Agreement, Unanswered, WayTo, call},
    run_report::outputs_json,
};
use garblet_client::{Begun, Invitation, Job, Opened, Server, Visit};
use garblet_console::{
    args::Time,
    configuration::check_unwritable_with_folders,
    failure::{Failure, first_failure},
    hints::explain,
    inputs::{self, ArrangeArgs, InputArgs, InputFile},
    output::{print, print_json, tell},
    report::{check_panics, outputs_text},
    session::block_on,
};
use serde::Serialize;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::agreement;

use memory::{Memory, Unfinished};

/// The most times that an input is shared again because other clients changed the state.
const ATTEMPTS: usize = 8;

/// The options of `garblet visit`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The agreement of the servers (TOML), as they have it
    #[arg(value_name = "AGREEMENT")]
    agreement: PathBuf,
    /// The program's name in the agreement; for a program per client, without the client's name
    #[arg(value_name = "PROGRAM")]
    program: String,
    /// A file with the invitation of a server, the generator's first (`garblet keygen --client`)
    #[arg(long = "invitation", value_name = "FILE", required = true, num_args = 1)]
    invitations: Vec<PathBuf>,
    /// The address of the generator
    #[arg(long, value_name = "HOST:PORT")]
    generator: String,
    /// The address of the cloud
    #[arg(long, value_name = "HOST:PORT")]
    cloud: String,
    /// This client's inputs: JSON {"port": value}, or CSV for an array
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    #[command(flatten)]
    arrange: ArrangeArgs,
    /// The names of all clients of the run, in the program's order, if there are several; each of them visits the servers
    #[arg(long = "with", value_name = "NAME", value_delimiter = ',')]
    clients: Vec<String>,
    /// A label that distinguishes this run from the clients' other runs
    #[arg(long, value_name = "TEXT", default_value = "")]
    label: String,
    /// The file where this client keeps its receipts [default: a file in the configuration folder]
    #[arg(long, value_name = "FILE")]
    receipts: Option<PathBuf>,
    /// Ask again for the answers to the last visit, which did not arrive
    #[arg(long, conflicts_with_all = ["input", "clients", "label"])]
    resume: bool,
    /// Forget the last, unanswered visit: if it was run after all, an input that you give again counts twice
    #[arg(long, conflicts_with = "resume")]
    give_up: bool,
    /// Give up after this long without an answer from a server
    #[arg(long, value_name = "TIME", default_value = "60s")]
    timeout: Time,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The object of `--json`.
#[derive(Serialize)]
struct Report {
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

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    // An invitation may come through a pipe from a password manager.
    let invitations = options.invitations.iter().filter(|path| path.is_file());
    for trusted in std::iter::once(&options.agreement).chain(invitations) {
        check_unwritable_with_folders(trusted)?;
    }
    let agreement = agreement::load(&options.agreement)?;
    let [generator, cloud] = &options.invitations[..] else {
        let got = options.invitations.len();
        return Err(Failure::call(format!("--invitation: expected two, the generator's first, got {got}")));
    };
    let invitations = [read_invitation(generator)?, read_invitation(cloud)?];
    let client = invitations[0].client_name.clone();
    let mut memory = Memory::open(options.receipts.as_deref(), &agreement, &client)?;
    let visitor = Visitor { options, agreement: &agreement, invitations: &invitations };
    let ended = match options.resume {
        true => visitor.resume(&mut memory)?,
        false => visitor.visit(&mut memory)?,
    };
    // Print the output even if the receipt cannot be written.
    let kept = memory.end(Some(ended.opened.receipt()));
    first_failure(visitor.tell(&ended), kept)
}

/// A client of two servers.
struct Visitor<'a> {
    options: &'a Options,
    agreement: &'a Agreement,
    /// From the generator and the cloud.
    invitations: &'a [Invitation; 2],
}

/// A finished visit.
struct Ended {
    offer: String,
    job: Job,
    /// The output, with the receipt.
    opened: Opened,
    /// The number of attempts.
    attempts: usize,
}

impl Visitor<'_> {
    /// Shares the input and returns the output; tries again if other clients were faster.
    fn visit(&self, memory: &mut Memory) -> Result<Ended, Failure> {
        self.check_answered(memory)?;
        let client = &self.invitations[0].client_name;
        let offer = self.offer(client)?;
        let clients = match &self.options.clients[..] {
            [] => vec![client.clone()],
            clients => clients.to_vec(),
        };
        let job = self.agreement.job(&offer, &clients, &self.options.label, 1).map_err(|error| explain(&error))?;
        let party = job.client(&self.invitations[0].identity()).ok_or_else(|| {
            Failure::call(format!("--with: the invited client `{client}` is not among {}", clients.join(", ")))
        })?;
        let values = self.values(&offer, party)?;
        let input = job.join_inputs(party, &values).map_err(|error| Failure::call(&error).hint(error.hint()))?;
        let state = job.state().map(|(name, _)| name.to_string()).unwrap_or_default();
        let mut job = self.at(&job, &state, memory.receipt(&state)?.version())?;
        self.say_what_servers_learn(&offer)?;
        let [generator, cloud] = self.invitations;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let receipt = memory.receipt(&state)?;
            let begun = Visit::begin(&job, [generator, cloud], &receipt, &input, &mut rand::rng());
            let Begun { visit, receipt, to_generator, to_cloud } =
                begun.map_err(|error| Failure::call(&error).hint(error.hint()))?;
            memory.begin(Unfinished::new(&offer, &job, visit.pending(), [&to_generator, &to_cloud]), &receipt)?;
            match self.call(visit, [&to_generator, &to_cloud])? {
                Ok(opened) => return Ok(Ended { offer, job, opened, attempts }),
                Err(unanswered) => {
                    let now = unanswered.rejected.state_now().filter(|_| attempts < ATTEMPTS);
                    match now.map(|(version, _)| self.at(&job, &state, version)) {
                        Some(Ok(next)) if next.digest() != job.digest() => job = next,
                        _ => return Err(self.unanswered(memory, &unanswered)?),
                    }
                }
            }
        }
    }

    /// Asks again for the answers to the last visit.
    fn resume(&self, memory: &mut Memory) -> Result<Ended, Failure> {
        let Some(unfinished) = memory.unfinished() else {
            return Err(Failure::call("--resume: no visit is waiting for answers"));
        };
        let memory::Begun { offer, job, pending, frames: [to_generator, to_cloud] } = unfinished.read()?;
        let state = job.state().map(|(name, _)| name.to_string()).unwrap_or_default();
        let receipt = memory.receipt(&state)?;
        let [generator, cloud] = self.invitations;
        let secrets = [&generator.secret, &cloud.secret];
        let visit = Visit::resume(pending, receipt, [&to_generator, &to_cloud], secrets)
            .map_err(|error| Failure::call(&error).hint(error.hint()))?;
        let opened = match self.call(visit, [&to_generator, &to_cloud])? {
            Ok(opened) => opened,
            Err(unanswered) => return Err(self.unanswered(memory, &unanswered)?),
        };
        Ok(Ended { offer, job, opened, attempts: 1 })
    }

    /// Checks that no visit with an effect is unanswered: it may have run, or may still run.
    fn check_answered(&self, memory: &Memory) -> Result<(), Failure> {
        let Some(unfinished) = memory.unfinished().filter(|_| !self.options.give_up) else { return Ok(()) };
        let memory::Begun { offer, job, .. } = unfinished.read()?;
        if job.terms().keeps.is_none() {
            return Ok(());
        }
        Err(Failure::call(format!("the last visit, for `{offer}`, was not answered, and may have changed the state"))
            .hint("ask for its answers with --resume; --give-up forgets it, but if it ran after all and you give the input again, it counts twice"))
    }

    /// The error of a visit without an output. Forgets the visit if it cannot have had an effect.
    fn unanswered(&self, memory: &mut Memory, unanswered: &Unanswered) -> Result<Failure, Failure> {
        if unanswered.rejected.is_never_run() {
            memory.end(None)?;
        }
        Ok(self.failure(unanswered))
    }

    fn call(&self, visit: Visit, frames: [&[u8]; 2]) -> Result<Result<Opened, Unanswered>, Failure> {
        let calls = Server::BOTH.map(|server| {
            let fingerprint = Fingerprint::of_ed25519(&self.agreement.server(server).0);
            Call { timeout: self.options.timeout.0, patience: self.options.timeout.0, ..Call::new(fingerprint) }
        });
        let [generator, cloud] = &calls;
        let [to_generator, to_cloud] = frames;
        let ways = [
            WayTo { call: generator, address: &self.options.generator, frame: to_generator },
            WayTo { call: cloud, address: &self.options.cloud, frame: to_cloud },
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

    /// The name of the chosen offer.
    fn offer(&self, client: &str) -> Result<String, Failure> {
        let named = [self.options.program.clone(), format!("{}.{client}", self.options.program)];
        let known: Vec<&str> = self.agreement.offers().collect();
        named.into_iter().find(|name| known.contains(&&name[..])).ok_or_else(|| {
            Failure::call(format!("the agreement has no program `{}` for `{client}`", self.options.program))
                .hint(format!("it has {}", known.join(", ")))
        })
    }

    fn program(&self, offer: &str) -> Result<&Program, Failure> {
        self.agreement.program(offer).ok_or_else(|| Failure::call(format!("the agreement has no program `{offer}`")))
    }

    fn values(&self, offer: &str, party: Party) -> Result<Vec<Bits>, Failure> {
        let file = self.options.input.iter().map(|path| InputFile { party, path: path.clone() });
        let args = InputArgs { inputs: file.collect(), arrange: self.options.arrange.clone(), ..InputArgs::default() };
        let (values, _) =
            inputs::of_this_party(self.program(offer)?, &args, party).map_err(|failure| match self.options.input {
                None => failure.hint("give --input FILE.json"),
                Some(_) => failure,
            })?;
        Ok(values.into_iter().map(|(_, value)| value).collect())
    }

    /// Prints the outcome.
    ///
    /// *Errors*: the computation panicked; standard output cannot be written.
    fn tell(&self, Ended { offer, job, opened, attempts }: &Ended) -> Result<(), Failure> {
        let client = &self.invitations[0];
        let Some(party) = job.client(&client.identity()) else {
            return Err(Failure::call(format!("`{}` is not a client of `{offer}`", client.client_name)));
        };
        let program = self.program(offer)?;
        let values = job.split_outputs(party, &opened.output).map_err(|error| Failure::no_result(&error))?;
        let mut values = values.into_iter().map(|(_, value)| value);
        let recipients = program.outputs().iter().map(|output| output.recipients.contains(party));
        let outputs: Vec<Option<Bits>> = recipients.map(|own| if own { values.next() } else { None }).collect();
        check_panics(program, &outputs)?;
        if !self.options.json {
            return print(&outputs_text(program, &outputs));
        }
        let (state, version) = job.state().map(|(name, version)| (name.to_string(), version)).unzip();
        let outputs = outputs_json(program, &outputs);
        let [generator, cloud] = self.servers_learn(offer)?;
        let [of_generator, of_cloud] = self.servers_learn_of_panics(offer)?;
        let servers_learn =
            ServersLearn { generator, cloud, panics: Panics { generator: of_generator, cloud: of_cloud } };
        print_json(&Report { program: offer.clone(), outputs, servers_learn, state, version, attempts: *attempts })
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

    fn failure(&self, unanswered: &Unanswered) -> Failure {
        let ways = unanswered.ways.iter().map(|(server, error)| format!("; connection to the {server}: {error}"));
        let message = format!("{}{}", unanswered.rejected, ways.collect::<String>());
        Failure::no_result(message).hint(unanswered.rejected.hint())
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
