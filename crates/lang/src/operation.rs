//! Operations on words, as they are recorded in traces.

use crate::{
    number::{Number, number},
    word::width_of,
};

/// The kind of a recorded operation. Each operand is read as the integer that it stands for.
///
/// The result is the low wires of the true result, as many as the operation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The result is the whole sum: its range needs no more wires.
    Add,
    /// The low wires of a sum that may have more.
    WrappingAdd,
    Sub,
    /// c, a, b: a + b if c, else a; b is known.
    AddIf,
    /// c, a, b: a - b if c, else a; b is known.
    SubIf,
    Mul,
    /// Quotient, rounded towards zero.
    Div,
    /// Remainder, with the sign of the dividend.
    Rem,
    And,
    Or,
    Xor,
    Not,
    /// c, a: -a if c, else a.
    NegIf,
    Less,
    Equal,
    /// c, a, b: a if c, else b.
    Select,
    /// a, amount, both secret; the result has all the wires of the type.
    ShiftLeft,
    /// As [`Kind::ShiftLeft`]; signed a is filled with its sign.
    ShiftRight,
    /// index, elements.
    Element,
    /// code, happened, number: the code with the number put in, if it happened.
    Code,
    /// a, b, and whether they are signed (known): the product, with an overflow bit above it.
    CheckedMul,
    /// a, b, and the fractional bits (known): the quotient, rounded down.
    DivFloor,
    /// a, and the fractional bits (known): the square root, rounded down.
    Root,
    /// a, b, format (known): the sum of floating-point numbers.
    FloatAdd,
    /// As [`Kind::FloatAdd`]: the difference.
    FloatSub,
    /// As [`Kind::FloatAdd`]: the product.
    FloatMul,
    /// As [`Kind::FloatAdd`]: the quotient.
    FloatDiv,
    /// a, format (known): the square root.
    FloatRoot,
    /// a, b, c, format (known): the product of a and b, and c added, rounded once.
    FloatMulAdd,
    /// a, b, format (known): whether a is less, whether they are equal, and whether one of them is NaN.
    FloatCompare,
    /// An integer, format (known): the next number.
    FloatFromInt,
    /// a, format, and whether the integer is signed (both known): the integer before the point.
    FloatToInt,
    /// a, the other format, and its own (both known): the next number of the other format.
    FloatConvert,
    /// As [`Kind::FloatRoot`]: e to the power of it.
    FloatExp,
    /// As [`Kind::FloatRoot`]: the natural logarithm.
    FloatLn,
    /// As [`Kind::FloatRoot`]: the sine.
    FloatSin,
    /// As [`Kind::FloatRoot`]: the cosine.
    FloatCos,
    /// index: for each number below the result's width, whether it is the index.
    OneHot,
}

impl Kind {
    const ALL: [Kind; 38] = [
        Kind::Add,
        Kind::WrappingAdd,
        Kind::Sub,
        Kind::AddIf,
        Kind::SubIf,
        Kind::Mul,
        Kind::Div,
        Kind::Rem,
        Kind::And,
        Kind::Or,
        Kind::Xor,
        Kind::Not,
        Kind::NegIf,
        Kind::Less,
        Kind::Equal,
        Kind::Select,
        Kind::ShiftLeft,
        Kind::ShiftRight,
        Kind::Element,
        Kind::Code,
        Kind::CheckedMul,
        Kind::DivFloor,
        Kind::Root,
        Kind::FloatAdd,
        Kind::FloatSub,
        Kind::FloatMul,
        Kind::FloatDiv,
        Kind::FloatRoot,
        Kind::FloatMulAdd,
        Kind::FloatCompare,
        Kind::FloatFromInt,
        Kind::FloatToInt,
        Kind::FloatConvert,
        Kind::FloatExp,
        Kind::FloatLn,
        Kind::FloatSin,
        Kind::FloatCos,
        Kind::OneHot,
    ];

    /// The operation's approximate cost in AND gates, on operands of these sizes.
    pub(crate) fn estimate(self, width: u16, sizes: &Sizes) -> u64 {
        let width = u64::from(width);
        let Sizes { count, secret, widest, narrowest, product, last_is_known, .. } = *sizes;
        match self {
            Kind::Xor | Kind::Not | Kind::Code => 0,
            Kind::And | Kind::Or if secret < 2 => 0,
            // One bit more, as where bits are counted.
            Kind::Add if narrowest <= 1 => 2.min(width),
            Kind::Add
            | Kind::WrappingAdd
            | Kind::Sub
            | Kind::AddIf
            | Kind::SubIf
            | Kind::NegIf
            | Kind::And
            | Kind::Or
            | Kind::Select => width,
            Kind::Less | Kind::Equal => widest,
            Kind::Mul if secret < 2 => width * width / 4,
            Kind::Mul => product,
            Kind::Div | Kind::Rem => widest * (widest + 4) / 2,
            Kind::ShiftLeft | Kind::ShiftRight if last_is_known => 0,
            Kind::ShiftLeft | Kind::ShiftRight => width * 6,
            Kind::Element => width * (count - 1),
            Kind::CheckedMul if widest > SPLIT_FROM => whole_product(width + 2, width + 2),
            Kind::CheckedMul => (width + 2) * widest,
            Kind::DivFloor => widest * width * 3 / 4,
            Kind::Root => width * width / 2,
            Kind::FloatAdd | Kind::FloatSub => 24 * width,
            Kind::FloatMul | Kind::FloatDiv => 3 * width * width / 2,
            Kind::FloatRoot => width * width * 3 / 4,
            Kind::FloatMulAdd => 5 * width * width / 2,
            Kind::FloatExp => 5 * width * width,
            Kind::FloatLn => 8 * width * width,
            Kind::FloatSin | Kind::FloatCos => 15 * width * width,
            Kind::FloatCompare => 5 * widest,
            Kind::FloatFromInt | Kind::FloatToInt | Kind::FloatConvert => 14 * width.max(widest),
            Kind::OneHot => width,
        }
    }

    /// An approximate upper bound of the operation's gates, XOR gates included.
    pub(crate) fn gates(self, width: u16, sizes: &Sizes) -> u64 {
        6 * self.estimate(width, sizes) + u64::from(width) + sizes.total
    }
}

/// The sizes of an operation's operands, to the extent that they decide its cost.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sizes {
    count: u64,
    secret: u64,
    widest: u64,
    narrowest: u64,
    total: u64,
    product: u64,
    last_is_known: bool,
}

impl Sizes {
    /// The sizes with those of one more operand.
    pub(crate) fn add(&mut self, operand: &Operand) {
        let len = operand.width();
        self.last_is_known = matches!(operand.from, Origin::Constant(_));
        self.product = if self.count == 0 { len } else { whole_product(self.product, len) };
        self.narrowest = if self.count == 0 { len } else { self.narrowest.min(len) };
        self.count += 1;
        self.secret += u64::from(!self.last_is_known);
        self.widest = self.widest.max(len);
        self.total += len;
    }
}

/// The width from which on an estimate takes it that a product is split.
const SPLIT_FROM: u64 = 128;

/// The approximate cost of the whole product of two numbers, which Karatsuba's method splits.
fn whole_product(n: u64, m: u64) -> u64 {
    match n == m && n > SPLIT_FROM {
        true => 3 * whole_product(n.div_ceil(2), n.div_ceil(2)),
        false => n.saturating_mul(m),
    }
}

/// An operand of a recorded operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) from: Origin,
    pub(crate) start: u16,
    pub(crate) len: u16,
    pub(crate) signed: bool,
}

impl Operand {
    fn width(&self) -> u64 {
        match self.from {
            Origin::Constant(value) => width_of(value, value).into(),
            _ => self.len.into(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A result within the trace.
    Local(u32),
    /// An input of the trace.
    Input(u32),
    Constant(Number),
}

/// An operation as it was recorded.
pub(crate) struct Recorded {
    pub(crate) kind: Kind,
    pub(crate) width: u16,
    pub(crate) operands: Vec<Operand>,
}

const LOCAL: u32 = 0;
const INPUT: u32 = 1;
const CONSTANT: u32 = 2;
/// A constant of more than 64 bits beside its sign.
const WIDE: u32 = 3;
/// The words of an operand. Those of a wide one are counted in its first word.
const WORDS: usize = 3;

/// Writes an operation's head.
pub(crate) fn encode_head(kind: Kind, width: u16, operands: usize, code: &mut Vec<u32>) {
    code.push(kind as u32 | u32::from(width) << 8);
    code.push(operands as u32);
}

/// Writes an operand.
pub(crate) fn encode_operand(operand: Operand, code: &mut Vec<u32>) {
    let shape = u32::from(operand.signed) << 2 | u32::from(operand.start) << 16;
    match operand.from {
        Origin::Local(index) => code.extend([LOCAL | shape, index, operand.len.into()]),
        Origin::Input(index) => code.extend([INPUT | shape, index, operand.len.into()]),
        Origin::Constant(value) => {
            let sign = u32::from(value.is_negative()) << 2;
            if value.digits() <= 64 {
                let low = value.bits_from(0);
                return code.extend([CONSTANT | sign, low as u32, (low >> 32) as u32]);
            }
            let words = value.words();
            code.push(WIDE | sign | (words.len() as u32) << 16);
            code.extend(words);
        }
    }
}

/// Reads what [`encode_head`] and [`encode_operand`] wrote.
pub(crate) struct Decoder<'a> {
    code: &'a [u32],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(code: &'a [u32]) -> Self {
        Decoder { code }
    }

    fn operand(&mut self) -> Operand {
        let head = self.code[0];
        let signed = head >> 2 & 1 == 1;
        let start = (head >> 16) as u16;
        let is_wide = head & 3 == WIDE;
        let (words, rest) = self.code.split_at(if is_wide { 1 + usize::from(start) } else { WORDS });
        self.code = rest;
        let (index, last) = (words[1], words[2]);
        let from = match head & 3 {
            LOCAL => Origin::Local(index),
            INPUT => Origin::Input(index),
            CONSTANT => {
                let low = i128::from(last) << 32 | i128::from(index);
                Origin::Constant(number(low - (i128::from(signed) << 64)))
            }
            _ => Origin::Constant(Number::of_words(&words[1..])),
        };
        Operand { from, start, len: last as u16, signed }
    }
}

impl Iterator for Decoder<'_> {
    type Item = Recorded;

    fn next(&mut self) -> Option<Recorded> {
        let (&head, rest) = self.code.split_first()?;
        let (&count, rest) = rest.split_first()?;
        self.code = rest;
        Some(Recorded {
            kind: Kind::ALL[(head & 0xff) as usize],
            width: (head >> 8) as u16,
            operands: (0..count).map(|_| self.operand()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{ONE, mask, power};

    #[test]
    fn what_is_recorded_is_read_back() {
        let operands = [
            Operand { from: Origin::Local(7), start: 3, len: 60, signed: true },
            Operand { from: Origin::Input(1 << 31), start: 65_535, len: 65_535, signed: false },
            Operand { from: Origin::Constant(u64::MAX.into()), start: 0, len: 0, signed: false },
            Operand { from: Origin::Constant(i64::MIN.into()), start: 0, len: 0, signed: true },
            Operand { from: Origin::Constant(-ONE), start: 0, len: 0, signed: true },
            Operand { from: Origin::Constant(mask(127)), start: 0, len: 0, signed: false },
            Operand { from: Origin::Constant(mask(128)), start: 0, len: 0, signed: false },
            Operand { from: Origin::Constant(number(i128::MIN)), start: 0, len: 0, signed: true },
            Operand { from: Origin::Constant(-power(64)), start: 0, len: 0, signed: true },
            Operand { from: Origin::Constant(-power(64) - ONE), start: 0, len: 0, signed: true },
            Operand { from: Origin::Constant(-power(8000)), start: 0, len: 0, signed: true },
            Operand { from: Origin::Constant(mask(8192)), start: 0, len: 0, signed: false },
        ];
        for kind in Kind::ALL {
            let mut code = Vec::new();
            encode_head(kind, 300, operands.len(), &mut code);
            operands.iter().for_each(|&operand| encode_operand(operand, &mut code));
            let recorded = Decoder::new(&code).next().unwrap();
            assert_eq!((recorded.kind, recorded.width), (kind, 300));
            for (got, expected) in recorded.operands.iter().zip(operands) {
                assert_eq!(got.from, expected.from);
                match expected.from {
                    Origin::Constant(value) => assert_eq!(got.signed, value.is_negative()),
                    _ => assert_eq!(*got, expected),
                }
            }
        }
    }
}
