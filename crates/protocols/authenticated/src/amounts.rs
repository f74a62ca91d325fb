//! Amounts of prepared material.

use garblet_protocol::{error::ProtocolError, protocol::OrderRequest};

use crate::parameters::AMOUNT_MAX;

/// The names of kinds.
pub(crate) const KINDS: [&str; 2] = ["triples", "masks"];

/// Numbers of triples and masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Triples: one for each AND gate.
    pub triples: u64,
    /// Masks: one for each AND gate and each input bit that a party provides.
    pub masks: u64,
}

impl Amounts {
    /// The default number of masks for an order of triples: one for each gate, and an eighth more for inputs.
    pub fn masks_with(triples: u64) -> u64 {
        triples + triples.div_ceil(8)
    }

    /// The amounts of an order; masks for as many gates as there are triples, if it names none.
    ///
    /// *Errors*: another kind; too many.
    pub(crate) fn ordered(request: &OrderRequest) -> Result<Self, ProtocolError> {
        let refuse = |expected: String, got: String| Err(ProtocolError::Order { expected, got });
        let (mut triples, mut masks) = (None, None);
        for (kind, amount) in &request.amounts {
            let place = match &kind[..] {
                "triples" => &mut triples,
                "masks" => &mut masks,
                _ => return refuse(KINDS.join(", "), format!("`{kind}`")),
            };
            if *amount > AMOUNT_MAX {
                return refuse(format!("at most {AMOUNT_MAX}"), format!("{kind}={amount}"));
            }
            *place = Some(*amount);
        }
        let triples = triples.unwrap_or_default();
        Ok(Amounts { triples, masks: masks.unwrap_or_else(|| Amounts::masks_with(triples)) })
    }

    /// The amounts to make of each kind that has fallen below this percentage; `None` if there is enough of both.
    pub fn short_of(self, has: Amounts, below: u8) -> Option<Amounts> {
        let short = |wanted: u64, has: u64| {
            let enough = u128::from(has) * 100 >= u128::from(wanted) * u128::from(below);
            if enough { 0 } else { wanted.saturating_sub(has) }
        };
        let short = Amounts { triples: short(self.triples, has.triples), masks: short(self.masks, has.masks) };
        (short != Amounts::default()).then_some(short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_filled_up_when_there_is_less_than_its_share() {
        let of = |triples, masks| Amounts { triples, masks };
        assert_eq!(of(100, 50).short_of(of(100, 50), 100), None);
        assert_eq!(of(100, 50).short_of(of(49, 25), 50), Some(of(51, 0)));
        assert_eq!(of(100, 50).short_of(of(0, 60), 100), Some(of(100, 0)));
        assert_eq!(of(u64::MAX, 0).short_of(of(u64::MAX - 1, 0), 100), Some(of(1, 0)));
        assert_eq!(Amounts::masks_with(6_400), 7_200);
    }
}
