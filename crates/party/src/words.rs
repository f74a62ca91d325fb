//! The remedies in a page's own words.

use garblet::{Advice, Class, Explain};

/// A page's own words for a remedy, if it has some.
pub(crate) fn own_words(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::TrustPeer { .. } => {
            "if the peer itself confirms this fingerprint over another channel, give it in `trust`".into()
        }
        Advice::BeTrusted { .. } => {
            "read it to the peer over another channel, so that the peer trusts it: garblet trust add NAME FINGERPRINT"
                .into()
        }
        Advice::SilentPeer | Advice::SlowPeer => {
            "the peer may be stopped, overloaded, or cut off; if it only stalls now and then, raise `timeoutMs`".into()
        }
        Advice::PeersMessages => {
            "look at the peer's own messages; it also closes the connection if it does not trust us".into()
        }
        Advice::SameTls => {
            "a page always uses TLS: the peer must use an identity too, without --insecure-plain-tcp".into()
        }
        Advice::AddToLibrary => "a page has only the standard library".into(),
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
        | Class::Other => "start again, both parties together; if it happens again, please report it",
    };
    let words = |advice: Advice| own_words(&advice).unwrap_or_else(|| advice.to_string());
    error.advice().map_or_else(|| plain().into(), words)
}
