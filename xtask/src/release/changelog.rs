//! The changelog's section of a release.

/// The section of a version: its heading, `## VERSION - YYYY-MM-DD`, and all until the next one.
///
/// *Errors*: no such section, or more than one; no date; a text that says that the version is not released.
pub(super) fn section(changelog: &str, version: &str) -> Result<String, String> {
    let wrong = |what: String| Err(format!("CHANGELOG.md: {what}"));
    let lines: Vec<&str> = changelog.lines().collect();
    let is_of = |line: &str| {
        let heading = line.strip_prefix("## ")?;
        heading.split(' ').next().filter(|of| *of == version).map(|_| heading.to_string())
    };
    let headings: Vec<(usize, String)> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((at, is_of(line)?))).collect();
    let [(at, heading)] = &headings[..] else {
        return wrong(format!("expected one section `## {version} - YYYY-MM-DD`, got {}", headings.len()));
    };
    let date = heading[version.len()..].strip_prefix(" - ").unwrap_or_default();
    let is_date = date.len() == 10
        && date.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_date {
        return wrong(format!("expected `## {version} - YYYY-MM-DD`, with the day of the release, got `## {heading}`"));
    }
    let inside = lines[at + 1..].iter().take_while(|line| !line.starts_with("## "));
    let text = inside.copied().collect::<Vec<_>>().join("\n");
    match text.trim() {
        "" => wrong(format!("expected what is new in {version}, got nothing")),
        text if text.contains("not released yet") => wrong(format!("says that {version} is not released yet")),
        text => Ok(format!("# Garblet {heading}\n\n{text}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# Changelog\n\n## 1.2.3 - 2026-12-01\n\nNew.\n\n### Fixed\n\n- All.\n\n## 1.2.2 - 2026-11-01\n\nOld.\n";

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let own = "# Garblet 1.2.3 - 2026-12-01\n\nNew.\n\n### Fixed\n\n- All.\n";
        assert_eq!(section(TEXT, "1.2.3"), Ok(own.into()));
        assert_eq!(section(TEXT, "1.2.2"), Ok("# Garblet 1.2.2 - 2026-11-01\n\nOld.\n".into()));
    }

    #[test]
    fn a_version_without_a_section_or_a_date_is_not_released() {
        for (text, version, says) in [
            (TEXT.to_string(), "1.2", "expected one section `## 1.2 - YYYY-MM-DD`, got 0"),
            (TEXT.replace("1.2.2", "1.2.3"), "1.2.3", "got 2"),
            (TEXT.replace(" - 2026-12-01", ""), "1.2.3", "got `## 1.2.3`"),
            (TEXT.replace("2026-12-01", "2026-12-xx"), "1.2.3", "with the day of the release"),
            (TEXT.replace("New.", "It is not released yet."), "1.2.3", "says that 1.2.3 is not released yet"),
            (TEXT.replace("Old.", ""), "1.2.2", "got nothing"),
        ] {
            let error = section(&text, version).expect_err(&text);
            assert!(error.starts_with("CHANGELOG.md: ") && error.contains(says), "{error}");
        }
    }
}
