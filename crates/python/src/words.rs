//! The exceptions and remedies as Python has them.

use garblet::{Advice, Class as Cause, Error, Explain, net::NetError};

/// The exceptions of `garblet.errors`, by their names there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nobody's in particular.
    GarbletError,
    UsageError,
    CompileError,
    InputError,
    Panicked,
    PeerError,
    CheatingError,
    NotPreparedError,
    StoreError,
    ReceiptError,
}

impl Class {
    /// The exception of an error that has none of its own.
    pub(crate) fn of(error: &impl Explain) -> Self {
        Class::of_cause(error.class())
    }

    /// The exception of a cause.
    pub(crate) fn of_cause(cause: Cause) -> Self {
        match cause {
            Cause::Misbehaviour | Cause::Network | Cause::Disagreement | Cause::Identity => Class::PeerError,
            Cause::Call => Class::UsageError,
            Cause::Store => Class::StoreError,
            Cause::Panic => Class::Panicked,
            Cause::Other => Class::GarbletError,
        }
    }

    /// The cause of an error that is one of this package.
    pub(crate) fn cause(self) -> Cause {
        match self {
            Class::UsageError | Class::CompileError | Class::InputError => Cause::Call,
            Class::Panicked => Cause::Panic,
            Class::PeerError => Cause::Network,
            Class::CheatingError => Cause::Misbehaviour,
            Class::NotPreparedError | Class::StoreError => Cause::Store,
            Class::GarbletError | Class::ReceiptError => Cause::Other,
        }
    }

    /// The exception of a run.
    pub(crate) fn of_run(error: &Error) -> Self {
        if let Some(error) = error.net() {
            return Class::of_connection(error);
        }
        match error {
            Error::Peer { source, .. } => Class::of_run(source),
            Error::Library(_) => Class::CompileError,
            Error::NotPrepared(_) => Class::NotPreparedError,
            Error::Input { .. } => Class::InputError,
            Error::Over => Class::UsageError,
            Error::NotGivenUp { .. } | Error::NoMajority(_) | Error::Rejected(_) | Error::Refused(_) => {
                Class::CheatingError
            }
            _ if error.is_evidence() => Class::CheatingError,
            _ => Class::of(error),
        }
    }

    /// The exception of a connection: what this machine refuses is no peer's fault.
    pub(crate) fn of_connection(error: &NetError) -> Self {
        match error {
            NetError::Io { .. } => Class::GarbletError,
            _ if error.is_wrong_call() => Class::UsageError,
            _ => Class::of(error),
        }
    }
}

/// The words of this package for a remedy, where it has its own.
pub(crate) fn own_words(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::OtherPort => "choose another port, or port 0 for any that is free: Session.address says which".into(),
        Advice::ReachPeer | Advice::AwaitPeer => {
            "start the peer, check the address and that no firewall is between; patience= says how long to wait".into()
        }
        Advice::AwaitPeerOrRefused => {
            "if the peer is among those refused, the message says why; otherwise start it with this address; patience= says how long to wait".into()
        }
        Advice::UseIdentity => {
            "read it with Identity.load(path), or move it away first: peers know it by its fingerprint".into()
        }
        Advice::ChoosePeer => "a store is for one peer: give trust= that peer alone".into(),
        Advice::TrustPeer { fingerprint } => format!(
            "if the peer reads this same fingerprint to you over another channel, give it in trust=: {fingerprint}"
        ),
        Advice::BeTrusted { .. } => "read it to the peer over another channel; the peer then gives it in trust=".into(),
        Advice::SameSession => "give all parties of a session the same session=".into(),
        Advice::NameSession => "give session=, the same for all parties and new each time".into(),
        Advice::SameGates => {
            "load the circuit file with as_it_is=True on both sides, or on neither; the command has --as-it-is".into()
        }
        Advice::SameTls => "let both sides use identities, or neither: insecure_plain_tcp= is for both".into(),
        Advice::UseIdentities => "leave it out, and give identity= and trust=".into(),
        Advice::TrustSomebody => "give trust={\"name\": \"fingerprint\"}".into(),
        Advice::AwaitOne => "with session= whoever of them comes for that session is the peer".into(),
        Advice::SilentPeer | Advice::SlowPeer => {
            "the peer may be stopped, overloaded, or cut off; where it only stalls now and then, raise timeout=".into()
        }
        Advice::FillStores => {
            "fill the stores together with Session.fill, or let a run make what they lack with top_up=True".into()
        }
        Advice::MakeStore { .. } => "make one with Store(folder, create=True)".into(),
        Advice::FindKey | Advice::RightKey => "give key=, the key file that the store was made with".into(),
        Advice::MakeIdentity => "make one with Identity.generate(path)".into(),
        Advice::NameIdentity => "name the file that Identity.generate wrote".into(),
        _ => return None,
    })
}
