//! Errors of library names.

use garblet_circuit::CircuitError;

/// A name that is not in the library, or parameters that a member does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// No member has this name.
    #[error("no library circuit `{name}`, {}", advice(near, known))]
    Unknown {
        /// The requested name.
        name: String,
        /// Similar names, best first.
        near: Vec<&'static str>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// The text is neither a name nor a name with parameters.
    #[error("`{text}` is not a library name, expected `lib:NAME` or `lib:NAME(NUMBER, ...)`, and perhaps `@depth`")]
    Syntax {
        /// The text.
        text: String,
    },
    /// Too many or too few parameters.
    #[error("`{signature}` takes {expected} parameters, got {got}")]
    ParameterCount {
        /// Name and parameters of the member.
        signature: String,
        /// The number of parameters that it takes.
        expected: usize,
        /// The number of parameters given.
        got: usize,
    },
    /// A parameter is out of range.
    #[error("`{signature}`: {parameter} is {got}, expected {least} to {most}")]
    ParameterRange {
        /// Name and parameters of the member.
        signature: String,
        /// The parameter's name.
        parameter: &'static str,
        /// Its value.
        got: u32,
        /// The least value allowed.
        least: u32,
        /// The greatest value allowed.
        most: u32,
    },
    /// The circuit would be unreasonably large.
    #[error("`{call}` would have about {size} gates and instances, the limit is {limit}")]
    TooLarge {
        /// Name and parameters.
        call: String,
        /// The approximate number of gates and component instances that it would have.
        size: u64,
        /// The most allowed.
        limit: u64,
    },
    /// The member has several components, or several instances of one.
    #[error("`{call}` has {instances} instances, expected a single component")]
    NotOneComponent {
        /// Name and parameters.
        call: String,
        /// Instances of components.
        instances: usize,
    },
    /// The member is malformed: a fault of the library.
    #[error("library circuit is not well formed: {0}")]
    Circuit(#[from] CircuitError),
}

impl LibraryError {
    /// The error for a name that no member has.
    pub(super) fn unknown(name: &str) -> Self {
        let known: Vec<&'static str> = super::list().map(|m| m.name).collect();
        // Compare only names of usual length, so that a long text costs nothing. An empty name asks for all.
        let comparable = if (1..=64).contains(&name.len()) { &known[..] } else { &[] };
        let mut near: Vec<(usize, &'static str)> =
            comparable.iter().map(|k| (unlikeness(name, k), *k)).filter(|(d, _)| *d <= 3).collect();
        near.sort_by_key(|&(distance, _)| distance);
        LibraryError::Unknown { name: name.into(), near: near.into_iter().take(4).map(|(_, k)| k).collect(), known }
    }
}

/// Edit distance of two names; small if one begins with the other.
fn unlikeness(a: &str, b: &str) -> usize {
    if a.len() >= 2 && b.starts_with(a) {
        return 1;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn advice(near: &[&str], known: &[&str]) -> String {
    let (lead, names) = if near.is_empty() { ("there are ", known) } else { ("did you mean ", near) };
    let names: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    let separator = if near.is_empty() { ", " } else { " or " };
    format!("{lead}{}{}", names.join(separator), if near.is_empty() { "" } else { "?" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_at_all_gets_the_list_of_all() {
        let text = LibraryError::unknown("").to_string();
        assert!(text.starts_with("no library circuit ``, there are `aes128`, "), "{text}");
        assert!(LibraryError::unknown("ad").to_string().contains("did you mean `add`"));
    }

    #[test]
    fn likeness() {
        assert_eq!(unlikeness("aes", "aes128"), 1);
        assert_eq!(unlikeness("kitten", "sitting"), 3);
        assert_eq!(unlikeness("", "add"), 3);
        assert_eq!(unlikeness("add", "add"), 1);
        assert_eq!(unlikeness("sort", "sha256"), 5);
    }
}
