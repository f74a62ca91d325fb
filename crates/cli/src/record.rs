//! The origin of a result: with whom, which program, by which version, when.

use std::time::{SystemTime, UNIX_EPOCH};

use garblet::Program;
use garblet_net::Fingerprint;
use serde::{Deserialize, Serialize};

/// A party that took part beside this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PeerPart {
    pub(crate) party: u16,
    /// The name in `garblet trust list`; `this machine` for the parties of `garblet local`.
    pub(crate) name: Option<String>,
    /// None over plain TCP.
    pub(crate) fingerprint: Option<String>,
}

/// The record that goes with every result.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Record {
    pub(crate) peers: Vec<PeerPart>,
    pub(crate) program_digest: String,
    pub(crate) version: &'static str,
    /// The time at which the result was there: RFC 3339, UTC.
    pub(crate) time: String,
}

impl PeerPart {
    /// A peer that proved an identity, or spoke plain TCP.
    pub(crate) fn met(party: u16, fingerprint: Option<Fingerprint>, names: &[(String, Fingerprint)]) -> Self {
        let name = names.iter().find(|(_, known)| Some(*known) == fingerprint).map(|(name, _)| name.clone());
        PeerPart { party, name, fingerprint: fingerprint.map(|fingerprint| fingerprint.to_string()) }
    }

    /// A party that this process has started.
    pub(crate) fn here(party: u16) -> Self {
        PeerPart { party, name: Some("this machine".into()), fingerprint: None }
    }

    /// The party and its identity, as a line for people.
    pub(crate) fn text(&self) -> String {
        let who = match (&self.name, &self.fingerprint) {
            (Some(name), Some(fingerprint)) => format!("{name} {fingerprint}"),
            (None, Some(fingerprint)) => format!("{fingerprint}, whom no name is given"),
            (Some(name), None) => name.clone(),
            (None, None) => "without identity".into(),
        };
        format!("party {}: {who}\n", self.party)
    }
}

impl Record {
    /// The record of a result that is there now.
    pub(crate) fn now(program: &Program, peers: Vec<PeerPart>) -> Self {
        let (program_digest, version) = (digest_text(program), env!("CARGO_PKG_VERSION"));
        Record { peers, program_digest, version, time: now() }
    }

    /// The same for people.
    pub(crate) fn text(&self) -> String {
        let peers: String = self.peers.iter().map(PeerPart::text).collect();
        format!("{peers}program {}\ngarblet {}, {}\n", self.program_digest, self.version, self.time)
    }
}

/// The digest that parties compare.
pub(crate) fn digest_text(program: &Program) -> String {
    program.digest().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The time now, as in `2026-11-23T06:30:00Z`.
pub(crate) fn now() -> String {
    rfc_3339(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

/// A time in seconds from the beginning of 1970, as in `2026-11-23T06:30:00Z`.
fn rfc_3339(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from the first of March of the year 0, so that leap days are at their ends; 400 of them have as many days as any.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    let [hour, minute, second] = [second / 3_600, second / 60 % 60, second % 60];
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc_3339(seconds), text);
        }
    }

    #[test]
    fn peers_are_named_as_far_as_they_are_known() {
        let known: Fingerprint = garblet_net::Identity::generate(&mut rand::rng()).fingerprint();
        let names = [("bob".to_string(), known)];
        assert_eq!(PeerPart::met(1, Some(known), &names).text(), format!("party 1: bob {known}\n"));
        assert_eq!(PeerPart::met(1, Some(known), &[]).text(), format!("party 1: {known}, whom no name is given\n"));
        assert_eq!(PeerPart::met(1, None, &names).text(), "party 1: without identity\n");
        assert_eq!(PeerPart::here(2).text(), "party 2: this machine\n");
    }
}
