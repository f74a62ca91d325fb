//! One HTML file of a document, which needs no network, and no script to be read.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    Document, Json, Piece, Row, Section,
    plot::{self, Ground, Plot},
    rows,
};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page.
pub(crate) fn page(document: &Document) -> String {
    let colours = format!(
        ":root{{{}}}@media(prefers-color-scheme:dark){{:root{{{}}}}}",
        plot::variables(false),
        plot::variables(true)
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (document.title) }
                style { (PreEscaped(&colours)) (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#content" { "To the content" }
                header { h1 { (document.title) } @for line in &document.lead { p { (with_code(line)) } } }
                main #content {
                    @if !document.missing.is_empty() { (missing(&document.missing)) }
                    @if let Some(summary) = &document.summary { (summary.markup()) }
                    @if document.sections.len() > 1 { (contents(&document.sections)) }
                    @for section in &document.sections { (of_section(section)) }
                }
                footer { (origin(document)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// The warning of a page that has not everything.
fn missing(what: &[String]) -> Markup {
    html! {
        div.missing role="note" {
            p { strong { "This page is not whole." } " It is missing:" }
            ul { @for line in what { li { (line) } } }
        }
    }
}

fn contents(sections: &[Section]) -> Markup {
    html! {
        nav aria-label="Contents" {
            h2 { "Contents" }
            ul {
                @for section in sections {
                    li {
                        a href={ "#" (section.id) } { (section.title) }
                        @for (experiment, _) in rows::by_experiment(&section.rows) {
                            " · " a href={ "#" (rows::id(&section.id, experiment)) } { (experiment) }
                        }
                    }
                }
            }
        }
    }
}

/// A section: in full without experiments, else a card for each of them.
fn of_section(section: &Section) -> Markup {
    let pieces = html! {
        @for (at, piece) in section.pieces.iter().enumerate() { (of_piece(&format!("{}, {}", section.title, at + 1), piece)) }
    };
    html! {
        section id=(section.id) {
            h2 { (section.title) }
            @if section.rows.is_empty() { (about(section)) (pieces) } @else { (experiments(section, &pieces)) }
        }
    }
}

fn about(section: &Section) -> Markup {
    html! { @for paragraph in &section.about { p { (with_code(paragraph)) } } }
}

/// The experiments of a paper: those that were measured beside one another, and what is read less often folded.
fn experiments(section: &Section, pieces: &Markup) -> Markup {
    let (measured, others): (Vec<_>, Vec<_>) =
        rows::by_experiment(&section.rows).into_iter().partition(|(_, rows)| rows.iter().any(|row| row.measured()));
    html! {
        details { summary { "What was measured, by whom and where" } (about(section)) (pieces) }
        // Plots stand beside plots, and tables beside tables.
        @let (drawn, told): (Vec<_>, Vec<_>) = measured.iter().partition(|(experiment, _)| !plots(section, experiment).is_empty());
        div.cards { @for (experiment, rows) in drawn.into_iter().chain(told) { (card(section, experiment, rows)) } }
        @if !others.is_empty() {
            details {
                summary { "Not measured here: " (others.iter().map(|(experiment, _)| *experiment).collect::<Vec<_>>().join(", ")) }
                @for (experiment, rows) in &others { (card(section, experiment, rows)) }
            }
        }
    }
}

/// The plots of an experiment.
fn plots<'a>(section: &'a Section, experiment: &str) -> Vec<&'a Plot> {
    section.plots.iter().filter(|plot| plot.experiment == experiment && plot.is_worth_it()).collect()
}

/// An experiment: a plot, or a line for each quantity, above all its rows.
fn card(section: &Section, experiment: &str, rows: &[&Row]) -> Markup {
    let plots = plots(section, experiment);
    let id = rows::id(&section.id, experiment);
    let label = format!("{}: {experiment}", section.title);
    html! {
        article.card id=(id) {
            h3 { (rows::capitalised(experiment)) }
            p.brief { (rows::in_brief(rows)) }
            @match plots.first() {
                Some(plot) => (figure(plot)),
                None => @if rows.iter().any(|row| row.measured()) { (rows::by_quantity(&label, rows)) },
            }
            details {
                summary { "All rows of " (experiment) @if plots.len() > 1 { ", and more plots" } }
                @for plot in plots.iter().skip(1) { (figure(plot)) }
                (rows::table(&id, &label, rows))
            }
        }
    }
}

fn figure(plot: &Plot) -> Markup {
    html! {
        figure {
            (scrolled(&plot.title, html! { (PreEscaped(plot.svg(Ground::Page))) }))
            figcaption { strong { (plot.title) } " " (with_code(&plot.about)) }
        }
    }
}

fn of_piece(label: &str, piece: &Piece) -> Markup {
    match piece {
        Piece::Words(words) => {
            html! { @for line in words.lines().filter(|line| !line.trim().is_empty()) { p { (line) } } }
        }
        Piece::Table(lines) => plain_table(label, lines),
        Piece::Facts(lines) => {
            let value = |line: &[String]| line.get(1..).unwrap_or_default().join(" ");
            html! { dl { @for line in lines { @if let Some(name) = line.first() { dt { (name) } dd { (value(line)) } } } } }
        }
    }
}

fn plain_table(label: &str, lines: &[Vec<String>]) -> Markup {
    let Some((head, body)) = lines.split_first() else { return html! {} };
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |line: &[String], at: usize| line.get(at).cloned().unwrap_or_default();
    scrolled(
        label,
        html! {
            table {
                thead { tr { @for at in 0..columns { @if cell(head, at).is_empty() { td {} } @else { th scope="col" { (cell(head, at)) } } } } }
                tbody { @for line in body { tr { @for at in 0..columns { td { (cell(line, at)) } } } } }
            }
        },
    )
}

/// Words in which what stands between backticks is code.
pub(super) fn with_code(words: &str) -> Markup {
    html! { @for (at, part) in words.split('`').enumerate() { @if at % 2 == 1 { code { (part) } } @else { (part) } } }
}

/// A table that scrolls by itself where it is too wide, also by the keyboard.
pub(super) fn scrolled(label: &str, table: Markup) -> Markup {
    html! { section.scrolled tabindex="0" aria-label=(label) { (table) } }
}

fn origin(document: &Document) -> Markup {
    let machine = &document.machine;
    html! {
        h2 { "Where this comes from" }
        @for line in &document.remarks { p { (with_code(line)) } }
        details {
            summary { "The machine, and all calls" }
            dl {
                @for (name, value) in machine.lines() { dt { (name) } dd { (value) } }
                dt { "page made" } dd { (document.time) }
            }
            ol.calls { @for call in &document.calls { li { code { (call) } } } }
        }
        @match &document.json {
            Json::Here(text) => details.json { summary { "Everything as JSON" } pre tabindex="0" { (text) } },
            Json::Beside(file) => p { a href=(file) { "Everything as JSON" } },
        }
    }
}
