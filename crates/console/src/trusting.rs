//! The source from which this process has whom it trusts: hints on a peer that is unknown name that, and no file that nobody reads.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use garblet::Advice;

use crate::args::shell_line;

/// The source of a decision on trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// The file of trusted peers.
    File,
    /// That file, which a service reads again when it is told to.
    ServiceFile,
    /// A fingerprint in the call.
    Call,
    /// The job, which has the identities of its parties.
    Job,
}

struct Trust {
    /// The file of trusted peers, if it is not the one in the configuration folder.
    file: Option<PathBuf>,
    by: Decides,
}

static TRUST: Mutex<Trust> = Mutex::new(Trust { file: None, by: Decides::File });

fn trust() -> MutexGuard<'static, Trust> {
    TRUST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on hints name this file of trusted peers, or the one in the configuration folder.
pub fn read_file(named: Option<&Path>) {
    trust().file = named.map(Path::to_path_buf);
}

/// From now on hints say that this decides.
pub fn decided_by(by: Decides) {
    trust().by = by;
}

/// `garblet trust add NAME FINGERPRINT`, for instance, with the file that is read.
pub(crate) fn command(what: &str) -> String {
    with_file(what, trust().file.as_deref())
}

/// The same for this file, or for the one in the configuration folder.
pub(crate) fn with_file(what: &str, named: Option<&Path>) -> String {
    let file = named.map(|file| ("--trust", file.display().to_string()));
    shell_line(format!("garblet trust {what}"), file.into_iter())
}

/// The words for a remedy that says whom to trust.
pub(crate) fn words(advice: &Advice) -> Option<String> {
    words_of(&trust(), advice)
}

fn words_of(trust: &Trust, advice: &Advice) -> Option<String> {
    let Advice::TrustPeer { fingerprint } = advice else { return None };
    let add = with_file(&format!("add NAME {fingerprint}"), trust.file.as_deref());
    let then = match trust.by {
        Decides::File => add,
        Decides::ServiceFile => format!("{add}, and then send the service SIGHUP"),
        Decides::Call => format!("--peer {fingerprint}"),
        Decides::Job => format!("the job decides, so let all parties sign one that has {fingerprint}"),
    };
    Some(format!("if the peer reads this same fingerprint to you over another channel: {then}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_on_an_unknown_peer_names_what_decides() {
        let advice = Advice::TrustPeer { fingerprint: "abc".into() };
        let words =
            |file: Option<&str>, by| words_of(&Trust { file: file.map(Into::into), by }, &advice).expect("words");
        for (file, by, then) in [
            (None, Decides::File, "garblet trust add NAME abc"),
            (Some("my trust.toml"), Decides::File, "garblet trust add NAME abc --trust 'my trust.toml'"),
            (
                Some("shop/trust.toml"),
                Decides::ServiceFile,
                "garblet trust add NAME abc --trust shop/trust.toml, and then send the service SIGHUP",
            ),
            (Some("t"), Decides::Call, "--peer abc"),
            (Some("t"), Decides::Job, "the job decides, so let all parties sign one that has abc"),
        ] {
            let before = "if the peer reads this same fingerprint to you over another channel: ";
            assert_eq!(words(file, by), format!("{before}{then}"));
        }
        assert_eq!(words_of(&trust(), &Advice::SameJob), None);
    }
}
