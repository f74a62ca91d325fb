//! The first message of set-up.

use std::fmt;

use garblet_net::Message;
use serde::{Deserialize, Serialize};

use super::consistency::StatisticalSecurity;
use super::width::Width;

/// The first message: the form of the extension, from the party with delta.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SetupHello {
    /// The width, plus 16 or 32 for checks with 40 or 80 bits.
    form: u8,
}

impl SetupHello {
    pub(super) fn new(width: Width, sigma: Option<StatisticalSecurity>) -> Self {
        SetupHello { form: width.bits() as u8 | sigma.map_or(0, |sigma| (sigma.bits() / 40) as u8) << 4 }
    }
}

impl fmt::Display for SetupHello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k = {}", self.form & 15)?;
        match self.form >> 4 {
            0 => f.write_str(" without checks"),
            sigma => write!(f, " with checks of {} bits", 40 * u32::from(sigma)),
        }
    }
}

impl Message for SetupHello {
    const NAME: &'static str = "OT extension set-up";
    const KIND: u8 = 0x40;
    const MAX_BYTES: usize = 1;

    fn check(&self) -> Result<(), String> {
        match self.form >> 4 {
            0..=2 => Width::try_from(self.form & 15).map(|_| ()),
            form => Err(format!("form of checks: expected 0, 1 or 2, got {form}")),
        }
    }
}
