//! The plan: the job of all parties, and the servers' program.

use std::sync::Arc;

use garblet_authenticated::{self as base, Authenticated, Config, Statistical, others};
use garblet_circuit::{Bits, InputId, Party, Program, Recipients, ScheduleDigest};
use garblet_client::{self as client, Destination, Identity, Job, JobError, Kept, Origin, Server, Terms};
use garblet_net::{Hello, SCHEDULE};
use garblet_protocol::{
    Collusion, Protocol, Security,
    checks::hex,
    error::ProtocolError,
    parameters,
    party_io::{EVALUATOR, GARBLER, check_party_count},
    stock::{ReadInput, SavedValues, has_panicked, yes_or_no},
};

use crate::{
    GENERATOR, NAME, PARTIES_MAX, SERVERS,
    dealt::{Dealt, Outline, dealt, servers_program},
    state::{self, Standing},
};

/// The number that stands for the giver of an input that is read.
pub(crate) const NOBODY: Party = Party(u16::MAX);
/// The most bits of a state, which a store writes as a whole.
const KEPT_BITS_MAX: u64 = 1 << 20;
/// The name that stands for the only output of a state.
const ONLY: &str = "*";

/// A program made ready for `outsourced`, with servers that run `B`.
pub struct Plan<B = base::Plan> {
    /// The program; inputs read from states belong to nobody.
    program: Arc<Program>,
    /// The terms, with versions of states still open.
    terms: Terms,
    /// The job with placeholder versions of states.
    job: Job,
    base: Arc<B>,
    clients: Vec<Dealt>,
    saved: SavedValues,
    /// The states to read or keep, in alphabetical order.
    states: Vec<String>,
}

/// The base's plan for the servers' program.
pub trait BasePlan: Send + Sync + 'static {
    /// Set if servers prove their dealt bits; if not, hash masks are unused.
    const BINDS: bool;
    /// Set if prepared material may come from stores, in batches that only servers see.
    const STORES: bool;

    /// The security of a run of the servers, as far as it is known in advance.
    fn security(&self) -> Security;

    /// The order of gates, on which servers must agree.
    fn schedule(&self) -> ScheduleDigest;
}

impl BasePlan for base::Plan {
    const BINDS: bool = true;
    const STORES: bool = true;

    fn security(&self) -> Security {
        self.stated_security()
    }

    fn schedule(&self) -> ScheduleDigest {
        self.schedules().digest()
    }
}

impl Plan {
    /// Makes a program ready for `parties` parties, the first and the last being servers, with the states that it reads and keeps: it keeps the outputs that
    /// nobody learns, or nothing if the computation panics, which all parties learn ([`SavedValues::program`]).
    ///
    /// *Errors*: parties that do not exist; more input or output bits than a client may have; more gates than can be prepared; a state
    /// without an output.
    pub fn new(program: Arc<Program>, parties: u16, config: Config, saved: SavedValues) -> Result<Self, ProtocolError> {
        let statistical = match config.statistical {
            Statistical::Forty => client::Statistical::Forty,
            Statistical::SixtyFour => client::Statistical::SixtyFour,
            Statistical::Eighty => client::Statistical::Eighty,
        };
        let parameters = parameters::compared(Authenticated::PARAMETERS, &config);
        Plan::over(program, parties, (statistical, parameters), saved, |outline| {
            let further = outline.clients.iter().map(|dealt| dealt.masks.len()).sum();
            let others = others::Dealt { outputs: outline.learned.clone(), further };
            base::Plan::for_others(Arc::new(servers_program(&outline)), config, outline.read, outline.kept, others)
        })
    }
}

impl<B: BasePlan> Plan<B> {
    /// Makes a program ready for servers whose plan is `base`.
    ///
    /// *Errors*: as [`Plan::new`], and those of `base`.
    pub(crate) fn over(
        program: Arc<Program>,
        parties: u16,
        (statistical, parameters): (client::Statistical, Vec<(String, String)>),
        saved: SavedValues,
        base: impl FnOnce(Outline<'_>) -> Result<B, ProtocolError>,
    ) -> Result<Self, ProtocolError> {
        let program = saved.program(NAME, &program)?;
        let read = saved.inputs(&program)?;
        let mut owned = (*program).clone();
        // Party 0 stands in for nobody while checking that all others exist.
        read.iter().for_each(|&input| owned.set_owner(InputId(input as u32), GENERATOR));
        check_party_count(NAME, &owned, parties, 3..=PARTIES_MAX)?;
        read.iter().for_each(|&input| owned.set_owner(InputId(input as u32), NOBODY));
        let program = Arc::new(owned);
        let kept = kept(&program, saved.keep.is_some())?;
        let mut terms = terms(&program, parties, (&saved, &read, &kept));
        (terms.statistical, terms.parameters) = (statistical, parameters);
        terms.parameters.sort();
        let mut states: Vec<String> =
            saved.read.iter().map(|read| read.name.clone()).chain(saved.keep.clone()).collect();
        states.sort_unstable();
        states.dedup();
        let firsts = vec![Standing { version: 1, ..Standing::default() }; states.len()];
        let job = job(&program, &terms, (&states, &firsts), String::new())?;
        let cloud = Party(parties - 1);
        let hash_bits = if B::BINDS { statistical.hash_bits() } else { 0 };
        let clients = dealt(&program, cloud, hash_bits);
        let outputs = program.outputs();
        let learned = |client: Party| (0..outputs.len()).filter(move |&at| outputs[at].recipients.contains(client));
        let learned = (1..cloud.0).map(Party).flat_map(learned).collect();
        let base = base(Outline { program: &program, cloud, learned, clients: &clients, read: &read, kept })?;
        Ok(Plan { program, terms, job, base: Arc::new(base), clients, saved, states })
    }

    /// The same with another parameter, which all jobs include.
    ///
    /// *Errors*: more parameters than a job may have.
    pub(crate) fn with_parameter(mut self, name: &str, value: &str) -> Result<Self, ProtocolError> {
        self.terms.parameters.push((name.into(), value.into()));
        self.terms.parameters.sort();
        let firsts = vec![Standing { version: 1, ..Standing::default() }; self.states.len()];
        self.job = job(&self.program, &self.terms, (&self.states, &firsts), String::new())?;
        Ok(self)
    }

    /// The job as far as it is known before a run: without versions of states.
    pub(crate) fn outline(&self) -> &Job {
        &self.job
    }

    /// The job that all parties agree on for one run: with the current states, in the order of [`Plan::states`], and words unique to the session.
    ///
    /// *Errors*: a state to read that does not exist.
    pub(crate) fn job(&self, standings: &[Standing], session: &[u8; 32]) -> Result<Job, ProtocolError> {
        self.reads(standings)?;
        job(&self.program, &self.terms, (&self.states, standings), hex(session))
    }

    /// The versions of [`Plan::states`] before a job, as it names them; `None` if the job does not belong to this plan, for any parties.
    pub(crate) fn versions(&self, job: &Job) -> Option<Vec<u64>> {
        let given = job.terms();
        let before = |name: &String| {
            let read = given.inputs.iter().find_map(|input| match &input.origin {
                Origin::State { state, version, .. } if state == name => Some(*version),
                _ => None,
            });
            let kept = given.keeps.as_ref().filter(|kept| kept.state == *name);
            read.or_else(|| kept?.version.checked_sub(1))
        };
        let versions: Vec<u64> = self.states.iter().map(before).collect::<Option<_>>()?;
        (self.terms_at(given, &versions) == *given && given.clients.len() == self.clients.len()).then_some(versions)
    }

    /// The terms of this plan with the parties and the label of other terms, with states at these versions.
    fn terms_at(&self, others: &Terms, versions: &[u64]) -> Terms {
        let (generator, cloud) = (others.generator, others.cloud);
        let (clients, label) = (others.clients.clone(), others.label.clone());
        let terms = Terms { generator, clients, cloud, label, ..self.terms.clone() };
        self.states.iter().zip(versions).fold(terms, |terms, (name, version)| terms.at_version(name, *version))
    }

    /// The job of these parties, with states at these versions.
    ///
    /// *Errors*: parties that a job cannot have, or too few of them; an unreadable version.
    pub(crate) fn job_of(
        &self,
        [generator, cloud]: [Identity; 2],
        clients: Vec<Identity>,
        versions: &[u64],
        label: String,
    ) -> Result<Job, JobError> {
        Job::new(self.terms_at(&Terms { generator, clients, cloud, label, ..self.terms.clone() }, versions))
    }

    /// The states to read or keep, in alphabetical order.
    pub(crate) fn states(&self) -> &[String] {
        &self.states
    }

    /// Tells whether a state is kept.
    pub(crate) fn keeps(&self) -> bool {
        self.saved.keep.is_some()
    }

    /// Tells whether the computation has panicked, as far as a party's outputs show.
    pub(crate) fn has_panicked(&self, outputs: &[Option<Bits>]) -> bool {
        let code = self.program.notes().panic_output().and_then(|at| outputs.get(at)?.as_ref());
        has_panicked(&self.program, outputs) || code.is_some_and(|code| code.iter().any(|bit| bit))
    }

    /// The inputs to read, with the names under which the base stores these versions of states.
    ///
    /// *Errors*: a state that does not exist.
    pub(crate) fn reads(&self, standings: &[Standing]) -> Result<Vec<ReadInput>, ProtocolError> {
        let of_base = |read: &ReadInput| {
            let standing = self.standing(standings, &read.name);
            Ok(ReadInput { name: state::read(&read.name, standing)?, ..read.clone() })
        };
        self.saved.read.iter().map(of_base).collect()
    }

    /// The standing of a state, from the standings of all.
    pub(crate) fn standing(&self, standings: &[Standing], name: &str) -> Standing {
        standing_of(&self.states, standings, name)
    }

    /// The state to keep, as it stood before.
    pub(crate) fn kept(&self, standings: &[Standing]) -> Option<(&str, Standing)> {
        let name = self.saved.keep.as_deref()?;
        Some((name, self.standing(standings, name)))
    }

    /// The inputs to read: the state, the output if it is named, and the bits of each.
    pub(crate) fn read_outputs(&self) -> impl Iterator<Item = (&str, Option<&str>, u32)> {
        self.saved.read.iter().filter_map(|read| {
            let input = self.program.inputs().iter().find(|input| input.port.name == read.port)?;
            Some((&read.name[..], read.output.as_deref(), input.port.width()))
        })
    }

    /// The outputs to keep as a state, and the bits of each; empty if this state is not kept.
    pub(crate) fn kept_outputs(&self, state: &str) -> Option<Vec<(&str, u32)>> {
        self.saved.keep.as_ref().filter(|kept| *kept == state)?;
        let kept = self.terms.outputs.iter().filter(|output| output.to == Destination::State);
        Some(kept.map(|output| (&output.port.name[..], output.port.width())).collect())
    }

    /// The servers' plan.
    pub(crate) fn base(&self) -> &Arc<B> {
        &self.base
    }

    /// The order of gates, on which servers must agree.
    pub(crate) fn schedule(&self) -> ScheduleDigest {
        self.base.schedule()
    }

    /// The program; inputs read from states belong to no party.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The clients with the positions of their dealt bits.
    pub(crate) fn clients(&self) -> impl ExactSizeIterator<Item = (Party, &Dealt)> {
        self.clients.iter().enumerate().map(|(at, dealt)| (Party(at as u16 + 1), dealt))
    }

    /// The last party.
    pub(crate) fn cloud(&self) -> Party {
        Party(self.clients.len() as u16 + 1)
    }

    /// The party that is a server.
    pub(crate) fn party(&self, server: Server) -> Party {
        match server {
            Server::Generator => GENERATOR,
            Server::Cloud => self.cloud(),
        }
    }

    /// The server that a party is; `None` for clients.
    pub fn server(&self, party: Party) -> Option<Server> {
        Server::BOTH.into_iter().find(|&server| self.party(server) == party)
    }

    /// A server's hello to the other about its store, if it has one, and whether a run makes what the store lacks.
    pub(crate) fn servers_hello(&self, server: Server, top_up: Option<bool>) -> Hello {
        let seat = if server == Server::Generator { GARBLER } else { EVALUATOR };
        let hello = Hello::new(NAME, seat.0, SERVERS, *self.outline().digest()).with(SCHEDULE, self.schedule());
        hello.with("store", yes_or_no(top_up.is_some())).with("top-up", yes_or_no(top_up.unwrap_or_default()))
    }

    /// The number of bits of the hash of a share.
    pub(crate) fn hash_bits(&self) -> usize {
        self.terms.statistical.hash_bits()
    }

    /// The security stated to a client, which does not see what servers take from stores: at best the bound that all batches keep.
    pub(crate) fn stated(&self) -> Security {
        let made = self.made();
        let bound = made.statistical_bits.filter(|_| B::STORES).map_or(f64::NEG_INFINITY, |bits| -bits);
        Security { cheating_log2: made.cheating_log2.map(|log2| log2.max(bound)), ..made }
    }

    /// The security of a run whose material is all made for it.
    fn made(&self) -> Security {
        self.security(self.base.security())
    }

    /// The security of a run, from the security of the servers' run.
    pub(crate) fn security(&self, servers: Security) -> Security {
        // One server changes bits of any number of clients, and all hashes have to match.
        let hashes = (-(self.hash_bits() as f64)).exp2();
        let log2 = (servers.cheating_log2.map_or(0.0, f64::exp2) + hashes).log2();
        let cheating_log2 = B::BINDS.then_some(log2);
        Security { cheating_log2, collusion: Some(Collusion::BothServers), ..servers }
    }
}

/// The outputs to keep: all of the result that nobody learns.
///
/// *Errors*: no such output although one is to be kept; more than a store takes.
fn kept(program: &Program, keeps: bool) -> Result<Vec<usize>, ProtocolError> {
    if !keeps {
        return Ok(Vec::new());
    }
    let nobodys = |to: &Recipients| matches!(to, Recipients::Only(parties) if parties.is_empty());
    let outputs = program.outputs().iter().enumerate().filter(|(at, _)| !program.notes().tells_panics(*at));
    let kept: Vec<usize> = outputs.filter(|(_, output)| nobodys(&output.recipients)).map(|(at, _)| at).collect();
    if kept.is_empty() {
        let (what, expected) = ("to keep".into(), "an output that nobody learns (`--to OUTPUT=nobody`)".into());
        return Err(ProtocolError::Input { what, expected, got: "none".into() });
    }
    let bits: u64 = kept.iter().map(|&at| u64::from(program.outputs()[at].port.width())).sum();
    if bits > KEPT_BITS_MAX {
        let (expected, got) = (format!("at most {KEPT_BITS_MAX} bits"), format!("{bits} bits"));
        return Err(ProtocolError::Input { what: "to keep".into(), expected, got });
    }
    Ok(kept)
}

/// The terms of parties that know each other by their numbers in a session, whose links prove their identities.
fn terms(program: &Program, parties: u16, (saved, read, kept): (&SavedValues, &[usize], &[usize])) -> Terms {
    let identity = |party: u16| Identity(*blake3::hash(&party.to_le_bytes()).as_bytes());
    let clients = (1..parties - 1).map(identity).collect();
    let mut terms = Terms::of(program, identity(0), clients, identity(parties - 1));
    for (&input, ReadInput { name, output, .. }) in read.iter().zip(&saved.read) {
        let output = output.clone().unwrap_or_else(|| ONLY.into());
        terms.inputs[input].origin = Origin::State { state: name.clone(), output, version: 0 };
    }
    kept.iter().for_each(|&output| terms.outputs[output].to = Destination::State);
    terms.keeps = saved.keep.clone().map(|state| Kept { state, version: 0 });
    terms
}

/// The standing of a state, from the standings of all in order.
fn standing_of(states: &[String], standings: &[Standing], name: &str) -> Standing {
    states.iter().position(|state| state == name).and_then(|at| standings.get(at)).copied().unwrap_or_default()
}

/// The job from terms, with the current states.
fn job(
    program: &Program,
    terms: &Terms,
    (states, standings): (&[String], &[Standing]),
    label: String,
) -> Result<Job, ProtocolError> {
    let mut terms = Terms { label, ..terms.clone() };
    for input in &mut terms.inputs {
        if let Origin::State { state, version, .. } = &mut input.origin {
            *version = standing_of(states, standings, state).version;
        }
    }
    if let Some(Kept { state, version }) = &mut terms.keeps {
        *version = standing_of(states, standings, state).version.saturating_add(1);
    }
    Job::new(terms).map_err(|error| ProtocolError::Unsupported {
        protocol: NAME,
        program: program.name().into(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use garblet_circuit::{Circuit, Component, Gate, Port, Type, Wire};

    use super::*;

    /// A chain of AND gates of two bits, each a client's.
    fn chain(ands: u32) -> Arc<Program> {
        let gates = (0..ands).map(|gate| Gate::And(Wire(gate), Wire(gate + 1))).collect();
        let circuit = Circuit::new(2, gates, vec![Wire(ands + 1)]).expect("a circuit");
        let port = |name: &str| Port::new(name, Type::Bits(1));
        let component = Component::new("chain", vec![port("x"), port("y")], vec![port("z")], circuit);
        Arc::new(Program::from_component(component.expect("it fits"), &[Party(1), Party(1)]).expect("a program"))
    }

    #[test]
    fn the_stated_security_of_a_run_keeps_the_bound_for_any_number_of_clients() {
        for statistical in [Statistical::Forty, Statistical::SixtyFour, Statistical::Eighty] {
            for bucket in 4..=8 {
                let least = base::parameters::Batch::least(bucket, statistical, 2).min(20_000) as u32;
                let program = chain(least);
                for parties in [3, PARTIES_MAX] {
                    let config = Config { statistical, ..Config::default() };
                    let plan =
                        Plan::new(program.clone(), parties, config, SavedValues::default()).expect("it can be run");
                    let stated = plan.made().cheating_log2.expect("it is stated");
                    // The contribution of the sum checks is too small to be printed.
                    let bound = -f64::from(statistical.bits());
                    assert!(stated < bound + 1e-4, "{stated}, {least} gates, {parties} parties");
                    assert!(plan.stated().cheating_log2.is_some_and(|of_client| of_client >= bound));
                }
            }
        }
    }

    #[test]
    fn positions_of_dealt_bits_follow_the_order_of_the_base_and_of_the_job() {
        let mut program = (*chain(3)).clone();
        program.set_owner(InputId(0), Party(2));
        program.set_recipients(0, Recipients::Only(vec![Party(0), Party(2), Party(3)]));
        let plan = Plan::new(Arc::new(program), 5, Config::default(), SavedValues::default()).expect("it can be run");
        let places: Vec<Vec<Range<usize>>> = plan.clients().map(|(_, dealt)| dealt.all().collect()).collect();
        // Inputs x of party 2 and y of party 1; pads of parties 2 and 3; 48 bits that hide hashes for each.
        assert_eq!(places, [vec![1..2, 2..2, 4..52], vec![0..1, 2..3, 52..100], vec![3..4, 100..148]]);
        assert_eq!(plan.server(Party(4)), Some(Server::Cloud));
    }
}
