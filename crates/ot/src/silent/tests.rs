use garblet_net::{Channel, Traffic};
use garblet_primitives::{Backend, Block, Delta, Prg, gf128};
use zeroize::Zeroizing;

use super::base::{BaseReceiver, BaseSender};
use super::*;
use crate::bit_vec::{BitVec, masked};
use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::error::OtError;
use crate::softspoken::{CotReceiver, CotSender, MaliciousCotReceiver, MaliciousCotSender, StatisticalSecurity, Width};
use crate::testing::{block_on, channels};

const DIRECTION: Direction = Direction { sender: 0, receiver: 1 };

struct Session<S, R> {
    sender: SilentCotSender<S>,
    receiver: SilentCotReceiver<R>,
    ours: Channel,
    theirs: Channel,
}

type SemiHonest = Session<CotSender, CotReceiver>;
type Checked = Session<MaliciousCotSender, MaliciousCotReceiver>;

fn semi_honest(set: LpnSet, seed: u128) -> SemiHonest {
    let (mut ours, mut theirs) = channels();
    let [mut a, mut b] = [0, 1].map(|party| Prg::new(Block::from_u128(2 * seed + party)));
    let delta = Delta::random(&mut a);
    block_on(async {
        let sender = async {
            let base = CotSender::setup(&mut ours, &mut a, &delta, Width::Eight).await?;
            SilentCotSender::setup(&mut ours, &mut a, base, set, DIRECTION).await
        };
        let receiver = async {
            let base = CotReceiver::setup(&mut theirs, &mut b, Width::Eight).await?;
            SilentCotReceiver::setup(&mut theirs, &mut b, base, set, DIRECTION).await
        };
        let (sender, receiver) = tokio::join!(sender, receiver);
        Session { sender: sender.unwrap(), receiver: receiver.unwrap(), ours, theirs }
    })
}

fn checked(set: LpnSet, seed: u128) -> Checked {
    let (ours, theirs, sender, receiver) = set_up(set, seed, StatisticalSecurity::Eighty);
    Session { sender: sender.unwrap(), receiver: receiver.unwrap(), ours, theirs }
}

type SetUp = (
    Channel,
    Channel,
    Result<SilentCotSender<MaliciousCotSender>, OtError>,
    Result<SilentCotReceiver<MaliciousCotReceiver>, OtError>,
);

/// Sets up from checked OTs of this security.
fn set_up(set: LpnSet, seed: u128, sigma: StatisticalSecurity) -> SetUp {
    let (mut ours, mut theirs) = channels();
    let [mut a, mut b] = [0, 1].map(|party| Prg::new(Block::from_u128(2 * seed + party)));
    let delta = Delta::random(&mut a);
    block_on(async {
        let sender = async {
            let base = MaliciousCotSender::setup(&mut ours, &mut a, &delta, Width::Eight, sigma).await?;
            SilentCotSender::setup(&mut ours, &mut a, base, set, DIRECTION).await
        };
        let receiver = async {
            let base = MaliciousCotReceiver::setup(&mut theirs, &mut b, Width::Eight, sigma).await?;
            SilentCotReceiver::setup(&mut theirs, &mut b, base, set, DIRECTION).await
        };
        let (sender, receiver) = tokio::join!(sender, receiver);
        (ours, theirs, sender, receiver)
    })
}

type Ots = (Zeroizing<Vec<Block>>, BitVec, Zeroizing<Vec<Block>>);

impl<S: BaseSender, R: BaseReceiver> Session<S, R> {
    fn prepare(&mut self, n: usize) {
        let (sent, received) = block_on(async {
            tokio::join!(self.sender.prepare(&mut self.ours, n), self.receiver.prepare(&mut self.theirs, n))
        });
        sent.unwrap();
        received.unwrap();
    }

    fn extend(&mut self, n: usize) -> Ots {
        let (q, received) = block_on(async {
            tokio::join!(self.sender.extend(&mut self.ours, n), self.receiver.extend_random(&mut self.theirs, n))
        });
        let (choices, t) = received.unwrap();
        (q.unwrap(), choices, t)
    }

    fn traffic(&self) -> (Traffic, Traffic) {
        (self.ours.traffic(), self.theirs.traffic())
    }

    /// Extends by `n`; checks the correlation, that choices are balanced, and that the bytes are the formula.
    fn extends_as_stated(&mut self, set: LpnSet, n: usize) {
        let before = self.traffic();
        let (q, choices, t) = self.extend(n);
        let after = self.traffic();
        assert_eq!((q.len(), choices.len(), t.len()), (n, n, n));
        let delta = self.sender.delta().block();
        assert!((0..n).all(|i| t[i] == q[i] ^ masked(choices.get(i), delta)), "{set:?}, {n} OTs");
        let ones = choices.public("a test").filter(|&choice| choice).count();
        assert!(n < 1000 || ones.abs_diff(n / 2) < n / 10, "{ones} of {n} choices are one");
        let bytes = [(after.0 - before.0).bytes_sent, (after.1 - before.1).bytes_sent];
        assert_eq!(bytes, set.batch_bytes(n as u64, S::CHECKED), "{set:?}, {n} OTs");
    }
}

/// Covers batches of several rounds, and rounds that begin with the stock of the batch before.
#[test]
fn the_correlation_holds_at_every_boundary_and_the_cost_is_the_formula() {
    for set in [LpnSet::TOY, LpnSet::SHALLOW] {
        let round = set.round_ots();
        let sizes = [0, 1, 15, 16, 17, 127, 128, 129, round - 1, round, round + 1, 5 * round + 3];
        let (mut semi_honest, mut checked) = (semi_honest(set, 1), checked(set, 2));
        for n in sizes {
            semi_honest.extends_as_stated(set, n);
            checked.extends_as_stated(set, n);
        }
    }
}

#[test]
fn a_whole_round_of_the_default_set_is_right_and_takes_a_tenth_of_a_byte_per_ot() {
    let set = LpnSet::DEFAULT;
    let mut session = checked(set, 3);
    for n in [set.round_ots() + 1, 5] {
        session.extends_as_stated(set, n);
    }
    let [sent, received] = set.batch_bytes(set.round_ots() as u64, true);
    assert!((sent + received) as f64 <= 0.1 * set.round_ots() as f64);
}

#[test]
fn a_prepared_batch_is_drawn_without_traffic_and_in_the_same_order() {
    let (set, n) = (LpnSet::TOY, 700);
    let (mut parts, mut whole) = (semi_honest(set, 4), semi_honest(set, 4));
    parts.prepare(n);
    let before = parts.traffic();
    let (mut q, mut t) = (Vec::new(), Vec::new());
    for size in [0, 1, 30, 16, 200, 3, 450] {
        let drawn = parts.extend(size);
        q.extend_from_slice(&drawn.0);
        t.extend_from_slice(&drawn.2);
    }
    assert_eq!((q.len(), parts.traffic()), (n, before));
    let all = whole.extend(n);
    assert!(q == all.0[..] && t == all.2[..]);
    // One more than is left makes another batch.
    parts.extend(1);
    assert_ne!(parts.traffic(), before);
}

#[test]
fn no_two_batches_are_equal_and_all_blocks_differ() {
    let mut session = semi_honest(LpnSet::TOY, 5);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..3 {
        let (q, ..) = session.extend(500);
        assert!(q.iter().all(|block| seen.insert(block.to_u128())));
    }
}

#[test]
fn every_engine_makes_the_same_ots() {
    let outputs = |backend: Backend| {
        backend.select();
        let (q, _, t) = checked(LpnSet::TOY, 6).extend(600);
        [&q[..], &t[..]].concat()
    };
    let expected = outputs(Backend::PORTABLE);
    for backend in Backend::available() {
        assert!(outputs(backend) == expected, "{backend}");
    }
}

/// The numbers of noisy leaves of 40 trees in many batches.
#[test]
fn noise_is_uniform() {
    let set = LpnSet::TOY;
    let mut session = semi_honest(set, 7);
    let mut counts = vec![0u32; set.leaves()];
    for _ in 0..40 {
        let n = set.round_ots();
        let (batch, received) = block_on(async {
            tokio::join!(session.sender.correct(&mut session.ours, n), session.receiver.receive(&mut session.theirs, n))
        });
        let (batch, received) = (batch.unwrap(), received.unwrap());
        for tree in 0..set.trees {
            counts[received.rounds[0].trees.noise(tree) as usize] += 1;
        }
        session.sender.finish(batch, n);
        session.receiver.finish(received, n);
    }
    let expected = (40 * set.trees / set.leaves()) as f64;
    let squares: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    // 15 degrees of freedom: more than 45 in one of ten thousand tests.
    assert!(squares < 45.0, "{counts:?}");
}

fn domain(session: u128, direction: Direction) -> coins::Domain {
    coins::Domain { session: Block::from_u128(session), direction }
}

/// A coin of parties that always draw the same shares, each in a domain of its own.
fn tossed([first, second]: [coins::Domain; 2]) -> Result<[u8; 32], OtError> {
    let (mut ours, mut theirs) = channels();
    let [mut a, mut b] = [0, 1].map(|party| Prg::new(Block::from_u128(party)));
    block_on(async {
        let tosses = async {
            let coin = coins::Coin::toss_first(&mut ours, first, &mut a).await?;
            ours.flush().await?;
            Ok::<_, OtError>(coin)
        };
        let (first, second) = tokio::join!(tosses, coins::Coin::toss_second(&mut theirs, second, &mut b));
        let [first, second] = [first?, second?].map(|coin| *coin.bytes());
        assert_eq!(first, second);
        Ok(first)
    })
}

#[test]
fn the_same_shares_are_another_coin_in_every_session_pair_and_direction() {
    let directions =
        [(0, 1), (1, 0), (0, 2), (2, 1), (0, 256)].map(|(sender, receiver)| Direction { sender, receiver });
    let domains = directions.into_iter().flat_map(|direction| [0, 1].map(|session| domain(session, direction)));
    let domains: Vec<coins::Domain> = domains.collect();
    let coin = |domain: &coins::Domain| tossed([*domain; 2]).expect("both are honest");
    let coins: std::collections::HashSet<_> = domains.iter().map(coin).collect();
    assert_eq!(coins.len(), domains.len());
    assert_eq!(coin(&domains[0]), coin(&domains[0]));
    // A share that is opened elsewhere than where it was committed to is nobody's share there.
    for other in &domains[1..] {
        assert!(matches!(tossed([domains[0], *other]), Err(OtError::CoinOpening)));
    }
}

/// A change of a correction.
const CHANGE: Block = Block::from_u128(0x5851_f42d_4c95_7f2d << 33);

/// A whole round with a sender that changes the correction of the last level of these trees. The missing leaf and its sibling are then wrong by [`CHANGE`]. The sender
/// guesses for each tree that they are the leaf of this number and the one beside it, and adds their weights to its answer.
fn deviating(session: &mut Checked, guesses: &[(usize, usize)]) -> Result<(), OtError> {
    let Session { sender, receiver, ours, theirs } = session;
    let set = receiver.set;
    let stock = sender.stock.as_mut().expect("no batch failed");
    for (tree, _) in guesses {
        // The correction is the sum of this OT and the left nodes.
        stock[set.columns as usize + tree * set.depth + set.depth - 1] ^= CHANGE;
    }
    block_on(async {
        let sends = async {
            let batch = sender.correct(ours, set.round_ots()).await.unwrap();
            let mut query = [Block::ZERO; 2];
            ours.receive_bytes(bytemuck::cast_slice_mut(&mut query)).await.unwrap();
            let powers = gf128::powers(query[0], set.trees * set.leaves());
            let mut sum = sender.sum(&batch, query);
            for (tree, leaf) in guesses {
                let first = tree * set.leaves() + leaf;
                sum ^= gf128::mul(CHANGE, powers[first] ^ powers[first + set.leaves() / 2]);
            }
            ours.send_bytes(&check::hash(&batch.coin, query, sum)).await.unwrap();
            ours.flush().await.unwrap();
        };
        tokio::join!(sends, receiver.prepare(theirs, set.round_ots())).1
    })
}

/// The trials of a thousand in which a sender that guesses a bit of the noise position in each of so many trees is not caught.
fn passed(trees: usize) -> usize {
    let set = LpnSet::SHALLOW;
    let mut session = checked(set, 8);
    let mut passed = 0;
    for trial in 0..1000 {
        if trial % 100 == 0 {
            session.prepare(1);
        }
        let stocks = (session.sender.stock.clone(), session.receiver.stock.clone());
        let guesses: Vec<_> = (0..trees).map(|tree| (trial % 100 * 2 + tree, trial / 2 % 2)).collect();
        match deviating(&mut session, &guesses) {
            Ok(()) => passed += 1,
            Err(error) => assert!(matches!(error, OtError::InconsistentLeaves), "{error}"),
        }
        (session.sender.stock, session.receiver.stock) = stocks;
    }
    passed
}

/// The bounds are four standard deviations away.
#[test]
fn a_wrong_correction_is_found_unless_the_sender_guesses_the_noise() {
    assert!((437..=563).contains(&passed(1)));
}

#[test]
fn wrong_corrections_of_two_trees_are_found_unless_it_guesses_both() {
    assert!((195..=305).contains(&passed(2)));
}

#[test]
fn a_wrong_correction_of_any_level_is_found_if_the_answer_does_not_fit() {
    let set = LpnSet::TOY;
    let mut session = checked(set, 9);
    let stocks = (session.sender.stock.clone(), session.receiver.stock.clone());
    for at in [0, 1, set.depth - 1, set.depth, set.trees * set.depth - 1] {
        session.sender.stock.as_mut().unwrap()[set.columns as usize + at] ^= Block::from_u128(1 << (at % 128));
        let n = set.round_ots();
        let (sent, received) = block_on(async {
            tokio::join!(session.sender.prepare(&mut session.ours, n), session.receiver.prepare(&mut session.theirs, n))
        });
        assert!(sent.is_ok(), "the sender never learns the outcome");
        assert!(matches!(received, Err(OtError::InconsistentLeaves)), "correction {at}");
        (session.sender.stock, session.receiver.stock) = stocks.clone();
    }
}

#[test]
fn a_wrong_sum_of_noise_makes_the_receiver_abort_alone() {
    let mut session = checked(LpnSet::TOY, 10);
    let Session { sender, receiver, ours, theirs } = &mut session;
    let (sent, received) = block_on(async {
        let receives = async {
            let batch = receiver.receive(theirs, 100).await.unwrap();
            let mut query = receiver.query(&batch);
            query.masked ^= Block::from_u128(1 << 50);
            SilentCotReceiver::<MaliciousCotReceiver>::ask(theirs, &batch, query).await
        };
        tokio::join!(sender.prepare(ours, 100), receives)
    });
    assert!(sent.is_ok() && matches!(received, Err(OtError::InconsistentLeaves)));
}

/// A receiver that asks falsely knows the sum but for a multiple of delta, and could look up its guesses among the answers of all batches if one hash served them.
#[test]
fn the_same_sum_is_another_answer_in_every_batch_and_to_every_query() {
    let mut session = checked(LpnSet::TOY, 14);
    let query = [1, 2].map(Block::from_u128);
    let mut answers = std::collections::HashSet::new();
    for _ in 0..2 {
        let (batch, received) = block_on(async {
            tokio::join!(session.sender.correct(&mut session.ours, 9), session.receiver.receive(&mut session.theirs, 9))
        });
        let (batch, received) = (batch.unwrap(), received.unwrap());
        for query in [query, [query[0], query[0]], [query[1], query[1]]] {
            answers.insert(check::hash(&batch.coin, query, Block::ONES));
        }
        session.sender.finish(batch, 9);
        session.receiver.finish(received, 9);
    }
    assert_eq!(answers.len(), 6);
}

/// The check of the first OTs carries all later ones.
#[test]
fn first_ots_with_a_check_of_forty_bits_are_refused_by_both_before_anything_is_sent() {
    let (ours, theirs, sender, receiver) = set_up(LpnSet::TOY, 15, StatisticalSecurity::Forty);
    for error in [sender.err(), receiver.err()] {
        assert!(matches!(error, Some(OtError::WeakBase { expected: 80, got: 40 })));
    }
    let width = Width::Eight;
    let set_up_only = width.sender_setup_bytes() + width.receiver_setup_bytes() + width.malicious_setup_bytes();
    assert_eq!(ours.traffic().bytes_sent + theirs.traffic().bytes_sent, set_up_only);
}

#[test]
fn a_failed_batch_ends_the_session() {
    let mut session = checked(LpnSet::SHALLOW, 11);
    session.prepare(5);
    let guesses: Vec<_> = (0..60).map(|tree| (tree, 0)).collect();
    assert!(deviating(&mut session, &guesses).is_err());
    let again = block_on(session.receiver.prepare(&mut session.theirs, 1));
    assert!(matches!(again, Err(OtError::Ended)));
    assert!(block_on(session.receiver.extend_random(&mut session.theirs, 1)).is_err());
}

#[test]
fn corrections_that_end_early_are_an_error_and_the_end() {
    let Session { sender, mut receiver, ours, mut theirs } = semi_honest(LpnSet::TOY, 12);
    drop((sender, ours));
    let error = block_on(receiver.extend_random(&mut theirs, 10)).err();
    assert!(matches!(error, Some(OtError::Net(_))));
    let again = block_on(receiver.extend_random(&mut theirs, 10)).err();
    assert!(matches!(again, Some(OtError::Ended)));
}

/// Deviating senders, for the list of all checks.
pub(crate) mod deviations {
    use super::*;

    /// A sender that opens its commitment to another share.
    pub(crate) fn another_share() -> Option<OtError> {
        let (mut ours, mut theirs) = channels();
        block_on(async {
            let sends = async {
                ours.send_bytes(&[1; 32]).await.unwrap();
                ours.receive_bytes(&mut [0; 32]).await.unwrap();
                ours.send_bytes(&[1; 64]).await.unwrap();
                ours.flush().await.unwrap();
            };
            let mut rng = Prg::new(Block::ZERO);
            tokio::join!(sends, coins::Coin::toss_second(&mut theirs, domain(0, DIRECTION), &mut rng)).1.err()
        })
    }

    /// A sender that changes a correction.
    pub(crate) fn wrong_correction() -> Option<OtError> {
        let mut session = checked(LpnSet::SHALLOW, 13);
        deviating(&mut session, &(0..60).map(|tree| (tree, 0)).collect::<Vec<_>>()).err()
    }
}
