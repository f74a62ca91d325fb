//! Parameters of `form=partialgc`.

use garblet_garble::GarblingConfig;
use garblet_ot::{StatisticalSecurity, Width};

/// The number of circuits. Probabilities cover all runs of a state together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Circuits {
    /// 16, of which 5 are evaluated: cheating succeeds with probability 2^-5.8. For comparison.
    Sixteen,
    /// 64, of which 25 are evaluated: 2^-21.3. For comparison.
    SixtyFour,
    /// 256, of which 101 are evaluated: 2^-83.1.
    #[default]
    All,
}

impl Circuits {
    /// All of them.
    pub const ALL: [Circuits; 3] = [Circuits::Sixteen, Circuits::SixtyFour, Circuits::All];

    /// The number of circuits garbled and sent.
    pub fn count(self) -> usize {
        match self {
            Circuits::Sixteen => 16,
            Circuits::SixtyFour => 64,
            Circuits::All => 256,
        }
    }

    /// The number of circuits whose evaluation counts: odd, so that there are no ties.
    pub fn evaluated(self) -> usize {
        match self {
            Circuits::Sixteen => 5,
            Circuits::SixtyFour => 25,
            Circuits::All => 101,
        }
    }

    /// log2 of the probability that enough circuits are bad and none of them is checked.
    pub fn cut_log2(self) -> f64 {
        cut_log2(self.count(), self.evaluated())
    }
}

/// The way in which kept labels enter the next circuits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// Unchanged: circuit `i` has one delta in all runs.
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
    /// The way to reuse kept labels.
    pub reuse: Reuse,
    /// Field width of the OT extensions.
    pub ot_width: Width,
}

/// The security in bits against each way to cheat in one run, other than bad circuits; all runs of a state together have ten less.
pub(crate) const SLACK_BITS: usize = 100;
/// The security of the OTs' consistency checks.
pub(crate) const SIGMA: StatisticalSecurity = StatisticalSecurity::Eighty;

impl Config {
    /// Garbling scheme and hash.
    pub(crate) fn garbling(self) -> GarblingConfig {
        GarblingConfig::default()
    }
}

/// log2 of the probability that most of `evaluated` out of `circuits` circuits are bad and no bad one is checked.
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
    fn probabilities_are_as_stated() {
        for (circuits, log2) in Circuits::ALL.into_iter().zip([-5.8, -21.3, -83.1]) {
            assert!((circuits.cut_log2() - log2).abs() < 0.06, "{circuits:?}: {}", circuits.cut_log2());
            // No other odd number is better.
            let odd = (1..circuits.count()).step_by(2);
            assert!(odd.map(|e| cut_log2(circuits.count(), e)).all(|other| other >= circuits.cut_log2() - 1e-9));
        }
    }
}
