// Writes a number into a cell of the map.

const CELLS: usize = PARTY_0::CELLS;

struct Kept {
    map: [u8; CELLS],
}

pub fn main(map: [u8; CELLS], cell: u16, id: u8) -> Kept {
    let mut changed = map;
    changed[cell as usize] = id;
    Kept { map: changed }
}
