//! A party's stock on disk: triples and masks, each taken once, with the secrets that they were made with.
//!
//! A store is bound to the identities of all other parties, to this party's number among them, to the evaluator and to the parameters of preparation.
//!
//! *Meeting*: every party tells all others what its store has, the name of its secrets, fresh randomness, and where its last test of leaky triples stands.
//! Then all confirm that they heard the same, settle that test (see `settle`), and discard pieces that not all have. If not all have the same secrets, all make
//! new ones, unless something waits that was made with the old ones: then the parties part.
//!
//! | on disk | bytes |
//! |---|---|
//! | secrets | 128 KiB for each other party |
//! | a triple | 48 n |
//! | a mask | 16 n |

use garblet_circuit::Party;
use garblet_net::{Line, Message, PerPeer};
use garblet_protocol::{
    MeshSession, Phase,
    conduct::Conduct,
    domain::SessionId,
    error::ProtocolError,
    kept,
    secrets::{SecretsState, given_up, unreadable},
};
use garblet_store::{Binding, State, Store, StoreError, Summary, Taken};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    NAME, Step,
    ground::Ground,
    place::Place,
    plan::Setting,
    settle::{LastTest, Told, settle},
    setup::{Secrets, confirm},
    shares::{Shares, Supply, Triples},
};
use crate::{
    amounts::Amounts,
    parameters::batches,
    plan::with_masks,
    secrets::in_ots,
    stock::{
        pieces::{GROUP, KINDS, Kinds},
        store::push,
    },
};

/// The version of what is stored.
pub(super) const VERSION: u32 = 1;

/// The protocol's state in a store.
pub(super) const STATE: SecretsState = SecretsState { name: NAME, version: VERSION };

/// The state that a party keeps as long as its store.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
struct Kept {
    /// The name of the secrets, which all parties know.
    name: [u8; 32],
    secrets: Secrets,
    /// The probability of an insecure triple.
    insecure: f64,
}

/// What a party tells all others when they meet.
#[derive(Clone, Serialize, Deserialize)]
struct Has {
    summary: Summary,
    /// The name of the party's secrets; `None` before it has any.
    secrets: Option<[u8; 32]>,
    /// Fresh randomness, on which all of this meeting depends.
    nonce: [u8; 32],
    /// Where its last test of leaky triples stands.
    last: Option<Told>,
}

impl Message for Has {
    const NAME: &'static str = "summary of a store of triples for many parties";
    const KIND: u8 = 0x5b;
    const MAX_BYTES: usize = Summary::BYTES_MAX + 160;

    /// A summary is checked when it is decoded.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A party's store.
pub(super) struct Stock {
    pub(super) store: Store,
    /// None once the store was given up.
    kept: Option<Kept>,
    /// Pieces that were discarded.
    pub(super) lost: u64,
}

/// A store with the names of the other parties in order.
pub(super) type Named<'a> = (Store, &'a str);

/// The kinds of the protocol's stores.
pub(super) fn kinds() -> Kinds {
    Kinds::of(NAME)
}

/// Checks that a store is not given up, and has these amounts.
///
/// *Errors*: [`NotPrepared`](garblet_protocol::error::NotPrepared) if there is less.
pub(super) fn check(store: &Store, amounts: Amounts) -> Result<(), ProtocolError> {
    STATE.read(store)?;
    kinds().check(store, amounts)
}

/// Tells whether a party does not know how its last test ended. A store that was given up is not used again.
pub(super) fn is_unsettled(store: &Store) -> bool {
    STATE.read(store).is_ok() && LastTest::of(store).is_ok_and(|last| last.is_some_and(|last| last.is_open()))
}

impl<K: Conduct<Step>> Ground<K> {
    /// Meets the other parties with a store, which keeps all prepared material. Only the first meeting has secrets to set up.
    ///
    /// *Shape*: `agreed` is the digest of everything that all parties must agree on. *Errors*: a party that misbehaves; stores that were not filled together, or
    /// for something else, or whose last test is not settled; the connections'.
    pub(super) async fn meet(
        session: &mut MeshSession,
        (setting, agreed): (Setting, [u8; 32]),
        party: Party,
        (mut store, peers): Named<'_>,
        mut conduct: K,
    ) -> Result<Self, ProtocolError> {
        session.enter(Phase::Setup);
        bind(&mut store, setting, party, peers)?;
        let kept = read(&store)?;
        let last = LastTest::of(&store)?;
        let name = kept.as_ref().map(|kept| kept.name);
        let mut nonce = [0; 32];
        session.rng().fill_bytes(&mut nonce);
        let has = Has { summary: store.summary(), secrets: name, nonce, last: last.as_ref().map(LastTest::told) };
        let theirs = tell(session, &has, &mut conduct).await?;
        // That somebody lies about what it heard tells nobody anything of these secrets: the store stays.
        let id = confirm(session, (agreed, &encoded(&has, &theirs)?), &mut conduct).await?;
        let other = theirs.iter().find(|(_, has)| has.secrets != name).map(|(peer, _)| Party(peer));
        let same = name.is_some() && other.is_none();
        let told = theirs.map_ref(|_, has| has.last);
        let is_open = told.iter().map(|(_, told)| *told).chain([has.last]).flatten().any(Told::is_open);
        if let Some(party) = other.filter(|_| is_open || holds(&store)) {
            return Err(ProtocolError::Peer { party, source: Box::new(of_other_secrets(&store, is_open)) });
        }
        let settled = settle(session, &mut store, last, &told, &mut conduct).await;
        STATE.revoke_if_cheated(&mut store, settled)?;
        let lost = reconcile(&mut store, &theirs)?;
        let mut stock = Stock { store, kept, lost };
        if let (Some(kept), true) = (&stock.kept, same) {
            let deltas = session.mesh().per_peer(|_| in_ots(kept.secrets.delta));
            let ground = Ground::begin(session, &kept.secrets, deltas, setting, (party, id), conduct)?;
            return Ok(Ground { stock: Some(stock), ..ground });
        }
        let made = Ground::with_new_secrets(session, setting, (party, id), conduct).await;
        let (ground, secrets) = stock.revoked(made)?;
        stock.replace(id, secrets)?;
        Ok(Ground { stock: Some(stock), ..ground })
    }

    /// Makes these amounts and adds them to the store, batch by batch.
    ///
    /// *Errors*: somebody who cheats, and the store is given up; the connections' and the store's. Complete batches stay.
    pub(super) async fn fill(
        &mut self,
        session: &mut MeshSession,
        setting: Setting,
        amounts: Amounts,
    ) -> Result<(), ProtocolError> {
        session.enter(Phase::Prepare);
        let [triples, masks] = [amounts.triples, amounts.masks].map(|amount| amount.next_multiple_of(GROUP as u64));
        let mut done = 0;
        for (batch, masks) in with_masks(batches(triples, setting.config.statistical, setting.parties), masks) {
            let masks = masks.next_multiple_of(GROUP as u64) as usize;
            let of_batch = batch.map_or(0, |batch| batch.triples);
            let mut made = Supply::with_room(setting.parties, of_batch as usize, masks);
            let ended = self.make(session, (batch, of_batch as usize, masks), &mut made).await;
            self.revoked(ended)?;
            self.stock.as_mut().ok_or_else(kept::no_store)?.put(&made)?;
            done += of_batch;
            session.advance(done.min(triples), triples);
        }
        Ok(())
    }
}

impl Stock {
    /// Passes on the result of a step. If a check failed in it, the store is given up.
    pub(super) fn revoked<T>(&mut self, result: Result<T, ProtocolError>) -> Result<T, ProtocolError> {
        let result = STATE.revoke_if_cheated(&mut self.store, result);
        self.kept.take_if(|_| result.as_ref().is_err_and(ProtocolError::is_evidence));
        result
    }

    /// Replaces the secrets by new ones, once all parties have them. Nothing waits that was made with the old ones.
    ///
    /// *Errors*: the store's.
    fn replace(&mut self, meeting: SessionId, secrets: Secrets) -> Result<(), ProtocolError> {
        LastTest::forget(&mut self.store)?;
        let name = meeting.domain(Party(0), Place::SecretsName as u8).digest(b"");
        self.kept = Some(Kept { name, secrets, insecure: 0.0 });
        self.keep()
    }

    /// The name of the secrets; none once the store was given up.
    pub(super) fn name(&self) -> Option<[u8; 32]> {
        self.kept.as_ref().map(|kept| kept.name)
    }

    /// The probability of an insecure triple among all that were made with these secrets.
    pub(super) fn insecure(&self) -> f64 {
        self.kept.as_ref().map_or(0.0, |kept| kept.insecure)
    }

    /// Counts a batch, durably, before anything of it is made.
    ///
    /// *Errors*: the store's; one that was given up.
    pub(super) fn count(&mut self, insecure: f64) -> Result<(), ProtocolError> {
        let kept = self.kept.as_mut().ok_or_else(given_up)?;
        if kept.insecure >= insecure {
            return Ok(());
        }
        kept.insecure = insecure;
        self.keep()
    }

    fn keep(&mut self) -> Result<(), ProtocolError> {
        match &self.kept {
            Some(kept) => Ok(self.store.set_state(STATE.name, State::encoded(VERSION, kept))?),
            None => Ok(()),
        }
    }

    /// The amounts that the store has.
    pub(super) fn has(&self) -> Amounts {
        kinds().amounts_in(&self.store)
    }

    /// The part of these amounts that the store lacks.
    pub(super) fn lacks(&self, amounts: Amounts) -> Amounts {
        kinds().lacks(&self.store, amounts)
    }

    /// Puts all whole pieces of a supply into the store, all or none.
    ///
    /// *Errors*: the store's; one that was given up.
    fn put(&mut self, made: &Supply) -> Result<(), ProtocolError> {
        self.kept.as_ref().ok_or_else(given_up)?;
        let (kinds, mut batch) = (kinds(), self.store.batch());
        let Supply { triples: Triples { a, b, c }, masks, .. } = made;
        let room = 3 * 16 * GROUP * a.columns().len().max(masks.columns().len());
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        for (kind, shares) in [(&kinds.triples, &[a, b, c][..]), (&kinds.masks, &[masks])] {
            for piece in 0..shares[0].len() / GROUP {
                bytes.clear();
                for column in shares.iter().flat_map(|shares| shares.columns()) {
                    bytes.extend_from_slice(bytemuck::cast_slice(&column[piece * GROUP..(piece + 1) * GROUP]));
                }
                push(&mut batch, kind, &bytes)?;
            }
        }
        Ok(batch.commit()?)
    }

    /// Takes what a run needs. When it returns, it is marked as used, durably.
    ///
    /// *Errors*: [`NotPrepared`](garblet_protocol::error::NotPrepared) if there is less; pieces that were changed.
    pub(super) fn take(&mut self, parties: u16, amounts: Amounts) -> Result<Supply, ProtocolError> {
        self.kept.as_ref().ok_or_else(given_up)?;
        let [of_triples, of_masks] = kinds().take(&mut self.store, amounts)?;
        let pieces = KINDS.into_iter().zip([&of_triples, &of_masks].map(|pieces| pieces.ids().clone())).collect();
        let whole = |amount: u64| amount.next_multiple_of(GROUP as u64) as usize;
        let mut supply = Supply::with_room(parties, whole(amounts.triples), whole(amounts.masks));
        let Supply { triples: Triples { a, b, c }, masks, .. } = &mut supply;
        read_pieces(of_triples, KINDS[0], &mut [a, b, c])?;
        read_pieces(of_masks, KINDS[1], &mut [masks])?;
        [a, b, c].into_iter().for_each(|factor| factor.truncate(amounts.triples as usize));
        masks.truncate(amounts.masks as usize);
        supply.pieces = pieces;
        Ok(supply)
    }
}

/// Binds a store to what it is for.
///
/// *Errors*: a store for something else.
fn bind(store: &mut Store, setting: Setting, party: Party, peers: &str) -> Result<(), ProtocolError> {
    let (parties, config) = (setting.parties, setting.config);
    let [bits, width] = [config.statistical.bits(), config.ot_width.bits() as u32];
    Ok(store.bind(&Binding {
        peer: peers.into(),
        role: format!("party {party} of {parties}, evaluator {}", config.evaluator),
        protocol: format!("{NAME} {VERSION}, {bits} bits, k = {width}"),
        library: String::new(),
    })?)
}

/// Tells whether a store holds pieces or kept values.
fn holds(store: &Store) -> bool {
    store.stock().iter().any(|kind| !kind.available.is_empty())
        || store.states().any(|(place, _)| kept::is_place(place))
}

/// The error for a party that says that it has other secrets than this one, or none, while something was made with these. A store that was lost or restored is
/// found before that, so a party that says this lies, or has changed its store.
fn of_other_secrets(store: &Store, is_open: bool) -> ProtocolError {
    let reason = "this party has another store than the one that made them";
    match is_open {
        true => ProtocolError::Unsettled { folder: store.folder().into(), reason },
        false => ProtocolError::Store(StoreError::OtherPeerStore {
            expected: "with the secrets of ours".into(),
            got: "one with others".into(),
        }),
    }
}

/// The secrets of a store, if it has any.
///
/// *Errors*: a store that was given up.
fn read(store: &Store) -> Result<Option<Kept>, ProtocolError> {
    let Some(bytes) = STATE.read(store)? else { return Ok(None) };
    Ok(Some(postcard::from_bytes(bytes).map_err(|_| unreadable("secrets"))?))
}

/// Tells all others what this party's store has, and hears what theirs have.
async fn tell(
    session: &mut MeshSession,
    has: &Has,
    conduct: &mut impl Conduct<Step>,
) -> Result<PerPeer<Has>, ProtocolError> {
    let mesh = session.mesh();
    let exchange = async |_, mut line: Line, has: Has| {
        line.send(&has).await?;
        Ok::<_, ProtocolError>(line.receive::<Has>().await?)
    };
    let outgoing = mesh.per_peer(|peer| {
        let mut has = has.clone();
        conduct.touch(Step::Nonce, peer.into(), &mut has.nonce);
        has
    });
    Ok(mesh.each(outgoing, exchange).await?)
}

/// What all parties told, in their order.
fn encoded(own: &Has, theirs: &PerPeer<Has>) -> Result<Vec<u8>, ProtocolError> {
    let all = (0..theirs.party_count()).map(|party| theirs.get(party).unwrap_or(own));
    let all: Vec<&Has> = all.collect();
    postcard::to_extend(&all, Vec::new()).map_err(|_| unreadable("summaries of stores"))
}

/// Discards pieces that not all stores have; returns their number.
///
/// *Errors*: a store that does not belong to these, or was restored, of its party.
fn reconcile(store: &mut Store, theirs: &PerPeer<Has>) -> Result<u64, ProtocolError> {
    for (at, (peer, has)) in theirs.iter().enumerate() {
        let refuse = |error| ProtocolError::Peer { party: Party(peer), source: Box::new(ProtocolError::Store(error)) };
        store.check_peer(at, &has.summary).map_err(refuse)?;
    }
    let summaries: Vec<Summary> = theirs.iter().map(|(_, has)| has.summary.clone()).collect();
    Ok(store.reconcile_all(&summaries)?.dropped.iter().map(|(_, count)| count).sum())
}

/// Reads the shares of pieces.
///
/// *Errors*: pieces that were changed.
fn read_pieces(pieces: Taken, kind: &'static str, into: &mut [&mut Shares]) -> Result<(), ProtocolError> {
    let mut is_sound = true;
    pieces.each(|_, bytes| is_sound &= read_piece(bytes, into).is_some())?;
    if is_sound { Ok(()) } else { Err(unreadable(kind)) }
}

fn read_piece(bytes: &[u8], into: &mut [&mut Shares]) -> Option<()> {
    let columns: usize = into.iter().map(|shares| shares.columns().len()).sum();
    if bytes.len() != 16 * GROUP * columns {
        return None;
    }
    let mut pieces = bytes.as_chunks::<16>().0.chunks_exact(GROUP);
    for column in into.iter_mut().flat_map(|shares| shares.columns_mut()) {
        column.extend(pieces.next()?.iter().map(|block| garblet_primitives::Block::from_bytes(*block)));
    }
    Some(())
}
