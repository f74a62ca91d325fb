//! Control: branches, matches, calls and loops.

use crate::{
    machine::{Arm, Machine, Slot},
    number::{ONE, ZERO},
    source_error::SourceError,
    trace::Read,
    tree::{Expr, FnId, Function, Loop, Over, Pattern, PatternKind, Scalar, Span, Ty},
    word::{Wires, Word},
};

impl Machine<'_> {
    /// Runs `if condition { then } else { other }` and writes its value to `to`.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn branch(
        &mut self,
        condition: &Expr,
        then: &Expr,
        other: &Expr,
        to: Slot,
        span: Span,
    ) -> Result<(), SourceError> {
        let condition = self.scalar(condition)?;
        if let Some(known) = condition.known() {
            return self.value(if known != ZERO { then } else { other }, to);
        }
        let first = self.arm(then, condition, to, span)?;
        let compared = self.compared;
        let otherwise = self.not(condition, span);
        let second = self.arm(other, otherwise, to, span)?;
        // The merge selects by the condition, not by its negation.
        self.compared = compared;
        self.merge(&[condition], otherwise, vec![first, second], span);
        Ok(())
    }

    /// Runs one branch and undoes it.
    fn arm(&mut self, body: &Expr, taken: Word, to: Slot, span: Span) -> Result<Arm, SourceError> {
        let branch = self.begin_branch();
        self.enter_path(taken);
        self.value(body, to)?;
        self.leave_path(span);
        Ok(self.end_branch(branch, span))
    }

    /// Runs `match value { arms }` and writes its value to `to`.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn choose(
        &mut self,
        value: &Expr,
        arms: &[(Pattern, Expr)],
        assigns: bool,
        to: Slot,
        span: Span,
    ) -> Result<(), SourceError> {
        let top = self.stack.len();
        // An arm may change the matched variable, but not the values that its pattern bound.
        let from = if assigns { self.fresh(value)? } else { self.place_or_value(value)? };
        let mut conditions = Vec::new();
        let mut changes = Vec::new();
        let mut open = Word::TRUE;
        for (at, (pattern, body)) in arms.iter().enumerate() {
            let matched = match at + 1 == arms.len() {
                // The patterns are exhaustive.
                true => {
                    self.matches(pattern, from, span);
                    Word::TRUE
                }
                false => self.matches(pattern, from, span),
            };
            if matched.known() == Some(ZERO) {
                continue;
            }
            if matched.known().is_some() && conditions.is_empty() {
                self.value(body, to)?;
                self.release(top);
                return Ok(());
            }
            let taken = self.and(open, matched, span);
            changes.push(self.arm(body, taken, to, span)?);
            if matched.known().is_some() {
                break;
            }
            conditions.push(matched);
            let missed = self.not(matched, span);
            open = self.and(open, missed, span);
        }
        self.merge(&conditions, Word::ANY, changes, span);
        self.release(top);
        Ok(())
    }

    /// Binds the variables of a pattern to the value at `slot`, and returns whether it matches.
    pub(crate) fn matches(&mut self, pattern: &Pattern, slot: Slot, span: Span) -> Word {
        match &pattern.kind {
            PatternKind::Bind(variable) => {
                self.bind(*variable, slot);
                Word::TRUE
            }
            PatternKind::Constant(value) => self.equal(self.stack[slot], Word::constant(*value), span),
            PatternKind::Range(lo, hi) => {
                let word = self.stack[slot];
                let below = self.less(word, Word::constant(*lo), span);
                let above = self.less(Word::constant(*hi), word, span);
                let outside = self.or(below, above, span);
                self.not(outside, span)
            }
            PatternKind::Parts(parts) => self.match_parts(parts, slot, Word::TRUE, span),
            PatternKind::Variant(variant, fields) => {
                let same = self.is_variant(self.stack[slot], *variant as usize, span);
                self.match_parts(fields, slot, same, span)
            }
        }
    }

    fn match_parts(&mut self, parts: &[(usize, Pattern)], slot: Slot, mut all: Word, span: Span) -> Word {
        for (skip, part) in parts {
            let matched = self.matches(part, slot + skip, span);
            all = self.and(all, matched, span);
        }
        all
    }

    /// Calls a function and writes its result to `to`.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn call(
        &mut self,
        number: FnId,
        arguments: &[Expr],
        assigns: bool,
        to: Slot,
        span: Span,
    ) -> Result<(), SourceError> {
        let tree = self.tree;
        let function = &tree.functions[number as usize];
        let top = self.stack.len();
        let mut slots = Vec::with_capacity(arguments.len());
        for (argument, param) in arguments.iter().zip(&function.params) {
            // A parameter that is never assigned is the argument itself.
            let shared = !param.mutable && !assigns;
            slots.push(if shared { self.place_or_value(argument)? } else { self.fresh(argument)? });
        }
        if let Some(number) = self.externs[number as usize] {
            self.call_extern(number, function, &slots, to)?;
        } else {
            self.run_function(function, &slots, to, span)?;
        }
        self.release(top);
        Ok(())
    }

    /// Runs a function on arguments that are on the stack.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn run_function(
        &mut self,
        function: &Function,
        arguments: &[Slot],
        to: Slot,
        span: Span,
    ) -> Result<(), SourceError> {
        self.step(span)?;
        self.work(function.vars as usize)?;
        let own_region = function.cost >= self.region_ands();
        if own_region {
            self.trace.close();
        }
        let frame = std::mem::replace(&mut self.frame, self.variables.len());
        self.variables.extend_from_slice(arguments);
        self.variables.resize(self.frame + function.vars as usize, 0);
        self.block(&function.body, to)?;
        self.variables.truncate(self.frame);
        self.frame = frame;
        if own_region {
            self.trace.close();
        }
        Ok(())
    }

    /// Computes all constants, in the order in which they use one another. They are known when a program is compiled: checks are on whatever the options say, and
    /// a function that a circuit replaces is computed by its body.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn compute_constants(&mut self) -> Result<(), SourceError> {
        let tree = self.tree;
        let had_checks = self.panics.switch(true);
        let externs = std::mem::replace(&mut self.externs, vec![None; tree.functions.len()]);
        for (number, constant) in tree.functions.iter().enumerate().filter(|(_, function)| function.is_constant) {
            let words = self.words(&constant.result);
            let slot = self.allocate(words, constant.span)?;
            self.constants[number] = slot;
            self.run_function(constant, &[], slot, constant.span)?;
        }
        self.externs = externs;
        self.panics.switch(had_checks);
        Ok(())
    }

    fn call_extern(
        &mut self,
        number: u32,
        function: &Function,
        arguments: &[Slot],
        to: Slot,
    ) -> Result<(), SourceError> {
        let words: usize = function.params.iter().map(|param| self.words(&param.ty)).sum();
        let results = self.words(&function.result);
        self.work(words.saturating_add(results))?;
        let mut reads = Vec::new();
        for (param, &slot) in function.params.iter().zip(arguments) {
            let mut scalars = Vec::new();
            param.ty.scalars(&mut scalars);
            for (k, ty) in scalars.into_iter().enumerate() {
                push_wires(self.stack[slot + k], ty, &mut reads);
            }
        }
        let region = self.trace.push_extern(number, &reads);
        let mut scalars = Vec::new();
        function.result.scalars(&mut scalars);
        for (k, ty) in scalars.into_iter().enumerate() {
            let node = crate::word::Node { region, index: k as u32 };
            self.write(to + k, Word::of_node(node, 0, (ty.min(), ty.max())));
        }
        Ok(())
    }

    /// A loop.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn repeat(&mut self, repeated: &Loop, span: Span) -> Result<(), SourceError> {
        let large = repeated.cost >= self.region_ands();
        if large {
            self.trace.close();
            self.nests.begin(span, self.trace.region_count());
        }
        let top = self.stack.len();
        let iterations = match &repeated.over {
            Over::Range(from, end, _) => {
                let slot = self.allocate(1, span)?;
                let mut value = *from;
                while value < *end {
                    self.write(slot, Word::constant(value));
                    self.iteration(repeated, slot, span)?;
                    value = value + ONE;
                }
                (*end - *from).as_u64()
            }
            Over::Array(array) => {
                let base = if repeated.assigns { self.fresh(array)? } else { self.place_or_value(array)? };
                match &array.ty {
                    Ty::List(..) => self.list_loop(&array.ty, base, repeated, span)?,
                    ty => {
                        let (element, count) = crate::join::array_ty(ty);
                        let words = self.words(element);
                        for k in 0..count as usize {
                            self.iteration(repeated, base + k * words, span)?;
                        }
                        count.into()
                    }
                }
            }
            Over::Join(a, b) => self.join_loop(a, b, repeated, span)?,
        };
        self.release(top);
        if large {
            self.trace.close();
            self.nests.end(iterations, self.trace.region_count());
        }
        Ok(())
    }

    /// One iteration on the element at `slot`.
    ///
    /// *Errors*: as [`Machine::scalar`].
    pub(crate) fn iteration(&mut self, repeated: &Loop, slot: Slot, span: Span) -> Result<(), SourceError> {
        self.step(span)?;
        let top = self.stack.len();
        self.matches(&repeated.pattern, slot, span);
        self.statements(&repeated.body)?;
        self.release(top);
        self.cut();
        Ok(())
    }
}

/// All wires of a word as a scalar of that type.
pub(crate) fn push_wires(word: Word, ty: Scalar, reads: &mut Vec<Read>) {
    use crate::{trace::CONSTANTS, word::Node};
    let constant =
        |bit: bool, len: u16| Read { node: Node { region: CONSTANTS, index: bit.into() }, start: 0, end: len };
    match word.wires {
        Wires::Node { node, start, len } => {
            let len = len.min(ty.bits);
            reads.push(Read { node, start, end: start + len });
            match word.signed() {
                true => {
                    (len..ty.bits).for_each(|_| reads.push(Read { node, start: start + len - 1, end: start + len }))
                }
                false if len < ty.bits => reads.push(constant(false, ty.bits - len)),
                false => {}
            }
        }
        _ => {
            let value = word.known().unwrap_or(ZERO);
            let first = reads.len();
            for read in (0..ty.bits).map(|k| constant(value.bit(k), 1)) {
                match reads[first..].last_mut() {
                    Some(last) if last.node == read.node => last.end += 1,
                    _ => reads.push(read),
                }
            }
        }
    }
}
