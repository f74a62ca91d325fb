//! All orders that a store has ever had: the chance that something bad is among it, and how often the peer left before an order was done.
//!
//! A constructor that hears what is checked can see what becomes of a bad gate. If it left then, and that counted for nothing, it could try until
//! it is lucky. So before the evaluator tells it, it is durable that the order is begun: its bound counts from then on, whatever becomes of it.
//! An order that was not done is unfinished, whoever is to blame: a peer that is gone cannot be told from a network that failed, or from an
//! evaluator that was killed. So it is with the setup of new secrets, which the constructor can ask for at every meeting. Who has left three of either
//! since the evaluator's user last allowed it gets no fourth.

use garblet_store::{State, Store};
use serde::{Deserialize, Serialize};

use crate::{
    generate::gates::GARBLING,
    order::{Order, STATISTICAL},
    parameters::escaping,
};
use garblet_protocol::{
    Security,
    error::{ProtocolError, Unfinished},
};

/// So many orders and setups may be unfinished before no more is made.
pub(crate) const UNFINISHED_MAX: u32 = 3;

/// The name of the state in a store, and its version.
const STATE: &str = "lego orders";
const VERSION: u32 = 2;

/// The orders since the store was made, also with secrets that were given up.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Orders {
    /// The chance that something bad is among all that was ordered.
    cheating: f64,
    /// Wire authenticators that were made.
    authenticators: u64,
    /// The least probability of a check of gates; none without orders.
    check_gates: Option<f64>,
    /// Orders and setups that were begun and not done, since the user last allowed them.
    unfinished: u32,
    /// Those that the user has allowed.
    allowed: u32,
}

impl Orders {
    /// Those of a store.
    ///
    /// *Errors*: a state of another version.
    pub(crate) fn of(store: &Store) -> Result<Self, ProtocolError> {
        let Some(state) = store.state(STATE) else { return Ok(Orders::default()) };
        let read = (state.version == VERSION).then(|| postcard::from_bytes(&state.bytes).ok()).flatten();
        read.ok_or_else(|| ProtocolError::Material {
            what: "orders of the store",
            expected: format!("version {VERSION}"),
            got: format!("version {}", state.version),
        })
    }

    /// The orders as a store keeps them, and their name there.
    pub(crate) fn state(&self) -> (&'static str, State) {
        (STATE, State::encoded(VERSION, self))
    }

    /// Counts an order.
    pub(crate) fn count(&mut self, order: &Order) {
        self.cheating += order.parameters().bounds().any().exp2();
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

    /// The last order or setup that was begun is done.
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

    /// The number of bad gates that may be among all that was prepared, of a constructor that hangs up whenever one would be found: as often as it
    /// did before the user last allowed it, and as often as it can since. If one is found, there is nothing left that was prepared.
    pub(crate) fn escaping(&self) -> u64 {
        let hang_ups = self.allowed.saturating_add(UNFINISHED_MAX);
        self.check_gates.map_or(0, |check| escaping(check, STATISTICAL, hang_ups))
    }

    /// The security of runs. The hash of gates changes its key, that of authenticators does not; it hashes two keys for each.
    pub(crate) fn security(&self) -> Security {
        let calls = self.authenticators.max(1).saturating_mul(2);
        let of_authenticators = 128 - calls.next_power_of_two().ilog2();
        Security {
            computational_bits: GARBLING.security_bits(u64::MAX).min(of_authenticators),
            statistical_bits: Some(f64::from(STATISTICAL)),
            cheating_log2: Some(self.cheating.log2()),
            ..Security::default()
        }
    }
}

/// The number of orders for a store, and setups, that were begun and not done, since its user last allowed them.
pub fn unfinished(store: &Store) -> u32 {
    Orders::of(store).map_or(0, |orders| orders.unfinished)
}

/// Allows what [`Unfinished`] refuses: the user takes what was left unfinished for failures of the network or of this machine. Their bounds
/// stay counted, and so does what a constructor can have tried. Returns how many there were.
///
/// *Errors*: the store's.
pub fn allow_unfinished(store: &mut Store) -> Result<u32, ProtocolError> {
    let mut orders = Orders::of(store)?;
    let unfinished = std::mem::take(&mut orders.unfinished);
    orders.allowed = orders.allowed.saturating_add(unfinished);
    if unfinished > 0 {
        let (name, state) = orders.state();
        store.set_state(name, state)?;
    }
    Ok(unfinished)
}

#[cfg(test)]
mod tests {
    use garblet_primitives::{Block, Prg};

    use super::*;
    use crate::{Amounts, Config};

    #[test]
    fn all_that_was_ordered_counts_against_what_is_promised() {
        let mut orders = Orders::default();
        assert_eq!(orders.security().computational_bits, 116, "gates have as many hashes under one key as that");
        let amounts = Amounts { gates: 6_400, inputs: 256, input_pairs: 64, outputs: 128 };
        let order = Order::new(amounts, Config::default()).expect("it is small");
        orders.begin(&order);
        orders.done();
        let made = order.authenticators_made();
        assert!((1 << 15..1 << 16).contains(&made), "{made}");
        let once = orders.security();
        assert_eq!(once.computational_bits, 128 - 17);
        (0..3).for_each(|_| orders.begin(&order));
        let more = orders.security();
        assert_eq!(more.computational_bits, 128 - 19);
        assert!((more.cheating_log2.unwrap_or_default() - once.cheating_log2.unwrap_or_default() - 2.0).abs() < 1e-9);
        assert_eq!(orders.unfinished, UNFINISHED_MAX);
    }

    #[test]
    fn what_the_user_has_allowed_still_counts_as_tries() {
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
            assert_eq!(allow_unfinished(&mut store).expect("allowed"), UNFINISHED_MAX);
            assert_eq!(unfinished(&store), 0);
        }
        let tried =
            [1, 2, 3].map(|times| escaping(order.parameters().check_gates, STATISTICAL, times * UNFINISHED_MAX));
        assert_eq!(expected, tried);
        assert!(tried[0] < tried[1] && tried[1] < tried[2]);
    }
}
