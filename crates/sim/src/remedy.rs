//! The remedies that owners take when a meeting without trouble fails, as the hints of its errors say.

use garblet::{Advice, Explain};
use garblet_protocol::ProtocolError;

/// A remedy, the strongest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Remedy {
    /// Look at the other party's message.
    SeeOthers,
    /// Meet again: the message said all there was to say.
    Again,
    /// Keep a first value.
    KeepFirst,
    /// Keep a value anew, as the parties have values of different runs.
    KeepAnew,
    /// Fill the stores.
    Fill,
    /// Attribute the runs that did not end to failures.
    Allow,
    /// Let all parties create new stores.
    NewStores,
}

/// The remedy that an error names; `None` if it names none that an owner can follow.
pub(crate) fn of(error: &ProtocolError) -> Option<Remedy> {
    if let ProtocolError::Peer { source, .. } = error {
        return of(source);
    }
    match error {
        ProtocolError::Input { got, .. } if got.contains("none of that name") => return Some(Remedy::KeepFirst),
        ProtocolError::Input { got, .. } if got.contains("of different runs") => return Some(Remedy::KeepAnew),
        ProtocolError::Stored { got, .. } if got.contains("remove it to begin anew") => return Some(Remedy::NewStores),
        _ => {}
    }
    match error.advice()? {
        Advice::NewStores
        | Advice::NewStoresIfRestored
        | Advice::ForgetRecord { .. }
        | Advice::RemoveGivenUp
        | Advice::RemoveStore
        | Advice::StoresTogether
        | Advice::SettleCheck => Some(Remedy::NewStores),
        Advice::AllowRuns => Some(Remedy::Allow),
        Advice::FillStores => Some(Remedy::Fill),
        Advice::KeepEvidence | Advice::CompareReports => Some(Remedy::Again),
        Advice::PeersMessages | Advice::MessagesOf { .. } | Advice::MessagesOfAccuser => Some(Remedy::SeeOthers),
        _ => None,
    }
}
