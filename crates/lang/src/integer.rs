//! The methods of integers, as in Rust.

use crate::{
    arithmetic::{beyond, bit, low_wires, sign, within},
    machine::Machine,
    number::{Number, ONE, ZERO},
    operation::Kind,
    panic::Reason,
    source_error::SourceError,
    tree::{BinaryOp, Method, Scalar, Span},
    word::{Word, width_of},
};

/// The work of a bit that is counted.
const BIT_WORK: usize = 6;

impl Machine<'_> {
    /// A method of integers of a type.
    ///
    /// *Errors*: a result that always overflows; a secret exponent; a source that costs more than it may.
    pub(crate) fn integer_method(
        &mut self,
        method: Method,
        ty: Scalar,
        values: &[Word],
        span: Span,
    ) -> Result<Word, SourceError> {
        let a = values[0];
        let b = values.get(1).copied().unwrap_or(Word::FALSE);
        match method {
            Method::Min | Method::Max => Ok(self.extreme(method == Method::Max, a, b, span)),
            Method::Abs => self.absolute(a, ty, span),
            Method::UnsignedAbs => Ok(self.magnitude(a, span)),
            Method::AbsDiff => {
                let difference = self.wider(BinaryOp::Sub, a, b, ty, span)?;
                Ok(self.magnitude(difference, span))
            }
            Method::IntegerRoot => self.root(a, ty, span),
            Method::Pow => self.power(a, b, ty, span),
            Method::WrappingAdd => self.wrapping(|machine| machine.binary(BinaryOp::Add, a, b, ty, span)),
            Method::WrappingSub => self.wrapping(|machine| machine.binary(BinaryOp::Sub, a, b, ty, span)),
            Method::WrappingMul => self.wrapping(|machine| machine.binary(BinaryOp::Mul, a, b, ty, span)),
            Method::WrappingNeg => self.wrapping(|machine| machine.binary(BinaryOp::Sub, Word::FALSE, a, ty, span)),
            Method::SaturatingAdd => self.saturating(BinaryOp::Add, a, b, ty, span),
            Method::SaturatingSub => self.saturating(BinaryOp::Sub, a, b, ty, span),
            Method::RotateLeft | Method::RotateRight => self.rotate(method == Method::RotateLeft, a, b, ty, span),
            Method::CountOnes | Method::CountZeros => {
                let counted = self.digits_of(a, ty, method == Method::CountZeros, span)?;
                self.count(&counted, span)
            }
            Method::LeadingZeros | Method::TrailingZeros => {
                let mut zeros = self.digits_of(a, ty, true, span)?;
                if method == Method::LeadingZeros {
                    zeros.reverse();
                }
                for k in 1..zeros.len() {
                    zeros[k] = self.and(zeros[k - 1], zeros[k], span);
                }
                self.count(&zeros, span)
            }
            _ => Err(SourceError::bug(span, "a method of floating-point numbers")),
        }
    }

    /// An operation that wraps around where it would panic.
    fn wrapping<T>(&mut self, operation: impl FnOnce(&mut Self) -> T) -> T {
        let on = self.panics.switch(false);
        let result = operation(self);
        self.panics.switch(on);
        result
    }

    /// A sum or a difference that has room for its sign and a carry.
    fn wider(&mut self, op: BinaryOp, a: Word, b: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        self.binary(op, a, b, Scalar::signed(ty.bits + 2), span)
    }

    /// The distance from zero.
    fn magnitude(&mut self, a: Word, span: Span) -> Word {
        match a.known() {
            Some(value) => Word::constant(value.abs()),
            None if !a.signed() => a,
            None => self.record(Kind::NegIf, &[sign(a), a], (ZERO, (-a.lo).max(a.hi)), span),
        }
    }

    fn absolute(&mut self, a: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        let magnitude = self.magnitude(a, span);
        if within((magnitude.lo, magnitude.hi), ty) {
            return Ok(magnitude);
        }
        if let Some(value) = magnitude.known() {
            return self.wrap_known(value, ty, span);
        }
        if !self.panics.is_on() {
            return Ok(self.cast(magnitude, ty, span));
        }
        self.check(bit(magnitude, ty.bits - 1), Reason::Overflow, span)?;
        Ok(low_wires(magnitude, ty))
    }

    /// The sum or the difference, or the end of the type that it is beyond.
    fn saturating(&mut self, op: BinaryOp, a: Word, b: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        let exact = self.wider(op, a, b, ty, span)?;
        if within((exact.lo, exact.hi), ty) {
            return Ok(exact);
        }
        if let Some(value) = exact.known() {
            return Ok(Word::constant(value.clamp(ty.min(), ty.max())));
        }
        let outside = self.is_outside(exact, ty, span);
        let end = self.select(sign(exact), Word::constant(ty.min()), Word::constant(ty.max()), span);
        Ok(self.select(outside, end, low_wires(exact, ty), span))
    }

    /// Square and multiply: only products that the power is a multiple of. A number of type `i1` is its own odd power, though its square does not fit.
    fn power(&mut self, a: Word, exponent: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        let Some(exponent) = exponent.known() else {
            let fault = SourceError::new(span, "the exponent of `pow` is secret, expected a known number");
            return Err(fault.hint("multiply in a loop up to the greatest exponent, with an `if` inside"));
        };
        if exponent == ZERO {
            return self.wrap_known(ONE, ty, span);
        }
        if ty == Scalar::signed(1) && exponent.bit(0) {
            return Ok(a);
        }
        let (mut result, mut factor) = (Word::TRUE, a);
        for k in 0..exponent.digits() {
            if k > 0 {
                factor = self.binary(BinaryOp::Mul, factor, factor, ty, span)?;
            }
            if exponent.bit(k) {
                result = self.binary(BinaryOp::Mul, result, factor, ty, span)?;
            }
        }
        Ok(result)
    }

    /// A rotation by any number of bits.
    fn rotate(&mut self, left: bool, a: Word, by: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        let bits = Number::from(ty.bits);
        let unsigned = Scalar::unsigned(ty.bits);
        let by = self.binary(BinaryOp::Rem, by, Word::constant(bits), Scalar::unsigned(32), span)?;
        let mut rotated = self.cast(a, unsigned, span);
        for k in 0..width_of(ZERO, by.hi) {
            let step = if left { 1 << k } else { ty.bits - (1 << k) };
            let high = self.shift_by(BinaryOp::Shl, rotated, step, unsigned, span);
            let moved = self.xor(high, beyond(rotated, ty.bits - step), span);
            rotated = self.select(bit(by, k), moved, rotated, span);
        }
        Ok(self.cast(rotated, ty, span))
    }

    /// The bits of a number, or their negations, the lowest first.
    ///
    /// *Errors*: a source that costs more than it may.
    fn digits_of(&mut self, a: Word, ty: Scalar, negated: bool, span: Span) -> Result<Vec<Word>, SourceError> {
        // Known bits record nothing, and yet each is looked at and counted.
        self.work(BIT_WORK * usize::from(ty.bits))?;
        let unsigned = self.cast(a, Scalar::unsigned(ty.bits), span);
        let bits = (0..ty.bits).map(|k| bit(unsigned, k));
        Ok(bits.map(|bit| if negated { self.not(bit, span) } else { bit }).collect())
    }

    /// The number of bits that are set.
    fn count(&mut self, bits: &[Word], span: Span) -> Result<Word, SourceError> {
        bits.iter().try_fold(Word::FALSE, |sum, bit| self.binary(BinaryOp::Add, sum, *bit, Scalar::unsigned(32), span))
    }
}
