//! Coin tossing: random coins that neither party can choose.
//!
//! *Source*: Blum 1981, with a hash commitment that is hiding and extractable in the random-oracle model, so that three
//! messages are enough where Lindell and Pinkas (EUROCRYPT 2007) take four.
//!
//! | message | from | what |
//! |---|---|---|
//! | 1 | first | commitment to `a` |
//! | 2 | second | `b` |
//! | 3 | first | opening of `a` |
//!
//! The coins are `PRG(H(a + b))`. The first party knows them one message before the second and may stop there; so the second is
//! the one whom the coins protect.

use garblet_primitives::{Commitment, Opening, Prg};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::{
    binding::Place,
    checks::{Cheating, Check},
};

/// Bytes of the commitment, the first message.
pub const COMMITMENT_BYTES: usize = 32;
/// Bytes of the second party's share, the second message.
pub const SHARE_BYTES: usize = 32;
/// Bytes of the opening, the third message: the first party's share and the commitment's randomness.
pub const OPENING_BYTES: usize = 64;

/// Coins that both parties have tossed.
pub struct Coins(Prg);

impl Coins {
    /// The coins as a stream.
    pub fn into_stream(self) -> Prg {
        self.0
    }

    fn of(place: &Place, a: &[u8; SHARE_BYTES], b: &[u8; SHARE_BYTES]) -> Coins {
        let sum: [u8; SHARE_BYTES] = std::array::from_fn(|i| a[i] ^ b[i]);
        let digest = place.digest(&sum);
        let seed = digest.first_chunk().copied().unwrap_or_default();
        Coins(Prg::new(garblet_primitives::Block::from_bytes(seed)))
    }
}

/// The party that commits. *Unique*: one per place.
pub struct First {
    place: Place,
    share: Zeroizing<[u8; SHARE_BYTES]>,
    opening: Opening,
}

impl First {
    /// Draws a share; returns the first message too.
    pub fn commit(place: Place, rng: &mut (impl CryptoRng + ?Sized)) -> (First, [u8; COMMITMENT_BYTES]) {
        let mut share = Zeroizing::new([0; SHARE_BYTES]);
        rng.fill_bytes(&mut *share);
        let (commitment, opening) = place.commit(&*share, rng);
        (First { place, share, opening }, commitment.to_bytes())
    }

    /// Takes the second message; returns the coins and the third.
    pub fn open(self, theirs: &[u8; SHARE_BYTES]) -> (Coins, [u8; OPENING_BYTES]) {
        let mut message = [0; OPENING_BYTES];
        message[..SHARE_BYTES].copy_from_slice(&*self.share);
        message[SHARE_BYTES..].copy_from_slice(&self.opening.to_bytes());
        (Coins::of(&self.place, &self.share, theirs), message)
    }
}

/// The party that answers. *Unique*: one per place.
pub struct Second {
    place: Place,
    commitment: Commitment,
    share: [u8; SHARE_BYTES],
}

impl Second {
    /// Takes the first message and draws a share, the second message.
    pub fn answer(
        place: Place,
        commitment: [u8; COMMITMENT_BYTES],
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> (Second, [u8; SHARE_BYTES]) {
        let mut share = [0; SHARE_BYTES];
        rng.fill_bytes(&mut share);
        (Second { place, commitment: Commitment::from_bytes(commitment), share }, share)
    }

    /// Takes the third message and returns the coins.
    ///
    /// *Errors*: [`Check::CoinTossOpening`].
    pub fn finish(self, message: &[u8; OPENING_BYTES]) -> Result<Coins, Cheating> {
        let refuse = || Cheating::new(Check::CoinTossOpening, "the share does not open the commitment");
        let (theirs, opening) = message.split_at(SHARE_BYTES);
        let (Ok(theirs), Ok(opening)) = (theirs.try_into(), opening.try_into()) else { return Err(refuse()) };
        let theirs: [u8; SHARE_BYTES] = theirs;
        self.place.open(&self.commitment, &theirs, &Opening::from_bytes(opening)).map_err(|_| refuse())?;
        Ok(Coins::of(&self.place, &theirs, &self.share))
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::Party;
    use garblet_primitives::Block;

    use super::*;
    use crate::binding::SessionId;

    fn place() -> Place {
        SessionId::new("test", [0; 32], [[0; 32]; 2]).place(Party(0), 1)
    }

    fn toss(seeds: [u128; 2], alter: impl FnOnce(&mut [u8; OPENING_BYTES])) -> (Block, Result<Block, Cheating>) {
        let [mut a, mut b] = seeds.map(|seed| Prg::new(Block::from_u128(seed)));
        let (first, commitment) = First::commit(place(), &mut a);
        let (second, share) = Second::answer(place(), commitment, &mut b);
        let (coins, mut opening) = first.open(&share);
        alter(&mut opening);
        (coins.into_stream().next_block(), second.finish(&opening).map(|coins| coins.into_stream().next_block()))
    }

    #[test]
    fn both_have_the_same_coins_and_either_share_changes_them() {
        let coins = |seeds| {
            let (first, second) = toss(seeds, |_| {});
            assert!(second.is_ok_and(|second| second == first));
            first
        };
        let [both, other_first, other_second] = [coins([1, 2]), coins([3, 2]), coins([1, 4])];
        assert!(both != other_first && both != other_second);
    }

    #[test]
    fn another_share_or_opening_than_committed_is_refused() {
        for byte in [0, SHARE_BYTES - 1, SHARE_BYTES, OPENING_BYTES - 1] {
            let (_, second) = toss([1, 2], |opening| opening[byte] ^= 1);
            assert_eq!(second.err().map(|error| error.check), Some(Check::CoinTossOpening));
        }
    }
}
