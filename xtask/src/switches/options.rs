//! The words after the name of a task that judges places.

use std::time::Duration;

use super::places::Place;

/// The places that are judged, and for how long.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Options {
    /// Texts of paths; none stands for all files.
    pub(crate) paths: Vec<String>,
    minutes: u64,
}

impl Options {
    /// Reads `[PATH...] [--minutes N]`.
    pub(crate) fn read(words: &[&str]) -> Option<Self> {
        let (paths, minutes) = match words {
            [paths @ .., "--minutes", minutes] => (paths, minutes.parse().ok()?),
            paths => (paths, 24 * 60),
        };
        let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
        paths.iter().all(|path| !path.starts_with('-')).then_some(Options { paths, minutes })
    }

    /// Returns whether a place lies in one of the files.
    pub(crate) fn names(&self, place: &Place) -> bool {
        let path = place.file.to_string_lossy();
        self.paths.is_empty() || self.paths.iter().any(|part| path.contains(part.as_str()))
    }

    /// The time for all places.
    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs(60 * self.minutes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_paths_and_minutes() {
        let of =
            |paths: &[&str], minutes| Options { paths: paths.iter().map(|path| path.to_string()).collect(), minutes };
        assert_eq!(Options::read(&[]), Some(of(&[], 1440)));
        assert_eq!(Options::read(&["crates/ot", "tls.rs", "--minutes", "7"]), Some(of(&["crates/ot", "tls.rs"], 7)));
        assert_eq!(Options::read(&["--minutes", "x"]), None);
        assert_eq!(Options::read(&["--hours", "7"]), None);
    }
}
