//! A page's own words: for the settings that messages name, and for remedies.

use garblet::{Advice, Class};
use garblet_console::{
    failure::Failure,
    surface::{Setting, Surface},
};

/// The front end as messages speak of it.
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
        Setting::Resume => "resume",
    }
}

/// A page's own words for a remedy, if it has some.
fn own_words(advice: &Advice) -> Option<String> {
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
        Advice::SameJob => {
            "run under the same job, the page with `job` and the peer with --job: `checkJob` and `garblet job show` list everything that a job's digest covers".into()
        }
        Advice::AddToLibrary => "a page has only the standard library".into(),
        _ => return None,
    })
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
