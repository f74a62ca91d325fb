//! The rules of a service: which of those who have proved who they are may run a job.

use std::time::Duration;

use garblet::{
    Party,
    formats::value::Arrange,
    net::{Fingerprint, Hello, JOB, MESH, PeersFile},
};
use garblet_console::stock::Folder;

use super::{
    config::{Config, Offer},
    data::{InputSource, ResultSink},
    written::{Often, Refill},
};

/// The reason where there is no job as it is asked for.
const UNKNOWN: &str = "unknown-job";

/// A rule.
pub(super) struct Rule {
    /// The party that the service is.
    pub(super) party: Party,
    /// Those to whom it applies; with plain TCP none have names, and it applies to all.
    pub(super) peers: Vec<(String, Fingerprint)>,
    pub(super) often: Often,
    /// The name under which runs are counted.
    pub(super) budget: String,
    /// The addresses of all parties, for a protocol of several.
    pub(super) addresses: Option<PeersFile>,
    pub(super) inputs: Option<InputSource>,
    /// The arrangement of lists whose order the program relies on.
    pub(super) arrange: Arrange,
    /// Answers that wait for inputs leave after a whole number of these.
    pub(super) beat: Duration,
    pub(super) results: Option<ResultSink>,
    pub(super) store: Option<Folder>,
    pub(super) refill: Option<Refill>,
}

impl Rule {
    pub(super) fn applies_to(&self, peer: Option<Fingerprint>) -> bool {
        match peer {
            Some(peer) => self.peers.iter().any(|(_, fingerprint)| *fingerprint == peer),
            None => self.peers.is_empty(),
        }
    }
}

impl Offer {
    /// The identities of all others than the party of a rule, of whom this one calls.
    pub(super) fn others(&self, rule: usize, caller: Option<Fingerprint>) -> Vec<Option<Fingerprint>> {
        if !self.is_mesh {
            return vec![caller];
        }
        let own = usize::from(self.rules[rule].party.0);
        let numbered = self.identities.iter().enumerate();
        numbered.filter(|(party, _)| *party != own).map(|(_, identity)| *identity).collect()
    }

    /// Tells whether a hello names this job. Both sides then compare everything.
    fn is_asked_for(&self, hello: &Hello) -> bool {
        hello.parameter(JOB) == Some(&self.digest) && self.is_mesh == (hello.protocol == MESH)
    }
}

impl Config {
    /// The job that a caller's hello is about, as its place, and the place of the rule by which it may run it.
    ///
    /// *Errors*: the reason, for the log; the caller hears [`Refusal::UnknownJob`], so that it cannot find out which jobs there are for others.
    pub(super) fn decide(&self, hello: &Hello, peer: Option<Fingerprint>) -> Result<(usize, usize), &'static str> {
        let offer = self.offers.iter().position(|offer| offer.is_asked_for(hello)).ok_or(UNKNOWN)?;
        let rule = self.offers[offer].rules.iter().position(|rule| rule.applies_to(peer));
        Ok((offer, rule.ok_or("not-allowed")?))
    }

    /// The rule with a store that a caller wishes to fill.
    ///
    /// *Errors*: as [`Config::decide`].
    pub(super) fn decide_filling(
        &self,
        hello: &Hello,
        peer: Option<Fingerprint>,
    ) -> Result<(usize, usize), &'static str> {
        let offer = self.offers.iter().position(|offer| offer.is_asked_for(hello)).ok_or(UNKNOWN)?;
        let with_store = |rule: &Rule| rule.store.is_some() && rule.applies_to(peer);
        let rule = self.offers[offer].rules.iter().position(with_store);
        Ok((offer, rule.ok_or("not-allowed")?))
    }

    /// Tells whether all of these may run the job of that digest, or fill a store for it.
    pub(super) fn allows(&self, digest: &str, peers: &[Option<Fingerprint>], fills: bool) -> bool {
        let rules = self.offers.iter().find(|offer| offer.digest == digest).map_or(&[][..], |offer| &offer.rules);
        let is_allowed = |peer: &Option<Fingerprint>| {
            rules.iter().any(|rule| rule.applies_to(*peer) && (!fills || rule.store.is_some()))
        };
        peers.iter().all(is_allowed)
    }

    /// The place for results of the job of that digest with these others, if there is one.
    pub(super) fn results(&self, digest: &str, others: &[Option<Fingerprint>]) -> Option<&ResultSink> {
        let offer = self.offers.iter().find(|offer| offer.digest == digest)?;
        let applies = |rule: &&Rule| others.iter().all(|other| rule.applies_to(*other));
        offer.rules.iter().find(applies)?.results.as_ref()
    }

    /// The name of somebody who has proved an identity.
    pub(super) fn name(&self, peer: Option<Fingerprint>) -> String {
        match peer {
            None => "somebody without identity".into(),
            Some(peer) => {
                let named = self.names.iter().find(|(_, fingerprint)| *fingerprint == peer);
                named.map_or_else(|| peer.to_string(), |(name, _)| name.clone())
            }
        }
    }
}
