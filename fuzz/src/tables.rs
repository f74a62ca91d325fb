//! Any bytes as garbled tables, under every scheme: lengths are checked, contents never panic.

use std::sync::LazyLock;

use garblet_circuit::{Party, Program, Type};
use garblet_garble::{Evaluator, GarblingConfig, HashKind, Schedules, SchemeKind};
use garblet_primitives::Block;
use garblet_synthesis::{
    builder::{CircuitBuilder, Unsigned},
    library,
};

/// Gates, and a component that is a table where the scheme has tables.
static PROGRAMS: LazyLock<[(Program, Schedules); 2]> = LazyLock::new(|| {
    let gates = library::find("lib:millionaires(16)").expect("the library has it");
    let mut builder = CircuitBuilder::new("table");
    let index: Unsigned = builder.input("in", Type::Unsigned(8));
    let rows: Vec<u128> = (0..256).map(|row: u128| row * row * row % 251).collect();
    let entry = builder.lookup(&rows, 8, &index);
    builder.output("out", &entry);
    let table = Program::from_component(builder.finish().expect("few gates"), &[Party(0)]).expect("one input");
    [gates, table].map(|program| {
        let schedules = Schedules::new(&program);
        (program, schedules)
    })
});

pub fn run(bytes: &[u8]) {
    let Some((first, tables)) = bytes.split_first() else { return };
    let (program, schedules) = &PROGRAMS[usize::from(*first) % 2];
    let scheme = SchemeKind::ALL[usize::from(*first) / 2 % SchemeKind::ALL.len()];
    let config = GarblingConfig { scheme, hash: HashKind::default() };
    let schedules = &schedules.with_tables(program, config).expect("in memory");
    let labels = program.inputs().iter().map(|i| vec![Block::ONES; i.port.width() as usize].into()).collect();
    let mut evaluator = Evaluator::new(program, schedules, config, Block::ZERO, 0, labels);
    let expected = evaluator.next_chunk_bytes();
    assert_eq!(evaluator.evaluate_chunk(tables).is_ok(), tables.len() == expected);
    if tables.len() >= expected && evaluator.next_chunk_bytes() > 0 {
        assert!(evaluator.evaluate_chunk(&tables[..expected]).is_ok());
    }
}
