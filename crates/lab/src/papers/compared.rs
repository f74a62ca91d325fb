//! The comparison of ours with the papers: ten figures, every ratio, and where a paper is better.

use super::report::{Object, bounds};
use crate::{
    page::{Amount, Behind, Compared, Figure, Row, Strip, Summary, Unit, is_behind},
    published::Paper,
};

/// A figure that is shown by itself: paper, experiment, settings' texts, quantity, and what it is.
pub(super) type Line = (Paper, &'static str, &'static [&'static str], &'static str, &'static str);

/// The ten figures of the page and of the chapter. The README has the first four, one of which is better in the paper.
pub(super) const LINES: [Line; 10] = [
    (
        Paper::Compgc,
        "Table 3",
        &["CBC of 10", "simulated"],
        "linked",
        "Ten blocks of AES-CBC by prepared components, a link with a round trip of 66 ms and 50 Mbit/s, once the function is named",
    ),
    (
        Paper::Lego,
        "Table 4",
        &["AWS LAN", "AES-128", "32"],
        "online, alone",
        "AES-128 against malicious parties, from gates made in advance, online",
    ),
    (Paper::Bmr, "Table 1", &["OT", "7"], "offline", "AES-128 garbled by seven parties together, round trips of 75 ms"),
    (
        Paper::Lego,
        "Table 4",
        &["AWS LAN", "AES-128", "128"],
        "independent",
        "Preparing gates against malicious parties before the function is known, for each of 128 copies of AES-128 (published: two machines, many threads each)",
    ),
    (Paper::Lego, "Table 5", &["AWS LAN", "AES-128", "128"], "independent", "The bytes of that"),
    (
        Paper::Compgc,
        "Table 2",
        &["Levenshtein 60", "simulated"],
        "linked, data",
        "Data online for the edit distance of 60 letters from prepared components",
    ),
    (
        Paper::Pssw,
        "Table 2",
        &["malicious", "random", "rom-grr"],
        "total",
        "AES-128 by 160 circuits, half of them checked, as published in 2009, on today's processor",
    ),
    (
        Paper::Partialgc,
        "Table 2",
        &["Edit Distance 128", "256", "partialgc"],
        "in all",
        "Edit distance for a client with two servers, by the published construction (published: two servers of 32 threads; ours on one machine)",
    ),
    (
        Paper::Partialgc,
        "Table 3",
        &["Edit Distance 128", "256", "shares"],
        "client's bytes",
        "A client's bytes for the same with dealt shares, our own construction",
    ),
    (
        Paper::Bmr,
        "Table 1",
        &["GMW", "13"],
        "online",
        "AES-128 by thirteen parties under `gmw`, round trips of 75 ms, online",
    ),
];

/// The kinds of ratios that have a plot each: its name, its title, and the units of its figures.
const KINDS: [(&str, &str, &[Unit]); 3] = [
    ("times", "Times", &[Unit::Seconds]),
    ("bytes", "Bytes", &[Unit::Bytes, Unit::Megabit]),
    ("gates", "Gates and components", &[Unit::Count]),
];

/// The top of the page.
pub(super) fn summary(object: &Object) -> Summary {
    let figures = LINES.iter().filter_map(|line| {
        let figure = figure(line, object).filter(|figure| figure.ours.is_some())?;
        Some(compared(line.0, line.4.into(), figure))
    });
    Summary { figures: figures.collect(), strips: strips(object), behind: behind(object) }
}

/// The figure of a line, if the report has it.
pub(super) fn figure<'a>((paper, experiment, keys, quantity, _): &Line, object: &'a Object) -> Option<&'a Figure> {
    let mut rows = object.papers.iter().filter(|own| own.paper == *paper).flat_map(|own| &own.rows);
    let is = |row: &&Row| {
        row.experiment == *experiment && row.keys.iter().map(|key| key.text.as_str()).eq(keys.iter().copied())
    };
    rows.find(is)?.of(quantity)
}

/// All ratios, by kind and paper.
pub(super) fn strips(object: &Object) -> Vec<Strip> {
    let of = |(id, title, units): (&str, &str, &[Unit])| {
        let lines = object.papers.iter().map(|own| {
            let figures = own.rows.iter().flat_map(|row| &row.figures).filter(|figure| units.contains(&figure.unit));
            (own.paper.label().to_string(), figures.filter_map(Figure::ratio).collect())
        });
        Strip { id: id.into(), title: title.into(), lines: lines.collect() }
    };
    KINDS.into_iter().map(of).collect()
}

/// The papers that are better in anything.
fn behind(object: &Object) -> Vec<Behind> {
    let of = |paper: Paper, rows: &[Row]| {
        let figures = rows.iter().flat_map(|row| row.figures.iter().map(move |figure| (row, figure)));
        let all: Vec<(f64, &Row, &Figure)> =
            figures.filter_map(|(row, figure)| Some((figure.ratio()?, row, figure))).collect();
        let count = all.iter().filter(|(ratio, ..)| is_behind(*ratio)).count();
        let (_, row, figure) = all.iter().min_by(|one, other| one.0.total_cmp(&other.0)).filter(|_| count > 0)?;
        let words = format!("{}: {}{}", row.title(), figure.quantity, bounds(row));
        Some(Behind { count, of: all.len(), furthest: compared(paper, words, figure) })
    };
    object.papers.iter().filter_map(|own| of(own.paper, &own.rows)).collect()
}

fn compared(paper: Paper, words: String, figure: &Figure) -> Compared {
    let text = |amount: Option<Amount>| amount.map_or_else(String::new, |amount| amount.text(figure.unit));
    Compared {
        section: paper.name().into(),
        system: paper.label().into(),
        words,
        published: text(figure.published),
        ours: text(figure.ours),
        ratio: figure.ratio(),
    }
}
