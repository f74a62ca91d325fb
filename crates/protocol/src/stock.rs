//! Stores of prepared material, as protocols use them.

use std::{collections::BTreeMap, sync::Arc};

use garblet_circuit::{Bits, InputId, Party, Program, diagnostic::controls_terminal};
use garblet_store::Store;

use crate::{PhaseCosts, ProtocolError};

/// A store that a party draws on, with its peer and an order.
pub struct Stock<O> {
    /// The store.
    pub store: Store,
    /// The peer: its fingerprint, or another name where peers have no identities. If there are several, all in order.
    pub peer: String,
    /// The kinds and amounts to fill it up to. A run needs no amounts.
    pub order: O,
    /// Set if a run makes what the store lacks. All parties must set it.
    pub top_up: bool,
    /// Set to fill it before a run, because it is new.
    pub fill_first: bool,
    /// The most runs that were to keep a value and did not end, if it differs from the protocol's default.
    pub retries: Option<u32>,
}

/// The kinds that a protocol's stores hold, and how they are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StockKinds {
    /// Pieces that serve any function, with these names.
    Pieces(&'static [&'static str]),
    /// Components that a library file describes.
    Library,
    /// Runs of one program.
    Runs,
}

/// The outcome of filling a store.
pub struct Filled {
    /// The store.
    pub store: Store,
    /// Pieces that were discarded because not all stores had them.
    pub lost: u64,
    /// The cost of each phase.
    pub phases: PhaseCosts,
    /// The values of the parameters that the link has decided, for this store.
    pub decided: BTreeMap<String, String>,
}

impl Filled {
    /// A store that was filled with parameters of which none was left to the link.
    pub fn new(store: Store, lost: u64, phases: PhaseCosts) -> Self {
        Filled { store, lost, phases, decided: BTreeMap::new() }
    }
}

/// Values on wires that stay in the stores of all parties and that no party knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SavedValues {
    /// The name under which outputs are saved, if any: see [`SavedValues::program`].
    pub keep: Option<String>,
    /// Inputs that no party provides.
    pub read: Vec<ReadInput>,
}

/// An input that is read from a saved output.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReadInput {
    /// The input's port.
    pub port: String,
    /// The name under which outputs were saved.
    pub name: String,
    /// The output. It needs no name if there is only one.
    pub output: Option<String>,
}

impl ReadInput {
    /// An input that is read from `NAME` or `NAME.OUTPUT`.
    ///
    /// *Errors*: a name that cannot be used.
    pub fn parse(port: &str, kept: &str) -> Result<Self, ProtocolError> {
        let (name, output) = match kept.split_once('.') {
            Some((name, output)) => (name, Some(output.to_string())),
            None => (kept, None),
        };
        check_kept_name(name)?;
        Ok(ReadInput { port: port.into(), name: name.into(), output })
    }
}

/// A name under which a store keeps values.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SavedNames {
    /// The name.
    pub name: String,
    /// The outputs that were saved.
    pub outputs: Vec<String>,
    /// Runs that were to keep it and have not ended, over its whole life. For a state of two servers, the runs in a row that only read it, if they are more.
    pub unended: u32,
    /// Details of a state that two servers keep for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<SavedState>,
}

/// A state that two servers keep for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SavedState {
    /// The version.
    pub version: u64,
    /// Set if it is closed forever.
    pub closed: bool,
}

/// The owner of inputs that are read from a store.
const NOBODY: Party = Party(u16::MAX);

/// A notice of a store for its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Values are kept under a name. To settle the notice of a state that two servers keep for others is to close the state for good; other values stay.
    Kept(SavedNames),
    /// Runs that were to keep values have not ended. To settle the notice is to attribute them to failures of the network or of this machine: the count starts again.
    UnendedRuns(u32),
    /// The peer left orders of gates unfinished at a point where a malicious peer would. To settle the notice is to attribute them to failures, too.
    UnfinishedOrders(u32),
    /// A check of the peer was begun and this party does not know its outcome. The next meeting settles it.
    UnsettledCheck,
}

/// The longest name under which outputs are kept, in bytes: a hello carries it with the name of an output.
pub const KEPT_NAME_BYTES_MAX: usize = 64;

/// Checks a name under which outputs are to be kept, or from which they are to be read. It has no dot, since `NAME.OUTPUT` names one of the outputs.
///
/// *Errors*: [`ProtocolError::KeptName`].
pub fn check_kept_name(name: &str) -> Result<(), ProtocolError> {
    let is_shown = (1..=KEPT_NAME_BYTES_MAX).contains(&name.len()) && !name.contains(controls_terminal);
    match is_shown && !name.contains('.') {
        true => Ok(()),
        false => {
            let expected = format!("1 to {KEPT_NAME_BYTES_MAX} printable bytes without a dot");
            Err(ProtocolError::KeptName { expected, got: name.into() })
        }
    }
}

impl SavedValues {
    /// Checks all names with [`check_kept_name`].
    ///
    /// *Errors*: the first name that cannot be used.
    pub fn check_names(&self) -> Result<(), ProtocolError> {
        self.keep.iter().chain(self.read.iter().map(|read| &read.name)).try_for_each(|name| check_kept_name(name))
    }

    /// The program as runs with these values compute it. A run that is to keep outputs and panics has no result and keeps nothing: the earlier value stays. So
    /// all parties learn whether it has panicked before they keep anything ([`Program::telling_panics`]).
    ///
    /// *Errors*: a name that cannot be used; a program that already has the maximum size.
    pub fn program(&self, protocol: &'static str, program: &Arc<Program>) -> Result<Arc<Program>, ProtocolError> {
        self.check_names()?;
        if self.keep.is_none() {
            return Ok(program.clone());
        }
        let told = program.telling_panics().map_err(|error| ProtocolError::Unsupported {
            protocol,
            program: program.name().into(),
            reason: error.to_string(),
        })?;
        Ok(Arc::new(told))
    }

    /// The program with the inputs that are read as those of nobody, for asking the parties for theirs.
    ///
    /// *Errors*: as [`SavedValues::inputs`].
    pub fn asked(&self, program: &Program) -> Result<Program, ProtocolError> {
        let mut asked = program.clone();
        self.inputs(program)?.iter().for_each(|&at| asked.set_owner(InputId(at as u32), NOBODY));
        Ok(asked)
    }

    /// The numbers of the inputs that are read.
    ///
    /// *Errors*: a port that the program does not have, or that is read twice.
    pub fn inputs(&self, program: &Program) -> Result<Vec<usize>, ProtocolError> {
        let number = |read: &ReadInput| {
            program.inputs().iter().position(|input| input.port.name == read.port).ok_or_else(|| {
                let names: Vec<&str> = program.inputs().iter().map(|input| &input.port.name[..]).collect();
                let (what, expected) = ("that is read".into(), names.join(" or "));
                ProtocolError::Input { what, expected, got: format!("`{}`", read.port) }
            })
        };
        let numbers: Vec<usize> = self.read.iter().map(number).collect::<Result<_, _>>()?;
        let twice = (1..numbers.len()).find(|&at| numbers[..at].contains(&numbers[at]));
        match twice {
            Some(at) => {
                let (what, expected) = (format!("`{}`, which is read", self.read[at].port), "one name".into());
                Err(ProtocolError::Input { what, expected, got: "two".into() })
            }
            None => Ok(numbers),
        }
    }
}

/// Tells whether the computation has panicked, from the outputs that a party has learned of a program that keeps some: see [`SavedValues::program`].
pub fn has_panicked(program: &Program, outputs: &[Option<Bits>]) -> bool {
    let told = program.notes().panicked.and_then(|at| outputs.get(at)?.as_ref());
    told.is_some_and(|bit| bit.iter().any(|bit| bit))
}

/// A hello's word for a choice.
pub fn yes_or_no(choice: bool) -> &'static str {
    if choice { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_or_unprintable_name_is_refused_before_anything_is_computed() {
        let longest = "x".repeat(KEPT_NAME_BYTES_MAX);
        let program = Arc::new(Program::new("nothing"));
        let read = |name: &str| ReadInput { port: "x".into(), name: name.into(), output: None };
        let of = |name: &str| {
            let keeps = SavedValues { keep: Some(name.into()), read: Vec::new() };
            let reads = SavedValues { keep: None, read: vec![read("good"), read(name)] };
            [keeps, reads].map(|saved| saved.program("a protocol", &program).map(drop))
        };
        for name in ["", "a.b", ".", "a\nb", "\u{1b}[2J", "a\u{202e}b", &format!("{longest}x")] {
            for refused in of(name) {
                let error = refused.expect_err(name);
                assert!(matches!(&error, ProtocolError::KeptName { got, .. } if got == name), "{error}");
                assert!(!error.to_string().contains(controls_terminal), "{error}");
            }
        }
        for name in ["x", "the balance", "größe", &longest] {
            of(name).into_iter().for_each(|named| named.expect(name));
        }
    }
}
