//! The evaluator's gates and authenticators before they are in buckets.

use crate::checks;
use garblet_homcommit::{Code, ReceiverShare};
use garblet_primitives::{Block, secrets};
use subtle::ConstantTimeEq;
use zeroize::DefaultIsZeroes;

use super::{
    buckets::{BucketAuthenticator, BucketGate},
    gates::Components,
    layout::GateWires,
};
use crate::stock::pieces::Storable;
use garblet_protocol::{checks::Cheating, error::ProtocolError};

/// A gate, and the watched parts of its wires.
#[derive(Clone, Copy, Default)]
pub(crate) struct MadeGate {
    pub(crate) number: u64,
    pub(crate) table: [Block; 2],
    /// The block that maps the gate's key to the committed one.
    pub(crate) shift: Block,
    pub(crate) wires: GateWires<ReceiverShare>,
}

/// An authenticator, and the watched part of its wire.
#[derive(Clone, Copy, Default)]
pub(crate) struct MadeAuthenticator {
    pub(crate) number: u64,
    pub(crate) pair: [Block; 2],
    pub(crate) wire: ReceiverShare,
}

/// A checked component, and the bits of the check.
#[derive(Clone, Copy)]
pub(crate) struct Checked<T, const N: usize> {
    pub(crate) component: T,
    pub(crate) bits: [bool; N],
}

impl<T: Default, const N: usize> Default for Checked<T, N> {
    fn default() -> Self {
        Checked { component: T::default(), bits: [false; N] }
    }
}

impl DefaultIsZeroes for MadeGate {}
impl DefaultIsZeroes for MadeAuthenticator {}
impl<T: Copy + Default, const N: usize> DefaultIsZeroes for Checked<T, N> {}

/// The number of bytes before the wires of a component: its number, and blocks.
const fn head_bytes(blocks: usize) -> usize {
    size_of::<u64>() + 16 * blocks
}

fn write_head<const N: usize>(number: u64, blocks: [Block; N], into: &mut [u8]) -> &mut [u8] {
    let (head, rest) = into.split_at_mut(head_bytes(N));
    let (of_number, of_blocks) = head.split_at_mut(size_of::<u64>());
    of_number.copy_from_slice(&number.to_le_bytes());
    of_blocks.copy_from_slice(bytemuck::cast_slice(&blocks));
    rest
}

/// Reads the bytes of `write_head`. Missing bytes are zero.
fn read_head<const N: usize>(bytes: &[u8]) -> (u64, [Block; N], &[u8]) {
    let (number, mut rest) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
    let blocks = std::array::from_fn(|_| {
        let (block, later) = rest.split_first_chunk().unwrap_or((&[0; 16], &[]));
        rest = later;
        Block::from_bytes(*block)
    });
    (u64::from_le_bytes(*number), blocks, rest)
}

impl Storable for MadeGate {
    fn bytes(code: Code) -> usize {
        head_bytes(3) + <GateWires<ReceiverShare>>::bytes(code)
    }

    fn write(&self, into: &mut [u8]) {
        let blocks = [self.table[0], self.table[1], self.shift];
        Storable::write(&self.wires, write_head(self.number, blocks, into));
    }

    fn read(bytes: &[u8]) -> Self {
        let (number, [first, second, shift], rest) = read_head(bytes);
        MadeGate { number, table: [first, second], shift, wires: Storable::read(rest) }
    }
}

impl Storable for MadeAuthenticator {
    fn bytes(code: Code) -> usize {
        head_bytes(2) + <ReceiverShare as Storable>::bytes(code)
    }

    fn write(&self, into: &mut [u8]) {
        Storable::write(&self.wire, write_head(self.number, self.pair, into));
    }

    fn read(bytes: &[u8]) -> Self {
        let (number, pair, rest) = read_head(bytes);
        MadeAuthenticator { number, pair, wire: <ReceiverShare as Storable>::read(rest) }
    }
}

impl<T: Storable + Default, const N: usize> Storable for Checked<T, N> {
    fn bytes(code: Code) -> usize {
        N + T::bytes(code)
    }

    fn write(&self, into: &mut [u8]) {
        let (bits, rest) = into.split_at_mut(N);
        bits.copy_from_slice(&self.bits.map(u8::from));
        self.component.write(rest);
    }

    fn read(bytes: &[u8]) -> Self {
        let (bits, rest) = bytes.split_first_chunk().unwrap_or((&[0; N], &[]));
        Checked { component: T::read(rest), bits: bits.map(|bit| bit == 1) }
    }
}

impl MadeGate {
    /// Checks that each checked gate gives the opened key of its output for the opened keys of its inputs.
    pub(crate) fn check(
        components: &Components,
        checked: &[Checked<MadeGate, 2>],
        opened: &[Block],
    ) -> Result<(), ProtocolError> {
        let numbers: Vec<u64> = checked.iter().map(|checked| checked.component.number).collect();
        let tables: Vec<&[u8]> = checked.iter().map(|c| bytemuck::cast_slice(&c.component.table)).collect();
        let triples = opened.as_chunks::<3>().0;
        let inputs: Vec<Block> = triples.iter().flat_map(|[left, right, _]| [*left, *right]).collect();
        let mut given = vec![Block::ZERO; numbers.len()];
        components.evaluate(&numbers, &inputs, &tables, &mut given);
        for ((Checked { component: gate, .. }, given), [_, _, output]) in checked.iter().zip(given).zip(triples) {
            if !secrets::verdict((given ^ gate.shift).ct_eq(output), "lego: whether a checked gate is right") {
                return Err(Cheating::new(checks::GATE, format!("gate {}", gate.number)).into());
            }
        }
        Ok(())
    }

    /// The gates of a bucket, with the openings that join them.
    pub(crate) fn joined(gates: &[MadeGate], opened: &[Block]) -> impl Iterator<Item = BucketGate> {
        let alone = |gate: &MadeGate| {
            let mut alone = BucketGate::new(gate.number, gate.table);
            alone.output = gate.shift;
            alone
        };
        let head = gates.first().map(alone);
        let join = move |(gate, &[left, right, output]): (&MadeGate, &[Block; 3])| {
            let mut gate = alone(gate);
            [gate.left, gate.right] = [left, right];
            gate.output ^= output;
            gate
        };
        head.into_iter().chain(gates.iter().skip(1).zip(opened.as_chunks().0).map(join))
    }
}

impl MadeAuthenticator {
    /// Checks that each checked authenticator accepts the opened key.
    pub(crate) fn check(
        components: &Components,
        checked: &[Checked<MadeAuthenticator, 1>],
        opened: &[Block],
    ) -> Result<(), ProtocolError> {
        for (Checked { component: authenticator, .. }, &key) in checked.iter().zip(opened) {
            if !components.accepts(authenticator.number, &authenticator.pair, key) {
                let what = format!("authenticator {}", authenticator.number);
                return Err(Cheating::new(checks::AUTHENTICATOR, what).into());
            }
        }
        Ok(())
    }

    /// The authenticators of a bucket with the openings that join them. If there is one opening fewer, the others are joined to the
    /// first one.
    pub(crate) fn joined(
        authenticators: &[MadeAuthenticator],
        opened: &[Block],
    ) -> impl Iterator<Item = BucketAuthenticator> {
        let head = std::iter::repeat_n(Block::ZERO, authenticators.len() - opened.len());
        let join = |(authenticator, wire): (&MadeAuthenticator, Block)| BucketAuthenticator {
            number: authenticator.number,
            pair: authenticator.pair,
            wire,
            ..BucketAuthenticator::default()
        };
        authenticators.iter().zip(head.chain(opened.iter().copied())).map(join)
    }
}
