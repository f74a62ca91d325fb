//! Linear equations over bits.

use std::collections::BTreeMap;

/// A sum of unknowns and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// Bit `i` of word `i / 64`: whether unknown `i` is in the sum.
    terms: Vec<u64>,
    constant: bool,
}

impl Form {
    pub(crate) fn unknown(i: usize) -> Self {
        let mut terms = vec![0; i / 64 + 1];
        terms[i / 64] = 1 << (i % 64);
        Form { terms, constant: false }
    }

    pub(crate) fn plus(&self, other: &Form) -> Form {
        let len = self.terms.len().max(other.terms.len());
        let word = |form: &Form, i: usize| form.terms.get(i).copied().unwrap_or(0);
        let terms = (0..len).map(|i| word(self, i) ^ word(other, i)).collect();
        Form { terms, constant: self.constant ^ other.constant }
    }

    pub(crate) fn plus_constant(mut self, value: bool) -> Form {
        self.constant ^= value;
        self
    }

    /// The unknown with the highest number.
    fn top(&self) -> Option<usize> {
        let word = self.terms.iter().rposition(|word| *word != 0)?;
        Some(word * 64 + self.terms[word].ilog2() as usize)
    }
}

/// Equations of the form `sum = 0`, in triangular form.
#[derive(Default)]
pub(crate) struct System {
    by_top: BTreeMap<usize, Form>,
}

impl System {
    /// Adds the equation that a sum is zero.
    pub(crate) fn add(&mut self, mut form: Form) {
        while let Some(top) = form.top() {
            match self.by_top.get(&top) {
                Some(known) => form = form.plus(known),
                None => {
                    self.by_top.insert(top, form);
                    return;
                }
            }
        }
    }

    /// The values of the first `count` unknowns, as far as the equations determine them.
    pub(crate) fn solve(&self, count: usize) -> Vec<Option<bool>> {
        let mut values: Vec<Option<bool>> = Vec::new();
        for i in 0..count {
            // All other unknowns of the equation have lower numbers.
            let value = self.by_top.get(&i).and_then(|form| {
                (0..i)
                    .filter(|other| form.terms[other / 64] >> (other % 64) & 1 == 1)
                    .try_fold(form.constant, |sum, other| values[other].map(|value| sum ^ value))
            });
            values.push(value);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_determined_bits_are_found() {
        let mut system = System::default();
        let x = |i| Form::unknown(i);
        // x0 + x70 = 1, x0 = 1, x1 + x2 = 0.
        system.add(x(0).plus(&x(70)).plus_constant(true));
        system.add(x(0).plus_constant(true));
        system.add(x(1).plus(&x(2)));
        system.add(x(1).plus(&x(2)));
        let values = system.solve(71);
        assert_eq!([values[0], values[70], values[1], values[2]], [Some(true), Some(false), None, None]);
    }
}
