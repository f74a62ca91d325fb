//! `garblet-lab compile`: how long the function language takes for instances of components, and how much memory.
//!
//! Two sources, each over sizes a hundredfold apart: the edit distance, whose instances are cells of a grid, and a chain of
//! products, which has few components. Each size is compiled in a new process, so that the peak memory is that of one program. The cost
//! of an instance is the difference to the next smaller size, which leaves out the cost of making components.

mod plot;

use std::{path::PathBuf, process::Command, time::Instant};

use garblet_console::{args::at_least_one, failure::Failure, output, report::peak_rss_bytes};
use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Constants, Language};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::page::{Form, Piece};

/// The sources, each with its sizes.
const SOURCES: [Source; 2] = [
    Source {
        name: "edit-distance",
        text: include_str!("compile/edit_distance.garble.rs"),
        sizes: &[32, 64, 128, 256, 512, 640],
    },
    Source {
        name: "chain",
        text: include_str!("compile/chain.garble.rs"),
        sizes: &[1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
    },
];

struct Source {
    name: &'static str,
    text: &'static str,
    sizes: &'static [u32],
}

/// The options of `garblet-lab compile`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Compile each program N times and report the fastest
    #[arg(long, value_name = "N", value_parser = at_least_one::<std::num::NonZeroU32>, default_value = "3")]
    repeat: std::num::NonZeroU32,
    /// Only sizes up to this one
    #[arg(long, value_name = "SIZE")]
    up_to: Option<u32>,
    /// Also plot the time of an instance, as an SVG image
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
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
    /// The time of each instance that the size before does not have; none for the first size.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    nanoseconds_per_instance: Option<f64>,
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
            let row = in_process(source.name, size, options)?;
            let nanoseconds_per_instance = rows.last().and_then(|before| per_instance(before, &row));
            rows.push(Row { nanoseconds_per_instance, ..row });
        }
    }
    if let (Some(most), true) = (options.up_to, rows.is_empty()) {
        return Err(Failure::call(format!("--up-to {most}: every source is larger"))
            .hint("leave it out, or give 100 for the two smallest"));
    }
    if let Some(path) = &options.svg {
        std::fs::write(path, plot::svg(&rows)).map_err(|e| Failure::unwritable(path, &e))?;
    }
    report(&rows, options)
}

/// The nanoseconds that a row takes more than that before, for each instance more, if both are of one source.
fn per_instance(before: &Row, row: &Row) -> Option<f64> {
    let instances = row.instances.checked_sub(before.instances).filter(|&more| more > 0)?;
    (before.source == row.source).then(|| 1e9 * (row.seconds - before.seconds).max(0.0) / instances as f64)
}

/// Has another process compile a source.
fn in_process(source: &str, size: u32, options: &Options) -> Result<Row, Failure> {
    let failed = |what: String| Failure::no_result(format!("{source} of size {size} is not compiled: {what}"));
    let own = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
    let arguments = ["compile", "--one", source, &size.to_string(), "--repeat", &options.repeat.to_string()];
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
                nanoseconds_per_instance: None,
            });
        }
    }
    let row = row.ok_or_else(unknown)?;
    Ok(Row { peak_rss_bytes: peak_rss_bytes(), ..row })
}

fn report(rows: &[Row], options: &Options) -> Result<(), Failure> {
    let head = ["source", "size", "AND", "components", "instances", "time", "each more", "peak memory"];
    let line = |row: &Row| {
        vec![
            row.source.clone(),
            output::count(row.size.into()),
            output::count(row.and),
            output::count(row.components),
            output::count(row.instances),
            output::seconds(row.seconds),
            row.nanoseconds_per_instance.map_or_else(String::new, |time| format!("{time:.0} ns")),
            row.peak_rss_bytes.map_or_else(|| "?".into(), output::bytes),
        ]
    };
    let lines: Vec<Vec<String>> =
        std::iter::once(head.map(String::from).to_vec()).chain(rows.iter().map(line)).collect();
    let value = json!({ "bench": "compile", "repeat": options.repeat, "programs": rows });
    options.form.show(&value, vec![Piece::Table(lines)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_takes_what_there_is_more() {
        let row = |source: &str, instances: u64, seconds: f64| Row {
            source: source.into(),
            size: 1,
            instances,
            components: 1,
            and: 1,
            seconds,
            peak_rss_bytes: None,
            nanoseconds_per_instance: None,
        };
        let (small, large) = (row("a", 1_000, 1e-3), row("a", 11_000, 2e-3));
        assert!((per_instance(&small, &large).expect("more") - 100.0).abs() < 1e-6);
        assert_eq!(per_instance(&large, &small), None);
        assert_eq!(per_instance(&small, &row("b", 11_000, 2e-3)), None);
    }

    #[test]
    fn sources_are_compiled_in_their_sizes() {
        let chain = compile("chain", "1000", 1).unwrap_or_else(|e| panic!("{e:?}"));
        assert!(chain.instances == 1000 && chain.components < 10, "{}", chain.components);
        let grid = compile("edit-distance", "8", 1).unwrap_or_else(|e| panic!("{e:?}"));
        assert!(grid.and > 0 && grid.and <= 45 * 64, "{}", grid.and);
    }

    #[test]
    fn what_is_no_source_or_size_is_refused() {
        assert!(compile("sort", "8", 1).is_err());
        assert!(compile("chain", "-8", 1).is_err());
    }
}
