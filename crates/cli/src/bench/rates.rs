//! `garblet bench rates`: the speeds that count where the link decides parameters, as this machine tells them to others.

use garblet::{Rates, engine};
use garblet_console::{failure::Failure, output, rates};
use garblet_garble::{GarblingConfig, SchemeKind};
use serde_json::json;

use crate::bench::{Engine, Form, Piece, garbling, ot};

/// The options of `garblet bench rates`.
#[derive(clap::Args)]
pub struct Options {
    /// Keep the result in the configuration folder, where runs find it
    #[arg(long, conflicts_with = "engine")]
    keep: bool,
    /// Repeat N times and take the fastest
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    repeat: u32,
}

/// The names of the operations, in their order in [`Rates`].
const NAMES: [&str; 8] = [
    "garble, half gates",
    "evaluate, half gates",
    "garble, three halves",
    "evaluate, three halves",
    "OT, ot-k=2",
    "OT, ot-k=4",
    "OT, ot-k=8",
    "OT, silent",
];

/// Runs the benchmark.
///
/// *Errors*: the result cannot be kept or written.
pub fn run(options: &Options, form: &impl Form) -> Result<(), Failure> {
    let per_second = measured(options.repeat)?;
    let rates = Rates::rounded(per_second);
    let kept = if options.keep { Some(rates::keep(rates)?) } else { None };
    let named = || NAMES.into_iter().zip(per_second);
    let value = json!({
        "bench": "rates",
        "engine": engine(),
        "threads": 1,
        "rates": rates.to_string(),
        "operations": named().map(|(name, rate)| json!({ "name": name, "per_second": rate })).collect::<Vec<_>>(),
        "kept": kept,
    });
    let head = ["operation", "a second"].map(String::from).to_vec();
    let rows = named().map(|(name, rate)| vec![name.into(), output::rate(rate)]);
    let told = match &kept {
        Some(path) => {
            format!("\nkept in {}: with --link, or parameters that are auto, a party tells {rates}\n", path.display())
        }
        None => format!("\nto tell them to the other party: --param rates={rates}, or --keep\n"),
    };
    form.show(
        &value,
        vec![Engine::line(), Piece::Table(std::iter::once(head).chain(rows).collect()), Piece::Words(told)],
    )
}

/// Operations in a second of one core: AND gates, and OTs of the slower role.
fn measured(repeat: u32) -> Result<[f64; 8], Failure> {
    let of_scheme = |scheme| garbling::rates(GarblingConfig { scheme, ..GarblingConfig::default() }, repeat);
    let [half, three] = [of_scheme(SchemeKind::HalfGates)?, of_scheme(SchemeKind::ThreeHalves)?];
    let [two, four, eight, silent] = ot::rates(repeat)?;
    Ok([half[0], half[1], three[0], three[1], two, four, eight, silent])
}
