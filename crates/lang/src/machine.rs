//! The machine that runs a tree on words: constants are computed, everything else is recorded in a [`Trace`].
//!
//! Loops and calls are run as often as they are executed, so that indices, sizes and ranges are known numbers; what is
//! recorded of them is cut into regions, of which equal ones are one component.

use crate::{
    panic::Panics,
    source_error::SourceError,
    trace::Trace,
    tree::{Span, Tree},
    word::Word,
};

/// A region is closed when it has about so many AND gates and an iteration or a call ends.
pub(crate) const REGION_ANDS: u64 = 1 << 8;
/// A region is closed after a statement when its code has so many words.
const REGION_CODE: usize = 1 << 16;
/// The most words that variables and intermediate values have at one time.
const STACK_WORDS: u64 = 1 << 24;

/// A place on the stack.
pub(crate) type Slot = usize;

/// The machine that runs a tree.
pub(crate) struct Machine<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) trace: Trace,
    pub(crate) panics: Panics,
    pub(crate) stack: Vec<Word>,
    /// The slots of the variables of all functions that are running.
    pub(crate) variables: Vec<Slot>,
    /// The first variable of the function that is running.
    pub(crate) frame: usize,
    /// Slots below were there before the innermost branch on a secret; what they held is kept.
    floor: Slot,
    journal: Vec<(Slot, Word)>,
    /// The last comparison: its result, and what is less than what.
    pub(crate) compared: Option<(Word, Word, Word)>,
    pub(crate) externs: Vec<Option<u32>>,
    pub(crate) nests: crate::region::LoopNests,
    /// Counts of lists, what these have room for, and which values are there.
    pub(crate) present: Vec<(Word, u32, Vec<Word>)>,
    steps: u64,
    effort: u64,
}

/// The beginning of a branch.
pub(crate) struct Branch {
    floor: Slot,
    mark: usize,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(tree: &'a Tree, panics: Panics, externs: Vec<Option<u32>>, effort: u64) -> Self {
        Machine {
            tree,
            trace: Trace::new(effort / 4, effort / 16),
            panics,
            stack: Vec::new(),
            variables: Vec::new(),
            frame: 0,
            floor: 0,
            journal: Vec::new(),
            compared: None,
            externs,
            nests: crate::region::LoopNests::default(),
            present: Vec::new(),
            steps: 0,
            effort,
        }
    }

    /// Counts a step.
    ///
    /// *Errors*: a program that does too much.
    pub(crate) fn step(&mut self, span: Span) -> Result<(), SourceError> {
        self.steps += 1;
        match self.steps > self.effort || self.trace.is_exhausted() {
            true => Err(SourceError::new(span, "the program does more than this compiler takes on")
                .hint("loops are run one iteration after another: are there fewer?")),
            false => Ok(()),
        }
    }

    /// Room for so many words, on top of the stack.
    ///
    /// *Errors*: more than the limit.
    pub(crate) fn allocate(&mut self, words: usize, span: Span) -> Result<Slot, SourceError> {
        let slot = self.stack.len();
        let most = STACK_WORDS.min(self.effort);
        match slot.checked_add(words).filter(|&end| end as u64 <= most) {
            Some(end) => self.stack.resize(end, Word::ANY),
            None => {
                return Err(SourceError::new(span, format!("values need more than {most} words of memory")));
            }
        }
        Ok(slot)
    }

    /// Gives up everything above.
    pub(crate) fn release(&mut self, slot: Slot) {
        self.stack.truncate(slot);
    }

    /// Changes a word.
    pub(crate) fn write(&mut self, slot: Slot, word: Word) {
        let old = std::mem::replace(&mut self.stack[slot], word);
        if slot < self.floor && old != word {
            self.journal.push((slot, old));
        }
    }

    /// Copies words; the two places do not overlap, or are the same.
    pub(crate) fn copy(&mut self, from: Slot, to: Slot, words: usize) {
        if from != to {
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

    /// Begins a branch: from here on changes of what there is can be taken back.
    pub(crate) fn begin_branch(&mut self) -> Branch {
        let branch = Branch { floor: self.floor, mark: self.journal.len() };
        self.floor = self.stack.len();
        branch
    }

    /// Ends a branch: takes its changes back, and gives them, by slot in ascending order.
    pub(crate) fn end_branch(&mut self, branch: Branch) -> Vec<(Slot, Word)> {
        self.release(self.floor);
        self.floor = branch.floor;
        let mut changes: Vec<(Slot, Word)> =
            self.journal[branch.mark..].iter().map(|&(slot, _)| (slot, Word::ANY)).collect();
        changes.sort_unstable_by_key(|change| change.0);
        changes.dedup_by_key(|change| change.0);
        changes.iter_mut().for_each(|(slot, word)| *word = self.stack[*slot]);
        while self.journal.len() > branch.mark {
            let (slot, old) = self.journal.pop().expect("longer than the mark");
            self.stack[slot] = old;
        }
        changes
    }

    /// Merges branches of which exactly one is taken, the last if no condition of another holds: for each slot that one
    /// of them changes, selects.
    pub(crate) fn merge(&mut self, conditions: &[Word], branches: &[Vec<(Slot, Word)>], span: Span) {
        let mut slots: Vec<Slot> = branches.iter().flatten().map(|change| change.0).collect();
        slots.sort_unstable();
        slots.dedup();
        let mut at = vec![0; branches.len()];
        let mut values = vec![Word::ANY; branches.len()];
        for slot in slots {
            for ((value, at), changes) in values.iter_mut().zip(&mut at).zip(branches) {
                let changed = changes.get(*at).filter(|change| change.0 == slot);
                *value = changed.map_or(self.stack[slot], |change| change.1);
                *at += usize::from(changed.is_some());
            }
            let mut merged = *values.last().expect("at least one branch");
            for (&condition, &value) in conditions.iter().zip(&values).rev() {
                merged = self.select(condition, value, merged, span);
            }
            self.write(slot, merged);
        }
    }

    /// Closes the open region if it is large.
    pub(crate) fn cut(&mut self) {
        if self.trace.open_cost() >= REGION_ANDS || self.trace.open_size() >= REGION_CODE {
            self.trace.close();
        }
    }
}
