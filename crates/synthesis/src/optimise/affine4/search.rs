//! The search that made the table.

use super::{FourProducts, VARIABLE, index, parity, polynomial};

/// Tries all programs of one, two and three products, until every function has one.
///
/// Constants in factors, and the choice of two among `u`, `v` and `u ^ v`, change a product only by a linear function. So the
/// factors of product k run through the planes of the space that variables and earlier products span. All functions of two
/// products are found before the search tries three.
pub(super) fn search() -> Box<[FourProducts]> {
    let mut table = vec![FourProducts::default(); 1 << 11].into_boxed_slice();
    let mut missing = table.len() - 1;
    for count in 1..=3 {
        extend(&mut table, &mut missing, FourProducts::default(), &mut VARIABLE.to_vec(), count);
    }
    table
}

/// Tries all programs with `more` products after those of `program`, whose values are known.
fn extend(table: &mut [FourProducts], missing: &mut usize, program: FourProducts, values: &mut Vec<u16>, more: u8) {
    for (u, v) in planes(values.len()) {
        if *missing == 0 {
            return;
        }
        let mut program = program;
        program.factors[usize::from(program.count)] = (u, v);
        program.count += 1;
        values.push(parity(values, u) & parity(values, v));
        if more > 1 {
            extend(table, missing, program, values, more - 1);
        } else {
            enter(table, missing, program, values);
        }
        values.pop();
    }
}

/// Enters a program for its last product plus any earlier ones.
fn enter(table: &mut [FourProducts], missing: &mut usize, program: FourProducts, values: &[u16]) {
    let last = 1 << (program.count - 1);
    for products in last..2 * last {
        let sum = products << 4;
        let at = index(polynomial(parity(values, sum)));
        if at != 0 && table[at].count == 0 {
            table[at] = FourProducts { sum, ..program };
            *missing -= 1;
        }
    }
}

/// Two vectors of each plane of a space of this many dimensions.
fn planes(dimensions: usize) -> impl Iterator<Item = (u8, u8)> {
    let end = 1u8 << dimensions;
    (1..end).flat_map(move |u| (u + 1..end).map(move |v| (u, v))).filter(|(u, v)| u ^ v > *v)
}

/// One line of the table's source.
pub(super) fn line(entries: &[FourProducts]) -> String {
    entries.iter().map(|entry| format!(" 0x{:08x},", pack(entry))).collect()
}

/// The inverse of [`unpack`](super::unpack).
fn pack(products: &FourProducts) -> u32 {
    let [a, b, c] = products.factors.map(|(u, v)| (u32::from(u), u32::from(v)));
    let last = if products.count == 0 { 0 } else { 1 << (products.count - 1) };
    let others = u32::from(products.sum >> 4) & !last;
    a.0 | a.1 << 4 | b.0 << 8 | b.1 << 13 | c.0 << 18 | c.1 << 24 | others << 30
}
