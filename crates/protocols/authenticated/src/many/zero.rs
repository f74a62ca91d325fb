//! The blind test of leaky triples (P5): the sum of all parties' parts `v_i` is zero, and nobody learns anything else of it.
//!
//! *Source*: our own. The published protocol opens the parts: a cheat that made one triple wrongly then reads the sum of honest differences. Here the
//! parties multiply the sum of their parts by a sum of random factors `rho_i`, with 128 OTs of each ordered pair, and open the product.
//!
//! | flow | | bytes |
//! |---|---|---|
//! | 8 | `e_i`, which turns the bits `s_i` of OTs to those of `v_i`; for every bit of the receiver a block `w`, from which it gets `rho` times the bit | 16; 2,048 |
//! | 9, 10 | commitment to the product; the product, with the opening | 32; 48 |
//!
//! *Sound*: whatever a cheat sends, honest parties' products add up to `rho_h V_h` and terms that hang on `rho_h` only under pads, with `V_h` the sum of
//! all parts as the cheats chose them towards `h`. Unless all are zero, the product is zero with probability `2^-128`.
//! *Blind*: if some are not zero, the sum is uniform. If they are, false blocks make the outcome a predicate of bits of `v_h`, which a share of zero hides.

use garblet_primitives::{Block, OtHash, gf128};
use garblet_protocol::{MeshSession, conduct::Conduct, error::ProtocolError};
use zeroize::Zeroizing;

use super::{Step, bits::CotChecked, ground::Ground, leaky::tweak, place::Place, settle::LastTest, shares::block_of};

/// Bits of a part, and OTs of each ordered pair.
pub(super) const BITS: usize = 128;

/// Bytes of a party's first message to another.
pub(super) const FIRST_BYTES: usize = 16 + 16 * BITS;

/// The pads of the OTs of two parties in one direction.
type Pads = Zeroizing<Vec<Block>>;

impl<K: Conduct<Step>> Ground<K> {
    /// Tests that the sum of all parties' parts is zero, with the OTs from `first` on.
    ///
    /// *Errors*: [`ZERO`](super::checks::ZERO); [`ZERO_OPENING`](super::checks::ZERO_OPENING), of the party that opens something else; the connections'.
    pub(super) async fn test_zero(
        &mut self,
        session: &mut MeshSession,
        checked: &CotChecked,
        (first, part): (usize, Block),
        number: u64,
    ) -> Result<(), ProtocolError> {
        let hash =
            OtHash::new(Block::from_digest(&self.common(Place::ZeroHash, number).digest(&checked.hash_key.to_bytes())));
        let delta = self.in_ots.block();
        let factor = Zeroizing::new(Block::random(session.rng()));
        let bits = (0..BITS).fold(0, |bits, at| bits | u128::from(checked.bit(first + at).number()) << at);
        let change = Block::from_u128(bits) ^ part;
        let own = self.party.0;
        let outgoing = checked.keys.map_ref(|peer, keys| {
            let mut pads: Pads = Zeroizing::new(keys[first..first + BITS].to_vec());
            let mut others: Pads = Zeroizing::new(pads.iter().map(|&key| key ^ delta).collect());
            hash.hash_batch(tweak(own, peer, 0), &mut pads);
            hash.hash_batch(tweak(own, peer, 0), &mut others);
            let mut message = change.to_bytes().to_vec();
            for (bit, (pad, other)) in pads.iter().zip(others.iter()).enumerate() {
                let multiple = gf128::mul(Block::from_u128(1 << bit), *factor);
                message.extend_from_slice(&(*pad ^ *other ^ multiple).to_bytes());
            }
            message
        });
        let theirs = self.exchange(session, Step::ZeroBlocks, outgoing, |_| FIRST_BYTES).await?;

        let mut product = gf128::mul(*factor, part);
        let part = part.to_u128();
        let ots = checked.keys.iter().zip(checked.macs.iter()).zip(theirs.iter());
        for (((peer, keys), (_, macs)), (_, message)) in ots {
            let change = block_of(message).to_u128();
            let mut pads: Pads = Zeroizing::new(keys[first..first + BITS].to_vec());
            let of_bit = |bits: u128, at: usize| Block::mask(garblet_primitives::Bit::lowest_of((bits >> at) as u64));
            pads.iter_mut().enumerate().for_each(|(at, key)| *key ^= of_bit(change, at) & delta);
            hash.hash_batch(tweak(own, peer, 0), &mut pads);
            let mut received: Pads = Zeroizing::new(macs[first..first + BITS].to_vec());
            hash.hash_batch(tweak(peer, own, 0), &mut received);
            for (at, block) in message[16..].as_chunks().0.iter().enumerate() {
                product ^= pads[at] ^ received[at] ^ of_bit(part, at) & Block::from_bytes(*block);
            }
        }
        self.open_products(session, product, number).await
    }

    /// Flows 9 and 10, with a record of them before each if there is a store, see `settle`.
    async fn open_products(
        &mut self,
        session: &mut MeshSession,
        product: Block,
        number: u64,
    ) -> Result<(), ProtocolError> {
        let mut product = product.to_bytes();
        self.conduct.touch(Step::OwnProduct, 0, &mut product);
        let name = self.common(Place::Zero, number).digest(b"");
        let mut test = LastTest::commit(name, self.party, product, session.rng());
        self.record(&test)?;
        let commitments = self.broadcast(session, Step::ProductCommitment, test.commitment()).await?;
        test.hear(&commitments);
        self.record(&test)?;
        let products = self.broadcast(session, Step::Product, &test.opening()).await?;
        test.judge(&products)?;
        self.record(&test)
    }

    /// Writes where the test stands to the store, durably, if there is one.
    fn record(&mut self, test: &LastTest) -> Result<(), ProtocolError> {
        self.stock.as_mut().map_or(Ok(()), |stock| test.keep(&mut stock.store))
    }
}
