//! The search that made the table.

use super::{KINDS, MOST_STEPS, RuleStep, XOR};

/// The most gates other than XOR, and the most XORs, of a rule.
const BOUNDS: (usize, usize) = (2, 3);

/// For each function of three variables that is false where all are, the first of the shortest rules.
pub(super) fn search() -> [u64; 128] {
    let mut search = Search { table: [0; 128], known: [false; 128], steps: Vec::new(), values: vec![0xaa, 0xcc, 0xf0] };
    [0, 0xaa, 0xcc, 0xf0].iter().for_each(|&trivial: &usize| search.known[trivial >> 1] = true);
    for others in 0..=BOUNDS.0 {
        for xors in 0..=BOUNDS.1 {
            search.extend(others, xors);
        }
    }
    assert!(search.known.iter().all(|&known| known), "every function has a program");
    search.table
}

struct Search {
    table: [u64; 128],
    known: [bool; 128],
    steps: Vec<RuleStep>,
    values: Vec<u8>,
}

impl Search {
    /// Tries all programs with `more` further gates.
    fn extend(&mut self, others: usize, xors: usize) {
        if others + xors == 0 {
            let at = usize::from(self.values[self.values.len() - 1] >> 1);
            if !self.known[at] {
                self.known[at] = true;
                self.table[at] = pack(&self.steps);
            }
            return;
        }
        for b in 1..self.values.len() as u8 {
            for a in 0..b {
                for table in KINDS.into_iter().filter(|&table| if table == XOR { xors > 0 } else { others > 0 }) {
                    let value = applied(table, self.values[usize::from(a)], self.values[usize::from(b)]);
                    if self.values.contains(&value) || value == 0 {
                        continue;
                    }
                    self.steps.push(RuleStep { a, b, table });
                    self.values.push(value);
                    match table {
                        XOR => self.extend(others, xors - 1),
                        _ => self.extend(others - 1, xors),
                    }
                    self.values.pop();
                    self.steps.pop();
                }
            }
        }
    }
}

/// A gate of two inputs, applied to the tables of these.
fn applied(table: u8, a: u8, b: u8) -> u8 {
    let term = |point: u8, value: u8| if table >> point & 1 == 1 { value } else { 0 };
    term(1, a & !b) | term(2, !a & b) | term(3, a & b)
}

/// The inverse of [`unpack`](super::unpack).
fn pack(steps: &[RuleStep]) -> u64 {
    assert!(steps.len() <= MOST_STEPS);
    steps.iter().enumerate().fold(0, |packed, (i, step)| {
        let kind = KINDS.iter().position(|&kind| kind == step.table).expect("a kind of rules") as u64 + 1;
        packed | (u64::from(step.a) | u64::from(step.b) << 3 | kind << 6) << (9 * i)
    })
}

/// The lines of the table's source.
pub(super) fn text() -> String {
    let line = |entries: &[u64]| entries.iter().map(|entry| format!(" {entry:#x},")).collect::<String>();
    search().chunks(8).map(|entries| format!("   {}\n", line(entries))).collect()
}
