//! The resources that a session holds in the hall.

use std::{
    ops::Deref,
    path::PathBuf,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::mpsc::UnboundedSender, time::sleep};

use super::{Event, Named};

/// The time after which an aborted session that still runs is logged.
const HANGING: Duration = Duration::from_secs(5);

/// A session, as the hall knows it.
#[derive(Clone)]
pub(super) struct Ticket {
    /// The caller's key for counting: its identity.
    pub(super) caller: String,
    pub(super) peer: String,
    pub(super) named: Option<Named>,
    pub(super) id: String,
    pub(super) job: String,
    pub(super) digest: String,
    pub(super) protocol: String,
    pub(super) gates: u64,
    /// The rule whose store the service refills, and the time until its next check.
    pub(super) refills: Option<(Refiller, Duration)>,
}

/// A rule that refills a store: the store, the digest of the job and the number of the rule. Rules that share a store refill it in turn.
pub(super) type Refiller = (PathBuf, String, usize);

/// A session's stay in the hall: it holds the session's name, one of its caller's sessions, and perhaps a place. All are free once this is dropped, so a
/// task that panics keeps none of them. If the session was aborted, its own thread keeps them all until it next waits for a message or for another thread.
/// Other threads that it started, for instance the workers of a computation, keep nothing: they may still run for a while after all is free.
pub(super) struct Stay {
    ticket: Ticket,
    has_place: AtomicBool,
    /// Set once it was reported that the session still runs long after it was aborted.
    is_hanging: AtomicBool,
    tells: UnboundedSender<Event>,
}

/// A session that has left the hall.
pub(in super::super) struct Left {
    pub(super) ticket: Ticket,
    /// Set if it had a place.
    pub(super) had_place: bool,
    /// Set if [`Event::Hangs`] came before.
    pub(super) was_hanging: bool,
}

impl Stay {
    pub(super) fn new(ticket: Ticket, tells: UnboundedSender<Event>) -> Arc<Self> {
        Arc::new(Stay { ticket, has_place: AtomicBool::new(false), is_hanging: AtomicBool::new(false), tells })
    }

    /// Takes a place, which it holds like everything else.
    pub(super) fn take_place(&self) {
        self.has_place.store(true, Ordering::Relaxed);
    }
}

impl Deref for Stay {
    type Target = Ticket;

    fn deref(&self) -> &Ticket {
        &self.ticket
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let [had_place, was_hanging] = [&self.has_place, &self.is_hanging].map(|flag| flag.load(Ordering::Relaxed));
        // Without a hall there is nothing to free.
        let _ = self.tells.send(Event::Left(Box::new(Left { ticket: self.ticket.clone(), had_place, was_hanging })));
    }
}

/// Tells the hall and the log of an aborted session with a place that still runs after a while.
pub(super) async fn tell_if_hanging(stay: Weak<Stay>) {
    sleep(HANGING).await;
    if let Some(stay) = stay.upgrade() {
        stay.is_hanging.store(true, Ordering::Relaxed);
        let _ = stay.tells.send(Event::Hangs);
        tracing::warn!(
            session = stay.id,
            peer = stay.peer,
            job = stay.job,
            "this aborted session still runs, perhaps because a file system does not answer: it keeps its place until it ends"
        );
    }
}
