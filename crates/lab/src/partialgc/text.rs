//! The tables for people.

use garblet_console::{
    output::{bytes, count, seconds, table},
    report::must_not_collude,
};

use super::{
    Report, Row,
    measure::{Answered, Measured, Seconds},
    published::{About, Time, Times},
};

/// The columns of programs that keep values and read them.
const CHAINED: &str = "a bit: the whole run, by the bits that it keeps, or by those that it reads\n\
    a visit: of servers that wait, from dealing to the opened answer, median; triples and masks were there, and the program was not garbled\n\
    with shares, prepare is what the stores lacked, and values stay there; with partialgc they stay in memory, as partial gates in the next run\n";

/// The report of an experiment.
pub(super) fn of(report: &Report) -> String {
    let Report { rows, .. } = report;
    match report.table {
        Some(1) => {
            gates(rows)
                + "\ngates: not counting XOR; ours have no MAC but with form=partialgc: the last column adds the paper's\n"
        }
        Some(3) => client_bytes(rows) + "\nbytes: of the client, both ways, with both servers\n" + &conditions(report),
        _ => rows.iter().map(times).collect::<String>() + &explained(report) + &conditions(report),
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).into()
}

fn or_none(value: Option<u64>) -> String {
    value.map_or("-".into(), count)
}

/// `2^-40.3`.
fn chance(log2: f64) -> String {
    format!("2^{log2:.1}")
}

fn bound(measured: &Measured) -> String {
    measured.cheating_log2.map_or("-".into(), chance)
}

fn ours(measured: &Measured) -> String {
    let [(_, form), (name, value)] = measured.setting.parameters();
    match form {
        "shares" => format!("outsourced, {name}={value}"),
        form => format!("outsourced, {form}, {name}={value}"),
    }
}

fn gates(rows: &[Row]) -> String {
    let mut lines = vec![words(["gates", "CMTB", "PartialGC", "ours", "ours and that MAC"])];
    lines.extend(rows.iter().map(|row| {
        let published = &row.published;
        let counts = [published.cmtb_gates, published.partialgc_gates, Some(row.and), row.and_with_published_mac];
        std::iter::once(row.program.clone()).chain(counts.map(or_none)).collect()
    }));
    table(&lines)
}

fn client_bytes(rows: &[Row]) -> String {
    let mut lines = vec![words(["client's bytes", "", "cheating", "bytes"])];
    for row in rows {
        let mut add = |who: String, cheating: String, moved: u64| {
            lines.push(vec![row.program.clone(), who, cheating, count(moved)]);
        };
        if let Some(published) = row.published.client_bytes {
            for (system, moved) in [("CMTB", published.cmtb), ("PartialGC", published.partialgc)] {
                let who = format!("{system}, {} circuits", published.circuits);
                add(who, chance(published.cheating_log2), moved);
            }
        }
        row.measured.iter().for_each(|measured| add(ours(measured), bound(measured), measured.client_bytes));
    }
    table(&lines)
}

/// One program: published times and ours, then bytes.
fn times(row: &Row) -> String {
    let mut heads = words(["", "cheating", "setup", "prepare", "build", "online", "in all", "client's CPU"]);
    let is_chained = row.kept_bits.or(row.read_bits).is_some() || row.measured.iter().any(|m| m.answered.is_some());
    heads.extend(is_chained.then(|| words(["a bit", "a visit"])).into_iter().flatten());
    let mut lines = vec![heads];
    if let Some(About { circuits, cheating_log2, seconds, operations }) = row.published.about {
        let mut line = vec![format!("PartialGC, {circuits} circuits"), chance(cheating_log2)];
        line.extend(std::iter::repeat_n(String::new(), 4));
        let of = if operations == 1 { String::new() } else { format!(" for {operations} operations") };
        line.push(format!("about {seconds} s{of}"));
        lines.push(line);
    }
    for &Times { circuits, cheating_log2, cmtb, partialgc } in &row.published.times {
        for (system, Time { seconds, interval_percent }) in [("CMTB", cmtb), ("PartialGC", partialgc)] {
            let mut line = vec![format!("{system}, {circuits} circuits"), chance(cheating_log2)];
            line.extend(std::iter::repeat_n(String::new(), 4));
            line.push(format!("{seconds} s ± {interval_percent} %"));
            lines.push(line);
        }
    }
    for measured in &row.measured {
        let Seconds { setup, prepare, build, online, in_all } = &measured.seconds;
        let mut line = vec![ours(measured), bound(measured)];
        line.extend([setup, prepare, build, online, in_all].map(|spread| spread.text()));
        line.push(measured.client_cpu_seconds.map_or("-".into(), |cpu| seconds(cpu.mean)));
        if is_chained {
            line.push(measured.seconds_per_state_bit.map_or("-".into(), |bit| format!("{:.2} us", 1e6 * bit)));
            line.push(measured.answered.map_or("-".into(), |Answered { seconds_least, seconds_median }| {
                format!("{} (least {})", seconds(seconds_median), seconds(seconds_least))
            }));
        }
        lines.push(line);
    }
    format!("{}{}{}\n", head(row), table(&lines), row.measured.iter().map(moved).collect::<String>())
}

/// The program with its gates.
fn head(row: &Row) -> String {
    let published = &row.published;
    let of = |system: &str, gates: Option<u64>| gates.map(|gates| format!("{} in {system}", count(gates)));
    let known: Vec<String> =
        [of("CMTB", published.cmtb_gates), of("PartialGC", published.partialgc_gates)].into_iter().flatten().collect();
    let with_mac = row.and_with_published_mac.map(|and| format!(", {} with the MAC of PartialGC", count(and)));
    let stays = [("keeps", row.kept_bits), ("reads", row.read_bits)];
    let stays = stays.into_iter().filter_map(|(does, bits)| Some(format!(", {does} {} bits", count(bits?))));
    let published = if known.is_empty() { String::new() } else { format!("; published: {}", known.join(", ")) };
    format!(
        "{}: {}, {} AND gates{}{}{published}\n",
        row.program,
        row.circuit,
        count(row.and),
        with_mac.unwrap_or_default(),
        stays.collect::<String>()
    )
}

/// The bytes of each link and phase.
fn moved(measured: &Measured) -> String {
    let heads = ["setup", "prepare", "build", "online", "in all"].map(String::from);
    let [_, (name, value)] = measured.setting.parameters();
    let mac = measured.and_with_mac.map(|and| format!(", {} AND gates with MACs", count(and))).unwrap_or_default();
    let mut lines = vec![std::iter::once(format!("bytes, {name}={value}{mac}")).chain(heads).collect()];
    lines.extend(measured.links.named().map(|(way, moved)| {
        let cells = moved.phases().into_iter().chain([moved.in_all()]).map(bytes);
        std::iter::once(way.to_string()).chain(cells).collect::<Vec<_>>()
    }));
    format!("\n{}", table(&lines))
}

fn explained(report: &Report) -> String {
    let runs = match report.repeat.get() {
        1 => "of one run".into(),
        runs => format!("means of {runs} runs with 95 % intervals"),
    };
    let chained = match report.figure {
        Some(5 | 7) => CHAINED,
        _ => "",
    };
    let published = match report.table {
        Some(2) => "published: a phone over 802.11 at 54 Mbit/s, two servers of 32 threads each\n",
        Some(4) => "published: the client on the machine of the two servers of 32 threads each\n",
        _ if report.figure == Some(7) => "published: what the text says; the figure's times are drawn, and not told\n",
        _ if report.figure == Some(5) => "published: times for each bit are drawn there, and not told\n",
        _ => "published: gates alone; times are drawn there, and not told\n",
    };
    format!(
        "times: {runs}, without reading and building the program; of phases the slower server's, in all the client's, from its \
         hello to its outputs\n{chained}{published}"
    )
}

/// The circumstances of all runs.
fn conditions(report: &Report) -> String {
    let link = report.client_link.as_ref().map_or("as fast as the servers'".into(), |link| format!("{link} each"));
    format!(
        "cheating: unnoticed, with this probability at most; where published the least that so many circuits can give\n\
         client: {}, of {} cores; its links: {link}\n{}\n",
        report.client,
        report.cores,
        must_not_collude(garblet::Collusion::BothServers, super::programs::PARTIES)
    )
}
