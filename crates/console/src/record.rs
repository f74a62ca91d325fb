//! The origin of a result, as readable text.

use std::time::SystemTime;
#[cfg(target_family = "wasm")]
use std::time::UNIX_EPOCH;

use garblet::{
    Program,
    circuit::diagnostic::one_line,
    run_report::{PeerPart, Record, timestamp},
};

/// A party and its identity, as one line.
pub fn peer_text(peer: &PeerPart) -> String {
    let who = match (&peer.name, &peer.fingerprint) {
        (Some(name), Some(fingerprint)) => format!("{name} {fingerprint}"),
        (None, Some(fingerprint)) => format!("{fingerprint}, not named here"),
        (Some(name), None) => name.clone(),
        (None, None) => "without identity".into(),
    };
    format!("party {}: {}\n", peer.party, one_line(&who))
}

/// The record of a result obtained just now.
pub fn record_now(program: &Program, peers: Vec<PeerPart>) -> Record {
    Record::new(program, peers, clock())
}

/// A record, as lines.
pub fn text(record: &Record) -> String {
    let peers: String = record.peers.iter().map(peer_text).collect();
    format!("{peers}program {}\ngarblet {}, {}\n", record.program_digest, record.version, record.time)
}

/// The time now, as in `2026-11-23T06:30:00Z`.
pub fn now() -> String {
    timestamp(clock())
}

#[cfg(not(target_family = "wasm"))]
pub(crate) fn clock() -> SystemTime {
    SystemTime::now()
}

/// The time now, of which JavaScript has the clock.
#[cfg(target_family = "wasm")]
pub(crate) fn clock() -> SystemTime {
    UNIX_EPOCH + web_time::SystemTime::now().duration_since(web_time::UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_named_as_far_as_they_are_known() {
        let known: garblet::net::Fingerprint = garblet::net::Identity::generate(&mut rand::rng()).fingerprint();
        let names = [("bob".to_string(), known)];
        assert_eq!(peer_text(&PeerPart::met(1, Some(known), &names)), format!("party 1: bob {known}\n"));
        assert_eq!(peer_text(&PeerPart::met(1, Some(known), &[])), format!("party 1: {known}, not named here\n"));
        assert_eq!(peer_text(&PeerPart::met(1, None, &names)), "party 1: without identity\n");
        assert_eq!(peer_text(&PeerPart::here(2)), "party 2: this machine\n");
    }
}
