//! The components that are not checked, on their way into buckets.

use garblet_homcommit::Code;
use garblet_primitives::Block;
use zeroize::Zeroizing;

use super::shuffle::{self, Shuffle};
use crate::{
    order::{Order, Span},
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

    /// Refuses what the checks happened to leave if it is less than the buckets need, which has probability `2^-40`.
    pub(crate) fn suffice_for(&self, order: &Order) -> Result<(), ProtocolError> {
        let needed = order.parameters();
        if self.gates.len() >= needed.bucketed_gates() && self.authenticators.len() >= needed.bucketed_authenticators()
        {
            return Ok(());
        }
        let [expected, got] = ["as many as the buckets take", "fewer; run again"].map(Into::into);
        Err(ProtocolError::Material { what: "components left after the checks", expected, got })
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
