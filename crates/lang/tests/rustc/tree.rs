//! Syntax trees of programs, which need not be right: what is generated, damaged and made smaller.

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Bool,
    Int(Int),
    /// `f32` or `f64`, by its bits.
    Float(u32),
    Tuple(Vec<Ty>),
    Array(Box<Ty>, Size),
    /// At most so many values.
    List(Box<Ty>, usize),
    /// A struct or an enum.
    Named(String),
}

/// A type of integers: signed or not, and its bits as rustc has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Int {
    pub(crate) name: &'static str,
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

const fn int(name: &'static str, bits: u32, signed: bool) -> Int {
    Int { name, bits, signed }
}

/// `usize` is the last one. It has 32 bits in the function language.
pub(crate) const INTS: [Int; 11] = [
    int("u8", 8, false),
    int("u16", 16, false),
    int("u32", 32, false),
    int("u64", 64, false),
    int("u128", 128, false),
    int("i8", 8, true),
    int("i16", 16, true),
    int("i32", 32, true),
    int("i64", 64, true),
    int("i128", 128, true),
    int("usize", 32, false),
];
pub(crate) const USIZE: Ty = Ty::Int(INTS[10]);

impl Int {
    /// The farthest that its numbers go above and below zero.
    pub(crate) fn most(self) -> u128 {
        u128::MAX >> (128 - self.bits + u32::from(self.signed))
    }

    pub(crate) fn least(self) -> u128 {
        if self.signed { self.most() + 1 } else { 0 }
    }
}

/// The size of an array as it is written, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) text: String,
    pub(crate) count: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    /// A number or a Boolean as it is written.
    Literal(String),
    /// A variable, a constant or a variant without fields.
    Name(String),
    /// The constant of a party: its name and value.
    Given(String, String),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `-` or `!`
    Unary(char, Box<Expr>),
    Cast(Box<Expr>, Ty),
    Call(String, Vec<Expr>),
    /// A method of the first value.
    Method(&'static str, Vec<Expr>),
    /// `.len()` of an array or a list.
    Len(Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    /// A field by its name or number.
    Field(Box<Expr>, String),
    Tuple(Vec<Expr>),
    Array(Vec<Expr>),
    /// An array that becomes a list.
    List(Vec<Expr>),
    Repeat(Box<Expr>, Size),
    /// A struct or a variant whose fields have names.
    Struct(String, Vec<(String, Expr)>),
    Block(Block),
    If(Box<Expr>, Block, Option<Box<Expr>>),
    Match(Box<Expr>, Vec<(Pattern, Expr)>),
    /// `..` or `..=`
    Range(Box<Expr>, &'static str, Box<Expr>),
    /// Written without the brackets that it needs.
    Bare(Box<Expr>),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) body: Vec<Stmt>,
    pub(crate) value: Option<Box<Expr>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    Let(Pattern, Option<Ty>, Expr),
    /// A place, `=` or `+=` and the like, and a value.
    Assign(Expr, &'static str, Expr),
    /// An expression, and whether a semicolon follows.
    Expr(Expr, bool),
    For(Pattern, Expr, Block),
    /// `PLACE.push(VALUE);`
    Push(Expr, Expr),
}

#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// A name, and whether it is `mut`.
    Name(String, bool),
    Any,
    Literal(String),
    /// `..` or `..=` between numbers or constants.
    Range(String, &'static str, String),
    Tuple(Vec<Pattern>),
    /// `NAME { FIELD: PATTERN, .. }`, and whether the rest is left out.
    Struct(String, Vec<(String, Pattern)>, bool),
    /// `ENUM::VARIANT(..)`, or without brackets.
    Variant(String, Vec<Pattern>),
}

#[derive(Clone, Debug)]
pub(crate) enum Fields {
    Unit,
    Tuple(Vec<Ty>),
    Named(Vec<(String, Ty)>),
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Const(String, Ty, Expr),
    Struct(String, Vec<(String, Ty)>),
    Enum(String, Vec<(String, Fields)>),
    /// The names of its open sizes come second.
    Fn {
        name: String,
        sizes: Vec<String>,
        params: Vec<(Pattern, Ty)>,
        result: Ty,
        body: Block,
    },
}

/// A value that is given to `main`.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    Bool(bool),
    /// The low bits of a number.
    Int(Int, u128),
    /// The bits of a floating-point number, and how many they are.
    Float(u32, u64),
    Tuple(Vec<Input>),
    Array(Vec<Input>),
    List(Vec<Input>),
    Struct(String, Vec<(String, Input)>),
    /// An enum, the number and name of a variant, and its fields with their names, if they have any.
    Enum(String, usize, String, Vec<(Option<String>, Input)>),
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) items: Vec<Item>,
    /// Arguments of `main`, for each run.
    pub(crate) inputs: Vec<Vec<Input>>,
}

/// Calls `visit` with every expression, those outside before those inside; in what `visit` puts in a place it goes on.
pub(crate) fn expressions(program: &mut Program, visit: &mut dyn FnMut(&mut Expr)) {
    for item in &mut program.items {
        match item {
            Item::Const(_, _, value) => expression(value, visit),
            Item::Fn { body, .. } => block(body, visit),
            Item::Struct(..) | Item::Enum(..) => {}
        }
    }
}

fn block(body: &mut Block, visit: &mut dyn FnMut(&mut Expr)) {
    for stmt in &mut body.body {
        match stmt {
            Stmt::Let(_, _, value) | Stmt::Expr(value, _) => expression(value, visit),
            Stmt::Assign(place, _, value) | Stmt::Push(place, value) => {
                expression(place, visit);
                expression(value, visit);
            }
            Stmt::For(_, over, inner) => {
                expression(over, visit);
                block(inner, visit);
            }
        }
    }
    body.value.iter_mut().for_each(|value| expression(value, visit));
}

fn expression(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    visit(expr);
    match expr {
        Expr::Block(inner) => block(inner, visit),
        Expr::If(condition, then, other) => {
            expression(condition, visit);
            block(then, visit);
            other.iter_mut().for_each(|other| expression(other, visit));
        }
        other => other.parts().into_iter().for_each(|part| expression(part, visit)),
    }
}

impl Expr {
    /// The expressions directly inside, but for those in blocks.
    pub(crate) fn parts(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Literal(_) | Expr::Name(_) | Expr::Given(..) | Expr::Block(_) => Vec::new(),
            Expr::Binary(_, a, b) | Expr::Index(a, b) | Expr::Range(a, _, b) => vec![a, b],
            Expr::Unary(_, a) | Expr::Cast(a, _) | Expr::Len(a) | Expr::Field(a, _) | Expr::Repeat(a, _) => vec![a],
            Expr::Bare(a) => vec![a],
            Expr::Call(_, parts)
            | Expr::Method(_, parts)
            | Expr::Tuple(parts)
            | Expr::Array(parts)
            | Expr::List(parts) => parts.iter_mut().collect(),
            Expr::Struct(_, fields) => fields.iter_mut().map(|(_, value)| value).collect(),
            Expr::If(condition, _, other) => {
                let mut parts: Vec<&mut Expr> = vec![condition];
                parts.extend(other.iter_mut().map(|other| &mut **other));
                parts
            }
            Expr::Match(value, arms) => {
                let mut parts: Vec<&mut Expr> = vec![value];
                parts.extend(arms.iter_mut().map(|(_, arm)| arm));
                parts
            }
        }
    }
}

/// Calls `visit` with every block.
pub(crate) fn blocks(program: &mut Program, visit: &mut dyn FnMut(&mut Block)) {
    for item in &mut program.items {
        if let Item::Fn { body, .. } = item {
            visit(body);
            loops(body, visit);
        }
    }
    expressions(program, &mut |expr| match expr {
        Expr::Block(inner) | Expr::If(_, inner, _) => {
            visit(inner);
            loops(inner, visit);
        }
        _ => {}
    });
}

/// The bodies of the loops of a block, and of the loops in them.
fn loops(body: &mut Block, visit: &mut dyn FnMut(&mut Block)) {
    for stmt in &mut body.body {
        if let Stmt::For(_, _, inner) = stmt {
            visit(inner);
            loops(inner, visit);
        }
    }
}
