//! The choice of circuits to evaluate: the evaluator's secret, until it announces it.

use garblet_ot::BitVec;
use garblet_primitives::Prg;
use rand_core::Rng;

/// The division of circuits into evaluated and checked ones.
///
/// *Secret*: until it is announced, or the run is over; nothing visible before may depend on it.
pub struct Split {
    checked: BitVec,
}

impl Split {
    /// A uniform choice of `evaluated` out of `circuits` circuits.
    pub fn random(circuits: usize, evaluated: usize, rng: &mut Prg) -> Self {
        let mut order: Vec<usize> = (0..circuits).collect();
        for i in 0..evaluated.min(circuits) {
            let other = i + below((circuits - i) as u64, rng) as usize;
            order.swap(i, other);
        }
        let mut checked = vec![true; circuits];
        order[..evaluated.min(circuits)].iter().for_each(|&circuit| checked[circuit] = false);
        Split { checked: checked.into_iter().collect() }
    }

    /// The split with a one for each checked circuit.
    pub fn told(checked: BitVec) -> Self {
        Split { checked }
    }

    /// A one for each checked circuit.
    pub fn choices(&self) -> &BitVec {
        &self.checked
    }

    /// Tells whether a circuit is checked.
    pub fn is_checked(&self, circuit: usize) -> bool {
        self.checked.get(circuit).public("circuits: which are checked, hidden until the evaluator announces it")
    }

    /// The evaluated circuits, in order.
    pub fn evaluated(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.checked.len()).filter(|&circuit| !self.is_checked(circuit))
    }

    /// The checked circuits, in order.
    pub fn checked(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.checked.len()).filter(|&circuit| self.is_checked(circuit))
    }
}

/// A uniform number below `bound`, which is not zero, by rejection sampling.
fn below(bound: u64, rng: &mut Prg) -> u64 {
    let rest = (u64::MAX % bound + 1) % bound;
    loop {
        let drawn = rng.next_u64();
        if drawn <= u64::MAX - rest {
            return drawn % bound;
        }
    }
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Block;

    use super::*;

    #[test]
    fn the_stated_number_is_evaluated_and_every_index_may_be() {
        let mut rng = Prg::new(Block::ZERO);
        let (circuits, evaluated, draws) = (10, 3, 3000);
        let mut counts = [0; 10];
        for _ in 0..draws {
            let split = Split::random(circuits, evaluated, &mut rng);
            assert_eq!(split.checked().count(), circuits - evaluated);
            (0..circuits).filter(|&i| !split.is_checked(i)).for_each(|i| counts[i] += 1);
        }
        // Expected 900, standard deviation 25.
        assert!(counts.iter().all(|&count: &i32| count.abs_diff(900) < 150), "{counts:?}");
    }

    #[test]
    fn numbers_below_a_bound_are_uniform() {
        let mut rng = Prg::new(Block::ONES);
        let mut counts = [0u32; 3];
        (0..3000).for_each(|_| counts[below(3, &mut rng) as usize] += 1);
        assert!(counts.iter().all(|&count| count.abs_diff(1000) < 150), "{counts:?}");
        assert_eq!(below(1, &mut rng), 0);
    }
}
