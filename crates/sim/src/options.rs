//! The options of a history.

use std::fmt;

use garblet_authenticated::{Amounts, Build, Config, EVALUATOR, ResultCheck, many};
use garblet_ot::Width;
use garblet_primitives::Prg;
use garblet_protocol::parameters::OtKind;
use rand::RngExt;

/// The options of a history, which do not change in it.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) parties: u16,
    pub(crate) config: Config,
    /// The party that evaluates.
    pub(crate) evaluator: u16,
    /// The amounts that stores are filled up to.
    pub(crate) order: Amounts,
    /// Set if a run makes what stores lack.
    pub(crate) top_up: bool,
    /// The most runs that do not end.
    pub(crate) retries: u32,
    /// The parties that learn the value that a run keeps.
    pub(crate) learn: Vec<u16>,
}

impl Options {
    /// Draws options.
    pub(crate) fn drawn(rng: &mut Prg) -> Self {
        let parties = if rng.random_bool(0.75) { 2 } else { 3 };
        let config = Config {
            check: if rng.random() { ResultCheck::Tags } else { ResultCheck::Reveal },
            build: if rng.random() { Build::Ahead } else { Build::Stream },
            ot_width: Width::ALL[rng.random_range(0..Width::ALL.len())],
            ot: if rng.random_bool(0.25) { OtKind::Silent } else { OtKind::Extension },
            ..Config::default()
        };
        let order = Amounts { triples: 16 * rng.random_range(2..6), masks: 16 * rng.random_range(3..8) };
        Options {
            parties,
            config,
            evaluator: if parties == 2 { EVALUATOR.0 } else { rng.random_range(0..parties) },
            order,
            top_up: rng.random_bool(0.75),
            retries: rng.random_range(0..4),
            learn: (0..parties).filter(|_| rng.random()).collect(),
        }
    }

    /// The parameters of several parties.
    pub(crate) fn of_several(&self) -> many::Config {
        let Config { check, build, ot_width, statistical, ot } = self.config;
        many::Config { check, build, evaluator: self.evaluator, ot_width, statistical, ot }
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { parties, config, evaluator, order, top_up, retries, learn } = self;
        let Config { check, build, ot_width, ot, .. } = config;
        write!(f, "{parties} parties, check {check:?}, build {build:?}, evaluator {evaluator}, ot {ot:?}")?;
        write!(f, ", k {}, order {} triples {} masks", ot_width.bits(), order.triples, order.masks)?;
        write!(f, ", top-up {top_up}, retries {retries}, {learn:?} learn")
    }
}
