//! The chi-square test of whether a view is uniform, over bytes.
//!
//! A test runs a protocol many times with the same inputs and fresh randomness, and collects the bytes that a coalition
//! sees at one place of the protocol. If they are uniform, the statistic below is about 255 with a standard deviation of
//! 22.6. [`THRESHOLD`] is so high that a uniform source exceeds it once in 10^9 tests.

/// Values of a byte.
const VALUES: usize = 256;

/// The bound for uniform bytes, except with probability 10^-9: 255 degrees of freedom, by the approximation of Wilson and
/// Hilferty (1931), `255 (1 - 2/(9*255) + 5.998 sqrt(2/(9*255)))^3`.
pub(crate) const THRESHOLD: f64 = 415.0;

/// Counts of byte values.
#[derive(Clone)]
pub(crate) struct ByteCounts([u64; VALUES]);

impl ByteCounts {
    /// Counts the values of these bytes.
    pub(crate) fn of<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> Self {
        let mut counts = ByteCounts([0; VALUES]);
        bytes.into_iter().for_each(|byte| counts.0[usize::from(*byte)] += 1);
        counts
    }

    /// The sum of squared distances from the mean, over the mean.
    ///
    /// # Panics
    /// With fewer than five bytes for each value, when the test is meaningless.
    pub(crate) fn chi_square(&self) -> f64 {
        let total: u64 = self.0.iter().sum();
        assert!(total >= 5 * VALUES as u64, "{total} bytes are too few for the test");
        let mean = total as f64 / VALUES as f64;
        self.0.iter().map(|&count| (count as f64 - mean).powi(2) / mean).sum()
    }

    /// Tells whether the bytes pass as uniform.
    pub(crate) fn is_uniform(&self) -> bool {
        self.chi_square() < THRESHOLD
    }
}

/// Bytes by place of a run, for all runs.
pub struct View {
    /// The bytes of all runs, one run after another.
    pub all: Vec<u8>,
    /// The number of bytes of a run.
    pub places: usize,
}

impl View {
    /// Places whose bytes are not uniform over the runs.
    pub fn biased(&self) -> Vec<usize> {
        let at = |place: usize| ByteCounts::of(self.all.iter().skip(place).step_by(self.places));
        (0..self.places).filter(|&place| !at(place).is_uniform()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garblet_primitives::{Block, Prg};

    fn uniform(bytes: usize) -> Vec<u8> {
        let mut all = vec![0; bytes];
        Prg::new(Block::from_u128(3)).fill_bytes(&mut all);
        all
    }

    #[test]
    fn uniform_bytes_pass_and_small_biases_do_not() {
        let bytes = uniform(20_000);
        let counts = ByteCounts::of(&bytes);
        assert!(counts.is_uniform() && counts.chi_square() > 150.0, "{}", counts.chi_square());
        // One bit is zero in every fourth byte.
        let biased: Vec<u8> =
            bytes.iter().enumerate().map(|(i, byte)| if i % 4 == 0 { byte & !8 } else { *byte }).collect();
        assert!(!ByteCounts::of(&biased).is_uniform());
    }

    #[test]
    fn bytes_that_are_too_even_or_all_equal() {
        let even: Vec<u8> = (0..VALUES * 5).map(|i| i as u8).collect();
        assert_eq!(ByteCounts::of(&even).chi_square(), 0.0);
        assert!(!ByteCounts::of(&vec![7; VALUES * 5]).is_uniform());
    }

    #[test]
    #[should_panic(expected = "too few")]
    fn too_few_bytes_are_refused() {
        ByteCounts::of(&uniform(1000)).chi_square();
    }
}
