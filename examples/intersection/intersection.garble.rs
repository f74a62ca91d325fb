// How many members two sets have in common.

pub fn main(ours: [u32; 8], theirs: [u32; 8]) -> u8 {
    let mut common = 0u8;
    for one in ours {
        let mut found = false;
        for other in theirs {
            found = found || one == other;
        }
        if found {
            common += 1u8;
        }
    }
    common
}
