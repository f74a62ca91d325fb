//! OTs with another party, in both directions, in which each has given bits: their corrections, and the check that the bits are what a party says to all.
//!
//! With the extension, a party corrects all trees to its bits, and its answer has the hash of them and of all columns, see [`garblet_ot::softspoken`].
//!
//! With silent OT every pair first makes and checks OTs with random bits, so a party has other bits `r` with every other party. It sends each the corrections
//! `d = r + x` to the bits `x` that it wants with all, and the other adds `d D` to its keys, after which `M[x] = K[x] + x D`. Nothing in silent OT stops a
//! cheat from correcting to other bits on another link. So the answer is that of the published protocol (Wang, Ranellucci and Katz, CCS 2017, authenticated shares of
//! many parties): the hash `h` of the bits, the same for all, and for each party the hash `m` of the MACs of the bits with it. The other's keys must have the hash
//! `m + h D`. For whom they do, its bits have that hash, or a whole difference was guessed: `2^-127`, since bit 0 of a difference is known. All hear the same `h`, by the
//! echo in `bits`. The point is drawn after all corrections, so bits that differ on two links have the same hash with a probability of at most `s 2^-128` for `s` squares.
//! An answer tells `h` alone, since `m` follows from it and from what the other knows; the last square hides the bits in it.
//!
//! | message | extension | silent |
//! |---|---|---|
//! | corrections | see [`garblet_ot`] | after a batch of silent OTs both ways: 16 bytes for each square |
//! | answer | 2,064 | 32 |

use garblet_net::Channel;
use garblet_ot::{OtError, softspoken};
use garblet_primitives::{Bit, Block, gf128, secrets};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{
    coins::COMMITMENT_BYTES,
    ots::{Blocks, Drawn, Extension, Kind, Ots, Silent},
    secrets::OT_CHECK,
};

/// Bits of a square.
pub(super) const SQUARE: usize = 128;

/// Bytes of an answer.
pub(super) const fn answer_bytes(is_silent: bool) -> usize {
    if is_silent { 2 * 16 } else { OT_CHECK.digest_bytes() }
}

/// A party's first message to another: a commitment to its share of the point, and the bits that it corrects OTs to, 128 in a block. The last block hides the others.
pub(super) struct First {
    pub(super) commitment: Vec<u8>,
    pub(super) bits: Blocks,
}

/// OTs whose checks are outstanding, and the other party's commitment.
pub(super) struct Outstanding {
    pub(super) corrected: Corrected,
    pub(super) unchecked: Unchecked,
    pub(super) commitment: Vec<u8>,
}

/// OTs of this party's bits, whose answer is outstanding. *Secret*.
pub(super) enum Corrected {
    Extension(softspoken::Corrected),
    Silent { bits: Blocks, macs: Blocks },
}

/// OTs of the other party's bits, which are not yet checked. *Secret*.
pub(super) enum Unchecked {
    Extension(softspoken::Unchecked),
    Silent { keys: Blocks },
}

impl Ots {
    /// Corrects OTs both ways, to these bits and to the other party's.
    ///
    /// *Errors*: those of silent OTs; the connection's.
    pub(super) async fn correct(
        &mut self,
        channel: &mut Channel,
        first: First,
        rooms: [Blocks; 2],
    ) -> Result<Outstanding, OtError> {
        match &mut self.kind {
            Kind::Extension(extension) => correct_trees(extension, channel, first, rooms).await,
            Kind::Silent(silent) => correct_bits(silent, channel, first, rooms).await,
            Kind::Ended => Err(OtError::Ended),
        }
    }

    /// The answer at the point, and the MACs of the bits without the last square. A party answers at no other point.
    ///
    /// *Errors*: [`OtError::Ended`].
    pub(super) fn answer(&self, corrected: Corrected, point: Block) -> Result<(Vec<u8>, Blocks), OtError> {
        match (&self.kind, corrected) {
            (Kind::Extension(extension), Corrected::Extension(corrected)) => {
                let (answer, _, macs) = extension.receiver.answer(corrected, point);
                Ok((answer, macs))
            }
            (Kind::Silent(_), Corrected::Silent { bits, macs }) => {
                let answer = [hash(&bits, point), hash_of_blocks(&macs, point)];
                Ok((answer.iter().flat_map(|hash| hash.to_bytes()).collect(), without_last_square(macs)))
            }
            _ => Err(OtError::Ended),
        }
    }

    /// Checks the other party's answer; returns the keys of its bits without the last square.
    ///
    /// *Errors*: [`OtError::InconsistentChoices`].
    pub(super) fn check(&self, unchecked: Unchecked, point: Block, answer: &[u8]) -> Result<Blocks, OtError> {
        match (&self.kind, unchecked) {
            (Kind::Extension(extension), Unchecked::Extension(unchecked)) => {
                extension.sender.check(unchecked, point, answer)
            }
            (Kind::Silent(silent), Unchecked::Silent { keys }) => {
                let (answer, _) = answer.as_chunks();
                let [of_bits, of_macs] =
                    [0, 1].map(|at| answer.get(at).map_or(Block::ZERO, |hash| Block::from_bytes(*hash)));
                let expected = hash_of_blocks(&keys, point) ^ gf128::mul(of_bits, silent.delta);
                let fits = expected.ct_eq(&of_macs);
                match secrets::verdict(fits, "authenticated-bmr: whether silent OTs have the bits that were told") {
                    true => Ok(without_last_square(keys)),
                    false => Err(OtError::InconsistentChoices),
                }
            }
            _ => Err(OtError::Ended),
        }
    }
}

async fn correct_trees(
    Extension { sender, receiver }: &mut Extension,
    channel: &mut Channel,
    first: First,
    [of_sender, of_receiver]: [Blocks; 2],
) -> Result<Outstanding, OtError> {
    let n = SQUARE * (first.bits.len() - 1);
    let correct = async |out: &mut Channel| {
        out.send_bytes(&first.commitment).await?;
        receiver.correct_to(out, &first.bits, of_receiver).await
    };
    let receive = async |into: &mut Channel| {
        let mut commitment = vec![0; COMMITMENT_BYTES];
        into.receive_bytes(&mut commitment).await?;
        Ok::<_, OtError>((commitment, sender.receive_given(into, n, of_sender).await?))
    };
    let (corrected, (commitment, unchecked)) = channel.full_duplex(correct, receive).await?;
    let (corrected, unchecked) = (Corrected::Extension(corrected), Unchecked::Extension(unchecked));
    Ok(Outstanding { corrected, unchecked, commitment })
}

async fn correct_bits(
    silent: &mut Silent,
    channel: &mut Channel,
    First { commitment, bits }: First,
    rooms: [Blocks; 2],
) -> Result<Outstanding, OtError> {
    let n = SQUARE * bits.len();
    silent.prepare(channel, n).await?;
    let Drawn { bits: random, mut keys, macs } = silent.draw(channel, n, rooms).await?;
    let corrections = random.as_bytes().iter().zip(bytemuck::cast_slice(&bits)).map(|(r, x): (&u8, &u8)| r ^ x);
    let message: Vec<u8> = commitment.into_iter().chain(corrections).collect();
    let mut theirs = vec![0; message.len()];
    channel.exchange_bytes(&message, &mut theirs).await?;
    let (commitment, corrections) = theirs.split_at(COMMITMENT_BYTES);
    for (keys, byte) in keys.chunks_exact_mut(8).zip(corrections) {
        for (at, key) in keys.iter_mut().enumerate() {
            *key ^= Block::mask(Bit::lowest_of(u64::from(byte >> at))) & silent.delta;
        }
    }
    let commitment = commitment.to_vec();
    Ok(Outstanding { corrected: Corrected::Silent { bits, macs }, unchecked: Unchecked::Silent { keys }, commitment })
}

/// The hash of squares at a point, a polynomial of them: the last one counts once.
fn hash(squares: &[Block], point: Block) -> Block {
    let reversed: Blocks = Zeroizing::new(squares.iter().rev().copied().collect());
    gf128::inner_product(&reversed, &gf128::powers(point, squares.len()))
}

/// The same of a block for each bit, which is linear in them as the hash of the bits is in these.
fn hash_of_blocks(blocks: &[Block], point: Block) -> Block {
    let squares: Blocks = Zeroizing::new(blocks.chunks_exact(SQUARE).map(packed).collect());
    hash(&squares, point)
}

fn without_last_square(mut blocks: Blocks) -> Blocks {
    let kept = blocks.len().saturating_sub(SQUARE);
    blocks.truncate(kept);
    blocks
}

/// The element of the field whose multiples these blocks are multiples of bits of: block `b` times `X^b`, for all `b`.
pub(super) fn packed(blocks: &[Block]) -> Block {
    let basis: Vec<Block> = (0..blocks.len()).map(|bit| Block::from_u128(1 << bit)).collect();
    gf128::inner_product(blocks, &basis)
}
