//! Kept values serve other programs and other clients.

use garblet_circuit::{
    Circuit, Component, Gate, InputId, Link, Port, Recipients, Type, Wire, evaluate,
    notes::{Notes, Panics},
};
use garblet_net::{
    Accuses, Blame, Cause,
    testing::{Direction, Fault, FaultKind},
};
use garblet_protocol::error::StateProblem;
use garblet_synthesis::library;

use super::*;
use crate::partialgc::kept::State;

/// A program of the library with these owners and, for each output, these recipients.
fn program(name: &str, owners: &[u16], recipients: &[u16]) -> Arc<Program> {
    let mut program = library::find(name).unwrap();
    for (input, &owner) in owners.iter().enumerate() {
        program.set_owner(InputId(input as u32), Party(owner));
    }
    for output in 0..program.outputs().len() {
        program.set_recipients(output, Recipients::Only(recipients.iter().copied().map(Party).collect()));
    }
    Arc::new(program)
}

fn value(of: u64, bits: usize) -> Bits {
    Bits::from_u128(of.into(), bits)
}

/// Runs, and returns the value that a party learned.
fn step(scene: Scene<'_>, inputs: &[Option<Bits>], states: States, party: usize) -> (Option<Bits>, States) {
    let (results, states) = scene.run(inputs, states);
    for (party, result) in results.iter().enumerate() {
        if let Err(error) = result {
            panic!("party {party}: {error}");
        }
    }
    let outputs = results.into_iter().nth(party).unwrap().unwrap();
    (outputs.into_iter().next().flatten(), states)
}

fn keeping(name: &str, reads: Vec<ReadInput>) -> SavedValues {
    SavedValues { keep: (!name.is_empty()).then(|| name.into()), read: reads }
}

#[test]
fn values_are_kept_changed_and_read_by_others() {
    for reuse in [Reuse::Labels, Reuse::PartialGates] {
        let config = small(reuse);
        let add = "lib:add(33)";
        let ports: Vec<String> = library::find(add).unwrap().inputs().iter().map(|i| i.port.name.clone()).collect();
        let width = library::find(add).unwrap().outputs()[0].port.width() as usize;
        assert_eq!(width, 33, "sums stay as wide as they are");
        // A client's value and the generator's are added and kept.
        let first = program(add, &[1, 0], &[]);
        let scene = Scene { saved: keeping("sum", vec![]), ..Scene::new(&first, 3, config) };
        let (_, states) = step(scene, &[Some(value(5_000_000_000, 33)), Some(value(77, 33))], None, 1);
        // Other clients add something, twice; the last learns it, too.
        let mut sum = 5_000_000_077u64;
        let mut states = states;
        for (run, more) in [12_345_678u64, 3_999_999_999].into_iter().enumerate() {
            let again = program(add, &[9, 2], &[]);
            let reads = vec![read(&ports[0], "sum", None)];
            let scene = Scene { saved: keeping("sum", reads), seed: 7 + run as u64, ..Scene::new(&again, 4, config) };
            states = step(scene, &[None, Some(value(more, 33))], states, 2).1;
            sum = (sum + more) % (1 << 33);
        }
        // The value is read twice in one run, and once more.
        let double = program(add, &[9, 9], &[1]);
        for seed in [20, 21] {
            let reads = vec![read(&ports[0], "sum", None), read(&ports[1], "sum", None)];
            let scene = Scene { saved: keeping("", reads), seed, ..Scene::new(&double, 3, config) };
            let (got, after) = step(scene, &[None, None], states, 1);
            states = after;
            assert_eq!(got.unwrap(), value(2 * sum % (1 << 33), 33), "{reuse:?}");
        }
        // Everybody may learn it, including the cloud and the generator.
        let all = program(add, &[9, 1], &[0, 1, 2]);
        for party in 0..3 {
            let reads = vec![read(&ports[0], "sum", None)];
            let scene = Scene { saved: keeping("", reads), seed: 30 + party as u64, ..Scene::new(&all, 3, config) };
            let (got, after) = step(scene, &[None, Some(value(1, 33))], states, party);
            states = after;
            assert_eq!(got.unwrap(), value((sum + 1) % (1 << 33), 33), "{reuse:?}, party {party}");
        }
    }
}

#[test]
fn chains_of_random_programs_equal_the_plain_evaluator() {
    use garblet_circuit::random;
    use rand::{RngExt, SeedableRng, rngs::StdRng};
    for seed in 0..4u64 {
        let mut rng = StdRng::seed_from_u64(100 + seed);
        let config = small(if seed % 2 == 0 { Reuse::Labels } else { Reuse::PartialGates });
        let mut states = None;
        // The kept values in the clear: name of value, name of output, bits.
        let mut kept: Vec<(String, String, Bits)> = Vec::new();
        for run in 0..10u64 {
            let parties = rng.random_range(3..=4);
            let mut program = random::program(&mut rng, 40, parties);
            let mut inputs = random::inputs(&mut rng, &program);
            let mut reads = Vec::new();
            for number in 0..program.inputs().len() {
                let width = inputs[number].len();
                let fitting = kept.iter().find(|(_, _, bits)| bits.len() >= width && bits.len() == width);
                if let Some((name, output, bits)) = fitting {
                    inputs[number] = bits.clone();
                    reads.push(read(&program.inputs()[number].port.name, name, Some(output)));
                }
            }
            // Half of the outputs are kept.
            let count = program.outputs().len();
            (0..count).filter(|at| at % 2 == 0).for_each(|at| program.set_recipients(at, Recipients::Only(vec![])));
            let expected = evaluate(&program, &inputs);
            let name = format!("value {run}");
            let saved = SavedValues { keep: Some(name.clone()), read: reads };
            let nobody = |to: &Recipients| matches!(to, Recipients::Only(parties) if parties.is_empty());
            for (output, bits) in program.outputs().iter().zip(&expected).filter(|(o, _)| nobody(&o.recipients)) {
                kept.push((name.clone(), output.port.name.clone(), bits.clone()));
            }
            let program = Arc::new(program);
            let given: Vec<Option<Bits>> = inputs.into_iter().map(Some).collect();
            let scene = Scene { saved, seed: seed << 8 | run, ..Scene::new(&program, parties, config) };
            let (results, after) = scene.run(&given, states);
            states = after;
            for (party, result) in results.into_iter().enumerate() {
                let got = result.unwrap_or_else(|error| panic!("{seed}, {run}, party {party}: {error}"));
                assert!(got == learned(&program, party as u16, &expected), "{seed}, run {run}, party {party}");
            }
        }
    }
}

#[test]
fn a_missing_value_or_another_width_is_refused_and_nothing_is_lost() {
    let config = small(Reuse::Labels);
    let add = program("lib:add(8)", &[1, 0], &[]);
    let port = add.inputs()[0].port.name.clone();
    let scene = Scene { saved: keeping("sum", vec![]), ..Scene::new(&add, 3, config) };
    let (_, states) = step(scene, &[Some(value(5, 8)), Some(value(7, 8))], None, 1);
    let mut states = states;
    for (name, from, output) in
        [("lib:add(8)", "other", None), ("lib:add(8)", "sum", Some("none")), ("lib:add(9)", "sum", None)]
    {
        let reader = program(name, &[9, 0], &[1]);
        let saved = keeping("", vec![read(&port, from, output)]);
        let scene = Scene { saved, seed: 3, ..Scene::new(&reader, 3, config) };
        let bits = reader.inputs()[1].port.width() as usize;
        let (results, after) = scene.run(&[None, Some(value(1, bits))], states);
        assert!(matches!(results[0], Err(ProtocolError::State { .. } | ProtocolError::Input { .. })));
        states = after;
    }
    let reader = program("lib:add(8)", &[9, 0], &[1]);
    let scene = Scene { saved: keeping("", vec![read(&port, "sum", None)]), seed: 4, ..Scene::new(&reader, 3, config) };
    let (got, _) = step(scene, &[None, Some(value(1, 8))], states, 1);
    assert_eq!(got.unwrap(), value(13, 8));
}

#[test]
fn servers_with_different_states_do_not_begin() {
    let config = small(Reuse::Labels);
    let add = program("lib:add(8)", &[1, 0], &[]);
    let make = |seed: u64| {
        let scene = Scene { saved: keeping("sum", vec![]), seed, ..Scene::new(&add, 3, config) };
        step(scene, &[Some(value(5, 8)), Some(value(7, 8))], None, 1).1.unwrap()
    };
    let ((generator, _), (_, cloud)) = (make(1), make(2));
    let scene = Scene { seed: 3, ..Scene::new(&add, 3, config) };
    let (results, _) = scene.run(&[Some(value(5, 8)), Some(value(7, 8))], Some((generator, cloud)));
    assert!(are_unlike(&results[0]) || are_unlike(&results[2]));
}

/// Tells whether a server ended because the servers' states differ.
fn are_unlike(result: &Result<Outputs, ProtocolError>) -> bool {
    let unlike =
        |error: &ProtocolError| matches!(error, ProtocolError::State { problem: StateProblem::Unlike { .. }, .. });
    result.as_ref().is_err_and(|error| match error {
        ProtocolError::Peer { source, .. } => unlike(source),
        error => unlike(error),
    })
}

/// A state in which 12 is kept, and a program that reads it and adds a client's value.
fn kept_sum(config: Config) -> (States, Arc<Program>, SavedValues) {
    let add = program("lib:add(8)", &[1, 0], &[]);
    let port = add.inputs()[0].port.name.clone();
    let scene = Scene { saved: keeping("sum", vec![]), ..Scene::new(&add, 3, config) };
    let (_, states) = step(scene, &[Some(value(5, 8)), Some(value(7, 8))], None, 1);
    (states, program("lib:add(8)", &[9, 1], &[1]), keeping("", vec![read(&port, "sum", None)]))
}

#[test]
fn a_party_that_leaves_before_a_run_costs_no_state() {
    let config = small(Reuse::Labels);
    let (mut states, reader, saved) = kept_sum(config);
    for absent in [Some(1), Some(0), Some(2), None] {
        let seed = 10 + u64::from(absent.unwrap_or(9));
        let scene = Scene { absent, saved: saved.clone(), seed, ..Scene::new(&reader, 3, config) };
        let (results, after) = scene.run(&[None, Some(value(1, 8))], states);
        assert!(after.is_some(), "{absent:?}");
        assert_eq!(results[1].is_ok(), absent.is_none(), "{absent:?}");
        if absent.is_none() {
            assert_eq!(results[1].as_ref().unwrap(), &[Some(value(13, 8))]);
        }
        states = after;
    }
    // Neither does a program with other parameters.
    let other = Config { reuse: Reuse::PartialGates, ..config };
    let scene = Scene { saved: saved.clone(), seed: 20, ..Scene::new(&reader, 3, other) };
    let (results, states) = scene.run(&[None, Some(value(1, 8))], states);
    assert!(results[0].is_err() && results[2].is_err());
    let scene = Scene { saved, seed: 21, ..Scene::new(&reader, 3, config) };
    assert_eq!(step(scene, &[None, Some(value(1, 8))], states, 1).0.unwrap(), value(13, 8));
}

#[test]
fn a_client_that_leaves_when_a_run_begins_costs_no_state() {
    let config = small(Reuse::Labels);
    let (states, reader, saved) = kept_sum(config);
    // The client gives up a prepared run before its first message, because its value has another width.
    let scene = Scene { saved: saved.clone(), seed: 2, ..Scene::new(&reader, 3, config) };
    let (results, states) = scene.run(&[None, Some(value(1, 9))], states);
    assert!(results.iter().all(Result::is_err), "{results:?}");
    let scene = Scene { saved, seed: 3, ..Scene::new(&reader, 3, config) };
    assert_eq!(step(scene, &[None, Some(value(1, 8))], states, 1).0.unwrap(), value(13, 8));
}

#[test]
fn a_run_that_only_one_server_has_begun_is_skipped() {
    let config = small(Reuse::Labels);
    let (states, reader, saved) = kept_sum(config);
    let (mut generator, mut cloud) = states.unwrap();
    assert_eq!(cloud.begin().unwrap(), 1);
    let scene = Scene { saved: saved.clone(), seed: 2, ..Scene::new(&reader, 3, config) };
    let (got, states) = step(scene, &[None, Some(value(1, 8))], Some((generator, cloud)), 1);
    assert_eq!(got.unwrap(), value(13, 8));
    (generator, cloud) = states.unwrap();
    assert_eq!([generator.runs(), cloud.runs()], [3, 3]);
    generator.begin().unwrap();
    generator.begin().unwrap();
    let scene = Scene { saved, seed: 3, ..Scene::new(&reader, 3, config) };
    let (got, states) = step(scene, &[None, Some(value(1, 8))], Some((generator, cloud)), 1);
    assert_eq!(got.unwrap(), value(13, 8));
    let (generator, cloud) = states.unwrap();
    assert_eq!([generator.runs(), cloud.runs()], [6, 6]);
}

#[test]
fn an_unfinished_state_is_replaced_and_nobody_is_blamed() {
    let config = small(Reuse::Labels);
    let add = program("lib:add(8)", &[1, 0], &[1]);
    let values = [Some(value(5, 8)), Some(value(7, 8))];
    let mut one_sided = 0;
    // Frames of both directions between the servers, of the setup and some of a run.
    for (seed, frame) in (0..).zip(0..12) {
        for direction in [Direction::Forth, Direction::Back] {
            let fault = Some(PairFault { low: 0, high: 2, fault: Fault { direction, frame, kind: FaultKind::Cut } });
            let scene = Scene { fault, seed, ..Scene::new(&add, 3, config) };
            let (_, states) = scene.run_from(&values, (None, None));
            one_sided += usize::from(states.0.is_some() != states.1.is_some());
            let checked = [states.0.as_ref().map(State::check), states.1.as_ref().map(State::check)];
            let is_closed = checked.into_iter().flatten().any(|checked| checked.is_err());
            let (results, _) = Scene { seed: seed + 50, ..Scene::new(&add, 3, config) }.run_from(&values, states);
            match is_closed {
                // A state with an unfinished run is closed for good.
                true => assert!(results.iter().all(|result| result.is_err()), "{direction:?} {frame}"),
                false => assert_eq!(results[1].as_ref().unwrap(), &[Some(value(12, 8))], "{direction:?} {frame}"),
            }
            let blamed = |error: &ProtocolError| {
                (0..3).any(|party| error.accuses(party) == Some(Blame::seen(party, Cause::Misbehaved)))
            };
            assert!(!results.iter().any(|result| result.as_ref().is_err_and(blamed)), "{direction:?} {frame}");
        }
    }
    assert!(one_sided > 0);
}

#[test]
fn a_used_state_stays_even_if_the_other_server_has_none() {
    let config = small(Reuse::Labels);
    let add = program("lib:add(8)", &[1, 0], &[1]);
    let values = [Some(value(5, 8)), Some(value(7, 8))];
    let (_, states) = Scene::new(&add, 3, config).run(&values, None);
    let (generator, _) = states.unwrap();
    let scene = Scene { seed: 2, ..Scene::new(&add, 3, config) };
    let (results, (kept, none)) = scene.run_from(&values, (Some(generator), None));
    assert!(kept.is_some() && none.is_none());
    assert!(are_unlike(&results[0]) || are_unlike(&results[2]));
}

/// A value, changed where bits are set; it panics with the code that the client gives. The client learns where, and the value if it is shown.
fn may_panic(shown: bool) -> Arc<Program> {
    let gates = (0..8).map(|bit| Gate::Xor(Wire(bit), Wire(8 + bit))).collect();
    let circuit = Circuit::new(16, gates, (16..24).map(Wire).collect()).unwrap();
    let port = |name: &str, bits| Port::new(name, Type::Bits(bits));
    let ports = vec![port("old", 8), port("flip", 8)];
    let component = Component::new("flip", ports.clone(), vec![port("new", 8)], circuit).unwrap();
    let mut program = Program::new("may panic");
    let component = program.add_component(component);
    let inputs = ports.into_iter().map(|port| program.add_input(port, Party(1)).unwrap()).collect::<Vec<_>>();
    let links: Vec<Link> = inputs.into_iter().map(|input| program.input_link(input)).collect();
    let instance = program.add_instance(component, &links).unwrap();
    let code = program.add_input(port("code", 2), Party(1)).unwrap();
    let to = Recipients::Only(if shown { vec![Party(1)] } else { Vec::new() });
    program.add_output(port("new", 8), to, vec![program.instance_link(instance)]).unwrap();
    let code = vec![program.input_link(code)];
    program.add_output(port("panic", 2), Recipients::Only(vec![Party(1)]), code).unwrap();
    let panics = Panics::On { output: Some(1), places: vec!["here".into(); 3] };
    program.set_notes(Notes { panics: Some(panics), ..Notes::default() });
    Arc::new(program)
}

#[test]
fn a_run_that_panics_keeps_nothing_and_all_parties_know() {
    let config = small(Reuse::Labels);
    let run = |program: &Arc<Program>, saved: SavedValues, inputs: [Option<u64>; 3], states: States| {
        let widths = [8, 8, 2];
        let inputs: Vec<_> = inputs.iter().zip(widths).map(|(of, bits)| of.map(|of| value(of, bits))).collect();
        Scene { saved, ..Scene::new(program, 3, config) }.run(&inputs, states)
    };
    let panicked = |results: Vec<Result<Outputs, ProtocolError>>| {
        let of = |result: Result<Outputs, ProtocolError>| result.unwrap().last().cloned().flatten().unwrap().get(0);
        results.into_iter().map(of).collect::<Vec<_>>()
    };
    let (keep, show) = (may_panic(false), may_panic(true));
    let old = || vec![read("old", "value", None)];
    // The first one keeps nothing, and closes nothing.
    let (results, states) = run(&keep, keeping("value", vec![]), [Some(5), Some(0), Some(1)], None);
    assert_eq!(panicked(results), [true; 3]);
    let (results, states) = run(&show, keeping("", old()), [None, Some(0), Some(0)], states);
    assert!(results.iter().all(Result::is_err));
    let (results, states) = run(&keep, keeping("value", vec![]), [Some(5), Some(0), Some(0)], states);
    assert_eq!(panicked(results), [false; 3]);
    let (results, mut states) = run(&keep, keeping("value", old()), [None, Some(3), Some(2)], states);
    assert_eq!(panicked(results), [true; 3]);
    for right in [5, 5 ^ 6] {
        let (results, after) = run(&show, keeping("", old()), [None, Some(0), Some(0)], states);
        assert_eq!(results.into_iter().nth(1).unwrap().unwrap()[0], Some(value(right, 8)));
        let (results, after) = run(&keep, keeping("value", old()), [None, Some(6), Some(0)], after);
        assert_eq!(panicked(results), [false; 3]);
        states = after;
    }
}
