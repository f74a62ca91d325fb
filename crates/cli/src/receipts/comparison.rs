//! Receipts of two parties side by side: each run of both has transcripts that fit each other.

use super::{Ended, Receipt, Transcript, chain::Link};

/// The runs of two logs.
#[derive(Default)]
pub(super) struct Comparison {
    /// The numbers in either log of runs in which each received what the other sent.
    pub(super) alike: Vec<(u64, u64)>,
    /// Runs with a peer that the other log does not have, or has with other transcripts.
    pub(super) only: [Vec<Link>; 2],
}

impl Comparison {
    /// Compares two logs. A run that met nobody has nothing to compare.
    pub(super) fn of(ours: Vec<Link>, theirs: Vec<Link>) -> Self {
        let met = |links: Vec<Link>| links.into_iter().filter(|link| !link.receipt.transcripts.is_empty());
        let mut comparison = Comparison::default();
        let mut theirs: Vec<Link> = met(theirs).collect();
        for own in met(ours) {
            match theirs.iter().position(|other| fits(&own.receipt, &other.receipt)) {
                Some(at) => comparison.alike.push((own.number, theirs.remove(at).number)),
                None => comparison.only[0].push(own),
            }
        }
        comparison.only[1] = theirs;
        comparison
    }

    /// Tells whether a run that gave a result is in one log alone.
    pub(super) fn differs(&self) -> bool {
        self.only.iter().flatten().any(|link| matches!(link.receipt.ended, Ended::Ok { .. }))
    }
}

/// Tells whether two parties' receipts are of one run, in which each has received what the other has sent.
fn fits(ours: &Receipt, theirs: &Receipt) -> bool {
    let with = |receipt: &Receipt, party: u16| receipt.transcripts.iter().find(|t| t.party == party).cloned();
    let (Some(own), Some(other)) = (with(ours, theirs.party), with(theirs, ours.party)) else { return false };
    let Transcript { sent, received, .. } = own;
    let agreed = |receipt: &Receipt| (receipt.job.clone(), receipt.program.clone(), receipt.protocol.clone());
    sent == other.received && received == other.sent && agreed(ours) == agreed(theirs)
}
