// Reads the number in a cell of the map.

const CELLS: usize = PARTY_0::CELLS;

struct Seen {
    id: u8,
}

pub fn main(map: [u8; CELLS], cell: u16) -> Seen {
    Seen { id: map[cell as usize] }
}
