//! Parts of a program and fields of a job, which parties send each other if these differ.

use std::fmt;
use std::sync::{Arc, LazyLock};

use garblet_text::controls_terminal;
use serde::{Deserialize, Serialize};

use crate::difference::Difference;
use crate::message::Message;

/// The most parts; a program has fewer than a job.
const PARTS_MAX: usize = 64;

/// The number of a job's fields that are sent individually.
const JOB_FIELDS_MAX: usize = 40;

/// The longest text from a peer.
pub(crate) const TEXT_BYTES_MAX: usize = 200;

/// The parts that determine all others: if one of these differs, differences in others add nothing.
const CAUSES: [&str; 4] = ["source", "constants", "panics", "rows"];
const EFFECTS: [&str; 4] = ["ports", "lists", "circuit", INNER];

/// The name prefix of a job's fields.
const JOB_PART: &str = "job ";

/// The part that is reported only if no other part differs.
const INNER: &str = "inner ports";

/// The parts of a program: each name with the part itself or its digest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parts(Vec<(String, String)>);

impl Message for Parts {
    const NAME: &'static str = "parts of a program";
    const KIND: u8 = 1;
    const MAX_BYTES: usize = 32 << 10;

    fn check(&self) -> Result<(), String> {
        if self.0.len() > PARTS_MAX {
            return Err(format!("{} parts, expected at most {PARTS_MAX}", self.0.len()));
        }
        check_texts(self.0.iter().flat_map(|(name, text)| [name, text]))
    }
}

/// Checks a text from a peer that is shown on a terminal.
pub(crate) fn check_texts<'a>(mut texts: impl Iterator<Item = &'a String>) -> Result<(), String> {
    match texts.all(|text| text.len() <= TEXT_BYTES_MAX && !text.contains(controls_terminal)) {
        true => Ok(()),
        false => Err(format!("a text that is longer than {TEXT_BYTES_MAX} bytes or not printable")),
    }
}

/// The fields of a job as parts. Fields beyond the limit become one part, a digest, and so does a text that no message can carry.
pub(crate) fn of_job(fields: &[(String, String)]) -> Vec<(String, String)> {
    let (told, more) = fields.split_at(fields.len().min(JOB_FIELDS_MAX));
    let mut parts: Vec<_> =
        told.iter().map(|(name, text)| (short(format!("{JOB_PART}{name}")), short(text.clone()))).collect();
    if !more.is_empty() {
        let more: Vec<String> = more.iter().map(|(name, text)| format!("{}:{name}{text}", name.len())).collect();
        parts.push((format!("{JOB_PART}fields from {JOB_FIELDS_MAX} on"), digest(&more.concat())));
    }
    parts
}

/// A text, if a message can carry it; otherwise a digest.
fn short(text: String) -> String {
    match check_texts([&text].into_iter()) {
        Ok(()) => text,
        Err(_) => digest(&text),
    }
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].into()
}

/// Removes differences of job fields that follow from other differences: of the programs, or of parameters.
pub(crate) fn leave_out_told_twice(differences: &mut Vec<Difference>) {
    let told: Vec<String> = differences.iter().map(|difference| difference.field.clone()).collect();
    let is_told = |name: &str| told.iter().any(|told| told == name);
    differences.retain(|difference| {
        let Some(field) = difference.field.strip_prefix(JOB_PART) else { return true };
        let (kind, rest) = field.split_once(' ').unwrap_or((field, ""));
        !match kind {
            "program" => is_told("program digest"),
            "const" => is_told("constants"),
            "panics" => is_told("panics"),
            "owner" => is_told("owners"),
            "to" => is_told("recipients"),
            "parameter" => is_told(rest),
            _ => false,
        }
    });
}

impl Parts {
    /// These, and others.
    pub(crate) fn and(mut self, others: Parts) -> Self {
        self.0.extend(others.0);
        self
    }

    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(other, _)| other == name).map_or("nothing", |(_, text)| text)
    }
}

/// The parts in which two programs differ.
pub(crate) fn differences(ours: &Parts, theirs: &Parts) -> Vec<Difference> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in ours.0.iter().chain(&theirs.0) {
        if !names.contains(&&name[..]) && ours.get(name) != theirs.get(name) {
            names.push(name);
        }
    }
    if names.iter().any(|name| CAUSES.contains(name)) {
        names.retain(|name| !EFFECTS.contains(name));
    }
    if names.len() > 1 {
        names.retain(|name| *name != INNER);
    }
    let difference =
        |name: &str| Difference { field: name.into(), ours: ours.get(name).into(), theirs: theirs.get(name).into() };
    names.into_iter().map(difference).collect()
}

/// Describes the parts of a program, by name.
type Describe = dyn FnOnce() -> Parts + Send;

/// The parts of a program, computed on first use; not sent in a hello.
#[derive(Clone, Default)]
pub(crate) struct Description(Option<Arc<LazyLock<Parts, Box<Describe>>>>);

impl Description {
    pub(crate) fn new(parts: impl Fn() -> Vec<(String, String)> + Send + Sync + 'static) -> Self {
        Description(Some(Arc::new(LazyLock::new(Box::new(move || Parts(parts()))))))
    }

    pub(crate) fn parts(&self) -> &Parts {
        static NONE: Parts = Parts(Vec::new());
        self.0.as_ref().map_or(&NONE, |parts| parts)
    }
}

impl PartialEq for Description {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Description {}

impl fmt::Debug for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Description")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(list: &[(&str, &str)]) -> Parts {
        Parts(list.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect())
    }

    fn named(ours: &[(&str, &str)], theirs: &[(&str, &str)]) -> Vec<String> {
        differences(&parts(ours), &parts(theirs)).into_iter().map(|difference| difference.field).collect()
    }

    #[test]
    fn differences_that_follow_from_others_are_left_out() {
        let ours = [("constants", "N=8"), ("ports", "8"), ("owners", "0"), ("circuit", "1"), ("inner ports", "a")];
        let theirs = [("constants", "N=9"), ("ports", "9"), ("owners", "1"), ("circuit", "2"), ("inner ports", "b")];
        assert_eq!(named(&ours, &theirs), ["constants", "owners"]);
        assert_eq!(named(&ours[1..], &theirs[1..]), ["ports", "owners", "circuit"]);
        assert_eq!(named(&ours[4..], &theirs[4..]), ["inner ports"]);
        assert_eq!(named(&ours, &ours), [""; 0]);
    }

    #[test]
    fn a_part_that_one_program_does_not_have_differs() {
        let differences = differences(&parts(&[("source", "a")]), &parts(&[]));
        assert_eq!(differences[0].to_string(), "source: ours a, theirs nothing");
    }

    #[test]
    fn fields_of_a_job_fit_into_the_message_however_many_and_long_they_are() {
        let field = |n: usize| (format!("owner {n}{}", "x".repeat(300)), "\u{202e}".repeat(n));
        let fields: Vec<_> = (0..100).map(field).collect();
        let parts = Parts(of_job(&fields));
        assert_eq!(parts.0.len(), JOB_FIELDS_MAX + 1);
        assert_eq!(parts.check(), Ok(()));
        // The last field counts, too.
        let mut others = fields;
        others[99].1.push('!');
        let others = Parts(of_job(&others));
        let named: Vec<_> = differences(&parts, &others).into_iter().map(|difference| difference.field).collect();
        assert_eq!(named, ["job fields from 40 on"]);
    }

    #[test]
    fn malformed_parts_are_refused() {
        let many: Vec<(&str, &str)> = vec![("a", "b"); PARTS_MAX + 1];
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        for bad in [&many[..], &[("a", "\u{1b}[2J")], &[("a", &long)]] {
            assert!(parts(bad).check().is_err());
        }
        for acting in ["\u{202a}", "\u{202e}", "\u{2066}", "\u{2069}", "\u{2028}", "\u{2029}", "\u{200f}"] {
            assert!(parts(&[("a", &format!("x{acting}y"))]).check().is_err(), "{acting:?}");
        }
        assert!(parts(&[("a", "b"), ("é שלום", "\u{1f469}\u{200d}\u{1f680}")]).check().is_ok());
    }
}
