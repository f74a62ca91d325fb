//! One call of a benchmark as a process of its own.

use std::{
    io::Read,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use garblet_console::failure::Failure;

use crate::page::Row;

/// The end of a call.
pub(super) enum Ended {
    Done(Vec<Row>),
    /// Its last words.
    Failed(String),
    OutOfTime,
}

/// A child that is ended when nobody waits for it any more.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already cannot be ended, and is reaped.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Time between two looks at whether a call has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Makes a call, until a time at the latest.
pub(super) fn run_once(call: &[String], end: Instant) -> Ended {
    if Instant::now() >= end {
        return Ended::OutOfTime;
    }
    let child = std::env::current_exe().and_then(|own| {
        let mut command = Command::new(own);
        command.args(call).arg("--rows");
        // The child ends with its standard input, however this process does.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    });
    let mut running = match child {
        Ok(child) => Running(child),
        Err(error) => return Ended::Failed(format!("it cannot be started: {error}")),
    };
    let (out, err) = (heard(running.0.stdout.take()), heard(running.0.stderr.take()));
    loop {
        match running.0.try_wait() {
            Ok(Some(status)) => {
                let [out, err] = [out, err].map(|heard| heard.join().unwrap_or_default());
                return match (status.success(), serde_json::from_slice(&out)) {
                    (true, Ok(rows)) => Ended::Done(rows),
                    (true, Err(error)) => Ended::Failed(format!("its rows cannot be read: {error}")),
                    (false, _) => Ended::Failed(last_words(&String::from_utf8_lossy(&err), &status.to_string())),
                };
            }
            Ok(None) if Instant::now() >= end => return Ended::OutOfTime,
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return Ended::Failed(format!("it cannot be waited for: {error}")),
        }
    }
}

/// All that comes out of a pipe.
fn heard(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        // What comes before a pipe breaks counts.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut all));
        all
    })
}

/// The error that a process has told, or else how it ended.
fn last_words(err: &str, status: &str) -> String {
    err.lines().find_map(|line| line.strip_prefix("error: ")).map_or_else(|| status.into(), String::from)
}

/// A digest of some texts.
pub(super) fn digest(texts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher.finalize().to_hex()[..32].into()
}

/// The digest of the running program, so that results of another version are not taken for those of this one.
///
/// *Errors*: it cannot be read.
pub(super) fn digest_of_program() -> Result<String, Failure> {
    let read = std::env::current_exe().and_then(std::fs::read);
    let bytes = read.map_err(|error| Failure::no_result(format!("this program cannot be read: {error}")))?;
    Ok(blake3::hash(&bytes).to_hex()[..32].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_in_their_own_words() {
        assert_eq!(last_words("garblet\nerror: no place\nhint: make some\n", "exit status: 1"), "no place");
        assert_eq!(last_words("killed", "signal: 9 (SIGKILL)"), "signal: 9 (SIGKILL)");
    }

    #[test]
    fn texts_have_one_digest_by_where_they_part() {
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_eq!(digest(&["ab", "c"]), digest(&["ab", "c"]));
    }

    #[test]
    fn after_the_end_nothing_is_begun() {
        assert!(matches!(run_once(&[], Instant::now()), Ended::OutOfTime));
    }
}
