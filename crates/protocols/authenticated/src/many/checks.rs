//! Checks of the other parties. None depends on an input: masked values are uniform to parties that do not know all shares of the masks.
//!
//! Only what one link alone decides names a party: the check of OTs, and the opening of a commitment. All other checks are of sums over all parties.

use std::sync::{Mutex, PoisonError};

use garblet_circuit::Party;
use garblet_net::PartyError;
use garblet_ot::OtError;
use garblet_primitives::secrets;
use garblet_protocol::{
    checks::{Check, Unattributed},
    error::ProtocolError,
};

use subtle::Choice;

pub use garblet_protocol::coin_toss::COIN_TOSS_OPENING;

garblet_protocol::checks! {
    all and [COIN_TOSS_OPENING]:

    /// All parties heard the same.
    ECHO = "it told others something else than this party, or reports wrongly what it heard",
    /// A party's shares that prove the differences open their commitment.
    DIFFERENCES_OPENING = "it opened other proofs of its difference than it committed to",
    /// Every party has the same difference towards all.
    DIFFERENCES = "it has several differences, or proves them wrongly",
    /// The bits that correct the products of leaky triples open their commitment.
    PRODUCT_BITS = "it sent other product bits than it committed to",
    /// A party's part of the test opens its commitment.
    ZERO_OPENING = "it opened another part of the test of leaky triples than it committed to",
    /// All leaky triples are products.
    ZERO = "its leaky triples fail the blind test for products",
    /// The bits opened to join leaky triples are the authenticated ones.
    BUCKET_BITS = "it opened a bit of a bucket that it does not have",
    /// The bits opened to join triples to the function are the authenticated ones.
    GATE_BITS = "it opened a bit of a gate that it does not have",
    /// The opened masks of inputs are the authenticated ones.
    INPUT_MASKS = "it opened a mask of an input that it does not have",
    /// The label of an input bit encodes the masked bit.
    INPUT_LABELS = "a label of an input stands for another bit than the masked one",
    /// The gates were garbled correctly.
    TAGS = "its gates or labels do not fit their tags",
    /// The masked values that the evaluator sends match its labels.
    REVEALED_LABELS = "its labels do not have the masked values that were sent",
    /// The gates were garbled correctly, according to all their masked values.
    REVEALED_GATES = "its gates do not compute correctly on the masked values",
    /// The opened masks of outputs are the authenticated ones.
    OUTPUT_MASKS = "it opened a mask of an output that it does not have",
    /// The evaluator has the labels of the outputs that it hands over.
    OUTPUT_LABELS = "the labels of an output do not have the value that was handed over",
}

/// Proof that all gates are right, by tags or by their masked values. The evaluator hands over no output, and no share of the mask of one, without it.
pub(super) struct Verified(());

impl Verified {
    /// The proof, if everything fits.
    ///
    /// *Errors*: `check`, of nobody in particular.
    pub(super) fn of(fits: Choice, check: Check, detail: &str) -> Result<Self, ProtocolError> {
        match secrets::verdict(fits, "authenticated-bmr: whether all gates are right") {
            true => Ok(Verified(())),
            false => Err(somebody_cheats(check, detail)),
        }
    }
}

/// The error of a check that does not tell which party cheats.
pub(super) fn somebody_cheats(check: Check, detail: &str) -> ProtocolError {
    Unattributed::new(check, detail).into()
}

/// The check of a peer that failed while the steps with all peers ran. Of several errors a mesh reports one: a cheat would hide a wrong guess behind another's
/// malformed message, and could guess again.
#[derive(Default)]
pub(super) struct FailedCheck(Mutex<Option<ProtocolError>>);

impl FailedCheck {
    /// Passes on the result of a step with a peer, and keeps a failed check.
    pub(super) fn kept<T>(&self, peer: u16, result: Result<T, OtError>) -> Result<T, ProtocolError> {
        result.map_err(|error| {
            let error = ProtocolError::from(error);
            if !error.is_evidence() {
                return error;
            }
            let error = ProtocolError::Peer { party: Party(peer), source: Box::new(error) };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            ProtocolError::Over
        })
    }

    /// The result of all steps.
    ///
    /// *Errors*: the failed check, if there is one.
    pub(super) fn judged<T>(self, result: Result<T, PartyError<ProtocolError>>) -> Result<T, ProtocolError> {
        match self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(failed) => Err(failed),
            None => Ok(result?),
        }
    }
}
