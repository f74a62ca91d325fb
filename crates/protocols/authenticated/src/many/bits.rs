//! Step P1: bits that are the same towards all other parties.
//!
//! A party draws its bits once, and the square that hides them, and corrects all its OTs to them, see `ots`. All checks of corrections are at one point, to which
//! every party has contributed, and a party answers at no other: two answers would tell the hiding square. An answer begins with the hash of
//! the bits, which must be the same for all: the parties compare what they heard.
//!
//! | flow | to every other party | bytes |
//! |---|---|---|
//! | 1 | commitment to a share of the point; corrections | 32; see `ots` |
//! | 2 | the share | 64 |
//! | 3 | the answer; a digest of all commitments and shares heard | 2,064, or 32 with silent OT; 32 |
//! | 4 | a digest of all hashes of bits heard | 32 |

use garblet_circuit::Party;
use garblet_net::{Line, PerPeer};
use garblet_ot::OtError;
use garblet_primitives::{Bit, Block};
use garblet_protocol::{MeshSession, conduct::Conduct, error::ProtocolError};
use zeroize::Zeroizing;

use super::{
    Step,
    checks::FailedCheck,
    ground::{DIGEST_BYTES, Ground, Pair, check_echo},
    ots::{First, Outstanding, SQUARE, answer_bytes},
    place::Place,
    shares::Shares,
};

/// Bytes of the hash of bits, with which an answer begins.
const HASH_BYTES: usize = 16;

/// The squares of this number of bits, with the one that hides them.
pub(super) fn squares(bits: usize) -> usize {
    bits.div_ceil(SQUARE) + 1
}

/// Correlated OTs of this party with all others, in which it has the same bits, as far as this party can tell: it has not yet heard what the others heard.
pub(super) struct CotChecked {
    /// This party's bits, 128 in a block.
    bits: Zeroizing<Vec<Block>>,
    /// The keys of the others' bits.
    pub(super) keys: PerPeer<Zeroizing<Vec<Block>>>,
    /// The MACs of this party's bits.
    pub(super) macs: PerPeer<Zeroizing<Vec<Block>>>,
    /// The key of the hash of this batch, which nobody knew before all OTs were fixed.
    pub(super) hash_key: Block,
    /// The digest of the hashes of all parties' bits.
    pub(super) echo: [u8; DIGEST_BYTES],
}

/// Proof that all parties' bits are the same towards all; only [`check_bits`] makes it.
pub(super) struct AllBitsChecked(());

impl CotChecked {
    /// This party's bit `at`.
    #[inline(always)]
    pub(super) fn bit(&self, at: usize) -> Bit {
        Bit::lowest_of((self.bits[at / SQUARE].to_u128() >> (at % SQUARE)) as u64)
    }

    /// The shares of the first `count` bits, and memory that is free again.
    pub(super) fn into_shares(
        mut self,
        _checked: AllBitsChecked,
        (party, delta): (Party, Block),
        count: usize,
        mut own: Room,
    ) -> (Shares, impl Iterator<Item = Room>) {
        own.clear();
        if own.capacity() < count {
            own = Zeroizing::new(Vec::with_capacity(count));
        }
        own.extend((0..count).map(|at| Block::mask(self.bit(at)) & delta));
        for (_, keys) in self.keys.iter() {
            own.iter_mut().zip(keys.iter()).for_each(|(sum, key)| *sum ^= *key);
        }
        let mut columns: Vec<Vec<Block>> = self.macs.iter_mut().map(|(_, macs)| std::mem::take(&mut **macs)).collect();
        columns.insert(usize::from(party.0), std::mem::take(&mut *own));
        for column in &mut columns {
            column.truncate(count);
            column.iter_mut().enumerate().for_each(|(at, block)| *block = block.with_lsb(self.bit(at)));
        }
        (Shares::of(columns), self.keys.into_iter().map(|(_, keys)| keys))
    }
}

/// Memory of the last batch's blocks, in which the next batch has its own.
pub(super) type Room = Zeroizing<Vec<Block>>;

impl<K: Conduct<Step>> Ground<K> {
    /// Flows 1 to 3: makes `count` authenticated bits of each party.
    ///
    /// *Errors*: those of checked OTs and [`COIN_TOSS_OPENING`](super::checks::COIN_TOSS_OPENING), of the party that misbehaves;
    /// [`ECHO`](super::checks::ECHO); the connections'.
    pub(super) async fn correlate(
        &mut self,
        session: &mut MeshSession,
        count: usize,
        number: u64,
    ) -> Result<CotChecked, ProtocolError> {
        let mut bits = Zeroizing::new(vec![Block::ZERO; squares(count)]);
        session.rng().fill_blocks(&mut bits);
        let (coin, commitment) = self.commit_coin(session, Place::Point, number);
        let unchecked = self.correct(session, &bits, &commitment).await?;
        let (mut ots, mut commitments) = (Vec::new(), Vec::new());
        for (_, Outstanding { corrected, unchecked, commitment }) in unchecked {
            ots.push((corrected, unchecked));
            commitments.push(commitment);
        }
        let commitments = PerPeer::from_ends(self.party.0, commitments);
        let shares = self.broadcast(session, Step::Coins, &coin.message()).await?;
        let point = self.coin((Place::Point, number), &coin, &commitments, &shares)?;

        let mut heard = self.common(Place::PointEcho, number).hasher();
        for messages in [self.in_order(&commitment, &commitments), self.in_order(&coin.message(), &shares)] {
            messages.into_iter().for_each(|message| heard.add(message));
        }
        let heard = heard.finish();
        let (mut answers, mut macs, mut unchecked) = (Vec::new(), Vec::new(), Vec::new());
        for ((_, pair), (corrected, received)) in self.pairs.iter().zip(ots) {
            let (mut answer, of_peer) = pair.ots.answer(corrected, point)?;
            answer.extend_from_slice(&heard);
            answers.push(answer);
            macs.push(of_peer);
            unchecked.push(received);
        }
        let own = answers[0][..HASH_BYTES].to_vec();
        let length = answer_bytes(self.pairs.iter().any(|(_, pair)| pair.ots.are_silent()));
        let answers = PerPeer::from_ends(self.party.0, answers);
        let theirs = self.exchange(session, Step::Answers, answers, |_| length + DIGEST_BYTES).await?;
        let digests = theirs.iter().map(|(_, message)| &message[length..]);
        // Before the answers are judged: whoever told others another share would have this party accuse somebody honest.
        check_echo(&heard, digests, "the shares of the point of the checks of OTs")?;
        let mut keys = Vec::new();
        for (((peer, pair), received), (_, message)) in self.pairs.iter().zip(unchecked).zip(theirs.iter()) {
            let checked = pair.ots.check(received, point, &message[..length]);
            let named = |error: OtError| ProtocolError::Peer { party: Party(peer), source: Box::new(error.into()) };
            keys.push(checked.map_err(named)?);
        }
        let mut echo = self.common(Place::ChoicesEcho, number).hasher();
        self.in_order(&own, &theirs).into_iter().for_each(|message| echo.add(&message[..HASH_BYTES]));
        let [keys, macs] = [keys, macs].map(|blocks| PerPeer::from_ends(self.party.0, blocks));
        Ok(CotChecked { bits, keys, macs, hash_key: point, echo: echo.finish() })
    }

    /// Flow 1.
    async fn correct(
        &mut self,
        session: &mut MeshSession,
        bits: &[Block],
        commitment: &[u8],
    ) -> Result<PerPeer<Outstanding>, ProtocolError> {
        let Ground { pairs, conduct, rooms, .. } = self;
        let mut first = |peer: u16| {
            let mut first = First { commitment: commitment.to_vec(), bits: Zeroizing::new(bits.to_vec()) };
            conduct.touch(Step::CoinCommitments, peer.into(), &mut first.commitment);
            conduct.touch(Step::Bits, peer.into(), bytemuck::cast_slice_mut(&mut first.bits));
            first
        };
        let of_pairs =
            pairs.as_mut().map(|peer, pair| (pair, first(peer), [(); 2].map(|()| rooms.pop().unwrap_or_default())));
        let failed = FailedCheck::default();
        let step = async |peer: u16, mut line: Line, (pair, first, rooms): (&mut Pair, First, [Room; 2])| {
            failed.kept(peer, pair.ots.correct(&mut line, first, rooms).await)
        };
        let corrected = session.mesh().each(of_pairs, step).await;
        failed.judged(corrected)
    }
}

/// Flow 4, once the digests of all have come.
///
/// *Errors*: [`ECHO`](super::checks::ECHO).
pub(super) fn check_bits<'a>(
    checked: &CotChecked,
    digests: impl Iterator<Item = &'a [u8]>,
) -> Result<AllBitsChecked, ProtocolError> {
    check_echo(&checked.echo, digests, "the hashes of all parties' bits in the checks of OTs")?;
    Ok(AllBitsChecked(()))
}
