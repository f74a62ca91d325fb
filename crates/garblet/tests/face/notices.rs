//! Notices of stores, as a store's owner reads and settles them.
#![cfg(feature = "outsourced")]

use garblet::{Notice, SavedNames, notices, settle, store::Store};

/// The names under which a store keeps values.
pub(crate) fn kept(store: &Store) -> Vec<SavedNames> {
    let names = |notice| if let Notice::Kept(names) = notice { Some(names) } else { None };
    notices(store).into_iter().filter_map(names).collect()
}

/// Attributes all runs and orders that have not ended to failures, and returns their number.
pub(crate) fn allow(store: &mut Store) -> u32 {
    let mut allowed = 0;
    for notice in notices(store) {
        let (Notice::UnendedRuns(count) | Notice::UnfinishedOrders(count)) = notice else { continue };
        settle(store, &notice).expect("it is written");
        allowed += count;
    }
    allowed
}
