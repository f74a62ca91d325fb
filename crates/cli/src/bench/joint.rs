//! `garblet bench joint`: what one of many parties computes by itself to garble and to evaluate jointly, in memory, on one
//! thread, against bare double-key hash calls.

use std::time::Instant;

use garblet::bmr::{Config, Plan, Rehearsal};
use garblet_circuit::library;
use garblet_primitives::{BARE_BLOCKS, Backend, Block, Prg, bare_double_keys};
use serde::Serialize;

use crate::{
    failure::Failure,
    output::{print, print_json, rate, table},
};

/// What `garblet bench joint` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The circuit
    #[arg(long, default_value = "lib:aes128")]
    program: String,
    /// Numbers of parties
    #[arg(long, value_delimiter = ',', default_value = "3,5,7,9,11,13")]
    parties: Vec<u16>,
    /// Passes, of which the fastest counts
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Measured {
    bench: &'static str,
    program: String,
    and: usize,
    threads: u32,
    results: Vec<Line>,
}

/// One number of parties.
#[derive(Serialize)]
struct Line {
    parties: u16,
    bare_hash_per_second: f64,
    evaluate_and_per_second: f64,
    evaluate_hash_per_second: f64,
    evaluate_of_bare: f64,
    mask_and_per_second: f64,
    mask_hash_per_second: f64,
    mask_of_bare: f64,
}

/// Runs the benchmark.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let program = library::find(&options.program).map_err(|error| Failure::call(format!("--program: {error}")))?;
    let program = std::sync::Arc::new(program);
    let mut measured =
        Measured { bench: "joint", program: options.program.clone(), and: 0, threads: 1, results: Vec::new() };
    for &parties in &options.parties {
        let plan = Plan::new(program.clone(), parties, Config::default())
            .map_err(|error| Failure::call(format!("--parties {parties}: {error}")))?;
        measured.and = plan.and_count();
        measured.results.push(measure(&plan, options.repeat));
    }
    match options.json {
        true => print_json(&measured),
        false => print(&measured.text()),
    }
}

fn measure(plan: &Plan, repeat: u32) -> Line {
    let mut rehearsal = Rehearsal::new(plan, &mut Prg::new(Block::ONES));
    let mut blocks = [Block::ONES; BARE_BLOCKS];
    let (parties, ands) = (f64::from(plan.parties()), plan.and_count() as f64);
    let calls = ands * parties * parties;
    let rounds = (calls as usize).div_ceil(BARE_BLOCKS);
    let [mut bare, mut evaluate, mut mask] = [f64::INFINITY; 3];
    // In turn, so that what else the machine does falls on all alike.
    for _ in 0..repeat {
        bare = bare.min(seconds(|| bare_double_keys(Backend::detect(), &mut blocks, rounds)));
        evaluate = evaluate.min(seconds(|| {
            std::hint::black_box(rehearsal.evaluate());
        }));
        mask = mask.min(seconds(|| rehearsal.mask()));
    }
    let bare = (rounds * BARE_BLOCKS) as f64 / bare;
    let [evaluated, masked] = [calls / evaluate, 4.0 * ands * parties / mask];
    Line {
        parties: plan.parties(),
        bare_hash_per_second: bare,
        evaluate_and_per_second: ands / evaluate,
        evaluate_hash_per_second: evaluated,
        evaluate_of_bare: evaluated / bare,
        mask_and_per_second: ands / mask,
        mask_hash_per_second: masked,
        mask_of_bare: masked / bare,
    }
}

fn seconds(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

impl Measured {
    fn text(&self) -> String {
        let head = ["parties", "bare hash/s", "evaluate AND/s", "hash/s", "of bare", "mask AND/s", "hash/s", "of bare"];
        let percent = |part: f64| format!("{:.0} %", 100.0 * part);
        let row = |line: &Line| {
            vec![
                line.parties.to_string(),
                rate(line.bare_hash_per_second),
                rate(line.evaluate_and_per_second),
                rate(line.evaluate_hash_per_second),
                percent(line.evaluate_of_bare),
                rate(line.mask_and_per_second),
                rate(line.mask_hash_per_second),
                percent(line.mask_of_bare),
            ]
        };
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.results.iter().map(row));
        table(&rows)
    }
}
