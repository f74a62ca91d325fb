//! A session's data: the sources of the service's inputs and the destinations of results.

use std::path::{Path, PathBuf};

use garblet::{Bits, Class, net::check_is_file, run_report::outputs_json};
use garblet_console::{
    configuration::make_own_folder,
    failure::{Failure, Status},
    inputs::{self, ArrangeArgs, InputArgs, InputFile, PartyInputs, Unread},
    record::now,
    report::check_panics,
    whole_file::{self, Readers},
};
use serde_json::{Value, json};

use super::{config::Offer, operator::OperatorProgram, rule::Rule, written::NamedBy};

/// The file formats in a folder of inputs, by extension.
const FORMS: [&str; 2] = ["json", "csv"];

/// The source of the service's inputs for a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputSource {
    File(PathBuf),
    Folder(PathBuf, NamedBy),
    Command(OperatorProgram),
}

/// The destination of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ResultSink {
    Folder(PathBuf),
    Command(OperatorProgram),
}

impl InputSource {
    /// The operator's program that is started, if any.
    pub(super) fn program(&self) -> Option<&OperatorProgram> {
        match self {
            InputSource::Command(program) => Some(program),
            InputSource::File(_) | InputSource::Folder(..) => None,
        }
    }
}

impl ResultSink {
    /// The operator's program that is started, if any.
    pub(super) fn program(&self) -> Option<&OperatorProgram> {
        match self {
            ResultSink::Command(program) => Some(program),
            ResultSink::Folder(_) => None,
        }
    }
}

/// A request, as logs and the operator's commands see it.
#[derive(Clone)]
pub(super) struct RequestWords {
    /// The session: unique on this machine.
    pub(super) id: String,
    /// The session name that its parties chose.
    pub(super) session: Option<String>,
    /// The names of all other parties.
    pub(super) peers: Vec<String>,
    /// The same peers as pauses of programs tell them apart: over plain TCP, where none has an identity, the address of the first that called.
    pub(super) paused: Vec<String>,
    /// The same peers as they are counted: by identity, not by name.
    pub(super) counted: Vec<String>,
}

impl RequestWords {
    /// The first peer's name.
    pub(super) fn peer(&self) -> &str {
        self.peers.first().map_or("", |peer| peer)
    }

    fn json(&self, offer: &Offer, rule: &Rule) -> Value {
        json!({
            "id": self.id, "session": self.session, "peers": self.peers, "job": offer.name, "digest": offer.digest,
            "protocol": offer.settings.protocol, "party": rule.party.0,
        })
    }
}

/// Parses the inputs that an operator's command printed.
pub(super) async fn of_command(
    offer: &Offer,
    rule: &Rule,
    request: &RequestWords,
    program: &OperatorProgram,
) -> Result<PartyInputs, Failure> {
    let text = request.json(offer, rule).to_string().into_bytes();
    let printed = program.run(text).await.map_err(Failure::no_result)?;
    let place = format!("the output of {}", program.command[0]);
    let text = String::from_utf8(printed).map_err(|_| Failure::no_result(format!("{place}: not UTF-8 text")))?;
    let args = input_args(offer, rule);
    // Drop the diagnostics: they quote values.
    inputs::of_json(&offer.program, rule.party, (&place, &text), &args).map_err(|unread| match unread {
        Unread::Order(failure) => refused(&failure),
        Unread::Shown(_) => Failure::no_result(format!("{place}: not the inputs of party {}", rule.party)),
    })
}

/// The options for reading inputs.
fn input_args(offer: &Offer, rule: &Rule) -> InputArgs {
    let arrange = ArrangeArgs::configured(rule.arrange);
    InputArgs { arrange, keys: offer.keys.clone(), ..InputArgs::default() }
}

/// The inputs in a file.
///
/// *Errors*: missing or unsuitable inputs.
pub(super) fn in_file(offer: &Offer, rule: &Rule, file: &Path) -> Result<PartyInputs, Failure> {
    check_is_file(file).map_err(|error| Failure::unreadable(file, &error))?;
    let input = InputFile { party: rule.party, path: file.into() };
    let files = InputArgs { inputs: vec![input], ..input_args(offer, rule) };
    inputs::of_party_or_unread(&offer.program, &files, rule.party).map_err(|unread| match unread {
        Unread::Order(failure) => refused(&failure),
        // Drop the diagnostics: they quote values.
        Unread::Shown(_) => Failure::no_result(format!("{}: not the inputs of party {}", file.display(), rule.party)),
    })
}

/// The error for a list, with its hint in the message, which is all that some log lines have.
fn refused(failure: &Failure) -> Failure {
    let hint = failure.hint.iter().map(|hint| format!("; {hint}"));
    Failure::no_result(format!("{}{}", failure.message, hint.collect::<String>()))
}

/// The files from which a rule takes inputs: one that it names, even if it is missing, or the existing ones in a folder.
pub(super) fn files(offer: &Offer, rule: &Rule) -> Vec<PathBuf> {
    match &rule.inputs {
        Some(InputSource::File(file)) => vec![file.clone()],
        Some(InputSource::Folder(folder, NamedBy::Job)) => in_folder(folder, &offer.name).into_iter().collect(),
        Some(InputSource::Folder(folder, NamedBy::Peer)) => {
            rule.peers.iter().filter_map(|(peer, _)| in_folder(folder, peer).ok()).collect()
        }
        Some(InputSource::Command(_)) | None => Vec::new(),
    }
}

/// Checks the inputs and programs that a rule names. Returns the files that may still appear.
///
/// *Errors*: a named file is missing or has no inputs for the service's party; a folder has two files where one is expected;
/// a name is no valid file name; a program is missing.
pub(super) fn check(offer: &Offer, rule: &Rule) -> Result<Vec<String>, Failure> {
    let wrong = |failure: Failure| Failure { status: Status::WrongCall, class: Class::Call, ..failure };
    for file in files(offer, rule) {
        in_file(offer, rule, &file).map_err(wrong)?;
    }
    let programs = rule.inputs.as_ref().and_then(InputSource::program);
    for program in programs.into_iter().chain(rule.results.as_ref().and_then(ResultSink::program)) {
        if program.file().is_none() {
            return Err(Failure::call(format!("{}: no such program", program.command[0]))
                .hint("exec needs an executable file: a path from the configuration's folder, or a name in PATH"));
        }
    }
    let Some(InputSource::Folder(folder, by)) = &rule.inputs else { return Ok(Vec::new()) };
    let names = match by {
        NamedBy::Job => vec![&offer.name],
        NamedBy::Peer => rule.peers.iter().map(|(peer, _)| peer).collect(),
    };
    let mut missing = Vec::new();
    for name in names {
        match in_folder(folder, name) {
            Ok(_) => {}
            Err(NoFile::Missing(message)) => missing.push(message),
            Err(NoFile::Wrong { what, hint }) => return Err(Failure::call(what).hint(hint)),
        }
    }
    Ok(missing)
}

/// The name of the file in a folder of inputs, without its extension.
pub(super) fn name<'a>(by: NamedBy, offer: &'a Offer, peer: Option<&'a String>) -> &'a str {
    match by {
        NamedBy::Job => &offer.name,
        NamedBy::Peer => peer.map_or("", |peer| &peer[..]),
    }
}

/// The reason that a folder of inputs has no file for a name.
pub(super) enum NoFile {
    /// The file may still appear.
    Missing(String),
    /// The operator must change something.
    Wrong { what: String, hint: &'static str },
}

impl From<NoFile> for Failure {
    fn from(none: NoFile) -> Self {
        match none {
            NoFile::Missing(what) => Failure::no_result(what),
            NoFile::Wrong { what, hint } => Failure::no_result(what).hint(hint),
        }
    }
}

/// The file with this name. Its extension is its format, so two links to one file are as wrong as two files.
pub(super) fn in_folder(folder: &Path, name: &str) -> Result<PathBuf, NoFile> {
    let place = folder.display();
    // The operator chooses peers' names, but they may contain anything printable.
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
        let what = format!("{place}: `{name}` cannot be a file name");
        return Err(NoFile::Wrong { what, hint: "give this peer its own rule, with inputs.file or inputs.exec" });
    }
    let files = FORMS.map(|form| folder.join(format!("{name}.{form}")));
    let mut there = files.iter().filter(|file| file.is_file());
    match (there.next(), there.next()) {
        (Some(one), None) => Ok(one.clone()),
        (Some(_), Some(_)) => {
            let what = format!("{place}: found both {name}.json and {name}.csv, expected one");
            Err(NoFile::Wrong { what, hint: "remove one of them" })
        }
        (None, _) => Err(NoFile::Missing(format!("{place}: no {name}.json or {name}.csv"))),
    }
}

/// Delivers the results of a run, which also tells the operator that it has ended.
///
/// *Errors*: the destination does not accept them.
pub(super) async fn hand_over(
    (offer, rule): (&Offer, &Rule),
    sink: &ResultSink,
    request: &RequestWords,
    outputs: &[Option<Bits>],
) -> Result<(), Failure> {
    let mut result = request.json(offer, rule);
    result["time"] = now().into();
    match check_panics(&offer.program, outputs) {
        Ok(()) => result["outputs"] = Value::Object(outputs_json(&offer.program, outputs)),
        Err(failure) => result["error"] = failure.message.into(),
    }
    let text = format!("{result:#}\n").into_bytes();
    match sink {
        ResultSink::Command(program) => program.run(text).await.map(drop).map_err(Failure::no_result),
        ResultSink::Folder(folder) => {
            let file = folder.join(format!("{}.json", request.id));
            let made = make_own_folder(folder);
            let written = made.and_then(|()| whole_file::write(&file, Readers::Owner, |out| out.write_all(&text)));
            written.map_err(|error| Failure::unwritable(&file, &error))
        }
    }
}
