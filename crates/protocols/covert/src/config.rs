//! Parameters of a run.

use garblet_garble::{GarblingConfig, published::Method};
use garblet_ot::Width;
use garblet_primitives::Block;

use garblet_seeded::{MATRIX_SEED, encoding::Encoding};

/// The choice between the two protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The evaluator gets the seeds of all circuits but one before the garbler knows which; only that one circuit is sent (Hong, Katz,
    /// Kolesnikov, Lu, Wang 2019).
    #[default]
    Seeds,
    /// The garbler sends all circuits, and opens all but the one that the evaluator then names (Aumann and Lindell 2007, as measured
    /// in 2009). For comparison.
    Al07,
}

/// The encoding of the evaluator's input with [`Form::Al07`], see [`garblet_seeded::encoding`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputEncoding {
    /// Every bit as the sum of its own wires.
    #[default]
    Independent,
    /// Random combinations over the published number of wires.
    RandomCombinations,
}

/// The transfer of labels to the evaluator with [`Form::Al07`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ot {
    /// OT extension.
    #[default]
    Extension,
    /// A public-key OT for each wire: Peikert, Vaikuntanathan and Waters (2008), as measured in 2009.
    Pvw,
}

/// The fewest circuits of a run: one is checked.
pub const MIN_CIRCUITS: usize = 2;
/// The most circuits of a run.
pub const MAX_CIRCUITS: usize = 256;
/// The fewest shares of an input bit.
pub(crate) const MIN_SHARES: usize = 2;
/// The most shares of an input bit.
pub(crate) const MAX_SHARES: usize = 64;

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Garbling scheme and hash.
    pub garbling: GarblingConfig,
    /// A scheme of 2009 in place of `garbling`, with [`Form::Al07`]; it hashes by SHA-256.
    pub published: Option<Method>,
    /// Field width of the OT extension.
    pub ot_width: Width,
    /// The choice between the two protocols.
    pub form: Form,
    /// The number of circuits, of which one is evaluated; by default 2, or 16 with [`Form::Al07`].
    pub circuits: Option<u16>,
    /// The number of shares that encode an input bit of the evaluator, with [`Form::Al07`]; by default 4.
    pub shares: Option<u16>,
    /// The encoding of the evaluator's input, with [`Form::Al07`].
    pub encoding: InputEncoding,
    /// The transfer of labels to the evaluator, with [`Form::Al07`].
    pub ot: Ot,
}

impl Config {
    /// The number of garbled circuits.
    pub fn circuits(&self) -> usize {
        let standard = match self.form {
            Form::Seeds => 2,
            Form::Al07 => 16,
        };
        self.circuits.map_or(standard, |circuits| usize::from(circuits).clamp(MIN_CIRCUITS, MAX_CIRCUITS))
    }

    /// The number of shares per input bit of the evaluator.
    pub fn shares(&self) -> usize {
        match self.form {
            Form::Seeds => 1,
            Form::Al07 => self.shares.map_or(4, usize::from).clamp(MIN_SHARES, MAX_SHARES),
        }
    }

    /// The minimum probability that a cheating garbler is caught.
    ///
    /// *Source*: `1 - 1/l` with `l` circuits, for the unchecked circuit; with `m` shares `(1 - 1/l)(1 - 2^(1 - m))`, for
    /// labels spoiled at all shares of a bit (Aumann and Lindell 2007).
    pub fn deterrence(&self) -> f64 {
        let circuits = 1.0 - 1.0 / self.circuits() as f64;
        match self.form {
            Form::Seeds => circuits,
            Form::Al07 => circuits * (1.0 - (1.0 - self.shares() as f64).exp2()),
        }
    }

    /// The encoding of `bits` input bits of the evaluator, for a seed of the evaluator, which the published schemes ignore.
    pub(super) fn encoding_of(&self, bits: usize, seed: Block) -> Encoding {
        let seed = if self.published.is_some() { MATRIX_SEED } else { seed };
        match (self.form, self.encoding) {
            (Form::Seeds, _) => Encoding::plain(bits),
            (Form::Al07, InputEncoding::Independent) => Encoding::independent(bits, self.shares()),
            (Form::Al07, InputEncoding::RandomCombinations) => Encoding::random_combinations(bits, self.shares(), seed),
        }
    }

    /// The number of wires that encode `bits` input bits of the evaluator.
    pub(super) fn encoded_wires(&self, bits: usize) -> usize {
        match (self.form, self.encoding) {
            (Form::Seeds, _) => bits,
            (Form::Al07, InputEncoding::Independent) => bits * self.shares(),
            (Form::Al07, InputEncoding::RandomCombinations) => Encoding::random_combinations_wires(bits, self.shares()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn al07(circuits: u16, shares: u16) -> Config {
        Config { form: Form::Al07, circuits: Some(circuits), shares: Some(shares), ..Config::default() }
    }

    /// The smallest parameters for each deterrence, and the parameters of 2009, computed independently of this code.
    #[test]
    fn deterrence_agrees_with_the_paper() {
        for (circuits, shares, deterrence) in
            [(3, 3, 0.5), (5, 5, 0.75), (16, 4, 0.8203125), (11, 8, 0.9019886363636364), (101, 15, 0.9900385790532178)]
        {
            assert!((al07(circuits, shares).deterrence() - deterrence).abs() < 1e-9, "{circuits}, {shares}");
        }
        for (circuits, deterrence) in [(2, 0.5), (4, 0.75), (10, 0.9)] {
            let config = Config { circuits: Some(circuits), ..Config::default() };
            assert!((config.deterrence() - deterrence).abs() < 1e-12);
        }
    }

    #[test]
    fn numbers_out_of_range_are_clamped() {
        assert_eq!((al07(0, 0).circuits(), al07(0, 0).shares()), (MIN_CIRCUITS, MIN_SHARES));
        assert_eq!((al07(9999, 9999).circuits(), al07(9999, 9999).shares()), (MAX_CIRCUITS, MAX_SHARES));
        assert_eq!((Config::default().circuits(), Config::default().shares()), (2, 1));
    }

    #[test]
    fn encodings_have_the_stated_number_of_wires() {
        for encoding in [InputEncoding::Independent, InputEncoding::RandomCombinations] {
            for bits in [0, 1, 128] {
                for config in [Config { encoding, ..al07(16, 4) }, Config { encoding, ..Config::default() }] {
                    assert_eq!(config.encoding_of(bits, Block::ONES).wires(), config.encoded_wires(bits), "{config:?}");
                }
            }
        }
    }
}
