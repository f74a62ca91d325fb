//! A mean and how far it may be off.

use garblet_console::output::seconds;
use serde::Serialize;

/// The mean of some times, with its 95 % interval by Student's distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    /// Half the length of the interval. None for a single time.
    pub(crate) interval_95: Option<f64>,
}

/// 97.5 % quantiles of Student's distribution for one to ten degrees of freedom.
const QUANTILES: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/// The quantile for a number of degrees of freedom. Beyond the table it comes from the normal quantile by the Cornish-Fisher expansion.
fn quantile(freedom: usize) -> f64 {
    const NORMAL: f64 = 1.959_964;
    match QUANTILES.get(freedom.saturating_sub(1)) {
        Some(quantile) => *quantile,
        None => {
            let (z, n) = (NORMAL, freedom as f64);
            z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

impl Spread {
    /// Of one time at least.
    pub(crate) fn of(times: &[f64]) -> Self {
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        let interval = || quantile(times.len() - 1) * (squares / (count - 1.0) / count).sqrt();
        Spread { mean, interval_95: (times.len() > 1).then(interval) }
    }

    /// `12.3 ms ± 4 %`.
    pub(crate) fn text(&self) -> String {
        let Spread { mean, interval_95 } = *self;
        let off = interval_95.filter(|_| mean > 0.0).map(|half| format!(" ± {:.0} %", 100.0 * half / mean));
        seconds(mean) + &off.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_students() {
        let Spread { mean, interval_95 } = Spread::of(&[1.0, 2.0, 3.0]);
        // 4.303 / sqrt(3) with a standard deviation of 1.
        assert!(mean == 2.0 && interval_95.is_some_and(|half| (half - 2.484).abs() < 1e-3), "{interval_95:?}");
        assert_eq!(Spread::of(&[5.0]), Spread { mean: 5.0, interval_95: None });
        for (freedom, expected) in [(1, 12.706), (9, 2.262), (11, 2.201), (30, 2.042), (120, 1.980)] {
            assert!((quantile(freedom) - expected).abs() < 5e-3, "{freedom}: {}", quantile(freedom));
        }
    }

    #[test]
    fn an_interval_is_told_in_percent() {
        assert_eq!(Spread { mean: 0.5, interval_95: Some(0.02) }.text(), "500.0 ms ± 4 %");
        assert_eq!(Spread { mean: 0.0, interval_95: Some(0.0) }.text(), "0 us");
        assert_eq!(Spread::of(&[2.0]).text(), "2.00 s");
    }
}
