//! The rows of a page.

use garblet_net::SimulatedLink;

use super::{Row, published::name};
use crate::{
    page::{Amount, Key, Row as PageRow, Unit},
    published::{
        Paper,
        lego::{NETWORKS, keys},
    },
};

/// The rows of tables 2 and 4 to 7 and of section VI that some runs are.
///
/// A link that is as fast as this machine stands beside both fast networks of the paper, one that is slow beside its slow one.
pub(super) fn of(rows: &[Row], link: Option<SimulatedLink>, as_published: bool) -> Vec<PageRow> {
    let networks = match link {
        None => &NETWORKS[..2],
        Some(_) => &NETWORKS[2..],
    };
    let mut all = Vec::new();
    for row in rows {
        for network in networks {
            let settings = || keys(network, name(&row.function), row.copies.into());
            let fast = *network == NETWORKS[1];
            let mut add = |experiment: &str, always: bool, fill: fn(&Row, &mut PageRow)| {
                let mut page_row = Paper::Lego.row(experiment, settings());
                if always || !page_row.sources.is_empty() {
                    fill(row, &mut page_row);
                    page_row.our_bound = Some(row.cheating_log2);
                    all.push(page_row);
                }
            };
            // The row of the paper that cannot be what it says has nothing beside it.
            add("Table 4", true, times);
            add("Table 2", false, times_without_setup);
            if fast || link.is_some() {
                add("Table 6", false, compared_times);
            }
            if fast {
                add("Table 5", true, sizes);
                add("Table 7", false, sizes);
            }
        }
        if row.copies == 1 && row.function == "aes128" {
            all.extend(single(row, if link.is_none() { "LAN" } else { "WAN" }));
        }
    }
    if as_published {
        all.iter_mut().for_each(|row| row.note("Ours: with the paper's code and bucket sizes."));
    }
    all
}

fn seconds(row: &mut PageRow, quantity: &str, value: f64) {
    row.measure(quantity, Unit::Seconds, Amount::of(value));
}

fn times(own: &Row, row: &mut PageRow) {
    seconds(row, "base OT", own.setup_seconds);
    times_without_setup(own, row);
}

fn times_without_setup(own: &Row, row: &mut PageRow) {
    seconds(row, "independent", own.independent_seconds);
    seconds(row, "dependent", own.dependent_seconds);
    seconds(row, "online, alone", own.online_latency_seconds);
    seconds(row, "online, together", own.online_throughput_seconds);
}

/// With the base OTs in what is independent, as in the paper.
fn compared_times(own: &Row, row: &mut PageRow) {
    seconds(row, "independent", own.setup_seconds + own.independent_seconds);
    seconds(row, "dependent", own.dependent_seconds);
    seconds(row, "online, alone", own.online_latency_seconds);
}

fn sizes(own: &Row, row: &mut PageRow) {
    for (quantity, value) in
        [("independent", own.independent_bytes), ("dependent", own.dependent_bytes), ("online", own.online_bytes)]
    {
        row.measure(quantity, Unit::Bytes, Amount::of(value));
    }
    if let (Some(peak), "Table 5") = (own.peak_rss_bytes, row.experiment.as_str()) {
        row.measure("peak memory", Unit::Bytes, Amount::of(peak as f64));
    }
}

fn single(own: &Row, network: &str) -> Vec<PageRow> {
    let phases = [
        ("independent", own.independent_seconds),
        ("dependent", own.dependent_seconds),
        ("online, alone", own.online_latency_seconds),
    ];
    let row = |(phase, value): (&str, f64)| {
        let mut row = Paper::Lego.row("section VI", vec![Key::named("network", network), Key::named("what", phase)]);
        seconds(&mut row, "time", value);
        row.our_bound = Some(own.cheating_log2);
        row
    };
    phases.map(row).into_iter().filter(|row| !row.sources.is_empty()).collect()
}
