//! Shares of zero, which hide every party's share of an output's decoding bits.
//!
//! With free XOR, the permutation bit of an output wire that is a sum of inputs is the sum of the owners' bits of these inputs, and a party's share
//! of it comes from its own inputs alone: together with the inputs' public values, which everybody has, it would reveal these
//! inputs to a recipient. The same holds for sums of outputs in which the bits of AND gates cancel. So for every run and recipient
//! each pair of parties has a common stream, which both add to their shares: a coalition then sees only the sum of the others'
//! shares, which follows from the outputs.
//!
//! The paper (Figure 2, step 6, second form) sends these shares unmasked. In FairplayMP, where they come from, XOR gates are
//! garbled, so all parties contribute to the bit of every wire except inputs.

use garblet_circuit::Party;
use garblet_net::PerPeer;
use garblet_ot::{BitVec, OtError};
use garblet_primitives::{Block, Prg};
use zeroize::ZeroizeOnDrop;

/// The source of a session's seeds: a generator shared with each other party.
pub(super) struct ZeroSource(PerPeer<Prg>);

impl ZeroSource {
    /// *Secret*: the generators, from everybody outside the pair.
    pub(super) fn new(common: PerPeer<Prg>) -> Self {
        ZeroSource(common)
    }

    /// The seeds of the next run; all parties must call this equally often.
    pub(super) fn next_run(&mut self) -> ZeroSeeds {
        ZeroSeeds(self.0.iter_mut().map(|(_, common)| common.next_block()).collect())
    }
}

/// The seeds of one run shared with each other party, in order. *Secret*: from everybody outside the pair; wiped on drop.
/// *Unique*: each serves one run.
#[derive(Clone, ZeroizeOnDrop)]
pub(super) struct ZeroSeeds(pub(super) Vec<Block>);

impl ZeroSeeds {
    /// This party's share of zero for each of the `bits` that `recipient` learns. *Unique*: call it once, so that no share hides
    /// two bits.
    pub(super) fn share(&self, recipient: Party, bits: usize) -> Result<BitVec, OtError> {
        self.0.iter().try_fold(BitVec::zeros(bits), |sum, seed| sum.xor(&of_pair(*seed, recipient, bits)))
    }
}

/// The mask that a pair adds to both shares of each bit.
pub(super) fn of_pair(seed: Block, recipient: Party, bits: usize) -> BitVec {
    let mut seeds = Prg::new(seed);
    seeds.seek(recipient.0.into());
    BitVec::random(bits, &mut Prg::random(&mut seeds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parties_shares_add_up_to_zero_and_differ_between_recipients() {
        const BITS: usize = 200;
        for parties in [2u16, 3, 6] {
            let pair =
                |one: u16, other: u16| Prg::new(Block::from_halves(one.min(other).into(), one.max(other).into()));
            let source = |own| ZeroSource::new(PerPeer::new(own, parties, |peer| pair(own, peer)));
            let mut sources: Vec<ZeroSource> = (0..parties).map(source).collect();
            let mut seen = std::collections::HashSet::new();
            for _run in 0..3 {
                let seeds: Vec<ZeroSeeds> = sources.iter_mut().map(ZeroSource::next_run).collect();
                for recipient in (0..parties).map(Party) {
                    let shares = seeds.iter().map(|seeds| seeds.share(recipient, BITS).unwrap());
                    let sum = shares.inspect(|share| assert!(share.public("a test").any(|bit| bit)));
                    let sum = sum.fold(BitVec::zeros(BITS), |sum, share| sum.xor(&share).unwrap());
                    assert!(sum.public("a test").all(|bit| !bit), "{parties} parties, recipient {}", recipient.0);
                    let own = seeds[0].share(recipient, BITS).unwrap();
                    assert!(seen.insert(own.as_bytes().to_vec()), "a share came twice");
                }
            }
        }
    }
}
