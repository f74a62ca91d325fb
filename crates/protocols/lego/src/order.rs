//! Orders: the material that is made at once, and the parts in which it is made.

use super::{
    NAME,
    amounts::{Amounts, Kind},
    config::{Config, Sizing},
    parameters::{Demand, Parameters},
};
use garblet_protocol::{error::ProtocolError, session::Session};

/// The bits of statistical security of theorem 2's bounds together.
pub(crate) const STATISTICAL: u32 = 40;

/// The bits of each other check of an order: the number of combinations of told bits, and of opened OTs of the difference. More than
/// [`STATISTICAL`], so they add little to the sum.
pub(crate) const CHECK_BITS: u32 = 48;

/// Checks of an order that a cheating constructor passes with probability `2^-CHECK_BITS` each:
/// [`TOLD_BITS`](crate::checks::TOLD_BITS) and [`COMMITTED_DELTA`](crate::checks::COMMITTED_DELTA).
const CHECKS: f64 = 2.0;

/// The fewest gates and inputs to make at once. Fewer would need larger buckets.
const LEAST_GATES: u64 = 512;
const LEAST_INPUTS: u64 = 32;

/// Wires to commit to at once, and components whose buckets are joined at once: enough to keep the overhead of a part below a percent, and few
/// enough that both parties work at the same time. Tests have small parts.
const PART: usize = if cfg!(test) { 3 << 12 } else { 3 << 14 };
const SPAN: usize = if cfg!(test) { 3 << 11 } else { 3 << 13 };

/// An order: the material to make at once, before the function is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    parameters: Parameters,
    outputs: u64,
}

impl Order {
    /// An order for these amounts, with bucket sizes that keep the bounds.
    ///
    /// *Errors*: more gates than any sizes keep the bounds for; given sizes that do not keep them.
    pub fn new(amounts: Amounts, config: Config) -> Result<Self, ProtocolError> {
        let demand = Demand {
            gates: amounts.gates.max(LEAST_GATES),
            inputs: amounts.inputs.max(LEAST_INPUTS),
            input_buckets: amounts.input_pairs,
        };
        let parameters = match config.sizing {
            Sizing::FewestBytes => Parameters::fewest_bytes(demand, STATISTICAL, config.code.parity_bits() as u64),
            Sizing::Given { bucket, check_gates, check_authenticators } => {
                Parameters::given(demand, bucket.into(), [check_gates, check_authenticators], STATISTICAL)
            }
        };
        let parameters = parameters.ok_or_else(|| ProtocolError::Unsupported {
            protocol: NAME,
            program: "of any kind".into(),
            reason: format!(
                "no bucket sizes ({}) keep the bound of 2^-{STATISTICAL} for {} AND gates",
                config.sizing, demand.gates
            ),
        })?;
        Ok(Order { parameters, outputs: amounts.outputs })
    }

    /// The parameters: the numbers of components that are made, checked and put into each bucket.
    pub fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// The probability that a constructor cheats in this order without being caught: a bad component gets into the buckets, or a false difference or bit passes
    /// its check.
    pub fn cheating(&self) -> f64 {
        self.parameters.bounds().any().exp2() + CHECKS * (-f64::from(CHECK_BITS)).exp2()
    }

    /// The number of garbled gates.
    pub fn gates_made(&self) -> usize {
        self.parameters.gates_made(STATISTICAL) as usize
    }

    /// The number of wire authenticators.
    pub fn authenticators_made(&self) -> usize {
        self.parameters.authenticators_made(STATISTICAL) as usize
    }

    /// The number of prepared input bits.
    pub(crate) fn inputs(&self) -> usize {
        self.parameters.demand.inputs as usize
    }

    /// The number of prepared output bits.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs as usize
    }

    /// The parts in which components are made and checked, all of about the same size.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let [gates, authenticators] = [self.gates_made(), self.authenticators_made()];
        let count = (3 * gates + authenticators).div_ceil(PART).max(1);
        let share = move |all: usize, part: usize| all * (part + 1) / count - all * part / count;
        (0..count).map(move |part| Part { gates: share(gates, part), authenticators: share(authenticators, part) })
    }

    /// Reports progress: the share of AND gates is the share of steps that are done. Each part has two steps, and each span one.
    pub(crate) fn tell(&self, session: &mut Session, steps: usize) {
        let (all, gates) = (2 * self.parts().count() + self.spans().count(), self.parameters.demand.gates);
        session.advance((u128::from(gates) * steps as u128 / all as u128) as u64, gates);
    }

    /// The buckets of every kind, in spans.
    pub(crate) fn spans(&self) -> impl Iterator<Item = Span> + use<> {
        let Parameters { demand, buckets, .. } = self.parameters;
        let authenticators = buckets.authenticators();
        let kinds = [
            (Kind::Gate, demand.gates, [buckets.gates, authenticators]),
            (Kind::InputPair, demand.input_buckets, [buckets.input_gates, 0]),
            (Kind::Input, demand.inputs, [0, buckets.input_authenticators]),
        ];
        kinds.into_iter().flat_map(|(kind, all, sizes)| {
            let sizes = sizes.map(|size| size as usize);
            let (all, at_once) = (all as usize, (SPAN / (sizes[0] + sizes[1])).max(1));
            (0..all).step_by(at_once).map(move |done| Span { kind, buckets: at_once.min(all - done), sizes })
        })
    }
}

/// Components that are made at once, with about [`PART`] wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) gates: usize,
    pub(crate) authenticators: usize,
}

impl Part {
    /// The number of wires to commit to.
    pub(crate) fn wires(self) -> usize {
        3 * self.gates + self.authenticators
    }
}

/// Buckets of a kind that are joined at once: about [`SPAN`] components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) kind: Kind,
    pub(crate) buckets: usize,
    /// Gates and authenticators of each bucket.
    pub(crate) sizes: [usize; 2],
}

impl Span {
    /// The numbers of gates and authenticators in all buckets.
    pub(crate) fn components(&self) -> [usize; 2] {
        self.sizes.map(|size| size * self.buckets)
    }

    /// A bucket's gates and authenticators among those of all buckets.
    pub(crate) fn bucket<'a, G, A>(
        &self,
        bucket: usize,
        gates: &'a [G],
        authenticators: &'a [A],
    ) -> (&'a [G], &'a [A]) {
        let [of_gates, of_authenticators] = self.sizes.map(|size| bucket * size..(bucket + 1) * size);
        (&gates[of_gates], &authenticators[of_authenticators])
    }

    /// The number of sums to open to join each bucket.
    pub(crate) fn openings(&self) -> usize {
        match self.sizes {
            [0, authenticators] => authenticators.saturating_sub(1),
            [gates, authenticators] => 3 * (gates - 1) + authenticators,
        }
    }
}
