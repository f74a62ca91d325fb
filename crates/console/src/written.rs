//! Programs, their changes and parameters in TOML files.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use garblet::{Party, ReadInput};

use crate::{
    args::{Constant, Owner, Param, ProgramChanges, Switch, To},
    failure::Failure,
};

/// Values by name.
pub type Table = BTreeMap<String, toml::Value>;

/// The tables of a file that change a program.
pub struct WrittenChanges<'a> {
    /// The input ports of a circuit file, as after `--ports`.
    pub ports: Option<&'a str>,
    /// The ports of a circuit file that are turned around.
    pub reversed: &'a [String],
    /// Constants of a function source; those of one party may be in a separate table.
    pub constants: &'a Table,
    /// The owner of each input.
    pub owner: &'a BTreeMap<String, u16>,
    /// The recipients of each output: numbers, or a word for all or none.
    pub to: &'a Table,
    /// The function of a source that is compiled; `None` means `main`.
    pub function: Option<&'a str>,
    /// `None` means on.
    pub panics: Option<bool>,
    /// Set if the gates of a circuit file are run as they are.
    pub as_it_is: bool,
}

impl WrittenChanges<'_> {
    /// The changes as command-line arguments.
    ///
    /// *Errors*: invalid recipients.
    pub fn read(&self) -> Result<ProgramChanges, Failure> {
        let owner = |(input, party): (&String, &u16)| Owner { input: input.clone(), party: Party(*party) };
        let to = |(output, to): (&String, &toml::Value)| {
            format!("{output}={}", text_of(to)).parse::<To>().map_err(|what| Failure::call(format!("to: {what}")))
        };
        let mut constants = Vec::new();
        for (name, value) in self.constants {
            match value {
                toml::Value::Table(own) => constants.extend(
                    own.iter().map(|(inner, value)| Constant::Value(format!("{name}::{inner}"), text_of(value))),
                ),
                value => constants.push(Constant::Value(name.clone(), text_of(value))),
            }
        }
        Ok(ProgramChanges {
            ports: self
                .ports
                .map(str::parse)
                .transpose()
                .map_err(|what: String| Failure::call(format!("ports: {what}")))?,
            reversed: self.reversed.to_vec(),
            owners: self.owner.iter().map(owner).collect(),
            recipients: self.to.iter().map(to).collect::<Result<_, _>>()?,
            constants,
            function: self.function.unwrap_or(garblet::lang::Options::FUNCTION).into(),
            panics: Switch(self.panics.unwrap_or(true)),
            as_it_is: self.as_it_is,
            // Each machine sets its own limit for compiling; no file does.
            effort: garblet::lang::Options::EFFORT,
            rows: None,
        })
    }
}

/// A protocol's parameters as command-line arguments.
pub fn parameters(written: &Table) -> Vec<Param> {
    written.iter().map(|(name, value)| Param { name: name.clone(), value: text_of(value) }).collect()
}

/// Parses `PORT=NAME` or `PORT=NAME.OUTPUT`.
pub fn read_input(text: &str) -> Result<ReadInput, String> {
    let (port, kept) = text.split_once('=').ok_or("expected PORT=NAME or PORT=NAME.OUTPUT")?;
    ReadInput::parse(port, kept).map_err(|error| error.to_string())
}

/// A program named by a file in a folder: a path relative to it, or a circuit of the library.
pub fn program_in(folder: &Path, source: &str) -> String {
    let path = match source.starts_with("lib:") {
        true => PathBuf::from(source),
        false => folder.join(source),
    };
    path.display().to_string()
}

/// The number of the line, from 1, that contains a byte of a text.
pub fn line_at(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|&&byte| byte == b'\n').count() + 1
}

/// A value as a command-line argument.
fn text_of(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
