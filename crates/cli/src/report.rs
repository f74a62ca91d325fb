//! The report of a run and of what it gave: the object of `--json`, and the same for people.

use std::collections::BTreeMap;

use garblet::{Collusion, Filled, Party, Phase, PhaseCost, PhaseCosts, Security, row_panics};
use garblet_circuit::{Bits, Output, Port, Program, notes::Panics};
use garblet_formats::value;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    cpu::CpuSeconds,
    failure::{Class, Failure},
    output::{bytes, count, parties as numbers, seconds, table, tell},
    record::Record,
    settings::Settings,
};

/// One party's part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartyPart {
    pub(crate) party: u16,
    pub(crate) role: String,
    /// None where the system does not tell.
    pub(crate) peak_rss_bytes: Option<u64>,
    /// None where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_seconds: Option<CpuSeconds>,
    /// Before the hello: reading and building the program, and making it ready. None where nothing was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) load_seconds: Option<f64>,
    pub(crate) phases: PhaseCosts,
}

impl PartyPart {
    /// Of a party that has filled its store.
    pub(crate) fn of_filled(party: Party, filled: &Filled) -> Self {
        let (party, role, peak_rss_bytes) = (party.0, "party".into(), peak_rss_bytes());
        PartyPart { party, role, peak_rss_bytes, cpu_seconds: None, load_seconds: None, phases: filled.phases }
    }
}

/// The composition of the program.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ProgramPart {
    pub(crate) and: u64,
    pub(crate) xor: u64,
    pub(crate) not: u64,
    pub(crate) and_depth: u64,
    /// Input wires.
    pub(crate) inputs: u64,
    /// Output wires.
    pub(crate) outputs: u64,
    /// Instances of components.
    pub(crate) components: u64,
    /// The checks of a function source for overflow and the like: `on` or `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) panics: Option<&'static str>,
}

impl ProgramPart {
    /// Counts a program.
    pub(crate) fn of(program: &Program) -> Self {
        let counts = program.stats();
        ProgramPart {
            and: counts.and,
            xor: counts.xor,
            not: counts.not,
            and_depth: counts.and_depth,
            inputs: program.inputs().iter().map(|i| i.port.ty.width()).sum(),
            outputs: program.outputs().iter().map(|o| o.port.ty.width()).sum(),
            components: program.instance_count() as u64,
            panics: program.notes().panics.as_ref().map(|panics| match panics {
                Panics::Off => "off",
                Panics::On { .. } => "on",
            }),
        }
    }
}

/// Looks whether the computation has panicked. The rows of a batch do so each by itself: a warning tells of them, if some have a result.
///
/// *Errors*: where and why it has, or all rows have; the other outputs then mean nothing.
pub(crate) fn check_panics(program: &Program, outputs: &[Option<Bits>]) -> Result<(), Failure> {
    if let Some(rows) = row_panics(program, outputs) {
        let panicked = panicked(program, outputs);
        if let Some((first, reason)) = panicked.first_key_value() {
            let (some, all) = (count(panicked.len() as u64), count(rows.len() as u64));
            if panicked.len() == rows.len() {
                let message = format!("none of {all} rows has a result; row {first} panicked at {reason}");
                return Err(Failure::no_result(message).of_class(Class::Panic));
            }
            tell(&format!("warning: {some} of {all} rows have no result; row {first} panicked at {reason}"));
        }
        return Ok(());
    }
    match panic_of_all(program, outputs) {
        Some(reason) => Err(Failure::no_result(format!("panicked at {reason}")).of_class(Class::Panic)),
        None => Ok(()),
    }
}

/// The panic of a computation as a whole, and not of rows of a batch.
pub(crate) fn panic_of_all(program: &Program, outputs: &[Option<Bits>]) -> Option<String> {
    let is_batch = program.notes().rows.is_some();
    garblet::check_panics(program, outputs).err().filter(|_| !is_batch).map(|panicked| panicked.place)
}

/// The outputs of the result that are known.
pub(crate) fn results<'a>(
    program: &'a Program,
    outputs: &'a [Option<Bits>],
) -> impl Iterator<Item = (&'a Output, &'a Bits)> {
    garblet::results(program).filter_map(move |(at, output)| Some((output, outputs.get(at)?.as_ref()?)))
}

/// The object of `--json`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RunReport {
    pub(crate) protocol: &'static str,
    pub(crate) adversary: &'static str,
    pub(crate) parties: u16,
    pub(crate) program: ProgramPart,
    #[serde(flatten)]
    pub(crate) record: Record,
    pub(crate) security: Security,
    pub(crate) parameters: Map<String, Value>,
    /// The rows of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<u32>,
    /// Rows that have no result, from 1, each with where and why it panicked.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) panicked: BTreeMap<usize, String>,
    pub(crate) outputs: Map<String, Value>,
    /// The parties that learned each output.
    pub(crate) recipients: BTreeMap<String, Vec<u16>>,
    pub(crate) per_party: Vec<PartyPart>,
    /// The reason why the parties did not part in order, if they did not; the result is final all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) closing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repeat: Option<Repeat>,
}

/// Times of repeated runs, from the start of the processes to the last result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Repeat {
    pub(crate) runs: usize,
    pub(crate) seconds_min: f64,
    pub(crate) seconds_median: f64,
    pub(crate) seconds_max: f64,
}

/// The outputs that are known, as JSON objects by name. Rows that have panicked are null in the value; the wires, which are there even so,
/// are then left out.
pub(crate) fn outputs_json(program: &Program, outputs: &[Option<Bits>]) -> Map<String, Value> {
    let panicked = panicked(program, outputs);
    let json = |(output, bits): (&Output, &Bits)| {
        let Port { name, ty } = &output.port;
        let json = match (panicked.is_empty(), value::to_json(ty, bits)) {
            (false, Value::Array(mut rows)) => {
                panicked.keys().for_each(|row| rows[row - 1] = Value::Null);
                json!({ "value": rows })
            }
            _ => value::output_json(ty, bits),
        };
        (name.clone(), json)
    };
    results(program, outputs).map(json).collect()
}

/// The rows of a batch that have no result, from 1, each with where and why it panicked.
pub(crate) fn panicked(program: &Program, outputs: &[Option<Bits>]) -> BTreeMap<usize, String> {
    let reasons = row_panics(program, outputs).unwrap_or_default();
    (1..).zip(reasons).filter_map(|(row, reason)| Some((row, reason?))).collect()
}

/// The parties that learn each output.
fn recipients(program: &Program, parties: u16) -> BTreeMap<String, Vec<u16>> {
    let learns = |output: &Output| (0..parties).filter(|party| output.recipients.contains(Party(*party))).collect();
    garblet::results(program).map(|(_, output)| (output.port.name.clone(), learns(output))).collect()
}

/// The outputs that are known, one line each.
pub(crate) fn outputs_text(program: &Program, outputs: &[Option<Bits>]) -> String {
    let lines = results(program, outputs).map(|(o, bits)| {
        let value = match value::to_json(&o.port.ty, bits) {
            // A byte string's digits say it all.
            Value::Object(object) if object.len() == 1 && object.contains_key("hex") => object["hex"].clone(),
            other => other,
        };
        let value = value.as_str().map(String::from).unwrap_or_else(|| value.to_string());
        format!("{} = {value}\n", o.port.name)
    });
    lines.collect()
}

/// The warning to a user whose peer gave its secret away.
pub(crate) const PEER_EXPOSED: &str = "\
    warning: the peer cheated and so gave its secret away; the result is right, and nothing has shown the peer that it was found out.\n\
    That it was may depend on your input, so whatever you do now otherwise than planned may tell the peer a bit of it\n";

/// The condition of all that is promised, for who asks the parties to do something for them.
pub(crate) fn must_not_collude(collusion: Collusion, parties: u16) -> String {
    match collusion {
        Collusion::BothServers => {
            format!("the servers, parties 0 and {}, must not work together: both of them see everything", parties - 1)
        }
    }
}

impl RunReport {
    /// A report of the parties in `parts`, which is all `parties` of them or one.
    ///
    /// *Errors*: settings that do not hold together.
    pub(crate) fn new(
        program: &Program,
        settings: &Settings,
        parties: u16,
        security: Security,
        outputs: &[Option<Bits>],
        parts: Vec<PartyPart>,
        record: Record,
    ) -> Result<Self, Failure> {
        let config = settings.config()?;
        Ok(RunReport {
            protocol: config.protocol().name(),
            adversary: config.adversary().name(),
            parties,
            program: ProgramPart::of(program),
            record,
            security,
            parameters: config.parameters().into_iter().map(|(name, value)| (name, value.into())).collect(),
            rows: program.notes().rows,
            panicked: panicked(program, outputs),
            outputs: outputs_json(program, outputs),
            recipients: recipients(program, parties),
            per_party: parts,
            closing: None,
            repeat: None,
        })
    }

    /// Everything but the outputs, for people.
    pub(crate) fn text(&self) -> String {
        let program = &self.program;
        let mut text = format!(
            "{} ({}): {} AND gates, AND depth {}, {} components\n",
            self.protocol,
            self.adversary,
            count(program.and),
            count(program.and_depth),
            count(program.components)
        );
        if let Some(rows) = self.rows {
            text.push_str(&format!("for {} rows\n", count(rows.into())));
        }
        let parameters: Vec<String> =
            self.parameters.iter().map(|(k, v)| format!("{k} {}", v.as_str().unwrap_or(&v.to_string()))).collect();
        if !parameters.is_empty() {
            text.push_str(&format!("with {}\n", parameters.join(", ")));
        }
        if self.program.panics == Some("off") {
            text.push_str("checks were off: what overflows wraps around, what is out of bounds has no meaning\n");
        }
        if let Some(deterrence) = self.security.deterrence {
            text.push_str(&format!("a garbler that cheats is found out with probability {deterrence:.3} at least\n"));
        } else if let Some(log2) = self.security.cheating_log2 {
            text.push_str(&format!("a peer that cheats is not found out with probability 2^{log2:.1} at most\n"));
        }
        if let Some(collusion) = self.security.collusion {
            text.push_str(&format!("{}\n", must_not_collude(collusion, self.parties)));
        }
        for (name, learned) in self.recipients.iter().filter(|(name, _)| !self.outputs.contains_key(*name)) {
            text.push_str(&match &learned[..] {
                [] => format!("nobody has learned {name}\n"),
                [one] => format!("party {one} has learned {name}, this party has not\n"),
                some => format!("parties {} have learned {name}, this party has not\n", numbers(some)),
            });
        }
        if self.security.peer_exposed {
            text.push_str(PEER_EXPOSED);
        }
        text.push('\n');
        text.push_str(&self.phase_table());
        if let Some(repeat) = &self.repeat {
            text.push_str(&format!(
                "\n{} runs: {} (best {}, worst {}); the table is of the median run\n",
                repeat.runs,
                seconds(repeat.seconds_median),
                seconds(repeat.seconds_min),
                seconds(repeat.seconds_max)
            ));
        }
        text.push('\n');
        text.push_str(&self.record.text());
        text
    }

    /// The cost of each phase to each party.
    pub(crate) fn phase_table(&self) -> String {
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
        rows.extend(self.per_party.iter().filter_map(load));
        for phase in Phase::ALL {
            rows.extend(self.per_party.iter().map(|part| cells(phase.name(), part, part.phases.of(phase))));
        }
        rows.extend(self.per_party.iter().map(|part| cells("total", part, total(&part.phases))));
        table(&rows)
    }
}

/// The cost of all phases together.
pub(crate) fn total(phases: &PhaseCosts) -> PhaseCost {
    let mut total = PhaseCost::default();
    for phase in Phase::ALL {
        let cost = phases.of(phase);
        total.seconds += cost.seconds;
        total.communication += cost.communication;
    }
    total
}

/// The most memory this process ever held, in bytes, where the system tells.
pub(crate) fn peak_rss_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// The memory that this process holds, in bytes, where the system tells.
pub(crate) fn rss_bytes() -> Option<u64> {
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
    use garblet::Communication;

    #[test]
    fn phases_add_up() {
        let communication = Communication { bytes_sent: 1, bytes_received: 2, rounds: 3 };
        let cost = PhaseCost { seconds: 0.5, communication };
        let total = total(&PhaseCosts { setup: cost, online: cost, ..PhaseCosts::default() });
        assert_eq!(total.seconds, 1.0);
        assert_eq!(total.communication, Communication { bytes_sent: 2, bytes_received: 4, rounds: 6 });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_peak_is_at_least_what_is_held() {
        let held = vec![1u8; 8 << 20];
        assert!(peak_rss_bytes().expect("Linux tells") > held.len() as u64);
    }
}
