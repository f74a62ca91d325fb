//! Programs: components joined by links.
//!
//! A [`Circuit`] is gates; a [`Component`] is a circuit with typed ports; a [`Program`] is components joined by links,
//! with inputs that parties own and outputs for named recipients. Front ends make programs and protocols run them: a
//! [`Schedule`] is a component's circuit made ready to run, and a [`Walk`] goes through a program's instances in memory
//! that grows only with live wires.

mod batch;
mod bits;
mod circuit;
mod component;
mod copies;
mod deep;
mod depth;
pub mod diagnostic;
mod digest;
mod encoder;
mod error;
mod evaluate;
mod flatten;
mod gate;
mod keeping;
mod literal;
pub mod notes;
mod parts;
mod program;
#[cfg(any(test, feature = "random"))]
pub mod random;
pub mod reach;
mod schedule;
pub mod stored;
mod truth_table;
mod type_text;
mod types;
mod walk;

pub use bits::{Bits, NotBits};
pub use circuit::Circuit;
pub use component::Component;
pub use digest::ScheduleDigest;
pub use encoder::OneComponent;
pub use error::CircuitError;
pub use evaluate::{LANES, evaluate, evaluate_circuit, evaluate_lanes, evaluate_many};
pub use gate::{Gate, GateCounts, Wire};
pub use literal::{Literal, NodeNumber};
pub use program::{ComponentId, Input, InputId, InstanceId, Link, Output, Party, Program, Recipients, Source};
pub use schedule::{
    AndOp, Carried, GatePlace, LayerWalk, Layers, Operand, OutputWire, Schedule, Step, StoredParts, StoredSchedule,
    Windows, XorOp,
};
pub use truth_table::TruthTable;
pub use type_text::TypeError;
pub use types::{Float, Port, Type};
pub use walk::Walk;
