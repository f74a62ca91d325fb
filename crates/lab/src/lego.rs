//! `garblet-lab lego`: the experiments of Nielsen, Schneider, Trifiletti, *Constant Round Maliciously Secure 2PC with
//! Function-Independent Preprocessing Using LEGO* (NDSS 2017), section VI: many copies of AES-128 and SHA-256 from one pool.
//!
//! The first copy runs alone, for latency; the others run at once, for throughput.

mod bare;
mod parties;
mod published;
mod rows;

use std::sync::Arc;

use garblet::lego::{Amounts, Code, Config, Order, Plan};
use garblet_console::{
    failure::Failure,
    hints::explain,
    output::{bytes, seconds, table},
    report::peak_rss_bytes,
};
use garblet_net::SimulatedLink;
use garblet_synthesis::library;
use serde::Serialize;

use crate::{
    page::Form,
    published::{Paper, lego::and_gates, section},
};
use parties::{Job, Measured};
use published::{Published, name, published, sizing};

/// The options of `garblet-lab lego`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The function
    #[arg(long, value_name = "NAME", default_value = "aes128", value_parser = ["aes128", "sha256"])]
    function: String,
    /// The numbers of copies that come from one pool; the paper has 1, 32, 128 and 1024 of AES-128, 1, 32, 128 and 256 of SHA-256
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "1,32",
          value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    copies: Vec<u32>,
    /// Use the paper's code and bucket sizes instead of those with the fewest bytes
    #[arg(long)]
    published: bool,
    /// One-way latency and rate of the link, simulated, as 40.5ms,1gbit
    #[arg(long, value_name = "LATENCY,RATE")]
    link: Option<SimulatedLink>,
    #[command(flatten)]
    form: Form,
}

/// One row: figures per copy, as the evaluator sees them; bytes are those that the constructor sends.
#[derive(Serialize)]
struct Row {
    function: String,
    copies: u32,
    and: u64,
    buckets: [u32; 3],
    check_gates: f64,
    check_authenticators: f64,
    cheating_log2: f64,
    setup_seconds: f64,
    independent_seconds: f64,
    /// Of that, per AND gate.
    independent_ns_per_and: f64,
    /// The time that streams, encodings, transpositions and hashes alone take each party, the constructor first; and how often
    /// the slower one's time, both working at once, the whole takes.
    bare_seconds: [f64; 2],
    independent_of_bare: f64,
    /// The most memory that both parties, which are one process, held until all was prepared and had run.
    peak_rss_bytes: Option<u64>,
    taking_seconds: f64,
    dependent_seconds: f64,
    online_latency_seconds: f64,
    online_throughput_seconds: f64,
    online_rounds: u64,
    independent_bytes: f64,
    independent_bytes_formula: f64,
    dependent_bytes: f64,
    online_bytes: f64,
    /// Bytes per AND gate, and what part of the paper's that is.
    independent_bytes_per_and: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    independent_bytes_of_published: Option<f64>,
    dependent_bytes_per_and: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<Published>,
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let rows: Result<Vec<Row>, Failure> = options.copies.iter().map(|&copies| measure(options, copies)).collect();
    let rows = rows?;
    let value = serde_json::json!({
        "bench": "lego",
        "link": options.link.map(|link| link.to_string()),
        "rows": rows,
    });
    let own = rows::of(&rows, options.link, options.published);
    options.form.give(&value, &text(&rows), section(Paper::Lego, own))
}

fn measure(options: &Options, copies: u32) -> Result<Row, Failure> {
    let function = &options.function;
    let mut config = Config::default();
    if options.published {
        let sizing = sizing(function, copies)
            .ok_or_else(|| Failure::call(format!("--published: the paper has no {copies} copies of {function}")))?;
        config = Config { code: Code::Bch312, sizing, ..config };
    }
    let one = Arc::new(library::find(function).map_err(Failure::call)?);
    let mut programs = vec![one.clone()];
    if copies > 1 {
        programs.push(Arc::new(one.copies(copies - 1).map_err(Failure::no_result)?));
    }
    let plan = Plan::new(one.clone(), config).map_err(|e| explain(&e))?;
    let Amounts { gates, inputs, input_pairs, outputs } = plan.amounts();
    let [gates, inputs, input_pairs, outputs] =
        [gates, inputs, input_pairs, outputs].map(|amount| amount * u64::from(copies));
    let order = Order::new(Amounts { gates, inputs, input_pairs, outputs }, config).map_err(|e| explain(&e))?;
    let measured = parties::run(&Job { config, order, programs, link: options.link })?;
    let bare = bare::seconds(config.code, &order, measured.checks)?;
    Ok(Row::new(function, copies, one.stats().and, &order, &measured, bare))
}

impl Row {
    fn new(function: &str, copies: u32, and: u64, order: &Order, measured: &Measured, bare: [f64; 2]) -> Self {
        let each = 1.0 / f64::from(copies);
        let (first, rest) = (&measured.runs[0], measured.runs.last().unwrap_or(&measured.runs[0]));
        let of_rest = 1.0 / f64::from((copies - 1).max(1));
        let gates = and as f64;
        let independent = each * measured.independent.communication.bytes_received as f64;
        let dependent = of_rest * rest.dependent.communication.bytes_received as f64;
        let published = published(function, copies);
        let parameters = order.parameters();
        let of_published =
            |row: Published| (independent / gates) / (1e6 * row.independent_mb / and_gates(name(function)) as f64);
        Row {
            function: function.into(),
            copies,
            and,
            buckets: [
                parameters.buckets.gates,
                parameters.buckets.input_gates,
                parameters.buckets.input_authenticators,
            ],
            check_gates: parameters.check_gates,
            check_authenticators: parameters.check_authenticators,
            cheating_log2: parameters.bounds().any(),
            setup_seconds: each * measured.setup.seconds,
            independent_seconds: each * measured.independent.seconds,
            independent_ns_per_and: 1e9 * each * measured.independent.seconds / gates,
            bare_seconds: bare.map(|seconds| each * seconds),
            independent_of_bare: measured.independent.seconds / bare[0].max(bare[1]),
            peak_rss_bytes: peak_rss_bytes(),
            taking_seconds: of_rest * rest.taking.seconds,
            dependent_seconds: of_rest * rest.dependent.seconds,
            online_latency_seconds: first.online.seconds,
            online_throughput_seconds: of_rest * rest.online.seconds,
            online_rounds: first.online.communication.rounds,
            independent_bytes: independent,
            independent_bytes_formula: each * measured.independent_formula as f64,
            dependent_bytes: dependent,
            online_bytes: first.online.communication.bytes_received as f64,
            independent_bytes_per_and: independent / gates,
            independent_bytes_of_published: published.map(of_published),
            dependent_bytes_per_and: dependent / gates,
            published,
        }
    }

    fn cells(&self) -> [Vec<String>; 2] {
        let times = [
            self.setup_seconds,
            self.independent_seconds,
            self.dependent_seconds,
            self.online_latency_seconds,
            self.online_throughput_seconds,
        ];
        let sizes = [self.independent_bytes, self.dependent_bytes, self.online_bytes];
        let own = [format!("{} x {}", self.copies, self.function), "here".into(), format!("{}", self.and)];
        let here = times.map(seconds).into_iter().chain(sizes.map(|size| bytes(size as u64)));
        let ratio = [format!("{:.2}", self.independent_of_bare), self.peak_rss_bytes.map_or("?".into(), bytes)];
        let here = own.into_iter().chain(here).chain(ratio).collect();
        let Some(row) = self.published else { return [here, Vec::new()] };
        let times = [row.setup_ms, row.independent_ms, row.dependent_ms, row.latency_ms, row.throughput_ms];
        let sizes = [1e6 * row.independent_mb, 1e3 * row.dependent_kb, 1e3 * row.online_kb];
        let head = [String::new(), "published".into(), and_gates(name(&self.function)).to_string()];
        let times = times.map(|ms| seconds(ms / 1e3)).into_iter();
        let published = times.chain(sizes.map(|size| bytes(size as u64)));
        [here, head.into_iter().chain(published).chain([String::new(), String::new()]).collect()]
    }
}

fn text(rows: &[Row]) -> String {
    let heads = ["per copy", "", "AND", "set-up", "independent", "dependent", "latency", "throughput"];
    let sizes = ["independent", "dependent", "online", "of bare", "peak memory"];
    let heads: Vec<String> = heads.into_iter().chain(sizes).map(String::from).collect();
    let rows = rows.iter().flat_map(Row::cells).filter(|row| !row.is_empty());
    let rows: Vec<Vec<String>> = std::iter::once(heads).chain(rows).collect();
    format!(
        "{}\nof bare: how often the time that streams, encodings, transpositions and hashes alone take the slower party\n\
             peak memory: of both parties, in one process\npublished: NDSS 2017, tables IV (two machines of one data centre) and V\n",
        table(&rows)
    )
}
