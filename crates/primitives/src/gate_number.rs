//! Gate numbers, split at the changes of the hash key.

/// The number of a gate under a hash whose key changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateNumber {
    /// The period of the key.
    pub period: u64,
    /// The gate's place within the period.
    pub local: u64,
}

/// The number of gates under one hash key, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPeriod {
    log2: u32,
}

impl KeyPeriod {
    /// One key for all gates.
    pub(crate) const UNLIMITED: KeyPeriod = KeyPeriod { log2: 63 };

    /// The most gates, of `calls` hash calls each, that together make at most `max_calls` calls; at least one.
    #[inline(always)]
    pub(crate) const fn of_calls(max_calls: u64, calls: u64) -> Self {
        match max_calls / calls {
            0 => KeyPeriod { log2: 0 },
            gates => KeyPeriod { log2: gates.ilog2() },
        }
    }

    /// The number of gates of a period.
    #[inline(always)]
    pub const fn gates(self) -> u64 {
        1 << self.log2
    }

    /// Splits a gate's number within the garbling.
    #[inline(always)]
    pub const fn split(self, gate: u64) -> GateNumber {
        GateNumber { period: gate >> self.log2, local: gate & (self.gates() - 1) }
    }

    /// Undoes [`KeyPeriod::split`].
    #[inline(always)]
    pub const fn join(self, number: GateNumber) -> u64 {
        number.period << self.log2 | number.local
    }

    /// The first gate after a period.
    #[inline(always)]
    pub const fn end(self, period: u64) -> u64 {
        period.saturating_add(1).saturating_mul(self.gates())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_numbers_are_joined_again() {
        for period in [KeyPeriod::of_calls(4096, 4), KeyPeriod::of_calls(1, 4), KeyPeriod::UNLIMITED] {
            for gate in [0, 1, 1023, 1024, 5 << 40 | 77, u64::MAX] {
                let number = period.split(gate);
                assert!(number.local < period.gates() && period.join(number) == gate);
                assert!(gate < period.end(number.period) || period.end(number.period) == u64::MAX);
            }
        }
    }
}
