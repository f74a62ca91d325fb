// A long chain of products.
const N: usize = PARTY_0::N;

pub fn main(a: u64, b: u64) -> u64 {
    let mut x = a;
    for _i in 0..N {
        x = (x * b) ^ a;
    }
    x
}
