//! Templates: components linked in advance in a shape, any initial part of which can be used.
//!
//! A template is the largest chain, tree or grid of its kind. Its links are encrypted one by one. The keys hang together
//! by one-way functions so that one short reveal opens the links of a part and no others:
//!
//! - *chain*: `g_N` uniform, `g_i = H(g_(i+1))`; the links into cell `i` open with a key made of `g_i`, so that `g_n`
//!   opens the first `n` cells;
//! - *tree*: the same by levels, the root's children being level 1;
//! - *grid*: `r_i = H(r_(i+1))`, `c_j = H(c_(j+1))`; the links into cell `(i, j)` open with masks made of `r_i` and `c_j`,
//!   so that `r_a` and `c_b` open the rectangle of `a` rows and `b` columns;
//! - a grid's *foot*, a chain of other cells under its last row, which may be any: the links from row `i` into foot cell
//!   `j` open with masks made of a uniform `f_i` and of `c_j`, those along the foot with ones of a uniform `f` and of `c_j`.
//!
//! What every cell of a row or of a column takes has no links there: these cells are garbled with the same labels, as gates
//! are that one wire of a circuit feeds. They belong together for good, so that those that are left over are of no use;
//! cells of a grid without such inputs, of chains and of trees serve alone afterwards.

mod layout;

use self::layout::Layout;
use crate::library::{TypeId, Wires};

/// A link between neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Connection {
    /// Type of the neighbour, and which of its outputs.
    pub from: (TypeId, Wires),
    /// Type of the cell, and which of its inputs.
    pub to: (TypeId, Wires),
}

/// Inputs of a type that always have the same constant value on a border.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Border {
    /// The inputs.
    pub wires: Wires,
    /// Their values.
    pub values: Vec<bool>,
}

/// The layout and the links of the cells of a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One after another; the types repeat.
    Chain(Chain),
    /// Every cell is fed by several of the same type.
    Tree(Tree),
    /// Rows and columns of one type.
    Grid(Grid),
}

/// A chain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chain {
    /// Types of the first cells, then the same again.
    pub pattern: Vec<TypeId>,
    /// Most cells.
    pub length: u32,
    /// Links from a cell to the next, by their types.
    pub next: Vec<Connection>,
    /// Inputs that are fed like those of the cell one pattern before.
    pub shared: Vec<(TypeId, Wires)>,
}

/// A tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tree {
    /// The type of every cell.
    pub cell: TypeId,
    /// Most levels.
    pub levels: u32,
    /// Links from each child.
    pub children: Vec<Connection>,
}

/// A grid.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// The type of every cell.
    pub cell: TypeId,
    /// Most rows and columns.
    pub size: [u32; 2],
    /// Links from the cell on the left.
    pub right: Vec<Connection>,
    /// Links from the cell above.
    pub down: Vec<Connection>,
    /// Links from the cell on the left above.
    pub diagonal: Vec<Connection>,
    /// Inputs that are the same along a row, and have the same labels.
    pub row_shared: Vec<Wires>,
    /// Inputs that are the same along a column, and have the same labels.
    pub column_shared: Vec<Wires>,
    /// Constants of the first column.
    pub left_border: Vec<Border>,
    /// Constants of the first row.
    pub top_border: Vec<Border>,
    /// The foot that hangs under the last row.
    pub foot: Option<Foot>,
}

/// A chain of cells under the last row of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Foot {
    /// Their type.
    pub cell: TypeId,
    /// Links from the grid's cell above.
    pub down: Vec<Connection>,
    /// Links from the foot's cell on the left.
    pub right: Vec<Connection>,
}

/// The part that opens a group of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opens {
    /// Part of a chain or tree at least that long.
    Level(u32),
    /// A rectangle that has cell (row, column), from 1.
    Cell(u32, u32),
    /// A foot under exactly that row and at least that long.
    FootUnder(u32, u32),
    /// A foot at least that long.
    Foot(u32),
}

/// The source of a template's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeSource {
    /// Outputs of a cell, from a wire on.
    Output(u32, u32),
    /// Inputs of a cell, from a wire on.
    Input(u32, u32),
    /// A constant, one wire.
    Constant(bool),
}

/// A link within a template, into inputs of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The source of the link.
    pub source: EdgeSource,
    /// The cell that it feeds.
    pub cell: u32,
    /// The inputs of this cell.
    pub wires: Wires,
}

/// Inputs of a cell that carry the same values as an earlier cell's, with the same labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common {
    /// The first cell that has them.
    pub of: u32,
    /// The cell.
    pub cell: u32,
    /// The inputs, of both.
    pub wires: Wires,
}

/// Links that open together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The part that opens them.
    pub opens: Opens,
    /// The links.
    pub edges: Vec<Edge>,
    /// The position of their first block among those of the template.
    pub first_block: usize,
    /// The number of their blocks.
    pub blocks: usize,
}

/// The part of a template that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// So many cells of a chain, or levels of a tree.
    Levels(u32),
    /// A rectangle of this many rows and columns, with or without the foot.
    Rectangle(u32, u32, bool),
}

impl Part {
    /// Tells whether a group of links is opened.
    pub(crate) fn opens(self, group: Opens) -> bool {
        match (self, group) {
            // Level 1 of a tree is the root's children, level 1 of a chain its second cell: both are there from 2 on.
            (Part::Levels(n), Opens::Level(level)) => level < n,
            (Part::Rectangle(a, b, _), Opens::Cell(i, j)) => i <= a && j <= b,
            (Part::Rectangle(a, b, true), Opens::FootUnder(i, j)) => i == a && j <= b,
            (Part::Rectangle(_, b, true), Opens::Foot(j)) => j <= b,
            _ => false,
        }
    }

    /// Blocks that open it.
    pub(crate) fn reveal_blocks(self) -> usize {
        match self {
            Part::Levels(_) => 1,
            Part::Rectangle(_, _, false) => 2,
            Part::Rectangle(_, _, true) => 4,
        }
    }
}

/// A shape, and how many of its kind are kept.
#[derive(Clone, Debug)]
pub struct Template {
    /// Its name in the library.
    pub name: String,
    /// The number kept ready.
    pub count: u64,
    shape: Shape,
    cells: Vec<TypeId>,
    groups: Vec<Group>,
    blocks: usize,
    common: Vec<Common>,
}

impl Template {
    /// Lays a template out.
    pub fn new(name: impl Into<String>, count: u64, shape: Shape) -> Self {
        let Layout { cells, groups, blocks, common } = Layout::new(&shape);
        Template { name: name.into(), count, shape, cells, groups, blocks, common }
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The type of each cell. Cells that can run at the same time follow one another.
    pub fn cells(&self) -> &[TypeId] {
        &self.cells
    }

    /// The links in groups that open together.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Blocks of all links.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Inputs that have the labels of other inputs, by the cell that has them.
    pub fn common(&self) -> &[Common] {
        &self.common
    }

    /// Tells whether leftover cells can serve alone: no two of them share labels.
    pub(crate) fn is_severable(&self) -> bool {
        self.common.is_empty()
    }

    /// A hash of the shape.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("garblet 2026 component template v1");
        // The layout has everything: cells by type, and links with their keys.
        for cell in &self.cells {
            hash.update(&cell.0.to_le_bytes());
        }
        for group in &self.groups {
            hash.update(format!("{:?}", (group.opens, &group.edges)).as_bytes());
        }
        hash.update(format!("{:?}", (&self.common, &self.shape)).as_bytes());
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: TypeId = TypeId(0);

    fn grid(rows: u32, columns: u32) -> Grid {
        let out = |start| Wires { start, len: 2 };
        let right = Connection { from: (CELL, out(0)), to: (CELL, out(4)) };
        let down = Connection { from: (CELL, out(2)), to: (CELL, out(6)) };
        let foot = Foot {
            cell: TypeId(1),
            down: vec![Connection { from: (CELL, out(2)), to: (TypeId(1), out(0)) }],
            right: vec![Connection { from: (TypeId(1), out(0)), to: (TypeId(1), out(2)) }],
        };
        Grid {
            cell: CELL,
            size: [rows, columns],
            right: vec![right],
            down: vec![down],
            diagonal: Vec::new(),
            row_shared: vec![out(0)],
            column_shared: vec![out(2)],
            left_border: vec![Border { wires: out(4), values: vec![true, false] }],
            top_border: Vec::new(),
            foot: Some(foot),
        }
    }

    #[test]
    fn cells_of_a_grid_are_numbered_by_diagonals_without_gaps() {
        for (rows, columns) in [(1, 1), (1, 5), (4, 1), (3, 5), (5, 3), (4, 4)] {
            let grid = grid(rows, columns);
            let mut seen = Vec::new();
            for i in 1..=rows {
                for j in 1..=columns {
                    seen.push((grid.cell_at(i, j), i + j, i));
                }
            }
            seen.sort_unstable();
            assert!(seen.iter().enumerate().all(|(k, cell)| cell.0 == k as u32), "{rows} x {columns}");
            assert!(seen.windows(2).all(|pair| (pair[0].1, pair[0].2) < (pair[1].1, pair[1].2)));
        }
    }

    #[test]
    fn a_rectangle_opens_the_links_into_its_cells_and_no_others() {
        let grid = grid(6, 5);
        let template = Template::new("grid", 1, Shape::Grid(grid.clone()));
        for (a, b, foot) in [(1, 1, false), (3, 4, false), (6, 5, true), (2, 5, true)] {
            let part = Part::Rectangle(a, b, foot);
            for group in template.groups() {
                let inside = |cell: u32| {
                    (1..=a).any(|i| (1..=b).any(|j| grid.cell_at(i, j) == cell))
                        || foot && (1..=b).any(|j| grid.foot_at(j) == cell)
                };
                for edge in &group.edges {
                    let source = match edge.source {
                        EdgeSource::Output(cell, _) | EdgeSource::Input(cell, _) => inside(cell),
                        EdgeSource::Constant(_) => true,
                    };
                    let mut expected = inside(edge.cell) && source;
                    if let Opens::FootUnder(row, _) = group.opens {
                        expected &= row == a;
                    }
                    assert_eq!(part.opens(group.opens), expected, "{part:?} {:?}", group.opens);
                }
            }
        }
    }

    #[test]
    fn chains_repeat_their_pattern_and_share_inputs_one_pattern_apart() {
        let (a, b) = (TypeId(0), TypeId(1));
        let wires = |start| Wires { start, len: 3 };
        let link = |from, to| Connection { from: (from, wires(0)), to: (to, wires(0)) };
        let chain = Chain {
            pattern: vec![a, b, b],
            length: 7,
            next: vec![link(a, b), link(b, b), link(b, a)],
            shared: vec![(b, wires(3))],
        };
        let template = Template::new("chain", 1, Shape::Chain(chain));
        assert_eq!(template.cells(), [a, b, b, a, b, b, a]);
        let levels: Vec<usize> = template.groups().iter().map(|g| g.edges.len()).collect();
        assert_eq!(levels, [1, 1, 1, 2, 2, 1]);
        assert_eq!(template.groups()[3].edges[1].source, EdgeSource::Input(1, 3));
        let opened = |n| template.groups().iter().filter(|g| Part::Levels(n).opens(g.opens)).count();
        assert_eq!([1, 2, 7].map(opened), [0, 1, 6]);
    }

    #[test]
    fn trees_open_by_levels() {
        let wires = |start| Wires { start, len: 4 };
        let child = |start| Connection { from: (CELL, wires(0)), to: (CELL, wires(start)) };
        let tree = Tree { cell: CELL, levels: 4, children: vec![child(0), child(4)] };
        let template = Template::new("tree", 1, Shape::Tree(tree));
        assert_eq!(template.cells().len(), 15);
        let edges: Vec<usize> = template.groups().iter().map(|g| g.edges.len()).collect();
        assert_eq!(edges, [2, 4, 8]);
        assert_eq!(template.blocks(), 14 * 4);
    }
}
