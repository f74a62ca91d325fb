//! Stores of prepared material, as every protocol that has them sees them.

use garblet_circuit::Program;
use garblet_store::Store;

use crate::{PhaseCosts, ProtocolError};

/// A store that a party draws on, for whom it is, and what it is to hold.
pub struct Stock<O> {
    /// The store.
    pub store: Store,
    /// The peer: its fingerprint, or what stands for it where peers have no identities. Of several, all in order.
    pub peer: String,
    /// The kinds and amounts that it is filled up to; a run needs no amounts.
    pub order: O,
    /// Set if a run makes what the store lacks; all parties must wish it.
    pub top_up: bool,
    /// Set if it is filled before a run, because it is new.
    pub fill_first: bool,
}

/// The kinds that a protocol's stores hold, and where an order for them comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StockKinds {
    /// Pieces that serve any function, by these names.
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
    /// Pieces that were given up because not all stores had them.
    pub lost: u64,
    /// The cost of each phase.
    pub phases: PhaseCosts,
}

/// Values on wires that stay in the stores of all parties, known to none.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SavedValues {
    /// The name under which all outputs are saved, if they are.
    pub keep: Option<String>,
    /// Inputs that nobody gives.
    pub read: Vec<ReadInput>,
}

/// An input that is read from an output that was saved.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReadInput {
    /// The input's port.
    pub port: String,
    /// The name under which outputs were saved.
    pub name: String,
    /// The output; if there is one only, it needs no name.
    pub output: Option<String>,
}

/// A name under which a store keeps values.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SavedNames {
    /// The name.
    pub name: String,
    /// The outputs that were saved.
    pub outputs: Vec<String>,
    /// More, if they are a state that two servers keep for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<SavedState>,
}

/// A state that two servers keep for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SavedState {
    /// The version.
    pub version: u64,
    /// Runs that have not ended, of those that count: to make the next version, or in a row that only read.
    pub failures: u32,
    /// Set if it is closed for good.
    pub closed: bool,
}

impl SavedValues {
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

/// A hello's word for a choice.
pub fn yes_or_no(choice: bool) -> &'static str {
    if choice { "yes" } else { "no" }
}
