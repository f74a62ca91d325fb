//! Programs that read what earlier ones have kept.

use garblet_protocol::{
    Role,
    stock::{ReadInput, SavedValues},
};
use garblet_store::Store;

use super::*;

/// A program of a chain: its plan, all inputs, and what it reads and keeps.
pub(super) struct Link {
    plan: Arc<Plan>,
    inputs: Vec<Bits>,
    saved: SavedValues,
}

type Lived = Result<(Vec<Option<Bits>>, Store), ProtocolError>;

async fn live<S: Side>(session: &mut Session, store: Store, step: &Link) -> Lived {
    let role = Participant::<S, Honest>::meet(session, step.plan.config(), (store, "test"), Honest).await?;
    let mut run = Run::new(role, step.plan.clone(), step.saved.clone(), true);
    let owned = step.plan.program().inputs().iter().zip(&step.inputs).filter(|(input, _)| input.owner == S::PARTY);
    let own: Vec<Bits> = owned.map(|(_, value)| value.clone()).collect();
    let outputs = run.run(session, &own).await?;
    assert!(run.unsaved().is_none(), "it was kept");
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

/// Three programs, of which each but the first reads its first input from the one before, each in the form of `configs`.
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
fn what_is_kept_is_read_any_number_of_times() {
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
fn what_was_not_kept_cannot_be_read() {
    let (step, _) = chain([Config::default(); 3]).remove(1);
    for lived in meet(stores(), &step, 1) {
        let error = lived.err().expect("there is nothing").to_string();
        assert!(error.contains("`last`, which was to be read: expected outputs that were kept"), "{error}");
    }
}

#[test]
fn what_was_kept_is_forgotten_with_the_secrets_that_it_belongs_to() {
    let chain = chain([Config::default(); 3]);
    let [mut first, second] = check(meet(stores(), &chain[0].0, 1), &chain[0].1, "first");
    // The garbler says that it has no secrets.
    first.remove_states(|name| name == "authenticated").expect("removed");
    for lived in meet([first, second], &chain[1].0, 2) {
        let error = lived.err().expect("it was forgotten").to_string();
        assert!(error.contains("got none of that name"), "{error}");
    }
}

/// Values that one party has kept since, and the other has not: labels that do not fit, and the evaluator finds it.
#[test]
fn values_of_different_runs_do_not_fit() {
    let chain = chain([Config::default(); 3]);
    let [first, second] = check(meet(stores(), &chain[0].0, 1), &chain[0].1, "first");
    let old = first.state("kept last").expect("it was kept").bytes.clone();
    let [mut first, second] = check(meet([first, second], &chain[0].0, 2), &chain[0].1, "again");
    first.set_state("kept last", garblet_store::State { version: 1, bytes: old }).expect("memory");
    let [_, evaluator] = meet([first, second], &chain[1].0, 3);
    let error = evaluator.err().expect("it does not fit");
    assert!(
        matches!(&error, ProtocolError::Cheating(cheating) if [checks::TAGS, checks::MASK_BITS].contains(&cheating.check)),
        "{error}"
    );
}

/// The order in which a party was told what is read is its own.
#[test]
fn both_parties_may_name_what_is_read_in_orders_of_their_own() {
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
