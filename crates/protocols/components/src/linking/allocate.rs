//! The allocation of prepared components to the instances of a program.
//!
//! A function of the program, the library and the contents of both stores, so both parties get the same result and nothing
//! about it is sent.

use garblet_protocol::error::Missing;
use std::collections::BTreeMap;

use garblet_circuit::InstanceId;

use crate::config::Linking;
use crate::library::template::Part;
use crate::library::{Side, TypeId};
use crate::linking::matching::{self, Cells, Found};
use crate::linking::wiring::Wiring;
use crate::pieces::material::{Material, Place};
use crate::pieces::stock::{Kind, Stock};

/// The number of unused components that are looked at to find one whose likely partner is unused too.
const LOOK_AHEAD: usize = 64;

/// A template that a program uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// Number of the template in the library.
    pub(crate) template: u32,
    /// Number of the piece.
    pub(crate) id: u64,
    pub(crate) part: Part,
    /// The instance that each cell becomes, if any.
    cells: Vec<Option<InstanceId>>,
}

impl Use {
    fn new(template: u32, id: u64, cell_count: usize, found: &Found) -> Self {
        let mut cells = vec![None; cell_count];
        for (cell, instance) in &found.cells {
            cells[*cell as usize] = Some(*instance);
        }
        Use { template, id, part: found.part, cells }
    }

    /// The instance that a cell becomes.
    pub(crate) fn instance(&self, cell: u32) -> Option<InstanceId> {
        self.cells.get(cell as usize).copied().flatten()
    }
}

/// The pieces that a program takes from the stores.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allocation {
    /// The place of each instance.
    pub(crate) places: Vec<Place>,
    pub(crate) uses: Vec<Use>,
    /// Templates that are given up for their cells: their links are never opened.
    pub(crate) broken: Vec<(u32, u64)>,
}

/// Chooses a component for every instance, or reports what is missing.
///
/// *Shape*: `order` is the order in which instances are served that no prepared link speaks for.
pub(crate) fn allocate(
    material: &Material,
    wiring: &Wiring<'_>,
    linking: Linking,
    stock: Stock,
    order: &[InstanceId],
) -> Result<Allocation, Vec<(TypeId, Missing)>> {
    let mut allocator = Allocator::new(material, wiring, linking, stock);
    if linking == Linking::Cheapest {
        allocator.templates();
    }
    for instance in order {
        allocator.serve(*instance);
    }
    allocator.finish()
}

struct Allocator<'a, 'p> {
    material: &'a Material,
    wiring: &'a Wiring<'p>,
    linking: Linking,
    stock: Stock,
    places: Vec<Option<Place>>,
    uses: Vec<Use>,
    broken: Vec<(u32, u64)>,
    /// Cells of templates that were used or given up before, by type, the next last; looked for when one is needed.
    spare: Option<BTreeMap<TypeId, Vec<Place>>>,
    /// The instances that each instance feeds, by keyed link.
    fed: BTreeMap<usize, BTreeMap<InstanceId, Vec<InstanceId>>>,
    missing: BTreeMap<TypeId, u64>,
}

impl<'a, 'p> Allocator<'a, 'p> {
    fn new(material: &'a Material, wiring: &'a Wiring<'p>, linking: Linking, stock: Stock) -> Self {
        Allocator {
            material,
            wiring,
            linking,
            stock,
            places: vec![None; wiring.instances().count()],
            uses: Vec::new(),
            broken: Vec::new(),
            spare: None,
            fed: if linking == Linking::Standard { BTreeMap::new() } else { keyed_neighbours(material, wiring) },
            missing: BTreeMap::new(),
        }
    }

    /// Finds templates, those that the library names first being preferred.
    fn templates(&mut self) {
        let mut taken = Cells::none(self.wiring);
        for (number, template) in (0u32..).zip(self.material.library().templates()) {
            let cells = self.material.cells(number);
            let (stock, uses, places) = (&mut self.stock, &mut self.uses, &mut self.places);
            matching::find_all(self.wiring, template, &mut taken, |found: &Found| {
                let whole = |id: &u64| {
                    found.cells.iter().all(|(c, _)| stock.contains(Kind::Cell(number), id * cells + u64::from(*c)))
                };
                let Some(id) = stock.of(Kind::Template(number)).and_then(|ids| ids.iter().find(whole)) else {
                    return false;
                };
                stock.take(Kind::Template(number), id);
                for (cell, instance) in &found.cells {
                    let place = Place { kind: Kind::Cell(number), id: id * cells + u64::from(*cell) };
                    stock.take(place.kind, place.id);
                    places[instance.0 as usize] = Some(place);
                }
                uses.push(Use::new(number, id, template.cells().len(), found));
                true
            });
        }
    }

    /// Cells whose template is gone.
    fn spare(&mut self) -> &mut BTreeMap<TypeId, Vec<Place>> {
        let (material, stock) = (self.material, &self.stock);
        self.spare.get_or_insert_with(|| {
            let mut spare: BTreeMap<TypeId, Vec<Place>> = BTreeMap::new();
            let severable = (0..material.library().templates().len() as u32).filter(|t| material.is_severable(*t));
            for number in severable {
                for id in stock.without_template(number, material.cells(number)) {
                    let place = Place { kind: Kind::Cell(number), id };
                    spare.entry(material.type_at(place)).or_default().push(place);
                }
            }
            spare.values_mut().for_each(|places| places.reverse());
            spare
        })
    }

    /// Finds a component for an instance, and along keyed links for those that it feeds.
    fn serve(&mut self, instance: InstanceId) {
        if self.places[instance.0 as usize].is_some() {
            return;
        }
        let ty = self.wiring.type_of(instance);
        let Some(place) = self.next_of(ty) else {
            *self.missing.entry(ty).or_default() += 1;
            return;
        };
        self.places[instance.0 as usize] = Some(place);
        let mut pending = vec![(instance, place)];
        while let Some((source, place)) = pending.pop() {
            if matches!(place.kind, Kind::Single(_)) {
                self.serve_partners(source, place.id, &mut pending);
            }
        }
    }

    fn serve_partners(&mut self, source: InstanceId, id: u64, pending: &mut Vec<(InstanceId, Place)>) {
        for (number, keyed) in self.material.library().keyed_from(self.wiring.type_of(source)) {
            let Some(first) = keyed.first_candidate(id) else { continue };
            let targets = self.fed.get(&number).and_then(|fed| fed.get(&source)).cloned().unwrap_or_default();
            for target in targets {
                if self.places[target.0 as usize].is_some() {
                    continue;
                }
                let kind = Kind::Single(keyed.to);
                let mut candidates = first..first.saturating_add(keyed.window.into());
                if let Some(id) = candidates.find(|id| self.stock.take(kind, *id)) {
                    let place = Place { kind, id };
                    self.places[target.0 as usize] = Some(place);
                    pending.push((target, place));
                }
            }
        }
    }

    /// The next component of a type: a single one, a spare cell, or a cell of a template that is given up.
    fn next_of(&mut self, ty: TypeId) -> Option<Place> {
        let kind = Kind::Single(ty);
        if let Some(id) = self.next_single(ty) {
            self.stock.take(kind, id);
            return Some(Place { kind, id });
        }
        loop {
            while let Some(place) = self.spare().get_mut(&ty).and_then(Vec::pop) {
                if self.stock.take(place.kind, place.id) {
                    return Some(place);
                }
            }
            let mut templates = self.material.severable_with(ty);
            let (template, id) = templates.find_map(|t| Some((t, self.stock.first(Kind::Template(t))?)))?;
            self.give_up(template, id);
        }
    }

    /// The first single component of a type; one whose likely partner is unused, if there is one nearby.
    fn next_single(&self, ty: TypeId) -> Option<u64> {
        let ids = self.stock.of(Kind::Single(ty))?;
        let mut links =
            self.material.library().keyed_from(ty).map(|(_, keyed)| keyed).filter(|k| k.side == Side::Output);
        let first = ids.iter().next();
        match links.next() {
            Some(keyed) if self.linking != Linking::Standard => {
                let partner = |id: &u64| match keyed.first_candidate(*id) {
                    Some(candidate) => self.stock.contains(Kind::Single(keyed.to), candidate),
                    None => true,
                };
                ids.iter().take(LOOK_AHEAD).find(partner).or(first)
            }
            _ => first,
        }
    }

    fn give_up(&mut self, template: u32, id: u64) {
        self.stock.take(Kind::Template(template), id);
        self.broken.push((template, id));
        let cells = self.material.cells(template);
        for id in (id * cells..(id + 1) * cells).rev() {
            if self.stock.contains(Kind::Cell(template), id) {
                let place = Place { kind: Kind::Cell(template), id };
                let ty = self.material.type_at(place);
                self.spare().entry(ty).or_default().push(place);
            }
        }
    }

    fn finish(self) -> Result<Allocation, Vec<(TypeId, Missing)>> {
        if !self.missing.is_empty() {
            let of_type = |ty: TypeId| self.wiring.instances().filter(|i| self.wiring.type_of(*i) == ty).count() as u64;
            let missing = self.missing.iter().map(|(&ty, &missing)| {
                let name = self.material.library().component_type(ty).name.clone();
                (ty, Missing { name, needed: of_type(ty), missing })
            });
            return Err(missing.collect());
        }
        let places = self.places.into_iter().flatten().collect();
        Ok(Allocation { places, uses: self.uses, broken: self.broken })
    }
}

/// The instances that each instance feeds, by keyed link.
fn keyed_neighbours(
    material: &Material,
    wiring: &Wiring<'_>,
) -> BTreeMap<usize, BTreeMap<InstanceId, Vec<InstanceId>>> {
    let mut all: BTreeMap<usize, BTreeMap<InstanceId, Vec<InstanceId>>> = BTreeMap::new();
    for (number, keyed) in material.library().keyed().iter().enumerate() {
        if keyed.side == Side::Input {
            continue;
        }
        for target in wiring.instances().filter(|i| wiring.type_of(*i) == keyed.to) {
            if let Some(source) = wiring.fed_by(target, keyed.target, keyed.from, keyed.source) {
                all.entry(number).or_default().entry(source).or_default().push(target);
            }
        }
    }
    all
}
