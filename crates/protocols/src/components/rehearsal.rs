//! A run without a peer: both roles in one place, to measure evaluation by itself.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use garblet_circuit::{Bits, Program};
use garblet_primitives::Block;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::evaluator::Opened;
use super::garble::PieceGarbler;
use super::material::{Material, Place};
use super::plan::{Plan, Unplanned};
use super::run::{Linking, NotPrepared, Taken};
use super::secrets::Secrets;
use super::stock::{Ids, Kind, Stock};
use super::{EVALUATOR, GARBLER, evaluator, garbler};
use crate::{error::ProtocolError, interface};

/// One run, ready to be evaluated any number of times.
pub struct Rehearsal {
    plan: Plan,
    material: Material,
    taken: Taken,
    hash_seed: Block,
    message: Vec<u8>,
    labels: Vec<Block>,
    zero_outputs: Vec<Box<[Block]>>,
}

impl Rehearsal {
    /// Garbles what a program takes from a full store.
    ///
    /// *Shape*: `inputs` are the values of all inputs in program order.
    ///
    /// *Errors*: a library that has not what the program takes.
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
        let plan = Plan::new(program, &material, linking, stock).map_err(|unplanned| match unplanned {
            Unplanned::UnknownType(unknown) => unknown,
            Unplanned::Missing(missing) => NotPrepared::Missing(missing.into_iter().map(|(_, m)| m).collect()),
        })?;
        let secrets = Secrets::random(rng);
        let (taken, kept) = garble(&material, &secrets, &plan);
        let mut zero = garbler::zero_labels(&material, &secrets, &plan, &kept, rng);
        let own = |party| {
            let mut joined = Bits::default();
            let of_party = plan.program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == party);
            of_party.for_each(|(_, bits)| joined.append(bits));
            joined
        };
        // The evaluator's labels, as transfers would give them.
        let theirs: Vec<Block> =
            (0..interface::input_bits(&plan.program, EVALUATOR)).map(|_| Block::random(rng)).collect();
        super::run::put_inputs(&plan, EVALUATOR, &theirs, &mut zero);
        let delta = secrets.delta.block();
        let active: Vec<Block> =
            theirs.iter().zip(own(EVALUATOR).iter()).map(|(zero, bit)| *zero ^ (delta & Block::mask(bit))).collect();
        let mut labels = vec![Block::ZERO; plan.labels];
        super::run::put_inputs(&plan, EVALUATOR, &active, &mut labels);
        let keys = garbler::keys(&material, &secrets, &plan)?;
        let message = garbler::message(&material, &secrets, &plan, &zero, keys, &own(GARBLER));
        let zero_outputs = super::run::output_labels(&plan, &zero, [Block::ZERO, delta]);
        Ok(Rehearsal { plan, material, taken, hash_seed: secrets.hash, message, labels, zero_outputs })
    }

    /// AND gates that are evaluated.
    pub fn and_count(&self) -> u64 {
        self.plan.and_count
    }

    /// What the evaluator does once it has the garbler's message: opens links, evaluates. Returns the program's outputs.
    ///
    /// *Errors*: none, unless something is wrong with this code.
    pub fn evaluate(&self) -> Result<Vec<Bits>, ProtocolError> {
        let mut labels = self.labels.clone();
        let Opened { links, .. } =
            evaluator::open(&self.material, &self.plan, &self.taken, &self.message, &mut labels)?;
        evaluator::evaluate(&self.material, &self.plan, &self.taken, self.hash_seed, &links, &mut labels);
        let active = super::run::output_labels(&self.plan, &labels, [Block::ZERO; 2]);
        let garbling = self.material.garbling();
        let bits = |(zero, active): (&[Block], &[Block])| {
            zero.iter().zip(active).map(|(z, a)| garbling.select_bit(*z) ^ garbling.select_bit(*a)).collect()
        };
        let zero = self.zero_outputs.iter().map(AsRef::as_ref);
        Ok(zero.zip(active.iter().map(AsRef::as_ref)).map(bits).collect())
    }
}

/// The pieces that a plan takes: the evaluator's, and what the garbler keeps of components.
fn garble(material: &Material, secrets: &Secrets, plan: &Plan) -> (Taken, Taken) {
    let mut garbler = PieceGarbler::new(material, secrets);
    let empty =
        || Taken { ids: BTreeMap::new(), components: HashMap::new(), templates: Vec::new(), transfers: Vec::new() };
    let (mut theirs, mut kept) = (empty(), empty());
    let mut links: HashMap<(u32, u64), Zeroizing<Vec<u8>>> = HashMap::new();
    for (place, ..) in &plan.tasks {
        match place.kind {
            Kind::Single(ty) => {
                let garbled = garbler.singles(ty, place.id, 1);
                theirs.components.insert(*place, Zeroizing::new(garbled.sent));
                kept.components.insert(*place, Zeroizing::new(garbled.kept));
            }
            Kind::Cell(t) if !links.contains_key(&(t, place.id / material.cells(t))) => {
                let (count, id) = (material.cells(t), place.id / material.cells(t));
                let (garbled, own) = garbler.template(t, id);
                links.insert((t, id), Zeroizing::new(own));
                let (mut sent, mut own) = (&garbled.sent[..], &garbled.kept[..]);
                for id in id * count..(id + 1) * count {
                    let place = Place { kind: place.kind, id };
                    let (now, later) = sent.split_at(material.evaluator_bytes(place.kind, id));
                    theirs.components.insert(place, Zeroizing::new(now.to_vec()));
                    sent = later;
                    let (now, later) = own.split_at(material.garbler_bytes(place.kind, id));
                    kept.components.insert(place, Zeroizing::new(now.to_vec()));
                    own = later;
                }
            }
            _ => {}
        }
    }
    let of_use = plan.uses.iter().map(|used| links.remove(&(used.template, used.id)).unwrap_or_default());
    theirs.templates = of_use.collect();
    (theirs, kept)
}
