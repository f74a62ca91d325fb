//! Standard output, for results only, and standard error, for messages.
//!
//! All text for a terminal passes through here, and control characters are escaped: in names, peers' messages, and texts from files that others wrote.

use std::{
    borrow::Cow,
    cell::RefCell,
    io::Write,
    sync::atomic::{AtomicBool, Ordering},
};

use garblet::circuit::diagnostic::{controls_terminal, one_line};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, reason};

/// Set once something was written to standard output.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Writes the JSON object of `--json` for a failure, if requested and nothing was written yet.
#[cfg(feature = "system")]
pub(crate) fn print_failure(failure: &Failure) {
    let asked = std::env::args_os().any(|argument| argument == "--json");
    if asked && !PRINTED.load(Ordering::Relaxed) {
        // If this fails, standard error already has the message.
        let _ = print_json(&failure.object());
    }
}

/// Writes text to standard output.
///
/// *Errors*: a full disk, or a reader that is gone.
pub fn print(text: &str) -> Result<(), Failure> {
    write_out(&escaped(text))
}

fn write_out(text: &str) -> Result<(), Failure> {
    PRINTED.store(true, Ordering::Relaxed);
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| Failure::no_result(format!("standard output: cannot be written: {}", reason(&e))))
}

/// Set if messages go to the log of a service.
#[cfg(feature = "system")]
static IS_LOGGED: AtomicBool = AtomicBool::new(false);

/// Sends all messages from now on to the log of a service.
#[cfg(feature = "system")]
pub fn tell_to_log() {
    IS_LOGGED.store(true, Ordering::Relaxed);
}

thread_local! {
    /// The messages of this thread, where somebody collects them.
    static HEARD: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Works, and returns the messages of this thread meanwhile, which then go nowhere else: for a caller without a terminal.
pub fn heard<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let before = HEARD.replace(Some(Vec::new()));
    let result = work();
    (result, HEARD.replace(before).unwrap_or_default())
}

/// Writes a line to standard error, or to the log of a service. Ignores a closed or full standard error.
pub fn tell(line: &str) {
    tell_lines(&one_line(line));
}

/// Writes a text of several lines in the same way. Names in it must already be escaped to one line.
pub(crate) fn tell_lines(text: &str) {
    let is_heard = HEARD.with_borrow_mut(|heard| heard.as_mut().map(|heard| heard.push(escaped(text).into_owned())));
    if is_heard.is_some() {
        return;
    }
    #[cfg(feature = "system")]
    if IS_LOGGED.load(Ordering::Relaxed) {
        return match text.strip_prefix("warning: ") {
            Some(warning) => tracing::warn!("{warning}"),
            None => tracing::info!("{text}"),
        };
    }
    tell_text(&format!("{text}\n"));
}

/// Writes a text to standard error. Ignores a closed or full one.
pub fn tell_text(text: &str) {
    let _ = std::io::stderr().write_all(escaped(text).as_bytes());
}

/// A text of several lines with terminal controls escaped, for instance as `\u{1b}`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_as(text, |c| c.escape_unicode().to_string())
}

/// The same for JSON text, which keeps its value, since JSON has such characters only within strings.
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
    escaped_as(text, units)
}

fn escaped_as(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    let is_escaped = |c: char| controls_terminal(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_escaped(c) {
            true => shown += &escape(c),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// An untrusted text, with a replacement character in place of each terminal control and line end.
pub fn printable(text: &str) -> String {
    text.replace(controls_terminal, "\u{fffd}")
}

/// The same for all texts within a value.
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

/// Writes the JSON object of `--json` and a line end.
///
/// *Errors*: as [`print`].
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|e| Failure::no_result(format!("the result cannot be written as JSON: {e}")))?;
    text.push('\n');
    write_out(&escaped_json(&text))
}

/// Rows of a table with aligned columns: the first to the left, the others to the right. Each row is one line, whatever its cells contain.
pub fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (c, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // The widths of `format!` end at 65,535, and a type may be longer.
            let padding = " ".repeat(width - cell.chars().count());
            match c {
                0 => line.extend([cell, &padding[..]]),
                _ => line.extend(["  ", &padding, cell]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Numbers of parties, with ranges abbreviated: `0,1` or `0-6,9`.
pub fn parties(numbers: &[u16]) -> String {
    let runs = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let run = |run: &[u16]| match run {
        [first, .., last] if run.len() > 2 => format!("{first}-{last}"),
        _ => run.iter().map(u16::to_string).collect::<Vec<_>>().join(","),
    };
    runs.map(run).collect::<Vec<_>>().join(",")
}

/// A readable number of bytes: `4.4 KB`, with 1 KB = 1,000 bytes.
pub fn bytes(count: u64) -> String {
    scaled(count as f64, &["B", "KB", "MB", "GB", "TB"])
}

/// A readable time: `12.3 ms`.
pub fn seconds(time: f64) -> String {
    match time {
        t if t >= 100.0 => format!("{t:.0} s"),
        t if t >= 1.0 => format!("{t:.2} s"),
        t if t >= 1e-3 => format!("{:.1} ms", t * 1e3),
        t => format!("{:.0} us", t * 1e6),
    }
}

/// A readable rate: `12.3 M`, to be followed by the unit.
pub fn rate(per_second: f64) -> String {
    scaled(per_second, &["", "k", "M", "G"])
}

/// A count with separators: `6,400`.
pub fn count(value: u64) -> String {
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
    use garblet::run_report::PeerPart;

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
    fn names_chosen_by_others_cannot_control_the_terminal_or_begin_a_line() {
        use garblet::circuit::diagnostic::{Diagnostic, Place};
        let shown = |text: &str| escaped(text).into_owned();
        let cases = [
            ("bob\nerror: all is lost", "bob\\u{a}error: all is lost"),
            ("bob\r\u{1b}[2J", "bob\\u{d}\\u{1b}[2J"),
            ("bo\u{200b}b", "bo\\u{200b}b"),
            ("\u{feff}bob", "\\u{feff}bob"),
            ("bo\u{ad}b", "bo\\u{ad}b"),
            ("\u{202e}bob", "\\u{202e}bob"),
            ("b\u{2066}o\u{2069}b", "b\\u{2066}o\\u{2069}b"),
            ("bo\u{e0062}b", "bo\\u{e0062}b"),
            ("bo\u{9b}2Jb", "bo\\u{9b}2Jb"),
        ];
        for (name, expected) in cases {
            assert_eq!(shown(&one_line(name)), expected);
            let failure = Failure::call(format!("{name}: not there")).hint(format!("ask {name}"));
            assert_eq!(shown(&failure.message), format!("{expected}: not there"));
            assert_eq!(shown(&failure.hint.expect("given")), format!("ask {expected}"));
            assert_eq!(shown(&table(&[vec![name.into(), name.into()]])), format!("{expected}  {expected}\n"));
            let diagnostic = Diagnostic::new(name, format!("what is {name}?")).hint(format!("ask {name}"));
            let diagnosed = shown(&Failure::diagnosed(diagnostic.clone().at(Place::in_text("x", 0..1))).message);
            assert!(diagnosed.starts_with(&format!("what is {expected}?\n --> {expected}:1:1\n")), "{diagnosed}");
            assert!(diagnosed.ends_with(&format!("\nhint: ask {expected}")), "{diagnosed}");
            let text = crate::record::peer_text(&PeerPart { name: Some(name.into()), ..PeerPart::here(1) });
            assert_eq!(shown(&text), format!("party 1: {expected}\n"));
        }
    }

    #[test]
    fn messages_go_to_whoever_collects_them_in_this_thread() {
        let (inner, outer) = heard(|| {
            tell("warning: a\u{1b}");
            let ((), inner) = heard(|| tell("b"));
            std::thread::scope(|threads| threads.spawn(|| tell("c, which is shown")).join().expect("a thread"));
            tell("d");
            inner
        });
        assert_eq!((inner, outer), (vec!["b".into()], vec!["warning: a\\u{1b}".into(), "d".into()]));
    }

    #[test]
    fn tables_align() {
        let rows = [vec!["a".into(), "10".into()], vec!["long".into(), "5".into()]];
        assert_eq!(table(&rows), "a     10\nlong   5\n");
        let long = "long".repeat(20_000);
        assert_eq!(table(&[vec!["a".into(), "1".into()], vec![long, "2".into()]]).lines().count(), 2);
    }

    #[test]
    fn ranges_of_parties_are_abbreviated() {
        assert_eq!(parties(&[]), "");
        assert_eq!(parties(&[0, 1]), "0,1");
        assert_eq!(parties(&[0, 1, 2, 7, 9, 10, 65_535]), "0-2,7,9,10,65535");
    }
}
