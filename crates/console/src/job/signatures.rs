//! A job's signatures by its parties, in a file beside the job, which itself stays unchanged.

use std::path::{Path, PathBuf};

use garblet::net::{Fingerprint, Identity, SIGNATURE_BYTES, check_stated_format, is_signed_by, toml_words};
use serde::{Deserialize, Serialize};

use super::{Job, JobDigest, JobParty, file::check_length, parties::not_of};
use crate::{
    failure::Failure,
    hex::{from_hex, to_hex},
    output::printable,
    written::line_at,
};

#[cfg(feature = "system")]
pub use super::here::sign;

/// Separates signatures of jobs from all else that an identity signs.
const CONTEXT: &str = "garblet 2026 job signature v1";

/// The newest format of files of signatures.
const FORMAT: u32 = 1;

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
    /// Reads the text of a file of signatures.
    ///
    /// *Errors*: it is too long, of another format, or no such file.
    pub fn read(path: &Path, text: &str) -> Result<Self, Failure> {
        check_length(path, text.len() as u64)?;
        check_stated_format(text, FORMAT).map_err(|other| Failure::other_format(path, other))?;
        let written = toml::from_str(text).map_err(|e: toml::de::Error| {
            let line = e.span().map_or(String::new(), |span| format!(":{}", line_at(text, span.start)));
            Failure::call(format!("{}{line}: {}", path.display(), printable(&toml_words(&e))))
                .hint("`garblet job sign` writes this file; parties can sign again")
        })?;
        Ok(Signatures { path: path.into(), written })
    }

    /// The signatures in a file that does not exist yet.
    pub fn none(path: &Path) -> Self {
        Signatures { path: path.into(), written: Written::default() }
    }

    /// The place of the signatures beside a job.
    pub fn place(job: &Job) -> PathBuf {
        let mut path = job.path.as_os_str().to_os_string();
        path.push(".signatures");
        path.into()
    }

    /// The text of the file.
    ///
    /// *Errors*: TOML cannot represent a text.
    pub fn text(&self) -> Result<String, Failure> {
        toml::to_string(&self.written).map_err(|e| Failure::no_result(format!("signatures: {e}")))
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

    /// Signs for the party with this identity, replacing its old signature. Whoever signs has checked the program. Returns the party's name.
    ///
    /// *Errors*: the identity is not one of the job's parties.
    pub fn sign(&mut self, job: &Job, identity: &Identity) -> Result<String, Failure> {
        let own = identity.fingerprint();
        let party = job.party_of(own).ok_or_else(|| not_of(job, own))?;
        let (party, digest) = (job.name_of(party), job.digest());
        let signature = Signature {
            party: party.into(),
            job: digest.to_string(),
            key: to_hex(&identity.public_key()),
            signature: to_hex(&identity.sign(CONTEXT, &digest.0)),
        };
        self.written.signatures.retain(|other| other.party != party);
        self.written.signatures.push(signature);
        self.written.format = Some(FORMAT);
        Ok(party.into())
    }
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
