//! Floating-point numbers of IEEE 754, as in Rust.
//!
//! A number is the unsigned integer that its bits are. Operations are rounded to the nearest, ties to even, and none panics.

use garblet_circuit::Float;
use garblet_synthesis::builder::{Bit, CircuitBuilder, FloatFormat, Integer, Signed, Unsigned};

use crate::{
    arithmetic::bit,
    gates::Value,
    machine::Machine,
    number::{Number, ONE, ZERO, mask, power},
    operation::Kind,
    source_error::SourceError,
    tree::{BinaryOp, Method, Scalar, Span},
    word::Word,
};

/// The work of an operation on known numbers, which gates compute.
const FOLDED_WORK: usize = 1 << 13;
/// The same of a function with tables.
const FUNCTION_WORK: usize = 1 << 19;

/// The bit of the sign.
pub(crate) fn sign_of(format: Float) -> Number {
    power(format.width() as u16 - 1)
}

/// The greatest number without its sign, infinity; greater ones are NaN.
fn infinity(format: Float) -> Number {
    format.infinity().into()
}

/// The formats by the numbers that operations know them by.
const CODES: [(Float, FloatFormat); 4] = [
    (Float::F32, FloatFormat::F32),
    (Float::F64, FloatFormat::F64),
    (Float::F16, FloatFormat::F16),
    (Float::Bf16, FloatFormat::BF16),
];

fn code(format: Float) -> Number {
    CODES.iter().position(|(own, _)| *own == format).unwrap_or(0).into()
}

fn format_of(code: usize) -> FloatFormat {
    CODES[code % CODES.len()].1
}

/// Returns whether it is an operation of this module.
pub(crate) fn is_float(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::FloatAdd
            | Kind::FloatSub
            | Kind::FloatMul
            | Kind::FloatDiv
            | Kind::FloatRoot
            | Kind::FloatMulAdd
            | Kind::FloatCompare
            | Kind::FloatFromInt
            | Kind::FloatToInt
            | Kind::FloatConvert
    ) || has_tables(kind)
}

/// Returns whether it is a function whose gates include tables.
fn has_tables(kind: Kind) -> bool {
    matches!(kind, Kind::FloatExp | Kind::FloatLn | Kind::FloatSin | Kind::FloatCos)
}

/// The gates of an operation.
pub(crate) fn build(c: &mut CircuitBuilder, kind: Kind, operands: &[Value], code: usize, width: usize) -> Vec<Bit> {
    let format = format_of(code);
    let number = |at: usize| operands[at].unsigned(format.width());
    match kind {
        Kind::FloatAdd => c.float_add(format, &number(0), &number(1)).bits().to_vec(),
        Kind::FloatSub => c.float_sub(format, &number(0), &number(1)).bits().to_vec(),
        Kind::FloatMul => c.float_mul(format, &number(0), &number(1)).bits().to_vec(),
        Kind::FloatDiv => c.float_div(format, &number(0), &number(1)).bits().to_vec(),
        Kind::FloatRoot => c.float_sqrt(format, &number(0)).bits().to_vec(),
        Kind::FloatExp => c.float_exp(format, &number(0)).bits().to_vec(),
        Kind::FloatLn => c.float_ln(format, &number(0)).bits().to_vec(),
        Kind::FloatSin => c.float_sin(format, &number(0)).bits().to_vec(),
        Kind::FloatCos => c.float_cos(format, &number(0)).bits().to_vec(),
        Kind::FloatMulAdd => c.float_mul_add(format, &number(0), &number(1), &number(2)).bits().to_vec(),
        Kind::FloatCompare => c.float_compare(format, &number(0), &number(1)).to_vec(),
        Kind::FloatFromInt => {
            let width = operands[0].signed_width().max(2);
            c.float_from_int(format, &operands[0].as_signed(width)).bits().to_vec()
        }
        Kind::FloatToInt if operands[1].number() == 1 => c.float_to_int(format, &number(0), width).bits().to_vec(),
        Kind::FloatToInt => {
            // Numbers below zero become zero.
            let integer: Signed = c.float_to_int(format, &number(0), width + 1);
            let (&sign, magnitude) = integer.bits().split_last().expect("a sign");
            c.mask(!sign, &Unsigned::new(magnitude.to_vec())).bits().to_vec()
        }
        _ => c.float_convert(format, format_of(operands[1].number()), &number(0)).bits().to_vec(),
    }
}

/// The value of an operation on known numbers, which the same gates compute.
pub(crate) fn folded(kind: Kind, format: Float, operands: &[Number]) -> Number {
    folded_bits(kind, format, operands, format.width() as u16)
}

fn folded_bits(kind: Kind, format: Float, operands: &[Number], width: u16) -> Number {
    let values: Vec<Value> = operands.iter().map(|&number| Value::of(number)).collect();
    let mut c = CircuitBuilder::new("known");
    let bits = build(&mut c, kind, &values, code(format).as_usize(), width.into());
    debug_assert!(bits.iter().all(|bit| [Bit::TRUE, Bit::FALSE].contains(bit)), "{kind:?} of known numbers is known");
    bits.iter().rev().fold(ZERO, |number, &bit| (number << 1) | if bit == Bit::TRUE { ONE } else { ZERO })
}

impl Machine<'_> {
    /// The result of an operation, of `width` wires.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn float(
        &mut self,
        kind: Kind,
        format: Float,
        operands: &[Word],
        width: u16,
        span: Span,
    ) -> Result<Word, SourceError> {
        let known: Option<Vec<Number>> = operands.iter().map(|operand| operand.known()).collect();
        if let Some(known) = known {
            let widest = known.iter().map(|number| number.digits()).chain([width]).max().unwrap_or(0);
            let work = if has_tables(kind) { FUNCTION_WORK } else { FOLDED_WORK };
            self.work(work * (1 + usize::from(widest) / 64))?;
            return Ok(Word::constant(folded_bits(kind, format, &known, width)));
        }
        let mut all = operands.to_vec();
        all.push(Word::constant(code(format)));
        Ok(self.record(kind, &all, (ZERO, mask(width)), span))
    }

    /// A binary operation.
    ///
    /// *Errors*: as [`Machine::float`].
    pub(crate) fn float_binary(
        &mut self,
        op: BinaryOp,
        a: Word,
        b: Word,
        format: Float,
        span: Span,
    ) -> Result<Word, SourceError> {
        let kind = match op {
            BinaryOp::Add => Kind::FloatAdd,
            BinaryOp::Sub => Kind::FloatSub,
            BinaryOp::Mul => Kind::FloatMul,
            BinaryOp::Div => Kind::FloatDiv,
            _ => Kind::FloatCompare,
        };
        if kind != Kind::FloatCompare {
            return self.float(kind, format, &[a, b], format.width() as u16, span);
        }
        let (a, b) = if let BinaryOp::Greater | BinaryOp::GreaterEqual = op { (b, a) } else { (a, b) };
        let compared = self.float(kind, format, &[a, b], 3, span)?;
        let [less, equal] = [0, 1].map(|at| bit(compared, at));
        Ok(match op {
            BinaryOp::Less | BinaryOp::Greater => less,
            BinaryOp::Equal => equal,
            BinaryOp::NotEqual => self.not(equal, span),
            // Not both are true.
            _ => self.xor(less, equal, span),
        })
    }

    /// The lesser of two numbers, or the greater if set; one of them if the other is NaN.
    ///
    /// *Errors*: as [`Machine::float`].
    pub(crate) fn float_extreme(
        &mut self,
        greater: bool,
        a: Word,
        b: Word,
        format: Float,
        span: Span,
    ) -> Result<Word, SourceError> {
        let op = if greater { BinaryOp::Greater } else { BinaryOp::Less };
        let first = self.float_binary(op, a, b, format, span)?;
        let magnitude = self.and(b, Word::constant(sign_of(format) - ONE), span);
        let nan = self.less(Word::constant(infinity(format)), magnitude, span);
        let first = self.or(first, nan, span);
        Ok(self.select(first, a, b, span))
    }

    /// A method of numbers of a format.
    ///
    /// *Errors*: as [`Machine::float`].
    pub(crate) fn float_method(
        &mut self,
        method: Method,
        format: Float,
        values: &[Word],
        span: Span,
    ) -> Result<Word, SourceError> {
        let width = format.width() as u16;
        let (a, infinity) = (values[0], Word::constant(infinity(format)));
        let magnitude = |machine: &mut Self| machine.and(a, Word::constant(sign_of(format) - ONE), span);
        Ok(match method {
            Method::Abs => magnitude(self),
            Method::Root => self.float(Kind::FloatRoot, format, values, width, span)?,
            Method::Exp => self.float(Kind::FloatExp, format, values, width, span)?,
            Method::Ln => self.float(Kind::FloatLn, format, values, width, span)?,
            Method::Sin => self.float(Kind::FloatSin, format, values, width, span)?,
            Method::Cos => self.float(Kind::FloatCos, format, values, width, span)?,
            Method::MulAdd => self.float(Kind::FloatMulAdd, format, values, width, span)?,
            Method::Min | Method::Max => self.float_extreme(method == Method::Max, a, values[1], format, span)?,
            Method::CopySign => {
                let (magnitude, sign) = (magnitude(self), self.and(values[1], Word::constant(sign_of(format)), span));
                self.or(magnitude, sign, span)
            }
            Method::IsNan => {
                let magnitude = magnitude(self);
                self.less(infinity, magnitude, span)
            }
            Method::IsInfinite => {
                let magnitude = magnitude(self);
                self.equal(magnitude, infinity, span)
            }
            Method::IsFinite => {
                let magnitude = magnitude(self);
                self.less(magnitude, infinity, span)
            }
            Method::IsSignNegative => bit(a, width - 1),
            Method::IsSignPositive => self.not(bit(a, width - 1), span),
            Method::ToBits | Method::FromBits => a,
            _ => return Err(SourceError::bug(span, "a method of integers")),
        })
    }

    /// `x as T`.
    ///
    /// *Errors*: as [`Machine::float`].
    pub(crate) fn float_cast(&mut self, x: Word, from: Scalar, to: Scalar, span: Span) -> Result<Word, SourceError> {
        match (from.float, to.float) {
            (Some(from), Some(to)) if from == to => Ok(x),
            (Some(from), Some(to)) => {
                self.float(Kind::FloatConvert, from, &[x, Word::constant(code(to))], to.width() as u16, span)
            }
            (None, Some(format)) => self.float(Kind::FloatFromInt, format, &[x], format.width() as u16, span),
            (Some(format), None) => {
                let operands = [x, Word::truth(to.signed)];
                let integer = self.float(Kind::FloatToInt, format, &operands, to.bits, span)?;
                Ok(self.cast(integer, to, span))
            }
            (None, None) => Ok(self.convert(x, from, to, span)),
        }
    }
}
