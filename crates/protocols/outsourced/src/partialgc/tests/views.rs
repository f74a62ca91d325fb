//! Nothing that the cloud sends depends on the split.

use garblet_net::testing::Direction;

use super::{
    deviations::{adder, values},
    *,
};

/// Two parties, and the bytes that each sends to the other.
type Sent = ((u16, u16), [Vec<u8>; 2]);

/// All messages between each two parties, in both directions, if these circuits are evaluated.
fn sent(evaluated: [usize; 5], cloud_learns: bool) -> Vec<Sent> {
    let mut program = (*adder(1)).clone();
    if cloud_learns {
        program.set_recipients(0, garblet_circuit::Recipients::All);
    }
    let program = Arc::new(program);
    let config = small(Reuse::Labels);
    let record = Arc::new(Mutex::new(Vec::new()));
    let scene = Scene { record: Some(record.clone()), ..Scene::new(&program, 3, config) };
    let (results, _) = scene.run(&values(), states_of(config, evaluated));
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
fn messages_do_not_depend_on_the_split() {
    for cloud_learns in [false, true] {
        let first = sent([0, 1, 2, 3, 4], cloud_learns);
        let second = sent([3, 7, 9, 14, 15], cloud_learns);
        for ((pair, one), (_, other)) in first.iter().zip(&second) {
            assert!(one == other, "between {pair:?}");
        }
        assert!(first.iter().all(|(_, [forth, back])| !forth.is_empty() && !back.is_empty()));
    }
}
