//! Unique names for variables.
//!
//! The type checker forgets to leave scopes in which it finds an error, and would confuse a variable of an inner one with that
//! of an outer one. So a name that already exists gets a number.

use std::collections::HashMap;

use crate::{source_error::SourceError, tree::Span};

/// The character between the name and its number.
const SEPARATOR: char = '#';

/// The name as it is in the source.
pub(in crate::front) fn in_source(name: &str) -> &str {
    name.split(SEPARATOR).next().unwrap_or(name)
}

/// The fault for a variable with the name of a constant, which is declared in line `line`.
pub(in crate::front) fn of_constant(name: &str, line: u32, at: Span) -> SourceError {
    let message = format!("`{name}` is a constant, declared in line {line}: no variable can have its name");
    SourceError::new(at, message).hint("rename the variable")
}

/// The names of the variables of a function.
#[derive(Default)]
pub(super) struct Names {
    /// The number of times that each name is declared.
    counts: HashMap<String, u32>,
    /// The meaning of each name in the source, innermost scope last.
    scopes: Vec<HashMap<String, String>>,
    /// Names that are not declared yet: a pattern comes before its value.
    waiting: Vec<(String, String)>,
}

impl Names {
    /// A new name for a variable that is being declared.
    pub(super) fn new_name(&mut self, name: &str) -> String {
        let count = self.counts.entry(name.into()).or_default();
        *count += 1;
        let own = if *count == 1 { name.into() } else { format!("{name}{SEPARATOR}{count}") };
        self.waiting.push((name.into(), own.clone()));
        own
    }

    /// The names that wait to be declared.
    pub(super) fn take_waiting(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.waiting)
    }

    /// Declares the names that wait for it.
    pub(super) fn declare(&mut self) {
        let waiting = self.take_waiting();
        self.declare_all(waiting);
    }

    /// Declares names in the innermost scope.
    pub(super) fn declare_all(&mut self, names: Vec<(String, String)>) {
        if self.scopes.is_empty() {
            self.enter();
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(names);
        }
    }

    pub(super) fn enter(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// The unique name behind a name here: the name itself if there is no such variable.
    pub(super) fn resolve(&self, name: String) -> String {
        let own = self.scopes.iter().rev().find_map(|scope| scope.get(&name)).cloned();
        own.unwrap_or(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_names_are_others() {
        let mut names = Names::default();
        assert_eq!(names.new_name("x"), "x");
        assert_eq!(names.resolve("x".into()), "x");
        names.declare();
        names.enter();
        let inner = names.new_name("x");
        assert_eq!((inner.as_str(), in_source(&inner)), ("x#2", "x"));
        // Its value uses the outer one.
        assert_eq!(names.resolve("x".into()), "x");
        names.declare();
        assert_eq!(names.resolve("x".into()), "x#2");
        names.leave();
        assert_eq!((names.resolve("x".into()), names.resolve("y".into())), ("x".into(), "y".into()));
    }
}
