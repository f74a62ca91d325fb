//! Jobs: files that say the whole agreement of a run, all parties' alike.
//!
//! A job names no addresses and no data: those are each party's own. Its digest covers everything that is agreed, so that parties compare one
//! number, sign it, and list it as theirs.
//! `file` reads and writes jobs; `fields` lists the fields that a job's digest covers, and those that `net/src/hello.rs` sends to a peer with another job (`JobTerms`);
//! `parties` says which of its parties this one is, and how it meets the others.

mod fields;
pub mod file;
pub mod parties;

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use garblet::{
    Party, Program,
    formats::value::{KeyForm, KeyHash},
    net::{Fingerprint, JobTerms, check_is_file},
    run_report::digest_text,
};

use crate::{
    args::{Param, ProgramArgs},
    configuration::check_unwritable_in_folder,
    failure::Failure,
    hex::{from_hex, to_hex},
    program,
    settings::Settings,
};

/// The agreement of a run, read from a file.
#[derive(Clone)]
pub struct Job {
    /// The file.
    pub path: PathBuf,
    /// The name, for people.
    pub name: String,
    /// The program, found from the file's folder, and its changes.
    pub program: ProgramArgs,
    /// The digest that the program has when it is changed.
    pub program_digest: [u8; 32],
    /// The name of the protocol.
    pub protocol: String,
    /// The parameters that the file gives, as the protocol prints them.
    pub parameters: Vec<Param>,
    /// The most rows that a run may have, if it may be a batch.
    pub batch: Option<u32>,
    /// The form of keys that are texts, if the parties hash them.
    pub hash_keys: Option<KeyForm>,
    /// All parties, by their numbers.
    pub parties: Vec<JobParty>,
}

/// A party of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobParty {
    /// The name by which the parties know it.
    pub name: String,
    /// Its identity; none in a job for plain TCP.
    pub fingerprint: Option<Fingerprint>,
}

/// The digest of everything that a job says, as parties compare, sign and list it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobDigest(pub [u8; 32]);

impl Job {
    /// Reads a job. The program is not looked at before [`Job::program`].
    ///
    /// *Errors*: a file that is no job, with the place in it.
    pub fn load(path: &Path) -> Result<Job, Failure> {
        file::load(path)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The digest of everything that is agreed: name, program by its digest, changes, protocol with the parameters that the file gives, and
    /// parties with their identities, but not where the program's file lies.
    pub fn digest(&self) -> JobDigest {
        fields::digest(&self.fields())
    }

    /// Everything that is agreed, by name: each field once, in an order that does not depend on the file's.
    pub fn fields(&self) -> Vec<(String, String)> {
        fields::of(self)
    }

    /// The way in which the parties hash keys that are texts, if they do. Its key follows from everything that is agreed.
    pub fn key_hash(&self) -> Option<KeyHash> {
        self.hash_keys.map(|form| KeyHash::new(form, &self.digest().0))
    }

    /// The program and its changes, as the command line would have them.
    pub fn program_args(&self) -> &ProgramArgs {
        &self.program
    }

    /// Checks that nobody else may write the file, or put another in its place: a run believes what it says.
    ///
    /// *Errors*: otherwise.
    pub fn check_unwritable(&self) -> Result<(), Failure> {
        check_unwritable_in_folder(&self.path)
    }

    /// The same, where compiling the program may take so many units of work.
    pub fn allowing(mut self, effort: u64) -> Job {
        self.program.changes.effort = effort;
        self
    }

    /// Loads the program, and tells its warnings.
    ///
    /// *Errors*: a program that cannot be read; one that is not the job's.
    pub fn program(&self) -> Result<Program, Failure> {
        let path = Path::new(&self.program.program);
        // Whoever has written the job may have named a pipe, or a device that never ends.
        if !self.program.program.starts_with(garblet::library::PREFIX) && path.exists() {
            check_is_file(path).map_err(|error| Failure::unreadable(path, &error))?;
        }
        let program = program::load(&self.program)?;
        match program.digest() == self.program_digest {
            true => Ok(program),
            false => Err(Failure::call(format!(
                "{}: digest: the program {} with these changes has {}, expected {}",
                self.path.display(),
                self.program.program,
                digest_text(&program),
                to_hex(&self.program_digest)
            ))
            .hint("the program is not the one that was agreed, or the job was changed: ask who wrote it, or make another with `garblet job new`")),
        }
    }

    /// Looks whether a run may have so many rows.
    ///
    /// *Errors*: a batch that the job does not allow, or not as large.
    pub fn check_rows(&self, rows: Option<u32>) -> Result<(), Failure> {
        let place = self.path.display();
        match (rows, self.batch) {
            (None, _) => Ok(()),
            (Some(rows), Some(most)) if rows <= most => Ok(()),
            (Some(rows), Some(most)) => {
                Err(Failure::call(format!("--batch: {place} allows {most} rows a run, got {rows}"))
                    .hint("split it into several runs, or agree on another job: `garblet job new --batch N`"))
            }
            (Some(_), None) => Err(Failure::call(format!("--batch: {place} is for one evaluation a run"))
                .hint("every row tells a result, so that all parties agree on how many: `garblet job new --batch N`")),
        }
    }

    /// Protocol and parameters, of which those that the file leaves out are the standard ones; runs with them are under this job.
    pub fn settings(&self, timeout: Duration) -> Settings {
        let (protocol, params) = (self.protocol.clone(), self.parameters.clone());
        Settings { protocol, params, link: None, timeout, job: Some(self.terms()) }
    }

    /// The terms that the parties compare before a run.
    fn terms(&self) -> JobTerms {
        let fields = self.fields();
        JobTerms { digest: fields::digest(&fields).to_string(), fields }
    }

    /// All parties, by their numbers.
    pub fn parties(&self) -> &[JobParty] {
        &self.parties
    }

    /// The number of parties.
    pub fn party_count(&self) -> u16 {
        self.parties.len() as u16
    }

    /// The party that has this identity.
    pub fn party_of(&self, fingerprint: Fingerprint) -> Option<Party> {
        let party = self.parties.iter().position(|party| party.fingerprint == Some(fingerprint));
        party.map(|party| Party(party as u16))
    }
}

impl fmt::Display for JobDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for JobDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for JobDigest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = from_hex(text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(JobDigest).ok_or_else(|| format!("expected 64 hexadecimal digits, got `{text}`"))
    }
}
