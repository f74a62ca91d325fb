//! The rows of a page.

use super::{
    Report, Row,
    measure::{Measured, Setting},
    published::About,
};
use crate::{
    page::{Amount, Key, Row as PageRow, Unit},
    published::Paper,
    spread::Spread,
};

const VISIT: &str = "A visit: two servers wait and have made what does not depend on the program; from the client's dealing to the opened answer, median.";

/// The distance of two bounds within which runs are compared, as log2.
const CLOSE_LOG2: f64 = 4.0;

/// The rows that a report is.
pub(super) fn of(report: &Report) -> Vec<PageRow> {
    let of = |row: &Row| match report.table {
        Some(1) => vec![gates(row)],
        Some(table) => row.measured.iter().flat_map(|measured| beside(row, measured, table)).collect(),
        None => {
            let figure = report.figure.unwrap_or_default();
            row.measured.iter().map(|measured| step(row, measured, figure)).collect()
        }
    };
    let mut rows: Vec<PageRow> = report.rows.iter().flat_map(of).collect();
    if let Some(link) = &report.client_link {
        rows.iter_mut().for_each(|row| row.note(&format!("Ours: the client's links simulate {link} each.")));
    }
    rows
}

fn amount(spread: &Spread) -> Amount {
    Amount { value: spread.mean, interval: spread.interval_95 }
}

fn gates(own: &Row) -> PageRow {
    let mut row = Paper::Partialgc.row("Table 1", vec![Key::named("program", &own.program)]);
    row.measure("gates, CMTB", Unit::Count, Amount::of(own.and as f64));
    if own.published.partialgc_gates.is_some() {
        let with_mac = own.and_with_published_mac.unwrap_or(own.and);
        row.measure("gates, PartialGC", Unit::Count, Amount::of(with_mac as f64));
    }
    row
}

/// The numbers of circuits beside which a setting stands: `shares` beside those whose bound it keeps at least.
fn circuits(setting: &Setting) -> Vec<f64> {
    match setting {
        Setting::Circuits(count) => count.parse().into_iter().collect(),
        Setting::Statistical(bound) if bound == "80" => vec![256.0],
        Setting::Statistical(bound) if bound == "40" => vec![16.0, 64.0],
        Setting::Statistical(_) => Vec::new(),
    }
}

/// The rows of a table beside which a run stands.
fn beside(own: &Row, measured: &Measured, table: u8) -> Vec<PageRow> {
    let form = measured.setting.parameters()[0].1;
    let experiment = format!("Table {table}");
    let of = |circuits: f64| {
        let keys =
            vec![Key::named("program", &own.program), Key::number("circuits", circuits), Key::named("form", form)];
        let mut row = Paper::Partialgc.row(&experiment, keys);
        match table {
            3 => row.measure("client's bytes", Unit::Bytes, Amount::of(measured.client_bytes as f64)),
            _ => times(measured, &mut row),
        }
        row.our_bound = measured.cheating_log2;
        row
    };
    // The paper counts bytes with all circuits alone.
    circuits(&measured.setting).into_iter().filter(|count| table != 3 || *count == 256.0).map(of).collect()
}

fn times(measured: &Measured, row: &mut PageRow) {
    row.measure("in all", Unit::Seconds, amount(&measured.seconds.in_all));
    row.measure("online", Unit::Seconds, amount(&measured.seconds.online));
    if let Some(cpu) = &measured.client_cpu_seconds {
        row.measure("client's processor", Unit::Seconds, amount(cpu));
    }
    let peak = measured.peak_rss_bytes.iter().flatten().max();
    if let Some(peak) = peak {
        row.measure("peak memory", Unit::Bytes, Amount::of(*peak as f64));
    }
}

/// A run of a program of a figure. The paper draws its times, and tells some of them.
fn step(own: &Row, measured: &Measured, figure: u8) -> PageRow {
    let [(_, form), (name, value)] = measured.setting.parameters();
    let keys = vec![
        Key::named("program", &own.program),
        Key::named("form", form),
        Key::named("at", format!("{name}={value}")),
    ];
    let mut row = PageRow::new(&format!("Figure {figure}"), keys);
    times(measured, &mut row);
    row.measure("client's bytes", Unit::Bytes, Amount::of(measured.client_bytes as f64));
    if let Some(seconds) = measured.seconds_per_state_bit {
        row.measure("each bit of the state", Unit::Seconds, Amount::of(seconds));
    }
    if let Some(answered) = measured.answered {
        row.measure("a visit", Unit::Seconds, Amount::of(answered.seconds_median));
        row.note(VISIT);
    }
    row.our_bound = measured.cheating_log2;
    match own.published.about {
        Some(about) => told(&about, &mut row),
        None => row.note("The paper draws its times and does not tell them."),
    }
    row
}

/// Adds the words of the text on a figure: beside a run that is about as safe as the published one, and otherwise as a note.
fn told(about: &About, row: &mut PageRow) {
    let About { seconds, operations, cheating_log2, .. } = *about;
    row.published_bound = Some(cheating_log2);
    let as_safe = row.our_bound.is_none_or(|own| own < cheating_log2 + CLOSE_LOG2);
    match operations {
        1 if as_safe => {
            row.publish("in all", Unit::Seconds, Some(seconds), None);
            row.note("Published: about, for an operation of any kind, with a phone.");
        }
        1 => row.note(&format!("The paper tells about {seconds} s for an operation of any kind, with a phone.")),
        _ => {
            row.note(&format!("The paper tells about {seconds} s for {operations} operations together, with a phone."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_told_of_one_operation_is_published_and_one_of_several_is_a_note() {
        let of = |(cells, bound)| {
            let mut row = PageRow::new("Figure 7", vec![Key::named("program", format!("MapGet {cells}"))]);
            row.our_bound = Some(bound);
            told(&About::map(cells).expect("the paper tells it"), &mut row);
            row
        };
        let [one, several, weaker] = [(256, -80.0), (2048, -80.0), (256, -40.7)].map(of);
        let published = |row: &PageRow| row.of("in all").and_then(|figure| figure.published).map(|time| time.value);
        assert_eq!([&one, &several, &weaker].map(published), [Some(30.0), None, None]);
        assert!(several.notes[0].contains("about 180 s for 3 operations"), "{:?}", several.notes);
        assert!(weaker.notes[0].contains("about 30 s for an operation"), "{:?}", weaker.notes);
        assert!([one, several, weaker].iter().all(|row| row.published_bound.is_some_and(|bound| bound < -83.0)));
    }
}
