//! The parameters: the numbers of components that are made, checked and put into each bucket, and the probability that a constructor cheats undetected.
//!
//! *Source*: Nielsen, Schneider and Trifiletti 2017, theorem 2 (from Frederiksen, Jakobsen, Nielsen and Trifiletti 2015, lemma 9).
//! The products there run downwards. A bucket is bad when bad components are in the majority: `bucket` bad ones of
//! `bucket + authenticators = 2 bucket - 1`, of which at least one is a gate. Buckets of inputs have components of one kind, in the
//! paper always an odd number; of an even number half is enough, since a tie refuses a right key. So sizes that are chosen here are odd.

/// The components that replace one gate or one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// Garbled gates of an AND gate (the paper's beta).
    pub gates: u32,
    /// Garbled gates of an input bucket (beta with a tilde).
    pub input_gates: u32,
    /// Wire authenticators of an input (alpha with a tilde).
    pub input_authenticators: u32,
}

impl Buckets {
    /// Wire authenticators of an AND gate (alpha): the theorem holds for one less than gates.
    pub const fn authenticators(self) -> u32 {
        self.gates - 1
    }

    /// The sizes of inputs that the paper derives from those of gates.
    pub const fn published(gates: u32) -> Self {
        Buckets { gates, input_gates: 2 * gates + 1, input_authenticators: 2 * (gates - 1) + 1 }
    }
}

/// The amounts to prepare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// AND gates.
    pub gates: u64,
    /// Input bits of both parties.
    pub inputs: u64,
    /// Input buckets. Each serves two input bits of the constructor.
    pub input_buckets: u64,
}

/// The way to prepare them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The amounts to prepare.
    pub demand: Demand,
    /// The components of each bucket.
    pub buckets: Buckets,
    /// The probability with which the evaluator checks a garbled gate.
    pub check_gates: f64,
    /// The probability with which the evaluator checks a wire authenticator.
    pub check_authenticators: f64,
}

/// Binary logarithms of a cheating constructor's probabilities, each for all buckets of a kind together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Some AND gate's bucket is bad.
    pub bucket: f64,
    /// Some input's authenticators are.
    pub input_authenticators: f64,
    /// Some input bucket is.
    pub input_bucket: f64,
}

impl Bounds {
    /// The probability that anything is bad.
    pub fn any(&self) -> f64 {
        (self.bucket.exp2() + self.input_authenticators.exp2() + self.input_bucket.exp2()).log2()
    }

    /// The largest of the three.
    pub fn worst(&self) -> f64 {
        self.bucket.max(self.input_authenticators).max(self.input_bucket)
    }
}

/// The probabilities of a check to try are `2^(-k / 8)` for these `k`.
const EIGHTHS: std::ops::RangeInclusive<u32> = 8..=80;

/// The bucket sizes of AND gates to try.
const SIZES: std::ops::RangeInclusive<u32> = 2..=10;

impl Parameters {
    /// The parameters with the fewest bytes whose three bounds are below `2^-statistical` together; `None` if bucket sizes up to
    /// ten do not suffice.
    pub(crate) fn fewest_bytes(demand: Demand, statistical: u32, parity_bits: u64) -> Option<Self> {
        let mut best: Option<(f64, Parameters)> = None;
        let probabilities = || EIGHTHS.map(|eighths| (-f64::from(eighths) / 8.0).exp2());
        for gates in SIZES {
            for check_gates in probabilities() {
                for check_authenticators in probabilities() {
                    let buckets = Buckets::published(gates);
                    let parameters = Parameters { demand, buckets, check_gates, check_authenticators };
                    // Fewer checks only make it worse.
                    if parameters.bounds().any() >= -f64::from(statistical) {
                        break;
                    }
                    let smallest = Buckets { input_gates: 1, input_authenticators: 1, ..buckets };
                    let at_best = Parameters { buckets: smallest, ..parameters }.bytes(parity_bits, statistical);
                    if best.is_some_and(|(least, _)| at_best >= least) {
                        continue;
                    }
                    let parameters = parameters.with_small_input_buckets(statistical);
                    let bytes = parameters.bytes(parity_bits, statistical);
                    if best.is_none_or(|(least, _)| bytes < least) {
                        best = Some((bytes, parameters));
                    }
                }
            }
        }
        best.map(|(_, parameters)| parameters)
    }

    /// The parameters with this bucket size, the sizes of inputs that the paper derives from it, and checks of gates and of
    /// authenticators with probability `2^-checks`; `None` if this does not keep the bounds.
    pub fn given(demand: Demand, bucket: u32, checks: [u8; 2], statistical: u32) -> Option<Self> {
        let [check_gates, check_authenticators] = checks.map(|check| (-f64::from(check)).exp2());
        let buckets = (bucket > 1).then(|| Buckets::published(bucket))?;
        let parameters = Parameters { demand, buckets, check_gates, check_authenticators };
        (parameters.bounds().any() < -f64::from(statistical)).then_some(parameters)
    }

    /// The same with the smallest sizes for inputs that keep the bounds, which the published ones do.
    fn with_small_input_buckets(mut self, statistical: u32) -> Self {
        let limit = -f64::from(statistical);
        let largest = self.buckets;
        for input_gates in 2..largest.input_gates {
            self.buckets.input_gates = input_gates;
            if self.bounds().any() < limit {
                break;
            }
            self.buckets.input_gates = largest.input_gates;
        }
        for input_authenticators in 1..largest.input_authenticators {
            self.buckets.input_authenticators = input_authenticators;
            if self.bounds().any() < limit {
                break;
            }
            self.buckets.input_authenticators = largest.input_authenticators;
        }
        self
    }

    /// The number of garbled gates in buckets.
    pub(crate) fn bucketed_gates(&self) -> u64 {
        let Parameters { demand, buckets, .. } = self;
        demand.gates * u64::from(buckets.gates) + demand.input_buckets * u64::from(buckets.input_gates)
    }

    /// The number of wire authenticators in buckets.
    pub(crate) fn bucketed_authenticators(&self) -> u64 {
        let Parameters { demand, buckets, .. } = self;
        let ordinary = demand.gates * u64::from(buckets.authenticators());
        ordinary + demand.inputs * u64::from(buckets.input_authenticators)
    }

    /// The number of garbled gates to make, so that enough are left after the checks except with probability `2^-statistical`.
    pub fn gates_made(&self, statistical: u32) -> u64 {
        made(self.bucketed_gates(), self.check_gates, statistical)
    }

    /// The number of wire authenticators to make, in the same way.
    pub fn authenticators_made(&self, statistical: u32) -> u64 {
        made(self.bucketed_authenticators(), self.check_authenticators, statistical)
    }

    /// A cheating constructor's probabilities (theorem 2).
    pub fn bounds(&self) -> Bounds {
        let Parameters { demand, buckets, .. } = *self;
        let (gates, authenticators) = (buckets.gates, buckets.authenticators());
        let gate = |bad| survives(self.check_gates, self.bucketed_gates(), 4 * bad);
        let authenticator = |bad| survives(self.check_authenticators, self.bucketed_authenticators(), 2 * bad);
        // All gates are bad; or those from `least` on, and enough authenticators for a majority.
        let buckets_bad = |least: u32| {
            let gates: f64 = (least..=gates).map(gate).product();
            let needed = least - 1;
            gates * (authenticators - needed + 1..=authenticators).map(authenticator).product::<f64>()
        };
        // At least half of them, so the others have no majority.
        let half = |size: u32, survives: &dyn Fn(u32) -> f64| -> f64 {
            (1..=size / 2 + 1).map(|least| (least..=size).map(survives).product::<f64>()).sum()
        };
        let log2 = |count: u64, chance: f64| (count as f64 * chance).log2();
        Bounds {
            bucket: log2(demand.gates, (1..=gates).map(buckets_bad).sum()),
            input_authenticators: log2(demand.inputs, half(buckets.input_authenticators, &authenticator)),
            input_bucket: log2(demand.input_buckets, half(buckets.input_gates, &gate)),
        }
    }

    /// The approximate number of bytes that the constructor sends before the function is known: gates, authenticators, commitments,
    /// openings of checked components and solderings within buckets.
    pub fn bytes(&self, parity_bits: u64, statistical: u32) -> f64 {
        let commitment = parity_bits as f64 / 8.0;
        let gates = self.gates_made(statistical) as f64;
        let authenticators = self.authenticators_made(statistical) as f64;
        let made = gates * (32.0 + 16.0 + 3.0 * commitment) + authenticators * (32.0 + commitment);
        let checked = self.check_gates * gates * 32.0 + self.check_authenticators * authenticators * 16.0;
        made + checked + 16.0 * self.solderings() as f64
    }

    /// The number of sums of wires that are opened to join the components of every bucket.
    pub fn solderings(&self) -> u64 {
        let Parameters { demand, buckets, .. } = self;
        let others = |size: u32| u64::from(size - 1);
        demand.gates * (3 * others(buckets.gates) + u64::from(buckets.authenticators()))
            + 3 * demand.input_buckets * others(buckets.input_gates)
            + demand.inputs * others(buckets.input_authenticators)
    }
}

/// The probability that one more bad component survives the checks and falls into the same bucket: `weight` is the number of remaining places
/// of the bucket times the probability that a bad component is detected.
fn survives(check: f64, bucketed: u64, weight: u32) -> f64 {
    let unchecked = (1.0 - check) * f64::from(weight);
    unchecked / (check * bucketed as f64 + unchecked)
}

/// The fewest bad gates that a constructor gets into its peer's store with probability `2^-statistical` at most, if it can hang up `hang_ups` times when one
/// of them is about to be detected, which loses at least that one. Each is wrong for at least one of four inputs, so a check detects it with a quarter of
/// the check's probability. The number that escapes before one too many is detected has the negative binomial distribution.
pub(crate) fn escaping(check: f64, statistical: u32, hang_ups: u32) -> u64 {
    let limit = -f64::from(statistical) * std::f64::consts::LN_2;
    let is_rare = |gates: u64| ln_found_at_most(hang_ups, gates + u64::from(hang_ups), check / 4.0) <= limit;
    let mut most = 1;
    while !is_rare(most) {
        most *= 2;
    }
    let mut least = most / 2;
    while least + 1 < most {
        let middle = least.midpoint(most);
        *(if is_rare(middle) { &mut most } else { &mut least }) = middle;
    }
    most
}

/// The logarithm of the probability that at most `found` of `all` bad gates are detected, each with probability `chance`.
fn ln_found_at_most(found: u32, all: u64, chance: f64) -> f64 {
    let odds = |of: u64| (all - of + 1) as f64 / of as f64 * chance / (1.0 - chance);
    let found = u64::from(found);
    let last = all as f64 * (-chance).ln_1p() + (1..=found).map(|of| odds(of).ln()).sum::<f64>();
    // The others relative to the last, which may be far below the least number.
    let (mut sum, mut other) = (1.0, 1.0);
    for of in (1..=found).rev() {
        other /= odds(of);
        sum += other;
    }
    last + sum.ln()
}

/// The number to make so that `needed` are left when each is checked with probability `check`: `needed / (1 - check - t)`, where by
/// Hoeffding's bound the slack `t` solves `2 made t^2 = statistical ln 2`.
fn made(needed: u64, check: f64, statistical: u32) -> u64 {
    if needed == 0 {
        return 0;
    }
    let (needed, b) = (needed as f64, f64::from(statistical) * std::f64::consts::LN_2);
    let slack = ((b * b + 8.0 * needed * b * (1.0 - check)).sqrt() - b) / (4.0 * needed);
    (needed / (1.0 - check - slack)).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table V: circuit, executions, AND gates and inputs of one, bucket size, exponents of both probabilities.
    const PUBLISHED: [(&str, u64, u64, u64, u32, i32, i32); 8] = [
        ("AES-128", 1, 6_928, 256, 7, 4, 3),
        ("AES-128", 32, 6_928, 256, 4, 2, 2),
        ("AES-128", 128, 6_928, 256, 4, 3, 3),
        ("AES-128", 1024, 6_928, 256, 4, 5, 6),
        ("SHA-256", 1, 91_081, 512, 5, 3, 4),
        ("SHA-256", 32, 91_081, 512, 4, 4, 5),
        ("SHA-256", 128, 91_081, 512, 4, 6, 5),
        ("SHA-256", 256, 91_081, 512, 4, 7, 5),
    ];

    fn published(row: usize) -> Parameters {
        let (_, times, gates, inputs, bucket, check_gates, check_authenticators) = PUBLISHED[row];
        let (gates, inputs) = (gates * times, inputs * times);
        Parameters {
            demand: Demand { gates, inputs, input_buckets: inputs / 2 },
            buckets: Buckets::published(bucket),
            check_gates: (-f64::from(check_gates)).exp2(),
            check_authenticators: (-f64::from(check_authenticators)).exp2(),
        }
    }

    #[test]
    fn the_published_rows_keep_the_bound_that_they_promise() {
        // Computed apart from this code, from the theorem's text.
        let worst = [-41.29, -40.60, -41.72, -40.63, -41.75, -40.54, -40.78, -40.31];
        for (row, worst) in worst.into_iter().enumerate() {
            // The theorem has an input bucket for every input.
            let mut parameters = published(row);
            parameters.demand.input_buckets = parameters.demand.inputs;
            let bounds = parameters.bounds();
            assert!((bounds.bucket - worst).abs() < 0.01, "{}: {bounds:?}", PUBLISHED[row].0);
            assert!(bounds.worst() < -40.0 && bounds.any() >= bounds.worst() && bounds.any() < -40.0);
        }
    }

    #[test]
    fn the_model_of_bytes_is_near_the_published_sizes() {
        // Measured in Table V, in megabytes; the model omits the cost of each thread.
        let megabytes = [14.94, 279.78, 924.68, 6_570.0, 120.34, 2_730.0, 10_310.0, 20_280.0];
        let model = [12.29, 256.68, 880.35, 6_338.85, 109.42, 2_563.34, 9_893.27, 19_672.06];
        for row in 0..PUBLISHED.len() {
            let bytes = published(row).bytes(184, 40) / 1e6;
            assert!((bytes / model[row] - 1.0).abs() < 0.001, "row {row}: {bytes}");
            assert!((0.8..1.0).contains(&(bytes / megabytes[row])), "row {row}: {bytes}");
        }
    }

    #[test]
    fn the_choice_is_as_cheap_and_as_safe_as_the_published_one() {
        for row in 0..PUBLISHED.len() {
            let theirs = published(row);
            let ours = Parameters::fewest_bytes(theirs.demand, 40, 134).unwrap();
            assert!(ours.bounds().any() < -40.0);
            assert!(ours.bytes(134, 40) <= 0.9 * theirs.bytes(184, 40), "row {row}: {ours:?}");
        }
    }

    /// A key that only half of an input's authenticators accept is refused, and half of an input bucket's gates can outvote the others:
    /// one more component does not help against the same number of bad ones.
    #[test]
    fn half_of_an_even_number_is_as_bad_as_a_majority() {
        for row in 0..PUBLISHED.len() {
            for half in 2..=6 {
                let bounds = |size| {
                    let mut parameters = published(row);
                    (parameters.buckets.input_gates, parameters.buckets.input_authenticators) = (size, size);
                    parameters.bounds()
                };
                let (even, odd) = (bounds(2 * half), bounds(2 * half - 1));
                assert!(even.input_bucket > odd.input_bucket, "row {row}, {half} of {}", 2 * half);
                assert!(even.input_authenticators > odd.input_authenticators, "row {row}, {half} of {}", 2 * half);
            }
            let chosen = Parameters::fewest_bytes(published(row).demand, 40, 134).unwrap().buckets;
            assert!(
                !chosen.input_gates.is_multiple_of(2) && !chosen.input_authenticators.is_multiple_of(2),
                "{chosen:?}"
            );
        }
    }

    #[test]
    fn more_security_takes_more_bytes() {
        let demand = published(1).demand;
        let bytes = |statistical| {
            let parameters = Parameters::fewest_bytes(demand, statistical, 134).unwrap();
            assert!(parameters.bounds().any() < -f64::from(statistical));
            parameters.bytes(134, statistical)
        };
        assert!(bytes(30) < bytes(40) && bytes(40) < bytes(60));
    }

    /// The probabilities of all courses, one bad gate after another.
    #[test]
    fn as_many_bad_gates_escape_as_all_courses_give() {
        for (check, hang_ups) in [(0.5, 0), (0.5, 3), (0.16, 1), (0.16, 7), (1e-3, 12)] {
            let (found, statistical) = (check / 4.0, 9);
            // The probability of having detected this many when that many have escaped.
            let mut chances = vec![0.0; hang_ups + 1];
            chances[0] = 1.0;
            let mut fewest = 0;
            while chances.iter().sum::<f64>() > f64::from(statistical).exp2().recip() {
                let mut before = 0.0;
                for chance in &mut chances {
                    before = *chance + found * before;
                    *chance = (1.0 - found) * before;
                }
                fewest += 1;
            }
            assert_eq!(escaping(check, statistical, hang_ups as u32), fewest, "{check}, {hang_ups}");
        }
    }

    #[test]
    fn hang_ups_are_provided_for() {
        let check = (-21.0 / 8.0f64).exp2();
        let without = (40.0 * std::f64::consts::LN_2 / -(-check / 4.0).ln_1p()).ceil() as u64;
        assert_eq!([0, 3, 6, 12].map(|hang_ups| escaping(check, 40, hang_ups)), [without, 889, 1_061, 1_357]);
        assert!(escaping(check, 40, 5_000) > 100_000);
    }

    /// Simulates the checks: enough is left in all of a thousand runs, and not far more than needed.
    #[test]
    fn enough_is_left_after_the_checks() {
        use garblet_primitives::{Block, Prg};
        use rand_core::Rng;
        let (needed, check) = (500, 0.25);
        let made = made(needed, check, 40);
        let mut rng = Prg::new(Block::ZERO);
        let left: Vec<u64> =
            (0..1000).map(|_| (0..made).filter(|_| rng.next_u32() >= 1 << 30).count() as u64).collect();
        assert!(left.iter().all(|&left| left >= needed));
        assert!(left.iter().any(|&left| left < needed * 5 / 4));
    }
}
