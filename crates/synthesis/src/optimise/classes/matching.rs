//! The affine map between two functions of one class.

use super::{
    super::functions::{AFFINE, VARIABLES, polynomial, shifted},
    shape::{POINTS, Shape},
};

/// The most directions to try. A class that needs more is one of few, and then counts as not found.
const MOST_TRIALS: u32 = 20_000;

/// An affine map of the variables.
pub(super) struct AffineMap {
    /// The form that replaces each variable, and whether it is negated.
    pub(super) forms: [(u8, bool); VARIABLES],
}

/// The map after which a function equals another one, up to an affine function; none if they are not of one class.
pub(super) fn find(from: &Shape, onto: &Shape) -> Option<AffineMap> {
    let sorted = |mut signatures: [u64; POINTS]| {
        signatures.sort_unstable();
        signatures
    };
    if sorted(from.signature) != sorted(onto.signature) {
        return None;
    }
    let count = from.signature.map(|one| from.signature.iter().filter(|&&other| other == one).count() as u8);
    let mut matching = Matching { from, onto, count, span: [0; POINTS], image: [0; POINTS], trials: 0 };
    matching.extend(0)
}

/// Directions of one function and their images among those of the other: sums of the first `n` at place `2^n`.
struct Matching<'a> {
    from: &'a Shape,
    onto: &'a Shape,
    /// The directions with the signature of each one.
    count: [u8; POINTS],
    span: [usize; POINTS],
    image: [usize; POINTS],
    trials: u32,
}

impl Matching<'_> {
    /// Chooses the images of further directions, of which there are `known` so far.
    fn extend(&mut self, known: usize) -> Option<AffineMap> {
        if known == VARIABLES {
            return self.complete();
        }
        let size = 1 << known;
        // The direction with the fewest candidates.
        let free = (1..POINTS).filter(|a| !self.span[..size].contains(a));
        let next = free.min_by_key(|&a| self.count[a])?;
        for k in 0..size {
            self.span[size + k] = self.span[k] ^ next;
        }
        for candidate in 1..POINTS {
            if self.onto.signature[candidate] != self.from.signature[next] || self.image[..size].contains(&candidate) {
                continue;
            }
            self.trials += 1;
            if self.trials > MOST_TRIALS {
                return None;
            }
            for k in 0..size {
                self.image[size + k] = self.image[k] ^ candidate;
            }
            if self.agree(known)
                && let Some(map) = self.extend(known + 1)
            {
                return Some(map);
            }
        }
        None
    }

    /// Returns whether the derivatives along the newest directions agree with those along their images.
    fn agree(&self, known: usize) -> bool {
        let size = 1 << known;
        let signatures =
            (size..2 * size).all(|k| self.from.signature[self.span[k]] == self.onto.signature[self.image[k]]);
        let pairs = || {
            (size..2 * size).all(|k| {
                (1..size).all(|l| {
                    self.from.second[self.span[k]][self.span[l]] == self.onto.second[self.image[k]][self.image[l]]
                })
            })
        };
        let third = |shape: &Shape, [a, b, c]: [usize; 3]| {
            let second = shape.derivative[a] ^ shifted(shape.derivative[a], b);
            (second ^ shifted(second, c)).count_ones()
        };
        let triples = || {
            (0..known).all(|i| {
                (0..i).all(|j| {
                    let places = [size, 1 << i, 1 << j];
                    third(self.from, places.map(|k| self.span[k])) == third(self.onto, places.map(|k| self.image[k]))
                })
            })
        };
        signatures && pairs() && triples()
    }

    /// The map, if there is a shift with which the functions agree.
    fn complete(&self) -> Option<AffineMap> {
        let mut moved = [0; POINTS];
        let mut back = [0; POINTS];
        for (&a, &b) in self.span.iter().zip(&self.image) {
            (moved[a], back[b]) = (b, a);
        }
        let table = (0..POINTS).fold(0, |table, x| table | (self.onto.table >> moved[x] & 1) << x);
        let shift = (0..POINTS).find(|&c| polynomial(shifted(table, c) ^ self.from.table) & !AFFINE == 0)?;
        let form = |i: usize| (0..VARIABLES).fold(0, |form, j| form | ((back[1 << j] >> i & 1) as u8) << j);
        Some(AffineMap { forms: std::array::from_fn(|i| (form(i), shift >> i & 1 == 1)) })
    }
}
