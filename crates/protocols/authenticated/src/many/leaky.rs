//! Steps P2 to P5: leaky triples. Cheats may learn the sum of honest parties' first factors of one, and are caught with probability one half.
//!
//! *Source*: Katz, Ranellucci, Rosulek and Wang for many parties, the leaky AND of the authenticated triples; the test is our own, see `zero`.
//!
//! *Symbols*: a leaky triple has shares `a`, `b`, `r`; `c = r + d` for a public `d`. `Phi_i` is the sum of all that party `i` has of `b` times the differences,
//! under a share of zero, so the sum of all parties' is `b` times the sum of all differences.
//!
//! | flow | to every other party | bytes, for `l` leaky triples |
//! |---|---|---|
//! | 4 | a digest of all hashes of bits heard; commitments to two coins; the blocks `u` | 32; 64; 16 l |
//! | 5, 6 | commitment to `d`; `d`, with the opening | 32; l/8 + 32 |
//! | 7 | the coin of the test | 64 |
//! | 8 to 10 | the test, see `zero` | 2,144 |

use std::sync::{Mutex, PoisonError};

use garblet_circuit::Party;
use garblet_net::{Line, NetError, PerPeer};
use garblet_primitives::{Block, OtHash};
use garblet_protocol::{MeshSession, bulk::check_padding_of, conduct::Conduct, error::ProtocolError};
use zeroize::Zeroizing;

use super::{
    Step,
    bits::{CotChecked, check_bits},
    checks::PRODUCT_BITS,
    ground::{DIGEST_BYTES, Ground, Opened},
    place::Place,
    shares::Shares,
};
use crate::{
    coins::{COMMITMENT_BYTES, Coin},
    opening::Packed,
    shares::{LOT, PowerSum},
};

/// Bytes before the blocks `u`: the digest and the commitments.
pub(super) const HEAD_BYTES: usize = DIGEST_BYTES + 2 * COMMITMENT_BYTES;

const _: () = assert!(HEAD_BYTES.is_multiple_of(16), "blocks are read from pieces of whole blocks");

/// Leaky triples that passed the test.
pub(super) struct Leaky {
    /// All `a`, then all `b`, all `r`, and the masks.
    pub(super) shares: Shares,
    /// The `d`.
    pub(super) product_bits: Packed,
    /// The coins of the shifts, committed to before anything was known of these triples.
    pub(super) shift_coin: Coin,
    pub(super) shift_commitments: PerPeer<Vec<u8>>,
}

/// A party's sums `s`, and the blocks `u` for every other party, each after the head of the message.
struct Products {
    sums: Zeroizing<Vec<Block>>,
    messages: PerPeer<Vec<u8>>,
}

impl<K: Conduct<Step>> Ground<K> {
    /// Steps P2 to P5 on checked OTs, whose bits are those of `count` leaky triples, of `masks` masks, and of the test.
    ///
    /// *Errors*: somebody who cheats; the connections'.
    pub(super) async fn leaky_triples(
        &mut self,
        session: &mut MeshSession,
        checked: CotChecked,
        (count, masks): (usize, usize),
        number: u64,
    ) -> Result<Leaky, ProtocolError> {
        let (sum_coin, sum_commitment) = self.commit_coin(session, Place::SumCoins, number);
        let (shift_coin, shift_commitment) = self.commit_coin(session, Place::ShiftCoins, number);
        let head = [checked.echo, sum_commitment, shift_commitment].concat();
        let Products { mut sums, messages } = self.products(&checked, &head, count, number);
        let heads = self.exchange_blocks(session, &checked, messages, &mut sums).await?;
        let all = check_bits(&checked, heads.iter().map(|(_, head)| &head[..DIGEST_BYTES]))?;
        let of = |at: usize| heads.map_ref(|_, head| head[at..at + COMMITMENT_BYTES].to_vec());
        let (sum_commitments, shift_commitments) = (of(DIGEST_BYTES), of(DIGEST_BYTES + COMMITMENT_BYTES));

        // P4.
        let own_bits = Packed::collect(count, |at| sums[at].lsb());
        let product_bits = self.tell_product_bits(session, own_bits, count, number).await?;
        let coins = self.broadcast(session, Step::Coins, &sum_coin.message()).await?;
        let point = self.coin((Place::SumCoins, number), &sum_coin, &sum_commitments, &coins)?;

        // P5.
        let delta = self.in_ots.block();
        sums.iter_mut().enumerate().for_each(|(at, sum)| *sum ^= Block::mask(product_bits.get(at)) & delta);
        let mut weighed = PowerSum::new(point);
        weighed.add_all(&sums);
        let part = weighed.finish() ^ self.zeros(Place::SumZeros, number).next();
        self.test_zero(session, &checked, (3 * count + masks, part), number).await?;
        let shares = self.release(checked, all, 3 * count + masks);
        Ok(Leaky { shares, product_bits, shift_coin, shift_commitments })
    }

    /// Steps P2, P3 and the part of P4 before the others' blocks arrive.
    fn products(&self, checked: &CotChecked, head: &[u8], count: usize, number: u64) -> Products {
        let delta = self.in_ots.block();
        let mut sums = Zeroizing::new(Vec::with_capacity(count));
        let mut messages = self.pairs.map_ref(|_, _| {
            let mut message = Vec::with_capacity(head.len() + 16 * count);
            message.extend_from_slice(head);
            message
        });
        let mut zeros = self.zeros(Place::ProductZeros, number);
        let mut lots = Zeroizing::new([[Block::ZERO; LOT]; 4]);
        for start in (0..count).step_by(LOT) {
            let len = LOT.min(count - start);
            let part = |which: usize| which * count + start..which * count + start + len;
            // A separate key for each lot: a search for the difference among all hashes under one key gains a factor of their number.
            let hash = OtHash::new(checked.hash_key ^ Block::from_u128((start / LOT) as u128));
            let [phi, zero, one, received] = &mut *lots;
            let [phi, zero, one, received] = [&mut phi[..len], &mut zero[..len], &mut one[..len], &mut received[..len]];
            self.parts_of(checked, part(1), phi);
            zeros.add_to(phi);
            let mut lot = Zeroizing::new(vec![Block::ZERO; len]);
            self.parts_of(checked, part(2), &mut lot);
            for (at, sum) in lot.iter_mut().enumerate() {
                *sum ^= Block::mask(checked.bit(start + at)) & phi[at];
            }
            for (((peer, keys), (_, macs)), (_, message)) in
                checked.keys.iter().zip(checked.macs.iter()).zip(messages.iter_mut())
            {
                let keys = &keys[part(0)];
                zero.copy_from_slice(keys);
                one.iter_mut().zip(keys).for_each(|(one, &key)| *one = key ^ delta);
                received.copy_from_slice(&macs[part(0)]);
                hash.hash_batch(tweak(self.party.0, peer, start), zero);
                hash.hash_batch(tweak(self.party.0, peer, start), one);
                hash.hash_batch(tweak(peer, self.party.0, start), received);
                for at in 0..len {
                    message.extend_from_slice(&(zero[at] ^ one[at] ^ phi[at]).to_bytes());
                    lot[at] ^= zero[at] ^ received[at];
                }
            }
            sums.extend_from_slice(&lot);
        }
        Products { sums, messages }
    }

    /// The sums of all blocks that this party has of bits: of their multiples of its own difference, and of all others'.
    fn parts_of(&self, checked: &CotChecked, range: std::ops::Range<usize>, sums: &mut [Block]) {
        let delta = self.in_ots.block();
        sums.iter_mut().zip(range.clone()).for_each(|(sum, at)| *sum = Block::mask(checked.bit(at)) & delta);
        for ((_, keys), (_, macs)) in checked.keys.iter().zip(checked.macs.iter()) {
            let pairs = keys[range.clone()].iter().zip(&macs[range.clone()]);
            sums.iter_mut().zip(pairs).for_each(|(sum, (&key, &mac))| *sum ^= key ^ mac);
        }
    }

    /// Flow 4: adds the others' blocks to the sums as they arrive. Returns the heads of their messages.
    async fn exchange_blocks(
        &mut self,
        session: &mut MeshSession,
        checked: &CotChecked,
        mut messages: PerPeer<Vec<u8>>,
        sums: &mut [Block],
    ) -> Result<PerPeer<Vec<u8>>, ProtocolError> {
        messages.iter_mut().for_each(|(peer, message)| self.conduct.touch(Step::LeakyBlocks, peer.into(), message));
        let sums = Mutex::new(sums);
        let step = async |_: u16, mut line: Line, message: Vec<u8>| {
            let mut head = Vec::with_capacity(HEAD_BYTES);
            let add = |at: usize, piece: &[u8]| {
                let (of_head, blocks) = piece.split_at(HEAD_BYTES.saturating_sub(at).min(piece.len()));
                head.extend_from_slice(of_head);
                let first = (at + of_head.len()).saturating_sub(HEAD_BYTES) / 16;
                let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
                for (index, block) in (first..).zip(blocks.as_chunks::<16>().0) {
                    sums[index] ^= Block::mask(checked.bit(index)) & Block::from_bytes(*block);
                }
            };
            line.exchange_pieces(&message, message.len(), add).await?;
            Ok::<_, NetError>(head)
        };
        Ok(session.mesh().each(messages, step).await?)
    }

    /// Step P4: commits to bits, opens them, and adds the others'.
    async fn tell_product_bits(
        &mut self,
        session: &mut MeshSession,
        mut own: Packed,
        count: usize,
        number: u64,
    ) -> Result<Packed, ProtocolError> {
        let steps = [Step::OwnProductBits, Step::ProductBitsCommitment, Step::ProductBits];
        let opened = Opened { place: Place::ProductBits, number, steps, check: PRODUCT_BITS };
        let theirs = self.commit_and_open(session, opened, &mut own.0).await?;
        for (peer, bits) in theirs.iter() {
            check_padding_of(Party(peer), bits, count)?;
            own = own.sum(bits);
        }
        Ok(own)
    }
}

/// The first tweak of the hashes of a sender's blocks with a receiver, from block `start` on.
pub(super) fn tweak(sender: u16, receiver: u16, start: usize) -> u64 {
    u64::from(sender) << 48 | u64::from(receiver) << 40 | start as u64
}
