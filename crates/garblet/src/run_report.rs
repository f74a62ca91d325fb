//! The report of a run for users of every language: the object of `garblet run --json`.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use garblet_circuit::{
    Bits, Circuit, GateCounts, InstanceId, Output, Party, Port, Program, Schedule,
    notes::{FileGates, Panics},
};
use garblet_formats::value;
use garblet_net::Fingerprint;
use garblet_protocol::{Phase, PhaseCosts, Security};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{Config, Report, panicked_rows, results};

/// The report of a run: its results, costs and recipients.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// The protocol.
    pub protocol: &'static str,
    /// The adversary that it is secure against.
    pub adversary: &'static str,
    /// The number of parties.
    pub parties: u16,
    /// The program's size.
    pub program: ProgramPart,
    /// Its origin.
    #[serde(flatten)]
    pub record: Record,
    /// The security that the run promises.
    pub security: Security,
    /// The parameters of the protocol, by name.
    pub parameters: Map<String, Value>,
    /// The rows of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
    /// Rows that have no result, from 1, each with where and why it panicked.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub panicked: BTreeMap<usize, String>,
    /// The outputs that are known, by name.
    pub outputs: Map<String, Value>,
    /// The parties that learned each output.
    pub recipients: BTreeMap<String, Vec<u16>>,
    /// The parties that the report covers: one, or all.
    pub per_party: Vec<PartyPart>,
    /// The reason why the parties did not part in order, if they did not; the result is final all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closing: Option<String>,
}

/// One party's part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartyPart {
    /// The party.
    pub party: u16,
    /// The role that it had.
    pub role: String,
    /// The values of the parameters that the link has decided.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub decided: BTreeMap<String, String>,
    /// `None` if it was not measured.
    pub peak_rss_bytes: Option<u64>,
    /// `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<CpuSeconds>,
    /// Before the hello: reading and building the program, and making it ready. `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_seconds: Option<f64>,
    /// The cost of each phase.
    pub phases: PhaseCosts,
}

/// Seconds of processor time of one party, all threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuSeconds {
    /// Of set-up.
    pub setup: f64,
    /// Of preparing.
    pub prepare: f64,
    /// Of building.
    pub build: f64,
    /// Of the rest.
    pub online: f64,
}

impl CpuSeconds {
    /// Seconds of one phase.
    pub fn of(&self, phase: Phase) -> f64 {
        match phase {
            Phase::Setup => self.setup,
            Phase::Prepare => self.prepare,
            Phase::Build => self.build,
            Phase::Online => self.online,
        }
    }

    /// Seconds of all phases.
    pub fn total(&self) -> f64 {
        Phase::ALL.iter().map(|phase| self.of(*phase)).sum()
    }
}

/// The composition of a program.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramPart {
    /// AND gates.
    pub and: u64,
    /// The AND gates that cost something: without those that constants decide or that reach no output.
    pub garbled_and: u64,
    /// XOR gates.
    pub xor: u64,
    /// NOT gates.
    pub not: u64,
    /// The most AND gates on a path.
    pub and_depth: u64,
    /// The gates of the circuit file, if some were saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<GateCounts>,
    /// Input wires.
    pub inputs: u64,
    /// Output wires.
    pub outputs: u64,
    /// Instances of components.
    pub components: u64,
    /// The checks of a function source for overflow and the like: `on` or `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panics: Option<&'static str>,
}

/// The origin of a result: the peers, the program, the version, and the time.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// All others.
    pub peers: Vec<PeerPart>,
    /// The digest that parties compare, in hexadecimal digits.
    pub program_digest: String,
    /// The version of this library.
    pub version: &'static str,
    /// The time at which the result was there: RFC 3339, UTC.
    pub time: String,
}

/// Another party of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerPart {
    /// The party.
    pub party: u16,
    /// The name that this party has given it; `this machine` for the parties of `garblet local`.
    pub name: Option<String>,
    /// `None` over plain TCP.
    pub fingerprint: Option<String>,
}

impl RunReport {
    /// Reports of the parties in `parts`, which is all `parties` of them or one.
    pub fn new(
        program: &Program,
        config: &Config,
        parties: u16,
        security: Security,
        outputs: &[Option<Bits>],
        parts: Vec<PartyPart>,
        record: Record,
    ) -> Self {
        RunReport {
            protocol: config.protocol().name(),
            adversary: config.adversary().name(),
            parties,
            program: ProgramPart::of(program),
            record,
            security,
            parameters: parameters_of(config, parts.first()),
            rows: program.notes().rows,
            panicked: panicked_rows(program, outputs),
            outputs: outputs_json(program, outputs),
            recipients: recipients(program, parties),
            per_party: parts,
            closing: None,
        }
    }
}

/// The parameters of a run with their values, those that the link decided for this party too.
pub fn parameters_of(config: &Config, part: Option<&PartyPart>) -> Map<String, Value> {
    let decided = |name: &str| part.and_then(|part| part.decided.get(name)).cloned();
    let value = |(name, value): (String, String)| (name.clone(), decided(&name).unwrap_or(value).into());
    config.parameters().into_iter().map(value).collect()
}

impl From<&Report> for PartyPart {
    /// The part of a party of which nothing but the phases was measured.
    fn from(report: &Report) -> Self {
        let (party, role, phases) = (report.party.0, report.role.into(), report.phases);
        let decided = report.decided.clone();
        PartyPart { party, role, decided, peak_rss_bytes: None, cpu_seconds: None, load_seconds: None, phases }
    }
}

impl ProgramPart {
    /// Counts a program.
    pub fn of(program: &Program) -> Self {
        let counts = program.stats();
        ProgramPart {
            and: counts.and,
            garbled_and: garbled_ands(program),
            xor: counts.xor,
            not: counts.not,
            and_depth: counts.and_depth,
            file: match program.notes().file {
                Some(FileGates::Optimised(file)) => Some(file),
                _ => None,
            },
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

/// The AND gates of the schedules of all instances.
fn garbled_ands(program: &Program) -> u64 {
    let mut instances = vec![0u64; program.components().len()];
    for at in 0..program.instance_count() {
        instances[program.component_id(InstanceId(at as u32)).0 as usize] += 1;
    }
    let components = program.components().iter().zip(instances).filter(|(_, instances)| *instances > 0);
    let ands = |circuit: &Circuit| match circuit.stored_gates() {
        Some(gates) => gates.garbled_ands(),
        None => Schedule::new(circuit).and_count(),
    };
    components.map(|(component, instances)| ands(component.circuit()) * instances).sum()
}

impl Record {
    /// The record of a result that was there at that time.
    pub fn new(program: &Program, peers: Vec<PeerPart>, time: SystemTime) -> Self {
        let (program_digest, version) = (digest_text(program), env!("CARGO_PKG_VERSION"));
        Record { peers, program_digest, version, time: timestamp(time) }
    }
}

impl PeerPart {
    /// A peer that proved an identity, or spoke plain TCP.
    pub fn met(party: u16, fingerprint: Option<Fingerprint>, names: &[(String, Fingerprint)]) -> Self {
        let name = names.iter().find(|(_, known)| Some(*known) == fingerprint).map(|(name, _)| name.clone());
        PeerPart { party, name, fingerprint: fingerprint.map(|fingerprint| fingerprint.to_string()) }
    }

    /// A party on this machine, which the same user has started.
    pub fn here(party: u16) -> Self {
        PeerPart { party, name: Some("this machine".into()), fingerprint: None }
    }
}

/// The digest that parties compare, in hexadecimal digits.
pub fn digest_text(program: &Program) -> String {
    program.digest().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The outputs that are known, as JSON objects by name. Rows that have panicked are null in the value; the wires, which are there even so,
/// are then left out.
pub fn outputs_json(program: &Program, outputs: &[Option<Bits>]) -> Map<String, Value> {
    let panicked = panicked_rows(program, outputs);
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
    let known = results(program).filter_map(|(at, output)| Some((output, outputs.get(at)?.as_ref()?)));
    known.map(json).collect()
}

/// The parties that learn each output.
fn recipients(program: &Program, parties: u16) -> BTreeMap<String, Vec<u16>> {
    let learns = |output: &Output| (0..parties).filter(|party| output.recipients.contains(Party(*party))).collect();
    results(program).map(|(_, output)| (output.port.name.clone(), learns(output))).collect()
}

/// A time by RFC 3339, in UTC, as in `2026-11-23T06:30:00Z`.
pub fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from the first of March of the year 0, so that leap days are at their ends; 400 of them have as many days as any.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    let [hour, minute, second] = [second / 3_600, second / 60 % 60, second % 60];
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
