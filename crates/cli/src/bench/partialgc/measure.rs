//! Runs of a program by `outsourced`, every party a process: times with their spread, and bytes that are what the formulas say.

use garblet::{Communication, Phase, Plan, SavedValues};
use garblet_circuit::{Bits, Program, evaluate};
use serde::Serialize;

use super::{
    links::Links,
    programs::{CLIENT, CLOUD, GENERATOR, PARTIES, PaperProgram},
    spread::Spread,
};
use crate::{
    args::Param,
    failure::Failure,
    hints::explain,
    inputs::by_owner,
    local::{Local, Outcome},
    report::{PartyPart, RunReport, total},
    settings::Settings,
    slow::SlowParty,
};

/// The way in which all programs run.
pub(super) struct Way<'a> {
    pub(super) statistical: &'a str,
    pub(super) repeat: usize,
    /// The client, if its links are slow.
    pub(super) slow: Option<SlowParty>,
}

/// The cost of a program at one bound.
#[derive(Serialize)]
pub(super) struct Measured {
    pub(super) statistical: String,
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

/// Runs a program so many times, each afresh and all on the same inputs.
///
/// *Errors*: a run that fails; a result that is not the plain evaluator's, or bytes that are not those of the formulas.
pub(super) fn measure(paper: &PaperProgram, program: &Program, way: &Way<'_>) -> Result<Measured, Failure> {
    let settings = Settings {
        protocol: garblet::outsourced::NAME.into(),
        params: vec![Param { name: "statistical".into(), value: way.statistical.into() }],
        link: None,
        // The client waits while the servers prepare.
        timeout: std::time::Duration::from_secs(3600),
    };
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
        check_bytes(paper.name, &plan, &report.per_party)?;
        reports.push(report);
    }
    Measured::new(way.statistical, &reports)
}

/// Compares what every party counted with the protocol's formulas.
fn check_bytes(name: &str, plan: &Plan, parts: &[PartyPart]) -> Result<(), Failure> {
    let stated = plan.predict().map_err(|error| explain(&error))?;
    for part in parts {
        for phase in Phase::ALL {
            let (expected, got) = (stated.cost(garblet::Party(part.party), phase), part.phases.of(phase).communication);
            if expected != Some(got) {
                let [expected, got] = [expected.unwrap_or_default(), got].map(in_words);
                return Err(Failure::no_result(format!(
                    "{name}: phase {}, party {}: expected {expected} by the formulas, got {got}: this is a bug",
                    phase.name(),
                    part.party
                )));
            }
        }
    }
    Ok(())
}

fn in_words(cost: Communication) -> String {
    format!("{} bytes sent, {} received and {} rounds", cost.bytes_sent, cost.bytes_received, cost.rounds)
}

impl Measured {
    /// The cost of some runs, one at least.
    fn new(statistical: &str, reports: &[RunReport]) -> Result<Self, Failure> {
        let whole = |report: &RunReport| report.per_party.len() == usize::from(PARTIES);
        let Some(report) = reports.first().filter(|_| reports.iter().all(whole)) else {
            return Err(Failure::no_result("a run without all parties: this is a bug"));
        };
        let part = |report: &RunReport, party: garblet::Party| report.per_party[usize::from(party.0)].clone();
        let spread = |of: &dyn Fn(&RunReport) -> f64| Spread::of(&reports.iter().map(of).collect::<Vec<_>>());
        let phase = |phase: Phase| {
            spread(&|report| {
                let servers = [GENERATOR, CLOUD].map(|server| part(report, server).phases.of(phase).seconds);
                servers[0].max(servers[1])
            })
        };
        let cpu = |report: &RunReport| part(report, CLIENT).cpu_seconds.map(|cpu| cpu.setup + cpu.prepare + cpu.online);
        let cpus: Option<Vec<f64>> = reports.iter().map(cpu).collect();
        let client = total(&part(report, CLIENT).phases).communication;
        let peak = |party| reports.iter().filter_map(|report| part(report, party).peak_rss_bytes).max();
        Ok(Measured {
            statistical: statistical.into(),
            cheating_log2: report.security.cheating_log2,
            seconds: Seconds {
                setup: phase(Phase::Setup),
                prepare: phase(Phase::Prepare),
                build: phase(Phase::Build),
                online: phase(Phase::Online),
                in_all: spread(&|report| total(&part(report, CLIENT).phases).seconds),
            },
            client_cpu_seconds: cpus.map(|cpus| Spread::of(&cpus)),
            client_bytes: client.bytes_sent + client.bytes_received,
            links: Links::of(&report.per_party)?,
            peak_rss_bytes: [GENERATOR, CLIENT, CLOUD].map(peak).into(),
        })
    }
}
