//! Threads that are in native code while the interpreter ends: CPython would unwind them, which Rust does not allow, so they never return.

use std::{
    cell::Cell,
    process,
    sync::atomic::{AtomicU32, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use pyo3::prelude::*;

/// The process whose interpreter is ending; a forked process has another one.
static ENDING: AtomicU32 = AtomicU32::new(0);
/// Calls of all threads that are in native code and hold the interpreter, or are about to.
static ATTACHED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Set in the thread that ends the interpreter.
    static ENDS: Cell<bool> = const { Cell::new(false) };
    /// This thread's share of `ATTACHED`.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

fn attach() {
    OWN.set(OWN.get() + 1);
    ATTACHED.fetch_add(1, Ordering::SeqCst);
}

fn detach() {
    ATTACHED.fetch_sub(1, Ordering::SeqCst);
    OWN.set(OWN.get() - 1);
}

/// The longest wait for such threads.
const PATIENCE: Duration = Duration::from_secs(1);

/// A call of native code that releases the interpreter.
pub(crate) struct Call(());

impl Call {
    /// Begins a call, with the interpreter held.
    pub(crate) fn new() -> Self {
        attach();
        Call(())
    }

    /// Works with the interpreter released. Does not return if the interpreter has ended meanwhile.
    pub(crate) fn detach<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        py.detach(|| {
            let away = Away::new();
            let result = work();
            drop(away);
            if ENDING.load(Ordering::SeqCst) == process::id() && !ENDS.get() {
                detach();
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
        detach();
        Away(())
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        attach();
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        detach();
    }
}

/// Python calls this when the interpreter is about to end. It waits until no other thread is where it must not be unwound.
#[pyfunction]
pub(crate) fn leave(py: Python<'_>) {
    ENDS.set(true);
    ENDING.store(process::id(), Ordering::SeqCst);
    // One that was forked by a call of `hear` is within that call.
    let own = OWN.get();
    py.detach(|| {
        let begin = Instant::now();
        while ATTACHED.load(Ordering::SeqCst) > own && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Python calls this in a process that was just forked, which has only this thread.
#[pyfunction]
pub(crate) fn forked() {
    ATTACHED.store(OWN.get(), Ordering::SeqCst);
}
