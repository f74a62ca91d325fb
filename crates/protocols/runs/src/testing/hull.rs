//! The test of whether sums of bits tell two views apart: by their affine hulls.
//!
//! A coalition's view of a run is a vector of bits. Sums of bits that are the same in every run define the
//! affine hull of the vectors, and every such sum can be read off the hull. Where bits are sums of uniform bits, as public
//! values and shares are, the vectors are uniform in their hull, so equal hulls mean equal distributions.

/// The dimension of a hull that is found from `d + MARGIN` uniform vectors is too small with probability 2^-MARGIN.
const MARGIN: usize = 40;

/// The affine hull of vectors of bits.
pub struct Hull {
    origin: Vec<bool>,
    directions: Space,
}

impl Hull {
    /// The hull of these vectors.
    ///
    /// # Panics
    /// If there are so few that the hull may be larger.
    pub fn of(vectors: &[Vec<bool>]) -> Self {
        let origin = vectors[0].clone();
        let mut directions = Space::default();
        vectors[1..].iter().for_each(|vector| directions.add(sum(vector, &origin)));
        let needed = directions.0.len() + MARGIN;
        assert!(vectors.len() > needed, "{} vectors are too few, {needed} are needed", vectors.len());
        Hull { origin, directions }
    }

    /// Tells whether both hulls are equal.
    pub fn is(&self, other: &Hull) -> bool {
        let within = |vector: &[bool]| self.directions.has(vector);
        self.directions.0.len() == other.directions.0.len()
            && other.directions.0.iter().all(|(_, direction)| within(direction))
            && within(&sum(&self.origin, &other.origin))
    }
}

/// A space of vectors in echelon form: the first set bit of each vector is clear in all later ones.
#[derive(Default)]
struct Space(Vec<(usize, Vec<bool>)>);

impl Space {
    fn reduced(&self, mut vector: Vec<bool>) -> Option<(usize, Vec<bool>)> {
        for (pivot, direction) in &self.0 {
            if vector[*pivot] {
                vector = sum(&vector, direction);
            }
        }
        Some((vector.iter().position(|bit| *bit)?, vector))
    }

    fn add(&mut self, vector: Vec<bool>) {
        let reduced = self.reduced(vector);
        self.0.extend(reduced);
    }

    fn has(&self, vector: &[bool]) -> bool {
        self.reduced(vector.to_vec()).is_none()
    }
}

fn sum(a: &[bool], b: &[bool]) -> Vec<bool> {
    assert_eq!(a.len(), b.len(), "views have the same bits");
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;

    /// Vectors whose bits 3, 60 and 77 have this sum.
    fn vectors(parity: bool, seed: u64) -> Vec<Vec<bool>> {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut vector = || {
            let mut bits: Vec<bool> = (0..80).map(|_| rng.random()).collect();
            bits[77] = bits[3] ^ bits[60] ^ parity;
            bits
        };
        (0..150).map(|_| vector()).collect()
    }

    #[test]
    fn a_sum_of_three_bits_is_found() {
        let [even, odd, other] = [(false, 1), (true, 2), (false, 3)].map(|(sum, seed)| Hull::of(&vectors(sum, seed)));
        assert!(even.is(&other) && !even.is(&odd) && !odd.is(&even));
        assert_eq!(even.directions.0.len(), 79);
    }

    #[test]
    #[should_panic(expected = "too few")]
    fn too_few_vectors_are_refused() {
        Hull::of(&vectors(true, 1)[..100]);
    }
}
