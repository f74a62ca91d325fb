//! A party commits towards another to something else than towards the third, and opens both rightly: somebody finds it, and accuses nobody.

use std::collections::BTreeSet;

use garblet_ot::LpnSet;
use garblet_primitives::Opening;
use garblet_protocol::{
    checks::{Check, Unattributed},
    domain::Domain,
    parameters::OtKind,
};

use super::{
    lies::{Change, Watched, found},
    *,
};
use crate::{
    coins::Coin,
    many::{checks, leaky::HEAD_BYTES, place::Place, settle},
};

/// The party that is told something else.
const TO: usize = 1;

/// The subject of the commitment.
#[derive(Clone, Copy)]
enum Said {
    /// A share of coins.
    Coin,
    /// A message, which the conduct sees at this step.
    Message(Step),
}

/// A commitment of a batch and its opening.
#[derive(Clone, Copy)]
struct Twice {
    place: Place,
    said: Said,
    /// The step of the commitment, and its place in the message.
    commits: (Step, usize),
    /// The step of the opening, and the number of messages of that step before it.
    opens: (Step, usize),
}

/// The conduct of a party that opens something else to [`TO`].
#[derive(Default)]
struct Equivocal {
    twice: Option<(Twice, Domain)>,
    commitment: Vec<u8>,
    opening: Vec<u8>,
    opened: usize,
}

impl Equivocal {
    /// Chooses what to say twice, in this domain.
    fn choose(&mut self, twice: Twice, domain: Domain) {
        if let Said::Coin = twice.said {
            let (coin, commitment) = Coin::commit(&domain, &mut Prg::new(Block::ONES));
            (self.commitment, self.opening) = (commitment.to_vec(), coin.message().to_vec());
        }
        self.twice = Some((twice, domain));
    }
}

impl Conduct<Step> for Equivocal {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        let Some((Twice { said, commits, opens, .. }, domain)) = self.twice else { return };
        if let Said::Message(own) = said
            && own == step
        {
            let mut other = bytes.to_vec();
            other[0] ^= 1;
            let (commitment, opening): (_, Opening) = domain.commit(&other, &mut Prg::new(Block::ONES));
            self.commitment = commitment.to_bytes().to_vec();
            self.opening = [&other[..], &opening.to_bytes()].concat();
        }
        if index != TO {
            return;
        }
        if step == commits.0 {
            bytes[commits.1..][..self.commitment.len()].copy_from_slice(&self.commitment);
        }
        if step == opens.0 {
            if self.opened == opens.1 {
                bytes.copy_from_slice(&self.opening);
            }
            self.opened += 1;
        }
    }
}

/// The checks that fail at the honest parties of a batch.
fn found_by(twice: Twice, ot: OtKind) -> Vec<Option<Check>> {
    let config = Config { ot, ..Config::default() };
    let results = all(3, 31, async |session, party| {
        let plan = Plan::new(product(), 3, config)?;
        let mut ground = Ground::set_up(session, &plan, party, Equivocal::default()).await?;
        if ot == OtKind::Silent {
            // Small ones of no security.
            ground.begin_silent(session, plan.setting(), LpnSet::TOY).await?;
        }
        if party == Party(0) {
            let domain = match twice.place {
                Place::Zero => settle::domain(ground.common(Place::Zero, 0).digest(b""), party.0),
                place => ground.domain(party, place, 0),
            };
            ground.conduct.choose(twice, domain);
        }
        let batch = Batch { triples: 64, bucket: 2 };
        ground.make(session, (Some(batch), 64, 3), &mut Supply::with_room(3, 64, 3)).await
    });
    results.iter().skip(1).map(|result| result.as_ref().err().and_then(found)).collect()
}

#[test]
fn whoever_opens_two_commitments_is_found_and_nobody_is_accused() {
    let message = |place, own, commits, opens| Twice {
        place,
        said: Said::Message(own),
        commits: (commits, 0),
        opens: (opens, 0),
    };
    let coin = |place, commits, opens| Twice { place, said: Said::Coin, commits, opens };
    let cases = [
        // Its answers at two points would tell it a party's hiding square, and have honest ones accuse each other.
        (coin(Place::Point, (Step::CoinCommitments, 0), (Step::Coins, 0)), [Some(checks::ECHO); 2]),
        (coin(Place::SumCoins, (Step::LeakyBlocks, HEAD_BYTES - 64), (Step::Coins, 1)), [Some(checks::ZERO); 2]),
        (
            coin(Place::ShiftCoins, (Step::LeakyBlocks, HEAD_BYTES - 32), (Step::Coins, 2)),
            [Some(checks::BUCKET_BITS); 2],
        ),
        (
            message(Place::ProductBits, Step::OwnProductBits, Step::ProductBitsCommitment, Step::ProductBits),
            [Some(checks::ZERO); 2],
        ),
        // The other party has the right product.
        (message(Place::Zero, Step::OwnProduct, Step::ProductCommitment, Step::Product), [Some(checks::ZERO), None]),
    ];
    for (number, (twice, expected)) in cases.into_iter().enumerate() {
        assert_eq!(found_by(twice, OtKind::Extension), expected, "case {number}");
    }
}

/// With silent OT the answer at another point would tell the other square that hides the bits.
#[test]
fn whoever_opens_two_shares_of_the_point_of_silent_ots_is_found_and_nobody_is_accused() {
    let twice =
        Twice { place: Place::Point, said: Said::Coin, commits: (Step::CoinCommitments, 0), opens: (Step::Coins, 0) };
    assert_eq!(found_by(twice, OtKind::Silent), [Some(checks::ECHO); 2]);
}

/// In a set-up the name of the session depends on the nonces of all. These are the same in a second run with the same random numbers.
#[test]
fn whoever_opens_two_proofs_of_its_difference_is_found_by_the_party_that_it_misleads() {
    let plan = Plan::new(product(), 3, Config::default()).expect("it can be run");
    let set_up = |twice: Option<(Twice, Domain)>| {
        all(3, 31, async |session, party| {
            let conduct = Equivocal { twice: twice.filter(|_| party == Party(0)), ..Equivocal::default() };
            Ground::set_up(session, &plan, party, conduct).await
        })
    };
    let honest = set_up(None).swap_remove(0).expect("all are honest");
    let twice = Twice {
        place: Place::Differences,
        said: Said::Message(Step::OwnDifferenceProofs),
        commits: (Step::DifferenceCommitment, 0),
        opens: (Step::DifferenceProofs, 0),
    };
    let results = set_up(Some((twice, honest.domain(Party(0), Place::Differences, 0))));
    assert_eq!(results[TO].as_ref().err().and_then(found), Some(checks::DIFFERENCES));
    assert_eq!(results[2].as_ref().err().and_then(found), None);
}

/// Parties that compare their errors see who heard the same.
#[test]
fn a_failed_echo_says_what_differs_and_how() {
    let change = |step, to, at| Change { step, to: Some(to), at, error: vec![1] };
    for (lie, what) in [
        (change(Step::Nonce, 2, 3), "the nonces, the program and the parameters"),
        (change(Step::Answers, 2, 2_070), "the shares of the point of the checks of OTs"),
        (change(Step::Bits, 1, 2), "the hashes of all parties' bits in the checks of OTs"),
    ] {
        let conduct = |party| Watched {
            changes: if party == Party(0) { vec![lie.clone()] } else { Vec::new() },
            ..Watched::default()
        };
        let results = make(4, 3, (Some(Batch { triples: 8, bucket: 2 }), 0), conduct);
        let mut digests = BTreeSet::new();
        for made in &results[1..] {
            let Err(ProtocolError::Unattributed(Unattributed { detail, .. })) = made else { continue };
            let begin = format!("the digests of {what} differ: expected ");
            let pair = detail.strip_prefix(&begin).and_then(|rest| rest.split_once(", got "));
            let (expected, got) = pair.unwrap_or_else(|| panic!("{what}: {detail}"));
            digests.extend([expected.to_string(), got.to_string()]);
        }
        assert_eq!(digests.len(), 2, "{what}: {digests:?}");
    }
}
