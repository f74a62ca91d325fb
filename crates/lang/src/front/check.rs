//! Scanning, parsing and type checking, within bounds.

use garble_lang::{CompileTimeError, Error, TypedProgram, check::TypeErrorEnum, parse::ParseErrorEnum};

use super::span;
use crate::fault::Fault;

/// The most bytes of a source.
const MAX_BYTES: usize = 1 << 20;
/// How deep brackets may be nested.
const MAX_NESTING: usize = 128;
/// The most operators of an expression, and signs before one.
const MAX_OPERATORS: usize = 4096;
/// Parser and type checker go as deep as a source is nested.
const STACK_BYTES: usize = 1 << 30;

/// The typed program.
///
/// *Errors*: all that is wrong with the source.
pub(super) fn checked(text: &str) -> Result<TypedProgram, Vec<Fault>> {
    bounded(text).map_err(|fault| vec![fault])?;
    let work = || garble_lang::check(text);
    let checked = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        thread.map(|handle| handle.join())
    });
    match checked {
        Ok(Ok(checked)) => checked.map_err(faults),
        Ok(Err(_)) => Err(vec![Fault::general("the type checker gave up on this source")]),
        Err(error) => Err(vec![Fault::general(format!("a thread cannot be started: {error}"))]),
    }
}

/// Refuses what would take the parser too deep.
fn bounded(text: &str) -> Result<(), Fault> {
    if text.len() > MAX_BYTES {
        return Err(Fault::general(format!("the source has {} bytes, the most is {MAX_BYTES}", text.len())));
    }
    let mut depth = 0usize;
    let mut operators = 0usize;
    for (line, content) in text.lines().enumerate() {
        let code = content.split("//").next().unwrap_or_default();
        for (column, c) in code.chars().enumerate() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            match c {
                ';' | ',' | '{' | '}' => operators = 0,
                _ if c.is_alphanumeric() || c.is_whitespace() || c == '_' => {}
                _ => operators += 1,
            }
            if depth > MAX_NESTING || operators > MAX_OPERATORS {
                let at = (line as u32 + 1, column as u32 + 1);
                let span = crate::tree::Span { line: at.0, column: at.1, end_line: at.0, end_column: at.1 + 1 };
                return Err(Fault::new(span, "this is nested too deep").hint("use `let` for parts of it"));
            }
        }
    }
    Ok(())
}

fn faults(error: Error) -> Vec<Fault> {
    let Error::CompileTimeError(error) = error else {
        return vec![Fault::general(lower_case(&error.prettify("")))];
    };
    match error {
        CompileTimeError::ScanErrors(errors) => {
            errors.into_iter().map(|e| Fault::new(span(e.1), lower_case(&e.0.to_string()))).collect()
        }
        CompileTimeError::ParseError(errors) => errors.into_iter().map(|e| parse_fault(&e.0, span(e.1))).collect(),
        CompileTimeError::TypeError(errors) => errors.into_iter().map(|e| type_fault(&e.0, span(*e.1))).collect(),
        CompileTimeError::CompilerError(errors) => {
            errors.into_iter().map(|e| Fault::general(lower_case(&e.to_string()))).collect()
        }
    }
}

fn parse_fault(error: &ParseErrorEnum, at: crate::tree::Span) -> Fault {
    let fault = Fault::new(at, lower_case(&error.to_string()));
    match error {
        ParseErrorEnum::InvalidTopLevelDef => fault.hint("there are `struct`, `enum`, `const` and `fn`"),
        ParseErrorEnum::InvalidConstExpr => {
            fault.hint("write a number with its type, as 8usize, a name, PARTY_0::NAME, min(..), max(..), + or -")
        }
        ParseErrorEnum::InvalidArraySize => fault.hint("write a number, or the name of a `const` of type usize"),
        _ => fault,
    }
}

fn type_fault(error: &TypeErrorEnum, at: crate::tree::Span) -> Fault {
    let fault = Fault::new(at, lower_case(&error.to_string()));
    match error {
        TypeErrorEnum::RecursiveFnDef(_) => fault.hint("use a loop over a known range"),
        TypeErrorEnum::UnusedFn(name) => fault.hint(format!("call `{name}`, make it `pub`, or remove it")),
        TypeErrorEnum::PubFnWithoutParams(_) => fault.hint("each parameter of `main` is the input of a party"),
        TypeErrorEnum::IdentifierNotDeclaredAsMutable(name) => fault.hint(format!("declare it as `let mut {name}`")),
        TypeErrorEnum::ArraySizeNotConst(name) => fault.hint(format!("declare it: `const {name}: usize = ...;`")),
        TypeErrorEnum::TypeMismatch(..) => fault.hint("convert one of them with `as`"),
        TypeErrorEnum::PatternsAreNotExhaustive(_) => fault.hint("add the missing patterns, or `_ => ...`"),
        _ => fault,
    }
}

/// The text in the way of our other messages: it begins with a small letter and names things in backquotes.
fn lower_case(text: &str) -> String {
    let mut chars = text.trim_end_matches(['.', '\n']).chars();
    let first = chars.next().map(|c| c.to_lowercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}", chars.as_str()).replace('\'', "`")
}
