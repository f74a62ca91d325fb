//! The front end of pages, as messages speak of it.

use garblet::Class;
use garblet_console::{
    failure::Failure,
    surface::{Setting, Surface},
};

use crate::words::own_words;

/// A page.
pub(crate) const SURFACE: Surface = Surface { spell: member, remedy: own_words };

/// The member of the options for a setting. A page has not all of them.
fn member(setting: Setting) -> &'static str {
    match setting {
        Setting::Batch => "rows",
        Setting::Clients => "clients",
        Setting::Forget => "forget",
        Setting::Identity => "identity",
        Setting::Param => "params",
        Setting::Party => "party",
        Setting::Peers => "peers",
        Setting::PlainTcp => "plain TCP",
        Setting::Protocol => "protocol",
        Setting::ReceiptOutputs => "outputs in receipts",
        Setting::Receipts => "receipts",
        Setting::Resume => "resumeVisit",
    }
}

/// The hint of a failure. Every error in JavaScript has one.
pub(crate) fn hint(failure: &Failure) -> &str {
    let plain = match failure.class {
        Class::Call => "give what is expected",
        Class::Network
        | Class::Disagreement
        | Class::Identity
        | Class::Misbehaviour
        | Class::Store
        | Class::Panic
        | Class::Other => "start again, both parties together; if it happens again, please report it",
    };
    failure.hint.as_deref().unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_a_hint() {
        let failure = Failure::call("wrong");
        assert_eq!(hint(&failure), "give what is expected");
        assert_eq!(hint(&failure.of_class(Class::Network).hint("wait")), "wait");
        assert!(hint(&Failure::call("wrong").of_class(Class::Misbehaviour)).starts_with("start again"));
    }
}
