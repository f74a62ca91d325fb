//! The attacks succeed against the literal form, and fail against ours.

use garblet_primitives::Delta;
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::SliceRandom};

use super::{
    deviations::{adder, found, values},
    *,
};
use crate::partialgc::{
    as_published::{LiteralKeys, forwarded_blinds},
    split::{Branch, GeneratorKeys},
};

const CIRCUITS: usize = 16;

/// A circuit's seed gives delta and the zero labels of the generator's wires.
fn labels(seed: Block, wires: usize) -> (Delta, Vec<Block>) {
    let mut rng = Prg::new(seed);
    (Delta::random(&mut rng), (0..wires).map(|_| rng.next_block()).collect())
}

/// The generator's input as whoever has its labels and the seed reads it; none if they do not fit.
fn input_of(seed: Block, active: &[Block]) -> Option<Vec<bool>> {
    let (delta, zero) = labels(seed, active.len());
    let bit = |(&zero, &active): (&Block, &Block)| match active {
        active if active == zero => Some(false),
        active if active == zero ^ delta.block() => Some(true),
        _ => None,
    };
    zero.iter().zip(active).map(bit).collect()
}

/// Seeds, and the generator's labels for an input.
fn next_run(rng: &mut Prg, input: &[bool]) -> (Vec<Block>, Vec<Vec<Block>>) {
    let seeds: Vec<Block> = (0..CIRCUITS).map(|_| rng.next_block()).collect();
    let active = |&seed: &Block| {
        let (delta, zero) = labels(seed, input.len());
        zero.iter().zip(input).map(|(&zero, &bit)| zero ^ (Block::mask(bit) & delta.block())).collect()
    };
    let active = seeds.iter().map(active).collect();
    (seeds, active)
}

#[test]
fn the_literal_key_chain_gives_the_next_runs_seeds_and_input_to_the_last_client() {
    let mut rng = Prg::new(Block::ONES);
    let input = [true, false, false, true, true];
    let keys = LiteralKeys::random(CIRCUITS, &mut rng);
    let told = keys.told();
    let (next, (seeds, active)) = (keys.next(), next_run(&mut rng, &input));
    let stolen = LiteralKeys::of_told(&told);
    for circuit in 0..CIRCUITS {
        // What goes over the wire in the next run.
        let (mut checking, mut evaluation) = (vec![seeds[circuit]], active[circuit].clone());
        next.add_stream(circuit, 1, &mut checking);
        next.add_stream(circuit, 0, &mut evaluation);
        // The client of the run before.
        stolen.add_stream(circuit, 1, &mut checking);
        stolen.add_stream(circuit, 0, &mut evaluation);
        assert!(checking[0] == seeds[circuit]);
        assert_eq!(input_of(checking[0], &evaluation).as_deref(), Some(&input[..]));
    }
}

#[test]
fn of_our_keys_nobody_learns_a_later_runs_even_from_all_of_an_earlier_one() {
    let mut rng = Prg::new(Block::ONES);
    let input = [true, false, false, true, true];
    let roots: Vec<[Block; 2]> = (0..CIRCUITS).map(|_| [rng.next_block(), rng.next_block()]).collect();
    let keys = GeneratorKeys::of(roots.clone());
    let runs = [0, 1].map(|run| garblet_protocol::domain::SessionId::new(NAME, [run; 32], [[0; 32]; 2]));
    let (seeds, active) = next_run(&mut rng, &input);
    for circuit in 0..CIRCUITS {
        let (mut checking, mut evaluation) = (vec![seeds[circuit]], active[circuit].clone());
        keys.encrypt(&runs[1], circuit, Branch::Checking, &mut checking);
        keys.encrypt(&runs[1], circuit, Branch::Evaluation, &mut evaluation);
        // More than anybody has: the streams of both branches in the run before, the seed of the circuit then, and hashes of both roots.
        let mut candidates: Vec<Block> = Vec::new();
        for (branch, &root) in [Branch::Evaluation, Branch::Checking].into_iter().zip(&roots[circuit]) {
            let mut stream = vec![Block::ZERO; 2];
            keys.encrypt(&runs[0], circuit, branch, &mut stream);
            candidates.extend(stream);
            let hash = blake3::hash(&root.to_bytes());
            candidates.push(Block::from_digest(hash.as_bytes()));
        }
        candidates.push(crate::partialgc::split::seed(&runs[0], circuit, roots[circuit][1]));
        for candidate in candidates {
            let guess = GeneratorKeys::of(vec![[candidate; 2]; CIRCUITS]);
            let (mut checking, mut evaluation) = (checking.clone(), evaluation.clone());
            guess.encrypt(&runs[1], circuit, Branch::Checking, &mut checking);
            guess.encrypt(&runs[1], circuit, Branch::Evaluation, &mut evaluation);
            assert!(checking[0] != seeds[circuit]);
            assert_eq!(input_of(checking[0], &evaluation), None);
            assert_eq!(input_of(seeds[circuit], &evaluation), None);
        }
        // The roots themselves do it, so the attack is not refused for another reason.
        keys.encrypt(&runs[1], circuit, Branch::Evaluation, &mut evaluation);
        assert_eq!(input_of(seeds[circuit], &evaluation).as_deref(), Some(&input[..]));
    }
}

/// The cloud learns the sum.
fn for_the_cloud() -> Arc<Program> {
    let mut program = (*adder(1)).clone();
    program.set_recipients(0, garblet_circuit::Recipients::Only(vec![Party(2)]));
    Arc::new(program)
}

/// A first run as it must be, and then one in which the generator flips the first output in some circuits. Returns what the cloud comes to.
fn second_run(seed: u64, choose: impl FnOnce(&CloudState) -> u64) -> Result<Outputs, ProtocolError> {
    let (program, config) = (for_the_cloud(), small(Reuse::Labels));
    let (results, states) = Scene { seed, ..Scene::new(&program, 3, config) }.run(&values(), None);
    assert_eq!(results[2].as_ref().unwrap(), &[Some(Bits::from_u128(388, 9))]);
    let (generator, cloud) = states.unwrap();
    let circuits = choose(&cloud);
    let deviation = Some(Deviation { party: 0, step: Step::Tail, circuits, change: |bytes| bytes[0] ^= 1 });
    let scene = Scene { seed: seed + 1000, deviation, ..Scene::new(&program, 3, config) };
    let (mut results, _) = scene.run(&values(), Some((generator, cloud)));
    results.swap_remove(2)
}

#[test]
fn a_generator_that_is_a_client_once_makes_what_it_likes_if_clients_forward_blinds() {
    for seed in 0..4 {
        // As published, the client of the first run was told the split.
        let wrong =
            second_run(seed, |cloud| forwarded_blinds(&cloud.keys).evaluated().map(|circuit| 1 << circuit).sum());
        assert_eq!(wrong.unwrap(), [Some(Bits::from_u128(389, 9))], "nobody notices");
    }
}

#[test]
fn a_generator_that_is_a_client_can_only_guess_here() {
    let mut escaped = 0;
    for seed in 0..16 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut is_lucky = false;
        let result = second_run(100 + seed, |cloud| {
            let mut circuits: Vec<usize> = (0..CIRCUITS).collect();
            circuits.shuffle(&mut rng);
            // Three of five are enough.
            let guess = &circuits[..rng.random_range(3..=5)];
            is_lucky = guess.iter().all(|&circuit| !cloud.keys.split.is_checked(circuit));
            guess.iter().map(|circuit| 1 << circuit).sum()
        });
        // With probability 1/56 at most.
        assert_eq!(found(&result).is_none(), is_lucky, "seed {seed}");
        escaped += u32::from(is_lucky);
    }
    assert!(escaped <= 2, "{escaped} of 16");
}
