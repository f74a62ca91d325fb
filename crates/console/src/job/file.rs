//! Job files: TOML.

use std::{collections::BTreeMap, num::NonZeroU32, path::Path};

use garblet::{
    Config, Party, Protocol,
    circuit::diagnostic::controls_terminal,
    formats::value::KeyForm,
    net::{Fingerprint, check_stated_format, toml_words},
};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{Job, JobDigest, JobParty};
use crate::{
    args::{Constant, Param, Ports, ProgramArgs, ProgramChanges, To},
    failure::Failure,
    hex::to_hex,
    output::printable,
    written::{Table, WrittenChanges, line_at, parameters, program_in},
};

/// The newest format of job files. Another one needs another context of the job's digest: what this one does not read must not have the same digest.
const FORMAT: u32 = 1;

/// The most parties of a job.
const PARTIES_MAX: usize = 255;

/// The longest name of a job or a party; peers receive both.
const NAME_CHARS_MAX: usize = 40;

/// A job file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    format: Option<u32>,
    name: String,
    program: String,
    digest: String,
    protocol: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    panics: Option<bool>,
    #[serde(default, skip_serializing_if = "is_false")]
    as_it_is: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<NonZeroU32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_keys: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ports: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reverse: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    parameters: Table,
    #[serde(default, rename = "const", skip_serializing_if = "BTreeMap::is_empty")]
    constants: Table,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    owner: BTreeMap<String, u16>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    to: Table,
    party: Vec<Spanned<WrittenParty>>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WrittenParty {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
}

/// A mistake in a file, with its line if known.
pub struct Fault(Option<usize>, pub String);

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Fault(None, what)
    }
}

/// The largest accepted file, of a job or of its signatures.
pub(super) const FILE_BYTES_MAX: u64 = 1 << 20;

/// The job of a file with this text; its program is relative to the folder of `path`.
///
/// *Errors*: the text is too long, of another format, or no job; says where in it.
pub fn of_text(path: &Path, text: &str) -> Result<Job, Failure> {
    check_length(path, text.len() as u64)?;
    check_stated_format(text, FORMAT).map_err(|other| Failure::other_format(path, other))?;
    read(path, text).map_err(|Fault(line, what)| {
        let line = line.map_or(String::new(), |line| format!(":{line}"));
        Failure::call(format!("{}{line}: {what}", path.display()))
            .hint("write a job with `garblet job new`; the book's chapter on jobs lists its fields")
    })
}

/// The name of the protocol in the text of a job, known or not.
pub fn protocol_of(text: &str) -> Option<String> {
    let written: toml::Table = toml::from_str(text).ok()?;
    written.get("protocol")?.as_str().map(String::from)
}

/// Checks the length of a file, of a job or of its signatures.
pub(super) fn check_length(path: &Path, bytes: u64) -> Result<(), Failure> {
    match bytes <= FILE_BYTES_MAX {
        true => Ok(()),
        false => Err(Failure::call(format!("{}: {bytes} bytes, expected at most {FILE_BYTES_MAX}", path.display()))),
    }
}

/// Reads the text of a job; its program is relative to the folder of `path`.
pub fn read(path: &Path, text: &str) -> Result<Job, Fault> {
    let fault = |e: toml::de::Error| Fault(e.span().map(|span| line_at(text, span.start)), printable(&toml_words(&e)));
    check_texts("", &toml::Value::Table(toml::from_str(text).map_err(fault)?))?;
    let written: Written = toml::from_str(text).map_err(fault)?;
    check_name("name", &written.name)?;
    let digest: JobDigest = written.digest.parse().map_err(|what| format!("digest: {what}"))?;
    let mut parties: Vec<JobParty> = Vec::new();
    for party in &written.party {
        let at = Some(line_at(text, party.span().start));
        let (number, party) = (parties.len(), party.as_ref());
        let party = party.read(&parties).map_err(|what| Fault(at, format!("party {number}: {what}")))?;
        parties.push(party);
    }
    if !(2..=PARTIES_MAX).contains(&parties.len()) {
        return Err(format!("party: expected 2 to {PARTIES_MAX} tables [[party]], got {}", parties.len()).into());
    }
    let parameters = written.parameters()?;
    let Written { ports, reverse, constants, owner, to, function, panics, as_it_is, batch, .. } = &written;
    let batch = batch.map(NonZeroU32::get);
    let (ports, function) = (ports.as_deref(), function.as_deref());
    let (panics, as_it_is) = (*panics, *as_it_is);
    let changes = WrittenChanges { ports, reversed: reverse, constants, owner, to, function, panics, as_it_is };
    let changes = changes.read().map_err(|f| f.message)?;
    check_numbers(&changes, parties.len())?;
    let hash_keys = written.hash_keys.as_deref().map(str::parse::<KeyForm>).transpose();
    let hash_keys = hash_keys.map_err(|what| format!("hash_keys: {what}"))?;
    let program = program_in(path.parent().unwrap_or(Path::new("")), &written.program);
    Ok(Job {
        path: path.into(),
        name: written.name,
        program_args: ProgramArgs { program, changes },
        program_digest: digest.0,
        protocol: written.protocol,
        parameters,
        batch,
        hash_keys,
        parties,
    })
}

impl Written {
    /// The given parameters, as the protocol prints them.
    fn parameters(&self) -> Result<Vec<Param>, String> {
        let protocol: Protocol = self.protocol.parse().map_err(|what| format!("protocol: {what}"))?;
        let mut config = Config::of(protocol);
        let mut given = parameters(&self.parameters);
        for Param { name, value } in &given {
            config.set(name, value).map_err(|what| format!("parameters: {name}: {what}"))?;
        }
        if config.lets_link_decide() {
            return Err(
                "parameters: a job says what is run: give a value in place of auto, and neither link nor rates".into(),
            );
        }
        let printed = config.parameters();
        for param in &mut given {
            if let Some((_, value)) = printed.iter().find(|(name, _)| *name == param.name) {
                param.value.clone_from(value);
            }
        }
        Ok(given)
    }
}

impl WrittenParty {
    /// The party, checked against those before it.
    fn read(&self, others: &[JobParty]) -> Result<JobParty, String> {
        check_name("name", &self.name)?;
        let fingerprint = self.fingerprint.as_deref().map(str::parse::<Fingerprint>).transpose();
        let party = JobParty { name: self.name.clone(), fingerprint: fingerprint.map_err(|what| what.to_string())? };
        if let Some(other) = others.iter().position(|other| other.name == party.name) {
            return Err(format!("party {other} also has the name {}", party.name));
        }
        let same = |other: &JobParty| other.fingerprint.is_some() && other.fingerprint == party.fingerprint;
        if let Some(other) = others.iter().position(same) {
            return Err(format!("party {other} has the same fingerprint"));
        }
        match others.first() {
            Some(first) if first.fingerprint.is_some() && party.fingerprint.is_none() => {
                Err("expected a fingerprint, since party 0 has one".into())
            }
            Some(first) if first.fingerprint.is_none() && party.fingerprint.is_some() => {
                Err("expected no fingerprint, since party 0 has none".into())
            }
            _ => Ok(party),
        }
    }
}

/// Checks that all names and texts of a file by an untrusted author can be shown unchanged.
fn check_texts(place: &str, value: &toml::Value) -> Result<(), String> {
    let check = |text: &str| match text.contains(controls_terminal) {
        true => Err(format!("{place}`{}` has a character that controls the terminal", text.escape_debug())),
        false => Ok(()),
    };
    match value {
        toml::Value::String(text) => check(text),
        toml::Value::Array(values) => values.iter().try_for_each(|value| check_texts(place, value)),
        toml::Value::Table(fields) => fields.iter().try_for_each(|(name, value)| {
            check(name)?;
            check_texts(&format!("{place}{name}: "), value)
        }),
        _ => Ok(()),
    }
}

/// Checks that a name can be shown to a peer unchanged.
pub fn check_name(what: &str, name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    let edges = [name.chars().next(), name.chars().next_back()];
    let begun = edges.iter().all(|edge| edge.is_some_and(|c| c != ' '));
    match begun && name.chars().all(plain) && name.chars().count() <= NAME_CHARS_MAX {
        true => Ok(()),
        false => Err(format!(
            "{what}: expected 1 to {NAME_CHARS_MAX} letters, digits, spaces within, `-`, `_` or `.`, got `{}`",
            name.escape_debug()
        )),
    }
}

/// Checks that all numbers are party numbers.
fn check_numbers(changes: &ProgramChanges, parties: usize) -> Result<(), String> {
    let strange = |party: &Party| usize::from(party.0) >= parties;
    let wrong = |place: String, party: Party| {
        Err(format!("{place}: no party {party}; the job has {parties}, 0 to {}", parties - 1))
    };
    for port in changes.ports.iter().flat_map(|ports| &ports.0) {
        if strange(&port.owner) {
            return wrong(format!("ports: {}", port.name), port.owner);
        }
    }
    for owner in &changes.owners {
        if strange(&owner.party) {
            return wrong(format!("owner: {}", owner.input), owner.party);
        }
    }
    for to in &changes.recipients {
        if let Some(party) = to.parties.iter().flatten().copied().find(strange) {
            return wrong(format!("to: {}", to.output), party);
        }
    }
    Ok(())
}

/// The text of a job file, with this name of its program.
///
/// *Errors*: TOML cannot represent a text.
pub fn write(job: &Job, program: &str) -> Result<String, Failure> {
    let changes = &job.program_args.changes;
    let party = |party: &JobParty| {
        let (name, fingerprint) = (party.name.clone(), party.fingerprint.map(|fingerprint| fingerprint.to_string()));
        Spanned::new(0..0, WrittenParty { name, fingerprint })
    };
    let written = Written {
        format: Some(FORMAT),
        name: job.name.clone(),
        program: program.into(),
        digest: to_hex(&job.program_digest),
        protocol: job.protocol.clone(),
        function: (changes.function != garblet::lang::Options::FUNCTION).then(|| changes.function.clone()),
        panics: Some(changes.panics.0),
        as_it_is: changes.as_it_is,
        batch: job.batch.and_then(NonZeroU32::new),
        hash_keys: job.hash_keys.map(|form| form.name().into()),
        ports: changes.ports.as_ref().map(Ports::words),
        reverse: changes.reversed.clone(),
        parameters: job.parameters.iter().map(|param| (param.name.clone(), text(&param.value))).collect(),
        constants: changes.constants.iter().filter_map(constant).collect(),
        owner: changes.owners.iter().map(|owner| (owner.input.clone(), owner.party.0)).collect(),
        to: changes.recipients.iter().map(|to| (to.output.clone(), recipients(to))).collect(),
        party: job.parties.iter().map(party).collect(),
    };
    toml::to_string(&written).map_err(|error| Failure::call(format!("cannot write the job: {error}")))
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn text(text: &str) -> toml::Value {
    toml::Value::String(text.into())
}

/// A value as a TOML number if possible, else as text.
fn constant(constant: &Constant) -> Option<(String, toml::Value)> {
    let Constant::Value(name, value) = constant else { return None };
    let number = value.parse::<i64>().ok().filter(|number| number.to_string() == *value);
    Some((name.clone(), number.map_or_else(|| text(value), toml::Value::Integer)))
}

fn recipients(to: &To) -> toml::Value {
    match &to.parties {
        Some(some) if !some.is_empty() => {
            toml::Value::Array(some.iter().map(|party| toml::Value::Integer(party.0.into())).collect())
        }
        _ => text(&to.words()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name = \"a\"\nprogram = \"p\"\nprotocol = \"yao\"\ndigest = \"";

    /// A job whose two parties have no identities, with extra fields.
    fn text(more: &str, parties: &str) -> String {
        format!("{HEAD}{}\"\n{more}\n{parties}", "0".repeat(64))
    }

    fn fault(text: &str) -> String {
        match read(Path::new("a.toml"), text) {
            Ok(_) => panic!("expected a fault: {text}"),
            Err(Fault(line, what)) => line.map_or(what.clone(), |line| format!("{line}: {what}")),
        }
    }

    #[test]
    fn a_job_of_a_later_format_is_refused_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.toml");
        let two = "[[party]]\nname = \"alice\"\n[[party]]\nname = \"bob\"\n";
        for (head, refused) in [("", false), ("format = 1\n", false), ("format = 2\nbudget = 3\n", true)] {
            std::fs::write(&path, format!("{head}{}", text("", two))).expect("written");
            let read = Job::load(&path);
            assert_eq!(read.is_err(), refused, "{head}");
            if let Err(failure) = read {
                let said = format!("{}: is of format 2, this Garblet reads format 1", path.display());
                assert_eq!(
                    (failure.message, failure.hint.as_deref()),
                    (said, Some("a later version wrote it: update Garblet"))
                );
            }
        }
        // What format 1 does not have is not read in it.
        assert_eq!(
            fault(&text("format = 1\nbudget = 3", two)),
            "6: unknown field `budget`, expected one of `format`, `name`, `program`, `digest`, `protocol`, `function`, `panics`, `as_it_is`, `batch`, `hash_keys`, `ports`, `reverse`, `parameters`, `const`, `owner`, `to`, `party`"
        );
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        let party = |name: &str| format!("[[party]]\nname = \"{name}\"\n");
        let two = [party("alice"), party("bob")].concat();
        let known = |n: u8| format!("fingerprint = \"{}\"\n", Fingerprint::of_ed25519(&[n; 32]));
        assert!(read(Path::new("a.toml"), &text("", &two)).is_ok());
        for (text, expected) in [
            (text("", "").replace("name = \"a\"", "name = \"\""), "1: missing field `party`"),
            (text("", &two).replace("name = \"a\"", "name = \"\""), "name: expected 1 to 40 letters, "),
            (text("", &two).replace("name = \"a\"", "name = \"a\\u202e\""), "name: `a\\u{202e}` has a character that"),
            (text("", &two).replace("name = \"a\"", "name = \"a b!\""), "name: expected 1 to 40 letters, "),
            (text("", &two).replace("= \"p\"", "= \"p\\u001b[1A\""), "program: `p\\u{1b}[1A` has a character that"),
            (text("[const]\n\"a\\nb\" = 1", &two), "const: `a\\nb` has a character that"),
            (text("[const.a]\nb = \"1\\u009b\"", &two), "const: a: b: `1\\u{9b}` has a character that"),
            (text("[owner]\n\"\\u202ex\" = 1", &two), "owner: `\\u{202e}x` has a character that"),
            (text("[to]\ny = [\"\\r0\"]", &two), "to: y: `\\r0` has a character that"),
            (text("\"a\\u001b[2K\" = 1", &two), "`a\\u{1b}[2K` has a character that"),
            (text("# \u{1b}", &two), "5: "),
            (text("a\u{202e} = 1", &two), "5: "),
            (text("", &two).replace(&"0".repeat(64), "00"), "digest: expected 64 hexadecimal digits, got `00`"),
            (text("", &two).replace("yao", "yoa"), "protocol: unknown protocol `yoa`"),
            (text("panic = true", &two), "5: unknown field `panic`"),
            (
                text("hash_keys = \"mail\"", &two),
                "hash_keys: unknown form of keys `mail`, expected one of text, email, uuid",
            ),
            (text("panics = 1", &two), "5: panics: expected true or false, got 1"),
            (text("[parameters]\nshape = \"round\"", &two), "parameters: shape: unknown parameter"),
            (text("[parameters]\nscheme = \"round\"", &two), "parameters: scheme: unknown scheme `round`"),
            (text("[parameters]\nscheme = \"auto\"", &two), "parameters: a job says what is run: give a value"),
            (text("[parameters]\nlink = \"1ms,1gbit\"", &two), "parameters: a job says what is run: give a value"),
            (text("[owner]\nx = 2", &two), "owner: x: no party 2; the job has 2, 0 to 1"),
            (text("[owner]\nx = -1", &two), "6: owner.x: expected a whole number from 0 to 65535, got -1"),
            (text("[to]\ny = [0, 2]", &two), "to: y: no party 2; the job has 2, 0 to 1"),
            (text("[to]\ny = \"some\"", &two), "to: `some` is no party"),
            (text("", &party("alice")), "party: expected 2 to 255 tables [[party]], got 1"),
            (text("", &party("alice").repeat(2)), "8: party 1: party 0 also has the name alice"),
            (
                text("", &[party("alice"), known(1), party("bob"), known(1)].concat()),
                "party 1: party 0 has the same fingerprint",
            ),
            (
                text("", &[party("alice"), known(1), party("bob")].concat()),
                "party 1: expected a fingerprint, since party 0 has one",
            ),
            (
                text("", &[party("alice"), party("bob"), known(1)].concat()),
                "party 1: expected no fingerprint, since party 0 has none",
            ),
            (
                text("", &[party("alice"), "fingerprint = \"00\"\n".into(), party("bob")].concat()),
                "party 0: fingerprint has 2 characters",
            ),
            (text("", &[two.clone(), "address = \"a:1\"\n".into()].concat()), "10: unknown field `address`"),
        ] {
            let fault = fault(&text);
            assert!(fault.contains(expected), "{fault}, expected {expected}");
            assert!(!fault.contains(|c| controls_terminal(c) && c != '\n'), "{fault:?}");
        }
    }

    #[test]
    fn a_written_job_reads_back_the_same() {
        let party = "[[party]]\nname = \"alice\"\n[[party]]\nname = \"bob b.\"\n";
        let more = "panics = false\nhash_keys = \"uuid\"\n[parameters]\nscheme = \"grr3\"\n[const]\nN = 8\nM = \"340282366920938463463374607431768211455\"\n\
            B = true\nF = -1.5\n[owner]\n\"a b\" = 1\n[to]\nx = [0]\ny = \"nobody\"\nz = \"all\"";
        let job = read(Path::new("folder/a.toml"), &text(more, party)).map_err(|fault| fault.1).expect("a job");
        assert_eq!(job.program_args.program, "folder/p");
        let written = write(&job, "p").expect("text");
        let again = read(Path::new("folder/a.toml"), &written).map_err(|fault| fault.1).expect("a job");
        assert_eq!((again.fields(), again.digest()), (job.fields(), job.digest()));
        assert!(!format!("{:?}", job.fields()).contains("folder"), "the program's path is not part of the agreement");
    }

    #[test]
    fn a_job_has_as_many_parties_as_its_protocol() {
        let checked = |parties: usize, program: &garblet::Program| {
            let parties: String = (0..parties).map(|party| format!("[[party]]\nname = \"p{party}\"\n")).collect();
            let job = read(Path::new("a.toml"), &text("", &parties)).map_err(|Fault(_, what)| what).expect("a job");
            job.check_parties(program).map_err(|failure| failure.message)
        };
        let options = garblet::lang::Options::default();
        let mut program = garblet::load("lib:millionaires(8)", options).expect("of the library");
        assert_eq!(checked(2, &program), Ok(()));
        assert_eq!(checked(3, &program), Err("the job has 3 parties: expected 2, the number for yao".into()));
        program.set_owner(garblet::circuit::InputId(1), Party(2));
        let expected = format!("yao has 2 parties, `{}` needs 3", program.name());
        assert_eq!(checked(2, &program), Err(expected));
    }

    #[test]
    fn a_protocol_is_named_even_if_it_is_unknown() {
        assert_eq!(protocol_of(&text("", "")), Some("yao".into()));
        assert_eq!(protocol_of("protocol = \"ideal\""), Some("ideal".into()));
        assert_eq!(protocol_of("protocol = 5"), None);
        assert_eq!(protocol_of("protocol ="), None);
    }
}
