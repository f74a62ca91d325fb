//! The evaluator's wires: OTs with corrected choices, and the labels of many circuits by one OT per wire.

use garblet_ot::BitVec;
use garblet_primitives::{Aes128, Bit, Block};
use zeroize::Zeroizing;

use super::circuit::Secrets;
use garblet_protocol::domain::Domain;

/// Swaps the two pads of each OT whose choice the receiver corrects.
pub fn exchange(pads: &mut [[Block; 2]], corrections: &BitVec) {
    for (pads, swap) in pads.iter_mut().zip(corrections.iter()) {
        let difference = Block::mask(swap) & (pads[0] ^ pads[1]);
        pads[0] ^= difference;
        pads[1] ^= difference;
    }
}

/// Both labels of every wire of the evaluator: zero, one, zero, one.
pub fn both_labels(secrets: &Secrets) -> Zeroizing<Vec<Block>> {
    Zeroizing::new(secrets.evaluator_pairs().flatten().collect())
}

/// The cipher keys for a receiver's choices, one for each wire. *Secret*.
pub fn chosen_keys(domain: Domain, pads: &[Block], choices: &BitVec) -> Zeroizing<Vec<Block>> {
    let keys = pads.iter().zip(choices.iter()).enumerate();
    let key = |(wire, (&pad, choice)): (usize, (&Block, Bit))| domain.at(wire as u64).branch(choice.number()).key(pad);
    Zeroizing::new(keys.map(key).collect())
}

/// The number of circuits whose pads are made at a time: as many blocks as one cipher encrypts side by side.
const TOGETHER: usize = 16;

/// The pads of labels, one for each cipher and circuit: the encryption of the circuit's number.
pub struct Pads {
    ciphers: Vec<Aes128>,
    /// The first circuit with available pads.
    first: Option<usize>,
    /// The pads: for each cipher, those of a batch of circuits.
    pads: Zeroizing<Vec<Block>>,
}

impl Pads {
    /// The garbler's pads: two ciphers for each wire, with keys in the order of the evaluator's values.
    pub fn of_sender(domain: Domain, pads: &[[Block; 2]]) -> Self {
        let keys = pads.iter().enumerate().flat_map(|(wire, pads)| {
            [0, 1].map(|branch| domain.at(wire as u64).branch(branch).key(pads[usize::from(branch)]))
        });
        Pads::new(keys)
    }

    /// The evaluator's pads: the cipher of its choice for each wire.
    pub fn of_receiver(domain: Domain, pads: &[Block], choices: &BitVec) -> Self {
        Pads::of_keys(&chosen_keys(domain, pads, choices))
    }

    fn new(keys: impl Iterator<Item = Block>) -> Self {
        Pads::of_keys(&Zeroizing::new(keys.collect::<Vec<Block>>()))
    }

    /// The pads for the keys of [`chosen_keys`].
    pub fn of_keys(keys: &[Block]) -> Self {
        let ciphers = Aes128::many(keys);
        let pads = Zeroizing::new(vec![Block::ZERO; TOGETHER * ciphers.len()]);
        Pads { ciphers, first: None, pads }
    }

    /// Encrypts the labels of a circuit, as [`both_labels`] gives them.
    ///
    /// *Unique*: the circuit under these ciphers.
    pub fn encrypt(&mut self, labels: &mut [Block], circuit: usize) {
        labels.iter_mut().zip(self.of(circuit)).for_each(|(label, pad)| *label ^= pad);
    }

    /// Decrypts the labels of a circuit for the choices, or at these places where each pair has its own order. The steps
    /// taken do not depend on them.
    pub fn decrypt(&mut self, labels: &[Block], choices: &BitVec, circuit: usize) -> Zeroizing<Vec<Block>> {
        let pairs = labels.as_chunks::<2>().0.iter().zip(choices.iter()).zip(self.of(circuit));
        Zeroizing::new(pairs.map(|(([zero, one], choice), pad)| Block::select(choice, *one, *zero) ^ pad).collect())
    }

    /// The pads of a circuit, one for each cipher.
    fn of(&mut self, circuit: usize) -> impl Iterator<Item = Block> + '_ {
        let first = circuit - circuit % TOGETHER;
        if self.first != Some(first) {
            self.first = Some(first);
            let of_ciphers = self.ciphers.iter().zip(self.pads.as_chunks_mut::<TOGETHER>().0);
            of_ciphers.for_each(|(cipher, pads)| cipher.keystream(first as u64, pads));
        }
        self.pads.iter().skip(circuit - first).step_by(TOGETHER).copied()
    }
}
