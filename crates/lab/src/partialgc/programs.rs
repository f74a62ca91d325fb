//! The paper's programs, with the owners and recipients that it gives them: the generator has the data, the client asks.

use garblet_circuit::{Bits, Party, Program};
use garblet_cli::bench::loopback::random_values;
use garblet_console::args::{ProgramArgs, To};
use rand::RngExt;

/// The seats; the cloud has neither inputs nor outputs.
pub(super) const GENERATOR: Party = Party(0);
pub(super) const CLIENT: Party = Party(1);
pub(super) const CLOUD: Party = Party(2);

/// The number of parties.
pub(super) const PARTIES: u16 = 3;

/// A program of the paper.
pub(super) struct PaperProgram {
    /// The name in its tables.
    pub(super) name: &'static str,
    /// The library's circuit, whose inputs have the paper's owners already.
    pub(super) circuit: &'static str,
    /// The parties that learn each output.
    recipients: Outputs,
}

type Outputs = &'static [(&'static str, &'static [Party])];

const DATABASE: Outputs = &[("found", &[CLIENT]), ("value", &[CLIENT])];
const PRODUCT: Outputs = &[("product", &[GENERATOR, CLIENT])];
const DISTANCE: Outputs = &[("distance", &[GENERATOR, CLIENT])];
const RICHER: Outputs = &[("alice_richer", &[GENERATOR, CLIENT])];
// No values stay with the servers from run to run, so the generator gives and gets the state.
const STEP: Outputs = &[("runs", &[GENERATOR]), ("longest", &[GENERATOR, CLIENT])];
const LENGTH: Outputs = &[("length", &[CLIENT])];

/// Those of tables 2 to 4.
const WHOLE: &[PaperProgram] = &[
    program("KeyedDB 64", "lib:keyed-database(64,64,32)", DATABASE),
    program("KeyedDB 128", "lib:keyed-database(128,64,32)", DATABASE),
    program("KeyedDB 256", "lib:keyed-database(256,64,32)", DATABASE),
    program("MatrixMult8x8", "lib:matrix-multiplication(8,32)", PRODUCT),
    program("Edit Distance 128", "lib:levenshtein(128,128,1)", DISTANCE),
    program("Millionaires 8192", "lib:millionaires(8192)", RICHER),
];

/// Those of figure 4.
const STEPWISE: &[PaperProgram] = &[
    program("LCS Incremental 128", "lib:lcs-incremental(128)", STEP),
    program("LCS Incremental 256", "lib:lcs-incremental(256)", STEP),
    program("LCS Incremental 512", "lib:lcs-incremental(512)", STEP),
    program("LCS Full 128", "lib:longest-common-substring(128,1)", LENGTH),
    program("LCS Full 256", "lib:longest-common-substring(256,1)", LENGTH),
];

const fn program(name: &'static str, circuit: &'static str, recipients: Outputs) -> PaperProgram {
    PaperProgram { name, circuit, recipients }
}

/// The programs of a table, or of figure 4 if it is none.
pub(super) fn of_table(table: Option<u8>) -> Vec<&'static PaperProgram> {
    match table {
        Some(1) => WHOLE.iter().chain(STEPWISE).collect(),
        Some(_) => WHOLE.iter().collect(),
        None => STEPWISE.iter().collect(),
    }
}

impl PaperProgram {
    /// The program as the command names it.
    pub(super) fn arguments(&self) -> ProgramArgs {
        let to = |&(output, parties): &(&str, &[Party])| To { output: output.into(), parties: Some(parties.into()) };
        let mut args = ProgramArgs::plain(self.circuit);
        args.changes.recipients = self.recipients.iter().map(to).collect();
        args
    }

    /// Uniform values of all inputs, but that the client asks a database for a key that it has.
    pub(super) fn values(&self, program: &Program) -> Vec<Bits> {
        let mut values = random_values(program);
        let entries = self.name.strip_prefix("KeyedDB ").and_then(|entries| entries.parse::<usize>().ok());
        if let (Some(entries), [records, key]) = (entries, &mut values[..]) {
            // A record begins with its key.
            let record = records.len() / entries * rand::rng().random_range(0..entries);
            *key = records.slice(record, key.len());
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::evaluate;

    use super::*;
    use crate::partialgc::published::published;
    use garblet_console::program;

    #[test]
    fn every_program_of_the_paper_is_there_with_figures() {
        let names = |table| of_table(table).iter().map(|program| program.name).collect::<Vec<_>>();
        assert_eq!(names(Some(1)).len(), 11);
        for table in [2, 4] {
            assert!(names(Some(table)).iter().all(|name| published(name, Some(table)).times.len() == 3));
        }
        assert!(names(Some(3)).iter().all(|name| published(name, Some(3)).client_bytes.is_some()));
        assert!(names(None).iter().all(|name| published(name, None).cmtb_gates.is_some()));
    }

    #[test]
    fn the_generator_gives_the_data_the_client_asks_and_the_cloud_has_nothing() {
        for paper in of_table(Some(1)).into_iter().filter(|paper| !paper.name.starts_with("LCS Full")) {
            let program = program::load(&paper.arguments()).expect(paper.name);
            let owners: Vec<Party> = program.inputs().iter().map(|input| input.owner).collect();
            assert_eq!((owners.first(), owners.last()), (Some(&GENERATOR), Some(&CLIENT)), "{}", paper.name);
            assert!(program.outputs().iter().all(|output| !output.recipients.contains(CLOUD)), "{}", paper.name);
            assert!(program.outputs().iter().any(|output| output.recipients.contains(CLIENT)), "{}", paper.name);
        }
    }

    #[test]
    fn a_database_is_asked_for_what_it_has() {
        let paper = of_table(Some(2))[0];
        let program = program::load(&paper.arguments()).expect(paper.name);
        for _ in 0..8 {
            let outputs = evaluate(&program, &paper.values(&program));
            let found = program.outputs().iter().position(|output| output.port.name == "found").expect("an output");
            assert_eq!(outputs[found].to_string(), "1");
        }
    }
}
