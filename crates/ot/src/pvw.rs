//! The OT of Peikert, Vaikuntanathan and Waters: secure against malicious parties without a random oracle for privacy.
//!
//! *Source*: Peikert, Vaikuntanathan, Waters, "A framework for efficient and composable oblivious transfer" (CRYPTO 2008),
//! section 5, in messy mode, over ristretto255 (RFC 9496); the OT that Pinkas, Schneider, Smart and Williams (ASIACRYPT 2009)
//! measured. [`crate::base`] is faster, and everything else here uses it.
//!
//! # Steps
//!
//! The reference string is four elements `g_0, h_0, g_1, h_1` that both parties derive from jointly tossed coins.
//!
//! | step | who | what |
//! |---|---|---|
//! | 1 | receiver | for each choice `b`: `g = r g_b`, `h = r h_b` |
//! | 2 | sender | for each branch `v`: `u_v = s g_v + t h_v`; the pad is a hash of `s g + t h` |
//! | 3 | receiver | the pad of its choice is a hash of `r u_b` |
//!
//! # Deviations
//!
//! The pads are the messages (a key encapsulation), so no group element carries a message. Pads are bound to session, index,
//! branch and the transcript. Elements are computed at half their value and doubled during encoding, see [`crate::base`].
//!
//! # Cost
//!
//! [`BYTES_PER_OT`] bytes each way, one round. Per OT the receiver does three multiplications, the sender four of two terms each.
//!
//! # Adversary and assumptions
//!
//! Malicious. The string is not a Diffie-Hellman tuple except with probability 2^-250, so one of the two pads is uniform whatever
//! a receiver sends. The receiver's choice is hidden if the decisional Diffie-Hellman problem is hard.

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::MultiscalarMul;
use garblet_net::Channel;
use garblet_primitives::Block;
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroizing;

use crate::bit_vec::BitVec;
use crate::error::OtError;
use crate::group;

/// Payload bytes per OT in each direction.
pub const BYTES_PER_OT: u64 = 64;

/// The reference string. Public; may serve any number of OTs.
pub struct ReferenceString {
    /// `g_v` and `h_v` for each branch `v`.
    branches: [[RistrettoPoint; 2]; 2],
}

impl ReferenceString {
    /// Derives the string from jointly tossed coins, so that neither party knows a logarithm: messy mode.
    pub fn of_coins(coins: &[u8; 32]) -> Self {
        let element = |branch: u8, which: u8| {
            let mut uniform = [0; 64];
            let mut hash = blake3::Hasher::new_derive_key("garblet PVW OT: element of the reference string, v1");
            hash.update(coins).update(&[branch, which]).finalize_xof().fill(&mut uniform);
            RistrettoPoint::from_uniform_bytes(&uniform)
        };
        ReferenceString { branches: [0, 1].map(|branch| [0, 1].map(|which| element(branch, which))) }
    }
}

/// Runs the sender: returns both pads of each of `n` OTs.
///
/// *Unique*: `session` identifies this batch of OTs between these parties.
///
/// *Errors*: [`OtError::InvalidPoint`] and [`OtError::IdentityPoint`] for the receiver's elements; connection errors.
pub async fn send(
    channel: &mut Channel,
    reference: &ReferenceString,
    session: [u8; 32],
    n: usize,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<Zeroizing<Vec<[Block; 2]>>, OtError> {
    let mut keys = vec![[[0; 32]; 2]; n];
    channel.receive_bytes(keys.as_flattened_mut().as_flattened_mut()).await?;
    let mut halves = Vec::with_capacity(2 * n);
    let mut secrets = Zeroizing::new(Vec::with_capacity(2 * n));
    for (i, key) in keys.iter().enumerate() {
        let key = [group::decode(key[0], "PVW key", 2 * i)?, group::decode(key[1], "PVW key", 2 * i + 1)?];
        for branch in &reference.branches {
            let scalars = Zeroizing::new([Scalar::random(rng), Scalar::random(rng)]);
            halves.push(RistrettoPoint::multiscalar_mul(scalars.iter(), branch));
            secrets.push(RistrettoPoint::multiscalar_mul(scalars.iter(), &key));
        }
    }
    let elements = group::encode_doubled(&halves);
    channel.send_bytes(elements.as_flattened()).await?;
    let secrets = Zeroizing::new(group::encode_doubled(&secrets));
    let pads = (0..n).map(|i| {
        [0, 1].map(|v| {
            let at = 2 * i + v;
            pad(&session, i, v as u8, &keys[i], &elements[at], &secrets[at])
        })
    });
    Ok(Zeroizing::new(pads.collect()))
}

/// Runs the receiver: returns the pad of its choice in each OT.
///
/// *Unique*: `session` identifies this batch of OTs between these parties.
///
/// *Errors*: [`OtError::InvalidPoint`] and [`OtError::IdentityPoint`] for the sender's elements; connection errors.
pub async fn receive(
    channel: &mut Channel,
    reference: &ReferenceString,
    session: [u8; 32],
    choices: &BitVec,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<Zeroizing<Vec<Block>>, OtError> {
    let secrets: Zeroizing<Vec<Scalar>> = Zeroizing::new(choices.iter().map(|_| Scalar::random(rng)).collect());
    let halves = secrets.iter().zip(choices.iter()).flat_map(|(secret, choice)| {
        let choice = Choice::from(choice);
        [0, 1].map(|which| {
            let [zero, one] = [0, 1].map(|branch: usize| reference.branches[branch][which]);
            RistrettoPoint::conditional_select(&zero, &one, choice) * secret
        })
    });
    let keys = group::encode_doubled(&halves.collect::<Vec<_>>());
    channel.send_bytes(keys.as_flattened()).await?;
    let mut elements = vec![[[0; 32]; 2]; choices.len()];
    channel.receive_bytes(elements.as_flattened_mut().as_flattened_mut()).await?;
    // The selected one of the two elements reveals the choice.
    let mut chosen = Zeroizing::new(Vec::with_capacity(choices.len()));
    let mut shared = Zeroizing::new(Vec::with_capacity(choices.len()));
    for (i, (pair, choice)) in elements.iter().zip(choices.iter()).enumerate() {
        // Decode both, so that a rejection does not depend on the choice.
        let points = [group::decode(pair[0], "PVW element", 2 * i)?, group::decode(pair[1], "PVW element", 2 * i + 1)?];
        let bit = Choice::from(choice);
        shared.push(RistrettoPoint::conditional_select(&points[0], &points[1], bit) * secrets[i]);
        let bytes: [u8; 32] = std::array::from_fn(|at| u8::conditional_select(&pair[0][at], &pair[1][at], bit));
        chosen.push(bytes);
    }
    let shared = Zeroizing::new(group::encode_doubled(&shared));
    let pads = keys.as_chunks::<2>().0.iter().zip(chosen.iter()).zip(shared.iter()).zip(choices.iter()).enumerate();
    let pads =
        pads.map(|(i, (((key, element), shared), choice))| pad(&session, i, choice.number(), key, element, shared));
    Ok(Zeroizing::new(pads.collect()))
}

/// The pad of a branch, bound to session, index, branch and elements.
fn pad(
    session: &[u8; 32],
    index: usize,
    branch: u8,
    key: &[[u8; 32]; 2],
    element: &[u8; 32],
    secret: &[u8; 32],
) -> Block {
    let mut hash = blake3::Hasher::new_derive_key("garblet PVW OT: pad, v1");
    hash.update(session).update(&(index as u64).to_le_bytes()).update(&[branch]);
    hash.update(key.as_flattened()).update(element).update(secret);
    Block::from_digest(hash.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;
    use crate::testing::{block_on, channels};

    const SESSION: [u8; 32] = [5; 32];

    fn run(
        choices: &BitVec,
        coins: [[u8; 32]; 2],
        sessions: [[u8; 32]; 2],
    ) -> (Zeroizing<Vec<[Block; 2]>>, Zeroizing<Vec<Block>>) {
        let (mut ours, mut theirs) = channels();
        let strings = coins.map(|coins| ReferenceString::of_coins(&coins));
        block_on(async {
            let (mut a, mut b) = (Prg::new(Block::ZERO), Prg::new(Block::ONES));
            let sender = async {
                let pads = send(&mut ours, &strings[0], sessions[0], choices.len(), &mut a).await;
                ours.flush().await.unwrap();
                pads
            };
            let (sent, received) =
                tokio::join!(sender, receive(&mut theirs, &strings[1], sessions[1], choices, &mut b));
            let bytes = BYTES_PER_OT * choices.len() as u64;
            assert_eq!((ours.traffic().bytes_sent, theirs.traffic().bytes_sent), (bytes, bytes));
            (sent.unwrap(), received.unwrap())
        })
    }

    #[test]
    fn the_receiver_gets_the_chosen_pad_and_not_the_other() {
        let choices = BitVec::random(20, &mut Prg::new(Block::from_u128(9)));
        let (pads, chosen) = run(&choices, [[1; 32]; 2], [SESSION; 2]);
        for (i, choice) in choices.iter().enumerate() {
            assert!(chosen[i] == pads[i][usize::from(choice.number())]);
            assert!(chosen[i] != pads[i][usize::from((!choice).number())]);
        }
    }

    #[test]
    fn parties_of_other_sessions_or_coins_have_nothing_in_common() {
        let choices = BitVec::zeros(3);
        for (coins, sessions) in [([[1; 32], [2; 32]], [SESSION; 2]), ([[1; 32]; 2], [SESSION, [6; 32]])] {
            let (pads, chosen) = run(&choices, coins, sessions);
            assert!(pads.as_flattened().iter().all(|pad| !chosen.contains(pad)));
        }
    }

    #[test]
    fn a_choice_does_not_change_the_form_of_messages() {
        for choice in [0, 0xff] {
            let choices = BitVec::from_bytes(vec![choice], 8).unwrap();
            let (pads, chosen) = run(&choices, [[1; 32]; 2], [SESSION; 2]);
            assert!((0..8).all(|i| chosen[i] == pads[i][usize::from(choice == 0xff)]));
        }
    }

    /// The sender's error when a receiver sends these keys.
    fn sender_error(keys: &[u8]) -> Option<OtError> {
        let (mut ours, mut theirs) = channels();
        block_on(async {
            theirs.send_bytes(keys).await.unwrap();
            theirs.flush().await.unwrap();
            let reference = ReferenceString::of_coins(&[1; 32]);
            send(&mut ours, &reference, SESSION, 2, &mut Prg::new(Block::ZERO)).await.err()
        })
    }

    #[test]
    fn invalid_keys_and_the_identity_are_refused_by_the_sender() {
        let valid = group::BASEPOINT.to_bytes();
        for at in 0..4 {
            for (bytes, identity) in [([0; 32], true), ([0xff; 32], false)] {
                let mut keys = [valid; 4];
                keys[at] = bytes;
                match sender_error(keys.as_flattened()) {
                    Some(OtError::IdentityPoint { index, .. }) => assert!(identity && index == at),
                    Some(OtError::InvalidPoint { index, .. }) => assert!(!identity && index == at),
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    #[test]
    fn invalid_elements_are_refused_by_the_receiver_for_any_choice() {
        for choice in [0, 1] {
            for at in 0..2 {
                let (mut ours, mut theirs) = channels();
                let error = block_on(async {
                    let mut elements = [group::BASEPOINT.to_bytes(); 2];
                    elements[at] = [0; 32];
                    ours.send_bytes(elements.as_flattened()).await.unwrap();
                    ours.flush().await.unwrap();
                    let choices = BitVec::from_bytes(vec![choice], 1).unwrap();
                    let reference = ReferenceString::of_coins(&[1; 32]);
                    receive(&mut theirs, &reference, SESSION, &choices, &mut Prg::new(Block::ZERO)).await.err()
                });
                assert!(matches!(error, Some(OtError::IdentityPoint { index, .. }) if index == at));
            }
        }
    }
}
