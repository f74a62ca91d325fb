//! The typed tree that the [front](crate::front) hands over: names, sizes and constants are resolved.

use std::rc::Rc;

use garblet_circuit::Float;

use crate::number::{Number, ZERO, mask, power};

/// A range of the source, for diagnostics: lines and columns from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) end_line: u32,
    pub(crate) end_column: u32,
}

impl Span {
    /// From the beginning of this to the end of another.
    pub(crate) fn to(self, end: Span) -> Span {
        Span { end_line: end.end_line, end_column: end.end_column, ..self }
    }
}

/// A Boolean, an integer, a fixed-point or a floating-point number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scalar {
    pub(crate) bits: u16,
    pub(crate) signed: bool,
    /// Set if it is a Boolean; an integer of one bit otherwise.
    pub(crate) boolean: bool,
    /// The number of fractional bits of a fixed-point number, which is represented by its value times 2 to that power.
    pub(crate) fraction: Option<u16>,
    /// The format of a floating-point number, which is represented by its bits as an unsigned integer.
    pub(crate) float: Option<Float>,
}

impl Scalar {
    pub(crate) const BOOL: Scalar = Scalar { boolean: true, ..Scalar::unsigned(1) };
    pub(crate) const USIZE: Scalar = Scalar::unsigned(32);

    pub(crate) const fn unsigned(bits: u16) -> Self {
        Scalar { bits, signed: false, boolean: false, fraction: None, float: None }
    }

    pub(crate) const fn signed(bits: u16) -> Self {
        Scalar { signed: true, ..Scalar::unsigned(bits) }
    }

    pub(crate) const fn fixed(integer: u16, fraction: u16) -> Self {
        Scalar { fraction: Some(fraction), ..Scalar::signed(integer + fraction) }
    }

    pub(crate) fn float(format: Float) -> Self {
        Scalar { float: Some(format), ..Scalar::unsigned(format.width() as u16) }
    }

    /// The least value.
    pub(crate) fn min(self) -> Number {
        if self.signed { -power(self.bits - 1) } else { ZERO }
    }

    /// The least and the greatest value, for messages.
    pub(crate) fn range(self) -> String {
        let half = self.bits - u16::from(self.signed);
        match self.signed {
            _ if self.bits <= 128 => format!("{} to {}", self.min(), self.max()),
            true => format!("-2^{half} to 2^{half} - 1"),
            false => format!("0 to 2^{half} - 1"),
        }
    }

    /// The greatest value.
    pub(crate) fn max(self) -> Number {
        mask(self.bits - u16::from(self.signed))
    }
}

/// A type. Values are words one after another, one word per scalar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    Scalar(Scalar),
    Array(Rc<Ty>, u32),
    /// A list of at most this many values: a word for the count, then the words of the values; those past the count do not matter.
    List(Rc<Ty>, u32),
    /// A tuple (fields named `0`, `1`, ...) or a struct.
    Record(Rc<[(String, Ty)]>),
    Enum(Rc<EnumTy>),
}

/// An enum: a word for the tag, then the fields of every variant, each with words of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EnumTy {
    pub(crate) name: String,
    pub(crate) variants: Vec<(String, Vec<Ty>)>,
    /// The first word of the fields of each variant.
    offsets: Vec<usize>,
}

impl EnumTy {
    /// An enum with these variants.
    pub(crate) fn new(name: &str, variants: Vec<(String, Vec<Ty>)>) -> Self {
        let mut next = 1usize;
        let mut offset = |fields: &[Ty]| {
            let own = next;
            next = fields.iter().map(Ty::words).fold(next, usize::saturating_add);
            own
        };
        let offsets = variants.iter().map(|(_, fields)| offset(fields)).collect();
        EnumTy { name: name.into(), variants, offsets }
    }

    /// The type of the tag.
    pub(crate) fn tag(&self) -> Scalar {
        Scalar::unsigned(self.variants.len().next_power_of_two().trailing_zeros() as u16)
    }

    /// The first word of the fields of a variant.
    pub(crate) fn offset(&self, variant: usize) -> usize {
        self.offsets[variant]
    }
}

impl Ty {
    /// The number of words that a value has; saturates.
    pub(crate) fn words(&self) -> usize {
        self.measured().0
    }

    /// The number of words that a value has, which saturates, and of the parts of the type that were gone through to count them.
    pub(crate) fn measured(&self) -> (usize, u64) {
        let mut parts = 1;
        let mut count = |ty: &Ty| {
            let (words, own) = ty.measured();
            parts += own;
            words
        };
        let words = match self {
            Ty::Scalar(_) => 1,
            Ty::Array(element, size) => count(element).saturating_mul(*size as usize),
            Ty::List(element, most) => count(element).saturating_mul(*most as usize).saturating_add(1),
            Ty::Record(fields) => fields.iter().fold(0usize, |sum, (_, ty)| sum.saturating_add(count(ty))),
            Ty::Enum(e) => {
                let fields = e.variants.iter().flat_map(|(_, fields)| fields);
                let words = fields.fold(1usize, |sum, ty| sum.saturating_add(count(ty)));
                parts += e.variants.len() as u64;
                words
            }
        };
        (words, parts)
    }

    /// The number of wires that a port of the type has; saturates.
    pub(crate) fn width(&self) -> u64 {
        match self {
            Ty::Scalar(scalar) => scalar.bits.into(),
            Ty::Array(element, count) => element.width().saturating_mul((*count).into()),
            Ty::List(element, most) => {
                element.width().saturating_mul((*most).into()).saturating_add(count_scalar(*most).bits.into())
            }
            Ty::Record(fields) => fields.iter().fold(0, |sum, (_, ty)| sum.saturating_add(ty.width())),
            Ty::Enum(e) => u64::from(e.tag().bits).saturating_add(e.payload()),
        }
    }

    /// The scalar that the type is, if it is one.
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        if let Ty::Scalar(scalar) = self { Some(*scalar) } else { None }
    }

    /// Returns whether values hold no enum with fields, no list and no floating-point number, so that equal values are equal words.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_flat() && !self.has_floats()
    }

    /// Returns whether values hold no enum with fields and no list, so that their words are their wires.
    pub(crate) fn is_flat(&self) -> bool {
        match self {
            Ty::Scalar(_) => true,
            Ty::Array(element, _) => element.is_flat(),
            Ty::List(..) => false,
            Ty::Record(fields) => fields.iter().all(|(_, ty)| ty.is_flat()),
            Ty::Enum(e) => e.variants.iter().all(|(_, fields)| fields.is_empty()),
        }
    }

    fn has_floats(&self) -> bool {
        match self {
            Ty::Scalar(scalar) => scalar.float.is_some(),
            Ty::Array(element, _) | Ty::List(element, _) => element.has_floats(),
            Ty::Record(fields) => fields.iter().any(|(_, ty)| ty.has_floats()),
            Ty::Enum(e) => e.variants.iter().flat_map(|(_, fields)| fields).any(Ty::has_floats),
        }
    }

    /// The scalars of a value, in the order of its words.
    pub(crate) fn scalars(&self, into: &mut Vec<Scalar>) {
        match self {
            Ty::Scalar(scalar) => into.push(*scalar),
            Ty::Array(element, _) if element.words() == 0 => {}
            Ty::Array(element, count) => (0..*count).for_each(|_| element.scalars(into)),
            Ty::List(element, most) => {
                into.push(count_scalar(*most));
                (0..*most).for_each(|_| element.scalars(into));
            }
            Ty::Record(fields) => fields.iter().for_each(|(_, ty)| ty.scalars(into)),
            Ty::Enum(e) => {
                into.push(e.tag());
                e.variants.iter().flat_map(|(_, fields)| fields).for_each(|ty| ty.scalars(into));
            }
        }
    }
}

/// The type of the count of a list with that room.
pub(crate) fn count_scalar(most: u32) -> Scalar {
    Scalar::unsigned(garblet_circuit::Type::count_width(most) as u16)
}

impl EnumTy {
    /// The most wires that the fields of a variant take; saturates.
    pub(crate) fn payload(&self) -> u64 {
        let width = |fields: &[Ty]| fields.iter().fold(0u64, |sum, ty| sum.saturating_add(ty.width()));
        self.variants.iter().map(|(_, fields)| width(fields)).max().unwrap_or(0)
    }
}

/// A variable of a function.
pub(crate) type VarId = u32;

/// A function of the source.
pub(crate) type FnId = u32;

/// All functions that `main` needs; `main` is the last one.
pub(crate) struct Tree {
    pub(crate) functions: Vec<Function>,
}

/// The attributes of a function, for the program that begins with it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes {
    /// Its arrays of u8 are byte strings at ports: `#[hex]`.
    pub(crate) hex: bool,
    /// The program has few layers of AND gates, and not few gates: `#[depth]`.
    pub(crate) depth: bool,
}

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) attributes: Attributes,
    pub(crate) params: Vec<Param>,
    pub(crate) result: Ty,
    pub(crate) body: Vec<Stmt>,
    /// Set for a constant: the body is computed once, before everything else.
    pub(crate) is_constant: bool,
    /// The number of variables, parameters first.
    pub(crate) vars: u32,
    pub(crate) span: Span,
    /// An estimate of the AND gates.
    pub(crate) cost: u64,
}

pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) mutable: bool,
}

pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

pub(crate) enum StmtKind {
    Let(Pattern, Expr),
    Assign(VarId, Vec<Access>, Expr),
    /// Changes a scalar of that type by an operation: the value is its second operand.
    Update(VarId, Vec<Access>, BinaryOp, Scalar, Expr),
    /// Appends a value to a list with room for this many.
    Push(VarId, Vec<Access>, u32, Expr),
    For(Box<Loop>),
    /// The value of its block, if it is the last statement.
    Expr(Expr),
    /// An expression whose value is dropped.
    Effect(Expr),
}

pub(crate) struct Loop {
    pub(crate) pattern: Pattern,
    pub(crate) over: Over,
    pub(crate) body: Vec<Stmt>,
    /// An estimate of the AND gates of all iterations.
    pub(crate) cost: u64,
    /// Set if the body assigns to variables, which could change what is iterated over.
    pub(crate) assigns: bool,
}

/// The values that a loop iterates over.
pub(crate) enum Over {
    /// Numbers of a type from the first up to, but not including, the last.
    Range(Number, Number, Ty),
    Array(Expr),
    /// The pairs of elements of two sorted arrays with equal first fields.
    Join(Expr, Expr),
}

/// A step from a value into it.
pub(crate) enum Access {
    Index {
        index: Expr,
        count: u32,
        words: usize,
        /// Set for a list, which begins with its count.
        list: bool,
    },
    /// Words to skip.
    Field(usize),
}

pub(crate) struct Pattern {
    pub(crate) kind: PatternKind,
}

pub(crate) enum PatternKind {
    Bind(VarId),
    Constant(Number),
    Range(Number, Number),
    /// Patterns of parts, each with the number of words before it.
    Parts(Vec<(usize, Pattern)>),
    /// A variant, and patterns of its fields with the number of words before each.
    Variant(u32, Vec<(usize, Pattern)>),
}

pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Less,
    Greater,
    /// Of floating-point numbers, for which it is not the contrary of `Greater`.
    LessEqual,
    /// As [`BinaryOp::LessEqual`].
    GreaterEqual,
    Equal,
    NotEqual,
    Shl,
    Shr,
}

/// A method of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Abs,
    AbsDiff,
    UnsignedAbs,
    CountOnes,
    CountZeros,
    LeadingZeros,
    TrailingZeros,
    /// The exponent has to be known.
    Pow,
    RotateLeft,
    RotateRight,
    SaturatingAdd,
    SaturatingSub,
    WrappingAdd,
    WrappingMul,
    WrappingNeg,
    WrappingSub,
    /// The root of an integer, rounded down.
    IntegerRoot,
    Root,
    Exp,
    Ln,
    Sin,
    Cos,
    Min,
    Max,
    /// The first number with the sign of the second.
    CopySign,
    /// The product of the first two, and the third added, rounded once.
    MulAdd,
    IsNan,
    IsInfinite,
    IsFinite,
    IsSignNegative,
    IsSignPositive,
    ToBits,
    FromBits,
}

pub(crate) enum ExprKind {
    Constant(Number),
    Var(VarId),
    /// A constant that is neither a number nor a bool.
    Whole(FnId),
    /// The elements of an array, or the fields of a record in order.
    List(Vec<Expr>),
    /// The fields of a record in the order in which they are evaluated, each with the number of words before it.
    Fields(Vec<(usize, Expr)>),
    Repeat(Box<Expr>, u32),
    /// Numbers from the first up to, but not including, the last.
    Range(Number, Number),
    /// A list of the values of an array.
    ToList(Box<Expr>),
    /// The number of values in a list.
    Len(Box<Expr>),
    Variant(u32, Vec<Expr>),
    /// A field: words to skip.
    Field(Box<Expr>, usize),
    Index {
        array: Box<Expr>,
        index: Box<Expr>,
        count: u32,
    },
    Not(Box<Expr>),
    Neg(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `&&`
    Both(Box<Expr>, Box<Expr>),
    /// `||`
    Either(Box<Expr>, Box<Expr>),
    Cast(Box<Expr>),
    /// The lesser of two, or the greater if set.
    Extreme(bool, Box<Expr>, Box<Expr>),
    /// The square root.
    Root(Box<Expr>),
    /// A method of a type, of the first value.
    Method(Method, Scalar, Vec<Expr>),
    Block(Vec<Stmt>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Match {
        value: Box<Expr>,
        arms: Vec<(Pattern, Expr)>,
        assigns: bool,
    },
    Call {
        function: FnId,
        arguments: Vec<Expr>,
        assigns: bool,
    },
    /// The elements of two sorted arrays that are equal, or whose first fields are.
    Join(Box<Expr>, Box<Expr>),
    /// The elements of an array or a list in order.
    Sort(Box<Expr>),
    /// The list of those elements whose first field is true, without it.
    Keep(Box<Expr>),
}
