//! The passes that each effort stands for.

use std::{fmt, str::FromStr};

use super::{
    products::Reach,
    rewrite::{Choice, Rewriting},
};

/// The effort of the optimiser: more of it never leaves more AND gates.
///
/// No clock decides when it ends, so the same circuit becomes the same circuit on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Sums and small cuts: microseconds per gate.
    Quick,
    /// After that resubstitution, and other structures of the same size.
    #[default]
    Usual,
    /// After that wider windows and more structures: up to ten times as long.
    Thorough,
}

impl Effort {
    /// All efforts with their names.
    pub const NAMED: [(&'static str, Effort); 3] =
        [("quick", Effort::Quick), ("usual", Effort::Usual), ("thorough", Effort::Thorough)];

    /// The phases, in order.
    pub(super) fn phases(self) -> &'static [Phase] {
        match self {
            Effort::Quick => &PHASES[..1],
            Effort::Usual => &PHASES[..USUAL],
            Effort::Thorough => &PHASES,
        }
    }

    /// The work after which no further pass begins, in the unit of [`Pass::work`].
    pub(super) fn most_work(self) -> usize {
        match self {
            Effort::Quick => usize::MAX,
            Effort::Usual => 10_000_000,
            Effort::Thorough => 100_000_000,
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(Effort::NAMED.iter().find(|(_, effort)| effort == self).map_or("", |(name, _)| name))
    }
}

impl FromStr for Effort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Effort::NAMED.iter().find(|(name, _)| *name == text);
        found.map(|(_, effort)| *effort).ok_or_else(|| "expected quick, usual or thorough".into())
    }
}

/// Passes that repeat while one of them saves AND gates.
pub(super) struct Phase {
    pub(super) passes: &'static [Pass],
    /// The most repetitions.
    pub(super) most: u32,
    /// Set if the phase counts for all circuits, whatever their size, unless a [`Goal`](super::Goal) limits the work.
    pub(super) always: bool,
}

/// One walk over the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Takes sums apart and merges their products.
    Merge,
    /// Rewrites cuts.
    Rewrite(Rewriting),
    /// Resubstitutes in windows of eight leaves, with levels after the node.
    Resubstitute(usize),
    /// Resubstitutes in windows of ten leaves, with levels after the node.
    Wide(usize),
}

impl Pass {
    /// The work for each node, about five microseconds.
    pub(super) fn work(self) -> usize {
        match self {
            Pass::Merge => 1,
            Pass::Rewrite(Rewriting { cuts, reach, .. }) => match reach {
                Reach::Split => cuts / 6,
                Reach::Four => cuts / 2,
                Reach::All => 4 * cuts,
            },
            Pass::Resubstitute(_) => 3,
            Pass::Wide(_) => 12,
        }
    }
}

const fn rewrite(cuts: usize, choice: Choice) -> Pass {
    Pass::Rewrite(Rewriting { cuts, reach: Reach::Split, choice })
}

/// Functions of five and six forms by their classes. Early on they would hide what resubstitution finds.
const fn classes(cuts: usize, choice: Choice) -> Pass {
    Pass::Rewrite(Rewriting { cuts, reach: Reach::Four, choice })
}

const BETTER: Pass = rewrite(6, Choice::Better);
const MORE_BETTER: Pass = rewrite(20, Choice::Better);
const SOME_EQUAL: Pass = rewrite(12, Choice::Equal);
const SOME_LAST_EQUAL: Pass = rewrite(12, Choice::LastEqual);
const EQUAL: Pass = rewrite(20, Choice::Equal);
const LAST_EQUAL: Pass = rewrite(20, Choice::LastEqual);
const CLASSES: Pass = classes(12, Choice::Better);
const EQUAL_CLASSES: Pass = classes(20, Choice::Equal);
const LAST_EQUAL_CLASSES: Pass = classes(20, Choice::LastEqual);
const ALL: Pass = Pass::Rewrite(Rewriting { cuts: 20, reach: Reach::All, choice: Choice::Better });
const PLAIN: Pass = Pass::Resubstitute(0);
const AFTER: Pass = Pass::Resubstitute(4);
const WIDE: Pass = Pass::Wide(0);
const WIDE_AFTER: Pass = Pass::Wide(6);

const fn phase(passes: &'static [Pass], most: u32) -> Phase {
    Phase { passes, most, always: false }
}

/// The phases of the usual effort come first.
const USUAL: usize = 7;

static PHASES: [Phase; 11] = [
    Phase { passes: &[Pass::Merge, BETTER], most: 8, always: true },
    phase(&[PLAIN, Pass::Merge, BETTER], 8),
    phase(&[AFTER, Pass::Merge, BETTER, PLAIN], 8),
    phase(&[EQUAL, PLAIN, AFTER, LAST_EQUAL, PLAIN, AFTER], 4),
    phase(&[Pass::Merge, BETTER, PLAIN, AFTER], 4),
    phase(&[Pass::Merge, CLASSES, PLAIN, AFTER], 4),
    phase(&STIRRED, 8),
    phase(&[EQUAL, WIDE, WIDE_AFTER], 6),
    phase(&[LAST_EQUAL, WIDE, WIDE_AFTER], 6),
    phase(&[Pass::Merge, MORE_BETTER, WIDE, WIDE_AFTER], 8),
    phase(&[ALL, WIDE, WIDE_AFTER], 8),
];

/// Other structures of the same size, in between passes that find gains in them.
static STIRRED: [Pass; 18] = [
    SOME_EQUAL,
    Pass::Merge,
    PLAIN,
    AFTER,
    CLASSES,
    SOME_LAST_EQUAL,
    Pass::Merge,
    PLAIN,
    AFTER,
    CLASSES,
    EQUAL_CLASSES,
    Pass::Merge,
    PLAIN,
    AFTER,
    LAST_EQUAL_CLASSES,
    Pass::Merge,
    PLAIN,
    AFTER,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_have_names_that_are_read_again() {
        for (name, effort) in Effort::NAMED {
            assert_eq!((effort.to_string().as_str(), name.parse()), (name, Ok(effort)));
        }
        assert!("slow".parse::<Effort>().is_err());
    }

    #[test]
    fn each_effort_goes_on_from_the_one_before() {
        let phases = Effort::NAMED.map(|(_, effort)| effort.phases());
        assert!(phases.windows(2).all(|pair| pair[0].len() < pair[1].len()));
        assert!(phases.iter().all(|phases| std::ptr::eq(phases.as_ptr(), PHASES.as_ptr())));
    }
}
