//! The evaluator's wires: OTs whose choices are corrected, and the labels of many circuits by one OT for each wire.

use garblet_ot::Choices;
use garblet_primitives::{Aes128, Block};
use zeroize::Zeroizing;

use super::circuit::Secrets;
use crate::binding::Place;

/// Exchanges the two pads of each OT whose receiver's choice is the other one.
pub(crate) fn exchange(pads: &mut [[Block; 2]], corrections: &Choices) {
    for (pads, swap) in pads.iter_mut().zip(corrections.iter()) {
        let difference = Block::mask(swap) & (pads[0] ^ pads[1]);
        pads[0] ^= difference;
        pads[1] ^= difference;
    }
}

/// Both labels of every wire of the evaluator: zero, one, zero, one.
pub(crate) fn both_labels(secrets: &Secrets) -> Zeroizing<Vec<Block>> {
    Zeroizing::new(secrets.evaluator_pairs().flatten().collect())
}

/// The garbler's ciphers: two for each wire, whose pads stand in the order of the evaluator's values.
pub(crate) fn sender_ciphers(place: Place, pads: &[[Block; 2]]) -> Vec<Aes128> {
    let keys = pads.iter().enumerate().flat_map(|(wire, pads)| {
        [0, 1].map(|branch| place.at(wire as u64).branch(branch).key(pads[usize::from(branch)]))
    });
    Aes128::many(&Zeroizing::new(keys.collect::<Vec<Block>>()))
}

/// The evaluator's ciphers: that of its choice for each wire.
pub(crate) fn receiver_ciphers(place: Place, pads: &[Block], choices: &Choices) -> Vec<Aes128> {
    let keys = pads.iter().zip(choices.iter()).enumerate();
    let keys = keys.map(|(wire, (&pad, choice))| place.at(wire as u64).branch(u8::from(choice)).key(pad));
    Aes128::many(&Zeroizing::new(keys.collect::<Vec<Block>>()))
}

/// Encrypts the labels of a circuit, as [`both_labels`] gives them.
///
/// *Unique*: `circuit` under these ciphers.
pub(crate) fn encrypt(labels: &mut [Block], ciphers: &[Aes128], circuit: usize) {
    for (label, cipher) in labels.iter_mut().zip(ciphers) {
        *label ^= cipher.encrypt(Block::from_u128(circuit as u128));
    }
}

/// Decrypts, of the labels of a circuit, those of the choices. What is done does not depend on them.
pub(crate) fn decrypt(
    labels: &[Block],
    ciphers: &[Aes128],
    choices: &Choices,
    circuit: usize,
) -> Zeroizing<Vec<Block>> {
    let pairs = labels.as_chunks::<2>().0.iter().zip(choices.iter()).zip(ciphers);
    let own = pairs.map(|(([zero, one], choice), cipher)| {
        Block::select(choice, *one, *zero) ^ cipher.encrypt(Block::from_u128(circuit as u128))
    });
    Zeroizing::new(own.collect())
}
