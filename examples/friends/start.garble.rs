// An empty map: for each friend a plane of cells, of which one will be set, where the friend is.

const WIDTH: usize = PARTY_0::WIDTH;
const HEIGHT: usize = PARTY_0::HEIGHT;
const FRIENDS: usize = PARTY_0::FRIENDS;

struct Town {
    map: [[[bool; WIDTH]; HEIGHT]; FRIENDS],
}

// Somebody has to ask for it; what the bit says does not matter.
pub fn main(begin: bool) -> Town {
    Town { map: [[[false; WIDTH]; HEIGHT]; FRIENDS] }
}
