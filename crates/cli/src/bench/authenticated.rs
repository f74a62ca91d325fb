//! `garblet bench authenticated`: many copies of AES-128 or SHA-256 as one program, against cheaters.
//!
//! Runs two threads over loopback TCP, with a new session for each run: all from nothing, or with triples and masks from stores on disk, filled
//! beforehand. Times are the evaluator's; bytes are those of both parties. More than two parties are processes, see [`several`].

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
};

use garblet::{
    Bits, Config, Order, Party, Peer, Phase, PhaseCosts, Plan, Program, Protocol, Report, Stock,
    authenticated::{self, Amounts, Authenticated},
    circuit::evaluate,
    fill, library,
    net::{Channel, DEFAULT_TIMEOUT, SimulatedLink},
    store::{Store, StoreKey},
};
use garblet_console::{
    args::{Param, at_least_one},
    failure::Failure,
    hints::{explain, store_failure},
    output::{bytes, count, rate, seconds},
    report::peak_rss_bytes,
    settings::Settings,
};
use serde::Serialize;

use crate::bench::{
    Engine, Form, Piece,
    loopback::{join, own, random_values},
    several,
};

/// Triples and masks per piece of a store.
const PIECE: u64 = 16;

/// The peer's name in the stores.
const PEER: &str = "bench";

/// The options of `garblet bench authenticated`.
#[derive(clap::Args)]
pub struct Options {
    /// The function
    #[arg(long, value_name = "NAME", default_value = "aes128", value_parser = ["aes128", "sha256"])]
    pub(super) function: String,
    /// Numbers of copies in one program
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "1,32,128",
          value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    pub(super) copies: Vec<u32>,
    /// The number of parties; more than two are measured with authenticated-bmr, each as a process
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u16).range(2..=16))]
    pub(super) parties: u16,
    /// Fill stores on disk first, and take triples and masks from them
    #[arg(long)]
    pub(super) prepared: bool,
    /// A parameter of authenticated, or with several parties of authenticated-bmr, for instance check=reveal
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(super) params: Vec<Param>,
    /// Repeat N times, each in a new session, and report the median
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>, default_value = "1")]
    pub(super) repeat: NonZeroUsize,
    /// One-way latency and rate of the link, simulated, as 33ms,50mbit
    #[arg(long, value_name = "LATENCY,RATE")]
    pub(super) link: Option<SimulatedLink>,
}

/// The figures per copy for one number of copies.
#[derive(Serialize)]
struct Row {
    function: String,
    copies: u32,
    and: u64,
    /// The cost of filling the stores before all runs, per run.
    #[serde(skip_serializing_if = "Option::is_none")]
    filling: Option<Costs>,
    run: Costs,
    /// Bytes of the whole run, without filling, per AND gate.
    bytes_per_and: f64,
    /// Triples per second of the time in which they were made.
    triples_per_second: f64,
    online_rounds: u64,
    cheating_log2: Option<f64>,
    /// The peak memory of both parties, which share one process.
    peak_rss_bytes: Option<u64>,
}

/// Time and bytes of each phase.
#[derive(Clone, Copy, Serialize)]
struct Costs {
    setup: Part,
    prepare: Part,
    build: Part,
    online: Part,
    total: Part,
}

/// The evaluator's time, and the bytes sent by both parties.
#[derive(Clone, Copy, Serialize)]
struct Part {
    ms: f64,
    bytes: f64,
}

/// The amounts that stores need for this number of runs, each of which takes whole pieces.
pub(super) fn of_runs(Amounts { triples, masks }: Amounts, runs: u64) -> Amounts {
    let [triples, masks] = [triples, masks].map(|amount| runs * amount.next_multiple_of(PIECE));
    Amounts { triples, masks }
}

/// Runs the benchmark.
pub fn run(options: &Options, form: &impl Form) -> Result<(), Failure> {
    if options.parties > 2 {
        return several::run(options, form);
    }
    let protocol = Protocol::of::<Authenticated>();
    let config = Settings::of(protocol, options.params.clone(), DEFAULT_TIMEOUT).config()?;
    let rows: Result<Vec<Row>, Failure> =
        options.copies.iter().map(|&copies| measure(options, &config, copies)).collect();
    let rows = rows?;
    let value = serde_json::json!({
        "bench": "authenticated",
        "engine": Engine::name(),
        "parameters": config.parameters().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "link": options.link.map(|link| link.to_string()),
        "repeat": options.repeat,
        "rows": rows,
    });
    form.show(&value, pieces(&rows))
}

fn measure(options: &Options, config: &Config, copies: u32) -> Result<Row, Failure> {
    let one = library::find(&options.function).map_err(Failure::call)?;
    let program = Arc::new(one.copies(copies).map_err(Failure::no_result)?);
    let folder = tempfile::tempdir().map_err(Failure::no_result)?;
    let bench = Bench {
        config,
        plan: Plan::new(program.clone(), 2, config).map_err(|e| explain(&e))?,
        program,
        link: options.link,
        places: ["garbler", "evaluator"].map(|name| Place::new(folder.path(), name)),
    };
    let times = options.repeat.get();
    let filled = options.prepared.then(|| bench.fill(times as u64)).transpose()?;
    let mut reports = Vec::with_capacity(times);
    for _ in 0..times {
        reports.push(bench.run(filled.map(|(amounts, _)| amounts))?);
    }
    let duration = |report: &Report| -> f64 { Phase::ALL.iter().map(|&phase| report.phases.of(phase).seconds).sum() };
    reports.sort_by(|a, b| duration(a).total_cmp(&duration(b)));
    let report = reports.swap_remove(times / 2);
    let (run, and) = (Costs::new(&report.phases, f64::from(copies)), one.stats().and);
    let (made, making) = match &filled {
        Some((amounts, phases)) => (amounts.triples as f64, phases.prepare.seconds),
        None => (and as f64 * f64::from(copies), report.phases.prepare.seconds),
    };
    Ok(Row {
        function: options.function.clone(),
        copies,
        and,
        filling: filled.map(|(_, phases)| Costs::new(&phases, f64::from(copies) * times as f64)),
        run,
        bytes_per_and: run.total.bytes / and as f64,
        triples_per_second: made / making,
        online_rounds: report.phases.online.communication.rounds,
        cheating_log2: report.security.cheating_log2,
        peak_rss_bytes: peak_rss_bytes(),
    })
}

/// The task for one number of copies.
struct Bench<'a> {
    config: &'a Config,
    program: Arc<Program>,
    plan: Plan,
    link: Option<SimulatedLink>,
    places: [Place; 2],
}

/// The path of a party's store.
struct Place {
    folder: PathBuf,
    key: StoreKey,
}

impl Place {
    fn new(folder: &Path, name: &str) -> Self {
        Place { folder: folder.join(name), key: StoreKey::generate(&mut rand::rng()) }
    }

    /// The store, with its target amount.
    fn stock(&self, amounts: Amounts) -> Result<Stock, Failure> {
        let store = Store::open_or_create(&self.folder, &self.key, &mut rand::rng()).map_err(|e| store_failure(&e))?;
        Ok(Stock::new(Order::of::<Authenticated>(amounts), store, PEER))
    }
}

impl Bench<'_> {
    /// Fills the stores for this number of runs. Returns their contents and the cost to the evaluator.
    fn fill(&self, runs: u64) -> Result<(Amounts, PhaseCosts), Failure> {
        let config = self.config.get::<Authenticated>().copied().unwrap_or_default();
        let plan = authenticated::Plan::new(self.program.clone(), config, &[], false).map_err(|e| explain(&e))?;
        let amounts = of_runs(plan.amounts(), runs);
        let party = |party: u16| {
            async move |channel: Channel| {
                let stock = self.places[usize::from(party)].stock(amounts)?;
                let filling = fill(stock, Party(party), channel, self.config, 100, rand::rng(), Box::new(()));
                Ok(filling.await.map_err(|e| explain(&e))?.phases)
            }
        };
        let (_, evaluator) = join(self.link, party(0), party(1))?;
        Ok((amounts, evaluator))
    }

    /// Runs once, with or without stores, and returns the evaluator's report.
    fn run(&self, stored: Option<Amounts>) -> Result<Report, Failure> {
        let values = random_values(&self.program);
        let party = |party: u16| {
            let own = own(&self.program, &values, party);
            async move |channel: Channel| {
                let stock = stored.map(|amounts| self.places[usize::from(party)].stock(amounts)).transpose()?;
                self.compute(Party(party), channel, stock, &own).await
            }
        };
        let (garbler, evaluator) = join(self.link, party(0), party(1))?;
        let expected: Vec<Option<Bits>> = evaluate(&self.program, &values).into_iter().map(Some).collect();
        let is_right = [&garbler, &evaluator].into_iter().all(|report| report.outputs == expected);
        match is_right {
            true => Ok(evaluator),
            false => Err(Failure::no_result("a wrong result: this is a bug")),
        }
    }

    async fn compute(
        &self,
        party: Party,
        channel: Channel,
        stock: Option<Stock>,
        own: &[Bits],
    ) -> Result<Report, Failure> {
        let (plan, rng, failed) = (&self.plan, rand::rng(), |e: garblet::Error| explain(&e));
        let mut peer = match stock {
            Some(stock) => Peer::open_with(plan, party, channel, stock, rng, Box::new(())).await,
            None => Peer::open(plan, party, channel, rng, Box::new(())).await,
        }
        .map_err(failed)?;
        let prepared = peer.prepare().await.map_err(failed)?;
        let report = peer.online(prepared, own).await.map_err(failed)?;
        peer.close().await.map_err(failed)?;
        Ok(report)
    }
}

impl Costs {
    /// The costs of this number of copies, per copy.
    fn new(phases: &PhaseCosts, copies: f64) -> Self {
        let each = 1.0 / copies;
        let [setup, prepare, build, online] = Phase::ALL.map(|phase| {
            let cost = phases.of(phase);
            let both_ways = cost.communication.bytes_sent + cost.communication.bytes_received;
            Part { ms: 1e3 * each * cost.seconds, bytes: each * both_ways as f64 }
        });
        let parts = [setup, prepare, build, online];
        let sum = |of: fn(&Part) -> f64| parts.iter().map(of).sum();
        let total = Part { ms: sum(|part| part.ms), bytes: sum(|part| part.bytes) };
        Costs { setup, prepare, build, online, total }
    }

    /// Times, and below them bytes.
    fn cells(&self) -> [Vec<String>; 2] {
        let parts = [self.setup, self.prepare, self.build, self.online, self.total];
        [parts.map(|part| seconds(part.ms / 1e3)).into(), parts.map(|part| bytes(part.bytes as u64)).into()]
    }
}

impl Row {
    fn cells(&self) -> Vec<Vec<String>> {
        let made = format!("{}/s", rate(self.triples_per_second));
        let line = |head: [String; 2], cells: Vec<String>, rest: [String; 2]| {
            head.into_iter().chain(cells).chain(rest).collect::<Vec<_>>()
        };
        let none = || [String::new(), String::new()];
        let mut lines = Vec::new();
        if let Some(filling) = &self.filling {
            let [times, sizes] = filling.cells();
            lines.push(line(["filling".into(), String::new()], times, [made.clone(), String::new()]));
            lines.push(line(none(), sizes, none()));
        }
        let [times, sizes] = self.run.cells();
        let own_made = if self.filling.is_some() { String::new() } else { made };
        let head = [format!("{} x {}", self.copies, self.function), count(self.and)];
        lines.push(line(head, times, [own_made, self.peak_rss_bytes.map_or("?".into(), bytes)]));
        lines.push(line(none(), sizes, [format!("{:.1} per AND", self.bytes_per_and), String::new()]));
        lines
    }
}

fn pieces(rows: &[Row]) -> Vec<Piece> {
    let heads = ["per copy", "AND", "setup", "prepare", "build", "online", "in all", "triples", "peak memory"];
    let heads = heads.map(String::from).into();
    let lines: Vec<Vec<String>> = std::iter::once(heads).chain(rows.iter().flat_map(Row::cells)).collect();
    let words =
        "\ntimes: the evaluator's; below them bytes, of both parties\npeak memory: of both parties, in one process\n";
    vec![Piece::Table(lines), Piece::Words(words.into()), Engine::line()]
}
