//! The fewest AND gates of every function of four variables: at most three.

mod table;

use table::TABLE;

/// Products that are summed, as in [`Products`](super::products::Products): bits 0 to 3 of a mask are the variables,
/// bit `4 + k` is product `k`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FourProducts {
    /// The two factors of each product.
    pub(super) factors: [(u8, u8); 3],
    /// The number of products.
    pub(super) count: u8,
    /// The sum that equals the function, up to a constant.
    pub(super) sum: u8,
}

const VARIABLE: [u16; 4] = [0xaaaa, 0xcccc, 0xf0f0, 0xff00];

/// The monomials of degree at least two.
const NONLINEAR: u16 = !(1 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8);

/// The fewest products for a function given by its table.
pub(super) fn products(table: u16) -> FourProducts {
    let mut found = unpack(TABLE[index(polynomial(table))]);
    let rest = polynomial(table ^ evaluate(&found));
    found.sum ^= (0..4).fold(0, |sum, i| sum | ((rest >> (1 << i) & 1) as u8) << i);
    found
}

/// The number of products that a function takes.
pub(super) fn count(table: u16) -> u8 {
    unpack(TABLE[index(polynomial(table))]).count
}

/// Unpacks 32 bits: factors of 4, 5 and 6 bits, two of each, and which of the first two products are summed with the last.
fn unpack(packed: u32) -> FourProducts {
    let bits = |from: u32, len: u32| (packed >> from & ((1 << len) - 1)) as u8;
    let factors = [(bits(0, 4), bits(4, 4)), (bits(8, 5), bits(13, 5)), (bits(18, 6), bits(24, 6))];
    let count = factors.iter().take_while(|&&factors| factors != (0, 0)).count() as u8;
    let last = if count == 0 { 0 } else { 1 << (count - 1) };
    FourProducts { factors, count, sum: (bits(30, 2) | last) << 4 }
}

fn parity(values: &[u16], mask: u8) -> u16 {
    values.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).fold(0, |sum, (_, value)| sum ^ value)
}

fn evaluate(products: &FourProducts) -> u16 {
    let mut values = VARIABLE.to_vec();
    for &(u, v) in &products.factors[..usize::from(products.count)] {
        values.push(parity(&values, u) & parity(&values, v));
    }
    parity(&values, products.sum)
}

fn polynomial(mut table: u16) -> u16 {
    for (i, variable) in VARIABLE.iter().enumerate() {
        table ^= (table & !variable) << (1 << i);
    }
    table
}

/// The coefficients of degree two and more, side by side.
fn index(polynomial: u16) -> usize {
    let p = usize::from(polynomial & NONLINEAR);
    p >> 3 & 1 | p >> 4 & 0b1110 | p >> 5 & 0x7f0
}

#[cfg(test)]
mod search;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_the_search_finds() {
        let found = search::search();
        let text: Vec<String> = found.chunks(10).map(search::line).collect();
        let committed: Vec<String> = TABLE.map(unpack).chunks(10).map(search::line).collect();
        assert!(text == committed, "crates/circuit/src/optimise/four/table.rs should be\n{}", text.join("\n"));
    }

    #[test]
    fn every_function_has_its_products() {
        for table in 0..=u16::MAX {
            let found = products(table);
            assert!(matches!(evaluate(&found) ^ table, 0 | u16::MAX), "{table:#x}");
            let degree = (0..16u32).filter(|m| polynomial(table) >> m & 1 == 1).map(u32::count_ones).max();
            // The degree is at most one more than the number of products.
            assert!(u32::from(found.count) + 1 >= degree.unwrap_or(0));
        }
    }

    #[test]
    fn as_many_functions_have_each_count_as_is_known() {
        // Eight affine classes: 1 linear; 1 quadratic of rank two; 3 with two products; 3 of degree four.
        let mut counts = [0u32; 4];
        TABLE.iter().for_each(|&packed| counts[usize::from(unpack(packed).count)] += 1);
        assert_eq!(counts, [1, 35, 988, 1024]);
    }

    #[test]
    fn indices_are_distinct() {
        let mut seen = vec![false; 1 << 11];
        (0..=u16::MAX).filter(|p| p & !NONLINEAR == 0).for_each(|p| seen[index(p)] = true);
        assert!(seen.iter().all(|&s| s));
    }
}
