//! The rows of a page.

use garblet_net::SimulatedLink;

use super::{
    AS_PUBLISHED, Part, Row,
    published::{row as published_row, rung_row},
};
use crate::{
    page::{Amount, Key, Row as PageRow, Unit},
    published::{
        Paper,
        bmr::{LOCAL, NETWORKS, local_keys},
    },
};

/// The rows of tables 1 and 2, of the optimisations, and of what the text and the abstract have of them.
pub(super) fn of(rows: &[Row], link: Option<SimulatedLink>, ladder: bool) -> Vec<PageRow> {
    let mut all: Vec<PageRow> = Vec::new();
    for own in rows {
        let mut row = match (ladder, link) {
            (true, _) => rung_row(own.paper, link),
            // Tables 1 and 2 have latency.
            (false, None) => local_row(own),
            (false, Some(_)) => published_row(own.function, own.paper, own.parties),
        };
        if ladder && own.paper.is_empty() {
            row.keys[0] = Key::named("with", "ours");
        }
        // All forms are one row.
        let at = all.iter().position(|known| known.is(&row)).unwrap_or(all.len());
        if at == all.len() {
            all.push(row);
        }
        fill(own, &mut all[at], ladder);
    }
    if !ladder {
        let further: Vec<PageRow> = rows.iter().flat_map(|own| elsewhere(own, link)).collect();
        all.extend(further);
    }
    all
}

/// The row of a run in a local network, beside figures 5 and 6 of the paper if the circuit is theirs.
fn local_row(own: &Row) -> PageRow {
    let protocol = if own.paper == "BMR OT" { "BMR" } else { own.paper.trim_start_matches("BMR ") };
    let keys = local_keys(protocol, own.parties.into());
    match own.and_depth {
        4000 => Paper::Bmr.row(LOCAL, keys),
        depth => PageRow::new(&format!("In a local network, depth {depth}"), keys),
    }
}

fn fill(own: &Row, row: &mut PageRow, ladder: bool) {
    let form = own.form.filter(|_| !ladder).map_or_else(String::new, |form| format!(", {form}"));
    let mut add =
        |quantity: &str, unit: Unit, value: f64| row.measure(&format!("{quantity}{form}"), unit, Amount::of(value));
    for (phase, part) in [("offline", &own.offline), ("online", &own.online)] {
        add(phase, Unit::Seconds, part.seconds);
        if let Some(alone) = part.alone_seconds {
            add(&format!("{phase}, alone"), Unit::Seconds, alone);
        }
    }
    let sent: u64 = [&own.setup, &own.offline, &own.online].map(|part: &Part| part.bytes_sent_per_party).iter().sum();
    add("sent by a party", Unit::Bytes, sent as f64);
}

/// The rows of the abstract and of BGW3's optimisations that a run is, too.
fn elsewhere(own: &Row, link: Option<SimulatedLink>) -> Vec<PageRow> {
    let mut rows = Vec::new();
    let sha = own.function != "lib:aes128" && own.parties == 13;
    let protocol = match own.paper {
        "BMR OT" if own.form.is_none() => Some("BMR"),
        "GMW" if own.form.is_none() && own.and_depth == 4000 => Some("GMW"),
        _ => None,
    };
    if let (true, true, Some(protocol)) = (sha, link.is_some(), protocol) {
        let keys = vec![Key::named("protocol", protocol), Key::number("parties", 13.0)];
        let mut row = Paper::Bmr.row("abstract", keys);
        row.measure("offline and online", Unit::Seconds, Amount::of(own.offline.seconds + own.online.seconds));
        rows.push(row);
    }
    if sha && link.is_none() && own.paper == "BMR BGW3" && own.form == Some(AS_PUBLISHED) {
        let keys = vec![Key::named("with", "two threads"), Key::named("network", NETWORKS[0])];
        let mut row = Paper::Bmr.row("section 4.1, BGW3", keys);
        row.measure("offline", Unit::Seconds, Amount::of(own.offline.seconds));
        rows.push(row);
    }
    rows
}
