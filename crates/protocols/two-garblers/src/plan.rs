//! The agreement of all parties before a run: program, parameter, roles, and the sizes that follow from them.

use std::{ops::RangeInclusive, sync::Arc};

use garblet_circuit::{Bits, Party, Program};
use garblet_garble::{GarblingConfig, Piece, Schedules};
use garblet_primitives::Block;
use garblet_protocol::{Collusion, ProtocolError, Security, domain::SessionId, party_io};
use zeroize::Zeroizing;

use super::NAME;

/// The number of parties.
pub(super) const PARTIES: RangeInclusive<u16> = 3..=3;

/// The time at which the garbled tables are made and sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Build {
    /// A build online, made while it is sent and consumed as it arrives: memory does not grow with the program.
    #[default]
    Stream,
    /// A build before the inputs are known; the evaluator keeps the tables in memory.
    Ahead,
}

/// The parameters of a run; all parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The time at which tables are sent.
    pub build: Build,
}

/// A program made ready for `two-garblers`: roles, schedules and sizes.
///
/// A garbler *holds* the wires of its own input, in program order, and after them those of its share of the evaluator's input.
pub struct Plan {
    program: Arc<Program>,
    schedules: Schedules,
    config: Config,
    evaluator: Party,
    garblers: [Party; 2],
}

impl Plan {
    /// Checks that the protocol can run the program, chooses the roles and makes the schedules.
    ///
    /// *Errors*: not three parties; an input owner or a recipient that is not a party.
    pub fn new(program: Arc<Program>, parties: u16, config: Config) -> Result<Self, ProtocolError> {
        party_io::check_party_count(NAME, &program, parties, PARTIES)?;
        let learns = |party: &Party| party_io::output_bits(&program, *party) > 0;
        let evaluator = [0, 1, 2].map(Party).into_iter().find(learns).unwrap_or(Party(0));
        let garblers = match evaluator.0 {
            0 => [1, 2],
            1 => [0, 2],
            _ => [0, 1],
        };
        let schedules = Schedules::new(&program);
        Ok(Plan { program, schedules, config, evaluator, garblers: garblers.map(Party) })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program's schedules.
    pub fn schedules(&self) -> &Schedules {
        &self.schedules
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        self.config
    }

    /// The evaluator: the first party that learns anything.
    pub fn evaluator(&self) -> Party {
        self.evaluator
    }

    /// The two garblers, the lower number first.
    pub fn garblers(&self) -> [Party; 2] {
        self.garblers
    }

    /// The place of a party among the garblers; none for the evaluator.
    pub(super) fn seat(&self, party: Party) -> Option<usize> {
        self.garblers.iter().position(|garbler| *garbler == party)
    }

    /// The two other parties.
    pub(super) fn others(&self, party: Party) -> [Party; 2] {
        match self.seat(party) {
            None => self.garblers,
            Some(seat) => [self.evaluator, self.garblers[1 - seat]],
        }
    }

    /// The security of a run: the work of an attack on the garbling hash, and the probability to guess a label with its known select bit.
    pub fn security(&self) -> Security {
        Security {
            computational_bits: garbling().security_bits(self.and_count()),
            cheating_log2: Some(-127.0),
            collusion: Some(Collusion::AnyTwo),
            ..Security::default()
        }
    }

    /// The number of AND gates to garble.
    pub fn and_count(&self) -> u64 {
        self.schedules.and_count()
    }

    /// The pieces in which the tables are sent, in order. The first garbler sends the first piece, the second garbler the next one, and so on.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece> + use<> {
        garbling().pieces(self.and_count())
    }

    /// Bytes of the pieces that a garbler sends.
    pub(super) fn table_bytes(&self, seat: usize) -> u64 {
        self.pieces().skip(seat).step_by(2).map(|piece| piece.bytes as u64).sum()
    }

    /// The number of input bits of a party.
    pub fn input_bits(&self, party: Party) -> usize {
        party_io::input_bits(&self.program, party)
    }

    /// The number of output bits that a party learns.
    pub fn output_bits(&self, party: Party) -> usize {
        party_io::output_bits(&self.program, party)
    }

    /// The number of input bits that a garbler owns.
    pub(super) fn own_bits(&self, seat: usize) -> usize {
        self.input_bits(self.garblers[seat])
    }

    /// The number of bits of each share of the evaluator's input.
    pub(super) fn share_bits(&self) -> usize {
        self.input_bits(self.evaluator)
    }

    /// The number of wires that a garbler holds.
    pub(super) fn held_bits(&self, seat: usize) -> usize {
        self.own_bits(seat) + self.share_bits()
    }

    /// The labels of all program inputs, from those of the wires that the garblers hold: a label of the evaluator's input is the sum of the labels of
    /// its shares.
    pub(super) fn labels_by_input(&self, held: [&[Block]; 2]) -> Vec<Box<[Block]>> {
        let [mut own, mut shares] = [(); 2].map(|()| held);
        for seat in [0, 1] {
            (own[seat], shares[seat]) = held[seat].split_at(self.own_bits(seat));
        }
        let take = |labels: &mut &[Block], width: usize| -> Box<[Block]> {
            let (now, later) = labels.split_at(width);
            *labels = later;
            now.into()
        };
        let of_input = |input: &garblet_circuit::Input| {
            let width = input.port.width() as usize;
            match self.seat(input.owner) {
                Some(seat) => take(&mut own[seat], width),
                None => {
                    let mut sum = take(&mut shares[0], width);
                    let other = Zeroizing::new(take(&mut shares[1], width));
                    sum.iter_mut().zip(&*other).for_each(|(sum, other)| *sum ^= *other);
                    sum
                }
            }
        };
        self.program.inputs().iter().map(of_input).collect()
    }

    /// The labels of the outputs that a party learns, in program order.
    pub(super) fn learned<'a>(&'a self, party: Party, labels: &'a [Box<[Block]>]) -> impl Iterator<Item = Block> + 'a {
        let outputs = self.program.outputs().iter().zip(labels);
        outputs
            .filter(move |(output, _)| output.recipients.contains(party))
            .flat_map(|(_, labels)| labels.iter().copied())
    }

    /// The select bits of the labels of the outputs that a party learns, in program order.
    pub(super) fn select_bits(&self, party: Party, labels: &[Box<[Block]>]) -> Bits {
        party_io::select_bits(&self.program, garbling(), party, labels)
    }

    /// The domain of everything that is hashed in a session in which the parties have sent these nonces, in the order of their numbers.
    pub(super) fn session(&self, nonces: &[[u8; 32]; 3]) -> SessionId {
        let agreed = [*self.schedules.digest().as_bytes(), [self.config.build as u8; 32]];
        let plan = SessionId::new(NAME, self.program.digest(), agreed);
        let all = plan.domain(self.evaluator, Place::Nonces as u8).digest(nonces.as_flattened());
        SessionId::new(NAME, all, [[0; 32]; 2])
    }
}

/// The scheme and the hash of gates: half gates, and a hash that changes its key.
pub(super) fn garbling() -> GarblingConfig {
    GarblingConfig::default()
}

/// The places that hashes belong to.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Nonces,
    Name,
    Seed,
    Label,
    Commitments,
    Tables,
    Share,
    Key,
    Decoding,
    Outputs,
}
