//! The rows of a page.

use super::{BARE, MALICIOUS, Row};
use crate::{
    page::{Amount, Key, Row as PageRow, Unit},
    published::Paper,
};

/// The rows of both tables that some runs are.
pub(super) fn of(rows: &[Row]) -> Vec<PageRow> {
    rows.iter().map(of_row).collect()
}

fn of_row(own: &Row) -> PageRow {
    let experiment = if own.example == 1 { "Table 1" } else { "Table 2" };
    let keys = [("adversary", own.adversary), ("inputs", own.encoding.unwrap_or_default()), ("method", own.method)];
    let mut row = Paper::Pssw.row(experiment, keys.map(|(name, text)| Key::named(name, text)).into());
    let Some(measured) = &own.measured else { return row };
    let mut add = |quantity: &str, unit: Unit, value: Option<f64>| {
        if let Some(value) = value {
            row.measure(quantity, unit, Amount::of(value));
        }
    };
    add("total", Unit::Seconds, Some(measured.total_seconds));
    if own.method != BARE {
        add("data", Unit::Bytes, Some(1000.0 * measured.kilobytes));
    }
    add("gates", Unit::Count, Some(measured.gates as f64));
    add("XOR", Unit::Percent, Some(measured.xor_percent));
    add("precompute", Unit::Seconds, measured.precompute_seconds);
    add("send", Unit::Seconds, measured.send_seconds);
    add("OT", Unit::Seconds, measured.ot_seconds);
    add("calculate", Unit::Seconds, measured.calculate_seconds);
    add("peak memory", Unit::Bytes, measured.peak_rss_bytes.map(|bytes| bytes as f64));
    if own.adversary == MALICIOUS {
        row.our_bound = measured.cheating_log2;
    }
    if let Some(as_what) = measured.as_what.as_ref().filter(|_| own.published.is_none()) {
        row.note(&format!("Not in the paper: {as_what}."));
    }
    row
}
