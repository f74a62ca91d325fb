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

const CHAIN: &str = "garblet 2026 components chain of keys v1";

/// The chain that ends with `top`: element `i` from 0 is the hash of element `i + 1`.
fn chain(top: Block, len: usize) -> Vec<Block> {
    let hash = blake3::Hasher::new_derive_key(CHAIN);
    let mut chain = vec![top];
    while chain.len() < len {
        chain.push(first_block(hash.clone().update(&chain[chain.len() - 1].to_bytes())));
    }
    chain.reverse();
    chain
}

/// What opens a part of a template.
#[derive(Clone)]
pub(super) enum Reveal {
    /// `g_n`.
    Levels(Block),
    /// `r_a`, `c_b`, and for the foot `f_a` and the key of its chain.
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
    Rectangle {
        /// For each row, the keys of its cells.
        cells: Vec<Vec<Block>>,
        /// For each row that is known, the keys of the foot under it.
        under: Vec<Option<Vec<Block>>>,
        along: Vec<Block>,
    },
}

/// The secrets of one template: as many blocks as [`secret_blocks`] says.
pub(super) struct TemplateSecrets<'a>(pub(super) &'a [Block]);

/// Uniform blocks that a template's keys are made of.
pub(super) fn secret_blocks(template: &Template) -> usize {
    match template.shape() {
        Shape::Chain(_) | Shape::Tree(_) => 1,
        // The ends of three chains, and a key for the foot under each row.
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
                    true => Some([*under.get(a.checked_sub(1)? as usize)?, at(*along, most_columns + 1, b)?]),
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
                Some(LinkKeys::rectangle(&rows, &columns, under, chain(*along, most_columns)))
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
                let along = foot.map(|[_, along]| chain(along, b)).unwrap_or_default();
                Some(LinkKeys::rectangle(&chain(*rows, a), &chain(*columns, b), under, along))
            }
            _ => None,
        }
    }

    /// Those of a grid, from the elements of its chains.
    fn rectangle(
        rows: &[Block],
        columns: &[Block],
        under: impl Iterator<Item = Option<Block>>,
        along: Vec<Block>,
    ) -> Self {
        LinkKeys::Rectangle {
            cells: Aes128::many(rows).iter().map(|row| joined(row, columns, 0)).collect(),
            under: under.map(|key| key.map(|key| joined(&Aes128::new(key), columns, 1))).collect(),
            along,
        }
    }

    /// The key of a group of links, if it is among these.
    fn of(&self, opens: Opens) -> Option<Block> {
        match (self, opens) {
            (LinkKeys::Levels(keys), Opens::Level(level)) => keys.get(level as usize).copied(),
            (LinkKeys::Rectangle { cells, .. }, Opens::Cell(i, j)) => cells.get(i as usize)?.get(j as usize).copied(),
            (LinkKeys::Rectangle { under, .. }, Opens::FootUnder(i, j)) => {
                under.get(i as usize)?.as_ref()?.get(j as usize).copied()
            }
            (LinkKeys::Rectangle { along, .. }, Opens::Foot(j)) => along.get(j as usize).copied(),
            _ => None,
        }
    }

    /// Adds the masks of groups of links to their blocks, which masks them or unmasks them.
    ///
    /// *Shape*: `groups` are what opens each and how many blocks it has; the blocks follow one another.
    ///
    /// Returns whether all keys are there.
    pub(super) fn mask(&self, groups: impl Iterator<Item = (Opens, usize)>, blocks: &mut [Block]) -> bool {
        let with_key = |(opens, length)| Some((self.of(opens)?, length));
        match groups.map(with_key).collect::<Option<(Vec<Block>, Vec<usize>)>>() {
            Some((keys, lengths)) if lengths.iter().sum::<usize>() == blocks.len() => {
                add_keystreams(&keys, &lengths, blocks);
                true
            }
            _ => false,
        }
    }
}

/// The keys that two chains make together, for one element of the first and all of the second.
///
/// Two keys are joined as `E(a, b) + b` under the key `a`: in the ideal cipher model a random function of both.
fn joined(a: &Aes128, second: &[Block], tweak: u128) -> Vec<Block> {
    let second: Vec<Block> = second.iter().map(|b| *b ^ Block::from_u128(tweak)).collect();
    let mut keys = second.clone();
    a.encrypt_batch(&mut keys);
    keys.iter_mut().zip(second).for_each(|(key, b)| *key ^= b);
    keys
}
