//! `garblet-lab bmr`: the experiments of Ben-Efraim, Lindell, Omri, *Optimizing Semi-Honest Secure Multiparty Computation for
//! the Internet* (CCS 2016), section 5: several parties, offline and online, and what depth costs each protocol.
//!
//! Every party is a process. They share this machine's cores, so wall time grows with their number as it would not if each had
//! its own; therefore processor time is measured too, and *alone* is what a phase would take a party on a machine of its own:
//! its processor time, its rounds at the link's latency, and its bytes at the link's rate.

mod published;
mod rows;

use std::num::NonZeroUsize;

use garblet::{Phase, PhaseCost, Protocol, run_report::PartyPart};
use garblet_circuit::{Bits, Program, evaluate};
use garblet_cli::local::{Local, Outcome};
use garblet_console::{
    args::{Param, ProgramArgs, at_least_one},
    failure::Failure,
    inputs::by_owner,
    output::{bytes, seconds, table},
    program,
    settings::{PartyCount, Settings},
};
use garblet_net::{DEFAULT_TIMEOUT, SimulatedLink};
use serde::Serialize;

use crate::{
    page::Form,
    published::{Paper, section},
};
use published::{Published, published, rung};

/// The functions of the paper. The last four have the size of its SHA-256.
const FUNCTIONS: [&str; 6] = [
    "lib:aes128",
    "lib:sha256",
    "lib:layered(10, 90825)",
    "lib:layered(100, 90825)",
    "lib:layered(1000, 90825)",
    "lib:layered(4000, 90825)",
];

/// A protocol with its parameters, as it runs and as the paper calls it.
struct Contender {
    protocol: &'static str,
    params: &'static [(&'static str, &'static str)],
    paper: &'static str,
}

const CONTENDERS: &[Contender] = &[
    Contender { protocol: "gmw", params: &[("form", "triples")], paper: "GMW" },
    Contender { protocol: "gmw", params: &[("form", "2012")], paper: "GMW" },
    Contender { protocol: "bmr", params: &[("form", "half-gates")], paper: "BMR OT" },
    Contender { protocol: "bmr", params: &[("form", "linear")], paper: "BMR OT" },
    Contender { protocol: "bmr", params: &[("form", "published"), ("hash", "fixed-key")], paper: "BMR OT" },
    Contender { protocol: "bmr-bgw4", params: &[("hash", "fixed-key")], paper: "BMR BGW4" },
    Contender { protocol: "bmr-bgw3", params: &[("form", "linear")], paper: "BMR BGW3" },
    Contender { protocol: "bmr-bgw3", params: &[("form", "published"), ("hash", "fixed-key")], paper: "BMR BGW3" },
    Contender { protocol: "bmr-bgw2", params: &[("form", "linear")], paper: "BMR BGW2" },
    Contender { protocol: "bmr-bgw2", params: &[("form", "published"), ("hash", "fixed-key")], paper: "BMR BGW2" },
];

/// The optimisations of section 4.1, one after the other, and then ours. Without free XOR each XOR gate is garbled as an
/// AND gate is, so a circuit with as many more AND gates stands for that: the paper's SHA-256 has 42,029 XOR gates.
const LADDER: &[(&str, Contender)] = &[
    (XOR_GARBLED, Contender { protocol: "bmr", params: &[("form", "basic"), FIXED_KEY], paper: "basic" }),
    (XOR_GARBLED, Contender { protocol: "bmr", params: &[("form", "three-strings"), FIXED_KEY], paper: "reduced OT" }),
    (XOR_GARBLED, Contender { protocol: "bmr", params: &[("form", "correlated"), FIXED_KEY], paper: "correlated OT" }),
    (XOR_FREE, Contender { protocol: "bmr", params: &[("form", "correlated"), FIXED_KEY], paper: "free XOR" }),
    (XOR_FREE, Contender { protocol: "bmr", params: &[("form", "published"), FIXED_KEY], paper: "two threads" }),
    (XOR_FREE, Contender { protocol: "bmr", params: &[("form", "linear")], paper: "" }),
];

/// The form of a paper.
const AS_PUBLISHED: &str = "as published";

const FIXED_KEY: (&str, &str) = ("hash", "fixed-key");
const XOR_GARBLED: &str = "lib:layered(4000, 132854)";
const XOR_FREE: &str = "lib:layered(4000, 90825)";

impl Contender {
    /// The name of its form in the rows of a page, where one protocol has several: none for our steps to the paper's circuit.
    fn form(&self) -> Option<&'static str> {
        self.params.iter().find_map(|(_, value)| match *value {
            "published" | "2012" => Some(AS_PUBLISHED),
            "half-gates" => Some("half gates"),
            _ => None,
        })
    }

    /// Tells whether the protocol runs with this number of parties.
    fn has(&self, parties: u16) -> bool {
        self.protocol.parse::<Protocol>().is_ok_and(|protocol| protocol.parties().contains(&parties))
    }
}

/// The options of `garblet-lab bmr`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Numbers of parties; the paper has 3, 5, 7, 9, 11, 13 and 33
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "3")]
    parties: Vec<u16>,
    /// One-way latency and rate of every link between parties, simulated, as 37.5ms,1gbit
    #[arg(long, value_name = "LATENCY,RATE")]
    link: Option<SimulatedLink>,
    /// Only functions whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Only this protocol
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Option<String>,
    /// Measure the optimisations of section 4.1, one after the other, instead of functions and protocols
    #[arg(long, conflicts_with_all = ["only", "protocol"])]
    ladder: bool,
    /// Repeat N times and report the median
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>, default_value = "1")]
    repeat: NonZeroUsize,
    #[command(flatten)]
    form: Form,
}

/// One function by one protocol.
#[derive(Serialize)]
struct Row {
    function: &'static str,
    protocol: String,
    /// The paper's name of the protocol or of the optimisation, and the form of it that runs.
    #[serde(skip)]
    paper: &'static str,
    #[serde(skip)]
    form: Option<&'static str>,
    parties: u16,
    and: u64,
    and_depth: u64,
    /// Set-up apart: preparing and building.
    offline: Part,
    online: Part,
    setup: Part,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<Published>,
}

/// The cost of some phases: times are of the slowest party, bytes and rounds of the busiest.
#[derive(Serialize)]
struct Part {
    seconds: f64,
    /// None where the system does not tell.
    cpu_seconds_per_party: Option<f64>,
    /// The time that it would take with a machine for every party.
    alone_seconds: Option<f64>,
    bytes_sent_per_party: u64,
    rounds: u64,
}

#[derive(Serialize)]
struct Measured {
    link: Option<String>,
    rows: Vec<Row>,
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let wanted = |(function, contender): &(&'static str, &Contender)| {
        options.only.as_ref().is_none_or(|only| function.contains(&only.to_lowercase()))
            && options.protocol.as_ref().is_none_or(|only| only == contender.protocol)
    };
    let all: Vec<(&'static str, &Contender)> = match options.ladder {
        true => LADDER.iter().map(|(function, contender)| (*function, contender)).collect(),
        false => {
            let with_all = |function| CONTENDERS.iter().map(move |contender| (function, contender));
            FUNCTIONS.into_iter().flat_map(with_all).filter(wanted).collect()
        }
    };
    if !all.iter().any(|(_, contender)| options.parties.iter().any(|parties| contender.has(*parties))) {
        return Err(Failure::call("no function and protocol is left for these parties, --only and --protocol")
            .hint(format!("the functions are {}; the protocols are gmw and those of bmr", FUNCTIONS.join(", "))));
    }
    let mut rows = Vec::new();
    for &parties in &options.parties {
        for (function, contender) in all.iter().filter(|(_, contender)| contender.has(parties)) {
            rows.push(measure(options, function, parties, contender)?);
        }
    }
    let measured = Measured { link: options.link.map(|link| link.to_string()), rows };
    let rows = rows::of(&measured.rows, options.link, options.ladder);
    options.form.give(&measured, &measured.text(), section(Paper::Bmr, rows))
}

fn measure(options: &Options, function: &'static str, parties: u16, contender: &Contender) -> Result<Row, Failure> {
    let args = ProgramArgs::plain(function);
    let program = program::load(&args)?;
    let param = |(name, value): &(&str, &str)| Param { name: (*name).into(), value: (*value).into() };
    let settings = Settings {
        protocol: contender.protocol.into(),
        params: contender.params.iter().map(param).collect(),
        link: options.link.map(|link| link.to_string()),
        timeout: DEFAULT_TIMEOUT,
        job: None,
    };
    let parties = settings.parties(&program, Some(PartyCount::Option(parties)))?;
    let outcome = run_checked(&args, &program, parties, &settings, options.repeat.get())?;
    let parts = &outcome.report.per_party;
    let link = options.link.unwrap_or_default();
    let cpu = |of: fn(&garblet::run_report::CpuSeconds) -> f64| {
        parts.iter().map(|part| part.cpu_seconds.as_ref().map(of)).try_fold(0.0, |most: f64, cpu| Some(most.max(cpu?)))
    };
    let values: Vec<&str> = contender.params.iter().map(|(_, value)| *value).collect();
    Ok(Row {
        function,
        paper: contender.paper,
        form: contender.form(),
        protocol: format!("{} {}", contender.protocol, values.join(" ")).trim().into(),
        parties,
        and: outcome.report.program.and,
        and_depth: outcome.report.program.and_depth,
        setup: Part::of(parts, &[Phase::Setup], cpu(|cpu| cpu.setup), link),
        offline: Part::of(parts, &[Phase::Prepare, Phase::Build], cpu(|cpu| cpu.prepare + cpu.build), link),
        online: Part::of(parts, &[Phase::Online], cpu(|cpu| cpu.online), link),
        published: match options.ladder {
            true => rung(contender.paper, parties, options.link),
            false => published(function, contender.paper, parties),
        },
    })
}

/// The median run, with its result checked against the plain evaluator.
fn run_checked(
    args: &ProgramArgs,
    program: &Program,
    parties: u16,
    settings: &Settings,
    times: usize,
) -> Result<Outcome, Failure> {
    let value =
        |(k, width): (usize, u32)| (0..width).map(|bit| (bit as usize * 7 + k).is_multiple_of(3)).collect::<Bits>();
    let widths = program.inputs().iter().map(|input| input.port.width()).enumerate();
    let values: Vec<Bits> = widths.map(value).collect();
    let expected: Vec<Option<Bits>> = evaluate(program, &values).into_iter().map(Some).collect();
    let inputs = by_owner(program, &values, parties);
    let outcome = Local { args, program, inputs: &inputs, settings, ahead: None, slow: None }.repeat(times)?;
    match outcome.outputs == expected {
        true => Ok(outcome),
        false => Err(Failure::no_result(format!("{}: wrong result: this is a bug", args.program))),
    }
}

impl Part {
    fn of(parts: &[PartyPart], phases: &[Phase], cpu: Option<f64>, link: SimulatedLink) -> Self {
        let cost = |part: &PartyPart| {
            let mut sum = PhaseCost::default();
            for phase in phases {
                let cost = part.phases.of(*phase);
                sum.seconds += cost.seconds;
                sum.communication += cost.communication;
            }
            sum
        };
        let costs: Vec<PhaseCost> = parts.iter().map(cost).collect();
        let bytes_sent = costs.iter().map(|cost| cost.communication.bytes_sent).max().unwrap_or(0);
        let rounds = costs.iter().map(|cost| cost.communication.rounds).max().unwrap_or(0);
        // Every pair has a link of its own.
        let peers = parts.len().saturating_sub(1).max(1) as f64;
        let per_link = link.bits_per_second.map_or(0.0, |bits| bytes_sent as f64 * 8.0 / bits / peers);
        let on_the_way = rounds as f64 * link.latency.as_secs_f64() + per_link;
        Part {
            seconds: costs.iter().map(|cost| cost.seconds).fold(0.0, f64::max),
            cpu_seconds_per_party: cpu,
            alone_seconds: cpu.map(|cpu| cpu + on_the_way),
            bytes_sent_per_party: bytes_sent,
            rounds,
        }
    }

    fn cells(&self, published: Option<f64>) -> Vec<String> {
        let time = |time: Option<f64>| time.map_or("-".into(), seconds);
        vec![
            seconds(self.seconds),
            time(self.cpu_seconds_per_party),
            time(self.alone_seconds),
            bytes(self.bytes_sent_per_party),
            self.rounds.to_string(),
            time(published),
        ]
    }
}

impl Measured {
    fn text(&self) -> String {
        let heads = ["function", "protocol", "parties", "phase", "time", "CPU", "alone", "sent", "rounds", "published"];
        let mut rows = vec![heads.map(String::from).to_vec()];
        for row in &self.rows {
            let published = row.published.as_ref();
            let parts = [
                ("setup", &row.setup, None),
                ("offline", &row.offline, published.map(|row| row.offline_seconds)),
                ("online", &row.online, published.and_then(|row| row.online_seconds)),
            ];
            for (phase, part, published) in parts {
                let head = [row.function.into(), row.protocol.clone(), row.parties.to_string(), phase.into()];
                rows.push(head.into_iter().chain(part.cells(published)).collect());
            }
        }
        let link = self.link.as_ref().map_or("none".into(), Clone::clone);
        format!(
            "{}\nlink: {link}; time: slowest party; CPU: busiest party; alone: CPU, rounds at the latency and bytes at the rate;\n\
             published: between Virginia and Ireland, round trip about 75 ms, where the paper has it; with --ladder, for 13 parties, in a\n\
             local network, and with a latency of 20 ms and more with a round trip of 76 ms\n",
            table(&rows)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_the_size_and_depth_of_its_name() {
        for function in FUNCTIONS.into_iter().chain(LADDER.iter().map(|(function, _)| *function)) {
            let program = program::load(&ProgramArgs::plain(function)).expect("a function of the library");
            let stats = program.stats();
            if function.contains("layered") {
                assert_eq!(function, format!("lib:layered({}, {})", stats.and_depth, stats.and));
            }
        }
    }
}
