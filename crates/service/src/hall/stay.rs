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

use super::Named;

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
    /// The store that the service refills, and the time until its next check.
    pub(super) refills: Option<(PathBuf, Duration)>,
}

/// A session's stay in the hall: it holds the session's name, one of its caller's sessions, and perhaps a place. All are free once this is dropped, so a
/// task that panics keeps none of them, and a thread that still runs after its session was aborted keeps them all.
pub(super) struct Stay {
    ticket: Ticket,
    has_place: AtomicBool,
    leaves: UnboundedSender<Left>,
}

/// A session that has left the hall.
pub(in super::super) struct Left {
    pub(super) ticket: Ticket,
    /// Set if it had a place.
    pub(super) had_place: bool,
}

impl Stay {
    pub(super) fn new(ticket: Ticket, leaves: UnboundedSender<Left>) -> Arc<Self> {
        Arc::new(Stay { ticket, has_place: AtomicBool::new(false), leaves })
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
        let left = Left { ticket: self.ticket.clone(), had_place: self.has_place.load(Ordering::Relaxed) };
        // Without a hall there is nothing to free.
        let _ = self.leaves.send(left);
    }
}

/// Logs an aborted session that still runs after a while.
pub(super) async fn tell_if_hanging(stay: Weak<Stay>) {
    sleep(HANGING).await;
    if let Some(stay) = stay.upgrade() {
        tracing::warn!(
            session = stay.id,
            peer = stay.peer,
            job = stay.job,
            "this aborted session still runs, perhaps because a file system does not answer: it keeps its place until it ends"
        );
    }
}
