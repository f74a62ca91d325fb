//! The data of a session: where the service's inputs come from, and where results go.

use std::path::{Path, PathBuf};

use garblet::{Bits, run_report::outputs_json};
use serde_json::{Value, json};

use super::{config::Offer, operator::OperatorProgram, rule::Rule, written::NamedBy};
use crate::{
    failure::Failure,
    inputs::{self, InputArgs, InputFile, PartyInputs},
    record::now,
    report::check_panics,
    whole_file::{self, Readers},
};

/// The forms of files in a folder of inputs, by how their names end.
const FORMS: [&str; 2] = ["json", "csv"];

/// The place where the service's inputs of a run come from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputSource {
    File(PathBuf),
    Folder(PathBuf, NamedBy),
    Command(OperatorProgram),
}

/// The place where results go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ResultSink {
    Folder(PathBuf),
    Command(OperatorProgram),
}

/// A request, as logs and commands of the operator hear of it.
#[derive(Clone)]
pub(super) struct RequestWords {
    /// The session: unique on this machine.
    pub(super) id: String,
    /// The name that its parties gave it.
    pub(super) session: Option<String>,
    /// The peers' names; of several, those of all others.
    pub(super) peers: Vec<String>,
    /// The same as they are counted: by their identities, whatever they are called.
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

/// The inputs that a command of the operator prints.
pub(super) async fn of_command(
    offer: &Offer,
    rule: &Rule,
    request: &RequestWords,
    program: &OperatorProgram,
) -> Result<PartyInputs, Failure> {
    let text = request.json(offer, rule).to_string().into_bytes();
    let printed = program.run(text).await.map_err(Failure::no_result)?;
    let place = format!("what {} printed", program.command[0]);
    let text = String::from_utf8(printed).map_err(|_| Failure::no_result(format!("{place}: no text in UTF-8")))?;
    let read = garblet_formats::value::read_inputs(&offer.program, rule.party, &place, &text);
    // The diagnostics show what stands there.
    let inputs = read.map_err(|_| Failure::no_result(format!("{place} are not the inputs of party {}", rule.party)))?;
    warn_of_order(offer, &inputs);
    Ok(inputs)
}

/// The inputs in a file.
///
/// *Errors*: none there, or none that fit.
pub(super) fn in_file(offer: &Offer, rule: &Rule, file: &Path) -> Result<PartyInputs, Failure> {
    std::fs::File::open(file).map_err(|error| Failure::unreadable(file, &error))?;
    let input = InputFile { party: rule.party, path: file.into() };
    let files = InputArgs { inputs: vec![input], ..InputArgs::default() };
    let read = inputs::of_party(&offer.program, &files, rule.party);
    // What is wrong is shown with the values that stand there, and goes nowhere.
    let inputs =
        read.map_err(|_| Failure::no_result(format!("{}: not the inputs of party {}", file.display(), rule.party)))?;
    warn_of_order(offer, &inputs);
    Ok(inputs)
}

/// Logs lists that will count as empty, without the row that is out of order.
fn warn_of_order(offer: &Offer, inputs: &PartyInputs) {
    for (input, order, _) in inputs::out_of_order(&offer.program, inputs) {
        tracing::warn!(job = offer.name, input, "counts as empty: it is not in {order}");
    }
}

/// The files from which a rule takes inputs, as far as they are there.
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

/// The name of a file in a folder of inputs.
pub(super) fn name<'a>(by: NamedBy, offer: &'a Offer, peer: Option<&'a String>) -> &'a str {
    match by {
        NamedBy::Job => &offer.name,
        NamedBy::Peer => peer.map_or("", |peer| &peer[..]),
    }
}

/// The file of that name.
pub(super) fn in_folder(folder: &Path, name: &str) -> Result<PathBuf, Failure> {
    // Names of peers are the operator's, but may hold anything printable.
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
        return Err(Failure::no_result(format!("{}: `{name}` cannot be the name of a file", folder.display())));
    }
    let files = FORMS.map(|form| folder.join(format!("{name}.{form}")));
    let there = files.iter().find(|file| file.is_file()).cloned();
    there.ok_or_else(|| Failure::no_result(format!("{}: there is no {name}.json or {name}.csv", folder.display())))
}

/// Hands over the results of a run, of which the operator so knows that it has ended.
///
/// *Errors*: a place that does not take them.
pub(super) async fn hand_over(
    offer: &Offer,
    rule: &Rule,
    request: &RequestWords,
    outputs: &[Option<Bits>],
) -> Result<(), Failure> {
    let Some(sink) = &rule.results else { return Ok(()) };
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
            let made = std::fs::create_dir_all(folder);
            let written = made.and_then(|()| whole_file::write(&file, Readers::Owner, |out| out.write_all(&text)));
            written.map_err(|error| Failure::unwritable(&file, &error))
        }
    }
}
