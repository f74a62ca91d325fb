//! Prepared material in pieces: each party's part of an AND gate, an input bit, two inputs of the constructor, or an
//! output bit. A run takes one piece for each of these in its function.

use garblet_homcommit::{Code, ReceiverShare, SenderShare, opening_bytes};
use garblet_primitives::{Bit, Block};
use garblet_store::Scratch;
use zeroize::{Zeroize, Zeroizing};

use super::orders::Orders;
use crate::{
    amounts::Kind,
    generate::{
        buckets::{BucketAuthenticator, BucketGate, Buckets},
        layout::GateWires,
    },
};
use garblet_protocol::error::ProtocolError;

/// A wire as a party keeps it.
pub trait Storable: Copy + Zeroize + Send + Sync {
    /// Bytes of a stored wire.
    fn bytes(code: Code) -> usize;
    /// Fills these bytes.
    fn write(&self, into: &mut [u8]);
    fn read(bytes: &[u8]) -> Self;

    /// Appends it to others.
    fn append(&self, code: Code, bytes: &mut Vec<u8>) {
        let begin = bytes.len();
        bytes.resize(begin + Self::bytes(code), 0);
        self.write(&mut bytes[begin..]);
    }
}

impl Storable for SenderShare {
    fn bytes(code: Code) -> usize {
        opening_bytes(code)
    }

    fn write(&self, into: &mut [u8]) {
        self.write(into);
    }

    fn read(bytes: &[u8]) -> Self {
        SenderShare::read(bytes)
    }
}

impl Storable for ReceiverShare {
    fn bytes(code: Code) -> usize {
        opening_bytes(code) - 16
    }

    fn write(&self, into: &mut [u8]) {
        self.write(into);
    }

    fn read(bytes: &[u8]) -> Self {
        ReceiverShare::read(bytes)
    }
}

impl<W: Storable, const N: usize> Storable for [W; N]
where
    [W; N]: Zeroize,
{
    fn bytes(code: Code) -> usize {
        N * W::bytes(code)
    }

    fn write(&self, into: &mut [u8]) {
        let size = into.len() / N;
        self.iter().zip(into.chunks_exact_mut(size)).for_each(|(wire, into)| wire.write(into));
    }

    fn read(bytes: &[u8]) -> Self {
        let size = bytes.len() / N;
        std::array::from_fn(|wire| W::read(&bytes[wire * size..][..size]))
    }
}

/// The place where pieces are made: room for components that wait for buckets, and the destination of complete pieces.
pub trait Workshop: Send {
    /// Room for `streams` streams.
    fn room(&mut self, streams: usize) -> Result<Scratch, ProtocolError>;

    /// Records the orders, durably, even if making them fails.
    fn order(&mut self, orders: &Orders) -> Result<(), ProtocolError>;

    /// Takes complete pieces while more are made, or leaves them where they are.
    fn pass<P: Pieces>(&mut self, pieces: &mut P) -> Result<(), ProtocolError>;
}

/// Keeps everything in memory.
pub(crate) struct InMemory;

impl Workshop for InMemory {
    fn room(&mut self, streams: usize) -> Result<Scratch, ProtocolError> {
        Ok(Scratch::in_memory(streams))
    }

    fn order(&mut self, _orders: &Orders) -> Result<(), ProtocolError> {
        Ok(())
    }

    fn pass<P: Pieces>(&mut self, _pieces: &mut P) -> Result<(), ProtocolError> {
        Ok(())
    }
}

/// The pieces that a party keeps, by kind and in order.
pub trait Pieces: Default + Send {
    /// The number of pieces of a kind.
    fn count(&self, kind: Kind) -> usize;
    /// Appends a piece.
    fn write(&self, kind: Kind, index: usize, code: Code, bytes: &mut Vec<u8>);
    /// Adds a piece after the others of its kind; `None` if its length is wrong.
    fn read(&mut self, kind: Kind, code: Code, bytes: &[u8]) -> Option<()>;
}

/// The wires of prepared pieces. The constructor has nothing else.
pub struct Wires<W: Zeroize> {
    /// The wires of every AND gate.
    pub(crate) gates: Vec<GateWires<W>>,
    /// The wire of every input bit, and the block of its OT: the constructor's `r_i`.
    pub(crate) inputs: Vec<W>,
    pub(crate) strings: Vec<W>,
    /// The two inputs of every input bucket.
    pub(crate) input_gates: Vec<[W; 2]>,
    /// The wires that mask the select bits of outputs.
    pub(crate) masks: Vec<W>,
}

impl<W: Copy + Zeroize> Wires<W> {
    /// Adds the wires of a bucket: those of its first gate, or of its first authenticator.
    pub(crate) fn push_head(&mut self, kind: Kind, gates: &[GateWires<W>], authenticators: &[W]) {
        match (kind, gates, authenticators) {
            (Kind::Gate, [head, ..], _) => self.gates.push(*head),
            (Kind::InputPair, [[left, right, _], ..], _) => put(&mut self.input_gates, [*left, *right]),
            (Kind::Input, _, [head, ..]) => put(&mut self.inputs, *head),
            _ => {}
        }
    }
}

impl<W: Zeroize> Default for Wires<W> {
    fn default() -> Self {
        let (gates, inputs, strings) = (Vec::new(), Vec::new(), Vec::new());
        Wires { gates, inputs, strings, input_gates: Vec::new(), masks: Vec::new() }
    }
}

impl<W: Zeroize> Wires<W> {
    /// Wipes and frees data that is not needed once buckets are joined to the function.
    pub(crate) fn joined(&mut self) {
        std::mem::take(&mut self.gates).zeroize();
        std::mem::take(&mut self.input_gates).zeroize();
    }
}

impl<W: Zeroize> Drop for Wires<W> {
    fn drop(&mut self) {
        self.gates.zeroize();
        self.input_gates.zeroize();
        [&mut self.inputs, &mut self.strings, &mut self.masks].into_iter().for_each(Zeroize::zeroize);
    }
}

impl<W: Storable> Pieces for Wires<W> {
    fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Gate => self.gates.len(),
            Kind::Input => self.inputs.len(),
            Kind::InputPair => self.input_gates.len(),
            Kind::Output => self.masks.len(),
        }
    }

    fn write(&self, kind: Kind, index: usize, code: Code, bytes: &mut Vec<u8>) {
        let wires: &[W] = match kind {
            Kind::Gate => &self.gates[index],
            Kind::Input => &[self.inputs[index], self.strings[index]],
            Kind::InputPair => &self.input_gates[index],
            Kind::Output => &self.masks[index..=index],
        };
        wires.iter().for_each(|wire| wire.append(code, bytes));
    }

    fn read(&mut self, kind: Kind, code: Code, bytes: &[u8]) -> Option<()> {
        let size = W::bytes(code);
        let mut wires = bytes.chunks_exact(size).map(W::read);
        (bytes.len() == kind.wires() * size).then_some(())?;
        match kind {
            Kind::Gate => self.gates.push([wires.next()?, wires.next()?, wires.next()?]),
            Kind::Input => {
                put(&mut self.inputs, wires.next()?);
                put(&mut self.strings, wires.next()?);
            }
            Kind::InputPair => put(&mut self.input_gates, [wires.next()?, wires.next()?]),
            Kind::Output => put(&mut self.masks, wires.next()?),
        }
        Some(())
    }
}

/// The evaluator's end of an OT, and the constructor's claim about it.
#[derive(Clone, Copy, Default, Zeroize)]
pub(crate) struct Transfer {
    /// The bit `b_i`, and the block `r_i + b_i delta`.
    pub(crate) choice: Bit,
    pub(crate) block: Block,
    /// The select bit of `r_i`.
    pub(crate) claimed: bool,
}

/// The pieces that the evaluator keeps.
#[derive(Default)]
pub struct EvaluatorPieces {
    pub(crate) wires: Wires<ReceiverShare>,
    /// Buckets of AND gates, of pairs of inputs, and of inputs.
    pub(crate) buckets: [Buckets; 3],
    pub(crate) transfers: Zeroizing<Vec<Transfer>>,
    /// Select bits of the masks.
    pub(crate) claimed: Vec<bool>,
}

/// Appends an item. If the items have to move, wipes their old place.
pub(crate) fn put<T: Copy + Zeroize>(all: &mut Vec<T>, item: T) {
    if all.len() == all.capacity() {
        let mut larger = Vec::with_capacity(2 * all.len().max(64));
        larger.extend_from_slice(all);
        std::mem::replace(all, larger).zeroize();
    }
    all.push(item);
}

/// The index in [`EvaluatorPieces::buckets`] of a kind of piece.
pub(crate) fn bucket_of(kind: Kind) -> Option<usize> {
    [Kind::Gate, Kind::InputPair, Kind::Input].iter().position(|&other| other == kind)
}

const GATE_BYTES: usize = size_of::<BucketGate>();
const AUTHENTICATOR_BYTES: usize = size_of::<BucketAuthenticator>();

impl Pieces for EvaluatorPieces {
    fn count(&self, kind: Kind) -> usize {
        self.wires.count(kind)
    }

    /// *Shape*: wires; then for an input the block and its two bits, for an output the mask's bit; then how many gates, the
    /// gates, the authenticators.
    fn write(&self, kind: Kind, index: usize, code: Code, bytes: &mut Vec<u8>) {
        self.wires.write(kind, index, code, bytes);
        match kind {
            Kind::Input => {
                let Transfer { choice, block, claimed } = self.transfers[index];
                bytes.extend(block.to_bytes());
                bytes.push(choice.number() | u8::from(claimed) << 1);
            }
            Kind::Output => bytes.push(u8::from(self.claimed[index])),
            Kind::Gate | Kind::InputPair => {}
        }
        if let Some(buckets) = bucket_of(kind).map(|bucket| &self.buckets[bucket]) {
            bytes.push(buckets.gates(index).len() as u8);
            bytes.extend_from_slice(bytemuck::cast_slice(buckets.gates(index)));
            bytes.extend_from_slice(bytemuck::cast_slice(buckets.authenticators(index)));
        }
    }

    fn read(&mut self, kind: Kind, code: Code, bytes: &[u8]) -> Option<()> {
        let (wires, mut rest) = bytes.split_at_checked(kind.wires() * ReceiverShare::bytes(code))?;
        self.wires.read(kind, code, wires)?;
        match kind {
            Kind::Input => {
                let (block, later) = rest.split_first_chunk()?;
                let (bits, later) = later.split_first()?;
                let (choice, claimed) = (Bit::lowest_of(u64::from(*bits)), bits & 2 == 2);
                put(&mut self.transfers, Transfer { choice, block: Block::from_bytes(*block), claimed });
                rest = later;
            }
            Kind::Output => {
                let (bit, later) = rest.split_first()?;
                self.claimed.push(bit & 1 == 1);
                rest = later;
            }
            Kind::Gate | Kind::InputPair => {}
        }
        if let Some(buckets) = bucket_of(kind).map(|bucket| &mut self.buckets[bucket]) {
            let (gates, later) = rest.split_first()?;
            let (gates, authenticators) = later.split_at_checked(usize::from(*gates) * GATE_BYTES)?;
            let gates = gates.chunks_exact(GATE_BYTES).map(bytemuck::pod_read_unaligned);
            let authenticators = authenticators.chunks_exact(AUTHENTICATOR_BYTES);
            let exact = authenticators.remainder().is_empty();
            buckets.push(gates, authenticators.map(bytemuck::pod_read_unaligned));
            rest = if exact { &[] } else { rest };
        }
        rest.is_empty().then_some(())
    }
}
