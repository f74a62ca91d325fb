//! The page on the hello: its table and its vector have the wire version of the code.

/// The page, below the folder of the specification.
pub(super) const PAGE: &str = "/04-hello.md";
/// The file and the name of the wire version.
pub(super) const SOURCE: &str = "crates/net/src/hello.rs";
pub(super) const CONSTANT: &str = "WIRE_VERSION";

/// The beginning of the row that states the wire version.
const ROW: &str = "| wire version |";
/// The magic, with which a vector begins.
const MAGIC: &str = "67 61 72 62 6c 65 74 00 ";

/// Lists where the page has another wire version than the code, or none.
pub(super) fn findings(name: &str, text: &str, wire_version: Option<u128>) -> Vec<String> {
    let Some(wire_version) = wire_version else {
        return vec![format!("{SOURCE}: it has no number `{CONSTANT}`")];
    };
    let said = |at: &str, of: fn(&str) -> Option<u128>| {
        let lines = text.lines().enumerate().filter(|(_, line)| line.starts_with(at));
        lines.map(|(place, line)| (place + 1, of(&line[at.len()..]))).collect::<Vec<_>>()
    };
    let mut findings = Vec::new();
    for (what, found) in [("table", said(ROW, of_row)), ("vector", said(MAGIC, of_vector))] {
        if found.is_empty() {
            findings.push(format!("{name}: it has no {what} with the wire version"));
        }
        let wrong = found.into_iter().filter(|(_, said)| *said != Some(wire_version));
        findings.extend(wrong.map(|(place, _)| format!("{name}:{place}: `{CONSTANT}` is {wire_version}")));
    }
    findings
}

/// The last cell of a row.
fn of_row(row: &str) -> Option<u128> {
    row.trim_end().trim_end_matches('|').rsplit('|').next()?.trim().parse().ok()
}

/// The varint at the beginning of bytes in hexadecimal: seven bits in a byte, lowest first, the eighth set if more follow.
fn of_vector(bytes: &str) -> Option<u128> {
    let (mut value, mut shift) = (0, 0);
    for byte in bytes.split_whitespace() {
        let byte = u128::from_str_radix(byte, 16).ok().filter(|byte| *byte < 0x100)?;
        value |= (byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "| magic | `67 61` |\n| wire version | varint, `u32` | 3 |\n\n67 61 72 62 6c 65 74 00  03  05 30\n07 .. 07\n";

    #[test]
    fn a_page_has_the_wire_version_of_the_code_in_its_table_and_vector() {
        assert_eq!(findings("p.md", TEXT, Some(3)), [""; 0]);
        assert_eq!(findings("p.md", TEXT, Some(4)), ["p.md:2: `WIRE_VERSION` is 4", "p.md:4: `WIRE_VERSION` is 4"]);
        let long = TEXT.replace("00  03", "00  ac 02").replace("| 3 |", "| 300 |");
        assert_eq!(findings("p.md", &long, Some(300)), [""; 0]);
        for cut in ["00  ac", "00  zz", "00  103"] {
            let found = findings("p.md", &TEXT.replace("00  03  05 30", cut), Some(3));
            assert_eq!(found, ["p.md:4: `WIRE_VERSION` is 3"], "{cut}");
        }
    }

    #[test]
    fn a_page_without_a_table_or_vector_and_code_without_the_number_are_found() {
        assert_eq!(
            findings("p.md", "", Some(3)),
            ["p.md: it has no table with the wire version", "p.md: it has no vector with the wire version"]
        );
        assert_eq!(findings("p.md", TEXT, None), ["crates/net/src/hello.rs: it has no number `WIRE_VERSION`"]);
    }
}
