//! Values of the constants that a source declares.

use std::collections::HashMap;

use super::{
    ast::{ConstExpr, ConstKind, Program, Type},
    types::scalar,
};
use crate::{
    arithmetic::wrap,
    constants::Constants,
    number::{Decimal, Number, ONE, ZERO},
    source_error::SourceError,
    tree::{Scalar, Span},
};

/// The value of each constant of a program; those of parties come from `given`.
///
/// *Errors*: constants that are missing, of a wrong type, defined by themselves, or that the program does not have.
pub(super) fn values(program: &Program, given: &Constants) -> Result<HashMap<String, Number>, Vec<SourceError>> {
    let mut faults = Vec::new();
    let mut external = HashMap::new();
    let mut known = Vec::new();
    let mut definitions: Vec<_> = program.constants.iter().collect();
    // The type checker admits constants only of those before.
    definitions.sort_by_key(|(_, definition)| definition.span);
    let mut needed = Vec::new();
    definitions.iter().for_each(|(_, definition)| externals(&definition.value, &definition.ty, &mut needed));
    for (party, name, ty, span) in needed {
        let full = format!("{party}::{name}");
        if known.contains(&(party, name)) {
            continue;
        }
        match given.find(party, name) {
            None => {
                let fault = SourceError::new(span, format!("the constant `{full}` ({ty}) is not given"));
                faults.push(fault.hint(format!("give --const {full}=VALUE")));
            }
            Some(given) => match scalar(ty).and_then(|ty| of_scalar(given, ty)) {
                None => {
                    faults.push(SourceError::new(span, format!("the constant `{full}`: expected {ty}, got {given}")));
                }
                Some(value) => {
                    external.insert(full, value);
                }
            },
        }
        known.push((party, name));
    }
    known.sort_unstable();
    faults.extend(given.unknown(&known));
    let mut values: HashMap<String, Number> = HashMap::new();
    for (name, definition) in definitions {
        let known = |name: &str| external.get(name).or_else(|| values.get(name)).copied();
        match evaluate(&definition.value, &known) {
            Ok(value) => {
                let value = scalar(&definition.ty).map_or(value, |ty| wrap(value, ty));
                values.insert(name.clone(), value);
            }
            Err(_) if !faults.is_empty() => {}
            Err(what) => faults.push(SourceError::new(definition.span, format!("the constant `{name}`: {what}"))),
        }
    }
    faults.sort_by_key(|fault| fault.span);
    if faults.is_empty() { Ok(values) } else { Err(faults) }
}

/// The number as a value of a type, if it is one.
pub(super) fn of_scalar(number: Decimal, ty: Scalar) -> Option<Number> {
    let value = match ty.fraction {
        Some(fraction) => number.scaled(fraction),
        None if number.places == 0 => number.digits,
        None => return None,
    };
    (ty.min()..=ty.max()).contains(&value).then_some(value)
}

/// The constants of parties in an expression of a type.
fn externals<'c>(value: &'c ConstExpr, ty: &'c Type, into: &mut Vec<(&'c str, &'c str, &'c Type, Span)>) {
    match &value.kind {
        ConstKind::External(party, name) => into.push((party, name, ty, value.span)),
        ConstKind::Max(args) | ConstKind::Min(args) => args.iter().for_each(|arg| externals(arg, ty, into)),
        ConstKind::Add(a, b) | ConstKind::Sub(a, b) => [a, b].into_iter().for_each(|side| externals(side, ty, into)),
        ConstKind::Bool(_) | ConstKind::Number(..) | ConstKind::Constant(_) => {}
    }
}

/// The value of a constant expression, given that of names: `NAME` or `PARTY::NAME`. Sums wrap at 128 bits.
///
/// *Errors*: a name that is not known.
pub(super) fn evaluate(expr: &ConstExpr, name_value: &dyn Fn(&str) -> Option<Number>) -> Result<Number, String> {
    let inner = |expr: &ConstExpr| evaluate(expr, name_value);
    let named = |name: &str| name_value(name).ok_or_else(|| format!("`{name}` is not known"));
    let all = |args: &[ConstExpr]| args.iter().map(inner).collect::<Result<Vec<_>, _>>();
    Ok(match &expr.kind {
        ConstKind::Bool(value) => {
            if *value {
                ONE
            } else {
                ZERO
            }
        }
        ConstKind::Number(value, _) => *value,
        ConstKind::External(party, name) => named(&format!("{party}::{name}"))?,
        ConstKind::Constant(name) => named(name)?,
        ConstKind::Max(args) => all(args)?.into_iter().max().unwrap_or(ZERO),
        ConstKind::Min(args) => all(args)?.into_iter().min().unwrap_or(ZERO),
        ConstKind::Add(a, b) => wrapped(inner(a)? + inner(b)?),
        ConstKind::Sub(a, b) => wrapped(inner(a)? - inner(b)?),
    })
}

/// A sum of numbers of 128 bits: one that is none of either sign wraps.
fn wrapped(value: Number) -> Number {
    match value < Scalar::signed(128).min() || value > Scalar::unsigned(128).max() {
        true => wrap(value, Scalar::unsigned(128)),
        false => value,
    }
}
