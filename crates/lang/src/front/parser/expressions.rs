//! Operators, conditions and matches.

use super::{Parsed, Parser, USE_LET};
use crate::{
    front::{
        ast::{Expr, ExprKind, Literal, Op, Stmt, StmtKind},
        elsewhere,
        scanner::Kind,
    },
    source_error::SourceError,
    tree::Span,
};

/// Binary operators, the loosest first; those on one line have the same precedence and associate to the left.
const LEVELS: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["==", "!=", "<", ">", "<=", ">="],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];
/// The level of comparisons, which cannot be chained without brackets.
const COMPARISONS: usize = 2;

impl Parser<'_> {
    /// An expression; ranges bind loosest.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let first = self.cast()?;
        let value = self.operators_behind(first, 0)?;
        match self.is("..") || self.is("..=") {
            true => match self.constant_of(&value) {
                Some(from) => self.range(from),
                None => Ok(value),
            },
            false => Ok(value),
        }
    }

    /// An expression before a `{` that is not part of it.
    pub(super) fn condition(&mut self) -> Parsed<Expr> {
        let outer = std::mem::replace(&mut self.structs_allowed, false);
        let condition = self.expression()?;
        self.structs_allowed = outer;
        match self.peek() {
            Kind::Symbol("{") => Ok(condition),
            Kind::Symbol("=") => Err(self.unexpected("`{`").hint("use `==` to compare")),
            Kind::Symbol(".." | "..=") => {
                Err(self.unexpected("`{`").hint("the ends of a range are numbers or constants, as `0..8` or `0..N`"))
            }
            _ => Err(self.unexpected("`{`")),
        }
    }

    /// `left` and the operators after it that bind at level `least` or tighter.
    fn operators_behind(&mut self, mut left: Expr, least: usize) -> Parsed<Expr> {
        let mut before = None;
        while let Kind::Symbol(symbol) = self.peek() {
            let Some(level) = LEVELS.iter().position(|level| level.contains(&symbol)).filter(|&level| level >= least)
            else {
                break;
            };
            if level == COMPARISONS && before == Some(COMPARISONS) {
                let fault = SourceError::new(self.ahead(0).span, "comparisons cannot be chained");
                return Err(fault.hint("write `a < b && b < c`, or `(a < b) == c`"));
            }
            self.next();
            self.operator()?;
            let first = self.cast()?;
            let right = self.operators_behind(first, level + 1)?;
            let at = left.span.to(right.span);
            left = operation(symbol, left, right, at);
            before = Some(level);
        }
        Ok(left)
    }

    fn cast(&mut self) -> Parsed<Expr> {
        let mut value = self.unary()?;
        while self.eat_word("as").is_some() {
            self.operator()?;
            let (ty, end) = self.ty()?;
            let at = value.span.to(end);
            value = Expr::new(ExprKind::Cast(ty, Box::new(value)), at);
        }
        Ok(value)
    }

    pub(super) fn unary(&mut self) -> Parsed<Expr> {
        self.nested(USE_LET, |parser| {
            let begin = parser.ahead(0).span;
            let op = match parser.peek() {
                // `-1.5.abs()` is the negative of a method's result.
                Kind::Symbol("-")
                    if matches!(parser.ahead(1).kind, Kind::Number(_) | Kind::Decimal(..))
                        && parser.ahead(2).kind != Kind::Symbol(".") =>
                {
                    return parser.primary();
                }
                Kind::Symbol("-") => ExprKind::Neg,
                Kind::Symbol("!") => ExprKind::Not,
                Kind::Symbol("&" | "&&" | "*") => {
                    return Err(parser.unexpected("an expression").hint("values are copied, there are no references"));
                }
                Kind::Word("if") => return parser.conditional(),
                Kind::Word("match") => return parser.matching(),
                _ => return parser.primary(),
            };
            let minus = parser.next().kind == Kind::Symbol("-");
            let mut value = parser.unary()?;
            let at = begin.to(value.span);
            // `-(128i8)` is a literal, as `-128i8` is.
            if let (true, ExprKind::Number(literal)) = (minus, &mut value.kind)
                && !literal.minus
            {
                *literal = Literal { value: -literal.value, minus: true, ..*literal };
                return Ok(Expr { span: at, ..value });
            }
            Ok(Expr::new(op(Box::new(value)), at))
        })
    }

    /// `if CONDITION { .. } else if CONDITION { .. } else { .. }`
    fn conditional(&mut self) -> Parsed<Expr> {
        let mut arms = Vec::new();
        let mut other = None;
        while self.is_word("if") {
            let begin = self.next().span;
            if self.is_word("let") {
                return Err(self.unexpected("a condition").hint("use a `match`"));
            }
            self.operator()?;
            let condition = self.condition()?;
            let (then, end) = self.block()?;
            arms.push((begin, condition, value_of(then, end), end));
            if self.eat_word("else").is_none() {
                break;
            }
            if !self.is_word("if") {
                if !self.is("{") {
                    return Err(self.unexpected("`{` or `if`"));
                }
                let (body, end) = self.block()?;
                other = Some((value_of(body, end), end));
                break;
            }
        }
        let mut value: Option<(Expr, Span)> = other;
        while let Some((begin, condition, then, end)) = arms.pop() {
            let (other, end) = value.unwrap_or_else(|| (Expr::new(ExprKind::Tuple(Vec::new()), begin.to(end)), end));
            let kind = ExprKind::If(Box::new(condition), Box::new(then), Box::new(other));
            value = Some((Expr::new(kind, begin.to(end)), end));
        }
        value.map(|(value, _)| value).ok_or_else(|| self.unexpected("`if`"))
    }

    /// `match VALUE { PATTERN => EXPRESSION, .. }`
    fn matching(&mut self) -> Parsed<Expr> {
        let begin = self.next().span;
        let value = self.condition()?;
        self.expect("{")?;
        let outer = std::mem::replace(&mut self.structs_allowed, true);
        let arms = self.side_by_side(|parser| {
            if parser.is("}") {
                return Ok(None);
            }
            let pattern = parser.pattern()?;
            if !parser.is("=>") {
                let hint = match parser.tokens[parser.at - 1].kind {
                    Kind::Word(name) => elsewhere::name(name),
                    _ => None,
                };
                return Err(parser.unexpected("`=>`").hint(hint.unwrap_or("an arm is `PATTERN => VALUE,`")));
            }
            parser.expect("=>")?;
            parser.names.enter();
            parser.names.declare();
            let (body, is_block) = parser.arm()?;
            parser.names.leave();
            if !is_block && !parser.is("}") && !parser.is(",") {
                return Err(parser.unexpected("`,` or `}`"));
            }
            parser.eat(",");
            let at = body.span;
            Ok(Some((pattern, Expr::new(ExprKind::Block(vec![body]), at))))
        })?;
        self.structs_allowed = outer;
        let end = self.expect("}")?;
        match arms.is_empty() {
            true => Err(SourceError::new(begin, "this `match` has no arms").hint("an arm is `PATTERN => VALUE,`")),
            false => Ok(Expr::new(ExprKind::Match(Box::new(value), arms), begin.to(end))),
        }
    }
}

/// The value of the statements of a branch, which ends at `end`.
fn value_of(mut body: Vec<Stmt>, end: Span) -> Expr {
    match body.pop() {
        None => Expr::new(ExprKind::Tuple(Vec::new()), end),
        Some(Stmt { kind: StmtKind::Expr(value), .. }) if body.is_empty() => value,
        Some(last) => {
            let at = body.first().unwrap_or(&last).span.to(last.span);
            body.push(last);
            Expr::new(ExprKind::Block(body), at)
        }
    }
}

fn operation(symbol: &str, left: Expr, right: Expr, at: Span) -> Expr {
    let op = match symbol {
        "||" => Op::Either,
        "&&" => Op::Both,
        "==" => Op::Equal,
        "!=" => Op::NotEqual,
        "<" => Op::Less,
        ">" => Op::Greater,
        "<=" => Op::LessEqual,
        ">=" => Op::GreaterEqual,
        "|" => Op::BitOr,
        "^" => Op::BitXor,
        "&" => Op::BitAnd,
        "<<" => Op::ShiftLeft,
        ">>" => Op::ShiftRight,
        "+" => Op::Add,
        "-" => Op::Sub,
        "*" => Op::Mul,
        "/" => Op::Div,
        _ => Op::Rem,
    };
    Expr::new(ExprKind::Op(op, Box::new(left), Box::new(right)), at)
}
