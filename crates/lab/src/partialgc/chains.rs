//! The paper's experiments with values that stay: programs that keep a value and programs that read it, one after another.

use std::{collections::BTreeMap, fs, path::Path};

use garblet::{ReadInput, SavedValues};
use garblet_circuit::{Bits, Input, InputId, Party, Program, Recipients, evaluate};
use garblet_cli::bench::loopback::random_bits;
use garblet_console::{
    args::{Constant, Owner, ProgramArgs, Switch, To},
    failure::Failure,
    inputs::PartyInputs,
    program,
};
use rand::RngExt;

use super::{
    programs::{CLIENT, GENERATOR},
    published::About,
};

/// The function sources of all steps.
const SOURCES: [(&str, &str); 7] = [
    ("database.garble.rs", include_str!("database.garble.rs")),
    ("map_start.garble.rs", include_str!("map_start.garble.rs")),
    ("map_set.garble.rs", include_str!("map_set.garble.rs")),
    ("map_get.garble.rs", include_str!("map_get.garble.rs")),
    ("start.garble.rs", include_str!("../../../../examples/friends/start.garble.rs")),
    ("place.garble.rs", include_str!("../../../../examples/friends/place.garble.rs")),
    ("look.garble.rs", include_str!("../../../../examples/friends/look.garble.rs")),
];

/// Bits of a key and of what is found for it.
const RECORD: [usize; 2] = [64, 32];
/// Bits of the hash of a client's shares, at most.
const HASH_BITS_MAX: u64 = 88;
/// Friends on our map; on the paper's there may be 255.
const FRIENDS: usize = 8;

/// Programs that run in this order, repeatedly; some read what others have kept.
pub(super) struct Chain {
    pub(super) steps: Vec<Step>,
    /// The generator's inputs, by their names.
    given: BTreeMap<&'static str, Bits>,
    /// Cells of the map, if it is one.
    cells: Option<u16>,
}

/// One program of a chain.
pub(super) struct Step {
    pub(super) name: String,
    /// The program in words.
    pub(super) circuit: String,
    pub(super) args: ProgramArgs,
    pub(super) program: Program,
    pub(super) saved: SavedValues,
    pub(super) published: Option<About>,
}

/// Values that were kept, in the clear, by name.
pub(super) type Kept = BTreeMap<String, Bits>;

/// Values that a step is run on, and those that come out of it.
pub(super) struct Example {
    /// All inputs, also those that are read.
    pub(super) inputs: Vec<Bits>,
    /// The outputs that somebody learns.
    pub(super) expected: Vec<Option<Bits>>,
}

impl Step {
    /// Bits that stay after the run.
    pub(super) fn kept_bits(&self) -> Option<u64> {
        let nobodys = self.program.outputs().iter().filter(|output| is_nobodys(&output.recipients));
        self.saved.keep.as_ref().map(|_| nobodys.map(|output| u64::from(output.port.width())).sum())
    }

    /// Bits that had stayed before it.
    pub(super) fn read_bits(&self) -> Option<u64> {
        let read = self.program.inputs().iter().filter(|input| self.reads(input).is_some());
        (!self.saved.read.is_empty()).then(|| read.map(|input| u64::from(input.port.width())).sum())
    }

    /// The name of the value that it reads or keeps.
    pub(super) fn state(&self) -> Option<&str> {
        self.saved.keep.as_deref().or(self.saved.read.first().map(|read| &read.name[..]))
    }

    /// Triples and masks, with some more, that a run by shares takes.
    pub(super) fn takes(&self) -> [u64; 2] {
        let triples = self.program.stats().and;
        let inputs = self.program.inputs().iter().map(|input| u64::from(input.port.width()));
        let outputs = self.program.outputs().iter().map(|output| u64::from(output.port.width()));
        [triples, triples + inputs.chain(outputs).sum::<u64>() + HASH_BITS_MAX]
    }

    /// The name of the value from which an input is read.
    fn reads(&self, input: &Input) -> Option<&str> {
        let read = self.saved.read.iter().find(|read| read.port == input.port.name);
        read.map(|read| &read.name[..])
    }

    /// The inputs of a party, of all of an example: none of what is read.
    pub(super) fn of_party(&self, inputs: &[Bits], party: Party) -> PartyInputs {
        let own = self.program.inputs().iter().zip(inputs).enumerate();
        let own = own.filter(|(_, (input, _))| self.reads(input).is_none() && input.owner == party);
        own.map(|(number, (_, bits))| (InputId(number as u32), bits.clone())).collect()
    }
}

fn is_nobodys(recipients: &Recipients) -> bool {
    matches!(recipients, Recipients::Only(parties) if parties.is_empty())
}

impl Chain {
    /// Draws what the client asks in a step, and computes it in the clear. What is kept is kept here, too.
    pub(super) fn example(&self, step: &Step, kept: &mut Kept) -> Example {
        let value = |input: &Input| match step.reads(input) {
            Some(name) => kept.get(name).cloned().unwrap_or_default(),
            None => self.gives(step, input).unwrap_or_else(|| self.asked(input)),
        };
        let inputs: Vec<Bits> = step.program.inputs().iter().map(value).collect();
        let outputs = evaluate(&step.program, &inputs);
        let mut expected = Vec::with_capacity(outputs.len());
        for (output, bits) in step.program.outputs().iter().zip(outputs) {
            let stays = is_nobodys(&output.recipients);
            if let (true, Some(name)) = (stays, &step.saved.keep) {
                kept.insert(name.clone(), bits.clone());
            }
            expected.push((!stays).then_some(bits));
        }
        Example { inputs, expected }
    }

    /// The generator's value of an input, if that is its own.
    pub(super) fn gives(&self, step: &Step, input: &Input) -> Option<Bits> {
        let given = self.given.get(&input.port.name[..]);
        given.filter(|_| step.reads(input).is_none() && input.owner == GENERATOR).cloned()
    }

    /// Asks a database for a key that it has, and a map for a cell that there is.
    fn asked(&self, input: &Input) -> Bits {
        let mut rng = rand::rng();
        let record: usize = RECORD.iter().sum();
        match (&input.port.name[..], self.given.get("records"), self.cells) {
            ("key", Some(records), _) => records.slice(record * rng.random_range(0..records.len() / record), RECORD[0]),
            ("cell", _, Some(cells)) => Bits::from_u128(rng.random_range(0..cells).into(), 16),
            _ => random_bits(&input.port),
        }
    }
}

/// The chains of figure 5: a database of 64, 128 or 256 records, saved once and read by each query, or sent with each.
///
/// *Errors*: sources that cannot be written to the folder.
pub(super) fn databases(folder: &Path) -> Result<Vec<Chain>, Failure> {
    write_sources(folder)?;
    let chain = |entries: usize| {
        let [key, value] = RECORD;
        let (bits, lib) = (entries * (key + value), format!("lib:keyed-database({entries},{key},{value})"));
        let (name, state) = (format!("KeyedDB {entries}"), format!("database of {entries}"));
        let learns = [("found", &[CLIENT][..]), ("value", &[CLIENT])];
        let save = Source::of(folder, "database", &[("BITS", bits)]).owners(&[("records", 0), ("ask", 1)]);
        let steps = vec![
            save.to(&[("records", &[])]).step(format!("{name}, saved"), keeps(&state, &[]))?,
            Source::library(&lib).to(&learns).step(format!("{name}, read"), reads(&state, "records"))?,
            Source::library(&lib).to(&learns).step(format!("{name}, sent anew"), SavedValues::default())?,
        ];
        let all = steps[0].program.inputs().iter().find(|input| input.owner == GENERATOR);
        let given = all.map(|input| ("records", random_bits(&input.port))).into_iter().collect();
        Ok(Chain { steps, given, cells: None })
    };
    [64, 128, 256].into_iter().map(chain).collect()
}

/// The chains of figure 7: the paper's map of 64, 256 or 2,048 cells, and ours.
///
/// *Errors*: as [`databases`].
pub(super) fn maps(folder: &Path) -> Result<Vec<Chain>, Failure> {
    write_sources(folder)?;
    let mut chains = Vec::new();
    for [width, height] in [[8, 8], [16, 16], [64, 32]] {
        let cells = width * height;
        let about = About::map(cells);
        let (paper, ours) = (format!("map of {cells}"), format!("town of {cells}"));
        let of_cells = |name: &str| Source::of(folder, name, &[("CELLS", cells)]);
        let published = |step: Step| Step { published: about, ..step };
        let steps = vec![
            of_cells("map_start")
                .owners(&[("ask", 1)])
                .to(&[("map", &[])])
                .step(format!("MapStart {cells}"), keeps(&paper, &[]))?,
            of_cells("map_set")
                .owners(&[("cell", 1), ("id", 1)])
                .to(&[("map", &[])])
                .step(format!("MapSet {cells}"), keeps(&paper, &["map"]))?,
            of_cells("map_get")
                .owners(&[("cell", 1)])
                .to(&[("id", &[CLIENT])])
                .step(format!("MapGet {cells}"), reads(&paper, "map"))?,
        ];
        let steps = steps.into_iter().map(published).collect();
        chains.push(Chain { steps, given: BTreeMap::new(), cells: Some(cells as u16) });
        let size = [("WIDTH", width), ("HEIGHT", height), ("FRIENDS", FRIENDS)];
        let of = |name: &str, more: &[(&'static str, usize)]| Source::of(folder, name, &[&size, more].concat());
        let steps = vec![
            of("start", &[])
                .owners(&[("begin", 1)])
                .to(&[("map", &[])])
                .step(format!("start {cells}"), keeps(&ours, &[]))?,
            of("place", &[("ME", 0)])
                .owners(&[("spot", 1)])
                .to(&[("map", &[])])
                .step(format!("place {cells}"), keeps(&ours, &["map"]))?,
            of("look", &[("ME", 0), ("RADIUS", 1)])
                .owners(&[("ask", 1)])
                .to(&[("friends", &[CLIENT])])
                .step(format!("look {cells}"), reads(&ours, "map"))?,
        ];
        chains.push(Chain { steps, given: BTreeMap::new(), cells: None });
    }
    Ok(chains)
}

fn write_sources(folder: &Path) -> Result<(), Failure> {
    for (name, text) in SOURCES {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| Failure::unwritable(&path, &error))?;
    }
    Ok(())
}

/// Keeps a value under that name, which these inputs are read from.
fn keeps(name: &str, ports: &[&str]) -> SavedValues {
    let read = ports.iter().map(|port| ReadInput { port: (*port).into(), name: name.into(), output: None });
    SavedValues { keep: Some(name.into()), read: read.collect() }
}

/// Reads an input from the value of that name.
fn reads(name: &str, port: &str) -> SavedValues {
    SavedValues { keep: None, ..keeps(name, &[port]) }
}

/// A program, with the owners of its inputs and the recipients of its outputs.
struct Source {
    circuit: String,
    args: ProgramArgs,
}

impl Source {
    /// A circuit of the library, whose inputs have the paper's owners already.
    fn library(name: &str) -> Self {
        Source { circuit: name.into(), args: ProgramArgs::plain(name) }
    }

    /// A function source, with constants of party 0.
    fn of(folder: &Path, name: &str, constants: &[(&'static str, usize)]) -> Self {
        let path = folder.join(format!("{name}.garble.rs"));
        let mut args = ProgramArgs::plain(&path.display().to_string());
        let named = constants.iter().map(|(name, value)| (format!("PARTY_0::{name}"), value.to_string()));
        args.changes.constants = named.map(|(name, value)| Constant::Value(name, value)).collect();
        args.changes.panics = Switch(false);
        let words: Vec<String> = constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Source { circuit: format!("{name}.garble.rs with {}", words.join(", ")), args }
    }

    fn owners(mut self, owners: &[(&str, u16)]) -> Self {
        let owner = |&(input, party): &(&str, u16)| Owner { input: input.into(), party: Party(party) };
        self.args.changes.owners = owners.iter().map(owner).collect();
        self
    }

    fn to(mut self, recipients: &[(&str, &[Party])]) -> Self {
        let to =
            |(output, parties): &(&str, &[Party])| To { output: (*output).into(), parties: Some(parties.to_vec()) };
        self.args.changes.recipients = recipients.iter().map(to).collect();
        self
    }

    /// *Errors*: a program that cannot be read.
    fn step(self, name: String, saved: SavedValues) -> Result<Step, Failure> {
        let program = program::load_quietly(&self.args)?;
        Ok(Step { name, circuit: self.circuit, args: self.args, program, saved, published: None })
    }
}
