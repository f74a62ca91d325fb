//! A run without a peer: both roles in one place, to measure evaluation by itself.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use garblet_circuit::{Bits, Program};
use garblet_primitives::Block;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::config::Linking;
use crate::evaluation::work::Work;
use crate::linking::plan::{Draft, Plan};
use crate::pieces::garble::PieceGarbler;
use crate::pieces::material::{Material, Place};
use crate::pieces::secrets::Secrets;
use crate::pieces::stock::{Ids, Kind, Stock};
use crate::run::Piece;
use crate::{EVALUATOR, GARBLER, garbler};
use garblet_protocol::error::NotPrepared;
use garblet_protocol::{error::ProtocolError, party_io};

/// One run, ready to be evaluated any number of times.
pub struct Rehearsal {
    plan: Plan,
    material: Material,
    work: Work,
    message: Zeroizing<Vec<u8>>,
    zero_outputs: Vec<Box<[Block]>>,
}

impl Rehearsal {
    /// Garbles the components that a program takes from a full store.
    ///
    /// *Shape*: `inputs` are the values of all inputs in program order.
    ///
    /// *Errors*: a library that lacks a component of the program.
    pub fn new(
        material: Material,
        program: Arc<Program>,
        linking: Linking,
        inputs: &[Bits],
        rng: &mut impl CryptoRng,
    ) -> Result<Self, ProtocolError> {
        let mut stock = Stock::default();
        for kind in material.kinds() {
            stock.set(kind, Ids::new(std::iter::once(0..material.wanted(kind))));
        }
        let plan = Draft::new(&program, &material, linking, stock).map(Draft::plan).map_err(NotPrepared::from)?;
        let secrets = Secrets::random(rng);
        let mut work = Work::new(&material, &plan, secrets.hash)?;
        let mut zero = garbler::zero_labels(&material, &secrets, &plan, rng);
        garble(&material, &secrets, &plan, &mut work, &mut zero);
        let own = |party| {
            let mut joined = Bits::default();
            let of_party = plan.program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == party);
            of_party.for_each(|(_, bits)| joined.append(bits));
            joined
        };
        // The evaluator's labels, as transfers would give them.
        let theirs: Vec<Block> =
            (0..party_io::input_bits(&plan.program, EVALUATOR)).map(|_| Block::random(rng)).collect();
        crate::run::put_inputs(&plan, EVALUATOR, &theirs, &mut zero);
        let delta = secrets.delta.block();
        let active: Vec<Block> =
            theirs.iter().zip(own(EVALUATOR).iter()).map(|(zero, bit)| *zero ^ (delta & Block::mask(bit))).collect();
        crate::run::put_inputs(&plan, EVALUATOR, &active, &mut work.labels);
        let keys = garbler::keys(&material, &secrets, &plan)?;
        let message = garbler::message(&material, &secrets, &plan, &zero, keys, &own(GARBLER));
        let zero_outputs = crate::run::output_labels(&plan, |label| zero[label], [Block::ZERO, delta]);
        Ok(Rehearsal { plan, material, work, message, zero_outputs })
    }

    /// AND gates that are evaluated.
    pub fn and_count(&self) -> u64 {
        self.plan.and_count
    }

    /// Opens the links with the garbler's message, as the evaluator does when it has it. Done twice, it encrypts them again.
    ///
    /// *Errors*: none, unless something is wrong with this code.
    pub fn open(&mut self) -> Result<(), ProtocolError> {
        self.work.open(&self.material, &self.plan, &self.message).map(|_| ())
    }

    /// Evaluates, with links that are open. Returns the program's outputs.
    pub fn evaluate(&mut self) -> Vec<Bits> {
        self.work.evaluate(&self.material);
        let active = self.work.outputs(&self.plan);
        let garbling = self.material.garbling();
        let bits = |(zero, active): (&[Block], &[Block])| {
            zero.iter().zip(active).map(|(z, a)| garbling.select_bit(*z) ^ garbling.select_bit(*a)).collect()
        };
        let zero = self.zero_outputs.iter().map(AsRef::as_ref);
        zero.zip(active.iter().map(AsRef::as_ref)).map(bits).collect()
    }
}

/// Garbles the pieces that a plan takes: the evaluator's into its work, and the zero labels of outputs.
fn garble(material: &Material, secrets: &Secrets, plan: &Plan, work: &mut Work, zero: &mut [Block]) {
    let mut garbler = PieceGarbler::new(material, secrets);
    let tasks: HashMap<Place, usize> =
        plan.tasks.iter().enumerate().map(|(task, (place, ..))| (*place, task)).collect();
    let mut templates = BTreeSet::new();
    for (task, (place, ..)) in plan.tasks.iter().enumerate() {
        match place.kind {
            Kind::Single(ty) => {
                let garbled = garbler.singles(ty, place.id, 1);
                work.put(material, plan, Piece::Component(task, &garbled.sent));
                garbler::put_outputs(plan, Piece::Component(task, &garbled.kept), zero);
            }
            Kind::Cell(t) if templates.insert((t, place.id / material.cells(t))) => {
                let (count, id) = (material.cells(t), place.id / material.cells(t));
                let (garbled, links) = garbler.template(t, id);
                if let Some(number) = plan.uses.iter().position(|used| (used.template, used.id) == (t, id)) {
                    work.put(material, plan, Piece::Template(number, &links));
                }
                let (mut sent, mut own) = (&garbled.sent[..], &garbled.kept[..]);
                for id in id * count..(id + 1) * count {
                    let (now, later) = sent.split_at(material.evaluator_bytes(place.kind, id));
                    let (kept, kept_later) = own.split_at(material.garbler_bytes(place.kind, id));
                    (sent, own) = (later, kept_later);
                    if let Some(task) = tasks.get(&Place { kind: place.kind, id }) {
                        work.put(material, plan, Piece::Component(*task, now));
                        garbler::put_outputs(plan, Piece::Component(*task, kept), zero);
                    }
                }
            }
            _ => {}
        }
    }
}
