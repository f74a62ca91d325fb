//! Any bytes as garbled tables, under every scheme: lengths are checked, contents never panic.
#![no_main]

use std::sync::LazyLock;

use garblet_circuit::Program;
use garblet_garble::{Evaluator, GarblingConfig, HashKind, Schedules, SchemeKind};
use garblet_primitives::Block;
use garblet_synthesis::library;
use libfuzzer_sys::fuzz_target;

static PROGRAM: LazyLock<(Program, Schedules)> = LazyLock::new(|| {
    let program = library::find("lib:millionaires(16)").expect("the library has it");
    let schedules = Schedules::new(&program);
    (program, schedules)
});

fuzz_target!(|bytes: &[u8]| {
    let Some((first, tables)) = bytes.split_first() else { return };
    let (program, schedules) = &*PROGRAM;
    let scheme = SchemeKind::ALL[usize::from(*first) % SchemeKind::ALL.len()];
    let config = GarblingConfig { scheme, hash: HashKind::default() };
    let labels = program.inputs().iter().map(|i| vec![Block::ONES; i.port.width() as usize].into()).collect();
    let mut evaluator = Evaluator::new(program, schedules, config, Block::ZERO, 0, labels);
    let expected = evaluator.next_chunk_bytes();
    assert_eq!(evaluator.evaluate_chunk(tables).is_ok(), tables.len() == expected);
    if tables.len() >= expected && evaluator.next_chunk_bytes() > 0 {
        assert!(evaluator.evaluate_chunk(&tables[..expected]).is_ok());
    }
});
