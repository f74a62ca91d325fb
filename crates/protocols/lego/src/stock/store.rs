//! Prepared pieces in a store, each taken once.

use garblet_circuit::Party;
use garblet_homcommit::Code;
use garblet_store::{AHEAD_MAX, Batch, Binding, IdSet, Scratch, State, Store, StoreError};
use zeroize::Zeroizing;

use super::{
    messages::Has,
    orders::Orders,
    pieces::{Pieces, Workshop},
};
use crate::{
    CONSTRUCTOR, NAME,
    amounts::{Amounts, Kind},
    config::Config,
    setup::secrets::{Fresh, MEETINGS_MAX, Secrets},
};
use garblet_protocol::{
    error::{Missing, NotPrepared, ProtocolError},
    kept,
    secrets::{SecretsState, unreadable},
    session::Session,
};

/// The version of everything that is stored: the secrets have it, and are read first.
pub(super) const VERSION: u32 = 1;

/// The protocol's state in a store.
const STATE: SecretsState = SecretsState { name: "lego", version: VERSION };

/// The number of bytes that stay in memory for each kind of component during its making.
const MEMORY_BYTES: usize = 64 << 20;

/// The number of gates of a run up to which all are read at once. Tests have few.
const WHOLE_GATES: u64 = if cfg!(test) { 300 } else { 900_000 };

/// A party's store.
pub struct Stock {
    store: Store,
    code: Code,
    lost: u64,
}

/// The secrets of a meeting.
pub(crate) enum Meeting {
    /// The secrets that both parties already have.
    Again(Secrets),
    /// New secrets, with the number of their first meeting.
    New(u64, Fresh),
}

impl Stock {
    /// Compares the stores of both parties, and discards pieces that only one has.
    ///
    /// *Errors*: stores that do not belong together, or a peer that has cheated before.
    pub(crate) async fn meet(
        session: &mut Session,
        mut store: Store,
        config: Config,
        party: Party,
        peer: &str,
    ) -> Result<(Self, Meeting), ProtocolError> {
        let role = if party == CONSTRUCTOR { "constructor" } else { "evaluator" };
        store.bind(&Binding {
            peer: peer.into(),
            role: role.into(),
            protocol: format!("{NAME} {VERSION}, words of {} bits", config.code.length()),
            library: String::new(),
        })?;
        let known = secrets(&store)?;
        let meetings = known.as_ref().map_or(0, |known| known.meetings);
        let stock = known.as_ref().map(|known| known.matrix);
        let (channel, rng) = session.parts();
        let mut nonce = [0; 32];
        rng.fill_bytes(&mut nonce);
        channel.send(&Has { summary: store.summary(), stock, meetings, nonce }).await?;
        let theirs: Has = channel.receive().await?;
        let lost: u64 = store.reconcile(&theirs.summary, AHEAD_MAX)?.dropped.iter().map(|(_, count)| count).sum();
        let next = meetings.max(theirs.meetings) + 1;
        let same = theirs.stock.is_some_and(|theirs| stock.is_some_and(|ours| ours.halves() == theirs.halves()));
        let nonces = if party == CONSTRUCTOR { [nonce, theirs.nonce] } else { [theirs.nonce, nonce] };
        let fresh = Fresh::new(next, nonces);
        let mut stock = Stock { store, code: config.code, lost };
        let meeting = match known.filter(|_| same && next < MEETINGS_MAX) {
            Some(mut secrets) => {
                secrets.meet(next, fresh);
                stock.keep(&secrets)?;
                Meeting::Again(secrets)
            }
            None => Meeting::New(next % MEETINGS_MAX, fresh),
        };
        Ok((stock, meeting))
    }

    /// Keeps secrets, durably, before anything of this meeting is used.
    fn keep(&mut self, secrets: &Secrets) -> Result<(), ProtocolError> {
        Ok(self.store.set_state(STATE.name, state(secrets))?)
    }

    /// Replaces the secrets by new ones, once both parties have them. A peer's mere claim that it has none costs nothing.
    /// Everything that was made with the old ones goes before they do: a process that is killed in between has less of it and the old secrets, never the
    /// new secrets with any of it, and the next meeting replaces them again.
    pub(crate) fn replace(&mut self, secrets: &Secrets) -> Result<(), ProtocolError> {
        // The constructor names the new ones, and may name them like these.
        kept::forget(&mut self.store, |_| true)?;
        self.lost += self.store.clear()?;
        self.keep(secrets)
    }

    /// Begins to make new secrets, whose checks the peer learns. The setup counts as unfinished, durably, until they are
    /// [kept](Stock::end_setup).
    ///
    /// *Errors*: a peer that has left too much unfinished.
    pub(crate) fn begin_setup(&mut self) -> Result<(), ProtocolError> {
        let mut orders = self.orders()?;
        orders.check(&self.store)?;
        orders.begin_setup();
        let (name, state) = orders.state();
        self.set_state(name, state)
    }

    /// The setup is done, and its secrets are [kept](Stock::keep).
    pub(crate) fn end_setup(&mut self) -> Result<(), ProtocolError> {
        let mut orders = self.orders()?;
        orders.done();
        let (name, state) = orders.state();
        self.set_state(name, state)
    }

    /// Begins to put pieces into the store.
    ///
    /// *Errors*: a peer that was found to cheat, also in this meeting, or that has left too many orders unfinished.
    pub(crate) fn filling(&mut self) -> Result<Filling<'_>, ProtocolError> {
        secrets(&self.store)?;
        Orders::of(&self.store)?.check(&self.store)?;
        Ok(Filling { code: self.code, batch: self.store.batch() })
    }

    /// The amounts to make for a run before it takes anything: whatever the store lacks, if topping up is allowed.
    pub(crate) fn to_make(&self, amounts: &Amounts, top_up: bool) -> Option<Amounts> {
        let lacks = self.lacks(amounts);
        (top_up && lacks != Amounts::default()).then_some(lacks)
    }

    /// The part of these amounts that the store lacks.
    fn lacks(&self, amounts: &Amounts) -> Amounts {
        lacks(&self.store, self.code, amounts)
    }

    /// All orders so far.
    pub(crate) fn orders(&self) -> Result<Orders, ProtocolError> {
        Orders::of(&self.store)
    }

    /// The amounts that the store has.
    pub(crate) fn has(&self) -> Amounts {
        let [gates, inputs, input_pairs, outputs] = Kind::ALL.map(|kind| self.store.count(&stored(kind, self.code)));
        Amounts { gates, inputs, input_pairs, outputs }
    }

    /// Takes the material for a run. When it returns, the material is durably marked as used.
    ///
    /// *Errors*: [`NotPrepared`] if there is less; pieces that were changed.
    pub(crate) fn take<P: Pieces>(&mut self, amounts: &Amounts) -> Result<Taken<P>, ProtocolError> {
        check_has(&self.store, self.code, amounts)?;
        let first = |kind: Kind| {
            let kind_stored = stored(kind, self.code);
            let ids = self.store.stock_of(&kind_stored).available.first(kind.of(amounts));
            (kind_stored, ids)
        };
        let request: Vec<(garblet_store::Kind, IdSet)> = Kind::ALL.map(first).into();
        let taken = self.store.take_all(&request)?;
        let ids = Kind::ALL.into_iter().zip(request).map(|(kind, (_, ids))| (kind.name(), ids)).collect();
        let (mut pieces, mut gates) = (P::default(), None);
        for (kind, taken) in Kind::ALL.into_iter().zip(taken) {
            let mut unread = Unread { kind, code: self.code, taken };
            match kind {
                Kind::Gate if amounts.gates > WHOLE_GATES => gates = Some(unread),
                _ => unread.read(u64::MAX, &mut pieces)?,
            }
        }
        Ok(Taken { pieces, gates, ids })
    }

    /// Room for streams on disk beside the store.
    pub(crate) fn room(&mut self, streams: usize) -> Result<Scratch, ProtocolError> {
        Ok(self.store.scratch(streams, 0)?)
    }

    /// The bytes of a state besides the protocol's own.
    ///
    /// *Errors*: a state of another version.
    pub(crate) fn state(&self, name: &str) -> Result<Option<&[u8]>, StoreError> {
        self.store.state_of(name, VERSION)
    }

    pub(crate) fn set_state(&mut self, name: &str, state: State) -> Result<(), ProtocolError> {
        Ok(self.store.set_state(name, state)?)
    }

    /// Pieces that were discarded because only one store had them.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    pub(crate) fn store(&mut self) -> &mut Store {
        &mut self.store
    }

    pub(crate) fn into_store(self) -> Store {
        self.store
    }

    /// Passes on the result of a step: [`SecretsState::revoke_if_cheated`].
    pub(crate) fn revoke_if_cheated<T>(&mut self, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
        STATE.revoke_if_cheated(&mut self.store, result)
    }
}

/// The material of a run.
pub(crate) struct Taken<P> {
    pub(crate) pieces: P,
    /// The gates, if they come from a store and are too many for memory. Otherwise they are among the pieces.
    pub(crate) gates: Option<Unread>,
    pub(crate) ids: Ids,
}

impl<P> Taken<P> {
    /// Material that was made for the run, without a store.
    pub(crate) fn in_memory(pieces: P) -> Self {
        Taken { pieces, gates: None, ids: Ids::new() }
    }
}

/// The identifiers of the pieces of every kind that were taken.
pub(crate) type Ids = Vec<(&'static str, IdSet)>;

/// Taken pieces of a kind that are not read yet.
pub(crate) struct Unread {
    kind: Kind,
    code: Code,
    taken: garblet_store::Taken,
}

impl Unread {
    /// Reads the next `count` pieces, or all if there are fewer, and appends them.
    ///
    /// *Errors*: pieces that were changed.
    pub(crate) fn read<P: Pieces>(&mut self, count: u64, pieces: &mut P) -> Result<(), ProtocolError> {
        let mut sound = Some(());
        self.taken.show(count, |_, bytes| sound = sound.and_then(|()| pieces.read(self.kind, self.code, bytes)))?;
        sound.ok_or_else(|| unreadable(self.kind.name()))
    }
}

/// Returns the result of a step, by [`Stock::revoke_if_cheated`] if there is a store.
pub(crate) fn revoke_if_cheated<T>(
    stock: &mut Option<Stock>,
    result: Result<T, ProtocolError>,
) -> Result<T, ProtocolError> {
    match stock {
        Some(stock) => stock.revoke_if_cheated(result),
        None => result,
    }
}

/// Pieces being added to a store atomically. Complete pieces are written while others are made.
pub(crate) struct Filling<'a> {
    code: Code,
    batch: Batch<'a>,
}

impl Filling<'_> {
    /// Makes everything durable, together with the orders.
    pub(crate) fn finish(mut self, orders: &Orders) -> Result<(), ProtocolError> {
        let (name, state) = orders.state();
        self.batch.set_state(name, state)?;
        Ok(self.batch.commit()?)
    }
}

impl Workshop for Filling<'_> {
    fn room(&mut self, streams: usize) -> Result<Scratch, ProtocolError> {
        Ok(self.batch.scratch(streams, MEMORY_BYTES)?)
    }

    fn order(&mut self, orders: &Orders) -> Result<(), ProtocolError> {
        let (name, state) = orders.state();
        Ok(self.batch.set_state_now(name, state)?)
    }

    fn pass<P: Pieces>(&mut self, pieces: &mut P) -> Result<(), ProtocolError> {
        // More than any piece has.
        let mut bytes = Zeroizing::new(Vec::with_capacity(1 << 16));
        for kind in Kind::ALL {
            let stored = stored(kind, self.code);
            for index in 0..pieces.count(kind) {
                bytes.clear();
                pieces.write(kind, index, self.code, &mut bytes);
                self.batch.push(&stored, self.batch.next_id(&stored), &bytes)?;
            }
        }
        *pieces = P::default();
        Ok(())
    }
}

/// The part of these amounts that a store lacks.
fn lacks(store: &Store, code: Code, amounts: &Amounts) -> Amounts {
    let missing = |kind: Kind| kind.of(amounts).saturating_sub(store.count(&stored(kind, code)));
    let [gates, inputs, input_pairs, outputs] = Kind::ALL.map(missing);
    Amounts { gates, inputs, input_pairs, outputs }
}

/// Checks that a store has these amounts.
///
/// *Errors*: [`NotPrepared`].
fn check_has(store: &Store, code: Code, amounts: &Amounts) -> Result<(), ProtocolError> {
    let lacks = lacks(store, code, amounts);
    let missing = Kind::ALL.into_iter().filter(|kind| kind.of(&lacks) > 0).map(|kind| Missing {
        name: kind.name().into(),
        needed: kind.of(amounts),
        missing: kind.of(&lacks),
    });
    let missing: Vec<Missing> = missing.collect();
    if missing.is_empty() { Ok(()) } else { Err(NotPrepared::Missing(missing).into()) }
}

/// Checks that a store was not given up, and has these amounts.
///
/// *Errors*: otherwise.
pub(crate) fn check_amounts(store: &Store, code: Code, amounts: &Amounts) -> Result<(), ProtocolError> {
    secrets(store)?;
    check_has(store, code, amounts)
}

/// A kind as stores know it.
fn stored(kind: Kind, code: Code) -> garblet_store::Kind {
    garblet_store::Kind::new(kind.name(), format!("{NAME} {VERSION} {}", code.length()).as_bytes())
}

fn state(secrets: &Secrets) -> State {
    State::encoded(VERSION, secrets)
}

/// The secrets of a store, if it has any.
fn secrets(store: &Store) -> Result<Option<Secrets>, ProtocolError> {
    let Some(bytes) = STATE.read(store)? else { return Ok(None) };
    Ok(Some(postcard::from_bytes(bytes).map_err(|_| unreadable("secrets"))?))
}
