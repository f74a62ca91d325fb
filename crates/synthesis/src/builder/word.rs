//! Typed words: bits with a meaning, from single bits to arrays and records.

use garblet_circuit::Type;

use super::Bit;

/// A value made of bits, with the [`Type`] of a port for it.
///
/// Implement it for a struct to use that struct with ports, [`select`](super::CircuitBuilder::select), sorting and
/// lookup: usually a [`Type::Record`] whose fields are words themselves.
pub trait Word: Clone {
    /// The type of the word.
    fn ty(&self) -> Type;

    /// Appends the bits in wire order.
    fn append_bits(&self, into: &mut Vec<Bit>);

    /// A word of this type with these bits, or `None` if the type does not match.
    ///
    /// *Shape*: as many bits as the type's width.
    fn from_bits(ty: &Type, bits: &[Bit]) -> Option<Self>;

    /// The bits in wire order.
    fn to_bits(&self) -> Vec<Bit> {
        let mut bits = Vec::new();
        self.append_bits(&mut bits);
        bits
    }

    /// A word of the same type with other bits.
    ///
    /// # Panics
    /// If the number of bits differs.
    fn with_bits(&self, bits: &[Bit]) -> Self {
        let ty = self.ty();
        assert_eq!(bits.len() as u64, ty.width(), "bits of a {ty}");
        Self::from_bits(&ty, bits).expect("a word can be made from its own type")
    }
}

/// An integer of any width, two's complement if signed.
pub trait Integer: Word {
    /// Set if the top bit is a sign.
    const SIGNED: bool;

    /// An integer with these bits, least significant first.
    fn new(bits: Vec<Bit>) -> Self;

    /// The bits, least significant first.
    fn bits(&self) -> &[Bit];

    /// The number of bits.
    fn width(&self) -> usize {
        self.bits().len()
    }

    /// The same value with more bits, or only its low bits.
    fn resize(&self, width: usize) -> Self {
        Self::new((0..width).map(|i| self.bit(i)).collect())
    }

    /// Bit `i` of the value, also beyond the width.
    fn bit(&self, i: usize) -> Bit {
        let beyond = if Self::SIGNED { self.bits().last().copied() } else { None };
        self.bits().get(i).copied().or(beyond).unwrap_or(Bit::FALSE)
    }
}

/// Bits without further meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitString(pub Vec<Bit>);

/// An unsigned integer, least significant bit first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsigned(Vec<Bit>);

/// A two's-complement integer, least significant bit first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed(Vec<Bit>);

/// A byte string, first byte first, bit 0 of a byte first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes(pub Vec<Bit>);

/// A word whose type is known only at run time; also represents records that have no struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Wires without further meaning.
    Bits(BitString),
    /// A Boolean.
    Bool(Bit),
    /// An unsigned integer.
    Unsigned(Unsigned),
    /// A signed integer.
    Signed(Signed),
    /// A byte string.
    Bytes(Bytes),
    /// Values of one type.
    Array(Vec<Value>),
    /// Named fields in order.
    Record(Vec<(String, Value)>),
    /// A value of another type, as its wires.
    Other(Type, BitString),
}

impl Unsigned {
    /// The low `width` bits of a constant.
    pub fn constant(value: u128, width: usize) -> Self {
        Unsigned((0..width).map(|i| Bit::from(i < 128 && value >> i & 1 == 1)).collect())
    }

    /// The same bits read as two's complement.
    pub fn as_signed(&self) -> Signed {
        Signed(self.0.clone())
    }
}

impl Signed {
    /// The low `width` bits of a constant.
    pub fn constant(value: i128, width: usize) -> Self {
        Signed((0..width).map(|i| Bit::from(value >> i.min(127) & 1 == 1)).collect())
    }

    /// The same bits read as an unsigned integer.
    pub fn as_unsigned(&self) -> Unsigned {
        Unsigned(self.0.clone())
    }
}

impl Bytes {
    /// A constant byte string.
    pub fn constant(bytes: &[u8]) -> Self {
        Bytes(bytes.iter().flat_map(|&b| (0..8).map(move |i| Bit::from(b >> i & 1 == 1))).collect())
    }

    /// The number of bytes.
    pub fn byte_count(&self) -> usize {
        self.0.len() / 8
    }

    /// Byte `k`.
    pub fn byte(&self, k: usize) -> Unsigned {
        Unsigned(self.0[8 * k..8 * k + 8].to_vec())
    }
}

impl Value {
    /// Field `name` of a record.
    pub fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Record(fields) => fields.iter().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn elements(&self) -> Option<&[Value]> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }
}

impl Word for Bit {
    fn ty(&self) -> Type {
        Type::Bool
    }

    fn append_bits(&self, into: &mut Vec<Bit>) {
        into.push(*self);
    }

    fn from_bits(ty: &Type, bits: &[Bit]) -> Option<Self> {
        (*ty == Type::Bool).then(|| bits[0])
    }
}

/// Words that are a list of bits, each with its [`Type`] variant.
macro_rules! word_of_bits {
    ($($word:ident, $width_of:expr, $type_of:expr;)*) => {$(
        impl Word for $word {
            fn ty(&self) -> Type {
                $type_of(self.0.len() as u32)
            }

            fn append_bits(&self, into: &mut Vec<Bit>) {
                into.extend_from_slice(&self.0);
            }

            fn from_bits(ty: &Type, bits: &[Bit]) -> Option<Self> {
                let matches: fn(&Type) -> bool = $width_of;
                matches(ty).then(|| $word(bits.to_vec()))
            }
        }
    )*};
}

word_of_bits! {
    BitString, |ty| matches!(ty, Type::Bits(_)), Type::Bits;
    Unsigned, |ty| matches!(ty, Type::Unsigned(_)), Type::Unsigned;
    Signed, |ty| matches!(ty, Type::Signed(_)), Type::Signed;
    Bytes, |ty| matches!(ty, Type::Bytes(_)), |bits| Type::Bytes(bits / 8);
}

impl Integer for Unsigned {
    const SIGNED: bool = false;

    fn new(bits: Vec<Bit>) -> Self {
        Unsigned(bits)
    }

    fn bits(&self) -> &[Bit] {
        &self.0
    }
}

impl Integer for Signed {
    const SIGNED: bool = true;

    fn new(bits: Vec<Bit>) -> Self {
        Signed(bits)
    }

    fn bits(&self) -> &[Bit] {
        &self.0
    }
}

/// Arrays. An empty one has elements of no bits.
impl<W: Word> Word for Vec<W> {
    fn ty(&self) -> Type {
        let element = self.first().map_or(Type::Bits(0), W::ty);
        Type::Array(Box::new(element), self.len() as u32)
    }

    fn append_bits(&self, into: &mut Vec<Bit>) {
        self.iter().for_each(|w| w.append_bits(into));
    }

    fn from_bits(ty: &Type, bits: &[Bit]) -> Option<Self> {
        let Type::Array(element, n) = ty else { return None };
        let width = element.width() as usize;
        (0..*n as usize).map(|k| W::from_bits(element, &bits[k * width..][..width])).collect()
    }
}

/// Pairs: records with the fields `0` and `1`.
impl<A: Word, B: Word> Word for (A, B) {
    fn ty(&self) -> Type {
        Type::Record(vec![("0".into(), self.0.ty()), ("1".into(), self.1.ty())])
    }

    fn append_bits(&self, into: &mut Vec<Bit>) {
        self.0.append_bits(into);
        self.1.append_bits(into);
    }

    fn from_bits(ty: &Type, bits: &[Bit]) -> Option<Self> {
        let Type::Record(fields) = ty else { return None };
        let [(_, first), (_, second)] = &fields[..] else { return None };
        let (low, high) = bits.split_at(first.width() as usize);
        Some((A::from_bits(first, low)?, B::from_bits(second, high)?))
    }
}

impl Word for Value {
    fn ty(&self) -> Type {
        match self {
            Value::Bits(w) => w.ty(),
            Value::Bool(w) => w.ty(),
            Value::Unsigned(w) => w.ty(),
            Value::Signed(w) => w.ty(),
            Value::Bytes(w) => w.ty(),
            Value::Array(w) => w.ty(),
            Value::Record(fields) => Type::Record(fields.iter().map(|(n, w)| (n.clone(), w.ty())).collect()),
            Value::Other(ty, _) => ty.clone(),
        }
    }

    fn append_bits(&self, into: &mut Vec<Bit>) {
        match self {
            Value::Bits(w) => w.append_bits(into),
            Value::Bool(w) => w.append_bits(into),
            Value::Unsigned(w) => w.append_bits(into),
            Value::Signed(w) => w.append_bits(into),
            Value::Bytes(w) => w.append_bits(into),
            Value::Array(w) => w.append_bits(into),
            Value::Record(fields) => fields.iter().for_each(|(_, w)| w.append_bits(into)),
            Value::Other(_, w) => w.append_bits(into),
        }
    }

    fn from_bits(ty: &Type, bits: &[Bit]) -> Option<Self> {
        Some(match ty {
            Type::Bits(_) => Value::Bits(BitString(bits.to_vec())),
            Type::Bool => Value::Bool(bits[0]),
            Type::Unsigned(_) => Value::Unsigned(Unsigned(bits.to_vec())),
            Type::Signed(_) => Value::Signed(Signed(bits.to_vec())),
            Type::Bytes(_) => Value::Bytes(Bytes(bits.to_vec())),
            Type::Array(..) => Value::Array(Vec::from_bits(ty, bits)?),
            Type::Fixed(..) | Type::Float(_) | Type::List(..) | Type::Enum(_) => {
                Value::Other(ty.clone(), BitString(bits.to_vec()))
            }
            Type::Record(fields) => {
                let mut rest = bits;
                let mut read = |(name, ty): &(String, Type)| {
                    let (own, after) = rest.split_at(ty.width() as usize);
                    rest = after;
                    Some((name.clone(), Value::from_bits(ty, own)?))
                };
                Value::Record(fields.iter().map(&mut read).collect::<Option<_>>()?)
            }
        })
    }
}
