//! Compares measured rates with computed ones.

/// The probability that a binomial variable of `trials` trials with probability `p` is at least as far from its mean as `count`, on the
/// same side. If it is below 10^-4, a test may reject the formula.
pub fn binomial_tail(count: u32, trials: u32, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return if f64::from(count) == p.clamp(0.0, 1.0) * f64::from(trials) { 1.0 } else { 0.0 };
    }
    let mass = |k: u32| (ln_choose(trials, k) + f64::from(k) * p.ln() + f64::from(trials - k) * (1.0 - p).ln()).exp();
    let expected = f64::from(trials) * p;
    match f64::from(count) < expected {
        true => (0..=count).map(mass).sum(),
        false => (count..=trials).map(mass).sum(),
    }
}

fn ln_choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| (f64::from(n - i) / f64::from(i + 1)).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_ten_coins() {
        assert!((binomial_tail(0, 10, 0.5) - 1.0 / 1024.0).abs() < 1e-12);
        assert!((binomial_tail(9, 10, 0.5) - 11.0 / 1024.0).abs() < 1e-12);
        assert!((binomial_tail(5, 10, 0.5) - 638.0 / 1024.0).abs() < 1e-12);
    }

    #[test]
    fn certainty_is_certain() {
        assert_eq!((binomial_tail(7, 7, 1.0), binomial_tail(6, 7, 1.0)), (1.0, 0.0));
        assert_eq!((binomial_tail(0, 7, 0.0), binomial_tail(1, 7, 0.0)), (1.0, 0.0));
    }
}
