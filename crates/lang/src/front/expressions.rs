//! Statements and expressions, each with an estimate of its AND gates.

use std::collections::HashMap;

use garble_lang::{
    TypedExpr, TypedPattern, TypedStmt,
    ast::{self, Accessor, BuiltInFnCall, ExprEnum, Op, StmtEnum, UnaryOp, VariantExprEnum},
};

use super::{Context, span};
use crate::{
    arithmetic::wrap,
    source_error::SourceError,
    tree::{Access, BinaryOp, Expr, ExprKind, Loop, Over, Pattern, PatternKind, Scalar, Span, Stmt, StmtKind, Ty},
};

/// An expression and the AND gates of it, about.
type Costed<T> = Result<(T, u64), SourceError>;

impl Context<'_> {
    /// The statements of a block, in a scope of their own.
    pub(super) fn block(&mut self, body: &[TypedStmt]) -> Costed<Vec<Stmt>> {
        self.scopes.push(HashMap::new());
        let mut stmts = Vec::with_capacity(body.len());
        let mut cost = 0u64;
        for stmt in body {
            let (stmt, own) = self.stmt(stmt)?;
            stmts.push(stmt);
            cost = cost.saturating_add(own);
        }
        self.scopes.pop();
        Ok((stmts, cost))
    }

    fn stmt(&mut self, stmt: &TypedStmt) -> Costed<Stmt> {
        let at = span(stmt.meta);
        let (kind, cost) = match &stmt.inner {
            StmtEnum::Let(pattern, _, value) => {
                let (value, cost) = self.expr(value)?;
                let pattern = self.certain(pattern, &value.ty)?;
                (StmtKind::Let(pattern, value), cost)
            }
            StmtEnum::LetMut(name, _, value) => {
                let (value, cost) = self.expr(value)?;
                let kind = PatternKind::Bind(self.declare(name));
                (StmtKind::Let(Pattern { kind }, value), cost)
            }
            StmtEnum::VarAssign(name, path, value) => self.assignment(name, path, value, at)?,
            StmtEnum::ForEachLoop(pattern, over, body) => {
                let (over, once) = match &over.inner {
                    ExprEnum::Range(from, to, _) => (Over::Range(*from, *to), 0),
                    _ => {
                        let (over, cost) = self.expr(over)?;
                        (Over::Array(over), cost)
                    }
                };
                self.repeat(pattern, over, body, once)?
            }
            StmtEnum::JoinLoop(pattern, _, (a, b), body) => {
                let ((a, cost_a), (b, cost_b)) = (self.expr(a)?, self.expr(b)?);
                let once = cost_a.saturating_add(cost_b);
                self.repeat(pattern, Over::Join(a, b), body, once)?
            }
            StmtEnum::Expr(value) => {
                let (value, cost) = self.expr(value)?;
                (StmtKind::Expr(value), cost)
            }
        };
        Ok((Stmt { kind, span: at }, cost))
    }

    fn assignment(
        &mut self,
        name: &str,
        path: &[(Accessor<ast::Type>, garble_lang::token::MetaInfo)],
        value: &TypedExpr,
        at: Span,
    ) -> Costed<StmtKind> {
        let variable = self.variable_at(name, at)?;
        self.assignments += 1;
        let mut steps = Vec::new();
        let mut places = 1u64;
        for (accessor, meta) in path {
            let at = span(*meta);
            steps.push(match accessor {
                Accessor::ArrayAccess { array_ty, index } => {
                    let (element, count) = array(&self.ty(array_ty, at)?, at)?;
                    if index_is_secret(index) {
                        places = places.saturating_mul(count.into());
                    }
                    let (index, _) = self.expr(index)?;
                    Access::Index { index, count, words: element.words() }
                }
                Accessor::TupleAccess { tuple_ty, index } => {
                    Access::Field(words_before(&self.ty(tuple_ty, at)?, &index.to_string(), at)?)
                }
                Accessor::StructAccess { struct_ty, field } => {
                    Access::Field(words_before(&self.ty(struct_ty, at)?, field, at)?)
                }
            });
        }
        let (value, cost) = self.expr(value)?;
        let writes = if places > 1 { places.saturating_mul(value.ty.width()) } else { 0 };
        Ok((StmtKind::Assign(variable, steps, value), cost.saturating_add(writes)))
    }

    fn repeat(&mut self, pattern: &TypedPattern, over: Over, body: &[TypedStmt], once: u64) -> Costed<StmtKind> {
        self.scopes.push(HashMap::new());
        let usize_ty = Ty::Scalar(Scalar::unsigned(64));
        let (ty, iterations) = match &over {
            Over::Range(from, to) => (usize_ty, to.saturating_sub(*from)),
            Over::Array(array_expr) => {
                let (element, count) = array(&array_expr.ty, array_expr.span)?;
                (element, count.into())
            }
            Over::Join(a, b) => {
                let ((first, n), (second, m)) = (array(&a.ty, a.span)?, array(&b.ty, b.span)?);
                let pair: Vec<(String, Ty)> = vec![("0".into(), first), ("1".into(), second)];
                (Ty::Record(pair.into()), u64::from(n) + u64::from(m))
            }
        };
        let pattern = self.certain(pattern, &ty)?;
        let before = self.assignments;
        let (body, each) = self.block(body)?;
        self.scopes.pop();
        let merging = if let Over::Join(..) = over { ty.width().saturating_mul(8) } else { 0 };
        let cost = each.saturating_add(merging).saturating_mul(iterations).saturating_add(once);
        let assigns = self.assignments > before;
        Ok((StmtKind::For(Box::new(Loop { pattern, over, body, cost, assigns })), cost))
    }

    fn variable_at(&self, name: &str, at: Span) -> Result<u32, SourceError> {
        self.variable(name).ok_or_else(|| SourceError::new(at, format!("there is no variable `{name}`")))
    }

    pub(super) fn expr(&mut self, expr: &TypedExpr) -> Costed<Expr> {
        let at = span(expr.meta);
        let ty = self.ty(&expr.ty, at)?;
        let (kind, cost) = self.kind(expr, &ty, at)?;
        Ok((Expr { kind, ty, span: at }, cost))
    }

    fn boxed(&mut self, expr: &TypedExpr) -> Costed<Box<Expr>> {
        self.expr(expr).map(|(expr, cost)| (Box::new(expr), cost))
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e TypedExpr>) -> Costed<Vec<Expr>> {
        let mut list = Vec::new();
        let mut sum = 0u64;
        for expr in exprs {
            let (expr, cost) = self.expr(expr)?;
            list.push(expr);
            sum = sum.saturating_add(cost);
        }
        Ok((list, sum))
    }

    fn kind(&mut self, expr: &TypedExpr, ty: &Ty, at: Span) -> Costed<ExprKind> {
        let number = |value: i128| ExprKind::Constant(ty.scalar().map_or(value, |ty| wrap(value, ty)));
        Ok(match &expr.inner {
            ExprEnum::True => (ExprKind::Constant(1), 0),
            ExprEnum::False => (ExprKind::Constant(0), 0),
            ExprEnum::NumUnsigned(value, _) => (number((*value).into()), 0),
            ExprEnum::NumSigned(value, _) => (number((*value).into()), 0),
            ExprEnum::Identifier(name) => match (self.variable(name), self.constants.get(name)) {
                (Some(variable), _) => (ExprKind::Var(variable), 0),
                (None, Some(&value)) => (ExprKind::Constant(value), 0),
                (None, None) => return Err(SourceError::new(at, format!("there is no variable `{name}`"))),
            },
            ExprEnum::ArrayLiteral(parts) | ExprEnum::TupleLiteral(parts) => {
                let (parts, cost) = self.all(parts)?;
                (ExprKind::List(parts), cost)
            }
            ExprEnum::ArrayRepeatLiteral(element, _) | ExprEnum::ArrayRepeatLiteralConst(element, _) => {
                let (_, count) = array(ty, at)?;
                let (element, cost) = self.boxed(element)?;
                (ExprKind::Repeat(element, count), cost)
            }
            ExprEnum::Range(from, to, _) => (ExprKind::Range(*from, *to), 0),
            ExprEnum::StructLiteral(_, fields) => self.struct_literal(fields, ty, at)?,
            ExprEnum::EnumLiteral(_, variant, fields) => self.enum_literal(variant, fields, ty, at)?,
            ExprEnum::ArrayAccess(..) | ExprEnum::TupleAccess(..) | ExprEnum::StructAccess(..) => {
                self.part(expr, ty, at)?
            }
            ExprEnum::UnaryOp(..) | ExprEnum::Op(..) | ExprEnum::Cast(..) => self.operation(expr)?,
            ExprEnum::Block(body) => {
                let (body, cost) = self.block(body)?;
                (ExprKind::Block(body), cost)
            }
            ExprEnum::If(condition, then, other) => {
                let (condition, a) = self.boxed(condition)?;
                let (then, b) = self.boxed(then)?;
                let (other, c) = self.boxed(other)?;
                (ExprKind::If(condition, then, other), sum(&[a, b, c, ty.width()]))
            }
            ExprEnum::Match(value, arms) => self.match_arms(value, arms, ty)?,
            ExprEnum::FnCall(name, arguments) => {
                let function = self.function_named(name, at)?;
                let before = self.assignments;
                let (arguments, cost) = self.all(arguments)?;
                let cost = cost.saturating_add(self.functions[function as usize].cost);
                let assigns = self.assignments > before;
                (ExprKind::Call { function, arguments, assigns }, cost)
            }
            ExprEnum::BuiltInFnCall(BuiltInFnCall::Join { args, .. }) => {
                let [a, b] = &args[..] else {
                    return Err(SourceError::new(at, format!("`join` takes 2 arguments, got {}", args.len())));
                };
                let ((a, cost_a), (b, cost_b)) = (self.boxed(a)?, self.boxed(b)?);
                (ExprKind::Join(a, b), sum(&[cost_a, cost_b, ty.width().saturating_mul(16)]))
            }
        })
    }

    fn struct_literal(&mut self, fields: &[(String, TypedExpr)], ty: &Ty, at: Span) -> Costed<ExprKind> {
        let Ty::Record(names) = ty else { return Err(SourceError::new(at, "this is no struct")) };
        let mut in_order = Vec::with_capacity(names.len());
        for (name, _) in names.iter() {
            match fields.iter().find(|(given, _)| given == name) {
                Some((_, value)) => in_order.push(value),
                None => return Err(SourceError::new(at, format!("the field `{name}` is missing"))),
            }
        }
        let (parts, cost) = self.all(in_order)?;
        Ok((ExprKind::List(parts), cost))
    }

    fn enum_literal(
        &mut self,
        variant: &str,
        fields: &VariantExprEnum<ast::Type>,
        ty: &Ty,
        at: Span,
    ) -> Costed<ExprKind> {
        let variant = variant_number(ty, variant, at)?;
        let fields = match fields {
            VariantExprEnum::Unit => &[][..],
            VariantExprEnum::Tuple(fields) => fields,
        };
        let (fields, cost) = self.all(fields)?;
        Ok((ExprKind::Variant(variant, fields), cost))
    }

    fn part(&mut self, expr: &TypedExpr, ty: &Ty, at: Span) -> Costed<ExprKind> {
        match &expr.inner {
            ExprEnum::ArrayAccess(whole, index) => {
                let secret = index_is_secret(index);
                let (whole, a) = self.boxed(whole)?;
                let (index, b) = self.boxed(index)?;
                let (_, count) = array(&whole.ty, at)?;
                let own = if secret { ty.width().saturating_mul(count.into()) } else { 0 };
                Ok((ExprKind::Index { array: whole, index, count }, sum(&[a, b, own])))
            }
            ExprEnum::TupleAccess(whole, index) => self.field(whole, &index.to_string(), at),
            ExprEnum::StructAccess(whole, field) => self.field(whole, field, at),
            _ => Err(SourceError::new(at, "this is no part of a value")),
        }
    }

    fn field(&mut self, whole: &TypedExpr, name: &str, at: Span) -> Costed<ExprKind> {
        let (whole, cost) = self.boxed(whole)?;
        let skip = words_before(&whole.ty, name, at)?;
        Ok((ExprKind::Field(whole, skip), cost))
    }

    fn operation(&mut self, expr: &TypedExpr) -> Costed<ExprKind> {
        Ok(match &expr.inner {
            ExprEnum::UnaryOp(UnaryOp::Not, x) => {
                let (x, cost) = self.boxed(x)?;
                (ExprKind::Not(x), cost)
            }
            ExprEnum::UnaryOp(UnaryOp::Neg, x) => {
                let (x, cost) = self.boxed(x)?;
                let own = x.ty.width();
                (ExprKind::Neg(x), cost.saturating_add(own))
            }
            ExprEnum::Cast(_, x) => {
                let (x, cost) = self.boxed(x)?;
                (ExprKind::Cast(x), cost)
            }
            ExprEnum::Op(op, x, y) => {
                let ((x, a), (y, b)) = (self.boxed(x)?, self.boxed(y)?);
                let known = matches!(x.kind, ExprKind::Constant(_)) || matches!(y.kind, ExprKind::Constant(_));
                // Indices are mostly known.
                let own = if x.ty.scalar() == Some(Scalar::USIZE) && expr.ty == ast_usize() {
                    0
                } else {
                    op_cost(*op, x.ty.width(), known)
                };
                let kind = match binary(*op) {
                    Some(op) => ExprKind::Binary(op, x, y),
                    None if *op == Op::ShortCircuitAnd => ExprKind::Both(x, y),
                    None => ExprKind::Either(x, y),
                };
                (kind, sum(&[a, b, own]))
            }
            _ => return Err(SourceError::new(span(expr.meta), "this is no operation")),
        })
    }

    fn match_arms(&mut self, value: &TypedExpr, arms: &[(TypedPattern, TypedExpr)], ty: &Ty) -> Costed<ExprKind> {
        let (value, mut cost) = self.boxed(value)?;
        let before = self.assignments;
        let mut list = Vec::new();
        for (pattern, body) in arms {
            self.scopes.push(HashMap::new());
            let pattern = self.pattern(pattern, &value.ty)?;
            let (body, own) = self.expr(body)?;
            self.scopes.pop();
            list.push((pattern, body));
            cost = sum(&[cost, own, ty.width()]);
        }
        let assigns = self.assignments > before;
        Ok((ExprKind::Match { value, arms: list, assigns }, cost))
    }
}

fn sum(costs: &[u64]) -> u64 {
    costs.iter().fold(0, |sum, &cost| sum.saturating_add(cost))
}

fn ast_usize() -> ast::Type {
    ast::Type::Unsigned(garble_lang::token::UnsignedNumType::Usize)
}

/// Tells whether an index looks as if it depended on inputs: it is converted from another type or read from somewhere.
fn index_is_secret(index: &TypedExpr) -> bool {
    match &index.inner {
        ExprEnum::Identifier(_) | ExprEnum::NumUnsigned(..) => false,
        ExprEnum::Op(_, x, y) => index_is_secret(x) || index_is_secret(y),
        _ => true,
    }
}

fn op_cost(op: Op, width: u64, known: bool) -> u64 {
    match op {
        Op::Mul if known => width * width / 4,
        Op::Mul => width * width,
        Op::Div | Op::Mod => width * width / 2,
        Op::ShiftLeft | Op::ShiftRight if known => 0,
        Op::ShiftLeft | Op::ShiftRight => width * 6,
        Op::BitXor => 0,
        Op::BitAnd | Op::BitOr if known => 0,
        _ => width,
    }
}

fn binary(op: Op) -> Option<BinaryOp> {
    Some(match op {
        Op::Add => BinaryOp::Add,
        Op::Sub => BinaryOp::Sub,
        Op::Mul => BinaryOp::Mul,
        Op::Div => BinaryOp::Div,
        Op::Mod => BinaryOp::Rem,
        Op::BitAnd => BinaryOp::And,
        Op::BitXor => BinaryOp::Xor,
        Op::BitOr => BinaryOp::Or,
        Op::GreaterThan => BinaryOp::Greater,
        Op::LessThan => BinaryOp::Less,
        Op::Eq => BinaryOp::Equal,
        Op::NotEq => BinaryOp::NotEqual,
        Op::ShiftLeft => BinaryOp::Shl,
        Op::ShiftRight => BinaryOp::Shr,
        Op::ShortCircuitAnd | Op::ShortCircuitOr => return None,
    })
}

fn array(ty: &Ty, at: Span) -> Result<(Ty, u32), SourceError> {
    match ty {
        Ty::Array(element, count) => Ok(((**element).clone(), *count)),
        _ => Err(SourceError::new(at, "this is no array")),
    }
}

pub(super) fn words_before(ty: &Ty, field: &str, at: Span) -> Result<usize, SourceError> {
    if let Ty::Record(fields) = ty
        && let Some(position) = fields.iter().position(|(name, _)| name == field)
    {
        return Ok(fields[..position].iter().map(|(_, ty)| ty.words()).sum());
    }
    Err(SourceError::new(at, format!("there is no field `{field}`")))
}

pub(super) fn variant_number(ty: &Ty, variant: &str, at: Span) -> Result<u32, SourceError> {
    if let Ty::Enum(e) = ty
        && let Some(number) = e.variants.iter().position(|(name, _)| name == variant)
    {
        return Ok(number as u32);
    }
    Err(SourceError::new(at, format!("there is no variant `{variant}`")))
}
