//! Threads that are in native code while the interpreter ends: CPython would unwind them, which is not for Rust, so they never come back.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread::ThreadId,
    time::{Duration, Instant},
};

use pyo3::prelude::*;

/// The thread that ends the interpreter, once one does.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// Threads that are in native code and have the interpreter, or are about to.
static ATTACHED: AtomicUsize = AtomicUsize::new(0);

/// The longest wait for such threads.
const PATIENCE: Duration = Duration::from_secs(1);

/// A call of native code that lets the interpreter go.
pub(crate) struct Call(());

impl Call {
    /// Begins with the interpreter.
    pub(crate) fn new() -> Self {
        ATTACHED.fetch_add(1, Ordering::SeqCst);
        Call(())
    }

    /// Works while others have the interpreter. Does not return if it has ended meanwhile.
    pub(crate) fn detach<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        py.detach(|| {
            let away = Away::new();
            let result = work();
            drop(away);
            if ENDING.get().is_some_and(|ending| *ending != std::thread::current().id()) {
                ATTACHED.fetch_sub(1, Ordering::SeqCst);
                loop {
                    std::thread::park();
                }
            }
            result
        })
    }
}

/// A time without the interpreter.
struct Away(());

impl Away {
    fn new() -> Self {
        ATTACHED.fetch_sub(1, Ordering::SeqCst);
        Away(())
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        ATTACHED.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        ATTACHED.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Is called when the interpreter is about to end: waits until no other thread is where it must not be unwound.
#[pyfunction]
pub(crate) fn leave(py: Python<'_>) {
    let _ = ENDING.set(std::thread::current().id());
    py.detach(|| {
        let begin = Instant::now();
        while ATTACHED.load(Ordering::SeqCst) > 0 && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
