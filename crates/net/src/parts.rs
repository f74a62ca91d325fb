//! Parts of a program, which parties tell each other where their programs differ.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use crate::difference::Difference;
use crate::message::Message;

const PARTS_MAX: usize = 16;
/// The longest text of a peer.
pub(crate) const TEXT_BYTES_MAX: usize = 200;

/// Parts that follow from these: where one of these differs, the others say nothing more.
const CAUSES: [&str; 4] = ["source", "constants", "panics", "rows"];
const EFFECTS: [&str; 3] = ["ports", "circuit", INNER];

/// The part that is worth a word only if it is the only one.
const INNER: &str = "inner ports";

/// The parts of a program: their names, with the part itself or a digest of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parts(Vec<(String, String)>);

impl Message for Parts {
    const NAME: &'static str = "parts of a program";
    const KIND: u8 = 1;
    const MAX_BYTES: usize = 8 << 10;

    fn check(&self) -> Result<(), String> {
        if self.0.len() > PARTS_MAX {
            return Err(format!("{} parts, expected at most {PARTS_MAX}", self.0.len()));
        }
        check_texts(self.0.iter().flat_map(|(name, text)| [name, text]))
    }
}

/// Checks what a peer says and is shown on a terminal.
pub(crate) fn check_texts<'a>(mut texts: impl Iterator<Item = &'a String>) -> Result<(), String> {
    match texts.all(|text| text.len() <= TEXT_BYTES_MAX && !text.contains(controls_terminal)) {
        true => Ok(()),
        false => Err(format!("a text that is longer than {TEXT_BYTES_MAX} bytes or not printable")),
    }
}

/// Tells whether a character is not shown as it is, but moves the cursor, ends the line, or turns the direction of what follows.
fn controls_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Parts {
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

/// Says of what a program consists, by name.
type Describe = dyn FnOnce() -> Parts + Send;

/// The parts of a program, made when they are first asked for; no part of what a hello says.
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
    fn what_follows_from_another_difference_is_left_out() {
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
    fn parts_that_are_none_do_not_pass() {
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
