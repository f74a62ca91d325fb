//! The syntax tree, as the parser makes it and the type checker fills it in.

mod types;

use std::collections::HashMap;

use garblet_circuit::Float;

pub(super) use types::{Int, Literal, Name, Open, Size, Type};

use crate::{
    number::{Decimal, Number},
    tree::{Attributes, Method, Span},
};

/// A program: its definitions by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) constants: HashMap<String, ConstDef>,
    pub(super) structs: HashMap<String, StructDef>,
    pub(super) enums: HashMap<String, EnumDef>,
    pub(super) functions: HashMap<String, FnDef>,
    /// The types in parentheses, `(T)`.
    pub(super) lone: Vec<Span>,
}

#[derive(Clone, Debug)]
pub(super) struct ConstDef {
    pub(super) ty: Type,
    pub(super) value: ConstExpr,
    pub(super) span: Span,
}

/// A struct: its fields in the order of their names.
#[derive(Clone, Debug)]
pub(super) struct StructDef {
    pub(super) fields: Vec<(String, Type)>,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) struct EnumDef {
    pub(super) variants: Vec<(String, Fields<Type>)>,
    /// The place of each variant, by name.
    places: HashMap<String, usize>,
    pub(super) span: Span,
}

impl EnumDef {
    pub(super) fn new(variants: Vec<(String, Fields<Type>)>, span: Span) -> Self {
        let places = variants.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)).collect();
        EnumDef { variants, places, span }
    }

    pub(super) fn variant(&self, name: &str) -> Option<&Fields<Type>> {
        self.place(name).map(|place| &self.variants[place].1)
    }

    /// The place of a variant among all.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }
}

/// The field of that name, among fields sorted by name.
pub(super) fn field_of<'f, T>(fields: &'f [(String, T)], name: &str) -> Option<&'f T> {
    let place = fields.binary_search_by(|(own, _)| own.as_str().cmp(name)).ok()?;
    Some(&fields[place].1)
}

/// The fields of a variant: of its definition, of a value, or of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fields<T> {
    Unit,
    Tuple(Vec<T>),
    /// Sorted by name, except that the fields of values stay in the order in which they are written.
    Named(Vec<(String, T)>),
}

impl<T> Fields<T> {
    /// All fields, one after another.
    pub(super) fn all(&self) -> Vec<&T> {
        match self {
            Fields::Unit => Vec::new(),
            Fields::Tuple(fields) => fields.iter().collect(),
            Fields::Named(fields) => fields.iter().map(|(_, field)| field).collect(),
        }
    }

    pub(super) fn all_mut(&mut self) -> Vec<&mut T> {
        match self {
            Fields::Unit => Vec::new(),
            Fields::Tuple(fields) => fields.iter_mut().collect(),
            Fields::Named(fields) => fields.iter_mut().map(|(_, field)| field).collect(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct FnDef {
    pub(super) is_pub: bool,
    pub(super) attributes: Attributes,
    pub(super) name: String,
    /// The sizes that a function over sizes leaves open, and an instance of it fixes.
    pub(super) sizes: Vec<SizeParam>,
    /// The number of its tokens.
    pub(super) tokens: usize,
    pub(super) params: Vec<Param>,
    pub(super) result: Type,
    pub(super) body: Vec<Stmt>,
    /// Set for a constant that is neither a number nor a bool, such as a table: its body is its value.
    pub(super) is_constant: bool,
    pub(super) span: Span,
}

impl FnDef {
    /// A private function without parameters, statements and a place.
    pub(super) fn empty(name: String, result: Type) -> Self {
        FnDef {
            is_pub: false,
            attributes: Attributes::default(),
            name,
            sizes: Vec::new(),
            tokens: 0,
            params: Vec::new(),
            result,
            body: Vec::new(),
            is_constant: false,
            span: Span::default(),
        }
    }
}

/// `const NAME: usize`, a parameter of a function over sizes.
#[derive(Clone, Debug)]
pub(super) struct SizeParam {
    pub(super) name: String,
    pub(super) span: Span,
    /// Its value in an instance.
    pub(super) value: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) mutable: bool,
    pub(super) name: String,
    pub(super) ty: Type,
}

/// A constant and its place. Equal constants are equal wherever they are.
#[derive(Clone, Debug)]
pub(super) struct ConstExpr {
    pub(super) kind: ConstKind,
    pub(super) span: Span,
}

impl PartialEq for ConstExpr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Eq for ConstExpr {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConstKind {
    Bool(bool),
    Number(Literal),
    Decimal(Decimal),
    /// `PARTY::NAME`
    External(String, String),
    Constant(String),
    Max(Vec<ConstExpr>),
    Min(Vec<ConstExpr>),
    Add(Box<ConstExpr>, Box<ConstExpr>),
    Sub(Box<ConstExpr>, Box<ConstExpr>),
    Mul(Box<ConstExpr>, Box<ConstExpr>),
    Div(Box<ConstExpr>, Box<ConstExpr>),
    Rem(Box<ConstExpr>, Box<ConstExpr>),
    Neg(Box<ConstExpr>),
    Not(Box<ConstExpr>),
}

impl ConstExpr {
    /// The operands, if it is an operation.
    pub(super) fn parts(&self) -> Vec<&ConstExpr> {
        match &self.kind {
            ConstKind::Max(args) | ConstKind::Min(args) => args.iter().collect(),
            ConstKind::Add(a, b)
            | ConstKind::Sub(a, b)
            | ConstKind::Mul(a, b)
            | ConstKind::Div(a, b)
            | ConstKind::Rem(a, b) => vec![a, b],
            ConstKind::Neg(a) | ConstKind::Not(a) => vec![a],
            ConstKind::Bool(_)
            | ConstKind::Number(_)
            | ConstKind::Decimal(_)
            | ConstKind::External(..)
            | ConstKind::Constant(_) => Vec::new(),
        }
    }
}

impl std::fmt::Display for ConstExpr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |list: &[ConstExpr]| list.iter().map(ConstExpr::to_string).collect::<Vec<_>>().join(", ");
        // An operand that binds tighter than a sum.
        let factor = |expr: &ConstExpr| match expr.kind {
            ConstKind::Add(..) | ConstKind::Sub(..) => format!("({expr})"),
            _ => expr.to_string(),
        };
        // An operand that binds tighter than a product.
        let tight = |expr: &ConstExpr| match expr.kind {
            ConstKind::Mul(..) | ConstKind::Div(..) | ConstKind::Rem(..) => format!("({expr})"),
            _ => factor(expr),
        };
        match &self.kind {
            ConstKind::Bool(value) => value.fmt(f),
            ConstKind::Number(literal) => literal.fmt(f),
            ConstKind::Decimal(value) => value.fmt(f),
            ConstKind::External(party, name) => write!(f, "{party}::{name}"),
            ConstKind::Constant(name) => f.write_str(name),
            ConstKind::Max(args) => write!(f, "max({})", list(args)),
            ConstKind::Min(args) => write!(f, "min({})", list(args)),
            ConstKind::Add(a, b) => write!(f, "{a} + {}", factor(b)),
            ConstKind::Sub(a, b) => write!(f, "{a} - {}", factor(b)),
            ConstKind::Mul(a, b) => write!(f, "{} * {}", factor(a), tight(b)),
            ConstKind::Div(a, b) => write!(f, "{} / {}", factor(a), tight(b)),
            ConstKind::Rem(a, b) => write!(f, "{} % {}", factor(a), tight(b)),
            ConstKind::Neg(a) => write!(f, "-{}", tight(a)),
            ConstKind::Not(a) => write!(f, "!{}", tight(a)),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Stmt {
    pub(super) kind: StmtKind,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum StmtKind {
    Let(Pattern, Option<Type>, Expr),
    LetMut(String, Option<Type>, Expr),
    Assign(Place, Expr),
    /// `PLACE += VALUE` and the like.
    Update(Place, Op, Expr),
    /// `LIST.push(VALUE)`
    Push(Place, Expr),
    For(Pattern, Expr, Vec<Stmt>),
    /// An expression without a semicolon: the value of its block, if it is the last statement.
    Expr(Expr),
    /// An expression with a semicolon, whose value is dropped.
    Effect(Expr),
}

/// The target of an assignment: a variable or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) variable: String,
    pub(super) steps: Vec<Step>,
    /// The type of the place.
    pub(super) of: Type,
}

/// A step from a value into it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) kind: StepKind,
    /// The source range up to and including this step.
    pub(super) span: Span,
    /// The type of the value that the step goes into.
    pub(super) of: Type,
}

#[derive(Clone, Debug)]
pub(super) enum StepKind {
    Index(Expr),
    Position(usize),
    Field(String),
}

#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) span: Span,
    pub(super) ty: Type,
}

impl Expr {
    pub(super) fn new(kind: ExprKind, span: Span) -> Self {
        Expr { kind, span, ty: Type::Unknown }
    }
}

impl Expr {
    /// The expressions directly inside, except those in the statements of a block.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            ExprKind::Bool(_)
            | ExprKind::Number(_)
            | ExprKind::Decimal(_)
            | ExprKind::Variable(_)
            | ExprKind::Range(..)
            | ExprKind::Block(_) => Vec::new(),
            ExprKind::Array(parts)
            | ExprKind::Tuple(parts)
            | ExprKind::Call(_, parts)
            | ExprKind::Method(_, parts)
            | ExprKind::FromBits(_, parts) => parts.iter_mut().collect(),
            ExprKind::Repeat(x, _)
            | ExprKind::ToList(x)
            | ExprKind::Len(x)
            | ExprKind::Position(x, _)
            | ExprKind::Field(x, _)
            | ExprKind::Not(x)
            | ExprKind::Neg(x)
            | ExprKind::Cast(_, x) => vec![x],
            ExprKind::Index(a, b) | ExprKind::Push(a, b) | ExprKind::Op(_, a, b) => vec![a, b],
            ExprKind::If(a, b, c) => vec![a, b, c],
            ExprKind::Struct(_, fields) => fields.iter_mut().map(|(_, value)| value).collect(),
            ExprKind::Variant(_, _, fields) => fields.all_mut(),
            ExprKind::Match(value, arms) => {
                [&mut **value].into_iter().chain(arms.iter_mut().map(|(_, body)| body)).collect()
            }
        }
    }
}

/// The function that a call names.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    /// Its name; the type checker puts the name of an instance in the place of that of a function over sizes.
    pub(super) name: String,
    /// The sizes that are stated, `None` for `_`; all are to be inferred if the list is empty.
    pub(super) sizes: Vec<Option<ConstExpr>>,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Bool(bool),
    Number(Literal),
    Decimal(Decimal),
    Variable(String),
    Array(Vec<Expr>),
    Repeat(Box<Expr>, Size),
    Index(Box<Expr>, Box<Expr>),
    /// An array as a list, inserted by the type checker.
    ToList(Box<Expr>),
    /// `.len()`
    Len(Box<Expr>),
    /// `.push(VALUE)`, which must be a statement.
    Push(Box<Expr>, Box<Expr>),
    Tuple(Vec<Expr>),
    Position(Box<Expr>, usize),
    Field(Box<Expr>, String),
    /// Fields in the order in which they are written and evaluated.
    Struct(String, Vec<(String, Expr)>),
    /// Enum, variant, and fields.
    Variant(String, String, Fields<Expr>),
    Match(Box<Expr>, Vec<(Pattern, Expr)>),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    Op(Op, Box<Expr>, Box<Expr>),
    Block(Vec<Stmt>),
    Call(Callee, Vec<Expr>),
    /// `VALUE.METHOD(VALUE, ..)`, of a floating-point number.
    Method(Method, Vec<Expr>),
    /// `f64::from_bits(VALUE)`
    FromBits(Float, Vec<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Cast(Type, Box<Expr>),
    /// Numbers from the first constant to the second one, which is included if the flag is set.
    Range(Box<ConstExpr>, Box<ConstExpr>, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitXor,
    BitOr,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Equal,
    NotEqual,
    ShiftLeft,
    ShiftRight,
    Both,
    Either,
}

impl Op {
    /// Returns whether it compares.
    pub(super) fn compares(self) -> bool {
        use Op::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | Greater | LessEqual | GreaterEqual)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub(super) kind: PatternKind,
    pub(super) span: Span,
}

impl Pattern {
    pub(super) fn new(kind: PatternKind, span: Span) -> Self {
        Pattern { kind, span }
    }
}

#[derive(Clone, Debug)]
pub(super) enum PatternKind {
    /// A variable, or `_`.
    Bind(String),
    Bool(bool),
    /// A constant by its name, which the type checker replaces by its value.
    Constant(String),
    /// Numbers between two constants or literals, of which the second is included if the flag is set. The type checker replaces them
    /// by their values.
    Range(Box<ConstExpr>, Box<ConstExpr>, bool),
    /// All numbers from the first to the last.
    Numbers(Number, Number),
    Tuple(Vec<Pattern>),
    Struct(String, Vec<(String, Pattern)>),
    /// Enum, variant, and patterns of its fields.
    Variant(String, String, Fields<Pattern>),
}
