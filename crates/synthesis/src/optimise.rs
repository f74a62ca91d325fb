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
mod levels;
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

/// The bounds of a better circuit, and the work to look for it.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// The work.
    pub effort: Effort,
    /// Set if no circuit may get more layers of AND gates: those are the rounds of `gmw`.
    pub keeps_layers: bool,
    /// The work after which no pass begins, in units of two to five microseconds, if it is not that of the effort. A quarter of it without a gain of a hundredth
    /// is the end, too.
    pub most_work: Option<usize>,
}

impl From<Effort> for Goal {
    fn from(effort: Effort) -> Self {
        Goal { effort, keeps_layers: false, most_work: None }
    }
}

/// A circuit with the same inputs and outputs and no more AND gates. Every gate reaches an output, and only AND gates
/// and outputs read constants or negations.
///
/// *Cost*: time and memory in proportion to the circuit's gates, with a factor for the effort.
///
/// *Panics*: the result differs from the circuit at one of a few hundred points, a mistake of the optimiser.
pub fn optimise(circuit: &Circuit, goal: impl Into<Goal>) -> Circuit {
    optimise_with(&mut Finder::default(), circuit, goal.into())
}

fn optimise_with(finder: &mut Finder, circuit: &Circuit, goal: Goal) -> Circuit {
    let Goal { effort, keeps_layers, most_work } = goal;
    let graph = Xag::from_circuit(circuit);
    let (most, patience) = match most_work {
        None => (effort.most_work(), usize::MAX),
        Some(most) => (most, most / 4),
    };
    let layers = keeps_layers.then(|| levels::layers(&graph));
    let ands = graph.live_and_count();
    let mut best = Best { ands, graph, layers, work: 0, gained: (ands, 0), kept: None };
    for phase in effort.phases() {
        let always = phase.always && most_work.is_none();
        if !always {
            best.keep();
        }
        for _ in 0..phase.most {
            let mut saves = false;
            for &pass in phase.passes {
                let work = best.graph.len().saturating_mul(pass.work());
                let ends = best.work.saturating_add(work) > most || best.work - best.gained.1 > patience;
                if !always && ends {
                    break;
                }
                best.work += work;
                let before = best.ands;
                best.apply(pass, finder);
                if !always {
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
    /// The most layers of AND nodes, if they are limited.
    layers: Option<u32>,
    /// The work done, in the unit of [`Pass::work`].
    work: usize,
    /// The AND nodes after the last gain of a hundredth, and the work before it.
    gained: (usize, usize),
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
                let graph = rewrite::run(&self.graph, finder, way, self.layers);
                self.take(graph, way.choice != rewrite::Choice::Better);
            }
            Pass::Resubstitute(levels) => {
                self.take(resubstitute::run::<4>(&self.graph, levels, self.layers), false);
            }
            Pass::Wide(levels) => self.take(resubstitute::run::<16>(&self.graph, levels, self.layers), false),
        }
    }

    /// Keeps the graph if it is cheaper than the one that is kept.
    fn keep(&mut self) {
        let cost = XORS_OF_AND * self.ands + self.graph.live_gate_count();
        if self.kept.as_ref().is_none_or(|(kept, _)| cost < *kept) {
            self.kept = Some((cost, self.graph.clone()));
        }
    }

    /// Takes a graph if it has fewer AND nodes, or if that is enough as many, and no more layers than it may have.
    fn take(&mut self, graph: Xag, equal: bool) {
        let ands = graph.live_and_count();
        let is_shallow = self.layers.is_none_or(|layers| levels::layers(&graph) <= layers);
        if is_shallow && ands < self.ands + usize::from(equal) {
            (self.graph, self.ands) = (graph, ands);
        }
        if 100 * self.ands < 99 * self.gained.0 {
            self.gained = (self.ands, self.work);
        }
    }
}

/// A component with its circuit [optimised](optimise).
///
/// *Errors*: none for a valid component.
pub fn optimise_component(component: &Component, goal: impl Into<Goal>) -> Result<Component, CircuitError> {
    with_circuit(component, optimise(component.circuit(), goal))
}

fn with_circuit(component: &Component, circuit: Circuit) -> Result<Component, CircuitError> {
    let (inputs, outputs) = (component.inputs().to_vec(), component.outputs().to_vec());
    Component::new(component.name(), inputs, outputs, circuit)
}

/// A program with each of its components [optimised](optimise), and the same instances and links. Component outputs
/// that nothing reads in any instance become the constant false.
///
/// *Errors*: none for a valid program.
pub fn optimise_program(program: &Program, goal: impl Into<Goal>) -> Result<Program, CircuitError> {
    let goal = goal.into();
    let needs = Needs::of(program);
    let finder = &mut Finder::default();
    let mut better = Program::new(program.name());
    for (number, component) in program.components().iter().enumerate() {
        let circuit = match needs.without_dead_outputs(number, component) {
            Some(circuit) => optimise_with(finder, &circuit, goal),
            None => optimise_with(finder, component.circuit(), goal),
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
