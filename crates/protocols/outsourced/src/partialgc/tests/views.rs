//! Nothing that the cloud sends depends on the split.

use garblet_net::testing::Direction;
use garblet_ot::BitVec;
use garblet_seeded::Split;

use super::{
    deviations::{adder, values},
    *,
};
use crate::partialgc::split::{CloudKeys, GeneratorKeys};

/// Two parties, and the bytes of either to the other.
type Sent = ((u16, u16), [Vec<u8>; 2]);

/// All that goes each way between each two parties, for this split.
fn sent(split: BitVec, cloud_learns: bool) -> Vec<Sent> {
    let mut program = (*adder(1)).clone();
    if cloud_learns {
        program.set_recipients(0, garblet_circuit::Recipients::All);
    }
    let program = Arc::new(program);
    let config = small(Reuse::Labels);
    let mut rng = Prg::new(Block::from_u128(8));
    let keys: Vec<[Block; 2]> = (0..16).map(|_| [rng.next_block(), rng.next_block()]).collect();
    let cloud = CloudState::new(CloudKeys::of(Split::told(split), &keys), config, [[0; 32]; 2]);
    let generator = GeneratorState::new(GeneratorKeys::of(keys), config, [[0; 32]; 2]);
    let record = Arc::new(Mutex::new(Vec::new()));
    let scene = Scene { record: Some(record.clone()), ..Scene::new(&program, 3, config) };
    let (results, _) = scene.run(&values(), Some((generator, cloud)));
    assert!(results.iter().all(|result| result.is_ok()));
    let record = record.lock().unwrap();
    let way = |transcript: &PairTranscript, way: Direction| -> Vec<u8> {
        transcript
            .1
            .frames()
            .into_iter()
            .filter(|frame| frame.direction == way)
            .flat_map(|frame| frame.payload)
            .collect()
    };
    record.iter().map(|pair| (pair.0, [Direction::Forth, Direction::Back].map(|to| way(pair, to)))).collect()
}

#[test]
fn all_messages_are_the_same_whatever_the_split_is() {
    let split = |evaluated: [usize; 5]| (0..16).map(|circuit| !evaluated.contains(&circuit)).collect();
    for cloud_learns in [false, true] {
        let first = sent(split([0, 1, 2, 3, 4]), cloud_learns);
        let second = sent(split([3, 7, 9, 14, 15]), cloud_learns);
        for ((pair, one), (_, other)) in first.iter().zip(&second) {
            assert!(one == other, "between {pair:?}");
        }
        assert!(first.iter().all(|(_, [forth, back])| !forth.is_empty() && !back.is_empty()));
    }
}
