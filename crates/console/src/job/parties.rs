//! The parties of a job: which of them this one is, and as whom it meets the others.

use garblet::{Party, net::Fingerprint};

use super::Job;
use crate::{failure::Failure, surface::Setting, trusting};

impl Job {
    /// The party with this identity, which is `None` over plain TCP and read only if the job names identities; otherwise the one with that number.
    ///
    /// *Errors*: the identity is not in the job, or belongs to another party than that number; plain TCP although the job names identities.
    pub fn party_of_own(
        &self,
        own: impl FnOnce() -> Result<Option<Fingerprint>, Failure>,
        asked: Option<u16>,
    ) -> Result<Party, Failure> {
        let place = self.path.display();
        if self.parties.iter().all(|party| party.fingerprint.is_none()) {
            let count = self.party_count();
            return match asked {
                Some(party) if party < count => Ok(Party(party)),
                Some(party) => Err(Failure::call(format!(
                    "{}: {place} has {count} parties, 0 to {}",
                    Setting::Party.with(party),
                    count - 1
                ))),
                None => Err(Failure::call(format!(
                    "{} is missing: {place} has no identities to tell which party this is",
                    Setting::Party.place()
                ))),
            };
        }
        let Some(own) = own()? else {
            return Err(Failure::call(format!(
                "{}: {place} names identities, which plain TCP cannot verify",
                Setting::PlainTcp.place()
            ))
            .hint("leave it out, or write a job whose parties have only names"));
        };
        let party = self.party_of(own).ok_or_else(|| not_of(self, own))?;
        match asked {
            Some(asked) if asked != party.0 => Err(Failure::call(format!(
                "{}: our identity {own} is party {party} of {place}, {}",
                Setting::Party.with(asked),
                self.name_of(party)
            ))
            .hint(format!(
                "leave {} out, or give the {} of that party",
                Setting::Party,
                Setting::Identity
            ))),
            _ => Ok(party),
        }
    }

    /// The name and the identity of the other of two parties, if the job names identities.
    pub fn peer_of(&self, party: Party) -> Option<(String, Fingerprint)> {
        let other = &self.parties[usize::from(party.0 == 0)];
        other.fingerprint.map(|fingerprint| (other.name.clone(), fingerprint))
    }

    /// Checks that no trusted peer with another identity has a name from the job.
    ///
    /// *Errors*: one has.
    pub fn check_names(&self, trusted: &[(String, Fingerprint)]) -> Result<(), Failure> {
        for (number, party) in self.parties.iter().enumerate() {
            let other = |(name, known): &&(String, Fingerprint)| {
                *name == party.name && party.fingerprint.is_some_and(|fingerprint| fingerprint != *known)
            };
            if let (Some((name, known)), Some(got)) = (trusted.iter().find(other), party.fingerprint) {
                return Err(Failure::call(format!(
                    "{}: party {number}: {name} is trusted here as {known}, but the job has {got}",
                    self.path.display()
                ))
                .hint(format!(
                    "ask {name} for the fingerprint; if the job's is right, first `{}`",
                    trusting::command(&format!("remove {name}"))
                )));
            }
        }
        Ok(())
    }

    /// The names of the parties that have identities.
    pub fn names(&self) -> Vec<(String, Fingerprint)> {
        self.parties.iter().filter_map(|party| Some((party.name.clone(), party.fingerprint?))).collect()
    }

    /// The name of a party.
    pub(crate) fn name_of(&self, party: Party) -> &str {
        &self.parties[usize::from(party.0)].name
    }
}

/// The error for an identity that is not one of a job's parties.
pub fn not_of(job: &Job, identity: Fingerprint) -> Failure {
    let parties = job.parties.iter().map(|party| match party.fingerprint {
        Some(fingerprint) => format!("{} {fingerprint}", party.name),
        None => format!("{} without identity", party.name),
    });
    let (path, parties) = (job.path.display(), parties.collect::<Vec<_>>().join(", "));
    Failure::call(format!("{path}: our identity {identity} is not one of its parties: {parties}")).hint(format!(
        "give the identity that the job names with {}; `garblet id FILE` shows a file's fingerprint",
        Setting::Identity.with("FILE")
    ))
}
