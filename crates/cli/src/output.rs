//! Standard output: results, and nothing else. Standard error: what is said beside them.

use std::{
    io::Write,
    sync::atomic::{AtomicBool, Ordering},
};

use garblet_circuit::diagnostic::controls_terminal;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, reason};

/// Set if there is something on standard output already.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Writes the one JSON object of `--json` for a failure, if it was asked for and nothing stands there yet.
pub(crate) fn print_failure(failure: &Failure) {
    let asked = std::env::args_os().any(|argument| argument == "--json");
    if asked && !PRINTED.load(Ordering::Relaxed) {
        // What cannot be written was told on standard error.
        let _ = print_json(&failure.object());
    }
}

/// Writes text to standard output.
///
/// *Errors*: a full disk or a reader that has gone.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    PRINTED.store(true, Ordering::Relaxed);
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| Failure::no_result(format!("standard output: cannot be written: {}", reason(&e))))
}

/// Set if what is told goes to the log of a service.
static IS_LOGGED: AtomicBool = AtomicBool::new(false);

/// Lets all that is told from now on go to the log of a service.
pub(crate) fn tell_to_log() {
    IS_LOGGED.store(true, Ordering::Relaxed);
}

/// Writes a line to standard error, or to the log of a service. A standard error that is closed changes nothing.
pub(crate) fn tell(line: &str) {
    if IS_LOGGED.load(Ordering::Relaxed) {
        return match line.strip_prefix("warning: ") {
            Some(warning) => tracing::warn!("{warning}"),
            None => tracing::info!("{line}"),
        };
    }
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// A text of somebody else's without the characters that would control the terminal, or begin a line of their own.
pub(crate) fn printable(text: &str) -> String {
    text.replace(controls_terminal, "\u{fffd}")
}

/// The same of all texts within a value.
pub(crate) fn printable_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(printable(&text)),
        Value::Array(values) => values.into_iter().map(printable_value).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| (printable(&name), printable_value(value));
            Value::Object(fields.into_iter().map(field).collect::<Map<_, _>>())
        }
        value => value,
    }
}

/// Writes the one JSON object of `--json`, and a line end.
///
/// *Errors*: as [`print`].
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|e| Failure::no_result(format!("the result cannot be written as JSON: {e}")))?;
    text.push('\n');
    print(&text)
}

/// Rows of a table with columns aligned: the first column to the left, the others to the right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // The widths of `format!` end at 65,535, and a type may be longer.
            let padding = " ".repeat(width - cell.chars().count());
            match c {
                0 => line.extend([cell.as_str(), &padding]),
                _ => line.extend(["  ", &padding, cell]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Numbers of parties, runs of them in short: `0,1` or `0-6,9`.
pub(crate) fn parties(numbers: &[u16]) -> String {
    let runs = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let run = |run: &[u16]| match run {
        [first, .., last] if run.len() > 2 => format!("{first}-{last}"),
        _ => run.iter().map(u16::to_string).collect::<Vec<_>>().join(","),
    };
    runs.map(run).collect::<Vec<_>>().join(",")
}

/// A number of bytes for people: `4.4 KB`, with 1 KB = 1,000 bytes.
pub(crate) fn bytes(count: u64) -> String {
    scaled(count as f64, &["B", "KB", "MB", "GB", "TB"])
}

/// A time for people: `12.3 ms`.
pub(crate) fn seconds(time: f64) -> String {
    match time {
        t if t >= 100.0 => format!("{t:.0} s"),
        t if t >= 1.0 => format!("{t:.2} s"),
        t if t >= 1e-3 => format!("{:.1} ms", t * 1e3),
        t => format!("{:.0} us", t * 1e6),
    }
}

/// A rate for people: `12.3 M`, to be followed by the unit.
pub(crate) fn rate(per_second: f64) -> String {
    scaled(per_second, &["", "k", "M", "G"])
}

/// A count with separators: `6,400`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn scaled(mut value: f64, units: &[&str]) -> String {
    let mut at = 0;
    while value >= 999.5 && at + 1 < units.len() {
        value /= 1000.0;
        at += 1;
    }
    let digits = if at == 0 || value >= 99.5 { 0 } else { 1 };
    format!("{value:.digits$} {}", units[at]).trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(4_400), "4.4 KB");
        assert_eq!(bytes(204_800_000), "205 MB");
        assert_eq!(count(0), "0");
        assert_eq!(count(6_400), "6,400");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(123), "123");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(2.5), "2.50 s");
        assert_eq!(seconds(0.000_05), "50 us");
        assert_eq!(rate(12_340_000.0), "12.3 M");
    }

    #[test]
    fn tables_align() {
        let rows = [vec!["a".into(), "10".into()], vec!["long".into(), "5".into()]];
        assert_eq!(table(&rows), "a     10\nlong   5\n");
        let long = "long".repeat(20_000);
        assert_eq!(table(&[vec!["a".into(), "1".into()], vec![long, "2".into()]]).lines().count(), 2);
    }

    #[test]
    fn runs_of_parties_are_short() {
        assert_eq!(parties(&[]), "");
        assert_eq!(parties(&[0, 1]), "0,1");
        assert_eq!(parties(&[0, 1, 2, 7, 9, 10, 65_535]), "0-2,7,9,10,65535");
    }
}
