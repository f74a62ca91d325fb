//! A component: a circuit with typed ports.

use std::collections::HashSet;

use crate::{circuit::Circuit, diagnostic::Diagnostic, error::CircuitError, gate::GateCounts, types::Port};

/// A Boolean circuit with typed ports: the unit that is garbled, prepared and linked.
///
/// *Shape*: the circuit's inputs are the wires of the input ports, one port after another; its outputs likewise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    name: String,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    circuit: Circuit,
}

impl Component {
    /// Joins ports and a circuit.
    ///
    /// *Errors*: widths that do not add up to the circuit's wires, or two ports with one name on the same side.
    pub fn new(
        name: impl Into<String>,
        inputs: Vec<Port>,
        outputs: Vec<Port>,
        circuit: Circuit,
    ) -> Result<Self, CircuitError> {
        let name = name.into();
        check_side(&name, "input", &inputs, circuit.input_count().into())?;
        check_side(&name, "output", &outputs, circuit.outputs().len() as u64)?;
        Ok(Component { name, inputs, outputs, circuit })
    }

    /// The component's name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Input ports in wire order.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// Output ports in wire order.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// The circuit.
    pub fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// The component with all its gates in memory.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn whole(&self) -> Result<Component, Diagnostic> {
        Ok(Component { circuit: self.circuit.whole()?, ..self.clone() })
    }

    /// Wires of all input ports together.
    pub fn input_width(&self) -> u32 {
        self.circuit.input_count()
    }

    /// Wires of all output ports together.
    pub fn output_width(&self) -> u32 {
        self.circuit.outputs().len() as u32
    }

    /// Gate counts of the circuit.
    pub fn stats(&self) -> GateCounts {
        self.circuit.stats()
    }
}

fn check_side(component: &str, side: &'static str, ports: &[Port], wires: u64) -> Result<(), CircuitError> {
    let width = ports.iter().fold(0u64, |sum, p| sum.saturating_add(p.ty.width()));
    if width != wires {
        return Err(CircuitError::PortWidths { component: component.into(), side, ports: width, wires });
    }
    let mut names = HashSet::new();
    match ports.iter().find(|port| !names.insert(&port.name)) {
        Some(port) => Err(CircuitError::DuplicatePort { component: component.into(), side, port: port.name.clone() }),
        None => Ok(()),
    }
}
