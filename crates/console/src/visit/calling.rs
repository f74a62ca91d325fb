//! The calls of a client to both servers, with what it has in files.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use garblet::{
    Bits, Class, Explain, Party, Program,
    net::{Call, Fingerprint},
    outsourced::service::{Unanswered, WayTo, call},
};
use garblet_client::{Invitation, Opened, Rejected, Server, Visit};
use zeroize::Zeroizing;

use super::{ATTEMPTS, Answer, Asked, Client, Report, memory::Memory, unanswered};
use crate::{
    agreement, configuration::check_unwritable_with_folders, failure::Failure, session::block_on, surface::Setting,
    way::check_address,
};

/// A client that calls two servers.
pub struct Visitor {
    /// The client, with its question.
    pub client: Client,
    /// The addresses of the generator and the cloud.
    pub addresses: [String; 2],
    /// The longest wait for a server's answer.
    pub timeout: Duration,
    /// The file where the client keeps its receipts; `None` for one in the configuration folder.
    pub receipts: Option<PathBuf>,
}

/// An answered visit, which the client's memory still has as unanswered.
pub struct Answered {
    answer: Answer,
    /// The number of attempts.
    attempts: usize,
    memory: Memory,
}

impl Answered {
    /// Records that the visit was answered. Until then, its answers can be asked for again: so first give them to whoever asked.
    ///
    /// *Errors*: the client's memory cannot be written.
    pub fn keep(&mut self) -> Result<(), Failure> {
        self.memory.kept.end(Some(self.answer.opened.receipt()));
        let kept = self.memory.write();
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
        Ok(Visitor { client: Client::new(agreement, invitations, program), addresses, timeout, receipts: None })
    }

    fn memory(&self) -> Result<Memory, Failure> {
        Memory::open(self.receipts.as_deref(), &self.client.agreement, self.client.name())
    }

    /// Shares the input, of which `values` has what this party owns, and returns the output; tries again if other clients were faster.
    ///
    /// *Errors*: any end without a result. What may have had an effect, the client remembers.
    pub fn visit(
        &self,
        values: impl FnOnce(&Program, Party) -> Result<Vec<Bits>, Failure>,
    ) -> Result<Answered, Failure> {
        let mut memory = self.memory()?;
        let mut question = self.client.question(&memory.kept, values)?;
        self.client.say_what_servers_learn(&question.offer)?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let asked = self.client.ask(&question, &mut memory.kept, &mut rand::rng())?;
            memory.write()?;
            let unanswered = match self.call(asked)? {
                Ok(answer) => return Ok(Answered { answer, attempts, memory }),
                Err(unanswered) => unanswered,
            };
            let moved = (attempts < ATTEMPTS).then(|| Client::moved(question, &unanswered.rejected)).flatten();
            question = match moved {
                Some(next) => next,
                None => return Err(unanswered_in(&mut memory, &unanswered)?),
            };
        }
    }

    /// Asks again for the answers to the last visit.
    ///
    /// *Errors*: no visit is unanswered, or one of another program; as [`Visitor::visit`].
    pub fn resume(&self) -> Result<Answered, Failure> {
        let mut memory = self.memory()?;
        let asked = self.client.again(&memory.kept)?;
        match self.call(asked)? {
            Ok(answer) => Ok(Answered { answer, attempts: 1, memory }),
            Err(unanswered) => Err(unanswered_in(&mut memory, &unanswered)?),
        }
    }

    fn call(&self, Asked { offer, job, frames, visit }: Asked) -> Result<Result<Answer, Unanswered>, Failure> {
        let [to_generator, to_cloud] = &frames;
        let opened = self.call_with(visit, [to_generator, to_cloud])?;
        Ok(opened.map(|opened| Answer { offer, job, opened }))
    }

    fn call_with(&self, visit: Visit, frames: [&[u8]; 2]) -> Result<Result<Opened, Unanswered>, Failure> {
        let calls = Server::BOTH.map(|server| {
            let fingerprint = Fingerprint::of_ed25519(&self.client.agreement.server(server).0);
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

    /// The program of a visit.
    ///
    /// *Errors*: the agreement no longer has it.
    pub fn program_of(&self, answered: &Answered) -> Result<&Program, Failure> {
        self.client.program_of(&answered.answer)
    }

    /// The outputs of a visit; `None` where this client is not a recipient. The computation may have panicked.
    ///
    /// *Errors*: the visit was another client's.
    pub fn outputs(&self, answered: &Answered) -> Result<Vec<Option<Bits>>, Failure> {
        self.client.outputs(&answered.answer)
    }

    /// The report of a visit with these outputs.
    ///
    /// *Errors*: the agreement no longer has the program.
    pub fn report(&self, answered: &Answered, outputs: &[Option<Bits>]) -> Result<Report, Failure> {
        self.client.report(&answered.answer, outputs, answered.attempts)
    }
}

/// The error of a visit without an output. Forgets the visit if it cannot have had an effect.
fn unanswered_in(memory: &mut Memory, Unanswered { rejected, ways }: &Unanswered) -> Result<Failure, Failure> {
    let said: Vec<(Server, String)> = ways.iter().map(|(server, error)| (*server, error.to_string())).collect();
    let failure = unanswered(&mut memory.kept, rejected, &said);
    if rejected.is_never_run() {
        memory.write()?;
    }
    let class = match (rejected, &ways[..]) {
        (_, [(_, error), ..]) => error.class(),
        (Rejected::Unanswered { .. }, []) => Class::Disagreement,
        (Rejected::Differ { .. } | Rejected::OtherVersion { .. } | Rejected::Stale(_), []) => Class::Misbehaviour,
    };
    Ok(failure.of_class(class))
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
