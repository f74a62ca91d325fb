//! A service's rules: which authenticated peers may run a job.

use std::time::Duration;

use garblet::{
    Party,
    circuit::diagnostic::clip,
    formats::value::Arrange,
    net::{Fingerprint, Hello, JOB, MESH, PeersFile},
};
use garblet_console::{hex::to_hex, stock::Folder};

use super::{
    config::{Config, Offer},
    data::{InputSource, ResultSink},
    written::{Often, Refill},
};

/// The reason for refusing a caller that asks for an unknown job.
const UNKNOWN: &str = "unknown-job";

/// The characters of a job's digest.
const DIGEST_CHARS: usize = 64;

/// A rule.
pub(super) struct Rule {
    /// The party that the service plays.
    pub(super) party: Party,
    /// The peers to whom it applies; empty with plain TCP, where it applies to everyone.
    pub(super) peers: Vec<(String, Fingerprint)>,
    pub(super) often: Often,
    /// The name under which runs are counted.
    pub(super) budget: String,
    /// The addresses of all parties, for a protocol with several.
    pub(super) addresses: Option<PeersFile>,
    pub(super) inputs: Option<InputSource>,
    /// The arrangement of lists whose order the program relies on.
    pub(super) arrange: Arrange,
    /// Answers that wait for inputs leave after a whole number of beats.
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
    /// The identities of all parties other than the rule's, given that this one calls.
    pub(super) fn others(&self, rule: usize, caller: Option<Fingerprint>) -> Vec<Option<Fingerprint>> {
        if !self.is_mesh {
            return vec![caller];
        }
        let own = usize::from(self.rules[rule].party.0);
        let numbered = self.identities.iter().enumerate();
        numbered.filter(|(party, _)| *party != own).map(|(_, identity)| *identity).collect()
    }

    /// The last party, which calls all others if there are several.
    pub(super) fn last(&self) -> Party {
        Party(self.identities.len().saturating_sub(1) as u16)
    }

    /// The rule that applies to a caller. Nobody calls the last of several parties.
    ///
    /// *Errors*: the reason for the log.
    fn rule_for(&self, applies: impl Fn(&Rule) -> bool) -> Result<usize, &'static str> {
        match self.rules.iter().position(applies) {
            Some(rule) if self.is_mesh && self.rules[rule].party == self.last() => Err("calls-all-others"),
            Some(rule) => Ok(rule),
            None => Err("not-allowed"),
        }
    }

    /// Returns whether a hello names this job. Both sides then compare everything.
    fn is_asked_for(&self, hello: &Hello) -> bool {
        hello.parameter(JOB) == Some(&self.digest) && self.is_mesh == (hello.protocol == MESH)
    }
}

impl Config {
    /// The index of the job that a caller's hello names, and of the rule that allows it.
    ///
    /// *Errors*: the reason, for the log; the caller receives [`Refusal::UnknownJob`], so that it cannot discover other peers' jobs.
    pub(super) fn decide(&self, hello: &Hello, peer: Option<Fingerprint>) -> Result<(usize, usize), &'static str> {
        let offer = self.offers.iter().position(|offer| offer.is_asked_for(hello)).ok_or(UNKNOWN)?;
        Ok((offer, self.offers[offer].rule_for(|rule| rule.applies_to(peer))?))
    }

    /// The rule whose store a caller wants to fill.
    ///
    /// *Errors*: as [`Config::decide`].
    pub(super) fn decide_filling(
        &self,
        hello: &Hello,
        peer: Option<Fingerprint>,
    ) -> Result<(usize, usize), &'static str> {
        let offer = self.offers.iter().position(|offer| offer.is_asked_for(hello)).ok_or(UNKNOWN)?;
        Ok((offer, self.offers[offer].rule_for(|rule| rule.store.is_some() && rule.applies_to(peer))?))
    }

    /// The request in a caller's hello, with this service's name for the job if it has it. Texts of the hello are clipped.
    pub(super) fn asked_for(&self, hello: &Hello) -> String {
        let (protocol, digest) = (clip(&hello.protocol), hello.parameter(JOB));
        let Some(digest) = digest else {
            return format!("program {} under {protocol}, without a job", to_hex(&hello.program_digest));
        };
        let known = self.offers.iter().find(|offer| offer.digest == digest);
        let known = known.map_or(String::new(), |offer| format!(", here {}", offer.name));
        let digest = if digest.len() <= DIGEST_CHARS { digest.into() } else { clip(digest) };
        format!("job {digest} under {protocol}{known}")
    }

    /// Returns whether all these peers may run the job with this digest, or fill a store for it.
    pub(super) fn allows(&self, digest: &str, peers: &[Option<Fingerprint>], fills: bool) -> bool {
        let rules = self.offers.iter().find(|offer| offer.digest == digest).map_or(&[][..], |offer| &offer.rules);
        let is_allowed = |peer: &Option<Fingerprint>| {
            rules.iter().any(|rule| rule.applies_to(*peer) && (!fills || rule.store.is_some()))
        };
        peers.iter().all(is_allowed)
    }

    /// The destination of results of the job with this digest and these peers, if there is one.
    pub(super) fn results(&self, digest: &str, others: &[Option<Fingerprint>]) -> Option<&ResultSink> {
        let offer = self.offers.iter().find(|offer| offer.digest == digest)?;
        let applies = |rule: &&Rule| others.iter().all(|other| rule.applies_to(*other));
        offer.rules.iter().find(applies)?.results.as_ref()
    }

    /// The name of an authenticated peer.
    pub(super) fn name(&self, peer: Option<Fingerprint>) -> String {
        match peer {
            None => "a peer without identity".into(),
            Some(peer) => {
                let named = self.names.iter().find(|(_, fingerprint)| *fingerprint == peer);
                named.map_or_else(|| peer.to_string(), |(name, _)| name.clone())
            }
        }
    }
}
