//! Sums, differences, products and inverses modulo a public number.
//!
//! A number beyond the modulus m of n bits is folded: each of its bits from place n on is worth a known residue, so the sum of these
//! residues and of the low n bits is the same modulo m. If m is close to a power of two, such as the primes of curves, residues have few
//! digits. Otherwise a few bits at a time choose a residue from a table, which has as many AND gates as the index has products.
//! A table also has the multiple of m that is taken off last.
//!
//! By estimate Barrett's and Montgomery's methods take more AND gates: both multiply by a constant twice, and Montgomery's needs a second reduction to
//! return the product itself.

mod inverse;
mod natural;

use natural::Natural;

use super::{
    Bit, CircuitBuilder,
    columns::Columns,
    constant::Way,
    word::{Integer, Unsigned},
};

/// The most bits of an index into a table of multiples.
const INDEX_BITS_MAX: usize = 8;

/// A public modulus from 2 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modulus(Natural);

impl Modulus {
    /// The modulus with these bytes, the most significant first; `None` for 0 and 1.
    pub fn from_be_bytes(bytes: &[u8]) -> Option<Self> {
        let bits = bytes.iter().rev().flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1)).collect();
        let value = Natural::new(bits);
        (value.bits() > 1).then_some(Modulus(value))
    }

    /// 2^255 - 19, of the field of curve25519. *Source*: RFC 7748, section 4.1.
    pub fn curve25519() -> Self {
        Self::of_powers(255, &[(0, true), (1, true), (4, true)])
    }

    /// 2^256 - 2^32 - 977, of the field of secp256k1. *Source*: SEC 2, version 2.0, section 2.4.1.
    pub fn secp256k1() -> Self {
        Self::of_powers(256, &[(32, true), (10, true), (6, false), (4, true), (0, true)])
    }

    /// 2^256 - 2^224 + 2^192 + 2^96 - 1, of the field of P-256. *Source*: NIST SP 800-186, section 3.2.1.3.
    pub fn p256() -> Self {
        Self::of_powers(256, &[(96, false), (192, false), (224, true), (0, true)])
    }

    /// A power of two, and others added to it or, where the flag is set, taken off.
    fn of_powers(first: usize, others: &[(usize, bool)]) -> Self {
        let (negative, positive): (Vec<_>, Vec<_>) = others.iter().partition(|(_, minus)| *minus);
        let value =
            positive.iter().fold(Natural::power_of_two(first), |sum, (i, _)| sum.plus(&Natural::power_of_two(*i)));
        Modulus(negative.iter().fold(value, |rest, (i, _)| rest.minus(&Natural::power_of_two(*i))))
    }

    /// The number of bits, without zeros above the highest one.
    pub fn bits(&self) -> usize {
        self.0.bits()
    }

    fn doubled(&self, residue: &Natural) -> Natural {
        let twice = residue.plus(residue);
        if twice >= self.0 { twice.minus(&self.0) } else { twice }
    }

    fn sum(&self, a: &Natural, b: &Natural) -> Natural {
        let sum = a.plus(b);
        if sum >= self.0 { sum.minus(&self.0) } else { sum }
    }

    /// The residues of 2^from to 2^(from + count - 1).
    fn powers_of_two(&self, from: usize, count: usize) -> Vec<Natural> {
        let one = Natural::power_of_two(0);
        let mut power = (0..from).fold(one, |power, _| self.doubled(&power));
        let next = |_| {
            let twice = self.doubled(&power);
            std::mem::replace(&mut power, twice)
        };
        (0..count).map(next).collect()
    }
}

/// A number of a circuit and the greatest value that it can have.
struct Bounded {
    bits: Vec<Bit>,
    most: Natural,
}

impl CircuitBuilder {
    /// `(a + b)` modulo m, for numbers of as many bits as m, n, which need not be below it.
    ///
    /// *Cost*: 3n + 1.
    ///
    /// # Panics
    /// If a number has more bits than the modulus.
    pub fn mod_add(&mut self, modulus: &Modulus, a: &Unsigned, b: &Unsigned) -> Unsigned {
        let [a, b] = [a, b].map(|number| operand(modulus, number));
        let sum = self.sum_bits(modulus.bits() + 1, |i| (a.bit(i), b.bit(i)), Bit::FALSE);
        self.without_multiple(modulus, &sum, false)
    }

    /// `(a - b)` modulo m, as [`CircuitBuilder::mod_add`]. *Cost*: 3n + 1.
    ///
    /// # Panics
    /// As [`CircuitBuilder::mod_add`].
    pub fn mod_sub(&mut self, modulus: &Modulus, a: &Unsigned, b: &Unsigned) -> Unsigned {
        let [a, b] = [a, b].map(|number| operand(modulus, number));
        let difference = self.sum_bits(modulus.bits() + 1, |i| (a.bit(i), !b.bit(i)), Bit::TRUE);
        self.without_multiple(modulus, &difference, true)
    }

    /// `a * b` modulo m, for numbers of as many bits as m, which need not be below it.
    ///
    /// *Cost*: [`CircuitBuilder::mul_full`] and [`CircuitBuilder::mod_reduce`].
    ///
    /// # Panics
    /// As [`CircuitBuilder::mod_add`].
    pub fn mod_mul(&mut self, modulus: &Modulus, a: &Unsigned, b: &Unsigned) -> Unsigned {
        let [a, b] = [a, b].map(|number| operand(modulus, number));
        let n = modulus.bits();
        let of_width = |width: usize| {
            move |c: &mut Self, bits: &[Bit]| {
                let [a, b] = [&bits[..n], &bits[n..]].map(|bits| Unsigned::new(bits.to_vec()).resize(width));
                c.mul_full(&a, &b).resize(2 * n).bits().to_vec()
            }
        };
        // Products of even widths are split better.
        let (own, even) = (of_width(n), of_width(n.next_multiple_of(2)));
        let product = self.cheapest(&[a.bits(), b.bits()].concat(), &[&own, &even]);
        self.mod_reduce(modulus, &Unsigned::new(product))
    }

    /// A number of any width modulo m, of as many bits as m.
    ///
    /// *Cost*: for a number of 2n bits, the digits of the residues of 2^n to 2^(2n - 1), each written with the fewest digits 1 and -1, or
    /// about n²/w + 2^w n/w for the best w, and about 2n.
    pub fn mod_reduce(&mut self, modulus: &Modulus, number: &Unsigned) -> Unsigned {
        let n = modulus.bits();
        if number.width() <= n {
            return self.without_multiple(modulus, number.resize(n + 1).bits(), false);
        }
        let residues = modulus.powers_of_two(n, number.width() - n);
        self.weighted_sum(modulus, number.bits(), &residues)
    }

    /// The low n bits and the sum of the residues of those of the others that are set, modulo m.
    fn weighted_sum(&mut self, modulus: &Modulus, bits: &[Bit], residues: &[Natural]) -> Unsigned {
        let by_digits = |c: &mut Self, bits: &[Bit]| {
            let folded = c.fold_by_digits(modulus, bits, residues);
            c.reduce_bounded(modulus, folded)
        };
        let by_table = move |window: usize| {
            move |c: &mut Self, bits: &[Bit]| {
                let folded = c.fold_by_tables(modulus, bits, residues, window);
                c.reduce_bounded(modulus, folded)
            }
        };
        let tables = [2, 3, 4, 5, 6, 7].map(by_table);
        let mut ways: Vec<Way<'_>> = vec![&by_digits];
        ways.extend(tables.iter().map(|way| way as Way<'_>));
        Unsigned::new(self.cheapest(bits, &ways))
    }

    /// A number of some more bits than the modulus, modulo m.
    fn reduce_bounded(&mut self, modulus: &Modulus, number: Bounded) -> Vec<Bit> {
        let (n, Bounded { bits, most }) = (modulus.bits(), number);
        if most < modulus.0 {
            return Unsigned::new(bits).resize(n).bits().to_vec();
        }
        let above = bits.len().saturating_sub(n);
        let residues = modulus.powers_of_two(n, above);
        let at_once = |c: &mut Self, bits: &[Bit]| c.without_multiple(modulus, bits, false).bits().to_vec();
        let by_digits = |c: &mut Self, bits: &[Bit]| {
            let folded = c.fold_by_digits(modulus, bits, &residues);
            c.reduce_bounded(modulus, folded)
        };
        let by_tables = |c: &mut Self, bits: &[Bit]| {
            let folded = c.fold_by_tables(modulus, bits, &residues, INDEX_BITS_MAX - 1);
            c.reduce_bounded(modulus, folded)
        };
        let mut ways: Vec<Way<'_>> = Vec::new();
        if above < INDEX_BITS_MAX {
            ways.push(&at_once);
        }
        if above > 1 {
            ways.push(&by_tables);
            if Digits::of(modulus, &residues).most.bits() < bits.len() {
                ways.push(&by_digits);
            }
        }
        self.cheapest(&bits, &ways)
    }

    fn fold_by_digits(&mut self, modulus: &Modulus, bits: &[Bit], residues: &[Natural]) -> Bounded {
        let Digits { terms, offset, most } = Digits::of(modulus, residues);
        let (low, high) = bits.split_at(modulus.bits());
        let mut columns = Columns::new(most.bits());
        columns.add(low, 0);
        (0..offset.bits()).for_each(|i| columns.push(i, offset.bit(i).into()));
        for (&bit, term) in high.iter().zip(&terms) {
            for &(place, minus) in term {
                match minus {
                    true => columns.subtract(&[bit], place),
                    false => columns.push(place, bit),
                }
            }
        }
        Bounded { bits: columns.sum(self), most }
    }

    /// As [`CircuitBuilder::fold_by_digits`], with a table for each few bits.
    fn fold_by_tables(&mut self, modulus: &Modulus, bits: &[Bit], residues: &[Natural], window: usize) -> Bounded {
        let (low, high) = bits.split_at(modulus.bits());
        let one = Natural::power_of_two(0);
        let windows = residues.len().div_ceil(window);
        let most = modulus.0.minus(&one).times(windows).plus(&Natural::power_of_two(low.len()).minus(&one));
        let mut columns = Columns::new(most.bits());
        columns.add(low, 0);
        for (index, residues) in high.chunks(window).zip(residues.chunks(window)) {
            let mut table = vec![Natural::new(Vec::new())];
            for residue in residues {
                let with: Vec<Natural> = table.iter().map(|sum| modulus.sum(sum, residue)).collect();
                table.extend(with);
            }
            let entry = self.constant_of(&table, low.len(), index);
            columns.add(&entry, 0);
        }
        Bounded { bits: columns.sum(self), most }
    }

    /// A number of at most eight bits more than the modulus, modulo m; two's complement if `signed`, of one bit more then.
    ///
    /// Its highest bits, from the modulus's highest place on, tell a multiple of m that leaves between -m and m. *Cost*: 2n, and the
    /// products of these bits.
    fn without_multiple(&mut self, modulus: &Modulus, bits: &[Bit], signed: bool) -> Unsigned {
        let n = modulus.bits();
        let index = &bits[n - 1..];
        let half = 1 << (index.len() - 1);
        let one = Natural::power_of_two(0);
        let wrap = Natural::power_of_two(n + 1);
        let multiple = |t: usize| {
            let is_negative = signed && t >= half;
            let least = Natural::power_of_two(n - 1).times(if is_negative { 2 * half - t } else { t });
            match is_negative {
                false => modulus.0.times(least.divided_by(&modulus.0) + 1),
                // As many multiples as reach the least number, without the last.
                true => {
                    let below = least.minus(&one).divided_by(&modulus.0);
                    if below == 0 { Natural::new(Vec::new()) } else { wrap.minus(&modulus.0.times(below)) }
                }
            }
        };
        let table: Vec<Natural> = (0..2 * half).map(multiple).collect();
        let entry = self.constant_of(&table, n + 1, index);
        let rest = self.sum_bits(n + 1, |i| (bits.get(i).copied().unwrap_or(Bit::FALSE), !entry[i]), Bit::TRUE);
        let is_below = rest[n];
        let back = |i: usize| if modulus.0.bit(i) { is_below } else { Bit::FALSE };
        Unsigned::new(self.sum_bits(n, |i| (rest[i], back(i)), Bit::FALSE))
    }

    /// The low `width` bits of an entry of a constant table, which has one for each index.
    fn constant_of(&mut self, table: &[Natural], width: usize, index: &[Bit]) -> Vec<Bit> {
        let index = Unsigned::new(index.to_vec());
        let part = |start: usize| {
            let word = |entry: &Natural| (0..128).map(|i| u128::from(entry.bit(start + i)) << i).sum::<u128>();
            let own: Vec<u128> = table.iter().map(word).collect();
            self.lookup(&own, 128.min(width - start), &index).bits().to_vec()
        };
        (0..width).step_by(128).flat_map(part).collect()
    }
}

/// An operand with as many bits as the modulus.
fn operand(modulus: &Modulus, number: &Unsigned) -> Unsigned {
    let n = modulus.bits();
    assert!(number.width() <= n, "{} bits, modulo a number of {n}", number.width());
    number.resize(n)
}

/// Numbers that are congruent to residues, written in few digits.
struct Digits {
    /// The places of the digits 1 and -1 of each, and whether it is -1.
    terms: Vec<Vec<(usize, bool)>>,
    /// A multiple of the modulus that makes their sum positive.
    offset: Natural,
    /// The greatest sum of them, the offset, and a number of as many bits as the modulus.
    most: Natural,
}

impl Digits {
    fn of(modulus: &Modulus, residues: &[Natural]) -> Self {
        let zero = Natural::new(Vec::new());
        let (mut terms, mut above, mut below) = (Vec::with_capacity(residues.len()), zero.clone(), zero);
        for residue in residues {
            let rest = modulus.0.minus(residue);
            let candidates = [
                (residue.clone(), false),
                (rest.clone(), true),
                (residue.plus(&modulus.0), false),
                (rest.plus(&modulus.0), true),
            ];
            let written = candidates.map(|(value, minus)| (value.digits(), value, minus));
            let (digits, value, minus) = written.into_iter().min_by_key(|(digits, ..)| digits.len()).expect("four");
            let total = if minus { &mut below } else { &mut above };
            *total = total.plus(&value);
            terms.push(digits.into_iter().map(|(place, negative)| (place, negative != minus)).collect());
        }
        let one = Natural::power_of_two(0);
        let multiples = below.plus(&modulus.0.minus(&one)).divided_by(&modulus.0);
        let offset = modulus.0.times(multiples);
        let most = above.plus(&offset).plus(&Natural::power_of_two(modulus.bits()).minus(&one));
        Digits { terms, offset, most }
    }
}

#[cfg(test)]
mod tests;
