//! The optimiser: the same function with never more AND gates. XOR gates cost next to nothing, and there may be more of them.
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
//!
//! With more [`Effort`], cuts are also replaced at equal cost, and nodes are resubstituted: computed from other
//! nodes that are there already, where it matters. *Source*: Testa, Soeken, Riener, Amarù and De Micheli, "A logic synthesis toolbox
//! for reducing the multiplicative complexity in logic networks", DATE 2020.

mod affine4;
mod beyond;
mod classes;
mod cuts;
mod dead;
mod effort;
mod functions;
mod merge_sums;
mod plan;
mod products;
mod resubstitute;
mod rewrite;
mod space;

use garblet_circuit::{Circuit, CircuitError, Component, Program, evaluate_circuit};

use dead::Needs;
pub use effort::Effort;
use effort::Pass;
use products::Finder;

use crate::xag::Xag;

/// A circuit with the same inputs and outputs and no more AND gates. Every gate reaches an output, and only AND gates
/// and outputs read constants or negations.
///
/// *Cost*: time and memory in proportion to the circuit's gates, with a factor for the effort.
///
/// *Panics*: the result differs from the circuit at one of a few hundred points, a mistake of the optimiser.
pub fn optimise(circuit: &Circuit, effort: Effort) -> Circuit {
    optimise_with(&mut Finder::default(), circuit, effort)
}

fn optimise_with(finder: &mut Finder, circuit: &Circuit, effort: Effort) -> Circuit {
    let graph = Xag::from_circuit(circuit);
    let mut best = Best { ands: graph.live_and_count(), graph, work: 0, kept: None };
    for phase in effort.phases() {
        if !phase.always {
            best.keep();
        }
        for _ in 0..phase.most {
            let mut saves = false;
            for &pass in phase.passes {
                let work = best.graph.len().saturating_mul(pass.work());
                if !phase.always && best.work.saturating_add(work) > effort.most_work() {
                    break;
                }
                best.work += work;
                let before = best.ands;
                best.apply(pass, finder);
                if !phase.always {
                    best.keep();
                }
                // Merged products may make a gain possible, but alone do not call for another round.
                saves |= best.ands < before && pass != Pass::Merge;
            }
            if !saves {
                break;
            }
        }
    }
    let graph = best.kept.map_or(best.graph, |(_, graph)| graph);
    let better = graph.into_circuit().expect("nodes come after their operands");
    assert!(agree(circuit, &better), "the optimiser changed a function");
    better
}

/// Returns whether two circuits agree at points that are spread at random, 64 in each of a few rounds.
fn agree(one: &Circuit, other: &Circuit) -> bool {
    const ROUNDS: usize = 8;
    let mut state = 0u64;
    // SplitMix64 (Steele, Lea and Flood 2014): the same points for everybody, and no secrets.
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    (0..ROUNDS).all(|_| {
        let inputs: Vec<u64> = (0..one.input_count()).map(|_| next()).collect();
        evaluate_circuit(one, &inputs) == evaluate_circuit(other, &inputs)
    })
}

/// The best graph so far.
struct Best {
    graph: Xag,
    ands: usize,
    /// The work done, in the unit of [`Pass::work`].
    work: usize,
    /// The cheapest graph, and its cost. Later ones have no more AND nodes, but may have many more XOR nodes.
    kept: Option<(usize, Xag)>,
}

/// XOR gates that count as much as an AND gate, a choice: an AND gate sends 32 bytes, which take 256 ns at 1 Gbit/s, and an XOR gate sends nothing.
const XORS_OF_AND: usize = 100;

impl Best {
    fn apply(&mut self, pass: Pass, finder: &mut Finder) {
        match pass {
            Pass::Merge => {
                self.take(merge_sums::run(&self.graph, false), true);
                self.take(merge_sums::run(&self.graph, true), false);
            }
            Pass::Rewrite(way) => {
                self.take(rewrite::run(&self.graph, finder, way), way.choice != rewrite::Choice::Better);
            }
            Pass::Resubstitute(levels) => self.take(resubstitute::run::<4>(&self.graph, levels), false),
            Pass::Wide(levels) => self.take(resubstitute::run::<16>(&self.graph, levels), false),
        }
    }

    /// Keeps the graph if it is cheaper than the one that is kept.
    fn keep(&mut self) {
        let cost = XORS_OF_AND * self.ands + self.graph.live_gate_count();
        if self.kept.as_ref().is_none_or(|(kept, _)| cost < *kept) {
            self.kept = Some((cost, self.graph.clone()));
        }
    }

    /// Takes a graph if it has fewer AND nodes, or if that is enough as many.
    fn take(&mut self, graph: Xag, equal: bool) {
        let ands = graph.live_and_count();
        if ands < self.ands + usize::from(equal) {
            (self.graph, self.ands) = (graph, ands);
        }
    }
}

/// A component with its circuit [optimised](optimise).
///
/// *Errors*: none for a valid component.
pub fn optimise_component(component: &Component, effort: Effort) -> Result<Component, CircuitError> {
    with_circuit(component, optimise(component.circuit(), effort))
}

fn with_circuit(component: &Component, circuit: Circuit) -> Result<Component, CircuitError> {
    let (inputs, outputs) = (component.inputs().to_vec(), component.outputs().to_vec());
    Component::new(component.name(), inputs, outputs, circuit)
}

/// A program with each of its components [optimised](optimise), and the same instances and links. Component outputs
/// that nothing reads in any instance become the constant false.
///
/// *Errors*: none for a valid program.
pub fn optimise_program(program: &Program, effort: Effort) -> Result<Program, CircuitError> {
    let needs = Needs::of(program);
    let finder = &mut Finder::default();
    let mut better = Program::new(program.name());
    for (number, component) in program.components().iter().enumerate() {
        let circuit = match needs.without_dead_outputs(number, component) {
            Some(circuit) => optimise_with(finder, &circuit, effort),
            None => optimise_with(finder, component.circuit(), effort),
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
