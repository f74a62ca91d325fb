//! The secret that opens the answers, as bytes: so that a page that is loaded again, or a program that died, can still open them.
//!
//! ```text
//! version of the encoding 1 | job 32 | client 2 | counter 8 | output bits 4 | sum of both pads ceil(m/8)
//! 0, or 1 | name of the state | version 8, with 2 in place of 1 if the run makes that version
//! a receipt, or nothing
//! ```

use garblet_circuit::Party;
use zeroize::Zeroizing;

use super::{After, Pending};
use crate::cursor::{Reader, Writer};
use crate::job::CLIENT_BITS_MAX;
use crate::malformed::Malformed;
use crate::place::{Place, Server};
use crate::receipt::Receipt;
use crate::shown::NAME_BYTES_MAX;

/// The version of the encoding.
const VERSION: u8 = 1;

impl Pending {
    /// The bytes. *Secret*: together with both answers they reveal the output.
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        let receipt = self.receipt.as_ref().map(Receipt::encode).unwrap_or_default();
        let name = self.state.as_ref().map_or(0, |after| 10 + after.name.len());
        let mut to = Writer::with_capacity(48 + self.pad.len().div_ceil(8) + name + receipt.len());
        to.u8(VERSION).bytes(&self.place.job).u16(self.place.client.0).u64(self.place.counter);
        to.u32(self.pad.len() as u32).bits(&self.pad);
        match &self.state {
            None => to.u8(0),
            Some(After { name, version, is_new }) => to.u8(1 + u8::from(*is_new)).text(name).u64(*version),
        };
        to.bytes(&receipt);
        to.finish()
    }

    /// Reads what [`Pending::encode`] wrote.
    ///
    /// *Errors*: anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new("saved submission", bytes);
        from.constant("version of the encoding", VERSION)?;
        let (job, client, counter) = (from.array("job")?, from.u16("client").map(Party)?, from.u64("counter")?);
        let bits = from.u32("output bits")?;
        if u64::from(bits) > CLIENT_BITS_MAX {
            return Err(from.fault("output bits", 4, format!("at most {CLIENT_BITS_MAX}"), bits.to_string()));
        }
        let pad = from.bits("sum of both pads", bits as usize)?;
        let state = match from.u8("state")? {
            0 => None,
            kind @ 1..=2 => Some(After {
                name: from.text("name of the state", NAME_BYTES_MAX)?,
                version: from.u64("version of the state")?,
                is_new: kind == 2,
            }),
            other => return Err(from.fault("state", 1, "0, 1 or 2", other.to_string())),
        };
        let receipt = match from.rest() {
            [] => None,
            receipt => Some(Receipt::decode(receipt)?),
        };
        Ok(Pending { place: Place { job, server: Server::Generator, client, counter }, pad, state, receipt })
    }
}
