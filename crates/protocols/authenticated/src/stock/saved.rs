//! Values that stay on wires after a run, for later programs.
//!
//! A kept wire has the shares of its mask and its label, whose bit 0 is the masked value for the evaluator, and zero for the garbler: 48 bytes. It can be read
//! any number of times, since no two garblings share a key of their hash.
//!
//! The evaluator makes its part pending before it sends what the garbler needs to keep its own. [`kept`] explains how both end up with the same value.

use garblet_circuit::{Party, Program};
use garblet_primitives::Block;
use garblet_protocol::{
    error::ProtocolError,
    kept::{self, place},
    secrets::unreadable,
    session::Session,
    stock::{SavedNames, SavedValues},
};
use garblet_store::{State, Store};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{
    pieces::VERSION,
    store::{Stock, secrets},
};
use crate::{GARBLER, NAME, place::Place, wires::Wires};

/// Prefix of names under which outputs are kept for others. Runs of the two parties for themselves use no such names.
pub const FOR_OTHERS: &str = "state ";

/// Kept outputs as they are stored.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
struct Stored {
    /// The name of the secrets that they belong to.
    secrets: [u8; 32],
    /// The mark that distinguishes them from others under the same name. Both parties have the same.
    mark: [u8; 8],
    /// Names, and for each shares of this party's multiples, of the peer's, and labels.
    outputs: Vec<(String, [Vec<Block>; 3])>,
}

fn read_stored(state: &State) -> Option<Stored> {
    postcard::from_bytes(&state.bytes).ok()
}

fn output_names(stored: &Stored) -> Vec<String> {
    stored.outputs.iter().map(|(name, _)| name.clone()).collect()
}

/// The names under which a store keeps values for its own party, in alphabetical order.
pub(crate) fn names(store: &Store) -> Vec<SavedNames> {
    let mut names = kept::names(store, NAME, |state| read_stored(state).as_ref().map(output_names));
    names.retain(|saved| !saved.name.starts_with(FOR_OTHERS));
    names
}

/// The outputs kept under a name; `None` if there are none, or if they belong to earlier secrets.
pub(crate) fn outputs(store: &Store, name: &str) -> Option<Vec<String>> {
    let stored = read_stored(store.state(&place(name))?)?;
    (stored.secrets == secrets(store).ok()??.name).then(|| output_names(&stored))
}

/// Checks the names under which the two parties keep values for themselves.
///
/// *Errors*: a name that cannot be used, or that stands for others.
pub(crate) fn check_names(saved: &SavedValues) -> Result<(), ProtocolError> {
    saved.check_names()?;
    let mut names = saved.keep.iter().chain(saved.read.iter().map(|read| &read.name));
    match names.find(|name| name.starts_with(FOR_OTHERS)) {
        Some(name) => {
            let expected = format!("one that does not begin with `{FOR_OTHERS}`");
            Err(ProtocolError::KeptName { expected, got: name.clone() })
        }
        None => Ok(()),
    }
}

/// Compares the values that both parties keep under names, and settles pending ones: both continue with what the garbler has.
///
/// *Errors*: as [`kept::meet`].
pub(crate) async fn meet(
    session: &mut Session,
    store: &mut Store,
    (party, saved): (Party, &SavedValues),
) -> Result<(), ProtocolError> {
    kept::meet(session, store, (party == GARBLER, saved), |state| Some(read_stored(state)?.mark)).await
}

/// Bytes of a kept bit: the shares of both parties' multiples, and a label.
const BIT_BYTES: usize = 3 * size_of::<Block>();

/// Checks that a store can hold the outputs to keep.
///
/// *Errors*: as [`kept::check_room`].
pub(crate) fn check_room(program: &Program, kept: &[usize]) -> Result<(), ProtocolError> {
    kept::check_room(NAME, program, kept, BIT_BYTES)
}

/// The outputs of a run to keep, as a state of the store.
///
/// *Shape*: `kept` has the numbers of these outputs of the program.
pub(crate) fn state(stock: &Stock, run: u64, (program, kept): (&Program, &[usize]), wires: &Wires) -> State {
    let secrets = stock.kept.as_ref().map(|kept| kept.name).unwrap_or_default();
    let mark = stock.meeting.domain(GARBLER, Place::KeptMark as u8).at(run).digest(b"");
    let output = |&number: &usize| {
        let blocks = [&wires.own, &wires.peer, &wires.labels].map(|all| all[number].to_vec());
        (program.outputs()[number].port.name.clone(), blocks)
    };
    let outputs = kept.iter().map(output).collect();
    State::encoded(VERSION, &Stored { secrets, mark: *mark.first_chunk().unwrap_or(&[0; 8]), outputs })
}

/// The wires of an output kept under a name, and the mark. A single output needs no name.
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
