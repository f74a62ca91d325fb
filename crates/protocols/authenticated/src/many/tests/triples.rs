//! Triples and masks are what they should be, and every deviation ends in its check.

use garblet_protocol::conduct::Honest;

use super::*;
use crate::many::shares::{Shares, Triples};

/// The bits that all parties' shares stand for. Every party's blocks must add up to the bit times its difference.
pub(super) fn values(made: &[Made], shares: impl Fn(&Made) -> &Shares) -> Vec<bool> {
    let count = shares(&made[0]).len();
    (0..count)
        .map(|at| {
            let bit = made.iter().fold(false, |bit, made| bit ^ shares(made).bit(at));
            for party in made {
                let of = |made: &Made| shares(made).of_party(party.ground.party)[at];
                let sum = made.iter().fold(Block::ZERO, |sum, made| sum ^ of(made));
                let expected = Block::mask(bit) & party.ground.delta.block();
                assert!(sum == expected, "share {at} of the difference of party {}", party.ground.party);
                let bits = party.ground.everybody().map(|other| shares(party).of_party(other)[at].lsb());
                assert!(bits.into_iter().all(|bit| bit == shares(party).bit(at)), "bit 0 of every block");
            }
            bit
        })
        .collect()
}

#[test]
fn triples_are_products_and_masks_are_authentic() {
    for (parties, triples, bucket, masks) in [(3, 5, 3, 7), (3, 700, 2, 0), (4, 9, 2, 130), (5, 6, 3, 1)] {
        let batch = Batch { triples, bucket };
        let made = make(parties, 1, (Some(batch), masks), |_| Honest);
        let made: Vec<Made> = made.into_iter().map(|made| made.expect("all are honest")).collect();
        let [a, b, c] = [0, 1, 2].map(|factor| {
            values(&made, |made| {
                let Triples { a, b, c } = &made.supply.triples;
                [a, b, c][factor]
            })
        });
        assert_eq!(a.len(), triples as usize);
        assert!((0..a.len()).all(|at| c[at] == (a[at] & b[at])), "{parties} parties");
        assert!(triples < 100 || [a, b].iter().all(|bits| bits.contains(&true) && bits.contains(&false)));
        let masks_made = values(&made, |made| &made.supply.masks);
        assert_eq!(masks_made.len(), masks);
    }
}

#[test]
fn masks_are_made_alone() {
    let made = make(3, 2, (None, 300), |_| Honest);
    let made: Vec<Made> = made.into_iter().map(|made| made.expect("all are honest")).collect();
    assert!(values(&made, |made| &made.supply.masks).contains(&true));
}

/// A party commits to bits that correct products with one more behind the last.
#[test]
fn bits_beyond_the_last_that_corrects_a_product_are_refused() {
    struct Adds(bool);
    impl Conduct<Step> for Adds {
        fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
            if self.0 && step == Step::OwnProductBits {
                *bytes.last_mut().expect("some bits") |= 0x80;
            }
        }
    }
    let batch = Batch { triples: 5, bucket: 2 };
    let made = make(3, 1, (Some(batch), 0), |party| Adds(party == Party(1)));
    for party in [0, 2] {
        let error = made[party].as_ref().err().expect("refused");
        assert!(matches!(error, ProtocolError::Peer { party: Party(1), .. }), "{error}");
        assert!(error.to_string().contains("expected zeros where the last byte is filled up"), "{error}");
    }
}
