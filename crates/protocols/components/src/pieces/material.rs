//! The pieces of a library: their gates, their numbers, their sizes.

use std::collections::BTreeMap;

use garblet_garble::{ComponentGarbling, GarblingConfig};

use crate::library::OTS_PER_PIECE;
use crate::library::{Library, TypeId};
use crate::pieces::stock::Kind;
use garblet_protocol::Security;

/// The gate numbers of one kind of piece, more than any store holds.
const GATES_PER_KIND: u64 = 1 << 44;

/// The gates of a store over its life, as assumed by the stated security.
const GATES_PER_STORE: u64 = 1 << 40;

/// The place of a garbled component among the prepared ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    /// [`Kind::Single`] or [`Kind::Cell`].
    pub(crate) kind: Kind,
    pub(crate) id: u64,
}

/// A sequence of gate numbers, and a component's place in it. See [`garblet_garble::Numbering`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Numbered {
    /// The number of the sequence's first gate.
    pub(crate) base: u64,
    /// The number of the component among its instances.
    pub(crate) k: u64,
}

/// A library with its components made ready for garbling.
pub struct Material {
    library: Library,
    garbling: GarblingConfig,
    types: Vec<ComponentGarbling>,
    templates: Vec<TemplateLayout>,
    digest: [u8; 32],
}

/// The places of the cells of a template.
struct TemplateLayout {
    /// The first gate of the sequence of each cell's type, counted from the template's, and the cell's place there.
    cells: Vec<Numbered>,
    /// The number of gate numbers of a template.
    gates: u64,
    /// The place where each cell's input wires begin among those of all cells.
    inputs: Vec<u64>,
    input_wires: u64,
}

/// The digest of a library with this garbling of its components.
fn digest(library: &Library, types: &[ComponentGarbling]) -> [u8; 32] {
    let mut hash = blake3::Hasher::new_derive_key("garblet 2026 component material v1");
    hash.update(&library.digest());
    for ty in types {
        hash.update(ty.digest().as_bytes());
    }
    hash.finalize().into()
}

impl Material {
    /// Schedules the components of a library.
    pub fn new(library: Library, garbling: GarblingConfig) -> Self {
        let types: Vec<ComponentGarbling> =
            library.types().iter().map(|t| ComponentGarbling::new(&t.component, garbling)).collect();
        let templates = library.templates().iter().map(|t| TemplateLayout::new(t.cells(), &types)).collect();
        let digest = digest(&library, &types);
        Material { library, garbling, types, templates, digest }
    }

    /// The digest of the library and of the order in which the gates of its components are garbled.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// A kind as a kind of the store.
    pub fn stored(&self, kind: Kind) -> garblet_store::Kind {
        let GarblingConfig { scheme, hash } = self.garbling;
        let number = match kind {
            Kind::Transfers => 0,
            Kind::Single(ty) => ty.0,
            Kind::Template(t) | Kind::Cell(t) => t,
        };
        let parameters = [&self.digest[..], &number.to_le_bytes(), format!("{scheme} {hash}").as_bytes()].concat();
        garblet_store::Kind::new(&self.name(kind), &parameters)
    }

    /// The library.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The security of a run: the computational security of the garbling hash, whose seed stays the same for the life of a
    /// store. It has fewer bits than for a single run if the hash does not change its key.
    pub fn security(&self) -> Security {
        let computational_bits = self.garbling.security_bits(GATES_PER_STORE);
        Security { computational_bits, ..Security::default() }
    }

    /// Scheme and hash.
    pub fn garbling(&self) -> GarblingConfig {
        self.garbling
    }

    /// A type's gates.
    pub fn instances(&self, ty: TypeId) -> &ComponentGarbling {
        &self.types[ty.0 as usize]
    }

    /// Every kind of piece, in the order in which they are prepared.
    pub fn kinds(&self) -> Vec<Kind> {
        let types = (0..self.types.len() as u32).map(|t| Kind::Single(TypeId(t)));
        let templates = (0..self.templates.len() as u32).flat_map(|t| [Kind::Cell(t), Kind::Template(t)]);
        std::iter::once(Kind::Transfers).chain(types).chain(templates).collect()
    }

    /// The number of pieces of a kind to keep ready.
    pub fn wanted(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Transfers => self.library.input_bits().div_ceil(OTS_PER_PIECE),
            Kind::Single(ty) => self.library.component_type(ty).count,
            Kind::Template(t) => self.library.templates()[t as usize].count,
            Kind::Cell(t) => self.library.templates()[t as usize].count * self.cells(t),
        }
    }

    /// Cells of a template.
    pub(crate) fn cells(&self, template: u32) -> u64 {
        self.templates[template as usize].cells.len() as u64
    }

    /// Tells whether cells of a template can be used alone.
    pub(crate) fn is_severable(&self, template: u32) -> bool {
        self.library.templates()[template as usize].is_severable()
    }

    /// Templates with cells of a type that can be used alone.
    pub(crate) fn severable_with(&self, ty: TypeId) -> impl Iterator<Item = u32> + '_ {
        let templates = (0..).zip(self.library.templates());
        templates.filter(move |(_, t)| t.is_severable() && t.cells().contains(&ty)).map(|(number, _)| number)
    }

    /// The type of the component at a place.
    pub(crate) fn type_at(&self, place: Place) -> TypeId {
        match place.kind {
            Kind::Single(ty) => ty,
            Kind::Cell(t) => self.library.templates()[t as usize].cells()[self.cell_of(t, place.id)],
            Kind::Transfers | Kind::Template(_) => unreachable!("a place is a component's"),
        }
    }

    /// The numbers of the gates of the component at a place.
    pub(crate) fn numbered(&self, place: Place) -> Numbered {
        match place.kind {
            Kind::Single(ty) => Numbered { base: u64::from(ty.0) * GATES_PER_KIND, k: place.id },
            Kind::Cell(t) => {
                let layout = &self.templates[t as usize];
                let cell = layout.cells[self.cell_of(t, place.id)];
                let first = (self.types.len() as u64 + u64::from(t)) * GATES_PER_KIND;
                Numbered { base: first + place.id / self.cells(t) * layout.gates + cell.base, k: cell.k }
            }
            Kind::Transfers | Kind::Template(_) => unreachable!("a place is a component's"),
        }
    }

    /// The largest number of pieces of a kind that can ever be made without overlapping gate numbers.
    pub(crate) fn most(&self, kind: Kind) -> u64 {
        let gates = match kind {
            Kind::Single(ty) => self.instances(ty).numbering().gates(1),
            Kind::Template(t) | Kind::Cell(t) => self.templates[t as usize].gates,
            Kind::Transfers => 1,
        };
        let pieces = (GATES_PER_KIND / gates.max(1)).min(1 << 40);
        if let Kind::Cell(t) = kind { pieces * self.cells(t) } else { pieces }
    }

    /// The position of the input labels of the component at a place in the stream of its kind.
    pub(crate) fn input_stream(&self, place: Place) -> u64 {
        match place.kind {
            Kind::Single(ty) => place.id * self.instances(ty).input_count() as u64,
            Kind::Cell(t) => {
                let layout = &self.templates[t as usize];
                place.id / self.cells(t) * layout.input_wires + layout.inputs[self.cell_of(t, place.id)]
            }
            Kind::Transfers | Kind::Template(_) => unreachable!("a place is a component's"),
        }
    }

    /// Tells whether the input labels of one component directly follow those of the other in their stream.
    pub(crate) fn is_behind(&self, one: Place, other: Place) -> bool {
        let end = || self.input_stream(one) + self.instances(self.type_at(one)).input_count() as u64;
        one.kind == other.kind && self.input_stream(other) == end()
    }

    /// Blocks of keyed links that a component at a place carries.
    pub(crate) fn keyed_blocks(&self, place: Place) -> u64 {
        match place.kind {
            Kind::Single(ty) => self.library.keyed_from(ty).map(|(_, keyed)| keyed.blocks(place.id)).sum(),
            _ => 0,
        }
    }

    /// The index at which the blocks of a candidate of a keyed link begin among those that its source carries.
    pub(crate) fn keyed_offset(&self, number: usize, source: u64, candidate: u32) -> usize {
        let keyed = &self.library.keyed()[number];
        let before = self.library.keyed_from(keyed.from).filter(|(other, _)| *other < number);
        let before: u64 = before.map(|(_, keyed)| keyed.blocks(source)).sum();
        (before + u64::from(candidate) * u64::from(keyed.source.len)) as usize
    }

    /// Bytes of a piece at the evaluator.
    pub fn evaluator_bytes(&self, kind: Kind, id: u64) -> usize {
        match kind {
            Kind::Transfers => OTS_PER_PIECE as usize * 16 + OTS_PER_PIECE as usize / 8,
            Kind::Template(t) => 16 * self.library.templates()[t as usize].blocks(),
            Kind::Single(_) | Kind::Cell(_) => {
                let place = Place { kind, id };
                self.instances(self.type_at(place)).table_bytes() + 16 * self.keyed_blocks(place) as usize
            }
        }
    }

    /// Bytes of a piece at the garbler, which derives everything else from a seed.
    pub fn garbler_bytes(&self, kind: Kind, id: u64) -> usize {
        match kind {
            Kind::Transfers => OTS_PER_PIECE as usize * 16,
            Kind::Template(_) => 0,
            Kind::Single(_) | Kind::Cell(_) => 16 * self.instances(self.type_at(Place { kind, id })).output_count(),
        }
    }

    /// A kind's name, for users.
    pub fn name(&self, kind: Kind) -> String {
        let template = |t: u32| &self.library.templates()[t as usize].name;
        match kind {
            Kind::Transfers => "oblivious transfers".into(),
            Kind::Single(ty) => format!("component {}", self.library.component_type(ty).name),
            Kind::Template(t) => format!("template {}", template(t)),
            Kind::Cell(t) => format!("cell of {}", template(t)),
        }
    }

    pub(crate) fn cell_of(&self, template: u32, id: u64) -> usize {
        (id % self.cells(template)) as usize
    }
}

impl TemplateLayout {
    fn new(cells: &[TypeId], types: &[ComponentGarbling]) -> Self {
        let mut counts: BTreeMap<TypeId, u64> = BTreeMap::new();
        cells.iter().for_each(|ty| *counts.entry(*ty).or_default() += 1);
        let mut bases = BTreeMap::new();
        let mut gates = 0;
        for (ty, count) in &counts {
            bases.insert(*ty, gates);
            gates += types[ty.0 as usize].numbering().gates(*count);
        }
        let mut next: BTreeMap<TypeId, u64> = BTreeMap::new();
        let numbered = |ty: &TypeId| {
            let k = next.entry(*ty).or_default();
            *k += 1;
            Numbered { base: bases[ty], k: *k - 1 }
        };
        let numbered = cells.iter().map(numbered).collect();
        let mut input_wires = 0;
        let begin = |ty: &TypeId| {
            let start = input_wires;
            input_wires += types[ty.0 as usize].input_count() as u64;
            start
        };
        let inputs = cells.iter().map(begin).collect();
        TemplateLayout { cells: numbered, gates, inputs, input_wires }
    }
}
