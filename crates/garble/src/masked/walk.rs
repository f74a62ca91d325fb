//! The walk of masks, or shares of them, through a program.

use garblet_circuit::Program;
use garblet_primitives::{AndGates, Backend, Block, Engine, Kernel, QUAD_LANES};

use super::lanes::{load, put, window, window_mut};
use crate::{cursor::ProgramCursor, run::Piece, schedules::Schedules};

/// Follows a value that is linear in the wires through a program: the caller gives the value of every AND gate's result.
///
/// With shares of masks the negation is zero, as a negation keeps the mask.
///
/// *Secret*: the values; they are wiped on drop.
pub struct MaskWalk<'p> {
    cursor: ProgramCursor<'p>,
    backend: Backend,
    negation: Block,
}

impl<'p> MaskWalk<'p> {
    /// Begins before the first gate of the program from which `schedules` were made. `negation` is the value that a negation adds,
    /// and the value of the constant true; false is zero.
    ///
    /// *Shape*: `inputs[k]` are the values of the wires of program input `k`.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn new(program: &'p Program, schedules: &'p Schedules, inputs: Vec<Box<[Block]>>, negation: Block) -> Self {
        // Nothing is hashed.
        let cursor = ProgramCursor::new(program, schedules, inputs, Block::ZERO, 0, negation, QUAD_LANES);
        MaskWalk { cursor, backend: Backend::detect(), negation }
    }

    /// Continues with this backend instead of the fastest; the values are the same.
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// The number of AND gates left.
    pub fn remaining(&self) -> u64 {
        self.cursor.remaining()
    }

    /// Advances by as many AND gates as `results` has values: writes the values of their left and right operands, with the
    /// negation added where the gate inverts the operand.
    ///
    /// *Shape*: all three have the same length.
    ///
    /// # Panics
    /// If the shape is wrong, or fewer gates are left.
    pub fn advance(&mut self, results: &[Block], operands: [&mut [Block]; 2]) {
        let ands = results.len();
        let [left, right] = operands;
        assert_eq!([left.len(), right.len()], [ands; 2], "operands of gates");
        assert!(ands as u64 <= self.remaining(), "{ands} AND gates of {}", self.remaining());
        let (backend, negation) = (self.backend, self.negation);
        self.cursor.advance_gates(ands, |done, piece| {
            let values = Values { results, left: &mut *left, right: &mut *right, at: done };
            match piece.slots.copies() {
                QUAD_LANES => backend.run(Follow::<QUAD_LANES> { piece, negation, values }),
                _ => backend.run(Follow::<1> { piece, negation, values }),
            }
        });
    }

    /// The values of the program's outputs.
    ///
    /// # Panics
    /// If AND gates are missing.
    pub fn into_outputs(mut self) -> Vec<Box<[Block]>> {
        // A program without AND gates has wires.
        self.advance(&[], [&mut [], &mut []]);
        self.cursor.into_outputs().0
    }
}

/// The values at AND gates, and the number of the next gate.
struct Values<'a> {
    results: &'a [Block],
    left: &'a mut [Block],
    right: &'a mut [Block],
    at: usize,
}

impl Values<'_> {
    /// The same, with lengths that the compiler knows to be equal.
    #[inline(always)]
    fn of_one_length(self) -> Self {
        let Values { results, left, right, at } = self;
        let ands = results.len();
        Values { results, left: &mut left[..ands], right: &mut right[..ands], at }
    }

    /// The values at the next gates, one to four.
    #[inline(always)]
    fn next(&mut self, count: usize) -> Values<'_> {
        let at = self.at;
        self.at += count;
        Values {
            results: window(self.results, at, count),
            left: window_mut(self.left, at, count),
            right: window_mut(self.right, at, count),
            at,
        }
    }
}

struct Follow<'a, const COPIES: usize> {
    piece: Piece<'a>,
    negation: Block,
    values: Values<'a>,
}

struct FollowGates<'a, E: Engine> {
    negation: E::Quad,
    values: Values<'a>,
}

impl<const COPIES: usize> Kernel for Follow<'_, COPIES> {
    type Output = usize;

    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> usize {
        let Follow { piece, negation, values } = self;
        let mut gates: FollowGates<'_, E> = FollowGates { negation: e.splat(negation), values: values.of_one_length() };
        piece.gates.run::<E, _, COPIES>(e, piece.cursor, piece.slots, piece.limit, &mut gates)
    }
}

impl<E: Engine> AndGates<E> for FollowGates<'_, E> {
    #[inline(always)]
    fn begin(&mut self, _e: E, count: usize) -> usize {
        count
    }

    #[inline(always)]
    fn quad(&mut self, e: E, count: usize, [a, b]: [E::Quad; 2], [invert_a, invert_b]: [E::Mask; 2]) -> E::Quad {
        let Values { results, left, right, .. } = self.values.next(count);
        let result = load(e, results);
        put(e, e.xor_if(invert_a, a, self.negation), left);
        put(e, e.xor_if(invert_b, b, self.negation), right);
        result
    }
}
