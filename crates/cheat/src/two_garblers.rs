//! Deviations from `two-garblers`.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_net::Mesh;
use garblet_protocol::{MeshSession, ProtocolError, conduct::Conduct, protocol::BoxedRole};
use garblet_two_garblers::{Config, Evaluator, Garbler, NAME, Plan, Step};

use crate::{
    Outputs,
    run::{own_inputs, run_all},
};

/// A deviation of a party.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deviation {
    /// It sends this party another nonce than the other party.
    OtherNonce(u16),
    /// It sends the other garbler another secret than it uses.
    OtherSecret(u16),
    /// It reports another name of the session to this party.
    OtherName(u16),
    /// The first garbler flips a bit of this byte of its commitments; counted from the end if negative.
    OtherCommitment(isize),
    /// The second garbler sends another digest of commitments.
    OtherCommitmentsDigest,
    /// A garbler flips a bit of the piece of tables with this index.
    OtherTable(usize),
    /// A garbler sends another digest of the other garbler's tables.
    OtherTablesDigest,
    /// A garbler opens the label of the other value of this wire, its own inputs first.
    OtherValue(usize),
    /// A garbler flips a bit of this byte of its labels.
    OtherLabel(usize),
    /// A garbler flips a bit of this byte of its key, its digest of the other key, or its masked decoding bits, one after the other.
    OtherDecoding(usize),
    /// The evaluator deals this garbler another share than it keeps.
    OtherShare(u16),
    /// The evaluator flips a bit of this byte of the outputs that it hands over to that garbler.
    OtherOutput(u16, usize),
    /// The evaluator uses another input.
    OtherInput,
}

/// The conduct of a party: a deviation, if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cheat(pub Option<Deviation>);

impl Conduct<Step> for Cheat {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        let Some(deviation) = self.0 else { return };
        let place = match (deviation, step) {
            (Deviation::OtherNonce(peer), Step::Nonce) if index == peer.into() => 0,
            (Deviation::OtherSecret(peer), Step::Nonce) if index == peer.into() => 32,
            (Deviation::OtherName(peer), Step::Name) if index == peer.into() => 0,
            (Deviation::OtherCommitment(place), Step::Commitments) if place < 0 => bytes.len() - place.unsigned_abs(),
            (Deviation::OtherCommitment(place), Step::Commitments) => place.unsigned_abs(),
            (Deviation::OtherTable(piece), Step::Tables) if index == piece => 5,
            (Deviation::OtherLabel(place), Step::Labels) | (Deviation::OtherDecoding(place), Step::Decoding) => place,
            (Deviation::OtherShare(garbler), Step::Share) if index == garbler.into() => 0,
            (Deviation::OtherOutput(garbler, place), Step::Outputs) if index == garbler.into() => place,
            (Deviation::OtherCommitmentsDigest, Step::CommitmentsDigest)
            | (Deviation::OtherTablesDigest, Step::TablesDigest) => 0,
            _ => return,
        };
        bytes[place] ^= 1;
    }

    fn input(&mut self, _: usize, bits: &mut Bits) {
        match self.0 {
            Some(Deviation::OtherValue(wire)) => bits.set(wire, !bits.get(wire)),
            Some(Deviation::OtherInput) => bits.set(0, !bits.get(0)),
            _ => {}
        }
    }
}

/// Runs all three parties, each with its conduct, and returns their results.
///
/// # Panics
/// If the protocol cannot run the program.
pub fn run(
    program: &Arc<Program>,
    inputs: &[Bits],
    config: Config,
    cheats: [Cheat; 3],
    seed: u64,
) -> Vec<Result<Outputs, ProtocolError>> {
    let plan = Arc::new(Plan::new(program.clone(), 3, config).expect("it can be run"));
    let parties = (0..).zip(cheats).map(|(party, cheat)| (own_inputs(program, inputs, party), cheat)).collect();
    let part = async |session: &mut MeshSession, party, cheat| set_up(session, plan.clone(), party, cheat).await;
    run_all(NAME, (program, seed), parties, part)
}

async fn set_up(
    session: &mut MeshSession,
    plan: Arc<Plan>,
    party: Party,
    cheat: Cheat,
) -> Result<BoxedRole<Mesh>, ProtocolError> {
    Ok(match plan.evaluator() == party {
        true => Box::new(Evaluator::set_up(session, plan, party, cheat).await?),
        false => Box::new(Garbler::set_up(session, plan, party, cheat).await?),
    })
}
