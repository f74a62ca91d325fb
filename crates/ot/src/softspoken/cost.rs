//! Payload bytes as formulas.

use super::consistency::StatisticalSecurity;
use super::malicious::with_hiding;
use super::tags;
use super::width::{SQUARE, Width};
use crate::base;

impl Width {
    /// Payload bytes that the party with delta sends in set-up.
    pub const fn sender_setup_bytes(self) -> u64 {
        1 + base::RECEIVER_BYTES
    }

    /// Payload bytes that the party with the choices sends in set-up: its part of the base OTs, and two blocks for every
    /// level of every tree except the first level.
    pub const fn receiver_setup_bytes(self) -> u64 {
        base::SENDER_BYTES + self.corrections() as u64 * 16
    }

    /// Payload bytes that the receiver sends for an extension by `n`; the sender sends none.
    pub const fn extension_bytes(self, n: u64) -> u64 {
        n.div_ceil(SQUARE as u64) * 16 * (self.trees() as u64 - 1)
    }

    /// Payload bytes that the receiver sends for the corrections of so many squares of 128 OTs with given choices.
    pub const fn given_extension_bytes(self, squares: u64) -> u64 {
        squares * 16 * self.trees() as u64
    }

    /// Payload bytes that the receiver sends in set-up with checks, in addition to [`Width::receiver_setup_bytes`].
    pub const fn malicious_setup_bytes(self) -> u64 {
        tags::bytes(self) as u64
    }

    /// Payload bytes of a checked extension by `n`: the sender's, and the receiver's.
    pub const fn malicious_extension_bytes(self, n: u64, sigma: StatisticalSecurity) -> [u64; 2] {
        match n {
            0 => [0, 0],
            _ => {
                let corrections = self.extension_bytes(with_hiding(n as usize) as u64);
                [16, corrections + sigma.digest_bytes() as u64]
            }
        }
    }
}
