//! The data that the evaluator computes on, laid out when the function is known. Opening links and evaluating then access memory
//! once and in order.

use garblet_circuit::Bits;
use garblet_garble::InstanceEvaluator;
use garblet_primitives::{Block, add_keystreams};
use zeroize::Zeroizing;

use crate::evaluation::steps::Steps;
use crate::linking::plan::{Label, Plan};
use crate::pieces::keys::{LinkKeys, Masks, Reveal};
use crate::pieces::material::Material;
use crate::run::{self, Piece};
use crate::{EVALUATOR, GARBLER, NAME, evaluation::execute};
use garblet_protocol::{bulk::check_padding, error::ProtocolError, party_io};

/// All data that evaluation reads and writes.
pub(crate) struct Work {
    /// The steps that feed instances.
    steps: Steps,
    /// Link labels: first the sent ones, then those opened in place, then zeros.
    pub(crate) links: Zeroizing<Vec<Block>>,
    /// Tables, group after group.
    tables: Vec<u8>,
    /// Active labels, at the places that the steps give.
    pub(crate) labels: Zeroizing<Vec<Block>>,
    /// The evaluator of instances, with room for every group.
    evaluator: InstanceEvaluator,
    /// The masks of the links that are opened, for each use of a template.
    masks: Vec<Masks>,
}

impl Work {
    /// Room for all data of a plan. `hash_seed` is the garbler's.
    ///
    /// *Errors*: a program of more than 2^30 wires.
    pub(crate) fn new(material: &Material, plan: &Plan, hash_seed: Block) -> Result<Self, ProtocolError> {
        let steps = Steps::new(plan, material).ok_or_else(|| ProtocolError::Unsupported {
            protocol: NAME,
            program: format!("of {} labels", plan.labels),
            reason: "labels are numbered below 2^30".into(),
        })?;
        let masks = plan.uses.iter().map(|used| {
            let groups = material.library().templates()[used.template as usize].groups().iter();
            Masks::new(groups.filter(|group| used.part.opens(group.opens)).map(|group| (group.opens, group.blocks)))
        });
        let mut evaluator = InstanceEvaluator::new(hash_seed);
        for group in steps.groups().all() {
            evaluator.reserve(material.instances(group.ty));
        }
        Ok(Work {
            evaluator,
            links: Zeroizing::new(vec![Block::ZERO; plan.links + plan.longest_feed]),
            tables: vec![0; steps.groups().table_bytes()],
            labels: Zeroizing::new(vec![Block::ZERO; steps.labels()]),
            steps,
            masks: masks.collect(),
        })
    }

    /// Lays out a piece: tables and encrypted links.
    pub(crate) fn put(&mut self, material: &Material, plan: &Plan, piece: Piece<'_>) {
        match piece {
            Piece::Transfers(_) => {}
            Piece::Template(number, bytes) => self.put_template(material, plan, number, bytes),
            Piece::Component(task, bytes) => {
                let group = self.steps.groups().of_task(task);
                let of = material.instances(group.ty);
                let (tables, keyed) = bytes.split_at(of.table_bytes());
                of.interleave_tables(
                    task - group.tasks.start,
                    group.tasks.len(),
                    tables,
                    &mut self.tables[group.tables.clone()],
                );
                self.put_keyed(material, plan, task, keyed);
            }
        }
    }

    /// Lays out the links of a component to its likely partners that the plan uses.
    fn put_keyed(&mut self, material: &Material, plan: &Plan, task: usize, bytes: &[u8]) {
        let uses = plan.keyed_of_task.range((task, 0)..=(task, usize::MAX));
        for (_, number) in uses {
            let keyed = &plan.keyed[*number];
            let len = material.library().keyed()[keyed.link].source.len as usize;
            let first = material.keyed_offset(keyed.link, keyed.source.id, keyed.candidate);
            copy(run::blocks(bytes).skip(first), &mut self.links[keyed.first_link..][..len]);
        }
    }

    fn put_template(&mut self, material: &Material, plan: &Plan, number: usize, bytes: &[u8]) {
        let used = &plan.uses[number];
        let template = &material.library().templates()[used.template as usize];
        let mut to = &mut self.links[plan.use_links[number]..];
        for group in template.groups().iter().filter(|group| used.part.opens(group.opens)) {
            let (now, later) = std::mem::take(&mut to).split_at_mut(group.blocks);
            copy(run::blocks(&bytes[16 * group.first_block..]), now);
            to = later;
        }
    }

    /// Step 5: takes the garbler's message apart. Puts the labels of its inputs in place, and opens prepared links.
    ///
    /// *Shape*: `message` is as long as [`message_bytes`] says. Returns the select bits of the zero labels of the
    /// evaluator's outputs.
    pub(crate) fn open(&mut self, material: &Material, plan: &Plan, message: &[u8]) -> Result<Bits, ProtocolError> {
        let (blocks, bits) = message.split_at(16 * block_count(plan));
        let blocks = Zeroizing::new(run::blocks(blocks).collect::<Vec<Block>>());
        let (reveals, rest) = blocks.split_at(reveal_blocks(plan));
        let (keys, rest) = rest.split_at(plan.keyed.len());
        let (sent, theirs) = rest.split_at(plan.sent_links);
        self.links[..plan.sent_links].copy_from_slice(sent);
        self.open_keyed(material, plan, keys);
        self.open_templates(material, plan, reveals)?;
        run::put_inputs(plan, GARBLER, theirs, &mut self.labels);
        check_padding(bits, decode_bits(plan))?;
        Ok(Bits::filled(decode_bits(plan), |own| own.copy_from_slice(bits)))
    }

    /// Keyed links follow the sent ones.
    fn open_keyed(&mut self, material: &Material, plan: &Plan, keys: &[Block]) {
        let length =
            |keyed: &crate::linking::plan::KeyedUse| material.library().keyed()[keyed.link].source.len as usize;
        let lengths: Vec<usize> = plan.keyed.iter().map(length).collect();
        let all = lengths.iter().sum();
        add_keystreams(keys, &lengths, &mut self.links[plan.sent_links..][..all]);
    }

    fn open_templates(&mut self, material: &Material, plan: &Plan, reveals: &[Block]) -> Result<(), ProtocolError> {
        let mut reveals = reveals;
        for ((used, first), masks) in plan.uses.iter().zip(&plan.use_links).zip(&self.masks) {
            let (own, later) = reveals.split_at(used.part.reveal_blocks());
            reveals = later;
            let links = &mut self.links[*first..][..masks.blocks()];
            let keys = Reveal::from_blocks(used.part, own).and_then(|reveal| LinkKeys::revealed(used.part, &reveal));
            if !keys.is_some_and(|keys| keys.mask(masks, links)) {
                // The peer's message has the keys. Their number follows from this party's own plan, so no peer can cause this.
                let name = &material.library().templates()[used.template as usize].name;
                let what = format!("the plan has too few keys for {:?} of template `{name}`", used.part);
                return Err(ProtocolError::Internal { what });
            }
        }
        Ok(())
    }

    /// Step 6: evaluates everything.
    pub(crate) fn evaluate(&mut self, material: &Material) {
        let Work { steps, links, tables, labels, evaluator, .. } = self;
        execute::evaluate(steps, material, evaluator, links, tables, labels);
    }

    /// The active labels of the program's outputs; those of constants are zero.
    pub(crate) fn outputs(&self, plan: &Plan) -> Vec<Box<[Block]>> {
        run::output_labels(plan, |label| self.label(label), [Block::ZERO; 2])
    }

    /// The active label of an input of the program or of an output.
    pub(crate) fn label(&self, label: Label) -> Block {
        self.labels[self.steps.place(label)]
    }
}

fn copy(from: impl Iterator<Item = Block>, to: &mut [Block]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from);
}

/// Bytes of the garbler's message.
pub(crate) fn message_bytes(plan: &Plan) -> usize {
    16 * block_count(plan) + decode_bits(plan).div_ceil(8)
}

/// Blocks of the garbler's message.
fn block_count(plan: &Plan) -> usize {
    plan.link_blocks() + party_io::input_bits(&plan.program, GARBLER)
}

fn reveal_blocks(plan: &Plan) -> usize {
    plan.uses.iter().map(|used| used.part.reveal_blocks()).sum()
}

fn decode_bits(plan: &Plan) -> usize {
    party_io::output_bits(&plan.program, EVALUATOR)
}
