//! The report of a run and its outputs as readable text; the library provides the object of `--json`.

use std::collections::BTreeMap;

use garblet::{
    Bits, Class, Collusion, Filled, Party, Phase, PhaseCost, PhaseCosts, Program,
    circuit::{Output, diagnostic::one_line},
    formats::value,
    panicked_rows,
    run_report::{CpuSeconds, PartyPart, ProgramPart, RunReport},
};
use serde::Serialize;

use crate::{
    failure::Failure,
    output::{bytes, count, parties as numbers, seconds, table, tell},
    record,
};

/// The cost of filling a party's store, with the processor time if it is known.
pub fn part_of_filled(party: Party, filled: &Filled, cpu_seconds: Option<CpuSeconds>) -> PartyPart {
    let (party, role, peak_rss_bytes) = (party.0, "party".into(), peak_rss_bytes());
    PartyPart {
        party,
        role,
        decided: BTreeMap::new(),
        peak_rss_bytes,
        cpu_seconds,
        load_seconds: None,
        phases: filled.phases,
    }
}

/// Checks that the computation did not panic. In a batch each row may panic by itself: if some have a result, this prints a warning.
///
/// *Errors*: the place and reason of the panic, if the run or all its rows panicked; the other outputs then mean nothing.
pub fn check_panics(program: &Program, outputs: &[Option<Bits>]) -> Result<(), Failure> {
    if let Err(panicked) = garblet::check_panics(program, outputs) {
        return Err(Failure::no_result(panicked).of_class(Class::Panic));
    }
    let panicked = panicked_rows(program, outputs);
    if let Some((first, reason)) = panicked.first_key_value() {
        let (some, all) = (count(panicked.len() as u64), count(program.notes().rows.unwrap_or_default().into()));
        tell(&format!("warning: {some} of {all} rows have no result; row {first} panicked at {reason}"));
    }
    Ok(())
}

/// The known outputs of the result.
pub fn results<'a>(program: &'a Program, outputs: &'a [Option<Bits>]) -> impl Iterator<Item = (&'a Output, &'a Bits)> {
    garblet::results(program).filter_map(move |(at, output)| Some((output, outputs.get(at)?.as_ref()?)))
}

/// Times of repeated runs, from the start of the processes to the last result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeat {
    /// The number of runs.
    pub runs: usize,
    /// The shortest time.
    pub seconds_min: f64,
    /// The median time.
    pub seconds_median: f64,
    /// The longest time.
    pub seconds_max: f64,
}

/// The known outputs, one per line.
pub fn outputs_text(program: &Program, outputs: &[Option<Bits>]) -> String {
    let lines = results(program, outputs)
        .map(|(o, bits)| format!("{} = {}\n", one_line(&o.port.name), value::to_text(&o.port.ty, bits)));
    lines.collect()
}

/// The warning to a user whose peer gave its secret away.
pub const PEER_EXPOSED: &str = "\
    warning: the peer cheated and thereby revealed its secret; the result is right, and the peer has not learned that it was caught.\n\
    Whether it was caught may depend on your input: if you now act differently than planned, the peer may learn a bit of it\n";

/// The condition on which the protocol's security depends.
pub fn must_not_collude(collusion: Collusion, parties: u16) -> String {
    match collusion {
        Collusion::BothServers => {
            format!("the servers, parties 0 and {}, must not collude: together they see everything", parties - 1)
        }
        Collusion::AnyTwo => "no two of the three parties may collude: any two together see everything".into(),
    }
}

/// The AND gates that cost something, beside those of the program if it has more.
fn and_gates(program: &ProgramPart) -> String {
    let and = count(program.garbled_and);
    match program.file {
        Some(file) => format!("{and} AND gates ({} in the file)", count(file.and)),
        None if program.garbled_and == program.and => format!("{and} AND gates"),
        None => format!("{and} AND gates ({} in the program)", count(program.and)),
    }
}

/// The report without the outputs; for repeated runs, with their times.
pub fn text(report: &RunReport, repeat: Option<&Repeat>) -> String {
    let program = &report.program;
    let mut text = format!(
        "{} ({}): {}, AND depth {}, {} components\n",
        report.protocol,
        report.adversary,
        and_gates(program),
        count(program.and_depth),
        count(program.components)
    );
    if let Some(rows) = report.rows {
        text.push_str(&format!("for {} rows\n", count(rows.into())));
    }
    let parameters: Vec<String> =
        report.parameters.iter().map(|(k, v)| format!("{k} {}", v.as_str().unwrap_or(&v.to_string()))).collect();
    if !parameters.is_empty() {
        text.push_str(&format!("with {}\n", parameters.join(", ")));
    }
    if report.program.panics == Some("off") {
        text.push_str(
            "checks were off: overflows wrapped around, and an index out of bounds gave a meaningless value\n",
        );
    }
    let may_leave = report.security.may_leave;
    if let Some(deterrence) = report.security.deterrence {
        let caught = if may_leave { "is caught, or leaves and is only suspected," } else { "is caught" };
        text.push_str(&format!("a garbler that cheats {caught} with probability at least {deterrence:.3}\n"));
    } else if let Some(log2) = report.security.cheating_log2 {
        let missed = if may_leave { "is neither caught nor suspected" } else { "is not caught" };
        text.push_str(&format!("a peer that cheats {missed} with probability at most 2^{log2:.1}\n"));
    }
    if let Some(collusion) = report.security.collusion {
        text.push_str(&format!("{}\n", must_not_collude(collusion, report.parties)));
    }
    for (name, learned) in report.recipients.iter().filter(|(name, _)| !report.outputs.contains_key(*name)) {
        text.push_str(&match &learned[..] {
            [] => format!("nobody learned {}\n", one_line(name)),
            [one] => format!("only party {one} learned {}\n", one_line(name)),
            some => format!("only parties {} learned {}\n", numbers(some), one_line(name)),
        });
    }
    if report.security.peer_exposed {
        text.push_str(PEER_EXPOSED);
    }
    text.push('\n');
    text.push_str(&phase_table(report));
    if let Some(repeat) = repeat {
        text.push_str(&format!(
            "\n{} runs: {} (best {}, worst {}); the table is of the median run\n",
            repeat.runs,
            seconds(repeat.seconds_median),
            seconds(repeat.seconds_min),
            seconds(repeat.seconds_max)
        ));
    }
    text.push('\n');
    text.push_str(&record::text(&report.record));
    text
}

/// The cost of each phase to each party.
pub fn phase_table(report: &RunReport) -> String {
    let heads = ["phase", "party", "time", "sent", "received", "rounds"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let cells = |name: &str, part: &PartyPart, cost: PhaseCost| {
        vec![
            name.into(),
            format!("{} ({})", part.party, part.role),
            seconds(cost.seconds),
            bytes(cost.communication.bytes_sent),
            bytes(cost.communication.bytes_received),
            cost.communication.rounds.to_string(),
        ]
    };
    // Nothing is sent before the hello.
    let load = |part: &PartyPart| {
        let who = format!("{} ({})", part.party, part.role);
        part.load_seconds.map(|time| vec!["load".into(), who, seconds(time)])
    };
    rows.extend(report.per_party.iter().filter_map(load));
    for phase in Phase::ALL {
        rows.extend(report.per_party.iter().map(|part| cells(phase.name(), part, part.phases.of(phase))));
    }
    rows.extend(report.per_party.iter().map(|part| cells("total", part, total(&part.phases))));
    table(&rows)
}

/// The total cost of all phases.
pub fn total(phases: &PhaseCosts) -> PhaseCost {
    let mut total = PhaseCost::default();
    for phase in Phase::ALL {
        let cost = phases.of(phase);
        total.seconds += cost.seconds;
        total.communication += cost.communication;
    }
    total
}

/// The peak memory of this process in bytes, if the system reports it.
pub fn peak_rss_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// The current memory of this process in bytes, if the system reports it.
pub fn rss_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use garblet::{
        Communication,
        circuit::{Link, Port, Recipients, Source, Type},
    };

    #[test]
    fn phases_add_up() {
        let communication = Communication { bytes_sent: 1, bytes_received: 2, rounds: 3 };
        let cost = PhaseCost { seconds: 0.5, communication };
        let total = total(&PhaseCosts { setup: cost, online: cost, ..PhaseCosts::default() });
        assert_eq!(total.seconds, 1.0);
        assert_eq!(total.communication, Communication { bytes_sent: 2, bytes_received: 4, rounds: 6 });
    }

    #[test]
    fn a_line_end_in_the_name_of_an_output_begins_no_line() {
        let mut program = Program::new("p");
        let link = Link { source: Source::Constant(true), start: 0, len: 1 };
        program.add_output(Port::new("a = 1\nb", Type::Bool), Recipients::All, vec![link]).expect("one bit");
        assert_eq!(outputs_text(&program, &[Some("1".parse().expect("a bit"))]), "a = 1\\u{a}b = true\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_peak_is_at_least_the_current_memory() {
        let held = vec![1u8; 8 << 20];
        assert!(peak_rss_bytes().expect("Linux tells") > held.len() as u64);
    }
}
