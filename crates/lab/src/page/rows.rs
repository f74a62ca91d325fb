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

    /// The numbers of a row's footnotes, from 1.
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

    fn list(&self) -> Markup {
        if self.words.is_empty() {
            return html! {};
        }
        html! {
            ol.notes { @for (at, words) in self.words.iter().enumerate() { li id={ (self.section) "-note-" (at + 1) } { (with_code(words)) } } }
        }
    }
}

/// The footnotes of a table: those of all rows stand above it, those of several below it, and those of one row in it.
struct Placed {
    above: Vec<String>,
    below: Notes,
}

impl Placed {
    fn of(id: &str, rows: &[&Row]) -> Self {
        let Notes { section, words } = Notes::of(id, rows.iter().copied());
        let count = |words: &String| rows.iter().filter(|row| Notes::all(row).contains(words)).count();
        let (above, others): (Vec<_>, Vec<_>) =
            words.into_iter().partition(|words| rows.len() > 1 && count(words) == rows.len());
        Placed { above, below: Notes { section, words: others.into_iter().filter(|words| count(words) > 1).collect() } }
    }

    /// The footnotes of one row alone.
    fn within(&self, row: &Row) -> Vec<String> {
        Notes::all(row)
            .into_iter()
            .filter(|words| !self.above.contains(words) && !self.below.words.contains(words))
            .collect()
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

/// The name of an experiment's element.
pub(super) fn id(section: &str, experiment: &str) -> String {
    let dashed = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("{section}-{}", experiment.chars().map(dashed).collect::<String>())
}

/// An experiment in a sentence: how many rows were measured, and how ours compare.
pub(super) fn in_brief(rows: &[&Row]) -> String {
    let measured = rows.iter().filter(|row| row.measured()).count();
    let of = if measured == rows.len() { String::new() } else { format!(" of {}", rows.len()) };
    let all = ratios(rows.iter().flat_map(|row| &row.figures));
    let behind = match all.iter().filter(|ratio| is_behind(**ratio)).count() {
        0 => String::new(),
        some => format!("; {some} of {} behind", all.len()),
    };
    let ratios = range(&all).map_or_else(String::new, |range| format!("; {range}{behind}"));
    format!("{measured}{of} {} measured{ratios}.", if rows.len() == 1 { "row" } else { "rows" })
}

/// The ratios of figures, from the least.
fn ratios<'a>(figures: impl Iterator<Item = &'a Figure>) -> Vec<f64> {
    let mut ratios: Vec<f64> = figures.filter_map(Figure::ratio).collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}

/// The number in the middle of sorted ones, or the mean of the two there.
fn median(sorted: &[f64]) -> f64 {
    let of = sorted.len();
    (sorted[(of - 1) / 2] + sorted[of / 2]) / 2.0
}

/// `0.9 × to 12 ×, median 3.4 ×`, of sorted ratios; none if there are none.
pub(crate) fn range(sorted: &[f64]) -> Option<String> {
    match sorted {
        [] => None,
        [least, .., most] if times(*least) != times(*most) => {
            Some(format!("{} to {}, median {}", times(*least), times(*most), times(median(sorted))))
        }
        [one, ..] => Some(times(*one)),
    }
}

/// The lines of an experiment's short table where the paper has nothing to compare.
const SHORT: usize = 4;

/// A line for each quantity that the paper has too, or for the first few if it has none: from where to where ours go, and how they compare.
pub(super) fn by_quantity(label: &str, rows: &[&Row]) -> Markup {
    let figures = |quantity: &str| rows.iter().filter_map(|row| row.of(quantity)).collect::<Vec<_>>();
    let ours = |figures: &[&Figure]| {
        let own = figures.iter().filter_map(|figure| Some((figure.ours?.value, figure.unit)));
        let mut own: Vec<_> = own.collect();
        own.sort_by(|a, b| a.0.total_cmp(&b.0));
        match own.as_slice() {
            [] => String::new(),
            [(least, unit), .., (most, _)] if unit.text(*least) != unit.text(*most) => {
                format!("{} to {}", unit.text(*least), unit.text(*most))
            }
            [(one, unit), ..] => unit.text(*one),
        }
    };
    let (compared, others): (Vec<_>, Vec<_>) =
        columns(rows).1.into_iter().partition(|quantity| !ratios(figures(quantity).into_iter()).is_empty());
    let shown = if compared.is_empty() { others.into_iter().take(SHORT).collect() } else { compared };
    scrolled(
        label,
        html! {
            table.brief {
                thead { tr { @for head in ["quantity", "ours", "ratios"] { th scope="col" { (head) } } } }
                tbody {
                    @for quantity in shown {
                        @let own = figures(quantity);
                        tr { th scope="row" { (quantity) } td { (ours(&own)) } td { (range(&ratios(own.into_iter())).unwrap_or_default()) } }
                    }
                }
            }
        },
    )
}

/// The table of an experiment, with its footnotes.
pub(super) fn table(id: &str, label: &str, rows: &[&Row]) -> Markup {
    let (keys, quantities) = columns(rows);
    let bounds = rows.iter().any(|row| row.published_bound.is_some() || row.our_bound.is_some());
    let notes = Placed::of(id, rows);
    html! {
        @for words in &notes.above { p.notes { (with_code(words)) } }
        (scrolled(&format!("{label}, all rows"), html! {
            table.rows {
                caption { "In each cell: ours, the published figure, and the ratio" }
                thead {
                    tr {
                        @for key in &keys { th scope="col" { (key) } }
                        @if bounds { th scope="col" { "cheating unnoticed" } }
                        @for quantity in &quantities { th scope="col" { (quantity) } }
                        th scope="col" { "notes" }
                    }
                }
                tbody { @for row in rows { (line(row, &keys, &quantities, bounds, &notes)) } }
            }
        }))
        (notes.below.list())
    }
}

fn line(row: &Row, keys: &[&str], quantities: &[&str], bounds: bool, notes: &Placed) -> Markup {
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
                (references(&notes.below.section, &notes.below.numbers(row)))
                @for words in notes.within(row) { span.own { (with_code(&words)) } }
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
            @if let Some(ratio) = figure.ratio() { span.ratio.worse[is_behind(ratio)] { (times(ratio)) } }
        }
    }
}

/// Tells whether a ratio says that ours is behind the paper. Closer to 1 than this, two runs differ as much.
pub(crate) fn is_behind(ratio: f64) -> bool {
    ratio < 0.95
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
        let text = table("x-table-1", "X: Table 1", &rows).into_string();
        for part in ["&lt;a &amp; b&gt;", "not measured", "2.00 s ± 10 %", "4.00 s", "2.0 ×", "2^-80", "2^-40"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.contains("Not measured: nobody can.") && !text.contains("<ol"), "each note is of one row: {text}");
        assert_eq!(in_brief(&rows), "1 of 2 rows measured; 2.0 ×.");
    }

    #[test]
    fn a_note_stands_above_the_table_below_it_or_in_its_row() {
        let [mut first, mut second, mut third] =
            ["a", "b", "c"].map(|name| Row::new("Table 1", vec![Key::named("what", name)]));
        for row in [&mut first, &mut second, &mut third] {
            row.note("of all");
        }
        for row in [&mut first, &mut third] {
            row.note("of two");
        }
        second.note("of one");
        let rows = [&first, &second, &third];
        let notes = Placed::of("x", &rows);
        assert_eq!(
            (notes.above.as_slice(), notes.below.words()),
            (&["of all".to_string()][..], &["of two".to_string()][..])
        );
        assert_eq!((notes.within(&first), notes.within(&second)), (vec![], vec!["of one".to_string()]));
        let text = table("x", "X", &rows).into_string();
        assert!(
            text.contains("<p class=\"notes\">of all</p>") && text.contains("<li id=\"x-note-1\">of two</li>"),
            "{text}"
        );
        assert!(text.contains("<span class=\"own\">of one</span>") && text.matches("#x-note-1").count() == 2, "{text}");
    }

    #[test]
    fn an_experiment_in_brief_says_how_many_figures_are_behind() {
        let mut rows = [Row::new("Table 1", Vec::new()), Row::new("Table 1", vec![Key::named("what", "b")])];
        for (row, ours) in rows.iter_mut().zip([1.0, 8.0]) {
            row.publish("time", Unit::Seconds, Some(4.0), None);
            row.measure("time", Unit::Seconds, Amount::of(ours));
        }
        let rows: Vec<&Row> = rows.iter().collect();
        assert_eq!(in_brief(&rows), "2 rows measured; 0.5 × to 4.0 ×, median 2.2 ×; 1 of 2 behind.");
        let text = by_quantity("x", &rows).into_string();
        assert!(text.contains("<td>1.00 s to 8.00 s</td><td>0.5 × to 4.0 ×, median 2.2 ×</td>"), "{text}");
    }

    #[test]
    fn ratios_have_two_digits() {
        assert_eq!([0.054, 0.95, 4.44, 12.3, 1234.0].map(times), ["0.05 ×", "0.9 ×", "4.4 ×", "12 ×", "1,234 ×"]);
    }
}
