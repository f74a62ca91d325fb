//! Values of the constants that a source declares.

use std::collections::HashMap;

use garble_lang::{
    TypedProgram,
    ast::{ConstExpr, ConstExprEnum, Type},
};

use super::{span, types};
use crate::{arithmetic::wrap, constants::Constants, source_error::SourceError, tree::Scalar};

/// The value of each constant of a program; those of parties come from `given`.
///
/// *Errors*: constants that are missing, of a wrong type, defined by themselves, or that the program does not have.
pub(super) fn values(program: &TypedProgram, given: &Constants) -> Result<HashMap<String, i128>, Vec<SourceError>> {
    let mut faults = Vec::new();
    let mut external = HashMap::new();
    let mut known = Vec::new();
    for (party, constants) in &program.const_deps {
        for (name, (ty, meta)) in constants {
            let full = format!("{party}::{name}");
            match given.find(party, name) {
                None => {
                    let fault = SourceError::new(span(*meta), format!("the constant `{full}` ({ty}) is not given"));
                    faults.push(fault.hint(format!("give --const {full}=VALUE")));
                }
                Some(value) => match scalar(ty).filter(|s| value >= s.min() && value <= s.max()) {
                    None => faults.push(SourceError::new(
                        span(*meta),
                        format!("the constant `{full}`: expected {ty}, got {value}"),
                    )),
                    Some(_) => {
                        external.insert(full.clone(), value);
                    }
                },
            }
            known.push((party.as_str(), name.as_str()));
        }
    }
    known.sort_unstable();
    faults.extend(given.unknown(&known));
    let mut values: HashMap<String, i128> = HashMap::new();
    let mut definitions: Vec<_> = program.const_defs.iter().collect();
    // The type checker admits constants only of those before.
    definitions.sort_by_key(|(_, definition)| definition.meta);
    for (name, definition) in definitions {
        let known = |name: &str| external.get(name).or_else(|| values.get(name)).copied();
        match evaluate(&definition.value, &known) {
            Ok(value) => {
                let value = scalar(&definition.ty).map_or(value, |ty| wrap(value, ty));
                values.insert(name.clone(), value);
            }
            Err(_) if !faults.is_empty() => {}
            Err(what) => faults.push(SourceError::new(span(definition.meta), format!("the constant `{name}`: {what}"))),
        }
    }
    faults.sort_by_key(|fault| fault.span);
    if faults.is_empty() { Ok(values) } else { Err(faults) }
}

fn scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Bool => Some(Scalar::BOOL),
        Type::Unsigned(number) => Some(types::unsigned(*number)),
        Type::Signed(number) => Some(types::signed(*number)),
        _ => None,
    }
}

/// The value of a constant expression, given that of names: `NAME` or `PARTY::NAME`. Sums wrap at 64 bits.
///
/// *Errors*: a name that is not known.
pub(super) fn evaluate(expr: &ConstExpr, name_value: &dyn Fn(&str) -> Option<i128>) -> Result<i128, String> {
    let inner = |expr: &ConstExpr| evaluate(expr, name_value);
    let named = |name: &str| name_value(name).ok_or_else(|| format!("`{name}` is not known"));
    let all = |args: &[ConstExpr]| args.iter().map(inner).collect::<Result<Vec<_>, _>>();
    Ok(match &expr.0 {
        ConstExprEnum::True => 1,
        ConstExprEnum::False => 0,
        ConstExprEnum::NumUnsigned(value, _) => (*value).into(),
        ConstExprEnum::NumSigned(value, _) => (*value).into(),
        ConstExprEnum::ExternalValue { party, identifier } => named(&format!("{party}::{identifier}"))?,
        ConstExprEnum::ConstExprIdent(name) => named(name)?,
        ConstExprEnum::Max(args) => all(args)?.into_iter().max().unwrap_or(0),
        ConstExprEnum::Min(args) => all(args)?.into_iter().min().unwrap_or(0),
        ConstExprEnum::Add(a, b) => wrapped(inner(a)? + inner(b)?),
        ConstExprEnum::Sub(a, b) => wrapped(inner(a)? - inner(b)?),
    })
}

/// A sum of numbers of 64 bits: one that is none of either sign wraps.
fn wrapped(value: i128) -> i128 {
    match value < i128::from(i64::MIN) || value > i128::from(u64::MAX) {
        true => wrap(value, Scalar::unsigned(64)),
        false => value,
    }
}
