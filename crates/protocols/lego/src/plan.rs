//! The plan, on which both parties must agree before a run, and the sizes that follow from it.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use garblet_circuit::{Bits, Input, InputId, InstanceId, Party, Program, Schedule};
use garblet_garble::GarblingConfig;
use zeroize::{Zeroize, Zeroizing};

use super::{CONSTRUCTOR, EVALUATOR, NAME, amounts::Amounts, config::Config, order::Order, stock::saved};
use garblet_protocol::{error::ProtocolError, party_io};

/// AND gates that are joined to the function, and evaluated, at once. Each lot has one opening of some kilobytes, and each gate takes several hundred
/// bytes of memory at the evaluator, which has up to five lots. Tests have small lots.
const LOT: usize = if cfg!(test) { 1 << 6 } else { 3 << 13 };

/// The party that stands for [`Owner::Saved`] in the program of a plan.
const SAVED: Party = Party(2);

/// The source of an input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Constructor,
    Evaluator,
    /// No party: it is read from saved wires.
    Saved,
}

/// A program made ready for `lego`.
pub struct Plan {
    program: Arc<Program>,
    config: Config,
    /// The schedule of every component of the program.
    schedules: Vec<Schedule>,
    and_count: u64,
    /// Set if the outputs of its runs are kept.
    keeps: bool,
}

impl Plan {
    /// Checks that the protocol can run the program.
    ///
    /// *Errors*: an input or a recipient that is neither party 0 nor party 1.
    pub fn new(program: Arc<Program>, config: Config) -> Result<Self, ProtocolError> {
        Plan::reading(program, config, &[])
    }

    /// The same for a program that reads some inputs, given by their numbers, from saved wires.
    ///
    /// *Errors*: as [`Plan::new`]; a number that no input has.
    pub(crate) fn reading(program: Arc<Program>, config: Config, kept: &[usize]) -> Result<Self, ProtocolError> {
        party_io::check_parties(NAME, &program, GarblingConfig::default())?;
        let inputs = program.inputs().len();
        if let Some(odd) = kept.iter().find(|&&input| input >= inputs) {
            let (what, expected) = ("that is read".into(), format!("one of {inputs}"));
            return Err(ProtocolError::Input { what, expected, got: format!("number {odd}") });
        }
        let mut program = program;
        if !kept.is_empty() {
            let mut read = (*program).clone();
            kept.iter().for_each(|&input| read.set_owner(InputId(input as u32), SAVED));
            program = Arc::new(read);
        }
        let schedules: Vec<Schedule> = program.components().iter().map(|c| Schedule::new(c.circuit())).collect();
        let instances = (0..program.instance_count()).map(|instance| InstanceId(instance as u32));
        let ands = instances.map(|instance| schedules[program.component_id(instance).0 as usize].and_count());
        Ok(Plan { and_count: ands.sum(), program, config, schedules, keeps: false })
    }

    /// The same, if the outputs of its runs are kept.
    ///
    /// *Errors*: more outputs than a store holds.
    pub(crate) fn keeping(self, keeps: bool) -> Result<Self, ProtocolError> {
        if keeps {
            saved::check_room(&self.program, self.config.code)?;
        }
        Ok(Plan { keeps, ..self })
    }

    /// Tells whether both parties say at the end of a run that they have kept its outputs.
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// The amounts of prepared material that a run takes.
    pub fn amounts(&self) -> Amounts {
        let bits = |party| party_io::input_bits(&self.program, party) as u64;
        Amounts {
            gates: self.and_count(),
            inputs: bits(CONSTRUCTOR) + bits(EVALUATOR),
            input_pairs: self.sought().div_ceil(2) as u64,
            outputs: self.outputs() as u64,
        }
    }

    /// The order for one run without a store.
    ///
    /// *Errors*: as [`Order::new`].
    pub fn order(&self) -> Result<Order, ProtocolError> {
        Order::new(self.amounts(), self.config)
    }

    /// AND gates that the program takes: those that an output depends on.
    pub(crate) fn and_count(&self) -> u64 {
        self.and_count
    }

    /// The AND gates of each lot, which are joined to the function and evaluated at once, one lot after another. At least one lot.
    pub(crate) fn lots(&self) -> impl ExactSizeIterator<Item = Range<usize>> + use<> {
        let ands = self.and_count() as usize;
        let count = ands.div_ceil(LOT).max(1);
        let end = move |lots: usize| (ands as u128 * lots as u128 / count as u128) as usize;
        (0..count).map(move |lot| end(lot)..end(lot + 1))
    }

    /// The number of openings that join the buckets of each lot to the function: both inputs of every AND gate, and in the last one both ends of
    /// the input buckets.
    pub(crate) fn openings(&self) -> Vec<usize> {
        let mut openings: Vec<usize> = self.lots().map(|lot| 2 * lot.len()).collect();
        openings.last_mut().into_iter().for_each(|last| *last += self.sought().next_multiple_of(2));
        openings.retain(|&count| count > 0);
        openings
    }

    /// The number of bits that the evaluator finds if it learns the difference: inputs that are not its own, and outputs that it does not learn.
    pub(crate) fn sought(&self) -> usize {
        let bits = |party| party_io::input_bits(&self.program, party);
        bits(CONSTRUCTOR) + bits(SAVED) + self.outputs() - party_io::output_bits(&self.program, EVALUATOR)
    }

    /// The schedule of an instance's component.
    pub(crate) fn schedule(&self, instance: InstanceId) -> &Schedule {
        &self.schedules[self.program.component_id(instance).0 as usize]
    }

    /// The same of all components.
    pub(crate) fn schedules(&self) -> &[Schedule] {
        &self.schedules
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The parameters of the run.
    pub fn config(&self) -> Config {
        self.config
    }

    /// Output bits of the program.
    pub(crate) fn outputs(&self) -> usize {
        self.program.outputs().iter().map(|output| output.port.width() as usize).sum()
    }

    /// True for each output bit that the party learns, in program order.
    pub(crate) fn learned(&self, party: Party) -> Vec<bool> {
        let each = |output: &garblet_circuit::Output| {
            std::iter::repeat_n(output.recipients.contains(party), output.port.width() as usize)
        };
        self.program.outputs().iter().flat_map(each).collect()
    }

    /// The owner of each input bit, in program order.
    pub(crate) fn owners(&self) -> Vec<Owner> {
        let owner = |party| match party {
            CONSTRUCTOR => Owner::Constructor,
            EVALUATOR => Owner::Evaluator,
            _ => Owner::Saved,
        };
        let each = |input: &Input| std::iter::repeat_n(owner(input.owner), input.port.width() as usize);
        self.program.inputs().iter().flat_map(each).collect()
    }

    /// The wires of all input bits: the prepared ones, and the kept ones of inputs that are read.
    ///
    /// *Shape*: `kept` by the input's number.
    ///
    /// *Errors*: an input that is read and has no wires, or wires of another width.
    pub(crate) fn all_inputs<W: Copy + Zeroize>(
        &self,
        prepared: &[W],
        kept: &BTreeMap<usize, Zeroizing<Vec<W>>>,
    ) -> Result<Zeroizing<Vec<W>>, ProtocolError> {
        let mut prepared = prepared.iter();
        // Capacity for all, since growing would leave copies behind.
        let bits = self.program.inputs().iter().map(|input| input.port.width() as usize).sum();
        let mut all = Zeroizing::new(Vec::with_capacity(bits));
        for (number, input) in self.program.inputs().iter().enumerate() {
            let width = input.port.width() as usize;
            if input.owner != SAVED {
                all.extend(prepared.by_ref().take(width));
                continue;
            }
            let wires = kept.get(&number).map_or(&[][..], |wires| wires);
            if wires.len() != width {
                let what = format!("`{}`, which is read", input.port.name);
                let [expected, got] = [width, wires.len()].map(|bits| format!("{bits} bits"));
                return Err(ProtocolError::Input { what, expected, got });
            }
            all.extend(wires);
        }
        Ok(all)
    }

    /// Values of all output bits that can be kept, output by output with their names: all outputs except those that report panics.
    pub(crate) fn named_outputs<W: Copy>(&self, bits: &[W]) -> impl Iterator<Item = (String, Vec<W>)> {
        let mut rest = bits;
        self.program.outputs().iter().enumerate().filter_map(move |(number, output)| {
            let (own, later) = rest.split_at(output.port.width() as usize);
            rest = later;
            (!self.program.notes().tells_panics(number)).then(|| (output.port.name.clone(), own.to_vec()))
        })
    }

    /// One value per input bit, port by port.
    pub(crate) fn by_port<W: Copy>(&self, bits: &[W]) -> Vec<Box<[W]>> {
        let mut rest = bits;
        let ports = self.program.inputs().iter().map(|input| {
            let (port, later) = rest.split_at(input.port.width() as usize);
            rest = later;
            port.into()
        });
        ports.collect()
    }

    /// The values of all outputs from their bits, `None` where the party is not a recipient.
    pub(crate) fn outputs_for(&self, party: Party, bits: impl Iterator<Item = bool>) -> Vec<Option<Bits>> {
        let mut bits = bits;
        let outputs = self.program.outputs().iter().map(|output| {
            let value: Bits = bits.by_ref().take(output.port.width() as usize).collect();
            output.recipients.contains(party).then_some(value)
        });
        outputs.collect()
    }
}
