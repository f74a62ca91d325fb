//! The plan: the garbled circuit, the givers of its wires, and the values to read and keep.

use std::{ops::Range, sync::Arc};

use garblet_circuit::{Bits, InputId, Party, Program, Recipients, ScheduleDigest};
use garblet_ot::PAD_BITS;
use garblet_primitives::{Block, UniversalHash};
use garblet_protocol::{
    Collusion, Security,
    error::ProtocolError,
    party_io::{self, EVALUATOR, GARBLER, check_party_count},
    stock::{ReadInput, SavedValues},
};
use garblet_seeded::{Blueprint, Committed, encoding::Encoding};

use super::{
    config::{Config, SLACK_BITS},
    kept::RUNS_MAX,
    mac::Authenticator,
};
use crate::{GENERATOR, NAME, PARTIES_MAX};

/// The number that stands for the giver of an input that is read.
const NOBODY: Party = Party(u16::MAX);

/// A program made ready for `form=partialgc`.
pub struct Plan {
    /// The program; inputs read from kept values belong to nobody.
    program: Arc<Program>,
    /// The program with keys, pads and messages.
    blueprint: Arc<Blueprint>,
    givers: Vec<Giver>,
    learners: Vec<(Party, Authenticator)>,
    reads: Vec<Read>,
    keep: Option<String>,
    /// The outputs to keep.
    kept: Vec<usize>,
    config: Config,
    parties: u16,
}

/// A party whose input comes by outsourced OT: a client, or the cloud, which is its own client.
pub(crate) struct Giver {
    pub(crate) party: Party,
    /// The places of its bits among all bits of the evaluator, with those of its key and pad last.
    bits: Vec<usize>,
    /// Its additional wires: for the encoding, then to hide the hash of all wires before them.
    further: Range<usize>,
    /// The number of rows of that hash. Only clients need one: the cloud knows which values it selects.
    hash_rows: usize,
}

impl Giver {
    /// The number of bits that it encodes.
    pub(crate) fn bit_count(&self) -> usize {
        self.bits.len()
    }

    /// The number of its wires for them.
    pub(crate) fn wire_count(&self) -> usize {
        self.bits.len() + self.further.len()
    }

    /// The places of its wires among all wires of the evaluator, in the order of its encoding.
    pub(crate) fn wires(&self) -> impl Iterator<Item = usize> + '_ {
        self.bits.iter().copied().chain(self.further.clone())
    }

    /// Its encoding, for a seed of its own.
    ///
    /// *Unique*: the giver samples a fresh seed for each run.
    pub(crate) fn encoding(&self, seed: Block) -> Encoding {
        Encoding::systematic(self.bits.len(), SLACK_BITS, seed).followed_by(self.hash_rows)
    }

    /// The number of bits of the hash of its wires.
    pub(crate) fn hash_rows(&self) -> usize {
        self.hash_rows
    }

    /// The hash of its wires for a seed.
    ///
    /// *Unique*: the cloud samples the seed after it has the labels of all circuits.
    pub(crate) fn hash(&self, seed: Block) -> UniversalHash {
        UniversalHash::new(self.hash_rows, self.wire_count() - self.hash_rows, seed)
    }
}

/// An input that is read from a kept value.
pub(crate) struct Read {
    pub(crate) from: ReadInput,
    /// The places of its wires among all wires of the evaluator.
    pub(crate) wires: Range<usize>,
}

impl Plan {
    /// Makes a program ready for `parties` parties, the first and the last being servers, with the values that it reads and keeps: it keeps
    /// the outputs that nobody learns, or nothing if the computation panics, which all parties learn ([`SavedValues::program`]).
    ///
    /// *Errors*: parties that do not exist; nothing to keep; a program that has no room for keys, pads and tags.
    pub fn new(program: Arc<Program>, parties: u16, config: Config, saved: SavedValues) -> Result<Self, ProtocolError> {
        let program = saved.program(NAME, &program)?;
        let read = saved.inputs(&program)?;
        let mut owned = (*program).clone();
        // Party 0 stands in for nobody while checking that all others exist.
        read.iter().for_each(|&input| owned.set_owner(InputId(input as u32), GENERATOR));
        check_party_count(NAME, &owned, parties, 3..=PARTIES_MAX)?;
        read.iter().for_each(|&input| owned.set_owner(InputId(input as u32), NOBODY));
        let program = Arc::new(owned);
        let cloud = Party(parties - 1);
        let learners: Vec<(Party, Authenticator)> =
            (0..cloud.0).map(Party).filter_map(|party| Some((party, Authenticator::of(&program, party)?))).collect();
        let refuse = |error: garblet_circuit::CircuitError| ProtocolError::Unsupported {
            protocol: NAME,
            program: program.name().into(),
            reason: error.to_string(),
        };
        let extended = extended(&program, cloud, &learners).map_err(refuse)?;
        let (givers, places, wires) = givers(&program, &learners, parties, &extended);
        let reads = saved
            .read
            .iter()
            .zip(&read)
            .map(|(from, &input)| Read { from: from.clone(), wires: places[input].clone() });
        let committed = Committed { garbler: false, evaluator: false };
        let reads = reads.collect();
        let blueprint = Blueprint::new(Arc::new(extended), config.garbling(), committed, SLACK_BITS, wires);
        let kept = kept(&program, saved.keep.is_some())?;
        Ok(Plan {
            program,
            blueprint: Arc::new(blueprint),
            givers,
            learners,
            reads,
            keep: saved.keep,
            kept,
            config,
            parties,
        })
    }

    /// The order of gates, on which servers must agree.
    pub(crate) fn schedule(&self) -> ScheduleDigest {
        self.blueprint.schedules().digest()
    }

    /// The program; inputs read from kept values belong to no party.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The number of AND gates of a circuit, including those of tags.
    pub fn and_count(&self) -> u64 {
        self.blueprint.and_count()
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        self.config
    }

    /// The number of garbled circuits.
    pub(crate) fn circuits(&self) -> usize {
        self.config.circuits.count()
    }

    pub(crate) fn blueprint(&self) -> &Arc<Blueprint> {
        &self.blueprint
    }

    /// The last party.
    pub(crate) fn cloud(&self) -> Party {
        Party(self.parties - 1)
    }

    pub(crate) fn parties(&self) -> u16 {
        self.parties
    }

    /// The clients, then the cloud.
    pub(crate) fn givers(&self) -> &[Giver] {
        &self.givers
    }

    /// The clients.
    pub(crate) fn clients(&self) -> &[Giver] {
        &self.givers[..self.givers.len() - 1]
    }

    /// The number of bits of the hashes of all clients' wires.
    pub(crate) fn client_hash_bits(&self) -> usize {
        self.clients().iter().map(Giver::hash_rows).sum()
    }

    /// The place of a party among the givers.
    pub(crate) fn giver(&self, party: Party) -> &Giver {
        &self.givers[usize::from(party.0) - 1]
    }

    /// The authenticator of a party's outputs, if it has any and is not the cloud.
    pub(crate) fn authenticator(&self, party: Party) -> Option<Authenticator> {
        self.learners.iter().find(|(learner, _)| *learner == party).map(|(_, authenticator)| *authenticator)
    }

    /// The number of bits of the cloud's message to a party.
    pub(crate) fn message_bits(&self, party: Party) -> usize {
        self.authenticator(party).map_or(0, Authenticator::message_bits)
    }

    /// The message to a party, from all bits that the cloud learns: its own outputs, then messages.
    pub(crate) fn message(&self, bits: &Bits, party: Party) -> Bits {
        let own = party_io::output_bits(&self.program, self.cloud());
        let before = self.learners.iter().take_while(|(learner, _)| *learner != party);
        let start = own + before.map(|(_, authenticator)| authenticator.message_bits()).sum::<usize>();
        bits.slice(start, self.message_bits(party))
    }

    /// A party's outputs, from all bits that it learns.
    pub(crate) fn results(&self, party: Party, bits: &Bits) -> Vec<Option<Bits>> {
        party_io::deal_outputs(&self.program, party, &mut bits.iter())
    }

    /// The inputs to read.
    pub(crate) fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// The number of bits to read.
    pub(crate) fn read_bits(&self) -> usize {
        self.reads.iter().map(|read| read.wires.len()).sum()
    }

    /// The places of all wires to read, read by read.
    pub(crate) fn read_wires(&self) -> impl Iterator<Item = usize> + '_ {
        self.reads.iter().flat_map(|read| read.wires.clone())
    }

    /// The name under which outputs are kept, and these outputs, if there are any.
    pub(crate) fn keeps(&self) -> Option<(&str, &[usize])> {
        Some((self.keep.as_deref()?, &self.kept))
    }

    /// The encoding of all wires of the evaluator, from the givers' seeds.
    pub(crate) fn encoding(&self, seeds: &[Block]) -> Encoding {
        let encodings: Vec<Encoding> =
            self.givers.iter().zip(seeds).map(|(giver, &seed)| giver.encoding(seed)).collect();
        let bits = party_io::input_bits(self.blueprint.program(), EVALUATOR);
        Encoding::joined(bits, self.givers.iter().zip(&encodings).map(|(giver, encoding)| (&giver.bits[..], encoding)))
    }

    /// The hash of the generator's input for a challenge.
    ///
    /// *Unique*: the cloud samples the challenge after the generator's labels are fixed.
    pub(crate) fn universal_hash(&self, challenge: Block) -> UniversalHash {
        UniversalHash::new(self.blueprint.hash_rows(), self.blueprint.garbler_inputs(), challenge)
    }

    /// The security of all runs of a state: all ways to cheat together, except those that pass an OT check.
    pub fn security(&self) -> Security {
        let slack = (-(SLACK_BITS as f64)).exp2();
        // Two inputs of the generator with the same hash; for the cloud spoiled labels, and an encoding that is not resistant; for each client spoiled
        // labels or hashes, such an encoding, and two inputs with the same hash; for each receiver a false tag.
        let of_run = slack * (1.0 + 3.0 + 5.0 * self.clients().len() as f64 + self.learners.len() as f64);
        let others = RUNS_MAX as f64 * of_run;
        let log2 = (self.config.circuits.cut_log2().exp2() + others).log2();
        Security {
            computational_bits: self.blueprint.security_bits().min(PAD_BITS),
            statistical_bits: Some(80.0),
            cheating_log2: Some(log2),
            collusion: Some(Collusion::BothServers),
            ..Security::default()
        }
    }
}

/// The program with keys, pads and messages: the generator's inputs are the garbler's, all others the evaluator's.
fn extended(
    program: &Program,
    cloud: Party,
    learners: &[(Party, Authenticator)],
) -> Result<Program, garblet_circuit::CircuitError> {
    let mut extended = program.clone();
    let seat = |party: Party| if party == GENERATOR { GARBLER } else { EVALUATOR };
    for (number, input) in program.inputs().iter().enumerate() {
        extended.set_owner(InputId(number as u32), seat(input.owner));
    }
    for (number, output) in program.outputs().iter().enumerate() {
        let learned = output.recipients.contains(cloud);
        extended.set_recipients(number, Recipients::Only(if learned { vec![EVALUATOR] } else { vec![] }));
    }
    for &(party, authenticator) in learners {
        authenticator.extend(&mut extended, program, party, seat(party))?;
    }
    Ok(extended)
}

/// The givers, the places of each input of the program among the evaluator's wires, and how many of these there are in all.
fn givers(
    program: &Program,
    learners: &[(Party, Authenticator)],
    parties: u16,
    extended: &Program,
) -> (Vec<Giver>, Vec<Range<usize>>, usize) {
    let mut place = 0;
    let places: Vec<Range<usize>> = extended
        .inputs()
        .iter()
        .map(|input| {
            let width = if input.owner == EVALUATOR { input.port.width() as usize } else { 0 };
            place += width;
            place - width..place
        })
        .collect();
    let (of_program, of_learners) = places.split_at(program.inputs().len());
    let mut wires = place;
    let giver = |party: Party| {
        let own = program.inputs().iter().zip(of_program).filter(|(input, _)| input.owner == party);
        let mut bits: Vec<usize> = own.flat_map(|(_, places)| places.clone()).collect();
        // Two inputs for each receiver: key and pad.
        let further = learners.iter().zip(of_learners.chunks(2)).filter(|((learner, _), _)| *learner == party);
        bits.extend(further.flat_map(|(_, places)| places.iter().cloned().flatten()));
        let hash_rows = if party.0 + 1 == parties || bits.is_empty() { 0 } else { SLACK_BITS };
        let all = Encoding::systematic_wires(bits.len(), SLACK_BITS) + hash_rows;
        let further = wires..wires + all - bits.len();
        wires = further.end;
        Giver { party, bits, further, hash_rows }
    };
    let givers = (1..parties).map(Party).map(giver).collect();
    (givers, places, wires)
}

/// The outputs to keep: all of the result that nobody learns.
///
/// *Errors*: no such output although one is to be kept.
fn kept(program: &Program, keeps: bool) -> Result<Vec<usize>, ProtocolError> {
    let nobodys = |to: &Recipients| matches!(to, Recipients::Only(parties) if parties.is_empty());
    let outputs = program.outputs().iter().enumerate().filter(|(at, _)| !program.notes().tells_panics(*at));
    let kept: Vec<usize> = outputs.filter(|(_, output)| nobodys(&output.recipients)).map(|(at, _)| at).collect();
    if keeps && kept.is_empty() {
        let (what, expected) = ("to keep".into(), "an output that nobody learns (`--to OUTPUT=nobody`)".into());
        return Err(ProtocolError::Input { what, expected, got: "none".into() });
    }
    Ok(kept)
}
