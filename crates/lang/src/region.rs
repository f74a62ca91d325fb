//! Nests of loops, and the regions of the program that they became.

use crate::tree::Span;

/// Loops that were run, and their regions.
#[derive(Default)]
pub(crate) struct LoopNests {
    /// Loops that are running, outermost first.
    open: Vec<Open>,
    pub(crate) done: Vec<Nest>,
}

struct Open {
    span: Span,
    first: u32,
    /// The number of iterations of the inner loop, if there is one and it always has the same number.
    inner: Inner,
}

#[derive(Clone, Copy, PartialEq)]
enum Inner {
    None,
    Always(u64),
    Irregular,
}

/// An outermost loop that became several regions.
pub(crate) struct Nest {
    pub(crate) span: Span,
    /// The regions: from `first` up to `end`.
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) iterations: u64,
    /// The iterations of the only inner loop, if it is regular.
    pub(crate) inner: Option<u64>,
}

impl LoopNests {
    /// A loop begins with region `first`.
    pub(crate) fn begin(&mut self, span: Span, first: u32) {
        self.open.push(Open { span, first, inner: Inner::None });
    }

    /// The loop that began last ends after `iterations` iterations, before region `end`.
    pub(crate) fn end(&mut self, iterations: u64, end: u32) {
        let Some(Open { span, first, inner }) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(outer) => {
                let flat = inner == Inner::None && matches!(outer.inner, Inner::None | Inner::Always(_));
                let same = outer.inner == Inner::None || outer.inner == Inner::Always(iterations);
                outer.inner = if flat && same { Inner::Always(iterations) } else { Inner::Irregular };
            }
            None if end > first + 1 => {
                let inner = if let Inner::Always(count) = inner { Some(count) } else { None };
                self.done.push(Nest { span, first, end, iterations, inner });
            }
            None => {}
        }
    }
}
