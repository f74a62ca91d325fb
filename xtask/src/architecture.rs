//! Checks of the page on the architecture: short, lines that fit a terminal, and tests that exist.

use std::{collections::BTreeSet, path::Path};

const PAGE: &str = "ARCHITECTURE.md";
/// The longest the page may be, in bytes.
const BYTES_MAX: usize = 10 << 10;
/// The longest a line may be, in characters.
const LINE_CHARS_MAX: usize = 100;

/// Lists what is wrong with the page, one line per finding.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let functions: BTreeSet<String> = crate::tidy::files(root)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .flat_map(|text| functions(&text).map(String::from).collect::<Vec<_>>())
        .collect();
    match std::fs::read_to_string(root.join(PAGE)) {
        Ok(page) => findings(&page, |name| functions.contains(name)),
        Err(error) => vec![format!("{PAGE}: {error}")],
    }
}

/// The names of the functions of a source.
fn functions(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| line.split_once("fn ")?.1.split(['(', '<']).next())
}

fn findings(page: &str, is_function: impl Fn(&str) -> bool) -> Vec<String> {
    let mut findings = Vec::new();
    if page.len() > BYTES_MAX {
        findings.push(format!("{PAGE}: {} bytes, at most {BYTES_MAX}", page.len()));
    }
    for (at, line) in page.lines().enumerate() {
        let place = format!("{PAGE}:{}", at + 1);
        let length = line.chars().count();
        if length > LINE_CHARS_MAX {
            findings.push(format!("{place}: {length} characters, at most {LINE_CHARS_MAX}"));
        }
        let quoted = line.split('`').skip(1).step_by(2);
        let lost = quoted.filter(|name| is_test(name) && !is_function(name));
        findings.extend(lost.map(|name| format!("{place}: there is no test `{name}`")));
    }
    findings
}

/// Distinguishes the name of a test, which is a sentence, from other names.
fn is_test(name: &str) -> bool {
    name.matches('_').count() >= 3 && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_short_and_names_tests_that_exist() {
        assert_eq!(check(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn a_lost_test_a_long_line_and_a_long_page_are_found() {
        let of = |page: &str| findings(page, |name| name == "one_is_not_two");
        assert_eq!(of("| x | `one_is_not_two` |\n`net/src/a_b_c_d.rs`, `is_set`\n"), [""; 0]);
        assert_eq!(of("\n| | `two_is_not_one` |\n"), ["ARCHITECTURE.md:2: there is no test `two_is_not_one`"]);
        assert_eq!(of(&"─".repeat(101)), ["ARCHITECTURE.md:1: 101 characters, at most 100"]);
        assert_eq!(of(&"a\n".repeat(5121)), ["ARCHITECTURE.md: 10242 bytes, at most 10240"]);
    }
}
