//! A service's log on standard error, as text or JSON. It never contains a value of an input or a result.
//!
//! No trouble with standard error stops the service. If the file is full or the reader is gone, lines are lost and counted; a reader that stalls is waited
//! for briefly, once.

use std::{
    io::{self, Write},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use garblet::circuit::diagnostic::one_line;
use garblet_console::output::{self, escaped, escaped_json};
use prometheus_client::metrics::counter::Counter;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{fmt, fmt::MakeWriter};

use super::written::{Level, Log, LogFormat};

/// The most lines that wait for a reader.
const WAITING: usize = 1024;

/// The longest wait for a line to be written.
const PATIENCE: Duration = Duration::from_millis(250);

/// Starts logging and counting lost lines, and logs panics from now on. If this process already has a logger, that stays.
pub(super) fn begin(log: Log, lost: Counter) {
    let level = match log.level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
    };
    output::tell_to_log();
    let to = Lines::to(io::stderr(), log.format, lost);
    // Do not report errors of the log: the subscriber would print them to standard error, and panic if that fails.
    let lines = fmt().log_internal_errors(false).with_max_level(level).with_writer(to).with_target(false);
    let _ = match log.format {
        LogFormat::Text => lines.with_ansi(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init(),
    };
    // Otherwise a panic would write several lines in another format, and its message might contain a value.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "a thread panicked: this is a bug");
    }));
}

/// Log lines, written by a separate thread.
#[derive(Clone)]
struct Lines {
    format: LogFormat,
    waiting: SyncSender<String>,
    progress: Arc<(Mutex<Progress>, Condvar)>,
    lost: Counter,
}

/// The writing thread's progress.
#[derive(Default)]
struct Progress {
    /// Lines given to it.
    given: u64,
    /// Lines it has finished.
    done: u64,
    /// Set if it made no progress within the longest wait.
    is_stuck: bool,
}

impl Lines {
    fn to(out: impl Write + Send + 'static, format: LogFormat, lost: Counter) -> Self {
        let (waiting, lines) = sync_channel(WAITING);
        let progress = Arc::default();
        let (written, uncounted) = (Arc::clone(&progress), lost.clone());
        // If no thread starts, the receiver is dropped, so every line is lost and counted.
        let _ = thread::Builder::new().name("log".into()).spawn(move || write_all(out, &lines, &written, &uncounted));
        Lines { format, waiting, progress, lost }
    }

    /// Passes on a line and waits until it is written, unless the writer is stuck.
    fn add(&self, line: &str) {
        // Keep each event on one line: a line end in a name must not fake another event.
        let line = one_line(line.strip_suffix('\n').unwrap_or(line));
        let line = match self.format {
            LogFormat::Text => escaped(&line),
            LogFormat::Json => escaped_json(&line),
        };
        let (progress, changed) = &*self.progress;
        let mut now = progress.lock().unwrap_or_else(PoisonError::into_inner);
        if self.waiting.try_send(format!("{line}\n")).is_err() {
            self.lost.inc();
            return;
        }
        now.given += 1;
        let given = now.given;
        let is_waited_for = |now: &mut Progress| now.done < given && !now.is_stuck;
        let waited = changed.wait_timeout_while(now, PATIENCE, is_waited_for);
        let (mut now, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        now.is_stuck |= waited.timed_out();
    }
}

/// Writes lines as they arrive; drops a line that cannot be written.
fn write_all(
    mut out: impl Write,
    lines: &Receiver<String>,
    (progress, changed): &(Mutex<Progress>, Condvar),
    lost: &Counter,
) {
    for line in lines {
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            lost.inc();
        }
        let mut now = progress.lock().unwrap_or_else(PoisonError::into_inner);
        now.done += 1;
        now.is_stuck = false;
        changed.notify_all();
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Lines;

    fn make_writer(&'a self) -> Lines {
        self.clone()
    }
}

/// The subscriber passes each line in one call.
impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.add(&String::from_utf8_lossy(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc::channel, time::Instant};

    use super::*;

    /// Writes to a channel, one line for each permission.
    struct Slow(Receiver<()>, std::sync::mpsc::Sender<String>);

    impl Write for Slow {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            let _ = self.1.send(String::from_utf8_lossy(line).into_owned());
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A writer that always fails.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_lost_and_counted_when_the_disk_is_full() {
        let lost = Counter::default();
        let lines = Lines::to(Full, LogFormat::Text, lost.clone());
        for _ in 0..3 {
            lines.add("a line\n");
        }
        assert_eq!(lost.get(), 3);
    }

    #[test]
    fn a_stalled_reader_is_waited_for_once_and_excess_lines_are_counted() {
        let (lost, (go, may), (out, written)) = (Counter::default(), channel(), channel());
        let lines = Lines::to(Slow(may, out), LogFormat::Text, lost.clone());
        let begin = Instant::now();
        // The thread holds one line.
        for number in 0..WAITING + 11 {
            lines.add(&format!("{number}\n"));
        }
        assert!(begin.elapsed() < 20 * PATIENCE, "{:?}", begin.elapsed());
        assert!((10..=11).contains(&lost.get()), "{}", lost.get());
        for number in 0..WAITING {
            go.send(()).expect("it writes");
            assert_eq!(written.recv(), Ok(format!("{number}\n")));
        }
    }

    #[test]
    fn log_lines_contain_no_terminal_controls() {
        for (format, expected) in
            [(LogFormat::Text, "a\\u{1b}[2J\\u{202e}b\n"), (LogFormat::Json, "a\\u001b[2J\\u202eb\n")]
        {
            let ((go, may), (out, written)) = (channel(), channel());
            go.send(()).expect("it writes");
            Lines::to(Slow(may, out), format, Counter::default()).add("a\u{1b}[2J\u{202e}b\n");
            assert_eq!(written.recv().as_deref(), Ok(expected));
        }
    }

    #[test]
    fn an_event_is_one_line_even_if_a_name_contains_a_line_end() {
        let ((go, may), (out, written)) = (channel(), channel());
        go.send(()).expect("it writes");
        let text = "WARN x\n2026-01-01T00:00:00Z INFO done\u{200b}: no rule names this job\n";
        Lines::to(Slow(may, out), LogFormat::Text, Counter::default()).add(text);
        let expected = "WARN x\\u{a}2026-01-01T00:00:00Z INFO done\\u{200b}: no rule names this job\n";
        assert_eq!(written.recv().as_deref(), Ok(expected));
    }
}
