//! The wording of the command: remedies that name a command or an option.

use garblet::Advice;

/// This command's own wording of a remedy, if it has one.
pub(crate) fn own_words(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::BeTrusted { fingerprint } => {
            format!(
                "read it to the peer over another channel; the peer then runs: garblet trust add NAME {fingerprint}, with --trust FILE if its run or service reads another file"
            )
        }
        Advice::SameSession => "give all parties of a session the same --session".into(),
        Advice::SameJob => {
            "run under the same job, both with --job FILE: `garblet job show` prints everything that a file's digest covers"
                .into()
        }
        Advice::SameGates => "give --as-it-is on both sides, or on neither".into(),
        Advice::SameAmounts => {
            "order the same amounts on all sides, with the same --low-water: by --stock or a library file, or in the rule of a service".into()
        }
        Advice::SameTls => "let both sides use TLS, or neither: --insecure-plain-tcp is for both".into(),
        Advice::SlowPeer => {
            "the link or the peer is too slow; if it only stalls now and then, raise --timeout"
                .into()
        }
        Advice::UseIdentities => "leave the option out and give --identity and --peer".into(),
        Advice::RightIdentity => "check --party and --identity, or correct the peers file".into(),
        Advice::PinParties => {
            "give every party its fingerprint; on one machine, --insecure-plain-tcp needs none".into()
        }
        Advice::TrustSomebody => {
            "give --peer FINGERPRINT, or name peers with `garblet trust add NAME FINGERPRINT`".into()
        }
        Advice::AwaitOne => "give --peer NAME".into(),
        Advice::ChoosePeer => "choose one with --peer".into(),
        Advice::LeaveSuspect => {
            "if it happens again, stop running with this peer; without --param form it cannot escape like this".into()
        }
        Advice::NameJob => {
            "give --job FILE, the same job as the peer's (compare `garblet job show`); the peer's operator decides who may run it"
                .into()
        }
        Advice::NameSession => "give --session NAME, the same for all parties and new each time".into(),
        Advice::MakeIdentity => "make one with `garblet keygen`".into(),
        Advice::NameIdentity => {
            "name the file that `garblet keygen` wrote; if it is lost, create another and tell your peers".into()
        }
        Advice::PrintFingerprint => "`garblet id` prints a party's fingerprint".into(),
        Advice::OwnIdentities => "each party needs its own identity: create one with `garblet keygen`".into(),
        _ => return words_on_stores(advice),
    })
}

/// The same for remedies that concern stores.
fn words_on_stores(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::FillStores => {
            "prepare more with `garblet prepare` and --stock, or during the run with --top-up; a service counts such a run"
                .into()
        }
        Advice::MakeStore { folder } => format!("make one with `garblet store init {folder}`"),
        Advice::VerifyStore => {
            "`garblet store verify` lists the lost pieces; if the index itself is damaged, let both parties create new stores"
                .into()
        }
        Advice::ReplaceLink => {
            "if you made this link, put what it leads to in its place; if not, remove it if it is the store's lock, and then the store with `garblet store clear --all`"
                .into()
        }
        Advice::AllowUnfinished { folder } => format!(
            "a cheating peer does this; if it was the network or this machine, continue with `garblet store allow {folder}`"
        ),
        Advice::KeepState => {
            "create one by a run with `--keep`; `garblet store list` shows existing ones".into()
        }
        Advice::OtherState => {
            "keep another under a new name; `garblet store list` shows the states of a server".into()
        }
        Advice::AllowRuns => {
            "find out why they did not end; then, on each side, stop all users of the store and run `garblet store allow DIR`; or keep another value under a new name"
                .into()
        }
        _ => return None,
    })
}
