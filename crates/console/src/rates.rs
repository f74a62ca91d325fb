//! The speed of this machine, as `garblet bench rates --keep` leaves it in the configuration folder.

use std::{
    io,
    path::{Path, PathBuf},
};

use garblet::{Rates, engine, net::read_small_file};
use serde::{Deserialize, Serialize};

use crate::{
    configuration::{in_configuration, make_folder},
    failure::Failure,
    whole_file::{self, Readers},
};

/// The name of the file.
const NAME: &str = "rates.json";

/// The largest file.
const BYTES_MAX: u64 = 1 << 10;

const HINT: &str = "measure again with `garblet bench rates --keep`, or remove the file";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    /// The engine that was measured.
    engine: String,
    rates: String,
}

/// The kept rates; `None` if there are none of the engine that runs use here.
///
/// *Errors*: a file that cannot be read, or with something else.
pub fn kept() -> Result<Option<Rates>, Failure> {
    // Without a folder nothing was kept.
    in_configuration(None, NAME).map_or(Ok(None), |path| read(&path, engine()))
}

fn read(path: &Path, engine: &str) -> Result<Option<Rates>, Failure> {
    let text = match read_small_file(path, BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::unreadable(path, &error)),
    };
    let wrong = |what: String| Failure::call(format!("{}: {what}", path.display())).hint(HINT);
    let kept: Kept = serde_json::from_str(&text).map_err(|error| wrong(format!("no rates: {error}")))?;
    let rates = kept.rates.parse().map_err(|error| wrong(format!("rates: expected {error}")))?;
    Ok((kept.engine == engine).then_some(rates))
}

/// Keeps the rates of the engine that this process uses. Returns the file.
///
/// *Errors*: it cannot be written.
pub fn keep(rates: Rates) -> Result<PathBuf, Failure> {
    let path = in_configuration(None, NAME)?;
    make_folder(&path)?;
    let kept = Kept { engine: engine().into(), rates: rates.to_string() };
    let text = serde_json::to_string(&kept).unwrap_or_default() + "\n";
    let written = whole_file::write(&path, Readers::Owner, |file| file.write_all(text.as_bytes()));
    written.map_err(|error: io::Error| Failure::unwritable(&path, &error))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_count_for_their_engine_and_other_texts_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(NAME);
        assert_eq!(read(&path, "vaes").expect("nothing kept"), None);
        let write = |text: &str| std::fs::write(&path, text).expect("written");
        write("{\"engine\":\"vaes\",\"rates\":\"5455515353524852\"}\n");
        let rates = read(&path, "vaes").expect("rates").expect("of this engine");
        assert_eq!(rates.to_string(), "5455515353524852");
        assert_eq!(read(&path, "aes-ni").expect("rates of another engine"), None);
        for other in ["", "5455515353524852", "{\"engine\":\"vaes\",\"rates\":\"54\"}", "{\"engine\":\"vaes\"}"] {
            write(other);
            let failure = read(&path, "vaes").expect_err(other);
            assert!(failure.message.contains(NAME) && failure.hint.as_deref() == Some(HINT), "{failure:?}");
        }
    }
}
