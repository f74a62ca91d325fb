//! Blocks and statements.

use super::{Parsed, Parser};
use crate::{
    front::{
        ast::{Expr, ExprKind, Op, Place, Step, StepKind, Stmt, StmtKind, Type},
        scanner::Kind,
    },
    source_error::SourceError,
    tree::Span,
};

impl Parser<'_> {
    /// `{ STATEMENTS }`: its statements, and its end.
    pub(super) fn block(&mut self) -> Parsed<(Vec<Stmt>, Span)> {
        let begin = self.expect("{")?;
        self.nested("move inner blocks to functions", |parser| {
            let outer = std::mem::replace(&mut parser.structs_allowed, true);
            parser.names.enter();
            let body = parser.side_by_side(|parser| {
                while parser.eat(";").is_some() {}
                match parser.peek() {
                    Kind::Symbol("}") => Ok(None),
                    Kind::End => {
                        Err(SourceError::new(begin, "this `{` is never closed").hint("end the block with `}`"))
                    }
                    _ => parser.statement().map(Some),
                }
            })?;
            parser.names.leave();
            parser.structs_allowed = outer;
            Ok((body, parser.expect("}")?))
        })
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        match self.peek() {
            Kind::Word("let") => self.let_statement(),
            Kind::Word("for") => self.for_statement(),
            _ => {
                let (mut statement, is_block) = self.effect()?;
                let ended = self.eat(";").is_some();
                if !ended && !is_block && !self.is("}") && self.peek() != Kind::End {
                    return Err(self.after_expression());
                }
                if ended && let StmtKind::Expr(value) = statement.kind {
                    statement.kind = StmtKind::Effect(value);
                }
                Ok(statement)
            }
        }
    }

    /// The fault after an expression that should have ended.
    fn after_expression(&self) -> SourceError {
        let fault = self.missing("`;`");
        match self.peek() {
            Kind::Symbol("!") => fault.hint("there are no macros"),
            Kind::Symbol(":") => fault.hint("declare a variable with `let`"),
            Kind::Symbol(".." | "..=") => fault.hint("the ends of a range are numbers or constants"),
            _ => fault,
        }
    }

    /// `let PATTERN: TYPE = VALUE;` or `let mut NAME: TYPE = VALUE;`
    fn let_statement(&mut self) -> Parsed<Stmt> {
        let begin = self.next().span;
        let mutable = match self.eat_word("mut") {
            Some(_) => {
                let (name, at) = self.name("the name of a variable")?;
                Some(self.variable_name(&name, at)?)
            }
            None => None,
        };
        let pattern = if mutable.is_none() { Some(self.pattern()?) } else { None };
        let declared = self.names.take_waiting();
        let ty = match self.eat(":") {
            Some(_) => Some(self.ty()?.0),
            None => None,
        };
        if self.is(";") {
            return Err(self.unexpected("`=`").hint("a variable has a value from the beginning"));
        }
        self.expect("=")?;
        let value = self.expression()?;
        self.names.declare_all(declared);
        let at = begin.to(value.span);
        if self.eat(";").is_none() {
            return Err(self.after_expression());
        }
        Ok(match (mutable, pattern) {
            (Some(name), _) => Stmt { kind: StmtKind::LetMut(name, ty, value), span: at },
            (None, Some(pattern)) => Stmt { kind: StmtKind::Let(pattern, ty, value), span: at },
            (None, None) => return Err(self.unexpected("a pattern")),
        })
    }

    /// `for PATTERN in ARRAY { .. }`
    fn for_statement(&mut self) -> Parsed<Stmt> {
        let begin = self.next().span;
        let pattern = self.pattern()?;
        let declared = self.names.take_waiting();
        if self.eat_word("in").is_none() {
            return Err(self.unexpected("`in`").hint("`for x in array { .. }` or `for k in 0..8 { .. }`"));
        }
        let over = self.condition()?;
        self.names.enter();
        self.names.declare_all(declared);
        let (body, end) = self.block()?;
        self.names.leave();
        Ok(Stmt { kind: StmtKind::For(pattern, over, body), span: begin.to(end) })
    }

    /// The statement of an arm of a `match`, and whether it ends in a block.
    pub(super) fn arm(&mut self) -> Parsed<(Stmt, bool)> {
        match self.peek() {
            Kind::Word("for") => Ok((self.for_statement()?, true)),
            Kind::Word("let") => {
                Err(self.unexpected("an expression").hint("put braces around statements: `=> { .. }`"))
            }
            _ => self.effect(),
        }
    }

    /// An expression or an assignment without the semicolon, and whether it needs none.
    fn effect(&mut self) -> Parsed<(Stmt, bool)> {
        // As in Rust, a block ends the statement.
        let is_block = matches!(self.peek(), Kind::Word("if" | "match") | Kind::Symbol("{"));
        let target = if is_block { self.unary()? } else { self.expression()? };
        if let ExprKind::Push(list, value) = target.kind {
            let span = target.span;
            let Some(place) = place(*list) else {
                let fault = SourceError::new(span, "expected a mutable list before `.push(..)`, got another value");
                return Err(fault.hint("push to a variable, or to an element `a[k]` or a field `s.x` of one"));
            };
            return Ok((Stmt { kind: StmtKind::Push(place, *value), span }, false));
        }
        let Kind::Symbol(symbol) = self.peek() else {
            let at = target.span;
            return Ok((Stmt { kind: StmtKind::Expr(target), span: at }, is_block));
        };
        let op = match symbol {
            "=" => None,
            _ => match compound(symbol) {
                Some(op) => Some(op),
                None => {
                    let at = target.span;
                    return Ok((Stmt { kind: StmtKind::Expr(target), span: at }, is_block));
                }
            },
        };
        let (begin, sign) = (target.span, self.next().span);
        let Some(place) = place(target) else {
            let fault = SourceError::new(sign, "cannot assign to the expression before this sign");
            return Err(fault
                .hint("assign to a variable, or to an element `a[k]` or a field `s.x` of one; use `==` to compare"));
        };
        let value = self.expression()?;
        let span = begin.to(value.span);
        let kind = match op {
            Some(op) => StmtKind::Update(place, op, value),
            None => StmtKind::Assign(place, value),
        };
        Ok((Stmt { kind, span }, false))
    }
}

/// The place that an expression is, if it can be assigned to.
fn place(mut target: Expr) -> Option<Place> {
    let mut steps = Vec::new();
    loop {
        let span = target.span;
        let (kind, whole) = match target.kind {
            ExprKind::Variable(variable) => {
                steps.reverse();
                return Some(Place { variable, steps, of: Type::Unknown });
            }
            ExprKind::Index(array, index) => (StepKind::Index(*index), array),
            ExprKind::Position(tuple, index) => (StepKind::Position(index), tuple),
            ExprKind::Field(whole, field) => (StepKind::Field(field), whole),
            _ => return None,
        };
        steps.push(Step { kind, span, of: Type::Unknown });
        target = *whole;
    }
}

/// The operator of `+=` and the like.
fn compound(symbol: &str) -> Option<Op> {
    Some(match symbol {
        "+=" => Op::Add,
        "-=" => Op::Sub,
        "*=" => Op::Mul,
        "/=" => Op::Div,
        "%=" => Op::Rem,
        "^=" => Op::BitXor,
        "&=" => Op::BitAnd,
        "|=" => Op::BitOr,
        ">>=" => Op::ShiftRight,
        "<<=" => Op::ShiftLeft,
        _ => return None,
    })
}
