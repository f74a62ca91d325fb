//! Values that stay on wires after a run, for programs that come later.
//!
//! A wire is kept as the shares of its mask and its label, of which bit 0 is the masked value for the evaluator, and zero for the garbler: 48 bytes. It is read any number
//! of times, since no two garblings have a key of their hash in common.

use garblet_primitives::Block;
use garblet_protocol::{error::ProtocolError, stock::SavedNames};
use garblet_store::{State, Store, StoreError};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{
    pieces::{VERSION, unreadable},
    store::{Stock, kept},
};
use crate::{place::Place, plan::Plan, wires::Wires};

/// The beginning of the places where a store has what was kept.
const PLACE: &str = "kept ";

/// The beginning of names under which outputs are kept for others: runs of the two parties for themselves have no such names.
pub const FOR_OTHERS: &str = "state ";

/// Kept outputs as they are stored.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
struct Stored {
    /// The name of the secrets that they belong to.
    secrets: [u8; 32],
    /// The mark that tells them from others under the same name: both parties have the same.
    mark: [u8; 8],
    /// Names, and for each shares of this party's multiples, of the peer's, and labels.
    outputs: Vec<(String, [Vec<Block>; 3])>,
}

fn place(name: &str) -> String {
    format!("{PLACE}{name}")
}

fn stored(store: &Store, name: &str) -> Option<Stored> {
    postcard::from_bytes(&store.state(&place(name))?.bytes).ok()
}

/// The names of what a store keeps for its own party, in alphabetical order.
pub(crate) fn names(store: &Store) -> Vec<SavedNames> {
    let kept = store.states().filter_map(|(place, _)| {
        let name = place.strip_prefix(PLACE).filter(|name| !name.starts_with(FOR_OTHERS))?;
        let outputs = stored(store, name)?.outputs.iter().map(|(name, _)| name.clone()).collect();
        Some(SavedNames { name: name.into(), outputs, state: None })
    });
    kept.collect()
}

/// The outputs that are kept under a name; none if there are none, or if they are of no use with the secrets of today.
pub(crate) fn outputs(store: &Store, name: &str) -> Option<Vec<String>> {
    let stored = stored(store, name)?;
    let secrets = kept(store).ok()??.name;
    (stored.secrets == secrets).then(|| stored.outputs.iter().map(|(name, _)| name.clone()).collect())
}

/// Forgets what is kept under names that are `gone`.
///
/// *Errors*: the store's.
pub(crate) fn forget_named(store: &mut Store, gone: impl Fn(&str) -> bool) -> Result<(), StoreError> {
    store.remove_states(|place| place.strip_prefix(PLACE).is_some_and(&gone))
}

/// The mark of the outputs that are kept under a name; none if there are none. Both parties' stores must say the same.
pub(crate) fn mark(store: &Store, name: &str) -> Option<String> {
    Some(garblet_protocol::checks::hex(&stored(store, name)?.mark))
}

/// Keeps the outputs of a run that are to be kept under a name, in place of those that were there.
///
/// *Errors*: the store's.
pub(crate) fn keep(
    stock: &mut Stock,
    (name, run): (&str, u64),
    plan: &Plan,
    wires: &Wires,
) -> Result<(), ProtocolError> {
    let secrets = stock.kept.as_ref().map(|kept| kept.name).unwrap_or_default();
    let mark = stock.meeting.domain(crate::GARBLER, Place::KeptMark as u8).at(run).digest(b"");
    let output = |&number: &usize| {
        let blocks = [&wires.own, &wires.peer, &wires.labels].map(|all| all[number].to_vec());
        (plan.program().outputs()[number].port.name.clone(), blocks)
    };
    let outputs = plan.kept().iter().map(output).collect();
    let stored = Stored { secrets, mark: *mark.first_chunk().unwrap_or(&[0; 8]), outputs };
    Ok(stock.store.set_state(&place(name), State::encoded(VERSION, &stored))?)
}

/// Forgets all that is kept: it is of no use with other secrets.
///
/// *Errors*: the store's.
pub(crate) fn forget(store: &mut Store) -> Result<(), StoreError> {
    forget_named(store, |_| true)
}

/// The wires of an output that is kept under a name, and the mark; where there is one output only, it needs no name.
///
/// *Errors*: nothing of that name, or of an earlier store of the peer; no such output.
pub(crate) fn read(
    stock: &Stock,
    name: &str,
    output: Option<&str>,
) -> Result<([Vec<Block>; 3], [u8; 8]), ProtocolError> {
    let missing = |got: &str| {
        let what = format!("`{name}`, which was to be read");
        ProtocolError::Input { what, expected: "outputs that were kept".into(), got: got.into() }
    };
    let state = stock.store.state(&place(name)).ok_or_else(|| missing("none of that name"))?;
    let mut stored: Stored = postcard::from_bytes(&state.bytes).map_err(|_| unreadable("kept outputs"))?;
    if stock.kept.as_ref().is_none_or(|kept| kept.name != stored.secrets) {
        return Err(missing("those of an earlier store of the peer"));
    }
    let mark = stored.mark;
    let found = match (output, &mut stored.outputs[..]) {
        (None, [(_, wires)]) => Some(wires),
        (None, _) => None,
        (Some(name), outputs) => outputs.iter_mut().find(|(other, _)| other == name).map(|(_, wires)| wires),
    };
    match found {
        Some(wires) => Ok((std::mem::take(wires), mark)),
        None => {
            let names: Vec<&str> = stored.outputs.iter().map(|(name, _)| &name[..]).collect();
            let got = output.map_or("none".into(), |name| format!("`{name}`"));
            Err(ProtocolError::Input { what: "from kept outputs".into(), expected: names.join(" or "), got })
        }
    }
}
