//! The errors of files in TOML, in the words of TOML: what the parser says of types is in those of Rust.

/// The error's message on one line. One about the type or the range of a value names its key, what a user may write there, and what is there.
pub fn toml_words(error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', ", ");
    let of_value = ["invalid type: ", "invalid value: "].iter().find_map(|kind| message.strip_prefix(kind));
    let key = key(error).map_or(String::new(), |key| format!("{key}: "));
    match of_value.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((got, expected)) => format!("{key}expected {}, got {}", expected_words(expected), got_words(got)),
        None if message == "wanted string or table" => key + "expected a text in quotes",
        None if message.starts_with("expected ") => key + &message,
        None => message,
    }
}

/// The path of keys to the value, such as `limits.sessions`. The error shows it only without the text around it.
fn key(error: &toml::de::Error) -> Option<String> {
    let mut alone = error.clone();
    alone.set_input(None);
    let shown = alone.to_string();
    let (_, place) = shown.strip_prefix(error.message())?.split_once("in `")?;
    Some(place.strip_suffix("`\n")?.into())
}

fn expected_words(rust: &str) -> &str {
    match rust {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0 on",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "string" | "a borrowed string" | "path string" | "variant identifier" => "a text in quotes",
        "a sequence" => "a list in brackets",
        "a map" => "a table",
        _ if rust.starts_with("struct ") => "a table",
        _ if rust.starts_with("enum ") || rust == "string or map" => "a text in quotes",
        _ => rust,
    }
}

fn got_words(rust: &str) -> String {
    match rust {
        "sequence" => "a list".into(),
        "map" => "a table".into(),
        _ => {
            let plain = ["integer ", "floating point ", "boolean "].iter().find_map(|kind| rust.strip_prefix(kind));
            match plain {
                Some(value) => value.trim_matches('`').into(),
                None => rust.strip_prefix("string ").map_or(rust.into(), |text| format!("the text {text}")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, num::NonZeroU32, path::PathBuf};

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only their types count")]
    struct Written {
        text: Option<String>,
        path: Option<PathBuf>,
        small: Option<u8>,
        port: Option<u16>,
        word: Option<u32>,
        rows: Option<NonZeroU32>,
        many: Option<usize>,
        on: Option<bool>,
        list: Option<Vec<String>>,
        table: Option<BTreeMap<String, u64>>,
        inner: Option<Inner>,
        kind: Option<Kind>,
        tables: Option<Vec<toml::Spanned<Inner>>>,
        names: Option<Names>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged, expecting = "expected a name or a list")]
    #[allow(dead_code, reason = "only their types count")]
    enum Names {
        One(String),
        Several(Vec<String>),
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only their types count")]
    struct Inner {
        count: u64,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        One,
    }

    fn words(text: &str) -> String {
        toml_words(&toml::from_str::<Written>(text).expect_err(text))
    }

    #[test]
    fn types_are_named_in_the_words_of_a_user_with_their_key() {
        for (text, says) in [
            ("text = 3", "text: expected a text in quotes, got 3"),
            ("path = true", "path: expected a text in quotes, got true"),
            ("small = 300", "small: expected a whole number from 0 to 255, got 300"),
            ("port = 70000", "port: expected a whole number from 0 to 65535, got 70000"),
            ("word = -1", "word: expected a whole number from 0 to 4294967295, got -1"),
            ("rows = 0", "rows: expected a whole number from 1 to 4294967295, got 0"),
            ("many = \"a, expected b\"", "many: expected a whole number from 0 on, got the text \"a, expected b\""),
            ("many = 1.5", "many: expected a whole number from 0 on, got 1.5"),
            ("on = 1", "on: expected true or false, got 1"),
            ("list = \"a\"", "list: expected a list in brackets, got the text \"a\""),
            ("list = [1]", "list: expected a text in quotes, got 1"),
            ("table = [1]", "table: expected a table, got a list"),
            ("[table]\na = false", "table.a: expected a whole number from 0 on, got false"),
            ("inner = 3", "inner: expected a table, got 3"),
            ("[inner]\ncount = []", "inner.count: expected a whole number from 0 on, got a list"),
            ("[[tables]]\ncount = {}", "tables.count: expected a whole number from 0 on, got a table"),
            ("kind = 3", "kind: expected a text in quotes"),
            ("names = 3", "names: expected a name or a list"),
        ] {
            assert_eq!(words(text), says, "{text}");
        }
    }

    #[test]
    fn what_is_no_matter_of_types_is_said_as_before() {
        for (text, says) in [
            ("kind = \"two\"", "unknown variant `two`, expected `one`"),
            ("other = 3", "unknown field `other`, expected one of"),
            ("[inner]\n", "missing field `count`"),
            ("text = \"a\"\ntext = \"b\"", "duplicate key"),
        ] {
            assert!(words(text).starts_with(says), "{text}: {}", words(text));
        }
    }
}
