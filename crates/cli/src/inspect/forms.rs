//! The program's gates by truth table, minimised in total or in gates other than XOR.

use garblet::{
    Program,
    circuit::Circuit,
    synthesis::tables::{TableCounts, as_written, three_inputs, two_inputs},
};
use garblet_console::{
    failure::Failure,
    output::{count, table},
};

/// Published counts of a library circuit: gates, and the percentage of XORs.
struct Published {
    name: &'static str,
    two: [u64; 2],
    three: [u64; 2],
}

/// *Source*: Pinkas, Schneider, Smart and Williams 2009, section 6; example 1 without the six gates that hide an output.
const PUBLISHED: [Published; 2] = [
    Published { name: "compare-and-count(32)", two: [531, 55], three: [245, 11] },
    Published { name: "aes128", two: [33_880, 66], three: [28_216, 56] },
];

/// The counts as a table.
///
/// *Errors*: the program is too large for one circuit.
pub(super) fn text(program: &Program) -> Result<String, Failure> {
    let flat = program.flatten().map_err(|e| Failure::call(format!("{}: --published: {e}", program.name())))?;
    Ok(table(&rows(program.name(), flat.circuit())))
}

fn rows(name: &str, circuit: &Circuit) -> Vec<Vec<String>> {
    let heads = ["gates by their tables", "gates", "XOR", "other", "XOR share"];
    let ours = |form: &str, counts: TableCounts| {
        let share = format!("{:.0} %", counts.xor_percent());
        vec![form.into(), count(counts.gates), count(counts.xor), count(counts.non_xor()), share]
    };
    let published = |form: &str, [gates, share]: [u64; 2]| {
        vec![format!("{form}, published"), count(gates), String::new(), String::new(), format!("{share} %")]
    };
    let mut rows = vec![heads.map(String::from).to_vec(), ours("as written", as_written(circuit).counts())];
    let known = PUBLISHED.iter().find(|known| known.name == name);
    let (two, three) = ("two inputs, few no XOR", "two or three inputs, few");
    rows.push(ours(two, two_inputs(circuit).counts()));
    rows.extend(known.map(|known| published(two, known.two)));
    rows.push(ours(three, three_inputs(circuit).counts()));
    rows.extend(known.map(|known| published(three, known.three)));
    rows
}

#[cfg(test)]
mod tests {
    use garblet::library;

    use super::*;

    #[test]
    fn the_published_functions_are_there_and_larger_than_ours() {
        for known in &PUBLISHED {
            let program = library::find(known.name).unwrap();
            let rows = rows(program.name(), program.flatten().unwrap().circuit());
            let gates: Vec<u64> = rows[1..].iter().map(|row| row[1].replace(',', "").parse().unwrap()).collect();
            assert!(rows[3][0].ends_with("published") && gates[2] == known.two[0] && gates[4] == known.three[0]);
            assert!(gates[1] < gates[2] && gates[3] < gates[4]);
        }
    }

    #[test]
    fn other_programs_have_the_rows_of_this_machine_only() {
        let program = library::find("add(8)").unwrap();
        assert_eq!(rows(program.name(), program.flatten().unwrap().circuit()).len(), 4);
    }
}
