//! `garblet-lab partialgc`: the experiments of Mood, Gupta, Butler, Feigenbaum, *Reuse It Or Lose It: More Efficient Secure
//! Computation Through Reuse of Encrypted Values* (CCS 2014), section 6: tables 1 to 4 and the programs of figures 4, 5 and 7, by `outsourced`.
//!
//! Generator, client and cloud are a process each, on one machine; with `form=partialgc` and values that stay, a thread each. The client's links may be
//! slow ones; the paper's client is a phone in table 2, and a process on the servers' machine in table 4.

mod attacks;
mod chains;
mod in_memory;
mod links;
mod measure;
mod programs;
mod published;
mod rows;
mod stored;
mod text;
mod visits;

use std::num::NonZeroUsize;

use garblet_cli::slow::SlowParty;
use garblet_console::{
    args::at_least_one,
    failure::{Failure, reason},
    program,
};
use garblet_net::SimulatedLink;
use serde::Serialize;

use crate::{
    page::Form,
    published::{Paper, section},
};
use chains::{Chain, Step};
use measure::{Measured, Setting, Way, measure};
use programs::{CLIENT, PaperProgram, of_table};
use published::{Published, published};

/// The options of `garblet-lab partialgc`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("experiment").required(true).args(["table", "figure", "insecure_as_published"]))]
pub(crate) struct Options {
    /// The paper's table: 1 counts gates and runs nothing, 2 has times with a client on a slow link, 3 the client's bytes, 4 times with
    /// a client on the servers' machine
    #[arg(long, value_name = "N", value_parser = ["1", "2", "3", "4"])]
    table: Option<String>,
    /// The paper's figure: 4 has the longest common substring, by one symbol more or as a whole, 5 a database that is saved once and read, 7
    /// the map of friends
    #[arg(long, value_name = "N", value_parser = ["4", "5", "7"])]
    figure: Option<String>,
    /// Do two steps of the paper literally, and break them: a client reads the next run's secrets, and a generator with one client garbles
    /// what it likes
    #[arg(long)]
    insecure_as_published: bool,
    /// Only programs whose name contains this
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// The forms of `outsourced` to run: shares, or partialgc, the paper's construction
    #[arg(long = "form", value_name = "FORM,FORM", value_delimiter = ',', default_value = "shares", value_parser = ["shares", "partialgc"])]
    forms: Vec<String>,
    /// With partialgc: run each program with these numbers of circuits
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "16,64,256", value_parser = ["16", "64", "256"])]
    circuits: Vec<String>,
    /// With shares: run each program with these statistical bounds, as negated log2
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "40,80", value_parser = ["40", "64", "80"])]
    statistical: Vec<String>,
    /// Run each program N times; the paper has 10
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>, default_value = "3")]
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
    program: String,
    circuit: String,
    /// AND gates of ours, which has no MAC.
    and: u64,
    /// The same with the gates of the paper's MAC. None where the paper's counts do not tell those apart.
    and_with_published_mac: Option<u64>,
    published: Published,
    /// Bits that stay with the servers after a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_bits: Option<u64>,
    /// Bits that a run reads of what had stayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_bits: Option<u64>,
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
    if options.insecure_as_published {
        return attacks::run(&options.form);
    }
    let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok());
    let (table, figure): (Option<u8>, Option<u8>) = (number(&options.table), number(&options.figure));
    let rows = match figure {
        Some(5 | 7) => options.chained_rows(figure)?,
        _ => options.rows(table)?,
    };
    let report = Report {
        bench: "partialgc",
        table,
        figure,
        client: CLIENT_HERE,
        client_link: options.client_link.map(|link| link.to_string()),
        repeat: options.repeat,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        rows,
    };
    options.form.give(&report, &text::of(&report), section(Paper::Partialgc, rows::of(&report)))
}

impl Options {
    /// Tells whether a program is asked for.
    fn wants(&self, name: &str, circuit: &str) -> bool {
        let has = |name: &str, part: &str| name.to_lowercase().contains(&part.to_lowercase());
        self.function.as_ref().is_none_or(|only| has(name, only) || has(circuit, only))
    }

    /// The failure if no program is asked for.
    fn none_wanted<'a>(&self, names: impl Iterator<Item = &'a str>) -> Failure {
        let (asked, names) = (self.function.as_deref().unwrap_or_default(), names.collect::<Vec<_>>().join(", "));
        Failure::call(format!("--function {asked}: no program of this experiment has that in its name"))
            .hint(format!("the programs are {names}"))
    }

    /// Each form at each of its bounds.
    fn settings(&self) -> impl Iterator<Item = Setting> + '_ {
        self.forms.iter().flat_map(|form| match &form[..] {
            "partialgc" => self.circuits.iter().map(|circuits| Setting::Circuits(circuits.clone())).collect::<Vec<_>>(),
            _ => self.statistical.iter().map(|statistical| Setting::Statistical(statistical.clone())).collect(),
        })
    }

    fn slow(&self) -> Option<SlowParty> {
        self.client_link.map(|link| SlowParty { party: CLIENT, link })
    }

    fn way(&self, setting: Setting) -> Way {
        Way { setting, repeat: self.repeat.get(), slow: self.slow() }
    }

    /// The rows of a table, or of figure 4 if it is none.
    fn rows(&self, table: Option<u8>) -> Result<Vec<Row>, Failure> {
        let all = of_table(table);
        let wanted: Vec<&PaperProgram> =
            all.iter().copied().filter(|program| self.wants(program.name, program.circuit)).collect();
        if wanted.is_empty() {
            return Err(self.none_wanted(all.iter().map(|program| program.name)));
        }
        wanted.into_iter().map(|program| self.row(program, table)).collect()
    }

    /// The rows of a figure whose programs keep values and read them. A chain is run as a whole if a program of it is asked for.
    fn chained_rows(&self, figure: Option<u8>) -> Result<Vec<Row>, Failure> {
        let folder =
            tempfile::tempdir().map_err(|error| Failure::no_result(format!("no folder: {}", reason(&error))))?;
        let mut chains = match figure {
            Some(5) => chains::databases(folder.path())?,
            _ => chains::maps(folder.path())?,
        };
        let wants = |step: &Step| self.wants(&step.name, &step.circuit);
        let all = chains.iter().flat_map(|chain| &chain.steps);
        if !all.clone().any(wants) {
            return Err(self.none_wanted(all.map(|step| &step.name[..])));
        }
        chains.retain(|chain| chain.steps.iter().any(wants));
        let mut rows: Vec<Row> = chains.iter().flat_map(|chain| &chain.steps).map(Row::of_step).collect();
        for setting in self.settings() {
            for (row, measured) in rows.iter_mut().zip(self.chained(&chains, setting)?) {
                row.measured.push(measured.per_bit(row.kept_bits.xor(row.read_bits)));
            }
        }
        rows.retain(|row| self.wants(&row.program, &row.circuit));
        Ok(rows)
    }

    /// The cost of each step of each chain.
    fn chained(&self, chains: &[Chain], setting: Setting) -> Result<Vec<Measured>, Failure> {
        let way = self.way(setting);
        let of_chain = |chain: &Chain| match way.setting {
            Setting::Statistical(_) => stored::measure(chain, &way),
            Setting::Circuits(_) => in_memory::measure(chain, &way),
        };
        let mut measured: Vec<Measured> =
            chains.iter().map(of_chain).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        if matches!(way.setting, Setting::Statistical(_)) {
            let answered = visits::measure(chains, &way)?;
            measured.iter_mut().zip(answered).for_each(|(measured, answered)| measured.answered = Some(answered));
        }
        Ok(measured)
    }

    fn row(&self, paper: &PaperProgram, table: Option<u8>) -> Result<Row, Failure> {
        let program = program::load(&paper.arguments())?;
        let at = |setting: Setting| measure(paper, &program, &self.way(setting));
        let measured = match table {
            Some(1) => Vec::new(),
            _ => self.settings().map(at).collect::<Result<_, _>>()?,
        };
        let (and, published) = (program.stats().and, published(paper.name, table));
        let and_with_published_mac = published.mac_gates(paper.name).map(|mac| and + mac);
        let (program, circuit) = (paper.name.into(), paper.circuit.into());
        let (kept_bits, read_bits) = (None, None);
        Ok(Row { program, circuit, and, and_with_published_mac, published, kept_bits, read_bits, measured })
    }
}

impl Row {
    /// A row without measurements.
    fn of_step(step: &Step) -> Self {
        Row {
            program: step.name.clone(),
            circuit: step.circuit.clone(),
            and: step.program.stats().and,
            and_with_published_mac: None,
            published: Published { about: step.published, ..Published::default() },
            kept_bits: step.kept_bits(),
            read_bits: step.read_bits(),
            measured: Vec::new(),
        }
    }
}
