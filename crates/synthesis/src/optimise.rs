//! The optimiser: the same function with fewer gates, and never more AND gates.
//!
//! A circuit becomes a graph of XOR and AND nodes whose edges may be inverted, so negations are free and each
//! function of the same operands exists once. Passes over the graph
//!
//! - fold constants, repeated and opposite operands, and equal nodes up to the order of operands;
//! - drop nodes that no output depends on;
//! - take sums (trees of XOR nodes that nothing else reads) apart, cancel equal terms, and merge AND terms:
//!   `ab ^ ac = a(b ^ c)`, `ab ^ !ac = a(b ^ c) ^ c`, `a(b ^ c) ^ bc = (a ^ c)(b ^ c) ^ c` (the majority);
//! - turn an OR of two ANDs that cannot both be true into their sum, which the step before merges, and recognise an XOR or a
//!   carry written with AND, OR and NOT.
//!
//! A merge happens only if nothing else reads the ANDs it replaces, so each AND of the result replaces a distinct
//! one of the circuit.
//!
//! These passes alternate with a pass over small cuts: sets of up to six nodes that determine a node. If the function is known
//! to take fewer AND gates than the node and the gates that only it needs, the pass computes it anew from the
//! cut. *Source*: Testa, Soeken, Amarù and De Micheli, "Reducing the multiplicative complexity in logic networks for
//! cryptography and security applications", 2019; the local rewrites are folklore of XOR-AND graphs.

mod affine4;
mod cuts;
mod dead;
mod functions;
mod merge_sums;
mod products;
mod rewrite;

use garblet_circuit::{Circuit, CircuitError, Component, Program};

use dead::Needs;
use products::Finder;

use crate::xag::Xag;

/// Passes repeat while they save AND gates, but at most this often.
const MAX_PASSES: u32 = 8;

/// A circuit with the same inputs and outputs and no more AND gates. Every gate reaches an output, and only AND gates
/// and outputs read constants or negations.
///
/// *Cost*: time and memory in proportion to the circuit's gates.
pub fn optimise(circuit: &Circuit) -> Circuit {
    optimise_with(&mut Finder::default(), circuit)
}

fn optimise_with(finder: &mut Finder, circuit: &Circuit) -> Circuit {
    let mut best = Xag::from_circuit(circuit);
    for _ in 0..MAX_PASSES {
        let merged = merge_sums::run(&best, false);
        if merged.live_and_count() <= best.live_and_count() {
            best = merged;
        }
        let merged = merge_sums::run(&best, true);
        if merged.live_and_count() < best.live_and_count() {
            best = merged;
        }
        let rewritten = rewrite::run(&best, finder);
        if rewritten.live_and_count() >= best.live_and_count() {
            break;
        }
        best = rewritten;
    }
    best.into_circuit().expect("nodes come after their operands")
}

/// A component with its circuit [optimised](optimise).
///
/// *Errors*: none for a valid component.
pub fn optimise_component(component: &Component) -> Result<Component, CircuitError> {
    with_circuit(component, optimise(component.circuit()))
}

fn with_circuit(component: &Component, circuit: Circuit) -> Result<Component, CircuitError> {
    let (inputs, outputs) = (component.inputs().to_vec(), component.outputs().to_vec());
    Component::new(component.name(), inputs, outputs, circuit)
}

/// A program with each of its components [optimised](optimise), and the same instances and links. Component outputs
/// that nothing reads in any instance become the constant false.
///
/// *Errors*: none for a valid program.
pub fn optimise_program(program: &Program) -> Result<Program, CircuitError> {
    let needs = Needs::of(program);
    let finder = &mut Finder::default();
    let mut better = Program::new(program.name());
    for (number, component) in program.components().iter().enumerate() {
        let circuit = match needs.without_dead_outputs(number, component) {
            Some(circuit) => optimise_with(finder, &circuit),
            None => optimise_with(finder, component.circuit()),
        };
        better.add_component(with_circuit(component, circuit)?);
    }
    for input in program.inputs() {
        better.add_input(input.port.clone(), input.owner)?;
    }
    let mut links = Vec::new();
    for id in (0..program.instance_count()).map(|k| garblet_circuit::InstanceId(k as u32)) {
        links.clear();
        links.extend(program.instance_links(id));
        better.add_instance(program.component_id(id), &links)?;
    }
    for output in program.outputs() {
        better.add_output(output.port.clone(), output.recipients.clone(), output.links.clone())?;
    }
    better.set_notes(program.notes().clone());
    Ok(better)
}

#[cfg(test)]
mod tests;
