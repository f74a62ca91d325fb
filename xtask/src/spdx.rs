//! Licence expressions, as far as manifests use them.

use std::collections::BTreeSet;

/// Tells whether an expression can be met with allowed licences only.
///
/// *Errors*: text that is no licence expression.
pub(crate) fn met(expression: &str, allowed: &BTreeSet<String>) -> Result<bool, String> {
    // Manifests from before SPDX separate alternatives with a slash.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { tokens: &tokens, allowed };
    let met = parser.alternatives().filter(|_| parser.tokens.is_empty());
    met.ok_or_else(|| format!("`{expression}` is no licence expression"))
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    allowed: &'a BTreeSet<String>,
}

impl Parser<'_> {
    fn alternatives(&mut self) -> Option<bool> {
        let mut met = self.conjunction()?;
        while self.take("OR") {
            met |= self.conjunction()?;
        }
        Some(met)
    }

    fn conjunction(&mut self) -> Option<bool> {
        let mut met = self.licence()?;
        while self.take("AND") {
            met &= self.licence()?;
        }
        Some(met)
    }

    fn licence(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.alternatives()?;
            return self.take(")").then_some(met);
        }
        let mut name = self.next()?.to_string();
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.next()?);
        }
        Some(self.allowed.contains(&name))
    }

    fn next(&mut self) -> Option<&str> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        (!["OR", "AND", "WITH", ")", "("].contains(first)).then_some(first)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.tokens.first() == Some(&token);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met_by_mit(expression: &str) -> Result<bool, String> {
        met(expression, &BTreeSet::from(["MIT".to_string()]))
    }

    #[test]
    fn expressions_are_met_or_not() {
        assert_eq!(met_by_mit("MIT OR GPL-3.0"), Ok(true));
        assert_eq!(met_by_mit("Apache-2.0/MIT"), Ok(true));
        assert_eq!(met_by_mit("(MIT OR Apache-2.0) AND GPL-3.0"), Ok(false));
        assert_eq!(met_by_mit("MIT AND (GPL-3.0 OR MIT)"), Ok(true));
        assert_eq!(met_by_mit("MIT WITH exception"), Ok(false));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "MIT OR", "(MIT", "MIT MIT", "OR MIT"] {
            assert!(met_by_mit(text).is_err(), "{text}");
        }
    }
}
