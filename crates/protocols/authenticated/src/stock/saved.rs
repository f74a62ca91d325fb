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
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{
    pieces::VERSION,
    store::{Stock, secrets},
};
use crate::{GARBLER, NAME, place::Place, wires::Wires};

/// Prefix of names under which outputs are kept for others. Runs of the two parties for themselves use no such names.
pub const FOR_OTHERS: &str = "state ";

/// A mark that distinguishes kept outputs from others under the same name. All parties have the same.
pub(crate) type Mark = [u8; 8];

/// Kept outputs as they are stored: `W` are the wires of one output.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Stored<W: Zeroize> {
    /// The name of the secrets that they belong to.
    pub(crate) secrets: [u8; 32],
    pub(crate) mark: Mark,
    /// The outputs by name.
    pub(crate) outputs: Vec<(String, W)>,
}

/// The wires of an output: shares of this party's multiples, of the peer's, and labels.
type Blocks = [Vec<Block>; 3];

impl<W: Zeroize + Default + Serialize + DeserializeOwned> Stored<W> {
    /// Reads kept outputs.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }

    /// The mark of kept outputs.
    pub(crate) fn mark(bytes: &[u8]) -> Option<Mark> {
        Some(Self::of(bytes)?.mark)
    }

    /// The names of kept outputs.
    pub(crate) fn names(state: &State) -> Option<Vec<String>> {
        Some(Self::of(&state.bytes)?.outputs.iter().map(|(name, _)| name.clone()).collect())
    }

    /// Takes the wires of an output kept under a name, with the mark. A single output needs no name.
    ///
    /// *Errors*: nothing of that name, or of earlier secrets; no such output.
    pub(crate) fn read(
        store: &Store,
        secrets: Option<[u8; 32]>,
        (name, output): (&str, Option<&str>),
    ) -> Result<(W, Mark), ProtocolError> {
        let missing = |got: &str| {
            let what = format!("`{name}`, which was to be read");
            ProtocolError::Input { what, expected: "outputs that were kept".into(), got: got.into() }
        };
        let bytes = store.state_of(&place(name), VERSION)?.ok_or_else(|| missing("none of that name"))?;
        let mut stored = Self::of(bytes).ok_or_else(|| unreadable("kept outputs"))?;
        if secrets != Some(stored.secrets) {
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
}

/// The names under which a store keeps values for its own party, in alphabetical order.
pub(crate) fn names(store: &Store) -> Vec<SavedNames> {
    let mut names = kept::names(store, NAME, Stored::<Blocks>::names);
    names.retain(|saved| !saved.name.starts_with(FOR_OTHERS));
    names
}

/// The outputs kept under a name; `None` if there are none, or if they belong to earlier secrets.
pub(crate) fn outputs(store: &Store, name: &str) -> Option<Vec<String>> {
    let state = store.state(&place(name))?;
    let stored = Stored::<Blocks>::of(&state.bytes)?;
    (stored.secrets == secrets(store).ok()??.name).then(|| Stored::<Blocks>::names(state))?
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
    kept::meet(session, store, (party == GARBLER, saved), (VERSION, Stored::<Blocks>::mark)).await
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
/// *Errors*: as [`Stored::read`].
pub(crate) fn read(stock: &Stock, name: &str, output: Option<&str>) -> Result<(Blocks, Mark), ProtocolError> {
    Stored::read(&stock.store, stock.kept.as_ref().map(|kept| kept.name), (name, output))
}
