//! Functions of up to six variables as sums of few products.
//!
//! Invertible affine maps of the variables, and the addition of an affine function, do not change the multiplicative complexity
//! of a function: the least number of AND gates that it takes. So
//!
//! - a quadratic function of rank 2r takes r products (Dickson 1901);
//! - a function that equals another one of fewer linear forms, up to an affine function, takes as many products as that one;
//! - for four variables and fewer the products come from a table.
//!
//! This covers all functions that two products can compute, for any number of variables: two products have
//! four factors. Beyond them it depends on the [`Reach`]: functions of five forms are split along the best linear form, or
//!
//! - the products come from the [class](super::classes) of the function if four are enough, as they are for any function of five forms;
//! - otherwise from the class of the function without one or two of its [products](super::beyond).
//!
//! *Source*: Boyar, Peralta and Pochuev 2000; Turan Sönmez and Peralta 2014 for four and five variables; Çalık, Sönmez Turan
//! and Peralta 2019 for six; Testa, Soeken, Amarù and De Micheli 2019 for rewriting with such functions.

use std::collections::HashMap;

use super::{
    affine4::{self, FourProducts},
    beyond,
    classes::{self, MOST_PRODUCTS},
    functions::{AFFINE, QUADRATIC, VARIABLE, VARIABLES, polynomial, shifted},
};

/// Products of sums, and their sum. Bits 0 to 5 of a mask are the variables, bit `6 + k` is product `k`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Products {
    /// The two factors of each product, which may contain earlier products.
    pub(super) factors: Vec<(u16, u16)>,
    /// The sum that equals the function.
    pub(super) sum: u16,
    /// Set if the sum is negated.
    pub(super) invert: bool,
}

impl Products {
    /// The variables in use.
    pub(super) fn used(&self) -> u16 {
        self.factors.iter().fold(self.sum, |used, (a, b)| used | a | b) & ((1 << VARIABLES) - 1)
    }

    /// The tables of the variables and of the products.
    pub(super) fn values(&self) -> Vec<u64> {
        let mut values = VARIABLE.to_vec();
        for &(a, b) in &self.factors {
            values.push(sum_of(&values, a) & sum_of(&values, b));
        }
        values
    }

    /// The table of the function that the products compute.
    pub(super) fn evaluate(&self) -> u64 {
        sum_of(&self.values(), self.sum) ^ if self.invert { u64::MAX } else { 0 }
    }
}

/// The sum of the tables in a mask.
pub(super) fn sum_of(values: &[u64], mask: u16) -> u64 {
    values.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).fold(0, |sum, (_, value)| sum ^ value)
}

/// The functions of more than four forms, and not quadratic, for which products are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of five forms, by splitting them.
    Split,
    /// Those of four products.
    Four,
    /// All.
    All,
}

/// Products for functions met so far.
#[derive(Default)]
pub(super) struct Finder {
    known: HashMap<u64, Known>,
    /// Knowledge of functions of five and six forms that does not come from splitting.
    further: HashMap<u64, Further>,
}

/// Knowledge of a function of five or six forms.
enum Further {
    /// These products, as few as can be found.
    Products(Products),
    /// The function takes at least this many products, which are not computed yet.
    AtLeast(usize),
}

/// No circuit written by people reaches this many functions; the limit bounds memory.
const MOST_KNOWN: usize = 1 << 18;

/// Known products of a polynomial without affine terms.
enum Known {
    /// These products, as few as can be found.
    Products(Products),
    /// The function has five forms, so it takes at least three products, which are not computed yet.
    FiveForms,
    /// The function has five forms, and these products.
    Split(Products),
    /// No products are known.
    Nothing,
}

impl Finder {
    /// The number of products for a table, if it is in reach and below `limit`.
    pub(super) fn count(&mut self, table: u64, reach: Reach, limit: usize) -> Option<usize> {
        let count = self.find(polynomial(table) & !AFFINE, reach, limit)?.factors.len();
        (count < limit).then_some(count)
    }

    /// Few products for the function with this table, if it is in reach.
    pub(super) fn products(&mut self, table: u64, reach: Reach) -> Option<Products> {
        let affine = polynomial(table) & AFFINE;
        let mut products = self.find(polynomial(table) & !AFFINE, reach, usize::MAX)?.clone();
        add_affine(&mut products, affine);
        Some(products)
    }

    fn find(&mut self, key: u64, reach: Reach, limit: usize) -> Option<&Products> {
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
        }
        let known = self.known.entry(key).or_insert_with(|| find(key));
        match (&*known, reach) {
            (Known::FiveForms, Reach::Split) if limit > 3 => {
                *known = Known::Split(exact(split(&Essential::of(polynomial(key))), key));
            }
            (Known::FiveForms | Known::Split(_) | Known::Nothing, Reach::Four | Reach::All) => {
                return find_further(&mut self.further, key, reach, limit);
            }
            _ => {}
        }
        match known {
            Known::Products(products) | Known::Split(products) => Some(products),
            Known::FiveForms | Known::Nothing => None,
        }
    }
}

/// Products for a function that does not become one of four forms.
fn find_further(known: &mut HashMap<u64, Further>, key: u64, reach: Reach, limit: usize) -> Option<&Products> {
    if known.len() > MOST_KNOWN {
        known.clear();
    }
    let further = known.entry(key).or_insert_with(|| Further::AtLeast(3.max(degree(key) - 1)));
    let limit = if reach == Reach::All { limit } else { limit.min(MOST_PRODUCTS + 1) };
    while let Further::AtLeast(bound) = *further
        && bound < limit
    {
        *further = look_further(key, bound);
    }
    match further {
        Further::Products(products) if products.factors.len() <= MOST_PRODUCTS || reach == Reach::All => Some(products),
        _ => None,
    }
}

fn find(key: u64) -> Known {
    if key & !QUADRATIC == 0 {
        return Known::Products(exact(quadratic(key), key));
    }
    let essential = Essential::of(polynomial(key));
    match essential.forms.len() {
        0..=4 => Known::Products(exact(few_forms(&essential), key)),
        5 => Known::FiveForms,
        _ => Known::Nothing,
    }
}

/// Looks for more products than this bound.
fn look_further(key: u64, bound: usize) -> Further {
    let (found, next) = match bound {
        0..=MOST_PRODUCTS => (of_class(&Essential::of(polynomial(key))), MOST_PRODUCTS + 1),
        _ => (beyond::products(polynomial(key)), usize::MAX),
    };
    found.map_or(Further::AtLeast(next), |products| Further::Products(exact(products, key)))
}

/// At most four products for a function with this table; none if it takes more.
pub(super) fn at_most_four(table: u64) -> Option<Products> {
    let key = polynomial(table) & !AFFINE;
    let products = match find(key) {
        Known::Products(products) => products,
        _ if degree(key) > MOST_PRODUCTS + 1 => return None,
        _ => of_class(&Essential::of(table))?,
    };
    Some(exact(products, polynomial(table)))
}

/// The degree of a polynomial.
fn degree(key: u64) -> usize {
    let degrees = (0..64u32).filter(|m| key >> m & 1 == 1).map(u32::count_ones);
    degrees.max().map_or(0, |degree| degree as usize)
}

/// A function of a [class](classes) of at most four products.
fn of_class(essential: &Essential) -> Option<Products> {
    let table = (essential.forms.len()..VARIABLES).fold(essential.table, |table, i| table | table << (1 << i));
    let products = classes::products(table)?;
    // The function does not depend on variables beyond its forms, so any form will do for them.
    let mask = |mask: u16| {
        let forms = essential.forms.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
        forms.fold(mask >> VARIABLES << VARIABLES, |mask, (_, &form)| mask ^ u16::from(form))
    };
    let factors = products.factors.iter().map(|&(a, b)| (mask(a), mask(b)));
    Some(Products { factors: factors.collect(), sum: mask(products.sum), invert: products.invert })
}

/// Adds the affine function that the products lack to equal a polynomial.
fn exact(mut products: Products, key: u64) -> Products {
    let rest = polynomial(products.evaluate()) ^ key;
    assert_eq!(rest & !AFFINE, 0, "products are right but for an affine function");
    add_affine(&mut products, rest);
    products
}

/// Adds a polynomial of degree one or less.
fn add_affine(products: &mut Products, polynomial: u64) {
    products.invert ^= polynomial & 1 == 1;
    for i in 0..VARIABLES {
        products.sum ^= ((polynomial >> (1 << i) & 1) as u16) << i;
    }
}

/// `x_i x_j + x_i A + x_j B + rest = (x_i + B)(x_j + A) + AB + rest`, where A, B and the rest do not contain x_i and x_j.
fn quadratic(key: u64) -> Products {
    // Row i: the variables that are multiplied with variable i.
    let mut rows = [0u16; VARIABLES];
    for (i, j) in (0..VARIABLES).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let present = (key >> (1 << i | 1 << j) & 1) as u16;
        rows[i] |= present << j;
        rows[j] |= present << i;
    }
    let mut products = Products::default();
    while let Some(i) = rows.iter().position(|&row| row != 0) {
        let j = rows[i].trailing_zeros() as usize;
        let pair = 1 << i | 1 << j;
        let (a, b) = (rows[i] & !pair, rows[j] & !pair);
        products.sum |= 1 << (VARIABLES + products.factors.len());
        products.factors.push((1 << i | b, 1 << j | a));
        for row in &mut rows {
            *row &= !pair;
        }
        (rows[i], rows[j]) = (0, 0);
        for (k, row) in rows.iter_mut().enumerate() {
            // AB adds x_k x_l for k in A and l in B; squares are linear.
            let others = if a >> k & 1 == 1 { b } else { 0 } ^ if b >> k & 1 == 1 { a } else { 0 };
            *row ^= others & !(1 << k);
        }
    }
    products
}

/// A function in terms of another one of as few linear forms as possible, up to a linear function.
struct Essential {
    /// The forms, as masks of variables.
    forms: Vec<u8>,
    /// The function of the forms.
    table: u64,
}

impl Essential {
    /// Divides out the span of directions along which the function is constant or always changes.
    fn of(table: u64) -> Self {
        let mut basis: Vec<usize> = Vec::new();
        for direction in 1..1usize << VARIABLES {
            let change = table ^ shifted(table, direction);
            if change != 0 && change != u64::MAX {
                continue;
            }
            let reduced = basis.iter().fold(direction, |d, &v| if d & lowest(v) != 0 { d ^ v } else { d });
            if reduced != 0 {
                for v in basis.iter_mut().filter(|v| **v & lowest(reduced) != 0) {
                    *v ^= reduced;
                }
                basis.push(reduced);
            }
        }
        let pivots = basis.iter().fold(0, |all, &v| all | lowest(v));
        let free: Vec<usize> = (0..VARIABLES).filter(|i| pivots >> i & 1 == 0).collect();
        let form =
            |i: usize| basis.iter().filter(|&&v| v >> i & 1 == 1).fold(1 << i, |form, &v| form | lowest(v) as u8);
        let point = |y: usize| free.iter().enumerate().fold(0, |x, (k, i)| x | (y >> k & 1) << i);
        Essential {
            forms: free.iter().map(|&i| form(i)).collect(),
            table: (0..1 << free.len()).fold(0, |t, y| t | (table >> point(y) & 1) << y),
        }
    }
}

fn lowest(v: usize) -> usize {
    v & v.wrapping_neg()
}

/// A function of at most four forms, from the table.
fn few_forms(essential: &Essential) -> Products {
    let mut table = essential.table;
    for i in essential.forms.len()..4 {
        table |= table << (1 << i);
    }
    let mut forms = [0; 4];
    forms[..essential.forms.len()].copy_from_slice(&essential.forms);
    let mut products = Products::default();
    products.sum = append(&mut products, &affine4::products(table as u16), &forms);
    products
}

/// Appends products of forms, and returns the mask of their sum.
fn append(into: &mut Products, four: &FourProducts, forms: &[u8; 4]) -> u16 {
    let before = into.factors.len();
    let mask = |four: u8| {
        let linear = (0..4).filter(|i| four >> i & 1 == 1).fold(0, |sum, i| sum ^ forms[i]);
        u16::from(linear) | u16::from(four >> 4) << (VARIABLES + before)
    };
    for &(a, b) in &four.factors[..usize::from(four.count)] {
        into.factors.push((mask(a), mask(b)));
    }
    mask(four.sum)
}

/// A function of five forms as `l G + H`, where `l` is a linear form, and G and H are functions of four others.
struct Split {
    /// The form, by its coefficients.
    form: usize,
    /// G, and H.
    parts: [u16; 2],
    /// Added to the other four forms where `l` is one.
    shift: usize,
    count: u8,
}

/// Splits a function of five forms at the least cost: one product, and the products of both parts.
fn split(essential: &Essential) -> Products {
    let splits = (1..32).flat_map(|form| {
        let [zero, one] = halves(essential.table, form);
        (0..16).flat_map(move |shift| {
            let one = shifted(one.into(), shift) as u16;
            let difference = zero ^ one;
            // With l + 1 in place of l, the other half replaces H.
            [zero, one].map(|rest| {
                let count = 1 + affine4::count(difference) + affine4::count(rest);
                Split { form, parts: [difference, rest], shift, count }
            })
        })
    });
    let best = splits.min_by_key(|split| split.count).expect("there are 31 forms");
    let pivot = best.form.trailing_zeros() as usize;
    let sum_of = |mask: usize| (0..5).filter(|i| mask >> i & 1 == 1).fold(0, |sum, i| sum ^ essential.forms[i]);
    let form = sum_of(best.form);
    let others: Vec<usize> = (0..5).filter(|&i| i != pivot).collect();
    let forms: [u8; 4] =
        std::array::from_fn(|k| essential.forms[others[k]] ^ if best.shift >> k & 1 == 1 { form } else { 0 });
    let mut products = Products::default();
    let [difference, rest] = best.parts.map(affine4::products);
    let difference = append(&mut products, &difference, &forms);
    let rest_sum = append(&mut products, &rest, &forms);
    let last = 1 << (VARIABLES + products.factors.len());
    products.factors.push((form.into(), difference));
    products.sum = last | rest_sum;
    if polynomial(products.evaluate() ^ whole(essential)) & !AFFINE != 0 {
        products.sum ^= difference;
    }
    products
}

/// The function of its forms as a function of the variables.
fn whole(essential: &Essential) -> u64 {
    let form = |x: usize, mask: u8| (x & usize::from(mask)).count_ones() as usize & 1;
    (0..64).fold(0, |t, x| {
        let y = essential.forms.iter().enumerate().fold(0, |y, (k, &mask)| y | form(x, mask) << k);
        t | (essential.table >> y & 1) << x
    })
}

/// The two functions of five variables where a form is zero and where it is one, in all variables except the form's first.
fn halves(table: u64, form: usize) -> [u16; 2] {
    let pivot = form.trailing_zeros() as usize;
    [0, 1].map(|value| {
        (0..16usize).fold(0, |half, z| {
            let y = z & ((1 << pivot) - 1) | z >> pivot << (pivot + 1);
            let first = value ^ (y & form).count_ones() as usize & 1;
            half | ((table >> (y | first << pivot) & 1) as u16) << z
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::functions::depends_on, *};

    fn check_with(table: u64, reach: Reach) -> Option<usize> {
        let mut finder = Finder::default();
        let products = finder.products(table, reach)?;
        assert_eq!(products.evaluate(), table, "{table:#x}");
        let count = products.factors.len();
        assert_eq!(finder.count(table, reach, count + 1), Some(count));
        assert_eq!(Finder::default().count(table, reach, count), None);
        let support = (0..VARIABLES).filter(|&i| depends_on(table, i)).fold(0, |mask, i| mask | 1 << i);
        assert_eq!(products.used(), support, "{table:#x}");
        Some(count)
    }

    /// The number of products with each reach, which is none or less with the further one.
    fn check(table: u64) -> Option<usize> {
        let [split, four, all] = [Reach::Split, Reach::Four, Reach::All].map(|reach| check_with(table, reach));
        assert!(four.is_none_or(|four| all == Some(four) && split.is_none_or(|split| four <= split)), "{table:#x}");
        assert!(all.is_some_and(|all| all <= 6), "{table:#x}");
        split
    }

    #[test]
    fn well_known_functions() {
        let [a, b, c, d, e, f] = VARIABLE;
        assert_eq!(check(0), Some(0));
        assert_eq!(check(!(a ^ c ^ f)), Some(0));
        assert_eq!(check(a & b ^ a & c ^ b & c), Some(1));
        assert_eq!(check(a & b | !a & c), Some(1));
        assert_eq!(check(a & b ^ c & d ^ e & f), Some(3));
        assert_eq!(check((a ^ b) & (c ^ d ^ e) & f), Some(2));
        // All six pairs of four variables have rank four: two products.
        assert_eq!(check(a & b ^ a & c ^ a & d ^ b & c ^ b & d ^ c & d), Some(2));
        // Five ANDed take four; six are out of reach of splitting, and take five.
        assert_eq!(check(a & b & c & d & e), Some(4));
        assert_eq!(check(a & b & c & d & e & f), None);
        assert_eq!(check_with(a & b & c & d & e & f, Reach::Four), None);
        assert_eq!(check_with(a & b & c & d & e & f, Reach::All), Some(5));
    }

    /// A sum of k products of random factors.
    fn random_products(count: usize) -> impl Strategy<Value = Products> {
        let factors = proptest::collection::vec((1u16..4096, 1u16..4096), count);
        (factors, any::<u16>(), any::<bool>()).prop_map(move |(factors, sum, invert)| {
            let in_reach = |k: usize| (1u16 << (VARIABLES + k)) - 1;
            let factors = factors.into_iter().enumerate().map(|(k, (a, b))| (a & in_reach(k), b & in_reach(k)));
            Products { factors: factors.collect(), sum: sum & in_reach(count), invert }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn six_variables_take_six_products_at_most(table: u64) {
            check(table);
        }
    }

    proptest! {
        #[test]
        fn two_products_are_found_again(products in random_products(2)) {
            prop_assert!(check(products.evaluate()).unwrap() <= 2);
        }

        #[test]
        fn quadratic_functions_take_half_their_rank(coefficients: u64) {
            let count = check(polynomial(coefficients & (QUADRATIC | AFFINE))).unwrap();
            prop_assert!(count <= 3);
        }

        #[test]
        fn five_variables_take_seven_products_at_most(table: u32) {
            let table = u64::from(table) | u64::from(table) << 32;
            prop_assert!(check(table).unwrap() <= 7);
        }

        #[test]
        fn four_products_are_found_again(products in random_products(4)) {
            prop_assert!(check_with(products.evaluate(), Reach::Four).unwrap() <= 4);
        }

        #[test]
        fn five_variables_take_four_products_at_most(table: u32) {
            let table = u64::from(table) | u64::from(table) << 32;
            prop_assert!(check_with(table, Reach::Four).unwrap() <= 4);
        }
    }
}
