//! Programs that read values kept by earlier ones.

use garblet_circuit::{Port, Recipients, Type};
use garblet_net::Accuses;
use garblet_protocol::{
    Class, Role,
    stock::{ReadInput, SavedValues},
};
use garblet_store::{STATE_BYTES_MAX, State, Store};

use super::*;
use crate::stock::saved;

/// A program of a chain: its plan, all inputs, and the values it reads and keeps.
pub(super) struct Link {
    plan: Arc<Plan>,
    inputs: Vec<Bits>,
    saved: SavedValues,
}

type Lived = Result<(Vec<Option<Bits>>, Store), ProtocolError>;

async fn live<S: Side>(session: &mut Session, store: Store, step: &Link) -> Lived {
    let role = Participant::<S, Any>::meet(session, step.plan.config(), (store, "test"), Any::new(Honest)).await?;
    let mut run = Run::saving(session, role, step.plan.clone(), step.saved.clone(), true).await?;
    let owned = step.plan.program().inputs().iter().zip(&step.inputs).filter(|(input, _)| input.owner == S::PARTY);
    let own: Vec<Bits> = owned.map(|(_, value)| value.clone()).collect();
    let outputs = run.run(session, &own).await?;
    assert!(run.late_error().is_none(), "it was kept");
    Ok((outputs, run.into_store().expect("it came with one")))
}

fn meet([first, second]: [Store; 2], step: &Link, seed: u64) -> [Lived; 2] {
    let (garbler, evaluator) = both(
        seed,
        async |session| live::<GarblerSide>(session, first, step).await,
        async |session| live::<EvaluatorSide>(session, second, step).await,
    );
    [garbler, evaluator]
}

fn stores() -> [Store; 2] {
    [1, 2].map(|seed| Store::in_memory(&mut StdRng::seed_from_u64(seed)).expect("memory"))
}

fn link(name: &str, config: Config, inputs: Vec<Bits>, read: Option<&str>, keep: Option<&str>) -> Link {
    let program = Arc::new(library::find(name).expect("in the library"));
    let read: Vec<ReadInput> = read
        .map(|name| ReadInput { port: program.inputs()[0].port.name.clone(), name: name.into(), output: None })
        .into_iter()
        .collect();
    let numbers: Vec<usize> = read.iter().map(|_| 0).collect();
    let saved = SavedValues { keep: keep.map(String::from), read };
    let plan = Plan::new(program, config, &numbers, saved.keep.is_some()).expect("can be run");
    Link { plan: Arc::new(plan), inputs, saved }
}

fn expected(step: &Link) -> Bits {
    garblet_circuit::evaluate(step.plan.program(), &step.inputs).remove(0)
}

/// Three programs, each in its form of `configs`, where each but the first reads its first input from the one before.
fn chain(configs: [Config; 3]) -> Vec<(Link, Bits)> {
    let mut last: Option<Bits> = None;
    let step = |(number, name): (usize, &str)| {
        let program = library::find(name).expect("in the library");
        let mut inputs = random::inputs(&mut StdRng::seed_from_u64(number as u64), &program);
        let read = last.as_ref().map(|value| {
            inputs[0] = value.slice(0, inputs[0].len());
            "last"
        });
        let link = link(name, configs[number], inputs, read, Some("last"));
        let outputs = expected(&link);
        last = Some(outputs.clone());
        (link, outputs)
    };
    ["add(8)", "mul(8)", "sub(8)"].into_iter().enumerate().map(step).collect()
}

fn check(lived: [Lived; 2], right: &Bits, place: &str) -> [Store; 2] {
    lived.map(|lived| {
        let (outputs, store) = lived.unwrap_or_else(|error| panic!("{place}: {error}"));
        assert!(outputs.iter().all(|got| got.as_ref().is_none_or(|got| got == right)), "{place}");
        store
    })
}

#[test]
fn a_chain_gives_the_right_results_in_all_forms() {
    let [a, b, c, d] = configs();
    for (seed, forms) in (0..).zip([[a, a, a], [b, c, d], [c, c, c], [d, a, b]]) {
        let mut stores = stores();
        for (number, (step, right)) in chain(forms).into_iter().enumerate() {
            stores = check(meet(stores, &step, 8 * seed + number as u64), &right, &format!("{forms:?}, {number}"));
        }
    }
}

#[test]
fn kept_values_can_be_read_any_number_of_times() {
    let [(first, right), (second, product), _] = <[_; 3]>::try_from(chain([Config::default(); 3])).ok().expect("three");
    let mut stores = check(meet(stores(), &first, 1), &right, "first");
    let second = Link { saved: SavedValues { keep: None, ..second.saved }, ..second };
    let plan = Plan::new(Arc::new(library::find("mul(8)").expect("in the library")), Config::default(), &[0], false);
    let second = Link { plan: Arc::new(plan.expect("can be run")), ..second };
    for time in 2..5 {
        stores = check(meet(stores, &second, time), &product, "again");
    }
}

#[test]
fn a_value_that_nobody_learns_is_kept_all_the_same() {
    for config in configs() {
        let [(first, right), (second, product), _] = <[_; 3]>::try_from(chain([config; 3])).ok().expect("three");
        let mut secret = first.plan.program().clone();
        secret.set_recipients(0, garblet_circuit::Recipients::Only(Vec::new()));
        let plan = Plan::new(Arc::new(secret), config, &[], true).expect("can be run");
        let first = Link { plan: Arc::new(plan), ..first };
        let stores = check(meet(stores(), &first, 1), &right, "nobody learns it");
        check(meet(stores, &second, 2), &product, "the product of it");
    }
}

#[test]
fn only_kept_values_can_be_read() {
    let (step, _) = chain([Config::default(); 3]).remove(1);
    for lived in meet(stores(), &step, 1) {
        let error = lived.err().expect("there is nothing").to_string();
        assert!(error.contains("`last`, which was to be read: expected outputs that were kept"), "{error}");
    }
}

#[test]
fn kept_values_are_forgotten_with_their_secrets() {
    let chain = chain([Config::default(); 3]);
    let [mut first, second] = check(meet(stores(), &chain[0].0, 1), &chain[0].1, "first");
    // The garbler says that it has no secrets.
    first.remove_states(|name| name == "authenticated").expect("removed");
    for lived in meet([first, second], &chain[1].0, 2) {
        let error = lived.err().expect("it was forgotten").to_string();
        assert!(error.contains("got none of that name"), "{error}");
    }
}

/// A copy of a store's kept and pending values.
fn kept(store: &Store, place: &str) -> State {
    let State { version, bytes } = store.state(place).expect("it was kept");
    State { version: *version, bytes: bytes.clone() }
}

/// The evaluator was interrupted when its part was pending and the garbler had kept its own: the next program that reads the value gets the last one that both
/// kept.
#[test]
fn an_interrupted_run_is_settled_before_its_value_is_read() {
    for config in configs() {
        let chain = chain([config; 3]);
        let [first, second] = check(meet(stores(), &chain[0].0, 1), &chain[0].1, "first");
        let old = kept(&second, "kept last");
        let [first, mut second] = check(meet([first, second], &chain[0].0, 2), &chain[0].1, "again");
        let new = kept(&second, "kept last");
        second.set_states([("kept last".into(), old), ("pending last".into(), new)]).expect("memory");
        let [_, second] = check(meet([first, second], &chain[1].0, 3), &chain[1].1, "settled");
        assert!(second.state("pending last").is_none());
    }
}

/// A party that has kept another run's value than the peer says so, and neither accuses the other.
#[test]
fn values_of_different_runs_are_refused_before_they_are_read() {
    let chain = chain([Config::default(); 3]);
    let [first, second] = check(meet(stores(), &chain[0].0, 1), &chain[0].1, "first");
    let old = kept(&first, "kept last");
    let [mut first, second] = check(meet([first, second], &chain[0].0, 2), &chain[0].1, "again");
    first.set_state("kept last", old).expect("memory");
    for lived in meet([first, second], &chain[1].0, 3) {
        let error = lived.err().expect("it does not fit");
        assert!(error.to_string().contains("expected outputs that all parties have kept in the same run"), "{error}");
        assert_eq!((Class::from(&error), error.accuses(0)), (Class::Call, None));
    }
}

#[test]
fn a_run_whose_plan_and_names_do_not_both_keep_outputs_is_refused() {
    let (step, _) = chain([Config::default(); 3]).remove(0);
    let program = Arc::new(library::find("add(8)").expect("in the library"));
    let quiet = Plan::new(program, Config::default(), &[], false).expect("can be run");
    let named = Link { plan: Arc::new(quiet), inputs: step.inputs.clone(), saved: step.saved.clone() };
    let unnamed = Link { plan: step.plan.clone(), inputs: step.inputs.clone(), saved: SavedValues::default() };
    for (link, expected) in [
        (named, "expected none, as the plan keeps no outputs, got one"),
        (unnamed, "expected one, as the plan keeps outputs, got none"),
    ] {
        for lived in meet(stores(), &link, 1) {
            let error = lived.err().expect("nothing would be kept").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

#[test]
fn runs_for_the_parties_and_for_others_use_separate_names() {
    let refused = |saved: &SavedValues| saved::check_names(saved).expect_err("not this name").to_string();
    let read = |name: &str| ReadInput { port: "x".into(), name: name.into(), output: None };
    let kept = SavedValues { keep: Some("state x".into()), read: Vec::new() };
    let reads = SavedValues { keep: None, read: vec![read("last"), read("state x 1")] };
    for saved in [kept, reads] {
        assert!(refused(&saved).contains("expected one that does not begin with `state `, got `state x"));
    }
    let (run, _) = both(
        1,
        async |session| {
            let role = Participant::<GarblerSide, Any>::setup(session, Config::default(), Any::new(Honest)).await?;
            let plan =
                Plan::new(Arc::new(library::find("add(8)").expect("in the library")), Config::default(), &[], false);
            Ok::<_, ProtocolError>(Run::new(role, Arc::new(plan?), false))
        },
        async |session| {
            Participant::<EvaluatorSide, Any>::setup(session, Config::default(), Any::new(Honest)).await.map(drop)
        },
    );
    let mut run = run.expect("both are honest");
    run.read_for_others(vec![read("state x 1")]).expect("others' name");
    let error = run.read_for_others(vec![read("last")]).expect_err("it was not settled").to_string();
    assert!(error.contains("expected one that begins with `state `, got `last`"), "{error}");
}

/// A program that gives its one input out.
fn passes(bits: u32) -> Arc<Program> {
    let mut program = Program::new("passes");
    let input = program.add_input(Port::new("x", Type::Bits(bits)), Party(0)).expect("a new name");
    let links = vec![program.input_link(input)];
    program.add_output(Port::new("y", Type::Bits(bits)), Recipients::All, links).expect("it fits");
    Arc::new(program)
}

#[test]
fn a_run_that_is_to_keep_more_than_a_store_holds_is_refused_before_it_begins() {
    let plan = |bits: u32, keeps: bool| Plan::new(passes(bits), Config::default(), &[], keeps);
    let error = plan(1_400_000, true).err().expect("too much");
    let ProtocolError::KeepsTooMuch { most, got: 1_400_000, .. } = error else { panic!("{error}") };
    plan(1_400_000, false).expect("it keeps nothing");
    let most = u32::try_from(most).expect("few");
    plan(most, true).expect("it fits");
    assert!(plan(most + 1, true).is_err());
    let outputs = vec![("y".to_string(), [0; 3].map(|_| vec![Block::ONES; most as usize]))];
    let state = State::encoded(1, &([0u8; 32], [0u8; 8], outputs));
    assert!(state.bytes.len() > STATE_BYTES_MAX - 1024, "{}", state.bytes.len());
    Store::in_memory(&mut StdRng::seed_from_u64(1)).expect("memory").set_state("kept y", state).expect("it fits");
}

/// Values that one party has kept since, and the other has not, of a party that says that they are of the same run: labels that do not fit, and the evaluator
/// finds it.
#[test]
fn values_of_different_runs_do_not_fit() {
    type Stored = ([u8; 32], [u8; 8], Vec<(String, [Vec<Block>; 3])>);
    let chain = chain([Config::default(); 3]);
    let [first, second] = check(meet(stores(), &chain[0].0, 1), &chain[0].1, "first");
    let old = kept(&first, "kept last");
    let [mut first, second] = check(meet([first, second], &chain[0].0, 2), &chain[0].1, "again");
    let stored = |state: &State| postcard::from_bytes::<Stored>(&state.bytes).expect("it was stored");
    let ((secrets, _, outputs), (_, mark, _)) = (stored(&old), stored(&kept(&first, "kept last")));
    first.set_state("kept last", State::encoded(old.version, &(secrets, mark, outputs))).expect("memory");
    let [_, evaluator] = meet([first, second], &chain[1].0, 3);
    let error = evaluator.err().expect("it does not fit");
    assert!(
        matches!(&error, ProtocolError::Cheating(cheating) if [checks::TAGS, checks::MASK_BITS].contains(&cheating.check)),
        "{error}"
    );
}

/// The parties may be given the values to read in different orders.
#[test]
fn parties_may_name_the_values_to_read_in_different_orders() {
    let config = Config::default();
    let value = |bits: u64| Bits::from_bytes(&bits.to_le_bytes()[..1]);
    let mut stores = stores();
    for (seed, (name, of)) in (1..).zip([("x", [3, 4]), ("y", [5, 6])]) {
        let first = link("add(8)", config, of.map(value).to_vec(), None, Some(name));
        let right = expected(&first);
        stores = check(meet(stores, &first, seed), &right, name);
    }
    let program = Arc::new(library::find("mul(8)").expect("in the library"));
    let ports: Vec<String> = program.inputs().iter().map(|input| input.port.name.clone()).collect();
    let inputs = vec![value(3 + 4), value(5 + 6)];
    let right = garblet_circuit::evaluate(&program, &inputs).remove(0);
    let plan = Arc::new(Plan::new(program, config, &[0, 1], false).expect("can be run"));
    let step = |order: [usize; 2]| {
        let read = |at: usize| ReadInput { port: ports[at].clone(), name: ["x", "y"][at].into(), output: None };
        let saved = SavedValues { keep: None, read: order.map(read).to_vec() };
        Link { plan: plan.clone(), inputs: inputs.clone(), saved }
    };
    let [garbler, evaluator] = stores;
    let (first, second) = both(
        9,
        async |session| live::<GarblerSide>(session, garbler, &step([0, 1])).await,
        async |session| live::<EvaluatorSide>(session, evaluator, &step([1, 0])).await,
    );
    check([first, second], &right, "named in two orders");
}
