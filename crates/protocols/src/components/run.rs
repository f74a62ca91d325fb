//! What both roles of a run have in common: parameters, what is missing, and taking pieces from the store.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use garblet_circuit::{Party, Program};
use garblet_garble::GarblingConfig;
use garblet_ot::Width;
use garblet_primitives::Block;
use garblet_store::Store;
use zeroize::Zeroizing;

use super::allocate::Missing;
use super::material::{Material, Place};
use super::meeting::{id_set, stock};
use super::plan::{Origin, Plan, Unplanned};
use super::stock::{Kind, OTS_PER_PIECE};
use super::{EVALUATOR, NAME};
use crate::{error::ProtocolError, interface};

/// Which links may be used; the results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linking {
    /// One label per linked wire.
    Standard,
    /// One key per block where a link was prepared, else labels.
    Keyed,
    /// Templates where they fit, else keys, else labels: the cheapest that the stores can serve.
    #[default]
    Cheapest,
}

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Garbling scheme and hash.
    pub garbling: GarblingConfig,
    /// Which links may be used.
    pub linking: Linking,
    /// Field width of the OT extension.
    pub ot_width: Width,
    /// Whether what the stores lack is made when the function is known.
    pub top_up: bool,
}

/// What keeps a program from being run on what was prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPrepared {
    /// A component of the program is not in the library.
    #[error("component `{component}` is not in the library, which has {}", listed(.known))]
    UnknownType {
        /// The component.
        component: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The stores have too few of some types.
    #[error("the stores lack {}", missing(.0))]
    Missing(Vec<Missing>),
}

fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn missing(all: &[Missing]) -> String {
    let one = |m: &Missing| format!("{} of the {} {} that the program takes", m.missing, m.needed, m.name);
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A plan, or what must be made first.
pub(super) fn plan(
    store: &Store,
    material: &Material,
    config: Config,
    program: &Arc<Program>,
) -> Result<Result<Plan, Vec<(Kind, Missing)>>, ProtocolError> {
    let needed = transfers(program);
    let missing = needed.saturating_sub(store.count(&material.stored(Kind::Transfers)));
    let mut lacking = Vec::new();
    if missing > 0 {
        let name = "input bits of the evaluator".into();
        let [needed, missing] = [needed, missing].map(|pieces| pieces * OTS_PER_PIECE);
        lacking.push((Kind::Transfers, Missing { name, needed, missing }));
    }
    match Plan::new(program.clone(), material, config.linking, stock(store, material)) {
        Ok(plan) if lacking.is_empty() => Ok(Ok(plan)),
        Ok(_) => Ok(Err(lacking)),
        Err(Unplanned::Missing(missing)) => {
            lacking.extend(missing.into_iter().map(|(ty, missing)| (Kind::Single(ty), missing)));
            Ok(Err(lacking))
        }
        Err(Unplanned::UnknownType(unknown)) => Err(unknown.into()),
    }
}

/// What to make so that nothing is missing.
pub(super) fn top_up(lacking: &[(Kind, Missing)]) -> Vec<(Kind, u64)> {
    let pieces = |(kind, missing): &(Kind, Missing)| match kind {
        Kind::Transfers => (*kind, missing.missing / OTS_PER_PIECE),
        _ => (*kind, missing.missing),
    };
    lacking.iter().map(pieces).collect()
}

/// The error where nothing may be made.
pub(super) fn not_prepared(lacking: Vec<(Kind, Missing)>) -> ProtocolError {
    NotPrepared::Missing(lacking.into_iter().map(|(_, missing)| missing).collect()).into()
}

/// Pieces of transfers that a program takes.
pub(super) fn transfers(program: &Program) -> u64 {
    (interface::input_bits(program, EVALUATOR) as u64).div_ceil(OTS_PER_PIECE)
}

/// Refuses what `components` cannot run.
pub(super) fn check(program: &Program, garbling: GarblingConfig) -> Result<(), ProtocolError> {
    interface::check_parties(NAME, program, garbling)
}

/// Pieces that a plan takes, gone from the store.
pub(super) struct Taken {
    pub(super) ids: BTreeMap<Kind, Vec<u64>>,
    pub(super) components: HashMap<Place, Zeroizing<Vec<u8>>>,
    /// By number of the use.
    pub(super) templates: Vec<Zeroizing<Vec<u8>>>,
    pub(super) transfers: Vec<Zeroizing<Vec<u8>>>,
}

/// The pieces that a plan takes by kind.
pub(super) fn pieces(store: &Store, material: &Material, plan: &Plan) -> BTreeMap<Kind, Vec<u64>> {
    let mut ids: BTreeMap<Kind, Vec<u64>> = BTreeMap::new();
    let available = store.stock_of(&material.stored(Kind::Transfers)).available;
    let transfers = available.first(transfers(&plan.program));
    ids.insert(Kind::Transfers, transfers.iter().map(|id| id.0).collect());
    for (place, ..) in &plan.tasks {
        ids.entry(place.kind).or_default().push(place.id);
    }
    let used = plan.uses.iter().map(|used| (used.template, used.id));
    for (template, id) in used.chain(plan.broken.iter().copied()) {
        ids.entry(Kind::Template(template)).or_default().push(id);
    }
    ids
}

/// The names of pieces.
pub(super) fn named(material: &Material, ids: &BTreeMap<Kind, Vec<u64>>) -> Vec<(String, u64)> {
    ids.iter().flat_map(|(kind, ids)| ids.iter().map(|id| (material.name(*kind), *id))).collect()
}

/// Takes what a plan needs: when this returns, it is durable that it is used.
pub(super) fn take(store: &mut Store, material: &Material, plan: &Plan) -> Result<Taken, ProtocolError> {
    let ids = pieces(store, material, plan);
    let request: Vec<_> = ids.iter().map(|(kind, ids)| (material.stored(*kind), id_set(ids.iter().copied()))).collect();
    let all = store.take_all(&request)?;
    let mut taken =
        Taken { ids: BTreeMap::new(), components: HashMap::new(), templates: Vec::new(), transfers: Vec::new() };
    let mut templates: HashMap<(u32, u64), Zeroizing<Vec<u8>>> = HashMap::new();
    for (kind, pieces) in ids.keys().zip(all) {
        for piece in pieces {
            let piece = piece?;
            match kind {
                Kind::Transfers => taken.transfers.push(piece.bytes),
                Kind::Template(t) => {
                    templates.insert((*t, piece.id.0), piece.bytes);
                }
                Kind::Single(_) | Kind::Cell(_) => {
                    taken.components.insert(Place { kind: *kind, id: piece.id.0 }, piece.bytes);
                }
            }
        }
    }
    let of_use = plan.uses.iter().map(|used| templates.remove(&(used.template, used.id)).unwrap_or_default());
    taken.templates = of_use.collect();
    taken.ids = ids;
    Ok(taken)
}

/// A piece as blocks.
pub(super) fn blocks(bytes: &[u8]) -> impl Iterator<Item = Block> {
    bytes.as_chunks::<16>().0.iter().map(|bytes| Block::from_bytes(*bytes))
}

/// Puts the labels of a party's inputs where they belong.
///
/// *Shape*: `own` are as many as the party has input bits.
pub(super) fn put_inputs(plan: &Plan, party: Party, own: &[Block], labels: &mut [Block]) {
    let mut own = own;
    for (input, first) in plan.program.inputs().iter().zip(&plan.inputs).filter(|(input, _)| input.owner == party) {
        let (now, later) = own.split_at(input.port.width() as usize);
        labels[*first..][..now.len()].copy_from_slice(now);
        own = later;
    }
}

/// The labels of the program's outputs; `constants` are those of false and true.
pub(super) fn output_labels(plan: &Plan, labels: &[Block], constants: [Block; 2]) -> Vec<Box<[Block]>> {
    let of_output = |links: &Vec<(Origin, usize)>| {
        let mut wires = Vec::new();
        for (origin, len) in links {
            match origin {
                Origin::Labels(first) => wires.extend_from_slice(&labels[*first..][..*len]),
                Origin::Constant(value) => wires.extend(std::iter::repeat_n(constants[usize::from(*value)], *len)),
            }
        }
        wires.into_boxed_slice()
    };
    plan.outputs.iter().map(of_output).collect()
}
