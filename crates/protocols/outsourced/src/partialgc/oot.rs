//! Outsourced OT: a client is the receiver in OTs with the generator, and the cloud gets the chosen labels.
//!
//! *Source*: Carter, Mood, Traynor and Butler, *Secure outsourced garbled circuit evaluation for mobile devices* (USENIX Security 2013), as
//! changed by Mood et al. 2014, phase 2. For wire `j` of circuit `i`, with both pads `P` of the OT, choice `c`, and for each circuit a key of
//! the order and a key of the blinds, which the client and the generator derive from a common seed:
//!
//! ```text
//! generator to cloud   Y[v + p(i,j)] = label(v) + blind(i,j) + AES(P(v), i)     commitment[v + p(i,j)] = H(label(v))
//!                      under the evaluation branch of circuit i: the key of blinds; under the checking branch: the key of the order
//! client to cloud      P(c), h(i,j) = c + p(i,j) under the key of blinds, digests of both keys
//! cloud, evaluated     label = Y[h] + blind + AES(P(c), i), which opens commitment[h]
//! cloud, checked       both labels from the seed, p from its key: all commitments must be right, order included
//! ```
//!
//! In an evaluated circuit the cloud does not know `p`; in a checked one it knows no blind, so it can neither read `h` nor tell which of both
//! values arrived: in neither does it learn `c`. The client never learns which circuits are which. A generator that swaps
//! both `Y` gives a label that does not open its place, or has to swap the commitments, too, which a check finds. If client and generator
//! collude, the cloud may get either label, a different one in each circuit: `binding` prevents this.

use garblet_circuit::Party;
use garblet_ot::{BitVec, OtError};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{ProtocolError, bulk::check_padding_of, domain::SessionId};
use garblet_seeded::{Secrets, wires};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{Step, plan::Giver};
use crate::GENERATOR;

/// The number of blocks of both commitments of a wire.
const COMMITMENT_BLOCKS: usize = 4;
/// Bytes of the digests of both keys of a circuit.
pub(crate) const DIGESTS_BYTES: usize = 64;

/// The keys of a giver's orders and blinds in a run, as it and the generator know them. *Secret*.
pub(crate) struct Keys {
    run: SessionId,
    giver: Party,
    seed: Zeroizing<Block>,
}

impl Keys {
    pub(crate) fn new(run: SessionId, giver: Party, seed: Block) -> Self {
        Keys { run, giver, seed: Zeroizing::new(seed) }
    }

    /// The key of the order of both labels in a circuit.
    pub(crate) fn order(&self, circuit: usize) -> Block {
        self.run.domain(self.giver, Step::Order as u8).at(circuit as u64).key(*self.seed)
    }

    /// The key of the blinds of a circuit.
    pub(crate) fn blind(&self, circuit: usize) -> Block {
        self.run.domain(self.giver, Step::Blind as u8).at(circuit as u64).key(*self.seed)
    }

    /// The places of a circuit for these choices, masked, as a giver sends them to the cloud.
    pub(crate) fn masked_places(&self, circuit: usize, choices: &BitVec) -> BitVec {
        let (order, (_, mask)) =
            (order(self.order(circuit), choices.len()), blinds(self.blind(circuit), choices.len()));
        choices.iter().zip(order.iter()).zip(mask.iter()).map(|((choice, order), mask)| choice ^ order ^ mask).collect()
    }

    /// The digests of both keys of a circuit.
    pub(crate) fn digests(&self, circuit: usize) -> [u8; DIGESTS_BYTES] {
        let mut both = [0; DIGESTS_BYTES];
        both[..32].copy_from_slice(&key_digest(&self.run, self.giver, Step::Order, circuit, self.order(circuit)));
        both[32..].copy_from_slice(&key_digest(&self.run, self.giver, Step::Blind, circuit, self.blind(circuit)));
        both
    }
}

/// The digest of a key, whose 128 uniform bits hide it.
fn key_digest(run: &SessionId, giver: Party, of: Step, circuit: usize, key: Block) -> [u8; 32] {
    run.domain(giver, Step::KeyDigests as u8).at(circuit as u64).branch(of as u8).digest(&key.to_bytes())
}

/// Tells whether a key matches the digest.
pub(crate) fn is_key(run: &SessionId, giver: Party, of: Step, circuit: usize, key: Block, digest: &[u8]) -> Choice {
    key_digest(run, giver, of, circuit, key)[..].ct_eq(digest)
}

/// The order of both labels of each wire: a one where the one label comes first.
fn order(key: Block, wires: usize) -> BitVec {
    BitVec::random(wires, &mut Prg::new(key))
}

/// The blinds of labels, and the mask of places.
fn blinds(key: Block, wires: usize) -> (Zeroizing<Vec<Block>>, BitVec) {
    let mut stream = Prg::new(key);
    let mut blinds = Zeroizing::new(vec![Block::ZERO; wires]);
    stream.fill_blocks(&mut blinds);
    (blinds, BitVec::random(wires, &mut stream))
}

/// Both labels of each of a giver's wires: zero, one, zero, one.
pub(crate) fn both_labels(giver: &Giver, secrets: &Secrets) -> Zeroizing<Vec<Block>> {
    let both = |wire: usize| [secrets.evaluator[wire], secrets.evaluator[wire] ^ secrets.delta.block()];
    let mut labels = Zeroizing::new(Vec::with_capacity(2 * giver.wire_count()));
    giver.wires().for_each(|wire| labels.extend(both(wire)));
    labels
}

/// Adds the blind of each wire to both of its labels.
pub(crate) fn blind(labels: &mut [Block], key: Block) {
    let (blinds, _) = blinds(key, labels.len() / 2);
    for (pair, blind) in labels.as_chunks_mut::<2>().0.iter_mut().zip(blinds.iter()) {
        pair.iter_mut().for_each(|label| *label ^= *blind);
    }
}

/// Puts both blocks of each wire in their order.
pub(crate) fn put_in_order(pairs: &mut [Block], key: Block) {
    let order = order(key, pairs.len() / 2);
    for (pair, swap) in pairs.as_chunks_mut::<2>().0.iter_mut().zip(order.iter()) {
        let difference = Block::mask(swap) & (pair[0] ^ pair[1]);
        pair.iter_mut().for_each(|block| *block ^= difference);
    }
}

/// Commitments to labels, in the labels' order; 128 uniform bits per label are enough to hide them.
pub(crate) fn commitments(run: &SessionId, giver: &Giver, circuit: usize, labels: &[Block]) -> Vec<Block> {
    let mut all = Vec::with_capacity(COMMITMENT_BLOCKS * giver.wire_count());
    for (wire, pair) in giver.wires().zip(labels.as_chunks::<2>().0) {
        pair.iter().for_each(|label| all.extend(commitment(run, circuit, wire, *label)));
    }
    all
}

/// The commitments that a checked circuit must have.
pub(crate) fn expected_commitments(
    run: &SessionId,
    giver: &Giver,
    circuit: usize,
    secrets: &Secrets,
    order: Block,
) -> Vec<Block> {
    let mut labels = both_labels(giver, secrets);
    put_in_order(&mut labels, order);
    commitments(run, giver, circuit, &labels)
}

fn commitment(run: &SessionId, circuit: usize, wire: usize, label: Block) -> [Block; 2] {
    let domain = run.domain(GENERATOR, Step::Commitments as u8).at((circuit as u64) << 32 | wire as u64);
    bytemuck::cast(domain.digest(&label.to_bytes()))
}

/// The number of blocks that the cloud gets for a giver's wires in a circuit.
pub(crate) fn blocks(giver: &Giver) -> usize {
    (2 + COMMITMENT_BLOCKS) * giver.wire_count()
}

/// Takes the labels of a circuit that were decrypted at their places: returns them without blinds, and whether they open the commitments there.
///
/// The steps taken do not depend on whether the key is the key of the blinds.
pub(crate) struct Taking {
    blinds: Zeroizing<Vec<Block>>,
    /// The places of labels, which reveal nothing without the order.
    pub(crate) places: BitVec,
}

impl Taking {
    pub(crate) fn new(key: Block, masked_places: &BitVec) -> Self {
        let (blinds, mask) = blinds(key, masked_places.len());
        let places = masked_places.iter().zip(mask.iter()).map(|(place, mask)| place ^ mask).collect();
        Taking { blinds, places }
    }

    /// Unblinds the labels, and tells whether all open the commitments at their places.
    pub(crate) fn take(
        &self,
        run: &SessionId,
        giver: &Giver,
        circuit: usize,
        labels: &mut [Block],
        commitments: &[Block],
    ) -> Choice {
        labels.iter_mut().zip(self.blinds.iter()).for_each(|(label, blind)| *label ^= *blind);
        let committed = commitments.as_chunks::<COMMITMENT_BLOCKS>().0;
        let wires = giver.wires().zip(labels.iter()).zip(committed.iter().zip(self.places.iter()));
        wires.fold(Choice::from(1), |fit, ((wire, &label), (committed, second))| {
            let got = commitment(run, circuit, wire, label);
            let expected = [0, 1].map(|half| Block::select(second, committed[2 + half], committed[half]));
            fit & got[0].ct_eq(&expected[0]) & got[1].ct_eq(&expected[1])
        })
    }
}

/// A giver's whole message to the cloud in a run. *Secret*.
pub(crate) struct Given {
    /// The cipher keys of the chosen labels.
    pub(crate) ciphers: Zeroizing<Vec<Block>>,
    /// For each circuit the places, masked.
    pub(crate) places: Vec<BitVec>,
    /// For each circuit the digests of both keys.
    pub(crate) digests: Vec<[u8; DIGESTS_BYTES]>,
}

impl Given {
    /// The message for these choices, with the pads from the OT.
    pub(crate) fn new(keys: &Keys, circuits: usize, choices: &BitVec, pads: &[Block]) -> Self {
        let domain = keys.run.domain(keys.giver, Step::Labels as u8);
        Given {
            ciphers: wires::chosen_keys(domain, pads, choices),
            places: (0..circuits).map(|circuit| keys.masked_places(circuit, choices)).collect(),
            digests: (0..circuits).map(|circuit| keys.digests(circuit)).collect(),
        }
    }

    /// The number of bytes of a giver's message.
    pub(crate) fn bytes(giver: &Giver, circuits: usize) -> usize {
        16 * giver.wire_count() + circuits * (giver.wire_count().div_ceil(8) + DIGESTS_BYTES)
    }

    pub(crate) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(16 * self.ciphers.len()));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.ciphers));
        self.places.iter().for_each(|places| bytes.extend_from_slice(places.as_bytes()));
        bytes.extend_from_slice(self.digests.as_flattened());
        bytes
    }

    /// Reads a message of [`Given::bytes`].
    ///
    /// *Errors*: another length; as [`check_padding_of`].
    pub(crate) fn decode(bytes: &[u8], giver: &Giver, circuits: usize) -> Result<Self, ProtocolError> {
        let wires = giver.wire_count();
        let expected = Given::bytes(giver, circuits);
        if bytes.len() != expected {
            return Err(OtError::WrongLength { what: "choices of a client", expected, got: bytes.len() }.into());
        }
        let (ciphers, rest) = bytes.split_at(16 * wires);
        let (places, digests) = rest.split_at(circuits * wires.div_ceil(8));
        let ciphers = ciphers.as_chunks::<16>().0.iter().map(|&key| Block::from_bytes(key));
        let of_circuit = |circuit: usize| {
            let packed = &places[circuit * wires.div_ceil(8)..][..wires.div_ceil(8)];
            check_padding_of(giver.party, packed, wires)?;
            Ok::<_, ProtocolError>(BitVec::from_bytes(packed.to_vec(), wires)?)
        };
        Ok(Given {
            ciphers: Zeroizing::new(ciphers.collect()),
            places: (0..circuits).map(of_circuit).collect::<Result<_, _>>()?,
            digests: digests.as_chunks().0.to_vec(),
        })
    }
}
