//! Fixed-point numbers: integers times a power of two.
//!
//! A number of type `fixed<I, F>` is represented by its value times 2^F, an integer. Sums, differences, remainders and comparisons are those of
//! the integers; products, quotients, roots and conversions to fewer fractional bits are rounded down, towards negative
//! infinity, which for a product is wiring.

use crate::{
    arithmetic::{beyond, known, low_wires, products, squares, within},
    machine::Machine,
    number::{Number, ONE, ZERO, mask, power},
    operation::Kind,
    panic::Reason,
    source_error::SourceError,
    tree::{Scalar, Span},
    word::{Word, width_of},
};

/// The work of a known root, or of the range of one.
const ROOT_WORK: usize = 512;

impl Machine<'_> {
    /// The product of two numbers with this many fractional bits.
    ///
    /// *Errors*: a product that is always out of range.
    pub(crate) fn mul_fixed(
        &mut self,
        a: Word,
        b: Word,
        ty: Scalar,
        fraction: u16,
        span: Span,
    ) -> Result<Word, SourceError> {
        let range = if a == b { squares(a) } else { products(a, b) };
        if let Some(product) = known(range, &[a, b]) {
            return self.wrap_known(product >> fraction, ty, span);
        }
        if a.known() == Some(ZERO) || b.known() == Some(ZERO) {
            return Ok(Word::FALSE);
        }
        let one = power(fraction);
        for (x, y) in [(a, b), (b, a)] {
            if x.known() == Some(one) {
                return Ok(y);
            }
        }
        let (lo, hi) = (range.0 >> fraction, range.1 >> fraction);
        if !within((lo, hi), ty) && !self.panics.is_on() {
            // The low bits of the product suffice.
            let wide = Scalar::signed(ty.bits + fraction);
            let product = self.record(Kind::Mul, &[a, b], (wide.min(), wide.max()), span);
            return Ok(beyond(product, fraction));
        }
        let product = self.record(Kind::Mul, &[a, b], range, span);
        self.checked(beyond(product, fraction), ty, span)
    }

    /// The quotient of two numbers with this many fractional bits.
    ///
    /// *Errors*: as [`Machine::mul_fixed`], and a division that is always by zero.
    pub(crate) fn div_fixed(
        &mut self,
        a: Word,
        b: Word,
        ty: Scalar,
        fraction: u16,
        span: Span,
    ) -> Result<Word, SourceError> {
        let by_zero = self.equal(b, Word::FALSE, span);
        self.check(by_zero, Reason::DivisionByZero, span)?;
        let shifted = |x: Number| x << fraction;
        if let (Some(x), Some(y)) = (a.known(), b.known()) {
            let quotient = if y == ZERO { ZERO } else { shifted(x).div_floor(y) };
            return self.wrap_known(quotient, ty, span);
        }
        if a.known() == Some(ZERO) {
            return Ok(a);
        }
        // The quotient by a larger divisor is nearer to 0.
        let by = |x: Number, nearest: bool| shifted(x).div_floor(if (x < ZERO) == nearest { b.hi } else { b.lo });
        let most = shifted((-a.lo).max(a.hi).max(ONE));
        let range = match (b.lo > ZERO, a.signed() || b.signed()) {
            (true, _) => (by(a.lo, false), by(a.hi, true)),
            (false, true) => (-most, most),
            (false, false) => (ZERO, most),
        };
        let operands = [a, b, Word::constant(fraction.into())];
        // Divided by zero, all wires may be set.
        let width = width_of(-most, most);
        let node = self.trace.push_node(Kind::DivFloor, width, &operands, span.line);
        let quotient = match by_zero.known() {
            Some(ZERO) => Word::of_node(node, 0, range),
            _ if self.panics.is_on() => Word::of_node(node, 0, range),
            _ => Word::of_node(node, 0, (-power(width - 1), mask(width - 1))),
        };
        if !self.panics.is_on() {
            return Ok(self.cast(quotient, ty, span));
        }
        self.checked(quotient, ty, span)
    }

    /// The square root of a number.
    ///
    /// *Errors*: the root of a number that is always negative.
    pub(crate) fn root(&mut self, a: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        let fraction = ty.fraction.unwrap_or_default();
        self.work(ROOT_WORK)?;
        let negative = self.less(a, Word::FALSE, span);
        self.check(negative, Reason::NegativeRoot, span)?;
        let of = |x: Number| (x << fraction).root();
        if let Some(value) = a.known() {
            return Ok(Word::constant(of(value)));
        }
        // Without its sign, a negative number would be another one.
        let a = self.and(a, Word::constant(ty.max()), span);
        let operands = [a, Word::constant(fraction.into())];
        let range = (of(a.lo), of(a.hi));
        Ok(self.record(Kind::Root, &operands, range, span))
    }

    /// The number converted to another type: fractional bits that the type lacks are dropped, and so are bits before the
    /// point.
    pub(crate) fn convert(&mut self, a: Word, from: Scalar, to: Scalar, span: Span) -> Word {
        let (before, after) = (from.fraction.unwrap_or_default(), to.fraction.unwrap_or_default());
        let moved = match before >= after {
            true => beyond(a, before - after),
            false => {
                let shift = after - before;
                match a.known() {
                    Some(value) => Word::constant(value << shift),
                    None => {
                        let range = (a.lo << shift, a.hi << shift);
                        self.record(Kind::ShiftLeft, &[a, Word::constant(shift.into())], range, span)
                    }
                }
            }
        };
        self.cast(moved, to, span)
    }

    /// An exact number, checked against the range of the type.
    fn checked(&mut self, exact: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        if let Some(value) = exact.known() {
            return self.wrap_known(value, ty, span);
        }
        if within((exact.lo, exact.hi), ty) {
            return Ok(exact);
        }
        let low = self.cast(exact, ty, span);
        let same = self.equal(low, exact, span);
        let failed = self.not(same, span);
        self.check(failed, Reason::Overflow, span)?;
        Ok(low_wires(exact, ty))
    }
}
