// Patients of three hospitals by age group. A count below five, which could give a patient away, is shown as zero.

const GROUPS: usize = 8;
const LEAST: u16 = 5;

pub fn main(north: [u16; GROUPS], east: [u16; GROUPS], west: [u16; GROUPS]) -> [u16; GROUPS] {
    let mut shown = [0u16; GROUPS];
    for group in 0usize..GROUPS {
        let count = north[group] + east[group] + west[group];
        if count >= LEAST {
            shown[group] = count;
        }
    }
    shown
}
