//! Making pieces: the garbler's work before a function is known.

use garblet_garble::Seeds;
use garblet_primitives::{Block, add_keystreams};
use zeroize::Zeroizing;

use crate::library::template::{Common, EdgeSource};
use crate::library::{KeyedLink, Side, TypeId};
use crate::pieces::keys::Masks;
use crate::pieces::material::{Material, Place};
use crate::pieces::secrets::{Secrets, Streams};
use crate::pieces::stock::Kind;

/// Garbled pieces of one kind: the evaluator's parts and the garbler's parts, each piece after piece.
#[derive(Default)]
pub(crate) struct Garbled {
    pub(crate) sent: Vec<u8>,
    pub(crate) kept: Zeroizing<Vec<u8>>,
}

/// Garbles pieces.
pub(crate) struct PieceGarbler<'a> {
    material: &'a Material,
    secrets: &'a Secrets,
    seeds: Seeds,
    streams: Streams,
}

impl<'a> PieceGarbler<'a> {
    pub(crate) fn new(material: &'a Material, secrets: &'a Secrets) -> Self {
        PieceGarbler { material, secrets, seeds: secrets.seeds(), streams: secrets.streams(material) }
    }

    /// Garbles single components `first..first + count` of a type.
    pub(crate) fn singles(&mut self, ty: TypeId, first: u64, count: usize) -> Garbled {
        let instances = self.material.instances(ty);
        let (ins, outs) = (instances.input_count(), instances.output_count());
        let place = |id| Place { kind: Kind::Single(ty), id };
        let mut inputs = Zeroizing::new(vec![Block::ZERO; count * ins]);
        self.streams.inputs(self.material, place(first), 0, &mut inputs);
        let mut outputs = Zeroizing::new(vec![Block::ZERO; count * outs]);
        let mut tables = vec![0; count * instances.table_bytes()];
        let base = self.material.numbered(place(first)).base;
        let mut garbler = instances.garbler(&self.secrets.delta, &self.seeds, base);
        garbler.garble(first, count, &inputs, &mut tables, &mut outputs);
        let keyed: Vec<(usize, KeyedLink)> = self.material.library().keyed_from(ty).map(|(n, k)| (n, *k)).collect();
        let kept = Zeroizing::new(bytemuck::cast_slice(&outputs).to_vec());
        if keyed.is_empty() {
            return Garbled { sent: tables, kept };
        }
        let mut sent = Vec::with_capacity(tables.len() * 2);
        for i in 0..count {
            sent.extend_from_slice(&tables[i * instances.table_bytes()..][..instances.table_bytes()]);
            let (inputs, outputs) = (&inputs[i * ins..][..ins], &outputs[i * outs..][..outs]);
            for (number, link) in &keyed {
                let labels = if link.side == Side::Output { outputs } else { inputs };
                self.keyed(*number, link, first + i as u64, labels, &mut sent);
            }
        }
        Garbled { sent, kept }
    }

    /// The links of a component to its likely partners.
    fn keyed(&mut self, number: usize, link: &KeyedLink, id: u64, labels: &[Block], sent: &mut Vec<u8>) {
        let Some(first) = link.first_candidate(id) else { return };
        let source = &labels[link.source.start as usize..][..link.source.len as usize];
        let mut blocks = vec![Block::ZERO; source.len()];
        for candidate in 0..link.window {
            let target = Place { kind: Kind::Single(link.to), id: first + u64::from(candidate) };
            self.streams.inputs(self.material, target, link.target.start, &mut blocks);
            blocks.iter_mut().zip(source).for_each(|(block, label)| *block ^= *label);
            let key = self.streams.keyed_key(self.material, number, id, candidate);
            add_keystreams(&[key], &[blocks.len()], &mut blocks);
            sent.extend_from_slice(bytemuck::cast_slice(&blocks));
        }
    }

    /// Garbles the cells of one template.
    ///
    /// *Shape*: the pieces of the cells one after another, and the links of the template.
    pub(crate) fn template(&mut self, number: u32, id: u64) -> (Garbled, Vec<u8>) {
        let material = self.material;
        let template = &material.library().templates()[number as usize];
        let cells = template.cells();
        let first = id * material.cells(number);
        let place = |cell: usize| Place { kind: Kind::Cell(number), id: first + cell as u64 };
        let widths = |ty: &TypeId| [material.instances(*ty).input_count(), material.instances(*ty).output_count()];
        let starts = |side: usize| -> Vec<usize> {
            let mut at = 0;
            let begin = |ty: &TypeId| {
                let start = at;
                at += widths(ty)[side];
                start
            };
            cells.iter().map(begin).collect()
        };
        let (in_starts, out_starts) = (starts(0), starts(1));
        let total = |side: usize| cells.iter().map(|ty| widths(ty)[side]).sum::<usize>();
        let mut inputs = Zeroizing::new(vec![Block::ZERO; total(0)]);
        self.streams.inputs(material, place(0), 0, &mut inputs);
        for Common { of, cell, wires } in template.common() {
            let [of, cell] = [of, cell].map(|cell| in_starts[*cell as usize] + wires.start as usize);
            inputs.copy_within(of..of + wires.len as usize, cell);
        }
        let mut outputs = Zeroizing::new(vec![Block::ZERO; total(1)]);
        let mut tables: Vec<Vec<u8>> = vec![Vec::new(); cells.len()];
        let mut types: Vec<TypeId> = cells.to_vec();
        types.sort_unstable();
        types.dedup();
        for ty in types {
            let of_type: Vec<usize> = (0..cells.len()).filter(|cell| cells[*cell] == ty).collect();
            let instances = material.instances(ty);
            let [ins, outs] = widths(&ty);
            let mut own = Zeroizing::new(Vec::with_capacity(of_type.len() * ins));
            of_type.iter().for_each(|c| own.extend_from_slice(&inputs[in_starts[*c]..][..ins]));
            let mut own_outputs = Zeroizing::new(vec![Block::ZERO; of_type.len() * outs]);
            let mut own_tables = vec![0; of_type.len() * instances.table_bytes()];
            let base = material.numbered(place(of_type[0])).base;
            let mut garbler = instances.garbler(&self.secrets.delta, &self.seeds, base);
            garbler.garble(0, of_type.len(), &own, &mut own_tables, &mut own_outputs);
            for (k, cell) in of_type.into_iter().enumerate() {
                outputs[out_starts[cell]..][..outs].copy_from_slice(&own_outputs[k * outs..][..outs]);
                tables[cell] = own_tables[k * instances.table_bytes()..][..instances.table_bytes()].to_vec();
            }
        }
        let mut blocks = Vec::with_capacity(template.blocks());
        for edge in template.groups().iter().flat_map(|group| &group.edges) {
            let target =
                &inputs[in_starts[edge.cell as usize] + edge.wires.start as usize..][..edge.wires.len as usize];
            let source = |wire: usize| match edge.source {
                EdgeSource::Output(cell, start) => outputs[out_starts[cell as usize] + start as usize + wire],
                EdgeSource::Input(cell, start) => inputs[in_starts[cell as usize] + start as usize + wire],
                EdgeSource::Constant(value) => Block::mask(value) & self.secrets.delta.block(),
            };
            blocks.extend(target.iter().enumerate().map(|(wire, label)| *label ^ source(wire)));
        }
        let masked = self.streams.template(material, number, id, |secrets| {
            let keys = secrets.all(template);
            let masks = Masks::new(template.groups().iter().map(|group| (group.opens, group.blocks)));
            keys.is_some_and(|keys| keys.mask(&masks, &mut blocks))
        });
        debug_assert!(masked, "a template has keys for all its links");
        let kept = Zeroizing::new(bytemuck::cast_slice(&outputs).to_vec());
        (Garbled { sent: tables.concat(), kept }, bytemuck::cast_slice(&blocks).to_vec())
    }
}
