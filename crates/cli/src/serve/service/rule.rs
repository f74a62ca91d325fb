//! The rules of a service: which of those who have proved who they are may run a job.

use std::sync::Arc;

use garblet::Party;
use garblet_net::{Fingerprint, Hello, JOB, MESH, PeersFile, Refusal};

use super::{
    config::{Config, Offer},
    data::{InputSource, ResultSink},
    written::Often,
};
use crate::stock::Folder;

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
    pub(super) results: Option<ResultSink>,
    pub(super) store: Option<Folder>,
}

impl Rule {
    fn applies_to(&self, peer: Option<Fingerprint>) -> bool {
        match peer {
            Some(peer) => self.peers.iter().any(|(_, fingerprint)| *fingerprint == peer),
            None => self.peers.is_empty(),
        }
    }
}

impl Offer {
    /// Tells whether somebody who names no job means this one: by the place that its identity has, and of two parties by program and protocol. Both sides then
    /// still compare everything.
    fn is_asked_for_without_a_job(&self, hello: &Hello, peer: Option<Fingerprint>) -> bool {
        let has_place = self.identities.get(usize::from(hello.party)) == Some(&peer);
        let is_the_same = match self.is_mesh {
            true => hello.protocol == MESH,
            false => self.settings.protocol == hello.protocol && self.program.digest() == hello.program_digest,
        };
        has_place && is_the_same && usize::from(hello.party_count) == self.identities.len()
    }
}

impl Config {
    /// The job that a caller's hello is about, as its place, and the place of the rule by which it may run it.
    ///
    /// *Errors*: [`Refusal::UnknownJob`], [`Refusal::NotAllowed`].
    pub(super) fn decide(&self, hello: &Hello, peer: Option<Fingerprint>) -> Result<(usize, usize), Refusal> {
        let is_of_job = |offer: &Arc<Offer>| match hello.parameter(JOB) {
            Some(job) => offer.digest == job && offer.is_mesh == (hello.protocol == MESH),
            None => offer.is_asked_for_without_a_job(hello, peer),
        };
        let mut fitting = (0..self.offers.len()).filter(|at| is_of_job(&self.offers[*at]));
        let offer = match (fitting.next(), fitting.next()) {
            (Some(offer), None) => offer,
            _ => return Err(Refusal::UnknownJob),
        };
        let rule = self.offers[offer].rules.iter().position(|rule| rule.applies_to(peer));
        Ok((offer, rule.ok_or(Refusal::NotAllowed)?))
    }

    /// The rule with a store that a caller wishes to fill.
    ///
    /// *Errors*: as [`Config::decide`].
    pub(super) fn decide_filling(&self, hello: &Hello, peer: Option<Fingerprint>) -> Result<(usize, usize), Refusal> {
        let of_protocol = |offer: &Offer| offer.settings.protocol == hello.protocol;
        let with_store =
            |offer: &Offer| offer.rules.iter().position(|rule| rule.store.is_some() && rule.applies_to(peer));
        let mut offers = self.offers.iter().enumerate().filter(|(_, offer)| of_protocol(offer));
        offers.find_map(|(at, offer)| Some((at, with_store(offer)?))).ok_or(Refusal::NotAllowed)
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
