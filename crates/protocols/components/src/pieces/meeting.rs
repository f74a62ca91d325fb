//! Two parties and their stores meet: step 1.

use garblet_garble::GarblingConfig;
use garblet_primitives::Block;
use garblet_store::{AHEAD_MAX, Binding, IdSet, PieceId, Reconciled, State, Store};
use zeroize::Zeroizing;

use crate::pieces::material::Material;
use crate::pieces::messages::{Has, HashSeed};
use crate::pieces::secrets::Secrets;
use crate::pieces::stock::{Ids, Kind, Stock};
use crate::{NAME, VERSION};
use garblet_protocol::{error::ProtocolError, session::Session};

/// The name of the protocol's state in a store.
const STATE: &str = "components";

/// Binds a store to its peer and purpose.
pub(crate) fn bind(store: &mut Store, material: &Material, role: &str, peer: &str) -> Result<(), ProtocolError> {
    let garbling = material.garbling();
    if garbling.scheme.is_privacy_free() {
        let reason = "the privacy-free scheme shows the evaluator the values on links".into();
        return Err(ProtocolError::Unsupported { protocol: NAME, program: "of any kind".into(), reason });
    }
    let library: String = material.digest().iter().map(|byte| format!("{byte:02x}")).collect();
    store.bind(&Binding { peer: peer.into(), role: role.into(), protocol: bound_as(garbling), library })?;
    Ok(())
}

/// The name of the protocol, with what must be the same as long as a store lasts.
pub(crate) fn bound_as(garbling: GarblingConfig) -> String {
    format!("{NAME} {VERSION}, {}, {}", garbling.scheme, garbling.hash)
}

/// Both stores keep the pieces that both have. Also discards cells that are no longer usable. Returns the number of discarded pieces.
pub(crate) async fn reconcile(
    session: &mut Session,
    store: &mut Store,
    material: &Material,
) -> Result<Reconciled, ProtocolError> {
    let channel = session.channel();
    channel.send(&Has { summary: store.summary() }).await?;
    let theirs: Has = channel.receive().await?;
    let lost = store.reconcile(&theirs.summary, AHEAD_MAX)?;
    drop_useless(store, material)?;
    Ok(lost)
}

/// Discards cells whose template is gone and that cannot be used alone.
fn drop_useless(store: &mut Store, material: &Material) -> Result<(), ProtocolError> {
    let stock = stock(store, material);
    for number in (0..material.library().templates().len() as u32).filter(|t| !material.is_severable(*t)) {
        let (kind, cells) = (Kind::Cell(number), material.cells(number));
        let useless = stock.without_template(number, cells);
        if !useless.is_empty() {
            store.drop_pieces(&material.stored(kind), &id_set(useless))?;
        }
    }
    Ok(())
}

/// The garbler's secrets, which are new in a new store. Sends the seed of the hash to the evaluator.
pub(crate) async fn garbler_secrets(session: &mut Session, store: &mut Store) -> Result<Secrets, ProtocolError> {
    let known = store.state_of(STATE, VERSION)?.map(|bytes| Zeroizing::new(bytes.to_vec()));
    let secrets = match known {
        Some(bytes) => Secrets::from_bytes(&bytes),
        None => {
            let secrets = Secrets::random(session.rng());
            store.set_state(STATE, State { version: VERSION, bytes: secrets.to_bytes().to_vec() })?;
            Some(secrets)
        }
    };
    let secrets = secrets.ok_or_else(|| unreadable("its secrets"))?;
    session.channel().send(&HashSeed::new(secrets.hash)).await?;
    session.channel().flush().await?;
    Ok(secrets)
}

/// The seed of the hash, which is the same for the life of a store.
pub(crate) async fn evaluator_hash(session: &mut Session, store: &mut Store) -> Result<Block, ProtocolError> {
    let seed = session.channel().receive::<HashSeed>().await?.block();
    let bytes = seed.to_bytes().to_vec();
    match store.state_of(STATE, VERSION)? {
        None => store.set_state(STATE, State { version: VERSION, bytes })?,
        Some(known) if known != bytes => return Err(unreadable("the garbler's hash seed, which has changed")),
        Some(_) => {}
    }
    Ok(seed)
}

fn unreadable(got: &str) -> ProtocolError {
    ProtocolError::Stored { what: "its state", expected: "what was stored".into(), got: got.into() }
}

/// The part of a store that a plan can use.
pub(crate) fn stock(store: &Store, material: &Material) -> Stock {
    let mut stock = Stock::default();
    for kind in material.kinds() {
        let available = store.stock_of(&material.stored(kind)).available;
        stock.set(kind, Ids::new(available.ranges().iter().cloned()));
    }
    stock
}

/// The number of pieces to make of each kind that is below `below` percent of the wanted number. Cells are made with their templates.
pub(crate) fn shortage(store: &Store, material: &Material, below: u8) -> Vec<(Kind, u64)> {
    let missing = |kind: Kind| {
        let (wanted, available) = (material.wanted(kind), store.count(&material.stored(kind)));
        let short = u128::from(available) * 100 < u128::from(wanted) * u128::from(below);
        short.then(|| (kind, wanted.saturating_sub(available)))
    };
    let kinds = material.kinds().into_iter().filter(|kind| !matches!(kind, Kind::Cell(_)));
    kinds.filter_map(missing).filter(|(_, missing)| *missing > 0).collect()
}

/// A set of identifiers.
pub(crate) fn id_set(ids: impl IntoIterator<Item = u64>) -> IdSet {
    ids.into_iter().map(PieceId).collect()
}
