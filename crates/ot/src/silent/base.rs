//! The OTs that silent OT begins with.

use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::softspoken::{CotReceiver, CotSender, MaliciousCotReceiver, MaliciousCotSender};

/// The sender's first OTs. Silent OT that begins with checked ones is checked itself, and no other is.
pub trait BaseSender: CorrelatedSender + sealed::Sealed {
    /// Tells whether these OTs are secure against a malicious receiver.
    const CHECKED: bool;
}

/// The receiver's first OTs. Silent OT that begins with checked ones is checked itself, and no other is.
pub trait BaseReceiver: CorrelatedReceiver + sealed::Sealed {
    /// Tells whether these OTs are secure against a malicious sender.
    const CHECKED: bool;
}

impl BaseSender for CotSender {
    const CHECKED: bool = false;
}

impl BaseReceiver for CotReceiver {
    const CHECKED: bool = false;
}

impl BaseSender for MaliciousCotSender {
    const CHECKED: bool = true;
}

impl BaseReceiver for MaliciousCotReceiver {
    const CHECKED: bool = true;
}

/// Keeps others from claiming that their OTs are checked.
mod sealed {
    use super::*;

    pub trait Sealed {}

    impl Sealed for CotSender {}
    impl Sealed for CotReceiver {}
    impl Sealed for MaliciousCotSender {}
    impl Sealed for MaliciousCotReceiver {}
}
