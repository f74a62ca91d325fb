//! Keys that are texts: who says how they are hashed, and what that costs.

use garblet::{
    Program,
    formats::value::{KeyHash, Price},
};

use super::options::InputArgs;
use crate::{failure::Failure, job::Job, output::tell};

/// The logarithm to base 2 of a probability of false matches above which a user is warned.
const LOG2_WARNED: f64 = -20.0;

impl InputArgs {
    /// The same with the hash of keys that the parties have agreed on: by a job, or as all of them are here.
    ///
    /// *Errors*: an option that a job leaves no room for, or that nobody sees to be the same for all; a program without keys.
    pub fn with_keys(&self, job: Option<&Job>, program: &Program, all_are_here: bool) -> Result<InputArgs, Failure> {
        let keys = match (job, self.hash_keys) {
            (None, None) => None,
            (Some(job), None) => job.key_hash(),
            (None, Some(form)) if all_are_here => Some(KeyHash::new(form, &program.digest())),
            (job, Some(form)) => {
                let why = match job {
                    Some(_) => "the job says whether keys are hashed, and how",
                    None => "all parties must hash keys alike, which a job sees to",
                };
                return Err(Failure::call(format!("--hash-keys {}: {why}", form.name()))
                    .hint(format!("`garblet job new --hash-keys {}` makes a job that says so", form.name())));
            }
        };
        if let Some(keys) = &keys {
            keys.texts(program).map_err(|error| Failure::call(format!("--hash-keys: {error}")))?;
            tell_price(keys, program);
        }
        Ok(InputArgs { keys, ..self.clone() })
    }
}

/// Tells what hashing costs.
pub fn tell_price(keys: &KeyHash, program: &Program) {
    let Some(Price { bits, pairs, log2, .. }) = keys.price(program) else { return };
    let kind = if log2 > LOG2_WARNED { "warning" } else { "note" };
    tell(&format!(
        "{kind}: keys are hashed to {bits} bits: with {pairs} pairs of keys at most, keys that differ match with probability at most 2^{log2:.1}"
    ));
}
