//! The operator's programs: started without a shell, given JSON, killed when their time is up.

use std::{path::PathBuf, process::Stdio, time::Duration};

use garblet_console::{
    configuration::{check_unwritable_with_folders, find_program},
    failure::Failure,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

/// The most output that is read from a program.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OperatorProgram {
    pub(super) command: Vec<String>,
    /// Its time limit.
    pub(super) time: Duration,
}

impl OperatorProgram {
    /// Checks that nobody else can write or replace the program. A missing one may appear later.
    ///
    /// *Errors*: somebody else can.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.file().map_or(Ok(()), |file| check_unwritable_with_folders(&file))
    }

    /// Its file, if it exists.
    pub(super) fn file(&self) -> Option<PathBuf> {
        find_program(self.command.first()?)
    }

    /// Runs the program with this text as standard input and returns its standard output. Discards its standard error, which may be secret.
    ///
    /// *Errors*: the program cannot be started, fails, takes too long or prints too much. No error contains its output.
    pub(super) async fn run(&self, text: Vec<u8>) -> Result<Vec<u8>, String> {
        let [name, arguments @ ..] = &self.command[..] else { return Err("no program".into()) };
        // It may have appeared or changed since the configuration was read: check the very file that is started.
        let file = self.file().ok_or_else(|| format!("{name}: no such executable program"))?;
        check_unwritable_with_folders(&file).map_err(|failure| failure.message)?;
        let mut command = Command::new(file);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| format!("{name}: cannot be started: {error}"))?;
        let group = Group(child.id());
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let give = async {
            if let Some(mut stdin) = stdin {
                // A program that ignores its input may close it.
                let _ = stdin.write_all(&text).await;
            }
        };
        let take = async {
            let mut printed = Vec::new();
            if let Some(stdout) = stdout {
                stdout.take(OUTPUT_BYTES_MAX + 1).read_to_end(&mut printed).await?;
            }
            Ok::<_, std::io::Error>(printed)
        };
        let ended = tokio::time::timeout(self.time, async {
            let ((), printed) = tokio::join!(give, take);
            let printed = printed?;
            // Do not wait for a process that keeps printing.
            match printed.len() as u64 > OUTPUT_BYTES_MAX {
                true => Ok((printed, None)),
                false => Ok((printed, Some(child.wait().await?))),
            }
        });
        let ended: Result<Result<_, std::io::Error>, _> = ended.await;
        match ended {
            // It ended by itself: its children may continue, and its process id may belong to another process by now.
            Ok(Ok((_, Some(_)))) => group.leave(),
            _ => drop(group),
        }
        match ended {
            Err(_) => Err(format!("{name}: took longer than {} s and was killed", self.time.as_secs_f64())),
            Ok(Err(error)) => Err(format!("{name}: {error}")),
            Ok(Ok((_, None))) => Err(format!("{name}: printed more than {OUTPUT_BYTES_MAX} bytes and was killed")),
            Ok(Ok((printed, Some(status)))) => match status.success() {
                true => Ok(printed),
                false => Err(format!("{name}: ended with {status}")),
            },
        }
    }
}

/// A program's process group, killed when this is dropped.
struct Group(Option<u32>);

impl Group {
    /// Lets the processes continue.
    fn leave(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0.and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Instant;

    use super::*;

    fn shell(script: &str, milliseconds: u64) -> OperatorProgram {
        let command = ["/bin/sh", "-c", script].map(String::from).into();
        OperatorProgram { command, time: Duration::from_millis(milliseconds) }
    }

    #[tokio::test]
    async fn a_program_reads_the_request_and_prints_the_answer() {
        let answer = shell("cat; echo done", 10_000).run(b"{}\n".to_vec()).await;
        assert_eq!(answer.as_deref(), Ok(&b"{}\ndone\n"[..]));
        // A program that reads nothing.
        let deaf = shell("echo done", 10_000).run(vec![b' '; 1 << 20]).await;
        assert_eq!(deaf.as_deref(), Ok(&b"done\n"[..]));
    }

    #[tokio::test]
    async fn a_hanging_program_is_killed_with_its_children() {
        let folder = tempfile::tempdir().expect("a folder");
        let mark = folder.path().join("mark");
        let script = format!("(sleep 1; touch {}) & sleep 60", mark.display());
        let begin = Instant::now();
        let error = shell(&script, 200).run(Vec::new()).await.expect_err("it hangs");
        assert!(error.contains("took longer than 0.2 s"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        assert!(!mark.exists(), "its child continued");
    }

    #[tokio::test]
    async fn children_of_a_program_that_ends_by_itself_continue() {
        let folder = tempfile::tempdir().expect("a folder");
        let mark = folder.path().join("mark");
        let script = format!("(sleep 0.3; touch {}) > /dev/null & echo done", mark.display());
        assert_eq!(shell(&script, 10_000).run(Vec::new()).await.as_deref(), Ok(&b"done\n"[..]));
        let begin = Instant::now();
        while !mark.exists() {
            assert!(begin.elapsed() < Duration::from_secs(30), "it was killed");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    #[tokio::test]
    async fn failing_missing_and_endless_programs_are_reported() {
        let failed = shell("echo secret; exit 3", 10_000).run(Vec::new()).await.expect_err("fails");
        assert!(failed.contains("exit status: 3") && !failed.contains("secret"), "{failed}");
        let command = vec!["/no/such/program".to_string()];
        let missing = OperatorProgram { command, time: Duration::from_secs(1) }.run(Vec::new()).await;
        let missing = missing.expect_err("is not there");
        assert!(missing.contains("no such executable program"), "{missing}");
        let endless = shell("yes", 60_000).run(Vec::new()).await.expect_err("prints forever");
        assert!(endless.contains("printed more than"), "{endless}");
    }
}
