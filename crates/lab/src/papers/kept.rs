//! Results on disk: each file is first written under another name, so that it is complete or not there.

use std::{
    fs,
    path::{Path, PathBuf},
};

use garblet_console::{
    failure::Failure,
    whole_file::{self, Readers},
};
use serde::{Deserialize, Serialize};

use crate::page::Row;

/// The runs of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Of the call and of the program that ran it: results of another are not taken for its own.
    pub(super) digest: String,
    pub(super) call: String,
    pub(super) finished: String,
    /// Of all runs together.
    pub(super) seconds: f64,
    /// The rows of each run.
    pub(super) runs: Vec<Vec<Row>>,
}

/// A folder of results.
#[derive(Clone)]
pub(super) struct Folder {
    path: PathBuf,
}

const RESULTS: &str = "results";

impl Folder {
    /// The folder, which is made if it is not there.
    ///
    /// *Errors*: it cannot be made.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let results = path.join(RESULTS);
        fs::create_dir_all(&results).map_err(|e| Failure::unwritable(&results, &e))?;
        Ok(Folder { path: path.into() })
    }

    fn of(&self, name: &str) -> PathBuf {
        self.path.join(RESULTS).join(format!("{name}.json"))
    }

    /// The runs of an experiment so far; none if there are none, or of another call or program.
    pub(super) fn read(&self, name: &str, digest: &str) -> Option<Kept> {
        let text = fs::read(self.of(name)).ok()?;
        serde_json::from_slice(&text).ok().filter(|kept: &Kept| kept.digest == digest)
    }

    /// Keeps the runs of an experiment so far.
    ///
    /// *Errors*: they cannot be written.
    pub(super) fn keep(&self, name: &str, kept: &Kept) -> Result<(), Failure> {
        let text = serde_json::to_vec(kept).map_err(Failure::no_result)?;
        write_whole(&self.of(name), &text)
    }

    /// Writes a file of the folder itself.
    ///
    /// *Errors*: it cannot be written.
    pub(super) fn write(&self, name: &str, text: &[u8]) -> Result<(), Failure> {
        write_whole(&self.path.join(name), text)
    }

    /// The place of a file of the folder.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// Writes a file under another name and then gives it its own.
///
/// *Errors*: no place, no right; nothing is left then, and what was there before stays.
pub(super) fn write_whole(path: &Path, text: &[u8]) -> Result<(), Failure> {
    let written = whole_file::write(path, Readers::Usual, |out| out.write_all(text));
    written.map_err(|error| Failure::unwritable(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_by_its_own_call_and_program_alone() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(&scratch.path().join("new")).expect("a new folder");
        let (call, finished) = (String::from("lego"), String::from("now"));
        let kept = Kept {
            digest: "a".into(),
            call,
            finished,
            seconds: 1.0,
            runs: vec![vec![Row::new("Table 1", Vec::new())]],
        };
        folder.keep("x", &kept).expect("kept");
        assert_eq!(folder.read("x", "a"), Some(kept));
        assert_eq!((folder.read("x", "b"), folder.read("y", "a")), (None, None));
        fs::write(folder.of("x"), "{\"digest\": \"a\"").expect("a torn file");
        assert_eq!(folder.read("x", "a"), None);
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_what_was_there() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(scratch.path()).expect("a folder");
        folder.write("index.html", b"before").expect("written");
        let missing =
            write_whole(&scratch.path().join("none").join("index.html"), b"after").expect_err("no such folder");
        assert!(missing.message.contains("cannot be written"), "{}", missing.message);
        assert_eq!(fs::read(folder.place("index.html")).expect("there"), b"before");
        let open = Folder::open(&folder.place("index.html")).err().expect("it is a file");
        assert!(open.message.contains("cannot be written"), "{}", open.message);
    }
}
