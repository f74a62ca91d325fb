//! The benchmarks that a user runs before trusting a machine, one file each. All others are in the laboratory, which also reports the results of
//! these in its own formats.

pub mod aes_chains;
pub mod authenticated;
pub mod garbling;
pub mod loopback;
pub mod ot;
pub mod rates;
mod several;
mod silent;
pub mod yao;

use std::ffi::OsString;

use garblet::circuit::diagnostic::nearest;
use garblet_console::{
    failure::Failure,
    output::{self, print, print_json},
};
use garblet_primitives::Backend;
use serde::Serialize;

/// The help text about all other benchmarks.
pub(crate) const OTHERS: &str = "All other benchmarks, such as those of five papers, are in the laboratory. In a clone of the project:\n  \
                                 cargo run --release -p garblet-lab -- --help";

/// The measurements by name.
#[derive(clap::Subcommand)]
pub(crate) enum Bench {
    /// Garbling and evaluating in memory, one thread, against the bare hash calls
    Garbling(Measured<garbling::Options, TextOrJson>),
    /// Base oblivious transfer and its extension
    Ot(Measured<ot::Options, TextOrJson>),
    /// The speeds by which parties choose parameters for a link
    Rates(Measured<rates::Options, TextOrJson>),
    /// A long computation by two processes over loopback TCP
    Yao(Measured<yao::Options, TextOrJson>),
    /// Authenticated garbling against a malicious party: each phase of many copies of a function
    Authenticated(Measured<authenticated::Options, TextOrJson>),
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// The names of the measurements.
const NAMES: [&str; 5] = ["garbling", "ot", "rates", "yao", "authenticated"];

/// A measurement, the engine that it uses, and the form of its result.
#[derive(clap::Args)]
pub struct Measured<O: clap::Args, F: clap::Args> {
    #[command(flatten)]
    options: O,
    #[command(flatten)]
    engine: Engine,
    #[command(flatten)]
    form: F,
}

/// The engine to measure.
#[derive(clap::Args)]
pub(crate) struct Engine {
    /// Use this engine, not the fastest: portable, nibbles, neon, aes-ni, vaes256, vaes
    #[arg(long, value_name = "NAME")]
    engine: Option<Backend>,
}

/// Text or JSON.
#[derive(clap::Args)]
pub(crate) struct TextOrJson {
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// A part of a result.
pub enum Piece {
    /// A table, headed by its first line.
    Table(Vec<Vec<String>>),
    /// Lines with a name and a value.
    Facts(Vec<Vec<String>>),
    /// Lines of text.
    Words(String),
}

/// The output format of results.
pub trait Form {
    /// Reports a result, given both as a value and as pieces.
    ///
    /// *Errors*: it cannot be written.
    fn show(&self, value: &impl Serialize, pieces: Vec<Piece>) -> Result<(), Failure>;
}

impl Piece {
    /// The same on a terminal.
    pub fn text(&self) -> String {
        match self {
            Piece::Table(lines) | Piece::Facts(lines) => output::table(lines),
            Piece::Words(words) => words.clone(),
        }
    }
}

impl Form for TextOrJson {
    fn show(&self, value: &impl Serialize, pieces: Vec<Piece>) -> Result<(), Failure> {
        match self.json {
            true => print_json(value),
            false => print(&pieces.iter().map(Piece::text).collect::<String>()),
        }
    }
}

impl Engine {
    /// Selects it for this process and the parties that it starts.
    fn select(&self) {
        if let Some(engine) = self.engine {
            engine.select();
        }
    }

    /// The name of the selected engine, or else of the fastest.
    pub(crate) fn name() -> &'static str {
        Backend::detect().name()
    }

    /// The line of a result that names it.
    pub(crate) fn line() -> Piece {
        Piece::Words(format!("engine: {}\n", Self::name()))
    }
}

impl<O: clap::Args, F: clap::Args> Measured<O, F> {
    /// Runs it with its engine.
    ///
    /// *Errors*: those of `run`.
    pub fn run(&self, run: fn(&O, &F) -> Result<(), Failure>) -> Result<(), Failure> {
        self.engine.select();
        run(&self.options, &self.form)
    }
}

/// Runs a measurement.
pub(crate) fn run(bench: &Bench) -> Result<(), Failure> {
    match bench {
        Bench::Garbling(call) => call.run(garbling::run),
        Bench::Ot(call) => call.run(ot::run),
        Bench::Rates(call) => call.run(rates::run),
        Bench::Yao(call) => call.run(yao::run),
        Bench::Authenticated(call) => call.run(authenticated::run),
        Bench::Other(words) => Err(other(&words.first().map(|word| word.to_string_lossy()).unwrap_or_default())),
    }
}

/// The error for an unknown benchmark.
fn other(name: &str) -> Failure {
    let failure = Failure::call(format!("bench {name}: expected {}", NAMES.join(", ")));
    match nearest(name, &NAMES) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!(
            "the laboratory has all other benchmarks; in a clone of the project: cargo run --release -p garblet-lab -- {name}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::Cli;

    #[test]
    fn the_names_are_those_of_the_measurements() {
        let command = Cli::command();
        let bench = command.find_subcommand("bench").expect("there is one");
        assert!(bench.get_subcommands().map(clap::Command::get_name).eq(NAMES));
    }

    #[test]
    fn a_benchmark_of_the_laboratory_is_named_with_its_command() {
        let hint = |name: &str| other(name).hint.unwrap_or_default();
        assert!(hint("lego").ends_with("cargo run --release -p garblet-lab -- lego"), "{}", hint("lego"));
        assert_eq!(hint("garblin"), "did you mean `garbling`?");
    }
}
