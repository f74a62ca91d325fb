//! All orders that a store has ever had: the probability that something bad is among them, and the number of orders that the peer left unfinished.
//!
//! A constructor that learns which components are checked knows whether a bad gate will be detected. If it could leave then at no cost, it could try until
//! it is lucky. So before the evaluator reveals its coins, it records durably that the order has begun: its bound counts from then on in any case.
//! An order that does not complete is unfinished, whoever is to blame: a peer that is gone looks like a failed network, or like an evaluator that was
//! killed. The same holds for the setup of new secrets, which the constructor can request at every meeting. A peer that has left three of either unfinished
//! since the evaluator's user last allowed it gets no fourth.

use garblet_homcommit::Code;
use garblet_store::{State, Store};
use serde::{Deserialize, Serialize};

use super::store::VERSION;
use crate::{
    generate::gates::GARBLING,
    order::{Order, STATISTICAL},
    parameters::escaping,
};
use garblet_protocol::{
    Security,
    error::{ProtocolError, Unfinished},
    secrets::unreadable,
};

/// The number of unfinished orders and setups from which on nothing more is made.
pub(crate) const UNFINISHED_MAX: u32 = 3;

/// The name of the state in a store.
const STATE: &str = "lego orders";

/// The orders since the store was made, including those with earlier secrets.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Orders {
    /// The probability that something bad is among all orders.
    cheating: f64,
    /// Wire authenticators that were made.
    authenticators: u64,
    /// The least probability of a check of gates; `None` without orders.
    check_gates: Option<f64>,
    /// Unfinished orders and setups, since the user last allowed them.
    unfinished: u32,
    /// Unfinished orders and setups that the user has allowed.
    allowed: u32,
}

impl Orders {
    /// Reads the orders of a store.
    ///
    /// *Errors*: a state of another version.
    pub(crate) fn of(store: &Store) -> Result<Self, ProtocolError> {
        let Some(bytes) = store.state_of(STATE, VERSION)? else { return Ok(Orders::default()) };
        postcard::from_bytes(bytes).map_err(|_| unreadable("orders"))
    }

    /// The orders as a state of a store, with its name.
    pub(crate) fn state(&self) -> (&'static str, State) {
        (STATE, State::encoded(VERSION, self))
    }

    /// Counts an order.
    pub(crate) fn count(&mut self, order: &Order) {
        self.cheating += order.cheating();
        self.authenticators += order.authenticators_made() as u64;
        let check = order.parameters().check_gates;
        self.check_gates = Some(self.check_gates.map_or(check, |least| least.min(check)));
    }

    /// Counts an order, which is unfinished until it is [`done`](Orders::done).
    pub(crate) fn begin(&mut self, order: &Order) {
        self.count(order);
        self.unfinished += 1;
    }

    /// Counts a setup of new secrets, which is unfinished until it is [`done`](Orders::done).
    pub(crate) fn begin_setup(&mut self) {
        self.unfinished += 1;
    }

    /// Marks the last order or setup as done.
    pub(crate) fn done(&mut self) {
        self.unfinished = self.unfinished.saturating_sub(1);
    }

    /// Checks that one more may be begun.
    ///
    /// *Errors*: [`Unfinished`].
    pub(crate) fn check(&self, store: &Store) -> Result<(), ProtocolError> {
        match self.unfinished < UNFINISHED_MAX {
            true => Ok(()),
            false => Err(Unfinished {
                kind: "gates",
                folder: store.folder().into(),
                orders: self.unfinished,
                max: UNFINISHED_MAX,
            }
            .into()),
        }
    }

    /// The number of bad gates that may be in the store, of a constructor that hangs up whenever one would be detected: as often as it did before the
    /// user last allowed it, and as often as it can since. If one is detected, all prepared material is discarded.
    pub(crate) fn escaping(&self) -> u64 {
        let hang_ups = self.allowed.saturating_add(UNFINISHED_MAX);
        self.check_gates.map_or(0, |check| escaping(check, STATISTICAL, hang_ups))
    }

    /// The probability of cheating outside of orders, once there is an order: a commitment opens in two ways, because its shares hit no watched bit in
    /// which codewords differ; or more bad gates escape than [`escaping`](Orders::escaping) says.
    pub(crate) fn of_store(code: Code) -> f64 {
        (-f64::from(code.distance())).exp2() + (-f64::from(STATISTICAL)).exp2()
    }

    /// The security of runs. The hash of gates changes its key; the hash of authenticators does not, and hashes two keys for each.
    pub(crate) fn security(&self, code: Code) -> Security {
        let of_store = if self.check_gates.is_some() { Orders::of_store(code) } else { 0.0 };
        let calls = self.authenticators.max(1).saturating_mul(2);
        let of_authenticators = 128 - calls.next_power_of_two().ilog2();
        Security {
            computational_bits: GARBLING.security_bits(u64::MAX).min(of_authenticators),
            statistical_bits: Some(f64::from(STATISTICAL)),
            cheating_log2: Some((self.cheating + of_store).log2()),
            ..Security::default()
        }
    }
}

/// The number of unfinished orders and setups of a store, since its user last allowed them.
pub fn unfinished(store: &Store) -> u32 {
    Orders::of(store).map_or(0, |orders| orders.unfinished)
}

/// Allows what [`Unfinished`] refuses: the user attributes the unfinished orders to failures of the network or of this machine. Their bounds
/// stay counted, and so do the tries of a constructor.
///
/// *Errors*: the store's.
pub fn allow_unfinished(store: &mut Store) -> Result<(), ProtocolError> {
    let mut orders = Orders::of(store)?;
    let unfinished = std::mem::take(&mut orders.unfinished);
    orders.allowed = orders.allowed.saturating_add(unfinished);
    if unfinished > 0 {
        let (name, state) = orders.state();
        store.set_state(name, state)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use garblet_primitives::{Block, Prg};

    use super::*;
    use crate::{Amounts, Config};

    #[test]
    fn everything_ordered_counts_against_the_stated_bound() {
        let mut orders = Orders::default();
        assert_eq!(
            orders.security(Code::Short).computational_bits,
            116,
            "gates have as many hashes under one key as that"
        );
        let amounts = Amounts { gates: 6_400, inputs: 256, input_pairs: 64, outputs: 128 };
        let order = Order::new(amounts, Config::default()).expect("it is small");
        orders.begin(&order);
        orders.done();
        let made = order.authenticators_made();
        assert!((1 << 15..1 << 16).contains(&made), "{made}");
        let once = orders.security(Code::Short);
        assert_eq!(once.computational_bits, 128 - 17);
        (0..3).for_each(|_| orders.begin(&order));
        let more = orders.security(Code::Short);
        assert_eq!(more.computational_bits, 128 - 19);
        // Told bits and difference in each order, of 48 bits; commitments of a code of distance 40, and votes that are made up for, with the store.
        let sum = |orders: f64| {
            let bad: f64 = order.parameters().bounds().any().exp2();
            let of_order = bad + 2.0 * (-48f64).exp2();
            let of_store = 2.0 * (-40f64).exp2();
            (orders * of_order + of_store).log2()
        };
        for (security, orders) in [(once, 1.0), (more, 4.0)] {
            let stated = security.cheating_log2.unwrap_or_default();
            assert!((stated - sum(orders)).abs() < 1e-9, "{orders}: {stated}");
        }
        let published = orders.security(Code::Bch312).cheating_log2.unwrap_or_default();
        assert!(published < more.cheating_log2.unwrap_or_default(), "its code has distance 41");
        assert_eq!(orders.unfinished, UNFINISHED_MAX);
    }

    #[test]
    fn orders_that_the_user_allowed_still_count_as_tries() {
        let mut store = Store::in_memory(&mut Prg::new(Block::ONES)).expect("made");
        let amounts = Amounts { gates: 6_400, inputs: 256, input_pairs: 64, outputs: 128 };
        let order = Order::new(amounts, Config::default()).expect("it is small");
        let mut expected = Vec::new();
        for _ in 0..3 {
            let mut orders = Orders::of(&store).expect("of this version");
            (0..UNFINISHED_MAX).for_each(|_| orders.begin(&order));
            expected.push(orders.escaping());
            let (name, state) = orders.state();
            store.set_state(name, state).expect("kept");
            assert_eq!(unfinished(&store), UNFINISHED_MAX);
            allow_unfinished(&mut store).expect("allowed");
            assert_eq!(unfinished(&store), 0);
        }
        let tried =
            [1, 2, 3].map(|times| escaping(order.parameters().check_gates, STATISTICAL, times * UNFINISHED_MAX));
        assert_eq!(expected, tried);
        assert!(tried[0] < tried[1] && tried[1] < tried[2]);
    }
}
