//! LoopNests of loops, as regions of the program's instances.

use crate::tree::Span;

/// Loops that were run, with the regions that they became.
#[derive(Default)]
pub(crate) struct LoopNests {
    /// Loops that are running, outermost first.
    open: Vec<Open>,
    pub(crate) done: Vec<Nest>,
}

struct Open {
    span: Span,
    first: u32,
    /// The number of iterations that the loop within has had, if there is one and it always has as many.
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
    /// The iterations of the one loop within, if it is regular.
    pub(crate) inner: Option<u64>,
}

impl LoopNests {
    /// A loop begins with region `first`.
    pub(crate) fn begin(&mut self, span: Span, first: u32) {
        self.open.push(Open { span, first, inner: Inner::None });
    }

    /// The loop that began last ends after so many iterations, before region `end`.
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
