//! `garblet bench compile`: how long the function language takes for instances of components, and how much memory.
//!
//! Two sources, each over sizes a hundredfold apart: the edit distance, whose instances are cells of a grid, and a chain of
//! products, of which there is one component. Each size is compiled by a process of its own, so that its peak memory is
//! that of one program.

mod plot;

use std::{path::PathBuf, process::Command, time::Instant};

use garblet_circuit::front_end::FrontEnds;
use garblet_lang::{Constants, Language};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{failure::Failure, output, report::peak_rss_bytes};

/// The sources, each with its sizes.
const SOURCES: [Source; 2] = [
    Source {
        name: "edit-distance",
        text: include_str!("compile/edit_distance.garble.rs"),
        sizes: &[64, 128, 256, 512, 640],
    },
    Source {
        name: "chain",
        text: include_str!("compile/chain.garble.rs"),
        sizes: &[10_000, 30_000, 100_000, 300_000, 1_000_000],
    },
];

struct Source {
    name: &'static str,
    text: &'static str,
    sizes: &'static [u32],
}

/// What `garblet bench compile` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Times that each program is compiled, of which the fastest is reported
    #[arg(long, default_value = "3")]
    repeat: std::num::NonZeroU32,
    /// Only sizes up to this one
    #[arg(long, value_name = "SIZE")]
    up_to: Option<u32>,
    /// Also plot the time of an instance, as an SVG image
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
    /// Compile one source in one size, in this process
    #[arg(long, hide = true, num_args = 2, value_names = ["SOURCE", "SIZE"])]
    one: Option<Vec<String>>,
}

/// One program.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    source: String,
    size: u32,
    instances: u64,
    components: u64,
    and: u64,
    seconds: f64,
    /// None where the system does not tell.
    peak_rss_bytes: Option<u64>,
}

impl Row {
    fn nanoseconds_per_instance(&self) -> f64 {
        1e9 * self.seconds / self.instances.max(1) as f64
    }
}

/// Runs the benchmark.
///
/// *Errors*: a process that cannot be started or fails; files and standard output that cannot be written.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    if let Some([source, size]) = options.one.as_deref() {
        return output::print_json(&compile(source, size, options.repeat.get())?);
    }
    let mut rows = Vec::new();
    for source in &SOURCES {
        for &size in source.sizes.iter().filter(|&&size| options.up_to.is_none_or(|most| size <= most)) {
            rows.push(in_process(source.name, size, options)?);
        }
    }
    if let Some(path) = &options.svg {
        std::fs::write(path, plot::svg(&rows)).map_err(|e| Failure::unwritable(path, &e))?;
    }
    report(&rows, options)
}

/// Has another process compile a source.
fn in_process(source: &str, size: u32, options: &Options) -> Result<Row, Failure> {
    let failed = |what: String| Failure::no_result(format!("{source} of size {size} is not compiled: {what}"));
    let own = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
    let arguments = ["bench", "compile", "--one", source, &size.to_string(), "--repeat", &options.repeat.to_string()];
    let done = Command::new(own).args(arguments).output().map_err(|e| failed(e.to_string()))?;
    if !done.status.success() {
        return Err(failed(String::from_utf8_lossy(&done.stderr).trim().to_string()));
    }
    serde_json::from_slice(&done.stdout).map_err(|e| failed(e.to_string()))
}

fn compile(source: &str, size: &str, repeat: u32) -> Result<Row, Failure> {
    let unknown = || Failure::call(format!("--one: no source `{source}` of size `{size}`"));
    let source = SOURCES.iter().find(|own| own.name == source).ok_or_else(unknown)?;
    let mut constants = Constants::default();
    constants.set("N", size).map_err(|_| unknown())?;
    let size = size.parse().map_err(|_| unknown())?;
    let options = garblet_lang::Options { constants, ..garblet_lang::Options::default() };
    let front_ends = FrontEnds::standard().with(Language { options });
    let mut row: Option<Row> = None;
    for _ in 0..repeat {
        let begin = Instant::now();
        let file = format!("{}.garble.rs", source.name);
        let program = front_ends.read(&file, &mut source.text.as_bytes()).map_err(Failure::diagnosed)?;
        let seconds = begin.elapsed().as_secs_f64();
        if row.as_ref().is_none_or(|row| seconds < row.seconds) {
            row = Some(Row {
                source: source.name.into(),
                size,
                instances: program.instance_count() as u64,
                components: program.components().len() as u64,
                and: program.stats().and,
                seconds,
                peak_rss_bytes: None,
            });
        }
    }
    let row = row.ok_or_else(unknown)?;
    Ok(Row { peak_rss_bytes: peak_rss_bytes(), ..row })
}

fn report(rows: &[Row], options: &Options) -> Result<(), Failure> {
    if options.json {
        let object = |row: &Row| {
            let mut value = json!(row);
            value["nanoseconds_per_instance"] = json!(row.nanoseconds_per_instance());
            value
        };
        let rows: Vec<_> = rows.iter().map(object).collect();
        return output::print_json(&json!({ "bench": "compile", "repeat": options.repeat, "programs": rows }));
    }
    let head = ["source", "size", "AND", "components", "instances", "time", "per instance", "peak memory"];
    let line = |row: &Row| {
        vec![
            row.source.clone(),
            output::count(row.size.into()),
            output::count(row.and),
            output::count(row.components),
            output::count(row.instances),
            output::seconds(row.seconds),
            format!("{:.0} ns", row.nanoseconds_per_instance()),
            row.peak_rss_bytes.map_or_else(|| "?".into(), output::bytes),
        ]
    };
    let lines: Vec<Vec<String>> =
        std::iter::once(head.map(String::from).to_vec()).chain(rows.iter().map(line)).collect();
    output::print(&output::table(&lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_compiled_in_their_sizes() {
        let chain = compile("chain", "1000", 1).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!((chain.instances, chain.components), (1000, 1));
        let grid = compile("edit-distance", "8", 1).unwrap_or_else(|e| panic!("{e:?}"));
        assert!(grid.and > 0 && grid.and <= 45 * 64, "{}", grid.and);
    }

    #[test]
    fn what_is_no_source_or_size_is_refused() {
        assert!(compile("sort", "8", 1).is_err());
        assert!(compile("chain", "-8", 1).is_err());
    }
}
