//! Panics: which check of a run fails first, at one AND gate per check.
//!
//! `happened` is the OR of all checks so far. It rises once, at the first check that fails, so that the XOR of its
//! values before and after a check says whether that check was the first to fail. A number of the check's place is added
//! to a sum, masked with that bit, which costs nothing, as the number is a constant and at most one bit of all is set.
//!
//! A branch that may not be taken begins with `happened` OR'ed with its condition's negation: then nothing in it is the
//! first. After the branch, `happened` is what it was before, XOR what the branch has added.

use std::collections::{HashMap, hash_map::Entry};

use crate::{
    arithmetic::bit,
    machine::Machine,
    number::{Number, ZERO, mask},
    operation::Kind,
    source_error::SourceError,
    tree::Span,
    word::{Word, width_of},
};

/// The reason why a program panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reason {
    Overflow,
    DivisionByZero,
    OutOfBounds,
    NegativeRoot,
    Full,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Reason::Overflow => "arithmetic overflow",
            Reason::DivisionByZero => "division by zero",
            Reason::OutOfBounds => "index out of bounds",
            Reason::Full => "no room in a list",
            Reason::NegativeRoot => "square root of a negative number",
        })
    }
}

/// The state of the checks.
pub(crate) struct Panics {
    on: bool,
    happened: Word,
    code: Word,
    /// Branches on secrets that are being run, outermost first.
    paths: Vec<Path>,
    /// Number `k` is the place of code `k + 1`.
    sites: Vec<(Span, Reason)>,
    /// The code of each place.
    codes: HashMap<(Span, Reason), u32>,
    /// The number of paths that have begun, counted from the outermost.
    begun: usize,
    /// Pairs of words of which the first is not greater than the second on the paths, each with its number of paths.
    orders: HashMap<(Word, Word), u32>,
    last_sum: Option<CheckedSum>,
}

/// The last check, if it was that of a sum: the numbers of a larger sum at the same place are not negative, so it fails whenever this one does.
struct CheckedSum {
    span: Span,
    /// The sum, and its wires that the type has.
    exact: Word,
    low: Word,
    /// `happened` and the code, before the check and after it.
    before: (Word, Word),
    after: (Word, Word),
}

/// A branch: when it is taken, the pair of words that it orders, and `happened` at its beginning, once a check in it has needed that.
struct Path {
    taken: Word,
    order: Option<(Word, Word)>,
    begun: Option<(Word, Word)>,
}

impl Panics {
    /// No check so far; if `on` is false, there never is one.
    pub(crate) fn new(on: bool) -> Self {
        Panics {
            on,
            happened: Word::FALSE,
            code: Word::FALSE,
            paths: Vec::new(),
            sites: Vec::new(),
            codes: HashMap::new(),
            begun: 0,
            orders: HashMap::new(),
            last_sum: None,
        }
    }

    /// Switches checks on or off; returns whether they were on.
    pub(crate) fn switch(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.on, on)
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// The number of the place that has panicked, 0 if none has.
    pub(crate) fn code(&self) -> Word {
        self.code
    }

    /// The places, by number less one.
    pub(crate) fn sites(&self) -> &[(Span, Reason)] {
        &self.sites
    }
}

impl Machine<'_> {
    /// Begins a branch that is taken if `taken`.
    pub(crate) fn enter_path(&mut self, taken: Word) {
        let order = self.compared.filter(|(condition, ..)| *condition == taken).map(|(_, x, y)| (x, y));
        order.into_iter().for_each(|order| *self.panics.orders.entry(order).or_default() += 1);
        self.panics.paths.push(Path { taken, order, begun: None });
    }

    /// Returns whether the running branch is taken only if the first is not greater than the second.
    pub(crate) fn is_ordered(&self, x: Word, y: Word) -> bool {
        self.panics.orders.contains_key(&(x, y))
    }

    /// Ends the innermost branch.
    pub(crate) fn leave_path(&mut self, span: Span) {
        let path = self.panics.paths.pop();
        if let Some(order) = path.as_ref().and_then(|path| path.order)
            && let Entry::Occupied(mut paths) = self.panics.orders.entry(order)
        {
            *paths.get_mut() -= 1;
            if *paths.get() == 0 {
                paths.remove();
            }
        }
        self.panics.begun = self.panics.begun.min(self.panics.paths.len());
        if let Some(Path { begun: Some((before, begun)), .. }) = path {
            let added = self.xor(self.panics.happened, begun, span);
            self.panics.happened = self.xor(before, added, span);
        }
    }

    /// Panics if `failed`.
    ///
    /// *Errors*: a check that always fails.
    pub(crate) fn check(&mut self, failed: Word, reason: Reason, span: Span) -> Result<(), SourceError> {
        if failed.known() == Some(ZERO) || !self.panics.on {
            return Ok(());
        }
        if failed.known().is_some() && self.panics.paths.is_empty() {
            return Err(SourceError::new(span, format!("this always panics: {reason}")));
        }
        self.begin_paths(span);
        let number = self.number(span, reason);
        let before = self.panics.happened;
        let after = self.or(before, failed, span);
        let first = self.xor(before, after, span);
        self.panics.happened = after;
        self.panics.code = self.add_code(first, number, span);
        Ok(())
    }

    /// Panics if a sum of numbers that are not negative is beyond its type, of which it has the wires `low`.
    ///
    /// *Errors*: as [`Machine::check`].
    pub(crate) fn check_sum(&mut self, exact: Word, low: Word, bits: u16, span: Span) -> Result<(), SourceError> {
        self.begin_paths(span);
        let before = (self.panics.happened, self.panics.code);
        let above: Vec<Word> = (bits..exact.width()).map(|at| bit(exact, at)).collect();
        let failed = above.into_iter().fold(Word::FALSE, |any, bit| self.or(any, bit, span));
        self.check(failed, Reason::Overflow, span)?;
        let after = (self.panics.happened, self.panics.code);
        self.panics.last_sum = Some(CheckedSum { span, exact, low, before, after });
        Ok(())
    }

    /// The sum whose wires `low` has, if its check at the same place was the last one, and no branch has begun or ended since. That check is taken
    /// back: the sum grows, and is checked then.
    pub(crate) fn reopened_sum(&mut self, low: Word, more: Number, most: u16, span: Span) -> Option<Word> {
        let Panics { happened, code, paths, begun, last_sum, .. } = &mut self.panics;
        let last = last_sum.take_if(|last| {
            let is_same = (last.low, last.span, last.after) == (low, span, (*happened, *code));
            is_same && *begun == paths.len() && width_of(ZERO, last.exact.hi + more) <= most
        })?;
        (*happened, *code) = last.before;
        Some(last.exact)
    }

    fn begin_paths(&mut self, span: Span) {
        // If a path has begun, those around it have too.
        for at in self.panics.begun..self.panics.paths.len() {
            let (before, taken) = (self.panics.happened, self.panics.paths[at].taken);
            let skipped = self.not(taken, span);
            let begun = self.or(before, skipped, span);
            self.panics.paths[at].begun = Some((before, begun));
            self.panics.happened = begun;
        }
        self.panics.begun = self.panics.paths.len();
    }

    fn number(&mut self, span: Span, reason: Reason) -> Number {
        let site = (span, reason);
        let next = self.panics.sites.len() as u32 + 1;
        let code = *self.panics.codes.entry(site).or_insert(next);
        if code == next {
            self.panics.sites.push(site);
        }
        code.into()
    }

    fn add_code(&mut self, first: Word, number: Number, span: Span) -> Word {
        if first.known() == Some(ZERO) {
            return self.panics.code;
        }
        // All numbers so far, so that the width depends on the places and not on how often they are met.
        let width = width_of(ZERO, crate::number::number(self.panics.sites.len() as i128));
        let operands = [self.panics.code, first, Word::constant(number)];
        self.trace.push(Kind::Code, width, &operands, (ZERO, mask(width)), span.line)
    }
}
