//! The probability that a cheating garbler gets away with it, computed rather than looked up.

use super::config::{Config, Form};

/// log2 of the probability that enough of `circuits` circuits are bad and no bad one is checked, where `evaluated` of them,
/// chosen uniformly, are evaluated and all others are checked.
///
/// *Source*: `h` bad circuits pass unnoticed with probability `C(e, h) / C(s, h)`, and they must be half of the evaluated ones:
/// `h = ceil(e / 2)`, where a tie counts as a win for the garbler.
pub fn cut_log2(circuits: usize, evaluated: usize) -> f64 {
    let needed = evaluated.div_ceil(2);
    (0..needed).map(|i| (evaluated.saturating_sub(i) as f64 / circuits.saturating_sub(i) as f64).log2()).sum()
}

/// The best number of `circuits` circuits to evaluate: odd, so that there are no ties.
pub(crate) fn best_evaluated(circuits: usize) -> usize {
    let odd = (1..circuits.max(2)).step_by(2);
    odd.min_by(|&a, &b| cut_log2(circuits, a).total_cmp(&cut_log2(circuits, b))).unwrap_or(1)
}

/// log2 of the number of ways to choose `k` from `n`.
fn choose_log2(n: usize, k: usize) -> f64 {
    (0..k).map(|i| ((n - i) as f64 / (i + 1) as f64).log2()).sum()
}

/// log2 of the sum of probabilities, each given as its log2.
pub(crate) fn sum_log2(terms: &[f64]) -> f64 {
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most.is_finite() { most + terms.iter().map(|term| (term - most).exp2()).sum::<f64>().log2() } else { most }
}

/// log2 of the probability that the peer of an honest party cheats without being caught, summed over all ways to
/// cheat.
///
/// *Shape*: `tag_blocks` is how many field elements the garbler's output takes, 0 if it has none.
pub(super) fn cheating_log2(config: &Config, tag_blocks: usize) -> f64 {
    let distance = -(config.distance() as f64);
    let mut terms = vec![
        // Bad circuits that are never checked.
        cut_log2(config.circuits(), config.evaluated()),
        // Enough spoiled labels to defeat the evaluator's encoding; an encoding that is not resistant.
        1.0 + distance,
        distance,
        // Two inputs of the garbler: with the same hash, or in exactly the supersets that are not checked.
        match config.form {
            Form::Oblivious => -(config.hash_rows() as f64),
            Form::Lp07 => -choose_log2(config.supersets(), config.supersets() / 2),
        },
    ];
    if tag_blocks > 0 {
        // A false garbler output with a right tag.
        terms.push((tag_blocks as f64).log2() - config.field().degree() as f64);
    }
    sum_log2(&terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C(n, k) for small numbers.
    fn choose(n: u64, k: u64) -> f64 {
        (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64)
    }

    #[test]
    fn the_formula_is_the_hypergeometric_distribution() {
        for s in 2..20u64 {
            for e in 1..s {
                // No bad circuit among the s - e checked ones; more bad ones only make that less likely.
                let needed = e.div_ceil(2);
                let exact = (needed..=e).map(|bad| choose(s - bad, s - e) / choose(s, s - e)).fold(0.0, f64::max);
                let got = cut_log2(s as usize, e as usize);
                assert!((got - exact.log2()).abs() < 1e-9, "{s} circuits, {e} evaluated: {got}, {}", exact.log2());
            }
        }
    }

    #[test]
    fn known_figures() {
        for (s, e, log2) in [
            (123, 49, -40.26),
            (128, 51, -41.87),
            (160, 80, -49.5),
            (256, 102, -82.1),
            (256, 101, -83.07),
            (40, 20, -12.2),
        ] {
            let got = cut_log2(s, e);
            assert!((got - log2).abs() < 0.05, "{s} circuits, {e} evaluated: {got}");
        }
        assert_eq!([3, 128, 256].map(best_evaluated), [1, 51, 101]);
    }

    #[test]
    fn probabilities_add_up() {
        assert!((sum_log2(&[-1.0, -1.0]) - 0.0).abs() < 1e-12);
        assert!((sum_log2(&[-2000.0, -2000.0]) + 1999.0).abs() < 1e-9);
        assert_eq!(sum_log2(&[]), f64::NEG_INFINITY);
    }

    #[test]
    fn the_published_parameters_are_as_secure_as_their_encoding() {
        let config = Config { form: Form::Lp07, ..Config::default() };
        assert_eq!((config.circuits(), config.evaluated(), config.supersets()), (160, 80, 160));
        assert!((choose_log2(160, 80) - 156.0).abs() < 0.5);
        // 2^-39 + 2^-40 for the encoding; everything else hardly counts.
        assert!((cheating_log2(&config, 0) - (1.5f64.log2() - 39.0)).abs() < 0.01);
    }

    #[test]
    fn the_total_stays_below_the_requested_bound() {
        for &statistical in super::super::Statistical::ALL {
            let config = Config { statistical, ..Config::default() };
            for tag_blocks in [0, 1, 43] {
                let total = cheating_log2(&config, tag_blocks);
                assert!(total <= -f64::from(statistical.bits()), "{statistical:?}, {tag_blocks} blocks: {total}");
            }
        }
    }
}
