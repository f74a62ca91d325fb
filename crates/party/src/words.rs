//! The remedies in the words of a page.

use garblet::{Advice, Class, Explain};

/// The words of a page for a remedy, where it has its own.
pub(crate) fn own_words(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::TrustPeer { .. } => {
            "if the peer itself, asked by another way, reads this fingerprint to you, give it in `trust`".into()
        }
        Advice::BeTrusted { .. } => {
            "read it to the peer by another way, who then trusts it: garblet trust add NAME FINGERPRINT".into()
        }
        Advice::SilentPeer | Advice::SlowPeer => {
            "the peer may be stopped, overloaded, or cut off; where it only stalls now and then, raise `timeoutMs`"
                .into()
        }
        Advice::PeersMessages => {
            "look at the peer's own messages; one that does not trust us closes the connection too".into()
        }
        Advice::SameTls => {
            "a page always uses TLS: let the peer use an identity, too, without --insecure-plain-tcp".into()
        }
        Advice::AddToLibrary => "a page has the standard library alone".into(),
        _ => return None,
    })
}

/// The hint of an error. Every error in JavaScript has one.
pub(crate) fn hint(error: &impl Explain) -> String {
    let plain = || match error.class() {
        Class::Call => "give what is expected",
        Class::Network
        | Class::Disagreement
        | Class::Identity
        | Class::Misbehaviour
        | Class::Store
        | Class::Panic
        | Class::Other => "begin again, both parties together; if it happens again, please report it",
    };
    let words = |advice: Advice| own_words(&advice).unwrap_or_else(|| advice.to_string());
    error.advice().map_or_else(|| plain().into(), words)
}
