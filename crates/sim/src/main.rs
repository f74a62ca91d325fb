//! Lives histories of many seeds, until one has a finding.

use std::{
    io::{IsTerminal, Write, stderr},
    ops::Range,
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use clap::{Parser, ValueEnum};
use garblet_sim::{Bug, History, live, live_with_clients};

/// A kind of history.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum World {
    /// Two or three parties with stores.
    Parties,
    /// Two servers with a state, and their clients.
    Servers,
}

/// Live histories of parties with stores, each from one seed, and hold them against a plain model.
#[derive(Parser)]
#[command(name = "garblet-sim")]
struct Call {
    /// The seeds: FROM..TO, without the last
    #[arg(long, value_parser = seeds)]
    seeds: Range<u64>,
    /// The kind of history
    #[arg(long, default_value = "parties")]
    world: World,
    /// Put an old fault back
    #[arg(long)]
    bug: Option<Bug>,
    /// Print the history of every seed
    #[arg(long)]
    log: bool,
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let range = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range.filter(|seeds: &Range<u64>| !seeds.is_empty()).ok_or_else(|| "expected FROM..TO, for instance 0..1000".into())
}

fn main() -> ExitCode {
    let call = Call::parse();
    let begin = Instant::now();
    let (next, done, found) = (AtomicU64::new(call.seeds.start), AtomicU64::new(0), Mutex::new(None::<History>));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= call.seeds.end || found.lock().expect("no thread panics").is_some() {
                return;
            }
            let history = match call.world {
                World::Parties => live(seed, call.bug),
                World::Servers => live_with_clients(seed, call.bug),
            };
            if call.log {
                println!("{}", history.log);
            }
            if history.finding.is_some() {
                // The first seed, whichever thread is the fastest.
                let mut found = found.lock().expect("no thread panics");
                if found.as_ref().is_none_or(|other| other.seed > seed) {
                    *found = Some(history);
                }
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, begin);
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, Into::into)).for_each(|_| _ = scope.spawn(work));
    });
    let (done, seconds) = (done.into_inner(), begin.elapsed().as_secs_f64());
    eprintln!("\r{done} histories in {seconds:.1} s, {:.0} a minute", done as f64 * 60.0 / seconds);
    match found.into_inner().expect("no thread panics") {
        None => ExitCode::SUCCESS,
        Some(history) => {
            let seed = history.seed;
            let bug = call
                .bug
                .and_then(|bug| bug.to_possible_value())
                .map_or(String::new(), |bug| format!(" --bug {}", bug.get_name()));
            println!("{}", history.log);
            let world = if call.world == World::Servers { " --world servers" } else { "" };
            println!("repeat it: cargo run --release -p garblet-sim -- --seeds {seed}..{}{world}{bug}", seed + 1);
            ExitCode::FAILURE
        }
    }
}

/// Says how far it is, where somebody looks.
fn progress(done: u64, begin: Instant) {
    if done.is_multiple_of(20) && stderr().is_terminal() {
        let rate = done as f64 * 60.0 / begin.elapsed().as_secs_f64();
        eprint!("\r{done} histories, {rate:.0} a minute");
        let _ = stderr().flush();
    }
}
