//! Control messages: typed, bounded, checked.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A control message of a protocol.
///
/// A value that [`Channel::receive`](crate::Channel::receive) returns has been decoded from at most
/// [`MAX_BYTES`](Message::MAX_BYTES) bytes and has passed [`check`](Message::check), so the code behind it relies on
/// what `check` states.
///
/// ```
/// use garblet_net::Message;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Corrections {
///     bits: Vec<u8>,
/// }
///
/// impl Message for Corrections {
///     const NAME: &'static str = "input corrections";
///     const KIND: u8 = 7;
///     const MAX_BYTES: usize = 1 << 20;
///
///     fn check(&self) -> Result<(), String> {
///         match self.bits.iter().position(|&bit| bit > 1) {
///             Some(at) => Err(format!("bit {at} is {}, expected 0 or 1", self.bits[at])),
///             None => Ok(()),
///         }
///     }
/// }
/// ```
pub trait Message: Serialize + DeserializeOwned {
    /// The name of the message in errors, for instance `base OT points`.
    const NAME: &'static str;

    /// Its number on the wire. *Unique* among the messages of one protocol.
    const KIND: u8;

    /// The longest encoding. A peer that announces more is refused before anything is allocated.
    const MAX_BYTES: usize;

    /// Checks properties that the type does not ensure: lengths, ranges, relations between fields.
    ///
    /// *Errors:* what, expected, got, in lower case.
    fn check(&self) -> Result<(), String>;
}
