//! The decision whether a run is counted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use garblet::net::Refusal;

/// Records whether a run is counted, once that is decided. A run that was aborted first is never counted. Clones refer to the same run.
#[derive(Clone, Default)]
pub(super) struct Counting(Arc<Mutex<Option<bool>>>);

impl Counting {
    fn lock(&self) -> MutexGuard<'_, Option<bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the run. Callers of [`Counting::settle`] wait meanwhile.
    ///
    /// *Errors*: those of `count`; [`Refusal::Stopping`] if the run was aborted.
    pub(super) fn count(&self, count: impl FnOnce() -> Result<(), Refusal>) -> Result<(), Refusal> {
        let mut known = self.lock();
        if known.is_some() {
            return Err(Refusal::Stopping);
        }
        count()?;
        *known = Some(true);
        Ok(())
    }

    /// Returns whether the run is counted; if not, it never will be.
    pub(super) fn settle(&self) -> bool {
        *self.lock().get_or_insert(false)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_aborted_run_is_never_counted_and_counting_blocks_the_answer() {
        let given_up = Counting::default();
        assert!(!given_up.settle());
        assert_eq!(given_up.count(|| unreachable!("it was aborted")), Err(Refusal::Stopping));
        assert!(!given_up.settle());
        let refused = Counting::default();
        assert_eq!(refused.count(|| Err(Refusal::Closed)), Err(Refusal::Closed));
        assert!(!refused.settle());
        let slow = Counting::default();
        let (say, begun) = std::sync::mpsc::channel();
        let counting = slow.clone();
        let counted = std::thread::spawn(move || {
            counting.count(|| {
                say.send(()).expect("the other thread waits");
                std::thread::sleep(Duration::from_millis(200));
                Ok(())
            })
        });
        begun.recv().expect("it begins");
        assert!(slow.settle());
        assert_eq!(counted.join().expect("it ends"), Ok(()));
    }
}
