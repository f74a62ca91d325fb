//! The kinds of prepared pieces, and amounts of them.

/// The amounts of each kind that are prepared or taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// AND gates.
    pub gates: u64,
    /// Input bits of both parties.
    pub inputs: u64,
    /// Pairs of input bits of the constructor, or output bits that the evaluator does not learn.
    pub input_pairs: u64,
    /// Output bits.
    pub outputs: u64,
}

impl Amounts {
    /// The missing amounts of each kind of which `stock` has less than `below` percent; `None` if there is enough of all.
    pub fn short_of(&self, stock: &Amounts, below: u8) -> Option<Amounts> {
        let missing = |wanted: u64, there: u64| {
            let short = u128::from(there) * 100 < u128::from(wanted) * u128::from(below);
            if short { wanted.saturating_sub(there) } else { 0 }
        };
        let short = Amounts {
            gates: missing(self.gates, stock.gates),
            inputs: missing(self.inputs, stock.inputs),
            input_pairs: missing(self.input_pairs, stock.input_pairs),
            outputs: missing(self.outputs, stock.outputs),
        };
        (short != Amounts::default()).then_some(short)
    }
}

/// The use of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Gate,
    Input,
    InputPair,
    Output,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::Gate, Kind::Input, Kind::InputPair, Kind::Output];

    /// The name that users read.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Gate => "AND gates",
            Kind::Input => "input bits",
            Kind::InputPair => "pairs of bits that party 1 does not learn",
            Kind::Output => "output bits",
        }
    }

    /// The number of wires of a piece.
    pub(crate) fn wires(self) -> usize {
        match self {
            Kind::Gate => 3,
            Kind::Input | Kind::InputPair => 2,
            Kind::Output => 1,
        }
    }

    /// The number of pieces of the kind in these amounts.
    pub(crate) fn of(self, amounts: &Amounts) -> u64 {
        match self {
            Kind::Gate => amounts.gates,
            Kind::Input => amounts.inputs,
            Kind::InputPair => amounts.input_pairs,
            Kind::Output => amounts.outputs,
        }
    }
}
