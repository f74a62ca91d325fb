//! Libraries: which components are prepared, how many, and how they are likely to be linked.

pub(crate) mod file;
pub(crate) mod template;

use std::sync::Arc;

use garblet_circuit::{Component, InstanceId, Port, Program};

use crate::library::template::Template;

/// Correlated OTs in a piece.
pub(crate) const OTS_PER_PIECE: u64 = 64;

/// A type of component in a [`Library`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

/// A component that is prepared.
#[derive(Clone, Debug)]
pub struct ComponentType {
    /// Its name in the library.
    pub name: String,
    /// The circuit and its ports.
    pub component: Arc<Component>,
    /// The number kept ready, those in templates apart.
    pub count: u64,
    digest: [u8; 32],
}

/// Consecutive wires of one side of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wires {
    /// First wire.
    pub start: u32,
    /// The number of wires.
    pub len: u32,
}

impl Wires {
    /// The wires of port number `port`.
    pub(crate) fn of_port(ports: &[Port], port: usize) -> Self {
        let start = ports[..port].iter().map(Port::width).sum();
        Wires { start, len: ports[port].width() }
    }
}

/// A side of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Its outputs.
    Output,
    /// Its inputs, whose feeding wires also feed others.
    Input,
}

/// Links that are prepared from every instance of a type to likely partners, each under a key of its own.
///
/// The instances of a type are numbered. Every `every[0]`-th instance of `from` has `window` candidates, of which the first
/// is number `k every[1] + offset`, where `k` counts these instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyedLink {
    /// The type whose wires are linked.
    pub from: TypeId,
    /// The side that the wires are on.
    pub side: Side,
    /// The wires that are linked.
    pub source: Wires,
    /// The type whose inputs are fed.
    pub to: TypeId,
    /// The fed inputs; as many as `source`.
    pub target: Wires,
    /// The number of candidates.
    pub window: u32,
    /// The steps by which the numbers of the two types advance.
    pub every: [u32; 2],
    /// The place where the candidates of the first instance begin.
    pub offset: u32,
}

impl KeyedLink {
    /// The candidates of instance `source`: the first one's number.
    pub(crate) fn first_candidate(&self, source: u64) -> Option<u64> {
        let [from, to] = self.every.map(u64::from);
        let turn = source.checked_add(1)?;
        turn.is_multiple_of(from).then(|| (turn / from - 1) * to + u64::from(self.offset))
    }

    /// The number of instance `target` among the candidates of `source`.
    pub(crate) fn candidate(&self, source: u64, target: u64) -> Option<u32> {
        let at = target.checked_sub(self.first_candidate(source)?)?;
        u32::try_from(at).ok().filter(|at| *at < self.window)
    }

    /// Blocks that instance `source` of `from` carries for this link.
    pub fn blocks(&self, source: u64) -> u64 {
        match self.first_candidate(source) {
            Some(_) => u64::from(self.window) * u64::from(self.source.len),
            None => 0,
        }
    }
}

/// The components and links that two parties prepare before they know a function.
#[derive(Clone, Debug, Default)]
pub struct Library {
    types: Vec<ComponentType>,
    templates: Vec<Template>,
    keyed: Vec<KeyedLink>,
    input_bits: u64,
}

impl Library {
    /// An empty library.
    pub fn new() -> Self {
        Library::default()
    }

    /// The library that one run of a program needs, all linked by standard links.
    pub fn of_program(program: &Program) -> Self {
        let mut library = Library::new();
        let of = |component: &Arc<Component>, library: &mut Library| match library.find(component) {
            Some(id) => id,
            None => library.add_type(component.name(), component.clone(), 0),
        };
        let ids: Vec<TypeId> = program.components().iter().map(|c| of(c, &mut library)).collect();
        for instance in (0..program.instance_count() as u32).map(InstanceId) {
            library.types[ids[program.component_id(instance).0 as usize].0 as usize].count += 1;
        }
        let inputs = program.inputs().iter().filter(|input| input.owner == crate::EVALUATOR);
        library.input_bits = inputs.map(|input| u64::from(input.port.width())).sum();
        library
    }

    /// Adds a type.
    pub fn add_type(&mut self, name: impl Into<String>, component: Arc<Component>, count: u64) -> TypeId {
        let digest = component.digest();
        self.types.push(ComponentType { name: name.into(), component, count, digest });
        TypeId(self.types.len() as u32 - 1)
    }

    /// Adds a template. Templates that were added first are preferred.
    pub fn add_template(&mut self, template: Template) {
        self.templates.push(template);
    }

    /// Adds keyed links.
    pub fn add_keyed(&mut self, keyed: KeyedLink) {
        self.keyed.push(keyed);
    }

    /// Sets for how many input bits of the evaluator oblivious transfers are kept ready.
    pub fn set_input_bits(&mut self, bits: u64) {
        self.input_bits = bits;
    }

    /// Sets how many of a type, by name, or for how many [`INPUTS`](crate::INPUTS) are kept ready. Whether there is such a type.
    pub(crate) fn set_count(&mut self, name: &str, count: u64) -> bool {
        if name == crate::INPUTS {
            self.input_bits = count;
            return true;
        }
        let named = self.types.iter_mut().find(|ty| ty.name == name);
        named.map(|ty| ty.count = count).is_some()
    }

    /// A hash of the number of pieces of each kind that are kept ready, as both parties compare it.
    pub fn counts(&self) -> String {
        let mut hash = blake3::Hasher::new();
        let mut count = |count: u64| {
            hash.update(&count.to_le_bytes());
        };
        count(self.input_bits.div_ceil(OTS_PER_PIECE));
        self.types.iter().for_each(|ty| count(ty.count));
        for template in &self.templates {
            count(template.count * template.cells().len() as u64);
            count(template.count);
        }
        hash.finalize().to_hex()[..16].into()
    }

    /// The types.
    pub fn types(&self) -> &[ComponentType] {
        &self.types
    }

    /// A type.
    pub(crate) fn component_type(&self, id: TypeId) -> &ComponentType {
        &self.types[id.0 as usize]
    }

    /// The templates.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// The keyed links.
    pub fn keyed(&self) -> &[KeyedLink] {
        &self.keyed
    }

    /// AND gates of everything that is kept ready.
    pub(crate) fn and_count(&self) -> u64 {
        let of = |ty: &ComponentType| ty.component.stats().and;
        let single = self.types.iter().map(|ty| ty.count.saturating_mul(of(ty)));
        let cells = |template: &Template| template.cells().iter().map(|ty| of(&self.types[ty.0 as usize])).sum();
        let templates = self.templates.iter().map(|template| template.count.saturating_mul(cells(template)));
        single.chain(templates).fold(0, u64::saturating_add)
    }

    /// The keyed links from a type.
    pub(crate) fn keyed_from(&self, from: TypeId) -> impl Iterator<Item = (usize, &KeyedLink)> {
        self.keyed.iter().enumerate().filter(move |(_, keyed)| keyed.from == from)
    }

    /// Input bits of the evaluator for which oblivious transfers are kept ready.
    pub fn input_bits(&self) -> u64 {
        self.input_bits
    }

    /// The type that is that component: ports and gates, not the name.
    pub fn find(&self, component: &Component) -> Option<TypeId> {
        let digest = component.digest();
        self.types.iter().position(|t| t.digest == digest).map(|at| TypeId(at as u32))
    }

    /// A hash of everything that prepared material depends on: types, templates and keyed links with their names, but not
    /// how many of each are kept.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("garblet 2026 component library v1");
        let number = |hash: &mut blake3::Hasher, n: u32| {
            hash.update(&n.to_le_bytes());
        };
        number(&mut hash, self.types.len() as u32);
        let name = |hash: &mut blake3::Hasher, name: &str| {
            hash.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        };
        for ty in &self.types {
            name(&mut hash, &ty.name);
            hash.update(&ty.digest);
        }
        number(&mut hash, self.templates.len() as u32);
        for template in &self.templates {
            name(&mut hash, &template.name);
            hash.update(&template.digest());
        }
        number(&mut hash, self.keyed.len() as u32);
        for keyed in &self.keyed {
            let side = u32::from(keyed.side == Side::Input);
            let [source, target] = [keyed.source, keyed.target].map(|w| [w.start, w.len]);
            let all =
                [[keyed.from.0, keyed.to.0], [side, keyed.window], source, target, keyed.every, [keyed.offset, 0]];
            all.as_flattened().iter().for_each(|n| number(&mut hash, *n));
        }
        hash.finalize().into()
    }
}
