//! Threads for work on circuits that are independent of one another.
//!
//! The protocol's own code stays on its task. It exchanges data with the threads through bounded channels, so memory does not grow with the work.
//!
//! A party's threads start in three places, and the session says how many there may be: here, in `garble/src/buckets.rs`, and in
//! `protocols/lego/src/build/ands.rs`. Other threads do not compute for a party: `store/src/store_dir.rs` waits for the disk, `net/src/link.rs` simulates a
//! link, `lang/src/compile.rs` needs a deep stack. `garblet` (`memory.rs`, `thread.rs`) and `cli` are above.

use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::error::ProtocolError;

/// The capacity of a worker's channel.
const ON_THE_WAY: usize = 4;

/// A channel between the protocol's task and a worker.
pub fn channel<T>() -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
    mpsc::channel(ON_THE_WAY)
}

/// Work on its own thread.
pub struct Work<T>(oneshot::Receiver<T>);

impl<T: Send + 'static> Work<T> {
    /// Begins the work. It must end when the channels that it waits for end.
    pub fn begin(work: impl FnOnce() -> T + Send + 'static) -> Self {
        let (say, heard) = oneshot::channel();
        // Without a thread the channel closes, which is the error of `result`.
        let _ = std::thread::Builder::new().spawn(move || say.send(work()));
        Work(heard)
    }

    /// Waits for the result.
    ///
    /// *Errors*: [`ProtocolError::WorkerLost`] if it panicked, or if the system has no thread for it.
    pub async fn result(self) -> Result<T, ProtocolError> {
        self.0.await.map_err(|_| ProtocolError::WorkerLost)
    }
}

/// Work on many items, divided among threads.
pub struct Divided<T>(Vec<Work<Vec<T>>>);

impl<T: Send + 'static> Divided<T> {
    /// Begins `work` on all items, on `threads` threads.
    pub fn begin<I: Send + 'static>(
        threads: usize,
        items: impl Iterator<Item = I>,
        work: impl Fn(I) -> T + Clone + Send + 'static,
    ) -> Self {
        let mut own: Vec<Vec<I>> = (0..threads).map(|_| Vec::new()).collect();
        items.enumerate().for_each(|(at, item)| own[at % threads].push(item));
        let begin = |own: Vec<I>| {
            let work = work.clone();
            Work::begin(move || own.into_iter().map(work).collect())
        };
        Divided(own.into_iter().map(begin).collect())
    }

    /// The results, thread by thread.
    ///
    /// *Errors*: as [`Work::result`].
    pub async fn results(self) -> Result<Vec<T>, ProtocolError> {
        let mut results = Vec::new();
        for work in self.0 {
            results.extend(work.result().await?);
        }
        Ok(results)
    }
}

/// Work that finishes before this is dropped: dropping it waits.
pub struct Finishing(Option<JoinHandle<()>>);

impl Finishing {
    /// Begins the work, on a thread of its own.
    pub fn begin(work: impl FnOnce() + Send + 'static) -> Self {
        Finishing(Some(std::thread::spawn(work)))
    }
}

impl Drop for Finishing {
    fn drop(&mut self) {
        // A panic has printed its message already.
        self.0.take().into_iter().for_each(|thread| _ = thread.join());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_work_waits_for_it_to_finish() {
        let (say, heard) = std::sync::mpsc::channel();
        let (begin, begun) = std::sync::mpsc::channel();
        let finishing = Finishing::begin(move || {
            begun.recv().expect("it is said");
            say.send(7).expect("it is heard");
        });
        assert!(heard.try_recv().is_err());
        begin.send(()).expect("it is heard");
        drop(finishing);
        assert_eq!(heard.try_recv(), Ok(7));
    }

    #[tokio::test]
    async fn results_come_back_and_a_panic_is_an_error() {
        assert_eq!(Work::begin(|| 7).result().await.unwrap(), 7);
        let lost = Work::<()>::begin(|| std::panic::resume_unwind(Box::new(()))).result().await;
        assert!(matches!(lost, Err(ProtocolError::WorkerLost)));
    }

    #[tokio::test]
    async fn work_ends_with_its_channel() {
        let (send, mut receive) = channel::<u32>();
        let work = Work::begin(move || std::iter::from_fn(|| receive.blocking_recv()).sum::<u32>());
        for i in 0..10 {
            send.send(i).await.unwrap();
        }
        drop(send);
        assert_eq!(work.result().await.unwrap(), 45);
    }
}
