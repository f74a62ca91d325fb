//! The cost of compiling a source, and its limit. The compiler counts work and never measures time, so every machine accepts the same
//! sources.
//!
//! A unit is about the work of copying a word or of building a gate. Running an expression costs two units; recording an operation
//! costs four, and two for each of its operands. Memory is bounded in proportion. Both are charged to lines of the source, so that a
//! refusal can name the line that takes most.

use crate::{
    source_error::SourceError,
    tree::{Span, Tree},
};

/// The bytes of memory that a source may take for each unit of work, and those that it may always take.
const BYTES_PER_UNIT: u64 = 3;
const LEAST_BYTES: u64 = 1 << 25;

/// The limit on the cost of compiling, and the cost so far.
#[derive(Default)]
pub(crate) struct Budget {
    /// The most units of work, and the units charged so far.
    effort: u64,
    work: u64,
    /// The most bytes of memory, and the bytes in use.
    memory: u64,
    bytes: u64,
    /// The bytes of the region that is being recorded. They are given back if an earlier region has the same code.
    pending: u64,
    /// The cost of each line of the source so far, by number.
    lines: Vec<Line>,
    /// The place to which work is charged now.
    at: Span,
    /// The functions of the source, with their names.
    functions: Vec<(Span, String)>,
}

/// The cost of a line.
#[derive(Clone, Copy, Default)]
struct Line {
    span: Span,
    work: u64,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(effort: u64, tree: &Tree) -> Self {
        let functions = tree.functions.iter().map(|f| (f.span, f.name.clone())).collect();
        let memory = effort.saturating_mul(BYTES_PER_UNIT).saturating_add(LEAST_BYTES);
        Budget { effort, memory, functions, ..Budget::default() }
    }

    /// Charges what follows to that place.
    pub(crate) fn turn_to(&mut self, span: Span) {
        self.at = span;
    }

    /// Charges what follows to a line.
    pub(crate) fn turn_to_line(&mut self, line: u32) {
        let known = self.lines.get(line as usize).map(|line| line.span).filter(|span| span.line > 0);
        self.at = known.unwrap_or(Span { line, column: 1, end_line: line, end_column: 1 });
    }

    /// Charges work to the present place.
    pub(crate) fn work(&mut self, units: u64) {
        self.work = self.work.saturating_add(units);
        let line = self.line();
        line.work = line.work.saturating_add(units);
    }

    /// Charges memory to the present place.
    pub(crate) fn hold(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        let line = self.line();
        line.bytes = line.bytes.saturating_add(bytes);
    }

    /// Takes back memory that was charged.
    pub(crate) fn release(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
        let line = self.line();
        line.bytes = line.bytes.saturating_sub(bytes);
    }

    /// Charges memory of the region that is being recorded.
    pub(crate) fn hold_pending(&mut self, bytes: u64) {
        self.pending = self.pending.saturating_add(bytes);
    }

    /// Ends the region that was recorded. Its memory stays charged if it is kept.
    pub(crate) fn settle(&mut self, kept: bool) {
        let pending = std::mem::take(&mut self.pending);
        if kept {
            self.hold(pending);
        }
    }

    fn line(&mut self) -> &mut Line {
        let at = self.at.line as usize;
        if at >= self.lines.len() {
            self.lines.resize(at + 1, Line::default());
        }
        let line = &mut self.lines[at];
        if line.span.line == 0 {
            line.span = self.at;
        }
        line
    }

    /// Returns whether the budget is spent.
    pub(crate) fn is_spent(&self) -> bool {
        self.work > self.effort || self.bytes.saturating_add(self.pending) > self.memory
    }

    /// Checks that the budget is not spent.
    ///
    /// *Errors*: a spent budget.
    pub(crate) fn check(&mut self) -> Result<(), SourceError> {
        let [worked, grown] = crate::number::spent();
        if worked > 0 || grown > 0 {
            self.work(worked);
            self.hold(grown);
        }
        if self.is_spent() { Err(self.refusal()) } else { Ok(()) }
    }

    fn refusal(&mut self) -> SourceError {
        self.settle(true);
        let by_work = self.work > self.effort;
        let cost = |line: &&Line| if by_work { line.work } else { line.bytes };
        let most = self.lines.iter().max_by_key(cost).copied().unwrap_or_default();
        let place = match self.function_at(most.span) {
            Some(name) => format!("line {} in `{name}`", most.span.line),
            None => format!("line {}", most.span.line),
        };
        let message = match by_work {
            true => format!(
                "compiling takes more than {} units of work, {} of them for {place}",
                grouped(self.effort),
                grouped(most.work)
            ),
            false => format!(
                "compiling takes more than {} MB of memory, {} MB of them for {place}",
                grouped(self.memory / 1_000_000),
                grouped(most.bytes.div_ceil(1_000_000))
            ),
        };
        let more = self.effort.saturating_mul(4);
        SourceError::new(most.span, message).hint(format!(
            "take fewer iterations, calls or elements there, or allow more: `--effort {more}`, elsewhere the option `effort`"
        ))
    }

    fn function_at(&self, span: Span) -> Option<&str> {
        let begin = (span.line, span.column);
        let holds = |own: &Span| (own.line, own.column) <= begin && begin <= (own.end_line, own.end_column);
        self.functions.iter().find(|(own, _)| holds(own)).map(|(_, name)| name.as_str())
    }
}

/// The number, its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
