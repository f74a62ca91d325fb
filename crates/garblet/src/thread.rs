//! A party on a thread of its own.

use tokio::sync::oneshot;

use crate::report::Error;

/// Runs a party on a separate thread, outside the executor that awaits it.
///
/// Between two messages a party garbles, evaluates or checks for as long as that takes, from less than a millisecond to seconds,
/// and other tasks of its thread wait. Here it has a thread and a runtime to itself, and the future that is returned only
/// waits. The party begins at once. It should make its connections itself, so that they belong to its own runtime.
///
/// If the future is dropped, the party is dropped too, when it next waits for a message, and the thread ends.
///
/// *Errors*: the party's own; [`Error::WorkerLost`] if it panics, or if the system has no thread or no file descriptors for it.
///
/// ```
/// use garblet::{Error, Party, on_own_thread};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let there = on_own_thread(|| async { Ok::<_, Error>(std::thread::current().id()) }).await?;
/// assert_ne!(there, std::thread::current().id());
/// # Ok::<(), Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the party is given up if nobody waits for it"]
pub fn on_own_thread<T, E, F>(
    party: impl FnOnce() -> F + Send + 'static,
) -> impl Future<Output = Result<T, E>> + Send + 'static
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
    F: Future<Output = Result<T, E>>,
{
    let (mut say, heard) = oneshot::channel();
    let run = async move || {
        tokio::select! {
            biased;
            () = say.closed() => (),
            result = party() => drop(say.send(result)),
        }
    };
    let thread = move || {
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            runtime.block_on(run());
        }
    };
    // Without a thread or a runtime nobody says anything.
    let _ = std::thread::Builder::new().name("garblet party".into()).spawn(thread);
    async { heard.await.unwrap_or_else(|_| Err(Error::WorkerLost.into())) }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A party that computes until another task of the executor has run would never end on the executor's only thread.
    #[tokio::test]
    async fn the_executor_goes_on_while_a_party_computes() {
        let (tell, told) = mpsc::channel();
        let party = on_own_thread(|| async move { told.recv().map_err(|_| Error::WorkerLost) });
        let other = tokio::spawn(async move { tell.send(7) });
        assert_eq!(party.await.unwrap(), 7);
        other.await.unwrap().unwrap();
    }

    /// Says when it is dropped.
    struct Guard(mpsc::Sender<()>);

    impl Drop for Guard {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }

    #[tokio::test]
    async fn a_party_is_dropped_with_its_future() {
        let (say, heard) = mpsc::channel();
        let guard = Guard(say);
        let party = on_own_thread(|| async move {
            let _guard = guard;
            std::future::pending::<Result<(), Error>>().await
        });
        assert!(heard.try_recv().is_err());
        drop(party);
        heard.recv().expect("the party is dropped");
    }

    /// Its next step is ready when the thread sees that it was given up.
    #[tokio::test]
    async fn a_party_that_was_given_up_takes_no_further_step() {
        for attempt in 0..64 {
            let (begin, begun) = mpsc::channel();
            let (give_up, given_up) = mpsc::channel();
            let (say, heard) = mpsc::channel();
            let party = on_own_thread(move || async move {
                begin.send(()).expect("the test waits");
                given_up.recv().expect("the test goes on");
                tokio::task::yield_now().await;
                say.send(()).map_err(|_| Error::WorkerLost)
            });
            begun.recv().expect("the party begins");
            drop(party);
            give_up.send(()).expect("the party waits");
            assert!(heard.recv().is_err(), "attempt {attempt}");
        }
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let party = on_own_thread(|| async { std::panic::resume_unwind(Box::new(())) });
        let lost: Result<(), Error> = party.await;
        assert!(matches!(lost, Err(Error::WorkerLost)));
    }
}
