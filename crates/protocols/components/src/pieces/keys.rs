//! Keys of prepared links: their relations, and the masks made from them.

use garblet_primitives::{Aes128, Block, MaskedRun, add_keystreams};
use zeroize::Zeroizing;

use crate::library::template::{Opens, Part, Shape, Template};

/// A one-way function on blocks, one for each use.
pub(crate) fn one_way(purpose: &str, block: Block) -> Block {
    let mut hash = blake3::Hasher::new_derive_key(purpose);
    hash.update(&block.to_bytes());
    Block::from_digest(hash.finalize().as_bytes())
}

/// A seed for one purpose, derived from the main seed.
pub(crate) fn derive(seed: Block, purpose: &str, number: u32) -> Block {
    let mut hash = blake3::Hasher::new_derive_key("garblet 2026 components seed v1");
    hash.update(&seed.to_bytes()).update(&number.to_le_bytes()).update(purpose.as_bytes());
    Block::from_digest(hash.finalize().as_bytes())
}

const CHAIN: &str = "garblet 2026 components chain of keys v2";

/// The chain that ends with `top`: element `i` from 0 is `E(x) + x` of element `x = i + 1`, under a public key.
///
/// In the ideal cipher model that is one-way. It costs less than a hash, which matters because long chains are walked online.
fn chain(top: Block, len: usize) -> Zeroizing<Vec<Block>> {
    let [chain] = chains([top], [len]);
    chain
}

/// Chains that end with `tops`, side by side.
fn chains<const N: usize>(tops: [Block; N], lengths: [usize; N]) -> [Zeroizing<Vec<Block>>; N] {
    let public = Aes128::new(Block::from_digest(blake3::Hasher::new_derive_key(CHAIN).finalize().as_bytes()));
    let mut chains = lengths.map(|length| Zeroizing::new(Vec::with_capacity(length.max(1))));
    chains.iter_mut().zip(tops).for_each(|(chain, top)| chain.push(top));
    let mut last = tops;
    for length in 1..lengths.into_iter().max().unwrap_or(0) {
        let mut next = last;
        public.encrypt_batch(&mut next);
        next.iter_mut().zip(last).for_each(|(next, last)| *next ^= last);
        for (chain, (next, own)) in chains.iter_mut().zip(next.into_iter().zip(lengths)) {
            if length < own {
                chain.push(next);
            }
        }
        last = next;
    }
    chains.iter_mut().for_each(|chain| chain.reverse());
    chains
}

/// The keys that open a part of a template.
#[derive(Clone)]
pub(crate) enum Reveal {
    /// `g_n`.
    Levels(Block),
    /// `r_a`, `c_b`, and for the foot `f_a` and the key along it.
    Rectangle([Block; 2], Option<[Block; 2]>),
}

impl Reveal {
    /// The blocks on the wire.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        match self {
            Reveal::Levels(key) => vec![*key],
            Reveal::Rectangle(keys, foot) => keys.iter().chain(foot.iter().flatten()).copied().collect(),
        }
    }

    /// Reads it from the blocks of a part.
    pub(crate) fn from_blocks(part: Part, blocks: &[Block]) -> Option<Self> {
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
pub(crate) enum LinkKeys {
    Levels(Zeroizing<Vec<Block>>),
    Rectangle(GridKeys),
}

/// The keys of a grid: a group of links has the key of a line and the key of a column, which together make its masks.
pub(crate) struct GridKeys {
    /// The known keys of lines, see [`line_and_column`].
    lines: Vec<Option<Aes128>>,
    columns: Zeroizing<Vec<Block>>,
}

/// The line of a group, and its column: the links into the cells of row `i` are line `2 i`, those into the foot under it
/// line `2 i + 1`, and those along the foot line 1, as there is no row 0.
fn line_and_column(opens: Opens) -> Option<(usize, u32)> {
    match opens {
        Opens::Cell(i, j) => Some((2 * i as usize, j)),
        Opens::FootUnder(i, j) => Some((2 * i as usize + 1, j)),
        Opens::Foot(j) => Some((1, j)),
        Opens::Level(_) => None,
    }
}

/// The assignment of masks to the blocks of consecutive groups of links, worked out once for a part.
pub(crate) struct Masks {
    /// The levels of a chain or a tree, and their lengths.
    levels: Vec<(u32, usize)>,
    /// The groups of a grid by their lines.
    lines: Vec<Vec<MaskedRun>>,
    blocks: usize,
}

impl Masks {
    /// The masks of groups, given the part that opens each and its number of blocks.
    pub(crate) fn new(groups: impl Iterator<Item = (Opens, usize)>) -> Self {
        let mut masks = Masks { levels: Vec::new(), lines: Vec::new(), blocks: 0 };
        for (opens, length) in groups {
            match (opens, line_and_column(opens)) {
                (_, Some((line, base))) => {
                    if masks.lines.len() <= line {
                        masks.lines.resize(line + 1, Vec::new());
                    }
                    masks.lines[line].push(MaskedRun { base, at: masks.blocks as u32, len: length as u32 });
                }
                (Opens::Level(level), None) => masks.levels.push((level, length)),
                (_, None) => {}
            }
            masks.blocks += length;
        }
        masks
    }

    /// The number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }
}

/// The secrets of one template: as many blocks as [`secret_blocks`] says.
pub(crate) struct TemplateSecrets<'a>(pub(crate) &'a [Block]);

/// The number of uniform blocks from which a template's keys are made.
pub(crate) fn secret_blocks(template: &Template) -> usize {
    match template.shape() {
        Shape::Chain(_) | Shape::Tree(_) => 1,
        // The ends of two chains, a key along the foot, and one for the foot under each row.
        Shape::Grid(grid) => 3 + grid.size[0] as usize,
    }
}

impl TemplateSecrets<'_> {
    /// The keys that open a part.
    pub(crate) fn reveal(&self, template: &Template, part: Part) -> Option<Reveal> {
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
    pub(crate) fn all(&self, template: &Template) -> Option<LinkKeys> {
        match (template.shape(), self.0) {
            (Shape::Chain(shape), [top]) => Some(LinkKeys::Levels(chain(*top, shape.length as usize))),
            (Shape::Tree(shape), [top]) => Some(LinkKeys::Levels(chain(*top, shape.levels as usize))),
            (Shape::Grid(shape), [rows, columns, along, under @ ..]) => {
                let under = (1..).zip(under.iter().copied());
                Some(LinkKeys::Rectangle(GridKeys::new([*rows, *columns], shape.size, under, Some(*along))))
            }
            _ => None,
        }
    }
}

impl LinkKeys {
    /// The keys that a reveal opens.
    pub(crate) fn revealed(part: Part, reveal: &Reveal) -> Option<Self> {
        match (part, reveal) {
            (Part::Levels(n), Reveal::Levels(key)) => Some(LinkKeys::Levels(chain(*key, n as usize))),
            (Part::Rectangle(a, b, _), Reveal::Rectangle(ends, foot)) => {
                let under = foot.map(|[key, _]| (a as usize, key));
                let along = foot.map(|[_, along]| along);
                Some(LinkKeys::Rectangle(GridKeys::new(*ends, [a, b], under.into_iter(), along)))
            }
            _ => None,
        }
    }

    /// Adds the masks of groups of links to their blocks, to mask or unmask them.
    ///
    /// Returns whether all keys are known and the number of blocks is right. If not, no block has changed.
    pub(crate) fn mask(&self, masks: &Masks, blocks: &mut [Block]) -> bool {
        blocks.len() == masks.blocks
            && match self {
                LinkKeys::Levels(keys) => masks.lines.is_empty() && mask_levels(keys, &masks.levels, blocks).is_some(),
                LinkKeys::Rectangle(keys) => masks.levels.is_empty() && keys.mask(&masks.lines, blocks).is_some(),
            }
    }
}

fn mask_levels(keys: &[Block], levels: &[(u32, usize)], blocks: &mut [Block]) -> Option<()> {
    let mut of_levels = Zeroizing::new(Vec::with_capacity(levels.len()));
    for (level, _) in levels {
        of_levels.push(*keys.get(*level as usize)?);
    }
    let lengths: Vec<usize> = levels.iter().map(|(_, length)| *length).collect();
    add_keystreams(&of_levels, &lengths, blocks);
    Some(())
}

impl GridKeys {
    /// The keys of a number of rows and columns, whose chains end with `ends`. `under` are the known keys under rows.
    fn new(
        ends: [Block; 2],
        size: [u32; 2],
        under: impl Iterator<Item = (usize, Block)>,
        along: Option<Block>,
    ) -> Self {
        let [rows, columns] = chains(ends, size.map(|n| n as usize + 1));
        let of_rows = rows.iter().enumerate().skip(1).map(|(i, key)| (2 * i, *key));
        let of_foot = under.map(|(i, key)| (2 * i + 1, key)).chain(along.map(|key| (1, key)));
        // A key for each row and one under it, and one along the foot.
        let mut keys = Zeroizing::new(Vec::with_capacity(2 * rows.len()));
        let mut line_of = Vec::with_capacity(2 * rows.len());
        for (line, key) in of_rows.chain(of_foot) {
            line_of.push(line);
            keys.push(key);
        }
        let mut lines = vec![None; 2 * rows.len()];
        for (line, key) in line_of.into_iter().zip(Aes128::many(&keys)) {
            lines[line] = Some(key);
        }
        GridKeys { lines, columns }
    }

    /// Masks a line at a time.
    ///
    /// Mask `k` of keys `a` and `b` is `E(a, x) + x` with `x = b + k`: in the ideal cipher model a random function of all
    /// three.
    fn mask(&self, lines: &[Vec<MaskedRun>], blocks: &mut [Block]) -> Option<()> {
        let in_columns = |runs: &[MaskedRun]| runs.iter().all(|run| (run.base as usize) < self.columns.len());
        let used = lines.iter().enumerate().filter(|(_, runs)| !runs.is_empty());
        let key =
            |(line, runs): (usize, &'_ Vec<MaskedRun>)| in_columns(runs).then(|| self.lines.get(line)?.as_ref())?;
        let keys = used.clone().map(key).collect::<Option<Vec<&Aes128>>>()?;
        for (key, (_, runs)) in keys.into_iter().zip(used) {
            key.add_masks(&self.columns, runs, blocks);
        }
        Some(())
    }
}
