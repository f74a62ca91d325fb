//! `garblet serve`: keeps a store filled, a little at a time, at low priority.

use std::thread::sleep;

use crate::{
    args::Time,
    failure::{Failure, Status},
    output::count,
    prepare::StockArgs,
    way::{self, WayArgs},
};

/// What `garblet serve` takes.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("meeting").args(way::MEETING).required(true)))]
pub(crate) struct Options {
    #[command(flatten)]
    stock: StockArgs,
    #[command(flatten)]
    peer: WayArgs,
    /// Refill a kind when there is less than this much of what the library says, in percent
    #[arg(long, value_name = "PERCENT", default_value = "50", value_parser = clap::value_parser!(u8).range(1..=100))]
    low_water: u8,
    /// How often to look
    #[arg(long, value_name = "TIME", default_value = "10s")]
    every: Time,
    /// Look so often, then end [default: until stopped]
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    lower_priority();
    let mut round = 0;
    while options.rounds.is_none_or(|rounds| round < rounds) {
        if round > 0 {
            sleep(options.every.0);
        }
        round += 1;
        let way = options.peer.way()?;
        // The store is open only while it is looked at and filled, so that runs can use it in between.
        match options.stock.fill(&way, options.low_water, false) {
            Ok(filled) => {
                let pieces: u64 = filled.store.stock().iter().map(|kind| kind.available.len()).sum();
                eprintln!("{} pieces are ready", count(pieces));
            }
            Err(failure) if failure.status == Status::WrongCall => return Err(failure),
            // The peer may come back.
            Err(failure) => failure.report(),
        }
    }
    Ok(())
}

/// Lets everything else on this machine go first.
fn lower_priority() {
    #[cfg(unix)]
    let _ = rustix::process::nice(10);
}
