//! Products of polynomials over GF(2), in few AND gates: linear maps are free.
//!
//! The product of two polynomials of n terms has 2n - 1. From five terms on it is put together from its residues modulo
//! polynomials without common factors, whose degrees add up to 2n - 1, by the Chinese remainder theorem. The factor at infinity
//! counts among them: the leading terms of a product are a product of leading terms. A residue modulo an irreducible
//! polynomial of degree d takes the AND gates of a product of d terms, and one modulo a power of x or of x + 1 only those of a
//! product that is cut off.
//!
//! *Source*: Karatsuba and Ofman 1962; Winograd, *Some bilinear forms whose multiplicative complexity depends on the field of
//! constants*, 1977; Cenk and Ozbudak, *On multiplication in finite fields*, Journal of Complexity 26, 2010.

use crate::builder::{Bit, CircuitBuilder};

/// A polynomial over GF(2): its coefficients, of 1 first, the last of them one.
type Poly = Vec<bool>;

/// AND gates of a product of 128 terms.
pub(super) const PRODUCT_128: u64 = 751;

/// For the products of some numbers of terms: the leading terms at infinity, the powers of x and of x + 1, and the number of
/// other irreducible polynomials, by degree.
const PLANS: [(usize, [usize; 3], usize); 5] =
    [(5, [3, 2, 2], 1), (6, [2, 2, 2], 2), (7, [3, 3, 2], 2), (8, [3, 2, 2], 3), (128, [3, 3, 3], 41)];

/// The product, of 2n - 1 terms for factors of n terms each.
///
/// *Cost*: 1, 3, 6, 9, 14, 18, 22 and 26 AND gates for 1 to 8 terms, and 751 for 128.
pub(super) fn product(c: &mut CircuitBuilder, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    match PLANS.iter().find(|plan| plan.0 == a.len()) {
        Some(&(_, powers, others)) => by_residues(c, (a, b), powers, others),
        None if a.len() <= 3 => by_pairs(c, a, b),
        None => by_halves(c, a, b),
    }
}

/// `a_i b_j + a_j b_i = (a_i + a_j)(b_i + b_j) + a_i b_i + a_j b_j` for all pairs.
fn by_pairs(c: &mut CircuitBuilder, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    let mut terms = vec![Bit::FALSE; 2 * a.len() - 1];
    let squares: Vec<Bit> = a.iter().zip(b).map(|(&x, &y)| c.and(x, y)).collect();
    for i in 0..a.len() {
        terms[2 * i] = c.xor(terms[2 * i], squares[i]);
        for j in 0..i {
            let both = pair(c, (a, b), (i, j), &squares);
            terms[i + j] = c.xor(terms[i + j], both);
        }
    }
    terms
}

/// `a_i b_j + a_j b_i`, of which the products of equal numbers are known.
fn pair(c: &mut CircuitBuilder, (a, b): (&[Bit], &[Bit]), (i, j): (usize, usize), squares: &[Bit]) -> Bit {
    let (x, y) = (c.xor(a[i], a[j]), c.xor(b[i], b[j]));
    let whole = c.and(x, y);
    let known = c.xor(squares[i], squares[j]);
    c.xor(whole, known)
}

/// Karatsuba's method, for an even number of terms.
fn by_halves(c: &mut CircuitBuilder, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    let half = a.len() / 2;
    let (low, high) = (product(c, &a[..half], &b[..half]), product(c, &a[half..], &b[half..]));
    let (x, y) = (sum(c, &a[..half], &a[half..]), sum(c, &b[..half], &b[half..]));
    let both = product(c, &x, &y);
    let middle = sum(c, &low, &high);
    let middle = sum(c, &both, &middle);
    let mut terms = vec![Bit::FALSE; 4 * half - 1];
    for (part, from) in [(low, 0), (middle, half), (high, 2 * half)] {
        add_to(c, &mut terms[from..], &part);
    }
    terms
}

/// The first terms of a product, as many as a factor has, at most three.
fn cut_off(c: &mut CircuitBuilder, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    let squares: Vec<Bit> = a.iter().zip(b).take(2).map(|(&x, &y)| c.and(x, y)).collect();
    let mut terms = vec![squares[0]];
    if a.len() > 1 {
        terms.push(pair(c, (a, b), (1, 0), &squares));
    }
    if a.len() > 2 {
        let (first, last) = (c.and(a[0], b[2]), c.and(a[2], b[0]));
        let both = c.xor(first, last);
        terms.push(c.xor(both, squares[1]));
    }
    terms
}

/// The product by its residues modulo powers of x and x + 1 and other irreducible polynomials, and its leading terms.
fn by_residues(
    c: &mut CircuitBuilder,
    (a, b): (&[Bit], &[Bit]),
    [leading, zero, one]: [usize; 3],
    others: usize,
) -> Vec<Bit> {
    let mut moduli = vec![power(&[false, true], zero), power(&[true, true], one)];
    moduli.extend(irreducible().skip(2).take(others));
    let mut terms = vec![Bit::FALSE; 2 * a.len() - 1];
    for (k, modulus) in moduli.iter().enumerate() {
        let (x, y) = (remainder(c, a, modulus), remainder(c, b, modulus));
        let residue = match k {
            0 => cut_off(c, &x, &y),
            // As polynomials of x + 1.
            1 => {
                let (x, y) = (shifted(c, &x), shifted(c, &y));
                let residue = cut_off(c, &x, &y);
                shifted(c, &residue)
            }
            _ => {
                let whole = product(c, &x, &y);
                remainder(c, &whole, modulus)
            }
        };
        // The multiple of the other moduli that has this residue.
        let rest =
            moduli.iter().enumerate().filter(|(other, _)| *other != k).fold(vec![true], |all, (_, m)| times(&all, m));
        let scaled = scaled(c, &residue, &inverse(&rest, modulus));
        let scaled = remainder(c, &scaled, modulus);
        let part = self::scaled(c, &scaled, &rest);
        add_to(c, &mut terms, &part);
    }
    // What is left is a multiple of all moduli, and has the leading terms of the product.
    let all = moduli.iter().fold(vec![true], |all, modulus| times(&all, modulus));
    let [x, y] = [a, b].map(|factor| factor.iter().rev().take(leading).copied().collect::<Vec<Bit>>());
    let mut quotient = cut_off(c, &x, &y);
    let degree = all.len() - 1;
    for j in 0..leading {
        for i in (0..j).filter(|i| all[degree - (j - i)]) {
            quotient[j] = c.xor(quotient[j], quotient[i]);
        }
    }
    quotient.reverse();
    let part = scaled(c, &quotient, &all);
    add_to(c, &mut terms, &part);
    terms
}

/// The coefficients of p(x + 1), for at most three of p(x).
fn shifted(c: &mut CircuitBuilder, bits: &[Bit]) -> Vec<Bit> {
    let constant = bits.iter().fold(Bit::FALSE, |all, &bit| c.xor(all, bit));
    [constant].into_iter().chain(bits[1..].iter().copied()).collect()
}

/// The remainder of a polynomial.
pub(super) fn remainder(c: &mut CircuitBuilder, bits: &[Bit], modulus: &[bool]) -> Vec<Bit> {
    let degree = modulus.len() - 1;
    let mut rest = bits.to_vec();
    rest.resize(rest.len().max(degree), Bit::FALSE);
    for at in (degree..rest.len()).rev() {
        let leading = rest[at];
        for k in (0..degree).filter(|&k| modulus[k]) {
            rest[at - degree + k] = c.xor(rest[at - degree + k], leading);
        }
    }
    rest.truncate(degree);
    rest
}

/// The product with a constant.
fn scaled(c: &mut CircuitBuilder, bits: &[Bit], by: &[bool]) -> Vec<Bit> {
    let mut terms = vec![Bit::FALSE; bits.len() + by.len() - 1];
    for at in (0..by.len()).filter(|&at| by[at]) {
        add_to(c, &mut terms[at..], bits);
    }
    terms
}

fn sum(c: &mut CircuitBuilder, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    a.iter().zip(b).map(|(&x, &y)| c.xor(x, y)).collect()
}

fn add_to(c: &mut CircuitBuilder, terms: &mut [Bit], part: &[Bit]) {
    for (term, &bit) in terms.iter_mut().zip(part) {
        *term = c.xor(*term, bit);
    }
}

/// Irreducible polynomials, by degree: x, x + 1, x² + x + 1 and so on.
fn irreducible() -> impl Iterator<Item = Poly> {
    (2u32..).map(of_number).filter(|poly| {
        let smaller = (2u32..).map(of_number).take_while(|factor| 2 * factor.len() <= poly.len() + 1);
        smaller.into_iter().all(|factor| rest_of(poly, &factor).iter().any(|&term| term))
    })
}

/// The polynomial whose coefficients are the bits of a number.
fn of_number(number: u32) -> Poly {
    (0..u32::BITS - number.leading_zeros()).map(|bit| number >> bit & 1 == 1).collect()
}

fn power(base: &[bool], exponent: usize) -> Poly {
    (0..exponent).fold(vec![true], |all, _| times(&all, base))
}

fn times(a: &[bool], b: &[bool]) -> Poly {
    let mut terms = vec![false; a.len() + b.len() - 1];
    for (i, _) in a.iter().enumerate().filter(|(_, term)| **term) {
        b.iter().enumerate().for_each(|(j, term)| terms[i + j] ^= term);
    }
    terms
}

/// The remainder, with zeros at its end.
fn rest_of(a: &[bool], modulus: &[bool]) -> Poly {
    let degree = modulus.len() - 1;
    let mut rest = a.to_vec();
    rest.resize(rest.len().max(degree), false);
    for at in (degree..rest.len()).rev() {
        if rest[at] {
            (0..=degree).for_each(|k| rest[at - degree + k] ^= modulus[k]);
        }
    }
    rest.truncate(degree);
    rest
}

/// The inverse modulo a polynomial of at most degree 8, by trial.
fn inverse(a: &[bool], modulus: &[bool]) -> Poly {
    let residue = rest_of(a, modulus);
    let is_one = |product: Poly| product[0] && product[1..].iter().all(|term| !term);
    let mut candidates = (1..1 << (modulus.len() - 1)).map(of_number);
    candidates.find(|candidate| is_one(rest_of(&times(&residue, candidate), modulus))).expect("no common factor")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{BitString, simulate};
    use garblet_circuit::Type;

    #[test]
    fn products_are_those_of_the_definition() {
        for (n, ands) in [1, 3, 6, 9, 14, 18, 22, 26]
            .into_iter()
            .enumerate()
            .map(|(k, ands)| (k + 1, ands))
            .chain([(128, PRODUCT_128)])
        {
            let mut c = CircuitBuilder::new("product");
            let a: BitString = c.input("a", Type::Bits(n as u32));
            let b: BitString = c.input("b", Type::Bits(n as u32));
            let terms = product(&mut c, &a.0, &b.0);
            assert_eq!(terms.len(), 2 * n - 1);
            c.output("terms", &BitString(terms));
            let component = c.finish().unwrap();
            assert_eq!(component.stats().and, ands, "{n} terms");
            let program = garblet_circuit::Program::from_component(
                component,
                &[garblet_circuit::Party(0), garblet_circuit::Party(1)],
            )
            .unwrap();
            let mask = u128::MAX >> (128 - n);
            for (x, y) in [
                (1, 1),
                (u128::MAX, u128::MAX),
                (0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978, 0xfedc_ba98_7654_3210_1357_9bdf_0246_8ace),
                (1 << (n - 1), 0x8000_0000_0000_0000_0000_0000_0000_0003),
                (0x5555_1111_7777_2222_9999_4444_aaaa_cccc, 0x1f2e_3d4c_5b6a_7988_8897_a6b5_c4d3_e2f1),
            ] {
                let factors = [x & mask, y & mask].map(|x| (0..n).map(|bit| x >> bit & 1 == 1).collect::<Vec<bool>>());
                let expected = times(&factors[0], &factors[1]);
                assert_eq!(simulate::program(&program, &factors)[0], expected, "{n} terms, {x:x}, {y:x}");
            }
        }
    }

    #[test]
    fn irreducible_polynomials_are_as_many_as_there_are() {
        let degrees: Vec<usize> = irreducible().map(|poly| poly.len() - 1).take_while(|&degree| degree < 9).collect();
        let count = |degree: usize| degrees.iter().filter(|&&own| own == degree).count();
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 8].map(count), [2, 1, 2, 3, 6, 9, 18, 30]);
    }
}
