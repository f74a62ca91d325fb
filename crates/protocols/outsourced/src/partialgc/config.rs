//! Parameters of `form=partialgc`.

use garblet_garble::GarblingConfig;
use garblet_ot::{StatisticalSecurity, Width};

/// The number of circuits. Probabilities are those of all runs of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Circuits {
    /// 16, of which 5 are evaluated: cheating succeeds with 2^-5.8. For comparison.
    Sixteen,
    /// 64, of which 25 are evaluated: 2^-21.3. For comparison.
    SixtyFour,
    /// 256, of which 101 are evaluated: 2^-83.1.
    #[default]
    All,
}

impl Circuits {
    /// Each.
    pub const ALL: [Circuits; 3] = [Circuits::Sixteen, Circuits::SixtyFour, Circuits::All];

    /// Circuits that are garbled and sent.
    pub fn count(self) -> usize {
        match self {
            Circuits::Sixteen => 16,
            Circuits::SixtyFour => 64,
            Circuits::All => 256,
        }
    }

    /// Circuits of which the evaluation counts: an odd number, so that there are no ties.
    pub fn evaluated(self) -> usize {
        match self {
            Circuits::Sixteen => 5,
            Circuits::SixtyFour => 25,
            Circuits::All => 101,
        }
    }

    /// log2 of the probability that as many circuits are bad as are needed, and none of them is checked.
    pub fn cut_log2(self) -> f64 {
        cut_log2(self.count(), self.evaluated())
    }
}

/// The way in which kept labels come into the next circuits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// As they are: circuit `i` has one delta in all runs.
    #[default]
    Labels,
    /// By a partial gate for each, as published.
    PartialGates,
}

/// The parameters; all parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The number of circuits.
    pub circuits: Circuits,
    /// The way of kept labels.
    pub reuse: Reuse,
    /// Field width of the OT extensions.
    pub ot_width: Width,
}

/// Bits of every way to cheat in one run but that of bad circuits; all runs of a state have ten less.
pub(crate) const SLACK_BITS: usize = 100;
/// The security of the OTs' consistency checks.
pub(crate) const SIGMA: StatisticalSecurity = StatisticalSecurity::Eighty;

impl Config {
    /// Garbling scheme and hash.
    pub(crate) fn garbling(self) -> GarblingConfig {
        GarblingConfig::default()
    }
}

/// log2 of the probability that most of `evaluated` out of `circuits` circuits are bad and none of those is checked.
///
/// *Source*: `h` bad circuits pass unnoticed with probability `C(e, h) / C(s, h)`, and `h = ceil(e / 2)` are needed.
fn cut_log2(circuits: usize, evaluated: usize) -> f64 {
    let share = |bad: usize| (evaluated.saturating_sub(bad) as f64 / circuits.saturating_sub(bad) as f64).log2();
    (0..evaluated.div_ceil(2)).map(share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_that_are_stated() {
        for (circuits, log2) in Circuits::ALL.into_iter().zip([-5.8, -21.3, -83.1]) {
            assert!((circuits.cut_log2() - log2).abs() < 0.06, "{circuits:?}: {}", circuits.cut_log2());
            // No other odd number is better.
            let odd = (1..circuits.count()).step_by(2);
            assert!(odd.map(|e| cut_log2(circuits.count(), e)).all(|other| other >= circuits.cut_log2() - 1e-9));
        }
    }
}
