//! Scanning, parsing and type checking, within bounds.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use garble_lang::{CompileTimeError, TypedProgram, check::TypeErrorEnum, parse::ParseErrorEnum, scan::scan};

use super::{outline, span};
use crate::fault::Fault;

/// The most bytes of a source.
const MAX_BYTES: usize = 1 << 20;
/// How deep brackets may be nested.
const MAX_NESTING: usize = 128;
/// The most operators of an expression, and signs before one.
const MAX_OPERATORS: usize = 4096;
/// Parser and type checker go as deep as a source is nested.
pub(crate) const STACK_BYTES: usize = 1 << 29;

/// How long the parser and the type checker may take. After some errors the parser does not come to an end; its thread is
/// then left to itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// The typed program.
///
/// *Errors*: all that is wrong with the source.
pub(super) fn checked(text: &str) -> Result<TypedProgram, Vec<Fault>> {
    if text.len() > MAX_BYTES {
        let message = format!("the source has {} bytes, the most is {MAX_BYTES}", text.len());
        return Err(vec![Fault::general(message)]);
    }
    let text = outline::without_comments(text).map_err(|fault| vec![fault])?;
    outline::check(&text, MAX_NESTING, MAX_OPERATORS).map_err(|fault| vec![fault])?;
    let (say, heard) = channel();
    // A thread of its own has the stack that it needs, and can be left to itself if it does not come to an end.
    let work = move || {
        let _ = say.send(parse_and_check(&text));
    };
    if let Err(error) = std::thread::Builder::new().name("parser".into()).stack_size(STACK_BYTES).spawn(work) {
        return Err(vec![Fault::general(format!("a thread cannot be started: {error}"))]);
    }
    match heard.recv_timeout(PATIENCE) {
        Ok(checked) => checked,
        Err(RecvTimeoutError::Timeout) => Err(vec![
            Fault::general("the parser does not come to an end, which it does after some errors")
                .hint("look for the error near what was changed last, most likely in a `match`"),
        ]),
        Err(RecvTimeoutError::Disconnected) => Err(vec![Fault::general("the type checker gave up on this source")]),
    }
}

fn parse_and_check(text: &str) -> Result<TypedProgram, Vec<Fault>> {
    let scanned = scan(text).map_err(|errors| faults(CompileTimeError::ScanErrors(errors)))?;
    let parsed = scanned.parse().map_err(|errors| faults(CompileTimeError::ParseError(errors)))?;
    parsed.type_check().map_err(|errors| faults(CompileTimeError::TypeError(errors)))
}

fn faults(error: CompileTimeError) -> Vec<Fault> {
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
        ParseErrorEnum::InvalidRangeExpr => {
            fault.hint("the ends are numbers; for a size that is a constant, loop over an array of that size")
        }
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
