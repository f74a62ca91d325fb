//! A job's signatures by its parties, in a file beside the job, which itself stays unchanged.

use std::path::{Path, PathBuf};

use garblet::net::{Fingerprint, Identity, SIGNATURE_BYTES, check_stated_format, is_signed_by};
use serde::{Deserialize, Serialize};

use super::{Job, JobDigest, JobParty, parties::not_of};
use crate::{
    failure::Failure,
    hex::{from_hex, to_hex},
    output::printable,
    whole_file::{self, Readers},
};

/// Separates signatures of jobs from all else that an identity signs.
const CONTEXT: &str = "garblet 2026 job signature v1";

/// The newest format of files of signatures.
const FORMAT: u32 = 1;

/// The largest accepted file.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The signatures beside a job.
pub struct Signatures {
    path: PathBuf,
    written: Written,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    format: Option<u32>,
    #[serde(default, rename = "signature")]
    signatures: Vec<Signature>,
}

/// A party's signature.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    /// The name of the party in the job.
    party: String,
    /// The digest of the job that it has signed.
    job: String,
    /// Its public key (Ed25519), whose fingerprint is in the job.
    key: String,
    signature: String,
}

/// The standing of a party of a job.
pub enum Standing {
    /// It has signed.
    Signed,
    /// It has not.
    Missing,
    /// Its signature is wrong, for this reason.
    Wrong(String),
}

impl Signatures {
    /// Reads the signatures beside a job; empty if there is no file.
    ///
    /// *Errors*: not a file of signatures. Refuses links, because signing would write to their target.
    pub fn beside(job: &Job) -> Result<Self, Failure> {
        let mut path = job.path.as_os_str().to_os_string();
        path.push(".signatures");
        let path = PathBuf::from(path);
        let written = match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Written::default(),
            Err(error) => return Err(Failure::unreadable(&path, &error)),
            Ok(file) if !file.is_file() => {
                return Err(Failure::call(format!(
                    "{}: expected a regular file, got a link or the like",
                    path.display()
                ))
                .hint("replace it with the file of signatures itself, or remove it"));
            }
            Ok(file) if file.len() > FILE_BYTES_MAX => {
                let what = format!("{}: {} bytes, expected at most {FILE_BYTES_MAX}", path.display(), file.len());
                return Err(Failure::call(what));
            }
            Ok(_) => {
                let text =
                    garblet::net::read_small_file(&path, FILE_BYTES_MAX).map_err(|e| Failure::unreadable(&path, &e))?;
                check_stated_format(&text, FORMAT).map_err(|other| Failure::other_format(&path, other))?;
                toml::from_str(&text).map_err(|e| {
                    Failure::call(format!("{}: {}", path.display(), printable(e.message())))
                        .hint("`garblet job sign` writes this file; parties can sign again")
                })?
            }
        };
        Ok(Signatures { path, written })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The standing of each party, by number.
    pub fn standings(&self, job: &Job) -> Vec<Standing> {
        let digest = job.digest();
        let standing = |party: &JobParty| {
            let mut of_party = self.written.signatures.iter().filter(|signature| signature.party == party.name);
            match (of_party.next(), of_party.next()) {
                (None, _) => Standing::Missing,
                (Some(_), Some(_)) => Standing::Wrong("it appears twice".into()),
                (Some(one), None) => match one.check(&digest, party.fingerprint) {
                    Ok(()) => Standing::Signed,
                    Err(reason) => Standing::Wrong(reason),
                },
            }
        };
        job.parties.iter().map(standing).collect()
    }

    /// Checks that all parties have signed.
    ///
    /// *Errors*: parties whose signature is missing or wrong, with the reasons.
    pub fn check_all(&self, job: &Job) -> Result<(), Failure> {
        let faults = job.parties.iter().zip(self.standings(job)).filter_map(|(party, standing)| match standing {
            Standing::Signed => None,
            Standing::Missing => Some(format!("{} has not signed", party.name)),
            Standing::Wrong(reason) => Some(format!("the signature of {} is wrong: {reason}", party.name)),
        });
        let faults: Vec<String> = faults.collect();
        match faults.is_empty() {
            true => Ok(()),
            false => Err(Failure::call(format!("{}: {}", self.path.display(), faults.join("; ")))
                .hint("each party signs with `garblet job sign JOB` and sends its entry in the file to the others")),
        }
    }

    /// Signs for the party with this name, replacing its old signature.
    ///
    /// *Errors*: the file cannot be written; it is replaced as a whole.
    fn sign(&mut self, job: &Job, party: &str, identity: &Identity) -> Result<(), Failure> {
        let digest = job.digest();
        let signature = Signature {
            party: party.into(),
            job: digest.to_string(),
            key: to_hex(&identity.public_key()),
            signature: to_hex(&identity.sign(CONTEXT, &digest.0)),
        };
        self.written.signatures.retain(|other| other.party != party);
        self.written.signatures.push(signature);
        self.written.format = Some(FORMAT);
        let text = toml::to_string(&self.written).map_err(|e| Failure::no_result(format!("signatures: {e}")))?;
        let unwritable = |error: &std::io::Error| Failure::unwritable(&self.path, error);
        whole_file::write(&self.path, Readers::Usual, |out| out.write_all(text.as_bytes())).map_err(|e| unwritable(&e))
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
    let party = job.party_of(own).ok_or_else(|| not_of(job, own))?;
    job.program()?;
    let name = job.name_of(party);
    let mut signatures = Signatures::beside(job)?;
    signatures.sign(job, name, identity)?;
    Ok((name.into(), signatures))
}

impl Signature {
    /// Checks that it signs this job, by the party with this fingerprint.
    fn check(&self, job: &JobDigest, party: Option<Fingerprint>) -> Result<(), String> {
        let key: Option<[u8; 32]> = from_hex(&self.key).and_then(|bytes| bytes.try_into().ok());
        let key =
            key.ok_or_else(|| format!("key: expected 64 hexadecimal digits, got `{}`", self.key.escape_debug()))?;
        let signature: Option<[u8; SIGNATURE_BYTES]> =
            from_hex(&self.signature).and_then(|bytes| bytes.try_into().ok());
        let signature = signature.ok_or("signature: expected 128 hexadecimal digits")?;
        let Some(expected) = party else { return Err("the party has no identity in the job".into()) };
        let got = Fingerprint::of_ed25519(&key);
        if got != expected {
            return Err(format!("the key belongs to {got}, expected {expected}"));
        }
        if self.job != job.to_string() {
            return Err(format!("it signs job {}, expected {job}", self.job.escape_debug()));
        }
        match is_signed_by(&key, CONTEXT, &job.0, &signature) {
            true => Ok(()),
            false => Err("it was made with another key or for another job".into()),
        }
    }
}
