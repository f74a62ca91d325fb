//! The front: from text to the syntax tree, through the type checker, and from the typed syntax tree to the tree that is run.

mod ast;
mod bounds;
mod built_in;
mod check;
mod constants;
mod elsewhere;
mod expressions;
mod methods;
mod parser;
mod patterns;
mod scanner;
mod shape;
mod types;

use std::collections::HashMap;

use garblet_circuit::diagnostic::nearest;

pub(crate) use check::{MAX_BYTES, stack_bytes};

use ast::{FnDef, Program};
use constants::Values;

use crate::{
    constants::Constants,
    source_error::SourceError,
    tree::{FnId, Function, Param, Span, Tree, Ty, VarId},
};

/// The tree of a source, with the function to compile, `entry`, as its last function, and the warnings.
///
/// *Errors*: everything wrong with the source, and constants that are missing or of the wrong type.
pub(crate) fn read(
    text: &str,
    entry: &str,
    constants: &Constants,
) -> Result<(Tree, Vec<SourceError>), Vec<SourceError>> {
    let (program, values, warnings) = check::checked(text, entry, constants)?;
    // An instance of a function over sizes is not public.
    let main = program.functions.get(entry).filter(|main| main.is_pub);
    let Some(main) = main else { return Err(vec![no_function(entry, &program)]) };
    let mut context = Context::new(&program, values);
    // As in Rust, constants are computed even if nothing uses them.
    let mut constants: Vec<&FnDef> = program.functions.values().filter(|function| function.is_constant).collect();
    constants.sort_by_key(|constant| constant.span);
    for constant in constants {
        context.function_named(&constant.name, constant.span).map_err(|fault| vec![fault])?;
    }
    context.function(main).map_err(|fault| vec![fault])?;
    Ok((Tree { functions: context.functions }, warnings))
}

/// The fault for a source that does not have the function to compile.
fn no_function(entry: &str, program: &Program) -> SourceError {
    let fault = SourceError::general(format!("there is no function `{entry}`"));
    let mut others: Vec<&str> =
        program.functions.values().filter(|other| other.is_pub).map(|other| other.name.as_str()).collect();
    others.sort_unstable();
    match nearest(entry, &others).or(others.first().copied()) {
        None => fault.hint(format!("write `pub fn {entry}(...)`")),
        Some(near) => fault.hint(format!("compile another one: `--function {near}`, elsewhere the option `function`")),
    }
}

/// The state of the walk through a program.
struct Context<'a> {
    program: &'a Program,
    /// Constants, and the sizes of the function that is being lowered.
    constants: Values,
    known: HashMap<String, FnId>,
    /// The types of structs and enums that have been asked for.
    types: HashMap<String, Ty>,
    functions: Vec<Function>,
    /// Functions that are being lowered, each with its scopes.
    running: Vec<String>,
    scopes: Vec<HashMap<String, VarId>>,
    vars: u32,
    /// The number of assignments so far.
    assignments: u64,
}

impl<'a> Context<'a> {
    fn new(program: &'a Program, constants: Values) -> Self {
        Context {
            program,
            constants,
            known: HashMap::new(),
            types: HashMap::new(),
            functions: Vec::new(),
            running: Vec::new(),
            scopes: Vec::new(),
            vars: 0,
            assignments: 0,
        }
    }

    /// The number of a function; lowers it first if that has not been done.
    fn function_named(&mut self, name: &str, span: Span) -> Result<FnId, SourceError> {
        if let Some(&id) = self.known.get(name) {
            return Ok(id);
        }
        let program = self.program;
        match program.functions.get(name) {
            Some(definition) => self.function(definition),
            None => Err(SourceError::bug(span, &format!("the name `{name}`"))),
        }
    }

    fn function(&mut self, definition: &FnDef) -> Result<FnId, SourceError> {
        let span = definition.span;
        if self.running.contains(&definition.name) {
            let message = format!("function `{}` calls itself, directly or through others", definition.name);
            return Err(SourceError::new(span, message).hint("use a loop over a known range"));
        }
        self.running.push(definition.name.clone());
        let outer = std::mem::replace(&mut self.scopes, vec![HashMap::new()]);
        let outer_vars = std::mem::take(&mut self.vars);
        let sizes = self.constants.with(&definition.sizes);
        let outer_sizes = std::mem::replace(&mut self.constants, sizes);
        let mut params = Vec::new();
        for param in &definition.params {
            let ty = self.ty(&param.ty, span)?;
            self.declare(&param.name);
            params.push(Param { name: param.name.clone(), ty, mutable: param.mutable });
        }
        let result = self.ty(&definition.result, span)?;
        let (body, cost) = self.block(&definition.body)?;
        self.running.pop();
        self.scopes = outer;
        self.constants = outer_sizes;
        let vars = std::mem::replace(&mut self.vars, outer_vars);
        let name = definition.name.clone();
        let (attributes, is_constant) = (definition.attributes, definition.is_constant);
        let function = Function { name: name.clone(), attributes, params, result, body, is_constant, vars, span, cost };
        self.functions.push(function);
        let id = self.functions.len() as FnId - 1;
        self.known.insert(name, id);
        Ok(id)
    }

    /// A new variable of that name in the innermost scope.
    fn declare(&mut self, name: &str) -> VarId {
        let id = self.vars;
        self.vars += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.into(), id);
        }
        id
    }

    fn variable(&self, name: &str) -> Option<VarId> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }
}
