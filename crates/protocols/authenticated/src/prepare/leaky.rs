//! Steps P2 to P4: leaky triples. A cheating peer may learn the first factor of one, and is caught with probability one half.
//!
//! *Symbols*: a leaky triple has shares `a`, `b`, `r`; `c = r + d` for a public `d`. `Phi_i = b^i D_i + K_i[b] + M_i[b]`, so that the sum of both parties' is
//! `b (D_0 + D_1)`.

use garblet_ot::BitVec;
use garblet_primitives::{Block, OtHash};
use garblet_protocol::{
    bulk::check_padding, checks::Cheating, conduct::Conduct, domain::Domain, error::ProtocolError, session::Session,
};
use zeroize::Zeroizing;

use super::correlated::{CotChecked, share};
use crate::{
    Step, checks,
    coins::{COMMITMENT_BYTES, Coin, OPENING_BYTES},
    ground::Ground,
    opening::Packed,
    place::Place,
    shares::{LOT, Shares},
};

/// The first tweak of the second party's direction.
const SECOND_DIRECTION: u64 = 1 << 63;

/// Leaky triples that passed the equality check.
pub(super) struct Leaky {
    /// All `a`, then all `b`, all `r`, and the masks.
    pub(super) shares: Shares,
    /// The `d`.
    pub(super) product_bits: Packed,
    /// The coins of the shifts, committed to before anything was known of these triples.
    pub(super) shift_coin: Coin,
    pub(super) shift_commitment: [u8; COMMITMENT_BYTES],
}

impl<C: Conduct<Step>> Ground<C> {
    /// Steps P2 to P5 on checked OTs.
    ///
    /// *Errors*: a peer that cheats; the connection's.
    pub(super) async fn leaky_triples(
        &mut self,
        session: &mut Session,
        checked: CotChecked,
        count: usize,
        number: u64,
    ) -> Result<Leaky, ProtocolError> {
        // P2, P3.
        let Products { mut sent, mut sums, bits, shares } = products(self.party.0, self.in_ots.block(), checked, count);
        let equality_domain = self.domain(self.party, Place::EqualityCoins, number);
        let shift_domain = self.domain(self.party, Place::ShiftCoins, number);
        let (equality_coin, mut equality_commitment) = Coin::commit(&equality_domain, session.rng());
        let (shift_coin, shift_commitment) = Coin::commit(&shift_domain, session.rng());
        self.conduct.touch(Step::LeakyBlocks, 0, bytemuck::cast_slice_mut(&mut sent));
        self.conduct.touch(Step::CoinCommitments, 0, &mut equality_commitment);
        for commitment in [&equality_commitment, &shift_commitment] {
            sent.extend(commitment.as_chunks().0.iter().map(|&block| Block::from_bytes(block)));
        }
        const BOTH: usize = 2 * COMMITMENT_BYTES;
        let mut commitments = [0; BOTH];
        let blocks = 16 * count;
        let add = |at: usize, piece: &[u8]| {
            let (of_blocks, of_commitments) = piece.split_at(blocks.saturating_sub(at).min(piece.len()));
            for (index, block) in of_blocks.as_chunks::<16>().0.iter().enumerate() {
                let index = at / 16 + index;
                sums[index] ^= Block::mask(bits.get(index)) & Block::from_bytes(*block);
            }
            let at = (at + of_blocks.len()).saturating_sub(blocks);
            commitments[at..at + of_commitments.len()].copy_from_slice(of_commitments);
        };
        session.channel().exchange_pieces(bytemuck::cast_slice(&sent), blocks + BOTH, add).await?;
        drop(sent);
        let [their_equality, shift_commitment] = [0, 1].map(|at| commitments.as_chunks::<COMMITMENT_BYTES>().0[at]);

        // P4.
        let own_bits = Packed::collect(count, |at| sums[at].lsb());
        let product_bits = self.tell_product_bits(session, own_bits, count, number).await?;
        let domain_of = |ground: &Self| {
            let [first, second] =
                [0, 1].map(|party| ground.domain(garblet_circuit::Party(party), Place::EqualityCoins, number));
            move |party: garblet_circuit::Party| if party.0 == 0 { first } else { second }
        };
        let mut opening = equality_coin.message();
        let mut theirs = [0; OPENING_BYTES];
        self.exchange(session, Step::Coins, &mut opening, &mut theirs).await?;
        let parties = [self.party, self.peer()];
        let mut coins = equality_coin.toss(domain_of(self), parties, their_equality, &theirs)?;

        // P5.
        let delta = self.in_ots.block();
        sums.iter_mut().enumerate().for_each(|(at, sum)| *sum ^= Block::mask(product_bits.get(at)) & delta);
        self.check_equality(session, &sums, coins.next_block(), number).await?;
        Ok(Leaky { shares, product_bits, shift_coin, shift_commitment })
    }

    /// Step P4: commits to bits, opens them, and adds the peer's.
    async fn tell_product_bits(
        &mut self,
        session: &mut Session,
        mut own: Packed,
        count: usize,
        number: u64,
    ) -> Result<Packed, ProtocolError> {
        self.conduct.touch(Step::OwnProductBits, 0, &mut own.0);
        let domain: Domain = self.domain(self.party, Place::ProductBits, number);
        let (commitment, opening) = domain.commit(&own.0, session.rng());
        let mut theirs = [0; COMMITMENT_BYTES];
        self.exchange(session, Step::ProductBitsCommitment, &mut commitment.to_bytes(), &mut theirs).await?;
        let mut message = own.0.clone();
        message.extend_from_slice(&opening.to_bytes());
        let mut told = vec![0; count.div_ceil(8) + 32];
        self.exchange(session, Step::ProductBits, &mut message, &mut told).await?;
        let (bits, opening) = told.split_at(count.div_ceil(8));
        check_padding(bits, count)?;
        let commitment = garblet_primitives::Commitment::from_bytes(theirs);
        let opening = garblet_primitives::Opening::from_bytes(*opening.first_chunk().unwrap_or(&[0; 32]));
        let domain = self.domain(self.peer(), Place::ProductBits, number);
        domain
            .open(&commitment, bits, &opening)
            .map_err(|_| Cheating::new(checks::PRODUCT_BITS, "the bits do not open the commitment"))?;
        Ok(own.sum(bits))
    }
}

/// The result of steps P2 and P3. *Secret*, except for what is sent.
struct Products {
    /// The blocks `u_i` to send.
    sent: Vec<Block>,
    /// The blocks `s_i`, without the peer's part.
    sums: Zeroizing<Vec<Block>>,
    /// This party's bits.
    bits: BitVec,
    /// The shares of all bits.
    shares: Shares,
}

/// Steps P2, P3 and the part of P4 before the peer's blocks arrive. Lot by lot, the OTs become shares.
fn products(party: u16, delta: Block, checked: CotChecked, count: usize) -> Products {
    let directions = if party == 0 { [0, SECOND_DIRECTION] } else { [SECOND_DIRECTION, 0] };
    let (mut sent, mut sums) =
        (Vec::with_capacity(count + 2 * COMMITMENT_BYTES / 16), Zeroizing::new(Vec::with_capacity(count)));
    let CotChecked { bits, mut keys, mut macs, hash_key } = checked;
    let mut lots = Zeroizing::new([[Block::ZERO; LOT]; 3]);
    for start in (0..count).step_by(LOT) {
        let len = LOT.min(count - start);
        // A separate key for each lot: a search for the difference among all hashes under one key gains a factor of their number.
        let hash = OtHash::new(hash_key ^ Block::from_u128((start / LOT) as u128));
        let [zero, one, received] = &mut *lots;
        let [zero, one, received] = [&mut zero[..len], &mut one[..len], &mut received[..len]];
        let [keys, macs] = [&mut keys, &mut macs].map(|blocks| {
            let factors = blocks[..3 * count].chunks_exact_mut(count);
            let mut lots = factors.map(|factor| &mut factor[start..start + len]);
            std::array::from_fn::<_, 3, _>(|_| lots.next().unwrap_or_default())
        });
        zero.copy_from_slice(keys[0]);
        one.iter_mut().zip(&*keys[0]).for_each(|(one, &key)| *one = key ^ delta);
        received.copy_from_slice(macs[0]);
        hash.hash_batch(directions[0] + start as u64, zero);
        hash.hash_batch(directions[0] + start as u64, one);
        hash.hash_batch(directions[1] + start as u64, received);
        for at in 0..len {
            let [a, b, r] = [0, 1, 2].map(|factor| bits.get(factor * count + start + at));
            let phi = (Block::mask(b) & delta) ^ keys[1][at] ^ macs[1][at];
            sent.push(zero[at] ^ one[at] ^ phi);
            let r = (Block::mask(r) & delta) ^ keys[2][at] ^ macs[2][at];
            sums.push((Block::mask(a) & phi) ^ zero[at] ^ received[at] ^ r);
        }
        for (factor, (keys, macs)) in keys.into_iter().zip(macs).enumerate() {
            share(keys, macs, |at| bits.get(factor * count + start + at), delta);
        }
    }
    let [of_masks, macs_of_masks] = [&mut keys, &mut macs].map(|blocks| &mut blocks[3 * count..]);
    share(of_masks, macs_of_masks, |at| bits.get(3 * count + at), delta);
    let shares = Shares { own: std::mem::take(&mut *keys), peer: std::mem::take(&mut *macs) };
    Products { sent, sums, bits, shares }
}
