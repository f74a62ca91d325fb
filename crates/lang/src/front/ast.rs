//! The syntax tree, as the parser makes it and the type checker fills it in.

use std::collections::HashMap;

use crate::{
    number::{Decimal, Number},
    tree::{Scalar, Span},
};

/// A program: its definitions by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) constants: HashMap<String, ConstDef>,
    pub(super) structs: HashMap<String, StructDef>,
    pub(super) enums: HashMap<String, EnumDef>,
    pub(super) functions: HashMap<String, FnDef>,
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
    pub(super) span: Span,
}

impl EnumDef {
    pub(super) fn variant(&self, name: &str) -> Option<&Fields<Type>> {
        self.variants.iter().find_map(|(own, fields)| (own == name).then_some(fields))
    }
}

/// The fields of a variant: of its definition, of a value, or of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fields<T> {
    Unit,
    Tuple(Vec<T>),
    /// In the order of their names.
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
    pub(super) name: String,
    pub(super) params: Vec<Param>,
    pub(super) result: Type,
    pub(super) body: Vec<Stmt>,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) mutable: bool,
    pub(super) name: String,
    pub(super) ty: Type,
}

/// A type of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Int {
    Unsigned(u16),
    Signed(u16),
    Usize,
}

impl Int {
    /// The names of all.
    pub(super) const NAMES: [&str; 11] =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128"];

    /// The type of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "usize" => Some(Int::Usize),
            _ if !Int::NAMES.contains(&name) => None,
            _ => {
                let bits = name[1..].parse().ok()?;
                Some(if name.starts_with('u') { Int::Unsigned(bits) } else { Int::Signed(bits) })
            }
        }
    }

    pub(super) fn scalar(self) -> Scalar {
        match self {
            Int::Unsigned(bits) => Scalar::unsigned(bits),
            Int::Signed(bits) => Scalar::signed(bits),
            Int::Usize => Scalar::USIZE,
        }
    }

    pub(super) fn is_signed(self) -> bool {
        matches!(self, Int::Signed(_))
    }

    pub(super) fn min(self) -> Number {
        self.scalar().min()
    }

    pub(super) fn max(self) -> Number {
        self.scalar().max()
    }
}

impl std::fmt::Display for Int {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Int::Unsigned(bits) => write!(f, "u{bits}"),
            Int::Signed(bits) => write!(f, "i{bits}"),
            Int::Usize => f.write_str("usize"),
        }
    }
}

/// A type, as it is written or found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Not found out yet.
    Unknown,
    Bool,
    Int(Int),
    /// The type of a number without one, which is not negative: becomes any type of integers.
    Natural,
    /// The type of a number without one: becomes any signed type.
    Integer,
    /// Bits before the point with the sign, and behind it.
    Fixed(u16, u16),
    /// The type of a number with a point: becomes any of fixed-point numbers.
    Decimal,
    Array(Box<Type>, Size),
    /// At most so many values.
    List(Box<Type>, Size),
    Tuple(Vec<Type>),
    /// A struct or an enum.
    Named(Name),
}

/// The name of a struct or an enum, and where it is written; equal names are equal wherever they are.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) span: Span,
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Name {}

impl Type {
    pub(super) const UNIT: Type = Type::Tuple(Vec::new());

    pub(super) fn named(text: &str) -> Self {
        Type::Named(Name { text: text.into(), span: Span::default() })
    }

    /// Tells whether it is the type of a number without one.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Type::Natural | Type::Integer | Type::Decimal)
    }

    pub(super) fn is_integer(&self) -> bool {
        matches!(self, Type::Int(_) | Type::Natural | Type::Integer)
    }

    pub(super) fn is_fixed(&self) -> bool {
        matches!(self, Type::Fixed(..) | Type::Decimal)
    }

    /// The type of the elements of an array or a list.
    pub(super) fn element(&self) -> Option<&Type> {
        match self {
            Type::Array(element, _) | Type::List(element, _) => Some(element),
            _ => None,
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Unknown => f.write_str("something"),
            Type::Bool => f.write_str("bool"),
            Type::Int(int) => int.fmt(f),
            Type::Natural | Type::Integer => f.write_str("a number"),
            Type::Fixed(integer, fraction) => write!(f, "fixed<{integer}, {fraction}>"),
            Type::Decimal => f.write_str("a number with a point"),
            Type::Array(element, size) => write!(f, "[{}; {size}]", Part(element)),
            Type::List(element, size) => write!(f, "[{}; ..{size}]", Part(element)),
            Type::Tuple(fields) => {
                let fields: Vec<String> = fields.iter().map(|field| Part(field).to_string()).collect();
                write!(f, "({})", fields.join(", "))
            }
            Type::Named(name) => f.write_str(&name.text),
        }
    }
}

/// A type within another.
struct Part<'a>(&'a Type);

impl std::fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Type::Natural | Type::Integer => f.write_str("number"),
            Type::Decimal => f.write_str("number with a point"),
            other => other.fmt(f),
        }
    }
}

/// The size of an array. Sizes are equal that are written alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Number(usize),
    Constant(String),
    Computed(Box<ConstExpr>),
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Size::Number(number) => number.fmt(f),
            Size::Constant(name) => f.write_str(name),
            Size::Computed(value) => value.fmt(f),
        }
    }
}

/// A constant and its place, which does not matter for whether it is equal to another.
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
    Number(Number, Type),
    /// `PARTY::NAME`
    External(String, String),
    Constant(String),
    Max(Vec<ConstExpr>),
    Min(Vec<ConstExpr>),
    Add(Box<ConstExpr>, Box<ConstExpr>),
    Sub(Box<ConstExpr>, Box<ConstExpr>),
}

impl std::fmt::Display for ConstExpr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |list: &[ConstExpr]| list.iter().map(ConstExpr::to_string).collect::<Vec<_>>().join(", ");
        match &self.kind {
            ConstKind::Bool(value) => value.fmt(f),
            ConstKind::Number(value, ty) if ty.is_open() => value.fmt(f),
            ConstKind::Number(value, ty) => write!(f, "{value}{ty}"),
            ConstKind::External(party, name) => write!(f, "{party}::{name}"),
            ConstKind::Constant(name) => f.write_str(name),
            ConstKind::Max(args) => write!(f, "max({})", list(args)),
            ConstKind::Min(args) => write!(f, "min({})", list(args)),
            ConstKind::Add(a, b) => write!(f, "{a} + {b}"),
            ConstKind::Sub(a, b) => write!(f, "{a} - {b}"),
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
    /// `LIST.push(VALUE)`
    Push(Place, Expr),
    For(Pattern, Expr, Vec<Stmt>),
    Expr(Expr),
}

/// A variable or a part of one, that is assigned to.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) variable: String,
    pub(super) steps: Vec<Step>,
    /// The type of what is there.
    pub(super) of: Type,
}

/// A step from a value into it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) kind: StepKind,
    /// The place of the whole up to and with this step.
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

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Bool(bool),
    /// A number with the type that is written behind it.
    Number(Number, Type),
    Decimal(Decimal),
    Variable(String),
    Array(Vec<Expr>),
    Repeat(Box<Expr>, Size),
    Index(Box<Expr>, Box<Expr>),
    /// An array as a list; the type checker puts it there.
    ToList(Box<Expr>),
    /// `.len()`
    Len(Box<Expr>),
    /// `.push(VALUE)`, which only a statement may be.
    Push(Box<Expr>, Box<Expr>),
    Tuple(Vec<Expr>),
    Position(Box<Expr>, usize),
    Field(Box<Expr>, String),
    Struct(String, Vec<(String, Expr)>),
    /// Enum, variant, and fields.
    Variant(String, String, Fields<Expr>),
    Match(Box<Expr>, Vec<(Pattern, Expr)>),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    Op(Op, Box<Expr>, Box<Expr>),
    Block(Vec<Stmt>),
    Call(String, Vec<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Cast(Type, Box<Expr>),
    /// Numbers of a type from the first on, without the last.
    Range(u64, u64, Type),
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
    Equal,
    NotEqual,
    ShiftLeft,
    ShiftRight,
    Both,
    Either,
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
    /// All numbers from the first to the last, and the type that is written behind them.
    Range(Number, Number, Type),
    Tuple(Vec<Pattern>),
    Struct(String, Vec<(String, Pattern)>),
    /// Enum, variant, and patterns of its fields.
    Variant(String, String, Fields<Pattern>),
}
