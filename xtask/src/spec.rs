//! The specification in `docs/spec` against the code: its tables of contexts, of kinds of messages, and of limits, and the wire version. A row that the code does
//! not confirm is a finding, and so is a context, a message, or a limit beside one in a table, that no row has.

use std::{collections::BTreeMap, path::Path};

mod code;
mod hello;

use code::Code;

const FOLDER: &str = "docs/spec";

/// Contents of a table's row, with its place.
struct Row {
    place: String,
    cells: Vec<String>,
}

/// Lists the differences, one line per finding.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let code = match Code::read(root) {
        Ok(code) => code,
        Err(finding) => return vec![finding],
    };
    let mut pages: Vec<_> = crate::tidy::files(&root.join(FOLDER));
    pages.sort();
    let (mut tables, mut findings) = (Tables::default(), Vec::new());
    for page in pages {
        let name = page.strip_prefix(root).unwrap_or(&page).display().to_string();
        let text = match std::fs::read_to_string(&page) {
            Ok(text) => text,
            Err(error) => return vec![format!("{name}: {error}")],
        };
        tables.read(&name, &text);
        if name.ends_with(hello::PAGE) {
            findings.extend(hello::findings(&name, &text, code.value_of(hello::SOURCE, hello::CONSTANT)));
        }
    }
    findings.extend(tables.findings(&code));
    findings
}

/// The wire version of the code.
///
/// *Errors*: the source that has it cannot be read, or has no such number.
pub(crate) fn wire_version(root: &Path) -> Result<u64, String> {
    let text = std::fs::read_to_string(root.join(hello::SOURCE)).map_err(|e| format!("{}: {e}", hello::SOURCE))?;
    let mut code = Code::default();
    code.read_file(hello::SOURCE, &text)?;
    let value = code.value_of(hello::SOURCE, hello::CONSTANT).and_then(|value| value.try_into().ok());
    value.ok_or_else(|| format!("{}: it has no number `{}`", hello::SOURCE, hello::CONSTANT))
}

/// The tables that are compared, by the first word of their headers.
#[derive(Default)]
struct Tables(BTreeMap<String, Vec<Row>>);

impl Tables {
    /// Reads the tables of a page.
    fn read(&mut self, page: &str, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        let mut header = None;
        for (at, line) in lines.iter().enumerate() {
            let Some(inner) = line.strip_prefix("| ") else {
                // The line below a header begins without a space.
                header = header.filter(|_| line.starts_with("|-"));
                continue;
            };
            let cells: Vec<String> =
                inner.trim_end().trim_end_matches('|').split(" | ").map(|cell| cell.trim().to_string()).collect();
            match &header {
                None => header = cells.first().cloned(),
                Some(header) => {
                    let row = Row { place: format!("{page}:{}", at + 1), cells };
                    self.0.entry(header.clone()).or_default().push(row);
                }
            }
        }
    }

    fn rows(&self, header: &str) -> &[Row] {
        self.0.get(header).map_or(&[], Vec::as_slice)
    }

    fn findings(&self, code: &Code) -> Vec<String> {
        let mut findings = self.contexts(code);
        findings.extend(self.kinds(code));
        findings.extend(self.limits(code));
        findings
    }

    /// Contexts of hashes.
    fn contexts(&self, code: &Code) -> Vec<String> {
        let rows: BTreeMap<&str, &Row> = self.rows("context").iter().map(|row| (row.quoted(0), row)).collect();
        let unknown = rows.iter().filter(|(context, _)| !code.contexts.contains_key(**context));
        let unknown = unknown.map(|(context, row)| format!("{}: the code has no context `{context}`", row.place));
        let missing = code.contexts.iter().filter(|(context, _)| !rows.contains_key(&context[..]));
        let missing = missing.map(|(context, file)| format!("{file}: {FOLDER} lacks the context `{context}`"));
        unknown.chain(missing).collect()
    }

    /// Kinds of messages, with names and longest encodings.
    fn kinds(&self, code: &Code) -> Vec<String> {
        let row = |row: &Row| {
            let kind = row.quoted(0).strip_prefix("0x").and_then(|kind| u128::from_str_radix(kind, 16).ok());
            (kind, row.cell(1).to_string(), row.cell(2).parse().ok())
        };
        let rows: Vec<_> = self.rows("kind").iter().map(|of| (row(of), &of.place)).collect();
        let messages: Vec<_> = code.messages().into_iter().map(|m| ((m.kind, m.name, m.limit), m.file)).collect();
        let text = |(kind, name, limit): &(Option<u128>, String, Option<u128>)| {
            let number = |number: &Option<u128>| number.map_or("?".to_string(), |number| number.to_string());
            format!("`{name}` of kind {} and at most {} bytes", number(kind), number(limit))
        };
        let unknown = rows.iter().filter(|(row, _)| !messages.iter().any(|(message, _)| message == row));
        let unknown = unknown.map(|(row, place)| format!("{place}: the code has no message {}", text(row)));
        let missing = messages.iter().filter(|(message, _)| !rows.iter().any(|(row, _)| row == message));
        let missing = missing.map(|(message, file)| format!("{file}: {FOLDER} lacks the message {}", text(message)));
        unknown.chain(missing).collect()
    }

    /// Constants that both parties must share.
    fn limits(&self, code: &Code) -> Vec<String> {
        let mut findings = Vec::new();
        let mut named: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for row in self.rows("limit") {
            let (file, constant) = (format!("crates/{}", row.quoted(2)), row.quoted_at(2, 1));
            match code.value_of(&file, constant) {
                Some(value) if row.cell(1).parse() == Ok(value) => (),
                Some(value) => findings.push(format!("{}: `{constant}` is {value}", row.place)),
                None => findings.push(format!("{}: {file} has no number `{constant}`", row.place)),
            }
            named.entry(file).or_default().push(constant);
        }
        for (file, constants) in named {
            let lost = code.limits(&file).filter(|limit| !constants.contains(limit));
            findings.extend(lost.map(|limit| format!("{file}: {FOLDER} lacks the limit `{limit}`")));
        }
        findings
    }
}

impl Row {
    fn cell(&self, at: usize) -> &str {
        self.cells.get(at).map_or("", String::as_str)
    }

    /// The first text in backticks of a cell.
    fn quoted(&self, at: usize) -> &str {
        self.quoted_at(at, 0)
    }

    fn quoted_at(&self, at: usize, nth: usize) -> &str {
        self.cell(at).split('`').skip(1).step_by(2).nth(nth).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = r#"
        //! `garblet 2026 not a context`
        const CONTEXT: &str = "a context";
        const LIMIT_MAX: usize = if cfg!(test) { 3 } else { 1 << 4 };
        struct Size;
        impl Size { const BYTES_MAX: usize = 2 * (LIMIT_MAX as usize) + 8; }
        impl Message for Hello {
            const NAME: &'static str = "hello";
            const KIND: u8 = 0x1a;
            const MAX_BYTES: usize = Size::BYTES_MAX;
        }
        fn hash() { blake3::derive_key("another", b""); let is = "garblet 2026 third"; }
        #[cfg(test)]
        mod tests { const CONTEXT: &str = "garblet 2026 only in a test"; }
    "#;
    const PAGE: &str = "\
| context | used in |\n|---|---|\n| `a context` | |\n| `another` | |\n| `garblet 2026 third` | |\n\n\
| kind | message | limit |\n|---|---|---|\n| `0x1a` | hello | 40 |\n\n\
| limit | value | constant |\n|---|---|---|\n| a limit | 16 | `a/src/lib.rs` `LIMIT_MAX` |\n| bytes | 40 | `a/src/lib.rs` `BYTES_MAX` |\n";

    fn of(page: &str) -> Vec<String> {
        let mut code = Code::default();
        code.read_file("crates/a/src/lib.rs", CODE).expect("it parses");
        let mut tables = Tables::default();
        tables.read("p.md", page);
        tables.findings(&code)
    }

    #[test]
    fn the_specification_has_the_contexts_kinds_and_limits_of_the_code() {
        assert_eq!(check(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn a_page_that_says_the_same_as_the_code_has_no_findings() {
        assert_eq!(of(PAGE), [""; 0]);
    }

    #[test]
    fn a_context_too_many_and_a_missing_one_are_found() {
        assert_eq!(
            of(&PAGE.replace("`another`", "`garblet 2026 other`")),
            [
                "p.md:4: the code has no context `garblet 2026 other`",
                "crates/a/src/lib.rs: docs/spec lacks the context `another`"
            ]
        );
    }

    #[test]
    fn a_message_with_another_kind_name_or_limit_is_found_on_both_sides() {
        for (from, to, text) in [
            ("0x1a", "0x1b", "`hello` of kind 27 and at most 40 bytes"),
            ("| hello", "| hallo", "`hallo` of kind 26 and at most 40 bytes"),
            ("hello | 40", "hello | 41", "`hello` of kind 26 and at most 41 bytes"),
        ] {
            let unknown = format!("p.md:9: the code has no message {text}");
            let missing = "crates/a/src/lib.rs: docs/spec lacks the message `hello` of kind 26 and at most 40 bytes";
            assert_eq!(of(&PAGE.replace(from, to)), [&unknown[..], missing]);
        }
    }

    #[test]
    fn a_wrong_an_unknown_and_a_missing_limit_are_found() {
        assert_eq!(of(&PAGE.replace("| 16 |", "| 17 |")), ["p.md:13: `LIMIT_MAX` is 16"]);
        assert_eq!(
            of(&PAGE.replace("`LIMIT_MAX`", "`LIMITS_MAX`")),
            [
                "p.md:13: crates/a/src/lib.rs has no number `LIMITS_MAX`",
                "crates/a/src/lib.rs: docs/spec lacks the limit `LIMIT_MAX`"
            ]
        );
    }
}
