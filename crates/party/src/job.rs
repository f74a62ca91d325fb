//! Jobs: the whole agreement of a run, as a text that both parties have.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use garblet::{
    Config, Party, Plan, Protocol,
    formats::value::KeyHash,
    net::{DEFAULT_TIMEOUT, Fingerprint},
};
use garblet_console::{
    failure::Failure,
    job::{
        self, JobParty,
        file::{of_text, protocol_of},
        signatures::{Signatures, Standing},
    },
    output::heard,
    reach::ReachPart,
    surface::Setting,
};
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{
    code::{Code, Coded},
    error::{Thrown, coded, ended, failed, thrown, thrown_coded},
    identity::Identity,
    program::Program,
};

/// A job, with the signatures of its parties.
#[wasm_bindgen]
pub struct Job {
    pub(crate) job: job::Job,
    signatures: Signatures,
}

#[wasm_bindgen]
impl Job {
    /// Reads the texts of a job's file, which messages call `name`, and of the file of signatures beside it, if there is one. Compiling its program may
    /// use `effort` units of work.
    pub fn read(name: &str, text: &str, signatures: Option<String>, effort: Option<f64>) -> Result<Job, Thrown> {
        let read = || {
            let wrong = |failure| unable(name, text).map_or_else(|| Coded::given(failure, Code::Job), Coded::from);
            let job = of_text(Path::new(name), text).map_err(wrong)?;
            let place = Signatures::place(&job);
            let signatures = match signatures {
                Some(text) => {
                    Signatures::read(&place, &text).map_err(|failure| Coded::given(failure, Code::Signatures))?
                }
                None => Signatures::none(&place),
            };
            Ok(Job { signatures, job })
        };
        let Job { job, signatures } = read().map_err(|failure: Coded| thrown_coded(&failure))?;
        let job = match effort {
            Some(units) => job.allowing(units as u64),
            None => job,
        };
        Ok(Job { job, signatures })
    }

    /// The job's program, whose file has this content unless it is of the library.
    pub fn program(&self, content: Option<Vec<u8>>) -> Result<Program, Thrown> {
        // Warnings are for authors.
        let (program, _) = heard(|| self.job.program_of(content.as_deref()));
        let has_file = !self.job.program_args.program.starts_with(garblet::library::PREFIX);
        let wrong = |failure| match content.is_some() && has_file {
            true => thrown_coded(&Coded::given(failure, Code::Program)),
            false => thrown(&failure),
        };
        program.map(|program| Program(Arc::new(program))).map_err(wrong)
    }

    /// Compares the names of the parties with those of `trust`, a JSON object of fingerprints by name, and describes the job as a JSON object. `own` is
    /// the identity of this party, if it has one.
    ///
    /// *Errors*: among others, a job of which a page with this identity could not begin a run.
    pub fn check(&self, program: &Program, trust: &str, own: Option<Identity>) -> Result<String, Thrown> {
        let (checked, mut notes) = heard(|| self.job.tell_names(&trusted(trust)?).map_err(|failure| thrown(&failure)));
        checked?;
        self.job.check_parties(&program.0).map_err(|failure| thrown(&failure))?;
        notes.extend(Some(ReachPart::of(&program.0).text().trim().to_string()).filter(|note| !note.is_empty()));
        let party = own.and_then(|own| self.job.party_of(own.0.fingerprint()));
        let config = party_of(&self.job, party).map_err(|failure| thrown(&failure))?;
        if party.is_some() {
            check_two(&self.job).map_err(|failure| thrown(&failure))?;
            self.job.key_hash().map_or(Ok(()), |keys| texts(&keys, &program.0).map(drop))?;
            Plan::new(program.0.clone(), 2, &config).map_err(|error| ended(&error))?;
        }
        Ok(json!({
            "name": self.job.name,
            "digest": self.job.digest().to_string(),
            "protocol": self.job.protocol,
            "adversary": config.adversary().name(),
            "fields": self.job.fields().into_iter().collect::<BTreeMap<_, _>>(),
            "parties": self.parties(),
            "party": party.map(|party| party.0),
            "program": program.described(),
            "notes": notes,
        })
        .to_string())
    }

    /// Signs for the party with this identity, once the program is the job's and the names fit. Returns its name and the text of the file of signatures as a
    /// JSON object.
    pub fn sign(&mut self, program: &Program, trust: &str, identity: &Identity) -> Result<String, Thrown> {
        let trusted = trusted(trust)?;
        let mut signed = || {
            self.job.check_names(&trusted)?;
            self.job.check_program(&program.0)?;
            let party = self.signatures.sign(&self.job, &identity.0)?;
            Ok((party, self.signatures.text()?))
        };
        let (party, signatures) = signed().map_err(|failure: Failure| thrown(&failure))?;
        Ok(json!({ "party": party, "signatures": signatures, "digest": self.job.digest().to_string() }).to_string())
    }

    /// Checks that all parties have signed, and returns the job's digest.
    pub fn verify(&self) -> Result<String, Thrown> {
        self.signatures.check_all(&self.job).map_err(|failure| thrown(&failure))?;
        Ok(self.job.digest().to_string())
    }
}

impl Job {
    /// The parties, with their signatures.
    fn parties(&self) -> Vec<Value> {
        let party = |(party, standing): (&JobParty, Standing)| {
            let wrong = match &standing {
                Standing::Wrong(reason) => Some(reason),
                Standing::Signed | Standing::Missing => None,
            };
            json!({
                "name": party.name,
                "fingerprint": party.fingerprint.map(|fingerprint| fingerprint.to_string()),
                "signed": matches!(standing, Standing::Signed),
                "wrong": wrong,
            })
        };
        self.job.parties.iter().zip(self.signatures.standings(&self.job)).map(party).collect()
    }
}

/// The protocol of a job in which the page is this party, if it is one.
///
/// *Errors*: a party that waits for the other.
pub(crate) fn party_of(job: &job::Job, party: Option<Party>) -> Result<Config, Failure> {
    let config = job.settings(DEFAULT_TIMEOUT).config()?;
    check_calls(&config, party).map(|()| config)
}

/// Checks that this party calls the other, as pages do: parties that are joined by a mesh call those with lower numbers.
///
/// *Errors*: it waits for the other.
pub(crate) fn check_calls(config: &Config, party: Option<Party>) -> Result<(), Failure> {
    match (config.protocol(), party) {
        (protocol, Some(Party(0))) if protocol.is_mesh() => {
            Err(Failure::call(format!("{}: a page with {protocol} is party 1", Setting::Party.with(0)))
                .hint("party 0 waits for the other, and a page cannot: agree that the page is the second party"))
        }
        _ => Ok(()),
    }
}

/// Checks that a page can meet all others of a job.
///
/// *Errors*: it has more than two parties, or one.
pub(crate) fn check_two(job: &job::Job) -> Result<(), Failure> {
    let (parties, place) = (job.party_count(), job.path.display());
    match parties {
        2 => Ok(()),
        _ => Err(Failure::call(format!("{place}: the job has {parties} parties, expected 2"))
            .hint("a page computes with one peer")),
    }
}

/// The program as the inputs of a job whose keys are texts are read. *Errors*: it has no keys.
pub(crate) fn texts(keys: &KeyHash, program: &garblet::Program) -> Result<garblet::Program, Thrown> {
    keys.texts(program).map_err(|error| failed(&format!("hash_keys: {error}"), "agree on another job"))
}

/// The failure of a job whose protocol a page does not have.
fn unable(place: &str, text: &str) -> Option<Failure> {
    let protocol = protocol_of(text).filter(|name| name.parse::<Protocol>().is_err())?;
    Some(without(&format!("{place}: protocol"), &protocol))
}

/// The failure for a protocol that a page does not have.
pub(crate) fn without(place: &str, protocol: &str) -> Failure {
    let got = protocol.escape_debug();
    Failure::call(format!("{place}: a page has {}, not `{got}`", Protocol::names()))
        .hint("the other protocols need threads or a disk: take part with the command, if it has this one")
}

/// The fingerprints of a JSON object, with their names.
fn trusted(trust: &str) -> Result<Vec<(String, Fingerprint)>, Thrown> {
    let wrong = || failed(&"trust: expected an object of texts", "give each fingerprint by its name");
    let given: BTreeMap<String, String> = serde_json::from_str(trust).map_err(|_| coded(wrong(), Code::Trust))?;
    fingerprints(&given)
}

/// The fingerprints of peers, with their names.
pub(crate) fn fingerprints(given: &BTreeMap<String, String>) -> Result<Vec<(String, Fingerprint)>, Thrown> {
    let read = |(name, text): (&String, &String)| match text.parse() {
        Ok(fingerprint) => Ok((name.clone(), fingerprint)),
        Err(error) => {
            let wrong = failed(&format!("trust: {name}: {error}"), "give it as `garblet id` prints it");
            Err(coded(wrong, Code::Trust))
        }
    };
    given.iter().map(read).collect()
}
