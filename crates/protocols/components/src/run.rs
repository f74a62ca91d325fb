//! The common parts of both roles of a run: parameters, missing pieces, and taking pieces from the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use garblet_circuit::{Party, Program};
use garblet_garble::GarblingConfig;
use garblet_primitives::Block;
use garblet_store::Store;

use crate::config::Config;
use crate::library::OTS_PER_PIECE;
use crate::linking::plan::{Draft, Label, Origin, Plan, Unplanned};
use crate::pieces::material::Material;
use crate::pieces::meeting::{id_set, stock};
use crate::pieces::stock::Kind;
use crate::{EVALUATOR, NAME};
use garblet_protocol::{
    error::{Missing, NotPrepared, ProtocolError},
    party_io,
};

/// A plan, or the pieces that must be made first.
pub(crate) fn plan(
    store: &Store,
    material: &Material,
    config: Config,
    program: &Arc<Program>,
) -> Result<Result<Plan, Vec<(Kind, Missing)>>, ProtocolError> {
    Ok(draft(store, material, config, program)?.map(Draft::plan))
}

/// The draft of a plan, or the pieces that must be made first.
pub(crate) fn draft<'a>(
    store: &Store,
    material: &'a Material,
    config: Config,
    program: &'a Arc<Program>,
) -> Result<Result<Draft<'a>, Vec<(Kind, Missing)>>, ProtocolError> {
    let needed = transfers(program);
    let missing = needed.saturating_sub(store.count(&material.stored(Kind::Transfers)));
    let mut lacking = Vec::new();
    if missing > 0 {
        let name = "input bits of the evaluator".into();
        let [needed, missing] = [needed, missing].map(|pieces| pieces * OTS_PER_PIECE);
        lacking.push((Kind::Transfers, Missing { name, needed, missing }));
    }
    match Draft::new(program, material, config.linking, stock(store, material)) {
        Ok(draft) if lacking.is_empty() => Ok(Ok(draft)),
        Ok(_) => Ok(Err(lacking)),
        Err(Unplanned::Missing(missing)) => {
            lacking.extend(missing.into_iter().map(|(ty, missing)| (Kind::Single(ty), missing)));
            Ok(Err(lacking))
        }
        Err(unknown) => Err(NotPrepared::from(unknown).into()),
    }
}

/// The pieces to make so that nothing is missing.
pub(crate) fn top_up(lacking: &[(Kind, Missing)]) -> Vec<(Kind, u64)> {
    let pieces = |(kind, missing): &(Kind, Missing)| match kind {
        Kind::Transfers => (*kind, missing.missing / OTS_PER_PIECE),
        _ => (*kind, missing.missing),
    };
    lacking.iter().map(pieces).collect()
}

/// The error where nothing may be made.
pub(crate) fn not_prepared(lacking: Vec<(Kind, Missing)>) -> ProtocolError {
    NotPrepared::Missing(lacking.into_iter().map(|(_, missing)| missing).collect()).into()
}

/// Pieces of transfers that a program takes.
pub(crate) fn transfers(program: &Program) -> u64 {
    (party_io::input_bits(program, EVALUATOR) as u64).div_ceil(OTS_PER_PIECE)
}

/// Refuses programs that `components` cannot run.
pub(crate) fn check(program: &Program, garbling: GarblingConfig) -> Result<(), ProtocolError> {
    party_io::check_parties(NAME, program, garbling)
}

/// A piece that a plan takes, gone from the store.
pub(crate) enum Piece<'a> {
    /// The transfers of the evaluator's inputs, in order.
    Transfers(&'a [u8]),
    /// The template of the use with this number.
    Template(usize, &'a [u8]),
    /// The component of the instance at that place in the order of execution.
    Component(usize, &'a [u8]),
}

/// The pieces that a run takes: by kind the identifiers, ascending, each with the number of its use.
pub(crate) struct Wanted(BTreeMap<Kind, Vec<(u64, Option<usize>)>>);

impl Wanted {
    /// The transfers for the evaluator's inputs, and the pieces that a plan takes.
    pub(crate) fn all(store: &Store, material: &Material, plan: &Plan) -> Self {
        let Wanted(mut wanted) = Wanted::components(plan);
        wanted.extend(Wanted::transfers(store, material, &plan.program).0);
        Wanted(wanted)
    }

    /// The transfers of the evaluator's inputs, which do not depend on a plan.
    pub(crate) fn transfers(store: &Store, material: &Material, program: &Program) -> Self {
        let available = store.stock_of(&material.stored(Kind::Transfers)).available;
        let transfers = available.first(transfers(program));
        Wanted(BTreeMap::from([(Kind::Transfers, transfers.iter().map(|id| (id.0, None)).collect())]))
    }

    /// The pieces that a plan takes.
    pub(crate) fn components(plan: &Plan) -> Self {
        let mut wanted: BTreeMap<Kind, Vec<(u64, Option<usize>)>> = BTreeMap::new();
        for (task, (place, ..)) in plan.tasks.iter().enumerate() {
            wanted.entry(place.kind).or_default().push((place.id, Some(task)));
        }
        let used = plan.uses.iter().enumerate().map(|(number, used)| (used.template, used.id, Some(number)));
        let broken = plan.broken.iter().map(|(template, id)| (*template, *id, None));
        for (template, id, number) in used.chain(broken) {
            wanted.entry(Kind::Template(template)).or_default().push((id, number));
        }
        wanted.values_mut().for_each(|ids| ids.sort());
        Wanted(wanted)
    }

    fn ids(&self) -> BTreeMap<Kind, Vec<u64>> {
        self.0.iter().map(|(kind, ids)| (*kind, ids.iter().map(|(id, _)| *id).collect())).collect()
    }
}

/// The names of pieces.
pub(crate) fn named(material: &Material, ids: &BTreeMap<Kind, Vec<u64>>) -> Vec<(String, u64)> {
    ids.iter().flat_map(|(kind, ids)| ids.iter().map(|id| (material.name(*kind), *id))).collect()
}

/// Takes pieces and shows each to `visit`. When that begins, it is durable that they are used.
///
/// Returns the identifiers by kind.
pub(crate) fn take(
    store: &mut Store,
    material: &Material,
    wanted: Wanted,
    mut visit: impl FnMut(Piece<'_>),
) -> Result<BTreeMap<Kind, Vec<u64>>, ProtocolError> {
    let ids = wanted.ids();
    let request: Vec<_> = ids.iter().map(|(kind, ids)| (material.stored(*kind), id_set(ids.iter().copied()))).collect();
    let all = store.take_all(&request)?;
    for ((kind, ids), taken) in wanted.0.into_iter().zip(all) {
        let mut numbers = ids.into_iter().map(|(_, number)| number);
        taken.each(|_, bytes| match (kind, numbers.next().flatten()) {
            (Kind::Transfers, _) => visit(Piece::Transfers(bytes)),
            (Kind::Template(_), Some(number)) => visit(Piece::Template(number, bytes)),
            (Kind::Single(_) | Kind::Cell(_), Some(task)) => visit(Piece::Component(task, bytes)),
            // A template that is given up for its cells.
            (_, None) => {}
        })?;
    }
    Ok(ids)
}

/// A piece as blocks.
pub(crate) fn blocks(bytes: &[u8]) -> impl Iterator<Item = Block> {
    bytes.as_chunks::<16>().0.iter().map(|bytes| Block::from_bytes(*bytes))
}

/// Puts the labels of a party's inputs where they belong.
///
/// *Shape*: `own` are as many as the party has input bits.
pub(crate) fn put_inputs(plan: &Plan, party: Party, own: &[Block], labels: &mut [Block]) {
    let mut own = own;
    for (input, first) in plan.program.inputs().iter().zip(&plan.inputs).filter(|(input, _)| input.owner == party) {
        let (now, later) = own.split_at(input.port.width() as usize);
        labels[*first..][..now.len()].copy_from_slice(now);
        own = later;
    }
}

/// The labels of the program's outputs, of which `label` gives those that have a number; `constants` are those of false and
/// true.
pub(crate) fn output_labels(plan: &Plan, label: impl Fn(Label) -> Block, constants: [Block; 2]) -> Vec<Box<[Block]>> {
    let of_output = |links: &Vec<(Origin, usize)>| {
        let mut wires = Vec::new();
        for (origin, len) in links {
            match origin {
                Origin::Labels(first) => wires.extend((*first..first + len).map(&label)),
                Origin::Constant(value) => wires.extend(std::iter::repeat_n(constants[usize::from(*value)], *len)),
            }
        }
        wires.into_boxed_slice()
    };
    plan.outputs.iter().map(of_output).collect()
}
