//! Garbled and evaluated programs give the plain evaluator's answers for every scheme, hash, processor and cut.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use garblet_circuit::{
    Bits, Circuit, Component, ComponentId, Gate, InstanceId, Link, Party, Port, Program, Recipients, Schedule, Source,
    Type, Wire, random,
};
use garblet_garble::{
    CHUNK_ANDS, EvaluateError, Evaluator, Garbler, GarblingConfig, HashKind, Schedules, SchemeKind, Seeds, Workspace,
};
use garblet_primitives::{Backend, Block, Delta, Prg};
use proptest::prelude::*;

fn configs() -> impl Iterator<Item = GarblingConfig> {
    SchemeKind::ALL.iter().flat_map(|&scheme| HashKind::ALL.iter().map(move |&hash| GarblingConfig { scheme, hash }))
}

/// Both parties' initial values.
struct Setup {
    delta: Delta,
    seeds: Seeds,
    zero_labels: Vec<Box<[Block]>>,
    active_labels: Vec<Box<[Block]>>,
}

fn set_up(program: &Program, config: GarblingConfig, inputs: &[Bits], seed: u128) -> Setup {
    let mut rng = Prg::new(Block::from_u128(seed));
    let delta = Delta::random(&mut rng);
    let seeds = Seeds::random(&mut rng);
    let mut zero = |n: usize| (0..n).map(|_| config.zero_label(rng.next_block())).collect::<Box<[Block]>>();
    let zero_labels: Vec<_> = program.inputs().iter().map(|i| zero(i.port.width() as usize)).collect();
    let active = |(zero, bits): (&[Block], &Bits)| {
        zero.iter().zip(bits.iter()).map(|(&z, bit)| z ^ Block::mask(bit) & delta.block()).collect()
    };
    let active_labels = zero_labels.iter().map(AsRef::as_ref).zip(inputs).map(active).collect();
    Setup { delta, seeds, zero_labels, active_labels }
}

/// Garbles, evaluates and decodes; returns the outputs and the chunks.
fn run(
    program: &Program,
    config: GarblingConfig,
    inputs: &[Bits],
    first_gate: u64,
    backends: [Backend; 2],
) -> (Vec<Vec<bool>>, Vec<Vec<u8>>) {
    let schedules = Schedules::reading(program).expect("gates are in memory");
    run_scheduled(program, &schedules, config, inputs, first_gate, backends)
}

/// The same with these schedules.
fn run_scheduled(
    program: &Program,
    schedules: &Schedules,
    config: GarblingConfig,
    inputs: &[Bits],
    first_gate: u64,
    [garbling, evaluating]: [Backend; 2],
) -> (Vec<Vec<bool>>, Vec<Vec<u8>>) {
    let Setup { delta, seeds, zero_labels, active_labels } = set_up(program, config, inputs, 3);
    let hash_seed = seeds.hash;
    let mut garbler =
        Garbler::new(program, schedules, config, &delta, seeds, first_gate, zero_labels).with_backend(garbling);
    let mut evaluator =
        Evaluator::new(program, schedules, config, hash_seed, first_gate, active_labels).with_backend(evaluating);
    let mut chunks = Vec::new();
    loop {
        let mut tables = Vec::new();
        let more = garbler.garble_chunk(&mut tables);
        assert_eq!(tables.len(), evaluator.next_chunk_bytes());
        evaluator.evaluate_chunk(&tables).unwrap();
        assert_eq!((garbler.check(), evaluator.check()), (Ok(()), Ok(())));
        chunks.push(tables);
        if !more {
            break;
        }
    }
    assert_eq!(evaluator.next_chunk_bytes(), 0);
    let sent: usize = chunks.iter().map(Vec::len).sum();
    assert_eq!(sent as u64, config.table_bytes(schedules.and_count()));
    let decode = |[zero, active]: [&[Block]; 2]| {
        let pairs = zero.iter().zip(active);
        pairs
            .map(|(&zero, &active)| {
                let value = config.select_bit(zero) ^ config.select_bit(active);
                assert!(
                    active == zero ^ Block::mask(value) & delta.block(),
                    "a label that does not belong to the wire"
                );
                assert!(!config.scheme.is_privacy_free() || !config.select_bit(zero));
                value
            })
            .collect()
    };
    let (zero, active) = (garbler.into_outputs(), evaluator.into_outputs());
    let outputs = zero.iter().zip(&active).map(|(zero, active)| decode([zero, active])).collect();
    (outputs, chunks)
}

fn check(program: &Program, config: GarblingConfig, inputs: &[Bits], first_gate: u64) {
    let expected: Vec<Vec<bool>> =
        garblet_circuit::evaluate(program, inputs).iter().map(|bits| bits.iter().collect()).collect();
    let mut chunks = None;
    for backend in Backend::available() {
        // The parties may have different processors.
        let (outputs, made) = run(program, config, inputs, first_gate, [backend, Backend::detect()]);
        assert_eq!(outputs, expected, "{} {} garbled on {backend}", config.scheme, config.hash);
        assert!(*chunks.get_or_insert(made.clone()) == made, "tables made on {backend} differ");
        let (outputs, _) = run(program, config, inputs, first_gate, [Backend::detect(), backend]);
        assert_eq!(outputs, expected, "{} {} evaluated on {backend}", config.scheme, config.hash);
    }
}

/// The program of one component.
fn single(circuit: Circuit) -> Program {
    let port = |name, width: usize| vec![Port::new(name, Type::Bits(width as u32))];
    let (inputs, outputs) = (port("in", circuit.input_count() as usize), port("out", circuit.outputs().len()));
    Program::from_component(Component::new("test", inputs, outputs, circuit).unwrap(), &[Party(0)]).unwrap()
}

/// A circuit with five inputs and this many AND gates: each of the previous wire and of one halfway back, and negated, so
/// values do not become constant.
fn and_chain(ands: usize) -> Circuit {
    let pair = |g: u32| {
        let last = 4 + 2 * g;
        [Gate::And(Wire(last), Wire(last.saturating_sub(3) / 2)), Gate::Not(Wire(last + 1))]
    };
    let gates: Vec<Gate> = (0..ands as u32).flat_map(pair).collect();
    let last = Wire(4 + gates.len() as u32);
    Circuit::new(5, gates, vec![last]).unwrap()
}

#[test]
fn one_gate_with_every_input_and_inversion() {
    for config in configs() {
        for flips in 0..8 {
            let flip = |bit: u32, wire: u32| {
                if flips >> bit & 1 == 1 { Gate::Not(Wire(wire)) } else { Gate::Xor(Wire(wire), Wire(2)) }
            };
            // Wire 2 is false.
            let gates = vec![Gate::Constant(false), flip(0, 0), flip(1, 1), Gate::And(Wire(3), Wire(4)), flip(2, 5)];
            let program = single(Circuit::new(2, gates, vec![Wire(6), Wire(5)]).unwrap());
            for values in 0..4 {
                let inputs = [Bits::from_u128(values, 2)];
                let (outputs, _) = run(&program, config, &inputs, 0, [Backend::detect(); 2]);
                let [a, b] = [values & 1 ^ flips & 1, values >> 1 & 1 ^ flips >> 1 & 1];
                let and = a & b == 1;
                assert_eq!(outputs, [[and ^ (flips >> 2 & 1 == 1), and]], "{} {}", config.scheme, config.hash);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_programs(seed: u128, first_gate in prop_oneof![Just(0), 0u64..5000, Just(1 << 40)]) {
        let mut rng = Prg::new(Block::from_u128(seed));
        let program = random::program(&mut rng, 300, 2);
        let inputs = random::inputs(&mut rng, &program);
        for config in configs() {
            check(&program, config, &inputs, first_gate);
        }
    }
}

#[test]
fn chunks_are_cut_at_every_boundary() {
    for ands in [CHUNK_ANDS - 1, CHUNK_ANDS, CHUNK_ANDS + 1, 2 * CHUNK_ANDS + 3] {
        let program = single(and_chain(ands));
        for &scheme in SchemeKind::ALL {
            check(&program, GarblingConfig { scheme, ..Default::default() }, &[Bits::from_u128(0b10110, 5)], 77);
        }
    }
}

#[test]
fn random_circuits_larger_than_a_chunk() {
    let mut rng = Prg::new(Block::from_u128(8));
    for (inputs, gates) in [(64, 40_000), (300, 30_000), (3, 25_000)] {
        let program = single(random::circuit(&mut rng, inputs, gates, 200));
        let values = random::inputs(&mut rng, &program);
        for &scheme in SchemeKind::ALL {
            check(&program, GarblingConfig { scheme, ..Default::default() }, &values, 5);
        }
    }
}

#[test]
fn many_small_instances_share_chunks() {
    let mut program = Program::new("chain");
    let component =
        Component::new("step", vec![Port::new("in", Type::Bits(5))], vec![Port::new("out", Type::Bits(5))], {
            let gates = and_chain(9).gates().to_vec();
            Circuit::new(5, gates, vec![Wire(22), Wire(21), Wire(19), Wire(16), Wire(3)]).unwrap()
        });
    let component = program.add_component(component.unwrap());
    let input = program.add_input(Port::new("in", Type::Bits(5)), Party(0)).unwrap();
    let mut link = program.input_link(input);
    for _ in 0..1500 {
        let instance = program.add_instance(component, &[link]).unwrap();
        link = program.instance_link(instance);
    }
    let truth = Link { source: Source::Constant(true), start: 0, len: 1 };
    program.add_output(Port::new("out", Type::Bits(6)), Recipients::All, vec![link, truth]).unwrap();
    for &scheme in SchemeKind::ALL {
        check(&program, GarblingConfig { scheme, ..Default::default() }, &[Bits::from_u128(0b01011, 5)], 0);
    }
}

/// `width` chains side by side, `length` instances of a circuit each: four at a time run together where neighbours are independent.
fn side_by_side(rng: &mut Prg, circuit: Circuit, [width, length]: [u32; 2]) {
    let each = circuit.outputs().len() as u32;
    let [into, out] = [("in", 5), ("out", each)].map(|(name, bits)| vec![Port::new(name, Type::Bits(bits))]);
    let mut program = Program::new("side by side");
    let component = program.add_component(Component::new("step", into, out, circuit).unwrap());
    let input = program.add_input(Port::new("in", Type::Bits(5 * width)), Party(0)).unwrap();
    let of_chain = |k| Link { source: Source::Input(input), start: 5 * k, len: 5 };
    let mut chains: Vec<Vec<Link>> = (0..width).map(|k| vec![of_chain(k)]).collect();
    for _ in 0..length {
        for chain in &mut chains {
            let instance = program.add_instance(component, chain).unwrap();
            let link = |start| Link { source: Source::Instance(instance), start, len: 1 };
            *chain = (0..5).map(|wire| link(wire % each)).collect();
        }
    }
    let links: Vec<Link> = chains.concat();
    program.add_output(Port::new("out", Type::Bits(5 * width)), Recipients::All, links).unwrap();
    let inputs = random::inputs(rng, &program);
    for config in configs() {
        check(&program, config, &inputs, 1021);
    }
}

// 33 and 34 AND gates, so chunks and hash keys end within four copies of a gate.

#[test]
fn four_instances_side_by_side_share_chunks() {
    side_by_side(&mut Prg::new(Block::from_u128(9)), and_chain(33), [4, 70]);
}

#[test]
fn seven_instances_side_by_side_share_chunks() {
    side_by_side(&mut Prg::new(Block::from_u128(10)), and_chain(34), [7, 20]);
}

#[test]
fn nine_random_instances_side_by_side_share_chunks() {
    let mut rng = Prg::new(Block::from_u128(11));
    let circuit = random::circuit(&mut rng, 5, 60, 5);
    side_by_side(&mut rng, circuit, [9, 60]);
}

#[test]
fn programs_without_and_gates_have_no_tables() {
    let gates = vec![Gate::Xor(Wire(0), Wire(1)), Gate::Not(Wire(2)), Gate::Constant(true)];
    let program = single(Circuit::new(2, gates, vec![Wire(3), Wire(4), Wire(0), Wire(0)]).unwrap());
    for config in configs() {
        check(&program, config, &[Bits::from_u128(2, 2)], 0);
        let setup = set_up(&program, config, &[Bits::from_u128(2, 2)], 3);
        let schedules = Schedules::new(&program);
        // Nobody needs to ask for the empty chunk.
        let garbler = Garbler::new(&program, &schedules, config, &setup.delta, setup.seeds, 0, setup.zero_labels);
        assert_eq!(garbler.next_chunk_bytes(), 0);
        assert_eq!(garbler.into_outputs()[0].len(), 4);
    }
}

#[test]
fn tables_of_the_wrong_length_are_refused() {
    let program = single(and_chain(100));
    for &scheme in SchemeKind::ALL {
        let config = GarblingConfig { scheme, ..Default::default() };
        let setup = set_up(&program, config, &[Bits::from_u128(9, 5)], 3);
        let schedules = Schedules::new(&program);
        let mut evaluator = Evaluator::new(&program, &schedules, config, setup.seeds.hash, 0, setup.active_labels);
        let expected = config.chunk_bytes(100);
        for got in [0, 1, expected - 1, expected + 1, 2 * expected] {
            let error = evaluator.evaluate_chunk(&vec![0; got]).unwrap_err();
            assert_eq!(error, EvaluateError::ChunkLength { got, expected });
            assert_eq!(error.to_string(), format!("chunk of garbled tables has {got} bytes, expected {expected}"));
        }
        assert!(evaluator.evaluate_chunk(&vec![0; expected]).is_ok());
        assert!(evaluator.evaluate_chunk(&[0]).is_err());
    }
}

#[test]
fn reused_memory_changes_nothing() {
    let config = GarblingConfig::default();
    let (mut of_garbler, mut of_evaluator) = (Workspace::default(), Workspace::default());
    for ands in [100, 3, 0, 2000] {
        let program = single(and_chain(ands));
        let inputs = [Bits::from_u128(0b10110, 5)];
        let (expected, chunks) = run(&program, config, &inputs, 0, [Backend::detect(); 2]);
        let setup = set_up(&program, config, &inputs, 3);
        let (schedules, hash_seed) = (Schedules::new(&program), setup.seeds.hash);
        let garbler = Garbler::new(&program, &schedules, config, &setup.delta, setup.seeds, 0, setup.zero_labels);
        let evaluator = Evaluator::new(&program, &schedules, config, hash_seed, 0, setup.active_labels);
        let (mut garbler, mut evaluator) = (garbler.in_workspace(of_garbler), evaluator.in_workspace(of_evaluator));
        let mut tables = Vec::new();
        garbler.garble_chunk(&mut tables);
        evaluator.evaluate_chunk(&tables).unwrap();
        assert!(tables == chunks.concat(), "{ands} gates");
        let (zero, active);
        (zero, of_garbler) = garbler.into_outputs_and_workspace();
        (active, of_evaluator) = evaluator.into_outputs_and_workspace();
        let value = config.select_bit(zero[0][0]) ^ config.select_bit(active[0][0]);
        assert_eq!(value, expected[0][0], "{ands} gates");
    }
}

#[test]
#[should_panic(expected = "100 AND gates are not done")]
fn outputs_need_all_chunks() {
    let program = single(and_chain(100));
    let config = GarblingConfig::default();
    let setup = set_up(&program, config, &[Bits::from_u128(9, 5)], 3);
    let schedules = Schedules::new(&program);
    Evaluator::new(&program, &schedules, config, setup.seeds.hash, 0, setup.active_labels).into_outputs();
}

#[test]
fn a_changed_table_does_not_give_a_label_of_the_other_value() {
    let program = single(and_chain(1));
    for config in configs() {
        let inputs = [Bits::from_u128(0b11111, 5)];
        let setup = set_up(&program, config, &inputs, 3);
        let schedules = Schedules::new(&program);
        let hash_seed = setup.seeds.hash;
        let mut garbler = Garbler::new(&program, &schedules, config, &setup.delta, setup.seeds, 0, setup.zero_labels);
        let mut tables = Vec::new();
        garbler.garble_chunk(&mut tables);
        let zero = garbler.into_outputs()[0][0];
        for at in 0..tables.len() {
            let mut changed = tables.clone();
            changed[at] ^= 0x10;
            let active = setup.active_labels.clone();
            let mut evaluator = Evaluator::new(&program, &schedules, config, hash_seed, 0, active);
            evaluator.evaluate_chunk(&changed).unwrap();
            let value = garblet_circuit::evaluate(&program, &inputs)[0].get(0);
            assert!(evaluator.into_outputs()[0][0] != zero ^ Block::mask(!value) & setup.delta.block());
        }
    }
}

/// A program of `instances` of a component: all read its inputs, and the last one's outputs are the program's.
fn repeated(component: Component, instances: usize) -> Program {
    let mut program = Program::from_component(component, &[Party(0)]).unwrap();
    let links: Vec<Link> = program.instance_links(InstanceId(0)).collect();
    for _ in 1..instances {
        program.add_instance(ComponentId(0), &links).unwrap();
    }
    program
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn tables_do_not_depend_on_the_place_of_the_gates(seed: u128, instances in 1usize..6, block in 1u32..400) {
        let mut rng = Prg::new(Block::from_u128(seed));
        let stored = std::iter::repeat_with(|| random::component(&mut rng, "c", 2000))
            .find_map(|component| Some((random::stored(&component, block)?, component)));
        let (stored, component) = stored.expect("most need not be simplified");
        let [here, stored] = [component, stored].map(|component| repeated(component, instances));
        let inputs = random::inputs(&mut rng, &here);
        for config in configs() {
            let [here, stored] = [&here, &stored].map(|program| run(program, config, &inputs, 7, [Backend::detect(); 2]));
            prop_assert!(here == stored, "{} {}", config.scheme, config.hash);
        }
    }
}

/// A chain of that many chunks, of which a part is gone when it is read again.
#[test]
fn gates_that_are_gone_end_a_garbling_and_an_evaluation() {
    let (config, inputs) = (GarblingConfig::default(), [Bits::from_u128(0b10110, 5)]);
    let circuit = and_chain(3 * CHUNK_ANDS);
    let left = Arc::new(AtomicUsize::new(usize::MAX));
    let component = single(circuit).components()[0].clone();
    let lost = random::losing(&component, 10_000, left.clone()).expect("it need not be simplified");
    let program = Program::from_component(lost, &[Party(0)]).unwrap();
    let schedules = Schedules::reading(&program).expect("it is there");
    let mut failed = 0;
    for reads in 0..20 {
        let setup = set_up(&program, config, &inputs, 3);
        let hash_seed = setup.seeds.hash;
        let mut garbler = Garbler::new(&program, &schedules, config, &setup.delta, setup.seeds, 0, setup.zero_labels);
        let mut evaluator = Evaluator::new(&program, &schedules, config, hash_seed, 0, setup.active_labels);
        left.store(reads, Ordering::Relaxed);
        let gone = loop {
            let mut tables = vec![0; garbler.next_chunk_bytes()];
            let more = garbler.garble_chunk_into(&mut tables);
            evaluator.evaluate_chunk(&tables).expect("the length is right even so");
            match (garbler.check(), evaluator.check()) {
                (Ok(()), Ok(())) if more => (),
                (Ok(()), Ok(())) => break None,
                (Err(error), _) | (_, Err(error)) => break Some(error),
            }
        };
        if let Some(error) = gone {
            assert_eq!(error.to_string(), "gates: are gone");
            failed += 1;
        }
    }
    assert!((2..20).contains(&failed), "{failed} failed");
    left.store(usize::MAX, Ordering::Relaxed);
    assert_eq!(run(&program, config, &inputs, 0, [Backend::detect(); 2]).1.len(), 3);
}

#[test]
fn tables_match_the_golden_file() {
    let program = single(and_chain(2000));
    let inputs = [Bits::from_u128(0b10110, 5)];
    let digest = |config| {
        let (_, chunks) = run(&program, config, &inputs, 1000, [Backend::detect(); 2]);
        blake3::hash(&chunks.concat()).to_hex()[..16].to_owned()
    };
    let got: Vec<String> = configs().map(|c| format!("{} {} {}", c.scheme, c.hash, digest(c))).collect();
    let golden = include_str!("golden_tables.txt");
    assert_eq!(got.join("\n"), golden.trim_end());
}

/// A circuit in which every output depends on this many AND gates, all but the last of them each on any wire before.
fn dense(rng: &mut Prg, inputs: u32, ands: usize, outputs: u32) -> Circuit {
    let mut gates = vec![Gate::Not(Wire(0))];
    for _ in 0..ands {
        let wires = inputs + gates.len() as u32;
        let mut any = || Wire((rng.next_block().halves()[0] % u64::from(wires)) as u32);
        gates.push(Gate::And(any(), any()));
        gates.push(Gate::Xor(Wire(wires), Wire(wires - 1)));
    }
    let wires = inputs + gates.len() as u32;
    let outputs = (0..outputs).map(|o| Wire(wires - 1 - o)).collect();
    Circuit::new(inputs, gates, outputs).unwrap()
}

/// Checks a program whose components are tables, with each of its inputs; returns the bytes that are sent.
fn check_tables(program: &Program, config: GarblingConfig, all_inputs: &[Vec<Bits>], first_gate: u64) -> u64 {
    let plain = Schedules::new(program);
    let schedules = plain.with_tables(program, config).unwrap();
    assert!(schedules.and_count() < plain.and_count());
    assert!(schedules.digest() != plain.digest());
    for inputs in all_inputs {
        let expected: Vec<Vec<bool>> =
            garblet_circuit::evaluate(program, inputs).iter().map(|bits| bits.iter().collect()).collect();
        let mut chunks = None;
        for backend in [Backend::PORTABLE, Backend::detect()] {
            let backends = [backend, Backend::detect()];
            let (outputs, made) = run_scheduled(program, &schedules, config, inputs, first_gate, backends);
            assert_eq!(outputs, expected, "{} {} on {backend}", config.scheme, config.hash);
            assert!(*chunks.get_or_insert(made.clone()) == made, "tables made on {backend} differ");
        }
    }
    config.table_bytes(schedules.and_count())
}

fn configs_with_tables() -> impl Iterator<Item = GarblingConfig> {
    configs().filter(|config| config.garbles_tables())
}

#[test]
fn tables_give_every_row() {
    let mut rng = Prg::new(Block::from_u128(21));
    for (inputs, outputs) in [(2, 1), (2, 3), (3, 2), (4, 5), (5, 1), (6, 3), (7, 2)] {
        let program = single(dense(&mut rng, inputs, 30 + 20 * (inputs * outputs) as usize, outputs));
        let all: Vec<Vec<Bits>> = (0..1u128 << inputs).map(|row| vec![Bits::from_u128(row, inputs as usize)]).collect();
        for config in configs_with_tables() {
            check_tables(&program, config, &all, 7);
        }
    }
}

#[test]
fn tables_of_all_shapes_give_the_values() {
    let mut rng = Prg::new(Block::from_u128(22));
    for (inputs, outputs) in [(6, 128), (7, 65), (8, 8), (9, 64), (10, 1), (11, 17), (13, 3), (16, 2)] {
        let bytes = garblet_circuit::TruthTable::garbled_bytes(inputs, outputs as usize).unwrap();
        let program = single(dense(&mut rng, inputs, bytes as usize / 20, outputs));
        let all: Vec<Vec<Bits>> = (0..3).map(|_| random::inputs(&mut rng, &program)).collect();
        for config in configs_with_tables().filter(|config| inputs < 10 || config.hash == HashKind::Rekeyed) {
            check_tables(&program, config, &all, u64::MAX >> 1);
        }
    }
}

#[test]
fn a_table_of_256_bytes_takes_1376_bytes() {
    let mut rng = Prg::new(Block::from_u128(23));
    let program = single(dense(&mut rng, 8, 300, 8));
    let inputs = [vec![Bits::from_u128(77, 8)]];
    assert_eq!(check_tables(&program, GarblingConfig::default(), &inputs, 0), 1376);
    let config = GarblingConfig { scheme: SchemeKind::ThreeHalves, ..Default::default() };
    assert_eq!(check_tables(&program, config, &inputs, 0), 58 * 24 + (58 * 5u64).div_ceil(8));
}

/// Tables among gates, longer than a chunk and shorter, with constants and repeated wires as inputs.
#[test]
fn tables_go_on_in_the_next_chunk() {
    let mut rng = Prg::new(Block::from_u128(24));
    for large in [4, 64] {
        let mut program = Program::new("tables");
        let input = program.add_input(Port::new("x", Type::Bits(20)), Party(0)).unwrap();
        let mut add = |name: &str, circuit: Circuit| {
            let port = |width: usize| vec![Port::new("v", Type::Bits(width as u32))];
            let ports = [circuit.input_count() as usize, circuit.outputs().len()].map(port);
            let [inputs, outputs] = ports;
            program.add_component(Component::new(name, inputs, outputs, circuit).unwrap())
        };
        let table = add("table", dense(&mut rng, 8, 200, 8));
        let long = add("long", dense(&mut rng, 14, 6_200, large));
        let gates = add("gates", dense(&mut rng, 20, 1_000, 20));
        let of = |source, start, len| Link { source, start, len };
        let mut last = Source::Input(input);
        for round in 0..4u32 {
            let constants = [false, true].map(|value| of(Source::Constant(value), 0, 1));
            let wide = [of(last, 0, 12), constants[0], constants[1]];
            let wide = program.add_instance(long, &wide).unwrap();
            let twice = [of(last, 0, 4), of(last, 0, 4)];
            let narrow = [twice, [of(last, 4, 7), constants[(round % 2) as usize]], [of(last, 1, 4), of(last, 7, 4)]];
            let narrow = narrow.map(|links| Source::Instance(program.add_instance(table, &links).unwrap()));
            let mixed = [of(Source::Instance(wide), 0, 4), of(narrow[0], 0, 8), of(narrow[1], 0, 8)];
            program.add_instance(gates, &mixed).unwrap();
            let mixed = [of(narrow[2], 0, 8), of(narrow[1], 4, 4), of(narrow[0], 0, 8)];
            last = Source::Instance(program.add_instance(gates, &mixed).unwrap());
        }
        program.add_output(Port::new("y", Type::Bits(20)), Recipients::All, vec![of(last, 0, 20)]).unwrap();
        let all: Vec<Vec<Bits>> = (0..2).map(|_| random::inputs(&mut rng, &program)).collect();
        for config in configs_with_tables().filter(|config| config.hash == HashKind::Rekeyed) {
            assert!(check_tables(&program, config, &all, 5) > 0);
        }
    }
}

/// A circuit of eight outputs, with too many inputs for a table, of which so many AND gates are garbled.
fn gates_of(rng: &mut Prg, ands: usize) -> Circuit {
    let mut attempt = || {
        let gates = dense(rng, 17, ands + 100, 8);
        let until = |wire: u32| {
            let outputs = (0..8).map(|o| Wire(wire - o)).collect();
            Circuit::new(17, gates.gates()[..wire as usize - 16].to_vec(), outputs).unwrap()
        };
        let first = 16 + 2 * ands as u32;
        (first..first + 200).map(until).find(|circuit| Schedule::new(circuit).and_count() == ands as u64)
    };
    (0..20).find_map(|_| attempt()).expect("most random circuits have few gates without effect")
}

/// A chunk may end right before a table, or with its last gate.
#[test]
fn tables_begin_and_end_with_chunks() {
    let mut rng = Prg::new(Block::from_u128(26));
    let table = dense(&mut rng, 8, 200, 8);
    let config = GarblingConfig::default();
    for before in [CHUNK_ANDS - 44, CHUNK_ANDS - 43, CHUNK_ANDS - 42, CHUNK_ANDS - 1, CHUNK_ANDS, CHUNK_ANDS + 1] {
        let first = gates_of(&mut rng, before);
        let mut program = Program::new("border");
        let input = program.add_input(Port::new("x", Type::Bits(17)), Party(0)).unwrap();
        let port = |width: u32| vec![Port::new("v", Type::Bits(width))];
        let component = |name: &str, circuit: &Circuit| {
            let outputs = circuit.outputs().len() as u32;
            Component::new(name, port(circuit.input_count()), port(outputs), circuit.clone()).unwrap()
        };
        let ids = [component("gates", &first), component("table", &table)].map(|one| program.add_component(one));
        let mut last = program.add_instance(ids[0], &[program.input_link(input)]).unwrap();
        for _ in 0..3 {
            last = program.add_instance(ids[1], &[program.instance_link(last)]).unwrap();
        }
        let link = program.instance_link(last);
        program.add_output(Port::new("y", Type::Bits(8)), Recipients::All, vec![link]).unwrap();
        let bytes = check_tables(&program, config, &[random::inputs(&mut rng, &program)], 0);
        assert_eq!(bytes, 32 * (before as u64 + 3 * 43));
    }
}

#[test]
fn tables_that_would_not_be_shorter_stay_gates() {
    let mut rng = Prg::new(Block::from_u128(25));
    for (inputs, ands, outputs) in [(8, 58, 8), (17, 3_000, 1), (8, 4_000, 129), (2, 4, 3)] {
        let program = single(dense(&mut rng, inputs, ands, outputs));
        let plain = Schedules::new(&program);
        let tabled = plain.with_tables(&program, GarblingConfig::default()).unwrap();
        assert_eq!((tabled.digest(), tabled.and_count()), (plain.digest(), plain.and_count()));
    }
    let program = single(dense(&mut rng, 8, 300, 8));
    let plain = Schedules::new(&program);
    for config in configs().filter(|config| !config.garbles_tables()) {
        assert_eq!(plain.with_tables(&program, config).unwrap().digest(), plain.digest());
    }
    let comparisons = configs().filter(|config| !config.garbles_tables()).count();
    assert_eq!(comparisons, SchemeKind::ALL.len() * HashKind::ALL.len() - 2 * (HashKind::ALL.len() - 1));
}
