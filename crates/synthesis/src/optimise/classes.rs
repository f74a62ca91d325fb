//! The functions of up to six variables that four products can compute, up to affine maps.
//!
//! An invertible affine map of the variables and the addition of an affine function give a function of the same class. There are
//! 1, 1, 3, 24 and 914 classes of functions of zero to four products (Çalık, Sönmez Turan and Peralta 2019 counted them). A table has the products of
//! one function of each, but for one of the last, which no search has found. A function is looked up by numbers that are equal throughout its class, and an
//! affine map to the function of the table is then found by trial, direction by direction.
//!
//! Products for a function of five variables are among them, since four are enough.

mod matching;
mod shape;
mod table;

use std::{
    collections::HashMap,
    sync::{LazyLock, OnceLock},
};

use self::{matching::AffineMap, shape::Shape};
use super::{
    functions::{AFFINE, VARIABLES, polynomial},
    products::Products,
};

/// The most products of a function in the table.
pub(super) const MOST_PRODUCTS: usize = 4;

/// The classes by their keys.
static CLASSES: LazyLock<Classes> = LazyLock::new(|| Classes::of(table::TABLE.iter().map(|&packed| unpack(packed))));

/// The fewest products for a function, or none if it is of no class of the table. The sum of the products is right but for an affine function.
pub(super) fn products(table: u64) -> Option<Products> {
    CLASSES.find(table)
}

/// Functions of different classes, each with its products.
struct Classes {
    list: Vec<Class>,
    by_key: HashMap<u64, Vec<u16>>,
}

struct Class {
    products: Products,
    table: u64,
    shape: OnceLock<Box<Shape>>,
}

impl Classes {
    fn of(list: impl Iterator<Item = Products>) -> Self {
        let mut classes = Classes { list: Vec::new(), by_key: HashMap::new() };
        list.for_each(|products| classes.add(products));
        classes
    }

    fn add(&mut self, products: Products) {
        let table = products.evaluate();
        self.by_key.entry(shape::key(table)).or_default().push(self.list.len() as u16);
        self.list.push(Class { products, table, shape: OnceLock::new() });
    }

    fn find(&self, table: u64) -> Option<Products> {
        let candidates = self.by_key.get(&shape::key(table))?;
        let shape = Shape::of(table);
        candidates.iter().find_map(|&number| {
            let class = &self.list[usize::from(number)];
            let map = matching::find(class.shape(), &shape)?;
            let products = mapped(&class.products, &map);
            // The map was found by these functions, so this is a second look, with others.
            (polynomial(products.evaluate() ^ table) & !AFFINE == 0).then_some(products)
        })
    }
}

impl Class {
    fn shape(&self) -> &Shape {
        self.shape.get_or_init(|| Box::new(Shape::of(self.table)))
    }
}

/// Products of forms in place of variables. The sum is right but for an affine function.
fn mapped(products: &Products, map: &AffineMap) -> Products {
    // The variables and products as sums of the new ones, and whether the sum is negated.
    let mut values: Vec<(u16, bool)> = map.forms.iter().map(|&(form, invert)| (u16::from(form), invert)).collect();
    let sum = |values: &[(u16, bool)], mask: u16| {
        let terms = values.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
        terms.fold((0, false), |(sum, invert), (_, &(value, negated))| (sum ^ value, invert ^ negated))
    };
    let mut new = Products::default();
    for &(a, b) in &products.factors {
        let ((a, not_a), (b, not_b)) = (sum(&values, a), sum(&values, b));
        let product = 1 << (VARIABLES + new.factors.len());
        new.factors.push((a, b));
        // (a + 1) b = ab + b
        let rest = if not_a { b } else { 0 } ^ if not_b { a } else { 0 };
        values.push((product ^ rest, not_a && not_b));
    }
    (new.sum, new.invert) = sum(&values, products.sum);
    new
}

/// Unpacks 63 bits: two factors of 6, 7, 8 and 9 bits, and which of the first three products are summed with the last.
fn unpack(packed: u64) -> Products {
    let mut products = Products::default();
    let mut from = 0;
    for len in (VARIABLES..).take(MOST_PRODUCTS) {
        let bits = |from: usize| (packed >> from & ((1 << len) - 1)) as u16;
        if bits(from) != 0 {
            products.factors.push((bits(from), bits(from + len)));
        }
        from += 2 * len;
    }
    if let Some(last) = products.factors.len().checked_sub(1) {
        products.sum = ((packed >> from) as u16 | 1 << last) << VARIABLES;
    }
    products
}

#[cfg(test)]
mod search;
