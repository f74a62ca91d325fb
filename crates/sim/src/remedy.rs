//! The remedies that owners take when a meeting without trouble fails, as the hints of its errors say.

use garblet::{Advice, Explain};
use garblet_protocol::ProtocolError;

use crate::model::Finding;

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

/// The remedy of a meeting that failed without trouble: the strongest of its errors.
///
/// *Errors*: an error without a remedy; errors that only name one another.
pub(crate) fn of_all(errors: &[&ProtocolError]) -> Result<Remedy, Finding> {
    let lost = |error: &ProtocolError| {
        Finding::new("hint", format!("a meeting without trouble fails, and no hint says what to do: {error}"))
    };
    let remedies = errors.iter().map(|error| of(error).ok_or_else(|| lost(error)));
    let strongest = remedies.collect::<Result<Vec<_>, _>>()?.into_iter().max().unwrap_or(Remedy::SeeOthers);
    match errors.first() {
        Some(error) if strongest == Remedy::SeeOthers => Err(lost(error)),
        _ => Ok(strongest),
    }
}

/// The remedy that an error names; `None` if it names none that an owner can follow.
fn of(error: &ProtocolError) -> Option<Remedy> {
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

#[cfg(test)]
mod tests {
    use garblet_circuit::Party;
    use garblet_protocol::error::StateProblem;

    use super::*;

    fn failures() -> ProtocolError {
        ProtocolError::State { name: "balance".into(), problem: StateProblem::Failures { most: 1 } }
    }

    #[test]
    fn one_partys_hint_is_none_for_the_error_of_another() {
        assert_eq!(of_all(&[&failures(), &failures()]), Ok(Remedy::Allow));
        let lost = ProtocolError::Peer { party: Party(1), source: Box::new(ProtocolError::Over) };
        for errors in [[&failures(), &lost], [&lost, &failures()]] {
            let finding = of_all(&errors).expect_err("nobody can follow the second hint");
            assert!(finding.check == "hint" && finding.text.contains(&lost.to_string()), "{finding:?}");
        }
    }

    #[test]
    fn errors_that_only_name_one_another_are_a_finding() {
        let closed = || ProtocolError::from(garblet_net::NetError::PeerClosed { doing: "for bits".into() });
        assert_eq!(of_all(&[&closed(), &failures()]), Ok(Remedy::Allow));
        let finding = of_all(&[&closed(), &closed()]).expect_err("it says nothing");
        assert!(finding.check == "hint" && finding.text.contains(&closed().to_string()), "{finding:?}");
    }
}
