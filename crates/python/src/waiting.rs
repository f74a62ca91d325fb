//! Waiting for another thread, with the interpreter released and signals handled.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use garblet::{Phase, Progress, net::Traffic};
use garblet_console::output::heard;
use pyo3::prelude::*;
use rand::{
    SeedableRng,
    rngs::{StdRng, SysRng},
};
use tokio::sync::watch;

use crate::{
    fault::{Class, Fault},
    leaving::Call,
};

/// The time between two checks for signals.
const LOOK: Duration = Duration::from_millis(100);
/// The time that a party has to tell its peer that it aborts. A party that computes does so when it next waits for a message.
pub(crate) const GRACE: Duration = Duration::from_secs(3);
/// The time between two progress reports.
const PACE: Duration = Duration::from_millis(100);

/// A fresh generator with the system's randomness. A forked process would share the state of a kept generator, and generate the same keys.
///
/// *Errors*: a system without randomness.
pub(crate) fn fresh_rng() -> Result<StdRng, Fault> {
    let none = |error| Fault::new(Class::GarbletError, format!("the system gives no randomness: {error}"));
    StdRng::try_from_rng(&mut SysRng).map_err(none)
}

/// Computes in a separate thread while this one handles signals.
///
/// *Errors*: an exception of a signal; the thread then continues, and its result is dropped.
pub(crate) fn beside<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (done, result) = channel();
    // It is used by one thread, which the compiler cannot know of one that lets the interpreter go.
    let result = Mutex::new(result);
    // As deep as that of the main thread, where a caller would compute.
    let builder = std::thread::Builder::new().name("garblet".into()).stack_size(8 << 20);
    let begun = builder.spawn(move || {
        let _ = done.send(work());
    });
    begun.map_err(|error| Fault::usage(format!("a thread cannot be started: {error}")).raise(py))?;
    let call = Call::new();
    loop {
        match call.detach(py, || result.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                let lost = Fault::new(Class::GarbletError, "a thread ended without a word: this is a bug");
                return Err(lost.raise(py));
            }
        }
    }
}

/// The same for work that reports messages, which go to Python's logging.
///
/// *Errors*: also those of the work.
pub(crate) fn told_beside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    let (result, messages) = beside(py, move || heard(work))?;
    for message in messages {
        let name = if message.starts_with("warning: ") { "warning" } else { "info" };
        let log = py.import("garblet.progress")?.getattr("log")?;
        log.call_method1(name, ("%s", message.trim_start_matches("warning: ")))?;
    }
    result.map_err(|fault| fault.raise(py))
}

/// An event in the other thread.
pub(crate) enum Event<T> {
    /// A stranger was refused, with the reason.
    Refused(String),
    /// A message about a file.
    Told(String),
    /// The task has its outcome, and records it: whoever waits stays until that is done.
    Records,
    /// Progress of a phase: work done, and total work.
    Progress(Phase, u64, u64),
    /// The result of a task.
    Done(Result<T, Fault>),
}

/// The working thread's end.
pub(crate) struct Working<T> {
    pub(crate) events: Sender<Event<T>>,
    cancel: watch::Receiver<bool>,
}

impl<T> Clone for Working<T> {
    fn clone(&self) -> Self {
        Working { events: self.events.clone(), cancel: self.cancel.clone() }
    }
}

impl<T> Working<T> {
    /// Works until the task is done or aborted.
    pub(crate) async fn unless_cancelled<R>(
        &mut self,
        work: impl Future<Output = Result<R, Fault>>,
    ) -> Result<R, Fault> {
        tokio::select! {
            biased;
            // Also where nobody waits any more.
            _ = self.cancel.wait_for(|cancelled| *cancelled) => {
                Err(Fault::new(Class::GarbletError, "the run was given up, as was asked for"))
            }
            result = work => result,
        }
    }

    /// Reports the result of a task. The waiting thread may be gone.
    pub(crate) fn done(&self, result: Result<T, Fault>) {
        let _ = self.events.send(Event::Done(result));
    }
}

/// The waiting thread's end.
pub(crate) struct Waiting<T> {
    events: Mutex<Receiver<Event<T>>>,
    cancel: watch::Sender<bool>,
    /// The number of calls that did not wait for their answers, which come before those of later calls.
    left: AtomicUsize,
}

/// The end of a call that was interrupted.
pub(crate) struct Left<T> {
    pub(crate) error: PyErr,
    /// The answer, if it came all the same.
    pub(crate) answer: Option<Box<T>>,
}

impl<T> From<PyErr> for Left<T> {
    fn from(error: PyErr) -> Self {
        Left { error, answer: None }
    }
}

/// Creates both ends.
pub(crate) fn waiting<T>() -> (Waiting<T>, Working<T>) {
    let (events, heard) = channel();
    let (cancel, cancelled) = watch::channel(false);
    (Waiting { events: Mutex::new(heard), cancel, left: AtomicUsize::new(0) }, Working { events, cancel: cancelled })
}

impl<T: Send> Waiting<T> {
    /// Aborts the current task and all later ones.
    pub(crate) fn cancel(&self) {
        self.cancel.send_replace(true);
    }

    /// Returns whether tasks are aborted.
    pub(crate) fn is_cancelled(&self) -> bool {
        *self.cancel.borrow()
    }

    /// Waits for the result, and calls `hear` with `("refused", words)` and `("progress", phase, done, total)`.
    ///
    /// *Errors*: the error of the task; an exception of a signal or of `hear`, which aborts the task.
    pub(crate) fn wait(&self, py: Python<'_>, hear: &Bound<'_, PyAny>) -> PyResult<T> {
        self.wait_or_leave(py, hear).map_err(|left| left.error)
    }

    /// The same. A call that an exception ends has the result, too, if the task had one by then.
    pub(crate) fn wait_or_leave(&self, py: Python<'_>, hear: &Bound<'_, PyAny>) -> Result<T, Left<T>> {
        let mut over: Option<(PyErr, Instant)> = None;
        let mut records = false;
        let call = Call::new();
        loop {
            let event =
                call.detach(py, || self.events.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK));
            let is_of_another = self.left.load(Ordering::Relaxed) > 0;
            let heard = match event {
                Ok(Event::Done(_)) if is_of_another => {
                    self.left.fetch_sub(1, Ordering::Relaxed);
                    Ok(())
                }
                Ok(Event::Progress(..) | Event::Records) if is_of_another => Ok(()),
                Ok(Event::Records) => {
                    records = true;
                    Ok(())
                }
                Ok(Event::Done(result)) => {
                    return match (over, result) {
                        (Some((error, _)), Ok(answer)) => Err(Left { error, answer: Some(Box::new(answer)) }),
                        (Some((error, _)), Err(fault)) => {
                            if fault.is_unrecorded() {
                                let _ = hear.call1(("told", format!("warning: {}", fault.message())));
                            }
                            Err(error.into())
                        }
                        (None, result) => result.map_err(|fault| fault.raise(py).into()),
                    };
                }
                Ok(Event::Told(words)) => hear.call1(("told", words)).map(drop),
                Ok(Event::Refused(words)) => hear.call1(("refused", words)).map(drop),
                Ok(Event::Progress(phase, done, total)) => {
                    hear.call1(("progress", phase.name(), done, total)).map(drop)
                }
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    let lost = Fault::new(Class::GarbletError, "a party's thread ended without a word: this is a bug");
                    return Err(over.map_or_else(|| lost.raise(py), |(error, _)| error).into());
                }
            };
            match over.take() {
                Some((error, since)) if since.elapsed() > GRACE && !records => {
                    self.left.fetch_add(1, Ordering::Relaxed);
                    return Err(error.into());
                }
                Some(given_up) => over = Some(given_up),
                None => {
                    if let Err(error) = heard.and_then(|()| py.check_signals()) {
                        self.cancel();
                        over = Some((error, Instant::now()));
                    }
                }
            }
        }
    }
}

/// Reports progress to the waiting thread, but not too often.
pub(crate) struct Telling<T> {
    events: Sender<Event<T>>,
    phase: Phase,
    told: Option<Instant>,
}

impl<T> Clone for Telling<T> {
    fn clone(&self) -> Self {
        Telling { events: self.events.clone(), phase: self.phase, told: self.told }
    }
}

impl<T> Telling<T> {
    pub(crate) fn new(working: &Working<T>) -> Self {
        Telling { events: working.events.clone(), phase: Phase::Setup, told: None }
    }
}

impl<T: Send> Progress for Telling<T> {
    fn advance(&mut self, gates_done: u64, gates_total: u64, _: Traffic) {
        let due = self.told.is_none_or(|told| told.elapsed() >= PACE);
        if due || gates_done == gates_total {
            self.told = Some(Instant::now());
            let _ = self.events.send(Event::Progress(self.phase, gates_done, gates_total));
        }
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
    }
}
