//! Keys of prepared links: how they hang together, and the masks that they make.

use garblet_primitives::{Aes128, Block, add_keystreams};

use super::template::{Opens, Part, Shape, Template};

/// A one-way function on blocks, one for each use.
pub(super) fn one_way(purpose: &str, block: Block) -> Block {
    let mut hash = blake3::Hasher::new_derive_key(purpose);
    hash.update(&block.to_bytes());
    first_block(&hash)
}

fn first_block(hash: &blake3::Hasher) -> Block {
    let mut bytes = [0; 16];
    hash.finalize_xof().fill(&mut bytes);
    Block::from_bytes(bytes)
}

/// A seed for one purpose, from the seed of everything.
pub(super) fn derive(seed: Block, purpose: &str, number: u32) -> Block {
    let mut hash = blake3::Hasher::new_derive_key("garblet 2026 components seed v1");
    hash.update(&seed.to_bytes()).update(&number.to_le_bytes()).update(purpose.as_bytes());
    first_block(&hash)
}

const CHAIN: &str = "garblet 2026 components chain of keys v2";

/// The chain that ends with `top`: element `i` from 0 is `E(x) + x` of element `x = i + 1`, under a public key.
///
/// In the ideal cipher model that is one-way, and it costs less than a hash: long chains are walked online.
fn chain(top: Block, len: usize) -> Vec<Block> {
    let public = Aes128::new(first_block(&blake3::Hasher::new_derive_key(CHAIN)));
    let mut chain = vec![top];
    while chain.len() < len {
        let last = chain[chain.len() - 1];
        chain.push(public.encrypt(last) ^ last);
    }
    chain.reverse();
    chain
}

/// What opens a part of a template.
#[derive(Clone)]
pub(super) enum Reveal {
    /// `g_n`.
    Levels(Block),
    /// `r_a`, `c_b`, and for the foot `f_a` and the key along it.
    Rectangle([Block; 2], Option<[Block; 2]>),
}

impl Reveal {
    /// As blocks on the wire.
    pub(super) fn blocks(&self) -> Vec<Block> {
        match self {
            Reveal::Levels(key) => vec![*key],
            Reveal::Rectangle(keys, foot) => keys.iter().chain(foot.iter().flatten()).copied().collect(),
        }
    }

    /// From as many blocks as the part takes.
    pub(super) fn from_blocks(part: Part, blocks: &[Block]) -> Option<Self> {
        match (part, blocks) {
            (Part::Levels(_), [key]) => Some(Reveal::Levels(*key)),
            (Part::Rectangle(_, _, false), [row, column]) => Some(Reveal::Rectangle([*row, *column], None)),
            (Part::Rectangle(_, _, true), [row, column, under, along]) => {
                Some(Reveal::Rectangle([*row, *column], Some([*under, *along])))
            }
            _ => None,
        }
    }
}

/// The keys of all links of a template, or of the part that was revealed.
pub(super) enum LinkKeys {
    Levels(Vec<Block>),
    Rectangle(GridKeys),
}

/// Those of a grid: a group of links has the key of a row and that of a column, which together make its masks.
pub(super) struct GridKeys {
    /// Those that are known: of the links into the cells of each row, of those into the foot under each, and of those along
    /// the foot. Row 0 is none of the grid's.
    rows: Vec<Option<Aes128>>,
    row_count: usize,
    columns: Vec<Block>,
}

/// The secrets of one template: as many blocks as [`secret_blocks`] says.
pub(super) struct TemplateSecrets<'a>(pub(super) &'a [Block]);

/// Uniform blocks that a template's keys are made of.
pub(super) fn secret_blocks(template: &Template) -> usize {
    match template.shape() {
        Shape::Chain(_) | Shape::Tree(_) => 1,
        // The ends of two chains, a key along the foot, and one for the foot under each row.
        Shape::Grid(grid) => 3 + grid.size[0] as usize,
    }
}

impl TemplateSecrets<'_> {
    /// What opens a part.
    pub(super) fn reveal(&self, template: &Template, part: Part) -> Option<Reveal> {
        let at = |top: Block, len: u32, n: u32| chain(top, len as usize).get(n as usize).copied();
        match (template.shape(), part, self.0) {
            (Shape::Chain(shape), Part::Levels(n), [top]) => {
                at(*top, shape.length, n.checked_sub(1)?).map(Reveal::Levels)
            }
            (Shape::Tree(shape), Part::Levels(n), [top]) => {
                at(*top, shape.levels, n.checked_sub(1)?).map(Reveal::Levels)
            }
            (Shape::Grid(shape), Part::Rectangle(a, b, foot), [rows, columns, along, under @ ..]) => {
                let [most_rows, most_columns] = shape.size;
                let keys = [at(*rows, most_rows + 1, a)?, at(*columns, most_columns + 1, b)?];
                let foot = match foot {
                    true => Some([*under.get(a.checked_sub(1)? as usize)?, *along]),
                    false => None,
                };
                Some(Reveal::Rectangle(keys, foot))
            }
            _ => None,
        }
    }

    /// The keys of all links.
    pub(super) fn all(&self, template: &Template) -> Option<LinkKeys> {
        match (template.shape(), self.0) {
            (Shape::Chain(shape), [top]) => Some(LinkKeys::Levels(chain(*top, shape.length as usize))),
            (Shape::Tree(shape), [top]) => Some(LinkKeys::Levels(chain(*top, shape.levels as usize))),
            (Shape::Grid(shape), [rows, columns, along, under @ ..]) => {
                let [most_rows, most_columns] = shape.size.map(|n| n as usize + 1);
                let under = std::iter::once(None).chain(under.iter().map(|key| Some(*key)));
                let (rows, columns) = (chain(*rows, most_rows), chain(*columns, most_columns));
                Some(LinkKeys::Rectangle(GridKeys::new(&rows, columns, under, Some(*along))))
            }
            _ => None,
        }
    }
}

impl LinkKeys {
    /// The keys that a reveal opens.
    pub(super) fn revealed(part: Part, reveal: &Reveal) -> Option<Self> {
        match (part, reveal) {
            (Part::Levels(n), Reveal::Levels(key)) => Some(LinkKeys::Levels(chain(*key, n as usize))),
            (Part::Rectangle(a, b, _), Reveal::Rectangle([rows, columns], foot)) => {
                let [a, b] = [a as usize + 1, b as usize + 1];
                let under = (1..a).map(|_| None).chain([foot.map(|[key, _]| key)]);
                let along = foot.map(|[_, along]| along);
                Some(LinkKeys::Rectangle(GridKeys::new(&chain(*rows, a), chain(*columns, b), under, along)))
            }
            _ => None,
        }
    }

    /// Adds the masks of groups of links to their blocks, which masks them or unmasks them.
    ///
    /// *Shape*: `groups` are what opens each and how many blocks it has; the blocks follow one another.
    ///
    /// Returns whether all keys are there; if not, no block has changed.
    pub(super) fn mask(&self, groups: &[(Opens, usize)], blocks: &mut [Block]) -> bool {
        if groups.iter().map(|(_, length)| length).sum::<usize>() != blocks.len() {
            return false;
        }
        match self {
            LinkKeys::Levels(keys) => mask_levels(keys, groups, blocks),
            LinkKeys::Rectangle(keys) => keys.mask(groups, blocks),
        }
        .is_some()
    }
}

fn mask_levels(keys: &[Block], groups: &[(Opens, usize)], blocks: &mut [Block]) -> Option<()> {
    let key = |opens: Opens| match opens {
        Opens::Level(level) => keys.get(level as usize).copied(),
        _ => None,
    };
    let keys = groups.iter().map(|(opens, _)| key(*opens)).collect::<Option<Vec<Block>>>()?;
    let lengths: Vec<usize> = groups.iter().map(|(_, length)| *length).collect();
    add_keystreams(&keys, &lengths, blocks);
    Some(())
}

impl GridKeys {
    fn new(
        cells: &[Block],
        columns: Vec<Block>,
        under: impl Iterator<Item = Option<Block>>,
        along: Option<Block>,
    ) -> Self {
        let row_count = cells.len();
        let foot = under.chain([along]).map(|key| key.map(Aes128::new));
        GridKeys { rows: Aes128::many(cells).into_iter().map(Some).chain(foot).collect(), row_count, columns }
    }

    /// The row and the column of a group, if their keys are there.
    fn of(&self, opens: Opens) -> Option<(usize, usize)> {
        let in_range = |row: u32| (row as usize) < self.row_count;
        let (row, column) = match opens {
            Opens::Cell(i, j) if in_range(i) => (i as usize, j as usize),
            Opens::FootUnder(i, j) if in_range(i) => (self.row_count + i as usize, j as usize),
            Opens::Foot(j) => (2 * self.row_count, j as usize),
            _ => return None,
        };
        let is_there = self.rows.get(row)?.is_some() && column < self.columns.len();
        is_there.then_some((row, column))
    }

    fn mask(&self, groups: &[(Opens, usize)], blocks: &mut [Block]) -> Option<()> {
        let at = groups.iter().map(|(opens, _)| self.of(*opens)).collect::<Option<Vec<_>>>()?;
        let mut widths = vec![0; self.rows.len()];
        for ((row, _), (_, length)) in at.iter().zip(groups) {
            widths[*row] = widths[*row].max(*length);
        }
        // A row at a time, for all of its columns.
        let of_row = |(key, width): (&Option<Aes128>, &usize)| match key {
            Some(key) => joined(key, &self.columns, *width),
            None => Vec::new(),
        };
        let masks: Vec<Vec<Block>> = self.rows.iter().zip(&widths).map(of_row).collect();
        let mut rest = blocks;
        for ((row, column), (_, length)) in at.into_iter().zip(groups) {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(*length);
            let own = &masks[row][column * widths[row]..][..*length];
            now.iter_mut().zip(own).for_each(|(block, mask)| *block ^= *mask);
            rest = later;
        }
        Some(())
    }
}

/// The masks that a row's key makes with those of columns: so many for each column.
///
/// Mask `k` of keys `a` and `b` is `E(a, x) + x` with `x = b + k`: in the ideal cipher model a random function of all three.
fn joined(row: &Aes128, columns: &[Block], count: usize) -> Vec<Block> {
    let numbered = |column: &Block| {
        let column = *column;
        (0..count as u128).map(move |k| column ^ Block::from_u128(k))
    };
    let mut masks: Vec<Block> = columns.iter().flat_map(numbered).collect();
    row.encrypt_batch(&mut masks);
    masks.iter_mut().zip(columns.iter().flat_map(numbered)).for_each(|(mask, x)| *mask ^= x);
    masks
}
