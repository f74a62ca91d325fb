//! Chooses sets of gates to replace by one gate of three inputs, so that the whole costs little.
//!
//! *Source*: the cover by cuts and area flow of technology mapping: Mishchenko, Chatterjee and Brayton, "Improvements to
//! technology mapping for LUT-based FPGAs" (2007).

use garblet_circuit::Wire;

use super::{MOST_OPERANDS, Signal, TableBuilder, TableCircuit, TableGate};

/// The most cuts to keep per wire.
const MOST_CUTS: usize = 8;
/// The number of rounds; each counts readers under the choice of the round before.
const ROUNDS: u32 = 4;

/// Wires in ascending order, and another wire as a function of them.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cut {
    leaves: [Wire; MOST_OPERANDS],
    len: u8,
    table: u8,
}

impl Cut {
    fn of_itself(wire: Wire) -> Self {
        Cut { leaves: [wire; MOST_OPERANDS], len: 1, table: 0b10 }
    }

    fn leaves(&self) -> &[Wire] {
        &self.leaves[..usize::from(self.len)]
    }

    /// The value where leaf `i` of `leaves`, which include all leaves of this cut, is bit `i` of `point`.
    fn value(&self, leaves: &[Wire], point: usize) -> bool {
        let bit = |leaf: &Wire| leaves.iter().position(|l| l == leaf).map_or(0, |place| point >> place & 1);
        let own = self.leaves().iter().enumerate().map(|(i, leaf)| bit(leaf) << i);
        self.table >> own.sum::<usize>() & 1 == 1
    }

    /// The gate as a function of the leaves of its operands' cuts, which must be few enough.
    fn joined(gate: &TableGate, cuts: &[Cut]) -> Cut {
        let all = leaves(cuts);
        let at = |point: usize| cuts.iter().enumerate().map(|(i, cut)| usize::from(cut.value(&all, point)) << i).sum();
        let points = (0..1 << all.len()).filter(|&point| gate.value(at(point)));
        let table = points.fold(0, |table, point| table | 1 << point);
        let mut leaves = [Wire(0); MOST_OPERANDS];
        leaves[..all.len()].copy_from_slice(&all);
        Cut { leaves, len: all.len() as u8, table }
    }

    /// The cut as a gate, to determine its cost; none if it is trivial.
    fn gate(&self) -> Option<TableGate> {
        let mut builder = TableBuilder::new(self.len.into());
        let leaves: Vec<Signal> = (0..u32::from(self.len)).map(|i| Signal::of(Wire(i))).collect();
        let signal = builder.gate(&leaves, self.table);
        builder.finish(vec![signal]).gates.first().copied()
    }
}

/// The leaves of several cuts together, in ascending order.
fn leaves(cuts: &[Cut]) -> Vec<Wire> {
    let mut all: Vec<Wire> = cuts.iter().flat_map(|cut| cut.leaves().iter().copied()).collect();
    all.sort();
    all.dedup();
    all
}

/// The circuit with each output computed by gates of up to three inputs, at the least cost found.
pub(super) fn cover(circuit: &TableCircuit, cost: impl Fn(&TableGate) -> u32) -> TableCircuit {
    let mut readers = vec![0u32; circuit.input_count as usize + circuit.gates.len()];
    let operands = circuit.gates.iter().flat_map(TableGate::operands);
    operands.chain(circuit.outputs.iter().filter_map(wire_of)).for_each(|wire| readers[wire.index()] += 1);
    let prices = prices(cost);
    let mut chosen = Vec::new();
    for _ in 0..ROUNDS {
        chosen = choose(circuit, &prices, &readers);
        readers = uses(circuit, &chosen);
    }
    build(circuit, &chosen, &readers)
}

/// The cost of each function of three variables.
fn prices(cost: impl Fn(&TableGate) -> u32) -> Vec<f64> {
    let cut = |table| Cut { leaves: [0, 1, 2].map(Wire), len: 3, table };
    (0..=u8::MAX).map(|table| cut(table).gate().map_or(0.0, |gate| cost(&gate).into())).collect()
}

/// The cheapest cut of each gate, where all readers of a leaf share its cost.
fn choose(circuit: &TableCircuit, prices: &[f64], readers: &[u32]) -> Vec<Cut> {
    let mut cuts: Vec<Vec<Cut>> = (0..circuit.input_count).map(|i| vec![Cut::of_itself(Wire(i))]).collect();
    let mut flow = vec![0.0; cuts.len()];
    let mut chosen = Vec::with_capacity(circuit.gates.len());
    for (g, gate) in circuit.gates.iter().enumerate() {
        let price = |cut: &Cut| {
            let leaves = cut.leaves().iter().map(|leaf| flow[leaf.index()] / f64::from(readers[leaf.index()].max(1)));
            prices[usize::from(widened(cut))] + leaves.sum::<f64>()
        };
        let mut found: Vec<(f64, Cut)> = Vec::new();
        for cut in combinations(gate, &cuts).iter().map(|chosen| Cut::joined(gate, chosen)) {
            if !found.iter().any(|(_, known)| *known == cut) {
                found.push((price(&cut), cut));
            }
        }
        found.sort_by(|(a, x), (b, y)| a.total_cmp(b).then(x.len.cmp(&y.len)));
        found.truncate(MOST_CUTS);
        // The operands themselves always form a cut.
        let (least, best) = found[0];
        flow.push(least);
        chosen.push(best);
        let itself = Cut::of_itself(Wire(circuit.input_count + g as u32));
        cuts.push(found.into_iter().map(|(_, cut)| cut).chain([itself]).collect());
    }
    chosen
}

/// The table extended to three variables.
fn widened(cut: &Cut) -> u8 {
    (usize::from(cut.len)..MOST_OPERANDS).fold(cut.table, |table, i| table | table << (1 << i))
}

/// The combinations of one cut per operand whose leaves together fit the inputs of a gate.
fn combinations(gate: &TableGate, cuts: &[Vec<Cut>]) -> Vec<Vec<Cut>> {
    gate.operands().iter().fold(vec![Vec::new()], |chosen, operand| {
        let mut longer = Vec::new();
        for start in &chosen {
            for &cut in &cuts[operand.index()] {
                let more: Vec<Cut> = start.iter().copied().chain([cut]).collect();
                if leaves(&more).len() <= MOST_OPERANDS {
                    longer.push(more);
                }
            }
        }
        longer
    })
}

/// The number of times that outputs and needed gates read each wire.
fn uses(circuit: &TableCircuit, chosen: &[Cut]) -> Vec<u32> {
    let mut uses = vec![0; circuit.input_count as usize + chosen.len()];
    circuit.outputs.iter().filter_map(wire_of).for_each(|wire| uses[wire.index()] += 1);
    for (g, cut) in chosen.iter().enumerate().rev() {
        if uses[circuit.input_count as usize + g] > 0 {
            cut.leaves().iter().for_each(|leaf| uses[leaf.index()] += 1);
        }
    }
    uses
}

fn build(circuit: &TableCircuit, chosen: &[Cut], uses: &[u32]) -> TableCircuit {
    let mut builder = TableBuilder::new(circuit.input_count);
    let mut moved: Vec<Signal> = (0..circuit.input_count).map(|i| Signal::of(Wire(i))).collect();
    for (g, cut) in chosen.iter().enumerate() {
        let leaves: Vec<Signal> = cut.leaves().iter().map(|leaf| moved[leaf.index()]).collect();
        moved.push(match uses[circuit.input_count as usize + g] {
            0 => Signal::Constant(false),
            _ => builder.gate(&leaves, cut.table),
        });
    }
    let output = |signal: &Signal| match *signal {
        Signal::Wire { wire, inverted } => moved[wire.index()].invert_if(inverted),
        constant => constant,
    };
    builder.finish(circuit.outputs.iter().map(output).collect())
}

fn wire_of(signal: &Signal) -> Option<&Wire> {
    match signal {
        Signal::Constant(_) => None,
        Signal::Wire { wire, .. } => Some(wire),
    }
}
