//! Edit distance, as a grid of one small component.
//!
//! The table of distances D is never stored. Its neighbours differ by -1, 0 or 1, and a cell turns the differences on
//! its left and top edges into those on its right and bottom edges. With t = D(i, j) - D(i-1, j-1), which is 0 if the
//! symbols are equal or one of the edges falls, else 1, the right edge is t minus the top one and the bottom edge is t minus
//! the left one. D(n, m) is the number of ones among the t on a diagonal, plus the rest of the way along the border.
//!
//! *Source*: Masek and Paterson 1980 for the differences, Hyyrö 2003 for t; the unary form of the edges is ours.

use garblet_circuit::{
    CircuitError, Component, ComponentId, InputId, InstanceId, Link, Party, Port, Program, Recipients, Source, Type,
};

use super::member::{Build, Member, Parameter};
use crate::builder::{Bit, BitString, CircuitBuilder, Integer, ProgramBuilder, Unsigned};

/// - `levenshtein(n, m, symbol bits)`: the least number of insertions, deletions and substitutions that turn party 0's
///   n symbols into party 1's m. Each of the n m cells takes `bits` + 3 AND gates. The final sum takes min(n, m) minus
///   the ones of that number in binary if n = m, and about as many otherwise.
/// - `levenshtein-cell(symbol bits)`: the cell, `bits` + 3.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "levenshtein",
        summary: "edit distance of party 0's n symbols and party 1's m symbols of `bits` bits each",
        parameters: &[
            Parameter::new("n", 32, 1, 1 << 16),
            Parameter::new("m", 32, 1, 1 << 16),
            Parameter::new("bits", 2, 1, 64),
        ],
        ands: "n m (bits + 3) + s, s about min(n, m)",
        and_count: |p| p[0] * p[1] * (p[2] + 3) + sum_ands(p[0].min(p[1]), p[0].abs_diff(p[1])),
        build: Build::Program { size: |p| 3 * p[0] * p[1], build: levenshtein },
    },
    Member {
        name: "levenshtein-cell",
        summary: "one cell of the edit distance table, as differences along its edges",
        parameters: &[Parameter::new("bits", 2, 1, 64)],
        ands: "bits + 3",
        and_count: |p| p[0] + 3,
        build: Build::Component { owners: &[Party(0), Party(1), Party(0), Party(1)], build: |c, p| cell(c, p[0]) },
    },
];

/// Wires of a difference, as its value plus one, in unary: both set is +1, only the first set is 0, none set is -1.
const EDGE: u32 = 2;

/// Bits of a distance of at most `most`.
fn width(most: u64) -> u64 {
    u64::from(u64::BITS - most.leading_zeros())
}

fn cell(mut c: CircuitBuilder, bits: u32) -> Result<Component, CircuitError> {
    let row: Unsigned = c.input("row_symbol", Type::Unsigned(bits));
    let column: Unsigned = c.input("column_symbol", Type::Unsigned(bits));
    let left: BitString = c.input("left", Type::Bits(EDGE));
    let top: BitString = c.input("top", Type::Bits(EDGE));

    let equal = c.equal(&row, &column);
    let (left, top) = ([left.0[0], left.0[1]], [top.0[0], top.0[1]]);
    let step = c.and(!equal, left[0]);
    let step = c.and(step, top[0]);
    let right = step_less(&mut c, step, top);
    let bottom = step_less(&mut c, step, left);
    c.output("right", &right);
    c.output("bottom", &bottom);
    c.finish()
}

/// `step` minus an edge, where the step is 0 if the edge falls.
fn step_less(c: &mut CircuitBuilder, step: Bit, [level, rising]: [Bit; 2]) -> BitString {
    let both = c.and(step, rising);
    // It falls if the edge rises and there is no step, and rises if the edge falls or is level under a step.
    let falls = c.xor(rising, both);
    let rises = c.parity(&[!level, step, both]);
    BitString(vec![!falls, rises])
}

/// The sum of the steps along a diagonal of this many cells, and of `border` steps before it.
fn diagonal_sum(p: &ProgramBuilder, cells: u32, border: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("diagonal-sum({cells}, {border})"));
    let width = width(u64::from(cells) + u64::from(border)) as usize;
    let mut terms = vec![Unsigned::constant(border.into(), width)];
    for k in 0..cells {
        let top: BitString = c.input(format!("top{k}"), Type::Bits(EDGE));
        let right: BitString = c.input(format!("right{k}"), Type::Bits(EDGE));
        // The step is the sum of the two edges and 0 or 1, so it is the parity of the four wires.
        terms.push(Unsigned::new(vec![c.parity(&[top.0[0], top.0[1], right.0[0], right.0[1]])]));
    }
    let distance = c.sum(&terms, width);
    c.output("distance", &distance);
    c.finish()
}

/// AND gates of [`diagonal_sum`]: half of each column's bits, rounded down; a lone bit and a constant one carry for free.
fn sum_ands(cells: u64, border: u64) -> u64 {
    let (mut ands, mut bits) = (0, cells);
    for column in 0..width(cells + border) - 1 {
        let constant = border >> column & 1;
        ands += bits / 2;
        bits = bits / 2 + (bits & constant);
    }
    ands
}

fn levenshtein(p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, m, bits] = parameters else { unreachable!("three parameters were checked") };
    let mut grid = Grid::new(p, n, m, bits)?;
    let mut links = Vec::new();
    for (i, j) in (0..n).flat_map(|i| (0..m).map(move |j| (i, j))) {
        links.clear();
        links.extend([grid.symbol(grid.rows, i), grid.symbol(grid.columns, j), grid.left(i, j), grid.top(i, j)]);
        grid.program.add_instance(grid.cell, &links)?;
    }
    grid.finish()
}

/// The program of the grid; cell (i, j) is instance `i m + j`.
struct Grid {
    program: Program,
    cell: ComponentId,
    sum: Component,
    rows: InputId,
    columns: InputId,
    n: u32,
    m: u32,
    bits: u32,
}

impl Grid {
    fn new(p: ProgramBuilder, n: u32, m: u32, bits: u32) -> Result<Self, CircuitError> {
        let cell = cell(p.circuit(format!("levenshtein-cell({bits})")), bits)?;
        let sum = diagonal_sum(&p, n.min(m), n.abs_diff(m))?;
        let mut program = p.finish();
        let cell = program.add_component(cell);
        let rows = program.add_input(Port::new("a", symbols(n, bits)), Party(0))?;
        let columns = program.add_input(Port::new("b", symbols(m, bits)), Party(1))?;
        Ok(Grid { program, cell, sum, rows, columns, n, m, bits })
    }

    fn symbol(&self, of: InputId, k: u32) -> Link {
        Link { source: Source::Input(of), start: k * self.bits, len: self.bits }
    }

    fn left(&self, i: u32, j: u32) -> Link {
        if j == 0 { Self::border() } else { self.right(i, j - 1) }
    }

    fn top(&self, i: u32, j: u32) -> Link {
        if i == 0 { Self::border() } else { Link { start: EDGE, ..self.right(i - 1, j) } }
    }

    fn right(&self, i: u32, j: u32) -> Link {
        Link { source: Source::Instance(InstanceId(i * self.m + j)), start: 0, len: EDGE }
    }

    /// All edges on the border rise.
    fn border() -> Link {
        Link { source: Source::Constant(true), start: 0, len: EDGE }
    }

    fn finish(mut self) -> Result<Program, CircuitError> {
        let cells = self.n.min(self.m);
        let ports = self.sum.outputs().to_vec();
        let sum = self.program.add_component(self.sum.clone());
        let mut links = Vec::new();
        for k in 0..cells {
            let (i, j) = (self.n - cells + k, self.m - cells + k);
            links.extend([self.top(i, j), self.right(i, j)]);
        }
        let sum = self.program.add_instance(sum, &links)?;
        let link = self.program.instance_link(sum);
        for port in ports {
            self.program.add_output(port, Recipients::All, vec![link])?;
        }
        Ok(self.program)
    }
}

/// The type of a string of symbols: a byte string if they are bytes.
pub(super) fn symbols(count: u32, bits: u32) -> Type {
    if bits == 8 { Type::Bytes(count) } else { Type::Array(Box::new(Type::Unsigned(bits)), count) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{builder::simulate, library};

    fn plain(a: &[u8], b: &[u8]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut next = vec![i + 1];
            for (j, y) in b.iter().enumerate() {
                next.push((row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1));
            }
            row = next;
        }
        row[b.len()]
    }

    fn distance(a: &[u8], b: &[u8], bits: u32) -> u128 {
        let (n, m) = (a.len() as u64, b.len() as u64);
        let program = library::find(&format!("levenshtein({n}, {m}, {bits})")).unwrap();
        assert_eq!(program.instance_count() as u64, n * m + 1);
        let cells = n * m * u64::from(bits + 3);
        let ands = program.stats().and;
        assert_eq!(ands, cells + sum_ands(n.min(m), n.abs_diff(m)));
        if n == m {
            assert_eq!(ands, cells + n - u64::from(n.count_ones()));
        }
        let wires =
            |text: &[u8]| text.iter().flat_map(|&s| simulate::to_bits(s.into(), bits as usize)).collect::<Vec<_>>();
        simulate::from_bits(&simulate::program(&program, &[wires(a), wires(b)])[0])
    }

    #[test]
    fn known_distances() {
        assert_eq!(distance(b"kitten", b"sitting", 8), 3);
        assert_eq!(distance(b"intention", b"execution", 8), 5);
        assert_eq!(distance(b"a", b"b", 8), 1);
        assert_eq!(distance(b"same", b"same", 8), 0);
        assert_eq!(distance(b"abcdefgh", b"x", 8), 8);
    }

    proptest! {
        #[test]
        fn against_the_plain_table(
            a in proptest::collection::vec(0u8..4, 1..20),
            b in proptest::collection::vec(0u8..4, 1..20),
        ) {
            prop_assert_eq!(distance(&a, &b, 2), plain(&a, &b) as u128);
        }
    }
}
