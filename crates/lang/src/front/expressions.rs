//! Statements and expressions, each with an estimate of its AND gates.

use std::collections::HashMap;

use super::{
    Context,
    ast::{self, Fields, Int, Op},
    check::{is_built_in, is_of_rows},
};
use crate::{
    arithmetic::wrap,
    number::{ONE, ZERO},
    source_error::SourceError,
    tree::{Access, BinaryOp, Expr, ExprKind, Loop, Over, Pattern, PatternKind, Scalar, Span, Stmt, StmtKind, Ty},
};

/// An expression and the AND gates of it, about.
type Costed<T> = Result<(T, u64), SourceError>;

impl Context<'_> {
    /// The statements of a block, in a scope of their own.
    pub(super) fn block(&mut self, body: &[ast::Stmt]) -> Costed<Vec<Stmt>> {
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

    fn stmt(&mut self, stmt: &ast::Stmt) -> Costed<Stmt> {
        let at = stmt.span;
        let (kind, cost) = match &stmt.kind {
            ast::StmtKind::Let(pattern, _, value) => {
                let (value, cost) = self.expr(value)?;
                let pattern = self.certain(pattern, &value.ty)?;
                (StmtKind::Let(pattern, value), cost)
            }
            ast::StmtKind::LetMut(name, _, value) => {
                let (value, cost) = self.expr(value)?;
                let kind = PatternKind::Bind(self.declare(name));
                (StmtKind::Let(Pattern { kind }, value), cost)
            }
            ast::StmtKind::Assign(place, value) => {
                let (variable, steps, places) = self.place(place, at)?;
                let (value, cost) = self.expr(value)?;
                let writes = if places > 1 { places.saturating_mul(value.ty.width()) } else { 0 };
                (StmtKind::Assign(variable, steps, value), cost.saturating_add(writes))
            }
            ast::StmtKind::Push(place, value) => {
                let (variable, steps, places) = self.place(place, at)?;
                let (value, cost) = self.expr(value)?;
                let (_, most) = array(&self.ty(&place.of, at)?, at)?;
                let writes = places.saturating_mul(value.ty.width()).saturating_mul(most.into());
                (StmtKind::Push(variable, steps, most, value), cost.saturating_add(writes))
            }
            ast::StmtKind::For(pattern, over, body) => {
                let (over, once) = match &over.kind {
                    ast::ExprKind::Range(from, to, _) => (Over::Range(*from, *to), 0),
                    ast::ExprKind::Call(name, arguments) if name == "join_iter" => {
                        let (a, b, cost) = self.two(arguments, at)?;
                        (Over::Join(a, b), cost)
                    }
                    _ => {
                        let (over, cost) = self.expr(over)?;
                        (Over::Array(over), cost)
                    }
                };
                self.repeat(pattern, over, body, once)?
            }
            ast::StmtKind::Expr(value) => {
                let (value, cost) = self.expr(value)?;
                (StmtKind::Expr(value), cost)
            }
        };
        Ok((Stmt { kind, span: at }, cost))
    }

    /// Both arguments of a join, and what they cost.
    fn two(&mut self, arguments: &[ast::Expr], at: Span) -> Result<(Expr, Expr, u64), SourceError> {
        let [a, b] = arguments else {
            return Err(SourceError::new(at, format!("expected 2 arguments, got {}", arguments.len())));
        };
        let ((a, cost_a), (b, cost_b)) = (self.expr(a)?, self.expr(b)?);
        Ok((a, b, cost_a.saturating_add(cost_b)))
    }

    /// A variable that is changed, the steps into it, and how many places these may lead to.
    fn place(&mut self, place: &ast::Place, at: Span) -> Result<(u32, Vec<Access>, u64), SourceError> {
        let variable = self.variable_at(&place.variable, at)?;
        self.assignments += 1;
        let mut steps = Vec::new();
        let mut places = 1u64;
        for step in &place.steps {
            let of = self.ty(&step.of, step.span)?;
            steps.push(match &step.kind {
                ast::StepKind::Index(index) => {
                    let (element, count) = array(&of, step.span)?;
                    if index_is_secret(index) {
                        places = places.saturating_mul(count.into());
                    }
                    let (index, _) = self.expr(index)?;
                    let list = matches!(of, Ty::List(..));
                    Access::Index { index, count, words: element.words(), list }
                }
                ast::StepKind::Position(index) => Access::Field(words_before(&of, &index.to_string(), step.span)?),
                ast::StepKind::Field(field) => Access::Field(words_before(&of, field, step.span)?),
            });
        }
        Ok((variable, steps, places))
    }

    fn repeat(&mut self, pattern: &ast::Pattern, over: Over, body: &[ast::Stmt], once: u64) -> Costed<StmtKind> {
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

    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Costed<Expr> {
        let at = expr.span;
        let ty = self.ty(&expr.ty, at)?;
        let (kind, cost) = self.kind(expr, &ty, at)?;
        Ok((Expr { kind, ty, span: at }, cost))
    }

    fn boxed(&mut self, expr: &ast::Expr) -> Costed<Box<Expr>> {
        self.expr(expr).map(|(expr, cost)| (Box::new(expr), cost))
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e ast::Expr>) -> Costed<Vec<Expr>> {
        let mut list = Vec::new();
        let mut sum = 0u64;
        for expr in exprs {
            let (expr, cost) = self.expr(expr)?;
            list.push(expr);
            sum = sum.saturating_add(cost);
        }
        Ok((list, sum))
    }

    fn kind(&mut self, expr: &ast::Expr, ty: &Ty, at: Span) -> Costed<ExprKind> {
        Ok(match &expr.kind {
            ast::ExprKind::Bool(value) => (ExprKind::Constant(if *value { ONE } else { ZERO }), 0),
            ast::ExprKind::Number(value, _) => {
                (ExprKind::Constant(ty.scalar().map_or(*value, |ty| wrap(*value, ty))), 0)
            }
            ast::ExprKind::Decimal(decimal) => {
                let fraction = ty.scalar().and_then(|ty| ty.fraction).unwrap_or_default();
                (ExprKind::Constant(decimal.scaled(fraction)), 0)
            }
            ast::ExprKind::Variable(name) => match (self.variable(name), self.constants.get(name)) {
                (Some(variable), _) => (ExprKind::Var(variable), 0),
                (None, Some(&value)) => (ExprKind::Constant(value), 0),
                (None, None) => return Err(SourceError::new(at, format!("there is no variable `{name}`"))),
            },
            ast::ExprKind::Array(parts) | ast::ExprKind::Tuple(parts) => {
                let (parts, cost) = self.all(parts)?;
                (ExprKind::List(parts), cost)
            }
            ast::ExprKind::ToList(array) => self.list(array, ty, at)?,
            ast::ExprKind::Len(x) => {
                let (x, cost) = self.boxed(x)?;
                match &x.ty {
                    Ty::Array(_, count) => (ExprKind::Constant((*count).into()), 0),
                    _ => (ExprKind::Len(x), cost),
                }
            }
            ast::ExprKind::Push(..) => return Err(SourceError::new(at, "`push` has no value")),
            ast::ExprKind::Repeat(element, _) => {
                let (_, count) = array(ty, at)?;
                let (element, cost) = self.boxed(element)?;
                (ExprKind::Repeat(element, count), cost)
            }
            ast::ExprKind::Range(from, to, _) => (ExprKind::Range(*from, *to), 0),
            ast::ExprKind::Struct(_, fields) => self.struct_literal(fields, ty, at)?,
            ast::ExprKind::Variant(_, variant, fields) => self.enum_literal(variant, fields, ty, at)?,
            ast::ExprKind::Index(..) | ast::ExprKind::Position(..) | ast::ExprKind::Field(..) => {
                self.part(expr, ty, at)?
            }
            ast::ExprKind::Not(_) | ast::ExprKind::Neg(_) | ast::ExprKind::Op(..) | ast::ExprKind::Cast(..) => {
                self.operation(expr)?
            }
            ast::ExprKind::Block(body) => {
                let (body, cost) = self.block(body)?;
                (ExprKind::Block(body), cost)
            }
            ast::ExprKind::If(condition, then, other) => {
                let (condition, a) = self.boxed(condition)?;
                let (then, b) = self.boxed(then)?;
                let (other, c) = self.boxed(other)?;
                (ExprKind::If(condition, then, other), sum(&[a, b, c, ty.width()]))
            }
            ast::ExprKind::Match(value, arms) => self.match_arms(value, arms, ty)?,
            ast::ExprKind::Call(name, arguments) if self.takes_rows(name) => self.of_rows(name, arguments, ty, at)?,
            ast::ExprKind::Call(name, arguments) if is_built_in(name) && !self.program.functions.contains_key(name) => {
                self.built_in(name, arguments)?
            }
            ast::ExprKind::Call(name, arguments) => {
                let function = self.function_named(name, at)?;
                let before = self.assignments;
                let (arguments, cost) = self.all(arguments)?;
                let cost = cost.saturating_add(self.functions[function as usize].cost);
                let assigns = self.assignments > before;
                (ExprKind::Call { function, arguments, assigns }, cost)
            }
        })
    }

    /// An array as a list.
    fn list(&mut self, array: &ast::Expr, ty: &Ty, at: Span) -> Costed<ExprKind> {
        let Ty::List(_, most) = ty else { return Err(SourceError::new(at, "this is no list")) };
        if matches!(&array.ty, ast::Type::Array(_, ast::Size::Number(0))) {
            return Ok((ExprKind::ToList(None), 0));
        }
        let (whole, cost) = self.boxed(array)?;
        let (_, count) = self::array(&whole.ty, at)?;
        match count > *most {
            true => Err(SourceError::new(at, format!("expected at most {most} elements, got {count}"))),
            false => Ok((ExprKind::ToList(Some(whole)), cost)),
        }
    }

    fn takes_rows(&self, name: &str) -> bool {
        name == "join" || is_of_rows(name) && !self.program.functions.contains_key(name)
    }

    /// `join(a, b)`, `sort(rows)` or `keep(rows)`.
    fn of_rows(&mut self, name: &str, arguments: &[ast::Expr], ty: &Ty, at: Span) -> Costed<ExprKind> {
        if name == "join" {
            let (a, b, cost) = self.two(arguments, at)?;
            return Ok((ExprKind::Join(a.into(), b.into()), sum(&[cost, ty.width().saturating_mul(16)])));
        }
        let [rows] = arguments else {
            return Err(SourceError::new(at, format!("expected 1 argument, got {}", arguments.len())));
        };
        let (rows, cost) = self.boxed(rows)?;
        let own = rows.ty.width().saturating_mul(32);
        Ok((if name == "sort" { ExprKind::Sort(rows) } else { ExprKind::Keep(rows) }, sum(&[cost, own])))
    }

    /// `min(a, b)`, `max(a, b)` or `sqrt(a)`.
    fn built_in(&mut self, name: &str, arguments: &[ast::Expr]) -> Costed<ExprKind> {
        let (mut arguments, cost) = self.all(arguments)?;
        let width = arguments[0].ty.width();
        let fraction = arguments[0].ty.scalar().and_then(|ty| ty.fraction).unwrap_or_default();
        let first = Box::new(arguments.remove(0));
        Ok(match arguments.pop() {
            Some(second) => (ExprKind::Extreme(name == "max", first, second.into()), sum(&[cost, 2 * width])),
            None => (ExprKind::Root(first), sum(&[cost, (width + u64::from(fraction)).pow(2) / 8])),
        })
    }

    fn struct_literal(&mut self, fields: &[(String, ast::Expr)], ty: &Ty, at: Span) -> Costed<ExprKind> {
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

    fn enum_literal(&mut self, variant: &str, fields: &Fields<ast::Expr>, ty: &Ty, at: Span) -> Costed<ExprKind> {
        let variant = variant_number(ty, variant, at)?;
        let (parts, cost) = self.all(fields.all())?;
        let parts = match (fields, ty) {
            // Named fields are one record.
            (Fields::Named(_), Ty::Enum(e)) => {
                let ty = e.variants[variant as usize].1[0].clone();
                vec![Expr { kind: ExprKind::List(parts), ty, span: at }]
            }
            _ => parts,
        };
        Ok((ExprKind::Variant(variant, parts), cost))
    }

    fn part(&mut self, expr: &ast::Expr, ty: &Ty, at: Span) -> Costed<ExprKind> {
        match &expr.kind {
            ast::ExprKind::Index(whole, index) => {
                let secret = index_is_secret(index);
                let (whole, a) = self.boxed(whole)?;
                let (index, b) = self.boxed(index)?;
                let (_, count) = array(&whole.ty, at)?;
                let own = if secret { ty.width().saturating_mul(count.into()) } else { 0 };
                Ok((ExprKind::Index { array: whole, index, count }, sum(&[a, b, own])))
            }
            ast::ExprKind::Position(whole, index) => self.field(whole, &index.to_string(), at),
            ast::ExprKind::Field(whole, field) => self.field(whole, field, at),
            _ => Err(SourceError::new(at, "this is no part of a value")),
        }
    }

    fn field(&mut self, whole: &ast::Expr, name: &str, at: Span) -> Costed<ExprKind> {
        let (whole, cost) = self.boxed(whole)?;
        let skip = words_before(&whole.ty, name, at)?;
        Ok((ExprKind::Field(whole, skip), cost))
    }

    fn operation(&mut self, expr: &ast::Expr) -> Costed<ExprKind> {
        Ok(match &expr.kind {
            ast::ExprKind::Not(x) => {
                let (x, cost) = self.boxed(x)?;
                (ExprKind::Not(x), cost)
            }
            ast::ExprKind::Neg(x) => {
                let (x, cost) = self.boxed(x)?;
                let own = x.ty.width();
                (ExprKind::Neg(x), cost.saturating_add(own))
            }
            ast::ExprKind::Cast(_, x) => {
                let (x, cost) = self.boxed(x)?;
                (ExprKind::Cast(x), cost)
            }
            ast::ExprKind::Op(op, x, y) => {
                let ((x, a), (y, b)) = (self.boxed(x)?, self.boxed(y)?);
                let known = matches!(x.kind, ExprKind::Constant(_)) || matches!(y.kind, ExprKind::Constant(_));
                // Indices are mostly known.
                let fraction = x.ty.scalar().and_then(|ty| ty.fraction).unwrap_or_default();
                let own = if x.ty.scalar() == Some(Scalar::USIZE) && expr.ty == ast::Type::Int(Int::Usize) {
                    0
                } else {
                    op_cost(*op, x.ty.width() + u64::from(fraction), known)
                };
                let kind = match binary(*op) {
                    Some(op) => ExprKind::Binary(op, x, y),
                    None if *op == Op::Both => ExprKind::Both(x, y),
                    None => ExprKind::Either(x, y),
                };
                (kind, sum(&[a, b, own]))
            }
            _ => return Err(SourceError::new(expr.span, "this is no operation")),
        })
    }

    fn match_arms(&mut self, value: &ast::Expr, arms: &[(ast::Pattern, ast::Expr)], ty: &Ty) -> Costed<ExprKind> {
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

/// Tells whether an index looks as if it depended on inputs: it is converted from another type or read from somewhere.
fn index_is_secret(index: &ast::Expr) -> bool {
    match &index.kind {
        ast::ExprKind::Variable(_) | ast::ExprKind::Number(..) => false,
        ast::ExprKind::Op(_, x, y) => index_is_secret(x) || index_is_secret(y),
        _ => true,
    }
}

fn op_cost(op: Op, width: u64, known: bool) -> u64 {
    match op {
        Op::Mul if known => width * width / 4,
        Op::Mul => width * width,
        Op::Div | Op::Rem => width * width / 2,
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
        Op::Rem => BinaryOp::Rem,
        Op::BitAnd => BinaryOp::And,
        Op::BitXor => BinaryOp::Xor,
        Op::BitOr => BinaryOp::Or,
        Op::Greater => BinaryOp::Greater,
        Op::Less => BinaryOp::Less,
        Op::Equal => BinaryOp::Equal,
        Op::NotEqual => BinaryOp::NotEqual,
        Op::ShiftLeft => BinaryOp::Shl,
        Op::ShiftRight => BinaryOp::Shr,
        Op::Both | Op::Either => return None,
    })
}

fn array(ty: &Ty, at: Span) -> Result<(Ty, u32), SourceError> {
    match ty {
        Ty::Array(element, count) | Ty::List(element, count) => Ok(((**element).clone(), *count)),
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
