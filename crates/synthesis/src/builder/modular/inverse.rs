//! Inverses by a binary algorithm of constant shape.

use super::{Modulus, Natural};
use crate::builder::{Bit, CircuitBuilder, Integer, Unsigned};

/// Two numbers x and y with x ≡ ±r a / 2^i and y ≡ ∓s a / 2^i after i steps, y odd and not zero.
struct State {
    /// Two's complement.
    x: Vec<Bit>,
    /// The same; the lowest bit is one.
    y: Vec<Bit>,
    r: Vec<Bit>,
    s: Vec<Bit>,
    /// Set if x has the sign that says ∓.
    turned: Bit,
}

impl CircuitBuilder {
    /// The inverse of `a` modulo an odd number m of n bits, and 0 for a multiple of m. Of no meaning for other numbers that have a factor in
    /// common with m. `a` has at most as many bits as m, and need not be below it.
    ///
    /// *Cost*: about 9n², one reduction and one weighted sum: 595,851 for curve25519, 603,195 for secp256k1, 593,134 for P-256. A power by
    /// squares would take about 255 squares of 31,000 each, more than 8 million.
    ///
    /// *Source*: Kaliski, *The Montgomery inverse and its applications*, 1995: each of 2n steps halves x or the difference of x and y, and
    /// doubles s in place of halving r. Here signs of x and y tell the next difference, so nothing is compared or negated; s goes on
    /// to be doubled when x is zero, so the power of two is always 2^(2n).
    ///
    /// # Panics
    /// If the modulus is even, or `a` has more bits.
    pub fn mod_inverse(&mut self, modulus: &Modulus, a: &Unsigned) -> Unsigned {
        assert!(modulus.0.bit(0), "an odd modulus");
        let n = modulus.bits();
        let a = super::operand(modulus, a);
        let mut state = State {
            x: [a.bits(), &[Bit::FALSE]].concat(),
            y: (0..=n).map(|i| modulus.0.bit(i).into()).collect(),
            r: vec![Bit::TRUE],
            s: vec![Bit::FALSE],
            turned: Bit::FALSE,
        };
        for step in 0..2 * n {
            state = self.inverse_step(n, step, state);
        }
        // s is the inverse times 2^(2n), or its negative if x has not turned. The complement of its bits makes it negative, less a constant.
        let reduced = self.mod_reduce(modulus, &Unsigned::new(state.s));
        let mut factor = Natural::power_of_two(0);
        (0..2 * n).for_each(|_| factor = modulus.halved(&factor));
        let (mut weights, mut less) = (Vec::with_capacity(n + 1), Natural::new(Vec::new()));
        for _ in 0..n {
            less = modulus.sum(&less, &modulus.0.minus(&factor));
            let twice = modulus.doubled(&factor);
            weights.push(std::mem::replace(&mut factor, twice));
        }
        weights.push(less);
        let negative = !state.turned;
        let low = vec![Bit::FALSE; n];
        let flipped: Vec<Bit> = reduced.bits().iter().map(|&bit| self.xor(bit, negative)).collect();
        self.weighted_sum(modulus, &[&low[..], &flipped, &[negative]].concat(), &weights)
    }

    /// If x is odd, the halved difference of both in place of x, and the lesser of both in place of y, by absolute value; else x halved.
    fn inverse_step(&mut self, n: usize, step: usize, state: State) -> State {
        let State { x, y, r, s, turned } = state;
        // The product of both is below 2^(2n - step).
        let width = n.min(2 * n - step);
        let (odd, sign) = (x[0], x[width]);
        let opposite = self.xor(sign, y[width]);
        let taken: Vec<Bit> = (1..=width)
            .map(|i| {
                let bit = self.xor(y[i], !opposite);
                self.and(odd, bit)
            })
            .collect();
        // Half of two odd numbers and a carry: the complement of y lacks one, and the lowest bits make the other.
        let mut half = self.sum_bits(width, |i| (x[i + 1], taken[i]), odd);
        // The sign changes if y is the greater one.
        let swap = self.xor(sign, half[width - 1]);
        let kept = (1..=width).map(|i| self.mux(swap, x[i], y[i]));
        let kept: Vec<Bit> = [Bit::TRUE].into_iter().chain(kept).collect();
        let next = n.min(2 * n - step - 1);
        half.resize(next + 1, half[width - 1]);
        // Numbers that are added or exchanged are at most m.
        let at = |bits: &[Bit], i: usize| bits.get(i).copied().unwrap_or(Bit::FALSE);
        let added: Vec<Bit> = (0..n.min(s.len())).map(|i| self.and(odd, s[i])).collect();
        let sum = self.sum_bits(n.min(step + 2), |i| (at(&r, i), at(&added, i)), Bit::FALSE);
        let doubled = (0..s.len().max(r.len())).map(|i| match i < n {
            true => self.mux(swap, at(&r, i), at(&s, i)),
            false => at(&s, i),
        });
        let doubled = [Bit::FALSE].into_iter().chain(doubled).collect();
        State { x: half, y: kept[..=next].to_vec(), r: sum, s: doubled, turned: self.xor(turned, swap) }
    }
}

impl Modulus {
    /// Half of a residue, of an odd modulus.
    fn halved(&self, residue: &Natural) -> Natural {
        let even = if residue.bit(0) { residue.plus(&self.0) } else { residue.clone() };
        Natural::new((1..even.bits()).map(|i| even.bit(i)).collect())
    }
}
