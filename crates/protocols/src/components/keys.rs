//! Keys of prepared links: how they hang together, and the masks that they make.

use garblet_primitives::{Aes128, Block};

use super::template::{Group, Opens, Part, Shape, Template};

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
    let mut chain = vec![top];
    while chain.len() < len {
        chain.push(one_way(CHAIN, chain[chain.len() - 1]));
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
        rows: Vec<Aes128>,
        columns: Vec<Block>,
        /// For each row that is known, the key of the foot under it.
        under: Vec<Option<Aes128>>,
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
                let under = std::iter::once(None).chain(under.iter().map(|key| Some(Aes128::new(*key))));
                Some(LinkKeys::Rectangle {
                    rows: Aes128::many(&chain(*rows, most_rows)),
                    columns: chain(*columns, most_columns),
                    under: under.collect(),
                    along: chain(*along, most_columns),
                })
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
                let mut under: Vec<Option<Aes128>> = (1..a).map(|_| None).collect();
                under.push(foot.map(|[key, _]| Aes128::new(key)));
                Some(LinkKeys::Rectangle {
                    rows: Aes128::many(&chain(*rows, a)),
                    columns: chain(*columns, b),
                    under,
                    along: foot.map(|[_, along]| chain(along, b)).unwrap_or_default(),
                })
            }
            _ => None,
        }
    }

    /// The key of a group of links, if it is among these.
    ///
    /// Two keys are joined as `E(a, b) + b` under the key `a`: in the ideal cipher model a random function of both.
    fn of(&self, opens: Opens) -> Option<Block> {
        let join = |a: &Aes128, b: Block, tweak: u128| {
            let b = b ^ Block::from_u128(tweak);
            a.encrypt(b) ^ b
        };
        match (self, opens) {
            (LinkKeys::Levels(keys), Opens::Level(level)) => keys.get(level as usize).copied(),
            (LinkKeys::Rectangle { rows, columns, .. }, Opens::Cell(i, j)) => {
                Some(join(rows.get(i as usize)?, *columns.get(j as usize)?, 0))
            }
            (LinkKeys::Rectangle { under, columns, .. }, Opens::FootUnder(i, j)) => {
                Some(join(under.get(i as usize)?.as_ref()?, *columns.get(j as usize)?, 1))
            }
            (LinkKeys::Rectangle { along, .. }, Opens::Foot(j)) => along.get(j as usize).copied(),
            _ => None,
        }
    }

    /// Adds the masks of groups of links to their blocks, which masks them or unmasks them. `at` says where the blocks of a
    /// group are.
    ///
    /// Returns whether all keys are there.
    pub(super) fn mask<'g>(
        &self,
        groups: impl Iterator<Item = &'g Group>,
        blocks: &mut [Block],
        mut at: impl FnMut(&Group) -> usize,
    ) -> bool {
        let groups: Vec<&Group> = groups.collect();
        let Some(keys) = groups.iter().map(|group| self.of(group.opens)).collect::<Option<Vec<Block>>>() else {
            return false;
        };
        let longest = groups.iter().map(|group| group.blocks).max().unwrap_or(0);
        let mut stream = vec![Block::ZERO; longest];
        for (ciphers, groups) in keys.chunks(64).map(Aes128::many).zip(groups.chunks(64)) {
            for (cipher, group) in ciphers.iter().zip(groups) {
                let stream = &mut stream[..group.blocks];
                cipher.keystream(0, stream);
                let first = at(group);
                let Some(blocks) = blocks.get_mut(first..first + group.blocks) else { return false };
                blocks.iter_mut().zip(&*stream).for_each(|(block, mask)| *block ^= *mask);
            }
        }
        true
    }
}

/// Adds the mask of a keyed link to its blocks.
pub(super) fn mask_keyed(key: Block, blocks: &mut [Block]) {
    let mut stream = vec![Block::ZERO; blocks.len()];
    Aes128::new(key).keystream(0, &mut stream);
    blocks.iter_mut().zip(&stream).for_each(|(block, mask)| *block ^= *mask);
}
