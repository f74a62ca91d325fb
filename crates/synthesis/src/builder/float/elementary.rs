//! Exponential, logarithm, logistic function, sine and cosine, computed in fixed point and rounded at the end.
//!
//! Each result is within 0.55 units in the last place of the exact one, for every number. A unit is the distance of neighbouring numbers at the exact result,
//! and infinity counts as the number after the greatest. Half a unit is rounding, the rest is lost in fixed point. That has
//! nine bits more than the result, and each function loses about ten of its units. The greatest that was found is 0.5113.
//!
//! An entry of a table costs no more for being long, so a table and a short polynomial share the work.
//!
//! *Source*: Muller, Elementary Functions, 3rd edition, 2016, chapters 6 (tables) and 11 (range reduction); Payne and Hanek 1983.

mod constants;
mod exponential;
mod logarithm;
mod trigonometric;

use super::{FloatFormat, Unrounded};
use crate::builder::{Bit, CircuitBuilder, Integer, Unsigned, columns::Columns};

impl FloatFormat {
    /// The bits of a significand, its highest one included.
    const fn digits(self) -> usize {
        self.fraction + 1
    }

    /// The bits below the point that leave errors of a few units in the last one far below half a unit of the result.
    const fn places(self) -> usize {
        self.digits() + 8
    }

    /// The index bits of the tables.
    const fn index_bits(self) -> usize {
        match self.fraction {
            0..16 => 5,
            16..32 => 7,
            _ => 8,
        }
    }
}

impl CircuitBuilder {
    /// The product of two numbers without its lowest bits, in `width` bits: the exact one rounded down, or one less.
    ///
    /// Columns far below the lowest bit are left out.
    fn upper_product(&mut self, a: &[Bit], b: &[Bit], dropped: usize, width: usize) -> Unsigned {
        // Of each column left out there are at most as many bits as the shorter number has.
        let rows = a.len().min(b.len());
        let guard = (usize::BITS - rows.leading_zeros()) as usize;
        let first = dropped.saturating_sub(guard);
        let mut columns = Columns::new(width + dropped - first);
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate().filter(|(j, _)| (first..width + dropped).contains(&(i + j))) {
                let product = self.and(x, y);
                columns.push(i + j - first, product);
            }
        }
        Unsigned::new(columns.sum(self)[dropped - first..].to_vec())
    }

    /// Rounds a number in fixed point with its highest bit set, 1 or more before the point, times a power of two. *Shape*: `exponent` is one less than
    /// that of the format.
    fn round_fixed(&mut self, format: FloatFormat, word: &[Bit], result: Unrounded) -> Unsigned {
        let (significand, sticky) = self.leading(word, format.fraction + 2);
        self.finish_float(format, Unrounded { significand, sticky, ..result })
    }
}
