//! The machine that runs a tree on words: it computes constants and records everything else in a [`Trace`].
//!
//! It runs every iteration of a loop and every call, so that indices, sizes and ranges are known numbers. What it records is cut
//! into regions, and equal regions become one component.

use garblet_synthesis::builder::Aim;

use crate::{
    budget::Budget,
    operation::Kind,
    panic::Panics,
    source_error::SourceError,
    trace::Trace,
    tree::{Span, Tree, Ty},
    word::{Node, Wires, Word, width_of},
};

/// A region with about this many AND gates is closed at the end of an iteration or a call.
const REGION_ANDS: u64 = 1 << 8;
/// The same for few layers: sums of many numbers are made in few layers within a region.
const DEEP_REGION_ANDS: u64 = 1 << 16;
/// A region whose code has this many words is closed after a statement.
const REGION_CODE: usize = 1 << 16;
/// The memory of a word, and of a word that a branch has changed.
const WORD_BYTES: u64 = size_of::<Word>() as u64;
const CHANGE_BYTES: u64 = size_of::<(Slot, Word)>() as u64;
/// The work of running an expression, not counting what it records or copies.
const STEP_WORK: usize = 2;
/// The number of parts of a type that can be visited for a unit of work.
const PARTS_PER_UNIT: u64 = 8;

/// A place on the stack.
pub(crate) type Slot = usize;

/// The machine that runs a tree.
pub(crate) struct Machine<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) aim: Aim,
    pub(crate) trace: Trace,
    pub(crate) panics: Panics,
    pub(crate) stack: Vec<Word>,
    /// The slot of each constant by its function; those of other functions mean nothing.
    pub(crate) constants: Vec<Slot>,
    /// The slots of the variables of all running functions.
    pub(crate) variables: Vec<Slot>,
    /// The first variable of the innermost running function.
    pub(crate) frame: usize,
    /// Slots below existed before the innermost branch on a secret; the journal keeps what they held.
    floor: Slot,
    journal: Vec<(Slot, Word)>,
    /// The largest sizes of the stack and the journal so far, in words.
    peaks: [usize; 2],
    /// The last comparison: its result, and two operands, of which it tells whether the first is less.
    pub(crate) compared: Option<(Word, Word, Word)>,
    pub(crate) externs: Vec<Option<u32>>,
    pub(crate) nests: crate::region::LoopNests,
    /// Counts of lists, their room, and marks for the values that exist.
    pub(crate) present: Vec<(Word, u32, Vec<Word>)>,
}

/// The beginning of a branch.
pub(crate) struct Branch {
    floor: Slot,
    mark: usize,
    begin: Option<Node>,
    /// The last comparison before the branch. A selection by the condition may use it, and the branch may make others.
    compared: Option<(Word, Word, Word)>,
}

/// The effects of a branch: the words that it changed, in ascending order of their slots, and its first operation.
#[derive(Default)]
pub(crate) struct Arm {
    changes: Vec<(Slot, Word)>,
    begin: Option<Node>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new((tree, aim): (&'a Tree, Aim), panics: Panics, externs: Vec<Option<u32>>, effort: u64) -> Self {
        Machine {
            tree,
            aim,
            trace: Trace::new(Budget::new(effort, tree)),
            panics,
            stack: Vec::new(),
            constants: vec![0; tree.functions.len()],
            variables: Vec::new(),
            frame: 0,
            floor: 0,
            journal: Vec::new(),
            peaks: [0; 2],
            compared: None,
            externs,
            nests: crate::region::LoopNests::default(),
            present: Vec::new(),
        }
    }

    /// Charges a step, and charges later work to its place.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn step(&mut self, span: Span) -> Result<(), SourceError> {
        self.trace.budget.turn_to(span);
        self.work(STEP_WORK)
    }

    /// Charges work.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn work(&mut self, units: usize) -> Result<(), SourceError> {
        self.trace.budget.work(units as u64);
        self.trace.budget.check()
    }

    /// The number of words that a value of the type has.
    pub(crate) fn words(&mut self, ty: &Ty) -> usize {
        let (words, parts) = ty.measured();
        self.trace.budget.work(parts / PARTS_PER_UNIT);
        words
    }

    /// Charges the memory of words outside of the stack, until they are [dropped](Machine::drop_words).
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn hold_words(&mut self, words: usize, span: Span) -> Result<(), SourceError> {
        self.trace.budget.turn_to(span);
        self.trace.budget.hold((words as u64).saturating_mul(WORD_BYTES));
        self.trace.budget.check()
    }

    pub(crate) fn drop_words(&mut self, words: usize, span: Span) {
        self.trace.budget.turn_to(span);
        self.trace.budget.release((words as u64).saturating_mul(WORD_BYTES));
    }

    /// Allocates words on top of the stack.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn allocate(&mut self, words: usize, span: Span) -> Result<Slot, SourceError> {
        let slot = self.stack.len();
        let end = slot.saturating_add(words);
        self.hold_words(end.saturating_sub(self.peaks[0]), span)?;
        self.peaks[0] = self.peaks[0].max(end);
        self.work(words / 2)?;
        self.stack.resize(end, Word::ANY);
        Ok(slot)
    }

    /// Releases the stack from this slot on.
    pub(crate) fn release(&mut self, slot: Slot) {
        self.stack.truncate(slot);
    }

    /// Changes a word.
    pub(crate) fn write(&mut self, slot: Slot, word: Word) {
        let old = std::mem::replace(&mut self.stack[slot], word);
        if slot < self.floor && old != word {
            self.journal.push((slot, old));
            self.trace.budget.work(1);
            if self.journal.len() > self.peaks[1] {
                self.peaks[1] = self.journal.len();
                self.trace.budget.hold(CHANGE_BYTES);
            }
        }
    }

    /// Copies words; the two places do not overlap, or are the same.
    pub(crate) fn copy(&mut self, from: Slot, to: Slot, words: usize) {
        if from != to {
            self.trace.budget.work(words as u64);
            (0..words).for_each(|k| self.write(to + k, self.stack[from + k]));
        }
    }

    /// Copies words to a place that nothing refers to yet.
    pub(crate) fn bind(&mut self, variable: u32, slot: Slot) {
        self.variables[self.frame + variable as usize] = slot;
    }

    pub(crate) fn slot_of(&self, variable: u32) -> Slot {
        self.variables[self.frame + variable as usize]
    }

    /// Begins a branch: from here on, changes of existing words can be undone.
    pub(crate) fn begin_branch(&mut self) -> Branch {
        let begin = Some(self.trace.next_node());
        let branch = Branch { floor: self.floor, mark: self.journal.len(), begin, compared: self.compared };
        self.floor = self.stack.len();
        branch
    }

    /// Ends a branch: undoes its changes, and returns them to be [merged](Machine::merge).
    pub(crate) fn end_branch(&mut self, branch: Branch, span: Span) -> Arm {
        self.trace.budget.turn_to(span);
        self.release(self.floor);
        self.floor = branch.floor;
        self.compared = branch.compared;
        let mut slots: Vec<Slot> = self.journal[branch.mark..].iter().map(|&(slot, _)| slot).collect();
        slots.sort_unstable();
        slots.dedup();
        self.trace.budget.work(slots.len() as u64);
        self.trace.budget.hold(CHANGE_BYTES * slots.len() as u64);
        let changes = slots.into_iter().map(|slot| (slot, self.stack[slot])).collect();
        while self.journal.len() > branch.mark {
            let (slot, old) = self.journal.pop().expect("longer than the mark");
            self.stack[slot] = old;
        }
        Arm { changes, begin: branch.begin }
    }

    /// Merges branches of which exactly one is taken: the first whose condition holds, or the last. Each slot that one of them
    /// changes becomes a selection. With two branches, `otherwise` may say when the second is taken.
    pub(crate) fn merge(&mut self, conditions: &[Word], otherwise: Word, branches: Vec<Arm>, span: Span) {
        let mut slots: Vec<Slot> = branches.iter().flat_map(|arm| &arm.changes).map(|change| change.0).collect();
        let changed = slots.len() as u64;
        slots.sort_unstable();
        slots.dedup();
        self.trace.budget.turn_to(span);
        self.trace.budget.release(CHANGE_BYTES * changed);
        self.trace.budget.work(changed + (slots.len() * branches.len()) as u64);
        if self.trace.budget.is_spent() {
            return;
        }
        let mut at = vec![0; branches.len()];
        let mut values = vec![Word::ANY; branches.len()];
        for slot in slots {
            for ((value, at), arm) in values.iter_mut().zip(&mut at).zip(&branches) {
                let changed = arm.changes.get(*at).filter(|change| change.0 == slot);
                *value = changed.map_or(self.stack[slot], |change| change.1);
                *at += usize::from(changed.is_some());
            }
            let mut merged = *values.last().expect("at least one branch");
            for (k, (&condition, &value)) in conditions.iter().zip(&values).enumerate().rev() {
                let begins = [branches[k].begin, branches.last().and_then(|last| last.begin)];
                let sides = [(condition, value), (otherwise, merged)];
                let joined = self.joined_sums(sides, begins, span);
                merged = joined.unwrap_or_else(|| self.select(condition, value, merged, span));
            }
            self.write(slot, merged);
        }
    }

    /// The result of two branches without a selection. If one branch leaves a number as it is and the other adds a constant or negates
    /// it, that operation becomes conditional. Of two opposite differences, one is negated conditionally.
    fn joined_sums(&mut self, sides: [(Word, Word); 2], begins: [Option<Node>; 2], span: Span) -> Option<Word> {
        let [(condition, a), (otherwise, b)] = sides;
        let is_wired = |word: Word| matches!(word.wires, Wires::Node { start: 0, .. });
        if a == b || !is_wired(a) || !is_wired(b) || condition.known().is_some() {
            return None;
        }
        let range = (a.lo.min(b.lo), a.hi.max(b.hi));
        let width = width_of(range.0, range.1);
        for ((taken, own, other), begin) in [(condition, a, b), (otherwise, b, a)].into_iter().zip(begins) {
            let Some(begin) = begin.filter(|_| taken.known().is_none()) else { continue };
            if self.trace.make_conditional(own, other, taken, begin, width) {
                let Wires::Node { node, .. } = own.wires else { return None };
                return Some(Word::of_node(node, 0, range));
            }
        }
        if !self.trace.are_opposite(a, b) {
            return None;
        }
        for (taken, other) in [(condition, b), (otherwise, a)] {
            if let Some(wires) = self.trace.low_wires(other, width).filter(|_| taken.known().is_none()) {
                return Some(self.record(Kind::NegIf, &[taken, wires], range, span));
            }
        }
        None
    }

    /// The AND gates of a region that is large enough.
    pub(crate) fn region_ands(&self) -> u64 {
        match self.aim {
            Aim::Size => REGION_ANDS,
            Aim::Depth => DEEP_REGION_ANDS,
        }
    }

    /// Closes the open region if it is large.
    pub(crate) fn cut(&mut self) {
        if self.trace.open_cost() >= self.region_ands() || self.trace.open_size() >= REGION_CODE {
            self.trace.close();
        }
    }
}
