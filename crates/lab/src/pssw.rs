//! `garblet-lab pssw`: the experiments of Pinkas, Schneider, Smart, Williams, *Secure Two-Party Computation is Practical*
//! (ASIACRYPT 2009), section 6: Tables 1 and 2, and what is better today.
//!
//! Against semi-honest parties every method garbles as it was published, with the OT that the paper used, in one process, so that
//! nothing overlaps and each column is measured for itself. Against covert and malicious ones two processes run `covert` and
//! `cut-and-choose` in the forms that the paper measured, which overlap everything; there *precompute* and *calculate* are the processor time of
//! garbler and evaluator.

mod bare;
mod cheating;
mod published;
mod rows;
mod semi_honest;

use garblet_circuit::{Circuit, Type};
use garblet_console::{
    failure::Failure,
    output::{bytes, count, seconds, table, tell},
};
use garblet_garble::published::{Method, PublishedConfig, Sides};
use garblet_synthesis::{
    builder::{CircuitBuilder, Unsigned},
    library,
};
use serde::Serialize;

use crate::{
    page::Form,
    published::{Paper, section},
};
use bare::TimesBare;
use published::{Published, published};

/// The options of `garblet-lab pssw`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only this example: 1 compares and counts bits, 2 is AES-128
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
    example: Option<u8>,
    /// Only against this adversary
    #[arg(long, value_name = "ADVERSARY", value_parser = [SEMI_HONEST, COVERT, MALICIOUS])]
    adversary: Option<String>,
    /// Only this method, for instance prf-ss
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Circuits against malicious parties in the published form
    #[arg(long, value_name = "N", default_value_t = 160, value_parser = clap::value_parser!(u16).range(2..=4096))]
    circuits: u16,
    /// Supersets of commitments in the published form
    #[arg(long, value_name = "N", default_value_t = 160, value_parser = clap::value_parser!(u16).range(2..=4096))]
    supersets: u16,
    /// Repeat what runs in two processes N times and report the fastest run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeat: u16,
    /// Derive keys as published, where two equal labels cancel and reveal the garbler's secret: only to measure, and only against
    /// semi-honest parties
    #[arg(long)]
    insecure_as_published: bool,
    #[command(flatten)]
    form: Form,
}

const SEMI_HONEST: &str = "semi-honest";
const COVERT: &str = "covert";
const MALICIOUS: &str = "malicious";

/// The name of ours, beside the paper's methods.
const DEFAULT: &str = "default";
/// The bare work of ours against malicious parties.
const BARE: &str = "bare";

/// The encoding of inputs by default against malicious parties.
const SYSTEMATIC: Option<&str> = Some("systematic");

/// One line of the tables.
#[derive(Serialize)]
struct Row {
    example: u8,
    adversary: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
    method: &'static str,
    /// None where this is not built.
    measured: Option<Measured>,
    /// None for what the paper does not have.
    published: Option<Published>,
}

/// The cost of one run.
#[derive(Serialize)]
struct Measured {
    /// The way in which it ran, where the method alone does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    as_what: Option<String>,
    gates: u64,
    xor_percent: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    precompute_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    send_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ot_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calculate_seconds: Option<f64>,
    total_seconds: f64,
    /// Thousands of bytes in both directions.
    kilobytes: f64,
    /// Of cheating that goes unnoticed, against malicious parties.
    #[serde(skip_serializing_if = "Option::is_none")]
    cheating_log2: Option<f64>,
    /// Of both parties together.
    #[serde(skip_serializing_if = "Option::is_none")]
    processor_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_rss_bytes: Option<u64>,
    /// Against the bare work of the same call.
    #[serde(skip_serializing_if = "Option::is_none")]
    times_bare: Option<TimesBare>,
}

impl Measured {
    /// A run with these numbers of non-XOR and XOR gates, of which only the time is known.
    fn of_counts(and: u64, xor: u64, total_seconds: f64) -> Self {
        let gates = and + xor;
        Measured {
            as_what: None,
            gates,
            xor_percent: 100.0 * xor as f64 / gates.max(1) as f64,
            precompute_seconds: None,
            send_seconds: None,
            ot_seconds: None,
            calculate_seconds: None,
            total_seconds,
            kilobytes: 0.0,
            cheating_log2: None,
            processor_seconds: None,
            peak_rss_bytes: None,
            times_bare: None,
        }
    }
}

#[derive(Serialize)]
struct Report {
    bench: &'static str,
    insecure_as_published: bool,
    circuits: u16,
    supersets: u16,
    /// Cores of this machine, which both parties use.
    cores: usize,
    rows: Vec<Row>,
}

/// One of the paper's functions.
struct Example {
    number: u8,
    circuit: Circuit,
    /// The number of inputs, the first ones, that are the garbler's.
    garbler_inputs: usize,
}

impl Example {
    /// *Errors*: none that a library circuit could meet.
    fn new(number: u8) -> Result<Self, Failure> {
        let fault = |e: &dyn std::fmt::Display| Failure::no_result(format!("example {number}: {e}: this is a bug"));
        if number == 2 {
            let program = library::find("aes128").map_err(|e| fault(&e))?;
            let circuit = program.flatten().map_err(|e| fault(&e))?.circuit().clone();
            return Ok(Example { number, circuit, garbler_inputs: 128 });
        }
        let mut c = CircuitBuilder::new("compare and count");
        let [a, mask, b]: [Unsigned; 3] =
            [("a", 32), ("mask", 6), ("b", 32)].map(|(name, bits)| c.input(name, Type::Unsigned(bits)));
        let (less, both) = (c.less(&a, &b), c.and_words(&a, &b));
        let common = c.popcount(&both);
        // The evaluator hands this back to the garbler, and learns nothing from it.
        let hidden = c.xor_words(&common, &mask);
        c.output("less", &less);
        c.output("hidden", &hidden);
        let circuit = c.finish().map_err(|e| fault(&e))?.circuit().clone();
        Ok(Example { number, circuit, garbler_inputs: 38 })
    }
}

/// Runs the benchmark.
///
/// *Errors*: a run that fails; standard output cannot be written.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for number in (1..=2).filter(|number| options.example.is_none_or(|only| only == *number)) {
        rows.extend(options.rows(&Example::new(number)?)?);
    }
    if rows.is_empty() {
        let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).chain([DEFAULT, BARE]).collect();
        return Err(Failure::call("no method is left for this --method and --adversary")
            .hint(format!("the methods are {}", names.join(", "))));
    }
    if options.insecure_as_published {
        tell("warning: keys are derived as published; equal labels cancel, and the evaluator can learn every input");
    }
    let Options { insecure_as_published, circuits, supersets, .. } = *options;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let text = text(&rows) + &times_bare(&rows, cores);
    let report = Report { bench: "pssw", insecure_as_published, circuits, supersets, cores, rows };
    options.form.give(&report, &text, section(Paper::Pssw, rows::of(&report.rows)))
}

impl Options {
    fn rows(&self, example: &Example) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        let published = published().into_iter().filter(|row| row.example == example.number);
        for row in published.filter(|row| self.wants(row.adversary, row.method)) {
            let method = Method::ALL.iter().copied().find(|method| method.name() == row.method);
            let measured = match (row.adversary, row.encoding, method) {
                (SEMI_HONEST, _, Some(method)) => Some(semi_honest::measure(example, self.config(method))?),
                (adversary, Some(encoding), Some(method)) => {
                    Some(cheating::as_published(self, example, [adversary, encoding], method)?)
                }
                _ => None,
            };
            let (adversary, encoding, method) = (row.adversary, row.encoding, row.method);
            rows.push(Row { example: row.example, adversary, encoding, method, measured, published: Some(row) });
        }
        rows.extend(self.later_rows(example)?);
        let adversaries = [SEMI_HONEST, COVERT, MALICIOUS];
        rows.sort_by_key(|row| (adversaries.iter().position(|adversary| *adversary == row.adversary), row.encoding));
        Ok(rows)
    }

    /// The rows that the paper does not have.
    fn later_rows(&self, example: &Example) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        let mut push = |adversary, encoding, method, measured| {
            let (example, measured) = (example.number, Some(measured));
            rows.push(Row { example, adversary, encoding, method, measured, published: None });
        };
        let (glnp, base) = (Method::Glnp, Method::Base.name());
        let all = published();
        let groups = all.iter().filter(|row| row.example == example.number && row.method == base);
        for row in groups.filter(|row| self.wants(row.adversary, glnp.name())) {
            let measured = match row.encoding {
                Some(encoding) => cheating::as_published(self, example, [row.adversary, encoding], glnp)?,
                None => semi_honest::measure(example, self.config(glnp))?,
            };
            push(row.adversary, row.encoding, glnp.name(), measured);
        }
        for adversary in [SEMI_HONEST, COVERT, MALICIOUS].into_iter().filter(|adversary| self.wants(adversary, DEFAULT))
        {
            let mut run = cheating::default(example, adversary, self.repeat)?;
            if adversary == MALICIOUS {
                let bare = bare::measure(example)?;
                run.times_bare = Some(TimesBare::of(&run, &bare));
                push(adversary, SYSTEMATIC, BARE, bare);
            }
            let encoding = SYSTEMATIC.filter(|_| adversary == MALICIOUS);
            push(adversary, encoding, DEFAULT, run);
        }
        Ok(rows)
    }

    fn wants(&self, adversary: &str, method: &str) -> bool {
        let is = |only: &Option<String>, name: &str| only.as_deref().is_none_or(|only| only == name);
        is(&self.adversary, adversary) && is(&self.method, method)
    }

    fn config(&self, method: Method) -> PublishedConfig {
        let sides = if self.insecure_as_published { Sides::AsPublished } else { Sides::Separated };
        PublishedConfig { method, sides }
    }
}

fn text(rows: &[Row]) -> String {
    let heads = [
        "method",
        "gates",
        "XOR",
        "precompute",
        "send",
        "OT",
        "calculate",
        "total",
        "bytes",
        "published total",
        "bytes",
    ];
    let mut text = String::new();
    let mut last = (0, "", None);
    let mut lines = Vec::new();
    for row in rows {
        let group = (row.example, row.adversary, row.encoding);
        if group != last {
            text += &table(&std::mem::take(&mut lines));
            let encoding = row.encoding.map(|encoding| format!(", {encoding} inputs")).unwrap_or_default();
            text += &format!("\nexample {}, {}{encoding}\n", row.example, row.adversary);
            lines.push(heads.map(String::from).to_vec());
            last = group;
        }
        lines.push(row.cells());
    }
    text + &table(&lines)
}

/// The ratios of the default runs to their bare work, in words.
fn times_bare(rows: &[Row], cores: usize) -> String {
    let of_row = |row: &Row| {
        let TimesBare { wall, processor } = row.measured.as_ref()?.times_bare?;
        let processor = processor.map(|times| format!(", {times:.1} times its processor time")).unwrap_or_default();
        let number = row.example;
        Some(format!(
            "\nexample {number}: default takes {wall:.1} times the time of bare{processor}, on {cores} cores\n"
        ))
    };
    rows.iter().filter_map(of_row).collect()
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.method.to_string()];
        let time = |time: Option<f64>| time.map(seconds).unwrap_or_default();
        match &self.measured {
            Some(m) => cells.extend([
                count(m.gates),
                format!("{:.0} %", m.xor_percent),
                time(m.precompute_seconds),
                time(m.send_seconds),
                time(m.ot_seconds),
                time(m.calculate_seconds),
                seconds(m.total_seconds),
                bytes((1000.0 * m.kilobytes) as u64),
            ]),
            None => cells.extend([const { String::new() }; 8]),
        }
        if let Some(published) = &self.published {
            cells.extend([seconds(published.total_seconds.into()), bytes(1000 * u64::from(published.kilobytes))]);
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            example: None,
            adversary: Some(SEMI_HONEST.into()),
            method: None,
            circuits: 160,
            supersets: 160,
            repeat: 1,
            insecure_as_published: false,
            form: Form::text(),
        }
    }

    #[test]
    fn every_method_is_measured_on_both_examples_and_sends_less_than_published() {
        for number in 1..=2 {
            let example = Example::new(number).unwrap();
            let methods = Method::ALL.iter().map(|&method| (method, options().config(method)));
            for (method, config) in methods {
                let measured = semi_honest::measure(&example, config).unwrap();
                let all = published();
                let published = all
                    .iter()
                    .find(|row| (row.example, row.adversary, row.method) == (number, SEMI_HONEST, method.name()));
                assert_eq!(published.is_some(), method != Method::Glnp);
                if let Some(published) = published {
                    assert!(measured.kilobytes < published.kilobytes.into() && measured.gates < published.gates.into());
                }
            }
        }
    }

    #[test]
    fn rows_are_chosen_by_adversary_and_method() {
        let mut options = options();
        options.method = Some("prf-ss".into());
        assert!(options.wants(SEMI_HONEST, "prf-ss") && !options.wants(SEMI_HONEST, "base"));
        assert!(!options.wants(MALICIOUS, "prf-ss"));
        options.insecure_as_published = true;
        assert_eq!(options.config(Method::Base).sides, Sides::AsPublished);
        let rows = options.rows(&Example::new(1).unwrap()).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].cells().len(), 11);
    }

    #[test]
    fn the_bare_work_is_that_of_each_circuit_once_and_runs_are_held_against_it() {
        let example = Example::new(2).unwrap();
        let bare = bare::measure(&example).unwrap();
        let what = "128 circuits garbled, 51 evaluated, 77 garbled again, on one core";
        assert_eq!(bare.as_what.as_deref(), Some(what));
        let [garbler, evaluator] = [bare.precompute_seconds, bare.calculate_seconds].map(Option::unwrap);
        assert!(0.0 < garbler && 0.0 < evaluator && bare.total_seconds == garbler + evaluator);
        let mut run = Measured::of_counts(1, 0, 3.0 * bare.total_seconds);
        run.processor_seconds = Some(6.0 * bare.total_seconds);
        run.times_bare = Some(TimesBare::of(&run, &bare));
        let row = Row {
            example: 2,
            adversary: MALICIOUS,
            encoding: None,
            method: DEFAULT,
            measured: Some(run),
            published: None,
        };
        assert_eq!(
            times_bare(&[row], 2),
            "\nexample 2: default takes 3.0 times the time of bare, 6.0 times its processor time, on 2 cores\n"
        );
    }

    #[test]
    fn the_published_tables_are_whole() {
        let count = |example, adversary| {
            published().iter().filter(|row| (row.example, row.adversary) == (example, adversary)).count()
        };
        assert_eq!([SEMI_HONEST, COVERT, MALICIOUS].map(|adversary| count(1, adversary)), [4, 8, 8]);
        assert_eq!([SEMI_HONEST, COVERT, MALICIOUS].map(|adversary| count(2, adversary)), [4, 4, 4]);
        let total: u32 = published().iter().map(|row| row.kilobytes).sum();
        assert_eq!(total, 3_921_790);
    }
}
