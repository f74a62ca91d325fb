//! Tables of rows: each cell has what was published and what was measured, one under the other, and how many times less ours is.

use maud::{Markup, html};

use super::{
    Figure, Gap, Row,
    html::{scrolled, with_code},
};

/// The footnotes of a section, each once.
pub(crate) struct Notes {
    section: String,
    words: Vec<String>,
}

/// The rows of each experiment, in the order in which they come first.
pub(crate) fn by_experiment(rows: &[Row]) -> Vec<(&str, Vec<&Row>)> {
    let mut groups: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|(name, _)| *name == row.experiment) {
            Some((_, group)) => group.push(row),
            None => groups.push((&row.experiment, vec![row])),
        }
    }
    groups
}

/// The words of a gap, as they stand among the footnotes.
fn gap(row: &Row) -> Option<String> {
    Some(match row.gap.as_ref()? {
        Gap::NotMeasured(reason) => format!("Not measured: {reason}."),
        Gap::LeftOut(reason) => format!("Left out: {reason}."),
        Gap::Failed(reason) => format!("Failed: {reason}."),
    })
}

/// The note of a row whose bounds differ.
fn uneven(row: &Row) -> Option<String> {
    let (published, ours) = (row.published_bound?, row.our_bound?);
    ((published - ours).abs() >= 3.0)
        .then(|| "The probability that cheating goes unnoticed is not the same in the paper and here; look at its column before comparing.".into())
}

impl Notes {
    /// All footnotes of some rows.
    pub(crate) fn of<'a>(section: &str, rows: impl Iterator<Item = &'a Row>) -> Self {
        let mut notes = Notes { section: section.into(), words: Vec::new() };
        for words in rows.flat_map(Notes::all) {
            if !notes.words.contains(&words) {
                notes.words.push(words);
            }
        }
        notes
    }

    fn all(row: &Row) -> Vec<String> {
        gap(row).into_iter().chain(uneven(row)).chain(row.notes.iter().cloned()).collect()
    }

    /// The numbers of a row's footnotes, from 1, without those that all rows of a table have.
    pub(crate) fn numbers(&self, row: &Row) -> Vec<usize> {
        let own = Notes::all(row);
        let mut numbers: Vec<usize> =
            own.iter().filter_map(|words| Some(self.words.iter().position(|w| w == words)? + 1)).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The words, by number.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    pub(super) fn list(&self) -> Markup {
        if self.words.is_empty() {
            return html! {};
        }
        html! {
            h3 { "Notes" }
            ol.notes { @for (at, words) in self.words.iter().enumerate() { li id={ (self.section) "-note-" (at + 1) } { (with_code(words)) } } }
        }
    }
}

/// Numbers in order, with runs of three and more in short: `1-4, 7`.
fn in_short(numbers: &[usize]) -> Vec<(usize, Option<usize>)> {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    runs.flat_map(|run| match run {
        [first, .., last] if run.len() > 2 => vec![(*first, Some(*last))],
        few => few.iter().map(|number| (*number, None)).collect(),
    })
    .collect()
}

/// Names in the order in which they come first.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The names of settings and of quantities of some rows.
pub(crate) fn columns<'a>(rows: &[&'a Row]) -> (Vec<&'a str>, Vec<&'a str>) {
    let keys = names(rows.iter().flat_map(|row| row.keys.iter().map(|key| key.name.as_str())));
    // The row with the most figures has the order of all.
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| std::cmp::Reverse(row.figures.len()));
    (keys, names(rows.iter().flat_map(|row| row.figures.iter().map(|figure| figure.quantity.as_str()))))
}

/// The words with a capital letter first.
pub(crate) fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The table of an experiment.
pub(super) fn table(section: &str, experiment: &str, rows: &[&Row], notes: &Notes) -> Markup {
    let (keys, quantities) = columns(rows);
    let bounds = rows.iter().any(|row| row.published_bound.is_some() || row.our_bound.is_some());
    let id: String =
        experiment.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    html! {
        h3 id={ (section) "-" (id) } { (capitalised(experiment)) }
        (scrolled(&format!("{section}: {experiment}"), html! {
            table.rows {
                caption { "In each cell: ours, the published figure, and how often ours goes into it" }
                thead {
                    tr {
                        @for key in &keys { th scope="col" { (key) } }
                        @if bounds { th scope="col" { "cheating unnoticed" } }
                        @for quantity in &quantities { th scope="col" { (quantity) } }
                        th scope="col" { "notes" }
                    }
                }
                tbody { @for row in rows { (line(section, row, &keys, &quantities, bounds, notes)) } }
            }
        }))
    }
}

fn line(section: &str, row: &Row, keys: &[&str], quantities: &[&str], bounds: bool, notes: &Notes) -> Markup {
    let sources = row.sources.join(" ");
    html! {
        tr data-sources=[(!sources.is_empty()).then_some(&sources)] {
            @for (at, key) in keys.iter().enumerate() {
                @let number = row.keys.iter().find(|own| own.name == *key).and_then(|own| own.number);
                @if at == 0 { th scope="row" data-value=[number] { (row.key(key)) } } @else { td data-value=[number] { (row.key(key)) } }
            }
            @if bounds { td data-value=[row.our_bound.or(row.published_bound)] { (bound(row)) } }
            @for quantity in quantities { (cell(row.of(quantity))) }
            td.notes {
                @if let Some(gap) = &row.gap { span.gap { (badge(gap)) } " " }
                (references(section, &notes.numbers(row)))
            }
        }
    }
}

/// A gap in a word or two.
pub(crate) fn badge(gap: &Gap) -> &'static str {
    match gap {
        Gap::NotMeasured(_) => "not measured",
        Gap::LeftOut(_) => "left out",
        Gap::Failed(_) => "failed",
    }
}

fn references(section: &str, numbers: &[usize]) -> Markup {
    let link = |number: usize| html! { a href={ "#" (section) "-note-" (number) } { (number) } };
    html! {
        @for (at, (first, last)) in in_short(numbers).into_iter().enumerate() {
            @if at > 0 { ", " }
            (link(first))
            @if let Some(last) = last { "–" (link(last)) }
        }
    }
}

/// `2^-40`, with a digit more where it is not whole.
pub(crate) fn chance(log2: f64) -> String {
    if log2.fract() == 0.0 { format!("2^{log2:.0}") } else { format!("2^{log2:.1}") }
}

fn bound(row: &Row) -> Markup {
    html! {
        @if let Some(ours) = row.our_bound { span.ours { span.hidden { "ours " } (chance(ours)) } }
        @if let Some(published) = row.published_bound { span.published { span.hidden { "published " } (chance(published)) } }
    }
}

fn cell(figure: Option<&Figure>) -> Markup {
    let Some(figure) = figure else { return html! { td {} } };
    let value = figure.ours.or(figure.published).map(|amount| amount.value);
    html! {
        td data-value=[value] {
            @if let Some(ours) = &figure.ours { span.ours { span.hidden { "ours " } (ours.text(figure.unit)) } }
            @if let Some(published) = &figure.published { span.published { span.hidden { "published " } (published.text(figure.unit)) } }
            @if let Some(ratio) = figure.ratio() { span.ratio.worse[ratio < 0.95] { (times(ratio)) } }
        }
    }
}

/// A ratio for people: `4.4 ×`.
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        r if r >= 9.95 => format!("{} ×", garblet_console::output::count(r.round() as u64)),
        r if r >= 0.095 => format!("{r:.1} ×"),
        r => format!("{r:.2} ×"),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Amount, Key, Unit},
        *,
    };

    #[test]
    fn runs_of_notes_are_short() {
        assert_eq!(in_short(&[1, 2, 3, 5, 7, 8]), [(1, Some(3)), (5, None), (7, None), (8, None)]);
        assert_eq!(in_short(&[]), []);
    }

    #[test]
    fn a_row_without_figures_says_why_and_uneven_bounds_are_marked() {
        let mut row = Row::new("Table 1", vec![Key::named("what", "<a & b>")]);
        row.gap = Some(Gap::NotMeasured("nobody can".into()));
        let mut other = Row::new("Table 1", vec![Key::number("parties", 3.0)]);
        other.publish("time", Unit::Seconds, Some(4.0), None);
        other.measure("time", Unit::Seconds, Amount { value: 2.0, interval: Some(0.2) });
        (other.published_bound, other.our_bound) = (Some(-80.0), Some(-40.0));
        let rows = [&row, &other];
        let notes = Notes::of("x", rows.into_iter());
        assert_eq!(notes.words().len(), 2);
        let text = table("x", "Table 1", &rows, &notes).into_string();
        for part in
            ["&lt;a &amp; b&gt;", "not measured", "2.00 s ± 10 %", "4.00 s", "2.0 ×", "2^-80", "2^-40", "#x-note-2"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(notes.list().into_string().contains("Not measured: nobody can."));
    }

    #[test]
    fn ratios_have_two_digits() {
        assert_eq!([0.054, 0.95, 4.44, 12.3, 1234.0].map(times), ["0.05 ×", "0.9 ×", "4.4 ×", "12 ×", "1,234 ×"]);
    }
}
