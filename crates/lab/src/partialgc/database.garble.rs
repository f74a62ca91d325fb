// Keeps a database, whoever gives it.

const BITS: usize = PARTY_0::BITS;

struct Kept {
    records: [bool; BITS],
}

// Somebody has to ask for it; what the bit says does not matter.
pub fn main(records: [bool; BITS], ask: bool) -> Kept {
    Kept { records: records }
}
