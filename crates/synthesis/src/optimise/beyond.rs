//! Functions of six variables that take five or six products.
//!
//! Most functions of six variables take five products and become functions of four if a suitable product of two forms is added. If the degree is six,
//! this cannot be, since a function of four products has degree five at most. Such functions are computed as `l G + H`, where `l` is a form, perhaps with products of `G`
//! added, and `G` and `H` are functions of five other forms. `H` takes at most one product besides those of `G`.

use super::{
    functions::{AFFINE, VARIABLE, VARIABLES, polynomial, shifted},
    products::{Products, at_most_four, sum_of},
};

const POINTS: usize = 1 << VARIABLES;

/// Five products, or six, for a function that takes at least five. The sum is right but for an affine function.
pub(super) fn products(table: u64) -> Option<Products> {
    // The coefficient of the product of all variables.
    let odd = table.count_ones() & 1 == 1;
    let five = if odd { None } else { with_a_product(table) };
    five.or_else(|| with_a_form(table)).or_else(|| if odd { None } else { with_two_products(table) })
}

/// Two forms of each plane of linear forms, and the product of the two.
fn planes() -> impl Iterator<Item = ((u16, u16), u64)> {
    let forms = 1..POINTS as u16;
    let pairs = forms.flat_map(|u| (u + 1..POINTS as u16).map(move |v| (u, v))).filter(|(u, v)| u ^ v > *v);
    pairs.map(|(u, v)| ((u, v), sum_of(&VARIABLE, u) & sum_of(&VARIABLE, v)))
}

/// A product of forms, and four more.
fn with_a_product(table: u64) -> Option<Products> {
    planes().find_map(|(factors, product)| Some(with(at_most_four(table ^ product)?, factors)))
}

/// Two products of forms, and four more.
fn with_two_products(table: u64) -> Option<Products> {
    let all: Vec<_> = planes().collect();
    let pairs = all.iter().enumerate().flat_map(|(k, one)| all[..k].iter().map(move |other| (one, other)));
    pairs.into_iter().find_map(|(one, other)| Some(with(with(at_most_four(table ^ one.1 ^ other.1)?, one.0), other.0)))
}

fn with(mut products: Products, factors: (u16, u16)) -> Products {
    products.sum |= 1 << (VARIABLES + products.factors.len());
    products.factors.push(factors);
    products
}

/// The function as `l G + H`, where `G` is its derivative along a direction on which `l` is one. Then neither `G` nor `H` depends on
/// that direction.
fn with_a_form(table: u64) -> Option<Products> {
    let splits: Vec<Split> = (1..POINTS).filter_map(|direction| Split::along(table, direction)).collect();
    let five = splits.iter().find_map(Split::without_another);
    let six = |more| splits.iter().find_map(|split| split.with_another(more));
    five.or_else(|| six(false)).or_else(|| six(true))
}

struct Split {
    table: u64,
    direction: usize,
    /// Products for the derivative.
    derivative: Products,
    /// Their values after those of the variables.
    values: Vec<u64>,
}

impl Split {
    fn along(table: u64, direction: usize) -> Option<Self> {
        let derivative = at_most_four(table ^ shifted(table, direction))?;
        let values = derivative.values();
        Some(Split { table, direction, derivative, values })
    }

    /// The forms that are one on the direction, with `more` also their sums with products, each with `H`.
    fn rests(&self, more: bool) -> impl Iterator<Item = (u16, u64)> {
        let derivative = sum_of(&self.values, self.derivative.sum);
        let products = if more { self.values.len() - VARIABLES } else { 0 };
        let forms = (1..1u16 << (VARIABLES + products))
            .filter(|form| (usize::from(*form) & (POINTS - 1) & self.direction).count_ones() & 1 == 1);
        forms.map(move |form| (form, self.table ^ sum_of(&self.values, form) & derivative))
    }

    /// The products of the derivative, and those with the form.
    fn without_another(&self) -> Option<Products> {
        let mut span = Span::default();
        self.add_products(&mut span);
        self.rests(false).find_map(|(form, rest)| Some(self.joined(form, None, span.combination(rest)?)))
    }

    /// The same with one more product, of sums of forms and products.
    fn with_another(&self, more: bool) -> Option<Products> {
        let count = self.values.len();
        let rests: Vec<(u16, u64)> = self.rests(more).collect();
        (1..1u16 << count).find_map(|factor| {
            let mut span = Span::default();
            self.add_products(&mut span);
            let value = sum_of(&self.values, factor);
            (0..count).for_each(|i| span.add(value & self.values[i], 1 << (POINTS_OF_FACTOR + i)));
            rests.iter().find_map(|&(form, rest)| {
                let combination = span.combination(rest)?;
                let other = (combination >> POINTS_OF_FACTOR) as u16;
                Some(self.joined(form, Some((factor, other)), combination & ((1 << POINTS_OF_FACTOR) - 1)))
            })
        })
    }

    fn add_products(&self, span: &mut Span) {
        (VARIABLES..self.values.len()).for_each(|i| span.add(self.values[i], 1 << i));
    }

    /// `l G`, and the sum of the products in a mask and of one more.
    fn joined(&self, form: u16, another: Option<(u16, u16)>, sum: u32) -> Products {
        let mut products = self.derivative.clone();
        let derivative = products.sum;
        products.sum = sum as u16;
        if let Some(factors) = another {
            products = with(products, factors);
        }
        with(products, (form, derivative))
    }
}

/// The place of the first factor of another product in a combination.
const POINTS_OF_FACTOR: usize = 16;

/// A span of functions modulo affine ones, in echelon form, with what each row is the sum of.
#[derive(Default)]
struct Span {
    rows: Vec<(u64, u32)>,
}

impl Span {
    fn add(&mut self, table: u64, combination: u32) {
        let (rest, combination) = self.reduce(table, combination);
        if rest != 0 {
            self.rows.push((rest, combination));
        }
    }

    fn combination(&self, table: u64) -> Option<u32> {
        let (rest, combination) = self.reduce(table, 0);
        (rest == 0).then_some(combination)
    }

    fn reduce(&self, table: u64, mut combination: u32) -> (u64, u32) {
        let mut rest = polynomial(table) & !AFFINE;
        for (row, of) in &self.rows {
            if rest & row & row.wrapping_neg() != 0 {
                rest ^= row;
                combination ^= of;
            }
        }
        (rest, combination)
    }
}
