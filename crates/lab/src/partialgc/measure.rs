//! Runs of a program by `outsourced`, every party a process: times with their spread, and bytes that are what the formulas say.

use std::sync::Arc;

use garblet::{
    Communication, Phase, Plan, SavedValues,
    outsourced::{Outsourced, partialgc},
    run_report::{PartyPart, RunReport},
};
use garblet_circuit::{Bits, Program, evaluate};
use garblet_cli::{
    local::{Local, Outcome},
    slow::SlowParty,
};
use garblet_console::{
    args::Param, failure::Failure, hints::explain, inputs::by_owner, report::total, settings::Settings,
};
use serde::Serialize;

use super::{
    links::Links,
    programs::{CLIENT, CLOUD, GENERATOR, PARTIES, PaperProgram},
};
use crate::spread::Spread;

/// The form in which a program runs, and what its bound follows from.
#[derive(Clone, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Setting {
    /// `form=shares` with that bound.
    Statistical(String),
    /// `form=partialgc` with this number of circuits.
    Circuits(String),
}

impl Setting {
    /// The settings of a run by processes.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            protocol: garblet::outsourced::NAME.into(),
            params: self.parameters().map(|(name, value)| Param { name: name.into(), value: value.into() }).into(),
            link: None,
            // The client waits while the servers prepare.
            timeout: std::time::Duration::from_secs(3600),
            job: None,
        }
    }

    /// The form, and the parameter by name and value.
    pub(super) fn parameters(&self) -> [(&'static str, &str); 2] {
        match self {
            Setting::Statistical(bound) => [("form", "shares"), ("statistical", bound)],
            Setting::Circuits(count) => [("form", "partialgc"), ("circuits", count)],
        }
    }
}

/// The way in which a program runs.
pub(super) struct Way {
    pub(super) setting: Setting,
    pub(super) repeat: usize,
    /// The client, if its links are slow.
    pub(super) slow: Option<SlowParty>,
}

/// The cost of a program at one bound.
#[derive(Serialize)]
pub(super) struct Measured {
    /// `statistical` of shares, or `circuits` of partialgc.
    #[serde(flatten)]
    pub(super) setting: Setting,
    /// AND gates of a circuit with the MACs that partialgc has in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) and_with_mac: Option<u64>,
    /// As the runs have stated it.
    pub(super) cheating_log2: Option<f64>,
    pub(super) seconds: Seconds,
    /// Processor time of the client. None where the system does not tell.
    pub(super) client_cpu_seconds: Option<Spread>,
    /// Bytes that the client sends and receives.
    pub(super) client_bytes: u64,
    pub(super) links: Links,
    /// The most memory that any run took, of generator, client and cloud.
    pub(super) peak_rss_bytes: Vec<Option<u64>>,
    /// From dealing to the opened answer, of a visit of servers that wait, with all prepared but what depends on the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answered: Option<Answered>,
    /// The whole run, by the bits that it keeps, or by those that it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seconds_per_state_bit: Option<f64>,
}

/// The times of visits.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Answered {
    pub(super) seconds_least: f64,
    pub(super) seconds_median: f64,
}

/// Times: of phases the slower server's, in all the client's.
#[derive(Serialize)]
pub(super) struct Seconds {
    pub(super) setup: Spread,
    pub(super) prepare: Spread,
    pub(super) build: Spread,
    pub(super) online: Spread,
    /// From the client's hello to its outputs.
    pub(super) in_all: Spread,
}

/// Runs a program repeatedly, each time from scratch and on the same inputs.
///
/// *Errors*: a run that fails; a result that is not the plain evaluator's, or bytes that are not those of the formulas.
pub(super) fn measure(paper: &PaperProgram, program: &Program, way: &Way) -> Result<Measured, Failure> {
    let settings = way.setting.settings();
    let plan = settings.plan(program.clone(), PARTIES, SavedValues::default())?;
    let (args, values) = (paper.arguments(), paper.values(program));
    let expected: Vec<Option<Bits>> = evaluate(program, &values).into_iter().map(Some).collect();
    let inputs = by_owner(program, &values, PARTIES);
    let local = Local { args: &args, program, inputs: &inputs, settings: &settings, ahead: None, slow: way.slow };
    let mut reports = Vec::with_capacity(way.repeat);
    for _ in 0..way.repeat {
        let Outcome { outputs, report, .. } = local.once()?;
        if outputs != expected {
            return Err(Failure::no_result(format!("{}: wrong result: this is a bug", paper.name)));
        }
        check_bytes(paper.name, &plan, &report.per_party, &Phase::ALL)?;
        reports.push(report.into());
    }
    let built = match way.setting {
        Setting::Statistical(_) => None,
        Setting::Circuits(_) => Some(built(program, &settings)?),
    };
    Measured::new(way.setting.clone(), built.as_ref(), &reports)
}

/// The plan of partialgc, which states more than others do.
fn built(program: &Program, settings: &Settings) -> Result<partialgc::Plan, Failure> {
    let config = settings.config()?;
    let config = config.get::<Outsourced>().and_then(|config| config.partialgc()).unwrap_or_default();
    let plan = partialgc::Plan::new(Arc::new(program.clone()), PARTIES, config, SavedValues::default());
    plan.map_err(|error| explain(&error))
}

/// Compares what every party counted in these phases with the protocol's formulas.
///
/// *Errors*: the first difference.
pub(super) fn check_bytes(name: &str, plan: &Plan, parts: &[PartyPart], phases: &[Phase]) -> Result<(), Failure> {
    let stated = plan.predict().map_err(|error| explain(&error))?;
    for part in parts {
        for &phase in phases {
            let expected = stated.cost(garblet::Party(part.party), phase).unwrap_or_default();
            check_cost(name, part, phase, expected)?;
        }
    }
    Ok(())
}

/// Compares what a party counted in a phase with a formula's.
///
/// *Errors*: a difference.
pub(super) fn check_cost(name: &str, part: &PartyPart, phase: Phase, expected: Communication) -> Result<(), Failure> {
    let got = part.phases.of(phase).communication;
    if got == expected {
        return Ok(());
    }
    let [expected, got] = [expected, got].map(in_words);
    Err(Failure::no_result(format!(
        "{name}: phase {}, party {}: expected {expected} by the formulas, got {got}: this is a bug",
        phase.name(),
        part.party
    )))
}

fn in_words(cost: Communication) -> String {
    format!("{} bytes sent, {} received and {} rounds", cost.bytes_sent, cost.bytes_received, cost.rounds)
}

/// The cost of a run, as its parties have told it.
pub(super) struct Ran {
    pub(super) cheating_log2: Option<f64>,
    pub(super) per_party: Vec<PartyPart>,
}

impl From<RunReport> for Ran {
    fn from(report: RunReport) -> Self {
        Ran { cheating_log2: report.security.cheating_log2, per_party: report.per_party }
    }
}

impl Measured {
    /// The cost of some runs, one at least.
    ///
    /// *Errors*: counters that do not fit together.
    pub(super) fn new(setting: Setting, built: Option<&partialgc::Plan>, reports: &[Ran]) -> Result<Self, Failure> {
        let whole = |report: &Ran| report.per_party.len() == usize::from(PARTIES);
        let Some(report) = reports.first().filter(|_| reports.iter().all(whole)) else {
            return Err(Failure::no_result("a run without all parties: this is a bug"));
        };
        let part = |report: &Ran, party: garblet::Party| report.per_party[usize::from(party.0)].clone();
        let spread = |of: &dyn Fn(&Ran) -> f64| Spread::of(&reports.iter().map(of).collect::<Vec<_>>());
        let phase = |phase: Phase| {
            spread(&|report| {
                let servers = [GENERATOR, CLOUD].map(|server| part(report, server).phases.of(phase).seconds);
                servers[0].max(servers[1])
            })
        };
        let cpu = |report: &Ran| part(report, CLIENT).cpu_seconds.map(|cpu| cpu.total());
        let cpus: Option<Vec<f64>> = reports.iter().map(cpu).collect();
        let client = total(&part(report, CLIENT).phases).communication;
        let more = |phase: Phase| {
            let heard = |plan, from| partialgc::one_way(plan, from, CLIENT, phase) as i64;
            built.map_or(0, |plan| heard(plan, GENERATOR) - heard(plan, CLOUD))
        };
        let peak = |party| reports.iter().filter_map(|report| part(report, party).peak_rss_bytes).max();
        Ok(Measured {
            setting,
            and_with_mac: built.map(partialgc::Plan::and_count),
            cheating_log2: report.cheating_log2,
            seconds: Seconds {
                setup: phase(Phase::Setup),
                prepare: phase(Phase::Prepare),
                build: phase(Phase::Build),
                online: phase(Phase::Online),
                in_all: spread(&|report| total(&part(report, CLIENT).phases).seconds),
            },
            client_cpu_seconds: cpus.map(|cpus| Spread::of(&cpus)),
            client_bytes: client.bytes_sent + client.bytes_received,
            links: Links::of(&report.per_party, more)?,
            peak_rss_bytes: [GENERATOR, CLIENT, CLOUD].map(peak).into(),
            answered: None,
            seconds_per_state_bit: None,
        })
    }

    /// The same for a run that keeps or reads this number of bits.
    pub(super) fn per_bit(self, bits: Option<u64>) -> Self {
        let seconds_per_state_bit = bits.map(|bits| self.seconds.in_all.mean / bits as f64);
        Measured { seconds_per_state_bit, ..self }
    }
}
