//! The components that are not checked, on their way into buckets.

use garblet_homcommit::Code;
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::shuffle::{self, Shuffle};
use crate::{
    order::{Order, STATISTICAL, Span},
    stock::pieces::{Storable, Workshop},
};
use garblet_protocol::error::ProtocolError;

/// Gates and authenticators that are not checked, in the order of the permutation.
pub(crate) struct Unchecked<G, A> {
    pub(crate) gates: Shuffle<G>,
    pub(crate) authenticators: Shuffle<A>,
}

/// The gates and authenticators of some buckets.
pub(crate) type Components<G, A> = (Zeroizing<Vec<G>>, Zeroizing<Vec<A>>);

impl<G: Storable, A: Storable> Unchecked<G, A> {
    /// None yet, with room for all of an order.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn new(
        code: Code,
        order: &Order,
        permutations: [Block; 2],
        workshop: &mut impl Workshop,
    ) -> Result<Self, ProtocolError> {
        let [gates, authenticators] = [order.gates_made(), order.authenticators_made()].map(shuffle::bins);
        let [of_gates, of_authenticators] = permutations;
        Ok(Unchecked {
            gates: Shuffle::new(code, workshop.room(gates)?, gates, of_gates),
            authenticators: Shuffle::new(code, workshop.room(authenticators)?, authenticators, of_authenticators),
        })
    }

    /// Refuses to continue if the checks left fewer components than the buckets need, which happens with probability `2^-40`. The constructor cannot cause that: it learns the evaluator's coins when all
    /// components are fixed. A malicious evaluator may search for such coins, but gains no more than by leaving: both parties stop before an input is used, at a point that depends only on the coins.
    ///
    /// *Errors*: [`ProtocolError::Unlucky`].
    pub(crate) fn suffice_for(&self, order: &Order) -> Result<(), ProtocolError> {
        let needed = order.parameters();
        if self.gates.len() >= needed.bucketed_gates() && self.authenticators.len() >= needed.bucketed_authenticators()
        {
            return Ok(());
        }
        let log2 = -(STATISTICAL as i32);
        Err(ProtocolError::Unlucky {
            what: "the checks left fewer gates or authenticators than the buckets need",
            log2,
        })
    }

    /// Takes the components of the next buckets.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn take(&mut self, span: Span) -> Result<Components<G, A>, ProtocolError> {
        let [gate_count, authenticator_count] = span.components();
        let mut gates = Zeroizing::new(Vec::with_capacity(gate_count));
        let mut authenticators = Zeroizing::new(Vec::with_capacity(authenticator_count));
        self.gates.take(gate_count, &mut gates)?;
        self.authenticators.take(authenticator_count, &mut authenticators)?;
        Ok((gates, authenticators))
    }
}

#[cfg(test)]
mod tests {
    use garblet_net::Accuses;
    use garblet_protocol::Class;

    use super::*;
    use crate::{
        Amounts, Config,
        generate::made::{MadeAuthenticator, MadeGate},
        stock::pieces::InMemory,
    };

    #[test]
    fn too_few_gates_after_the_checks_are_bad_luck_and_nobodys_fault() {
        let config = Config::default();
        let amounts = Amounts { gates: 100, inputs: 16, input_pairs: 16, outputs: 16 };
        let order = Order::new(amounts, config).expect("some sizes keep the bound");
        let none = Unchecked::<MadeGate, MadeAuthenticator>::new(config.code, &order, [Block::ZERO; 2], &mut InMemory);
        let error = none.expect("memory").suffice_for(&order).expect_err("there are none");
        assert_eq!((Class::from(&error), error.accuses(0)), (Class::Other, None));
        assert!(error.to_string().contains("probability 2^-40: run again"), "{error}");
    }
}
