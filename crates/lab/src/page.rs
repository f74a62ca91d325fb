//! The forms in which a benchmark's result is given: text or JSON, and a page.
//!
//! [`html::page`] is the one place where a page is made, of a [`Document`]: of one benchmark here, of all papers in `papers`.

mod html;
mod machine;
mod model;
mod plot;
mod rows;
mod scale;
mod strip;
mod summary;

use std::path::{Path, PathBuf};

use garblet_cli::bench;
use garblet_console::{
    failure::Failure,
    output::{print, print_json},
    record::now,
};
use serde::Serialize;

pub(crate) use garblet_cli::bench::Piece;
pub(crate) use html::page;
pub(crate) use machine::Machine;
pub(crate) use model::{Amount, Figure, Gap, Key, Row, Unit};
pub(crate) use plot::{Axis, Ground, Kind, Plot, Series};
pub(crate) use rows::{Notes, badge, by_experiment, capitalised, chance, columns, is_behind, range, times};
pub(crate) use strip::Strip;
pub(crate) use summary::{Behind, Compared, Summary};

/// The options of every benchmark.
#[derive(clap::Args)]
pub(crate) struct Form {
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
    /// Also write the result to a page, with tables, plots, JSON, the call and the machine
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Print only the rows of the page, as JSON, for `garblet-lab papers`, and end when standard input does
    #[arg(long, hide = true, conflicts_with_all = ["json", "report"])]
    rows: bool,
}

/// All that a page has.
pub(crate) struct Document {
    pub(crate) title: String,
    /// The lines below the title.
    pub(crate) lead: Vec<String>,
    /// Parts that a page of an unfinished run does not have.
    pub(crate) missing: Vec<String>,
    /// The answer on top to how all of it compares.
    pub(crate) summary: Option<Summary>,
    pub(crate) sections: Vec<Section>,
    /// Remarks on the measurements, at the end.
    pub(crate) remarks: Vec<String>,
    pub(crate) machine: Machine,
    pub(crate) time: String,
    pub(crate) calls: Vec<String>,
    pub(crate) json: Json,
}

/// The place of the JSON of a page.
pub(crate) enum Json {
    /// In it.
    Here(String),
    /// In a file beside it.
    Beside(&'static str),
}

/// A part of a page.
#[derive(Default)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) about: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) plots: Vec<Plot>,
    pub(crate) pieces: Vec<Piece>,
}

impl Form {
    /// Gives a result, which is the same as a value, as text, and as a section of a page.
    ///
    /// *Errors*: a page or a standard output that cannot be written.
    pub(crate) fn give(&self, value: &impl Serialize, text: &str, section: Section) -> Result<(), Failure> {
        match (self.rows, self.json) {
            (true, _) => print_json(&section.rows),
            (false, true) => print_json(value),
            (false, false) => print(text),
        }?;
        // Behind what is printed, which must not be lost if there is no place for a page.
        self.report.as_ref().map_or(Ok(()), |path| write(path, value, section))
    }

    /// Gives a result that no paper has.
    ///
    /// *Errors*: as [`Form::give`].
    pub(crate) fn show(&self, value: &impl Serialize, pieces: Vec<Piece>) -> Result<(), Failure> {
        let text: String = pieces.iter().map(Piece::text).collect();
        let section = Section { id: "result".into(), title: "Result".into(), pieces, ..Section::default() };
        self.give(value, &text, section)
    }

    #[cfg(test)]
    pub(crate) fn text() -> Self {
        Form { json: false, report: None, rows: false }
    }
}

impl bench::Form for Form {
    fn show(&self, value: &impl Serialize, pieces: Vec<Piece>) -> Result<(), Failure> {
        Form::show(self, value, pieces)
    }
}

fn write(path: &Path, value: &impl Serialize, section: Section) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(value)
        .map_err(|e| Failure::no_result(format!("the result cannot be written as JSON: {e}")))?;
    let call: Vec<String> = std::env::args().skip(1).collect();
    let call = format!("garblet-lab {}", call.join(" "));
    let machine = Machine::here();
    let document = Document {
        title: call.clone(),
        lead: machine.reservations(),
        missing: Vec::new(),
        summary: None,
        sections: vec![section],
        remarks: Vec::new(),
        machine,
        time: now(),
        calls: vec![call],
        json: Json::Here(json),
    };
    std::fs::write(path, page(&document)).map_err(|e| Failure::unwritable(path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let form = Form { json: false, report: Some(folder.path().join("none").join("page.html")), rows: false };
        let failure = form.show(&1, Vec::new()).expect_err("there is no such folder");
        assert!(failure.message.contains("page.html"), "{}", failure.message);
    }

    #[test]
    fn a_page_has_words_and_tables_the_machine_and_the_json() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        let form = Form { json: false, report: Some(path.clone()), rows: false };
        let table = Piece::Table(vec![vec!["what".into(), "<b>".into()], vec!["a & b".into(), "1".into()]]);
        form.show(&serde_json::json!({ "a": "</pre>" }), vec![table, Piece::Words("of bare: 1\n".into())])
            .expect("a page");
        let page = std::fs::read_to_string(path).expect("the page");
        for part in ["<th scope=\"col\">&lt;b&gt;</th>", "<td>a &amp; b</td>", "<p>of bare: 1</p>", "&lt;/pre&gt;"] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(
            page.contains(&Machine::here().kernels) && !page.contains("http://") && !page.contains("src="),
            "{page}"
        );
    }
}
