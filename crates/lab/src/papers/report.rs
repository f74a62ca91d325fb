//! All that was measured, as a page, as JSON, and in short.

use std::path::Path;

use garblet_console::{failure::Failure, output, record::now};
use serde::{Deserialize, Serialize};

use super::{
    compared,
    experiments::{EXPERIMENTS, Experiment},
    kept::Kept,
};
use crate::{
    page::{Amount, Document, Figure, Gap, Json, Machine, Row, Unit, chance, page, range, times},
    published::{Paper, section},
    spread::Spread,
};

/// The outcome of an experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) call: String,
    pub(super) finished: String,
    pub(super) seconds: f64,
    pub(super) runs: usize,
    /// Runs of those that were there already.
    #[serde(skip)]
    pub(super) was_there: usize,
    /// Means of all runs.
    #[serde(skip)]
    pub(super) rows: Vec<Row>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) gap: Option<Gap>,
}

/// The results so far.
pub(super) struct Report {
    pub(super) papers: Vec<Paper>,
    pub(super) full: bool,
    pub(super) machine: Machine,
    pub(super) time: String,
    /// By the name of the experiment.
    pub(super) outcomes: Vec<(String, Outcome)>,
}

/// The best ratio of a paper, in words.
pub(super) struct Best {
    pub(super) system: String,
    pub(super) row: String,
    pub(super) published: String,
    pub(super) ours: String,
    pub(super) ratio: String,
    pub(super) range: String,
}

/// The object of `--json` and of the report's file.
#[derive(Serialize, Deserialize)]
pub(super) struct Object {
    pub(super) bench: String,
    pub(super) mode: String,
    pub(super) machine: Machine,
    pub(super) time: String,
    /// Experiments that have not ended, or failed.
    pub(super) missing: Vec<String>,
    pub(super) experiments: Vec<Named>,
    pub(super) papers: Vec<OfPaper>,
}

/// An experiment's outcome with its name.
#[derive(Serialize, Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) outcome: Outcome,
}

/// The rows of a paper.
#[derive(Serialize, Deserialize)]
pub(super) struct OfPaper {
    pub(super) paper: Paper,
    pub(super) rows: Vec<Row>,
}

impl Outcome {
    /// The outcome of an experiment all of whose runs have ended.
    pub(super) fn of(kept: &Kept, was_there: usize) -> Self {
        let (call, finished, seconds) = (kept.call.clone(), kept.finished.clone(), kept.seconds);
        Outcome { call, finished, seconds, runs: kept.runs.len(), was_there, rows: means(&kept.runs), gap: None }
    }

    /// The outcome of one without rows.
    pub(super) fn gap(gap: Gap) -> Self {
        let (call, finished) = (String::new(), String::new());
        Outcome { call, finished, seconds: 0.0, runs: 0, was_there: 0, rows: Vec::new(), gap: Some(gap) }
    }
}

/// The rows of the first run, with the means of all runs and their intervals.
fn means(runs: &[Vec<Row>]) -> Vec<Row> {
    let Some((first, rest)) = runs.split_first() else { return Vec::new() };
    let mut rows = first.clone();
    if rest.is_empty() {
        return rows;
    }
    for row in &mut rows {
        let all: Vec<&Row> = runs.iter().filter_map(|run| run.iter().find(|other| other.is(row))).collect();
        for figure in row.figures.iter_mut().filter(|figure| figure.ours.is_some()) {
            let values: Vec<f64> = all.iter().filter_map(|row| Some(row.of(&figure.quantity)?.ours?.value)).collect();
            let Spread { mean, interval_95 } = Spread::of(&values);
            figure.ours = Some(Amount { value: mean, interval: interval_95 });
        }
    }
    rows
}

impl Report {
    /// A report without results.
    pub(super) fn begin(papers: Vec<Paper>, full: bool) -> Self {
        Report { papers, full, machine: Machine::here(), time: now(), outcomes: Vec::new() }
    }

    /// Every row of a paper: measured, or with the reason why not.
    pub(super) fn rows(&self, paper: Paper) -> Vec<Row> {
        let mut rows = paper.rows();
        let own = EXPERIMENTS.iter().filter(|experiment| experiment.paper == paper);
        for outcome in own.filter_map(|experiment| self.outcome(experiment)) {
            outcome.rows.iter().for_each(|row| enter(&mut rows, row));
        }
        for row in rows.iter_mut().filter(|row| row.gap.is_none() && !row.measured()) {
            row.gap = Some(self.reason(paper, row));
        }
        rows
    }

    fn outcome(&self, experiment: &Experiment) -> Option<&Outcome> {
        self.outcomes.iter().find(|(name, _)| name == experiment.name).map(|(_, outcome)| outcome)
    }

    /// The reason why a row was not measured.
    fn reason(&self, paper: Paper, row: &Row) -> Gap {
        let own = EXPERIMENTS.iter().filter(|experiment| experiment.paper == paper && (experiment.covers)(row));
        let mut reasons = own.map(|experiment| match self.outcome(experiment) {
            None => Gap::LeftOut("its experiment has not run yet".into()),
            Some(Outcome { gap: Some(gap), .. }) => gap.clone(),
            Some(_) => Gap::Failed(format!("`{}` ended without it", experiment.name)),
        });
        reasons.next().unwrap_or_else(|| Gap::NotMeasured("no experiment here is of it".into()))
    }

    /// The experiments that have not ended as they should.
    fn missing(&self) -> Vec<String> {
        let own = EXPERIMENTS.iter().filter(|experiment| self.papers.contains(&experiment.paper));
        let line = |experiment: &Experiment| match self.outcome(experiment) {
            None if !self.full && experiment.left_out.is_some() => None,
            None => Some(format!("{}: has not run yet", experiment.name)),
            Some(Outcome { gap: Some(Gap::Failed(reason)), .. }) => {
                Some(format!("{}: failed: {reason}", experiment.name))
            }
            // What a quick run leaves out always is said below the title.
            Some(Outcome { gap: Some(Gap::LeftOut(reason)), .. }) if experiment.left_out.is_none() => {
                Some(format!("{}: {reason}", experiment.name))
            }
            Some(_) => None,
        };
        own.filter_map(line).collect()
    }

    /// The object of `--json`.
    pub(super) fn object(&self) -> Object {
        let experiments =
            self.outcomes.iter().map(|(name, outcome)| Named { name: name.clone(), outcome: outcome.clone() });
        let papers = self.papers.iter().map(|&paper| OfPaper { paper, rows: self.rows(paper) });
        Object {
            bench: "papers".into(),
            mode: if self.full { "full" } else { "quick" }.into(),
            machine: self.machine.clone(),
            time: self.time.clone(),
            missing: self.missing(),
            experiments: experiments.collect(),
            papers: papers.collect(),
        }
    }

    /// The page.
    pub(super) fn page(&self) -> String {
        self.object().page()
    }

    /// The best of each paper, on a terminal.
    pub(super) fn text(&self) -> String {
        let object = self.object();
        let heads = ["system", "best", "published", "ours", "ratio", "of all"].map(String::from).to_vec();
        let line = |best: Best| vec![best.system, best.row, best.published, best.ours, best.ratio, best.range];
        let lines: Vec<Vec<String>> = std::iter::once(heads).chain(object.best().into_iter().map(line)).collect();
        let mut text = output::table(&lines);
        for missing in &object.missing {
            text.push_str(&format!("\nmissing: {missing}"));
        }
        if !object.missing.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// Enters a measured row: into the published one, or behind all.
fn enter(rows: &mut Vec<Row>, measured: &Row) {
    let Some(known) = rows.iter_mut().find(|known| known.is(measured)) else {
        // Behind the rows of its experiment.
        let at = rows.iter().rposition(|row| row.experiment == measured.experiment).map_or(rows.len(), |at| at + 1);
        return rows.insert(at, measured.clone());
    };
    for figure in &measured.figures {
        if let Some(ours) = figure.ours {
            known.measure(&figure.quantity, figure.unit, ours);
        }
    }
    known.our_bound = measured.our_bound.or(known.our_bound);
    measured.notes.iter().for_each(|words| known.note(words));
}

impl Object {
    /// A report that was written before.
    ///
    /// *Errors*: a file that cannot be read, or is none.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read(path).map_err(|e| Failure::unreadable(path, &e))?;
        let none = |e| Failure::call(format!("{}: no report of `garblet-lab papers`: {e}", path.display()));
        serde_json::from_slice(&text).map_err(none)
    }

    /// The page, of a report that was measured here or elsewhere.
    pub(super) fn page(&self) -> String {
        let ran = self.experiments.iter().filter(|experiment| experiment.outcome.gap.is_none());
        let mut calls = vec![format!("garblet-lab papers --{}", self.mode)];
        calls.extend(ran.map(|experiment| {
            let Outcome { call, finished, seconds, runs, .. } = &experiment.outcome;
            let how = if *runs == 1 { String::new() } else { format!(", {runs} runs") };
            format!("{call}  # {finished}, {}{how}", output::seconds(*seconds))
        }));
        page(&Document {
            title: "The five papers, regenerated".into(),
            lead: self.lead(),
            missing: self.missing.clone(),
            summary: Some(compared::summary(self)),
            sections: self.papers.iter().map(|own| section(own.paper, own.rows.clone())).collect(),
            remarks: self.remarks(),
            machine: self.machine.clone(),
            time: self.time.clone(),
            calls,
            json: Json::Beside(super::REPORT),
        })
    }

    fn lead(&self) -> Vec<String> {
        let mut lead = vec![format!(
            "Five papers on garbled circuits, measured again by {} on {} with {} cores, {}. Machines differ from those of the papers, by years and in \
             number: read the notes of a row before its ratio.",
            self.machine.version,
            self.machine.processor,
            self.machine.cores,
            self.time.split('T').next().unwrap_or_default()
        )];
        lead.extend(self.machine.reservations());
        lead
    }

    fn remarks(&self) -> Vec<String> {
        let is_ours = |e: &&Experiment| e.left_out.is_some() && self.papers.iter().any(|own| own.paper == e.paper);
        let left: Vec<&str> = EXPERIMENTS.iter().filter(is_ours).map(|e| e.name).collect();
        let quick = format!(
            "A quick run: one run of each experiment, without intervals. It leaves out {}: `garblet-lab papers --full` has them.",
            left.join(", ")
        );
        if self.mode == "quick" { vec![quick] } else { Vec::new() }
    }

    /// The largest ratio of each paper, and the range of all.
    pub(super) fn best(&self) -> Vec<Best> {
        self.papers.iter().map(|own| best(own.paper, &own.rows)).collect()
    }
}

/// The probabilities of cheating that goes unnoticed, ours and the published one, where they are not nothing.
pub(super) fn bounds(row: &Row) -> String {
    let both = row.our_bound.zip(row.published_bound);
    both.map_or_else(String::new, |(ours, published)| {
        format!(" (cheating unnoticed: {}, published {})", chance(ours), chance(published))
    })
}

fn best(paper: Paper, rows: &[Row]) -> Best {
    let counted =
        |figure: &&Figure| figure.unit == Unit::Seconds && paper.headline().contains(&figure.quantity.as_str());
    // What a text tells as "about" is in no table, and is no best.
    let of_tables = rows.iter().filter(|row| !row.sources.is_empty());
    let all = of_tables.flat_map(|row| row.figures.iter().filter(counted).map(move |figure| (row, figure)));
    let mut ratios: Vec<(f64, &Row, &Figure)> =
        all.filter_map(|(row, figure)| Some((figure.ratio()?, row, figure))).collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let system = paper.system().to_string();
    let sorted: Vec<f64> = ratios.iter().map(|(ratio, ..)| *ratio).collect();
    let Some((most, row, figure)) = ratios.last() else {
        let none = || String::from("-");
        return Best {
            system,
            row: none(),
            published: none(),
            ours: none(),
            ratio: none(),
            range: "nothing measured".into(),
        };
    };
    let amount = |amount: Option<Amount>| amount.map_or_else(String::new, |amount| amount.text(figure.unit));
    let noun = if sorted.len() == 1 { "figure" } else { "figures" };
    Best {
        system,
        row: format!("{}: {}{}", row.title(), figure.quantity, bounds(row)),
        published: amount(figure.published),
        ours: amount(figure.ours),
        ratio: times(*most),
        range: format!("{}, {} {noun}", range(&sorted).unwrap_or_default(), sorted.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        page::Key,
        published::{TABLES, lines},
    };

    fn kept(value: f64) -> Vec<Row> {
        let mut row = Paper::Bmr.row("Table 1", vec![Key::named("protocol", "OT"), Key::number("parties", 3.0)]);
        row.measure("offline", Unit::Seconds, Amount::of(value));
        let mut new = Row::new("Table 1", vec![Key::named("protocol", "OT"), Key::number("parties", 5.0)]);
        new.measure("offline", Unit::Seconds, Amount::of(value));
        vec![row, new]
    }

    fn report(runs: Vec<Vec<Row>>) -> Report {
        let mut report = Report::begin(Paper::ALL.into(), false);
        let (digest, call, finished) = (String::new(), String::from("garblet-lab bmr"), String::from("now"));
        let outcome = Outcome::of(&Kept { digest, call, finished, seconds: 1.0, runs }, 0);
        report.outcomes.push(("bmr-table-1-n3".into(), outcome));
        report.outcomes.push(("bmr-table-1-n7".into(), Outcome::gap(Gap::Failed("no place <left>".into()))));
        report
    }

    #[test]
    fn every_line_of_the_published_tables_is_on_the_page_with_a_figure_or_its_reason() {
        let report = report(vec![kept(0.1)]);
        let page = report.page();
        let object = report.object();
        let rows: Vec<&Row> = object.papers.iter().flat_map(|own| &own.rows).collect();
        assert!(rows.iter().all(|row| row.measured() || row.gap.is_some()));
        let papers = TABLES.iter().filter(|(name, _)| Paper::ALL.iter().any(|paper| name.starts_with(paper.name())));
        let mut count = 0;
        for line in papers.flat_map(|(name, _)| lines(name)) {
            let source = line.source();
            let on_page = page.split("data-sources=\"").skip(1).filter_map(|rest| rest.split('"').next());
            assert!(on_page.flat_map(str::split_whitespace).any(|own| own == source), "{source} is not on the page");
            count += 1;
        }
        // As many lines as all tables have below their heads.
        assert_eq!(count, 234);
        let settings = ["settings_networks.csv", "settings_circuits.csv"].iter().flat_map(|name| lines(name));
        for line in settings {
            let name = [line.text("name"), line.text("circuit")].concat();
            assert!(page.contains(&format!("<td>{name}</td>")), "{name} is not on the page");
        }
    }

    #[test]
    fn a_failed_experiment_is_a_row_that_says_so_and_an_unfinished_page_says_what_is_missing() {
        let report = report(vec![kept(0.1)]);
        let rows = report.rows(Paper::Bmr);
        let of = |parties: &str| {
            rows.iter().find(|row| row.experiment == "Table 1" && row.key("parties") == parties).expect("a row")
        };
        assert_eq!(of("7").gap, Some(Gap::Failed("no place <left>".into())));
        assert!(of("3").measured() && of("5").measured() && of("13").gap.is_some());
        let page = report.page();
        assert!(page.contains("This page is not whole.") && page.contains("bmr-table-1-n13: has not run yet"));
        assert!(page.contains("bmr-table-1-n7: failed: no place &lt;left&gt;"));
        assert!(report.text().contains("missing: bmr-table-1-n7"));
    }

    #[test]
    fn several_runs_are_a_mean_with_an_interval() {
        let rows = means(&[kept(1.0), kept(2.0), kept(3.0)]);
        let ours = rows[0].of("offline").and_then(|figure| figure.ours).expect("measured");
        assert!(ours.value == 2.0 && ours.interval.is_some_and(|half| (half - 2.484).abs() < 1e-3), "{ours:?}");
        assert_eq!(means(&[kept(1.0)])[0].of("offline").and_then(|figure| figure.ours), Some(Amount::of(1.0)));
    }

    #[test]
    fn the_best_of_a_paper_stands_beside_the_range_of_all() {
        let best = best(Paper::Bmr, &report(vec![kept(0.0698)]).rows(Paper::Bmr));
        assert_eq!((best.ratio.as_str(), best.row.as_str()), ("10 ×", "Table 1, OT, 3 parties: offline"));
        assert_eq!(best.range, "10 ×, 1 figure");
    }
}
