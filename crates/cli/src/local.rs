//! `garblet local`: every party as its own process on this machine.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use garblet_circuit::{Bits, Party, Program};

use crate::{
    args::{InputArgs, ProgramArgs, ProtocolArgs},
    child::{self, Done, Job},
    failure::Failure,
    inputs::{self, PartyInputs},
    output::{print, print_json},
    program,
    report::{Repeat, RunReport, check_panics, outputs_text},
    session::Settings,
};

/// What `garblet local` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArgs,
    /// With components: what is prepared before the program is looked at [default: what the program needs]
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Option<PathBuf>,
    /// How many parties
    #[arg(long, value_name = "N")]
    pub(crate) parties: Option<u16>,
    /// Run so often, each time afresh, and report the median run
    #[arg(long, value_name = "R", default_value = "1")]
    pub(crate) repeat: std::num::NonZeroUsize,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// A program's run with every party on this machine.
pub(crate) struct Local<'a> {
    pub(crate) args: &'a ProgramArgs,
    pub(crate) program: &'a Program,
    pub(crate) inputs: &'a [PartyInputs],
    pub(crate) settings: &'a Settings,
    /// With components: what is prepared.
    pub(crate) library: Option<&'a Path>,
}

/// One run's outcome.
pub(crate) struct Outcome {
    /// What every output was; all its recipients agree.
    pub(crate) outputs: Vec<Option<Bits>>,
    /// The report.
    pub(crate) report: RunReport,
    /// From the start of the first process to the last result.
    pub(crate) seconds: f64,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let program = program::load(&options.program)?;
    let settings = Settings::new(&options.protocol)?;
    let parties = settings.parties(&program, options.parties)?;
    let inputs = inputs::of_all(&program, &options.inputs, parties)?;
    let library = options.library.as_deref();
    settings.check_library(library.is_some())?;
    let local = Local { args: &options.program, program: &program, inputs: &inputs, settings: &settings, library };
    let outcome = local.repeat(options.repeat.get())?;
    check_panics(&program, &outcome.outputs)?;
    if options.json {
        return print_json(&outcome.report);
    }
    print(&outputs_text(&program, &outcome.outputs))?;
    eprintln!("\n{}", outcome.report.text().trim_end());
    Ok(())
}

impl Local<'_> {
    /// Runs `times` times and returns the median run, with the spread in its report.
    pub(crate) fn repeat(&self, times: usize) -> Result<Outcome, Failure> {
        let mut runs = Vec::with_capacity(times);
        for _ in 0..times {
            runs.push(self.once()?);
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
        median.report.repeat = (times > 1).then_some(repeat);
        Ok(median)
    }

    /// Runs once.
    pub(crate) fn once(&self) -> Result<Outcome, Failure> {
        let begin = Instant::now();
        let done = child::run_all(&self.jobs())?;
        let seconds = begin.elapsed().as_secs_f64();
        let outputs = agreed(self.program, &done)?;
        let security = done.first().map(|d| d.security);
        let security = security.ok_or_else(|| Failure::no_result("no party has a result"))?;
        let parts = done.into_iter().map(|d| d.part).collect();
        let report = RunReport::new(self.program, self.settings, self.inputs.len() as u16, security, &outputs, parts)?;
        Ok(Outcome { outputs, report, seconds })
    }

    fn jobs(&self) -> Vec<Job> {
        let job = |(party, inputs): (usize, &PartyInputs)| Job {
            program: self.args.clone(),
            party: Party(party as u16),
            inputs: inputs.iter().map(|(id, bits)| (id.0, bits.to_string())).collect(),
            settings: self.settings.clone(),
            library: self.library.map(Path::to_path_buf),
            parties: self.inputs.len() as u16,
            progress: party == 0,
        };
        self.inputs.iter().enumerate().map(job).collect()
    }
}

/// Each output as its recipients have it.
///
/// *Errors*: recipients that disagree.
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
