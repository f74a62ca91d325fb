//! What both parties must agree on before a run, and the sizes that follow from it.

use std::{collections::BTreeMap, fmt, ops::Range, str::FromStr, sync::Arc};

use garblet_circuit::{Bits, Input, InputId, InstanceId, Party, Program, Schedule};
use garblet_commit::Code;
use garblet_garble::GarblingConfig;
use garblet_ot::Width;
use garblet_primitives::Block;
use zeroize::{Zeroize, Zeroizing};

use super::{
    CONSTRUCTOR, EVALUATOR, NAME, PAST,
    parameters::{Demand, Parameters},
    pieces::Kind,
};
use crate::{error::ProtocolError, interface, session::Session};

/// The bits of statistical security, of theorem 2's bounds together and of the checks by random combinations.
pub const STATISTICAL: u32 = 40;

/// The fewest gates and inputs that are made at once: fewer would need larger buckets.
const LEAST_GATES: u64 = 512;
const LEAST_INPUTS: u64 = 32;

/// Wires that are committed to at once, and components whose buckets are joined at once: as many as keep what both parties send
/// for a part itself below a percent, and few enough that both parties work at the same time. Tests have small ones.
const PART: usize = if cfg!(test) { 3 << 12 } else { 3 << 14 };
const SPAN: usize = if cfg!(test) { 3 << 11 } else { 3 << 13 };

/// AND gates that are joined to the function, and evaluated, at once; each makes one opening of some kilobytes and takes several hundred
/// bytes of memory for the evaluator, who has up to five such lots. Tests have small ones.
const LOT: usize = if cfg!(test) { 1 << 6 } else { 3 << 13 };

/// How bucket sizes and the probabilities of checks are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sizing {
    /// The fewest bytes.
    #[default]
    FewestBytes,
    /// As the paper's rows: these, and the sizes of inputs that it derives from them.
    Given {
        /// Garbled gates of an AND gate.
        bucket: u8,
        /// A gate is checked with probability two to minus this.
        check_gates: u8,
        /// A wire authenticator likewise.
        check_authenticators: u8,
    },
}

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The code of the commitments.
    pub code: Code,
    /// Field width of the OT extension.
    pub ot_width: Width,
    /// How bucket sizes are chosen.
    pub sizing: Sizing,
    /// Whether what the stores lack is made when the function is known.
    pub top_up: bool,
}

/// How much is prepared, or taken of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// AND gates.
    pub gates: u64,
    /// Input bits of both parties.
    pub inputs: u64,
    /// Pairs of input bits of the constructor, or output bits that the evaluator does not learn.
    pub input_pairs: u64,
    /// Output bits.
    pub outputs: u64,
}

impl Amounts {
    /// What is missing of each of these of which `stock` has less than `below` percent, if any.
    pub fn short_of(&self, stock: &Amounts, below: u8) -> Option<Amounts> {
        let missing = |wanted: u64, there: u64| {
            let short = u128::from(there) * 100 < u128::from(wanted) * u128::from(below);
            if short { wanted - there } else { 0 }
        };
        let short = Amounts {
            gates: missing(self.gates, stock.gates),
            inputs: missing(self.inputs, stock.inputs),
            input_pairs: missing(self.input_pairs, stock.input_pairs),
            outputs: missing(self.outputs, stock.outputs),
        };
        (short != Amounts::default()).then_some(short)
    }
}

/// What is made at once, before the function is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    parameters: Parameters,
    outputs: u64,
}

impl Order {
    /// An order for as much, with bucket sizes that keep the bounds.
    ///
    /// *Errors*: more gates than the bounds can be kept for; given sizes that do not keep them.
    pub fn new(amounts: Amounts, config: Config) -> Result<Self, ProtocolError> {
        let demand = Demand {
            gates: amounts.gates.max(LEAST_GATES),
            inputs: amounts.inputs.max(LEAST_INPUTS),
            input_buckets: amounts.input_pairs,
        };
        let parameters = match config.sizing {
            Sizing::FewestBytes => Parameters::fewest_bytes(demand, STATISTICAL, config.code.parity_bits() as u64),
            Sizing::Given { bucket, check_gates, check_authenticators } => {
                Parameters::given(demand, bucket.into(), [check_gates, check_authenticators], STATISTICAL)
            }
        };
        let parameters = parameters.ok_or_else(|| ProtocolError::Unsupported {
            protocol: NAME,
            program: "of any kind".into(),
            reason: format!(
                "no bucket sizes ({}) keep the bound of 2^-{STATISTICAL} for {} AND gates",
                config.sizing, demand.gates
            ),
        })?;
        Ok(Order { parameters, outputs: amounts.outputs })
    }

    /// How much is made, checked and put into each bucket.
    pub fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// Garbled gates that are made.
    pub fn gates_made(&self) -> usize {
        self.parameters.gates_made(STATISTICAL) as usize
    }

    /// Wire authenticators that are made.
    pub fn authenticators_made(&self) -> usize {
        self.parameters.authenticators_made(STATISTICAL) as usize
    }

    /// Input bits that are prepared.
    pub(super) fn inputs(&self) -> usize {
        self.parameters.demand.inputs as usize
    }

    /// Output bits that are prepared.
    pub(super) fn outputs(&self) -> usize {
        self.outputs as usize
    }

    /// The parts in which components are made and checked, all of about the same size.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let [gates, authenticators] = [self.gates_made(), self.authenticators_made()];
        let count = (3 * gates + authenticators).div_ceil(PART).max(1);
        let share = move |all: usize, part: usize| all * (part + 1) / count - all * part / count;
        (0..count).map(move |part| Part { gates: share(gates, part), authenticators: share(authenticators, part) })
    }

    /// Tells of progress: AND gates are as good as made in the share of the steps that are done, of which each part has two
    /// and each span one.
    pub(super) fn tell(&self, session: &mut Session, steps: usize) {
        let (all, gates) = (2 * self.parts().count() + self.spans().count(), self.parameters.demand.gates);
        session.advance((u128::from(gates) * steps as u128 / all as u128) as u64, gates);
    }

    /// The buckets of every kind, so many at a time.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> + use<> {
        let Parameters { demand, buckets, .. } = self.parameters;
        let authenticators = buckets.authenticators();
        let kinds = [
            (Kind::Gate, demand.gates, [buckets.gates, authenticators]),
            (Kind::InputPair, demand.input_buckets, [buckets.input_gates, 0]),
            (Kind::Input, demand.inputs, [0, buckets.input_authenticators]),
        ];
        kinds.into_iter().flat_map(|(kind, all, sizes)| {
            let sizes = sizes.map(|size| size as usize);
            let (all, at_once) = (all as usize, (SPAN / (sizes[0] + sizes[1])).max(1));
            (0..all).step_by(at_once).map(move |done| Span { kind, buckets: at_once.min(all - done), sizes })
        })
    }
}

/// Components that are made at once: those of about [`PART`] wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) gates: usize,
    pub(super) authenticators: usize,
}

impl Part {
    /// Wires that are committed to.
    pub(super) fn wires(self) -> usize {
        3 * self.gates + self.authenticators
    }
}

/// Buckets of a kind that are joined at once: about [`SPAN`] components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) kind: Kind,
    pub(super) buckets: usize,
    /// Gates and authenticators of each bucket.
    pub(super) sizes: [usize; 2],
}

impl Span {
    /// How many gates and authenticators there are in all buckets.
    pub(super) fn components(&self) -> [usize; 2] {
        self.sizes.map(|size| size * self.buckets)
    }

    /// A bucket's gates and authenticators among those of all buckets.
    pub(super) fn bucket<'a, G, A>(
        &self,
        bucket: usize,
        gates: &'a [G],
        authenticators: &'a [A],
    ) -> (&'a [G], &'a [A]) {
        let [of_gates, of_authenticators] = self.sizes.map(|size| bucket * size..(bucket + 1) * size);
        (&gates[of_gates], &authenticators[of_authenticators])
    }

    /// How many sums are opened to join each bucket.
    pub(super) fn openings(&self) -> usize {
        match self.sizes {
            [0, authenticators] => authenticators.saturating_sub(1),
            [gates, authenticators] => 3 * (gates - 1) + authenticators,
        }
    }
}

impl fmt::Display for Sizing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sizing::FewestBytes => f.write_str("least"),
            Sizing::Given { bucket, check_gates, check_authenticators } => {
                write!(f, "{bucket}/{check_gates}/{check_authenticators}")
            }
        }
    }
}

impl FromStr for Sizing {
    type Err = ();

    /// What [`Sizing`]'s `Display` gives: `least`, or `7/4/3` for buckets of seven gates, of which one in 16 is checked, and
    /// one authenticator in eight.
    fn from_str(text: &str) -> Result<Self, ()> {
        if text == "least" {
            return Ok(Sizing::FewestBytes);
        }
        let numbers: Vec<u8> = text.split('/').map(str::parse).collect::<Result<_, _>>().map_err(|_| ())?;
        match numbers[..] {
            [bucket @ 2..=16, check_gates @ 1..=30, check_authenticators @ 1..=30] => {
                Ok(Sizing::Given { bucket, check_gates, check_authenticators })
            }
            _ => Err(()),
        }
    }
}

/// A program made ready for `lego`.
pub struct Plan {
    program: Arc<Program>,
    config: Config,
    /// Of every component of the program.
    schedules: Vec<Schedule>,
    and_count: u64,
}

impl Plan {
    /// Checks that the protocol can run the program.
    ///
    /// *Errors*: an input or a recipient that is neither party 0 nor party 1.
    pub fn new(program: Arc<Program>, config: Config) -> Result<Self, ProtocolError> {
        Plan::reading(program, config, &[])
    }

    /// The same for a program that reads some inputs, given by their numbers, from wires that were kept.
    ///
    /// *Errors*: as [`Plan::new`]; a number that no input has.
    pub fn reading(program: Arc<Program>, config: Config, kept: &[usize]) -> Result<Self, ProtocolError> {
        interface::check_parties(NAME, &program, GarblingConfig::default())?;
        let inputs = program.inputs().len();
        if let Some(odd) = kept.iter().find(|&&input| input >= inputs) {
            let (what, expected) = ("that is read".into(), format!("one of {inputs}"));
            return Err(ProtocolError::Input { what, expected, got: format!("number {odd}") });
        }
        let mut program = program;
        if !kept.is_empty() {
            let mut read = (*program).clone();
            kept.iter().for_each(|&input| read.set_owner(InputId(input as u32), PAST));
            program = Arc::new(read);
        }
        let schedules: Vec<Schedule> = program.components().iter().map(|c| Schedule::new(c.circuit())).collect();
        let instances = (0..program.instance_count()).map(|instance| InstanceId(instance as u32));
        let ands = instances.map(|instance| schedules[program.component_id(instance).0 as usize].and_count());
        Ok(Plan { and_count: ands.sum(), program, config, schedules })
    }

    /// What a run takes of what is prepared.
    pub fn amounts(&self) -> Amounts {
        let bits = |party| interface::input_bits(&self.program, party) as u64;
        Amounts {
            gates: self.and_count(),
            inputs: bits(CONSTRUCTOR) + bits(EVALUATOR),
            input_pairs: self.sought().div_ceil(2) as u64,
            outputs: self.outputs() as u64,
        }
    }

    /// What is made for one run alone.
    ///
    /// *Errors*: as [`Order::new`].
    pub fn order(&self) -> Result<Order, ProtocolError> {
        Order::new(self.amounts(), self.config)
    }

    /// AND gates that the program takes: those that an output depends on.
    pub(super) fn and_count(&self) -> u64 {
        self.and_count
    }

    /// The AND gates of each lot, one after another: what is joined to the function, and evaluated, at once. At least one lot.
    pub(super) fn lots(&self) -> impl ExactSizeIterator<Item = Range<usize>> + use<> {
        let ands = self.and_count() as usize;
        let count = ands.div_ceil(LOT).max(1);
        let end = move |lots: usize| (ands as u128 * lots as u128 / count as u128) as usize;
        (0..count).map(move |lot| end(lot)..end(lot + 1))
    }

    /// What is opened to join the buckets of each lot to the function: both inputs of every AND gate, and in the last one both ends of
    /// the input buckets.
    pub(super) fn openings(&self) -> Vec<usize> {
        let mut openings: Vec<usize> = self.lots().map(|lot| 2 * lot.len()).collect();
        openings.last_mut().into_iter().for_each(|last| *last += self.sought().next_multiple_of(2));
        openings.retain(|&count| count > 0);
        openings
    }

    /// Bits that the evaluator finds if it comes to know the difference: inputs that are not its own, and outputs that it does not learn.
    pub(super) fn sought(&self) -> usize {
        let bits = |party| interface::input_bits(&self.program, party);
        bits(CONSTRUCTOR) + bits(PAST) + self.outputs() - interface::output_bits(&self.program, EVALUATOR)
    }

    /// How the component of an instance is gone through.
    pub(super) fn schedule(&self, instance: InstanceId) -> &Schedule {
        &self.schedules[self.program.component_id(instance).0 as usize]
    }

    /// The same of all components.
    pub(super) fn schedules(&self) -> &[Schedule] {
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
    pub(super) fn outputs(&self) -> usize {
        self.program.outputs().iter().map(|output| output.port.width() as usize).sum()
    }

    /// Whether each output bit goes to the party, in program order.
    pub(super) fn learned(&self, party: Party) -> Vec<bool> {
        let each = |output: &garblet_circuit::Output| {
            std::iter::repeat_n(output.recipients.contains(party), output.port.width() as usize)
        };
        self.program.outputs().iter().flat_map(each).collect()
    }

    /// The owner of each input bit, in program order.
    pub(super) fn owners(&self) -> Vec<Party> {
        let each = |input: &Input| std::iter::repeat_n(input.owner, input.port.width() as usize);
        self.program.inputs().iter().flat_map(each).collect()
    }

    /// The wires of all input bits: those that were prepared, and for inputs that are read the kept ones.
    ///
    /// *Shape*: `kept` by the input's number.
    ///
    /// *Errors*: an input that is read and has no wires, or wires of another width.
    pub(super) fn all_inputs<W: Copy + Zeroize>(
        &self,
        prepared: &[W],
        kept: &BTreeMap<usize, Zeroizing<Vec<W>>>,
    ) -> Result<Zeroizing<Vec<W>>, ProtocolError> {
        let mut prepared = prepared.iter();
        // Room for all, so that none is left behind where it was before.
        let bits = self.program.inputs().iter().map(|input| input.port.width() as usize).sum();
        let mut all = Zeroizing::new(Vec::with_capacity(bits));
        for (number, input) in self.program.inputs().iter().enumerate() {
            let width = input.port.width() as usize;
            if input.owner != PAST {
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

    /// Values of all output bits, output by output with their names.
    pub(super) fn named_outputs<W: Copy>(&self, bits: &[W]) -> impl Iterator<Item = (String, Vec<W>)> {
        let mut rest = bits;
        self.program.outputs().iter().map(move |output| {
            let (own, later) = rest.split_at(output.port.width() as usize);
            rest = later;
            (output.port.name.clone(), own.to_vec())
        })
    }

    /// One value per input bit, port by port.
    pub(super) fn by_port<W: Copy>(&self, bits: &[W]) -> Vec<Box<[W]>> {
        let mut rest = bits;
        let ports = self.program.inputs().iter().map(|input| {
            let (port, later) = rest.split_at(input.port.width() as usize);
            rest = later;
            port.into()
        });
        ports.collect()
    }

    /// The values of all outputs from their bits, none where the party is no recipient.
    pub(super) fn outputs_for(&self, party: Party, bits: impl Iterator<Item = bool>) -> Vec<Option<Bits>> {
        let mut bits = bits;
        let outputs = self.program.outputs().iter().map(|output| {
            let value: Bits = bits.by_ref().take(output.port.width() as usize).collect();
            output.recipients.contains(party).then_some(value)
        });
        outputs.collect()
    }
}

/// The select bit of a key.
pub(super) fn select_bit(key: Block) -> bool {
    key.to_u128() & 1 == 1
}
