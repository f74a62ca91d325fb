//! Programs linked in every way give the same results, at the cost that each way has.

use garblet_circuit::{Link, Party, Port, Recipients, Source, Type, random};
use garblet_garble::Sources;
use garblet_synthesis::builder::ProgramBuilder;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;
use crate::tests::invariant::{check_all, rounds_library};
use crate::{evaluation::steps::Steps, library::template::Part, run};

/// So many rounds of AES; the block is the evaluator's, the keys are the garbler's.
pub(crate) fn rounds(count: usize) -> Arc<Program> {
    let mut p = ProgramBuilder::new("rounds");
    let round = p.component(component("aes-round"));
    let mut state = p.input("block", Type::Bytes(16), EVALUATOR).unwrap();
    for k in 0..count {
        let key = p.input(format!("key{k}"), Type::Bytes(16), GARBLER).unwrap();
        state = p.instance(round, &[&state, &key]).unwrap().remove(0);
    }
    p.output("state", &state, Recipients::All).unwrap();
    Arc::new(p.finish())
}

/// Keyed links from the first output of a type to its first input of the same width, and along an input.
pub(crate) fn link_everything(library: &mut Library, ty: TypeId) {
    let component = library.component_type(ty).component.clone();
    let wires = |ports: &[Port]| (0..ports.len()).map(|p| Wires::of_port(ports, p)).collect::<Vec<_>>();
    let (ins, outs) = (wires(component.inputs()), wires(component.outputs()));
    let base = KeyedLink {
        from: ty,
        side: Side::Input,
        source: ins[0],
        to: ty,
        target: ins[0],
        window: 3,
        every: [1, 1],
        offset: 1,
    };
    library.add_keyed(base);
    for source in outs {
        if let Some(target) = ins.iter().find(|wires| wires.len == source.len) {
            library.add_keyed(KeyedLink { side: Side::Output, source, target: *target, ..base });
        }
    }
}

/// The edit distance of strings by a grid of cells and a chain that counts along its last row.
pub(crate) fn edit_distance(rows: u32, columns: u32, bits: u32) -> Arc<Program> {
    let mut p = Program::new("edit distance");
    let cell = p.add_component(component(&format!("levenshtein-cell({bits})")));
    let count = p.add_component(counter());
    let a = p.add_input(Port::new("a", Type::Bits(rows * bits)), GARBLER).unwrap();
    let b = p.add_input(Port::new("b", Type::Bits(columns * bits)), EVALUATOR).unwrap();
    let symbol = |of, k: u32| Link { source: Source::Input(of), start: k * bits, len: bits };
    let mut cells: Vec<InstanceId> = Vec::new();
    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
        let border = Link { source: Source::Constant(true), start: 0, len: 2 };
        let left = match j {
            0 => border,
            _ => Link { source: Source::Instance(cells[cells.len() - 1]), start: 0, len: 2 },
        };
        let top = match i {
            0 => border,
            _ => Link { source: Source::Instance(cells[cells.len() - columns as usize]), start: 2, len: 2 },
        };
        cells.push(p.add_instance(cell, &[symbol(a, i), symbol(b, j), left, top]).unwrap());
    }
    let mut sum: Vec<Link> = (0..8).map(|bit| constant(rows >> bit & 1 == 1)).collect();
    for j in 0..columns {
        let below = cells[((rows - 1) * columns + j) as usize];
        let mut links = vec![Link { source: Source::Instance(below), start: 2, len: 2 }];
        links.extend(&sum);
        let counted = p.add_instance(count, &links).unwrap();
        sum = vec![p.instance_link(counted)];
    }
    p.add_output(Port::new("distance", Type::Unsigned(8)), Recipients::All, sum).unwrap();
    Arc::new(p)
}

fn constant(value: bool) -> Link {
    Link { source: Source::Constant(value), start: 0, len: 1 }
}

/// Adds a difference, one more than it in unary, to a number of eight bits.
fn counter() -> Arc<Component> {
    use garblet_synthesis::builder::{BitString, CircuitBuilder, Integer, Unsigned};
    let mut c = CircuitBuilder::new("count");
    let edge: BitString = c.input("edge", Type::Bits(2));
    let sum: Unsigned = c.input("sum", Type::Unsigned(8));
    // Plus the number of ones, less one.
    let terms = [sum, Unsigned::new(vec![edge.0[0]]), Unsigned::new(vec![edge.0[1]]), Unsigned::constant(255, 8)];
    let sum = c.sum(&terms, 8);
    c.output("sum", &sum);
    Arc::new(c.finish().unwrap())
}

/// A grid with a foot, for strings of at most this many symbols.
pub(crate) fn edit_library(most: [u32; 2], bits: u32, singles: u64) -> Library {
    let mut library = Library::new();
    let cell = library.add_type("cell", component(&format!("levenshtein-cell({bits})")), singles);
    let count = library.add_type("count", counter(), singles);
    let wires = |start, len| Wires { start, len };
    let link = |from, to| Connection { from: (cell, from), to: (cell, to) };
    let edge = 2 * bits;
    let border = |start| vec![Border { wires: wires(start, 2), values: vec![true; 2] }];
    let foot = Foot {
        cell: count,
        down: vec![Connection { from: (cell, wires(2, 2)), to: (count, wires(0, 2)) }],
        right: vec![Connection { from: (count, wires(0, 8)), to: (count, wires(2, 8)) }],
    };
    let grid = Grid {
        cell,
        size: most,
        right: vec![link(wires(0, 2), wires(edge, 2))],
        down: vec![link(wires(2, 2), wires(edge + 2, 2))],
        diagonal: Vec::new(),
        row_shared: vec![wires(0, bits)],
        column_shared: vec![wires(bits, bits)],
        left_border: border(edge),
        top_border: border(edge + 2),
        foot: Some(foot),
    };
    library.add_template(Template::new("grid", 2, Shape::Grid(grid)));
    library.set_input_bits(1024);
    library
}

fn distance(a: &[bool], b: &[bool], bits: usize) -> u128 {
    let (a, b): (Vec<_>, Vec<_>) = (a.chunks(bits).collect(), b.chunks(bits).collect());
    let mut row: Vec<u128> = (0..=b.len() as u128).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i as u128 + 1];
        for (j, y) in b.iter().enumerate() {
            next.push((row[j] + u128::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1));
        }
        row = next;
    }
    row[b.len()]
}

#[test]
fn grids_of_any_size_come_from_one_template_with_four_blocks() {
    let library = edit_library([7, 6], 3, 0);
    let run = |rows: u32, columns: u32| {
        let program = edit_distance(rows, columns, 3);
        let mut rng = StdRng::seed_from_u64(u64::from(rows * 100 + columns));
        let inputs: Vec<Bits> = [rows, columns].map(|n| (0..3 * n).map(|_| rng.random_ratio(1, 4)).collect()).to_vec();
        let plain = evaluate(&program, &inputs);
        let text = |k: usize| inputs[k].iter().collect::<Vec<bool>>();
        assert_eq!(plain[0].to_u128().unwrap(), distance(&text(0), &text(1), 3));
        (program, inputs)
    };
    let plans = block_on(check_all(&library, Config::default(), &[run(7, 6), run(3, 5)]));
    for (plan, [a, b]) in plans.iter().zip([[7, 6], [3, 5]]) {
        assert_eq!(plan.uses.len(), 1);
        assert_eq!(plan.uses[0].part, Part::Rectangle(a, b, true));
        // What is left are the evaluator's symbols in the first row, and the number that the count begins with.
        assert_eq!(plan.sent_links, 3 * b as usize + 8);
        assert!(plan.keyed.is_empty() && plan.broken.is_empty());
    }
}

#[test]
fn four_cells_of_a_diagonal_are_fed_by_labels_side_by_side() {
    let library = edit_library([12, 12], 3, 0);
    let program = edit_distance(12, 11, 3);
    let inputs = vec![Bits::from_u128(0x3_1234_5678, 36), Bits::from_u128(0x1_9876_5432, 33)];
    let plans = block_on(check_all(&library, Config::default(), &[(program, inputs)]));
    let steps = Steps::new(&plans[0], &Material::new(library, Default::default())).unwrap();
    let (mut ascending, mut descending) = (0, 0);
    for feed in steps.by_group().flat_map(|(_, _, feeds)| feeds) {
        match feed.from {
            // Constants of a border are among them.
            Sources::Strided(_, stride) => assert!(feed.slot >= 6 && stride.contains(&0)),
            Sources::Contiguous { reversed: false, .. } => ascending += 1,
            Sources::Contiguous { reversed: true, .. } => descending += 1,
        }
    }
    // Symbols of rows go down a diagonal, symbols of columns up.
    assert!(descending >= 12 * 11 / 4 && ascending > descending, "{ascending} and {descending}");
}

/// The same with a link for every input that cells have in common.
fn severable(library: &Library) -> Library {
    let mut severable = Library::new();
    library.types().iter().for_each(|ty| _ = severable.add_type(&ty.name, ty.component.clone(), ty.count));
    for template in library.templates() {
        let Shape::Grid(grid) = template.shape() else { panic!("a grid") };
        let grid = Grid { row_shared: Vec::new(), column_shared: Vec::new(), ..grid.clone() };
        severable.add_template(Template::new(&template.name, template.count, Shape::Grid(grid)));
    }
    severable.set_input_bits(library.input_bits());
    severable
}

#[test]
fn a_template_is_given_up_where_only_its_cells_are_wanted() {
    let library = severable(&edit_library([4, 4], 2, 0));
    let program = edit_distance(3, 3, 2);
    let inputs = vec![Bits::from_u128(0b011011, 6), Bits::from_u128(0b110001, 6)];
    for (linking, broken) in [(Linking::Standard, 1), (Linking::Keyed, 1), (Linking::Cheapest, 0)] {
        let config = Config { linking, ..Config::default() };
        let plans = block_on(check_all(&library, config, &[(program.clone(), inputs.clone())]));
        assert_eq!((plans[0].broken.len(), plans[0].uses.len()), (broken, 1 - broken));
    }
}

#[test]
fn cells_with_labels_in_common_serve_together_once_and_go_with_their_template() {
    let library = edit_library([4, 4], 2, 0);
    let program = edit_distance(3, 3, 2);
    let inputs = random::inputs(&mut StdRng::seed_from_u64(8), &program);
    block_on(async {
        for linking in [Linking::Standard, Linking::Keyed] {
            let mut pair = Pair::prepared(&library, Config { linking, ..Config::default() }).await;
            let (mine, theirs) = pair.build(&program).await;
            let expected =
                "the stores lack 9 of the 9 cell that the program takes, 3 of the 3 count that the program takes";
            for error in [mine.err(), theirs.err()] {
                assert_eq!(error.map(|e| e.to_string()).as_deref(), Some(expected));
            }
        }
        let mut pair = Pair::prepared(&library, Config::default()).await;
        let cells = |pair: &Pair| {
            let material = pair.garbler.1.material();
            let kind = material.stored(Kind::Cell(0));
            [pair.garbler.1.store().count(&kind), pair.evaluator.1.store().count(&kind)]
        };
        assert_eq!(cells(&pair), [2 * 20; 2]);
        pair.run(&program, &inputs).await;
        let stores = [pair.garbler.1.into_store(), pair.evaluator.1.into_store()];
        let mut pair = Pair::meet(&library, Config::default(), stores).await;
        assert_eq!(cells(&pair), [20; 2]);
        pair.run_at_once(&program, &inputs).await;
        let (mine, theirs) = pair.build(&program).await;
        assert!(mine.is_err() && theirs.is_err());
    });
}

#[test]
fn trees_are_matched_from_their_root() {
    let mut library = Library::new();
    let min = library.add_type("min", component("min(8)"), 3);
    let wires = |start| Wires { start, len: 8 };
    let child = |start| Connection { from: (min, wires(0)), to: (min, wires(start)) };
    let tree = Tree { cell: min, levels: 4, children: vec![child(0), child(8)] };
    library.add_template(Template::new("tree", 1, Shape::Tree(tree)));
    library.set_input_bits(64);
    let mut p = ProgramBuilder::new("least");
    let cell = p.component(component("min(8)"));
    let mut row: Vec<_> = (0..8).map(|k| p.input(format!("x{k}"), Type::Unsigned(8), Party(k % 2)).unwrap()).collect();
    while row.len() > 1 {
        row = row.chunks(2).map(|two| p.instance(cell, &[&two[0], &two[1]]).unwrap().remove(0)).collect();
    }
    p.output("least", &row[0], Recipients::All).unwrap();
    let program = Arc::new(p.finish());
    let inputs = random::inputs(&mut StdRng::seed_from_u64(1), &program);
    let plans = block_on(check_all(&library, Config::default(), &[(program, inputs)]));
    assert_eq!(plans[0].uses[0].part, Part::Levels(3));
    // The evaluator's four numbers; the garbler's choose the labels themselves.
    assert_eq!(plans[0].sent_links, 4 * 8);
}

#[test]
fn costs_of_each_way() {
    let (library, _) = rounds_library();
    let program = rounds(5);
    let inputs = random::inputs(&mut StdRng::seed_from_u64(2), &program);
    let cost = |linking| {
        let config = Config { linking, ..Config::default() };
        let plans = block_on(check_all(&library, config, &[(program.clone(), inputs.clone())]));
        (plans[0].sent_links, plans[0].keyed.len(), plans[0].uses.len())
    };
    assert_eq!(cost(Linking::Standard), (128 + 4 * 128, 0, 0));
    assert_eq!(cost(Linking::Keyed), (128, 4, 0));
    assert_eq!(cost(Linking::Cheapest), (128, 0, 1));
}

#[test]
fn templates_are_left_alone_where_keys_serve_more_links() {
    let (mut library, round) = rounds_library();
    let key = Wires { start: 128, len: 128 };
    // Two blocks under the same keys: the second chain of rounds is likely to be two components on.
    library.add_keyed(KeyedLink {
        from: round,
        side: Side::Input,
        source: key,
        to: round,
        target: key,
        window: 1,
        every: [1, 1],
        offset: 2,
    });
    let mut p = ProgramBuilder::new("two blocks");
    let of = p.component(component("aes-round"));
    let keys: Vec<_> = (0..2).map(|k| p.input(format!("key{k}"), Type::Bytes(16), GARBLER).unwrap()).collect();
    for block in 0..2 {
        let mut state = p.input(format!("block{block}"), Type::Bytes(16), EVALUATOR).unwrap();
        for key in &keys {
            state = p.instance(of, &[&state, key]).unwrap().remove(0);
        }
        p.output(format!("state{block}"), &state, Recipients::All).unwrap();
    }
    let program = Arc::new(p.finish());
    let inputs = random::inputs(&mut StdRng::seed_from_u64(3), &program);
    let plans = block_on(check_all(&library, Config::default(), &[(program, inputs)]));
    assert_eq!((plans[0].sent_links, plans[0].keyed.len(), plans[0].uses.len()), (2 * 128, 4, 0));
}

#[test]
fn a_program_given_with_its_inputs_takes_and_sends_the_same() {
    let (library, _) = rounds_library();
    let program = rounds(6);
    let inputs = random::inputs(&mut StdRng::seed_from_u64(4), &program);
    block_on(async {
        let mut seen = Vec::new();
        for at_once in [false, true] {
            let mut pair = Pair::prepared(&library, Config::default()).await;
            match at_once {
                false => pair.run(&program, &inputs).await,
                true => pair.run_at_once(&program, &inputs).await,
            }
            let (session, evaluator) = &mut pair.evaluator;
            let costs = session.costs();
            let stock = evaluator.store().stock().into_iter();
            let taken: Vec<_> = stock.map(|stock| (stock.kind.to_string(), stock.available)).collect();
            seen.push((taken, costs.build.communication, costs.online.communication));
        }
        assert_eq!(seen[0], seen[1]);
    });
}

#[test]
fn stores_are_used_to_the_last_component() {
    let (library, _) = rounds_library();
    let inputs = |program: &Program| random::inputs(&mut StdRng::seed_from_u64(5), program);
    block_on(async {
        let mut pair = Pair::prepared(&library, Config::default()).await;
        // First templates, then single rounds, then leftover cells of templates.
        let mut left = 16;
        while left > 0 {
            let evaluator = &pair.evaluator.1;
            let (store, material) = (evaluator.store(), evaluator.material());
            let can_run =
                |count: &usize| run::draft(store, material, Config::default(), &rounds(*count)).unwrap().is_ok();
            assert_eq!((1..20).filter(can_run).count(), left);
            let program = rounds(left.min(3));
            pair.run_at_once(&program, &inputs(&program)).await;
            left -= left.min(3);
        }
    });
}

#[test]
fn missing_components_are_named_and_can_be_made() {
    let (library, _) = rounds_library();
    let program = rounds(20);
    let inputs = random::inputs(&mut StdRng::seed_from_u64(2), &program);
    block_on(async {
        let mut pair = Pair::prepared(&library, Config::default()).await;
        let (mine, theirs) = pair.build(&program).await;
        let expected = "the stores lack 4 of the 20 round that the program takes";
        assert_eq!(mine.err().map(|e| e.to_string()).as_deref(), Some(expected));
        assert_eq!(theirs.err().map(|e| e.to_string()).as_deref(), Some(expected));
        let config = Config { top_up: true, ..Config::default() };
        Pair::prepared(&library, config).await.run(&program, &inputs).await;
        Pair::prepared(&library, config).await.run_at_once(&program, &inputs).await;
    });
}

#[test]
fn a_component_missing_from_the_library_is_named() {
    let (library, _) = rounds_library();
    let mut p = ProgramBuilder::new("other");
    let other = p.component(component("aes-last-round"));
    let block = p.input("block", Type::Bytes(16), EVALUATOR).unwrap();
    let state = p.instance(other, &[&block, &block]).unwrap().remove(0);
    p.output("state", &state, Recipients::All).unwrap();
    let program = Arc::new(p.finish());
    block_on(async {
        let mut pair = Pair::prepared(&library, Config::default()).await;
        let (mine, theirs) = pair.build(&program).await;
        for error in [mine.err(), theirs.err()] {
            let text = error.map(|e| e.to_string());
            let expected = "component `aes-last-round` is not in the library, which has `round`";
            assert_eq!(text.as_deref(), Some(expected));
        }
    });
}
