//! The terms of a job, and the rules that they must satisfy.

use std::collections::{HashMap, HashSet};
use std::fmt;

use garblet_circuit::{Party, Port, Program, Recipients, Type, diagnostic::clip};

use super::{CLIENT_BITS_MAX, CLIENTS_MAX, JobError};
use crate::shown::{NAME_BYTES_MAX, SHOWN, is_shown};

/// The most bytes of the label.
pub(super) const LABEL_BYTES_MAX: usize = 1024;
/// The most bytes of a type's text.
pub(super) const TYPE_BYTES_MAX: usize = 1 << 14;
/// The most ports of a side, and the most parameters.
pub(super) const PORTS_MAX: usize = 1 << 12;

/// Separates identities of clients from all other uses of BLAKE3.
const CLIENT_CONTEXT: &str = "garblet 2026 outsourced client v1";

/// The bytes by which jobs name a party: a server's public key (Ed25519), or a digest of a client's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity(pub [u8; 32]);

impl Identity {
    /// The identity of the client that servers know by this name; the same at both servers.
    pub fn of_client(name: &str) -> Self {
        Identity(blake3::derive_key(CLIENT_CONTEXT, name.as_bytes()))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The bound on undetected cheating: `2^-bits` for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistical {
    /// 2^-40.
    Forty,
    /// 2^-64.
    SixtyFour,
    /// 2^-80.
    Eighty,
}

impl Statistical {
    /// All bounds.
    pub const ALL: [Statistical; 3] = [Statistical::Forty, Statistical::SixtyFour, Statistical::Eighty];

    /// Bits of the bound.
    pub fn bits(self) -> u8 {
        match self {
            Statistical::Forty => 40,
            Statistical::SixtyFour => 64,
            Statistical::Eighty => 80,
        }
    }

    /// Bits of the hash of a share: eight more, so that many clients together nearly keep the bound.
    pub fn hash_bits(self) -> usize {
        usize::from(self.bits()) + 8
    }
}

/// The origin of an input's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A party gives it.
    Party(Party),
    /// An earlier run kept it.
    State {
        /// The name of the state.
        state: String,
        /// The output of that run.
        output: String,
        /// The version that is read.
        version: u64,
    },
}

/// The use of an output's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Parties learn it.
    Parties(Recipients),
    /// It stays with the servers for later runs.
    State,
}

impl Destination {
    /// Returns whether that party learns the output.
    pub fn contains(&self, party: Party) -> bool {
        matches!(self, Destination::Parties(recipients) if recipients.contains(party))
    }
}

/// An input of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInput {
    /// Name and type.
    pub port: Port,
    /// The origin of its value.
    pub origin: Origin,
}

/// An output of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutput {
    /// Name and type.
    pub port: Port,
    /// The use of its value.
    pub to: Destination,
}

/// The state that a run makes of its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The name of the state.
    pub state: String,
    /// The version that it will have, from 1.
    pub version: u64,
}

/// The whole agreement of a run, as it is written and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The digest of the program ([`Program::digest`]).
    pub program: [u8; 32],
    /// Its inputs, in order.
    pub inputs: Vec<JobInput>,
    /// Its outputs, in order.
    pub outputs: Vec<JobOutput>,
    /// Party 0.
    pub generator: Identity,
    /// Parties 1 to k.
    pub clients: Vec<Identity>,
    /// Party k + 1.
    pub cloud: Identity,
    /// The bound on undetected cheating.
    pub statistical: Statistical,
    /// Form, base, check and other parameters of the servers, by name in ascending order.
    pub parameters: Vec<(String, String)>,
    /// The state that the run makes.
    pub keeps: Option<Kept>,
    /// A label for people to tell jobs apart.
    pub label: String,
}

impl Terms {
    /// The terms of a program without states and with default parameters.
    pub fn of(program: &Program, generator: Identity, clients: Vec<Identity>, cloud: Identity) -> Self {
        let input =
            |input: &garblet_circuit::Input| JobInput { port: input.port.clone(), origin: Origin::Party(input.owner) };
        let output = |output: &garblet_circuit::Output| JobOutput {
            port: output.port.clone(),
            to: Destination::Parties(output.recipients.clone()),
        };
        Terms {
            program: program.digest(),
            inputs: program.inputs().iter().map(input).collect(),
            outputs: program.outputs().iter().map(output).collect(),
            generator,
            clients,
            cloud,
            statistical: Statistical::Forty,
            parameters: Vec::new(),
            keeps: None,
            label: String::new(),
        }
    }

    /// Moves the terms to the version that a state has now, zero before the first: what is read of it is read at that version, and
    /// what is kept in it makes the next one. Terms that do not name the state stay as they are.
    pub fn at_version(mut self, name: &str, now: u64) -> Self {
        for input in &mut self.inputs {
            if let Origin::State { state, version, .. } = &mut input.origin
                && state == name
            {
                *version = now;
            }
        }
        if let Some(kept) = self.keeps.as_mut().filter(|kept| kept.state == name) {
            kept.version = now.saturating_add(1);
        }
        self
    }

    /// Checks everything but the size of the encoding.
    pub(super) fn check(&self) -> Result<(), JobError> {
        self.check_parties()?;
        let inputs = self.inputs.iter().map(|input| &input.port);
        let outputs = self.outputs.iter().map(|output| &output.port);
        check_ports("input", inputs.clone())?;
        check_ports("output", outputs)?;
        self.check_owners()?;
        self.check_states()?;
        self.check_widths()?;
        let ascending = self.parameters.is_sorted_by(|(a, _), (b, _)| a < b);
        check(ascending, || "parameters", || "names in ascending order, each once", || "another order".into())?;
        at_most("parameters", self.parameters.len(), PORTS_MAX)?;
        for (name, value) in &self.parameters {
            check_text(|| "name of a parameter".into(), name, 1, NAME_BYTES_MAX)?;
            check_text(|| format!("parameter `{name}`"), value, 0, NAME_BYTES_MAX)?;
        }
        check_text(|| "label".into(), &self.label, 0, LABEL_BYTES_MAX)
    }

    fn check_parties(&self) -> Result<(), JobError> {
        let clients = self.clients.len();
        check((1..=CLIENTS_MAX).contains(&clients), || "clients", || "1 to 16384", || clients.to_string())?;
        let mut known = HashSet::with_capacity(clients + 2);
        let mut all = self.clients.iter().chain([&self.generator, &self.cloud]);
        match all.find(|identity| !known.insert(**identity)) {
            Some(twice) => {
                Err(wrong("identities of the parties".into(), "each once", format!("{twice:?} more than once")))
            }
            None => Ok(()),
        }
    }

    fn check_owners(&self) -> Result<(), JobError> {
        let last = self.clients.len() as u16 + 1;
        let known = |party: Party, what: &dyn Fn() -> String| match party.0 <= last {
            true => Ok(()),
            false => Err(wrong(what(), format!("a party from 0 to {last}"), party.to_string())),
        };
        for input in &self.inputs {
            if let Origin::Party(owner) = input.origin {
                known(owner, &|| format!("owner of input `{}`", input.port.name))?;
            }
        }
        for output in &self.outputs {
            let Destination::Parties(Recipients::Only(parties)) = &output.to else { continue };
            let what = || format!("recipients of output `{}`", output.port.name);
            let ascending = parties.is_sorted_by(|a, b| a < b);
            check(ascending, what, || "parties in ascending order, each once", || "another order".into())?;
            parties.iter().try_for_each(|party| known(*party, &what))?;
        }
        Ok(())
    }

    fn check_states(&self) -> Result<(), JobError> {
        let mut versions: HashMap<&str, u64> = HashMap::new();
        for input in &self.inputs {
            let Origin::State { state, output, version } = &input.origin else { continue };
            check_text(|| format!("state of input `{}`", input.port.name), state, 1, NAME_BYTES_MAX)?;
            check_text(|| format!("kept output of input `{}`", input.port.name), output, 1, NAME_BYTES_MAX)?;
            let first = *versions.entry(state).or_insert(*version);
            let one = *version == first && *version > 0;
            let what = || format!("version of state `{state}`");
            check(one, what, || "one version, from 1", || format!("{first} and {version}"))?;
        }
        let to_state = self.outputs.iter().any(|output| output.to == Destination::State);
        let keeps = if self.keeps.is_some() { "a state that is kept" } else { "none" };
        check(to_state == self.keeps.is_some(), || "outputs", || "outputs for a state with a state", || keeps.into())?;
        let Some(kept) = &self.keeps else { return Ok(()) };
        check_text(|| "name of the kept state".into(), &kept.state, 1, NAME_BYTES_MAX)?;
        let fits = match versions.get(&kept.state[..]) {
            Some(read) => read.checked_add(1) == Some(kept.version),
            None => kept.version > 0,
        };
        let what = || format!("version of kept state `{}`", kept.state);
        check(fits, what, || "one more than is read, from 1", || kept.version.to_string())
    }

    fn check_widths(&self) -> Result<(), JobError> {
        let mut inputs = HashMap::new();
        for input in &self.inputs {
            if let Origin::Party(owner) = input.origin {
                let bits = inputs.entry(owner).or_insert(0u64);
                *bits = bits.saturating_add(input.port.ty.width());
            }
        }
        // All outputs together: no client learns more.
        let outputs = self.outputs.iter().fold(0u64, |bits, output| bits.saturating_add(output.port.ty.width()));
        let most = inputs.into_values().max().unwrap_or(0).max(outputs);
        let expected = || format!("at most {CLIENT_BITS_MAX} of a party");
        check(most <= CLIENT_BITS_MAX, || "input or output bits", expected, || most.to_string())
    }
}

fn check_ports<'a>(side: &str, ports: impl ExactSizeIterator<Item = &'a Port>) -> Result<(), JobError> {
    at_most(&format!("{side}s"), ports.len(), PORTS_MAX)?;
    let mut names = HashSet::new();
    for port in ports {
        check_text(|| format!("name of an {side}"), &port.name, 1, NAME_BYTES_MAX)?;
        let what = || format!("{side} `{}`", port.name);
        check(names.insert(&port.name), what, || "a unique name", || "the same name twice".into())?;
        let text = port.ty.to_string();
        check_text(|| format!("type of {}", what()), &text, 1, TYPE_BYTES_MAX)?;
        let read = text.parse::<Type>().is_ok_and(|read| read == port.ty);
        check(read, || format!("type of {}", what()), || "a type that can be read back", || clip(&text))?;
    }
    Ok(())
}

fn check_text(what: impl Fn() -> String, text: &str, least: usize, most: usize) -> Result<(), JobError> {
    let fits = (least..=most).contains(&text.len());
    check(fits, &what, || format!("{least} to {most} bytes"), || text.len().to_string())?;
    check(is_shown(text), &what, || SHOWN, || clip(&text.escape_default().to_string()))
}

fn at_most(what: &str, got: usize, most: usize) -> Result<(), JobError> {
    check(got <= most, || what, || format!("at most {most}"), || got.to_string())
}

fn check<W: Into<String>, E: Into<String>>(
    holds: bool,
    what: impl Fn() -> W,
    expected: impl Fn() -> E,
    got: impl Fn() -> String,
) -> Result<(), JobError> {
    if holds { Ok(()) } else { Err(wrong(what().into(), expected(), got())) }
}

fn wrong(what: String, expected: impl Into<String>, got: String) -> JobError {
    JobError::Terms { what, expected: expected.into(), got }
}
