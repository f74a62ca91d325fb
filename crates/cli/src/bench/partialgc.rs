//! `garblet bench partialgc`: the experiments of Mood, Gupta, Butler, Feigenbaum, *Reuse It Or Lose It: More Efficient Secure
//! Computation Through Reuse of Encrypted Values* (CCS 2014), section 6: tables 1 to 4 and the programs of figure 4, by `outsourced`.
//!
//! Generator, client and cloud are a process each, on one machine. The client's links may be slow ones; the paper's client is a phone in table 2, and a
//! process on the servers' machine in table 4.

mod links;
mod measure;
mod programs;
mod published;
mod spread;
mod text;

use std::num::NonZeroUsize;

use garblet_net::SimulatedLink;
use serde::Serialize;

use crate::{args::at_least_one, bench::page::Form, failure::Failure, program, slow::SlowParty};
use measure::{Measured, Setting, Way, measure};
use programs::{CLIENT, PaperProgram, of_table};
use published::{Published, published};

/// The options of `garblet bench partialgc`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("experiment").required(true).args(["table", "figure"]))]
pub(crate) struct Options {
    /// The paper's table: 1 counts gates and runs nothing, 2 has times with a client on a slow link, 3 the client's bytes, 4 times with
    /// a client on the servers' machine
    #[arg(long, value_parser = ["1", "2", "3", "4"])]
    table: Option<String>,
    /// The paper's figure: 4 has the longest common substring, by one symbol more or as a whole
    #[arg(long, value_parser = ["4"])]
    figure: Option<String>,
    /// Only programs whose name contains this
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// The forms of `outsourced` that run: shares, or partialgc, which is the paper's construction
    #[arg(long = "form", value_name = "FORM,FORM", value_delimiter = ',', default_value = "shares", value_parser = ["shares", "partialgc"])]
    forms: Vec<String>,
    /// With partialgc: the numbers of circuits at which each program runs
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "16,64,256", value_parser = ["16", "64", "256"])]
    circuits: Vec<String>,
    /// With shares: the bounds at which each program runs, as negated log2
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "40,80", value_parser = ["40", "64", "80"])]
    statistical: Vec<String>,
    /// Runs of each program; the paper has 10
    #[arg(long, value_parser = at_least_one::<NonZeroUsize>, default_value = "3")]
    repeat: NonZeroUsize,
    /// One-way latency and rate of the links to and from the client, simulated, as 2ms,25mbit
    #[arg(long, value_name = "LATENCY,RATE")]
    client_link: Option<SimulatedLink>,
    #[command(flatten)]
    form: Form,
}

/// One program.
#[derive(Serialize)]
struct Row {
    /// As the paper calls it.
    program: &'static str,
    circuit: &'static str,
    /// AND gates of ours, which has no MAC.
    and: u64,
    /// The same with the gates of the paper's MAC. None where the paper's counts do not tell those apart.
    and_with_published_mac: Option<u64>,
    published: Published,
    /// At each bound; nothing in table 1.
    measured: Vec<Measured>,
}

#[derive(Serialize)]
struct Report {
    bench: &'static str,
    table: Option<u8>,
    figure: Option<u8>,
    /// The client, in words.
    client: &'static str,
    client_link: Option<String>,
    repeat: NonZeroUsize,
    /// Cores of this machine, which all parties use.
    cores: usize,
    rows: Vec<Row>,
}

/// The client of these runs.
const CLIENT_HERE: &str = "a process on the servers' machine";

/// Runs the benchmark.
///
/// *Errors*: no program of that name; a run that fails; standard output cannot be written.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok());
    let (table, figure): (Option<u8>, Option<u8>) = (number(&options.table), number(&options.figure));
    let all = of_table(table);
    let wanted: Vec<&PaperProgram> = all.iter().copied().filter(|program| options.wants(program)).collect();
    if wanted.is_empty() {
        let names: Vec<&str> = all.iter().map(|program| program.name).collect();
        let asked = options.function.as_deref().unwrap_or_default();
        return Err(Failure::call(format!("--function {asked}: no program of this experiment has that in its name"))
            .hint(format!("the programs are {}", names.join(", "))));
    }
    let rows: Result<Vec<Row>, Failure> = wanted.into_iter().map(|program| options.row(program, table)).collect();
    let report = Report {
        bench: "partialgc",
        table,
        figure,
        client: CLIENT_HERE,
        client_link: options.client_link.map(|link| link.to_string()),
        repeat: options.repeat,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        rows: rows?,
    };
    options.form.give(&report, &text::of(&report))
}

impl Options {
    fn wants(&self, program: &PaperProgram) -> bool {
        let has = |name: &str, part: &str| name.to_lowercase().contains(&part.to_lowercase());
        self.function.as_ref().is_none_or(|only| has(program.name, only) || has(program.circuit, only))
    }

    /// Each form at each of its bounds.
    fn settings(&self) -> impl Iterator<Item = Setting> + '_ {
        self.forms.iter().flat_map(|form| match &form[..] {
            "partialgc" => self.circuits.iter().map(|circuits| Setting::Circuits(circuits.clone())).collect::<Vec<_>>(),
            _ => self.statistical.iter().map(|statistical| Setting::Statistical(statistical.clone())).collect(),
        })
    }

    fn row(&self, paper: &PaperProgram, table: Option<u8>) -> Result<Row, Failure> {
        let program = program::load(&paper.arguments())?;
        let slow = self.client_link.map(|link| SlowParty { party: CLIENT, link });
        let at = |setting: Setting| measure(paper, &program, &Way { setting, repeat: self.repeat.get(), slow });
        let measured = match table {
            Some(1) => Vec::new(),
            _ => self.settings().map(at).collect::<Result<_, _>>()?,
        };
        let (and, published) = (program.stats().and, published(paper.name, table));
        let and_with_published_mac = published.mac_gates(paper.name).map(|mac| and + mac);
        let (name, circuit) = (paper.name, paper.circuit);
        Ok(Row { program: name, circuit, and, and_with_published_mac, published, measured })
    }
}
