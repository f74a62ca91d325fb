//! Functions that read values kept by earlier ones.

use garblet_circuit::{Port, Recipients, Type};
use garblet_homcommit::SenderShare;
use garblet_protocol::kept;
use garblet_store::{STATE_BYTES_MAX, State, Store};

use super::*;
use crate::stock::{pieces::Storable, saved::SavedWire};

/// A function of a chain: its plan, the inputs that are given, and which input is read from the function before.
struct Link {
    plan: Arc<Plan>,
    inputs: Vec<Bits>,
    reads: Option<usize>,
}

/// The life of a party in one meeting: it fills its store if that is empty, and computes one function, whose outputs it keeps.
macro_rules! live {
    ($role:ident, $party:expr, $channel:expr, $store:expr, $step:expr, $met:expr, $built:expr) => {
        async {
            let step: &Link = $step;
            let mut session = session($channel, $party, 7).await;
            let config = Config::default();
            let mut role = $role::meet(&mut session, config, $store, "test").await?;
            $met(&role);
            if role.stock() == Amounts::default() {
                let amounts = Amounts { gates: 520, inputs: 64, input_pairs: 40, outputs: 64 };
                role.fill(&mut session, &Order::new(amounts, config)?).await?;
            }
            let mut prepared = role.prepare(&mut session, step.plan.clone()).await?;
            if let Some(input) = step.reads {
                prepared.read(input, &role.saved("last")?, None)?;
            }
            role.build(&mut session, &mut prepared).await?;
            $built(&mut prepared);
            let own = own_inputs(&step.plan, $party, &step.inputs);
            let (outputs, wires) = role.online_saving(&mut session, prepared, &own).await?;
            role.save("last", &wires)?;
            // As if each had heard that the other one has its part.
            kept::advance(role.store().expect("it came with one"), "last")?;
            Ok::<_, ProtocolError>((outputs, role.into_store().expect("it came with one")))
        }
    };
}

type Lived = Result<(Vec<Option<Bits>>, Store), ProtocolError>;

/// Changes the evaluator's material; may use delta.
type Spoil = fn(&mut EvaluatorPrepared, Block);

fn meet([first, second]: [Store; 2], step: &Link, spoil: Spoil) -> [Lived; 2] {
    let (ours, theirs) = memory_pair();
    let delta = OnceLock::new();
    let set = |role: &Constructor| assert!(delta.set(role.delta()).is_ok());
    let constructor = live!(Constructor, CONSTRUCTOR, ours, first, step, set, |_: &mut ConstructorPrepared| {});
    let spoil = |prepared: &mut EvaluatorPrepared| spoil(prepared, *delta.get().expect("the constructor has built"));
    let evaluator = live!(Evaluator, EVALUATOR, theirs, second, step, |_: &Evaluator| {}, spoil);
    block_on(async { tokio::join!(constructor, evaluator) }).into()
}

fn stores() -> [Store; 2] {
    [1, 2].map(|seed| Store::in_memory(&mut StdRng::seed_from_u64(seed)).expect("memory"))
}

/// Three functions, where each but the first reads its first input from the one before, and their results.
fn chain() -> Vec<(Link, Vec<Bits>)> {
    let mut last: Option<Bits> = None;
    let names = ["add(8)", "mul(8)", "sub(8)"];
    let step = |(k, name): (usize, &&str)| {
        let program = Arc::new(library::find(name).expect("in the library"));
        let mut inputs = random::inputs(&mut StdRng::seed_from_u64(k as u64), &program);
        let reads = last.take().map(|value| {
            inputs[0] = value.slice(0, 8);
            0
        });
        let outputs = garblet_circuit::evaluate(&program, &inputs);
        last = Some(outputs[0].clone());
        let kept: Vec<usize> = reads.into_iter().collect();
        let plan = Arc::new(Plan::reading(program, Config::default(), &kept).expect("can be run"));
        (Link { plan, inputs, reads }, outputs)
    };
    names.iter().enumerate().map(step).collect()
}

fn run(spoil: Spoil) -> [Store; 2] {
    chain().iter().fold(stores(), |stores, (step, expected)| {
        meet(stores, step, spoil).map(|lived| {
            let (outputs, store) = lived.expect("both are honest");
            assert!(outputs.iter().zip(expected).all(|(got, right)| got.as_ref().is_none_or(|got| got == right)));
            assert!(outputs.iter().any(Option::is_some));
            store
        })
    })
}

#[test]
fn a_chain_of_three_functions_in_three_meetings() {
    let stores = run(|_, _| {});
    // A kept value serves any number of functions, but must be wide enough.
    let program = Arc::new(library::find("add(16)").expect("in the library"));
    let plan = Arc::new(Plan::reading(program.clone(), Config::default(), &[0]).expect("can be run"));
    let inputs = random::inputs(&mut StdRng::seed_from_u64(9), &program);
    let [constructor, _] = meet(stores, &Link { plan, inputs, reads: Some(0) }, |_, _| {});
    let error = constructor.err().expect("too narrow").to_string();
    assert!(error.contains("expected 16 bits, got 8 bits"), "{error}");
}

/// The evaluator also extracts the values of wires that were read if a bucket shows the difference.
#[test]
fn a_chain_whose_gates_show_the_difference_gives_the_right_results() {
    run(|prepared, delta| prepared.material.ands.first().gates_mut(2)[1].output ^= delta);
}

/// The values that nobody learns are right, although all gates of a bucket but one give the other key for all inputs.
#[test]
fn kept_values_are_right_if_most_gates_of_a_bucket_take_zero_for_one() {
    let most: Spoil = |prepared, delta| {
        let gates = prepared.material.ands.first().gates_mut(0);
        gates[1..].iter_mut().for_each(|gate| gate.output ^= delta);
    };
    let adder = library::find("add(8)").expect("in the library");
    let mut secret = Program::new("sum that nobody learns");
    let component = secret.add_component(adder.components()[0].clone());
    let links: Vec<_> = (0..2)
        .map(|party| {
            let port = Port::new(format!("x{party}"), adder.inputs()[0].port.ty.clone());
            let input = secret.add_input(port, Party(party)).expect("a new name");
            secret.input_link(input)
        })
        .collect();
    let instance = secret.add_instance(component, &links).expect("it fits");
    let links = vec![secret.instance_link(instance)];
    let port = Port::new("sum", adder.outputs()[0].port.ty.clone());
    secret.add_output(port, Recipients::Only(Vec::new()), links).expect("it fits");
    let inputs: Vec<Bits> = [0b1101_0111, 0b0110_0101].map(|number| Bits::from_u128(number, 8)).to_vec();
    let sum = garblet_circuit::evaluate(&secret, &inputs).remove(0);
    let product = Arc::new(library::find("mul(8)").expect("in the library"));
    let plans = [(Arc::new(secret), vec![]), (product.clone(), vec![0])]
        .map(|(program, kept)| Arc::new(Plan::reading(program, Config::default(), &kept).expect("can be run")));
    let [first, second] = plans;
    let expected = [sum.clone(), inputs[1].clone()];
    let expected = garblet_circuit::evaluate(&product, &expected);
    let steps = [
        Link { plan: first, inputs: inputs.clone(), reads: None },
        Link { plan: second, inputs: vec![sum, inputs[1].clone()], reads: Some(0) },
    ];
    let stores = meet(stores(), &steps[0], most).map(|lived| lived.expect("nothing shows").1);
    for lived in meet(stores, &steps[1], |_, _| {}) {
        let (outputs, _) = lived.expect("both are honest");
        assert!(outputs.iter().zip(&expected).all(|(got, right)| got.as_ref() == Some(right)));
    }
}

/// A program that gives its one input out.
fn passes(bits: u32) -> Arc<Program> {
    let mut program = Program::new("passes");
    let input = program.add_input(Port::new("x", Type::Bits(bits)), Party(0)).expect("a new name");
    let links = vec![program.input_link(input)];
    program.add_output(Port::new("y", Type::Bits(bits)), Recipients::All, links).expect("it fits");
    Arc::new(program)
}

/// Either party's part fits where the plan says so.
#[test]
fn a_run_that_is_to_keep_more_than_a_store_holds_is_refused_before_it_begins() {
    for code in [Code::Short, Code::Bch312] {
        let config = Config { code, ..Config::default() };
        let plan = |bits: u32, keeps: bool| Plan::new(passes(bits), config).and_then(|plan| plan.keeping(keeps));
        let error = plan(3_000_000, true).err().expect("too much");
        let ProtocolError::KeepsTooMuch { most, got: 3_000_000, .. } = error else { panic!("{error}") };
        plan(3_000_000, false).expect("it keeps nothing");
        plan(most as u32, true).expect("it fits");
        assert!(plan(most as u32 + 1, true).is_err());
        let bit = <SenderShare as Storable>::bytes(code).max(<SavedWire as Storable>::bytes(code)) as u64;
        let bytes = vec![0xff_u8; (most * bit) as usize];
        let whole = (Block::ONES, [u64::MAX; 2], vec![("y".to_string(), bytes)]);
        let state = State::encoded(1, &whole);
        assert!(state.bytes.len() > STATE_BYTES_MAX - 1024, "{}", state.bytes.len());
        Store::in_memory(&mut StdRng::seed_from_u64(1)).expect("memory").set_state("kept y", state).expect("it fits");
    }
}

#[test]
fn only_kept_values_can_be_read() {
    let (step, _) = chain().remove(1);
    let [constructor, evaluator] = meet(stores(), &step, |_, _| {});
    for error in [constructor.err(), evaluator.err()] {
        let error = error.expect("there is nothing").to_string();
        assert!(error.contains("`last`, which was to be read: expected outputs that were kept"), "{error}");
    }
}

#[test]
fn values_kept_with_earlier_secrets_are_forgotten_once_there_are_new_ones() {
    let chain = chain();
    let [mut first, second] = meet(stores(), &chain[0].0, |_, _| {}).map(|lived| lived.expect("both are honest").1);
    // The constructor claims to have no secrets. It could name its new secrets like the earlier ones.
    first.remove_states(|name| name == "lego").expect("removed");
    for lived in meet([first, second], &chain[1].0, |_, _| {}) {
        let error = lived.err().expect("it was forgotten").to_string();
        assert!(error.contains("got none of that name"), "{error}");
    }
}
