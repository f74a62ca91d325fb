//! The places of the cells of a template, and the links between them.

use crate::library::template::{
    Border, Chain, Common, Connection, Edge, EdgeSource, Foot, Grid, Group, Opens, Shape, Tree,
};
use crate::library::{TypeId, Wires};

impl Grid {
    /// The cell of a row and a column, both from 1. Cells are ordered by diagonals, which run side by side.
    pub(crate) fn cell_at(&self, row: u32, column: u32) -> u32 {
        let [rows, columns] = self.size;
        let diagonal = row + column - 2;
        let before: u32 = (0..diagonal).map(|d| diagonal_len(d, rows, columns)).sum();
        let first_row = (diagonal + 1).saturating_sub(columns) + 1;
        before + row - first_row
    }

    /// The foot's cell of a column, from 1.
    pub(crate) fn foot_at(&self, column: u32) -> u32 {
        self.size[0] * self.size[1] + column - 1
    }
}

fn diagonal_len(diagonal: u32, rows: u32, columns: u32) -> u32 {
    (diagonal + 1).min(rows).min(columns).min(rows + columns - 1 - diagonal)
}

/// The cells of a shape, and the links between them.
#[derive(Default)]
pub(crate) struct Layout {
    pub(crate) cells: Vec<TypeId>,
    pub(crate) groups: Vec<Group>,
    pub(crate) blocks: usize,
    pub(crate) common: Vec<Common>,
}

impl Layout {
    pub(crate) fn new(shape: &Shape) -> Self {
        let mut layout = Layout::default();
        match shape {
            Shape::Chain(chain) => layout.chain(chain),
            Shape::Tree(tree) => layout.tree(tree),
            Shape::Grid(grid) => layout.grid(grid),
        }
        layout
    }

    fn group(&mut self, opens: Opens, edges: Vec<Edge>) {
        let blocks = edges.iter().map(|e| e.wires.len as usize).sum();
        if blocks > 0 {
            self.groups.push(Group { opens, edges, first_block: self.blocks, blocks });
            self.blocks += blocks;
        }
    }

    fn chain(&mut self, chain: &Chain) {
        let period = chain.pattern.len();
        for k in 0..chain.length {
            let ty = chain.pattern[k as usize % period];
            self.cells.push(ty);
            let mut edges = Vec::new();
            if k > 0 {
                let before = self.cells[k as usize - 1];
                edges.extend(connected(&chain.next, before, k - 1, ty, k));
            }
            if let Some(earlier) = k.checked_sub(period as u32) {
                let shared = chain.shared.iter().filter(|(of, _)| *of == ty);
                edges.extend(shared.map(|(_, wires)| same_input(earlier, k, *wires)));
            }
            self.group(Opens::Level(k), edges);
        }
    }

    fn tree(&mut self, tree: &Tree) {
        let mut parents = 0..1u32;
        self.cells.push(tree.cell);
        for level in 1..tree.levels {
            let mut edges = Vec::new();
            let first = self.cells.len() as u32;
            for parent in parents {
                for child in &tree.children {
                    let cell = self.cells.len() as u32;
                    self.cells.push(tree.cell);
                    let source = EdgeSource::Output(cell, child.from.1.start);
                    edges.push(Edge { source, cell: parent, wires: child.to.1 });
                }
            }
            self.group(Opens::Level(level), edges);
            parents = first..self.cells.len() as u32;
        }
    }

    fn grid(&mut self, grid: &Grid) {
        let [rows, columns] = grid.size;
        self.cells = vec![grid.cell; (rows * columns) as usize];
        // In the order of the cells, so that links lie as they are used.
        let mut cells: Vec<(u32, u32)> = (1..=rows).flat_map(|i| (1..=columns).map(move |j| (i, j))).collect();
        cells.sort_by_key(|(i, j)| (i + j, *i));
        for (i, j) in cells {
            self.group(Opens::Cell(i, j), grid_edges(grid, i, j));
            self.common.extend(grid_common(grid, i, j));
        }
        if let Some(foot) = &grid.foot {
            self.foot(grid, foot);
        }
    }

    fn foot(&mut self, grid: &Grid, foot: &Foot) {
        let [rows, columns] = grid.size;
        for j in 1..=columns {
            let cell = grid.foot_at(j);
            self.cells.push(foot.cell);
            if j > 1 {
                let edges = connected(&foot.right, foot.cell, cell - 1, foot.cell, cell).collect();
                self.group(Opens::Foot(j), edges);
            }
            for i in 1..=rows {
                let above = grid.cell_at(i, j);
                let edges = connected(&foot.down, grid.cell, above, foot.cell, cell).collect();
                self.group(Opens::FootUnder(i, j), edges);
            }
        }
    }
}

/// The links into a grid's cell.
fn grid_edges(grid: &Grid, i: u32, j: u32) -> Vec<Edge> {
    let (cell, ty) = (grid.cell_at(i, j), grid.cell);
    let mut edges = Vec::new();
    let mut border = |borders: &[Border]| {
        for border in borders {
            edges.extend(border.values.iter().zip(border.wires.start..).map(|(value, start)| Edge {
                source: EdgeSource::Constant(*value),
                cell,
                wires: Wires { start, len: 1 },
            }));
        }
    };
    if j == 1 {
        border(&grid.left_border);
    }
    if i == 1 {
        border(&grid.top_border);
    }
    if j > 1 {
        let left = grid.cell_at(i, j - 1);
        edges.extend(connected(&grid.right, ty, left, ty, cell));
    }
    if i > 1 {
        let above = grid.cell_at(i - 1, j);
        edges.extend(connected(&grid.down, ty, above, ty, cell));
    }
    if i > 1 && j > 1 {
        edges.extend(connected(&grid.diagonal, ty, grid.cell_at(i - 1, j - 1), ty, cell));
    }
    edges
}

/// The inputs of a grid's cell that equal those of the first cell of its row, and of its column.
fn grid_common(grid: &Grid, i: u32, j: u32) -> impl Iterator<Item = Common> {
    let cell = grid.cell_at(i, j);
    let along = |shared, first: u32| {
        let shared: &[_] = if first == cell { &[] } else { shared };
        shared.iter().map(move |wires| Common { of: first, cell, wires: *wires })
    };
    along(&grid.row_shared[..], grid.cell_at(i, 1)).chain(along(&grid.column_shared[..], grid.cell_at(1, j)))
}

fn connected(
    connections: &[Connection],
    from: TypeId,
    source: u32,
    to: TypeId,
    cell: u32,
) -> impl Iterator<Item = Edge> {
    let fitting = connections.iter().filter(move |c| c.from.0 == from && c.to.0 == to);
    fitting.map(move |c| Edge { source: EdgeSource::Output(source, c.from.1.start), cell, wires: c.to.1 })
}

fn same_input(source: u32, cell: u32, wires: Wires) -> Edge {
    Edge { source: EdgeSource::Input(source, wires.start), cell, wires }
}
