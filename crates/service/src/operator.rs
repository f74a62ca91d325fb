//! Programs of the operator: started without a shell, given JSON, ended when their time is over.

use std::{path::PathBuf, process::Stdio, time::Duration};

use garblet_console::{
    configuration::{check_unwritable_in_folder, find_program},
    failure::Failure,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

/// The most that is read of what a program prints.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OperatorProgram {
    pub(super) command: Vec<String>,
    /// The time that it may take.
    pub(super) time: Duration,
}

impl OperatorProgram {
    /// Looks whether nobody else may write the program, or put another in its place. One that is not there yet may come.
    ///
    /// *Errors*: otherwise.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.file().map_or(Ok(()), |file| check_unwritable_in_folder(&file))
    }

    /// Its file, if it is there.
    pub(super) fn file(&self) -> Option<PathBuf> {
        find_program(self.command.first()?)
    }

    /// Runs it: gives it a text on standard input and returns what it prints on standard output. What it says on standard error is not kept: nobody knows
    /// whether it is secret.
    ///
    /// *Errors*: a program that cannot be started, fails, takes too long or prints too much. None holds anything of what it printed.
    pub(super) async fn run(&self, text: Vec<u8>) -> Result<Vec<u8>, String> {
        let [name, arguments @ ..] = &self.command[..] else { return Err("there is no program".into()) };
        // Also one that has come since the configuration was read, or was changed. What is looked at is what is started.
        let file = self.file().ok_or_else(|| format!("{name}: there is no such program that may be executed"))?;
        check_unwritable_in_folder(&file).map_err(|failure| failure.message)?;
        let mut command = Command::new(file);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| format!("{name}: cannot be started: {error}"))?;
        let group = Group(child.id());
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let give = async {
            if let Some(mut stdin) = stdin {
                // A program that does not want to know closes it.
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
            // Whoever prints on is not waited for.
            match printed.len() as u64 > OUTPUT_BYTES_MAX {
                true => Ok((printed, None)),
                false => Ok((printed, Some(child.wait().await?))),
            }
        });
        let ended: Result<Result<_, std::io::Error>, _> = ended.await;
        match ended {
            // By itself: what it has started may go on, and its number may be another's by now.
            Ok(Ok((_, Some(_)))) => group.leave(),
            _ => drop(group),
        }
        match ended {
            Err(_) => Err(format!("{name}: took longer than {} s, and was ended", self.time.as_secs_f64())),
            Ok(Err(error)) => Err(format!("{name}: {error}")),
            Ok(Ok((_, None))) => Err(format!("{name}: printed more than {OUTPUT_BYTES_MAX} bytes, and was ended")),
            Ok(Ok((printed, Some(status)))) => match status.success() {
                true => Ok(printed),
                false => Err(format!("{name}: ended with {status}")),
            },
        }
    }
}

/// The processes that a program has started too: all end with this.
struct Group(Option<u32>);

impl Group {
    /// Lets them go on.
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
    async fn it_hears_the_request_and_says_the_answer() {
        let answer = shell("cat; echo done", 10_000).run(b"{}\n".to_vec()).await;
        assert_eq!(answer.as_deref(), Ok(&b"{}\ndone\n"[..]));
        // One that reads nothing.
        let deaf = shell("echo done", 10_000).run(vec![b' '; 1 << 20]).await;
        assert_eq!(deaf.as_deref(), Ok(&b"done\n"[..]));
    }

    #[tokio::test]
    async fn one_that_hangs_is_ended_with_all_that_it_has_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let mark = folder.path().join("mark");
        let script = format!("(sleep 1; touch {}) & sleep 60", mark.display());
        let begin = Instant::now();
        let error = shell(&script, 200).run(Vec::new()).await.expect_err("it hangs");
        assert!(error.contains("took longer than 0.2 s"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        assert!(!mark.exists(), "what it had started has gone on");
    }

    #[tokio::test]
    async fn what_a_program_that_has_ended_by_itself_has_started_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let mark = folder.path().join("mark");
        let script = format!("(sleep 0.3; touch {}) > /dev/null & echo done", mark.display());
        assert_eq!(shell(&script, 10_000).run(Vec::new()).await.as_deref(), Ok(&b"done\n"[..]));
        let begin = Instant::now();
        while !mark.exists() {
            assert!(begin.elapsed() < Duration::from_secs(30), "it was ended");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    #[tokio::test]
    async fn one_that_fails_or_is_not_there_or_prints_for_ever_is_told() {
        let failed = shell("echo secret; exit 3", 10_000).run(Vec::new()).await.expect_err("fails");
        assert!(failed.contains("exit status: 3") && !failed.contains("secret"), "{failed}");
        let command = vec!["/no/such/program".to_string()];
        let missing = OperatorProgram { command, time: Duration::from_secs(1) }.run(Vec::new()).await;
        let missing = missing.expect_err("is not there");
        assert!(missing.contains("there is no such program"), "{missing}");
        let endless = shell("yes", 60_000).run(Vec::new()).await.expect_err("prints for ever");
        assert!(endless.contains("printed more than"), "{endless}");
    }
}
