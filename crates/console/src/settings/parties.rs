//! The numbers of parties that protocols and programs have.

use garblet::{Program, Protocol};

use super::{PartyCount, Settings};
use crate::{failure::Failure, hints::several_hint};

impl PartyCount {
    fn number(self) -> u16 {
        let (PartyCount::Option(number)
        | PartyCount::Peers(number)
        | PartyCount::Job(number)
        | PartyCount::Each(number)) = self;
        number
    }
}

impl Settings {
    /// The number of parties: as requested, or as the program needs.
    ///
    /// *Errors*: a number that the protocol or the program does not support.
    pub fn parties(&self, program: &Program, asked: Option<PartyCount>) -> Result<u16, Failure> {
        let (needed, protocol) = (program.party_count(), self.config()?.protocol());
        let (allowed, name) = (protocol.parties(), program.name());
        let (least, most, range) = (*allowed.start(), *allowed.end(), party_range(protocol));
        if needed > most {
            let failure = Failure::call(format!("{protocol} has {range} parties, `{name}` needs {needed}"));
            return Err(if protocol.is_mesh() { failure } else { failure.hint(several_hint(protocol)) });
        }
        match asked {
            Some(other) => {
                self.check_parties(other)?;
                match other.number() < needed {
                    true => Err(Failure::call(format!("{other}: `{name}` has inputs or outputs of {needed} parties"))),
                    false => Ok(other.number()),
                }
            }
            None => Ok(needed.max(least)),
        }
    }

    /// Checks that the protocol supports this number of parties.
    ///
    /// *Errors*: another number.
    pub fn check_parties(&self, parties: PartyCount) -> Result<(), Failure> {
        let protocol = self.config()?.protocol();
        if protocol.parties().contains(&parties.number()) {
            return Ok(());
        }
        let range = party_range(protocol);
        let failure = Failure::call(format!("{parties}: expected {range}, the number for {protocol}"));
        Err(if protocol.is_mesh() || parties.number() < 2 { failure } else { failure.hint(several_hint(protocol)) })
    }
}

/// The numbers of parties that a protocol supports: `2`, `3 to 64`.
pub fn party_range(protocol: Protocol) -> String {
    let (least, most) = protocol.parties().into_inner();
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}
