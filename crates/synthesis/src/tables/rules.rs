//! The best form of a gate of three inputs as gates of two.

mod table;

#[cfg(test)]
mod search;

use garblet_circuit::Wire;

use super::{Signal, TableBuilder, TableCircuit, TableGate};

use table::TABLE;

/// The most gates of a rule.
const MOST_STEPS: usize = 5;

/// The truth tables of the gates that rules use, all false where both inputs are.
const KINDS: [u8; 5] = [XOR, 0b1000, 0b0010, 0b0100, 0b1110];
const XOR: u8 = 0b0110;

/// A gate of a rule: its table, and the numbers of its operands, where 0 to 2 are the inputs and later ones the previous gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RuleStep {
    a: u8,
    b: u8,
    table: u8,
}

/// The steps of the rule for a function of three variables that is false where all are. As few steps as possible are not XOR,
/// and then as few as possible in all.
fn rule(table: u8) -> impl Iterator<Item = RuleStep> {
    unpack(TABLE[usize::from(table >> 1)])
}

/// Unpacks a rule: for each step, from the lowest bits, three bits for each operand, then three for one more than the
/// place in [`KINDS`]; zeros after the last step.
fn unpack(packed: u64) -> impl Iterator<Item = RuleStep> {
    let field = move |at: usize| (packed >> (3 * at) & 7) as u8;
    (0..MOST_STEPS).map_while(move |step| {
        let kind = usize::from(field(3 * step + 2)).checked_sub(1)?;
        Some(RuleStep { a: field(3 * step), b: field(3 * step + 1), table: *KINDS.get(kind)? })
    })
}

/// The cost of a gate written by its rule: gates other than XOR count a thousandfold.
pub(super) fn cost(gate: &TableGate) -> u32 {
    let price = |table: u8| if table == XOR { 1 } else { 1000 };
    match gate.operands().len() {
        3 => rule(gate.table).map(|step| price(step.table)).sum(),
        _ => price(gate.table),
    }
}

/// The circuit with each gate of three inputs replaced by its rule.
pub(super) fn expand(circuit: &TableCircuit) -> TableCircuit {
    let mut builder = TableBuilder::new(circuit.input_count);
    let mut moved: Vec<Signal> = (0..circuit.input_count).map(|i| Signal::of(Wire(i))).collect();
    for gate in &circuit.gates {
        let operands: Vec<Signal> = gate.operands().iter().map(|wire| moved[wire.index()]).collect();
        moved.push(match operands.len() {
            3 => by_rule(&mut builder, operands, gate.table),
            _ => builder.gate(&operands, gate.table),
        });
    }
    let output = |signal: &Signal| match *signal {
        Signal::Wire { wire, inverted } => moved[wire.index()].invert_if(inverted),
        constant => constant,
    };
    builder.finish(circuit.outputs.iter().map(output).collect())
}

fn by_rule(builder: &mut TableBuilder, mut signals: Vec<Signal>, table: u8) -> Signal {
    for step in rule(table) {
        let operands = [step.a, step.b].map(|at| signals[usize::from(at)]);
        signals.push(builder.gate(&operands, step.table));
    }
    signals[signals.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIABLES: [u8; 3] = [0xaa, 0xcc, 0xf0];

    /// The truth table that the steps compute.
    fn computed(steps: impl Iterator<Item = RuleStep>) -> u8 {
        let mut values = VARIABLES.to_vec();
        for RuleStep { a, b, table } in steps {
            let at = |point: usize| values[usize::from(a)] >> point & 1 | (values[usize::from(b)] >> point & 1) << 1;
            values.push((0..8).fold(0, |value, point| value | (table >> at(point) & 1) << point));
        }
        values[values.len() - 1]
    }

    fn trivial(table: u8) -> bool {
        table == 0 || VARIABLES.contains(&table)
    }

    #[test]
    fn every_rule_computes_its_function() {
        for table in (0..=u8::MAX).step_by(2).filter(|&table| !trivial(table)) {
            assert_eq!(computed(rule(table)), table);
        }
    }

    #[test]
    fn an_even_function_takes_one_gate_that_is_no_xor_and_at_most_three_xors() {
        for table in (0..=u8::MAX).step_by(2).filter(|&table| !trivial(table)) {
            let (xors, others): (Vec<_>, Vec<_>) = rule(table).partition(|step| step.table == XOR);
            let most = if table.count_ones() % 2 == 0 { 1 } else { 2 };
            assert!(others.len() <= most && xors.len() <= 3, "{table:#010b}: {} and {}", others.len(), xors.len());
        }
    }

    #[test]
    fn the_table_is_what_the_search_finds() {
        assert_eq!(search::search(), TABLE, "the table should be:\n{}", search::text());
    }
}
