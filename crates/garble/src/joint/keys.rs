//! Hash keys while gates are gone through in order.

use garblet_primitives::{Block, Engine, GateHash, GateNumber, KeyPeriod, Rekeyed};

/// The hash keys of some garblers.
pub(super) struct Keys<'a, E: Engine> {
    /// The public seeds of keys.
    seeds: &'a [Block],
    /// The number of slots, that of tags included.
    slots: u64,
    key_period: KeyPeriod,
    /// The keys' period.
    period: u64,
    keys: Vec<E::Key>,
}

impl<'a, E: Engine> Keys<'a, E> {
    /// The keys of the first gate.
    #[inline(always)]
    pub(super) fn new(e: E, seeds: &'a [Block], slots: usize) -> Self {
        let mut keys = Vec::with_capacity(seeds.len());
        for seed in seeds {
            keys.push(<Rekeyed as GateHash>::key(e, *seed, 0));
        }
        // A garbler hashes both labels of two operands for every slot.
        let key_period = <Rekeyed as GateHash>::key_period(4 * slots as u64);
        Keys { seeds, slots: slots as u64, key_period, period: 0, keys }
    }

    /// The place of a gate's first hashes under its keys, and the keys.
    #[inline(always)]
    pub(super) fn of_gate(&mut self, e: E, gate: usize) -> (u64, &[E::Key]) {
        let GateNumber { period, local } = self.key_period.split(gate as u64);
        if period != self.period {
            self.period = period;
            for (key, seed) in self.keys.iter_mut().zip(self.seeds) {
                *key = <Rekeyed as GateHash>::key(e, *seed, period);
            }
        }
        (self.slots * local, &self.keys)
    }
}
