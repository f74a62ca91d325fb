//! Reads of constant arrays at secret indices. A read becomes an instance of a component of its own, a table, if that takes fewer
//! bytes as a garbled table than as gates.
//!
//! A region's gates are built with an open place for each such read: its entry is an input, its index an output. Reads by one
//! index become one. Then it is known which bits of an entry are needed, and so what the read costs either way.

use std::collections::{HashMap, HashSet};

use garblet_circuit::{Circuit, Component, TruthTable, Type, Wire};
use garblet_synthesis::{
    builder::{Aim, Bit, BitString, CircuitBuilder, Integer, Unsigned, lookup_ands},
    optimise::{Effort, optimise_component},
};

use crate::{
    budget::Budget,
    gates::{self, Body, Built, Code, GATE_BYTES, Gates, Value},
    hole::{Hole, Part},
    number::Number,
    operation::{Origin, Recorded},
    parts::{Cut, PartBody, Read, TableRead, Tap},
    source_error::SourceError,
};

/// The most bits of an entry that one lookup gives.
const ENTRY_BITS: usize = TruthTable::MAX_OUTPUTS;
/// The most AND gates of tables that are optimised, and the most gates of one of them.
const OPTIMISED_ANDS: u64 = 1 << 15;
const OPTIMISED_GATES: usize = 1 << 18;

impl Gates<'_> {
    /// The element of an array at an index.
    pub(crate) fn element(&mut self, at: usize, line: u32, recorded: &Recorded) -> Vec<Bit> {
        let width = usize::from(recorded.width);
        let elements = &recorded.operands[1..];
        let index_bits = elements.len().next_power_of_two().trailing_zeros();
        let index = self.value(&recorded.operands[0]).unsigned(index_bits as usize);
        let constants = elements.iter().map(|operand| match operand.from {
            Origin::Constant(value) => Some(value),
            _ => None,
        });
        if let Some(table) = constants.collect::<Option<Vec<Number>>>()
            && index_bits <= TruthTable::MAX_INPUTS
        {
            let mut bits = Vec::with_capacity(width);
            for start in (0..width).step_by(ENTRY_BITS) {
                let part: Vec<u128> = table.iter().map(|value| value.bits_from(start as u16)).collect();
                bits.extend(self.entry((at, start), line, &part, (width - start).min(ENTRY_BITS), &index));
            }
            return bits;
        }
        let words: Vec<Value> = elements.iter().map(|element| self.value(element)).collect();
        let words: Vec<Unsigned> = words.iter().map(|word| word.unsigned(width)).collect();
        self.builder.element(&words, &index).bits().to_vec()
    }

    /// The entry of a constant table at an index: gates, or an open place.
    fn entry(&mut self, part: Part, line: u32, table: &[u128], width: usize, index: &Unsigned) -> Vec<Bit> {
        let (index_bits, own) = unknown(table, index.bits());
        let may_win = TruthTable::is_shorter(index_bits.len() as u32, width, lookup_ands(index_bits.len(), width));
        if !may_win || self.refused.contains(&part) {
            return self.builder.lookup(table, width, index).bits().to_vec();
        }
        let by_index = self.holes_by_index.entry(index_bits.clone()).or_default();
        let is_same = |hole: &Hole| hole.entry.len() == width && hole.table == own;
        if let Some(&known) = by_index.iter().find(|&&hole| is_same(&self.holes[hole])) {
            self.holes[known].parts.push(part);
            return self.holes[known].entry.clone();
        }
        by_index.push(self.holes.len());
        let name = format!("entry{}", self.holes.len());
        let BitString(entry) = self.builder.input(name, Type::Bits(width as u32));
        self.holes.push(Hole { parts: vec![part], line, index: index_bits, table: own, entry: entry.clone() });
        entry
    }
}

/// The bits of an index that are not known, and the table by them.
fn unknown(table: &[u128], index: &[Bit]) -> (Vec<Bit>, Vec<u128>) {
    let (mut bits, mut places, mut known) = (Vec::new(), Vec::new(), 0);
    for (k, &bit) in index.iter().enumerate() {
        match bit.as_constant() {
            Some(value) => known |= usize::from(value) << k,
            None => {
                bits.push(bit);
                places.push(k);
            }
        }
    }
    let row = |at: usize| known | places.iter().enumerate().map(|(j, &k)| (at >> j & 1) << k).sum::<usize>();
    let table = (0..1 << bits.len()).map(|at| table.get(row(at)).copied().unwrap_or(0)).collect();
    (bits, table)
}

/// Builds the component of a region's code, or several where it reads tables.
///
/// *Errors*: more wires than a circuit may have, and a source that costs more than it may.
pub(crate) fn build(code: &Code<'_>, tables: &mut Tables<'_>, budget: &mut Budget) -> Result<Built, SourceError> {
    let name = (tables.name)(code.lines.first().copied().unwrap_or(0));
    let mut refused = HashSet::new();
    loop {
        let open = gates::open(code, (&name, tables.aim), &refused, budget)?;
        if open.holes.is_empty() {
            return Ok(Built { body: Body::Whole(open.component), lines: open.lines });
        }
        let circuit = open.component.circuit();
        budget.work(circuit.wire_count() as u64);
        budget.check()?;
        let reads = reads(circuit, &open.holes);
        let entries: usize = reads.iter().map(|read| read.entry.len()).sum();
        let indices: usize = reads.iter().map(|read| read.index.len()).sum();
        let wanted = &circuit.outputs()[..circuit.outputs().len() - indices];
        let cut = Cut::new(circuit, circuit.input_count() - entries as u32, wanted, &reads);
        let before = refused.len();
        let mut chosen = Vec::new();
        for group in groups(&cut, open.holes.iter().zip(&reads)) {
            match tables.find(group.index.len(), &group.table, group.entry.len(), group.line(), budget)? {
                Some(table) => {
                    let read = Read { index: group.index, entry: group.entry };
                    chosen.push(TableRead { read, body: PartBody::Table(table, group.lines) });
                }
                None => refused.extend(group.parts),
            }
        }
        if refused.len() == before {
            let (parts, outputs) = cut.parts(&name, chosen)?;
            let taps: usize = parts.iter().map(|part| part.inputs.len()).sum();
            budget.hold(((taps + outputs.len()) * size_of::<Tap>()) as u64);
            budget.check()?;
            return Ok(Built { body: Body::Parts(parts, outputs), lines: open.lines });
        }
    }
}

/// The wires of the open places. Their entries are the last inputs, and their indices the last outputs.
fn reads(circuit: &Circuit, holes: &[Hole]) -> Vec<Read> {
    let (mut input, mut output) = (circuit.input_count(), circuit.outputs().len());
    let mut reads: Vec<Read> = holes
        .iter()
        .rev()
        .map(|hole| {
            input -= hole.entry.len() as u32;
            output -= hole.index.len();
            let entry = (input..).map(Wire).take(hole.entry.len()).collect();
            Read { index: circuit.outputs()[output..][..hole.index.len()].to_vec(), entry }
        })
        .collect();
    reads.reverse();
    reads
}

/// Reads by the same index.
struct Group {
    index: Vec<Wire>,
    entry: Vec<Wire>,
    table: Vec<u128>,
    /// The lines of the reads, with the bits that each needs.
    lines: Vec<(u32, u64)>,
    parts: Vec<Part>,
}

impl Group {
    /// A group without bits, for reads as this one.
    fn new(hole: &Hole, read: &Read) -> Self {
        let table = vec![0; hole.table.len()];
        Group { index: read.index.clone(), entry: Vec::new(), table, lines: Vec::new(), parts: Vec::new() }
    }

    fn line(&self) -> u32 {
        self.lines[0].0
    }

    /// Appends the needed bits of a read's entry.
    fn add(&mut self, hole: &Hole, read: &Read, needed: &[usize]) {
        for (into, from) in self.table.iter_mut().zip(&hole.table) {
            let first = self.entry.len();
            let bits = needed.iter().enumerate().map(|(at, &bit)| (from >> bit & 1) << (first + at));
            *into |= bits.sum::<u128>();
        }
        self.entry.extend(needed.iter().map(|&bit| read.entry[bit]));
        self.lines.push((hole.line, needed.len() as u64));
        self.parts.extend(&hole.parts);
    }
}

/// Groups the reads that anything needs.
fn groups<'a>(cut: &Cut<'_>, reads: impl Iterator<Item = (&'a Hole, &'a Read)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    // The last group of each index.
    let mut known: HashMap<&[Wire], usize> = HashMap::new();
    for (hole, read) in reads {
        let needed: Vec<usize> = (0..read.entry.len()).filter(|&bit| cut.needs(read.entry[bit])).collect();
        if needed.is_empty() {
            continue;
        }
        let fits = |&at: &usize| groups[at].entry.len() + needed.len() <= ENTRY_BITS;
        let at = known.get(&read.index[..]).copied().filter(fits).unwrap_or(groups.len());
        if at == groups.len() {
            groups.push(Group::new(hole, read));
            known.insert(&read.index, at);
        }
        groups[at].add(hole, read, &needed);
    }
    groups
}

/// The tables of a program.
pub(crate) struct Tables<'a> {
    /// Maps a source line to the name of a component that begins there.
    pub(crate) name: &'a dyn Fn(u32) -> String,
    pub(crate) aim: Aim,
    /// The number of each table, by the bits of its entries and these; none if its gates take fewer bytes.
    known: HashMap<(usize, Vec<u128>), Option<u32>>,
    components: Vec<Component>,
    /// The AND gates that were optimised.
    optimised: u64,
}

impl<'a> Tables<'a> {
    pub(crate) fn new(name: &'a dyn Fn(u32) -> String, aim: Aim) -> Self {
        Tables { name, aim, known: HashMap::new(), components: Vec::new(), optimised: 0 }
    }

    /// The components of the tables, by number.
    pub(crate) fn components(&self) -> &[Component] {
        &self.components
    }

    /// The number of a table, or none if its gates take fewer bytes.
    ///
    /// *Errors*: a source that costs more than it may.
    fn find(
        &mut self,
        index_bits: usize,
        table: &[u128],
        width: usize,
        line: u32,
        budget: &mut Budget,
    ) -> Result<Option<u32>, SourceError> {
        let key = (width, table.to_vec());
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        budget.turn_to_line(line);
        budget.work((width as u64) << index_bits);
        budget.hold(((width as u64) << index_bits) * GATE_BYTES);
        budget.check()?;
        let mut c = CircuitBuilder::with_aim((self.name)(line), self.aim);
        let BitString(index) = c.input("in", Type::Bits(index_bits as u32));
        let entry = c.lookup(table, width, &Unsigned::new(index));
        c.output("out", &BitString(entry.bits().to_vec()));
        let component = self.optimised(c.finish()?)?;
        let wins = TruthTable::is_shorter(index_bits as u32, width, component.stats().and);
        let number = wins.then_some(self.components.len() as u32);
        match wins {
            true => self.components.push(component),
            false => budget.release(((width as u64) << index_bits) * GATE_BYTES),
        }
        self.known.insert(key, number);
        Ok(number)
    }

    /// A table's component with fewer gates, if that does not take too long.
    fn optimised(&mut self, component: Component) -> Result<Component, SourceError> {
        let ands = component.stats().and;
        let is_large = component.circuit().gates().len() > OPTIMISED_GATES || self.optimised + ands > OPTIMISED_ANDS;
        // Fewer gates may need more layers.
        if self.aim == Aim::Depth || is_large {
            return Ok(component);
        }
        self.optimised += ands;
        Ok(optimise_component(&component, Effort::Quick)?)
    }
}
