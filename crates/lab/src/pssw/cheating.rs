//! Runs of two processes: the forms that the paper measured against parties that may cheat, and what this program does by default.

use std::sync::Arc;

use garblet::{Phase, covert, cut_and_choose};
use garblet_circuit::{Bits, InputId, Party, Program, evaluate};
use garblet_cli::local::{Local, Outcome};
use garblet_console::{
    args::{Param, ProgramArgs, To},
    failure::Failure,
    inputs::PartyInputs,
    program,
    report::total,
    settings::Settings,
};
use garblet_garble::published::Method;
use garblet_net::DEFAULT_TIMEOUT;
use garblet_synthesis::tables::{TableCircuit, TableCounts};

use super::{COVERT, Example, MALICIOUS, Measured, Options};

/// The published form with a published method.
///
/// *Errors*: a run that fails.
pub(super) fn as_published(
    options: &Options,
    example: &Example,
    [adversary, encoding]: [&str; 2],
    method: Method,
) -> Result<Measured, Failure> {
    let common = [("encoding", encoding), ("scheme", method.name())];
    if adversary == COVERT {
        let own = [("form", "al07"), ("circuits", "16"), ("shares", "4"), ("ot", "pvw")];
        return measure(example, covert::NAME, &[&own[..], &common].concat(), options.repeat);
    }
    let numbers = [options.circuits, options.supersets].map(|number| number.to_string());
    let own = [("form", "lp07"), ("circuits", &*numbers[0]), ("supersets", &*numbers[1])];
    measure(example, cut_and_choose::NAME, &[&own[..], &common].concat(), options.repeat)
}

/// The default protocol against that adversary.
///
/// *Errors*: as [`as_published`].
pub(super) fn default(example: &Example, adversary: &str, repeat: u16) -> Result<Measured, Failure> {
    let protocol = match adversary {
        MALICIOUS => cut_and_choose::NAME,
        COVERT => covert::NAME,
        _ => garblet::yao::NAME,
    };
    measure(example, protocol, &[], repeat)
}

/// The fastest of some runs.
fn measure(example: &Example, protocol: &str, params: &[(&str, &str)], repeat: u16) -> Result<Measured, Failure> {
    let args = arguments(example);
    let program = program::load(&args)?;
    let settings = Settings {
        protocol: protocol.to_string(),
        params: params.iter().map(|(name, value)| Param { name: (*name).into(), value: (*value).into() }).collect(),
        link: None,
        timeout: DEFAULT_TIMEOUT,
        job: None,
    };
    let mut fastest: Option<Measured> = None;
    for _ in 0..repeat.max(1) {
        let run = of_outcome(&run_checked(&args, &program, &settings)?);
        fastest = Some(match fastest {
            Some(known) if known.total_seconds <= run.total_seconds => known,
            _ => run,
        });
    }
    let fastest = fastest.ok_or_else(|| Failure::no_result("no run: this is a bug"))?;
    let words: Vec<String> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let counts = published_counts(&program, &settings)?;
    let as_what = [protocol.to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ");
    let measured = Measured { as_what: Some(as_what), ..fastest };
    Ok(match counts {
        Some(counts) => Measured { gates: counts.gates, xor_percent: counts.xor_percent(), ..measured },
        None => measured,
    })
}

/// The gates of one circuit of a published method, the encoding of inputs and what hides and authenticates outputs included.
fn published_counts(program: &Program, settings: &Settings) -> Result<Option<TableCounts>, Failure> {
    let (program, config) = (Arc::new(program.clone()), settings.config()?);
    let counts = |circuit: Option<&TableCircuit>| circuit.map(TableCircuit::counts);
    if let Some(config) = config.get::<covert::Covert>() {
        let plan = covert::Plan::new(program, *config).map_err(Failure::no_result)?;
        return Ok(counts(plan.published()));
    }
    if let Some(config) = config.get::<cut_and_choose::CutAndChoose>() {
        let plan = cut_and_choose::Plan::new(program, *config).map_err(Failure::no_result)?;
        return Ok(counts(plan.published()));
    }
    Ok(None)
}

fn of_outcome(outcome: &Outcome) -> Measured {
    let parts = &outcome.report.per_party;
    let totals: Vec<_> = parts.iter().map(|part| total(&part.phases)).collect();
    let sent: u64 = totals.iter().map(|cost| cost.communication.bytes_sent).sum();
    let most = |of: &dyn Fn(usize) -> f64| (0..parts.len()).map(of).fold(0.0, f64::max);
    let online = |party: usize| Some(parts.get(party)?.cpu_seconds.as_ref()?.online);
    let before =
        |party: usize| parts[party].phases.of(Phase::Setup).seconds + parts[party].phases.of(Phase::Prepare).seconds;
    let processor = parts.iter().map(|part| part.cpu_seconds.map(|cpu| cpu.total()));
    let total_seconds = most(&|party| totals[party].seconds);
    Measured {
        precompute_seconds: online(0),
        ot_seconds: Some(most(&before)),
        calculate_seconds: online(1),
        kilobytes: sent as f64 / 1000.0,
        cheating_log2: outcome.report.security.cheating_log2,
        processor_seconds: processor.sum(),
        peak_rss_bytes: parts.iter().filter_map(|part| part.peak_rss_bytes).max(),
        ..Measured::of_counts(outcome.report.program.and, outcome.report.program.xor, total_seconds)
    }
}

/// The program, with the recipients of outputs as in the paper.
pub(super) fn arguments(example: &Example) -> ProgramArgs {
    let to = |(output, party): (&str, u16)| To { output: output.into(), parties: Some(vec![Party(party)]) };
    let (name, recipients): (&str, Vec<To>) = match example.number {
        1 => ("lib:compare-and-count(32)", [("less", 1), ("common", 0)].map(to).into()),
        _ => ("lib:aes128", vec![to(("ciphertext", 1))]),
    };
    let mut args = ProgramArgs::plain(name);
    args.changes.recipients = recipients;
    args
}

/// A run with its result checked against the plain evaluator.
fn run_checked(args: &ProgramArgs, program: &Program, settings: &Settings) -> Result<Outcome, Failure> {
    let bytes = |width: u32, of: usize| (0..width as usize / 8).map(|i| (3 * i + 0x25 * of) as u8).collect::<Vec<u8>>();
    let inputs = program.inputs().iter().enumerate();
    let inputs: Vec<Bits> = inputs.map(|(k, input)| Bits::from_bytes(&bytes(input.port.width(), k + 1))).collect();
    let expected: Vec<Option<Bits>> = evaluate(program, &inputs).into_iter().map(Some).collect();
    let inputs: Vec<PartyInputs> =
        inputs.into_iter().enumerate().map(|(k, bits)| vec![(InputId(k as u32), bits)]).collect();
    let outcome = Local { args, program, inputs: &inputs, settings, ahead: None, slow: None }.once()?;
    match outcome.outputs == expected {
        true => Ok(outcome),
        false => Err(Failure::no_result(format!("{}: wrong result: this is a bug", args.program))),
    }
}
