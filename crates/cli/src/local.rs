//! `garblet local`: every party as its own process on this machine.

use std::{
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use garblet::{
    Bits, Party, Program, StockKinds,
    circuit::{Output, Recipients},
    run_report::{PartyPart, PeerPart, RunReport},
};
use garblet_console::{
    args::{ProgramArgs, ProtocolArgs, at_least_one},
    failure::Failure,
    hints::explain,
    inputs::{self, Batch, InputArgs, PartyInputs},
    output::{print, print_json, seconds, tell_text},
    record::record_now,
    report::{self, Repeat, check_panics, total},
    settings::{PartyCount, Settings},
    stock::{SavedArgs, check_key_for_many, find_store, load_or_create_key, no_store, store_options},
};
use garblet_primitives::Backend;
use serde::Serialize;

use crate::{
    ahead::{Ahead, Stores},
    child::{self, Done, Job},
    jobs::options::{Agreed, SubjectArgs},
    results::OutputArgs,
    slow::SlowParty,
};

/// The options of `garblet local`.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArgs,
    /// With components: prepare this library before looking at the program [default: what the program needs]
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with = "store")]
    pub(crate) library: Option<PathBuf>,
    /// Use the parties' stores in DIR/party-0, DIR/party-1 and so on
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// The key that encrypts the stores [default: store.key in the configuration folder]
    #[arg(long, value_name = "FILE", requires = "store")]
    pub(crate) store_key: Option<PathBuf>,
    /// Only fill the stores, up to N runs
    #[arg(long, value_name = "N", requires = "store", conflicts_with_all = ["top_up", "repeat", "inputs"])]
    #[arg(value_parser = at_least_one::<NonZeroU64>)]
    pub(crate) prepare: Option<NonZeroU64>,
    /// Prepare during the run what the stores lack
    #[arg(long, requires = "store")]
    pub(crate) top_up: bool,
    #[command(flatten)]
    pub(crate) saved: SavedArgs,
    /// The number of parties; a job determines it
    #[arg(long, value_name = "N", conflicts_with = "job")]
    pub(crate) parties: Option<u16>,
    /// Repeat R times from scratch and report the median
    #[arg(long, value_name = "R", default_value = "1", value_parser = at_least_one::<NonZeroUsize>)]
    pub(crate) repeat: NonZeroUsize,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// A run with every party on this machine.
pub struct Local<'a> {
    /// The program's arguments, from which each process loads it.
    pub args: &'a ProgramArgs,
    /// The loaded program.
    pub program: &'a Program,
    /// The inputs of each party.
    pub inputs: &'a [PartyInputs],
    /// The settings of the computation.
    pub settings: &'a Settings,
    /// The prepared material.
    pub ahead: Option<&'a Ahead>,
    /// With several parties: one whose links are slow, in addition to the settings for all.
    pub slow: Option<SlowParty>,
}

/// One run's outcome.
pub struct Outcome {
    /// The value of every output, on which its recipients agree.
    pub outputs: Vec<Option<Bits>>,
    /// The report.
    pub report: RunReport,
    /// The times of all runs, if this is the median of several.
    pub repeat: Option<Repeat>,
    /// The time from the start of the first process to the last result.
    pub seconds: f64,
}

/// The object of `--json`.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    report: &'a RunReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<&'a Repeat>,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let agreed = options.subject.load(&options.protocol, options.parties)?;
    let Agreed { args, program, settings, job } = &agreed;
    let asked = job.as_ref().map(|job| job.counted_parties());
    let parties = settings.parties(program, asked.or(options.parties.map(PartyCount::Option)))?;
    if let Some(count) = options.prepare {
        let rows = match options.inputs.batch {
            None => None,
            Some(Batch::Count(rows)) => Some(rows),
            Some(_) => {
                return Err(Failure::call("--prepare: inputs have no effect")
                    .hint("leave them out; give the number of rows of a batch with --batch N"));
            }
        };
        let (args, program) = (&args.of_rows(rows), agreed.of_rows(rows)?);
        let ahead = options.ahead(settings, rows)?;
        let ahead = ahead.as_ref();
        let inputs = vec![PartyInputs::new(); parties.into()];
        let local = Local { args, program: &program, inputs: &inputs, settings, ahead, slow: None };
        return local.prepare(count.get(), options.json);
    }
    // Report a mistake here before reading inputs.
    let mut ahead = options.ahead(settings, None)?;
    let learned = |output: &Output| output.recipients != Recipients::Only(Vec::new());
    options.output.check(program, options.inputs.batch.is_some(), learned)?;
    let asked = options.saved.asked(program)?;
    let given = options.inputs.with_keys(job.as_ref(), &asked, true)?;
    let (inputs, rows) = inputs::of_all(&asked, &given, parties)?;
    let (args, program) = (&args.of_rows(rows), agreed.of_rows(rows)?);
    if rows.is_some() {
        ahead = options.ahead(settings, rows)?;
    }
    let ahead = ahead.as_ref();
    let local = Local { args, program: &program, inputs: &inputs, settings, ahead, slow: None };
    let computed = &local.computed()?;
    let outcome = local.repeat_of(computed, options.repeat.get())?;
    check_panics(computed, &outcome.outputs)?;
    if options.json {
        options.output.write_files(computed, &outcome.outputs)?;
        return print_json(&Object { report: &outcome.report, repeat: outcome.repeat.as_ref() });
    }
    options.output.give(computed, &outcome.outputs)?;
    tell_text(&format!("\n{}\n", report::text(&outcome.report, outcome.repeat.as_ref()).trim_end()));
    Ok(())
}

impl Options {
    /// The material that is prepared before the run.
    ///
    /// *Errors*: options that the protocol does not use.
    fn ahead(&self, settings: &Settings, rows: Option<u32>) -> Result<Option<Ahead>, Failure> {
        settings.check_library(self.library.is_some())?;
        let Some(folder) = self.store.clone() else { return Ok(self.library.clone().map(Ahead::Library)) };
        let config = settings.config()?;
        let protocol = config.protocol();
        let Some(kinds) = config.stock() else { return Err(no_store(&config)) };
        if kinds == StockKinds::Library {
            return Err(Failure::call(format!("--store: {protocol} uses no stores in this command"))
                .hint("use stores with `garblet prepare` and `garblet run`"));
        }
        let runs = kinds == StockKinds::Runs;
        if self.prepare.is_some() && !runs {
            return Err(Failure::call(format!("--prepare: stores of {protocol} hold no runs"))
                .hint("run with --top-up, which creates the stores and what they lack"));
        }
        // Create stores without runs only if a run may prepare all it needs.
        let make = self.prepare.is_some() || (self.top_up && !runs);
        if !make {
            find_store(&folder.join("party-0"))?;
        }
        check_key_for_many(self.store_key.as_deref())?;
        // Create the key before all parties look for it.
        load_or_create_key(self.store_key.as_deref())?;
        let parties = self.parties.map(|parties| ("--parties", parties.to_string()));
        let stores = store_options(&folder, self.store_key.as_deref());
        let more: Vec<_> = parties.into_iter().chain(stores).chain([("--prepare", "1".into())]).collect();
        let again = runs.then(|| self.subject.command_line("local", settings, rows, &more));
        let (key, saved) = (self.store_key.clone(), self.saved.values());
        Ok(Some(Ahead::Stores(Stores { folder, key, top_up: self.top_up, make, again, saved })))
    }
}

impl Local<'_> {
    /// Fills the stores of all parties and prints the cost.
    fn prepare(&self, count: u64, json: bool) -> Result<(), Failure> {
        let parts = self.fill(&[("runs".into(), count)])?;
        if json {
            let (protocol, parties) = (&self.settings.protocol, self.inputs.len());
            return print_json(&serde_json::json!({
                "protocol": protocol, "parties": parties, "runs": count, "per_party": parts
            }));
        }
        let slowest = parts.iter().map(|part| total(&part.phases).seconds).fold(0.0, f64::max);
        let (runs, name) = (if count == 1 { "run" } else { "runs" }, self.program.name());
        print(&format!("the stores have {count} {runs} of {name}, after {}\n", seconds(slowest)))
    }

    /// Fills the stores of all parties up to these amounts by kind, and returns the cost to each.
    ///
    /// *Errors*: a party's failure.
    pub fn fill(&self, amounts: &[(String, u64)]) -> Result<Vec<PartyPart>, Failure> {
        let job = |job: Job| Job { prepare: Some(amounts.to_vec()), ..job };
        let jobs: Vec<Job> = self.jobs().into_iter().map(job).collect();
        Ok(child::run_all(&jobs, self.slow)?.into_iter().map(|done| done.part).collect())
    }

    /// Runs `times` times and returns the median run, with the spread in its report.
    ///
    /// *Errors*: a party's failure; outputs that differ between runs.
    pub fn repeat(&self, times: usize) -> Result<Outcome, Failure> {
        self.repeat_of(&*self.computed()?, times)
    }

    /// The same for the program that the parties compute.
    fn repeat_of(&self, program: &Program, times: usize) -> Result<Outcome, Failure> {
        let mut runs = Vec::with_capacity(times);
        for _ in 0..times {
            runs.push(self.run(program)?);
        }
        if runs.windows(2).any(|pair| pair[0].outputs != pair[1].outputs) {
            return Err(Failure::no_result("two runs on the same inputs gave different outputs: this is a bug"));
        }
        runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let repeat = Repeat {
            runs: times,
            seconds_min: runs[0].seconds,
            seconds_median: runs[times / 2].seconds,
            seconds_max: runs[times - 1].seconds,
        };
        let mut median = runs.swap_remove(times / 2);
        median.repeat = (times > 1).then_some(repeat);
        Ok(median)
    }

    /// Runs once.
    ///
    /// *Errors*: a party's failure.
    pub fn once(&self) -> Result<Outcome, Failure> {
        self.run(&*self.computed()?)
    }

    /// Runs once; `program` is the one that the parties compute.
    fn run(&self, program: &Program) -> Result<Outcome, Failure> {
        let begin = Instant::now();
        let done = child::run_all(&self.jobs(), self.slow)?;
        let seconds = begin.elapsed().as_secs_f64();
        let outputs = agreed(program, &done)?;
        let security = done.first().and_then(|d| d.security);
        let security = security.ok_or_else(|| Failure::no_result("no party has a result"))?;
        let parts = done.into_iter().map(|d| d.part).collect();
        let parties = self.inputs.len() as u16;
        let record = record_now(program, (0..parties).map(PeerPart::here).collect());
        let report = RunReport::new(program, &self.settings.config()?, parties, security, &outputs, parts, record);
        Ok(Outcome { outputs, report, repeat: None, seconds })
    }

    /// The program as the parties compute it: if it saves outputs, it tells all parties if it panics.
    fn computed(&self) -> Result<Arc<Program>, Failure> {
        let (config, program) = (self.settings.config()?, Arc::new(self.program.clone()));
        let saved = self.ahead.map(Ahead::saved).unwrap_or_default();
        saved.program(config.protocol().name(), &program).map_err(|error| explain(&error))
    }

    fn jobs(&self) -> Vec<Job> {
        let job = |(party, inputs): (usize, &PartyInputs)| Job {
            program: self.args.clone(),
            digest: self.program.digest(),
            party: Party(party as u16),
            inputs: inputs.iter().map(|(id, bits)| (id.0, bits.to_string())).collect(),
            settings: self.settings.clone(),
            ahead: self.ahead.cloned(),
            prepare: None,
            parties: self.inputs.len() as u16,
            progress: party == 0,
            engine: Backend::detect().name().into(),
        };
        self.inputs.iter().enumerate().map(job).collect()
    }
}

/// Each output, as received by its recipients.
///
/// *Errors*: recipients disagree.
fn agreed(program: &Program, done: &[Done]) -> Result<Vec<Option<Bits>>, Failure> {
    let mut outputs = Vec::with_capacity(program.outputs().len());
    for (at, output) in program.outputs().iter().enumerate() {
        let mut known = done.iter().filter_map(|d| d.outputs.get(at)?.as_deref());
        let first = known.next();
        if let Some(other) = known.find(|bits| Some(*bits) != first) {
            let name = &output.port.name;
            let first = first.unwrap_or_default();
            return Err(Failure::no_result(format!(
                "output `{name}`: recipients disagree, {first} and {other}: this is a bug"
            )));
        }
        let parsed = first.map(|bits| bits.parse().map_err(|e| Failure::no_result(format!("a party's output: {e}"))));
        outputs.push(parsed.transpose()?);
    }
    Ok(outputs)
}
