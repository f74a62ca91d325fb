//! Turns a trace into a program: finds what is read from each region, makes one component for each kind of region, and links them.

use std::collections::{BTreeMap, HashMap};

use garblet_circuit::{Component, ComponentId, InputId, InstanceId, Link, Program, Source};
use garblet_synthesis::{
    builder::Aim,
    optimise::{Effort, optimise_component},
};

use crate::{
    bound::Bound,
    budget::Budget,
    gates::{self, Body as BuiltBody, Built, Code, Extent},
    lookup::{self, Tables},
    parts::{PartBody, Tap},
    source_error::SourceError,
    trace::{Body, CONSTANTS, INPUTS, Read, Trace, split_code},
};

/// The places of a trace's input nodes: an input of the program and the first wire in it.
pub(crate) type InputWires = Vec<(InputId, u32)>;

/// A region's body with what is read from it: this becomes one component, or several if it reads tables.
struct Variant {
    /// Read extents by node, each with its first wire among the component's outputs.
    outputs: Vec<(Extent, u32)>,
    /// Set for the reads of the region that the component needs.
    needs: Vec<bool>,
    made: Made,
}

/// The result of making a variant.
enum Made {
    NotYet,
    Component(ComponentId),
    /// Any number of instances, each with what it reads, and the outputs. There are none in a region without gates.
    Parts(Vec<(ComponentId, Vec<Tap>)>, Vec<Tap>),
}

/// The result of assembling a trace.
pub(crate) struct Assembled {
    /// The first instance of each region, and at the end the number of instances.
    pub(crate) instances: Vec<u32>,
    /// AND gates by source line for each component.
    pub(crate) lines: Vec<Vec<(u32, u64)>>,
}

/// Assembles a trace.
pub(crate) struct Assembler<'a> {
    trace: &'a Trace,
    inputs: &'a InputWires,
    bound: &'a [Bound],
    name: &'a dyn Fn(u32) -> String,
    aim: Aim,
    budget: &'a mut Budget,
    variants: Vec<Variant>,
    known: HashMap<(u32, Vec<Extent>), u32>,
    /// The variant of each region, `DEAD` if nothing reads it.
    variant_of: Vec<u32>,
    /// The instance of each region that has one.
    instance_of: Vec<u32>,
    /// The links that replace the outputs of a region that is not one instance.
    wiring: HashMap<u32, Wired>,
    lines: Vec<Vec<(u32, u64)>>,
}

const DEAD: u32 = u32::MAX;

/// The memory of a variant, of an extent that is read from it, and of a link of a region that is not one instance.
const VARIANT_BYTES: u64 = 256;
const EXTENT_BYTES: u64 = 48;
const WIRED_BYTES: u64 = 24;
/// The work of making an instance of a part of a region, and the memory of that.
const PART_WORK: u64 = 12;
const PART_BYTES: u64 = 40;
/// The memory of a link. Each read is charged for one.
const LINK_BYTES: u64 = size_of::<Link>() as u64;

impl<'a> Assembler<'a> {
    /// Assembles a trace within the budget, with few gates or few layers of them; `name` maps the source line at which a component begins to its name.
    pub(crate) fn new(
        trace: &'a Trace,
        inputs: &'a InputWires,
        bound: &'a [Bound],
        (name, aim): (&'a dyn Fn(u32) -> String, Aim),
        budget: &'a mut Budget,
    ) -> Self {
        let regions = trace.region_count() as usize;
        Assembler {
            trace,
            inputs,
            bound,
            name,
            aim,
            budget,
            variants: Vec::new(),
            known: HashMap::new(),
            variant_of: vec![DEAD; regions],
            instance_of: vec![DEAD; regions],
            wiring: HashMap::new(),
            lines: Vec::new(),
        }
    }

    /// Walks backwards from the outputs: finds what is read from each region, and what the region reads for that.
    ///
    /// *Errors*: a source that costs more than it may.
    fn choose_variants(&mut self, outputs: &[Vec<Read>]) -> Result<(), SourceError> {
        let mut readers = Readers::new(self.trace.region_count());
        outputs.iter().flatten().for_each(|&read| readers.add(read));
        let mut wanted = Vec::new();
        for region in (0..self.trace.region_count()).rev() {
            readers.take(region, &mut wanted);
            if wanted.is_empty() {
                continue;
            }
            merge(&mut wanted);
            let number = self.variant(self.trace.body(region), &wanted)?;
            self.variant_of[region as usize] = number;
            let needs = &self.variants[number as usize].needs;
            let reads = self.trace.reads(region).iter().zip(needs);
            reads.filter(|(_, needed)| **needed).for_each(|(&read, _)| readers.add(read));
        }
        Ok(())
    }

    fn variant(&mut self, body: u32, wanted: &[Extent]) -> Result<u32, SourceError> {
        let is_code = matches!(self.trace.bodies()[body as usize], Body::Code { .. });
        let key = (body, if is_code { wanted.to_vec() } else { Vec::new() });
        if let Some(&number) = self.known.get(&key) {
            return Ok(number);
        }
        self.budget.hold(VARIANT_BYTES + wanted.len() as u64 * EXTENT_BYTES);
        let variant = match &self.trace.bodies()[body as usize] {
            Body::Code { code, lines } => {
                let (operations, extents) = split_code(code);
                self.budget.turn_to_line(lines.first().copied().unwrap_or(0));
                self.budget.work(code.len() as u64);
                self.budget.check()?;
                let (_, needs) = gates::needed(operations, extents.len(), wanted);
                let mut at = 0;
                let place = |&extent: &Extent| {
                    at += u32::from(extent.end - extent.start);
                    (extent, at - u32::from(extent.end - extent.start))
                };
                Variant { outputs: wanted.iter().map(place).collect(), needs, made: Made::NotYet }
            }
            Body::Extern(number, reads) => {
                let words = &self.bound[*number as usize].words;
                let whole =
                    |(node, &(at, len)): (usize, &(u32, u16))| (Extent { node: node as u32, start: 0, end: len }, at);
                let outputs = words.iter().enumerate().map(whole).collect();
                Variant { outputs, needs: vec![true; *reads], made: Made::NotYet }
            }
        };
        self.variants.push(variant);
        let number = self.variants.len() as u32 - 1;
        self.known.insert(key, number);
        Ok(number)
    }

    /// Adds components and instances for what `outputs` read to the program.
    ///
    /// *Errors*: circuits or programs that are too large, and a source that costs more than it may.
    pub(crate) fn instances(&mut self, outputs: &[Vec<Read>], program: &mut Program) -> Result<Assembled, SourceError> {
        self.choose_variants(outputs)?;
        self.make(program)?;
        let mut begins = Vec::with_capacity(self.variant_of.len() + 1);
        let mut links = Vec::new();
        for region in 0..self.trace.region_count() {
            begins.push(program.instance_count() as u32);
            let number = self.variant_of[region as usize];
            if number == DEAD {
                continue;
            }
            links.clear();
            let reads = self.trace.reads(region);
            for (read, _) in reads.iter().zip(&self.variants[number as usize].needs).filter(|(_, needed)| **needed) {
                self.link(*read, &mut links);
            }
            // A read of pure wiring has one link for each piece.
            self.budget.work(links.len() as u64);
            self.budget.hold(links.len().saturating_sub(reads.len()) as u64 * LINK_BYTES);
            self.budget.check()?;
            match &self.variants[number as usize].made {
                Made::Component(id) => {
                    self.instance_of[region as usize] = program.add_instance(*id, &links)?.0;
                }
                Made::Parts(parts, outputs) => {
                    let inputs = Wired::new(std::mem::take(&mut links));
                    let first = program.instance_count() as u32;
                    for (id, taps) in parts {
                        let links = rewire(taps, &inputs, first);
                        self.budget.work(PART_WORK + taps.len() as u64);
                        self.budget.hold(PART_BYTES + links.len() as u64 * LINK_BYTES);
                        self.budget.check()?;
                        program.add_instance(*id, &links)?;
                    }
                    self.budget.work(outputs.len() as u64);
                    let wired = Wired::new(rewire(outputs, &inputs, first));
                    self.budget.hold(wired.links.len() as u64 * WIRED_BYTES);
                    self.budget.check()?;
                    self.wiring.insert(region, wired);
                }
                Made::NotYet => unreachable!("it was made above"),
            }
        }
        begins.push(program.instance_count() as u32);
        Ok(Assembled { instances: begins, lines: std::mem::take(&mut self.lines) })
    }

    /// Makes the components of each variant.
    fn make(&mut self, program: &mut Program) -> Result<(), SourceError> {
        let bodies: Vec<u32> = self.bodies_of_variants();
        let mut tables = Tables::new(self.name, self.aim);
        let mut built = Vec::with_capacity(self.variants.len());
        for (variant, &body) in self.variants.iter().zip(&bodies) {
            built.push(match &self.trace.bodies()[body as usize] {
                Body::Extern(..) => None,
                Body::Code { code, lines } => {
                    let (operations, extents) = split_code(code);
                    let wanted: Vec<Extent> = variant.outputs.iter().map(|output| output.0).collect();
                    let code = Code { operations, lines, extents: &extents, wanted: &wanted };
                    Some(lookup::build(&code, &mut tables, self.budget)?)
                }
            });
        }
        let uses = self.uses();
        // Fewer gates may need more layers.
        if self.aim == Aim::Size {
            optimise(&mut built, &uses)?;
        }
        let mut tables =
            TableIds { lines: table_lines(&tables, &built, &uses), ids: vec![None; tables.components().len()], tables };
        // The last variants are those of the first regions.
        for (number, built) in built.into_iter().enumerate().rev() {
            let made = match (built, &self.trace.bodies()[bodies[number] as usize]) {
                (Some(built), _) => self.add_built(built, &mut tables, program),
                (None, Body::Extern(circuit, _)) => {
                    self.lines.push(Vec::new());
                    Made::Component(program.add_component(self.bound[*circuit as usize].component.clone()))
                }
                (None, Body::Code { .. }) => unreachable!("all code is built"),
            };
            self.variants[number].made = made;
        }
        Ok(())
    }

    /// Adds the components of a variant to the program. The lines of its gates are those of the first of them.
    fn add_built(&mut self, built: Built, tables: &mut TableIds<'_>, program: &mut Program) -> Made {
        let Built { body, mut lines } = built;
        let (parts, outputs) = match body {
            BuiltBody::Whole(component) => {
                return match gates::wiring(&component) {
                    Some(outputs) => Made::Parts(Vec::new(), outputs),
                    None => {
                        self.lines.push(lines);
                        Made::Component(program.add_component(component))
                    }
                };
            }
            BuiltBody::Parts(parts, outputs) => (parts, outputs),
        };
        let mut made = Vec::with_capacity(parts.len());
        for part in parts {
            let id = match part.body {
                PartBody::Gates(component) => {
                    self.lines.push(std::mem::take(&mut lines));
                    program.add_component(component)
                }
                PartBody::Table(table, _) => *tables.ids[table as usize].get_or_insert_with(|| {
                    self.lines.push(std::mem::take(&mut tables.lines[table as usize]));
                    program.add_component(tables.tables.components()[table as usize].clone())
                }),
            };
            made.push((id, part.inputs));
        }
        Made::Parts(made, outputs)
    }

    /// The body of each variant.
    fn bodies_of_variants(&self) -> Vec<u32> {
        let mut bodies = vec![0; self.variants.len()];
        self.known.iter().for_each(|((body, _), &number)| bodies[number as usize] = *body);
        bodies
    }

    /// The number of regions of each variant.
    fn uses(&self) -> Vec<u64> {
        let mut uses = vec![0; self.variants.len()];
        self.variant_of.iter().filter(|&&number| number != DEAD).for_each(|&number| uses[number as usize] += 1);
        uses
    }

    /// The links of an output that reads these.
    ///
    /// *Errors*: a source that costs more than it may.
    pub(crate) fn links(&mut self, reads: &[Read]) -> Result<Vec<Link>, SourceError> {
        let mut links = Vec::new();
        for &read in reads {
            let before = links.len();
            self.link(read, &mut links);
            let more = (links.len() - before) as u64;
            self.budget.work(1 + more);
            self.budget.hold(more * LINK_BYTES);
            self.budget.check()?;
        }
        Ok(links)
    }

    /// Appends the links for what is read.
    fn link(&self, read: Read, links: &mut Vec<Link>) {
        let len = u32::from(read.end - read.start);
        match read.node.region {
            CONSTANTS => push_link(links, Link { source: Source::Constant(read.node.index == 1), start: 0, len }),
            INPUTS => {
                let (input, first) = self.inputs[read.node.index as usize];
                push_link(links, Link { source: Source::Input(input), start: first + u32::from(read.start), len });
            }
            region => {
                let variant = &self.variants[self.variant_of[region as usize] as usize];
                let at = variant.outputs.partition_point(|(extent, _)| extent.node < read.node.index);
                let (extent, first) = variant.outputs[at];
                let start = first + u32::from(read.start - extent.start);
                match self.wiring.get(&region) {
                    Some(wired) => wired.part(start, len, links),
                    None => {
                        let source = Source::Instance(InstanceId(self.instance_of[region as usize]));
                        push_link(links, Link { source, start, len });
                    }
                }
            }
        }
    }
}

/// The most AND gates to optimise: finding better circuits takes far longer than making them.
const OPTIMISED_ANDS: u64 = 1 << 16;
/// The most gates to optimise, XOR gates included.
const OPTIMISED_GATES: u64 = 1 << 20;
/// Optimisation ends after this many AND gates without a saving.
const PATIENCE_ANDS: u64 = 1 << 10;

/// Optimises components, those with the most gates over all instances first, as long as that saves gates.
fn optimise(built: &mut [Option<Built>], uses: &[u64]) -> Result<(), SourceError> {
    let components = built.iter_mut().zip(uses).flat_map(|(built, &uses)| {
        built.iter_mut().flat_map(Built::components_mut).map(move |component| (component, uses))
    });
    let mut components: Vec<(&mut Component, u64)> = components.collect();
    let ands: Vec<u64> = components.iter().map(|(component, _)| component.stats().and).collect();
    let mut order: Vec<usize> = (0..components.len()).collect();
    order.sort_by_key(|&k| (std::cmp::Reverse(ands[k] * components[k].1), k));
    let (mut done, mut gates, mut vain) = (0, 0, 0);
    for k in order {
        let component = &mut *components[k].0;
        let own = component.circuit().gates().len() as u64;
        if done + ands[k] > OPTIMISED_ANDS || gates + own > OPTIMISED_GATES || vain > PATIENCE_ANDS {
            continue;
        }
        gates += own;
        let better = optimise_component(component, Effort::Quick)?;
        done += ands[k];
        let saved = ands[k].saturating_sub(better.stats().and);
        vain = if saved * 100 >= ands[k].max(1) { 0 } else { vain + ands[k] };
        *component = better;
    }
    Ok(())
}

/// Tables, and the components of those that the program has.
struct TableIds<'a> {
    tables: Tables<'a>,
    ids: Vec<Option<ComponentId>>,
    /// The AND gates of each table by source line.
    lines: Vec<Vec<(u32, u64)>>,
}

/// The AND gates of each table by source line: a table's are divided among the lines that read it, by the bits that they read in all instances.
fn table_lines(tables: &Tables<'_>, built: &[Option<Built>], uses: &[u64]) -> Vec<Vec<(u32, u64)>> {
    let mut bits: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); tables.components().len()];
    for (built, uses) in built.iter().zip(uses) {
        for (table, lines) in built.iter().flat_map(Built::tables) {
            for (line, own) in lines {
                *bits[table as usize].entry(*line).or_default() += own * uses;
            }
        }
    }
    let divided = |(component, bits): (&Component, BTreeMap<u32, u64>)| {
        let (ands, total) =
            (u128::from(component.stats().and), bits.values().map(|&own| u128::from(own)).sum::<u128>());
        let up_to = |sum: u128| (ands * sum / total.max(1)) as u64;
        let mut sum = 0;
        let share = |(line, own)| {
            sum += u128::from(own);
            (line, up_to(sum) - up_to(sum - u128::from(own)))
        };
        bits.into_iter().map(share).collect()
    };
    tables.components().iter().zip(bits).map(divided).collect()
}

/// The extents that are read from each region, in one shared table.
struct Readers {
    heads: Vec<u32>,
    reads: Vec<(Read, u32)>,
    free: u32,
}

const END: u32 = u32::MAX;

impl Readers {
    fn new(regions: u32) -> Self {
        Readers { heads: vec![END; regions as usize], reads: Vec::new(), free: END }
    }

    fn add(&mut self, read: Read) {
        if read.node.region == INPUTS || read.node.region == CONSTANTS {
            return;
        }
        let head = &mut self.heads[read.node.region as usize];
        let entry = (read, *head);
        if self.free == END {
            *head = self.reads.len() as u32;
            self.reads.push(entry);
        } else {
            *head = self.free;
            self.free = std::mem::replace(&mut self.reads[*head as usize], entry).1;
        }
    }

    /// Moves the reads of a region to `into`.
    fn take(&mut self, region: u32, into: &mut Vec<Extent>) {
        into.clear();
        let mut at = std::mem::replace(&mut self.heads[region as usize], END);
        while at != END {
            let (read, next) = self.reads[at as usize];
            into.push(Extent { node: read.node.index, start: read.start, end: read.end });
            self.reads[at as usize].1 = std::mem::replace(&mut self.free, at);
            at = next;
        }
    }
}

/// One extent for each node, in order.
fn merge(extents: &mut Vec<Extent>) {
    extents.sort_unstable();
    extents.dedup_by(|next, first| {
        let same = next.node == first.node;
        if same {
            first.start = first.start.min(next.start);
            first.end = first.end.max(next.end);
        }
        same
    });
}

/// Appends a link, or extends the previous one if it continues there.
pub(crate) fn push_link(links: &mut Vec<Link>, link: Link) {
    if let Some(last) = links.last_mut() {
        let follows = matches!(link.source, Source::Constant(_)) || last.start + last.len == link.start;
        if last.source == link.source && follows {
            last.len += link.len;
            return;
        }
    }
    links.push(link);
}

/// Concatenated links.
struct Wired {
    links: Vec<Link>,
    /// The number of wires up to the end of each.
    ends: Vec<u32>,
}

impl Wired {
    fn new(links: Vec<Link>) -> Self {
        let mut end = 0;
        let ends = links.iter().map(|link| {
            end += link.len;
            end
        });
        Wired { ends: ends.collect(), links }
    }

    /// Appends links for wires `start` to `start + len` of those that these links carry.
    fn part(&self, mut start: u32, mut len: u32, links: &mut Vec<Link>) {
        let first = self.ends.partition_point(|&end| end <= start);
        for (link, end) in self.links[first..].iter().zip(&self.ends[first..]) {
            if len == 0 {
                return;
            }
            let skip = start - (end - link.len);
            let own = len.min(link.len - skip);
            let first = if let Source::Constant(_) = link.source { 0 } else { link.start + skip };
            push_link(links, Link { source: link.source, start: first, len: own });
            start += own;
            len -= own;
        }
    }
}

/// The links for taps of a region with these inputs, whose parts are instances from `first` on.
fn rewire(taps: &[Tap], inputs: &Wired, first: u32) -> Vec<Link> {
    let mut links = Vec::new();
    for tap in taps {
        let (source, start) = match *tap {
            Tap::Input(at) => {
                inputs.part(at, 1, &mut links);
                continue;
            }
            Tap::Constant(value) => (Source::Constant(value), 0),
            Tap::Part { part, at } => (Source::Instance(InstanceId(first + part)), at),
        };
        push_link(&mut links, Link { source, start, len: 1 });
    }
    links
}
