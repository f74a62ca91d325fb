//! The codes of errors. A page decides by them what it says to its user, since a file or a peer can have chosen the words.

use garblet::{Advice, Error, Explain, circuit::diagnostic::OtherFormat, net::NetError};
use garblet_console::{
    failure::Failure,
    hints::{explain, net_failure},
};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident => $text:literal;)*) => {
        /// The code of an error in JavaScript. `garblet.d.ts` has the same list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// The name, as JavaScript has it.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Code::$name => $text,)*
                }
            }

            /// All codes.
            #[cfg(test)]
            const ALL: &[Code] = &[$(Code::$name),*];
        }
    };
}

codes! {
    /// The text that was given is no agreement, or its programs are not there.
    Agreement => "agreement";
    /// A bug in Garblet.
    Bug => "bug";
    /// The identity that was given is none.
    Identity => "identity";
    /// The inputs that were given do not fit.
    Inputs => "inputs";
    /// The text that was given is no invitation.
    Invitation => "invitation";
    /// The text that was given is no job.
    Job => "job";
    /// The text that was given is not what a client kept.
    Memory => "memory";
    /// The peer has another job, or none.
    OtherJob => "other-job";
    /// The peer has another program, other settings or another version.
    OtherRun => "other-run";
    /// The content that was given is not the program of the job.
    Program => "program";
    /// The log that was given is none, or was changed.
    Receipts => "receipts";
    /// The text that was given is no file of signatures.
    Signatures => "signatures";
    /// The peer is silent, or too slow.
    Silent => "silent";
    /// The peer is not one of those that are trusted.
    Stranger => "stranger";
    /// The fingerprints that were given are none.
    Trust => "trust";
    /// The peer does not trust this party.
    Untrusted => "untrusted";
}

impl Code {
    /// The code of a remedy, if pages have words of their own for it.
    fn of(advice: &Advice) -> Option<Code> {
        Some(match advice {
            Advice::SameJob => Code::OtherJob,
            Advice::SameRun | Advice::SameWire => Code::OtherRun,
            Advice::SilentPeer | Advice::SlowPeer => Code::Silent,
            Advice::TrustPeer { .. } => Code::Stranger,
            Advice::BeTrusted { .. } => Code::Untrusted,
            _ => return None,
        })
    }
}

/// A failure, and its code if it has one.
#[derive(Clone, Debug)]
pub(crate) struct Coded {
    pub(crate) failure: Failure,
    pub(crate) code: Option<Code>,
}

impl Coded {
    /// The failure of what somebody has given. A text of a later format is not wrong, so it has no code.
    pub(crate) fn given(failure: Failure, code: Code) -> Self {
        let later = OtherFormat { got: i64::MAX, newest: 1 }.hint();
        let code = (failure.hint.as_deref() != Some(later)).then_some(code);
        Coded { failure, code }
    }
}

impl From<Failure> for Coded {
    fn from(failure: Failure) -> Self {
        Coded { failure, code: None }
    }
}

impl From<&Error> for Coded {
    fn from(error: &Error) -> Self {
        Coded { failure: explain(error), code: error.advice().as_ref().and_then(Code::of) }
    }
}

impl From<&NetError> for Coded {
    fn from(error: &NetError) -> Self {
        Coded { failure: net_failure(error), code: error.advice().as_ref().and_then(Code::of) }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, time::Duration};

    use super::*;

    #[test]
    fn an_error_has_a_code_whatever_its_words_are() {
        let after = Duration::from_secs(1);
        let silent = NetError::Timeout { doing: "for receipts: `timeoutMs`".into(), after };
        assert_eq!(Coded::from(&silent).code, Some(Code::Silent));
        assert_eq!(Coded::from(&Error::Net(silent)).code, Some(Code::Silent));
        let closed = NetError::CutOff;
        assert_eq!(Coded::from(&closed).code, None);
    }

    #[test]
    fn a_text_of_a_later_format_is_not_called_wrong() {
        let wrong = Failure::call("receipts:1: it was changed").hint("keep the file");
        assert_eq!(Coded::given(wrong, Code::Receipts).code, Some(Code::Receipts));
        let other = OtherFormat { got: 2, newest: 1 };
        let later = Failure::other_format(Path::new("a job.toml"), other);
        assert_eq!(Coded::given(later, Code::Job).code, None);
    }

    #[test]
    fn the_types_list_every_code() {
        let types = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/party/garblet.d.ts");
        let types = fs::read_to_string(types).expect("it is there");
        for code in Code::ALL {
            assert!(types.contains(&format!("| \"{}\"", code.name())), "{}", code.name());
        }
    }
}
