//! The top of a page of papers, which answers how ours compares: some figures, every ratio, and where a paper is better.

use maud::{Markup, html};

use super::{
    html::{scrolled, with_code},
    rows::{is_behind, times},
    strip::Strip,
};

/// The answer, in figures and plots.
pub(crate) struct Summary {
    pub(crate) figures: Vec<Compared>,
    pub(crate) strips: Vec<Strip>,
    pub(crate) behind: Vec<Behind>,
}

/// A figure of ours beside the published one, in words.
pub(crate) struct Compared {
    /// The section that has it.
    pub(crate) section: String,
    pub(crate) system: String,
    pub(crate) words: String,
    pub(crate) published: String,
    pub(crate) ours: String,
    pub(crate) ratio: Option<f64>,
}

/// The figures in which a paper is better than ours.
pub(crate) struct Behind {
    pub(crate) count: usize,
    /// The number of figures that were compared.
    pub(crate) of: usize,
    /// The one in which it is better by most.
    pub(crate) furthest: Compared,
}

impl Summary {
    pub(super) fn markup(&self) -> Markup {
        html! {
            section #summary {
                h2 { "How does it compare?" }
                p.wide { "A ratio is the published figure divided by ours. Above 1 ours is faster or smaller; below 0.95 it is behind." }
                (lines("Some figures", "figure", self.figures.iter().map(|figure| (figure.words.clone(), figure))))
                div.strips { @for strip in &self.strips { (strip.markup()) } }
                h3 #behind { "Where the papers are better" }
                @if self.behind.is_empty() { p { "Nowhere, among the figures that were measured." } } @else { (self.behind()) }
            }
        }
    }

    fn behind(&self) -> Markup {
        let words = |behind: &Behind| {
            format!("{} of {} figures; by most in {}", behind.count, behind.of, behind.furthest.words)
        };
        lines("Where the papers are better", "where", self.behind.iter().map(|own| (words(own), &own.furthest)))
    }
}

fn lines<'a>(label: &str, head: &str, figures: impl Iterator<Item = (String, &'a Compared)>) -> Markup {
    scrolled(
        label,
        html! {
            table.compared {
                thead { tr { @for name in ["paper", head, "published", "ours", "ratio"] { th scope="col" { (name) } } } }
                tbody { @for (words, figure) in figures { (line(&words, figure)) } }
            }
        },
    )
}

fn line(words: &str, figure: &Compared) -> Markup {
    html! {
        tr {
            th scope="row" { a href={ "#" (figure.section) } { (figure.system) } }
            td { (with_code(words)) }
            td.number { (figure.published) }
            td.number.ours { (figure.ours) }
            td.number { @if let Some(ratio) = figure.ratio { span.ratio.worse[is_behind(ratio)] { (times(ratio)) } } }
        }
    }
}
