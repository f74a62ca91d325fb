//! The picture as boxes and lines, without places.

use std::collections::BTreeMap;

use garblet_circuit::{InstanceId, Link, Program, Recipients, Source};

/// The most instances that get a box each.
const MAX_BOXES: usize = 60;

/// The most characters of a name in a box.
const MAX_NAME_CHARS: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Input,
    Constant,
    Instance,
    Output,
}

pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) title: String,
    pub(super) note: String,
}

/// Boxes, and lines between them as `(from, to)` with their number of wires. A box comes after those that feed it,
/// except where one stands for many instances.
pub(super) struct Picture {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: BTreeMap<(usize, usize), u64>,
}

impl Picture {
    pub(super) fn new(program: &Program) -> Self {
        let mut picture = Picture { nodes: Vec::new(), edges: BTreeMap::new() };
        for input in program.inputs() {
            let note = format!("{} of party {}", clip(&input.port.ty.to_string()), input.owner);
            picture.add(Kind::Input, clip(&input.port.name), note);
        }
        let boxes = picture.instances(program);
        let constant = picture.add(Kind::Constant, "constants".into(), String::new());
        let node = |source| match source {
            Source::Input(id) => id.0 as usize,
            Source::Instance(id) => boxes[id.0 as usize],
            Source::Constant(_) => constant,
        };
        for (k, &target) in boxes.iter().enumerate() {
            picture.link(program.instance_links(InstanceId(k as u32)), node, target);
        }
        for output in program.outputs() {
            let to = match &output.recipients {
                Recipients::All => "to all".into(),
                Recipients::Only(parties) => {
                    let parties: Vec<String> = parties.iter().map(|p| p.to_string()).collect();
                    clip(&format!("to party {}", parties.join(", ")))
                }
            };
            let note = format!("{} {to}", clip(&output.port.ty.to_string()));
            let target = picture.add(Kind::Output, clip(&output.port.name), note);
            picture.link(output.links.iter().copied(), node, target);
        }
        picture.drop_unread_constant(constant);
        picture
    }

    fn add(&mut self, kind: Kind, title: String, note: String) -> usize {
        self.nodes.push(Node { kind, title, note });
        self.nodes.len() - 1
    }

    /// Adds the boxes of instances; returns the box of each instance.
    fn instances(&mut self, program: &Program) -> Vec<usize> {
        let count = program.instance_count();
        let each = count <= MAX_BOXES;
        let components: Vec<usize> =
            (0..count).map(|k| program.component_id(InstanceId(k as u32)).0 as usize).collect();
        let mut members = vec![0u64; program.components().len()];
        components.iter().for_each(|&c| members[c] += 1);
        let ands: Vec<u64> = program.components().iter().map(|c| c.stats().and).collect();
        let mut of_component = vec![None; members.len()];
        let mut boxes = Vec::with_capacity(count);
        for c in components {
            let name = clip(program.components()[c].name());
            let at = match of_component[c] {
                Some(at) if !each => at,
                _ if each || members[c] == 1 => self.add(Kind::Instance, name, format!("{} AND", ands[c])),
                _ => {
                    let note = format!("{} AND, {} in all", ands[c], ands[c] * members[c]);
                    self.add(Kind::Instance, format!("{} × {name}", members[c]), note)
                }
            };
            of_component[c] = Some(at);
            boxes.push(at);
        }
        boxes
    }

    fn link(&mut self, links: impl Iterator<Item = Link>, node: impl Fn(Source) -> usize, target: usize) {
        for link in links {
            *self.edges.entry((node(link.source), target)).or_default() += u64::from(link.len);
        }
    }

    fn drop_unread_constant(&mut self, constant: usize) {
        if self.edges.keys().any(|&(from, _)| from == constant) {
            return;
        }
        self.nodes.remove(constant);
        let moved = |k: usize| if k > constant { k - 1 } else { k };
        self.edges = self.edges.iter().map(|(&(from, to), &wires)| ((moved(from), moved(to)), wires)).collect();
    }
}

fn clip(text: &str) -> String {
    match text.chars().count() > MAX_NAME_CHARS {
        true => text.chars().take(MAX_NAME_CHARS - 1).chain(['…']).collect(),
        false => text.into(),
    }
}
