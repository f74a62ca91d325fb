//! Threads that are in native code while the interpreter ends: CPython would unwind them, which is not for Rust, so they never come back.

use std::{
    cell::Cell,
    process,
    sync::atomic::{AtomicU32, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use pyo3::prelude::*;

/// The process whose interpreter ends, once it does: one that was forked of it has another.
static ENDING: AtomicU32 = AtomicU32::new(0);
/// Calls of all threads that are in native code and have the interpreter, or are about to.
static ATTACHED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// True of the thread that ends the interpreter.
    static ENDS: Cell<bool> = const { Cell::new(false) };
    /// Those of `ATTACHED` that are this thread's.
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

/// A call of native code that lets the interpreter go.
pub(crate) struct Call(());

impl Call {
    /// Begins with the interpreter.
    pub(crate) fn new() -> Self {
        attach();
        Call(())
    }

    /// Works while others have the interpreter. Does not return if it has ended meanwhile.
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

/// Is called when the interpreter is about to end: waits until no other thread is where it must not be unwound.
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

/// Is called in a process that was just forked: the threads of its parent but this one are not there.
#[pyfunction]
pub(crate) fn forked() {
    ATTACHED.store(OWN.get(), Ordering::SeqCst);
}
