//! Turns text into the typed program, within bounds.
//!
//! The rules are those of the crate `garble_lang`: types are found out from the inside to the outside, and numbers that have
//! none get theirs from what they meet. Function by function, all that is wrong is told.

mod definitions;
mod exhaustive;
mod expressions;
mod numbers;
mod parts;
mod patterns;
mod statements;

pub(super) use expressions::{is_built_in, is_of_rows};

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use garblet_circuit::diagnostic::nearest;

use super::{
    ast::{Expr, FnDef, Int, Program, Type},
    bounds::{self, Found},
    parser::{self, names::in_source},
    scanner,
};
use crate::{constants::Constants, source_error::SourceError, tree::Span};

/// The most bytes of a source.
const MAX_BYTES: usize = 1 << 20;
/// The least and the most bytes of a stack, and those for each byte of a source.
const STACK_BYTES: (usize, usize) = (1 << 24, 1 << 29);
const STACK_BYTES_PER_BYTE: usize = 1 << 16;

/// The stack that it takes to compile a source: what goes through it goes as deep as it is nested.
pub(crate) fn stack_bytes(text: &str) -> usize {
    let nested = text.len().saturating_mul(STACK_BYTES_PER_BYTE);
    nested.clamp(STACK_BYTES.0, STACK_BYTES.1)
}

/// The typed program, and what is odd about it but not wrong: functions that are never called, which it is without, and whose types
/// nobody has checked. `given` are the constants of parties.
///
/// *Errors*: all that is wrong with the source.
pub(super) fn checked(text: &str, given: &Constants) -> Result<(Program, Vec<SourceError>), Vec<SourceError>> {
    if text.len() > MAX_BYTES {
        let message = format!("the source has {} bytes, the most is {MAX_BYTES}", text.len());
        return Err(vec![SourceError::general(message)]);
    }
    let tokens = scanner::scan(text).map_err(|fault| vec![fault])?;
    let mut program = parser::parse(tokens, given)?;
    let found = bounds::check(&program)?;
    let called = called(&program, &found);
    let (functions, uncalled): (HashMap<_, _>, HashMap<_, _>) =
        std::mem::take(&mut program.functions).into_iter().partition(|(name, _)| called.contains(name));
    let mut functions: BTreeMap<_, _> = functions.into_iter().collect();
    let mut faults = Checker::faults(&program, &mut functions, &uncalled, &found.names);
    // That a function is never called is what follows from a call that is wrong, or misspelt.
    let mut unused: Vec<_> = uncalled.values().map(never_called).collect();
    unused.sort_by_key(|fault| fault.span);
    faults.extend(uncalled.get("main").map(private_main));
    if !faults.is_empty() {
        faults.sort_by_key(|fault| fault.span);
        faults.dedup();
        return Err(faults);
    }
    program.functions = functions.into_iter().collect();
    Ok((program, unused))
}

/// The functions that are public, or called by others that are.
fn called(program: &Program, found: &Found) -> HashSet<String> {
    let mut called: HashSet<String> = HashSet::new();
    let mut open: Vec<&str> = program.functions.values().filter(|f| f.is_pub).map(|f| f.name.as_str()).collect();
    while let Some(name) = open.pop() {
        if called.insert(name.into()) {
            open.extend(found.calls.get(name).into_iter().flatten().map(String::as_str));
        }
    }
    called
}

fn never_called(function: &FnDef) -> SourceError {
    let name = &function.name;
    SourceError::new(function.span, format!("the function `{name}` is never called"))
        .hint(format!("call `{name}`, make it `pub`, or remove it"))
}

fn private_main(main: &FnDef) -> SourceError {
    SourceError::new(main.span, "`main` is not public").hint("write `pub fn main(..)`")
}

/// Something is wrong, and has been told.
struct Failed;

type Checked<T = ()> = Result<T, Failed>;

/// A variable: its type, unless its declaration is wrong, and whether it can be changed.
#[derive(Clone)]
struct Variable {
    ty: Option<Type>,
    mutable: bool,
}

/// The types of a function's parameters and of its result.
struct Signature {
    params: Vec<Type>,
    result: Type,
}

/// The state while a program is checked.
struct Checker<'p> {
    program: &'p Program,
    functions: HashMap<String, Signature>,
    /// Functions that nothing calls.
    uncalled: &'p HashMap<String, FnDef>,
    /// The names of all variables.
    names: &'p BTreeSet<String>,
    scopes: Vec<HashMap<String, Variable>>,
    faults: Vec<SourceError>,
    /// Faults about names that are not known.
    unknown: Vec<(SourceError, String)>,
}

impl<'p> Checker<'p> {
    /// Checks functions, finds out the types in them, and says all that is wrong.
    fn faults(
        program: &'p Program,
        functions: &mut BTreeMap<String, FnDef>,
        uncalled: &'p HashMap<String, FnDef>,
        names: &'p BTreeSet<String>,
    ) -> Vec<SourceError> {
        let signature = |function: &FnDef| Signature {
            params: function.params.iter().map(|param| param.ty.clone()).collect(),
            result: function.result.clone(),
        };
        let signatures = functions.iter().map(|(name, function)| (name.clone(), signature(function))).collect();
        let mut checker = Checker {
            program,
            functions: signatures,
            uncalled,
            names,
            scopes: Vec::new(),
            faults: Vec::new(),
            unknown: Vec::new(),
        };
        checker.definitions();
        functions.values_mut().for_each(|function| checker.function(function));
        checker.told()
    }

    /// All faults. A variable whose declaration is wrong is not known any more: that is no other mistake.
    fn told(mut self) -> Vec<SourceError> {
        let undeclared = self.unknown.iter().any(|(_, name)| !self.names.contains(name));
        let others = !self.faults.is_empty() || undeclared;
        let names = self.names;
        let tells = |(fault, name): (SourceError, String)| (!others || !names.contains(&name)).then_some(fault);
        self.faults.extend(self.unknown.into_iter().filter_map(tells));
        self.faults
    }

    /// Tells what is wrong.
    fn refuse<T>(&mut self, fault: SourceError) -> Checked<T> {
        self.faults.push(fault);
        Err(Failed)
    }

    /// As [`Checker::refuse`], with a hint perhaps.
    fn refuse_with<T>(&mut self, span: Span, message: String, hint: Option<String>) -> Checked<T> {
        let fault = SourceError::new(span, message);
        self.refuse(match hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        })
    }

    fn function(&mut self, function: &mut FnDef) {
        if function.is_pub && function.params.is_empty() {
            let fault = SourceError::new(function.span, format!("the function `{}` has no parameters", function.name));
            let _: Checked = self.refuse(fault.hint("each parameter of `main` is the input of a party"));
            return;
        }
        self.scopes = vec![HashMap::new()];
        for param in &function.params {
            let ty = self.known(&param.ty).is_ok().then(|| param.ty.clone());
            self.declare(&param.name, ty, param.mutable);
        }
        let result = self.known(&function.result);
        let checked = match (self.block(&mut function.body), result) {
            (Ok(ty), Ok(())) => self.result(function, ty),
            _ => Err(Failed),
        };
        if checked.is_err() && self.faults.is_empty() && self.unknown.is_empty() {
            let message = format!("the function `{}` is not accepted, by a bug in the compiler", function.name);
            let _: Checked = self.refuse(SourceError::new(function.span, message).hint("please report the source"));
        }
    }

    /// Compares the value of a function's body with its result.
    fn result(&mut self, function: &mut FnDef, ty: Type) -> Checked {
        match function.body.last_mut() {
            Some(super::ast::Stmt { kind: super::ast::StmtKind::Expr(value), .. }) => {
                self.check(value, &function.result)
            }
            _ if ty == function.result => Ok(()),
            _ => self.mismatch(&function.result, &ty, function.span),
        }
    }

    fn declare(&mut self, name: &str, ty: Option<Type>, mutable: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.into(), Variable { ty, mutable });
        }
    }

    fn variable(&self, name: &str) -> Option<&Variable> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// A name that nothing has.
    fn unknown<T>(&mut self, name: &str, span: Span) -> Checked<T> {
        let fault = SourceError::new(span, format!("there is no variable, constant or function `{name}`"));
        let fault = match self.meant(name) {
            Some(hint) => fault.hint(hint),
            None => fault,
        };
        self.unknown.push((fault, name.into()));
        Err(Failed)
    }

    /// A name of the source that may be meant.
    fn meant(&self, name: &str) -> Option<String> {
        let constants = self.program.constants.keys();
        let functions = self.functions.keys().chain(self.uncalled.keys());
        let known = self.names.iter().chain(constants).chain(functions).map(String::as_str);
        // Names of one or two letters are all near to one another.
        let others: Vec<&str> = known.filter(|other| other.len() > 2 && name.len() > 2 && *other != name).collect();
        nearest(name, &others).map(|near| format!("did you mean `{near}`?"))
    }

    /// A type that may be meant.
    fn type_meant(&self, name: &str) -> Option<String> {
        match name {
            "f32" | "f64" => {
                return Some("take fixed point: `fixed<16, 16>` has 16 bits before and 16 behind the point".into());
            }
            "isize" => return Some(format!("there are {}", Int::NAMES.join(", "))),
            "String" | "str" | "char" => return Some("take an array of u8".into()),
            _ => {}
        }
        let defined = self.program.structs.keys().chain(self.program.enums.keys()).map(String::as_str);
        let all: Vec<&str> = ["bool", "fixed"].into_iter().chain(Int::NAMES).chain(defined).collect();
        nearest(name, &all).map(|near| format!("did you mean `{near}`?"))
    }

    /// The type of the variable or constant of that name.
    fn named(&mut self, name: &str, span: Span) -> Checked<Type> {
        match (self.variable(name), self.program.constants.get(name)) {
            (Some(variable), _) => variable.ty.clone().ok_or(Failed),
            (None, Some(constant)) => Ok(constant.ty.clone()),
            (None, None) => self.unknown(in_source(name), span),
        }
    }

    /// Checks all, whatever is wrong with others.
    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e mut Expr>) -> Checked {
        let mut all = Ok(());
        for expr in exprs {
            all = self.expr(expr).and(all);
        }
        all
    }
}
