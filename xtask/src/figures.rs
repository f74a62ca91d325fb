//! The book's chapter of measured figures, the plots in it, and the README's.

use std::path::{Path, PathBuf};

use crate::{
    programs,
    steps::{Step, cargo},
};

const PACKAGE: &[&str] = &["run", "--quiet", "--release", "--package", "garblet-lab", "--", "papers"];

/// Measures first, within ten minutes, and resumes if it was stopped.
pub(crate) fn measured() -> Vec<Step> {
    let folder = || programs::target(&crate::root()).join("papers");
    let measure = Step::check("papers", move || papers(&[Path::new("--quick"), Path::new("--report"), &folder()]));
    let mut steps = vec![measure];
    steps.extend(in_book(folder()));
    steps
}

/// Uses the report in a folder.
pub(crate) fn of(folder: &str) -> Vec<Step> {
    in_book(folder.into())
}

fn in_book(folder: PathBuf) -> Vec<Step> {
    let root = crate::root();
    vec![Step::check("book", move || {
        papers(&[Path::new("--from"), &folder.join("report.json"), Path::new("--book"), &root])
    })]
}

/// Calls `garblet-lab papers`, whose output is the finding if it fails.
fn papers(arguments: &[&Path]) -> Vec<String> {
    match cargo().args(PACKAGE).args(arguments).status() {
        Ok(status) if status.success() => Vec::new(),
        Ok(status) => vec![format!("garblet-lab papers: {status}")],
        Err(error) => vec![format!("cargo: {error}")],
    }
}
