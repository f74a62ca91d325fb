//! Compares the receipts of two parties: the transcripts of a common run match.

use std::collections::HashMap;

use garblet::AUTO;
use serde_json::{Value, json};

use super::{
    Ended, Receipt, Transcript,
    chain::{self, Digested, Link},
};

/// The runs of two logs.
#[derive(Default)]
pub struct Comparison {
    /// Pairs of our and their receipts in which each party received what the other sent.
    pub alike: Vec<(Link, Link)>,
    /// Runs with a peer that the other log lacks, or has with other transcripts.
    pub only: [Vec<Link>; 2],
}

impl Comparison {
    /// Compares two logs. Skips runs that met no peer.
    pub fn of(ours: Vec<Link>, theirs: Vec<Link>) -> Self {
        let met = |links: Vec<Link>| links.into_iter().filter(|link| !link.receipt.transcripts.is_empty());
        let mut comparison = Comparison::default();
        let mut theirs: Vec<Option<Link>> = met(theirs).map(Some).collect();
        // Index by the digest of received data, so that each of ours has few candidates.
        let mut received: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, link) in theirs.iter().enumerate() {
            for transcript in link.iter().flat_map(|link| &link.receipt.transcripts) {
                received.entry(transcript.received.clone()).or_default().push(at);
            }
        }
        for own in met(ours) {
            let is_of_run = |at: &&usize| theirs[**at].as_ref().is_some_and(|other| fits(&own.receipt, &other.receipt));
            let sent = own.receipt.transcripts.iter().filter_map(|transcript| received.get(&transcript.sent));
            let found = sent.flatten().find(is_of_run).copied();
            match found.and_then(|at| theirs[at].take()) {
                Some(other) => comparison.alike.push((own, other)),
                None => comparison.only[0].push(own),
            }
        }
        comparison.only[1] = theirs.into_iter().flatten().collect();
        comparison
    }

    /// Returns whether a run with a result that closed properly is in only one log.
    pub fn differs(&self) -> bool {
        self.only.iter().flatten().any(|link| matches!(link.receipt.ended, Ended::Ok { closing: None }))
    }
}

/// The comparison of two logs as JSON: pairs of receipts of the same run, receipts that only one log has, and whether the logs differ in a run with a result.
pub fn object(logs: &[Vec<Digested>; 2]) -> Value {
    let links = |log: &[Digested]| log.iter().map(|(link, _)| link.clone()).collect();
    let comparison = Comparison::of(links(&logs[0]), links(&logs[1]));
    let of = |log: usize, link: &Link| chain::object(&logs[log][link.number as usize - 1]);
    let alike: Vec<_> = comparison.alike.iter().map(|(own, other)| (of(0, own), of(1, other))).collect();
    let only = [0, 1].map(|log| comparison.only[log].iter().map(|link| of(log, link)).collect::<Vec<_>>());
    json!({ "alike": alike, "only": only, "differs": comparison.differs() })
}

/// Returns whether two receipts describe the same run: each party met the other and received what the other sent.
fn fits(ours: &Receipt, theirs: &Receipt) -> bool {
    let with = |receipt: &Receipt, party: u16| receipt.transcripts.iter().find(|t| t.party == party).cloned();
    let (Some(own), Some(other)) = (with(ours, theirs.party), with(theirs, ours.party)) else { return false };
    let Transcript { sent, received, .. } = own;
    let has_met = |receipt: &Receipt, other: &Receipt| {
        receipt.peers.iter().any(|peer| peer.party == other.party && peer.fingerprint == other.identity)
    };
    sent == other.received
        && received == other.sent
        && has_met(ours, theirs)
        && has_met(theirs, ours)
        && agreed(ours) == agreed(theirs)
        && took_the_same(ours, theirs)
}

/// The receipt reduced to what all parties agree on.
fn agreed(receipt: &Receipt) -> impl PartialEq + use<'_> {
    let Receipt { parties, job, program, wire_version, protocol, adversary, keep, read, .. } = receipt;
    ((parties, job, program, wire_version), (protocol, adversary), (keep, read))
}

/// Returns whether the parameters are the same. A run that ended early does not know what the link decided, and a party may have let it decide what the
/// other has set.
fn took_the_same(ours: &Receipt, theirs: &Receipt) -> bool {
    let fits = |(name, own): (&String, &Value)| {
        theirs.parameters.get(name).is_some_and(|other| own == other || own == AUTO || other == AUTO)
    };
    ours.parameters.len() == theirs.parameters.len() && ours.parameters.iter().all(fits)
}
