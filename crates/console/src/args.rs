//! Arguments and options that several commands share.

#[cfg(feature = "system")]
mod choice;

use std::{num::NonZeroU32, path::PathBuf, str::FromStr, time::Duration};

use garblet::{Party, circuit::Recipients, formats::rewire::NewInput};

#[cfg(feature = "system")]
pub use choice::{ChoiceArgs, ProtocolArgs};

/// The program, and changes to who gives and who learns what.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "system", derive(clap::Args))]
pub struct ProgramArgs {
    /// A function source (.garble.rs), a circuit file (Bristol, BLIF, AIGER, Yosys, bench, ABY), a program file (JSON or .gbc), or lib:NAME
    #[cfg_attr(feature = "system", arg(value_name = "PROGRAM"))]
    pub program: String,
    /// Changes to it.
    #[cfg_attr(feature = "system", command(flatten))]
    pub changes: ProgramChanges,
}

/// Changes to a program.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "system", derive(clap::Args))]
pub struct ProgramChanges {
    /// Cut all input wires of a circuit file into ports of these parties, in order; without a WIDTH, an input of the file
    #[cfg_attr(feature = "system", arg(long, value_name = "NAME[:WIDTH]=K,.."))]
    pub ports: Option<Ports>,
    /// Turn around an input or an output of a circuit file that begins with its most significant bit
    #[cfg_attr(feature = "system", arg(long = "reverse", value_name = "PORT"))]
    pub reversed: Vec<String>,
    /// Give an input to another party
    #[cfg_attr(feature = "system", arg(long = "owner", value_name = "INPUT=K"))]
    pub owners: Vec<Owner>,
    /// Choose who learns an output
    #[cfg_attr(feature = "system", arg(long = "to", value_name = "OUTPUT=K[,K]|all|nobody"))]
    pub recipients: Vec<To>,
    /// Set a constant that a function source takes from a party, or read constants from a JSON file
    #[cfg_attr(feature = "system", arg(long = "const", value_name = "NAME=VALUE|FILE.json"))]
    pub constants: Vec<Constant>,
    /// Compile this function of a function source
    #[cfg_attr(feature = "system", arg(long, value_name = "NAME", default_value = garblet::lang::Options::FUNCTION))]
    pub function: String,
    /// Check for overflow, division by zero and indices out of bounds in a function source
    #[cfg_attr(feature = "system", arg(long, value_name = "on|off", default_value = "on"))]
    pub panics: Switch,
    /// Keep the gates of a circuit file; otherwise Garblet first removes AND gates
    #[cfg_attr(feature = "system", arg(long))]
    pub as_it_is: bool,
    /// Limit the work of compiling a function source, in units
    #[cfg_attr(feature = "system", arg(long, value_name = "UNITS", default_value_t = garblet::lang::Options::EFFORT))]
    pub effort: u64,
    /// The rows, for a batch.
    #[cfg_attr(feature = "system", arg(skip))]
    pub rows: Option<u32>,
}

impl ProgramArgs {
    /// A program without changes.
    pub fn plain(name: &str) -> Self {
        let (owners, recipients, constants) = (Vec::new(), Vec::new(), Vec::new());
        let (panics, as_it_is, effort) = (Switch(true), false, garblet::lang::Options::EFFORT);
        let (ports, reversed, rows) = (None, Vec::new(), None);
        let function = garblet::lang::Options::FUNCTION.into();
        let changes =
            ProgramChanges { ports, reversed, owners, recipients, constants, function, panics, as_it_is, effort, rows };
        ProgramArgs { program: name.into(), changes }
    }

    /// The same for this number of rows.
    pub fn of_rows(&self, rows: Option<u32>) -> Self {
        let mut args = self.clone();
        args.changes.rows = rows;
        args
    }
}

/// `NAME=VALUE`, or a file of constants.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Constant {
    /// One constant.
    Value(String, String),
    /// JSON: `{"NAME": value}` or `{"PARTY_0": {"NAME": value}}`.
    File(PathBuf),
}

impl FromStr for Constant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.contains('=') && text.ends_with(".json") {
            return Ok(Constant::File(text.into()));
        }
        let (name, value) = pair(text, "NAME=VALUE, for instance PARTY_0::ROWS=8, or a file FILE.json")?;
        Ok(Constant::Value(name, value))
    }
}

/// `on` or `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Switch(pub bool);

impl FromStr for Switch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Switch(true)),
            "off" => Ok(Switch(false)),
            _ => Err("expected on or off".into()),
        }
    }
}

/// A command line of `garblet` with this program, protocol and parameters, to copy.
pub fn command_line(
    command: &str,
    program: &ProgramArgs,
    (protocol, params): (&str, &[Param]),
    more: &[(&str, String)],
) -> String {
    let ProgramChanges { ports, reversed, owners, recipients, constants, function, panics, as_it_is, effort, rows } =
        &program.changes;
    let ports = ports.as_ref().map(|ports| ("--ports", ports.words()));
    let reversed = reversed.iter().map(|port| ("--reverse", port.clone()));
    let owners = owners.iter().map(|owner| ("--owner", format!("{}={}", owner.input, owner.party)));
    let recipients = recipients.iter().map(|to| ("--to", format!("{}={}", to.output, to.words())));
    let constants = constants.iter().map(|constant| match constant {
        Constant::Value(name, value) => ("--const", format!("{name}={value}")),
        Constant::File(path) => ("--const", path.display().to_string()),
    });
    let function = (*function != garblet::lang::Options::FUNCTION).then(|| ("--function", function.clone()));
    let panics = (!panics.0).then(|| ("--panics", "off".to_string()));
    let as_it_is = if *as_it_is { " --as-it-is" } else { "" };
    let effort = (*effort != garblet::lang::Options::EFFORT).then(|| ("--effort", effort.to_string()));
    let rows = rows.map(|rows| ("--batch", rows.to_string()));
    let params = params.iter().map(|Param { name, value }| ("--param", format!("{name}={value}")));
    let protocol = [("--protocol", protocol.to_string())];
    let changed = ports.into_iter().chain(reversed).chain(owners);
    let all = changed
        .chain(recipients)
        .chain(constants)
        .chain(function)
        .chain(panics)
        .chain(effort)
        .chain(rows)
        .chain(protocol)
        .chain(params);
    let program = quoted(&program.program);
    shell_line(format!("garblet {command} {program}{as_it_is}"), all.chain(more.iter().cloned()))
}

/// A command with options, quoted for a shell.
pub fn shell_line<'a>(mut line: String, options: impl Iterator<Item = (&'a str, String)>) -> String {
    for (option, value) in options {
        line.push_str(&format!(" {option} {}", quoted(&value)));
    }
    line
}

/// An argument, quoted for a shell.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+:,./@%".contains(c);
    match !argument.is_empty() && argument.chars().all(plain) {
        true => argument.into(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

/// `NAME=K` and `NAME:WIDTH=K`, with commas between.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Ports(pub Vec<NewInput>);

impl Ports {
    /// The ports, in the format of [`Ports::from_str`].
    pub(crate) fn words(&self) -> String {
        let port = |NewInput { name, width, owner }: &NewInput| match width {
            Some(width) => format!("{name}:{width}={owner}"),
            None => format!("{name}={owner}"),
        };
        self.0.iter().map(port).collect::<Vec<_>>().join(",")
    }
}

impl FromStr for Ports {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = |text: &str| {
            let (port, owner) = pair(text, "NAME=K or NAME:WIDTH=K, for instance key:128=0,block:128=1")?;
            let (name, width) = match port.rsplit_once(':') {
                None => (port.clone(), None),
                Some((name, width)) => (name.into(), Some(at_least_one(width)?)),
            };
            Ok(NewInput { name, width: width.map(NonZeroU32::get), owner: read_party(&owner)? })
        };
        text.split(',').map(port).collect::<Result<_, String>>().map(Ports)
    }
}

impl From<Ports> for String {
    fn from(ports: Ports) -> String {
        ports.words()
    }
}

impl TryFrom<String> for Ports {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// `INPUT=K`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Owner {
    /// The name of the input.
    pub input: String,
    /// Its new owner.
    pub party: Party,
}

impl FromStr for Owner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (input, party) = pair(text, "INPUT=K, for instance in1=0")?;
        Ok(Owner { input, party: read_party(&party)? })
    }
}

/// `OUTPUT=K,K`, `OUTPUT=all` or `OUTPUT=nobody`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct To {
    /// The name of the output.
    pub output: String,
    /// `None` for all parties.
    pub parties: Option<Vec<Party>>,
}

/// The word for an output that no party learns.
pub const NOBODY: &str = "nobody";

impl To {
    /// The parties, in the format of [`To::from_str`].
    pub(crate) fn words(&self) -> String {
        match self.parties.as_deref() {
            None => "all".into(),
            Some([]) => NOBODY.into(),
            Some(some) => some.iter().map(Party::to_string).collect::<Vec<_>>().join(","),
        }
    }

    /// The parties that learn the output.
    pub(crate) fn recipients(&self) -> Recipients {
        self.parties.clone().map_or(Recipients::All, Recipients::Only)
    }
}

impl FromStr for To {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (output, parties) = pair(text, "OUTPUT=K, for instance out0=1, or OUTPUT=all or OUTPUT=nobody")?;
        match &parties[..] {
            "all" => return Ok(To { output, parties: None }),
            NOBODY => return Ok(To { output, parties: Some(Vec::new()) }),
            _ => (),
        }
        let mut parties = parties.split(',').map(read_party).collect::<Result<Vec<_>, _>>()?;
        parties.sort_unstable();
        parties.dedup();
        Ok(To { output, parties: Some(parties) })
    }
}

/// `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Param {
    /// The name of the parameter.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl FromStr for Param {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = pair(text, "NAME=VALUE, for instance scheme=three-halves")?;
        Ok(Param { name, value })
    }
}

/// Parses a number of at least 1.
pub fn at_least_one<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a number of at least 1".into())
}

/// A duration: `500ms`, `60s`, `1m` or `1min`, `1h`, or a plain number of seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time(pub Duration);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let scale = match &text[digits.len()..] {
            "ms" => 1e-3,
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            unit => return Err(format!("unknown unit `{unit}`, expected ms, s, m or h")),
        };
        match digits.parse::<f64>() {
            Ok(value) if value > 0.0 && value * scale <= 86_400.0 => Ok(Time(Duration::from_secs_f64(value * scale))),
            Ok(_) => Err("expected more than zero and at most a day".into()),
            Err(_) => Err("expected a time, for instance 30s".into()),
        }
    }
}

/// The two sides of `LEFT=RIGHT`.
///
/// *Errors*: a text without either, with what was expected.
pub fn pair(text: &str, expected: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() => Ok((left.into(), right.into())),
        _ => Err(format!("expected {expected}")),
    }
}

pub(crate) fn read_party(text: &str) -> Result<Party, String> {
    text.parse().map(Party).map_err(|_| format!("`{text}` is no party, expected a number from 0 on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read() {
        assert_eq!("in1=0".parse(), Ok(Owner { input: "in1".into(), party: Party(0) }));
        assert_eq!("o=1,0,1".parse(), Ok(To { output: "o".into(), parties: Some(vec![Party(0), Party(1)]) }));
        assert_eq!("o=all".parse(), Ok(To { output: "o".into(), parties: None }));
        assert_eq!("P::N=3".parse(), Ok(Constant::Value("P::N".into(), "3".into())));
        assert_eq!("c.json".parse(), Ok(Constant::File("c.json".into())));
        assert_eq!("off".parse(), Ok(Switch(false)));
        assert_eq!("250ms".parse(), Ok(Time(Duration::from_millis(250))));
        for (text, seconds) in [("2min", 120), ("1m", 60), ("90", 90), ("1h", 3600), ("24h", 86_400)] {
            assert_eq!(text.parse(), Ok(Time(Duration::from_secs(seconds))), "{text}");
        }
    }

    #[test]
    fn ports_are_written_as_they_are_read() {
        let ports: Ports = "key:128=0,block=1".parse().expect("ports");
        let key = NewInput { name: "key".into(), width: Some(128), owner: Party(0) };
        let block = NewInput { name: "block".into(), width: None, owner: Party(1) };
        assert_eq!((&ports.0[..], ports.words()), (&[key, block][..], "key:128=0,block=1".into()));
        let example = "expected NAME=K or NAME:WIDTH=K, for instance key:128=0,block:128=1";
        for text in ["", "key", "=0", "a=0,"] {
            assert_eq!(text.parse::<Ports>().expect_err(text), example);
        }
        assert_eq!("a:0=1".parse::<Ports>().expect_err("no wires"), "expected a number of at least 1");
        assert_eq!("a:8=x".parse::<Ports>().expect_err("no party"), "`x` is no party, expected a number from 0 on");
    }

    #[test]
    fn a_malformed_pair_is_refused_with_an_example() {
        assert_eq!("in1".parse::<Owner>().unwrap_err(), "expected INPUT=K, for instance in1=0");
        assert_eq!("in1=x".parse::<Owner>().unwrap_err(), "`x` is no party, expected a number from 0 on");
        assert!("N".parse::<Constant>().unwrap_err().starts_with("expected NAME=VALUE"));
        assert_eq!("no".parse::<Switch>().unwrap_err(), "expected on or off");
        assert!("o=".parse::<To>().is_err());
        assert!("o=1,".parse::<To>().is_err());
    }

    #[test]
    fn a_command_line_can_be_copied_into_a_shell() {
        let mut program = ProgramArgs::plain("lib:layered(10, 90)");
        program.changes.ports = Some("in0=1,in1:8=0".parse().expect("ports"));
        program.changes.reversed = vec!["in1".into()];
        program.changes.owners = vec!["in1=2".parse().expect("a pair")];
        program.changes.recipients = vec!["o=1,0".parse().expect("a pair"), "p=all".parse().expect("a pair")];
        program.changes.function = "score".into();
        program.changes.panics = Switch(false);
        let params = ["form=linear".parse().expect("a pair")];
        assert_eq!(
            command_line("prepare", &program, ("bmr", &params), &[("--store", "it's here".into())]),
            "garblet prepare 'lib:layered(10, 90)' --ports in0=1,in1:8=0 --reverse in1 --owner in1=2 --to o=0,1 --to p=all --function score --panics off --protocol bmr \
             --param form=linear --store 'it'\\''s here'"
        );
    }

    #[test]
    fn times_out_of_range_are_refused() {
        for text in ["", "0s", "-1s", "25h", "2000min", "1d", "nan", "inf"] {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
    }
}
