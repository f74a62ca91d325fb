//! `garblet-lab papers`: runs the experiments of five papers in turn, and makes one page of all.
//!
//! Each experiment runs its benchmark in a new process, so that its memory is counted alone and its failure affects one row only. Finished
//! experiments are kept in a folder ([`kept`]), so that a run that was killed continues where it stopped. The page is written again after each.

mod book;
mod compared;
mod experiments;
mod kept;
mod process;
mod report;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{page::Gap, published::Paper};
use experiments::{EXPERIMENTS, Experiment};
use garblet_console::{
    failure::Failure,
    output::{print, print_json, seconds, tell},
    progress::StepBar,
    record::now,
};
use kept::{Folder, Kept};
use process::{Ended, run_once};
use report::{Object, Outcome, Report};

/// The options of `garblet-lab papers`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run only the experiments of these papers
    #[arg(long, value_name = "PAPER,PAPER", value_delimiter = ',')]
    only: Vec<Paper>,
    /// Run only these experiments, by name, such as lego-aes
    #[arg(long = "experiment", value_name = "NAME,NAME", value_delimiter = ',')]
    experiments: Vec<String>,
    /// Run each experiment once, within ten minutes on two cores; skip longer ones and name them [default]
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Run everything as often as the papers, with 95 % intervals; takes days
    #[arg(long)]
    full: bool,
    /// Keep results in this folder, continue with those already there, and write the page to index.html in it
    #[arg(long, value_name = "DIR", group = "to")]
    report: Option<PathBuf>,
    /// Repeat experiments whose results are in the folder
    #[arg(long, requires = "report")]
    again: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
    /// Run nothing, and make the page from a report.json, which may come from another machine
    #[arg(long, value_name = "FILE", requires = "to", conflicts_with_all = ["only", "experiments", "quick", "full", "again", "json"])]
    from: Option<PathBuf>,
    /// With --from: bring this clone's book and README up to date with the report
    #[arg(long, hide = true, value_name = "CLONE", requires = "from", group = "to")]
    book: Option<PathBuf>,
}

/// The time of a quick run: ten minutes, less one for slower machines.
const QUICK: Duration = Duration::from_secs(540);
/// The time that one call of a full run may take.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

const PAGE: &str = "index.html";
const REPORT: &str = "report.json";

/// Runs the experiments.
///
/// *Errors*: a folder that cannot be written; standard output that cannot be. An experiment that fails is a row that says so.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    if let Some(report) = &options.from {
        return options.made_of(report);
    }
    let mut papers: Vec<Paper> = Paper::ALL.into_iter().filter(|paper| options.only.contains(paper)).collect();
    if papers.is_empty() {
        papers = Paper::ALL.into();
    }
    let own = options.chosen(&papers)?;
    let mut work = Work {
        folder: options.report.as_deref().map(Folder::open).transpose()?,
        full: options.full,
        again: options.again,
        program: process::digest_of_program()?,
        end: Instant::now() + if options.full { LONGEST * 365 } else { QUICK },
    };
    let mut report = Report::begin(papers, options.full);
    report.machine.reservations().iter().for_each(|words| tell(&format!("warning: {words}")));
    // Before anything is measured, so that a folder that cannot be written is reported at once.
    work.write(&report)?;
    let mut bar = StepBar::new(own.len() as u64);
    for (at, experiment) in own.iter().enumerate() {
        bar.begin(at as u64, experiment.name);
        let outcome = work.outcome(experiment)?;
        bar.pause(|| tell(&format!("{:2} of {}  {}: {}", at + 1, own.len(), experiment.name, outcome.words())));
        report.outcomes.push((experiment.name.into(), outcome));
        report.time = now();
        work.write(&report)?;
    }
    drop(bar);
    if options.json {
        print_json(&report.object())?
    } else {
        print(&report.text())?
    }
    if let Some(folder) = &work.folder {
        tell(&format!("the page is {}", folder.place(PAGE).display()));
    }
    Ok(())
}

impl Options {
    /// The experiments that are asked for, in the order in which they run.
    ///
    /// *Errors*: a name that is of none of these papers.
    fn chosen(&self, papers: &[Paper]) -> Result<Vec<&'static Experiment>, Failure> {
        let all = || EXPERIMENTS.iter().filter(|experiment| papers.contains(&experiment.paper));
        if let Some(unknown) = self.experiments.iter().find(|name| all().all(|experiment| experiment.name != **name)) {
            let names: Vec<&str> = all().map(|experiment| experiment.name).collect();
            return Err(Failure::call(format!("--experiment {unknown}: there is none of that name"))
                .hint(format!("there are {}", names.join(", "))));
        }
        let wanted = |name: &str| self.experiments.is_empty() || self.experiments.iter().any(|own| own == name);
        let mut own: Vec<&Experiment> = all().filter(|experiment| wanted(experiment.name)).collect();
        own.sort_by_key(|experiment| experiment.late);
        Ok(own)
    }

    /// Makes page and book of a report.
    fn made_of(&self, report: &Path) -> Result<(), Failure> {
        if let Some(clone) = &self.book {
            return book::update(report, clone);
        }
        let object = Object::read(report)?;
        let Some(path) = &self.report else { return Ok(()) };
        let folder = Folder::open(path)?;
        folder.write(REPORT, &serde_json::to_vec(&object).map_err(Failure::no_result)?)?;
        folder.write(PAGE, object.page().as_bytes())?;
        tell(&format!("the page is {}", folder.place(PAGE).display()));
        Ok(())
    }
}

/// The circumstances of all experiments.
struct Work {
    folder: Option<Folder>,
    full: bool,
    again: bool,
    /// The digest of the program that runs them.
    program: String,
    end: Instant,
}

impl Work {
    /// Runs an experiment as often as is missing.
    ///
    /// *Errors*: a result that cannot be kept.
    fn outcome(&mut self, experiment: &Experiment) -> Result<Outcome, Failure> {
        if let Some(reason) = experiment.left_out.filter(|_| !self.full) {
            return Ok(Outcome::gap(Gap::LeftOut(format!("{reason}, so that only --full runs it"))));
        }
        let (call, times) = experiment.calls(self.full);
        let words = format!("garblet-lab {}", quoted(&call));
        let digest = process::digest(&[&self.program, &words]);
        let name = format!("{}-{}", if self.full { "full" } else { "quick" }, experiment.name);
        let known = self.folder.as_ref().filter(|_| !self.again).and_then(|folder| folder.read(&name, &digest));
        let was_there = known.as_ref().map_or(0, |kept| kept.runs.len());
        let mut kept =
            known.unwrap_or(Kept { digest, call: words, finished: String::new(), seconds: 0.0, runs: Vec::new() });
        while kept.runs.len() < times as usize {
            let begin = Instant::now();
            match run_once(&call, self.end.min(begin + LONGEST)) {
                Ended::Done(rows) => kept.runs.push(rows),
                Ended::Failed(reason) => return Ok(Outcome::gap(Gap::Failed(reason))),
                Ended::OutOfTime if self.full => {
                    return Ok(Outcome::gap(Gap::Failed("it took more than a day".into())));
                }
                Ended::OutOfTime => {
                    let reason = "the ten minutes of --quick were over; called again it goes on here";
                    return Ok(Outcome::gap(Gap::LeftOut(reason.into())));
                }
            }
            kept.seconds += begin.elapsed().as_secs_f64();
            kept.finished = now();
            if let Some(folder) = &self.folder {
                folder.keep(&name, &kept)?;
            }
        }
        Ok(Outcome::of(&kept, was_there))
    }

    /// Writes the page and its JSON, each completely or not at all.
    fn write(&self, report: &Report) -> Result<(), Failure> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let json = serde_json::to_vec(&report.object()).map_err(Failure::no_result)?;
        folder.write(REPORT, &json)?;
        folder.write(PAGE, report.page().as_bytes())
    }
}

/// A call as a shell takes it.
fn quoted(call: &[String]) -> String {
    let plain = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "-_,.:=".contains(c));
    let words: Vec<String> =
        call.iter().map(|word| if plain(word) { word.clone() } else { format!("'{word}'") }).collect();
    words.join(" ")
}

impl Outcome {
    /// The outcome in a few words, for the user who waits.
    fn words(&self) -> String {
        match &self.gap {
            Some(Gap::Failed(reason)) => format!("failed: {reason}"),
            Some(Gap::LeftOut(reason) | Gap::NotMeasured(reason)) => format!("left out: {reason}"),
            None if self.was_there >= self.runs => format!("was there, {} runs", self.runs),
            None => format!("{}, {} runs", seconds(self.seconds), self.runs),
        }
    }
}
