//! Deviations from `authenticated-bmr`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use garblet_authenticated::many::{Config, Member, NAME, Plan, Step};
use garblet_circuit::{Bits, Party, Program};
use garblet_net::{Mesh, NetError};
use garblet_ot::OtCheck;
use garblet_protocol::{
    MeshSession, ProtocolError,
    checks::{Check, Unattributed},
    conduct::Conduct,
    protocol::BoxedRole,
};

use crate::{
    Outputs,
    run::{own_inputs, run_all},
};

/// A wrong byte in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lie {
    /// The step.
    pub step: Step,
    /// The party that the message is for; all of them if there is none.
    pub to: Option<u16>,
    /// The number of messages of that step before it, to the same party.
    pub after: usize,
    /// The place of the byte; counted from the end if negative.
    pub byte: isize,
    /// The sum of the wrong byte and the right one.
    pub error: u8,
}

impl Lie {
    /// Bit 0 of a byte of the first message of a step is wrong.
    pub fn new(step: Step, to: Option<u16>, byte: isize) -> Self {
        Lie { step, to, after: 0, byte, error: 1 }
    }

    /// The same lie in a later message of the step.
    pub fn after(self, after: usize) -> Self {
        Lie { after, ..self }
    }

    /// The same lie with other bits.
    pub fn with(self, error: u8) -> Self {
        Lie { error, ..self }
    }
}

/// The conduct of a party: its lies, if it is not honest. Clones share what they have seen.
#[derive(Clone, Debug, Default)]
pub struct Cheat {
    lies: Vec<Lie>,
    other_input: bool,
    seen: Arc<Mutex<Seen>>,
}

/// The record of a conduct.
#[derive(Debug, Default)]
struct Seen {
    /// The steps of all messages, and the parties that they were for.
    messages: Vec<(Step, usize)>,
    /// The lies that were told, by number.
    told: Vec<usize>,
}

impl Cheat {
    /// A party that tells these lies.
    pub fn new(lies: Vec<Lie>) -> Self {
        Cheat { lies, ..Cheat::default() }
    }

    /// A party that negates its user's input.
    pub fn with_other_input() -> Self {
        Cheat { other_input: true, ..Cheat::default() }
    }

    /// Tells whether the party is honest.
    pub fn is_honest(&self) -> bool {
        self.lies.is_empty() && !self.other_input
    }

    /// The lies that were not told: the run never came to them.
    pub fn untold(&self) -> Vec<Lie> {
        let seen = self.seen();
        let untold = self.lies.iter().enumerate().filter(|(number, _)| !seen.told.contains(number));
        untold.map(|(_, lie)| *lie).collect()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conduct<Step> for Cheat {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        // A step may have no message for some parties.
        if bytes.is_empty() {
            return;
        }
        let mut seen = self.seen();
        let before = seen.messages.iter().filter(|message| **message == (step, index)).count();
        seen.messages.push((step, index));
        for (number, lie) in self.lies.iter().enumerate() {
            let is_meant = lie.step == step && lie.to.is_none_or(|to| usize::from(to) == index);
            if is_meant && lie.after == before {
                let place = if lie.byte < 0 { bytes.len() - lie.byte.unsigned_abs() } else { lie.byte.unsigned_abs() };
                bytes[place] ^= lie.error;
                seen.told.push(number);
            }
        }
    }

    fn input(&mut self, _: usize, bits: &mut Bits) {
        if self.other_input {
            *bits = bits.iter().map(|bit| !bit).collect();
        }
    }
}

/// The end of a run for an honest party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The right outputs.
    Right,
    /// Wrong outputs.
    Wrong,
    /// That check caught this party.
    Caught(u16, Check),
    /// The check of oblivious transfers caught this party: it has other choices in some than in others.
    CaughtInOt(u16),
    /// This party sent a malformed message.
    Malformed(u16),
    /// That check failed, and names nobody.
    Somebody(Check),
    /// It heard that the run is over.
    Heard,
}

/// Compares an honest party's result with the right outputs.
///
/// # Panics
/// If the party ended for a reason of its own.
pub fn end(result: &Result<Outputs, ProtocolError>, right: &Outputs) -> End {
    let error = match result {
        Ok(outputs) if outputs == right => return End::Right,
        Ok(_) => return End::Wrong,
        Err(error) => error,
    };
    match error {
        ProtocolError::Unattributed(Unattributed { check, .. }) => End::Somebody(*check),
        ProtocolError::Peer { party: Party(party), source } => match &**source {
            ProtocolError::Cheating(cheating) => End::Caught(*party, cheating.check),
            ProtocolError::Net(NetError::Malformed { .. }) => End::Malformed(*party),
            ProtocolError::Ot(error) if error.check() == Some(OtCheck::Choices) => End::CaughtInOt(*party),
            source => match source.net() {
                Some(
                    NetError::PeerClosed { .. }
                    | NetError::PeerAborted { .. }
                    | NetError::PeerBlames { .. }
                    | NetError::PeerBlamesUs { .. },
                ) => End::Heard,
                _ => panic!("party {party}: {source}"),
            },
        },
        error => panic!("{error}"),
    }
}

/// Runs all parties, each with its conduct, and returns their results.
///
/// # Panics
/// If the protocol cannot run the program.
pub fn run(
    program: &Arc<Program>,
    inputs: &[Bits],
    config: Config,
    cheats: Vec<Cheat>,
    seed: u64,
) -> Vec<Result<Outputs, ProtocolError>> {
    let plan = Arc::new(Plan::new(program.clone(), cheats.len() as u16, config).expect("it can be run"));
    let parties = (0..).zip(cheats).map(|(party, cheat)| (own_inputs(program, inputs, party), cheat)).collect();
    run_all(NAME, (program, seed), parties, async |session: &mut MeshSession, party, cheat| {
        let member: BoxedRole<Mesh> = Box::new(Member::set_up(session, plan.clone(), party, cheat).await?);
        Ok(member)
    })
}
