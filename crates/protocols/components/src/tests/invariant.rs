//! The limits of the evaluator's knowledge: the wires whose zero labels' differences it may know.
//!
//! Labels of two wires whose difference is known reveal whether the wires carry the same value. So the wires that
//! opened links connect must carry the same value anyway, and belong to this run alone.

use std::collections::{HashMap, HashSet};

use garblet_circuit::random;
use garblet_ot::BitVec;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::library::template::EdgeSource;
use crate::linking::plan::{Origin, Plan};
use crate::pieces::keys::{LinkKeys, Masks, Reveal};
use crate::pieces::material::Place;

/// Rounds of AES that are linked by keys or in a chain.
pub(crate) fn rounds_library() -> (Library, TypeId) {
    let mut library = Library::new();
    let round = library.add_type("round", component("aes-round"), 6);
    let wires = Wires { start: 0, len: 128 };
    let connection = Connection { from: (round, wires), to: (round, wires) };
    library.add_keyed(KeyedLink {
        from: round,
        side: Side::Output,
        source: wires,
        to: round,
        target: wires,
        window: 2,
        every: [1, 1],
        offset: 1,
    });
    let chain = Chain { pattern: vec![round], length: 5, next: vec![connection], shared: Vec::new() };
    library.add_template(Template::new("chain", 2, Shape::Chain(chain)));
    library.set_input_bits(1024);
    (library, round)
}

/// Joins both parties' prepared material without a channel: returns the evaluator's active labels of all wires.
pub(crate) fn active_labels(
    pair: &Pair,
    mine: GarblerPrepared,
    theirs: EvaluatorPrepared,
    inputs: &[Bits],
) -> (Vec<Block>, Plan) {
    let View { active, plan, .. } = view(pair, mine, theirs, inputs);
    (active, plan)
}

struct View {
    plan: Plan,
    zero: Vec<Block>,
    active: Vec<Block>,
    links: Vec<Block>,
    /// The keys that open templates.
    reveals: Vec<Block>,
}

fn view(pair: &Pair, mine: GarblerPrepared, theirs: EvaluatorPrepared, inputs: &[Bits]) -> View {
    let (garbler, evaluator) = (&pair.garbler.1, &pair.evaluator.1);
    let GarblerPrepared { plan, labels: mut zero, keys, transfers, .. } = mine;
    let EvaluatorPrepared { plan: same, mut work, transfers: received, .. } = theirs;
    assert_eq!((&plan.feeds, &plan.tasks, &plan.uses), (&same.feeds, &same.tasks, &same.uses));
    let own = |party| {
        let mut joined = Bits::default();
        let of_party = plan.program.inputs().iter().zip(inputs).filter(|(input, _)| input.owner == party);
        of_party.for_each(|(_, bits)| joined.append(bits));
        joined
    };
    let bits = own(EVALUATOR);
    let choices = BitVec::from_bytes(bits.to_bytes(), bits.len()).unwrap();
    let (corrections, blocks) = received.correct_by(&choices).unwrap();
    crate::run::put_inputs(&plan, EVALUATOR, &blocks, &mut work.labels);
    crate::run::put_inputs(&plan, EVALUATOR, &transfers.correct_by(&corrections).unwrap(), &mut zero);
    let reveal_count: usize = plan.uses.iter().map(|used| used.part.reveal_blocks()).sum();
    let reveals = keys[..reveal_count].to_vec();
    let message = crate::garbler::message(garbler.material(), &garbler.side.secrets, &plan, &zero, keys, &own(GARBLER));
    work.open(evaluator.material(), &plan, &message).unwrap();
    work.evaluate(evaluator.material());
    let mut active: Vec<Block> = (0..plan.first_input).map(|label| work.label(label)).collect();
    let links = work.links.to_vec();
    // Evaluation keeps the labels of inputs only where it needs them later, and only so long.
    active.resize(plan.labels, Block::ZERO);
    for feed in &plan.feeds {
        for i in 0..feed.len {
            let link = feed.link.map_or(Block::ZERO, |link| links[link + i]);
            active[feed.to + i] = match feed.from {
                Origin::Labels(from) => active[from + i] ^ link,
                Origin::Constant(_) => link,
            };
        }
    }
    View { plan, zero: zero.to_vec(), active, links, reveals }
}

/// Values of all labels of a plan.
fn values(plan: &Plan, inputs: &[Bits]) -> Vec<bool> {
    let mut values = vec![false; plan.labels];
    for (first, bits) in plan.inputs.iter().zip(inputs) {
        bits.iter().enumerate().for_each(|(i, bit)| values[first + i] = bit);
    }
    for (instance, [ins, outs]) in plain(&plan.program, inputs).into_iter().enumerate() {
        let (_, input, output) = plan.tasks[plan.task_of[instance]];
        values[input..][..ins.len()].copy_from_slice(&ins);
        values[output..][..outs.len()].copy_from_slice(&outs);
    }
    values
}

/// Checks a run, and returns the templates' cells and components that links of it touch.
fn check(view: &View, pair: &Pair, inputs: &[Bits]) {
    let View { plan, zero, active, links, reveals } = view;
    let values = values(plan, inputs);
    let delta = pair.garbler.1.side.secrets.delta.block();
    for (wire, value) in values.iter().enumerate() {
        assert!(active[wire] == zero[wire] ^ (Block::mask(*value) & delta), "label {wire}");
    }
    // Every link that the evaluator has joins wires of the same value, and is correct.
    for feed in &plan.feeds {
        let Some(link) = feed.link else {
            // Nor does a label that two wires have in common tell them apart.
            let Origin::Labels(from) = feed.from else { panic!("a constant without a link") };
            assert!(zero[from..][..feed.len] == zero[feed.to..][..feed.len]);
            assert_eq!(values[from..][..feed.len], values[feed.to..][..feed.len]);
            continue;
        };
        for i in 0..feed.len {
            let (from, value) = match feed.from {
                Origin::Labels(from) => (zero[from + i], values[from + i]),
                Origin::Constant(value) => (Block::mask(value) & delta, value),
            };
            let expected = match feed.from {
                // The zero label of a constant is delta if it is true: the link leads to the label of its value.
                Origin::Constant(value) => zero[feed.to + i] ^ (Block::mask(value) & delta),
                Origin::Labels(_) => from ^ zero[feed.to + i],
            };
            assert!(links[link + i] == expected);
            assert_eq!(value, values[feed.to + i], "a link joins wires of different values");
        }
    }
    check_reveals(plan, pair, reveals, &values);
}

/// Checks that the links that a reveal opens, by the keys that follow from it, join only cells of this run, and wires of the same value.
fn check_reveals(plan: &Plan, pair: &Pair, reveals: &[Block], values: &[bool]) {
    let mut reveals = reveals;
    for used in &plan.uses {
        let (own, later) = reveals.split_at(used.part.reveal_blocks());
        reveals = later;
        let template = &pair.garbler.1.material().library().templates()[used.template as usize];
        let reveal = Reveal::from_blocks(used.part, own).unwrap();
        let keys = LinkKeys::revealed(used.part, &reveal).unwrap();
        for group in template.groups() {
            let masks = Masks::new(std::iter::once((group.opens, group.blocks)));
            let opens = keys.mask(&masks, &mut vec![Block::ZERO; group.blocks]);
            assert_eq!(opens, used.part.opens(group.opens), "{:?} of {:?}", group.opens, used.part);
            for edge in group.edges.iter().filter(|_| opens) {
                let task = |cell: u32| plan.tasks[plan.task_of[used.instance(cell).unwrap().0 as usize]];
                let to = task(edge.cell).1 + edge.wires.start as usize;
                for i in 0..edge.wires.len as usize {
                    let value = match edge.source {
                        EdgeSource::Output(cell, start) => values[task(cell).2 + start as usize + i],
                        EdgeSource::Input(cell, start) => values[task(cell).1 + start as usize + i],
                        EdgeSource::Constant(value) => value,
                    };
                    assert_eq!(value, values[to + i]);
                }
            }
        }
    }
}

/// The values of the labels that the evaluator has seen: from two labels of one wire it would have delta.
#[derive(Clone, Default)]
struct Seen(HashMap<[u8; 16], (usize, bool)>);

impl Seen {
    /// Adds the value of the wire with a zero label in a run; says whether the wire belongs to that run alone and has one
    /// value.
    fn add(&mut self, run: usize, zero: Block, value: bool) -> bool {
        *self.0.entry(zero.to_bytes()).or_insert((run, value)) == (run, value)
    }
}

/// The zero labels of the inputs of all cells of a template, as they are garbled.
fn garbled_inputs(pair: &Pair, number: u32, id: u64) -> Vec<Vec<Block>> {
    let (garbler, material) = (&pair.garbler.1, pair.garbler.1.material());
    let template = &material.library().templates()[number as usize];
    let mut streams = garbler.side.secrets.streams(material);
    let mut cells: Vec<Vec<Block>> = (0u64..)
        .zip(template.cells())
        .map(|(cell, ty)| {
            let place = Place { kind: Kind::Cell(number), id: id * material.cells(number) + cell };
            let mut labels = vec![Block::ZERO; material.instances(*ty).input_count()];
            streams.inputs(material, place, 0, &mut labels);
            labels
        })
        .collect();
    for common in template.common() {
        let of = cells[common.of as usize].clone();
        let wires = common.wires.start as usize..(common.wires.start + common.wires.len) as usize;
        cells[common.cell as usize][wires.clone()].copy_from_slice(&of[wires]);
    }
    cells
}

/// Runs programs one after another on one pair of stores, checking each, and that no piece and no wire serves twice.
pub(crate) async fn check_all(library: &Library, config: Config, runs: &[(Arc<Program>, Vec<Bits>)]) -> Vec<Plan> {
    let mut pair = Pair::prepared(library, config).await;
    let (mut used, mut seen) = (HashSet::new(), Seen::default());
    let mut plans = Vec::new();
    for (number, (program, inputs)) in runs.iter().enumerate() {
        let (mine, theirs) = pair.build(program).await;
        let view = view(&pair, mine.unwrap(), theirs.unwrap(), inputs);
        check(&view, &pair, inputs);
        for (place, ..) in &view.plan.tasks {
            assert!(used.insert(*place), "{place:?} serves twice");
        }
        for (zero, value) in view.zero.iter().zip(values(&view.plan, inputs)) {
            assert!(seen.add(number, *zero, value), "a wire is active twice");
        }
        plans.push(view.plan);
    }
    plans
}

#[test]
fn links_of_random_programs_join_equal_wires() {
    let mut rng = StdRng::seed_from_u64(3);
    for case in 0..40 {
        let program = Arc::new(random::program(&mut rng, 40, 2));
        let inputs = random::inputs(&mut rng, &program);
        let mut library = Library::of_program(&program);
        for ty in 0..library.types().len() as u32 {
            crate::tests::linking::link_everything(&mut library, TypeId(ty));
        }
        let linking = [Linking::Standard, Linking::Keyed, Linking::Cheapest][case % 3];
        block_on(check_all(&library, Config { linking, ..Config::default() }, &[(program, inputs)]));
    }
}

#[test]
fn a_cell_that_has_labels_in_common_with_a_used_one_would_give_delta_away() {
    let library = crate::tests::linking::edit_library([4, 4], 2, 0);
    let program = crate::tests::linking::edit_distance(2, 2, 2);
    let inputs = [Bits::from_u128(0b0110, 4), Bits::from_u128(0b1100, 4)];
    block_on(async {
        let mut pair = Pair::prepared(&library, Config::default()).await;
        let (mine, theirs) = pair.build(&program).await;
        let view = view(&pair, mine.unwrap(), theirs.unwrap(), &inputs);
        check(&view, &pair, &inputs);
        let mut seen = Seen::default();
        for (zero, value) in view.zero.iter().zip(values(&view.plan, &inputs)) {
            assert!(seen.add(0, *zero, value));
        }
        let used = &view.plan.uses[0];
        let Shape::Grid(grid) = library.templates()[0].shape() else { panic!("a grid") };
        let labels = garbled_inputs(&pair, used.template, used.id);
        for (i, j) in (1..=4).flat_map(|i| (1..=4).map(move |j| (i, j))) {
            let cell = grid.cell_at(i, j);
            let labels = &labels[cell as usize];
            if let Some(instance) = used.instance(cell) {
                let task = view.plan.tasks[view.plan.task_of[instance.0 as usize]];
                assert!(view.zero[task.1..][..labels.len()] == labels[..]);
                continue;
            }
            // A run in which this cell served alone is noticed, unless it is in another row and another column.
            let mut again = seen.clone();
            let found = !labels.iter().all(|label| again.add(1, *label, true));
            assert_eq!(found, i <= 2 || j <= 2, "({i}, {j})");
        }
    });
}

#[test]
fn partly_used_chains_leave_cells_that_serve_alone() {
    let (library, _) = rounds_library();
    let run = |count: usize| {
        let program = crate::tests::linking::rounds(count);
        let inputs = random::inputs(&mut StdRng::seed_from_u64(count as u64), &program);
        (program, inputs)
    };
    let runs = [run(3), run(1), run(5), run(4), run(1)];
    let plans = block_on(check_all(&library, Config::default(), &runs));
    assert_eq!(plans.iter().map(|plan| plan.uses.len()).collect::<Vec<_>>(), [1, 0, 1, 0, 0]);
    // The fourth run has keyed links among the six single rounds; the fifth takes the rest.
    assert!(!plans[3].keyed.is_empty());
}
