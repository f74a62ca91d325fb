//! Text keys: the source of their hash, and the cost of hashing.

use garblet::{
    Program,
    formats::value::{KeyHash, Price},
};

use super::options::InputArgs;
use crate::{failure::Failure, job::Job, output::tell};

/// The base-2 logarithm of the probability of false matches above which the user is warned.
const LOG2_WARNED: f64 = -20.0;

impl InputArgs {
    /// The same arguments with the agreed hash of keys: from a job, or from the options if all parties are here.
    ///
    /// *Errors*: the option beside a job, or where nothing ensures that all parties give the same; a program without keys.
    pub fn with_keys(&self, job: Option<&Job>, program: &Program, all_are_here: bool) -> Result<InputArgs, Failure> {
        let keys = match (job, self.hash_keys) {
            (None, None) => None,
            (Some(job), None) => job.key_hash(),
            (None, Some(form)) if all_are_here => Some(KeyHash::new(form, &program.digest())),
            (job, Some(form)) => {
                let why = match job {
                    Some(_) => "the job decides whether and how keys are hashed",
                    None => "all parties must hash keys alike, which only a job ensures",
                };
                return Err(Failure::call(format!("--hash-keys {}: {why}", form.name()))
                    .hint(format!("write such a job with `garblet job new --hash-keys {}`", form.name())));
            }
        };
        if let Some(keys) = &keys {
            keys.texts(program).map_err(|error| Failure::call(format!("--hash-keys: {error}")))?;
            tell_price(keys, program);
        }
        Ok(InputArgs { keys, ..self.clone() })
    }
}

/// Reports the cost of hashing.
pub fn tell_price(keys: &KeyHash, program: &Program) {
    let Some(Price { bits, pairs, log2, .. }) = keys.price(program) else { return };
    let kind = if log2 > LOG2_WARNED { "warning" } else { "note" };
    tell(&format!(
        "{kind}: keys are hashed to {bits} bits: with at most {pairs} pairs of keys, a false match has probability at most 2^{log2:.1}"
    ));
}
