//! The choice among equally secure parameters by the link and the machines: both parties work out the same one from what they have told each other.
//!
//! All arithmetic is on integers, of numbers that were sent, so that no rounding makes two parties differ.

use std::{fmt, str::FromStr, time::Duration};

use garblet_circuit::Party;
use garblet_net::{Hello, SimulatedLink, told};

use crate::{Communication, Phase, protocol::PhaseFormulas};

/// The work whose speed decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// An AND gate garbled by half gates.
    GarbleHalfGates,
    /// An AND gate evaluated that was garbled so.
    EvaluateHalfGates,
    /// An AND gate garbled by three halves.
    GarbleThreeHalves,
    /// An AND gate evaluated that was garbled so.
    EvaluateThreeHalves,
    /// A correlated OT by an extension of width 2, by either role.
    Ot2,
    /// The same of width 4.
    Ot4,
    /// The same of width 8.
    Ot8,
    /// A silent correlated OT.
    SilentOt,
}

/// The cost of the parameters that the link decides to a party in a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Bytes and rounds.
    pub cost: Communication,
    /// The work, each kind with its amount.
    pub work: Vec<(Operation, u64)>,
}

/// The loads of a party, indexed by [`Phase`].
pub type Loads = [Load; 4];

/// The loads of all parties that have these costs and such work.
pub fn loads(costs: Vec<PhaseFormulas>, work: impl Fn(Party, Phase) -> Vec<(Operation, u64)>) -> Vec<Loads> {
    let of = |party, costs: PhaseFormulas| {
        Phase::ALL
            .map(|phase| Load { cost: costs[phase as usize].unwrap_or_default(), work: work(Party(party), phase) })
    };
    (0..).zip(costs).map(|(party, costs)| of(party, costs)).collect()
}

/// The number of operations.
pub const OPERATIONS: usize = 8;

/// The largest step of a rate: more than any machine does.
const STEP_MAX: u8 = 99;

/// The speed of a machine, coarsely: for each [`Operation`] the `step` of `sqrt(2)^step` operations in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates([u8; OPERATIONS]);

impl Rates {
    /// The rates that stand for those of a machine that tells none: one core of a server with the engine `aes-ni`, rounded from what README's table of rates
    /// was made of; of OTs, half of both roles' time is one role's.
    pub const ASSUMED: Rates = Rates([54, 55, 51, 53, 53, 52, 48, 52]);

    /// Rounds numbers of operations in a second.
    pub fn rounded(per_second: [f64; OPERATIONS]) -> Self {
        let step = |rate: f64| (2.0 * rate.max(1.0).log2()).round().min(STEP_MAX.into()) as u8;
        Rates(per_second.map(step))
    }

    /// The time of an amount of work, in nanoseconds.
    pub fn nanoseconds(&self, operation: Operation, count: u64) -> u128 {
        let step = u32::from(self.0[operation as usize]);
        // 1,000,000,000 / sqrt(2), rounded, for odd steps.
        let unit: u128 = if step.is_multiple_of(2) { 1_000_000_000 } else { 707_106_781 };
        (u128::from(count) * unit) >> (step / 2)
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| write!(f, "{step:02}"))
    }
}

/// A text that is not of rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two digits for each of {OPERATIONS} operations")]
pub struct NoRates;

impl FromStr for Rates {
    type Err = NoRates;

    fn from_str(text: &str) -> Result<Self, NoRates> {
        let digits = text.as_bytes();
        if digits.len() != 2 * OPERATIONS || !digits.iter().all(u8::is_ascii_digit) {
            return Err(NoRates);
        }
        Ok(Rates(std::array::from_fn(|at| 10 * (digits[2 * at] - b'0') + digits[2 * at + 1] - b'0')))
    }
}

/// The statements of one party to all others, besides what must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Told {
    /// The link, if the party knows it.
    pub link: Option<SimulatedLink>,
    /// The speed of its machine.
    pub rates: Option<Rates>,
}

const LINK: &str = "link";
const RATES: &str = "rates";

impl Told {
    /// Adds it to a hello.
    #[must_use]
    pub fn tell(&self, hello: Hello) -> Hello {
        let hello = self.link.iter().fold(hello, |hello, link| hello.with(&told(LINK), link));
        self.rates.iter().fold(hello, |hello, rates| hello.with(&told(RATES), rates))
    }

    /// Reads it from a hello. A text that cannot be read tells nothing, to whoever reads it.
    pub fn of(hello: &Hello) -> Self {
        let link = hello.parameter(&told(LINK)).and_then(|text| text.parse().ok());
        let rates = hello.parameter(&told(RATES)).and_then(|text| text.parse().ok());
        Told { link, rates }
    }
}

/// The terms of a choice, alike for all parties.
#[derive(Clone, Debug)]
pub struct ChoiceTerms {
    /// One-way latency in nanoseconds, and bits in a second if there is a limit.
    link: Option<(u128, Option<u128>)>,
    rates: Vec<Rates>,
}

impl ChoiceTerms {
    /// The terms of what all have told, in order of parties: the slowest link that anybody knows.
    pub fn new(told: &[Told]) -> Self {
        let links = || told.iter().filter_map(|told| told.link);
        let latency = links().map(|link| link.latency).max().map(|latency: Duration| latency.as_nanos());
        // Such a rate is at least 1,000, and at most the largest integer.
        let rate = links().filter_map(|link| link.bits_per_second).map(|rate| rate as u64).min();
        let link = latency.map(|latency| (latency, rate.map(|rate| u128::from(rate.max(1)))));
        ChoiceTerms { link, rates: told.iter().map(|told| told.rates.unwrap_or(Rates::ASSUMED)).collect() }
    }

    /// Returns whether anybody knows the link. If not, the first alternative is taken.
    pub fn knows_link(&self) -> bool {
        self.link.is_some()
    }

    /// The time of a phase in nanoseconds: what is in transit, or the work of the party that needs most, which goes on
    /// at the same time, and a latency for each round, of both parties if there are two.
    pub fn nanoseconds(&self, loads: &[&Load]) -> u128 {
        let rounds = loads.iter().map(|load| u128::from(load.cost.rounds));
        let moves: u128 = if loads.len() == 2 { rounds.sum() } else { rounds.max().unwrap_or_default() };
        let peers = (loads.len() as u128).saturating_sub(1).max(1);
        let bytes = loads.iter().map(|load| load.cost.bytes_sent.max(load.cost.bytes_received));
        let bytes = bytes.max().unwrap_or_default();
        let (latency, rate) = self.link.unwrap_or_default();
        let transit = rate.map_or(0, |rate| u128::from(bytes) / peers * 8_000_000_000 / rate);
        let of_party = |(party, load): (usize, &&Load)| {
            let rates = self.rates.get(party).unwrap_or(&Rates::ASSUMED);
            load.work.iter().map(|(operation, count)| rates.nanoseconds(*operation, *count)).sum()
        };
        moves * latency + transit.max(loads.iter().enumerate().map(of_party).max().unwrap_or_default())
    }

    /// The number of the alternative with the least time, the first of equals; the first of all if nobody knows the link.
    pub fn cheapest(&self, times: &[u128]) -> usize {
        let least = times.iter().enumerate().min_by_key(|(_, time)| **time).map_or(0, |(at, _)| at);
        if self.knows_link() { least } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told() -> impl Strategy<Value = Told> {
        let link = (0u64..60_000_000, prop::option::of(1e3f64..1e300)).prop_map(|(micros, bits_per_second)| {
            SimulatedLink { latency: Duration::from_micros(micros), bits_per_second }
        });
        let rates = prop::array::uniform8(0u8..=STEP_MAX).prop_map(Rates);
        (prop::option::of(link), prop::option::of(rates)).prop_map(|(link, rates)| Told { link, rates })
    }

    proptest! {
        #[test]
        fn all_parties_read_what_was_told_alike(told in prop::collection::vec(told(), 2..5)) {
            let hello = |(party, told): (usize, &Told)| told.tell(Hello::new("yao", party as u16, 2, [0; 32]));
            let hellos: Vec<Hello> = told.iter().enumerate().map(hello).collect();
            let read: Vec<Told> = hellos.iter().map(Told::of).collect();
            prop_assert!(read.iter().zip(&told).all(|(read, told)| read.rates == told.rates));
            let cost = Communication { bytes_sent: 1 << 40, bytes_received: 7, rounds: 9 };
            let load = Load { cost, work: vec![(Operation::GarbleHalfGates, u64::MAX), (Operation::SilentOt, 5)] };
            // Nothing overflows, whatever was told.
            prop_assert!(ChoiceTerms::new(&read).nanoseconds(&vec![&load; told.len()]) > 0);
        }

        #[test]
        fn no_text_of_rates_panics(text in "\\PC{0,20}") {
            if let Ok(rates) = text.parse::<Rates>() {
                prop_assert_eq!(rates.to_string(), text);
            }
        }
    }

    #[test]
    fn rates_are_told_in_steps_of_the_root_of_two() {
        let near = |rate: f64| Rates::rounded([rate; OPERATIONS]);
        assert_eq!(near(1_048_576.0), near(1_200_000.0));
        assert_ne!(near(1_048_576.0), near(1_300_000.0));
        for absurd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(near(absurd).to_string().len(), 2 * OPERATIONS, "{absurd}");
        }
        let second = near(1_048_576.0).nanoseconds(Operation::Ot2, 1 << 20);
        assert_eq!(second, 1_000_000_000);
    }

    #[test]
    fn the_first_of_equals_is_taken_and_the_first_of_all_without_a_link() {
        let known = Told { link: Some(SimulatedLink::default()), rates: None };
        assert_eq!(ChoiceTerms::new(&[known, Told::default()]).cheapest(&[5, 3, 3]), 1);
        assert_eq!(ChoiceTerms::new(&[Told::default(); 2]).cheapest(&[5, 3, 3]), 0);
    }
}
