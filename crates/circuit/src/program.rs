//! Programs: components joined by links, with owned inputs and outputs for named recipients.

use std::{collections::HashSet, sync::Arc};

use crate::{
    component::Component, diagnostic::Diagnostic, error::CircuitError, gate::GateCounts, notes::Notes, types::Port,
};

/// A party of the computation, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Party(pub u16);

impl std::fmt::Display for Party {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Number of a component type within a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(pub u32);

/// Number of an instance of a component within a [`Program`]. Links only read earlier instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(pub u32);

/// Number of an input port of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputId(pub u32);

/// The origin of linked wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// An input of the program.
    Input(InputId),
    /// The outputs of an instance, all its output ports one after another.
    Instance(InstanceId),
    /// A constant, repeated as often as needed.
    Constant(bool),
}

/// A link: `len` consecutive wires of `source`, from wire `start` on.
///
/// The links into an instance, concatenated, feed all its input ports; the links of an output make up that output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The source that the wires come from.
    pub source: Source,
    /// First wire, counted within the source. Meaningless for constants.
    pub start: u32,
    /// The number of wires.
    pub len: u32,
}

/// The parties that learn an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Recipients {
    /// Every party.
    All,
    /// These parties, in ascending order.
    Only(Vec<Party>),
}

impl Recipients {
    /// Returns whether a party learns the output.
    pub fn contains(&self, party: Party) -> bool {
        match self {
            Recipients::All => true,
            Recipients::Only(parties) => parties.contains(&party),
        }
    }
}

/// An input port of a program and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Name and type.
    pub port: Port,
    /// The party that gives the value.
    pub owner: Party,
}

/// An output port of a program, its recipients, and the links that make it up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Name and type.
    pub port: Port,
    /// The parties that learn the value.
    pub recipients: Recipients,
    /// The wires of the port.
    pub links: Vec<Link>,
}

/// Components joined by links: what every front end makes and every protocol consumes.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    components: Vec<Arc<Component>>,
    inputs: Vec<Input>,
    instances: Vec<Instance>,
    links: Vec<PackedLink>,
    outputs: Vec<Output>,
    /// The names of inputs and outputs, each with its side.
    names: HashSet<(&'static str, String)>,
    notes: Notes,
}

/// A [`Link`] in three quarters of its space: programs have millions. The upper two bits of `source` hold its kind.
#[derive(Clone, Copy, Debug)]
struct PackedLink {
    source: u32,
    start: u32,
    len: u32,
}

/// The most inputs, and the most instances, that a program may have.
const MAX_SOURCES: usize = 1 << 30;

impl PackedLink {
    fn new(link: &Link) -> Self {
        let source = match link.source {
            Source::Constant(value) => u32::from(value),
            Source::Input(InputId(id)) => 1 << 30 | id,
            Source::Instance(InstanceId(id)) => 2 << 30 | id,
        };
        PackedLink { source, start: link.start, len: link.len }
    }

    fn unpack(self) -> Link {
        let id = self.source & (MAX_SOURCES as u32 - 1);
        let source = match self.source >> 30 {
            0 => Source::Constant(id == 1),
            1 => Source::Input(InputId(id)),
            _ => Source::Instance(InstanceId(id)),
        };
        Link { source, start: self.start, len: self.len }
    }
}

/// An instance's component and the end of its links, which begin where the links of the previous instance end.
#[derive(Clone, Copy, Debug)]
struct Instance {
    component: ComponentId,
    links_end: u32,
}

impl Program {
    /// An empty program.
    pub fn new(name: impl Into<String>) -> Self {
        Program {
            name: name.into(),
            components: Vec::new(),
            inputs: Vec::new(),
            instances: Vec::new(),
            links: Vec::new(),
            outputs: Vec::new(),
            names: HashSet::new(),
            notes: Notes::default(),
        }
    }

    /// A program of a single instance of a component: input port `k` belongs to party `owners[k]`, and everybody learns
    /// every output.
    ///
    /// *Errors*: as [`Program::add_input`] and the other steps.
    pub fn from_component(component: Component, owners: &[Party]) -> Result<Self, CircuitError> {
        let mut program = Program::new(component.name());
        let mut links = Vec::new();
        for (k, port) in component.inputs().iter().enumerate() {
            let owner = owners.get(k).copied().unwrap_or(Party(k as u16));
            let input = program.add_input(port.clone(), owner)?;
            links.push(program.input_link(input));
        }
        let ports = component.outputs().to_vec();
        let id = program.add_component(component);
        let instance = program.add_instance(id, &links)?;
        let mut start = 0;
        for port in ports {
            let link = Link { source: Source::Instance(instance), start, len: port.width() };
            start += port.width();
            program.add_output(port, Recipients::All, vec![link])?;
        }
        Ok(program)
    }

    /// Adds a component type, which may be instantiated any number of times.
    pub fn add_component(&mut self, component: impl Into<Arc<Component>>) -> ComponentId {
        self.components.push(component.into());
        ComponentId(self.components.len() as u32 - 1)
    }

    /// Adds an input port that belongs to `owner`.
    ///
    /// *Errors*: a name that is taken, or too many inputs.
    pub fn add_input(&mut self, port: Port, owner: Party) -> Result<InputId, CircuitError> {
        self.check_count("inputs", self.inputs.len() + 1, MAX_SOURCES)?;
        self.take_name("input", &port.name)?;
        self.inputs.push(Input { port, owner });
        Ok(InputId(self.inputs.len() as u32 - 1))
    }

    /// Adds an instance of a component, fed by these links.
    ///
    /// *Errors*: a component or a source that does not exist yet, a range outside its source, a wrong total width, or too
    /// many instances.
    pub fn add_instance(&mut self, component: ComponentId, links: &[Link]) -> Result<InstanceId, CircuitError> {
        let target = || format!("instance {} of `{}`", self.instances.len(), self.name);
        let Some(body) = self.components.get(component.0 as usize) else {
            return Err(CircuitError::NoSuchSource {
                target: target(),
                what: "component",
                index: component.0,
                count: self.components.len(),
            });
        };
        self.check_links(&target, links, body.input_width())?;
        self.check_count("instances", self.instances.len() + 1, MAX_SOURCES)?;
        self.check_count("links", self.links.len() + links.len(), u32::MAX as usize)?;
        self.links.extend(links.iter().map(PackedLink::new));
        self.instances.push(Instance { component, links_end: self.links.len() as u32 });
        Ok(InstanceId(self.instances.len() as u32 - 1))
    }

    /// Adds an output port made of these links.
    ///
    /// *Errors*: a name that is taken, or links as in [`Program::add_instance`].
    pub fn add_output(&mut self, port: Port, recipients: Recipients, links: Vec<Link>) -> Result<(), CircuitError> {
        self.check_links(&|| format!("output `{}` of `{}`", port.name, self.name), &links, port.width())?;
        self.take_name("output", &port.name)?;
        self.outputs.push(Output { port, recipients, links });
        Ok(())
    }

    /// All wires of an input as one link.
    pub fn input_link(&self, input: InputId) -> Link {
        Link { source: Source::Input(input), start: 0, len: self.inputs[input.0 as usize].port.width() }
    }

    /// All outputs of an instance as one link.
    pub fn instance_link(&self, instance: InstanceId) -> Link {
        Link { source: Source::Instance(instance), start: 0, len: self.component_of(instance).output_width() }
    }

    /// The program's name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The front end's knowledge of the program.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Sets the front end's knowledge of the program.
    pub fn set_notes(&mut self, notes: Notes) {
        self.notes = notes;
    }

    /// Component types.
    pub fn components(&self) -> &[Arc<Component>] {
        &self.components
    }

    /// Input ports.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Transfers an input to another party.
    pub fn set_owner(&mut self, input: InputId, owner: Party) {
        self.inputs[input.0 as usize].owner = owner;
    }

    /// Output ports.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Changes the recipients of output number `output`.
    pub fn set_recipients(&mut self, output: usize, recipients: Recipients) {
        self.outputs[output].recipients = recipients;
    }

    /// Replaces the wires of output number `output` with the same number of others.
    pub(crate) fn relink(&mut self, output: usize, wires: Link) {
        self.outputs[output].links = vec![wires];
    }

    /// The program with all gates in memory: the same one if they are.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn whole(self: &Arc<Self>) -> Result<Arc<Program>, Diagnostic> {
        if self.components.iter().all(|component| component.circuit().stored_gates().is_none()) {
            return Ok(self.clone());
        }
        let mut program = Program::clone(self);
        for component in &mut program.components {
            if component.circuit().stored_gates().is_some() {
                *component = Arc::new(component.whole()?);
            }
        }
        Ok(Arc::new(program))
    }

    /// The number of instances.
    pub fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// The component number of an instance.
    pub fn component_id(&self, instance: InstanceId) -> ComponentId {
        self.instances[instance.0 as usize].component
    }

    /// The component of an instance.
    pub fn component_of(&self, instance: InstanceId) -> &Component {
        &self.components[self.component_id(instance).0 as usize]
    }

    /// The links into an instance.
    pub fn instance_links(&self, instance: InstanceId) -> impl ExactSizeIterator<Item = Link> + Clone + '_ {
        let at = instance.0 as usize;
        let begin = if at == 0 { 0 } else { self.instances[at - 1].links_end };
        self.links[begin as usize..self.instances[at].links_end as usize].iter().map(|link| link.unpack())
    }

    /// The number of parties in the program: one more than the highest party number, and at least two.
    pub fn party_count(&self) -> u16 {
        let owners = self.inputs.iter().map(|i| i.owner);
        let recipients = self.outputs.iter().flat_map(|o| match &o.recipients {
            Recipients::All => &[][..],
            Recipients::Only(parties) => parties,
        });
        owners.chain(recipients.copied()).map(|p| p.0 + 1).max().unwrap_or(0).max(2)
    }

    /// Gate counts of all instances together; the depth stays 0.
    pub fn counts(&self) -> GateCounts {
        let each: Vec<GateCounts> = self.components.iter().map(|c| c.circuit().counts()).collect();
        let mut total = GateCounts::default();
        for instance in &self.instances {
            let own = each[instance.component.0 as usize];
            total.and += own.and;
            total.xor += own.xor;
            total.not += own.not;
        }
        total
    }

    fn take_name(&mut self, side: &'static str, name: &str) -> Result<(), CircuitError> {
        match self.names.insert((side, name.into())) {
            true => Ok(()),
            false => Err(CircuitError::DuplicatePort { component: self.name.clone(), side, port: name.into() }),
        }
    }

    /// Checks that the program may have `count` items of a kind.
    fn check_count(&self, what: &'static str, count: usize, limit: usize) -> Result<(), CircuitError> {
        match count <= limit {
            true => Ok(()),
            false => Err(CircuitError::TooMany { program: self.name.clone(), what, limit }),
        }
    }

    fn check_links(&self, target: &dyn Fn() -> String, links: &[Link], expected: u32) -> Result<(), CircuitError> {
        let missing = |what, index, count| CircuitError::NoSuchSource { target: target(), what, index, count };
        let mut got = 0u64;
        for link in links {
            let end = u64::from(link.start) + u64::from(link.len);
            let width = match link.source {
                Source::Constant(_) => u64::MAX,
                Source::Input(i) => match self.inputs.get(i.0 as usize) {
                    Some(input) => input.port.width().into(),
                    None => return Err(missing("input", i.0, self.inputs.len())),
                },
                Source::Instance(i) => match self.instances.get(i.0 as usize) {
                    Some(_) => self.component_of(i).output_width().into(),
                    None => return Err(missing("instance", i.0, self.instances.len())),
                },
            };
            if end > width {
                let from = match link.source {
                    Source::Input(i) => format!("input `{}`", self.inputs[i.0 as usize].port.name),
                    Source::Instance(i) => format!("instance {}", i.0),
                    Source::Constant(_) => "a constant".into(),
                };
                return Err(CircuitError::LinkOutOfRange {
                    target: target(),
                    from,
                    start: link.start.into(),
                    end,
                    width,
                });
            }
            got += u64::from(link.len);
        }
        match got == u64::from(expected) {
            true => Ok(()),
            false => Err(CircuitError::LinkWidth { target: target(), got, expected: expected.into() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_links_are_unpacked_as_they_were() {
        let last = MAX_SOURCES as u32 - 1;
        let sources = [Source::Constant(false), Source::Constant(true), Source::Input(InputId(0))];
        let others =
            [Source::Input(InputId(last)), Source::Instance(InstanceId(0)), Source::Instance(InstanceId(last))];
        for source in sources.into_iter().chain(others) {
            for (start, len) in [(0, 0), (7, 9), (u32::MAX, u32::MAX)] {
                let link = Link { source, start, len };
                assert_eq!(PackedLink::new(&link).unpack(), link);
            }
        }
    }

    #[test]
    fn more_than_can_be_numbered_is_refused() {
        let program = Program::new("large");
        assert!(program.check_count("instances", MAX_SOURCES, MAX_SOURCES).is_ok());
        let error = program.check_count("instances", MAX_SOURCES + 1, MAX_SOURCES).unwrap_err();
        assert_eq!(error.to_string(), "program `large` has too many instances, the limit is 1073741824");
    }
}
