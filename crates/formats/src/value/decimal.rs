//! Decimal numbers of any length, and bits.

use garblet_circuit::Bits;

/// The widest integers that are read and written in decimal. The cost grows with the square of the width, and people
/// do not read longer ones.
pub(crate) const MAX_DECIMAL_BITS: u32 = 4096;

/// The most digits a number of [`MAX_DECIMAL_BITS`] can have.
pub(super) const MAX_DIGITS: usize = 1234;

/// Decimal digits of that many at a time fit a limb.
pub(super) const CHUNK_DIGITS: usize = 9;
pub(super) const CHUNK: u32 = 1_000_000_000;

/// The value of decimal digits as bits, without leading zeros; `None` if there are more than [`MAX_DIGITS`].
pub(super) fn from_decimal(digits: &str) -> Option<Bits> {
    limbs(digits).map(|limbs| bits_of(&limbs))
}

/// The value of decimal digits, least significant limb first; `None` if there are more than [`MAX_DIGITS`].
pub(super) fn limbs(digits: &str) -> Option<Vec<u32>> {
    let digits = digits.trim_start_matches('0');
    if digits.len() > MAX_DIGITS {
        return None;
    }
    let mut limbs: Vec<u32> = Vec::new();
    let first = digits.len() % CHUNK_DIGITS;
    let (head, rest) = digits.split_at(first);
    for chunk in std::iter::once(head).chain((0..rest.len()).step_by(CHUNK_DIGITS).map(|i| &rest[i..i + CHUNK_DIGITS]))
    {
        multiply(&mut limbs, CHUNK, if chunk.is_empty() { 0 } else { chunk.parse().ok()? });
    }
    Some(limbs)
}

/// The number times a factor, plus an addend.
pub(super) fn multiply(limbs: &mut Vec<u32>, factor: u32, addend: u32) {
    let mut carry = u64::from(addend);
    for limb in limbs.iter_mut() {
        let wide = u64::from(*limb) * u64::from(factor) + carry;
        *limb = wide as u32;
        carry = wide >> 32;
    }
    if carry > 0 {
        limbs.push(carry as u32);
    }
}

/// The number divided by another, rounded down, and the remainder.
pub(super) fn divide(limbs: &mut [u32], divisor: u32) -> u32 {
    let mut remainder = 0u64;
    for limb in limbs.iter_mut().rev() {
        let wide = remainder << 32 | u64::from(*limb);
        *limb = (wide / u64::from(divisor)) as u32;
        remainder = wide % u64::from(divisor);
    }
    remainder as u32
}

/// The number without leading zeros.
pub(super) fn bits_of(limbs: &[u32]) -> Bits {
    let limbs = &limbs[..limbs.iter().rposition(|&limb| limb != 0).map_or(0, |last| last + 1)];
    let significant = limbs.len() * 32 - limbs.last().map_or(0, |l| l.leading_zeros() as usize);
    (0..significant).map(|i| limbs[i / 32] >> (i % 32) & 1 == 1).collect()
}

/// The number that bits represent.
pub(super) fn limbs_of(bits: &Bits) -> Vec<u32> {
    let bytes = bits.to_bytes();
    bytes.chunks(4).map(|chunk| chunk.iter().rev().fold(0, |limb, &byte| limb << 8 | u32::from(byte))).collect()
}

/// The bits as an unsigned decimal number.
pub(super) fn to_decimal(bits: &Bits) -> String {
    let mut limbs = limbs_of(bits);
    let mut chunks = Vec::new();
    while let Some(&top) = limbs.last() {
        if top == 0 {
            limbs.pop();
            continue;
        }
        chunks.push(divide(&mut limbs, CHUNK));
    }
    let mut text = chunks.pop().unwrap_or(0).to_string();
    chunks.iter().rev().for_each(|chunk| text += &format!("{chunk:09}"));
    text
}

/// The two's complement, in the same width.
pub(super) fn negate(bits: &Bits) -> Bits {
    let mut carry = true;
    let negated = bits.iter().map(|bit| {
        let sum = !bit ^ carry;
        carry &= !bit;
        sum
    });
    negated.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_agrees_with_u128() {
        for value in [0, 1, 9, 10, 999_999_999, 1_000_000_000, u128::from(u64::MAX), 1 << 64, u128::MAX] {
            let bits = from_decimal(&value.to_string()).unwrap();
            assert_eq!(bits.to_u128(), Some(value));
            assert_eq!(bits.len() as u32, 128 - value.leading_zeros());
            assert_eq!(to_decimal(&bits), value.to_string());
            assert_eq!(to_decimal(&Bits::from_u128(value, 128)), value.to_string());
        }
    }

    #[test]
    fn long_numbers_survive_and_longer_ones_are_refused() {
        let most: Bits = (0..MAX_DECIMAL_BITS).map(|_| true).collect();
        let text = to_decimal(&most);
        assert_eq!(text.len(), MAX_DIGITS);
        assert_eq!(from_decimal(&text), Some(most));
        assert_eq!(from_decimal(&format!("000{text}")).unwrap().len(), MAX_DECIMAL_BITS as usize);
        assert_eq!(from_decimal(&format!("1{text}")), None);
    }

    #[test]
    fn negation_is_two_s_complement() {
        for value in 0..16u128 {
            assert_eq!(negate(&Bits::from_u128(value, 4)).to_u128(), Some((16 - value) % 16));
        }
    }
}
