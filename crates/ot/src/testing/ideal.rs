//! Ideal correlated OT: a dealer that both parties trust.
//!
//! Both ends hold the dealer's seed, so nothing is secret and nothing is sent.

use garblet_net::Channel;
use garblet_primitives::{Block, Delta, Prg};
use zeroize::Zeroizing;

use crate::bit_vec::{BitVec, masked};
use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::error::OtError;

/// The two ends of a dealer.
pub(crate) fn pair(seed: Block, delta: &Delta) -> (IdealCotSender, IdealCotReceiver) {
    let dealer =
        || Dealer { prg: Prg::new(seed), delta: delta.clone(), session_key: Prg::new(seed ^ Block::ONES).next_block() };
    (IdealCotSender(dealer()), IdealCotReceiver(dealer()))
}

/// The sender's end.
pub(crate) struct IdealCotSender(Dealer);

/// The receiver's end.
pub(crate) struct IdealCotReceiver(Dealer);

struct Dealer {
    prg: Prg,
    delta: Delta,
    session_key: Block,
}

impl Dealer {
    /// The next `n` OTs: `q` and `c`.
    fn deal(&mut self, n: usize) -> (Zeroizing<Vec<Block>>, BitVec) {
        let q = Zeroizing::new((0..n).map(|_| self.prg.next_block()).collect());
        (q, BitVec::random(n, &mut self.prg))
    }
}

impl CorrelatedSender for IdealCotSender {
    fn delta(&self) -> &Delta {
        &self.0.delta
    }

    fn session_key(&self) -> Block {
        self.0.session_key
    }

    async fn extend(&mut self, _channel: &mut Channel, n: usize) -> Result<Zeroizing<Vec<Block>>, OtError> {
        Ok(self.0.deal(n).0)
    }
}

impl CorrelatedReceiver for IdealCotReceiver {
    fn session_key(&self) -> Block {
        self.0.session_key
    }

    async fn extend_random(
        &mut self,
        _channel: &mut Channel,
        n: usize,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        let (q, choices) = self.0.deal(n);
        let t = q.iter().zip(choices.iter()).map(|(&q, c)| q ^ masked(c, self.0.delta.block()));
        let t = Zeroizing::new(t.collect());
        Ok((choices, t))
    }
}

mod tests {
    use super::*;
    use crate::testing::{block_on, channels};

    #[test]
    fn the_correlation_holds_and_nothing_is_sent() {
        let delta = Delta::random(&mut Prg::new(Block::ZERO));
        let (mut sender, mut receiver) = pair(Block::ONES, &delta);
        let (mut ours, mut theirs) = channels();
        for n in [0, 1, 127, 128, 129] {
            let q = block_on(sender.extend(&mut ours, n)).unwrap();
            let (choices, t) = block_on(receiver.extend_random(&mut theirs, n)).unwrap();
            assert_eq!((q.len(), choices.len(), t.len()), (n, n, n));
            assert!((0..n).all(|i| t[i] == q[i] ^ masked(choices.get(i), delta.block())));
        }
        assert_eq!(ours.traffic(), Default::default());
        assert!(sender.session_key() == receiver.session_key());
    }
}
