//! One HTML file of a document, which needs no network, and no script to be read.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    Document, Json, Piece, Section,
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
                    @if document.sections.len() > 1 { (contents(&document.sections)) }
                    (summary(document))
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
        nav aria-label="Sections" { ul { @for section in sections { li { a href={ "#" (section.id) } { (section.title) } } } } }
    }
}

/// The table on top: the best of each system.
fn summary(document: &Document) -> Markup {
    if document.best.is_empty() {
        return html! {};
    }
    let heads = ["system", "our best beside the paper", "published", "ours", "ratio", "of all rows"];
    html! {
        section #summary {
            h2 { "What matters" }
            (scrolled("What matters", html! {
                table {
                    caption { "The largest ratio of each paper, and the range of all its ratios: below 1, the paper was better" }
                    thead { tr { @for head in heads { th scope="col" { (head) } } } }
                    tbody {
                        @for best in &document.best {
                            tr {
                                th scope="row" { @if let Some(id) = &best.section { a href={ "#" (id) } { (best.system) } } @else { (best.system) } }
                                td { (best.row) }
                                td.number { (best.published) }
                                td.number.ours { (best.ours) }
                                td.number { (best.ratio) }
                                td { (best.range) }
                            }
                        }
                    }
                }
            }))
        }
    }
}

fn of_section(section: &Section) -> Markup {
    let notes = rows::Notes::of(&section.id, section.rows.iter());
    html! {
        section id=(section.id) {
            h2 { (section.title) }
            @for paragraph in &section.about { p { (with_code(paragraph)) } }
            @for plot in section.plots.iter().filter(|plot| plot.is_worth_it()) { (figure(plot)) }
            @for (experiment, own) in rows::by_experiment(&section.rows) { (rows::table(&section.id, experiment, &own, &notes)) }
            @for (at, piece) in section.pieces.iter().enumerate() { (of_piece(&format!("{}, {}", section.title, at + 1), piece)) }
            (notes.list())
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
        dl {
            @for (name, value) in machine.lines() { dt { (name) } dd { (value) } }
            dt { "page made" } dd { (document.time) }
            @if !document.calls.is_empty() {
                dt { "calls" }
                dd { ol.calls { @for call in &document.calls { li { code { (call) } } } } }
            }
        }
        @match &document.json {
            Json::Here(text) => details { summary { "Everything as JSON" } pre tabindex="0" { (text) } },
            Json::Beside(file) => p { a href=(file) { "Everything as JSON" } },
        }
    }
}
