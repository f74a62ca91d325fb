//! The functions of the experiments, and the library that all of them draw on.

use std::sync::Arc;

use garblet::components::{
    Border, Chain, Connection, Foot, Grid, KeyedLink, Library, Shape, Side, Template, TypeId, Wires,
};
use garblet_circuit::{CircuitError, Component, InstanceId, Link, Party, Port, Program, Recipients, Source, Type};
use garblet_console::failure::Failure;
use garblet_synthesis::{
    builder::{BitString, Bytes, CircuitBuilder, Integer, ProgramBuilder, Unsigned, Wires as Values},
    library,
};

/// The party that garbles, with the key and one of the texts.
const GARBLER: Party = Party(0);
/// The party that evaluates, with the blocks and the other text.
const EVALUATOR: Party = Party(1);
/// Bits of a distance.
const DISTANCE: u32 = 7;

/// A function.
pub(super) struct Experiment {
    pub(super) name: &'static str,
    pub(super) program: Arc<Program>,
}

/// The components of all functions.
struct Parts {
    xor: Arc<Component>,
    round: Arc<Component>,
    last: Arc<Component>,
    schedule: Arc<Component>,
    cell: Arc<Component>,
    count: Arc<Component>,
}

impl Parts {
    fn new() -> Result<Self, Failure> {
        let find = |name: &str| library::component(name).map(Arc::new).map_err(Failure::no_result);
        Ok(Parts {
            xor: Arc::new(xor().map_err(Failure::no_result)?),
            round: find("aes-round")?,
            last: find("aes-last-round")?,
            schedule: find("aes-key-schedule")?,
            cell: find("levenshtein-cell(8)")?,
            count: Arc::new(count().map_err(Failure::no_result)?),
        })
    }
}

fn xor() -> Result<Component, CircuitError> {
    let mut c = CircuitBuilder::new("xor");
    let a: Bytes = c.input("a", Type::Bytes(16));
    let b: Bytes = c.input("b", Type::Bytes(16));
    let sum = c.xor_words(&a, &b);
    c.output("sum", &sum);
    c.finish()
}

/// Adds an edge of the edit distance, one more than a difference in unary, to a distance.
fn count() -> Result<Component, CircuitError> {
    let mut c = CircuitBuilder::new("count");
    let edge: BitString = c.input("edge", Type::Bits(2));
    let sum: Unsigned = c.input("sum", Type::Unsigned(DISTANCE));
    let one = |bit| Unsigned::new(vec![bit]);
    let minus_one = Unsigned::constant((1 << DISTANCE) - 1, DISTANCE as usize);
    let sum = c.sum(&[sum, one(edge.0[0]), one(edge.0[1]), minus_one], DISTANCE as usize);
    c.output("sum", &sum);
    c.finish()
}

/// All functions: the paper's, then those that the library was not made for.
pub(super) fn all() -> Result<Vec<Experiment>, Failure> {
    let parts = Parts::new()?;
    let made = |name, program: Result<Program, CircuitError>| {
        program.map(|program| Experiment { name, program: Arc::new(program) }).map_err(Failure::no_result)
    };
    Ok(vec![
        made("AES", aes(&parts))?,
        made("AES with key schedule", aes_with_schedule(&parts))?,
        made("CBC of 10", cbc(&parts, 10))?,
        made("Levenshtein 30", edit_distance(&parts, 30, 30))?,
        made("Levenshtein 60", edit_distance(&parts, 60, 60))?,
        made("CBC of 3", cbc(&parts, 3))?,
        made("CTR of 5", ctr(&parts, 5))?,
        made("Levenshtein 17 x 41", edit_distance(&parts, 17, 41))?,
    ])
}

/// Ten rounds under keys of the garbler, as in the paper: without the first addition of a key.
fn aes(parts: &Parts) -> Result<Program, CircuitError> {
    let mut p = ProgramBuilder::new("AES of ten rounds");
    let [round, last] = [p.component(parts.round.clone()), p.component(parts.last.clone())];
    let keys = p.input("round_keys", Type::Bytes(160), GARBLER)?;
    let mut state = p.input("block", Type::Bytes(16), EVALUATOR)?;
    for k in 0..10 {
        let of = if k < 9 { round } else { last };
        state = p.instance(of, &[&state, &keys.slice(128 * k, Type::Bytes(16))])?.remove(0);
    }
    p.output("ciphertext", &state, Recipients::Only(vec![EVALUATOR]))?;
    Ok(p.finish())
}

/// AES-128 with its key schedule as a component.
fn aes_with_schedule(parts: &Parts) -> Result<Program, CircuitError> {
    let mut p = ProgramBuilder::new("AES-128");
    let [round, last] = [p.component(parts.round.clone()), p.component(parts.last.clone())];
    let [xor, schedule] = [p.component(parts.xor.clone()), p.component(parts.schedule.clone())];
    let key = p.input("key", Type::Bytes(16), GARBLER)?;
    let block = p.input("block", Type::Bytes(16), EVALUATOR)?;
    let keys = p.instance(schedule, &[&key])?.remove(0);
    let key = |k: u64| keys.slice(128 * k, Type::Bytes(16));
    let mut state = p.instance(xor, &[&block, &key(0)])?.remove(0);
    for k in 1..=10 {
        let of = if k < 10 { round } else { last };
        state = p.instance(of, &[&state, &key(k)])?.remove(0);
    }
    p.output("ciphertext", &state, Recipients::Only(vec![EVALUATOR]))?;
    Ok(p.finish())
}

/// Blocks in CBC mode with the rounds of [`aes`].
fn cbc(parts: &Parts, blocks: u64) -> Result<Program, CircuitError> {
    let mut p = ProgramBuilder::new("AES in CBC mode");
    let [round, last] = [p.component(parts.round.clone()), p.component(parts.last.clone())];
    let xor = p.component(parts.xor.clone());
    let keys = p.input("round_keys", Type::Bytes(160), GARBLER)?;
    let iv = p.input("iv", Type::Bytes(16), GARBLER)?;
    let message = p.input("message", Type::Bytes(16 * blocks as u32), EVALUATOR)?;
    let mut state = iv;
    let mut all = Vec::new();
    for block in 0..blocks {
        state = p.instance(xor, &[&message.slice(128 * block, Type::Bytes(16)), &state])?.remove(0);
        for k in 0..10 {
            let of = if k < 9 { round } else { last };
            state = p.instance(of, &[&state, &keys.slice(128 * k, Type::Bytes(16))])?.remove(0);
        }
        all.push(state.clone());
    }
    let ciphertext = Values::concat(Type::Bytes(16 * blocks as u32), &all);
    p.output("ciphertext", &ciphertext, Recipients::Only(vec![EVALUATOR]))?;
    Ok(p.finish())
}

/// Blocks in counter mode with the rounds of [`aes`]; the garbler gives key and counters.
fn ctr(parts: &Parts, blocks: u64) -> Result<Program, CircuitError> {
    let mut p = ProgramBuilder::new("AES in counter mode");
    let [round, last] = [p.component(parts.round.clone()), p.component(parts.last.clone())];
    let xor = p.component(parts.xor.clone());
    let keys = p.input("round_keys", Type::Bytes(160), GARBLER)?;
    let counters = p.input("counters", Type::Bytes(16 * blocks as u32), GARBLER)?;
    let message = p.input("message", Type::Bytes(16 * blocks as u32), EVALUATOR)?;
    let mut all = Vec::new();
    for block in 0..blocks {
        let mut state = counters.slice(128 * block, Type::Bytes(16));
        for k in 0..10 {
            let of = if k < 9 { round } else { last };
            state = p.instance(of, &[&state, &keys.slice(128 * k, Type::Bytes(16))])?.remove(0);
        }
        all.push(p.instance(xor, &[&message.slice(128 * block, Type::Bytes(16)), &state])?.remove(0));
    }
    let ciphertext = Values::concat(Type::Bytes(16 * blocks as u32), &all);
    p.output("ciphertext", &ciphertext, Recipients::Only(vec![EVALUATOR]))?;
    Ok(p.finish())
}

/// The edit distance of strings of bytes: a grid of cells, and a chain that counts along its last row.
fn edit_distance(parts: &Parts, rows: u32, columns: u32) -> Result<Program, CircuitError> {
    let mut p = Program::new("edit distance");
    let [cell, count] = [p.add_component(parts.cell.clone()), p.add_component(parts.count.clone())];
    let a = p.add_input(Port::new("a", Type::Bytes(rows)), GARBLER)?;
    let b = p.add_input(Port::new("b", Type::Bytes(columns)), EVALUATOR)?;
    let symbol = |of, k: u32| Link { source: Source::Input(of), start: 8 * k, len: 8 };
    let constant = |value, len| Link { source: Source::Constant(value), start: 0, len };
    let out = |of, start, len| Link { source: Source::Instance(of), start, len };
    let mut cells: Vec<InstanceId> = Vec::new();
    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
        let at = (i * columns + j) as usize;
        let left = if j == 0 { constant(true, 2) } else { out(cells[at - 1], 0, 2) };
        let top = if i == 0 { constant(true, 2) } else { out(cells[at - columns as usize], 2, 2) };
        cells.push(p.add_instance(cell, &[symbol(a, i), symbol(b, j), left, top])?);
    }
    // Down the left side it is the number of rows; from there the last row's edges count.
    let mut sum: Vec<Link> = (0..DISTANCE).map(|bit| constant(rows >> bit & 1 == 1, 1)).collect();
    for below in &cells[((rows - 1) * columns) as usize..] {
        let links: Vec<Link> = std::iter::once(out(*below, 2, 2)).chain(sum).collect();
        let counted = p.add_instance(count, &links)?;
        sum = vec![out(counted, 0, DISTANCE)];
    }
    let to = Recipients::Only(vec![EVALUATOR]);
    p.add_output(Port::new("distance", Type::Unsigned(DISTANCE)), to, sum)?;
    Ok(p)
}

/// The library for a number of runs of every function with every way of linking.
pub(super) fn library_for(runs: u64) -> Result<Library, Failure> {
    let parts = Parts::new()?;
    let mut all = Library::new();
    // Once for standard and once for keyed links.
    let twice = 2 * runs;
    let xor = all.add_type("xor", parts.xor, twice * 19 + 6 * runs + 20);
    let round = all.add_type("round", parts.round, twice * 180 + 200);
    let last = all.add_type("last", parts.last, twice * 20 + 20);
    all.add_type("schedule", parts.schedule, 3 * runs);
    let cell = all.add_type("cell", parts.cell, twice * 5197);
    let count = all.add_type("count", parts.count, twice * 131);
    all.set_input_bits(16 * 3 * runs * 640);
    let block = |start| Wires { start, len: 128 };
    let joined = |from, to: TypeId, start| Connection { from: (from, block(0)), to: (to, block(start)) };
    let keyed = |from, to: TypeId, start, window, every, offset| KeyedLink {
        from,
        side: Side::Output,
        source: block(0),
        to,
        target: block(start),
        window,
        every,
        offset,
    };
    let shared = |ty, wires, offset| KeyedLink {
        from: ty,
        side: Side::Input,
        source: wires,
        to: ty,
        target: wires,
        window: 1,
        every: [1, 1],
        offset,
    };
    all.add_keyed(keyed(xor, round, 0, 1, [1, 9], 0));
    all.add_keyed(keyed(round, round, 0, 1, [1, 1], 1));
    all.add_keyed(keyed(round, last, 0, 2, [9, 1], 0));
    all.add_keyed(keyed(last, xor, 128, 2, [1, 1], 1));
    all.add_keyed(shared(round, block(128), 9));
    all.add_keyed(shared(last, block(128), 1));
    let wires = |start, len| Wires { start, len };
    let right = KeyedLink { source: wires(0, 2), target: wires(16, 2), ..keyed(cell, cell, 0, 1, [1, 1], 1) };
    all.add_keyed(right);
    all.add_keyed(shared(cell, wires(0, 8), 1));

    let rounds: Vec<TypeId> = std::iter::repeat_n(round, 9).chain([last]).collect();
    let next = vec![joined(round, round, 0), joined(round, last, 0)];
    let pattern = std::iter::once(xor).chain(rounds.iter().copied()).collect();
    let cbc = [joined(xor, round, 0), joined(last, xor, 128)].into_iter().chain(next.iter().copied()).collect();
    let shared = vec![(round, block(128)), (last, block(128))];
    let cbc = Shape::Chain(Chain { pattern, length: 176, next: cbc, shared });
    all.add_template(Template::new("CBC", 3 * runs, cbc));
    let aes = Chain { pattern: rounds, length: 10, next, shared: Vec::new() };
    all.add_template(Template::new("AES", 7 * runs, Shape::Chain(aes)));
    all.add_template(Template::new("edit distance", 3 * runs, grid(cell, count)));
    Ok(all)
}

fn grid(cell: TypeId, count: TypeId) -> Shape {
    let wires = |start, len| Wires { start, len };
    let link = |from, to| Connection { from: (cell, from), to: (cell, to) };
    let border = |start| vec![Border { wires: wires(start, 2), values: vec![true; 2] }];
    let foot = Foot {
        cell: count,
        down: vec![Connection { from: (cell, wires(2, 2)), to: (count, wires(0, 2)) }],
        right: vec![Connection { from: (count, wires(0, DISTANCE)), to: (count, wires(2, DISTANCE)) }],
    };
    Shape::Grid(Grid {
        cell,
        size: [64, 64],
        right: vec![link(wires(0, 2), wires(16, 2))],
        down: vec![link(wires(2, 2), wires(18, 2))],
        diagonal: Vec::new(),
        row_shared: vec![wires(0, 8)],
        column_shared: vec![wires(8, 8)],
        left_border: border(16),
        top_border: border(18),
        foot: Some(foot),
    })
}
