//! Gates that lie in a store until a function is known.

use crate::checks;
use garblet_circuit::{Link, Port, Recipients};
use garblet_homcommit::CommitError;
use garblet_store::{Store, StoreKey, testing::open_hooked};

use super::*;
use crate::{constructor::ConstructorSide, evaluator::EvaluatorSide, side::Side};
use garblet_protocol::{conduct::Honest, error::NotPrepared};

/// The work of a party with its store: it fills it, then computes functions one after another.
struct Task<'a> {
    fill: Option<Amounts>,
    runs: &'a [(Arc<Plan>, Vec<Bits>)],
    deviation: Deviation,
}

type Ended = (Store, Result<Vec<Vec<Option<Bits>>>, ProtocolError>);

async fn constructor(channel: Channel, store: Store, task: &Task<'_>, seed: u64) -> Result<Ended, ProtocolError> {
    let mut session = session(channel, CONSTRUCTOR, seed).await;
    let config = Config::default();
    let mut role = Constructor::meet_with(&mut session, config, store, "test", task.deviation.clone()).await?;
    task.deviation.delta.set(role.delta()).ok();
    let run = async {
        if let Some(amounts) = task.fill {
            role.fill(&mut session, &Order::new(amounts, config)?).await?;
        }
        let mut outputs = Vec::new();
        for (plan, inputs) in task.runs {
            let mut prepared = role.prepare(&mut session, plan.clone()).await?;
            role.build(&mut session, &mut prepared).await?;
            outputs.push(role.online(&mut session, prepared, &own_inputs(plan, CONSTRUCTOR, inputs)).await?);
        }
        Ok(outputs)
    };
    let result = run.await;
    Ok((role.into_store().expect("it came with one"), result))
}

async fn evaluator(channel: Channel, store: Store, task: &Task<'_>, seed: u64) -> Result<Ended, ProtocolError> {
    let mut session = session(channel, EVALUATOR, seed).await;
    let config = Config::default();
    let mut role = Evaluator::meet_with(&mut session, config, store, "test", task.deviation.clone()).await?;
    let run = async {
        if let Some(amounts) = task.fill {
            role.fill(&mut session, &Order::new(amounts, config)?).await?;
        }
        let mut outputs = Vec::new();
        for (plan, inputs) in task.runs {
            let mut prepared = role.prepare(&mut session, plan.clone()).await?;
            role.build(&mut session, &mut prepared).await?;
            if let (Some(spoil), Some(&delta)) = (task.deviation.spoil, task.deviation.delta.get()) {
                spoil(&mut prepared, delta);
            }
            outputs.push(role.online(&mut session, prepared, &own_inputs(plan, EVALUATOR, inputs)).await?);
        }
        Ok(outputs)
    };
    let result = run.await;
    if let Err(ProtocolError::Cheating(_)) = result {
        let again = role.fill(&mut session, &Order::new(SOME, config)?).await;
        assert!(matches!(again, Err(ProtocolError::Stored { .. })), "nor in the same meeting");
    }
    Ok((role.into_store().expect("it came with one"), result))
}

/// Both parties meet; one that fails leaves.
fn meet(stores: [Store; 2], task: &Task<'_>, seed: u64) -> [Result<Ended, ProtocolError>; 2] {
    let (ours, theirs) = memory_pair();
    let [first, second] = stores;
    block_on(async { tokio::join!(constructor(ours, first, task, seed), evaluator(theirs, second, task, seed)) }).into()
}

/// New stores of both parties.
fn stores() -> [Store; 2] {
    [1, 2].map(|seed| Store::in_memory(&mut StdRng::seed_from_u64(seed)).expect("memory"))
}

fn job(name: &str, seed: u64) -> (Arc<Plan>, Vec<Bits>) {
    let plan = plan(library::find(name).expect("in the library"));
    let inputs = random::inputs(&mut StdRng::seed_from_u64(seed), plan.program());
    (plan, inputs)
}

const SOME: Amounts = Amounts { gates: 520, inputs: 64, input_pairs: 32, outputs: 64 };

/// The stores afterwards, with every result checked.
fn right(ended: [Result<Ended, ProtocolError>; 2], runs: &[(Arc<Plan>, Vec<Bits>)]) -> [Store; 2] {
    ended.map(|ended| {
        let (store, outputs) = ended.expect("they belong together");
        let outputs = outputs.expect("both are honest");
        for ((plan, inputs), outputs) in runs.iter().zip(outputs) {
            let expected = garblet_circuit::evaluate(plan.program(), inputs);
            assert!(
                outputs.iter().zip(&expected).all(|(got, expected)| got.as_ref().is_none_or(|got| got == expected))
            );
        }
        store
    })
}

#[test]
fn one_store_serves_several_functions_that_are_named_later() {
    let honest = Deviation::default;
    let filled = meet(stores(), &Task { fill: Some(SOME), runs: &[], deviation: honest() }, 1);
    let stores = right(filled, &[]);
    let runs = [job("add(8)", 1), job("millionaires(16)", 2)];
    let stores = right(meet(stores, &Task { fill: None, runs: &runs, deviation: honest() }, 2), &runs);
    // Filled again, in another meeting, with buckets of another size; a run takes of both.
    let more = Amounts { gates: 5_000, ..SOME };
    let runs = [job("sub(8)", 3), job("mul(16)", 4)];
    let stores = right(meet(stores, &Task { fill: Some(more), runs: &runs, deviation: honest() }, 3), &runs);
    let left: Vec<_> =
        stores[0].stock().iter().map(|kind| (kind.kind.name().to_string(), kind.available.len())).collect();
    let runs = [job("mul(64)", 5)];
    let task = Task { fill: None, runs: &runs, deviation: honest() };
    for ended in meet(stores, &task, 4) {
        let (store, outputs) = ended.expect("they belong together");
        let Err(ProtocolError::NotPrepared(NotPrepared::Missing(missing))) = outputs else { panic!("there is less") };
        assert!(missing.iter().any(|missing| missing.name == "input bits"), "{missing:?}");
        let still: Vec<_> =
            store.stock().iter().map(|kind| (kind.kind.name().to_string(), kind.available.len())).collect();
        assert_eq!(still, left, "nothing is taken");
    }
}

/// A sum of this many numbers of both parties, with an instance for each addition.
fn sum(terms: usize) -> (Arc<Plan>, Vec<Bits>) {
    let adder = library::find("add(32)").expect("in the library");
    let mut program = Program::new("sum");
    let component = program.add_component(adder.components()[0].clone());
    let mut links = (0..terms).map(|term| {
        let port = Port::new(format!("x{term}"), adder.inputs()[0].port.ty.clone());
        let input = program.add_input(port, Party(term as u16 % 2)).expect("a new name");
        program.input_link(input)
    });
    let (first, links): (_, Vec<Link>) = (links.next().expect("a term"), links.collect());
    let total = links.iter().fold(first, |total, &link| {
        let instance = program.add_instance(component, &[total, link]).expect("it fits");
        program.instance_link(instance)
    });
    let port = Port::new("sum", adder.outputs()[0].port.ty.clone());
    program.add_output(port, Recipients::All, vec![total]).expect("it fits");
    let inputs = random::inputs(&mut StdRng::seed_from_u64(6), &program);
    (plan(program), inputs)
}

/// A large function takes its gates lot by lot, and gives the same result as from memory, be it one circuit or many; a smaller one takes
/// them at once.
#[test]
fn a_function_of_several_lots_comes_from_a_store() {
    let (many, inputs) = sum(12);
    let one = (plan(many.program().flattened().expect("not too large")), inputs.clone());
    let runs = [(many, inputs), one, sum(7)];
    assert!(runs[0].0.lots().len() > 3 && runs[1].0.program().instance_count() == 1);
    for (plan, inputs) in &runs[..2] {
        check(plan, inputs, 8, &Deviation::default());
    }
    let Amounts { gates, inputs, input_pairs, outputs } = runs[0].0.amounts();
    let thrice = Amounts { gates: 3 * gates, inputs: 3 * inputs, input_pairs: 3 * input_pairs, outputs: 3 * outputs };
    let task = Task { fill: Some(thrice), runs: &runs, deviation: Deviation::default() };
    right(meet(stores(), &task, 9), &runs);
}

/// A large function also gives the right output if a gate shows the difference: it goes through all lots once more.
#[test]
fn a_function_of_several_lots_whose_gates_show_the_difference_gives_the_right_result() {
    let runs = [sum(12)];
    let other_key: fn(&mut EvaluatorPrepared, Block) =
        |prepared, delta| prepared.material.ands.first().gates_mut(20)[1].output ^= delta;
    let deviation = Deviation { spoil: Some(other_key), ..Deviation::default() };
    let task = Task { fill: Some(runs[0].0.amounts()), runs: &runs, deviation };
    right(meet(stores(), &task, 11), &runs);
}

/// The links that join a lot are checked before the next but some is read.
#[test]
fn a_wrong_link_of_any_lot_is_noticed() {
    let runs = [sum(12)];
    let last = runs[0].0.lots().len() - 1;
    for at in [0, last] {
        let wrong: Change = |bytes, _| bytes[0] ^= 1;
        let deviation = Deviation { touch: Some((Step::Links, wrong)), at: Some(at), ..Deviation::default() };
        let task = Task { fill: Some(runs[0].0.amounts()), runs: &runs, deviation };
        let [_, evaluator] = meet(stores(), &task, 10);
        let (_, result) = evaluator.expect("they belong together");
        assert!(matches!(result, Err(ProtocolError::Commit(CommitError::WrongBatch { .. }))), "lot {at}");
    }
}

/// A party that meets its peer and closes properly, or sends a meaningless message.
async fn leaves<S: Side<Conduct = Honest>>(channel: Channel, store: Store, garbled: bool, seed: u64) -> Store {
    let mut session = session(channel, S::PARTY, seed).await;
    let role =
        Participant::<S>::meet(&mut session, Config::default(), store, "test").await.expect("they belong together");
    if garbled {
        session.channel().send_bytes(&[7; 5]).await.expect("sent");
        session.abort().await;
    } else {
        session.close().await.ok();
    }
    role.into_store().expect("it came with one")
}

/// Nothing that somebody on the way could do, too, makes a party give up its store.
#[test]
fn a_peer_that_closes_or_sends_nonsense_costs_no_store() {
    let task = |fill, runs| Task { fill, runs, deviation: Deviation::default() };
    let runs = [job("add(8)", 1)];
    let more = Amounts { gates: 2_000, inputs: 256, input_pairs: 128, outputs: 256 };
    let mut stores = right(meet(stores(), &task(Some(more), &[]), 1), &[]);
    for (seed, (fill, garbled)) in
        [None, Some(SOME)].into_iter().flat_map(|fill| [(fill, false), (fill, true)]).enumerate()
    {
        let seed = 10 * seed as u64 + 2;
        let task = task(fill, &runs);
        let (ours, theirs) = memory_pair();
        let [first, second] = stores;
        let (one, second) = block_on(async {
            tokio::join!(
                constructor(ours, first, &task, seed),
                leaves::<EvaluatorSide<Honest>>(theirs, second, garbled, seed)
            )
        });
        let (first, result) = one.expect("they belong together");
        assert!(matches!(result, Err(error) if !error.is_evidence()));
        let (ours, theirs) = memory_pair();
        let (first, other) = block_on(async {
            tokio::join!(
                leaves::<ConstructorSide<Honest>>(ours, first, garbled, seed + 1),
                evaluator(theirs, second, &task, seed + 1)
            )
        });
        let (second, result) = other.expect("they belong together");
        assert!(matches!(result, Err(error) if !error.is_evidence()));
        stores = [first, second];
    }
    right(meet(stores, &task(None, &runs), 99), &runs);
}

#[test]
fn a_store_is_for_the_store_that_it_was_filled_with() {
    let task = Task { fill: Some(SOME), runs: &[], deviation: Deviation::default() };
    let [first, _] = right(meet(stores(), &task, 1), &[]);
    let second = Store::in_memory(&mut StdRng::seed_from_u64(3)).expect("memory");
    let mut ended = meet([first, second], &task, 2).into_iter();
    assert!(matches!(ended.next(), Some(Err(ProtocolError::Store(_)))), "it knows another store");
}

#[test]
fn a_store_is_given_up_when_the_peer_has_cheated() {
    let runs = [job("add(8)", 1)];
    let filled = right(meet(stores(), &Task { fill: Some(SOME), runs: &[], deviation: Deviation::default() }, 1), &[]);
    let spoil: Change = |bytes, _| bytes.iter_mut().for_each(|byte| *byte ^= 1);
    let deviation = Deviation { touch: Some((Step::Tables, spoil)), ..Deviation::default() };
    let [constructor, evaluator] = meet(filled, &Task { fill: Some(SOME), runs: &runs, deviation }, 2);
    let (evaluator, result) = evaluator.expect("they belong together");
    let Err(ProtocolError::Cheating(cheating)) = result else { panic!("it is noticed") };
    assert_eq!(cheating.check, checks::GATE);
    assert!(evaluator.stock().iter().all(|kind| kind.available.is_empty()), "nothing may be used any more");
    let (constructor, _) = constructor.expect("they belong together");
    let honest = Task { fill: None, runs: &runs, deviation: Deviation::default() };
    let [_, evaluator] = meet([constructor, evaluator], &honest, 3);
    let error = evaluator.err().expect("it is not used again").to_string();
    assert!(error.contains("found to cheat"), "{error}");
}

/// Giving up is two writes: one for the secrets, one for the pieces. A party that is killed in between has pieces and no secrets.
#[test]
fn an_interrupted_give_up_leaves_no_secrets() {
    let scratch = tempfile::tempdir().expect("a folder");
    let [folder, killed] = ["store", "killed"].map(|name| scratch.path().join(name));
    let before_each_change = {
        let (folder, killed) = (folder.clone(), killed.clone());
        move |step: &str| {
            if step == "index change" {
                std::fs::remove_dir_all(&killed).ok();
                put_back::copy(&folder, &killed);
            }
            Ok(())
        }
    };
    let (mut rng, runs) = (StdRng::seed_from_u64(2), [job("add(8)", 1)]);
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    let hooked = open_hooked(&folder, &key, &mut rng, before_each_change).expect("a new folder");
    let [constructor, _] = stores();
    let fill = Task { fill: Some(SOME), runs: &[], deviation: Deviation::default() };
    let filled = right(meet([constructor, hooked], &fill, 1), &[]);
    let spoil: Change = |bytes, _| bytes.iter_mut().for_each(|byte| *byte ^= 1);
    let deviation = Deviation { touch: Some((Step::Tables, spoil)), ..Deviation::default() };
    let [constructor, evaluator] = meet(filled, &Task { fill: Some(SOME), runs: &runs, deviation }, 2);
    let (evaluator, result) = evaluator.expect("they belong together");
    assert!(matches!(result, Err(ProtocolError::Cheating(_))), "it is noticed");
    drop(evaluator);

    let evaluator = put_back::open(&killed, 3);
    assert!(evaluator.stock().iter().any(|kind| !kind.available.is_empty()), "the pieces are not yet gone");
    let (constructor, _) = constructor.expect("they belong together");
    let honest = Task { fill: None, runs: &runs, deviation: Deviation::default() };
    let [_, evaluator] = meet([constructor, evaluator], &honest, 4);
    let error = evaluator.err().expect("it is not used again").to_string();
    assert!(error.contains("found to cheat"), "{error}");
}
