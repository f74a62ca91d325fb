//! The remedies in a page's own words.

use garblet::Advice;

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
        Advice::SameJob => {
            "run under the same job, the page with `job` and the peer with --job: `checkJob` and `garblet job show` list everything that a job's digest covers".into()
        }
        Advice::AddToLibrary => "a page has only the standard library".into(),
        _ => return None,
    })
}
