//! The two sides of the protocol behind one trait, and their material for a run.

use garblet_circuit::{Bits, Party};
use garblet_primitives::Block;
use garblet_protocol::{conduct::Conduct, error::ProtocolError, session::Session};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{Step, build::InputMasks, ground::Ground, others::Dealing, plan::Plan, supply::Supply, wires::Shared};

/// A party's side of a run, once there are triples and masks.
pub trait Side: Send + Sync + 'static {
    /// The party on this side.
    const PARTY: Party;
    /// The name of its role.
    const NAME: &'static str;
    /// The side's part of a circuit that was garbled ahead.
    type Built: Send + 'static;

    /// Garbles ahead (`build`).
    fn build<C: Conduct<Step>>(
        ground: &mut Ground<C>,
        session: &mut Session,
        plan: &Plan,
        supply: Supply,
        read: &Read,
    ) -> impl Future<Output = Result<Self::Built, ProtocolError>> + Send;

    /// Computes the function (`online`).
    ///
    /// *Shape*: `own` are the bits of this party's inputs, joined.
    fn compute<C: Conduct<Step>, D: Dealing>(
        ground: &mut Ground<C>,
        session: &mut Session,
        plan: &Plan,
        work: Work<Self::Built>,
        io: (&Bits, &mut D),
    ) -> impl Future<Output = Result<Computed, ProtocolError>> + Send;
}

/// A run before its inputs are known.
pub enum Work<B> {
    /// Garbled ahead.
    Built(B),
    /// Garbled with the inputs.
    Waiting(Box<Waiting>),
}

/// A run that is garbled with its inputs, whose masks are open.
pub struct Waiting {
    pub(crate) supply: Supply,
    pub(crate) inputs: InputMasks,
    pub(crate) own_masks: Zeroizing<Vec<bool>>,
    pub(crate) read: Read,
    pub(crate) run: u64,
}

/// The results of a run.
pub struct Computed {
    /// `None` where this party is not a recipient.
    pub(crate) outputs: Vec<Option<Bits>>,
    /// The outputs that others learn, with the masks of the announced pads.
    pub(crate) padded: Bits,
}

/// The wires of inputs that are read, by the input's number: shares of masks, and labels.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub struct Read {
    /// In program order.
    pub(crate) inputs: Vec<(u64, [Vec<Block>; 3])>,
    /// Marks that tell them from others that were kept under the same names; both parties have the same.
    pub(crate) marks: Vec<u8>,
}

impl Read {
    /// Of an input: shares of this party's multiples and of the peer's, or labels.
    pub(crate) fn of(&self, input: usize, which: usize) -> &[Block] {
        let found = self.inputs.iter().find(|(number, _)| *number == input as u64);
        found.map_or(&[], |(_, wires)| &wires[which])
    }

    /// An input's part of the values of all bits that are read, in program order.
    pub(crate) fn part<'a>(&self, input: usize, values: &'a [Block]) -> &'a [Block] {
        let mut start = 0;
        for (number, [own, ..]) in &self.inputs {
            if *number == input as u64 {
                return &values[start..start + own.len()];
            }
            start += own.len();
        }
        &[]
    }

    /// Shares of the masks of all inputs, with those that are given.
    ///
    /// *Errors*: an input that is read and has no wires, or wires of another width.
    pub(crate) fn masks(&self, plan: &Plan, given: &InputMasks) -> Result<Shared, ProtocolError> {
        Ok(Shared {
            own: plan.by_port(&given.shares.own, |input| self.of(input, 0))?,
            peer: plan.by_port(&given.shares.peer, |input| self.of(input, 1))?,
        })
    }

    /// Labels of all inputs, with those that are given.
    ///
    /// *Errors*: as [`Read::masks`].
    pub(crate) fn labels(&self, plan: &Plan, given: &[Block]) -> Result<Vec<Box<[Block]>>, ProtocolError> {
        plan.by_port(given, |input| self.of(input, 2))
    }

    /// All labels of inputs that are read, in program order.
    pub(crate) fn all_labels(&self) -> Zeroizing<Vec<Block>> {
        let count = self.inputs.iter().map(|(_, [_, _, labels])| labels.len()).sum();
        let mut all = Zeroizing::new(Vec::with_capacity(count));
        self.inputs.iter().for_each(|(_, [_, _, labels])| all.extend_from_slice(labels));
        all
    }
}
