//! Blocks and statements.

use garble_lang::{
    UntypedExpr, UntypedStmt,
    ast::{Accessor, Expr, ExprEnum, Op, Pattern, PatternEnum, Stmt, StmtEnum},
    token::MetaInfo,
};

use super::{Parsed, Parser, join, meta};
use crate::{front::scanner::Kind, source_error::SourceError, tree::Span};

/// The steps from a variable to a part of it.
type Steps = Vec<(Accessor<()>, MetaInfo)>;

impl Parser<'_> {
    /// `{ STATEMENTS }`: its statements, and its end.
    pub(super) fn block(&mut self) -> Parsed<(Vec<UntypedStmt>, Span)> {
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

    fn statement(&mut self) -> Parsed<UntypedStmt> {
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
    fn let_statement(&mut self) -> Parsed<UntypedStmt> {
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
        let at = join(meta(begin, begin), value.meta);
        if self.eat(";").is_none() {
            return Err(self.after_expression());
        }
        Ok(match (mutable, pattern) {
            (Some(name), _) => Stmt::new(StmtEnum::LetMut(name, ty, value), at),
            (None, Some(pattern)) => Stmt::new(StmtEnum::Let(pattern, ty, value), at),
            (None, None) => return Err(self.unexpected("a pattern")),
        })
    }

    /// `for PATTERN in ARRAY { .. }`
    fn for_statement(&mut self) -> Parsed<UntypedStmt> {
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
        Ok(Stmt::new(StmtEnum::ForEachLoop(pattern, over, body), meta(begin, end)))
    }

    /// The statement of an arm of a `match`, and whether it ends in a block.
    pub(super) fn arm(&mut self) -> Parsed<(UntypedStmt, bool)> {
        match self.peek() {
            Kind::Word("for") => Ok((self.for_statement()?, true)),
            Kind::Word("let") => {
                Err(self.unexpected("an expression").hint("put braces around statements: `=> { .. }`"))
            }
            _ => self.effect(),
        }
    }

    /// An expression or an assignment without the semicolon, and whether it needs none.
    fn effect(&mut self) -> Parsed<(UntypedStmt, bool)> {
        let is_block = matches!(self.peek(), Kind::Word("if" | "match") | Kind::Symbol("{"));
        let target = if is_block { self.block_statement()? } else { self.expression()? };
        let Kind::Symbol(symbol) = self.peek() else {
            let at = target.meta;
            return Ok((Stmt::new(StmtEnum::Expr(target), at), is_block));
        };
        let op = match symbol {
            "=" => None,
            _ => match compound(symbol) {
                Some(op) => Some(op),
                None => {
                    let at = target.meta;
                    return Ok((Stmt::new(StmtEnum::Expr(target), at), is_block));
                }
            },
        };
        let (begin, sign) = (target.meta, self.next().span);
        let Some((name, steps)) = path(target) else {
            let fault = SourceError::new(sign, "what is before this sign cannot be assigned to");
            return Err(fault.hint("a variable, an element `a[k]` or a field `s.x` of one; `==` compares"));
        };
        let value = self.expression()?;
        let at = join(begin, value.meta);
        Ok((assignment(name, steps, op, value, at), false))
    }
}

/// `NAME STEPS = VALUE`, or `op=`. Indices that are more than names and numbers are evaluated once, before.
fn assignment(name: String, mut steps: Steps, op: Option<Op>, value: UntypedExpr, at: MetaInfo) -> UntypedStmt {
    let Some(op) = op else { return Stmt::new(StmtEnum::VarAssign(name, steps, value), at) };
    let mut before = Vec::new();
    let mut target = Expr::untyped(ExprEnum::Identifier(name.clone()), at);
    for (step, step_at) in &mut steps {
        let inner = match step {
            Accessor::ArrayAccess { index, .. } => {
                if !matches!(index.inner, ExprEnum::Identifier(_) | ExprEnum::NumUnsigned(..)) {
                    // No name in a source has a blank.
                    let name = format!("index {}", before.len());
                    let by_name = Expr::untyped(ExprEnum::Identifier(name.clone()), index.meta);
                    let value = std::mem::replace(index, by_name);
                    let pattern = Pattern::untyped(PatternEnum::Identifier(name), value.meta);
                    before.push(Stmt::new(StmtEnum::Let(pattern, None, value), *step_at));
                }
                ExprEnum::ArrayAccess(Box::new(target), Box::new(index.clone()))
            }
            Accessor::TupleAccess { index, .. } => ExprEnum::TupleAccess(Box::new(target), *index),
            Accessor::StructAccess { field, .. } => ExprEnum::StructAccess(Box::new(target), field.clone()),
        };
        target = Expr::untyped(inner, *step_at);
    }
    let value = Expr::untyped(ExprEnum::Op(op, Box::new(target), Box::new(value)), at);
    let assign = Stmt::new(StmtEnum::VarAssign(name, steps, value), at);
    if before.is_empty() {
        return assign;
    }
    before.push(assign);
    Stmt::new(StmtEnum::Expr(Expr::untyped(ExprEnum::Block(before), at)), at)
}

/// The variable and the steps of an expression that can be assigned to.
fn path(mut target: UntypedExpr) -> Option<(String, Steps)> {
    let mut steps = Vec::new();
    loop {
        let at = target.meta;
        let (step, whole) = match target.inner {
            ExprEnum::Identifier(name) => {
                steps.reverse();
                return Some((name, steps));
            }
            ExprEnum::ArrayAccess(array, index) => (Accessor::ArrayAccess { array_ty: (), index: *index }, array),
            ExprEnum::TupleAccess(tuple, index) => (Accessor::TupleAccess { tuple_ty: (), index }, tuple),
            ExprEnum::StructAccess(whole, field) => (Accessor::StructAccess { struct_ty: (), field }, whole),
            _ => return None,
        };
        steps.push((step, at));
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
        "%=" => Op::Mod,
        "^=" => Op::BitXor,
        "&=" => Op::BitAnd,
        "|=" => Op::BitOr,
        ">>=" => Op::ShiftRight,
        "<<=" => Op::ShiftLeft,
        _ => return None,
    })
}
