// The size of the intersection, and the sum of the values in it, by comparing all pairs.

const N: usize = PARTY_0::N;

struct Record { key: u32, value: u32 }

struct Result { size: u32, sum: u64 }

pub fn main(a: [u32; N], b: [Record; N]) -> Result {
    let mut size = 0u32;
    let mut sum = 0u64;
    for record in b {
        // Keys are there once, so that one is equal at most.
        let mut found = false;
        for key in a {
            found = found ^ (key == record.key);
        }
        if found {
            size += 1u32;
            sum += record.value as u64;
        }
    }
    Result { size, sum }
}
