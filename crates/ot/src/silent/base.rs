//! The OTs that silent OT begins with.

use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::error::OtError;
use crate::softspoken::{CotReceiver, CotSender, MaliciousCotReceiver, MaliciousCotSender, StatisticalSecurity};

/// The least security of the check of the first OTs, on which all later OTs rest.
const LEAST: StatisticalSecurity = StatisticalSecurity::Eighty;

/// Refuses first OTs with a check of fewer bits.
///
/// *Errors*: [`OtError::WeakBase`].
fn check_strength(security: StatisticalSecurity) -> Result<(), OtError> {
    let [expected, got] = [LEAST, security].map(StatisticalSecurity::bits);
    if got < expected { Err(OtError::WeakBase { expected, got }) } else { Ok(()) }
}

/// The sender's first OTs. Silent OT that begins with checked ones is checked itself, and no other is.
pub trait BaseSender: CorrelatedSender + sealed::Sealed {
    /// Tells whether these OTs are secure against a malicious receiver.
    const CHECKED: bool;

    /// Refuses checked OTs whose check has fewer than 80 bits.
    ///
    /// *Errors*: [`OtError::WeakBase`].
    fn check_strength(&self) -> Result<(), OtError>;
}

/// The receiver's first OTs. Silent OT that begins with checked ones is checked itself, and no other is.
pub trait BaseReceiver: CorrelatedReceiver + sealed::Sealed {
    /// Tells whether these OTs are secure against a malicious sender.
    const CHECKED: bool;

    /// Refuses checked OTs whose check has fewer than 80 bits.
    ///
    /// *Errors*: [`OtError::WeakBase`].
    fn check_strength(&self) -> Result<(), OtError>;
}

impl BaseSender for CotSender {
    const CHECKED: bool = false;

    fn check_strength(&self) -> Result<(), OtError> {
        Ok(())
    }
}

impl BaseReceiver for CotReceiver {
    const CHECKED: bool = false;

    fn check_strength(&self) -> Result<(), OtError> {
        Ok(())
    }
}

impl BaseSender for MaliciousCotSender {
    const CHECKED: bool = true;

    fn check_strength(&self) -> Result<(), OtError> {
        check_strength(self.security())
    }
}

impl BaseReceiver for MaliciousCotReceiver {
    const CHECKED: bool = true;

    fn check_strength(&self) -> Result<(), OtError> {
        check_strength(self.security())
    }
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
