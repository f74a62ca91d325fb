//! Jobs in files of this machine, with their programs and signatures, and the options of a run under one.

use std::path::Path;

use garblet::{
    Party, Program,
    meet::Way,
    net::{Fingerprint, Identity, PeersFile, check_is_file, read_small_file},
};

use super::{
    Job,
    file::{self, FILE_BYTES_MAX, check_length},
    parties::not_of,
    signatures::Signatures,
};
use crate::{
    configuration::check_unwritable_with_folders,
    failure::Failure,
    program,
    surface::Setting,
    way::WayArgs,
    whole_file::{self, Readers},
};

impl Job {
    /// Reads a job. Only [`Job::program`] reads its program.
    ///
    /// *Errors*: the file is not a job; says where in it.
    pub fn load(path: &Path) -> Result<Job, Failure> {
        let text = read_small_file(path, FILE_BYTES_MAX).map_err(|error| Failure::unreadable(path, &error))?;
        file::of_text(path, &text)
    }

    /// Checks that nobody else can write or replace the file, since a run trusts its contents.
    ///
    /// *Errors*: somebody else can.
    pub fn check_unwritable(&self) -> Result<(), Failure> {
        check_unwritable_with_folders(&self.path)
    }

    /// Loads the program and prints its warnings.
    ///
    /// *Errors*: the program cannot be read, or is not the job's.
    pub fn program(&self) -> Result<Program, Failure> {
        let path = Path::new(&self.program_args.program);
        // The job's author may have named a pipe or an endless device.
        if !self.program_args.program.starts_with(garblet::library::PREFIX) && path.exists() {
            check_is_file(path).map_err(|error| Failure::unreadable(path, &error))?;
        }
        let program = program::load(&self.program_args)?;
        self.checked(program)
    }

    /// This process's party: by its identity, or by its number if the job names no identities.
    ///
    /// *Errors*: as [`Job::party_of_own`].
    pub fn party_here(&self, way: &WayArgs, asked: Option<u16>) -> Result<Party, Failure> {
        let own = || if way.is_plain() { Ok(None) } else { way.identity().map(|own| Some(own.fingerprint())) };
        self.party_of_own(own, asked)
    }

    /// The connection settings to the only peer, which must have its identity from the job.
    ///
    /// *Errors*: as [`WayArgs::way`]; a peer other than the job's.
    pub fn way_to_peer(&self, way: &WayArgs, party: Party) -> Result<Way, Failure> {
        match self.peer_of(party) {
            Some((name, fingerprint)) => way.to_known(&name, fingerprint),
            None => way.way(),
        }
    }

    /// The addresses of a peers file with the identities of the job.
    ///
    /// *Errors*: the number of parties or an identity differs.
    pub fn pin(&self, peers: PeersFile) -> Result<PeersFile, Failure> {
        let (ours, theirs) = (self.party_count(), peers.party_count());
        if ours != theirs {
            let place = self.path.display();
            return Err(Failure::call(format!(
                "{}: the peers file has {theirs} parties, {place} has {ours}",
                Setting::Peers.place()
            )));
        }
        let known: Vec<Fingerprint> = self.parties.iter().filter_map(|party| party.fingerprint).collect();
        peers.pinned(&known).map_err(|party| {
            let (place, name) = (self.path.display(), self.name_of(Party(party)));
            Failure::call(format!(
                "{}: the fingerprint of party {party} differs from that of {name} in {place}",
                Setting::Peers.place()
            ))
            .hint("ask that party for its fingerprint; if the peers file has no fingerprints, those of the job apply")
        })
    }

    /// The same for the peers that these options trust. Plain TCP checks no identities.
    ///
    /// *Errors*: as [`Job::check_names`]; the file of trusted peers cannot be read, or others may write it.
    pub fn check_names_here(&self, way: &WayArgs) -> Result<(), Failure> {
        match way.is_plain() {
            true => Ok(()),
            false => self.check_names(&way.checked_names()?),
        }
    }
}

impl Signatures {
    /// Reads the signatures beside a job; empty if there is no file.
    ///
    /// *Errors*: not a file of signatures. Refuses links, because signing would write to their target.
    pub fn beside(job: &Job) -> Result<Self, Failure> {
        let path = Signatures::place(job);
        match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Signatures::none(&path)),
            Err(error) => Err(Failure::unreadable(&path, &error)),
            Ok(file) if !file.is_file() => {
                Err(Failure::call(format!("{}: expected a regular file, got a link or the like", path.display()))
                    .hint("replace it with the file of signatures itself, or remove it"))
            }
            Ok(file) => {
                check_length(&path, file.len())?;
                let text = read_small_file(&path, FILE_BYTES_MAX).map_err(|e| Failure::unreadable(&path, &e))?;
                Signatures::read(&path, &text)
            }
        }
    }
}

/// Signs a job beside it for the party with this identity, once the program here is the job's. Returns the party's name and the signatures.
///
/// *Errors*: others may write the job; a party has the name of another trusted peer; the identity is not one of the job's parties; another program; the file
/// cannot be read or written.
pub fn sign(
    job: &Job,
    trusted: &[(String, Fingerprint)],
    identity: &Identity,
) -> Result<(String, Signatures), Failure> {
    job.check_unwritable()?;
    job.tell_names(trusted)?;
    let own = identity.fingerprint();
    job.party_of(own).ok_or_else(|| not_of(job, own))?;
    job.program()?;
    let mut signatures = Signatures::beside(job)?;
    let (name, text, path) = (signatures.sign(job, identity)?, signatures.text()?, signatures.path());
    let written = whole_file::write(path, Readers::Usual, |out| out.write_all(text.as_bytes()));
    written.map_err(|e| Failure::unwritable(path, &e))?;
    Ok((name, signatures))
}
