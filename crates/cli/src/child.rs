//! One party of `garblet local` in its own process: the child's end and the parent's.
//!
//! The parent writes the job as one line of JSON to the child's standard input; a party that listens reports the address that the system chose.
//! With two parties, the parent sends this address to the other on a second line. With several, it sends each party the addresses of all others once it
//! knows them, or of relays to them for slow links. The child ends with its report or its failure on standard output. Standard error goes to the terminal,
//! for progress.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::{Duration, Instant},
};

use garblet::{
    Bits, Ends, Filled, OrderRequest, Party, Program, Security,
    circuit::InputId,
    meet::{Listening, Meeting, Peers, Way},
    net::PeersFile,
    run_report::{CpuSeconds, PartyPart},
};
use garblet_console::{
    args::ProgramArgs,
    failure::{Failure, Status},
    hints::{meet_failure, mesh_failure, net_failure},
    output, program,
    report::part_of_filled,
    session::{self, Task},
    settings::Settings,
    stock::Source,
};
use garblet_primitives::Backend;
use serde::{Deserialize, Serialize};

use crate::{
    ahead::{Ahead, Stores},
    slow::{Relays, SlowParty},
};

/// The time for the other parties to end once one has failed.
const GRACE: Duration = Duration::from_secs(3);

/// An address on this machine, at a port that the system chooses.
const ANY_PORT: &str = "127.0.0.1:0";

/// A child's job.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) program: ProgramArgs,
    /// The program's digest.
    pub(crate) digest: [u8; 32],
    pub(crate) party: Party,
    /// Bits in wire order, by index of the input.
    pub(crate) inputs: Vec<(u32, String)>,
    pub(crate) settings: Settings,
    /// The prepared material.
    pub(crate) ahead: Option<Ahead>,
    /// Do not compute, but fill the stores up to these amounts by kind.
    pub(crate) prepare: Option<Vec<(String, u64)>>,
    /// The number of parties.
    pub(crate) parties: u16,
    /// Shows progress.
    pub(crate) progress: bool,
    /// The name of the engine.
    pub(crate) engine: String,
}

/// The messages of a child, one line of JSON each.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Listening(String),
    Done(Box<Done>),
    Failed(Failure),
}

/// The result of a party.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) part: PartyPart,
    /// `None` if nothing was computed.
    pub(crate) security: Option<Security>,
    /// Bits in wire order; `None` where this party is not a recipient.
    pub(crate) outputs: Vec<Option<String>>,
}

/// The child's end: does the job on standard input. A program that runs [`Local`](crate::local::Local) starts itself with the argument
/// `child` and then calls this.
///
/// *Errors*: the result cannot be written.
pub fn main() -> Result<(), Failure> {
    let said = match work() {
        Ok(done) => Word::Done(Box::new(done)),
        Err(failure) => Word::Failed(failure),
    };
    say(&said)
}

fn work() -> Result<Done, Failure> {
    let wrong = |e: &dyn std::fmt::Display| Failure::call(format!("standard input: {e}"));
    let job: Job = serde_json::from_str(&read_line()?).map_err(|e| wrong(&e))?;
    job.engine.parse::<Backend>().map_err(|e| wrong(&e))?.select();
    let begin = Instant::now();
    let program = job.load()?;
    let inputs = job.inputs.iter().map(|(id, bits)| Ok((InputId(*id), bits.parse::<Bits>()?)));
    let inputs: Result<Vec<_>, garblet::circuit::NotBits> = inputs.collect();
    let inputs = inputs.map_err(|e| wrong(&e))?;
    // Load before waiting for anyone, so that all parties load at the same time.
    let task = match &job.prepare {
        None => Some(Task {
            plan: job.settings.plan(
                program.clone(),
                job.parties,
                job.ahead.as_ref().map(Ahead::saved).unwrap_or_default(),
            )?,
            party: job.party,
            inputs,
            settings: &job.settings,
            progress: job.progress,
            loaded: begin.elapsed(),
            source: job.ahead.as_ref().map(|ahead| match ahead {
                Ahead::Library(library) => Source::InMemory(library.clone()),
                Ahead::Stores(stores) => stores.source(job.party, job.parties),
            }),
            begins: None,
        }),
        Some(_) => None,
    };
    let meeting = if job.is_mesh()? {
        None
    } else {
        let meeting = match job.party {
            Party(0) => Meeting::Listen(ANY_PORT.into()),
            _ => Meeting::Connect(read_line()?.trim().into()),
        };
        end_with_parent();
        Some(meeting)
    };
    let met = job.meet(meeting);
    let Some(task) = task else {
        let (Some(Ahead::Stores(stores)), Some(amounts)) = (&job.ahead, job.prepare.clone()) else {
            return Err(Failure::no_result("standard input: no stores to prepare for: this is a bug"));
        };
        let (filled, cpu) = job.fill(stores, program, met, amounts)?;
        return Ok(Done { part: part_of_filled(job.party, &filled, cpu), security: None, outputs: Vec::new() });
    };
    let outcome = session::compute(task, met)?;
    // All parties are this command's own.
    outcome.closing.map_or(Ok(()), Err)?;
    let outputs = outcome.outputs.iter().map(|o| o.as_ref().map(Bits::to_string)).collect();
    Ok(Done { part: outcome.part, security: Some(outcome.security), outputs })
}

impl Job {
    /// Loads the program.
    ///
    /// *Errors*: the program is no longer the parent's.
    fn load(&self) -> Result<Program, Failure> {
        let program = match self.settings.config()?.protocol().reads_gates() {
            true => program::load_in_place_quietly(&self.program)?,
            false => program::load_quietly(&self.program)?,
        };
        match program.digest() == self.digest {
            true => Ok(program),
            false => Err(Failure::call(format!("{}: it was changed during the run", self.program.program))),
        }
    }

    /// Returns whether the parties are connected by a mesh.
    fn is_mesh(&self) -> Result<bool, Failure> {
        Ok(self.settings.config()?.protocol().is_mesh())
    }

    /// Meets all others: one peer at a known address, or several, whose addresses arrive once they know this party's.
    async fn meet(&self, meeting: Option<Meeting>) -> Result<Ends, Failure> {
        let plain = |meeting| Way::plain(meeting, None).map_err(|e| meet_failure(&e));
        let say_place = |listening: &Listening| match listening.address() {
            Some(address) => say(&Word::Listening(address.to_string())),
            None => Ok(()),
        };
        let (listening, way) = match meeting {
            Some(meeting) => {
                let way = plain(meeting)?;
                let listening = way.listen().await.map_err(|e| net_failure(&e))?;
                say_place(&listening)?;
                (listening, way)
            }
            None => {
                // The last party connects to all others.
                let address = (self.party.0 + 1 < self.parties).then_some(ANY_PORT);
                let listening = Listening::at(address).await.map_err(|e| net_failure(&e))?;
                say_place(&listening)?;
                let peers = Peers::new(self.party, told_addresses()?, None).map_err(|e| meet_failure(&e))?;
                (listening, plain(Meeting::Peers(peers))?)
            }
        };
        listening.meet(&way, self.settings.options(None)?).await.map_err(|e| mesh_failure(&e))
    }

    /// Meets the others and fills this party's store up to these amounts.
    fn fill(
        &self,
        stores: &Stores,
        program: Program,
        met: impl Future<Output = Result<Ends, Failure>>,
        amounts: Vec<(String, u64)>,
    ) -> Result<(Filled, Option<CpuSeconds>), Failure> {
        let order = OrderRequest { program: Some(Arc::new(program)), amounts, library: None };
        let folder = stores.store_of(self.party, self.parties, order);
        session::fill_measured(&self.settings, self.party, self.parties, &folder, met, (100, self.progress))
    }
}

/// The addresses of all parties, from the second line.
fn told_addresses() -> Result<PeersFile, Failure> {
    let line = read_line()?;
    let addresses: Vec<String> =
        serde_json::from_str(&line).map_err(|e| Failure::call(format!("standard input: {e}")))?;
    end_with_parent();
    Ok(PeersFile::plain(addresses))
}

fn read_line() -> Result<String, Failure> {
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(n) if n > 0 => Ok(line),
        // The parent has ended, or is ending this run because of another party.
        Ok(_) => Err(Failure { secondary: true, ..Failure::no_result("standard input: ended before the job") }),
        Err(error) => Err(Failure::no_result(format!("standard input: {error}"))),
    }
}

/// Ends this process when its standard input ends: the parent keeps it open for as long as it wants the result, and the
/// system closes it however the parent ends.
pub fn end_with_parent() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(i32::from(Status::NoResult as u8));
    });
}

fn say(word: &Word) -> Result<(), Failure> {
    output::print(&line_of(word)?)
}

/// A message as a line. It has only escapes of JSON, so [`output::print`] finds nothing to escape in another way.
fn line_of(word: &Word) -> Result<String, Failure> {
    let line = serde_json::to_string(word).map_err(|e| Failure::no_result(e.to_string()))?;
    Ok(format!("{}\n", output::escaped_json(&line)))
}

/// The parent's end: the children of one run. Dropping it kills those that still run.
struct Family {
    children: Vec<Running>,
    /// The address at which each party listens, once known.
    addresses: Vec<Option<String>>,
    mesh: bool,
    relays: Relays,
    heard: Receiver<(usize, Option<Word>)>,
}

struct Running {
    process: Child,
    /// The child's standard input; closing it ends the child.
    stdin: Option<ChildStdin>,
    /// Set if the child knows where to connect; the first of two parties needs no address.
    placed: bool,
    ended: Option<Result<Done, Failure>>,
}

/// Runs one process per job and returns each party's result. With several parties, one may have slow links.
///
/// *Errors*: the failure that caused the others; a link that cannot be simulated.
pub(crate) fn run_all(jobs: &[Job], slow: Option<SlowParty>) -> Result<Vec<Done>, Failure> {
    let mut family = Family::start(jobs, slow)?;
    family.listen()?;
    family.result()
}

impl Family {
    fn start(jobs: &[Job], slow: Option<SlowParty>) -> Result<Self, Failure> {
        let (say, heard) = channel();
        let mesh = jobs.first().map(Job::is_mesh).transpose()?.unwrap_or(false);
        let (addresses, relays) = (vec![None; jobs.len()], Relays::of(slow));
        let mut family = Family { children: Vec::new(), addresses, mesh, relays, heard };
        for (at, job) in jobs.iter().enumerate() {
            let mut process = spawn()?;
            let stdout = process.stdout.take();
            let stdin = process.stdin.take();
            family.children.push(Running { process, stdin, placed: at == 0 && !mesh, ended: None });
            let say = say.clone();
            std::thread::spawn(move || {
                let lines = stdout.into_iter().flat_map(|s| BufReader::new(s).lines());
                for line in lines.map_while(Result::ok) {
                    // Only a broken child writes an unknown line; its end is reported below.
                    let Ok(word) = serde_json::from_str(&line) else { continue };
                    let _ = say.send((at, Some(word)));
                }
                let _ = say.send((at, None));
            });
            let text = serde_json::to_string(job).map_err(|e| Failure::no_result(e.to_string()))?;
            family.tell(at, &text);
        }
        Ok(family)
    }

    /// Writes a line to a child. If it has died already, its end shows that.
    fn tell(&mut self, at: usize, line: &str) {
        if let Some(stdin) = self.children.get_mut(at).and_then(|c| c.stdin.as_mut()) {
            let _ = stdin.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdin.flush());
        }
    }

    /// Reads the children's messages until all have ended, or until the grace period after a failure is over.
    fn listen(&mut self) -> Result<(), Failure> {
        let mut failed = false;
        while self.children.iter().any(|c| c.ended.is_none()) {
            let wait = if failed { GRACE } else { Duration::MAX };
            match self.heard.recv_timeout(wait) {
                Ok((at, Some(Word::Listening(address)))) => self.place(at, address)?,
                Ok((at, Some(Word::Done(done)))) => self.end(at, Ok(*done)),
                Ok((at, Some(Word::Failed(failure)))) => self.end(at, Err(failure)),
                Ok((at, None)) => self.gone(at),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(()),
            }
            failed |= self.children.iter().any(|c| matches!(c.ended, Some(Err(_))));
        }
        Ok(())
    }

    /// Sends the addresses to the parties that connect, once they are known.
    fn place(&mut self, at: usize, address: String) -> Result<(), Failure> {
        self.addresses[at] = Some(address);
        let listening = if self.mesh { self.addresses.len().saturating_sub(1) } else { 1 };
        let known: Option<Vec<String>> = self.addresses[..listening].iter().cloned().collect();
        let Some(known) = known else { return Ok(()) };
        for at in (0..self.children.len()).filter(|at| !self.children[*at].placed).collect::<Vec<_>>() {
            let told = if self.mesh { self.ways(at, &known)? } else { known.concat() };
            self.tell(at, &told);
            self.children[at].placed = true;
        }
        Ok(())
    }

    /// The addresses of the other parties for one of several, which calls those before it.
    fn ways(&mut self, caller: usize, known: &[String]) -> Result<String, Failure> {
        let way = |(at, address): (usize, &String)| match at < caller {
            true => self.relays.way(caller, at, address),
            false => Ok(address.clone()),
        };
        let ways: Result<Vec<String>, Failure> = known.iter().enumerate().map(way).collect();
        let mut ways = ways?;
        // Nobody calls the last party.
        ways.push(ANY_PORT.into());
        serde_json::to_string(&ways).map_err(|e| Failure::no_result(e.to_string()))
    }

    fn end(&mut self, at: usize, how: Result<Done, Failure>) {
        let child = &mut self.children[at];
        child.ended.get_or_insert(how);
        if matches!(child.ended, Some(Err(_))) {
            // A child that waits for an address would wait forever. The others may still report the cause.
            self.children.iter_mut().filter(|c| !c.placed).for_each(|c| c.stdin = None);
        }
    }

    /// Handles a child whose output has ended: without a result, it was killed or crashed.
    fn gone(&mut self, at: usize) {
        if self.children[at].ended.is_none() {
            let how = match self.children[at].process.wait() {
                Ok(status) => describe(status),
                Err(error) => error.to_string(),
            };
            let failure = Failure::no_result(format!("the process of party {at} ended without a result: {how}"));
            self.end(
                at,
                Err(if how == KILLED { failure.hint("the system does this when memory runs out") } else { failure }),
            );
        }
    }

    fn result(mut self) -> Result<Vec<Done>, Failure> {
        let mut done = Vec::new();
        let mut failures = Vec::new();
        for (at, child) in self.children.iter_mut().enumerate() {
            match child.ended.take() {
                Some(Ok(result)) => done.push(result),
                Some(Err(failure)) => failures.push((at, failure)),
                None => {}
            }
        }
        match root_cause(&failures) {
            Some((at, failure)) => {
                let message = match failure.message.contains(&format!("party {at}")) {
                    true => failure.message.clone(),
                    false => format!("party {at}: {}", failure.message),
                };
                Err(Failure { message, ..failure.clone() })
            }
            None => Ok(done),
        }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        for child in &mut self.children {
            child.stdin = None;
            // Waiting after a kill leaves no zombie; killing a child that has ended does nothing.
            if child.process.try_wait().is_ok_and(|status| status.is_none()) {
                let _ = child.process.kill();
            }
            let _ = child.process.wait();
        }
    }
}

/// The root cause: a primary failure before a secondary one, a wrong call before the rest.
fn root_cause(failures: &[(usize, Failure)]) -> Option<&(usize, Failure)> {
    failures.iter().min_by_key(|(_, f)| (f.secondary, f.status != Status::WrongCall))
}

fn spawn() -> Result<Child, Failure> {
    let cannot = |e: std::io::Error| Failure::no_result(format!("cannot start a party's process: {e}"));
    let own = std::env::current_exe().map_err(cannot)?;
    Command::new(own).arg("child").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(cannot)
}

/// The status of a process killed by somebody, or by the system when memory ran out.
const KILLED: &str = "killed by signal 9";

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("killed by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "reason unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_changed_after_the_parent_read_it_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f.garble.rs");
        let write = |body: &str| std::fs::write(&path, format!("pub fn main(x: u8, y: u8) -> u8 {{ {body} }}\n"));
        write("x & y").expect("written");
        let program = ProgramArgs::plain(path.to_str().expect("text"));
        let digest = program::load_quietly(&program).map_err(|failure| failure.message).expect("a program").digest();
        let settings = Settings::of("yao".parse().expect("registered"), Vec::new(), Duration::from_secs(1));
        let (party, inputs) = (Party(0), Vec::new());
        let engine = Backend::detect().name().into();
        let (ahead, prepare, parties, progress) = (None, None, 2, false);
        let job = Job { program, digest, party, inputs, settings, ahead, prepare, parties, progress, engine };
        assert!(job.load().is_ok_and(|program| program.digest() == digest));
        write("x | y").expect("written");
        let failure = job.load().expect_err("another program");
        assert!(failure.message.ends_with("f.garble.rs: it was changed during the run"), "{}", failure.message);
    }

    #[test]
    fn a_message_arrives_whatever_characters_it_has() {
        let failure = Failure::no_result("a\u{202e}b\u{7f}c").hint("d\u{9b}e");
        let line = line_of(&Word::Failed(failure.clone())).expect("a line");
        assert_eq!(output::escaped(&line), line);
        let Ok(Word::Failed(read)) = serde_json::from_str(&line) else { panic!("{line}") };
        assert_eq!(read, failure);
    }

    #[test]
    fn the_root_cause_is_not_what_the_others_saw() {
        let seen = Failure { secondary: true, ..Failure::no_result("the peer closed the connection") };
        let cause = Failure::no_result("out of memory");
        let found = [(0, seen.clone()), (1, cause.clone())];
        assert_eq!(root_cause(&found), Some(&(1, cause)));
        assert_eq!(root_cause(&[(0, seen.clone())]), Some(&(0, seen)));
        assert_eq!(root_cause(&[]), None);
    }

    #[test]
    fn a_wrong_call_comes_before_other_causes() {
        let call = Failure::call("wrong");
        let found = [(0, Failure::no_result("other")), (1, call.clone())];
        assert_eq!(root_cause(&found), Some(&(1, call)));
    }
}
