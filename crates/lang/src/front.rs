//! The front: from text to the syntax tree of the crate `garble_lang`, through its type checker, and from its typed tree to
//! ours.
//!
//! **Invariant**: nothing outside of this module names that crate.

mod bounds;
mod check;
mod constants;
mod expressions;
mod parser;
mod patterns;
mod scanner;
mod shape;
mod types;

use std::collections::HashMap;

pub(crate) use check::stack_bytes;

use garble_lang::{TypedFnDef, TypedProgram, token::MetaInfo};

use crate::{
    constants::Constants,
    source_error::SourceError,
    tree::{FnId, Function, Param, Span, Tree, VarId},
};

/// The tree of a source, with `main` as its last function, and what is odd about the source but not wrong.
///
/// *Errors*: everything wrong with the source, and constants that are missing or of the wrong type.
pub(crate) fn read(text: &str, constants: &Constants) -> Result<(Tree, Vec<SourceError>), Vec<SourceError>> {
    let (program, warnings) = check::checked(text, constants)?;
    let values = constants::values(&program, constants)?;
    let Some(main) = program.fn_defs.get("main") else {
        let fault = SourceError::general("there is no function `main`").hint("write `pub fn main(...)`");
        return Err(vec![fault]);
    };
    let mut context = Context::new(&program, values);
    context.function(main).map_err(|fault| vec![fault])?;
    Ok((Tree { functions: context.functions }, warnings))
}

/// The state while a program is gone through.
struct Context<'a> {
    program: &'a TypedProgram,
    /// Values of the constants by name.
    constants: HashMap<String, i128>,
    known: HashMap<String, FnId>,
    functions: Vec<Function>,
    /// Functions that are being gone through, for each its scopes.
    running: Vec<String>,
    scopes: Vec<HashMap<String, VarId>>,
    vars: u32,
    /// The number of assignments so far.
    assignments: u64,
}

impl<'a> Context<'a> {
    fn new(program: &'a TypedProgram, constants: HashMap<String, i128>) -> Self {
        Context {
            program,
            constants,
            known: HashMap::new(),
            functions: Vec::new(),
            running: Vec::new(),
            scopes: Vec::new(),
            vars: 0,
            assignments: 0,
        }
    }

    /// The number of a function, which is gone through if it has not been yet.
    fn function_named(&mut self, name: &str, span: Span) -> Result<FnId, SourceError> {
        if let Some(&id) = self.known.get(name) {
            return Ok(id);
        }
        let program = self.program;
        match program.fn_defs.get(name) {
            Some(definition) => self.function(definition),
            None => Err(SourceError::new(span, format!("there is no function `{name}`"))),
        }
    }

    fn function(&mut self, definition: &TypedFnDef) -> Result<FnId, SourceError> {
        let span = span(definition.meta);
        if self.running.contains(&definition.identifier) {
            let message = format!("function `{}` calls itself, directly or through others", definition.identifier);
            return Err(SourceError::new(span, message).hint("use a loop over a known range"));
        }
        self.running.push(definition.identifier.clone());
        let outer = std::mem::replace(&mut self.scopes, vec![HashMap::new()]);
        let outer_vars = std::mem::take(&mut self.vars);
        let mut params = Vec::new();
        for param in &definition.params {
            let ty = self.ty(&param.ty, span)?;
            self.declare(&param.name);
            let mutable = param.mutability == garble_lang::ast::Mutability::Mutable;
            params.push(Param { name: param.name.clone(), ty, mutable });
        }
        let result = self.ty(&definition.ty, span)?;
        let (body, cost) = self.block(&definition.body)?;
        self.running.pop();
        self.scopes = outer;
        let vars = std::mem::replace(&mut self.vars, outer_vars);
        let name = definition.identifier.clone();
        self.functions.push(Function { name: name.clone(), params, result, body, vars, span, cost });
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

fn span(meta: MetaInfo) -> Span {
    let at = |position: (usize, usize)| (position.0 as u32 + 1, position.1 as u32 + 1);
    let ((line, column), (end_line, end_column)) = (at(meta.start), at(meta.end));
    Span { line, column, end_line, end_column }
}
