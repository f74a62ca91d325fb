//! One party's local work on random blocks in place of a garbled circuit, for measuring: which rows are read depends
//! only on bit 0 of labels, and these bits are just as random in a real run.

use garblet_primitives::{Backend, Block, Delta, Prg};

use super::{
    config::Form,
    evaluate::evaluate,
    plan::Plan,
    rows::{Numbered, mask},
    secrets::Secrets,
};

/// Random labels and rows for a program.
pub struct Rehearsal<'p> {
    plan: &'p Plan,
    secrets: Secrets,
    labels: Vec<Block>,
    rows: Vec<Block>,
}

impl<'p> Rehearsal<'p> {
    /// Generates random labels and rows.
    ///
    /// # Panics
    /// If the form is half gates, which have no rows.
    pub fn new(plan: &'p Plan, rng: &mut Prg) -> Self {
        assert!(plan.form() != Form::HalfGates, "half gates have no rows");
        let delta = Delta::random(rng);
        let secrets = Secrets::random(plan, garblet_circuit::Party(0), &delta, rng);
        let mut random = |blocks: usize| {
            let mut all = vec![Block::ZERO; blocks];
            rng.fill_blocks(&mut all);
            all
        };
        let labels = random(usize::from(plan.parties()) * plan.input_count());
        Rehearsal { plan, secrets, labels, rows: random(plan.row_blocks()) }
    }

    /// Evaluates, and returns a block that depends on the whole evaluation.
    pub fn evaluate(&self) -> Block {
        let slots = evaluate(self.plan, NUMBERED, &self.labels, &self.rows, Backend::detect());
        slots.as_flattened().iter().fold(Block::ZERO, |sum, block| sum ^ *block)
    }

    /// Masks the rows, as one party does.
    pub fn mask(&mut self) {
        mask(self.plan, &self.secrets, NUMBERED, &mut self.rows);
    }
}

const NUMBERED: Numbered = Numbered { seed: Block::ONES, first: 0 };

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use garblet_synthesis::library;

    use super::*;
    use crate::Config;

    #[test]
    fn it_depends_on_what_is_evaluated() {
        let program = Arc::new(library::find("lib:millionaires(16)").unwrap());
        let plan = Plan::new(program, 3, Config { form: Form::Linear, ..Config::default() }).unwrap();
        let mut rehearsal = Rehearsal::new(&plan, &mut Prg::new(Block::ONES));
        let before = rehearsal.evaluate();
        assert!(before == rehearsal.evaluate());
        rehearsal.mask();
        assert!(before != rehearsal.evaluate());
    }
}
