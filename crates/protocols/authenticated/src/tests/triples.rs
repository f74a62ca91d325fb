//! Triples and masks satisfy their definitions.

use super::*;
use crate::shares::Shares;

/// Makes a batch and masks; both parties' shares, and their differences.
pub(super) fn make(
    batch: Option<Batch>,
    masks: usize,
    (garbler, evaluator): (impl Conduct<Step>, impl Conduct<Step>),
    seed: u64,
) -> Both<(Made, Block)> {
    let (garbler, evaluator) = both(
        seed,
        async |session| {
            let mut ground = ground(session, GARBLER, garbler).await;
            let made = ground.make(session, batch, masks).await?;
            session.channel().flush().await?;
            Ok((made, ground.delta.block()))
        },
        async |session| {
            let mut ground = ground(session, EVALUATOR, evaluator).await;
            let made = ground.make(session, batch, masks).await?;
            session.channel().flush().await?;
            Ok((made, ground.delta.block()))
        },
    );
    [garbler, evaluator]
}

/// The bits that both parties share; panics if the shares of their multiples do not fit.
fn bits(shares: [&Shares; 2], deltas: [Block; 2]) -> Vec<bool> {
    let [garblers, evaluators] = shares;
    assert_eq!(garblers.len(), evaluators.len());
    let bit = |at: usize| {
        let share = |shares: &Shares| {
            assert_eq!(shares.own[at].lsb(), shares.peer[at].lsb(), "both blocks of share {at}");
            shares.own[at].lsb()
        };
        let bit = share(garblers) ^ share(evaluators);
        assert!(
            garblers.own[at] ^ evaluators.peer[at] == Block::mask(bit) & deltas[0],
            "{at}, the garbler's difference"
        );
        assert!(
            evaluators.own[at] ^ garblers.peer[at] == Block::mask(bit) & deltas[1],
            "{at}, the evaluator's difference"
        );
        bit
    };
    (0..garblers.len()).map(bit).collect()
}

/// Panics unless all shares fit and all triples are products. Returns all bits.
pub(super) fn check(made: &[(Made, Block); 2]) -> [Vec<bool>; 4] {
    let deltas = [0, 1].map(|party| made[party].1);
    let of = |range: fn(&Made) -> std::ops::Range<usize>| {
        let parts = [0, 1].map(|party: usize| made[party].0.shares.part(range(&made[party].0)));
        bits(parts.each_ref(), deltas)
    };
    let [a, b, c, masks] = [
        of(|made| made.factors()[0].clone()),
        of(|made| made.factors()[1].clone()),
        of(|made| made.factors()[2].clone()),
        of(Made::masks),
    ];
    assert!(a.iter().zip(&b).zip(&c).all(|((a, b), c)| *c == (a & b)), "products");
    [a, b, c, masks]
}

#[test]
fn shares_fit_and_triples_are_products_for_batches_of_any_size() {
    let sizes = [
        (1, 2, 1),
        (1, 5, 0),
        (2, 3, 2),
        (3, 2, 5),
        (5, 2, 0),
        (7, 3, 9),
        (16, 4, 16),
        (33, 3, 40),
        (129, 5, 7),
        (1023, 3, 1),
        (1500, 2, 3000),
    ];
    let mut ones = [0; 4];
    let mut all = [0; 4];
    for (seed, (triples, bucket, masks)) in (0..).zip(sizes) {
        let made = make(Some(Batch { triples, bucket }), masks, (Honest, Honest), seed);
        let bits = check(&made.map(|made| made.expect("both are honest")));
        assert_eq!([bits[0].len(), bits[3].len()], [triples as usize, masks], "{triples} by {bucket}");
        for (kind, bits) in bits.iter().enumerate() {
            ones[kind] += bits.iter().filter(|&&bit| bit).count();
            all[kind] += bits.len();
        }
    }
    for (kind, probability) in [0.5, 0.5, 0.25, 0.5].into_iter().enumerate() {
        assert!(!is_far(ones[kind], all[kind], probability), "{kind}: {} of {}", ones[kind], all[kind]);
    }
}

#[test]
fn masks_alone_fit() {
    for (seed, masks) in [0, 1, 127, 128, 129, 1025].into_iter().enumerate() {
        let made = make(None, masks, (Honest, Honest), seed as u64).map(|made| made.expect("both are honest"));
        assert_eq!(check(&made)[3].len(), masks);
    }
}

/// Neither party knows a bit or the other's share of it: batches of one session have nothing in common.
#[test]
fn batches_of_a_session_are_independent() {
    let batch = Some(Batch { triples: 64, bucket: 2 });
    let twice = async |session: &mut Session, party| {
        let mut ground = ground(session, party, Honest).await;
        let first = ground.make(session, batch, 64).await?;
        let second = ground.make(session, batch, 64).await?;
        session.channel().flush().await?;
        Ok([first, second].map(|made| (made, ground.delta.block())))
    };
    let (garbler, evaluator) =
        both(1, async |session| twice(session, GARBLER).await, async |session| twice(session, EVALUATOR).await);
    let [[g1, g2], [e1, e2]] = [garbler, evaluator].map(|made| made.expect("both are honest"));
    let [first, second] = [&g1, &g2].map(|(made, _)| &made.shares.peer[made.masks()]);
    assert_eq!(first.iter().filter(|block| second.contains(block)).count(), 0);
    let [first, second] = [[g1, e1], [g2, e2]].map(|made| check(&made));
    let same = first[3].iter().zip(&second[3]).filter(|(first, second)| first == second).count();
    assert!(!is_far(same, 64, 0.5), "{same}");
}
