//! A party's seat in a meeting, and its diary: everything that the model hears of it.

use std::{
    collections::BTreeSet,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    task::Poll,
};

use garblet_authenticated::Amounts;
use garblet_circuit::Bits;
use garblet_primitives::{Block, Prg};
use garblet_protocol::ProtocolError;
use garblet_store::{IdSet, Store};

use crate::{
    bug::Bug,
    conduct::Planned,
    disk::{Disk, Failure},
    line::Presence,
    options::Options,
    task::Job,
};

/// The outputs of a run, as a party learns them.
pub(crate) type Outputs = Vec<Option<Bits>>;

/// A party's page of a run.
#[derive(Default)]
pub(crate) struct Page {
    /// The pieces that it has taken, by kind.
    pub(crate) pieces: Vec<(&'static str, BTreeSet<u64>)>,
    /// The number of its writes to lines when its online phase began.
    pub(crate) began: Option<u64>,
    pub(crate) outputs: Option<Outputs>,
    /// Its word whether it has kept what it was to keep; none if it refused the next run, which may be for that reason or for another.
    pub(crate) kept: Option<Result<(), ProtocolError>>,
}

impl Page {
    /// The reason why the party has kept nothing.
    pub(crate) fn late(&self) -> Option<&ProtocolError> {
        self.kept.as_ref()?.as_ref().err()
    }
}

/// A party's diary of a meeting.
#[derive(Default)]
pub(crate) struct Diary {
    /// The store that it opened.
    pub(crate) store: Option<String>,
    pub(crate) runs: Vec<Page>,
    /// The amounts in its store after it was filled.
    pub(crate) filled: Option<Amounts>,
    /// The number of its writes to lines before it told the others that it gives up.
    pub(crate) gave_up: Option<u64>,
}

/// The end of a party's visit.
pub(crate) enum End {
    Well,
    Refused(ProtocolError),
    /// It left, or its process died.
    Gone,
    /// It panicked, as planned or not.
    Panicked {
        planned: bool,
    },
}

/// The deviation of a party in a meeting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deed {
    pub(crate) lie: Option<usize>,
    pub(crate) panics_at: Option<u64>,
    pub(crate) failure: Option<Failure>,
}

/// A party's seat in a meeting.
pub(crate) struct Seat<'a> {
    pub(crate) party: u16,
    pub(crate) options: &'a Options,
    pub(crate) job: &'a Job,
    pub(crate) disk: &'a Disk,
    pub(crate) deed: Deed,
    pub(crate) bug: Option<Bug>,
    /// The seed of everything random in its visit.
    pub(crate) seed: Block,
    pub(crate) presence: Arc<Presence>,
    pub(crate) diary: Arc<Mutex<Diary>>,
    /// Set once it has told a lie.
    pub(crate) has_lied: Arc<AtomicBool>,
}

impl Seat<'_> {
    /// Opens the party's store.
    ///
    /// *Errors*: the store's.
    pub(crate) fn open(&self) -> Result<Store, ProtocolError> {
        let mut rng = Prg::new(self.seed ^ Block::ONES);
        let store = self.disk.open(&mut rng, (self.deed.failure, &self.presence), self.bug)?;
        self.diary().store = Some(store.id());
        Ok(store)
    }

    pub(crate) fn rng(&self) -> Prg {
        Prg::new(self.seed)
    }

    /// Notes the pieces of a new run. A party draws them only if it has kept what the last run was to keep.
    pub(crate) fn drew(&self, pieces: Vec<(&'static str, IdSet)>) {
        let numbers = |ids: IdSet| ids.iter().map(|id| id.0).collect();
        let pieces = pieces.into_iter().map(|(kind, ids)| (kind, numbers(ids))).collect();
        let mut diary = self.diary();
        diary.runs.last_mut().into_iter().for_each(|page| page.kept = Some(Ok(())));
        diary.runs.push(Page { pieces, ..Page::default() });
    }

    /// Notes that the online phase of the last run begins.
    pub(crate) fn begins(&self) {
        let writes = self.presence.writes();
        self.diary().runs.last_mut().into_iter().for_each(|page| page.began = Some(writes));
    }

    /// Notes the outputs of the last run.
    pub(crate) fn learns(&self, outputs: Outputs) {
        if let Some(page) = self.diary().runs.last_mut() {
            page.outputs = Some(outputs);
        }
    }

    /// Notes that no run follows, with the error that the party has after its outputs.
    pub(crate) fn ended(&self, late: Option<ProtocolError>) {
        if let Some(page) = self.diary().runs.last_mut() {
            page.kept = Some(late.map_or(Ok(()), Err));
        }
    }

    /// Notes that the party now tells the others that it gives up.
    pub(crate) fn gives_up(&self) {
        self.diary().gave_up = Some(self.presence.writes());
    }

    pub(crate) fn filled(&self, amounts: Amounts) {
        self.diary().filled = Some(amounts);
    }

    fn diary(&self) -> MutexGuard<'_, Diary> {
        self.diary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a visit until it ends, the party is gone, or it panics. Then everything that it holds is dropped.
pub(crate) async fn until_gone(party: &Presence, visit: impl Future<Output = Result<(), ProtocolError>>) -> End {
    let mut visit = pin!(visit);
    let ended = poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| visit.as_mut().poll(context)));
        match polled {
            _ if party.is_gone() => Poll::Ready(End::Gone),
            Ok(Poll::Ready(Ok(()))) => Poll::Ready(End::Well),
            Ok(Poll::Ready(Err(error))) => Poll::Ready(End::Refused(error)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(End::Panicked { planned: panic.is::<Planned>() }),
        }
    });
    ended.await
}
