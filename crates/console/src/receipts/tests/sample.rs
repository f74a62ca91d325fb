//! A receipt of a run that failed. The tests of `garblet receipts` use it, too.

use garblet::Class;

use super::{Ended, Receipt, Transcript};

/// A receipt, with other bytes for each number.
pub(super) fn receipt(bytes: u64) -> Receipt {
    Receipt {
        time: "2026-11-23T06:30:00Z".into(),
        party: 0,
        parties: 2,
        identity: None,
        session: None,
        peers: Vec::new(),
        job: None,
        program: "ab".into(),
        version: "0".into(),
        wire_version: 3,
        protocol: "yao".into(),
        adversary: "semi-honest".into(),
        parameters: serde_json::Map::new(),
        keep: None,
        read: Vec::new(),
        security: None,
        bytes_sent: bytes,
        bytes_received: 0,
        ended: Ended::Failed { class: Class::Network, message: "it says \",\"digest\":\"00\"}".into() },
        transcripts: vec![transcript(1, bytes, bytes + 1)],
        outputs: None,
    }
}

/// The conversation with a peer, with digests that are plain numbers.
pub(super) fn transcript(party: u16, sent: u64, received: u64) -> Transcript {
    Transcript { party, sent: sent.to_string(), received: received.to_string() }
}
