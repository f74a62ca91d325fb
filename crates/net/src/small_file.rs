//! Small files written by people: read whole, and only if they are regular files; in TOML, with the number of their format.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use garblet_text::{OtherFormat, check_format};
use serde::Deserialize;

/// Reads a text of at most this number of bytes. Refuses to open a pipe, a device or a folder in its place, which could block forever.
///
/// *Errors:* those of the file; [`io::ErrorKind::InvalidData`] if it is not a regular file, too long, or not UTF-8.
pub fn read_small_file(path: &Path, bytes_max: u64) -> io::Result<String> {
    check_is_file(path)?;
    let (mut file, mut bytes) = (File::open(path)?, Vec::new());
    file.by_ref().take(bytes_max + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > bytes_max {
        true => {
            // The file may still be growing.
            let got = file.metadata()?.len().max(bytes.len() as u64);
            Err(io::Error::other(format!("expected at most {bytes_max} bytes, got {got}")))
        }
        false => String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

/// The format that a text states.
#[derive(Deserialize)]
struct Stated {
    format: Option<i64>,
}

/// Checks the format that a text in TOML states at its top, before anything else in it is judged. Without one it has format 1. Whoever reads the whole finds
/// a text that is not TOML, and a format that is no number.
///
/// *Errors:* a format above `newest`, or below 1.
pub fn check_stated_format(text: &str, newest: u32) -> Result<(), OtherFormat> {
    let stated = toml::from_str::<Stated>(text).ok().and_then(|stated| stated.format);
    stated.map_or(Ok(()), |format| check_format(format, newest))
}

/// Checks that a path, or the target of a link there, is a file.
///
/// *Errors:* nothing there, or something else.
pub fn check_is_file(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?.file_type();
    match kind.is_file() {
        true => Ok(()),
        false => Err(io::Error::other(format!("expected a file, got {}", name(kind)))),
    }
}

#[cfg(unix)]
fn name(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match () {
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(not(unix))]
fn name(kind: fs::FileType) -> &'static str {
    if kind.is_dir() { "a folder" } else { "something else" }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_later_format_is_refused_whatever_else_the_text_has() {
        for text in
            ["", "a = 1", "format = 1", "format = 2\n[[party]]", "format = \"3\"", "format = 3\nformat = 3", "= 3"]
        {
            assert_eq!(check_stated_format(text, 2), Ok(()), "{text}");
        }
        for (text, got) in [("format = 3", 3), ("new = { a = [1] }\nformat = 3 # later\n[b.c]", 3), ("format = 0", 0)] {
            assert_eq!(check_stated_format(text, 2), Err(OtherFormat { got, newest: 2 }), "{text}");
        }
        // The format of a table inside is another.
        assert_eq!(check_stated_format("[const]\nformat = 3", 2), Ok(()));
    }

    #[test]
    fn anything_but_a_file_is_refused_without_blocking() {
        let scratch = tempfile::tempdir().expect("a folder");
        let [pipe, file] = ["pipe", "file"].map(|name| scratch.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
        fs::write(&file, "text").expect("written");
        let read = |path: &Path, most| read_small_file(path, most).map_err(|error| error.to_string());
        assert_eq!(read(&file, 4), Ok("text".into()));
        assert_eq!(read(&file, 3), Err("expected at most 3 bytes, got 4".into()));
        assert_eq!(read(&pipe, 9), Err("expected a file, got a pipe".into()));
        assert_eq!(read(scratch.path(), 9), Err("expected a file, got a folder".into()));
        assert_eq!(read(Path::new("/dev/zero"), 9), Err("expected a file, got a device".into()));
        fs::write(&file, [0xff]).expect("written");
        assert_eq!(read_small_file(&file, 9).map_err(|error| error.kind()), Err(io::ErrorKind::InvalidData));
    }
}
