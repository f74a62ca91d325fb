//! Places whose loss no test sees, each with the reason why that is right.

use std::{fmt, fs, path::Path};

use serde::Deserialize;

use super::places::Place;

/// A place of the list. Without a number all of its function that say the same are meant.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Accepted {
    file: String,
    function: String,
    what: String,
    text: String,
    nth: Option<usize>,
    pub(crate) reason: String,
}

impl Accepted {
    /// Returns whether this is about a place.
    pub(crate) fn is_of(&self, place: &Place) -> bool {
        Path::new(&self.file) == place.file
            && self.function == place.function
            && self.what == place.what
            && self.text == place.text
            && self.nth.is_none_or(|nth| nth == place.ordinal)
    }
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}, `{}`", self.file, self.function, self.what, self.text)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    place: Vec<Accepted>,
}

/// The places that a file lists.
///
/// *Errors*: the file cannot be read, is no such list, or has a place without a reason.
pub(crate) fn accepted(path: &Path) -> Result<Vec<Accepted>, String> {
    let failed = |error: String| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let list: List = toml::from_str(&text).map_err(|error| failed(error.to_string()))?;
    match list.place.iter().find(|place| place.reason.trim().is_empty()) {
        Some(place) => Err(failed(format!("{place}: no reason"))),
        None => Ok(list.place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_places_with_reasons() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("list.toml");
        let list = |reason: &str| {
            let text = format!(
                "[[place]]\nfile = \"a.rs\"\nfunction = \"f\"\nwhat = \"a condition\"\ntext = \"a == b\"\nnth = 1\nreason = \"{reason}\"\n"
            );
            fs::write(&file, text).expect("written");
            accepted(&file)
        };
        let listed = list("the caller has checked it").expect("a list");
        assert!(listed[0].is_of(&Place::sample("a.rs", false)));
        assert!(!listed[0].is_of(&Place::sample("b.rs", false)));
        assert!(!listed[0].is_of(&Place { ordinal: 2, ..Place::sample("a.rs", false) }));
        assert!(!listed[0].is_of(&Place::sample("a.rs", true)));
        assert!(list(" ").err().expect("no reason").ends_with("a.rs f: a condition, `a == b`: no reason"));
        fs::write(&file, "# Nothing yet.\n").expect("written");
        assert!(accepted(&file).expect("an empty list").is_empty());
        fs::write(&file, "[[places]]\n").expect("written");
        assert!(accepted(&file).is_err());
    }
}
