//! Agreements of two servers that answer clients, as they are written: TOML.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use garblet::{
    Protocol, SavedValues,
    outsourced::{
        Base, Form, Limits, NAME,
        service::{Agreement, Offer, ServiceId},
    },
};
use garblet_circuit::Party;
use garblet_client::Identity;
use garblet_net::DEFAULT_TIMEOUT;
use serde::Deserialize;

use crate::{
    args::{Constant, Owner, Param, ProgramArgs, ProgramChanges, Switch, To},
    failure::Failure,
    hex::{from_hex, to_hex},
    hints::explain,
    program,
    settings::Settings,
    stock::read_input,
};

/// The word for all clients.
const ANYBODY: &str = "*";

/// An agreement file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// 32 hexadecimal digits, new with every new store.
    service: Option<String>,
    generator: WrittenServer,
    cloud: WrittenServer,
    clients: Vec<String>,
    #[serde(default)]
    parameters: BTreeMap<String, toml::Value>,
    #[serde(default, rename = "state")]
    states: BTreeMap<String, WrittenLimits>,
    #[serde(rename = "program")]
    programs: Vec<WrittenProgram>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenServer {
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLimits {
    retries: Option<u32>,
    reads: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenProgram {
    name: String,
    source: String,
    #[serde(default)]
    clients: Option<Vec<Names>>,
    /// The constant that is the number of the one client.
    numbered: Option<String>,
    #[serde(default, rename = "const")]
    constants: BTreeMap<String, toml::Value>,
    #[serde(default)]
    owner: BTreeMap<String, u16>,
    #[serde(default)]
    to: BTreeMap<String, toml::Value>,
    panics: Option<bool>,
    #[serde(default)]
    read: Vec<String>,
    keep: Option<String>,
    #[serde(default)]
    first: bool,
}

/// One name, or several of which one is meant.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

/// Reads an agreement, and makes all its programs ready.
///
/// *Errors*: a file that is no agreement, programs that cannot be read or run.
pub(crate) fn load(path: &Path) -> Result<Agreement, Failure> {
    let place = path.display();
    let wrong = |what: String| Failure::call(format!("{place}: {what}"));
    let text = std::fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
    let written: Written = toml::from_str(&text).map_err(|error| wrong(error.to_string().trim_end().into()))?;
    let service = written.service.as_deref().and_then(service).ok_or_else(|| {
        let got = written.service.as_ref().map_or("nothing".into(), |text| format!("`{text}`"));
        let random: [u8; 16] = rand::random();
        wrong(format!("service: expected 32 hexadecimal digits, got {got}")).hint(format!(
            "write `service = \"{}\"` above the first table, at both servers and for all clients; whenever a server begins with another store, take new \
             digits, or what clients have sent before could be run again",
            to_hex(&random)
        ))
    })?;
    let servers = [("generator", &written.generator), ("cloud", &written.cloud)];
    let keys = servers.map(|(name, server)| {
        key(&server.key).ok_or_else(|| {
            wrong(format!("{name}: key: expected 64 hexadecimal digits, got `{}`", server.key))
                .hint("`garblet id --json` of that server prints its public key")
        })
    });
    let [generator, cloud] = keys;
    let limits = written.states.iter().map(|(name, limits)| (name.clone(), limits.limits())).collect();
    let protocol: Protocol = NAME.parse().map_err(Failure::call)?;
    let params = written.parameters.iter().map(|(name, value)| Param { name: name.clone(), value: text_of(value) });
    let config = Settings::of(protocol, params.collect(), DEFAULT_TIMEOUT).config()?;
    let config = match config.get::<garblet::outsourced::Outsourced>() {
        Some(config) if config.form != Form::Shares => {
            return Err(wrong("form: expected shares, got another".into()));
        }
        Some(config) if config.base != Base::Authenticated => {
            return Err(wrong("base: expected authenticated, got another".into()).hint(
                "servers that wait for clients keep what they prepare in stores, which other bases have no use for",
            ));
        }
        Some(config) => config.shares,
        None => return Err(wrong(format!("{NAME} is not there"))),
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut offers = Vec::new();
    for program in &written.programs {
        let place = |failure: Failure| Failure {
            message: format!("{place}: program `{}`: {}", program.name, failure.message),
            ..failure
        };
        offers.extend(program.offers(folder, &written.clients).map_err(place)?);
    }
    Agreement::new(service, [generator?, cloud?], written.clients, offers, limits, config).map_err(|error| {
        let failure = explain(&error);
        Failure { message: format!("{}: {}", path.display(), failure.message), ..failure }
    })
}

impl WrittenLimits {
    fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits { retries: self.retries.unwrap_or(default.retries), reads: self.reads }
    }
}

impl WrittenProgram {
    /// The program, once, or if it is numbered, once for each client, with a point and the client's name behind its own.
    fn offers(&self, folder: &Path, all: &[String]) -> Result<Vec<Offer>, Failure> {
        let clients = self.clients.clone().unwrap_or_else(|| vec![Names::One(ANYBODY.into())]);
        let clients: Vec<Vec<String>> = clients.into_iter().map(|names| names.of(all)).collect();
        let Some(constant) = &self.numbered else {
            return Ok(vec![self.offer(folder, self.name.clone(), clients, None)?]);
        };
        let [may] = &clients[..] else {
            return Err(Failure::call(format!("numbered: expected one client, got {}", clients.len())));
        };
        let numbered = |name: &String| {
            let number = all.iter().position(|client| client == name).unwrap_or_default();
            let number = Constant::Value(constant.clone(), number.to_string());
            self.offer(folder, format!("{}.{name}", self.name), vec![vec![name.clone()]], Some(number))
        };
        may.iter().map(numbered).collect()
    }

    fn offer(
        &self,
        folder: &Path,
        name: String,
        clients: Vec<Vec<String>>,
        number: Option<Constant>,
    ) -> Result<Offer, Failure> {
        let constants = self.constants.iter().map(|(name, value)| Constant::Value(name.clone(), text_of(value)));
        let owner = |(input, party): (&String, &u16)| Owner { input: input.clone(), party: Party(*party) };
        let to = |(output, to): (&String, &toml::Value)| {
            format!("{output}={}", text_of(to)).parse::<To>().map_err(|what| Failure::call(format!("to: {what}")))
        };
        let changes = ProgramChanges {
            owners: self.owner.iter().map(owner).collect(),
            recipients: self.to.iter().map(to).collect::<Result<_, _>>()?,
            constants: constants.chain(number).collect(),
            panics: Switch(self.panics.unwrap_or(true)),
            rows: None,
        };
        let source = match self.source.starts_with("lib:") {
            true => PathBuf::from(&self.source),
            false => folder.join(&self.source),
        };
        let args = ProgramArgs { program: source.display().to_string(), changes };
        let read = |text: &String| read_input(text).map_err(|what| Failure::call(format!("read: {what}")));
        let read = self.read.iter().map(read).collect::<Result<_, _>>()?;
        let saved = SavedValues { keep: self.keep.clone(), read };
        let program = Arc::new(program::load_quietly(&args)?);
        Ok(Offer { name, program, clients, saved, first: self.first })
    }
}

impl Names {
    fn of(self, all: &[String]) -> Vec<String> {
        match self {
            Names::One(name) if name == ANYBODY => all.to_vec(),
            Names::One(name) => vec![name],
            Names::Several(names) => names,
        }
    }
}

/// A public key of 64 hexadecimal digits.
fn key(text: &str) -> Option<Identity> {
    from_hex(text)?.try_into().ok().map(Identity)
}

/// The value of a service, of 32 hexadecimal digits.
fn service(text: &str) -> Option<ServiceId> {
    from_hex(text)?.try_into().ok().map(ServiceId)
}

/// A value as the command line has it.
fn text_of(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
