//! Parties that meet with their stores, and fill them.
//!
//! Every party tells all others what its store has, the name of its secrets, fresh randomness, and where its last test of leaky triples stands. Then all
//! confirm that they heard the same, settle that test (see `settle`), and discard pieces that not all have. If not all have the same secrets, all make new
//! ones, unless something waits that was made with the old ones: then the parties part.

use garblet_circuit::Party;
use garblet_net::{Line, Message, PerPeer};
use garblet_protocol::{
    MeshSession, Phase, conduct::Conduct, error::ProtocolError, kept, parameters::OtKind, secrets::unreadable,
};
use garblet_store::{Binding, Store, StoreError, Summary};
use serde::{Deserialize, Serialize};

use super::{
    NAME, Step,
    ground::Ground,
    plan::Setting,
    prepare::ots,
    secrets::{Secrets, VERSION},
    settle::{LastTest, Told, settle},
    setup::confirm,
    stock::{STATE, Stock, kinds},
    supply::Supply,
};
use crate::{
    amounts::Amounts,
    parameters::stored_batches,
    plan::with_masks,
    secrets::in_ots,
    stock::{kept::Kept, pieces::GROUP},
};

/// The most pieces of a kind in a batch: when parties part, one of them has written at most one batch that another has not.
const BATCH_PIECES: u64 = 1 << 17;

/// The word of a party to all others when they meet.
#[derive(Clone, Serialize, Deserialize)]
struct Has {
    summary: Summary,
    /// The name of the party's secrets; `None` before it has any.
    secrets: Option<[u8; 32]>,
    /// Fresh randomness, on which all of this meeting depends.
    nonce: [u8; 32],
    /// The stage of its last test of leaky triples.
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

/// A store with the names of the other parties in order.
pub(super) type Named<'a> = (Store, &'a str);

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
        let kept: Option<Kept<Secrets>> = Kept::read(STATE, &store)?;
        let last = LastTest::of(&store)?;
        let name = kept.as_ref().map(|kept| kept.name);
        let mut nonce = [0; 32];
        session.rng().fill_bytes(&mut nonce);
        let has = Has { summary: store.summary(), secrets: name, nonce, last: last.as_ref().map(LastTest::told) };
        let theirs = tell(session, &has, &mut conduct).await?;
        // That somebody lies about what it heard tells nobody anything of these secrets: the store stays.
        let id = confirm(session, (agreed, &encoded(&has, &theirs)?), &mut conduct).await?;
        check_peers(&store, &theirs)?;
        let other = theirs.iter().find(|(_, has)| has.secrets != name).map(|(peer, _)| Party(peer));
        let same = name.is_some() && other.is_none();
        let is_open = has.last.is_some_and(Told::is_open);
        if let Some(party) = other.filter(|_| is_open || holds(&store)) {
            return Err(ProtocolError::Peer { party, source: Box::new(of_other_secrets(&store, is_open)) });
        }
        let told = theirs.map_ref(|_, has| has.last);
        let settled = settle(session, &mut store, last, (&told, same), &mut conduct).await;
        STATE.revoke_if_cheated(&mut store, settled)?;
        let lost = reconcile(&mut store, &theirs)?;
        let mut stock = Stock { store, kept, lost };
        if let (Some(kept), true) = (&stock.kept, same) {
            let deltas = session.mesh().per_peer(|_| in_ots(kept.secrets.delta));
            let ground = Ground::begin(session, &kept.secrets, deltas, setting, (party, id), conduct)?;
            return Ok(Ground { stock: Some(stock), ..ground });
        }
        // Whoever guesses bits of a difference in a set-up has one try. A set-up that is cut off costs nothing.
        let made = Ground::with_new_secrets(session, setting, (party, id), conduct).await;
        let (ground, secrets) = STATE.revoke_if_cheated(&mut stock.store, made)?;
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
        let [triples, masks] = [amounts.triples, amounts.masks].map(|amount| amount.next_multiple_of(GROUP as u64));
        let whole = |(batch, masks): (_, u64)| (batch, masks.next_multiple_of(GROUP as u64));
        let batches = with_masks(stored_batches(triples, setting.config.statistical, setting.parties), masks);
        let batches: Vec<_> = batches.into_iter().map(whole).collect();
        let begun = self.begin_ots(session, setting, ots(&batches)).await;
        self.revoked(begun)?;
        session.enter(Phase::Prepare);
        let mut done = 0;
        for (batch, masks) in batches {
            let masks = masks as usize;
            let of_batch = batch.map_or(0, |batch| batch.triples);
            let mut made = Supply::with_room(setting.parties, of_batch as usize, masks);
            let ended = self.make(session, (batch, of_batch as usize, masks), &mut made).await;
            self.revoked(ended)?;
            self.stock.as_mut().ok_or_else(kept::no_store)?.put(&made)?;
            done += of_batch;
            session.advance(done.min(triples), triples);
        }
        self.rooms.clear();
        Ok(())
    }
}

/// Binds a store to what it is for.
///
/// *Errors*: a store for something else.
fn bind(store: &mut Store, setting: Setting, party: Party, peers: &str) -> Result<(), ProtocolError> {
    let (parties, config) = (setting.parties, setting.config);
    let [bits, width] = [config.statistical.bits(), config.width().bits() as u32];
    let ots = if config.ot == OtKind::Silent { ", silent OT" } else { "" };
    store.bind(&Binding {
        peer: peers.into(),
        role: format!("party {party} of {parties}, evaluator {}", config.evaluator),
        protocol: format!("{NAME} {VERSION}, {bits} bits, k = {width}{ots}"),
        library: String::new(),
    })?;
    let kinds = kinds();
    Ok(store.know(&[&kinds.triples, &kinds.masks])?)
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

/// Tells all others this party's word, and hears theirs.
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

/// The words of all parties, in their order.
fn encoded(own: &Has, theirs: &PerPeer<Has>) -> Result<Vec<u8>, ProtocolError> {
    let all = (0..theirs.party_count()).map(|party| theirs.get(party).unwrap_or(own));
    let all: Vec<&Has> = all.collect();
    postcard::to_extend(&all, Vec::new()).map_err(|_| unreadable("summaries of stores"))
}

/// Checks that the stores of all others belong to this one, and are not older than at the last meeting.
///
/// *Errors*: a store that does not, of its party.
fn check_peers(store: &Store, theirs: &PerPeer<Has>) -> Result<(), ProtocolError> {
    theirs.iter().enumerate().try_for_each(|(at, (peer, has))| {
        let refuse = |error| ProtocolError::Peer { party: Party(peer), source: Box::new(ProtocolError::Store(error)) };
        store.check_peer(at, &has.summary).map_err(refuse)
    })
}

/// Discards pieces that not all stores have; returns their number.
///
/// *Errors*: claims that cannot be true; the store's.
fn reconcile(store: &mut Store, theirs: &PerPeer<Has>) -> Result<u64, ProtocolError> {
    let summaries: Vec<Summary> = theirs.iter().map(|(_, has)| has.summary.clone()).collect();
    Ok(store.reconcile_all(&summaries, BATCH_PIECES)?.dropped.iter().map(|(_, count)| count).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Statistical;

    #[test]
    fn no_batch_has_more_pieces_than_a_store_may_be_ahead() {
        let statistical = [Statistical::Forty, Statistical::SixtyFour, Statistical::Eighty];
        for (statistical, parties) in statistical.into_iter().flat_map(|bits| [3, 7, 8, 16].map(|n| (bits, n))) {
            for amount in [0, 1, 100, 300_000, 524_288, 1 << 20, (1 << 20) + 1, 10_000_000] {
                let all = with_masks(stored_batches(amount, statistical, parties), amount);
                for pieces in all.into_iter().flat_map(|(batch, masks)| [batch.map_or(0, |batch| batch.triples), masks])
                {
                    assert!(pieces.div_ceil(GROUP as u64) <= BATCH_PIECES, "{pieces} of {amount}, {parties}");
                }
            }
        }
    }
}
