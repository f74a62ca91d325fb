//! The work that making gates cannot do without: streams, encodings, transpositions and hashes, each on one thread and in the cache.

use std::{hint::black_box, sync::Arc, time::Instant};

use garblet::{
    GarblingConfig,
    lego::{Checks, Code, Order},
};
use garblet_circuit::{Circuit, Component, Gate, Port, Type, Wire};
use garblet_console::failure::Failure;
use garblet_garble::{ComponentGarbling, HashKind, InstanceEvaluator, SchemeKind, Seeds};
use garblet_primitives::{Aes128, BLOCK_BITS, Block, Delta, OtHash, Prg, transpose};

/// Seconds that each party's work takes at least, the constructor's first.
pub(super) fn seconds(code: Code, order: &Order, checks: Checks) -> Result<[f64; 2], Failure> {
    let parameters = order.parameters();
    let [gates, authenticators] = [order.gates_made(), order.authenticators_made()].map(|count| count as u64);
    let committed = 3 * gates + authenticators;
    let opened = 3 * checks.gates + checks.authenticators + parameters.solderings();
    let squares = |words: u64| words.div_ceil(BLOCK_BITS as u64) as f64;
    let each = Each::measure(code)?;
    // The constructor has both shares and the messages, the evaluator one share; sums that are opened are laid across again.
    let word = code.length().div_ceil(BLOCK_BITS) as f64;
    let constructor = squares(committed) * (2.0 * each.stretch + each.encode + (word + 1.0) * each.transpose)
        + squares(opened) * word * each.transpose
        + gates as f64 * each.garble
        + authenticators as f64 * 2.0 * each.hash;
    let evaluator = squares(committed) * (each.stretch + word * each.transpose)
        + squares(opened) * (word + 1.0) * each.transpose
        + checks.gates as f64 * each.evaluate
        + checks.authenticators as f64 * each.hash;
    Ok([constructor, evaluator])
}

/// Seconds of one step: of 128 words, of a gate, of an authenticator's key.
struct Each {
    stretch: f64,
    encode: f64,
    transpose: f64,
    garble: f64,
    evaluate: f64,
    hash: f64,
}

/// Squares and gates at a time: as many as stay in the cache.
const SQUARES: usize = 28;
const GATES: usize = 1 << 10;

impl Each {
    fn measure(code: Code) -> Result<Self, Failure> {
        let streams = Aes128::many(&vec![Block::ONES; code.length()]);
        let mut row = vec![Block::ZERO; SQUARES];
        let stretch = fastest(SQUARES, || streams.iter().for_each(|stream| stream.keystream(0, black_box(&mut row))));
        let messages = vec![Block::ONES; BLOCK_BITS * SQUARES];
        let mut parities = vec![Block::ZERO; code.parity_bits() * SQUARES];
        let encode = fastest(SQUARES, || code.encode_rows(SQUARES, black_box(&messages), &mut parities));
        let mut columns = vec![Block::ZERO; BLOCK_BITS * SQUARES];
        let rows = vec![1; 16 * BLOCK_BITS * SQUARES];
        let transpose = fastest(SQUARES, || transpose(black_box(&rows), &mut columns));
        let hash = OtHash::new(Block::ONES);
        let mut keys = vec![Block::ONES; GATES];
        let hash = fastest(GATES, || hash.hash_batch(0, black_box(&mut keys)));
        let [garble, evaluate] = of_gates()?;
        Ok(Each { stretch, encode, transpose, garble, evaluate, hash })
    }
}

/// Garbling and evaluating a gate.
fn of_gates() -> Result<[f64; 2], Failure> {
    let circuit = Circuit::new(2, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]).map_err(Failure::no_result)?;
    let ports = |names: &[&str]| names.iter().map(|name| Port::new(*name, Type::Bool)).collect::<Vec<_>>();
    let component = Component::new("and", ports(&["left", "right"]), ports(&["output"]), circuit);
    let component = Arc::new(component.map_err(Failure::no_result)?);
    let garbling = GarblingConfig { scheme: SchemeKind::HalfGates, hash: HashKind::Rekeyed };
    let kind = ComponentGarbling::new(&component, garbling);
    let mut rng = Prg::new(Block::ONES);
    let (delta, seeds) = (Delta::random(&mut rng), Seeds::random(&mut rng));
    let inputs = vec![Block::ONES; 2 * GATES];
    let mut tables = vec![0; kind.table_bytes() * GATES];
    let mut outputs = vec![Block::ZERO; GATES];
    let mut garbler = kind.garbler(&delta, &seeds, 0);
    let garble = fastest(GATES, || garbler.garble(0, GATES, black_box(&inputs), &mut tables, &mut outputs));
    let numbers: Vec<u64> = (0..GATES as u64).collect();
    let of_gates: Vec<&[u8]> = tables.chunks_exact(kind.table_bytes()).collect();
    let mut evaluator = InstanceEvaluator::new(Block::ONES);
    let evaluate =
        fastest(GATES, || evaluator.evaluate((&kind, 0), &numbers, black_box(&inputs), &of_gates, &mut outputs));
    Ok([garble, evaluate])
}

/// The seconds of one of `count`, in the fastest of many passes.
fn fastest(count: usize, mut pass: impl FnMut()) -> f64 {
    let time = |_| {
        let begin = Instant::now();
        pass();
        begin.elapsed()
    };
    let fastest = (0..200).map(time).min().unwrap_or_default();
    fastest.as_secs_f64() / count as f64
}
