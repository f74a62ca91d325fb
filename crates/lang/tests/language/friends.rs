//! The friend finder of `examples/friends`, beside a plain one.

use garblet_circuit::{Bits, Program, evaluate};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;

use crate::reference::compile;

const START: &str = include_str!("../../../../examples/friends/start.garble.rs");
const PLACE: &str = include_str!("../../../../examples/friends/place.garble.rs");
const LOOK: &str = include_str!("../../../../examples/friends/look.garble.rs");
const TOWN: &str = include_str!("../../../../examples/friends/town.json");

/// Width, height, number of friends, radius.
#[derive(Clone, Copy)]
struct Town(usize, usize, usize, usize);

impl Town {
    fn program(self, text: &str, me: usize) -> Program {
        let Town(width, height, friends, radius) = self;
        let values = [("WIDTH", width), ("HEIGHT", height), ("FRIENDS", friends), ("ME", me), ("RADIUS", radius)];
        let taken = values.into_iter().filter(|(name, _)| text.contains(&format!("PARTY_0::{name};")));
        let taken: Vec<(String, String)> =
            taken.map(|(name, value)| (format!("PARTY_0::{name}"), value.to_string())).collect();
        let taken: Vec<(&str, &str)> = taken.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        compile(text, &taken, false).unwrap_or_else(|error| panic!("{}", error.render()))
    }

    /// The bits of a spot: whether the friend is there, column, row.
    fn spot(spot: Option<(u8, u8)>) -> Bits {
        let (x, y) = spot.unwrap_or((3, 200));
        let bits =
            [Bits::from_u128(spot.is_some().into(), 1), Bits::from_u128(x.into(), 8), Bits::from_u128(y.into(), 8)];
        bits.iter().flat_map(|bits| bits.iter().collect::<Vec<_>>()).collect()
    }

    /// The bits that a friend should see.
    fn seen(self, spots: &[Option<(u8, u8)>], me: usize) -> Bits {
        let near = |(x, y): (u8, u8)| {
            spots[me].is_some_and(|own| usize::from(own.0.abs_diff(x).max(own.1.abs_diff(y))) <= self.3)
        };
        let shown = spots.iter().map(|spot| spot.filter(|spot| near(*spot)));
        shown
            .flat_map(|spot| spot.map_or(Bits::zeros(17), |spot| Town::spot(Some(spot))).iter().collect::<Vec<_>>())
            .collect()
    }
}

fn one(program: &Program, inputs: &[Bits]) -> Bits {
    let mut outputs = evaluate(program, inputs);
    assert_eq!(outputs.len(), 1);
    outputs.remove(0)
}

#[test]
fn friends_see_who_is_near_and_nobody_else() {
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut below = |end: usize| random.next_u32() as usize % end;
    for (town, rounds) in [
        (Town(8, 8, 8, 1), 150),
        (Town(8, 8, 8, 0), 50),
        (Town(16, 16, 8, 3), 50),
        (Town(64, 32, 8, 9), 10),
        (Town(5, 3, 3, 1), 50),
        (Town(1, 1, 2, 0), 10),
    ] {
        let Town(width, height, count, _) = town;
        let place: Vec<Program> = (0..count).map(|me| town.program(PLACE, me)).collect();
        let look: Vec<Program> = (0..count).map(|me| town.program(LOOK, me)).collect();
        let mut map = one(&town.program(START, 0), &[Bits::zeros(1)]);
        assert_eq!(map, Bits::zeros(width * height * count));
        let mut spots = vec![None; count];
        for _ in 0..rounds {
            let me = below(count);
            spots[me] = (below(4) > 0).then(|| (below(width) as u8, below(height) as u8));
            map = one(&place[me], &[map, Town::spot(spots[me])]);
            let others = spots.iter().flatten().count();
            assert_eq!(map.iter().filter(|bit| *bit).count(), others, "each who is there is in one cell");
            for me in [me, below(count)] {
                assert_eq!(one(&look[me], &[map.clone(), Bits::zeros(1)]), town.seen(&spots, me));
            }
        }
    }
}

#[test]
fn a_spot_off_the_map_puts_a_friend_into_one_cell_all_the_same() {
    for town in [Town(8, 8, 2, 1), Town(5, 3, 2, 1)] {
        let place = town.program(PLACE, 1);
        let map = one(&town.program(START, 0), &[Bits::zeros(1)]);
        for spot in [(5, 0), (0, 8), (7, 3), (255, 255), (8, 2), (130, 9)] {
            let map = one(&place, &[map.clone(), Town::spot(Some(spot))]);
            assert_eq!(map.iter().filter(|bit| *bit).count(), 1, "{spot:?}");
        }
    }
}

#[test]
fn the_programs_are_as_small_as_the_text_says() {
    for (width, height, cells) in [(8, 8, 64), (16, 16, 256), (64, 32, 2_048)] {
        let town = Town(width, height, 8, 1);
        let and = [START, PLACE, LOOK].map(|text| town.program(text, 3).stats().and);
        assert_eq!(and, [0, cells - 1, 7 * cells]);
    }
    assert_eq!(TOWN.split_whitespace().collect::<String>(), r#"{"PARTY_0":{"WIDTH":8,"HEIGHT":8,"FRIENDS":8}}"#);
}
