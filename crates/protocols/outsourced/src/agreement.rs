//! The agreement of two servers: their programs, clients and limits.

use std::{collections::BTreeMap, sync::Arc};

use garblet_authenticated::{Authenticated, Config};
use garblet_circuit::{Bits, Program, diagnostic::clip};
use garblet_client::{Identity, Job, JobError, Reason, SEAL_BYTES, Server, is_name, is_shown};
use garblet_net::{Hello, SCHEDULE};
use garblet_protocol::{Protocol, ProtocolError, checks::hex, parameters, stock::SavedValues};
use serde::Serialize;
use subtle::ConstantTimeEq;

use crate::{
    plan::Plan,
    server::submission_bytes,
    state::{Limits, Standing},
};

/// Separates digests of agreements from all other uses of BLAKE3.
const CONTEXT: &str = "garblet 2026 outsourced agreement v2";
/// The context of the digest of the orders of gates.
const SCHEDULES_CONTEXT: &str = "garblet 2026 outsourced agreement schedules v1";
/// Bytes of a client's frame apart from job and submission, and of the longest label.
const FRAME_BYTES: usize = 38 + 1024;

/// A program that clients may run.
#[derive(Clone)]
pub struct Offer {
    /// The name, for people.
    pub name: String,
    /// The program: party 0 is the generator, the last party the cloud.
    pub program: Arc<Program>,
    /// The names of the clients allowed for each party, from party 1 on.
    pub clients: Vec<Vec<String>>,
    /// The states that it reads and keeps.
    pub saved: SavedValues,
    /// Set if it makes only the first version of the state that it keeps.
    pub first: bool,
}

/// The random value that distinguishes a service from all others. It is part of every job.
///
/// *Unique*: the servers' stores record which submissions were used. A new store has no such record, so everything that clients have ever sent could be
/// run again: whenever one of the servers starts with another store, both take a new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceId(pub [u8; 16]);

/// Everything that both servers agree on.
pub struct Agreement {
    service: ServiceId,
    /// The identities of generator and cloud.
    servers: [Identity; 2],
    clients: Vec<(String, Identity)>,
    offers: Vec<Offered>,
    limits: BTreeMap<String, Limits>,
    config: Config,
    digest: [u8; 32],
}

/// An offer made ready to run.
pub(crate) struct Offered {
    pub(crate) name: String,
    pub(crate) plan: Arc<Plan>,
    clients: Vec<Vec<Identity>>,
    pub(crate) first: bool,
}

/// The agreement in the form that is digested.
#[derive(Serialize)]
struct Digested<'a> {
    servers: [[u8; 32]; 2],
    clients: Vec<&'a str>,
    parameters: Vec<(String, String)>,
    offers: Vec<DigestedOffer<'a>>,
    limits: &'a BTreeMap<String, Limits>,
}

#[derive(Serialize)]
struct DigestedOffer<'a> {
    name: &'a str,
    /// Program, ports, owners, recipients, states.
    job: [u8; 32],
    clients: &'a [Vec<String>],
    first: bool,
}

impl Agreement {
    /// An agreement of the generator and the cloud with these identities.
    ///
    /// *Errors*: duplicate or unknown names; programs that cannot be run or are offered twice; limits of states that no offer names.
    pub fn new(
        service: ServiceId,
        servers: [Identity; 2],
        clients: Vec<String>,
        offers: Vec<Offer>,
        limits: BTreeMap<String, Limits>,
        config: Config,
    ) -> Result<Self, ProtocolError> {
        check_names("clients", is_name, clients.iter().map(String::as_str))?;
        check_names("programs", is_shown, offers.iter().map(|offer| &offer.name[..]))?;
        let known: Vec<(String, Identity)> =
            clients.iter().map(|name| (name.clone(), Identity::of_client(name))).collect();
        let ready: Vec<Offered> =
            offers.iter().map(|offer| Offered::new(offer, &known, (service, config))).collect::<Result<_, _>>()?;
        for (number, offer) in ready.iter().enumerate() {
            let same = |other: &&Offered| other.plan.outline().digest() == offer.plan.outline().digest();
            if let Some(other) = ready[..number].iter().find(same) {
                let got = format!("`{}` and `{}`, which clients cannot tell apart", other.name, offer.name);
                return Err(wrong("programs", "each once, with everybody who may run it", got));
            }
        }
        check_kept(&ready)?;
        let mut states = ready.iter().flat_map(|offer| offer.plan.states());
        if let Some(name) = limits.keys().find(|name| !states.any(|state| state == *name)) {
            return Err(wrong("limits of a state", "one that a program reads or keeps", format!("`{name}`")));
        }
        let digested = Digested {
            servers: servers.map(|server| server.0),
            clients: clients.iter().map(String::as_str).collect(),
            parameters: parameters::compared(Authenticated::PARAMETERS, &config),
            offers: offers.iter().zip(&ready).map(|(offer, ready)| ready.digested(offer)).collect(),
            limits: &limits,
        };
        let encoded = postcard::to_stdvec(&digested).map_err(|error| wrong("agreement", "less", error.to_string()))?;
        let digest = blake3::derive_key(CONTEXT, &encoded);
        Ok(Agreement { service, servers, clients: known, offers: ready, limits, config, digest })
    }

    /// The names of all clients.
    pub fn clients(&self) -> impl ExactSizeIterator<Item = &str> {
        self.clients.iter().map(|(name, _)| &name[..])
    }

    /// The names of all offers.
    pub fn offers(&self) -> impl ExactSizeIterator<Item = &str> {
        self.offers.iter().map(|offer| &offer.name[..])
    }

    /// The number of clients in a run of an offer.
    pub fn clients_of(&self, offer: &str) -> Option<usize> {
        Some(self.offer(offer)?.client_count())
    }

    /// The program of an offer; inputs read from states belong to no party.
    pub fn program(&self, offer: &str) -> Option<&Program> {
        Some(self.offer(offer)?.plan.program())
    }

    /// The identity of a server.
    pub fn server(&self, server: Server) -> Identity {
        match server {
            Server::Generator => self.servers[0],
            Server::Cloud => self.servers[1],
        }
    }

    /// The job of an offer for these clients, with their label, and with all states at one version, which
    /// [`Terms::at_version`](garblet_client::Terms::at_version) changes.
    ///
    /// *Errors*: no such offer; clients that do not match it.
    pub fn job(&self, offer: &str, clients: &[String], label: &str, version: u64) -> Result<Job, ProtocolError> {
        let unknown = || wrong("program", self.offers().collect::<Vec<_>>().join(", "), format!("`{offer}`"));
        let plan = &self.offer(offer).ok_or_else(unknown)?.plan;
        if plan.clients().len() != clients.len() {
            let (expected, got) = (plan.clients().len().to_string(), clients.len().to_string());
            return Err(wrong("clients", expected, got));
        }
        let identities = clients.iter().map(|name| Identity::of_client(name)).collect();
        let versions = vec![version; plan.states().len()];
        plan.job_of(self.servers, identities, &versions, label.into()).map_err(unfit)
    }

    /// The digest, which is the same at both servers.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The most bytes in a client's frame.
    pub fn frame_bytes_max(&self) -> usize {
        let of = |offer: &Offered| {
            let submissions = offer.plan.clients().map(|(client, _)| {
                Server::BOTH.map(|server| submission_bytes(&offer.plan, server, client)).into_iter().max()
            });
            FRAME_BYTES + SEAL_BYTES + offer.plan.outline().encode().len() + submissions.flatten().max().unwrap_or(0)
        };
        self.offers.iter().map(of).max().unwrap_or(FRAME_BYTES)
    }

    /// The value that distinguishes this service from all others.
    pub fn service(&self) -> ServiceId {
        self.service
    }

    /// The parameters of the servers' runs.
    pub(crate) fn config(&self) -> Config {
        self.config
    }

    /// A server's hello to the other. It has one digest of the order of gates of all offers, since a hello is short.
    pub(crate) fn hello(&self, server: Server) -> Hello {
        let seat = u16::from(server == Server::Cloud);
        let mut schedules = blake3::Hasher::new_derive_key(SCHEDULES_CONTEXT);
        for offer in &self.offers {
            schedules.update(offer.plan.schedule().as_bytes());
        }
        Hello::new("outsourced service", seat, 2, self.digest).with(SCHEDULE, schedules.finalize())
    }

    /// The offer with this number.
    pub(crate) fn offered(&self, number: usize) -> &Offered {
        &self.offers[number]
    }

    /// The number of a client, in the order of [`Agreement::clients`].
    ///
    /// Looks at all clients, so that the time does not reveal who is known.
    pub(crate) fn client(&self, identity: &Identity) -> Option<usize> {
        let mut found = None;
        for (number, (_, known)) in self.clients.iter().enumerate() {
            if bool::from(known.0.ct_eq(&identity.0)) {
                found = Some(number);
            }
        }
        found
    }

    /// The identity of the client with this number.
    pub(crate) fn identity(&self, client: usize) -> &Identity {
        &self.clients[client].1
    }

    /// The limits of a state.
    pub(crate) fn limits(&self, state: &str) -> Limits {
        self.limits.get(state).copied().unwrap_or_default()
    }

    /// All states, in alphabetical order.
    pub(crate) fn states(&self) -> Vec<String> {
        let mut all: Vec<String> = self.offers.iter().flat_map(|offer| offer.plan.states().iter().cloned()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The number of a job's offer, and the versions of its states before it.
    ///
    /// *Errors*: a job without an offer; a job whose clients may not run it.
    pub(crate) fn find(&self, job: &Job) -> Result<(usize, Vec<u64>), Reason> {
        let terms = job.terms();
        if [terms.generator, terms.cloud] != self.servers {
            return Err(Reason::OtherJob);
        }
        let mut reason = Reason::OtherJob;
        for (number, offer) in self.offers.iter().enumerate() {
            let Some(versions) = offer.plan.versions(job) else { continue };
            if offer.clients.iter().zip(&terms.clients).all(|(may, client)| may.contains(client)) {
                return Ok((number, versions));
            }
            reason = Reason::Policy;
        }
        Err(reason)
    }

    /// Checks that a server has the inputs of all offers.
    ///
    /// *Errors*: inputs that are missing, superfluous, or of no offer.
    pub(crate) fn check_inputs(&self, server: Server, inputs: &[(String, Vec<Bits>)]) -> Result<(), ProtocolError> {
        if let Some((name, _)) = inputs.iter().find(|(name, _)| self.offer(name).is_none()) {
            return Err(wrong("program", self.offers().collect::<Vec<_>>().join(", "), format!("`{name}`")));
        }
        let none = Vec::new();
        for offer in &self.offers {
            let given = inputs.iter().find(|(name, _)| *name == offer.name).map_or(&none, |(_, values)| values);
            let own = offer.plan.party(server);
            garblet_protocol::party_io::own_input(offer.plan.program(), own, given)?;
        }
        Ok(())
    }

    fn offer(&self, name: &str) -> Option<&Offered> {
        self.offers.iter().find(|offer| offer.name == name)
    }
}

impl Offered {
    fn new(
        offer: &Offer,
        known: &[(String, Identity)],
        (service, config): (ServiceId, Config),
    ) -> Result<Self, ProtocolError> {
        let Offer { name, program, clients, saved, first } = offer;
        if *first && saved.keep.is_none() {
            return Err(wrong("the first version of a state", "a program that keeps one", format!("`{name}`")));
        }
        let identity = |client: &String| {
            let known = known.iter().find(|(known, _)| known == client).map(|(_, identity)| *identity);
            known.ok_or_else(|| wrong("clients of a program", "names of clients", format!("`{client}`")))
        };
        let identities = |may: &Vec<String>| may.iter().map(identity).collect::<Result<Vec<_>, _>>();
        let clients: Vec<Vec<Identity>> = clients.iter().map(identities).collect::<Result<_, _>>()?;
        let parties = clients.len() as u16 + 2;
        let plan =
            Plan::new(program.clone(), parties, config, saved.clone())?.with_parameter("service", &hex(&service.0))?;
        if plan.states().len() > 1 {
            // Refusals report the version of one state.
            let got = format!("`{name}`, which has {}", plan.states().join(", "));
            return Err(wrong("program", "at most one state", got));
        }
        Ok(Offered { name: name.clone(), plan: Arc::new(plan), clients, first: *first })
    }

    /// This server's standing of the state that answers report, from the standings of all states of the plan.
    pub(crate) fn answered(&self, job: &Job, standings: &[Standing]) -> Standing {
        job.state().map(|(name, _)| self.plan.standing(standings, name)).unwrap_or_default()
    }

    fn digested<'a>(&self, offer: &'a Offer) -> DigestedOffer<'a> {
        let (job, first) = (*self.plan.outline().digest(), self.first);
        DigestedOffer { name: &offer.name, job, clients: &offer.clients, first }
    }

    /// The number of clients.
    pub(crate) fn client_count(&self) -> usize {
        self.clients.len()
    }
}

/// Refuses reads of a state or output that no program keeps: such a job could never be run.
fn check_kept(offers: &[Offered]) -> Result<(), ProtocolError> {
    for offer in offers {
        for (state, output, width) in offer.plan.read_outputs() {
            let what = format!("of program `{}`, which reads `{state}`", offer.name);
            let mut keepers =
                offers.iter().filter_map(|other| Some((other, other.plan.kept_outputs(state)?))).peekable();
            if keepers.peek().is_none() {
                return Err(wrong(&what, "a program that keeps that state", "none".into()));
            }
            for (keeper, kept) in keepers {
                let found = match output {
                    Some(output) => kept.iter().find(|(name, _)| *name == output),
                    None => kept.first().filter(|_| kept.len() == 1),
                };
                if found.is_none_or(|(_, kept)| *kept != width) {
                    let of = |(name, width): &(&str, u32)| format!("`{name}` of {width} bits");
                    let output = output.map_or("one output".into(), |output| format!("`{output}`"));
                    let got = kept.iter().map(of).collect::<Vec<_>>().join(", ");
                    return Err(wrong(
                        &what,
                        format!("{output} of {width} bits"),
                        format!("{got}, which `{}` keeps", keeper.name),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Refuses duplicate names, and names that people could not tell apart.
fn check_names<'a>(
    what: &str,
    is_fit: fn(&str) -> bool,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), ProtocolError> {
    let mut known: Vec<&str> = Vec::new();
    for name in names {
        if !is_fit(name) {
            let expected = "names of 1 to 255 bytes without control, direction or invisible characters";
            return Err(wrong(what, expected, format!("`{}`", clip(&name.escape_debug().to_string()))));
        }
        if known.contains(&name) {
            return Err(wrong(what, "each name once", format!("`{name}` twice")));
        }
        known.push(name);
    }
    Ok(())
}

fn unfit(error: JobError) -> ProtocolError {
    wrong("job", "terms that can be kept", error.to_string())
}

fn wrong(what: &str, expected: impl Into<String>, got: String) -> ProtocolError {
    ProtocolError::Input { what: what.into(), expected: expected.into(), got }
}
