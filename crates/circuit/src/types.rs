//! Types of ports: how the wires of a port represent a value.

/// A format of floating-point numbers: one bit of sign, then exponent and fraction. All but one are of IEEE 754-2019, section 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// binary16.
    F16,
    /// bfloat16, the upper half of binary32.
    Bf16,
    /// binary32.
    F32,
    /// binary64.
    F64,
}

impl Float {
    /// All of them.
    pub const ALL: [Float; 4] = [Float::F16, Float::Bf16, Float::F32, Float::F64];

    /// The names of all, for messages.
    pub const NAMES: &'static str = "f16, bf16, f32 or f64";

    /// The format of that name, such as `f32`.
    pub fn named(name: &str) -> Option<Self> {
        Float::ALL.into_iter().find(|float| float.name() == name)
    }

    /// The name, as in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Float::F16 => "f16",
            Float::Bf16 => "bf16",
            Float::F32 => "f32",
            Float::F64 => "f64",
        }
    }

    /// The bits of a number.
    pub fn width(self) -> u32 {
        match self {
            Float::F16 | Float::Bf16 => 16,
            Float::F32 => 32,
            Float::F64 => 64,
        }
    }

    /// The bits of the fraction.
    pub fn fraction(self) -> u32 {
        match self {
            Float::F16 => 10,
            Float::Bf16 => 7,
            Float::F32 => 23,
            Float::F64 => 52,
        }
    }

    /// The exponent of 1.
    pub fn bias(self) -> u32 {
        (1 << (self.width() - self.fraction() - 2)) - 1
    }

    /// The bits of infinity. Greater ones without a sign are NaN.
    pub fn infinity(self) -> u64 {
        u64::from(2 * self.bias() + 1) << self.fraction()
    }
}

impl std::fmt::Display for Float {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a port. `w` wires carry a value of a type of width `w`; wire 0 is the least significant bit, and
/// elements and fields follow one another in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Wires without further meaning; read and written as an unsigned integer, wire 0 least significant.
    Bits(u32),
    /// One wire: true or false.
    Bool,
    /// An unsigned integer with this many bits.
    Unsigned(u32),
    /// A two's-complement integer with this many bits.
    Signed(u32),
    /// A fixed-point number, with the numbers of bits before the point (including the sign) and after it. Its wires are the two's
    /// complement of the number times 2 to the power of the bits after the point.
    Fixed(u32, u32),
    /// A floating-point number: fraction, exponent and sign, the lowest bit of the fraction first.
    Float(Float),
    /// A string of this many bytes: first byte first, bit 0 of a byte on the lower wire.
    Bytes(u32),
    /// An array of this many values of one type.
    Array(Box<Type>, u32),
    /// At most this many values of one type: first their count, then the values, then zeros.
    List(Box<Type>, u32),
    /// Named fields in order. A record whose fields are named `0`, `1` and so on is a tuple.
    Record(Vec<(String, Type)>),
    /// One of these variants, each with its name and the types of its fields. First comes the variant's number, then its fields
    /// one after another, then zeros up to the width of the widest variant. A variant with named fields has one
    /// field, a record.
    Enum(Vec<(String, Vec<Type>)>),
}

impl Type {
    /// The number of wires that carry a value of this type.
    ///
    /// Saturates, so that a type from a file can be checked against a limit without overflow.
    pub fn width(&self) -> u64 {
        match self {
            Type::Bits(n) | Type::Unsigned(n) | Type::Signed(n) => u64::from(*n),
            Type::Bool => 1,
            Type::Fixed(integer, fraction) => u64::from(*integer) + u64::from(*fraction),
            Type::Float(float) => float.width().into(),
            Type::Bytes(n) => u64::from(*n) * 8,
            Type::Array(element, n) => element.width().saturating_mul(u64::from(*n)),
            Type::List(element, n) => {
                element.width().saturating_mul(u64::from(*n)).saturating_add(Type::count_width(*n).into())
            }
            Type::Record(fields) => fields.iter().fold(0, |sum, (_, t)| sum.saturating_add(t.width())),
            Type::Enum(variants) => {
                let fields = |types: &[Type]| types.iter().fold(0u64, |sum, t| sum.saturating_add(t.width()));
                let widest = variants.iter().map(|(_, types)| fields(types)).max().unwrap_or(0);
                widest.saturating_add(Type::tag_width(variants.len()).into())
            }
        }
    }

    /// The most parts of a value that is read from a file or shown.
    pub const MAX_PARTS: u64 = 1 << 26;

    /// The most parts of a value, without those that are made of others. Parts without wires count: reading and showing them takes memory too.
    ///
    /// Saturates, as [`Type::width`] does.
    pub fn parts(&self) -> u64 {
        let sum = |sum: u64, ty: &Type| sum.saturating_add(ty.parts());
        match self {
            Type::Array(element, count) | Type::List(element, count) => element.parts().saturating_mul((*count).into()),
            Type::Record(fields) => fields.iter().map(|(_, ty)| ty).fold(0, sum),
            Type::Enum(variants) => variants.iter().map(|(_, types)| types.iter().fold(0, sum)).max().unwrap_or(0),
            _ => 1,
        }
        .max(1)
    }

    /// The number of wires for the variant number of an enum.
    pub fn tag_width(variants: usize) -> u32 {
        variants.next_power_of_two().trailing_zeros()
    }

    /// The number of wires for the count of a list of at most `most` values.
    pub fn count_width(most: u32) -> u32 {
        u32::BITS - most.leading_zeros()
    }

    /// The named fields of a variant with these field types, if they have names.
    pub fn named_fields(types: &[Type]) -> Option<&[(String, Type)]> {
        match types {
            [ty @ Type::Record(fields)] if !ty.is_tuple() => Some(fields),
            _ => None,
        }
    }

    /// Returns whether this is a record that represents a tuple.
    pub fn is_tuple(&self) -> bool {
        match self {
            Type::Record(fields) => fields.iter().enumerate().all(|(k, (name, _))| *name == k.to_string()),
            _ => false,
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Bits(n) => write!(f, "bits{n}"),
            Type::Bool => write!(f, "bool"),
            Type::Unsigned(n) => write!(f, "u{n}"),
            Type::Signed(n) => write!(f, "i{n}"),
            Type::Fixed(integer, fraction) => write!(f, "fixed<{integer}, {fraction}>"),
            Type::Float(float) => float.fmt(f),
            Type::Bytes(n) => write!(f, "bytes{n}"),
            Type::Array(element, n) => write!(f, "[{element}; {n}]"),
            Type::List(element, n) => write!(f, "[{element}; ..{n}]"),
            Type::Record(fields) => {
                write!(f, "{{")?;
                for (i, (name, t)) in fields.iter().enumerate() {
                    write!(f, "{}{name}: {t}", if i > 0 { ", " } else { "" })?;
                }
                write!(f, "}}")
            }
            Type::Enum(variants) => {
                write!(f, "enum {{")?;
                for (i, (name, types)) in variants.iter().enumerate() {
                    let list: Vec<String> = types.iter().map(Type::to_string).collect();
                    let fields = match (&list[..], Type::named_fields(types)) {
                        ([], _) => String::new(),
                        ([record], Some(_)) => format!(" {record}"),
                        _ => format!("({})", list.join(", ")),
                    };
                    write!(f, "{}{name}{fields}", if i > 0 { ", " } else { "" })?;
                }
                write!(f, "}}")
            }
        }
    }
}

/// A named, typed group of consecutive wires of a component or a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// The name, unique among the ports of its side.
    pub name: String,
    /// The type of the value.
    pub ty: Type,
}

impl Port {
    /// A port with this name and type.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Port { name: name.into(), ty }
    }

    /// The number of wires that the port has.
    pub fn width(&self) -> u32 {
        u32::try_from(self.ty.width()).unwrap_or(u32::MAX)
    }
}
