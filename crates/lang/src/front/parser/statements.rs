//! Blocks and statements.

use super::{Parsed, Parser};
use crate::{
    front::{
        ast::{Expr, ExprKind, Op, Pattern, PatternKind, Place, Step, StepKind, Stmt, StmtKind, Type},
        scanner::Kind,
    },
    source_error::SourceError,
    tree::Span,
};

impl Parser<'_> {
    /// `{ STATEMENTS }`: its statements, and its end.
    pub(super) fn block(&mut self) -> Parsed<(Vec<Stmt>, Span)> {
        let begin = self.expect("{")?;
        self.nested(|parser| {
            let outer = std::mem::replace(&mut parser.structs_allowed, true);
            parser.names.enter();
            let body = parser.side_by_side(|parser| {
                while parser.eat(";").is_some() {}
                match parser.peek() {
                    Kind::Symbol("}") => Ok(None),
                    Kind::End => Err(SourceError::new(begin, "this `{` is never closed")),
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
                let (statement, is_block) = self.effect()?;
                if !is_block && !self.is("}") && self.peek() != Kind::End && self.eat(";").is_none() {
                    return Err(self.after_expression());
                }
                Ok(statement)
            }
        }
    }

    /// The fault behind an expression that should have ended.
    fn after_expression(&self) -> SourceError {
        let fault = self.missing("`;`");
        match self.peek() {
            Kind::Symbol("!") => fault.hint("there are no macros"),
            Kind::Symbol(":") => fault.hint("a variable begins with `let`"),
            Kind::Symbol("..") | Kind::Symbol("..=") => fault.hint("the ends of a range are numbers or constants"),
            _ => fault,
        }
    }

    /// `let PATTERN: TYPE = VALUE;` or `let mut NAME: TYPE = VALUE;`
    fn let_statement(&mut self) -> Parsed<Stmt> {
        let begin = self.next().span;
        let mutable = match self.eat_word("mut") {
            Some(_) => {
                let (name, _) = self.name("the name of a variable")?;
                Some(self.names.new_name(&name))
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
        let is_block = matches!(self.peek(), Kind::Word("if" | "match") | Kind::Symbol("{"));
        let target = if is_block { self.block_statement()? } else { self.expression()? };
        if let ExprKind::Push(list, value) = target.kind {
            let span = target.span;
            let Some(place) = place(*list) else {
                return Err(SourceError::new(span, "this is no variable that has room for one more"));
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
            let fault = SourceError::new(sign, "what is before this sign cannot be assigned to");
            return Err(fault.hint("a variable, an element `a[k]` or a field `s.x` of one; `==` compares"));
        };
        let value = self.expression()?;
        let at = begin.to(value.span);
        Ok((assignment(place, op, value, at), false))
    }
}

/// `PLACE = VALUE`, or `op=`. Indices that are more than names and numbers are evaluated once, before.
fn assignment(mut place: Place, op: Option<Op>, value: Expr, at: Span) -> Stmt {
    let Some(op) = op else { return Stmt { kind: StmtKind::Assign(place, value), span: at } };
    let mut before = Vec::new();
    let mut target = Expr::new(ExprKind::Variable(place.variable.clone()), at);
    for step in &mut place.steps {
        let kind = match &mut step.kind {
            StepKind::Index(index) => {
                if !matches!(index.kind, ExprKind::Variable(_) | ExprKind::Number(..)) {
                    // No name in a source has a blank.
                    let name = format!("index {}", before.len());
                    let by_name = Expr::new(ExprKind::Variable(name.clone()), index.span);
                    let value = std::mem::replace(index, by_name);
                    let pattern = Pattern::new(PatternKind::Bind(name), value.span);
                    before.push(Stmt { kind: StmtKind::Let(pattern, None, value), span: step.span });
                }
                ExprKind::Index(Box::new(target), Box::new(index.clone()))
            }
            StepKind::Position(index) => ExprKind::Position(Box::new(target), *index),
            StepKind::Field(field) => ExprKind::Field(Box::new(target), field.clone()),
        };
        target = Expr::new(kind, step.span);
    }
    let value = Expr::new(ExprKind::Op(op, Box::new(target), Box::new(value)), at);
    let assign = Stmt { kind: StmtKind::Assign(place, value), span: at };
    if before.is_empty() {
        return assign;
    }
    before.push(assign);
    Stmt { kind: StmtKind::Expr(Expr::new(ExprKind::Block(before), at)), span: at }
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
