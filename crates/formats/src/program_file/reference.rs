//! References such as `x[4..8]` and `cell[i-1].carry[0]`.

use std::ops::Range;

use garblet_circuit::diagnostic::clip;

use super::is_name;

/// A reference, with its indices computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference<'a> {
    /// A program input or an instance.
    pub(super) name: &'a str,
    /// The number of the instance among several.
    pub(super) instance: Option<u64>,
    /// An output of the instance.
    pub(super) port: Option<&'a str>,
    /// The wires of the reference.
    pub(super) wires: Option<Range<u64>>,
}

impl<'a> Reference<'a> {
    /// Reads a reference; `i` is the number of the instance that contains it.
    pub(super) fn parse(text: &'a str, i: Option<u64>) -> Result<Self, String> {
        let text = text.trim();
        let (left, port_part) = match text.find('.').filter(|&dot| !text[dot..].starts_with("..")) {
            // A dot within brackets is a range of wires.
            Some(dot) if text[..dot].matches('[').count() == text[..dot].matches(']').count() => {
                (&text[..dot], Some(&text[dot + 1..]))
            }
            _ => (text, None),
        };
        let (name, index) = split_index(left)?;
        match port_part {
            None => {
                let wires = index.map(|index| range(index, i)).transpose()?;
                Ok(Reference { name, instance: None, port: None, wires })
            }
            Some(part) => {
                let (port, wires) = split_index(part)?;
                let instance = index.map(|index| number(index, i)).transpose()?;
                let wires = wires.map(|wires| range(wires, i)).transpose()?;
                Ok(Reference { name, instance, port: Some(port), wires })
            }
        }
    }
}

/// `name` or `name[index]`.
fn split_index(text: &str) -> Result<(&str, Option<&str>), String> {
    let (name, index) = match text.split_once('[') {
        None => (text, None),
        Some((name, rest)) => match rest.strip_suffix(']') {
            Some(index) => (name, Some(index)),
            None => return Err(format!("`]` is missing in `{}`", clip(text))),
        },
    };
    match is_name(name) {
        true => Ok((name, index)),
        false => Err(format!("expected a name, got `{}`", clip(name))),
    }
}

/// `a` for one wire or `a..b`.
fn range(text: &str, i: Option<u64>) -> Result<Range<u64>, String> {
    match text.split_once("..") {
        None => number(text, i).map(|at| at..at.saturating_add(1)),
        Some((from, to)) => {
            let (from, to) = (number(from, i)?, number(to, i)?);
            if from <= to { Ok(from..to) } else { Err(format!("the range {from}..{to} ends before it begins")) }
        }
    }
}

/// A sum of products of numbers and `i`, not negative.
fn number(text: &str, i: Option<u64>) -> Result<u64, String> {
    let overflow = || format!("`{}` is too large", clip(text));
    let mut sum = 0i64;
    let mut rest = text;
    let mut sign = 1i64;
    loop {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let mut product = sign;
        for factor in rest[..end].split('*') {
            let value = match (factor.trim(), i) {
                ("i", Some(i)) => i64::try_from(i).map_err(|_| overflow())?,
                ("i", None) => {
                    return Err("`i` stands for the number of a repeated instance, and there is none here".into());
                }
                (digits, _) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                    digits.parse().map_err(|_| overflow())?
                }
                (other, _) => {
                    return Err(format!("expected a number or `i` in `[{}]`, got `{}`", clip(text), clip(other)));
                }
            };
            product = product.checked_mul(value).ok_or_else(overflow)?;
        }
        sum = sum.checked_add(product).ok_or_else(overflow)?;
        match rest[end..].chars().next() {
            None => break,
            Some(operator) => sign = if operator == '-' { -1 } else { 1 },
        }
        rest = &rest[end + 1..];
    }
    u64::try_from(sum).map_err(|_| format!("the index `{}` is {sum} here, expected at least 0", clip(text)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn references_have_up_to_four_parts() {
        let parse = |text| Reference::parse(text, Some(3)).unwrap();
        let plain = Reference { name: "x", instance: None, port: None, wires: None };
        assert_eq!(parse(" x "), plain);
        assert_eq!(parse("x[2]"), Reference { wires: Some(2..3), ..plain.clone() });
        assert_eq!(parse("x[4*i .. 4*i+4]"), Reference { wires: Some(12..16), ..plain.clone() });
        assert_eq!(parse("x.a"), Reference { port: Some("a"), ..plain.clone() });
        let full = Reference { name: "x", instance: Some(2), port: Some("a"), wires: Some(0..8) };
        assert_eq!(parse("x[i-1].a[0..8]"), full);
        assert_eq!(parse("x[i*i-7].a[0..2*i+2]"), full);
    }

    #[test]
    fn other_texts_are_refused() {
        let fails = |text| Reference::parse(text, None).unwrap_err();
        assert_eq!(fails(""), "expected a name, got ``");
        assert_eq!(fails("3x"), "expected a name, got `3x`");
        assert_eq!(fails("x[3"), "`]` is missing in `x[3`");
        assert_eq!(fails("x.y.z"), "expected a name, got `y.z`");
        assert_eq!(fails("x[8..4]"), "the range 8..4 ends before it begins");
        assert_eq!(fails("x[]"), "expected a number or `i` in `[]`, got ``");
        assert_eq!(fails("x[j]"), "expected a number or `i` in `[j]`, got `j`");
        assert_eq!(fails("x[1-2]"), "the index `1-2` is -1 here, expected at least 0");
        assert_eq!(fails("x[i]"), "`i` stands for the number of a repeated instance, and there is none here");
        assert_eq!(fails("x[9999999999*9999999999]"), "`9999999999*9999999999` is too large");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z\\[\\]0-9.+*i-]{0,20}") {
            let _ = Reference::parse(&text, Some(5));
        }
    }
}
