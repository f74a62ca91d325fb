//! Prepared pieces in a store: what both parties have of them, each taken once.

use garblet_circuit::Party;
use garblet_homcommit::Code;
use garblet_store::{Batch, Binding, IdSet, Scratch, State, Store, StoreError};
use zeroize::Zeroizing;

use super::{
    messages::Has,
    orders::Orders,
    pieces::{Pieces, Workshop},
    saved,
};
use crate::{
    CONSTRUCTOR, NAME,
    amounts::{Amounts, Kind},
    config::Config,
    plan::Plan,
    setup::secrets::{Fresh, MEETINGS_MAX, Secrets},
};
use garblet_protocol::{
    error::{Missing, NotPrepared, ProtocolError},
    session::Session,
};

/// The version of what is stored.
const VERSION: u32 = 4;

/// The name of the protocol's state in a store. Empty once the peer has cheated.
const STATE: &str = "lego";

/// The number of bytes that stay in memory of each kind of component that is being made.
const MEMORY_BYTES: usize = 64 << 20;

/// So many gates of a run are read at once. Tests have few.
const WHOLE_GATES: u64 = if cfg!(test) { 300 } else { 900_000 };

/// A party's store.
pub struct Stock {
    store: Store,
    code: Code,
    lost: u64,
}

/// The secrets that two parties that meet go on with.
pub(crate) enum Meeting {
    /// The secrets that both have, for one meeting more.
    Again(Secrets),
    /// New ones, of which this is the number of the first meeting.
    New(u64, Fresh),
}

impl Stock {
    /// Both say what their stores have and give up what only one has.
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
        let lost: u64 = store.reconcile(&theirs.summary)?.dropped.iter().map(|(_, count)| count).sum();
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
        Ok(self.store.set_state(STATE, state(secrets))?)
    }

    /// Keeps new secrets in place of others, once both parties have them: a peer's word alone, that it has none, costs nothing.
    pub(crate) fn replace(&mut self, secrets: &Secrets) -> Result<(), ProtocolError> {
        // What is there was made with the old ones. The constructor names the new ones, and may name them like these.
        saved::forget(&mut self.store)?;
        self.lost += self.store.clear()?;
        self.keep(secrets)
    }

    /// Begins to make new secrets, of which the peer is told what is checked: durably, that is unfinished until they are
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

    /// The amounts that are made for a run of a plan before it takes anything: what the store lacks, if it is to be made at all.
    pub(crate) fn to_make(&self, plan: &Plan, top_up: bool) -> Option<Amounts> {
        let lacks = self.lacks(&plan.amounts());
        (top_up && lacks != Amounts::default()).then_some(lacks)
    }

    /// The part of these amounts that the store lacks.
    fn lacks(&self, amounts: &Amounts) -> Amounts {
        let missing = |kind: Kind| kind.of(amounts).saturating_sub(self.store.count(&stored(kind, self.code)));
        let [gates, inputs, input_pairs, outputs] = Kind::ALL.map(missing);
        Amounts { gates, inputs, input_pairs, outputs }
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

    /// Takes what a run of a plan needs. When it returns, it is durable that this is used.
    ///
    /// *Errors*: [`NotPrepared`] if there is less; pieces that were changed.
    pub(crate) fn take<P: Pieces>(&mut self, plan: &Plan) -> Result<Taken<P>, ProtocolError> {
        let amounts = &plan.amounts();
        let lacks = self.lacks(amounts);
        let missing = Kind::ALL.into_iter().filter(|kind| kind.of(&lacks) > 0).map(|kind| Missing {
            name: kind.name().into(),
            needed: kind.of(amounts),
            missing: kind.of(&lacks),
        });
        let missing: Vec<Missing> = missing.collect();
        if !missing.is_empty() {
            return Err(NotPrepared::Missing(missing).into());
        }
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

    /// Room for streams beside the store, and not in memory.
    pub(crate) fn room(&mut self, streams: usize) -> Result<Scratch, ProtocolError> {
        Ok(self.store.scratch(streams, 0)?)
    }

    /// A state beside the protocol's own.
    pub(crate) fn state(&self, name: &str) -> Option<&State> {
        self.store.state(name)
    }

    pub(crate) fn set_state(&mut self, name: &str, state: State) -> Result<(), ProtocolError> {
        Ok(self.store.set_state(name, state)?)
    }

    /// Pieces that were given up because only one store had them.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    pub(crate) fn into_store(self) -> Store {
        self.store
    }

    /// Passes on the result of a step; if a check of the peer failed in it, all that the store has is given up. A peer that closes or sends
    /// malformed bytes loses nothing: somebody on the way could make it seem to, and it is as one that hangs up.
    pub(crate) fn revoke_if_cheated<T>(&mut self, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
        match result {
            Err(error) if error.is_evidence() => match self.revoke() {
                Ok(()) => Err(error),
                Err(failed) => Err(ProtocolError::NotGivenUp { source: Box::new(error), failed }),
            },
            result => result,
        }
    }

    /// Gives up everything, for good: a peer that was found out has risked it once, and must not get another chance with the
    /// same secrets.
    fn revoke(&mut self) -> Result<(), StoreError> {
        // First of all the secrets, so that nothing is left to go on with if this process ends in between.
        self.store.set_state(STATE, State { version: VERSION, bytes: Vec::new() })?;
        saved::forget(&mut self.store)?;
        self.store.clear().map(drop)
    }
}

/// The material that a run has.
pub(crate) struct Taken<P> {
    pub(crate) pieces: P,
    /// The gates, if they come from a store and are too many for memory; otherwise they are among the pieces.
    pub(crate) gates: Option<Unread>,
    pub(crate) ids: Ids,
}

impl<P> Taken<P> {
    /// The material that was made for the run and lies in no store.
    pub(crate) fn in_memory(pieces: P) -> Self {
        Taken { pieces, gates: None, ids: Ids::new() }
    }
}

/// The identifiers of the pieces of every kind that were taken.
pub(crate) type Ids = Vec<(&'static str, IdSet)>;

/// Pieces of a kind that were taken and are to be read.
pub(crate) struct Unread {
    kind: Kind,
    code: Code,
    taken: garblet_store::Taken,
}

impl Unread {
    /// Reads the next pieces, so many if there are, behind those that are there.
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

/// Pieces on their way into a store, all or none; those that are complete are written while others are made.
pub(crate) struct Filling<'a> {
    code: Code,
    batch: Batch<'a>,
}

impl Filling<'_> {
    /// Makes everything durable, together with what is known of all orders.
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

/// A kind as stores know it.
fn stored(kind: Kind, code: Code) -> garblet_store::Kind {
    garblet_store::Kind::new(kind.name(), format!("{NAME} {VERSION} {}", code.length()).as_bytes())
}

fn state(secrets: &Secrets) -> State {
    State::encoded(VERSION, secrets)
}

/// The secrets of a store, if it has any.
fn secrets(store: &Store) -> Result<Option<Secrets>, ProtocolError> {
    let Some(state) = store.state(STATE) else { return Ok(None) };
    if state.version != VERSION {
        let [expected, got] = [VERSION, state.version].map(|version| version.to_string());
        return Err(ProtocolError::Material { what: "version of the store's state", expected, got });
    }
    if state.bytes.is_empty() {
        let expected = "a store whose peer has not cheated".into();
        let got = "one that was given up when the peer was found to cheat; remove it to begin anew".into();
        return Err(ProtocolError::Material { what: "store", expected, got });
    }
    let secrets = postcard::from_bytes(&state.bytes).map_err(|_| unreadable("secrets"))?;
    Ok(Some(secrets))
}

/// A role that was set up without a store has nothing to keep anything in.
pub(crate) fn no_store() -> ProtocolError {
    ProtocolError::Material { what: "store", expected: "one, to keep values in".into(), got: "none".into() }
}

/// The error of a store that gave back what was not put into it.
fn unreadable(what: &'static str) -> ProtocolError {
    ProtocolError::Material { what, expected: "what was stored".into(), got: "other bytes".into() }
}
