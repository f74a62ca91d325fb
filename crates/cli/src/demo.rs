//! `garblet demo`: two parties on this machine run a real task over real sockets, or two servers keep a map for friends.

mod friends;
mod site;

use garblet::{
    Bits, Program,
    circuit::{InputId, evaluate},
    net::SimulatedLink,
};
use garblet_console::{
    args::ProgramArgs,
    failure::Failure,
    inputs::{PartyInputs, nucleotides},
    output::{bytes, count, print, print_json, rate, seconds},
    program,
    report::{self, total},
    settings::Settings,
};
use serde_json::json;

use crate::local::{Local, Outcome};

const HUMAN: &str = include_str!("../../../examples/edit-distance/human.fasta");
const MOUSE: &str = include_str!("../../../examples/edit-distance/mouse.fasta");

/// FIPS 197, appendix C.1.
const KEY: u128 = 0x000102030405060708090a0b0c0d0e0f;
const BLOCK: u128 = 0x00112233445566778899aabbccddeeff;
const CIPHERTEXT: u128 = 0x69c4e0d86a7b0430d8cdb78070b4c55a;

/// The options of `garblet demo`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    which: Option<Which>,
    /// Simulate a link with this one-way latency and rate, for instance 33ms,50mbit
    #[arg(long, value_name = "LATENCY,RATE")]
    link: Option<SimulatedLink>,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Other demonstrations.
#[derive(clap::Subcommand)]
enum Which {
    /// A page that shows which friends are near, and two servers that keep an encrypted map for it
    Friends(friends::Options),
}

/// One task of the demonstration.
struct Job {
    title: &'static str,
    story: String,
    args: ProgramArgs,
    program: Program,
    inputs: Vec<PartyInputs>,
    /// The expected answer, from an independent source.
    expected: Bits,
    source: &'static str,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    if let Some(Which::Friends(options)) = &options.which {
        return friends::run(options);
    }
    let settings = Settings::standard(options.link);
    let jobs = [edit_distance()?, aes()?];
    let mut reports = Vec::new();
    if !options.json {
        print(
            "Two parties, each in its own process, connected by TCP on this machine. Neither sees the other's input.\n",
        )?;
    }
    for (number, job) in jobs.iter().enumerate() {
        let local = Local {
            args: &job.args,
            program: &job.program,
            inputs: &job.inputs,
            settings: &settings,
            ahead: None,
            slow: None,
        };
        if !options.json {
            print(&format!("\n{}. {}\n{}\n", number + 1, job.title, job.story))?;
        }
        let outcome = local.once()?;
        job.check(&outcome)?;
        if !options.json {
            print(&job.text(&outcome))?;
        }
        reports.push(outcome.report);
    }
    match options.json {
        true => print_json(&json!({ "demo": reports })),
        false => Ok(()),
    }
}

impl Job {
    fn check(&self, outcome: &Outcome) -> Result<(), Failure> {
        match outcome.outputs.first() {
            Some(Some(bits)) if *bits == self.expected => Ok(()),
            _ => Err(Failure::no_result(format!(
                "{}: the result differs from {}: this is a bug",
                self.title, self.source
            ))),
        }
    }

    fn text(&self, outcome: &Outcome) -> String {
        let cost = outcome.report.per_party.iter().map(|p| total(&p.phases));
        let time = cost.clone().map(|c| c.seconds).fold(0.0, f64::max);
        let moved: u64 = cost.map(|c| c.communication.bytes_sent).sum();
        let ands = outcome.report.program.and;
        format!(
            "   {}   as {}\n   {} AND gates in {}, {} AND/s; {} between the parties\n\n{}",
            report::outputs_text(&self.program, &outcome.outputs).trim_end(),
            self.source,
            count(ands),
            seconds(time),
            rate(ands as f64 / time),
            bytes(moved),
            indent(&report::phase_table(&outcome.report))
        )
    }
}

fn edit_distance() -> Result<Job, Failure> {
    let read = |text| nucleotides(text).map_err(|e| Failure::call(format!("the demonstration's genes: {e}")));
    let genes = [read(HUMAN)?, read(MOUSE)?];
    let [n, m] = [genes[0].len() / 2, genes[1].len() / 2];
    let args = ProgramArgs::plain(&format!("lib:levenshtein({n},{m},2)"));
    let program = program::load(&args)?;
    let expected = evaluate(&program, &genes).swap_remove(0);
    Ok(Job {
        title: "Edit distance of two genes",
        story: format!("   party 0 has the insulin gene of man, {n} nucleotides; party 1 that of the mouse, {m}"),
        args,
        program,
        inputs: one_each(genes),
        expected,
        source: "computed in the clear",
    })
}

fn aes() -> Result<Job, Failure> {
    let args = ProgramArgs::plain("lib:aes128");
    let bits = |value: u128| Bits::from_bytes(&value.to_be_bytes());
    Ok(Job {
        title: "AES-128",
        story: "   party 0 has a key; party 1 has a block, and gets it encrypted under a key that it never sees".into(),
        program: program::load(&args)?,
        args,
        inputs: one_each([bits(KEY), bits(BLOCK)]),
        expected: bits(CIPHERTEXT),
        source: "in FIPS 197, appendix C.1",
    })
}

/// Input `k` from party `k`.
fn one_each(inputs: [Bits; 2]) -> Vec<PartyInputs> {
    inputs.into_iter().enumerate().map(|(k, bits)| vec![(InputId(k as u32), bits)]).collect()
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("   {line}\n")).collect()
}
