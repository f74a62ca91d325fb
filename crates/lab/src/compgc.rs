//! `garblet-lab compgc`: the experiments of the paper on components, and functions that its library never saw.
//!
//! Two threads joined by loopback TCP, each with a store of its own. The stores are filled once, before any function is
//! named; then every function runs with every way of linking. *Online* is what the evaluator spends from the moment that the
//! function is named, and its inputs with it: finding components, taking them from its store, links, labels, evaluation.
//! *Naive* is the same garbling with the tables made and sent online and transfers prepared.

mod experiments;
mod parties;
mod prepare;
mod rows;

use garblet_console::{
    args::at_least_one,
    failure::Failure,
    output::{bytes, seconds, table},
};
use garblet_net::SimulatedLink;
use serde::Serialize;

use crate::{
    page::Form,
    published::{Paper, section},
};
use experiments::Experiment;
use rows::Published;

/// The options of `garblet-lab compgc`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// One-way latency and rate between the parties, simulated, as 33ms,50mbit
    #[arg(long, value_name = "LATENCY,RATE")]
    link: Option<SimulatedLink>,
    /// Run each function N times with each way of linking, and report the median
    #[arg(long, value_name = "N", value_parser = at_least_one::<std::num::NonZeroU32>, default_value = "3")]
    repeat: std::num::NonZeroU32,
    /// Only functions whose name begins with this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Garbling scheme of the components: half-gates or grr3
    #[arg(long, default_value = "half-gates")]
    scheme: garblet::SchemeKind,
    /// Also time evaluation alone, linked and as one circuit
    #[arg(long)]
    evaluation: bool,
    /// Only prepare N rounds of AES on disk, and compare time and bytes with garbling and writing alone
    #[arg(long, value_name = "N")]
    prepare: Option<u64>,
    /// Link two rounds of AES as the paper does, and break them: recover the difference of all labels and the round key
    #[arg(long)]
    insecure_as_published: bool,
    #[command(flatten)]
    form: Form,
}

/// One function with one way of linking.
#[derive(Serialize)]
struct Row {
    function: String,
    links: &'static str,
    components: u64,
    and: u64,
    /// The evaluator's, from when the function and the inputs are named until it has the result.
    online_seconds: f64,
    /// The evaluator's from the inputs on, where the function was named before.
    inputs_seconds: f64,
    online_bytes_received: u64,
    online_megabit: f64,
    rounds: u64,
    /// Naive time by this.
    naive_ratio: f64,
    published: Option<Published>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_naive_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluation: Option<parties::Evaluation>,
}

#[derive(Serialize)]
struct Report {
    link: Option<String>,
    scheme: String,
    /// Filling the stores for all that follows.
    prepare_seconds: f64,
    prepare_bytes: u64,
    rows: Vec<Row>,
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    if options.insecure_as_published {
        return parties::published_attack(&options.form);
    }
    if let Some(rounds) = options.prepare {
        return prepare::prepare_rounds(rounds, &options.form);
    }
    let report = measure(options)?;
    options.form.give(&report, &report.text(), section(Paper::Compgc, rows::of(&report, options.link)))
}

fn measure(options: &Options) -> Result<Report, Failure> {
    let wanted = |e: &Experiment| options.only.as_deref().is_none_or(|only| e.name.starts_with(only));
    let all: Vec<Experiment> = experiments::all()?.into_iter().filter(wanted).collect();
    if let (Some(only), true) = (&options.only, all.is_empty()) {
        let names: Vec<String> = experiments::all()?.into_iter().map(|experiment| experiment.name.into()).collect();
        return Err(Failure::call(format!("--only {only}: no function begins so"))
            .hint(format!("there are {}", names.join(", "))));
    }
    let measured = parties::run_all(&all, options.link, options.scheme, options.repeat.get())?;
    let mut all_rows = Vec::new();
    for (experiment, runs) in all.iter().zip(&measured.runs) {
        let naive = runs.iter().find(|run| run.links == "naive").map_or(0.0, |run| run.online_seconds);
        let evaluation = options.evaluation.then(|| parties::evaluation(experiment, options.scheme)).transpose()?;
        let counts = experiment.program.stats();
        for run in runs {
            let [published, published_naive] =
                [run.links, "naive"].map(|links| rows::published(experiment.name, links));
            all_rows.push(Row {
                function: experiment.name.into(),
                links: run.links,
                components: experiment.program.instance_count() as u64,
                and: counts.and,
                online_seconds: run.online_seconds,
                inputs_seconds: run.inputs_seconds,
                online_bytes_received: run.bytes_received,
                online_megabit: run.bytes_received as f64 * 8e-6,
                rounds: run.rounds,
                naive_ratio: naive / run.online_seconds,
                published,
                published_naive_ratio: published.zip(published_naive).map(|(p, n)| n.simulated_ms / p.simulated_ms),
                evaluation: evaluation.clone().filter(|_| run.links == "template"),
            });
        }
    }
    Ok(Report {
        link: options.link.map(|link| link.to_string()),
        scheme: options.scheme.to_string(),
        prepare_seconds: measured.prepare_seconds,
        prepare_bytes: measured.prepare_bytes,
        rows: all_rows,
    })
}

impl Report {
    fn text(&self) -> String {
        let heads = ["function", "links", "online", "received", "naive /", "published", "published Mbit", "naive /"];
        let mut rows = vec![heads.map(String::from).to_vec()];
        for row in &self.rows {
            let published = row.published;
            let dash = || "-".to_string();
            rows.push(vec![
                row.function.clone(),
                row.links.into(),
                seconds(row.online_seconds),
                format!("{:.3} Mbit", row.online_megabit),
                format!("{:.1}", row.naive_ratio),
                published.map_or_else(dash, |p| format!("{} ms", p.simulated_ms)),
                published.map_or_else(dash, |p| p.megabit.to_string()),
                row.published_naive_ratio.map_or_else(dash, |ratio| format!("{ratio:.1}")),
            ]);
        }
        let mut text = format!(
            "link {}, {}; stores filled in {} with {}\n\n{}",
            self.link.as_deref().unwrap_or("localhost"),
            self.scheme,
            seconds(self.prepare_seconds),
            bytes(self.prepare_bytes),
            table(&rows)
        );
        for row in &self.rows {
            if let Some(e) = &row.evaluation {
                text.push_str(&format!(
                    "\n{}: evaluation {} linked, {} as one circuit: {:.2}; opening prepared links {}, with it {:.2}\n",
                    row.function,
                    seconds(e.linked_seconds),
                    seconds(e.flat_seconds),
                    e.linked_seconds / e.flat_seconds,
                    seconds(e.opening_seconds),
                    (e.linked_seconds + e.opening_seconds) / e.flat_seconds
                ));
            }
        }
        text
    }
}
