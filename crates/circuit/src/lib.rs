//! Programs: components joined by links.
//!
//! A [`Circuit`] is gates; a [`Component`] is a circuit with typed ports; a [`Program`] is components joined by links,
//! with owned inputs and outputs for named recipients. Front ends make programs, protocols consume them: a
//! [`Schedule`] is a component's circuit made ready to run, a [`Walk`] goes through a program's instances in memory
//! that grows with live wires only.

mod bits;
pub mod builder;
mod circuit;
mod component;
mod depth;
pub mod diagnostic;
mod digest;
pub mod draw;
mod error;
mod evaluate;
mod flatten;
pub mod formats;
pub mod front_end;
mod json;
pub mod library;
mod literal;
pub mod notes;
pub mod optimise;
mod parts;
mod program;
#[cfg(any(test, feature = "random"))]
pub mod random;
mod schedule;
pub mod tables;
mod types;
pub mod value;
mod walk;

pub use bits::{Bits, NotBits};
pub use circuit::{Circuit, Gate, GateCounts, Wire};
pub use component::Component;
pub use error::CircuitError;
pub use evaluate::{LANES, evaluate, evaluate_circuit, evaluate_lanes, evaluate_many};
pub use program::{ComponentId, Input, InputId, InstanceId, Link, Output, Party, Program, Recipients, Source};
pub use schedule::{AndOp, Operand, OutputWire, Schedule, Step, XorOp};
pub use types::{Port, Type};
pub use walk::Walk;
