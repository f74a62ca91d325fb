//! The names in a job beside those that peers have here.

use garblet::net::Fingerprint;

use super::{Job, JobParty};
use crate::{failure::Failure, output::tell};

impl Job {
    /// Names with letters outside ASCII, which may look like other names, as notes.
    pub fn odd_names(&self) -> Vec<String> {
        let parties =
            self.parties.iter().enumerate().map(|(party, JobParty { name, .. })| (format!("party {party}"), &name[..]));
        let names = std::iter::once(("the job".to_string(), &self.name[..])).chain(parties);
        let odd = names.filter(|(_, name)| !name.is_ascii());
        let note = |(whose, name): (String, &str)| {
            format!("the name `{name}` of {whose} is {}: its letters may look like others", ascii(name))
        };
        odd.map(note).collect()
    }

    /// Reports odd names, and parties that have another name in the job than here.
    ///
    /// *Errors*: a party has the name of another trusted peer.
    pub fn tell_names(&self, trusted: &[(String, Fingerprint)]) -> Result<(), Failure> {
        self.check_names(trusted)?;
        self.odd_names().iter().for_each(|note| tell(&format!("warning: {note}")));
        for party in &self.parties {
            let known = trusted.iter().filter(|(name, known)| party.fingerprint == Some(*known) && *name != party.name);
            known.for_each(|(name, _)| tell(&format!("{} of the job is trusted here as {name}", party.name)));
        }
        Ok(())
    }
}

/// A name in ASCII: `b\u{43e}b` for a `bob` with a Cyrillic o.
fn ascii(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii() { c.to_string() } else { c.escape_unicode().to_string() }).collect()
}
