//! Jobs: files that contain the whole agreement of a run, identical for all parties.
//!
//! A job contains no addresses and no data, which each party keeps to itself. Its digest covers the whole agreement, so parties need to compare,
//! sign and list only this one number.
//! `file` reads and writes jobs; `here` finds them, their programs and their signatures in files; `fields` lists the fields that a job's digest covers, and those that `net/src/hello.rs` sends to a peer with another job
//! (`JobTerms`); `parties` says which of its parties this one is, and how it meets the others; `names` compares the parties' names with those that are known here;
//! `signatures` are in a file beside a job.

mod fields;
pub mod file;
#[cfg(feature = "system")]
mod here;
mod names;
pub mod parties;
pub mod signatures;

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use garblet::{
    Party, Program,
    formats::value::{KeyForm, KeyHash},
    net::{DEFAULT_TIMEOUT, Fingerprint, JobTerms},
    run_report::digest_text,
};

use crate::{
    args::{Param, ProgramArgs},
    failure::Failure,
    hex::{from_hex, to_hex},
    program,
    settings::{PartyCount, Settings},
    surface::Setting,
};

/// The agreement of a run, read from a file.
#[derive(Clone)]
pub struct Job {
    /// The file.
    pub path: PathBuf,
    /// The job's name, for display.
    pub name: String,
    /// The program, as a path from the file's folder, and its changes, as command-line arguments.
    pub program_args: ProgramArgs,
    /// The digest of the program with its changes.
    pub program_digest: [u8; 32],
    /// The name of the protocol.
    pub protocol: String,
    /// The parameters in the file, as the protocol prints them.
    pub parameters: Vec<Param>,
    /// The most rows in a run; `None` if batches are not allowed.
    pub batch: Option<u32>,
    /// The form of text keys, if the parties hash them.
    pub hash_keys: Option<KeyForm>,
    /// All parties, by number.
    pub parties: Vec<JobParty>,
}

/// A party of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobParty {
    /// The name that all parties use for it.
    pub name: String,
    /// Its identity; `None` in a job for plain TCP.
    pub fingerprint: Option<Fingerprint>,
}

/// A job's digest over its whole agreement, which parties compare, sign and list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobDigest(pub [u8; 32]);

impl Job {
    /// The digest of the agreement: name, the program's digest, changes, protocol with the parameters in the file, and
    /// parties with their identities, but not the path of the program's file.
    pub fn digest(&self) -> JobDigest {
        fields::digest(&self.fields())
    }

    /// All fields of the agreement, by name: each once, in an order independent of the file's.
    pub fn fields(&self) -> Vec<(String, String)> {
        fields::of(self)
    }

    /// The hash of text keys, if the parties hash them. Its key is derived from the whole agreement.
    pub fn key_hash(&self) -> Option<KeyHash> {
        self.hash_keys.map(|form| KeyHash::new(form, &self.digest().0))
    }

    /// The same job with this limit on the work of compiling its program.
    pub fn allowing(mut self, effort: u64) -> Job {
        self.program_args.changes.effort = effort;
        self
    }

    /// The program, whose file has this content. A program of the library has none. Prints its warnings.
    ///
    /// *Errors*: as [`Job::check_program`]; content missing, or given for a program of the library; a program that is wrong.
    pub fn program_of(&self, content: Option<&[u8]>) -> Result<Program, Failure> {
        let (args, place) = (&self.program_args, self.path.display());
        let program = match (content, args.program.starts_with(garblet::library::PREFIX)) {
            (None, true) => program::load_quietly(args)?,
            (Some(content), false) => program::read_quietly(args, content)?,
            (None, false) => {
                return Err(Failure::call(format!("{place}: program: the content of {} is missing", args.program))
                    .hint("give it with the job"));
            }
            (Some(_), true) => {
                return Err(Failure::call(format!(
                    "{place}: program: {} is of the library, and has no content",
                    args.program
                ))
                .hint("leave the program out"));
            }
        };
        self.checked(program::told(program))
    }

    fn checked(&self, program: Program) -> Result<Program, Failure> {
        self.check_program(&program).map(|()| program)
    }

    /// Checks that a program is the job's.
    ///
    /// *Errors*: it is another one.
    pub fn check_program(&self, program: &Program) -> Result<(), Failure> {
        match program.digest() == self.program_digest {
            true => Ok(()),
            false => Err(Failure::call(format!(
                "{}: digest: that of the program {}, with the changes that the job names, is {}, expected {}",
                self.path.display(),
                self.program_args.program,
                digest_text(program),
                to_hex(&self.program_digest)
            ))
            .hint("the program is not the agreed one, the job was changed, or another version of Garblet makes other gates of the file: ask its author, or write a new job with `garblet job new`")),
        }
    }

    /// Checks that the protocol has as many parties as the job, and the program no more.
    ///
    /// *Errors*: a number that the protocol or the program does not support.
    pub fn check_parties(&self, program: &Program) -> Result<(), Failure> {
        self.settings(DEFAULT_TIMEOUT).parties(program, Some(self.counted_parties())).map(drop)
    }

    /// Checks that a run may have this number of rows.
    ///
    /// *Errors*: the job does not allow batches, or none this large.
    pub fn check_rows(&self, rows: Option<u32>) -> Result<(), Failure> {
        let place = self.path.display();
        match (rows, self.batch) {
            (None, _) => Ok(()),
            (Some(rows), Some(most)) if rows <= most => Ok(()),
            (Some(rows), Some(most)) => Err(Failure::call(format!(
                "{}: {place} allows {most} rows per run, got {rows}",
                Setting::Batch.place()
            ))
            .hint("split it into several runs, or agree on another job: `garblet job new --batch N`")),
            (Some(_), None) => {
                Err(Failure::call(format!("{}: {place} allows one evaluation per run", Setting::Batch.place())).hint(
                    "every row reveals a result, so all parties must agree on a limit: `garblet job new --batch N`",
                ))
            }
        }
    }

    /// Protocol and parameters, with defaults for those missing in the file; runs with these settings are under this job.
    pub fn settings(&self, timeout: Duration) -> Settings {
        let (protocol, params) = (self.protocol.clone(), self.parameters.clone());
        Settings { protocol, params, link: None, timeout, job: Some(self.terms()) }
    }

    /// The terms that the parties compare before a run.
    fn terms(&self) -> JobTerms {
        let fields = self.fields();
        JobTerms { digest: fields::digest(&fields).to_string(), fields }
    }

    /// The number of parties.
    pub fn party_count(&self) -> u16 {
        self.parties.len() as u16
    }

    /// The same, with the place that says it.
    pub fn counted_parties(&self) -> PartyCount {
        PartyCount::Job(self.party_count())
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
