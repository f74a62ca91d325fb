//! Silent OT gives the same shares as the extension, at the stated cost, in sessions with and without stores.

use garblet_ot::{OtError, Width};
use garblet_protocol::{
    parameters::OtKind,
    protocol::{Job, Request},
    stock::SavedValues,
};
use garblet_store::Store;

use super::{put_back::open, triples::check, *};
use crate::{Authenticated, config::SILENT_FROM};

pub(super) fn config() -> Config {
    Config { ot: OtKind::Silent, ..Config::default() }
}

/// Batches and masks that parties of one session make by silent OT, one after another.
fn make(sizes: &[(Option<Batch>, usize)], seed: u64) -> Vec<[(Made, Block); 2]> {
    let made = async |session: &mut Session, party| {
        let mut ground = ground(session, party, Honest).await;
        ground.begin_ots(session, config(), SILENT_FROM).await?;
        let mut all = Vec::new();
        for &(batch, masks) in sizes {
            // Once silent, always silent.
            ground.begin_ots(session, config(), 1).await?;
            let made = ground.make(session, batch, masks).await?;
            all.push((made, ground.delta.block()));
        }
        session.channel().flush().await?;
        Ok(all)
    };
    let (garbler, evaluator) =
        both(seed, async |session| made(session, GARBLER).await, async |session| made(session, EVALUATOR).await);
    let [garbler, evaluator] = [garbler, evaluator].map(|made| made.expect("both are honest"));
    garbler.into_iter().zip(evaluator).map(|(garbler, evaluator)| [garbler, evaluator]).collect()
}

#[test]
fn shares_fit_and_triples_are_products_in_all_batches_of_a_session() {
    let batch = |triples, bucket| Some(Batch { triples, bucket });
    let sizes = [(batch(1, 2), 1), (batch(129, 5), 7), (None, 1025), (batch(1500, 2), 3000), (batch(1500, 2), 3000)];
    let made = make(&sizes, 1);
    let mut ones = [0; 4];
    let mut all = [0; 4];
    for (made, (batch, masks)) in made.iter().zip(sizes) {
        let bits = check(made);
        assert_eq!([bits[0].len(), bits[3].len()], [batch.map_or(0, |batch| batch.triples as usize), masks]);
        for (kind, bits) in bits.iter().enumerate() {
            ones[kind] += bits.iter().filter(|&&bit| bit).count();
            all[kind] += bits.len();
        }
    }
    for (kind, probability) in [0.5, 0.5, 0.25, 0.5].into_iter().enumerate() {
        assert!(!is_far(ones[kind], all[kind], probability), "{kind}: {} of {}", ones[kind], all[kind]);
    }
    let [third, fourth] = [3, 4].map(|at: usize| {
        let (made, _) = &made[at][0];
        &made.shares.peer[made.masks()]
    });
    assert_eq!(third.iter().filter(|block| fourth.contains(block)).count(), 0, "batches have nothing in common");
}

/// The bits of each party, not only their sums, are uniform, whichever party begins as the sender.
#[test]
fn the_bits_of_either_party_are_uniform() {
    let made = make(&[(None, 4000)], 2);
    let [garblers, evaluators] = made[0].each_ref().map(|(made, _)| &made.shares);
    for shares in [garblers, evaluators] {
        let ones = shares.own.iter().filter(|block| block.lsb()).count();
        assert!(!is_far(ones, 4000, 0.5), "{ones}");
    }
    let same = garblers.own.iter().zip(&evaluators.own).filter(|(a, b)| a.lsb() == b.lsb()).count();
    assert!(!is_far(same, 4000, 0.5), "{same}");
}

fn layered(ands: u64, config: Config) -> Plan {
    let program = library::find(&format!("layered(2, {ands})")).expect("known");
    Plan::new(program.into(), config, &[], false).expect("can be run")
}

#[test]
fn a_plan_with_other_parameters_has_the_same_schedules() {
    let program = library::find("layered(2, 50)").expect("known").into();
    let request = Request { program, parties: 2, config: Config::default(), saved: SavedValues::default() };
    let job = Job::<Authenticated>::new(request).expect("can be run");
    let other = job.otherwise(config()).expect("can be run");
    assert!(std::ptr::eq(job.plan.schedules(), other.plan.schedules()));
    assert_eq!((job.plan.config().ot, other.plan.config().ot), (OtKind::Extension, OtKind::Silent));
}

/// A whole session of both parties, from the set-up on.
fn whole(plan: &Plan, inputs: &[Bits], seed: u64) -> Both<Ran> {
    async fn lives<S: Side>(session: &mut Session, plan: &Plan, inputs: &[Bits]) -> Result<Ran, ProtocolError> {
        let Participant { ground, .. } = Participant::<S, Any>::setup(session, plan.config(), Any::new(Honest)).await?;
        live::<S>(session, plan, None, inputs, ground).await
    }
    let (garbler, evaluator) = both(
        seed,
        async |session| lives::<GarblerSide>(session, plan, inputs).await,
        async |session| lives::<EvaluatorSide>(session, plan, inputs).await,
    );
    [garbler, evaluator]
}

#[test]
fn programs_of_many_gates_take_silent_ots_at_the_stated_cost() {
    let reveal = Config { check: ResultCheck::Reveal, build: Build::Stream, ..config() };
    for (seed, config) in [config(), reveal].into_iter().enumerate() {
        let plan = layered(17_000, config);
        assert!(plan.config().is_silent(plan.ots()));
        let inputs = random::inputs(&mut StdRng::seed_from_u64(8), plan.program());
        let hellos = [GARBLER, EVALUATOR].map(|party| Hello::new(NAME, party.0, 2, [0; 32]));
        for (party, ran) in [GARBLER, EVALUATOR].into_iter().zip(whole(&plan, &inputs, seed as u64)) {
            let (outputs, costs) = ran.expect("both are honest");
            assert!(outputs == learned(&plan, party, &inputs), "{party}");
            for phase in Phase::ALL {
                let stated = communication(&plan, party, phase, &hellos);
                assert_eq!(costs.of(phase).communication, stated, "{party}, {phase:?}, {config:?}");
            }
        }
    }
}

#[test]
fn programs_of_few_gates_cost_the_same_as_with_the_widest_extension() {
    let extension = Config { ot_width: Width::Eight, ..Config::default() };
    let [few, same] = [config(), extension].map(|config| layered(15_000, config));
    assert!(!few.config().is_silent(few.ots()));
    let hellos = [GARBLER, EVALUATOR].map(|party| Hello::new(NAME, party.0, 2, [0; 32]));
    for phase in Phase::ALL {
        let [few, same] = [&few, &same].map(|plan| communication(plan, GARBLER, phase, &hellos));
        assert_eq!(few, same, "{phase:?}");
    }
}

/// The bits of a store's state and pieces after a meeting in which both parties fill their stores with these masks.
fn fill(folder: &std::path::Path, config: Config, masks: u64, seed: u64) -> Both<(PhaseCosts, Vec<u8>)> {
    async fn fills<S: Side>(
        session: &mut Session,
        (config, masks): (Config, u64),
        store: Store,
    ) -> Result<(PhaseCosts, Vec<u8>), ProtocolError> {
        let mut role = Participant::<S, Any>::meet(session, config, (store, "test"), Any::new(Honest)).await?;
        role.fill(session, Amounts { triples: 0, masks }).await?;
        session.channel().flush().await?;
        let store = role.into_store().expect("it has one");
        Ok((session.costs(), store.state("authenticated").expect("they have met").bytes.to_vec()))
    }
    let store = |party: u64| open(&folder.join(party.to_string()), 2 * seed + party);
    let (garbler, evaluator) = both(
        seed,
        async |session| fills::<GarblerSide>(session, (config, masks), store(0)).await,
        async |session| fills::<EvaluatorSide>(session, (config, masks), store(1)).await,
    );
    [garbler, evaluator]
}

/// Every meeting begins with first OTs of its own, from the same leaves: nothing of silent OT is on disk that a later meeting could use twice.
#[test]
fn a_meeting_with_a_store_makes_its_own_first_ots_and_keeps_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let few = fill(folder.path(), config(), 32, 1).map(|filled| filled.expect("both are honest"));
    for seed in [2, 3] {
        let many = fill(folder.path(), config(), SILENT_FROM, seed).map(|filled| filled.expect("both are honest"));
        for ((costs, state), (_, before)) in many.iter().zip(&few) {
            assert!(state == before, "the state is what the first meeting left");
            let sent = costs.of(Phase::Setup).communication.bytes_sent;
            assert!((280_000..285_000).contains(&sent), "{sent} bytes for the first OTs");
        }
    }
}

/// Stores for silent OT are not those for the extension: both parties must know which they fill.
#[test]
fn a_store_is_for_one_kind_of_ot() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(fill(folder.path(), config(), 32, 1).iter().all(Result::is_ok));
    let extension = Config { ot_width: Width::Eight, ..Config::default() };
    for refused in fill(folder.path(), extension, 32, 2) {
        let error = refused.expect_err("it is for silent OT").to_string();
        assert!(error.contains("silent OT"), "{error}");
    }
}

/// After first OTs that failed there are no others.
#[test]
fn a_session_is_over_once_its_first_silent_ots_failed() {
    let (_, evaluator) = both(
        5,
        async |session| {
            ground(session, GARBLER, Honest).await;
            session.channel().receive_bytes(&mut [0; 100_000]).await?;
            // It leaves before it sends a point.
            Err::<(), _>(ProtocolError::Over)
        },
        async |session| {
            let mut ground = ground(session, EVALUATOR, Honest).await;
            let first = ground.begin_ots(session, config(), SILENT_FROM).await;
            assert!(first.is_err() && !ground.ots.are_silent());
            ground.make(session, None, 8).await
        },
    );
    assert!(matches!(evaluator, Err(ProtocolError::Over)));
}

/// A check of silent OT that fails ends the store, as every check does.
#[test]
fn a_store_is_given_up_after_a_false_share_of_a_coin() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, evaluator) = both(
        6,
        async |session| {
            let store = open(&folder.path().join("0"), 1);
            let mut role =
                Participant::<GarblerSide, Any>::meet(session, config(), (store, "test"), Any::new(Honest)).await?;
            role.ground.begin_ots(session, config(), SILENT_FROM).await?;
            let channel = session.channel();
            channel.send_bytes(&[1; 32]).await?;
            channel.receive_bytes(&mut [0; 32]).await?;
            channel.send_bytes(&[1; 64]).await?;
            Ok(channel.flush().await?)
        },
        async |session| {
            let store = open(&folder.path().join("1"), 2);
            let mut role =
                Participant::<EvaluatorSide, Any>::meet(session, config(), (store, "test"), Any::new(Honest)).await?;
            role.fill(session, Amounts { triples: 0, masks: SILENT_FROM }).await
        },
    );
    let error = evaluator.expect_err("the share does not open the commitment");
    assert!(matches!(error, ProtocolError::Ot(OtError::CoinOpening)), "{error}");
    let [_, evaluator] = fill(folder.path(), config(), 32, 7);
    let error = evaluator.expect_err("the store was given up").to_string();
    assert!(error.contains("given up"), "{error}");
}
