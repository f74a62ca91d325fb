//! `garblet bench authenticated --parties N`: the same for three parties and more, with `authenticated-bmr`.
//!
//! Every party is a process of its own, joined to the others by loopback TCP, so that its processor time and its memory are its own.

use std::sync::Arc;

use garblet::{
    Bits, Phase, PhaseCost, Program, Protocol,
    authenticated::many::{self, AuthenticatedBmr},
    circuit::{InputId, evaluate},
    library,
    net::DEFAULT_TIMEOUT,
    run_report::PartyPart,
};
use garblet_console::{
    args::ProgramArgs,
    failure::Failure,
    hints::explain,
    inputs::PartyInputs,
    output::{bytes, count, rate, seconds},
    program,
    report::total,
    settings::Settings,
};
use serde::Serialize;

use crate::{
    ahead::{Ahead, Stores},
    bench::{
        Engine, Form, Piece,
        authenticated::{Options, of_runs},
        loopback::random_values,
    },
    local::{Local, Outcome},
};

/// The figures per copy for one number of copies.
#[derive(Serialize)]
struct Row {
    function: String,
    copies: u32,
    and: u64,
    /// The cost of filling the stores before all runs, per run.
    #[serde(skip_serializing_if = "Option::is_none")]
    filling: Option<Vec<Costs>>,
    /// The cost of the median run to each party.
    run: Vec<Costs>,
    /// Bytes that all parties send in the whole run, without filling, per AND gate.
    bytes_per_and: f64,
    /// Triples per second of the longest time that a party took to make them.
    triples_per_second: f64,
    online_rounds: u64,
    cheating_log2: Option<f64>,
}

/// Time and bytes of each phase of one party.
#[derive(Serialize)]
struct Costs {
    party: u16,
    role: &'static str,
    setup: Part,
    prepare: Part,
    build: Part,
    online: Part,
    total: Part,
    peak_rss_bytes: Option<u64>,
}

/// One phase of one party.
#[derive(Clone, Copy, Serialize)]
struct Part {
    /// Wall-clock time.
    ms: f64,
    /// Processor time of all threads, `None` if the system does not report it.
    cpu_ms: Option<f64>,
    bytes_sent: f64,
    bytes_received: f64,
    /// Sent bytes per AND gate.
    sent_per_and: f64,
}

/// Runs the benchmark.
///
/// *Errors*: parameters that the protocol does not have; a party's failure.
pub(super) fn run(options: &Options, form: &impl Form) -> Result<(), Failure> {
    let link = options.link.map(|link| link.to_string());
    let protocol = Protocol::of::<AuthenticatedBmr>();
    let settings = Settings { link: link.clone(), ..Settings::of(protocol, options.params.clone(), DEFAULT_TIMEOUT) };
    let config = settings.config()?;
    let rows: Result<Vec<Row>, Failure> =
        options.copies.iter().map(|&copies| options.measure(&settings, copies)).collect();
    let rows = rows?;
    let value = serde_json::json!({
        "bench": "authenticated",
        "protocol": protocol.name(),
        "parties": options.parties,
        "engine": Engine::name(),
        "parameters": config.parameters().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "link": link,
        "repeat": options.repeat.get(),
        "rows": rows,
    });
    form.show(&value, pieces(&rows))
}

impl Options {
    fn measure(&self, settings: &Settings, copies: u32) -> Result<Row, Failure> {
        let config = settings.config()?.get::<AuthenticatedBmr>().copied().unwrap_or_default();
        let args = ProgramArgs::plain(&format!("lib:{}", self.function)).of_rows(Some(copies));
        let program = program::load(&args)?;
        let values = random_values(&program);
        let inputs: Vec<PartyInputs> = (0..self.parties).map(|party| own(&program, &values, party)).collect();
        let folder = tempfile::tempdir().map_err(Failure::no_result)?;
        let [stores, key] = ["stores", "key"].map(|name| folder.path().join(name));
        let stores = Stores {
            folder: stores,
            key: Some(key),
            top_up: false,
            make: true,
            again: None,
            saved: Default::default(),
        };
        let ahead = self.prepared.then_some(Ahead::Stores(stores));
        let (program, settings, ahead) = (&program, settings, ahead.as_ref());
        let local = Local { args: &args, program, inputs: &inputs, settings, ahead, slow: None };
        let plan = many::Plan::new(Arc::new(program.clone()), self.parties, config).map_err(|e| explain(&e))?;
        let amounts = of_runs(plan.amounts(), self.repeat.get() as u64);
        let by_kind = [("triples".into(), amounts.triples), ("masks".into(), amounts.masks)];
        let filled = self.prepared.then(|| local.fill(&by_kind)).transpose()?;
        let outcome = local.repeat(self.repeat.get())?;
        let expected: Vec<Option<Bits>> = evaluate(program, &values).into_iter().map(Some).collect();
        match outcome.outputs == expected {
            true => self.row((copies, config.evaluator), &outcome, filled.map(|parts| (amounts.triples, parts))),
            false => Err(Failure::no_result("a wrong result: this is a bug")),
        }
    }

    /// The row of an outcome, and of the triples that stores were filled with and the cost of that.
    fn row(
        &self,
        (copies, evaluator): (u32, u16),
        outcome: &Outcome,
        filled: Option<(u64, Vec<PartyPart>)>,
    ) -> Result<Row, Failure> {
        let and = library::find(&self.function).map_err(Failure::call)?.stats().and;
        let (parts, times) = (&outcome.report.per_party, f64::from(copies));
        let (triples, makers) = filled.as_ref().map_or((and * u64::from(copies), parts), |(all, parts)| (*all, parts));
        let making = makers.iter().map(|part| part.phases.prepare.seconds).fold(0.0, f64::max);
        let costs = |parts: &[PartyPart], times: f64| -> Vec<Costs> {
            let role = |party: u16| if party == evaluator { "evaluator" } else { "garbler" };
            parts.iter().map(|part| Costs::new(part, role(part.party), times, and)).collect()
        };
        let run = costs(parts, times);
        Ok(Row {
            function: self.function.clone(),
            copies,
            and,
            filling: filled.map(|(_, parts)| costs(&parts, times * self.repeat.get() as f64)),
            bytes_per_and: run.iter().map(|costs| costs.total.sent_per_and).sum(),
            run,
            triples_per_second: triples as f64 / making,
            online_rounds: parts.iter().map(|part| part.phases.online.communication.rounds).max().unwrap_or(0),
            cheating_log2: outcome.report.security.cheating_log2,
        })
    }
}

/// The inputs that a party contributes.
fn own(program: &Program, values: &[Bits], party: u16) -> PartyInputs {
    let all = program.inputs().iter().zip(values).enumerate();
    let own = all.filter(|(_, (input, _))| input.owner.0 == party);
    own.map(|(at, (_, bits))| (InputId(at as u32), bits.clone())).collect()
}

impl Costs {
    /// One party's cost of this number of copies, per copy of so many gates.
    fn new(part: &PartyPart, role: &'static str, copies: f64, and: u64) -> Self {
        let of = |cost: PhaseCost, cpu: Option<f64>| Part {
            ms: 1e3 * cost.seconds / copies,
            cpu_ms: cpu.map(|cpu| 1e3 * cpu / copies),
            bytes_sent: cost.communication.bytes_sent as f64 / copies,
            bytes_received: cost.communication.bytes_received as f64 / copies,
            sent_per_and: cost.communication.bytes_sent as f64 / copies / and as f64,
        };
        let cpu = part.cpu_seconds;
        let [setup, prepare, build, online] =
            Phase::ALL.map(|phase| of(part.phases.of(phase), cpu.map(|cpu| cpu.of(phase))));
        let total = of(total(&part.phases), cpu.map(|cpu| cpu.total()));
        let (party, peak_rss_bytes) = (part.party, part.peak_rss_bytes);
        Costs { party, role, setup, prepare, build, online, total, peak_rss_bytes }
    }

    /// Times, and below them processor times and sent bytes per AND gate.
    fn lines(&self, head: &str) -> [Vec<String>; 3] {
        let parts = [self.setup, self.prepare, self.build, self.online, self.total];
        let line = |heads: [&str; 2], cell: fn(Part) -> String, last: String| {
            let cells = heads.map(String::from).into_iter().chain(parts.map(cell));
            cells.chain([last]).collect::<Vec<String>>()
        };
        let who = format!("{} ({})", self.party, self.role);
        let memory = self.peak_rss_bytes.map_or("?".into(), bytes);
        [
            line([head, &who], |part| seconds(part.ms / 1e3), memory),
            line(["", "processor"], |part| part.cpu_ms.map_or("?".into(), |ms| seconds(ms / 1e3)), String::new()),
            line(["", "sent per AND"], |part| format!("{:.1} B", part.sent_per_and), String::new()),
        ]
    }
}

impl Row {
    fn lines(&self) -> Vec<Vec<String>> {
        let own = format!("{} x {}", self.copies, self.function);
        let filling = self.filling.iter().flatten().map(|costs| ("filling", costs));
        let all = filling.chain(self.run.iter().map(|costs| (&own[..], costs)));
        all.flat_map(|(head, costs)| costs.lines(head)).collect()
    }

    /// The figures of the row that are no party's.
    fn words(&self) -> String {
        format!(
            "{} x {}, {} AND each: all parties send {:.1} B per AND in the run; {} triples/s\n",
            self.copies,
            self.function,
            count(self.and),
            self.bytes_per_and,
            rate(self.triples_per_second)
        )
    }
}

fn pieces(rows: &[Row]) -> Vec<Piece> {
    let heads = ["per copy", "party", "setup", "prepare", "build", "online", "in all", "peak memory"];
    let heads = heads.map(String::from).into();
    let lines: Vec<Vec<String>> = std::iter::once(heads).chain(rows.iter().flat_map(Row::lines)).collect();
    let words: String = rows.iter().map(Row::words).collect();
    vec![Piece::Table(lines), Piece::Words(format!("\n{words}")), Engine::line()]
}
