//! Programs: components joined by links.
//!
//! A [`Circuit`] is gates; a [`Component`] is a circuit with typed ports; a [`Program`] is components joined by links,
//! with owned inputs and outputs for named recipients. Front ends make programs, protocols consume them: a
//! [`Schedule`] is a component's circuit made ready to run, a [`Walk`] goes through a program's instances in memory
//! that grows with live wires only.

mod batch;
mod bits;
mod circuit;
mod component;
mod copies;
mod depth;
pub mod diagnostic;
mod digest;
mod error;
mod evaluate;
mod flatten;
mod literal;
pub mod notes;
mod parts;
mod program;
#[cfg(any(test, feature = "random"))]
pub mod random;
mod schedule;
mod type_text;
mod types;
mod walk;

pub use bits::{Bits, NotBits};
pub use circuit::{Circuit, Gate, GateCounts, Wire};
pub use component::Component;
pub use error::CircuitError;
pub use evaluate::{LANES, evaluate, evaluate_circuit, evaluate_lanes, evaluate_many};
pub use literal::{Literal, NodeNumber};
pub use program::{ComponentId, Input, InputId, InstanceId, Link, Output, Party, Program, Recipients, Source};
pub use schedule::{AndOp, Operand, OutputWire, Schedule, Step, XorOp};
pub use type_text::TypeError;
pub use types::{Port, Type};
pub use walk::Walk;
