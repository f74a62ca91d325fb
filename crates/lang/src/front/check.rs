//! Turns text into the typed program, within bounds.

use garble_lang::{
    TypedProgram, UntypedProgram,
    ast::Type,
    check::{TypeError, TypeErrorEnum},
    token::SignedNumType,
};
use garblet_circuit::diagnostic::nearest;

use std::collections::BTreeSet;

use super::{
    bounds,
    parser::{self, names::in_source},
    scanner, span,
};
use crate::{constants::Constants, source_error::SourceError};

/// The most bytes of a source.
const MAX_BYTES: usize = 1 << 20;
/// The least and the most bytes of a stack, and those for each byte of a source.
const STACK_BYTES: (usize, usize) = (1 << 24, 1 << 29);
const STACK_BYTES_PER_BYTE: usize = 1 << 16;
/// The most cases that are told of those that a `match` leaves out.
const MAX_CASES: usize = 3;

/// The stack that it takes to compile a source: what goes through it goes as deep as it is nested.
pub(crate) fn stack_bytes(text: &str) -> usize {
    let nested = text.len().saturating_mul(STACK_BYTES_PER_BYTE);
    nested.clamp(STACK_BYTES.0, STACK_BYTES.1)
}

/// The typed program, and what is odd about it but not wrong: functions that are never called, which it is without, and whose types
/// nobody has checked. `given` are the constants of parties.
///
/// *Errors*: all that is wrong with the source.
pub(super) fn checked(text: &str, given: &Constants) -> Result<(TypedProgram, Vec<SourceError>), Vec<SourceError>> {
    if text.len() > MAX_BYTES {
        let message = format!("the source has {} bytes, the most is {MAX_BYTES}", text.len());
        return Err(vec![SourceError::general(message)]);
    }
    let tokens = scanner::scan(text).map_err(|fault| vec![fault])?;
    let mut program = parser::parse(tokens, given)?;
    let names = bounds::check(&program)?;
    let errors = match program.type_check() {
        Ok(typed) => return Ok((typed, Vec::new())),
        Err(errors) => errors,
    };
    // A call that is wrong, or misspelt, is no call: that its function is never called is no other mistake.
    let (uncalled, wrong): (Vec<_>, Vec<_>) = errors.into_iter().partition(|error| never_called(error).is_some());
    let explain = Explain { program: &program, names };
    if !wrong.is_empty() {
        return Err(explain.faults(&wrong));
    }
    let warnings = explain.faults(&uncalled);
    for name in uncalled.iter().filter_map(never_called) {
        program.fn_defs.remove(name);
    }
    match program.type_check() {
        Ok(typed) => Ok((typed, warnings)),
        Err(errors) => {
            let names = bounds::check(&program)?;
            Err(Explain { program: &program, names }.faults(&errors))
        }
    }
}

/// The name of the function that is never called, if that is what is the matter; that `main` is not public is an error.
fn never_called(error: &TypeError) -> Option<&str> {
    match &*error.0 {
        TypeErrorEnum::UnusedFn(name) if name != "main" => Some(name),
        _ => None,
    }
}

/// The meaning of the type checker's errors.
struct Explain<'a> {
    program: &'a UntypedProgram,
    /// The names of variables.
    names: BTreeSet<&'a str>,
}

impl Explain<'_> {
    fn faults(&self, errors: &[TypeError]) -> Vec<SourceError> {
        let unknown = |error: &TypeError| match &*error.0 {
            TypeErrorEnum::UnknownIdentifier(name) => Some(name.clone()),
            _ => None,
        };
        // A variable whose declaration is wrong is not known any more: that is no other mistake.
        let others = errors.iter().any(|error| unknown(error).is_none());
        let follows =
            |error: &&TypeError| others && unknown(error).is_some_and(|name| self.names.contains(name.as_str()));
        let mut faults: Vec<SourceError> =
            errors.iter().filter(|error| !follows(error)).map(|error| self.fault(error)).collect();
        faults.dedup();
        faults
    }

    fn fault(&self, error: &TypeError) -> SourceError {
        let (message, hint) = self.text(&error.0);
        let fault = SourceError::new(span(*error.1), message);
        match hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }

    fn text(&self, error: &TypeErrorEnum) -> (String, Option<String>) {
        use TypeErrorEnum as E;
        let plain = |message: String, hint: &str| (message, Some(hint.to_string()));
        match error {
            E::NoTopLevelFn(name) => plain(format!("`{name}` is a variable here, no function"), "rename one of them"),
            E::PubFnWithoutParams(name) => plain(
                format!("the function `{name}` has no parameters"),
                "each parameter of `main` is the input of a party",
            ),
            E::UnusedFn(name) if name == "main" => plain("`main` is not public".into(), "write `pub fn main(..)`"),
            E::UnusedFn(name) => (
                format!("the function `{name}` is never called"),
                Some(format!("call `{name}`, make it `pub`, or remove it")),
            ),
            E::RecursiveFnDef(name) => {
                plain(format!("the function `{name}` is recursive"), "use a loop over a known range")
            }
            E::DuplicateFnParam(name) => plain(format!("the parameter `{name}` is there twice"), "rename one of them"),
            E::UnknownIdentifier(name) => {
                (format!("there is no variable, constant or function `{name}`"), self.meant(name))
            }
            E::IdentifierNotDeclaredAsMutable(name) => {
                let name = in_source(name);
                (format!("`{name}` cannot be changed"), Some(format!("declare it as `let mut {name}`")))
            }
            E::WrongNumberOfArgs { expected, actual } => (
                format!("expected {expected} {}, got {actual}", if *expected == 1 { "argument" } else { "arguments" }),
                None,
            ),
            E::InvalidRange(from, end) => (format!("the range from {from} to {end} is empty or too long"), None),
            E::ArraySizeNotConst(name) => {
                let message = format!("the size of an array is known before, `{name}` is a variable");
                (message, Some(format!("declare it: `const {name}: usize = ...;`")))
            }
            E::UsizeNotLiteral => plain("expected a number of type usize".into(), "write it out, as 8usize"),
            E::PatternsAreNotExhaustive(missing) => {
                let cases: Vec<String> = missing.iter().take(MAX_CASES).map(|stack| case(stack)).collect();
                let more = missing.len().saturating_sub(cases.len());
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                plain(
                    format!("this `match` leaves out {}{more}", cases.join(", ")),
                    "add the missing patterns, or `_ => ...`",
                )
            }
            error => self.text_of_type(error),
        }
    }

    /// Errors about types.
    fn text_of_type(&self, error: &TypeErrorEnum) -> (String, Option<String>) {
        use TypeErrorEnum as E;
        let expected = |what: &str, ty: &Type| (format!("expected {what}, got {}", show(ty)), None);
        match error {
            E::ExpectedBoolOrNumberType(ty) => expected("a bool or a number", ty),
            E::ExpectedNumberType(ty) => expected("a number", ty),
            E::ExpectedSignedNumberType(ty) => {
                (expected("a signed number", ty).0, Some("convert it first, as in `-(x as i32)`".into()))
            }
            E::ExpectedArrayType(ty) => expected("an array", ty),
            E::ExpectedTupleType(ty) => expected("a tuple", ty),
            E::ExpectedStructType(ty) => expected("a struct", ty),
            E::ExpectedEnumType(ty) => expected("an enum", ty),
            E::UnexpectedType { expected, actual } => {
                (format!("expected {}, got {}", show(expected), show(actual)), conversion(expected, actual))
            }
            E::TypeMismatch(x, y) => (format!("incompatible types: {} and {}", show(x), show(y)), conversion(x, y)),
            E::PatternDoesNotMatchType(ty) => (format!("the pattern is none of {}", show(ty)), None),
            E::TypeDoesNotSupportPatternMatching(ty) => (
                format!("a value of type {} cannot be matched", show(ty)),
                Some("match elements of it, one by one or in a tuple".into()),
            ),
            E::TupleAccessOutOfBounds(count) => {
                (format!("this tuple has {count} fields"), Some("the first one is `.0`".into()))
            }
            error => self.text_of_definition(error),
        }
    }

    /// Errors about structs and enums.
    fn text_of_definition(&self, error: &TypeErrorEnum) -> (String, Option<String>) {
        use TypeErrorEnum as E;
        match error {
            E::UnknownStructOrEnum(name) => (format!("there is no type `{name}`"), self.type_meant(name)),
            E::UnknownStruct(name) => (format!("there is no struct `{name}`"), self.type_meant(name)),
            E::UnknownEnum(name, _) => (format!("there is no enum `{name}`"), self.type_meant(name)),
            E::UnknownStructField(name, field) => {
                let fields = self.program.struct_defs.get(name).map(|definition| {
                    definition.fields.iter().map(|(field, _)| field.clone()).collect::<Vec<_>>().join(", ")
                });
                (
                    format!("the struct `{name}` has no field `{field}`"),
                    fields.map(|fields| format!("it has: {fields}")),
                )
            }
            E::MissingStructField(name, field) => (
                format!("the field `{field}` of `{name}` is missing"),
                Some("in a pattern, `..` stands for all others".into()),
            ),
            E::UnknownEnumVariant(name, variant) => {
                let variants = self
                    .program
                    .enum_defs
                    .get(name)
                    .map(|definition| definition.variants.iter().map(variant_name).collect::<Vec<_>>().join(", "));
                let hint = variants.map(|variants| format!("it has: {variants}"));
                (format!("the enum `{name}` has no variant `{variant}`"), hint)
            }
            E::ExpectedUnitVariantFoundTupleVariant => {
                ("this variant has no fields".into(), Some("leave out the brackets behind it".into()))
            }
            E::ExpectedTupleVariantFoundUnitVariant => {
                ("this variant has fields".into(), Some("write them in brackets behind it".into()))
            }
            E::UnexpectedEnumVariantArity { expected, actual } => {
                (format!("expected {expected} fields, got {actual}"), None)
            }
            other => (other.to_string().replace('\'', "`"), None),
        }
    }

    /// A name of the source that may be meant.
    fn meant(&self, name: &str) -> Option<String> {
        let constants = self.program.const_defs.keys().map(String::as_str);
        let functions = self.program.fn_defs.keys().map(String::as_str);
        let known = self.names.iter().copied().chain(constants).chain(functions);
        // Names of one or two letters are all near to one another.
        let others: Vec<&str> = known.filter(|other| other.len() > 2 && name.len() > 2 && *other != name).collect();
        nearest(name, &others).map(|near| format!("did you mean `{near}`?"))
    }

    /// A type that may be meant.
    fn type_meant(&self, name: &str) -> Option<String> {
        const OWN: [&str; 10] = ["bool", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64"];
        match name {
            "f32" | "f64" => return Some("take integers in fixed point".into()),
            "u128" | "i128" | "isize" => return Some(format!("there are {}", OWN.join(", "))),
            "String" | "str" | "char" => return Some("take an array of u8".into()),
            _ => {}
        }
        let own = OWN.iter().copied();
        let defined = self.program.struct_defs.keys().chain(self.program.enum_defs.keys()).map(String::as_str);
        let all: Vec<&str> = own.chain(defined).collect();
        nearest(name, &all).map(|near| format!("did you mean `{near}`?"))
    }
}

fn variant_name(variant: &garble_lang::ast::Variant) -> String {
    match variant {
        garble_lang::ast::Variant::Unit(name) => name.clone(),
        garble_lang::ast::Variant::Tuple(name, _) => format!("{name}(..)"),
    }
}

/// A case of a `match`.
fn case(stack: &[garble_lang::TypedPattern]) -> String {
    let parts: Vec<String> = stack.iter().map(|pattern| untyped(&pattern.to_string())).collect();
    format!("`{}`", parts.join(", "))
}

/// A type, in which a number may be of any.
fn show(ty: &Type) -> String {
    untyped(&ty.to_string())
}

/// The text of types or patterns without the names of types that are not known.
fn untyped(text: &str) -> String {
    let number = |text: String, name: &str| match text == name {
        true => "a number".into(),
        false => text.replace(&format!("; {name}"), "").replace(name, if text.contains("..=") { "" } else { "number" }),
    };
    number(number(text.into(), "unspecified unsigned int"), "unspecified signed int")
}

/// Advice on how one type may become the other.
fn conversion(expected: &Type, actual: &Type) -> Option<String> {
    let is_number = |ty: &Type| matches!(ty, Type::Unsigned(_) | Type::Signed(_));
    let is_unknown = |ty: &Type| show(ty) == "a number";
    let is_array = |ty: &Type| matches!(ty, Type::Array(..) | Type::ArrayConst(..) | Type::ArrayConstExpr(..));
    let hint = match (expected, actual) {
        (a, b) if is_number(a) && is_unknown(b) => {
            format!("is it too large, or negative? It has to be a number of {a}")
        }
        (Type::Signed(SignedNumType::I32), b) | (b, Type::Signed(SignedNumType::I32)) if is_number(b) => {
            "convert one of them with `as`; a number without a type is i32 after `let mut`".into()
        }
        (a, b) if is_number(a) && is_number(b) => "convert one of them with `as`".into(),
        (Type::Bool, b) if is_number(b) => "compare it, as in `x != 0u8`".into(),
        (a, Type::Bool) if is_number(a) => "convert it with `as`".into(),
        (a, b) if is_array(a) && is_array(b) => "sizes are the same if they are written the same".into(),
        (_, Type::Tuple(fields)) if fields.is_empty() => {
            "the value is the last expression; an `if` without `else` has none".into()
        }
        _ => return None,
    };
    Some(hint)
}
