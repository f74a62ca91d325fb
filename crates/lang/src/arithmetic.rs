//! Operations on words: known values are computed, ranges are propagated, and the rest is recorded.

use garblet_synthesis::builder::Aim;

use crate::{
    machine::Machine,
    number::{Number, ONE, ZERO, mask, power},
    operation::Kind,
    panic::Reason,
    source_error::SourceError,
    tree::{BinaryOp, Scalar, Span},
    word::{Wires, Word, width_of},
};

type Range = (Number, Number);

/// The most wires that a sum of a loop has beyond its type until it is checked.
const LONG_SUM_BITS: u16 = 16;

/// The range of a bit.
const BIT: Range = (ZERO, ONE);

impl Machine<'_> {
    /// A binary operation other than those that skip their second operand.
    ///
    /// *Errors*: an operation that always panics.
    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        a: Word,
        b: Word,
        ty: Scalar,
        span: Span,
    ) -> Result<Word, SourceError> {
        if let Some(format) = ty.float {
            return self.float_binary(op, a, b, format, span);
        }
        Ok(match op {
            BinaryOp::Add | BinaryOp::Sub => return self.add_or_sub(op, a, b, ty, span),
            BinaryOp::Mul => match ty.fraction {
                Some(fraction) => return self.mul_fixed(a, b, ty, fraction, span),
                None => return self.mul(a, b, ty, span),
            },
            BinaryOp::Div if let Some(fraction) = ty.fraction => return self.div_fixed(a, b, ty, fraction, span),
            BinaryOp::Div | BinaryOp::Rem => return self.divide(op, a, b, ty, span),
            BinaryOp::Shl | BinaryOp::Shr => return self.shift(op, a, b, ty, span),
            BinaryOp::And => self.and(a, b, span),
            BinaryOp::Or => self.or(a, b, span),
            BinaryOp::Xor => self.xor(a, b, span),
            BinaryOp::Less => self.less(a, b, span),
            BinaryOp::Greater => self.less(b, a, span),
            BinaryOp::Equal => self.equal(a, b, span),
            // The front makes them contraries of others.
            BinaryOp::LessEqual | BinaryOp::GreaterEqual => {
                let (a, b) = if op == BinaryOp::LessEqual { (a, b) } else { (b, a) };
                let greater = self.less(b, a, span);
                self.not(greater, span)
            }
            BinaryOp::NotEqual => {
                let equal = self.equal(a, b, span);
                self.not(equal, span)
            }
        })
    }

    pub(crate) fn record(&mut self, kind: Kind, operands: &[Word], range: Range, span: Span) -> Word {
        self.trace.push(kind, width_of(range.0, range.1), operands, range, span.line)
    }

    fn add_or_sub(&mut self, op: BinaryOp, a: Word, b: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        let (kind, range) = match op {
            BinaryOp::Add => (Kind::Add, (a.lo + b.lo, a.hi + b.hi)),
            // In a branch that is taken only if b is not greater, nothing can overflow.
            _ if self.is_ordered(b, a) => (Kind::Sub, ((a.lo - b.hi).max(ZERO), (a.hi - b.lo).max(ZERO))),
            _ => (Kind::Sub, (a.lo - b.hi, a.hi - b.lo)),
        };
        if let Some(value) = known(range, &[a, b]) {
            return self.wrap_known(value, ty, span);
        }
        if b.known() == Some(ZERO) {
            return Ok(a);
        }
        if within(range, ty) {
            return Ok(self.record(kind, &[a, b], range, span));
        }
        if !self.panics.is_on() {
            let kind = if kind == Kind::Add { Kind::WrappingAdd } else { kind };
            return Ok(self.record(kind, &[a, b], (ty.min(), ty.max()), span));
        }
        if self.aim == Aim::Depth && kind == Kind::Add && !ty.signed {
            return self.long_sum(a, b, ty, span);
        }
        let exact = self.record(kind, &[a, b], range, span);
        let failed = self.is_outside(exact, ty, span);
        self.check(failed, Reason::Overflow, span)?;
        Ok(low_wires(exact, ty))
    }

    /// A sum with a check, which is one with the last sum if that was made at the same place, as in a loop.
    fn long_sum(&mut self, a: Word, b: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        let most = ty.bits + LONG_SUM_BITS;
        let (sum, more) = match self.reopened_sum(a, b.hi, most, span) {
            Some(sum) => (sum, b),
            None => (self.reopened_sum(b, a.hi, most, span).unwrap_or(b), a),
        };
        let exact = self.record(Kind::Add, &[sum, more], (sum.lo + more.lo, sum.hi + more.hi), span);
        let low = low_wires(exact, ty);
        self.check_sum(exact, low, ty.bits, span)?;
        Ok(low)
    }

    /// The lesser of two integers, or the greater if set.
    pub(crate) fn extreme(&mut self, greater: bool, a: Word, b: Word, span: Span) -> Word {
        let less = self.less(a, b, span);
        if greater { self.select(less, b, a, span) } else { self.select(less, a, b, span) }
    }

    /// Returns whether a number with at most one wire more than the type is out of its range.
    pub(crate) fn is_outside(&mut self, exact: Word, ty: Scalar, span: Span) -> Word {
        if exact.lo > ty.max() || exact.hi < ty.min() {
            return Word::TRUE;
        }
        let top = exact.width() - 1;
        let above = bit(exact, top);
        match ty.signed && exact.signed() {
            true => {
                let sign = bit(exact, top - 1);
                self.xor(above, sign, span)
            }
            false => above,
        }
    }

    pub(crate) fn wrap_known(&mut self, value: Number, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        let wrapped = wrap(value, ty);
        self.check(Word::truth(wrapped != value), Reason::Overflow, span)?;
        Ok(Word::constant(wrapped))
    }

    fn mul(&mut self, a: Word, b: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        if let (Some(x), Some(y)) = (a.known(), b.known()) {
            return self.wrap_known(x * y, ty, span);
        }
        let range = if a == b { squares(a) } else { products(a, b) };
        for (x, y) in [(a, b), (b, a)] {
            match x.known() {
                Some(ZERO) => return Ok(Word::FALSE),
                Some(ONE) => return Ok(y),
                _ => {}
            }
        }
        if within(range, ty) {
            return Ok(self.record(Kind::Mul, &[a, b], range, span));
        }
        if !self.panics.is_on() {
            return Ok(self.record(Kind::Mul, &[a, b], (ty.min(), ty.max()), span));
        }
        let operands = [a, b, Word::truth(ty.signed)];
        let node = self.trace.push_node(Kind::CheckedMul, ty.bits + 1, &operands, span.line);
        self.check(Word::of_node(node, ty.bits, BIT), Reason::Overflow, span)?;
        // The range of a product that always overflows is one of the type's ends.
        Ok(Word::of_node(node, 0, (range.0.clamp(ty.min(), ty.max()), range.1.clamp(ty.min(), ty.max()))))
    }

    fn divide(&mut self, op: BinaryOp, a: Word, b: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        let by_zero = self.equal(b, Word::FALSE, span);
        self.check(by_zero, Reason::DivisionByZero, span)?;
        let most = (-a.lo).max(a.hi);
        if let (Some(x), Some(y)) = (a.known(), b.known()) {
            let value = match op {
                BinaryOp::Div if y == ZERO => -ONE,
                _ if y == ZERO => x,
                BinaryOp::Div => x / y,
                _ => x % y,
            };
            let is_exact = op == BinaryOp::Rem && ty.fraction.is_some();
            let overflows = may_negate_least(a, b, ty) && !is_exact;
            self.check(Word::truth(overflows), Reason::Overflow, span)?;
            return Ok(Word::constant(wrap(value, ty)));
        }
        let may_overflow = self.panics.is_on() && may_negate_least(a, b, ty);
        if may_overflow && op == BinaryOp::Rem {
            self.check_rem(a, b, ty, span)?;
        }
        let (kind, range) = match op {
            BinaryOp::Div if a.signed() || b.signed() => (Kind::Div, (-most, most)),
            BinaryOp::Div => (Kind::Div, (a.lo / b.hi.max(ONE), a.hi / b.lo.max(ONE))),
            _ => {
                let most = if b.lo <= ZERO && b.hi >= ZERO && !self.panics.is_on() {
                    most
                } else {
                    most.min((-b.lo).max(b.hi) - ONE).max(ZERO)
                };
                (Kind::Rem, (if a.signed() { -most } else { ZERO }, most))
            }
        };
        if range.0 == range.1 {
            return Ok(Word::constant(range.0));
        }
        let range = if within(range, ty) { range } else { (ty.min(), ty.max()) };
        // Without panics a quotient by zero has all the wires of the type.
        let range = if by_zero.known().is_none() && !self.panics.is_on() { (ty.min(), ty.max()) } else { range };
        let result = self.record(kind, &[a, b], range, span);
        if may_overflow && op == BinaryOp::Div {
            // No other quotient of two negative numbers is negative.
            let both = self.and(sign(a), sign(b), span);
            let failed = self.and(both, sign(result), span);
            self.check(failed, Reason::Overflow, span)?;
        }
        Ok(result)
    }

    /// Panics, as Rust does, on the remainder of the least integer by -1, whose quotient overflows. Remainders of fixed-point
    /// numbers are exact, whatever the quotient.
    fn check_rem(&mut self, a: Word, b: Word, ty: Scalar, span: Span) -> Result<(), SourceError> {
        if ty.fraction.is_some() {
            return Ok(());
        }
        // The division needs this magnitude too.
        let magnitude = self.record(Kind::NegIf, &[sign(a), a], (ZERO, -ty.min()), span);
        let is_least = bit(magnitude, ty.bits - 1);
        let by_minus_one = self.equal(b, Word::constant(-ONE), span);
        let failed = self.and(is_least, by_minus_one, span);
        self.check(failed, Reason::Overflow, span)
    }

    fn shift(&mut self, op: BinaryOp, a: Word, amount: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        let bits = Number::from(ty.bits);
        let digits = width_of(ZERO, bits - ONE);
        let inside = match ty.bits.is_power_of_two() {
            true => self.equal(beyond(amount, digits), Word::FALSE, span),
            false => self.less(amount, Word::constant(bits), span),
        };
        let failed = self.not(inside, span);
        self.check(failed, Reason::Overflow, span)?;
        if let Some(amount) = amount.known() {
            return Ok(self.shift_by(op, a, amount.min(bits).as_u16(), ty, span));
        }
        if a.known() == Some(ZERO) {
            return Ok(a);
        }
        Ok(match op {
            BinaryOp::Shl => {
                let most = amount.hi.min(bits - ONE).as_u16();
                let range = (a.lo << most, a.hi << most);
                let range = if a.lo >= ZERO && within(range, ty) { (ZERO, range.1) } else { (ty.min(), ty.max()) };
                self.record(Kind::ShiftLeft, &[a, amount], range, span)
            }
            _ => self.record(
                Kind::ShiftRight,
                &[a, amount],
                (a.lo.min(ZERO), a.hi.max(if a.signed() { -ONE } else { ZERO })),
                span,
            ),
        })
    }

    pub(crate) fn shift_by(&mut self, op: BinaryOp, a: Word, amount: u16, ty: Scalar, span: Span) -> Word {
        let scaled = |x: Number| x << amount;
        match (op, a.known()) {
            // All bits are shifted out.
            (BinaryOp::Shl, _) if amount >= ty.bits => Word::FALSE,
            (BinaryOp::Shl, Some(value)) => Word::constant(wrap(scaled(value), ty)),
            (BinaryOp::Shl, None) => {
                let range = (scaled(a.lo), scaled(a.hi));
                let range = if within(range, ty) { range } else { (ty.min(), ty.max()) };
                self.record(Kind::ShiftLeft, &[a, Word::constant(Number::from(amount))], range, span)
            }
            _ => beyond(a, amount),
        }
    }

    /// Bitwise negation of an integer, negation of a Boolean.
    pub(crate) fn not_of(&mut self, a: Word, ty: Scalar, span: Span) -> Word {
        let turned = |x: Number| if ty.signed { !x } else { ty.max() - x };
        match a.known() {
            Some(value) => Word::constant(turned(value)),
            None => self.record(Kind::Not, &[a], (turned(a.hi), turned(a.lo)), span),
        }
    }

    /// Arithmetic negation.
    ///
    /// *Errors*: a number that is always the least one.
    pub(crate) fn neg(&mut self, a: Word, ty: Scalar, span: Span) -> Result<Word, SourceError> {
        if let Some(value) = a.known() {
            return self.wrap_known(-value, ty, span);
        }
        let range = (-a.hi, -a.lo);
        if within(range, ty) {
            return Ok(self.record(Kind::NegIf, &[Word::TRUE, a], range, span));
        }
        if !self.panics.is_on() {
            return Ok(self.record(Kind::NegIf, &[Word::TRUE, a], (ty.min(), ty.max()), span));
        }
        let exact = self.record(Kind::NegIf, &[Word::TRUE, a], range, span);
        let failed = self.is_outside(exact, ty, span);
        self.check(failed, Reason::Overflow, span)?;
        Ok(low_wires(exact, ty))
    }

    /// Negation of a Boolean.
    pub(crate) fn not(&mut self, a: Word, span: Span) -> Word {
        let result = self.not_of(a, Scalar::BOOL, span);
        if let Some((condition, x, y)) = self.compared
            && condition == a
        {
            // not (x < y): selecting x or y by it gives the greater, just as selecting by y < x would.
            self.compared = Some((result, y, x));
        }
        result
    }

    pub(crate) fn and(&mut self, a: Word, b: Word, span: Span) -> Word {
        if let (Some(x), Some(y)) = (a.known(), b.known()) {
            return Word::constant(x & y);
        }
        if a == b {
            return a;
        }
        for (mask, x) in [(a, b), (b, a)] {
            let Some(value) = mask.known() else { continue };
            if value == ZERO || value == -ONE {
                return if value == ZERO { mask } else { x };
            }
            // Taking low wires is only wiring.
            if value & (value + ONE) == ZERO
                && let Wires::Node { node, start, len } = x.wires
                && (!x.signed() || len >= width_of(ZERO, value))
            {
                return Word::of_node(node, start, (ZERO, if x.signed() { value } else { value.min(x.hi) }));
            }
        }
        let range = match (a.signed(), b.signed()) {
            (false, false) => (ZERO, a.hi.min(b.hi)),
            (true, false) => (ZERO, b.hi),
            (false, true) => (ZERO, a.hi),
            (true, true) => full(a, b),
        };
        self.record(Kind::And, &[a, b], range, span)
    }

    pub(crate) fn or(&mut self, a: Word, b: Word, span: Span) -> Word {
        if let (Some(x), Some(y)) = (a.known(), b.known()) {
            return Word::constant(x | y);
        }
        if a == b {
            return a;
        }
        for (x, other) in [(a, b), (b, a)] {
            match x.known() {
                Some(ZERO) => return other,
                Some(value) if value == -ONE => return x,
                Some(ONE) if (other.lo, other.hi) == BIT => return x,
                _ => {}
            }
        }
        let range = full(a, b);
        self.record(Kind::Or, &[a, b], (if range.0 < ZERO { range.0 } else { a.lo.max(b.lo) }, range.1), span)
    }

    pub(crate) fn xor(&mut self, a: Word, b: Word, span: Span) -> Word {
        if let (Some(x), Some(y)) = (a.known(), b.known()) {
            return Word::constant(x ^ y);
        }
        if a == b {
            return Word::FALSE;
        }
        match (a.known(), b.known()) {
            (Some(ZERO), _) => b,
            (_, Some(ZERO)) => a,
            _ => self.record(Kind::Xor, &[a, b], full(a, b), span),
        }
    }

    pub(crate) fn less(&mut self, a: Word, b: Word, span: Span) -> Word {
        if a.hi < b.lo {
            return Word::TRUE;
        }
        if a.lo >= b.hi || a == b {
            return Word::FALSE;
        }
        let result = self.record(Kind::Less, &[a, b], BIT, span);
        self.compared = Some((result, a, b));
        result
    }

    pub(crate) fn equal(&mut self, a: Word, b: Word, span: Span) -> Word {
        if a == b || (a.known().is_some() && a.known() == b.known()) {
            return Word::TRUE;
        }
        if a.hi < b.lo || b.hi < a.lo {
            return Word::FALSE;
        }
        for (x, other) in [(a, b), (b, a)] {
            if (x.lo, x.hi) == BIT && (other.lo, other.hi) == (ONE, ONE) {
                return x;
            }
        }
        self.record(Kind::Equal, &[a, b], BIT, span)
    }

    /// `a` if the condition holds, else `b`.
    pub(crate) fn select(&mut self, condition: Word, a: Word, b: Word, span: Span) -> Word {
        if let Some(value) = condition.known() {
            return if value != ZERO { a } else { b };
        }
        if a == b || b.wires == Wires::Any {
            return a;
        }
        if a.wires == Wires::Any {
            return b;
        }
        if (a.known(), b.known()) == (Some(ONE), Some(ZERO)) {
            return condition;
        }
        let mut range = (a.lo.min(b.lo), a.hi.max(b.hi));
        if let Some((compared, x, y)) = self.compared
            && compared == condition
        {
            match (a, b) == (x, y) {
                true => range.1 = a.hi.min(b.hi),
                false if (a, b) == (y, x) => range.0 = a.lo.max(b.lo),
                false => {}
            }
        }
        self.record(Kind::Select, &[condition, a, b], range, span)
    }

    /// The word as a value of another type: its low wires, read as that type.
    pub(crate) fn cast(&mut self, a: Word, to: Scalar, span: Span) -> Word {
        if within((a.lo, a.hi), to) {
            return a;
        }
        if let Some(value) = a.known() {
            return Word::constant(wrap(value, to));
        }
        match a.wires {
            Wires::Node { node, start, len } if len >= to.bits => Word::of_node(node, start, (to.min(), to.max())),
            // A negative number becomes a wide unsigned one.
            _ => self.record(Kind::WrappingAdd, &[a, Word::FALSE], (to.min(), to.max()), span),
        }
    }

    /// The element at `index`; past the end, any value.
    pub(crate) fn element(&mut self, index: Word, elements: &[Word], span: Span) -> Word {
        let first = elements[0];
        if elements.iter().all(|&e| e == first) {
            return first;
        }
        let lo = elements.iter().map(|e| e.lo).min().unwrap_or(ZERO);
        let hi = elements.iter().map(|e| e.hi).max().unwrap_or(ZERO);
        if let [zero, one] = elements {
            return self.select(index.narrowed(ZERO, ONE), *one, *zero, span);
        }
        let operands: Vec<Word> = std::iter::once(index).chain(elements.iter().copied()).collect();
        self.record(Kind::Element, &operands, (lo, hi), span)
    }

    /// Packs words into unsigned numbers of up to 63 wires, several words in each, the first word highest.
    pub(crate) fn pack(&mut self, words: &[(Word, Scalar)], span: Span) -> Vec<Word> {
        let mut packed = Vec::new();
        let mut sum = Word::FALSE;
        let mut width = 0;
        for &(word, ty) in words {
            if width + ty.bits > 63 {
                packed.push(std::mem::replace(&mut sum, Word::FALSE));
                width = 0;
            }
            let part = self.cast(word, Scalar::unsigned(ty.bits), span);
            width += ty.bits;
            let moved = self.shift_by(BinaryOp::Shl, sum, ty.bits, Scalar::unsigned(width), span);
            sum = self.or(moved, part, span);
        }
        packed.push(sum);
        packed
    }
}

pub(crate) fn known(range: Range, operands: &[Word]) -> Option<Number> {
    operands.iter().all(|w| w.known().is_some()).then_some(range.0)
}

pub(crate) fn within(range: Range, ty: Scalar) -> bool {
    range.0 >= ty.min() && range.1 <= ty.max()
}

/// The value of the low wires.
pub(crate) fn wrap(value: Number, ty: Scalar) -> Number {
    if within((value, value), ty) {
        return value;
    }
    let low = value & mask(ty.bits);
    if low > ty.max() { low - power(ty.bits) } else { low }
}

/// The range of the square of a number.
pub(crate) fn squares(a: Word) -> Range {
    let least = if a.lo <= ZERO && a.hi >= ZERO { ZERO } else { a.lo.abs().min(a.hi.abs()) };
    let most = a.lo.abs().max(a.hi.abs());
    (least * least, most * most)
}

pub(crate) fn products(a: Word, b: Word) -> Range {
    // Most often there are no signs.
    if !a.signed() && !b.signed() {
        return (a.lo * b.lo, a.hi * b.hi);
    }
    let corners = [(a.lo, b.lo), (a.lo, b.hi), (a.hi, b.lo), (a.hi, b.hi)].map(|(x, y)| x * y);
    (corners.into_iter().min().unwrap_or(ZERO), corners.into_iter().max().unwrap_or(ZERO))
}

/// The range of all bitwise combinations.
fn full(a: Word, b: Word) -> Range {
    if !a.signed() && !b.signed() {
        return (ZERO, mask(a.width().max(b.width())));
    }
    let digits = |w: Word| w.width() - u16::from(w.signed());
    let most = digits(a).max(digits(b));
    (-power(most), mask(most))
}

/// One wire as a Boolean. The number is not negative, or has that wire.
pub(crate) fn bit(word: Word, at: u16) -> Word {
    match word.wires {
        Wires::Node { node, start, len } if at < len => Word::of_node(node, start + at, BIT),
        Wires::Node { .. } => Word::FALSE,
        _ => Word::truth(word.lo.bit(at)),
    }
}

/// The sign: 1 if negative.
pub(crate) fn sign(word: Word) -> Word {
    if word.signed() { bit(word, word.width() - 1) } else { Word::FALSE }
}

/// Returns whether `a` can be the least number of the type while `b` is -1.
fn may_negate_least(a: Word, b: Word, ty: Scalar) -> bool {
    ty.signed && a.lo == ty.min() && b.lo <= -ONE && b.hi >= -ONE
}

/// The wires from `amount` on: a shift to the right.
pub(crate) fn beyond(word: Word, amount: u16) -> Word {
    match word.wires {
        Wires::Node { node, start, len } => {
            // However far a signed number is shifted, its sign remains.
            let first = amount.min(if word.signed() { len - 1 } else { len });
            Word::of_node(node, start + first, (word.lo >> first, word.hi >> first))
        }
        _ => Word::constant(word.lo >> amount),
    }
}

/// The low wires of a number, as a value of the type; unless the run panics, the number is such a value.
pub(crate) fn low_wires(exact: Word, ty: Scalar) -> Word {
    let (lo, hi) = (exact.lo.max(ty.min()), exact.hi.min(ty.max()));
    match exact.wires {
        // Even an operation that always panics needs wires to read.
        Wires::Node { node, start, .. } if lo <= hi => Word::of_node(node, start, (lo, hi)),
        _ => Word::constant(wrap(exact.lo, ty)),
    }
}
