//! A plot of many ratios: a line for each system, a dot for each ratio, and a rule where both are equal.
//!
//! It is drawn here because plots of `plotters` have their names below, where five do not fit into a third of a page.

use garblet_console::output::count;
use maud::{Markup, PreEscaped, html};

use super::{
    plot::Ground,
    rows::{is_behind, range},
};

/// Ratios of one kind.
pub(crate) struct Strip {
    /// The name of its element.
    pub(crate) id: String,
    pub(crate) title: String,
    /// The ratios of each system.
    pub(crate) lines: Vec<(String, Vec<f64>)>,
}

const WIDTH: f64 = 352.0;
const LINE_HEIGHT: f64 = 40.0;
/// The room below for the marks of the axis.
const FOOT: f64 = 24.0;
/// The room on both sides, which half of a mark needs.
const SIDE: f64 = 26.0;

impl Strip {
    /// The powers of ten at which the axis begins and ends. One is always between them.
    fn powers(&self) -> (i32, i32) {
        let logarithms = self.lines.iter().flat_map(|(_, ratios)| ratios).map(|ratio| ratio.log10());
        let (low, high) = logarithms.fold((0.0, 0.0), |(low, high): (f64, f64), l| (low.min(l), high.max(l)));
        ((low.floor() as i32).min(-1), (high.ceil() as i32).max(1))
    }

    /// The ratios of each system in words, for readers who do not see the dots.
    pub(crate) fn in_words(&self) -> String {
        let of = |(system, ratios): &(String, Vec<f64>)| {
            let mut sorted = ratios.clone();
            sorted.sort_by(f64::total_cmp);
            match range(&sorted) {
                None => format!("{system}: nothing to compare."),
                Some(range) if sorted.len() == 1 => format!("{system}: 1 figure, {range}."),
                Some(range) => format!("{system}: {} figures, {range}, {}.", sorted.len(), behind(ratios)),
            }
        };
        self.lines.iter().map(of).collect::<Vec<_>>().join(" ")
    }

    /// The plot as an SVG element.
    pub(crate) fn svg(&self, ground: Ground) -> String {
        let (low, high) = self.powers();
        let place = |logarithm: f64| {
            let part = (logarithm - f64::from(low)) / f64::from(high - low);
            format!("{:.1}", SIDE + (WIDTH - 2.0 * SIDE) * part)
        };
        let bottom = LINE_HEIGHT * self.lines.len() as f64;
        let drawn = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (bottom + FOOT) } role="img" aria-labelledby={ (self.id) "-title " (self.id) "-desc" }
                font-family="system-ui, sans-serif" font-size="12" fill="var(--ink)" {
                title id={ (self.id) "-title" } { (self.title) }
                desc id={ (self.id) "-desc" } { (self.in_words()) }
                @if let Some(paper) = ground.paper() { rect width="100%" height="100%" fill=(paper) {} }
                @for power in low..=high {
                    text x=(place(f64::from(power))) y=(bottom + 16.0) text-anchor="middle" { (mark(power)) }
                }
                @for (number, (system, ratios)) in self.lines.iter().enumerate() {
                    @let top = LINE_HEIGHT * number as f64;
                    text x="2" y=(top + 13.0) font-weight="600" { (system) }
                    text x=(WIDTH - 2.0) y=(top + 13.0) text-anchor="end" { (in_short(ratios)) }
                    @for power in low..=high {
                        @let (x, stroke) = (place(f64::from(power)), if power == 0 { "var(--ink)" } else { "var(--grid)" });
                        line x1=(x) x2=(x) y1=(top + 18.0) y2=(top + 34.0) stroke=(stroke) {}
                    }
                    @for ratio in ratios {
                        @let colour = if is_behind(*ratio) { "var(--s1)" } else { "var(--s0)" };
                        circle cx=(place(ratio.log10())) cy=(top + 26.0) r="4" fill=(colour) fill-opacity="0.6" {}
                    }
                }
            }
        };
        ground.coloured(&drawn.into_string())
    }

    pub(super) fn markup(&self) -> Markup {
        html! { figure.strip { figcaption { strong { (self.title) } } (PreEscaped(self.svg(Ground::Page))) } }
    }
}

fn mark(power: i32) -> String {
    match power {
        0 => "1 ×".into(),
        1.. => count(10u64.pow(power as u32)),
        _ => format!("{}", 10f64.powi(power)),
    }
}

fn in_short(ratios: &[f64]) -> String {
    if ratios.is_empty() { "nothing to compare".into() } else { format!("{}, {}", ratios.len(), behind(ratios)) }
}

fn behind(ratios: &[f64]) -> String {
    match ratios.iter().filter(|ratio| is_behind(**ratio)).count() {
        0 => "none behind".into(),
        some => format!("{some} behind"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ratio_is_a_dot_and_the_words_say_where_they_lie() {
        let lines = vec![("A".into(), vec![0.5, 20.0, 1000.0]), ("B".into(), vec![3.0]), ("C".into(), vec![])];
        let strip = Strip { id: "s".into(), title: "Times".into(), lines };
        let svg = strip.svg(Ground::Page);
        let of_colour = |colour: &str| svg.matches(&format!("fill=\"var({colour})\" fill-opacity")).count();
        assert_eq!((svg.matches("<circle").count(), of_colour("--s0"), of_colour("--s1")), (4, 3, 1), "{svg}");
        // From a tenth to a thousand: five marks for each system, and one is where both are equal.
        assert_eq!((svg.matches("<line").count(), svg.matches("stroke=\"var(--ink)\"").count()), (15, 3), "{svg}");
        assert!(svg.contains(">3, 1 behind<") && svg.contains(">nothing to compare<"), "{svg}");
        for ground in [Ground::Light, Ground::Dark] {
            let alone = strip.svg(ground);
            assert!(!alone.contains("var(") && alone.contains("<rect"), "it needs no style sheet: {alone}");
        }
        let words = "A: 3 figures, 0.5 × to 1,000 ×, median 20 ×, 1 behind. B: 1 figure, 3.0 ×. C: nothing to compare.";
        assert_eq!(strip.in_words(), words);
        assert_eq!([-2, -1, 0, 3].map(mark), ["0.01", "0.1", "1 ×", "1,000"]);
    }
}
