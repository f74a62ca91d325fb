//! The remedies that name a command or an option of this program, in its words.

use garblet::Advice;

/// The words of this command for a remedy, where it has its own.
pub(crate) fn own_words(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::TrustPeer { fingerprint } => format!(
            "if the peer itself, asked by another way, reads this fingerprint to you: garblet trust add NAME {fingerprint}"
        ),
        Advice::BeTrusted { fingerprint } => {
            format!("read it to the peer by another way, who then runs: garblet trust add NAME {fingerprint}")
        }
        Advice::SameSession => "give all parties of a session the same --session".into(),
        Advice::SameJob => {
            "run under the same job, both with --job FILE: `garblet job show` prints what the digest of a file covers"
                .into()
        }
        Advice::SameTls => "let both sides use TLS, or neither: --insecure-plain-tcp is for both".into(),
        Advice::SlowPeer => {
            "the link to the peer is too slow, or the peer is; where it only stalls now and then, raise --timeout"
                .into()
        }
        Advice::UseIdentities => "leave the option out and give --identity and --peer".into(),
        Advice::RightIdentity => "check --party and --identity, or correct the peers file".into(),
        Advice::PinParties => {
            "give every party its fingerprint; on one machine, --insecure-plain-tcp does without".into()
        }
        Advice::TrustSomebody => {
            "give --peer FINGERPRINT, or name peers with `garblet trust add NAME FINGERPRINT`".into()
        }
        Advice::AwaitOne => "give --peer NAME".into(),
        Advice::ChoosePeer => "say which: give --peer".into(),
        Advice::LeaveSuspect => {
            "if it happens again, do not run with this peer; without --param form it has no such way out".into()
        }
        Advice::NameJob => {
            "give --job FILE, the job that both sides have (compare `garblet job show`); its operator decides who may run it"
                .into()
        }
        Advice::NameSession => "give --session NAME, the same for all parties and new each time".into(),
        Advice::FillStores => {
            "`garblet prepare` makes more for the store, --stock says how much of what; --top-up makes it during the run; a service counts such a run"
                .into()
        }
        Advice::MakeStore { folder } => format!("make one with `garblet store init {folder}`"),
        Advice::VerifyStore => {
            "`garblet store verify` names the pieces that are lost; if the index itself is damaged, let both parties begin with new stores"
                .into()
        }
        Advice::AllowUnfinished { folder } => format!(
            "a peer that cheats does so; if it was the network or this machine, `garblet store allow {folder}` goes on"
        ),
        Advice::KeepState => {
            "a run with `--keep` makes one; `garblet store list` shows those that there are".into()
        }
        Advice::OtherState => {
            "keep another under a new name; `garblet store list` shows what either server has".into()
        }
        Advice::AllowRuns => {
            "find out why they did not end; then each side stops what uses its store and runs `garblet store allow DIR`; or keep another value under a new name"
                .into()
        }
        Advice::MakeIdentity => "make one with `garblet keygen`".into(),
        Advice::NameIdentity => {
            "name the file that `garblet keygen` wrote; if it is lost, make another and tell peers".into()
        }
        Advice::PrintFingerprint => "`garblet id` prints a party's fingerprint".into(),
        Advice::OwnIdentities => "each party has an identity of its own: `garblet keygen` makes one".into(),
        _ => return None,
    })
}
