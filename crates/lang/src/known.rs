//! Gates for products and quotients with one known operand, built in the way with the fewest AND gates, and for sums of
//! many terms.

use garblet_synthesis::builder::{Aim, Bit, CircuitBuilder, Integer, Signed};

use crate::{
    gates::{self, Extent, Value},
    number::{Number, ZERO, mask, power},
    operation::{Kind, Operand, Origin, Recorded},
};

impl Value {
    /// The bits of a known number.
    pub(crate) fn of(value: Number) -> Self {
        let width = crate::word::width_of(value, value);
        let bits = (0..width).map(|i| Bit::from(value.bit(i))).collect();
        Value { bits, signed: value.is_negative() }
    }

    fn with_bits(&self, bits: &[Bit]) -> Self {
        Value { bits: bits.to_vec(), signed: self.signed }
    }

    /// The product with a known number: its magnitude, and whether it is negative.
    fn times(&self, c: &mut CircuitBuilder, (magnitude, negative): (u128, bool), width: usize) -> Vec<Bit> {
        match self.signed {
            true => c.mul_constant(&Signed::new(self.bits.clone()), magnitude, negative, width).bits().to_vec(),
            false => c.mul_constant(&self.unsigned(self.bits.len()), magnitude, negative, width).bits().to_vec(),
        }
    }
}

/// The magnitude of a number, and whether it is negative, if chains of sums are looked for.
fn narrow(k: Number) -> Option<(u128, bool)> {
    Some((k.magnitude()?, k.is_negative()))
}

/// The product of two numbers, of which `width` wires are wanted.
pub(crate) fn product(c: &mut CircuitBuilder, recorded: &Recorded, a: &Value, b: &Value, width: usize) -> Vec<Bit> {
    match recorded.known_factor() {
        Some((k, 0)) => mul(c, b, k, width),
        Some((k, _)) => mul(c, a, k, width),
        None => gates::mul(c, a, b, width),
    }
}

/// The product as a number of `width` bits, with an overflow bit above it.
pub(crate) fn checked_product(
    c: &mut CircuitBuilder,
    recorded: &Recorded,
    a: &Value,
    b: &Value,
    signed: bool,
    width: usize,
) -> Vec<Bit> {
    match recorded.known_factor() {
        Some((k, 0)) => checked_mul(c, b, k, signed, width),
        Some((k, _)) => checked_mul(c, a, k, signed, width),
        None => gates::checked_mul(c, a, b, signed, width),
    }
}

/// The quotient or the remainder of two numbers.
pub(crate) fn quotient(c: &mut CircuitBuilder, recorded: &Recorded, a: &Value, b: &Value, width: usize) -> Vec<Bit> {
    match recorded.operands[1].from {
        Origin::Constant(k) => divide(c, recorded.kind, a, k, width),
        _ => gates::divide(c, recorded.kind, a, b, width),
    }
}

/// `a * k`, of which `width` wires are wanted.
fn mul(c: &mut CircuitBuilder, a: &Value, k: Number, width: usize) -> Vec<Bit> {
    let plain = |c: &mut CircuitBuilder, bits: &[Bit]| gates::mul(c, &a.with_bits(bits), &Value::of(k), width);
    let Some(factor) = narrow(k) else { return plain(c, &a.bits) };
    let chain = |c: &mut CircuitBuilder, bits: &[Bit]| a.with_bits(bits).times(c, factor, width);
    c.cheapest(&a.bits, &[&plain, &chain])
}

/// `a * k` as a number of `width` bits, with an overflow bit above it.
fn checked_mul(c: &mut CircuitBuilder, a: &Value, k: Number, signed: bool, width: usize) -> Vec<Bit> {
    let plain =
        |c: &mut CircuitBuilder, bits: &[Bit]| gates::checked_mul(c, &a.with_bits(bits), &Value::of(k), signed, width);
    let possible = k != ZERO && (signed || !(a.signed || k.is_negative()));
    let Some(factor) = narrow(k).filter(|_| possible) else { return plain(c, &a.bits) };
    // All wires of the product: those beyond the type must equal its sign.
    let whole = |c: &mut CircuitBuilder, bits: &[Bit]| {
        let all = (bits.len() + Value::of(k).bits.len() + 1).max(width + 1);
        let mut product = a.with_bits(bits).times(c, factor, all);
        let beyond = product.split_off(width);
        let sign = if signed { product[width - 1] } else { Bit::FALSE };
        let wrong: Vec<Bit> = beyond.into_iter().map(|bit| c.xor(bit, sign)).collect();
        product.push(c.any(&wrong));
        product
    };
    // The wires of the type, and whether the operand is beyond what fits.
    let bounds = |c: &mut CircuitBuilder, bits: &[Bit]| {
        let own = a.with_bits(bits);
        let width_bits = width as u16;
        let (min, max) = match signed {
            true => (-power(width_bits - 1), mask(width_bits - 1)),
            false => (ZERO, mask(width_bits)),
        };
        // Division rounds towards zero, which is inwards.
        let (least, most) = if k < ZERO { (max / k, min / k) } else { (min / k, max / k) };
        let below = if signed { gates::less(c, &own, &Value::of(least)) } else { Bit::FALSE };
        let above = gates::less(c, &Value::of(most), &own);
        let mut product = own.times(c, factor, width);
        product.push(c.or(below, above));
        product
    };
    c.cheapest(&a.bits, &[&plain, &whole, &bounds])
}

/// The quotient or the remainder by a known number.
fn divide(c: &mut CircuitBuilder, kind: Kind, a: &Value, divisor: Number, width: usize) -> Vec<Bit> {
    let plain =
        |c: &mut CircuitBuilder, bits: &[Bit]| gates::divide(c, kind, &a.with_bits(bits), &Value::of(divisor), width);
    let shift = divisor.exponent().map(usize::from).filter(|shift| a.signed && shift + 1 < a.bits.len());
    let Some(shift) = shift else { return plain(c, &a.bits) };
    // Rounds towards zero: all that is cut off makes a negative number greater.
    let biased = |c: &mut CircuitBuilder, bits: &[Bit]| {
        let sign = *bits.last().expect("a sign");
        let bias = |i: usize| if i < shift { sign } else { Bit::FALSE };
        let bias: Vec<Bit> = (0..bits.len()).map(bias).collect();
        let own = Signed::new(bits.to_vec());
        let moved = c.add(&own, &Signed::new(bias.clone()));
        if kind == Kind::Rem {
            let low: Vec<Bit> = (0..=shift).map(|i| if i < shift { moved.bit(i) } else { Bit::FALSE }).collect();
            let rest = c.sub(&Signed::new(low), &Signed::new(bias).resize(shift + 1));
            return rest.resize(width).bits().to_vec();
        }
        let quotient = Signed::new(moved.bits()[shift..].to_vec()).resize(width);
        let quotient = if divisor.is_negative() { c.neg(&quotient) } else { quotient };
        quotient.bits().to_vec()
    };
    c.cheapest(&a.bits, &[&plain, &biased])
}

/// `a + k` or `a - k` if the condition holds, else `a`.
pub(crate) fn add_if(
    c: &mut CircuitBuilder,
    kind: Kind,
    condition: Bit,
    a: &Value,
    k: &Value,
    width: usize,
) -> Vec<Bit> {
    let masked: Vec<Bit> = (0..width).map(|i| if k.bit(i) == Bit::TRUE { condition } else { Bit::FALSE }).collect();
    let (a, masked) = (a.unsigned(width), Integer::new(masked));
    let sum = if kind == Kind::SubIf { c.sub(&a, &masked) } else { c.add(&a, &masked) };
    sum.bits().to_vec()
}

impl Recorded {
    /// The factor that is known, and its place.
    fn known_factor(&self) -> Option<(Number, usize)> {
        let known = |at: usize| match self.operands[at].from {
            Origin::Constant(value) => Some((value, at)),
            _ => None,
        };
        known(0).or_else(|| known(1))
    }

    /// Returns whether a known operand allows several ways to build it.
    pub(crate) fn has_ways(&self) -> bool {
        match self.kind {
            Kind::Mul | Kind::CheckedMul => self.known_factor().is_some_and(|(factor, _)| narrow(factor).is_some()),
            Kind::Div | Kind::Rem => {
                let power = |divisor: Number| self.operands[0].signed && divisor.exponent().is_some();
                matches!(self.operands[1].from, Origin::Constant(divisor) if power(divisor))
            }
            _ => false,
        }
    }

    /// Returns whether it is a sum of unsigned numbers.
    pub(crate) fn is_sum(&self) -> bool {
        matches!(self.kind, Kind::Add | Kind::WrappingAdd) && self.operands.iter().all(|operand| !operand.signed)
    }
}

/// The most terms of a sum. The work of building it grows with their square.
const MOST_TERMS: usize = 1 << 11;

/// The nodes that are whole sums, read only by another sum. For few layers, sums that wrap around are among them, where the other one wraps around
/// no later.
pub(crate) fn absorbed(all: &[Recorded], needed: &[bool], wanted: &[Extent], aim: Aim) -> Vec<bool> {
    let mut readers = vec![0u32; all.len()];
    let mut absorbed = vec![false; all.len()];
    let mut terms = vec![1; all.len()];
    wanted.iter().for_each(|extent| readers[extent.node as usize] += 1);
    for (at, recorded) in all.iter().enumerate().filter(|(at, _)| needed[*at]) {
        let mut own = 0;
        for &Operand { from, start, len, .. } in &recorded.operands {
            own += 1;
            let Origin::Local(node) = from else { continue };
            let (node, read) = (node as usize, &all[node as usize]);
            readers[node] += 1;
            let whole = start == 0 && len == read.width;
            let is_exact = match aim {
                Aim::Size => read.kind == Kind::Add,
                Aim::Depth => read.kind == Kind::Add || recorded.width <= read.width,
            };
            let fits = own + terms[node] <= MOST_TERMS;
            absorbed[node] = whole && recorded.is_sum() && read.is_sum() && is_exact && fits;
            own += if absorbed[node] { terms[node] - 1 } else { 0 };
        }
        terms[at] = own;
    }
    absorbed.iter().zip(readers).map(|(&absorbed, readers)| absorbed && readers == 1).collect()
}
