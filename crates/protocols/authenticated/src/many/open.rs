//! Bits that all parties open to all, and bits that they open to one.
//!
//! *Source*: the opening of Katz, Ranellucci, Rosulek and Wang, with sums over all parties.
//!
//! - *To all*: everybody sends its shares, and then to each party a sum of its blocks for that party's difference, weighed with the powers of a point. The point is a
//!   hash of the *total* of all bits as the sender heard them, so it is known only after the bits, and parties that heard different totals take
//!   different points: the proof is the echo as well. A cheat may search for false bits that fit their own point; each hash that it tries succeeds with at most
//!   the number of bits over `2^128`. For no bits a digest goes in place of a proof.
//! - *To one*: everybody sends it its shares, and of every bit the top bytes of the block for its difference. A cheat would have to guess these bytes.

use garblet_circuit::Party;
use garblet_net::PerPeer;
use garblet_primitives::{Block, secrets};
use garblet_protocol::{
    MeshSession, bulk::check_padding_of, checks::Check, conduct::Conduct, domain::Domain, error::ProtocolError,
};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Step,
    checks::somebody_cheats,
    ground::{DIGEST_BYTES, Ground},
    shares::block_of,
};
use crate::{
    opening::{PROOF_BYTES, Packed, Sums},
    shares::PowerSum,
    tags::Tag,
};

impl<K: Conduct<Step>> Ground<K> {
    /// The first part of an opening to all: sends this party's bits, and `more` to each party, and adds the others' bits. Returns the totals and the rest of the others'
    /// messages, which are as long as `expected` says.
    ///
    /// *Errors*: malformed bits; the connections'.
    pub(super) async fn open_bits(
        &mut self,
        session: &mut MeshSession,
        step: Step,
        own: &Packed,
        (bits, more, expected): (usize, PerPeer<Vec<u8>>, usize),
    ) -> Result<(Packed, PerPeer<Vec<u8>>), ProtocolError> {
        let outgoing = more.map(|_, more| [&own.0[..], &more].concat());
        let mut theirs = self.exchange(session, step, outgoing, |_| bits.div_ceil(8) + expected).await?;
        Ok((totals(own, bits, &mut theirs)?, theirs))
    }

    /// The second part: sends every party the proof of this party's bits, and checks the others' proofs against this party's own blocks.
    ///
    /// *Shape*: `sums` by party, this party's own included. `digest` as [`point`] gives it. *Errors*: `check`; the connections'.
    pub(super) async fn prove_bits(
        &mut self,
        session: &mut MeshSession,
        (step, check): (Step, Check),
        sums: &[Sums<'_>],
        total: &Packed,
        digest: [u8; DIGEST_BYTES],
    ) -> Result<(), ProtocolError> {
        let outgoing = self.proofs(sums, digest);
        let theirs = self.exchange(session, step, outgoing, |_| PROOF_BYTES).await?;
        self.check_proofs(check, (sums, total), digest, &theirs)
    }

    /// The proofs of this party's bits for every other party.
    pub(super) fn proofs(&self, sums: &[Sums<'_>], digest: [u8; DIGEST_BYTES]) -> PerPeer<Vec<u8>> {
        let point = Block::from_digest(&digest);
        let is_empty = sums[usize::from(self.party.0)].len() == 0;
        self.pairs.map_ref(|peer, _| {
            let mut sum = PowerSum::new(point);
            sums[usize::from(peer)].add_to(&mut sum);
            let proof = if is_empty { point } else { sum.finish() };
            proof.to_bytes().to_vec()
        })
    }

    /// Checks the proofs of all others.
    ///
    /// *Errors*: `check`.
    pub(super) fn check_proofs(
        &self,
        check: Check,
        (sums, total): (&[Sums<'_>], &Packed),
        digest: [u8; DIGEST_BYTES],
        theirs: &PerPeer<Vec<u8>>,
    ) -> Result<(), ProtocolError> {
        let (point, own) = (Block::from_digest(&digest), usize::from(self.party.0));
        let fits = if sums[own].len() == 0 {
            theirs.iter().fold(Choice::from(1), |fits, (_, proof)| fits & block_of(proof).ct_eq(&point))
        } else {
            let mut expected = PowerSum::new(point);
            sums[own].add_expected(&mut expected, total, self.delta.block());
            let sum = theirs.iter().fold(expected.finish(), |sum, (_, proof)| sum ^ block_of(proof));
            sum.ct_eq(&Block::ZERO)
        };
        match secrets::verdict(fits, "authenticated-bmr: whether the proofs of opened bits are right") {
            true => Ok(()),
            false => Err(somebody_cheats(check, "the proofs are of other bits, or others heard other bits")),
        }
    }
}

/// The totals of all bits, from this party's own and those with which the others' messages begin; the rest of these stays.
///
/// *Errors*: malformed bits.
pub(super) fn totals(own: &Packed, bits: usize, theirs: &mut PerPeer<Vec<u8>>) -> Result<Packed, ProtocolError> {
    let mut total = own.first(bits);
    for (peer, message) in theirs.iter_mut() {
        let rest = message.split_off(bits.div_ceil(8));
        check_padding_of(Party(peer), message, bits)?;
        total = total.sum(message);
        *message = rest;
    }
    Ok(total)
}

/// The digest of what was agreed and of the totals of opened bits, of which the point of proofs is a part.
pub(super) fn point(domain: Domain, agreed: &[u8], total: &Packed) -> [u8; DIGEST_BYTES] {
    let mut hasher = domain.hasher();
    hasher.add(agreed);
    hasher.add(&total.0);
    hasher.finish()
}

/// Bytes of an opening of bits to one party.
pub(super) fn told_bytes(tag: Tag, bits: usize) -> usize {
    bits.div_ceil(8) + tag.bytes * bits
}

/// The message that opens bits to a party, from this party's blocks for that party's difference.
pub(super) fn told(tag: Tag, blocks: impl ExactSizeIterator<Item = Block> + Clone) -> Vec<u8> {
    let mut bits = Packed::zeros(blocks.len());
    blocks.clone().enumerate().for_each(|(at, block)| bits.add(at, block.lsb()));
    let mut message = bits.0.clone();
    message.resize(told_bytes(tag, blocks.len()), 0);
    let tags = message[blocks.len().div_ceil(8)..].chunks_exact_mut(tag.bytes);
    tags.zip(blocks).for_each(|(to, block)| tag.write(block, to));
    message
}

/// The bits that all others open to this party, given its own blocks.
///
/// *Errors*: `check`; malformed bits.
pub(super) fn hear(
    tag: Tag,
    own: impl ExactSizeIterator<Item = Block> + Clone,
    delta: Block,
    messages: &PerPeer<Vec<u8>>,
    check: Check,
) -> Result<Packed, ProtocolError> {
    let count = own.len();
    let mut total = Packed::zeros(count);
    own.clone().enumerate().for_each(|(at, block)| total.add(at, block.lsb()));
    // The sum of all of a bit that is one is the top of this party's difference.
    let mut tags = Zeroizing::new(Vec::with_capacity(count));
    tags.extend(own.map(|block| tag.truncated(block)));
    for (peer, message) in messages.iter() {
        let (bits, theirs) = message.split_at(count.div_ceil(8));
        check_padding_of(Party(peer), bits, count)?;
        total = total.sum(bits);
        tags.iter_mut().zip(theirs.chunks_exact(tag.bytes)).for_each(|(sum, bytes)| *sum ^= tag.read(bytes));
    }
    let fits = tags
        .iter()
        .enumerate()
        .fold(Choice::from(1), |fits, (at, sum)| fits & sum.ct_eq(&tag.truncated(Block::mask(total.get(at)) & delta)));
    match secrets::verdict(fits, "authenticated-bmr: whether opened masks are right") {
        true => Ok(total),
        false => Err(somebody_cheats(check, "the tags are of other bits")),
    }
}
