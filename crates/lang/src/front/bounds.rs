//! Refuses programs for which the type checker would run forever or recurse too deep.
//!
//! The checker compares whole types, so the types of tuples must not double from line to line. Calls run inside one another, so
//! their depth is limited.

use std::collections::{BTreeSet, HashMap};

use super::{
    ast::{Expr, ExprKind, Pattern, PatternKind, Place, Program, StepKind, Stmt, StmtKind, Type},
    built_in::BuiltIn,
    parser::names::in_source,
    shape::{Shape, Shapes},
};
use crate::{source_error::SourceError, tree::Span};

/// The most parts of a value. The elements of an array count as one.
const MAX_PARTS: u64 = 1 << 12;
/// The depth to which expressions may be nested, through calls.
const MAX_DEPTH: u32 = 10_000;

/// The names in a program.
pub(super) struct Found {
    /// All declared names.
    pub(super) names: BTreeSet<String>,
    /// The functions that each function calls.
    pub(super) calls: HashMap<String, Vec<String>>,
}

/// Checks that the type checker will end soon.
///
/// *Errors*: types and functions that contain themselves, values of too many parts, and calls that are nested too deep.
pub(super) fn check(program: &Program) -> Result<Found, Vec<SourceError>> {
    let parts = types(program).map_err(|fault| vec![fault])?;
    let shapes = Shapes { program, parts };
    let mut functions: Vec<_> = program.functions.iter().collect();
    functions.sort_by_key(|(_, function)| function.span);
    let mut calls = HashMap::new();
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    for (name, function) in &functions {
        let mut body = Body {
            shapes: &shapes,
            scopes: vec![HashMap::new()],
            names: &mut names,
            depth: 0,
            deepest: 0,
            calls: Vec::new(),
        };
        for param in &function.params {
            body.declare(&param.name, shapes.of(&param.ty));
        }
        match body.block(&function.body) {
            Ok(_) => drop(calls.insert(name.as_str(), (body.deepest, body.calls))),
            Err(fault) => faults.push(fault),
        }
    }
    let mut depths = HashMap::new();
    for (name, function) in &functions {
        if let Err(fault) = depth(name, function.span, (program, &calls), &mut depths) {
            faults.push(fault);
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let names = names.into_iter().map(String::from).collect();
    let calls = calls.into_iter().map(|(name, (_, list))| {
        let callees = list.into_iter().map(|(callee, ..)| callee.to_string());
        (name.to_string(), callees.collect())
    });
    Ok(Found { names, calls: calls.collect() })
}

/// The number of parts that structs and enums have.
///
/// *Errors*: one that contains itself, or has too many.
fn types(program: &Program) -> Result<HashMap<&str, u64>, SourceError> {
    let mut parts = HashMap::new();
    let structs = program.structs.iter().map(|(name, definition)| (definition.span, name));
    let enums = program.enums.iter().map(|(name, definition)| (definition.span, name));
    let mut names: Vec<_> = structs.chain(enums).collect();
    names.sort_unstable();
    for (_, name) in names {
        named(name, program, &mut parts)?;
    }
    Ok(parts.into_iter().filter_map(|(name, parts)| Some((name, parts?))).collect())
}

/// The parts of a struct or an enum. While they are counted, its entry in `parts` is `None`.
fn named<'a>(
    name: &'a str,
    program: &'a Program,
    parts: &mut HashMap<&'a str, Option<u64>>,
) -> Result<u64, SourceError> {
    let (span, fields): (Span, Vec<&Type>) = match (program.structs.get(name), program.enums.get(name)) {
        (Some(definition), _) => (definition.span, definition.fields.iter().map(|(_, ty)| ty).collect()),
        (None, Some(definition)) => {
            (definition.span, definition.variants.iter().flat_map(|(_, fields)| fields.all()).collect())
        }
        (None, None) => return Ok(1),
    };
    match parts.get(name) {
        Some(Some(known)) => return Ok(*known),
        Some(None) => {
            let message = format!("the type `{name}` contains itself");
            return Err(SourceError::new(span, message).hint("a value has a fixed size: use an array"));
        }
        None => {}
    }
    parts.insert(name, None);
    let mut sum = 1u64;
    for field in fields {
        sum = sum.saturating_add(size_of(field, program, parts)?);
    }
    if sum > MAX_PARTS {
        let message = format!("the type `{name}` is too large: expected at most {MAX_PARTS} parts, got {sum}");
        return Err(SourceError::new(span, message).hint("use an array for parts of the same type: it counts as one"));
    }
    parts.insert(name, Some(sum));
    Ok(sum)
}

fn size_of<'a>(
    ty: &'a Type,
    program: &'a Program,
    parts: &mut HashMap<&'a str, Option<u64>>,
) -> Result<u64, SourceError> {
    Ok(match ty {
        Type::Array(element, _) | Type::List(element, _) => size_of(element, program, parts)?.saturating_add(1),
        Type::Tuple(fields) => {
            let mut sum = 1u64;
            for field in fields {
                sum = sum.saturating_add(size_of(field, program, parts)?);
            }
            sum
        }
        Type::Named(name) => named(&name.text, program, parts)?,
        _ => 1,
    })
}

/// The depth of each function, and its calls with their depths and places.
type Calls<'a> = HashMap<&'a str, (u32, Vec<(&'a str, u32, Span)>)>;

/// The depth of a function with those that it calls. While it is computed, its entry in `depths` is `None`.
///
/// *Errors*: a function that calls itself, by the `call` that does it, and too deep nesting.
fn depth<'a>(
    name: &'a str,
    call: Span,
    (program, calls): (&Program, &Calls<'a>),
    depths: &mut HashMap<&'a str, Option<u32>>,
) -> Result<u32, SourceError> {
    match depths.get(name) {
        Some(Some(known)) => return Ok(*known),
        Some(None) if program.functions.get(name).is_some_and(|function| function.is_constant) => {
            let message = format!("the constant `{name}` contains itself");
            return Err(SourceError::new(call, message).hint("give it a value that does not need it"));
        }
        Some(None) => {
            let message = format!("the function `{name}` is recursive: it calls itself, directly or through others");
            return Err(SourceError::new(call, message).hint("use a loop over a known range"));
        }
        None => {}
    }
    let Some((own, inner)) = calls.get(name) else { return Ok(0) };
    depths.insert(name, None);
    let deepest = inner.iter().try_fold(*own, |deepest, &(callee, at, call)| {
        match at.saturating_add(depth(callee, call, (program, calls), depths)?) {
            sum if sum > MAX_DEPTH => {
                let message = format!("calls are nested too deep here: expected at most {MAX_DEPTH} levels, got {sum}");
                Err(SourceError::new(call, message).hint("nest fewer calls: use a loop"))
            }
            sum => Ok(deepest.max(sum)),
        }
    });
    // A fault is reported once.
    depths.insert(name, Some(deepest.as_ref().copied().unwrap_or(0)));
    deepest
}

/// The state while the body of a function is walked.
struct Body<'a, 'n> {
    shapes: &'n Shapes<'a>,
    scopes: Vec<HashMap<&'a str, Shape>>,
    /// All names that are declared.
    names: &'n mut BTreeSet<&'a str>,
    depth: u32,
    deepest: u32,
    calls: Vec<(&'a str, u32, Span)>,
}

impl<'a> Body<'a, '_> {
    fn declare(&mut self, name: &'a str, shape: Shape) {
        self.names.insert(in_source(name));
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, shape);
        }
    }

    /// Runs `inner` in a new scope.
    fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, SourceError>) -> Result<T, SourceError> {
        self.scopes.push(HashMap::new());
        let result = inner(self)?;
        self.scopes.pop();
        Ok(result)
    }

    fn block(&mut self, body: &'a [Stmt]) -> Result<Shape, SourceError> {
        self.scoped(|own| {
            let mut value = Shape::unit();
            for stmt in body {
                value = own.stmt(stmt)?;
            }
            Ok(value)
        })
    }

    /// The shape of the value, if it is an expression.
    fn stmt(&mut self, stmt: &'a Stmt) -> Result<Shape, SourceError> {
        match &stmt.kind {
            StmtKind::Let(pattern, ty, value) => {
                let value = self.expr(value)?;
                let shape = ty.as_ref().map_or(value, |ty| self.shapes.of(ty));
                self.bind(pattern, &shape);
            }
            StmtKind::LetMut(name, ty, value) => {
                let value = self.expr(value)?;
                let shape = ty.as_ref().map_or(value, |ty| self.shapes.of(ty));
                self.declare(name, shape);
            }
            StmtKind::Assign(place, value) | StmtKind::Update(place, _, value) | StmtKind::Push(place, value) => {
                self.place(place)?;
                self.expr(value)?;
            }
            StmtKind::For(pattern, over, body) => {
                let element = self.iterated(over)?;
                self.scoped(|own| {
                    own.bind(pattern, &element);
                    own.block(body)
                })?;
            }
            StmtKind::Expr(value) => return self.expr(value),
            StmtKind::Effect(value) => drop(self.expr(value)?),
        }
        Ok(Shape::unit())
    }

    fn place(&mut self, place: &'a Place) -> Result<(), SourceError> {
        for step in &place.steps {
            if let StepKind::Index(index) = &step.kind {
                self.expr(index)?;
            }
        }
        Ok(())
    }

    /// The shape of the elements that a loop runs over.
    fn iterated(&mut self, over: &'a Expr) -> Result<Shape, SourceError> {
        match &over.kind {
            ExprKind::Call(callee, arguments) if self.built_in(&callee.name) == Some(BuiltIn::JoinIter) => {
                let pair = self.all(arguments)?.iter().map(Shape::element).collect();
                Ok(self.shapes.tuple(pair))
            }
            _ => Ok(self.expr(over)?.element()),
        }
    }

    fn bind(&mut self, pattern: &'a Pattern, shape: &Shape) {
        match &pattern.kind {
            PatternKind::Bind(name) => self.declare(name, shape.clone()),
            PatternKind::Tuple(parts) => {
                parts.iter().enumerate().for_each(|(k, part)| self.bind(part, &shape.part(k)));
            }
            PatternKind::Struct(name, fields) => {
                let whole = Shape::Named(name.as_str().into());
                fields.iter().for_each(|(field, part)| self.bind(part, &self.shapes.field(&whole, field)));
            }
            PatternKind::Variant(name, variant, fields) => {
                let shapes = self.shapes;
                let types = shapes.variant(name, variant);
                fields.all().into_iter().zip(types).for_each(|(part, ty)| self.bind(part, &shapes.of(ty)));
            }
            PatternKind::Bool(_) | PatternKind::Constant(_) | PatternKind::Range(..) | PatternKind::Numbers(..) => {}
        }
    }

    fn all(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) -> Result<Vec<Shape>, SourceError> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    fn expr(&mut self, expr: &'a Expr) -> Result<Shape, SourceError> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let shape = self.shape(expr)?;
        self.depth -= 1;
        let size = self.shapes.size(&shape);
        match size > MAX_PARTS {
            true => {
                let message = format!("this value is too large: expected at most {MAX_PARTS} parts, got {size}");
                let fault = SourceError::new(expr.span, message);
                Err(fault.hint("is a tuple repeatedly put into itself? Use an array"))
            }
            false => Ok(shape),
        }
    }

    fn shape(&mut self, expr: &'a Expr) -> Result<Shape, SourceError> {
        Ok(match &expr.kind {
            ExprKind::Bool(_) | ExprKind::Number(..) | ExprKind::Decimal(_) => Shape::Scalar,
            ExprKind::Range(..) => self.shapes.array(Shape::Scalar),
            ExprKind::Variable(name) => self.variable(name),
            ExprKind::Array(elements) => {
                let element = self.all(elements)?.into_iter().fold(Shape::Unknown, Shape::or);
                self.shapes.array(element)
            }
            ExprKind::Repeat(element, _) => {
                let element = self.expr(element)?;
                self.shapes.array(element)
            }
            ExprKind::ToList(x) => self.expr(x)?,
            ExprKind::Len(x) => self.expr(x).map(|_| Shape::Scalar)?,
            ExprKind::Method(_, parts) | ExprKind::FromBits(_, parts) => self.all(parts).map(|_| Shape::Scalar)?,
            ExprKind::Push(list, value) => {
                self.all([&**list, &**value])?;
                Shape::unit()
            }
            ExprKind::Tuple(parts) => {
                let parts = self.all(parts)?;
                self.shapes.tuple(parts)
            }
            ExprKind::Index(whole, index) => {
                let whole = self.expr(whole)?;
                self.expr(index)?;
                whole.element()
            }
            ExprKind::Position(whole, index) => self.expr(whole)?.part(*index),
            ExprKind::Field(whole, field) => {
                let whole = self.expr(whole)?;
                self.shapes.field(&whole, field)
            }
            ExprKind::Struct(name, fields) => {
                self.all(fields.iter().map(|(_, value)| value))?;
                Shape::Named(name.as_str().into())
            }
            ExprKind::Variant(name, _, fields) => {
                self.all(fields.all())?;
                Shape::Named(name.as_str().into())
            }
            ExprKind::Call(callee, arguments) => {
                let arguments = self.all(arguments)?;
                self.calls.push((&callee.name, self.depth, expr.span));
                self.called(&callee.name, &arguments)
            }
            ExprKind::Block(body) => self.block(body)?,
            ExprKind::If(condition, then, other) => {
                self.expr(condition)?;
                let (then, other) = (self.expr(then)?, self.expr(other)?);
                then.or(other)
            }
            ExprKind::Match(value, arms) => self.arms(value, arms)?,
            ExprKind::Not(value) | ExprKind::Neg(value) => self.expr(value)?,
            ExprKind::Op(op, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                match op {
                    op if op.compares() => Shape::Scalar,
                    _ => a.or(b),
                }
            }
            ExprKind::Cast(ty, value) => {
                self.expr(value)?;
                self.shapes.of(ty)
            }
        })
    }

    /// The shape of the result of a function.
    fn called(&self, name: &str, arguments: &[Shape]) -> Shape {
        match (self.built_in(name), arguments) {
            (None, _) => {
                let function = self.shapes.program.functions.get(name);
                function.map_or(Shape::Unknown, |function| self.shapes.of(&function.result))
            }
            (Some(BuiltIn::Join), _) => {
                let rows = arguments.iter().map(Shape::element);
                self.shapes.array(self.shapes.tuple([Shape::Scalar].into_iter().chain(rows).collect()))
            }
            (Some(BuiltIn::Sort), [rows]) => rows.clone(),
            (Some(BuiltIn::Keep), [rows]) => self.shapes.array(self.shapes.kept(&rows.element())),
            _ => Shape::Unknown,
        }
    }

    fn built_in(&self, name: &str) -> Option<BuiltIn> {
        BuiltIn::called(name, &self.shapes.program.functions)
    }

    fn variable(&self, name: &str) -> Shape {
        let variable = self.scopes.iter().rev().find_map(|scope| scope.get(name).cloned());
        let constant = || self.shapes.program.constants.get(name).map(|constant| self.shapes.of(&constant.ty));
        variable.or_else(constant).unwrap_or(Shape::Unknown)
    }

    fn arms(&mut self, value: &'a Expr, arms: &'a [(Pattern, Expr)]) -> Result<Shape, SourceError> {
        let value = self.expr(value)?;
        let mut result = Shape::Unknown;
        for (pattern, body) in arms {
            let own = self.scoped(|own| {
                own.bind(pattern, &value);
                own.expr(body)
            })?;
            result = result.or(own);
        }
        Ok(result)
    }
}
