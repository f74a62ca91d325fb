//! Finds the classes anew.

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;

/// The classes to find of each number of products: all that there are (Çalık, Sönmez Turan and Peralta 2019, table 2), but for one of the 914 of four
/// products that ten million trials did not meet.
const KNOWN: [usize; MOST_PRODUCTS + 1] = [1, 1, 3, 24, 913];

/// A function whose key was met this often is looked at once in this many times.
const MANY: u32 = 64;

/// Random products of few terms each, until the known classes of at most `most` products are found: functions of one product first, then those of two, and so on.
fn search(most: usize) -> Classes {
    let rng = &mut StdRng::seed_from_u64(1);
    let mut found = Classes::of([Products::default()].into_iter());
    let mut matches = HashMap::new();
    for (count, classes) in KNOWN.into_iter().enumerate().take(most + 1).skip(1) {
        let all = found.list.len() + classes;
        while found.list.len() < all {
            let products = random_products(rng, count);
            let table = products.evaluate();
            let often = matches.entry(shape::key(table)).or_insert(0u32);
            *often += 1;
            if (*often < MANY || often.is_multiple_of(MANY)) && found.find(table).is_none() {
                found.add(products);
            }
        }
    }
    found
}

/// Products of random factors of few terms. The last product and some of the others are in the sum.
fn random_products(rng: &mut StdRng, count: usize) -> Products {
    let variables = rng.random_range(2..=VARIABLES);
    let mut products = Products::default();
    for k in 0..count {
        let mut factor = || {
            let terms = rng.random_range(1..=4);
            let variables = (0..terms).fold(0u16, |mask, _| mask | 1 << rng.random_range(0..variables));
            variables | (rng.random::<u16>() & rng.random::<u16>() & ((1 << k) - 1)) << VARIABLES
        };
        products.factors.push((factor(), factor()));
    }
    products.sum = (rng.random::<u16>() & ((1 << count) - 1) | 1 << (count - 1)) << VARIABLES;
    products
}

/// The inverse of [`unpack`].
fn pack(products: &Products) -> u64 {
    let (mut packed, mut from) = (0u64, 0);
    for (k, &(a, b)) in products.factors.iter().enumerate() {
        let len = VARIABLES + k;
        packed |= u64::from(a) << from | u64::from(b) << (from + len);
        from += 2 * len;
    }
    let last = products.factors.len().saturating_sub(1);
    let sum = u64::from(products.sum >> VARIABLES) & ((1 << last) - 1);
    packed | sum << 60
}

/// The rows of the table's source.
fn text(list: impl Iterator<Item = u64>) -> String {
    let rows: Vec<String> = list.map(|packed| format!("{packed:#018x},")).collect();
    rows.chunks(5).map(|row| format!("    {}", row.join(" "))).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_table_is_what_the_search_finds() {
    // The functions of four products take a minute of an optimised build.
    let most = if cfg!(debug_assertions) { MOST_PRODUCTS - 1 } else { MOST_PRODUCTS };
    let found = search(most).list;
    let committed = text(table::TABLE.into_iter().take(found.len()));
    let found = text(found.iter().map(|class| pack(&class.products)));
    assert!(found == committed, "crates/synthesis/src/optimise/classes/table.rs should begin with\n{found}");
}

#[test]
fn as_many_classes_have_each_count_as_is_known() {
    let mut counts = [0; MOST_PRODUCTS + 1];
    CLASSES.list.iter().for_each(|class| counts[class.products.factors.len()] += 1);
    assert_eq!(counts, KNOWN);
    assert!(table::TABLE.iter().all(|&packed| pack(&unpack(packed)) == packed));
}

#[test]
fn no_class_is_there_twice() {
    for numbers in CLASSES.by_key.values() {
        let pairs = numbers.iter().enumerate().flat_map(|(k, one)| numbers[..k].iter().map(move |other| (one, other)));
        for (&one, &other) in pairs {
            let [one, other] = [one, other].map(|number| CLASSES.list[usize::from(number)].shape());
            assert!(matching::find(one, other).is_none(), "{:#x} and {:#x}", one.table, other.table);
        }
    }
}

#[test]
fn few_products_are_of_a_class_of_no_more() {
    let rng = &mut StdRng::seed_from_u64(2);
    for _ in 0..2000 {
        let count = rng.random_range(1..=MOST_PRODUCTS);
        let given = random_products(rng, count);
        let found = products(given.evaluate()).expect("the class of at most four products");
        assert!(found.factors.len() <= count);
        assert_eq!(polynomial(found.evaluate() ^ given.evaluate()) & !AFFINE, 0);
    }
}
