//! The places of values along an axis, and the values that are marked there.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

use super::plot::Kind;

/// Places along an axis.
#[derive(Clone)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    marks: Vec<f64>,
}

impl Scale {
    /// A scale on which all values have a place. A logarithmic one begins and ends with a mark where it may; `spaced` leaves room at both ends.
    pub(super) fn of(kind: &Kind, values: impl Iterator<Item = f64>, spaced: bool) -> Self {
        let (mut low, mut high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        match kind {
            Kind::Names(names) => {
                let count = names.len() as f64;
                let marks = (0..names.len()).map(|at| at as f64).collect();
                Scale { low: -0.6, high: count - 0.4, logarithmic: false, marks }
            }
            Kind::Number { logarithmic: true, .. } => Scale::logarithmic(low, high, spaced),
            Kind::Number { .. } => Scale::linear(high),
        }
    }

    fn logarithmic(low: f64, high: f64, spaced: bool) -> Self {
        let [low, high] = [low, high].map(|value| value.max(1e-12).log10());
        let (first, last) = (low.floor() as i32, high.ceil() as i32);
        // Also around a single value there are several marks.
        let room = (0.05 * (high - low)).max((0.7 - (high - low)) / 2.0);
        let [low, high] = if spaced {
            [low - room, high + room]
        } else {
            [low.floor().min(low - room), high.ceil().max(high + room)]
        };
        // A narrow range has marks between powers of ten, too.
        let within: &[f64] = if last - first <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let step = 1 + (last - first) / 9;
        let powers = (first..=last).filter(|power| (power - first) % step == 0);
        let marks = powers.flat_map(|power| within.iter().map(move |digit| f64::from(power) + digit.log10()));
        Scale { low, high, logarithmic: true, marks: marks.filter(|mark| (low..=high).contains(mark)).collect() }
    }

    fn linear(high: f64) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        let power = 10f64.powf(high.log10().floor());
        let step =
            [0.2, 0.5, 1.0, 2.0].map(|part| part * power).into_iter().find(|step| high / step <= 6.0).unwrap_or(power);
        let marks: Vec<f64> = (0..=(high / step).ceil() as u32).map(|count| f64::from(count) * step).collect();
        Scale { low: 0.0, high: marks.last().copied().unwrap_or(high).max(high * 1.04), logarithmic: false, marks }
    }

    /// The places that are marked.
    pub(super) fn marks(&self) -> &[f64] {
        &self.marks
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        if self.logarithmic { value.max(1e-12).log10() } else { value }
    }

    /// The value at a place.
    pub(super) fn value(&self, place: f64) -> f64 {
        if self.logarithmic { 10f64.powf(place) } else { place }
    }
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (first, last): (i32, i32)) -> i32 {
        let part = (place - self.low) / (self.high - self.low);
        first + (part * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Unit, *};

    fn scale(values: &[f64], logarithmic: bool) -> Scale {
        Scale::of(&Kind::Number { unit: Unit::Count, logarithmic }, values.iter().copied(), false)
    }

    #[test]
    fn every_value_has_a_place_and_marks_are_few() {
        for values in [&[1.0][..], &[3.0, 7.0, 13.0], &[1e-3, 5e5], &[0.7, 330.0], &[1e-9, 1e9], &[]] {
            for logarithmic in [false, true] {
                let scale = scale(values, logarithmic);
                assert!(values.iter().all(|v| (scale.low..=scale.high).contains(&scale.place(*v))), "{values:?}");
                assert!((2..=13).contains(&scale.marks().len()), "{values:?}: {:?}", scale.marks());
                let known = values.iter().all(|v| (scale.value(scale.place(*v)) / v - 1.0).abs() < 1e-9);
                assert!(known, "{values:?}");
            }
        }
    }
}
