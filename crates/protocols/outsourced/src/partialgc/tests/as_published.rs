//! The attacks succeed against the literal form, and fail against ours.

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::SliceRandom};

use super::{
    deviations::{adder, found, values},
    *,
};
use crate::partialgc::as_published::{Found, forwarded_blinds, read_of_literal, read_of_ours};

const CIRCUITS: usize = 16;

#[test]
fn the_literal_key_chain_reveals_the_next_runs_seeds_and_input_to_the_last_client() {
    let found = read_of_literal(CIRCUITS, 5, &mut Prg::new(Block::ONES));
    assert_eq!(found, Found { seeds: CIRCUITS, inputs: CIRCUITS });
}

#[test]
fn our_keys_of_an_earlier_run_reveal_nothing_of_a_later_one() {
    let [most, by_the_keys] = read_of_ours(CIRCUITS, 5, &mut Prg::new(Block::ONES));
    assert_eq!(most, Found::default());
    // So the attack does not fail for another reason.
    assert_eq!(by_the_keys, Found { seeds: CIRCUITS, inputs: CIRCUITS });
}

/// The cloud learns the sum.
fn for_the_cloud() -> Arc<Program> {
    let mut program = (*adder(1)).clone();
    program.set_recipients(0, garblet_circuit::Recipients::Only(vec![Party(2)]));
    Arc::new(program)
}

/// An honest first run, and then one in which the generator flips the first output in some circuits. Returns the cloud's result.
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
fn a_generator_that_is_a_client_once_controls_outputs_if_clients_forward_blinds() {
    for seed in 0..4 {
        // As published, the client of the first run received the split.
        let wrong = second_run(seed, |cloud| forwarded_blinds(cloud).evaluated().map(|circuit| 1 << circuit).sum());
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
        // With probability at most 1/56.
        assert_eq!(found(&result).is_none(), is_lucky, "seed {seed}");
        escaped += u32::from(is_lucky);
    }
    assert!(escaped <= 2, "{escaped} of 16");
}
