//! Programs that read values kept by earlier ones.

use garblet_circuit::{Recipients, random};
use garblet_protocol::{
    conduct::Honest,
    kept,
    stock::{ReadInput, SavedValues},
};
use garblet_store::{STATE_BYTES_MAX, State, Store};
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{
    config::Build,
    many::{Drawing, NAME, checks::ECHO},
};

/// A program of a chain: its plan, all inputs, and the values it reads and keeps.
struct Link {
    plan: Arc<Plan>,
    inputs: Vec<Bits>,
    saved: SavedValues,
}

type Lived = Result<(Vec<Option<Bits>>, Store), ProtocolError>;

/// A session of all parties, each with its store, in which they run one program.
fn meet_with<K: Conduct<Step>>(stores: Vec<Store>, link: &Link, seed: u64, conduct: impl Fn(Party) -> K) -> Vec<Lived> {
    let stores: Vec<_> = stores.into_iter().map(|store| std::sync::Mutex::new(Some(store))).collect();
    all(link.plan.parties(), seed, async |session, party| {
        let store = stores[usize::from(party.0)].lock().expect("nobody else").take().expect("once");
        let saved = link.saved.clone();
        let drawing = Drawing { store, peers: "all others", top_up: true, saved, retries: kept::RETRIES };
        let mut member = Member::meet(session, link.plan.clone(), party, drawing, Any::new(conduct(party))).await?;
        let outputs = member.run(session, &own_inputs(&link.plan, party, &link.inputs)).await?;
        match member.late_error() {
            Some(error) => Err(error),
            None => Ok((outputs, member.ground.stock.take().expect("it came with one").store)),
        }
    })
}

fn meet(stores: Vec<Store>, link: &Link, seed: u64) -> Vec<Lived> {
    meet_with(stores, link, seed, |_| Honest)
}

fn stores(parties: u64) -> Vec<Store> {
    (0..parties).map(|seed| Store::in_memory(&mut StdRng::seed_from_u64(seed)).expect("memory")).collect()
}

/// A program of the library whose second input is party 1's, and whose first is read, or party 0's.
fn link(program: Program, (parties, config): (u16, Config), inputs: Vec<Bits>, names: [Option<&str>; 2]) -> Link {
    let [read, keep] = names;
    let port = program.inputs()[0].port.name.clone();
    let read: Vec<ReadInput> =
        read.map(|name| ReadInput { port, name: name.into(), output: None }).into_iter().collect();
    let numbers: Vec<usize> = read.iter().map(|_| 0).collect();
    let saved = SavedValues { keep: keep.map(String::from), read };
    let program = saved.program(NAME, &Arc::new(program)).expect("good names");
    let plan = Plan::saving(program, parties, config, (&numbers, saved.keep.is_some())).expect("can be run");
    Link { plan: Arc::new(plan), inputs, saved }
}

/// Three programs where each but the first reads its first input from the one before, with their results.
fn chain(of: (u16, Config)) -> Vec<(Link, Bits)> {
    let mut last: Option<Bits> = None;
    let step = |(number, name): (u64, &str)| {
        let program = library::find(name).expect("in the library");
        let mut inputs = random::inputs(&mut StdRng::seed_from_u64(number), &program);
        let read = last.as_ref().map(|value| {
            inputs[0] = value.slice(0, inputs[0].len());
            "last"
        });
        let right = garblet_circuit::evaluate(&program, &inputs).remove(0);
        last = Some(right.clone());
        (link(program, of, inputs, [read, Some("last")]), right)
    };
    (0..).zip(["add(8)", "mul(8)", "sub(8)"]).map(step).collect()
}

fn config(parties: u16, check: ResultCheck) -> (u16, Config) {
    (parties, Config { check, evaluator: parties - 1, ..Config::default() })
}

fn check(lived: Vec<Lived>, right: &Bits, place: &str) -> Vec<Store> {
    let one = |lived: Lived| {
        let (outputs, store) = lived.unwrap_or_else(|error| panic!("{place}: {error}"));
        assert!(outputs.iter().all(|got| got.as_ref().is_none_or(|got| got == right)), "{place}");
        store
    };
    lived.into_iter().map(one).collect()
}

fn kept_state(store: &Store, place: &str) -> State {
    let State { version, bytes } = store.state(place).expect("it was kept");
    State { version: *version, bytes: bytes.clone() }
}

#[test]
fn a_chain_gives_the_right_results_with_both_checks_and_every_evaluator() {
    for (parties, check_of, evaluator) in
        [(3, ResultCheck::Tags, 2), (3, ResultCheck::Reveal, 0), (4, ResultCheck::Reveal, 1), (4, ResultCheck::Tags, 0)]
    {
        for build in [Build::Ahead, Build::Stream] {
            let config = Config { check: check_of, build, evaluator, ..Config::default() };
            let mut stores = stores(parties.into());
            for (seed, (step, right)) in (0..).zip(chain((parties, config))) {
                stores = check(meet(stores, &step, seed), &right, &format!("{config:?}, {seed}"));
            }
        }
    }
}

/// A circuit that is streamed reads values that one made ahead has kept, and the other way round.
#[test]
fn the_time_of_garbling_may_differ_from_run_to_run() {
    for first in 0..2 {
        let config = |at| Config { build: [Build::Ahead, Build::Stream][at % 2], ..config(3, ResultCheck::Tags).1 };
        let mut stores = stores(3);
        for at in 0..3 {
            let (step, right) = chain((3, config(first + at))).swap_remove(at);
            stores = check(meet(stores, &step, at as u64), &right, &format!("{first}, {at}"));
        }
    }
}

#[test]
fn kept_values_can_be_read_any_number_of_times() {
    let of = config(3, ResultCheck::Tags);
    let mut chain = chain(of);
    let (second, product) = chain.remove(1);
    let (first, right) = chain.remove(0);
    let mut stores = check(meet(stores(3), &first, 1), &right, "first");
    let again = link(library::find("mul(8)").expect("there"), of, second.inputs.clone(), [Some("last"), None]);
    for time in 2..5 {
        stores = check(meet(stores, &again, time), &product, "again");
    }
}

/// Values that nobody learns are kept, and so are constants, inputs, negations and an output that occurs twice.
#[test]
fn outputs_of_every_kind_are_kept() {
    let builds = [(3, 0, Build::Ahead), (3, 0, Build::Stream), (3, 2, Build::Ahead), (4, 1, Build::Stream)];
    for (parties, evaluator, build) in builds {
        let of = (parties, Config { build, evaluator, ..Config::default() });
        let mut secret = (*odd_outputs()).clone();
        secret.set_recipients(0, Recipients::Only(Vec::new()));
        let width = secret.outputs()[0].port.width();
        for inputs in 0..4u8 {
            let inputs: Vec<Bits> = [inputs & 1, inputs >> 1].map(|bit| Bits::from_iter([bit == 1])).to_vec();
            let right = garblet_circuit::evaluate(&secret, &inputs).remove(0);
            let first = link(secret.clone(), of, inputs.clone(), [None, Some("all")]);
            let stores = meet(stores(parties.into()), &first, 1).into_iter().map(|lived| lived.expect("honest").1);
            let gates = (0..width).map(|bit| Gate::Xor(Wire(bit), Wire(width + bit))).collect();
            let outputs = (2 * width..3 * width).map(Wire).collect();
            let shown = link(circuit(&[0, 1], width, gates, outputs), of, Vec::new(), [Some("all"), None]);
            let nothing = Bits::from_iter((0..width).map(|_| false));
            let shown = Link { inputs: vec![right.clone(), nothing], ..shown };
            check(meet(stores.collect(), &shown, 2), &right, "as it was kept");
        }
    }
}

#[test]
fn only_kept_values_can_be_read() {
    let (step, _) = chain(config(3, ResultCheck::Tags)).remove(1);
    for lived in meet(stores(3), &step, 1) {
        let error = lived.err().expect("there is nothing").to_string();
        assert!(error.contains("`last`, which was to be read: expected outputs that were kept"), "{error}");
    }
}

/// Some parties were interrupted when their parts were pending, and the others had kept theirs.
#[test]
fn an_interrupted_run_is_settled_before_its_value_is_read() {
    let chain = chain(config(3, ResultCheck::Tags));
    for interrupted in 0..8u8 {
        let first = check(meet(stores(3), &chain[0].0, 1), &chain[0].1, "first");
        let old: Vec<State> = first.iter().map(|store| kept_state(store, "kept last")).collect();
        let mut second = check(meet(first, &chain[0].0, 2), &chain[0].1, "again");
        for (party, (store, old)) in second.iter_mut().zip(old).enumerate() {
            if interrupted >> party & 1 == 1 {
                let new = kept_state(store, "kept last");
                store.set_states([("kept last".into(), old), ("pending last".into(), new)]).expect("memory");
            }
        }
        let third = check(meet(second, &chain[1].0, 3), &chain[1].1, "settled");
        assert!(third.iter().all(|store| store.state("pending last").is_none()), "{interrupted:b}");
    }
}

/// Parties that have kept values of different runs say so, and accuse nobody.
#[test]
fn values_of_different_runs_are_refused_before_they_are_read() {
    let chain = chain(config(3, ResultCheck::Tags));
    let first = check(meet(stores(3), &chain[0].0, 1), &chain[0].1, "first");
    let old = kept_state(&first[0], "kept last");
    let mut second = check(meet(first, &chain[0].0, 2), &chain[0].1, "again");
    second[0].set_state("kept last", old).expect("memory");
    for lived in meet(second, &chain[1].0, 3) {
        let error = lived.err().expect("it does not fit");
        assert!(error.to_string().contains("expected outputs that all parties have kept in the same run"), "{error}");
        assert!(!error.is_evidence());
    }
}

/// One that says that its old value is the new one: labels or shares that do not fit are found, and nobody learns a wrong result.
#[test]
fn values_of_different_runs_do_not_fit() {
    for liar in 0..3 {
        let chain = chain(config(3, ResultCheck::Tags));
        let first = check(meet(stores(3), &chain[0].0, 1), &chain[0].1, "first");
        let old = kept_state(&first[liar], "kept last");
        let mut second = check(meet(first, &chain[0].0, 2), &chain[0].1, "again");
        // The secrets' name and the mark come first.
        let mut bytes = kept_state(&second[liar], "kept last").bytes.clone();
        bytes[40..].copy_from_slice(&old.bytes[40..]);
        second[liar].set_state("kept last", State { version: old.version, bytes }).expect("memory");
        let lived = meet(second, &chain[1].0, 3);
        let evidence = lived.iter().filter(|lived| lived.as_ref().is_err_and(ProtocolError::is_evidence)).count();
        assert!(evidence > 0, "party {liar}");
        assert!(
            lived.iter().all(|lived| lived.as_ref().is_ok_and(|(outputs, _)| outputs[0] == Some(chain[1].1.clone()))
                || lived.is_err())
        );
    }
}

/// A party tells others that it heard other marks.
#[test]
fn all_must_have_heard_the_same_marks() {
    #[derive(Clone, Copy)]
    struct Lies(bool);
    impl Conduct<Step> for Lies {
        fn touch(&mut self, step: Step, peer: usize, bytes: &mut [u8]) {
            if self.0 && step == Step::KeptEcho && peer == 0 {
                bytes[0] ^= 1;
            }
        }
    }
    let chain = chain(config(3, ResultCheck::Tags));
    let first = check(meet(stores(3), &chain[0].0, 1), &chain[0].1, "first");
    let lived = meet_with(first, &chain[1].0, 2, |party| Lies(party == Party(1)));
    let found = |lived: &Lived| match lived {
        Err(ProtocolError::Unattributed(failed)) => failed.check == ECHO,
        _ => false,
    };
    assert!(found(&lived[0]), "{:?}", lived[0].as_ref().err());
    assert!(lived.iter().all(Result::is_err));
}

#[test]
fn a_run_that_does_not_end_counts_and_too_many_are_refused() {
    #[derive(Clone, Copy)]
    struct Lies(bool);
    impl Conduct<Step> for Lies {
        fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
            // Another digest of masked inputs: the run ends, and nobody's store is given up but the evaluator's.
            if self.0 && step == Step::MaskedInputs {
                bytes[0] ^= 0x80;
            }
        }
    }
    let chain = chain(config(3, ResultCheck::Tags));
    let folder = tempfile::tempdir().expect("a folder");
    let open = |party: u64| crate::tests::put_back::open(&folder.path().join(party.to_string()), party);
    check(meet((0..3).map(open).collect(), &chain[0].0, 1), &chain[0].1, "first");
    let unended = |party| kept::unended(&open(party), "last").expect("readable");
    assert_eq!([0, 1, 2].map(unended), [0; 3]);
    let lived = meet_with((0..3).map(open).collect(), &chain[0].0, 2, |party| Lies(party == Party(0)));
    assert!(lived.iter().any(Result::is_err));
    drop(lived);
    // The evaluator has given its store up, with all counts.
    assert_eq!([0, 1].map(unended), [1; 2]);
}

#[test]
fn a_run_that_is_to_keep_more_than_a_store_holds_is_refused_before_it_begins() {
    let wide = |bits: u32| {
        let gates = Vec::new();
        Arc::new(circuit(&[0], bits, gates, (0..bits).map(Wire).collect()))
    };
    for parties in [3, 16] {
        let plan = |bits: u32, keeps| Plan::saving(wide(bits), parties, Config::default(), (&[], keeps));
        let error = plan(1_400_000, true).err().expect("too much");
        let ProtocolError::KeepsTooMuch { most, got: 1_400_000, .. } = error else { panic!("{error}") };
        plan(1_400_000, false).expect("it keeps nothing");
        let most = u32::try_from(most).expect("few");
        plan(most, true).expect("it fits");
        assert!(plan(most + 1, true).is_err());
        assert!(u64::from(most) * 32 * u64::from(parties) <= STATE_BYTES_MAX as u64);
    }
}

/// A party tells one that it has its part, and another that it could not keep it; then the marks of all settle it, whatever it says of its own.
#[test]
fn words_that_differ_are_settled_when_all_meet_again() {
    #[derive(Clone, Copy)]
    struct Lies(bool);
    impl Conduct<Step> for Lies {
        fn touch(&mut self, step: Step, peer: usize, bytes: &mut [u8]) {
            if self.0 && step == Step::Kept && peer == 0 {
                bytes[0] = 0;
            }
        }
    }
    let chain = chain(config(3, ResultCheck::Tags));
    let folder = tempfile::tempdir().expect("a folder");
    let open = |party: u64| crate::tests::put_back::open(&folder.path().join(party.to_string()), party);
    let all = || (0..3).map(open).collect::<Vec<_>>();
    check(meet(all(), &chain[0].0, 1), &chain[0].1, "first");
    let mark = |store: &Store| kept_state(store, "kept last").bytes[32..40].to_vec();
    let marks = || all().iter().map(mark).collect::<Vec<Vec<u8>>>();
    let old = marks();
    let lived = meet_with(all(), &chain[0].0, 2, |party| Lies(party == Party(2)));
    assert!(matches!(&lived[0], Err(ProtocolError::NotKept { .. })), "{:?}", lived[0].as_ref().err());
    assert!(lived[1].is_ok());
    drop(lived);
    let now = marks();
    assert!(now[0] == old[0] && now[1] != old[1], "one has kept it, and one has it pending");
    check(meet(all(), &chain[1].0, 3), &chain[1].1, "settled");
    let settled = marks();
    assert_eq!(settled[0], settled[1]);
}

#[test]
fn a_plan_that_reads_other_inputs_than_the_values_name_is_refused() {
    let chain = chain(config(3, ResultCheck::Tags));
    let (second, _) = &chain[1];
    let other = Link { plan: second.plan.clone(), inputs: second.inputs.clone(), saved: chain[0].0.saved.clone() };
    for lived in meet(stores(3), &other, 1) {
        let error = lived.err().expect("refused").to_string();
        assert!(error.contains("values to read: expected inputs [0], got inputs []"), "{error}");
    }
    let ended = all(3, 2, async |session, party| {
        Member::set_up(session, second.plan.clone(), party, Any::new(Honest)).await.map(drop)
    });
    assert!(ended.iter().all(Result::is_err));
}
