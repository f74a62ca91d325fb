//! The most expensive source lines.

use std::collections::HashMap;

use garblet::Program;
use garblet_console::{failure::Failure, output::count};
use serde::Serialize;

/// The number of lines that are shown.
const SHOWN: usize = 10;

/// A source line and its AND gates, over all instances of all components.
#[derive(Serialize)]
pub(super) struct Line {
    pub(super) line: u32,
    pub(super) and: u64,
}

/// The lines of a program's source, the most expensive first.
pub(super) fn of(program: &Program) -> Vec<Line> {
    let mut by_line: HashMap<u32, u64> = HashMap::new();
    for (lines, instances) in program.notes().lines.iter().zip(super::instances_by_component(program)) {
        for (line, ands) in lines {
            *by_line.entry(*line).or_default() += ands * instances;
        }
    }
    let mut lines: Vec<Line> =
        by_line.into_iter().filter(|(_, and)| *and > 0).map(|(line, and)| Line { line, and }).collect();
    lines.sort_by_key(|line| (std::cmp::Reverse(line.and), line.line));
    lines
}

/// The first lines as a table with their text; `path` is the source file.
///
/// *Errors*: the program was not compiled from a source.
pub(super) fn text(lines: &[Line], program: &Program, path: &str) -> Result<String, Failure> {
    if program.notes().panics.is_none() {
        return Err(Failure::call(format!("{path}: --lines: the program was not compiled from a function source"))
            .hint("give a .garble.rs file"));
    }
    let total: u64 = lines.iter().map(|line| line.and).sum();
    let source = std::fs::read_to_string(path).unwrap_or_default();
    let source: Vec<&str> = if path.ends_with(".garble.rs") { source.lines().collect() } else { Vec::new() };
    let mut text = String::from("      AND   share   line\n");
    for Line { line, and } in lines.iter().take(SHOWN) {
        let own = source.get(*line as usize - 1).map_or("", |own| own.trim());
        let share = 100.0 * *and as f64 / total.max(1) as f64;
        text += format!("{:>9}  {share:>5.1}%  {line:>5}  {own}", count(*and)).trim_end();
        text.push('\n');
    }
    Ok(text)
}
