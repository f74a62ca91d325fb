//! Turns text into the typed program, within bounds.
//!
//! It infers types as Rust does, function by function, and reports everything that is wrong.

mod definitions;
mod exhaustive;
mod expressions;
mod inference;
mod numbers;
mod parts;
mod patterns;
mod settle;
mod sizes;
mod statements;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use garblet_circuit::Float;

use super::{
    ast::{Expr, FnDef, Int, Program, Type},
    bounds::{self, Found},
    built_in::BuiltIn,
    constants::Values,
    elsewhere,
    parser::{self, Lone, names::in_source},
    scanner,
};
use crate::{
    constants::Constants,
    source_error::{SourceError, Suggestions},
    tree::Span,
};

/// The most bytes of a source.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// The least and the most bytes of a stack, and the bytes for each byte of a source.
const STACK_BYTES: (usize, usize) = (1 << 24, 1 << 29);
const STACK_BYTES_PER_BYTE: usize = 1 << 16;

/// The size of the stack for compiling a source: the compiler recurses as deep as the source is nested.
pub(crate) fn stack_bytes(text: &str) -> usize {
    let nested = text.len().saturating_mul(STACK_BYTES_PER_BYTE);
    nested.clamp(STACK_BYTES.0, STACK_BYTES.1)
}

/// A typed program, the values of its constants, and warnings.
type Typed = (Program, Values, Vec<SourceError>);

/// The typed program, the values of its constants, and warnings: functions that are never called, which are left out and not checked,
/// and arms that are never reached. `given` are the constants of parties, and `entry` names the function to compile.
///
/// A source that is wrong by Rust's rules may be one for `garble_lang`, which reads the type `(T)` as a tuple of one. If it is right
/// so, it is taken, with a warning at each such type.
///
/// *Errors*: everything that is wrong with the source.
pub(super) fn checked(text: &str, entry: &str, given: &Constants) -> Result<Typed, Vec<SourceError>> {
    let tokens = scanner::scan(text).map_err(|fault| vec![fault])?;
    let program = parser::parse(tokens.clone(), Lone::Itself)?;
    let lone = program.lone.clone();
    let faults = match typed(program, entry, given) {
        Err(faults) if !lone.is_empty() => faults,
        result => return result,
    };
    let theirs = parser::parse(tokens, Lone::Tuple).and_then(|program| typed(program, entry, given));
    let Ok((program, values, mut warnings)) = theirs else { return Err(faults) };
    warnings.extend(lone.into_iter().map(read_as_tuple));
    warnings.sort_by_key(|warning| warning.span);
    Ok((program, values, warnings))
}

fn read_as_tuple(span: Span) -> SourceError {
    let warning = SourceError::new(span, "this type is read as a tuple of one, as `garble_lang` does");
    warning.hint("write `(T,)`: in Rust, `(T)` is T")
}

fn typed(mut program: Program, entry: &str, given: &Constants) -> Result<Typed, Vec<SourceError>> {
    let found = bounds::check(&program)?;
    let values = Values::of(&program, given)?;
    let faults = values.fix_definitions(&mut program);
    if !faults.is_empty() {
        return Err(faults);
    }
    let wrong_entry = program.functions.get(entry).filter(|entry| !entry.is_constant).and_then(no_entry);
    let called = called(&program, &found);
    let (functions, uncalled): (HashMap<_, _>, HashMap<_, _>) =
        std::mem::take(&mut program.functions).into_iter().partition(|(name, _)| called.contains(name));
    let (mut functions, over): (BTreeMap<_, _>, BTreeMap<_, _>) =
        functions.into_iter().partition(|(_, function)| function.sizes.is_empty());
    let (mut faults, mut warnings) =
        Checker::faults(&program, &values, (&mut functions, &over), &uncalled, &found.names);
    // A function may seem uncalled because its call is wrong or misspelt.
    warnings.extend(uncalled.values().map(never_called));
    warnings.sort_by_key(|fault| fault.span);
    // Instances of one function have the same warnings.
    warnings.dedup();
    faults.extend(wrong_entry);
    if !faults.is_empty() {
        faults.sort_by_key(|fault| fault.span);
        faults.dedup();
        return Err(faults);
    }
    program.functions = functions.into_iter().collect();
    Ok((program, values, warnings))
}

/// The public functions, and all that they call, directly or through others.
fn called(program: &Program, found: &Found) -> HashSet<String> {
    let mut called: HashSet<String> = HashSet::new();
    // A function over sizes has no instance unless something calls it. Constants are checked even if nothing uses them.
    let open = program.functions.values().filter(|f| (f.is_pub || f.is_constant) && f.sizes.is_empty());
    let mut open: Vec<&str> = open.map(|f| f.name.as_str()).collect();
    while let Some(name) = open.pop() {
        if called.insert(name.into()) {
            open.extend(found.calls.get(name).into_iter().flatten().map(String::as_str));
        }
    }
    called
}

fn never_called(function: &FnDef) -> SourceError {
    let name = &function.name;
    let fault = SourceError::new(function.span, format!("the function `{name}` is never called"));
    fault.hint(match function.sizes.is_empty() {
        true => format!("call `{name}`, make it `pub`, or remove it"),
        false => format!("call `{name}`, or remove it: without a call its sizes are not known"),
    })
}

/// The fault for a function to compile, if it is private or over sizes.
fn no_entry(function: &FnDef) -> Option<SourceError> {
    let name = &function.name;
    match function.sizes.first() {
        None if function.is_pub => None,
        None => {
            let fault = SourceError::new(function.span, format!("`{name}` is not public"));
            Some(fault.hint(format!("write `pub fn {name}(..)`")))
        }
        Some(size) => {
            let fault = SourceError::new(size.span, format!("the size `{}` of `{name}` is not known", size.name));
            Some(fault.hint(format!("make it a constant of a party: `const {0}: usize = PARTY_0::{0};`", size.name)))
        }
    }
}

/// An error that has already been reported.
struct Failed;

type Checked<T = ()> = Result<T, Failed>;

/// A variable: its type, unless its declaration is wrong, and whether it is mutable.
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

impl Signature {
    fn of(function: &FnDef) -> Self {
        let params = function.params.iter().map(|param| param.ty.clone()).collect();
        Signature { params, result: function.result.clone() }
    }
}

/// The state while a program is checked.
struct Checker<'p> {
    program: &'p Program,
    values: Values,
    functions: HashMap<String, Signature>,
    instances: sizes::Instances<'p>,
    /// Functions that nothing calls.
    uncalled: &'p HashMap<String, FnDef>,
    /// The names of all variables.
    names: &'p BTreeSet<String>,
    scopes: Vec<HashMap<String, Variable>>,
    /// The types of the function that is being checked, as far as they are known.
    open: inference::Inference,
    faults: Vec<SourceError>,
    warnings: Vec<SourceError>,
    /// The work spent so far on finding cases that patterns do not cover.
    cases: usize,
    /// Faults about unknown names.
    unknown: Vec<(SourceError, String)>,
    suggestions: Suggestions,
}

impl<'p> Checker<'p> {
    /// Checks functions and infers their types. Returns the errors and the warnings.
    fn faults(
        program: &'p Program,
        values: &Values,
        (functions, over): (&mut BTreeMap<String, FnDef>, &'p BTreeMap<String, FnDef>),
        uncalled: &'p HashMap<String, FnDef>,
        names: &'p BTreeSet<String>,
    ) -> (Vec<SourceError>, Vec<SourceError>) {
        let all = functions.iter().chain(over);
        let signatures = all.map(|(name, function)| (name.clone(), Signature::of(function))).collect();
        let mut checker = Checker {
            program,
            values: values.clone(),
            functions: signatures,
            instances: sizes::Instances::of(over),
            uncalled,
            names,
            scopes: Vec::new(),
            open: inference::Inference::default(),
            faults: Vec::new(),
            warnings: Vec::new(),
            cases: 0,
            unknown: Vec::new(),
            suggestions: Suggestions::default(),
        };
        checker.definitions();
        functions.values_mut().for_each(|function| checker.function(function));
        checker.check_instances(functions);
        let warnings = std::mem::take(&mut checker.warnings);
        (checker.told(), warnings)
    }

    /// All faults. A variable whose declaration is wrong is unknown afterwards, which is not reported as another mistake.
    fn told(mut self) -> Vec<SourceError> {
        let undeclared = self.unknown.iter().any(|(_, name)| !self.names.contains(name));
        let others = !self.faults.is_empty() || undeclared;
        let names = self.names;
        let tells = |(fault, name): (SourceError, String)| (!others || !names.contains(&name)).then_some(fault);
        self.faults.extend(self.unknown.into_iter().filter_map(tells));
        self.faults
    }

    /// Reports a fault.
    fn refuse<T>(&mut self, fault: SourceError) -> Checked<T> {
        self.faults.push(fault);
        Err(Failed)
    }

    /// Like [`Checker::refuse`], with an optional hint.
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
            let _: Checked = self.refuse(fault.hint("each parameter of `main` is a party's input"));
            return;
        }
        self.values = self.values.with(&function.sizes);
        self.scopes = vec![HashMap::new()];
        self.open = inference::Inference::default();
        let before = (self.faults.len(), self.unknown.len());
        for param in &function.params {
            let ty = self.known(&param.ty).is_ok().then(|| param.ty.clone());
            self.declare(&param.name, ty, param.mutable);
        }
        let result = self.known(&function.result);
        let checked = match (self.block(&mut function.body), result) {
            (Ok(ty), Ok(())) => self.result(function, ty),
            _ => Err(Failed),
        };
        // Ranges are checked only once the types are right.
        if checked.is_ok() && before == (self.faults.len(), self.unknown.len()) {
            self.settle(&mut function.body);
        }
        let _: Checked = self.bound_types(function.span);
        if checked.is_err() && self.faults.is_empty() && self.unknown.is_empty() {
            let message = format!("the function `{}` is rejected because of a compiler bug", function.name);
            let _: Checked = self.refuse(SourceError::new(function.span, message).hint("please report the source"));
        }
    }

    /// Compares the value of a function's body with its result.
    fn result(&mut self, function: &mut FnDef, ty: Type) -> Checked {
        match function.body.last_mut() {
            Some(super::ast::Stmt { kind: super::ast::StmtKind::Expr(value), .. }) => {
                self.check(value, &function.result)
            }
            _ if self.unify(&ty, &function.result) => Ok(()),
            Some(last) => {
                let hint = self.value_hint(last, &function.result);
                self.refuse_with(last.span, format!("expected {}, got {ty}", function.result), Some(hint))
            }
            None => self.mismatch(&function.result, &ty, function.span),
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

    /// Reports an unknown name.
    fn unknown<T>(&mut self, name: &str, span: Span) -> Checked<T> {
        let fault = SourceError::new(span, format!("there is no variable, constant or function `{name}`"));
        let fault = match self.meant(name) {
            Some(hint) => fault.hint(hint),
            None => fault,
        };
        self.unknown.push((fault, name.into()));
        Err(Failed)
    }

    /// A hint that suggests another name, or an enum before that of its variant.
    fn meant(&self, name: &str) -> Option<String> {
        let mut enums: Vec<&String> = self.program.enums.keys().collect();
        enums.sort();
        if let Some(own) = enums.into_iter().find(|own| self.program.enums[*own].place(name).is_some()) {
            return Some(format!("write `{own}::{name}`"));
        }
        if let Some(hint) = elsewhere::name(name) {
            return Some(hint.into());
        }
        let constants = self.program.constants.keys();
        let functions = self.functions.keys().chain(self.uncalled.keys());
        let built_in = BuiltIn::ALL.iter().map(|(name, _)| *name);
        let known = self.names.iter().chain(constants).chain(functions).map(String::as_str).chain(built_in);
        // Names of one or two letters are all near to one another.
        self.suggestions.hint(name, known.filter(|other| other.len() > 2 && name.len() > 2 && *other != name))
    }

    /// A hint that suggests another type.
    fn type_meant(&self, name: &str) -> Option<String> {
        match name {
            "f128" => return Some("use f64".into()),
            _ if Int::is_like(name) => return Some(Int::FORM.into()),
            _ => {}
        }
        if let Some(hint) = elsewhere::name(name) {
            return Some(hint.into());
        }
        let defined = self.program.structs.keys().chain(self.program.enums.keys()).map(String::as_str);
        self.suggestions.hint(
            name,
            ["bool", "fixed"].into_iter().chain(Float::ALL.map(Float::name)).chain(Int::NAMES).chain(defined),
        )
    }

    /// The type of the variable or constant of that name.
    fn named(&mut self, name: &str, span: Span) -> Checked<Type> {
        match (self.variable(name), self.values.get(name)) {
            (Some(variable), _) => variable.ty.clone().ok_or(Failed),
            (None, Some((ty, _))) => Ok(ty.clone()),
            (None, None) => self.unknown(in_source(name), span),
        }
    }

    /// Checks all expressions, even after one that is wrong.
    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e mut Expr>) -> Checked {
        let mut all = Ok(());
        for expr in exprs {
            all = self.expr(expr).and(all);
        }
        all
    }
}
