//! Programs for which the type checker would take forever, or go too deep: refused before.
//!
//! `garble_lang`'s type checker follows types into themselves, compares whole types of tuples at every use, looks at all
//! combinations of values in a `match`, and goes into a function where it is called first.

use std::collections::{BTreeSet, HashMap};

use garble_lang::{
    UntypedExpr, UntypedPattern, UntypedProgram, UntypedStmt,
    ast::{Accessor, BuiltInFnCall, ExprEnum, Op, PatternEnum, StmtEnum, Type, Variant, VariantExprEnum},
    token::MetaInfo,
};

use super::{
    parser::names::in_source,
    shape::{Shape, Shapes},
    span,
};
use crate::source_error::SourceError;

/// The most parts of a value, elements of an array counted once.
const MAX_PARTS: u64 = 1 << 12;
/// The most cases of a `match`, times its patterns.
const MAX_CASES: u64 = 1 << 18;
/// The depth to which expressions may be nested, through calls.
const MAX_DEPTH: u32 = 10_000;

/// Looks whether the type checker comes to an end soon. Returns the names that are declared.
///
/// *Errors*: types and functions that contain themselves, values of too many parts, matches of too many cases, and calls
/// that are nested too deep.
pub(super) fn check(program: &UntypedProgram) -> Result<BTreeSet<&str>, Vec<SourceError>> {
    let parts = types(program).map_err(|fault| vec![fault])?;
    let shapes = Shapes { program, parts };
    let mut functions: Vec<_> = program.fn_defs.iter().collect();
    functions.sort_by_key(|(_, function)| function.meta);
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
        if let Err(fault) = depth(name, function.meta, &calls, &mut depths) {
            faults.push(fault);
        }
    }
    if faults.is_empty() { Ok(names) } else { Err(faults) }
}

/// The number of parts that structs and enums have.
///
/// *Errors*: one that contains itself, or has too many.
fn types(program: &UntypedProgram) -> Result<HashMap<&str, u64>, SourceError> {
    let mut parts = HashMap::new();
    let structs = program.struct_defs.iter().map(|(name, definition)| (definition.meta, name));
    let enums = program.enum_defs.iter().map(|(name, definition)| (definition.meta, name));
    let mut names: Vec<_> = structs.chain(enums).collect();
    names.sort_unstable();
    for (_, name) in names {
        named(name, program, &mut parts)?;
    }
    Ok(parts.into_iter().filter_map(|(name, parts)| Some((name, parts?))).collect())
}

/// The parts of a struct or an enum; while they are counted there is none for it in `parts`.
fn named<'a>(
    name: &'a str,
    program: &'a UntypedProgram,
    parts: &mut HashMap<&'a str, Option<u64>>,
) -> Result<u64, SourceError> {
    let (meta, fields): (MetaInfo, Vec<&Type>) = match (program.struct_defs.get(name), program.enum_defs.get(name)) {
        (Some(definition), _) => (definition.meta, definition.fields.iter().map(|(_, ty)| ty).collect()),
        (None, Some(definition)) => {
            let fields = definition.variants.iter().flat_map(|variant| match variant {
                Variant::Tuple(_, fields) => &fields[..],
                Variant::Unit(_) => &[],
            });
            (definition.meta, fields.collect())
        }
        (None, None) => return Ok(1),
    };
    match parts.get(name) {
        Some(Some(known)) => return Ok(*known),
        Some(None) => {
            let message = format!("the type `{name}` contains itself");
            return Err(
                SourceError::new(span(meta), message).hint("the size of a value is known before: take an array")
            );
        }
        None => {}
    }
    parts.insert(name, None);
    let mut sum = 1u64;
    for field in fields {
        sum = sum.saturating_add(size_of(field, program, parts)?);
    }
    if sum > MAX_PARTS {
        return Err(SourceError::new(
            span(meta),
            format!("the type `{name}` has {sum} parts, the most is {MAX_PARTS}"),
        ));
    }
    parts.insert(name, Some(sum));
    Ok(sum)
}

fn size_of<'a>(
    ty: &'a Type,
    program: &'a UntypedProgram,
    parts: &mut HashMap<&'a str, Option<u64>>,
) -> Result<u64, SourceError> {
    Ok(match ty {
        Type::Array(element, _) | Type::ArrayConst(element, _) | Type::ArrayConstExpr(element, _) => {
            size_of(element, program, parts)?.saturating_add(1)
        }
        Type::Tuple(fields) => {
            let mut sum = 1u64;
            for field in fields {
                sum = sum.saturating_add(size_of(field, program, parts)?);
            }
            sum
        }
        Type::UntypedTopLevelDefinition(name, _) => named(name, program, parts)?,
        _ => 1,
    })
}

/// The depth to which functions are nested, and where they call which ones.
type Calls<'a> = HashMap<&'a str, (u32, Vec<(&'a str, u32, MetaInfo)>)>;

/// The depth to which a function is nested, with those that it calls; while that is found out there is none for it in `depths`.
///
/// *Errors*: a function that calls itself, by the `call` that does it, and too deep nesting.
fn depth<'a>(
    name: &'a str,
    call: MetaInfo,
    calls: &Calls<'a>,
    depths: &mut HashMap<&'a str, Option<u32>>,
) -> Result<u32, SourceError> {
    match depths.get(name) {
        Some(Some(known)) => return Ok(*known),
        Some(None) => {
            let message = format!("the function `{name}` is recursive: it calls itself, directly or through others");
            return Err(SourceError::new(span(call), message).hint("use a loop over a known range"));
        }
        None => {}
    }
    let Some((own, inner)) = calls.get(name) else { return Ok(0) };
    depths.insert(name, None);
    let deepest = inner.iter().try_fold(*own, |deepest, &(callee, at, call)| {
        match at.saturating_add(depth(callee, call, calls, depths)?) {
            sum if sum > MAX_DEPTH => Err(SourceError::new(span(call), "calls are nested too deep here")),
            sum => Ok(deepest.max(sum)),
        }
    });
    // A fault is told once.
    depths.insert(name, Some(deepest.as_ref().copied().unwrap_or(0)));
    deepest
}

/// The body of a function while it is gone through.
struct Body<'a, 'n> {
    shapes: &'n Shapes<'a>,
    scopes: Vec<HashMap<&'a str, Shape>>,
    /// All names that are declared.
    names: &'n mut BTreeSet<&'a str>,
    depth: u32,
    deepest: u32,
    calls: Vec<(&'a str, u32, MetaInfo)>,
}

impl<'a> Body<'a, '_> {
    fn declare(&mut self, name: &'a str, shape: Shape) {
        self.names.insert(in_source(name));
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, shape);
        }
    }

    /// Something in a scope of its own.
    fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, SourceError>) -> Result<T, SourceError> {
        self.scopes.push(HashMap::new());
        let result = inner(self)?;
        self.scopes.pop();
        Ok(result)
    }

    fn block(&mut self, body: &'a [UntypedStmt]) -> Result<Shape, SourceError> {
        self.scoped(|own| {
            let mut value = Shape::unit();
            for stmt in body {
                value = own.stmt(stmt)?;
            }
            Ok(value)
        })
    }

    /// The shape of the value, if it is an expression.
    fn stmt(&mut self, stmt: &'a UntypedStmt) -> Result<Shape, SourceError> {
        match &stmt.inner {
            StmtEnum::Let(pattern, ty, value) => {
                let value = self.expr(value)?;
                let shape = ty.as_ref().map_or(value, |ty| self.shapes.of(ty));
                self.bind(pattern, &shape);
            }
            StmtEnum::LetMut(name, ty, value) => {
                let value = self.expr(value)?;
                let shape = ty.as_ref().map_or(value, |ty| self.shapes.of(ty));
                self.declare(name, shape);
            }
            StmtEnum::VarAssign(_, path, value) => {
                for (accessor, _) in path {
                    if let Accessor::ArrayAccess { index, .. } = accessor {
                        self.expr(index)?;
                    }
                }
                self.expr(value)?;
            }
            StmtEnum::ForEachLoop(pattern, over, body) => {
                let element = self.iterated(over)?;
                self.scoped(|own| {
                    own.bind(pattern, &element);
                    own.block(body)
                })?;
            }
            StmtEnum::JoinLoop(..) => {}
            StmtEnum::Expr(value) => return self.expr(value),
        }
        Ok(Shape::unit())
    }

    /// The shape of the elements that a loop goes through.
    fn iterated(&mut self, over: &'a UntypedExpr) -> Result<Shape, SourceError> {
        match &over.inner {
            ExprEnum::FnCall(name, arguments) if name == "join_iter" => {
                let pair = self.all(arguments)?.iter().map(Shape::element).collect();
                Ok(self.shapes.tuple(pair))
            }
            _ => Ok(self.expr(over)?.element()),
        }
    }

    fn bind(&mut self, pattern: &'a UntypedPattern, shape: &Shape) {
        match &pattern.0 {
            PatternEnum::Identifier(name) => self.declare(name, shape.clone()),
            PatternEnum::Tuple(parts) => {
                parts.iter().enumerate().for_each(|(k, part)| self.bind(part, &shape.part(k)));
            }
            PatternEnum::Struct(name, fields) | PatternEnum::StructIgnoreRemaining(name, fields) => {
                let whole = Shape::Named(name.as_str().into());
                fields.iter().for_each(|(field, part)| self.bind(part, &self.shapes.field(&whole, field)));
            }
            PatternEnum::EnumTuple(name, variant, fields) => {
                let shapes = self.shapes;
                let types = shapes.variant(name, variant);
                fields.iter().zip(types).for_each(|(part, ty)| self.bind(part, &shapes.of(ty)));
            }
            _ => {}
        }
    }

    fn all(&mut self, exprs: &'a [UntypedExpr]) -> Result<Vec<Shape>, SourceError> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn expr(&mut self, expr: &'a UntypedExpr) -> Result<Shape, SourceError> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let shape = self.shape(expr)?;
        self.depth -= 1;
        let size = self.shapes.size(&shape);
        match size > MAX_PARTS {
            true => {
                Err(SourceError::new(span(expr.meta), format!("this value has {size} parts, the most is {MAX_PARTS}"))
                    .hint("is a tuple put into itself again and again? Take an array"))
            }
            false => Ok(shape),
        }
    }

    fn shape(&mut self, expr: &'a UntypedExpr) -> Result<Shape, SourceError> {
        Ok(match &expr.inner {
            ExprEnum::True | ExprEnum::False => Shape::Bool,
            ExprEnum::NumUnsigned(..) => Shape::Unsigned,
            ExprEnum::NumSigned(..) => Shape::Signed,
            ExprEnum::Range(..) => self.shapes.array(Shape::Unsigned),
            ExprEnum::Identifier(name) => self.variable(name),
            ExprEnum::ArrayLiteral(elements) => {
                let element = self.all(elements)?.into_iter().fold(Shape::Unknown, Shape::or);
                self.shapes.array(element)
            }
            ExprEnum::ArrayRepeatLiteral(element, _) | ExprEnum::ArrayRepeatLiteralConst(element, _) => {
                let element = self.expr(element)?;
                self.shapes.array(element)
            }
            ExprEnum::TupleLiteral(parts) => {
                let parts = self.all(parts)?;
                self.shapes.tuple(parts)
            }
            ExprEnum::ArrayAccess(whole, index) => {
                let whole = self.expr(whole)?;
                self.expr(index)?;
                whole.element()
            }
            ExprEnum::TupleAccess(whole, index) => self.expr(whole)?.part(*index),
            ExprEnum::StructAccess(whole, field) => {
                let whole = self.expr(whole)?;
                self.shapes.field(&whole, field)
            }
            ExprEnum::StructLiteral(name, fields) => {
                fields.iter().try_for_each(|(_, value)| self.expr(value).map(drop))?;
                Shape::Named(name.as_str().into())
            }
            ExprEnum::EnumLiteral(name, _, fields) => {
                if let VariantExprEnum::Tuple(fields) = fields {
                    self.all(fields)?;
                }
                Shape::Named(name.as_str().into())
            }
            ExprEnum::FnCall(name, arguments) => {
                self.all(arguments)?;
                self.calls.push((name, self.depth, expr.meta));
                self.shapes.program.fn_defs.get(name).map_or(Shape::Unknown, |function| self.shapes.of(&function.ty))
            }
            ExprEnum::BuiltInFnCall(BuiltInFnCall::Join { args, .. }) => {
                let rows = self.all(args)?.iter().map(Shape::element).collect::<Vec<_>>();
                let row = self.shapes.tuple([Shape::Bool].into_iter().chain(rows).collect());
                self.shapes.array(row)
            }
            ExprEnum::Block(body) => self.block(body)?,
            ExprEnum::If(condition, then, other) => {
                self.expr(condition)?;
                let (then, other) = (self.expr(then)?, self.expr(other)?);
                then.or(other)
            }
            ExprEnum::Match(value, arms) => self.arms(value, arms, expr.meta)?,
            ExprEnum::UnaryOp(_, value) => self.expr(value)?,
            ExprEnum::Op(op, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                match op {
                    Op::Eq | Op::NotEq | Op::LessThan | Op::GreaterThan => Shape::Bool,
                    _ => a.or(b),
                }
            }
            ExprEnum::Cast(ty, value) => {
                self.expr(value)?;
                self.shapes.of(ty)
            }
        })
    }

    fn variable(&self, name: &str) -> Shape {
        let variable = self.scopes.iter().rev().find_map(|scope| scope.get(name).cloned());
        let constant = || self.shapes.program.const_defs.get(name).map(|constant| self.shapes.of(&constant.ty));
        variable.or_else(constant).unwrap_or(Shape::Unknown)
    }

    fn arms(
        &mut self,
        value: &'a UntypedExpr,
        arms: &'a [(UntypedPattern, UntypedExpr)],
        at: MetaInfo,
    ) -> Result<Shape, SourceError> {
        let value = self.expr(value)?;
        let patterns: Vec<&UntypedPattern> = arms.iter().map(|(pattern, _)| pattern).collect();
        if self.shapes.cases(&value, &patterns).saturating_mul(arms.len() as u64) > MAX_CASES {
            let fault = SourceError::new(span(at), "this `match` has too many cases to look at them all");
            return Err(fault.hint("match only what decides, and take the rest from the value"));
        }
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
