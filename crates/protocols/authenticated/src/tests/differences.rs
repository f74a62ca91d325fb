//! Parties whose differences are not the OTs' or not of the right kind.

use super::*;
use crate::{checks, config::SILENT_FROM};

/// The garbler's and the evaluator's results of making a batch, where one of them uses another difference than in the OTs.
fn with_other_difference(party: Party, config: Config, seed: u64) -> [Result<(), ProtocolError>; 2] {
    let batch = Some(Batch { triples: 64, bucket: 3 });
    let make = async |session: &mut Session, own: Party| {
        let mut ground = ground(session, own, Honest).await;
        ground.begin_ots(session, config, SILENT_FROM).await?;
        if own == party {
            let other = Block::random(session.rng());
            let old = ground.in_ots.block();
            ground.in_ots = match old.lsb() {
                true => garblet_primitives::Delta::new(other),
                false => garblet_primitives::Delta::even(other),
            };
            ground.delta = garblet_primitives::Delta::new(other);
        }
        ground.make(session, batch, 8).await?;
        Ok(session.channel().flush().await?)
    };
    let (garbler, evaluator) =
        both(seed, async |session| make(session, GARBLER).await, async |session| make(session, EVALUATOR).await);
    [garbler, evaluator]
}

/// The leaves of the set-up bind the difference: no triples can be made with another one.
#[test]
fn triples_need_the_difference_of_the_set_up() {
    let tries = (0..8).map(|seed| (seed, Config::default())).chain([(8, silent::config()), (9, silent::config())]);
    for (seed, config) in tries {
        for party in [GARBLER, EVALUATOR] {
            let [garbler, evaluator] = with_other_difference(party, config, seed);
            let error = garbler.expect_err("it compares first");
            assert!(
                matches!(&error, ProtocolError::Cheating(cheating) if cheating.check == checks::EQUALITY),
                "{error}"
            );
            assert!(evaluator.is_err());
        }
    }
}

/// A party whose difference has the other bit 0, or not.
struct OtherBit(bool);

impl Conduct<Step> for OtherBit {
    fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
        if step == Step::Difference {
            bytes[0] ^= u8::from(self.0);
        }
    }
}

/// Nobody proves that the sum of both differences has bit 0 set: if it has not, product bits do not correct products.
#[test]
fn differences_whose_sum_has_bit_0_clear_are_caught() {
    let make = async |session: &mut Session, own: Party, (deviant, config): (Party, Config)| {
        let mut conduct = Any::new(OtherBit(own == deviant));
        let secrets = Secrets::set_up(session, own, config, &mut conduct).await?;
        let mut ground = Ground::agree(session, &secrets, own, config, conduct).await?;
        ground.begin_ots(session, config, SILENT_FROM).await?;
        ground.make(session, Some(Batch { triples: 64, bucket: 3 }), 0).await?;
        Ok(session.channel().flush().await?)
    };
    let configs = [Config::default(), silent::config()];
    for deviation in configs.into_iter().flat_map(|config| [GARBLER, EVALUATOR].map(|deviant| (deviant, config))) {
        let (garbler, evaluator) = both(
            1,
            async |session| make(session, GARBLER, deviation).await,
            async |session| make(session, EVALUATOR, deviation).await,
        );
        let error = garbler.expect_err("it compares first");
        assert!(matches!(&error, ProtocolError::Cheating(cheating) if cheating.check == checks::EQUALITY), "{error}");
        assert!(evaluator.is_err());
    }
}

/// A garbler whose labels have another difference than its shares: its visible effects depend only on masked values.
#[test]
fn labels_with_another_difference_than_shares_never_give_a_wrong_result() {
    const TRIALS: usize = 240;
    let gates = vec![Gate::And(Wire(0), Wire(1)), Gate::And(Wire(2), Wire(1))];
    let plan = plan(circuit([1, 1], gates, vec![Wire(2), Wire(3)]), Config::default());
    let mut found = [0; 4];
    for value in 0..4u128 {
        let inputs = [Bits::from_u128(value & 1, 1), Bits::from_u128(value >> 1, 1)];
        for seed in 0..TRIALS as u64 {
            let (_, evaluator) = both(
                seed,
                async |session| {
                    let mut ground = ground(session, GARBLER, Honest).await;
                    let mut supply = Supply::default();
                    let batch = Some(Batch { triples: plan.and_count(), bucket: 2 });
                    supply.add(&ground.make(session, batch, plan.amounts().masks as usize).await?)?;
                    ground.delta = garblet_primitives::Delta::new(Block::random(session.rng()));
                    let built = GarblerSide::build(&mut ground, session, &plan, supply, &Read::default()).await?;
                    let work = crate::side::Work::Built(built);
                    let own = own_input(&plan, GARBLER, &inputs);
                    GarblerSide::compute(&mut ground, session, &plan, work, (&own, &mut Nothing::new(GARBLER, None)))
                        .await
                        .map(|_| ())
                },
                async |session| {
                    let ground = ground(session, EVALUATOR, Honest).await;
                    let batch = Some(Batch { triples: plan.and_count(), bucket: 2 });
                    live::<EvaluatorSide>(session, &plan, batch, &inputs, ground).await
                },
            );
            match evaluator {
                Ok((outputs, _)) => assert!(outputs == learned(&plan, EVALUATOR, &inputs), "{value:02b}"),
                Err(_) => found[value as usize] += 1,
            }
        }
    }
    let mean = found.iter().sum::<usize>() as f64 / (4 * TRIALS) as f64;
    assert!(mean > 0.2, "{mean}");
    for (value, found) in found.into_iter().enumerate() {
        assert!(!is_far(found, TRIALS, mean), "inputs {value:02b}: {found} of {TRIALS}, all {mean}");
    }
}
