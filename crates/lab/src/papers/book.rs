//! The book's chapter of the figures that matter, the page of all tables, and the README's plot and lines, from a report. `cargo xtask figures` calls it.

use std::{fmt::Write, fs, path::Path};

use garblet_console::{failure::Failure, output};

use super::{
    compared::{LINES, Line, figure, strips},
    kept::write_whole,
    report::{Object, OfPaper},
};
use crate::{
    page::{
        Figure, Gap, Ground, Notes, Plot, Row, badge, by_experiment, capitalised, chance, columns, is_behind, times,
    },
    published::{Paper, section},
};

/// The files of a clone.
const CHAPTER: &str = "docs/src/measured.md";
const TABLES: &str = "docs/measured/README.md";
const STORED: &str = "docs/measured/report.json";
const PLOTS: &str = "docs/src";
const README: &str = "README.md";

/// The lines in the README between which its figures stand.
const BEGIN: &str = "<!-- figures: made by `cargo xtask figures` -->";
const END: &str = "<!-- end of figures -->";

/// The plot of the README.
const SHOWN: &str = "times";

/// Brings a clone up to date with a report.
///
/// *Errors*: a report that cannot be read, or is not whole; a clone that is none or cannot be written.
pub(super) fn update(report: &Path, clone: &Path) -> Result<(), Failure> {
    let object = Object::read(report)?;
    if !object.missing.is_empty() || object.papers.len() < Paper::ALL.len() {
        let missing = object.missing.first().map_or("some papers", |line| line);
        return Err(Failure::call(format!("{}: not whole: {missing}", report.display()))
            .hint("call `garblet-lab papers` again: it goes on"));
    }
    let readme = clone.join(README);
    let known = fs::read_to_string(&readme).map_err(|e| Failure::unreadable(&readme, &e))?;
    let replaced = with_figures(&known, &object).ok_or_else(|| {
        Failure::call(format!("{}: the lines between which figures stand are not there", readme.display()))
    })?;
    write_whole(&readme, replaced.as_bytes())?;
    write_whole(&clone.join(STORED), &serde_json::to_vec(&object).map_err(Failure::no_result)?)?;
    let chapter = chapter(&object).ok_or_else(|| Failure::no_result("the report lacks a figure of the chapter"))?;
    write_whole(&clone.join(CHAPTER), chapter.as_bytes())?;
    write_whole(&clone.join(TABLES), tables(&object).as_bytes())?;
    for (name, svg) in plots(&object) {
        write_whole(&clone.join(PLOTS).join(name), svg.as_bytes())?;
    }
    Ok(())
}

/// The plots of each paper that are worth it.
fn of_paper(own: &OfPaper) -> Vec<Plot> {
    section(own.paper, own.rows.clone()).plots.into_iter().filter(Plot::is_worth_it).collect()
}

/// The files of all plots: on light ground, and the README's on dark ground, too.
fn plots(object: &Object) -> Vec<(String, String)> {
    let file = |id: &str, end: &str, svg: String| (format!("measured-{id}{end}.svg"), svg);
    let own = object.papers.iter().flat_map(of_paper);
    let mut files: Vec<_> = own.map(|plot| file(&plot.id, "", plot.svg(Ground::Light))).collect();
    for strip in strips(object) {
        files.push(file(&strip.id, "", strip.svg(Ground::Light)));
        if strip.id == SHOWN {
            files.push(file(&strip.id, "-dark", strip.svg(Ground::Dark)));
        }
    }
    files
}

/// The README with the figures of a report.
fn with_figures(readme: &str, object: &Object) -> Option<String> {
    let (before, rest) = readme.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let strip = strips(object).into_iter().find(|strip| strip.id == SHOWN)?;
    let all: Vec<f64> = strip.lines.iter().flat_map(|(_, ratios)| ratios.iter().copied()).collect();
    let behind = all.iter().filter(|ratio| is_behind(**ratio)).count();
    let text = format!(
        "{BEGIN}\n**How our times compare with those of five papers: published divided by ours**\n\n\
         <picture>\n  <source media=\"(prefers-color-scheme: dark)\" srcset=\"docs/src/measured-{SHOWN}-dark.svg\">\n  \
         <img width=\"480\" alt=\"{}\" src=\"docs/src/measured-{SHOWN}.svg\">\n</picture>\n\n\
         Each dot is one time of a paper. To the right of 1 × ours is shorter. Ours is behind, below 0.95 ×, in {} of {}.\n\
         PSSW is *Secure Two-Party Computation is Practical*. The papers measured on machines of 2009 to 2017.\n\n{}",
        strip.in_words(),
        output::count(behind as u64),
        output::count(all.len() as u64),
        in_lines(&LINES[..4], object)?
    );
    Some(format!("{before}{text}{END}{after}"))
}

/// The figures that are shown by themselves, a line each; none if one is not in the report.
fn in_lines(lines: &[Line], object: &Object) -> Option<String> {
    lines.iter().map(|line| Some(format!("- {}: {}.\n", line.4, in_words(figure(line, object)?)))).collect()
}

/// `70 ms, published 217 ms (3.1 ×)`.
fn in_words(figure: &Figure) -> String {
    let ours = figure.ours.map_or("not measured".into(), |amount| amount.text(figure.unit));
    let published = figure.published.map(|amount| format!(", published {}", amount.text(figure.unit)));
    let ratio = figure.ratio().map(|ratio| format!(" ({})", times(ratio)));
    format!("{ours}{}{}", published.unwrap_or_default(), ratio.unwrap_or_default())
}

/// The chapter: the figures that matter, the best of each paper, and its plots; none if a figure is not in the report.
fn chapter(object: &Object) -> Option<String> {
    let mut text = format!(
        "# Measured\n\n\
         We repeated the measurements of five papers on garbled circuits. Ten figures:\n\n{}\n\
         `docs/measured/README.md` in the repository has all tables, with the notes of every row. To measure them yourself:\n\n\
         ```sh\ncargo run --release -p garblet-lab -- papers --report out      # ten minutes at most, once it is built; then look at out/index.html\n```\n\n{}\n",
        in_lines(&LINES, object)?,
        machine(object)
    );
    text += "Every ratio is a dot in one of three plots. To the right of 1 × ours is faster or smaller; below 0.95 × it is behind.\n";
    for strip in strips(object) {
        let _ = write!(text, "\n![{}. {}](measured-{}.svg)\n", strip.title, strip.in_words(), strip.id);
    }
    text += "\n";
    text += &table(
        &["system", "our best headline time beside the paper", "published", "ours", "ratio", "headline times"]
            .map(String::from),
        object
            .best()
            .into_iter()
            .map(|best| vec![best.system, best.row, best.published, best.ours, best.ratio, best.range]),
    );
    for own in &object.papers {
        text += &in_brief(own, "");
    }
    Some(text)
}

/// The machine, and how to read a ratio.
fn machine(object: &Object) -> String {
    let machine = &object.machine;
    format!(
        "{}, {} cores, {}; {}, commit {}, {}. Machines differ from those of the papers, by years and in number: read the notes\n\
         of a row before its ratio. A ratio is the published figure divided by ours.\n",
        machine.processor, machine.cores, machine.kernels, machine.version, machine.commit, object.time
    )
}

/// The page of all tables.
fn tables(object: &Object) -> String {
    let mut text = format!(
        "# All tables\n\n\
         Tables and figures of five papers, measured again and set beside the published ones. `cargo xtask figures` makes this page and the book's chapter\n\
         [Measured](../src/measured.md) from a report of `garblet-lab papers --{}`. In each cell stand our figure, the published one, and the ratio.\n\n{}",
        object.mode,
        machine(object)
    );
    object.papers.iter().for_each(|own| text += &of_section(own));
    text
}

/// A paper, what was measured, and its plots, which lie in a folder.
fn in_brief(own: &OfPaper, folder: &str) -> String {
    let section = section(own.paper, own.rows.clone());
    let mut text = format!("\n## {}\n", section.title);
    for paragraph in &section.about {
        let _ = write!(text, "\n{paragraph}\n");
    }
    for plot in section.plots.iter().filter(|plot| plot.is_worth_it()) {
        let _ = write!(text, "\n![{}]({folder}measured-{}.svg)\n\n{}\n", plot.title, plot.id, plot.about);
    }
    text
}

fn of_section(own: &OfPaper) -> String {
    let section = section(own.paper, own.rows.clone());
    let mut text = in_brief(own, "../src/");
    let measured: Vec<Row> = own.rows.iter().filter(|row| row.measured()).cloned().collect();
    let notes = Notes::of(&section.id, measured.iter());
    for (experiment, rows) in by_experiment(&measured) {
        let _ = write!(text, "\n### {}, {}\n\n", section.title, capitalised(experiment));
        text += &of_experiment(&rows, &notes);
    }
    if !notes.words().is_empty() {
        text += "\nNotes:\n\n";
        for (at, words) in notes.words().iter().enumerate() {
            let _ = writeln!(text, "{}. {words}", at + 1);
        }
    }
    text + &gaps(&own.rows)
}

fn of_experiment(rows: &[&Row], notes: &Notes) -> String {
    let (keys, quantities) = columns(rows);
    let bounds = rows.iter().any(|row| row.our_bound.is_some() || row.published_bound.is_some());
    let names = keys.iter().copied().chain(bounds.then_some("cheating unnoticed")).chain(quantities.iter().copied());
    let heads: Vec<String> = names.chain(["notes"]).map(String::from).collect();
    let line = |row: &&Row| {
        let mut cells: Vec<String> = keys.iter().map(|key| row.key(key).to_string()).collect();
        if bounds {
            let both = [row.our_bound, row.published_bound].map(|bound| bound.map_or("-".into(), chance));
            cells.push(both.join(", "));
        }
        cells.extend(quantities.iter().map(|quantity| row.of(quantity).map_or_else(String::new, in_short)));
        let numbers: Vec<String> = notes.numbers(row).iter().map(usize::to_string).collect();
        cells.push(numbers.join(", "));
        cells
    };
    table(&heads, rows.iter().map(line))
}

/// `70 ms, 217 ms: 3.1 ×`, ours first.
fn in_short(figure: &Figure) -> String {
    let of = |amount: Option<crate::page::Amount>| amount.map_or("-".into(), |amount| amount.text(figure.unit));
    match (figure.ratio(), figure.published) {
        (Some(ratio), _) => format!("**{}**, {}: {}", of(figure.ours), of(figure.published), times(ratio)),
        (None, Some(_)) => format!("{}, {}", of(figure.ours), of(figure.published)),
        (None, None) => format!("**{}**", of(figure.ours)),
    }
}

/// The rows without a figure of ours, by their reason.
fn gaps(rows: &[Row]) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let Some(gap) = &row.gap else { continue };
        let (Gap::NotMeasured(reason) | Gap::LeftOut(reason) | Gap::Failed(reason)) = gap;
        let reason = format!("{}, because: {reason}", badge(gap));
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, titles)) => titles.push(row.title()),
            None => reasons.push((reason, vec![row.title()])),
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let line = |(reason, titles): &(String, Vec<String>)| {
        format!(
            "- {reason}. {} {}: {}\n",
            output::count(titles.len() as u64),
            if titles.len() == 1 { "row" } else { "rows" },
            titles.join("; ")
        )
    };
    format!("\nRows without a figure of ours:\n\n{}", reasons.iter().map(line).collect::<String>())
}

/// A table in Markdown.
fn table(heads: &[String], lines: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(heads.len()));
    line(heads) + &rule + &lines.map(|cells| line(&cells)).collect::<String>()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn clone() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn stored() -> Object {
        serde_json::from_slice(&fs::read(clone().join(STORED)).expect("the stored report")).expect("a report")
    }

    #[test]
    fn the_chapter_the_plots_and_the_readme_are_those_of_the_stored_report() {
        let object = stored();
        let there = |name: &str| fs::read_to_string(clone().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let hint = "`cargo xtask figures docs/measured` brings it up to date";
        assert!(Some(there(CHAPTER)) == chapter(&object), "{CHAPTER}: {hint}");
        assert!(there(TABLES) == tables(&object), "{TABLES}: {hint}");
        assert_eq!(with_figures(&there(README), &object).as_deref(), Some(there(README).as_str()), "{hint}");
        for (name, svg) in plots(&object) {
            assert!(there(&format!("{PLOTS}/{name}")) == svg, "{name}: {hint}");
        }
    }

    #[test]
    fn the_stored_report_is_whole_and_makes_a_page() {
        let object = stored();
        assert_eq!(object.missing, [""; 0]);
        for own in &object.papers {
            let published = own.paper.rows();
            let is_there =
                |row: &Row| own.rows.iter().any(|other| other.is(row) && (other.measured() || other.gap.is_some()));
            let lost = published.iter().find(|row| !is_there(row)).map(Row::title);
            assert_eq!(lost, None, "{}", own.paper.name());
        }
        assert!(object.page().contains("</html>"));
    }

    #[test]
    fn a_report_that_is_not_whole_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (report, clone) = (folder.path().join("report.json"), folder.path().join("none"));
        assert!(update(&report, &clone).expect_err("no report").message.contains("cannot be read"));
        fs::write(&report, "{}").expect("a file");
        assert!(update(&report, &clone).expect_err("no report").message.contains("no report of"));
        let mut object = stored();
        object.missing.push("lego-aes: has not run yet".into());
        fs::write(&report, serde_json::to_vec(&object).expect("JSON")).expect("a file");
        let failure = update(&report, &clone).expect_err("not whole");
        assert!(failure.message.contains("not whole: lego-aes"), "{}", failure.message);
    }
}
