//! Values that stay on wires after a run, for later programs. The evaluator's part is pending until the constructor has its own; [`kept`] explains how both
//! end up with the same value.
//!
//! An output's wires have committed keys like any others, so that an input of a later program can be joined to them: it is they.
//! No party provides such an input, and nobody learns its value unless a program reveals it.
//!
//! Saved values are right also of a run in which a bucket has shown the difference: each output is one that the evaluator learns, so that it has the
//! select bit of its key, or is joined to an input bucket; see `eval/extract`.

use garblet_circuit::{Party, Program};
use garblet_homcommit::{Code, ReceiverShare, SenderShare};
use garblet_primitives::Block;
use garblet_store::{State, Store};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use super::{
    pieces::Storable,
    store::{Stock, VERSION},
};
use crate::{CONSTRUCTOR, NAME, setup::secrets::Secrets};
use garblet_protocol::{
    error::ProtocolError,
    kept::{self, place},
    session::Session,
    stock::{SavedNames, SavedValues},
};

/// A wire that the evaluator keeps: the watched part of the commitment, and its key.
#[derive(Clone, Copy, Default)]
pub struct SavedWire {
    pub(crate) watched: ReceiverShare,
    pub(crate) key: Block,
}

/// The outputs of a run with the wires that they lie on.
pub struct SavedOutputs<W: Zeroize> {
    /// The outputs by name, in program order.
    outputs: Vec<(String, Zeroizing<Vec<W>>)>,
}

impl Zeroize for SavedWire {
    fn zeroize(&mut self) {
        self.watched.zeroize();
        self.key.zeroize();
    }
}

impl Storable for SavedWire {
    fn bytes(code: Code) -> usize {
        16 + <ReceiverShare as Storable>::bytes(code)
    }

    fn write(&self, into: &mut [u8]) {
        let (key, watched) = into.split_at_mut(16);
        key.copy_from_slice(&self.key.to_bytes());
        Storable::write(&self.watched, watched);
    }

    fn read(bytes: &[u8]) -> Self {
        let (key, watched) = bytes.split_first_chunk().unwrap_or((&[0; 16], &[]));
        SavedWire { key: Block::from_bytes(*key), watched: <ReceiverShare as Storable>::read(watched) }
    }
}

/// Saved outputs as they are stored.
#[derive(Serialize, Deserialize, Zeroize)]
struct Stored {
    /// The secrets that they belong to.
    stock: Block,
    /// The numbers of the meeting that they are from, and of the run in it.
    run: [u64; 2],
    outputs: Vec<(String, Vec<u8>)>,
}

impl<W: Zeroize + Copy> SavedOutputs<W> {
    pub(crate) fn new(outputs: impl Iterator<Item = (String, Vec<W>)>) -> Self {
        SavedOutputs { outputs: outputs.map(|(name, wires)| (name, Zeroizing::new(wires))).collect() }
    }

    /// The wires of an output; where there is one only, it needs no name.
    ///
    /// *Errors*: no such output.
    pub(crate) fn output(&self, name: Option<&str>) -> Result<&[W], ProtocolError> {
        let found = match (name, &self.outputs[..]) {
            (None, [(_, wires)]) => Some(wires),
            (None, _) => None,
            (Some(name), outputs) => outputs.iter().find(|(other, _)| other == name).map(|(_, wires)| wires),
        };
        found.map(|wires| &wires[..]).ok_or_else(|| {
            let names: Vec<&str> = self.outputs.iter().map(|(name, _)| &name[..]).collect();
            let got = name.map_or("none".into(), |name| format!("`{name}`"));
            ProtocolError::Input { what: "from kept outputs".into(), expected: names.join(" or "), got }
        })
    }
}

/// Bytes of a mark: the numbers of the meeting and of the run.
const MARK_BYTES: usize = 16;

/// The names under which a store keeps values, in alphabetical order.
pub(crate) fn saved_names(store: &Store) -> Vec<SavedNames> {
    kept::names(store, NAME, |state| {
        let mut stored: Stored = postcard::from_bytes(&state.bytes).ok()?;
        let outputs = stored.outputs.iter().map(|(name, _)| name.clone()).collect();
        stored.zeroize();
        Some(outputs)
    })
}

/// The mark that distinguishes a kept value from earlier ones under the same name. Both parties have the same.
fn mark(bytes: &[u8]) -> Option<[u8; MARK_BYTES]> {
    let mut stored: Stored = postcard::from_bytes(bytes).ok()?;
    let [meeting, run] = stored.run.map(u64::to_le_bytes);
    stored.zeroize();
    [meeting, run].as_flattened().try_into().ok()
}

/// Compares the values that both parties keep under names, and settles pending ones: both continue with what the constructor has.
///
/// *Errors*: as [`kept::meet`].
pub(crate) async fn meet(
    session: &mut Session,
    store: &mut Store,
    (party, saved): (Party, &SavedValues),
) -> Result<(), ProtocolError> {
    kept::meet(session, store, (party == CONSTRUCTOR, saved), (VERSION, mark)).await
}

/// Checks that a store holds the outputs that are to be kept.
///
/// *Errors*: as [`kept::check_room`].
pub(crate) fn check_room(program: &Program, code: Code) -> Result<(), ProtocolError> {
    let kept: Vec<usize> =
        (0..program.outputs().len()).filter(|&output| !program.notes().tells_panics(output)).collect();
    let bit_bytes = <SenderShare as Storable>::bytes(code).max(SavedWire::bytes(code));
    kept::check_room(NAME, program, &kept, bit_bytes)
}

/// The outputs of a run, as a state of the store.
pub(crate) fn state<W: Storable>(secrets: &Secrets, (run, code): (u64, Code), outputs: &SavedOutputs<W>) -> State {
    let bytes = |wires: &Zeroizing<Vec<W>>| {
        let mut bytes = Vec::with_capacity(wires.len() * W::bytes(code));
        wires.iter().for_each(|wire| wire.append(code, &mut bytes));
        bytes
    };
    let outputs = outputs.outputs.iter().map(|(name, wires)| (name.clone(), bytes(wires))).collect();
    let mut stored = Stored { stock: secrets.matrix, run: [secrets.meetings, run], outputs };
    let state = State::encoded(VERSION, &stored);
    stored.zeroize();
    state
}

pub(crate) fn load<W: Storable>(
    stock: &Stock,
    secrets: &Secrets,
    name: &str,
    code: Code,
) -> Result<SavedOutputs<W>, ProtocolError> {
    let missing = |got: &str| {
        let what = format!("`{name}`, which was to be read");
        ProtocolError::Input { what, expected: "outputs that were kept".into(), got: got.into() }
    };
    let bytes = stock.state(&place(name))?.ok_or_else(|| missing("none of that name"))?;
    let mut stored: Stored = postcard::from_bytes(bytes).map_err(|_| missing("other bytes"))?;
    if stored.stock.halves() != secrets.matrix.halves() {
        return Err(missing("those of an earlier store of the peer"));
    }
    let wires = |bytes: &[u8]| bytes.chunks_exact(W::bytes(code)).map(W::read).collect();
    let kept = SavedOutputs::new(stored.outputs.iter().map(|(name, bytes)| (name.clone(), wires(bytes))));
    stored.zeroize();
    Ok(kept)
}
