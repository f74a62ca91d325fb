//! `garblet-lab psi`: the size of an intersection and the sum over it, by merging sorted lists and by comparing all pairs.
//!
//! Two processes compute both over loopback TCP, on full lists that share half of their keys. Results are checked against the sum in the
//! clear. Memory is the peak of each process.

use std::{collections::BTreeMap, io::Write};

use garblet_circuit::{Bits, Type};
use garblet_cli::local::Local;
use garblet_console::{
    args::{Constant, ProgramArgs, ProtocolArgs},
    failure::Failure,
    inputs::by_owner,
    output::{bytes, count, rate, seconds},
    program,
    report::total,
    settings::Settings,
};
use rand::RngExt;
use serde::Serialize;

use crate::page::{Form, Piece};

/// The bits of keys and values.
const BITS: usize = 32;

/// The options of `garblet-lab psi`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Rows of each list when lists are merged
    #[arg(long, value_name = "N", default_value = "100000", value_parser = clap::value_parser!(u32).range(2..=1 << 18))]
    merged: u32,
    /// Rows of each list when all pairs are compared
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pairs: u32,
    #[command(flatten)]
    protocol: ProtocolArgs,
    #[command(flatten)]
    form: Form,
}

/// A way, and what it took.
#[derive(Serialize)]
struct Row {
    by: &'static str,
    rows: u32,
    and: u64,
    instances: u64,
    /// The time from the start of the processes to the last result.
    seconds: f64,
    /// The longer of the two parties' times from the greeting to the result.
    session_seconds: f64,
    and_per_second: f64,
    bytes: u64,
    peak_rss_bytes: Vec<Option<u64>>,
}

#[derive(Serialize)]
struct Measured {
    protocol: String,
    merged: Row,
    pairs: Row,
    /// The AND gates that comparing all pairs of the merged lists would take, computed from those of the pairs that were compared.
    pairs_and_of_merged_lists: f64,
}

/// Two lists, sorted by key.
struct Lists {
    keys: Vec<u32>,
    records: Vec<(u32, u32)>,
}

/// Runs the benchmark.
///
/// *Errors*: processes that fail; a wrong sum; files and standard output that cannot be written.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let settings = Settings::new(&options.protocol, 2)?;
    let merged = Lists::random(options.merged).run("merging", &settings)?;
    let pairs = Lists::random(options.pairs).run("all pairs", &settings)?;
    let scale = f64::from(options.merged) / f64::from(options.pairs);
    let measured = Measured {
        protocol: settings.protocol,
        pairs_and_of_merged_lists: pairs.and as f64 * scale * scale,
        merged,
        pairs,
    };
    let words = format!(
        "all pairs of lists of {}: about {:.1e} AND gates, {:.0} times those of merging\n",
        count(options.merged.into()),
        measured.pairs_and_of_merged_lists,
        measured.pairs_and_of_merged_lists / measured.merged.and as f64
    );
    let pieces = vec![Piece::Table(measured.table()), Piece::Words(words)];
    options.form.show(&measured, pieces)
}

impl Lists {
    /// Lists of `rows` rows; party 1 has every second key of party 0, and as many others.
    fn random(rows: u32) -> Self {
        let mut rng = rand::rng();
        let mut all: std::collections::BTreeSet<u32> = std::collections::BTreeSet::new();
        while all.len() < (rows + rows.div_ceil(2)) as usize {
            all.insert(rng.random());
        }
        // Of three keys the first is party 0's, the second both have, the third is party 1's.
        let of = |turns: [usize; 2]| {
            let own = all.iter().enumerate().filter(move |(k, _)| turns.contains(&(k % 3)));
            own.map(|(_, &key)| key).take(rows as usize).collect::<Vec<u32>>()
        };
        let records = of([1, 2]).into_iter().map(|key| (key, rng.random())).collect();
        Lists { keys: of([0, 1]), records }
    }

    fn expected(&self) -> (u128, u128) {
        let records: BTreeMap<u32, u32> = self.records.iter().copied().collect();
        let found: Vec<u32> = self.keys.iter().filter_map(|key| records.get(key).copied()).collect();
        (found.len() as u128, found.into_iter().map(u128::from).sum())
    }

    /// Computes size and sum one way by two processes.
    fn run(&self, by: &'static str, settings: &Settings) -> Result<Row, Failure> {
        let rows = self.keys.len().min(self.records.len());
        let file = tempfile::Builder::new().suffix(".garble.rs").tempfile();
        let mut file = file.map_err(|e| Failure::no_result(format!("a file for the source: {e}")))?;
        file.write_all(include_bytes!("psi/pairs.garble.rs")).map_err(|e| Failure::unwritable(file.path(), &e))?;
        let mut args = ProgramArgs::plain(&format!("lib:intersection-sum({rows},{rows},{BITS},{BITS})"));
        if by != "merging" {
            args = ProgramArgs::plain(&file.path().to_string_lossy());
            args.changes.constants = vec![Constant::Value("PARTY_0::N".into(), rows.to_string())];
        }
        let program = program::load(&args)?;
        let inputs = program.inputs().iter().enumerate();
        let inputs: Vec<Bits> = inputs.map(|(k, input)| self.bits(k, rows, &input.port.ty)).collect();
        let inputs = by_owner(&program, &inputs, 2);
        let local = Local { args: &args, program: &program, inputs: &inputs, settings, ahead: None, slow: None };
        let outcome = local.repeat(1)?;
        let number = |k: usize| outcome.outputs[k].as_ref().and_then(Bits::to_u128);
        if (number(0), number(1)) != (Some(self.expected().0), Some(self.expected().1)) {
            return Err(Failure::no_result(format!("{}: wrong result: this is a bug", args.program)));
        }
        let costs: Vec<_> = outcome.report.per_party.iter().map(|party| total(&party.phases)).collect();
        let session_seconds = costs.iter().map(|cost| cost.seconds).fold(0.0, f64::max);
        Ok(Row {
            by,
            rows: rows as u32,
            and: outcome.report.program.and,
            instances: program.instance_count() as u64,
            seconds: outcome.seconds,
            session_seconds,
            and_per_second: outcome.report.program.and as f64 / session_seconds,
            bytes: costs.iter().map(|cost| cost.communication.bytes_sent).sum(),
            peak_rss_bytes: outcome.report.per_party.iter().map(|party| party.peak_rss_bytes).collect(),
        })
    }

    /// An input: party 0's keys or party 1's records, as an array, or as a list that is full.
    fn bits(&self, input: usize, rows: usize, ty: &Type) -> Bits {
        let mut bits = Bits::default();
        if let Type::List(_, most) = ty {
            bits.append(&Bits::from_u128(rows as u128, Type::count_width(*most) as usize));
        }
        let mut add = |number: u32| bits.append(&Bits::from_u128(number.into(), BITS));
        for k in 0..rows {
            if input == 0 {
                add(self.keys[k]);
            } else {
                add(self.records[k].0);
                add(self.records[k].1);
            }
        }
        bits
    }
}

impl Measured {
    fn table(&self) -> Vec<Vec<String>> {
        let head = ["by", "rows", "AND", "time", "AND/s", "bytes sent", "peak memory of each process"];
        let line = |row: &Row| {
            let memory = |held: &Option<u64>| held.map_or("unknown".into(), bytes);
            vec![
                row.by.to_string(),
                count(row.rows.into()),
                count(row.and),
                seconds(row.session_seconds),
                rate(row.and_per_second),
                bytes(row.bytes),
                row.peak_rss_bytes.iter().map(memory).collect::<Vec<_>>().join(", "),
            ]
        };
        vec![head.map(String::from).to_vec(), line(&self.merged), line(&self.pairs)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_share_half_of_their_keys() {
        for rows in [2, 3, 10, 101, 1000] {
            let lists = Lists::random(rows);
            assert_eq!((lists.keys.len(), lists.records.len()), (rows as usize, rows as usize));
            assert!(lists.keys.is_sorted() && lists.records.is_sorted_by_key(|record| record.0));
            let (size, _) = lists.expected();
            assert!(size.abs_diff(u128::from(rows) / 2) <= 1, "{size} of {rows}");
        }
    }
}
