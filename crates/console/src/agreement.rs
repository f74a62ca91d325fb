//! Agreement files (TOML) of two servers that answer clients.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use garblet::{
    Party, Program, SavedValues,
    circuit::{Input, Output},
    net::{check_is_file, check_stated_format, read_small_file, toml_words},
    outsourced::{
        Base, Config, Form, Limits,
        agreement::{Agreement, Offer, ServiceId},
    },
};
use garblet_client::Identity;
use serde::Deserialize;
use toml::Spanned;

use crate::{
    args::{Constant, NOBODY, Owner, Param, ProgramArgs, To},
    failure::Failure,
    hex::{from_hex, to_hex},
    hints::explain,
    program,
    written::{Table, WrittenChanges, line_at, parameters, program_in, read_input},
};

/// The newest format of agreement files.
const FORMAT: u32 = 1;

/// The largest accepted file.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The words for servers, which an agreement does not number.
const GENERATOR: &str = "generator";
const CLOUD: &str = "cloud";
/// The word for all clients.
const ANYBODY: &str = "*";

/// An agreement file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "format")]
    _format: Option<u32>,
    /// 32 hexadecimal digits, new with every new store.
    service: Option<String>,
    generator: WrittenServer,
    cloud: WrittenServer,
    clients: Vec<String>,
    #[serde(default)]
    parameters: Table,
    #[serde(default, rename = "state")]
    states: BTreeMap<String, WrittenLimits>,
    #[serde(rename = "program")]
    programs: Vec<Spanned<WrittenProgram>>,
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
    /// The constant that holds the client's number.
    numbered: Option<String>,
    #[serde(default, rename = "const")]
    constants: Table,
    /// The owner of each input that is not read from a state.
    #[serde(default)]
    owner: BTreeMap<String, Spanned<toml::Value>>,
    /// The parties that learn each output.
    #[serde(default)]
    to: BTreeMap<String, Spanned<toml::Value>>,
    function: Option<String>,
    panics: Option<bool>,
    #[serde(default)]
    as_it_is: bool,
    #[serde(default)]
    read: Vec<String>,
    keep: Option<String>,
    #[serde(default)]
    first: bool,
}

/// One name, or a choice of several.
#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a name in quotes, or a list of them")]
enum Names {
    One(String),
    Several(Vec<String>),
}

/// Reads an agreement and prepares all its programs.
///
/// *Errors*: the file is not an agreement; a program cannot be read or run.
pub fn load(path: &Path) -> Result<Agreement, Failure> {
    let text = read_small_file(path, FILE_BYTES_MAX).map_err(|error| Failure::unreadable(path, &error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    of_text(path, &text, &|source| {
        let source = program_in(folder, source);
        let file = Path::new(&source);
        // The agreement may name a pipe or an endless device.
        if file.exists() {
            check_is_file(file).map_err(|error| Failure::unreadable(file, &error))?;
        }
        Ok(Source { name: source, content: None })
    })
}

/// A program as [`of_text`] reads it.
pub struct Source {
    /// The name of its file, which says what kind of program it is, or `lib:NAME`.
    pub name: String,
    /// The content of the file, unless it is to be read from there, or is of the library.
    pub content: Option<Vec<u8>>,
}

/// Finds the program that an agreement names.
///
/// *Errors*: there is none of that name.
pub type Find<'a> = &'a dyn Fn(&str) -> Result<Source, Failure>;

/// The same from the agreement's text, which messages call `path`.
///
/// *Errors*: as [`load`].
pub fn of_text(path: &Path, text: &str, find: Find<'_>) -> Result<Agreement, Failure> {
    let place = path.display();
    let wrong = |what: String| Failure::call(format!("{place}: {what}"));
    check_stated_format(text, FORMAT).map_err(|other| Failure::other_format(path, other))?;
    let written: Written = toml::from_str(text).map_err(|error: toml::de::Error| {
        let line = error.span().map_or(String::new(), |span| format!(":{}", line_at(text, span.start)));
        Failure::call(format!("{place}{line}: {}", toml_words(&error)))
            .hint("the book's chapter on outsourced lists every field")
    })?;
    let service = written.service.as_deref().and_then(service).ok_or_else(|| {
        let got = written.service.as_ref().map_or("nothing".into(), |text| format!("`{text}`"));
        let random: [u8; 16] = rand::random();
        wrong(format!("service: expected 32 hexadecimal digits, got {got}")).hint(format!(
            "write `service = \"{}\"` above the first table, for both servers and all clients; whenever a server starts with a new store, draw new \
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
    let config =
        written.config().map_err(|failure| Failure { message: format!("{place}: {}", failure.message), ..failure })?;
    let mut offers = Vec::new();
    for program in &written.programs {
        let (at, program) = (program.span().start, program.get_ref());
        let wrong = |Wrong(offset, failure): Wrong| {
            let line = line_at(text, offset.unwrap_or(at));
            let message = format!("{place}:{line}: program `{}`: {}", program.name, failure.message);
            Failure { message, ..failure }
        };
        offers.extend(program.offers(find, &written.clients).map_err(wrong)?);
    }
    Agreement::new(service, [generator?, cloud?], written.clients, offers, limits, config.shares).map_err(|error| {
        let failure = explain(&error);
        Failure { message: format!("{}: {}", path.display(), failure.message), ..failure }
    })
}

impl Written {
    /// The parameters of the servers' runs.
    ///
    /// *Errors*: unknown ones, or those of other forms.
    fn config(&self) -> Result<Config, Failure> {
        let mut config = Config::default();
        for Param { name, value } in parameters(&self.parameters) {
            config.set(&name, &value).map_err(|error| Failure::call(format!("parameters: {error}")))?;
        }
        match config {
            Config { form: Form::PartialGc, .. } => Err(Failure::call("form: expected shares, got another")),
            Config { base: Base::CutAndChoose | Base::Yao, .. } => {
                Err(Failure::call("base: expected authenticated, got another")
                    .hint("servers for clients prepare material in stores, and no other base uses stores"))
            }
            config => Ok(config),
        }
    }
}

impl WrittenLimits {
    fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits { retries: self.retries.unwrap_or(default.retries), reads: self.reads }
    }
}

impl WrittenProgram {
    /// The program once; if it is numbered, once for each client, named `PROGRAM.CLIENT`.
    fn offers(&self, find: Find<'_>, all: &[String]) -> Result<Vec<Offer>, Wrong> {
        let clients = self.clients.clone().unwrap_or_else(|| vec![Names::One(ANYBODY.into())]);
        let clients: Vec<Vec<String>> = clients.into_iter().map(|names| names.of(all)).collect();
        let Some(constant) = &self.numbered else {
            return Ok(vec![self.offer(find, self.name.clone(), clients, None)?]);
        };
        let [may] = &clients[..] else {
            return Err(Failure::call(format!("numbered: expected one client, got {}", clients.len())).into());
        };
        let numbered = |name: &String| {
            let number = all.iter().position(|client| client == name).unwrap_or_default();
            let number = Constant::Value(constant.clone(), number.to_string());
            self.offer(find, format!("{}.{name}", self.name), vec![vec![name.clone()]], Some(number))
        };
        may.iter().map(numbered).collect()
    }

    fn offer(
        &self,
        find: Find<'_>,
        name: String,
        clients: Vec<Vec<String>>,
        number: Option<Constant>,
    ) -> Result<Offer, Wrong> {
        let WrittenProgram { constants, panics, as_it_is, .. } = self;
        let (panics, as_it_is) = (*panics, *as_it_is);
        let function = self.function.as_deref();
        let (owner, to) = (&BTreeMap::new(), &Table::new());
        let mut changes =
            WrittenChanges { ports: None, reversed: &[], constants, owner, to, function, panics, as_it_is }.read()?;
        changes.constants.extend(number);
        for (input, owner) in &self.owner {
            let party = one_party(owner.get_ref(), clients.len()).map_err(|got| {
                let expected = parties_text(clients.len());
                Wrong(
                    Some(owner.span().start),
                    Failure::call(format!("owner: `{input}`: expected {expected}, got {got}")),
                )
            })?;
            changes.owners.push(Owner { input: input.clone(), party });
        }
        for (output, to) in &self.to {
            let parties = learners(to.get_ref(), clients.len()).map_err(|got| {
                let expected = parties_text(clients.len());
                let message = format!("to: `{output}`: expected {expected}, a list of these, or `{NOBODY}`, got {got}");
                let hint = "write clients as numbers, in the order of the program's `clients`, and servers as names";
                Wrong(Some(to.span().start), Failure::call(message).hint(hint))
            })?;
            changes.recipients.push(To { output: output.clone(), parties: Some(parties) });
        }
        let Source { name: file, content } = find(&self.source)?;
        let args = ProgramArgs { program: file, changes };
        let read = |text: &String| read_input(text).map_err(|what| Failure::call(format!("read: {what}")));
        let read = self.read.iter().map(read).collect::<Result<_, _>>()?;
        let saved = SavedValues { keep: self.keep.clone(), read };
        let program = match content {
            None => program::load_quietly(&args)?,
            Some(content) => program::read_quietly(&args, &content)?,
        };
        let program = Arc::new(program);
        self.check_all_named(&program, &saved)?;
        Ok(Offer { name, program, clients, saved, first: self.first })
    }
}

/// A mistake in a program, with its place in the text if known; otherwise the program's place applies.
struct Wrong(Option<usize>, Failure);

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Self {
        Wrong(None, failure)
    }
}

impl WrittenProgram {
    /// Checks that the agreement names the owner of each input that is not read, and the recipients of each output. A source's own defaults are meant for
    /// parties that compute themselves, and would reveal outputs to the servers.
    fn check_all_named(&self, program: &Program, saved: &SavedValues) -> Result<(), Failure> {
        for Input { port, .. } in program.inputs() {
            let is_read = saved.read.iter().any(|read| read.port == port.name);
            if !is_read && !self.owner.contains_key(&port.name) {
                let message = format!("owner: `{}`: expected the owner of this input, got nothing", port.name);
                return Err(Failure::call(message).hint(format!(
                    "write `owner = {{ {} = 1 }}` for the first client, or \"{GENERATOR}\" or \"{CLOUD}\"; or read it from a state",
                    port.name
                )));
            }
        }
        for (_, Output { port, .. }) in garblet::results(program) {
            if !self.to.contains_key(&port.name) {
                let message = format!("to: `{}`: expected the recipients of this output, got nothing", port.name);
                return Err(Failure::call(message).hint(format!(
                    "write `to = {{ {} = \"{NOBODY}\" }}`, or numbers of clients, \"{GENERATOR}\" or \"{CLOUD}\"; both servers would learn an output that is left out",
                    port.name
                )));
            }
        }
        Ok(())
    }
}

/// The allowed names for a program with this number of clients.
fn parties_text(clients: usize) -> String {
    let numbers = if clients == 1 { "1, the client".into() } else { format!("a client from 1 to {clients}") };
    format!("{numbers}, `{GENERATOR}` or `{CLOUD}`")
}

/// The party that a value names. *Errors*: the value, if it names no party.
fn one_party(value: &toml::Value, clients: usize) -> Result<Party, String> {
    match value {
        toml::Value::String(name) if name == GENERATOR => Ok(Party(0)),
        toml::Value::String(name) if name == CLOUD => Ok(Party(clients as u16 + 1)),
        toml::Value::Integer(number) if (1..=clients as i64).contains(number) => Ok(Party(*number as u16)),
        other => Err(other.to_string()),
    }
}

/// The parties that a value names: one, a list, or nobody. *Errors*: the part that names no party.
fn learners(value: &toml::Value, clients: usize) -> Result<Vec<Party>, String> {
    let mut parties = match value {
        toml::Value::String(name) if name == NOBODY => Vec::new(),
        toml::Value::Array(values) if !values.is_empty() => {
            values.iter().map(|value| one_party(value, clients)).collect::<Result<_, _>>()?
        }
        value => vec![one_party(value, clients)?],
    };
    parties.sort_unstable();
    parties.dedup();
    Ok(parties)
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

/// Parses a public key of 64 hexadecimal digits.
fn key(text: &str) -> Option<Identity> {
    from_hex(text)?.try_into().ok().map(Identity)
}

/// Parses a service's value of 32 hexadecimal digits.
fn service(text: &str) -> Option<ServiceId> {
    from_hex(text)?.try_into().ok().map(ServiceId)
}
